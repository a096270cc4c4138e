"""Reader of FHIR in JSON, also a resource a line: every string that is no code, time or reference is text.

Resources of the patient are the structured part. `text.div` is read as HTML, and any string in RTF or HTML as such. An
attachment with data is refused. JSON is validated by Python's parser; a tokenizer adds the offsets of its strings.

Reference: HL7 FHIR R4, 4.0.1: JSON representation, Patient, DomainResource.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from crfdeid.errors import MarkupError
from crfdeid.markup.blocks import BlockBuilder, Edit, MarkupText, Piece, Structured, word_sets
from crfdeid.markup.nested import add_block
from crfdeid.utils.json import DECODER

_WORDS = word_sets("fhir")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)"(\s*+:)?|[{}\[\],]|[^\s"{}\[\],:]++')
_RUN = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.)|[^\\]++")
_TIME_KEY = re.compile(
    r"(?:[dD]ate|[tT]ime|[iI]nstant|authored(?:(?!authored)\w)*|created|end|issued|lastUpdated|recorded|sent|start)$"
)
_TIME = re.compile(r"[0-9]{2,4}[-:0-9TZ.+]{0,30}")


class _String(NamedTuple):
    """String value of a resource.

    Attributes:
        path: keys from the resource to the value, without numbers of lists.
        resource: type of the resource.
        value: the string.
    """

    path: tuple[str, ...]
    resource: str
    value: str

    @property
    def key(self) -> str:
        return self.path[-1].removeprefix("_") if self.path else ""


def read_fhir(source: str) -> MarkupText:
    """Read a resource, a bundle, or a resource on each line.

    Raises:
        MarkupError: it is no such JSON, or has an attachment with data.

    Example:
        >>> read_fhir('{"resourceType": "Observation", "note": [{"text": "Jane Qu\\\\u0069ll"}]}').text
        'Jane Quill'
    """
    builder, found = BlockBuilder("fhir", source), _Found()
    for start, text in _documents(source):
        parsed = _parsed(text, start)
        found.see(parsed)
        values = (token for token in _TOKEN.finditer(text) if token[1] is not None and token[2] is None)
        for string, token in zip(_strings(parsed), values, strict=True):
            begin, end = start + token.start(1), start + token.end(1)
            if not string.value.strip() or found.is_structured(string, Edit(begin, end, "", "")):
                continue
            add_block(builder, list(_pieces(source, begin, end)), "html" if string.key == "div" else "auto")
    builder.structured = found.done()
    return builder.done()


def _documents(source: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and the text of the document, or of each line if every line is one."""
    text = source.lstrip("\ufeff")
    lines = [line for line in re.finditer(r"[^\r\n]+", source) if line[0].strip("\ufeff \t")]
    if len(lines) > 1 and all(line[0].strip("\ufeff \t")[0] + line[0].strip()[-1] == "{}" for line in lines):
        yield from ((line.start(), line[0].replace("\ufeff", " ")) for line in lines)
    else:
        yield len(source) - len(text), text


def _parsed(text: str, start: int) -> Any:
    try:
        return DECODER.decode(text)
    except (ValueError, RecursionError):
        raise MarkupError("no valid JSON, or a key twice: correct it, or export the text alone", offset=start) from None


def _strings(value: Any) -> Iterator[_String]:
    """Yield the strings of a document in their order."""
    waiting: list[tuple[tuple[str, ...], str, Any]] = [((), "", value)]  # no recursion: documents may be deep
    while waiting:
        path, resource, one = waiting.pop()
        if isinstance(one, str):
            yield _String(path, resource, one)
        elif isinstance(one, list):
            waiting += [(path, resource, item) for item in reversed(one)]
        elif isinstance(one, dict):
            own = one.get("resourceType")
            path, resource = ((), own) if isinstance(own, str) else (path, resource)
            waiting += [((*path, key), resource, item) for key, item in reversed(one.items())]


@dataclass
class _Found:
    """Structured parts of the documents so far."""

    patients: list[dict[str, Any]] = field(default_factory=list)
    fields: dict[str, None] = field(default_factory=dict)  # in order
    blank: list[Edit] = field(default_factory=list)

    def see(self, value: Any) -> None:
        """Collect the resources of patients."""
        waiting = [value]
        while waiting:
            one = waiting.pop()
            if isinstance(one, dict):
                kind = one.get("resourceType")
                if isinstance(kind, str) and kind in _WORDS["patient"]:
                    self.patients.append(one)
                waiting += one.values()
            elif isinstance(one, list):
                waiting += one

    def is_structured(self, string: _String, blank: Edit) -> bool:
        """Return True for a string that is no text for a model.

        Raises:
            MarkupError: it is the data of an attachment.
        """
        first, resource = string.path[0].removeprefix("_") if string.path else "", string.resource
        if string.key == "data" and "valueSampledData" not in string.path:
            raise MarkupError(f"{'.'.join((resource, *string.path))} holds a document: redact that alone")
        if string.key in _WORDS["kept"]:
            return True
        if first in _WORDS["names"] and resource in _WORDS["patient"]:
            self.fields[f"{resource}.{first}"] = None
            self.blank.append(blank)
            return True
        if (first in _WORDS["names"] and resource in _WORDS["others"]) or not _WORDS["numbers"].isdisjoint(string.path):
            self.blank.append(blank)
            return True
        return _TIME_KEY.search(string.key) is not None and _TIME.fullmatch(string.value) is not None

    def done(self) -> Structured:
        """Return the structured part, with the identifiers of all patients."""
        identifiers = dict.fromkeys(pair for patient in self.patients for pair in _identifiers(patient))
        ids = {value for one in self.patients if one["resourceType"] == "Patient" for value in [one.get("id")] if value}
        patient = str(next(iter(ids))) if len(ids) == 1 else None
        return Structured(patient, tuple(identifiers), tuple(self.fields), tuple(self.blank))


def _identifiers(patient: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the identifiers of a patient or relative, by kind."""
    for name in _all(patient, "name"):
        given = _all(name, "given")
        yield from (("name", text) for text in (*_all(name, "text"), " ".join((*given, *_all(name, "family")))) if text)
    yield from (("date", text) for text in _all(patient, "birthDate"))
    yield from (("number", text) for one in _all(patient, "identifier") for text in _all(one, "value"))
    yield from (("number", text) for text in _all(patient, "id"))
    for telecom in _all(patient, "telecom"):
        yield from (("text" if "@" in text else "number", text) for text in _all(telecom, "value"))
    for address in _all(patient, "address"):
        yield from (("text", text) for key in ("text", "line", "city", "postalCode") for text in _all(address, key))
    for contact in _all(patient, "contact"):
        yield from _identifiers({**contact, "name": _all(contact, "name"), "address": _all(contact, "address")})


def _all(value: Any, key: str) -> list[Any]:
    """Return the values under a key of an object: objects and texts that are not empty."""
    found = value.get(key) if isinstance(value, dict) else None
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, (dict, str)) and one]


def _pieces(source: str, begin: int, end: int) -> Iterator[Piece]:
    """Yield the pieces of a string."""
    for run in _RUN.finditer(source, begin, end):
        exact = not run[0].startswith("\\")
        text = run[0] if exact else json.loads(f'"{run[0]}"')
        yield Piece(text, *run.span(), _spell, exact)


def _spell(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]
