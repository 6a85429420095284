"""The KDD queries (AMT): a word per line, `word  mention|O  O  B-TYPE|I-TYPE|O  [title  address]`, tab-separated.

Lines `.  O  O  #` stand between queries. As in BAT, the text is made of column 2 (`_` as space) on the first line of a
mention and of column 1 outside mentions, joined by spaces. The entity is the title as written, its address another id
of it. `NONE NONE` anywhere on a line says NIL; a first line without title is a mention without link. A line with two
pairs of title and address names the entities of two mentions in no certain order: the first pair is taken, and all of
them are kept in `meta`. Documents are numbered from 1, since queries have no ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import pass_over
from karat.model.document import UNLINKED, Document, Label
from karat.parsing.lines import columns, lines
from karat.spec.format import Bytes, Format, Sample

_BETWEEN = [".", "O", "O", "#"]
_OPENING = b".\tO\tO\t#"
_NONE = "NONE"


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold queries; the texts are always kept."""
    skipped: Counter[str] = Counter()
    documents, numbers = [], []
    for place, query in enumerate(_queries(source), 1):
        if query.defects:
            pass_over(query.defects[0])
            continue
        numbers.append(query.line)
        documents.append(_document(str(place), query.rows, skipped))
    return Corpus.built(
        documents, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{numbers[row]}"
    )


class _Query(NamedTuple):
    """The rows of a query, with the line of the first, and what is wrong with some."""

    line: int
    rows: list[list[str]]
    defects: list[InputError]


def _queries(source: Bytes) -> Iterator[_Query]:
    """Each query; what lies between two marks and is empty is none."""
    query: _Query | None = None
    for line in lines(source):
        if not line.text.strip():
            continue
        if line.text.split("\t") == _BETWEEN:
            if query is not None:
                yield query
            query = None
            continue
        query = query or _Query(line.number, [], [])
        try:
            query.rows.append(columns(line, source, 4))
        except InputError as problem:  # the query is refused when all of it was read
            query.defects.append(problem)
    if query is not None:
        yield query


def _document(name: str, rows: list[list[str]], skipped: Counter[str]) -> Document:
    text = ""
    labels: list[Label] = []
    meta: dict[str, str] = {}
    for word, mention, _, mark, *entities in rows:
        if mark.startswith("I-"):
            continue
        begins = mark.startswith("B-")
        skipped["entities on words outside mentions"] += bool(entities) and not begins
        start = len(text) + (1 if text else 0)
        text += (" " if text else "") + (mention.replace("_", " ") if begins and mention != "O" else word)
        if begins:
            labels.append(_label(start, len(text), mark.removeprefix("B-"), entities))
            if len(entities) > 2:
                skipped["lines with a second title (kept in the metadata)"] += 1
                meta[f"entities at {start}-{len(text)}"] = "\t".join(entities)
    return Document(name, text, tuple(labels), meta=meta)


def _label(start: int, end: int, kind: str, entities: list[str]) -> Label:
    if len(entities) < 2:
        return Label(start, end, UNLINKED, types=(kind,))
    if any(pair == (_NONE, _NONE) for pair in pairwise(entities)):
        return Label(start, end, None, types=(kind,))
    title, address = entities[:2]
    return Label(start, end, title, same_as=() if address == _NONE else (address,), types=(kind,))


FORMAT = Format(
    title="KDD queries",
    suffix=".txt",
    recognises=lambda head: head.removeprefix(b"\xef\xbb\xbf").startswith(_OPENING),
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="Queries as a word per line, with types, titles and addresses of Wikipedia.",
    sample=Sample(
        {
            "sample.txt": ".\tO\tO\t#\nada\tada\tO\tB-PER\tAda\thttp://en.wikipedia.org/wiki/Ada_Lovelace\n"
            "met\tO\tO\tO\n.\tO\tO\t#\n",
        },
        documents=1,
        mentions=1,
        given="sample.txt",
    ),
)
