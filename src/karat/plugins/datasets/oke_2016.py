"""OKE 2016: sentences from biographies of scholars."""

from karat.model.spec.dataset import Dataset, Remark, Version, elevant_split

DATASET = Dataset(
    title="OKE 2016, task 1",
    description="Wikipedia sentences about scholars; persons, places, organisations and roles are linked, "
    "including pronouns and other coreferences. The training set is all of OKE 2015.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="wikipedia",
    document_type="sentences",
    licence="Not stated; texts CC BY-SA 3.0",
    citation="Nuzzolese et al. 2016: The Second Open Knowledge Extraction Challenge. ESWC.",
    kb="wikidata",
    sources=("https://github.com/anuzzolese/oke-challenge-2016", "https://github.com/ad-freiburg/elevant"),
    versions={
        "elevant2024": Version(
            description="ELEVANT's copies with Wikidata ids, names and types.",
            splits={
                "train": elevant_split(
                    "oke-2016-train",
                    "dd1d060b214f695708605b94f049ce6ebe51f002a636e41788018892af2ffaac",
                    size=167809,
                    documents=196,
                    labels=1049,
                ),
                "eval": elevant_split(
                    "oke-2016-eval",
                    documents=55,
                    unverified_reason="No checksum and label count, because no copy was available; the number "
                    "of documents is published.",
                ),
            },
            default_split="eval",
        )
    },
    biases=(
        Remark(
            "The training set contains the test set of 2015: do not train on it to evaluate there.",
            "ELEVANT, list of benchmarks",
        ),
    ),
)
