"""PubTator: title, abstract and annotations of biomedical abstracts in lines, as NCBI's tutorial describes them.

`ID|t|TITLE` and `ID|a|ABSTRACT`, then a line per mention with tabs between document, start, end, surface, type and id,
and a line per relation with document, type and two ids; a blank line ends the document. Made from the public
documentation (and from the corpora BC5CDR, NCBI Disease and MedMentions as they are described), not from real files.

The text is the title, a line break and the abstract; more section lines are joined in the same way, and an empty last
one adds nothing. Offsets count code points, unless the surfaces say otherwise. The id is kept as written, also where
it joins several with `|` or `+`; `-1` is NIL, and `-` or none is no link. Several types may be joined by commas.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO

from karat.errors import InputError, UsageError
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Document, EntityId, Label, Reply, Statement
from karat.model.run import Run
from karat.parsing.counting import Placed, in_code_points
from karat.parsing.lines import Line, lines, whole
from karat.parsing.merging import merged
from karat.spec.format import Bytes, Format

_SECTION = re.compile(r"(?P<id>[^|\t]+)\|(?P<section>[A-Za-z]+)\|(?P<text>.*)", re.DOTALL)
_TITLE = re.compile(rb"[^|\t\s{\[<][^|\t\n]*\|t\|")
_NIL = "-1"
_NO_LINK = ("", "-")


@dataclass(slots=True)
class _Entry:
    """What the lines of one document say."""

    id: str
    line: int
    sections: list[tuple[str, str]] = field(default_factory=list)
    spans: list[Placed] = field(default_factory=list)
    types: list[tuple[str, ...]] = field(default_factory=list)
    entities: list[EntityId] = field(default_factory=list)
    relations: list[Statement] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The sections, one on each line; an empty last one, as of an article without abstract, adds nothing."""
        parts = [text for _, text in self.sections]
        return "\n".join(parts[:-1] if len(parts) > 1 and not parts[-1] else parts)


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    entries = list(_entries(source, skipped))
    documents = []
    for entry in entries:
        if not entry.sections:
            raise InputError(
                f"{source.label}:{entry.line}",
                found=f"annotations of document {entry.id!r} without a text",
                expected=f"a line that begins with {entry.id}|t| above them",
                remedy="Add title and abstract, or give the file as answers",
            )
        spans = in_code_points(entry.text, entry.spans, skipped)
        rows = zip(spans, entry.entities, entry.types, strict=True)
        labels = merged((Label(*span, entity, types=types) for span, entity, types in rows), skipped)
        documents.append(Document(entry.id, entry.text, labels, relations=tuple(entry.relations)))
    where = [entry.line for entry in entries]
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{where[row]}")


def read_run(source: Bytes) -> Run:
    """A system's answers; here the lines of the text may be missing, and offsets then count code points."""
    skipped: Counter[str] = Counter()
    entries = list(_entries(source, skipped))
    replies = []
    for entry in entries:
        spans = in_code_points(entry.text if entry.sections else None, entry.spans, skipped)
        rows = zip(spans, entry.entities, entry.types, strict=True)
        answers = tuple(Answer(*span, entity, types=types) for span, entity, types in rows)
        replies.append(Reply(entry.id, answers, relations=tuple(entry.relations)))
    where = [entry.line for entry in entries]
    return Run.built(replies, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{where[row]}")


def _entries(source: Bytes, skipped: Counter[str]) -> Iterator[_Entry]:
    """The documents of a file; each begins with the first line that names it."""
    entry: _Entry | None = None
    for line in lines(source):
        if not line.text.strip():
            continue
        section = _SECTION.fullmatch(line.text)
        name = section["id"] if section else line.text.partition("\t")[0]
        if entry is None or name != entry.id:
            if entry is not None:
                yield entry
            entry = _Entry(name, line.number)
        if section:
            entry.sections.append((section["section"], section["text"]))
        else:
            _annotate(entry, line, source, skipped)
    if entry is not None:
        yield entry


def _annotate(entry: _Entry, line: Line, source: Bytes, skipped: Counter[str]) -> None:
    """Add what a line of columns says: a mention or a relation."""
    cells = line.text.split("\t")
    if len(cells) >= 5 and cells[1].strip().isdigit():
        start, end = (whole(cell, line, source, "offset") for cell in cells[1:3])
        entry.spans.append(Placed(start, end, cells[3] or None, f"{source.label}:{line.number}"))
        entry.types.append(tuple(filter(None, cells[4].split(","))))
        entity = cells[5].strip() if len(cells) > 5 else ""
        entry.entities.append(UNLINKED if entity in _NO_LINK else None if entity == _NIL else entity)
        skipped["columns behind the id of a mention"] += max(len(cells) - 6, 0)
    elif len(cells) >= 4 and all(cells[1:4]) and not cells[1].isdigit():
        entry.relations.append(Statement(cells[2], cells[1], cells[3]))
        skipped["columns behind a relation"] += len(cells) - 4
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


def _recognises(head: bytes) -> bool:
    """A title line, and behind it a line of the same document if there is one."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _TITLE.match(start) is None:
        return False
    name = start.partition(b"|")[0]
    following = start.partition(b"\n")[2]
    return not following.strip() or following.startswith((name + b"|", name + b"\t", b"\n", b"\r\n"))


FORMAT = Format(
    title="PubTator",
    suffix=".pubtator",
    recognises=_recognises,
    holds_gold=lambda source: _recognises(source.opening),
    read_corpus=read_corpus,
    read_run=read_run,
    write_corpus=write_corpus,
    holds=frozenset({"types", "relations"}),
    says="Title, abstract and tab-separated mentions of each document, as in biomedical corpora.",
)
