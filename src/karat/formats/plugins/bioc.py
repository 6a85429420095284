"""BioC: documents of passages with annotations, as in PubTator Central and BioCreative.

Written from the public description of BioC (Comeau et al. 2013, its DTD, its JSON form and NCBI's key files). As JSON,
it reads a collection (`documents`), a list of collections, PubTator 3's export (`PubTator3`), and one document per
line; as XML, it reads a collection. The text consists of the passages or their sentences, with a line break between
them. Offsets count from the beginning of the document, in code points unless the surfaces show otherwise (BioC itself
specifies bytes). Surfaces that differ from the text are counted. If most differ, the file is an error.

The entity is the first of the infons `identifier`, `MESH`, `OMIM`, … of an annotation, unchanged unless composite ids
are split; `-1` is NIL, and `-` or none is unlinked. The infon `type` is the type; all others become categories
(`key:value`). An annotation of several locations spans from its first to its last character. Infons of documents are
their `meta`. A relation between two annotations is a triple. So is a relation that names its ends in infons, as in
BC5CDR (`Chemical` and `Disease`) and BioRED (`entity1` and `entity2`), in the order of the infons.

Karat writes each document as one passage, with offsets in code points. The infon `karat` of an annotation or document
has what BioC has no place for, as JSON, such as candidates, scores, optional labels and evaluation spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from karat.formats.parsing.bioc.collections import (
    Annotation,
    BiocArticle,
    BiocRelation,
    BiocSegment,
    read_articles,
    recognises,
    split_segments,
)
from karat.formats.parsing.bioc.writer import write_json, write_xml
from karat.formats.parsing.composite_ids import ALL_IDS, ANY_ID, CompositeIdRule
from karat.formats.parsing.conversion import to_predictions
from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.formats.parsing.extra_fields import EXTRA_KEY, add_fields, count_lost_metadata, parse_fields
from karat.formats.parsing.offset_units import RawSpan, SurfaceCheck, list_surface_categories, to_code_points
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import map_valid
from karat.model.document import UNLINKED, Document, EntityId, Label, Response, Triple
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample
from karat.model.spec.settings.nil_spellings import BIOMEDICAL_NIL, BIOMEDICAL_UNLINKED
from karat.model.tables.checks import RowLocator

ID_INFONS = (
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
"""Infons that may have the id of an entity; the first counts."""

_NO_LINK = ("", BIOMEDICAL_UNLINKED, "None")
_RELATION_INFONS = ("type", "relation")
_REMARK_INFONS = ("novel", "score", "note")
"""Infons with the name of a relation, and with remarks about it."""


class _BiocDocument(NamedTuple):
    """A document with its mentions as labels, which may contain duplicates.

    `label_fields` has further fields of each label in Karat's model, and `fields` those of the document.
    """

    id: str
    text: str
    labels: list[Label]
    label_fields: list[dict[str, Any]]
    relations: tuple[Triple, ...]
    meta: dict[str, str]
    fields: dict[str, Any]


def read_corpus(source: ByteSource, composite: CompositeIdRule = ALL_IDS) -> Corpus:
    """Read the gold documents of a BioC file; `composite` is the rule for labels with several joined ids."""
    skipped = SkipCounter()
    metadata: dict[str, str] = {}
    items = list(_read_documents(source, metadata, skipped, needs_text=True))
    documents = [_to_gold(item, composite, source, skipped) for item in items]
    return Corpus.from_reader(
        documents, name=source.stem, metadata=metadata, skipped=skipped, locate_row=_make_locator(source, items)
    )


def _to_gold(item: _BiocDocument, composite: CompositeIdRule, source: ByteSource, skipped: Counter[str]) -> Document:
    """Convert a document with its mentions to a gold document."""
    location = f"{source.label}: document {item.id!r}"
    rows = zip(item.labels, item.label_fields, strict=True)
    labels = [add_fields(label, fields, location) for label, fields in rows]
    unique_labels = merge_duplicate_labels(composite.convert_gold(labels, skipped), skipped)
    document = Document(item.id, item.text, unique_labels, relations=item.relations, meta=item.meta)
    return add_fields(document, item.fields, location)


def read_run(source: ByteSource, composite: CompositeIdRule = ALL_IDS) -> Run:
    """Read a system's predictions, which BioC writes like gold labels; `composite` is the rule for joined ids.

    Labels with alternatives, which Karat writes, are a gold standard.
    """
    skipped = SkipCounter()
    metadata: dict[str, str] = {}
    items = list(_read_documents(source, metadata, skipped, needs_text=False))
    if any(fields.get("mention_id") is not None for item in items for fields in item.label_fields):
        return Run.from_gold(read_corpus(source, composite), name=source.stem)
    responses = [_to_response(item, composite, source, skipped) for item in items]
    texts = [item.text or None for item in items]
    locate_row = _make_locator(source, items)
    return Run.from_reader(
        responses, name=source.stem, metadata=metadata, skipped=skipped, locate_row=locate_row, texts=texts
    )


def _to_response(
    item: _BiocDocument, composite: CompositeIdRule, source: ByteSource, skipped: Counter[str]
) -> Response:
    """Convert a document with its mentions to the response of a system."""
    location = f"{source.label}: document {item.id!r}"
    predictions = tuple(
        add_fields(prediction, fields, location)
        for label, fields in zip(item.labels, item.label_fields, strict=True)
        for prediction in to_predictions(composite.convert_predictions([label], skipped))
    )
    return add_fields(Response(item.id, predictions, relations=item.relations), item.fields, location)


def _read_documents(
    source: ByteSource, metadata: dict[str, str], skipped: Counter[str], *, needs_text: bool
) -> Iterator[_BiocDocument]:
    """Yield the documents of a file; fill `metadata` from the collection; count lost or changed data in `skipped`.

    Without `needs_text`, the offsets in a passage without a text are not checked.
    At the end, raise `InputError` if most surfaces differ from the text at their offsets.
    """
    surfaces = SurfaceCheck()
    for _, document in map_valid(
        read_articles(source, metadata),
        lambda article: _to_document(article, source, skipped, surfaces, needs_text),
        lambda article: f"document {str(article.id)!r}",
    ):
        yield document
    surfaces.require_matches()


def _make_locator(source: ByteSource, items: Sequence[_BiocDocument]) -> RowLocator:
    """Return a function from the row of a document to file and document id, for error messages."""
    return lambda row: f"{source.label}: document {items[row].id!r}"


def _to_document(
    article: BiocArticle, source: ByteSource, skipped: Counter[str], surfaces: SurfaceCheck, needs_text: bool
) -> _BiocDocument:
    """Convert a document: join its segments with line breaks, and shift the spans accordingly.

    Surfaces are compared with the text in `surfaces`. Annotations outside all passages are dropped and counted in
    `skipped`; passages that do not begin one character after the previous passage are kept and counted.
    """
    location = f"{source.label}: document {str(article.id)!r}"
    segments, n_outside = split_segments(article)
    skipped["annotations outside all passages"] += n_outside
    texts = [segment.text or "" for segment in segments]
    labels: list[Label] = []
    label_fields: list[dict[str, Any]] = []
    entities: dict[str, EntityId] = {}
    start = next_offset = 0
    for segment, text in zip(segments, texts, strict=True):
        skipped["passages that do not begin one character after the previous one"] += (
            start > 0 and segment.offset != next_offset
        )
        known_text = text if needs_text else segment.text
        for name, label, fields in _to_labels(segment, known_text, start, location, skipped, surfaces):
            labels.append(label)
            label_fields.append(fields)
            entities[name] = label.entity
        start += len(text) + 1
        next_offset = segment.offset + len(text) + 1
    holders: list[BiocArticle | BiocSegment] = [article]
    holders += [segment for passage in article.passages for segment in (passage, *passage.sentences)]
    relations = [relation for holder in holders for relation in holder.relations]
    meta = {key: str(value) for key, value in article.infons.items() if value is not None and key != EXTRA_KEY}
    triples = _to_triples(relations, entities, skipped)
    document_fields = _parse_infon(article.infons, location)
    return _BiocDocument(str(article.id), "\n".join(texts), labels, label_fields, triples, meta, document_fields)


def _parse_infon(infons: Mapping[str, Any], location: str) -> dict[str, Any]:
    """Return the fields of Karat's model in the infon `karat`; empty without it."""
    return parse_fields(str(infons[EXTRA_KEY]), location) if EXTRA_KEY in infons else {}


def _to_labels(
    segment: BiocSegment,
    text: str | None,
    segment_start: int,
    location: str,
    skipped: Counter[str],
    surfaces: SurfaceCheck,
) -> Iterator[tuple[str, Label, dict[str, Any]]]:
    """Yield annotation id, label and further fields for each annotation of a segment that has a location.

    Annotations without location are dropped and counted in `skipped`. The segment has the text `text`, which begins at
    `segment_start` of the document's joined text.
    """
    located = [note for note in segment.annotations if note.locations]
    skipped["annotations without a location"] += len(segment.annotations) - len(located)
    spans = [_to_raw_span(note, segment.offset, location, skipped) for note in located]
    offsets = to_code_points(text, spans, skipped, surfaces)
    for note, span, (start, end) in zip(located, spans, offsets, strict=True):
        key = next((key for key in ID_INFONS if key in note.infons), None)
        value = str(note.infons[key]).strip() if key is not None else ""
        entity = UNLINKED if value in _NO_LINK else None if value == BIOMEDICAL_NIL else value
        kind = note.infons.get("type")
        special = ("type", key, EXTRA_KEY)
        other_infons = [f"{k}:{v}" for k, v in note.infons.items() if k not in special and v is not None]
        types = (str(kind),) if kind else ()
        categories = (*other_infons, *list_surface_categories(text, start, end, span))
        yield (
            str(note.id),
            Label(segment_start + start, segment_start + end, entity, types=types, categories=categories),
            _parse_infon(note.infons, f"{location}, annotation {note.id!r}"),
        )


def _to_raw_span(note: Annotation, offset: int, location: str, skipped: Counter[str]) -> RawSpan:
    """Return the span from first to last location of an annotation, relative to the `offset` of its segment.

    The surface is None if there are several locations; such annotations are kept and counted in `skipped`.
    """
    start = min(part.offset for part in note.locations)
    end = max(part.offset + part.length for part in note.locations)
    is_discontinuous = len(note.locations) > 1
    skipped["annotations of several locations (read as one span from first to last)"] += is_discontinuous
    return RawSpan(
        start - offset, end - offset, None if is_discontinuous else note.text, f"{location}, annotation {note.id!r}"
    )


def _to_triples(
    relations: list[BiocRelation], entities: dict[str, EntityId], skipped: Counter[str]
) -> tuple[Triple, ...]:
    """Convert relations between two linked annotations, the first being the subject, or between two ids in infons.

    `entities` is the entity of each annotation id. All other relations are dropped and counted in `skipped`.
    """
    triples = []
    for relation in relations:
        kind = next((str(relation.infons[key]) for key in _RELATION_INFONS if key in relation.infons), "")
        infon_ids = [
            str(value) for key, value in relation.infons.items() if key not in (*_RELATION_INFONS, *_REMARK_INFONS)
        ]
        ends = [entities.get(str(node.refid)) for node in relation.nodes] if relation.nodes else infon_ids
        ids = [end for end in ends if isinstance(end, str) and end]
        if len(ids) == len(ends) == 2:
            triples.append(Triple(ids[0], kind, ids[1]))
    skipped["relations that are not between two linked mentions"] += len(relations) - len(triples)
    return tuple(triples)


_SAMPLE = Sample.from_text(
    "sample.json",
    '{"documents": [{"id": "a", "infons": {}, "passages": [{"offset": 0, "infons": {}, '
    '"text": "Ada met", "annotations": [{"id": "1", "infons": {"identifier": "Q7259"}, '
    '"locations": [{"offset": 0, "length": 3}], "text": "Ada"}]}]}]}',
)

FORMAT = Format(
    title="BioC JSON and XML",
    suffix=".bioc.json",
    markers=('"passages"', '"offset"', '"infons"'),
    recognises=recognises,
    has_gold=lambda source: True,
    read_corpus=lambda source, text: read_corpus(source),
    read_run=read_run,
    write_corpus=lambda corpus, file: write_json(corpus, file, ID_INFONS),
    write_run=lambda run, file: write_json(run, file, ID_INFONS),
    description="Documents of passages with annotations and infons, as in PubTator Central and BioCreative. Of joined "
    "ids, each is an annotation.",
    count_losses=lambda data: count_lost_metadata(data, ("source", "date", "key")),
    is_kind_ambiguous=True,
    sample=_SAMPLE,
)

TABLE = {
    "bioc-xml": replace(
        FORMAT,
        title="BioC XML",
        suffix=".bioc.xml",
        markers=None,
        recognises=lambda opening: False,
        write_corpus=lambda corpus, file: write_xml(corpus, file, ID_INFONS),
        write_run=lambda run, file: write_xml(run, file, ID_INFONS),
        description="Like bioc, but written as XML. Not detected when read, since bioc reads both.",
        sample=None,
    ),
    "bioc-any": replace(
        FORMAT,
        title="BioC, any of several ids",
        markers=None,
        recognises=lambda opening: False,
        read_corpus=lambda source, text: read_corpus(source, ANY_ID),
        read_run=lambda source: read_run(source, ANY_ID),
        write_corpus=None,
        write_run=None,
        description="Like bioc, but ids joined by `|`, `,` or `;` are alternatives: one shared id suffices. "
        "Not detected: name the format.",
        sample=replace(
            _SAMPLE, files={name: text.replace("Q7259", "Q7259,Q1") for name, text in _SAMPLE.files.items()}, mentions=2
        ),
    ),
}
