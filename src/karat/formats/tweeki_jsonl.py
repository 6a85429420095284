"""TWEEKI's own JSONL: a tweet per line with parallel lists of spans and links `label|QID`.

The entity is the Wikidata id, the label its `name`. The texts are tokens joined by blanks. One link of the published
file has a number where a QID should be; it is kept as written.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import Document, Offset
from karat.parsing import tweeki
from karat.parsing.distinct import distinct_id, labels_once
from karat.parsing.json.records import Record, first_object, others, records, shaped
from karat.spec.format import Bytes, Format, Sample


class _Row(msgspec.Struct):
    id: str | int
    sentence: str
    index: list[tuple[Offset, Offset]]
    link: list[str]


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    documents, places = [], []
    for record, document in sound(records(source), lambda record: _document(record, taken, skipped)):
        documents.append(document)
        places.append(record.where)
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _document(record: Record, taken: set[str], skipped: Counter[str]) -> Document:
    row = shaped(record.fields, _Row, record.where)
    if len(row.index) != len(row.link):
        raise InputError(
            record.where,
            found=f"{len(row.index)} spans in `index`, but {len(row.link)} links",
            expected="one link for each span",
            remedy="Complete the lists",
        )
    marked = zip(row.index, row.link, strict=True)
    labels = labels_once((tweeki.label(*span, link, (), skipped) for span, link in marked), skipped)
    meta = others(record.fields, _Row.__struct_fields__)
    return Document(distinct_id(str(row.id), taken, skipped), row.sentence, labels, meta=meta)


FORMAT = Format(
    title="TWEEKI JSONL",
    suffix=".tweeki.jsonl",
    signs=('"sentence"', '"index"', '"link"'),
    recognises=lambda opening: {"sentence", "index", "link"} <= first_object(opening).keys(),
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="Tweets with links to Wikidata.",
    sample=Sample(
        {
            "sample.jsonl": '{"id": "a", "sentence": "Ada met", "index": [[0, 3]], "link": ["Ada_Lovelace|Q7259"]}\n',
        },
        documents=1,
        mentions=1,
        given="sample.jsonl",
    ),
)
