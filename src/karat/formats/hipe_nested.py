"""HIPE TSV with nested mentions: those of NE-NESTED, without links."""

from karat.parsing.tokens.hipe_layer import layer

FORMAT = layer(
    "NE-NESTED",
    title="HIPE TSV, nested mentions",
    suffix=".hipe-nested.tsv",
    says="As HIPE-2022 TSV, but mentions and types are those of NE-NESTED, without links.",
)
