"""Mentions and names of entities in one space, trained by `karat train bi-encoder`."""

from karat.linking.trained import TrainedOptions, ranking, started, trained_stamp
from karat.spec.system import Refine, System


def _rank(options: TrainedOptions) -> Refine:
    return ranking(options, "bi-encoder")


SYSTEM = System(
    title="Bi-encoder",
    says="Links each given mention to the entity whose name is nearest to it in its context, seen in training or not.",
    start=lambda options, given: started(options, _rank(options)),
    options=TrainedOptions,
    solves="d2kb",
    spans="needed",
    space="of the texts that it was trained on",
    stages={"rank": _rank},
    stamp=lambda options: trained_stamp(options, "bi-encoder"),
    rest="DIR",
    needs=("karat train",),
    extra="train",
)
