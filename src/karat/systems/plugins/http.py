"""Any web service with JSON requests and responses."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Document, Prediction
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.http_client import WebRequest, parse_host
from karat.systems.adapters.program import parse_response, to_jsonl_request
from karat.systems.adapters.web_service import get_web_access, make_web_linker
from karat.systems.telemetry import get_credential


@dataclass(frozen=True, slots=True)
class _HttpOptions:
    """The options of `http`."""

    argument: str = option("", "URL of the service.")
    key: str = option("", "Environment variable with a token, sent as Authorization: Bearer.", in_request=False)
    timeout: float = option(60.0, "Timeout per document in seconds.", in_request=False)
    version: str = option("", "Version of the service. Another version is not answered from the cache.")


def _start(options: _HttpOptions, gold_mentions: bool) -> Link:
    """Return a linker that posts documents as JSON; a missing credential raises `UsageError`."""
    host = parse_host(options.argument)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if options.key:
        headers["Authorization"] = f"Bearer {get_credential(options.key, host)}"

    def make_request(document: Document) -> WebRequest:
        return WebRequest(body=to_jsonl_request(document), headers=headers)

    return make_web_linker(
        options.argument,
        make_request,
        lambda document, body: parse_response(document, body, host, is_retryable=True, is_id_sent=True),
        timeout=options.timeout,
    )


SYSTEM = System(
    title="Any JSON service",
    description="A service that receives `id`, `text` and, with gold mentions, `spans`, and returns `predictions`.",
    start=_start,
    options=_HttpOptions,
    gold_mentions="optional",
    argument="https://linker.example/link",
    id_space="its own",
    extra="services",
    external_access=lambda options: get_web_access(options.argument, credential=options.key),
    sample=SystemSample(
        text="Berlin is old.",
        options={"argument": "{url}"},
        reply="""{"predictions": [{"start": 0, "end": 6, "entity": "Q64", "score": 0.5}]}""",
        predictions=(Prediction(0, 6, "Q64", score=0.5),),
    ),
)
