"""A corpus and a run as the tasks of a request see them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial

import msgspec

from karat.errors import UsageError
from karat.evaluation.drop import dropped
from karat.evaluation.measures import reads
from karat.evaluation.plan import Planner
from karat.evaluation.request import Request
from karat.facts.facts import GUESSING, SCORES, Diction, Facts, GoldFacts, gold_facts
from karat.matching.read.answered import with_answered
from karat.matching.read.facets import label_named
from karat.matching.read.pairing import Pairing, pair
from karat.matching.read.reading import Reading, reading
from karat.matching.read.reduce import demand, reduced
from karat.matching.read.texts import on_gold_text
from karat.matching.read.whole import Whole
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.spec.choices.conventions import Ids, Unnamed
from karat.spec.choices.task import Source
from karat.spec.choices.threshold import Threshold
from karat.spec.grouping import Grouping


class Sides(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Both sides, laid beside each other once for each kind of item; of a block, `whole` says what there is besides.

    `gold` is what is known about the gold labels, where that was found for another run already.
    """

    request: Request
    corpus: Corpus
    given: Run
    whole: Whole | None = None
    gold: GoldFacts | None = None
    _labels: dict[str, Grouping] = msgspec.field(default_factory=dict)
    _pairings: dict[Source, Pairing] = msgspec.field(default_factory=dict)
    _facts: dict[Source, Facts] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Sides {self.corpus.name}, {self.given.name}>"

    @classmethod
    def of(cls, request: Request, corpus: Corpus, run: Run, gold: GoldFacts | None = None) -> Sides:
        """A whole corpus and run, if they are data of the tasks that are asked for."""
        if not (isinstance(corpus, Corpus) and isinstance(run, Run)):
            raise UsageError("evaluate takes a Corpus and a Run, in this order. Make them with load and load_run.")
        run = on_gold_text(corpus, run)
        if request.takes_answered:
            corpus = with_answered(corpus, run)
        found = cls(request, corpus, run, gold=gold)
        for task in request.tasks:
            demand(task, corpus, found.run, asked=request.task_is_asked)
        return found

    @property
    def run(self) -> Run:
        """The answers, without those that are dropped."""
        return self._dropped[0]

    @property
    def left_out(self) -> Mapping[str, int]:
        """How many answers each rule dropped, in words."""
        return self._dropped[1]

    @cached_property
    def _dropped(self) -> tuple[Run, dict[str, int]]:
        rules, types = self.request.drop, None if self.whole is None else self.whole.types
        return dropped(self.corpus, self.given, rules, self.request.kb, types) if rules else (self.given, {})

    def pairing(self, source: Source | None = None) -> Pairing:
        """Both sides as items of one kind; those of the task unless another kind is asked for."""
        source = source or self.request.conventions.task.source
        if source not in self._pairings:
            # The parts of a statement are compared as they are: no rule for emerging entities holds between them.
            how = self._reading
            own = replace(how, kb=None, ids=Ids.AS_WRITTEN, prefixes=None) if source == "statements" else how
            both = reduced(self.corpus, self.run, source, how)
            self._pairings[source] = pair(*both, allow_unknown=self.request.allow_unknown, how=own)
        return self._pairings[source]

    def label(self, name: str) -> Grouping:
        """A label by its name, which may be a dimension of this gold standard's categories."""
        if name not in self._labels:
            self._labels[name] = label_named(name, self.pairing().facets.whole)
        return self._labels[name]

    @cached_property
    def _reading(self) -> Reading:
        request = self.request
        types, clusters = reads(request.wanted, request.conventions.task_name)
        how = reading(request.conventions, request.kb, typed=types, clustered=clusters)
        return replace(how, whole=self.whole)

    @property
    def facts(self) -> Facts:
        """What is known about the mentions and the answers."""
        return self.facts_of(self.request.conventions.task.source)

    def facts_of(self, source: Source) -> Facts:
        """What is known about items of one kind on both sides; those of a task may have other rows than mentions."""
        if source not in self._facts:
            gold = self.gold_facts if source == self.request.conventions.task.source else None
            pairing, request = self.pairing(source), self.request
            known = request.vocabulary
            vocabulary = None if known is None else partial(known.has, kb=request.kb)
            self._facts[source] = Facts(pairing, request.knowledge, self._diction, gold=gold, vocabulary=vocabulary)
        return self._facts[source]

    @cached_property
    def gold_facts(self) -> GoldFacts:
        """What is known about the gold labels, which other runs on them may share."""
        if self.gold is not None:
            return self.gold
        pairing, kb, unnamed = self.pairing(), self.request.knowledge, self.request.conventions.unnamed
        return pairing.of_gold(f"facts, unnamed={unnamed}", lambda: gold_facts(pairing, kb, self._diction), kb)

    @property
    def _diction(self) -> Diction:
        return GUESSING if self.request.conventions.unnamed is Unnamed.NAMED else SCORES

    def planner(self, thresholds: Mapping[str, Threshold] | None = None) -> Planner:
        """What makes plans for these sides."""
        return Planner(self.request, self.pairing, thresholds or {})
