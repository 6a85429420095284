"""Demo: fifty short texts in five styles, written for Karat, with three stored sets of answers."""

from pathlib import Path

from karat.spec.dataset import Dataset

_HERE = Path(__file__).with_name("demo_data")

DATASET = Dataset(
    title="Karat demo",
    says="News, tweets, web pages, encyclopaedic texts and questions with optional and alternative labels, NIL, "
    "metonyms, demonyms, partial names, lowercase and common mentions, and nested spans.",
    language="en",
    licence="Apache-2.0",
    kb="wikidata",
    format="karat-jsonl",
    gold=_HERE / "gold.jsonl",
    documents=50,
    labels=329,
    answers={name: _HERE / f"{name}.jsonl" for name in ("perfect", "prior", "noisy")},
)
