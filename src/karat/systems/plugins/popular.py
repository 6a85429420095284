"""Detection, and the most popular entity with the name, regardless of link counts.

A stage is a step of a system: detection, candidates or ranking.
"""

from dataclasses import dataclass

from karat.model.spec.system import System
from karat.systems.linking.lexicon import SNAPSHOT_TRAINING, Lexicon, build_lexicon, snapshot_metadata
from karat.systems.linking.name_linker import (
    NameLinkerOptions,
    detect_names,
    link_likeliest,
    make_start,
    propose_candidates,
)


@dataclass(frozen=True, slots=True)
class PopularOptions(NameLinkerOptions):
    """The options of `popular`."""

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by popularity only."""
        return build_lexicon(self.kb, "popularity")


SYSTEM = System(
    title="Popular",
    description="Detects names and links each to the candidate with the most incoming links; ignores the context.",
    start=make_start(link_likeliest),
    options=PopularOptions,
    gold_mentions="optional",
    stages={"detect": detect_names, "candidates": propose_candidates, "rank": link_likeliest},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    training=SNAPSHOT_TRAINING,
)
