"""Replicates trained together end up as each would alone, and scores from arrays are those from tags."""

import dataclasses
import subprocess
import sys
import textwrap

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rnn.replicates import fit_together
from rnn.scoring import count_tag_ids

from crfdeid.documents import LabelledSentence
from crfdeid.errors import DataError, UsageError
from crfdeid.models import create, load_tagger
from crfdeid.scoring import count_tags
from features.tokens import Sentence
from rnn import ElmanSettings, ElmanTagger, JordanSettings, JordanTagger
from rnn.batches import FIRST_WORD
from rnn.embeddings import WordVectors

SMALL = {"hidden": 8, "embedding_dim": 6, "window": 3, "lr": 0.2, "epochs": 6, "min_count": 1}
KINDS = pytest.mark.parametrize(("cls", "settings"), [(ElmanTagger, ElmanSettings), (JordanTagger, JordanSettings)])
NAMES = ("Doe", "Poe", "Quill", "Marsh", "Vole", "Oda")


def labelled(words: str, tags: str) -> LabelledSentence:
    return LabelledSentence(Sentence.from_words(words.split()), tuple(tags.split()))


def some_sentences(seed: int, count: int) -> list[LabelledSentence]:
    random = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        name, day = NAMES[random.integers(len(NAMES))], random.integers(10, 30)
        found.append(labelled(f"Dr {name} called", "O B-DOCTOR O"))
        found.append(
            labelled(f"seen on 03 / {day} by {name} , no new complaints", "O O B-DATE I-DATE I-DATE O B-DOCTOR O O O O")
        )
    return found


TRAIN, DEV = some_sentences(0, 30), some_sentences(1, 8)
VECTORS = WordVectors(
    ("Doe", "Poe", "new", "never", "</s>"), np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
)


def weights_of(tagger):
    return jax.tree.map(np.asarray, tagger.learned.weights)


@KINDS
@pytest.mark.parametrize("frozen", [False, True])
def test_replicates_end_up_as_each_would_alone(cls, settings, frozen):
    base = settings(**SMALL, freeze_embeddings=frozen)
    each = [
        base,
        dataclasses.replace(base, lr=0.05, dropout=0.1),
        dataclasses.replace(base, max_norm=None, final_lr=1.0),
    ]
    alone = [cls(one, seed=seed) for seed, one in enumerate(each)]
    curves = [[] for _ in each]
    for tagger, curve in zip(alone, curves, strict=True):
        tagger.fit(TRAIN, DEV, on_progress=curve.append)
    side_by_side = [cls(one, seed=seed) for seed, one in enumerate(each)]
    told = [[] for _ in each]
    fit_together(side_by_side, TRAIN, DEV, on_progress=lambda n, progress: told[n].append(progress))
    sentences = [item.sentence for item in DEV]
    for one, other, curve, progress in zip(alone, side_by_side, curves, told, strict=True):
        assert [point.dev_f1 for point in curve] == [point.dev_f1 for point in progress]
        np.testing.assert_allclose([p.loss for p in curve], [p.loss for p in progress], rtol=1e-4)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4), weights_of(one), weights_of(other)
        )
        assert one.predict(sentences) == other.predict(sentences)


def test_replicates_differ_and_keep_their_own_best_epoch():
    taggers = [ElmanTagger(ElmanSettings(**SMALL), seed=seed) for seed in range(3)]
    fit_together(taggers, TRAIN, DEV)
    tables = [weights_of(tagger).table for tagger in taggers]
    assert not np.allclose(tables[0], tables[1]) and not np.allclose(tables[1], tables[2])


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ([JordanTagger(JordanSettings(**SMALL))], "elman and jordan networks"),
        ([ElmanTagger(ElmanSettings(**{**SMALL, "hidden": 9}))], "hidden is 8 in replicate 1 and 9 in replicate 2"),
        ([ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 7}))], "epochs is 6"),
        ([ElmanTagger(ElmanSettings(**SMALL), vectors=VECTORS)], "different word vectors"),
    ],
)
def test_what_cannot_be_trained_together_is_refused(others, says):
    with pytest.raises(UsageError, match=says):
        fit_together([ElmanTagger(ElmanSettings(**SMALL)), *others], TRAIN, DEV)


def test_nothing_to_train_is_refused_or_nothing():
    fit_together([], TRAIN, DEV)
    with pytest.raises(DataError, match="no tokens"):
        fit_together([ElmanTagger(ElmanSettings(**SMALL))], [], DEV)


@KINDS
@pytest.mark.parametrize("frozen", [False, True])
def test_a_network_starts_from_given_vectors_and_keeps_them_where_asked(cls, settings, frozen, tmp_path):
    start = settings(**{**SMALL, "epochs": 2}, freeze_embeddings=frozen)
    tagger = cls(start, vectors=VECTORS)
    assert tagger.settings.embedding_dim == 4
    tagger.fit(TRAIN, DEV)
    vocabulary = tagger.learned.vocabulary
    assert "never" in vocabulary.words  # only the vectors have it
    before = np.asarray(tagger.initial(tagger.tags, vocabulary).weights.table)[0]
    after = weights_of(tagger).table[0]
    seen, unseen = (FIRST_WORD + vocabulary.words.index(word) for word in ("Doe", "never"))
    given = VECTORS.table * (before[seen] / VECTORS.table[0])[0]
    np.testing.assert_allclose(before[[seen, unseen]], given[[0, 3]], rtol=1e-5)
    np.testing.assert_array_equal(after[unseen], before[unseen])
    assert (after[seen] == before[seen]).all() == frozen
    tagger.save(tmp_path)
    words = [Sentence.from_words(["Dr", "never", "called"])]
    np.testing.assert_array_equal(load_tagger(tmp_path).marginals(words)[0], tagger.marginals(words)[0])


def test_vectors_for_a_model_without_any_are_refused():
    assert create("elman", vectors=VECTORS).vectors is VECTORS
    with pytest.raises(UsageError, match="no word vectors"):
        create("crf", vectors=VECTORS)


TAGS = ("O", "B-ID", "I-ID", "B-DATE", "I-DATE")


@given(st.data())
def test_scores_from_arrays_are_those_from_tags(data):
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    total, replicates = sum(lengths), data.draw(st.integers(1, 3))
    ids = st.lists(st.integers(0, len(TAGS) - 1), min_size=total, max_size=total)
    gold = np.array(data.draw(ids))
    predicted = np.array([data.draw(ids) for _ in range(replicates)])
    ends = np.cumsum(lengths)
    first = np.isin(np.arange(total), ends - lengths)

    def rows(found):
        return [tuple(TAGS[k] for k in part) for part in np.split(found, ends[:-1])]

    expected = [count_tags(rows(gold), rows(found)) for found in predicted]
    assert count_tag_ids(TAGS, gold, predicted, first) == expected


@pytest.mark.slow
def test_training_needs_none_of_the_other_layers_libraries():
    """A machine with an accelerator may have JAX and NumPy alone."""
    code = """
        import sys
        blocked = "sklearn_crfsuite pycrfsuite nltk textblob gensim faker pandas tabulate matplotlib jinja2 tqdm"
        sys.modules.update(dict.fromkeys([*blocked.split(), "defusedxml"]))
        from crfdeid.documents import LabelledSentence
        from features.tokens import Sentence
        from rnn import ElmanSettings, ElmanTagger
        from rnn.replicates import fit_together
        sentence = LabelledSentence(Sentence.from_words(["Dr", "Doe"]), ("O", "B-DOCTOR"))
        taggers = [ElmanTagger(ElmanSettings(epochs=1, hidden=4, embedding_dim=4), seed=seed) for seed in (0, 1)]
        fit_together(taggers, [sentence] * 4, [sentence])
        assert len(taggers[1].predict([sentence.sentence])[0]) == 2
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
