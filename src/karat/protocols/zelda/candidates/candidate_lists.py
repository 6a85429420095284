"""Candidate lists: for each mention the entities that it may mean, the most likely first.

A lookup reads only the lists of mentions that are equal except for case, spaces and punctuation, so lists can be of any
size. Lookup rules match mentions with lists:

- `zelda`: exactly, else without spaces, else without punctuation. This includes an error of ZELDA's script: the first
  mention of a variant shares its list with the variant, so its counts grow by those of the others.
- `clean`: the same three steps without that error; of equal counts the title that equals the mention comes first, then
  the others in alphabetical order.
- `exact`: exact matches only.
- `flair`: Flair's rule, lower case without punctuation, without an exact step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from karat.model.errors import InputError, check_layout_version
from karat.protocols.zelda.candidates.keys import coarse_key, flair_key, remove_punctuation, remove_spaces
from karat.protocols.zelda.candidates.merge import LAYOUT
from karat.storage.files import Source

EntityCounts: TypeAlias = dict[str, float]
"""Counts by entity, in order of first occurrence."""


class CandidateRow(NamedTuple):
    """A mention with one of its candidates."""

    mention: str
    """Text of the mention."""
    entity: str
    """Title of the entity."""
    weight: float
    """Count or probability."""


ListLookup: TypeAlias = Callable[[Mapping[str, EntityCounts], Iterable[str]], dict[str, list[str]]]
"""Lookup rule: from lists by mention, in file order, and the queried mentions to ranked entities."""


def _merge_variants(
    lists: Mapping[str, EntityCounts], key: Callable[[str], str], *, share_first: bool = False
) -> dict[str, EntityCounts]:
    """Merge the lists whose mentions have the same `key`, adding counts; return the merged lists by key.

    `share_first` reuses the first list of a key instead of copying it, so that the list in `lists` changes too: the
    error of ZELDA's script that the rule `zelda` reproduces.
    """
    merged: dict[str, EntityCounts] = {}
    for mention, counts in lists.items():
        variant = key(mention)
        if variant not in merged:
            merged[variant] = counts if share_first else dict(counts)
            continue
        for entity, count in counts.items():
            merged[variant][entity] = merged[variant].get(entity, 0) + count
    return merged


def _rank_by_count(counts: EntityCounts) -> list[str]:
    """Return the entities by count, the largest first; equal counts stay in order of first occurrence."""
    return sorted(counts, key=lambda entity: -counts[entity])


def _rank_by_title(mention: str, counts: EntityCounts) -> list[str]:
    """Return the entities by count, the largest first; of equal counts the mention's own title, then A to Z.

    Title and mention are compared without case.
    """
    return sorted(counts, key=lambda entity: (-counts[entity], entity.lower() != mention.lower(), entity))


def _look_up_zelda(lists: Mapping[str, EntityCounts], mentions: Iterable[str]) -> dict[str, list[str]]:
    """Return the ranked entities of each mention by the rule `zelda` (see the module); empty without list."""
    copies = {mention: dict(counts) for mention, counts in lists.items()}
    by_spaceless = _merge_variants(copies, remove_spaces, share_first=True)
    by_letters = _merge_variants(
        copies, remove_punctuation, share_first=True
    )  # the lists already include the counts of other lists
    return {
        mention: _rank_by_count(
            copies.get(mention)
            or by_spaceless.get(remove_spaces(mention))
            or by_letters.get(remove_punctuation(mention))
            or {}
        )
        for mention in mentions
    }


def _look_up_clean(lists: Mapping[str, EntityCounts], mentions: Iterable[str]) -> dict[str, list[str]]:
    """Return the ranked entities of each mention by the rule `clean` (see the module); empty without list."""
    by_spaceless, by_letters = _merge_variants(lists, remove_spaces), _merge_variants(lists, remove_punctuation)
    return {
        mention: _rank_by_title(
            mention,
            lists.get(mention)
            or by_spaceless.get(remove_spaces(mention))
            or by_letters.get(remove_punctuation(mention))
            or {},
        )
        for mention in mentions
    }


def _look_up_exact(lists: Mapping[str, EntityCounts], mentions: Iterable[str]) -> dict[str, list[str]]:
    """Return the ranked entities of each mention by the rule `exact` (see the module); empty without list."""
    return {mention: _rank_by_title(mention, lists.get(mention, {})) for mention in mentions}


def _look_up_flair(lists: Mapping[str, EntityCounts], mentions: Iterable[str]) -> dict[str, list[str]]:
    """Return the ranked entities of each mention by the rule `flair` (see the module); empty without list."""
    merged = _merge_variants(lists, flair_key)
    return {mention: _rank_by_title(mention, merged.get(flair_key(mention), {})) for mention in mentions}


LOOKUPS: Final[Mapping[str, ListLookup]] = {
    "zelda": _look_up_zelda,
    "clean": _look_up_clean,
    "exact": _look_up_exact,
    "flair": _look_up_flair,
}
"""Lookup rules by name."""


@dataclass(frozen=True, slots=True)
class CandidateLists:
    """Candidate lists with a name."""

    name: str
    """Name."""
    read: Callable[[frozenset[str]], Iterator[CandidateRow]]
    """Function from coarse keys to the rows of mentions with these keys, in order."""
    has_counts: bool = True
    """Whether counts rank the candidates; otherwise the most frequent sense is unknown."""

    def find_candidates(self, mentions: Sequence[str], lookup: str = "zelda") -> dict[str, list[str]]:
        """Return the candidates of each distinct mention, the most likely first; an empty list if there are none.

        `lookup` is a key of `LOOKUPS`. All lists with the coarse keys of the mentions are read at once.
        """
        queries = list(dict.fromkeys(mentions))
        lists: dict[str, EntityCounts] = {}
        for row in self.read(frozenset(map(coarse_key, queries))):
            counts = lists.setdefault(row.mention, {})
            counts[row.entity] = counts.get(row.entity, 0) + row.weight
        return LOOKUPS[lookup](lists, queries)


def open_built_lists(path: str) -> CandidateLists:
    """Open the Parquet file of lists that `karat zelda candidates` wrote; raise `InputError` if it is none or empty."""
    source = Source(path)
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as problem:
        raise _no_lists_error(source, str(problem).splitlines()[0]) from None
    layout = (file.schema_arrow.metadata or {}).get(b"layout", b"").decode()
    check_layout_version(source.label, layout, LAYOUT)
    if layout != LAYOUT:
        raise _no_lists_error(source, "a Parquet file without the layout of candidate lists")
    if not file.metadata.num_rows:
        raise _no_lists_error(source, "empty candidate lists")

    def read(keys: frozenset[str]) -> Iterator[CandidateRow]:
        """Yield the rows of all mentions with these coarse keys, in order of first occurrence."""
        key_array = pa.array(sorted(keys), pa.string())
        tables = []
        for group in range(file.num_row_groups):
            hits = pc.is_in(file.read_row_group(group, columns=["key"]).column(0), value_set=key_array)
            if pc.any(hits).as_py():
                columns = ["mention", "entity", "count", "row_index"]
                tables.append(file.read_row_group(group, columns=columns).filter(hits))
        if not tables:
            return
        rows = pa.concat_tables(tables).sort_by("row_index")  # mentions in order of first occurrence
        for mention, entity, count in zip(*(rows.column(name).to_pylist() for name in columns[:3]), strict=True):
            yield CandidateRow(mention, entity, count)

    return CandidateLists(source.stem, read)


def _no_lists_error(source: Source, problem: str) -> InputError:
    """Return (not raise) the error for a file that has no valid candidate lists."""
    return InputError(
        source.label,
        actual=problem,
        expected="lists as `karat zelda candidates` writes them",
        remedy="Build them, or pass a published list that Karat reads",
    )
