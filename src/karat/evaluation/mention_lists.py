"""Scores of mentions in plain lists, without files: tuples (document, start, end, entity), dictionaries or data frames.

Each function equals `evaluate` with one measure. Documents are those with gold mentions or predictions.
"""

from __future__ import annotations

from collections.abc import Mapping

from karat.data.load import ForeignObject
from karat.data.python_objects import build_blank_corpus, list_mentions, read_mentions, to_run
from karat.evaluation.evaluation import evaluate
from karat.model.document import Response
from karat.model.errors import UnknownNameError
from karat.model.keywords import check_keywords
from karat.model.run import Run

_AVERAGES = ("micro", "macro")


@check_keywords
def linking_precision(
    gold: ForeignObject,
    predicted: ForeignObject,
    *,
    average: str = "micro",
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
) -> float | None:
    """Return the share of predicted mentions with the span and the entity of a gold mention; None if undefined.

    `gold`, `predicted` and the options are as in `linking_f1`.
    """
    return _score(gold, predicted, "strong", f"{_check_average(average)}.p", profile, settings)


@check_keywords
def linking_recall(
    gold: ForeignObject,
    predicted: ForeignObject,
    *,
    average: str = "micro",
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
) -> float | None:
    """Return the share of gold mentions that are predicted with their span and entity; None if undefined.

    `gold`, `predicted` and the options are as in `linking_f1`.
    """
    return _score(gold, predicted, "strong", f"{_check_average(average)}.r", profile, settings)


@check_keywords
def linking_f1(
    gold: ForeignObject,
    predicted: ForeignObject,
    *,
    average: str = "micro",
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
) -> float | None:
    """Return F1 of predicted mentions, which are correct with the span and the entity of a gold mention.

    `gold` and `predicted` are lists of tuples (document, start, end, entity), dictionaries with these fields, or data
    frames with these columns. The entity None is NIL. `average` is `micro`, or `macro` for the mean over documents.
    `profile` and `settings` are as in `evaluate`; those that read texts raise `UsageError`. Return None if F1 is
    undefined, as without any mention.
    """
    return _score(gold, predicted, "strong", f"{_check_average(average)}.f1", profile, settings)


@check_keywords
def linking_accuracy(
    gold: ForeignObject,
    predicted: ForeignObject,
    *,
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
) -> float | None:
    """Return the share of gold mentions with the correct entity, among those with a prediction at their span.

    If the system was given all mentions and linked each of them, this is the usual accuracy. Gold mentions without a
    prediction lower only `linking_recall`. `gold`, `predicted` and the options are as in `linking_f1`.
    """
    return _score(gold, predicted, "strong", "accuracy", profile, settings)


@check_keywords
def detection_precision(
    gold: ForeignObject,
    predicted: ForeignObject,
    *,
    average: str = "micro",
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
) -> float | None:
    """Return the share of predicted mentions with the span of a gold mention, whatever the entity; None if undefined.

    `gold`, `predicted` and the options are as in `linking_f1`.
    """
    return _score(gold, predicted, "mention", f"{_check_average(average)}.p", profile, settings)


@check_keywords
def detection_recall(
    gold: ForeignObject,
    predicted: ForeignObject,
    *,
    average: str = "micro",
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
) -> float | None:
    """Return the share of gold mentions whose span is predicted, whatever the entity; None if undefined.

    `gold`, `predicted` and the options are as in `linking_f1`.
    """
    return _score(gold, predicted, "mention", f"{_check_average(average)}.r", profile, settings)


@check_keywords
def detection_f1(
    gold: ForeignObject,
    predicted: ForeignObject,
    *,
    average: str = "micro",
    profile: str = "karat",
    settings: Mapping[str, object] | None = None,
) -> float | None:
    """Return F1 of predicted mentions, which are correct with the span of a gold mention, whatever the entity.

    `gold`, `predicted` and the options are as in `linking_f1`.
    """
    return _score(gold, predicted, "mention", f"{_check_average(average)}.f1", profile, settings)


def _check_average(average: str) -> str:
    """Return the average; raise `UnknownNameError` if there is none of that name."""
    if average not in _AVERAGES:
        raise UnknownNameError("average", average, _AVERAGES)
    return average


def _score(
    gold: ForeignObject,
    predicted: ForeignObject,
    relation: str,
    short: str,
    profile: str,
    settings: Mapping[str, object] | None,
) -> float | None:
    """Return the measure `short` of the match relation, on all documents of both lists; None without documents."""
    mentions, predictions = read_mentions(gold), list_mentions(predicted)
    if not mentions.labels and not predictions:
        return None
    if predictions:
        run = to_run(predictions, None, None)
    else:
        run = Run.from_responses([Response(id) for id in mentions.labels])
    corpus = build_blank_corpus(
        mentions, other_ids=run.ids.to_pylist(), min_length=int(run.predictions.end.max(initial=0))
    )
    measure = f"{relation}:{short}"
    return evaluate(corpus, run, profile=profile, settings=settings, measures=measure)[measure]
