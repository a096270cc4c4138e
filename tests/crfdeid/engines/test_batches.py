"""RedactBatches: what `crfdeid redact` gives, whatever the batches; nothing of a note where it should not be."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from notes_samples import tiny_model

from crfdeid import Policy
from crfdeid.cli import main
from crfdeid.engines import RedactBatches
from crfdeid.secrets import VARIABLE

SECRET = "a secret of the tests, long enough"
NOTES = [
    "Patient Quill was seen on 3/4/2031.\nAttending: Dr. Marsh, call 555-2000. Leg pain.\n",
    None,
    "Patient Orla Marsh was seen on 5/6/2031.",
    "",
    "No name.\x00 Ünïcode 🩺 here; Dr. Quill signs.",
    "Patient Quill was seen on 3/4/2031.\nAttending: Dr. Marsh, call 555-2000. Leg pain.\n",
    "JosÃ© is damaged.",
]
PATIENTS = ["7", None, " 7.0", "nan", "8", None, "8"]
DONE, NULL, FAILED = "done", "null", "failed"
STATUS = [DONE, NULL, DONE, DONE, DONE, DONE, FAILED]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("engines") / "model")


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, SECRET)


def table(notes: list[str | None] = NOTES, kind: pa.DataType | None = None) -> pa.Table:
    columns = {"n": range(len(notes)), "note": pa.array(notes, kind or pa.string()), "mrn": PATIENTS[: len(notes)]}
    return pa.table(columns, metadata={"from": "the ward"})


def done(result: pa.Table) -> list[str | None]:
    """The texts of the rows that did not fail."""
    return [text for text, status in zip(*map(result.column, ("note", "status")), strict=True) if str(status) != FAILED]


@pytest.mark.parametrize(
    ("policy", "patient", "options"),
    [
        (Policy(), None, ["--how", "label"]),
        (Policy("remove"), None, ["--how", "remove"]),
        (Policy("numbered", accept_damaged=True), None, ["--how", "numbered", "--accept-damaged"]),
        (Policy("surrogate", locale="en_GB"), None, ["--how", "surrogate", "--locale", "en_GB"]),
        (
            Policy("surrogate", locale="en_US", date_order="dmy", consistent=False),
            "mrn",
            [
                "--how",
                "surrogate",
                "--locale",
                "en_US",
                "--date-order",
                "dmy",
                "--no-consistency",
                "--patient-column",
                "mrn",
            ],
        ),
    ],
)
def test_results_are_those_of_the_command(
    model: Path, tmp_path: Path, policy: Policy, patient: str | None, options: list[str]
) -> None:
    pq.write_table(table(), tmp_path / "notes.parquet")
    arguments = ["redact", "--model", model, "--input", tmp_path / "notes.parquet", "--output", tmp_path / "out"]
    failed = main([*map(str, arguments), "--text-column", "note", *options])
    expected = pq.read_table(tmp_path / "out" / "notes.parquet")
    result = RedactBatches(model, policy, "note", patient)(table())
    assert result.filter(pc.not_equal(result["status"], FAILED)).select(expected.column_names).equals(expected)
    assert result.schema.metadata == table().schema.metadata
    assert (FAILED in result["status"].to_pylist()) == bool(failed)
    assert expected["note"].to_pylist()[0] != NOTES[0], "there is something to compare"
