"""OKE 2015: sentences from biographies of scholars."""

from karat.model.spec.dataset import Dataset, Remark, Version, elevant_split

DATASET = Dataset(
    title="OKE 2015, task 1",
    description="Wikipedia sentences about scholars; persons, places, organisations and roles are linked, "
    "including pronouns and other coreferences.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="wikipedia",
    document_type="sentences",
    licence="Not stated; texts CC BY-SA 3.0",
    citation="Nuzzolese et al. 2015: Open Knowledge Extraction Challenge. ESWC.",
    kb="wikidata",
    sources=("https://github.com/anuzzolese/oke-challenge", "https://github.com/ad-freiburg/elevant"),
    versions={
        "elevant2024": Version(
            description="ELEVANT's copies with Wikidata ids, names and types.",
            splits={
                "train": elevant_split(
                    "oke-2015-train",
                    "cb72a1f7df23601644386e659c78b157139dc7ad26140fae390e60714e0674d1",
                    size=62183,
                    documents=95,
                    labels=341,
                ),
                "eval": elevant_split(
                    "oke-2015-eval",
                    "a584cdc40a16f547af29140db35b9c451fc2b2264debc025042a7775a9cd4f2b",
                    size=101199,
                    documents=101,
                    labels=664,
                    commit="HEAD",
                ),
            },
            default_split="eval",
        )
    },
    biases=(
        Remark(
            "Languages and other common kinds of entities are not among the types.",
            "ELEVANT, list of benchmarks",
        ),
        Remark(
            "Some spans of the training set are off by one character, and nationalities are annotated inconsistently.",
            "ELEVANT, list of benchmarks",
        ),
    ),
)
