"""An operator is one row of `OPERATORS`: redaction, command, service and Arrow know it by that alone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from notes_samples import tiny_model

import crfdeid
from crfdeid.cli import main
from crfdeid.documents import Document, Span
from crfdeid.errors import SecretError
from crfdeid.integrations.arrow import RedactBatches
from crfdeid.redaction import OPERATORS
from crfdeid.redaction.operators import NoteContext, Operator
from crfdeid.secrets import SECRET_VARIABLE, Keys

SECRET = b"a secret of the tests"
TEXT = "Patient Quill was seen by Dr. Marsh."
HERE = Path(__file__)


def initials(document: Document, spans: Sequence[Span], context: NoteContext) -> list[str]:
    return [f"<{document.text[start]}{len(context.keys.require_secret('initials'))}>" for start, _, _ in spans]


@pytest.fixture(autouse=True)
def new_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPERATORS, "initials", Operator(help="the first letter", replace=initials, needs_secret=True))
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model") / "model")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    file = tmp_path / "secret"
    file.write_bytes(SECRET)
    file.chmod(0o600)
    return file


@pytest.fixture
def expected(model: Path) -> str:
    redacted = crfdeid.redact(crfdeid.load(model).annotate(TEXT), "initials", secret=SECRET).text
    assert "<Q21>" in redacted
    return redacted


def test_redaction_has_it_and_refuses_to_do_without_its_secret() -> None:
    note = Document("1", "Dr. Quill", (Span(4, 9, "DOCTOR"),))
    assert crfdeid.redact(note, {"DOCTOR": "initials"}, secret=SECRET).text == "Dr. <Q21>"
    with pytest.raises(SecretError):
        crfdeid.redact(note, "initials")


def test_the_command_has_it(model: Path, secret: Path, expected: str, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "1.txt").write_text(TEXT)
    arguments = ["redact", str(model), str(tmp_path / "notes"), "--operator", "initials"]
    assert main([*arguments, "--output", str(tmp_path / "none")]) == 2  # without its secret
    assert main([*arguments, "--output", str(tmp_path / "clean"), "--secret-file", str(secret)]) == 0
    assert (tmp_path / "clean" / "1.txt").read_text() == expected


def test_arrow_has_it(model: Path, secret: Path, expected: str) -> None:
    notes, policy = pa.table({"note": [TEXT]}), crfdeid.Policy("initials")
    assert RedactBatches(model, policy, "note", secret_file=secret)(notes)["note"].to_pylist() == [expected]
    assert RedactBatches(model, policy, "note")(notes)["error_type"].to_pylist() == ["SecretError"]


def test_the_service_has_it(model: Path, expected: str) -> None:
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    from crfdeid.serve.service import Service  # noqa: PLC0415

    redactor = crfdeid.Redactor(model, crfdeid.Policy("initials"), Keys(SECRET), evidence=True)

    async def answer() -> str:
        (document,) = await Service(redactor.start()).redact([TEXT])
        return str(document.text)

    assert asyncio.run(answer()) == expected


def test_the_page_on_operators_has_a_row_for_each_of_them() -> None:
    page = (HERE.parents[3] / "docs" / "how-to" / "operators-and-surrogates.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted({*OPERATORS} - {"initials"})
