"""The specification of a profile: the constant `PROFILE` of a file in `karat.plugins.profiles`."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class Profile(msgspec.Struct, frozen=True):
    """A named table of settings, and the measures it reports."""

    title: str
    """The name in lists."""
    description: str
    """One or two sentences about its origin."""
    settings: Mapping[str, str]
    """The settings that differ from `base`; see `karat.model.spec.settings.settings.SETTINGS`."""
    measures: tuple[str, ...]
    """The measures to report by default."""
    headline: Mapping[str, str] = msgspec.field(default_factory=dict)
    """The main measures by display name; empty takes those of `base`."""
    base: str = "karat"
    """The profile whose settings apply unless overridden."""
