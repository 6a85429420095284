"""A lexicon of surface forms and the entities they may refer to, built from the aliases of snapshots."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.catalogue import open_snapshot, split_kb_name
from karat.kb.snapshot.snapshot import Snapshot
from karat.model.document import Candidate
from karat.model.errors import UsageError
from karat.model.spec.external_access import TrainingDetails
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Floats, Longs

CandidateWeights: TypeAlias = Literal["counts", "popularity", "both"]
"""The weight of a candidate: counts of links from its surface form, popularity of the entity, or both."""

Substitute: TypeAlias = Literal["none", "popularity"]
"""The replacement for counts in snapshots without counts."""

KB_DESCRIPTION: Final = (
    "Snapshot with aliases, by name or folder; several are joined by +, and the first one defines the ids."
)
SNAPSHOT_TRAINING: Final = TrainingDetails(
    vocabulary="entities of the snapshot", candidate_list="aliases of the snapshot"
)
SUBSTITUTE_DESCRIPTION: Final = "Replacement for counts that the snapshot lacks: none or popularity."

_ARTICLE: Final = "the "
_POSSESSIVES: Final = ("'s", "’s", "'", "’")
_REMOVABLE_ENDINGS: Final = tuple(
    re.compile(form) for form in (r"['’]s?$", r",.*$", r",? (?:Inc|Co|Corp|Ltd)\.?$", r"(?<=\w\w)s$")
)
"""Endings removed from unknown surface forms, in order: possessives, text after a comma, legal forms, plurals."""
_DISCOUNTS: Final = (1.0, 0.1, 0.02)
"""The weights of an exact match, of a match without case and article, and of a match with one word of a name."""
_MAX_PARTIAL: Final = 30
_MAX_CACHED: Final = 200_000
_POPULARITY_COUNTS: Final = 10.0
"""The number of counts per surface form that the popularity of its entities is worth."""


def open_system_snapshot(name: str) -> Snapshot:
    """Open the snapshot of a system; the error for a folder of tables says how to use it in the scoring only."""
    return open_snapshot(
        name,
        alternative=". To use it in the scoring only, name the snapshot of the system too, as in SYSTEM[kb=starter]",
    )


def open_snapshots(kb: str) -> tuple[Snapshot, ...]:
    """Open the snapshots that an option `kb` names, joined by `+`."""
    return tuple(open_system_snapshot(name) for name in split_kb_name(kb))


def snapshot_metadata(kb: str) -> dict[str, str]:
    """Return the names and digests of the snapshots in an option `kb`, as an entry of manifests and cache keys."""
    return {"kb": "+".join(f"{snapshot.name}@{snapshot.digest}" for snapshot in open_snapshots(kb))}


def choose_weights(kb: str, substitute: Substitute) -> CandidateWeights:
    """Return how a system that needs counts weighs candidates: `both` if popularity may replace counts, else `counts`.

    Raise `UsageError` if counts are required and no snapshot has them.
    """
    if substitute == "popularity":
        return "both"
    if not any(snapshot.manifest.anchor_counts != "none" for snapshot in open_snapshots(kb)):
        raise UsageError(
            f"the snapshot {kb} has no link counts. Count links in texts outside the test data "
            "(karat kb build text CORPUS… --out NAME), or use the popularity of entities instead "
            "(substitute=popularity; karat run --substitute popularity)."
        )
    return "counts"


@dataclass(frozen=True, eq=False)
class Lexicon:
    """The surface forms of some snapshots, with the entities of each, most likely first.

    `snapshots`: the snapshots; the first one defines the ids.
    `ids`: entity ids; their positions are the entity codes.
    `popularity`: popularity of each entity, by code: 1 plus its number of links.
    `rows`: row of each surface form, a number.
    `starts`: first entry of each row in `entities` and `probabilities`, and their length.
    `entities`: entity codes, row by row.
    `probabilities`: probability of each entity given the surface form.
    `link_probability`: probability that a surface form is a link; NaN if it was not counted.
    `uses_partial_names`: whether the first or last word of a name also refers to its entity.
    """

    snapshots: tuple[Snapshot, ...]
    ids: Sequence[str] = field(repr=False)
    popularity: Floats = field(repr=False)
    rows: dict[str, int] = field(repr=False)
    starts: Longs = field(repr=False)
    entities: Longs = field(repr=False)
    probabilities: Floats = field(repr=False)
    link_probability: Floats = field(repr=False)
    uses_partial_names: bool = False
    _cache: dict[tuple[str, int], tuple[Candidate, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each entity id."""
        return {id: code for code, id in enumerate(self.ids)}

    @cached_property
    def loose_rows(self) -> dict[str, int]:
        """The row of each surface form without case and the article "the".

        Of several rows, the one whose first entity is most popular counts.
        """
        rows: dict[str, int] = {}
        best = self.popularity[self.entities[self.starts[:-1]]].tolist()
        for surface, row in self.rows.items():
            key = _loose_key(surface)
            if key not in rows or best[row] > best[rows[key]]:
                rows[key] = row
        return rows

    @cached_property
    def max_words_by_first_word(self) -> dict[str, int]:
        """The maximal number of words of the surface forms, without article, that start with a word in lower case."""
        max_words: dict[str, int] = {}
        for key in self.loose_rows:
            words = key.split()
            if words and max_words.get(words[0], 0) < len(words):
                max_words[words[0]] = len(words)
        return max_words

    def find_row(self, surface: str) -> int:
        """Return the row of a surface form, ignoring article, possessive and case if necessary; -1 if there is none."""
        row = self.rows.get(surface)
        if row is not None:
            return row
        row = self.loose_rows.get(_loose_key(surface))
        if row is not None:
            return row
        for ending in _POSSESSIVES:
            if surface.endswith(ending) and len(surface) > len(ending):
                return self.find_row(surface[: -len(ending)])
        return -1

    def has_name(self, surface: str) -> bool:
        """Return whether a surface form is known, up to case and article."""
        return surface in self.rows or _loose_key(surface) in self.loose_rows

    def find_matches(self, surface: str) -> tuple[Longs, Longs]:
        """Return the codes of the entities with this name, and of those with this name up to case and article."""
        rows = self.rows.get(surface), self.loose_rows.get(_loose_key(surface))
        exact, loose = (
            np.zeros(0, np.int64) if row is None else self.entities[self.starts[row] : self.starts[row + 1]]
            for row in rows
        )
        return exact, loose

    @cached_property
    def partial_entities(self) -> dict[str, list[int]]:
        """The codes of the 30 most popular entities by first or last word of their names, in lower case.

        Only capitalised names of two or three words count. Empty without `uses_partial_names`.
        """
        if not self.uses_partial_names:
            return {}
        entities_by_word: dict[str, set[int]] = {}
        starts, entities = self.starts.tolist(), self.entities.tolist()
        for surface, row in self.rows.items():
            words = surface.casefold().split()
            if 1 < len(words) < 4 and surface[0].isupper():
                for word in (words[0], words[-1]):
                    entities_by_word.setdefault(word, set()).update(entities[starts[row] : starts[row + 1]])
        popularity = self.popularity.tolist()
        return {
            word: sorted(codes, key=lambda code: (-popularity[code], code))[:_MAX_PARTIAL]
            for word, codes in entities_by_word.items()
        }

    def find_candidates(self, surface: str, max_candidates: int) -> tuple[Candidate, ...]:
        """Return the most likely entities of a surface form, best first; empty if it is unknown. Results are cached.

        Scores are probabilities. Matches without case and article, and of one word of a name, have less weight.
        Unknown surface forms are tried again without possessive, text after a comma, legal form or plural ending.
        """
        result = self._cache.get((surface, max_candidates))
        if result is None:
            if len(self._cache) >= _MAX_CACHED:
                self._cache.clear()
            result = self._cache[surface, max_candidates] = self._find_candidates(surface, max_candidates)
        return result

    def _find_candidates(self, surface: str, max_candidates: int) -> tuple[Candidate, ...]:
        """Compute the candidates of a surface form, without the cache."""
        weights: dict[int, float] = {}
        rows = (self.rows.get(surface), self.loose_rows.get(_loose_key(surface)))
        for row, discount in zip(rows, _DISCOUNTS, strict=False):
            if row is not None:
                entries = slice(int(self.starts[row]), int(self.starts[row + 1]))
                for code, share in zip(
                    self.entities[entries].tolist(), self.probabilities[entries].tolist(), strict=True
                ):
                    weights.setdefault(code, share * discount)
        if surface[:1].isupper() and " " not in surface:
            others = [code for code in self.partial_entities.get(surface.casefold(), ()) if code not in weights]
            total = sum(self.popularity[code] for code in others)
            weights.update((code, float(self.popularity[code] / total) * _DISCOUNTS[2]) for code in others)
        if not weights:
            variants = (
                rewritten for form in _REMOVABLE_ENDINGS if (rewritten := form.sub("", surface)) not in ("", surface)
            )
            return next(
                (result for variant in variants if (result := self.find_candidates(variant, max_candidates))), ()
            )
        total_weight = sum(weights.values())
        ranked = sorted(weights.items(), key=lambda pair: (-pair[1], -self.popularity[pair[0]], pair[0]))
        return tuple(
            Candidate(self.ids[code], round(share / total_weight, 6)) for code, share in ranked[:max_candidates]
        )


@cache
def build_lexicon(kb: str, weights: CandidateWeights) -> Lexicon:
    """Build the lexicon of the snapshots that `kb` names, joined by `+`; the result is cached.

    With the weights `counts`, names without counts are dropped. Without any name, raise `UsageError`.
    """
    snapshots = open_snapshots(kb)
    table = pa.concat_tables(
        [_list_names(snapshot, snapshots[0]) for snapshot in snapshots], promote_options="default"
    ).combine_chunks()
    if weights == "counts":
        table = table.filter(pc.is_valid(table.column("count")))
    if not table.num_rows:
        raise UsageError(
            f"the snapshot {kb} has no aliases, so there are no candidates. Choose a snapshot with aliases: karat "
            f"kb show NAME"
        )
    table = table.group_by(["alias", "id"], use_threads=False).aggregate([("count", "sum"), ("is_popular", "max")])
    encoded = table.column("id").combine_chunks().dictionary_encode()
    codes, ids = encoded.indices.to_numpy().astype(np.int64), encoded.dictionary.to_pylist()
    popularity = _compute_popularity(snapshots, ids)
    surfaces = table.column("alias").combine_chunks().dictionary_encode()
    row = surfaces.indices.to_numpy().astype(np.int64)
    counts = np.nan_to_num(pc.fill_null(table.column("count_sum"), 0).to_numpy().astype(float))
    weight = popularity[codes]
    if popularity.max() == 1:  # unknown: all that is known is which entities are popular for a surface form
        weight = weight + pc.fill_null(table.column("is_popular_max"), False).to_numpy()
    if weights != "popularity":
        popularity_share = weight / np.bincount(row, weight)[row]
        weight = counts if weights == "counts" else counts + _POPULARITY_COUNTS * popularity_share
    weight = np.where(np.bincount(row, weight)[row] > 0, weight, 1.0)  # titles that no link has: all equally likely
    order = np.lexsort((codes, -popularity[codes], -weight, row))
    row, weight = row[order], weight[order]
    alias_array = surfaces.dictionary
    totals = np.bincount(row, weight, minlength=len(alias_array))
    names = alias_array.to_pylist()
    return Lexicon(
        snapshots,
        ids,
        popularity,
        {surface: number for number, surface in enumerate(names)},
        np.searchsorted(row, np.arange(len(names) + 1)),
        codes[order],
        weight / totals[row],
        _compute_link_probability(snapshots, alias_array),
        uses_partial_names=weights != "counts",
    )


def _loose_key(surface: str) -> str:
    """Return a surface form without case and the article "the"."""
    return surface.casefold().removeprefix(_ARTICLE)


def _list_names(snapshot: Snapshot, main_snapshot: Snapshot) -> Arrow:
    """Return the names of a snapshot as a table with the columns `id`, `alias`, `count` and `is_popular`.

    The names are the aliases, the main names of normal entities, the demonyms, and the surfaces whose popular entities
    the source of the snapshot states. `count` is null if names are not counted, and `is_popular` for all other names.
    Ids become canonical ids of `main_snapshot`.
    """
    aliases, entities, demonyms, popular = (
        snapshot.get_table(name) for name in ("aliases", "entities", "demonyms", "popular")
    )
    schema = pa.schema([("id", pa.string()), ("alias", pa.string()), ("count", pa.int64()), ("is_popular", pa.bool_())])
    parts = [schema.empty_table()]
    if aliases is not None:
        parts.append(aliases.read_all("id", "alias", "count"))
    if entities is not None:
        entity_rows = entities.read_all("id", "name", "kind")
        entity_rows = entity_rows.filter(
            pc.and_(pc.is_valid(entity_rows["name"]), pc.is_in(entity_rows["kind"], pa.array(["normal"])))
        )
        parts.append(pa.table({"id": entity_rows["id"], "alias": entity_rows["name"]}))
    if demonyms is not None:
        demonym_rows = demonyms.read_all("id", "surface")
        demonym_rows = demonym_rows.filter(pc.is_valid(demonym_rows["id"]))
        parts.append(pa.table({"id": demonym_rows["id"], "alias": demonym_rows["surface"]}))
    if popular is not None and snapshot.manifest.popularity == "none":  # stated, not derived from the other tables
        popular_rows = popular.read_all("surface", "ids")
        ids = pc.list_flatten(popular_rows["ids"])
        surfaces = popular_rows["surface"].take(pc.list_parent_indices(popular_rows["ids"]))
        parts.append(pa.table({"id": ids, "alias": surfaces, "is_popular": pa.repeat(True, len(ids))}))
    table = pa.concat_tables(parts, promote_options="default")
    if snapshot is main_snapshot:
        return table
    encoded_ids = table.column("id").combine_chunks().dictionary_encode()
    canonical_ids = pa.array(main_snapshot.canonical_ids(encoded_ids.dictionary.to_pylist()), pa.string())
    return table.set_column(0, "id", canonical_ids.take(encoded_ids.indices))


def _compute_popularity(snapshots: Sequence[Snapshot], ids: Sequence[str]) -> Floats:
    """Return 1 plus the number of links to each entity, or its summed alias counts if more; population breaks ties."""
    popularity = np.zeros(len(ids))
    for snapshot in snapshots:
        entities, aliases = snapshot.get_table("entities"), snapshot.get_table("aliases")
        if entities is not None:
            links, people = (
                pc.fill_null(entities.look_up(ids, column), 0).to_numpy().astype(float)
                for column in ("in_links", "population")
            )
            popularity = np.maximum(popularity, links + np.minimum(people / 1e10, 0.9))
        if aliases is not None and snapshot.manifest.anchor_counts != "none":
            table = aliases.read_all("id", "count")
            positions = pc.index_in(table["id"], value_set=pa.array(ids, pa.string()))
            mask = pc.is_valid(positions).to_numpy()
            counts = pc.fill_null(table["count"], 0).to_numpy()[mask]
            rows = pc.drop_null(positions).to_numpy()
            popularity = np.maximum(popularity, np.bincount(rows, counts, minlength=len(ids)))
    return 1.0 + popularity


def _compute_link_probability(snapshots: Sequence[Snapshot], surfaces: Arrow) -> Floats:
    """Return the share of the occurrences of each surface form that are links; NaN if it was not counted."""
    linked, unlinked = np.zeros(len(surfaces)), np.zeros(len(surfaces))
    for snapshot in snapshots:
        table = snapshot.get_table("surfaces")
        if table is not None:
            linked += pc.fill_null(table.look_up(surfaces, "linked"), 0).to_numpy()
            unlinked += pc.fill_null(table.look_up(surfaces, "unlinked"), 0).to_numpy()
    with np.errstate(invalid="ignore"):
        return np.asarray(linked / (linked + unlinked))
