"""HIPE TSV, read as the first scorer of the task reads links: a mention is a run of tokens with the same link.

The columns of mentions are not looked at. Two mentions of one entity side by side become one, and so do neighbouring
mentions linked to NIL: a defect, kept here under its own name for figures that were computed so. For all else there
is the format `hipe`. Only NEL-LIT is read; several links in a cell are read as there.
"""

from __future__ import annotations

from collections.abc import Callable

from karat.model.corpus import Corpus
from karat.model.document import Answer, Candidate, Label
from karat.model.run import Run
from karat.parsing.tokens.hipe import TableReading, Tokens, corpus_of, links, pieces, run_of
from karat.parsing.tokens.iob import OUTSIDE
from karat.spec.format import Bytes, Format, Sample


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    return corpus_of(source, _labels)


def read_run(source: Bytes) -> Run:
    """A system's answers; where the file says too little, documents and spaces are those of the gold file beside it."""
    return run_of(source, _answers)


def read_run_on(source: Bytes, gold: Callable[[], Corpus]) -> Run:
    """A system's answers on the tokens of their gold standard."""
    return run_of(source, _answers, gold())


def _labels(tokens: Tokens, reading: TableReading) -> list[Label]:
    labels = []
    for mark in pieces(tokens.rows, "NEL-LIT", ()):
        given = links(mark.type)
        unit = f"{mark.first}-{mark.last}" if len(given) > 1 else None
        labels += [Label(*tokens.span(mark), entity, unit=unit) for entity in given]
    _count(tokens, reading)
    return labels


def _answers(tokens: Tokens, reading: TableReading) -> list[Answer]:
    answers = []
    for mark in pieces(tokens.rows, "NEL-LIT", ()):
        given = links(mark.type)
        ids = [link for link in given if isinstance(link, str)]
        reading.skipped["NIL behind other links of a ranking"] += None in given[1:]
        candidates = tuple(map(Candidate, ids)) if len(given) > 1 else ()
        answers.append(Answer(*tokens.span(mark), given[0], candidates=candidates))
    _count(tokens, reading)
    return answers


def _count(tokens: Tokens, reading: TableReading) -> None:
    """Count what is not read: all columns but the links."""
    for row in tokens.rows:
        reading.skipped["tokens with a metonymic link"] += row.cells.get("NEL-METO", "_") not in OUTSIDE
        reading.skipped["tokens of mentions, whose bounds and types are not read"] += (
            row.cells.get("NE-COARSE-LIT", "_") not in OUTSIDE
        )


FORMAT = Format(
    title="HIPE TSV by runs of equal links",
    suffix=".hipe-runs.tsv",
    recognises=lambda head: False,
    holds_gold=lambda source: b"document_id" in source.opening and b"NoSpaceAfter" in source.opening,
    read_corpus=read_corpus,
    read_run=read_run,
    read_run_on=read_run_on,
    by_row=True,
    says="As HIPE-2022 TSV, but a mention is a run of tokens with the same link: a defect of the first scorer.",
    sample=Sample(
        {
            "sample.tsv": "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\t"
            "NE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n# hipe2022:document_id = a\n"
            "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\n"
            "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\n",
        },
        documents=1,
        mentions=1,
        given="sample.tsv",
    ),
)
