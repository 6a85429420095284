"""What an evaluation found: scores with everything that made them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypedDict

import msgspec
import numpy as np
from msgspec.structs import replace

from karat import fitting
from karat.display import Displayed, Plotted
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


class IdHealth(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the ids of both sides are written, and whether they can meet.

    `gold` and `answers` count linked mentions by the scheme of their id as written. `unmatchable` are the answers whose
    id, as it is read, is of a scheme that no gold id has; `remedy` is what would help. `unknown` (and `gold_unknown`)
    are the answers (gold labels) whose id the knowledge base `kb` does not list, None where it lists none or there is
    none; ids of schemes of which it knows no id are `undecided`. `fragments` were dropped from the ids of so many gold
    labels and answers. `merged` has the ids that were written in several ways, with these.
    """

    gold: dict[str, int]
    answers: dict[str, int]
    unmatchable: int = 0
    remedy: str = ""
    kb: str = ""
    unknown: int | None = None
    gold_unknown: int | None = None
    undecided: int = 0
    fragments: tuple[int, int] = (0, 0)
    merged: dict[str, tuple[str, ...]] = {}

    def plus(self, other: IdHealth) -> IdHealth:
        """That of the same system on two gold standards together."""
        merged = {id: {*self.merged.get(id, ()), *other.merged.get(id, ())} for id in (*self.merged, *other.merged)}
        return IdHealth(
            gold=_added(self.gold, other.gold),
            answers=_added(self.answers, other.answers),
            unmatchable=self.unmatchable + other.unmatchable,
            remedy=self.remedy or other.remedy,
            kb=self.kb or other.kb,
            unknown=None if self.unknown is None or other.unknown is None else self.unknown + other.unknown,
            gold_unknown=None
            if self.gold_unknown is None or other.gold_unknown is None
            else self.gold_unknown + other.gold_unknown,
            undecided=self.undecided + other.undecided,
            fragments=(self.fragments[0] + other.fragments[0], self.fragments[1] + other.fragments[1]),
            merged={id: tuple(sorted(merged[id])) for id in sorted(merged)},
        )

    def spellings(self) -> Iterator[str]:
        """Each id that was written in several ways, and how, in a line."""
        for id, written in self.merged.items():
            yield f"{id} is written {', '.join(written)}"

    @property
    def well(self) -> bool:
        """Whether nothing is wrong with the ids, as far as anybody can tell by looking at them."""
        return not self.unmatchable and not self.unknown

    @property
    def line(self) -> str:
        """What a reader should know, in a line; short if all is well."""
        if self.well and self.gold.keys() == self.answers.keys():
            parts = [f"{', '.join(list(self.gold)[:_SCHEMES]) or 'none'} on both sides"]
        else:
            parts = [f"gold {_schemes(self.gold)}", f"answers {_schemes(self.answers)}"]
        if self.unmatchable:
            parts.append(f"{fitting.counted(self.unmatchable, 'answer')} cannot match any gold id: {self.remedy}")
        if self.unknown:
            parts.append(f"{fitting.counted(self.unknown, 'answer')} unknown to {self.kb}")
        if self.undecided and self.unknown is not None:
            parts.append(f"{fitting.counted(self.undecided, 'answer')} of schemes that {self.kb} does not use")
        if self.merged:
            parts.append(f"{fitting.counted(len(self.merged), 'id')} in several spellings")
        if any(self.fragments):
            parts.append(f"{fitting.counted(sum(self.fragments), 'fragment')} dropped")
        return f"ids: {'; '.join(parts)}"


_SCHEMES = 4  # that a line names


def health_lines(found: Iterable[tuple[str, IdHealth | None]]) -> list[str]:
    """What to say of the ids of several systems: those of which the same is to be said share a line."""
    lines: dict[str, list[str]] = {}
    for system, own in found:
        if own is not None:
            lines.setdefault(own.line, []).append(system)
    if len(lines) == 1:
        return list(lines)
    return [f"{', '.join(systems)}: {line}" for line, systems in lines.items()]


def _added(one: Mapping[str, int], two: Mapping[str, int]) -> dict[str, int]:
    total = {scheme: one.get(scheme, 0) + two.get(scheme, 0) for scheme in (*one, *two)}
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def _schemes(counts: Mapping[str, int]) -> str:
    named = [f"{scheme} {count}" for scheme, count in counts.items()]
    more = [f"{len(named) - _SCHEMES} others"] if len(named) > _SCHEMES else []
    return ", ".join([*named[:_SCHEMES], *more]) or "without links"


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
    id_health: IdHealth | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Result(Displayed, Plotted):
    """The scores of one run on one corpus. `result["strong:micro.f1"]` is a number, or None if undefined.

    `views` holds the addable statistics of each view, one row per document in the order of `ids`, and `totals` the
    sums of those that cannot be divided into documents; `detection` has what accuracy divides by, `per_item` names the
    views whose scores are means over items, and `averaged` marks the documents over which macro scores are means, where
    these are not all. `evaluation` is what made it, for who wants to open it; None if it was read from a file.
    `thresholds` are those found on this very corpus (oracle), None
    where no threshold was best. `intervals` are of `interval_level`, made by `interval_method` from `resamples` samples
    of what `interval_over` says; scores that do not add up were `recomputed` so often for theirs. `shown` names the
    measures that tables show, with ± if `plus_minus`, `headline` in words those that come first, `aliases` what else
    they were called when they were asked for; `skipped` counts what was left out; `notes` hint at likely mistakes;
    `id_health` says whether the ids of both sides can meet, where links are compared. `evaluation` is what it was made
    by, for who wants to open it; None if read from a file.
    """

    _page: ClassVar = "karat.pages.scores"
    _charts: ClassVar = "karat.pages.charts.scores"

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
    id_health: IdHealth | None = field(default=None, repr=False)
    shown: tuple[str, ...] = field(default=(), repr=False)
    headline: Mapping[str, str] = field(default_factory=dict, repr=False)
    aliases: Mapping[str, str] = field(default_factory=dict, repr=False)
    make_verdicts: Callable[..., Iterator[Arrow]] | None = field(default=None, repr=False)
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

    def verdict_tables(self, view: str | None = None, *, sentences: bool = False) -> Iterator[Arrow]:
        """The verdicts piece by piece, where an engine made them; all have the columns of the first.

        Those of one view, if it is named; with `sentences`, the sentence of each case and names of entities are there.
        """
        if self.make_verdicts is None:
            raise KaratError("a result read from a file has no verdicts. Score again, or read the --verdicts file.")
        return self.make_verdicts(view, sentences=sentences)

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
            id_health=self.id_health,
        )
        return shown_json(msgspec.json.encode(file))

    @classmethod
    def from_json(cls, data: bytes, *, where: str = "result") -> Result:
        """The result that a file says."""
        import pyarrow as pa

        try:
            file = msgspec.json.decode(data, type=ResultFile)
            if (defect := _defect(file)) is not None:
                raise msgspec.DecodeError(defect)
            signature = signature_of(file.signature)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KaratError) as problem:
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                refuse_newer(where, msgspec.json.decode(data, type=_Layout).layout, LAYOUT)
            raise InputError(
                where,
                found=f"no result ({problem})",
                expected=f"a file in the layout {LAYOUT}",
                remedy="Write one with karat score --json",
            ) from None
        return cls(
            signature=signature,
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
            id_health=file.id_health,
            shown=tuple(file.shown),
            headline=file.headline,
        )


_LARGEST = 2**53  # up to which every whole number is a float


def _defect(file: ResultFile) -> str | None:
    """What a result says in one place and contradicts in another; None where it holds together."""
    documents = len(file.documents)
    columns = [
        list(map(len, msgspec.structs.astuple(s))) for s in (*file.statistics.values(), *file.detection.values())
    ]
    if any(length != documents for lengths in (*columns, map(len, file.averaged.values())) for length in lengths):
        return "statistics and documents differ in number"
    weights = [x for s in (*file.statistics.values(), *file.detection.values()) for x in msgspec.structs.astuple(s)]
    weights.extend([*msgspec.structs.astuple(counts)] for counts in file.counts.values())
    if any(not 0 <= weight <= _LARGEST for column in weights for weight in column):
        return "a count below 0, or too large to be one"
    groups = [group for views in file.by.values() for values in views.values() for group in values.values()]
    if any(scores.measures.keys() != scores.n.keys() for scores in (file, *groups)):
        return "measures without the number of their cases, or the other way round"
    if unknown := [name for name in file.shown if not _holds(file, name)]:
        return f"no measure {unknown[0]!r}, though it is to be shown"
    return None


def _holds(file: ResultFile, shown: str) -> bool:
    name = parse_measure(shown)
    if name.group is None:
        return shown in file.measures
    label, value = name.group
    groups = file.by.get(label, {}).get(str(name.view), {})
    return value in groups and name.short in groups[value].measures


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
    whole = np.asarray(np.clip(values, -_LARGEST, _LARGEST), np.int64)
    numbers: list[int | float] = (whole if np.array_equal(whole, values) else values).tolist()
    return numbers
