"""What `karat compare` prints and writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
import pyarrow as pa

from karat.comparison.compare import Ranks
from karat.comparison.drops import Drops
from karat.comparison.flips import Flips
from karat.comparison.homes import Home
from karat.comparison.means import Mean, MeanPair
from karat.comparison.runtimes import Runtimes
from karat.comparison.similarity.pooled import Alike
from karat.comparison.terms import Terms
from karat.comparison.tests import DatasetScores
from karat.comparison.winners import Winners
from karat.fitting import counted
from karat.model.result import IdHealth, health_lines
from karat.pages.files import Written, line
from karat.pages.scores import best, emphasised
from karat.pages.tables import Drawn, Layout, convention, layout_of

if TYPE_CHECKING:
    from karat.comparison.compare import Comparison
    from karat.comparison.flips import Detected
    from karat.comparison.samples import Estimate
    from karat.comparison.similarity import Likeness, Similarity, Together
    from karat.comparison.tests import Score
    from karat.model.result import Scored
    from karat.model.tables.arrow import Arrow

_NONE = "–"
_ORACLE = " oracle"
_MANY = 6  # names in a line


class DetectedShares(Written, frozen=True):
    """How a system links, on the mentions that it detects itself and on those that all systems detect."""

    mentions: int
    detected: int
    right: int
    common: int
    common_right: int
    coverage: float | None
    accuracy: float | None
    common_accuracy: float | None


class LikePair(Written, frozen=True):
    """Two systems under one relation on a dataset: how alike they are, and what each finds that the other does not.

    `documents` has the similarities in single documents.
    """

    dataset: str
    one: str
    two: str
    relation: str
    macro: float | None
    micro: float | None
    only_one: int
    right_one: int
    only_two: int
    right_two: int
    documents: Mapping[str, float]
    undefined: str | None


class MissedPair(Written, frozen=True):
    """How many gold mentions two systems both miss."""

    one: str
    two: str
    count: int


class FoundTogether(Written, frozen=True):
    """What all systems find under one relation on a dataset."""

    dataset: str
    relation: str
    gold: int
    found_by_any: int
    found_by_all: int
    missed_by_all: int
    found_alone: Mapping[str, int]
    missed_together: tuple[MissedPair, ...]
    oracle_recall: float | None


class ComparisonFile(Written, frozen=True):
    """What `karat compare --json` writes; scores are shares, and what cannot be computed is null with a reason."""

    layout: Literal["karat-comparison/1"]
    measure: str
    profile: str
    systems: tuple[str, ...]
    titles: Mapping[str, str]
    datasets: tuple[DatasetScores, ...]
    left_out: Mapping[str, str]
    means: Mapping[str, Mean]
    pairs: tuple[MeanPair, ...]
    ranks: Ranks | None
    detected: Mapping[str, Mapping[str, DetectedShares]]
    flips: tuple[Flips, ...]
    homes: tuple[Home, ...]
    runtimes: Runtimes
    similarity: tuple[LikePair, ...]
    winners: Winners | None
    drops: Drops | None
    id_health: Mapping[str, IdHealth]
    notes: tuple[str, ...]
    rule: Terms
    signature: str
    averaged: tuple[str, ...]
    detected_together: Mapping[str, DetectedShares]
    together: tuple[FoundTogether, ...]
    similarity_pooled: tuple[Alike, ...]
    oracle_thresholds: Mapping[str, Mapping[str, Mapping[str, float | None]]]


def json_of(found: Comparison) -> bytes:
    """All of it."""
    alike = {} if found.similarity is None else found.similarity.datasets
    return line(
        ComparisonFile(
            layout="karat-comparison/1",
            measure=found.measure,
            profile=found.profile,
            systems=found.systems,
            titles=found.titles,
            datasets=found.datasets,
            left_out=found.left_out,
            means=found.means,
            pairs=found.pairs,
            ranks=found.ranks,
            detected={name: _detected(row) for name, row in found.detected.items()},
            flips=found.flips,
            homes=found.homes,
            runtimes=found.runtimes,
            similarity=tuple(_like(pair, name) for name, own in alike.items() for pair in own.likeness),
            winners=found.winners,
            drops=found.drops,
            id_health=found.id_health,
            notes=found.notes,
            rule=found.rule,
            signature=str(found.signature),
            averaged=found.averaged,
            detected_together=_detected(found.detected_together),
            together=tuple(_together(group, name) for name, own in alike.items() for group in own.together),
            similarity_pooled=() if found.similarity is None else found.similarity.pooled,
            oracle_thresholds={name: own.thresholds for name, own in alike.items() if own.oracle},
        )
    )


def flips_of(found: Comparison) -> Iterator[bytes]:
    """Every mention that some systems get and others do not, on a line each."""
    encode = msgspec.json.Encoder().encode
    for each in found.mentions:
        for flip in each.lines():
            yield encode(flip) + b"\n"


def _detected(row: Mapping[str, Detected]) -> dict[str, DetectedShares]:
    return {
        system: DetectedShares(**{name: getattr(own, name) for name in DetectedShares.__struct_fields__})
        for system, own in row.items()
    }


def _like(pair: Likeness, dataset: str) -> LikePair:
    scores = {"macro": pair.macro.value, "micro": pair.micro.value, "undefined": pair.micro.reason}
    return LikePair(dataset=dataset, **(pair._asdict() | scores))


def _together(group: Together, dataset: str) -> FoundTogether:
    missed = tuple(MissedPair(one, two, count) for (one, two), count in group.missed_together.items())
    own = group._asdict() | {"missed_together": missed, "oracle_recall": group.oracle_recall}
    return FoundTogether(dataset=dataset, **own)


def page(found: Comparison, layout: str | None, *, details: bool, width: int | None = None) -> str:
    """All of it, as people read it."""
    laid = layout_of(layout, width)
    draw = laid.draw
    blocks = [_head(found), draw(_table(found), {0})]
    if found.left_out:
        blocks.append(f"not averaged: {'; '.join(f'{name} ({why})' for name, why in found.left_out.items())}")
    blocks += [_reading(found), draw(_pairs(found), {0})]
    blocks += [text for part in (_ranks, _drops, _common, _flips, _homes, _runtimes) for text in part(found, draw)]
    if found.similarity is not None:
        blocks += list(_alike(found, draw))
    if found.winners is not None:
        blocks += _winners(found, laid, details=details)
    if details:
        blocks += [draw(_details(found, dataset), {0}) for dataset in found.datasets if dataset.pairs]
    blocks += laid.notes([*health_lines(found.id_health.items()), *found.notes], details=details)
    return laid.page([*blocks, laid.signed(found.signature)])


def display(found: Comparison, layout: str) -> str:
    """The same without every pair on every dataset."""
    return page(found, layout, details=False)


def frame(found: Comparison) -> Arrow:
    """A row for each system on each dataset."""
    rows = [
        {"dataset": dataset.name, "system": system, "measure": found.measure}
        | {name: getattr(score, name) for name in ("value", "low", "high", "rank", "alone", "seconds")}
        | {"undefined": score.reason}
        for dataset in found.datasets
        for system, score in dataset.scores.items()
    ]
    return pa.Table.from_pylist(rows, schema=_FRAME)


_FRAME = pa.schema(
    [(name, pa.string()) for name in ("dataset", "system", "measure")]
    + [(name, pa.float64()) for name in ("value", "low", "high")]
    + [("rank", pa.int64()), ("alone", pa.bool_()), ("seconds", pa.float64()), ("undefined", pa.string())]
)


def _head(found: Comparison) -> str:
    names = [dataset.name for dataset in found.datasets]
    shown = ", ".join(names[:_MANY]) + (f" and {len(names) - _MANY} more" if len(names) > _MANY else "")
    level = 100 * (1 - found.rule.level)
    return (
        f"{counted(len(found.systems), 'system')} on {shown}: {convention(found.signature, found.measure)}, "
        f"in percent, {level:g} % intervals, rank in brackets"
    )


def _table(found: Comparison) -> list[list[str]]:
    """Datasets × systems, and the averages below."""
    rows = [["dataset", "documents", "mentions", "detectable", *found.systems]]
    for dataset in found.datasets:
        scores = [dataset.scores.get(system) for system in found.systems]
        leads = best(found.measure, [None if score is None else score.value for score in scores])
        cells = emphasised([_cell(score) for score in scores], leads)
        mentions = _NONE if dataset.mentions is None else f"{dataset.mentions:.0f}"
        least = _NONE if dataset.detectable is None else f"{100 * dataset.detectable.median:.1f}"
        rows.append([dataset.name, str(dataset.documents), mentions, least, *cells])
    number = len(found.averaged)
    if number > 1:
        means = [found.means[system] for system in found.systems]
        lines = (
            ("unweighted", [mean.unweighted for mean in means]),
            ("by mentions", [mean.weighted for mean in means]),
        )
        marks = [_ORACLE * any(d.scores[s].chosen for d in found.datasets if d.averaged) for s in found.systems]
        for name, values in lines:
            cells = [f"{_estimate(value)}{mark}" for value, mark in zip(values, marks, strict=True)]
            leads = best(found.measure, [estimate.value for estimate in values])
            rows.append([f"mean of {number}, {name}", "", "", "", *emphasised(cells, leads)])
    if found.ranks is not None:
        rows.append(["mean rank", "", "", "", *(f"{found.ranks.means[system]:.2f}" for system in found.systems)])
    return rows


def _cell(score: Score | None) -> str:
    if score is None or score.value is None:
        return _NONE
    rank = "" if score.rank is None else f" ({score.rank}{'*' * score.alone})"
    return f"{_plus_minus(score.value, score.low, score.high)}{rank}{_ORACLE * score.chosen}"


def _estimate(found: Estimate) -> str:
    return _NONE if found.value is None else _plus_minus(found.value, found.low, found.high)


def _plus_minus(value: float, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"{100 * value:.1f}"
    return f"{100 * value:.1f} ±{50 * (high - low):.1f}"


def _reading(found: Comparison) -> str:
    rule = found.rule
    number = sum(pair.p is not None for dataset in found.datasets for pair in dataset.pairs)
    name = {"holm": "Holm", "bh": "Benjamini and Hochberg"}[rule.correction]
    swapped = "systems change places" if rule.swap == "systems" else "differences change their sign"
    how = {
        "permutation": f"{rule.permutations} permutations of paired documents ({swapped})",
        "bootstrap": f"{rule.permutations} samples of paired documents (paired bootstrap)",
    }[rule.test]
    return (
        "rank: one more than how many systems are significantly better; those that cannot be told apart share one. "
        "*: significantly different from all others.\n"
        f"{counted(number, 'test')}: {how}, p ≤ {rule.level:g} after "
        f"correction by {name} for all pairs and datasets.\n"
        f"detectable: the difference in points that a single test would find with a chance of {100 * rule.power:g} %, "
        "the median of all pairs.\n"
        f"±: half the width of the interval from {rule.resamples} samples of documents."
    )


def _signed(value: float | None, digits: int = 1) -> str:
    return _NONE if value is None else f"{100 * value:+.{digits}f}".replace("-", "−")


def _p(value: float | None) -> str:
    return _NONE if value is None else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _pairs(found: Comparison) -> list[list[str]]:
    """Pairs of systems over all datasets, the better first."""
    number = len(found.averaged)
    head = f"mean of {number} datasets, unweighted" if number != 1 else f"on {found.averaged[0]}"
    won_and_lost = ["better", "worse", "open"] if number != 1 else []  # of one dataset the p-value says it
    rows = [[head, "difference", "low", "high", "p", "corrected", *won_and_lost]]
    for pair in found.pairs:
        turn = found.systems.index(pair.one) > found.systems.index(pair.two)
        names = (pair.two, pair.one) if turn else (pair.one, pair.two)
        values = [pair.difference, pair.low, pair.high]
        if turn:
            values = [None if value is None else -value for value in (pair.difference, pair.high, pair.low)]
        won = [pair.worse, pair.better, pair.open] if turn else [pair.better, pair.worse, pair.open]
        numbers = [*map(_signed, values), _p(pair.p), _p(pair.corrected), *map(str, won if won_and_lost else ())]
        rows.append([" − ".join(names), *numbers])
    return rows


def _details(found: Comparison, dataset: DatasetScores) -> list[list[str]]:
    rows = [[dataset.name, "difference", "low", "high", "p", "corrected", "effect", "detectable"]]
    for pair in dataset.pairs:
        effect = _NONE if pair.effect is None else f"{pair.effect:+.2f}".replace("-", "−")
        least = _NONE if pair.detectable is None else f"{100 * pair.detectable:.1f}"
        numbers = [*map(_signed, (pair.difference, pair.low, pair.high)), _p(pair.p), _p(pair.corrected), effect, least]
        rows.append([f"{pair.one} − {pair.two}", *numbers])
    return rows


def _ranks(found: Comparison, draw: Drawn) -> Iterator[str]:
    own = found.ranks
    if own is None:
        return
    groups = "; ".join(", ".join(group) for group in own.groups) or "none"
    yield (
        f"ranks over {own.datasets} datasets (Demšar 2006): Friedman's χ² {own.statistic:.1f}, p {_p(own.p)}; "
        f"critical difference {own.difference:.2f} (Nemenyi, {100 * (1 - found.rule.level):g} %)\n"
        f"not separable by their ranks: {groups}"
    )


def _drops(found: Comparison, draw: Drawn) -> Iterator[str]:
    """What systems lose between mentions and links, the smallest drop first."""
    own = found.drops
    if own is None or not own.mean:
        return
    over = next(iter(own.datasets)) if len(own.datasets) == 1 else f"mean of {len(own.datasets)} datasets"
    order = sorted(own.mean, key=lambda system: (own.mean[system].drop.value is None, own.mean[system].drop.value))
    rows = [
        [system, *map(_percent, (own.mean[system].mentions, own.mean[system].links)), _lost(own.mean[system].drop)]
        for system in order
    ]
    yield draw([[f"{over}, in percent", own.mentions, own.links, "drop"], *rows], {0})


def _lost(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return _percent(found.value)
    return f"{_percent(found.value)} [{_percent(found.low)}, {_percent(found.high)}]"


def _common(found: Comparison, draw: Drawn) -> Iterator[str]:
    """Accuracy on the mentions that all systems detected."""
    if not found.detected:
        return
    together = found.detected_together
    own = next(iter(together.values()))
    head = ["links, in percent", "coverage", "accuracy", "accuracy on common mentions"]
    rows = [
        [system, *(_percent(value) for value in (each.coverage, each.accuracy, each.common_accuracy))]
        for system, each in ((system, together[system]) for system in found.systems if system in together)
    ]
    yield draw([head, *rows], {0})
    yield (
        f"coverage: of {counted(own.mentions, 'mention')}, those that a system detects. accuracy: of these, those "
        f"that it links right. common: the {own.common} that all systems detect. All datasets together."
    )


def _percent(value: float | None) -> str:
    return _NONE if value is None else f"{100 * value:.1f}"


def _flips(found: Comparison, draw: Drawn) -> Iterator[str]:
    """What one system gets and the other does not."""
    if not found.flips:
        return
    yield draw(_flips_in_all(found.flips), {0})
    for label in [label for label in found.flips[0].by if label != "outcome"]:
        values = sorted({value for flips in found.flips for value in flips.by[label]})
        rows = [[f"flips by {label}", "mentions", *values]]
        for flips in found.flips:
            one, two = f"{flips.one} gets, {flips.two} not", f"{flips.two} gets, {flips.one} not"
            rows += [[one, str(flips.only_one), *_counts(flips, label, values, 0)]] * bool(flips.only_one)
            rows += [[two, str(flips.only_two), *_counts(flips, label, values, 1)]] * bool(flips.only_two)
        yield draw(rows, {0})


def _flips_in_all(found: Sequence[Flips]) -> list[list[str]]:
    """Flips of all pairs, by how the other failed."""
    values = sorted({value for flips in found for value in flips.by["outcome"]})
    failed = [f"other: {value}" for value in values]
    rows = [["flips: mentions that one gets", "only the first", *failed, "only the second", *failed, "McNemar's p"]]
    for flips in found:
        first, second = (_counts(flips, "outcome", values, side) for side in (0, 1))
        numbers = [str(flips.only_one), *first, str(flips.only_two), *second, _p(flips.p)]
        rows.append([f"{flips.one} / {flips.two}", *numbers])
    return rows


def _counts(flips: Flips, label: str, values: list[str], side: int) -> list[str]:
    return [str(flips.by[label].get(value, (0, 0))[side]) for value in values]


def _homes(found: Comparison, draw: Drawn) -> Iterator[str]:
    if found.homes:
        yield "\n".join(_home(home) for home in found.homes)


def _home(home: Home) -> str:
    said = (
        f"overfitting of {home.system}: {_percent(home.at_home.value)} on {', '.join(home.home)}, "
        f"{_percent(home.away.value)} on average over {counted(len(home.elsewhere), 'other')}: "
        f"index {_interval(home.index)}"
    )
    if home.beside.value is None:
        return f"{said}; beside other systems: {home.reason}"
    return f"{said}; beside {', '.join(home.others)} {_interval(home.beside)}"


def _interval(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return _signed(found.value)
    return f"{_signed(found.value)} [{_signed(found.low)}, {_signed(found.high)}]"


def _runtimes(found: Comparison, draw: Drawn) -> Iterator[str]:
    own = found.runtimes
    if own.seconds:
        rows = [[system, f"{1000 * own.seconds[system]:.3g}"] for system in found.systems if system in own.seconds]
        over = own.datasets[0] if len(own.datasets) == 1 else f"{len(own.datasets)} datasets"
        yield draw([[f"runtime over {over}", "ms per document"], *rows], {0})
        if own.left_out:
            yield f"without runtime: {'; '.join(f'{system} ({why})' for system, why in own.left_out.items())}"


def _alike(found: Comparison, draw: Drawn) -> Iterator[str]:
    """How alike systems are: in detail on one dataset, else over all of them."""
    own = found.similarity
    assert own is not None
    if len(own.datasets) == 1:
        yield from _similarity(next(iter(own.datasets.values())), draw)
        return
    systems = list(found.means)
    for relation in own.relations:
        pairs = {(pair.one, pair.two): pair for pair in own.pooled if pair.relation == relation}
        yield _matrix(
            f"{relation}: similarity in percent, macro/micro, {len(found.averaged)} datasets together",
            systems,
            lambda one, two, pairs=pairs: f"{_percent(pairs[one, two].macro)}/{_percent(pairs[one, two].micro)}",  # type: ignore[misc]
            draw,
        )
    oracles = [f"{name}: {note}" for name, each in own.datasets.items() for note in each.oracle]
    if oracles:
        yield "above their best thresholds (oracle)\n" + "\n".join(oracles)


def _matrix(head: str, systems: list[str], cell: Callable[[str, str], str], draw: Drawn) -> str:
    rows = [
        [one, *(cell(one, two) if place < other else "" for other, two in enumerate(systems) if other)]
        for place, one in enumerate(systems[:-1])
    ]
    return draw([[head, *systems[1:]], *rows], {0})


def _similarity(found: Similarity, draw: Drawn) -> Iterator[str]:
    if found.oracle:
        yield "similarity above their best thresholds (oracle)"
    for group in found.together:
        relation = group.relation
        pairs = {(pair.one, pair.two): pair for pair in found.likeness if pair.relation == relation}
        yield _matrix(
            f"{relation}: similarity in percent, macro/micro",
            list(found.runs),
            lambda one, two, pairs=pairs: _both(pairs[one, two].macro, pairs[one, two].micro),  # type: ignore[misc]
            draw,
        )
        only = [[f"{p.one}, not {p.two}", *_share(p.only_one, p.right_one)] for p in pairs.values()]
        only += [[f"{p.two}, not {p.one}", *_share(p.only_two, p.right_two)] for p in pairs.values()]
        yield draw([[f"{relation}: found by one only", "answers", "right", "%"], *only], {0})
        yield _found_together(group)
    yield from found.oracle


def _found_together(group: Together) -> str:
    recall = group.oracle_recall
    return "\n".join(
        [
            f"{group.relation}: of {counted(group.gold, 'gold mention')} {group.found_by_any} are found by "
            "at least one system"
            + (f" ({100 * recall:.1f} %, the recall of an oracle of all)" if recall is not None else "")
            + f", {group.found_by_all} by all, {group.missed_by_all} by none",
            f"  found by one alone: {', '.join(f'{name} {count}' for name, count in group.found_alone.items())}",
            "  missed together: "
            + ", ".join(f"{one} and {two} {count}" for (one, two), count in group.missed_together.items()),
        ]
    )


def _both(macro: Scored, micro: Scored) -> str:
    return f"{_percent(macro.value)}/{_percent(micro.value)}"


def _share(count: int, right: int) -> list[str]:
    return [str(count), str(right), f"{100 * right / count:.0f}" if count else _NONE]


def _conventions(profile: str, relation: str, membership: str, threshold: str) -> str:
    """Under what somebody leads: weights and thresholds only where they are not the usual ones."""
    return ", ".join([profile, relation, *[membership] * (membership != "whole"), *[threshold] * (threshold != "none")])


def _winners(found: Comparison, laid: Layout, *, details: bool) -> Iterator[str]:
    """Who leads under which conventions."""
    own = found.winners
    assert own is not None
    rows = [["conventions", "leader", "mean", "second", "lead"]]
    for lead in own.leads:
        margin = f"{_interval(lead.lead)}{'' if lead.separable else ' ≈'}"
        leaders = " = ".join(lead.leaders)
        conventions = _conventions(lead.profile, lead.relation, lead.membership, lead.threshold)
        rows.append([conventions, leaders, _estimate(lead.score), lead.second, margin])
    for row in own.unranked:
        where = "" if row.datasets == own.datasets else f" to {', '.join(row.datasets)}"
        conventions = _conventions(row.profile, "any", row.membership, row.threshold)
        rows.append([conventions, f"does not apply{where}", _NONE, _NONE, _NONE])
    yield laid.draw(rows, {0, 1, 3})
    wins = ", ".join(f"{name} {count}" for name, count in own.wins.items())
    yield (
        f"leads under {counted(len(own.leads), 'convention')}: {wins}. {counted(own.evaluations, 'evaluation')}; "
        f"unweighted means over {', '.join(own.datasets)}. ≈: not separable, for the interval holds 0."
    )
    reasons: dict[str, list[str]] = {}
    for what, why in own.not_possible.items():
        reasons.setdefault(why, []).append(what)
    not_possible = [f"not possible: {'; '.join(names)} ({why})" for why, names in reasons.items()]
    hints = [f"{note} ({counted(count, 'evaluation')})" for note, count in own.notes.items()]
    yield from laid.notes([*not_possible, *hints], details=details)
