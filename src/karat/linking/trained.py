"""What trained linkers share as systems; nothing heavy is imported before one starts."""

from __future__ import annotations

from dataclasses import dataclass

from karat.errors import UsageError
from karat.linking.lexicon import lexicon, stamp
from karat.linking.neural.about import stamp_of
from karat.linking.stages import GIVEN, joined, proposing
from karat.spec.system import Link, Refine, option

FOLDER_SAYS = "The folder that `karat train` wrote."


@dataclass(frozen=True, slots=True)
class TrainedOptions:
    """What may be said to a trained linker."""

    rest: str = option("", FOLDER_SAYS)
    kb: str = option("", "A pack whose names give each mention its candidates; without one, all entities are.")
    candidates: int = option(20, "How many candidates of the pack a mention has at most.")


def ranking(options: TrainedOptions, kind: str, *, in_order: bool = False) -> Refine:
    """The stage that links each mention to the best of its candidates, or, without any that it knows, of all."""
    if not options.rest:
        raise UsageError(f"{kind} needs a trained model. Write {kind}:DIR; karat train {kind} makes one.")
    stamp_of(options.rest, kind)  # of that kind, or an error
    from karat.linking.neural.rank import model_stage

    return model_stage(options.rest, in_order=in_order)


def started(options: TrainedOptions, rank: Refine) -> Link:
    """Given mentions, their candidates where a pack gives some, and the choice."""
    lists = [proposing(lexicon(options.kb, "both"), options.candidates)] if options.kb else []
    return joined(GIVEN, *lists, rank)


def trained_stamp(options: TrainedOptions, kind: str) -> dict[str, str]:
    """The weights, what they were trained on, and the pack of the candidates."""
    return {**(stamp_of(options.rest, kind) if options.rest else {}), **(stamp(options.kb) if options.kb else {})}
