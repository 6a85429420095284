"""RSS-500: sentences of news feeds with two entities each."""

from karat.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github

DATASET = Dataset(
    title="RSS-500 (N3)",
    says="Sentences from the feeds of large newspapers that state a relation; its two entities are linked.",
    tasks=("d2kb", "a2kb", "c2kb"),
    language="en",
    domain="news",
    document_type="sentences",
    licence="AGPL-3.0 (the repository of N3)",
    citation="Röder et al. 2014: N³ - A Collection of Datasets for Named Entity Recognition and Disambiguation in the "
    "NLP Interchange Format. LREC.",
    kb="wikidata",
    where=("https://github.com/dice-group/n3-collection", "https://github.com/ad-freiburg/elevant"),
    versions={
        "elevant2024": Version(
            says="ELEVANT's copy with Wikidata ids, names and types.",
            splits={
                "all": Split(
                    format="elevant",
                    files=(
                        File(
                            "elevant/benchmarks/rss-500.benchmark.jsonl",
                            sha256="d64dfa56d045e008d515fd5e71555569f0e40776078385376c7b1de009b7e417",
                            size=240685,
                            url=github("ad-freiburg/elevant", "HEAD", "benchmarks/rss-500.benchmark.jsonl"),
                        ),
                    ),
                    counts=Counts(documents=500, labels=1000),
                )
            },
        ),
        "roeder2014": Version(
            says="The NIF file of the collection, with NIL as entities of their own.",
            splits={
                "all": Split(
                    format="nif",
                    files=(
                        File(
                            "n3/RSS-500.ttl",
                            url=github(
                                "dice-group/n3-collection", "75fc2ef1b4e0f46ca9b091887460ea43daa43996", "RSS-500.ttl"
                            ),
                        ),
                    ),
                    counts=Counts(documents=500, labels=1000),
                    unseen="No copy was at hand to take a checksum of; the counts are published ones, which "
                    "ELEVANT's copy has too.",
                )
            },
            kb="dbpedia",
        ),
    },
    biases=(
        Remark("Almost half of the labels are NIL.", "ELEVANT, list of benchmarks"),
        Remark("At least one sentence occurs twice, with different labels.", "ELEVANT, list of benchmarks"),
    ),
    excluded=(
        Remark(
            "Exactly two entities of each sentence are annotated, however plain others are: precision means something "
            "only where mentions are given.",
            "ELEVANT, description of the benchmark",
        ),
    ),
)
