"""File formats, one file or folder each; variants of one format share a file."""

TABLE = {
    "bioc-any": "bioc",
    "bioc-xml": "bioc",
    "hf-hub": "hf_datasets",
    "hipe-fine": "_hipe_layers",
    "hipe-nested": "_hipe_layers",
    "inception-json": "inception",
    "nif-categorised-literal": "nif_categorised",
    "pubtator-any": "pubtator",
}
