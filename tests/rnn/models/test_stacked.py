"""The stacked model's promise: nothing of a hidden word reaches what reads concepts, in training as in prediction."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_joint import BOTH, CONCEPTS_ALONE, PHI_ALONE, SMALL

from crfdeid.documents import CONCEPT, PHI, LabelledSentence
from crfdeid.registry import load_tagger
from features.tokens import Sentence
from rnn.batching import make_batch
from rnn.embeddings.vectors import WordVectors
from rnn.models.stacked import (
    StackedSettings,
    StackedTagger,
    exclude_phi_words,
    gumbel_softmax,
    strip_prefix,
    without_phi,
)
from rnn.network import PHI_TAG_IDS, embedding_lookup, inference_scores
from rnn.vocab import FIRST_WORD, Vocabulary

pytestmark = pytest.mark.usefixtures("quickly_compiled")
T = 8
APART = [*PHI_ALONE, *CONCEPTS_ALONE]


@cache
def started() -> StackedTagger:
    """With its initial weights, which are drawn; for two corpora that share no text: PHI alone, and concepts alone."""
    tagger = StackedTagger(StackedSettings(**SMALL, context=1))
    tagger.learned = tagger.initial(tagger.processor(APART))
    return tagger


def spread(row, length=T):
    """A row's inputs as those of one sentence padded to a length."""
    return {name: jnp.asarray(array[0]) for name, array in make_batch([row], length=length).inputs.items()}


@jax.jit
def concept_scores(inputs, length, decided):
    """In training, with the tags that the noise would sample: the emissions, and the gradient of the loss of some tags.

    The sampled tags and the soft ones of the gradient are those of a Gumbel softmax whose noise decides these tags.
    """
    learned = started().learned

    def loss(params):
        network = learned.structure.network(params)
        vectors = embedding_lookup(network, params, inputs)
        phi = network.phi.scores(vectors, inputs, length)[PHI]
        gumbel = 1e4 * jax.nn.one_hot(decided, phi.emissions.shape[1]) * (decided >= 0)[:, None]
        scores = network.concept(
            strip_prefix(vectors),
            strip_prefix(inputs),
            decided=jnp.argmax(phi.emissions + gumbel, axis=1),
            soft=gumbel_softmax(phi.emissions, gumbel, network.temperature),
        )
        return scores.loss(jnp.zeros(T, int), length), scores.emissions

    gradient, emissions = jax.grad(loss, has_aux=True)(learned.params)
    own = {n: a for n, a in gradient.items() if n.startswith(("network.concept.", "tables.concept "))}
    phi = {n.removeprefix("network.phi."): a for n, a in gradient.items() if n.startswith("network.phi.")}
    return emissions, own, phi


@jax.jit
def concept_scores_given(inputs, length):
    """In prediction, with the decided tags among the inputs."""
    learned = started().learned
    return inference_scores(learned.structure, learned.params, inputs, length)[CONCEPT].emissions


many_scores_given = jax.jit(jax.vmap(concept_scores_given))
WORDS = st.one_of(st.text(min_size=1, max_size=30), st.sampled_from(["Quill", "aspirin", "iron", "3", "-", "DOCTOR"]))


@settings(max_examples=20)
@given(data=st.data())
def test_no_bit_of_a_hidden_word_reaches_the_concepts(data):
    """Whatever stands there, before it or in another sentence of the note: scores and gradients are the same bits."""
    tagger = started()
    tags = tagger.learned.processor.tags[PHI]
    words = data.draw(st.lists(WORDS, min_size=1, max_size=T - 2))
    decided = data.draw(st.lists(st.integers(0, len(tags) - 1), min_size=len(words), max_size=len(words)))
    others = [data.draw(WORDS) if tags[k] != "O" else word for k, word in zip(decided, words, strict=True)]
    ids = np.pad(np.array(decided, np.int32), (0, T - len(words)))
    found = []
    for read in (words, others):
        note = Sentence.from_words(["before", *read, "after"]).tokens
        sentence = Sentence(note[1:-1], heading=read[0], line_prefix=read[-1], note=note, note_start=1)
        inputs = spread(*tagger.learned.processor.rows([sentence]))
        training, gradients, _ = concept_scores(inputs, np.int32(len(read)), jnp.asarray(ids))
        given = concept_scores_given({**inputs, PHI_TAG_IDS: jnp.asarray(ids)}, np.int32(len(read)))
        np.testing.assert_allclose(training[: len(read)], given[: len(read)], atol=1e-6)
        leaves = jax.tree.leaves(gradients)
        assert any(np.asarray(leaf).any() for leaf in leaves)
        found.append([np.asarray(array).tobytes() for array in (training, given, *leaves)])
    assert found[0] == found[1]


def test_a_word_that_is_not_hidden_reaches_them():
    """The test above can fail."""
    outside = np.full(T, started().tags.index("O"), np.int32)
    found = []
    for word in ("aspirin", "iron"):
        inputs = spread(*started().learned.processor.rows([Sentence.from_words(["Dr", word])]))
        found.append(concept_scores_given({**inputs, PHI_TAG_IDS: jnp.asarray(outside)}, np.int32(2))[:2])
    assert np.abs(found[0] - found[1]).min() > 0


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_mask_falls_on_the_tokens_that_it_was_computed_for(size):
    """Each row of a batch, whatever the others are and however it is padded, has what it has alone."""
    tagger = started()
    random = np.random.default_rng(size)
    words = [list(random.choice(["Dr", "Quill", "iron", "03", "x"], n)) for n in random.integers(1, T, size)]
    rows = tagger.learned.processor.rows([Sentence.from_words(row) for row in words])
    ids = [random.integers(0, len(tagger.tags), len(row)).astype(np.int32) for row in words]
    rows = [row._replace(inputs={**row.inputs, PHI_TAG_IDS: own}) for row, own in zip(rows, ids, strict=True)]
    batch = make_batch(rows, length=T, size=6)
    together = many_scores_given(batch.inputs, batch.lengths)
    for row, found in zip(rows, together, strict=False):
        alone = concept_scores_given(spread(row), np.int32(row.length))
        np.testing.assert_allclose(found[: row.length], alone[: row.length], atol=1e-6)


def test_what_is_hidden_is_what_is_reported():
    """The tags that `predict` gives, given as decided, lead to the same concepts; others to other scores."""
    tagger, sentences = started(), [item.sentence for item in BOTH]
    found = tagger.predict_layers(sentences)
    assert found[PHI] == tagger.predict(sentences)
    assert tagger.predict_layers(sentences, phi=found[PHI]) == found
    with_unknown = [["B-NEVER"] * len(item.tags) for item in BOTH]
    assert tagger.predict_layers(sentences, phi=with_unknown)[PHI] == with_unknown
    with pytest.raises(ValueError, match=r"2.*5"):
        tagger.predict_layers(sentences[:1], phi=[["O", "O"]])


def test_the_gradient_of_the_concepts_reaches_what_finds_phi():
    inputs = spread(*started().learned.processor.rows([BOTH[0].sentence]))
    phi = concept_scores(inputs, np.int32(len(BOTH[0].tags)), jnp.full(T, -1))[2]
    assert np.abs(phi["crf.U"]).max() > 0
    assert not np.asarray(phi["crf.A"]).any()  # the tags are drawn from the emissions


def test_words_that_are_only_phi_have_no_vector_in_the_concept_part():
    tagger = started()
    assert tagger.stores(["Quill", "Jane", "Vole", "aspirin", "iron"]) == [False, False, False, True, True]
    processor = tagger.learned.processor
    assert all(number >= FIRST_WORD for number in processor.phi.vocabulary.ids(["Quill", "Jane", "aspirin"]))
    rows = len(tagger.learned.params["tables.concept words"])
    assert rows == len(processor.concept.vocabulary) < len(processor.phi.vocabulary)


def test_given_vectors_bring_no_hidden_word_in():
    words = ("Quill", "aspirin", "zinc", "quill")
    vectors = WordVectors(words, np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32))
    tagger = StackedTagger(StackedSettings(**SMALL), vectors=vectors)
    processor = tagger.processor(BOTH)
    assert "Quill" in processor.phi.vocabulary.words and "zinc" in processor.concept.vocabulary.words
    assert not {"Quill", "quill", "Jane"} & set(processor.concept.vocabulary.words)


def test_a_name_that_is_also_a_word_is_known():
    mixed = [LabelledSentence(Sentence.from_words(["Rose", "rose"]), ("B-PATIENT", "O"))]
    vocabulary = Vocabulary(("Rose", "rose", "other"))
    assert exclude_phi_words(vocabulary, mixed).words == ("rose", "other")
    assert [item.sentence.words for item in without_phi([*mixed, *CONCEPTS_ALONE])] == [
        ("rose",), *(item.sentence.words for item in CONCEPTS_ALONE),
    ]  # fmt: skip


def test_of_two_corpora_each_brings_the_tags_of_its_layer():
    assert started().tags == ("B-DOCTOR", "B-PATIENT", "I-DOCTOR", "O")
    assert started().learned.processor.tags[CONCEPT] == ("B-DRUG", "O")
    rows = started().learned.processor.rows([item.sentence for item in APART], APART)
    assert [list(row.targets) for row in rows] == [[PHI], [PHI], [CONCEPT], [CONCEPT]]


@pytest.mark.slow
def test_corpora_that_share_no_text_are_learned_from_together():
    tagger = StackedTagger(StackedSettings(**SMALL | {"epochs": 60, "hidden": 8}, lr=0.02, average=0.0))
    tagger.fit(APART, APART)
    found = tagger.predict_layers([item.sentence for item in APART])
    for item, phi, concept in zip(APART, found[PHI], found[CONCEPT], strict=True):
        assert tuple({PHI: phi, CONCEPT: concept}[item.annotated[0]]) == item.layer(item.annotated[0])


def test_saved_with_a_key_it_reads_both_layers_as_before(tmp_path):
    tagger, sentences = started(), [item.sentence for item in BOTH]
    tagger.save(tmp_path, key=bytes(32))
    loaded = load_tagger(tmp_path, key=bytes(32))
    assert loaded.predict_layers(sentences) == tagger.predict_layers(sentences)
    assert loaded.stores(["Quill", "aspirin"]) == [False, True]
