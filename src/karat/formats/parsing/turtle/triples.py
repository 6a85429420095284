"""Resources built from consecutive triples of one subject.

A graph would be wrong: some files use one IRI for several things, which a graph would merge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from karat.model.errors import InputError
from karat.model.limits import get_limit, limit_error

Values: TypeAlias = dict[str, tuple[str, ...]]
"""Objects of one subject, by predicate."""


class BlankNodeId(str):
    """The name of a blank node, to tell it from an IRI."""

    __slots__ = ()


class ResourceBuilder:
    """A builder of resources from consecutive triples: the current subject with its values, and all blank nodes.

    `label` names the file in errors. Predicates in `skipped_predicates` are ignored. A second value of a
    `single_valued` predicate starts another resource. Blank nodes are yielded last.
    """

    def __init__(self, single_valued: frozenset[str], skipped_predicates: frozenset[str], label: str) -> None:
        self.label, self._max_values = label, get_limit("values")
        self.single_valued = single_valued
        self.skipped_predicates = skipped_predicates
        self.subject: str | None = None
        self.values: Values = {}
        self.blank_nodes: dict[str, Values] = {}

    def add_quads(self, quads: Iterable[Any]) -> Iterator[tuple[str, Values]]:
        """Add parsed triples, and yield subject and values of the resources they complete; the last may continue."""
        from pyoxigraph import BlankNode

        single_valued, skipped_predicates = self.single_valued, self.skipped_predicates
        subject, values = self.subject, self.values
        for quad in quads:
            predicate = quad.predicate.value
            if predicate in skipped_predicates:
                continue
            node = quad.object
            value = node.value if type(node) is not BlankNode else BlankNodeId(node.value)
            quad_subject = quad.subject.value
            if type(quad.subject) is BlankNode:  # may occur inside the statement whose object it is
                node_values = self.blank_nodes.setdefault(quad_subject, {})
                node_values[predicate] = self._join_values(node_values.get(predicate, ()), (value,), predicate)
                continue
            if quad_subject != subject:
                if subject is not None:
                    yield subject, values
                subject, values = quad_subject, {}
            if predicate not in values:
                values[predicate] = (value,)
            elif predicate in single_valued and values[predicate][0] != value:
                yield quad_subject, values
                values = {predicate: (value,)}
            else:
                values[predicate] = self._join_values(values[predicate], (value,), predicate)
        self.subject, self.values = subject, values

    def add_statement(
        self, subject: str, statement: Iterable[tuple[str, tuple[str, ...]]]
    ) -> Iterator[tuple[str, Values]]:
        """Add predicates with objects about `subject`, and yield the resources they complete; the last may continue.

        The caller removes `skipped_predicates`.
        """
        if subject != self.subject:
            if self.subject is not None:
                yield self.subject, self.values
            self.subject, self.values = subject, {}
        for predicate, objects in statement:
            if predicate not in self.values:
                self.values[predicate] = objects
            elif predicate in self.single_valued and self.values[predicate][0] != objects[0]:
                yield subject, self.values
                self.values = {predicate: objects}
            else:
                self.values[predicate] = self._join_values(self.values[predicate], objects, predicate)

    def _join_values(self, values: tuple[str, ...], more: tuple[str, ...], predicate: str) -> tuple[str, ...]:
        """Return all values of a predicate; raise `InputError` if there are too many, since each addition copies."""
        if len(values) + len(more) > self._max_values:
            raise self._values_error(predicate)
        return values + more

    def _values_error(self, predicate: str) -> InputError:
        """Return (not raise) the error for a resource with too many values of a predicate."""
        finding = f"a resource with more than {self._max_values:,} values of <{predicate}>"
        return limit_error("values", self.label, finding, "Check the statements about it")

    def finish(self) -> Iterator[tuple[str, Values]]:
        """Yield the last resource, then all blank nodes."""
        if self.subject is not None:
            yield self.subject, self.values
        for name, values in self.blank_nodes.items():
            yield BlankNodeId(name), values
