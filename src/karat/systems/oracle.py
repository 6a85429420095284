"""The gold standard as answers: what cannot be surpassed."""

from dataclasses import dataclass

from karat.linking.gold import RIGHT, Canonical, right_of_candidates, with_right
from karat.linking.lexicon import packs_of, stamp
from karat.linking.stages import GIVEN, joined
from karat.spec.system import System, option


@dataclass(frozen=True, slots=True)
class OracleOptions:
    """What may be said to `oracle`."""

    kb: str = option(
        "starter", "The pack by which ids of the gold are compared with those of candidates, in a pipeline."
    )

    @property
    def canonical(self) -> Canonical:
        """How ids are compared."""
        return packs_of(self.kb)[0].canonical


SYSTEM = System(
    title="Oracle",
    says="Answers the gold standard. In a pipeline it is a perfect stage: gold spans, the right entity among the "
    "candidates, or the right one of the candidates chosen.",
    start=lambda options, given: joined(GIVEN, RIGHT),
    options=OracleOptions,
    spans="welcome",
    space="gold",
    stages={
        "detect": lambda options: GIVEN,
        "candidates": lambda options: with_right(options.canonical),
        "rank": lambda options: right_of_candidates(options.canonical),
    },
    stamp=lambda options: stamp(options.kb),
    sees_gold=True,
)
