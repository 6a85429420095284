"""Id spaces: whose ids they are, and one key for each however it is written.

A key is `space:local`, such as `enwiki:Berlin`. DBpedia and YAGO name a thing by the title of its page, so that theirs
are keys of that Wikipedia.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

WIKIDATA = "wikidata"


class IdKey(NamedTuple):
    """An id without its spelling: the space that it belongs to, and what it is called there."""

    space: str
    local: str

    def __str__(self) -> str:
        return f"{self.space}:{self.local}"


class _Spelling(NamedTuple):
    """How ids of a space may be written; `space` may use the groups of the pattern, of which `id` is the local id."""

    pattern: re.Pattern[str]
    space: str
    titled: bool = False


_ITEM = re.compile(r"Q[1-9]\d*")
_LANGUAGE = r"(?:(?P<language>[a-z][a-z-]{1,11})\.)?"
_SPELLINGS = (
    _Spelling(re.compile(r"(?:wd:|wikidata:)?(?P<id>[QPL][1-9]\d*)"), WIKIDATA),
    _Spelling(re.compile(r"https?://(?:www\.|m\.)?wikidata\.org/(?:entity|wiki)/(?P<id>[QPL][1-9]\d*)"), WIKIDATA),
    _Spelling(
        re.compile(r"https?://(?P<language>[a-z][a-z-]{1,11})\.(?:m\.)?wikipedia\.org/wiki/(?P<id>[^?#\s][^?#]*)"),
        "{language}wiki",
        titled=True,
    ),
    _Spelling(
        re.compile(
            r"https?://(?P<language>[a-z][a-z-]{1,11})\.(?:m\.)?wikipedia\.org/(?:w/index\.php)?\?curid=(?P<id>\d+)"
        ),
        "{language}wiki-page",
    ),
    _Spelling(
        re.compile(rf"https?://{_LANGUAGE}dbpedia\.org/(?:resource|page)/(?P<id>\S.*)"), "{language}wiki", titled=True
    ),
    _Spelling(re.compile(r"dbr:(?P<id>\S.*)"), "enwiki", titled=True),
    _Spelling(re.compile(r"https?://(?:www\.)?yago-knowledge\.org/resource/(?P<id>\S.*)"), "enwiki", titled=True),
    _Spelling(
        re.compile(r"(?P<language>[a-z][a-z_-]{1,11})wiki:(?P<id>\S.*)", re.DOTALL), "{language}wiki", titled=True
    ),
    _Spelling(re.compile(r"https?://rdf\.freebase\.com/ns/(?P<id>[mg]\.\w+)"), "freebase"),
    _Spelling(re.compile(r"(?:freebase:|fb:)?/?(?P<id>[mg][./]\w{2,})"), "freebase"),
    _Spelling(re.compile(r"(?:UMLS:|umls:)?(?P<id>C\d{7})"), "umls"),
    _Spelling(re.compile(r"(?P<prefix>[A-Za-z][\w.-]*):(?P<id>[A-Za-z]*\d+)"), "{prefix}"),
)
"""The first that fits a whole id holds."""


def key_of(id: str) -> IdKey | None:
    """The key of an id, or None where nobody can tell by looking: it is a title, or a name of the user's own."""
    if _ITEM.fullmatch(id):  # most ids are such
        return IdKey(WIKIDATA, id)
    return next(_keys(id.strip()), None)


def title_key(space: str, title: str) -> IdKey:
    """The key of a title without address."""
    return IdKey(space, _title(title))


def _keys(id: str) -> Iterator[IdKey]:
    for spelling in _SPELLINGS:
        found = spelling.pattern.fullmatch(id)
        if found is not None:
            groups = {**found.groupdict(default="en")}
            local = groups["id"]
            if spelling.titled:
                local = _title(local)
            elif spelling.space == "freebase":
                local = local.replace("/", ".")
            yield IdKey(spelling.space.format(**groups), local)


def _title(text: str) -> str:
    """A title as people write it: blanks for `_`, nothing escaped, and a capital first letter as wikis have it."""
    title = " ".join(unquote(text).replace("_", " ").split())
    return title[:1].upper() + title[1:]
