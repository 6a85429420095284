"""Demo: fifty short texts in five styles, written for Karat, with three stored sets of answers."""

from pathlib import Path

from karat.spec.dataset import Counts, Dataset, File, Split, Version

DATASET = Dataset(
    title="Karat demo",
    says="News, tweets, web pages, encyclopaedic texts and questions with optional and alternative labels, NIL, "
    "metonyms, demonyms, partial names, lowercase and common mentions, and nested spans.",
    tasks=("a2kb", "d2kb", "c2kb", "erec", "rt2kb"),
    language="en",
    domain="mixed",
    document_type="short texts",
    licence="Apache-2.0",
    citation="Written for Karat.",
    kb="wikidata",
    where=(),
    versions={
        "karat": Version(
            says="The files that come with this version of Karat.",
            splits={
                "all": Split(
                    format="karat-jsonl",
                    files=(
                        File(
                            "gold.jsonl",
                            sha256="ef93d428d2335ec92de8a88013c483118d3b08eb75dd7ffe18912d41ab00c305",
                            size=56526,
                        ),
                    ),
                    counts=Counts(documents=50, labels=327),
                    root=Path(__file__).with_name("demo_data"),
                    answers={name: f"{name}.jsonl" for name in ("perfect", "prior", "noisy")},
                )
            },
        )
    },
)
