"""Answers of language models and APIs: a list of entries for each document, with text instead of spans.

JSONL with an id and an answer on each line (also the batch files of OpenAI and Anthropic), one JSON array of such
objects, entries that name their documents, a folder of one file per document, or a single file. An answer is a list of
entries, or text that contains one: in Markdown fences, or within prose. docs/how-to/from-llm.md lists the
accepted field names and the rules for locating text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from karat.formats.parsing.json.blocks import empty_file_error, parse_first_objects
from karat.formats.parsing.json.records import parse_first_element, read_records
from karat.formats.parsing.lines import decode_utf8
from karat.formats.parsing.surfaces.answers import REPLY_NAMES, get_answer, get_path
from karat.formats.parsing.surfaces.entries import (
    LEFT_CONTEXT_NAMES,
    LIST_NAMES,
    extract_entries,
    is_entry,
    replace_surrogates,
    to_prediction,
)
from karat.formats.parsing.surfaces.json_extraction import JsonValue, extract_json
from karat.formats.parsing.surfaces.run_builder import GoldTexts, ResponseEntry, build_run
from karat.model.corpus import Corpus
from karat.model.defects import map_valid
from karat.model.document import WrittenResponse
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample

_ID_NAMES = ("custom_id", "id", "doc_id", "document_id", "docid", "document", "doc")
_DOCUMENT_NAMES = tuple(name for name in _ID_NAMES if name != "id")  # in an entry, `id` may be the entity's
_USAGE_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("response", "body", "usage"),
    *((name, "usage") for name in REPLY_NAMES),
    ("result", "message", "usage"),
    ("message", "usage"),
    ("usage",),
)
_ENVELOPE_NAMES = frozenset((*_ID_NAMES, "response", "completion", "answer", "model", "usage", "error"))
"""Fields of a record that is recognised although it has no answer."""
_NO_LIST = "no list of predictions in the answer"
_EMPTY = "the answer is empty"
_FILE_SUFFIXES = (".json", ".md", ".txt")


class _Record(NamedTuple):
    """The answer for one document, with its location."""

    fields: Mapping[str, Any]
    location: str


def read_run(source: ByteSource, gold: Callable[[], Corpus] | None = None) -> Run:
    """Read a model's predictions; `gold` loads the texts if records lack them. Raise `InputError` without answers."""
    texts = GoldTexts(gold, source.label)
    responses = [entry for _, entry in map_valid(_read_answers(source), _to_entry)]
    if not responses:
        raise empty_file_error(source.label)
    return build_run(responses, texts, name=source.stem)


def _to_entry(record: _Record) -> ResponseEntry:
    """Convert a record to a response with its location and counts."""
    counts: Counter[str] = Counter()
    return ResponseEntry(_to_response(record.fields, record.location, counts), record.location, counts)


def _read_answers(source: ByteSource) -> Iterator[_Record]:
    """Yield a record for each document: an object with an id and an answer.

    The layouts are tried in turn: folder, lines, array, entries that name their document, one answer for one document.
    """
    if source.is_folder:
        for name in source.file_names:
            if name.endswith(_FILE_SUFFIXES):
                yield _read_single_answer(source.get_child(name), str(PurePosixPath(name).with_suffix("")))
        return
    first_objects = parse_first_objects(source.read_bytes().lstrip().partition(b"\n")[0])
    if first_objects and _get_id(first_objects[0]) is not None and get_answer(first_objects[0]) is not None:
        yield from (_Record(fields, location) for _, location, fields in read_records(source))
        return
    values = extract_json(decode_utf8(source.read_bytes().removeprefix(b"\xef\xbb\xbf"), source))
    decoded = [value.value for value in values]
    members = [member for value in decoded for member in (value if isinstance(value, list) else [value])]
    objects = [
        fields
        for fields in members
        if isinstance(fields, dict) and _get_id(fields) is not None and get_answer(fields) is not None
    ]
    if objects and len(objects) == len(members):
        for number, fields in enumerate(objects, 1):
            yield _Record(fields, f"{source.label}: entry {number}")
    elif grouped := _group_by_document(members):
        for doc_id, entries in grouped.items():
            yield _Record({"id": doc_id, "answers": entries}, f"{source.label}, document {doc_id!r}")
    else:
        yield _read_single_answer(source, source.stem)


def _group_by_document(members: Sequence[object]) -> dict[str, list[object]]:
    """Group entries by document: those of an object from documents to lists, or entries that name their document.

    Return an empty dictionary if `members` have neither form.
    """
    single = members[0] if len(members) == 1 else None
    if isinstance(single, dict) and not single.keys() & {*LIST_NAMES}:
        lists = {
            replace_surrogates(doc_id) or "": entries for doc_id, entries in single.items() if isinstance(entries, list)
        }
        if len(lists) == len(single) and all(is_entry(entry) for entries in lists.values() for entry in entries):
            return lists
    grouped: dict[str, list[object]] = {}
    for member in members:
        if not _has_document_name(member) or not isinstance(member, dict):
            return {}
        doc_id = _get_id({key: member[key] for key in _DOCUMENT_NAMES if key in member}) or ""
        grouped.setdefault(doc_id, []).append(
            {key: value for key, value in member.items() if key not in _DOCUMENT_NAMES}
        )
    return grouped


def _has_document_name(entry: object) -> bool:
    """Return whether a JSON value is an entry that names its document."""
    return isinstance(entry, dict) and is_entry(entry) and any(name in entry for name in _DOCUMENT_NAMES)


def _read_single_answer(source: ByteSource, doc_id: str) -> _Record:
    """Read a file as the answer for one document; `doc_id` is its id unless the file states one."""
    text = decode_utf8(source.read_bytes().removeprefix(b"\xef\xbb\xbf"), source)
    values = extract_json(text)
    fields = values[0].value if len(values) == 1 else None
    if isinstance(fields, dict) and get_answer(fields) is not None:
        if _is_completion(fields):  # its id is the provider's
            fields = {name: value for name, value in fields.items() if name != "id"}
        return _Record({**fields, "id": _get_id(fields) or doc_id}, source.label)
    return _Record({"id": doc_id, "response": text}, source.label)


def _to_response(fields: Mapping[str, Any], location: str, counts: Counter[str]) -> WrittenResponse:
    """Convert a record to a response; without a list of entries, it has an error instead of predictions.

    Raise `InputError` if there is no document id. Entries and fields that are not read are counted in `counts`.
    """
    doc_id = _get_id(fields)
    if doc_id is None:
        raise InputError(
            location,
            actual="no id of a document",
            expected=f"one of {', '.join(_ID_NAMES)}",
            remedy="Add the id to each answer",
        )
    answer, text = get_answer(fields), fields.get("text")
    values = extract_json(answer) if isinstance(answer, str) else [JsonValue(answer)]
    entries = extract_entries(values, counts)
    if entries is None:
        reason = _EMPTY if _is_empty(answer) else _NO_LIST
        error = fields.get("error") or get_path(fields, ("result", "error")) or reason
        message = error if isinstance(error, str) else json.dumps(error)
        return WrittenResponse(doc_id, tokens=_count_tokens(fields), error=replace_surrogates(message))
    predictions = tuple(prediction for entry in entries if (prediction := to_prediction(entry, counts)) is not None)
    return WrittenResponse(doc_id, predictions, replace_surrogates(text), tokens=_count_tokens(fields))


def _get_id(fields: Mapping[str, Any]) -> str | None:
    """Return the document id of a record: the first text or integer in the fields `_ID_NAMES`, or None.

    In a completion, `id` may be the provider's, so the other fields come first.
    """
    names = (*_DOCUMENT_NAMES, "id") if _is_completion(fields) else _ID_NAMES
    value = next((fields[name] for name in names if isinstance(fields.get(name), str | int)), None)
    return None if value is None or isinstance(value, bool) else replace_surrogates(str(value))


def _is_completion(fields: Mapping[str, Any]) -> bool:
    """Return whether a record is itself a reply of OpenAI's or Anthropic's API."""
    return "choices" in fields or fields.get("object") == "response" or fields.get("type") == "message"


def _is_empty(answer: object) -> bool:
    """Return whether an answer is text without content."""
    return isinstance(answer, str) and not answer.strip()


def _count_tokens(fields: Mapping[str, Any]) -> int | None:
    """Return the number of tokens that the model used for a record, or None if it is not stated."""
    usage = next((counts for path in _USAGE_PATHS if isinstance(counts := get_path(fields, path), Mapping)), {})
    parts = ("input_tokens", "output_tokens", "prompt_tokens", "completion_tokens")
    names = ("total_tokens",) if "total_tokens" in usage else parts
    counts = [usage[name] for name in names if isinstance(usage.get(name), int)]
    return sum(counts) if counts and 0 <= sum(counts) < 10**18 else None


def _recognises(head: bytes) -> bool:
    """Return whether the first bytes have an id with a textual answer or entries without spans, or a Markdown fence.

    The first record with an answer decides; without any, no record may have other fields.
    """
    if head.lstrip().startswith(b"```"):
        return True
    is_array = head.lstrip().startswith(b"[")
    first = parse_first_element(head) if is_array else None
    records = ([first] if isinstance(first, dict) else []) if is_array else parse_first_objects(head)
    answered = next((fields for fields in records if not _is_empty(get_answer(fields))), None)
    if answered is not None:
        return _is_answer(answered, is_array=is_array)
    return bool(records) and all(
        _get_id(fields) is not None and ("custom_id" in fields or fields.keys() <= _ENVELOPE_NAMES)
        for fields in records
    )


def _is_answer(fields: Mapping[str, Any], *, is_array: bool) -> bool:
    """Return whether a record has an id with a textual answer or entries; outside an array, entries have no spans."""
    if _get_id(fields) is None or "karat" in fields:
        return False
    if (
        _has_document_name(fields) and _has_no_span(fields) and not fields.keys() & {*LEFT_CONTEXT_NAMES}
    ):  # BLINK has contexts
        return True
    answer = get_answer(fields)
    if isinstance(answer, str):
        return not _is_empty(answer)
    entries = answer if isinstance(answer, list) else []
    return bool(entries) and all(is_entry(entry) and (is_array or _has_no_span(entry)) for entry in entries)


def _has_no_span(entry: object) -> bool:
    """Return whether no value of an entry is an integer or list, as spans of other line formats are."""
    values = entry.values() if isinstance(entry, Mapping) else ()
    return not any(isinstance(value, int | list) for value in values)


_SAMPLE = (
    r'{"id": "d1", "text": "Ada met Bob.", "response": "Here they are:\n```json\n[{\"mention\": \"Ada\", '
    r'\"entity\": \"Q1\"}, {\"mention\": \"Bob\", \"entity\": null}]\n```"}'
    "\n"
)

FORMAT = Format(
    title="LLM answers",
    suffix=".llm.jsonl",
    markers=("```", '"response"', '"mention"', '"custom_id"'),
    recognises=_recognises,
    has_gold=lambda source: False,
    read_run=read_run,
    read_run_with_gold=read_run,
    description="Mentions given by text, as JSON in fences or prose.",
    sample=Sample.from_text("run.llm.jsonl", _SAMPLE, mentions=2),
)
