"""Preparation of linked text as in the paper: non-articles and short sections are excluded, links are updated.

| excluded | recognised by |
|---|---|
| lists | the title starts with `List of` or `Lists of` |
| disambiguation pages | the title ends with `(disambiguation)`, or the knowledge base |
| redirects | the text starts with `#redirect`; a moved article is not a redirect |
| short sections | their names: Bibliography, External Links, References, See Also and so on |
| dead links | no title, or a title that the knowledge base does not have; the section stays |
| links that overlap an earlier one | the longer link stays, since CoNLL cannot represent overlaps |
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from karat.kb.protocol import KB, IdStatus
from karat.protocols.zelda.texts.sections import LinkedSection, SectionLink
from karat.protocols.zelda.texts.title_updates import TitleUpdater

SKIPPED_SECTIONS: Final = frozenset(
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
"""Names of sections with little text, in lower case."""

_NON_ARTICLE: Final = re.compile(r"Lists? of |.*\(disambiguation\)$")
_BATCH: Final = 256
_REDIRECT_LENGTH: Final = 40  # characters that contain the redirect marker


@dataclass(slots=True)
class Preparation:
    """Filter and updater of sections, with counts of what it excluded."""

    kb: KB | None = None
    """Knowledge base that updates titles."""
    counts: Counter[str] = field(default_factory=Counter)
    """Number of excluded sections and links by reason."""
    _updater: TitleUpdater = field(init=False)

    def __post_init__(self) -> None:
        self._updater = TitleUpdater(self.kb)

    def prepare(self, sections: Iterable[LinkedSection]) -> Iterator[LinkedSection | None]:
        """Yield one item for each section, in order: the section with updated links, or None if it is excluded.

        Excluded sections and links are counted in `counts`.
        """
        iterator = iter(sections)
        while batch := list(islice(iterator, _BATCH)):
            articles = self._article_mask(batch)
            old_titles = [link.title for section in batch for link in section.links if link.title is not None]
            titles = dict(zip(old_titles, self._updater.find_current_titles(old_titles), strict=True))
            for section, article in zip(batch, articles, strict=True):
                if not article:
                    self.counts["sections of lists, redirects and disambiguation pages (excluded)"] += 1
                    yield None
                elif section.name.casefold() in SKIPPED_SECTIONS:
                    self.counts["sections with little text, by their names (excluded)"] += 1
                    yield None
                else:
                    yield section._replace(links=tuple(self._prepare_links(section, titles)))

    def _article_mask(self, batch: list[LinkedSection]) -> list[bool]:
        """Return for each section whether its page is an article: no list, redirect or disambiguation page."""
        titles = [title for title in dict.fromkeys(section.title for section in batch) if title is not None]
        statuses: dict[str, IdStatus] = {}
        if self.kb is not None and titles:
            statuses = dict(zip(titles, self.kb.id_statuses(titles), strict=True))
        return [
            not section.text[:_REDIRECT_LENGTH].lstrip().casefold().startswith("#redirect")
            and (section.title is None or _NON_ARTICLE.match(section.title) is None)
            and statuses.get(section.title or "") is not IdStatus.DISAMBIGUATION
            for section in batch
        ]

    def _prepare_links(self, section: LinkedSection, titles: dict[str, str | None]) -> Iterator[SectionLink]:
        """Yield the links to existing pages in text order, with current titles; count excluded links in `counts`.

        `titles` maps each title to its current title, None if dead. Of two overlapping links the longer one stays.
        """
        links: list[SectionLink] = []
        for link in sorted(section.links, key=lambda link: (link.start, -link.end)):
            title = None if link.title is None else titles[link.title]
            if title is None:
                self.counts["dead links (excluded)"] += 1
            elif links and link.start < links[-1].end:
                self.counts["overlapping links (excluded)"] += 1
                if link.end - link.start > links[-1].end - links[-1].start:
                    links[-1] = _update_link(link, title)
            else:
                links.append(_update_link(link, title))
        yield from links


def _update_link(link: SectionLink, title: str) -> SectionLink:
    """Return the link with its current title; a changed title loses the page id."""
    return link if title == link.title else link._replace(title=title, page=None)
