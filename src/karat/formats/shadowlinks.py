"""ShadowLink's JSON (Top, Shadow, Tail, Neutral): a list of short texts with one mention each.

From public documentation and public readers of it; no file was at hand. An entry has `example` (the text), `span` (the
start and the length of the mention), `entity_name`, `wiki_id` and for Top and Shadow `entity_space_name`, the ambiguous
name. The entity is `entity_name` as written, the page id stands in `same_as`. A document is named as in ZELDA, by file
and name (`Top: Fijian`). A start of -1 means that the mention was not found: the text is kept, without a label.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, TypeAlias

import msgspec

from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import UNLINKED, Document, Label
from karat.parsing.distinct import distinct_id
from karat.parsing.json.records import first_element, json_file, others, shaped
from karat.spec.format import Bytes, Format, Sample

_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=-1, le=2**30 - 1)]


class _Example(msgspec.Struct):
    example: str
    span: tuple[_Number, _Number]
    wiki_id: str | int | None = None
    entity_name: str | None = None
    entity_space_name: str | None = None


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    entries = shaped(json_file(source), list[object], source.label)
    placed = [(entry, f"{source.label}, entry {number}") for number, entry in enumerate(entries, 1)]
    found = list(sound(placed, lambda one: _document(*one, source.stem, taken, skipped)))
    documents, where = [document for _, document in found], [place for (_, place), _ in found]
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=where.__getitem__)


def _document(entry: object, where: str, part: str, taken: set[str], skipped: Counter[str]) -> Document:
    fields = shaped(entry, dict[str, object], where)
    example = shaped(fields, _Example, where)
    start, length = example.span
    page = None if example.wiki_id is None else str(example.wiki_id)
    entity = example.entity_name or page
    also = (page,) if page and page != entity else ()
    lost = start < 0
    skipped["mentions whose place is not known (left out)"] += lost
    name = f"{part}: {example.entity_space_name or entity or ''}"
    meta = others(fields, _Example.__struct_fields__)
    if example.entity_space_name:
        meta["entity_space_name"] = example.entity_space_name
    if lost and entity:
        meta["entity_name"] = entity
    labels = () if lost else (Label(start, start + length, entity or UNLINKED, same_as=also),)
    return Document(distinct_id(name, taken, skipped), example.example, labels, meta=meta)


def _recognises(opening: bytes) -> bool:
    first = first_element(opening)
    keys = first.keys() if isinstance(first, dict) else set()
    return {"example", "span"} <= keys and not keys.isdisjoint({"wiki_id", "entity_name"})


FORMAT = Format(
    title="ShadowLink JSON",
    suffix=".shadowlinks.json",
    signs=('"example"', '"span"', '"wiki_id"', '"entity_name"'),
    recognises=_recognises,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="Short texts with one ambiguous mention each.",
    sample=Sample(
        {
            "sample.json": '[{"example": "Ada met", "span": [0, 3], "entity_name": "Ada Lovelace", "wiki_title": '
            '"Ada Lovelace", "wiki_id": "974"}]',
        },
        documents=1,
        mentions=1,
        given="sample.json",
    ),
)
