"""Wiki-Fair without coreference."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github_url

DATASET = Dataset(
    title="Wiki-Fair without coreference",
    description="Wiki-Fair without labels of pronouns and other coreferences, as used in the paper.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="wikipedia",
    document_type="articles",
    licence="Apache-2.0 (ELEVANT); texts CC BY-SA 3.0",
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
                            "elevant/benchmarks/wiki-fair-v2-no-coref.benchmark.jsonl",
                            sha256="4ac1fe61a931bab97416bfee6ac500408118b881f09f8fcf5c500fc53b5ce481",
                            size=684823,
                            url=github_url(
                                "ad-freiburg/elevant", "HEAD", "benchmarks/wiki-fair-v2-no-coref.benchmark.jsonl"
                            ),
                        ),
                    ),
                    counts=Counts(documents=120, labels=2895),
                )
            },
            supersedes=("wiki-fair-no-coref@v1",),
        ),
        "v1": Version(
            description="Eighty articles from a dump of 2020.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/wiki-fair-no-coref.benchmark.jsonl",
                            sha256="f80207fe17f096eeeb5ad6bd6258bc5f5e49f7d299949c8306e6868f54f8b522",
                            size=372258,
                            url=github_url(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/wiki-fair-no-coref.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=80, labels=1677),
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
            "18 % of the mentions are in lower case, 12 % are NIL (v1 without coreference).",
            "Bast et al. 2023, table 3",
        ),
    ),
)
