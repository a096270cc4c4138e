"""The service over loopback: Presidio's answers, our redaction, and requests that mean harm."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import secrets
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from string import ascii_lowercase
from types import NoneType
from typing import Any

import chromium
import numpy as np
import pytest
from chromium import Browser, Page
from commands import error_of
from docx_files import BODY, docx, members
from hypothesis import given
from hypothesis import strategies as st
from patient_cases import NOBODY, TWELVE
from service import COMMAND, HEAD, JSON, Server, raw, start

import crfdeid
from crfdeid.corpora.splits import Corpus, Split
from crfdeid.corpora.synthetic import generate_notes
from crfdeid.documents import Document
from crfdeid.errors import (
    EncodingError,
    FormatError,
    MarkupError,
    OptionConflictError,
    SecretError,
    SettingError,
    UnknownNameError,
)
from crfdeid.integrations.common import presidio_type
from crfdeid.markup import MEDIA_TYPES
from crfdeid.model_card.card import model_digest, read_card
from crfdeid.model_card.pretrained import validation_of
from crfdeid.model_card.training import train_model
from crfdeid.pipeline import Deidentifier
from crfdeid.redaction.redactor import Redactor, StartedRedactor
from crfdeid.secrets import Keys

pytest.importorskip("starlette", reason="the extra serve is not installed")
from presidio_anonymizer import AnonymizerEngine, OperatorConfig, RecognizerResult

from crfdeid.serve.server import Listener
from crfdeid.serve.service import Service

NOTES = [note.text for note in generate_notes(200, seed=3)]
WORD = "Zarathustrova"  # of each hostile request: neither an answer nor the log may have it
NOTE = f"Seen by Dr. {WORD} on 3/14/72."
RESULT = {"start": 12, "end": 25, "score": 0.8, "entity_type": "PERSON"}


@pytest.fixture(scope="module")
def server(few_notes_model: Path) -> Iterator[Server]:
    found = start(few_notes_model)
    yield found
    assert found.end() == 0


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files with a token for all requests, one for revealing, and the secret of surrogates; and their contents."""
    folder = tmp_path_factory.mktemp("tokens")
    found = {}
    for name in ("token", "reveal", "secret"):
        found[name] = secrets.token_hex(16)
        (folder / name).write_text(found[name])
        (folder / name).chmod(0o600)
    return {"folder": str(folder), **found}


@pytest.fixture(scope="module")
def guarded(few_notes_model: Path, tokens: dict[str, str]) -> Iterator[Server]:
    """A service with tokens, surrogates, and little patience."""
    folder = Path(tokens["folder"])
    found = start(
        few_notes_model,
        *("--token-file", folder / "token", "--reveal-token-file", folder / "reveal"),
        *("--operator", "surrogate", "--secret-file", folder / "secret", "--locale", "en_US"),
        *("--timeout", 1, "--max-connections", 20, "--languages", "es,en"),
    )
    yield found
    assert found.end() == 0


def results(document: Document) -> list[dict[str, Any]]:
    """What Presidio's interface says of a document."""
    return [
        {
            "analysis_explanation": None,
            "entity_type": presidio_type(span.label),
            "start": span.start,
            "end": span.end,
            "score": document.evidence[span].as_json()["score"],
        }
        for span in document.spans
    ]


def test_results_and_redacted_text_are_those_of_python_and_the_command(
    server: Server, few_notes_model: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    for number, text in enumerate(NOTES):
        (tmp_path / "notes" / f"{number}.txt").write_text(text, newline="")
    folders = [few_notes_model, tmp_path / "notes", "--output", tmp_path / "clean"]
    subprocess.run([*COMMAND, "redact", *map(str, folders)], check=True, capture_output=True)
    plain = list(crfdeid.load(few_notes_model).annotate_all(NOTES))
    with ThreadPoolExecutor(8) as clients:
        found = list(clients.map(lambda text: server.ask("/analyze", {"text": text, "language": "en"}), NOTES))
        redacted = list(clients.map(lambda text: server.ask("/redact", {"text": text}), NOTES))
    assert sum(len(document.spans) for document in plain) > 1000
    assert found == [(200, results(document)) for document in plain]
    for number, (status, answer) in enumerate(redacted):
        assert (status, answer["text"]) == (200, (tmp_path / "clean" / f"{number}.txt").read_bytes().decode())
        assert [(span["label"], answer["text"][span["start"] : span["end"]]) for span in answer["spans"]] == [
            (span.label, f"[{span.label}]") for span in plain[number].spans
        ]
    assert server.ask("/analyze", {"text": NOTES[:9], "language": "en"}) == (200, [one for _, one in found[:9]])
    assert server.ask("/redact", {"text": NOTES[:9]}) == (200, [one for _, one in redacted[:9]])


@pytest.mark.skipif("CRFDEID_DATA" not in os.environ, reason="CRFDEID_DATA is not set: no real corpora")
def test_results_on_meddocan_are_those_of_python(server: Server, few_notes_model: Path) -> None:
    texts = [note.text for note in crfdeid.read_corpus(Path(os.environ["CRFDEID_DATA"], "meddocan/dev/brat"))]
    for text, document in zip(texts, crfdeid.load(few_notes_model).annotate_all(texts), strict=True):
        assert server.ask("/analyze", {"text": text, "language": "en"}) == (200, results(document))
        assert server.ask("/redact", {"text": text})[1]["text"] == crfdeid.redact(document).text


@pytest.mark.parametrize(
    ("others", "named"),
    [
        ([], None),
        (["US_SSN", "CREDIT_CARD"], "CREDIT_CARD, US_SSN"),
        (["a\r\nX-Other: é"], "a%0D%0AX-Other%3A%20%C3%A9"),
        ([f"KIND_{number:04}" for number in range(2_000)], "KIND_0000, KIND_0001"),
    ],
)
def test_entities_that_the_model_lacks_are_named_in_a_header(
    server: Server, others: list[str], named: str | None
) -> None:
    asked = {"text": NOTES[0], "language": "en", "entities": ["PERSON", *others]}
    status, found, headers = server.answer("/analyze", asked)
    assert status == 200 and {one["entity_type"] for one in found} == {"PERSON"}
    header = headers["X-Unsupported-Entities"]
    assert header == named or (header.startswith(f"{named}, ") and header.endswith(", ...") and len(header) < 2_100)


def test_surrogates_are_those_of_python(guarded: Server, few_notes_model: Path, tokens: dict[str, str]) -> None:
    authorization = {"Authorization": f"Bearer {tokens['token']}"}
    for document in crfdeid.load(few_notes_model).annotate_all(NOTES[:20]):
        for patient in (None, "7"):
            made = crfdeid.redact(
                document, "surrogate", secret=tokens["secret"].encode(), patient=patient, locale="en_US"
            )
            asked = {"text": document.text, "patient": patient}
            assert guarded.ask("/redact", asked, headers=authorization)[1]["text"] == made.text
            headers = {**authorization, "Content-Type": "text/plain", **({"X-Patient": patient} if patient else {})}
            assert guarded.ask("/redact", document.text.encode(), headers=headers) == (200, made.text)


def test_requests_name_the_patients_that_python_names(
    guarded: Server, few_notes_model: Path, tokens: dict[str, str]
) -> None:
    authorization = {"Authorization": f"Bearer {tokens['token']}"}
    (document,) = crfdeid.load(few_notes_model).annotate_all(NOTES[:1])
    for patient, values in (("12", TWELVE), (None, NOBODY)):
        options: dict[str, Any] = {"secret": tokens["secret"].encode(), "patient": patient, "locale": "en_US"}
        made = crfdeid.redact(document, "surrogate", **options).text
        for value in values:
            if isinstance(value, (str, int, float, NoneType)) and not isinstance(value, np.generic):
                asked = {"text": document.text, "patient": value}
                assert guarded.ask("/redact", asked, headers=authorization)[1]["text"] == made
    for value in (True, [12], {"id": 12}, float("inf")):
        assert guarded.ask("/redact", {"text": NOTE, "patient": value}, headers=authorization)[0] == 400


def test_a_conversation_comes_back_from_a_model_that_rewrites_its_tokens(server: Server) -> None:
    said = "Jane Quill saw Dr. Huntington on 03/14/72. Dr. Huntington writes [DATE-1]."
    status, one = server.ask("/redact", {"text": said, "tokens": "numbered"})
    assert status == 200 and "Huntington" not in one["text"] and "[LITERAL-1]" in one["text"]
    assert [one["text"][span["start"] : span["end"]] in one["mapping"] for span in one["spans"]]
    status, two = server.ask(
        "/redact", {"text": ["When?", "Huntington."], "tokens": "numbered", "mapping": one["mapping"]}
    )
    assert status == 200 and two["mapping"].items() >= one["mapping"].items()
    (doctor,) = (token for token, value in two["mapping"].items() if value == "Huntington")
    assert [result["text"] for result in two["results"]] == ["When?", f"{doctor}."]
    answer = f"{doctor.lower()} did, on (Date-1); literal 1"
    status, done = server.ask("/restore", {"text": answer, "mapping": two["mapping"]})
    assert (status, done["text"]) == (200, "Huntington did, on 03/14/72; literal 1")
    assert done["ambiguous"] == [[len(answer) - len("literal 1"), len(answer)]] and done["unknown"] == []
    assert set(done["missing"]) == two["mapping"].keys() - {doctor, "[DATE-1]"}
    assert server.ask("/restore", {"text": one["text"], "mapping": one["mapping"]})[1]["text"] == said
    assert "Huntington" not in "".join(server.log)


def test_numbered_tokens_replace_the_operators_of_the_service(guarded: Server, tokens: dict[str, str]) -> None:
    authorization = {"Authorization": f"Bearer {tokens['token']}"}
    asked = {"text": "Seen by Dr. Huntington.", "tokens": "numbered"}
    found = guarded.ask("/redact", asked, headers=authorization)[1]
    assert found["text"] == "Seen by Dr. [DOCTOR-1]."
    restoring = {"text": found["text"], "mapping": found["mapping"]}
    assert guarded.ask("/restore", restoring)[0] == 401
    assert guarded.ask("/restore", restoring, headers=authorization)[1]["text"] == asked["text"]


def test_options_of_presidio_choose_among_the_results(server: Server) -> None:
    _, everything = server.ask("/analyze", {"text": NOTES[0], "language": "en"})

    def ask(**more: Any) -> Any:
        status, found = server.ask("/analyze", {"text": NOTES[0], "language": "en", **more})
        assert status == 200
        return found

    assert ask(entities=["PERSON"]) == [one for one in everything if one["entity_type"] == "PERSON"]
    assert ask(entities=[], correlation_id="7", regex_flags=None, ad_hoc_recognizers=[]) == everything
    assert ask(entities=["PERSON", "CREDIT_CARD"]) == ask(entities=["PERSON"])
    least = sorted(one["score"] for one in everything)[1]
    assert ask(score_threshold=least) == [one for one in everything if one["score"] >= least]
    value = NOTES[0][everything[0]["start"] : everything[0]["end"]]
    assert ask(allow_list=[value], allow_list_match="exact") == [
        one for one in everything if NOTES[0][one["start"] : one["end"]] != value
    ]
    explanations = [one["analysis_explanation"] for one in ask(return_decision_process=True)]
    assert {one["textual_explanation"] for one in explanations} <= {"model", "consistency"}


def test_results_have_the_fields_of_presidio(server: Server) -> None:
    presidio = pytest.importorskip("presidio_analyzer", reason="the extra presidio is not installed")
    _, found = server.ask("/analyze", {"text": NOTE, "language": "en", "return_decision_process": True})
    theirs = presidio.RecognizerResult("PERSON", 0, 1, 0.5, presidio.AnalysisExplanation("a", 0.5)).to_dict()
    assert found[0].keys() == theirs.keys() - {"recognition_metadata"}
    assert found[0]["analysis_explanation"].keys() == theirs["analysis_explanation"].to_dict().keys()


def test_nobody_is_answered_before_the_server_runs() -> None:
    with Listener(port=0).bind() as bound, pytest.raises(ConnectionRefusedError):
        socket.create_connection(bound.getsockname())


def test_lists_are_those_of_presidio(server: Server) -> None:
    status, entities = server.ask("/supportedentities?language=en")
    assert status == 200 and {"PERSON", "DATE_TIME", "LOCATION"} <= set(entities)
    assert server.ask("/recognizers") == (200, ["crfdeid"])
    assert server.ask("/recognizers?language=xx")[0] == 400
    assert set(server.ask("/anonymizers")[1]) == {"encrypt", "hash", "keep", "mask", "redact", "replace"}
    assert server.ask("/health")[0] == 200


OPERATORS: list[dict[str, Any]] = [
    {},
    {"PERSON": {"type": "replace", "new_value": "ANON"}},
    {"DEFAULT": {"type": "redact"}},
    {"PERSON": {"type": "mask", "masking_char": "*", "chars_to_mask": 4, "from_end": True}},
    {"PERSON": {"type": "hash", "hash_type": "sha512", "salt": "0123456789abcdef"}},
    {"PERSON": {"type": "keep"}},
]


@pytest.mark.parametrize("operators", OPERATORS)
def test_anonymize_writes_what_presidio_does(server: Server, operators: dict[str, Any]) -> None:
    _, found = server.ask("/analyze", {"text": NOTES[1], "language": "en"})
    asked = {"text": NOTES[1], "analyzer_results": found, "anonymizers": operators}
    status, answer = server.ask("/anonymize", asked)
    theirs = AnonymizerEngine().anonymize(
        NOTES[1],
        [RecognizerResult(one["entity_type"], one["start"], one["end"], one["score"]) for one in found],
        {
            name: OperatorConfig(one["type"], {k: v for k, v in one.items() if k != "type"})
            for name, one in operators.items()
        },
    )
    assert status == 200
    assert answer == json.loads(theirs.to_json())


def test_only_the_token_for_revealing_reveals(guarded: Server, server: Server, tokens: dict[str, str]) -> None:
    one, other = ({"Authorization": f"Bearer {tokens[name]}"} for name in ("token", "reveal"))
    key = {"type": "encrypt", "key": secrets.token_hex(8)}
    asked = {"text": NOTE, "analyzer_results": [RESULT], "anonymizers": {"PERSON": key}}
    status, hidden = guarded.ask("/anonymize", asked, headers=one)
    assert status == 200 and WORD not in hidden["text"]
    asked = {
        "text": hidden["text"],
        "anonymizer_results": hidden["items"],
        "deanonymizers": {"DEFAULT": {"type": "decrypt", "key": key["key"]}},
    }
    assert guarded.ask("/deanonymize", asked, headers=other)[1]["text"] == NOTE
    assert guarded.ask("/deanonymize", asked, headers=one)[0] == 401
    assert guarded.ask("/deanonymizers", headers=other)[0] == 200
    assert server.ask("/deanonymize", asked)[0] == 404


@pytest.mark.parametrize(
    "authorization", [None, "", "Bearer", "Bearer x", "Basic {token}", "{token}", "Bearer {token}x", "Bearer {reveal}"]
)
def test_another_token_is_refused(guarded: Server, tokens: dict[str, str], authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization.format(**tokens)}
    assert guarded.ask("/redact", {"text": NOTE}, headers=headers)[0] == 401
    assert guarded.ask(f"/supportedentities?token={tokens['token']}", headers=headers)[0] == 401
    assert guarded.ask("/health", headers=headers)[0] == 200


ANALYZE = {"text": NOTE, "language": "en"}


def hiding(*found: dict[str, Any], **operator: Any) -> dict[str, Any]:
    """A request to hide results in `NOTE`."""
    return {"text": NOTE, "analyzer_results": found, "anonymizers": {"PERSON": operator} if operator else {}}


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("/analyze", {"text": NOTE}, 400),
        ("/analyze", {"language": "en"}, 400),
        ("/analyze", {"text": NOTE, "language": "xx"}, 400),
        ("/analyze", ANALYZE | {"ad_hoc_recognizers": [{"patterns": [{"regex": "(a+)+$"}]}]}, 400),
        ("/analyze", ANALYZE | {"allow_list": ["a"], "allow_list_match": "regex"}, 400),
        ("/analyze", ANALYZE | {"context": ["name"]}, 400),
        ("/analyze", ANALYZE | {"regex_flags": 26}, 400),
        ("/analyze", ANALYZE | {"score_treshold": 0.5}, 400),
        ("/analyze", ANALYZE | {"score_threshold": float("nan")}, 400),
        ("/analyze", ANALYZE | {"score_threshold": True}, 400),
        ("/analyze", ANALYZE | {"entities": ["CREDIT_CARD"]}, 400),
        ("/analyze", ANALYZE | {"text": [NOTE, 3]}, 400),
        ("/redact", {"text": f"{WORD} JosÃ©"}, 400),
        ("/redact", {"text": f"{WORD} \ud800"}, 400),
        ("/redact", {"text": NOTE, "tokens": "encrypted"}, 400),
        ("/redact", {"text": NOTE, "mapping": {"[DOCTOR-1]": WORD}}, 400),
        ("/redact", {"text": NOTE, "tokens": "numbered", "mapping": {WORD: WORD}}, 400),
        ("/redact", {"text": NOTE, "tokens": "numbered", "mapping": {"[ID-1]": WORD, "[id-1]": "2"}}, 400),
        ("/redact", {"text": r"{\rtf1 Roe}", "tokens": "numbered"}, 400),
        ("/restore", {"text": NOTE}, 400),
        ("/restore", {"text": "ID-1 " * 10_000, "mapping": {"[ID-1]": WORD * 1_000}}, 400),
        (
            "/restore",
            {"text": NOTE, "mapping": {f"[{a}{b}-1]": WORD for a in ascii_lowercase for b in ascii_lowercase}},
            400,
        ),
        ("/restore", {"text": [NOTE], "mapping": {}}, 400),
        ("/restore", {"text": NOTE, "mapping": {"[DOCTOR-1]": 1}}, 400),
        ("/restore", {"text": NOTE, "mapping": {"[DOCTOR-1]": f"{WORD} \ud800"}}, 400),
        ("/preview", {"text": WORD * 2_000}, 400),
        ("/preview", {"text": f"{WORD} JosÃ©"}, 400),
        ("/explain", {"text": NOTE, "offset": 900}, 400),
        ("/redact", [NOTE], 400),
        ("/redact", {}, 400),
        ("/redact", f'{{"text": "{WORD}", "text": "{WORD}"}}', 400),
        ("/redact", f'{{"text": "{WORD}"', 400),
        ("/redact", f'{{"text": "{WORD}"}}'.encode("utf-16"), 400),
        ("/redact", '{"text": ' + "[" * 100_000, 400),
        ("/redact", '{"text": 1' + "0" * 10_000 + "}", 400),
        ("/redact", {"text": "x" * 2_000_000}, 413),
        ("/anonymize", {"text": NOTE}, 422),
        ("/anonymize", hiding(RESULT | {"end": 900}), 422),
        ("/anonymize", hiding(RESULT | {"start": "a"}), 422),
        ("/anonymize", hiding({}), 422),
        ("/anonymize", hiding(RESULT, type=WORD), 422),
        ("/anonymize", hiding(RESULT, type="custom"), 400),
        ("/anonymize", hiding(RESULT, type="encrypt", key=WORD), 422),
        ("/anonymize", hiding(*[RESULT] * 6_000), 413),
        ("/anonymize", hiding(*[RESULT] * 50, type="replace", new_value="x" * 90_000), 413),
    ],
)
def test_a_bad_request_has_the_status_of_its_fault(server: Server, path: str, content: Any, status: int) -> None:
    found, answer = server.ask(path, content)
    assert found == status
    assert WORD not in json.dumps(answer)
    assert answer.keys() <= {"error", "code"}


@pytest.mark.parametrize("name", ["ad_hoc_recognizers", "context", "regex_flags"])
def test_a_field_that_is_not_honoured_is_named(server: Server, name: str) -> None:
    assert name in server.ask("/analyze", ANALYZE | {name: ["a"]})[1]["error"]


def test_other_types_hosts_and_methods_are_refused(server: Server) -> None:
    body = json.dumps({"text": NOTE})
    for kind in ("application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "image/png", ""):
        assert server.ask("/redact", body, headers={"Content-Type": kind})[0] == 415
    for path in ("/analyze", "/anonymize", "/preview", "/explain"):
        assert server.ask(path, body, headers={"Content-Type": "text/plain"})[0] == 415
    assert server.ask("/redact", body, headers={"Content-Type": "application/json; charset=utf-8"})[0] == 200
    for encoding, status in (("gzip", 415), ("br", 415), ("identity", 200)):
        headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
        assert server.ask("/redact", body, headers=headers)[0] == status
    for host in ("evil.example", "evil.example:80", "localhost.evil.example", "[::1", "127.0.0.1.evil.example"):
        assert server.ask("/health", headers={"Host": host})[0] == 421
    for host in ("LOCALHOST", "localhost:9", "[::1]:80"):
        assert server.ask("/health", headers={"Host": host})[0] == 200
    assert server.ask("/redact", method="GET")[0] == 405
    assert server.ask("/redact", {"text": NOTE}, method="OPTIONS", headers={"Origin": "http://evil.example"})[0] == 405
    assert server.ask("/redact/", {"text": NOTE})[0] == 404


MARKUP = {
    "text/html": f"<p title='{WORD}'>Seen by Dr. Zara<b>thustrova</b>, Münster</p>\r\n",
    "application/rtf": rf"{{\rtf1 Seen by Dr. {WORD[:4]}{{\b {WORD[4:]}}}\par}}",
    "x-application/hl7-v2+er7": f"MSH|^~\\&|LAB\rOBX|1|TX|||Seen by Dr. {WORD}\r",
    "application/fhir+json": json.dumps({"resourceType": "Basic", "note": [{"text": f"Seen by Dr. {WORD}"}]}),
    "text/plain": f"Seen by Dr. {WORD} in Münster.\n",
}


@pytest.mark.parametrize("kind", MARKUP)
@pytest.mark.parametrize("charset", ["", "; charset=utf-8", '; x=1; Charset="ISO-8859-1"'])
def test_a_document_is_answered_in_its_type_and_encoding(
    server: Server, few_notes_model: Path, kind: str, charset: str
) -> None:
    encoding = "iso-8859-1" if "ISO" in charset else "utf-8"
    body = MARKUP[kind].encode(encoding)
    expected = crfdeid.redact_bytes(body, few_notes_model, encoding=encoding, markup=kind)
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request("POST", "/redact", body, {"Content-Type": kind.upper() + charset, "X-Patient": "Jos%C3%A9"})
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, expected) and WORD.encode() not in expected
    assert (answer.headers.get_content_type(), answer.headers.get_content_charset("utf-8")) == (kind, encoding)
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    if not charset and kind != "text/plain":  # in JSON, the same document
        assert server.ask("/redact", {"text": MARKUP[kind]})[1]["text"].encode() == expected
        assert server.ask("/analyze", {"text": MARKUP[kind], "language": "en"})[1]["code"] == "markup"


def test_a_docx_file_is_answered_as_one(server: Server, few_notes_model: Path) -> None:
    kind = next(one for one, form in MEDIA_TYPES.items() if form == "docx")
    body = docx({BODY: f"<w:p><w:r><w:t>Seen by Dr. {WORD[:4]}</w:t></w:r><w:r><w:t>{WORD[4:]}</w:t></w:r></w:p>"})
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request("POST", "/redact", body, {"Content-Type": kind})
        answer = connection.getresponse()
        assert (answer.status, answer.headers.get_content_type()) == (200, kind)
        found = answer.read()
    assert found == crfdeid.redact_bytes(body, few_notes_model) and WORD[4:].encode() not in members(found)[BODY]


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"Content-Type": "text/html; charset=punycode"}, b"a", 415),
        ({"Content-Type": "text/html; charset=iso-8859-12"}, b"a", 400),
        ({"Content-Type": "text/html", "Content-Encoding": "gzip"}, b"a", 415),
        ({"Content-Type": "text/html"}, b"", 400),
        ({"Content-Type": "text/html"}, b"x" * 2_000_000, 413),
        ({"Content-Type": "text/html"}, f"Señor {WORD}".encode("latin-1"), 400),
        ({"Content-Type": "text/html; charset=us-ascii"}, f"Señor {WORD}".encode(), 400),
        ({"Content-Type": "text/plain", "Origin": "http://evil.example"}, b"a", 403),
        ({"Content-Type": "text/plain", "Origin": "null"}, b"a", 403),
        ({"Content-Type": "text/plain", "Origin": "http://[::1"}, b"a", 403),
        ({"Content-Type": "application/fhir+json"}, f'{{"resourceType": "{WORD}"'.encode(), 400),
        ({"Content-Type": "application/hl7-v2"}, f"MSH|^~\\&|LAB\rPID|1||7||{WORD}".encode(), 400),
        ({"Content-Type": "text/plain"}, b"%PDF-1.7 " + WORD.encode(), 400),
        ({"Content-Type": "application/pdf"}, WORD.encode(), 400),
        ({"Content-Type": "text/plain"}, b"%PDF-1.7 \xff" + WORD.encode(), 400),
    ],
)
def test_a_bad_document_has_the_status_of_its_fault(
    server: Server, headers: dict[str, str], body: bytes, status: int
) -> None:
    found, answer = server.ask("/redact", body, headers=headers)
    assert found == status
    assert WORD not in json.dumps(answer) and answer.keys() <= {"error", "code"}


def test_the_page_shows_the_text_of_markup(server: Server) -> None:
    status, found = server.ask("/preview", {"text": MARKUP["text/html"]})
    assert status == 200 and f"Seen by Dr. {WORD}, Münster" in found["text"]
    spans = {found["text"][start:end] for step in found["steps"] for start, end, *_ in step["spans"]}
    assert any(WORD in value for value in spans)


def test_slow_requests_are_cut_and_the_others_are_answered(guarded: Server) -> None:
    for content in (
        b"",
        HEAD,
        HEAD + b"Content-Length: 100\r\n\r\n{",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGE",
    ):
        began = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            raw(guarded, content)
        assert 0.5 < time.monotonic() - began < 10
    assert guarded.ask("/health")[0] == 200


def test_connections_are_limited(guarded: Server) -> None:
    held = [socket.create_connection(("127.0.0.1", guarded.port)) for _ in range(25)]
    assert guarded.ask("/health")[0] == 503
    for connection in held:
        connection.close()
    time.sleep(0.5)
    assert guarded.ask("/health")[0] == 200


@pytest.mark.parametrize(
    "content",
    [
        HEAD + b"Host: evil.example\r\nContent-Length: 2\r\n\r\n{}",
        HEAD + b"X: a\r\n b\0\r\nContent-Length: 2\r\n\r\n{}",
        HEAD + b"X: " + b"a" * 100_000 + b"\r\n\r\n",
        b"POST /redact HTTP/1.0\r\n\r\n",
        b"POST http://evil.example/redact HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01" + WORD.encode(),
    ],
)
def test_tricks_with_headers_get_no_answer_of_the_model(server: Server, content: bytes) -> None:
    found = raw(server, content)
    assert re.match(rb"HTTP/1.1 4\d\d ", found) and WORD.encode() not in found


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(NOTE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
_FIELDS = st.sampled_from(
    [
        *ANALYZE,
        *hiding(),
        "entities",
        "score_threshold",
        "allow_list",
        "patient",
        "context",
        "offset",
        WORD,
        "tokens",
        "mapping",
    ]
)
_PATHS = st.sampled_from(["/analyze", "/anonymize", "/redact", "/restore", "/preview", "/explain"])


@given(path=_PATHS, content=st.dictionaries(_FIELDS, _values, max_size=5), valid=st.booleans())
def test_requests_of_any_json_are_answered_or_refused(
    server: Server, path: str, content: dict[str, Any], valid: bool
) -> None:
    asked = content | ({"text": NOTE, "language": "en"} if valid else {})
    status, answer = server.ask(path, asked)
    assert status in (200, 400, 413, 422)
    assert status == 200 or WORD not in json.dumps(answer)


@given(path=_PATHS, content=st.binary(max_size=200) | st.text().map(lambda text: f'{{"text": {text}'.encode()))
def test_requests_of_any_bytes_are_answered_or_refused(server: Server, path: str, content: bytes) -> None:
    assert server.ask(path, content)[0] in (200, 400, 422)


def test_hostile_requests_leave_the_service_as_it_was(server: Server) -> None:
    server.ask("/redact", {"text": NOTES})
    before = server.memory()
    large = b'{"text": "' + WORD.encode() * 1_600_000  # 20 MB

    def attack(number: int) -> None:
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            if number % 200 == 0:
                with contextlib.suppress(OSError):
                    connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % (len(large) + 2) + large + b'"}')
                    connection.recv(100)
            elif number % 3 == 0:  # hangs up before the answer
                body = json.dumps({"text": NOTE * 50}).encode()
                connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            elif number % 3 == 1:  # hangs up in the body
                connection.sendall(HEAD + b"Content-Length: 1000\r\n\r\n" + NOTE.encode())
            else:
                connection.sendall(HEAD + b"Content-Length: 30\r\n\r\n" + WORD.encode() * 3)
                connection.recv(100)

    with ThreadPoolExecutor(8) as clients:
        list(clients.map(attack, range(2_000)))
    assert server.ask("/redact", {"text": NOTE})[1]["text"] == "Seen by Dr. [DOCTOR] on [DATE]."
    assert server.memory() - before < 200e6
    assert WORD not in "".join(server.log) and "Traceback" not in "".join(server.log)


def test_requests_whose_client_hangs_up_are_given_up(server: Server) -> None:
    body = json.dumps({"text": NOTES}).encode()
    for _ in range(40):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    began = time.monotonic()
    assert server.ask("/redact", {"text": NOTES})[0] == 200
    alone = time.monotonic()
    assert server.ask("/redact", {"text": NOTES})[0] == 200
    assert alone - began < 10 * (time.monotonic() - alone)


class _Failing(Deidentifier):
    """A pipeline that fails at some texts, and counts its calls."""

    calls = 0

    def annotate_in_steps(self, texts: Any, **options: Any) -> Iterator[Document | None]:
        found = list(texts)
        self.calls += 1
        if any("bad" in text for text in found):
            raise RuntimeError(found)
        return super().annotate_in_steps(found, **options)


def serving(model: Deidentifier) -> Service:
    return Service(StartedRedactor(Redactor("no folder"), model, Keys()))


def test_a_text_that_fails_does_not_fail_those_that_wait_with_it(few_notes_model: Path) -> None:
    model = _Failing(crfdeid.load(few_notes_model).tagger)

    async def ask() -> list[Any]:
        service = serving(model)
        texts = [[NOTES[0]], [NOTES[1]], ["bad"], [NOTES[2], "bad"], [NOTES[3]]]
        return await asyncio.gather(*map(service.redact, texts), return_exceptions=True)

    first, second, *failed, last = asyncio.run(ask())
    assert [type(one) for one in failed] == [RuntimeError, RuntimeError]
    plain = crfdeid.load(few_notes_model)
    for found, text in zip((first, second, last), (NOTES[0], NOTES[1], NOTES[3]), strict=True):
        assert [document.text for document in found] == [crfdeid.redact(plain.annotate(text)).text]


def test_texts_that_wait_together_are_tagged_together(few_notes_model: Path) -> None:
    model = _Failing(crfdeid.load(few_notes_model).tagger)

    async def ask() -> None:
        service = serving(model)
        await asyncio.gather(*(service.annotate([text]) for text in NOTES))

    asyncio.run(ask())
    assert model.calls < 20


class _Endless(Deidentifier):
    """A pipeline that never comes to the end of a text of 100,000 characters, and counts its steps."""

    steps = 0

    def annotate_in_steps(self, texts: Any, **options: Any) -> Iterator[Document | None]:
        found = list(texts)
        while len(found[0]) >= 100_000:
            self.steps += 1
            time.sleep(0.001)
            yield None
        yield from super().annotate_in_steps(found, **options)


def test_a_request_interrupts_larger_ones_and_a_cancelled_one_ends(few_notes_model: Path) -> None:
    model = _Endless(crfdeid.load(few_notes_model).tagger)

    async def ask() -> None:
        service = serving(model)
        endless = asyncio.create_task(service.redact(["x " * 50_000]))
        for text in (NOTE * 1_000, NOTE):  # on the same thread as the endless one, and on the other
            (redacted,) = await asyncio.wait_for(service.redact([text]), 60)
            assert redacted.text == crfdeid.redact(model.annotate(text)).text
        assert not endless.done() and model.steps
        endless.cancel()
        await service.redact([NOTE * 1_000])  # after the turn in which it was cancelled
        before = model.steps
        await asyncio.sleep(0.5)
        assert model.steps == before

    asyncio.run(ask())


def test_the_end_waits_for_the_requests_that_were_taken(few_notes_model: Path) -> None:
    server = start(few_notes_model)
    texts = NOTES[:100]
    with ThreadPoolExecutor(4) as clients:
        found = [clients.submit(server.ask, "/redact", {"text": texts}) for _ in range(3)]
        time.sleep(0.3)
        assert not any(one.done() for one in found)
        assert server.end() == 0
        assert [one.result()[0] for one in found] == [200] * 3
        assert all(len(one.result()[1]) == len(texts) for one in found)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--host", "0.0.0.0"], OptionConflictError),
        (["--host", "0.0.0.0", "--behind-tls-proxy"], OptionConflictError),
        (["--host", "example.org", "--token-file", "{folder}/token"], OptionConflictError),
        (["--certificate", "{folder}/token"], OptionConflictError),
        (["--certificate", "{folder}/token", "--private-key", "{folder}/token"], FormatError),
        (["--certificate", "{folder}/absent", "--private-key", "{folder}/token"], UnknownNameError),
        (["--token-file", "{folder}/token", "--reveal-token-file", "{folder}/token"], OptionConflictError),
        (["--token-file", "{folder}/short"], SecretError),
        (["--host", "203.0.113.1", "--token-file", "{folder}/token", "--behind-tls-proxy"], SettingError),
    ],
)
def test_options_that_are_not_safe_are_refused(
    few_notes_model: Path, tokens: dict[str, str], options: list[str], error: type[Exception]
) -> None:
    Path(tokens["folder"], "short").write_text("short")
    assert type(error_of("serve", few_notes_model, *(one.format(**tokens) for one in options))) is error


def test_tls_encrypts_the_connection(few_notes_model: Path, tokens: dict[str, str], tmp_path: Path) -> None:
    make_certificate(tmp_path)
    files = ("--certificate", tmp_path / "cert.pem", "--private-key", tmp_path / "key.pem")
    server = start(few_notes_model, *files, "--host", "0.0.0.0", "--token-file", Path(tokens["folder"], "token"))
    trust = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    connection = http.client.HTTPSConnection("localhost", server.port, context=trust, timeout=30)
    connection.request(
        "POST", "/redact", json.dumps({"text": NOTE}), JSON | {"Authorization": f"Bearer {tokens['token']}"}
    )
    assert json.loads(connection.getresponse().read())["text"] == "Seen by Dr. [DOCTOR] on [DATE]."
    connection.close()
    assert server.end() == 0


def make_certificate(folder: Path) -> None:
    """Write a certificate for localhost, and its key."""
    from datetime import UTC, datetime, timedelta  # noqa: PLC0415

    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")]),
    )
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "cert.pem").write_bytes(certificate.public_bytes(pem))
    (folder / "key.pem").write_bytes(private)


def test_the_page_names_the_model_and_its_validation(tried: Server, server: Server, validated: Path) -> None:
    _, page = tried.ask("/")
    found = json.loads((validated / "card.json").read_text())["dev"]["consistent"]["leaking_documents"]
    assert f"<b>{validated.name}</b>" in page and model_digest(validated)[:12] in page
    assert f"On its development notes ({found['total']})" in page and f"left some in {found['count']} of them" in page
    assert "has not been validated on real notes" in server.ask("/")[1]  # a model without a card


def test_the_page_says_that_a_built_in_model_was_not_validated() -> None:
    server = start(Path("rules"))
    page = server.ask("/")[1]
    assert server.end() == 0
    assert "<b>rules</b>" in page and "has not been validated on real notes" in page


def test_a_model_of_invented_notes_was_not_validated(validated: Path) -> None:
    card = read_card(validated)
    assert card is not None and "not been validated" not in validation_of("model/", card)
    invented = {**card, "corpus": {**card["corpus"], "format": "synthetic"}}
    assert "not been validated" in validation_of("model/", invented)


def test_a_lone_surrogate_is_refused_by_the_service(few_notes_model: Path) -> None:
    async def ask() -> None:
        await serving(crfdeid.load(few_notes_model)).redact(["\ud800"])

    with pytest.raises(EncodingError):
        asyncio.run(ask())


@pytest.mark.parametrize(("ask", "text"), [("annotate", "{\\rtf1 {\\b Jane} Quill}"), ("redact", "%PDF-1.7")])
def test_a_note_in_markup_is_refused_by_the_service(few_notes_model: Path, ask: str, text: str) -> None:
    async def answer() -> None:
        await getattr(serving(crfdeid.load(few_notes_model)), ask)([text])

    with pytest.raises(MarkupError):
        asyncio.run(answer())


# The page to try a model, as its reader has it.


def in_chromium(test: Any) -> Any:
    """A test that needs Chromium."""
    return pytest.mark.browser(pytest.mark.skipif(chromium.COMMAND is None, reason="there is no Chromium here")(test))


TRIED = f"🙂 Seen by Dr. {WORD}\non 3/14/72, <b onclick='x'>room. Call 617-555-0142."
VIEWS = {"wide": {}, "phone": {"width": 360, "height": 740}, "zoomed": {"width": 640, "height": 450, "scale": 2}}


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A CRF with a card, so with thresholds."""
    folder = tmp_path_factory.mktemp("validated") / "model"
    train, dev = (Split.of(generate_notes(40, seed=seed)) for seed in (4, 5))
    tagger = crfdeid.create("crf", overrides={"max_iterations": 30})
    train_model(tagger, Corpus("invented", "jsonl", "all", train, dev, None), folder)
    return folder


def test_the_page_shows_what_the_service_hides_also_by_a_claim(claimed_model: Path) -> None:
    found = start(claimed_model, "--max-leak-rate", 0.25)
    try:
        status, shown = found.ask("/preview", {"text": TRIED})
        _, page = found.ask("/")
    finally:
        assert found.end() == 0
    assert "at most 25 % of notes leak, with 95 % confidence (3 of 40 annotated notes did)" in page
    assert status == 200
    used, model = shown["steps"][shown["used"]], crfdeid.load(claimed_model, max_leak_rate=0.25)
    assert used["sensitivity"] is None and used["threshold"] == model.threshold
    assert [tuple(span[:3]) for span in used["spans"]] == list(model.annotate(TRIED).spans)
    hidden = [{i for start, end, *_ in step["spans"] for i in range(start, end)} for step in shown["steps"]]
    assert all(map(set.issubset, hidden, hidden[1:])), "the slider hides more step by step"


@pytest.fixture(scope="module")
def tried(validated: Path, tokens: dict[str, str]) -> Iterator[Server]:
    found = start(validated, "--sensitivity", 0.98, "--token-file", Path(tokens["folder"], "token"))
    yield found
    assert found.end() == 0
    assert WORD not in "".join(found.log)


@pytest.fixture
def open_page(browser: Browser, tried: Server) -> Iterator[Callable[..., Page]]:
    """Opens the page; afterwards, nothing may have gone wrong in it, and it has asked the service alone."""
    opened: list[Page] = []

    def open_one(**view: Any) -> Page:
        opened.append(browser.open(f"http://127.0.0.1:{tried.port}/", **view))
        return opened[-1]

    yield open_one
    for page in opened:
        assert page.complaints() == []
        assert all(url.startswith(f"http://127.0.0.1:{tried.port}/") for url in page.requests())
        assert page.evaluate("localStorage.length + sessionStorage.length + document.cookie.length") == 0
        page.close()


def try_by_keyboard(page: Page, token: str) -> None:
    """Write token and note, and ask for the PHI, without a mouse."""
    for text in ("", token, TRIED):  # the link to the content, the token, the note
        page.press("Tab")
        if text:
            page.type(text)
    page.press("Tab")
    page.press("Enter", "\r")
    page.wait(lambda: not page.evaluate("document.getElementById('result').hidden"))


def marked(page: Page) -> list[list[str]]:
    """Text and title of each mark."""
    return page.evaluate("[...document.querySelectorAll('#text mark')].map((mark) => [mark.textContent, mark.title])")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dark", [False, True])
@in_chromium
def test_the_page_is_used_by_keyboard_alone(
    open_page: Callable[..., Page], validated: Path, tokens: dict[str, str], view: str, dark: bool
) -> None:
    page = open_page(**VIEWS[view], dark=dark)
    try_by_keyboard(page, tokens["token"])
    before, after = (crfdeid.load(validated, sensitivity=share).annotate(TRIED).spans for share in (0.98, 0.99))
    assert [text for text, _ in marked(page)] == [TRIED[start:end] + label for start, end, label in before]
    assert all(title.startswith(span.label) for (_, title), span in zip(marked(page), before, strict=True))
    page.press("Tab")  # the file
    page.press("Tab")  # the slider
    assert page.evaluate("document.activeElement.id") == "step"
    page.press("ArrowRight")
    assert [text for text, _ in marked(page)] == [TRIED[start:end] + label for start, end, label in after]
    page.press("Tab")  # what is shown
    page.press("Tab")  # the first word
    page.press("ArrowDown")
    at = page.evaluate("Number(document.activeElement.dataset.start)")
    assert at in {span.start for span in after}
    page.press("Enter", "\r")
    page.wait(lambda: page.evaluate("!!document.querySelector('#why h3')"))
    why = page.evaluate("document.getElementById('why').textContent")
    assert page.evaluate("document.activeElement.textContent") in why and "log-odds" in why
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@in_chromium
def test_the_panel_follows_the_slider_and_the_note(
    open_page: Callable[..., Page], validated: Path, tokens: dict[str, str]
) -> None:
    page = open_page()
    try_by_keyboard(page, tokens["token"])
    models = [crfdeid.load(validated, sensitivity=share) for share in (None, 0.9, 0.95, 0.98)]
    found = [{i for span in model.annotate(TRIED).spans for i in range(span.start, span.end)} for model in models]
    changing = sorted(found[-1] - found[0])
    assert changing, "no word is marked at one step alone"
    set_step = (
        "(() => { const one = document.getElementById('step'); one.value = %d; "
        "one.dispatchEvent(new Event('input')); })()"
    )
    panel = "document.getElementById('why').textContent"
    word = f"[...document.querySelectorAll('#text .word')].find((w) => Number(w.dataset.start) === {changing[0]})"
    page.evaluate(set_step % 0)
    page.evaluate(f"{word}.click()")
    page.wait(lambda: page.evaluate("!!document.querySelector('#why h3')"))
    for step, covered in enumerate(found):
        page.evaluate(set_step % step)
        assert ("Not marked." in page.evaluate(panel)) == (changing[0] not in covered)
        assert page.evaluate("document.querySelectorAll('#text .word[aria-pressed=true]').length") == 1
    page.evaluate("document.getElementById('form').requestSubmit()")
    page.wait(lambda: not page.evaluate("!!document.querySelector('#why h3')"))


@in_chromium
def test_the_page_shows_labels_masks_and_surrogates(
    open_page: Callable[..., Page], validated: Path, tokens: dict[str, str]
) -> None:
    page = open_page()
    try_by_keyboard(page, tokens["token"])
    document = crfdeid.load(validated, sensitivity=0.98).annotate(TRIED)
    shown = {}
    for operator in ("original", "label", "mask", "surrogate"):
        page.evaluate(
            f"(() => {{ const one = document.getElementById('shown'); one.value = '{operator}'; "
            "one.dispatchEvent(new Event('change')); })()"
        )
        shown[operator] = page.evaluate(
            "(() => { const note = document.getElementById('text').cloneNode(true); "
            "note.querySelectorAll('.tag').forEach((tag) => tag.remove()); return note.textContent; })()"
        )
    assert shown["original"] == TRIED
    for operator in ("label", "mask"):
        assert shown[operator] == crfdeid.redact(document, operator).text
    assert WORD not in shown["surrogate"] and "[DOCTOR]" not in shown["surrogate"]
    assert page.evaluate("document.querySelectorAll('#text b').length") == 0


@in_chromium
def test_the_page_says_why_it_shows_nothing(browser: Browser, tried: Server) -> None:
    page = browser.open(f"http://127.0.0.1:{tried.port}/")
    page.evaluate("document.getElementById('note').value = 'a'; document.getElementById('form').requestSubmit()")
    page.wait(lambda: page.evaluate("document.getElementById('status').className === 'bad'"))
    assert "token" in page.evaluate("document.getElementById('status').textContent")
    assert page.evaluate("document.getElementById('result').hidden")
    page.close()
