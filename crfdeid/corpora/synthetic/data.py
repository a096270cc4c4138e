"""Reads the package's .txt data: templates, scenarios and word lists, all in one simple form.

A file is a run of sections. ``== name`` opens a section, every other line is an entry; blank lines and lines that
start with "# " are skipped. Entries keep their order, so everything drawn from them is repeatable.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import regex

_FOLDER = Path(__file__).parent
_WORD = regex.compile(r"\p{L}+")
_PLACEHOLDER = regex.compile(r"\{[^}]*\}")


class Scenario(NamedTuple):
    """One clinical condition: the texts that make a note about it hang together.

    Attributes:
        name: the condition.
        facts: key -> its entries. "age" and "sex" steer the patient, "group" ("infant") and "imaging" ("head")
            choose pools of their own, "pace" marks elective care; the other keys are pools of templates.
    """

    name: str
    facts: Mapping[str, tuple[str, ...]]


@cache
def sections(file_name: str) -> Mapping[str, tuple[str, ...]]:
    """The entries of one data file, by section.

    Example:
        >>> "Brown" in sections("names.txt")["ambiguous surnames"]
        True
    """
    return read_sections(_FOLDER / file_name)


def read_sections(path: Path) -> Mapping[str, tuple[str, ...]]:
    """The entries of a file of the package's form, by section."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            name = line[3:].strip()
            found.setdefault(name, [])
        elif line.strip() and not line.startswith("# "):
            found[name].append(line.rstrip())
    return MappingProxyType({name: tuple(entries) for name, entries in found.items()})


@cache
def scenarios() -> tuple[Scenario, ...]:
    """Every clinical scenario, from all ``scenarios_*.txt`` files: entries there are ``key: text``."""
    found = []
    for path in sorted(_FOLDER.glob("scenarios_*.txt")):
        for name, entries in sections(path.name).items():
            facts: dict[str, list[str]] = {}
            for entry in entries:
                key, _, text = entry.partition(": ")
                facts.setdefault(key, []).append(text)
            found.append(Scenario(name, MappingProxyType({key: tuple(texts) for key, texts in facts.items()})))
    return tuple(found)


@cache
def template_pools() -> Mapping[str, tuple[str, ...]]:
    """Every pool of templates, by name: those of frames.txt and sentences.txt."""
    return MappingProxyType({**sections("frames.txt"), **sections("sentences.txt")})


@cache
def text_pools() -> Mapping[str, tuple[str, ...]]:
    """Every pool of the texts of all types, by name: words, queries, messages and general sentences.

    ``\\n`` in an entry is a line end, ``\\t`` a tabulator.
    """
    files = ("words.txt", "queries.txt", "messages.txt", "general.txt")
    pools = {name: entries for file in files for name, entries in sections(file).items()}
    return MappingProxyType({name: tuple(map(_unescaped, entries)) for name, entries in pools.items()})


def _unescaped(entry: str) -> str:
    return entry.replace("\\n", "\n").replace("\\t", "\t")


@cache
def template_words() -> frozenset[str]:
    """Every word, in lower case, of the templates and scenarios.

    A surrogate that is also one of these would occur unmarked elsewhere in a note. Such surrogates are refused, except
    the listed ambiguous ones.
    """
    files = [*sorted(path.name for path in _FOLDER.glob("scenarios_*.txt")), "sentences.txt", "frames.txt"]
    texts = (entry for file in files for entries in sections(file).values() for entry in entries)
    return frozenset(word.lower() for text in texts for word in _WORD.findall(_PLACEHOLDER.sub(" ", text)))
