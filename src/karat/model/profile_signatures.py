"""Signatures with profiles: a short form for people and a full form for files, which are equivalent.

The short form contains the version, the profile, the data and the overrides. The profile name includes a fingerprint
of its settings, so that a changed profile is noticed.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from karat.model.errors import KaratError
from karat.model.measure_name import MeasureName, parse_measure
from karat.model.registry import get_plugin, list_plugins, plugin_identity
from karat.model.signature import Signature, parse_full_signature
from karat.model.spec.profile import Profile
from karat.model.spec.settings.settings import SIGNED_SETTINGS

_LINE_END = re.compile(r"\r?\n")
_FIRST_PARTS = ("karat", "profile", "data")
_DEFAULTS = {"drop": "none", "kb": "none", "seed": "0"}


def get_profile(name: str) -> Profile:
    """Return the profile `name` with all settings: its own, and those that it inherits from its base.

    A profile without headline measures has the headline measures of the base. Raise `UnknownNameError` if there is no
    such profile.
    """
    profile = get_plugin("profiles", name, Profile)
    if plugin_identity("profiles", name) == profile.base:
        return profile
    base = get_profile(profile.base)
    return replace(profile, settings={**base.settings, **profile.settings}, headline=profile.headline or base.headline)


def format_relations(measures: Sequence[MeasureName]) -> str:
    """Return the distinct match relations of some measures as signatures write them: `strong,d2kb/weak`."""
    tasks = [(f"{name.view.task}/" if name.view.task else "", name.view.relation) for name in measures]
    return ",".join(dict.fromkeys(f"{task}{plugin_identity('relations', relation)}" for task, relation in tasks))


def default_settings(profile: str) -> dict[str, str]:
    """Return the value of every part in `SIGNED_SETTINGS` under a profile without overrides, by name.

    No knowledge base is used, no predictions are dropped, and the seed is 0.
    """
    spec = get_profile(profile)
    parts = {**spec.settings, "match": format_relations([parse_measure(name) for name in spec.measures]), **_DEFAULTS}
    return {name: parts[name] for name in SIGNED_SETTINGS}


def format_profile(profile: str) -> str:
    """Return a profile as signatures write it: `NAME@FINGERPRINT`, with a checksum of its settings.

    A profile in a Python file is written as its file name and a checksum of its bytes.
    """
    if profile not in list_plugins("profiles"):  # a file
        return plugin_identity("profiles", profile)
    table = "|".join(f"{name}:{value}" for name, value in default_settings(profile).items())
    return f"{profile}@{zlib.crc32(table.encode()):08x}"


def _find_profile(signature: Mapping[str, str]) -> str | None:
    """Return the profile that the parts of a signature name.

    None if the profile is a file or if its settings have changed.
    """
    text = signature.get("profile", "")
    profile = text.rpartition("@")[0]
    return profile if profile in list_plugins("profiles") and format_profile(profile) == text else None


def find_overrides(signature: Signature) -> dict[str, str] | None:
    """Return the settings in which a signature differs from its profile, with the values of the profile.

    None means that this version of Karat has no such profile, or one with other settings.
    """
    parts = signature.to_dict()
    profile = _find_profile(parts)
    if profile is None:
        return None
    return {name: value for name, value in default_settings(profile).items() if parts.get(name) != value}


def get_profile_name(signature: Signature) -> str:
    """Return the name of the profile in a signature, without its fingerprint; empty if it names none."""
    text = signature.to_dict().get("profile", "")
    return text.rpartition("@")[0] or text


def get_headline_title(signature: Signature, view: str) -> str | None:
    """Return the title of the headline measure in the signature's profile that is computed from a view.

    `view` is the name of a view or of a measure, of which only the view counts, unless the headline is no F1 measure:
    then its title is that of this measure alone. None means that no headline measure uses the view, or that the profile
    is unknown.
    """
    profile = _find_profile(signature.to_dict())
    if profile is None:
        return None
    measure = parse_measure(view if ":" in view else f"{view}:micro.f1")
    headline = {parse_measure(name): words for words, name in get_profile(profile).headline.items()}
    titles = {name.view: words for name, words in headline.items() if name.measure == "f1"}
    return headline.get(measure) or titles.get(measure.view)


def shorten_signature(signature: Signature) -> Signature:
    """Return the signature in short form, with only version, profile, data and overrides.

    The signature is returned unchanged if this version of Karat has no such profile.
    """
    overrides = find_overrides(signature)
    if overrides is None:
        return signature
    return Signature(tuple(part for part in signature.parts if part[0] in (*_FIRST_PARTS, *overrides)))


def parse_signature(text: str) -> Signature:
    """Parse a signature in short or full form, in one or several lines, and return it in full form.

    Raise `KaratError` if it is no signature, or if the profile of a short form is unknown.
    """
    signature = parse_full_signature(_LINE_END.sub("", text) if text.lstrip().startswith("karat:") else text)
    parts = signature.to_dict()
    if "profile" not in parts or all(name in parts for name in SIGNED_SETTINGS):
        return signature
    profile = _find_profile(parts)
    if profile is None:
        raise KaratError(
            f"the signature is in short form, but this version of Karat has no profile {parts['profile']}. "
            "Use the full signature from the result file, or the version of Karat that wrote it."
        )
    values = {**default_settings(profile), **parts}
    order = [*(name for name in _FIRST_PARTS if name in parts), *SIGNED_SETTINGS]
    return Signature(tuple((name, values[name]) for name in [*order, *(name for name in parts if name not in order)]))
