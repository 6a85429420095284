"""Which tables of verdicts an evaluation has to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from karat.errors import KaratError, UsageError
from karat.matching.judge import Located, verdicts
from karat.matching.pairing import Pairing
from karat.matching.select import Selection, selection
from karat.model.columns import NO_LINK
from karat.model.items import Answers, Gold
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.model.verdict import Verdicts
from karat.pipeline.folds import needs_detection
from karat.registry import get
from karat.spec.profile import Profile, threshold_of
from karat.spec.relation import Relation


@dataclass(frozen=True, slots=True)
class Plan:
    """One table of verdicts: which items, under which relation."""

    view: ViewName
    relation: Relation
    select: Selection
    assignment: str
    segment_by: Relation | None = None

    def verdicts(self, gold: Gold, answers: Answers, known: Located) -> Verdicts:
        """The verdicts on a block; what a user's own relation file does wrong is said as such."""
        try:
            return verdicts(*self.select.of(gold, answers), self.relation, self.assignment, known, self.segment_by)
        except Exception as problem:
            if isinstance(problem, KaratError) or not self.view.relation.endswith(".py"):
                raise
            where = f"{self.view.relation}: the relation fails"
            raise KaratError(f"{where} ({type(problem).__name__}: {problem}). Correct the file.") from problem


@dataclass(frozen=True, slots=True)
class Plans:
    """The views to score, and for those whose measures ask for it the name under which detection is counted."""

    views: Mapping[str, Plan]
    detection: Mapping[str, str]
    all: Mapping[str, Plan]


def measures_of(profile: Profile, match: str | None, measures: Sequence[str]) -> tuple[str, ...]:
    """The measures asked for, or the profile's of the chosen relations; a relation it does not show gets P, R, F1."""
    if measures and match is not None:
        raise UsageError("match and measures both choose relations. Give one of the two.")
    if measures:
        return tuple(dict.fromkeys(str(parse_measure(name)) for name in measures))
    if match is None:
        return profile.measures
    relations = [name.strip() for name in match.split(",") if name.strip()]
    if not relations:
        raise UsageError("match names no relation. Name at least one, such as strong.")
    shown: list[str] = []
    for relation in dict.fromkeys(relations):
        usual = [name for name in profile.measures if parse_measure(name).view.relation == relation]
        shown += usual or [f"{relation}:{short}" for short in ("micro.p", "micro.r", "micro.f1", "macro.f1")]
    return tuple(shown)


def plans(pairing: Pairing, wanted: Sequence[MeasureName], choices: Mapping[str, str]) -> Plans:
    """How to make the verdicts that some measures need."""
    views: dict[str, Plan] = {}
    for view in dict.fromkeys(name.view for name in wanted):
        relation = get("relations", view.relation, Relation)
        select = selection(pairing, relation, view.filters, threshold_of(choices))
        views[str(view)] = Plan(view, relation, select, choices["assignment"])
    detecting = [name for name in wanted if needs_detection(name)]
    found = {str(name.view): _detection(pairing, name, views[str(name.view)]) for name in detecting}
    return Plans(views, {view: key for view, (key, _) in found.items()}, dict(found.values()) | views)


def _detection(pairing: Pairing, name: MeasureName, plan: Plan) -> tuple[str, Plan]:
    """How detection is counted: all answers, against the mentions of the view that have a link.

    Where every mention counts, has a link and one segmentation, that is the plain view of the relation.
    """
    if plan.relation.detection is None:
        raise UsageError(
            f"{name} needs a relation with links and places; {name.view.relation} has no detection of its own. "
            "Ask for strong:accuracy or weak:accuracy."
        )
    relation = get("relations", plan.relation.detection, Relation)
    corpus = pairing.corpus
    plain = not (name.view.filters or (corpus.labels.entity == NO_LINK).any() or (corpus.units.parent >= 0).any())
    key = plan.relation.detection if plain else f"detection of {name.view}"
    return key, Plan(name.view, relation, plan.select.detecting(relation), plan.assignment, plan.relation)
