"""Building of campaigns from a gold standard and the predictions of systems: links shown and order of tasks."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Final, NamedTuple

import msgspec
import numpy as np

from karat.evaluation.id_bridge import build_link_options
from karat.kb.ids.normal_forms import restore_fragment
from karat.kb.protocol import KB
from karat.matching.read.read_options import ReadOptions, canonical_ids, find_nil_items
from karat.model.corpus import Corpus
from karat.model.document import Label
from karat.model.errors import UnknownNameError, UsageError
from karat.model.run import Run
from karat.model.span import Span
from karat.model.tables.columns import NIL, NO_LINK, Longs, Mentions
from karat.protocols.campaigns.signatures import create_secret
from karat.protocols.verification.campaign import (
    DEFAULT_BATCH,
    UNSELECTED,
    Campaign,
    CampaignOptions,
    JudgingTask,
    TaskLink,
)
from karat.protocols.verification.controls import build_controls
from karat.protocols.verification.guidelines import CONSENT, GUIDELINES
from karat.protocols.verification.passages import MIN_LENGTH, split_passages
from karat.protocols.verification.posthoc import TextLink

GOLD: Final = "gold"
"""Name of the gold standard among the sources."""


class SourceLinks(NamedTuple):
    """Links of one source, and counts of its shown and excluded links."""

    links: dict[TextLink, int]
    """Distinct links, each with the row of its first occurrence."""
    counts: Counter[str]
    """Numbers of links, of links shown and of tasks, and of excluded links by reason."""


def build_campaign(
    corpus: Corpus,
    runs: Sequence[Run],
    *,
    name: str,
    kb: KB | None = None,
    seed: int = 0,
    judges: int = 1,
    batch: int = DEFAULT_BATCH,
    controls: int = 1,
    lease: float = 1800.0,
    priority: str = "all",
    length: int = MIN_LENGTH,
    control_tasks: Sequence[JudgingTask] | None = None,
    additions: bool = False,
    consent: str = CONSENT,
    guidelines: str = GUIDELINES,
    secret: str | None = None,
) -> Campaign:
    """Build a campaign: each task is one passage with all links of one source, including the gold standard.

    Ids are normalised as in scoring, by `kb` if there is one (see `build_link_options`), so that the spelling does not
    reveal the source. Without `control_tasks`, controls are built from links that all sources share, also if the
    priority does not show them. `priority` is a
    key of `PRIORITIES`, `length` the minimum length of a passage in characters. The same `seed` gives the same tasks.
    The controls among them depend on `secret` (default: a new one) instead, because judges may know the seed. Other
    parameters: see `CampaignOptions`. Raise `UsageError` if there are no links to judge, or sources share a name.
    """
    names = (GOLD, *(run.name for run in runs))
    if len(set(names)) < len(names):
        raise UsageError(
            f"sources need different names, not {', '.join(names)}. Pass each file once, and rename files of the same "
            "name."
        )
    selection = get_priority(priority)
    link_options = build_link_options(corpus, runs, kb)
    sources = [
        _collect_gold_links(corpus, link_options),
        *(collect_predicted_links(corpus, run, link_options) for run in runs),
    ]
    overlaps = find_overlaps([source.links for source in sources])
    texts = dict(zip(corpus.ids.to_pylist(), corpus.texts, strict=True))
    passages = {document: split_passages(text, length) for document, text in texts.items()}
    random = Random(f"{seed} {corpus.digest}")
    tasks: list[tuple[int, float, JudgingTask]] = []
    for index, source in enumerate(sources):
        selected = [link for link in source.links if selection.shows(overlaps[index][link])]
        source.counts[UNSELECTED] += len(source.links) - len(selected)
        for document, span, links in group_by_passage(selected, passages, source.counts):
            value = max(selection.value(overlaps[index][link]) for link in links)
            tasks.append((-value, random.random(), _build_task(document, span, links, texts[document], index)))
            source.counts["shown"] += len(links)
            source.counts["tasks"] += 1
    if not tasks:
        raise UsageError(
            f"there are no links to judge ({selection.description}). Pass predictions, or choose another priority."
        )
    ordered = [task for *_, task in sorted(tasks, key=lambda item: item[:2])]
    secret = secret or create_secret()
    if control_tasks is None:
        is_selective = any(source.counts[UNSELECTED] for source in sources)
        pool = _list_candidates(sources, passages, texts, ordered) if is_selective else ordered
        random_controls = Random(f"controls {secret}")
        control_tasks = build_controls(pool, len(sources), random_controls, kb, only_tested=is_selective)
    n_controls = controls if control_tasks else 0
    all_tasks = [*ordered, *(control_tasks if n_controls else ())]
    options = CampaignOptions(
        name=name,
        dataset=corpus.name,
        digest=corpus.digest,
        sources=names,
        documents=len(corpus),
        seed=seed,
        priority=priority,
        judges=judges,
        batch=batch,
        controls=n_controls,
        lease=lease,
        additions=additions,
        kb=None if link_options.kb is None else link_options.kb.name,
        consent=consent,
        guidelines=guidelines,
        counts={source: drop_zero_counts(task_links.counts) for source, task_links in zip(names, sources, strict=True)},
        gold_labels={
            document.id: tuple(map(_shorten_label, document.labels)) for document in corpus if document.labels
        },
    )
    if controls >= options.block_size:
        raise UsageError(
            f"{controls} of {options.block_size} tasks would be controls. Raise --tasks-per-judge, or pass --controls "
            "none."
        )
    return Campaign(options, number_tasks(all_tasks), secret)


def _build_task(document: str, span: Span, links: Iterable[TextLink], text: str, source: int) -> JudgingTask:
    """Return a task without number: the passage `span` of a document's text, with some links of a source."""
    task_links = tuple(TaskLink(link.start, link.end, link.entity) for link in links)
    return JudgingTask(0, document, span.start, text[span.start : span.end], source, task_links)


def _list_candidates(
    sources: Sequence[SourceLinks],
    passages: Mapping[str, Sequence[Span]],
    texts: Mapping[str, str],
    tasks: Iterable[JudgingTask],
) -> list[JudgingTask]:
    """Return tasks with all links of each source, also those not selected, on the passages of `tasks`.

    Controls need a task on the same passage: they count as taken when it is (see `CampaignStore`).
    """
    shown_passages = {(task.document, task.start) for task in tasks}
    return [
        _build_task(document, span, links, texts[document], index)
        for index, source in enumerate(sources)
        for document, span, links in group_by_passage(source.links, passages, Counter())
        if (document, span.start) in shown_passages
    ]


def _shorten_label(label: Label) -> Label:
    """Return a label with only those fields that decide how an overlay changes it."""
    return Label(
        label.start, label.end, label.entity, kind=label.kind, mention_id=label.mention_id, parent=label.parent
    )


def number_tasks(tasks: Iterable[JudgingTask]) -> tuple[JudgingTask, ...]:
    """Return copies of the tasks, numbered from 0 in their order."""
    return tuple(msgspec.structs.replace(task, number=number) for number, task in enumerate(tasks))


def drop_zero_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of a source without those that are zero, except the numbers of links, links shown and tasks."""
    return {name: count for name, count in counts.items() if count or name in ("links", "shown", "tasks")}


def group_by_passage(
    links: Iterable[TextLink], passages: Mapping[str, Sequence[Span]], counts: Counter[str]
) -> Iterator[tuple[str, Span, list[TextLink]]]:
    """Yield document id, passage and sorted links for each passage with links, in text order.

    `passages` has the passages of each document in text order. Links that cross the end of a passage are skipped and
    counted in `counts`.
    """
    by_passage: dict[tuple[str, int], list[TextLink]] = {}
    for link in links:
        spans = passages[link.document]
        row = bisect_right(spans, link.start, key=lambda span: span.start) - 1
        if link.end > spans[row].end:
            counts["cross the border of a passage"] += 1
        else:
            by_passage.setdefault((link.document, row), []).append(link)
    for (document, row), passage_links in sorted(by_passage.items()):
        yield document, passages[document][row], sorted(passage_links)


def _collect_gold_links(corpus: Corpus, link_options: ReadOptions) -> SourceLinks:
    """Return the distinct links of the gold standard, one per mention; count alternatives and parts as excluded."""
    rows = np.flatnonzero(corpus.mention_index.is_representative)
    n_others = len(corpus.labels) - len(rows)
    links = collect_links(corpus, corpus.labels, rows, corpus.ids.to_pylist(), link_options)
    links.counts["alternatives and parts of other labels"] += n_others
    return links


def collect_predicted_links(corpus: Corpus, run: Run, link_options: ReadOptions) -> SourceLinks:
    """Return the distinct links that a system predicted, and the counts of excluded ones."""
    rows = np.arange(len(run.predictions))
    return collect_links(corpus, run.predictions, rows, run.table.column("id").to_pylist(), link_options)


def collect_links(
    corpus: Corpus, mentions: Mentions, rows: Longs, ids: Sequence[str], link_options: ReadOptions
) -> SourceLinks:
    """Return the distinct links in some rows of `mentions`, with normalised entity ids, and counts of excluded links.

    `rows` are indices into `mentions`, `ids` the document ids that `mentions.document` refers to. Excluded are unlinked
    spans, NIL, repeated links, and links outside the evaluation span or in unknown documents.
    """
    names = list(map(restore_fragment, canonical_ids(mentions.names.to_pylist(), link_options)))
    entities = np.where(find_nil_items(mentions, link_options.nil_ids), NIL, mentions.entity)
    spans = evaluation_spans(corpus)
    counts: Counter[str] = Counter({"links": 0, "shown": 0, "tasks": 0})
    links: dict[TextLink, int] = {}
    columns = (mentions.document[rows], mentions.start[rows], mentions.end[rows], entities[rows])
    for row, document, start, end, entity in zip(rows.tolist(), *(column.tolist() for column in columns), strict=True):
        low, high = spans.get(ids[document], (0, 0))
        if entity in (NIL, NO_LINK):
            counts["NIL" if entity == NIL else "unlinked"] += 1
        elif start < low or end > high:
            counts["outside the evaluation span, or in an unknown document"] += 1
        else:
            counts["links"] += 1
            link = TextLink(ids[document], start, end, names[entity])
            counts["repeated"] += link in links
            links.setdefault(link, row)
    return SourceLinks(links, counts)


def evaluation_spans(corpus: Corpus) -> dict[str, tuple[int, int]]:
    """Return start and end of the evaluated part of each document, by document id; the whole text unless stated."""
    lengths = corpus.lengths.tolist()
    columns = corpus.table.column_names
    spans = (
        corpus.table.column("evaluation_span").to_pylist() if "evaluation_span" in columns else [None] * len(lengths)
    )
    rows = zip(corpus.ids.to_pylist(), spans, lengths, strict=True)
    return {document: tuple(span) if span else (0, length) for document, span, length in rows}


class LinkOverlap(NamedTuple):
    """A link of one source in relation to the links of the other sources."""

    is_gold: bool
    """Whether the source is the gold standard."""
    n_same: int
    """Number of other sources with the same link."""
    in_gold: bool
    """Whether the gold standard has the link."""
    rivals: Mapping[str, int]
    """Number of systems by other entity on overlapping spans."""
    n_systems: int
    """Number of systems besides the gold standard."""


class Priority(NamedTuple):
    """Selection and order of tasks. Tasks come in descending order of the highest value of their links."""

    description: str
    """Description."""
    shows: Callable[[LinkOverlap], bool]
    """Whether a link is shown."""
    value: Callable[[LinkOverlap], int] = lambda _: 0
    """Value of a link."""


def _rate_suspicion(link: LinkOverlap) -> int:
    """Return how suspicious a gold link is: systems that agree on another entity minus systems with the same link.

    Links of systems get a lower value than any gold link, so that they come last.
    """
    if not link.is_gold:
        return -link.n_systems - 1
    return max(link.rivals.values(), default=0) - link.n_same


PRIORITIES: Final[Mapping[str, Priority]] = {
    "all": Priority("all links, at random", lambda _: True),
    "disagreements": Priority("links that not all sources have", lambda link: link.n_same < link.n_systems),
    "false-positives": Priority("links of systems that the gold standard does not have", lambda link: not link.in_gold),
    "suspicious": Priority(
        "all links; first gold that most systems agree to link otherwise", lambda _: True, _rate_suspicion
    ),
}
"""Priorities by name."""


def get_priority(name: str) -> Priority:
    """Return the priority with this name; raise `UnknownNameError` if there is none."""
    if name not in PRIORITIES:
        raise UnknownNameError("priority", name, PRIORITIES)
    return PRIORITIES[name]


def find_overlaps(sources: Sequence[Iterable[TextLink]]) -> list[dict[TextLink, LinkOverlap]]:
    """Relate each link of each source to the links of the other sources; the first source is the gold standard.

    Return one dictionary per source, in order.
    """
    link_sets = [frozenset(links) for links in sources]
    links_by_document = [_group_by_document(links) for links in link_sets]
    return [
        {link: _link_overlap(link, index, link_sets, links_by_document) for link in links}
        for index, links in enumerate(link_sets)
    ]


def _group_by_document(links: Iterable[TextLink]) -> Mapping[str, list[TextLink]]:
    """Group links by document id."""
    groups = defaultdict(list)
    for link in links:
        groups[link.document].append(link)
    return groups


def _link_overlap(
    link: TextLink,
    index: int,
    link_sets: Sequence[frozenset[TextLink]],
    links_by_document: Sequence[Mapping[str, list[TextLink]]],
) -> LinkOverlap:
    """Relate one link of the source at `index` (0 is gold) to the links of the other sources.

    `link_sets` has the links of each source, `links_by_document` the same links by document.
    """
    others = [other for other in range(len(link_sets)) if other != index]
    rivals: Counter[str] = Counter()
    for system in (other for other in others if other):
        nearby = links_by_document[system].get(link.document, ())
        rivals.update(
            {
                other_link.entity
                for other_link in nearby
                if other_link.overlaps(link) and other_link.entity != link.entity
            }
        )
    same = sum(link in link_sets[other] for other in others)
    return LinkOverlap(index == 0, same, link in link_sets[0], rivals, len(link_sets) - 1)
