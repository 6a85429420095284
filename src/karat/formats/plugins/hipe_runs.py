"""HIPE TSV, read as the first scorer of the task reads links: a mention is a run of tokens with the same link.

The columns of mentions are ignored. Two adjacent mentions of one entity become one, and so do adjacent NIL mentions.
This is a defect of that scorer, available here to reproduce its figures. Use the format `hipe` otherwise. Only NEL-LIT
is read; several links in a cell are read as in `hipe`.
"""

from __future__ import annotations

from karat.formats.parsing.tokens.hipe_columns import (
    ReadContext,
    Tokens,
    check_filled,
    list_candidates,
    parse_links,
    read_link_runs,
    read_token_corpus,
    read_token_run,
)
from karat.formats.parsing.tokens.iob import OUTSIDE
from karat.model.document import Label, Prediction
from karat.model.spec.format import Format, Sample


def _read_labels(tokens: Tokens, context: ReadContext) -> list[Label]:
    """Return a label for each run of tokens with the same link; several links of a cell are alternatives."""
    labels = []
    for mark in read_link_runs(tokens.rows, "NEL-LIT", ()):
        entities = parse_links(mark.type)
        mention_id = f"{mark.start}-{mark.end}" if len(entities) > 1 else None
        labels += [Label(*tokens.get_span(mark), entity, mention_id=mention_id) for entity in entities]
    _count_unread_columns(tokens, context)
    return labels


def _read_predictions(tokens: Tokens, context: ReadContext) -> list[Prediction]:
    """Return a prediction for each run of tokens with the same link; several links of a cell are candidates."""
    predictions = []
    for mark in read_link_runs(tokens.rows, "NEL-LIT", ()):
        entities = parse_links(mark.type)
        categories, candidates = tokens.get_categories(mark), list_candidates(entities)
        predictions.append(
            Prediction(*tokens.get_span(mark), entities[0], categories=categories, candidates=candidates)
        )
    _count_unread_columns(tokens, context)
    return predictions


def _count_unread_columns(tokens: Tokens, context: ReadContext) -> None:
    """Count the tokens with metonymic links or mention tags, which are not read, as skipped; refuse empty links."""
    for row in tokens.rows:
        check_filled(row, "NEL-LIT", context.source)
        context.skipped["tokens with a metonymic link"] += row.cells.get("NEL-METO", "_") not in OUTSIDE
        context.skipped["tokens of mentions (bounds and types are not read)"] += (
            row.cells.get("NE-COARSE-LIT", "_") not in OUTSIDE
        )


FORMAT = Format(
    title="HIPE TSV by runs of equal links",
    suffix=".hipe-runs.tsv",
    recognises=lambda head: False,
    has_gold=lambda source: b"document_id" in source.first_bytes and b"NoSpaceAfter" in source.first_bytes,
    read_corpus=lambda source, text: read_token_corpus(source, _read_labels),
    read_run=lambda source: read_token_run(source, _read_predictions),
    read_run_with_gold=lambda source, gold: read_token_run(source, _read_predictions, gold()),
    needs_gold_rows=True,
    description="Like hipe, but a mention is a run of tokens with the same link: a defect of the first scorer.",
    sample=Sample.from_text(
        "sample.tsv",
        "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\t"
        "NE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n# hipe2022:document_id = a\n"
        "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\n"
        "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\n",
    ),
)
