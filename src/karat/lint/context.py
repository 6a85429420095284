"""What rules may know besides the documents: tables of a knowledge base, and facts about the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import msgspec

from karat.errors import InputError
from karat.facts.ids import spellings
from karat.kb.opened import open_kb
from karat.kb.pack.manifest import is_pack
from karat.kb.protocol import KB, Standing
from karat.kb.tables import Tables
from karat.model.document import Document, Label
from karat.parsing.lines import columns, lines
from karat.spec.rule import Context
from karat.storage.files import Source

SCHEME = frozenset({"form", "pos", "overlap", "reference"})
"""The dimensions of the fine-grained paper: a label has one tag of each that a corpus uses."""

_SUFFIXES = ("", ".gz", ".zst")
_TABLES = ("entities.tsv", "redirects.tsv", "disambiguation.tsv")


def context_of(
    documents: Sequence[Document],
    *,
    kb: str | None = None,
    redirects: str | None = None,
    types: str | None = None,
    dimensions: Iterable[str] = (),
    skipped: Mapping[str, int] | None = None,
) -> Context:
    """Everything that is known. `kb` is a folder of tables, the others are files."""
    labels = [label for document in documents for label in document.labels]
    used = {tag.partition(":")[0] for label in labels for tag in label.categories if ":" in tag}
    ids = {label.entity for label in labels if isinstance(label.entity, str)}
    base = _Base() if kb is None else _pack(kb, ids) if _is_pack(kb) else _base(kb)
    moved = {**base.redirects, **({} if redirects is None else _redirects(Source(redirects)))}
    return Context(
        known=base.known,
        redirects=moved,
        disambiguation=base.disambiguation,
        types=_types(base.tables, ids, moved),
        names=_names(base.tables, ids),
        whitelist=None if types is None else _whitelist(Source(types)),
        typed=any(label.types for label in labels),
        blanks=_blanks(labels),
        dimensions=(SCHEME & used).union(dimensions),
        skipped=skipped or {},
    )


class _Base(NamedTuple):
    """What a knowledge base says."""

    known: Callable[[str], bool] | None = None
    redirects: Mapping[str, str] = {}
    disambiguation: frozenset[str] = frozenset()
    tables: KB | None = None


def _is_pack(kb: str) -> bool:
    return is_pack(Path(kb)) or not Path(kb).exists()


def _pack(name: str, ids: Set[str]) -> _Base:
    """What a pack says about some ids."""
    kb, listed = open_kb(name), sorted(ids)
    known = kb.has(listed)
    standings = dict(zip(listed, kb.standings(listed), strict=True))
    moved = [id for id in listed if standings[id] is Standing.REDIRECTED]
    return _Base(
        known=None
        if known is None
        else frozenset(id for id, here in zip(listed, known, strict=True) if here).__contains__,
        redirects=dict(zip(moved, kb.canonical(moved), strict=True)),
        disambiguation=frozenset(id for id in listed if standings[id] is Standing.DISAMBIGUATION),
        tables=kb,
    )


def _base(folder: str) -> _Base:
    files = {name: file for name in _TABLES if (file := _file(folder, name)) is not None}
    if not files:
        raise InputError(
            folder,
            found=f"none of {', '.join(_TABLES)}",
            expected="a folder with at least one of them",
            remedy="Check the path",
        )
    tables = open_kb(folder) if files.keys() & {"entities.tsv", "redirects.tsv"} else Tables.of()
    redirects, pages = files.get("redirects.tsv"), files.get("disambiguation.tsv")
    return _Base(
        known=(lambda id: bool((tables.has([id]) or [False])[0])) if "entities.tsv" in files else None,
        redirects={} if redirects is None else _redirects(redirects),
        disambiguation=frozenset() if pages is None else frozenset(_first_column(pages)),
        tables=tables,
    )


def _types(kb: KB | None, ids: Iterable[str], redirects: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The types of each id that has any, in all its spellings, and of what a fix may put in its place."""
    if kb is None:
        return {}
    names = {name for id in ids for name in spellings(id)}
    names |= {name for id in names & redirects.keys() for name in spellings(redirects[id])}
    listed = sorted(names)
    return {id: types for id, types in zip(listed, kb.types(listed), strict=True) if types}


def _names(kb: KB | None, ids: Iterable[str]) -> dict[str, frozenset[str]]:
    """What the entity of each id is called, where that is known, in all spellings of the id."""
    if kb is None:
        return {}
    listed = sorted({name for id in ids for name in spellings(id)})
    both = zip(listed, kb.names(listed), kb.aliases(listed), strict=True)
    found = {id: (aliases or frozenset()) | ({name} if name else set()) for id, name, aliases in both}
    return {id: names for id, names in found.items() if names}


def _blanks(labels: Iterable[Label]) -> bool:
    """Whether titles are written with blanks rather than `_`."""
    bare = [label.entity for label in labels if isinstance(label.entity, str) and "://" not in label.entity]
    return sum(" " in id for id in bare) > sum("_" in id for id in bare)


def _file(folder: str, name: str) -> Source | None:
    """A table of a folder, which may be compressed."""
    return next((Source(str(path)) for end in _SUFFIXES if (path := Path(folder) / f"{name}{end}").exists()), None)


def _redirects(source: Source) -> dict[str, str]:
    """Redirects to the end of their chain: a table of two columns, or one JSON object of strings."""
    pairs, places = _pairs(source)
    tables = Tables.of(redirects=pairs, where=lambda _: places.__getitem__)
    origins = [origin for origin, _ in pairs]
    return dict(zip(origins, tables.canonical(origins), strict=True))


def _pairs(source: Source) -> tuple[list[tuple[str, str]], list[str]]:
    """The rows of a table, and where each stands."""
    if source.opening.lstrip()[:1] == b"{":
        try:
            found = msgspec.json.decode(source.data(), type=dict[str, str])
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            raise _refused(source.label, f"something else ({problem})") from None
        return list(found.items()), [f"{source.label}, {origin!r}" for origin in found]
    rows = [line for line in lines(source) if _is_row(line.text)]
    cells = [columns(line, source, 2, 2) for line in rows]
    return [(origin, target) for origin, target in cells], [f"{source.label}:{line.number}" for line in rows]


def _refused(where: str, found: str) -> InputError:
    return InputError(
        where,
        found=found,
        expected="redirects: two columns (from, to), or one JSON object",
        remedy="Convert the table",
    )


def _first_column(source: Source) -> list[str]:
    return [line.text.split("\t")[0].strip() for line in lines(source) if _is_row(line.text)]


def _is_row(text: str) -> bool:
    return bool(text.strip()) and not text.startswith("#")


def _whitelist(source: Source) -> frozenset[str]:
    found = frozenset(_first_column(source))
    if not found:
        raise InputError(
            source.label, found="no type", expected="a type per line", remedy="Check that this is the file you meant"
        )
    return found
