"""What the tagger of a network does beyond the contract of every tagger: given vectors, best epoch, files."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from tiny_notes import DEV, FEW, SMALL, TRAIN, labelled

from crfdeid.errors import IntegrityError, OptionConflictError
from crfdeid.registry import create, load_tagger
from features.tokens import Sentence
from rnn import ElmanSettings, ElmanTagger, JordanSettings, JordanTagger
from rnn.decode import best_tags
from rnn.embeddings import WordVectors
from rnn.vocab import FIRST_WORD

pytestmark = pytest.mark.usefixtures("quickly_compiled")

KINDS = pytest.mark.parametrize(
    ("cls", "settings"),
    [(ElmanTagger, ElmanSettings), pytest.param(JordanTagger, JordanSettings, marks=pytest.mark.slow)],
)
VECTORS = WordVectors(
    ("Doe", "Poe", "new", "never", "</s>"), np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
)


@KINDS
@pytest.mark.parametrize("frozen", [False, True])
def test_a_network_starts_from_given_vectors_and_keeps_them_where_asked(cls, settings, frozen, tmp_path):
    tagger = cls(settings(**{**SMALL, "epochs": 2}, freeze_embeddings=frozen), vectors=VECTORS)
    assert tagger.settings.embedding_dim == 4
    tagger.fit(TRAIN, DEV)
    vocabulary = tagger.learned.processor.vocabulary
    assert "never" in vocabulary.words  # only the vectors have it
    before = np.asarray(tagger.initial(tagger.learned.processor).params["tables.words"])
    after = np.asarray(tagger.learned.params["tables.words"])
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
    with pytest.raises(OptionConflictError):
        create("crf", vectors=VECTORS)


@KINDS
def test_the_best_epoch_on_dev_is_kept_and_the_first_of_equals(cls, settings):
    """Stopping after the best epoch gives the same model: what follows it leaves no trace."""
    dev = [labelled("Dr Ann Roe left", "O B-DOCTOR I-DOCTOR O"), labelled("on 04 / 02", "O B-DATE I-DATE I-DATE")]
    curve = []
    whole = cls(settings(**SMALL, final_lr=1.0))
    whole.fit(FEW * 3, dev, on_progress=lambda progress: curve.append(progress.dev_f1))
    best = curve.index(max(curve)) + 1
    assert best < len(curve)
    stopped = cls(settings(**{**SMALL, "epochs": best}, final_lr=1.0))
    stopped.fit(FEW * 3, dev)
    sentences = [item.sentence for item in dev]
    for a, b in zip(whole.marginals(sentences), stopped.marginals(sentences), strict=True):
        np.testing.assert_array_equal(a, b)


def test_loss_falls_and_is_a_mean_over_tokens():
    curve = []
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 40}, word_dropout=0.0))
    tagger.fit(FEW, [], on_progress=curve.append)
    losses = [progress.loss for progress in curve]
    assert losses[-1] < 0.6 * losses[0]
    assert losses[0] < 2 * np.log(len(tagger.tags))
    assert all(progress.dev_f1 is None for progress in curve)


def test_predictions_are_valid_iob2_unless_asked_otherwise():
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 1}), seed=3)
    tagger.fit(FEW, [])
    random = np.random.default_rng(0)
    words = [word for item in FEW for word in item.sentence.words]
    sentences = [Sentence.from_words(random.choice(words, 12).tolist()) for _ in range(50)]
    for row in tagger.predict(sentences):
        for before, tag in zip(["O", *row], row, strict=False):
            assert not tag.startswith("I-") or before[2:] == tag[2:]


def test_prediction_finds_what_training_compiled_to_tag_the_dev_sentences():
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 1}))
    tagger.fit(FEW, FEW)
    compiled = best_tags._cache_size()
    tagger.predict([item.sentence for item in FEW])
    assert best_tags._cache_size() == compiled > 0


def test_arrays_of_another_shape_are_refused(tmp_path):
    """A description that was changed by hand after saving: the checksum of the weights still holds."""
    tagger = ElmanTagger(ElmanSettings(**SMALL))
    tagger.fit(FEW, [])
    tagger.save(tmp_path)
    path = tmp_path / "model.json"
    path.write_text(path.read_text().replace('"hidden": 8', '"hidden": 9'))
    with pytest.raises(IntegrityError):
        load_tagger(tmp_path)


def test_a_word_of_the_training_data_is_stored_only_when_it_has_a_vector(tmp_path):
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "min_count": 2}))
    tagger.fit([*FEW, labelled("Dr Poe called", "O B-DOCTOR O")], [])
    tagger.save(tmp_path)
    text = (tmp_path / "model.json").read_text()
    assert '"called"' in text and '"Jane"' not in text and '"Poe"' not in text


@pytest.mark.slow
def test_a_very_long_training_sentence_is_learned_to_its_end():
    """No truncation: what stands only in the second half of a sentence of 8,000 tokens is learned."""
    long = labelled("no name " * 2_000 + "Mr Quill " * 2_000, "O O " * 2_000 + "O B-PATIENT " * 2_000)
    tagger = ElmanTagger(ElmanSettings(**{**SMALL, "epochs": 12, "lr": 0.05}, word_dropout=0.0))
    tagger.fit([long, *FEW], [])
    assert tagger.predict([Sentence.from_words(["Mr", "Quill"])]) == [["O", "B-PATIENT"]]


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
        sentence = LabelledSentence(Sentence.from_words(["Dr", "Doe"]), ("O", "B-DOCTOR"))
        taggers = [ElmanTagger(ElmanSettings(epochs=1, hidden=4, embedding_dim=4), seed=seed) for seed in (0, 1)]
        ElmanTagger.fit_many(taggers, [sentence] * 4, [sentence])
        assert len(taggers[1].predict([sentence.sentence])[0]) == 2
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
