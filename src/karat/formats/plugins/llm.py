"""Answers of language models and APIs: a list of entries for each document, with text instead of spans.

JSONL with an id and an answer on each line (also the batch files of OpenAI and Anthropic), one JSON array of such
objects, a table with such columns, entries that name their documents, a folder of one file per document, or a single
file. An answer is a list of
entries, or text that contains one: in Markdown fences, or within prose. docs/how-to/from-llm.md lists the
accepted field names and the rules for locating text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from karat.formats.parsing.json.blocks import empty_file_error, parse_first_objects
from karat.formats.parsing.json.records import parse_first_element, read_records
from karat.formats.parsing.lines import decode_utf8
from karat.formats.parsing.surfaces.answers import (
    DOCUMENT_NAMES,
    ID_NAMES,
    TEXT_ANSWER_NAMES,
    get_answer,
    get_document_id,
    is_completion,
    is_empty,
    to_answer_response,
)
from karat.formats.parsing.surfaces.entries import (
    LEFT_CONTEXT_NAMES,
    LIST_NAMES,
    TITLE_MAPPINGS,
    count_gaps,
    extract_entries,
    has_unknown_fields,
    is_entry,
    is_title,
    replace_surrogates,
)
from karat.formats.parsing.surfaces.json_extraction import JsonValue, extract_json
from karat.formats.parsing.surfaces.run_builder import GoldTexts, ResponseEntry, build_run
from karat.formats.parsing.surfaces.table_rows import read_column_names, read_rows
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import map_valid
from karat.model.errors import InputError
from karat.model.output.command_options import format_roles
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample

_ENVELOPE_NAMES = frozenset((*ID_NAMES, "response", "completion", "answer", "model", "usage", "error"))
"""Fields of a record that is recognised although it has no answer."""
_FILE_SUFFIXES = (".json", ".md", ".txt")
_MAX_LISTED = 10  # names of fields in a message
_SEPARATORS = re.compile(rb"[\t,;]")


class _Record(NamedTuple):
    """The answer for one document, with its location."""

    fields: Mapping[str, Any]
    location: str
    counts: Mapping[str, int] = {}
    """Counts of what its file does not have, by description; of a file, only the first record has them."""


def read_run(source: ByteSource, gold: Callable[[], Corpus] | None = None) -> Run:
    """Read a model's predictions; `gold` loads the texts if records lack them. Raise `InputError` without answers."""
    texts = GoldTexts(gold, source.label)
    responses = [entry for _, entry in map_valid(_read_answers(source), _to_entry, lambda record: record.location)]
    if not responses:
        raise empty_file_error(source.label)
    return build_run(responses, texts, name=source.stem)


def _to_entry(record: _Record) -> ResponseEntry:
    """Convert a record to a response with its location and counts."""
    counts = SkipCounter(record.counts)
    return ResponseEntry(to_answer_response(record.fields, record.location, counts), record.location, counts)


def _read_answers(source: ByteSource) -> Iterator[_Record]:
    """Yield a record for each document: an object with an id and an answer.

    The layouts are tried in turn: folder, table, lines, array, entries that name their document, one answer for one
    document.
    """
    if source.is_folder:
        for name in source.file_names:
            if name.endswith(_FILE_SUFFIXES):
                yield _read_single_answer(source.get_child(name), str(PurePosixPath(name).with_suffix("")))
        return
    if _is_answer_table(source.first_bytes):
        yield from (_Record(row.fields, row.location) for row in read_rows(source, is_headerless=False))
        return
    if PurePosixPath(source.path).suffix in (".csv", ".tsv"):
        raise _unnamed_answer_error(source, read_column_names(source))
    first_objects = parse_first_objects(source.read_bytes().lstrip().partition(b"\n")[0])
    if first_objects and get_document_id(first_objects[0]) is not None and get_answer(first_objects[0]) is not None:
        yield from (_Record(fields, location) for _, location, fields in read_records(source))
        return
    values = extract_json(decode_utf8(source.read_bytes().removeprefix(b"\xef\xbb\xbf"), source))
    decoded = [value.value for value in values]
    members = [member for value in decoded for member in (value if isinstance(value, list) else [value])]
    objects = [
        fields
        for fields in members
        if isinstance(fields, dict) and get_document_id(fields) is not None and get_answer(fields) is not None
    ]
    gaps = count_gaps(values)
    if objects and len(objects) == len(members):
        for number, fields in enumerate(objects, 1):
            yield _Record(fields, f"{source.label}: entry {number}", gaps if number == 1 else {})
    elif grouped := _group_by_document(members):
        for number, (doc_id, answer) in enumerate(grouped.items(), 1):
            fields = {"id": doc_id, "answers" if isinstance(answer, list) else "response": answer}
            yield _Record(fields, f"{source.label}, document {doc_id!r}", gaps if number == 1 else {})
    elif not _has_entries(values) and (names := _list_record_fields(members)):
        raise _unnamed_answer_error(source, names)
    else:
        yield _read_single_answer(source, source.stem)


def _is_answer_table(head: bytes) -> bool:
    """Return whether the first bytes are a header of a table with columns for ids and answers."""
    cells = _SEPARATORS.split(head.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0])
    names = {cell.strip().strip(b'"').decode("utf-8", "replace") for cell in cells}
    return not names.isdisjoint(ID_NAMES) and not names.isdisjoint(TEXT_ANSWER_NAMES)


def _has_entries(values: Sequence[JsonValue]) -> bool:
    """Return whether an answer has entries that are no mere objects of texts, as records with a text per field are."""
    counts: Counter[str] = Counter()
    return extract_entries(values, counts) is not None and not counts[TITLE_MAPPINGS]


def _list_record_fields(members: Sequence[object]) -> list[str]:
    """Return the names of all fields of objects that name their documents; empty if some member is no such object."""
    records = [fields for fields in members if isinstance(fields, dict) and get_document_id(fields) is not None]
    return list(dict.fromkeys(name for fields in records for name in fields)) if len(records) == len(members) else []


def _unnamed_answer_error(source: ByteSource, names: Sequence[str]) -> InputError:
    """Build the error for records whose ids or answers are in no known field; `names` are their fields."""
    return InputError(
        source.label,
        actual=f"the fields {', '.join(name[:40] for name in names[:_MAX_LISTED])}",
        expected=f"an id ({', '.join(ID_NAMES)}) and an answer ({', '.join(TEXT_ANSWER_NAMES)})",
        remedy=f"Name the fields instead of the format: {format_roles({'doc': 'FIELD', 'response': 'FIELD'})}",
    )


def _group_by_document(members: Sequence[object]) -> dict[str, object]:
    """Return answers by document: those of an object from documents to answers, or entries that name their document.

    Return an empty dictionary if `members` have neither form.
    """
    single = members[0] if len(members) == 1 else None
    if isinstance(single, dict) and _has_answers_by_document(single):
        return {replace_surrogates(doc_id) or "": answer for doc_id, answer in single.items()}
    grouped: dict[str, list[object]] = {}
    for member in members:
        if not _has_document_name(member) or not isinstance(member, dict):
            return {}
        doc_id = get_document_id({key: member[key] for key in DOCUMENT_NAMES if key in member}) or ""
        grouped.setdefault(doc_id, []).append(
            {key: value for key, value in member.items() if key not in DOCUMENT_NAMES}
        )
    return {**grouped}


def _has_answers_by_document(fields: Mapping[str, object]) -> bool:
    """Return whether an object without known fields has an answer in each: a list, an object with one, or text.

    Most texts must contain entries, because other fields of an unknown record are texts, too.
    """
    lists = [answer for value in fields.values() if (answer := _get_entry_list(value)) is not None]
    texts = [value for value in fields.values() if isinstance(value, str)]
    return (
        has_unknown_fields(fields)
        and len(lists) + len(texts) == len(fields)
        and all(is_entry(entry) for entries in lists for entry in entries)
        and 2 * sum(extract_entries(extract_json(text), Counter()) is not None for text in texts)
        >= len(texts) + bool(texts)
    )


def _get_entry_list(value: object) -> list[object] | None:
    """Return a list, or the list in an object that has it under one of `LIST_NAMES`; None for other values."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in LIST_NAMES if name in value), None)
    return value if isinstance(value, list) else None


def _has_document_name(entry: object) -> bool:
    """Return whether a JSON value is an entry that names its document."""
    return isinstance(entry, dict) and is_entry(entry) and any(name in entry for name in DOCUMENT_NAMES)


def _read_single_answer(source: ByteSource, doc_id: str) -> _Record:
    """Read a file as the answer for one document; `doc_id` is its id unless the file states one."""
    text = decode_utf8(source.read_bytes().removeprefix(b"\xef\xbb\xbf"), source)
    values = extract_json(text)
    fields = values[0].value if len(values) == 1 else None
    if isinstance(fields, dict) and get_answer(fields) is not None:
        if is_completion(fields):  # its id is the provider's
            fields = {name: value for name, value in fields.items() if name != "id"}
        return _Record({**fields, "id": get_document_id(fields) or doc_id}, source.label)
    return _Record({"id": doc_id, "response": text}, source.label)


def _recognises(head: bytes) -> bool:
    """Return whether the first bytes have an id with an answer or entries without spans, or a Markdown fence.

    The first record with an answer decides; without any, no record may have other fields.
    """
    if head.lstrip().startswith(b"```") or _is_answer_table(head):
        return True
    is_array = head.lstrip().startswith(b"[")
    if not is_array and _is_answer_by_document(head):
        return True
    first = parse_first_element(head) if is_array else None
    records = ([first] if isinstance(first, dict) else []) if is_array else parse_first_objects(head)
    answered = next((fields for fields in records if not is_empty(get_answer(fields))), None)
    if answered is not None:
        return _is_answer(answered, is_array=is_array)
    return bool(records) and all(
        get_document_id(fields) is not None and ("custom_id" in fields or fields.keys() <= _ENVELOPE_NAMES)
        for fields in records
    )


def _is_answer(fields: Mapping[str, Any], *, is_array: bool) -> bool:
    """Return whether a record has an id with an answer or entries; outside an array, entries have no spans."""
    if get_document_id(fields) is None or "karat" in fields:
        return False
    if (
        _has_document_name(fields) and _has_no_span(fields) and not fields.keys() & {*LEFT_CONTEXT_NAMES}
    ):  # BLINK has contexts
        return True
    answer = get_answer(fields)
    if isinstance(answer, str):
        return not is_empty(answer)
    if isinstance(answer, Mapping):
        return True
    entries = answer if isinstance(answer, list) else []
    return bool(entries) and all(is_entry(entry) and (is_array or _has_no_span(entry)) for entry in entries)


def _is_answer_by_document(head: bytes) -> bool:
    """Return whether the first bytes are one object from documents to answers, with links and without spans."""
    objects = parse_first_objects(head.replace(b"\n", b" "))  # no JSON string has a line end
    if len(objects) != 1 or len(parse_first_objects(head)) > 1:
        return False
    lists = [entries for value in objects[0].values() if (entries := _get_entry_list(value)) is not None]
    return _has_answers_by_document(objects[0]) and all(
        _has_no_span(entry) and (isinstance(entry, list) or is_title(entry)) for entries in lists for entry in entries
    )


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
