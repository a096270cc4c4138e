"""A side file of what is known of patients."""

from __future__ import annotations

from pathlib import Path

import pytest

from crfdeid.known_phi.patients import read_patient_table


@pytest.mark.parametrize(("written", "patient"), [("1", "1"), (" 1.0", "1"), ("1", "1.0"), ("p1.0.0", "p1.0.0")])
def test_a_patient_is_named_by_the_rule_of_the_notes(tmp_path: Path, written: str, patient: str) -> None:
    (tmp_path / "known.csv").write_text(f"patient,name\n{written},Quill\n")
    people = read_patient_table(tmp_path / "known.csv")
    assert people.of(patient=patient, file="a.txt") is not None
    assert people.of(patient="01", file="a.txt") is None
