"""The service's routes: Presidio's requests and answers, redaction by our policy, and the page to try a model.

A request is answered as a whole or refused as a whole. No answer to a refused request, and no message of the log, has
text of the request.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import quote, unquote, urlsplit

from crfdeid.documents import Document, Evidence, Span
from crfdeid.errors import DataError, UsageError, missing_extra, raised_at
from crfdeid.integrations.common import presidio_score, presidio_type
from crfdeid.known_phi.patients import patient_name
from crfdeid.markup import MARKUP_SUFFIXES, MEDIA_TYPES
from crfdeid.redaction.in_bytes import OpenedDocument, open_document
from crfdeid.redaction.round_trip import restore
from crfdeid.serve.service import Service
from crfdeid.utils.html import render_page
from crfdeid.utils.json import DECODER
from crfdeid.validation import shape_errors

try:
    from presidio_anonymizer import AnonymizerEngine, DeanonymizeEngine
    from presidio_anonymizer.entities import InvalidParamError
    from presidio_anonymizer.services.app_entities_convertor import AppEntitiesConvertor
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
    from starlette.routing import Route
except ModuleNotFoundError as error:
    raise missing_extra(error) from None

_Value = TypeVar("_Value")
_Handler = Callable[[Request], Awaitable[Response]]
_log = logging.getLogger(__name__)

_NAME = "crfdeid"
_JSON = "application/json"
# Python has codecs whose time grows with the square of a text's length.
_CHARSET = re.compile(r"utf-?8|utf-16[bl]e|(us-)?ascii|iso-8859-[0-9]{1,2}|windows-125[0-8]")
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
# Presidio's, without those that run a client's code or send text to another service.
_ANONYMIZERS = ("encrypt", "hash", "keep", "mask", "redact", "replace")
_DEANONYMIZERS = ("decrypt", "deanonymize_keep")
_MOST_DRAINED = 16  # times the limit, of a refused body
_MOST_RESULTS = 5_000
"""Results of a request to Presidio's engine, whose time grows with their square."""
_LONGEST_HEADER = 2_000


def _unsupported(entities: Collection[str]) -> dict[str, str]:
    """Header with requested entities that the model does not find, percent-encoded; of very many, the first ones."""
    names = ", ".join(quote(entity, safe="") for entity in sorted(entities))
    if len(names) > _LONGEST_HEADER:
        names = f"{names[:_LONGEST_HEADER].rpartition(', ')[0]}, ...".removeprefix(", ")
    return {"X-Unsupported-Entities": names} if entities else {}


def _names_patient(value: Any) -> bool:
    """True for a patient's name, and for a value that means none."""
    try:
        patient_name(value)
    except ValueError:
        return False
    return True


# The fields of each request, with the shape of a value (`crfdeid.validation.shape_errors`), or a test of it.
_TEXTS, _OBJECTS, _OBJECT = [str], [{str: Any}], {str: Any}
_ANALYZE = {
    "text": (str, _TEXTS),
    "language": str,
    "entities": _TEXTS,
    "correlation_id": str,
    "score_threshold": lambda value: type(value) in (int, float) and 0 <= value <= 1,
    "return_decision_process": bool,
    "allow_list": _TEXTS,
    "allow_list_match": lambda value: value == "exact",
}
# They would change the result in Presidio: a client's regular expressions could take all our time, and to ignore one
# could leave PHI.
_REFUSED = ("ad_hoc_recognizers", "context", "regex_flags")
_ANONYMIZE = {"text": str, "analyzer_results": _OBJECTS, "anonymizers": _OBJECT}
_DEANONYMIZE = {"text": str, "anonymizer_results": _OBJECTS, "deanonymizers": _OBJECT}
_MAP = {str: str}
_REDACT = {
    "text": (str, _TEXTS),
    "patient": _names_patient,
    "tokens": lambda value: value == "numbered",
    "mapping": _MAP,
}
_RESTORE = {"text": str, "mapping": _MAP}
_EXPLAIN = {"text": str, "offset": int}


@dataclass(frozen=True)
class Access:
    """Limits of the clients: hosts, sizes, time, languages and tokens.

    Args:
        hosts: names by which clients may address the service, without port.
        max_bytes: size of the body of a request.
        seconds: time for the work of a request.
        languages: languages of the texts, as clients name them.
        token: the token of all requests but those for the page and the state; None for none.
        reveal_token: the token of `/deanonymize`; None to switch it off.
    """

    hosts: Collection[str]
    max_bytes: int
    seconds: float
    languages: Collection[str] = ("en",)
    token: bytes | None = None
    reveal_token: bytes | None = None


@dataclass(frozen=True)
class ModelFacts:
    """Name, digest and validation (a sentence or two on its scores) of the model, for the page."""

    name: str
    digest: str
    validation: str


def make_app(service: Service, access: Access, model: ModelFacts) -> Starlette:
    """The application, for a server of ASGI."""
    app = Starlette(routes=_Api(service, access, model).routes(), exception_handlers={HTTPException: _refusal})
    app.router.redirect_slashes = False  # A redirection would name the host of the request.
    return app


async def _refusal(_: Request, refused: HTTPException) -> Response:
    return JSONResponse({"error": refused.detail}, refused.status_code, {**_HEADERS, **(refused.headers or {})})


def _answer(content: Any, status: int = 200) -> Response:
    return JSONResponse(content, status, _HEADERS)


def _answer_each(asked: str | list[str], results: Sequence[str], more: Mapping[str, str]) -> Response:
    """The answer to a text, or to a list of texts, from the JSON of each result; with more headers."""
    content = results[0] if isinstance(asked, str) else f"[{','.join(results)}]"
    return Response(content, media_type=_JSON, headers={**_HEADERS, **more})


def _as_json(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _Api:
    """The routes."""

    def __init__(self, service: Service, access: Access, model: ModelFacts) -> None:
        self.service, self.access = service, access
        self.entities = {label: presidio_type(label) for label in service.model.types}
        page = files("crfdeid.serve") / "templates"
        self.page = render_page(
            page, "serve", needs_token=access.token is not None, model=model, suffixes=",".join(MARKUP_SUFFIXES)
        )

    def routes(self) -> list[Route]:
        token, reveal = self.access.token, self.access.reveal_token
        routes = [
            self._route("/", self.show_page, None, "GET"),
            self._route("/health", self.health, None, "GET"),
            self._route("/recognizers", self.recognizers, token, "GET"),
            self._route("/supportedentities", self.supported_entities, token, "GET"),
            self._route("/anonymizers", self.anonymizers, token, "GET"),
            self._route("/analyze", self.analyze, token),
            self._route("/anonymize", self.anonymize, token),
            self._route("/redact", self.redact, token),
            self._route("/restore", self.restore, token),
            self._route("/preview", self.preview, token),
            self._route("/explain", self.explain, token),
        ]
        if reveal is not None:
            routes += [
                self._route("/deanonymizers", self.deanonymizers, reveal, "GET"),
                self._route("/deanonymize", self.deanonymize, reveal),
            ]
        return routes

    def _route(self, path: str, handle: _Handler, token: bytes | None, method: str = "POST") -> Route:
        async def answer(request: Request) -> Response:
            try:
                self._admit(request, token)
                return await handle(request)
            except (HTTPException, ClientDisconnect):
                raise
            except (DataError, UsageError) as problem:
                return _answer({"error": str(problem), "code": problem.code}, 400)
            except Exception as problem:  # Its message may have text of the request.
                _log.error("%s: %s", path, raised_at(problem))
                return _answer({"error": "Internal server error"}, 500)

        return Route(path, answer, methods=[method])

    def _admit(self, request: Request, token: bytes | None) -> None:
        if not self._is_own_host(f"//{request.headers.get('host', '')}"):
            raise HTTPException(421, "another host: name it with --allowed-hosts")
        if token is not None:
            kind, _, given = request.headers.get("authorization", "").partition(" ")
            right = hmac.compare_digest(given.strip().encode("latin-1", "replace"), token)
            if not right or kind.lower() != "bearer":
                needed = "a token is needed: Authorization: Bearer TOKEN"
                raise HTTPException(401, needed, {"WWW-Authenticate": "Bearer"})

    def _is_own_host(self, url: str) -> bool:
        """True for a URL of this service."""
        try:
            return urlsplit(url).hostname in self.access.hosts
        except ValueError:
            return False

    async def _fields(
        self, request: Request, known: Mapping[str, Any], refused: Collection[str] = ()
    ) -> dict[str, Any]:
        """The fields of a request's JSON object that have a value."""
        if _media_type(request)[0] != _JSON:
            raise HTTPException(415, f"Content-Type is not {_JSON}")
        body = await self._body(request)
        try:
            fields = DECODER.decode(body.decode("utf-8"))
            json.dumps(fields, ensure_ascii=False).encode()  # refuses lone surrogates
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict) or not fields:
            raise HTTPException(400, "Invalid request json")
        for name in refused:
            if fields.pop(name, None):
                raise HTTPException(400, f"{name} is not supported: leave it out")
        fields = {name: value for name, value in fields.items() if value is not None}
        if not fields.keys() <= known.keys():
            raise HTTPException(400, f"an unknown field: there are {', '.join(known)}")
        for name, value in fields.items():
            expected = known[name]
            is_test = callable(expected) and not isinstance(expected, type)
            if not expected(value) if is_test else any(shape_errors(value, expected)):
                raise HTTPException(400, f"{name} has no valid value")
        if "text" not in fields:
            raise HTTPException(400, "No text provided")
        return fields

    async def _body(self, request: Request) -> bytes:
        """The bytes of a request."""
        if request.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
            raise HTTPException(415, "Content-Encoding is not supported: send the request without compression")
        self._require_small(int(request.headers.get("content-length", "0")))  # The server has read it as a number.
        body = bytearray()
        async for part in request.stream():
            body += part
            self._require_small(len(body))
        return bytes(body)

    def _require_small(self, size: int) -> None:
        """Refuse a larger body; the rest of a very large one is not read, but its client may then miss the answer."""
        if size > self.access.max_bytes:
            headers = {"Connection": "close"} if size > _MOST_DRAINED * self.access.max_bytes else None
            raise HTTPException(413, f"more than {self.access.max_bytes:,} bytes", headers)

    def _require_language(self, language: str | None) -> None:
        if language not in self.access.languages:
            raise HTTPException(400, f"language is none of this service: {', '.join(self.access.languages)}")

    async def show_page(self, _: Request) -> Response:
        return HTMLResponse(self.page, headers=_HEADERS)

    async def health(self, _: Request) -> Response:
        return PlainTextResponse(f"{_NAME} service is up", headers=_HEADERS)

    async def recognizers(self, request: Request) -> Response:
        self._query_language(request)
        return _answer([_NAME])

    async def supported_entities(self, request: Request) -> Response:
        self._query_language(request)
        return _answer(sorted(set(self.entities.values())))

    def _query_language(self, request: Request) -> None:
        if "language" in request.query_params:
            self._require_language(request.query_params["language"])

    async def anonymizers(self, _: Request) -> Response:
        return _answer(_ANONYMIZERS)

    async def deanonymizers(self, _: Request) -> Response:
        return _answer(_DEANONYMIZERS)

    async def analyze(self, request: Request) -> Response:
        asked = await self._fields(request, _ANALYZE, _REFUSED)
        if "language" not in asked:
            raise HTTPException(400, "No language provided")
        self._require_language(asked["language"])
        known = set(self.entities.values())
        named = set(asked.get("entities", ())) or known
        wanted, others = named & known, named - known
        if not wanted:
            raise HTTPException(400, "entities has none that this model finds: see /supportedentities")
        text = asked["text"]
        texts = [text] if isinstance(text, str) else text

        def results(document: Document) -> str:
            return _as_json(self._results(document, wanted, asked))

        answers = await self._bounded(request, self.service.annotate(texts, finish=results))
        return _answer_each(text, answers, _unsupported(others))

    def _results(self, document: Document, wanted: set[str], asked: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Results as Presidio's analyzer writes them, by position."""
        allowed, least = set(asked.get("allow_list", ())), asked.get("score_threshold", 0)
        evidence = {span: document.evidence.get(span, Evidence("")) for span in document.spans}
        return [
            _result(span, self.entities[span.label], found, explained=asked.get("return_decision_process", False))
            for span, found in evidence.items()
            if self.entities[span.label] in wanted
            and presidio_score(found) >= least
            and document.text[span.start : span.end] not in allowed
        ]

    async def anonymize(self, request: Request) -> Response:
        asked = await self._fields(request, _ANONYMIZE)
        results, operators = asked.get("analyzer_results"), asked.get("anonymizers", {})
        self._require_few(results or (), operators)
        _require_operators(operators, "anonymizers", _ANONYMIZERS)

        def work() -> str:
            return AnonymizerEngine().anonymize(
                asked["text"],
                AppEntitiesConvertor.analyzer_results_from_json(results),
                AppEntitiesConvertor.operators_config_from_json(operators),
            ).to_json()  # fmt: skip

        return await self._by_presidio(request, work)

    async def deanonymize(self, request: Request) -> Response:
        asked = await self._fields(request, _DEANONYMIZE)
        operators = asked.get("deanonymizers", {})
        self._require_few(asked.get("anonymizer_results", ()), operators)
        _require_operators(operators, "deanonymizers", _DEANONYMIZERS)

        def work() -> str:
            return DeanonymizeEngine().deanonymize(
                asked["text"],
                AppEntitiesConvertor.deanonymize_entities_from_json(asked),
                AppEntitiesConvertor.operators_config_from_json(operators),
            ).to_json()  # fmt: skip

        return await self._by_presidio(request, work)

    def _require_few(self, results: Collection[Any], operators: Mapping[str, Any]) -> None:
        """Refuse what would take Presidio's engine long, or a multiple of the request's memory."""
        values = (one.get("new_value", "") for one in operators.values() if isinstance(one, dict))
        longest = max((len(str(value)) for value in values), default=0)
        if len(results) > _MOST_RESULTS or len(results) * longest > self.access.max_bytes:
            raise HTTPException(413, f"more than {_MOST_RESULTS:,} results, or results that become too long")

    async def _by_presidio(self, request: Request, work: Callable[[], str]) -> Response:
        try:
            content = await self._bounded(request, self.service.run(work))
        except (InvalidParamError, AttributeError, KeyError, TypeError, ValueError):
            # Its message may quote a parameter.
            raise HTTPException(422, "offsets outside the text, or an operator without a valid parameter") from None
        return Response(content, media_type=_JSON, headers=_HEADERS)

    async def redact(self, request: Request) -> Response:
        if _media_type(request)[0] != _JSON:
            return await self._redact_document(request)
        asked = await self._fields(request, _REDACT)
        text = asked["text"]
        texts = [text] if isinstance(text, str) else text
        if "tokens" in asked:
            return await self._redact_numbered(request, asked, texts)
        if "mapping" in asked:
            raise HTTPException(400, 'mapping needs "tokens": "numbered"')
        work = self.service.redact(texts, patient=asked.get("patient"), finish=_redacted)
        return _answer_each(text, await self._bounded(request, work), {})

    async def _redact_document(self, request: Request) -> Response:
        """Answer a document of a known type with one of the same type and encoding."""
        kind, charset = _media_type(request)
        if kind not in MEDIA_TYPES:
            raise HTTPException(415, f"Content-Type is none of {', '.join((_JSON, *MEDIA_TYPES))}")
        if charset is not None and not _CHARSET.fullmatch(charset):
            raise HTTPException(415, "charset is not supported: convert the document to UTF-8")
        if not self._is_own_host(request.headers.get("origin", f"//{request.headers['host']}")):
            raise HTTPException(403, "a request from a page of another host")  # A form can send text/plain.
        patient = unquote(request.headers.get("x-patient", "")) or None
        if not (body := await self._body(request)):
            raise HTTPException(400, "No text provided")
        opening = partial(open_document, body, markup=kind, encoding=charset or "utf-8")

        async def work() -> bytes:
            document: OpenedDocument = await self.service.run(opening)
            (redacted,) = await self.service.redact([document.text], patient=patient, markup=document.markup)
            return await self.service.run(document.write, redacted.text)

        content = await self._bounded(request, work())
        headers = {**_HEADERS, "Content-Security-Policy": f"{_HEADERS['Content-Security-Policy']}; sandbox"}
        if kind == "application/pdf":  # Its text alone is answered.
            kind, charset = "text/plain", "utf-8"
        return Response(content, media_type=f"{kind}; charset={charset}" if charset else kind, headers=headers)

    async def _redact_numbered(self, request: Request, asked: Mapping[str, Any], texts: Sequence[str]) -> Response:
        """The answer of `/redact` with a map: of a list of texts, which share the map, the results are a list."""
        mapping = dict(asked.get("mapping", {}))
        documents = await self._bounded(request, self.service.redact_numbered(texts, mapping))
        results = [_result_of(document) for document in documents]
        return _answer({**(results[0] if isinstance(asked["text"], str) else {"results": results}), "mapping": mapping})

    async def restore(self, request: Request) -> Response:
        asked = await self._fields(request, _RESTORE)
        if "mapping" not in asked:
            raise HTTPException(400, "No mapping provided")
        work = self.service.run(partial(restore, most=self.access.max_bytes), asked["text"], asked["mapping"])
        done = await self._bounded(request, work)
        return _answer(done._asdict())

    async def preview(self, request: Request) -> Response:
        asked = await self._fields(request, {"text": str})
        return _answer(await self._bounded(request, self.service.run(self.service.preview, asked["text"])))

    async def explain(self, request: Request) -> Response:
        asked = await self._fields(request, _EXPLAIN)
        work = self.service.run(self.service.explain, asked["text"], asked.get("offset", 0))
        return _answer(await self._bounded(request, work))

    async def _bounded(self, request: Request, work: Coroutine[Any, Any, _Value]) -> _Value:
        """Return the result of work, which is given up when its time is over, or when the client hangs up.

        The body of the request has been read.
        """
        task, gone = asyncio.create_task(work), asyncio.create_task(request.receive())
        try:
            await asyncio.wait((task, gone), timeout=self.access.seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            if gone.done():
                raise ClientDisconnect
            limit = f"not answered in {self.access.seconds:g} s, the limit of --timeout: send shorter texts"
            raise HTTPException(503, limit)
        finally:
            task.cancel()
            gone.cancel()


def _media_type(request: Request) -> tuple[str, str | None]:
    """Media type of a request in lower case, and its charset; None without one."""
    kind, *parameters = request.headers.get("content-type", "").lower().split(";")
    values = (one.partition("=")[2].strip(' "') for one in parameters if one.partition("=")[0].strip() == "charset")
    return kind.strip(), next(values, None)


def _require_operators(operators: Mapping[str, Any], field: str, known: Collection[str]) -> None:
    for one in operators.values():
        kind = one.get("type") if isinstance(one, dict) else None
        if kind not in known:
            status = 400 if kind == "custom" else 422  # as Presidio
            raise HTTPException(
                status, f"{field} has an operator that is not supported: choose from {', '.join(known)}"
            )


def _result(span: Span, entity: str, evidence: Evidence, *, explained: bool) -> dict[str, Any]:
    score = presidio_score(evidence)
    explanation = {
        "recognizer": _NAME,
        "pattern_name": None,
        "pattern": None,
        "original_score": score,
        "score": score,
        "textual_explanation": evidence.source,
        "score_context_improvement": 0,
        "supportive_context_word": "",
        "validation_result": None,
        "regex_flags": None,
    }
    return {
        "analysis_explanation": explanation if explained else None,
        "end": span.end,
        "entity_type": entity,
        "score": score,
        "start": span.start,
    }


def _redacted(document: Document) -> str:
    return _as_json(_result_of(document))


def _result_of(document: Document) -> dict[str, Any]:
    """A redacted text with its replacements, in the form of `crfdeid tag`."""
    spans = [{**span._asdict(), **document.evidence.get(span, Evidence("")).as_json()} for span in document.spans]
    return {"text": document.text, "spans": spans}
