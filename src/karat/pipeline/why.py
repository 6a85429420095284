"""Why two labs get different numbers from the same data: the gap, divided among the conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow.compute as pc

from karat.errors import UsageError
from karat.kb.protocol import KB
from karat.model.columns import NO_LINK
from karat.model.corpus import Corpus
from karat.model.name import parse_measure
from karat.model.result import Result
from karat.model.run import Run
from karat.model.signature import Signature
from karat.pipeline.evaluate import evaluate, setting
from karat.pipeline.plan import in_task
from karat.registry import get, names
from karat.spec.relation import Relation
from karat.spec.task import TASKS
from karat.stats.shapley import shapley

EXACT_UP_TO = 12
"""Players up to which every mixture is scored; beyond that orders are sampled."""

TOGETHER: tuple[tuple[str, ...], ...] = (("nil", "prefixes"), ("ids", "missing", "kb"))
"""Choices that make sense only together, and change sides as one."""

_MEASURE = "measure"
_SAME = ("match", "seed")  # what is shown, and what no score depends on


class Flip(NamedTuple):
    """A gold mention or an answer that counts otherwise once a choice has changed sides."""

    side: str
    document: str
    start: int
    end: int
    entity: str
    text: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Cause:
    """A choice, or several that go together, with its share of the gap and what it flips.

    `error` is the standard error of the share where orders were sampled. `alone` is what the score becomes if this is
    the only choice that changes.
    """

    choices: tuple[str, ...]
    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    share: float
    error: float | None
    alone: float
    flips: tuple[Flip, ...]

    @property
    def name(self) -> str:
        """The choices in one word each."""
        return ", ".join(self.choices)


@dataclass(frozen=True, slots=True)
class Explanation:
    """A gap between two scores and its causes, the largest first."""

    corpus: str
    run: str
    theirs: str
    ours: str
    their_measure: str
    our_measure: str
    their_score: float
    our_score: float
    their_signature: Signature
    our_signature: Signature
    causes: tuple[Cause, ...]
    idle: tuple[str, ...]
    exact: bool
    mixtures: int


def why(
    corpus: Corpus,
    run: Run,
    *,
    theirs: str,
    ours: str = "karat",
    measure: str = "strong:micro.f1",
    their_measure: str | None = None,
    their_choices: Mapping[str, str] | None = None,
    our_choices: Mapping[str, str] | None = None,
    kb: KB | None = None,
    samples: int = 200,
    seed: int = 0,
    allow_unknown: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Explanation:
    """Attribute the gap between two profiles' scores to the choices in which they differ.

    Each choice gets its Shapley value: what it adds on average over all orders in which the choices could change sides
    one after another. The shares add up to the gap. Choices that cannot matter for this measure and this data are named
    and not tried.
    """
    there = _Side.of(corpus, run, theirs, their_choices or {}, their_measure or measure, kb, allow_unknown)
    here = _Side.of(corpus, run, ours, our_choices or {}, measure, kb, allow_unknown)
    players, idle = _players(there, here, corpus, run)
    results: dict[frozenset[str], Result] = {}

    def score(changed: frozenset[str]) -> float:
        if changed not in results:
            results[changed] = _mixture(corpus, run, there, here, players, changed, kb, allow_unknown)
            if progress is not None:
                progress(1)
        name = here.measure if _MEASURE in changed or there.measure == here.measure else there.measure
        value = results[changed].score(name)
        if value.value is None:
            mixed = ", ".join(sorted(changed)) or "no change"
            raise UsageError(f"{name} is undefined with {mixed}: {value.reason}. Choose another measure.")
        return value.value

    found = shapley(list(players), score, exact_up_to=EXACT_UP_TO, samples=samples, seed=seed)
    before = _standing(results[frozenset()])
    causes = []
    for part in found.shares:
        choices = players[part.player]
        alone = frozenset({part.player})
        value = score(alone)
        causes.append(
            Cause(
                choices,
                tuple(there.value(choice) for choice in choices),
                tuple(here.value(choice) for choice in choices),
                part.value,
                part.error,
                value,
                tuple(_flips(before, _standing(results[alone]))),
            )
        )
    causes.sort(key=lambda cause: -abs(cause.share))
    nobody, everybody = frozenset[str](), frozenset(players)
    return Explanation(
        corpus.name,
        run.name,
        theirs,
        ours,
        there.measure,
        here.measure,
        score(nobody),
        score(everybody),
        results[nobody].signature,
        results[everybody].signature,
        tuple(causes),
        tuple(idle),
        found.exact,
        len(results),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """One lab: its profile, its choices and its measure."""

    like: str
    table: Mapping[str, str]
    measure: str

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        run: Run,
        like: str,
        given: Mapping[str, str],
        measure: str,
        kb: KB | None,
        allow_unknown: bool,
    ) -> _Side:
        todo = setting(corpus, run, like=like, choices=given, measures=[measure], kb=kb, allow_unknown=allow_unknown)
        if len(todo.wanted) != 1 or todo.wanted[0].group is not None:
            raise UsageError(f"{measure} is not one number of the whole. Name one, such as strong:micro.f1.")
        return cls(like, todo.table, str(in_task(todo.shown[0], todo.table["task"])))

    def value(self, choice: str) -> str:
        return self.measure if choice == _MEASURE else self.table[choice]


def _players(there: _Side, here: _Side, corpus: Corpus, run: Run) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The choices that differ and can matter, those that go together as one; and those that cannot matter."""
    differ = [name for name in there.table if name not in _SAME and there.table[name] != here.table[name]]
    idle = [name for name in differ if _idle(name, there, here, corpus, run)]
    players: dict[str, tuple[str, ...]] = {}
    if there.measure != here.measure:
        players[_MEASURE] = (_MEASURE,)
    for name in differ:
        if name not in idle:
            group = next((group for group in TOGETHER if name in group), (name,))
            together = tuple(choice for choice in group if choice in differ)
            players["+".join(together)] = together
    return players, idle


def _idle(choice: str, there: _Side, here: _Side, corpus: Corpus, run: Run) -> bool:
    """Whether a choice cannot change this measure on this data, whatever the other choices are."""
    measures = [parse_measure(side.measure) for side in (there, here)]
    tasks = [TASKS[name.view.task or side.table["task"]] for name, side in zip(measures, (there, here), strict=True)]
    labels, answers = corpus.labels, run.answers
    scores = answers.field("score") is not None or "tags" in run.table.column_names
    documents = all(name.aggregate == "micro" for name in measures)
    never: dict[str, bool] = {
        "given": not any(task.given for task in tasks),
        "typing": not any(_typed(name.view.relation) for name in measures),
        "optional": not labels.flag("optional").any(),
        "alternatives": labels.field("unit") is None,
        "unlinked": not ((labels.entity == NO_LINK).any() or (answers.entity == NO_LINK).any()),
        "threshold": not scores and all(s.table["threshold"].startswith(("none", "oracle")) for s in (there, here)),
        "macro": documents,
        "duplicates": not run.repeated and all(name.view.relation != "entity" for name in measures),
    }
    return never.get(choice, False)


def _typed(relation: str) -> bool:
    return relation in names("relations") and get("relations", relation, Relation).typed


def _mixture(
    corpus: Corpus,
    run: Run,
    there: _Side,
    here: _Side,
    players: Mapping[str, tuple[str, ...]],
    changed: frozenset[str],
    kb: KB | None,
    allow_unknown: bool,
) -> Result:
    """The scores when some players have taken our side and the others theirs."""
    ours = {choice for player in changed for choice in players[player]}
    if len(changed) == len(players):
        ours = set(here.table)
    choices = {
        name: (here if name in ours else there).table[name] for name in there.table if name not in ("kb", "match")
    }
    measures = list(dict.fromkeys([there.measure, here.measure]))
    return evaluate(
        corpus, run, like=there.like, choices=choices, measures=measures, kb=kb, allow_unknown=allow_unknown
    )


def _standing(result: Result) -> dict[tuple[str, int], tuple[str, Mapping[str, Any]]]:
    """How every gold label and every answer counts, by side and row."""
    standing: dict[tuple[str, int], tuple[str, Mapping[str, Any]]] = {}
    view = str(parse_measure(result.shown[0]).view)
    table = result.verdicts
    for row in table.filter(pc.equal(table.column("view"), view)).to_pylist():
        for side, right, wrong in (
            ("gold", row["matched_gold"], row["unmatched_gold"]),
            ("answer", row["matched_answer"], row["unmatched_answer"]),
        ):
            if row[side] is not None:
                words = _WORDS[side]
                word = words[0] if right else words[1] if wrong else "not counted"
                known = standing.get((side, row[side]))
                if known is None or known[0] == "not counted":
                    standing[side, row[side]] = (word, row)
    return standing


_WORDS = {"gold": ("found", "missed"), "answer": ("right", "wrong")}


def _flips(
    before: Mapping[tuple[str, int], tuple[str, Mapping[str, Any]]],
    after: Mapping[tuple[str, int], tuple[str, Mapping[str, Any]]],
) -> Iterable[Flip]:
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key), after.get(key)
        was, is_now = (side[0] if side else "left out" for side in (old, new))
        row = (new or old or ("", {}))[1]
        if was != is_now:
            side = key[0]
            entity = "NIL" if row[f"{side}_nil"] else row[f"{side}_entity"] or "no link"
            start, end = row[f"{side}_start"], row[f"{side}_end"]
            yield Flip(side, row["document"], start, end, entity, row.get("text") or "", was, is_now)
