"""The page of benchmarks: its measures of redaction and names, and that it follows the results files."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crfdeid.corpora.splits import Split
from crfdeid.documents import Document, Span

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from measure import FREQUENCIES, bytes_changed, names_by_frequency, redaction_scores, renamed
from page import render_page, with_table
from run import corpora, results_of

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
NOTE = Document("n1", "Ana Roble saw Dr. TEJO. Ana Roble left.", (Span(0, 9, "PATIENT"), Span(18, 22, "DOCTOR")))


def test_the_page_and_the_readme_follow_the_results() -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "run.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@given(st.text(max_size=30), st.data())
def test_redaction_changes_no_byte_outside_spans(text: str, data: st.DataObject) -> None:
    ends = st.integers(0, len(text))
    pairs = data.draw(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] < pair[1]), max_size=3))
    assert bytes_changed(Document("n", text, tuple(Span(*pair, "ID") for pair in pairs))) == 0


def test_names_count_by_their_rarest_word() -> None:
    train = Split.of([Document(f"t{i}", "Ana came.", ()) for i in range(5)] + [Document("t", "TEJO came.", ())])
    found = {"n1": [Span(18, 22, "DOCTOR")]}
    assert names_by_frequency(train, [NOTE], found) == {"0": [0, 1], "1 to 4": [1, 1], "5 or more": [0, 0]}
    assert set(FREQUENCIES) == {"0", "1 to 4", "5 or more"}


def test_names_of_an_origin_take_the_place_of_names_and_nothing_else() -> None:
    other = renamed(NOTE, "pl_PL")
    first, second = (other.text[span.start : span.end] for span in other.spans)
    assert other.text == f"{first} saw Dr. {second}. Ana Roble left."
    assert len(first.split()) >= 2 and second.isupper() and {first, second}.isdisjoint({"Ana Roble", "TEJO"})
    assert [span.label for span in other.spans] == ["PATIENT", "DOCTOR"]
    assert renamed(NOTE, "pl_PL") == other


def test_redaction_scores_count_leaks_and_notes_without_phi() -> None:
    clean = Document("n2", "No PHI here.", ())
    scores = redaction_scores([NOTE, clean], {"n1": [Span(0, 9, "PATIENT")], "n2": [Span(0, 2, "ID")]})
    assert scores == {
        "token_recall": 2 / 3,
        "token_precision": 2 / 3,
        "notes": 2,
        "notes_with_leak": 1,
        "notes_without_phi": 1,
        "notes_over_redacted": 1,
    }


def test_corpora_that_are_not_there_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("notes")
    (tmp_path / "corpora.toml").write_text('[mine]\ntrain = "mine.txt"\n[missing]\ntrain = "no.txt"\n')
    found = corpora(tmp_path)
    assert found["mine"]["train"] == str(tmp_path / "mine.txt")
    assert "missing" not in found and "synthetic" in found
    assert "missing" in capsys.readouterr().err


def _cell(model: str, seed: int, tp: int) -> dict[str, object]:
    micro = {"precision": 1.0, "recall": tp / 40, "f1": 2 * tp / (40 + tp)}
    return {
        "model": model,
        "seed": seed,
        "commit": "c",
        "date": "2026-01-01",
        "scores": {"micro": micro, "macro": micro},
        "document_counts": [[[tp // 20, 0, 2 - tp // 20]]] * 20,
    }


def test_a_page_has_means_over_seeds_and_the_best_model() -> None:
    cells = [_cell("elman", 0, 40), _cell("elman", 1, 20), _cell("crf", 0, 40), _cell("rules", 0, 0)]
    cells.append({"model": "bert", "seed": 0, "commit": "c", "date": "2026-01-01", "failed": "no encoder"})
    result = results_of({"types": "seven"}, cells)
    machine = {"processor": "P", "python": "3"}
    page = render_page({"mine": json.loads(json.dumps({"command": "c", "machine": machine, "versions": {}, **result}))})
    assert "| elman | 100.00 ± 0.00 | 75.00 ± 35.36 | 83.33 ± 23.57 |" in page
    assert "Highest F: crf. Not shown to differ (Holm): none\n" in page
    assert "no encoder" in page
    assert "| mine | 83.33 ± 23.57 | 100.00 | 0.00 |" in with_table(
        "<!-- benchmarks -->\n<!-- end of benchmarks -->", {"mine": result}
    )


def test_the_readmes_example_has_the_scores_of_its_table() -> None:
    half = {"precision": 1.0, "recall": 0.5, "f1": 2 / 3}
    cell = _cell("crf", 0, 20) | {"scores": {"micro": half, "macro": half, "by_type": {"DATE": half}}}
    readme = with_table(
        "<!-- example -->\n<!-- end of example --><!-- benchmarks -->\n<!-- end of benchmarks -->",
        {"synthetic": results_of({}, [cell])},
    )
    assert "| DATE | 50.00 | 100.00 | 66.67 |" in readme and "| Overall | 50.00 | 100.00 | 66.67 |" in readme
    assert "| synthetic | 66.67 |" in readme


@pytest.mark.parametrize("best_is_first", [True, False])
def test_a_model_that_is_not_shown_to_differ_has_the_lead_of_the_best_with_its_interval(best_is_first: bool) -> None:
    result = results_of({}, [_cell("crf", 0, 40), _cell("jordan", 0, 20)])
    if not best_is_first:
        result = results_of({}, [_cell("jordan", 0, 20), _cell("crf", 0, 40)])
    [pair] = result["significance"]["pairs"]
    ends = (0.0177, -0.002, 0.03)
    difference, low, high = (-ends[0], -ends[2], -ends[1]) if best_is_first else ends
    pair |= {"difference": difference, "low": low, "high": high, "p": 0.0078, "p_holm": 0.0546}
    result |= {"command": "c", "machine": {"processor": "P", "python": "3"}}
    said = "Highest F: crf. Not shown to differ (Holm): jordan +1.77 [-0.20, +3.00]\n"
    assert said in render_page({"mine": result})
