"""Page dumps of a wiki: exported XML, from `<page>` to `</page>`.

A block is a part of a dump that is parsed on its own.

Anchors are links with their text and target page. Only text that readers see counts: prose, lists, tables, captions.
Templates, references, comments and code do not count.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote
from xml.etree import ElementTree

import pyarrow as pa

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


class Anchor(NamedTuple):
    """A link in a page."""

    surface: str
    """Text of the link."""
    title: str
    """Title of the target page, as wikis write it."""


_HIDDEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>nowiki|pre|math|chem|syntaxhighlight|source|score|timeline|gallery|ref|templatestyles|includeonly)\b"
    r"(?:[^>]*/>|[^>]*>.*?(?:</(?P=tag)\s*>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
_BRACES = re.compile(r"\{\{|\}\}")
_BRACKETS = re.compile(r"\[\[|\]\]")
_TRAIL = re.compile(r"[^\W\d_]+")  # `[[bus]]es` is read as one word
_TAGS = re.compile(r"<[^<>]*>")
_QUOTES = re.compile(r"'{2,}")
_WHITESPACE = re.compile(r"[\s_]+")
_MAX_SURFACE_LENGTH: Final = 200  # characters of a surface; longer ones are captions or mistakes


def iterate_anchors(text: str, other_namespaces: Collection[str]) -> Iterator[Anchor]:
    """Yield the anchors of a page from its wiki markup; anchors that `_parse_anchor` rejects are skipped.

    `other_namespaces`: lower-case names of the namespaces whose links do not count.
    """
    text = strip_hidden_markup(text)
    open_offsets: list[int] = []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] == "[[":
            open_offsets.append(bracket.end())
        elif open_offsets:
            start = open_offsets.pop()
            anchor = _parse_anchor(text[start : bracket.start()], text, bracket.end(), other_namespaces)
            if anchor is not None:
                yield anchor


def normalise_title(target: str) -> str:
    """Return the page title of a link target: no section, spaces for `_`, unescaped, with a capital first letter."""
    title = html.unescape(target).partition("#")[0]
    if "%" in title:
        title = unquote(title)
    title = _WHITESPACE.sub(" ", title).strip().removeprefix(":").strip()
    return title[:1].upper() + title[1:]


def strip_hidden_markup(text: str) -> str:
    """Return wiki markup without comments, hidden tags and templates of any depth; tables stay.

    A template that is never closed hides the rest of the text.
    """
    if "<" in text:
        text = _HIDDEN.sub("", text)
    if "{{" not in text:
        return text
    parts, depth, offset = [], 0, 0
    for brace in _BRACES.finditer(text):
        if brace[0] == "{{":
            if not depth:
                parts.append(text[offset : brace.start()])
            depth += 1
        elif depth:
            depth -= 1
            offset = brace.end()
    if not depth:  # a template that is never closed hides the rest
        parts.append(text[offset:])
    return "".join(parts)


def _parse_anchor(content: str, text: str, end: int, other_namespaces: Collection[str]) -> Anchor | None:
    """Return the anchor with `content` between brackets that close at `end` in `text`; None if it does not count.

    Links to other namespaces, malformed links and long surfaces do not count. Letters that directly follow the brackets
    belong to the surface, as in `[[bus]]es`.
    """
    target, bar, surface = content.partition("|")
    if "[[" in target or "\n" in target or "<" in target or "{" in target:
        return None
    prefix, colon, _ = target.partition(":")
    if colon and (not prefix.strip() or _WHITESPACE.sub(" ", prefix).strip().lower() in other_namespaces):
        return None
    title = normalise_title(target)
    if not title:
        return None
    if not bar:
        surface = target.strip()
    elif "[[" in surface:
        return None
    trail = _TRAIL.match(text, end)
    surface = _strip_inline_markup(surface) + (trail[0] if trail else "")
    return Anchor(surface, title) if surface and len(surface) <= _MAX_SURFACE_LENGTH else None


def _strip_inline_markup(markup: str) -> str:
    """Return the visible text of an anchor: without tags and quotes for emphasis, with HTML entities replaced."""
    if "<" in markup:
        markup = _TAGS.sub("", markup)
    if "''" in markup:
        markup = _QUOTES.sub("", markup)
    if "&" in markup:
        markup = html.unescape(markup)
    return " ".join(markup.split())
