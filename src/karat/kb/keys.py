"""The keys of many ids at once: what `karat.kb.spaces` says of each, without a loop over those in usual spellings."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.spaces import WIKIDATA, key_of, title_key
from karat.model.tables.arrow import Arrow

_FEW: Final = 512  # below it a loop is faster than patterns
_LANGUAGE: Final = r"(?P<language>[a-z][a-z-]{1,11})"
_BLANKS: Final = r"\x00-\x1f\x7f-\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_TITLE: Final = rf"(?P<id>[A-Z0-9][^%?#{_BLANKS}]*)"


class _Usual(NamedTuple):
    """A spelling that patterns of Arrow know, and the space of its ids; what looks otherwise is left to `key_of`.

    `space` begins with the group `language` or `prefix`, where the pattern has one.
    """

    pattern: str
    space: str
    titled: bool = False
    default: str = ""


_USUAL: Final = (
    _Usual(
        r"^(?:wd:|wikidata:|https?://(?:www\.|m\.)?wikidata\.org/(?:entity|wiki)/)?(?P<id>[QPL][1-9][0-9]*)$", WIKIDATA
    ),
    _Usual(rf"^https?://{_LANGUAGE}\.(?:m\.)?wikipedia\.org/wiki/{_TITLE}$", "wiki", titled=True),
    _Usual(
        rf"^(?:https?://(?:{_LANGUAGE}\.)?dbpedia\.org/(?:resource|page)/|dbr:"
        rf"|https?://(?:www\.)?yago-knowledge\.org/resource/){_TITLE}$",
        "wiki",
        titled=True,
        default="en",
    ),
    _Usual(rf"^(?P<language>[a-z][a-z_-]{{1,11}})wiki:{_TITLE}$", "wiki", titled=True),
    _Usual(rf"^https?://{_LANGUAGE}\.(?:m\.)?wikipedia\.org/(?:w/index\.php)?\?curid=(?P<id>[0-9]+)$", "wiki-page"),
    _Usual(r"^(?:https?://rdf\.freebase\.com/ns/|(?:freebase:|fb:)?/?)(?P<id>[mg]\.[0-9A-Za-z_]{2,})$", "freebase"),
    _Usual(r"^(?:UMLS:|umls:)?(?P<id>C[0-9]{7})$", "umls"),
    _Usual(r"^(?P<prefix>[A-Z][0-9A-Za-z_.-]*):(?P<id>[A-Za-z]*[0-9]+)$", ""),
)
"""In an order in which the first that fits says what `key_of` says."""

_BARE: Final = rf"^(?P<id>(?:[A-Z][A-Za-z _.,()'&!-]|[0-9])[^:%{_BLANKS}]*)$"
"""A title without address, which is of no other spelling."""


def keys_of(ids: Arrow, titles: str = "") -> tuple[Arrow, Arrow]:
    """The spaces and the local ids of an array, null where nobody can tell; bare titles are of the space `titles`."""
    if len(ids) < _FEW:
        return _one_by_one(ids, titles)
    rest, spaces, locals, places = ids, [], [], []
    left = np.arange(len(ids))
    for usual in (*_USUAL, _Usual(_BARE, titles, titled=True)):
        if not len(rest):
            break
        found = pc.extract_regex(rest, usual.pattern)
        hit = found.is_valid()
        if not pc.any(hit).as_py():
            continue
        space, local = _key(found.filter(hit), usual)
        known = hit.to_numpy(zero_copy_only=False)
        spaces.append(space)
        locals.append(local)
        places.append(left[known])
        rest, left = rest.filter(pc.invert(hit)), left[~known]
    space, local = _one_by_one(rest, titles)
    back = np.empty(len(ids), np.int64)
    back[np.concatenate([*places, left])] = np.arange(len(ids))
    order = pa.array(back)
    return pa.concat_arrays([*spaces, space]).take(order), pa.concat_arrays([*locals, local]).take(order)


def _key(found: Arrow, usual: _Usual) -> tuple[Arrow, Arrow]:
    names = [field.name for field in found.type]
    local = found.field("id")
    if usual.titled:
        local = pc.ascii_rtrim(pc.replace_substring_regex(local, "[ _]+", " "), " ")
    if len(names) == 1:
        return pa.array([usual.space or None], pa.string()).take(pa.array(np.zeros(len(found), np.int64))), local
    lead = found.field("language" if "language" in names else "prefix")
    if usual.default:
        lead = pc.if_else(pc.equal(lead, ""), usual.default, lead)
    return (pc.binary_join_element_wise(lead, usual.space, "") if usual.space else lead), local


def _one_by_one(ids: Arrow, titles: str) -> tuple[Arrow, Arrow]:
    keys = [key_of(id) or (title_key(titles, id) if titles else None) for id in ids.to_pylist()]
    spaces = pa.array([None if key is None else key.space for key in keys], pa.string())
    return spaces, pa.array([None if key is None else key.local for key in keys], pa.string())
