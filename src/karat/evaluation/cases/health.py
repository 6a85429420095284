"""How the ids of both sides are written: counted once for each id, and put together over blocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.kb.protocol import KB
from karat.kb.scheme import scheme_of
from karat.kb.spelling import DBPEDIA, SPELLINGS, WIKIPEDIA, plain, recognised, spelt
from karat.matching.read.pairing import Pairing
from karat.matching.read.reading import Reading, resolved
from karat.model.result import IdHealth
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Ints, Longs, Mentions
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
    """What is seen of the gold labels and of the answers that may count.

    What a quantity or a datetime is linked to may be its value, and is left out.
    """
    labels, answers = pairing.corpus.labels, pairing.run.answers
    gold, answered = pairing.inside
    gold &= (labels.entity >= 0) & (pairing.gold_kind == 0)
    sides = (
        pairing.of_gold("seen", lambda: _side(labels, pairing.gold_entity, pairing.plain[0], gold, pairing, kb), kb),
        _side(answers, pairing.answer_entity, pairing.plain[1], answered & (answers.entity >= 0), pairing, kb),
    )
    # What stays is only of interest beside what changes, which may be in other blocks.
    alone = pairing.reading.whole is None and not any(side.changed for side, _ in sides)
    if pairing.reading.ids not in SPELLINGS or alone:
        return sides[0][0], sides[1][0]
    first, second = (side._replace(kept=(string_hashes(names),)) for side, names in sides)
    return first, second


def _side(
    mentions: Mentions, entity: Ints, usual: Bools, linked: Bools, pairing: Pairing, kb: KB | None
) -> tuple[SeenIds, Arrow]:
    """What is seen of a side, but for the fingerprints of the ids that stay as they are, and these ids.

    `entity` is what each mention is linked to as it is read, and `linked` which of them are; `usual` ids are plain.
    """
    how = pairing.reading
    code = np.where(linked, mentions.entity, NIL) - NIL  # 0 is for what is not linked
    names, count = mentions.names, np.bincount(code, minlength=1 + len(mentions.names))[1:]
    used = count > 0
    if not used.all():
        names, count, usual = names.filter(pa.array(used)), count[used], usual[used]
    read, counts = names, np.ones(len(names), np.bool_)
    if how.kb is not None or how.prefixes is not None or not usual.all():  # else all are read as they are written
        became = np.full(1 + len(used), NIL, np.int32)
        became[code] = entity  # the same wherever an id stands, unless its mention has others
        became = became[1:][used]
        read, counts = pairing.names.take(pa.array(became, mask=became < 0)), became >= 0
    likes = _likes(names, usual)
    read_likes = likes if read.equals(names) else _likes(read.fill_null(""), plain(read))
    spelling = spelt(names, how.ids) if how.kb is not None or how.prefixes is not None else read
    differs = np.zeros(len(names), np.bool_)
    if how.ids in SPELLINGS and spelling is not names:
        differs = pc.not_equal(spelling, names).to_numpy(zero_copy_only=False)
    old, new = (ids.filter(pa.array(differs)).to_pylist() for ids in (names, spelling))
    known = None if kb is None else kb.has(names.to_pylist())
    listed = np.ones(len(names), np.bool_) if known is None else np.array(known, np.bool_)
    found = SeenIds(
        schemes=likes.summed(_scheme, count),
        meets=_meeting(mentions, entity, linked, pairing, read_likes.summed(_kind, count * counts)),
        listed=frozenset() if known is None else frozenset(likes.summed(_scheme, count * listed)),
        unlisted=likes.summed(_scheme, count * ~listed),
        fragments=sum(number for id, number in zip(old, count[differs].tolist(), strict=True) if _fragment(id, how)),
        changed=dict(zip(old, new, strict=True)),
    )
    return found, names.filter(pa.array(~differs)) if differs.any() else names


class _Likes(NamedTuple):
    """For each id the place of one that is written like it, in a list that is short where ids are alike."""

    place: Longs
    ids: list[str]

    def summed(self, of: Callable[[str], str], counts: Longs) -> Counter[str]:
        """The sum of numbers for each thing that holds of ids."""
        sums = np.bincount(self.place, counts, minlength=len(self.ids)).astype(np.int64)
        total: Counter[str] = Counter()
        for id, number in zip(self.ids, sums.tolist(), strict=True):
            if number:
                total[of(id)] += number
        return total


_ALIKE = (
    (r"^(https?://(?:[a-z-]+\.)*(?:wikipedia\.org/wiki|dbpedia\.org/resource)/)[^#_\s](?s:.*)$", r"\1X"),
    (r"^(https?://www\.wikidata\.org/(?:entity|wiki)/)Q[1-9][0-9]*$", r"\1Q1"),
    (r"^[^:/]*_[^:/]*$", "a_b"),
    (r"^[^\s:/_]+(?: [^\s:/_]+)+$", "a b"),
    (r"^[A-Z]?[a-z]{2,}$", "ab"),
    (r"^[0-9]+$", "1"),
)
"""Ids of which the same holds as of another one: they need no look each."""


def _likes(names: Arrow, usual: Bools) -> _Likes:
    """The ids by what they are written like; those that are `usual` are all alike."""
    place, ids = np.zeros(len(names), np.int64), ["Q1"]
    rest, left = np.flatnonzero(~usual), names.filter(pa.array(~usual))
    for pattern, alike in _ALIKE:
        if not len(left):
            break
        matches = pc.match_substring_regex(left, pattern).to_numpy(zero_copy_only=False)
        if not matches.any():
            continue
        if "\\" in alike:
            found = pc.replace_substring_regex(left.filter(pa.array(matches)), pattern, alike).dictionary_encode()
            place[rest[matches]] = found.indices.to_numpy() + len(ids)
            ids += found.dictionary.to_pylist()
        else:
            place[rest[matches]] = len(ids)
            ids.append(alike)
        rest, left = rest[~matches], left.filter(pa.array(~matches))
    place[rest] = len(ids) + np.arange(len(rest))
    return _Likes(place, [*ids, *left.to_pylist()])


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


def _meeting(
    mentions: Mentions, entity: Ints, linked: Bools, pairing: Pairing, kinds_read: Mapping[str, int]
) -> Counter[frozenset[str]]:
    """How many mentions have ids of which kinds, as they are read; not those that are read as NIL."""
    further = mentions.field("same_as")
    if further is None:
        return Counter({frozenset([kind]): number for kind, number in kinds_read.items()})
    total: Counter[frozenset[str]] = Counter()
    ids, names = further.flatten().unique().to_pylist(), pairing.names.to_pylist()
    kinds = dict(zip(ids, map(_kind, resolved(ids, pairing.reading)), strict=True))
    rows = np.flatnonzero(linked & (entity >= 0))
    more = further.take(pa.array(rows)).to_pylist()
    for code, others in zip(entity[rows].tolist(), more, strict=True):
        total[frozenset([_kind(names[code]), *(kinds[id] for id in others or ())])] += 1
    return total


def health(gold: SeenIds, answers: SeenIds, how: Ids, kb: KB | None) -> IdHealth:
    """What is seen, as people want to know it."""
    gold_kinds = _with_names(frozenset().union(*gold.meets))
    lost = sum(count for kinds, count in answers.meets.items() if kinds.isdisjoint(gold_kinds)) if gold.schemes else 0
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
