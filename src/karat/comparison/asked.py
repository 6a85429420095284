"""How the scores of a comparison are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from karat.evaluation.profiles import profile_named
from karat.kb.protocol import KB
from karat.spec.task import task_named


@dataclass(frozen=True, slots=True)
class Asked:
    """How to score: the profile and its choices, the measure, labels of cases, and the knowledge base.

    Without a profile it is `karat`. Results are taken as they are, and must have been scored alike.
    """

    like: str | None = None
    measure: str | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    kb: KB | None = None
    allow_unknown: bool = False

    @property
    def profile(self) -> str:
        """The profile that is used."""
        return self.like or "karat"

    @property
    def task(self) -> str:
        """The task that is scored."""
        return task_named(self.choices.get("task", profile_named(self.profile).choices["task"]))
