"""Id spaces. An id space is a set of ids that one authority assigns, such as `wikidata`, `enwiki` or `freebase`.

Every spelling of an id has the same key `SPACE:LOCAL_ID`, such as `enwiki:Berlin`. DBpedia and YAGO name an entity by
the title of its Wikipedia page, so their ids have keys of that Wikipedia's space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import unquote

from karat.kb.ids.normal_forms import DBPEDIA, QID, WIKIPEDIA, recognise_id
from karat.kb.ids.wikipedia_languages import capitalise_letter

WIKIDATA = "wikidata"
_TITLE_MARKS = {WIKIPEDIA: "/wiki/", DBPEDIA: "/resource/"}  # before the title in a normal form


class IdKey(NamedTuple):
    """An id independent of its spelling."""

    space: str
    """Id space, such as `wikidata` or `enwiki`."""
    local_id: str
    """Id within the space, such as `Q64` or a page title."""

    def __str__(self) -> str:
        return f"{self.space}:{self.local_id}"


class _SpellingPattern(NamedTuple):
    """A way to write the ids of a space."""

    pattern: re.Pattern[str]
    """Pattern of a whole id; its group `id` is the local id."""
    space: str
    """Name of the space; a template over the other groups of the pattern."""
    is_title: bool = False
    """Whether the local id is a page title."""


_ITEM = re.compile(r"Q[1-9]\d*")
_SPELLING_PATTERNS = (
    _SpellingPattern(re.compile(r"(?:(?i:wd|wikidata):)?(?P<id>[PL][1-9]\d*)"), WIKIDATA),
    _SpellingPattern(
        re.compile(r"https?://(?:www\.|m\.)?wikidata\.org/(?:entity|wiki)/(?P<id>[PL][1-9]\d*)"), WIKIDATA
    ),
    _SpellingPattern(
        re.compile(
            r"https?://(?P<language>[a-z][a-z-]{1,11})\.(?:m\.)?wikipedia\.org/(?:w/index\.php)?\?curid=(?P<id>\d+)"
        ),
        "{language}wiki-page",
    ),
    _SpellingPattern(
        re.compile(r"https?://(?:www\.)?yago-knowledge\.org/resource/(?P<id>\S.*)"), "enwiki", is_title=True
    ),
    _SpellingPattern(re.compile(r"https?://rdf\.freebase\.com/ns/(?P<id>[mg]\.\w+)"), "freebase"),
    _SpellingPattern(re.compile(r"(?:freebase:|fb:)?/?(?P<id>[mg][./]\w{2,})"), "freebase"),
    _SpellingPattern(re.compile(r"(?:UMLS:|umls:)?(?P<id>C\d{7})"), "umls"),
    _SpellingPattern(re.compile(r"(?P<prefix>[A-Za-z][\w.-]*):(?P<id>[A-Za-z]*\d+)"), "{prefix}"),
)
"""Spellings of ids without normal form, in order of precedence: the first pattern that matches a whole id decides."""


def parse_id_key(id: str) -> IdKey | None:
    """Return the key of an id; None if its space cannot be recognised, as for bare titles and user-defined ids.

    Items of Wikidata, pages of Wikipedia and resources of DBpedia are recognised as in scores (`recognise_id`), except
    that an id with a fragment, which names a part of a page, has no key.
    """
    if _ITEM.fullmatch(id):  # the most frequent case
        return IdKey(WIKIDATA, id)
    recognised = recognise_id(id)
    if recognised is None:
        return next(_parse_keys(id.strip()), None)
    if recognised.has_fragment:
        return None
    scheme, _, language = recognised.scheme.partition(" ")
    if scheme == QID:
        return IdKey(WIKIDATA, recognised.normal_form)
    title = recognised.normal_form.partition(_TITLE_MARKS[scheme])[2]
    return make_title_key(f"{language}wiki", title)


def make_title_key(space: str, title: str) -> IdKey:
    """Return the key of a page title in the wiki `space`, such as `enwiki`, with the title in normal form."""
    return IdKey(space, _normalise_title(title, space.removesuffix("wiki")))


def _parse_keys(id: str) -> Iterator[IdKey]:
    """Yield the key of `id` for every spelling pattern that matches, in order of precedence."""
    for spelling in _SPELLING_PATTERNS:
        match = spelling.pattern.fullmatch(id)
        if match is not None:
            groups = {**match.groupdict(default="en")}
            local_id = groups["id"]
            if spelling.is_title:
                local_id = _normalise_title(local_id, groups.get("language", "en"))
            elif spelling.space == "freebase":
                local_id = local_id.replace("/", ".")
            yield IdKey(spelling.space.format(**groups), local_id)


def _normalise_title(text: str, language: str) -> str:
    """Return a page title percent-decoded, in Unicode NFC, with single spaces and a capital first letter.

    `language`: language code of the wiki.
    """
    title = " ".join(normalize("NFC", unquote(text)).replace("_", " ").split())
    return capitalise_letter(title[:1], language) + title[1:]
