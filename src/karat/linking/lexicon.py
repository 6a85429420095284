"""What surfaces may stand for, by the aliases of a pack, in arrays and one dictionary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UsageError
from karat.kb.opened import open_pack
from karat.kb.pack.pack import Pack
from karat.model.document import Candidate
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs
from karat.spec.outside import TrainingCard

Weighing: TypeAlias = Literal["counts", "popularity", "both"]
"""What speaks for a candidate: how often its surface is linked to it, how popular the entity is, or both."""

Substitute: TypeAlias = Literal["none", "popularity"]
"""What stands in where a pack has no counts."""

KB_SAYS: Final = "A pack with aliases, by name or folder; several joined by +, of which the first says what ids are."
PACK_CARD: Final = TrainingCard(vocabulary="entities of the pack", candidate_list="aliases of the pack")
SUBSTITUTE_SAYS: Final = "What stands in for counts that the pack does not have: none, or popularity."

_THE: Final = "the "
_POSSESSIVE: Final = ("'s", "’s", "'", "’")
_FORMS: Final = tuple(re.compile(form) for form in (r"['’]s?$", r",.*$", r",? (?:Inc|Co|Corp|Ltd)\.?$", r"(?<=\w\w)s$"))
"""What is taken from words that nobody knows, in turn: possessives, what follows a comma, legal forms, plurals."""
_DISCOUNTS: Final = (1.0, 0.1, 0.02)
"""How much names speak for an entity: letter by letter, but for case and article, and by one word of them."""
_PARTLY: Final = 30
_KEPT: Final = 200_000
_LEAST: Final = 10.0
"""How many counts the popularity of the entities weighs as much as, for each surface."""


def packs_of(kb: str) -> tuple[Pack, ...]:
    """The packs that an option `kb` names."""
    return tuple(open_pack(name) for name in kb.split("+"))


def stamp(kb: str) -> dict[str, str]:
    """What tells the packs apart from others of their names."""
    return {"kb": "+".join(f"{pack.name}@{pack.digest}" for pack in packs_of(kb))}


def weighing(kb: str, substitute: Substitute) -> Weighing:
    """How a linker that needs counts weighs candidates, or an error that says what to do."""
    if substitute == "popularity":
        return "both"
    if not any(pack.manifest.anchor_counts != "none" for pack in packs_of(kb)):
        raise UsageError(
            f"the pack {kb} has no counts of how often words lead to an entity. Count them in texts held apart from "
            "the test (karat kb build text CORPUS… --out NAME), or let the popularity of entities stand in "
            "(substitute=popularity; --substitute popularity of karat run)."
        )
    return "counts"


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The surfaces of one or several packs, and for each the entities it may stand for, likeliest first.

    Entities are numbered, and `popularity` has a value for each. `link_probability` says for each surface how often its
    words are a link, and is NaN where nobody counted.
    """

    packs: tuple[Pack, ...]
    ids: Sequence[str] = field(repr=False)
    popularity: Floats = field(repr=False)
    rows: dict[str, int] = field(repr=False)
    starts: Longs = field(repr=False)
    entities: Longs = field(repr=False)
    shares: Floats = field(repr=False)
    link_probability: Floats = field(repr=False)
    partly: bool = False
    """Whether a word of a name may stand for all of it where nobody counted that it does."""
    _made: dict[tuple[str, int], tuple[Candidate, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def codes(self) -> dict[str, int]:
        """The number of each entity."""
        return {id: code for code, id in enumerate(self.ids)}

    @cached_property
    def loose(self) -> dict[str, int]:
        """The surfaces whatever their case, with the row of the one that has the most popular entity."""
        found: dict[str, int] = {}
        best = self.popularity[self.entities[self.starts[:-1]]].tolist()
        for surface, row in self.rows.items():
            key = _loose(surface)
            if key not in found or best[row] > best[found[key]]:
                found[key] = row
        return found

    @cached_property
    def first_words(self) -> dict[str, int]:
        """The first words of all surfaces in small letters, with how many words surfaces with it have at most."""
        found: dict[str, int] = {}
        for key in self.loose:
            words = key.split()
            if words and found.get(words[0], 0) < len(words):
                found[words[0]] = len(words)
        return found

    def row(self, surface: str) -> int:
        """The row of a surface: letter by letter, or else without article, possessive and case; -1 if there is none."""
        found = self.rows.get(surface)
        if found is not None:
            return found
        found = self.loose.get(_loose(surface))
        if found is not None:
            return found
        for ending in _POSSESSIVE:
            if surface.endswith(ending) and len(surface) > len(ending):
                return self.row(surface[: -len(ending)])
        return -1

    @cached_property
    def partial(self) -> dict[str, list[int]]:
        """The first and last words of names of two or three words, in small letters, with the most popular entities."""
        if not self.partly:
            return {}
        found: dict[str, set[int]] = {}
        starts, entities = self.starts.tolist(), self.entities.tolist()
        for surface, row in self.rows.items():
            words = surface.casefold().split()
            if 1 < len(words) < 4 and surface[0].isupper():
                for word in (words[0], words[-1]):
                    found.setdefault(word, set()).update(entities[starts[row] : starts[row + 1]])
        popularity = self.popularity.tolist()
        return {
            word: sorted(codes, key=lambda code: (-popularity[code], code))[:_PARTLY] for word, codes in found.items()
        }

    def candidates(self, surface: str, most: int) -> tuple[Candidate, ...]:
        """The likeliest entities of a surface, with their shares: those called so, then those called nearly so."""
        made = self._made.get((surface, most))
        if made is None:
            if len(self._made) >= _KEPT:
                self._made.clear()
            made = self._made[surface, most] = self._candidates(surface, most)
        return made

    def _candidates(self, surface: str, most: int) -> tuple[Candidate, ...]:
        shares: dict[int, float] = {}
        rows = (self.rows.get(surface), self.loose.get(_loose(surface)))
        for row, discount in zip(rows, _DISCOUNTS, strict=False):
            if row is not None:
                part = slice(int(self.starts[row]), int(self.starts[row + 1]))
                for code, share in zip(self.entities[part].tolist(), self.shares[part].tolist(), strict=True):
                    shares.setdefault(code, share * discount)
        if surface[:1].isupper() and " " not in surface:
            others = [code for code in self.partial.get(surface.casefold(), ()) if code not in shares]
            total = sum(self.popularity[code] for code in others)
            shares.update((code, float(self.popularity[code] / total) * _DISCOUNTS[2]) for code in others)
        if not shares:
            shorter = (rewritten for form in _FORMS if (rewritten := form.sub("", surface)) not in ("", surface))
            return next((found for each in shorter if (found := self.candidates(each, most))), ())
        whole = sum(shares.values())
        ranked = sorted(shares.items(), key=lambda pair: (-pair[1], -self.popularity[pair[0]], pair[0]))
        return tuple(Candidate(self.ids[code], round(share / whole, 6)) for code, share in ranked[:most])


@cache
def lexicon(kb: str, how: Weighing) -> Lexicon:
    """The lexicon of some packs; what was made once is kept."""
    packs = packs_of(kb)
    table = pa.concat_tables([_named(pack, packs[0]) for pack in packs], promote_options="default").combine_chunks()
    if how == "counts":
        table = table.filter(pc.is_valid(table.column("count")))
    if not table.num_rows:
        raise UsageError(f"the pack {kb} has no aliases, and so no candidates. Choose one that has: karat kb show NAME")
    table = table.group_by(["alias", "id"], use_threads=False).aggregate([("count", "sum")])
    encoded = table.column("id").combine_chunks().dictionary_encode()
    codes, ids = encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()
    popularity = _popularity(packs, ids)
    surfaces = table.column("alias").combine_chunks().dictionary_encode()
    row = surfaces.indices.to_numpy().astype(np.int64)
    counts = np.nan_to_num(pc.fill_null(table.column("count_sum"), 0).to_numpy().astype(float))
    weight = popularity[codes]
    if how != "popularity":
        popular = weight / np.bincount(row, weight)[row]
        weight = counts if how == "counts" else counts + _LEAST * popular
    order = np.lexsort((codes, -popularity[codes], -weight, row))
    row, weight = row[order], weight[order]
    known = surfaces.dictionary
    totals = np.bincount(row, weight, minlength=len(known))
    names = known.to_pylist()
    return Lexicon(
        packs,
        ids,
        popularity,
        {surface: number for number, surface in enumerate(names)},
        np.searchsorted(row, np.arange(len(names) + 1)),
        codes[order],
        weight / totals[row],
        _link_probability(packs, known),
        partly=how != "counts",
    )


def _loose(surface: str) -> str:
    return surface.casefold().removeprefix(_THE)


def _named(pack: Pack, first: Pack) -> Arrow:
    """What entities are called: aliases with their counts, names and demonyms; ids are those of the first pack."""
    kinds = pa.schema([("id", pa.string()), ("alias", pa.string()), ("count", pa.int64())])
    parts = []
    aliases, entities, demonyms = (pack.table(name) for name in ("aliases", "entities", "demonyms"))
    if aliases is not None:
        parts.append(aliases.whole("id", "alias", "count").select(["id", "alias", "count"]))
    if entities is not None:
        named = entities.whole("id", "name", "kind")
        named = named.filter(pc.and_(pc.is_valid(named["name"]), pc.is_in(named["kind"], pa.array(["normal"]))))
        parts.append(pa.table([named["id"], named["name"], pa.nulls(named.num_rows, pa.int64())], schema=kinds))
    if demonyms is not None:
        said = demonyms.whole("id", "surface")
        said = said.filter(pc.is_valid(said["id"]))
        parts.append(pa.table([said["id"], said["surface"], pa.nulls(said.num_rows, pa.int64())], schema=kinds))
    table = pa.concat_tables([part.cast(kinds) for part in parts]) if parts else kinds.empty_table()
    if pack is first:
        return table
    own = table.column("id").combine_chunks().dictionary_encode()
    moved = pa.array(first.canonical(own.dictionary.to_pylist()), pa.string())
    return table.set_column(0, "id", moved.take(own.indices))


def _popularity(packs: Sequence[Pack], ids: Sequence[str]) -> Floats:
    """One more than the links to each entity, or the counts of its aliases; larger places go before others."""
    found = np.zeros(len(ids))
    for pack in packs:
        entities, aliases = pack.table("entities"), pack.table("aliases")
        if entities is not None:
            links, people = (
                pc.fill_null(entities.aligned(ids, column), 0).to_numpy().astype(float)
                for column in ("in_links", "population")
            )
            found = np.maximum(found, links + np.minimum(people / 1e10, 0.9))
        if aliases is not None and pack.manifest.anchor_counts != "none":
            table = aliases.whole("id", "count")
            place = pc.index_in(table["id"], value_set=pa.array(ids, pa.string()))
            known = pc.is_valid(place).to_numpy()
            counts = pc.fill_null(table["count"], 0).to_numpy()[known]
            places = pc.drop_null(place).to_numpy()
            found = np.maximum(found, np.bincount(places, counts, minlength=len(ids)))
    return 1.0 + found


def _link_probability(packs: Sequence[Pack], surfaces: Arrow) -> Floats:
    linked, unlinked = np.zeros(len(surfaces)), np.zeros(len(surfaces))
    for pack in packs:
        table = pack.table("surfaces")
        if table is not None:
            linked += pc.fill_null(table.aligned(surfaces, "linked"), 0).to_numpy()
            unlinked += pc.fill_null(table.aligned(surfaces, "unlinked"), 0).to_numpy()
    with np.errstate(invalid="ignore"):
        return np.asarray(linked / (linked + unlinked))
