"""Errors that a user can correct, and the part of an unforeseen error that may be logged.

`UsageError` is for options and settings, `DataError` for files and documents; a subclass names the kind of problem.
Each class has a `code`, the same in all versions, and the exit status of a command. Messages name files, lines and
offsets, never the text of a note, since they are logged.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

_MOST_NAMES = 5  # in a message

# Packages whose functions a message may name.
_OURS = ("features", "crfdeid", "rnn")

# Optional libraries and the extras of setup.py that install them.
_EXTRAS = {
    **dict.fromkeys(("flax", "gensim", "jax", "jaxlib", "optax"), "rnn"),
    **dict.fromkeys(("matplotlib", "pandas"), "experiments"),
    **dict.fromkeys(("nltk", "textblob"), "pos"),
    **dict.fromkeys(("safetensors", "tokenizers"), "encoders"),
    **dict.fromkeys(("py4j", "pyspark"), "spark"),
    **dict.fromkeys(("spacy", "srsly"), "spacy"),
    **dict.fromkeys(("presidio_anonymizer", "starlette", "uvicorn"), "serve"),
    "backports": "zstd",
    "cryptography": "crypto",
    "presidio_analyzer": "presidio",
    "pyarrow": "parquet",
    "pypdf": "documents",
}


class UsageError(ValueError):
    """An invalid option, name or combination of settings.

    Attributes:
        code: kind of the error, the same in all versions.
        exit_status: of a command that ends with this error.
    """

    code: ClassVar[str] = "usage"
    exit_status: ClassVar[int] = 2

    def __init_subclass__(cls, code: str | None = None) -> None:
        cls.code = code or cls.code


class UnknownNameError(UsageError, code="unknown-name"):
    """Unknown name of a model, setting, column, corpus or file."""


class SettingError(UsageError, code="invalid-setting"):
    """A value that is out of range, of the wrong type or not parsable."""


class OptionConflictError(UsageError, code="option-conflict"):
    """Options or settings that exclude each other, or one that needs another."""


class MissingExtraError(UsageError, code="missing-extra"):
    """An optional library that is not installed."""


class SecretError(UsageError, code="secret"):
    """A secret that is missing, too short, unreadable or not the expected one."""


class OutputExistsError(UsageError, code="output-exists"):
    """An output that exists already; no command overwrites files."""


class NotTrainedError(UsageError, code="not-trained"):
    """A model that is used before it is trained or loaded."""


class DataError(ValueError):
    """A file or document that is invalid or cannot be read.

    Args:
        problem: the problem and its remedy, without any of the document's text.
        path: the file, or a description of the place; "" is None.
        line: the line in the file, from 1.
        offset: the code-point offset in the document's text, from 0.

    Attributes:
        code: kind of the error, the same in all versions.
        exit_status: of a command that ends with this error.
    """

    code: ClassVar[str] = "data"
    exit_status: ClassVar[int] = 1

    def __init_subclass__(cls, code: str | None = None) -> None:
        cls.code = code or cls.code

    def __init__(
        self, problem: str, *, path: Path | str | None = None, line: int | None = None, offset: int | None = None
    ) -> None:
        location = str(path or "")
        if line is not None:
            location += f", line {line}" if location else f"line {line}"
        if offset is not None:
            location += f", offset {offset}" if location else f"offset {offset}"
        super().__init__(f"{location}: {problem}" if location else problem)
        self.problem, self.path, self.line, self.offset = problem, path or None, line, offset


class FormatError(DataError, code="format"):
    """A file or record that violates its format, such as invalid JSON or a missing column."""


class EncodingError(DataError, code="encoding"):
    """Text that is not valid UTF-8, or is mojibake."""


class MarkupError(DataError, code="markup"):
    """A note in markup, such as RTF, that cannot be read as it is meant."""


class SpanError(DataError, code="span"):
    """Offsets outside the text, overlapping spans, or annotations that do not fit the text."""


class IntegrityError(DataError, code="integrity"):
    """A file that is damaged or was changed: a checksum or a structural check fails."""


class VersionError(DataError, code="version"):
    """A model, result or run state that another version of the library wrote."""


class NotFoundError(DataError, code="not-found"):
    """A file or folder that does not exist."""


class ReadError(DataError, code="read"):
    """A file that the operating system does not let us read."""


class WriteError(DataError, code="write"):
    """A file or folder that cannot be written, such as on a full disk."""


class LimitError(DataError, code="limit"):
    """Input above a limit on its size, length or processing time."""


class EmptyInputError(DataError, code="empty"):
    """Input that lacks required content, such as a corpus without documents or PHI."""


class MismatchError(DataError, code="mismatch"):
    """Inputs that do not belong together, such as predictions for other documents."""


@contextmanager
def located(path: Path | str, line: int | None = None) -> Iterator[None]:
    """Add a file and line to errors of data from there, which cannot know it.

    Example:
        >>> with located("notes.jsonl", 3):
        ...     raise FormatError("a span without a label")
        Traceback (most recent call last):
        crfdeid.errors.FormatError: notes.jsonl, line 3: a span without a label
    """
    try:
        yield
    except DataError as error:
        raise type(error)(error.problem, path=path, line=line, offset=error.offset) from None


class PanicError(RuntimeError):
    """Panic of a library that is written in Rust: a bug of it, or of us."""


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Turn the panic of a library into a `PanicError` with its traceback, and without its message, which can hold text.

    The class of a panic is made by PyO3 in each library. It is no `Exception`, so that no handler would see it.

    Example:
        >>> class PanicException(BaseException): ...
        >>> with panics_as_errors():
        ...     raise PanicException("text of a note")
        Traceback (most recent call last):
        crfdeid.errors.PanicError: a library panicked (PanicException)
    """
    try:
        yield
    except (Exception, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as panic:
        error = PanicError(f"a library panicked ({type(panic).__name__})")
        raise error.with_traceback(panic.__traceback__) from None


def shorten_list(names: Iterable[str], *, between: str = ", ") -> str:
    """The first five names, and the number of the others.

    Example:
        >>> shorten_list("abcdefgh")
        'a, b, c, d, e and 3 more'
    """
    found = list(names)
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return between.join(found[:_MOST_NAMES]) + more


def escape_unprintable(text: str) -> str:
    """Escape the unprintable characters of a text for a terminal or a log, such as line ends in names of files.

    Example:
        >>> escape_unprintable("Quill\\x1b[2J é")
        'Quill\\\\x1b[2J é'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | ModuleNotFoundError:
    """Turn the failed import of an optional library into an error that names the extra to install.

    Example:
        >>> str(missing_extra(ModuleNotFoundError(name="jax.numpy")))
        "jax is not installed: pip install 'crfdeid[rnn]'"
    """
    library = (error.name or "").partition(".")[0]
    if library not in _EXTRAS:
        return error
    return MissingExtraError(f"{library} is not installed: pip install 'crfdeid[{_EXTRAS[library]}]'")


def raised_at(problem: BaseException) -> str:
    """Return the type of an unforeseen error and our innermost function, without the error's message.

    The messages of Python and of libraries can quote the text of a note and must not be logged.

    Example:
        >>> raised_at(error)  # doctest: +SKIP
        'KeyError in crfdeid.consistency.make_consistent, line 88'
    """
    ours = [
        (frame.f_globals["__name__"], frame.f_code.co_qualname, line)
        for frame, line in traceback.walk_tb(problem.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _OURS
    ]
    kind = type(problem).__name__
    return "{} in {}.{}, line {}".format(kind, *ours[-1]) if ours else kind
