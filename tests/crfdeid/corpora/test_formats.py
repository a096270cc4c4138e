"""Reading, recognising and refusing corpora, whatever their format. Every text here is invented."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from crfdeid.corpora import CORPUS_FORMATS, read_corpus, recognise, write_corpus, written_formats
from crfdeid.documents import Document, Span
from crfdeid.errors import (
    DataError,
    EmptyInputError,
    EncodingError,
    FormatError,
    MismatchError,
    NotFoundError,
    OptionConflictError,
    OutputExistsError,
    ReadError,
    SpanError,
    UnknownNameError,
    WriteError,
)

STANDOFF = "<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}\n</TAGS>\n</deIdi2b2>"
XMI = """<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"
 xmlns:ner="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore">{entity}
<cas:Sofa xmi:id="1" sofaString="Dr. Doe"/></xmi:XMI>"""
INLINE = '<ROOT>\n<RECORD ID="1"><TEXT>{text}</TEXT></RECORD>\n</ROOT>'
DOE = '<NAME id="P0" start="{start}" end="{end}" text="Doe" TYPE="DOCTOR" comment=""/>'


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def covered(document: Document) -> list[tuple[str, str]]:
    return [(document.text[s.start : s.end], s.label) for s in document.spans]


# --- recognising ------------------------------------------------------------------------------------------------------

SAMPLES = {
    "brat": {"a.txt": "Dr. Doe", "a.ann": "T1\tDOCTOR 4 7\tDoe\n"},
    "i2b2-2014": {"a.xml": STANDOFF.format(text="Dr. Doe", tags=DOE.format(start=4, end=7))},
    "i2b2-2006": {"all.xml": INLINE.format(text='Dr. <PHI TYPE="DOCTOR">Doe</PHI>')},
    "i2b2-2010": {"concept/a.con": 'c="doe" 1:1 1:1||t="DOCTOR"\n', "txt/a.txt": "Dr. Doe"},
    "conll": {"train.conll": "Dr.\tO\nDoe\tB-DOCTOR\n"},
    "jsonl": {"a.jsonl": '{"id": "a", "text": "Dr. Doe", "spans": [{"start": 4, "end": 7, "label": "DOCTOR"}]}\n'},
    "label-studio": {
        "a.json": '[{"id": 1, "data": {"text": "Dr. Doe"}, "annotations": [{"result": [{"type": "labels",\n'
        '"value": {"start": 4, "end": 7, "text": "Doe", "labels": ["DOCTOR"]}}]}]}]\n'
    },
    "doccano": {"a.jsonl": '{"id": 1, "text": "Dr. Doe", "label": [[4, 7, "DOCTOR"]]}\n'},
    "xmi": {"a.xmi": XMI.format(entity='<ner:NamedEntity xmi:id="2" sofa="1" begin="4" end="7" value="DOCTOR"/>')},
    "tab": {
        "a.jsonl": '{"id": "a", "text": "Dr. Doe", "entities": [{"start_offset": 4, "end_offset": 7, '
        '"entity_type": "DOCTOR", "identifier_type": "DIRECT", "entity_id": "a_1", "span_text": "Doe"}]}\n'
    },
    "asq-phi": {"a.txt": '===QUERY===\nDr. Doe\n===PHI_TAGS===\n{"identifier_type": "DOCTOR", "value": "Doe"}\n'},
}


def test_every_format_is_listed():
    assert set(SAMPLES) == set(CORPUS_FORMATS)
    for name, format in CORPUS_FORMATS.items():
        assert hasattr(format.module, "to_files") == (name in written_formats()), name
        assert format.endings or not (format.tagged or format.annotators), name


COMMANDS_WITH_FURTHER_FORMATS = """
import sys
from types import SimpleNamespace
from crfdeid import Document, Span, read_corpus
from crfdeid.corpora import CORPUS_FORMATS, CorpusFormat

def read(path):
    return [Document(str(n), f"Seen on 0{n}/02/2019.", (Span(8, 18, "DATE"),)) for n in range(1, 9)]

def to_files(documents, path):
    return {path: "".join(document.text for document in documents)}

facts = {"SUFFIXES": (".odd",), "looks_like": lambda file: file.suffix == ".odd", "read": read}
CORPUS_FORMATS["only-read"] = CorpusFormat(module=SimpleNamespace(**facts))
writer = SimpleNamespace(**facts, to_files=to_files)
CORPUS_FORMATS["tagged"] = CorpusFormat(module=writer, endings=(".odd",), tagged=True)
from crfdeid.cli import main

reads = ["notes.odd", "--format", "only-read"]
codes = [
    main(["convert", *reads, "--output", "notes.jsonl"]),
    main(["train", *reads, "--model", "rules", "--output", "model"]),
]
for format in ("only-read", "tagged"):
    codes.append(main(["convert", *reads, "--output", f"{format}.odd", "--output-format", format]))
    codes.append(main(["tag", "rules", "texts", "--output", format, "--output-format", format]))
print("codes", *codes, len(read_corpus("notes.jsonl")))
"""


def test_a_format_is_in_the_choices_of_the_commands_that_it_fits(tmp_path):
    put(tmp_path, {"notes.odd": "x", "texts/a.txt": "Seen on 01/02/2019."})
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS_WITH_FURTHER_FORMATS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "codes 0 0 2 2 0 0 8", done.stderr
    assert (tmp_path / "tagged" / "a.odd").read_text() == "Seen on 01/02/2019."


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", CORPUS_FORMATS)
def test_auto_reads_each_format_from_a_folder_and_from_a_file(name, line_end, tmp_path):
    files = {file: content.replace("\n", line_end) for file, content in SAMPLES[name].items()}
    folder = put(tmp_path / "corpus", {**files, "README.md": "About this corpus.", "LICENSE": "MIT"})
    for path in (folder, folder / next(iter(files))):
        assert recognise(path) == name
        (document,) = read_corpus(path)
        assert document.text == "Dr. Doe"
        assert covered(document) == [("Doe", "DOCTOR")]
        assert read_corpus(str(path), format=name) == [document]


@pytest.mark.parametrize(
    "name", ["i2b2-2014", "i2b2-2006", "conll", "jsonl", "label-studio", "doccano", "xmi", "asq-phi", "tab"]
)
def test_a_byte_order_mark_before_the_data_is_no_data(name, tmp_path):
    put(tmp_path, {file: b"\xef\xbb\xbf" + content.encode() for file, content in SAMPLES[name].items()})
    (document,) = read_corpus(tmp_path)
    assert covered(document) == [("Doe", "DOCTOR")]


def test_two_formats_in_one_folder_ask_for_a_choice(tmp_path):
    put(tmp_path / "brat", SAMPLES["brat"])
    put(tmp_path / "xml", SAMPLES["i2b2-2014"])
    with pytest.raises(OptionConflictError):
        read_corpus(tmp_path)
    assert [d.id for d in read_corpus(tmp_path, format="brat")] == ["brat/a"]
    assert [d.id for d in read_corpus(tmp_path, format="i2b2-2014")] == ["xml/a"]


NAMED = {"label-studio": "other.json", "doccano": "other.jsonl", "brat": None, "xmi": None}


@pytest.mark.parametrize("name", NAMED)
def test_a_folder_may_mix_formats_where_each_file_is_clear(name, tmp_path):
    other = Document("other", "Seen by Dr. Marsh.", (Span(12, 17, "DOCTOR"),))
    target = tmp_path if NAMED[name] is None else tmp_path / NAMED[name]
    write_corpus([other], target, format=name)
    write_corpus([Document("1", "Quill came.", (Span(0, 5, "PATIENT"),))], tmp_path / "marks.jsonl", format="jsonl")
    (tmp_path / "README.md").write_text("no notes")
    found = {document.text: covered(document) for document in read_corpus(tmp_path)}
    assert found == {other.text: [("Marsh", "DOCTOR")], "Quill came.": [("Quill", "PATIENT")]}
    assert read_corpus(tmp_path, format=recognise(tmp_path)) == read_corpus(tmp_path)
    write_corpus([other], tmp_path / "again.jsonl", format="jsonl")
    with pytest.raises(MismatchError):  # the same note in two formats
        read_corpus(tmp_path)
    (tmp_path / "again.jsonl").unlink()
    (tmp_path / "odd.xml").write_text("<RECORD></RECORD><TEXT><![CDATA[")  # could be of two formats
    with pytest.raises(OptionConflictError):
        read_corpus(tmp_path)


def test_notes_that_a_reviewer_did_not_read_to_the_end_are_left_out(tmp_path):
    line = {"text": "Quill came.", "spans": [], "marks": 2, "replaced": "recorded"}
    lines = [{"id": "1", "read": True, **line}, {"id": "2", "read": False, **line}]
    (tmp_path / "marks.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    assert [document.id for document in read_corpus(tmp_path)] == ["1"]


def test_what_no_format_fits_names_them_all(tmp_path):
    put(tmp_path, {"note.txt": "Seen by Dr. Doe.\n"})
    with pytest.raises(UnknownNameError):
        read_corpus(tmp_path / "note.txt")


def test_unknown_format_path_and_target(tmp_path):
    path = put(tmp_path, SAMPLES["jsonl"])
    with pytest.raises(UnknownNameError):
        read_corpus(path, format="csv")
    with pytest.raises(UnknownNameError):
        read_corpus(tmp_path / "nowhere")
    with pytest.raises(UnknownNameError):
        write_corpus([], tmp_path / "out", format="asq-phi")
    for name in ("jsonl", "conll", "i2b2-2006", "label-studio", "doccano"):
        with pytest.raises(OutputExistsError):
            write_corpus([Document("a", "x")], tmp_path, format=name)


@pytest.mark.parametrize("name", ["auto", *CORPUS_FORMATS])
def test_nothing_to_read_is_an_error(name, tmp_path):
    with pytest.raises(EmptyInputError):
        read_corpus(tmp_path, format=name)
    put(tmp_path, {"empty.xml": ""})
    with pytest.raises(DataError):
        read_corpus(tmp_path, format=name)


@pytest.mark.parametrize("name", CORPUS_FORMATS)
def test_bytes_that_are_not_utf8_name_file_and_line(name, tmp_path):
    put(tmp_path, {file: content.encode() + b"\nMu\xf1oz\n" for file, content in SAMPLES[name].items()})
    with pytest.raises(EncodingError):
        read_corpus(tmp_path, format=name)


def test_documents_come_in_one_order_whatever_order_they_were_written_in(tmp_path):
    documents = [Document(name, "x") for name in ("b", "a/z", "c", "a/b")]
    write_corpus(documents, tmp_path / "one", format="brat")
    write_corpus(documents[::-1], tmp_path / "two", format="brat")
    assert [d.id for d in read_corpus(tmp_path / "one")] == [d.id for d in read_corpus(tmp_path / "two")]


def test_hidden_files_are_no_data(tmp_path):
    folder = put(tmp_path / ".home" / "corpus", SAMPLES["brat"])
    put(folder, {".DS_Store": b"\xff", "._a.txt": b"\xff", "._a.ann": b"\xff", ".git/b.txt": "", "sub/.c.ann": ""})
    assert [d.id for d in read_corpus(folder)] == ["a"]


@pytest.mark.parametrize("target", ["nowhere", "link", "."])
def test_a_link_that_would_leave_documents_out_is_refused(target, tmp_path):
    put(tmp_path, SAMPLES["brat"])
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(NotFoundError):
        read_corpus(tmp_path)


def test_links_to_files_and_to_the_corpus_are_followed(tmp_path):
    put(tmp_path / "there", SAMPLES["brat"])
    (tmp_path / "corpus").mkdir()
    for name in SAMPLES["brat"]:
        (tmp_path / "corpus" / name).symlink_to(tmp_path / "there" / name)
    (tmp_path / "link").symlink_to("corpus")
    assert [d.id for d in read_corpus(tmp_path / "link")] == ["a"]


@pytest.mark.parametrize("name", CORPUS_FORMATS)
def test_a_file_or_folder_that_we_may_not_read_is_named(name, tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    put(tmp_path / "corpus" / "sub", SAMPLES[name])
    for method in ("iterdir", "open"):
        with monkeypatch.context() as patched:
            patched.setattr(Path, method, refuse)
            with pytest.raises(ReadError):
                read_corpus(tmp_path / "corpus", format=name)


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has no such file names")
def test_a_file_name_that_is_not_utf8_is_refused_before_it_becomes_an_id(tmp_path):
    for file, content in SAMPLES["brat"].items():
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/n\xe9" + file.encode())).write_text(content)
    with pytest.raises(EncodingError):
        read_corpus(tmp_path)


def test_concepts_stand_beside_their_text_or_in_folders_of_their_own(tmp_path):
    line = 'c="doe" 1:1 1:1||t="problem"\n'
    put(tmp_path / "beside", {"x/a.con": line, "x/a.txt": "Dr. DOE"})
    put(tmp_path / "folders", {"x/concept/a.con": line, "x/txt/a.txt": "Dr. DOE", "x/ast/a.ast": "Doe"})
    beside, (there,) = (read_corpus(tmp_path / name) for name in ("beside", "folders"))
    assert beside == [there]
    assert (there.id, covered(there)) == ("x/a", [("DOE", "problem")])
    for path in ("x/concept", "x/concept/a.con"):
        assert [replace(one, id="x/a") for one in read_corpus(tmp_path / "folders" / path)] == [there]


def test_a_concept_can_go_on_in_the_next_line(tmp_path):
    line = 'c="left hip pain" 2:1 3:0||t="problem"'
    put(tmp_path, {"a.con": line, "a.txt": "Seen.\r\n\tHas Left hip \r\npain .\n"})
    (document,) = read_corpus(tmp_path)
    assert covered(document) == [("Left hip \r\npain", "problem")]


def test_document_start_lines_without_a_tag_are_recognised(tmp_path):
    put(tmp_path, {"a.txt": "-DOCSTART-\n\nDr. O\nDoe B-DOCTOR\n\n-DOCSTART-\n\nx O\n"})
    assert [d.text for d in read_corpus(tmp_path)] == ["Dr. Doe", "x"]


@pytest.mark.parametrize("name", ["../a", "/a", "a/../b", ".a", "a/.b", "..", ".", "", "a//b", "a/", "a\\b", "a\nb"])
def test_an_id_leads_to_no_file_outside_or_hidden(name, tmp_path):
    for format in ("brat", "i2b2-2014", "i2b2-2010"):
        with pytest.raises(FormatError):
            write_corpus([Document(name, "x")], tmp_path / "out", format=format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("label", ["A\\nB", "\\u001b[31m", "\\u2028"])
def test_a_label_that_would_break_a_table_is_refused(label, tmp_path):
    put(tmp_path, {"a.jsonl": SAMPLES["jsonl"]["a.jsonl"].replace("DOCTOR", label)})
    with pytest.raises(FormatError) as caught:
        read_corpus(tmp_path)
    assert (Path(str(caught.value.path)).name, caught.value.offset) == ("a.jsonl, line 1", 4)


def test_an_id_that_stands_twice_is_refused(tmp_path):
    line = SAMPLES["jsonl"]["a.jsonl"]
    put(tmp_path, {"a.jsonl": line + line})
    with pytest.raises(MismatchError) as caught:
        read_corpus(tmp_path)
    assert Path(str(caught.value.path)).name == "a.jsonl, line 2"


def test_rewriting_a_file_replaces_it_whole_and_leaves_nothing_behind(tmp_path):
    target = tmp_path / "new" / "corpus.jsonl"
    write_corpus([Document("a", "long " * 100)], target, format="jsonl")
    write_corpus([Document("a", "short")], target, format="jsonl")
    assert [d.text for d in read_corpus(target)] == ["short"]
    assert list(target.parent.iterdir()) == [target]


def test_a_target_that_cannot_be_written_is_a_clear_error(tmp_path):
    put(tmp_path, {"file": "x"})
    with pytest.raises(WriteError):
        write_corpus([Document("a", "x")], tmp_path / "file" / "corpus.jsonl", format="jsonl")


# --- details of the formats -------------------------------------------------------------------------------------------


def test_brat_reads_over_what_is_no_entity(tmp_path):
    others = (
        "R1\tof Arg1:T1 Arg2:T1\nE1\tX:T1\nA1\tNo T1\nM1\tX T1\nN1\tRef T1 db:1\tx\n#1\tNote T1\tx\n*\tEquiv T1 T2\n"
    )
    put(tmp_path, {"a.txt": "Dr.\nDoe", "a.ann": others + "T1\tDOCTOR 0 7\tDr. Doe\r\n\n"})
    (document,) = read_corpus(tmp_path)
    assert document.spans == (Span(0, 7, "DOCTOR"),)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n  ", " \n\n"])
def test_brat_reads_and_writes_a_span_over_a_line_end_as_fragments(end, tmp_path):
    text = f"by Jane{end}Quill today"
    start, stop = text.index("Quill"), text.index(" today")
    put(tmp_path, {"a.txt": text, "a.ann": f"T1\tDOCTOR 3 7;{start} {stop}\tJane Quill\r\n"})
    (document,) = read_corpus(tmp_path)
    assert document.spans == (Span(3, stop, "DOCTOR"),)
    write_corpus([document], tmp_path / "again", format="brat")
    assert (tmp_path / "again" / "a.ann").read_bytes().decode() == f"T1\tDOCTOR 3 7;{start} {stop}\tJane Quill\n"
    assert read_corpus(tmp_path / "again")[0].spans == document.spans


@pytest.mark.parametrize("counted", [1, 2])
@pytest.mark.parametrize("line", ["\n", "\r\n"])
def test_brat_offsets_may_count_crlf_as_one_character_or_two(counted, line, tmp_path):
    text = "Note\r\nby Quill\r\nand Tawn\r\n"
    seen = text if counted == 2 else text.replace("\r\n", "\n")
    values = ["Quill", "Tawn"]
    rows = [f"T{n}\tDOCTOR {seen.index(v)} {seen.index(v) + len(v)}\t{v}{line}" for n, v in enumerate(values)]
    put(tmp_path, {"a.txt": text, "a.ann": "".join(rows)})
    (document,) = read_corpus(tmp_path)
    assert document.text == text
    assert [text[start:end] for start, end, _ in document.spans] == values


def test_brat_names_the_annotations_that_are_not_read(tmp_path):
    others = "R1\tof Arg1:T1 Arg2:T1\nA1\tSure T1\n#1\tAnnotatorNotes T1\tsee below\n"
    put(tmp_path, {"a.txt": "Quill", "a.ann": f"T1\tDOCTOR 0 5\tQuill\n{others}"})
    assert read_corpus(tmp_path)[0].unread == ("relations", "attributes")


def test_brat_offsets_count_characters_not_bytes_or_utf16(tmp_path):
    put(tmp_path, {"a.txt": "👩‍⚕️ é\r\nDoe", "a.ann": "T1\tDOCTOR 8 11\tDoe\n"})
    (document,) = read_corpus(tmp_path)
    assert covered(document) == [("Doe", "DOCTOR")]


def test_i2b2_2014_accepts_any_root_and_unescaped_line_ends_in_attributes(tmp_path):
    source = STANDOFF.replace("deIdi2b2", "MEDDOCAN").format(
        text="Dr. Doe\nor Roe", tags='<NAME id="T1" start="4" end="10" text="Doe\nor" TYPE="X_Y" comment=""/>'
    )
    put(tmp_path, {"a.xml": source})
    (document,) = read_corpus(tmp_path)
    assert document.spans == (Span(4, 10, "X_Y"),)


@pytest.mark.parametrize(("start", "text"), [(9, "Seen.\r\n\r\nDoe"), (7, "Seen.\n\nDoe")])
def test_i2b2_2014_with_crlf_reads_by_the_offsets_it_has(start, text, tmp_path):
    source = STANDOFF.format(text="Seen.\n\nDoe", tags=DOE.format(start=start, end=start + 3))
    put(tmp_path, {"a.xml": source.replace("\n", "\r\n")})
    (document,) = read_corpus(tmp_path)
    assert document.text == text
    assert covered(document) == [("Doe", "DOCTOR")]


def test_i2b2_2014_writes_a_types_own_category(tmp_path):
    spans = (Span(0, 3, "DOCTOR"), Span(0, 3, "FAX"), Span(0, 3, "fromloc.city_name"))
    write_corpus([Document("a", "Doe", spans)], tmp_path / "out", format="i2b2-2014")
    written = (tmp_path / "out" / "a.xml").read_text()
    assert '<NAME id="P0" start="0" end="3" text="Doe" TYPE="DOCTOR" comment=""/>' in written
    assert '<CONTACT id="P1"' in written
    assert '<OTHER id="P2"' in written


@pytest.mark.parametrize("name", ["i2b2-2014", "i2b2-2006"])
def test_xml_that_defines_entities_is_refused(name, tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>\n'
    put(tmp_path, {"a.xml": bomb + next(iter(SAMPLES[name].values())).replace("Dr.", "&b;")})
    with pytest.raises(FormatError):
        read_corpus(tmp_path, format=name)


def test_i2b2_2006_reads_entities_and_crlf_as_the_characters_they_are(tmp_path):
    put(tmp_path, {"a.xml": INLINE.format(text='A &amp; B\r\n<PHI TYPE="DOCTOR">O&apos;Doe</PHI>\r\n')})
    (document,) = read_corpus(tmp_path)
    assert document.text == "A & B\r\nO'Doe\r\n"
    assert covered(document) == [("O'Doe", "DOCTOR")]


def test_jsonl_reads_over_other_keys_and_takes_numbers_for_ids(tmp_path):
    put(
        tmp_path,
        {"a.jsonl": '{"id": 7, "lang": "en", "text": "Doe", "spans": [{"start": 0, "end": 3, "label": "ID", "p": 1}]}'},
    )
    assert read_corpus(tmp_path) == [Document("7", "Doe", (Span(0, 3, "ID"),))]


def asq(query: str, *tags: tuple[str, str]) -> str:
    lines = (f'{{"identifier_type": "{label}", "value": "{value}"}}\n' for label, value in tags)
    return f"===QUERY===\n{query}\n===PHI_TAGS===\n{''.join(lines)}\n"


def test_asq_phi_numbers_its_queries_and_keeps_those_without_phi(tmp_path):
    put(tmp_path, {"dev.txt": asq("Dosing for Jo Doe", ("NAME", "Jo Doe")) + asq("Dosing in sepsis")})
    assert [(d.id, d.text, covered(d)) for d in read_corpus(tmp_path)] == [
        ("dev:1", "Dosing for Jo Doe", [("Jo Doe", "NAME")]),
        ("dev:2", "Dosing in sepsis", []),
    ]


@pytest.mark.parametrize(
    ("query", "tags", "expected"),
    [
        ("Ann, annual; Ann", [("NAME", "Ann")], [(0, 3, "NAME"), (13, 16, "NAME")]),
        ("QRX, MRN QRX-12", [("PLACE", "QRX"), ("MRN", "QRX-12")], [(0, 3, "PLACE"), (9, 15, "MRN")]),
        ("Doe at St. Mary’s", [("PLACE", "St. Mary's")], [(7, 17, "PLACE")]),
        ("MRN12 seen", [("MRN", "12")], [(3, 5, "MRN")]),
        ("at Mary Clinic", [("NAME", "Mary"), ("PLACE", "Mary Clinic")], [(3, 7, "NAME"), (3, 14, "PLACE")]),
        ("Ann and Ann", [("NAME", "Ann"), ("NAME", "Ann")], [(0, 3, "NAME"), (8, 11, "NAME")]),
    ],
    ids=["every whole word", "not in a longer value", "quotes folded", "inside a word", "only nested", "listed twice"],
)
def test_asq_phi_finds_values(query, tags, expected, tmp_path):
    put(tmp_path, {"a.txt": asq(query, *tags)})
    (document,) = read_corpus(tmp_path)
    assert list(document.spans) == [Span(*span) for span in expected]


def test_asq_phi_refuses_a_value_that_is_not_in_its_query(tmp_path):
    put(tmp_path, {"a.txt": asq("Dosing") + asq("Dosing for Jo Doe", ("NAME", "Jo Doe"), ("NAME", "Jane"))})
    with pytest.raises(SpanError) as caught:
        read_corpus(tmp_path)
    assert (Path(str(caught.value.path)).name, caught.value.line) == ("a.txt", 9)
    assert "Jane" not in str(caught.value)


def test_reading_a_corpus_loads_no_heavy_library():
    heavy = "jax, sklearn, sklearn_crfsuite, pandas, nltk, textblob, faker"
    code = f"import sys, crfdeid, crfdeid.corpora; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def code_blocks(page: str) -> list[tuple[str, str]]:
    """(language, content) of each fenced block of a page."""
    text = (Path(__file__).parents[3] / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_documented_i2b2_splits_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [Document(str(i), "Dr. Doe", (Span(4, 7, "DOCTOR"),)) for i in range(25)]
    write_corpus(records, "deid_surrogate_train_all_version2.xml", format="i2b2-2006")
    for part, patients in (("1", range(0, 12)), ("2", range(12, 24))):
        notes = [Document(f"{patient:03}-0{i}", "Dr. Doe") for patient in patients for i in (1, 2)]
        write_corpus(notes, f"training-PHI-Gold-Set{part}", format="i2b2-2014")
    for language, block in code_blocks("how-to/import-corpora.md"):
        if language == "python":
            exec(block, {})
    assert sorted(d.id for d in [*read_corpus("dev.xml"), *read_corpus("train.xml")]) == sorted(d.id for d in records)
    assert [d.id for d in read_corpus("dev.xml")] == ["0", "10", "20"]
    dev, train = ({d.id[:3] for d in read_corpus(split)} for split in ("dev", "train"))
    assert (len(dev), len(train), dev & train) == (3, 21, set())


def test_the_documented_samples_read_as_documented(tmp_path):
    samples = [block for language, block in code_blocks("reference/formats.md") if language != "python"]
    names = (
        "a.ann",
        "a.xml",
        "all.xml",
        "a.con",
        "a.conll",
        "a.jsonl",
        "layers.jsonl",
        "a.json",
        "b.jsonl",
        "a.xmi",
        "a.txt",
        "tab.jsonl",
    )
    texts = {"a.ann": "Seen by Jane Roe.", "a.con": "\n" * 11 + "She has some left hip pain ."}
    assert len(samples) == len(names)
    for name, sample in zip(names, samples, strict=True):
        folder = put(tmp_path / name, {name: sample})
        if name in texts:
            put(folder, {"a.txt": texts[name]})
        document, *others = read_corpus(folder)
        expected = "left hip pain" if name == "a.con" else "Jane Roe"
        assert [value for value, _ in covered(document)] == [expected]
        assert [(d.annotated, d.text[slice(*d.layer("concept")[0][:2])]) for d in others] == (
            [(("concept",), "fever")] if name == "layers.jsonl" else []
        )
