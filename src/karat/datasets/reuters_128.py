"""Reuters-128: economic news of Reuters-21578."""

from karat.spec.dataset import Counts, Dataset, File, Remark, Split, Version, github

DATASET = Dataset(
    title="Reuters-128 (N3)",
    says="News in which FOX found the names; experts corrected them and two scientists linked them.",
    tasks=("a2kb", "d2kb", "c2kb", "erec"),
    language="en",
    domain="news",
    document_type="articles",
    licence="AGPL-3.0 (the repository); the texts belong to Reuters",
    citation="Röder et al. 2014: N³ - A Collection of Datasets for Named Entity Recognition and Disambiguation in the "
    "NLP Interchange Format. LREC.",
    kb="dbpedia",
    where=("https://github.com/dice-group/n3-collection",),
    versions={
        "roeder2014": Version(
            says="The NIF file of the collection, with NIL as entities of their own.",
            splits={
                "all": Split(
                    format="nif",
                    files=(
                        File(
                            "n3/Reuters-128.ttl",
                            url=github(
                                "dice-group/n3-collection",
                                "14b07501f45ba0b4bf2bec44c7f3f5eb150c1387",
                                "Reuters-128.ttl",
                            ),
                        ),
                    ),
                    counts=Counts(documents=128, labels=880),
                    unseen="No copy was at hand to take a checksum of; the counts are published ones.",
                )
            },
        )
    },
    biases=(
        Remark(
            "Demonyms, and names in front of a noun, are not annotated; some repeated names are missing.",
            "ELEVANT, list of benchmarks",
        ),
        Remark("Left out of the paper's tables only for want of space.", "Bast et al. 2023, limitations"),
    ),
)
