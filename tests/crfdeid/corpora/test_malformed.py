"""Malformed data is refused with its place, whatever the format, and without a word of the document."""

import pytest

from crfdeid.corpora import read_corpus
from crfdeid.errors import DataError, EncodingError, FormatError, NotFoundError, SpanError

TAB = (
    '{{"id": "a", "text": "Doe", "entities": [{{"start_offset": 0, "end_offset": {end}, "span_text": "{text}", '
    '"entity_type": "PERSON", "identifier_type": "{identifier}", "entity_id": "1"}}]}}'
)
STANDOFF = "<deIdi2b2>\n<TEXT><![CDATA[{text}]]></TEXT>\n<TAGS>\n{tags}\n</TAGS>\n</deIdi2b2>"
INLINE = '<ROOT>\n<RECORD ID="1"><TEXT>{text}</TEXT></RECORD>\n</ROOT>'
DOE = '<NAME id="P0" start="{start}" end="{end}" text="Doe" TYPE="DOCTOR" comment=""/>'

CON = {"a.txt": "Dr. Doe"}
_JSON = '{"id": "a", "text": "Doe", "spans": [%s]}'
MALFORMED = {
    "brat: no .ann": ("brat", {"a.txt": "Doe", "b.txt": "", "b.ann": ""}, (NotFoundError, "a.txt", None, None)),
    "brat: no .txt": ("brat", {"a.ann": ""}, (NotFoundError, "a.ann", None, None)),
    "brat: discontinuous": (
        "brat",
        {"a.txt": "Dr. Doe", "a.ann": "#1\tx\nT1\tDOCTOR 0 2;4 7\tDr Doe\n"},
        (SpanError, "a.ann", 2, None),
    ),
    "brat: fragments backwards": (
        "brat",
        {"a.txt": "Dr. Doe", "a.ann": "T1\tDOCTOR 4 7;0 2\tDoe Dr\n"},
        (SpanError, "a.ann", 1, None),
    ),
    "brat: wrong text": (
        "brat",
        {"a.txt": "Dr. Doe", "a.ann": "T1\tDOCTOR 3 6\tDoe\n"},
        (SpanError, "a.ann", 1, None),
    ),
    "brat: text missing": (
        "brat",
        {"a.txt": "Dr. Doe", "a.ann": "T1\tDOCTOR 4 7\n"},
        (FormatError, "a.ann", 1, None),
    ),
    "brat: outside": (
        "brat",
        {"a.txt": "Doe", "a.ann": "T1\tDOCTOR 3 3\t\n"},
        (SpanError, "a.ann", None, 3),
    ),
    "brat: not a line": (
        "brat",
        {"a.txt": "Doe", "a.ann": "\nDoe is the doctor\n"},
        (FormatError, "a.ann", 2, None),
    ),
    "2014: wrong text": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Dr. Doe", tags=DOE.format(start=3, end=6))},
        (SpanError, "a.xml", None, 3),
    ),
    "2014: no offset": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags='<NAME TYPE="DOCTOR"/>')},
        (FormatError, "a.xml", None, None),
    ),
    "2014: negative": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags=DOE.format(start=-3, end=3))},
        (FormatError, "a.xml", None, None),
    ),
    "brat: huge offset": (
        "brat",
        {"a.txt": "Doe", "a.ann": f"T1\tDOCTOR 0 {'9' * 5000}\tDoe\n"},
        (FormatError, "a.ann", 1, None),
    ),
    "2014: huge offset": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags=DOE.format(start=0, end="9" * 5000))},
        (FormatError, "a.xml", None, None),
    ),
    "2014: stray tag": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags="<Doe/>")},
        (FormatError, "a.xml", None, None),
    ),
    "2014: outside": (
        "i2b2-2014",
        {"a.xml": STANDOFF.format(text="Doe", tags='<NAME start="1" end="9" TYPE="DOCTOR"/>')},
        (SpanError, "a.xml", None, 1),
    ),
    "2014: no TAGS": (
        "i2b2-2014",
        {"a.xml": "<deIdi2b2><TEXT>x</TEXT></deIdi2b2>"},
        (FormatError, "a.xml", None, None),
    ),
    "2014: broken": (
        "i2b2-2014",
        {"a.xml": "<deIdi2b2>\n<TEXT>x</TEXT>\n<TAGS>"},
        (FormatError, "a.xml", 3, None),
    ),
    "2014: 2006": ("i2b2-2014", {"a.xml": "<R><TEXT>x<PHI/></TEXT><TAGS/></R>"}, (FormatError, "a.xml", None, None)),
    "2006: broken": ("i2b2-2006", {"a.xml": INLINE.format(text="a & b")}, (FormatError, "a.xml", 2, None)),
    "2006: nested": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text='Dr. <PHI TYPE="ID">1 <PHI TYPE="DATE">2</PHI></PHI>')},
        (FormatError, "a.xml, record 1", None, 4),
    ),
    "2006: no TYPE": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text="Dr. <PHI>Doe</PHI>")},
        (FormatError, "a.xml, record 1", None, 4),
    ),
    "2006: other": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text="Dr. <B>Doe</B>")},
        (FormatError, "a.xml, record 1", None, 4),
    ),
    "2006: stray tag": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text="Dr. <Doe/>")},
        (FormatError, "a.xml, record 1", None, 4),
    ),
    "2006: empty": (
        "i2b2-2006",
        {"a.xml": INLINE.format(text='Dr. <PHI TYPE="ID"/>')},
        (SpanError, "a.xml, record 1", None, 4),
    ),
    "2006: no id": (
        "i2b2-2006",
        {"a.xml": "<ROOT><RECORD><TEXT>x</TEXT></RECORD></ROOT>"},
        (FormatError, "a.xml, record 1", None, None),
    ),
    "2010: no .con": ("i2b2-2010", {"a.con": "", "a.txt": "", "b.txt": "Doe"}, (NotFoundError, "b.txt", None, None)),
    "2010: no .txt": ("i2b2-2010", {"a.con": ""}, (NotFoundError, "a.con", None, None)),
    "2010: not a line": ("i2b2-2010", CON | {"a.con": '\nc="doe" 1:1 1:1'}, (FormatError, "a.con", 2, None)),
    "2010: no type": ("i2b2-2010", CON | {"a.con": 'c="doe" 1:1 1:1||t=""'}, (FormatError, "a.con", 1, None)),
    "2010: huge": ("i2b2-2010", CON | {"a.con": f'c="" 1:1 1:{"9" * 5000}||t="x"'}, (FormatError, "a.con", 1, None)),
    "2010: line 0": ("i2b2-2010", CON | {"a.con": 'c="doe" 0:1 1:1||t="x"'}, (SpanError, "a.con", 1, None)),
    "2010: no token": ("i2b2-2010", CON | {"a.con": 'c="doe" 1:1 1:2||t="x"'}, (SpanError, "a.con", 1, None)),
    "2010: no such line": ("i2b2-2010", CON | {"a.con": 'c="doe" 1:1 2:0||t="x"'}, (SpanError, "a.con", 1, None)),
    "2010: backwards": ("i2b2-2010", CON | {"a.con": 'c="" 1:1 1:0||t="x"'}, (SpanError, "a.con", 1, None)),
    "2010: other text": ("i2b2-2010", CON | {"a.con": 'c="roe" 1:1 1:1||t="x"'}, (SpanError, "a.con", 1, None)),
    "conll: one column": ("conll", {"a.conll": "Dr.\tO\n\nDoe\n"}, (FormatError, "a.conll", 3, None)),
    "conll: no token": ("conll", {"a.conll": "\tO\n"}, (FormatError, "a.conll", 1, None)),
    "conll: no tag": ("conll", {"a.conll": "Dr.\tO\nDoe\tNNP\n"}, (FormatError, "a.conll", 2, None)),
    "conll: no type": ("conll", {"a.conll": "Doe\tB-\n"}, (FormatError, "a.conll", 1, None)),
    "conll: only carriage returns": (
        "conll",
        {"a.conll": "Dr.\tO\rDoe\tB-DOCTOR\r\rx\tO\r"},
        (FormatError, "a.conll", 1, None),
    ),
    "jsonl: not JSON": ("jsonl", {"a.jsonl": _JSON % "" + "\n{'id'}\n"}, (FormatError, "a.jsonl", 2, None)),
    "jsonl: deep": ("jsonl", {"a.jsonl": "[" * 100_000}, (FormatError, "a.jsonl", 1, None)),
    "jsonl: not an object": ("jsonl", {"a.jsonl": "3\n"}, (FormatError, "a.jsonl", 1, None)),
    "jsonl: no spans": ("jsonl", {"a.jsonl": '{"id": "a", "text": "x"}'}, (FormatError, "a.jsonl", 1, None)),
    "jsonl: text end": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": "3", "label": "ID"}'},
        (FormatError, "a.jsonl", 1, None),
    ),
    "jsonl: true": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": true, "label": "ID"}'},
        (FormatError, "a.jsonl", 1, None),
    ),
    "jsonl: no label": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": 3, "label": ""}'},
        (FormatError, "a.jsonl", 1, None),
    ),
    "jsonl: outside": (
        "jsonl",
        {"a.jsonl": _JSON % '{"start": 0, "end": 4, "label": "ID"}'},
        (SpanError, "a.jsonl", 1, 0),
    ),
    "jsonl: surrogate": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "\\ud83d", "spans": []}'},
        (EncodingError, "a.jsonl", 1, 0),
    ),
    "jsonl: layers": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "layers": []}'},
        (FormatError, "a.jsonl", 1, None),
    ),
    "jsonl: layer": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "layers": {"x": 3}}'},
        (FormatError, "a.jsonl", 1, None),
    ),
    "jsonl: PHI twice": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "spans": [], "layers": {"phi": []}}'},
        (FormatError, "a.jsonl", 1, None),
    ),
    "jsonl: outside, in a layer": (
        "jsonl",
        {"a.jsonl": '{"id": "a", "text": "Doe", "layers": {"concept": [{"start": 2, "end": 4, "label": "X"}]}}'},
        (SpanError, "a.jsonl", 1, 2),
    ),
    "tab: no entities": ("tab", {"a.jsonl": '{"id": "a", "text": "Doe"}'}, (FormatError, "a.jsonl", 1, None)),
    "tab: identifier type": (
        "tab",
        {"a.jsonl": TAB.format(end=3, text="Doe", identifier="ALL")},
        (FormatError, "a.jsonl", 1, None),
    ),
    "tab: outside": (
        "tab",
        {"a.jsonl": TAB.format(end=4, text="Doe", identifier="QUASI")},
        (SpanError, "a.jsonl", 1, 0),
    ),
    "tab: another text": (
        "tab",
        {"a.jsonl": TAB.format(end=3, text="Roe", identifier="NO_MASK")},
        (SpanError, "a.jsonl", 1, 0),
    ),
    "asq: before": (
        "asq-phi",
        {"a.txt": "Dr. Doe\n===QUERY===\nx\n===PHI_TAGS===\n"},
        (FormatError, "a.txt", 1, None),
    ),
    "asq: no tags": (
        "asq-phi",
        {"a.txt": "===QUERY===\nDr. Doe\n"},
        (FormatError, "a.txt", 1, None),
    ),
    "asq: no query": ("asq-phi", {"a.txt": "===QUERY===\n===PHI_TAGS===\n"}, (FormatError, "a.txt", 1, None)),
    "asq: bad tag": ("asq-phi", {"a.txt": "===QUERY===\nx\n===PHI_TAGS===\nNAME\n"}, (FormatError, "a.txt", 4, None)),
}


def place_of(error, folder):
    """Class, path below a folder, line and offset of an error."""
    return type(error), str(error.path).replace(f"{folder}/", ""), error.line, error.offset


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_data_is_refused_with_its_place(case, tmp_path):
    name, files, place = MALFORMED[case]
    for file, content in files.items():
        (tmp_path / file).write_text(content)
    with pytest.raises(DataError) as caught:
        read_corpus(tmp_path, format=name)
    assert place_of(caught.value, tmp_path) == place
    assert "\n" not in str(caught.value)
    assert "Doe" not in str(caught.value), "a message never holds a document's text"
