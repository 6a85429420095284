"""The gold standard as predictions, as an upper bound."""

from dataclasses import dataclass

from karat.model.spec.system import System, option
from karat.systems.linking.gold import LINK_GOLD, Canonicaliser, make_gold_candidate_stage, make_gold_ranking_stage
from karat.systems.linking.lexicon import open_snapshots, snapshot_metadata
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages


@dataclass(frozen=True, slots=True)
class OracleOptions:
    """The options of `oracle`."""

    kb: str = option("starter", "Snapshot for comparing gold ids with candidate ids in a pipeline.")

    @property
    def canonicalise(self) -> Canonicaliser:
        """The function from ids to the canonical ids of the first snapshot."""
        return open_snapshots(self.kb)[0].canonical_ids


SYSTEM = System(
    title="Oracle",
    description="Predicts the gold labels. In a pipeline it is a perfect stage: gold spans, the gold entity added "
    "to the "
    "candidates, or the gold entity chosen among them.",
    start=lambda options, gold_mentions: chain_stages(USE_GIVEN_MENTIONS, LINK_GOLD),
    options=OracleOptions,
    gold_mentions="optional",
    id_space="gold",
    stages={
        "detect": lambda options: USE_GIVEN_MENTIONS,
        "candidates": lambda options: make_gold_candidate_stage(options.canonicalise),
        "rank": lambda options: make_gold_ranking_stage(options.canonicalise),
    },
    fingerprint=lambda options: snapshot_metadata(options.kb),
    needs_gold=True,
)
