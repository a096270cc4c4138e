"""Mojibake: UTF-8 that was read as Latin-1 or Windows-1252 and written again, once or more often ("JosÃ©")."""

from __future__ import annotations

import re

from crfdeid.errors import DataError

# The bytes 80 to BF in Windows-1252 and, where that has no character or the file was Latin-1, as control characters.
_HIGH = "\x80-\x9f€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_FOLLOWS = f"{_HIGH}\xa0-\xbf"
# After a capital that ends a word there can be, in sound text, what closes a quotation, a dash or a hard space. The
# Portuguese, Swedish and French write that, so that one such pair is no proof.
_CLOSES = "’”…–—™»\xa0"
_PAIR = re.compile(f"[Â-ð][{_FOLLOWS}]")  # what all of it has, and hardly any sound text: quick to look for
_MOJIBAKE = re.compile(
    rf"[ÂÃÄÅ](?![{_CLOSES}])[{_FOLLOWS}]"  # Latin letters and signs
    rf"|â(?:€|\x80|[‚\x82]¬|[„\x84]¢)|ï»¿|ï¬[\x81\x82‚]|ð[Ÿ\x9f]"  # quotes, dashes, euro; byte order mark; emoji
    rf"|(?:[Â-ß][{_FOLLOWS}]){{2}}|(?:[à-ï][{_FOLLOWS}]{{2}}){{2}}"  # any alphabet: two letters in a row
)


def find_mojibake(text: str) -> int | None:
    """The offset of the first characters that only a wrong encoding makes; None where there are none.

    Example:
        >>> find_mojibake("José"), find_mojibake("JosÃ©")
        (None, 3)
    """
    found = _MOJIBAKE.search(text) if not text.isascii() and _PAIR.search(text) else None
    return None if found is None else found.start()


def require_undamaged(text: str) -> None:
    """Refuse a note in mojibake, in which a model misses what it would find.

    Raises:
        DataError: it is in mojibake; the message has the offset and nothing of the text.
    """
    offset = find_mojibake(text)
    if offset is not None:
        problem = (
            "letters are damaged: UTF-8 was read as Latin-1 or Windows-1252 and written again; "
            "take the notes from their source as UTF-8, or give --accept-damaged and expect misses"
        )
        raise DataError(problem, offset=offset)
