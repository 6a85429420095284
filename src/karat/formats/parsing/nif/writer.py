"""NIF 2.0 in Turtle: formatting of statements, IRIs and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from karat.formats.parsing.nif.terms import BEGIN, END, PREFIXES
from karat.formats.parsing.turtle.turtle import format_iri, format_literal, get_local_name


def format_header(*prefixes: str) -> bytes:
    """Format the Turtle declarations of these prefixes, which must be in `PREFIXES`."""
    return "".join(f"@prefix {name}: {format_iri(PREFIXES[name])} .\n" for name in prefixes).encode()


class IriAllocator:
    """A source of distinct IRIs for annotations, different from the IRIs of all contexts."""

    def __init__(self, contexts: Iterable[str]) -> None:
        self._contexts = frozenset(contexts)
        self._bases: set[str] = set()

    def make_allocator(self, context: str) -> Callable[[int, int], str]:
        """Return a function that makes a new IRI for start and end of an annotation of a context, as in RFC 5147."""
        base = f"{context.partition('#')[0]}#char="
        if base in self._bases:
            base = f"{context}&char="
        self._bases.add(base)
        counts: Counter[str] = Counter()

        def make_iri(start: int, end: int) -> str:
            iri = f"{base}{start},{end}"
            counts[iri] += 1
            return iri if counts[iri] == 1 and iri not in self._contexts else f"{iri};{counts[iri]}"

        return make_iri


def format_statement(subject: str, predicates: Sequence[str]) -> bytes:
    """Format a Turtle statement about a subject, one predicate with its value per line."""
    joined = " ;\n    ".join(predicates)
    return f"\n{format_iri(subject)}\n    {joined} .\n".encode()


def format_links(entities: Iterable[str]) -> str:
    """Format the links of a mention as a predicate with its values, in order."""
    return f"itsrdf:taIdentRef {' , '.join(map(format_iri, entities))}"


def format_offset(predicate: str, value: int) -> str:
    """Format a predicate with an offset as its value."""
    return f'nif:{get_local_name(predicate)} "{value}"^^xsd:nonNegativeInteger'


def format_text(text: str, start: int = 0, end: int | None = None) -> list[str]:
    """Format the predicates for a text, or a part of it: its offsets `start` and `end`, and its string."""
    end = len(text) if end is None else end
    return [format_offset(BEGIN, start), format_offset(END, end), f"nif:isString {format_literal(text[start:end])}"]


def format_double(value: float) -> str:
    """Format a number as a Turtle double with all digits."""
    return f'"{value!r}"^^xsd:double'
