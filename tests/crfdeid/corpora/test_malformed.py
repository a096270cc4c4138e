"""Malformed data is refused with its place, whatever the format, and without a word of the document."""

import pytest

from crfdeid.corpora import read_corpus
from crfdeid.errors import DataError

STANDOFF = "<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}\n</TAGS>\n</deIdi2b2>"
INLINE = '<ROOT>\n<RECORD ID="1"><TEXT>{text}</TEXT></RECORD>\n</ROOT>'
DOE = '<NAME id="P0" start="{start}" end="{end}" text="Doe" TYPE="DOCTOR" comment=""/>'

CON = {"a.txt": "Dr. Doe"}
_JSON = '{"id": "a", "text": "Doe", "spans": [%s]}'
MALFORMED = {
    "brat: no .ann": ("brat", {"a.txt": "Doe", "b.txt": "", "b.ann": ""}, r"a\.txt: a\.ann is missing"),
    "brat: no .txt": ("brat", {"a.ann": ""}, r"a\.ann: a\.txt is missing"),
    "brat: discontinuous": (
        "brat",
        {"a.txt": "Dr. Doe", "a.ann": "#1\tx\nT1\tDOCTOR 0 2;4 7\tDr Doe\n"},
        r"a\.ann, line 2: a disc",
    ),
    "brat: wrong text": (
        "brat",
        {"a.txt": "Dr. Doe", "a.ann": "T1\tDOCTOR 3 6\tDoe\n"},
        r"a\.ann, line 1: the text column",
    ),
    "brat: text missing": (
        "brat",
        {"a.txt": "Dr. Doe", "a.ann": "T1\tDOCTOR 4 7\n"},
        r"a\.ann, line 1: not a brat line",
    ),
    "brat: outside": (
        "brat",
        {"a.txt": "Doe", "a.ann": "T1\tDOCTOR 3 3\t\n"},
        r"a\.ann, offset 3: the DOCTOR span \[3, 3\)",
    ),
    "brat: not a line": (
        "brat",
        {"a.txt": "Doe", "a.ann": "\nDoe is the doctor\n"},
        r"a\.ann, line 2: not a brat line",
    ),
    "2014: wrong text": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Dr. Doe", tags=DOE.format(start=3, end=6))},
        r"a\.xml, offset 3: the text of a DOCTOR tag is not the text at \[3, 6\)",
    ),
    "2014: no offset": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags='<NAME TYPE="DOCTOR"/>')},
        r"a\.xml: a tag in TAGS without a TYPE",
    ),
    "2014: negative": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags=DOE.format(start=-3, end=3))},
        r"a\.xml: a tag in TAGS",
    ),
    "brat: huge offset": (
        "brat",
        {"a.txt": "Doe", "a.ann": f"T1\tDOCTOR 0 {'9' * 5000}\tDoe\n"},
        r"a\.ann, line 1: not a brat line",
    ),
    "2014: huge offset": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags=DOE.format(start=0, end="9" * 5000))},
        r"a\.xml: a tag in TAGS",
    ),
    "2014: stray tag": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags="<Doe/>")},
        r"a\.xml: a tag in TAGS",
    ),
    "2014: outside": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags='<NAME start="1" end="9" TYPE="DOCTOR"/>')},
        r"a\.xml, offset 1: the DOCTOR span \[1, 9\)",
    ),
    "2014: no TAGS": (
        "i2b2-2014",
        {"a.xml": "<deIdi2b2><TEXT>x</TEXT></deIdi2b2>"},
        r"a\.xml: expected a TEXT and a TAGS",
    ),
    "2014: broken": (
        "i2b2-2014",
        {"a.xml": "<deIdi2b2>\n<TEXT>x</TEXT>\n<TAGS>"},
        r"a\.xml, line 3: not well-formed XML",
    ),
    "2014: 2006": ("i2b2-2014", {"a.xml": "<R><TEXT>x<PHI/></TEXT><TAGS/></R>"}, r"a\.xml: markup inside TEXT"),
    "2006: broken": ("i2b2-2006", {"a.xml": INLINE.format(text="a & b")}, r"a\.xml, line 2: not well-formed XML"),
    "2006: nested": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text='Dr. <PHI TYPE="ID">1 <PHI TYPE="DATE">2</PHI></PHI>')},
        r"a\.xml, record 1, offset 4: expected <PHI",
    ),
    "2006: no TYPE": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text="Dr. <PHI>Doe</PHI>")},
        r"a\.xml, record 1, offset 4: expected",
    ),
    "2006: other": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text="Dr. <B>Doe</B>")},
        r"a\.xml, record 1, offset 4: .*found other markup",
    ),
    "2006: stray tag": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text="Dr. <Doe/>")},
        r"a\.xml, record 1, offset 4: expected",
    ),
    "2006: empty": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text='Dr. <PHI TYPE="ID"/>')},
        r"a\.xml, record 1, offset 4: the ID span",
    ),
    "2006: no id": (
        "i2b2-2006",
        {"a.xml": "<ROOT><RECORD><TEXT>x</TEXT></RECORD></ROOT>"},
        r"a\.xml, record 1: a RECORD without an ID",
    ),
    "2010: no .con": ("i2b2-2010", {"a.con": "", "a.txt": "", "b.txt": "Doe"}, r"b\.txt: there is no \.con file"),
    "2010: no .txt": ("i2b2-2010", {"a.con": ""}, r"a\.con: a\.txt is missing"),
    "2010: not a line": ("i2b2-2010", CON | {"a.con": '\nc="doe" 1:1 1:1'}, r"a\.con, line 2: not a line of i2b2 2010"),
    "2010: no type": ("i2b2-2010", CON | {"a.con": 'c="doe" 1:1 1:1||t=""'}, r"a\.con, line 1: not a line"),
    "2010: huge": ("i2b2-2010", CON | {"a.con": f'c="" 1:1 1:{"9" * 5000}||t="x"'}, r"a\.con, line 1: not a line"),
    "2010: line 0": ("i2b2-2010", CON | {"a.con": 'c="doe" 0:1 1:1||t="x"'}, r"line 1: there is no token 0:1"),
    "2010: no token": ("i2b2-2010", CON | {"a.con": 'c="doe" 1:1 1:2||t="x"'}, r"line 1: there is no token 1:2"),
    "2010: no such line": ("i2b2-2010", CON | {"a.con": 'c="doe" 1:1 2:0||t="x"'}, r"line 1: there is no token 2:0"),
    "2010: backwards": ("i2b2-2010", CON | {"a.con": 'c="" 1:1 1:0||t="x"'}, r"line 1: the concept in it is not what"),
    "2010: other text": ("i2b2-2010", CON | {"a.con": 'c="roe" 1:1 1:1||t="x"'}, r"a\.con, line 1: the concept in it"),
    "conll: one column": ("conll", {"a.conll": "Dr.\tO\n\nDoe\n"}, r"a\.conll, line 3: expected a token and its tag"),
    "conll: no token": ("conll", {"a.conll": "\tO\n"}, r"a\.conll, line 1: expected a token and its tag"),
    "conll: no tag": ("conll", {"a.conll": "Dr.\tO\nDoe\tNNP\n"}, r"a\.conll, line 2: the last column is no tag"),
    "conll: no type": ("conll", {"a.conll": "Doe\tB-\n"}, r"a\.conll, line 1: the last column is no tag"),
    "conll: only carriage returns": (
        "conll",
        {"a.conll": "Dr.\tO\rDoe\tB-DOCTOR\r\rx\tO\r"},
        r"a\.conll, line 1: a carriage return",
    ),
    "jsonl: not JSON": ("jsonl", {"a.jsonl": _JSON % "" + "\n{'id'}\n"}, r"a\.jsonl, line 2: not valid JSON"),
    "jsonl: deep": ("jsonl", {"a.jsonl": "[" * 100_000}, r"a\.jsonl, line 1: not valid JSON"),
    "jsonl: not an object": ("jsonl", {"a.jsonl": "3\n"}, r"a\.jsonl, line 1: expected"),
    "jsonl: no spans": ("jsonl", {"a.jsonl": '{"id": "a", "text": "x"}'}, r"a\.jsonl, line 1: expected"),
    "jsonl: text end": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": "3", "label": "ID"}'},
        r"line 1: expected a span",
    ),
    "jsonl: true": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": true, "label": "ID"}'},
        r"line 1: expected a span",
    ),
    "jsonl: no label": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": 3, "label": ""}'},
        r"line 1: expected a span",
    ),
    "jsonl: outside": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": 4, "label": "ID"}'},
        r"line 1, offset 0: the ID span",
    ),
    "jsonl: surrogate": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "\\ud83d", "spans": []}'},
        r"line 1, offset 0: a lone surrogate",
    ),
    "jsonl: layers": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "layers": []}'},
        r"line 1: expected .spans. as a",
    ),
    "jsonl: layer": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "layers": {"x": 3}}'},
        r"line 1: expected .spans.",
    ),
    "jsonl: PHI twice": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "spans": [], "layers": {"phi": []}}'},
        r"line 1: PHI is given twice",
    ),
    "jsonl: outside, in a layer": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "layers": {"concept": [{"start": 2, "end": 4, "label": "X"}]}}'},
        r"line 1, offset 2: the X span",
    ),
    "asq: before": (
        "asq-phi",
        {"a.txt": "Dr. Doe\n===QUERY===\nx\n===PHI_TAGS===\n"},
        r"a\.txt, line 1: expected ===QUERY===",
    ),
    "asq: no tags": (
        "asq-phi",
        {"a.txt": "===QUERY===\nDr. Doe\n"},
        r"a\.txt, line 1: a query needs one line ===PHI_TAGS===",
    ),
    "asq: no query": ("asq-phi", {"a.txt": "===QUERY===\n===PHI_TAGS===\n"}, r"a\.txt, line 1: an empty query"),
    "asq: bad tag": ("asq-phi", {"a.txt": "===QUERY===\nx\n===PHI_TAGS===\nNAME\n"}, r"a\.txt, line 4: expected"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_data_is_refused_with_its_place(case, tmp_path):
    name, files, message = MALFORMED[case]
    for file, content in files.items():
        (tmp_path / file).write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        read_corpus(tmp_path, format=name)
    assert "\n" not in str(caught.value)
    assert "Doe" not in str(caught.value), "a message never holds a document's text"
