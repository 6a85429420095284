"""How ids of a scheme may be written: what means the same by the rules of the scheme alone, without a knowledge base.

Only ids of a recognised scheme are touched, and never beyond it: a language is part of the identity, and a Wikipedia
page is no Wikidata item. GERBIL's bridge is the exception, for who asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools
from karat.model.tables.digest import string_parts
from karat.spec.choices.conventions import Ids

QID = "QID"
WIKIPEDIA = "Wikipedia"
DBPEDIA = "DBpedia"

_CACHED = 1 << 18
_BLANK = " \t\n\f\r"  # as Arrow's patterns know it
_WEB = r"(?:(?i:https?:)?//)?"
_LANGUAGE = r"((?!www\b)[a-z]{2,3}(?:-[a-z]+)*|simple)"
_ITEM = re.compile(r"(?:wd:|wikidata:)?[Qq]([1-9][0-9]*)")
_ITEM_PAGE = re.compile(
    rf"{_WEB}(?i:(?:www\.|m\.)?wikidata\.org)/(?:entity|wiki(?:/Special:EntityData)?)/[Qq]([1-9][0-9]*)(#.*)?",
    re.DOTALL,
)
_PAGE = re.compile(
    rf"(?:{_WEB}(?i:{_LANGUAGE}(?:\.m)?\.wikipedia\.org)/wiki/|{_LANGUAGE}wiki:)([^#]+)(#.*)?", re.DOTALL
)
_RESOURCE = re.compile(
    rf"(?:{_WEB}(?i:(?:{_LANGUAGE}\.)?dbpedia\.org)/(?:resource|page)/|db(?:r|pedia(?:-{_LANGUAGE})?):)([^#]+)(#.*)?",
    re.DOTALL,
)
_ESCAPE = re.compile("%(?=[0-9A-Fa-f]{2})")
_EDGES = re.compile(r"\A[\s_]+|[\s_]+\Z")
_CASE_MATTERS = frozenset({"jbo"})  # the Wikipedia whose titles may begin with a small letter
_MTAVRULI = range(0x1C90, 0x1CC0)  # Georgian capitals, which no title begins with


class Recognised(NamedTuple):
    """An id by its scheme: the form that all its spellings share, and whether it named a part of a page."""

    scheme: str
    normal: str
    fragment: bool = False


@lru_cache(maxsize=_CACHED)
def recognised(id: str) -> Recognised | None:
    """The scheme of an id and its normal form; None where it is of no recognised scheme."""
    text = id.strip(_BLANK)
    if (found := _ITEM.fullmatch(text)) is not None:
        return Recognised(QID, f"Q{found[1]}")
    if (found := _ITEM_PAGE.fullmatch(text)) is not None:
        return Recognised(QID, f"Q{found[1]}", found[2] is not None)
    if (found := _PAGE.fullmatch(text)) is not None:
        language = (found[1] or found[2]).lower()
        title = _page_title(found[3], capital=language not in _CASE_MATTERS)
        if title:
            normal = f"https://{language}.wikipedia.org/wiki/{title}"
            return Recognised(f"{WIKIPEDIA} {language}", normal, found[4] is not None)
    if (found := _RESOURCE.fullmatch(text)) is not None:
        language, title = (found[1] or found[2] or "en").lower(), _decoded(found[3]).strip().replace(" ", "_")
        if title:
            return Recognised(f"{DBPEDIA} {language}", _resource(language, title), found[4] is not None)
    return None


def _page_title(text: str, *, capital: bool) -> str:
    """A title as Wikipedia writes it in addresses, but for what needs no escape there."""
    title = _EDGES.sub("", re.sub("[ _]+", "_", _decoded(text)))
    first = title[:1].upper()
    if capital and len(first) == 1 and ord(first) not in _MTAVRULI:
        title = normalize("NFC", first + title[1:])
    return title


def _decoded(text: str) -> str:
    """What is percent-encoded, in plain; what would then look encoded, or like a fragment, stays as it is."""
    text = normalize("NFC", text)
    try:
        plain = normalize("NFC", unquote(text, errors="strict"))
    except UnicodeDecodeError:
        return text
    return _ESCAPE.sub("%25", plain).replace("#", "%23")


def _resource(language: str, title: str) -> str:
    return f"http://{'' if language == 'en' else f'{language}.'}dbpedia.org/resource/{title}"


def _normal(id: str) -> str:
    found = recognised(id)
    return id if found is None else found.normal


_BRIDGED_PAGE = re.compile(rf"https?://{_LANGUAGE}\.wikipedia\.org/wiki/(.+)", re.DOTALL)
_BRIDGED_RESOURCE = re.compile(rf"https?://(?:{_LANGUAGE}\.)?dbpedia\.org/resource/(.+)", re.DOTALL)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*/", re.DOTALL)


@lru_cache(maxsize=_CACHED)
def _bridged(id: str) -> str:
    """For a page of Wikipedia the DBpedia resource of its name and language; the last part of any address in plain.

    The title is compared letter by letter, as GERBIL does.
    """
    address = _ADDRESS.match(id)
    if address is None:
        return id
    plain = address[0] + _decoded(id[address.end() :])
    found = _BRIDGED_PAGE.fullmatch(plain) or _BRIDGED_RESOURCE.fullmatch(plain)
    return plain if found is None else _resource(found[1] or "en", found[2])


def _last_segment(id: str) -> str:
    return id.rpartition("/")[2]


def _spellings(normal: str) -> Iterator[str]:
    """The usual ways to write a normal form, itself first."""
    yield normal
    if (item := _ITEM.fullmatch(normal)) is not None:
        yield from (f"http://www.wikidata.org/entity/{normal}", f"https://www.wikidata.org/entity/{normal}")
        yield from (f"https://www.wikidata.org/wiki/{normal}", f"wd:{normal}", f"q{item[1]}")
    elif (page := _PAGE.fullmatch(normal)) is not None:
        head = f"://{page[1]}.wikipedia.org/wiki/"
        titles = dict.fromkeys([page[3], quote(page[3], safe="/:(),'!*@&=+$;~%"), page[3].replace("_", " ")])
        yield from (f"{web}{head}{title}" for web in ("https", "http") for title in titles)
    elif (resource := _RESOURCE.fullmatch(normal)) is not None:
        head, title = normal[: -len(resource[3])], resource[3]
        yield from (head + quote(title, safe="/:(),'!*@&=+$;~%"), f"https{head.removeprefix('http')}{title}")


def _bridge_ends(resource: str) -> Iterator[str]:
    """A DBpedia resource and the page that the bridge leads to, as they are mostly written."""
    yield resource
    if (found := _BRIDGED_RESOURCE.fullmatch(resource)) is not None:
        pages = (f"{web}://{found[1] or 'en'}.wikipedia.org/wiki/{found[2]}" for web in ("http", "https"))
        yield from (id for id in (*_spellings(resource), *pages) if _bridged(id) == resource)


class Spelling(NamedTuple):
    """A way to read ids: what stands for an id, which ids that may be another for, and what else is written for it."""

    normal: Callable[[str], str]
    touched: str
    spellings: Callable[[str], Iterator[str]]


SPELLINGS: Mapping[Ids, Spelling] = MappingProxyType(
    {
        Ids.NORMALISED: Spelling(_normal, r"(?i)wiki|dbpedia|^\s*(?:dbr:|wd:|q[1-9])", _spellings),
        Ids.BRIDGED: Spelling(_bridged, "://", _bridge_ends),
        Ids.LAST_SEGMENT: Spelling(_last_segment, "/", lambda normal: iter((normal,))),
    }
)
"""What the choice `ids` makes of an id by looking at it alone; the other values leave it as written."""

_SIMPLE = r"(?:_?[A-Za-z0-9().,'!*&:;/+=$@~-])*"
_AT_ONCE = (
    (r"^(?:https?://www\.wikidata\.org/(?:entity|wiki)/|wd:)(Q[1-9][0-9]*)$", r"\1"),
    (rf"^https?://([a-z]{{2}})(?:\.m)?\.wikipedia\.org/wiki/([A-Z0-9]{_SIMPLE})$", r"https://\1.wikipedia.org/wiki/\2"),
    (rf"^https?://dbpedia\.org/(?:resource|page)/([A-Za-z0-9]{_SIMPLE})$", r"http://dbpedia.org/resource/\1"),
)
"""Common spellings and their normal forms: what `recognised` says of them, but without a Python loop."""


def plain(names: Arrow) -> Bools:
    """Which ids are items as they should be, which most are in every reading: Q and a number, told by their bytes."""
    offsets, data = string_parts(names)
    byte = np.frombuffer(data, np.uint8)
    if not len(byte):
        return np.zeros(len(names), np.bool_)
    digits = np.zeros(len(byte) + 1, np.int32)
    np.cumsum(byte - np.uint8(ord("0")) < 10, out=digits[1:])
    begins, ends = offsets[:-1], offsets[1:]
    first, second = byte.take(begins, mode="clip"), byte.take(begins + 1, mode="clip")
    numbered = (ends - begins > 1) & (digits[ends] - digits[begins] == ends - begins - 1)
    found: Bools = numbered & (first == ord("Q")) & (second != ord("0"))
    return found


def spelt(names: Arrow, how: Ids) -> Arrow:
    """The ids as they are read; the very same array where none changes."""
    if how not in SPELLINGS or not len(names):
        return names
    own = SPELLINGS[how]
    usual = plain(names) if how is Ids.NORMALISED else np.zeros(len(names), np.bool_)
    if usual.all():
        return names
    may = pc.and_(pc.match_substring_regex(names, own.touched), pa.array(~usual))
    old = names.filter(may)
    new = _at_once(old) if how is Ids.NORMALISED else pa.array(map(own.normal, old.to_pylist()), pa.string())
    return names if new.equals(old) else pc.replace_with_mask(names, may, new)


def _at_once(ids: Arrow) -> Arrow:
    """The normal forms of ids; one by one only of those that are written in a rarer way."""
    done = np.zeros(len(ids), np.bool_)
    found = ids
    for pattern, normal in _AT_ONCE:
        done |= pc.match_substring_regex(ids, pattern).to_numpy(zero_copy_only=False)
        found = pc.replace_substring_regex(found, pattern, normal)
    rest = pa.array(map(_normal, ids.filter(pa.array(~done)).to_pylist()), pa.string())
    return pc.replace_with_mask(found, pa.array(~done), rest)
