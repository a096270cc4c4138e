"""Deleted text, reviewers, authors and properties are treated alike in every format."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

import cda_places
import hidden_places as places
import pytest
from docx_files import docx

import crfdeid
from crfdeid.io.records import Failure, Note, NoteResult
from crfdeid.markup import read_markup, unpack
from crfdeid.markup.blocks import MarkupText, write

FRAMES = {
    "html": "<html><body>{}</body></html>",
    "rtf": r"{{\rtf1\ansi\ansicpg1252\deff0 {}\par}}",
    "cda": cda_places.FRAME.format(
        "<component><structuredBody><component><section><text>{}</text></section></component></structuredBody></component>"
    ),
}


def source_of(format: str, place: Any) -> str:
    """A document with a value in a place."""
    if format != "docx":
        return FRAMES[format].format(place)
    name, content = place
    return unpack(io.BytesIO(docx({name: content})), "docx")


def cases(table: Mapping[str, Mapping[str, Any]]) -> Iterable[Any]:
    return [
        pytest.param(format, source_of(format, place), id=f"{format}-{name}")
        for format, some in table.items()
        for name, place in some.items()
    ]


def reading_of(source: str, format: str) -> MarkupText:
    reading = read_markup(source, format)
    assert reading is not None
    return reading


def redacted(source: str, format: str, structured: str = "refuse") -> Failure | NoteResult:
    """The result of a model that does not find the names of the tables."""
    started = crfdeid.Redactor("rules", crfdeid.Policy(structured=structured)).start()
    (result,) = started([Note("1", source, None, markup=format)])
    assert isinstance(result, Failure | NoteResult)
    return result


@pytest.mark.parametrize(("format", "source"), cases(places.LACKED))
def test_results_lack_deleted_text_and_reviewers(format: str, source: str) -> None:
    result = redacted(source.replace("NAME", "Quelmick"), format)
    assert isinstance(result, NoteResult)
    assert "Quelmick" not in result.document.text
    again = redacted(result.document.text, format)
    assert isinstance(again, NoteResult) and again.document.text == result.document.text


@pytest.mark.parametrize(("format", "source"), cases(places.REFUSED))
def test_a_note_with_an_author_or_a_property_is_refused_kept_or_blanked(format: str, source: str) -> None:
    source = source.replace("NAME", "Jane Quelmick" if "name=author" not in source else "Quelmick")
    refused = redacted(source, format)
    assert isinstance(refused, Failure) and "Quelmick" not in refused.reason
    assert "--structured blank" in refused.reason and "keep" in refused.reason
    kept = redacted(source, format, "keep")
    assert isinstance(kept, NoteResult) and "Quelmick" in kept.document.text and kept.kept_fields
    blank = redacted(source, format, "blank")
    assert isinstance(blank, NoteResult) and "Quelmick" not in blank.document.text
    again = redacted(blank.document.text, format)
    assert isinstance(again, NoteResult) and again.document.text == blank.document.text


@pytest.mark.parametrize(
    ("format", "place"), [(format, place) for format in places.REPLACED for place in places.REPLACED[format]]
)
def test_a_deleted_name_is_not_joined_to_the_one_in_its_place(format: str, place: Any) -> None:
    reading = reading_of(source_of(format, place), format)
    assert "by Dr. Marsh," in reading.text and "Quill" not in write(reading, []).text.replace("Jane Quill", "")


@pytest.mark.parametrize("text", ["x <del>Quill", "<del>Quill <del>a</del>", "<p><del>Quill</p><p>x<del>b</del>"])
def test_a_deletion_without_an_end_is_text(text: str) -> None:
    assert "Quill" in reading_of(text, "html").text


@pytest.mark.parametrize("kind", ["rtf", "html"])
def test_an_author_is_searched_for_in_the_text(kind: str) -> None:
    head, text = {
        "rtf": (r"{\rtf1{\info{\author Orla Quelmick}}", "Seen by Orla Quelmick}"),
        "html": ('<meta name="author" content="Orla &#81;uelmick">', "<p>Seen by Orla Quel<b>mick</b></p>"),
    }[kind]
    for structured in ("keep", "blank"):
        result = redacted(head + text, kind, structured)
        assert isinstance(result, NoteResult)
        assert "Seen by [PATIENT]" in result.document.text and "mick" not in result.document.text[len(head) :]


def test_no_author_in_a_field_of_a_message_stays() -> None:
    note = r"{\\rtf1{\\info{\\author Orla Quelmick}}Walks well.\\par}"
    result = redacted(f'{{"resourceType": "Basic", "text": "{note}"}}', "fhir")
    assert isinstance(result, NoteResult)
    assert "Quelmick" not in result.document.text and "Walks well." in result.document.text


NAMED = {
    "font of a tag": '<font face="NAME, serif">x</font>',
    "font of a style": "<p style=\"font-family: 'NAME'\">x</p>",
    "font without quotes": "<p style='font-family:NAME,Arial'>x</p>",
    "font with references": '<p style="font-family:&quot;NAME&quot;">x</p>',
    "string in a sheet": "<style>p:before {content: 'NAME'}</style>",
    "address in a sheet": "<style>p {background: url(http://x.org/NAME.png)}</style>",
    "class": "<p class='x NAME'>x</p>",
    "target of a link": '<a href="#a" target="NAME">x</a>',
    "class in a sheet": "<style>p.NAME {color: red}</style>",
    "remark in a sheet": "<style>/* by NAME",
}


@pytest.mark.parametrize("place", NAMED)
def test_names_in_styles_are_text(place: str) -> None:
    end = "</style>" if place == "remark in a sheet" else ""
    assert "Quelmick" in reading_of(NAMED[place].replace("NAME", "Quelmick") + end, "html").text


WRITTEN_BY_SOFTWARE = {
    "html": (
        '<meta name="generator" content="LibreOffice 7.4.7.2 (Linux)"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1.0, user-scalable=yes"/>'
        '<style>@page { size: 8in 11in; margin: 1in }\nh2.cjk { font-family: "DejaVu Serif", serif; color: #1a1a1a }\n'
        "@media (max-width: 600px) { a:link, a[href] { padding: 0 .5em } }</style>"
        '<body link="#000080"><p class="western MsoNormal" '
        'style="line-height: 115%; border: 1px solid #808080">{}</p></body>'
    ),
    "rtf": (
        r"{{\rtf1{{\fonttbl{{\f0\froman Liberation Serif{{\*\falt Times New Roman}};}}{{\f1\fnil Noto Sans CJK SC;}}}}"
        r"{{\stylesheet{{\s1 Heading 2;}}{{\s2 Index Heading;}}{{\*\cs3 Internet Link;}}}}"
        r"{{\*\generator LibreOffice/7.4;}}{{\info{{\author }}}}"
        r"{{\*\userprops{{\propname }}\proptype30{{\staticval }}}}{}\par}}"
    ),
    "docx": "<w:p><w:pPr><w:pStyle w:val='Heading2'/></w:pPr><w:r><w:rPr><w:rFonts w:ascii='Liberation Serif'/>"
    "<w:color w:val='4e9a06'/></w:rPr><w:t>{}</w:t></w:r></w:p>",
}


@pytest.mark.parametrize("format", WRITTEN_BY_SOFTWARE)
def test_names_that_software_gives_are_no_text(format: str) -> None:
    body = WRITTEN_BY_SOFTWARE[format]
    body = body.replace("{}", "Na 140") if format != "rtf" else body.format("Na 140")
    reading = reading_of(source_of("docx", (places.BODY, body)) if format == "docx" else body, format)
    assert reading.text.strip() == "Na 140" and not reading.structured.fields


@pytest.mark.parametrize("name", ["Quelmick", "Mark Quelmick", "Heading 4822137", "Georgia"])
def test_other_names_of_styles_and_pictures_are_text(name: str) -> None:
    picture = f'<w:p><w:r><w:drawing><wp:docPr id="1" name="Picture 1" descr="{name}"/></w:drawing></w:r></w:p>'
    assert name in reading_of(source_of("docx", (places.BODY, picture)), "docx").text
    comment = rf"{{\rtf1 Na 140 {{\*\annotation {name}}}}}"
    assert name in reading_of(comment, "rtf").text


@pytest.mark.parametrize(
    "text", ["<del>" * 40_000, "<style>" + "url(" * 50_000 + "</style>", "<style>" + "'/* \"" * 40_000]
)
def test_hostile_styles_and_deletions_take_no_time(text: str) -> None:
    reading_of(text, "html")


@pytest.mark.parametrize(
    "inside",
    [
        r"{\info{\author {\*\x Quelmick}}}",
        r"{\*\staticval Quelmick}",
        r"{\propname Quelmick",
        r"{\*\revtbl{A{\*\x Quelmick}",
    ],
)
def test_a_property_that_is_not_in_its_place_is_text_or_lacks(inside: str) -> None:
    reading = reading_of(rf"{{\rtf1{inside}", "rtf")
    assert "Quelmick" in reading.text or any(
        "Quelmick" in reading.source[one.start : one.end] for one in reading.dropped
    )
