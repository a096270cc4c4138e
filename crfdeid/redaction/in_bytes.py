"""`redact_bytes`: a document as its file or message holds it, redacted in its own format and encoding."""

from __future__ import annotations

import codecs
from pathlib import Path

from crfdeid.errors import EncodingError, OptionConflictError, SettingError
from crfdeid.markup.recognise import READERS, find_markup, unread
from crfdeid.redaction.policy import Policy
from crfdeid.redaction.redactor import Redactor, StartedRedactor
from crfdeid.secrets import KeyFiles, Keys
from crfdeid.serialization import ModelFolder
from crfdeid.utils.files import BYTE_ORDER_MARK, decode_text

_HEAD_BYTES = 1024
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
    """Redact a document in prose or markup, such as RTF; all bytes but those of its PHI stay.

    Args:
        data: the document.
        model: a model's folder, or the name of a built-in model, as of `crfdeid.load`; or a redactor. A model stays
            loaded, and the process then computes in one thread; start a redactor (`Redactor.start`) to avoid both.
        policy: detection and replacement of PHI; None for the redactor's, or the default policy.
        markup: the document's format (`crfdeid.markup.MARKUP_CHOICES`) or media type; "auto" for the policy's.
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
    whole = decode_document(data, encoding)
    text = whole.removeprefix(BYTE_ORDER_MARK)
    redacted = started.redact(text, patient=patient, markup=markup).text
    return encode_document(whole[: len(whole) - len(text)] + redacted, encoding)


def decode_document(data: bytes, encoding: str) -> str:
    """Decode a document, including a byte-order mark.

    Raises:
        EncodingError: it is not in the encoding, or not as the encoding would write it.
        MarkupError: it is a binary file, such as PDF.
        SettingError: an unknown encoding.
    """
    try:
        text = decode_text(data, _WHERE) if _is_utf8(encoding) else data.decode(encoding)
        if text.encode(encoding) == data:
            return text
    except EncodingError:
        head = find_markup(data[:_HEAD_BYTES].decode("latin-1"))
        if head is not None and head.name not in READERS:
            raise unread(head) from None
        raise
    except UnicodeError:
        pass
    raise EncodingError(f"not in {encoding}: name the encoding that the bytes have", path=_WHERE)


def encode_document(text: str, encoding: str) -> bytes:
    """Encode a redacted document.

    Raises:
        EncodingError: the encoding lacks a character of a replacement.
    """
    try:
        return text.encode(encoding)
    except UnicodeError:
        problem = f"{encoding} lacks a character of the replacements: convert the document to UTF-8"
        raise EncodingError(problem, path=_WHERE) from None


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
