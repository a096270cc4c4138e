"""review.html: one self-contained page to read notes and mark errors (templates/review.html, .css and .js).

Surrogates keep sex, kin, ages under 90, common occupations and the country of the notes. Readers take such values for
misses unless the page shows them. The rules of `crfdeid.rules.matcher` find them in any note, and a model finds more.
Whether a value stays is asked of the surrogates themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from importlib.resources import files
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crfdeid.documents import text_digest
from crfdeid.documents import Document, Span, merge, overlapping
from crfdeid.evaluation.operating_points import phi_by_sentence
from crfdeid.io.output import STATE_FOLDER, read_run_config
from crfdeid.label_schemes import BINARY, surrogate_kind
from crfdeid.redaction.policy import KEEP, SURROGATE, Operators, parse_operators
from crfdeid.redaction.redact import keep_value
from crfdeid.redaction.surrogates import PRESERVED_KINDS, Surrogates, guess_locale
from crfdeid.redaction.surrogates.locales import ENGLISH
from crfdeid.rules.matcher import find_rules
from crfdeid.tagger import Tagger
from crfdeid.utils.html import render_page

if TYPE_CHECKING:
    from crfdeid.pipeline import Deidentifier

# A label, a stretch of letters and digits, one of white space, or one other character.
_PIECE = re.compile(r"\[[A-Z][A-Z_-]*(?:-\d+|:[0-9a-f]+)?\]|[^\W_]+|\s+|.", re.DOTALL)
_Change = tuple[int, int, int, int]  # pieces [i, j) of the text before become pieces [k, m) of the text after
_LABEL = re.compile(r"\[([A-Z][A-Z_-]*?)(?:-\d+|:[0-9a-f]+)?\]")

# Words for a sex that no rule of the table finds, for they are no PHI alone: a letter after its field, English words.
_SEX = re.compile(
    r"\b(?:(?:sexo|sex|género|gender)[ \t]*[:=][ \t]*(?P<letter>[hmfv])\b(?!['’-])"
    r"|(?P<word>male|female|man|woman|boy|girl|gentleman|lady)\b)",
    re.IGNORECASE,
)
_NO_KEY = bytes(32)  # What stays does not depend on the key.
ALL_SURROGATES = Operators(SURROGATE)
"""Surrogates for all types."""


class TextChange(NamedTuple):
    """A range of the original text, and its replacement.

    Attributes:
        start: its first character in the original.
        end: the one after its last.
        by: the text in its place; "" where it was removed.
    """

    start: int
    end: int
    by: str

    @property
    def label(self) -> str:
        """Its type, where a label such as ``[DOCTOR]`` or ``[DOCTOR-2]`` is its replacement; else "PHI"."""
        found = _LABEL.fullmatch(self.by.strip())
        return found[1] if found else BINARY


def find_replacements(original: str, redacted: str) -> list[TextChange]:
    """Find the smallest replacements that turn a text into its redacted form.

    A surrogate that shares a word with the original is found without that word: it differs in nothing there.

    Args:
        original: the text before.
        redacted: the text after.

    Returns:
        By place, none empty. Put in their places, they give ``redacted``, character by character.

    Example:
        >>> find_replacements("Seen by Dr. Roe on 3/14.", "Seen by Dr. [DOCTOR] on [DATE].")
        [TextChange(start=12, end=15, by='[DOCTOR]'), TextChange(start=19, end=23, by='[DATE]')]
    """
    if original == redacted:
        return []
    before, after = _PIECE.findall(original), _PIECE.findall(redacted)
    # White space is too frequent to be an anchor.
    matcher = SequenceMatcher(str.isspace, before, after, autojunk=False)
    changes = [(i, j, k, m) for tag, i, j, k, m in matcher.get_opcodes() if tag != "equal"]
    starts = [0, *accumulate(map(len, before))]
    return [
        TextChange(starts[i], starts[j], "".join(after[k:m])) for i, j, k, m in _filled(changes, len(before)) if i < j
    ]


def _filled(changes: Sequence[_Change], size: int) -> list[_Change]:
    """The changes with a piece of the original in each, with touching changes merged.

    What was only put in takes the piece before it, or after it where there is none.
    """
    done: list[_Change] = []
    for i, j, k, m in changes:
        if i < j:
            change = i, j, k, m
        elif i:
            change = i - 1, j, k - 1, m
        else:
            change = i, min(j + 1, size), k, m + 1
        if done and change[0] <= done[-1][1]:
            first, _, begin, _ = done.pop()
            change = first, change[1], begin, change[3]
        done.append(change)
    return done


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
        unchanged: values that surrogates leave unchanged (`with_unchanged`), with their kinds.
    """

    document: Document
    others: tuple[Span, ...] = ()
    by: tuple[str, ...] = ()
    sha256: str = ""
    unchanged: tuple[Span, ...] = ()


def comparison_notes(first: Sequence[Document], second: Mapping[str, Sequence[Span]]) -> list[PageNote]:
    """The notes of two sides: gold and predicted, or two annotators'."""
    return [PageNote(document, tuple(second[document.id])) for document in first]


def redaction_notes(pairs: Iterable[tuple[Document, str]]) -> list[PageNote]:
    """Notes with their replaced spans, from the texts before and after redaction."""
    notes = []
    for document, after in pairs:
        found = find_replacements(document.text, after)
        spans = tuple(Span(one.start, one.end, one.label) for one in found)
        made = Document(document.id, document.text, spans, source=document.source)
        notes.append(PageNote(made, by=tuple(one.by for one in found), sha256=text_digest(after)))
    return notes


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


def run_operators(redacted: Path) -> tuple[Operators, str | None]:
    """Return the operators of the run that wrote redacted notes, and the locale that its user chose.

    Args:
        redacted: the run's folder, or a file directly in it. Without settings of a run, the operators are the defaults.

    Raises:
        DataError: the settings are damaged.
    """
    folder = redacted if redacted.is_dir() else redacted.parent
    settings = read_run_config(folder / STATE_FOLDER / "settings.json") or {}
    return parse_operators(settings.get("operators") or ()), settings.get("locale")


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
        replace(note, unchanged=unchanged_spans(document, operators, replaced=note.document.spans, locale=locale))
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
    locale = locale or guess_locale(document.text) or ENGLISH
    surrogates = _surrogates(locale)
    found = [*_by_rule(document), *document.spans]
    touched = set(overlapping(found, replaced))
    kept = {label for label in operators.types if operators[label] == KEEP}
    kept_kinds = {surrogate_kind(label) for label in kept} - {"none"}
    preserved = PRESERVED_KINDS if operators.uses(SURROGATE) else ()
    stay = []
    for span in found:
        value, kind = document.text[span.start : span.end], surrogate_kind(span.label)
        is_kept = span.label in kept or kind in kept_kinds
        is_kept = is_kept and keep_value(value, span.label, locale=locale) == value
        if span not in touched and (is_kept or (kind in preserved and surrogates.of(value, span.label) == value)):
            stay.append(span._replace(label=span.label if kind == "none" else kind))
    return tuple(merge(stay))


def _by_rule(document: Document) -> Iterator[Span]:
    for sentence in document.sentences():
        for rule, first, stop in find_rules(sentence):
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


def review_html(notes: Sequence[PageNote], side: PageText, *, unsure: _Uncertain | None = None) -> str:
    """The page, which loads nothing and sends nothing.

    Args:
        notes: in reading order.
        side: names of its two sides.
        unsure: for each note, the tokens that a model is unsure of; None without a model.
    """
    templates = files("crfdeid") / "review" / "templates"
    data = _page_data(notes, side, unsure)
    kinds = sorted({span.label for note in notes for span in note.unchanged})
    return render_page(templates, "review", side=side, unsure=unsure is not None, unchanged=kinds, data=data)


def _page_data(notes: Sequence[PageNote], side: PageText, unsure: _Uncertain | None) -> dict[str, Any]:
    """Data of the page; offsets are code points.

    Returns:
        "types", by name; "notes": {"id", "text", "sha256", "spans": [start, end, type, replacement] each,
        "others" and "unchanged": [start, end, type] each, "unsure": [start, end, probability] each}.
    """
    asked = unsure if unsure is not None else [[] for _ in notes]
    shown = [
        {
            "id": note.document.id,
            "text": note.document.text,
            "sha256": note.sha256,
            "spans": [[*span, by] for span, by in zip_longest(note.document.spans, note.by)],
            "others": [list(span) for span in sorted(note.others)],
            "unchanged": [list(span) for span in note.unchanged],
            "unsure": [list(token) for token in tokens],
        }
        for note, tokens in zip(notes, asked, strict=True)
    ]
    types = {span.label for note in notes for span in (*note.document.spans, *note.others)}
    return {"types": sorted(types | {"PHI"}), "sided": bool(side.second), "notes": shown}
