"""A made-up dataset: the gold standard of the demo under another name."""

from karat.model.spec.dataset import Counts, Dataset, File, Split, Version

DATASET = Dataset(
    title="Made-up texts",
    description="Texts for a test.",
    tasks=("a2kb",),
    language="en",
    domain="mixed",
    document_type="short texts",
    licence="Apache-2.0",
    citation="Made up for a test.",
    kb="wikidata",
    sources=("https://data.example/made-up",),
    obtain="Write the file yourself.",
    versions={
        "nobody2024": Version(
            description="The only version.",
            splits={
                "all": Split(
                    format="karat-jsonl",
                    files=(File("made-up/gold.jsonl"),),
                    counts=Counts(documents=2, labels=3),
                    unverified_reason="No checksum, because the file does not exist.",
                )
            },
        )
    },
)
