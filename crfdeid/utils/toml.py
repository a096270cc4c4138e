"""TOML files of settings and lists."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from crfdeid.errors import FormatError
from crfdeid.utils.files import read_text

_POSITION = re.compile(r"\(at line (\d+), column (\d+)\)")


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        DataError: it cannot be read, or is invalid. The message names file and line, and quotes nothing.
    """
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        position = _POSITION.search(str(error))
        line = int(position[1]) if position else len(text.splitlines())
        column = f" at column {position[2]}" if position else ", or not closed"
        raise FormatError(f"invalid TOML{column}: correct it", path=path, line=line) from None
    except RecursionError:
        raise FormatError("TOML that is nested too deeply", path=path) from None
