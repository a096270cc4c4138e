"""Shapes, affixes, runs of capitals, patterns, word classes and layout."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from features import Sentence, split_sentences
from features.context import Layout
from features.languages import DEFAULT_LANGUAGES
from features.lexicons import WordClasses, lexicons, word_classes
from features.orthography import Affixes, CapitalRun, Shapes, shape
from features.patterns import PATTERNS, Patterns, find_patterns_in
from features.tokenizer import Token


def sentence(text: str) -> Sentence:
    (found,) = split_sentences(text)
    return found


def find_patterns(found: Sentence) -> list[tuple[str, int, int]]:
    return [(name, first, stop) for _, name, first, stop in find_patterns_in([found])]


@pytest.mark.parametrize(
    ("word", "its_shape"),
    [
        ("Quill", "Xxx"),
        ("MRN", "XX"),
        ("J", "X"),
        ("of", "xx"),
        ("McCoy", "XxXxx"),
        ("Ñuñoa", "Xxx"),
        ("4471209", "9999999"),
        ("٤٤", "99"),
        ("/", "/"),
        ("🙂", "🙂"),
        ("病院", "xx"),
        ("A1c", "X9x"),
        ("03/14", "99/99"),
    ],
)
def test_shape(word: str, its_shape: str) -> None:
    assert shape(word) == its_shape


@settings(deadline=None)
@given(st.text(min_size=1, max_size=40))
def test_the_shape_of_any_word_counts_its_digits_up_to_twelve_in_a_run(word: str) -> None:
    runs = "".join("9" if character.isdigit() else " " for character in word).split()
    assert shape(word).count("9") == sum(min(len(run), 12) for run in runs)


def test_shapes_around_a_token() -> None:
    row = Shapes(window=1).extract(Sentence.from_words(["MRN", "4471209"]))[1]
    assert row == ["shape[-1]=XX", "shape[0]=9999999", "shape[1]=</s>", "shape[-1,0,1]=XX 9999999 </s>"]


def test_affixes_are_no_longer_than_the_word() -> None:
    found = Affixes(longest=3).extract(Sentence.from_words(["Of"]))
    assert found == [["prefix=o", "suffix=f", "prefix=of", "suffix=of"]]
    (row,) = Affixes(longest=3).extract(Sentence.from_words(["Of"]))
    assert row == ["prefix=o", "suffix=f", "prefix=of", "suffix=of"]
    assert Affixes(longest=1).extract(Sentence.from_words(["Quill"])) == [["prefix=q", "suffix=l"]]


def test_a_run_of_capitals_spans_small_joining_words_but_does_not_end_with_one() -> None:
    rows = CapitalRun().extract(Sentence.from_words(["to", "Port", "of", "Tawn", "Clinic", "of", "pain"]))
    assert rows[0] == rows[5] == rows[6] == []
    assert rows[1] == [
        "caps:first=port",
        "caps:last=clinic",
        "caps:before=to",
        "caps:after=of",
        "caps:at=0",
        "caps:left=3",
    ]
    assert [row[4:] for row in rows[1:5]] == [[f"caps:at={i}", f"caps:left={3 - i}"] for i in range(4)]


NOTES = st.lists(st.lists(st.sampled_from(["a", "Ab", "C", "de", "-", ":", "İ", "Σ"]), max_size=16), max_size=5)


@settings(deadline=None)
@given(NOTES)
def test_runs_of_capitals_agree_with_their_definition(notes: list[list[str]]) -> None:
    found = CapitalRun().extract_all([Sentence.from_words(words) for words in notes])
    assert [*found] == [[run_of(words, place) for place in range(len(words))] for words in notes]


def run_of(words: list[str], place: int) -> list[str]:
    """By the definition: a run begins and ends with a capital, and there are capitals and joining words between."""
    first, last = (nearest_end(words, places) for places in (range(place, -1, -1), range(place, len(words))))
    if first is None or last is None:
        return []
    named = {"first": words[first], "last": words[last], "before": ["<s>", *words][first]}
    named |= {"after": [*words, "</s>"][last + 1], "at": str(min(place - first, 5)), "left": str(min(last - place, 5))}
    return [f"caps:{name}={value.lower()}" for name, value in named.items()]


def nearest_end(words: list[str], places: range) -> int | None:
    """The last place with a capital before a word that is neither one nor joins them."""
    end = None
    for i in places:
        if words[i][0].isupper():
            end = i
        elif words[i] not in ("de", "-"):
            break
    return end


EXPRESSIONS = [
    ("03/14/72", "date"),
    ("3-4-2014", "date"),
    ("14.03.1972", "date"),
    ("2014-03-12", "date"),
    ("March 14, 1972", "date"),
    ("14th of March", "date"),
    ("3 de mayo de 2014", "date"),
    ("mayo de 2014", "month"),
    ("09/2014", "month"),
    ("12:45 pm", "time"),
    ("61 years old", "age"),
    ("61yo", "age"),
    ("2.5 mg", "measure"),
    ("10x12 cm", "measure"),
    ("40%", "measure"),
    ("(555) 010-4477", "phone"),
    ("+34 900 55 01 00", "phone"),
    ("555-0147", "phone"),
    ("000-12-3456", "ssn"),
    ("o.quill@tawn.example", "email"),
    ("https://tawn.example/a?b=1", "url"),
    ("99512", "zip"),
    ("2014", "year"),
    ("A4471209", "code"),
    ("#4471209", "code"),
    ("120/80", "ratio"),
    ("7.35", "decimal"),
]


@pytest.mark.parametrize(("text", "name"), EXPRESSIONS)
def test_an_expression_is_found_whole(text: str, name: str) -> None:
    found = list(find_patterns(sentence(f"seen {text} by us")))
    assert found == [(name, 1, 1 + len(sentence(text).tokens))]


@pytest.mark.parametrize("text", ["in march of", "may be", "A1c", "x", "1", "alpha-2"])
def test_what_only_begins_like_an_expression_is_none(text: str) -> None:
    assert list(find_patterns(sentence(f"is {text} it"))) == []


def test_white_space_of_any_length_stands_for_one_space() -> None:
    assert [name for name, _, _ in find_patterns(sentence("March \t 14,  1972"))] == ["date"]


def test_a_pattern_says_where_in_it_the_token_stands() -> None:
    rows = Patterns(window=0).extract(sentence("on 03/14/72."))
    assert [row[0].removeprefix("pattern[0]=") for row in rows] == ["O", "B-date", *["I-date"] * 3, "E-date", "O"]
    assert Patterns().extract(sentence("2014"))[0] == ["pattern[-1]=<s>", "pattern[0]=B-year", "pattern[1]=</s>"]


@settings(deadline=None)
@given(st.text(st.sampled_from(list("0123456789/-.: ()+#@aAmgé")), max_size=60))
def test_patterns_lie_within_the_sentence_and_do_not_overlap(text: str) -> None:
    for found in split_sentences(text):
        spans = list(find_patterns(found))
        assert all(name in PATTERNS for name, _, _ in spans)
        edges = [edge for _, first, stop in spans for edge in (first, stop)]
        assert edges == sorted(edges)
        assert all(0 <= first < stop <= len(found.tokens) for _, first, stop in spans)


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from(list("01279/-.: ()+#@aAmgé")), max_size=30), max_size=6))
def test_patterns_are_the_same_whatever_else_is_looked_through(texts: list[str]) -> None:
    sentences = [found for text in ["on 03/14/72", *texts, "a@b.c", "mes de"] for found in split_sentences(text)]
    alone = [(number, *found) for number, one in enumerate(sentences) for found in find_patterns(one)]
    assert sorted(find_patterns_in(sentences)) == sorted(alone)


@pytest.mark.parametrize(("text", "name"), EXPRESSIONS)
def test_no_expression_reaches_over_a_line_end(text: str, name: str) -> None:
    """Many sentences are looked through as one text, a line each."""
    for broken in (text[:i] + "\n" + text[j:] for i in range(1, len(text)) for j in (i, i + 1)):
        whole, *lines = (Sentence((Token(part, 0, len(part)),)) for part in (broken, *filter(None, broken.split("\n"))))
        alone = [found for line in lines for found, _, _ in find_patterns(line)]
        assert [found for found, _, _ in find_patterns(whole)] == alone


def test_word_classes_fold_case_and_reach_the_neighbours() -> None:
    assert word_classes("Dra") == word_classes("DRA") == ("title",)
    assert WordClasses(window=1).extract(sentence("by Dr Quill"))[2] == ["class[-1]=title"]
    assert WordClasses(window=2).extract(Sentence.from_words(["May", "x", "y", "z"]))[3] == []


def test_lexicons_are_small_lower_case_and_of_single_words() -> None:
    found = lexicons(DEFAULT_LANGUAGES).values()
    assert all(word == word.lower() and " " not in word for words in found for word in words)
    assert sum(map(len, found)) < 2000


def test_layout_knows_section_field_and_place() -> None:
    text = "PLAN\nAttending: Orla Quill  Pager: 4477\n" + "rest\n" * 18
    rows = Layout().extract(split_sentences(text)[1])
    assert rows[2] == ["heading=plan", "line=attending", "place=0", "field=attending", "field+1=attending"]
    assert rows[6][-2:] == ["field=orla quill pager", "field+1=orla quill pager"]
    assert rows[0] == ["heading=plan", "line=attending", "place=0"]
    assert Layout().extract(split_sentences(text)[-1])[0] == ["heading=plan", "line=", "place=9"]


@settings(deadline=None)
@given(NOTES)
def test_fields_agree_with_their_definition(notes: list[list[str]]) -> None:
    found = Layout().extract_all([Sentence.from_words(words) for words in notes])
    fields = [[row[3:] for row in rows] for rows in found]
    assert fields == [[field_of(words, place) for place in range(len(words))] for words in notes]


def field_of(words: list[str], place: int) -> list[str]:
    """By the definition: up to three words before the nearest colon on the left, without and with the distance."""
    colons = [i for i in range(place) if words[i] == ":"]
    if not colons or not colons[-1]:
        return []
    name = " ".join(words[max(colons[-1] - 3, 0) : colons[-1]]).lower()
    return [f"field={name}", f"field+{min(place - colons[-1], 9)}={name}"]
