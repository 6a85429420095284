"""BioC JSON: documents of passages with annotations, as in PubTator Central and BioCreative.

Made from the public description of BioC (Comeau et al. 2013, its JSON form and NCBI's key files), not from real files.
Read are a collection (`documents`), a list of collections, what PubTator 3 answers (`PubTator3`), and one document per
line. The text is that of the passages, or of their sentences, a line break between them. Offsets count from the
beginning of the document, in code points unless the surfaces say otherwise (BioC itself speaks of bytes).

The entity is the first of the infons `identifier`, `MESH`, `OMIM`, … that an annotation has, as written; `-1` is NIL,
and `-` or none is no link. The infon `type` is its type, all others become categories (`key:value`). An annotation of
several locations is taken from its first to its last character. Infons of documents are their `meta`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.formats.bioc.collections import Annotation, BiocArticle, BiocPiece, BiocRelation, articles, laid, recognises
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Document, EntityId, Label, Reply, Statement
from karat.model.run import Run
from karat.model.tables.check import Where
from karat.parsing.answering import as_answers
from karat.parsing.counting import Placed, in_code_points
from karat.parsing.merging import merged
from karat.spec.format import Bytes, Format

_IDS = (
    "identifier",
    "Identifier",
    "MESH",
    "MeSH",
    "OMIM",
    "NCBI_Gene",
    "NCBI Gene",
    "NCBI_Taxonomy",
    "NCBI Taxonomy",
    "ChEBI",
    "CHEBI",
    "tmVar",
    "cui",
    "CUI",
    "UMLS",
)
_NO_LINK = ("", "-", "None")


class _Read(NamedTuple):
    """A document with its mentions as labels, which may repeat each other."""

    id: str
    text: str
    labels: list[Label]
    relations: tuple[Statement, ...]
    meta: dict[str, str]


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    about: dict[str, str] = {}
    found = [_read(article, source, skipped) for article in articles(source, about)]
    documents = [
        Document(read.id, read.text, merged(read.labels, skipped), relations=read.relations, meta=read.meta)
        for read in found
    ]
    return Corpus.built(documents, name=source.stem, about=about, skipped=skipped, where=_where(source, found))


def read_run(source: Bytes) -> Run:
    """A system's answers, which BioC writes as it writes gold."""
    skipped: Counter[str] = Counter()
    about: dict[str, str] = {}
    found = [_read(article, source, skipped) for article in articles(source, about)]
    replies = [
        Reply(
            read.id,
            as_answers(read.labels),
            relations=read.relations,
        )
        for read in found
    ]
    return Run.built(replies, name=source.stem, about=about, skipped=skipped, where=_where(source, found))


def _where(source: Bytes, found: Sequence[_Read]) -> Where:
    return lambda row: f"{source.label}: document {found[row].id!r}"


def _read(article: BiocArticle, source: Bytes, skipped: Counter[str]) -> _Read:
    where = f"{source.label}: document {str(article.id)!r}"
    pieces, outside = laid(article)
    skipped["annotations outside all passages"] += outside
    texts = [piece.text or "" for piece in pieces]
    labels: list[Label] = []
    entities: dict[str, EntityId] = {}
    begin = behind = 0
    for piece, text in zip(pieces, texts, strict=True):
        skipped["passages that do not begin one character behind the last"] += begin > 0 and piece.offset != behind
        for name, label in _labels(piece, text, begin, where, skipped):
            labels.append(label)
            entities[name] = label.entity
        begin += len(text) + 1
        behind = piece.offset + len(text) + 1
    relations = [*article.relations, *(relation for piece in pieces for relation in piece.relations)]
    meta = {key: str(value) for key, value in article.infons.items() if value is not None}
    return _Read(str(article.id), "\n".join(texts), labels, _statements(relations, entities, skipped), meta)


def _labels(piece: BiocPiece, text: str, begin: int, where: str, skipped: Counter[str]) -> Iterator[tuple[str, Label]]:
    """The annotations of a piece by their ids, as labels of a text in which it begins at some place."""
    placed = [note for note in piece.annotations if note.locations]
    skipped["annotations without a location"] += len(piece.annotations) - len(placed)
    spans = [_placed(note, piece.offset, where, skipped) for note in placed]
    for note, (start, end) in zip(placed, in_code_points(text, spans, skipped), strict=True):
        key = next((key for key in _IDS if key in note.infons), None)
        value = str(note.infons[key]).strip() if key is not None else ""
        entity = UNLINKED if value in _NO_LINK else None if value == "-1" else value
        kind = note.infons.get("type")
        others = [f"{k}:{v}" for k, v in note.infons.items() if k not in ("type", key) and v is not None]
        types = (str(kind),) if kind else ()
        yield str(note.id), Label(begin + start, begin + end, entity, types=types, categories=tuple(others))


def _placed(note: Annotation, offset: int, where: str, skipped: Counter[str]) -> Placed:
    first = min(location.offset for location in note.locations)
    last = max(location.offset + location.length for location in note.locations)
    several = len(note.locations) > 1
    skipped["annotations of several locations (taken from first to last)"] += several
    return Placed(first - offset, last - offset, None if several else note.text, f"{where}, annotation {note.id!r}")


def _statements(
    relations: list[BiocRelation], entities: dict[str, EntityId], skipped: Counter[str]
) -> tuple[Statement, ...]:
    """Relations of two linked mentions, the first node being the subject."""
    found = []
    for relation in relations:
        ends = [entities.get(str(node.refid)) for node in relation.nodes]
        ids = [end for end in ends if isinstance(end, str)]
        if len(ids) == len(ends) == 2:
            found.append(Statement(ids[0], str(relation.infons.get("type", "")), ids[1]))
    skipped["relations that are not between two linked mentions"] += len(relations) - len(found)
    return tuple(found)


FORMAT = Format(
    title="BioC JSON",
    suffix=".bioc.json",
    recognises=recognises,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    read_run=read_run,
    says="Documents of passages with annotations and infons, as in PubTator Central and BioCreative.",
    either=True,
)
