"""What systems outside Karat touch, and what a system was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Outside:
    """Where a system that is not part of Karat does its work: each document is asked about by itself, several at once.

    `hosts` are those that texts are sent to, `command` the words of a command that is started. `calibrated` says
    whether an empty question tells how long the way takes.
    """

    hosts: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    calibrated: bool = False


@dataclass(frozen=True, slots=True)
class TrainingCard:
    """What a system was made from, in words; empty where nobody said."""

    data: str = ""
    size: str = ""
    weak_labels: str = ""
    dump_date: str = ""
    vocabulary: str = ""
    candidate_list: str = ""
    extra_features: str = ""

    def said(self) -> dict[str, str]:
        """What is said, as a manifest has it."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return {f"{_PREFIX}{name.replace('_', ' ')}": value for name, value in given.items() if value}


_PREFIX = "training: "


def card_of(about: Mapping[str, str]) -> dict[str, str]:
    """What a manifest says about the making of a system, by what it is about."""
    return {name.removeprefix(_PREFIX): value for name, value in about.items() if name.startswith(_PREFIX)}
