"""Language models behind an OpenAI-compatible endpoint.

Mentions are located in the text by the rules of docs/llm.md, and titles are resolved in a snapshot. Repairs and unknown
ids are counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, NamedTuple

import msgspec

from karat.formats.parsing.surfaces.entries import extract_entries, to_prediction
from karat.formats.parsing.surfaces.json_extraction import extract_json
from karat.kb.protocol import IdStatus
from karat.kb.snapshot.snapshot import Snapshot
from karat.model.document import Document, Prediction, Response, WrittenResponse
from karat.model.errors import ResponseError
from karat.storage.http_client import WebRequest
from karat.systems.adapters.program import locate_predictions
from karat.systems.adapters.service_responses import parse_json
from karat.systems.adapters.telemetry import count_event, report_final_error

UNPARSEABLE: Final = "unparseable responses"
REPAIRED: Final = "responses with JSON inside other text"
HALLUCINATED: Final = "hallucinated ids: not in the knowledge base (unchanged)"
NOT_IN_SNAPSHOT: Final = "ids that are not in the partial snapshot (unchanged)"
BY_NAME: Final = "links resolved by name, because they are neither title nor id"

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
    `max_tokens`: maximal number of output tokens.
    """

    model: str
    prompt: str
    temperature: float | None
    uses_schema: bool
    max_tokens: int

    def to_web_request(self, document: Document, headers: dict[str, str]) -> WebRequest:
        """Return the HTTP request that sends the prompt followed by the text of a document as a chat message."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": self.prompt + document.text}],
            "max_tokens": self.max_tokens,
        }
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
        raise ResponseError("no list of mentions in the model's output")
    count_event(REPAIRED, not content.strip().startswith(("{", "[")) or not content.strip().endswith(("}", "]")))
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
    """Return predictions whose entities are replaced by snapshot ids, looked up by id or title, then by exact name.

    Unknown entities stay unchanged. They and links resolved by name are counted as telemetry events.
    """
    ids_written = list(
        dict.fromkeys(prediction.entity for prediction in predictions if isinstance(prediction.entity, str))
    )
    ids = dict(zip(ids_written, snapshot.canonical_ids(ids_written), strict=True))
    missing = [
        id
        for id, status in zip(ids_written, snapshot.id_statuses(ids_written), strict=True)
        if status == IdStatus.UNKNOWN
    ]
    for name in missing:
        matches = [] if snapshot.name_index is None else snapshot.name_index.find_exact(name)
        if matches:
            ids[name] = matches[0].id
            count_event(BY_NAME)
        else:
            ids[name] = name
            count_event(HALLUCINATED if snapshot.manifest.complete else NOT_IN_SNAPSHOT)
    return tuple(
        msgspec.structs.replace(prediction, entity=ids[prediction.entity])
        if isinstance(prediction.entity, str)
        else prediction
        for prediction in predictions
    )
