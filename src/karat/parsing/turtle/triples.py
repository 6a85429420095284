"""Triples put together: what consecutive ones say about one subject.

A graph would be wrong: some files give one address to several things, which a graph makes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

Values: TypeAlias = dict[str, tuple[str, ...]]
"""What is said about one subject, by predicate."""


class Blank(str):
    """The name of a node that has no address."""

    __slots__ = ()


class Gathering:
    """The subject at hand, what was said about it so far, and the subjects without address, which come last.

    Predicates to `skip` are left out. Where one that can be said only `once` has a second value, another resource
    begins.
    """

    def __init__(self, once: frozenset[str], skip: frozenset[str]) -> None:
        self.once = once
        self.skip = skip
        self.subject: str | None = None
        self.values: Values = {}
        self.nameless: dict[str, Values] = {}

    def add(self, quads: Iterable[Any]) -> Iterator[tuple[str, Values]]:
        """The resources that end here; the last one may go on."""
        from pyoxigraph import BlankNode

        once, skip = self.once, self.skip
        subject, values = self.subject, self.values
        for quad in quads:
            predicate = quad.predicate.value
            if predicate in skip:
                continue
            node = quad.object
            value = node.value if type(node) is not BlankNode else Blank(node.value)
            about = quad.subject.value
            if type(quad.subject) is BlankNode:  # may stand inside the statement that it is the object of
                said = self.nameless.setdefault(about, {})
                said[predicate] = (*said.get(predicate, ()), value)
                continue
            if about != subject:
                if subject is not None:
                    yield subject, values
                subject, values = about, {}
            if predicate not in values:
                values[predicate] = (value,)
            elif predicate in once and values[predicate][0] != value:
                yield about, values
                values = {predicate: (value,)}
            else:
                values[predicate] += (value,)
        self.subject, self.values = subject, values

    def join(self, about: str, said: Iterable[tuple[str, tuple[str, ...]]]) -> Iterator[tuple[str, Values]]:
        """The resources that end where a statement about some subject comes next."""
        if about != self.subject:
            if self.subject is not None:
                yield self.subject, self.values
            self.subject, self.values = about, {}
        for predicate, more in said:
            if predicate not in self.values:
                self.values[predicate] = more
            elif predicate in self.once and self.values[predicate][0] != more[0]:
                yield about, self.values
                self.values = {predicate: more}
            else:
                self.values[predicate] += more

    def end(self) -> Iterator[tuple[str, Values]]:
        """The last resource, and those without address."""
        if self.subject is not None:
            yield self.subject, self.values
        for name, values in self.nameless.items():
            yield Blank(name), values
