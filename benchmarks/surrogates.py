"""Plausibility of surrogates, and whether intervals and ages still agree, on notes with gold PHI.

    python benchmarks/surrogates.py meddocan/dev/brat
    python benchmarks/surrogates.py
    python benchmarks/surrogates.py --letters
    python benchmarks/surrogates.py --examples
    python benchmarks/surrogates.py --distinct

Each gold span gets its surrogate, and each note counts as one patient; no model is needed. The table has for each type
the share of values whose surrogate has the same form by the rules of `believable`, the share that a rule leaves
unchanged, and the share replaced by the label. Then the number of notes with two whole dates in which all intervals
between them are unchanged, and of notes with a date of birth, a later date and an age in which the age agrees with the
dates, before and after. ``--letters`` prints each value of the invented German and French letters with its surrogate,
for reading, and the share of believable ones by type: all but those of letters/not_believable.txt, which a reader
judged. ``--examples`` prints ten invented notes before and after, the table of benchmarks/results/surrogates.md.
``--distinct`` prints the share of 2,000 notes of eight doctors in which two have one surrogate, for family names of the
locale's lists and for invented ones, and the share of names of three words whose surrogate has a word of the name.
"""

from __future__ import annotations

import argparse
import datetime as dt
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

from tabulate import tabulate

from crfdeid.corpora import read_corpus
from crfdeid.corpora.splits import generate_corpus
from crfdeid.documents import Document, Span, merge
from crfdeid.label_schemes import surrogate_kind
from crfdeid.redaction.redact import redact
from crfdeid.redaction.surrogates import date_order_of, guess_locale
from crfdeid.redaction.surrogates.demographics import generalise_age, preserve_kin, preserve_sex
from crfdeid.redaction.surrogates.locales import locale_lists
from crfdeid.redaction.surrogates.place_tables import country_of
from crfdeid.redaction.surrogates.words import casefold_accents

SECRET = b"a secret for the benchmark"
WORDS = re.compile(r"[^\W\d_]+")
Pair = tuple[str, str]


def believable(kind: str, before: str, after: str) -> bool:
    """Whether a surrogate is of the same form as its value, judged by their texts alone."""
    rule = RULES.get(kind)
    return bool(WORDS.search(before)) == bool(WORDS.search(after)) if rule is None else rule(before, after)


def same_date_form(before: str, after: str) -> bool:
    """The same marks between as many words and numbers, and a whole date where there was one."""
    marks = [re.sub(r"\w+", "w", text) for text in (before, after)]
    return marks[0] == marks[1] and (whole_date(before, "dmy") is None) == (whole_date(after, "dmy") is None)


def same_digits(before: str, after: str) -> bool:
    return [c.isdigit() for c in before] == [c.isdigit() for c in after]


def same_capitals(before: str, after: str) -> bool:
    return [w[0].isupper() for w in WORDS.findall(before)] == [w[0].isupper() for w in WORDS.findall(after)]


def still_a_hospital(before: str, after: str) -> bool:
    said = [re.search("hospital|cl[ií]nic", text, re.IGNORECASE) for text in (before, after)]
    return bool(said[1]) or not said[0]


RULES: dict[str, Callable[[str, str], bool]] = {
    "date": same_date_form,
    "telephone": lambda before, after: re.sub(r"\d", "0", before) == re.sub(r"\d", "0", after),
    "number": same_digits,
    "country": lambda before, after: country_of(after, "en_US") is not None,
    "person": same_capitals,
    "mail": lambda before, after: re.fullmatch(r"[a-z]+\d\d@example\.[a-z]+", after) is not None,
    "hospital": still_a_hospital,
    "street": lambda before, after: len(re.findall(r"\d+", before)) == len(re.findall(r"\d+", after)),
    "sex": lambda before, after: preserve_sex(after) == after,
    "kin": lambda before, after: preserve_kin(after, lambda name: name if name.istitle() else None) == after,
    "age": lambda before, after: generalise_age(after) == after,
}


def whole_date(text: str, order: str | None) -> dt.date | None:
    """The date that a text of three numbers says, in an order; None where it is none."""
    match = re.fullmatch(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})", text.strip())
    if not match:
        return None
    first, second, year = map(int, match.groups())
    try:
        return dt.date(year, first, second) if order == "mdy" else dt.date(year, second, first)
    except ValueError:
        return None


def holds(pairs: Sequence[Pair], order: str | None) -> bool | None:
    """Whether all intervals between whole dates are what they were; None where there are not two dates."""
    moves = set()
    for before, after in pairs:
        old = whole_date(before, order)
        if old is not None:
            new = whole_date(after, order)
            moves.add(None if new is None else (new - old).days)
    count = sum(whole_date(before, order) is not None for before, _ in pairs)
    return None if count < 2 else len(moves) == 1 and None not in moves


def age_agrees(dates: Sequence[str], ages: Sequence[str], order: str | None) -> bool | None:
    """Whether an age in figures is that between the first date and a later one; None where there is none to compare."""
    known = sorted(day for day in (whole_date(text, order) for text in dates) if day is not None)
    in_years = (text for text in ages if not re.search("mes|d[ií]a|month|day|week", text))
    said = {int(found.group()) for text in in_years if (found := re.search(r"\d+", text))}
    if len(known) < 2 or not said:
        return None
    birth = known[0]
    return any(day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day)) in said for day in known[1:])


def values(document: Document) -> list[tuple[str, str, str]]:
    """Type, value and surrogate of each span; a locale by the text, else English."""
    locale = guess_locale(document.text) or "en_US"
    spans = merge(document.spans)
    found = redact(document, "surrogate", secret=SECRET, locale=locale)
    return [
        (span.label, document.text[span.start : span.end], found.text[other.start : other.end])
        for span, other in zip(spans, found.spans, strict=True)
    ]


LETTERS = Path(__file__).parent / "letters"
READ_AS = {  # types that one row of the table counts together
    **dict.fromkeys(("DEPARTMENT", "ORGANIZATION"), "HOSPITAL"),
    **dict.fromkeys(("IDNUM", "ACCOUNT", "LICENSE", "HEALTHPLAN", "MEDICALRECORD", "SSN", "DEVICE", "ROOM"), "ID"),
    **dict.fromkeys(("ZIP", "STATE", "COUNTRY", "LOCATION"), "CITY"),
    **dict.fromkeys(("FAX", "EMAIL", "URL"), "PHONE"),
}


def letters() -> Iterator[tuple[str, Document]]:
    """Yield the language and the document of each invented letter; its id is its number."""
    for path in sorted(LETTERS.glob("??.txt")):
        for part in path.read_text(encoding="utf-8").split("=== ")[1:]:
            title, _, body = part.partition("\n")
            yield path.stem, Document(title.split()[0], *read_marks(body))


def read_letters() -> None:
    """Print the values of the letters with their surrogates, and the share that a reader believes by type."""
    doubted = set((LETTERS / "not_believable.txt").read_text(encoding="utf-8").splitlines())
    counts: dict[tuple[str, str], Counter[bool]] = {}
    for language, document in letters():
        for label, value, surrogate in values(document):
            believed = f"{language} {document.id} {value}" not in doubted
            counts.setdefault((language, READ_AS.get(label, label)), Counter())[believed] += 1
            print(f"{'' if believed else '?':1} {language} {document.id:2} {label:13} {value} -> {surrogate}")
    rows = [
        [language, label, count.total(), count[True], f"{100 * count[True] / count.total():.1f}"]
        for (language, label), count in sorted(counts.items())
    ]
    print(tabulate(rows, ["language", "type", "values", "believable", "%"], tablefmt="pipe", disable_numparse=True))


DISTINCT_NOTES = 2000
_BEGIN, _MIDDLE, _END = (
    words.split(",")
    for words in (
        "Qu,Tw,Zan,Mar,Or,Ab,Fen,Bro,Lis,Har,Del,Vor,Gri,Sal,Pem,Nor,Cal,Tor,Wes,Kin,Lam,Ros,Jen,Hel",
        ",ar,el,in,ov",
        "ill,arden,otter,imble,orrow,undy,essick,allow,inder,omber,eddle,ackett,uffin,ostle,ewell,iddock",
    )
)
_INVENTED = ["".join(parts) for parts in product(_BEGIN, _MIDDLE, _END)]


def distinct_table() -> str:
    """Markdown table of notes in which two doctors have one surrogate, and of surrogates with a word of the name."""
    rows = []
    for locale in ("en_US", "es_ES", "de_DE", "fr_FR", "it_IT"):
        known, numbers = locale_lists(locale), random.Random(locale)
        real = [name for name in known.last if casefold_accents(name) in known.family]
        row = [locale, f"{len(known.last):,}"]
        for names in (real, _INVENTED):
            notes = (numbers.sample(names, 8) for _ in range(DISTINCT_NOTES))
            merged = sum(len({*of_doctors(doctors, locale)}) < len({*doctors}) for doctors in notes)
            row.append(f"{100 * merged / DISTINCT_NOTES:.2f}")
        lists = [(*known.female, *known.male), real, known.last]
        whole = [" ".join(numbers.choice(numbers.choice(lists)) for _ in range(3)) for _ in range(DISTINCT_NOTES)]
        shared = sum(bool(_folded(of_doctors([name], locale)[0]) & _folded(name)) for name in whole)
        rows.append([*row, f"{100 * shared / DISTINCT_NOTES:.2f}"])
    head = ["locale", "family names", "listed: notes %", "invented: notes %", "with a word %"]
    return tabulate(rows, head, tablefmt="pipe", disable_numparse=True)


def of_doctors(names: Sequence[str], locale: str) -> list[str]:
    """The surrogates of doctors in a note, which is a patient of its own."""
    text, spans = read_marks(" ".join(f"Dr. {{DOCTOR:{name}}}." for name in names))
    found = redact(Document("", text, spans), "surrogate", secret=SECRET, locale=locale)
    return [found.text[span.start : span.end] for span in found.spans]


def _folded(text: str) -> set[str]:
    return set(WORDS.findall(casefold_accents(text)))


EXAMPLES_SECRET = b"an invented secret for the page"
_MARKED = re.compile(r"\{([A-Z_]+):([^{}]*)\}")

EXAMPLES = (
    (
        "discharge summary",
        "olmo",
        "La paciente {NOMBRE_SUJETO_ASISTENCIA:María Olmo Roble}, {SEXO_SUJETO_ASISTENCIA:mujer} de "
        "{EDAD_SUJETO_ASISTENCIA:64 años}, nacida el {FECHAS:12/03/1967} en {TERRITORIO:Segovia}, {PAIS:España}, "
        "ingresó el {FECHAS:02/05/2031} en el {HOSPITAL:Hospital Universitario Virgen del Olmo} ({HOSPITAL:HUVO}). "
        "Tratada con {PHI:Residual} desde {FECHAS:enero de 2030}; viaje a {PAIS:Mali}.",
    ),
    (
        "visit",
        "olmo",
        "Acude con su {FAMILIARES_SUJETO_ASISTENCIA:madre}. Domicilio: {CALLE:C/ Olmo Viejo, nº 12, 3º B}, "
        "{TERRITORIO:28999} {TERRITORIO:Madrid}. Tel. {NUMERO_TELEFONO:699 555 013}. NHC "
        "{ID_SUJETO_ASISTENCIA:4821337}. Revisión de la paciente {NOMBRE_SUJETO_ASISTENCIA:Olmo} el "
        "{FECHAS:09/05/2031}. Firmado: Dra. {NOMBRE_PERSONAL_SANITARIO:R. Maciá}, {NOMBRE_PERSONAL_SANITARIO:Macia}.",
    ),
    (
        "letter",
        "zarza",
        "Estimado Dr. {NOMBRE_PERSONAL_SANITARIO:Tejo Lindo}: le remito a {NOMBRE_SUJETO_ASISTENCIA:Hugo Zarza}, "
        "{PROFESION:albañil}, por lumbalgia desde el {FECHAS:14 de marzo de 2031}. Remite: "
        "{CENTRO_SALUD:Centro de Salud Los Tejos}, {CORREO_ELECTRONICO:h.zarza@tejos.es}.",
    ),
    (
        "laboratory report",
        "brezo",
        "Paciente: {NOMBRE_SUJETO_ASISTENCIA:BREZO JARA, ANA}. F. nac.: {FECHAS:30-11-1938} "
        "({EDAD_SUJETO_ASISTENCIA:92 años}). NASS: {ID_ASEGURAMIENTO:28 48221344 07}. Muestra del {FECHAS:03-01-2031}: "
        "creatinina 1,2 mg/dl. Facultativo: {NOMBRE_PERSONAL_SANITARIO:J. Aliso} (nº col. "
        "{ID_TITULACION_PERSONAL_SANITARIO:28 48221}).",
    ),
    (
        "paediatric note",
        "sauce",
        "Niño de {EDAD_SUJETO_ASISTENCIA:dos años}, {NOMBRE_SUJETO_ASISTENCIA:Leo Sauce}, traído por su "
        "{FAMILIARES_SUJETO_ASISTENCIA:padre} y una {FAMILIARES_SUJETO_ASISTENCIA:hermana de 6 años}. Vacunado en "
        "{FECHAS:abril de 2030} en {TERRITORIO:Ávila}; la familia procede de {PAIS:Perú}.",
    ),
    (
        "admission",
        "quill",
        "{PATIENT:Jane Quill} is a {AGE:93}-year-old retired {PROFESSION:engraver}, admitted to "
        "{HOSPITAL:Tawn Medical Center} ({HOSPITAL:TMC}) on {DATE:03/14/2031} and seen on {DATE:March 16th}. Dr. "
        "{DOCTOR:Orla Roe} wrote to {EMAIL:j.quill@tawn.org}. Ms. {PATIENT:Quill}'s daughter was called at "
        "{PHONE:(617) 555-0134 x12}.",
    ),
    (
        "portal message",
        "vole",
        "Hi Dr. {DOCTOR:Marsh}, this is {PATIENT:Abe Vole}. I moved to {STREET:48 Quill Street, Apt 4B}, "
        "{CITY:Tawnton}, {STATE:Ohio} {ZIP:48221} on {DATE:2/3/31}. Please call {PHONE:555-0137}. Thanks, "
        "{PATIENT:Abe}",
    ),
    (
        "telephone note",
        "tarn",
        "pt {PATIENT:ines tarn} called {DATE:tues 3/4}, asks to have the ct from {DATE:feb 27} sent to "
        "{HOSPITAL:quill memorial}. mrn {MEDICALRECORD:QX-48221}. will see {DOCTOR:dr roe} before {DATE:Michaelmas}.",
    ),
    (
        "radiology report",
        "marl",
        "CHEST X-RAY, {DATE:2031-01-09}. {PATIENT:MARL, OTIS}, born {DATE:1961-07-30}, MRN {MEDICALRECORD:4822137}. "
        "Compared with {DATE:2030-12-12}: no change. Read by {DOCTOR:P. Thorne, MD}, "
        "{HOSPITAL:Thorne Valley Hospital}.",
    ),
    (
        "form",
        "fenn",
        "Name: {PATIENT:Ruth Fenn-Oake}; employer: {ORGANIZATION:Oake Mills}; country: {COUNTRY:Kenya}; SSN: "
        "{SSN:482-21-3448}; plan: {HEALTHPLAN:HPB-48221}; web: {URL:www.fennoake.org}; visits: {DATE:10/11/30}, "
        "{DATE:10/25/30}; next of kin: {PATIENT:Mr. Oake}.",
    ),
)
"""Invented notes: kind, patient, text with its PHI marked as ``{TYPE:text}``. The first two are of one patient."""


def read_marks(text: str) -> tuple[str, tuple[Span, ...]]:
    """Plain text and spans of a text with marks ``{TYPE:text}``."""
    plain, spans, end = "", [], 0
    for match in _MARKED.finditer(text):
        plain += text[end : match.start()]
        spans.append(Span(len(plain), len(plain) + len(match[2]), match[1]))
        plain += match[2]
        end = match.end()
    return plain + text[end:], tuple(spans)


def with_surrogates(note: str, patient: str) -> Document:
    """Surrogates in a marked note."""
    locale = "es_ES" if "{NOMBRE_" in note else "en_US"
    return redact(Document("", *read_marks(note)), "surrogate", secret=EXAMPLES_SECRET, patient=patient, locale=locale)


def examples_table() -> str:
    """Markdown table of the examples before and after."""
    rows = [
        f"| {kind} | {read_marks(note)[0]} | {with_surrogates(note, patient).text} |"
        for kind, patient, note in EXAMPLES
    ]
    return "\n".join(["| note | before | after |", "| --- | --- | --- |", *rows])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notes", type=Path, nargs="?", help="annotated notes (default: the synthetic corpus's dev)")
    parser.add_argument("--letters", action="store_true", help="read German and French letters instead")
    parser.add_argument("--examples", action="store_true", help="print ten invented notes before and after instead")
    parser.add_argument(
        "--distinct", action="store_true", help="count doctors of a note that get one surrogate instead"
    )
    args = parser.parse_args()
    if args.distinct:
        print(distinct_table())
        return
    if args.examples:
        print(examples_table())
        return
    if args.letters:
        read_letters()
        return
    documents = read_corpus(args.notes) if args.notes else generate_corpus("default", types="all").dev.documents
    counts: dict[str, Counter[str]] = {}
    intervals, before, after = Counter[bool | None](), Counter[bool | None](), Counter[bool | None]()
    for document in documents:
        rows = values(document)
        for label, value, surrogate in rows:
            count = counts.setdefault(label, Counter())
            kind = "label" if surrogate == f"[{label}]" else "kept" if surrogate == value else "believable"
            count[kind if kind != "believable" or believable(surrogate_kind(label), value, surrogate) else "other"] += 1
        order = date_order_of(document.text)
        dates = [(value, surrogate) for label, value, surrogate in rows if surrogate_kind(label) == "date"]
        ages = [(value, surrogate) for label, value, surrogate in rows if surrogate_kind(label) == "age"]
        intervals[holds(dates, order)] += 1
        before[age_agrees([a for a, _ in dates], [a for a, _ in ages], order)] += 1
        after[age_agrees([b for _, b in dates], [b for _, b in ages], order)] += 1
    columns = ("believable", "kept", "label", "other")
    table = [
        [label, sum(c.values()), *(f"{100 * c[k] / sum(c.values()):.1f}" for k in columns)]
        for label, c in sorted(counts.items())
    ]
    head = ["type", "values", *(f"{name} %" for name in columns)]
    print(tabulate(table, head, tablefmt="pipe", disable_numparse=True))
    print(f"\nintervals between whole dates hold in {intervals[True]} of {intervals[True] + intervals[False]} notes")
    compared = before[True] + before[False]
    print(f"an age agrees with two dates in {before[True]} of {compared} notes before, in {after[True]} after")


if __name__ == "__main__":
    main()
