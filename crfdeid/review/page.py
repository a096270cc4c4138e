"""review.html: one self-contained page to read notes and mark errors (templates/review.html, .css and .js).

Surrogates keep sex, kin, ages under 90, common occupations and the country of the notes. Readers take such values for
misses unless the page shows them. The rules of `crfdeid.rules.matcher` find them in any note, and a model finds more.
Whether a value stays is asked of the surrogates themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crfdeid.documents import Document, Span, merge, overlapping, text_digest
from crfdeid.errors import MismatchError, shorten_list
from crfdeid.evaluation.probabilities import phi_by_sentence
from crfdeid.io.output import SETTINGS, read_run_config
from crfdeid.io.replacements import RecordedFolder, state_folder
from crfdeid.label_schemes import BINARY, surrogate_kind
from crfdeid.redaction.operators import keep_value
from crfdeid.redaction.policy import Operators, parse_operators
from crfdeid.redaction.surrogates import PRESERVED_KINDS, Surrogates, guess_locale
from crfdeid.redaction.surrogates.words import DEFAULT_LOCALE
from crfdeid.review.alignment import find_replacements
from crfdeid.review.marks import COMPARED, MARKS_VERSION, RECORDED
from crfdeid.rules.matcher import find_rules
from crfdeid.tagger import Tagger
from crfdeid.utils.html import render_page
from features.languages import DEFAULT_LANGUAGES

if TYPE_CHECKING:
    from crfdeid.pipeline import Deidentifier

# Words for a sex that no rule of the table finds, for they are no PHI alone: a letter after its field, English words.
_SEX = re.compile(
    r"\b(?:(?:sexo|sex|género|gender)[ \t]*[:=][ \t]*(?P<letter>[hmfv])\b(?!['’-])"
    r"|(?P<word>male|female|man|woman|boy|girl|gentleman|lady)\b)",
    re.IGNORECASE,
)
_NO_KEY = bytes(32)  # What stays does not depend on the key.
ALL_SURROGATES = Operators("surrogate")
"""Surrogates for all types."""


_MIN_UNCERTAIN = 0.02
"""Tokens with a probability of being PHI from this to one minus this are shown as uncertain."""


@dataclass(frozen=True, slots=True)
class PageNote:
    """A note on a review page.

    Args:
        document: the note; its spans are corrected by the reviewer.
        others: spans of the other side: a model's or a second annotator's.
        by: the replacement of each span in the redacted note; empty without a redacted note.
        sha256: the digest of the redacted text; "" without one.
        left: spans that redaction found and left as they were, such as kept ages.
        inserted: offsets in the note where the redacted note has further text, and that text.
        unchanged: further values that surrogates leave unchanged (`with_unchanged`), with their kinds.
        replaced: `RECORDED` or `COMPARED`; None without a redacted note.
    """

    document: Document
    others: tuple[Span, ...] = ()
    by: tuple[str, ...] = ()
    sha256: str = ""
    left: tuple[Span, ...] = ()
    inserted: tuple[tuple[int, str], ...] = ()
    unchanged: tuple[Span, ...] = ()
    replaced: str | None = None


def comparison_notes(first: Sequence[Document], second: Mapping[str, Sequence[Span]]) -> list[PageNote]:
    """The notes of two sides: gold and predicted, or two annotators'."""
    return [PageNote(document, tuple(second[document.id])) for document in first]


def redaction_notes(pairs: Iterable[tuple[Document, str]], records: RecordedFolder | None = None) -> list[PageNote]:
    """Notes with their replaced spans.

    Args:
        pairs: each note before redaction, and its text after it.
        records: the run's records of what it replaced; None computes the replacements from the two texts.

    Raises:
        MismatchError: a text is not the one that was recorded, or two texts have almost nothing in common.
    """
    return [_redaction_note(document, after, records) for document, after in pairs]


def _redaction_note(document: Document, after: str, records: RecordedFolder | None) -> PageNote:
    digest, inserted = text_digest(after), tuple[tuple[int, str], ...]()
    if records is None:
        changes = find_replacements(document.text, after)
        inserted = tuple((one.start, one.by) for one in changes if one.start == one.end)
        replacements = [(Span(one.start, one.end, one.label), one.by) for one in changes if one.start < one.end]
    else:
        record = records.of(digest).get(text_digest(document.text))
        if record is None:
            raise MismatchError("the text changed since it was redacted: redact it again", path=document.source)
        replacements = record.replacements(document.text, after)
    replaced = [(span, by) for span, by in replacements if by != document.text[span.start : span.end]]
    spans = tuple(span for span, _ in replaced)
    return PageNote(
        Document(document.id, document.text, spans, source=document.source),
        by=tuple(by for _, by in replaced),
        sha256=digest,
        left=tuple(span for span, _ in replacements if span not in spans),
        inserted=inserted,
        replaced=COMPARED if records is None else RECORDED,
    )


def pair_recorded(
    before: Iterable[Document], after: Sequence[Document], records: RecordedFolder
) -> list[tuple[Document, str]]:
    """Pair redacted notes with their originals by the digests of a run's records, whatever their names and rows.

    Args:
        before: the notes before redaction, with those of other redacted notes among them.
        after: the notes after it.
        records: the run's records.

    Returns:
        For each redacted note, the original with the id and source of the redacted note, and the redacted text.

    Raises:
        MismatchError: a note changed since it was redacted, before or after, or was added; the message has the places.
    """
    wanted = {original for note in after for original in records.of(text_digest(note.text))}
    originals: dict[str, Document] = {}
    own: dict[str, str] = {}
    for note in before:
        digest = text_digest(note.text)
        if digest in wanted:
            originals[digest], own[note.id] = note, digest
    pairs: list[tuple[Document, str]] = []
    altered: list[str] = []
    missing: list[str] = []
    for note in after:
        recorded = records.of(text_digest(note.text))
        there = [digest for digest in recorded if digest in originals]
        if not there:
            (missing if recorded else altered).append(note.source)
            continue
        # Several originals can have one redacted text: that of the same name is the likeliest.
        digest = own[note.id] if own.get(note.id) in recorded else there[0]
        pairs.append((replace(originals[digest], id=note.id, source=note.source), note.text))
    _require_recorded(altered, missing)
    return pairs


def _require_recorded(altered: Sequence[str], missing: Sequence[str]) -> None:
    problems = [
        (altered, "REDACTED has texts that the run did not write, changed or added since", "redact these notes again"),
        (missing, "the originals of these redacted notes are not in ORIGINAL, or changed since", "give the same notes"),
    ]
    said = [f"{what}: {shorten_list(places, between='; ')}: {remedy}" for places, what, remedy in problems if places]
    if said:
        raise MismatchError(". ".join(said))


def uncertain_tokens(tagger: Tagger, documents: Sequence[Document]) -> list[list[tuple[int, int, float]]]:
    """For each note, tokens that a model is unsure of: start, end, and probability of PHI."""
    return [
        sorted(
            (token.start, token.end, round(share, 3))
            for sentence, probable in sentences
            for token, share in zip(sentence.tokens, probable.tolist(), strict=True)
            if _MIN_UNCERTAIN <= share <= 1 - _MIN_UNCERTAIN and token.start < token.end
        )
        for sentences in phi_by_sentence(tagger, documents)
    ]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of the run that wrote redacted notes, as far as their review needs them.

    Args:
        operators: of the run.
        locale: the locale that its user chose; None if it was guessed.
        types: types of its model, in the order of its card; empty if unknown.
    """

    operators: Operators
    locale: str | None = None
    types: tuple[str, ...] = ()


def run_settings(redacted: Path) -> RunSettings:
    """Return the settings of the run that wrote redacted notes; the defaults without a run.

    Args:
        redacted: the run's folder, or a file or folder in it.

    Raises:
        DataError: the settings are damaged, or of another version of the library.
    """
    state = state_folder(redacted)
    settings = (None if state is None else read_run_config(state / SETTINGS)) or {}
    operators = parse_operators(settings.get("operators") or ())
    return RunSettings(operators, settings.get("locale"), tuple(settings.get("types") or ()))


def with_unchanged(
    notes: Sequence[PageNote],
    operators: Operators = ALL_SURROGATES,
    *,
    locale: str | None = None,
    model: Deidentifier | None = None,
) -> list[PageNote]:
    """Notes of a page with the values that redaction leaves.

    Args:
        notes: with their replaced spans.
        operators: of the redaction.
        locale: of the surrogates; None guesses it from each text.
        model: finds such values too; None for the rules alone.
    """
    bare = [replace(note.document, spans=()) for note in notes]
    marked = bare if model is None else model.annotate_documents(bare)
    return [
        replace(
            note,
            unchanged=unchanged_spans(document, operators, replaced=(*note.document.spans, *note.left), locale=locale),
        )
        for note, document in zip(notes, marked, strict=True)
    ]


def unchanged_spans(
    document: Document, operators: Operators = ALL_SURROGATES, *, replaced: Sequence[Span], locale: str | None = None
) -> tuple[Span, ...]:
    """The values of a note that redaction leaves; the type of each is its kind, or its type where that has no kind.

    Args:
        document: the note before redaction; its spans are checked in addition to the rules' finds.
        operators: of the redaction.
        replaced: its replaced spans.
        locale: of the surrogates; None guesses it from the text.

    Example:
        >>> note = Document("1", "Una mujer de 64 años, de España, con su madre.")
        >>> [(note.text[start:end], kind) for start, end, kind in unchanged_spans(note, replaced=[])]
        [('mujer', 'sex'), ('64 años', 'age'), ('España', 'country'), ('madre', 'kin')]
    """
    locale = locale or guess_locale(document.text) or DEFAULT_LOCALE
    surrogates = _surrogates(locale)
    candidates = [*_by_rule(document), *document.spans]
    touched = set(overlapping(candidates, replaced))
    kept = {label for label in operators.types if operators.of_type(label).keeps}
    kept_kinds = {surrogate_kind(label) for label in kept} - {"none"}
    preserved = PRESERVED_KINDS if operators.invents else ()
    stay = []
    for span in candidates:
        value, kind = document.text[span.start : span.end], surrogate_kind(span.label)
        is_kept = span.label in kept or kind in kept_kinds
        is_kept = is_kept and keep_value(value, span.label, locale=locale) == value
        if span not in touched and (is_kept or (kind in preserved and surrogates.of(value, span.label) == value)):
            stay.append(span._replace(label=_kind(span.label)))
    return tuple(merge(stay))


def _by_rule(document: Document) -> Iterator[Span]:
    for sentence in document.sentences():
        for rule, first, stop in find_rules(sentence, DEFAULT_LANGUAGES):
            yield Span(sentence.tokens[first].start, sentence.tokens[stop - 1].end, rule.types[0])
    for match in _SEX.finditer(document.text):
        yield Span(*match.span(match.lastgroup or 0), "SEX")


@lru_cache(maxsize=8)
def _surrogates(locale: str) -> Surrogates:
    return Surrogates(_NO_KEY, locale)


_Uncertain = Sequence[Sequence[tuple[int, int, float]]]


@dataclass(frozen=True, slots=True)
class PageText:
    """Title, task and legend of a page.

    Args:
        title: of the page.
        task: the reviewer's task, one sentence.
        both: legend of spans on both sides.
        first: legend of spans on the corrected side alone.
        second: legend of spans on the other side alone; "" without another side.
    """

    title: str
    task: str
    both: str
    first: str
    second: str = ""


GOLD = PageText(
    "Gold and predicted",
    "Mark what the gold annotation missed, and what it marks needlessly: the file you download is the corrected gold.",
    "found",
    "missed by the model",
    "found beyond gold",
)
ANNOTATORS = PageText(
    "Two annotators",
    "Settle what they disagree on: the file you download is the first annotation with your corrections.",
    "both",
    "first alone",
    "second alone",
)
REDACTED = PageText(
    "Redacted notes",
    "Each note as it was, with what was replaced marked in it. Mark PHI that was left, and what was hidden needlessly.",
    "replaced",
    "replaced",
)


def review_html(
    notes: Sequence[PageNote], side: PageText, *, unsure: _Uncertain | None = None, types: Iterable[str] = ()
) -> str:
    """The page, which loads nothing and sends nothing.

    Args:
        notes: in reading order.
        side: names of its two sides.
        unsure: for each note, the tokens that a model is unsure of; None without a model.
        types: types to choose from for what was missed, beyond those in the notes; without any, "PHI" is one too.
    """
    templates = files("crfdeid") / "review" / "templates"
    data = _page_data(notes, side, unsure, tuple(types))
    kinds = sorted({span.label for note in notes for span in note.unchanged} | {*map(_kind, _left(notes))})
    return render_page(
        templates,
        "review",
        side=side,
        unsure=unsure is not None,
        unchanged=kinds,
        inserted=any(note.inserted for note in notes),
        replaced=data["replaced"],
        data=data,
    )


def _left(notes: Sequence[PageNote]) -> set[str]:
    return {span.label for note in notes for span in note.left}


def _kind(label: str) -> str:
    kind = surrogate_kind(label)
    return label if kind == "none" else kind


def _page_data(
    notes: Sequence[PageNote], side: PageText, unsure: _Uncertain | None, types: Sequence[str]
) -> dict[str, Any]:
    """Data of the page; offsets are code points.

    Returns:
        "version" of the marks; "replaced", where the replacements are from; "types", by name; "notes": {"id", "text",
        "sha256", "spans": [start, end, type, replacement] each, "left": [start, end, type, kind] each, "inserted":
        [offset, text] each, "others" and "unchanged": [start, end, type] each, "unsure": [start, end, probability]
        each}.
    """
    asked = unsure if unsure is not None else [[] for _ in notes]
    shown = [
        {
            "id": note.document.id,
            "text": note.document.text,
            "sha256": note.sha256,
            "spans": [[*span, by] for span, by in zip_longest(note.document.spans, note.by)],
            "left": [[*span, _kind(span.label)] for span in note.left],
            "inserted": [list(one) for one in note.inserted],
            "others": [list(span) for span in sorted(note.others)],
            "unchanged": [list(span) for span in note.unchanged],
            "unsure": [list(token) for token in tokens],
        }
        for note, tokens in zip(notes, asked, strict=True)
    ]
    marked_types = {span.label for note in notes for span in (*note.document.spans, *note.others, *note.left)}
    return {
        "version": MARKS_VERSION,
        "replaced": next((note.replaced for note in notes), None),
        "types": sorted({*marked_types, *types} | (set() if types else {BINARY})),
        "sided": bool(side.second),
        "notes": shown,
    }
