"""ELEVANT's benchmarks: one article per line with its gold labels.

Ids are unchanged; `<NIL>` and `<NO_MAPPING>` are NIL (the latter with the category `nil:no-mapping`), and an empty id
is unlinked. Descriptive labels (`desc`), quantities and dates are optional, as in ELEVANT. `coref` is the kind
`coreference`; if it is false, the category `coreference:no`. `formats.parsing.elevant.label_trees` documents which
labels have a `mention_id`, and which categories represent the rest of a tree. Title, url, hyperlinks, title synonyms
and sections are in `meta`, lists as JSON.
"""

from __future__ import annotations

from collections import Counter
from typing import IO, Any

import msgspec

from karat.formats.parsing.elevant import gold as elevant_gold
from karat.formats.parsing.elevant import predictions as elevant_predictions
from karat.formats.parsing.elevant.articles import detect_content, is_linked, parse_id, to_article_fields
from karat.formats.parsing.elevant.labels import count_renumbered, to_gold_labels
from karat.formats.parsing.elevant.manifest import read_manifest
from karat.formats.parsing.elevant.predictions import read_both
from karat.formats.parsing.lost_fields import count_implied_optional
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    return elevant_gold.read_corpus(source)


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write one article per line; ELEVANT itself accepts only integers as document ids.

    Raise `UsageError` for `meta` that ELEVANT cannot store.
    """
    encode = msgspec.json.Encoder().encode
    for document in corpus:
        file.write(encode(_to_article(document)) + b"\n")


def _to_article(document: Document) -> dict[str, Any]:
    """Return the fields of an article for a document, in ELEVANT's order."""
    fields = to_article_fields(document.meta, f"document {document.id!r}")
    span = {} if document.evaluation_span is None else {"evaluation_span": document.evaluation_span}
    first = {"id": parse_id(document.id), "title": fields.pop("title"), "text": document.text}
    return {**first, **fields, **span, "labels": to_gold_labels(document.labels)}


def _count_losses(data: Corpus | Run) -> dict[str, int]:
    """Count labels that become optional, mention ids that are renumbered, and alternatives that become parts."""
    if not isinstance(data, Corpus):
        return {}
    changes: Counter[str] = Counter()
    for document in data:
        changes.update(count_renumbered(document.labels))
    return {**count_implied_optional(data), **changes}


FORMAT = Format(
    title="ELEVANT benchmark",
    suffix=".benchmark.jsonl",
    markers=('"evaluation_span"', '"labels"', '"entity_id"'),
    recognises=lambda head: detect_content(head) == "gold",
    has_gold=lambda source: not is_linked(source),  # linked articles are predictions, although they have labels
    prediction_mark="the mentions of a linker (entity_mentions)",
    read_corpus=read_corpus,
    read_run=elevant_predictions.read_run,
    has_gold_and_predictions=is_linked,  # without mentions in the first lines, they look like a benchmark
    read_both=read_both,
    read_manifest=read_manifest,
    write_corpus=write_corpus,
    count_losses=_count_losses,
    stored_fields=frozenset(
        {"name", "types", "categories", "kind", "optional", "mention_id", "parent", "evaluation_span", "meta"}
    ),
    description="Mention ids that are not integers are renumbered; alternatives of a mention become parts of it.",
)
