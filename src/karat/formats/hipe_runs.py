"""HIPE TSV, read as the first scorer of the task reads links: a mention is a run of tokens with the same link.

The columns of mentions are not looked at. Two mentions of one entity side by side become one, and so do neighbouring
mentions linked to NIL: a defect, kept here under its own name for figures that were computed so. For all else there
is the format `hipe`. Only NEL-LIT is read; several links in a cell are read as there.
"""

from __future__ import annotations

from collections import Counter

from karat.model.corpus import Corpus
from karat.model.document import Answer, Candidate, Document, Label, Reply
from karat.model.run import Run
from karat.parsing.tokens.hipe import TokenBlock, blocks, links, runs, spaced, text_of
from karat.parsing.tokens.iob import OUTSIDE
from karat.spec.format import Bytes, Format


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    found = blocks(source, skipped)
    documents = [_document(block, f"document {place + 1}", skipped) for place, block in enumerate(found)]
    where = [block.line for block in found]
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{where[row]}")


def read_run(source: Bytes) -> Run:
    """A system's answers; where the file says too little, documents and spaces are those of the gold file beside it."""
    skipped: Counter[str] = Counter()
    found = spaced(source, blocks(source, skipped), skipped)
    replies = [_reply(block, skipped) for block in found]
    where = [block.line for block in found]
    return Run.built(replies, name=source.stem, skipped=skipped, where=lambda row: f"{source.label}:{where[row]}")


def _document(block: TokenBlock, name: str, skipped: Counter[str]) -> Document:
    made = text_of(block.rows)
    labels = []
    for mark in runs(block.rows, "NEL-LIT"):
        given = links(mark.type)
        unit = f"{mark.first}-{mark.last}" if len(given) > 1 else None
        start, end = made.starts[mark.first], made.ends[mark.last - 1]
        labels += [Label(start, end, entity, unit=unit) for entity in given]
    _count(block, skipped)
    skipped["documents without an id (numbered)"] += block.id is None
    return Document(block.id or name, made.text, tuple(labels), meta=dict(block.meta))


def _reply(block: TokenBlock, skipped: Counter[str]) -> Reply:
    made = text_of(block.rows)
    answers = []
    for mark in runs(block.rows, "NEL-LIT"):
        given = links(mark.type)
        ids = [link for link in given if isinstance(link, str)]
        skipped["NIL behind other links of a ranking"] += None in given[1:]
        candidates = tuple(map(Candidate, ids)) if len(given) > 1 else ()
        answers.append(Answer(made.starts[mark.first], made.ends[mark.last - 1], given[0], candidates=candidates))
    _count(block, skipped)
    assert block.id is not None, "answers to unnamed documents are refused before"
    return Reply(block.id, tuple(answers))


def _count(block: TokenBlock, skipped: Counter[str]) -> None:
    """Count what is not read: all columns but the links."""
    for row in block.rows:
        skipped["tokens with a metonymic link"] += row.cells.get("NEL-METO", "_") not in OUTSIDE
        skipped["tokens of mentions, whose bounds and types are not read"] += (
            row.cells.get("NE-COARSE-LIT", "_") not in OUTSIDE
        )


FORMAT = Format(
    title="HIPE TSV by runs of equal links",
    suffix=".hipe-runs.tsv",
    recognises=lambda head: False,
    holds_gold=lambda source: b"document_id" in source.opening and b"NoSpaceAfter" in source.opening,
    read_corpus=read_corpus,
    read_run=read_run,
    says="As HIPE-2022 TSV, but a mention is a run of tokens with the same link: a defect of the first scorer.",
)
