"""Demo: fifty short texts in five styles, written for Karat, with three stored sets of predictions."""

from pathlib import Path

from karat.model.spec.dataset import Counts, Dataset, File, Split, Version

DATASET = Dataset(
    title="Karat demo",
    description="News, tweets, web pages, encyclopaedic texts and questions with optional and alternative labels, NIL, "
    "metonyms, demonyms, partial names, lowercase and common mentions, and nested spans.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="mixed",
    document_type="short texts",
    licence="Apache-2.0",
    citation="Written for Karat.",
    kb="wikidata",
    sources=(),
    versions={
        "karat": Version.from_split(
            description="The files of this version of Karat.",
            split=Split(
                format="karat-jsonl",
                files=(
                    File(
                        "gold.jsonl",
                        sha256="ed5c8c7bb8f4b047a962bcab516f4b7acadf908410845841f2af2c0e64389eee",
                        size=56767,
                    ),
                ),
                counts=Counts(documents=50, labels=327),
                root=Path(__file__).with_name("demo_data"),
                predictions={name: f"{name}.jsonl" for name in ("perfect", "prior", "noisy")},
            ),
        )
    },
)
