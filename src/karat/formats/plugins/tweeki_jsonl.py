"""TWEEKI's own JSONL: a tweet per line with parallel lists of spans and links `label|QID`.

The entity is the Wikidata id, and the label is its `name`. The texts are tokens joined by spaces. One link of the
published file has a number in place of a QID; it is unchanged.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from karat.formats.parsing import tweeki
from karat.formats.parsing.duplicates import drop_duplicate_labels, rename_duplicate_id
from karat.formats.parsing.json.records import (
    Record,
    collect_other_fields,
    convert_value,
    parse_first_object,
    read_record_corpus,
)
from karat.model.defects import UniqueIds
from karat.model.document import Document, Offset
from karat.model.errors import InputError
from karat.model.spec.format import Format, Sample


class _Row(msgspec.Struct):
    """A tweet, with parallel lists of spans and links."""

    id: str | int
    sentence: str
    index: list[tuple[Offset, Offset]]
    link: list[str]


def _to_document(record: Record, ids: UniqueIds, skipped: Counter[str]) -> Document:
    """Build the document of a line; `ids` are the document ids so far, to which its own is added.

    Duplicates (dropped) and changed ids are counted in `skipped`. Raise `InputError` if spans and links differ in
    number.
    """
    row = convert_value(record.fields, _Row, record.location)
    if len(row.index) != len(row.link):
        raise InputError(
            record.location,
            actual=f"{len(row.index)} spans in `index`, but {len(row.link)} links",
            expected="one link for each span",
            remedy="Complete the lists",
        )
    pairs = zip(row.index, row.link, strict=True)
    labels = drop_duplicate_labels((tweeki.parse_label(*span, link, (), skipped) for span, link in pairs), skipped)
    meta = collect_other_fields(record.fields, _Row.__struct_fields__)
    return Document(rename_duplicate_id(str(row.id), ids, skipped), row.sentence, labels, meta=meta)


FORMAT = Format(
    title="TWEEKI JSONL",
    suffix=".tweeki.jsonl",
    markers=('"sentence"', '"index"', '"link"'),
    recognises=lambda opening: {"sentence", "index", "link"} <= parse_first_object(opening).keys(),
    has_gold=lambda source: True,
    read_corpus=lambda source, text: read_record_corpus(source, _to_document),
    description="Tweets with links to Wikidata.",
    sample=Sample.from_text(
        "sample.jsonl", '{"id": "a", "sentence": "Ada met", "index": [[0, 3]], "link": ["Ada_Lovelace|Q7259"]}\n'
    ),
)
