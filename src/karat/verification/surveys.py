"""Surveys: which links people would want for a mention.

As in section 2 of Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking, 2019. There is no
right or wrong. What comes out is the share of the people asked who would annotate a mention, and give it each of the
links that were proposed; fuzzy recall can weigh by it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final, NamedTuple

import numpy as np

from karat.errors import UsageError
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.verification.campaign import Campaign, CampaignTerms, JudgingTask, ProposedLink, ShownLink
from karat.verification.decisions import Decision, Judgement, standing
from karat.verification.guidelines import SURVEY_CONSENT, SURVEY_GUIDELINES
from karat.verification.making import GOLD, answered, linked, numbered, placed, told
from karat.verification.passages import LENGTH, passages
from karat.verification.posthoc import LinkAt

EVERYBODY: Final = 1_000_000
"""As many as come are asked."""


def survey_campaign(
    corpus: Corpus,
    runs: Sequence[Run],
    *,
    name: str,
    kb: KB | None = None,
    seed: int = 0,
    judges: int = EVERYBODY,
    batch: int = 0,
    lease: float = 1800.0,
    length: int = LENGTH,
    consent: str = SURVEY_CONSENT,
    guidelines: str = SURVEY_GUIDELINES,
) -> Campaign:
    """Tasks of a survey: each is one passage with all mentions that any source has, and all links proposed for them.

    The gold standard proposes all its alternatives, and categories that its labels have are kept beside them.
    """
    labels = corpus.labels
    gold = linked(corpus, labels, np.arange(len(labels)), corpus.ids.to_pylist(), kb)
    sources = [gold, *(answered(corpus, run, kb) for run in runs)]
    tagged = labels.field("categories")
    tags = [()] * len(labels) if tagged is None else [tuple(each or ()) for each in tagged.to_pylist()]
    options: dict[LinkAt, dict[str, ProposedLink]] = defaultdict(dict)
    for source in sources:
        for link, row in source.links.items():
            categories = tags[row] if source is gold else ()
            options[link._replace(entity="")].setdefault(link.entity, ProposedLink(link.entity, categories))
    texts = dict(zip(corpus.ids.to_pylist(), corpus.texts, strict=True))
    cut = {document: passages(text, length) for document, text in texts.items()}
    crossing: Counter[str] = Counter()
    random = Random(f"{seed} {corpus.digest}")
    tasks = []
    for document, span, mentions in placed(options, cut, crossing):
        shown = [ShownLink(one.start, one.end, "", options=_mixed(options[one], random)) for one in mentions]
        tasks.append(JudgingTask(0, document, span.start, texts[document][span.start : span.end], 0, tuple(shown)))
    if not tasks:
        raise UsageError("there is no linked mention to ask about. Give a gold standard or answers with links.")
    random.shuffle(tasks)
    mentions_shown = sum(len(task.links) for task in tasks)
    terms = CampaignTerms(
        name=name,
        dataset=corpus.name,
        digest=corpus.digest,
        sources=(GOLD, *(run.name for run in runs)),
        documents=len(corpus),
        kind="survey",
        seed=seed,
        judges=judges,
        batch=batch,
        controls=0,
        lease=lease,
        kb=None if kb is None else kb.name,
        consent=consent,
        guidelines=guidelines,
        counts={
            "mentions": {"shown": mentions_shown, "tasks": len(tasks), **crossing},
            **{
                source: {what: count for what, count in told(found.counts).items() if what not in ("shown", "tasks")}
                for source, found in zip((GOLD, *(run.name for run in runs)), sources, strict=True)
            },
        },
    )
    return Campaign(terms, numbered(tasks))


def _mixed(options: dict[str, ProposedLink], random: Random) -> tuple[ProposedLink, ...]:
    """The links that are proposed, in random order, so that their place does not tell where they come from."""
    return tuple(random.sample(sorted(options.values(), key=lambda one: one.entity), len(options)))


class LinkRatio(NamedTuple):
    """A link that was proposed, with its categories, how many would give it, and their share of those asked."""

    entity: str
    categories: tuple[str, ...]
    chosen: int
    ratio: float | None


class MentionRatio(NamedTuple):
    """A mention: how many were asked, how many would annotate it, their share, and the links, most wanted first."""

    place: LinkAt
    surface: str
    asked: int
    annotated: int
    ratio: float | None
    links: tuple[LinkRatio, ...]


class SurveyPassage(NamedTuple):
    """A passage with its mentions in their order."""

    document: str
    start: int
    text: str
    mentions: tuple[MentionRatio, ...]


class Survey(NamedTuple):
    """What people said: how many there were, the passages, and what did not count, by why."""

    name: str
    dataset: str
    people: int
    passages: tuple[SurveyPassage, ...]
    left_out: dict[str, int]


def survey(campaign: Campaign, records: Iterable[Judgement]) -> Survey:
    """Count what people chose; machines are left out."""
    campaign = campaign.of_kind("survey")
    every = list(records)
    live = [one for one in standing(every) if one.machine is None]
    said: dict[tuple[int, int], list[Judgement]] = defaultdict(list)
    for one in live:
        if one.decision is Decision.CHOOSE and one.link is not None:
            said[one.task, one.link].append(one)
    people = {one.judge for own in said.values() for one in own}
    left_out = {
        "undone, or answered again": sum(one.decision is not Decision.UNDO for one in every) - len(standing(every)),
        "tasks skipped": sum(one.decision is Decision.SKIP for one in live),
        "of machines": sum(one.machine is not None for one in every),
    }
    found = sorted(campaign.tasks, key=lambda task: (task.document, task.start))
    return Survey(
        campaign.terms.name,
        campaign.terms.dataset,
        len(people),
        tuple(
            SurveyPassage(
                task.document,
                task.start,
                task.text,
                tuple(_rated(task, link, said[task.number, place]) for place, link in enumerate(task.links)),
            )
            for task in found
        ),
        {why: count for why, count in left_out.items() if count},
    )


def _rated(task: JudgingTask, link: ShownLink, said: Sequence[Judgement]) -> MentionRatio:
    asked, annotated = len(said), sum(bool(one.chosen) for one in said)
    votes = Counter(entity for one in said for entity in one.chosen)
    links = [
        LinkRatio(one.entity, one.categories, votes[one.entity], votes[one.entity] / asked if asked else None)
        for one in link.options
    ]
    return MentionRatio(
        task.place(link),
        task.surface(link),
        asked,
        annotated,
        annotated / asked if asked else None,
        tuple(sorted(links, key=lambda one: (-one.chosen, one.entity))),
    )


def membership(found: Survey) -> str:
    """A membership function for fuzzy recall (`--set membership=FILE.toml`): ratios by the categories of the links."""
    ratios: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for passage in found.passages:
        for mention in passage.mentions:
            for link in mention.links:
                if link.categories and link.ratio is not None:
                    ratios[tuple(sorted(link.categories))].append(link.ratio)
    if not ratios:
        raise UsageError(
            "no link that was asked about has categories, or nobody has answered. Weights are by categories: assign "
            "them to the gold standard with karat data categorise before the survey."
        )
    every = [ratio for own in ratios.values() for ratio in own]
    lines = [
        f"# {found.name}: what share of {found.people} people would give links of these categories in {found.dataset}.",
        f"default = {sum(every) / len(every):.4f}",
        "",
        "[consensus]",
        *(f'"{" + ".join(key)}" = [{", ".join(f"{one:.4f}" for one in own)}]' for key, own in sorted(ratios.items())),
    ]
    return "\n".join(lines) + "\n"
