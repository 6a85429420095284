"""Tables and figures of scores: Table 3, Figures 4 and 5, and the claims of sections 5 to 7."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final, Literal, TypeAlias

import numpy as np

from karat.analysis.curves.alpha import AlphaCurve, alpha_curve, alpha_values, compute_alpha_curve, find_leaders
from karat.analysis.curves.categories import CategoryCurve, compute_category_curve
from karat.analysis.curves.curve_set import CurveOptions
from karat.evaluation.evaluation import Evaluation, score_run
from karat.model.corpus import Corpus
from karat.model.document import Document, Label, Prediction, Response
from karat.model.finegrained_scheme import DIMENSIONS, get_leaves, get_title
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.model.results.result import Result
from karat.model.run import Run
from karat.protocols.papers.claims import describe_share
from karat.protocols.suites.finegrained_2019.paper_data import SYSTEMS, PaperData, score_command
from karat.protocols.suites.finegrained_2019.published_tables import FIGURE_2, FIGURE_5
from karat.protocols.suites.finegrained_2019.questionnaire import mention_categories
from karat.systems.claims.finegrained_2019 import MEASURES, NAMES, TABLE_3, find_category, parse_header, parse_rows

_MEASURE_TITLES: Final = {"P": "precision", "R": "recall", "F1": "F1"}
_WITH_COMMON: Final = ("B_r", "T")
"""The systems that link common entities too, in the words of the paper."""

_STRICT: Final = ("form:ProperForm", "pos:NounPhrase", "overlap:None", "reference:Direct")
"""The categories that are strict in section 6, one of each dimension."""

Membership: TypeAlias = Literal["strict", "strict-code"]
"""The membership function of the paper's text, and that of the authors' program."""


@dataclass(frozen=True)
class PaperScores:
    """The scores of every system whose files are at hand; each is computed on first use."""

    paper: PaperData
    """The data."""

    @cached_property
    def results(self) -> Mapping[str, Result]:
        """The result of each system, by category."""
        return {system: self._evaluate(run) for system, run in self.paper.runs.items()}

    @cached_property
    def results_as_written(self) -> Mapping[str, Result]:
        """`results` with escapes in links left as they are; a system without escapes has the same result."""
        return {
            system: self.results[system] if run.digest == self.paper.runs[system].digest else self._evaluate(run)
            for system, run in self.paper.runs_as_written.items()
        }

    def _evaluate(self, run: Run) -> Result:
        """Score a run as Table 3 does."""
        return score_run(self.paper.unified, run, profile="finegrained", by=["category"])

    @cached_property
    def category_curves(self) -> Mapping[str, Mapping[str, CategoryCurve]]:
        """The curve over ranked combinations of each system, by measure and system."""
        curves = {system: self.compute_category_curves(run) for system, run in self.paper.runs.items()}
        return {short: {system: item[short] for system, item in curves.items()} for short in MEASURES}

    def compute_category_curves(self, run: Run) -> dict[str, CategoryCurve]:
        """Return the curves of a run over ranked combinations, by measure."""
        request = CurveOptions.from_options("categories").request
        evaluation = Evaluation.from_data(request, self.paper.unified, run)
        return {short: compute_category_curve(evaluation, name) for short, name in MEASURES.items()}

    @cached_property
    def alpha_curves(self) -> Mapping[Membership, Mapping[str, AlphaCurve]]:
        """The curve over alpha by membership function and system, with links as the authors read them."""
        request = CurveOptions.from_options("alpha").request
        evaluations = {
            system: Evaluation.from_data(request, self.paper.unified, run)
            for system, run in self.paper.runs_as_written.items()
        }
        memberships: tuple[Membership, ...] = ("strict", "strict-code")
        return {
            preset: {system: compute_alpha_curve(item, request, preset) for system, item in evaluations.items()}
            for preset in memberships
        }

    def explain_missing(self, *systems: str) -> Explanation | None:
        """Return which file `systems`, by default all, lack; None if none."""
        missing = [self.paper.explain_missing(system) for system in systems or SYSTEMS]
        return next((explanation for explanation in missing if explanation is not None), None)


def build_table_3(scores: PaperScores) -> Exhibit:
    """Return Table 3: mentions of each category, and precision, recall and F1 of each system on them."""
    cells = []
    for row, (size, *printed) in parse_rows(TABLE_3):
        leaf = find_category(row)
        cells.append(_check_size(scores, row, leaf, size))
        columns = [(system, short) for system in SYSTEMS for short in MEASURES]
        for (system, short), published in zip(columns, printed, strict=True):
            cells.append(_check_score(scores, row, system, short, published))
    return Exhibit(
        name="Table 3",
        title="Scores of six system settings by category on the unified dataset",
        command=score_command("--profile finegrained --by category"),
        cells=tuple(cells),
        notes=("Precision without any prediction is undefined; the table prints it as 0.",),
    )


def _check_size(scores: PaperScores, row: str, leaf: str | None, published: str) -> Cell:
    """Return the number of mentions of a category; any system's result has it."""
    result = next(iter(scores.results.values()), None)
    if result is None:
        return Cell(row, "|A|", published, None, scores.explain_missing())
    counts = result.counts("strong") if leaf is None else result.groups["category"]["strong"][leaf].counts
    assert counts is not None, "parts of the data have counts"
    return Cell(row, "|A|", published, f"{counts.matched_gold + counts.unmatched_gold:,.0f}")


def _check_score(scores: PaperScores, row: str, system: str, short: str, published: str) -> Cell:
    """Return a score of a system on a category; a difference is explained by how links with escapes are read."""
    column = f"{system} {short}"
    if system not in scores.results:
        return Cell(row, column, published, None, scores.explain_missing(system))
    value = _format_score(get_score(scores.results[system], row, short))
    if value == published:
        return Cell(row, column, published, value)
    as_written = get_score(scores.results_as_written[system], row, short)
    return Cell(row, column, published, value, _explain_escapes(as_written))


def _explain_escapes(as_written: float | None) -> Explanation:
    """Return how links with escapes are read as the reason of a difference, with the score of links `as_written`."""
    return Explanation(
        "code differs from text",
        "the authors' program does not decode escapes in links, such as \\u014d, as Turtle requires; "
        "--predictions-format nif-categorised-literal reads links so",
        value_if_changed=_format_score(as_written),
    )


def get_score(result: Result, row: str, short: str) -> float | None:
    """Return the measure `short` of Table 3 in a row of it; None if undefined."""
    leaf, name = find_category(row), MEASURES[short]
    return result[f"strong:{name}"] if leaf is None else result.groups["category"]["strong"][leaf].measures[name]


def _format_score(value: float | None) -> str:
    """Return a score as Table 3 prints it: undefined scores as 0, without trailing zeros."""
    return "0" if value is None else str(round(value, 2))


def build_section_5(scores: PaperScores) -> Exhibit:
    """Return the claims of section 5 about categories and their combinations."""
    return Exhibit(
        name="Section 5",
        title="Claims about categories and their combinations",
        command=score_command("--profile finegrained --by category")
        + "\n"
        + score_command("--profile finegrained --by form+pos+overlap+reference"),
        cells=(*_check_recalls(scores), *_check_mentions(scores.paper), *_check_combinations(scores.paper)),
        notes=(
            "The authors' own file for Figure 4 has 99 combinations too. Whether they counted 123 as the explanation "
            "does is not known.",
        ),
    )


def _check_recalls(scores: PaperScores) -> Iterator[Cell]:
    """Yield the claims about which categories systems find."""
    missing = scores.explain_missing()

    def recall(system: str, row: str) -> float:
        """Return the recall of a system in a row of Table 3."""
        return get_score(scores.results[system], row, "R") or 0.0

    def check(row: str, published: str, compute: Callable[[], str]) -> Cell:
        """Return the cell of a claim whose value `compute` returns if all files are at hand."""
        return Cell(row, "claim", published, None if missing else compute(), missing)

    forms = [get_title(leaf) for leaf in DIMENSIONS["form"].leaves]
    references = [get_title(leaf) for leaf in DIMENSIONS["reference"].leaves]

    def count_best_forms() -> str:
        """Count the systems that find full and extended names best of all base forms."""
        best = [sorted(forms, key=lambda row: -recall(system, row))[:2] for system in SYSTEMS]
        return describe_share(sum(set(rows) == {"Full Mention", "Extended Mention"} for rows in best), len(SYSTEMS))

    def count_best_direct() -> str:
        """Count the systems that find direct references at least as well as each other kind."""
        best = [max(references, key=lambda row: recall(system, row)) for system in SYSTEMS]
        return describe_share(best.count("Direct"), len(SYSTEMS))

    def list_finders(row: str) -> str:
        """List the systems that find any mention in a row of Table 3."""
        return ", ".join(NAMES[system] for system in SYSTEMS if recall(system, row) > 0) or "none"

    yield check("systems with the highest recall on full and extended names", "all", count_best_forms)
    yield check("systems with the highest recall on direct references", "all", count_best_direct)
    yield check("systems that find anaphoric references", "none", lambda: list_finders("Anaphoric"))
    yield check("systems that find metonymic references", "none", lambda: list_finders("Metonymic"))

    def list_common_finders() -> str:
        """List the systems with at least twice the recall on common forms that the third best system has."""
        recalls = {system: recall(system, "Common Form") for system in SYSTEMS}
        third = sorted(recalls.values())[-3]
        return ", ".join(NAMES[system] for system in SYSTEMS if recalls[system] >= 2 * third)

    yield check(
        "systems with at least twice the recall of the others on common forms",
        ", ".join(NAMES[system] for system in _WITH_COMMON),
        list_common_finders,
    )


def _check_mentions(paper: PaperData) -> Iterator[Cell]:
    """Yield the claims of footnote 5: dimensions in which the links of a mention can have several categories."""
    missing = paper.explain_missing()
    if missing is None:
        several = {
            name
            for name in DIMENSIONS
            if any(
                len({leaf for leaf in leaves if leaf.startswith(f"{name}:")}) > 1 for leaves in _mention_leaves(paper)
            )
        }
    for is_several, published in ((False, "Part of Speech, Overlap"), (True, "Base Form, Reference")):
        row = f"dimensions in which a mention has {'several categories' if is_several else 'one category'}"
        value = (
            None
            if missing
            else ", ".join(item.title for name, item in DIMENSIONS.items() if (name in several) == is_several)
        )
        yield Cell(row, "claim", published, value, missing)


def _mention_leaves(paper: PaperData) -> list[frozenset[str]]:
    """Return the categories of all links of each mention of the unified dataset."""
    leaves: dict[tuple[str, int, int], set[str]] = {}
    for document in paper.unified:
        for label in document.labels:
            leaves.setdefault((document.id, label.start, label.end), set()).update(label.categories)
    return [frozenset(items) for items in leaves.values()]


def _check_combinations(paper: PaperData) -> Iterator[Cell]:
    """Yield the number of possible combinations of categories, and of those that occur."""
    possible = prod(len(dimension.leaves) for dimension in DIMENSIONS.values())
    yield Cell("possible combinations across the four dimensions", "claim", "840", str(possible))
    missing = paper.explain_missing()
    yield Cell(
        "combinations with at least one annotation",
        "claim",
        "123",
        None if missing else str(_count_combinations(paper)),
        missing
        or Explanation(
            "definition differs",
            "counted with the base forms of all links of the mention instead of that of the annotation, there are as "
            "many as the paper says; Figure 4 needs those of annotations",
            value_if_changed=str(_count_combinations(paper, merges_forms=True)),
        ),
    )


def _count_combinations(paper: PaperData, *, merges_forms: bool = False) -> int:
    """Count the distinct combinations of one leaf in each dimension that annotations of the unified dataset have.

    With `merges_forms`, the base form is the set of base forms of all links of the mention.
    """
    combinations = set()
    for document in paper.unified:
        forms: dict[tuple[int, int], set[str]] = {}
        for label in document.labels:
            names = {leaf for leaf in label.categories if leaf.startswith("form:")}
            forms.setdefault((label.start, label.end), set()).update(names)
        for label in document.labels:
            others = {leaf for leaf in label.categories if not leaf.startswith("form:")}
            label_forms = set(label.categories) - others
            if merges_forms:
                combinations.add(frozenset(others | forms[label.start, label.end]))
            elif len(label_forms) == 1:
                combinations.add(frozenset(others | label_forms))
    return len(combinations)


def build_figure_4(scores: PaperScores) -> Exhibit:
    """Return Figure 4: scores as combinations of categories are added, the best first, with the points at the end."""
    *_, (_, (_, *printed)) = parse_rows(TABLE_3)
    columns = [(system, short) for system in SYSTEMS for short in MEASURES]
    cells = []
    for (system, short), published in zip(columns, printed, strict=True):
        curve, explanation = scores.category_curves[short].get(system), scores.explain_missing(system)
        value = None if curve is None else _format_score(float(curve.values()[-1]))
        if value not in (None, published):
            as_written = scores.compute_category_curves(scores.paper.runs_as_written[system])[short]
            explanation = _explain_escapes(float(as_written.values()[-1]))
        cells.append(Cell(NAMES[system], f"{short} over all combinations", published, value, explanation))
    return Exhibit(
        name="Figure 4",
        title="Cumulative scores over ranked combinations of categories",
        command="\n".join(score_command(f"--over categories -m {name}", command="curve") for name in MEASURES.values()),
        cells=(*cells, *_check_curves(scores)),
        plots=tuple(_draw_categories(scores.category_curves[short], short) for short in MEASURES),
        notes=(
            "The text prints no point of the curves. Their last points are the row All of Table 3.",
            "One mention of 4,231 is in no combination, because its links have two base forms each.",
        ),
    )


def _draw_categories(curves: Mapping[str, CategoryCurve], short: str) -> Plot:
    """Return the curves of all systems over the number of combinations."""
    return Plot(
        "lines",
        f"Cumulative {_MEASURE_TITLES[short]}",
        tuple(
            PlotSeries(
                NAMES[system],
                tuple(
                    PlotPoint(float(i), None if np.isnan(value) else float(value))
                    for i, value in enumerate(curve.values(), 1)
                ),
            )
            for system, curve in curves.items()
        ),
        "combinations of categories, best first",
        _MEASURE_TITLES[short],
        (0, 1),
    )


def _check_curves(scores: PaperScores) -> Iterator[Cell]:
    """Yield the claims about the curves: recall drops more than precision, and two systems differ from the others."""
    missing = scores.explain_missing()
    group = ", ".join(NAMES[system] for system in _WITH_COMMON)
    claims = {
        "systems whose recall drops more than their precision": "all",
        "systems with the highest recall at the end": group,
        "systems with the highest F1 at the end": group,
        "systems with the lowest precision at the end": group,
    }
    if missing is not None:
        yield from (Cell(row, "claim", published, None, missing) for row, published in claims.items())
        return
    curves = scores.category_curves
    drops = {
        short: {system: float(values[0] - values[-1]) for system, values in _curve_values(curves[short]).items()}
        for short in ("P", "R")
    }
    ends = {
        short: {system: float(values[-1]) for system, values in _curve_values(curves[short]).items()}
        for short in MEASURES
    }
    values = (
        describe_share(sum(drops["R"][system] > drops["P"][system] for system in SYSTEMS), len(SYSTEMS)),
        _list_two(ends["R"], highest=True),
        _list_two(ends["F1"], highest=True),
        _list_two(ends["P"], highest=False),
    )
    for (row, published), value in zip(claims.items(), values, strict=True):
        yield Cell(row, "claim", published, value)


def _curve_values(curves: Mapping[str, CategoryCurve]) -> dict[str, np.ndarray]:
    """Return the values of each curve that are defined."""
    return {system: curve.values()[~np.isnan(curve.values())] for system, curve in curves.items()}


def _list_two(values: Mapping[str, float], *, highest: bool) -> str:
    """Return the names of the two systems with the highest or lowest values, in the order of the paper."""
    best = sorted(values, key=lambda system: values[system], reverse=highest)[:2]
    return ", ".join(NAMES[system] for system in SYSTEMS if system in best)


def build_section_6(scores: PaperScores) -> Exhibit:
    """Return the claims of section 6 about fuzzy recall and F1."""
    return Exhibit(
        name="Section 6",
        title="Claims about fuzzy recall and F1",
        command=_alpha_command("strict"),
        cells=(_check_strict_ratios(), *_check_alpha(scores), _check_penalty(), *_check_leaders(scores)),
        notes=(
            "PROP3 is checked with two mentions, one of strict and one of other categories, and α = 0.5.",
            "Babelfy (strict), which links no common entities, is as low at α = 0 as the group that does.",
        ),
    )


def _alpha_command(membership: Membership) -> str:
    """Return the command of Figure 5 for a membership function."""
    options = f"--over alpha --membership {membership} --predictions-format nif-categorised-literal"
    return score_command(options, command="curve")


def _check_strict_ratios() -> Cell:
    """Return whether all mentions of Figure 2 with strict categories have a ratio above 0.9."""
    leaves = [set(get_leaves(category)) for category in _STRICT]
    ratios = [
        float(FIGURE_2[mention])
        for mention, links in mention_categories().items()
        if any(all(categories & names for names in leaves) for categories in links)
    ]
    value = describe_share(sum(ratio > 0.9 for ratio in ratios), len(ratios))
    row = "mentions of Figure 2 with strict categories and a ratio above 0.9"
    return Cell(row, "claim", "all", value, is_from_paper=True)


def _check_alpha(scores: PaperScores) -> Iterator[Cell]:
    """Yield the properties of the measures: range, agreement with plain scores, and precision without alpha."""
    missing = scores.explain_missing()
    rows = (
        "systems whose R* and F1* lie between 0 and 1 (PROP1)",
        "systems whose R* and F1* at α = 1 are R and F1 (PROP2)",
        "systems whose precision does not depend on α",
        "systems whose R* and F1* rise and fall together",
    )
    if missing is not None:
        yield from (Cell(row, "claim", "all", None, missing) for row in rows)
        return
    alpha, counts = alpha_values(10), [0, 0, 0, 0]
    for system, curve in scores.alpha_curves["strict"].items():
        recall, f1, precision = (curve.values(name, alpha) for name in ("micro.r", "micro.f1", "micro.p"))
        plain = score_run(
            scores.paper.unified, scores.paper.runs_as_written[system], profile="finegrained", settings={"task": "a2kb"}
        )
        expected = np.array([plain["strong:micro.r"], plain["strong:micro.f1"]], np.float64)
        outcomes = (
            bool(((recall >= 0) & (recall <= 1) & (f1 >= 0) & (f1 <= 1)).all()),
            bool(np.allclose([recall[-1], f1[-1]], expected)),
            bool(np.allclose(precision, precision[0])),
            bool((np.sign(np.diff(recall)) == np.sign(np.diff(f1))).all()),
        )
        counts = [count + outcome for count, outcome in zip(counts, outcomes, strict=True)]
    for row, count in zip(rows, counts, strict=True):
        yield Cell(row, "claim", "all", describe_share(count, len(SYSTEMS)))


def _check_penalty() -> Cell:
    """Return whether R* is lower without a strict mention than without a relaxed one, in an example."""
    spans = {"strict": (0, 3, "form:Full"), "relaxed": (8, 11, "form:CommonForm")}
    shared = ("pos:NounSingular", "overlap:None", "reference:Direct")
    labels = [Label(start, end, "Q1", categories=(form, *shared)) for start, end, form in spans.values()]
    corpus = Corpus.from_documents([Document("d", "Ada met gas", tuple(labels))])
    recalls = {}
    for missed in spans:
        predictions = [Prediction(*span[:2], "Q1") for name, span in spans.items() if name != missed]
        curve = alpha_curve(corpus, Run.from_responses([Response("d", tuple(predictions))], name=missed))
        recalls[missed] = float(curve.values("micro.r", np.array([0.5]))[0])
    return Cell(
        "R* without a strict mention and without a relaxed one (PROP3)",
        "claim",
        "the strict one is penalised more",
        f"{recalls['strict']:.2f} and {recalls['relaxed']:.2f}",
        is_equal=recalls["strict"] < recalls["relaxed"],
    )


def _check_leaders(scores: PaperScores) -> Iterator[Cell]:
    """Yield the claim that the systems with common entities are worse if α is small, and better if it is large."""
    missing = scores.explain_missing()
    rows = {
        "mean F1* of Babelfy (relaxed) and TagME at α = 0": "performs worse",
        "mean F1* of Babelfy (relaxed) and TagME at α = 1": "outperforms the other systems",
    }
    for alpha, (row, published) in enumerate(rows.items()):
        if missing is not None:
            yield Cell(row, "claim", published, None, missing)
            continue
        group, others = _average_groups(scores, float(alpha))
        is_better = group > others
        value = f"{group:.3f}, the other systems {others:.3f}"
        yield Cell(row, "claim", published, value, is_equal=is_better == (alpha == 1))
    leader = None if missing else ", ".join(NAMES[system] for system in _find_leader(scores, "strict"))
    yield Cell(
        "best system at α = 0 in Figure 5",
        "claim",
        "DBpedia Spotlight",
        leader,
        missing
        or Explanation(
            "code differs from text",
            "the figure shows what the program computes: maximal overlap counts as strict, and a mention weighs as "
            "much as its lightest link",
            value_if_changed=", ".join(NAMES[system] for system in _find_leader(scores, "strict-code")),
        ),
    )


def _find_leader(scores: PaperScores, membership: Membership) -> tuple[str, ...]:
    """Return the systems with the highest fuzzy F1 at alpha 0."""
    curves = scores.alpha_curves[membership]
    system_by_run = {curve.run: system for system, curve in curves.items()}
    return tuple(system_by_run[run] for run in find_leaders(list(curves.values()))[0].runs)


def _average_groups(scores: PaperScores, alpha: float) -> tuple[float, float]:
    """Return the mean fuzzy F1 at `alpha` of the systems with common entities, and that of the others."""
    values = {
        system: float(curve.values("micro.f1", np.array([alpha]))[0])
        for system, curve in scores.alpha_curves["strict"].items()
    }
    group = [values[system] for system in _WITH_COMMON]
    others = [value for system, value in values.items() if system not in _WITH_COMMON]
    return float(np.mean(group)), float(np.mean(others))


def build_figure_5(scores: PaperScores) -> Exhibit:
    """Return Figure 5: fuzzy F1 over alpha, by the definition in the text and by the authors' program."""
    systems = parse_header(FIGURE_5)
    cells = []
    for alpha, printed in parse_rows(FIGURE_5):
        for system, published in zip(systems, printed, strict=True):
            cells.append(_check_alpha_point(scores, system, alpha, published))
    titles: dict[Membership, str] = {"strict": "by the text", "strict-code": "by the authors' program"}
    return Exhibit(
        name="Figure 5",
        title="Fuzzy F1 over α",
        command=f"{_alpha_command('strict')}\n{_alpha_command('strict-code')}",
        cells=tuple(cells),
        plots=tuple(
            _draw_alpha(scores.alpha_curves[membership], f"Fuzzy F1 {title}") for membership, title in titles.items()
        ),
        notes=("The figure is a drawing; the published values are those of the authors' file Figure5-aster2.pkl.",),
    )


def _check_alpha_point(scores: PaperScores, system: str, alpha: str, published: str) -> Cell:
    """Return fuzzy F1 of a system at an end of the curve; the program's membership function explains a difference."""
    missing = scores.explain_missing(system)
    row, column = NAMES[system], f"F1* at α = {alpha}"
    if missing is not None:
        return Cell(row, column, published, None, missing)
    text, code = (
        f"{scores.alpha_curves[membership][system].values('micro.f1', np.array([float(alpha)]))[0]:.3f}"
        for membership in ("strict", "strict-code")
    )
    explanation = Explanation(
        "code differs from text",
        "the program counts maximal overlap as strict, and weighs a mention by its lightest link (membership "
        "strict-code), unlike the text (membership strict)",
        value_if_changed=code,
    )
    return Cell(row, column, published, text, None if text == published else explanation)


def _draw_alpha(curves: Mapping[str, AlphaCurve], title: str) -> Plot:
    """Return fuzzy F1 of all systems over alpha, in the steps of the paper."""
    alpha = alpha_values(10)
    return Plot(
        "lines",
        title,
        tuple(
            PlotSeries(
                NAMES[system],
                tuple(
                    PlotPoint(float(x), float(y)) for x, y in zip(alpha, curve.values("micro.f1", alpha), strict=True)
                ),
            )
            for system, curve in curves.items()
        ),
        "α",
        "F1*",
        (0, 1),
    )


def build_conclusions(scores: PaperScores) -> Exhibit:
    """Return the claims of section 7 about what systems support."""
    missing = scores.explain_missing()
    cells = []
    for row in ("Pro-form", "Metonymic", "Descriptive"):
        recalls = [get_score(result, row, "R") or 0.0 for result in scores.results.values()]
        cells.append(
            Cell(
                f"highest recall on {row}",
                "claim",
                "little or no support",
                None if missing else f"{max(recalls):.2f}",
                missing,
                is_equal=None if missing else max(recalls) < 0.05,
            )
        )
    return Exhibit(
        name="Section 7",
        title="Claims of the conclusions",
        command=score_command("--profile finegrained --by category"),
        cells=tuple(cells),
        notes=("Little support is a recall below 0.05.",),
    )
