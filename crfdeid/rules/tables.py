"""Rules as data: the TOML files of this folder, and the table "rules" of language packs.

Each table has three parts:

- ``lists``: words, with commas between the entries. ``{NAME}`` as an entry is all entries of another list.
- ``parts``: expressions. ``{NAME}`` in one is an earlier part, or any word of a list; line breaks do not count.
- ``rule``: a row for each rule, with the attributes of `Rule`. Its ``form`` and ``separator`` are expressions; its
  ``types``, ``left_context`` and ``words`` are lists. ``check`` and ``in_note`` name a function of
  `crfdeid.rules.checks`, a method of `NameWords`, or with "stdnum." a module of python-stdnum.

All tables have the lists and parts of ``shared.toml``. That of a language pack also has the lists of the pack's tables
"words" and "cues" by their names, ``{kin}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from crfdeid.rules import checks
from crfdeid.rules.name_words import NameWords
from crfdeid.rules.rule import Rule, one_of
from crfdeid.utils.files import read_toml
from features.languages import Language, LanguagePackError

_NAME = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class _Terms:
    """The lists and parts of a table, and of those that it builds on.

    Attributes:
        lists: name -> entries.
        parts: name -> expression.
    """

    def __init__(
        self, table: Mapping[str, Any], lists: Mapping[str, tuple[str, ...]], parts: Mapping[str, str]
    ) -> None:
        self.lists, self.parts = dict(lists), dict(parts)
        for name, text in table.get("lists", {}).items():
            self.lists[name] = self.entries(text)
        for name, text in table.get("parts", {}).items():
            self.parts[name] = self.expression(text)

    def entries(self, text: str) -> tuple[str, ...]:
        """The entries of a list."""
        found = list[str]()
        for entry in filter(None, (" ".join(part.split()) for part in text.split(","))):
            name = _NAME.fullmatch(entry)
            found += self.lists[name[1]] if name else [entry]
        return tuple(found)

    def expression(self, text: str) -> str:
        """An expression with its parts."""
        return _NAME.sub(self._part, "".join(text.splitlines()))

    def _part(self, name: re.Match[str]) -> str:
        if name[1] not in self.parts:
            self.parts[name[1]] = one_of(self.lists[name[1]])
        return self.parts[name[1]]


def _rules(table: Mapping[str, Any], terms: _Terms, words: NameWords | None, language: str | None) -> Iterator[Rule]:
    for row in table["rule"]:
        lists = {name: terms.entries(row.get(name, "")) for name in ("types", "left_context", "words")}
        yield Rule(
            **row
            | lists
            | {"words": tuple(word.lower() for word in lists["words"])}
            | {name: terms.expression(row.get(name, "")) for name in ("form", "separator")}
            | {name: tuple(row[name]) for name in ("positive_examples", "negative_examples")}
            | {name: _function(row[name], words) for name in ("check", "in_note") if name in row},
            language=language,
        )


def _function(name: str, words: NameWords | None) -> Callable[[str], Any]:
    if name.startswith("stdnum."):
        return checks.stdnum_check(name.removeprefix("stdnum."))
    found: Callable[[str], Any] = getattr(words if hasattr(words, name) else checks, name)
    if not callable(found):
        raise AttributeError(f"'{name}' is no check")
    return found


def _read(file: str) -> dict[str, Any]:
    return read_toml(Path(__file__).with_name(f"{file}.toml"))


_SHARED = _Terms(_read("shared"), {}, {})
LISTS, PARTS = _SHARED.lists, _SHARED.parts
"""Lists and parts of all tables, by name."""


@cache
def shared_rules(file: str) -> tuple[Rule, ...]:
    """The rules of a file of this folder, for notes of any language."""
    table = _read(file)
    return tuple(_rules(table, _Terms(table, LISTS, PARTS), None, None))


def pack_rules(pack: Language, words: NameWords) -> tuple[Rule, ...]:
    """The rules in the table "rules" of a language pack; ``words`` tells names from other words.

    Raises:
        LanguagePackError: a rule lacks an attribute or has an unknown one, or names a list, part or check that is none.
    """
    table = pack.content.get("rules", {"rule": ()})
    own = {name: pack.entries(kind, name) for kind in ("words", "cues") for name in pack.content[kind]}
    try:
        return tuple(_rules(table, _Terms(table, {**LISTS, **own}, PARTS), words, pack.code))
    except (AttributeError, KeyError, TypeError) as problem:
        raise LanguagePackError(f"{pack.code}.toml: in the table 'rules': {problem}") from None
