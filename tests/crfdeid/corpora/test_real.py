"""The published corpora, whole: counts, agreement of their formats, and what the type map makes of them."""

from collections import Counter

import pytest

from crfdeid import bio
from crfdeid.corpora import read_corpus, recognise, write_corpus
from crfdeid.corpora.layers import ConceptPaths, exclude_regions, read_excluded_regions, select_layer
from crfdeid.corpora.splits import read_splits
from crfdeid.documents import tokens_of
from crfdeid.errors import OptionConflictError, UnknownNameError
from crfdeid.evaluation.tokens import token_types
from crfdeid.label_schemes import SEVEN, map_types, types_in

pytestmark = pytest.mark.corpora
SPLITS = {"train": (500, 11333), "dev": (250, 5801)}


@pytest.mark.parametrize("split", SPLITS)
def test_meddocan_reads_the_same_from_brat_and_from_xml(split, data_folder):
    folder = data_folder / "meddocan" / split
    documents = read_corpus(folder / "brat")
    assert (len(documents), sum(len(d.spans) for d in documents)) == SPLITS[split]
    assert read_corpus(folder / "xml") == documents
    assert (recognise(folder / "brat"), recognise(folder / "xml")) == ("brat", "i2b2-2014")
    with pytest.raises(OptionConflictError):
        read_corpus(folder)


@pytest.mark.parametrize("corpus", ["meddocan/dev/brat", "asq-phi/dev.txt", "tab/dev.jsonl"])
def test_every_token_of_gold_is_taught_as_phi_and_no_other(corpus, data_folder):
    if not (data_folder / corpus).exists():
        pytest.skip(f"no {corpus}")
    for document in read_corpus(data_folder / corpus):
        gold = token_types(tokens_of(document), document.spans)
        taught = [tag for item in bio.encode(document).sentences for tag in item.tags]
        assert [tag[2:] for tag in taught] == gold


def test_meddocan_maps_to_the_seven(data_folder):
    documents = read_corpus(data_folder / "meddocan" / "dev" / "brat")
    before = Counter(span.label for document in documents for span in document.spans)
    after = Counter(span.label for document in map_types(documents, "seven") for span in document.spans)
    assert before.keys() <= set(types_in("meddocan"))
    assert set(after) == set(SEVEN)
    assert after["ID"] == sum(count for label, count in before.items() if label.startswith("ID_"))
    assert after["LOCATION"] == before["CALLE"] + before["TERRITORIO"] + before["PAIS"]


@pytest.mark.parametrize(("split", "queries", "spans"), [("train", 630, 1783), ("dev", 105, 272)])
def test_asq_phi_has_one_span_for_each_value(split, queries, spans, data_folder):
    documents = read_corpus(data_folder / "asq-phi" / f"{split}.txt")
    assert (len(documents), sum(len(d.spans) for d in documents)) == (queries, spans)
    assert all(a.end <= b.start for d in documents for a, b in zip(d.spans, d.spans[1:], strict=False))
    with pytest.raises(UnknownNameError):
        map_types(documents, "seven")


@pytest.mark.parametrize(("split", "cases", "mentions", "entities"), [("train", 92, 4368, 3147), ("dev", 21, 818, 670)])
def test_tab_keeps_its_mentions_and_their_entities(split, cases, mentions, entities, data_folder, tmp_path):
    documents = read_corpus(data_folder / "tab" / f"{split}.jsonl")
    assert (len(documents), sum(len(d.mentions) for d in documents)) == (cases, mentions)
    assert sum(len({mention.entity for mention in d.mentions}) for d in documents) == entities
    write_corpus(documents, tmp_path / "again.jsonl", format="tab")
    again = read_corpus(tmp_path / "again.jsonl")
    assert again == documents
    assert [sorted(d.mentions) for d in again] == [sorted(d.mentions) for d in documents]


CONCEPTS = {
    "train": {"NORMALIZABLES": 2170, "PROTEINAS": 1586, "UNCLEAR": 78, "NO_NORMALIZABLES": 32},
    "dev": {"NORMALIZABLES": 1117, "PROTEINAS": 798, "UNCLEAR": 45, "NO_NORMALIZABLES": 9},
}


def test_pharmaconer_stands_beside_meddocan(data_folder):
    phi, concepts = (data_folder / name for name in ("meddocan", "pharmaconer-on-meddocan"))
    paths = ConceptPaths(train=concepts / "train" / "brat", dev=concepts / "dev" / "brat", ignored_types=())
    corpus = read_splits(phi / "train" / "brat", phi / "dev" / "xml", None, types="all", concepts=paths)
    for name, (documents, spans) in SPLITS.items():
        found = corpus.splits[name].statistics()
        assert (found["documents"], found["spans"]) == (documents, spans)
        assert found["layers"]["concept"]["spans_by_type"] == dict(sorted(CONCEPTS[name].items()))
        unaligned = {"train": 2, "dev": 4}[name]  # they end inside a word
        assert found["layers"]["concept"]["unaligned"] == unaligned
        decoded = [
            document.text[span.start : span.end]
            for document, encoded in zip(corpus.splits[name].documents, corpus.splits[name].encoded, strict=True)
            for sentence in encoded.sentences
            for span in bio.decode(sentence.sentence, sentence.layer("concept"))
            if span in document.layer("concept")
        ]
        # One concept of dev has a control character behind it, which its token takes in.
        assert len(decoded) == sum(CONCEPTS[name].values()) - unaligned - (name == "dev")
        stretches = read_excluded_regions(concepts / "unsourced.tsv", corpus.splits[name].documents)
        gold = [select_layer(document, "concept") for document in corpus.splits[name].documents]
        assert exclude_regions(gold, {}, stretches).gold == gold, "nobody marked what annotators never saw"


@pytest.mark.parametrize("format", ["brat", "i2b2-2014", "i2b2-2006", "jsonl"])
def test_meddocan_survives_every_writer(format, tmp_path, data_folder):
    documents = read_corpus(data_folder / "meddocan" / "dev" / "brat")
    target = tmp_path / ("all.xml" if format == "i2b2-2006" else "out")
    write_corpus(documents, target, format=format)
    assert read_corpus(target, format=format) == documents
