"""HIPE-2022 TSV, and that of HIPE-2020: a token per line, with columns for mentions, links and flags.

Mentions are those of NE-COARSE-LIT, linked by the NEL-LIT cell of their first token; `NIL` is NIL and `_` no link. The
text is made of the tokens: a space behind each, a line break where MISC says EndOfLine, nothing where it says
NoSpaceAfter. Flags of a mention become its categories (`LED:0.06`), its fine type the category `fine`.

A metonymic sense (NE-COARSE-METO, NEL-METO) on the span of a literal one is another alternative of that mention, with
the category `sense:metonymic`; elsewhere it is a mention of its own. Several links in a cell (`Q1|Q2`) are
alternatives in a gold standard, and a ranking in answers: the first is the answer, all are candidates, those of
NEL-METO behind those of NEL-LIT. Nested mentions and components are counted and left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Candidate, Document, EntityId, Label, Reply
from karat.model.run import Run
from karat.parsing.tokens.hipe import Row, TokenBlock, blocks, links, mentions, recognises, spaced, text_of
from karat.parsing.tokens.iob import OUTSIDE, Marked
from karat.spec.format import Bytes, Format

_LAYOUT = ("NoSpaceAfter", "EndOfLine", "EndOfSentence", "PySBDSegment")
_DISTANCE = re.compile(r"LED(\d+(?:\.\d+)?)")


class _Sense(NamedTuple):
    """A mention in one of its senses, with its links."""

    mark: Marked
    links: tuple[EntityId, ...]


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    found = blocks(source, skipped)
    documents = [_document(block, place, source, skipped) for place, block in enumerate(found)]
    where = [block.line for block in found]
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{where[row]}")


def read_run(source: Bytes) -> Run:
    """A system's answers; where the file says too little, documents and spaces are those of the gold file beside it."""
    skipped: Counter[str] = Counter()
    found = spaced(source, blocks(source, skipped), skipped)
    replies = [_reply(block, source, skipped) for block in found]
    where = [block.line for block in found]
    return Run.built(replies, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{where[row]}")


def _document(block: TokenBlock, place: int, source: Bytes, skipped: Counter[str]) -> Document:
    made = text_of(block.rows)
    labels: list[Label] = []
    for mark, literal, metonymic in _senses(block.rows, source, skipped):
        start, end = made.starts[mark.first], made.ends[mark.last - 1]
        categories = _categories(block.rows, mark, skipped)
        given = _alternatives(literal, metonymic, skipped)
        unit = f"{mark.first}-{mark.last}" if len(given) > 1 else None
        labels += [
            Label(start, end, entity, types=(kind,), categories=(*categories, *more), unit=unit)
            for entity, kind, more in given
        ]
    _count_flags(block.rows, skipped)
    skipped["documents without an id (numbered)"] += block.id is None
    return Document(block.id or f"document {place + 1}", made.text, tuple(labels), meta=dict(block.meta))


def _reply(block: TokenBlock, source: Bytes, skipped: Counter[str]) -> Reply:
    made = text_of(block.rows)
    answers = []
    for mark, literal, metonymic in _senses(block.rows, source, skipped):
        choices = [link for sense in (literal, metonymic) if sense for link in sense.links if link is not UNLINKED]
        ids = dict.fromkeys(link for link in choices if isinstance(link, str))
        skipped["NIL behind other links of a ranking"] += None in choices[1:]
        answers.append(
            Answer(
                made.starts[mark.first],
                made.ends[mark.last - 1],
                choices[0] if choices else UNLINKED,
                types=(mark.type,),
                candidates=tuple(map(Candidate, ids)) if len(choices) > 1 else (),
            )
        )
    fine = sum(row.cells.get("NE-FINE-LIT", "_") not in OUTSIDE for row in block.rows)
    skipped["fine types of tokens in answers"] += fine
    assert block.id is not None, "answers to unnamed documents are refused before"
    return Reply(block.id, tuple(answers))


def _senses(
    rows: Sequence[Row], source: Bytes, skipped: Counter[str]
) -> list[tuple[Marked, _Sense | None, _Sense | None]]:
    """Every marked span once, with its literal and its metonymic sense."""
    found: dict[tuple[int, int], list[_Sense | None]] = {}
    linked = {"NEL-LIT": set[int](), "NEL-METO": set[int]()}
    for side, (tags, column) in enumerate((("NE-COARSE-LIT", "NEL-LIT"), ("NE-COARSE-METO", "NEL-METO"))):
        for mark in mentions(rows, tags, source, skipped):
            cells = [row.cells.get(column, "_") for row in rows[mark.first : mark.last]]
            skipped["mentions whose tokens are linked differently (the first counts)"] += len(set(cells)) > 1
            linked[column].update(range(mark.first, mark.last))
            found.setdefault((mark.first, mark.last), [None, None])[side] = _Sense(mark, links(cells[0]))
    for column, inside in linked.items():
        outside = [place for place, row in enumerate(rows) if row.cells.get(column, "_") not in OUTSIDE]
        skipped["links on tokens outside all mentions"] += len(set(outside) - inside)
    skipped["nested mentions"] += len(mentions(rows, "NE-NESTED", source, Counter()))
    skipped["components of mentions"] += len(mentions(rows, "NE-FINE-COMP", source, Counter()))
    return [(sense.mark, a, b) for _, (a, b) in sorted(found.items()) if (sense := a or b) is not None]


def _alternatives(
    literal: _Sense | None, metonymic: _Sense | None, skipped: Counter[str]
) -> list[tuple[EntityId, str, tuple[str, ...]]]:
    """What a gold mention may be linked to: entity, type and further categories of each alternative.

    A metonymic sense without link says nothing where the literal one has a link.
    """
    found: dict[object, tuple[EntityId, str, tuple[str, ...]]] = {}
    for sense, more in ((literal, ()), (metonymic, ("sense:metonymic",))):
        if sense is None:
            continue
        for link in sense.links:
            if link is UNLINKED and literal is not None and sense is metonymic:
                skipped["metonymic senses without link"] += 1
            else:
                found.setdefault(link, (link, sense.mark.type, more))
    if len(found) > 1:
        found.pop(UNLINKED, None)
    return list(found.values())


def _categories(rows: Sequence[Row], mark: Marked, skipped: Counter[str]) -> tuple[str, ...]:
    """The fine type and the flags of a mention."""
    flags = dict.fromkeys(flag for row in rows[mark.first : mark.last] for flag in row.flags if flag not in _LAYOUT)
    skipped["mentions of a part of a token (the whole is taken)"] += any(f.startswith("Partial-") for f in flags)
    fine = [row.cells.get("NE-FINE-LIT", "_") for row in rows[mark.first : mark.last]]
    first = fine[0].partition("-")[2]
    whole = fine[0] not in OUTSIDE and all(tag.partition("-")[2] == first for tag in fine)
    if not whole and any(tag not in OUTSIDE for tag in fine):
        skipped["mentions whose fine type is not one"] += 1
    return (*((f"fine:{first}",) if whole else ()), *(_DISTANCE.sub(r"LED:\1", flag) for flag in flags))


def _count_flags(rows: Sequence[Row], skipped: Counter[str]) -> None:
    """Count the flags for which a corpus has no place."""
    for row in rows:
        skipped["flags that end a sentence"] += len({"EndOfSentence", "PySBDSegment"} & set(row.flags))
        if row.cells.get("NE-COARSE-LIT", "_") in OUTSIDE and row.cells.get("NE-COARSE-METO", "_") in OUTSIDE:
            skipped["flags of tokens outside mentions"] += len(set(row.flags) - set(_LAYOUT))


def _holds_gold(source: Bytes) -> bool:
    """A file that names documents and spaces, and ranks no links, is a gold standard."""
    head = source.opening
    rows = [line.split(b"\t") for line in head.split(b"\n") if line.count(b"\t") > 1]
    names = rows[0] if rows else []
    ranked = [column for column in (b"NEL-LIT", b"NEL-METO") if column in names]
    several = any(b"|" in row[names.index(column)] for row in rows[1:-1] for column in ranked)
    return b"document_id" in head and b"NoSpaceAfter" in head and not several


FORMAT = Format(
    title="HIPE-2022 TSV",
    suffix=".hipe.tsv",
    recognises=recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    says="A token per line with columns for mentions, links and flags, as in the HIPE shared tasks.",
)
