"""Keys of many ids at once, computed by Arrow for common spellings (see `karat.kb.ids.id_spaces`)."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.ids.id_spaces import WIKIDATA, make_title_key, parse_id_key
from karat.kb.ids.wikipedia_languages import WIKIPEDIA_LANGUAGES
from karat.model.tables.arrow import Arrow

_MIN_VECTORISED: Final = 512  # ids; for fewer a loop is faster
_LANGUAGE: Final = r"(?P<language>[a-vx-z][a-z]{1,2}(?:-[a-z]+)*|simple)"  # no `w`, which may be `www`
_WIKI_PREFIX: Final = "|".join(sorted(code for code in WIKIPEDIA_LANGUAGES if "-" not in code))
_WHITESPACE: Final = r"\x00-\x1f\x7f-\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
_TITLE: Final = rf"(?P<id>[A-Z0-9][^%?#{_WHITESPACE}]*)"


class _CommonSpelling(NamedTuple):
    """A spelling that an Arrow pattern recognises; `parse_id_key` handles all other spellings."""

    pattern: str
    """Pattern of a whole id, with the group `id` and possibly `language` or `prefix`."""
    space: str
    """Name of the space, appended to the group `language` or `prefix` if the pattern has one."""
    is_title: bool = False
    """Whether the local id is a page title."""
    default_language: str = ""
    """Value of an empty group `language`."""


_COMMON_SPELLINGS: Final = (
    _CommonSpelling(
        r"^(?:(?i:wd|wikidata):|https?://(?:www\.|m\.)?wikidata\.org/(?:entity|wiki)/)?(?P<id>[QPL][1-9][0-9]*)$",
        WIKIDATA,
    ),
    _CommonSpelling(rf"^https?://{_LANGUAGE}\.(?:m\.)?wikipedia\.org/wiki/{_TITLE}$", "wiki", is_title=True),
    _CommonSpelling(
        rf"^(?:https?://(?:{_LANGUAGE}\.)?dbpedia\.org/(?:resource|page)/|dbr:"
        rf"|https?://(?:www\.)?yago-knowledge\.org/resource/){_TITLE}$",
        "wiki",
        is_title=True,
        default_language="en",
    ),
    _CommonSpelling(rf"^(?P<language>{_WIKI_PREFIX})wiki:{_TITLE}$", "wiki", is_title=True),
    _CommonSpelling(
        rf"^https?://{_LANGUAGE}\.(?:m\.)?wikipedia\.org/(?:w/index\.php)?\?curid=(?P<id>[0-9]+)$", "wiki-page"
    ),
    _CommonSpelling(
        r"^(?:https?://rdf\.freebase\.com/ns/|(?:freebase:|fb:)?/?)(?P<id>[mg]\.[0-9A-Za-z_]{2,})$", "freebase"
    ),
    _CommonSpelling(r"^(?:UMLS:|umls:)?(?P<id>C[0-9]{7})$", "umls"),
    _CommonSpelling(r"^(?P<prefix>[A-Z][0-9A-Za-z_.-]*):(?P<id>[A-Za-z]*[0-9]+)$", ""),
)
"""Spellings in an order in which the first match agrees with `parse_id_key`."""

_BARE_TITLE: Final = rf"^(?P<id>(?:[A-Z][A-Za-z _.,()'&!-]|[0-9])[^:%/{_WHITESPACE}]*)$"
"""Pattern of a page title that matches no other spelling; one with a slash may be an address without protocol."""


def parse_id_keys(ids: Arrow, title_space: str = "") -> tuple[Arrow, Arrow]:
    """Return the id space and the local id of each id, as two arrays; a null space means that it is not recognised.

    `title_space`: id space of bare page titles; if empty, they are not recognised.
    """
    if len(ids) < _MIN_VECTORISED:
        return _parse_in_loop(ids, title_space)
    remaining_ids, spaces, local_ids, rows = ids, [], [], []
    remaining_rows = np.arange(len(ids))
    for spelling in (*_COMMON_SPELLINGS, _CommonSpelling(_BARE_TITLE, title_space, is_title=True)):
        if not len(remaining_ids):
            break
        groups = pc.extract_regex(remaining_ids, spelling.pattern)
        matches = groups.is_valid()
        if not pc.any(matches).as_py():
            continue
        space, local_id = _extract_keys(groups.filter(matches), spelling)
        mask = matches.to_numpy(zero_copy_only=False)
        spaces.append(space)
        local_ids.append(local_id)
        rows.append(remaining_rows[mask])
        remaining_ids, remaining_rows = remaining_ids.filter(pc.invert(matches)), remaining_rows[~mask]
    space, local_id = _parse_in_loop(remaining_ids, title_space)
    position = np.empty(len(ids), np.int64)
    position[np.concatenate([*rows, remaining_rows])] = np.arange(len(ids))
    order = pa.array(position)
    return pa.concat_arrays([*spaces, space]).take(order), pa.concat_arrays([*local_ids, local_id]).take(order)


def format_id_keys(ids: Arrow, *, space: str, title_space: str, has_prefixed_ids: bool) -> tuple[Arrow, Arrow]:
    """Return the key of each id as a snapshot spells it, and a mask of the ids of the snapshot's space.

    The key is `SPACE:LOCAL_ID`, or only the local id for entities of the snapshot's `space` if their ids have no prefix
    (`Q64`). The key is null if the id has no recognised space, or equals its key.
    """
    key_space, local_id = parse_id_keys(ids, title_space)
    is_in_space = pc.fill_null(pc.equal(key_space, space), False)
    spelling = pc.binary_join_element_wise(key_space, local_id, ":")
    if not has_prefixed_ids:
        spelling = pc.if_else(is_in_space, local_id, spelling)
    return pc.if_else(pc.equal(spelling, ids), pa.scalar(None, pa.string()), spelling), is_in_space


def _extract_keys(groups: Arrow, spelling: _CommonSpelling) -> tuple[Arrow, Arrow]:
    """Return the spaces and local ids of ids that match a spelling, from an Arrow struct array of matched groups."""
    names = [field.name for field in groups.type]
    local_id = groups.field("id")
    if spelling.is_title:
        local_id = pc.ascii_rtrim(pc.replace_substring_regex(local_id, "[ _]+", " "), " ")
        local_id = pc.utf8_normalize(local_id, "NFC")
    if len(names) == 1:
        return pa.array([spelling.space or None], pa.string()).take(pa.array(np.zeros(len(groups), np.int64))), local_id
    prefix = groups.field("language" if "language" in names else "prefix")
    if spelling.default_language:
        prefix = pc.if_else(pc.equal(prefix, ""), spelling.default_language, prefix)
    return (pc.binary_join_element_wise(prefix, spelling.space, "") if spelling.space else prefix), local_id


def _parse_in_loop(ids: Arrow, title_space: str) -> tuple[Arrow, Arrow]:
    """Return the spaces and local ids of an array of ids, parsed one by one; null if not recognised."""
    keys = [parse_id_key(id) or (make_title_key(title_space, id) if title_space else None) for id in ids.to_pylist()]
    spaces = pa.array([None if key is None else key.space for key in keys], pa.string())
    return spaces, pa.array([None if key is None else key.local_id for key in keys], pa.string())
