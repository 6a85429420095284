"""Statistics about how ids are written on both sides, computed once per id and added up over blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from karat.kb.ids.id_patterns import has_title_characters, id_pattern
from karat.kb.ids.normal_forms import (
    DBPEDIA,
    DEFAULT_CONTEXT,
    NORMALISERS,
    QID,
    WIKIPEDIA,
    IdContext,
    find_plain_qids,
    normalise_ids,
    recognise_id,
)
from karat.kb.ids.normalising_kb import unwrap_kb
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import KB, IdStatus
from karat.matching.read.pairing import Pairing
from karat.matching.read.read_options import canonical_ids, find_nil_items
from karat.model.output.command_options import format_setting
from karat.model.results.result import IdHealth
from karat.model.spec.settings.conventions import Ids
from karat.model.spec.settings.nil_spellings import NIL_LIKE_WORD
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Ints, Longs, Mentions
from karat.model.tables.digest import hash_strings

_MAX_SCHEMES = 4  # named in a sentence
_NAME, _SPACES, _UNDERSCORES = "title", "title ", "title_"
_NO_TITLE = "text"
_NIL_LIKE = "ids like NIL"
_NUMBERS = "numbers"
_LOWERCASE_QIDS = "QIDs in lower case"  # other ids, since case counts, so their writer must correct them
_LOWERCASE_QID = re.compile("q[1-9][0-9]*")
_SHORT_TITLE = re.compile("[A-PR-Z]?0")  # the kinds of numbers and of a letter and a number, besides items of Wikidata
TITLE_KINDS = frozenset({_NAME, _SPACES, _UNDERSCORES})
"""The kinds of titles of Wikipedia."""
_TITLES = {
    _NAME: "names",
    _SPACES: "names with spaces",
    _UNDERSCORES: "names with underscores",
    _NO_TITLE: "other texts",
    "0": _NUMBERS,
    "q0": _LOWERCASE_QIDS,
}


class IdStatistics(NamedTuple):
    """Statistics about the ids of gold labels or predictions; they add up over blocks."""

    schemes: Mapping[str, int] = {}
    """Linked mentions by the scheme of their id as written."""
    kind_counts: Mapping[frozenset[str], int] = {}
    """Linked mentions by the kinds of all their ids as read."""
    unknown_counts: Mapping[frozenset[str], int] = {}
    """Linked mentions of which the knowledge base that maps ids knows no id, by the kinds of all their ids as read."""
    direct_kinds: frozenset[str] = frozenset()
    """Kinds of ids as written, and of unknown ids as read."""
    kb_schemes: frozenset[str] = frozenset()
    """Schemes with an id that the knowledge base contains."""
    missing_counts: Mapping[str, int] = {}
    """Mentions whose id the knowledge base does not contain, by scheme."""
    fragments: int = 0
    """Mentions whose id had a fragment that was dropped."""
    changed_ids: Mapping[str, str] = {}
    """New id by old id, for ids that are read differently from how they are written."""
    unchanged_hashes: tuple[NDArray[np.uint64], ...] = ()
    """Hashes of all other ids, if a changed id may equal one of them."""

    def merge(self, other: IdStatistics) -> IdStatistics:
        """Return the statistics of both blocks, or both sides, together."""
        return IdStatistics(
            Counter(self.schemes) + Counter(other.schemes),
            Counter(self.kind_counts) + Counter(other.kind_counts),
            Counter(self.unknown_counts) + Counter(other.unknown_counts),
            self.direct_kinds | other.direct_kinds,
            self.kb_schemes | other.kb_schemes,
            Counter(self.missing_counts) + Counter(other.missing_counts),
            self.fragments + other.fragments,
            {**self.changed_ids, **other.changed_ids},
            (*self.unchanged_hashes, *other.unchanged_hashes),
        )


def has_shared_id(pairing: Pairing) -> bool:
    """Return whether an evaluated gold label and an evaluated prediction have the same id, so that ids can match."""
    gold_mask, prediction_mask = _mask_linked(pairing)
    is_gold = np.zeros(len(pairing.names) + 2, np.bool_)
    is_gold[pairing.gold_entity[gold_mask]] = True
    is_gold[-2:] = False  # NO_LINK and NIL
    return bool(is_gold[pairing.prediction_entity[prediction_mask]].any())


def _mask_linked(pairing: Pairing) -> tuple[Bools, Bools]:
    """Return the masks of linked gold labels and predictions inside the evaluated part of documents.

    Gold quantities and datetimes are excluded, because they may be linked to their value, and what is NIL by its id.
    """
    labels, predictions, nil_ids = pairing.corpus.labels, pairing.run.predictions, pairing.read_options.nil_ids
    gold_mask, prediction_mask = pairing.inside_masks
    gold_mask &= (labels.entity >= 0) & (pairing.gold_kind == 0) & ~find_nil_items(labels, nil_ids)
    return gold_mask, prediction_mask & (predictions.entity >= 0) & ~find_nil_items(predictions, nil_ids)


def collect_id_statistics(pairing: Pairing, kb: KB | None) -> tuple[IdStatistics, IdStatistics]:
    """Return statistics about the ids of gold labels and of predictions, of those that `_mask_linked` returns."""
    labels, predictions = pairing.corpus.labels, pairing.run.predictions
    gold_mask, prediction_mask = _mask_linked(pairing)
    sides = (
        pairing.cache_gold_result(
            "seen",
            lambda: _side_statistics(labels, pairing.gold_entity, pairing.has_plain_ids[0], gold_mask, pairing, kb),
            kb,
        ),
        _side_statistics(
            predictions,
            pairing.prediction_entity,
            pairing.has_plain_ids[1],
            prediction_mask,
            pairing,
            kb,
        ),
    )
    # Unchanged ids matter only if others change, which may happen in other blocks.
    has_no_changes = pairing.read_options.context is None and not any(side.changed_ids for side, _ in sides)
    if pairing.read_options.ids not in NORMALISERS or has_no_changes:
        return sides[0][0], sides[1][0]
    first, second = (side._replace(unchanged_hashes=(hash_strings(names),)) for side, names in sides)
    return first, second


def _side_statistics(
    mentions: Mentions, entity: Ints, is_plain: Bools, linked: Bools, pairing: Pairing, kb: KB | None
) -> tuple[IdStatistics, Arrow]:
    """Return the id statistics of one side without hashes, and the ids that are read as they are written.

    `entity` is the entity of each mention as read, `linked` marks the mentions to count, which are linked, and
    `is_plain` marks the names that are plain Wikidata ids.
    """
    read_options = pairing.read_options
    context = read_options.id_context or DEFAULT_CONTEXT
    scheme = partial(_name_scheme, context=context)
    code = np.where(linked, mentions.entity, NIL) - NIL  # 0 stands for unlinked
    names, count = mentions.names, np.bincount(code, minlength=1 + len(mentions.names))[1:]
    is_used = count > 0
    if not is_used.all():
        names, count, is_plain = names.filter(pa.array(is_used)), count[is_used], is_plain[is_used]
    names_read, is_counted = names, np.ones(len(names), np.bool_)
    if (
        read_options.kb is not None or read_options.prefixes is not None or not is_plain.all()
    ):  # else all ids are read as written
        entity_read = np.full(1 + len(is_used), NIL, np.int32)
        entity_read[code] = entity  # the same for every mention of an id, unless the mention has further ids
        entity_read = entity_read[1:][is_used]
        names_read, is_counted = pairing.names.take(pa.array(entity_read, mask=entity_read < 0)), entity_read >= 0
    patterns = find_patterns(names, is_plain)
    patterns_read = (
        patterns if names_read.equals(names) else find_patterns(names_read.fill_null(""), find_plain_qids(names_read))
    )
    spellings = (
        normalise_ids(names, read_options.ids, context)
        if read_options.kb is not None or not is_counted.all()
        else names_read
    )
    differs = np.zeros(len(names), np.bool_)
    if read_options.ids in NORMALISERS and spellings is not names:
        differs = pc.not_equal(spellings, names).to_numpy(zero_copy_only=False)
    ids_before, ids_after = (ids.filter(pa.array(differs)).to_pylist() for ids in (names, spellings))
    is_listed = None if kb is None else kb.contains(names.to_pylist())
    listed_mask = np.ones(len(names), np.bool_) if is_listed is None else np.array(is_listed, np.bool_)
    unknown_counts: Counter[frozenset[str]] = Counter()
    direct_kinds: frozenset[str] = frozenset()
    if read_options.kb is not None:
        unknown_mask = _mask_unknown(names.to_pylist(), read_options.kb)
        unknown_kinds = patterns_read.sum_by(get_id_kind, count * is_counted * unknown_mask)
        is_code_unknown = np.zeros(1 + len(is_used), np.bool_)
        is_code_unknown[1:][is_used] = unknown_mask
        unknown_rows = _mask_unknown_mentions(mentions, is_code_unknown[code], read_options.kb)
        unknown_counts = _count_kinds(mentions, entity, unknown_rows, pairing, unknown_kinds)
        direct_kinds = frozenset(unknown_kinds) | _list_written_kinds(mentions, spellings)
    statistics = IdStatistics(
        schemes=patterns.sum_by(scheme, count),
        kind_counts=_count_kinds(
            mentions, entity, linked, pairing, patterns_read.sum_by(get_id_kind, count * is_counted)
        ),
        unknown_counts=unknown_counts,
        direct_kinds=direct_kinds,
        kb_schemes=frozenset() if is_listed is None else frozenset(patterns.sum_by(scheme, count * listed_mask)),
        missing_counts=patterns.sum_by(scheme, count * ~listed_mask),
        fragments=sum(
            number
            for id, number in zip(ids_before, count[differs].tolist(), strict=True)
            if read_options.ids is Ids.NORMALISED and _has_fragment(id, context)
        ),
        changed_ids=dict(zip(ids_before, ids_after, strict=True)),
    )
    return statistics, names.filter(pa.array(~differs)) if differs.any() else names


class _IdPatterns(NamedTuple):
    """Ids grouped by how they are written: for each id, the index of a representative in `ids`."""

    pattern_index: Longs
    ids: list[str]

    def sum_by(self, key: Callable[[str], str], counts: Longs) -> Counter[str]:
        """Sum `counts`, one per id, by the `key` of each id's representative; sums of 0 are absent."""
        sums = np.bincount(self.pattern_index, counts, minlength=len(self.ids)).astype(np.int64)
        total: Counter[str] = Counter()
        for id, number in zip(self.ids, sums.tolist(), strict=True):
            if number:
                total[key(id)] += number
        return total


_PATTERNS = (
    (NIL_LIKE_WORD, "NIL"),
    (r"^(https?://(?:[a-z-]+\.)*(?:wikipedia\.org/wiki|dbpedia\.org/resource)/)[^#_\s](?s:.*)$", r"\1X"),
    (r"^(https?://www\.wikidata\.org/(?:entity|wiki)/)Q[1-9][0-9]*$", r"\1Q1"),
    (r"^[^:/]*[][<>{}|][^:/]*$", "<a>"),
    (r"^[^:/]*_[^:/]*$", "a_b"),
    (r"^[^\s:/_]+(?: [^\s:/_]+)+$", "a b"),
    (r"^[A-Z]?[a-z]{2,}$", "ab"),
    (r"^[0-9]+$", "1"),
    (rf"^{_LOWERCASE_QID.pattern}$", "q1"),
)
"""Patterns of ids that are equivalent to a single representative, so that not every id is inspected."""


def find_patterns(names: Arrow, is_plain: Bools) -> _IdPatterns:
    """Group ids by how they are written, and choose a representative of each group.

    `is_plain`: mask of the names that are plain Wikidata ids; their representative is `Q1`.
    """
    index, ids = np.zeros(len(names), np.int64), ["Q1"]
    rows_left, names_left = np.flatnonzero(~is_plain), names.filter(pa.array(~is_plain))
    for pattern, replacement in _PATTERNS:
        if not len(names_left):
            break
        matches = pc.match_substring_regex(names_left, pattern).to_numpy(zero_copy_only=False)
        if not matches.any():
            continue
        if "\\" in replacement:
            encoded = pc.replace_substring_regex(
                names_left.filter(pa.array(matches)), pattern, replacement
            ).dictionary_encode()
            index[rows_left[matches]] = encoded.indices.to_numpy() + len(ids)
            ids += encoded.dictionary.to_pylist()
        else:
            index[rows_left[matches]] = len(ids)
            ids.append(replacement)
        rows_left, names_left = rows_left[~matches], names_left.filter(pa.array(~matches))
    index[rows_left] = len(ids) + np.arange(len(rows_left))
    return _IdPatterns(index, [*ids, *names_left.to_pylist()])


def _name_scheme(id: str, context: IdContext) -> str:
    """Return the name of an id's scheme for users, such as a Wikipedia, `names with spaces` or `Q and a number`."""
    recognised_id = recognise_id(id, context)
    if recognised_id is not None:
        return recognised_id.scheme
    kind = get_id_kind(id)
    return _TITLES.get(kind, f"{kind[0]} and a number" if len(kind) == 2 and kind.endswith("0") else kind)


def get_id_kind(id: str) -> str:
    """Return the kind of an id: its pattern, such as `Q0` for all ids of Q and a number. Kinds never match each other.

    Titles of Wikipedia have three kinds: with spaces, with underscores, and of one word. Words that look like NIL, and
    other texts with characters that no title contains, are kinds of their own.
    """
    if re.search(NIL_LIKE_WORD, id):
        return _NIL_LIKE
    if _LOWERCASE_QID.fullmatch(id):
        return "q0"
    kind = id_pattern(id)
    if kind != _NAME:
        return kind
    if not has_title_characters(id):
        return _NO_TITLE
    return _UNDERSCORES if "_" in id else _SPACES if " " in id else _NAME


def _has_fragment(id: str, context: IdContext) -> bool:
    """Return whether normalisation drops a fragment from the id."""
    recognised_id = recognise_id(id, context)
    return recognised_id is not None and recognised_id.has_fragment


def _count_kinds(
    mentions: Mentions, entity: Ints, linked: Bools, pairing: Pairing, kinds_read: Mapping[str, int]
) -> Counter[frozenset[str]]:
    """Count mentions by the set of kinds of their ids as read (entity and same-as), without those read as NIL.

    `kinds_read` has the counts by the entity's kind, which suffice if no mention has same-as ids.
    """
    same_as = mentions.field("same_as")
    if same_as is None:
        return Counter({frozenset([kind]): number for kind, number in kinds_read.items()})
    total: Counter[frozenset[str]] = Counter()
    ids, names = same_as.flatten().unique().to_pylist(), pairing.names.to_pylist()
    kinds = dict(zip(ids, map(get_id_kind, canonical_ids(ids, pairing.read_options)), strict=True))
    rows = np.flatnonzero(linked & (entity >= 0))
    same_as_lists = same_as.take(pa.array(rows)).to_pylist()
    for code, others in zip(entity[rows].tolist(), same_as_lists, strict=True):
        total[frozenset([get_id_kind(names[code]), *(kinds[id] for id in others or ())])] += 1
    return total


def _mask_unknown(ids: list[str], kb: KB) -> Bools:
    """Return which of the ids are unknown to `kb`."""
    return np.array([status is IdStatus.UNKNOWN for status in kb.id_statuses(ids)], np.bool_)


def _mask_unknown_mentions(mentions: Mentions, has_unknown: Bools, kb: KB) -> Bools:
    """Return which of the mentions in `has_unknown`, whose entity is unknown to `kb`, have no known further id."""
    same_as = mentions.field("same_as")
    if same_as is None:
        return has_unknown
    ids = same_as.flatten().unique()
    known_ids = set(ids.filter(pa.array(~_mask_unknown(ids.to_pylist(), kb))).to_pylist())
    rows = np.flatnonzero(has_unknown)
    mask = has_unknown.copy()
    mask[rows] = [known_ids.isdisjoint(others or ()) for others in same_as.take(pa.array(rows)).to_pylist()]
    return mask


def _list_written_kinds(mentions: Mentions, spellings: Arrow) -> frozenset[str]:
    """Return the kinds of the normalised ids `spellings` and of the further ids as written."""
    kinds = find_patterns(spellings, find_plain_qids(spellings)).sum_by(get_id_kind, np.ones(len(spellings), np.int64))
    same_as = mentions.field("same_as")
    further_ids = [] if same_as is None else same_as.flatten().unique().to_pylist()
    return frozenset((*kinds, *map(get_id_kind, further_ids)))


def assess_ids(
    gold: IdStatistics, predictions: IdStatistics, id_setting: Ids, kb: KB | None, *, is_bridge: bool = False
) -> IdHealth:
    """Summarise the id statistics of both sides for users, with the number of predictions that can never match.

    `id_setting` is the setting `ids`; `is_bridge` is whether `kb` was chosen automatically. Numbers of unknown ids are
    None if the knowledge base does not list ids.
    """
    n_unmatchable, n_unmatchable_gold = (
        _count_unmatchable(side, other, with_nil_like=False) + _count_unreachable(side, other)
        for side, other in ((predictions, gold), (gold, predictions))
    )
    n_lost = n_unmatchable
    if gold.kind_counts and not predictions.kind_counts:  # all predictions are emerging entities
        n_lost = sum(predictions.schemes.values())
    remedy = ""
    if kb is None and id_setting in (Ids.BRIDGED, Ids.RESOLVED) and (n_lost or n_unmatchable_gold):
        remedy = _suggest_starter(gold, predictions) or _suggest_starter(predictions, gold)
    if n_lost and not remedy:
        remedy = _suggest_remedy(gold, predictions, n_lost, id_setting, kb)
    kb_schemes = gold.kb_schemes | predictions.kb_schemes
    has_listing = kb is not None and bool(kb_schemes or gold.missing_counts or predictions.missing_counts)
    unknown_counts = [
        sum(count for scheme, count in side.missing_counts.items() if scheme in kb_schemes)
        for side in (predictions, gold)
    ]
    return IdHealth(
        gold=_sort_by_count(gold.schemes),
        predictions=_sort_by_count(predictions.schemes),
        unmatchable=n_unmatchable,
        remedy=remedy,
        kb="" if kb is None else kb.name,
        mismatch=_describe_mismatch(gold, predictions) or "",
        bridge=f"{kb.name}@{kb.digest}" if kb is not None and is_bridge else "",
        unmatchable_gold=n_unmatchable_gold,
        unknown_predictions=unknown_counts[0] if has_listing else None,
        unknown_gold=unknown_counts[1] if has_listing else None,
        undecided=sum(predictions.missing_counts.values()) - unknown_counts[0],
        dropped_fragments=(gold.fragments, predictions.fragments),
        spellings=_find_variants(gold.merge(predictions)),
    )


def _count_unmatchable(side: IdStatistics, other: IdStatistics, *, with_nil_like: bool = True) -> int:
    """Return the number of annotations of `side` whose ids are all of kinds that `other` does not have.

    0 if `other` has no ids. See `get_id_kind` for kinds. Ids that look like NIL have a note of their own.
    """
    kinds_here, kinds_there = (frozenset().union(*ids.kind_counts) for ids in (side, other))
    if kinds_here & TITLE_KINDS and kinds_there & TITLE_KINDS:  # between titles, E3 and 3 are titles too
        kinds_there |= {kind for kind in kinds_here if _SHORT_TITLE.fullmatch(kind)}
    kinds_there = add_title_kinds(kinds_there)
    if not other.schemes:
        return 0
    return sum(
        count
        for kinds, count in side.kind_counts.items()
        if kinds.isdisjoint(kinds_there) and (with_nil_like or kinds != {_NIL_LIKE})
    )


def _count_unreachable(side: IdStatistics, other: IdStatistics) -> int:
    """Return the number of annotations of `side` of entities to which the knowledge base maps no id of `other`.

    The kinds of their ids occur in `other` only because the knowledge base maps ids to that kind.
    """
    kinds_read = add_title_kinds(frozenset().union(*other.kind_counts))
    direct_kinds = add_title_kinds(other.direct_kinds)
    return sum(
        count
        for kinds, count in side.unknown_counts.items()
        if kinds.isdisjoint(direct_kinds) and not kinds.isdisjoint(kinds_read)
    )


def find_mismatch(gold: IdStatistics, predictions: IdStatistics) -> str | None:
    """Return why no predicted id can match a gold id, or None if some can or one side has no links.

    Only ids of recognised schemes, such as QIDs and Wikipedia pages, are known to differ. Ids of a user's own may be
    written in several ways.
    """
    is_certain = all(map(_is_recognised, (*gold.schemes, *predictions.schemes)))
    return _describe_mismatch(gold, predictions) if is_certain else None


def _describe_mismatch(gold: IdStatistics, predictions: IdStatistics) -> str | None:
    """Return a sentence if no predicted id can match a gold id, because all are of other kinds; else None.

    A kind is the way in which an id is written, see `get_id_kind`. None also if one side has no linked ids.
    """
    total = sum(predictions.kind_counts.values())
    if not gold.kind_counts or not total or _count_unmatchable(predictions, gold) < total:
        return None
    gold_schemes, schemes = (
        ", ".join(list(_sort_by_count(side.schemes))[:_MAX_SCHEMES]) for side in (gold, predictions)
    )
    return f"no predicted id ({schemes}) can match a gold id ({gold_schemes})"


def _is_recognised(scheme: str) -> bool:
    """Return whether ids of a scheme never match those of another one without a knowledge base."""
    return scheme == QID or _is_page(scheme)


def _is_page(scheme: str) -> bool:
    """Return whether a scheme is a Wikipedia or DBpedia."""
    return scheme.startswith((WIKIPEDIA, DBPEDIA))


def add_title_kinds(kinds: frozenset[str]) -> frozenset[str]:
    """Return `kinds` with the kinds of titles that may match them, since titles of one word have no separator."""
    if not kinds & TITLE_KINDS:
        return kinds
    alternatives = {_SPACES} if _UNDERSCORES not in kinds else {_UNDERSCORES} if _SPACES not in kinds else set()
    return kinds | {_NAME} | alternatives


def _sort_by_count(schemes: Mapping[str, int]) -> dict[str, int]:
    """Return the counts by scheme in descending order, ties by name."""
    return dict(sorted(schemes.items(), key=lambda item: (-item[1], item[0])))


_STARTER = "try --kb starter of karat score, or --kb DIR with ids of both kinds in DIR/same_as.tsv"


def _suggest_starter(side: IdStatistics, other: IdStatistics) -> str:
    """Return advice to pass a knowledge base if `side` has pages and `other` QIDs and no page; else an empty text."""
    has_pages = [any(map(_is_page, ids.schemes)) for ids in (side, other)]
    return _STARTER if has_pages == [True, False] and QID in other.schemes else ""


def _suggest_remedy(
    gold: IdStatistics, predictions: IdStatistics, n_unmatchable: int, id_setting: Ids, kb: KB | None
) -> str:
    """Return advice, as text, by which fewer than `n_unmatchable` predictions would have ids that cannot match.

    The starter snapshot is not advised under `ids=normalised`, which uses it anyway if it helps.
    """

    def count_unmatched(convert: Callable[[str], str]) -> int:
        gold_schemes = set(map(convert, gold.schemes))
        schemes = {scheme: count for scheme, count in predictions.schemes.items() if scheme != _NIL_LIKE}
        return sum(count for scheme, count in schemes.items() if convert(scheme) not in gold_schemes)

    def bridge(scheme: str) -> str:
        return scheme.replace(WIKIPEDIA, DBPEDIA)

    schemes = gold.schemes.keys() | predictions.schemes.keys()
    has_same_scheme = count_unmatched(str) < n_unmatchable
    if has_same_scheme and kb is not None:  # it knows some ids of the scheme and lacks others
        rows = _suggest_rows(kb, "redirects.tsv or same_as.tsv", "old_ids or same_as")
        return f"try {format_setting('ids', 'normalised')}, or {rows}" if id_setting is Ids.RESOLVED else rows
    if has_same_scheme and id_setting is not Ids.NORMALISED and any(map(_is_recognised, predictions.schemes)):
        return f"try {format_setting('ids', 'normalised')}"
    if (
        id_setting is not Ids.BRIDGED
        and any(bridge(scheme) != scheme for scheme in schemes)
        and count_unmatched(bridge) < n_unmatchable
    ):
        return f"try {format_setting('ids', 'bridged')}"
    if _LOWERCASE_QIDS in gold.schemes.keys() ^ predictions.schemes.keys():
        return "write QIDs with a capital letter, Q64 for q64"
    spellings = [{_TITLES[_SPACES], _TITLES[_UNDERSCORES]} & side.schemes.keys() for side in (gold, predictions)]
    if len(spellings[0]) == len(spellings[1]) == 1 and spellings[0] != spellings[1]:
        return "write names in the same way on both sides"
    if (titles := _suggest_titles(gold, predictions, id_setting, kb)) is not None:
        return titles
    if (
        kb is None
        and id_setting is not Ids.NORMALISED
        and all(any(map(_is_recognised, side.schemes)) for side in (gold, predictions))
    ):
        return _STARTER
    remedy = (
        "try --kb DIR of karat score, with ids of both kinds in DIR/same_as.tsv"
        if kb is None
        else _suggest_rows(kb, "same_as.tsv", "same_as")
    )
    if _NUMBERS in gold.schemes.keys() ^ predictions.schemes.keys() and QID in {*gold.schemes, *predictions.schemes}:
        return f"write Q64 for 64 if the numbers are QIDs, or {remedy}"
    return remedy


def _suggest_rows(kb: KB, tables: str, fields: str) -> str:
    """Return advice to add ids to the `tables` of a folder, or to use a snapshot with them, imported from `fields`."""
    if isinstance(unwrap_kb(kb), InMemoryKB):
        return f"add rows to {tables} of {kb.name}"
    return f"pass a --kb with these ids: karat kb import reads them from {fields}"


def _suggest_titles(gold: IdStatistics, predictions: IdStatistics, id_setting: Ids, kb: KB | None) -> str | None:
    """Return the options that compare bare titles with pages of one Wikipedia (see `IdContext`); None if none do."""
    sides = [frozenset(side.schemes) for side in (gold, predictions)]
    titles = {_TITLES[kind] for kind in TITLE_KINDS}
    pages = {scheme for schemes in sides for scheme in schemes if _is_page(scheme)}
    has_titles = any(schemes & titles and not schemes & pages for schemes in sides)
    if not has_titles or len({scheme.partition(" ")[2] for scheme in pages}) != 1:
        return None
    options = [
        *(["--kb starter"] if kb is None else []),
        *([format_setting("ids", "normalised")] * (id_setting is not Ids.NORMALISED)),
    ]
    return f"try {' '.join(options)}" if options else None


def _find_variants(statistics: IdStatistics) -> dict[str, tuple[str, ...]]:
    """Return the spellings of each id that is written in several ways, by normal form."""
    spellings: dict[str, list[str]] = {}
    for old, new in statistics.changed_ids.items():
        spellings.setdefault(new, []).append(old)
    normal_ids = list(spellings)
    if normal_ids and statistics.unchanged_hashes:
        is_present = np.isin(
            hash_strings(pa.array(normal_ids, pa.string())), np.concatenate(statistics.unchanged_hashes)
        )
        for index in np.flatnonzero(is_present).tolist():
            spellings[normal_ids[index]].append(normal_ids[index])
    return {id: tuple(sorted(spellings[id])) for id in sorted(spellings) if len(spellings[id]) > 1}
