"""Any language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from karat.kb.catalogue import open_snapshot
from karat.model.document import Prediction
from karat.model.errors import UsageError
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.files import Source
from karat.storage.http_client import is_local
from karat.systems.adapters.llm import PROMPT, LlmPrices, LlmRequest, parse_llm_response
from karat.systems.adapters.telemetry import get_credential
from karat.systems.adapters.web_service import get_web_access, make_web_linker


@dataclass(frozen=True, slots=True)
class _LlmOptions:
    """The options of `llm`."""

    argument: str = option("", "Name of the model.")
    url: str = option("", "URL of the endpoint, up to /v1.")
    key: str = option("OPENAI_API_KEY", "Environment variable with the key; not needed for local endpoints.")
    kb: str = option("starter", "Snapshot in which titles are resolved; empty: keep the model's titles.")
    prompt: str = option("", "File with another prompt; the text is appended.")
    temperature: float = option(0.0, "Sampling temperature; below 0: the endpoint's default.")
    json_schema: bool = option(True, "Request JSON with a schema; not every endpoint supports this.")
    max_tokens: int = option(4096, "Maximum number of output tokens.")
    price_in: float = option(-1.0, "Price per million input tokens; below 0: unknown.")
    price_out: float = option(-1.0, "Price per million output tokens.")
    timeout: float = option(300.0, "Timeout per document in seconds.")


def _read_prompt(options: _LlmOptions) -> str:
    """Return the text of the prompt file, or the default prompt."""
    return Source(options.prompt).read_bytes().decode() if options.prompt else PROMPT


def _start(options: _LlmOptions, gold_mentions: bool) -> Link:
    """Return a linker that prompts the model; a missing URL or key raises `UsageError`; `gold_mentions` is ignored."""
    if not options.url:
        raise UsageError("llm needs the URL of an endpoint. Write llm[url=http://localhost:8000/v1]:MODEL.")
    headers = {"Content-Type": "application/json"}
    if not is_local(options.url):
        headers["Authorization"] = f"Bearer {get_credential(options.key, 'the endpoint')}"
    snapshot = open_snapshot(options.kb) if options.kb else None
    prices = LlmPrices(*(None if price < 0 else price for price in (options.price_in, options.price_out)))
    request = LlmRequest(
        options.argument,
        _read_prompt(options),
        None if options.temperature < 0 else options.temperature,
        options.json_schema,
        options.max_tokens,
    )
    return make_web_linker(
        options.url.rstrip("/"),
        lambda document: request.to_web_request(document, headers),
        lambda document, body: parse_llm_response(document, body, snapshot, prices),
        timeout=options.timeout,
    )


def _fingerprint(options: _LlmOptions) -> Mapping[str, str]:
    """Return manifest entries: a hash of the prompt, and name and digest of the snapshot if there is one."""
    values = {"prompt": hashlib.sha256(_read_prompt(options).encode()).hexdigest()[:8]}
    if options.kb:
        snapshot = open_snapshot(options.kb)
        values["snapshot"] = f"{snapshot.name}@{snapshot.digest}"
    return values


SYSTEM = System(
    title="Any language model",
    description="A model that is prompted for mentions and titles. Mentions are located in the text and titles "
    "resolved in a "
    "snapshot. Hallucinated ids, unparseable responses and repairs are counted; tokens and cost are recorded.",
    start=_start,
    options=_LlmOptions,
    hardest_task="a2kb",
    fingerprint=_fingerprint,
    argument="MODEL",
    requirements=("an OpenAI-compatible endpoint", "a key in OPENAI_API_KEY for remote endpoints"),
    extra="services",
    external_access=lambda options: get_web_access(options.url or "http://localhost", has_latency_probe=False),
    sample=SystemSample(
        text="Berlin is near Atlantis.",
        options={"argument": "small", "url": "{url}", "kb": ""},
        reply=r'{"id": "1", "object": "chat.completion", "model": "small", "choices": [{"index": 0, "message": '
        r'{"role": "assistant", "content": "{\"mentions\": [{\"text\": \"Berlin\", \"title\": \"Berlin\"}, '
        r'{\"text\": \"Atlantis\", \"title\": null}]}"}, "finish_reason": "stop"}], '
        r'"usage": {"prompt_tokens": 100, "completion_tokens": 50}}',
        predictions=(Prediction(0, 6, "Berlin"), Prediction(15, 23, None)),
    ),
)
