"""PubTator: title, abstract and annotations of biomedical abstracts in lines, as NCBI's tutorial describes them.

`ID|t|TITLE` and `ID|a|ABSTRACT`, then a line per mention with tabs between document, start, end, surface, type and id,
and a line per relation with document, type and two ids; a blank line ends the document, and offsets count from its
beginning. The text is the title, a line break and the abstract; more section lines are joined in the same way, and an
empty last one adds nothing.

Where the next document has the same id, as in NLM-Chem with its full texts, the two are passages of one article: they
become one document with a line break between them, in which offsets are those of the passage moved to where it begins.
What stands behind a blank line without a text of its own belongs to the text before it. A document of the same id
farther below is given twice.

Offsets count code points, unless the surfaces say otherwise; surfaces that differ from the text are counted, and where
most do, the text is another and the file is refused. The id is kept as written unless a reading divides composite ones
(`karat.parsing.composite`); `-1` is NIL, and `-` or none is no link. Several types may be joined by commas.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import IO

from karat.errors import InputError, UsageError
from karat.model.corpus import Corpus
from karat.model.defects import pass_over, sound
from karat.model.document import UNLINKED, Document, EntityId, Label, Reply, Statement
from karat.model.run import Run
from karat.parsing.answering import as_answers
from karat.parsing.composite import AS_WRITTEN, Composite
from karat.parsing.counting import Placed, SurfaceCheck, in_code_points
from karat.parsing.lines import Line, lines, whole
from karat.parsing.merging import merged
from karat.spec.format import Bytes

HOLDS = frozenset({"types", "relations"})
"""What a written file keeps."""

_SECTION = re.compile(r"(?P<id>[^|\t]+)\|(?P<section>[A-Za-z]+)\|(?P<text>.*)", re.DOTALL)
_TITLE = re.compile(rb"[^|\t\s{\[<][^|\t\n]*\|t\|")
_NIL = "-1"
_NO_LINK = ("", "-")


@dataclass(slots=True)
class _Block:
    """What the lines of one document say, up to a blank line or another id."""

    id: str
    line: int
    sections: list[str] = field(default_factory=list)
    spans: list[Placed] = field(default_factory=list)
    types: list[tuple[str, ...]] = field(default_factory=list)
    entities: list[EntityId] = field(default_factory=list)
    relations: list[Statement] = field(default_factory=list)
    defects: list[InputError] = field(default_factory=list)

    @property
    def text(self) -> str | None:
        """The sections, one on each line; an empty last one, as of an article without abstract, adds nothing."""
        parts = self.sections
        return "\n".join(parts[:-1] if len(parts) > 1 and not parts[-1] else parts) if parts else None


@dataclass(frozen=True, slots=True)
class _Article:
    """A document: one block, or the passages of a long one."""

    id: str
    line: int
    text: str | None
    labels: list[Label]
    relations: tuple[Statement, ...]


def corpus_of(source: Bytes, composite: Composite = AS_WRITTEN) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    documents, where = [], []
    for article in _articles(source, skipped):
        if article.text is None:
            problem = InputError(
                f"{source.label}:{article.line}",
                found=f"annotations of document {article.id!r} without a text",
                expected=f"a line that begins with {article.id}|t| above them",
                remedy="Add title and abstract, or give the file as answers",
            )
            pass_over(problem)
            continue
        labels = merged(composite.of_gold(article.labels), skipped)
        documents.append(Document(article.id, article.text, labels, relations=article.relations))
        where.append(article.line)
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{where[row]}")


def run_of(source: Bytes, composite: Composite = AS_WRITTEN) -> Run:
    """A system's answers; here the lines of the text may be missing, and offsets then count code points."""
    skipped: Counter[str] = Counter()
    replies, where = [], []
    texts: list[str | None] = []
    for article in _articles(source, skipped):
        answers = as_answers(composite.of_answers(article.labels))
        replies.append(Reply(article.id, answers, relations=article.relations))
        texts.append(article.text)
        where.append(article.line)
    place = lambda row: f"{source.label}:{where[row]}"  # noqa: E731
    return Run.built(replies, name=source.stem, skipped=skipped, where=place, texts=texts)


def _articles(source: Bytes, skipped: Counter[str]) -> Iterator[_Article]:
    surfaces = SurfaceCheck()

    def read(group: tuple[str, Iterator[_Block]]) -> _Article:
        name, blocks = group
        passages = _passages(blocks)
        for problem in (problem for passage in passages for problem in passage.defects):
            raise problem
        skipped["passages joined with the one before (their document goes on behind a blank line)"] += len(passages) - 1
        text = "\n".join(passage.text or "" for passage in passages)
        labels: list[Label] = []
        begin = 0
        for passage in passages:
            spans = in_code_points(passage.text, passage.spans, skipped, surfaces)
            rows = zip(spans, passage.entities, passage.types, strict=True)
            labels += [Label(begin + start, begin + end, entity, types=types) for (start, end), entity, types in rows]
            begin += len(passage.text or "") + 1
        relations = tuple(stated for passage in passages for stated in passage.relations)
        return _Article(name, passages[0].line, text if passages[0].sections else None, labels, relations)

    for _, article in sound(groupby(_blocks(source, skipped), key=lambda block: block.id), read):
        yield article
    surfaces.refuse_others()


def _passages(blocks: Iterable[_Block]) -> list[_Block]:
    """Blocks of one document, where what has no text of its own goes with the text before it."""
    found: list[_Block] = []
    for block in blocks:
        if not found or (block.sections and found[-1].sections):
            found.append(block)
            continue
        last = found[-1]
        for name in ("sections", "spans", "types", "entities", "relations", "defects"):
            getattr(last, name).extend(getattr(block, name))
    return found


def _blocks(source: Bytes, skipped: Counter[str]) -> Iterator[_Block]:
    """What stands between blank lines; another id begins another block, too."""
    block: _Block | None = None
    for line in lines(source):
        section = _SECTION.fullmatch(line.text)
        name = section["id"] if section else line.text.partition("\t")[0]
        blank = not line.text.strip()
        if block is not None and (blank or name != block.id):
            yield block
            block = None
        if blank:
            continue
        if block is None:
            block = _Block(name, line.number)
        if section:
            block.sections.append(section["text"])
        else:
            try:
                _annotate(block, line, source, skipped)
            except InputError as problem:  # the document is refused when all of it was read
                block.defects.append(problem)
    if block is not None:
        yield block


def _annotate(block: _Block, line: Line, source: Bytes, skipped: Counter[str]) -> None:
    """Add what a line of columns says: a mention or a relation."""
    cells = line.text.split("\t")
    if len(cells) >= 5 and cells[1].strip().isdigit():
        start, end = (whole(cell, line, source, "offset") for cell in cells[1:3])
        block.spans.append(Placed(start, end, cells[3] or None, f"{source.label}:{line.number}"))
        block.types.append(tuple(filter(None, cells[4].split(","))))
        entity = cells[5].strip() if len(cells) > 5 else ""
        block.entities.append(UNLINKED if entity in _NO_LINK else None if entity == _NIL else entity)
        skipped["columns behind the id of a mention"] += sum(bool(cell.strip()) for cell in cells[6:])
    elif len(cells) >= 4 and all(cells[1:4]) and not cells[1].isdigit():
        block.relations.append(Statement(cells[2], cells[1], cells[3]))
        skipped["columns behind a relation"] += sum(bool(cell.strip()) for cell in cells[4:])
    else:
        raise InputError(
            f"{source.label}:{line.number}",
            found=f"{line.text[:40]!r}",
            expected="ID|t|TITLE, ID|a|ABSTRACT, or with tabs ID, start, end, surface, type and perhaps an id",
            remedy="Check that tabs were not turned into spaces",
        )


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Documents with a blank line between them. What would break a line or a column is refused."""
    for document in corpus:
        file.write("\n".join([*_written(document), "", ""]).encode())


def _written(document: Document) -> Iterator[str]:
    name = document.id
    if not _fit(name, "an id", name) or "|" in name or name.startswith("\ufeff"):
        raise _unfit(name, "an id", name)
    parts = document.text.split("\n")
    if any(part.endswith("\r") for part in parts) or "\r\n" in document.text:
        raise _unfit(name, "a text", "\\r at the end of a line")
    for place, part in enumerate([*parts, ""] if len(parts) == 1 or not parts[-1] else parts):
        yield f"{name}|{'a' if place else 't'}|{part}"
    for label in document.labels:
        if label.entity in (_NIL, *_NO_LINK) or any(not kind or "," in kind for kind in label.types):
            raise _unfit(name, "an id or type", f"{label.entity} {label.types}")
        surface = re.sub(r"[\t\r\n]", " ", document.text[label.start : label.end])
        kind = _fit(",".join(label.types), "a type", name)
        row = [name, str(label.start), str(label.end), surface, kind]
        if label.entity is not UNLINKED:
            row.append(_NIL if label.entity is None else _fit(str(label.entity), "an id", name))
        yield "\t".join(row)
    yield from _relations(document.relations, name)


def _relations(relations: Iterable[Statement], name: str) -> Iterator[str]:
    for stated in relations:
        parts = [_fit(part, "a relation", name) for part in (stated.predicate, stated.subject, stated.object)]
        if not all(parts) or parts[0].isdigit() or stated != Statement(stated.subject, stated.predicate, stated.object):
            raise _unfit(name, "a relation", "an empty part, a number, a score or further ids")
        yield "\t".join([name, *parts])


def _fit(value: str, what: str, name: str) -> str:
    """The value, if a column can hold it."""
    if re.search(r"[\t\r\n]", value) or value != value.strip():
        raise _unfit(name, what, value)
    return value


def _unfit(name: str, what: str, value: str) -> UsageError:
    return UsageError(
        f"document {name!r} has {what} that PubTator cannot hold ({value!r}). Change it, or choose another format."
    )


def recognises(head: bytes) -> bool:
    """A title line, and behind it a line of the same document if there is one."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _TITLE.match(start) is None:
        return False
    name = start.partition(b"|")[0]
    following = start.partition(b"\n")[2]
    return not following.strip() or following.startswith((name + b"|", name + b"\t", b"\n", b"\r\n"))
