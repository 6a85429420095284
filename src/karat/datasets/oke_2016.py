"""OKE 2016: sentences from the lives of scholars."""

from karat.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github

DATASET = Dataset(
    title="OKE 2016, task 1",
    says="Sentences of Wikipedia about scholars; persons, places, organisations and roles are linked, pronouns and "
    "other coreferences included. The training set is all of OKE 2015.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="wikipedia",
    document_type="sentences",
    licence="Not stated; texts CC BY-SA 3.0",
    citation="Nuzzolese et al. 2016: The Second Open Knowledge Extraction Challenge. ESWC.",
    kb="wikidata",
    where=("https://github.com/anuzzolese/oke-challenge-2016", "https://github.com/ad-freiburg/elevant"),
    versions={
        "elevant2024": Version(
            says="ELEVANT's copies with Wikidata ids, names and types.",
            splits={
                "train": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/oke-2016-train.benchmark.jsonl",
                            sha256="dd1d060b214f695708605b94f049ce6ebe51f002a636e41788018892af2ffaac",
                            size=167809,
                            url=github(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/oke-2016-train.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=196, labels=1049),
                ),
                "eval": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/oke-2016-eval.benchmark.jsonl",
                            url=github(
                                "ad-freiburg/elevant",
                                "b9d07cf8ced11ee404f4bb7ec28307ef645c7363",
                                "benchmarks/oke-2016-eval.benchmark.jsonl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=55),
                    unseen="No copy was at hand to take a checksum of, or to count the labels in; the number of "
                    "documents is a published one.",
                ),
            },
            usual="eval",
        )
    },
    biases=(
        Remark(
            "The training set holds the test set of 2015: never train on it to score there.",
            "ELEVANT, list of benchmarks",
        ),
    ),
)
