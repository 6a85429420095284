"""Candidate lists, as they are asked: for each mention the entities that it may stand for, the likeliest first.

A lookup asks for some mentions. Only lists of mentions that are the same but for case, blanks and signs are read, so
that lists of any size can be asked. How mentions and lists come together is a rule:

- `zelda`: exactly, else without blanks, else without signs, with a slip of ZELDA's script: the first mention of a
  variant shares its list with the variant, so that it takes up the counts of the others.
- `clean`: the same three steps, and no list takes up another's counts; of equal counts the title that is the mention
  comes first, then the others in order.
- `exact`: letter by letter only.
- `flair`: Flair's, small letters without punctuation, and no exact step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from karat.errors import InputError, refuse_newer
from karat.storage.files import Source
from karat.zelda.candidates.keys import bare, blankless, coarse_key, flair_key
from karat.zelda.candidates.merge import LAYOUT

EntityCounts: TypeAlias = dict[str, float]
"""Entities with their counts, in the order in which they came."""


class ListRow(NamedTuple):
    """A mention with one of its candidates."""

    mention: str
    entity: str
    weight: float


ListLookup: TypeAlias = Callable[[Mapping[str, EntityCounts], Iterable[str]], dict[str, list[str]]]
"""From lists by mention, in the order in which mentions came, and the mentions asked for, to ranked entities."""


def _merged(
    lists: Mapping[str, EntityCounts], key: Callable[[str], str], *, shared: bool = False
) -> dict[str, EntityCounts]:
    """Lists by a variant of their mentions; `shared`: the first of a variant is the list itself, and no copy."""
    found: dict[str, EntityCounts] = {}
    for mention, own in lists.items():
        variant = key(mention)
        if variant not in found:
            found[variant] = own if shared else dict(own)
            continue
        for entity, count in own.items():
            found[variant][entity] = found[variant].get(entity, 0) + count
    return found


def _by_count(counts: EntityCounts) -> list[str]:
    """The likeliest first, of equal ones the one that came first."""
    return sorted(counts, key=lambda entity: -counts[entity])


def _by_title(mention: str, counts: EntityCounts) -> list[str]:
    return sorted(counts, key=lambda entity: (-counts[entity], entity.lower() != mention.lower(), entity))


def _zelda(lists: Mapping[str, EntityCounts], asked: Iterable[str]) -> dict[str, list[str]]:
    own = {mention: dict(counts) for mention, counts in lists.items()}
    first = _merged(own, blankless, shared=True)
    second = _merged(own, bare, shared=True)  # of lists that have taken up others already
    return {
        mention: _by_count(own.get(mention) or first.get(blankless(mention)) or second.get(bare(mention)) or {})
        for mention in asked
    }


def _clean(lists: Mapping[str, EntityCounts], asked: Iterable[str]) -> dict[str, list[str]]:
    first, second = _merged(lists, blankless), _merged(lists, bare)
    return {
        mention: _by_title(
            mention, lists.get(mention) or first.get(blankless(mention)) or second.get(bare(mention)) or {}
        )
        for mention in asked
    }


def _exact(lists: Mapping[str, EntityCounts], asked: Iterable[str]) -> dict[str, list[str]]:
    return {mention: _by_title(mention, lists.get(mention, {})) for mention in asked}


def _flair(lists: Mapping[str, EntityCounts], asked: Iterable[str]) -> dict[str, list[str]]:
    merged = _merged(lists, flair_key)
    return {mention: _by_title(mention, merged.get(flair_key(mention), {})) for mention in asked}


LOOKUPS: Final[Mapping[str, ListLookup]] = {"zelda": _zelda, "clean": _clean, "exact": _exact, "flair": _flair}


@dataclass(frozen=True, slots=True)
class CandidateLists:
    """Candidate lists by name: `read` gives the rows whose mentions have one of some coarse keys, in order.

    `counted` says whether counts tell which candidate is likelier; where they do not, nobody knows the most frequent.
    """

    name: str
    read: Callable[[frozenset[str]], Iterator[ListRow]]
    counted: bool = True

    def candidates(self, mentions: Sequence[str], lookup: str = "zelda") -> dict[str, list[str]]:
        """For each mention its candidates, the likeliest first; an empty list where there are none."""
        asked = list(dict.fromkeys(mentions))
        lists: dict[str, EntityCounts] = {}
        for row in self.read(frozenset(map(coarse_key, asked))):
            counts = lists.setdefault(row.mention, {})
            counts[row.entity] = counts.get(row.entity, 0) + row.weight
        return LOOKUPS[lookup](lists, asked)


def built_lists(path: str) -> CandidateLists:
    """The lists that `karat zelda candidates` wrote."""
    source = Source(path)
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as problem:
        raise _no_lists(source, str(problem).splitlines()[0]) from None
    layout = (file.schema_arrow.metadata or {}).get(b"layout", b"").decode()
    refuse_newer(source.label, layout, LAYOUT)
    if layout != LAYOUT:
        raise _no_lists(source, "a Parquet file without the layout of candidate lists")
    if not file.metadata.num_rows:
        raise _no_lists(source, "empty candidate lists")

    def read(keys: frozenset[str]) -> Iterator[ListRow]:
        wanted = pa.array(sorted(keys), pa.string())
        found = []
        for group in range(file.num_row_groups):
            hits = pc.is_in(file.read_row_group(group, columns=["key"]).column(0), value_set=wanted)
            if pc.any(hits).as_py():
                columns = ["mention", "entity", "count", "place"]
                found.append(file.read_row_group(group, columns=columns).filter(hits))
        if not found:
            return
        rows = pa.concat_tables(found).sort_by("place")  # mentions in the order in which they came
        for mention, entity, count in zip(*(rows.column(name).to_pylist() for name in columns[:3]), strict=True):
            yield ListRow(mention, entity, count)

    return CandidateLists(source.stem, read)


def _no_lists(source: Source, found: str) -> InputError:
    return InputError(
        source.label,
        found=found,
        expected="lists as `karat zelda candidates` writes them",
        remedy="Build them, or name a published list that Karat reads",
    )
