"""`crfdeid serve`: a model as an HTTP service with Presidio's interface."""

from __future__ import annotations

import sys
from functools import partial
from types import SimpleNamespace

from crfdeid.cli import options as shared
from crfdeid.cli.redact import POLICY_OPTIONS
from crfdeid.cli.shell import Mode, Option, command, file_path, flag, names, number_between, whole_number
from crfdeid.errors import OptionConflictError

_SECRET = Mode("surrogates and hashes", lambda options: shared.operators_of(options).needs_secret)
_FIRST_TEXT = "Seen by Dr. Quill on 3 May."
_rare = partial(Option, rare=True)


@command(
    shared.MODEL,
    shared.SENSITIVITY,
    shared.MAX_LEAK_RATE.but(rare=True),
    shared.LISTS,
    *POLICY_OPTIONS,
    shared.SECRET_FILE.but(only=(_SECRET,)),
    Option("--host", default="127.0.0.1", metavar="ADDRESS", help="Address to listen on; default: this machine alone."),
    Option("--port", whole_number(0, 65535), default=3000, help="Port; 0 for a free one."),
    Option("--languages", names, default="en", help="Languages of the texts, such as en,es."),
    Option("--token-file", file_path, help="File with the token that clients send; default: none."),
    Option("--certificate", file_path, help="Certificate chain for TLS, as PEM."),
    Option("--private-key", file_path, help="Private key of the certificate, as PEM."),
    flag("--behind-tls-proxy", rare=True, help="Accept an address without TLS, since a proxy before it has TLS."),
    _rare(
        "--allowed-hosts",
        names,
        default=(),
        help="Names by which clients reach the service, besides its address and localhost.",
    ),
    _rare(
        "--reveal-token-file", file_path, help="File with another token, for /deanonymize; default: no /deanonymize."
    ),
    _rare("--max-bytes", whole_number(1), default=1_000_000, help="Size of a request."),
    _rare("--max-connections", whole_number(1), default=100, help="Connections at a time."),
    _rare(
        "--timeout",
        number_between(0.1, 86_400),
        default=60.0,
        metavar="SECONDS",
        help="Time for a request, at most a day.",
    ),
    shared.NO_CONSISTENCY,
    shared.MARKUP,
    shared.STRUCTURED,
    shared.ALLOW_MOJIBAKE,
    shared.KEY_FILE,
    details="POST /redact uses the policy of the options, and answers a document, such as text/html or "
    "application/fhir+json, in its own type; /analyze and /anonymize are Presidio's. Open the address in "
    "a browser to try the model. SIGTERM and Ctrl-C end the service after the requests that it took.",
    examples=(
        "crfdeid serve model/ --port 3000",
        "crfdeid serve model/ --host 0.0.0.0 --token-file token --certificate cert.pem --private-key key.pem",
    ),
)
def run(options: SimpleNamespace) -> None:
    """Serve the model."""
    from crfdeid.model_card.card import model_digest, read_card  # noqa: PLC0415
    from crfdeid.model_card.pretrained import BUILT_IN_MODELS, validation_of  # noqa: PLC0415
    from crfdeid.secrets import read_secret  # noqa: PLC0415
    from crfdeid.serve.app import Access, ModelFacts, make_app  # noqa: PLC0415
    from crfdeid.serve.server import Listener, run_server  # noqa: PLC0415
    from crfdeid.serve.service import Service  # noqa: PLC0415
    from crfdeid.utils.process import one_thread  # noqa: PLC0415

    one_thread()
    certificate, private_key = (
        None if path is None else shared.require_path(path) for path in (options.certificate, options.private_key)
    )
    listener = Listener(
        options.host,
        options.port,
        certificate=certificate,
        private_key=private_key,
        connections=options.max_connections,
        seconds=options.timeout,
    )
    listener.require_safe(token=options.token_file is not None, behind_proxy=options.behind_tls_proxy)
    token, reveal_token = (
        None if path is None else read_secret(path) for path in (options.token_file, options.reveal_token_file)
    )
    if token is not None and token == reveal_token:
        raise OptionConflictError("--token-file and --reveal-token-file have one token: make another for one of them")
    keys = shared.run_keys(options)
    with listener.bind() as bound:
        redactor = shared.read_redactor(options, keys=keys, evidence=True)
        folder, service = redactor.folder, Service(redactor.start())
        name = options.model if options.model in BUILT_IN_MODELS else folder.path.resolve().name
        validation = validation_of(options.model, read_card(folder), options.max_leak_rate)
        facts = ModelFacts(name, model_digest(folder), validation)
        service.model.annotate(_FIRST_TEXT)
        hosts = {"localhost", "127.0.0.1", "::1", options.host.lower(), *map(str.lower, options.allowed_hosts)}
        access = Access(frozenset(hosts), options.max_bytes, options.timeout, options.languages, token, reveal_token)
        host, port = bound.getsockname()[:2]
        address = f"{'https' if certificate else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
        run_server(
            make_app(service, access, facts),
            listener,
            bound,
            lambda: print(f"ready: {address}", file=sys.stderr, flush=True),
        )
        service.close()
