"""News-Fair without coreference."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, github_url

DATASET = Dataset(
    title="News-Fair without coreference",
    description="News-Fair without labels of pronouns and other coreferences, as used in the paper.",
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
        "v2": Version(
            description="Extended to 120 articles and updated.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/news-fair-v2-no-coref.benchmark.jsonl",
                            sha256="93c713226894f05c6e3e7c4c892275314168f5fdc774e134fe15cf8169612738",
                            size=535805,
                            url=github_url(
                                "ad-freiburg/elevant", "HEAD", "benchmarks/news-fair-v2-no-coref.benchmark.jsonl"
                            ),
                        ),
                    ),
                    counts=Counts(documents=120, labels=1435),
                    repairs=(
                        Repair(
                            location="one label",
                            fault="its parent was removed with the coreferences",
                            remedy="read as a separate mention; ELEVANT never scores it",
                        ),
                    ),
                )
            },
            supersedes=("news-fair-no-coref@v1",),
        ),
        "v1": Version(
            description="Forty articles.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/news-fair-no-coref.benchmark.jsonl",
                            sha256="6fb31155e113d2c7058be998e863f6b3193c769d0af09cb2101a3075701c316a",
                            size=177176,
                            url=github_url(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/news-fair-no-coref.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=40, labels=395),
                )
            },
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
