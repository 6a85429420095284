"""The most frequent sense of given mentions, as in ZELDA."""

from dataclasses import dataclass

from karat.model.spec.system import Refine, System, option
from karat.systems.claims.zelda_2023 import list_zelda_claims
from karat.systems.linking.lexicon import (
    KB_DESCRIPTION,
    SNAPSHOT_TRAINING,
    SUBSTITUTE_DESCRIPTION,
    Substitute,
    build_lexicon,
    choose_weights,
    snapshot_metadata,
)
from karat.systems.linking.stages import LINK_FIRST_CANDIDATE, USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage


@dataclass(frozen=True, slots=True)
class MfsOptions:
    """The options of `mfs`."""

    kb: str = option("starter", KB_DESCRIPTION)
    substitute: Substitute = option("none", SUBSTITUTE_DESCRIPTION)
    candidates: int = option(20, "Maximum number of candidates per mention.")


def _candidates(options: MfsOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(
        build_lexicon(options.kb, choose_weights(options.kb, options.substitute)), options.candidates
    )


SYSTEM = System(
    title="Most frequent sense",
    description="Links each given mention to the entity it is most often linked to.",
    start=lambda options, gold_mentions: chain_stages(USE_GIVEN_MENTIONS, _candidates(options), LINK_FIRST_CANDIDATE),
    options=MfsOptions,
    hardest_task="d2kb",
    gold_mentions="required",
    stages={"candidates": _candidates, "rank": lambda options: LINK_FIRST_CANDIDATE},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("counts",),
    claims=list_zelda_claims("MFS"),
    training=SNAPSHOT_TRAINING,
)
