"""PubTator: title, abstract and annotations of biomedical abstracts in lines, as in NCBI's tutorial.

`ID|t|TITLE` and `ID|a|ABSTRACT`, then one line per mention with tabs between document, start, end, surface, type and
id, and one line per relation with document, type and two ids. An empty line ends the document, and offsets count from
its beginning. The text is the title, a line break and the abstract. Further section lines are joined in the same way;
an empty last section adds nothing.

If the next document has the same id, as in the full texts of NLM-Chem, the two are passages of one article. They become
one document with a line break between them, and the offsets of each passage are shifted. Lines behind an empty line
without a text of their own belong to the text before them. A document with the same id farther below is a duplicate.

Offsets count code points, unless the surfaces show otherwise. Surfaces that differ from the text are counted. If most
differ, the file is an error. Composite ids are split (`karat.formats.parsing.composite_ids`); `-1` is NIL, and `-` or
none is unlinked. Commas may join several types.

A block is the lines of one document up to an empty line or another document id.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO

from msgspec.structs import replace

from karat.formats.parsing.composite_ids import ALL_IDS, ANY_ID, CompositeIdRule, split_ids
from karat.formats.parsing.conversion import to_predictions
from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.formats.parsing.lines import Line, parse_integer, read_lines
from karat.formats.parsing.offset_units import RawSpan, SurfaceCheck, list_surface_categories, to_code_points
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import map_valid, skip_or_raise
from karat.model.document import UNLINKED, Document, EntityId, Label, Response, Triple
from karat.model.errors import InputError, UsageError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample
from karat.model.spec.settings.nil_spellings import BIOMEDICAL_NIL, BIOMEDICAL_UNLINKED

STORED_FIELDS = frozenset({"types", "relations"})
"""Fields that a written file contains."""

_SECTION = re.compile(r"(?P<id>[^|\t]+)\|(?P<section>[A-Za-z]+)\|(?P<text>.*)", re.DOTALL)
_TITLE = re.compile(rb"[^|\t\s{\[<][^|\t\n]*\|t\|")
_NO_LINK = ("", BIOMEDICAL_UNLINKED)


@dataclass(slots=True)
class _Block:
    """The lines of one document, up to an empty line or another id.

    `spans`, `types` and `entities` have an entry per mention.
    """

    id: str
    line: int
    sections: list[str] = field(default_factory=list)
    spans: list[RawSpan] = field(default_factory=list)
    types: list[tuple[str, ...]] = field(default_factory=list)
    entities: list[EntityId] = field(default_factory=list)
    relations: list[Triple] = field(default_factory=list)
    defects: list[InputError] = field(default_factory=list)

    @property
    def text(self) -> str | None:
        """The sections, one per line, or None if there are none; an empty last section (no abstract) adds nothing."""
        parts = self.sections
        return "\n".join(parts[:-1] if len(parts) > 1 and not parts[-1] else parts) if parts else None


@dataclass(frozen=True, slots=True)
class _Article:
    """A document: one block, or the passages of a long text; the text is None if the file has none."""

    id: str
    line: int
    text: str | None
    labels: list[Label]
    relations: tuple[Triple, ...]


def read_corpus(source: ByteSource, composite: CompositeIdRule = ALL_IDS) -> Corpus:
    """Read the gold documents.

    The error policy decides whether a document without text raises `InputError`, or is skipped and counted in
    `Defects`. `composite` is the rule for labels with several joined ids.
    """
    skipped = SkipCounter()
    documents, line_numbers = [], []
    for article in _read_articles(source, skipped):
        if article.text is None:
            problem = InputError(
                f"{source.label}:{article.line}",
                actual=f"annotations of document {article.id!r} without a text",
                expected=f"a line that begins with {article.id}|t| above them",
                remedy="Add title and abstract, or pass the file as predictions",
            )
            skip_or_raise(problem)
            continue
        labels = merge_duplicate_labels(composite.convert_gold(article.labels, skipped), skipped)
        documents.append(Document(article.id, article.text, labels, relations=article.relations))
        line_numbers.append(article.line)
    return Corpus.from_reader(
        documents, name=source.stem, skipped=skipped, locate_row=lambda row: f"{source.label}:{line_numbers[row]}"
    )


def read_run(source: ByteSource, composite: CompositeIdRule = ALL_IDS) -> Run:
    """Read a system's predictions; the text may be missing, and offsets then count code points.

    `composite` is the rule for predictions with several joined ids.
    """
    skipped = SkipCounter()
    responses, line_numbers = [], []
    texts: list[str | None] = []
    for article in _read_articles(source, skipped):
        predictions = to_predictions(composite.convert_predictions(article.labels, skipped))
        responses.append(Response(article.id, predictions, relations=article.relations))
        texts.append(article.text)
        line_numbers.append(article.line)
    get_location = lambda row: f"{source.label}:{line_numbers[row]}"  # noqa: E731
    return Run.from_reader(responses, name=source.stem, skipped=skipped, locate_row=get_location, texts=texts)


def _read_articles(source: ByteSource, skipped: Counter[str]) -> Iterator[_Article]:
    """Yield the documents of a file, of consecutive blocks with the same id; count lost or changed data in `skipped`.

    At the end, raise `InputError` if most surfaces differ from the text at their offsets.
    """
    surfaces = SurfaceCheck()

    def to_article(group: tuple[str, Iterator[_Block]]) -> _Article:
        doc_id, blocks = group
        passages = _join_blocks(blocks)
        for problem in (problem for passage in passages for problem in passage.defects):
            raise problem
        skipped["passages joined with the previous one (the document continues after an empty line)"] += (
            len(passages) - 1
        )
        text = "\n".join(passage.text or "" for passage in passages)
        labels: list[Label] = []
        start_of_passage = 0
        for passage in passages:
            spans = to_code_points(passage.text, passage.spans, skipped, surfaces)
            rows = zip(spans, passage.spans, passage.entities, passage.types, strict=True)
            labels += [
                Label(
                    start_of_passage + start,
                    start_of_passage + end,
                    entity,
                    types=types,
                    categories=list_surface_categories(passage.text, start, end, span),
                )
                for (start, end), span, entity, types in rows
            ]
            start_of_passage += len(passage.text or "") + 1
        relations = tuple(triple for passage in passages for triple in passage.relations)
        return _Article(doc_id, passages[0].line, text if passages[0].sections else None, labels, relations)

    groups = groupby(_read_blocks(source, skipped), key=lambda block: block.id)
    for _, article in map_valid(groups, to_article, lambda group: f"document {group[0]!r}"):
        yield article
    surfaces.require_matches()


def _join_blocks(blocks: Iterable[_Block]) -> list[_Block]:
    """Join blocks of one document without text to the block before them; return the remaining blocks, its passages."""
    passages: list[_Block] = []
    for block in blocks:
        if not passages or (block.sections and passages[-1].sections):
            passages.append(block)
            continue
        last = passages[-1]
        for name in ("sections", "spans", "types", "entities", "relations", "defects"):
            getattr(last, name).extend(getattr(block, name))
    return passages


def _read_blocks(source: ByteSource, skipped: Counter[str]) -> Iterator[_Block]:
    """Yield the blocks of a file; a block ends at an empty line or another document id.

    Errors of annotation lines are stored in the block.
    """
    block: _Block | None = None
    for line in read_lines(source):
        section = _SECTION.fullmatch(line.text)
        doc_id = section["id"] if section else line.text.partition("\t")[0]
        is_blank = not line.text.strip()
        if block is not None and (is_blank or doc_id != block.id):
            yield block
            block = None
        if is_blank:
            continue
        if block is None:
            block = _Block(doc_id, line.number)
        if section:
            block.sections.append(section["text"])
        else:
            try:
                _parse_annotation(block, line, source, skipped)
            except InputError as problem:  # raised when the whole document has been read
                block.defects.append(problem)
    if block is not None:
        yield block


def _parse_annotation(block: _Block, line: Line, source: ByteSource, skipped: Counter[str]) -> None:
    """Parse a line with a mention or relation and add it to `block`; further columns are dropped and counted."""
    cells = line.text.split("\t")
    if len(cells) >= 5 and cells[1].strip().isdigit():
        start, end = (parse_integer(cell, line, source, "offset") for cell in cells[1:3])
        block.spans.append(RawSpan(start, end, cells[3] or None, f"{source.label}:{line.number}"))
        block.types.append(tuple(filter(None, cells[4].split(","))))
        entity = cells[5].strip() if len(cells) > 5 else ""
        block.entities.append(UNLINKED if entity in _NO_LINK else None if entity == BIOMEDICAL_NIL else entity)
        skipped["columns after the id of a mention"] += sum(bool(cell.strip()) for cell in cells[6:])
    elif len(cells) >= 4 and all(cells[1:4]) and not cells[1].isdigit():
        block.relations.append(Triple(cells[2], cells[1], cells[3]))
        skipped["columns after a relation"] += sum(bool(cell.strip()) for cell in cells[4:])
    else:
        raise InputError(
            f"{source.label}:{line.number}",
            actual=f"{line.text[:40]!r}",
            expected="ID|t|TITLE, ID|a|ABSTRACT, or with tabs ID, start, end, surface, type and perhaps an id",
            remedy="Check that tabs were not turned into spaces",
        )


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write documents with an empty line after each; raise `UsageError` for values that PubTator cannot store."""
    for document in corpus:
        file.write("\n".join([*_format_document(document), "", ""]).encode())


def _format_document(document: Document) -> Iterator[str]:
    """Yield the lines of a document: sections, mentions, relations; raise `UsageError` for values that do not fit."""
    doc_id = document.id
    if not _check_cell(doc_id, "an id", doc_id) or "|" in doc_id or doc_id.startswith("\ufeff"):
        raise _unsupported_value_error(doc_id, "an id", doc_id)
    parts = document.text.split("\n")
    if any(part.endswith("\r") for part in parts) or "\r\n" in document.text:
        raise _unsupported_value_error(doc_id, "a text", "\\r at the end of a line")
    for index, part in enumerate([*parts, ""] if len(parts) == 1 or not parts[-1] else parts):
        yield f"{doc_id}|{'a' if index else 't'}|{part}"
    for label in document.labels:
        if label.entity in (BIOMEDICAL_NIL, *_NO_LINK) or any(not kind or "," in kind for kind in label.types):
            raise _unsupported_value_error(doc_id, "an id or type", f"{label.entity} {label.types}")
        if isinstance(label.entity, str) and split_ids(label.entity) != (label.entity,):
            raise _unsupported_value_error(doc_id, "an id that is read as several", label.entity)
        surface = re.sub(r"[\t\r\n]", " ", document.text[label.start : label.end])
        kind = _check_cell(",".join(label.types), "a type", doc_id)
        row = [doc_id, str(label.start), str(label.end), surface, kind]
        if label.entity is not UNLINKED:
            row.append(BIOMEDICAL_NIL if label.entity is None else _check_cell(str(label.entity), "an id", doc_id))
        yield "\t".join(row)
    yield from _format_relations(document.relations, doc_id)


def _format_relations(relations: Iterable[Triple], doc_id: str) -> Iterator[str]:
    """Yield the line of each relation; raise `UsageError` for values that do not fit."""
    for triple in relations:
        parts = [_check_cell(part, "a relation", doc_id) for part in (triple.predicate, triple.subject, triple.object)]
        if not all(parts) or parts[0].isdigit() or triple != Triple(triple.subject, triple.predicate, triple.object):
            raise _unsupported_value_error(doc_id, "a relation", "an empty part, a number, a score or further ids")
        yield "\t".join([doc_id, *parts])


def _check_cell(value: str, field: str, doc_id: str) -> str:
    """Return the value; raise `UsageError` for tabs or line breaks in the value, or white space at its ends."""
    if re.search(r"[\t\r\n]", value) or value != value.strip():
        raise _unsupported_value_error(doc_id, field, value)
    return value


def _unsupported_value_error(doc_id: str, field: str, value: str) -> UsageError:
    """Build the error for a value that PubTator cannot store."""
    return UsageError(
        f"document {doc_id!r} has {field} that PubTator cannot store ({value!r}). Change it, or choose another format."
    )


def recognises(head: bytes) -> bool:
    """Return whether the first bytes are a PubTator title line, and any next line is empty or of the same document."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _TITLE.match(start) is None:
        return False
    doc_id = start.partition(b"|")[0]
    rest = start.partition(b"\n")[2]
    return not rest.strip() or rest.startswith((doc_id + b"|", doc_id + b"\t", b"\n", b"\r\n"))


FORMAT = Format(
    title="PubTator",
    suffix=".pubtator",
    markers=("|t|", "|a|"),
    recognises=recognises,
    has_gold=lambda source: recognises(source.first_bytes),
    read_corpus=lambda source, text: read_corpus(source),
    read_run=read_run,
    write_corpus=write_corpus,
    stored_fields=STORED_FIELDS,
    description="Title, abstract and tab-separated mentions of each document, as in biomedical corpora. Of joined ids, "
    "each is an annotation.",
    is_kind_ambiguous=True,
)

TABLE = {
    "pubtator-any": replace(
        FORMAT,
        title="PubTator, any of several ids",
        markers=None,
        recognises=lambda opening: False,
        read_corpus=lambda source, text: read_corpus(source, ANY_ID),
        read_run=lambda source: read_run(source, ANY_ID),
        write_corpus=None,
        stored_fields=None,
        description="Like pubtator, but ids joined by `|`, `,` or `;` are alternatives: one shared id suffices. "
        "Not detected: name the format.",
        sample=Sample({"sample.pubtator": "1|t|Ada met\n1\t0\t3\tAda\tPerson\tQ7259|Q1\n"}, 1, 2, "sample.pubtator"),
    )
}
