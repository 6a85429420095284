"""What an evaluation found: scores with everything that made them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, TypedDict

import msgspec
import numpy as np

from karat.errors import InputError, KaratError, UnknownNameError, refuse_newer
from karat.model.name import parse_measure
from karat.model.run import chosen_on
from karat.model.signature import Signature, signature_of
from karat.model.statistics import Statistics
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools, Floats
from karat.printable import shown_json

LAYOUT: Final = "karat-result/1"


class Scored(NamedTuple):
    """A score: its value, or None with the reason, and over how many documents or cases it was taken."""

    value: float | None
    n: int
    reason: str | None = None


class Scores(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Measures by name: values (null where undefined), over how many documents or cases, and why undefined."""

    measures: dict[str, float | None]
    n: dict[str, int]
    undefined: dict[str, str] = {}

    def __getitem__(self, name: str) -> Scored:
        return Scored(self.measures[name], self.n[name], self.undefined.get(name))


class Fields(TypedDict):
    """The fields of `Scores`, to make it or what holds the same."""

    measures: dict[str, float | None]
    n: dict[str, int]
    undefined: dict[str, str]


def fields(scored: Mapping[str, Scored]) -> Fields:
    """Scores by name, field by field."""
    return {
        "measures": {name: score.value for name, score in scored.items()},
        "n": {name: score.n for name, score in scored.items()},
        "undefined": {name: score.reason for name, score in scored.items() if score.reason is not None},
    }


class Counted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sums of weights: whole numbers unless a relation grants partial credit."""

    matched_answers: int | float
    unmatched_answers: int | float
    matched_gold: int | float
    unmatched_gold: int | float


class Columns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The statistics of a view, one entry per document in the order of `documents`."""

    matched_answers: list[int | float]
    unmatched_answers: list[int | float]
    matched_gold: list[int | float]
    unmatched_gold: list[int | float]


class Group(Scores, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One value of a label in one view: what it counts, and its measures without the name of the view.

    `note` says why precision is unknown, where the answers do not carry the label. An error category has `errors` out
    of a `total` (None where that cannot be said) instead of counts, and says how many cases are `undecided` for want
    of facts.
    """

    counts: Counted | None = None
    note: str | None = None
    errors: int | None = None
    total: int | None = None
    undecided: int = 0
    intervals: dict[str, tuple[float, float]] = {}


class Headline(NamedTuple):
    """What comes first of a result: precision, recall and F1 of one view, and the counts behind them.

    `words` are those of people, `measure` is the name of the F1; the other names are made from it.
    """

    words: str
    measure: str
    precision: Scored
    recall: Scored
    f1: Scored
    gold: int | float
    answers: int | float
    right: int | float

    def names(self) -> tuple[str, str, str]:
        """The measures by name: precision, recall, F1."""
        name = parse_measure(self.measure)
        p, r = (str(replace(name, measure=short)) for short in ("p", "r"))
        return p, r, self.measure


class _Layout(msgspec.Struct, frozen=True):
    """What a file calls its layout, whatever else it holds."""

    layout: str


class ResultFile(Scores, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The result file: what `karat score --json` writes and later commands read."""

    layout: Literal["karat-result/1"]
    signature: str
    profile: str
    corpus: str
    run: str
    run_digest: str
    shown: list[str]
    headline: dict[str, str] = {}
    counts: dict[str, Counted]
    documents: list[str]
    statistics: dict[str, Columns]
    detection: dict[str, Columns] = {}
    per_item: list[str] = []
    averaged: dict[str, list[bool]] = {}
    thresholds: dict[str, float | None] = {}
    intervals: dict[str, tuple[float, float]] = {}
    resamples: int = 0
    interval_method: str | None = None
    interval_level: float | None = None
    interval_over: str | None = None
    recomputed: int = 0
    skipped: dict[str, int] = {}
    notes: list[str] = []
    by: dict[str, dict[str, dict[str, Group]]] = {}
    about_corpus: dict[str, str] = {}
    about_run: dict[str, str] = {}


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The scores of one run on one corpus. `result["strong:micro.f1"]` is a number, or None if undefined.

    `views` holds the addable statistics of each view, one row per document in the order of `ids`, and `totals` the
    sums of those that cannot be divided into documents; `detection` has what accuracy divides by, `per_item` names the
    views whose scores are means over items, and `averaged` marks the documents over which macro scores are means, where
    these are not all. `evaluation` is what made it, for who wants to open it; None if it was read from a file.
    `thresholds` are those found on this very corpus (oracle), None
    where no threshold was best. `intervals` are of `interval_level`, made by `interval_method` from `resamples` samples
    of what `interval_over` says; scores that do not add up were `recomputed` so often for theirs. `shown` names the
    measures that tables show, with ± if `plus_minus`, `headline` in words those that come first, `aliases` what else
    they were called when they were asked for; `skipped` counts what was left out; `notes` hint at likely mistakes.
    """

    signature: Signature
    profile: str
    corpus: str
    run: str
    run_digest: str
    scores: Mapping[str, Scored] = field(repr=False)
    views: Mapping[str, Statistics] = field(repr=False)
    ids: Arrow = field(repr=False)
    totals: Mapping[str, Statistics] = field(default_factory=dict, repr=False)
    detection: Mapping[str, Statistics] = field(default_factory=dict, repr=False)
    per_item: tuple[str, ...] = ()
    averaged: Mapping[str, Bools] = field(default_factory=dict, repr=False)
    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    resamples: int = 0
    interval_method: str | None = None
    interval_level: float | None = None
    interval_over: str | None = None
    recomputed: int = 0
    plus_minus: bool = field(default=False, repr=False)
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    by: Mapping[str, Mapping[str, Mapping[str, Group]]] = field(default_factory=dict, repr=False)
    about_corpus: Mapping[str, str] = field(default_factory=dict, repr=False)
    about_run: Mapping[str, str] = field(default_factory=dict, repr=False)
    shown: tuple[str, ...] = field(default=(), repr=False)
    headline: Mapping[str, str] = field(default_factory=dict, repr=False)
    aliases: Mapping[str, str] = field(default_factory=dict, repr=False)
    make_verdicts: Callable[[], Iterator[Arrow]] | None = field(default=None, repr=False)
    evaluation: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{name} {'undefined' if self[name] is None else f'{self[name]:.4f}'}" for name in self.shown[:3]
        )
        return f"<Result {self.run} on {self.corpus}: {shown}{', …' if len(self.shown) > 3 else ''}>"

    def __getitem__(self, measure: str) -> float | None:
        return self.score(measure).value

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def score(self, measure: str) -> Scored:
        """A score with its reason and its number of documents or cases."""
        name = parse_measure(self.aliases.get(measure, measure))
        if name.group is not None:
            label, value = name.group
            groups = self.by.get(label, {}).get(str(name.view), {})
            if value in groups and name.short in groups[value].measures:
                return groups[value][name.short]
        elif str(name) in self.scores:
            return self.scores[str(name)]
        raise UnknownNameError("measure of this result", measure, self.scores)

    def headlines(self) -> tuple[Headline, ...]:
        """What comes first: linking in the knowledge base, with NIL, and detection, as far as the profile has them."""
        return tuple(self._headline(words, measure) for words, measure in self.headline.items())

    def _headline(self, words: str, measure: str) -> Headline:
        name = parse_measure(measure)
        precision, recall, f1 = (self.score(str(replace(name, measure=short))) for short in ("p", "r", "f1"))
        counts = self.counts(str(name.view))
        if name.group is not None:
            label, value = name.group
            counts = self.by[label][str(name.view)][value].counts or counts
        gold, answers = counts.matched_gold + counts.unmatched_gold, counts.matched_answers + counts.unmatched_answers
        return Headline(words, measure, precision, recall, f1, gold, answers, counts.matched_answers)

    @property
    def chosen(self) -> bool:
        """Whether the system was chosen among its variants on this very corpus, as its manifest says (oracle)."""
        return chosen_on(self.about_run, self.corpus)

    @property
    def measures(self) -> Mapping[str, float | None]:
        """All measures with their values."""
        return {name: scored.value for name, scored in self.scores.items()}

    def counts(self, view: str) -> Counted:
        """The sums behind the micro scores of a view."""
        known = {**self.views, **self.totals}
        if view not in known:
            raise UnknownNameError("view of this result", view, known)
        return counted(known[view].weights.sum(axis=0))

    @cached_property
    def verdicts(self) -> Arrow:
        """An Arrow table with one row per case and view; every number is a sum over some of its rows."""
        import pyarrow as pa

        tables = list(self.verdict_tables())
        return tables[0] if len(tables) == 1 else pa.concat_tables(tables)

    def verdict_tables(self) -> Iterator[Arrow]:
        """The verdicts piece by piece, where an engine made them; all have the columns of the first."""
        if self.make_verdicts is None:
            raise KaratError("a result read from a file has no verdicts. Score again, or read the --verdicts file.")
        return self.make_verdicts()

    def to_json(self) -> bytes:
        """The content of a result file."""
        file = ResultFile(
            layout=LAYOUT,
            signature=str(self.signature),
            profile=self.profile,
            corpus=self.corpus,
            run=self.run,
            run_digest=self.run_digest,
            **fields(self.scores),
            shown=list(self.shown),
            headline=dict(self.headline),
            counts={view: self.counts(view) for view in [*self.views, *self.totals]},
            thresholds=dict(self.thresholds),
            intervals=dict(self.intervals),
            resamples=self.resamples,
            interval_method=self.interval_method,
            interval_level=self.interval_level,
            interval_over=self.interval_over,
            recomputed=self.recomputed,
            documents=self.ids.to_pylist(),
            statistics=_columns(self.views),
            detection=_columns(self.detection),
            per_item=list(self.per_item),
            averaged={view: documents.tolist() for view, documents in self.averaged.items()},
            skipped=dict(self.skipped),
            notes=list(self.notes),
            by={label: {view: dict(groups) for view, groups in views.items()} for label, views in self.by.items()},
            about_corpus=dict(self.about_corpus),
            about_run=dict(self.about_run),
        )
        return shown_json(msgspec.json.encode(file))

    @classmethod
    def from_json(cls, data: bytes, *, where: str = "result") -> Result:
        """The result that a file says."""
        import pyarrow as pa

        try:
            file = msgspec.json.decode(data, type=ResultFile)
            columns = [*file.statistics.values(), *file.detection.values()]
            if any({len(x) for x in msgspec.structs.astuple(s)} != {len(file.documents)} for s in columns):
                raise msgspec.DecodeError("statistics and documents differ in number")
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                refuse_newer(where, msgspec.json.decode(data, type=_Layout).layout, LAYOUT)
            raise InputError(
                where,
                found=f"no result ({problem})",
                expected=f"a file in the layout {LAYOUT}",
                remedy="Write one with karat score --json",
            ) from None
        return cls(
            signature=signature_of(file.signature),
            profile=file.profile,
            corpus=file.corpus,
            run=file.run,
            run_digest=file.run_digest,
            scores={name: file[name] for name in file.measures},
            views=_statistics(file.statistics),
            detection=_statistics(file.detection),
            per_item=tuple(file.per_item),
            averaged={view: np.array(documents, np.bool_) for view, documents in file.averaged.items()},
            ids=pa.array(file.documents, pa.string()),
            totals={
                view: Statistics(np.array([msgspec.structs.astuple(counts)], np.float64))
                for view, counts in file.counts.items()
                if view not in file.statistics
            },
            thresholds=file.thresholds,
            intervals=file.intervals,
            resamples=file.resamples,
            interval_method=file.interval_method,
            interval_level=file.interval_level,
            interval_over=file.interval_over,
            recomputed=file.recomputed,
            skipped=file.skipped,
            notes=tuple(file.notes),
            by=file.by,
            about_corpus=file.about_corpus,
            about_run=file.about_run,
            shown=tuple(file.shown),
            headline=file.headline,
        )


def _columns(views: Mapping[str, Statistics]) -> dict[str, Columns]:
    return {view: Columns(*map(_numbers, own.weights.T)) for view, own in views.items()}


def _statistics(views: Mapping[str, Columns]) -> dict[str, Statistics]:
    lists = {view: msgspec.structs.astuple(own) for view, own in views.items()}
    return {view: Statistics(np.column_stack([np.asarray(x, np.float64) for x in own])) for view, own in lists.items()}


def counted(weights: Floats) -> Counted:
    """Four sums by name."""
    return Counted(*_numbers(weights))


def _numbers(values: Floats) -> list[int | float]:
    """Python numbers, whole ones without a fraction so that files say 3, not 3.0."""
    whole = np.asarray(values, np.int64)
    numbers: list[int | float] = (whole if np.array_equal(whole, values) else values).tolist()
    return numbers
