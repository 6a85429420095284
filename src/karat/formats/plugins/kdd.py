"""The KDD queries (AMT): a word per line, `word  mention|O  O  B-TYPE|I-TYPE|O  [title  url]`, tab-separated.

Lines `.  O  O  #` separate queries. As in BAT, the text consists of column 2 (`_` as space) on the first line of a
mention and of column 1 outside mentions, joined by spaces. The words of I- rows are in column 2 of the first line; an
I- row without such a line is a word outside mentions. The entity is the title, unchanged, and its URL another id.
`NONE NONE` anywhere on a line means NIL; a first line without title is unlinked. A line with two pairs of title and URL
names the entities of two mentions in no certain order: the first pair is used, and all pairs are in `meta`. Documents
are numbered from 1, since queries have no ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from karat.formats.parsing.lines import read_lines, split_columns
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.defects import skip_or_raise
from karat.model.document import UNLINKED, Document, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample

_SEPARATOR_ROW = [".", "O", "O", "#"]
_FIRST_BYTES = b".\tO\tO\t#"
_NONE = "NONE"


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold queries, always with their texts (`text` is ignored).

    The error policy decides whether a query with an invalid row raises `InputError`, or is skipped and counted in
    `Defects`.
    """
    skipped = SkipCounter()
    documents, numbers = [], []
    for number, query in enumerate(_read_queries(source), 1):
        if query.defects:
            skip_or_raise(query.defects[0])
            continue
        numbers.append(query.line)
        with locate_counts(f"{source.label}:{query.line}"):
            documents.append(_to_document(str(number), query.rows, skipped))
    return Corpus.from_reader(
        documents, name=source.stem, skipped=skipped, locate_row=lambda row: f"{source.label}:{numbers[row]}"
    )


class _Query(NamedTuple):
    """The rows of a query, the line of the first, and the errors of invalid rows."""

    line: int
    rows: list[list[str]]
    defects: list[InputError]


def _read_queries(source: ByteSource) -> Iterator[_Query]:
    """Yield each query that is not empty; errors of invalid rows are stored in it."""
    query: _Query | None = None
    for line in read_lines(source):
        if not line.text.strip():
            continue
        if line.text.split("\t") == _SEPARATOR_ROW:
            if query is not None:
                yield query
            query = None
            continue
        query = query or _Query(line.number, [], [])
        try:
            query.rows.append(split_columns(line, source, 4))
        except InputError as problem:  # reported when the whole query has been read
            query.defects.append(problem)
    if query is not None:
        yield query


def _to_document(doc_id: str, rows: list[list[str]], skipped: Counter[str]) -> Document:
    """Build the document of a query.

    Entities on words outside mentions are dropped, and second titles are stored in `meta`. Both are counted in
    `skipped`, and so are I- rows that no mention contains.
    """
    text = ""
    labels: list[Label] = []
    meta: dict[str, str] = {}
    is_inside = False
    for word, mention, _, tag, *entities in rows:
        if tag.startswith("I-") and is_inside:
            continue
        is_begin = tag.startswith("B-")
        is_inside = is_begin and mention != "O"
        skipped["I- rows after no mention of several words (read as words outside mentions)"] += tag.startswith("I-")
        skipped["entities on words outside mentions"] += bool(entities) and not is_begin
        start = len(text) + (1 if text else 0)
        text += (" " if text else "") + (mention.replace("_", " ") if is_inside else word)
        if is_begin:
            labels.append(_to_label(start, len(text), tag.removeprefix("B-"), entities))
            if len(entities) > 2:
                skipped["lines with a second title (stored in `meta`)"] += 1
                meta[f"entities at {start}-{len(text)}"] = "\t".join(entities)
    return Document(doc_id, text, tuple(labels), meta=meta)


def _to_label(start: int, end: int, mention_type: str, entities: list[str]) -> Label:
    """Build the label of a mention from its `entities`: cells with title and URL in turn, of possibly several entities.

    The title of the first pair is the entity, its URL a further id. With fewer than two cells the mention is unlinked.
    It is NIL if any two adjacent cells are `NONE`.
    """
    if len(entities) < 2:
        return Label(start, end, UNLINKED, types=(mention_type,))
    if any(pair == (_NONE, _NONE) for pair in pairwise(entities)):
        return Label(start, end, None, types=(mention_type,))
    title, url = entities[:2]
    return Label(start, end, title, same_as=() if url == _NONE else (url,), types=(mention_type,))


FORMAT = Format(
    title="KDD queries",
    suffix=".txt",
    recognises=lambda head: head.removeprefix(b"\xef\xbb\xbf").startswith(_FIRST_BYTES),
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    description="Queries with one word per line, with types, titles and URLs of Wikipedia.",
    sample=Sample.from_text(
        "sample.txt",
        ".\tO\tO\t#\nada\tada\tO\tB-PER\tAda\thttp://en.wikipedia.org/wiki/Ada_Lovelace\nmet\tO\tO\tO\n.\tO\tO\t#\n",
    ),
)
