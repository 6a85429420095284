"""A softmax over a vocabulary of entities, trained by `karat train fevry` (Févry et al. 2020)."""

from karat.linking.trained import TrainedOptions, ranking, started, trained_stamp
from karat.spec.system import Refine, System


def _rank(options: TrainedOptions) -> Refine:
    return ranking(options, "fevry")


SYSTEM = System(
    title="FEVRY",
    says="Links each given mention to the likeliest entity that it was trained on, or to the likeliest of its "
    "candidates.",
    start=lambda options, given: started(options, _rank(options)),
    options=TrainedOptions,
    solves="d2kb",
    spans="needed",
    space="of the texts that it was trained on",
    stages={"rank": _rank},
    stamp=lambda options: trained_stamp(options, "fevry"),
    rest="DIR",
    needs=("karat train",),
    extra="train",
)
