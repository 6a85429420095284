"""Views of results that were read from a file."""

from __future__ import annotations

from karat.evaluation.view import View, ViewOptions
from karat.model.errors import UnknownNameError
from karat.model.measure_name import ViewName
from karat.model.results.result import Result
from karat.model.spec.settings.empty import EMPTY


def load_stored_view(result: Result, name: ViewName) -> View:
    """Create the view `name` from the statistics in a result file; measures of ranks or prediction scores are missing.

    Raise `UnknownNameError` if the result does not have the view.
    """
    view = str(name)
    if view not in result.views:
        raise UnknownNameError("view of this result", view, result.views)
    empty_rule = result.signature["empty"]
    if empty_rule not in EMPTY:
        raise UnknownNameError("value of the setting empty", empty_rule, EMPTY)
    options = ViewOptions(EMPTY[empty_rule], bool(name.filters), view in result.per_item_views)
    return options.create_view(
        result.views[view], detection_statistics=result.detection.get(view), macro_mask=result.macro_documents.get(view)
    )
