"""RSS-500: sentences of news feeds with two entities each."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, elevant_split, github_url

DATASET = Dataset(
    title="RSS-500 (N3)",
    description="Sentences from newspaper feeds that state a relation between two linked entities.",
    tasks=("d2kb", "a2kb", "c2kb"),
    language="en",
    domain="news",
    document_type="sentences",
    licence="AGPL-3.0 (the repository of N3)",
    citation="Röder et al. 2014: N³ - A Collection of Datasets for Named Entity Recognition and Disambiguation in the "
    "NLP Interchange Format. LREC.",
    kb="wikidata",
    sources=("https://github.com/dice-group/n3-collection", "https://github.com/ad-freiburg/elevant"),
    versions={
        "elevant2024": Version.from_split(
            description="ELEVANT's copy with Wikidata ids, names and types.",
            split=elevant_split(
                "rss-500",
                "d64dfa56d045e008d515fd5e71555569f0e40776078385376c7b1de009b7e417",
                size=240685,
                documents=500,
                labels=1000,
                commit="HEAD",
            ),
        ),
        "roeder2014": Version.from_split(
            description="The NIF file of the collection, with NIL as separate entities.",
            split=Split(
                format="nif",
                files=(
                    File(
                        "n3/RSS-500.ttl",
                        url=github_url(
                            "dice-group/n3-collection", "75fc2ef1b4e0f46ca9b091887460ea43daa43996", "RSS-500.ttl"
                        ),
                    ),
                ),
                counts=Counts(documents=500, labels=1000),
                unverified_reason="No checksum, because no copy was available; the counts are published "
                "and agree with ELEVANT's copy.",
            ),
            kb="dbpedia",
        ),
    },
    biases=(
        Remark("Almost half of the labels are NIL.", "ELEVANT, list of benchmarks"),
        Remark("At least one sentence occurs twice, with different labels.", "ELEVANT, list of benchmarks"),
    ),
    exclusions=(
        Remark(
            "Exactly two entities per sentence are annotated, even if there are other obvious ones: precision "
            "is meaningful only for given mentions.",
            "ELEVANT, description of the dataset",
        ),
    ),
)
