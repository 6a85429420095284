"""KORE50: fifty sentences that are hard to disambiguate."""

from karat.model.spec.dataset import (
    Counts,
    Dataset,
    File,
    Remark,
    Repair,
    Split,
    Version,
    elevant_split,
    finegrained_version,
)

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
        "https://github.com/henryrosalesmendez/categorized_EMNLP_datasets",
    ),
    obtain="Download benchmarks/kore50.benchmark.jsonl from ELEVANT's repository.",
    versions={
        "elevant2024": Version.from_split(
            description="ELEVANT's copy with Wikidata ids, names and types.",
            split=elevant_split(
                "kore50",
                "a9cf70d7aef91c2c54e83a5e6ddc50532b1b7f98ad22a738a22596d5106610da",
                size=25896,
                documents=50,
                labels=144,
                commit="HEAD",
            ),
        ),
        "gerbil1.2.6": Version.from_split(
            description="The NIF file distributed with GERBIL, with DBpedia ids.",
            split=Split(
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
            ),
            kb="dbpedia",
        ),
        "rosales2019": finegrained_version(
            "KORE50",
            "c71a0df280a8160c6e49369af31b11f51ac88eec5deabf04d1aa31ae8c8c2d88",
            description="The sentences as one document, annotated again with every possible link, each with "
            "base form, part of speech, overlap and reference; alternatives and NIL included. The files used for "
            "table 3 of the paper.",
            size=319473,
            commit="3967ce8a3b710d9ef85410c2c611d7313317013b",
            counts=Counts(documents=1, labels=372),
            kb="wikipedia",
            repairs=(
                Repair(
                    location="text",
                    fault="a byte order mark inside the text",
                    remedy="left unchanged, because offsets include it",
                    count=2,
                ),
            ),
        ),
    },
    biases=(
        Remark(
            "63 % of the mentions are partial names and 51 % of the entities are persons; no mention is in lower case.",
            "Bast et al. 2023, table 3",
        ),
        Remark(
            "In rosales2019, common nouns, singular nouns, direct references and spans without overlap are the most "
            "frequent.",
            "Rosales-Méndez et al. 2019, section 4",
        ),
        Remark("It was written by the authors of AIDA, which performs well on it.", "Bast et al. 2023, on Ambiverse"),
    ),
)
