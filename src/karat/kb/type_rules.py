"""Rules that assign types to entities: a whitelist of types, adjustments of the result, and corrections of the source.

    Q215627 <tab> Person                    whitelist: one type per line, optionally with its name
    Q95074 REPLACE_WITH Q215627             adjustment: an entity with the first type gets the second instead
    Q729 MINUS Q215627                      adjustment: an entity with both types keeps only the second
    ADD wd:Q49084 wdt:P31 wd:Q223393        correction: add or remove an instance-of (P31) or
    REMOVE wd:Q7397 wdt:P279 wd:Q17537576   subclass-of (P279) statement

Text after `#` is a comment. Adjustments and corrections apply in the order of their lines.
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

from karat.kb.dumps.class_graph import find_types_above
from karat.kb.snapshot.manifest import SnapshotSource
from karat.kb.type_names import WHITELISTS
from karat.model.errors import InputError, UsageError
from karat.model.tables.arrow import Arrow
from karat.storage.files import Source, printable_path

INSTANCE_OF, SUBCLASS_OF = "P31", "P279"


class TypeAdjustment(NamedTuple):
    """A rule that replaces or removes a type of an entity."""

    type: str
    """Type that the entity has."""
    operation: str
    """`REPLACE_WITH`: `other` replaces `type`. `MINUS`: `type` is removed if the entity also has `other`."""
    other: str
    """Second type of the rule."""


class TypeCorrection(NamedTuple):
    """A correction of one instance-of or subclass-of statement of the source."""

    is_addition: bool
    """Whether the statement is added; otherwise it is removed."""
    id: str
    """Entity or class that the statement is about."""
    property: str
    """`P31` (instance of) or `P279` (subclass of)."""
    cls: str
    """Class that the statement names."""


@dataclass(frozen=True)
class TypeRules:
    """Rules that assign types to entities; without a whitelist, entities have the classes of the source as types."""

    whitelist: tuple[str, ...] = ()
    """Types that entities can get."""
    adjustments: tuple[TypeAdjustment, ...] = ()
    """Changes of the resulting types, in order."""
    corrections: tuple[TypeCorrection, ...] = ()
    """Corrections of the source, in order."""
    sources: tuple[SnapshotSource, ...] = ()
    """Files of the rules, for the manifest of a snapshot."""

    @property
    def fingerprint(self) -> str:
        """Text with a hash of the corrections, which change what is read from a dump; empty without corrections."""
        if not self.corrections:
            return ""
        return f", corrected by {hashlib.sha256(repr(self.corrections).encode()).hexdigest()[:16]}"

    def correct_classes(self, property: str, id: str, classes: Iterable[str], counts: Counter[str]) -> list[str]:
        """Return the classes that `id` is an instance or a subclass of, by `property`, after the corrections.

        `property`: `P31` (instance of) or `P279` (subclass of). `classes`: classes in the source. Each class is
        returned once. The numbers of effective and of ineffective corrections are added to `counts`.
        """
        result = dict.fromkeys(classes)
        for correction in self._corrections_by_id.get((property, id), ()):
            is_present = correction.cls in result
            counts[
                "statements corrected" if is_present != correction.is_addition else "corrections that change nothing"
            ] += 1
            if correction.is_addition:
                result[correction.cls] = None
            else:
                result.pop(correction.cls, None)
        return list(result)

    @cached_property
    def _corrections_by_id(self) -> Mapping[tuple[str, str], Sequence[TypeCorrection]]:
        """Corrections by property and id, in order."""
        corrections: dict[tuple[str, str], list[TypeCorrection]] = {}
        for correction in self.corrections:
            corrections.setdefault((correction.property, correction.id), []).append(correction)
        return MappingProxyType(corrections)

    def count_unused_corrections(self, ids: Iterable[str]) -> Mapping[str, int]:
        """Return the number of corrections about ids not among `ids`, under its description in a manifest."""
        known_ids = set(ids)
        n_unused = sum(correction.id not in known_ids for correction in self.corrections)
        return {"corrections about unknown ids": n_unused}

    def adjust_types(self, types: Iterable[str]) -> list[str]:
        """Apply all adjustments, in order, to whitelist types of one entity; return its new types, sorted."""
        result = set(types)
        for type, operation, other in self.adjustments:
            if type in result and (operation == _REPLACE or other in result):
                result.remove(type)
                result.add(other)
        return sorted(result)

    def make_whitelist_typing(self, pairs: Arrow) -> WhitelistTyping:
        """Build the assignment of whitelist types from an Arrow table of pairs (class, superclass).

        The pairs may contain cycles.
        """
        return WhitelistTyping(self, find_types_above(pairs, self.whitelist))

    def cut_above_whitelist(self, pairs: Arrow) -> tuple[Arrow, int]:
        """Return pairs (class, superclass) without superclasses of whitelist types, and the number of removed pairs.

        `pairs`: Arrow table with two columns. Following the remaining pairs ends at the whitelist and never reaches a
        class that an adjustment removed. Without a whitelist, all pairs remain.
        """
        if not self.whitelist:
            return pairs, 0
        result = pairs.filter(pc.invert(pc.is_in(pairs.column(0), value_set=pa.array(self.whitelist, pa.string()))))
        return result, pairs.num_rows - result.num_rows


CUT_SUPERCLASSES: Final = "superclasses of whitelist types, skipped"
"""Description of the pairs that `cut_above_whitelist` removes, in a manifest."""


class WhitelistTyping:
    """Assignment of whitelist types to entities by their classes; `n_untyped` counts entities without type."""

    def __init__(self, rules: TypeRules, types_by_class: Mapping[str, Sequence[str]]) -> None:
        self._rules, self._types_by_class = rules, types_by_class
        self._cache: dict[tuple[str, ...], list[str]] = {}
        self.n_untyped = 0

    def find_types(self, classes: Iterable[str]) -> list[str]:
        """Return the sorted whitelist types of an entity with these classes; add 1 to `n_untyped` if it has none."""
        key = tuple(classes)
        if key not in self._cache:
            if len(self._cache) > _MAX_CACHED:
                self._cache.clear()
            self._cache[key] = self._rules.adjust_types(
                type for cls in key for type in self._types_by_class.get(cls, ())
            )
        types = self._cache[key]
        self.n_untyped += not types
        return types

    def convert_type_tables(self, tables: Iterable[Arrow]) -> Iterator[Arrow]:
        """Yield tables (id, types) in which whitelist types replace the classes in the column `types`."""
        for table in tables:
            types = pa.array(map(self.find_types, table.column("types").to_pylist()), pa.list_(pa.string()))
            yield pa.table({"id": table.column("id"), "types": types})


_MAX_CACHED: Final = 1 << 16
_REPLACE, _MINUS = "REPLACE_WITH", "MINUS"
_EXPECTED: Final = "'TYPE REPLACE_WITH TYPE', 'TYPE MINUS TYPE', or 'ADD|REMOVE ID P31|P279 CLASS'"


def read_type_rules(whitelist: str | None = None, rule_files: Iterable[str] = ()) -> TypeRules:
    """Read type rules from a whitelist, by file or by name in `WHITELISTS`, and files of adjustments and corrections.

    Raise `InputError` on an invalid line or a type outside the whitelist, and `UsageError` on an adjustment without a
    whitelist.
    """
    types, files = list[str](), dict[str, str]()
    if whitelist is not None and whitelist in WHITELISTS:
        types = list(WHITELISTS[whitelist])
        files[whitelist] = hashlib.sha256("\n".join(types).encode()).hexdigest()
    elif whitelist is not None:
        for where, line in _iterate_lines(whitelist, files):
            type, *more = _strip_prefix(line.split("\t")[0]).split()
            if more:
                raise InputError(
                    where,
                    actual=repr(line),
                    expected="an id, optionally with a tab and its name",
                    remedy="Correct the line",
                )
            types.append(type)
        if not types:
            raise InputError(whitelist, actual="no type", expected="one type per line", remedy="Check the file")
    adjustments, corrections = list[TypeAdjustment](), list[TypeCorrection]()
    for path in rule_files:
        for where, line in _iterate_lines(path, files):
            rule = _parse_rule(line.split(), where)
            if isinstance(rule, TypeCorrection):
                corrections.append(rule)
                continue
            if whitelist is None:
                raise UsageError(f"{where}: an adjustment needs a whitelist. Add --types FILE.")
            unknown_types = {rule.type, *([] if rule.operation == _REPLACE else [rule.other])} - set(types)
            if unknown_types:
                raise InputError(
                    where,
                    actual=f"{unknown_types.pop()!r}, which is not in the whitelist",
                    expected="types of the whitelist",
                    remedy=f"Add it to {whitelist}, or delete the line",
                )
            adjustments.append(rule)
    sources = (SnapshotSource(f"rules for types in {', '.join(files)}", files=files),) if files else ()
    return TypeRules(tuple(dict.fromkeys(types)), tuple(adjustments), tuple(corrections), sources)


def _iterate_lines(path: str, files: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the location and text of each line that is not blank or a comment; store the file's SHA-256 in `files`.

    `files`: SHA-256 by file name.
    """
    source = Source(path)
    data = source.read_bytes()
    files[printable_path(Path(path).name)] = hashlib.sha256(data).hexdigest()
    for number, raw in enumerate(data.split(b"\n"), 1):
        where = f"{source.label}:{number}"
        try:
            line = raw.decode().partition("#")[0].strip()
        except UnicodeDecodeError:
            raise InputError(
                where, actual="bytes that are not UTF-8", expected="UTF-8", remedy="Convert the file"
            ) from None
        if line:
            yield where, line


def _parse_rule(words: Sequence[str], where: str) -> TypeAdjustment | TypeCorrection:
    """Return the adjustment or correction in the words of a line; raise `InputError` at `where` if it is neither."""
    words = [_strip_prefix(word) for word in words]
    if len(words) == 3 and words[1] in (_REPLACE, _MINUS):
        return TypeAdjustment(*words)
    if len(words) == 4 and words[0] in ("ADD", "REMOVE") and words[2] in (INSTANCE_OF, SUBCLASS_OF):
        return TypeCorrection(words[0] == "ADD", *words[1:])
    raise InputError(where, actual=repr(" ".join(words)), expected=_EXPECTED, remedy="Correct the line, or delete it")


def _strip_prefix(word: str) -> str:
    """Return an id without surrounding whitespace and its SPARQL prefix, `wd:` or `wdt:`."""
    return word.strip().removeprefix("wdt:").removeprefix("wd:")
