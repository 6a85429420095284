"""A detector, candidates and a ranker of different systems."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from karat.linking.lexicon import KB_SAYS, SUBSTITUTE_SAYS, Substitute
from karat.linking.named import NamedSystem
from karat.linking.pipeline import parts_of, pipeline, stage_of
from karat.spec.system import STAGES, Refine, Stage, System, option


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """What may be said to `pipeline`, and goes to all its parts."""

    rest: str = option("", "The parts: DETECTOR+CANDIDATES+RANKER, each with options of its own.")
    kb: str = option("starter", KB_SAYS)
    substitute: Substitute = option("none", SUBSTITUTE_SAYS)

    @property
    def parts(self) -> dict[Stage, NamedSystem]:
        """The systems of the stages."""
        return parts_of(self.rest, {"kb": self.kb, "substitute": self.substitute})

    @property
    def sees_gold(self) -> bool:
        """Whether one of the parts does."""
        return any(part.sees_gold for part in self.parts.values())


def _stage(stage: Stage) -> Callable[[PipelineOptions], Refine]:
    return lambda options: stage_of(options.parts[stage], stage, given=False)


def _stamp(options: PipelineOptions) -> Mapping[str, str]:
    return {f"{stage}-{what}": said for stage, part in options.parts.items() for what, said in part.about.items()}


SYSTEM = System(
    title="Pipeline",
    says="Takes mentions from one system, candidates from another and the choice among them from a third; oracle is a "
    "perfect one. Parts that do not see gold do not get it.",
    start=lambda options, given: pipeline(options.parts, given=given),
    options=PipelineOptions,
    spans="welcome",
    stages={stage: _stage(stage) for stage in STAGES},
    stamp=_stamp,
    needs=("what its parts need",),
    rest="DETECTOR+CANDIDATES+RANKER",
)
