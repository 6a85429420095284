"""Pages of a wiki as they are exported: XML, from `<page>` to `</page>`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple
from xml.etree import ElementTree

import pyarrow as pa

from karat.errors import InputError
from karat.knowledge.dumps.wikitext import anchors
from karat.storage.dumps import Dump, DumpBlock, DumpError
from karat.storage.staging import Parsed

ENDING: Final = b"</page>\n"

ANCHORS: Final = {"surface": "VARCHAR", "title": "VARCHAR", "count": "BIGINT"}
"""The table of anchors, with the types that SQL has."""

_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_NAMESPACE = re.compile(rb"<namespace\b[^>]*\bkey=\"(-?\d+)\"[^>]*>([^<]*)</namespace>")
_WIKI = re.compile(rb"<dbname>([^<]*)</dbname>")


class WikiPage(NamedTuple):
    """A page of the main namespace that is no redirect."""

    id: int
    title: str
    text: str


@dataclass(frozen=True)
class Articles:
    """A dump of pages: the wiki that it is of, and the names of namespaces that hold no articles."""

    label: str
    wiki: str
    elsewhere: frozenset[str]

    @classmethod
    def of(cls, dump: Dump) -> Articles:
        """What the beginning of a dump says about itself."""
        head = dump.head(ENDING)
        if b"<mediawiki" not in head[:4096]:
            raise InputError(
                dump.label,
                found=repr(head[:40])[1:],
                expected="pages of a wiki, as in PROJECT-DATE-pages-articles-multistream.xml.bz2",
                remedy="Check which file is which",
            )
        wiki = _WIKI.search(head)
        names = {_name(written) for key, written in _NAMESPACE.findall(head) if key != b"0"}
        return cls(dump.label, wiki[1].decode() if wiki else "", frozenset(names) | _EVERYWHERE)

    def anchors(self, block: DumpBlock) -> Parsed:
        """How often which words lead to which title in a block."""
        counts: Counter[str] = Counter()
        found: Counter[tuple[str, str]] = Counter()
        for article in self._articles(block):
            counts["articles"] += 1
            found.update(anchors(article.text, self.elsewhere))
        counts["anchors"] = found.total()
        columns = {
            "surface": pa.array([surface for surface, _ in found], pa.string()),
            "title": pa.array([title for _, title in found], pa.string()),
            "count": pa.array(found.values(), pa.int64()),
        }
        return Parsed({"anchors": pa.table(columns)}, counts)

    def _articles(self, block: DumpBlock) -> Iterator[WikiPage]:
        if block.last and not block.data.rstrip().endswith(b"</mediawiki>"):
            raise DumpError(
                self.label,
                found="an end before </mediawiki>",
                expected="a whole dump",
                remedy="Fetch the file again and repeat the command: it goes on from what was read",
            )
        for found in _PAGE.finditer(block.data):
            try:
                # A page by itself can declare no entities, so none can grow.
                page = ElementTree.fromstring(found[0])
            except ElementTree.ParseError as problem:
                raise InputError(
                    f"{self.label}, before byte {block.point.done:,}",
                    found=f"a page that is no XML ({problem}): {found[0][:60].decode('utf-8', 'replace')!r}",
                    expected="pages as MediaWiki exports them",
                    remedy="Fetch the file again",
                ) from None
            if page.findtext("ns") == "0" and page.find("redirect") is None:
                text = page.findtext("revision/text") or ""
                yield WikiPage(int(page.findtext("id") or 0), page.findtext("title") or "", text)


_EVERYWHERE: Final = frozenset({"file", "image", "category", "template", "help", "portal", "user", "talk", "wikipedia"})
"""Names that every wiki takes, whatever its language."""


def _name(written: bytes) -> str:
    return written.decode("utf-8", "replace").lower().replace("_", " ").strip()
