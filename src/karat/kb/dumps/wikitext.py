"""Anchors in wiki markup: links with their text and target page.

Only text that readers see counts: prose, lists, tables, captions. Templates, references, comments and code do not
count.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote


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
