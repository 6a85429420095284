"""Fields of data classes that are computed when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

_T = TypeVar("_T")


class Deferred(NamedTuple, Generic[_T]):
    """The value of a field that is computed when it is first read."""

    compute: Callable[[], _T]
    """Return the value."""


class DeferrableField(Generic[_T]):
    """A field of a data class that takes a value, or a `Deferred` for one."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> _T:
        if instance is None:  # the data class asks for a default
            raise AttributeError(f"{self._name} has no default")
        value = instance.__dict__[self._name]
        if isinstance(value, Deferred):
            value = instance.__dict__[self._name] = value.compute()
        field_value: _T = value
        return field_value

    def __set__(self, instance: object, value: _T | Deferred[_T]) -> None:
        instance.__dict__[self._name] = value
