"""Wiki-Fair: Wikipedia articles annotated for a fair comparison, with coreference."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Repair, Split, Version, github_url

DATASET = Dataset(
    title="Wiki-Fair",
    description="Random Wikipedia articles with up to three consecutive, fully annotated paragraphs, including "
    "coreference; the rest is context.",
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
                            "elevant/benchmarks/wiki-fair-v2.benchmark.jsonl",
                            sha256="540c79437b2cd03140c48ebfa6298e8c36077cc98b1e0fb1d144fa5906e2afce",
                            size=741730,
                            url=github_url("ad-freiburg/elevant", "HEAD", "benchmarks/wiki-fair-v2.benchmark.jsonl"),
                        ),
                    ),
                    counts=Counts(documents=120, labels=3371),
                    repairs=(Repair(location="one label", fault="no entity id", remedy="read as an unlinked span"),),
                )
            },
            supersedes=("wiki-fair@v1",),
        ),
        "v1": Version(
            description="Eighty articles from a dump of 2020.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/wiki-fair.benchmark.jsonl",
                            sha256="f1032fa0983c07c38c28fec0d22e8105690baedf5d70a734191c395801cf9672",
                            size=402215,
                            url=github_url(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/wiki-fair.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=80, labels=1961),
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
