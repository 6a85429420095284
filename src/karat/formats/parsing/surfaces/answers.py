"""Answers in records of language models: objects of APIs, of batch files, or of a user's own."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from karat.formats.parsing.surfaces.entries import (
    LIST_NAMES,
    describe_unread_list,
    extract_entries,
    has_entries,
    replace_surrogates,
    to_prediction,
)
from karat.formats.parsing.surfaces.json_extraction import JsonValue, extract_json
from karat.model.document import WrittenResponse
from karat.model.errors import InputError

DOCUMENT_NAMES: Final = ("custom_id", "doc_id", "document_id", "docid", "document", "doc")
"""Fields for the id of a document; in an entry, `id` may be the entity's."""
ID_NAMES: Final = ("custom_id", "id", *DOCUMENT_NAMES[1:])
"""Fields of a record for the id of its document; the first present one counts."""
TEXT_ANSWER_NAMES: Final = (
    "response",
    "completion",
    "output",
    "content",
    "answer",
    "reply",
    "generated_text",
    "llm_output",
    "model_output",
    "raw",
)
"""Fields of a record for the answer; the first present one counts."""
REPLY_NAMES: Final = ("response", "completion", "answer", "reply", "raw")
"""Fields that may have a whole reply of an API instead of its text."""
_CALLS: Final = "tool_calls"
_CHAT: Final = ("messages",)
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_PARTS: Final = "parts"  # of Gemini, where neither texts nor calls have a type
_REPLY_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "message", _CALLS),
    ("choices", 0, "message", "content"),
    ("message", "content"),
    ("output",),
    ("content",),
    ("candidates", 0, "content", _PARTS),
)
_ANSWER_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("response", "body", "choices", 0, "message", _CALLS),
    ("response", "body", "choices", 0, "message", "content"),
    ("response", "body", "output"),
    *((name, *path) for name in REPLY_NAMES for path in _REPLY_PATHS),
    ("choices", 0, "message", _CALLS),
    ("choices", 0, "message", "content"),
    ("result", "message", "content"),
    ("message", _CALLS),
    ("message", "content"),
    ("candidates", 0, "content", _PARTS),
    *((name,) for name in TEXT_ANSWER_NAMES),
    _CHAT,
    *((name,) for name in LIST_NAMES),
)
"""Paths to the answer of a record, or to the list of entries; the first present path counts."""
_USAGE_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("response", "body", "usage"),
    *((name, "usage") for name in REPLY_NAMES),
    ("result", "message", "usage"),
    ("message", "usage"),
    ("usage",),
    *((name, "usageMetadata") for name in REPLY_NAMES),
    ("usageMetadata",),
)
_SECONDS, _TOKENS, _COST = "seconds", "tokens", "cost"
_USAGE_NAMES: Final = ("usage", _SECONDS, _TOKENS, _COST)
_MAX_TOKENS = 10**18
_ARGUMENT_PATHS: Final = {
    "function": ("function", "arguments"),
    "function_call": ("arguments",),
    "tool_use": ("input",),
}
"""Paths to the arguments of a tool call, by its type."""
_NO_LIST = "no list of predictions in the answer"
_EMPTY = "the answer is empty"


class StatedUsage(NamedTuple):
    """Time, tokens and cost of an answer, as its record states them; None for those that it does not state."""

    seconds: float | None = None
    """Time in seconds."""
    tokens: int | None = None
    """Tokens of prompt and answer."""
    cost: float | None = None
    """Cost, in any currency."""


def get_answer(fields: Mapping[str, Any]) -> object:
    """Return the answer of a record: text, a list of entries, or an object that contains them; None without any.

    The arguments of tool calls are the answer, and of a chat, the last reply. A record of an error or failed request
    has an empty answer, and so has one whose answer is null.
    """
    for path in _ANSWER_PATHS:
        value = get_path(fields, path)
        if (messages := _list_messages(value)) is not None:
            replies = [message for message in messages if message["role"] == "assistant"]
            return get_answer({"message": replies[-1]}) if replies else ""
        if path == _CHAT:  # a list of other messages
            continue
        if isinstance(value, list) and path[0] not in LIST_NAMES:
            members = [_add_type(part) for part in value] if path[-1] == _PARTS else value
            parts = [_get_call_arguments(part) for part in members]
            parts = parts if any(parts) else [_get_part_text(part) for part in members]
            text = "\n".join(part for part in parts if part is not None)
            value = text or (None if path[-1] == _CALLS else value)
        if isinstance(value, str | list) or _is_parsed_answer(path, value):
            return value
    is_error = fields.get("error") is not None or get_path(fields, ("result", "type")) not in (None, "succeeded")
    has_null = any(_is_null(fields, path) for path in _ANSWER_PATHS if path[0] not in LIST_NAMES)
    return "" if is_error or has_null else None


def _list_messages(value: object) -> list[Mapping[str, Any]] | None:
    """Return the messages of a chat, or None for other values, such as typed parts of one reply."""
    messages = value if isinstance(value, list) else []
    chat = [
        message
        for message in messages
        if isinstance(message, Mapping)
        and message.get("role") in _ROLES
        and message.keys() >= {"role", "content"}
        and "type" not in message
    ]
    return chat if chat and len(chat) == len(messages) else None


def _add_type(part: object) -> object:
    """Return a part of a reply of Gemini with the type that other APIs state; thoughts have none."""
    if not isinstance(part, Mapping) or part.get("thought"):
        return part
    call = part.get("functionCall")
    return {"type": "tool_use", "input": get_path(call, ("args",))} if call is not None else {**part, "type": "text"}


def _is_parsed_answer(path: Sequence[str | int], value: object) -> bool:
    """Return whether the value at a path is an answer that was decoded to an object, such as `{"mentions": […]}`."""
    return len(path) == 1 and path[0] in TEXT_ANSWER_NAMES and isinstance(value, Mapping) and has_entries(value)


def _is_null(fields: Mapping[str, Any], path: Sequence[str | int]) -> bool:
    """Return whether there is a null at a path into nested JSON."""
    parent = get_path(fields, path[:-1])
    return isinstance(parent, Mapping) and path[-1] in parent and parent[path[-1]] is None


def _get_call_arguments(part: object) -> str | None:
    """Return the arguments of a tool call in an answer, as JSON, or None for other parts.

    Calls of the provider's own tools, such as searches, have other types.
    """
    path = _ARGUMENT_PATHS.get(str(part.get("type"))) if isinstance(part, Mapping) else None
    arguments = None if path is None else get_path(part, path)
    return arguments if isinstance(arguments, str | None) else json.dumps(arguments)


def _get_part_text(part: object) -> str | None:
    """Return the text in a part of an answer, or None; reasoning and tool calls have no text."""
    if not isinstance(part, Mapping):
        return None
    if isinstance(part.get("content"), list):
        return "\n".join(text for inner in part["content"] if (text := _get_part_text(inner)) is not None) or None
    text = part.get("text")
    return text if isinstance(text, str) and part.get("type") in ("text", "output_text") else None


def get_path(value: object, path: Sequence[str | int]) -> object:
    """Return the value at a path of keys and indices into nested JSON, or None if there is none."""
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def to_answer_response(fields: Mapping[str, Any], location: str, counts: Counter[str]) -> WrittenResponse:
    """Convert a record to a response; without a list of entries, it has an error instead of predictions.

    Raise `InputError` if there is no document id. Entries and fields that are not read are counted in `counts`.
    """
    doc_id = get_document_id(fields)
    if doc_id is None:
        raise InputError(
            location,
            actual="no id of a document",
            expected=f"one of {', '.join(ID_NAMES)}",
            remedy="Add the id to each answer",
        )
    answer, text, usage = get_answer(fields), fields.get("text"), read_usage(fields, counts)._asdict()
    values = extract_json(answer) if isinstance(answer, str) else [JsonValue(answer)]
    entries = extract_entries(values, counts)
    if entries is None:
        reason = _EMPTY if is_empty(answer) else f"{_NO_LIST}{describe_unread_list(values)}"
        error = fields.get("error") or get_path(fields, ("result", "error")) or reason
        message = error if isinstance(error, str) else json.dumps(error)
        return WrittenResponse(doc_id, error=replace_surrogates(message), **usage)
    predictions = tuple(prediction for entry in entries if (prediction := to_prediction(entry, counts)) is not None)
    return WrittenResponse(doc_id, predictions, replace_surrogates(text), **usage)


def get_document_id(fields: Mapping[str, Any]) -> str | None:
    """Return the document id of a record: the first text or integer in the fields `ID_NAMES`, or None.

    In a completion, `id` may be the provider's, so the other fields come first.
    """
    names = (*DOCUMENT_NAMES, "id") if is_completion(fields) else ID_NAMES
    value = next((fields[name] for name in names if isinstance(fields.get(name), str | int)), None)
    return None if value is None or isinstance(value, bool) else replace_surrogates(str(value))


def is_completion(fields: Mapping[str, Any]) -> bool:
    """Return whether a record is itself a reply of OpenAI's or Anthropic's API."""
    return "choices" in fields or fields.get("object") == "response" or fields.get("type") == "message"


def is_empty(answer: object) -> bool:
    """Return whether an answer is text without content."""
    return isinstance(answer, str) and not answer.strip()


def select_usage(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record that state what its answer used."""
    return {name: fields[name] for name in _USAGE_NAMES if name in fields}


def read_usage(fields: Mapping[str, Any], counts: Counter[str]) -> StatedUsage:
    """Return the seconds, tokens and cost that a record states; values that are no numbers from 0 on are counted.

    Tokens may be those of an API's `usage`.
    """
    numbers = {name: _parse_amount(fields.get(name)) for name in (_SECONDS, _TOKENS, _COST)}
    tokens, n_counted = numbers[_TOKENS], _count_tokens(fields)
    n_stated = int(tokens) if tokens is not None and tokens.is_integer() and tokens < _MAX_TOKENS else None
    unread = {name for name, number in numbers.items() if number is None} | ({_TOKENS} if n_stated is None else set())
    counts.update(f"fields `{name}` (not read)" for name in sorted(unread) if fields.get(name) not in (None, ""))
    return StatedUsage(numbers[_SECONDS], n_stated if n_counted is None else n_counted, numbers[_COST])


def _parse_amount(value: object) -> float | None:
    """Return a finite number from 0 on, also given as text, or None for other values."""
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number < math.inf else None


def _count_tokens(fields: Mapping[str, Any]) -> int | None:
    """Return the number of tokens in an API's account of its usage, or None if it is not stated."""
    usage = next((counts for path in _USAGE_PATHS if isinstance(counts := get_path(fields, path), Mapping)), {})
    parts = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
    names = next(((name,) for name in ("total_tokens", "totalTokenCount") if name in usage), parts)
    counts = [usage[name] for name in names if isinstance(usage.get(name), int)]
    return sum(counts) if counts and 0 <= sum(counts) < _MAX_TOKENS else None
