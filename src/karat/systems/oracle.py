"""The gold standard as answers: what cannot be surpassed."""

from karat.linking.gold import right, right_of_candidates, with_right
from karat.linking.stages import GIVEN, each, joined
from karat.spec.system import System

SYSTEM = System(
    title="Oracle",
    says="Answers the gold standard. In a pipeline it is a perfect stage: gold spans, the right entity among the "
    "candidates, or the right one of the candidates chosen.",
    start=lambda options, given: joined(GIVEN, each(right)),
    spans="welcome",
    space="gold",
    stages={
        "detect": lambda options: GIVEN,
        "candidates": lambda options: each(with_right),
        "rank": lambda options: each(right_of_candidates),
    },
    sees_gold=True,
)
