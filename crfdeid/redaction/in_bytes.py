"""`redact_bytes`: a document as its file or message holds it, redacted in its own format and encoding."""

from __future__ import annotations

import codecs
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from crfdeid.errors import EncodingError, OptionConflictError, SettingError
from crfdeid.io.records import Note
from crfdeid.markup.recognise import (
    BINARY_READERS,
    MEDIA_TYPES,
    READERS,
    find_markup,
    note_markup,
    pack,
    unpack,
    unread,
)
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor, StartedRedactor
from crfdeid.secrets import KeyFiles, Keys
from crfdeid.serialization import ModelFolder
from crfdeid.utils.files import BYTE_ORDER_MARK, decode_text

_HEAD_BYTES = 1024
_BINARY = {"pdf": "pdf", "zip": "docx"}
_WHERE = "document"


def redact_bytes(
    data: bytes,
    model: StartedRedactor | Redactor | Path | str | ModelFolder,
    policy: Policy | None = None,
    *,
    markup: str = "auto",
    encoding: str = "utf-8",
    patient: str | float | None = None,
    keys: Keys | KeyFiles | None = None,
) -> bytes:
    """Redact a document in prose or markup, such as RTF: all bytes but those of its PHI stay.

    Of PDF, the text alone is returned, in UTF-8.

    Args:
        data: the document.
        model: a model's folder, or the name of a built-in model, as of `crfdeid.load`; or a redactor. A model stays
            loaded, and the process then computes in one thread; start a redactor (`Redactor.start`) to avoid both.
        policy: detection and replacement of PHI; None for the redactor's, or the default policy.
        markup: the document's format (`crfdeid.markup.MARKUP_CHOICES`, or "docx" or "pdf"), or its media type; "auto"
            for that of the policy, which recognises it.
        encoding: encoding of the bytes, as Python names it. Encodings are not guessed.
        patient: the document's patient, as of `crfdeid.redact`; None for that which the document names, if it does.
        keys: the keys, or their files; None for the redactor's, or the environment variable ``CRFDEID_SECRET``.

    Raises:
        EncodingError: the bytes are not in the encoding, or the encoding cannot hold the result.
        MarkupError: the document is in a format that is not read, or names its patient in fields that are no text.
        DataError: the document fails otherwise, or the model is missing or damaged.
        SettingError: an unknown encoding or format.
        OptionConflictError: a policy or keys next to a redactor.

    Example:
        >>> redact_bytes(b"<p>Seen by Dr. Qu<b>ill</b>.</p>", "rules")
        b'<p>Seen by Dr. [DOCTOR]<b></b>.</p>'
    """
    if isinstance(model, (StartedRedactor, Redactor)):
        if policy is not None or keys is not None:
            raise OptionConflictError("a redactor has its policy and its keys: leave them out")
        started = model if isinstance(model, StartedRedactor) else model.start_once()
    else:
        started = Redactor(model, policy or Policy(), keys or KeyFiles()).start_once()
    document = open_document(data, markup=markup, encoding=encoding)
    note = Note("", document.text, None, markup=document.markup)
    return document.write(started.redact_note(note, patient=patient).text)


@dataclass(frozen=True)
class OpenedDocument:
    """Document as a text.

    Args:
        data: its bytes.
        text: its text, without a byte-order mark.
        markup: its format; None for that of the policy.
        encoding: encoding of the bytes.
        mark: its byte-order mark, or "".
    """

    data: bytes
    text: str
    markup: str | None
    encoding: str
    mark: str = ""

    def write(self, redacted: str) -> bytes:
        """Return the document with another text; a PDF file becomes its text.

        Raises:
            EncodingError: the encoding lacks a character of a replacement.
            DataError: the text is not that of the document.
        """
        if self.markup in BINARY_READERS:
            written = BytesIO()
            pack(BytesIO(self.data), str(self.markup), redacted, written)
            return written.getvalue()
        try:
            return (self.mark + redacted).encode(self.encoding)
        except UnicodeError:
            problem = f"{self.encoding} lacks a character of the replacements: convert the document to UTF-8"
            raise EncodingError(problem, path=_WHERE) from None


def open_document(data: bytes, *, markup: str, encoding: str = "utf-8") -> OpenedDocument:
    """Read a document as a text.

    Args:
        data: its bytes.
        markup: its format or media type, as of `redact_bytes`.
        encoding: encoding of the bytes.

    Raises:
        EncodingError: it is not in the encoding, or not as the encoding would write it.
        MarkupError: it is a binary file that is not read, or violates its format.
        SettingError: an unknown encoding or format.
    """
    is_utf8, low = _is_utf8(encoding), markup.strip().lower()
    named = MEDIA_TYPES.get(low, low)
    found = find_markup(data[:_HEAD_BYTES].decode("latin-1"))
    binary = named if named in BINARY_READERS else _BINARY.get(found.name) if found and named == "auto" else None
    if binary is not None:
        return OpenedDocument(data, unpack(BytesIO(data), binary), binary, encoding)
    format = note_markup(markup)
    try:
        whole = decode_text(data, _WHERE) if is_utf8 else _decoded(data, encoding)
    except EncodingError:
        if found is not None and found.name not in READERS:
            raise unread(found) from None
        raise
    text = whole.removeprefix(BYTE_ORDER_MARK)
    return OpenedDocument(data, text, format, encoding, whole[: len(whole) - len(text)])


def _decoded(data: bytes, encoding: str) -> str:
    with suppress(UnicodeError):
        text = data.decode(encoding)
        if text.encode(encoding) == data:
            return text
    raise EncodingError(f"not in {encoding}: name the encoding that the bytes have", path=_WHERE)


def _is_utf8(encoding: str) -> bool:
    """True for UTF-8.

    Raises:
        SettingError: an unknown encoding.
    """
    try:
        "".encode(encoding)
        return codecs.lookup(encoding).name == "utf-8"
    except (LookupError, ValueError):  # ValueError: a zero character
        raise SettingError("an encoding that Python does not know: name one such as utf-8 or cp1252") from None
