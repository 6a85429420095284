"""What language models and APIs answer: a list of entries for each document, with words in place of spans.

JSONL with an id and an answer on each line (also the files of OpenAI's and Anthropic's batches), one JSON array of such
objects, entries that name their documents, a folder of one file per document, or a single file. An answer is a list of
entries, or text that has one: in Markdown fences, with prose around it. docs/llm.md says which names of fields are
understood, and how words are placed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import WrittenReply
from karat.model.run import Run
from karat.parsing.json.blocks import first_objects, nothing
from karat.parsing.json.records import first_element, records
from karat.parsing.lines import decoded
from karat.parsing.surfaces.entries import BEFORE, LISTS, answer_of, entries_of, is_entry, storable
from karat.parsing.surfaces.prose import Value, values_in
from karat.parsing.surfaces.written import GoldTexts, WrittenAt, run_of
from karat.spec.format import Bytes, Format, Sample

_IDS = ("custom_id", "id", "doc_id", "document_id", "docid", "document", "doc")
_DOCUMENTS = tuple(name for name in _IDS if name != "id")  # in an entry, `id` may be that of the entity
_PATHS: tuple[tuple[str | int, ...], ...] = (
    ("response", "body", "choices", 0, "message", "content"),
    ("response", "body", "output"),
    ("choices", 0, "message", "content"),
    ("result", "message", "content"),
    ("message", "content"),
    *((name,) for name in ("response", "completion", "output", "content", "answer", "reply", "generated_text", "raw")),
    *((name,) for name in LISTS),
)
"""Where records have the answer, or the list of entries itself; the first that is there counts."""
_USAGE: tuple[tuple[str | int, ...], ...] = (
    ("response", "body", "usage"),
    ("result", "message", "usage"),
    ("message", "usage"),
    ("usage",),
)
_FAILED = "no list of answers in what was answered"
_ANSWERS = (".json", ".md", ".txt")


class _Record(NamedTuple):
    fields: Mapping[str, Any]
    where: str


def read_run(source: Bytes) -> Run:
    """A model's answers, where each record has the text of its document."""
    return _run(source, None)


def read_run_on(source: Bytes, gold: Callable[[], Corpus]) -> Run:
    """A model's answers, placed in the texts of the gold standard."""
    return _run(source, gold)


def _run(source: Bytes, gold: Callable[[], Corpus] | None) -> Run:
    counts: Counter[str] = Counter()
    texts = GoldTexts(gold, source.label)
    read = sound(_records(source), lambda record: _reply(record.fields, record.where, counts))
    replies = [WrittenAt(reply, record.where) for record, reply in read]
    if not replies:
        raise nothing(source)
    return run_of(replies, texts, name=source.stem, skipped=counts)


def _records(source: Bytes) -> Iterator[_Record]:
    """The answer to each document, and where it stands."""
    if source.folder:
        for name in source.names:
            if name.endswith(_ANSWERS):
                yield _whole(source.inside(name), str(PurePosixPath(name).with_suffix("")))
        return
    first = first_objects(source.data().lstrip().partition(b"\n")[0])
    if first and _id(first[0]) is not None and _answer(first[0]) is not None:
        yield from (_Record(fields, where) for _, where, fields in records(source))
        return
    values = values_in(decoded(source.data().removeprefix(b"\xef\xbb\xbf"), source))
    found = [member for value, _ in values for member in (value if isinstance(value, list) else [value])]
    objects = [one for one in found if isinstance(one, dict) and _id(one) is not None and _answer(one) is not None]
    if objects and len(objects) == len(found):
        for number, one in enumerate(objects, 1):
            yield _Record(one, f"{source.label}: entry {number}")
    elif grouped := _by_document(found):
        for name, listed in grouped.items():
            yield _Record({"id": name, "answers": listed}, f"{source.label}, document {name!r}")
    else:
        yield _whole(source, source.stem)


def _by_document(found: Sequence[object]) -> dict[str, list[object]]:
    """Entries by document: of one object of lists, or entries that each name theirs; nothing where it is neither."""
    only = found[0] if len(found) == 1 else None
    if isinstance(only, dict) and not only.keys() & {*LISTS}:
        lists = {storable(name) or "": listed for name, listed in only.items() if isinstance(listed, list)}
        if len(lists) == len(only) and all(is_entry(entry) for listed in lists.values() for entry in listed):
            return lists
    grouped: dict[str, list[object]] = {}
    for one in found:
        if not _names_document(one) or not isinstance(one, dict):
            return {}
        name = _id({key: one[key] for key in _DOCUMENTS if key in one}) or ""
        grouped.setdefault(name, []).append({key: value for key, value in one.items() if key not in _DOCUMENTS})
    return grouped


def _names_document(entry: object) -> bool:
    """Whether an entry says which document it belongs to."""
    return isinstance(entry, dict) and is_entry(entry) and any(name in entry for name in _DOCUMENTS)


def _whole(source: Bytes, name: str) -> _Record:
    """A file that is the answer to one document."""
    text = decoded(source.data().removeprefix(b"\xef\xbb\xbf"), source)
    found = values_in(text)
    fields = found[0].value if len(found) == 1 else None
    if isinstance(fields, dict) and _answer(fields) is not None:
        return _Record({**fields, "id": _id(fields) or name}, source.label)
    return _Record({"id": name, "response": text}, source.label)


def _reply(fields: Mapping[str, Any], where: str, counts: Counter[str]) -> WrittenReply:
    name = _id(fields)
    if name is None:
        raise InputError(
            where, found="no id of a document", expected=f"one of {', '.join(_IDS)}", remedy="Give each answer the id"
        )
    given, text = _answer(fields), fields.get("text")
    values = values_in(given) if isinstance(given, str) else [Value(given)]
    entries = entries_of(values, counts)
    if entries is None:
        failed = fields.get("error") or _at(fields, ("result", "error")) or _FAILED
        said = failed if isinstance(failed, str) else json.dumps(failed)
        return WrittenReply(name, tokens=_tokens(fields), error=storable(said))
    answers = tuple(answer for entry in entries if (answer := answer_of(entry, counts)) is not None)
    return WrittenReply(name, answers, storable(text), tokens=_tokens(fields))


def _id(fields: Mapping[str, Any]) -> str | None:
    found = next((fields[name] for name in _IDS if isinstance(fields.get(name), str | int)), None)
    return None if found is None or isinstance(found, bool) else storable(str(found))


def _answer(fields: Mapping[str, Any]) -> object:
    """What was answered: text, or a list of entries; None where there is neither."""
    for path in _PATHS:
        found = _at(fields, path)
        if isinstance(found, list) and path[0] not in LISTS:
            parts = [_spoken(part) for part in found]
            found = "\n".join(part for part in parts if part is not None) if any(parts) else found
        if isinstance(found, str | list):
            return found
    failed = fields.get("error") is not None or _at(fields, ("result", "type")) not in (None, "succeeded")
    return "" if failed else None


def _spoken(part: object) -> str | None:
    """The text in a part of an answer that has several: what was thought or called is none."""
    if not isinstance(part, Mapping):
        return None
    if isinstance(part.get("content"), list):
        return "\n".join(text for inner in part["content"] if (text := _spoken(inner)) is not None) or None
    text = part.get("text")
    return text if isinstance(text, str) and part.get("type") in ("text", "output_text") else None


def _tokens(fields: Mapping[str, Any]) -> int | None:
    usage = next((found for path in _USAGE if isinstance(found := _at(fields, path), Mapping)), {})
    names = ("total_tokens",) if "total_tokens" in usage else ("input_tokens", "output_tokens")
    found = [usage[name] for name in names if isinstance(usage.get(name), int)]
    return sum(found) if found and 0 <= sum(found) < 10**18 else None


def _at(value: object, path: Sequence[str | int]) -> object:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and len(value) > step else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _recognises(head: bytes) -> bool:
    """An id with an answer in text, or with entries that have words and no Karat span; or a Markdown fence."""
    if head.lstrip().startswith(b"```"):
        return True
    first = first_element(head) if head.lstrip().startswith(b"[") else next(iter(first_objects(head)), None)
    if not isinstance(first, dict) or _id(first) is None or "karat" in first:
        return False
    if _names_document(first) and _bare(first) and not first.keys() & {*BEFORE}:  # BLINK has contexts
        return True
    answer = _answer(first)
    if isinstance(answer, str):
        return bool(answer.strip()) or "custom_id" in first
    array = head.lstrip().startswith(b"[")
    entries = answer if isinstance(answer, list) else []
    return bool(entries) and all(is_entry(entry) and (array or _bare(entry)) for entry in entries)


def _bare(entry: object) -> bool:
    """Whether an entry has words and no span, by which other formats of lines would know it."""
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
    signs=("```", '"response"', '"mention"', '"custom_id"'),
    recognises=_recognises,
    holds_gold=lambda source: False,
    read_run=read_run,
    read_run_on=read_run_on,
    says="Words in place of spans, as JSON in fences and prose: docs/llm.md.",
    sample=Sample({"run.llm.jsonl": _SAMPLE}, documents=1, mentions=2, given="run.llm.jsonl"),
)
