"""A person's name in whatever way it is written, and words that are nobody's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.known_phi.folding import FoldedText, fold_to_alnum
from crfdeid.known_phi.names import NameMatcher, is_common_word


def found(value: str, text: str) -> list[str]:
    """The distinct finds that are part of no other, in order."""
    spans = sorted(set(NameMatcher([value]).find(text, FoldedText(text))))
    return [text[a:b] for a, b in spans if not any((c, d) != (a, b) and c <= a and b <= d for c, d in spans)]


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        ("Jane Quill", "Jane Quill or QUILL, JANE or quill jane", ["Jane Quill", "QUILL, JANE", "quill jane"]),
        ("Jane Quill", "Ms. Quill's son; jane ate. Quill2", ["Quill", "jane", "Quill"]),
        ("QUILL, JANE ANN", "J. Quill, Quill JA, J.A. Quill", ["J. Quill, Quill JA, J.A. Quill"]),
        ("Quill, Jane", "seen: j quill / J.Quill / Quill, J. ok", ["j quill", "J.Quill", "Quill, J"]),
        ("Jane Quill", "saw a Quill", ["Quill"]),
        ("Jane Sorrelby", "Sorelby, sorrelbyy, Sorreblby, Tsorrelby", ["Sorelby, sorrelbyy, Sorreblby, Tsorrelby"]),
        ("María José García López", "garcia lopez; Maria Jose; M. J. García", 3),
        ("María de la Cruz Quill", "maría de la cruz QUILL, de la Cruz", ["maría de la cruz QUILL, de la Cruz"]),
        ("O'Neill, Sean", "ONEILL. O’Neill. O Neill. Oneil.", ["ONEILL", "O’Neill", "O Neill", "Oneil"]),
        ("MacDonald", "Mac Donald, macdonald", ["Mac Donald, macdonald"]),
        ("Quill-Marsh, Ann", "Marsh, ann quill-marsh", ["Marsh, ann quill-marsh"]),
        ("Minh Do", "Mr. Do came", ["Do"]),
        ("Wu Li", "Dr Li, wu li", ["Li, wu li"]),
        ("Jane Quill", "QuillPhone or JaneQuill or jane.quill@x.org or janequill", 4),
        ("王小明", "患者王小明来院", ["王小明"]),
        ("May Brown", "may brown slept. Brown ate.", ["may brown", "Brown"]),
        ("Ann Brown", "a BROWN, ANN", ["BROWN, ANN"]),
        ("Ana Delgado Moreno", "paciente delgado. Delgado. delgado moreno", ["Delgado", "delgado moreno"]),
        ("Ann Brown", "j. brown; a. brown", ["a. brown"]),
        ("María De La Quill", "Delaquill; DELAQUILL; de-la-quill; Dela Quill", 4),
        ("Delaquill, Ann", "De La Quill; de la quill; DE-LA-QUILL; dela quill", 4),
        ("Mac Sorrel", "Macsorrel; macsorrel; MACSORREL; MacSorrel", 4),
        ("Macsorrel", "Mac Sorrel; mac sorrel; MAC-SORREL; J. Mac Sorrel", 4),
        ("Anne-Marie Quill", "annemarie; Annemarie; ANNEMARIE; anne marie; Anne\u2011Marie", 5),
        ("Annemarie Quill", "anne-marie; Anne Marie; ANNE MARIE; anne marie; Anne\u2010Marie; Anne-\nMarie", 6),
        ("O'Quill", "O Quill; o quill; oquill", 3),
        ("null Quill", "null in the quill, unknown", ["quill"]),
        ("Jane, X", "X-ray of jane", ["jane"]),
        ("Klaus Müller", "Herrn Müllers Arm; MUELLER war da; Muller kam", ["Müllers", "MUELLER", "Muller"]),
        ("Mueller", "Frau Müller", ["Müller"]),
        ("Lefœuvre", "Mme LEFOEUVRE", ["LEFOEUVRE"]),
    ],
)
def test_a_name_is_found(value: str, text: str, expected: list[str] | int) -> None:
    assert found(value, text) == expected if isinstance(expected, list) else len(found(value, text)) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("May Brown", "may cough brown sputum"),
        ("Ann Brown", "a brown rash"),
        ("Jane Quill", "quillwork, tranquill, Quil, Janes"),  # short words are not taken for slips
        ("Jane Sorrelby", "Sorrelby's cousin Sarrilby".removeprefix("Sorrelby's ")),  # two slips
        ("Wu Li", "li 3, wu"),
        ("María de la Cruz", "de la mano, la cruz"),
        ("Dr. Jane Quill", "the dr came"),
        ("Jane Quill", "J. Marsh, JA"),
        ("Constan Pequeño", "una pequeña lesión constante".removesuffix(" constante")),
        ("Consuelo", "con suelo de mármol. Con suelo."),
        ("J", "a J B j."),
        ("Le", "le duele"),
        ("NULL", "null"),
    ],
)
def test_other_words_are_left(value: str, text: str) -> None:
    assert found(value, text) == []


LETTERS = "bcdfglmnrtz"
NAMES = st.text(LETTERS, min_size=6, max_size=9).map(str.capitalize)


@given(NAMES, NAMES, st.sampled_from([str, str.lower, str.upper]), st.data())
def test_every_promised_form_is_found(first: str, last: str, case: type[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(last) - 1))
    slips = {
        "changed": last[:place] + data.draw(st.sampled_from(LETTERS)) + last[place + 1 :],
        "missing": last[:place] + last[place + 1 :],
        "added": last[:place] + data.draw(st.sampled_from(LETTERS)) + last[place:],
        "swapped": last[:place] + last[place : place + 2][::-1] + last[place + 2 :],
    }
    forms = [f"{first} {last}", f"{last}, {first}", first, last, f"{first[0]}. {last}", f"{last} {first[0]}"]
    for form in [*forms, *slips.values()]:
        text = f"( {case(form)} )"
        assert fold_to_alnum("".join(found(f"{first} {last}", text))) == fold_to_alnum(form)


@given(
    st.lists(NAMES, min_size=2, max_size=3),
    st.sampled_from([str, str.lower, str.upper]),
    st.lists(st.sampled_from(["", " ", "-", "\u2010", "\u2011"]), min_size=4, max_size=4),
)
def test_a_name_of_several_words_is_found_joined_split_and_hyphenated(
    words: list[str], case: type[str], signs: list[str]
) -> None:
    record = "".join(word + sign for word, sign in zip(words, [*signs[: len(words) - 1], ""], strict=True))
    written = case("".join(word + sign for word, sign in zip(words, [*signs[2 : len(words) + 1], ""], strict=True)))
    assert fold_to_alnum("".join(found(record, f"( {written} )"))) == fold_to_alnum(written)


def test_words_that_are_names_too_are_words_in_the_form_that_is_asked_for() -> None:
    assert is_common_word("penas")
    assert is_common_word("rubio")
    assert not is_common_word("sorrelby")


def test_a_name_is_an_ordinary_word_in_the_languages_that_have_it() -> None:
    text = "Sra. Barros; dois barros no quintal"
    marked = {
        languages: [text[a:b] for a, b in NameMatcher(["Ana Barros"], languages).find(text, FoldedText(text))]
        for languages in (("es",), ("es", "pt"))
    }
    assert {*marked["es",]} == {"Barros", "barros"}
    assert {*marked["es", "pt"]} == {"Barros"}


def test_many_and_long_names_take_no_minutes() -> None:
    letters = "bcdfghklmnprstvz"
    names = [f"Qui{a}{b}{c}{d}an" for a in letters for b in letters for c in letters for d in letters[:4]]
    words = [f"{name}x" for name in names]
    text = "; ".join(words)
    matcher = NameMatcher([*names, "q" * 100_000])
    assert [text[start:end] for start, end in matcher.find(text, FoldedText(text))] == words
