"""Checks of the keywords that users pass to public functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial, wraps
from numbers import Integral, Real
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

from karat.model.errors import UnknownKeywordError, UsageError

_READING: Final = ("columns", "format", "on_error", "duplicate_ids", "span_mismatch", "offsets", "spans_key", "system")
"""Keywords of `load_run`."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _ArgumentRule(NamedTuple):
    """Which values a keyword takes, in all functions that have it, besides its default."""

    is_valid: Callable[[Any], bool]
    expected: str


def _is_of(types: tuple[type, ...], value: object) -> bool:
    """Return whether a value has one of `types`; no truth value is a number."""
    return isinstance(value, types) and not isinstance(value, bool)


def _are_names(value: object) -> bool:
    """Return whether a value is a name or several."""
    if isinstance(value, list | tuple):
        return all(isinstance(name, str) for name in value)
    return isinstance(value, str) or (isinstance(value, Iterable) and not isinstance(value, bytes | Mapping))


def _require_choice(*choices: str) -> _ArgumentRule:
    """Return the rule for a keyword that is one of `choices`."""
    return _ArgumentRule(lambda value: value in choices, f"one of {', '.join(map(repr, choices))}")


_NAMES: Final = _ArgumentRule(_are_names, "a name or a list of names")
_INTEGER: Final = _ArgumentRule(partial(_is_of, (Integral,)), "an integer")
_ARGUMENTS: Final[Mapping[str, _ArgumentRule]] = {
    "profile": _ArgumentRule(partial(_is_of, (str,)), "the name of a profile"),
    "settings": _ArgumentRule(partial(_is_of, (Mapping,)), "a dictionary, such as {'nil': 'dropped'}"),
    "measures": _NAMES,
    "extra_measures": _NAMES,
    "by": _NAMES,
    "kb": _ArgumentRule(
        lambda value: not isinstance(value, Real | bytes | list | tuple | Mapping),
        "a knowledge base, or the path or name of one",
    ),
    "confidence": _ArgumentRule(partial(_is_of, (Real,)), "a number, such as 0.95"),
    "resamples": _INTEGER,
    "jackknife_groups": _INTEGER,
    "columns": _ArgumentRule(partial(_is_of, (Mapping, str)), "a dictionary, such as {'doc': 'doc_id'}"),
    "on_error": _require_choice("fail", "skip"),
    "duplicate_ids": _require_choice("fail", "rename"),
    "span_mismatch": _require_choice("fail", "realign"),
}


def check_keywords(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return `function`, raising `UnknownKeywordError` with a suggestion for a keyword that it does not have.

    Raise `UsageError` for a value of the wrong type, which would fail far from the call.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    defaults = function.__kwdefaults__ or {}

    @wraps(function)
    def call(*args: _P.args, **keywords: _P.kwargs) -> _T:
        for name, value in keywords.items():
            if name not in names:
                raise UnknownKeywordError(_describe_unknown(function.__name__, name, names))
            rule = _ARGUMENTS.get(name)
            if rule is not None and value is not defaults.get(name, rule) and not rule.is_valid(value):
                raise UsageError(
                    f"{function.__name__}: {name} is {value!r} ({type(value).__name__}). Pass {rule.expected}."
                )
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
