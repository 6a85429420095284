"""Reuters-128: economic news of Reuters-21578."""

from karat.model.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github_url

DATASET = Dataset(
    title="Reuters-128 (N3)",
    description="News with names detected by FOX, corrected by experts and linked by two scientists.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="articles",
    licence="AGPL-3.0 (the repository); the texts belong to Reuters",
    citation="Röder et al. 2014: N³ - A Collection of Datasets for Named Entity Recognition and Disambiguation in the "
    "NLP Interchange Format. LREC.",
    kb="dbpedia",
    sources=("https://github.com/dice-group/n3-collection",),
    versions={
        "roeder2014": Version.from_split(
            description="The NIF file of the collection, with NIL as separate entities.",
            split=Split(
                format="nif",
                files=(
                    File(
                        "n3/Reuters-128.ttl",
                        url=github_url(
                            "dice-group/n3-collection",
                            "14b07501f45ba0b4bf2bec44c7f3f5eb150c1387",
                            "Reuters-128.ttl",
                        ),
                    ),
                ),
                counts=Counts(documents=128, labels=880),
                unverified_reason="No checksum, because no copy was available; the counts are published.",
            ),
        )
    },
    biases=(
        Remark(
            "Demonyms and names before a noun are not annotated; some repeated names are missing.",
            "ELEVANT, list of benchmarks",
        ),
        Remark("Omitted from the paper's tables only for lack of space.", "Bast et al. 2023, limitations"),
    ),
)
