"""Which dump is which, by the names that they are published under: PROJECT-DATE-TABLE.sql.gz."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from karat.errors import UsageError
from karat.knowledge.dumps.wikidata import WikidataDumps
from karat.knowledge.dumps.wikipedia import WikipediaDumps

_KINDS: Final = {
    "page": r"page\.sql",
    "redirect": r"redirect\.sql",
    "page_props": r"page_props\.sql",
    "pagelinks": r"pagelinks\.sql",
    "linktarget": r"linktarget\.sql",
    "articles": r"pages-articles(?!.*index).*\.xml.*",
    "items": r".*\.json",
}
_WIKI: Final = re.compile(r"[a-z_]+wiki")
_PACKED: Final = r"(?:\.gz|\.bz2|\.zst)?"
_NAME: Final = {
    kind: re.compile(rf"(?:(?P<project>[a-z_]+)-(?:\d+|latest)-)?{written}{_PACKED}")
    for kind, written in _KINDS.items()
}


def wikipedia_dumps(files: Sequence[Path], wiki: str | None = None) -> tuple[WikipediaDumps, str]:
    """The dumps of a Wikipedia among some files, and which one it is."""
    found, projects = _sorted(files, ("page", "redirect", "page_props", "pagelinks", "linktarget", "articles"))
    name = wiki or (projects.pop() if len(projects) == 1 else None)
    if name is not None and not _WIKI.fullmatch(name):
        raise UsageError(f"{name!r} is no name of a Wikipedia. Give one such as enwiki or zh_yuewiki.")
    if name is None:
        said = f"the files are of {', '.join(sorted(projects))}" if projects else "no file says which wiki it is of"
        raise UsageError(f"{said}. Name one with --wiki.")
    page, redirect = (_one(found, kind) for kind in ("page", "redirect"))
    if page is None or redirect is None:
        raise UsageError("a pack of a Wikipedia needs page.sql and redirect.sql. Give both (docs/knowledge.md).")
    props, links, targets = (_one(found, kind) for kind in ("page_props", "pagelinks", "linktarget"))
    return WikipediaDumps(page, redirect, props, links, targets, tuple(found.get("articles", ()))), name


def wikidata_dumps(files: Sequence[Path], wikipedia: Path | None = None) -> WikidataDumps:
    """The dumps of Wikidata among some files."""
    found, _ = _sorted(files, ("items", "page", "redirect"))
    items = _one(found, "items")
    if items is None:
        raise UsageError("a pack of Wikidata needs its JSON dump, wikidata-DATE-all.json.bz2. Give it too.")
    return WikidataDumps(items, _one(found, "page"), _one(found, "redirect"), wikipedia)


def _sorted(files: Sequence[Path], kinds: Iterable[str]) -> tuple[dict[str, list[Path]], set[str]]:
    """The files of each kind, and the projects in their names."""
    found: dict[str, list[Path]] = {}
    projects: set[str] = set()
    for file in files:
        inside = sorted(file.iterdir()) if file.is_dir() else [file]
        for path in inside:
            named = [(kind, match) for kind in kinds if (match := _NAME[kind].fullmatch(path.name))]
            if named:
                kind, match = named[0]
                found.setdefault(kind, []).append(path)
                projects |= {match["project"]} - {None}
            elif not file.is_dir():  # what else lies in a folder is nobody's business
                expected = ", ".join(f"{kind}" for kind in kinds)
                raise UsageError(
                    f"{path.name} is no dump by its name. Give files as they are published ({expected}; "
                    "see docs/knowledge.md)."
                )
    return found, projects


def _one(found: dict[str, list[Path]], kind: str) -> Path | None:
    paths = found.get(kind, [])
    if len(paths) > 1:
        raise UsageError(f"{' and '.join(path.name for path in paths)} are both {kind}. Give one of them.")
    return paths[0] if paths else None
