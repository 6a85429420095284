"""In which format a file is: told from its content, or named; where nobody knows it, what it is nearest to."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from karat.data.own_tables import OwnTables
from karat.errors import InputError, KaratError
from karat.parsing.surfaces.columns import suggested
from karat.parsing.surfaces.rows import names_in
from karat.registry import get, names
from karat.spec.format import Format
from karat.storage.files import Source

_READS = (
    "holds_gold",
    "read_corpus",
    "read_run",
    "read_run_on",
    "holds_both",
    "read_both",
    "manifest",
    "corpus_blocks",
)
_OWN = ("karat-jsonl", "karat-parquet")
_NEAREST = 3
_COLUMNS = 12

_SHAPES: Final = {
    "JSON": (".json", ".jsonl"),
    "XML": (".xml",),
    "Turtle": (".ttl",),
    "a table with tabs": (".tsv", ".tab", ".conll", ".gs", ".ann"),
    "a table with commas": (".csv",),
}
"""What a file looks like, and how the names of formats that look so end."""


def formats() -> Iterator[tuple[str, Format]]:
    """All formats by name."""
    for name in names("formats"):
        yield name, get("formats", name, Format)


def recognised(source: Source, forced: str | None, tables: OwnTables) -> Format:
    """The format that is named, or that of a table with the user's columns, or the one that knows the content."""
    if forced is not None:
        chosen = get("formats", forced, Format)
        return _guarded(chosen, forced) if forced.endswith(".py") else chosen
    if (table := tables.format(source)) is not None:
        return table
    if not source.folder:
        for own in _OWN:  # so that Karat's own files do not wait for all other formats to be imported
            format = get("formats", own, Format)
            if format.certain is not None and format.certain(source.opening):
                return format
    found = _known(source)
    if len(found) == 1:
        return found[0][1]
    if found:
        several = ", ".join(f"{known.title} ({name})" for name, known in found)
        raise InputError(
            source.label,
            found=f"content that could be {several}",
            expected=f"one of {several}",
            remedy="Name the format with --gold-format or --answers-format",
        )
    tables.refuse(source)
    raise _unknown(source)


def _guarded(known: Format, name: str) -> Format:
    """The format of a user's own file, of which whatever goes wrong is said in one sentence."""
    given = {field: getattr(known, field) for field in _READS}
    safe: dict[str, Any] = {field: _safe(read, name) for field, read in given.items() if read is not None}
    return replace(known, **safe)


def _safe(read: Callable[..., Any], name: str) -> Callable[..., Any]:
    def called(*given: Any) -> Any:  # noqa: ANN401  # whatever the reader takes and gives
        try:
            return read(*given)
        except KaratError:
            raise
        except Exception as problem:
            where = traceback.extract_tb(problem.__traceback__)[-1]
            at = f"{type(problem).__name__}: {problem}, in line {where.lineno} of {Path(where.filename).name}"
            raise KaratError(f"{name} cannot read this file ({at}). Correct the format.") from problem

    return called


def _known(source: Source) -> list[tuple[str, Format]]:
    if source.folder:
        files = source.names
        return [(name, f) for name, f in formats() if f.recognises_folder is not None and f.recognises_folder(files)]
    found = [(name, known) for name, known in formats() if known.recognises(source.opening)]
    return [(name, known) for name, known in found if not known.loose] or found


def _unknown(source: Source) -> InputError:
    """What to say of something that no format knows: what it is nearest to and why, and what else can be done."""
    if source.folder:
        folders = [f"{known.title} ({name})" for name, known in formats() if known.recognises_folder is not None]
        return InputError(
            source.label,
            found=f"a folder of {len(source.names)} files in no known layout",
            expected=f"one of {', '.join(folders)}",
            remedy="Check the path, or give a file in it",
        )
    near = [f"{one.title} ({one.name}: {one.reason})" for one in nearest(source)]
    columns = [name for name in names_in(source) if name]
    own = f", or say which column is what: --columns {suggested(columns)} ({_shown(columns)})"
    return InputError(
        source.label,
        found=_described(source.opening),
        expected=f"a known format; nearest: {'; '.join(near)}" if near else "a known format",
        remedy="Check the path, or name the format with --gold-format or --answers-format (docs/data.md lists all)"
        + (own if len(columns) > 1 else ""),
    )


def _shown(columns: list[str]) -> str:
    return f"it has {', '.join(name[:30] for name in columns[:_COLUMNS])}{', …' if len(columns) > _COLUMNS else ''}"


class Nearest(NamedTuple):
    """A format that a file may be meant to be in, and why."""

    name: str
    title: str
    reason: str


def nearest(source: Source) -> list[Nearest]:
    """The three formats that a file is most like: by what such files have, by its name, and by what it looks like."""
    shape, found = _shape(source.opening), []
    bare = source.given.removesuffix(".gz").removesuffix(".zst")
    for name, known in formats():
        if known.signs is None:
            continue
        signs = [sign for sign in known.signs if sign.encode() in source.opening]
        called = bare.endswith(known.suffix)
        alike = shape is not None and known.suffix.endswith(_SHAPES[shape])
        if not (signs or called or alike):
            continue
        reasons = [f"it has {', '.join(signs)}"] * bool(signs)
        reasons += [f"its name ends in {known.suffix}"] * called
        reasons += [f"it is {shape}"] * (alike and not reasons)
        share = len(signs) / len(known.signs) if known.signs else 0
        order = (-(2 * share + called + alike), known.write_run is None)  # those that are written are the common ones
        found.append((order, Nearest(name, known.title, " and ".join(reasons))))
    return [one for _, one in sorted(found)[:_NEAREST]]


def _shape(head: bytes) -> str | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    line = start.partition(b"\n")[0]
    if start.startswith((b"{", b"[")):
        return "JSON"
    if start.startswith(b"<?xml") or re.match(rb"<[A-Za-z!]", start):
        return "XML"
    if start.startswith((b"@prefix", b"@base", b"PREFIX", b"<http")):
        return "Turtle"
    return "a table with tabs" if b"\t" in line else "a table with commas" if b"," in line else None


def _described(head: bytes) -> str:
    """What content that nobody recognises looks like."""
    start = head.lstrip()
    if not start:
        return "an empty file"
    if start.startswith(b"["):
        return "one JSON array, where each object belongs on a line of its own (as `jq -c '.[]'` writes them)"
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    return f"content of an unknown format ({start[:40].decode(errors='replace')!r})"
