"""Forms of values that rules find without training: in whole notes, over lines, and not in what looks alike."""

import time

import pytest

import crfdeid
from crfdeid.rules.matcher import find_rules
from features.languages import DEFAULT_LANGUAGES
from features.sentences import split_sentences


@pytest.fixture(scope="module")
def rules() -> crfdeid.Deidentifier:
    return crfdeid.load("rules")


def hidden(rules: crfdeid.Deidentifier, text: str) -> list[str]:
    return [text[span.start : span.end] for span in rules.annotate(text).spans]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Seen 3/14 & 3/20.", ["3/14", "3/20"]),
        ("3/14: fever.\nMuch better.\n3/5: ECHO done.", ["3/14", "3/5"]),
        ("Admitted 03/14/2031.\nCT 3/16 clear.\nMRI 3/17 clear.", ["03/14/2031", "3/16", "3/17"]),
        ("TAC 17/5 normal.\nAlta 22/5.", ["17/5", "22/5"]),
        ("Fell 6/27-7/2 twice.", ["6/27", "7/2"]),
        ("Seen 3/14, 3/20; strength 5/5, 2/6 murmur, pain 3/10, 1/2 tablet", ["3/14", "3/20"]),
        ("Nodes 3/14 positive, 2/16 negative.", []),
        ("Strength 5/5 and 4/5.\nMurmur 2/6.\nVision 20/20 and 6/12.", []),
        ("EVA 8/10, TA 14/8.\nFuerza 4/5. Tercio 1/3 medio.", []),
        ("Hb 14.03. K 12.05. Na 138.", []),
    ],
)
def test_days_without_year_are_hidden_where_the_note_has_several(rules, text: str, values: list[str]) -> None:
    assert hidden(rules, text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("MRN\n48221344", ["48221344"]),
        ("Fallnummer\n48221344", ["48221344"]),
        ("NHC:\n4822134", ["4822134"]),
        ("IPP\n48221344", ["48221344"]),
        ("JQ/mt\nD: 03/14/2031\nT: 03/15/2031\nJob #48221", ["JQ/mt", "03/14/2031", "03/15/2031", "48221"]),
        ("j.quill[at]tawn.org", ["j.quill[at]tawn.org"]),
        ("jquill [at] tawn [dot] org", ["jquill [at] tawn [dot] org"]),
        ("ext. 4822 OR X4823", ["4822", "4823"]),
    ],
)
def test_values_over_lines_and_in_brackets_are_hidden(rules, text: str, values: list[str]) -> None:
    assert hidden(rules, text) == values


@pytest.mark.parametrize(
    "text",
    [
        *("3-4 times, 10-20 mg, x4, q4-6h, 24/7", "L4-5 and T12, 1:1000, E11.9", "BNP 4822 pg/mL, 40x1000, 2 x 4822 U"),
        *("12 LEAD ST ELEVATION", "2 HEAD CT", "5000 units SQ", "grade 2/4, III/IV, NYHA II-III", "knee extension 120"),
        *("last 4 visits, ended 1500 steps", "pain @ rest, @ 10 mg", "signal 3.5, zoom 2.0, line 4.5", "and/or, mg/dl"),
        *(
            "BRCA1, c.524G>A, p.R175H, 46,XX",
            "SOB/cp, D: denies, T: 98.6",
            "am 14. Tag, 2.5 mg",
            "case 12, order 3, fin",
        ),
        *("severe at one point but better", "PT/OT, CT/MR, I/O", "heparin 5000 units, x 2000 mL", "3.2021, 10.2 mg/dl"),
    ],
)
def test_what_looks_alike_is_left(rules, text: str) -> None:
    assert hidden(rules, text) == []


@pytest.mark.parametrize(
    "part",
    [
        *(
            "3/14 ",
            "3/14-",
            "14. und ",
            "March 14, ",
            "O3/",
            "(01)12345678901234(10)a",
            "+a123",
            "xxx ",
            "last four ssn ",
        ),
        *(
            "ext 4822 or ",
            "home 255-0134, ",
            "a[at]",
            "a at b dot ",
            "@a_",
            "instagram a.",
            "C:\\a b ",
            "\\\\a\\",
            "a_1.",
        ),
        *(
            "ab-c:",
            "JQ/mt D: ",
            "48 TAWN ",
            "482 Tawn ",
            "A. Weg ",
            "case a-1",
            "03/14/2031-",
            "14.I.",
            "am 14. ",
            "cip aa",
        ),
    ],
)
def test_hostile_repetitions_take_linear_time(part: str) -> None:
    text = part * (16_000 // len(part))
    started = time.process_time()
    for sentence in split_sentences(text):
        list(find_rules(sentence, DEFAULT_LANGUAGES))
    assert time.process_time() - started < 2  # at most 0.5 s here
