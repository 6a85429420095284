"""The exhibits of the finding: tables, charts and one sentence each, all generated from the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import ceil
from statistics import median
from typing import Final

from karat.model.output.text_layout import format_count
from karat.model.profile_signatures import format_profile
from karat.model.registry import list_plugins
from karat.model.results.exhibit import Exhibit
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.protocols.suites.conventions.explanations import SEED, FlipExplanation, list_flips
from karat.protocols.suites.conventions.finding import ConventionFinding, PairOrder
from karat.protocols.suites.conventions.scores import (
    OPTIONS,
    POINT,
    REFERENCE,
    ProfileScores,
    choose_measure,
)
from karat.stats.significance.power import documents_needed

COMMAND: Final = "karat reproduce conventions --data DIR"
"""The command for values that no other command computes."""

_ORACLE: Final = "oracle"
"""ELEVANT's linker that reads the gold standard, which no other system can beat."""


def build_exhibits(datasets: Sequence[ProfileScores], profiles: tuple[str, ...], path: str) -> list[Exhibit]:
    """Return the exhibits of the finding; `path` is the folder of data, which command lines call DIR."""
    finding = ConventionFinding(datasets, profiles)
    return [
        _describe_data(finding),
        _count_flips(finding),
        _count_profile_pairs(finding),
        _name_settings(finding, path),
        _test_small_differences(finding),
        _estimate_documents(finding),
    ]


def _describe_data(finding: ConventionFinding) -> Exhibit:
    """Return the table of outputs and profiles, with data and fingerprints in the notes."""
    rows = []
    collections = dict.fromkeys(scores.files.collection for scores in finding.datasets)
    for collection in collections:
        group = [scores for scores in finding.datasets if scores.files.collection == collection]
        spreads = [spread for scores in group for spread in _list_spreads(scores)]
        rows.append(
            (
                collection,
                f"{len(group):,}",
                f"{sum(len(scores.systems) for scores in group):,}",
                f"{sum(len(scores.excluded) for scores in group):,}",
                f"{sum(len(scores.pairs) for scores in group):,}",
                f"{sum(len(row) for scores in group for row in scores.scores.values()):,}",
                _format_points(median(spreads)) if spreads else "–",
            )
        )
    n_outputs = sum(len(scores.systems) for scores in finding.datasets)
    spreads = [spread for scores in finding.datasets for spread in _list_spreads(scores)]
    n_undefined = sum(len(scores.systems) - len(row) for scores in finding.datasets for row in scores.scores.values())
    n_single = sum(not scores.pairs for scores in finding.datasets)
    aliases = sorted(set(list_plugins("profiles")) - set(finding.profiles))
    measures = ", ".join(f"{format_profile(name)} ({choose_measure(name)})" for name in finding.profiles)
    notes = [
        f"Profiles with fingerprint and measure: {measures}.",
        f"Profiles that differ from another one only in the measures listed are scored once: {', '.join(aliases)}.",
        *_format_reasons(
            "Outputs that are not scored",
            [(reason, scores.files.name) for scores in finding.datasets for reason in scores.excluded.values()],
        ),
        *_format_reasons(
            "Datasets that a profile cannot score",
            [
                (reason, f"{profile} on {scores.files.name}")
                for scores in finding.datasets
                for profile, reason in scores.inapplicable.items()
            ],
        ),
        *([f"Scores that are undefined: {n_undefined:,}."] if n_undefined else []),
        f"Datasets with fewer than two scored systems, which have no pair: {n_single:,}.",
        "GERBIL knows Wikidata's ids as addresses; on files that write Q42 its profile has the override prefixes=Q. No "
        "knowledge base is used.",
        f"Data: {', '.join(scores.data for scores in finding.datasets if scores.data)}.",
    ]
    title = (
        f"{format_count(n_outputs, 'output')} of real systems on {format_count(len(finding.datasets), 'dataset')} are "
        f"scored under {format_count(len(finding.profiles), 'profile')}; the score of one output varies with the "
        f"profile by {_format_points(median(spreads))} points in the median"
        if spreads
        else "No output could be scored"
    )
    heading = ("collection", "datasets", "outputs", "not scored", "pairs", "scores", "median range of one output")
    return Exhibit("Data", title, COMMAND, (), own_table=(heading, *rows), notes=tuple(notes))


def _list_spreads(scores: ProfileScores) -> list[float]:
    """Return the largest minus the smallest score of each system over the profiles."""
    values = {system: [row[system] for row in scores.scores.values() if system in row] for system in scores.systems}
    return [max(row) - min(row) for row in values.values() if row]


def _format_reasons(lead: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """Return a sentence with `lead` for each distinct reason in `items` of (reason, name), with count and names."""
    names: dict[str, list[str]] = {}
    for reason, name in items:
        names.setdefault(reason, []).append(name)
    return [
        f"{lead}: {len(group):,}, since {reason.rstrip('.')} ({', '.join(dict.fromkeys(group))})."
        for reason, group in names.items()
    ]


def _count_flips(finding: ConventionFinding) -> Exhibit:
    """Return in how many pairs of systems the better one changes, by dataset and on means."""
    rows = []
    by_name = {(scores.files.collection, scores.files.name): scores for scores in finding.datasets}
    for key, orders in finding.orders.items():
        rows.append((" ".join(key), *_count_row(finding, orders, by_name[key])))
    for collection, orders in finding.mean_orders.items():
        rows.append((f"mean over {collection}", *_count_row(finding, orders)))
    everything = [(by_name[key], order) for key, orders in finding.orders.items() for order in orders]
    n_pairs = len(everything)
    n_flips = sum(order.is_flipped(finding.profiles) for _, order in everything)
    n_same_task = sum(order.is_flipped(finding.task_profiles) for _, order in everything)
    n_reversals = finding.count_reversals(everything)
    n_ties = sum(order.is_tied_once for _, order in everything)
    real = [order for _, order in everything if _ORACLE not in order.pair]
    real_flips = sum(order.is_flipped(finding.profiles) for order in real)
    rows.append(("all datasets", f"{n_pairs:,}", f"{n_flips:,}", f"{n_same_task:,}", f"{n_ties:,}", f"{n_reversals:,}"))
    title = (
        f"The better of two systems changes with the profile in {_share(n_flips, n_pairs)} pairs; in "
        f"{_share(n_same_task, n_pairs)} it changes even among the {len(finding.task_profiles)} profiles of the same "
        f"task, and in {n_reversals:,} each system is significantly better under some profile"
    )
    notes = [
        "A pair is two systems on one dataset. It changes if one system has the higher score under one profile and "
        "the other system under another; a tie is no change, and is counted if the systems are equal under some "
        "profile only.",
        f"Profiles of the same task: {', '.join(finding.task_profiles)}; the others score the linking of gold "
        "mentions.",
        f"Significantly better: p ≤ {OPTIONS.alpha:g} in the paired permutation test over documents "
        f"({OPTIONS.permutations:,} permutations), without correction.",
        *(
            [f"Without the pairs of ELEVANT's oracle, which reads the gold standard: {_share(real_flips, len(real))}."]
            if len(real) < n_pairs
            else []
        ),
        "Several benchmarks of ELEVANT are versions of each other and share texts, so pairs are not independent.",
    ]
    without = [
        name
        for name in dict.fromkeys(scores.files.collection for scores in finding.datasets)
        if name not in finding.mean_orders
    ]
    if without:
        notes.append(f"No mean over {', '.join(without)}: fewer than two datasets have the same two systems.")
    return Exhibit(
        "Finding 1",
        title,
        "karat compare DIR/elevant/results/*/*.linked_articles.jsonl.gz --profile bat -m strong:micro.f1 --details\n"
        "karat compare DIR/elevant/results/*/*.linked_articles.jsonl.gz --profile zelda -m strong:micro.r --details\n"
        + COMMAND,
        (),
        own_table=(
            ("dataset", "pairs", "better one changes", "… in the same task", "tied once", "both significant"),
            *rows,
        ),
        notes=tuple(notes),
    )


def _count_row(
    finding: ConventionFinding, orders: Sequence[PairOrder], scores: ProfileScores | None = None
) -> tuple[str, str, str, str, str]:
    """Return the counts of pairs of a dataset, or of means without `scores`, which are not tested."""
    reversals = "–" if scores is None else f"{finding.count_reversals((scores, order) for order in orders):,}"
    return (
        f"{len(orders):,}",
        f"{sum(order.is_flipped(finding.profiles) for order in orders):,}",
        f"{sum(order.is_flipped(finding.task_profiles) for order in orders):,}",
        f"{sum(order.is_tied_once for order in orders):,}",
        reversals,
    )


def _count_profile_pairs(finding: ConventionFinding) -> Exhibit:
    """Return in how many pairs of systems the better one changes between each two profiles."""
    flips = Counter(flip.profiles for order in finding.all_orders for flip in list_flips(*order))
    ties: Counter[tuple[str, str]] = Counter()
    totals: Counter[tuple[str, str]] = Counter()
    for order in finding.all_orders:
        for profiles in combinations(sorted(order.differences), 2):
            values = [order.differences[name] for name in profiles]
            totals[profiles] += 1
            ties[profiles] += any(values) and not all(values)
    names = sorted(finding.profiles)
    rows = [
        (first, *("" if second <= first else str(flips[first, second]) for second in names[1:])) for first in names[:-1]
    ]
    ranked = sorted(totals, key=lambda key: (-flips[key] / totals[key], key))
    largest = ranked[0] if ranked else None
    n_changed = sum(flips[key] > 0 for key in totals)
    title = (
        f"{_share(n_changed, len(totals))} pairs of profiles disagree on the better system somewhere; "
        f"{largest[0]} and {largest[1]} disagree most, in {_share(flips[largest], totals[largest])} pairs of systems"
        if largest
        else "No pair of systems was scored under two profiles"
    )
    bars = [PlotPoint(" / ".join(key), 100 * flips[key] / totals[key]) for key in ranked if flips[key]]
    notes = (
        f"Over all pairs of profiles, {_share(sum(flips.values()), sum(totals.values()))} comparisons of two systems "
        f"under two profiles reverse the order, and in {sum(ties.values()):,} the systems are tied under one of the "
        "two profiles.",
        f"Pairs of systems per pair of profiles: {_format_range(totals.values())}.",
    )
    return Exhibit(
        "Finding 2",
        title,
        COMMAND,
        (),
        plots=(
            Plot(
                "bars",
                "Pairs of systems whose better one changes between two profiles",
                (PlotSeries("pairs that change", tuple(bars)),),
                x_title="profiles",
                y_title="pairs of systems (%)",
            ),
        )
        if bars
        else (),
        own_table=(("profile", *names[1:]), *rows),
        notes=notes,
    )


def _name_settings(finding: ConventionFinding, path: str) -> Exhibit:
    """Return which setting is responsible for the changes that were explained."""
    explanations = [(scores, item) for scores in finding.datasets for item in scores.explanations]
    mains = Counter(item.main_setting for _, item in explanations)
    sufficient = Counter(name for _, item in explanations for name in item.sufficient)
    n_sufficient = sum(bool(item.sufficient) for _, item in explanations)
    shares: dict[str, list[float]] = {}
    for _, item in explanations:
        change = item.flip.differences[1] - item.flip.differences[0]
        for name, share in item.shares.items():
            shares.setdefault(name, []).append(share if change > 0 else -share)
    order = sorted(shares, key=lambda name: (-mains[name], -sum(shares[name]), name))
    n_explained = len(explanations)
    total_change = sum(abs(item.flip.differences[1] - item.flip.differences[0]) for _, item in explanations)
    n_flipped = sum(item.is_flipped(finding.profiles) for item in finding.all_orders)
    n_flips = sum(len(list_flips(*item)) for item in finding.all_orders)
    rows = [
        (
            name,
            f"{len(shares[name]):,}",
            f"{mains[name]:,}",
            f"{100 * sum(shares[name]) / total_change:.1f} %",
            f"{sufficient[name]:,}",
        )
        for name in order
        if any(abs(share) > 1e-12 for share in shares[name])
    ]
    null = [name for name in order if all(abs(share) <= 1e-12 for share in shares[name])]
    title = (
        f"The setting {order[0]} has the largest share in {_share(mains[order[0]], n_explained)} explained changes; a "
        f"single setting alone reverses the order in {_share(n_sufficient, n_explained)}"
        if order
        else "No change of order was explained"
    )
    notes = [
        f"{_share(n_explained, n_flipped)} pairs of systems whose better one changes are explained, each by one pair "
        f"of profiles that reverses it, drawn at random (seed {SEED}) from {n_flips:,} reversals.",
        "Shares are Shapley values: the average contribution of a setting over all orders in which the settings "
        "switch. The share in the difference of two systems is the first system's share minus the second's.",
        "Share of all changes: of the sum of all explained changes in points. A setting that works against the "
        "changes has a negative share. Settings that only make sense together switch together; measure stands for "
        "another headline measure.",
        *([f"Without effect in all explained changes: {', '.join(null)}."] if null else []),
        *_format_reasons(
            "Pairs that are not explained",
            [
                (reason, f"{' and '.join(pair)} on {scores.files.name}")
                for scores in finding.datasets
                for pair, reason in scores.unexplained.items()
            ],
        ),
    ]
    bars = tuple(PlotPoint(name, float(mains[name])) for name in order if mains[name])
    alone = tuple(PlotPoint(name, float(sufficient[name])) for name in order if mains[name])
    return Exhibit(
        "Finding 3",
        title,
        "\n".join([*_list_why_commands(explanations, path), COMMAND]),
        (),
        plots=(
            Plot(
                "bars",
                "Settings that change which system is better",
                (PlotSeries("largest share", bars), PlotSeries("alone reverses the order", alone)),
                x_title="setting",
                y_title="pairs of systems",
            ),
        )
        if bars
        else (),
        own_table=(("setting", "differs in", "largest share in", "share of all changes", "alone reverses"), *rows),
        notes=tuple(notes),
    )


def _list_why_commands(explanations: Sequence[tuple[ProfileScores, FlipExplanation]], path: str) -> list[str]:
    """Return the command lines that compute the shares of the first explained change, one for each system."""
    lines = []
    for scores, item in explanations[:1]:
        reference, target = item.flip.profiles
        for system in item.flip.pair:
            file = scores.paths[system]
            gold = scores.files.golds[0] if scores.files.golds else file
            arguments = " ".join(name.replace(path.rstrip("/"), "DIR", 1) for name in (gold, file))
            overrides = "".join(
                f" --{option} {name}={value}"
                for option, profile in (("set-reference", reference), ("set", target))
                for name, value in scores.overrides.get(profile, {}).items()
            )
            lines.append(
                f"karat why {arguments} --reference-profile {reference} --profile {target} "
                f"--reference-measure {choose_measure(reference)} -m {choose_measure(target)}{overrides}"
            )
    return lines


def _test_small_differences(finding: ConventionFinding) -> Exhibit:
    """Return how many differences of less than a point cannot be told from chance."""
    rows: list[tuple[str, ...]] = []
    series = []
    items = list(zip(finding.small_differences, finding.corrected, strict=True))
    for profile in finding.profiles:
        group = [(item, corrected) for item, corrected in items if item.profile == profile]
        tested = [(item.p, corrected) for item, corrected in group if item.p is not None and corrected is not None]
        rows.append(
            (
                profile,
                f"{sum(profile in order.differences for order in finding.all_orders):,}",
                f"{len(group):,}",
                f"{len(group) - len(tested):,}",
                f"{sum(p > OPTIONS.alpha for p, _ in tested):,}",
                f"{sum(corrected > OPTIONS.alpha for _, corrected in tested):,}",
            )
        )
        points = tuple(PlotPoint(100 * abs(item.difference), item.p) for item, _ in group if item.p is not None)
        if points:
            series.append(PlotSeries(profile, points))
    tested = [(item.p, corrected) for item, corrected in items if item.p is not None and corrected is not None]
    n_chance = sum(p > OPTIONS.alpha for p, _ in tested)
    n_corrected = sum(corrected > OPTIONS.alpha for _, corrected in tested)
    totals = [sum(int(row[index].replace(",", "")) for row in rows) for index in range(1, 6)]
    rows.append(("all profiles", *(f"{total:,}" for total in totals)))
    title = (
        f"{_share(n_chance, len(tested))} differences of less than one point cannot be told from chance, and "
        f"{n_corrected:,} after correction"
        if tested
        else "No difference of less than one point could be tested"
    )
    notes = (
        "A difference is that of two systems on one dataset under one profile; ties are not counted.",
        f"Paired permutation test over documents, two-sided, {OPTIONS.permutations:,} permutations, alpha "
        f"{OPTIONS.alpha:g}, seed {OPTIONS.seed}. Correction: Holm, over all differences of less than a point under "
        "the same profile.",
        f"Not tested: {len(items) - len(tested):,} differences on a single document.",
        "A difference that cannot be told from chance may still be real: the benchmark is too small to show it.",
    )
    return Exhibit(
        "Finding 4",
        title,
        "karat compare DIR/elevant/results/*/*.linked_articles.jsonl.gz --details\n" + COMMAND,
        (),
        plots=(
            Plot(
                "dots",
                "Differences of less than one point",
                tuple(series),
                x_title="difference (points)",
                y_title="p-value",
                y_range=(0.0, 1.0),
            ),
        )
        if series
        else (),
        own_table=(
            ("profile", "pairs", "below one point", "not tested", "within chance", "… after correction"),
            *rows,
        ),
        notes=notes,
    )


def _estimate_documents(finding: ConventionFinding) -> Exhibit:
    """Return how many documents each dataset would need to tell systems apart."""
    rows, present, needed = [], [], []
    small: dict[str, list[int]] = {}
    for item in finding.small_differences:
        if item.documents_needed is not None:
            small.setdefault(item.dataset.files.name, []).append(item.documents_needed)
    n_enough = 0
    factors = []
    for scores in finding.datasets:
        counts = [
            count
            for error in scores.reference_errors.values()
            if (count := _documents_for_point(error, scores.n_documents)) is not None
        ]
        if not counts:
            continue
        name = scores.files.name
        typical = ceil(median(counts))
        n_enough += typical <= scores.n_documents
        factors.append(typical / scores.n_documents)
        of_small = small.get(name, [])
        rows.append(
            (
                f"{scores.files.collection} {name}",
                f"{scores.n_documents:,}",
                f"{typical:,}",
                f"{typical / scores.n_documents:.1f}",
                f"{len(of_small):,}",
                f"{ceil(median(of_small)):,}" if of_small else "–",
            )
        )
        present.append(PlotPoint(name, float(scores.n_documents)))
        needed.append(PlotPoint(name, float(typical)))
    all_small = [(item.documents_needed, item.dataset.n_documents) for item in finding.small_differences]
    ratios = [count / size for count, size in all_small if count is not None]
    title = (
        f"To show a true difference of one point, a benchmark needs {median(factors):.1f} times its documents in the "
        f"median; {_share(n_enough, len(rows))} datasets have enough. The observed differences of less than one point "
        f"need {median(ratios):,.0f} times the documents"
        if factors and ratios
        else "The number of documents could not be estimated"
    )
    notes = (
        f"Documents needed: for a two-sided test at level {OPTIONS.alpha:g} to find the difference with probability "
        f"{OPTIONS.power:g}, if further documents are like those at hand. The standard error of the difference is "
        f"estimated from {OPTIONS.resamples:,} bootstrap samples of documents (seed {OPTIONS.seed}).",
        f"For one point: the median over all pairs of systems under the profile {format_profile(REFERENCE)}. For the "
        "observed differences of less than one point: the median over these differences under all profiles.",
        "Datasets of a single document, and pairs whose difference has the standard error 0, have no estimate.",
    )
    return Exhibit(
        "Finding 5",
        title,
        "karat compare DIR/elevant/results/*/*.linked_articles.jsonl.gz --details\n" + COMMAND,
        (),
        plots=(
            Plot(
                "bars",
                "Documents needed to show a difference of one point",
                (PlotSeries("documents", tuple(present)), PlotSeries("documents needed", tuple(needed))),
                x_title="dataset",
                y_title="documents",
            ),
        )
        if rows
        else (),
        own_table=(
            ("dataset", "documents", "needed for one point", "factor", "differences below one point", "needed"),
            *rows,
        ),
        notes=notes,
    )


def _documents_for_point(error: float, n_documents: int) -> int | None:
    """Return the number of documents that show a difference of one point; None if the standard error is 0."""
    if not error:
        return None
    return documents_needed(POINT, error, n_documents, confidence=1 - OPTIONS.alpha, power=OPTIONS.power)


def _share(count: int, total: int) -> str:
    """Return `count` of `total` with the percentage."""
    return f"{count:,} of {total:,} ({100 * count / total:.0f} %)" if total else f"{count:,} of 0"


def _format_points(score: float) -> str:
    """Return a difference of scores in points."""
    return f"{100 * score:.1f}"


def _format_range(counts: Iterable[int]) -> str:
    """Return the smallest and the largest of `counts`, or one number if they are equal."""
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
