"""What is to be computed: the table of choices, the measures, and both sides as each task sees them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from karat.errors import UsageError
from karat.evaluation.drop import dropped, needs_text, rules_of
from karat.evaluation.plan import Planner, expanded, in_task, measures_of, parts_of, reads
from karat.evaluation.profiles import profile_named
from karat.evaluation.view import measure_of
from karat.facts.facts import Facts
from karat.kb.folder import read_kb
from karat.kb.protocol import KB
from karat.matching.read.answered import with_answered
from karat.matching.read.pairing import Pairing, pair
from karat.matching.read.reading import Reading, reading
from karat.matching.read.reduce import demand, reduced
from karat.matching.read.whole import Whole
from karat.matching.weigh.membership import WHOLE, Membership, membership_of
from karat.model.corpus import Corpus
from karat.model.name import MeasureName, parse_measure
from karat.model.run import Run
from karat.model.signature import Signature
from karat.registry import identity
from karat.spec.profile import chosen
from karat.spec.task import TASKS, Source
from karat.spec.threshold import Threshold
from karat.version import __version__

TEXTUAL = frozenset({"error", "mention-type", "entity-type"})
"""Labels that are made from what mentions say."""


@dataclass(frozen=True)
class Setting:
    """What is to be computed: the table of choices, the measures, and both sides as each task sees them."""

    corpus: Corpus
    run: Run
    like: str
    table: Mapping[str, str]
    shown: tuple[str, ...]
    wanted: tuple[MeasureName, ...]
    kb: KB | None
    pairing: Callable[[Source], Pairing]
    left_out: Mapping[str, int]
    membership: Membership | None = None

    @cached_property
    def facts(self) -> Facts:
        """What is known about the mentions and the answers."""
        pairing = self.pairing(TASKS[self.table["task"]].source)
        return Facts(pairing, self.kb, guess=self.table["categories"] == "answer")

    def planner(self, thresholds: Mapping[str, Threshold] | None = None) -> Planner:
        """What makes plans in this setting."""
        return Planner(self.table, self.kb, self.pairing, thresholds or {}, self.membership)

    @property
    def signature(self) -> Signature:
        """The version, the data and every choice."""
        data = f"{self.corpus.name}@{self.corpus.digest}"
        return Signature((("karat", __version__), ("data", data), *self.table.items()))


def as_text(choices: Mapping[str, object]) -> dict[str, str]:
    """Choices as the signature writes them; several values are separated by spaces."""
    return {
        name: " ".join(map(str, value)) if isinstance(value, list) or type(value) is tuple else str(value)
        for name, value in choices.items()
    }


def setting(
    corpus: Corpus,
    run: Run,
    *,
    like: str = "karat",
    choices: Mapping[str, str],
    measures: Sequence[str] = (),
    also: Sequence[str] = (),
    kb: KB | str | os.PathLike[str] | None = None,
    allow_unknown: bool = False,
    whole: Whole | None = None,
) -> Setting:
    """Check what was asked for against what there is; of a block, `whole` says what there is besides."""
    if isinstance(kb, str | os.PathLike):
        kb = read_kb(kb)
    if not (isinstance(corpus, Corpus) and isinstance(run, Run)):
        raise UsageError("evaluate takes a Corpus and a Run, in this order. Make them with load and load_run.")
    profile = profile_named(like)
    given = dict(choices)
    if "kb" in given and kb is None:
        raise UsageError("the choice kb says which knowledge base was used. Give the knowledge base itself.")
    if kb is not None:
        given = {"ids": "resolved", **given, "kb": f"{kb.name}@{kb.digest}"}
    table = chosen(profile, given)
    if table["macro"] == "gold-documents" and whole is None and not allow_unknown:
        corpus = with_answered(corpus, run)
    left_out: dict[str, int] = {}
    if table["drop"] != "none":
        rules = rules_of(table["drop"])
        table["drop"] = ",".join(rules)
        run, left_out = dropped(corpus, run, rules, kb)
    membership = membership_of(table["membership"])
    table["membership"] = WHOLE if membership is None else membership.name
    shown = measures_of(profile, table, given.get("match"), measures)
    if membership is not None:
        shown = _of_weights(shown, asked=bool(measures))
    wanted = list(dict.fromkeys([*map(parse_measure, shown), *(in_task(name, table["task"]) for name in also)]))
    for name in wanted:
        measure = measure_of(name)  # says so if there is no such measure
        if parts_of(name.view, table["task"]) and (measure.needs_detection or not measure.usual):
            raise UsageError(f"{name} is not averaged over the parts of {name.view}. Ask for it of one of them.")
    for task in dict.fromkeys(name.view.task or table["task"] for name in wanted) if whole is None else ():
        demand(task, corpus, run, asked="task" in given)
    table["match"] = ",".join(
        dict.fromkeys(
            f"{f'{name.view.task}/' if name.view.task else ''}{identity('relations', name.view.relation)}"
            for name in wanted
        )
    )
    types, clusters = reads(wanted, table["task"])
    how = replace(reading(table, kb, typed=types, clustered=clusters), whole=whole)
    pairing = _pairings(corpus, run, allow_unknown=allow_unknown, how=how)
    return Setting(corpus, run, like, table, tuple(shown), tuple(wanted), kb, pairing, left_out, membership)


def _of_weights(shown: Sequence[str], *, asked: bool) -> list[str]:
    """The measures that make sense where mentions are weighed.

    Those of both stages do not: an answer may be matched with a heavier mention than the one it detects.
    """
    staged = [name for name in shown if measure_of(parse_measure(name)).needs_detection]
    if staged and asked:
        raise UsageError(f"{staged[0]} counts mentions, and membership weighs them. Ask for it with membership=whole.")
    return [name for name in shown if name not in staged]


def _pairings(corpus: Corpus, run: Run, *, allow_unknown: bool, how: Reading) -> Callable[[Source], Pairing]:
    """Both sides laid beside each other, once for each kind of item."""

    @cache
    def pairing(source: Source) -> Pairing:
        # The parts of a statement are compared as they are: no rule for emerging entities holds between them.
        own = replace(how, kb=None, prefixes=None) if source == "statements" else how
        return pair(*reduced(corpus, run, source, how.kb, how.whole), allow_unknown=allow_unknown, how=own)

    return pairing


def reads_text(like: str, choices: Mapping[str, str], measures: Sequence[str], by: Sequence[str]) -> bool:
    """Whether scores look at what mentions say, so that a corpus must be loaded with its texts."""
    profile = profile_named(like)
    table = {**profile.choices, **choices}
    shown = (parse_measure(name) for given in measures or profile.measures for name in expanded(given))
    labels = {*by, *(name.group[0] for name in shown if name.group is not None)}
    return table["spans"] == "words" or needs_text(rules_of(table["drop"])) or bool(labels & TEXTUAL)
