"""ShadowLink's JSON (Top, Shadow, Tail, Neutral): a list of short texts with one mention each.

Written from public documentation and public readers; no file was available. An entry has `example` (the text), `span`
(start and length of the mention), `entity_name`, `wiki_id` and, for Top and Shadow, `entity_space_name`, the ambiguous
name. The entity is `entity_name`, unchanged; the page id is in `same_as`. A document is named as in ZELDA, by file and
name (`Top: Fijian`). A start of -1 means that the mention was not found: the text is read without a label.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, TypeAlias

import msgspec

from karat.formats.parsing.duplicates import rename_duplicate_id
from karat.formats.parsing.json.records import collect_other_fields, convert_value, parse_first_element, read_json
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import UniqueIds, map_valid
from karat.model.document import UNLINKED, Document, Label
from karat.model.spec.format import ByteSource, Format, Sample

_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, le=2**30 - 1)]


class _Example(msgspec.Struct):
    """An entry: a text with start and length of one mention, and its entity."""

    example: str
    span: tuple[_Number, _Number]
    wiki_id: str | int | None = None
    entity_name: str | None = None
    entity_space_name: str | None = None


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    ids = UniqueIds()
    entries = convert_value(read_json(source), list[object], source.label)
    located = [(entry, f"{source.label}, entry {number}") for number, entry in enumerate(entries, 1)]
    converted = list(
        map_valid(located, lambda item: _to_document(*item, source.stem, ids, skipped), lambda item: item[1])
    )
    documents, locations = [document for _, document in converted], [location for (_, location), _ in converted]
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def _to_document(entry: object, location: str, part: str, ids: UniqueIds, skipped: Counter[str]) -> Document:
    """Build the document of an entry; `part` begins its id, and `ids` are the ids so far, to which its own is added.

    Mentions without span (dropped) and changed ids are counted in `skipped`.
    """
    fields = convert_value(entry, dict[str, object], location)
    example = convert_value(fields, _Example, location)
    start, length = example.span
    page = None if example.wiki_id is None else str(example.wiki_id)
    entity = example.entity_name or page
    same_as = (page,) if page and page != entity else ()
    is_lost = start < 0
    skipped["mentions without a known span (skipped)"] += is_lost
    doc_id = f"{part}: {example.entity_space_name or entity or ''}"
    meta = collect_other_fields(fields, _Example.__struct_fields__)
    if example.entity_space_name:
        meta["entity_space_name"] = example.entity_space_name
    if is_lost and entity:
        meta["entity_name"] = entity
    labels = () if is_lost else (Label(start, start + length, entity or UNLINKED, same_as=same_as),)
    return Document(rename_duplicate_id(doc_id, ids, skipped), example.example, labels, meta=meta)


def _recognises(opening: bytes) -> bool:
    """Return whether the first entry has a text, a span, and an entity or page id."""
    entry = parse_first_element(opening)
    keys = entry.keys() if isinstance(entry, dict) else set()
    return {"example", "span"} <= keys and not keys.isdisjoint({"wiki_id", "entity_name"})


FORMAT = Format(
    title="ShadowLink JSON",
    suffix=".shadowlinks.json",
    markers=('"example"', '"span"', '"wiki_id"', '"entity_name"'),
    recognises=_recognises,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    description="Short texts with one ambiguous mention each.",
    sample=Sample.from_text(
        "sample.json",
        '[{"example": "Ada met", "span": [0, 3], "entity_name": "Ada Lovelace", "wiki_title": '
        '"Ada Lovelace", "wiki_id": "974"}]',
    ),
)
