"""A site's lists as a TOML file, all of it checked when it is read; what is wrong is said by file and line.

[[deny]]
type = "HOSPITAL"
terms = ["Tawn List Clinic"]     # or file = "clinics.txt": a term a line, beside this file
match_case = true                # else capitals, accents and signs do not matter

[[pattern]]
type = "ID"
regex = 'TL-\\d{6}'

[[allow]]
terms = ["Foley"]
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from crfdeid.errors import DataError
from crfdeid.given.site import Pattern, Site, Term, check_pattern, check_term, check_type
from crfdeid.system.files import read_text

_KEYS = {
    "deny": ("type", "terms", "file", "match_case"),
    "pattern": ("type", "regex", "match_case"),
    "allow": ("terms", "file", "match_case"),
}
_Checked = TypeVar("_Checked")
_COMMENT = "#"
_SYNTAX_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")
_HEAD = re.compile(r"\s*\[\[?\s*[\"']?(\w+)[\"']?\s*\]")


def read_site(path: Path) -> Site:
    """A site's lists from a TOML file and the word lists that it names.

    Raises:
        DataError: a file cannot be read, or something in it cannot work. The message names file and line, and no term:
            lists hold names.
    """
    text = read_text(path)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _SYNTAX_PLACE.search(str(error))
        line = int(place[1]) if place else len(text.splitlines())
        column = f" at column {place[2]}" if place else ", or not closed"
        raise DataError(f"no TOML{column}: correct it", path=path, line=line) from None
    except RecursionError:
        raise DataError("no TOML that can be read: it is nested too deep", path=path) from None
    tables = list(_tables(content, path, text.split("\n")))
    if not tables:
        raise DataError("says nothing: give [[deny]], [[allow]] or [[pattern]]", path=path)
    return Site(
        deny=tuple(term for table in tables if table.kind == "deny" for term in table.terms()),
        allow=tuple(term for table in tables if table.kind == "allow" for term in table.terms()),
        patterns=tuple(table.pattern() for table in tables if table.kind == "pattern"),
    )


def _tables(content: Mapping[str, Any], path: Path, lines: Sequence[str]) -> Iterator[_Table]:
    for kind, found in content.items():
        problem = ""
        if kind not in _KEYS:
            problem = f"not known here: there are {', '.join(f'[[{name}]]' for name in _KEYS)}"
        elif not isinstance(found, list) or not all(isinstance(values, dict) for values in found):
            problem = f"{kind} is no list of tables: begin each with [[{kind}]]"
        if problem:
            named = re.compile(rf"[\s\[\"']*{re.escape(kind)}\b")
            line = next((number for number, text in enumerate(lines, start=1) if named.match(text)), None)
            raise DataError(problem, path=path, line=line)
        heads = [n for n, text in enumerate(lines) if (head := _HEAD.match(text)) and head[1] == kind]
        for number, values in enumerate(found):
            yield _Table(path, lines, kind, heads[number] if number < len(heads) else None, values)


class _Table(NamedTuple):
    """One [[table]] of the file.

    Attributes:
        path: the file.
        lines: all its lines.
        kind: "deny", "allow" or "pattern".
        head: the index of the line it begins with; None where it is written in another way, such as in one line.
        values: what it says.
    """

    path: Path
    lines: Sequence[str]
    kind: str
    head: int | None
    values: Mapping[str, Any]

    def terms(self) -> list[Term]:
        """The terms of a list, and of the file that it names."""
        self._require_known()
        type_name = self._type() if self.kind == "deny" else ""
        match_case = self._flag("match_case")
        texts = self.values.get("terms", [])
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise self._problem('terms is no list of texts, such as ["Tawn List", "TLC"]', "terms")
        for text in texts:
            self._checked(check_term, text, "terms")
        listed = _word_list(self.path.parent / self._text("file")) if "file" in self.values else []
        if not texts and not listed:
            raise self._problem(
                "without terms: give terms = [...] or file = ...", "file" if "file" in self.values else ""
            )
        return [Term(text, type_name, match_case) for text in [*texts, *listed]]

    def pattern(self) -> Pattern:
        """The pattern of a table."""
        self._require_known()
        place = f"{self.path.name}, line {self.line('regex')}" if self.head is not None else self.path.name
        pattern = Pattern(self._text("regex"), self._type(), self._flag("match_case"), f"the pattern of {place}")
        self._checked(check_pattern, pattern, "regex")
        return pattern

    def line(self, key: str = "") -> int | None:
        """The line of a key, from 1, else that of the table's head; None where they are not lines of their own."""
        if self.head is None:
            return None
        for number, text in enumerate(self.lines[self.head + 1 :], start=self.head + 2):
            if _HEAD.match(text):
                break
            if key and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", text):
                return number
        return self.head + 1

    def _require_known(self) -> None:
        for key in self.values:
            if key not in _KEYS[self.kind]:
                raise self._problem(f"a key that is not known here: there are {', '.join(_KEYS[self.kind])}", key)

    def _type(self) -> str:
        name = self._text("type")
        self._checked(check_type, name, "type")
        return name

    def _text(self, key: str) -> str:
        value = self.values.get(key)
        if not isinstance(value, str):
            raise self._problem(f"{key} is needed, as a text", key)
        return value

    def _flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self._problem(f"{key} is neither true nor false", key)
        return value

    def _checked(self, check: Callable[[_Checked], None], value: _Checked, key: str) -> None:
        try:
            check(value)
        except DataError as error:
            raise self._problem(error.problem, key) from None

    def _problem(self, problem: str, key: str = "") -> DataError:
        return DataError(f"[[{self.kind}]] {problem}", path=self.path, line=self.line(key))


def _word_list(path: Path) -> list[str]:
    """The terms of a file: one a line; blank lines and those that begin with # say nothing."""
    found = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        text = line.strip()
        if not text or text.startswith(_COMMENT):
            continue
        try:
            check_term(text)
        except DataError as error:
            raise DataError(error.problem, path=path, line=number) from None
        found.append(text)
    return found
