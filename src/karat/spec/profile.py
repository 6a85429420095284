"""What a file in `karat.profiles` holds."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Profile(msgspec.Struct, frozen=True):
    """A table of choices under one name, and the measures it shows by default.

    `choices` names only those in which it differs from its `base`; see `karat.spec.choices.choices.CHOICES`.
    `headline` says in words which few of the measures come first, each by its F1; none is that of the base.
    """

    title: str
    says: str
    choices: Mapping[str, str]
    measures: tuple[str, ...]
    headline: Mapping[str, str] = msgspec.field(default_factory=dict)
    base: str = "karat"
