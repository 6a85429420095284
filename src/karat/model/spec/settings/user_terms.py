"""Names of measures, tasks and match relations in other tools, and what they mean in Karat.

A term is a phrase of several parts in any order and case, such as `InKB Micro F1` or `D2KB`: see `TERMS`.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple, TypeAlias

from karat.model.measure_name import MeasureName, ViewName
from karat.model.spec.settings.task import TASK_ALIASES, TASKS, parse_task

TermPart: TypeAlias = Literal["task", "relation", "filter", "aggregate", "measure"]


class Term(NamedTuple):
    """A phrase of another tool."""

    tool: str
    """The tool or publication that uses it."""
    part: TermPart
    """The part of a measure name that it means."""
    value: str
    """The value of this part in Karat."""
    task: str | None = None
    """The task that it implies, if any."""


TERMS: Final[dict[str, Term]] = {
    "inkb": Term("GERBIL", "filter", "in-kb"),
    "ee": Term("GERBIL", "filter", "nil"),
    "emerging entities": Term("GERBIL", "filter", "nil"),
    "gsinkb": Term("GERBIL", "filter", "gold-in-kb", "d2kb"),
    "strong annotation match": Term("GERBIL, BAT", "relation", "strong"),
    "ma": Term("GERBIL, BAT", "relation", "strong"),
    "weak annotation match": Term("GERBIL, BAT", "relation", "weak"),
    "mw": Term("GERBIL, BAT", "relation", "weak"),
    "strong entity match": Term("GERBIL", "relation", "entity"),
    "concept annotation match": Term("BAT", "relation", "entity"),
    "strong tag match": Term("BAT", "relation", "entity", "c2kb"),
    "me": Term("GERBIL, BAT", "relation", "entity"),
    "mention annotation match": Term("BAT", "relation", "mention-weak"),
    "mm": Term("BAT", "relation", "mention-weak"),
    "mention match": Term("BAT", "relation", "mention"),
    "weak mention match": Term("BAT", "relation", "mention-weak"),
    "ner": Term("ELEVANT", "relation", "mention"),
    "entity linking": Term("ELEVANT", "relation", "strong"),
    "micro": Term("all", "aggregate", "micro"),
    "macro": Term("all", "aggregate", "macro"),
    "precision": Term("all", "measure", "p"),
    "p": Term("all", "measure", "p"),
    "recall": Term("all", "measure", "r"),
    "r": Term("all", "measure", "r"),
    "f1": Term("all", "measure", "f1"),
    "f1 score": Term("all", "measure", "f1"),
    "f measure": Term("all", "measure", "f1"),
    "accuracy": Term("all", "measure", "accuracy"),
    **{name: Term("BAT" if name.endswith("2w") else "GERBIL", "task", name) for name in (*TASKS, *TASK_ALIASES)},
}
"""The phrases that are understood, in lower case with single spaces; the names of tasks are phrases too."""

_WORD: Final = re.compile(r"[^\W_]+")
_TERMS_BY_LETTERS: Final = {"".join(_WORD.findall(phrase)): term for phrase, term in TERMS.items()}
_WORDS: Final = sorted({word for phrase in TERMS for word in _WORD.findall(phrase)})
_MAX_WORDS: Final = 4


def parse_terms(text: str) -> tuple[MeasureName, ...]:
    """Return the measures that a phrase of another tool means; empty if a word is unknown or a part occurs twice.

    Without a measure, these are precision, recall and F1. A phrase must name a task, relation or filter.
    """
    parts = _split_terms(text)
    if parts.keys() <= {"aggregate", "measure"}:
        return ()
    task = parse_task(parts["task"]) if "task" in parts else None
    relations = TASKS[task].relations if task is not None and not TASKS[task].parts else ("strong",)
    view = ViewName(parts.get("relation", relations[0]), (parts["filter"],) if "filter" in parts else (), task)
    if parts.get("measure") == "accuracy":
        return () if "aggregate" in parts else (MeasureName(view, "accuracy"),)
    shorts = (parts["measure"],) if "measure" in parts else ("p", "r", "f1")
    return tuple(MeasureName(view, short, parts.get("aggregate", "micro")) for short in shorts)


def lacks_view(text: str) -> bool:
    """Return whether a phrase has a measure, and perhaps an aggregate, but no view, such as `Micro F1`."""
    parts = _split_terms(text)
    return "measure" in parts and parts.keys() <= {"aggregate", "measure"}


def correct_words(text: str) -> str:
    """Return a phrase in which each word that no term has is replaced by the most similar word of a term, if any."""
    matches = ((word, get_close_matches(word.lower(), _WORDS, n=1, cutoff=0.75)) for word in _WORD.findall(text))
    return " ".join(word if word.lower() in _WORDS or not similar else similar[0] for word, similar in matches)


def parse_view_term(text: str) -> ViewName | None:
    """Return the view that a phrase of another tool means, such as `strong annotation match` or `Mw InKB`; else None.

    A phrase with a measure or an aggregate means no view, nor does a task alone.
    """
    parts = _split_terms(text)
    is_view = parts.keys() <= {"task", "relation", "filter"} and parts.keys() & {"relation", "filter"}
    return parse_terms(text)[0].view if is_view else None


def translate_view(text: str) -> str:
    """Return the name in Karat of the view that a phrase of another tool means; another text is returned unchanged."""
    view = parse_view_term(text)
    return text if view is None else str(view)


def _split_terms(text: str) -> dict[TermPart, str]:
    """Return the values of the phrases in `text` by part; empty if a word is unknown or two values contradict."""
    words = [word.lower() for word in _WORD.findall(text)]
    values: dict[TermPart, str] = {}
    while words:
        sizes = [size for size in range(_MAX_WORDS, 0, -1) if "".join(words[:size]) in _TERMS_BY_LETTERS]
        if not sizes:
            return {}
        term = _TERMS_BY_LETTERS["".join(words[: sizes[0]])]
        parts: list[tuple[TermPart, str | None]] = [(term.part, term.value), ("task", term.task)]
        if any(value is not None and values.setdefault(part, value) != value for part, value in parts):
            return {}
        words = words[sizes[0] :]
    return values
