"""The result of an evaluation: scores, their statistics and metadata.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypedDict

import msgspec
import numpy as np
from msgspec.structs import replace

from karat.model.caches.deferred_field import DeferrableField
from karat.model.errors import (
    InputError,
    KaratError,
    KaratWarning,
    UnknownNameError,
    check_layout_version,
    format_suggestions,
    suggest_names,
)
from karat.model.json.decoder import JsonError, decode_json
from karat.model.measure_name import parse_measure
from karat.model.output import text_layout
from karat.model.output.command_options import format_setting, is_command_running
from karat.model.output.control_chars import escape_json
from karat.model.results.display import ChartDisplay, TableDisplay
from karat.model.results.statistics import Statistics
from karat.model.results.usage import UsageSum
from karat.model.run import is_selected_on
from karat.model.signature import Signature, parse_full_signature
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Floats

LAYOUT: Final = "karat-result/2"
"""The layout of result files."""

WARNING: Final = "warning: "
"""The start of a note without which the scores mislead; such notes are shown before the tables."""


def warn_of_notes(notes: Iterable[str]) -> None:
    """Warn the caller of the public function that calls this one of the notes that are warnings.

    Notebooks and scripts seldom read the notes of a result.
    """
    for note in notes:
        if WARNING in note:
            warnings.warn(note.replace(WARNING, "", 1), KaratWarning, stacklevel=4)  # here, function, its check, caller


class Score(NamedTuple):
    """The value of a measure."""

    value: float | None
    """The value; None if undefined."""
    n: int
    """The number of documents or cases behind it."""
    reason: str | None = None
    """Why the value is undefined."""


class Scores(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Scores by measure name."""

    measures: dict[str, float | None]
    """The value of each measure; null if undefined."""
    n: dict[str, int]
    """The number of documents or cases behind each measure."""
    undefined: dict[str, str] = {}
    """Why measures are undefined."""

    def __getitem__(self, name: str) -> Score:
        return Score(self.measures[name], self.n[name], self.undefined.get(name))


class ScoreFields(TypedDict):
    """The fields of `Scores`, as keyword arguments for it and its subclasses."""

    measures: dict[str, float | None]
    n: dict[str, int]
    undefined: dict[str, str]


def to_score_fields(scores: Mapping[str, Score]) -> ScoreFields:
    """Return scores by measure name as keyword arguments for `Scores` or a subclass."""
    return {
        "measures": {name: score.value for name, score in scores.items()},
        "n": {name: score.n for name, score in scores.items()},
        "undefined": {name: score.reason for name, score in scores.items() if score.reason is not None},
    }


class WeightSums(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sums behind precision and recall: matched and unmatched predictions, matched and unmatched gold.

    The sums are whole numbers unless a relation grants partial credit.
    """

    matched_predictions: int | float
    """Correct predictions."""
    unmatched_predictions: int | float
    """Wrong predictions."""
    matched_gold: int | float
    """Gold mentions that were found."""
    unmatched_gold: int | float
    """Gold mentions that were missed."""


class StatisticsColumns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Matched and unmatched predictions, matched and unmatched gold of a view, by document, as in `documents`."""

    matched_predictions: list[int | float]
    """Correct predictions per document."""
    unmatched_predictions: list[int | float]
    """Wrong predictions per document."""
    matched_gold: list[int | float]
    """Gold mentions that were found, per document."""
    unmatched_gold: list[int | float]
    """Gold mentions that were missed, per document."""


class GroupScores(Scores, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The scores of one group (one value of a facet) in one view. Measure names omit the view."""

    counts: WeightSums | None = None
    """The sums behind the scores; None for error categories."""
    note: str | None = None
    """Why precision is unknown, if predictions have no value of the facet."""
    errors: int | None = None
    """The number of errors of an error category."""
    total: int | None = None
    """The number of cases that could be errors of the category; None if it has no total."""
    undecided: int = 0
    """The number of cases that lack the facts to decide on the category."""
    intervals: dict[str, tuple[float, float]] = {}
    """The confidence interval of each measure."""


class IdHealth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The id schemes of gold standard and predictions, and whether their ids can match."""

    gold: dict[str, int]
    """The number of linked gold labels by id scheme."""
    predictions: dict[str, int]
    """The number of linked predictions by id scheme."""
    unmatchable: int = 0
    """Predictions whose id scheme does not occur in the gold standard, or only by mapping ids to known entities."""
    remedy: str = ""
    """How to make them match."""
    kb: str = ""
    """The name of the knowledge base."""
    mismatch: str = ""
    """Sentence that says why no prediction can match; empty if some can."""
    bridge: str = ""
    """The knowledge base that was chosen automatically, because both sides write their ids differently: NAME@DIGEST."""
    unmatchable_gold: int = 0
    """Gold labels whose id scheme does not occur in the predictions, or only by mapping ids to known entities."""
    unknown_predictions: int | None = None
    """Predictions whose id is not in the knowledge base; None if it lists no ids."""
    unknown_gold: int | None = None
    """Gold labels whose id is not in the knowledge base; None if it lists no ids."""
    undecided: int = 0
    """Predictions of id schemes that the knowledge base does not contain."""
    dropped_fragments: tuple[int, int] = (0, 0)
    """The number of gold labels and of predictions whose id lost its fragment."""
    spellings: dict[str, tuple[str, ...]] = {}
    """The spellings of each id that occurs in several."""

    def merge(self, other: IdHealth) -> IdHealth:
        """Return the id health of two datasets together, as a new object: counts are added, spellings united.

        The remedy and the knowledge base are the first that is not empty. A count that is None on one side is None.
        """
        merged = {
            id: {*self.spellings.get(id, ()), *other.spellings.get(id, ())}
            for id in (*self.spellings, *other.spellings)
        }
        return IdHealth(
            gold=_add_counts(self.gold, other.gold),
            predictions=_add_counts(self.predictions, other.predictions),
            unmatchable=self.unmatchable + other.unmatchable,
            remedy=self.remedy or other.remedy,
            kb=self.kb or other.kb,
            mismatch=self.mismatch and other.mismatch,
            bridge=self.bridge or other.bridge,
            unmatchable_gold=self.unmatchable_gold + other.unmatchable_gold,
            unknown_predictions=None
            if self.unknown_predictions is None or other.unknown_predictions is None
            else self.unknown_predictions + other.unknown_predictions,
            unknown_gold=None
            if self.unknown_gold is None or other.unknown_gold is None
            else self.unknown_gold + other.unknown_gold,
            undecided=self.undecided + other.undecided,
            dropped_fragments=(
                self.dropped_fragments[0] + other.dropped_fragments[0],
                self.dropped_fragments[1] + other.dropped_fragments[1],
            ),
            spellings={id: tuple(sorted(merged[id])) for id in sorted(merged)},
        )

    def format_spellings(self) -> Iterator[str]:
        """Yield one line for each id that occurs in several spellings: `ID is written A, B`."""
        for id, written in self.spellings.items():
            yield f"{id} is written {', '.join(written)}"

    @property
    def is_healthy(self) -> bool:
        """Whether the ids of all predictions can match a gold id and none is missing in the knowledge base."""
        return not self.unmatchable and not self.unknown_predictions

    def _describe_bridge(self) -> str:
        """Describe `bridge`, the knowledge base that maps the ids of both sides onto each other, for the summary.

        The text states how many gold labels and predictions have ids that it cannot map and that cannot match.
        """
        n_gold, n_predictions = sum(self.gold.values()), sum(self.predictions.values())
        return (
            f"{self.bridge} maps them onto each other; {self.unmatchable_gold} of {n_gold} gold labels and "
            f"{self.unmatchable} of {n_predictions} predictions have ids that it cannot map and that cannot match "
            f"({format_setting('ids', 'normalised')} compares ids without it)"
        )

    @property
    def summary(self) -> str:
        """One line for reports; short if there are no problems."""
        if self.is_healthy and self.gold.keys() == self.predictions.keys():
            parts = [f"{', '.join(list(self.gold)[:_MAX_SCHEMES]) or 'none'} on both sides"]
        else:
            parts = [f"gold {_format_schemes(self.gold)}", f"predictions {_format_schemes(self.predictions)}"]
        if self.bridge:
            parts.append(self._describe_bridge())
        elif self.unmatchable:
            parts.append(
                f"{text_layout.format_count(self.unmatchable, 'prediction')} cannot match any gold id: {self.remedy}"
            )
        elif self.unmatchable_gold:
            n_gold = text_layout.format_count(self.unmatchable_gold, "gold label")
            parts.append(f"{n_gold} cannot match any predicted id{f': {self.remedy}' * bool(self.remedy)}")
        if self.unknown_predictions:
            parts.append(f"{text_layout.format_count(self.unknown_predictions, 'prediction')} unknown to {self.kb}")
        if self.undecided and self.unknown_predictions is not None:
            parts.append(
                f"{text_layout.format_count(self.undecided, 'prediction')} of schemes that {self.kb} does not use"
            )
        if self.spellings:
            parts.append(f"{text_layout.format_count(len(self.spellings), 'id')} in several spellings")
        if any(self.dropped_fragments):
            parts.append(f"{text_layout.format_count(sum(self.dropped_fragments), 'fragment')} dropped")
        return f"ids: {'; '.join(parts)}"


_MAX_SCHEMES = 4  # named in a summary


def format_id_health(health_by_system: Iterable[tuple[str, IdHealth | None]]) -> list[str]:
    """Return the summary lines of several systems, from pairs of system name and id health.

    Systems with the same summary share a line, and a single line names no system. Systems with None are omitted.
    """
    lines: dict[str, list[str]] = {}
    for system, health in health_by_system:
        if health is not None:
            lines.setdefault(health.summary, []).append(system)
    if len(lines) == 1:
        return list(lines)
    return [f"{', '.join(systems)}: {line}" for line, systems in lines.items()]


def _add_counts(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of two counters by id scheme, the largest first, then by name."""
    total = {scheme: first.get(scheme, 0) + second.get(scheme, 0) for scheme in (*first, *second)}
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def _format_schemes(counts: Mapping[str, int]) -> str:
    """Return id schemes with their counts as text; beyond four, only the number of others."""
    named = [f"{scheme} {count}" for scheme, count in counts.items()]
    more = [f"{len(named) - _MAX_SCHEMES} others"] if len(named) > _MAX_SCHEMES else []
    return ", ".join([*named[:_MAX_SCHEMES], *more]) or "without ids"


def find_special_headline(headline: Mapping[str, str]) -> str | None:
    """Return the first headline measure, by `headline` from titles to names, if none of them is F1; None otherwise.

    Comparisons and leaderboards show it instead of F1.
    """
    names = list(headline.values())
    return names[0] if names and all(parse_measure(name).measure != "f1" for name in names) else None


class Headline(NamedTuple):
    """A headline score of a result: precision, recall and F1 of one view, with the counts behind them."""

    title: str
    """The display name, such as `linking (in-KB)`."""
    measure: str
    """The name of the headline measure, in most profiles F1."""
    precision: Score
    """Precision."""
    recall: Score
    """Recall."""
    f1: Score
    """F1."""
    gold: int | float
    """The number of gold mentions."""
    predictions: int | float
    """The number of predictions."""
    correct: int | float
    """The number of correct predictions."""
    matched_gold: int | float
    """The number of gold mentions that were found; it differs from `correct` if mentions have weights or share matches.
    """

    def measure_names(self) -> tuple[str, str, str]:
        """Return the full measure names of precision, recall and F1, such as `strong:micro.p`."""
        name = parse_measure(self.measure)
        p, r, f1 = (str(replace(name, measure=short)) for short in ("p", "r", "f1"))
        return p, r, f1

    def list_columns(self) -> dict[str, str]:
        """Return the names of the displayed measures by column heading: precision, recall and F1, or only `measure`.

        A headline that is no F1 measure has one column, with its title.
        """
        if parse_measure(self.measure).measure == "f1":
            return dict(zip(("precision", "recall", "F1"), self.measure_names(), strict=True))
        return {self.title: self.measure}


_COPIED_FIELDS: Final = (
    *("profile", "corpus", "run", "run_digest", "headline", "thresholds", "intervals", "resamples", "interval_method"),
    *("confidence", "ci_unit", "jackknife_groups", "skipped", "corpus_metadata", "run_metadata", "id_health", "usage"),
)
"""The fields that are the same in a result and in its file."""


class _LayoutRecord(msgspec.Struct, frozen=True):
    """The layout name of any result file."""

    layout: str


class ResultFile(Scores, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The result file that `karat score --json` writes and other commands read."""

    layout: Literal["karat-result/2"]
    """The layout of the file."""

    # Origin
    signature: str
    """The full signature."""
    profile: str
    """The scoring profile."""
    corpus: str
    """The name of the corpus."""
    run: str
    """The name of the run."""
    run_digest: str
    """The digest of the run."""

    # Presentation
    table_measures: list[str]
    """The measures to show in tables."""
    headline: dict[str, str] = {}
    """The headline measures by title."""

    # Statistics
    counts: dict[str, WeightSums]
    """The sums of each view."""
    documents: list[str]
    """The document ids."""
    statistics: dict[str, StatisticsColumns]
    """The sums of each view per document."""
    detection: dict[str, StatisticsColumns] = {}
    """The sums of detection per document, by view, for measures that need them."""
    group_statistics: dict[str, StatisticsColumns] = {}
    """The sums per document of each group that a measure names, by view and group: `strong@types=PER`."""
    per_item_views: list[str] = []
    """The views whose scores are means over mentions and unmatched predictions."""
    macro_documents: dict[str, list[bool]] = {}
    """Which documents macro scores average over, by view, if not all."""
    thresholds: dict[str, float | None] = {}
    """The oracle threshold of each view; null if no threshold is best."""

    # Intervals
    intervals: dict[str, tuple[float, float]] = {}
    """The confidence interval of each measure."""
    resamples: int = 0
    """The number of bootstrap resamples."""
    interval_method: str | None = None
    """The interval method."""
    confidence: float | None = None
    """The confidence level."""
    ci_unit: str | None = None
    """The resampling unit."""
    jackknife_groups: int = 0
    """The number of jackknife groups for measures that are not sums over documents."""

    # Remarks
    skipped: dict[str, int] = {}
    """Counts of what was skipped, by description."""
    notes: list[str] = []
    """Hints on likely mistakes."""
    groups: dict[str, dict[str, dict[str, GroupScores]]] = {}
    """Scores by facet, view and group."""
    corpus_metadata: dict[str, str] = {}
    """The metadata of the corpus."""
    run_metadata: dict[str, str] = {}
    """The metadata of the run."""
    usage: dict[str, UsageSum] = {}
    """The runtime in seconds, tokens and cost of the run, with the number of documents that state them."""
    id_health: IdHealth | None = None
    """Whether the ids of gold standard and predictions can match."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Result(TableDisplay, ChartDisplay):
    """The scores of one run on one corpus. `result["strong:micro.f1"]` is a number, or None if undefined."""

    _page: ClassVar = "karat.render.scores"
    _charts: ClassVar = "karat.render.charts.scores"

    # Origin
    signature: DeferrableField[Signature] = DeferrableField()
    """Everything that determines the scores."""
    profile: str
    """The scoring profile."""
    corpus: str
    """The name of the corpus."""
    run: str
    """The name of the run."""
    run_digest: str
    """The digest of the run."""

    # Scores and statistics
    scores: Mapping[str, Score] = field(repr=False)
    """The score of each measure."""
    views: Mapping[str, Statistics] = field(repr=False)
    """The additive statistics of each view, one row per document in the order of `ids`."""
    ids: Arrow = field(repr=False)
    """The document ids."""
    totals: Mapping[str, Statistics] = field(default_factory=dict, repr=False)
    """The summed statistics of views that cannot be divided into documents."""
    detection: Mapping[str, Statistics] = field(default_factory=dict, repr=False)
    """The statistics of detection, by view, for measures that need them."""
    group_statistics: Mapping[str, Statistics] = field(default_factory=dict, repr=False)
    """The additive statistics of each group that a measure names, by view and group: `strong@types=PER`."""
    per_item_views: tuple[str, ...] = ()
    """The views whose scores are means over mentions and unmatched predictions."""
    macro_documents: Mapping[str, Bools] = field(default_factory=dict, repr=False)
    """Which documents macro scores average over, by view, if not all."""
    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    """The oracle threshold of each view; None if no threshold is best."""

    # Intervals
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    """The confidence interval of each measure."""
    resamples: int = 0
    """The number of bootstrap resamples."""
    interval_method: str | None = None
    """The interval method."""
    confidence: float | None = None
    """The confidence level."""
    ci_unit: str | None = None
    """The resampling unit."""
    jackknife_groups: int = 0
    """The number of jackknife groups for measures that are not sums over documents."""
    plus_minus: bool = field(default=False, repr=False)
    """Whether tables show intervals as ±."""

    # Remarks
    skipped: DeferrableField[Mapping[str, int]] = DeferrableField()
    """Counts of what was skipped, by description."""
    notes: DeferrableField[tuple[str, ...]] = DeferrableField()
    """Hints on likely mistakes."""
    groups: Mapping[str, Mapping[str, Mapping[str, GroupScores]]] = field(default_factory=dict, repr=False)
    """Scores by facet, view and group."""
    corpus_metadata: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The metadata of the corpus."""
    run_metadata: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The metadata of the run."""
    usage: Mapping[str, UsageSum] = field(default_factory=dict, repr=False)
    """The runtime in seconds, tokens and cost of the run, with the number of documents that state them."""
    id_health: DeferrableField[IdHealth | None] = DeferrableField()
    """Whether the ids of gold standard and predictions can match; None if links are not compared."""

    # Presentation
    table_measures: tuple[str, ...] = field(default=(), repr=False)
    """The measures to show in tables."""
    headline: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The headline measures by title."""
    aliases: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Full measure names by the names that the caller used."""

    # Access to cases; None if the result was read from a file
    make_verdicts: Callable[..., Iterator[Arrow]] | None = field(default=None, repr=False)
    """Yield the verdicts as tables; see `verdict_tables`."""
    evaluation: Any = field(default=None, repr=False)
    """The `karat.evaluation.evaluation.Evaluation` behind the result."""

    def to_markdown(self, *others: Result) -> str:
        """Return the scores as Markdown tables, with those of other runs in the same tables."""
        return self._render("markdown", *others)

    def to_latex(self, *others: Result) -> str:
        r"""Return the scores as LaTeX tables (`\usepackage{booktabs}`), with those of other runs in the same tables."""
        return self._render("latex", *others)

    def __repr__(self) -> str:
        names = list(self.headlines()[0].list_columns().values()) if self.headline else self.table_measures[:3]
        scores = ", ".join(f"{name} {'undefined' if self[name] is None else f'{self[name]:.4f}'}" for name in names)
        return f"<Result {self.run} on {self.corpus}: {scores}{', …' if len(self.table_measures) > len(names) else ''}>"

    def __getitem__(self, measure: str) -> float | None:
        return self.score(measure).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def score(self, measure: str) -> Score:
        """Return the score of a measure by its full name or by the name that the caller requested.

        `@FACET=VALUE` in the name selects a group. Raise `UnknownNameError` if the result does not have the measure.
        """
        full_name = self.aliases.get(measure, measure)
        if ":" not in full_name:
            raise KaratError(
                f"{measure!r} is not a full measure name, such as {next(iter(self.scores), 'strong:micro.f1')}. "
                f"karat.explain({measure!r}) translates names of other tools."
            )
        name = parse_measure(full_name)
        if name.group is not None:
            facet, value = name.group
            groups = self.groups.get(facet, {}).get(str(name.view))
            if groups is None:
                similar = [] if facet in self.groups else suggest_names(facet, self.groups)
                remedy = (
                    f"Score the predictions with the measure {measure} (-m)."
                    if is_command_running()
                    else f"Pass measures=[{measure!r}] to karat.evaluate."
                )
                if similar:
                    remedy = format_suggestions(similar)
                raise KaratError(f"the result of {self.run} has no scores of {name.view} by {facet}. {remedy}")
            if value not in groups:
                raise UnknownNameError(f"value of {facet}", value, groups)
            if name.short_name in groups[value].measures:
                return groups[value][name.short_name]
        elif str(name) in self.scores:
            return self.scores[str(name)]
        raise UnknownNameError("measure of this result", measure, self.scores)

    @property
    def complete_usage(self) -> dict[str, float]:
        """The runtime, tokens and cost of the whole corpus, by quantity; missing if a document does not state it."""
        return {name: used.total for name, used in self.usage.items() if used.documents == len(self.ids)}

    def headlines(self) -> tuple[Headline, ...]:
        """Return the headline scores that the profile defines, such as linking (in-KB), linking with NIL, detection."""
        return tuple(self._build_headline(title, measure) for title, measure in self.headline.items())

    def _build_headline(self, title: str, measure: str) -> Headline:
        """Return precision, recall and F1 of the view of a headline measure, with the counts behind them."""
        name = parse_measure(measure)
        precision, recall, f1 = (self.score(str(replace(name, measure=short))) for short in ("p", "r", "f1"))
        counts = self.counts(str(name.view))
        if name.group is not None:
            facet, value = name.group
            counts = self.groups[facet][str(name.view)][value].counts or counts
        gold, predictions = (
            counts.matched_gold + counts.unmatched_gold,
            counts.matched_predictions + counts.unmatched_predictions,
        )
        return Headline(
            title, measure, precision, recall, f1, gold, predictions, counts.matched_predictions, counts.matched_gold
        )

    @property
    def is_selected_on_corpus(self) -> bool:
        """Whether the system variant was selected on this corpus, according to the run metadata."""
        return is_selected_on(self.run_metadata, self.corpus)

    def has_oracle_threshold(self, measure: str) -> bool:
        """Return whether the threshold of a measure's view was selected on the scored data."""
        if not self.thresholds:  # names of other tools cannot be parsed
            return False
        view = parse_measure(self.aliases.get(measure, measure)).view
        return str(replace(view, filters=())) in self.thresholds

    @property
    def measures(self) -> Mapping[str, float | None]:
        """The values of all measures by name, without those of groups; None where undefined."""
        return {name: scored.value for name, scored in self.scores.items()}

    def counts(self, view: str) -> WeightSums:
        """Return the sums over all documents behind the micro scores of a view, such as `strong[in-kb]`.

        Raise `UnknownNameError` if the result does not have the view.
        """
        statistics = {**self.views, **self.totals}
        if view not in statistics:
            raise UnknownNameError("view of this result", view, statistics)
        return to_weight_sums(statistics[view].weights.sum(axis=0))

    @cached_property
    def verdicts(self) -> Arrow:
        """An Arrow table with one row per case and view, from which all scores can be recomputed.

        Raises `KaratError` if the result was read from a file.
        """
        import pyarrow as pa

        tables = list(self.verdict_tables())
        return tables[0] if len(tables) == 1 else pa.concat_tables(tables)

    def verdict_tables(self, view: str | None = None, *, sentences: bool = False) -> Iterator[Arrow]:
        """Yield the verdicts, one row per case, as Arrow tables with the same columns, for `view` or for all views.

        With `sentences`, the tables also have the sentence of each case and entity names. Raise `KaratError` if the
        result was read from a file.
        """
        if self.make_verdicts is None:
            raise KaratError("a result read from a file has no verdicts. Score again, or read the file of --verdicts.")
        return self.make_verdicts(view, sentences=sentences)

    def to_json(self) -> bytes:
        """Return the content of a result file, which `from_json` reads; verdicts and evaluation are not in it."""
        values = ((name, getattr(self, name)) for name in _COPIED_FIELDS)
        copied: dict[str, Any] = {name: dict(value) if isinstance(value, Mapping) else value for name, value in values}
        file = ResultFile(
            layout=LAYOUT,
            signature=str(self.signature),
            **to_score_fields(self.scores),
            **copied,
            table_measures=list(self.table_measures),
            counts={view: self.counts(view) for view in [*self.views, *self.totals]},
            documents=self.ids.to_pylist(),
            statistics=_to_columns(self.views),
            detection=_to_columns(self.detection),
            group_statistics=_to_columns(self.group_statistics),
            per_item_views=list(self.per_item_views),
            macro_documents={view: documents.tolist() for view, documents in self.macro_documents.items()},
            notes=list(self.notes),
            groups={
                label: {view: dict(groups) for view, groups in views.items()} for label, views in self.groups.items()
            },
        )
        return escape_json(msgspec.json.encode(file))

    @classmethod
    def from_json(cls, data: bytes | str | Mapping[str, Any], *, where: str = "result") -> Result:
        """Parse the content of a result file; raise `InputError` if it is invalid. `where` names it in messages.

        `data` is the text of the file, or what `json.load` returns. The result has no verdicts and no evaluation.
        """
        import pyarrow as pa

        if isinstance(data, Mapping):
            data = msgspec.json.encode(data)
        try:
            file = decode_json(data, ResultFile)
            if (defect := _find_defect(file)) is not None:
                raise JsonError(defect)
            signature = parse_full_signature(file.signature)
        except (JsonError, KaratError) as problem:
            with suppress(JsonError):
                check_layout_version(where, decode_json(data, _LayoutRecord).layout, LAYOUT)
            raise InputError(
                where,
                actual=f"an invalid result file ({problem})",
                expected=f"a file in the layout {LAYOUT}",
                remedy="Write one with karat score --json",
            ) from None
        return cls(
            signature=signature,
            **{name: getattr(file, name) for name in _COPIED_FIELDS},
            scores={name: file[name] for name in file.measures},
            views=_to_statistics(file.statistics),
            detection=_to_statistics(file.detection),
            group_statistics=_to_statistics(file.group_statistics),
            per_item_views=tuple(file.per_item_views),
            macro_documents={view: np.array(documents, np.bool_) for view, documents in file.macro_documents.items()},
            ids=pa.array(file.documents, pa.string()),
            totals={
                view: Statistics(np.array([msgspec.structs.astuple(counts)], np.float64))
                for view, counts in file.counts.items()
                if view not in file.statistics
            },
            notes=tuple(file.notes),
            groups=file.groups,
            table_measures=tuple(file.table_measures),
        )


_MAX_EXACT_INTEGER = 2**53  # every integer up to it is a float


def _find_defect(file: ResultFile) -> str | None:
    """Return a description of the first inconsistency in a result file; None if there is none."""
    documents = len(file.documents)
    statistics = (*file.statistics.values(), *file.detection.values(), *file.group_statistics.values())
    columns = [list(map(len, msgspec.structs.astuple(s))) for s in statistics]
    if any(
        length != documents for lengths in (*columns, map(len, file.macro_documents.values())) for length in lengths
    ):
        return "the statistics and the documents differ in number"
    weights = [column for s in statistics for column in msgspec.structs.astuple(s)]
    weights.extend(
        [*msgspec.structs.astuple(counts)] for view, counts in file.counts.items() if view in file.statistics
    )
    # Clusterings have totals only. These count a mention in two clusters twice, so a difference may be negative.
    totals = [msgspec.structs.astuple(counts) for view, counts in file.counts.items() if view not in file.statistics]
    if any(not 0 <= weight <= _MAX_EXACT_INTEGER for column in weights for weight in column) or any(
        not abs(total) <= _MAX_EXACT_INTEGER for column in totals for total in column
    ):
        return "a count is negative or too large"
    groups = [group for views in file.groups.values() for values in views.values() for group in values.values()]
    if any(scores.measures.keys() != scores.n.keys() for scores in (file, *groups)):
        return "measures and n have different keys"
    if unknown := [name for name in file.table_measures if not _has_measure(file, name)]:
        return f"table_measures names {unknown[0]!r}, but there is no measure {unknown[0]!r}"
    return None


def _has_measure(file: ResultFile, measure: str) -> bool:
    """Return whether the file has the score of `measure`, which may name a group."""
    name = parse_measure(measure)
    if name.group is None:
        return measure in file.measures
    facet, value = name.group
    groups = file.groups.get(facet, {}).get(str(name.view), {})
    return value in groups and name.short_name in groups[value].measures


def _to_columns(views: Mapping[str, Statistics]) -> dict[str, StatisticsColumns]:
    """Return the statistics of each view as a result file stores them: four lists of Python numbers."""
    return {view: StatisticsColumns(*map(_to_numbers, statistics.weights.T)) for view, statistics in views.items()}


def _to_statistics(views: Mapping[str, StatisticsColumns]) -> dict[str, Statistics]:
    """Return the statistics of each view from a result file, where each of the four `Weights` is a list of numbers."""
    lists = {view: msgspec.structs.astuple(columns) for view, columns in views.items()}
    return {
        view: Statistics(np.column_stack([np.asarray(x, np.float64) for x in columns]))
        for view, columns in lists.items()
    }


def to_weight_sums(weights: Floats) -> WeightSums:
    """Convert one row of statistics, an array of the sums of the four `Weights`, to a struct of Python numbers."""
    return WeightSums(*_to_numbers(weights))


def _to_numbers(values: Floats) -> list[int | float]:
    """Return the values as Python numbers, all as integers if all are whole, so that files contain 3, not 3.0."""
    whole = np.asarray(np.clip(values, -_MAX_EXACT_INTEGER, _MAX_EXACT_INTEGER), np.int64)
    numbers: list[int | float] = (whole if np.array_equal(whole, values) else values).tolist()
    return numbers
