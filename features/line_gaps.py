"""Line ends inside a value: a line end with its indentation is one gap, with a hyphen or without.

Notes are wrapped by editors, mail programs and printers, so a line can end inside a name, a number or a date. Lists,
patient records, rules and document consistency read such a gap by the same definition, `LINE_GAP`.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator

from features.tokenizer import LINE_ENDS, NormalText

_SPACE = rf"[^\S{LINE_ENDS}]"
# A hyphen, as in raw text too; the sign at the end of a line in quoted-printable mail; the soft hyphen of a scanner.
_HYPHEN = r"[-\u00ad\u058a\u2010-\u2015\u2027\u2043\u2053\u2212\u2e17=¬]"
_LINES = "\u2502\u2503\u2551"
_END = rf"{_SPACE}*+[|{_LINES}]?{_SPACE}*+[{LINE_ENDS}](?:{_SPACE}|[{LINE_ENDS}>|{_LINES}])*+"
# A comment's or list's margin; none without a hyphen, where it begins another item.
_MARGIN = rf"(?:(?:[*#;%]|//)(?:{_SPACE}|[{LINE_ENDS}*#;%/])*+)?+"
HYPHENATED_GAP = rf"{_HYPHEN}{{1,2}}{_END}{_MARGIN}(?:-{_SPACE}*+)?+"
"""Expression for a hyphen, a line end, and the indentation or the margin of a quotation (">") after it. The next line
may repeat the hyphen. It is for the packages `re` and `regex`, as is `LINE_GAP`."""
LINE_GAP = rf"(?<!{_SPACE}){_SPACE}*+(?:{HYPHENATED_GAP}|{_END})"
"""Expression for a gap at a line end with a hyphen or without one."""

_LINE_GAP = re.compile(LINE_GAP)
_HYPHENATED_GAP = re.compile(HYPHENATED_GAP)
_LINE_END = re.compile(f"[{LINE_ENDS}]")


def line_gaps(text: str) -> Iterator[re.Match[str]]:
    """Yield the gaps at the line ends of a text.

    Example:
        >>> [match.span() for match in line_gaps("Zaran-\\n   dona, 14/03/\\r\\n1972")]
        [(5, 10), (22, 24)]
    """
    return _LINE_GAP.finditer(text)


def hyphenated_gaps(text: str) -> Iterator[re.Match[str]]:
    """Yield the gaps with a hyphen at the line ends of a text.

    Example:
        >>> [match.span() for match in hyphenated_gaps("Zaran-\\n   dona, 14/03/\\r\\n1972")]
        [(5, 10)]
    """
    return _HYPHENATED_GAP.finditer(text)


def is_hyphenated(gap: str) -> bool:
    """Return True for a gap of `line_gaps` with a hyphen.

    Example:
        >>> is_hyphenated(" -\\n> "), is_hyphenated("\\n  ")
        (True, False)
    """
    return re.match(_HYPHEN, gap.lstrip()) is not None


def fold_line_gaps(text: str, replacement: str = "") -> str:
    """Return a text with each gap at a line end replaced.

    Example:
        >>> fold_line_gaps("4822-\\n   137"), fold_line_gaps("MRN:\\n    4822", " ")
        ('4822137', 'MRN: 4822')
    """
    return _LINE_GAP.sub(replacement, text) if _LINE_END.search(text) else text


def replace_line_gaps(text: str, replacement: Callable[[str], str]) -> NormalText:
    """Replace the gaps at line ends of a text in normal form, with offsets into that text.

    Args:
        text: the text.
        replacement: gives the text, shorter than the gap or as long, in place of a gap.

    Example:
        >>> replace_line_gaps("mar-\\n zo", lambda gap: "")
        NormalText(text='marzo', offsets=array('q', [0, 1, 2, 6, 7, 8]))
    """
    parts: list[str] = []
    offsets = array("q")
    end = 0
    for gap in line_gaps(text):
        new = replacement(gap[0])
        if new != gap[0]:
            parts += (text[end : gap.start()], new)
            offsets.extend(range(end, gap.start()))
            offsets.extend(range(gap.start(), gap.start() + len(new)))
            end = gap.end()
    if not parts:
        return NormalText(text, None)
    offsets.extend(range(end, len(text) + 1))
    return NormalText("".join([*parts, text[end:]]), offsets)
