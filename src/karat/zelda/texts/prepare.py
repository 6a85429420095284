"""Linked text as the paper prepares it: pages and sections that are no text are left out, links are brought up to date.

| what is left out | how it is told |
|---|---|
| lists | the title begins with `List of` or `Lists of` |
| disambiguation pages | the title ends with `(disambiguation)`, or the knowledge base says so |
| redirects | the text begins with `#redirect`; an article that was moved since is none |
| small sections | their names: Bibliography, External Links, References, See Also and so on |
| dead links | no title, or none that the knowledge base has; the section stays |
| links that overlap an earlier one | the longer stays, since CoNLL holds no others |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from karat.kb.protocol import KB, Standing
from karat.zelda.texts.renewal import Renewal
from karat.zelda.texts.sections import LinkedSection, SectionLink

SMALL: Final = frozenset(
    {
        "bibliography",
        "discography",
        "external links",
        "filmography",
        "footnotes",
        "further reading",
        "notes",
        "references",
        "see also",
    }
)
"""Names of sections that hold little text, in small letters."""

_NO_ARTICLE: Final = re.compile(r"Lists? of |.*\(disambiguation\)$")
_BATCH: Final = 256
_REDIRECT: Final = 40  # characters in which a redirect says so


@dataclass(slots=True)
class Preparation:
    """How sections are prepared; `counts` says in words what was left out."""

    kb: KB | None = None
    counts: Counter[str] = field(default_factory=Counter)
    _renewal: Renewal = field(init=False)

    def __post_init__(self) -> None:
        self._renewal = Renewal(self.kb)

    def of(self, sections: Iterable[LinkedSection]) -> Iterator[LinkedSection | None]:
        """Each section as it is used, None where it is left out: what comes has the same places as what is given."""
        every = iter(sections)
        while batch := list(islice(every, _BATCH)):
            articles = self._articles(batch)
            wanted = [link.title for section in batch for link in section.links if link.title is not None]
            titles = dict(zip(wanted, self._renewal.of(wanted), strict=True))
            for section, article in zip(batch, articles, strict=True):
                if not article:
                    self.counts["sections of lists, redirects and disambiguation pages (left out)"] += 1
                    yield None
                elif section.name.casefold() in SMALL:
                    self.counts["sections with little text, by their names (left out)"] += 1
                    yield None
                else:
                    yield section._replace(links=tuple(self._links(section, titles)))

    def _articles(self, batch: list[LinkedSection]) -> list[bool]:
        known = [title for title in dict.fromkeys(section.title for section in batch) if title is not None]
        standings: dict[str, Standing] = {}
        if self.kb is not None and known:
            standings = dict(zip(known, self.kb.standings(known), strict=True))
        return [
            not section.text[:_REDIRECT].lstrip().casefold().startswith("#redirect")
            and (section.title is None or _NO_ARTICLE.match(section.title) is None)
            and standings.get(section.title or "") is not Standing.DISAMBIGUATION
            for section in batch
        ]

    def _links(self, section: LinkedSection, titles: dict[str, str | None]) -> Iterator[SectionLink]:
        """The links that lead somewhere, in the order of the text, of overlapping ones the longest."""
        kept: list[SectionLink] = []
        for link in sorted(section.links, key=lambda link: (link.start, -link.end)):
            title = None if link.title is None else titles[link.title]
            if title is None:
                self.counts["dead links (left out)"] += 1
            elif kept and link.start < kept[-1].end:
                self.counts["links that overlap another one (left out)"] += 1
                if link.end - link.start > kept[-1].end - kept[-1].start:
                    kept[-1] = _renewed(link, title)
            else:
                kept.append(_renewed(link, title))
        yield from kept


def _renewed(link: SectionLink, title: str) -> SectionLink:
    """The link with its new title; a page id belongs to the old one."""
    return link if title == link.title else link._replace(title=title, page=None)
