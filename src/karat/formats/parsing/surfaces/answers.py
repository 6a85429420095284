"""Answers in records of language models: objects of APIs, of batch files, or of a user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from karat.formats.parsing.surfaces.entries import LIST_NAMES

REPLY_NAMES: Final = ("response", "completion", "answer", "reply", "raw")
"""Fields that may have a whole reply of an API instead of its text."""
_REPLY_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("choices", 0, "message", "content"),
    ("message", "content"),
    ("output",),
    ("content",),
)
_ANSWER_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("response", "body", "choices", 0, "message", "content"),
    ("response", "body", "output"),
    *((name, *path) for name in REPLY_NAMES for path in _REPLY_PATHS),
    ("choices", 0, "message", "content"),
    ("result", "message", "content"),
    ("message", "content"),
    *((name,) for name in ("response", "completion", "output", "content", "answer", "reply", "generated_text", "raw")),
    *((name,) for name in LIST_NAMES),
)
"""Paths to the answer of a record, or to the list of entries; the first present path counts."""


def get_answer(fields: Mapping[str, Any]) -> object:
    """Return the answer of a record: text, or a list of entries; None if there is neither.

    A record of an error or failed request has an empty answer, and so has one whose answer is null.
    """
    for path in _ANSWER_PATHS:
        value = get_path(fields, path)
        if isinstance(value, list) and path[0] not in LIST_NAMES:
            parts = [_get_part_text(part) for part in value]
            value = "\n".join(part for part in parts if part is not None) if any(parts) else value
        if isinstance(value, str | list):
            return value
    is_error = fields.get("error") is not None or get_path(fields, ("result", "type")) not in (None, "succeeded")
    has_null = any(_is_null(fields, path) for path in _ANSWER_PATHS if path[0] not in LIST_NAMES)
    return "" if is_error or has_null else None


def _is_null(fields: Mapping[str, Any], path: Sequence[str | int]) -> bool:
    """Return whether there is a null at a path into nested JSON."""
    parent = get_path(fields, path[:-1])
    return isinstance(parent, Mapping) and path[-1] in parent and parent[path[-1]] is None


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
