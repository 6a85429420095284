"""Why two labs get different numbers from the same data: the gap, divided among the conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow.compute as pc
from msgspec.structs import replace

from karat.errors import UsageError
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.name import parse_measure
from karat.model.result import Result
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.tables.columns import NO_LINK
from karat.registry import get, names
from karat.signing import profile_signed
from karat.spec.choices.choices import SIGNED
from karat.spec.choices.task import TASKS
from karat.spec.choices.threshold import SWEEPS, Sweep, Threshold
from karat.spec.relation import Relation
from karat.stats.shapley import shapley

EXACT_UP_TO = 12
"""Players up to which every mixture is scored; beyond that orders are sampled."""

TOGETHER: tuple[tuple[str, ...], ...] = (("nil", "prefixes"), ("ids", "missing", "kb"))
"""Choices that make sense only together, and change sides as one."""

_MEASURE = "measure"
_SAME = ("match", "seed")  # what is shown, and what no score depends on


class Flip(NamedTuple):
    """A case that counts otherwise once a choice has changed sides.

    `gold` and `answer` are what it is linked to there, None where there is no such side; the words say how each counted
    before and after, and are empty for a side that counts as before.
    """

    document: str
    start: int
    end: int
    text: str
    gold: str | None
    answer: str | None
    score: float | None
    gold_before: str
    gold_after: str
    answer_before: str
    answer_after: str


@dataclass(frozen=True, slots=True)
class Cause:
    """A choice, or several that go together, with its share of the gap and what it flips.

    `error` is the standard error of the share where orders were sampled. `first` is what the choice changes if it
    changes sides before all others, `last` if after them (None where that mixture was not scored). An oracle threshold
    is chosen anew in every mixture: `moved` says from what to what, while flips are those at the threshold of theirs.
    """

    choices: tuple[str, ...]
    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    share: float
    error: float | None
    first: float
    last: float | None
    moved: tuple[float | None, float | None] | None
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
    their_result: Result = field(repr=False)
    our_result: Result = field(repr=False)

    @property
    def gap(self) -> float:
        """Ours minus theirs."""
        return self.our_score - self.their_score


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
    there = _Side.of(theirs, their_choices or {}, their_measure or measure, kb, allow_unknown)
    here = _Side.of(ours, our_choices or {}, measure, kb, allow_unknown)
    players, idle = _players(there, here, corpus, run)
    results: dict[frozenset[str], Result] = {}
    scores: dict[frozenset[str], float] = {}

    def score(changed: frozenset[str]) -> float:
        if changed not in scores:
            results[changed] = _mixture(corpus, run, there, here, players, changed)
            scores[changed] = _value(results[changed], _measured(there, here, changed), changed)
            if progress is not None:
                progress(1)
        return scores[changed]

    found = shapley(list(players), score, exact_up_to=EXACT_UP_TO, samples=samples, seed=seed)
    nobody, everybody = frozenset[str](), frozenset(players)
    start, end = score(nobody), score(everybody)
    before = _standing(results[nobody], there.measure)
    causes = []
    for part in found.shares:
        alone, others = frozenset({part.player}), everybody - {part.player}
        fixed = _fixed(results[nobody], there.measure) if "threshold" not in players[part.player] else None
        first = score(alone) - start
        flipped = results[alone]
        if fixed is not None and flipped.thresholds:
            flipped = _mixture(corpus, run, there, here, players, alone, fixed)
        moved = tuple(_oracle(result, _measured(there, here, alone)) for result in (results[nobody], results[alone]))
        causes.append(
            Cause(
                players[part.player],
                tuple(there.value(choice) for choice in players[part.player]),
                tuple(here.value(choice) for choice in players[part.player]),
                part.value,
                part.error,
                first,
                end - scores[others] if others in scores else None,
                (moved[0], moved[1]) if fixed is not None and moved[0] != moved[1] else None,
                tuple(_flips(before, _standing(flipped, _measured(there, here, alone)))),
            )
        )
    causes.sort(key=lambda cause: -abs(cause.share))
    return Explanation(
        corpus.name,
        run.name,
        theirs,
        ours,
        there.measure,
        here.measure,
        start,
        end,
        results[nobody].signature,
        _under(ours, results[everybody].signature),
        tuple(causes),
        tuple(idle),
        found.exact,
        found.evaluations,
        results[nobody],
        results[everybody],
    )


def _under(profile: str, signature: Signature) -> Signature:
    """A mixture of all choices of ours, as a signature of our profile."""
    return Signature(tuple((name, profile_signed(profile) if name == "profile" else v) for name, v in signature.parts))


def _measured(there: _Side, here: _Side, changed: frozenset[str]) -> str:
    """The measure in a mixture."""
    return here.measure if _MEASURE in changed or there.measure == here.measure else there.measure


def _value(result: Result, name: str, changed: frozenset[str]) -> float:
    found = result.score(name)
    if found.value is None:
        mixed = ", ".join(sorted(changed)) or "no change"
        hints = " ".join(f"Note: {note}." for note in result.notes)
        raise UsageError(f"{name} is undefined with {mixed}: {found.reason}. Choose another measure. {hints}".strip())
    return found.value


def _base(name: str) -> str:
    return str(replace(parse_measure(name).view, filters=()))


def _oracle(result: Result, name: str) -> float | None:
    """The threshold that was chosen on the scored data, if one was."""
    return result.thresholds.get(_base(name))


def _fixed(result: Result, name: str) -> str | None:
    """The oracle threshold of a result as a fixed one; None where it has no oracle."""
    if _base(name) not in result.thresholds:
        return None
    rule = SWEEPS[result.signature["threshold"]]
    at = result.thresholds[_base(name)]
    return "none" if at is None else str(Threshold(at, rule.strict))


@dataclass(frozen=True, slots=True)
class _Side:
    """One lab: its profile, its choices and its measure."""

    request: Request
    table: Mapping[str, str]
    measure: str

    @classmethod
    def of(
        cls,
        like: str,
        given: Mapping[str, str],
        measure: str,
        kb: KB | None,
        allow_unknown: bool,
    ) -> _Side:
        request = Request.of(like=like, choices=given, measures=[measure], kb=kb, allow_unknown=allow_unknown)
        if len(request.wanted) != 1 or request.wanted[0].group is not None:
            several = f"{measure}:micro.f1" if request.wanted[0].group is None else "strong:micro.f1"
            raise UsageError(f"{measure} is not one number of the whole. Name one, such as {several}.")
        table = request.signature("").as_dict()
        return cls(request, {name: table[name] for name in SIGNED}, str(request.wanted[0]))

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
    own = [side.request.conventions.task_name for side in (there, here)]
    tasks = [TASKS[name.view.task or task] for name, task in zip(measures, own, strict=True)]
    labels, answers = corpus.labels, run.answers
    scores = answers.field("score") is not None or "tags" in run.table.column_names
    rules = [side.request.conventions.threshold for side in (there, here)]
    by_macro = any(isinstance(rule, Sweep) and rule.criterion.startswith("macro") for rule in rules)
    documents = all(name.aggregate == "micro" for name in measures) and not by_macro
    grouped = all(name.group is None for name in measures)  # then nothing is asked by label
    never: dict[str, bool] = {
        "given": not any(task.given for task in tasks),
        "typing": not any(_typed(name.view.relation) for name in measures),
        "optional": not labels.flag("optional").any(),
        "alternatives": labels.field("unit") is None,
        "unlinked": not ((labels.entity == NO_LINK).any() or (answers.entity == NO_LINK).any()),
        "threshold": not scores and all(isinstance(rule, Sweep) or rule.at is None for rule in rules),
        "macro": documents,
        "quantities": there.request.kb is None,
        "span": "evaluation_span" not in corpus.table.column_names,
        **dict.fromkeys(("categories", "unnamed", "near", "false-coreference", "groups"), grouped),
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
    threshold: str | None = None,
) -> Result:
    """The scores when some players have taken our side and the others theirs, at a given threshold if one is."""
    ours = {choice for player in changed for choice in players[player]}
    if len(changed) == len(players):
        ours = set(here.table)
    choices = {
        name: (here if name in ours else there).table[name] for name in there.table if name not in ("kb", "match")
    }
    if threshold is not None:
        choices["threshold"] = threshold
    measures = list(dict.fromkeys([there.measure, here.measure]))
    return Evaluation.of(there.request.but(choices=choices, measures=measures), corpus, run).result


class _Standing(NamedTuple):
    """How a gold label or an answer counts, and the row of the verdict table that says so."""

    word: str
    row: Mapping[str, Any]


_WORDS = {"gold": ("found", "missed"), "answer": ("right", "wrong")}


def _standing(result: Result, measure: str) -> dict[tuple[str, int], _Standing]:
    """How every gold label and every answer counts, by side and row; nothing where a view has no verdicts."""
    standing: dict[tuple[str, int], _Standing] = {}
    table = result.verdicts
    for row in table.filter(pc.equal(table.column("view"), str(parse_measure(measure).view))).to_pylist():
        for side, right, wrong in (
            ("gold", row["matched_gold"], row["unmatched_gold"]),
            ("answer", row["matched_answer"], row["unmatched_answer"]),
        ):
            if row[side] is not None:
                words = _WORDS[side]
                word = words[0] if right else words[1] if wrong else "not counted"
                known = standing.get((side, row[side]))
                if known is None or known.word == "not counted":
                    standing[side, row[side]] = _Standing(word, row)
    return standing


def _flips(before: Mapping[tuple[str, int], _Standing], after: Mapping[tuple[str, int], _Standing]) -> Iterator[Flip]:
    """What counts otherwise; a gold label and the answer at its place are one case."""
    changed = {
        key: (old.word if old else "left out", new.word if new else "left out")
        for key in sorted(before.keys() | after.keys())
        for old, new in [(before.get(key), after.get(key))]
        if (old.word if old else "left out") != (new.word if new else "left out")
    }
    told: set[tuple[str, int]] = set()
    for key in changed:
        if key in told:
            continue
        row = _fuller(before.get(key), after.get(key))
        pair = [(side, row[side]) for side in ("gold", "answer") if row[side] is not None]
        told.update(pair)
        was = {side: changed.get((side, number), ("", "")) for side, number in pair}
        yield _flip(row, was.get("gold", ("", "")), was.get("answer", ("", "")))


def _fuller(old: _Standing | None, new: _Standing | None) -> Mapping[str, Any]:
    """The row with both sides, if one of the two has both."""
    rows = [standing.row for standing in (new, old) if standing is not None]
    return max(rows, key=lambda row: (row["gold"] is not None) + (row["answer"] is not None))


def _flip(row: Mapping[str, Any], gold: tuple[str, str], answer: tuple[str, str]) -> Flip:
    side = "gold" if row["gold"] is not None else "answer"

    def link(side: str) -> str | None:
        if row[side] is None:
            return None
        return "NIL" if row[f"{side}_nil"] else row[f"{side}_entity"] or "no link"

    start, end = row[f"{side}_start"], row[f"{side}_end"]
    words = (*gold, *answer)
    return Flip(row["document"], start, end, row.get("text") or "", link("gold"), link("answer"), row["score"], *words)
