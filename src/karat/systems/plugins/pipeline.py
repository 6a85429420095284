"""A pipeline of detector, candidates and ranker from different systems.

A stage is a step of a system: detection, candidates or ranking.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from karat.model.spec.system import STAGES, Refine, Stage, System, option
from karat.systems.linking.lexicon import KB_DESCRIPTION, SUBSTITUTE_DESCRIPTION, Substitute
from karat.systems.linking.pipeline import build_pipeline, get_stage, parse_parts
from karat.systems.linking.system import ConfiguredSystem


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """The options of `pipeline`, which are passed to all its parts."""

    argument: str = option("", "Parts: DETECTOR+CANDIDATES+RANKER, each with its own options.")
    kb: str = option("starter", KB_DESCRIPTION)
    substitute: Substitute = option("none", SUBSTITUTE_DESCRIPTION)

    @property
    def parts(self) -> dict[Stage, ConfiguredSystem]:
        """The system of each stage; raises `UsageError` if the argument does not name three."""
        return parse_parts(self.argument, {"kb": self.kb, "substitute": self.substitute})

    @property
    def needs_gold(self) -> bool:
        """Whether a part needs gold labels."""
        return any(part.needs_gold for part in self.parts.values())


def _make_stage_opener(stage: Stage) -> Callable[[PipelineOptions], Refine]:
    """Return the function that returns one stage of a pipeline with some options."""
    return lambda options: get_stage(options.parts[stage], stage, gold_mentions=False)


def _fingerprint(options: PipelineOptions) -> Mapping[str, str]:
    """Return the manifest entries of all parts, with their stage as a prefix."""
    return {f"{stage}-{key}": value for stage, part in options.parts.items() for key, value in part.metadata.items()}


SYSTEM = System(
    title="Pipeline",
    description="Combines the detector, the candidates and the ranker of different systems; `oracle` is a perfect "
    "stage. "
    "Only parts that need gold labels receive them.",
    start=lambda options, gold_mentions: build_pipeline(options.parts, gold_mentions=gold_mentions),
    options=PipelineOptions,
    gold_mentions="optional",
    stages={stage: _make_stage_opener(stage) for stage in STAGES},
    fingerprint=_fingerprint,
    requirements=("the requirements of its parts",),
    argument="DETECTOR+CANDIDATES+RANKER",
)
