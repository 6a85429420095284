"""Campaigns made of a gold standard and the answers of systems."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Final, NamedTuple

import msgspec
import numpy as np

from karat.errors import InputError, UsageError
from karat.kb.any_spelling import in_any_spelling
from karat.kb.protocol import KB
from karat.matching.read.reading import Reading, resolved
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.span import Span
from karat.model.tables.columns import NIL, NO_LINK, Longs, Mentions
from karat.spec.choices.conventions import Ids
from karat.verification.campaign import CONTROL, Campaign, CampaignTerms, JudgingTask, ShownLink
from karat.verification.decisions import Decision
from karat.verification.guidelines import CONSENT, GUIDELINES
from karat.verification.passages import LENGTH, passages
from karat.verification.posthoc import LinkAt
from karat.verification.priorities import priority, sightings

GOLD: Final = "gold"
"""What the gold standard is called among the sources."""

_CONTROLS: Final = 3  # links in a control task
_KEPT: Final = 50  # control tasks that are made at most: a judge sees one or two of them


class SourceLinks(NamedTuple):
    """What a source links, each link once with a row that has it, and what cannot be judged."""

    links: dict[LinkAt, int]
    counts: Counter[str]


def campaign(
    corpus: Corpus,
    runs: Sequence[Run],
    *,
    name: str,
    kb: KB | None = None,
    seed: int = 0,
    judges: int = 1,
    batch: int = 20,
    controls: int = 1,
    lease: float = 1800.0,
    order: str = "all",
    length: int = LENGTH,
    own_controls: Sequence[JudgingTask] | None = None,
    additions: bool = False,
    consent: str = CONSENT,
    guidelines: str = GUIDELINES,
) -> Campaign:
    """Tasks for judges: each is one passage with all links of one source, the gold standard among them.

    Ids are shown as they are read, by the knowledge base if there is one, so that no spelling gives a source away.
    Without `own_controls`, control tasks are made of links that all sources share. The same seed gives the same tasks.
    """
    if batch and controls >= batch:
        raise UsageError(f"{controls} of {batch} tasks would be controls. Give a larger batch, or fewer controls.")
    names = (GOLD, *(run.name for run in runs))
    if len(set(names)) < len(names):
        raise UsageError(f"sources need different names, not {', '.join(names)}. Rename the files of answers.")
    chosen = priority(order)
    sources = [_gold(corpus, kb), *(answered(corpus, run, kb) for run in runs)]
    seen = sightings([source.links for source in sources])
    texts = dict(zip(corpus.ids.to_pylist(), corpus.texts, strict=True))
    cut = {document: passages(text, length) for document, text in texts.items()}
    random = Random(f"{seed} {corpus.digest}")
    tasks: list[tuple[int, float, JudgingTask]] = []
    for place, source in enumerate(sources):
        shown = [link for link in source.links if chosen.shows(seen[place][link])]
        source.counts["not asked for"] += len(source.links) - len(shown)
        for document, span, links in placed(shown, cut, source.counts):
            value = max(chosen.value(seen[place][link]) for link in links)
            found = tuple(ShownLink(link.start, link.end, link.entity) for link in links)
            task = JudgingTask(0, document, span.start, texts[document][span.start : span.end], place, found)
            tasks.append((-value, random.random(), task))
            source.counts["shown"] += len(links)
            source.counts["tasks"] += 1
    if not tasks:
        raise UsageError(f"there is nothing to judge ({chosen.says}). Give answers, or another priority.")
    ordered = [task for *_, task in sorted(tasks, key=lambda one: one[:2])]
    tests = list(own_controls) if own_controls is not None else agreed_controls(ordered, len(sources), random)
    wanted = controls if batch and tests else 0
    every = [*ordered, *(tests if wanted else ())]
    terms = CampaignTerms(
        name=name,
        dataset=corpus.name,
        digest=corpus.digest,
        sources=names,
        documents=len(corpus),
        seed=seed,
        priority=order,
        judges=judges,
        batch=batch,
        controls=wanted,
        lease=lease,
        additions=additions,
        kb=None if kb is None else kb.name,
        consent=consent,
        guidelines=guidelines,
        counts={source: told(found.counts) for source, found in zip(names, sources, strict=True)},
    )
    return Campaign(terms, numbered(every))


def numbered(tasks: Iterable[JudgingTask]) -> tuple[JudgingTask, ...]:
    """Tasks in the order in which they are offered."""
    return tuple(msgspec.structs.replace(task, number=number) for number, task in enumerate(tasks))


def told(counts: Mapping[str, int]) -> dict[str, int]:
    """What is said of a source: what it has and shows, and what was left out if anything was."""
    return {what: count for what, count in counts.items() if count or what in ("links", "shown", "tasks")}


def placed(
    links: Iterable[LinkAt], cut: Mapping[str, Sequence[Span]], counts: Counter[str]
) -> Iterator[tuple[str, Span, list[LinkAt]]]:
    """The passages of each document with the links that stand in them; what crosses a border is counted."""
    by_passage: dict[tuple[str, int], list[LinkAt]] = {}
    for link in links:
        spans = cut[link.document]
        row = bisect_right(spans, link.start, key=lambda span: span.start) - 1
        if link.end > spans[row].end:
            counts["cross the border of a passage"] += 1
        else:
            by_passage.setdefault((link.document, row), []).append(link)
    for (document, row), found in sorted(by_passage.items()):
        yield document, cut[document][row], sorted(found)


def _gold(corpus: Corpus, kb: KB | None) -> SourceLinks:
    rows = np.flatnonzero(corpus.units.mentions)
    others = len(corpus.labels) - len(rows)
    found = linked(corpus, corpus.labels, rows, corpus.ids.to_pylist(), kb)
    found.counts["alternatives and parts of other labels"] += others
    return found


def answered(corpus: Corpus, run: Run, kb: KB | None) -> SourceLinks:
    """What a system links."""
    return linked(corpus, run.answers, np.arange(len(run.answers)), run.table.column("id").to_pylist(), kb)


def linked(corpus: Corpus, mentions: Mentions, rows: Longs, ids: Sequence[str], kb: KB | None) -> SourceLinks:
    """The links in some rows, and what is left out: spans without link, NIL, repeats, what is not evaluated."""
    how = Reading(kb=None if kb is None else in_any_spelling(kb, Ids.NORMALISED), ids=Ids.NORMALISED)
    names = resolved(mentions.names.to_pylist(), how)
    inside = evaluated(corpus)
    counts: Counter[str] = Counter({"links": 0, "shown": 0, "tasks": 0})
    links: dict[LinkAt, int] = {}
    columns = (mentions.document[rows], mentions.start[rows], mentions.end[rows], mentions.entity[rows])
    for row, document, start, end, entity in zip(rows.tolist(), *(column.tolist() for column in columns), strict=True):
        low, high = inside.get(ids[document], (0, 0))
        if entity in (NIL, NO_LINK):
            counts["NIL" if entity == NIL else "without link"] += 1
        elif start < low or end > high:
            counts["outside the evaluation span, or of no document"] += 1
        else:
            counts["links"] += 1
            link = LinkAt(ids[document], start, end, names[entity])
            counts["repeated"] += link in links
            links.setdefault(link, row)
    return SourceLinks(links, counts)


def evaluated(corpus: Corpus) -> dict[str, tuple[int, int]]:
    """The part of each document that is scored."""
    lengths = corpus.lengths.tolist()
    given = corpus.table.column_names
    spans = corpus.table.column("evaluation_span").to_pylist() if "evaluation_span" in given else [None] * len(lengths)
    every = zip(corpus.ids.to_pylist(), spans, lengths, strict=True)
    return {document: tuple(span) if span else (0, length) for document, span, length in every}


def agreed_controls(tasks: Sequence[JudgingTask], sources: int, random: Random) -> list[JudgingTask]:
    """Control tasks made of what all sources share: two links as they are, and one led astray.

    A judge passes who verifies the first two, and modifies or removes the third, which stands on the entity of another
    document that this one never mentions. With one source nothing is shared, and no control is made.
    """
    by_passage: dict[tuple[str, int], list[JudgingTask]] = {}
    for task in tasks:
        by_passage.setdefault((task.document, task.start), []).append(task)
    entities = sorted({link.entity for task in tasks for link in task.links})
    mentioned: dict[str, set[str]] = {}
    for task in tasks:
        mentioned.setdefault(task.document, set()).update(link.entity for link in task.links)
    found = []
    for beside in by_passage.values():
        shared = set.intersection(*(set(task.links) for task in beside))
        foreign = [entity for entity in entities if entity not in mentioned[beside[0].document]]
        if sources < 2 or len(beside) < sources or len(shared) < _CONTROLS or not foreign:
            continue
        first, second, third = random.sample(sorted(shared, key=lambda link: (link.start, link.end)), _CONTROLS)
        kept = [ShownLink(link.start, link.end, link.entity, (Decision.VERIFY,)) for link in (first, second)]
        wrong = (Decision.MODIFY, Decision.REMOVE)
        links = [*kept, ShownLink(third.start, third.end, random.choice(foreign), wrong)]
        ordered = tuple(sorted(links, key=lambda link: (link.start, link.end)))
        found.append(JudgingTask(0, beside[0].document, beside[0].start, beside[0].text, CONTROL, ordered))
        if len(found) == _KEPT:
            break
    return found


def controls_of(where: str, lines: Iterable[Mapping[str, object]]) -> list[JudgingTask]:
    """Control tasks from the user's own file: a text and three links each, with the decisions that are right."""
    found = []
    for number, line in enumerate(lines, 1):
        try:
            task = msgspec.convert(
                {"number": 0, "document": "control", "start": 0, "source": CONTROL, **line}, JudgingTask
            )
        except msgspec.ValidationError as problem:
            raise InputError(
                f"{where}:{number}",
                found=str(problem),
                expected='{"text": "…", "links": [{"start": 0, "end": 6, "entity": "Q64", "right": ["verify"]}, …]}',
                remedy="Correct the line",
            ) from None
        if not task.links or not all(link.right and link.start < link.end <= len(task.text) for link in task.links):
            raise InputError(
                f"{where}:{number}",
                found="a link without right decisions, or outside the text, or no link",
                expected="three links that stand in the text, each with the decisions that are right",
                remedy="Correct the line",
            )
        found.append(task)
    return found
