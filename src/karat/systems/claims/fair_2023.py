"""Table 1 of the fair evaluation (Bast, Hertel and Prange 2023) as printed, and the scores that its text reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from karat.model.spec.system import Claim

TABLE_1_COLUMNS = (
    "Overall F1",
    "NER F1",
    "Disamb. accuracy",
    "Strengths and Weaknesses",
    "Reproducibility",
)

TABLE_1: Mapping[str, tuple[str, ...]] = {
    "ReFinED": (
        "73.3%",
        "82.7%",
        "89.2%",
        "very good overall results; particularly strong on metonyms",
        "good",
    ),
    "REL": ("67.7%", "82.3%", "83.0%", "very high NER F1; often falsely links NIL mentions", "very good"),
    "GENRE": ("64.6%", "74.2%", "87.4%", "sacrifices NER recall for high disambiguation accuracy", "mediocre"),
    "Ambiverse": ("59.0%", "76.2%", "78.3%", "good on partial names; detected spans often too short", "problematic"),
    "Neural EL": ("50.6%", "73.6%", "68.7%", "good on demonyms; struggles with partial names", "mediocre"),
    "Baseline": (
        "46.3%",
        "74.0%",
        "63.8%",
        "predicts entity with highest prior probability; ignores context",
        "-",
    ),
    "TagMe": ("43.0%", "54.2%", "80.7%", "high disambiguation accuracy; poor NER", "poor"),
}
"""Table 1: the scores, words and rating of each system."""

_DATASETS: Final = (
    "aida@elevant2024/testb",
    "kore50@elevant2024",
    "msnbc@elevant2024",
    "news-fair@v1-no-coref",
    "wiki-fair@v1-no-coref",
)
_MEASURES: Final = {
    "Overall F1": "strong[in-kb]:micro.f1",
    "NER F1": "mention[in-kb]:micro.f1@mention-type=entity",
    "Disamb. accuracy": "strong[in-kb]:micro.error-rate@error=disambiguation",
}
_SOURCE: Final = "Bast et al. 2023"


def list_fair_claims(name: str) -> tuple[Claim, ...]:
    """Return the scores that Table 1 reports about the system `name`, means over five datasets."""
    return tuple(
        Claim(
            datasets=_DATASETS,
            measure=_MEASURES[column],
            is_complement=column == "Disamb. accuracy",  # as ELEVANT computes it, which differs for alternative spans
            value=float(text.removesuffix("%")),
            source=f"{_SOURCE}, Table 1",
            variant=name,
            task="a2kb",
            profile="elevant",
        )
        for column, text in zip(TABLE_1_COLUMNS, TABLE_1[name], strict=True)
        if column in _MEASURES
    )


def list_compared_claims(
    dataset: str,
    variant: str,
    *,
    section: str,
    paper: str,
    reported: float,
    reproduced: float,
    has_gold_mentions: bool = False,
) -> tuple[Claim, Claim]:
    """Return the F1 that the system's own `paper` reports, as a section quotes it, and that of the fair evaluation.

    With `has_gold_mentions`, mentions were given, and NIL was excluded on both sides.
    """
    values = {f"{paper}, quoted in {_SOURCE}, Section {section}": reported, f"{_SOURCE}, Section {section}": reproduced}
    first, second = (
        Claim(
            datasets=(dataset,),
            measure="strong[in-kb]:micro.f1",
            value=value,
            source=source,
            variant=variant,
            task="d2kb" if has_gold_mentions else "a2kb",
            profile="elevant",
        )
        for source, value in values.items()
    )
    return first, second
