"""How ids are meant, derived from all ids of a gold standard and of predictions (see `IdContext`).

The evidence of each side adds up over blocks, so that an engine that never holds all data decides as if it did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache, reduce

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.ids.id_patterns import may_be_title
from karat.kb.ids.normal_forms import IdContext, find_plain_qids, parse_id
from karat.kb.ids.wikipedia_languages import capitalise_letter, parse_wiki_prefix
from karat.model.tables.arrow import Arrow

_MAX_FEW_IDS = 50  # ids up to which each is looked at, since an array costs as much as many ids
_LONG_ITEM = len("Q100000")  # characters; no code of ICD-10 has so many digits
_MAX_CODE = 16  # bytes of the longest code, item and white space around it that is looked at
_OTHER_CODE = r"^(?:[A-KM-OR-Z][0-9][0-9A-Z](?:\.[0-9A-Z]{1,4})?|Q[0-9][0-9]\.[0-9A-Z]{1,4})$"
"""Codes of ICD-10 that are no ids of Wikidata: of another letter than Q, P and L, or with a dot."""

_SMALL_ITEM = r"^\s*q[1-9][0-9]*\s*$"
_EXPLICIT_ITEM = r"(?i)^\s*(?:(?:wd|wikidata):|(?:(?:https?:)?//)?(?:www\.|m\.)?wikidata\.org/)"
_ITEM_HINT = "[Ww][Dd]:|[Dd]ata[:.]"  # a part of each explicit item that is fast to find
_WIKI_PREFIX = r"^\s*(?P<prefix>[a-z][a-z_-]*)wiki:[\s_]*(?P<letter>[^\s_])"
_WIKI_ADDRESS = r"(?:wiki|db)pedia\.org/"
_ADDRESS_HEAD = r"(?i)^\s*(?P<head>\S*?(?:wikipedia\.org/wiki|dbpedia\.org/(?:resource|page))/|db(?:r|pedia[a-z-]*):)"
_NO_TITLE = r"://|^[A-Z]?[0-9]+$|^[A-Za-z][\w.-]*:[^\s_]"  # most ids that are no bare titles


class IdEvidence(msgspec.Struct, frozen=True):
    """Properties of the ids of one side that tell how they are meant; they add up over blocks."""

    bare_items: bool = False
    """Whether an id is a `Q` and a number only."""
    long_items: bool = False
    """Whether such an id has so many digits that it can only be an item of Wikidata."""
    small_items: bool = False
    """Whether an id is a `q` and a number only."""
    explicit_items: bool = False
    """Whether an id names Wikidata by a prefix or an address."""
    other_codes: bool = False
    """Whether an id is a code of ICD-10 that is no id of Wikidata."""
    wiki_addresses: bool = False
    """Whether an id is an address of Wikipedia or DBpedia."""
    prefix_languages: frozenset[str] = frozenset()
    """Language codes of Wikipedias that occur in prefixes such as `enwiki:`."""
    small_titles: frozenset[str] = frozenset()
    """Prefixes before a title that begins with a small letter."""
    fragments: frozenset[tuple[str, str]] = frozenset()
    """Pages, as normal forms, with each of their fragments."""
    address_languages: frozenset[str] = frozenset()
    """Language codes of the Wikipedias and DBpedias whose addresses occur."""
    titles: bool = False
    """Whether an id may be a bare title."""

    def merge(self, other: IdEvidence) -> IdEvidence:
        """Return the evidence of both blocks together."""
        return IdEvidence(
            self.bare_items or other.bare_items,
            self.long_items or other.long_items,
            self.small_items or other.small_items,
            self.explicit_items or other.explicit_items,
            self.other_codes or other.other_codes,
            self.wiki_addresses or other.wiki_addresses,
            self.prefix_languages | other.prefix_languages,
            self.small_titles | other.small_titles,
            self.fragments | other.fragments,
            self.address_languages | other.address_languages,
            self.titles or other.titles,
        )

    @property
    def names_items(self) -> bool:
        """Whether bare ids of this side, if there are any, are items: no code of ICD-10 speaks against it."""
        return self.long_items or not self.other_codes

    @property
    def is_wikidata(self) -> bool:
        """Whether this side is known to link to Wikidata."""
        return self.names_items and (self.bare_items or self.explicit_items)

    @property
    def languages(self) -> frozenset[str]:
        """Language codes of the Wikipedias and DBpedias that the ids of this side name."""
        return self.address_languages | self.prefix_languages


def collect_evidence(ids: Arrow) -> IdEvidence:
    """Return what an array of ids tells about how they are meant; the array may have nulls and repetitions."""
    if len(ids) > _MAX_FEW_IDS:
        return _collect_evidence(ids.drop_null())
    evidence = {_collect_evidence_of_id(id) for id in ids.to_pylist() if id is not None}
    return reduce(IdEvidence.merge, evidence, IdEvidence())


@lru_cache(maxsize=100_000)  # many runs with few predictions each predict the same ids
def _collect_evidence_of_id(id: str) -> IdEvidence:
    """Return what one id tells about how it is meant."""
    return _collect_evidence(pa.array([id], pa.string()))


def _collect_evidence(ids: Arrow) -> IdEvidence:
    """Return what an array of ids without nulls tells about how they are meant."""
    is_plain = find_plain_qids(ids)
    rest = ids.filter(pa.array(~is_plain))
    plain_lengths = pc.max(pc.binary_length(ids.filter(pa.array(is_plain)))).as_py() or 0
    evidence = IdEvidence(bare_items=plain_lengths > 0, long_items=plain_lengths >= _LONG_ITEM)
    if not len(rest):
        return evidence
    prefixes = _find_wiki_prefixes(rest)
    short_ids = rest.filter(pc.less_equal(pc.binary_length(rest), _MAX_CODE))  # a pattern costs more than a length
    return msgspec.structs.replace(
        evidence,
        small_items=_has_match(short_ids, _SMALL_ITEM),
        explicit_items=_has_match(rest.filter(pc.match_substring_regex(rest, _ITEM_HINT)), _EXPLICIT_ITEM),
        other_codes=_has_match(short_ids, _OTHER_CODE),
        wiki_addresses=_has_match(rest, _WIKI_ADDRESS),
        prefix_languages=frozenset(prefixes),
        small_titles=frozenset(
            language
            for language, letters in prefixes.items()
            if any(capitalise_letter(letter, language) != letter for letter in letters)
        ),
        fragments=_find_fragments(rest),
        address_languages=_find_address_languages(rest),
        titles=any(map(may_be_title, rest.filter(pc.invert(pc.match_substring_regex(rest, _NO_TITLE))).to_pylist())),
    )


def build_context(sides: Iterable[IdEvidence]) -> IdContext:
    """Return how ids are meant, from the evidence of all sides that are compared with each other.

    A bare `Q90` is an item unless a side that writes ids so has codes of ICD-10. `q90` is an item if every side that
    writes ids so is known to link to Wikidata. A prefix `CODEwiki:` means the Wikipedia of a language if its titles
    begin with capitals, or other ids are those of Wikidata, addresses of Wikipedia or DBpedia, or have the prefix of
    another Wikipedia. Bare titles name pages if a side with bare titles names no page by address or prefix, and the
    others name pages of one Wikipedia.
    """
    sides = tuple(sides)
    bare_items = all(side.names_items for side in sides if side.bare_items or side.small_items)
    total = IdEvidence()
    for side in sides:
        total = total.merge(side)
    names_wikis = (
        total.wiki_addresses
        or total.explicit_items
        or (bare_items and total.bare_items)
        or len(total.prefix_languages) > 1
    )
    counts = Counter(page for page, _ in total.fragments)
    other_wikis = frozenset() if names_wikis else total.small_titles
    languages = total.languages - other_wikis
    has_titles = any(side.titles and side.languages <= other_wikis for side in sides)
    return IdContext(
        bare_items=bare_items,
        small_items=total.small_items and bare_items and all(side.is_wikidata for side in sides if side.small_items),
        other_wikis=other_wikis,
        fragment_pages=frozenset(page for page, count in counts.items() if count > 1),
        title_language=next(iter(languages)) if has_titles and len(languages) == 1 else "",
    )


def _has_match(ids: Arrow, pattern: str) -> bool:
    """Return whether any id matches the regular expression `pattern` somewhere."""
    return bool(pc.any(pc.match_substring_regex(ids, pattern)).as_py())


def _find_wiki_prefixes(ids: Arrow) -> dict[str, set[str]]:
    """Return the first letters of titles by language code, for ids with the prefix of a Wikipedia."""
    groups = pc.extract_regex(ids.filter(pc.match_substring(ids, "wiki:")), _WIKI_PREFIX).drop_null()
    pairs = pc.binary_join_element_wise(groups.field("prefix"), groups.field("letter"), ":").unique().to_pylist()
    letters: dict[str, set[str]] = {}
    for prefix, _, letter in (pair.partition(":") for pair in pairs):
        language = parse_wiki_prefix(prefix)
        if language is not None:
            letters.setdefault(language, set()).add(letter)
    return letters


def _find_address_languages(ids: Arrow) -> frozenset[str]:
    """Return the language codes of the Wikipedias and DBpedias whose addresses occur in an array of ids."""
    heads = pc.extract_regex(ids, _ADDRESS_HEAD).drop_null().field("head").unique().to_pylist()
    schemes = [parsed.scheme for head in heads if (parsed := parse_id(f"{head}X")) is not None]
    return frozenset(scheme.partition(" ")[2] for scheme in schemes)


def _find_fragments(ids: Arrow) -> frozenset[tuple[str, str]]:
    """Return the pages of Wikipedia and DBpedia that are linked with a fragment, with the fragments."""
    rows = ids.filter(pc.match_substring(ids, "#")).unique().to_pylist()
    parsed_ids = [parsed for id in rows if (parsed := parse_id(id)) is not None]
    return frozenset((parsed.normal_form, parsed.fragment) for parsed in parsed_ids if parsed.fragment)
