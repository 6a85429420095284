"""Views of results that were read from a file."""

from __future__ import annotations

from karat.errors import UnknownNameError
from karat.evaluation.view import Shape, View
from karat.model.name import ViewName
from karat.model.result import Result
from karat.spec.choices.empty import EMPTY


def stored_view(result: Result, name: ViewName) -> View:
    """The view of a result, with no more than its file holds: nothing that measures of ranks or scores look at."""
    view = str(name)
    if view not in result.views:
        raise UnknownNameError("view of this result", view, result.views)
    empty = result.signature["empty"]
    if empty not in EMPTY:
        raise UnknownNameError("value of the choice empty", empty, EMPTY)
    shape = Shape(EMPTY[empty], bool(name.filters), view in result.per_item)
    return shape.view(result.views[view], found=result.detection.get(view), macro=result.averaged.get(view))
