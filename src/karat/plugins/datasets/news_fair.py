"""News-Fair: news annotated for a fair comparison, with coreference."""

from karat.model.spec.dataset import Dataset, Remark, Repair, Version, elevant_split

DATASET = Dataset(
    title="News-Fair",
    description="Random articles of a web news crawl with up to three consecutive, fully annotated paragraphs, "
    "including coreference; the rest is context.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Apache-2.0 (ELEVANT); the texts belong to their publishers",
    citation="Bast et al. 2023: A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking Systems. EMNLP.",
    kb="wikidata",
    sources=(
        "https://github.com/ad-freiburg/fair-entity-linking-benchmarks",
        "https://github.com/ad-freiburg/elevant",
    ),
    versions={
        "v2": Version.from_split(
            description="Extended to 120 articles and updated.",
            split=elevant_split(
                "news-fair-v2",
                documents=120,
                unverified_reason="No checksum and label count, because no copy was available; the version "
                "without coreference has the same number of documents.",
            ),
            supersedes=("news-fair@v1",),
        ),
        "v1": Version.from_split(
            description="Forty articles.",
            split=elevant_split(
                "news-fair",
                "c719c92cdbd6e1cc608198d2047d22c04acd2fd97b85f7ef2e6edbb6e35a0974",
                size=192403,
                documents=40,
                labels=545,
            ),
        ),
        "v2-no-coref": Version.from_split(
            description="Extended to 120 articles and updated, without labels of pronouns and other "
            "coreferences, as used in the paper.",
            split=elevant_split(
                "news-fair-v2-no-coref",
                "93c713226894f05c6e3e7c4c892275314168f5fdc774e134fe15cf8169612738",
                size=535805,
                documents=120,
                labels=1435,
                commit="HEAD",
                repairs=(
                    Repair(
                        location="one label",
                        fault="its parent was removed with the coreferences",
                        remedy="read as a separate mention; ELEVANT never scores it",
                    ),
                ),
            ),
            supersedes=("news-fair@v1-no-coref",),
        ),
        "v1-no-coref": Version.from_split(
            description="Forty articles, without labels of pronouns and other coreferences, as used in the paper.",
            split=elevant_split(
                "news-fair-no-coref",
                "6fb31155e113d2c7058be998e863f6b3193c769d0af09cb2101a3075701c316a",
                size=177176,
                documents=40,
                labels=395,
            ),
        ),
    },
    biases=(
        Remark(
            "Entities are defined by a list of types, including common nouns, with alternatives where "
            "annotators could differ and optional labels for dates and quantities.",
            "Bast et al. 2023, section 5",
        ),
        Remark(
            "24 % of the mentions are in lower case, 18 % are NIL (v1 without coreference).",
            "Bast et al. 2023, table 3",
        ),
    ),
)
