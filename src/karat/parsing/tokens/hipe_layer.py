"""One column of marks of a HIPE table, without links: fine types, nested mentions."""

from __future__ import annotations

from collections.abc import Callable

from karat.model.corpus import Corpus
from karat.model.document import Answer, Label
from karat.model.run import Run
from karat.parsing.tokens.hipe import TableReading, Tokens, corpus_of, counted, mentions, run_of
from karat.parsing.tokens.iob import OUTSIDE
from karat.spec.format import Bytes, Format, Sample


def layer(column: str, *, title: str, suffix: str, says: str, sample: Sample) -> Format:
    """The format that reads a column; it is never recognised, only named."""

    def labels(tokens: Tokens, reading: TableReading) -> list[Label]:
        found = mentions(tokens.rows, column, reading)
        _count_links(tokens, reading)
        return [Label(*tokens.span(mark), types=(mark.type,)) for mark in found]

    def answers(tokens: Tokens, reading: TableReading) -> list[Answer]:
        found = mentions(tokens.rows, column, reading)
        _count_links(tokens, reading)
        return [Answer(*tokens.span(mark), types=counted(mark.type, reading)) for mark in found]

    def read_corpus(source: Bytes, text: bool) -> Corpus:
        return corpus_of(source, labels)

    def read_run(source: Bytes) -> Run:
        return run_of(source, answers)

    def read_run_on(source: Bytes, gold: Callable[[], Corpus]) -> Run:
        return run_of(source, answers, gold())

    return Format(
        title=title,
        suffix=suffix,
        recognises=lambda head: False,
        holds_gold=lambda source: b"document_id" in source.opening and b"NoSpaceAfter" in source.opening,
        read_corpus=read_corpus,
        read_run=read_run,
        read_run_on=read_run_on,
        by_row=True,
        says=says,
        sample=sample,
    )


def _count_links(tokens: Tokens, reading: TableReading) -> None:
    linked = sum(row.cells.get("NEL-LIT", "_") not in OUTSIDE for row in tokens.rows)
    reading.skipped["links of tokens (only mentions are read)"] += linked
