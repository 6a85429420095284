"""Tweeki: tweets with manual links to Wikidata."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github_url

DATASET = Dataset(
    title="Tweeki gold",
    description="Five hundred random tweets, as tokens joined by spaces; names are linked to Wikidata.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="tweets",
    document_type="short texts",
    licence="Not stated in the repository; listed elsewhere as Apache-2.0",
    citation="Harandizadeh and Singh 2020: Tweeki: Linking Named Entities on Twitter to a Knowledge Graph. W-NUT.",
    kb="wikidata",
    sources=("https://ucinlp.github.io/tweeki/", "https://github.com/ucinlp/tweeki"),
    versions={
        "harandizadeh2020": Version.from_split(
            description="The authors' JSONL file, which has only the linked names.",
            split=Split(
                format="tweeki-jsonl",
                files=(
                    File(
                        "formats/tweeki/Tweeki_gold.jsonl",
                        sha256="3ff1a3aecbfd8bfaaf82eeff243e1967f72534ca32694ab13a6220d31d86bc40",
                        size=96822,
                        url=github_url(
                            "ucinlp/tweeki",
                            "ea24cb0cf7c5723b98331d5463216f614194879e",
                            "data/Tweeki_gold/Tweeki_gold.jsonl",
                        ),
                    ),
                ),
                counts=Counts(documents=500, labels=864),
            ),
        ),
        "harandizadeh2020-conll": Version.from_split(
            description="The authors' token file, with types of all names and links of most.",
            split=Split(
                format="tweeki",
                files=(
                    File(
                        "formats/tweeki/Tweeki_gold.conll",
                        sha256="97daa87f8e04157f9c5b6a4f237e841f5c641ddd3cf73c5cd5c9cb6e20f9e360",
                        size=144498,
                        url=github_url(
                            "ucinlp/tweeki",
                            "edf77aee0ba687f1f4aabc03120094f239073be3",
                            "data/gold_data/Tweeki_gold",
                        ),
                    ),
                ),
                counts=Counts(documents=500, labels=970),
            ),
        ),
    },
    biases=(Remark("14 of the 500 tweets have no link.", "counted in the file"),),
)
