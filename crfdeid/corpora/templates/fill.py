"""Fills templates: one note for each template and filling, with its own choices of lines, words, layout and letters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from random import Random
from typing import Any

import regex

from crfdeid.corpora.marked_text import MarkedText, expand, join_parts, render, substitute, wrap_part
from crfdeid.corpora.synthetic.people import SplitName
from crfdeid.corpora.templates.note import NO_STOP, Note
from crfdeid.corpora.templates.syntax import Line, Section, Template, TemplateSet
from crfdeid.corpora.templates.tables import tables_of
from crfdeid.documents import Document, Span

# Shares of notes, sections, lines and words that vary; fractions.
_SECTION_DROPPED, _LINE_KEPT = 0.4, 0.5
_SENTENCES_DROPPED = (0.0, 0.0, 0.0, 0.1, 0.2)
_ABBREVIATED_NOTES, _ABBREVIATED_WORDS = 0.35, 0.4
_WRAPPED, _WRAP_WIDTHS, _WRAPPED_IN_SPANS = 0.25, (60, 72, 76, 80, 90), 0.5
_ONE_RUN, _HEADINGS = 0.04, 0.2
_WITHOUT_LETTERS = 0.08
_CAPITALS, _SMALL, _SYSTEM_CASE = 0.03, 0.06, 0.85
_SHORTEST_TO_THIN = 120  # characters of a line whose sentences may be dropped
_NAMES = ("PATIENT", "DOCTOR")
_SPACE_BEFORE_MARK = regex.compile(r"(?<=[\p{L}\p{N})}\]]) +(?=[.,](?:\s|$))")
_BEFORE_MARK = regex.compile(r"\{(?!n:)([^{}]+)\}(?=[.,;])")
_WORD = regex.compile(r"\p{L}[\p{L}\']*")
_HEADING = regex.compile(r"(?m)^\p{Lu}[\p{L} /&'-]{1,28}:")


def fill(
    templates: TemplateSet,
    *,
    split: SplitName = "train",
    fillings: int | Iterable[int] = 1,
    seed: int = 0,
    origins: bool = False,
) -> Iterator[Document]:
    """Notes of a split: every filling of each of its templates, template by template.

    Names, places and numbers are the note's own, so another template changes no note. The names of ``dev`` and ``test``
    notes are in part names that no ``train`` note has.

    Args:
        templates: `built_in_templates`, or those of a folder.
        split: whose templates and names.
        fillings: how many notes of each template, or the numbers of the fillings.
        seed: the seed of every choice; the same seed gives the same notes, with the same version of Faker.
        origins: mark the origin of each name in a layer "origin", to measure recall by origin.

    Yields:
        Documents ``<template>-<filling>`` with the types of i2b2 2014.

    Example:
        >>> from crfdeid.corpora.templates import built_in_templates
        >>> note = next(fill(built_in_templates("english"), seed=1))
        >>> note.id.endswith("-0"), "PATIENT" in {span.label for span in note.spans}
        (True, True)
    """
    numbers = range(fillings) if isinstance(fillings, int) else tuple(fillings)
    for template in templates.templates:
        if template.split == split:
            for number in numbers:
                yield fill_one(templates, template, number, seed=seed, origins=origins)


def fill_one(
    templates: TemplateSet, template: Template, filling: int, *, seed: int = 0, origins: bool = False
) -> Document:
    """One note of a template.

    Args:
        templates: the set that the template belongs to.
        template: the template.
        filling: the number of the filling, from 0.
        seed: the seed of every choice.
        origins: mark the origin of each name in a layer "origin".
    """
    rng = Random(f"{seed} {templates.language} {template.name} {filling}")
    note = Note(templates, template, rng, origins=origins)
    lines = _abbreviated(_draft(template, templates.language, rng), templates.language, rng)
    piece = _with_whole_names(join_parts((_tidy(render(line, note, rng)) for line in lines), "\n"))
    tables = tables_of(templates.language)
    for before, after in tables.joins:
        piece = substitute(piece, before, after)
    piece = _spelled(piece, template.case, tables["letters"], rng)
    piece = _in_case(_laid_out(_tidy(piece), rng), template.case, rng)
    return Document(f"{template.name}-{filling}", piece.text, piece.spans, layers=piece.layers)


def _with_whole_names(piece: MarkedText) -> MarkedText:
    """With the words of a name that two slots gave ("{patient.nick} {patient.last}") as one span."""
    spans: list[Span] = []
    for span in piece.spans:
        last = spans[-1] if spans else None
        if last and last.label == span.label in _NAMES and piece.text[last.end : span.start] == " ":
            spans[-1] = last._replace(end=span.end)
        else:
            spans.append(span)
    return piece._replace(spans=tuple(spans))


def _draft(template: Template, language: str, rng: Random) -> list[str]:
    """The lines of a note with their choices made and their slots unfilled."""
    between = rng.choice(([""], [], [], [""]))
    dropped = rng.choice(_SENTENCES_DROPPED)
    lines: list[str] = []
    for section in _arranged(template.sections, rng):
        chosen = [line for line in section.lines if not line.optional or rng.random() < _LINE_KEPT]
        if lines and chosen:
            lines += between
        expanded = (_SPACE_BEFORE_MARK.sub("", expand(line.text, rng)) for line in _without_repeats(chosen))
        lines += [_thinned(line, dropped, language, rng) for line in expanded]
    return [_BEFORE_MARK.sub(rf"{{\1{NO_STOP}}}", line) for line in lines]


def _without_repeats(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines, without a blank one after another that was left between dropped lines."""
    blank = False
    for line in lines:
        if line.text.strip() or not blank:
            yield line
        blank = not line.text.strip()


def _arranged(sections: Sequence[Section], rng: Random) -> list[Section]:
    """The sections of a note: some optional ones missing, movable neighbours in another order."""
    kept = [section for section in sections if section.mark != "?" or rng.random() >= _SECTION_DROPPED]
    start = 0
    while start < len(kept):
        end = start
        while end < len(kept) and kept[end].mark == "~":
            end += 1
        run = kept[start:end]
        rng.shuffle(run)
        kept[start:end] = run
        start = end + 1
    return kept


@cache
def _sentence_end(language: str) -> Any:
    """The gap after a sentence, which no title or abbreviation of the language ends."""
    titles = "".join(rf"(?<!\b{regex.escape(word)}\.)" for word in tables_of(language)["abbreviations"])
    return regex.compile(rf"(?<=[\p{{Ll}}\]}}%\d)][.;]){titles}(?= [\p{{Lu}}{{\[(])")


def _thinned(line: str, share: float, language: str, rng: Random) -> str:
    """A long line without some of its sentences."""
    if not share or len(line) < _SHORTEST_TO_THIN:
        return line
    first, *rest = _sentence_end(language).split(line)
    return "".join([first, *(part for part in rest if rng.random() >= share)])


def _abbreviated(lines: Sequence[str], language: str, rng: Random) -> list[str]:
    """The lines, in some notes with abbreviations of common words."""
    if rng.random() >= _ABBREVIATED_NOTES:
        return list(lines)
    text = "\n".join(lines)
    for pattern, spellings in _spellings(language):
        if rng.random() < _ABBREVIATED_WORDS:
            text = pattern.sub(rng.choice(spellings), text)
    return text.split("\n")


@cache
def _spellings(language: str) -> Sequence[tuple[Any, Sequence[str]]]:
    """Words outside slots, and other spellings of them."""
    table = tables_of(language)["spellings"]
    return [(regex.compile(rf"\{{[^{{}}]*\}}(*SKIP)(*FAIL)|{word}"), others) for word, others in table.items()]


def _spelled(piece: MarkedText, case: str, letters: Mapping[str, str], rng: Random) -> MarkedText:
    """The note with one full stop where a date ends a sentence ("am 3.2."), some without the letters of the language.

    Capitals always: "ß" has none of its own.
    """
    text = [*piece.text]
    for span in piece.spans:
        if span.label == "DATE" and piece.text[span.end - 1 : span.end + 1] == "..":
            text[span.end] = ""
    if letters and (case == "upper" or rng.random() < _WITHOUT_LETTERS):
        text = [letters.get(letter, letter) for letter in text]
    return piece.with_letters(text)


def _tidy(piece: MarkedText) -> MarkedText:
    """Without blanks at its end, where an option was empty; a span at the end keeps its own."""
    return piece._replace(text=piece.text.rstrip())


def _laid_out(piece: MarkedText, rng: Random) -> MarkedText:
    """The note with hard line ends, as one run of text, or with headings in another case."""
    chance = rng.random()
    if chance < _WRAPPED:
        width = rng.choice(_WRAP_WIDTHS)
        piece = wrap_part(piece, width, inside_spans=rng.random() < _WRAPPED_IN_SPANS)
    elif chance < _WRAPPED + _ONE_RUN:
        piece = piece._replace(text=piece.text.replace("\n", " "))
    if rng.random() < _HEADINGS:
        piece = _with_headings(piece, rng)
    return piece


def _in_title_case(text: str) -> str:
    """The words with a capital each: "Patient's Name"."""
    return str(_WORD.sub(lambda found: found[0].capitalize(), text))


def _with_headings(piece: MarkedText, rng: Random) -> MarkedText:
    change = rng.choice((str.upper, str.lower, _in_title_case))
    marked = {i for span in piece.marks for i in range(span.start, span.end)}

    def heading(found: Any) -> str:
        text = str(found[0])
        changed = change(text)
        return text if marked.intersection(range(*found.span())) or len(changed) != len(text) else changed

    return piece._replace(text=_HEADING.sub(heading, piece.text))


def _in_case(piece: MarkedText, case: str, rng: Random) -> MarkedText:
    """The note, now and then in capitals or small letters; mostly so if the system knows no others."""
    chance = rng.random()
    changed = piece
    if case:
        if chance < _SYSTEM_CASE:
            changed = piece.upper() if case == "upper" else piece.lower()
    elif chance < _CAPITALS:
        changed = piece.upper()
    elif chance < _CAPITALS + _SMALL:
        changed = piece.lower()
    # "ß" and "İ" become two letters in the other case, and offsets would move.
    return changed if len(changed.text) == len(piece.text) else piece
