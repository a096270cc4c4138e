"""What is written is read back: every character, every span."""

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crfdeid import bio
from crfdeid.corpora import read_corpus, recognise, write_corpus, written_formats
from crfdeid.documents import Document, Span
from crfdeid.errors import DataError, EncodingError, FormatError, MismatchError, SpanError

LABELS = ("PATIENT", "DATE", "LOCATION-OTHER", "fromloc.city_name", 'odd"<&>', "EDAD_SUJETO")
XML_FORMATS = ("i2b2-2014", "i2b2-2006", "xmi")
FILES = {
    "tab": "all.jsonl",
    "i2b2-2006": "all.xml",
    "jsonl": "all.jsonl",
    "doccano": "all.jsonl",
    "label-studio": "all.json",
}

# The characters that converters lose, shift or choke on, and then anything that is a character at all.
_AWKWARD = st.sampled_from(
    (
        *("\r\n", "\n", "\r", "\n\n", "\t", " ", "\u00a0", "\u2028", "\u0085", "\x0b", "\x0c", "\ufeff"),
        *("e\u0301", "👩\u200d⚕️", "𝔘", "Doe", "12", "<", '"', ";", "===QUERY===", "\\ud800"),
        *("]]>", "<![CDATA[", "</TEXT>", "<PHI TYPE='X'>", "&amp;", "&#13;"),
    )
)
_ANYTHING = st.characters(exclude_categories=["Cs"])
texts = st.lists(st.one_of(_AWKWARD, _ANYTHING), max_size=25).map("".join)
xml_texts = st.lists(
    st.one_of(_AWKWARD.filter(lambda s: s not in "\x0b\x0c"), st.characters(exclude_categories=["Cs", "Cc", "Cn"])),
    max_size=25,
).map("".join)


@st.composite
def spans_of(draw, text, *, overlapping):
    if not text:
        return ()
    edges = draw(st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 8)), max_size=5))
    spans, done = [], 0
    for start, length in sorted(edges):
        if overlapping or start >= done:
            done = min(start + length, len(text))
            spans.append(Span(start, done, draw(st.sampled_from(LABELS))))
    return tuple(spans)


@st.composite
def corpora(draw, *, texts=texts, overlapping=True):
    documents = []
    for name in ("a", "b/c.d", "note 3")[: draw(st.integers(1, 3))]:
        text = draw(texts)
        documents.append(Document(name, text, draw(spans_of(text, overlapping=overlapping))))
    return documents


def round_trip(documents, format):
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / ("corpus.xml" if format == "i2b2-2006" else "corpus")
        write_corpus(documents, target, format=format)
        return read_corpus(target, format=format)


@settings(deadline=None)
@given(corpora())
@example([Document("a", "\ufeffDoe\r\nDoe\n", (Span(1, 4, "PATIENT"), Span(3, 7, "DATE"), Span(3, 7, "DATE")))])
def test_brat_keeps_everything(documents):
    assert round_trip(documents, "brat") == documents


@settings(deadline=None)
@given(corpora())
def test_jsonl_keeps_everything(documents):
    assert round_trip(documents, "jsonl") == documents


@settings(deadline=None)
@given(corpora())
@example([Document("a", "👩\u200d⚕️ Doe\r\n𝔘 Doe\n", (Span(5, 8, "PATIENT"), Span(10, 13, "DATE")))])
def test_label_studio_keeps_everything(documents):
    assert round_trip(documents, "label-studio") == documents


@settings(deadline=None)
@given(corpora())
@example([Document("a", "👩\u200d⚕️ Doe\r\n𝔘 Doe\n", (Span(5, 8, "PATIENT"), Span(10, 13, "DATE")))])
def test_doccano_keeps_everything(documents):
    assert round_trip(documents, "doccano") == documents


@settings(deadline=None)
@given(corpora(texts=xml_texts))
@example([Document("a", "👩\u200d⚕️ Doe\r\n𝔘\tDoe\n", (Span(5, 8, "PATIENT"), Span(10, 13, "DATE")))])
def test_xmi_keeps_everything(documents):
    assert round_trip(documents, "xmi") == documents


@settings(deadline=None)
@given(corpora(texts=xml_texts))
@example([Document("a", "]]\r>]]>\r\r\n", (Span(0, 4, "DATE"), Span(2, 9, "ID")))])
def test_i2b2_2014_keeps_everything(documents):
    assert round_trip(documents, "i2b2-2014") == documents


@settings(deadline=None)
@given(corpora(texts=xml_texts, overlapping=False))
@example([Document("a", "\r\n<b>&lt;\r", (Span(0, 1, "DATE"), Span(1, 4, "ID"), Span(9, 10, "ID")))])
def test_i2b2_2006_keeps_everything(documents):
    assert round_trip(documents, "i2b2-2006") == documents


@settings(deadline=None)
@given(corpora(overlapping=False))
def test_columns_keep_tokens_and_tags_or_refuse(documents):
    encoded = [bio.encode(document) for document in documents]
    if any(one.unaligned for one in encoded):
        with pytest.raises(SpanError):
            round_trip(documents, "conll")
        return
    found = round_trip(documents, "conll")
    assert [document.id for document in found] == [document.id for document in documents]
    for document, expected in zip(found, encoded, strict=True):
        sentences = bio.encode(document).sentences
        assert [(s.sentence.words, s.tags) for s in sentences] == [
            (s.sentence.words, s.tags) for s in expected.sentences
        ]
    assert round_trip(found, "conll") == found, "a corpus that came in columns comes back whole"


@pytest.mark.parametrize("format", XML_FORMATS)
@settings(deadline=None)
@given(character=st.sampled_from(["\x00", "\x0b", "\x1f", "\ufffe", "\uffff"]), before=xml_texts)
def test_xml_refuses_control_characters_with_their_place(format, character, before):
    with pytest.raises(FormatError) as caught:
        round_trip([Document("note7", before + character)], format)
    assert caught.value.offset == len(before)
    assert str(caught.value).startswith("document 1, offset")


@pytest.mark.parametrize("format", written_formats())
def test_lone_surrogates_are_refused(format, tmp_path):
    with pytest.raises(EncodingError) as caught:
        write_corpus([Document("a", "ok"), Document("b", "Dr. \ud83d")], tmp_path / "out", format=format)
    assert caught.value.offset == 4
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("format", written_formats())
def test_written_corpora_are_recognised(format, tmp_path):
    target = tmp_path / FILES.get(format, "out")
    write_corpus([Document("7", "Dr. Doe came.\n", (Span(4, 7, "DOCTOR"),))], target, format=format)
    assert recognise(target) == format
    (document,) = read_corpus(target)
    assert document.id == "7"
    assert [(document.text[s.start : s.end], s.label) for s in document.spans] == [("Doe", "DOCTOR")]


def test_i2b2_2006_refuses_overlapping_spans(tmp_path):
    document = Document("9", "Dr. Doe Hospital", (Span(4, 7, "DOCTOR"), Span(4, 16, "HOSPITAL")))
    with pytest.raises(SpanError) as caught:
        write_corpus([document], tmp_path / "all.xml", format="i2b2-2006")
    assert (caught.value.path, caught.value.offset) == ("document 1", 4)
    assert not (tmp_path / "all.xml").exists()


@pytest.mark.parametrize("format", ["brat", "i2b2-2014", "i2b2-2010", "xmi"])
@pytest.mark.parametrize("name", ["../out", "/etc/note", "a/../../b", "", ".", "a//b", "a\\b", "a\nb", "a\x00b"])
def test_an_id_never_leads_out_of_the_folder(format, name, tmp_path):
    with pytest.raises(FormatError):
        write_corpus([Document("good", "x"), Document(name, "x")], tmp_path / "out", format=format)
    assert not list(tmp_path.iterdir()), "nothing is written when one document is refused"


@pytest.mark.parametrize("label", ["TWO WORDS", ""])
@pytest.mark.parametrize("format", ["brat", "conll"])
def test_labels_that_break_the_line_are_refused(format, label, tmp_path):
    with pytest.raises(FormatError):
        write_corpus([Document("a", "Doe", (Span(0, 3, label),))], tmp_path / "out", format=format)


@pytest.mark.parametrize(("phi", "names"), [(True, "phi, concept"), (False, "concept")])
@pytest.mark.parametrize("format", sorted(set(written_formats()).difference(["jsonl"])))
def test_layers_that_a_format_would_lose_are_refused(format, phi, names, tmp_path):
    document = Document("note7", "Dr. Doe", layers={"concept": (Span(0, 7, "DRUG"),)}, phi_annotated=phi)
    with pytest.raises(FormatError) as caught:
        write_corpus([document], tmp_path / "out", format=format)
    assert caught.value.path == "document 1"
    assert not (tmp_path / "out").exists()


@settings(deadline=None)
@given(corpora(), st.data())
def test_jsonl_keeps_every_layer_and_what_nobody_annotated(documents, data):
    layered = []
    for document in documents:
        layers = {name: data.draw(spans_of(document.text, overlapping=True)) for name in ("concept", "a b")}
        kept = data.draw(st.sets(st.sampled_from([*layers])))
        phi = data.draw(st.booleans()) or not kept
        spans = document.spans if phi else ()
        layered.append(
            Document(
                document.id,
                document.text,
                spans,
                layers={name: layers[name] for name in sorted(kept)},
                phi_annotated=phi,
            )
        )
    found = round_trip(layered, "jsonl")
    assert found == layered
    assert [set(one.annotated) for one in found] == [set(one.annotated) for one in layered]


QUOTED = '\ufeffDoe "x"\u2028||t="y"\r\n\r\n\u0130\u03a3 Doe\n'


def of_tokens(draw, document):
    """The document with spans that begin and end with what stands between white space, in one line or in several."""
    tokens = [match.span() for match in re.finditer(r"\S+", document.text)]
    if not tokens:
        return Document(document.id, document.text)
    places = draw(st.lists(st.tuples(st.integers(0, len(tokens) - 1), st.integers(0, 3)), max_size=5))
    labels = st.sampled_from([label for label in LABELS if '"' not in label])
    spans = [Span(tokens[n][0], tokens[min(n + k, len(tokens) - 1)][1], draw(labels)) for n, k in places]
    return Document(document.id, document.text, tuple(spans))


@settings(deadline=None)
@given(corpora(), st.data())
@example([Document("a", "")], None)
@example([Document("a", QUOTED, (Span(0, 4, "problem"), Span(5, 22, "DATE")))], None)
def test_i2b2_2010_keeps_what_tokens_can_express(documents, data):
    if data is not None:
        documents = [of_tokens(data.draw, document) for document in documents]
    assert round_trip(documents, "i2b2-2010") == documents


@settings(deadline=None)
@given(corpora())
def test_i2b2_2010_refuses_what_it_would_lose(documents):
    try:
        found = round_trip(documents, "i2b2-2010")
    except DataError as error:
        assert re.search("does not begin and end with a token|label cannot be", error.problem)
    else:
        assert found == documents


def test_duplicate_ids_are_not_written(tmp_path):
    with pytest.raises(MismatchError) as caught:
        write_corpus([Document("a", "x"), Document("a", "y")], tmp_path / "out", format="brat")
    assert caught.value.path == "document 2"
