"""Anchors in wiki markup: which words lead to which page.

What readers see as text counts: prose, lists, tables, captions. What templates, references, comments and code hold does
not: nobody wrote it as a sentence.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote


class Anchor(NamedTuple):
    """Words of a page that lead to another one, by its title as wikis write it."""

    surface: str
    title: str


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
_BLANKS = re.compile(r"[\s_]+")
_LONGEST: Final = 200  # characters of a surface; longer ones are captions or mistakes


def anchors(text: str, elsewhere: Collection[str]) -> Iterator[Anchor]:
    """The anchors of a text; `elsewhere` are the lower-case names of namespaces, to whose pages no anchor counts."""
    text = prose(text)
    open_at: list[int] = []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] == "[[":
            open_at.append(bracket.end())
        elif open_at:
            start = open_at.pop()
            found = _anchor(text[start : bracket.start()], text, bracket.end(), elsewhere)
            if found is not None:
                yield found


def title_of(written: str) -> str:
    """A title as wikis have it, of whatever leads to it: no section, no `_`, nothing escaped, a capital at first."""
    title = html.unescape(written).partition("#")[0]
    if "%" in title:
        title = unquote(title)
    title = _BLANKS.sub(" ", title).strip().removeprefix(":").strip()
    return title[:1].upper() + title[1:]


def prose(text: str) -> str:
    """A text without what is hidden, and without templates however deep; tables stay."""
    if "<" in text:
        text = _HIDDEN.sub("", text)
    if "{{" not in text:
        return text
    kept, open_now, behind = [], 0, 0
    for brace in _BRACES.finditer(text):
        if brace[0] == "{{":
            if not open_now:
                kept.append(text[behind : brace.start()])
            open_now += 1
        elif open_now:
            open_now -= 1
            behind = brace.end()
    if not open_now:  # a template that is never closed hides the rest
        kept.append(text[behind:])
    return "".join(kept)


def _anchor(inside: str, text: str, end: int, elsewhere: Collection[str]) -> Anchor | None:
    target, bar, surface = inside.partition("|")
    if "[[" in target or "\n" in target or "<" in target or "{" in target:
        return None
    lead, colon, _ = target.partition(":")
    if colon and (not lead.strip() or _BLANKS.sub(" ", lead).strip().lower() in elsewhere):
        return None
    title = title_of(target)
    if not title:
        return None
    if not bar:
        surface = target.strip()
    elif "[[" in surface:
        return None
    trail = _TRAIL.match(text, end)
    surface = _words(surface) + (trail[0] if trail else "")
    return Anchor(surface, title) if surface and len(surface) <= _LONGEST else None


def _words(markup: str) -> str:
    """What readers see of an anchor."""
    if "<" in markup:
        markup = _TAGS.sub("", markup)
    if "''" in markup:
        markup = _QUOTES.sub("", markup)
    if "&" in markup:
        markup = html.unescape(markup)
    return " ".join(markup.split())
