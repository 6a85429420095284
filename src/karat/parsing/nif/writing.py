"""NIF 2.0 as it is written: statements, addresses and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from karat.parsing.nif.terms import PREFIXES
from karat.parsing.turtle.turtle import iri, local


def header(*prefixes: str) -> bytes:
    """What some prefixes stand for."""
    return "".join(f"@prefix {name}: {iri(PREFIXES[name])} .\n" for name in prefixes).encode()


class Addresses:
    """An address for each annotation, which neither another annotation nor a context has."""

    def __init__(self, contexts: Iterable[str]) -> None:
        self._contexts = frozenset(contexts)
        self._bases: set[str] = set()

    def of(self, context: str) -> Callable[[int, int], str]:
        """What gives addresses to the spans of a context, by offsets as RFC 5147 does."""
        base = f"{context.partition('#')[0]}#char="
        if base in self._bases:
            base = f"{context}&char="
        self._bases.add(base)
        times: Counter[str] = Counter()

        def address(start: int, end: int) -> str:
            plain = f"{base}{start},{end}"
            times[plain] += 1
            return plain if times[plain] == 1 and plain not in self._contexts else f"{plain};{times[plain]}"

        return address


def statement(subject: str, said: Sequence[str]) -> bytes:
    """All that is said about a subject, a line each."""
    joined = " ;\n    ".join(said)
    return f"\n{iri(subject)}\n    {joined} .\n".encode()


def links(entities: Iterable[str]) -> str:
    """What a mention is linked to, the entity first."""
    return f"itsrdf:taIdentRef {' , '.join(map(iri, entities))}"


def offset(predicate: str, place: int) -> str:
    """A place in a text."""
    return f'nif:{local(predicate)} "{place}"^^xsd:nonNegativeInteger'


def double(value: float) -> str:
    """A number, to the last digit."""
    return f'"{value!r}"^^xsd:double'
