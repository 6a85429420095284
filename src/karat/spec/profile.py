"""What a file in `karat.profiles` holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """A table of choices under one name, and the measures it shows by default.

    `choices` names only those in which it differs from its `base`; see `karat.spec.choices.choices.CHOICES`.
    """

    title: str
    says: str
    choices: Mapping[str, str]
    measures: tuple[str, ...]
    base: str = "karat"
