"""A campaign: which passages with whose links are shown to judges, in which order, and under which terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from karat.errors import UsageError
from karat.verification.decisions import Decision
from karat.verification.posthoc import LinkAt

LAYOUT: Final = "karat-campaign/1"
CampaignKind: TypeAlias = Literal["verify", "survey"]
_KINDS: Final[Mapping[CampaignKind, str]] = {
    "verify": "lets people judge links. Look at it with karat verify report",
    "survey": "is a survey, in which nothing is right or wrong. Look at it with karat verify survey",
}
CONTROL: Final = -1
"""The source of control tasks, which are nobody's."""


class ProposedLink(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A link that a survey proposes for a mention, with the categories that it has in the gold standard."""

    entity: str
    categories: tuple[str, ...] = ()


class ShownLink(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A link as it is shown; offsets are those of the document. `right` are the decisions that pass a control.

    A survey shows mentions: these have no `entity` but `options`.
    """

    start: int
    end: int
    entity: str
    right: tuple[Decision, ...] = ()
    options: tuple[ProposedLink, ...] = ()


class JudgingTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One passage with all links of one source. `source` is its place among the sources: judges never see it."""

    number: int
    document: str
    start: int
    text: str
    source: int
    links: tuple[ShownLink, ...]

    @property
    def control(self) -> bool:
        """Whether it tests the judge."""
        return self.source == CONTROL

    @property
    def end(self) -> int:
        """Where the passage ends in its document."""
        return self.start + len(self.text)

    def surface(self, link: ShownLink) -> str:
        """The words that are linked."""
        return self.text[link.start - self.start : link.end - self.start]

    def place(self, link: ShownLink) -> LinkAt:
        """The link in its document."""
        return LinkAt(self.document, link.start, link.end, link.entity)


class CampaignTerms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What holds for a whole campaign.

    `judges` is how many judge each task, `batch` how many tasks a judge gets, controls among them (0 is no end), and
    `lease` how many seconds a task is kept for who has it. `counts` says, for each source, how many links it has, how
    many are shown, and what was left out and why; `documents` is how many the gold standard has. With `additions`,
    judges may add links that are missing.
    """

    layout: Literal["karat-campaign/1"] = LAYOUT
    name: str
    dataset: str
    digest: str
    sources: tuple[str, ...]
    documents: int
    kind: CampaignKind = "verify"
    additions: bool = False
    seed: int = 0
    priority: str = "all"
    judges: Annotated[int, msgspec.Meta(ge=1)] = 1
    batch: Annotated[int, msgspec.Meta(ge=0)] = 20
    controls: Annotated[int, msgspec.Meta(ge=0)] = 1
    lease: Annotated[float, msgspec.Meta(gt=0)] = 1800.0
    kb: str | None = None
    consent: str = ""
    guidelines: str = ""
    counts: Mapping[str, Mapping[str, int]] = {}

    @property
    def gold(self) -> str:
        """The source that is the gold standard."""
        return self.sources[0]


class Campaign(msgspec.Struct, frozen=True):
    """Terms, and all tasks in the order in which they are offered; control tasks stand at the end."""

    terms: CampaignTerms
    tasks: tuple[JudgingTask, ...]

    def of_kind(self, kind: CampaignKind) -> Campaign:
        """Itself, if it is of this kind; what is measured on one kind says nothing of another."""
        if self.terms.kind != kind:
            raise UsageError(f"{self.terms.name} {_KINDS[self.terms.kind]}.")
        return self
