"""Metric of Hugging Face `evaluate`: precision, recall and F1 of entity linking, computed by Karat.

`evaluate.load("integrations/evaluate/karat")` loads it without network. Karat must be installed (`pip install karat`).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import datasets
import evaluate

import karat

_DESCRIPTION = """
Precision, recall and F1 of entity linking, with the signature that says how they were computed. Each prediction and
each reference is the list of mentions in one document: dictionaries with `start`, `end` (offsets in characters, end
exclusive) and `entity` (an id such as Q64; None or "NIL" for NIL). Predictions may have a `score`, for thresholds.
"""

_INPUTS = """
Args:
    predictions: for each document, a list of mentions.
    references: for each document, a list of mentions of the gold standard.
    texts: for each document, its text; without texts, blanks stand for them.
    profile: scoring profile, such as "karat", "gerbil" or "elevant".
    settings: settings that differ from the profile, by name.
    measures: names of further measures, such as ["weak:micro.f1"].
Returns:
    precision, recall, f1: micro averages of strong matching, or None where undefined.
    macro_f1: mean of F1 over documents.
    signature: data, profile and settings; `karat explain SIGNATURE` describes it.
    notes: what was skipped, and warnings without which the scores mislead.
    and the further measures, by name.
"""

_CITATION = """
@software{karat,
  title = {Karat: measuring entity linkers},
  author = {{The Karat developers}},
  license = {Apache-2.0}
}
"""

_Mentions: TypeAlias = list[dict[str, Any]]

_MENTION = {"start": datasets.Value("int64"), "end": datasets.Value("int64"), "entity": datasets.Value("string")}
_PREDICTION = _MENTION | {"score": datasets.Value("float64")}
_HEADLINE = {
    "precision": "strong:micro.p",
    "recall": "strong:micro.r",
    "f1": "strong:micro.f1",
    "macro_f1": "strong:macro.f1",
}


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _INPUTS)
class Karat(evaluate.Metric):
    """Entity linking scores of Karat."""

    def _info(self) -> evaluate.MetricInfo:
        """Describe the metric and its inputs."""
        labels, predictions = (
            datasets.List(fields) if hasattr(datasets, "List") else [fields] for fields in (_MENTION, _PREDICTION)
        )
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features({"predictions": predictions, "references": labels}),
        )

    def add(self, *, prediction: _Mentions, reference: _Mentions, **kwargs: object) -> None:
        """Add the mentions of one document."""
        self.add_batch(predictions=[prediction], references=[reference], **kwargs)

    def add_batch(self, *, predictions: list[_Mentions], references: list[_Mentions], **kwargs: object) -> None:
        """Add the mentions of several documents, after a check of their keys."""
        predictions = _fill_fields(predictions, "predictions", _PREDICTION)
        super().add_batch(
            predictions=predictions, references=_fill_fields(references, "references", _MENTION), **kwargs
        )

    def _compute(
        self,
        predictions: list[_Mentions],
        references: list[_Mentions],
        texts: list[str] | None = None,
        profile: str = "karat",
        settings: dict[str, str] | None = None,
        measures: list[str] | None = None,
    ) -> dict[str, Any]:
        """Score the predictions; document i is the i-th list of both sides."""
        if texts is not None and len(texts) != len(references):
            raise karat.UsageError(
                f"{len(texts)} texts for {len(references)} documents. Pass a text for each document."
            )
        gold = [
            {"id": str(number), "text": text, "labels": [_drop_nil(mention) for mention in mentions]}
            for number, (text, mentions) in enumerate(
                zip(texts or _make_blanks(predictions, references), references, strict=True)
            )
        ]
        run = {
            str(number): [_drop_missing_score(_drop_nil(mention)) for mention in mentions]
            for number, mentions in enumerate(predictions)
        }
        result = karat.evaluate(
            karat.load(gold), run, profile=profile, settings=settings or {}, extra_measures=measures or []
        )
        scores = {name: result[key] for name, key in _HEADLINE.items() if key in result}
        more = {name: result[name] for name in measures or []}
        notes = [*result.notes, *(f"{description}: {count}" for description, count in result.skipped.items())]
        health = result.id_health
        if health is not None and (health.unmatchable or health.unmatchable_gold):
            notes.append(health.summary)
        return scores | more | {"signature": str(result.signature), "notes": notes}


def _make_blanks(predictions: list[_Mentions], references: list[_Mentions]) -> list[str]:
    """Return, for each document, blanks up to the end of its last mention."""
    return [
        " " * max((mention["end"] for mention in (*predicted, *gold)), default=1)
        for predicted, gold in zip(predictions, references, strict=True)
    ]


def _drop_nil(mention: dict[str, Any]) -> dict[str, Any]:
    """Return a mention whose entity is None if it is NIL."""
    return mention | {"entity": None if mention["entity"] in (None, "NIL") else mention["entity"]}


def _drop_missing_score(mention: dict[str, Any]) -> dict[str, Any]:
    """Return a prediction without its score if that is None."""
    return {key: value for key, value in mention.items() if key != "score" or value is not None}


def _fill_fields(documents: list[_Mentions], side: str, fields: dict[str, Any]) -> list[_Mentions]:
    """Return the documents with a score, or None, in each prediction; raise for missing or other keys."""
    for number, mentions in enumerate(documents):
        for mention in mentions:
            if mention.keys() | {"score"} != _PREDICTION.keys() or not mention.keys() <= fields.keys():
                raise karat.UsageError(
                    f"{side}[{number}]: a mention has the keys {', '.join(mention)}. Pass start, end and entity"
                    f"{', and score if you like' if 'score' in fields else ''}, and remove other keys."
                )
    return [[dict.fromkeys(fields) | mention for mention in mentions] for mentions in documents]
