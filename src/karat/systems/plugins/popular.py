"""Detection, and the most popular entity with the name, regardless of link counts.

A stage is a step of a system: detection, candidates or ranking.
"""

from dataclasses import dataclass

from karat.model.spec.system import Link, Refine, System, option
from karat.systems.linking.detection import DETECTOR_DESCRIPTION, MODEL_DESCRIPTION, Detector, make_detection_stage
from karat.systems.linking.lexicon import KB_DESCRIPTION, SNAPSHOT_TRAINING, Lexicon, build_lexicon, snapshot_metadata
from karat.systems.linking.stages import LINK_FIRST_CANDIDATE, USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage


@dataclass(frozen=True, slots=True)
class PopularOptions:
    """The options of `popular`."""

    kb: str = option("starter", KB_DESCRIPTION)
    detector: Detector = option("rules", DETECTOR_DESCRIPTION)
    model: str = option("en_core_web_sm", MODEL_DESCRIPTION)
    candidates: int = option(20, "Maximum number of candidates per mention.")

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by popularity only."""
        return build_lexicon(self.kb, "popularity")


def _detect(options: PopularOptions) -> Refine:
    """Return the stage that detects mentions with the detector in the options."""
    return make_detection_stage(options.detector, options.lexicon, options.model)


def _candidates(options: PopularOptions) -> Refine:
    """Return the stage that proposes the most likely entities of each surface."""
    return make_candidate_stage(options.lexicon, options.candidates)


def _start(options: PopularOptions, gold_mentions: bool) -> Link:
    """Return the function that links documents with the three stages, or given mentions with the last two."""
    return chain_stages(
        USE_GIVEN_MENTIONS if gold_mentions else _detect(options), _candidates(options), LINK_FIRST_CANDIDATE
    )


SYSTEM = System(
    title="Popular",
    description="Detects names and links each to the candidate with the most incoming links; ignores the context.",
    start=_start,
    options=PopularOptions,
    gold_mentions="optional",
    stages={"detect": _detect, "candidates": _candidates, "rank": lambda options: LINK_FIRST_CANDIDATE},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    training=SNAPSHOT_TRAINING,
)
