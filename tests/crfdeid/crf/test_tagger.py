"""The CRF against oracles that enumerate every tag sequence, and its files against damage."""

import hashlib
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest
from full_disk import file_size_limit
from scipy.optimize import minimize
from tiny_notes import tagged

from crfdeid.crf import tagger as crf_module
from crfdeid.crf.tagger import CrfTagger
from crfdeid.crf.training import CrfSettings, CrfWeights, read_crfsuite_model
from crfdeid.documents import LabelledSentence
from crfdeid.errors import (
    DataError,
    EmptyInputError,
    FormatError,
    IntegrityError,
    MissingExtraError,
    NotTrainedError,
    SettingError,
    WriteError,
)
from crfdeid.tagger import FitProgress
from crfdeid.utils.json import fields_checksum
from features import FEATURE_SETS, ContextWords, FeatureSet, PosUnavailable, Sentence, add_feature_set, feature_set

TRAIN = [
    tagged("seen/O by/O Quill/B-NAME"),
    tagged("Orla/B-NAME Quill/I-NAME seen/O"),
    tagged("by/O Quill/O"),
    tagged("Orla/B-NAME"),
]
TAGS = ("B-NAME", "I-NAME", "O")
SENTENCES = [item.sentence for item in TRAIN] + [Sentence.from_words(["new", "Orla", "seen", "Quill"])]
WORDS_ONLY = CrfSettings(features="paper", pos="none", c1=0.0, c2=0.5, max_iterations=1000, all_possible_states=True)


def fitted(settings: CrfSettings = WORDS_ONLY, train: list[LabelledSentence] = TRAIN) -> CrfTagger:
    tagger = CrfTagger(settings)
    tagger.fit(train, [])
    return tagger


def sequences(length: int) -> list[tuple[int, ...]]:
    return list(itertools.product(range(len(TAGS)), repeat=length))


def all_scores(states: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    """The score of every tag sequence, in the order of `sequences`, from state scores [T, K] and transitions [K, K]."""
    return np.array(
        [
            sum(states[t, k] for t, k in enumerate(tags)) + sum(transitions[a, b] for a, b in itertools.pairwise(tags))
            for tags in sequences(len(states))
        ]
    )


def enumerated_marginals(states: np.ndarray, transitions: np.ndarray) -> np.ndarray:
    scores = all_scores(states, transitions)
    probabilities = np.exp(scores - scores.max())
    probabilities /= probabilities.sum()
    table = np.zeros_like(states)
    for tags, probability in zip(sequences(len(states)), probabilities, strict=True):
        table[range(len(tags)), tags] += probability
    return table


class CrfPlusPlus:
    """CRF++'s objective by brute force: -sum log p(y | x) + ||w||^2 / (2 C), every feature with every tag."""

    def __init__(self, train: list[LabelledSentence], *, cost: float) -> None:
        extract = feature_set("paper", pos="none").extract
        rows = [extract(item.sentence) for item in train]
        self.names = {name: i for i, name in enumerate(sorted({f for row in rows for names in row for f in names}))}
        self.data = [(self.incidence(item.sentence), [TAGS.index(tag) for tag in item.tags]) for item in train]
        self.cost = cost

    def incidence(self, sentence: Sentence) -> np.ndarray:
        rows = feature_set("paper", pos="none").extract(sentence)
        table = np.zeros((len(rows), len(self.names)))
        for t, row in enumerate(rows):
            for name in row:
                if name in self.names:
                    table[t, self.names[name]] += 1
        return table

    def split(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count = len(self.names) * len(TAGS)
        return weights[:count].reshape(len(self.names), len(TAGS)), weights[count:].reshape(len(TAGS), len(TAGS))

    def objective(self, weights: np.ndarray) -> float:
        emission, transitions = self.split(weights)
        total = weights @ weights / (2 * self.cost)
        for incidence, gold in self.data:
            scores = all_scores(incidence @ emission, transitions)
            top = scores.max()
            total += top + np.log(np.exp(scores - top).sum()) - scores[sequences(len(gold)).index(tuple(gold))]
        return float(total)

    def gradient(self, weights: np.ndarray) -> np.ndarray:
        emission, transitions = self.split(weights)
        to_emission, to_transitions = emission / self.cost, transitions / self.cost
        for incidence, gold in self.data:
            scores = all_scores(incidence @ emission, transitions)
            probabilities = np.exp(scores - scores.max())
            probabilities /= probabilities.sum()
            for tags, probability in zip(sequences(len(gold)), probabilities, strict=True):
                excess = probability - (tags == tuple(gold))
                for t, k in enumerate(tags):
                    to_emission[:, k] += excess * incidence[t]
                for a, b in itertools.pairwise(tags):
                    to_transitions[a, b] += excess
        return np.concatenate([to_emission.ravel(), to_transitions.ravel()])

    def marginals(self, sentences: list[Sentence]) -> list[np.ndarray]:
        start = np.zeros(len(self.names) * len(TAGS) + len(TAGS) ** 2)
        best = minimize(
            self.objective, start, jac=self.gradient, method="L-BFGS-B", options={"gtol": 1e-8, "ftol": 1e-15}
        )
        emission, transitions = self.split(best.x)
        return [enumerated_marginals(self.incidence(s) @ emission, transitions) for s in sentences]


def test_the_paper_profile_minimises_the_objective_of_crf_plus_plus_with_its_default_cost() -> None:
    paper = replace(CrfTagger.profiles()["yadav2016"], pos="none")
    expected = CrfPlusPlus(TRAIN, cost=1.0).marginals(SENTENCES)
    for found, table in zip(fitted(paper).marginals(SENTENCES), expected, strict=True):
        np.testing.assert_allclose(found, table, atol=2e-3)


def test_another_cost_is_another_penalty() -> None:
    expected = CrfPlusPlus(TRAIN, cost=4.0).marginals(SENTENCES)
    right, wrong = (fitted(replace(WORDS_ONLY, c2=c2)).marginals(SENTENCES) for c2 in (1 / 8, 0.5))
    assert max(abs(a - b).max() for a, b in zip(right, expected, strict=True)) < 2e-3
    assert max(abs(a - b).max() for a, b in zip(wrong, expected, strict=True)) > 2e-2


def fitted_beside_crfsuite(
    settings: CrfSettings, monkeypatch: pytest.MonkeyPatch
) -> tuple[CrfTagger, pycrfsuite.Tagger]:
    """A tagger, and CRFsuite's own with the model that it was made from."""
    files: list[bytes] = []

    def read(content: bytes) -> CrfWeights:
        files.append(content)
        return read_crfsuite_model(content)

    monkeypatch.setattr("crfdeid.crf.training.read_crfsuite_model", read)
    tagger = fitted(settings)
    peer = pycrfsuite.Tagger()
    peer.open_inmemory(files[0])
    return tagger, peer


@pytest.mark.parametrize(
    "settings",
    [WORDS_ONLY, CrfSettings(c1=0.01, c2=0.01, max_iterations=50), CrfSettings(all_possible_transitions=False, c1=0)],
)
def test_prediction_and_marginals_agree_with_the_enumeration_of_all_sequences(
    settings: CrfSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger, peer = fitted_beside_crfsuite(settings, monkeypatch)
    weights = peer.info()
    transitions = np.array([[weights.transitions.get((a, b), 0.0) for b in TAGS] for a in TAGS])
    for sentence, tags, table in zip(SENTENCES, tagger.predict(SENTENCES), tagger.marginals(SENTENCES), strict=True):
        states = np.array(
            [
                [sum(weights.state_features.get((f, tag), 0.0) for f in row) for tag in TAGS]
                for row in tagger.features.extract(sentence)
            ]
        )
        scores = all_scores(states, transitions)
        assert scores[sequences(len(tags)).index(tuple(TAGS.index(tag) for tag in tags))] == pytest.approx(
            scores.max(), abs=1e-4
        )
        np.testing.assert_allclose(table, enumerated_marginals(states, transitions), atol=1e-4)


def test_tags_and_marginals_are_those_of_crfsuite(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger, peer = fitted_beside_crfsuite(CrfSettings(max_iterations=30), monkeypatch)
    sentences = [*SENTENCES, Sentence.from_words(["Dr", "Zxqv", "é", "\u200b", "12", "Doe"] * 20), SENTENCES[0]]
    for sentence, tags, table in zip(sentences, tagger.predict(sentences), tagger.marginals(sentences), strict=True):
        rows = tagger.features.extract(sentence)
        assert tags == peer.tag(rows)
        peer.set(rows)
        expected = [[peer.marginal(tag, t) for tag in tagger.tags] for t in range(len(rows))]
        np.testing.assert_allclose(table, expected, rtol=0, atol=1e-12)


def test_the_weights_are_those_that_crfsuite_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    tagger, peer = fitted_beside_crfsuite(CrfSettings(max_iterations=30), monkeypatch)
    learned = tagger._learned
    assert learned is not None
    printed = peer.info()
    found = {
        (name, tag): learned.state[row, k]
        for row, name in enumerate(learned.names)
        for k, tag in enumerate(tagger.tags)
        if learned.state[row, k]
    }
    assert found.keys() == printed.state_features.keys()
    assert all(abs(found[key] - weight) < 1e-6 for key, weight in printed.state_features.items())
    for (a, b), weight in printed.transitions.items():
        assert abs(learned.transitions[tagger.tags.index(a), tagger.tags.index(b)] - weight) < 1e-6


def test_what_crfsuite_cannot_hold_is_told_apart_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    train = [tagged("by/O a\0b/B-NAME"), tagged("by/O a\0c/O"), tagged("by/O a\ud800/B-NAME"), tagged("a/O")]
    tagger = fitted(CrfSettings(c1=0), train)
    assert tagger.predict([item.sentence for item in train]) == [list(item.tags) for item in train]


def in_documents(*texts: str) -> list[LabelledSentence]:
    return [replace(tagged(text), document=str(number)) for number, text in enumerate(texts)]


def test_a_feature_that_too_few_documents_have_is_dropped() -> None:
    train = in_documents("Mr/O Quill/B-NAME sleeps/O", "Mr/O Roe/B-NAME sleeps/O", "Mr/O Quill/B-NAME rests/O")
    train += [replace(item, document="1") for item in in_documents("Roe/B-NAME Roe/I-NAME")]
    tagger = fitted(CrfSettings(min_documents=2, c1=0), train)
    words = {name for name in tagger._learned.names if name.startswith("lower[0]=")}
    assert words == {"lower[0]=mr", "lower[0]=quill", "lower[0]=sleeps"}


def test_columns_of_the_marginals_are_the_sorted_tags() -> None:
    tagger = fitted()
    assert tagger.tags == TAGS
    table = tagger.marginals([SENTENCES[0]])[0]
    assert table.shape == (3, 3)
    np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-9)
    assert [TAGS[k] for k in table.argmax(axis=1)] == ["O", "O", "B-NAME"]


def test_the_same_data_give_the_same_file_whatever_the_seed_and_however_often(tmp_path: Path) -> None:
    for seed in (0, 7):
        tagger = CrfTagger(seed=seed)
        tagger.fit(TRAIN * 2, [])
        tagger.fit(TRAIN, TRAIN)
        tagger.save(tmp_path / str(seed))
    files = [(tmp_path / str(seed) / "weights.npz").read_bytes() for seed in (0, 7)]
    assert files[0] == files[1]


def test_a_single_tag_is_enough() -> None:
    tagger = fitted(CrfSettings(), [tagged("rest/O at/O home/O")])
    assert tagger.tags == ("O",)
    assert tagger.predict(SENTENCES[:1]) == [["O", "O", "O"]]
    np.testing.assert_allclose(tagger.marginals(SENTENCES[:1])[0], 1)


def test_nothing_to_train_on_is_refused() -> None:
    for train in ([], [LabelledSentence(Sentence(()), ())]):
        with pytest.raises(EmptyInputError):
            fitted(train=train)


def test_sentences_without_tokens() -> None:
    tagger = fitted(CrfSettings())
    assert tagger.predict([]) == tagger.marginals([]) == []
    assert tagger.predict([Sentence(())]) == [[]]
    assert tagger.marginals([Sentence(())])[0].shape == (0, 3)


def test_words_that_no_text_encoding_holds_are_tagged_too() -> None:
    assert len(fitted().predict([Sentence.from_words(["\ud800", "\x00", "🙂"])])[0]) == 3


def test_an_untrained_tagger_says_so(tmp_path: Path) -> None:
    for use in (lambda t: t.predict([]), lambda t: t.marginals([]), lambda t: t.save(tmp_path)):
        with pytest.raises(NotTrainedError):
            use(CrfTagger())
    assert CrfTagger().tags == ()


def test_progress_counts_the_iterations() -> None:
    steps: list[FitProgress] = []
    CrfTagger(CrfSettings(max_iterations=5)).fit(TRAIN, [], on_progress=steps.append)
    assert [(step.step, step.total) for step in steps] == [(i, 5) for i in range(1, 6)]


def test_threads_that_share_a_tagger_do_not_mix_their_sentences() -> None:
    tagger = fitted()
    expected = tagger.marginals(SENTENCES)
    wrong: list[int] = []

    def work() -> None:
        for _ in range(30):
            found = tagger.marginals(SENTENCES)
            wrong.extend(i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if not np.array_equal(a, b))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": "weak"}, "features 'weak'.*paper, strong"),
        ({"pos": "stanford"}, "pos 'stanford'.*textblob, nltk, none"),
        ({"c1": -1.0}, "c1 is -1.0"),
        ({"c2": float("nan")}, "c2 is nan"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"min_freq": -1}, "min_freq is -1"),
        ({"min_documents": 0}, "min_documents is 0"),
        ({"num_memories": 0}, "num_memories is 0"),
    ],
)
def test_settings_that_cannot_work_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        CrfSettings(**change)  # type: ignore[arg-type]


def test_a_part_of_speech_tagger_that_cannot_run_is_the_users_choice_to_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(name: str, *, pos: str) -> None:
        raise PosUnavailable(f"{pos} needs its data")

    monkeypatch.setattr(crf_module, "feature_set", unavailable)
    with pytest.raises(MissingExtraError):
        CrfTagger(CrfSettings(pos="nltk"))


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    tagger = fitted(CrfSettings(c2=0.3))
    tagger.save(tmp_path / "new" / "folder")
    again = CrfTagger.load(tmp_path / "new" / "folder")
    assert (again.settings, again.tags) == (tagger.settings, tagger.tags)
    assert again.predict(SENTENCES) == tagger.predict(SENTENCES)
    assert all(map(np.array_equal, again.marginals(SENTENCES), tagger.marginals(SENTENCES)))
    again.save(tmp_path / "copy")
    for name in ("model.json", "weights.npz"):
        assert (tmp_path / "copy" / name).read_bytes() == (tmp_path / "new" / "folder" / name).read_bytes()


def damage_truncate(folder: Path) -> None:
    path = folder / "weights.npz"
    path.write_bytes(path.read_bytes()[:-100])


def damage_flip(folder: Path) -> None:
    path = folder / "weights.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


def damage_description(**changes: object):
    def damage(folder: Path) -> None:
        path = folder / "model.json"
        description = json.loads(path.read_text()) | changes
        path.write_text(json.dumps(description | {"sha256": fields_checksum(description)}))

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        damage_truncate,
        damage_flip,
        lambda folder: (folder / "weights.npz").write_bytes(b""),
        lambda folder: (folder / "weights.npz").unlink(),
        lambda folder: (folder / "model.json").unlink(),
        lambda folder: (folder / "model.json").write_text("{"),
        lambda folder: (folder / "model.json").write_text("[]"),
        lambda folder: (folder / "model.json").write_bytes(b"\xff\xfe"),
        damage_description(model="elman"),
        damage_description(schema=99),
        damage_description(settings={"hidden": 100}),
        damage_description(settings={"c1": -1}),
        damage_description(settings={"c1": "much"}),
        damage_description(weights=None),
        damage_description(seed="x"),
    ],
)
def test_a_damaged_or_foreign_model_is_refused(damage, tmp_path: Path) -> None:
    fitted().save(tmp_path)
    damage(tmp_path)
    with pytest.raises(DataError, match=r"json|npz"):
        CrfTagger.load(tmp_path)


def test_small_weights_are_dropped_and_the_others_halves(tmp_path: Path) -> None:
    whole, small = (fitted(CrfSettings(max_iterations=20, min_weight=least)) for least in (0.0, 0.05))
    weights = dict(zip(whole.learned.names, whole.learned.state, strict=True))
    expected = {name: np.where(np.abs(row) < 0.05, 0, np.float16(row)) for name, row in weights.items()}
    assert small.learned.names == tuple(name for name, row in expected.items() if row.any()) != whole.learned.names
    np.testing.assert_array_equal(small.learned.state, [expected[name] for name in small.learned.names])
    for number, tagger in enumerate((whole, small)):
        tagger.save(tmp_path / str(number))
        loaded = CrfTagger.load(tmp_path / str(number))
        np.testing.assert_array_equal(loaded.learned.state, tagger.learned.state)
        assert loaded.learned.names == tagger.learned.names
    kinds = [np.load(tmp_path / name / "weights.npz")["values"].dtype for name in "01"]
    assert kinds == [np.float64, np.float16]


def replace_weights(folder: Path, weights: bytes) -> None:
    """Put other weights into a saved model, with the right checksum."""
    (folder / "weights.npz").write_bytes(weights)
    digest = hashlib.sha256(weights).hexdigest()
    damage_description(weights={"file": "weights.npz", "bytes": len(weights), "sha256": digest})(folder)


def change_array(name: str, change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        with np.load(folder / "weights.npz") as arrays:
            changed = {key: change(arrays[key]) if key == name else arrays[key] for key in arrays.files}
        buffer = io.BytesIO()
        np.savez(buffer, **changed)
        replace_weights(folder, buffer.getvalue())

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: replace_weights(folder, b"not a model at all" * 10),
        lambda folder: replace_weights(folder, b""),
        change_array("values", lambda a: a[1:]),
        change_array("values", lambda a: a * np.nan),
        change_array("values", lambda a: np.array(["x"] * len(a))),
        change_array("values", lambda a: np.array([{}], object)),  # pickled, which must never be read
        change_array("columns", lambda a: a[1:]),
        change_array("columns", lambda a: a + 200),
        change_array("columns", lambda a: a.astype(float)),
        change_array("counts", lambda a: a[1:]),
        change_array("counts", lambda a: a + 1),
        change_array("counts", lambda a: -a.astype(int)),
        change_array("transitions", lambda a: a[1:]),
        change_array("transitions", lambda a: a / 0.0),
        change_array("names", lambda a: a[:-1]),
        change_array("names", lambda a: a | 0x80),
        change_array("lengths", lambda a: a[:-1]),
        change_array("lengths", lambda a: a + 1),
        change_array("lengths", lambda a: a.astype(float)),
        change_array("lengths", lambda a: a.reshape(1, -1)),
        change_array("lengths", lambda a: np.float64(3)),
        damage_description(tags=["O"]),
        damage_description(tags=None),
        damage_description(tags=3),
        damage_description(tags=[1, 2, 3]),
        damage_description(tags=["O", "O", "B-NAME"]),
        damage_description(tags={"O": 1, "B-NAME": 2, "I-NAME": 3}),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_contents_that_do_not_fit_are_refused_though_the_checksum_is_right(damage, tmp_path: Path) -> None:
    fitted().save(tmp_path)
    damage(tmp_path)
    with pytest.raises(IntegrityError):
        CrfTagger.load(tmp_path)


@pytest.mark.parametrize("room", [0, 4, 44, 1000])
def test_a_full_temporary_folder_is_named(room: int) -> None:
    with (
        file_size_limit(room),
        pytest.raises(WriteError) as refused,
    ):
        fitted()
    assert refused.value.path == tempfile.gettempdir()


TRAINS_FOR_EVER = """
import sys
from crfdeid.crf import CrfSettings, CrfTagger
from crfdeid.documents import LabelledSentence
from features.tokens import Sentence

tagger = CrfTagger(CrfSettings(max_iterations=10**6))
sentences = [LabelledSentence(Sentence.from_words(["Quill", str(n)]), ("B-NAME", "O")) for n in range(50)]

def stop(progress):
    print("training", flush=True)
    sys.stdin.read()

tagger.fit(sentences, [], on_progress=stop)
"""


def test_a_training_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRAINS_FOR_EVER]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None and process.stdout.readline() == b"training\n"
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_a_set_of_ones_own_is_known_by_its_name_and_asked_for_when_a_model_is_loaded(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="the library has a feature set 'strong'"):
        add_feature_set(FeatureSet("strong", ()))
    monkeypatch.setitem(FEATURE_SETS, "mine", None)  # taken away again afterwards
    add_feature_set(FeatureSet("mine", (ContextWords(window=0),)))
    sentence = Sentence.from_words(["Dr", "Doe"])
    tagger = CrfTagger(CrfSettings(features="mine"))
    tagger.fit([LabelledSentence(sentence, ("O", "B-DOCTOR"))], [])
    tagger.save(tmp_path)
    assert CrfTagger.load(tmp_path).predict([sentence]) == [["O", "B-DOCTOR"]]
    del FEATURE_SETS["mine"]
    with pytest.raises(FormatError) as caught:
        CrfTagger.load(tmp_path)
    assert Path(str(caught.value.path)).name == "model.json"
