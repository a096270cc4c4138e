"""Text in which PHI is hidden: each token of it is a placeholder for its type."""

from __future__ import annotations

from collections.abc import Sequence

from crfdeid.bio import OUTSIDE
from features.tokens import Sentence, Token


def placeholder(label: str) -> str:
    """What stands for a token of PHI; no token of a text, which a bracket ends, is written so.

    Example:
        >>> placeholder("PATIENT")
        '[PATIENT]'
    """
    return f"[{label}]"


def hidden(sentence: Sentence, tags: Sequence[str]) -> Sentence:
    """The sentence with a placeholder for each token that is PHI, and with nothing around it.

    There are as many tokens as before, so that further tags stay where they are. The heading above it, the beginning of
    its line and the other words of its note are left out, since they may hold PHI; the offsets are those of a text made
    of these tokens, since the length of a hidden word would say something of it. The place in the note stays.

    Args:
        sentence: the sentence.
        tags: one IOB2 tag a token.

    Example:
        >>> hidden(Sentence.from_words(["Dr", "Jane", "Doe"]), ["O", "B-DOCTOR", "I-DOCTOR"]).words
        ('Dr', '[DOCTOR]', '[DOCTOR]')
    """
    tokens, start = [], 0
    for token, tag in zip(sentence.tokens, tags, strict=True):
        text = token.text if tag == OUTSIDE else placeholder(tag[2:])
        tokens.append(Token(text, start, start + len(text)))
        start += len(text) + 1
    return Sentence(tuple(tokens), line=sentence.line, line_count=sentence.line_count)
