"""Predictions of Flair's linkers: `Sentence.to_dict("nel")` as JSON, one object per line or in a list.

An entity has `start_pos`, `end_pos` and `labels` with `value` and `confidence`. The first label is the link; if there
are several, as with `top_k`, all are candidates. `<unk>` is NIL. Flair writes no names of label types, so pass the type
of the links to `to_dict`. A sentence has no id either: its `id` is used if you add one, then its text in the gold
standard, then its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from karat.formats.parsing.duplicates import rename_duplicate_id
from karat.formats.parsing.json.records import (
    Record,
    convert_value,
    parse_first_element,
    parse_first_object,
    read_json,
    read_records,
)
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import UniqueIds, map_valid
from karat.model.document import UNLINKED, Candidate, Offset, Prediction, Response
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample

_UNKNOWN: Final = "<unk>"


class _Label(msgspec.Struct):
    """A label of an entity: its value and the model's confidence."""

    value: str
    confidence: float


class _Entity(msgspec.Struct):
    """A span with labels, the best first."""

    start_pos: Offset
    end_pos: Offset
    labels: list[_Label] = []


class _Sentence(msgspec.Struct):
    """A text with its entities; labels of the text, relations and tokens are not read."""

    text: str
    entities: list[_Entity]
    id: str | int | None = None


def read_run(source: ByteSource, gold: Callable[[], Corpus] | None = None) -> Run:
    """Read the predictions; `gold` loads the gold standard, whose texts identify sentences without id."""
    skipped = SkipCounter()
    ids, by_text = UniqueIds(), None
    responses: list[Response] = []
    texts, locations = [], []
    for record, sentence in map_valid(
        _read_sentences(source), lambda record: convert_value(record.fields, _Sentence, record.location)
    ):
        if sentence.id is None and gold is not None and by_text is None:
            by_text = _index_texts(gold())
        same_text = (by_text or {}).get(sentence.text)
        if sentence.id is not None:
            doc_id = str(sentence.id)
        elif same_text:
            skipped["documents without an id (identified by text)"] += 1
            doc_id = same_text.pop()
        else:
            skipped["documents without an id (numbered)"] += 1
            doc_id = str(len(responses) + 1)
        skipped["sentences with relations, which are not read"] += bool(record.fields.get("relations"))
        skipped["sentences with labels of their own, which are not read"] += bool(record.fields.get("labels"))
        doc_id = rename_duplicate_id(doc_id, ids, skipped)
        responses.append(Response(doc_id, tuple(_to_prediction(entity) for entity in sentence.entities)))
        texts.append(sentence.text)
        locations.append(record.location)
    return Run.from_reader(responses, name=source.stem, skipped=skipped, locate_row=locations.__getitem__, texts=texts)


def _read_sentences(source: ByteSource) -> Iterator[Record]:
    """Yield the sentences of a list, or of lines."""
    if not isinstance(parse_first_element(source.first_bytes), dict):
        yield from read_records(source)
        return
    for number, value in enumerate(convert_value(read_json(source), list[dict[str, Any]], source.label), 1):
        yield Record(number, f"{source.label}: entry {number}", value)


def _index_texts(corpus: Corpus) -> dict[str, list[str]]:
    """Return the ids of the documents with each text, the last id first; empty without texts."""
    ids: dict[str, list[str]] = {}
    if corpus.has_text:
        for doc_id, text in zip(reversed(corpus.ids.to_pylist()), reversed(corpus.texts), strict=True):
            ids.setdefault(text, []).append(doc_id)
    return ids


def _to_prediction(entity: _Entity) -> Prediction:
    """Return the prediction of an entity: the first label is the link, and no label means unlinked."""
    labels = entity.labels
    linked_labels = [label for label in labels if label.value != _UNKNOWN]
    link = UNLINKED if not labels else None if labels[0].value == _UNKNOWN else labels[0].value
    return Prediction(
        entity.start_pos,
        entity.end_pos,
        link,
        score=labels[0].confidence if labels else None,
        candidates=tuple(Candidate(label.value, label.confidence) for label in linked_labels)
        if len(labels) > 1
        else (),
    )


def _recognises(opening: bytes) -> bool:
    """Return whether the first object has a text and entities with Flair's names of offsets."""
    element = parse_first_element(opening)
    fields = element if isinstance(element, dict) else parse_first_object(opening)
    entities = fields.get("entities")
    if entities == []:
        return {"text", "labels", "relations", "tokens"} <= fields.keys()
    first = entities[0] if isinstance(entities, list) else None
    return "text" in fields and isinstance(first, dict) and "start_pos" in first


FORMAT = Format(
    title="Flair JSON",
    suffix=".flair.jsonl",
    markers=('"entities"', '"start_pos"', '"end_pos"', '"confidence"'),
    recognises=_recognises,
    has_gold=lambda source: False,
    read_run=read_run,
    read_run_with_gold=read_run,
    description='Predictions of Flair\'s linkers, as `Sentence.to_dict("nel")` returns them.',
    sample=Sample.from_text(
        "sample.jsonl",
        '{"text": "Ada met Bob", "labels": [], "entities": [{"text": "Ada", "start_pos": 0, "end_pos": 3, "labels": '
        '[{"value": "Ada Lovelace", "confidence": 0.9}]}, {"text": "Bob", "start_pos": 8, "end_pos": 11, "labels": '
        '[{"value": "<unk>", "confidence": 0.4}]}], "relations": [], "tokens": []}\n',
        mentions=2,
    ),
)
