"""A campaign: the passages and links that are shown to judges, their order, and the options."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from math import ceil
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from karat.kb.ids.id_patterns import PLAIN_TEXT, id_pattern
from karat.kb.ids.id_spaces import parse_id_key
from karat.model.document import Label
from karat.model.errors import UsageError
from karat.protocols.verification.judgements import Decision
from karat.protocols.verification.posthoc import TextLink

LAYOUT: Final = "karat-campaign/2"
CampaignKind: TypeAlias = Literal["verify", "survey"]
"""Judging of links, or a survey."""
_KIND_HINTS: Final[Mapping[CampaignKind, str]] = {
    "verify": "is a campaign in which links are judged. Use karat verify report",
    "survey": "is a survey. Use karat verify survey",
}
UNSELECTED: Final = "not selected by the priority"
"""Why a link is not shown if the priority of the campaign shows only some links; a key of `CampaignOptions.counts`."""
DEFAULT_BATCH: Final = 20
"""Number of tasks per judge, as in the paper."""
UNLIMITED_JUDGES: Final = 1_000_000
"""Number of judges of a survey without limit."""
CONTROL_SOURCE: Final = -1
"""Source index of control tasks."""


class ProposedLink(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A link that a survey proposes for a mention."""

    entity: str
    """Id of the entity."""
    categories: tuple[str, ...] = ()
    """Categories of the link in the gold standard."""


class TaskLink(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A link, or in a survey a mention, in a task."""

    start: int
    """Start offset in the document."""
    end: int
    """End offset in the document."""
    entity: str
    """Id of the entity; empty in a survey."""
    correct: tuple[Decision, ...] = ()
    """Decisions that pass a control; empty if the link is not tested."""
    options: tuple[ProposedLink, ...] = ()
    """Proposed links, in a survey."""


class JudgingTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A passage with all links of one source."""

    number: int
    """Number, in the order in which tasks are offered."""
    document: str
    """Id of the document."""
    start: int
    """Start of the passage in the document."""
    text: str
    """Text of the passage."""
    source: int
    """Index of the source. Judges never see it."""
    links: tuple[TaskLink, ...]
    """Links."""

    @property
    def is_control(self) -> bool:
        """Whether the task is a control of the judge."""
        return self.source == CONTROL_SOURCE

    @property
    def end(self) -> int:
        """End of the passage in the document."""
        return self.start + len(self.text)

    def surface(self, link: TaskLink) -> str:
        """Return the text of a link's mention."""
        return self.text[link.start - self.start : link.end - self.start]

    def to_text_link(self, link: TaskLink) -> TextLink:
        """Convert a link of the task to a `TextLink`, which also has the id of the document."""
        return TextLink(self.document, link.start, link.end, link.entity)


class CampaignOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Options of a campaign."""

    layout: Literal["karat-campaign/2"] = LAYOUT
    """Layout of the file."""
    name: str
    """Name of the campaign."""
    dataset: str
    """Name of the dataset."""
    digest: str
    """Digest of the gold standard."""
    sources: tuple[str, ...]
    """Names of the sources; the first is the gold standard."""
    documents: int
    """Number of documents in the gold standard."""
    kind: CampaignKind = "verify"
    """Kind of the campaign."""
    additions: bool = False
    """Whether judges may add missing links."""
    seed: int = 0
    """Random seed."""
    priority: str = "all"
    """Priority, a key of `PRIORITIES`."""
    judges: Annotated[int, msgspec.Meta(ge=1)] = 1
    """Number of judges per task."""
    batch: Annotated[int, msgspec.Meta(ge=0)] = DEFAULT_BATCH
    """Number of tasks per judge, including controls; 0 means unlimited."""
    controls: Annotated[int, msgspec.Meta(ge=0)] = 1
    """Number of control tasks per block of at most 20 tasks of a judge."""
    lease: Annotated[float, msgspec.Meta(gt=0)] = 1800.0
    """Seconds for which a task is reserved for a judge."""
    kb: str | None = None
    """Name of the knowledge base."""
    kb_location: str | None = None
    """Folder or name from which the knowledge base was opened; judges search there unless told otherwise."""
    consent: str = ""
    """Consent form."""
    guidelines: str = ""
    """Guidelines for judges."""
    counts: Mapping[str, Mapping[str, int]] = {}
    """By source, the numbers of links, of links shown and of tasks, and of excluded links by reason."""
    gold_labels: Mapping[str, tuple[Label, ...]] = {}
    """By document id, all gold labels, also those that are not shown, such as NIL. An overlay must fit them."""

    @property
    def gold(self) -> str:
        """Name of the gold standard among the sources."""
        return self.sources[0]

    def list_blocks(self, n_tasks: int) -> list[range]:
        """Return the blocks into which the tasks of a judge are divided, each with `controls` controls.

        A batch is divided into equal blocks of at most 20 tasks. Without limit, blocks have 20 tasks; those that begin
        within the first `n_tasks` + 1 tasks are returned.
        """
        if not self.batch:
            return [range(start, start + DEFAULT_BATCH) for start in range(0, n_tasks + 1, DEFAULT_BATCH)]
        n_blocks = ceil(self.batch / DEFAULT_BATCH)
        return [range(self.batch * i // n_blocks, self.batch * (i + 1) // n_blocks) for i in range(n_blocks)]

    @property
    def block_size(self) -> int:
        """Number of tasks in the smallest block."""
        return min(map(len, self.list_blocks(0)))

    @property
    def n_batch_controls(self) -> int:
        """Number of controls in a batch."""
        return self.controls * len(self.list_blocks(0))

    @property
    def n_unselected(self) -> int:
        """Number of links of all sources that the priority does not show."""
        return sum(counts.get(UNSELECTED, 0) for counts in self.counts.values())


def find_id_patterns(tasks: Iterable[JudgingTask]) -> frozenset[str]:
    """Return the patterns of the ids of all links in some tasks, for `is_plausible_id`."""
    return frozenset(id_pattern(link.entity) for task in tasks for link in task.links if link.entity)


def is_plausible_id(id: str, patterns: Collection[str]) -> bool:
    """Return whether an id is written like ids of these patterns, or is the id or address of a known id space."""
    pattern = id_pattern(id)
    return pattern in patterns or (pattern != PLAIN_TEXT and parse_id_key(id) is not None)


class Campaign(msgspec.Struct, frozen=True):
    """A campaign with all its tasks."""

    options: CampaignOptions
    """Options."""
    tasks: tuple[JudgingTask, ...]
    """Tasks in the order in which they are offered; control tasks come last."""
    secret: str = ""
    """Key that signs invitations and selects controls, which judges never see; empty until the campaign is stored."""

    @property
    def digest(self) -> str:
        """Digest of sources and tasks: the same in all copies of the campaign."""
        content = msgspec.json.encode((self.options.kind, self.options.sources, self.tasks))
        return hashlib.sha256(content).hexdigest()[:16]

    def get_source(self, task: JudgingTask) -> str | None:
        """Return the name of the source whose links a task shows; None for a control."""
        return None if task.is_control else self.options.sources[task.source]

    @property
    def n_required_judges(self) -> int:
        """Number of people whom each task needs at least; 1 in a survey that all people answer."""
        return 1 if self.options.judges == UNLIMITED_JUDGES else self.options.judges

    @property
    def n_judgements(self) -> int:
        """Number of judgements that the tasks need, without controls."""
        return self.n_required_judges * sum(not task.is_control for task in self.tasks)

    @property
    def max_tasks_per_judge(self) -> int:
        """Number of tasks that a judge can do at most, without regard to a lack of controls."""
        n_tasks = sum(not task.is_control for task in self.tasks)
        return min(self.options.batch or n_tasks, n_tasks)

    @property
    def n_needed_controls(self) -> int:
        """Number of controls that test a judge who does as many tasks as possible in each block of tasks."""
        n_tasks = self.max_tasks_per_judge
        return self.options.controls * sum(block.start < n_tasks for block in self.options.list_blocks(n_tasks))

    def count_needed_people(self) -> int | None:
        """Return how many people the campaign needs at least; None if people may do any number of tasks."""
        options = self.options
        if not options.batch:
            return None
        return max(self.n_required_judges, ceil(self.n_judgements / (options.batch - options.n_batch_controls)))

    def require_people(self, n_people: int) -> None:
        """Raise `UsageError` with the numbers if `n_people` cannot judge every task as often as it needs."""
        options, needed = self.options, self.count_needed_people()
        if n_people >= (self.n_required_judges if needed is None else needed):
            return
        if n_people < self.n_required_judges:
            raise UsageError(
                f"{self.n_required_judges:,} people judge each link, but --people is {n_people:,}. Find more people, "
                "or lower --judges."
            )
        fewer_judges = "lower --judges, " if self.n_required_judges > 1 else ""
        n_tasks = n_needed = ceil(self.n_judgements / n_people)
        while n_tasks - msgspec.structs.replace(options, batch=n_tasks).n_batch_controls < n_needed:
            n_tasks += 1
        raise UsageError(
            f"{self.n_judgements:,} judgements need {needed:,} people with {options.batch:,} tasks each, but --people "
            f"is {n_people:,}. Find more people, {fewer_judges}or raise --tasks-per-judge to {n_tasks:,}."
        )

    def list_planned_tasks(self, person: int) -> frozenset[int]:
        """Return the numbers of the tasks that are planned for a person, counted from 0 in the order of entry.

        If people may do only some tasks each, every task is planned for as many of the needed people as judge it, and
        each person gets no more tasks than allowed, so that these people complete the campaign in whatever order they
        work. The tasks form as many parts as there are needed people: a task of the first part is for the first people,
        one of the second part for the second and the following ones. Further people share these plans. Empty without a
        limit, or if each task needs one person: then any order completes all tasks.
        """
        n_people, n_judges = self.count_needed_people(), self.n_required_judges
        if n_people is None or self.options.judges == 1:
            return frozenset()
        tasks = [task.number for task in self.tasks if not task.is_control]
        return frozenset(
            number
            for index, number in enumerate(tasks)
            if (person - index * n_people // len(tasks)) % n_people < n_judges
        )

    def require_kind(self, kind: CampaignKind) -> Campaign:
        """Return the campaign unchanged; raise `UsageError` if it is of another kind."""
        if self.options.kind != kind:
            raise UsageError(f"{self.options.name} {_KIND_HINTS[self.options.kind]}.")
        return self
