"""Profiles with what they take from others."""

from __future__ import annotations

from dataclasses import replace

from karat.registry import get, identity
from karat.spec.profile import Profile


def profile_named(name: str) -> Profile:
    """The profile of that name, with all choices: its own, and those of the profile it is based on."""
    profile = get("profiles", name, Profile)
    if identity("profiles", name) == profile.base:
        return profile
    return replace(profile, choices={**profile_named(profile.base).choices, **profile.choices})
