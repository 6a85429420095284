"""A corpus and a run as the tasks of a request use them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Final, NamedTuple

import msgspec

from karat.evaluation.drop_rules import drop_predictions
from karat.evaluation.measures import find_data_needs
from karat.evaluation.plan import Plan, Planner
from karat.evaluation.request import Request
from karat.evaluation.thresholds import Steps
from karat.kb.ids.normal_forms import IdContext
from karat.kb.ids.normalising_kb import unwrap_kb
from karat.matching.facts.facts import (
    NAMED_BY_DEFAULT,
    SCORE_DEFINITIONS,
    FactDefinitions,
    Facts,
    GoldFacts,
    compute_gold_facts,
)
from karat.matching.read.extra_documents import add_extra_documents
from karat.matching.read.facets import get_facet
from karat.matching.read.invented_mentions import add_invented, count_invented
from karat.matching.read.pairing import Pairing, pair_run
from karat.matching.read.read_options import CorpusContext, ReadOptions, build_read_options, find_id_context
from karat.matching.read.task_data import check_task_data, select_task_data
from karat.matching.read.text_alignment import align_with_corpus
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.results.verdict import Verdicts
from karat.model.run import Run
from karat.model.spec.facet import Facet
from karat.model.spec.settings.conventions import Categories, Ids, Invented, NilIds, UnknownNames
from karat.model.spec.settings.task import TaskSource
from karat.model.spec.settings.threshold import Threshold
from karat.model.tables.columns import Floats

INVENTED_NOTES: Final[Mapping[Invented, str]] = {
    Invented.SKIP: "invented mentions, not in the text (not scored)",
    Invented.WRONG: "invented mentions, not in the text (counted as wrong)",
}
"""Description of the number of invented mentions, by setting."""


class JudgedTable(NamedTuple):
    """A table of verdicts of a whole corpus."""

    weights: Floats
    """The sums of the four `Weights`, one row per document."""
    verdicts: Sequence[Verdicts] | None
    """The verdicts of consecutive documents; None if they were too large to keep."""


class JudgedTables(msgspec.Struct, eq=False):
    """Everything that was paired and judged so far of one run on one corpus, for all its evaluations to share.

    Two evaluations share a table if their requests agree in everything that verdicts depend on, and in the threshold.
    They share a pairing if their requests agree in how items are read.
    """

    data: dict[Hashable, tuple[Corpus, Run]] = msgspec.field(default_factory=dict)
    """Corpus and run that `align` returned, by its arguments."""
    runs: dict[Hashable, tuple[Run, dict[str, int]]] = msgspec.field(default_factory=dict)
    """Runs without dropped predictions, and the counts of dropped ones, by the options that they depend on."""
    pairings: dict[Hashable, Pairing] = msgspec.field(default_factory=dict)
    """Pairings by the options that they depend on."""
    tables: dict[Hashable, JudgedTable] = msgspec.field(default_factory=dict)
    """Judged tables by `TaskInputs.table_key`."""
    sweeps: dict[Hashable, Steps] = msgspec.field(default_factory=dict)
    """Changes of the statistics as the threshold falls, by `TaskInputs.table_key` and grid of thresholds."""
    _numbered: list[object] = msgspec.field(default_factory=list)

    def copy(self) -> JudgedTables:
        """Return a copy with the same tables, so that what is judged from now on is not added to these."""
        return JudgedTables(
            dict(self.data),
            dict(self.runs),
            dict(self.pairings),
            dict(self.tables),
            dict(self.sweeps),
            list(self._numbered),
        )

    def clear(self) -> None:
        """Forget all tables and pairings, to free memory."""
        self.data.clear()
        self.runs.clear()
        self.pairings.clear()
        self.tables.clear()
        self.sweeps.clear()

    def align(self, corpus: Corpus, run: Run, *, adds_documents: bool) -> tuple[Corpus, Run]:
        """Return corpus and run with aligned texts; cached.

        `adds_documents`: documents that occur only in the run become gold documents without labels.
        """
        key = self.number(corpus), self.number(run)
        if key not in self.data:
            self.data[key] = corpus, align_with_corpus(corpus, run)
        if not adds_documents:
            return self.data[key]
        if (key, adds_documents) not in self.data:
            aligned = self.data[key][1]
            self.data[key, adds_documents] = add_extra_documents(corpus, aligned), aligned
        return self.data[key, adds_documents]

    def number(self, value: object) -> int:
        """Return a number that stands for a corpus, a run or a knowledge base; equal for the same object only."""
        for number, other in enumerate(self._numbered):
            if other is value:
                return number
        self._numbered.append(value)
        return len(self._numbered) - 1


class TaskInputs(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A corpus and a run, aligned once for each kind of item."""

    request: Request
    """What the evaluation computes."""
    corpus: Corpus
    """The gold standard, or one block of it."""
    original_run: Run
    """The run before the drop rules are applied."""
    context: CorpusContext | None = None
    """Properties of the whole corpus, if `corpus` is only a block."""
    shared_gold_facts: GoldFacts | None = None
    """Facts about the gold labels that were computed for another run."""
    judged: JudgedTables = msgspec.field(default_factory=JudgedTables)
    """Tables of the run that were judged so far."""
    _facets: dict[str, Facet] = msgspec.field(default_factory=dict)
    _pairings: dict[TaskSource, Pairing] = msgspec.field(default_factory=dict)
    _facts: dict[TaskSource, Facts] = msgspec.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<TaskInputs {self.corpus.name}, {self.original_run.name}>"

    @classmethod
    def from_data(
        cls,
        request: Request,
        corpus: Corpus,
        run: Run,
        gold_facts: GoldFacts | None = None,
        judged: JudgedTables | None = None,
    ) -> TaskInputs:
        """Align a whole run with its corpus; raise if they lack the data that the tasks require.

        `gold_facts` are facts about the gold labels, if they were computed for another run. `judged` has the tables
        that other evaluations of this run judged.
        """
        if not (isinstance(corpus, Corpus) and isinstance(run, Run)):
            raise UsageError("evaluate expects a Corpus and a Run, in this order. Create them with load and load_run.")
        judged = judged or JudgedTables()
        corpus, run = judged.align(corpus, run, adds_documents=request.adds_predicted_documents)
        inputs = cls(request, corpus, run, shared_gold_facts=gold_facts, judged=judged)
        for task in request.tasks:
            check_task_data(task, corpus, inputs.run, is_requested=task in request.explicit_tasks)
        return inputs

    @property
    def run(self) -> Run:
        """The run without the dropped predictions."""
        return self._drop_result[0]

    @property
    def dropped_counts(self) -> Mapping[str, int]:
        """Number of predictions that each rule dropped, by description."""
        return self._drop_result[1]

    @cached_property
    def _drop_result(self) -> tuple[Run, dict[str, int]]:
        """The run without the dropped predictions, and the counts of dropped ones.

        Invented mentions are added as predictions if they count as wrong. No rule drops them.
        """
        if self._data_key not in self.judged.runs:
            rules, types = self.request.drop_rules, None if self.context is None else self.context.entity_types
            run, counts = (
                drop_predictions(self.corpus, self.original_run, rules, self.request.kb, types)
                if rules
                else (self.original_run, {})
            )
            run = add_invented(run) if self.request.conventions.invented is Invented.WRONG else run
            self.judged.runs[self._data_key] = run, counts
        return self.judged.runs[self._data_key]

    @cached_property
    def _data_key(self) -> Hashable:
        """Everything that the corpus and the run without the dropped predictions depend on."""
        request, number = self.request, self.judged.number
        rules = (request.drop_rules, number(request.base_kb), request.conventions.ids) if request.drop_rules else ()
        return number(self.corpus), number(self.original_run), request.conventions.invented, rules

    @property
    def invented_counts(self) -> dict[str, int]:
        """Number of predicted mentions that have no place in the text, by a description of how they count."""
        conventions = self.request.conventions
        compares_mentions = conventions.task.source != "entities" and not conventions.task.has_gold_mentions
        return {
            INVENTED_NOTES[conventions.invented if compares_mentions else Invented.SKIP]: count_invented(
                self.original_run
            )
        }

    def pairing(self, source: TaskSource | None = None) -> Pairing:
        """Return corpus and run with aligned documents and common entity codes; cached.

        `source`: what is compared, that is mentions, entities of whole documents, or triples; None for that of the
        request's task. The parts of triples are compared as written.
        """
        source = source or self.request.conventions.task.source
        if source not in self._pairings:
            # The parts of a triple are compared as written; the rules for emerging entities do not apply.
            options = self._read_options
            source_options = (
                replace(options, kb=None, ids=Ids.AS_WRITTEN, prefixes=None, nil_ids=NilIds.NULL)
                if source == "triples"
                else options
            )
            pairings, code_key = self.judged.pairings, (source, self._code_key)
            key = code_key, options, self.judged.number(unwrap_kb(options.kind_kb))
            if code_key not in pairings:
                data = select_task_data(self.corpus, self.run, source, options)
                pairings[code_key] = pairings[key] = pair_run(
                    *data, allow_unknown=self.request.allow_unknown, options=source_options
                )
            if key not in pairings:
                pairings[key] = msgspec.structs.replace(pairings[code_key], read_options=source_options)
            self._pairings[source] = pairings[key]
        return self._pairings[source]

    @cached_property
    def _code_key(self) -> Hashable:
        """Everything besides the kind of item that the documents and entity codes of a pairing depend on."""
        options = self._read_options
        kb = self.judged.number(unwrap_kb(options.kb))
        return self._data_key, self.request.allow_unknown, options.code_options, kb

    def get_facet(self, name: str) -> Facet:
        """Return a facet by name, which may be a category dimension of this gold standard; raise if unknown."""
        if name not in self._facets:
            self._facets[name] = get_facet(name, self.pairing().facets.dimension_labels)
        return self._facets[name]

    @cached_property
    def _read_options(self) -> ReadOptions:
        """How ids, types and clusters are read, from the settings and the needs of the measures."""
        request = self.request
        types, clusters = find_data_needs(request.all_measures, request.conventions.task_name)
        options = build_read_options(request.conventions, request.kb, needs_types=types, needs_clusters=clusters)
        return replace(
            options if self.id_context is None else options.with_id_context(self.id_context), context=self.context
        )

    @cached_property
    def id_context(self) -> IdContext | None:
        """How the ids of the whole data are meant; None if ids are not normalised."""
        if self.request.conventions.ids is not Ids.NORMALISED:
            return None
        if self.context is not None and self.context.id_context is not None:
            return self.context.id_context
        return find_id_context(self.corpus, self.original_run)

    @property
    def facts(self) -> Facts:
        """Facts about the mentions and the predictions of the task."""
        return self.get_facts(self.request.conventions.task.source)

    def get_facts(self, source: TaskSource) -> Facts:
        """Return facts about the gold items and the predictions; cached.

        `source`: what the items are, that is mentions, entities of whole documents, or triples.
        """
        if source not in self._facts:
            gold = self.gold_facts if source == self.request.conventions.task.source else None
            pairing, request = self.pairing(source), self.request
            entities = request.vocabulary
            vocabulary = None if entities is None else partial(entities.contains, kb=request.kb)
            self._facts[source] = Facts(
                pairing, request.fact_kb, self._fact_definitions, gold=gold, vocabulary=vocabulary
            )
        return self._facts[source]

    @cached_property
    def gold_facts(self) -> GoldFacts:
        """Facts about the gold labels, which evaluations of other runs can share."""
        if self.shared_gold_facts is not None:
            return self.shared_gold_facts
        pairing, kb, definitions = self.pairing(), self.request.fact_kb, self._fact_definitions
        name = f"facts, unnamed={definitions.unnamed_type}, unknown={definitions.compares_unknown_ids}"
        return pairing.cache_gold_result(name, lambda: compute_gold_facts(pairing, kb, definitions), kb)

    @property
    def _fact_definitions(self) -> FactDefinitions:
        """Definitions of facts, which depend on how entities without known names and unknown ids are treated."""
        conventions = self.request.conventions
        definitions = NAMED_BY_DEFAULT if conventions.unknown_names is UnknownNames.NAMED else SCORE_DEFINITIONS
        return msgspec.structs.replace(
            definitions, compares_unknown_ids=conventions.categories is Categories.PREDICTION
        )

    def table_key(self, plan: Plan) -> Hashable:
        """Return the key of a plan's table in `judged`, equal for plans that give the same verdicts."""
        return self._judging_key, plan.view, plan.selection.is_detection, plan.selection.threshold

    @cached_property
    def _judging_key(self) -> Hashable:
        """The part of `table_key` that all plans share."""
        return self.request.judging_options, self.judged.number(self.request.base_kb)

    def create_planner(self, thresholds: Mapping[str, Threshold] | None = None) -> Planner:
        """Return a planner for this corpus and run; `thresholds` are score thresholds by `threshold_key`."""
        return Planner(self.request, self.pairing, thresholds or {})
