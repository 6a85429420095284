"""External hosts and commands of systems, and training details."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal


@dataclass(frozen=True, slots=True)
class ExternalAccess:
    """The hosts and commands that an external system uses. Karat sends one document per request, several at once."""

    hosts: tuple[str, ...] = ()
    """The hosts that receive document texts."""
    command: tuple[str, ...] = ()
    """The command that is started, as a list of arguments."""
    has_latency_probe: bool = False
    """Whether an empty request measures the network latency."""
    credential: str = ""
    """The environment variable with the credential, without which nothing is sent; empty if none is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSetup:
    """The training signal of a published model, as its authors or a survey report it, and its reported score."""

    model: str
    """The name of the model, such as `LUKE_GH`."""
    paper: str
    """The paper that introduces it, such as `Yamada et al. (2022)`."""
    source: str
    """The publication from which the fields are taken, with the number of the table."""
    snippets: int
    """The number of training texts."""
    is_approximate: bool = False
    """Whether `snippets` is an estimate."""
    snippet_unit: Literal["snippets", "sentences"] = "snippets"
    """The kind of training texts."""
    has_single_mentions: bool = False
    """Whether each training text has only one labelled mention."""
    has_weak_labels: bool = False
    """Whether some labels were generated automatically."""
    text_source: str = "Wikipedia"
    """The texts."""
    dump_date: str = ""
    """The year and month of `text_source`, such as `2018-12`."""
    features: tuple[str, ...] = ()
    """Further training data and input, such as `AIDA-TRAIN` or `types`."""
    entities: int
    """The number of entities it can link to."""
    candidate_lists: tuple[str, ...] = ()
    """The candidate lists, joined; empty if it uses none."""
    aida_b_accuracy: float | None = None
    """The reported accuracy on AIDA-B in percent, which Karat did not measure; None if unknown."""

    @property
    def size(self) -> str:
        """The number of training texts as text, such as `~10M snippets`."""
        return f"{'~' if self.is_approximate else ''}{format_magnitude(self.snippets)} {self.snippet_unit}"


def format_magnitude(number: int) -> str:
    """Return a number in millions or thousands, such as `1.5M` or `128k`, with as many digits as it needs."""
    return f"{number / 1_000_000:g}M" if number >= 1_000_000 else f"{number / 1_000:g}k"


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

    @classmethod
    def from_setups(cls, setups: Sequence[TrainingSetup]) -> TrainingDetails:
        """Summarise the models of a system: what differs between them is joined by `or`."""
        features = [feature for setup in setups for feature in setup.features]
        return cls(
            data=_join_distinct(setup.text_source for setup in setups),
            size=_join_distinct(setup.size for setup in setups),
            weak_labels=_join_distinct("yes" if setup.has_weak_labels else "no" for setup in setups),
            dump_date=_join_distinct(setup.dump_date for setup in setups),
            vocabulary=_join_distinct(f"{format_magnitude(setup.entities)} entities" for setup in setups),
            candidate_list=_join_distinct(" and ".join(setup.candidate_lists) or "none" for setup in setups),
            extra_features=", ".join(
                feature if all(feature in setup.features for setup in setups) else f"{feature} (some models)"
                for feature in dict.fromkeys(features)
            ),
        )

    def to_metadata(self) -> dict[str, str]:
        """Return the non-empty fields as metadata of a run, with keys such as `training: dump date`."""
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {f"{_PREFIX}{name.replace('_', ' ')}": text for name, text in texts.items() if text}


_PREFIX = "training: "


def _join_distinct(texts: Iterable[str]) -> str:
    """Return the distinct texts in order of first occurrence, joined by `or`."""
    return " or ".join(dict.fromkeys(texts))


def training_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    """Return the training details in the metadata of a run, with keys such as `dump date`; empty if it has none."""
    return {name.removeprefix(_PREFIX): value for name, value in metadata.items() if name.startswith(_PREFIX)}
