"""The entity vocabulary of a system: the entities that it can predict, as a file of ids or a snapshot."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from karat.kb.catalogue import STARTER, find_snapshot_folder, open_starter
from karat.kb.existence import check_existence
from karat.kb.ids.normal_forms import NORMALISERS
from karat.kb.protocol import KB
from karat.kb.snapshot.manifest import is_snapshot
from karat.kb.snapshot.snapshot import Snapshot
from karat.model.errors import InputError
from karat.model.output.text_layout import format_count
from karat.model.spec.settings.conventions import Ids
from karat.storage.files import Source


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The entities that a system can predict."""

    name: str
    """Name in the manifest of the predictions."""
    digest: str
    """Eight hexadecimal digits that identify the content."""
    ids: frozenset[str] = field(default=frozenset(), repr=False)
    """Ids in normal form; empty if there is a snapshot."""
    snapshot: Snapshot | None = None
    """Snapshot that lists the entities; None if there is a file of ids."""
    _resolved_ids: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def contains(self, ids: Sequence[str], kb: KB | None = None) -> list[bool | None]:
        """Return whether each id, in any spelling, is in the vocabulary; None if an incomplete snapshot cannot tell.

        `kb`: knowledge base by which `ids` were resolved; then the ids of a vocabulary file are resolved by it too.
        """
        if self.snapshot is not None:
            return check_existence(self.snapshot, ids)
        known_ids = self.ids if kb is None else self._collect_resolved_ids(kb)
        return [_normalise(id) in known_ids for id in ids]

    def _collect_resolved_ids(self, kb: KB) -> frozenset[str]:
        """Return the vocabulary's ids and their canonical ids in `kb`, in normal form; cached by its digest."""
        if kb.digest not in self._resolved_ids:
            self._resolved_ids[kb.digest] = self.ids.union(map(_normalise, kb.canonical_ids(sorted(self.ids))))
        return self._resolved_ids[kb.digest]

    @property
    def size(self) -> int:
        """Number of entities."""
        table = None if self.snapshot is None else self.snapshot.get_table("entities")
        return len(self.ids) if table is None else table.rows


_normalise = NORMALISERS[Ids.NORMALISED].normalise


def open_vocabulary(name: str, file: str | None) -> Vocabulary:
    """Open the vocabulary that the manifest of the predictions calls `name`.

    `name` is looked up as an installed snapshot first, then as a snapshot or a file of ids next to the predictions.
    `file`: path of the predictions; None if they were not read from one file, and then only installed snapshots count.
    Raise `InputError` if there is no such vocabulary, or if the file has no ids.
    """
    folder = find_snapshot_folder(name)
    if name == STARTER or folder is not None:
        return _make_snapshot_vocabulary(open_starter() if folder is None else Snapshot.open(folder))
    if file is None:
        raise _missing_error(
            "the predictions",
            name,
            "Name a snapshot, or read the predictions from one file with the vocabulary next to it",
        )
    predictions = Source(file)
    source = predictions.get_child(name) if predictions.is_folder else predictions.get_sibling(name)
    if is_snapshot(Path(source.path)):
        return _make_snapshot_vocabulary(Snapshot.open(Path(source.path)))
    if not source.exists or source.is_folder:
        raise _missing_error(predictions.label, name, "Put the file next to the predictions, or correct their manifest")
    data = source.read_bytes()
    return Vocabulary(name, f"{zlib.crc32(data):08x}", _parse_ids(data, source))


def _make_snapshot_vocabulary(snapshot: Snapshot) -> Vocabulary:
    """Return the vocabulary of all entities of a snapshot."""
    return Vocabulary(snapshot.name, snapshot.digest, snapshot=snapshot)


def _parse_ids(data: bytes, source: Source) -> frozenset[str]:
    """Return the first tab-separated cell of each line in normal form; lines that start with `#` are comments.

    Raise `InputError` if the text is not UTF-8 or has no ids.
    """
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(
            source.label, actual="text that is not UTF-8", expected=_EXPECTED, remedy="Convert the file"
        ) from None
    cells = (line.partition("\t")[0].strip() for line in lines if not line.startswith("#"))
    ids = frozenset(_normalise(cell) for cell in cells if cell)
    if not ids:
        raise InputError(source.label, actual="no id", expected=_EXPECTED, remedy="List the ids of the vocabulary")
    return ids


_EXPECTED = "a file with one id per line (also .gz or .zst), or a snapshot"


def _missing_error(where: str, name: str, remedy: str) -> InputError:
    """Return the error that the vocabulary `name` does not exist."""
    return InputError(where, actual=f"a vocabulary {name!r} that does not exist", expected=_EXPECTED, remedy=remedy)


def format_vocabulary_note(vocabulary: Vocabulary | None) -> str:
    """Return the note on scores by vocabulary: name, digest and size, or that no vocabulary is named (None)."""
    if vocabulary is None:
        return "undecided by vocabulary: the manifest of the predictions names none"
    entities = format_count(vocabulary.size, "entity", "entities")
    return f"vocabulary {vocabulary.name}@{vocabulary.digest}: {entities}"
