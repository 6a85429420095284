"""KORE50: fifty sentences that are hard to disambiguate."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github_url

DATASET = Dataset(
    title="KORE50",
    description="Fifty difficult sentences about celebrities, music, business, sports and politics: most "
    "persons are named only by a part of their name.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="mixed",
    document_type="sentences",
    licence="CC BY-SA 3.0",
    citation="Hoffart et al. 2012: KORE: Keyphrase Overlap Relatedness for Entity Disambiguation. CIKM.",
    kb="wikidata",
    sources=(
        "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/downloads",
        "https://github.com/ad-freiburg/elevant",
    ),
    obtain="Download benchmarks/kore50.benchmark.jsonl from ELEVANT's repository.",
    versions={
        "elevant2024": Version(
            description="ELEVANT's copy with Wikidata ids, names and types.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/kore50.benchmark.jsonl",
                            sha256="a9cf70d7aef91c2c54e83a5e6ddc50532b1b7f98ad22a738a22596d5106610da",
                            size=25896,
                            url=github_url("ad-freiburg/elevant", "HEAD", "benchmarks/kore50.benchmark.jsonl"),
                        ),
                    ),
                    counts=Counts(documents=50, labels=144),
                )
            },
        ),
        "gerbil1.2.6": Version(
            description="The NIF file distributed with GERBIL, with DBpedia ids.",
            splits={
                "all": Split(
                    format="nif",
                    files=(
                        File(
                            "gerbil/KORE50/kore50-nif.ttl",
                            url="https://github.com/dice-group/gerbil/releases/download/v1.2.6/gerbil_data.zip",
                            member="datasets/KORE50/kore50-nif.ttl",
                        ),
                    ),
                    counts=Counts(documents=50, labels=144),
                    unverified_reason="No checksum, because no copy was available; the counts are published "
                    "and agree with ELEVANT's copy.",
                )
            },
            kb="dbpedia",
        ),
    },
    biases=(
        Remark(
            "63 % of the mentions are partial names and 51 % of the entities are persons; no mention is in lower case.",
            "Bast et al. 2023, table 3",
        ),
        Remark("It was written by the authors of AIDA, which performs well on it.", "Bast et al. 2023, on Ambiverse"),
    ),
)
