"""The estimator in scikit-learn's own tools: it is cloned, searched and pickled, and computes what CRFsuite does."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn_crfsuite import CRF

import crfdeid
from crfdeid.bio import decode, encode
from crfdeid.corpora.splits import Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.errors import (
    DataError,
    FormatError,
    MismatchError,
    OptionConflictError,
    SecretError,
    SettingError,
    UnknownNameError,
)
from crfdeid.integrations.sklearn import SequenceTagger
from crfdeid.secrets import SECRET_VARIABLE
from features import FEATURE_SETS, STRONG_FEATURES, Sentence, Token, to_dicts
from features.languages import DEFAULT_LANGUAGES

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "scikit-learn.md"
LABELLED = Split.of(generate_notes(8, seed=4)).sentences
SENTENCES = [item.sentence for item in LABELLED]
WORDS = [list(sentence.words) for sentence in SENTENCES]
DICTS = to_dicts(SENTENCES, STRONG_FEATURES.with_pos("none"))
TAGS = [list(item.tags) for item in LABELLED]
ALL_PACKS = "+".join(DEFAULT_LANGUAGES)
SETTINGS: dict[str, Any] = {"max_iterations": 15, "c1": 0.1, "language": ALL_PACKS}  # those of `STRONG_FEATURES`

# Checks that fit numbers, or that expect the messages which scikit-learn has for them: no sentence is a row of numbers.
NUMBERS = "X is a table of numbers, and a sentence has words"
CHECKS_ON_NUMBERS = (
    "check_fit_score_takes_y",
    "check_estimators_overwrite_params",
    "check_dont_overwrite_parameters",
    "check_estimators_fit_returns_self",
    "check_readonly_memmap_input",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_estimators_dtypes",
    "check_complex_data",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_pipeline_consistency",
    "check_estimators_nan_inf",
    "check_estimator_sparse_tag",
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_dict_unchanged",
    "check_fit_idempotent",
    "check_fit_check_is_fitted",
    "check_n_features_in",
    "check_fit2d_predict1d",
)


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    return dict.fromkeys(CHECKS_ON_NUMBERS, NUMBERS)


@pytest.fixture(autouse=True)
def sets_of_features() -> Iterator[None]:
    """Feature dicts add a set."""
    with mock.patch.dict(FEATURE_SETS):
        yield


@pytest.fixture(scope="module")
def trained() -> SequenceTagger:
    return SequenceTagger(**SETTINGS).fit(WORDS, TAGS)


def same(found: Any, expected: Any) -> bool:
    return list(found) == list(expected)


@parametrize_with_checks([SequenceTagger()], expected_failed_checks=expected_failures)
def test_checks_of_scikit_learn(estimator: SequenceTagger, check: Any) -> None:
    check(estimator)


def test_what_the_checks_on_numbers_would_test_holds_for_sentences() -> None:
    estimator = SequenceTagger(**SETTINGS)
    before = estimator.get_params()
    assert estimator.fit(WORDS, TAGS) is estimator
    found, weights = estimator.predict(WORDS), estimator.state_features_
    assert estimator.get_params() == before and {name for name in vars(estimator) if name not in before} == {"tagger_"}
    assert same(estimator.predict(WORDS[::-1]), found[::-1])
    assert same([estimator.predict_single(words) for words in WORDS], found)
    assert estimator.fit(WORDS, TAGS).state_features_ == weights
    assert same(make_pipeline(clone(estimator)).fit(WORDS, TAGS).predict(WORDS), found)


def test_predictions_are_those_of_the_model_in_python() -> None:
    plain = crfdeid.create("crf", overrides=SETTINGS)
    plain.fit(LABELLED, [])
    notes = list(generate_notes(5, seed=9))
    new = [sentence for note in notes for sentence in note.sentences()]
    estimator = SequenceTagger(**SETTINGS).fit(SENTENCES, TAGS)
    assert estimator.classes_ == list(plain.tags)
    assert same(estimator.predict(new), plain.predict(new))
    for rows, table in zip(estimator.predict_marginals(new), plain.marginals(new), strict=True):
        assert rows == [dict(zip(plain.tags, row, strict=True)) for row in table.tolist()]
    gold = [item.tags for note in notes for item in encode(note).sentences]
    assert estimator.score(new, gold) == crfdeid.evaluation.count_tags(gold, plain.predict(new)).micro.f1 > 0
    spans = [decode(*pair) for pair in zip(new, estimator.predict(new), strict=True)]
    marked = [crfdeid.Deidentifier(estimator.tagger_, consistent=False).annotate(note.text).spans for note in notes]
    assert [span for row in spans for span in row] == [span for row in marked for span in row]


@pytest.mark.skipif("CRFDEID_DATA" not in os.environ, reason="CRFDEID_DATA is not set: no real corpora")
def test_spans_and_scores_on_meddocan_are_those_of_python(few_notes_model: Path) -> None:
    notes = list(crfdeid.read_corpus(Path(os.environ["CRFDEID_DATA"], "meddocan/dev/brat")))
    estimator = pickle.loads(pickle.dumps(SequenceTagger(**SETTINGS).fit(SENTENCES, TAGS)))
    plain = crfdeid.create("crf", overrides=SETTINGS)
    plain.fit(LABELLED, [])
    for note, document in zip(
        notes, crfdeid.Deidentifier(plain, consistent=False).annotate_documents(notes), strict=True
    ):
        sentences = note.sentences()
        tagged = zip(sentences, estimator.predict(sentences), estimator.predict_marginals(sentences), strict=True)
        found = {}
        for sentence, tags, rows in tagged:
            for span in decode(sentence, tags):
                inside = [
                    row
                    for token, row in zip(sentence.tokens, rows, strict=True)
                    if span.start <= token.start < span.end
                ]
                found[span] = pytest.approx(1 - max(row["O"] for row in inside), abs=1e-9)
        assert {span: document.evidence[span].score for span in document.spans} == found


def test_weights_and_marginals_of_feature_dicts_are_those_of_crfsuite() -> None:
    def features(words: list[str], i: int) -> dict[str, Any]:
        word = words[i]
        before = {"before": words[i - 1], "title": str(words[i - 1].istitle())} if i else {"start": True}
        return {"bias": 1.0, "word": word, "parts": {word[:2], word[-2:]}, "around": before, "letters": len(word)}

    X = [[features(words, i) for i in range(len(words))] for words in WORDS]
    estimator = SequenceTagger(**SETTINGS).fit(X, TAGS)
    peer = CRF(c1=0.1, c2=0.02, max_iterations=15, all_possible_transitions=True).fit(X, TAGS)
    assert sorted(estimator.classes_) == sorted(peer.classes_)
    assert same(estimator.predict(X), peer.predict(X))
    for found, expected in (
        (estimator.state_features_, peer.state_features_),
        (estimator.transition_features_, peer.transition_features_),
    ):
        differences = [abs(found.get(pair, 0) - expected.get(pair, 0)) for pair in found.keys() | expected.keys()]
        assert max(differences) < 1e-6  # its dump has six digits
    for rows, others in zip(estimator.predict_marginals(X), peer.predict_marginals(X), strict=True):
        assert all(row == pytest.approx(other, abs=1e-9) for row, other in zip(rows, others, strict=True))


@pytest.mark.parametrize(
    "features",
    [
        lambda word: {"word": word, "ends": [word[:1], word[-1:]]},  # equal ends count twice
        lambda word: {
            "word": word,
            "at": {"start": word[:1], "all": {"n": [word[:1], "x", "x"]}},
            "at:start": word[:1],
        },
    ],
)
def test_equal_features_of_a_token_add_up_as_in_crfsuite(features: Any) -> None:
    X = [[features(word) for word in words] for words in WORDS[:40]]
    settings = {"c1": 0.0, "c2": 0.1, "max_iterations": 15, "all_possible_transitions": True}
    ours, theirs = SequenceTagger(**settings).fit(X, TAGS[:40]), CRF(**settings).fit(X, TAGS[:40])
    mine, other = ours.state_features_, theirs.state_features_
    assert max(abs(mine.get(pair, 0) - other.get(pair, 0)) for pair in mine.keys() | other.keys()) < 1e-5
    assert same(ours.predict(X), theirs.predict(X))


def test_a_model_of_feature_dicts_does_not_read_text() -> None:
    X = [[{"word": word} for word in words] for words in WORDS[:10]]
    tagger = SequenceTagger(max_iterations=2).fit(X, TAGS[:10]).tagger_
    for text in ("Seen by Dr. Quill.", "3", "null"):
        with pytest.raises(MismatchError):
            crfdeid.Deidentifier(tagger).annotate(text)


def test_words_tokens_sentences_and_arrays_give_the_same(trained: SequenceTagger) -> None:
    bare = [Sentence.from_words(words) for words in WORDS]
    tokens = [[Token(*token) for token in sentence.tokens] for sentence in bare]
    for X in (bare, tokens, [np.array(words) for words in WORDS], map(tuple, WORDS)):
        assert same(trained.predict(X), trained.predict(WORDS))
    assert same(trained.predict([[], ["Dr"], []])[::2], [[], []])
    assert same(trained.predict([]), [])
    of_dicts = SequenceTagger(**SETTINGS).fit(DICTS, TAGS)
    assert same(of_dicts.predict(DICTS), SequenceTagger(**SETTINGS).fit(SENTENCES, TAGS).predict(SENTENCES))


def test_predictions_of_sentences_of_one_length_are_an_array_of_lists(trained: SequenceTagger) -> None:
    found = trained.predict([["Dr", "Quill"], ["Seen", "today"]])
    assert found.shape == (2,) and isinstance(found[0], list)


def test_a_clone_has_all_parameters_and_no_model(trained: SequenceTagger) -> None:
    copy = clone(trained)
    assert copy.get_params() == trained.get_params() and copy.c1 == 0.1
    with pytest.raises(NotFittedError):
        copy.predict(WORDS)
    assert not hasattr(copy, "classes_") and not hasattr(copy, "state_features_")


def test_a_grid_chooses_a_setting_and_a_model() -> None:
    grid = [{"c1": [0.02, 50.0], "max_iterations": [25]}, {"model": ["rules"]}]
    search = GridSearchCV(SequenceTagger(), grid, cv=2).fit(WORDS, TAGS)
    crf, crf_of_few_features, rules = search.cv_results_["mean_test_score"]
    assert crf > crf_of_few_features
    best = {"model": "rules"} if rules > crf else {"c1": 0.02, "max_iterations": 25}
    assert (search.best_params_, search.best_score_) == (best, max(crf, rules))
    assert len(set(search.cv_results_["mean_test_score"])) == 3 and search.best_score_ > 0
    assert search.score(WORDS, TAGS) == search.best_estimator_.score(WORDS, TAGS)
    with pytest.raises(ValueError, match="All the 2 fits failed"):
        GridSearchCV(SequenceTagger(), {"no_such_setting": [1]}, cv=2).fit(WORDS, TAGS)
    with pytest.raises(UnknownNameError):
        SequenceTagger("no such model").fit(WORDS, TAGS)


def test_settings_of_a_numpy_grid_are_those_of_python() -> None:
    plain = SequenceTagger(max_iterations=3, c1=0.5, random_state=1).fit(WORDS[:20], TAGS[:20])
    grid = {"max_iterations": np.arange(3, 4), "c1": np.array([0.5], np.float32), "random_state": np.arange(1, 2)}
    found = GridSearchCV(SequenceTagger(), grid, cv=2, error_score="raise").fit(WORDS[:20], TAGS[:20]).best_estimator_
    assert found.transition_features_ == plain.transition_features_
    assert pickle.loads(pickle.dumps(found)).transition_features_ == plain.transition_features_


def test_cross_validation_predicts_each_sentence_by_a_model_that_has_not_seen_it() -> None:
    groups = [i % 3 for i in range(len(WORDS))]
    found = cross_val_predict(SequenceTagger(**SETTINGS), WORDS, TAGS, cv=GroupKFold(3), groups=groups)
    assert [len(tags) for tags in found] == [len(words) for words in WORDS]
    kept = [i for i, group in enumerate(groups) if group != 1]
    other = SequenceTagger(**SETTINGS).fit([WORDS[i] for i in kept], [TAGS[i] for i in kept])
    assert same(found[1::3], other.predict(WORDS[1::3]))


def test_development_sentences_choose_the_epoch_of_a_network() -> None:
    pytest.importorskip("jax", reason="the extra rnn is not installed")
    settings: dict[str, Any] = {"epochs": 3, "hidden": 8, "embedding_dim": 8}
    estimator = SequenceTagger("elman", random_state=3, **settings).fit(
        WORDS[:40], TAGS[:40], WORDS[40:60], TAGS[40:60]
    )
    plain = crfdeid.create("elman", seed=3, overrides=settings)
    bare = [
        crfdeid.documents.LabelledSentence(Sentence.from_words(words), tuple(tags))
        for words, tags in zip(WORDS[:60], TAGS, strict=False)
    ]
    plain.fit(bare[:40], bare[40:])
    assert same(estimator.predict(WORDS), plain.predict([Sentence.from_words(words) for words in WORDS]))
    with pytest.raises(AttributeError):
        estimator.state_features_  # noqa: B018
    assert same(pickle.loads(pickle.dumps(estimator)).predict(WORDS), estimator.predict(WORDS))


@pytest.mark.parametrize("X", [WORDS, DICTS], ids=["words", "dicts"])
def test_a_pickle_works_in_another_process(X: list[Any], tmp_path: Path) -> None:
    estimator = SequenceTagger(**SETTINGS).fit(X, TAGS)
    (tmp_path / "both").write_bytes(pickle.dumps((estimator, X)))
    code = (
        "import pickle, sys; e, X = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(pickle.dumps(e.predict(X)))"
    )
    with (tmp_path / "both").open("rb") as file:
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], stdin=file, capture_output=True, check=True)
    assert same(pickle.loads(done.stdout), estimator.predict(X))


@pytest.mark.parametrize("X", [WORDS, DICTS], ids=["words", "dicts"])
def test_a_private_vocabulary_shows_no_word(X: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = SequenceTagger(private_vocabulary=True, **SETTINGS)
    with pytest.raises(SecretError):
        estimator.fit(X, TAGS)
    secret = "0123456789abcdef0123456789abcdef"
    monkeypatch.setenv(SECRET_VARIABLE, secret)
    estimator.fit(X, TAGS)
    plain = SequenceTagger(**SETTINGS).fit(X, TAGS)
    assert same(estimator.predict(X), plain.predict(X))
    content = pickle.dumps(estimator)
    words = {word.lower() for row in WORDS for word in row if len(word) > 4 and word.isalpha()}
    shown = [pickle.dumps(plain).lower(), content.lower(), repr(estimator.state_features_).lower().encode()]
    counts = [sum(word.encode() in text for word in words) for text in shown]
    assert len(words) > 100 and counts[0] > 0.5 * len(words)
    other = [{"feature": "zz"}] if isinstance(X[0][0], dict) else ["zz"]
    without_words = pickle.dumps(clone(estimator).fit([other] * len(TAGS), [tags[:1] for tags in TAGS])).lower()
    tags_alone = {tag for row in TAGS for tag in row}
    words -= {word for word in words if word.encode() in without_words + repr(tags_alone).lower().encode()}
    assert not [word for word in words if any(word.encode() in text for text in shown[1:])]
    assert secret.encode() not in content
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name, _ in estimator.state_features_)
    assert same(pickle.loads(content).predict(X), estimator.predict(X))
    with pytest.raises(SecretError):
        pickle.dumps(estimator.set_params(private_vocabulary=False))
    monkeypatch.delenv(SECRET_VARIABLE)
    with pytest.raises(SecretError):
        pickle.loads(content)


@pytest.mark.parametrize(
    ("X", "y", "error"),
    [
        (["Dr", "Quill"], [["O"], ["O"]], FormatError),
        ([["Dr", 1]], [["O", "O"]], FormatError),
        ([["Dr", ""]], [["O", "O"]], FormatError),
        ([1.0], [["O"]], FormatError),
        ([[{"word": None}]], [["O"]], FormatError),
        ([[{1: "Dr"}]], [["O"]], FormatError),
        ([[{"length": 0.5}]], [["O"]], FormatError),
        ([[{"length": -1}]], [["O"]], FormatError),
        ([["Dr"], [{"word": "Quill"}]], [["O"], ["O"]], MismatchError),
        ([["Dr"]], [["O", "O"]], MismatchError),
        ([["Dr"]], [], MismatchError),
        ([["Dr"]], None, MismatchError),
        ([["Dr"]], ["O"], FormatError),
        ([["Dr"]], [["DOCTOR"]], FormatError),
        ([["Dr"]], [["B-"]], FormatError),
        ([["Dr"]], [[1]], FormatError),
        ([[]], [[]], DataError),
    ],
)
def test_malformed_sentences_and_tags_are_refused(X: Any, y: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as raised:
        SequenceTagger().fit(X, y)
    assert "Quill" not in str(raised.value)


def test_sentences_of_another_kind_than_those_of_the_training_are_refused(trained: SequenceTagger) -> None:
    with pytest.raises(MismatchError):
        trained.predict(DICTS)
    with pytest.raises(MismatchError):
        SequenceTagger(max_iterations=1).fit(DICTS, TAGS).predict(WORDS)
    with pytest.raises(MismatchError):
        SequenceTagger().fit(WORDS, TAGS, DICTS, TAGS)
    with pytest.raises(OptionConflictError):
        SequenceTagger("rules").fit(DICTS, TAGS)
    with pytest.raises(OptionConflictError):
        SequenceTagger().fit(WORDS, TAGS, X_dev=WORDS)


def test_names_that_crfsuite_cannot_hold_are_escaped() -> None:
    X = [[{"word": "a\0b\n\ud800", "é\0": True}, {"word": "c"}]]
    estimator = SequenceTagger(max_iterations=5).fit(X, [["B-ID", "O"]])
    assert same(estimator.predict(X), [["B-ID", "O"]])
    assert same(pickle.loads(pickle.dumps(estimator)).predict(X), [["B-ID", "O"]])


def test_the_examples_of_the_page_run_and_say_what_comes_out() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    cells: dict[str, Any] = {"__name__": "page"}
    exec(compile("".join(blocks), PAGE.name, "exec"), cells)
    tagger, X = cells["tagger"], cells["X"]
    assert tagger.predict_single(["Dr", "Fenwick"]) == ["O", "B-DOCTOR"] and tagger.score(X, cells["y"]) == 1.0
    weights = SequenceTagger(language=ALL_PACKS).fit(X, cells["y"]).transition_features_
    assert weights == pytest.approx(cells["crf"].transition_features_, abs=1e-6)


def word_features(words: list[str], i: int) -> dict[str, Any]:
    """As the tutorial of sklearn-crfsuite makes them: with False, and here with 0 too."""
    word = words[i]
    found = {"bias": 1.0, "lower": word.lower(), "end": word[-2:], "title": word.istitle(), "digit": word.isdigit()}
    around: dict[str, Any] = {"-1:title": words[i - 1].istitle(), "length": 2 * (len(word) > 4)} if i else {"BOS": True}
    return found | around | ({"EOS": True} if i == len(words) - 1 else {})


TUTORIAL_X = [[word_features(words, i) for i in range(len(words))] for words in WORDS[:40]]
TUTORIAL = {"algorithm": "lbfgs", "c1": 0.1, "c2": 0.1, "max_iterations": 40}


@pytest.mark.parametrize(
    "settings",
    [
        {"all_possible_transitions": True},
        {"all_possible_transitions": False, "min_freq": 2},
        {"all_possible_transitions": False, "all_possible_states": True, "c1": 0.0},
    ],
)
def test_the_tutorial_of_sklearn_crfsuite_has_its_weights(settings: dict[str, Any]) -> None:
    theirs = CRF(**(TUTORIAL | settings)).fit(TUTORIAL_X, TAGS[:40])
    ours = SequenceTagger(**(TUTORIAL | settings), verbose=False).fit(TUTORIAL_X, TAGS[:40])
    assert ours.attributes_ == theirs.attributes_
    for mine, other in (
        (ours.state_features_, theirs.state_features_),
        (ours.transition_features_, theirs.transition_features_),
    ):
        assert all(mine.get(pair, 0) == pytest.approx(weight, abs=1e-5) for pair, weight in other.items())
        assert all(abs(weight) < 1e-5 for pair, weight in mine.items() if pair not in other)
    assert [list(row) for row in ours.predict(TUTORIAL_X)] == [list(row) for row in theirs.predict(TUTORIAL_X)]
    for mine_row, their_row in zip(
        ours.predict_marginals_single(TUTORIAL_X[0]), theirs.predict_marginals_single(TUTORIAL_X[0]), strict=True
    ):
        assert mine_row == pytest.approx(their_row, abs=1e-6)
    assert 0 < ours.size_ == sum(map(len, ours.__getstate__()["tagger_"].values()))


def test_training_is_logged_on_request(caplog: pytest.LogCaptureFixture) -> None:
    for verbose in (False, True):
        caplog.clear()
        with caplog.at_level("INFO", logger="crfdeid"):
            SequenceTagger(max_iterations=3, verbose=verbose).fit(WORDS[:10], TAGS[:10])
        assert ("step 3 of 3" in caplog.text) == verbose


def test_another_algorithm_is_refused() -> None:
    with pytest.raises(SettingError):
        SequenceTagger(algorithm="ap").fit(WORDS[:3], TAGS[:3])


@pytest.mark.parametrize("tag", ["B-\ud800", "I-a\0b", "B-\0", "B-a\nb", "B-\x7f", "B-\u2028"])
def test_a_tag_that_is_no_name_is_refused(tag: str) -> None:
    with pytest.raises(FormatError) as caught:
        SequenceTagger(max_iterations=2).fit([["Dr", "Quill"]], [["O", tag]])
    assert caught.value.path == "sentence 1"
    with pytest.raises(FormatError):
        SequenceTagger(max_iterations=2).fit([["Dr", "Quill"]], [["O", "B-X"]]).score([["Quill"]], [[tag]])


@pytest.mark.parametrize("word", ["\ud800", "a\udfffb", "\0", "\ufdd0"])
def test_any_token_is_read_and_kept(word: str) -> None:
    y = [["O", "B-X"], ["O"]]
    for X in ([["Dr", word], ["seen"]], [[{"w": "Dr"}, {"w": word, word: True}], [{"w": "seen", f"x{word}": False}]]):
        tagger = SequenceTagger(max_iterations=20).fit(X, y)
        again = pickle.loads(pickle.dumps(tagger))
        assert [list(row) for row in again.predict(X)] == y
