"""HIPE TSV with fine types: the mentions of NE-FINE-LIT, without links."""

from karat.formats.parsing.tokens.hipe_layer import make_layer_format
from karat.model.spec.format import Sample

FORMAT = make_layer_format(
    "NE-FINE-LIT",
    title="HIPE TSV, fine types",
    suffix=".hipe-fine.tsv",
    description="Like hipe, but with the mentions and types of NE-FINE-LIT, without links.",
    sample=Sample(
        {
            "sample.tsv": "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\t"
            "NE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n# hipe2022:document_id = a\n"
            "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\nmet\tO\tO\tO\tO\tO\tO\t_\t_\t_\n",
        },
        documents=1,
        mentions=1,
        main_file="sample.tsv",
    ),
)
