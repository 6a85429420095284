"""BioC: documents of passages with annotations, as in PubTator Central and BioCreative.

Made from the public description of BioC (Comeau et al. 2013, its DTD, its JSON form and NCBI's key files). Read are, as
JSON, a collection (`documents`), a list of collections, what PubTator 3 answers (`PubTator3`), and one document per
line; and a collection as XML. The text is that of the passages, or of their sentences, a line break between them.
Offsets count from the beginning of the document, in code points unless the surfaces say otherwise (BioC itself speaks
of bytes). Surfaces that differ from the text are counted; where most do, the file is refused.

The entity is the first of the infons `identifier`, `MESH`, `OMIM`, … that an annotation has, as written unless a
reading divides composite ones; `-1` is NIL, and `-` or none is no link. The infon `type` is its type, all others become
categories (`key:value`). An annotation of several locations is taken from its first to its last character. Infons of
documents are their `meta`. A relation of two annotations is a statement, and so is one that names its ends in infons,
as BC5CDR does (`Chemical` and `Disease`) and BioRED (`entity1` and `entity2`), in the order of the infons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import UNLINKED, Document, EntityId, Label, Reply, Statement
from karat.model.run import Run
from karat.model.tables.check import Where
from karat.parsing.answering import as_answers
from karat.parsing.bioc.collections import Annotation, BiocArticle, BiocPiece, BiocRelation, articles, laid
from karat.parsing.composite import AS_WRITTEN, Composite
from karat.parsing.counting import Placed, SurfaceCheck, in_code_points
from karat.parsing.merging import merged
from karat.spec.format import Bytes

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
_KINDS = ("type", "relation")
_REMARKS = ("novel", "score", "note")
"""Infons of relations that name the relation, and that say something about it."""


class _Read(NamedTuple):
    """A document with its mentions as labels, which may repeat each other."""

    id: str
    text: str
    labels: list[Label]
    relations: tuple[Statement, ...]
    meta: dict[str, str]


def corpus_of(source: Bytes, composite: Composite = AS_WRITTEN) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    about: dict[str, str] = {}
    found = list(_all(source, about, skipped))
    documents = [
        Document(
            read.id,
            read.text,
            merged(composite.of_gold(read.labels), skipped),
            relations=read.relations,
            meta=read.meta,
        )
        for read in found
    ]
    return Corpus.built(documents, name=source.stem, about=about, skipped=skipped, where=_where(source, found))


def run_of(source: Bytes, composite: Composite = AS_WRITTEN) -> Run:
    """A system's answers, which BioC writes as it writes gold."""
    skipped: Counter[str] = Counter()
    about: dict[str, str] = {}
    found = list(_all(source, about, skipped))
    replies = [
        Reply(read.id, as_answers(composite.of_answers(read.labels)), relations=read.relations) for read in found
    ]
    texts = [read.text or None for read in found]
    where = _where(source, found)
    return Run.built(replies, name=source.stem, about=about, skipped=skipped, where=where, texts=texts)


def _all(source: Bytes, about: dict[str, str], skipped: Counter[str]) -> Iterator[_Read]:
    surfaces = SurfaceCheck()
    for _, read in sound(articles(source, about), lambda article: _read(article, source, skipped, surfaces)):
        yield read
    surfaces.refuse_others()


def _where(source: Bytes, found: Sequence[_Read]) -> Where:
    return lambda row: f"{source.label}: document {found[row].id!r}"


def _read(article: BiocArticle, source: Bytes, skipped: Counter[str], surfaces: SurfaceCheck) -> _Read:
    where = f"{source.label}: document {str(article.id)!r}"
    pieces, outside = laid(article)
    skipped["annotations outside all passages"] += outside
    texts = [piece.text or "" for piece in pieces]
    labels: list[Label] = []
    entities: dict[str, EntityId] = {}
    begin = behind = 0
    for piece, text in zip(pieces, texts, strict=True):
        skipped["passages that do not begin one character behind the last"] += begin > 0 and piece.offset != behind
        for name, label in _labels(piece, text, begin, where, skipped, surfaces):
            labels.append(label)
            entities[name] = label.entity
        begin += len(text) + 1
        behind = piece.offset + len(text) + 1
    holders: list[BiocArticle | BiocPiece] = [article]
    holders += [one for passage in article.passages for one in (passage, *passage.sentences)]
    relations = [relation for holder in holders for relation in holder.relations]
    meta = {key: str(value) for key, value in article.infons.items() if value is not None}
    return _Read(str(article.id), "\n".join(texts), labels, _statements(relations, entities, skipped), meta)


def _labels(
    piece: BiocPiece, text: str, begin: int, where: str, skipped: Counter[str], surfaces: SurfaceCheck
) -> Iterator[tuple[str, Label]]:
    """The annotations of a piece by their ids, as labels of a text in which it begins at some place."""
    placed = [note for note in piece.annotations if note.locations]
    skipped["annotations without a location"] += len(piece.annotations) - len(placed)
    spans = [_placed(note, piece.offset, where, skipped) for note in placed]
    for note, (start, end) in zip(placed, in_code_points(text, spans, skipped, surfaces), strict=True):
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
    """Relations of two linked mentions, the first node being the subject, or of two ids that infons name."""
    found = []
    for relation in relations:
        kind = next((str(relation.infons[key]) for key in _KINDS if key in relation.infons), "")
        named = [str(value) for key, value in relation.infons.items() if key not in (*_KINDS, *_REMARKS)]
        ends = [entities.get(str(node.refid)) for node in relation.nodes] if relation.nodes else named
        ids = [end for end in ends if isinstance(end, str) and end]
        if len(ids) == len(ends) == 2:
            found.append(Statement(ids[0], kind, ids[1]))
    skipped["relations that are not between two linked mentions"] += len(relations) - len(found)
    return tuple(found)
