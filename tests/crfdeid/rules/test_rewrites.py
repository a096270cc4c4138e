"""Each rule's examples in other spellings: glued, wrapped, dashed, decorated, spaced, in capitals, escaped, quoted."""

import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from crfdeid.rules.matcher import RuleSet, make_rules, rules_for
from crfdeid.rules.rule import Rule
from features.languages import DEFAULT_LANGUAGES
from features.sentences import split_sentences

_VALUE = re.compile(r"\[([^]]*)\]")
_LONG = "The patient came to the clinic this morning for a visit that had been planned, and "


def glued(text: str) -> Iterator[str]:
    """A number before a word, or after one, without a space."""
    if re.search(r"\d\]$", text):
        yield text + "Sex"
    if re.match(r"\[\d+[./-]\d[\d./-]+\]", text):
        yield "Seen" + text


def wrapped(text: str) -> Iterator[str]:
    """A full line that ends at each space, with and without an indentation of the next one."""
    for gap in ("\n", "\r\n    "):
        yield from (_LONG + text[:i] + gap + text[i + 1 :] + " and more." for i in _spaces(text))


def hyphenated(text: str) -> Iterator[str]:
    """A line that ends after each hyphen or slash between two digits."""
    yield from (text[: match.end()] + "\n  " + text[match.end() :] for match in re.finditer(r"(?<=\d)[-/](?=\d)", text))


def divided(text: str) -> Iterator[str]:
    """A line that ends with a hyphen between two letters or digits of a value, at each third place."""
    for value in _VALUE.finditer(text):
        for match in [*re.finditer(r"(?<=[^\W_])(?=[^\W_])", value[0])][::3]:
            i = value.start() + match.start()
            yield f"{text[:i]}-\n  {text[i:]}"


def dashed(text: str) -> Iterator[str]:
    """Other hyphens, dashes and the minus sign."""
    yield from (text.replace("-", dash) for dash in "\u2010\u2011\u2013\u2212" if "-" in text)


def decorated(text: str) -> Iterator[str]:
    """Underscores around values, labels in bold, in brackets, and in JSON."""
    if found := re.fullmatch(r"(\w[\w ]*): ?\[([^]]+)\]", text):
        label, value = found.groups()
        yield f"{label}:__[{value}]__"
        yield f"**{label}:** [{value}]"
        yield f'{{"{label}": "[{value}]"}}'
        yield f"{label.replace(' ', '_')}: [{value}]"


def spaced(text: str) -> Iterator[str]:
    """Spaces around punctuation."""
    if re.search(r"\w[.,:/()-]", text):
        apart = re.sub(" +", " ", re.sub(r"([.,:/()@-])", r" \1 ", text))
        yield apart.replace("[ ", "[").replace(" ]", "]").strip()


def in_capitals(text: str) -> Iterator[str]:
    """The text in capitals."""
    yield text.upper()


def escaped(text: str) -> Iterator[str]:
    """Each sign and the first letter of a value as an HTML entity."""
    value = _VALUE.search(text)
    assert value
    for sign in dict.fromkeys(c for c in value[1] if not c.isascii() or not (c.isalnum() or c == " ")):
        yield text.replace(value[0], f"[{value[1].replace(sign, f'&#{ord(sign)};')}]")
    yield text.replace(value[0], f"[&#{ord(value[1][0])};{value[1][1:]}]")


def quoted(text: str) -> Iterator[str]:
    """The lines of a quotation in a letter, wrapped at each space."""
    yield f"> Note\n> {text}\n> end"
    yield from (f"> {_LONG}{text[:i]}\n> {text[i + 1 :]} and more." for i in _spaces(text))


def _spaces(text: str) -> list[int]:
    return [i for i, character in enumerate(text) if character == " "]


# Spellings in which a value of a rule cannot be known, and why.
_LETTERS = "a letter after the last digit may be part of the value"
_NO_SIGN = "a part of the value on one line alone has no sign of a value"
_OTHER_CASE = "the expression depends on capitals, for words in small letters mean something else"
_SIGNS = "the signs between the parts are what makes the value one"
_IN_NOTE = "the rule asks the whole note, in which the change removes the other value"
EXCEPTIONS: dict[Callable[[str], Iterator[str]], dict[str, str]] = {
    glued: {
        "IPv6 address": '"1Sex" and "1f" look alike',
        "last digits of a number": _LETTERS,
        "job of a dictation": _LETTERS,
        "bank account": _LETTERS,
        "days of a month": "a day without a mark is a count before a letter",
        "day and month after a word for it": "a ratio is followed by letters as often",
        "age over 89 with a sex": "the letter after the number is its sign",
        "age over 89 of a person": _LETTERS,
    },
    wrapped: {
        "account in a network": _NO_SIGN,
        "last digits of a number": _NO_SIGN,
        "initials in the footer of a dictation": _NO_SIGN,
        "initials in a note that was dictated": _IN_NOTE,
        "street with a number": "a number at a line's end is as often a count",
        "date in digits": _NO_SIGN,
        "days of a month": _NO_SIGN,
        "month and year": "one month of two is no date by itself",
        "day and month with full stops": _NO_SIGN,
        "age over 89": "a number at a line's end is as often a measure",
        "postal code in German": "a town on the next line is not read with the code",
        "postal code in Spanish": "a town on the next line is not read with the code",
        "postal code in French": "a town on the next line is not read with the code",
        "relative": "an adjective on the next line is not read with the noun",
        "relative in English": "an adjective on the line before is not read with the noun",
        "age without a unit": "a label at a line's end has its value on its own line",
    },
    hyphenated: {
        "initials in the footer of a dictation": _NO_SIGN,
        "initials in a note that was dictated": _IN_NOTE,
        "day and month in a note with several": _IN_NOTE,
    },
    divided: {"day and month in a note with several": _IN_NOTE},
    dashed: {},
    decorated: {"account in a network": "underscores are parts of accounts"},
    spaced: {
        "e-mail": _SIGNS,
        "e-mail in words": _SIGNS,
        "domain": _SIGNS,
        "host with a path": _SIGNS,
        "account in a network": _SIGNS,
        "path or name of a file": _SIGNS,
        "IPv6 address": _SIGNS,
        "hardware address": _SIGNS,
        "initials in a note that was dictated": _SIGNS,
        "street with a number": "initials, hyphens and fractions in it are read as several words",
        "day, month in Roman numerals and year": _SIGNS,
        "days of a month": _SIGNS,
        "date with other marks": _SIGNS,
        "day and month in a note with several": _SIGNS,
    },
    in_capitals: {
        "domain": _OTHER_CASE,
        "host with a path": _OTHER_CASE,
        "path or name of a file": _OTHER_CASE,
        "initials in a note that was dictated": _OTHER_CASE,
        "wallet of a cryptocurrency": "the value is another in capitals",
        "US postal code after a state": _OTHER_CASE,
        "house on a numbered road": _OTHER_CASE,
        "street of several words in German": _OTHER_CASE,
        "street with a number": _OTHER_CASE,
        "date in digits with letters of a scanner": "in capitals, the letters are no longer those of a scanner",
        "days of a month": _OTHER_CASE,
        "day and month with full stops": "in capitals, the verb after it is an abbreviation",
        "hospital": "in capitals, the words before it are part of its name",
        "relative": _OTHER_CASE,
        "maker of a product": _OTHER_CASE,
    },
    escaped: {},
    quoted: {
        "account in a network": _NO_SIGN,
        "initials in the footer of a dictation": _NO_SIGN,
        "initials in a note that was dictated": _IN_NOTE,
        "date in digits": _NO_SIGN,
        "days of a month": _NO_SIGN,
        "date with other marks": _NO_SIGN,
        "day and month with full stops": _NO_SIGN,
        "age without a unit": "a label at a line's end has its value on its own line",
    },
}


@pytest.mark.parametrize("rewrite", EXCEPTIONS, ids=lambda rewrite: rewrite.__name__)
def test_the_examples_of_the_rules_hold_in_other_spellings(rewrite: Callable[[str], Iterator[str]]) -> None:
    tried, missed = 0, set()
    for rule in make_rules(DEFAULT_LANGUAGES):
        for example in rule.positive_examples:
            for text in rewrite(example if "[" in example else f"[{example}]"):
                tried += 1
                if uncovered(rule, text):
                    missed.add(rule.name)
    assert tried > 0
    assert missed == EXCEPTIONS[rewrite].keys()


@cache
def rules_with(language: str | None) -> RuleSet:
    """The rules for all languages together and those of one language, or of English and Spanish."""
    languages = (None, language) if language else (None, "en", "es")
    names = frozenset(rule.name for rule in make_rules(DEFAULT_LANGUAGES) if rule.language in languages)
    return rules_for(DEFAULT_LANGUAGES, names)


def uncovered(rule: Rule, marked: str) -> str:
    """The letters and digits of the values of a text that no rule finds."""
    text, values = "", list[range]()
    for number, part in enumerate(_VALUE.split(marked)):
        if number % 2:
            values.append(range(len(text), len(text) + len(part)))
        text += part
    covered = set[int]()
    for sentence in split_sentences(text):
        for _, first, stop in next(rules_with(rule.language).find([sentence])):
            covered.update(range(sentence.tokens[first].start, sentence.tokens[stop - 1].end))
    return "".join(text[i] for value in values for i in value if i not in covered and text[i].isalnum())
