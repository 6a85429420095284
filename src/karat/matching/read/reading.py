"""How both sides are read before anything is matched: which ids mean the same, and what counts as a mention."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.kb.protocol import KB
from karat.kb.spelling import SPELLINGS, spelt
from karat.matching.read.whole import Whole
from karat.model.items import Lists
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Ints
from karat.spec.choices.choices import Conventions
from karat.spec.choices.conventions import (
    Alternatives,
    Duplicates,
    EvaluationSpan,
    Ids,
    Missing,
    Nil,
    Optional,
    Quantities,
    Spans,
    Unlinked,
)

_GOLD_NIL = "NIL"


@dataclass(frozen=True, slots=True)
class Reading:
    """The choices that decide what the items are, before any is selected.

    `ids` says how ids are read by themselves, and `kb` is what they are then resolved by.
    `prefixes` are those of the knowledge base where ids outside of it are emerging entities; `typed` and `clustered`
    say that some view looks at types or at clusters; `kinds` is who says which entities are quantities and datetimes,
    where these are compared by kind; `whole` is what is known of the whole where there is only a block of it.
    """

    kb: KB | None = field(default=None, compare=False)
    ids: Ids = Ids.AS_WRITTEN
    alike: bool = False
    prefixes: tuple[str, ...] | None = None
    unlinked_is_nil: bool = False
    once: bool = False
    separate: bool = False
    required: bool = False
    typed: bool = False
    clustered: bool = False
    words: bool = False
    unlinked_is_entity: bool = False
    span_of_unmatched: bool = False
    merged: bool = False
    nil_unmatched: bool = False
    kinds: KB | None = field(default=None, compare=False)
    whole: Whole | None = None

    @property
    def renames(self) -> bool:
        """Whether entity codes change at all."""
        return (
            self.kb is not None
            or self.prefixes is not None
            or self.unlinked_is_nil
            or self.unlinked_is_entity
            or self.ids in SPELLINGS
            or self.nil_unmatched
        )


def reading(conventions: Conventions, kb: KB | None, *, typed: bool, clustered: bool) -> Reading:
    """The reading that conventions ask for."""
    c = conventions
    return Reading(
        kb=kb if c.ids.by_kb else None,
        ids=c.ids,
        alike=c.missing is Missing.ALIKE,
        prefixes=c.prefixes if c.nil is Nil.EMERGING else None,
        unlinked_is_nil=c.unlinked is Unlinked.NIL,
        once=c.duplicates is Duplicates.ONCE,
        separate=c.alternatives is Alternatives.SEPARATE,
        required=c.optional is Optional.REQUIRED,
        typed=typed,
        clustered=clustered,
        words=c.spans is Spans.WORDS,
        unlinked_is_entity=c.unlinked is Unlinked.ENTITY,
        span_of_unmatched=c.span is EvaluationSpan.UNMATCHED,
        merged=c.alternatives is Alternatives.MERGED,
        nil_unmatched=c.nil is Nil.UNMATCHED,
        kinds=kb if c.quantities is Quantities.KIND else None,
    )


class Codes(msgspec.Struct, frozen=True):
    """Entity codes of one side with the further ids of each item."""

    entity: Ints
    same_as: Lists | None


def renamed(names: Arrow, sides: tuple[Codes, Codes], how: Reading) -> tuple[Arrow, tuple[Codes, Codes]]:
    """The ids and codes of both sides after spelling, redirects, same-as and the rule for emerging entities."""
    given = names, sides
    read = spelt(names, how.ids) if how.kb is None else _canonical(names, how.kb, alike=how.alike)
    if read is not names:
        names, code = _coded(read, names)
        sides = _mapped(sides[0], code), _mapped(sides[1], code)
    if how.unlinked_is_nil:
        sides = _linked(sides[0], NIL), _linked(sides[1], NIL)
    if how.unlinked_is_entity:
        known = pc.index(names, pa.scalar("", pa.string())).as_py()
        nameless = known if known >= 0 else len(names)
        names = names if known >= 0 else pa.concat_arrays([names, pa.array([""])])
        sides = _linked(sides[0], nameless), _linked(sides[1], nameless)
    if how.nil_unmatched:  # in the gold standard NIL becomes an entity that no answer has
        names = pa.concat_arrays([names, pa.array([_GOLD_NIL])])
        gold = np.where(sides[0].entity == NIL, np.int32(len(names) - 1), sides[0].entity)
        sides = Codes(gold, sides[0].same_as), sides[1]
    if how.prefixes is not None:
        inside = _begins(names, how.prefixes)
        if how.ids is Ids.NORMALISED:  # a normal form may have lost what its other spellings begin with
            inside |= np.array([_any_begins(id, how.prefixes) for id in names.to_pylist()], np.bool_)
        sides = _emerging(sides[0], inside), _emerging(sides[1], inside)
    return given if names is given[0] and sides is given[1] else _gold_first(names, sides)


def _begins(names: Arrow, prefixes: tuple[str, ...]) -> Bools:
    found = np.zeros(len(names), np.bool_)
    for prefix in prefixes:
        found |= pc.starts_with(names, prefix).to_numpy(zero_copy_only=False)
    return found


def _any_begins(id: str, prefixes: tuple[str, ...]) -> bool:
    return any(spelling.startswith(prefixes) for spelling in SPELLINGS[Ids.NORMALISED].spellings(id))


def _gold_first(names: Arrow, sides: tuple[Codes, Codes]) -> tuple[Arrow, tuple[Codes, Codes]]:
    """The ids with those of the gold standard first, as they occur there, so that no run changes their codes."""
    gold = sides[0]
    used = gold.entity if gold.same_as is None else np.concatenate([gold.entity, gold.same_as.values])
    first = np.full(len(names) + 2, len(used), np.int64)
    first[used[::-1]] = np.arange(len(used))[::-1]  # of several places the one that is written last stays
    order = np.argsort(first[:-2], kind="stable")
    code = np.empty(len(names), np.int32)
    code[order] = np.arange(len(names), dtype=np.int32)
    return names.take(pa.array(order)), (_mapped(gold, code), _mapped(sides[1], code))


def resolved(ids: list[str], how: Reading) -> list[str]:
    """Ids by which entities are looked up after spelling, redirects and same-as."""
    if how.kb is not None:
        return how.kb.canonical(ids)
    found: list[str] = spelt(pa.array(ids, pa.string()), how.ids).to_pylist()
    return found


def _canonical(names: Arrow, kb: KB, *, alike: bool) -> Arrow:
    ids = names.to_pylist()
    found = kb.canonical(ids)
    if alike:
        known = kb.has(found)
        if known is None:
            raise UsageError(f"missing=alike needs to know the entities of {kb.name}, which lists none.")
        found = [name if there else "" for name, there in zip(found, known, strict=True)]
    return pa.array(found, pa.string())


def _coded(found: Arrow, ids: Arrow) -> tuple[Arrow, Ints]:
    """All ids, old and new, and for each old one the code of what it became."""
    every = pa.concat_arrays([ids, found]).unique()
    return every, np.asarray(pc.index_in(found, every).to_numpy(zero_copy_only=False), np.int32)


def _mapped(side: Codes, code: Ints) -> Codes:
    kept = np.append(code, np.array([NO_LINK, NIL], np.int32))  # the last two stand at -2 and -1
    same = side.same_as
    return Codes(kept[side.entity], None if same is None else Lists(same.offsets, kept[same.values]))


def _linked(side: Codes, code: int) -> Codes:
    return Codes(np.where(side.entity == NO_LINK, np.int32(code), side.entity), side.same_as)


def _emerging(side: Codes, inside: Bools) -> Codes:
    """Items of which no id is in the knowledge base become NIL, and lose their further ids."""
    known = np.append(inside, [False, False])
    here = known[side.entity]
    same = side.same_as
    if same is not None:
        owner = np.repeat(np.arange(len(side.entity)), np.diff(same.offsets))
        here = here | (np.bincount(owner[known[same.values]], minlength=len(side.entity)) > 0)
        stay = here[owner]
        lengths = np.bincount(owner[stay], minlength=len(side.entity))
        same = Lists(np.concatenate([[0], np.cumsum(lengths)]), same.values[stay])
    outside = (side.entity >= 0) & ~here
    return Codes(np.where(outside, np.int32(NIL), side.entity), same)
