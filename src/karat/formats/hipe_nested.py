"""HIPE TSV with nested mentions: those of NE-NESTED, without links."""

from karat.parsing.tokens.hipe_layer import layer
from karat.spec.format import Sample

FORMAT = layer(
    "NE-NESTED",
    title="HIPE TSV, nested mentions",
    suffix=".hipe-nested.tsv",
    says="As HIPE-2022 TSV, but mentions and types are those of NE-NESTED, without links.",
    sample=Sample(
        {
            "sample.tsv": "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\t"
            "NE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n# hipe2022:document_id = a\n"
            "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\n"
            "Ulm\tI-pers\tO\tI-pers.ind\tO\tO\tB-loc\tQ7259\t_\t_\n",
        },
        documents=1,
        mentions=1,
        given="sample.tsv",
    ),
)
