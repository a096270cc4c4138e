"""``crfdeid evaluate``: what it prints, and what it refuses."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import error_of

from crfdeid.cli import main
from crfdeid.cli.evaluate import SCORE_MODES, score_rows
from crfdeid.corpora import write_corpus
from crfdeid.documents import QUASI, Document, Mention, Span
from crfdeid.errors import OptionConflictError, UnknownNameError

GOLD = [
    Document("1", "Seen by Ann Doe on 03/14.", (Span(8, 15, "DOCTOR"), Span(19, 24, "DATE"))),
    Document("2", "Nothing."),
]


def write(folder: Path, documents: list[Document], form: str = "jsonl") -> Path:
    path = folder / ("notes" if form == "brat" else "notes.jsonl")
    write_corpus(documents, path, format=form)
    return path


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    found = [Document("1", GOLD[0].text, (Span(8, 11, "DOCTOR"), Span(19, 24, "DATE"))), GOLD[1]]
    return str(write(tmp_path / "gold", GOLD)), str(write(tmp_path / "found", found, "brat"))


def test_each_mode_has_a_table(paths: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    modes = "strict,relaxed,token,binary,i2b2,meddocan"
    assert main(["evaluate", paths[0], "--predicted", paths[1], "--mode", modes, "--json"]) == 0
    out, noted = capsys.readouterr()
    assert noted == ""
    scores = json.loads(out)
    assert main(["evaluate", paths[0], "--predicted", paths[1], "--mode", modes]) == 0
    printed = capsys.readouterr().out
    for mode in modes.split(","):
        assert f"| {mode} " in printed
    assert scores["strict"]["micro"]["f1"] == 0.5
    assert scores["relaxed"]["micro"]["f1"] == 1.0
    assert scores["binary"]["PHI"] == {"precision": 1.0, "recall": 0.8, "f1": 8 / 9, "tp": 4, "fp": 0, "fn": 1}
    assert scores["binary"]["notes with a miss"] == {"notes": 1, "of": 2}
    assert "| 1 of 2 |" in printed
    assert scores["i2b2"]["strict, HIPAA, micro"]["f1"] == 1.0
    assert scores["i2b2"]["binary token, all PHI, micro"]["tp"] == 3
    assert scores["i2b2"]["binary token, HIPAA, micro"]["tp"] == 2  # the doctor does not count
    assert scores["meddocan"]["leak score"] == {"leak": 0.5, "sentences": 2}


def test_types_are_mapped_on_both_sides(paths: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", paths[0], "--predicted", paths[1], "--types", "binary", "--mode", "strict"]) == 0
    assert "| PHI " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (GOLD[:1], "missing in --predicted: G:2: score the same notes"),
        ([*GOLD, Document("3", "x")], "missing in NOTES: F:3: score the same notes"),
        (
            [Document(f"n{i}", "x") for i in range(7)],
            "missing in --predicted: G:1; G:2. missing in NOTES: F:1; F:2; F:3; F:4; F:5 and 2 more: score",
        ),
        ([GOLD[0], Document("2", "NothinG.")], "G:2, offset 6: the text is not that of the note of NOTES"),
        ([GOLD[0], Document("2", "Nothing")], "G:2, offset 7: the text is not that of the note of NOTES"),
    ],
)
def test_other_notes_are_refused(documents, message, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, found = write(tmp_path / "gold", GOLD), write(tmp_path / "found", documents)
    assert main(["evaluate", str(gold), "--predicted", str(found)]) == 1
    shown = capsys.readouterr().err
    for path, short in ((gold, "G"), (found, "F")):
        shown = shown.replace(f"{path}, line ", f"{short}:")
    assert message in shown


@pytest.mark.parametrize("marked", ["gold", "found"])
def test_a_byte_order_mark_that_only_one_format_counts_does_not_matter(
    marked, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = (Span(0, 3, "PATIENT"), Span(8, 13, "DATE"))
    moved = tuple(Span(start + 1, end + 1, label) for start, end, label in spans)
    paths = {}
    for side in ("gold", "found"):
        text = "Ann, on 03/14"
        mark = side == marked
        document = Document("1", "\ufeff" + text if mark else text, (Span(0, 1, "ID"), *moved) if mark else spans)
        paths[side] = str(write(tmp_path / side, [document], "brat" if mark else "jsonl"))
    assert main(["evaluate", paths["gold"], "--predicted", paths["found"], "--json"]) == 0
    micro = json.loads(capsys.readouterr().out)["strict"]["micro"]
    assert (micro["tp"], micro["fp"], micro["fn"]) == (2, 0, int(marked == "gold"))  # gold on the mark is never lost


def test_types_that_cannot_match_are_pointed_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Ann Doe"
    gold = write(tmp_path / "gold", [Document("1", text, (Span(0, 7, "NOMBRE_SUJETO_ASISTENCIA"),))])
    found = write(tmp_path / "found", [Document("1", text, (Span(0, 7, "PATIENT"),))])
    common = ["evaluate", str(gold), "--predicted", str(found)]
    assert main([*common, "--mode", "i2b2"]) == 0
    printed, noted = capsys.readouterr()
    assert "gold and predictions have no type in common: give --types seven" in noted
    assert "HIPAA's types are approximate: the 2014 challenge has no 'NOMBRE_SUJETO_ASISTENCIA'" in noted
    assert "| binary token, HIPAA, micro   | 100.00 |" in printed
    assert main([*common, "--types", "binary", "--mode", "i2b2"]) == 0
    printed, noted = capsys.readouterr()
    assert "no i2b2 scores over HIPAA's types: nothing says whether HIPAA names 'PHI'" in noted
    assert "HIPAA" not in printed
    assert main([*common, "--types", "seven", "--mode", "i2b2"]) == 0
    printed, noted = capsys.readouterr()
    assert noted == ""
    assert "| strict, HIPAA, micro         | 100.00 |" in printed


def test_formats_can_be_named_for_both_or_each(paths: tuple[str, str]) -> None:
    common = ["evaluate", paths[0], "--predicted", paths[1]]
    assert main([*common, "--format", "jsonl", "--predicted-format", "brat"]) == 0
    assert main([*common, "--format", "jsonl"]) == 1  # there is none in the folder of predictions


def test_an_unknown_mode_is_refused(paths: tuple[str, str]) -> None:
    assert type(error_of("evaluate", paths[0], "--predicted", paths[1], "--mode", "fuzzy")) is UnknownNameError


@pytest.mark.corpora
def test_a_corpus_agrees_with_itself_in_another_format(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dev = data_folder / "meddocan" / "dev"
    gold, found = str(dev / "brat"), str(dev / "xml")
    modes = "strict,relaxed,token,binary,i2b2,meddocan"
    assert main(["evaluate", gold, "--predicted", found, "--mode", modes, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores["strict"]["micro"]["tp"] == 5801
    issues = {issue["kind"]: issue["count"] for issue in scores.pop("annotations")}
    assert (issues["inside-words"], issues["over-sentences"]) == (1, 3)
    assert all(row["f1"] == 1 for mode in scores.values() for row in mode.values() if row.get("tp"))
    assert scores["meddocan"]["leak score"]["leak"] == 0
    assert scores["binary"]["notes with a miss"] == {"notes": 0, "of": 250}


def test_every_mode_has_rows() -> None:
    gold = [
        replace(note, mentions=tuple(Mention(span, f"{n}", QUASI) for n, span in enumerate(note.spans)))
        for note in GOLD
    ]
    for mode in SCORE_MODES:
        assert list(score_rows(mode, gold, {note.id: note.spans for note in gold}))


CONCEPTS = [
    Document("1", "Gave aspirin and ibuprofen.", (Span(5, 12, "DRUG"), Span(17, 26, "UNCLEAR"))),
    Document("2", "Gave aspirin.", (Span(5, 12, "DRUG"),)),
]


def concepts_found(folder: Path) -> list[str]:
    found = [
        Document("1", CONCEPTS[0].text, (Span(5, 12, "DRUG"), Span(17, 26, "DRUG"))),
        Document("2", CONCEPTS[1].text, layers={"concept": (Span(0, 4, "DRUG"), Span(5, 12, "UNCLEAR"))}),
    ]
    gold = write(folder / "gold", CONCEPTS, "brat")
    return ["evaluate", "--layer", "concepts", str(gold), "--predicted", str(write(folder / "found", found))]


def test_concepts_are_scored_strictly_by_type(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = concepts_found(tmp_path)
    assert main([*command, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)
    assert set(scores) == {"strict"}
    assert {name: (row["tp"], row["fp"], row["fn"]) for name, row in scores["strict"].items() if name != "macro"} == {
        "DRUG": (1, 2, 1),  # what was found where gold is UNCLEAR is wrong; what is said to be UNCLEAR is nothing
        "micro": (1, 2, 1),
    }
    assert main([*command, "--ignore-types", "none", "--mode", "relaxed"]) == 0
    assert "| UNCLEAR " in capsys.readouterr().out


def test_concepts_are_scored_again_without_excluded_regions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "regions.tsv"
    table.write_text("document\tstart\tend\n1\t13\t27\n2\t0\t6\n")
    command = [*concepts_found(tmp_path), "--exclude-regions", str(table), "--json", "--mode", "strict,token"]
    assert main(command) == 0
    scores = json.loads(capsys.readouterr().out)
    assert list(scores) == ["strict", "token", "strict, without excluded regions", "token, without excluded regions"]
    counts = scores["strict, without excluded regions"]["micro"]
    assert (counts["tp"], counts["fp"], counts["fn"]) == (1, 0, 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--mode", "i2b2", "--layer", "concepts"],
        ["--types", "seven", "--layer", "concepts"],
        ["--ignore-types", "X"],
        ["--sensitivity", "0.9"],
        ["--exclude-regions", "x.tsv"],
    ],
)
def test_options_of_the_other_layer_are_refused(arguments: list[str], paths: tuple[str, str]) -> None:
    error = UnknownNameError if "--mode" in arguments else OptionConflictError
    assert type(error_of("evaluate", paths[0], "--predicted", paths[1], *arguments)) is error


def test_limits_that_are_not_kept_end_with_code_3(paths: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    command = ["evaluate", paths[0], "--predicted", paths[1], "--fail-under"]
    assert main([*command, "recall=0.8,precision=1,f1=0.5,leaks=0.5"]) == 0
    capsys.readouterr()
    assert main([*command, "recall=0.81,leaks=0.4,f1=0.1"]) == 3
    *_, line = capsys.readouterr().err.splitlines()
    assert all(text in line for text in ("recall 0.8", "0.81", "leaks 0.5", "0.4"))
    assert "f1" not in line
    assert main([*command, "recall=0.81", "--json"]) == 3
    json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("limits", ["speed=1", "recall", "recall=2", "recall=0.9,recall=0.8", "perturbed=0.5", ""])
def test_other_limits_are_refused(limits: str, paths: tuple[str, str]) -> None:
    assert main(["evaluate", paths[0], "--predicted", paths[1], "--fail-under", limits]) == 2


def test_rewritten_notes_are_scored_and_the_worst_named_by_id(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = [
        Document(f"note-{i}", f"Seen by Dr. Quill{i} on 03/1{i}/2031.", (Span(12, 18, "DOCTOR"), Span(22, 32, "DATE")))
        for i in range(6)
    ]
    command = ["evaluate", "rules", str(write(tmp_path, notes)), "--perturb", "dates,case,glued"]
    assert main([*command, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["perturbed"]
    rows = {row["rewrite"]: row for row in scores["rewrites"]}
    assert {"small letters", "capitals", "glued values", "dates in another form"} == rows.keys()
    assert all(row["notes"] == 6 and 0 <= row["after"] <= 1 for row in rows.values())
    assert all(row["low"] <= row["after"] - row["before"] <= row["high"] for row in rows.values())
    lowest = min(row["after"] for row in rows.values())
    assert {one["id"] for one in scores["worst"]} <= {note.id for note in notes}
    assert main([*command, "--fail-under", f"perturbed={lowest}"]) == 0
    assert main([*command, "--fail-under", f"perturbed={min(lowest + 0.01, 1)}"]) == (3 if lowest < 1 else 0)
    printed = capsys.readouterr()
    assert "Quill" not in printed.out + printed.err
    assert main([*command[:-1], "spelling"]) == 2


def test_concepts_hidden_by_mistake_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, name = "Dr. Rose gave aspirin for Rose syndrome", Span(4, 8, "DOCTOR")
    concepts = (Span(14, 21, "DRUG"), Span(26, 39, "PROBLEM"), Span(4, 8, "PROBLEM"))
    layered = Document("1", text, (name,), layers={"concept": concepts})
    plain = Document("1", text, (name,))
    found = str(write(tmp_path / "found", [Document("1", text, (name, Span(26, 30, "DOCTOR")))], "brat"))
    expected = {"DRUG": (0, 1), "PROBLEM": (1, 1)}
    apart = str(write(tmp_path / "concepts", [Document("1", text, concepts)]))
    for notes, more in ((layered, []), (plain, ["--concepts", apart])):
        path = str(write(tmp_path / str(len(more)), [notes]))
        assert main(["evaluate", path, "--predicted", found, "--json", *more]) == 0
        hidden = json.loads(capsys.readouterr().out)["concepts hidden"]
        assert {label: (one["count"], one["total"]) for label, one in hidden.items()} == expected


def test_terms_hidden_by_mistake_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, name = "Dr. Rose gave Aspirin, aspirins for Rose syndrome", Span(4, 8, "DOCTOR")
    notes = str(write(tmp_path / "notes", [Document("1", text, (name,))]))
    found = str(write(tmp_path / "found", [Document("1", text, (name, Span(36, 40, "DOCTOR")))], "brat"))
    terms = tmp_path / "terms.txt"
    command = ["evaluate", notes, "--predicted", found, "--json", "--concepts", str(terms)]
    terms.write_text("aspirin\nrose\n\nRose syndrome\nibuprofen\n")
    assert main(command) == 0
    hidden = json.loads(capsys.readouterr().out)["concepts hidden"]["TERM"]
    assert (hidden["count"], hidden["total"]) == (1, 2), "the doctor is hidden rightly"
    terms.write_text("\n")
    assert main(command) == 1


def test_the_output_of_another_tool_is_scored(paths: tuple[str, str], tmp_path: Path, capsys) -> None:
    records = [[{"start": 8, "end": 11, "entity_type": "DOCTOR"}, {"start": 19, "end": 24, "entity_type": "DATE"}], []]
    (tmp_path / "tool.json").write_text(json.dumps(records))
    (tmp_path / "keys.jsonl").write_text("\n".join(json.dumps({"found": one}) for one in records))
    outputs = [
        ["--predicted", str(tmp_path / "tool.json"), "--predicted-format", "presidio"],
        ["--predicted", str(tmp_path / "keys.jsonl"), "--spans-key", "found"],
        ["--predicted", paths[1]],
    ]
    printed = []
    for output in outputs:
        assert main(["evaluate", paths[0], *output, "--json"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    assert main(["evaluate", paths[0], *outputs[0], "--layer", "concepts"]) == 2
    assert main(["evaluate", paths[0], "--predicted", str(tmp_path / "missing"), "--spans-key", "found"]) == 2
