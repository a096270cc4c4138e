"""PHI that a model finds in short English texts: ASQ-PHI's queries, or sentences from outside the clinic.

    python benchmarks/short_texts.py asq-phi asq-phi/train.txt asq-phi/dev.txt --model synthetic
    python benchmarks/short_texts.py sentences --model synthetic

`asq-phi` prints, in per cent:

- words: recall and precision of PHI tokens, whatever the type;
- values: annotated values without a remaining letter or digit; in brackets, values found at least in part, as
  baselines that match strings count them;
- over-redaction: queries without PHI in which a span is found.

`sentences` fills the templates of general_sentences.txt, which are not in the synthetic corpus, mostly from other
locales of Faker. Nationalities, titles and ages count as PHI, as in data sets of this kind; `--model synthetic` is not
trained to mark them, so a second line leaves them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

from common import make_parser
from faker import Faker

import crfdeid
from crfdeid.augmentation import in_small_letters
from crfdeid.corpora import read_corpus
from crfdeid.corpora.marked_text import FieldValue, MarkedText, render
from crfdeid.documents import Document, Span
from crfdeid.evaluation.tokens import count_token_pairs, token_scores
from crfdeid.pipeline import Deidentifier
from crfdeid.utils.files import read_sections

_LOCALES = ("en_AU", "en_CA", "en_IE", "en_NZ", "en_US", "de_AT", "fr_CH", "pt_PT", "nl_BE", "es_CL", "sk_SK", "et_EE")
_NATIONALITIES = (
    "Danish",
    "Kenyan",
    "Chilean",
    "Norwegian",
    "Irish",
    "Korean",
    "Peruvian",
    "Turkish",
    "Thai",
    "Greek",
    "Swiss",
)
_TITLES = ("Mr.", "Mrs.", "Ms.", "Dr.", "Miss", "Professor")
_DATES = ("%d/%m/%Y", "%m/%d/%y", "%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%b %d", "%d.%m.%Y", "%B %Y", "%A, %d %b %Y")
DEBATABLE = frozenset({"NRP", "TITLE", "AGE"})


def asq_phi(gold: Sequence[Document], model: Deidentifier) -> None:
    found = {document.id: document.spans for document in model.annotate_documents(gold)}
    pairs = count_token_pairs(gold, found)
    words = token_scores(pairs, binary=True).micro
    negatives = [document for document in gold if not document.spans]
    hit = sum(bool(found[document.id]) for document in negatives)
    values = [covered(document, span, found[document.id]) for document in gold for span in document.spans]
    print(f"{len(gold)} queries, {len(values)} values, {len(negatives)} queries without PHI")
    print(f"words: recall {100 * words.recall:.1f}, precision {100 * words.precision:.1f}")
    whole, part = (100 * sum(share >= least for share in values) / len(values) for least in (1, 1e-9))
    print(f"values: recall {whole:.1f} (found in part: {part:.1f})")
    print(f"over-redaction: {hit} of {len(negatives)} queries without PHI, {100 * hit / max(1, len(negatives)):.1f} %")
    _print_types(gold, found, pairs)


def covered(document: Document, value: Span, found: Sequence[Span]) -> float:
    """Share of a value's letters and digits that lie in found spans.

    Example:
        >>> covered(Document("q", "Ann Doe, 40"), Span(0, 7, "NAME"), [Span(4, 8, "PATIENT")])
        0.5
    """
    places = [i for i in range(value.start, value.end) if document.text[i].isalnum()]
    return sum(any(span.start <= i < span.end for span in found) for i in places) / len(places)


def _print_types(gold: Sequence[Document], found: dict[str, Sequence[Span]], pairs: Counter[tuple[str, str]]) -> None:
    whole: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for document in gold:
        for span in document.spans:
            count[span.label] += 1
            whole[span.label] += covered(document, span, found[document.id]) == 1
    print("\n| type | values | found whole % | words found % |\n| --- | --- | --- | --- |")
    for label, number in count.most_common():
        tokens = sum(n for (right, _), n in pairs.items() if right == label)
        seen = sum(n for (right, guess), n in pairs.items() if right == label and guess)
        print(f"| {label} | {number} | {100 * whole[label] / number:.1f} | {100 * seen / tokens:.1f} |")


def make_sentences(rounds: int, *, seed: int = 2026) -> list[Document]:
    """Fill every template ``rounds`` times, and mark its PHI."""
    rng = Random(seed)
    fakers = [_faker(locale, seed) for locale in _LOCALES]
    found = []
    for templates in read_sections(Path(__file__).with_name("general_sentences.txt")).values():
        for _ in range(rounds):
            for template in templates:
                piece = _fill(template.replace("\\n", "\n").replace("\\t", "\t"), fakers, rng)
                found.append(Document(f"sentence-{len(found) + 1}", piece.text, piece.spans))
    return found


def _faker(locale: str, seed: int) -> Faker:
    faker = Faker(locale)
    faker.seed_instance(seed)
    return faker


def _fill(template: str, fakers: Sequence[Faker], rng: Random) -> MarkedText:
    american = fakers[_LOCALES.index("en_US")]

    def field(name: str) -> FieldValue:
        if name in _WORDS:
            label, words = _WORDS[name]
            return FieldValue(rng.choice(words), label)
        local = rng.choice(fakers[:5] if rng.random() < 0.6 else fakers)
        label, draw = _DRAWN[name]
        text = draw(local if name in _LOCAL else american)
        return FieldValue(text.replace("\n", ", "), label)

    return render(template, field, rng)


_WORDS: Mapping[str, tuple[str, Sequence[str]]] = {
    "he": ("", ("he", "she")),
    "age": ("AGE", [str(years) for years in range(18, 100)]),
    "title": ("TITLE", _TITLES),
    "nationality": ("NRP", _NATIONALITIES),
}
_LOCAL = ("person", "first", "last", "street", "city", "company", "phone", "date")
_LICENCES = ("?#######", "?###-####-####", "########", "??######", "?##-##-####")
_DRAWN: Mapping[str, tuple[str, Callable[[Faker], str]]] = {
    "person": ("PERSON", lambda faker: f"{faker.first_name()} {faker.last_name()}"),
    "first": ("PERSON", lambda faker: faker.first_name()),
    "last": ("PERSON", lambda faker: faker.last_name()),
    "street": ("STREET_ADDRESS", lambda faker: faker.street_address()),
    "city": ("GPE", lambda faker: faker.city()),
    "country": ("GPE", lambda faker: faker.country()),
    "state": ("GPE", lambda faker: faker.state_abbr()),
    "company": ("ORGANIZATION", lambda faker: faker.company()),
    "date": ("DATE_TIME", lambda faker: faker.date(faker.random_element(_DATES))),
    "phone": ("PHONE_NUMBER", lambda faker: faker.phone_number()),
    "card": ("CREDIT_CARD", lambda faker: faker.credit_card_number()),
    "ssn": ("US_SSN", lambda faker: faker.ssn()),
    "iban": ("IBAN_CODE", lambda faker: faker.iban()),
    "email": ("EMAIL_ADDRESS", lambda faker: faker.email()),
    "url": ("URL", lambda faker: faker.url()),
    "domain": ("DOMAIN_NAME", lambda faker: faker.domain_name()),
    "ip": ("IP_ADDRESS", lambda faker: faker.ipv4()),
    "zip": ("ZIP_CODE", lambda faker: faker.postcode()),
    "license": ("US_DRIVER_LICENSE", lambda faker: faker.bothify(faker.random_element(_LICENCES)).upper()),
}


def sentences(gold: Sequence[Document], model: Deidentifier) -> None:
    found = {document.id: document.spans for document in model.annotate_documents(gold)}
    print(f"{len(gold)} sentences\n")
    for name, left_out in (("all types", frozenset()), ("without nationalities, titles, ages", DEBATABLE)):
        kept = [_without(document, left_out) for document in gold]
        figures = token_scores(count_token_pairs(kept, found), binary=True).micro
        print(f"{name}: recall {100 * figures.recall:.1f}, precision {100 * figures.precision:.1f}")
    pairs: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for (right, guess), count in count_token_pairs(gold, found).items():
        pairs[right] += count
        missed[right] += count * (not guess)
    del pairs[""]
    print("\n| type | tokens | found % |\n| --- | --- | --- |")
    for label, count in pairs.most_common():
        print(f"| {label} | {count} | {100 * (1 - missed[label] / count):.1f} |")


def _without(document: Document, labels: frozenset[str]) -> Document:
    spans: tuple[Span, ...] = tuple(span for span in document.spans if span.label not in labels)
    return Document(document.id, document.text, spans)


def main() -> None:
    parser = make_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    queries = commands.add_parser("asq-phi")
    queries.add_argument("corpus", type=Path, nargs="+", help="files of ASQ-PHI's text blocks")
    queries.add_argument("--sensitivity", type=float, help="share of PHI to find, as for crfdeid redact")
    templates = commands.add_parser("sentences")
    templates.add_argument("--rounds", type=int, default=5, metavar="N", help="fills of each template (default: 5)")
    for command in (queries, templates):
        command.add_argument("--model", default="synthetic", help="a model's folder or name (default: synthetic)")
        command.add_argument("--lower", action="store_true", help="change the texts to small letters")
    args = parser.parse_args()
    if args.command == "asq-phi":
        gold = [document for path in args.corpus for document in read_corpus(path, format="asq-phi")]
    else:
        gold = make_sentences(args.rounds)
    if args.lower:
        gold = [in_small_letters(document) for document in gold]
    if args.command == "asq-phi":
        asq_phi(gold, crfdeid.load(args.model, sensitivity=args.sensitivity))
    else:
        sentences(gold, crfdeid.load(args.model))


if __name__ == "__main__":
    main()
