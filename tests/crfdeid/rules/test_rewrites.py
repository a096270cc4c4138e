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


# Spellings in which a value cannot be known, by rule.
EXCEPTIONS: dict[Callable[[str], Iterator[str]], set[str]] = {
    glued: {
        "IPv6 address",  # "1Sex" and "1f" look alike
        "last digits of a number",
        "job of a dictation",
        "bank account",
        "days of a month",
        "day and month after a word for it",
        "age over 89 with a sex",
        "age over 89 of a person",
    },
    wrapped: {
        "account in a network",
        "last digits of a number",
        "initials in the footer of a dictation",
        "initials in a note that was dictated",
        "street with a number",
        "date in digits",
        "days of a month",
        "month and year",
        "day and month with full stops",
        "age over 89",
        "postal code in German",
        "postal code in Spanish",
        "postal code in French",
        "name after called",
        "relative",
        "relative in English",
        "age without a unit",
    },
    hyphenated: {
        "initials in the footer of a dictation",
        "initials in a note that was dictated",
        "day and month in a note with several",
    },
    divided: {"day and month in a note with several"},
    dashed: set(),
    decorated: {"account in a network"},
    spaced: {
        "e-mail",
        "e-mail in words",
        "domain",
        "host with a path",
        "account in a network",
        "path or name of a file",
        "IPv6 address",
        "hardware address",
        "initials in a note that was dictated",
        "street with a number",
        "day, month in Roman numerals and year",
        "days of a month",
        "date with other marks",
        "day and month in a note with several",
    },
    in_capitals: {
        "domain",
        "host with a path",
        "path or name of a file",
        "initials in a note that was dictated",
        "wallet of a cryptocurrency",
        "US postal code after a state",
        "house on a numbered road",
        "street of several words in German",
        "street with a number",
        "date in digits with letters of a scanner",
        "days of a month",
        "day and month with full stops",
        "hospital",
        "names of relatives",
        "name after a role",
        "name after a word for the patient",
        "name of a relative",
        "name of a relative in English",
        "name after a signature",
        "name after who acts",
        "name before a degree",
        "relative",
        "maker of a product",
    },
    escaped: set(),
    quoted: {
        "account in a network",
        "initials in the footer of a dictation",
        "initials in a note that was dictated",
        "date in digits",
        "days of a month",
        "date with other marks",
        "day and month with full stops",
        "age without a unit",
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
    assert missed == EXCEPTIONS[rewrite]


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
