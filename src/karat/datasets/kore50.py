"""KORE50: fifty hard sentences made for disambiguation."""

from karat.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github

DATASET = Dataset(
    title="KORE50",
    says="Fifty sentences about celebrities, music, business, sports and politics, written to be hard: most persons "
    "are named by a part of their name.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="mixed",
    document_type="sentences",
    licence="CC BY-SA 3.0",
    citation="Hoffart et al. 2012: KORE: Keyphrase Overlap Relatedness for Entity Disambiguation. CIKM.",
    kb="wikidata",
    where=(
        "https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida/downloads",
        "https://github.com/ad-freiburg/elevant",
    ),
    obtain="Take benchmarks/kore50.benchmark.jsonl from ELEVANT's repository.",
    versions={
        "elevant2024": Version(
            says="ELEVANT's copy with Wikidata ids, names and types.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/kore50.benchmark.jsonl",
                            sha256="a9cf70d7aef91c2c54e83a5e6ddc50532b1b7f98ad22a738a22596d5106610da",
                            size=25896,
                            url=github("ad-freiburg/elevant", "HEAD", "benchmarks/kore50.benchmark.jsonl"),
                        ),
                    ),
                    counts=Counts(documents=50, labels=144),
                )
            },
        ),
        "gerbil1.2.6": Version(
            says="The NIF file that GERBIL ships, with DBpedia ids.",
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
                    unseen="No copy was at hand to take a checksum of; the counts are published ones, which "
                    "ELEVANT's copy has too.",
                )
            },
            kb="dbpedia",
        ),
    },
    biases=(
        Remark(
            "63 % of the mentions are partial names and 51 % of the entities are persons; nothing is in lower case.",
            "Bast et al. 2023, table 3",
        ),
        Remark("It was written by the makers of AIDA, which does well on it.", "Bast et al. 2023, on Ambiverse"),
    ),
)
