"""Recognition of dump files by their published names, PROJECT-DATE-TABLE.sql.gz."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from karat.kb.dumps.wikidata import WikidataDumps
from karat.kb.dumps.wikipedia import WikipediaDumps
from karat.model.errors import UsageError

_NAME_ENDINGS: Final = {
    "page": r"page\.sql",
    "redirect": r"redirect\.sql",
    "page_props": r"page_props\.sql",
    "pagelinks": r"pagelinks\.sql",
    "linktarget": r"linktarget\.sql",
    "articles": r"pages-articles(?!.*index).*\.xml.*",
    "items": r".*\.json",
}
_WIKI: Final = re.compile(r"[a-z_]+wiki")
_COMPRESSION: Final = r"(?:\.gz|\.bz2|\.zst)?"
_NAME_PATTERNS: Final = {
    kind: re.compile(rf"(?:(?P<project>[a-z_]+)-(?:\d+|latest)-)?{ending}{_COMPRESSION}")
    for kind, ending in _NAME_ENDINGS.items()
}


def find_wikipedia_dumps(files: Sequence[Path], wiki: str | None = None) -> tuple[WikipediaDumps, str]:
    """Return the dumps of a Wikipedia among files and folders, and the name of the wiki, such as `enwiki`.

    `wiki`: name of the wiki; None to take it from the file names. Raise `UsageError` if the wiki is unclear, a required
    dump is missing, or a file is no dump.
    """
    paths_by_kind, projects = _group_by_kind(
        files, ("page", "redirect", "page_props", "pagelinks", "linktarget", "articles")
    )
    name = wiki or (projects.pop() if len(projects) == 1 else None)
    if name is not None and not _WIKI.fullmatch(name):
        raise UsageError(f"{name!r} is not the name of a Wikipedia. Use a name such as enwiki or zh_yuewiki.")
    if name is None:
        problem = f"the files belong to {', '.join(sorted(projects))}" if projects else "no file name contains a wiki"
        raise UsageError(f"{problem}. Name one with --wiki.")
    page, redirect = (_get_single(paths_by_kind, kind) for kind in ("page", "redirect"))
    if page is None or redirect is None:
        raise UsageError(
            "a snapshot of a Wikipedia needs page.sql and redirect.sql. Pass both (documentation page 'Snapshots')."
        )
    props, links, targets = (_get_single(paths_by_kind, kind) for kind in ("page_props", "pagelinks", "linktarget"))
    return WikipediaDumps(page, redirect, props, links, targets, tuple(paths_by_kind.get("articles", ()))), name


def find_wikidata_dumps(files: Sequence[Path], wikipedia: Path | None = None) -> WikidataDumps:
    """Return the dumps of Wikidata among files and folders; raise `UsageError` if the JSON dump is missing.

    `wikipedia`: folder of a Wikipedia snapshot, which is passed on.
    """
    paths_by_kind, _ = _group_by_kind(files, ("items", "page", "redirect"))
    items = _get_single(paths_by_kind, "items")
    if items is None:
        raise UsageError("a snapshot of Wikidata needs its JSON dump, wikidata-DATE-all.json.bz2. Pass it too.")
    return WikidataDumps(items, _get_single(paths_by_kind, "page"), _get_single(paths_by_kind, "redirect"), wikipedia)


def _group_by_kind(files: Sequence[Path], kinds: Iterable[str]) -> tuple[dict[str, list[Path]], set[str]]:
    """Return the paths of the dumps of each kind, and the projects (such as `enwiki`) in their names.

    Of folders, other files are ignored; a file in `files` that is no dump raises `UsageError`.
    """
    paths_by_kind: dict[str, list[Path]] = {}
    projects: set[str] = set()
    for file in files:
        paths = sorted(file.iterdir()) if file.is_dir() else [file]
        for path in paths:
            matches = [(kind, match) for kind in kinds if (match := _NAME_PATTERNS[kind].fullmatch(path.name))]
            if matches:
                kind, match = matches[0]
                paths_by_kind.setdefault(kind, []).append(path)
                projects |= {match["project"]} - {None}
            elif not file.is_dir():  # other files in a folder are ignored
                expected = ", ".join(f"{kind}" for kind in kinds)
                raise UsageError(
                    f"{path.name} is not the name of a dump. Pass files with their published names ({expected}; "
                    "documentation page 'Snapshots')."
                )
    return paths_by_kind, projects


def _get_single(paths_by_kind: dict[str, list[Path]], kind: str) -> Path | None:
    """Return the only path of a kind; None if there is none. Raise `UsageError` if there are several."""
    paths = paths_by_kind.get(kind, [])
    if len(paths) > 1:
        raise UsageError(f"{' and '.join(path.name for path in paths)} are both {kind}. Pass one of them.")
    return paths[0] if paths else None
