"""A knowledge base in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TypeVar

from karat.errors import InputError
from karat.kb.cycles import refused
from karat.kb.hierarchy import Hierarchy
from karat.model.check import Where

_Row = TypeVar("_Row", bound=tuple[str, ...])


def _in_memory(table: str) -> Where:
    return lambda row: f"{table}[{row}]"


@dataclass(frozen=True, eq=False)
class Tables:
    """A knowledge base made of tables: redirects, same-as, superclasses and entities.

    Redirects and same-as speak of entities; they do not change the ids of classes.
    """

    name: str
    hierarchy: Hierarchy
    _stands_for: Mapping[str, str] = field(repr=False)
    _known: frozenset[str] | None = field(repr=False)

    @classmethod
    def of(
        cls,
        *,
        name: str = "tables",
        redirects: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        same_as: Iterable[tuple[str, str]] = (),
        subclass_of: Iterable[tuple[str, str]] = (),
        entities: Iterable[str] | None = None,
        where: Callable[[str], Where] = _in_memory,
    ) -> Tables:
        """The tables, or an `InputError` about their first defect.

        Redirects are pairs (from, to), `subclass_of` pairs (class, superclass). Of ids that are the same, the
        smallest as written stands for all, after redirects. Without `entities` nobody can say which ids are known;
        with an empty table none is. `where` makes the place of a row in messages, for each table by its name.
        """
        moved = _named(redirects.items() if isinstance(redirects, Mapping) else redirects, where("redirects"))
        same = _named(same_as, where("same_as"))
        classes = _named(subclass_of, where("subclass_of"))
        stands_for = _united(_ends(moved, where("redirects")), same)
        known = None
        if entities is not None:
            known = frozenset(stands_for.get(id, id) for (id,) in _named(zip(entities), where("entities")))
        return cls(name, Hierarchy.of(classes, where=where("subclass_of")), stands_for, known)

    def canonical(self, ids: Sequence[str]) -> list[str]:
        """For each id the one that stands for the same entity; an unknown id stands for itself."""
        return [self._stands_for.get(id, id) for id in ids]

    def has(self, ids: Sequence[str]) -> list[bool] | None:
        """Whether each id is in the table of entities, or stands for the same as one that is; None without table."""
        known = self._known
        return None if known is None else [id in known for id in self.canonical(ids)]

    @cached_property
    def digest(self) -> str:
        """Eight hexadecimal digits that change with what the tables say, however their rows say it.

        It tells versions apart; it is no protection against forgery.
        """
        total = sum(int.from_bytes(blake2b(row.encode(), digest_size=8).digest()) for row in self._facts())
        return f"{total & 0xFFFFFFFF:08x}"

    def _facts(self) -> Iterator[str]:
        """Everything that an answer can depend on, each fact once."""
        for id, other in self._stands_for.items():
            yield f"canonical\0{id}\0{other}"
        for one, others in self.hierarchy.superclasses.items():
            for other in others:
                yield f"subclass_of\0{one}\0{other}"
        if self._known is not None:
            yield "entities"
            for id in self._known:
                yield f"entity\0{id}"


def _named(rows: Iterable[_Row], where: Where) -> list[_Row]:
    """The rows, none of which has an empty id."""
    checked = list(rows)
    for row, ids in enumerate(checked):
        if not all(map(str.strip, ids)):
            raise InputError(where(row), found="an empty id", expected="an id", remedy="Fill it in, or delete the row")
    return checked


def _ends(redirects: Sequence[tuple[str, str]], where: Where) -> dict[str, str]:
    """For each redirected id the end of its chain."""
    targets: dict[str, str] = {}
    for row, (id, to) in enumerate(redirects):
        if targets.setdefault(id, to) != to:
            before = where(redirects.index((id, targets[id])))
            raise InputError(
                where(row),
                found=f"a redirect from {id!r} to {to!r}, and one to {targets[id]!r} at {before}",
                expected="one target for each id",
                remedy="Delete one of the two rows",
            )
    ends: dict[str, str] = {}
    for id in targets:
        path: dict[str, None] = {}  # a dict is an ordered set
        while id in targets and id not in ends and id not in path:
            path[id] = None
            id = targets[id]
        if id in path:
            ids = list(path)
            raise refused(ids[ids.index(id) :], redirects, where, "redirects that come to an end")
        ends.update(dict.fromkeys(path, ends.get(id, id)))
    return ends


def _united(ends: Mapping[str, str], same: Iterable[tuple[str, str]]) -> dict[str, str]:
    """For each id the one that stands for it, where that is another one."""
    toward: dict[str, str] = {}  # toward a smaller id that is the same

    def smallest(id: str) -> str:
        while (smaller := toward.get(id, id)) != id:
            toward[id] = toward.get(smaller, smaller)  # halves the way for whoever comes next
            id = smaller
        return id

    for one, other in same:
        low, high = sorted((smallest(ends.get(one, one)), smallest(ends.get(other, other))))
        if low != high:
            toward[high] = low
    stands_for = {id: smallest(end) for id, end in ends.items()}
    stands_for.update((id, smallest(id)) for id in toward)
    return stands_for
