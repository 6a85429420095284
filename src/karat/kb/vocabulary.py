"""The entities that a system can answer with: a file of ids, or a pack."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from karat.errors import InputError
from karat.fitting import counted
from karat.kb.existing import existing
from karat.kb.opened import STARTER, kept, starter
from karat.kb.pack.manifest import is_pack
from karat.kb.pack.pack import Pack
from karat.kb.protocol import KB
from karat.kb.spelling import SPELLINGS
from karat.spec.choices.conventions import Ids
from karat.storage.files import Source


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Ids, in the normal form of their spelling, or a pack."""

    name: str
    digest: str
    ids: frozenset[str] = field(default=frozenset(), repr=False)
    pack: Pack | None = None
    _resolved: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def has(self, ids: Sequence[str], kb: KB | None = None) -> list[bool | None]:
        """Whether each id, however it is written, is in the vocabulary; None where a pack of some entities cannot say.

        With a knowledge base, by which the ids were resolved, so are those of the vocabulary.
        """
        if self.pack is not None:
            return existing(self.pack, ids)
        known = self.ids if kb is None else self._by(kb)
        return [_normal(id) in known for id in ids]

    def _by(self, kb: KB) -> frozenset[str]:
        """The ids as they are, and as a knowledge base resolves them: asked once, for all blocks of a run."""
        if kb.digest not in self._resolved:
            self._resolved[kb.digest] = self.ids.union(map(_normal, kb.canonical(sorted(self.ids))))
        return self._resolved[kb.digest]

    @property
    def size(self) -> int:
        """How many entities there are."""
        table = None if self.pack is None else self.pack.table("entities")
        return len(self.ids) if table is None else table.rows


_normal = SPELLINGS[Ids.NORMALISED].normal


def open_vocabulary(name: str, file: str | None) -> Vocabulary:
    """The vocabulary that a manifest names: a pack of that name, or what lies beside the file of answers."""
    named = kept(name)
    if name == STARTER or named is not None:
        return _of_pack(starter() if named is None else Pack.open(named))
    if file is None:
        raise _missing("the answers", name, "Name a pack, or read the answers from one file that has it beside")
    answers = Source(file)
    place = answers.inside(name) if answers.folder else answers.beside(name)
    if is_pack(Path(place.given)):
        return _of_pack(Pack.open(Path(place.given)))
    if not place.exists or place.folder:
        raise _missing(answers.label, name, "Put the file beside the answers, or correct their manifest")
    data = place.data()
    return Vocabulary(name, f"{zlib.crc32(data):08x}", _listed(data, place))


def _of_pack(pack: Pack) -> Vocabulary:
    return Vocabulary(pack.name, pack.digest, pack=pack)


def _listed(data: bytes, place: Source) -> frozenset[str]:
    """The first cell of each line; lines that begin with `#` are comments."""
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(place.label, found="no text in UTF-8", expected=_EXPECTED, remedy="Write it as such") from None
    cells = (line.partition("\t")[0].strip() for line in lines if not line.startswith("#"))
    found = frozenset(_normal(cell) for cell in cells if cell)
    if not found:
        raise InputError(place.label, found="no id", expected=_EXPECTED, remedy="Write the ids of the vocabulary")
    return found


_EXPECTED = "a file with one id on each line, also .gz or .zst, or a pack"


def _missing(where: str, name: str, remedy: str) -> InputError:
    return InputError(where, found=f"a vocabulary {name!r} that is not there", expected=_EXPECTED, remedy=remedy)


def vocabulary_note(vocabulary: Vocabulary | None) -> str:
    """What scores by vocabulary are made from."""
    if vocabulary is None:
        return "undecided by vocabulary: the manifest of the answers names none"
    entities = counted(vocabulary.size, "entity", "entities")
    return f"vocabulary {vocabulary.name}@{vocabulary.digest}: {entities}"
