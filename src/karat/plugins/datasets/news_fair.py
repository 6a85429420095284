"""News-Fair: news annotated for a fair comparison, with coreference."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github_url

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
        "v2": Version(
            description="Extended to 120 articles and updated.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/news-fair-v2.benchmark.jsonl",
                            url=github_url(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/news-fair-v2.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=120),
                    unverified_reason="No checksum and label count, because no copy was available; the version "
                    "without coreference has the same number of documents.",
                )
            },
            supersedes=("news-fair@v1",),
        ),
        "v1": Version(
            description="Forty articles.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/news-fair.benchmark.jsonl",
                            sha256="c719c92cdbd6e1cc608198d2047d22c04acd2fd97b85f7ef2e6edbb6e35a0974",
                            size=192403,
                            url=github_url(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/news-fair.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=40, labels=545),
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
