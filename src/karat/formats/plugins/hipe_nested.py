"""HIPE TSV with the nested mentions of NE-NESTED, without links."""

from karat.formats.parsing.tokens.hipe_layer import make_layer_format
from karat.model.spec.format import Sample

FORMAT = make_layer_format(
    "NE-NESTED",
    title="HIPE TSV, nested mentions",
    suffix=".hipe-nested.tsv",
    description="Like hipe, but with the mentions and types of NE-NESTED, without links.",
    sample=Sample(
        {
            "sample.tsv": "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\t"
            "NE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n# hipe2022:document_id = a\n"
            "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\n"
            "Ulm\tI-pers\tO\tI-pers.ind\tO\tO\tB-loc\tQ7259\t_\t_\n",
        },
        documents=1,
        mentions=1,
        main_file="sample.tsv",
    ),
)
