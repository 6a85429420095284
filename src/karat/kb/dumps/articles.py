"""Page dumps of a wiki: exported XML, from `<page>` to `</page>`.

A block is a part of a dump that is parsed on its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple
from xml.etree import ElementTree

import pyarrow as pa

from karat.kb.dumps.wikitext import iterate_anchors
from karat.model.errors import InputError
from karat.storage.dump_stage import ParsedBlock
from karat.storage.dumps import Dump, DumpBlock, DumpError

PAGE_END: Final = b"</page>\n"
"""Mark at which a dump can be split into blocks."""

ANCHOR_COLUMNS: Final = {"surface": "VARCHAR", "title": "VARCHAR", "count": "BIGINT"}
"""Columns of the table of anchors, with their SQL types."""

_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_NAMESPACE = re.compile(rb"<namespace\b[^>]*\bkey=\"(-?\d+)\"[^>]*>([^<]*)</namespace>")
_WIKI = re.compile(rb"<dbname>([^<]*)</dbname>")


class WikiPage(NamedTuple):
    """A page of the main namespace that is no redirect."""

    id: int
    """Page number."""
    title: str
    """Page title."""
    text: str
    """Wiki markup of the page."""


@dataclass(frozen=True)
class ArticleDump:
    """The header of a page dump, and the methods that parse its blocks."""

    label: str
    """File name in messages."""
    wiki: str
    """Name of the wiki, such as `enwiki`."""
    other_namespaces: frozenset[str]
    """Lower-case names of the namespaces that hold no articles."""

    @classmethod
    def from_dump(cls, dump: Dump) -> ArticleDump:
        """Read the header of a page dump; raise `InputError` if the file is none."""
        head = dump.read_head(PAGE_END)
        if b"<mediawiki" not in head[:4096]:
            raise InputError(
                dump.label,
                actual=repr(head[:40])[1:],
                expected="pages of a wiki, as in PROJECT-DATE-pages-articles-multistream.xml.bz2",
                remedy="Check which file is which",
            )
        wiki = _WIKI.search(head)
        names = {_normalise_namespace(name) for key, name in _NAMESPACE.findall(head) if key != b"0"}
        return cls(dump.label, wiki[1].decode() if wiki else "", frozenset(names) | _COMMON_NAMESPACES)

    def count_anchors(self, block: DumpBlock) -> ParsedBlock:
        """Return a table of the anchors in a block, counted by surface and title, and how many articles and anchors.

        Raise as `_iterate_articles` does.
        """
        counts: Counter[str] = Counter()
        anchor_counts: Counter[tuple[str, str]] = Counter()
        for article in self._iterate_articles(block):
            counts["articles"] += 1
            anchor_counts.update(iterate_anchors(article.text, self.other_namespaces))
        counts["anchors"] = anchor_counts.total()
        columns = {
            "surface": pa.array([surface for surface, _ in anchor_counts], pa.string()),
            "title": pa.array([title for _, title in anchor_counts], pa.string()),
            "count": pa.array(anchor_counts.values(), pa.int64()),
        }
        return ParsedBlock({"anchors": pa.table(columns)}, counts)

    def _iterate_articles(self, block: DumpBlock) -> Iterator[WikiPage]:
        """Yield the articles in a block: pages of the main namespace that are no redirects.

        Raise `DumpError` if the dump ends too early, and `InputError` if a page is invalid XML.
        """
        if block.is_last and not block.data.rstrip().endswith(b"</mediawiki>"):
            raise DumpError(
                self.label,
                actual="an end before </mediawiki>",
                expected="a complete dump",
                remedy="Download the file again and repeat the command: it resumes from there",
            )
        for match in _PAGE.finditer(block.data):
            try:
                # A single page cannot declare XML entities, so no entity expansion is possible.
                page = ElementTree.fromstring(match[0])
            except ElementTree.ParseError as problem:
                raise InputError(
                    f"{self.label}, before byte {block.point.n_done:,}",
                    actual=f"a page that is not XML ({problem}): {match[0][:60].decode('utf-8', 'replace')!r}",
                    expected="pages as MediaWiki exports them",
                    remedy="Download the file again",
                ) from None
            if page.findtext("ns") == "0" and page.find("redirect") is None:
                text = page.findtext("revision/text") or ""
                yield WikiPage(int(page.findtext("id") or 0), page.findtext("title") or "", text)


_COMMON_NAMESPACES: Final = frozenset(
    {"file", "image", "category", "template", "help", "portal", "user", "talk", "wikipedia"}
)
"""Namespace names that every wiki accepts, in any language."""


def _normalise_namespace(name: bytes) -> str:
    """Return the name of a namespace in lower case, with spaces for `_`."""
    return name.decode("utf-8", "replace").lower().replace("_", " ").strip()
