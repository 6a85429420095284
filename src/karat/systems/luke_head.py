"""LUKE's way on any encoder: entities beside the words, the surest first; trained by `karat train luke-head`."""

from dataclasses import dataclass

from karat.linking.trained import TrainedOptions, ranking, started, trained_stamp
from karat.spec.system import Refine, System, option


@dataclass(frozen=True, slots=True)
class LukeHeadOptions(TrainedOptions):
    """What may be said to `luke-head`."""

    order: bool = option(True, "Decide the surest mention first, and let the others see it; otherwise all at once.")


def _rank(options: LukeHeadOptions) -> Refine:
    return ranking(options, "luke-head", in_order=options.order)


SYSTEM = System(
    title="LUKE's head",
    says="Tells masked entities from words and from each other, the surest mention of a text first.",
    start=lambda options, given: started(options, _rank(options)),
    options=LukeHeadOptions,
    solves="d2kb",
    spans="needed",
    space="of the texts that it was trained on",
    stages={"rank": _rank},
    stamp=lambda options: trained_stamp(options, "luke-head"),
    rest="DIR",
    needs=("karat train",),
    extra="train",
)
