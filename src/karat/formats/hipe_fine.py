"""HIPE TSV with fine types: the mentions of NE-FINE-LIT, without links."""

from karat.parsing.tokens.hipe_layer import layer

FORMAT = layer(
    "NE-FINE-LIT",
    title="HIPE TSV, fine types",
    suffix=".hipe-fine.tsv",
    says="As HIPE-2022 TSV, but mentions and types are those of NE-FINE-LIT, without links.",
)
