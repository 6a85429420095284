"""Which types entities get: those of a whitelist that their classes lead to, mended before and adjusted afterwards.

    Q215627 <tab> Person                    a whitelist: a type in each line, with or without its name
    Q95074 REPLACE_WITH Q215627             an adjustment: who has the one has the other instead
    Q729 MINUS Q215627                      who has both keeps the other only
    ADD wd:Q49084 wdt:P31 wd:Q223393        a correction of what the source says: instance of (P31) or
    REMOVE wd:Q7397 wdt:P279 wd:Q17537576   subclass of (P279)

What stands behind `#` is a comment. Adjustments and corrections hold in the order of their lines.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import InputError, UsageError
from karat.kb.pack.manifest import PackSource
from karat.knowledge.dumps.classes import below
from karat.model.tables.arrow import Arrow
from karat.storage.files import Source, readable

INSTANCE, SUBCLASS = "P31", "P279"


class TypeAdjustment(NamedTuple):
    """What becomes of a type that an entity has: it is replaced, or goes where the entity has the other one too."""

    type: str
    how: str
    other: str


class TypeCorrection(NamedTuple):
    """A statement that the source lacks (`add`), or should not have."""

    add: bool
    id: str
    property: str
    cls: str


@dataclass(frozen=True)
class TypeRules:
    """A whitelist, adjustments and corrections; without a whitelist entities keep the classes that they are of."""

    whitelist: tuple[str, ...] = ()
    adjustments: tuple[TypeAdjustment, ...] = ()
    corrections: tuple[TypeCorrection, ...] = ()
    sources: tuple[PackSource, ...] = ()

    @property
    def wishes(self) -> str:
        """The corrections in a few letters, for they change what is read; nothing without any."""
        if not self.corrections:
            return ""
        return f", corrected by {hashlib.sha256(repr(self.corrections).encode()).hexdigest()[:16]}"

    def corrected(self, property: str, id: str, classes: Iterable[str], counts: Counter[str]) -> list[str]:
        """The classes that an id is said to be of, or below, each once, after what is to be mended."""
        found = dict.fromkeys(classes)
        for correction in self._by_id.get((property, id), ()):
            said = correction.cls in found
            counts["statements corrected" if said != correction.add else "corrections that change nothing"] += 1
            if correction.add:
                found[correction.cls] = None
            else:
                found.pop(correction.cls, None)
        return list(found)

    @cached_property
    def _by_id(self) -> Mapping[tuple[str, str], Sequence[TypeCorrection]]:
        found: dict[tuple[str, str], list[TypeCorrection]] = {}
        for correction in self.corrections:
            found.setdefault((correction.property, correction.id), []).append(correction)
        return MappingProxyType(found)

    def missed(self, known: Iterable[str]) -> Mapping[str, int]:
        """How many corrections are about ids that there are not."""
        there = set(known)
        missed = sum(correction.id not in there for correction in self.corrections)
        return {"corrections about ids that are not there": missed}

    def adjusted(self, types: Iterable[str]) -> list[str]:
        """Types of the whitelist after all adjustments, in order."""
        found = set(types)
        for type, how, other in self.adjustments:
            if type in found and (how == _REPLACE or other in found):
                found.remove(type)
                found.add(other)
        return sorted(found)

    def typing(self, pairs: Arrow) -> WhitelistTyping:
        """How classes lead to types, by pairs (class, superclass), among which may be cycles."""
        return WhitelistTyping(self, below(pairs, self.whitelist))

    def topped(self, pairs: Arrow) -> tuple[Arrow, int]:
        """Pairs (class, superclass) without those above a type of the whitelist, and how many these are.

        Whoever follows superclasses shall find the types again, and no class that an adjustment took away.
        """
        if not self.whitelist:
            return pairs, 0
        kept = pairs.filter(pc.invert(pc.is_in(pairs.column(0), value_set=pa.array(self.whitelist, pa.string()))))
        return kept, pairs.num_rows - kept.num_rows


ABOVE: Final = "superclasses of types of the whitelist, left out"
"""How a manifest calls what `topped` takes away."""


class WhitelistTyping:
    """The types of the whitelist that classes lead to; what was asked once is kept, for many entities are alike."""

    def __init__(self, rules: TypeRules, reached: Mapping[str, Sequence[str]]) -> None:
        self._rules, self._reached = rules, reached
        self._kept: dict[tuple[str, ...], list[str]] = {}
        self.untyped = 0

    def of(self, classes: Iterable[str]) -> list[str]:
        """The types of an entity that is of some classes; none if these lead to no type."""
        key = tuple(classes)
        if key not in self._kept:
            if len(self._kept) > _KEPT:
                self._kept.clear()
            self._kept[key] = self._rules.adjusted(type for one in key for type in self._reached.get(one, ()))
        found = self._kept[key]
        self.untyped += not found
        return found

    def tables(self, tables: Iterable[Arrow]) -> Iterator[Arrow]:
        """Tables of ids with their classes as tables of ids with their types."""
        for table in tables:
            types = pa.array(map(self.of, table.column("types").to_pylist()), pa.list_(pa.string()))
            yield pa.table({"id": table.column("id"), "types": types})


_KEPT: Final = 1 << 16
_REPLACE, _MINUS = "REPLACE_WITH", "MINUS"
_EXPECTED: Final = "'TYPE REPLACE_WITH TYPE', 'TYPE MINUS TYPE', or 'ADD|REMOVE ID P31|P279 CLASS'"


def read_type_rules(whitelist: str | None = None, adjust: Iterable[str] = ()) -> TypeRules:
    """The rules in some files."""
    listed, files = list[str](), dict[str, str]()
    if whitelist is not None:
        for where, line in _lines(whitelist, files):
            type, *more = _bare(line.split("\t")[0]).split()
            if more:
                raise InputError(
                    where, found=repr(line), expected="an id, and behind a tab its name", remedy="Mend the line"
                )
            listed.append(type)
        if not listed:
            raise InputError(whitelist, found="no type", expected="a type in each line", remedy="Check the file")
    adjustments, corrections = list[TypeAdjustment](), list[TypeCorrection]()
    for path in adjust:
        for where, line in _lines(path, files):
            found = _rule(line.split(), where)
            if isinstance(found, TypeCorrection):
                corrections.append(found)
                continue
            if whitelist is None:
                raise UsageError(f"{where} adjusts types of a whitelist. Name one with --types too.")
            wrong = {found.type, *([] if found.how == _REPLACE else [found.other])} - set(listed)
            if wrong:
                raise InputError(
                    where,
                    found=f"{wrong.pop()!r}, which is not in the whitelist",
                    expected="types of the whitelist",
                    remedy=f"Add it to {whitelist}, or delete the line",
                )
            adjustments.append(found)
    sources = (PackSource(f"rules for types in {', '.join(files)}", files=files),) if files else ()
    return TypeRules(tuple(dict.fromkeys(listed)), tuple(adjustments), tuple(corrections), sources)


def _lines(path: str, files: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Every line that says something, with where it stands; the fingerprint of the file is noted."""
    source = Source(path)
    data = source.data()
    files[readable(Path(path).name)] = hashlib.sha256(data).hexdigest()
    for number, raw in enumerate(data.split(b"\n"), 1):
        where = f"{source.label}:{number}"
        try:
            line = raw.decode().partition("#")[0].strip()
        except UnicodeDecodeError:
            raise InputError(
                where, found="bytes that are not UTF-8", expected="UTF-8", remedy="Convert the file"
            ) from None
        if line:
            yield where, line


def _rule(words: Sequence[str], where: str) -> TypeAdjustment | TypeCorrection:
    words = [_bare(word) for word in words]
    if len(words) == 3 and words[1] in (_REPLACE, _MINUS):
        return TypeAdjustment(*words)
    if len(words) == 4 and words[0] in ("ADD", "REMOVE") and words[2] in (INSTANCE, SUBCLASS):
        return TypeCorrection(words[0] == "ADD", *words[1:])
    raise InputError(where, found=repr(" ".join(words)), expected=_EXPECTED, remedy="Mend the line, or delete it")


def _bare(word: str) -> str:
    """An id without the prefix that SPARQL has for it."""
    return word.strip().removeprefix("wdt:").removeprefix("wd:")
