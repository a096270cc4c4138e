"""Reads folders of templates; docs/reference/synthetic-corpus.md describes the format.

Files ``lists*.txt`` hold word lists, every other ``*.txt`` holds templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple, cast

import regex

from crfdeid.corpora.synthetic.people import SplitName
from crfdeid.corpora.templates.slots import parse_list, parse_slot
from crfdeid.corpora.templates.tables import LANGUAGES, Tables, tables_of
from crfdeid.errors import EmptyInputError, FormatError, NotFoundError, located
from crfdeid.utils.files import read_sections, read_text

_FOLDER = Path(__file__).parent
_TEMPLATE, _OPTIONAL_LINE = "== ", "?? "
_SECTION = regex.compile(r"--([?~]?)\s*")
_AGES = regex.compile(r"(\d{1,3})-(\d{1,3})")
_KIND = regex.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_FIELD = regex.compile(r"\{([^{}]*)\}")
_BRACKET = regex.compile(r"(?<!\\)[\[\]]")
_VALUES: Mapping[str, Sequence[str]] = {
    "sex": ("female", "male"),
    "split": ("train", "dev", "test"),
    "case": ("upper", "lower"),
    "persons": ("new",),
}
_KEYS = ("kind", "age", "country", *_VALUES)


class Line(NamedTuple):
    """A line of a template."""

    text: str
    optional: bool


class Section(NamedTuple):
    """Lines that stay together.

    Attributes:
        mark: "?" for a section that some notes lack, "~" for one that may change places with its neighbours, or "".
        lines: its lines.
    """

    mark: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Template:
    """A note with slots.

    Attributes:
        name: unique in its folder.
        kind: of the note, such as "discharge".
        sections: its parts, in order.
        ages: least and greatest age of the patient, in years.
        sex: "female", "male", or "" for any.
        country: a country of the language.
        split: the split that may use it.
        case: "upper" or "lower" for a system that knows only those letters, or "".
        new_persons: whether each ``{patient}`` is another person.
    """

    name: str
    kind: str
    sections: tuple[Section, ...]
    ages: tuple[int, int] = (18, 95)
    sex: str = ""
    country: str = ""
    split: SplitName = "train"
    case: str = ""
    new_persons: bool = False


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """Templates of a language and the lists that their slots name.

    Attributes:
        language: one of `crfdeid.corpora.templates.tables.LANGUAGES`.
        templates: in the order of files and lines.
        lists: the entries of each list.
    """

    language: str
    templates: tuple[Template, ...]
    lists: Mapping[str, tuple[str, ...]]


@cache
def built_in_templates(language: str) -> TemplateSet:
    """The templates of the library.

    Args:
        language: one of `crfdeid.corpora.templates.tables.LANGUAGES`.

    Raises:
        UnknownNameError: no such language.
    """
    tables_of(language)
    return read_templates(_FOLDER / language, language=language)


def read_templates(folder: Path, *, language: str = LANGUAGES[0]) -> TemplateSet:
    """Read a folder of templates.

    Args:
        folder: it may have lists of its own; those of the library are known in each.
        language: the language of names, dates, places and numbers.

    Raises:
        DataError: the folder has no templates, or one is invalid; the message names file and line.
        UnknownNameError: no such language.

    Example:
        >>> import tempfile
        >>> text = "== short note | kind=phone\\n{patient} called from {phone}."
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "mine.txt").write_text(text)
        >>> read_templates(folder).templates[0].sections[0].lines
        (Line(text='{patient} called from {phone}.', optional=False),)
    """
    tables = tables_of(language)
    if not folder.is_dir():
        raise NotFoundError("no such folder of templates", path=folder)
    paths = sorted(folder.glob("*.txt"))
    lists = dict(tables.lists)
    for source in dict.fromkeys((_FOLDER / language, folder)):
        lists |= _read_lists(sorted(source.glob("lists*.txt")))
    reader = _Reader(tables, lists)
    for path in (*sorted((_FOLDER / language).glob("lists*.txt")), *paths):
        if path.name.startswith("lists"):
            reader.check_lists(path)
    templates = [template for path in paths if not path.name.startswith("lists") for template in reader.read(path)]
    if not templates:
        raise EmptyInputError("no templates (files *.txt with lines '== name | kind=...')", path=folder)
    return TemplateSet(language, tuple(templates), lists)


def _read_lists(paths: Sequence[Path]) -> dict[str, tuple[str, ...]]:
    """The lists of some files; entries of one name in several files are joined."""
    lists: dict[str, tuple[str, ...]] = {}
    for path in paths:
        for name, entries in read_sections(path).items():
            lists[name] = tuple(dict.fromkeys((*lists.get(name, ()), *entries)))
    return {name: entries for name, entries in lists.items() if entries}


class _Reader:
    """Reads template files and checks them against slots, lists and countries."""

    def __init__(self, tables: Tables, lists: Mapping[str, Sequence[str]]) -> None:
        self._tables, self._lists = tables, lists
        self._names: set[str] = set()

    def check_lists(self, path: Path) -> None:
        for number, line in enumerate(read_text(path).splitlines(), 1):
            if not line.startswith((_TEMPLATE, "# ")):
                self._check(path, number, line)

    def read(self, path: Path) -> Iterator[Template]:
        """The templates of a file."""
        blocks: list[tuple[int, str, list[str]]] = []
        for number, line in enumerate(read_text(path).splitlines(), 1):
            if line.startswith(_TEMPLATE):
                blocks.append((number, line.removeprefix(_TEMPLATE), []))
            elif blocks:
                blocks[-1][2].append(line)
            elif line.strip() and not line.startswith("#"):
                raise FormatError("text before the first line '== name | kind=...'", path=path, line=number)
        for number, head, lines in blocks:
            with located(path, number):
                template = self._head(head)
            for line_number, line in enumerate(lines, number + 1):
                self._check(path, line_number, line)
            sections = tuple(_sections(lines))
            if not any(section.lines for section in sections):
                raise FormatError("a template without text", path=path, line=number)
            yield Template(**template, sections=sections)  # type: ignore[arg-type]

    def _head(self, head: str) -> dict[str, object]:
        """The attributes of a template but for its sections."""
        name, *options = (part.strip() for part in head.split("|"))
        if not name:
            raise FormatError("a template needs a name")
        if name in self._names:
            raise FormatError(f"the name of a template that occurs before: '{name}'")
        self._names.add(name)
        values: dict[str, str] = {}
        for option in options:
            key, _, value = option.partition("=")
            if key not in _KEYS or key in values:
                raise FormatError(f"unknown or repeated key '{key}': choose from {', '.join(_KEYS)}")
            if value not in _VALUES.get(key, (value,)):
                raise FormatError(f"{key}= is one of {', '.join(_VALUES[key])}")
            values[key] = value
        if not _KIND.fullmatch(values.get("kind", "")):
            raise FormatError("a template needs kind=, a word in small letters")
        country = values.get("country", self._tables.country)
        if country not in self._tables.countries:
            raise FormatError(f"country= is one of {', '.join(sorted(self._tables.countries))}")
        ages = _AGES.fullmatch(values.get("age", "18-95"))
        if ages is None or int(ages[1]) > int(ages[2]):
            raise FormatError("age= is a range of years such as 18-95")
        return {
            "name": name,
            "kind": values["kind"],
            "ages": (int(ages[1]), int(ages[2])),
            "sex": values.get("sex", ""),
            "country": country,
            "split": cast("SplitName", values.get("split", "train")),
            "case": values.get("case", ""),
            "new_persons": "persons" in values,
        }

    def _check(self, path: Path, number: int, line: str) -> None:
        """Refuse a line with an unbalanced choice or an unknown slot."""
        depth = 0
        for bracket in _BRACKET.findall(line):
            depth += 1 if bracket == "[" else -1
            if depth < 0:
                break
        if depth:
            raise FormatError("a choice that is not closed, or not opened, on its line", path=path, line=number)
        if line.count("{") != len(_FIELD.findall(line)) or line.count("}") != line.count("{"):
            raise FormatError("a slot that is not closed, or not opened", path=path, line=number)
        for name in _FIELD.findall(line):
            if parse_slot(name) is None and parse_list(name, self._lists) is None:
                raise FormatError(f"unknown slot or list '{name}'", path=path, line=number)


def _sections(lines: Sequence[str]) -> Iterator[Section]:
    mark, kept = "", list[Line]()
    for line in lines:
        if found := _SECTION.fullmatch(line):
            yield Section(mark, _without_blank_ends(kept))
            mark, kept = found[1], []
        else:
            optional = line.startswith(_OPTIONAL_LINE)
            kept.append(Line(line.removeprefix(_OPTIONAL_LINE) if optional else line, optional))
    yield Section(mark, _without_blank_ends(kept))


def _without_blank_ends(lines: Sequence[Line]) -> tuple[Line, ...]:
    full = [i for i, line in enumerate(lines) if line.text.strip()]
    return tuple(lines[full[0] : full[-1] + 1]) if full else ()
