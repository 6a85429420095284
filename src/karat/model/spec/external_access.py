"""External hosts and commands of systems, and training details."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ExternalAccess:
    """The hosts and commands that an external system uses. Karat sends one document per request, several at once."""

    hosts: tuple[str, ...] = ()
    """The hosts that receive document texts."""
    command: tuple[str, ...] = ()
    """The command that is started, as a list of arguments."""
    has_latency_probe: bool = False
    """Whether an empty request measures the network latency."""


@dataclass(frozen=True, slots=True)
class TrainingDetails:
    """How a system was trained, as free text; empty if unknown."""

    data: str = ""
    """The training data."""
    size: str = ""
    """The size of the training data."""
    weak_labels: str = ""
    """How labels were generated, if not by people."""
    dump_date: str = ""
    """The date of the knowledge base dump."""
    vocabulary: str = ""
    """The entities it can link to."""
    candidate_list: str = ""
    """The source of its candidates."""
    extra_features: str = ""
    """Further input, such as entity types."""

    def to_metadata(self) -> dict[str, str]:
        """Return the non-empty fields as metadata of a run, with keys such as `training: dump date`."""
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {f"{_PREFIX}{name.replace('_', ' ')}": text for name, text in texts.items() if text}


_PREFIX = "training: "


def training_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the training details in the metadata of a run, with keys such as `dump date`; empty if it has none."""
    return {name.removeprefix(_PREFIX): value for name, value in metadata.items() if name.startswith(_PREFIX)}
