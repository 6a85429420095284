"""The labels by which verdicts are filtered and grouped: types, nil, categories and so on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UnknownNameError
from karat.model.items import Lists
from karat.model.scheme import DIMENSIONS
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Longs, Mentions

NONE = "none"
"""The value of a mention that has no value."""

_FIELDS = ("types", "categories", "kind", "difficulty", "nil_cluster")


_ABOVE = {leaf: node for d in DIMENSIONS.values() for node, leaves in d.inner.items() for leaf in leaves}
"""The inner node of the scheme above each leaf that has one."""


class Facet(NamedTuple):
    """The values of one label for each mention; `names[code]` is the value as users see it."""

    lists: Lists
    names: list[str]
    given: bool = True
    """Whether any mention has a value at all."""

    def mask(self, rows: Longs, value: str) -> Bools:
        """Which of the rows have this value."""
        if value not in self.names:
            return np.zeros(len(rows), np.bool_)
        picked = self.lists.take(rows)
        hit = picked.values == self.names.index(value)
        owner = np.repeat(np.arange(len(rows)), np.diff(picked.offsets))
        return np.bincount(owner[hit], minlength=len(rows)) > 0


@dataclass(frozen=True, eq=False)
class Facets:
    """The labels of both sides of a match, each made when it is first asked for.

    Of a block, `known` are labels that say what those of the whole say, and `answered` are the fields that answers
    have values in anywhere.
    """

    labels: Mentions
    answers: Mentions
    known: Mentions | None = None
    answered: frozenset[str] = frozenset()
    _of_gold: dict[str, Facet] = field(default_factory=dict)
    _of_answers: dict[str, Facet] = field(default_factory=dict)

    def of_gold(self, name: str) -> Facet:
        """The values of a label for all gold labels."""
        if name not in self._of_gold:
            self._of_gold[name] = facet(self.labels, name, self._whole)
        return self._of_gold[name]

    def of_answers(self, name: str) -> Facet:
        """The values of a label for all answers."""
        if name not in self._of_answers:
            found = answer_facet(self.answers, name, self._whole)
            carried = {part if part in _FIELDS else "categories" for part in name.split("+")}
            self._of_answers[name] = found._replace(given=found.given or carried <= self.answered)
        return self._of_answers[name]

    def values(self, name: str) -> list[str]:
        """The values of a label in the gold standard."""
        return self.of_gold(name).names if self.known is None else facet(self.known, name, self.known).names

    @property
    def _whole(self) -> Mentions:
        return self.labels if self.known is None else self.known


def known(labels: Mentions) -> list[str]:
    """The labels that a corpus can be grouped by; `doc` is the document itself."""
    return ["doc", "entity", "nil", "optional", "category", *_FIELDS, *_dimensions(labels)]


def _dimensions(labels: Mentions) -> list[str]:
    categories = labels.field("categories")
    if categories is None:
        return []
    values = pc.unique(categories.flatten()).to_pylist()
    return sorted({value.partition(":")[0] for value in values if ":" in value})


def facet(mentions: Mentions, name: str, labels: Mentions) -> Facet:
    """The values of a label for all gold labels or all answers.

    A name that is no field is a dimension of `categories`: of `form:alias` the dimension is `form`. `labels`
    are the gold labels, which decide what dimensions there are.
    """
    if name == "nil":
        codes = np.where(mentions.entity == NIL, 0, np.where(mentions.entity == NO_LINK, 2, 1))
        return Facet(_single(codes), ["true", "false", NONE])
    if name == "optional":
        return Facet(_single(mentions.flag("optional").astype(np.int32)), ["false", "true"])
    if name == "entity":
        codes = np.where(mentions.entity < 0, len(mentions.names) - 1 - mentions.entity, mentions.entity)
        return Facet(_single(codes), [*mentions.names.to_pylist(), "NIL", NONE])
    if name in _FIELDS:
        return _strings(mentions.field(name), len(mentions), "")
    if name == "category":
        return _with_inner(_strings(mentions.field("categories"), len(mentions), ""), "")
    if name in _dimensions(labels):
        return _with_inner(_strings(mentions.field("categories"), len(mentions), f"{name}:"), f"{name}:")
    parts = name.split("+")
    if len(parts) > 1 and set(parts) <= {*_FIELDS, *_dimensions(labels)}:
        return _combined([_strings_of(mentions, part) for part in parts])
    raise UnknownNameError("label to group by", name, known(labels))


def _strings_of(mentions: Mentions, name: str) -> Facet:
    """A field, or a dimension of the categories as they are written."""
    if name in _FIELDS:
        return _strings(mentions.field(name), len(mentions), "")
    return _strings(mentions.field("categories"), len(mentions), f"{name}:")


def _with_inner(found: Facet, prefix: str) -> Facet:
    """The same with the inner nodes of the scheme: a full name is a proper noun too."""
    names = list(found.names)
    further = []
    for code, name in enumerate(found.names):
        node = _ABOVE.get(prefix + name)
        if node is not None:
            inner = node.removeprefix(prefix)
            if inner not in names:
                names.append(inner)
            further.append((code, names.index(inner)))
    if not further:
        return found
    owner = np.repeat(np.arange(len(found.lists.offsets) - 1), np.diff(found.lists.offsets))
    owners, values = [owner], [found.lists.values]
    for code, inner_code in further:
        hit = found.lists.values == code
        owners.append(owner[hit])
        values.append(np.full(int(hit.sum()), inner_code, np.int32))
    pairs = np.unique(np.column_stack([np.concatenate(owners), np.concatenate(values)]), axis=0)
    offsets = np.searchsorted(pairs[:, 0], np.arange(len(found.lists.offsets)))
    return Facet(Lists(offsets, pairs[:, 1].astype(np.int32)), names, found.given)


def _combined(parts: list[Facet]) -> Facet:
    """Combinations of values; a mention with several values in one part, or with none, is in no combination."""
    lone = np.logical_and.reduce([np.diff(part.lists.offsets) == 1 for part in parts])
    columns = [np.array([*part.names, NONE])[part.lists.values[part.lists.offsets[:-1]]] for part in parts]
    joined = ["+".join(row) if NONE not in row else NONE for row in zip(*columns, strict=True)]
    values = pa.array(
        [value if alone else NONE for value, alone in zip(joined, lone.tolist(), strict=True)], pa.string()
    )
    encoded = values.dictionary_encode()
    given = all(part.given for part in parts)
    return Facet(_single(encoded.indices.to_numpy()), encoded.dictionary.to_pylist(), given)


def _single(codes: Arrow) -> Lists:
    return Lists(np.arange(len(codes) + 1), np.asarray(codes, np.int32))


def _strings(column: Arrow | None, count: int, prefix: str) -> Facet:
    """Strings or lists of strings as codes; those with the prefix only, and without it."""
    if column is None:
        return Facet(_single(np.zeros(count)), [NONE], given=False)
    if pa.types.is_list(column.type):
        owner = np.repeat(np.arange(count), column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
        values = column.flatten()
    else:
        owner = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        values = column.drop_null()
    keep = pc.starts_with(values, prefix).to_numpy(zero_copy_only=False)
    owner, values = owner[keep], pc.utf8_slice_codeunits(values.filter(pa.array(keep)), len(prefix))
    encoded = values.dictionary_encode()
    names = [*encoded.dictionary.to_pylist(), NONE]
    bare = np.setdiff1d(np.arange(count), owner)
    owners = np.concatenate([owner, bare])
    codes = np.concatenate([encoded.indices.to_numpy(), np.full(len(bare), len(names) - 1)])
    order = np.argsort(owners, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=count))]).astype(np.int64)
    return Facet(Lists(offsets, codes[order].astype(np.int32)), names)


def answer_facet(answers: Mentions, name: str, labels: Mentions) -> Facet:
    """The values of a label for all answers.

    Few systems give types: an answer without any has all those that the gold standard gives its entity.
    """
    own = facet(answers, name, labels)
    if name != "types" or labels.field("types") is None:
        return own
    known = facet(labels, name, labels)
    names = list(dict.fromkeys([*own.names, *known.names]))
    code = {value: place for place, value in enumerate(names)}
    own_values = np.array([code[value] for value in own.names], np.int32)[own.lists.values]
    by_entity = _types_of_entities(
        labels, known, np.array([code[value] for value in known.names], np.int64), code[NONE]
    )
    both = Lists(
        np.concatenate([own.lists.offsets, own.lists.offsets[-1] + by_entity.offsets[1:]]),
        np.concatenate([own_values, by_entity.values]),
    )
    same = np.append(pc.index_in(answers.names, labels.names).fill_null(-1).to_numpy(zero_copy_only=False), [-1, -1])
    entity = same[answers.entity]
    typed = np.append(np.diff(by_entity.offsets) > 0, False)[entity]
    bare = own_values[own.lists.offsets[:-1]] == code[NONE]
    pick = np.where(bare & typed & (entity >= 0), len(answers) + entity, np.arange(len(answers)))
    return Facet(both.take(pick), names)


def _types_of_entities(labels: Mentions, known: Facet, codes: Longs, none: int) -> Lists:
    """For each entity of the gold standard all types that any label gives it."""
    entity = np.repeat(labels.entity, np.diff(known.lists.offsets)).astype(np.int64)
    value = codes[known.lists.values]
    given = (entity >= 0) & (value != none)
    pairs = np.unique((entity[given] << 32) | value[given])
    counts = np.bincount(pairs >> 32, minlength=len(labels.names))
    return Lists(np.concatenate([[0], np.cumsum(counts)]), (pairs & 0xFFFFFFFF).astype(np.int32))
