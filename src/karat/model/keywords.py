"""Checks of the keywords that users pass to public functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import Final, ParamSpec, TypeVar

from karat.model.errors import UnknownKeywordError

_READING: Final = ("columns", "format", "on_error", "duplicate_ids", "span_mismatch", "offsets", "spans_key", "system")
"""Keywords of `load_run`."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


def check_keywords(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return `function`, raising `UnknownKeywordError` with a suggestion for a keyword that it does not have."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def call(*args: _P.args, **keywords: _P.kwargs) -> _T:
        for name in keywords:
            if name not in names:
                raise UnknownKeywordError(_describe_unknown(function.__name__, name, names))
        return function(*args, **keywords)

    return call


def _describe_unknown(function: str, keyword: str, names: Sequence[str]) -> str:
    """Return the message about a `keyword` that `function` with the parameters `names` does not have."""
    if "settings" in names:
        from karat.model.spec.settings.settings import SIGNED_SETTINGS  # imported late: only errors need it

        settings = {setting for setting in SIGNED_SETTINGS if setting not in names}
    else:
        settings = set()
    setting = keyword.replace("_", "-")
    if setting in settings:
        return f"{function}: `{keyword}` is a setting. Pass it as settings={{{setting!r}: …}}."
    problem = f"{function} has no keyword `{keyword}`."
    if keyword in _READING and "predictions" in names:
        return f"{problem} Pass the run that karat.load_run(…, {keyword}=…) returns as predictions."
    matches = get_close_matches(keyword, names, n=1)
    if matches:
        return f"{problem} Did you mean `{matches[0]}`?"
    for match in get_close_matches(setting, settings, n=1):
        return f"{problem} Did you mean the setting {match!r}? Pass settings={{{match!r}: …}}."
    return f"{problem} Pass one of {', '.join(f'`{name}`' for name in names)}."
