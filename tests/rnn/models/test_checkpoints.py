"""Finished token classifiers as models: what their labels mean, what is read, and what is refused."""

import dataclasses
import json
import pickle
from itertools import product

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tiny_encoders import bert_config, random_arrays, roberta_config, write_classifier, write_word_classifier

from crfdeid.bio import decode
from crfdeid.documents import LabelledSentence
from crfdeid.errors import (
    DataError,
    FormatError,
    IntegrityError,
    MismatchError,
    NotFoundError,
    SettingError,
    UsageError,
)
from crfdeid.registry import create, load_for_finetuning, load_tagger
from features.sentences import split_sentences
from features.tokens import Sentence
from rnn.models.bert import BertTagger
from rnn.network import embedding_lookup

pytestmark = pytest.mark.usefixtures("quickly_compiled")
IOB2 = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
SIZES = {"window": 30, "overlap": 8}


def finished(folder, **settings) -> BertTagger:
    tagger = create("bert", overrides={**SIZES, "checkpoint": str(folder), "epochs": 0, **settings})
    tagger.fit([], [])
    return tagger


def spans(tagger, text: str) -> list[tuple[str, str]]:
    sentences = split_sentences(text)
    found = zip(sentences, tagger.predict(sentences), strict=True)
    return [(text[s.start : s.end], s.label) for sentence, tags in found for s in decode(sentence, tags)]


NAME = [("doe brown", "PER")]
CASES = {
    "IOB2": (IOB2, {"doe": "B-PER", "brown": "I-PER"}, {}, "seen doe brown in", NAME),
    "IOB2, two neighbours": (IOB2, {"doe": "B-PER"}, {}, "seen doe doe", [("doe", "PER"), ("doe", "PER")]),
    "IOB2 that begins with I": (IOB2, {"doe": "I-PER", "brown": "I-PER"}, {}, "seen doe brown in", NAME),
    "BIOES": (
        ("B-PER", "E-PER", "I-PER", "O", "S-PER"),
        {"doe": "B-PER", "brown": "E-PER", "word": "S-PER"},
        {},
        "seen doe brown word in",
        [*NAME, ("word", "PER")],
    ),
    "BILOU": (
        ("B-PER", "L-PER", "I-PER", "O", "U-PER"),
        {"doe": "B-PER", "brown": "L-PER", "word": "U-PER"},
        {},
        "seen word doe brown in",
        [("word", "PER"), *NAME],
    ),
    "types": (("O", "PER", "LOC"), {"doe": "PER", "brown": "PER", "clinic": "LOC"}, {}, "doe brown clinic",
              [*NAME, ("clinic", "LOC")]),
    "a type with a hyphen": (("O", "E-MAIL"), {"doe": "E-MAIL"}, {}, "seen doe", [("doe", "E-MAIL")]),
    "IOB1 without B": (("O", "I-PER", "I-LOC"), {"doe": "I-PER", "brown": "I-PER", "clinic": "I-LOC"}, {},
                       "doe brown clinic", [*NAME, ("clinic", "LOC")]),
    "IOB1": (IOB2, {"doe": "I-PER", "brown": "I-PER", "clinic": "I-LOC", "word": "B-PER"}, {"scheme": "iob1"},
             "doe brown word clinic", [*NAME, ("word", "PER"), ("clinic", "LOC")]),
    "B alone": (("O", "B-PER"), {"doe": "B-PER"}, {}, "seen doe doe", [("doe", "PER"), ("doe", "PER")]),
    "other names": (IOB2, {"doe": "B-PER", "brown": "I-PER", "clinic": "B-LOC"}, {"labels": "PER=DOCTOR,LOC=O"},
                    "doe brown clinic", [("doe brown", "DOCTOR")]),
    "a space in a name": (("no", "first name"), {"doe": "first name"}, {"labels": "no=O,first name=ID"}, "doe",
                          [("doe", "ID")]),
    "no names": (("O", "LABEL_1", "LABEL_2"), {"doe": "LABEL_1", "brown": "LABEL_2"},
                 {"labels": "LABEL_1=B-ID, LABEL_2=I-ID"}, "doe brown", [("doe brown", "ID")]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_labels_of_every_scheme_become_entities(tmp_path, case):
    labels, words, settings, text, expected = case
    tagger = finished(write_word_classifier(tmp_path, labels, words), **settings)
    assert spans(tagger, text) == expected
    tables = tagger.marginals(split_sentences(text))
    np.testing.assert_allclose(np.concatenate(tables).sum(axis=1), 1.0, rtol=1e-5)
    assert tagger.tags == tuple(sorted(tagger.tags)) and {tag[2:] for tag in tagger.tags} >= {t for _, t in expected}


def softmax(scores: np.ndarray) -> np.ndarray:
    grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def tag_scores(tagger: BertTagger, sentences) -> tuple[np.ndarray, np.ndarray]:
    """Ids of the first window's pieces, and the scores of the tags at each of them."""
    learned = tagger.trained()
    row = learned.processor.rows(sentences)[0]
    vectors = embedding_lookup(learned.network, learned.params, row.inputs)
    return row.inputs["pieces"], np.asarray(learned.network.scores(vectors, row.inputs, row.length)["phi"].emissions)


def test_probabilities_of_labels_are_added_by_tag(tmp_path):
    labels = ("S-PER", "O", "B-PER", "E-PER", "I-PER", "S-ID", "I-ID", "B-ID", "E-ID")
    sentences = split_sentences("seen by dr doe in clinic")
    grouped = finished(write_classifier(tmp_path / "a", labels))
    single = finished(write_classifier(tmp_path / "b", (*(f"T{i}" for i in range(8)), "O")))
    arrays = load_file(tmp_path / "a" / "model.safetensors")
    chosen = [*(i for i in range(9) if i != 1), 1]
    for name in ("classifier.weight", "classifier.bias"):
        arrays[name] = arrays[name][chosen]  # those of the same labels in the order of the types T0 to T7, and O
    save_file(arrays, tmp_path / "b" / "model.safetensors")
    single = finished(tmp_path / "b")
    plain = softmax(tag_scores(single, sentences)[1])
    whole = plain[:, :8] + plain[:, 8:16]  # B-T and I-T of a type share its label's probability
    by_label = dict(zip([label for label in labels if label != "O"], whole.T, strict=True)) | {"O": plain[:, 16]}
    expected = {
        f"{tag}-{kind}": by_label[f"{first}-{kind}"] + by_label[f"{second}-{kind}"]
        for kind, (tag, first, second) in product(("PER", "ID"), (("B", "B", "S"), ("I", "I", "E")))
    } | {"O": by_label["O"]}
    found = softmax(tag_scores(grouped, sentences)[1])
    np.testing.assert_allclose(found, np.stack([expected[tag] for tag in grouped.tags], axis=1), atol=1e-5)


def labels_of_pieces(folder, labels, sentences) -> tuple[np.ndarray, np.ndarray]:
    """Ids of the pieces, and the probability of each label at each, by a checkpoint whose labels are types."""
    plain = write_classifier(folder, [label if label == "O" else f"T{k}" for k, label in enumerate(labels)])
    ids, scores = tag_scores(finished(plain), sentences)
    chances, found = softmax(scores), np.zeros((len(ids), len(labels)))
    types = sorted(f"T{k}" for k, label in enumerate(labels) if label != "O")
    for k, label in enumerate(labels):
        columns = [2 * len(types)] if label == "O" else [types.index(f"T{k}"), types.index(f"T{k}") + len(types)]
        found[:, k] = chances[:, columns].sum(axis=1)
    return ids, found


def pipeline_entities(labels, chances: np.ndarray) -> list[tuple[int, int, str]]:
    """What the pipeline of transformers finds in words: (first word, word after the last, type)."""
    found: list[list] = []
    last = None
    for word, k in enumerate(chances.argmax(axis=1)):
        prefix, _, name = labels[k].rpartition("-")
        if labels[k] != "O":
            if last == name and prefix not in ("B", "S"):
                found[-1][1] = word + 1
            else:
                found.append([word, word + 1, name])
        last = None if labels[k] == "O" else name
    return [tuple(entity) for entity in found]


@pytest.mark.parametrize(
    "labels",
    [IOB2, ("O", "PER", "LOC"), ("I-LOC", "O", "I-PER"), ("S-PER", "O", "B-PER", "E-PER", "I-PER", "B-LOC", "I-LOC")],
    ids=["IOB2", "types", "IOB1 without B", "BIOES"],
)
def test_argmax_is_the_most_probable_label_of_a_word_as_in_the_pipeline(tmp_path, labels):
    text = "seen by dr doe in clinic pain brown word doe dr clinic seen stable pain by in doe brown"
    sentences, words = split_sentences(text), text.split()
    assert len(sentences) == 1
    ids, chances = labels_of_pieces(tmp_path / "plain", labels, sentences)
    assert len(ids) == len(words) + 2  # each word is one piece
    tagger = finished(write_classifier(tmp_path / "labels", labels), decoding="argmax")
    tokens = sentences[0].tokens
    starts = {token.start: i for i, token in enumerate(tokens)}
    ends = {token.end: i + 1 for i, token in enumerate(tokens)}
    spans = decode(sentences[0], tagger.predict(sentences)[0])
    expected = pipeline_entities(labels, chances[1:-1])
    assert [(starts[span.start], ends[span.end], span.label) for span in spans] == expected
    assert expected


def test_argmax_adds_no_probabilities_of_labels(tmp_path):
    labels = ("B-PER", "I-PER", "O")
    folder = write_classifier(tmp_path, labels)
    arrays = load_file(folder / "model.safetensors")
    arrays["classifier.weight"] = np.zeros_like(arrays["classifier.weight"])
    arrays["classifier.bias"] = np.log([0.3, 0.3, 0.4]).astype(np.float32)
    save_file(arrays, folder / "model.safetensors")
    assert spans(finished(folder, decoding="argmax"), "seen doe") == []
    assert spans(finished(folder), "seen doe") == [("seen", "PER")]
    (table,) = finished(folder, decoding="argmax").marginals(split_sentences("seen"))
    np.testing.assert_allclose(table, [[0.6, 0.0, 0.4]], atol=1e-6)


@pytest.mark.parametrize("labels", ["", "PER=PATIENT"])
def test_types_of_a_checkpoint_that_no_note_has_are_named(tmp_path, labels, caplog):
    (sentence,) = split_sentences("seen doe")
    dev = [LabelledSentence(sentence, ["O", "B-LOC"])]
    folder = write_classifier(tmp_path, IOB2)
    tagger = create("bert", overrides={**SIZES, "checkpoint": str(folder), "epochs": 0, "labels": labels})
    tagger.fit([], dev)
    assert ("no note has the checkpoint's types PER:" in caplog.text) == (labels == "")


def distilbert(config: dict, arrays: dict[str, np.ndarray]) -> tuple[dict, dict[str, np.ndarray]]:
    """The fields and arrays of BERT by DistilBERT's names."""
    fields = {"hidden_size": "dim", "num_hidden_layers": "n_layers", "num_attention_heads": "n_heads",
              "intermediate_size": "hidden_dim", "hidden_act": "activation"}  # fmt: skip
    parts = {
        "encoder.": "transformer.", "attention.self.query": "attention.q_lin", "attention.self.key": "attention.k_lin",
        "attention.self.value": "attention.v_lin", "attention.output.dense": "attention.out_lin",
        "attention.output.LayerNorm": "sa_layer_norm", "intermediate.dense": "ffn.lin1", "output.dense": "ffn.lin2",
        "output.LayerNorm": "output_layer_norm",
    }  # fmt: skip
    named = {name: array for name, array in arrays.items() if "token_type" not in name}
    for old, new in parts.items():
        named = {name.replace(old, new): array for name, array in named.items()}
    named = {name if "classifier" in name else f"distilbert.{name}": array for name, array in named.items()}
    return {fields.get(key, key): value for key, value in config.items()} | {"model_type": "distilbert"}, named


def test_distilbert_is_bert_without_segments_by_other_names(tmp_path):
    config, sentences = bert_config(), split_sentences("seen by dr doe in clinic")
    zeros = {"embeddings.token_type_embeddings.weight": np.zeros((2, 16), np.float32)}
    first = write_classifier(tmp_path / "bert", IOB2, config, **zeros)
    expected = finished(first).marginals(sentences)[0]
    second = write_classifier(tmp_path / "distilbert", IOB2, config)
    settings, arrays = distilbert(
        json.loads((first / "config.json").read_text()), load_file(first / "model.safetensors")
    )
    del settings["layer_norm_eps"], settings["type_vocab_size"]
    (second / "config.json").write_text(json.dumps(settings))
    save_file(arrays, second / "model.safetensors")
    np.testing.assert_allclose(finished(second).marginals(sentences)[0], expected, atol=1e-6)


def test_parts_of_a_word_are_one_entity(tmp_path):
    tagger = finished(write_word_classifier(tmp_path, IOB2, {"d": "B-PER", "##9": "O"}))
    assert [token.text for token in split_sentences("doc1234")[0].tokens] == ["doc", "1234"]
    assert spans(tagger, "seen doc1234 in") == [("doc1234", "PER")]


def test_a_token_of_several_words_takes_the_surest_entity_and_one_that_is_dropped_is_outside(tmp_path):
    tagger = finished(write_word_classifier(tmp_path, IOB2, {"doe": "B-PER"}))
    processor = tagger.trained().processor
    sentence = Sentence.from_words(["seen", "in-doe", "\ufffd", "doe"])  # BERT's tokenizer drops U+FFFD
    assert processor.read_words(sentence.tokens).of_tokens.tolist() == [[0, 1], [1, 4], [4, 4], [4, 5]]
    assert tagger.predict([sentence]) == [["O", "B-PER", "O", "B-PER"]]
    assert tagger.predict([Sentence.from_words(["\ufffd"]), Sentence(())]) == [["O"], []]


@pytest.mark.parametrize("config", [bert_config(), roberta_config()], ids=["bert", "roberta"])
def test_every_token_of_a_long_note_is_read_in_windows_that_overlap(tmp_path, config):
    tagger = finished(write_classifier(tmp_path, IOB2, config))
    text = "seen by dr doe in clinic,\nwith pain 3/14 and müsli 😀 1\n" * 40
    sentences = split_sentences(text)
    processor = tagger.trained().processor
    rows = processor.rows(sentences)
    assert max(row.length for row in rows) <= 32
    words = processor.read_words(sentences[0].note)
    assert {word for row in rows for word in row.words.tolist()} == {-1, *range(len(words.begins) - 1)}
    ids = {word: words.ids[words.begins[word]] for word in range(len(words.begins) - 1)}
    for row in rows:
        for piece, word in zip(row.inputs["pieces"].tolist(), row.words.tolist(), strict=True):
            assert word < 0 or piece == ids[word]
    tables = tagger.marginals(sentences)
    assert [len(table) for table in tables] == [len(sentence.tokens) for sentence in sentences]
    alone = tagger.marginals(sentences[-1:])[0]
    np.testing.assert_allclose(alone, tables[-1], atol=1e-6)  # whatever is tagged with it


def test_a_text_is_read_as_the_tokenizer_reads_it_whatever_its_length(tmp_path):
    processor = finished(write_classifier(tmp_path, IOB2, roberta_config())).trained().processor
    text = " ".join(f"Dr{'' if i % 3 else chr(10)} Doe{i}, müsli  x" for i in range(9000))
    ids, places = processor.pieces.read(text)
    whole = processor.pieces._tokenizer.encode(text, add_special_tokens=False)
    assert len(text) > 1 << 17 and ids.tolist() == whole.ids
    assert [tuple(place) for place in places[:, :2].tolist()] == whole.offsets
    assert places[:, 2].tolist() == whole.word_ids
    assert (
        processor.pieces.read("x" * 200_000)[0].tolist()
        == processor.pieces.read("x" * 65_536)[0].tolist()[:1] * 200_000
    )


def test_a_spelling_of_the_raw_text_does_not_shift_tokens(tmp_path):
    tagger = finished(write_word_classifier(tmp_path, IOB2, {"doe": "B-PER"}))
    assert spans(tagger, "s\u200be\u200ben by d\u00adoe, in") == [("d\u00adoe", "PER")]


def test_a_saved_model_needs_no_checkpoint(tmp_path):
    text = "seen by dr doe\nin clinic"
    for name, labels in {"plain": ("O", "PER"), "bioes": ("O", "B-PER", "E-PER", "I-PER", "S-PER")}.items():
        tagger = finished(write_classifier(tmp_path / name, labels))
        tagger.save(tmp_path / f"{name}-model")
        loaded = load_tagger(tmp_path / f"{name}-model")
        assert loaded.settings == dataclasses.replace(tagger.settings, checkpoint="")
        for ours, theirs in zip(*(one.marginals(split_sentences(text)) for one in (loaded, tagger)), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def note(text: str, tags: dict[str, str]) -> list[LabelledSentence]:
    found = split_sentences(text)
    return [LabelledSentence(s, tuple(tags.get(word, "O") for word in s.words), "1") for s in found]


@pytest.mark.parametrize("labels", [IOB2, ("O", "PER"), ("O", "B-PER", "I-PER", "E-PER", "S-PER")])
def test_it_learns_more_from_notes(tmp_path, labels):
    folder = write_classifier(tmp_path / "ck", labels)
    train = note(
        "seen by dr doe word.\nPain in clinic, brown word", {"doe": "B-PER", "word": "I-PER", "brown": "B-PER"}
    )
    sizes = {**SIZES, "dropout": 0.0, "lr": 0.01, "warmup": 0.0}
    tagger = create("bert", overrides={**sizes, "checkpoint": str(folder), "epochs": 30, "batch": 1})
    tagger.fit(train, train)
    gold = [list(item.tags) for item in train]
    assert tagger.predict([item.sentence for item in train]) == gold
    finished(folder).save(tmp_path / "model")
    again = load_for_finetuning(tmp_path / "model", overrides={**sizes, "epochs": 30, "batch": 1})
    again.fit(train, train)
    assert again.predict([item.sentence for item in train]) == gold
    with pytest.raises(SettingError):
        load_for_finetuning(tmp_path / "model").fit(train, train)
    with pytest.raises(UsageError):
        tagger.fit(note("seen doe", {"doe": "B-ID"}), [])


def test_training_moves_no_weight_without_an_epoch(tmp_path):
    tagger = finished(write_classifier(tmp_path, ("O", *IOB2[1:])))
    arrays = {**random_arrays(bert_config()), **load_file(tmp_path / "model.safetensors")}
    params = tagger.trained().params
    np.testing.assert_array_equal(params["tables.pieces"], arrays["embeddings.word_embeddings.weight"])
    order = [IOB2.index(tag) for tag in tagger.tags]
    np.testing.assert_array_equal(params["network.head.W"], arrays["classifier.weight"].T[:, order])


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"model_type": "deberta-v2"}, "deberta-v2"),
        ({"model_type": "xlm-roberta"}, "xlm-roberta"),
        ({"position_embedding_type": "relative_key_query"}, "relative_key_query"),
        ({"hidden_act": "silu"}, "silu"),
        ({"model_type": "distilbert", "activation": "silu"}, "silu"),
        ({"is_decoder": True}, "is_decoder"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads"),
        ({"quantization_config": {"bits": 8}}, "quantization_config"),
        ({"architectures": ["BertForMaskedLM"]}, "BertForMaskedLM"),
        ({"id2label": None}, "id2label"),
        ({"id2label": {"0": "O", "2": "PER"}}, "id2label"),
        ({"id2label": {"0": "O", "1": "first name"}}, "white space"),
        ({"id2label": {"0": "O", "1": ""}}, "id2label"),
        ({"id2label": {"0": "O", "1": "LABEL_1"}}, "LABEL_1"),
        ({"id2label": {"0": "O", "1": "B-PER", "2": "X"}}, "label X"),
        ({"id2label": {"0": "PER", "1": "LOC"}}, "label O"),
        ({"id2label": {"0": "O"}}, "no label but O"),
    ],
)
def test_other_models_are_refused_by_name(tmp_path, changed, name):
    path = write_classifier(tmp_path, ("O", "PER")) / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))
    with pytest.raises(FormatError, match=name) as caught:
        finished(tmp_path)
    assert caught.value.path == path


@pytest.mark.parametrize("labels", ["PER", "PER=", "=X", "NONE=O", "PER=A,,"])
def test_other_names_that_cannot_be_are_refused(tmp_path, labels):
    write_classifier(tmp_path, ("O", "PER"))
    with pytest.raises(SettingError):
        finished(tmp_path, labels=labels)


@pytest.mark.parametrize(
    ("settings", "checkpoint"),
    [
        ({"scheme": "iob3"}, True),
        ({"window": 127}, True),
        ({"encoder": "x"}, True),
        ({"epochs": -1}, True),
        ({}, False),
    ],
)
def test_settings_that_cannot_work_are_refused(tmp_path, settings, checkpoint):
    write_classifier(tmp_path, ("O", "PER"))
    with pytest.raises(UsageError):
        finished(tmp_path, **settings, **({} if checkpoint else {"checkpoint": ""}))


@pytest.mark.parametrize("damage", [lambda c: c[:-9], lambda c: c[: len(c) // 2], lambda c: b"", lambda c: b"{" * 99])
def test_truncated_weights_are_one_error(tmp_path, damage):
    path = write_classifier(tmp_path, ("O", "PER")) / "model.safetensors"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(IntegrityError) as caught:
        finished(tmp_path)
    assert caught.value.path == path


def test_an_encoder_without_a_last_layer_or_with_another_is_refused(tmp_path):
    path = write_classifier(tmp_path, ("O", "PER")) / "model.safetensors"
    arrays = load_file(path)
    save_file(arrays | {"classifier.weight": np.zeros((3, 16), np.float32)}, path)
    with pytest.raises(MismatchError):
        finished(tmp_path)
    del arrays["classifier.bias"]
    save_file(arrays, path)
    with pytest.raises(FormatError, match=r"classifier\.bias"):
        finished(tmp_path)


def test_pickled_weights_are_refused_unread(tmp_path):
    (write_classifier(tmp_path, ("O", "PER")) / "model.safetensors").unlink()
    opened = tmp_path / "opened"

    class Trap:
        def __reduce__(self):
            return opened.touch, ()

    (tmp_path / "pytorch_model.bin").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(NotFoundError):
        finished(tmp_path)
    assert not opened.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.update(outputs=[0, 1]),
        lambda p: p.update(outputs=[0, 1, 9]),
        lambda p: p.update(iob1=["LOC"]),
        lambda p: p.update(tags=["O", "B-PER", "I-PER"]),
    ],
)
def test_a_saved_model_with_other_labels_is_refused(tmp_path, change):
    tagger = finished(write_classifier(tmp_path, ("O", "PER")))
    processor = tagger.trained().processor
    described = processor.describe()
    change(described)
    with pytest.raises((ValueError, DataError)):
        tagger.saved_processor(described, processor.arrays(), None)
