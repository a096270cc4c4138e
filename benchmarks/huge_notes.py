"""Notes of megabytes, of the kinds that take the most of something: memory, tokens, words, spans."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from random import Random

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _word(draw: Random) -> str:
    return "".join(draw.choices(_LETTERS, k=7))


def prose(texts: Sequence[str], size: int) -> str:
    """The notes of a corpus, one after the other, again and again."""
    return "\n".join(texts * (1 + size // sum(map(len, texts))))


def pasted(texts: Sequence[str], size: int) -> str:
    """A file that was pasted into a note, in base64: no white space."""
    return base64.b64encode(Random(0).randbytes(size)).decode()


def names(texts: Sequence[str], size: int) -> str:
    """A name in each line, all of them different: what consistency looks for in the note."""
    draw = Random(0)
    return "\n".join(f"Dr. {_word(draw).capitalize()} called." for _ in range(size // 19))


def words(texts: Sequence[str], size: int) -> str:
    """Words of which each is another."""
    draw = Random(0)
    return " ".join(_word(draw) for _ in range(size // 8))


def dates(texts: Sequence[str], size: int) -> str:
    """Dates and nothing else, 20,000 different ones in a line."""
    draw = Random(0)
    line = [f"{draw.randint(1, 12):02}/{draw.randint(1, 28):02}/{draw.randint(1950, 2029)}" for _ in range(20_000)]
    return (" ".join(line) + "\n") * (1 + size // 220_000)


def chinese(texts: Sequence[str], size: int) -> str:
    """Chinese without a sign or a space."""
    draw = Random(0)
    return "".join(chr(draw.randrange(0x4E00, 0x9C00)) for _ in range(size))


def emoji(texts: Sequence[str], size: int) -> str:
    """Emoji: each is a token, and takes four bytes wherever it stands."""
    return "\N{GRINNING FACE}" * size


def accents(texts: Sequence[str], size: int) -> str:
    """Accents on one letter."""
    return "a" + "\N{COMBINING ACUTE ACCENT}" * size


KINDS: dict[str, Callable[[Sequence[str], int], str]] = {
    one.__name__: one for one in (prose, pasted, names, words, dates, chinese, emoji, accents)
}
"""By name: a text of at least nearly so many characters."""
