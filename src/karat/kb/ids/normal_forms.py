"""Normal forms of ids: one spelling for all spellings of an id that its scheme declares equal.

A scheme is a family of ids with its own rules of spelling: Wikidata QIDs, Wikipedia pages of one language, DBpedia
resources of one language. No knowledge base is needed. Ids of other schemes stay unchanged, and no normal form crosses
schemes: the language is part of the id, and a Wikipedia page is not a Wikidata item. The only exception is GERBIL's
bridge from Wikipedia to DBpedia, which users must select.

Some spellings mean different things in different data: `Q90` is an item of Wikidata or a code of ICD-10, `mywiki:` is
the Burmese Wikipedia or a wiki of the user, and a fragment tells entities apart if a page has several. An `IdContext`
decides about them; `karat.kb.ids.id_context` derives it from all ids of the gold standard and the predictions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import quote, unquote_to_bytes

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.ids.id_patterns import may_be_title
from karat.kb.ids.wikipedia_languages import WIKIPEDIA_LANGUAGES, capitalise_letter, parse_wiki_prefix
from karat.model.spec.settings.conventions import Ids
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Bools
from karat.model.tables.digest import split_strings

QID = "QID"
WIKIPEDIA = "Wikipedia"
DBPEDIA = "DBpedia"

_CACHE_SIZE = 1 << 18
_WHITESPACE = " \t\n\f\r"  # as in Arrow's patterns
_WEB = r"(?:(?i:https?:)?//)?"
_LANGUAGE = r"((?!www\b)[a-z]{2,3}(?:-[a-z]+)*|simple)"
_ITEM = re.compile(r"(?:(?P<prefix>(?i:wd|wikidata)):)?(?P<letter>[Qq])(?P<number>[1-9][0-9]*)")
_PLAIN_ITEM = re.compile(r"Q[1-9][0-9]*")
_ITEM_PAGE = re.compile(
    rf"{_WEB}(?i:(?:www\.|m\.)?wikidata\.org)/(?:entity|wiki(?:/Special:EntityData)?)/[Qq]([1-9][0-9]*)(#.*)?",
    re.DOTALL,
)
_PAGE = re.compile(
    rf"(?:{_WEB}(?i:{_LANGUAGE}(?:\.m)?\.wikipedia\.org)/wiki/|([a-z]+(?:[_-][a-z]+)*)wiki:)([^#]+)(#.*)?", re.DOTALL
)
_RESOURCE = re.compile(
    rf"(?:{_WEB}(?i:(?:{_LANGUAGE}\.)?dbpedia\.org)/(?:resource|page)/|db(?:r|pedia(?:-{_LANGUAGE})?):)([^#]+)(#.*)?",
    re.DOTALL,
)
_ESCAPE = re.compile("%(?=[0-9A-Fa-f]{2})")
_INVALID = re.compile(r"[\udc80-\udcff][^\x00-\x7f]*")  # bytes that are no UTF-8, as `surrogateescape` decodes them
_EDGES = re.compile(r"\A[\s_]+|[\s_]+\Z")
_CASE_MATTERS = frozenset({"jbo"})  # the Wikipedia whose titles may begin with a small letter
_MTAVRULI = range(0x1C90, 0x1CC0)  # Georgian capitals, which no title begins with
_FRAGMENT_MARK = "%23"  # an encoded `#`, which stays in a normal form, while a `#` begins a fragment


class IdContext(NamedTuple):
    """Decisions about spellings that mean different things in different data."""

    bare_items: bool = True
    """Whether a bare `Q90` is an item of Wikidata; if not, items are told apart by their address."""
    small_items: bool = False
    """Whether a bare `q90` is an item of Wikidata too."""
    other_wikis: frozenset[str] = frozenset()
    """Language codes whose prefix (`my` of `mywiki:`) means another wiki than the Wikipedia of that language."""
    fragment_pages: frozenset[str] = frozenset()
    """Pages, as normal forms, with several fragments in the data: each fragment is an entity."""
    title_language: str = ""
    """Language code of the Wikipedia whose pages bare titles name; empty if bare titles name no pages."""


DEFAULT_CONTEXT = IdContext()
"""Decisions for an id by itself: `Q90` is an item, `q90` is not, `mywiki:` is a Wikipedia, fragments are dropped."""


class RecognisedId(NamedTuple):
    """An id of a known scheme."""

    scheme: str
    """Scheme, such as `QID` or `Wikipedia en`."""
    normal_form: str
    """Spelling that represents all spellings of the id."""
    has_fragment: bool = False
    """Whether the id names a section of a page that its normal form does not name."""


class ParsedId(NamedTuple):
    """The parts of an id of a known scheme, before a context decides about its spelling."""

    scheme: str
    """Scheme, such as `QID` or `Wikipedia en`."""
    normal_form: str
    """Normal form without fragment, if the spelling means this scheme."""
    fragment: str | None = None
    """Fragment in normal form, without `#`; None if the id has none."""
    wiki_prefix: str = ""
    """Language code, if the id is written `CODEwiki:`."""
    is_bare: bool = False
    """Whether the id is a `Q` and a number only."""
    is_small: bool = False
    """Whether the id is a `q` and a number only."""


@lru_cache(maxsize=_CACHE_SIZE)
def parse_id(id: str) -> ParsedId | None:
    """Return the parts of an id; None if its scheme is not known in any context."""
    text = id.strip(_WHITESPACE)
    if (match := _ITEM.fullmatch(text)) is not None:
        is_bare = match["prefix"] is None
        is_small = is_bare and match["letter"] == "q"
        return ParsedId(QID, f"Q{match['number']}", is_bare=is_bare and not is_small, is_small=is_small)
    if (match := _ITEM_PAGE.fullmatch(text)) is not None:
        return ParsedId(QID, f"Q{match[1]}", _normalise_fragment(match[2]))
    if (match := _PAGE.fullmatch(text)) is not None:
        language = parse_wiki_prefix(match[2]) if match[1] is None else match[1].lower()
        title = "" if language is None else _normalise_title(match[3], language)
        if title:
            page = f"https://{language}.wikipedia.org/wiki/{title}"
            prefix = language or "" if match[1] is None else ""
            return ParsedId(f"{WIKIPEDIA} {language}", page, _normalise_fragment(match[4]), prefix)
    if (match := _RESOURCE.fullmatch(text)) is not None:
        language, title = (match[1] or match[2] or "en").lower(), _decode_percent(match[3]).strip().replace(" ", "_")
        if title:
            resource = _dbpedia_resource(language, title)
            return ParsedId(f"{DBPEDIA} {language}", resource, _normalise_fragment(match[4]))
    return None


def recognise_id(id: str, context: IdContext = DEFAULT_CONTEXT) -> RecognisedId | None:
    """Return the scheme and normal form of an id in a context; None if its scheme is not known."""
    parsed = parse_id(id)
    if (
        parsed is None
        or (parsed.is_bare and not context.bare_items)
        or (parsed.is_small and not context.small_items)
        or parsed.wiki_prefix in context.other_wikis
    ):
        return None
    if parsed.scheme == QID:
        return RecognisedId(QID, express_item(parsed.normal_form, context), parsed.fragment is not None)
    if parsed.fragment and parsed.normal_form in context.fragment_pages:
        return RecognisedId(parsed.scheme, f"{parsed.normal_form}{_FRAGMENT_MARK}{parsed.fragment}")
    return RecognisedId(parsed.scheme, parsed.normal_form, parsed.fragment is not None)


def restore_fragment(id: str) -> str:
    """Return the normal form of a fragment of a page as its address, with `#`; other ids are returned unchanged."""
    parsed = parse_id(id) if _FRAGMENT_MARK in id else None
    return id if parsed is None else parsed.normal_form.replace(_FRAGMENT_MARK, "#", 1)


def express_item(id: str, context: IdContext) -> str:
    """Return the QID `id` as the context writes items: by its address if bare ids are no items. Other ids stay."""
    is_item = not context.bare_items and _PLAIN_ITEM.fullmatch(id) is not None
    return f"http://www.wikidata.org/entity/{id}" if is_item else id


def _normalise_fragment(text: str | None) -> str | None:
    """Return a fragment with its `#` in normal form, without it; None if there is none."""
    if text is None:
        return None
    return _EDGES.sub("", re.sub("[ _]+", "_", _decode_percent(text[1:])))


def _normalise_title(text: str, language: str) -> str:
    """Return a page title as in a URL of the Wikipedia of `language`: with `_` for spaces, percent-decoded if possible.

    Its first letter is a capital, except in the Wikipedia that distinguishes both.
    """
    title = _EDGES.sub("", re.sub("[ _]+", "_", _decode_percent(text)))
    first = capitalise_letter(title[:1], language)
    if language not in _CASE_MATTERS and len(first) == 1 and ord(first) not in _MTAVRULI:
        title = normalize("NFC", first + title[1:])
    return title


def _decode_percent(text: str) -> str:
    """Return the percent-decoded text in Unicode NFC; a `#`, and a `%` that would form an escape, stay encoded.

    A byte that is no UTF-8 also stays encoded, with any non-ASCII characters after it, which might combine with it.
    """
    data = unquote_to_bytes(normalize("NFC", text).encode("utf-8", "surrogatepass"))
    decoded = normalize("NFC", data.decode("utf-8", "surrogateescape"))
    decoded = _ESCAPE.sub("%25", decoded).replace("#", "%23")
    return _INVALID.sub(lambda match: quote(match[0].encode("utf-8", "surrogateescape")), decoded)


def _dbpedia_resource(language: str, title: str) -> str:
    """Return the IRI of the DBpedia resource of a page title; English resources have no language in their host."""
    return f"http://{'' if language == 'en' else f'{language}.'}dbpedia.org/resource/{title}"


def _normalise_id(id: str, context: IdContext = DEFAULT_CONTEXT) -> str:
    """Return the normal form of an id in a context; an id of no known scheme is returned unchanged."""
    recognised_id = recognise_id(id, context)
    return id if recognised_id is None else recognised_id.normal_form


def find_page_of_resource(normal_form: str) -> str | None:
    """Return the Wikipedia page with title and language of a DBpedia resource in normal form; None for other ids."""
    resource = _RESOURCE.fullmatch(normal_form)
    return (
        None if resource is None else _normalise_id(f"https://{resource[1] or 'en'}.wikipedia.org/wiki/{resource[3]}")
    )


def find_page_of_title(id: str, context: IdContext) -> str | None:
    """Return the Wikipedia page that a bare title names in a context, as a normal form; None for other ids."""
    if not context.title_language or parse_id(id) is not None or not may_be_title(id):
        return None
    return _normalise_id(f"https://{context.title_language}.wikipedia.org/wiki/{id}")


def find_resource_of_page(normal_form: str) -> str | None:
    """Return the DBpedia resource with title and language of a Wikipedia page in normal form; None for other ids."""
    page = _PAGE.fullmatch(normal_form)
    return None if page is None or page[1] is None else _dbpedia_resource(page[1], page[3])


_BRIDGED_PAGE = re.compile(rf"https?://{_LANGUAGE}\.wikipedia\.org/wiki/(.+)", re.DOTALL)
_BRIDGED_RESOURCE = re.compile(rf"https?://(?:{_LANGUAGE}\.)?dbpedia\.org/resource/(.+)", re.DOTALL)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://.*/", re.DOTALL)


@lru_cache(maxsize=_CACHE_SIZE)
def _bridge_id(id: str) -> str:
    """Return the DBpedia resource of a Wikipedia page, or any other URL with its last part percent-decoded.

    An id that is no URL is returned unchanged. Titles stay as written, as in GERBIL.
    """
    address = _ADDRESS.match(id)
    if address is None:
        return id
    decoded = address[0] + _decode_percent(id[address.end() :])
    match = _BRIDGED_PAGE.fullmatch(decoded) or _BRIDGED_RESOURCE.fullmatch(decoded)
    return decoded if match is None else _dbpedia_resource(match[1] or "en", match[2])


def _iterate_spellings(normal_form: str) -> Iterator[str]:
    """Yield the common spellings of a normal form, the normal form first."""
    yield normal_form
    if _PLAIN_ITEM.fullmatch(normal_form) is not None:
        yield from (f"http://www.wikidata.org/entity/{normal_form}", f"https://www.wikidata.org/entity/{normal_form}")
        yield from (f"https://www.wikidata.org/wiki/{normal_form}", f"wd:{normal_form}")
    elif (page := _PAGE.fullmatch(normal_form)) is not None and page[1] is not None:
        head = f"://{page[1]}.wikipedia.org/wiki/"
        titles = dict.fromkeys([page[3], quote(page[3], safe="/:(),'!*@&=+$;~%"), page[3].replace("_", " ")])
        yield from (f"{protocol}{head}{title}" for protocol in ("https", "http") for title in titles)
        if page[1] in WIKIPEDIA_LANGUAGES:
            yield from (f"{page[1].replace('-', '_')}wiki:{title}" for title in titles)
    elif (resource := _RESOURCE.fullmatch(normal_form)) is not None:
        head, title = normal_form[: -len(resource[3])], resource[3]
        yield from (head + quote(title, safe="/:(),'!*@&=+$;~%"), f"https{head.removeprefix('http')}{title}")


def _iterate_bridge_spellings(resource: str) -> Iterator[str]:
    """Yield the common spellings of a DBpedia resource and of the Wikipedia page that the bridge maps to it."""
    yield resource
    if (match := _BRIDGED_RESOURCE.fullmatch(resource)) is not None:
        pages = (f"{protocol}://{match[1] or 'en'}.wikipedia.org/wiki/{match[2]}" for protocol in ("http", "https"))
        yield from (id for id in (*_iterate_spellings(resource), *pages) if _bridge_id(id) == resource)


class IdNormaliser(NamedTuple):
    """A rule that maps all spellings of an id to one normal form."""

    normalise: Callable[[str], str]
    """Return the normal form of an id."""
    pattern: str
    """Regular expression of the ids that `normalise` may change."""
    iterate_spellings: Callable[[str], Iterator[str]]
    """Yield the common spellings of a normal form, the normal form first."""


NORMALISERS: Mapping[Ids, IdNormaliser] = MappingProxyType(
    {
        Ids.NORMALISED: IdNormaliser(_normalise_id, r"(?i)wiki|dbpedia|^\s*(?:dbr:|wd:|q[1-9])", _iterate_spellings),
        Ids.BRIDGED: IdNormaliser(_bridge_id, "://", _iterate_bridge_spellings),
        Ids.LAST_SEGMENT: IdNormaliser(lambda id: id.rpartition("/")[2], "/", lambda normal_form: iter((normal_form,))),
    }
)
"""Normaliser of each value of the setting `ids` that changes spellings; ids stay as written under all other values."""

_SIMPLE_TITLE = r"(?:_?[A-Za-z0-9().,'!*&:;/+=$@~-])*"
_COMMON_REWRITES = (
    (r"^(?:https?://www\.wikidata\.org/(?:entity|wiki)/|wd:)(Q[1-9][0-9]*)$", r"\1"),
    (
        rf"^https?://([a-z]{{2}})(?:\.m)?\.wikipedia\.org/wiki/([A-Z0-9]{_SIMPLE_TITLE})$",
        r"https://\1.wikipedia.org/wiki/\2",
    ),
    (rf"^https?://dbpedia\.org/(?:resource|page)/([A-Za-z0-9]{_SIMPLE_TITLE})$", r"http://dbpedia.org/resource/\1"),
)
"""Patterns of common spellings with their normal forms, which equal those of `recognise_id` but need no Python loop.

The first is that of Wikidata, and applies if bare ids are items; the others have no fragment.
"""


def find_plain_qids(ids: Arrow) -> Bools:
    """Return a mask of the ids that are Wikidata QIDs in normal form (`Q` and a number), read from their bytes."""
    offsets, data = split_strings(ids)
    byte = np.frombuffer(data, np.uint8)
    if not len(byte):
        return np.zeros(len(ids), np.bool_)
    digits = np.zeros(len(byte) + 1, np.int32)
    np.cumsum(byte - np.uint8(ord("0")) < 10, out=digits[1:])
    begins, ends = offsets[:-1], offsets[1:]
    first_byte, second_byte = byte.take(begins, mode="clip"), byte.take(begins + 1, mode="clip")
    has_number = (ends - begins > 1) & (digits[ends] - digits[begins] == ends - begins - 1)
    mask: Bools = has_number & (first_byte == ord("Q")) & (second_byte != ord("0"))
    return mask


def normalise_ids(ids: Arrow, mode: Ids, context: IdContext = DEFAULT_CONTEXT) -> Arrow:
    """Return the normal forms of an array of ids under the value `mode` of the setting `ids`.

    The same array is returned if no id changes. `context` applies to `ids=normalised` only.
    """
    if mode not in NORMALISERS or not len(ids):
        return ids
    normaliser = NORMALISERS[mode]
    plain_mask = find_plain_qids(ids) if mode is Ids.NORMALISED else np.zeros(len(ids), np.bool_)
    if plain_mask.all():
        return ids
    changeable = pc.and_(pc.match_substring_regex(ids, normaliser.pattern), pa.array(~plain_mask))
    old = ids.filter(changeable)
    new = (
        _normalise_common(old, context)
        if mode is Ids.NORMALISED
        else pa.array(map(normaliser.normalise, old.to_pylist()), pa.string())
    )
    return ids if new.equals(old) else pc.replace_with_mask(ids, changeable, new)


def normalise_id(id: str, mode: Ids, context: IdContext = DEFAULT_CONTEXT) -> str:
    """Return the normal form of an id under the value `mode` of the setting `ids`, like `normalise_ids`."""
    if mode is Ids.NORMALISED:
        return _normalise_id(id, context)
    return NORMALISERS[mode].normalise(id) if mode in NORMALISERS else id


def _normalise_common(ids: Arrow, context: IdContext) -> Arrow:
    """Return the normal forms of an array of ids in a context; only rare spellings need a Python loop."""
    mask = np.zeros(len(ids), np.bool_)
    normal_forms = ids
    for pattern, replacement in _COMMON_REWRITES if context.bare_items else _COMMON_REWRITES[1:]:
        mask |= pc.match_substring_regex(ids, pattern).to_numpy(zero_copy_only=False)
        normal_forms = pc.replace_substring_regex(normal_forms, pattern, replacement)
    rest = pa.array([_normalise_id(id, context) for id in ids.filter(pa.array(~mask)).to_pylist()], pa.string())
    return pc.replace_with_mask(normal_forms, pa.array(~mask), rest)
