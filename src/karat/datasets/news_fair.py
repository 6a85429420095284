"""News-Fair: news annotated for a fair comparison, with coreference."""

from karat.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github

DATASET = Dataset(
    title="News-Fair",
    says="Random articles of a web news crawl in which up to three paragraphs in a row are annotated in full, with "
    "coreference; the rest gives context.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="news",
    document_type="articles",
    licence="Apache-2.0 (ELEVANT); the texts belong to their publishers",
    citation="Bast et al. 2023: A Fair and In-Depth Evaluation of Existing End-to-End Entity Linking Systems. EMNLP.",
    kb="wikidata",
    where=(
        "https://github.com/ad-freiburg/fair-entity-linking-benchmarks",
        "https://github.com/ad-freiburg/elevant",
    ),
    versions={
        "v2": Version(
            says="Extended to 120 articles, and updated.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/news-fair-v2.benchmark.jsonl",
                            url=github(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/news-fair-v2.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=120),
                    unseen="No copy was at hand to take a checksum of, or to count the labels in; the version "
                    "without coreference, which was, has as many documents.",
                )
            },
            supersedes=("news-fair@v1",),
        ),
        "v1": Version(
            says="Forty articles.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/news-fair.benchmark.jsonl",
                            sha256="c719c92cdbd6e1cc608198d2047d22c04acd2fd97b85f7ef2e6edbb6e35a0974",
                            size=192403,
                            url=github(
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
            "What counts as an entity is a list of types; common nouns of these types are in, with alternatives where "
            "annotators could differ and optional labels for dates and quantities.",
            "Bast et al. 2023, section 5",
        ),
        Remark(
            "24 % of the mentions are in lower case, 18 % are NIL (v1 without coreference).",
            "Bast et al. 2023, table 3",
        ),
    ),
)
