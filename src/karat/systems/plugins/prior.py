"""Detection, and the most frequently linked entity: the baseline of Bast et al. (2023).

A stage is a step of a system: detection, candidates or ranking.
"""

from dataclasses import dataclass

from karat.model.spec.system import System, option
from karat.systems.claims.fair_2023 import list_fair_claims
from karat.systems.linking.lexicon import (
    SNAPSHOT_TRAINING,
    SUBSTITUTE_DESCRIPTION,
    Lexicon,
    Substitute,
    build_lexicon,
    choose_weights,
    snapshot_metadata,
)
from karat.systems.linking.name_linker import (
    NameLinkerOptions,
    detect_names,
    link_likeliest,
    make_start,
    propose_candidates,
)


@dataclass(frozen=True, slots=True)
class PriorOptions(NameLinkerOptions):
    """The options of `prior`."""

    substitute: Substitute = option("none", SUBSTITUTE_DESCRIPTION)

    @property
    def lexicon(self) -> Lexicon:
        """The lexicon, with candidates weighted by counts; raises `UsageError` without counts or a substitute."""
        return build_lexicon(self.kb, choose_weights(self.kb, self.substitute))


SYSTEM = System(
    title="Prior",
    description="Detects names by rules or with spaCy and links each to the entity it is most often linked to.",
    start=make_start(link_likeliest),
    options=PriorOptions,
    gold_mentions="optional",
    stages={"detect": detect_names, "candidates": propose_candidates, "rank": link_likeliest},
    fingerprint=lambda options: snapshot_metadata(options.kb),
    requirements=("counts",),
    claims=list_fair_claims("Baseline"),
    training=SNAPSHOT_TRAINING,
)
