"""Signatures with the profile they name: short where people read, in full in files; both say the same.

The short form has the version, the profile, the data and what departs from the profile. The profile carries the
fingerprint of its table, so that nobody fills in choices that were others when the numbers were made.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from karat.errors import KaratError
from karat.model.name import MeasureName, parse_measure
from karat.model.signature import Signature, signature_of
from karat.registry import get, identity, names
from karat.spec.choices.choices import SIGNED
from karat.spec.profile import Profile

_LINE_END = re.compile(r"\r?\n")
_ALWAYS = ("karat", "profile", "data")
_GIVEN = {"drop": "none", "kb": "none", "seed": "0"}


def profile_named(name: str) -> Profile:
    """The profile of that name, with all choices: its own, and those of the profile it is based on."""
    profile = get("profiles", name, Profile)
    if identity("profiles", name) == profile.base:
        return profile
    base = profile_named(profile.base)
    return replace(profile, choices={**base.choices, **profile.choices}, headline=profile.headline or base.headline)


def relations_of(measures: Sequence[MeasureName]) -> str:
    """The relations of some measures, as the signature writes them."""
    tasks = [(f"{name.view.task}/" if name.view.task else "", name.view.relation) for name in measures]
    return ",".join(dict.fromkeys(f"{task}{identity('relations', relation)}" for task, relation in tasks))


def usual(profile: str) -> dict[str, str]:
    """What a signature says of a profile from which nothing departs."""
    own = profile_named(profile)
    said = {**own.choices, "match": relations_of([parse_measure(name) for name in own.measures]), **_GIVEN}
    return {name: said[name] for name in SIGNED}


def profile_signed(profile: str) -> str:
    """A profile as a signature names it: with the fingerprint of its table."""
    if profile not in names("profiles"):  # a file
        return identity("profiles", profile)
    table = "|".join(f"{name}:{value}" for name, value in usual(profile).items())
    return f"{profile}@{zlib.crc32(table.encode()):08x}"


def _known(signature: Mapping[str, str]) -> str | None:
    """The profile that a signature names, if it is one of this version and no file."""
    named = signature.get("profile", "")
    profile = named.rpartition("@")[0]
    return profile if profile in names("profiles") and profile_signed(profile) == named else None


def departures(signature: Signature) -> dict[str, str] | None:
    """What departs from the profile, by name with the profile's own value; None where the profile is not known."""
    said = signature.as_dict()
    profile = _known(said)
    if profile is None:
        return None
    return {name: value for name, value in usual(profile).items() if said.get(name) != value}


def profile_in(signature: Signature) -> str:
    """The profile that a signature names."""
    named = signature.as_dict().get("profile", "")
    return named.rpartition("@")[0] or named


def headline_words(signature: Signature, view: str) -> str | None:
    """What people call a view, or a measure of it, if it is one that comes first in the profile of a signature."""
    profile = _known(signature.as_dict())
    if profile is None:
        return None
    first = {parse_measure(name).view: words for words, name in profile_named(profile).headline.items()}
    return first.get(parse_measure(view if ":" in view else f"{view}:micro.f1").view)


def short(signature: Signature) -> Signature:
    """The version, the profile, the data and what departs from the profile; all of it where that is not known."""
    departing = departures(signature)
    if departing is None:
        return signature
    return Signature(tuple(part for part in signature.parts if part[0] in (*_ALWAYS, *departing)))


def parse_signature(text: str) -> Signature:
    """The signature that a line says, in the short form or in full, in one line or over several."""
    signature = signature_of(_LINE_END.sub("", text) if text.lstrip().startswith("karat:") else text)
    said = signature.as_dict()
    if "profile" not in said or all(name in said for name in SIGNED):
        return signature
    profile = _known(said)
    if profile is None:
        raise KaratError(
            f"the signature is short, and its profile {said['profile']} is none of this version of Karat. "
            "Take the full one from the result file, or the version of Karat that made it."
        )
    filled = {**usual(profile), **said}
    order = [*(name for name in _ALWAYS if name in said), *SIGNED]
    return Signature(tuple((name, filled[name]) for name in [*order, *(name for name in said if name not in order)]))
