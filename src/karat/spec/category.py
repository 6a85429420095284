"""What a file in `karat.categories` holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from karat.model.cases import Cases
from karat.model.columns import Bools
from karat.model.document import Answer, Label
from karat.model.truth import Truth

Condition: TypeAlias = Callable[[Cases], Truth | Bools]


class Example(NamedTuple):
    """A text in which the category occurs, with what it counts there."""

    text: str
    labels: tuple[Label, ...]
    answers: tuple[Answer, ...]
    errors: int
    total: int | None


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of error: which cases are such errors, and among how many that could have been.

    `error` says which cases of a view are errors of this kind, `avoided` which could have been and are not. Instead of
    `avoided` there may be `words`, where the words of the text are what could have been taken for a mention; without
    either only errors are counted. Of the categories of one `group` that have a `rank`, a case is in the first that
    holds: among errors, and where `exclusive` is "both" also among those avoided. `tempted` narrows the errors where
    the answer is taken into account (the choice `categories`). `needs_candidates`: undefined for systems that never
    have several candidates. `whole`: mentions that are scored by their parts are among those that could have been.
    `elevant` is where ELEVANT's files keep the figure, and `elevant_labels` what they call the two kinds of cases.
    """

    title: str
    says: str
    group: str
    error: Condition
    avoided: Condition | None = None
    words: Literal["all", "lowercased", "other"] | None = None
    rank: int | None = None
    exclusive: Literal["errors", "both"] = "errors"
    tempted: Condition | None = None
    needs_candidates: bool = False
    whole: bool = False
    elevant: tuple[str, str] = ("", "")
    elevant_labels: tuple[str, str] = ("", "")
    example: Example | None = None
