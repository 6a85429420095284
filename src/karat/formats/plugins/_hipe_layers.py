"""HIPE TSV, read by one column of mentions without links: fine types or nested mentions."""

from __future__ import annotations

from karat.formats.parsing.tokens.hipe_columns import (
    ReadContext,
    Tokens,
    get_scored_types,
    read_mentions,
    read_token_corpus,
    read_token_run,
)
from karat.formats.parsing.tokens.iob import OUTSIDE
from karat.model.document import Label, Prediction
from karat.model.spec.format import Format, Sample

_SAMPLE_HEAD = (
    "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n"
    "# hipe2022:document_id = a\nAda\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\n"
)


def _make_format(column: str, *, title: str, suffix: str, second_row: str) -> Format:
    """Make the format that reads the mentions in one column, without links; files are never detected as this format.

    `second_row`: the second token of the sample, with its columns.
    """

    def read_labels(tokens: Tokens, context: ReadContext) -> list[Label]:
        mentions = read_mentions(tokens.rows, column, context)
        _count_links(tokens, context)
        return [Label(*tokens.get_span(mark), types=(mark.type,)) for mark in mentions]

    def read_predictions(tokens: Tokens, context: ReadContext) -> list[Prediction]:
        mentions = read_mentions(tokens.rows, column, context)
        _count_links(tokens, context)
        return [
            Prediction(
                *tokens.get_span(mark),
                types=get_scored_types(mark.type, context),
                categories=tokens.get_categories(mark),
            )
            for mark in mentions
        ]

    return Format(
        title=f"HIPE TSV, {title}",
        suffix=suffix,
        recognises=lambda head: False,
        has_gold=lambda source: b"document_id" in source.first_bytes and b"NoSpaceAfter" in source.first_bytes,
        read_corpus=lambda source, text: read_token_corpus(source, read_labels),
        read_run=lambda source: read_token_run(source, read_predictions),
        read_run_with_gold=lambda source, gold: read_token_run(source, read_predictions, gold()),
        needs_gold_rows=True,
        description=f"Like hipe, but with the mentions and types of {column}, without links.",
        sample=Sample.from_text("sample.tsv", f"{_SAMPLE_HEAD}{second_row}\n"),
    )


def _count_links(tokens: Tokens, context: ReadContext) -> None:
    """Count the links of tokens, which are not read, as skipped."""
    n_links = sum(row.cells.get("NEL-LIT", "_") not in OUTSIDE for row in tokens.rows)
    context.skipped["links of tokens (only mentions are read)"] += n_links


TABLE = {
    "hipe-fine": _make_format(
        "NE-FINE-LIT", title="fine types", suffix=".hipe-fine.tsv", second_row="met\tO\tO\tO\tO\tO\tO\t_\t_\t_"
    ),
    "hipe-nested": _make_format(
        "NE-NESTED",
        title="nested mentions",
        suffix=".hipe-nested.tsv",
        second_row="Ulm\tI-pers\tO\tI-pers.ind\tO\tO\tB-loc\tQ7259\t_\t_",
    ),
}
