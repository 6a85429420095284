"""Attribution of the gap between the scores of two profiles to their settings.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from msgspec.structs import replace

from karat.analysis.explanation.setting_flips import Flip, ItemNumbers, collect_outcomes, find_flips
from karat.data.inputs import GoldInput, PredictionsInput, load_inputs
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.id_bridge import bridge_ids
from karat.evaluation.request import Request
from karat.evaluation.task_inputs import JudgedTables
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.keywords import check_keywords
from karat.model.measure_name import parse_measure
from karat.model.profile_signatures import format_profile
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.result import Result
from karat.model.run import Run
from karat.model.signature import Signature
from karat.model.spec.relation import MatchRelation
from karat.model.spec.settings.conventions import Assignment
from karat.model.spec.settings.settings import SIGNED_SETTINGS
from karat.model.spec.settings.task import TASKS
from karat.model.spec.settings.threshold import Sweep, Threshold
from karat.model.tables.columns import NO_LINK
from karat.stats.shapley import shapley

EXACT_UP_TO = 12
"""Number of differing settings up to which every mixture is scored; beyond it, orders are sampled."""

SETTING_GROUPS: tuple[tuple[str, ...], ...] = (("nil", "nil-ids", "prefixes"), ("ids", "unknown-ids", "kb"))
"""Settings that only make sense together and switch as one."""

_MEASURE = "measure"
_MIN_EFFECT = 0.005
"""Share of a score below which interactions of causes are not reported."""
_IGNORED_SETTINGS = ("match", "seed")  # what is displayed, and what affects no score


@dataclass(frozen=True, slots=True)
class Cause:
    """A setting, or several that go together, with its share of the gap."""

    settings: tuple[str, ...]
    """Names of the settings."""
    reference_values: tuple[str, ...]
    """Their values in the reference profile."""
    values: tuple[str, ...]
    """Their values in the other profile."""
    share: float
    """Shapley value: share of the gap."""
    standard_error: float | None
    """Standard error of the share if orders were sampled, else None."""
    change_if_first: float
    """Change of the score if these settings switch before all others."""
    change_if_last: float | None
    """Change of the score if they switch after all others, or None if that mixture was not scored."""
    threshold_change: tuple[float | None, float | None] | None
    """Old and new oracle threshold, which is selected for every mixture, if it changes."""
    flips: tuple[Flip, ...]
    """Cases that count differently if only these settings switch, at the threshold of the reference profile.

    Those that also count so under the other profile come first.
    """

    @property
    def name(self) -> str:
        """The names of the settings, separated by commas."""
        return ", ".join(self.settings)


@dataclass(frozen=True, slots=True)
class Interaction:
    """Two causes whose effects depend on each other, or cancel, so that their shares mean little alone."""

    causes: tuple[str, str]
    """Names of the causes."""
    changes_alone: tuple[float, float]
    """Change of the score if only the first, or only the second, of them switches."""
    change_together: float
    """Change of the score if only these two switch."""
    share: float
    """Sum of their shares of the gap."""
    is_additive: bool
    """Whether the effects merely cancel: the change together is the sum of the changes alone."""


@dataclass(frozen=True, slots=True)
class GapExplanation:
    """A gap between the scores of two profiles, and its causes."""

    corpus: str
    """Name of the corpus."""
    run: str
    """Name of the run."""
    reference_profile: str
    """Name of the reference profile."""
    profile: str
    """Name of the other profile."""
    reference_measure: str
    """Measure under the reference profile."""
    measure: str
    """Measure under the other profile."""
    reference_score: float
    """Score under the reference profile."""
    score: float
    """Score under the other profile."""
    reference_signature: Signature
    """Signature of the reference score."""
    signature: Signature
    """Signature of the other score."""
    causes: tuple[Cause, ...]
    """Causes of the gap, the largest first."""
    interactions: tuple[Interaction, ...]
    """Causes that depend on each other or cancel, the largest first."""
    irrelevant_settings: tuple[str, ...]
    """Differing settings that cannot affect this measure on this data."""
    fixed_threshold: str | None
    """Oracle threshold that all mixtures use, if a value of `assignment` supports no selection of thresholds."""
    is_exact: bool
    """Whether every mixture of settings was scored; otherwise orders were sampled."""
    n_mixtures: int
    """Number of mixtures of settings that were scored."""
    reference_result: Result = field(repr=False)
    """Result under the reference profile."""
    result: Result = field(repr=False)
    """Result under the other profile."""

    @property
    def gap(self) -> float:
        """The score minus the reference score."""
        return self.score - self.reference_score


@check_keywords
def explain_gap(
    gold: GoldInput,
    predictions: PredictionsInput,
    *,
    reference_profile: str,
    profile: str = "karat",
    measure: str = "strong:micro.f1",
    reference_measure: str | None = None,
    reference_settings: Mapping[str, object] | None = None,
    settings: Mapping[str, object] | None = None,
    kb: KB | str | os.PathLike[str] | None = None,
    samples: int = 200,
    seed: int = 0,
    allow_unknown: bool = False,
    progress: Callable[[int], None] | None = None,
) -> GapExplanation:
    """Attribute the gap between the scores of two profiles to the settings in which they differ.

    `gold` and `predictions` are each a path, a name from the catalogue, plain dictionaries, or an object.
    Each setting gets its Shapley value: its average contribution over all orders in which the settings could switch
    from `reference_profile` to `profile`. The shares add up to the gap. Settings that cannot affect `measure` on this
    data are listed but not scored. With more than 12 settings, `samples` orders are sampled. `reference_measure` is
    used under the reference profile if it differs from `measure`; `reference_settings` and `settings` override the two
    profiles. A knowledge base that only one profile adds to bridge ids switches with `ids`. An oracle threshold is
    selected again in every mixture; it is fixed if the other profile has `assignment=lookup`, which supports none.
    `progress` is called with 1 after each scored mixture of settings. Raises `UsageError` if a score is undefined.
    """
    corpus, run = load_inputs(gold, predictions)
    reference, target = (
        Request.from_options(
            profile=name, settings=overrides, measures=[name_of_measure], kb=kb, allow_unknown=allow_unknown
        )
        for name, overrides, name_of_measure in (
            (reference_profile, reference_settings, reference_measure or measure),
            (profile, settings, measure),
        )
    )
    evaluation = Evaluation.from_data(target, corpus, run)
    return attribute_gap(evaluation, reference, target, samples=samples, seed=seed, progress=progress)


def attribute_gap(
    evaluation: Evaluation,
    reference: Request,
    target: Request,
    *,
    samples: int = 200,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> GapExplanation:
    """Attribute the gap between the scores under the requests `reference` and `target`, each with one measure.

    The data are those of `evaluation`, and what it judged is not judged again. `samples`, `seed` and `progress` are as
    in `explain_gap`.
    """
    corpus, run = evaluation.source.data
    reference_side, target_side = (
        _Side.from_request(bridge_ids(request, corpus, [run])) for request in (reference, target)
    )
    judged = evaluation.inputs.judged.copy()  # the many mixtures are of no use to others
    profile_sides = reference_side, target_side
    ends = [
        Evaluation.from_data(side.request, corpus, run, judged=judged) if is_fixed else None
        for side, is_fixed in zip(profile_sides, _needs_fixed_threshold(*profile_sides), strict=True)
    ]
    reference_side, target_side = (
        side if end is None else side.with_threshold(_format_oracle_threshold(end, side.measure) or "none")
        for side, end in zip(profile_sides, ends, strict=True)
    )
    fixed_threshold = next(
        (side.table["threshold"] for side, end in zip((reference_side, target_side), ends, strict=True) if end), None
    )
    players, irrelevant = _group_settings(reference_side, target_side, corpus, run)
    if fixed_threshold is not None and "threshold" not in players:
        irrelevant.append("threshold")
    evaluations: dict[frozenset[str], Evaluation] = {}
    scores: dict[frozenset[str], float] = {}

    def score(switched: frozenset[str]) -> float:
        if switched not in scores:
            mixture = _create_mixture(corpus, run, judged, reference_side, target_side, players, switched)
            scores[switched] = _get_score(mixture, switched)
            if len(switched) <= 1 or len(switched) == len(players):
                evaluations[switched] = mixture
            if progress is not None:
                progress(1)
        return scores[switched]

    attribution = shapley(list(players), score, exact_up_to=EXACT_UP_TO, samples=samples, seed=seed)
    no_settings, all_settings = frozenset[str](), frozenset(players)
    reference_score, target_score = score(no_settings), score(all_settings)
    reference_evaluation, target_evaluation = (
        end or evaluations[switched] for end, switched in zip(ends, (no_settings, all_settings), strict=True)
    )
    numbers = ItemNumbers()
    outcomes_before = collect_outcomes(evaluations[no_settings], reference_side.measure, numbers)
    final_outcomes = collect_outcomes(evaluations[all_settings], target_side.measure, numbers)
    causes = []
    for share in attribution.shares:
        single, others = frozenset({share.player}), all_settings - {share.player}
        same_threshold = (
            _format_oracle_threshold(evaluations[no_settings], reference_side.measure)
            if "threshold" not in players[share.player]
            else None
        )
        change_if_first = score(single) - reference_score
        mixture = evaluations[single]
        single_measure = _select_measure(reference_side, target_side, single)
        thresholds = tuple(
            switched.oracle_thresholds.get(_unfiltered_view(single_measure))
            for switched in (evaluations[no_settings], mixture)
        )
        if same_threshold is not None and mixture.oracle_thresholds:
            mixture = _create_mixture(corpus, run, judged, reference_side, target_side, players, single, same_threshold)
        outcomes = collect_outcomes(mixture, single_measure, numbers)
        flips = find_flips(outcomes_before, outcomes, final_outcomes, numbers)
        causes.append(
            Cause(
                players[share.player],
                tuple(profile_sides[0].get_value(setting) for setting in players[share.player]),
                tuple(profile_sides[1].get_value(setting) for setting in players[share.player]),
                share.value,
                share.error,
                change_if_first,
                target_score - scores[others] if others in scores else None,
                (thresholds[0], thresholds[1])
                if same_threshold is not None and thresholds[0] != thresholds[1]
                else None,
                tuple(sorted(flips, key=lambda flip: not flip.is_lasting)),
            )
        )
    causes.sort(key=lambda cause: -abs(cause.share))
    keys = {players[key]: key for key in players}
    interactions = [
        interaction
        for a, b in combinations(causes, 2)
        for change in [score(frozenset({keys[a.settings], keys[b.settings]})) - reference_score]
        if (interaction := _find_interaction(a, b, change, target_score - reference_score)) is not None
    ]
    return GapExplanation(
        evaluation.corpus_name,
        evaluation.run_name,
        reference.profile,
        target.profile,
        reference_side.measure,
        target_side.measure,
        reference_score,
        target_score,
        reference_evaluation.signature,
        _replace_profile(target.profile, target_evaluation.signature),
        tuple(causes),
        tuple(sorted(interactions, key=lambda interaction: -max(map(abs, interaction.changes_alone)))),
        tuple(irrelevant),
        fixed_threshold,
        attribution.is_exact,
        attribution.n_evaluations,
        reference_evaluation.result,
        target_evaluation.result,
    )


def _find_interaction(a: Cause, b: Cause, change_together: float, gap: float) -> Interaction | None:
    """Return the interaction of two causes if their effects depend on each other or cancel, else None.

    `change_together` is the change of the score if only the two causes switch.
    """
    changes = a.change_if_first, b.change_if_first
    excess = change_together - sum(changes)
    share = a.share + b.share
    smaller, larger = sorted((abs(a.share), abs(b.share)))
    largest_change = max(*map(abs, changes), abs(change_together))
    is_dependent = abs(excess) >= max(_MIN_EFFECT, largest_change / 4)
    has_opposite_signs = a.share * b.share < 0 and changes[0] * changes[1] < 0
    is_cancelled = has_opposite_signs and smaller >= max(_MIN_EFFECT, abs(gap)) and abs(share) <= larger / 4
    if not (is_dependent or is_cancelled):
        return None
    return Interaction((a.name, b.name), changes, change_together, share, is_additive=not is_dependent)


def _needs_fixed_threshold(reference_side: _Side, target_side: _Side) -> tuple[bool, bool]:
    """Return for each side whether it selects a threshold and the assignment of the other side supports none."""
    sides = [side.request.conventions for side in (reference_side, target_side)]
    is_swept, is_lookup = (
        [isinstance(conventions.threshold, Sweep) for conventions in sides],
        [conventions.assignment is Assignment.LOOKUP for conventions in sides],
    )
    return is_swept[0] and is_lookup[1], is_swept[1] and is_lookup[0]


def _replace_profile(profile: str, signature: Signature) -> Signature:
    """Return the signature with `profile` in place of its profile.

    The mixture in which all settings have switched is scored as overrides of the reference profile.
    """
    return Signature(tuple((name, format_profile(profile) if name == "profile" else v) for name, v in signature.parts))


def _select_measure(reference_side: _Side, target_side: _Side, switched: frozenset[str]) -> str:
    """Return the measure under which a mixture is scored: the target's if the measure is among the `switched`."""
    return (
        target_side.measure
        if _MEASURE in switched or reference_side.measure == target_side.measure
        else reference_side.measure
    )


def _get_score(mixture: Evaluation, switched: frozenset[str]) -> float:
    """Return the score of a mixture in which `switched` have switched; raise `UsageError` if it is undefined."""
    (name,) = mixture.request.requested_measures
    score = mixture.score(parse_measure(mixture.request.aliases[name]))
    if score.value is None:
        names = ", ".join(sorted(switched)) or "no change"
        hints = " ".join(f"Note: {note}." for note in mixture.result.notes)
        raise UsageError(f"{name} is undefined with {names}: {score.reason}. Choose another measure. {hints}".strip())
    return score.value


def _unfiltered_view(name: str) -> str:
    """Return the name of the view of a measure, without its filters."""
    return str(replace(parse_measure(name).view, filters=()))


def _format_oracle_threshold(evaluation: Evaluation, name: str) -> str | None:
    """Return the threshold selected for the measure `name` as a value of the setting `threshold`.

    Returns None if none was selected, and `none` if the selected one includes all predictions.
    """
    thresholds = evaluation.oracle_thresholds
    if _unfiltered_view(name) not in thresholds:
        return None
    rule = evaluation.request.conventions.threshold
    at = thresholds[_unfiltered_view(name)]
    return "none" if at is None else str(Threshold(at, rule.is_strict))


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two profiles (reference or target), with the values of its settings and its measure."""

    request: Request
    table: Mapping[str, str]
    measure: str

    @classmethod
    def from_request(cls, request: Request) -> _Side:
        """Create a side; raise `UsageError` unless its measure is a single score of the whole corpus."""
        measure = request.requested_measures[0]
        if len(request.all_measures) != 1 or request.all_measures[0].group is not None:
            example = request.all_measures[-1] if request.all_measures[0].group is None else "strong:micro.f1"
            raise UsageError(f"{measure} is not a single score of the whole corpus. Pass one, such as {example}.")
        table = request.signature("").to_dict()
        return cls(request, {name: table[name] for name in SIGNED_SETTINGS}, str(request.all_measures[0]))

    def with_threshold(self, threshold: str) -> _Side:
        """Return the side with a fixed threshold."""
        request = self.request.replace(settings={"threshold": threshold}, measures=[self.measure])
        return _Side(request, {**self.table, "threshold": threshold}, self.measure)

    def get_value(self, setting: str) -> str:
        """Return the value of a setting in this profile, or its measure for the name `measure`."""
        return self.measure if setting == _MEASURE else self.table[setting]


def _group_settings(
    reference_side: _Side, target_side: _Side, corpus: Corpus, run: Run
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Find the settings in which both sides differ, and divide them into relevant and irrelevant settings.

    Returns the relevant settings as groups that switch together, by group name, and the irrelevant settings, which
    cannot change this measure on this data. A differing measure is a group as well.
    """
    differing = [
        name
        for name in reference_side.table
        if name not in _IGNORED_SETTINGS and reference_side.table[name] != target_side.table[name]
    ]
    irrelevant = [name for name in differing if _is_irrelevant(name, reference_side, target_side, corpus, run)]
    players: dict[str, tuple[str, ...]] = {}
    if reference_side.measure != target_side.measure:
        players[_MEASURE] = (_MEASURE,)
    for name in differing:
        if name not in irrelevant:
            group = next((group for group in SETTING_GROUPS if name in group), (name,))
            settings = tuple(setting for setting in group if setting in differing)
            players["+".join(settings)] = settings
    return players, irrelevant


def _is_irrelevant(setting: str, reference_side: _Side, target_side: _Side, corpus: Corpus, run: Run) -> bool:
    """Return whether a setting cannot change the measures on this data, regardless of the other settings.

    False for settings of which this is unknown.
    """
    measures = [parse_measure(side.measure) for side in (reference_side, target_side)]
    task_names = [side.request.conventions.task_name for side in (reference_side, target_side)]
    tasks = [TASKS[name.view.task or task] for name, task in zip(measures, task_names, strict=True)]
    labels, predictions = corpus.labels, run.predictions
    scores = predictions.field("score") is not None or "tags" in run.table.column_names
    rules = [side.request.conventions.threshold for side in (reference_side, target_side)]
    sweeps_macro = any(isinstance(rule, Sweep) and rule.criterion.startswith("macro") for rule in rules)
    ignores_documents = all(name.aggregate == "micro" for name in measures) and not sweeps_macro
    has_no_groups = all(name.group is None for name in measures)  # then no scores are grouped
    is_irrelevant: dict[str, bool] = {
        "gold-mentions": not any(task.has_gold_mentions for task in tasks),
        "typing": not any(_is_typed(name.view.relation) for name in measures),
        "optional": not labels.boolean_field("optional").any(),
        "alternatives": labels.field("mention_id") is None,
        "unlinked": not ((labels.entity == NO_LINK).any() or (predictions.entity == NO_LINK).any()),
        "threshold": not scores and all(isinstance(rule, Sweep) or rule.min_score is None for rule in rules),
        "macro": ignores_documents,
        "quantities": all(side.request.kb is None for side in (reference_side, target_side)),
        "evaluation-span": "evaluation_span" not in corpus.table.column_names,
        **dict.fromkeys(("categories", "unknown-names", "near-mentions", "false-coreference", "groups"), has_no_groups),
        "duplicates": not run.n_duplicates and all(name.view.relation != "entity" for name in measures),
    }
    return is_irrelevant.get(setting, False)


def _is_typed(relation: str) -> bool:
    """Return whether a match relation compares types; False for an unknown one."""
    return relation in list_plugins("relations") and get_plugin("relations", relation, MatchRelation).is_typed


def _create_mixture(
    corpus: Corpus,
    run: Run,
    judged: JudgedTables,
    reference_side: _Side,
    target_side: _Side,
    players: Mapping[str, tuple[str, ...]],
    switched: frozenset[str],
    threshold: str | None = None,
) -> Evaluation:
    """Prepare the evaluation of a mixture of the settings of both profiles.

    The groups `switched` have the values of the target profile, all others those of the reference. `judged` has what
    was judged so far. `players` has the settings of each group. `threshold` replaces the setting of that name.
    """
    target_settings = {setting for player in switched for setting in players[player]}
    if len(switched) == len(players):
        target_settings = set(target_side.table)
    settings = {
        name: (target_side if name in target_settings else reference_side).table[name]
        for name in reference_side.table
        if name not in ("kb", "match")
    }
    if threshold is not None:
        settings["threshold"] = threshold
    measure = _select_measure(reference_side, target_side, switched)
    source = (target_side if "kb" in target_settings else reference_side).request
    request = reference_side.request.replace(
        settings=settings, measures=[measure], kb=source.base_kb, is_bridge=source.is_bridge
    )
    return Evaluation.from_data(request, corpus, run, judged=judged)
