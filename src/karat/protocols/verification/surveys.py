"""Surveys: which links people want for a mention.

As in section 2 of Rosales-Méndez, Hogan and Poblete, Fine-Grained Evaluation for Entity Linking, 2019. No answer is
wrong. The result is the share of people who would annotate a mention, and who would give it each of the proposed links.
Fuzzy recall can use these shares as weights.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from karat.evaluation.id_bridge import build_link_options
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.output.json_files import JsonRecord
from karat.model.run import Run
from karat.protocols.verification.campaign import (
    UNLIMITED_JUDGES,
    Campaign,
    CampaignOptions,
    JudgingTask,
    ProposedLink,
    TaskLink,
)
from karat.protocols.verification.campaign_builder import (
    GOLD,
    collect_links,
    collect_predicted_links,
    drop_zero_counts,
    group_by_passage,
    number_tasks,
)
from karat.protocols.verification.guidelines import SURVEY_CONSENT, SURVEY_GUIDELINES
from karat.protocols.verification.judgements import Decision, Judgement, effective_judgements
from karat.protocols.verification.passages import MIN_LENGTH, split_passages
from karat.protocols.verification.posthoc import TextLink


def build_survey(
    corpus: Corpus,
    runs: Sequence[Run],
    *,
    name: str,
    kb: KB | None = None,
    seed: int = 0,
    judges: int = UNLIMITED_JUDGES,
    batch: int = 0,
    lease: float = 1800.0,
    length: int = MIN_LENGTH,
    consent: str = SURVEY_CONSENT,
    guidelines: str = SURVEY_GUIDELINES,
) -> Campaign:
    """Build a survey: each task is one passage with the mentions of all sources, and all links proposed for them.

    The gold standard proposes all its alternatives, with the categories of its labels. The same `seed` gives the same
    tasks; `length` is the minimum length of a passage. Other parameters: see `CampaignOptions`. Raise `UsageError` if
    there is no linked mention.
    """
    labels = corpus.labels
    link_options = build_link_options(corpus, runs, kb)
    gold = collect_links(corpus, labels, np.arange(len(labels)), corpus.ids.to_pylist(), link_options)
    sources = [gold, *(collect_predicted_links(corpus, run, link_options) for run in runs)]
    column = labels.field("categories")
    categories_by_row = [()] * len(labels) if column is None else [tuple(names or ()) for names in column.to_pylist()]
    options: dict[TextLink, dict[str, ProposedLink]] = defaultdict(dict)
    for source in sources:
        for link, row in source.links.items():
            categories = categories_by_row[row] if source is gold else ()
            options[link._replace(entity="")].setdefault(link.entity, ProposedLink(link.entity, categories))
    texts = dict(zip(corpus.ids.to_pylist(), corpus.texts, strict=True))
    passages = {document: split_passages(text, length) for document, text in texts.items()}
    crossing: Counter[str] = Counter()
    random = Random(f"{seed} {corpus.digest}")
    tasks = []
    for document, span, mentions in group_by_passage(options, passages, crossing):
        task_links = [
            TaskLink(mention.start, mention.end, "", options=_shuffle_options(options[mention], random))
            for mention in mentions
        ]
        tasks.append(JudgingTask(0, document, span.start, texts[document][span.start : span.end], 0, tuple(task_links)))
    if not tasks:
        raise UsageError("there is no linked mention. Pass a gold standard or predictions with links.")
    random.shuffle(tasks)
    mentions_shown = sum(len(task.links) for task in tasks)
    campaign_options = CampaignOptions(
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
        kb=None if link_options.kb is None else link_options.kb.name,
        consent=consent,
        guidelines=guidelines,
        counts={
            "mentions": {"shown": mentions_shown, "tasks": len(tasks), **crossing},
            **{
                source: {
                    kind: count
                    for kind, count in drop_zero_counts(source_links.counts).items()
                    if kind not in ("shown", "tasks")
                }
                for source, source_links in zip((GOLD, *(run.name for run in runs)), sources, strict=True)
            },
        },
    )
    return Campaign(campaign_options, number_tasks(tasks))


def _shuffle_options(options: dict[str, ProposedLink], random: Random) -> tuple[ProposedLink, ...]:
    """Return the proposed links in random order, so that their position does not reveal the source."""
    return tuple(random.sample(sorted(options.values(), key=lambda option: option.entity), len(options)))


class LinkRatio(JsonRecord, frozen=True):
    """Votes for a proposed link."""

    entity: str
    """Id of the entity."""
    categories: tuple[str, ...]
    """Categories of the link."""
    votes: int
    """Number of people who would give the link."""
    ratio: float | None
    """Share of the respondents; None without any."""


class MentionRatio(JsonRecord, frozen=True):
    """Answers about a mention."""

    document: str
    """Id of the document."""
    start: int
    """Start of the mention in the document."""
    end: int
    """End of the mention in the document."""
    surface: str
    """Text of the mention."""
    respondents: int
    """Number of people who answered."""
    annotators: int
    """Number of people who would annotate the mention."""
    ratio: float | None
    """Share of `annotators` in `respondents`; None without any."""
    links: tuple[LinkRatio, ...]
    """Proposed links, the most votes first."""


class SurveyPassage(NamedTuple):
    """A passage with its mentions in order."""

    document: str
    """Id of the document."""
    start: int
    """Start of the passage in the document."""
    text: str
    """Text."""
    mentions: tuple[MentionRatio, ...]
    """Mentions."""


class Survey(NamedTuple):
    """Results of a survey."""

    name: str
    """Name of the campaign."""
    dataset: str
    """Name of the dataset."""
    people: int
    """Number of people who answered."""
    passages: tuple[SurveyPassage, ...]
    """Passages with their results."""
    excluded: dict[str, int]
    """Number of excluded records by reason."""


def summarise_survey(campaign: Campaign, records: Iterable[Judgement]) -> Survey:
    """Count the choices of people for each mention and link.

    Records of automatic judges, withdrawn records and skipped tasks are excluded and counted.

    Raise `UsageError` if the campaign is no survey.
    """
    campaign = campaign.require_kind("survey")
    all_records = list(records)
    all_effective = effective_judgements(all_records)
    effective = [record for record in all_effective if record.machine is None]
    choices: dict[tuple[int, int], list[Judgement]] = defaultdict(list)
    for record in effective:
        if record.decision is Decision.CHOOSE and record.link is not None:
            choices[record.task, record.link].append(record)
    people = {record.judge for group in choices.values() for record in group}
    excluded = {
        "undone, or answered again": sum(record.decision is not Decision.UNDO for record in all_records)
        - len(all_effective),
        "tasks skipped": sum(record.decision is Decision.SKIP for record in effective),
        "of automatic judges": len(all_effective) - len(effective),
    }
    tasks = sorted(campaign.tasks, key=lambda task: (task.document, task.start))
    return Survey(
        campaign.options.name,
        campaign.options.dataset,
        len(people),
        tuple(
            SurveyPassage(
                task.document,
                task.start,
                task.text,
                tuple(
                    _count_mention_votes(task, link, choices[task.number, index])
                    for index, link in enumerate(task.links)
                ),
            )
            for task in tasks
        ),
        {reason: count for reason, count in excluded.items() if count},
    )


def _count_mention_votes(task: JudgingTask, link: TaskLink, choices: Sequence[Judgement]) -> MentionRatio:
    """Count the people who would annotate a mention, and who chose each proposed link.

    `choices` has one record per respondent; a record without chosen links means: do not annotate.
    """
    respondents, annotators = len(choices), sum(bool(item.chosen) for item in choices)
    votes = Counter(entity for item in choices for entity in item.chosen)
    links = [
        LinkRatio(
            item.entity, item.categories, votes[item.entity], votes[item.entity] / respondents if respondents else None
        )
        for item in link.options
    ]
    return MentionRatio(
        task.document,
        link.start,
        link.end,
        task.surface(link),
        respondents,
        annotators,
        annotators / respondents if respondents else None,
        tuple(sorted(links, key=lambda item: (-item.votes, item.entity))),
    )


def format_membership(survey: Survey) -> str:
    """Format the TOML file of a membership function for fuzzy recall (`--set membership=FILE.toml`).

    The file lists the ratios of all links by set of categories; the default is the mean ratio. Raise `UsageError` if no
    link with categories has answers.
    """
    links = [link for passage in survey.passages for mention in passage.mentions for link in mention.links]
    if not any(link.categories for link in links):
        raise UsageError(
            f"{survey.name}: no link has categories, and weights are by category. Assign categories to the gold "
            "standard with karat data categorise, and create the survey again."
        )
    ratios: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for link in links:
        if link.categories and link.ratio is not None:
            ratios[tuple(sorted(link.categories))].append(link.ratio)
    if not ratios:
        raise UsageError(f"{survey.name}: no link with categories has an answer. Let people answer the survey.")
    all_ratios = [ratio for values in ratios.values() for ratio in values]
    lines = [
        f"# {survey.name}: share of {survey.people} people who want links of these categories in {survey.dataset}.",
        f"default = {sum(all_ratios) / len(all_ratios):.4f}",
        "",
        "[consensus]",
        *(
            f'"{" + ".join(key)}" = [{", ".join(f"{ratio:.4f}" for ratio in values)}]'
            for key, values in sorted(ratios.items())
        ),
    ]
    return "\n".join(lines) + "\n"
