"""Column files: every tag scheme reads as the same entities, and sentences, documents and tokens stay as given."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from crfdeid import bio
from crfdeid.corpora import read_corpus, write_corpus
from crfdeid.documents import Document, Span
from crfdeid.errors import FormatError
from features.tokens import Sentence

TYPES = ("PER", "fromloc.city_name", "B-52")


@st.composite
def entities(draw):
    """(length of a sentence, its entities as (start, end, type)), adjacent ones of one type included."""
    length = draw(st.integers(1, 12))
    found, position = [], 0
    while position < length:
        size = draw(st.integers(1, min(4, length - position)))
        label = draw(st.sampled_from((*TYPES, None, None)))
        if label:
            found.append((position, position + size, label))
        position += size
    return length, found


def iob2(length, found):
    return marked(length, found, lambda i, start, end, touches: "B" if i == start else "I")


def iob1(length, found):
    return marked(length, found, lambda i, start, end, touches: "B" if i == start and touches else "I")


def iobes(length, found, names="BIES"):
    begin, inside, last, single = names

    def prefix(i, start, end, touches):
        if end - start == 1:
            return single
        return begin if i == start else last if i == end - 1 else inside

    return marked(length, found, prefix)


def bilou(length, found):
    return iobes(length, found, "BILU")


def marked(length, found, prefix):
    """Tags written by each scheme's definition, independently of the reader's rule."""
    tags = ["O"] * length
    for start, end, label in found:
        touches = any(other == label and stop == start for _, stop, other in found)
        for i in range(start, end):
            tags[i] = f"{prefix(i, start, end, touches)}-{label}"
    return tags


def read_tags(tags, tmp_path):
    file = tmp_path / "a.conll"
    file.write_text("".join(f"w{i} {tag}\n" for i, tag in enumerate(tags)))
    (document,) = read_corpus(file, format="conll")
    return bio.encode(document).sentences[0].tags


@pytest.mark.parametrize("scheme", [iob1, iob2, iobes, bilou])
@settings(deadline=None)
@given(sentence=entities())
@example(sentence=(3, [(0, 1, "PER"), (1, 2, "PER"), (2, 3, "PER")]))
@example(sentence=(4, [(0, 2, "PER"), (2, 4, "PER")]))
def test_every_scheme_reads_as_the_same_entities(scheme, sentence, tmp_path_factory):
    tags = scheme(*sentence)
    assert list(read_tags(tags, tmp_path_factory.mktemp("conll"))) == iob2(*sentence)


@settings(deadline=None)
@given(tags=st.lists(st.sampled_from(["O", *(f"{p}-{t}" for p in "BI" for t in "XY")]), min_size=1, max_size=12))
def test_invalid_iob2_reads_as_seqeval_reads_it(tags, tmp_path_factory):
    found = read_tags(tags, tmp_path_factory.mktemp("conll"))
    assert [(s.start, s.end - 1, s.label) for s in bio.tag_spans(found)] == [
        (b, e, t) for t, b, e in get_entities(tags)
    ]


def test_without_document_lines_each_sentence_is_a_document(tmp_path):
    file = tmp_path / "atis.train"
    file.write_text("\n\nfrom O\nBoston B-fromloc.city_name\n\n\nto O\nNew B-toloc.city_name\nYork I-toloc.city_name\n")
    assert [(d.id, d.text, d.spans) for d in read_corpus(file)] == [
        ("atis.train:3", "from Boston", (Span(5, 11, "fromloc.city_name"),)),
        ("atis.train:7", "to New York", (Span(3, 11, "toloc.city_name"),)),
    ]


def test_document_lines_part_documents(tmp_path):
    rows = [
        "-DOCSTART- -X- -X- O",
        "",
        "John NNP B-NP I-PER",
        "left VBD B-VP O",
        "",
        "He PRP B-NP O",
        "",
        "-DOCSTART- -X- O O",
    ]
    file = tmp_path / "eng.train"
    file.write_text("\r\n".join([*rows, "", "Oslo NNP B-NP I-LOC"]))
    first, second = read_corpus(file)
    assert (first.id, first.text, first.spans) == ("eng.train:1", "John left\nHe", (Span(0, 4, "PER"),))
    assert [s.words for s in first.sentences()] == [("John", "left"), ("He",)]
    assert [(s.line, s.line_count) for s in first.sentences()] == [(0, 2), (1, 2)]
    assert (second.id, second.spans) == ("eng.train:8", (Span(0, 4, "LOC"),))


def test_what_stands_before_the_first_document_line_is_kept(tmp_path):
    file = tmp_path / "a.conll"
    file.write_text("one O\n\n-DOCSTART- O\n\ntwo O\n")
    assert [(d.id, d.text) for d in read_corpus(file)] == [("a.conll:1", "one"), ("a.conll:3", "two")]


def test_the_given_tokens_stay_as_they_are(tmp_path):
    words = ["25yo", "don't", "3/4", "a\u00a0b", "x\u2028y", "two words", "\u00a0"]
    file = tmp_path / "a.tsv"
    file.write_text("".join(f"{word}\tO\n" for word in words), newline="")
    (document,) = read_corpus(file)
    (sentence,) = document.sentences()
    assert [document.text[t.start : t.end] for t in sentence.tokens] == words
    assert list(sentence.words) == [word.replace("\u00a0", " ") for word in words]


def test_words_are_written_as_they_came_not_in_normal_form(tmp_path):
    text = "Mu\u0301gica\u200b saw Qu\u00adill"
    write_corpus([Document("1", text, (Span(0, 7, "NAME"),))], tmp_path / "a.tsv", format="conll")
    assert read_corpus(tmp_path / "a.tsv")[0].text == text


def test_given_sentences_know_their_neighbours_in_the_document(tmp_path):
    text = "-DOCSTART-\n\nMr O\nDoe B-PER\n\nwent O\n\n-DOCSTART-\n\nhome O\n"
    (tmp_path / "notes.conll").write_text(text)
    one, two = read_corpus(tmp_path / "notes.conll", format="conll")
    first, second = one.sentences()
    assert (first.around(3), second.around(3)) == (((), ("went",)), (("Mr", "Doe"), ()))
    assert all(one.text[token.start : token.end] == token.text for token in second.note)
    assert two.sentences()[0].around(3) == ((), ())


def test_spaces_and_tabs_part_columns(tmp_path):
    for line in ("Doe B-PER", "Doe   x   B-PER  ", "Doe\tB-PER", "Doe\tx y\tB-PER\t"):
        (tmp_path / "a.conll").write_text(line)
        (document,) = read_corpus(tmp_path)
        assert (document.text, document.spans) == ("Doe", (Span(0, 3, "PER"),))


def test_iob2_is_written_with_the_document_ids(tmp_path):
    document = Document("ward 3/7", "Dr. Doe\nhome", (Span(0, 7, "PER"),))
    write_corpus([document, Document("none", "")], tmp_path / "a.conll", format="conll")
    assert (tmp_path / "a.conll").read_text() == (
        "-DOCSTART-\tward 3/7\tO\n\nDr\tB-PER\n.\tI-PER\nDoe\tI-PER\n\nhome\tO\n\n-DOCSTART-\tnone\tO\n\n"
    )
    assert [d.id for d in read_corpus(tmp_path / "a.conll")] == ["ward 3/7", "none"]


@pytest.mark.parametrize("name", ["", "O", "-X-", "a\tb", "a\nb"])
def test_an_id_that_fits_no_column_is_refused(name, tmp_path):
    with pytest.raises(FormatError):
        write_corpus([Document(name, "x")], tmp_path / "a.conll", format="conll")


@pytest.mark.parametrize("word", ["-DOCSTART-", "a\tb", "a\nb", ""])
def test_a_token_that_fits_no_column_is_refused(word, tmp_path):
    document = Document("d1", word, pretokenized=(Sentence.from_words([word]),))
    with pytest.raises(FormatError) as caught:
        write_corpus([document], tmp_path / "a.conll", format="conll")
    assert (caught.value.path, caught.value.offset) == ("document 1", 0)


REFUSED = {
    "gold and prediction": ("Seen O O\nJane B-PER O\nQuill I-PER B-PER\n", 1),
    "no gold, prediction": ("\nJane O B-PER\n", 2),
    "gold, no prediction": ("-DOCSTART- O\n\nJane B-PER O\n", 3),
    "part of speech, gold and prediction": ("Jane NNP S-PER B-PER\nran VBD O O\n", 1),
    "gold, part of speech and prediction": ("Jane B-PER NNP B-PER\nran O VBD O\n", 1),
    "row numbers": ("1\tJane\tB-PER\n2\tQuill\tI-PER\n\n1\tcame\tO\n", 1),
    "row numbers from 0": ("\n0 Jane B-PER\n1 came O\n", 2),
    "row numbers of a document": ("1 Jane B-PER\n\n2 came O\n", 1),
    "row numbers with sentences": ("1-1 Jane B-PER\n1-2 came O\n\n2-1 Home O\n", 1),
    "row numbers with ranges": ("1 Jane _ B-PER\n2-3 del _ O\n2 de _ O\n3 el _ O\n", 1),
    "row numbers and two layers": ("1\tJane\tB-PER\tO\n2\tcame\tO\tO\n", 1),
    "placeholder": ("Seen O\nJane B-null\nQuill I-null\n", 2),
    "placeholder in capitals": ("Jane B-PER\nQuill S-NONE\n", 2),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED)
def test_a_column_that_is_not_what_it_seems_is_refused_with_its_line(text, line, tmp_path):
    (tmp_path / "a.conll").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_corpus(tmp_path / "a.conll")
    assert (caught.value.path, caught.value.line) == (tmp_path / "a.conll", line)
    assert "Jane" not in str(caught.value)


def test_numbers_are_tokens_where_they_do_not_count_the_rows(tmp_path):
    (tmp_path / "a.conll").write_text("1 CD O\n2 CD O\nQuill NNP B-PER\n\n1 CD O\n")
    assert [document.text for document in read_corpus(tmp_path / "a.conll")] == ["1 2 Quill", "1"]
    (tmp_path / "a.conll").write_text("1 O\n2 O\n")
    assert [document.text for document in read_corpus(tmp_path / "a.conll")] == ["1 2"]


@pytest.mark.parametrize("chunks", [("B-NP", "B-VP"), ("I-NC", "I-VC"), ("O", "O")])
def test_chunks_before_the_tag_are_no_second_annotation(chunks, tmp_path):
    (tmp_path / "a.conll").write_text(f"Jane NNP {chunks[0]} B-PER\nran VBD {chunks[1]} O\n")
    assert read_corpus(tmp_path)[0].spans == (Span(0, 4, "PER"),)


def test_columns_that_are_not_read_are_named(tmp_path):
    (tmp_path / "a.conll").write_text("Jane NNP B-NP B-PER\nran VBD B-VP O\n")
    (document,) = read_corpus(tmp_path)
    assert document.unread == ("column 2", "column 3")
