"""Token classifiers that the library transformers makes: the same pieces, logits and entities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_encoders import CASED, byte_pieces

from crfdeid.bio import decode
from crfdeid.documents import LabelledSentence
from crfdeid.registry import create
from features.sentences import split_sentences
from rnn.models.bert import BertTagger
from rnn.network import embedding_lookup
from rnn.pretrained.export import export_classifier

transformers = pytest.importorskip("transformers", reason="not installed: pip install -e '.[oracles]'")
torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("quickly_compiled")
IOB2 = ("O", "B-PER", "I-PER", "B-DATE", "I-DATE")
TEXT = "Seen by Dr Doe, in clinic 3/14; müsli\n\n  and doc1234smith \U0001f600 said: pain [SEP] x-ray"
FAMILIES = ("bert", "roberta", "distilbert")


def write_tokenizer(family: str, folder: Path) -> None:
    """Write a tokenizer as the family's models have it."""
    if family == "roberta":
        special = {"cls_token": "<s>", "sep_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
        transformers.PreTrainedTokenizerFast(tokenizer_object=byte_pieces(), **special).save_pretrained(folder)
        return
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(CASED), "utf-8")
    transformers.BertTokenizerFast(str(vocabulary), do_lower_case=False).save_pretrained(folder)
    vocabulary.unlink()


def write_model(family: str, labels: tuple[str, ...], folder: Path, *, seed: int = 1) -> Any:
    """Write a random token classifier; return it."""
    names = dict(enumerate(labels))
    given: dict[str, Any] = {"id2label": names, "label2id": {name: i for i, name in names.items()}}
    given |= {"vocab_size": 300, "max_position_embeddings": 128, "initializer_range": 0.5}
    if family == "distilbert":
        config = transformers.DistilBertConfig(dim=16, n_layers=2, n_heads=4, hidden_dim=32, **given)
    else:
        kind = {"bert": transformers.BertConfig, "roberta": transformers.RobertaConfig}[family]
        sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
        config = kind(**sizes, **given)
    torch.manual_seed(seed)
    model = transformers.AutoModelForTokenClassification.from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():  # biases and scales too are made random
            parameter.add_(0.1 * torch.randn(parameter.shape))
    model.save_pretrained(folder)
    write_tokenizer(family, folder)
    return model


def finished(folder: Path, **settings: Any) -> BertTagger:
    tagger = create("bert", overrides={"checkpoint": str(folder), "epochs": 0, **settings})
    tagger.fit([], [])
    return tagger


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("window", [100, 24])
def test_pieces_and_logits_are_those_of_transformers(family: str, window: int, tmp_path: Path) -> None:
    model = write_model(family, IOB2, tmp_path)
    tagger = finished(tmp_path, window=window, overlap=8)
    learned, order = tagger.trained(), [IOB2.index(tag) for tag in tagger.tags]
    rows = learned.processor.rows(split_sentences(TEXT))
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    ids = tokenizer(TEXT, add_special_tokens=False)["input_ids"]
    first, last, _ = learned.processor.pieces.special
    pieces = [row.inputs["pieces"].tolist() for row in rows]
    assert {(row[0], row[-1]) for row in pieces} == {(first, last)}
    assert pieces[0][1:-1] == ids[: len(pieces[0]) - 2] and pieces[-1][1:-1] == ids[-len(pieces[-1]) + 2 :]
    assert (len(rows) == 1) == (window == 100)
    for row in rows:
        with torch.no_grad():
            theirs = model(torch.tensor([row.inputs["pieces"].tolist()])).logits[0].numpy()
        vectors = embedding_lookup(learned.network, learned.params, row.inputs)
        ours = learned.network.scores(vectors, row.inputs, row.length)["phi"].emissions
        np.testing.assert_allclose(ours, theirs[:, order], atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_of_tokens_are_those_of_their_words_first_pieces(family: str, tmp_path: Path) -> None:
    model = write_model(family, IOB2, tmp_path)
    tagger = finished(tmp_path)
    sentences = split_sentences(TEXT)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    read = tokenizer(TEXT, add_special_tokens=False, return_offsets_mapping=True)
    first, last, _ = tagger.trained().processor.pieces.special
    ids = [first, *read["input_ids"], last]
    with torch.no_grad():
        chances = model(torch.tensor([ids])).logits[0].softmax(-1).numpy()[1:-1]
    words = read.word_ids()
    for sentence, table in zip(sentences, tagger.marginals(sentences), strict=True):
        for token, row in zip(sentence.tokens, table, strict=True):
            over = [
                i for i, (start, end) in enumerate(read["offset_mapping"]) if start < token.end and token.start < end
            ]
            expected = chances[words.index(words[over[0]])]
            by_type = {kind: sum(row[tagger.tags.index(f"{b}-{kind}")] for b in "BI") for kind in ("PER", "DATE")}
            assert by_type["PER"] == pytest.approx(expected[1] + expected[2], abs=1e-5)
            assert by_type["DATE"] == pytest.approx(expected[3] + expected[4], abs=1e-5)


@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_entities_of_plain_types_are_those_of_the_pipeline(family: str, tmp_path: Path) -> None:
    texts = (TEXT.replace("\n", " ").replace(" [SEP]", ""), "pain in word by Mr Brown 12/3 stable seen Doe doe")
    count = 0
    for seed in range(6):
        folder = tmp_path / str(seed)
        folder.mkdir()
        model = write_model(family, ("O", "PER", "DATE", "ID"), folder, seed=seed)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        given = {"model": model, "tokenizer": tokenizer, "device": -1}
        pipeline = transformers.pipeline("token-classification", aggregation_strategy="first", **given)
        tagger = finished(folder)
        for text in texts:
            (sentence,) = split_sentences(text)
            (tags,) = tagger.predict([sentence])
            expected = {(found["start"], found["end"], found["entity_group"]) for found in pipeline(text)}
            assert {tuple(span) for span in decode(sentence, tags)} == expected
            count += len(expected)
    assert count > 20


@pytest.mark.parametrize("family", FAMILIES)
def test_an_exported_model_has_the_tags_and_scores_of_ours(family: str, tmp_path: Path) -> None:
    write_model(family, IOB2, tmp_path / "source")
    text = "Seen by Dr Doe in clinic 3 pain word stable by Mr Brown"
    (sentence,) = split_sentences(text)
    tags = tuple("B-DOCTOR" if word in ("Doe", "Brown") else "O" for word in sentence.words)
    given = {"encoder": str(tmp_path / "source"), "epochs": 40, "lr": 0.01, "decoding": "argmax", "dropout": 0.0}
    tagger = create("bert", overrides=given)
    tagger.fit([LabelledSentence(sentence, tags, "1")], [])
    export_classifier(tagger, tmp_path / "model", readme="")
    find = transformers.pipeline("token-classification", str(tmp_path / "model"), ignore_labels=[], device=-1)
    (table,), (predicted,) = tagger.marginals([sentence]), tagger.predict([sentence])
    found = {one["start"]: one for one in find(text)}
    assert {tag for tag in predicted if tag != "O"}, "nothing to compare"
    for token, row, tag in zip(sentence.tokens, table, predicted, strict=True):
        own = found.get(token.start - 1) or found[token.start]  # the first piece can be RoBERTa's of the space
        assert own["entity"] == tag
        assert own["score"] == pytest.approx(row.max(), abs=1e-4)


def test_a_pipeline_reads_a_long_note_to_its_end_or_fails(tmp_path: Path) -> None:
    write_model("bert", IOB2, tmp_path / "source")
    text = "Seen by Doe " * 60
    (sentence,) = split_sentences(text)
    tagger = create("bert", overrides={"encoder": str(tmp_path / "source"), "epochs": 5})
    tagger.fit([LabelledSentence(sentence, ("O", "O", "B-DOCTOR") * 60, "1")], [])
    export_classifier(tagger, tmp_path / "model", readme="")
    find = transformers.pipeline("token-classification", str(tmp_path / "model"), device=-1)
    with pytest.raises((IndexError, RuntimeError)):
        find(text)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "model", model_max_length=102)
    find = transformers.pipeline(
        "token-classification", str(tmp_path / "model"), tokenizer=tokenizer, aggregation_strategy="first", stride=40
    )
    assert find.tokenizer.model_max_length == 102
    assert find(text, ignore_labels=[])[-1]["end"] == len(text.rstrip())
