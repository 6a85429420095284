"""Broken files of an archive: shown by every page, written into a report."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random

import msgspec

from karat.analysis.comparison.entries import entry_from_run
from karat.evaluation.request import Request
from karat.storage.content_store import SUFFIX_BY_KIND, FolderStore, MemoryStore, content_digest
from karat.web.archive.archive import Archive
from karat.web.archive.case_search import CaseQuery, search_cases
from karat.web.archive.resource import build_resource, list_resources
from karat.web.archive.submissions import ArchiveOptions, add_results
from tests.fuzzing import samples as sound
from tests.fuzzing.harness import Files, Target, attempt, command
from tests.fuzzing.mutations import edited, revalued


@cache
def archive_files() -> dict[tuple[str, str], bytes]:
    """A small archive: files by kind and digest."""
    store = MemoryStore()
    options = ArchiveOptions(("gerbil", "karat"), ("gerbil",), 20)
    add_results(store, [entry_from_run(sound.CORPUS, sound.RUN)], Request.from_options(by=["types"]), options)
    return dict(store.files)


def replace_file(old: tuple[str, str], data: bytes) -> dict[tuple[str, str], bytes]:
    """The archive with one file replaced, under its new digest in all files that name it."""
    files = dict(archive_files())
    del files[old]
    kind, digest = old
    renamed = {digest: content_digest(data)}
    files[kind, renamed[digest]] = data
    for parent in ("entries", "submissions"):
        for (other_kind, name), content in list(files.items()):
            if other_kind != parent or (other_kind, name) == (kind, renamed[digest]):
                continue
            new = content
            for before, after in renamed.items():
                new = new.replace(before.encode(), after.encode())
            if new != content:
                del files[other_kind, name]
                renamed[name] = content_digest(new)
                files[other_kind, renamed[name]] = new
    return files


_SEARCHED = {"verdicts", "entries", "submissions", "texts"}
"""Kinds of files that searches and counts of entities read; DuckDB takes half of the time of an input."""


def make_archive(random: Random) -> Files:
    """One broken file of the archive; its name says which one it replaces."""
    index = random.randrange(len(archive_files()))
    (kind, _), data = list(archive_files().items())[index]
    return {f"{kind}.{index}": random.choice((edited, revalued, revalued, revalued))(data, random)}


def read_archive(folder: Path, random: Random) -> bool:
    """All resources of a broken archive, and its report."""
    (path,) = folder.iterdir()
    kind, digest = list(archive_files())[int(path.name.partition(".")[2])]
    root = folder / "archive"
    store = FolderStore.open_or_create(str(root))
    if random.random() < 0.9:
        for (other_kind, _), data in replace_file((kind, digest), path.read_bytes()).items():
            store.put(other_kind, data)
    else:  # the file no longer matches its name
        for (other_kind, _), data in archive_files().items():
            store.put(other_kind, data)
        (root / kind / f"{digest}{SUFFIX_BY_KIND[kind]}").write_bytes(path.read_bytes())
    archive = Archive(store, random.choice(("all", "sentences", "none")))
    names = attempt(lambda: list(list_resources(archive)))
    if not isinstance(names, list):
        return False
    is_whole = True
    for name in names:
        if name == "entities" and kind not in _SEARCHED:
            continue
        built = attempt(lambda name=name: build_resource(archive, name))  # type: ignore[misc]
        if isinstance(built, bytes):
            json.loads(built)
        is_whole &= built is not None
    if find_spec("duckdb") and kind in _SEARCHED:
        query = CaseQuery(random.choice((None, "Q1")), random.choice((None, "Ada")), limit=random.choice((1, 100)))
        attempt(lambda: search_cases(archive, query))
    if random.random() < 0.1:
        command("report", root, "--out", folder / "r.html")
    return is_whole


def make_layout(random: Random) -> Files:
    return {
        "archive.json": random.choice((edited, revalued))(msgspec.json.encode({"layout": "karat-archive/2"}), random)
    }


def read_layout(folder: Path, random: Random) -> bool:
    """An archive with another layout file."""
    root = folder / "archive"
    (root / "entries").mkdir(parents=True)
    (root / "archive.json").write_bytes((folder / "archive.json").read_bytes())
    return attempt(lambda: FolderStore.open_or_create(str(root))) is not None


TARGETS = {
    "archive": Target(8, make_archive, read_archive),
    "layout of an archive": Target(1, make_layout, read_layout),
}
