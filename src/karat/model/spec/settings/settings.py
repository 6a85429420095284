"""All settings: their names, values and descriptions, and the typed settings of an evaluation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from karat.model.errors import UnknownNameError, UsageError
from karat.model.output.command_options import format_option
from karat.model.spec.settings.conventions import (
    Alternatives,
    Assignment,
    Categories,
    ClusterMembership,
    Convention,
    Duplicates,
    EvaluationSpan,
    FalseCoreference,
    GoldMentionAlignment,
    Groups,
    Ids,
    Invented,
    Macro,
    NearMentions,
    Nil,
    NilIds,
    Optional,
    Overlaps,
    Quantities,
    Spans,
    Typing,
    UnknownIds,
    UnknownNames,
    Unlinked,
)
from karat.model.spec.settings.empty import EMPTY, EmptyRule
from karat.model.spec.settings.task import TASKS, Task, parse_task
from karat.model.spec.settings.threshold import Sweep, Threshold, parse_threshold


class Setting(NamedTuple):
    """A convention that papers and tools choose differently, with its possible values."""

    title: str
    """The name in explanations."""
    values: Mapping[str, str]
    """The description of each named value."""
    open_description: str = ""
    """A template that describes any other value; empty if only `values` are allowed."""
    order_dependent_values: frozenset[str] = frozenset()
    """The values that depend on the order of mentions in the files."""
    parse: Callable[[str], Any] = str
    """Return a value as the field of `Conventions` that is named after the setting."""

    def describe(self, value: str) -> str:
        """Return a sentence about a value, with a note if results depend on the order of mentions in the files."""
        description = self.values.get(value) or self.open_description.format(value)
        return f"{description} {ORDER_NOTE}" if value in self.order_dependent_values else description


ORDER_NOTE = "It depends on the order of mentions in the files."
"""The sentence added to the description of order-dependent values and relations."""


def _closed_setting(title: str, convention: type[Convention]) -> Setting:
    """Return a setting whose only values are the members of the enumeration `convention`."""
    order_dependent = frozenset(str(value) for value in convention if value.is_order_dependent)
    values = {str(value): value.description for value in convention}
    return Setting(title, values, order_dependent_values=order_dependent, parse=convention)


GERBIL_PREFIXES = (
    "http://dbpedia.org/resource/",
    "http://dbpedia.org/ontology/",
    "http://ontologydesignpatterns.org/ont/dul/",
    "http://www.ontologydesignpatterns.org/ont/dul/",
    "http://ontologydesignpatterns.org/ont/wikipedia/d0.owl",
    "http://www.ontologydesignpatterns.org/ont/wikipedia/d0.owl",
    "http://www.wikidata.org/entity/",
    "http://d-nb.info/",
)

_NAMED_PREFIXES: dict[str, tuple[str, ...] | None] = {"none": None, "gerbil": GERBIL_PREFIXES}


def parse_prefixes(text: str) -> tuple[str, ...] | None:
    """Parse a value of the setting `prefixes`: `none`, `gerbil`, or prefixes separated by spaces or commas.

    Ids of the knowledge base start with one of the prefixes; None means that all ids belong to it. In
    a list, `gerbil` stands for all its prefixes.
    """
    if text in _NAMED_PREFIXES:
        return _NAMED_PREFIXES[text]
    return tuple(
        prefix for part in re.split(r"[ ,]+", text) for prefix in (GERBIL_PREFIXES if part == "gerbil" else (part,))
    )


SETTINGS: dict[str, Setting] = {
    "task": Setting("Task", {name: task.description for name, task in TASKS.items()}),
    "gold-mentions": _closed_setting("Given mentions", GoldMentionAlignment),
    "match": Setting(
        "Match relations",
        {},
        open_description="Predictions are compared with the gold standard by these match relations, each with separate "
        "scores: {}.",
    ),
    "spans": _closed_setting("Spans", Spans),
    "assignment": _closed_setting("Assignment", Assignment),
    "nil": _closed_setting("NIL", Nil),
    "nil-ids": _closed_setting("Ids that are NIL", NilIds),
    "prefixes": Setting(
        "Prefixes of the knowledge base",
        {
            "none": "All ids belong to the knowledge base.",
            "gerbil": "Ids of the knowledge base start with one of GERBIL's prefixes: DBpedia resources and ontology, "
            "DUL and its d0 module, Wikidata entities, d-nb.info.",
        },
        open_description="Ids of the knowledge base start with one of these prefixes, separated by spaces or commas: "
        "{}.",
        parse=parse_prefixes,
    ),
    "optional": _closed_setting("Optional mentions", Optional),
    "alternatives": _closed_setting("Alternatives", Alternatives),
    "unlinked": _closed_setting("Unlinked spans", Unlinked),
    "overlaps": _closed_setting("Overlapping annotations", Overlaps),
    "duplicates": _closed_setting("Duplicates", Duplicates),
    "clusters": _closed_setting("Clusters", ClusterMembership),
    "typing": _closed_setting("Types", Typing),
    "evaluation-span": _closed_setting("Evaluation span", EvaluationSpan),
    "invented": _closed_setting("Invented mentions", Invented),
    "quantities": _closed_setting("Quantities and datetimes", Quantities),
    "empty": Setting(
        "Empty documents", {name: rule.description for name, rule in EMPTY.items()}, parse=EMPTY.__getitem__
    ),
    "macro": _closed_setting("Macro scores", Macro),
    "threshold": Setting(
        "Threshold",
        {
            "none": "All predictions count, regardless of score.",
            "oracle": "Oracle: the threshold is the score in the data with the best micro F1 on this corpus, the "
            "lowest on ties. Predictions with at least this score count, and predictions without score.",
            "oracle-gerbil": "Oracle: no threshold, or the score with the best micro F1 on this corpus, the lowest on "
            "ties. Predictions above this score count, and predictions without score.",
            "oracle-bat": "Oracle: the threshold among 0, 1/128, … 1 with the best macro F1 on this corpus, the lowest "
            "on ties. Predictions with at least this score count, and predictions without score.",
            "oracle-bat-paper": "Oracle: the threshold among 0, 1/128, … 1 with the best micro F1 on this corpus, the "
            "lowest on ties. Predictions with at least this score count, and predictions without score.",
        },
        open_description="Only predictions with a score of at least (after >: above) {} count, and predictions "
        "without score.",
        parse=parse_threshold,
    ),
    "ids": _closed_setting("Entity ids", Ids),
    "unknown-ids": _closed_setting("Ids outside the knowledge base", UnknownIds),
    "categories": _closed_setting("Error categories", Categories),
    "unknown-names": _closed_setting("Entities without a known name", UnknownNames),
    "near-mentions": _closed_setting("Mentions near a spurious prediction", NearMentions),
    "false-coreference": _closed_setting("False coreference", FalseCoreference),
    "groups": _closed_setting("Scores by facet", Groups),
    "membership": Setting(
        "Membership of mentions (fuzzy recall)",
        {
            "whole": "Every mention has the weight 1.",
            "questionnaire": "Recall weights a mention by the share of authors who would annotate it, taken from the "
            "entry of the fine-grained paper's questionnaire that shares most categories with it. The weight is that "
            "of its heaviest alternative, and it earns the weight of the predicted one.",
        },
        open_description="Recall weights mentions by the membership function {}. A mention has the weight of its "
        "heaviest alternative and earns the weight of the predicted one; under strict-code both are that of its "
        "lightest alternative.",
    ),
}
"""All conventions, in the order of the signature."""

CIRCUMSTANCES: dict[str, Setting] = {
    "drop": Setting(
        "Dropped predictions",
        {"none": "No predictions were dropped before scoring."},
        open_description="Before scoring, these predictions were dropped: {}.",
    ),
    "kb": Setting(
        "Knowledge base", {"none": "No knowledge base was used."}, open_description="The knowledge base is {}."
    ),
    "seed": Setting("Seed", {}, open_description="The random seed is {}; it affects intervals and tests only."),
}
"""Further parts of a signature that are not conventions."""

SIGNED_SETTINGS: dict[str, Setting] = {**SETTINGS, **CIRCUMSTANCES}
"""All parts of a signature besides the version, the profile and the data."""


def describe_value(name: str, value: str) -> str:
    """Return a sentence about the value of the setting `name`.

    Raise `UnknownNameError` if the setting has no such value.
    """
    setting = SIGNED_SETTINGS[name]
    if value not in setting.values and not setting.open_description:
        raise UnknownNameError(f"value of {name}", value, setting.values)
    return setting.describe(value)


class Conventions(msgspec.Struct, frozen=True):
    """All settings of an evaluation as typed values.

    Except for `texts` and `task_name`, each field is named after its setting, with `_` for `-`.
    """

    texts: Mapping[str, str]
    """The values of all settings as signatures write them, by name."""
    task_name: str
    """The name of the task, a key of `TASKS`."""

    # Mentions and matching
    gold_mentions: GoldMentionAlignment
    """How predictions are assigned to given mentions."""
    spans: Spans
    """When two spans are equal."""
    assignment: Assignment
    """How predictions are assigned to mentions."""
    overlaps: Overlaps
    """How overlapping annotations are handled."""
    duplicates: Duplicates
    """How duplicate annotations are handled."""
    evaluation_span: EvaluationSpan
    """How mentions and predictions outside the evaluation span are scored."""
    invented: Invented
    """How predicted mentions that have no place in the text are scored."""
    threshold: Threshold | Sweep
    """The lowest score of a prediction that counts, or how it is selected."""

    # Entities
    ids: Ids
    """When two ids refer to the same entity."""
    unknown_ids: UnknownIds
    """How ids that are not in the knowledge base are compared."""
    nil: Nil
    """How NIL is scored."""
    nil_ids: NilIds
    """Which ids are NIL."""
    prefixes: tuple[str, ...] | None
    """The prefixes of ids that belong to the knowledge base; None if all ids do."""
    unlinked: Unlinked
    """How unlinked spans are scored."""
    clusters: ClusterMembership
    """In which clusters a mention is."""
    typing: Typing
    """When types are correct."""

    # Gold standard
    optional: Optional
    """How optional mentions are scored."""
    alternatives: Alternatives
    """How a mention with several accepted links or segmentations is scored."""
    quantities: Quantities
    """When a prediction on a quantity or a datetime is correct."""
    membership: str
    """The weights of mentions, for fuzzy recall."""

    # Scores and groups
    empty: EmptyRule
    """The scores of empty documents and totals."""
    macro: Macro
    """Which documents macro scores average over."""
    groups: Groups
    """How scores by facet are computed."""

    # Error categories
    categories: Categories
    """How mentions are assigned to error categories."""
    unknown_names: UnknownNames
    """How entities without a known name are classified."""
    near_mentions: NearMentions
    """Which mentions a spurious prediction is compared with."""
    false_coreference: FalseCoreference
    """Which spurious predictions count as false coreference."""

    @classmethod
    def from_settings(cls, texts: Mapping[str, str]) -> Conventions:
        """Parse the values of all settings, by name as in `SETTINGS`; other names are ignored.

        Raise `UnknownNameError` for an unknown value, and `UsageError` if settings contradict each other.
        """
        table = {name: parse_task(texts[name]) if name == "task" else texts[name] for name in SETTINGS}
        for name, text in table.items():
            describe_value(name, text)
        names = [name for name in SETTINGS if name not in ("task", "match")]
        values = {name.replace("-", "_"): SETTINGS[name].parse(table[name]) for name in names}
        conventions = cls(texts=table, task_name=table["task"], **values)
        for rule in CONTRADICTIONS:
            if rule.applies(conventions):
                raise UsageError(rule.description)
        return conventions

    @property
    def task(self) -> Task:
        """The specification of the task `task_name`."""
        return TASKS[self.task_name]


class Contradiction(NamedTuple):
    """A combination of settings that makes no sense."""

    applies: Callable[[Conventions], bool]
    """Return whether the settings contradict each other in this way."""
    description: str
    """The error message: what is wrong and how to fix it."""


CONTRADICTIONS: tuple[Contradiction, ...] = (
    Contradiction(
        lambda c: c.nil is Nil.EMERGING and c.prefixes is None,
        "nil=emerging needs to know which ids belong to the knowledge base, but prefixes=none means all ids. "
        "Set prefixes=gerbil, or list the prefixes.",
    ),
    Contradiction(
        lambda c: c.prefixes is not None and c.nil is not Nil.EMERGING and c.typing is not Typing.SUBCLASSES,
        "prefixes have an effect only with nil=emerging or typing=subclasses. Set nil=emerging, or prefixes=none.",
    ),
    Contradiction(
        lambda c: c.assignment is Assignment.LOOKUP and c.membership != "whole",
        "membership weights mentions, but assignment=lookup scores single labels. Set assignment=optimal, or "
        "membership=whole.",
    ),
    Contradiction(
        lambda c: c.assignment is Assignment.LOOKUP and isinstance(c.threshold, Sweep),
        "assignment=lookup does not support oracle thresholds. Set a fixed threshold, or another assignment.",
    ),
    Contradiction(
        lambda c: c.unknown_ids is UnknownIds.ALIKE and not c.ids.uses_kb,
        "unknown-ids=alike needs ids=resolved and a knowledge base that lists its entities. Pass one with "
        f"{format_option('kb')}, or "
        "set unknown-ids=distinct.",
    ),
)
