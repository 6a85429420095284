"""Functions shared by the systems that use trained models; heavy libraries are imported only when a system starts.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.errors import UsageError
from karat.model.spec.system import Link, Refine, option
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


def make_ranking_stage(options: ModelOptions, kind: str, *, most_confident_first: bool = False) -> Refine:
    """Return the stage that links each mention to the candidate that a trained model ranks first.

    All entities of the model compete if the model knows none of the candidates.
    `kind`: kind of the model; a folder without such a model raises `UsageError`.
    `most_confident_first`: link one mention after the other and let the model use the links for the next ones.
    """
    if not options.argument:
        raise UsageError(f"{kind} needs a trained model. Write {kind}:DIR with a folder written by karat train {kind}.")
    get_fingerprint(options.argument, kind)  # raises an error for a model of another kind
    from karat.systems.linking.neural.ranking import make_model_stage

    return make_model_stage(options.argument, most_confident_first=most_confident_first)


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
