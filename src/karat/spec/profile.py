"""What a file in `karat.profiles` holds, and the choices it makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.errors import KaratError, UnknownNameError


class Choice(NamedTuple):
    """A convention that someone could have chosen otherwise: its values, and what each means as prose.

    A choice without values is open: any text that makes sense there.
    """

    title: str
    values: Mapping[str, str]
    open: str = ""


CHOICES: dict[str, Choice] = {
    "task": Choice(
        "Task",
        {"a2kb": "The system marks the mentions in the text and links them; both are scored."},
    ),
    "match": Choice(
        "Relations",
        {},
        open="Answers are compared with the gold standard by these relations, each with scores of its own: {}.",
    ),
    "assignment": Choice(
        "Assignment",
        {
            "optimal": "Answers and mentions are matched one to one, so that as many as possible match; among such "
            "assignments higher scores come first, then required mentions, then exact spans, then larger overlap, "
            "then smaller (start, end, id).",
            "greedy": "Answers and mentions are matched one to one: each mention, in the order of the gold file, "
            "takes the first free answer that matches it.",
            "membership": "An answer is right if it matches any mention, and a mention is found if any answer "
            "matches it; one answer may serve several mentions.",
        },
    ),
    "nil": Choice(
        "NIL",
        {"explicit": "NIL is a class of its own: NIL is right where the gold standard says NIL, and only there."},
    ),
    "optional": Choice(
        "Optional mentions",
        {
            "ignored": "An optional mention is never missed and an answer that matches it is not counted; a wrong "
            "link on it is a false positive."
        },
    ),
    "alternatives": Choice(
        "Alternatives",
        {
            "unit": "A mention with several accepted links or segmentations counts once: found if one of its "
            "alternatives is (of a segmentation, all required parts), else missed; answers that match none of "
            "them are false positives as usual."
        },
    ),
    "unlinked": Choice(
        "Answers without link",
        {
            "detection": "An answer without link counts only where links are not compared; a link on a gold span "
            "that names no entity is not counted."
        },
    ),
    "span": Choice(
        "Evaluation span",
        {"inside": "Only mentions and answers that lie wholly inside a document's evaluation span count."},
    ),
    "empty": Choice(
        "Empty documents",
        {
            "fair": "A document without gold and without answers scores 1; without gold alone P 0, R undefined, "
            "F1 0; without answers alone P undefined, R 0, F1 0. A document that a filter or label value leaves "
            "empty, and a total without any case, is undefined."
        },
    ),
    "macro": Choice(
        "Macro scores",
        {"defined": "Macro scores are means over the documents in which the measure is defined."},
    ),
    "threshold": Choice(
        "Threshold",
        {"none": "All answers count, whatever their score."},
        open="Only answers with a score of at least {} count, and answers without score.",
    ),
    "ids": Choice(
        "Entity ids",
        {"as-written": "Entities are the same if their ids are written alike, or if they share a `same_as` id."},
    ),
    "kb": Choice("Knowledge base", {"none": "No knowledge base was used."}),
    "seed": Choice("Seed", {}, open="Random numbers start from seed {}; no score without interval uses any."),
}
"""Every convention, in the order of the signature."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A table of choices under one name, and the measures it shows by default."""

    title: str
    says: str
    choices: Mapping[str, str]
    measures: tuple[str, ...]


def chosen(profile: Profile, overrides: Mapping[str, str]) -> dict[str, str]:
    """The choices of a profile with some of them overridden; unknown names and values are errors."""
    for name, value in overrides.items():
        if name not in CHOICES:
            raise UnknownNameError("choice", name, CHOICES)
        choice = CHOICES[name]
        if value not in choice.values and not choice.open:
            raise UnknownNameError(f"value of {name}", value, choice.values)
    both = {**profile.choices, **overrides}
    return {name: both[name] for name in CHOICES}


def threshold_of(choices: Mapping[str, str]) -> float | None:
    """The score below which answers are left out, or None."""
    text = choices["threshold"]
    if text == "none":
        return None
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value != value:
        raise KaratError(f"threshold {text!r} is no number. Give a number, or 'none'.")
    return value
