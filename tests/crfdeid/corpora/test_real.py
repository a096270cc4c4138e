"""The published corpora, whole: counts, agreement of their formats, and what the type map makes of them."""

from collections import Counter

import pytest

from crfdeid.corpora import read_corpus, recognise, write_corpus
from crfdeid.errors import UsageError
from crfdeid.labels import MEDDOCAN, SEVEN, map_types

pytestmark = pytest.mark.corpora
SPLITS = {"train": (500, 11333), "dev": (250, 5801)}


@pytest.mark.parametrize("split", SPLITS)
def test_meddocan_reads_the_same_from_brat_and_from_xml(split, data_folder):
    folder = data_folder / "meddocan" / split
    documents = read_corpus(folder / "brat")
    assert (len(documents), sum(len(d.spans) for d in documents)) == SPLITS[split]
    assert read_corpus(folder / "xml") == documents
    assert (recognise(folder / "brat"), recognise(folder / "xml")) == ("brat", "i2b2-2014")
    with pytest.raises(UsageError, match="brat or i2b2-2014"):
        read_corpus(folder)


def test_meddocan_maps_to_the_seven(data_folder):
    documents = read_corpus(data_folder / "meddocan" / "dev" / "brat")
    before = Counter(span.label for document in documents for span in document.spans)
    after = Counter(span.label for document in map_types(documents, "seven") for span in document.spans)
    assert before.keys() <= MEDDOCAN.keys()
    assert set(after) == set(SEVEN)
    assert after["ID"] == sum(count for label, count in before.items() if label.startswith("ID_"))
    assert after["LOCATION"] == before["CALLE"] + before["TERRITORIO"] + before["PAIS"]


@pytest.mark.parametrize(("split", "queries", "spans"), [("train", 630, 1783), ("dev", 105, 272)])
def test_asq_phi_has_one_span_for_each_value(split, queries, spans, data_folder):
    documents = read_corpus(data_folder / "asq-phi" / f"{split}.txt")
    assert (len(documents), sum(len(d.spans) for d in documents)) == (queries, spans)
    assert all(a.end <= b.start for d in documents for a, b in zip(d.spans, d.spans[1:], strict=False))
    with pytest.raises(UsageError, match="NAME"):
        map_types(documents, "seven")


@pytest.mark.parametrize("format", ["brat", "i2b2-2014", "i2b2-2006", "jsonl"])
def test_meddocan_survives_every_writer(format, tmp_path, data_folder):
    documents = read_corpus(data_folder / "meddocan" / "dev" / "brat")
    target = tmp_path / ("all.xml" if format == "i2b2-2006" else "out")
    write_corpus(documents, target, format=format)
    assert read_corpus(target, format=format) == documents
