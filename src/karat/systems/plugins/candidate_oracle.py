"""A perfect ranker of candidates, as an upper bound."""

from dataclasses import dataclass

from karat.model.spec.system import Link, System, option
from karat.systems.claims.zelda_2023 import list_zelda_claims
from karat.systems.linking.gold import make_gold_ranking_stage
from karat.systems.linking.lexicon import KB_DESCRIPTION, build_lexicon, snapshot_metadata
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage


@dataclass(frozen=True, slots=True)
class CandidateOracleOptions:
    """The options of `candidate-oracle`."""

    kb: str = option("starter", KB_DESCRIPTION)
    candidates: int = option(20, "Maximum number of candidates per mention.")


def _start(options: CandidateOracleOptions, gold_mentions: bool) -> Link:
    """Return the function that links the gold mentions to their gold entities among the lexicon's candidates."""
    lexicon = build_lexicon(options.kb, "both")
    return chain_stages(
        USE_GIVEN_MENTIONS,
        make_candidate_stage(lexicon, options.candidates),
        make_gold_ranking_stage(lexicon.snapshots[0].canonical_ids),
    )


SYSTEM = System(
    title="Candidate oracle",
    description="Uses the gold mentions and links each to its gold entity if it is a candidate.",
    start=_start,
    options=CandidateOracleOptions,
    gold_mentions="optional",
    fingerprint=lambda options: snapshot_metadata(options.kb),
    needs_gold=True,
    claims=list_zelda_claims("CL-RECALL", "CG-recall"),
)
