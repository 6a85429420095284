"""Abstention: every system with a ranking stage can answer NIL instead of a link with a low score.

The option `nil` is added here to all these systems, so that no plugin declares it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import fields, make_dataclass, replace
from functools import cache
from typing import Any, Final

import msgspec

from karat.model import registry
from karat.model.document import Document, Prediction, Response
from karat.model.errors import KaratError, UsageError
from karat.model.spec.system import Link, Refine, System, option

NIL_OPTION: Final = "nil"
"""The name of the option."""
_DESCRIPTION: Final = (
    "Minimum score of a link: links below it, and mentions without candidates, become NIL. 0: no mention becomes NIL."
)


def load_system(name: str) -> System:
    """Load the plugin `name` with the options of its kind: systems that rank candidates have the option `nil`."""
    try:
        return add_abstention(registry.get_plugin("systems", name, System))
    except KaratError as problem:
        if not name.endswith(".py"):
            raise
        raise UsageError(f"{problem} If it is a program that reads text, write 'command:python3 {name}'.") from problem


def add_abstention(system: System) -> System:
    """Return the system with the option `nil` if it runs inside Karat and ranks candidates; otherwise unchanged."""
    if "rank" not in system.stages or system.needs_gold or system.external_access is not None:
        return system
    return replace(
        system,
        options=_add_option(system.options),  # type: ignore[arg-type]  # classes are hashable
        start=_abstain_after_start(system.start),
        stages={**system.stages, "rank": _abstain_after_stage(system.stages["rank"])},
    )


def can_abstain(system: System) -> bool:
    """Return whether a system has the option `nil`."""
    return NIL_OPTION in system.options.__dataclass_fields__


def abstain(response: Response, threshold: float) -> Response:
    """Return a response whose links with a score below `threshold`, and unlinked mentions, are NIL.

    NIL predictions have no score and keep their candidates. Links without a score remain. With a threshold of 0,
    nothing changes.
    """
    if threshold <= 0:
        return response
    return msgspec.structs.replace(
        response, predictions=tuple(_abstain_below(prediction, threshold) for prediction in response.predictions)
    )


def _abstain_below(prediction: Prediction, threshold: float) -> Prediction:
    """Return a prediction as NIL if it is unlinked or its score is below `threshold`, otherwise unchanged."""
    is_linked = isinstance(prediction.entity, str)
    if prediction.entity is None or (is_linked and (prediction.score is None or prediction.score >= threshold)):
        return prediction
    return msgspec.structs.replace(prediction, entity=None, same_as=(), score=None)


@cache
def _add_option(options: Hashable) -> type[Any]:
    """Return a subclass of a class of options with the field `nil`, or the class itself if it has the field."""
    assert isinstance(options, type)
    if NIL_OPTION in {field.name for field in fields(options)}:
        return options
    return make_dataclass(
        options.__name__,
        [(NIL_OPTION, float, option(0.0, _DESCRIPTION))],
        bases=(options,),
        namespace={"__doc__": options.__doc__, "__module__": options.__module__},
        frozen=True,
        slots=True,
    )


def _get_threshold(options: Any) -> float:  # noqa: ANN401  # of any system
    """Return the option `nil`; raise `UsageError` if it is negative or no number."""
    threshold = float(options.nil)
    if not threshold >= 0:
        raise UsageError(f"nil: {threshold} is not a valid value. Give a score of at least 0.")
    return threshold


def _abstain_after_start(start: Callable[[Any, bool], Link]) -> Callable[[Any, bool], Link]:
    """Return the `start` of a system that also abstains."""

    def start_with_abstention(options: Any, gold_mentions: bool) -> Link:  # noqa: ANN401  # of any system
        threshold, link = _get_threshold(options), start(options, gold_mentions)

        def link_documents(documents: Iterable[Document]) -> Iterator[Response]:
            return (abstain(response, threshold) for response in link(documents))

        return link_documents if threshold else link

    return start_with_abstention


def _abstain_after_stage(open_stage: Callable[[Any], Refine]) -> Callable[[Any], Refine]:
    """Return the function that opens a ranking stage which also abstains."""

    def open_with_abstention(options: Any) -> Refine:  # noqa: ANN401  # of any system
        threshold, refine = _get_threshold(options), open_stage(options)

        def refine_responses(pairs: Iterable[tuple[Document, Response]]) -> Iterator[Response]:
            return (abstain(response, threshold) for response in refine(pairs))

        return refine_responses if threshold else refine

    return open_with_abstention
