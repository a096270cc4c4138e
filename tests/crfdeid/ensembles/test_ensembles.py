"""Hybrid and ensemble: how members' answers are joined, against plain counting; and what they refuse."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crfdeid.documents import LabelledSentence
from crfdeid.ensembles import create_members
from crfdeid.ensembles.ensemble import EnsembleSettings, EnsembleTagger
from crfdeid.ensembles.hybrid import HybridSettings, HybridTagger
from crfdeid.errors import UsageError
from crfdeid.rules.tagger import RulesTagger
from features.sentences import split_sentences
from features.tokens import Sentence

TAGS = ("B-DATE", "B-ID", "I-DATE", "O")
MANY = 201  # notes from which on a model's spans and types are kept


class Fixed:
    """A member that answers what it is told, whatever the sentence."""

    tags = TAGS

    def __init__(self, rows: list[list[str]], tables: list[np.ndarray] | None = None) -> None:
        self.rows, self.tables = rows, tables

    def predict(self, sentences: list[Sentence]) -> list[list[str]]:
        return [list(row) for row in self.rows]

    def marginals(self, sentences: list[Sentence]) -> list[np.ndarray]:
        return self.tables or [np.array([[float(tag == other) for other in TAGS] for tag in row]) for row in self.rows]


def ensemble(combine: str, *members: Fixed) -> EnsembleTagger:
    tagger = EnsembleTagger(EnsembleSettings(members=("crf",) * len(members), combine=combine))
    tagger._members = list(members)
    return tagger


def joined(combine: str, *rows: str) -> str:
    (row,) = ensemble(combine, *(Fixed([text.split()]) for text in rows)).predict(
        [Sentence.from_words(rows[0].split())]
    )
    return " ".join(row)


@pytest.mark.parametrize(
    ("combine", "rows", "expected"),
    [
        ("union", ("O B-DATE O O", "O O O B-ID"), "O B-DATE O B-ID"),
        ("union", ("B-DATE I-DATE O O", "O B-ID O O"), "B-DATE I-DATE O O"),
        ("union", ("B-DATE I-DATE O O", "O B-ID I-ID I-ID"), "B-ID I-ID I-ID I-ID"),
        ("union", ("B-DATE O", "O B-DATE"), "B-DATE B-DATE"),
        ("vote", ("B-DATE I-DATE O", "B-DATE O O", "O I-DATE B-ID"), "B-DATE I-DATE O"),
        ("vote", ("B-DATE O", "B-ID B-ID"), "B-DATE O"),
        ("mean", ("B-DATE I-DATE O", "B-DATE I-DATE O", "O O O"), "B-DATE I-DATE O"),
    ],
)
def test_members_answers_are_joined(combine: str, rows: tuple[str, ...], expected: str) -> None:
    assert joined(combine, *rows) == expected


TABLES = st.lists(st.lists(st.integers(1, 9), min_size=4, max_size=4), min_size=3, max_size=3)


@given(TABLES, TABLES)
def test_the_mean_is_the_most_probable_valid_sequence(first: list[list[int]], second: list[list[int]]) -> None:
    tables = [np.array(rows, float) / np.sum(rows, axis=1, keepdims=True) for rows in (first, second)]
    tagger = ensemble("mean", *(Fixed([["O"] * 3], [table]) for table in tables))
    sentence = Sentence.from_words(["a", "b", "c"])
    mean = sum(tables) / 2
    np.testing.assert_allclose(tagger.marginals([sentence])[0], mean)

    def valid(tags: tuple[str, ...]) -> bool:
        return all(tag != "I-DATE" or before.endswith("DATE") for before, tag in itertools.pairwise(("O", *tags)))

    def score(tags: tuple[str, ...]) -> float:
        return float(np.prod([mean[t, TAGS.index(tag)] for t, tag in enumerate(tags)]))

    (row,) = tagger.predict([sentence])
    assert valid(tuple(row))
    assert score(tuple(row)) == pytest.approx(
        max(score(tags) for tags in itertools.product(TAGS, repeat=3) if valid(tags))
    )


@given(TABLES, TABLES)
def test_a_union_is_as_sure_of_phi_as_its_surest_member(first: list[list[int]], second: list[list[int]]) -> None:
    tables = [np.array(rows, float) / np.sum(rows, axis=1, keepdims=True) for rows in (first, second)]
    (table,) = ensemble("union", *(Fixed([["O"] * 3], [t]) for t in tables)).marginals([Sentence.from_words("abc")])
    np.testing.assert_allclose(table[:, 3], np.minimum(tables[0][:, 3], tables[1][:, 3]))
    np.testing.assert_allclose(table.sum(axis=1), 1)


def hybrid(row: str, text: str, *, notes: int = 1) -> tuple[str, np.ndarray]:
    (sentence,) = split_sentences(text)
    rules, tags = RulesTagger(), ("B-DATE", *["I-DATE"] * 4)
    (date,) = split_sentences("3/14/72")
    rules.fit([LabelledSentence(date, tags, document=str(number % notes)) for number in range(max(notes, 9))], [])
    tagger = HybridTagger()
    tagger._members = (Fixed([row.split()]), rules)
    return " ".join(tagger.predict([sentence])[0]), tagger.marginals([sentence])[0]


def with_rules(combine: str, *rows: str, notes: int = 1) -> tuple[str, np.ndarray]:
    """Tags and marginals of an ensemble of fixed members and of rules that know dates, for "on 1/2/73"."""
    rules = RulesTagger()
    (date,) = split_sentences("3/14/72")
    tags = ("B-DATE", *["I-DATE"] * 4)
    rules.fit([LabelledSentence(date, tags, document=str(number % notes)) for number in range(max(notes, 9))], [])
    tagger = EnsembleTagger(EnsembleSettings(members=(*["crf"] * len(rows), "rules"), combine=combine))
    tagger._members = [*(Fixed([row.split()]) for row in rows), rules]
    sentences = split_sentences("on 1/2/73")
    return " ".join(tagger.predict(sentences)[0]), tagger.marginals(sentences)[0]


@pytest.mark.parametrize("combine", ["union", "vote", "mean"])
def test_members_that_miss_it_do_not_outvote_a_rule(combine: str) -> None:
    nothing, first = "O O O O O O", "B-ID O O O O O"
    row, table = with_rules(combine, nothing, nothing, nothing)
    assert row == "O B-DATE I-DATE I-DATE I-DATE I-DATE"
    assert (1 - table[1:, 3]).tolist() == pytest.approx([10 / 11] * 5) and table[0, 3] == 1
    np.testing.assert_allclose(table.sum(axis=1), 1)
    assert with_rules(combine, first, first, nothing)[0] == "B-ID B-DATE I-DATE I-DATE I-DATE I-DATE"


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["O", "B-ID", "I-ID", "B-DATE", "I-DATE"]), min_size=6, max_size=6), st.booleans())
def test_one_model_and_the_rules_are_a_hybrid(drawn: list[str], few: bool) -> None:
    pairs = itertools.pairwise(("O", *drawn))
    row = " ".join(tag if tag[0] != "I" or before[2:] == tag[2:] else f"B{tag[1:]}" for before, tag in pairs)
    notes = 1 if few else MANY
    assert with_rules("vote", row, notes=notes)[0] == hybrid(row, "on 1/2/73", notes=notes)[0]
    np.testing.assert_allclose(with_rules("mean", row)[1], hybrid(row, "on 1/2/73")[1])


def test_the_default_ensemble_has_the_rules_also_of_a_hybrid() -> None:
    assert "rules" in EnsembleSettings().members
    with pytest.raises(UsageError):
        EnsembleSettings(members=("rules", "rules"))
    rules, inner = RulesTagger(), HybridTagger()
    (date,) = split_sentences("3/14/72")
    rules.fit([LabelledSentence(date, ("B-DATE", *["I-DATE"] * 4))] * 9, [])
    nothing = [["O"] * 6]
    inner._members = (Fixed(nothing), rules)
    tagger = EnsembleTagger(EnsembleSettings(members=("hybrid", "crf", "crf")))
    tagger._members = [inner, Fixed(nothing), Fixed(nothing)]
    assert tagger.predict(split_sentences("on 1/2/73"))[0][1:] == ["B-DATE", *["I-DATE"] * 4]


def test_a_rule_fills_what_the_model_left() -> None:
    row, table = hybrid("O O O O O O", "on 1/2/73")
    assert row == "O B-DATE I-DATE I-DATE I-DATE I-DATE"
    assert table[1].tolist() == pytest.approx([10 / 11, 0, 0, 1 / 11])
    assert table[0].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("row", "many", "few"),
    [
        (
            "O B-ID I-ID I-ID I-ID I-ID",
            "O B-ID I-ID I-ID I-ID I-ID",
            "O B-DATE I-DATE I-DATE I-DATE I-DATE",
        ),  # same ends
        *[("B-ID I-ID I-ID I-ID I-ID I-ID", *["B-ID I-ID I-ID I-ID I-ID I-ID"] * 2)],
        *[("O B-ID I-ID B-ID I-ID I-ID", *["O B-ID I-ID B-ID I-ID I-ID"] * 2)],  # nothing would leak
        *[("O B-ID O O O O", *["O B-DATE I-DATE I-DATE I-DATE I-DATE"] * 2)],  # a part of it found: the rest would leak
        *[("O B-ID O B-ID I-ID O", *["O B-DATE I-DATE I-DATE I-DATE I-DATE"] * 2)],
        *[("B-ID I-ID O O B-ID O", *["B-ID I-ID B-DATE I-DATE B-ID B-DATE"] * 2)],  # the model's span reaches out of it
    ],
)
def test_a_rule_completes_what_the_model_found_in_part(row: str, many: str, few: str) -> None:
    assert hybrid(row, "on 1/2/73", notes=MANY)[0] == many
    assert hybrid(row, "on 1/2/73")[0] == few


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["O", "B-ID", "I-ID", "B-DATE", "I-DATE"]), min_size=6, max_size=6), st.booleans())
def test_a_rule_hides_more_tokens_and_never_fewer(drawn: list[str], few: bool) -> None:
    row = [
        tag if tag[0] != "I" or before[2:] == tag[2:] else f"B{tag[1:]}"  # valid IOB2, as models predict it
        for before, tag in itertools.pairwise(("O", *drawn))
    ]
    found = hybrid(" ".join(row), "on 1/2/73", notes=1 if few else MANY)[0].split()
    assert all(after != "O" for before, after in zip(row, found, strict=True) if before != "O")
    assert "O" not in found[1::2]  # day, month and year: marks between spans of the model may stay
    assert all(tag[0] != "I" or before[2:] == tag[2:] for before, tag in itertools.pairwise(("O", *found)))


def test_a_rule_makes_nothing_less_probable() -> None:
    table = hybrid("O B-ID O O O O", "on 1/2/73")[1]
    assert table[1].tolist() == [0, 1, 0, 0]
    assert table[2].tolist() == pytest.approx([0, 0, 10 / 11, 1 / 11])


def test_thresholds_by_type_mark_further_tokens_and_are_saved(tmp_path: Path) -> None:
    def labelled(text: str, tags: str) -> LabelledSentence:
        return LabelledSentence(Sentence.from_words(text.split()), tuple(tags.split()))

    others = [labelled(f"seen by {word}", "O O O") for word in ("Lab", "Bay", "Ed")]
    train = [labelled("seen by Doe", "O O B-NAME"), *others]
    dev = [labelled("seen by Roe", "O O B-NAME"), labelled("seen by nurses", "O O O")]
    usual, lower = (HybridTagger(HybridSettings(miss_cost=cost)) for cost in (0, 3))
    for tagger in (usual, lower):
        tagger.fit(train, dev)
    sentences = [item.sentence for item in dev]
    assert usual.thresholds == {} and usual.predict(sentences)[0][2] == "O"
    assert lower.predict(sentences)[0] == ["O", "O", "B-NAME"]
    assert 0.01 <= lower.thresholds["NAME"] < 0.5
    lower.save(tmp_path / "model")
    loaded = HybridTagger.load(tmp_path / "model")
    assert loaded.thresholds == lower.thresholds and loaded.predict(sentences) == lower.predict(sentences)


@pytest.mark.parametrize(
    ("settings", "change", "message"),
    [
        (HybridSettings, {"member": "hybrid"}, "member is hybrid"),
        (HybridSettings, {"miss_cost": -1}, "miss_cost is -1"),
        (EnsembleSettings, {"combine": "product"}, "unknown combine 'product'"),
        (EnsembleSettings, {"members": ("crf",)}, "members are crf: give two or more"),
        (EnsembleSettings, {"members": ("crf", "none")}, "members are crf, none: give two or more"),
        (EnsembleSettings, {"members": ("crf", "ensemble")}, "give two or more"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: type, change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings(**change)


def test_a_repeated_member_has_other_seeds() -> None:
    settings = EnsembleSettings(members=("elman", "crf", "elman"), options={"elman": {"epochs": 1}})
    assert [member.seed for member in create_members(settings, seed=5)] == [5, 5, 6]
