"""Any language model behind an OpenAI-compatible endpoint.

Mentions are located in the text by the rules of docs/how-to/from-llm.md, and titles are resolved in a snapshot.
Repairs and unknown ids are counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from karat.formats.parsing.surfaces.entries import TRUNCATED, describe_unread_list, extract_entries, to_prediction
from karat.formats.parsing.surfaces.json_extraction import extract_json
from karat.kb.ids.normal_forms import DEFAULT_CONTEXT, recognise_id
from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.snapshot import Snapshot
from karat.model.document import Document, Prediction, Response, WrittenResponse
from karat.model.errors import ResponseError, UsageError
from karat.model.spec.settings.conventions import Ids
from karat.model.spec.system import Link, System, SystemSample, option
from karat.storage.files import Source
from karat.storage.http_client import WebRequest, is_local
from karat.systems.adapters.program import locate_predictions
from karat.systems.adapters.service_responses import parse_json
from karat.systems.adapters.web_service import get_web_access, make_web_linker
from karat.systems.linking.lexicon import open_system_snapshot
from karat.systems.telemetry import count_event, get_credential, report_final_error, report_reply

UNPARSEABLE: Final = "unparseable responses"
REPAIRED: Final = "responses with JSON inside other text"
HALLUCINATED: Final = "predictions with an id that is not in the knowledge base (hallucinated, unchanged)"
NOT_IN_SNAPSHOT: Final = "predictions with an id that is not in the partial snapshot (unchanged)"
UNKNOWN_TITLES: Final = "predictions with a title that the snapshot does not map (unchanged)"

PROMPT: Final = """\
Find every mention of a named entity in the text below: persons, organisations, places, works, products, events and the
like, each time it is mentioned, in the order of the text. For each mention give the words exactly as they stand in the
text, and the title of the English Wikipedia article about the entity, or null if there is none.

Answer with JSON and nothing else: {"mentions": [{"text": "...", "title": "..."}]}

Text:
"""

_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["mentions"],
    "properties": {
        "mentions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "title"],
                "properties": {"text": {"type": "string"}, "title": {"type": ["string", "null"]}},
            },
        }
    },
}


_DEFAULT_KEY: Final = "OPENAI_API_KEY"
_REMEDIES: Final = {
    "max_tokens": "max-tokens=0",
    "temperature": "temperature=-1",
    "response_format": "json-schema=no",
    "json_schema": "json-schema=no",
}
"""Options that omit a field of the request, by its name in the message of an endpoint that refuses it."""


@dataclass(frozen=True, slots=True)
class _LlmOptions:
    """The options of `llm`."""

    argument: str = option("", "Name of the model.")
    url: str = option("", "URL of the endpoint, up to /v1.")
    key: str = option(
        "",
        f"Environment variable with the key; empty: {_DEFAULT_KEY}, and none for local endpoints.",
        in_request=False,
    )
    kb: str = option(
        "starter", "Snapshot in which titles are resolved; empty: keep the model's titles.", in_request=False
    )
    prompt: str = option("", "File with another prompt; the text is appended.")
    temperature: float = option(0.0, "Sampling temperature; below 0: the endpoint's default.")
    json_schema: bool | None = option(
        None,
        "Request JSON with the schema of the default prompt; not every endpoint supports this. Default: yes, but no "
        "with another prompt.",
    )
    max_tokens: int = option(4096, "Maximum number of output tokens; below 1: the endpoint's default.")
    price_in: float = option(-1.0, "Price per million input tokens; below 0: unknown.", in_request=False)
    price_out: float = option(-1.0, "Price per million output tokens.", in_request=False)
    timeout: float = option(300.0, "Timeout per document in seconds.", in_request=False)


def _get_key_name(options: _LlmOptions) -> str:
    """Return the environment variable with the key; empty if a local endpoint needs none."""
    return options.key or ("" if is_local(options.url or "http://localhost") else _DEFAULT_KEY)


def _read_prompt(options: _LlmOptions) -> str:
    """Return the text of the prompt file, or the default prompt."""
    return Source(options.prompt).read_bytes().decode() if options.prompt else PROMPT


def _start(options: _LlmOptions, gold_mentions: bool) -> Link:
    """Return a linker that prompts the model; a missing URL or key raises `UsageError`; `gold_mentions` is ignored."""
    if not options.url:
        raise UsageError("llm needs the URL of an endpoint. Write llm[url=http://localhost:8000/v1]:MODEL.")
    headers = {"Content-Type": "application/json"}
    if key_name := _get_key_name(options):
        headers["Authorization"] = f"Bearer {get_credential(key_name, 'the endpoint')}"
    read_reply = _make_reader(options)
    request = LlmRequest(
        options.argument,
        _read_prompt(options),
        None if options.temperature < 0 else options.temperature,
        not options.prompt if options.json_schema is None else options.json_schema,
        options.max_tokens if options.max_tokens > 0 else None,
    )

    def parse(document: Document, body: bytes) -> Response:
        report_reply(body)
        return read_reply(document, body)

    return make_web_linker(
        options.url.rstrip("/"),
        lambda document: request.to_web_request(document, headers),
        parse,
        timeout=options.timeout,
        remedies=_REMEDIES,
    )


def _make_reader(options: _LlmOptions) -> Callable[[Document, bytes], Response]:
    """Return the function that reads the endpoint's reply, with the snapshot and the prices of the options."""
    snapshot = open_system_snapshot(options.kb) if options.kb else None
    prices = LlmPrices(*(None if price < 0 else price for price in (options.price_in, options.price_out)))
    return lambda document, body: parse_llm_response(document, body, snapshot, prices)


def _fingerprint(options: _LlmOptions) -> Mapping[str, str]:
    """Return manifest entries: a hash of the prompt, and name and digest of the snapshot if there is one."""
    values = {"prompt": hashlib.sha256(_read_prompt(options).encode()).hexdigest()[:8]}
    if options.kb:
        snapshot = open_system_snapshot(options.kb)
        values["snapshot"] = f"{snapshot.name}@{snapshot.digest}"
    return values


class LlmPrices(NamedTuple):
    """Prices per million tokens; None if unknown.

    `input_price`: price of input tokens.
    `output_price`: price of output tokens.
    """

    input_price: float | None = None
    output_price: float | None = None

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the cost of a request with these numbers of tokens; None if a price is unknown."""
        if self.input_price is None or self.output_price is None:
            return None
        return (input_tokens * self.input_price + output_tokens * self.output_price) / 1e6


class _Message(msgspec.Struct):
    """The message of a choice: the text that the model wrote, or its refusal."""

    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    """One of the outputs that the endpoint returns, and why it ended (`length` if it was truncated)."""

    message: _Message
    finish_reason: str | None = None


class _TokenUsage(msgspec.Struct):
    """The numbers of input and output tokens of a request."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct):
    """The fields of a chat completion that Karat reads."""

    choices: list[_Choice]
    usage: _TokenUsage | None = None
    model: str = ""


class LlmRequest(NamedTuple):
    """Parameters of a request to a model.

    `model`: name of the model.
    `prompt`: text before the document.
    `temperature`: sampling temperature; None for the endpoint's default.
    `uses_schema`: request JSON with a schema.
    `max_tokens`: maximal number of output tokens; None for the endpoint's default.
    """

    model: str
    prompt: str
    temperature: float | None
    uses_schema: bool
    max_tokens: int | None

    def to_web_request(self, document: Document, headers: dict[str, str]) -> WebRequest:
        """Return the HTTP request that sends the prompt followed by the text of a document as a chat message."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": self.prompt + document.text}],
        }
        if self.max_tokens is not None:
            body["max_tokens"] = self.max_tokens
        if self.temperature is not None:
            body["temperature"] = self.temperature
        if self.uses_schema:
            schema = {"name": "mentions", "strict": True, "schema": _SCHEMA}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return WebRequest("/chat/completions", body=msgspec.json.encode(body), headers=headers)


def parse_llm_response(document: Document, body: bytes, snapshot: Snapshot | None, prices: LlmPrices) -> Response:
    """Parse the endpoint's reply into a response with located mentions, resolved titles, tokens and cost.

    Text of the model that cannot be parsed gives a response with a final error. A reply that is no chat completion
    raises `ResponseError`. Titles stay unchanged if `snapshot` is None.
    """
    completion = parse_json(body, _Completion, "the endpoint")
    usage = completion.usage
    tokens = None if usage is None else usage.prompt_tokens + usage.completion_tokens
    cost = None if usage is None else prices.cost(usage.prompt_tokens, usage.completion_tokens)
    if not completion.choices:
        raise ResponseError("the endpoint sent no choices")
    if completion.model:
        count_event(f"responses by {completion.model}")
    choice = completion.choices[0]
    content = choice.message.content or ""
    try:
        response = _parse_content(document, content)
    except ResponseError as problem:
        count_event(UNPARSEABLE)
        report_final_error()  # retrying until a response can be parsed would favour the model
        reason = choice.message.refusal or (
            f"{problem}, truncated" if choice.finish_reason == "length" else str(problem)
        )
        return Response(document.id, error=f"unparseable: {reason}", tokens=tokens, cost=cost)
    predictions = response.predictions if snapshot is None else resolve_entities(response.predictions, snapshot)
    return msgspec.structs.replace(response, predictions=predictions, tokens=tokens, cost=cost)


def _parse_content(document: Document, content: str) -> Response:
    """Parse the mentions in a model's text and locate them in the document by their surface.

    Repairs are counted as telemetry events. Text without a list of mentions raises `ResponseError`.
    """
    counts: Counter[str] = Counter()
    values = extract_json(content)
    entries = extract_entries(values, counts)
    if entries is None:
        raise ResponseError(f"no list of mentions in the model's output{describe_unread_list(values)}")
    is_cut_off = counts[TRUNCATED] > 0  # not followed by other text
    has_json_end = is_cut_off or content.strip().endswith(("}", "]"))
    count_event(REPAIRED, not content.strip().startswith(("{", "[")) or not has_json_end)
    predictions = tuple(prediction for entry in entries if (prediction := to_prediction(entry, counts)) is not None)
    for event, count in counts.items():
        count_event(event, count)
    # Offsets from models are rarely correct, so their texts are used.
    located = (
        msgspec.structs.replace(prediction, start=None, end=None) if prediction.text else prediction
        for prediction in predictions
    )
    return locate_predictions(document, WrittenResponse(document.id, tuple(located)))


def resolve_entities(predictions: tuple[Prediction, ...], snapshot: Snapshot) -> tuple[Prediction, ...]:
    """Return predictions whose entities, ids or titles, are replaced by snapshot ids, as in scoring a file of answers.

    Unknown and ambiguous entities stay unchanged. Predictions with unknown ids or titles are counted as telemetry
    events.
    """
    n_predictions = Counter(prediction.entity for prediction in predictions if isinstance(prediction.entity, str))
    ids = list(n_predictions)
    context = DEFAULT_CONTEXT._replace(small_items=True)
    view = NormalisingKB(snapshot, Ids.NORMALISED, context)
    new_ids = dict(zip(ids, view.canonical_ids(ids), strict=True))
    for id, status in zip(ids, view.id_statuses(ids), strict=True):
        if status is IdStatus.AMBIGUOUS:
            new_ids[id] = id
        elif status is IdStatus.UNKNOWN and recognise_id(id, context) is None:
            count_event(UNKNOWN_TITLES, n_predictions[id])
        elif status is IdStatus.UNKNOWN:
            count_event(HALLUCINATED if snapshot.manifest.complete else NOT_IN_SNAPSHOT, n_predictions[id])
    return tuple(
        msgspec.structs.replace(prediction, entity=new_ids[prediction.entity])
        if isinstance(prediction.entity, str)
        else prediction
        for prediction in predictions
    )


SYSTEM = System(
    title="Any language model",
    description="A model that is prompted for mentions and titles. Mentions are located in the text and titles "
    "resolved in a "
    "snapshot. Hallucinated ids, unparseable responses and repairs are counted; tokens and cost are recorded.",
    start=_start,
    options=_LlmOptions,
    hardest_task="a2kb",
    fingerprint=_fingerprint,
    read_reply=_make_reader,
    argument="MODEL",
    requirements=("an OpenAI-compatible endpoint", "a key in OPENAI_API_KEY for remote endpoints"),
    prompt=PROMPT,
    extra="services",
    external_access=lambda options: get_web_access(
        options.url or "http://localhost", has_latency_probe=False, credential=_get_key_name(options)
    ),
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
