"""Search for values in scripts without capitals: Han, Kana, Hangul, Thai, Hebrew, Arabic, Devanagari and others.

A capital cannot show that a word is a name there, and a token is no word where a script has no spaces. A value is
therefore searched letter by letter, and its script decides which letters may be next to it:

- Han, Kana, Thai, Lao, Khmer and Burmese are written without spaces: any letter, but a value does not begin or end
  inside a run of Katakana. White space inside the value is left out of account;
- Hangul: an occurrence begins a word, and particles may follow ("김철수는");
- all others: an occurrence is a word; in Hebrew and Arabic with one-letter words before it ("וכהן"). Vowel marks and
  the forms of alef are left out of account.

In all of them a line may end inside a value (`features.line_gaps`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

import regex

from features.line_gaps import LINE_GAP
from features.tokenizer import normal_form

# Georgian has capitals, but names are written without them. The signs of "1ª" and "1º" are letters without case.
_LETTER = r"[\p{Lo}\p{Lm}\p{Script=Georgian}--\p{Script=Latin}]"
_WORD = regex.compile(rf"{_LETTER}[{_LETTER}\p{{M}}]*+", regex.VERSION1)
_CASED = regex.compile(r"[\p{Lu}\p{Ll}\p{Lt}--\p{Script=Georgian}]", regex.VERSION1)
_KATAKANA = r"[\p{Script=Katakana}ー]"
_SYLLABIC = r"\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}"
_UNSPACED = rf"\p{{Script=Han}}\p{{Script=Hiragana}}\p{{Script=Katakana}}ー{_SYLLABIC}"
_HANGUL = r"\p{Script=Hangul}"
_IS_SYLLABIC = regex.compile(f"[{_SYLLABIC}]")
_IS_UNSPACED = regex.compile(f"[{_UNSPACED}]")
_HEAVY = regex.compile(rf"[\p{{Script=Han}}{_HANGUL}]")
# Tatweel, and the vowel marks of Hebrew and Arabic.
_POINTS = r"[\u0640\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc]"
# White space within a value that is written without spaces, and the dot between the parts of a foreign name.
_LEFT_OUT = regex.compile(rf"{_POINTS}|(?<=[{_UNSPACED}{_HANGUL}])[\s·・‧]++|[\s·・‧]++(?=[{_UNSPACED}{_HANGUL}])")
_SPACE = regex.compile(r"\s++")
_MARK = regex.compile(rf"[^\p{{L}}\p{{N}}]|{_POINTS}")  # what a gap in a value can begin with, and more
_ALIKE = str.maketrans("أإآٱىیکة", "ااااييكه")  # one letter for one, so that offsets stay
_HONORIFIC = regex.compile(r"(?:先生|女士|小姐|太太|医生|醫生|さん|さま|様|氏|씨|님)$")
_PARTICLES = "은|는|이|가|을|를|의|와|과|도|로|만|에게|에게서|한테|께|께서"
_PROCLITICS = {r"\p{Script=Hebrew}": "[והלבכמש]{0,2}", r"\p{Script=Arabic}": "[وفبلك]{0,2}"}
_SHORT_HANGUL = 4  # weight of two syllables, with which many words begin
_LEAST_WEIGHT = 3  # of a part of a name; an ideograph or a syllable weighs as much as two letters
_LEAST_SYLLABIC = 4


def caseless_words(value: str) -> list[str]:
    """Return the words of a name that identify it and have no case, without honorifics, in `canonical` form.

    Example:
        >>> caseless_words("Dr. 王小明先生"), caseless_words("山田 太郎"), caseless_words("Jane Quill")
        (['王小明'], ['山田', '太郎'], [])
    """
    if value.isascii():
        return []
    words = [_HONORIFIC.sub("", canonical(word)) for word in _WORD.findall(normal_form(value).text)]
    return [word for word in words if weight(word) >= (_LEAST_SYLLABIC if _IS_SYLLABIC.match(word) else _LEAST_WEIGHT)]


def is_caseless(value: str) -> bool:
    """Return True for a value with letters, none of which has a capital form in use.

    Example:
        >>> is_caseless("仁愛医院 3"), is_caseless("Klinik 王"), is_caseless("123")
        (True, False, False)
    """
    return not value.isascii() and _WORD.search(value) is not None and not _CASED.search(value)


def canonical(text: str) -> str:
    """Return a text without vowel marks, with one form of alef, and with no other spaces than those between words.

    Example:
        >>> canonical("山田 太郎"), canonical("أَحمد  علي") == canonical("احمد علي")
        ('山田太郎', True)
    """
    return _SPACE.sub(" ", _LEFT_OUT.sub("", normal_form(text).text.translate(_ALIKE)))


def weight(word: str) -> int:
    """Return the number of letters and digits of a word; an ideograph or a syllable of Hangul counts twice.

    Example:
        >>> weight("王小明"), weight("김철수"), weight("כהן")
        (6, 6, 3)
    """
    return sum(map(str.isalnum, word)) + len(_HEAVY.findall(word))


def find_caseless(text: str, values: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the occurrences of values in a text; of values that begin in one place, the longest.

    Args:
        text: a note.
        values: in `canonical` form.

    Yields:
        Start, end and value of an occurrence; occurrences do not overlap.

    Example:
        >>> list(find_caseless("王小明同意。王 小明", ["王小明"]))
        [(0, 3, '王小明'), (6, 10, '王小明')]
        >>> list(find_caseless("김철수는 왔다. וכהן הסכים", ["김철수", "כהן"]))
        [(0, 3, '김철수'), (10, 13, 'כהן')]
    """
    if not values or text.isascii():
        return
    normal, offsets = normal_form(text)
    plain = normal.translate(_ALIKE)
    by_letter: dict[str, dict[int, dict[str, None]]] = {}  # values by their first letter and length, the longest first
    for value in sorted(values, key=lambda value: (-len(value), value)):
        by_letter.setdefault(value[0], {}).setdefault(len(value), {})[value] = None
    end = mark = 0
    for at, letter in enumerate(plain):
        if at < end or letter not in by_letter:
            continue
        if mark <= at:
            found = _MARK.search(plain, at + 1)
            mark = found.start() if found else len(plain)
        pairs = ((value, _pattern(value).match(plain, at)) for value in _possible(by_letter[letter], plain, at, mark))
        value, match = next(((value, match) for value, match in pairs if match), ("", None))
        if match:
            end = match.end()
            yield *((at, end) if offsets is None else (offsets[at], offsets[end])), value


def _possible(by_length: Mapping[int, Mapping[str, None]], text: str, at: int, mark: int) -> Iterator[str]:
    """Yield the values that can begin at an offset of a text; up to the next mark, only the ones found there."""
    for length, values in by_length.items():
        if at + length > mark:
            yield from values
        elif text[at : at + length] in values:
            yield text[at : at + length]


@lru_cache(maxsize=1 << 12)
def _pattern(value: str) -> regex.Pattern[str]:
    return regex.compile(_expression(value))


def _defined(**forms: str) -> str:
    """Return an expression that names others: `regex` takes a millisecond to compile `LINE_GAP` at each letter."""
    return f"(?(DEFINE){''.join(f'(?P<{name}>{form})' for name, form in forms.items())})"


def _expression(value: str) -> str:
    """Return the expression of the occurrences of one value."""
    letters = [regex.escape(letter) for letter in value]
    before, after = (r"(?<!\d)" if value[0].isdigit() else "", r"(?!\d)" if value[-1].isdigit() else "")
    if _IS_UNSPACED.search(value):
        before += rf"(?<!{_KATAKANA})" if regex.match(_KATAKANA, value[0]) else ""
        after += rf"(?!{_KATAKANA})" if regex.match(_KATAKANA, value[-1]) else r"(?!\p{M})"
        return _defined(gap=rf"{LINE_GAP}|[\s·・‧]*+") + before + "(?&gap)".join(letters) + after
    if regex.search(_HANGUL, value):
        particles = "" if weight(value) > _SHORT_HANGUL else rf"(?=(?:씨|님)?(?:{_PARTICLES})?(?!\p{{L}}))"
        return (
            _defined(gap=rf"{LINE_GAP}|\s*+") + rf"(?<!\p{{L}}){before}" + "(?&gap)".join(letters) + after + particles
        )
    edge = r"(?<![\p{L}\p{M}])"
    proclitics = next((found for script, found in _PROCLITICS.items() if regex.match(script, value)), "")
    before += rf"(?<={edge}{proclitics})" if proclitics else edge
    defined = _defined(inside=rf"(?:{LINE_GAP})?+", between=rf"{LINE_GAP}|\s++", points=rf"{_POINTS}*+")
    spelt = ["(?&inside)".join(f"{regex.escape(letter)}(?&points)" for letter in word) for word in value.split(" ")]
    return rf"{defined}{before}{'(?&between)'.join(spelt)}{after}(?![\p{{L}}\p{{M}}])"
