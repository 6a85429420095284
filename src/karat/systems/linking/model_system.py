"""Functions shared by the systems that use trained models; heavy libraries are imported only when a system starts.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from karat.model.errors import UsageError
from karat.model.spec.external_access import TrainingSetup
from karat.model.spec.system import Claim, Link, Refine, System, option
from karat.systems.claims.zelda_2023 import list_setup_claims
from karat.systems.linking.lexicon import build_lexicon, snapshot_metadata
from karat.systems.linking.neural.metadata import get_fingerprint
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage

FOLDER_DESCRIPTION = "Folder written by `karat train`."


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options of a system with a trained model."""

    argument: str = option("", FOLDER_DESCRIPTION)
    kb: str = option("", "Snapshot whose names define the candidates of a mention; empty: all entities.")
    candidates: int = option(20, "Maximum number of candidates per mention.")


@dataclass(frozen=True, slots=True)
class LukeOptions(ModelOptions):
    """The options of a system with LUKE's method."""

    order: bool = option(
        True, "Link the most confident mention first and use it for the others; otherwise all at once."
    )


def build_model_system(
    kind: str,
    title: str,
    description: str,
    *,
    options: type[ModelOptions] = ModelOptions,
    prediction_options: Callable[[Any], Mapping[str, Any]] = lambda options: {},
    needs_candidates: bool = False,
    setups: tuple[TrainingSetup, ...] = (),
    citation: str = "",
    claims: tuple[Claim, ...] = (),
) -> System:
    """Build the system of a `kind` of trained models, with its `title`, `description` and type of `options`.

    `prediction_options`: as in `make_ranking_stage`, for the options. `needs_candidates`: whether the model links no
    mention without candidates; outside a pipeline, the option `kb` is then required. `setups`, `citation` and `claims`:
    as in `System`; what `setups` report is added to the claims.
    """

    def rank(options: ModelOptions) -> Refine:
        return make_ranking_stage(options, kind, prediction_options(options))

    def start(options: ModelOptions, gold_mentions: bool) -> Link:
        if needs_candidates and not options.kb:
            raise UsageError(
                f"{kind} ranks candidates and has none. Write {kind}[kb=SNAPSHOT]:DIR, or make it the last part of a "
                "pipeline."
            )
        return start_model(options, rank(options))

    return System(
        title=title,
        description=description,
        start=start,
        options=options,
        hardest_task="d2kb",
        gold_mentions="required",
        id_space="of the training data",
        stages={"rank": rank},
        fingerprint=lambda options: model_fingerprint(options, kind),
        argument="DIR",
        requirements=("karat train",),
        extra="train",
        setups=setups,
        citation=citation,
        claims=(*claims, *list_setup_claims(setups)),
    )


def make_ranking_stage(options: ModelOptions, kind: str, prediction_options: Mapping[str, Any]) -> Refine:
    """Return the stage that links each mention to the candidate that a trained model ranks first.

    All entities of the model compete if the model knows none of the candidates.
    `kind`: kind of the model; a folder without such a model raises `UsageError`.
    `prediction_options`: keyword arguments of `predict_entities`, such as `most_confident_first`.
    """
    if not options.argument:
        raise UsageError(f"{kind} needs a trained model. Write {kind}:DIR with a folder written by karat train {kind}.")
    get_fingerprint(options.argument, kind)  # raises an error for a model of another kind
    from karat.systems.linking.neural.ranking import make_model_stage

    return make_model_stage(options.argument, prediction_options, options.kb)


def start_model(options: ModelOptions, rank: Refine) -> Link:
    """Return the function that links given mentions with the ranking stage `rank`.

    Candidates come from the snapshot in the option `kb`; without it, mentions have none.
    """
    candidate_stages = (
        [make_candidate_stage(build_lexicon(options.kb, "both"), options.candidates)] if options.kb else []
    )
    return chain_stages(USE_GIVEN_MENTIONS, *candidate_stages, rank)


def model_fingerprint(options: ModelOptions, kind: str) -> dict[str, str]:
    """Return manifest entries on the weights and training data of a model and on the snapshot of its candidates."""
    return {
        **(get_fingerprint(options.argument, kind) if options.argument else {}),
        **(snapshot_metadata(options.kb) if options.kb else {}),
    }
