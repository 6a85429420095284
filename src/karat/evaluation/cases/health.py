"""How the ids of both sides are written: counted once for each id, and put together over blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.kb.protocol import KB
from karat.kb.scheme import scheme_of
from karat.kb.spelling import DBPEDIA, PLAIN, QID, SPELLINGS, WIKIPEDIA, recognised, spelt
from karat.matching.read.pairing import Pairing
from karat.matching.read.reading import Reading, resolved
from karat.model.result import IdHealth
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Ints, Longs, Mentions
from karat.model.tables.digest import string_hashes
from karat.spec.choices.conventions import Ids

_NAME, _BLANKS, _UNDERSCORES = "title", "title ", "title_"
_TITLES = {
    _NAME: "names",
    _BLANKS: "names with blanks",
    _UNDERSCORES: "names with underscores",
    "0": "numbers",
}


class SeenIds(NamedTuple):
    """What is seen of the ids of gold labels or answers; it adds up over blocks.

    `schemes` counts linked mentions by scheme as written, and `meets` by the kinds of all their ids as read. `listed`
    are the schemes of which the knowledge base has an id, and `unlisted` counts mentions whose id it does not have, by
    scheme. `changed` has what each id became that is read otherwise than it is written, and `kept` fingerprints of the
    others, where any might be among what became of these.
    """

    schemes: Mapping[str, int] = {}
    meets: Mapping[frozenset[str], int] = {}
    listed: frozenset[str] = frozenset()
    unlisted: Mapping[str, int] = {}
    fragments: int = 0
    changed: Mapping[str, str] = {}
    kept: tuple[NDArray[np.uint64], ...] = ()

    def plus(self, other: SeenIds) -> SeenIds:
        """What is seen in both together."""
        return SeenIds(
            Counter(self.schemes) + Counter(other.schemes),
            Counter(self.meets) + Counter(other.meets),
            self.listed | other.listed,
            Counter(self.unlisted) + Counter(other.unlisted),
            self.fragments + other.fragments,
            {**self.changed, **other.changed},
            (*self.kept, *other.kept),
        )


def seen(pairing: Pairing, kb: KB | None) -> tuple[SeenIds, SeenIds]:
    """What is seen of the gold labels, and of the answers."""
    return (
        _side(pairing.corpus.labels, pairing.gold_entity, pairing.reading, kb),
        _side(pairing.run.answers, pairing.answer_entity, pairing.reading, kb),
    )


def _side(mentions: Mentions, entity: Ints, how: Reading, kb: KB | None) -> SeenIds:
    """`entity` is what each mention is linked to as it is read."""
    counted = np.bincount(mentions.entity[mentions.entity >= 0], minlength=len(mentions.names))
    names, count = mentions.names.filter(pa.array(counted > 0)), counted[counted > 0]
    scheme = _each(names, QID, _scheme)
    read = spelt(names, how.ids)
    differs = pc.not_equal(read, names).to_numpy(zero_copy_only=False)
    old, new = (ids.filter(pa.array(differs)).to_pylist() for ids in (names, read))
    known = None if kb is None else kb.has(names.to_pylist())
    listed = np.ones(len(names), np.bool_) if known is None else np.array(known, np.bool_)
    return SeenIds(
        schemes=_summed(scheme, count),
        meets=_meeting(mentions, entity, how),
        listed=frozenset() if known is None else frozenset(scheme[listed].tolist()),
        unlisted=_summed(scheme[~listed], count[~listed]),
        fragments=sum(number for id, number in zip(old, count[differs].tolist(), strict=True) if _fragment(id, how)),
        changed=dict(zip(old, new, strict=True)),
        kept=(string_hashes(names.filter(pa.array(~differs))),) if how.ids in SPELLINGS else (),
    )


def _each(names: Arrow, plain: str, of: Callable[[str], str]) -> NDArray[Any]:
    """What holds of each id; most are plain items, and need no look."""
    items = pc.match_substring_regex(names, PLAIN).to_numpy(zero_copy_only=False)
    found = np.full(len(names), plain, object)
    found[~items] = [of(id) for id in names.filter(pa.array(~items)).to_pylist()]
    return found


def _scheme(id: str) -> str:
    """The scheme of an id, as people call it."""
    known = recognised(id)
    if known is not None:
        return known.scheme
    kind = _kind(id)
    return _TITLES.get(kind, f"{kind[0]} and a number" if len(kind) == 2 and kind.endswith("0") else kind)


def _kind(id: str) -> str:
    """What ids have in common that might be the same, as they are read; of names, how they are divided."""
    kind = scheme_of(id)
    if kind != _NAME:
        return kind
    return _UNDERSCORES if "_" in id else _BLANKS if " " in id else _NAME


def _fragment(id: str, how: Reading) -> bool:
    found = recognised(id) if how.ids is Ids.NORMALISED else None
    return found is not None and found.fragment


def _summed(keys: NDArray[Any], counts: Longs) -> Counter[str]:
    total: Counter[str] = Counter()
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        total[key] += count
    return total


def _meeting(mentions: Mentions, entity: Ints, how: Reading) -> Counter[frozenset[str]]:
    """How many mentions have ids of which kinds, as they are read; not those that are read as NIL."""
    rows = (mentions.entity >= 0) & (entity >= 0)
    if how.kb is None:
        kind = _each(spelt(mentions.names, how.ids), _kind("Q1"), _kind)
    else:
        kind = np.array([_kind(id) for id in resolved(mentions.names.to_pylist(), how)], object)
    total: Counter[frozenset[str]] = Counter()
    further = mentions.field("same_as")
    if further is not None:
        several = rows & (further.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) > 0)
        more = further.filter(pa.array(several)).to_pylist()
        for code, ids in zip(mentions.entity[several].tolist(), more, strict=True):
            total[frozenset([kind[code], *map(_kind, resolved(ids, how))])] += 1
        rows &= ~several
    counted = np.bincount(mentions.entity[rows], minlength=len(kind))
    for name, count in _summed(kind, counted).items():
        if count:
            total[frozenset([name])] += count
    return total


def health(gold: SeenIds, answers: SeenIds, how: Ids, kb: KB | None) -> IdHealth:
    """What is seen, as people want to know it."""
    gold_kinds = _with_names(frozenset().union(*gold.meets))
    lost = sum(count for kinds, count in answers.meets.items() if kinds.isdisjoint(gold_kinds)) if gold_kinds else 0
    listed = gold.listed | answers.listed
    listing = kb is not None and bool(listed or gold.unlisted or answers.unlisted)
    unknown = [sum(count for scheme, count in side.unlisted.items() if scheme in listed) for side in (answers, gold)]
    return IdHealth(
        gold=_most_first(gold.schemes),
        answers=_most_first(answers.schemes),
        unmatchable=lost,
        remedy=_remedy(gold, answers, lost, how, kb) if lost else "",
        kb="" if kb is None else kb.name,
        unknown=unknown[0] if listing else None,
        gold_unknown=unknown[1] if listing else None,
        undecided=sum(answers.unlisted.values()) - unknown[0],
        fragments=(gold.fragments, answers.fragments),
        merged=_merged(gold.plus(answers)),
    )


def _with_names(kinds: frozenset[str]) -> frozenset[str]:
    """Kinds that some of these may be the same as: names of one word are divided in no way."""
    if not kinds & {_NAME, _BLANKS, _UNDERSCORES}:
        return kinds
    other = {_BLANKS} if _UNDERSCORES not in kinds else {_UNDERSCORES} if _BLANKS not in kinds else set()
    return kinds | {_NAME} | other


def _most_first(schemes: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(schemes.items(), key=lambda item: (-item[1], item[0])))


def _remedy(gold: SeenIds, answers: SeenIds, lost: int, how: Ids, kb: KB | None) -> str:
    """The option under which fewer answers are lost."""

    def left(of: Callable[[str], str]) -> int:
        there = set(map(of, gold.schemes))
        return sum(count for scheme, count in answers.schemes.items() if of(scheme) not in there)

    if how is not Ids.NORMALISED and left(str) < lost:
        return "--set ids=normalised would help"
    if how is not Ids.BRIDGED and left(lambda scheme: scheme.replace(WIKIPEDIA, DBPEDIA)) < lost:
        return "--set ids=bridged would help"
    if {_TITLES[_BLANKS], _TITLES[_UNDERSCORES]} <= gold.schemes.keys() ^ answers.schemes.keys():
        return "write names alike on both sides"
    if kb is None:
        return "--kb DIR, with ids of both kinds in DIR/same_as.tsv, would help"
    return f"rows in same_as.tsv of {kb.name} would help"


def _merged(both: SeenIds) -> dict[str, tuple[str, ...]]:
    """The ids that were written in several ways, each with all of them."""
    spellings: dict[str, list[str]] = {}
    for old, new in both.changed.items():
        spellings.setdefault(new, []).append(old)
    normal = list(spellings)
    if normal and both.kept:
        there = np.isin(string_hashes(pa.array(normal, pa.string())), np.concatenate(both.kept))
        for place in np.flatnonzero(there).tolist():
            spellings[normal[place]].append(normal[place])
    return {id: tuple(sorted(spellings[id])) for id in sorted(spellings) if len(spellings[id]) > 1}
