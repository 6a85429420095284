"""The labels by which verdicts are filtered and grouped: types, nil, categories, what documents are, and so on."""

from __future__ import annotations

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.errors import UnknownNameError
from karat.model.corpus import Corpus, said_of
from karat.model.items import Lists
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs, Mentions
from karat.model.tables.facet import NONE, Facet, combined, strings, with_inner
from karat.registry import get, names
from karat.spec.grouping import Grouping

META = "meta."
"""What the names of labels begin with that are keys in the metadata of documents."""


class Facets(msgspec.Struct, frozen=True, eq=False):
    """The labels of both sides of a match that mentions carry, each read when it is first asked for.

    Of a block, `known` are labels that say what those of the whole say, and `answered` are the fields that answers
    have values in anywhere.
    """

    labels: Mentions
    answers: Mentions
    known: Mentions | None = None
    answered: frozenset[str] = frozenset()
    _of_gold: dict[str, Facet] = msgspec.field(default_factory=dict)
    _of_answers: dict[str, Facet] = msgspec.field(default_factory=dict)

    def of_gold(self, name: str) -> Facet:
        """The values of a label for all gold labels."""
        if name not in self._of_gold:
            self._of_gold[name] = facet(self.labels, name, self.whole)
        return self._of_gold[name]

    def of_answers(self, name: str) -> Facet:
        """The values of a label for all answers."""
        if name not in self._of_answers:
            found = answer_facet(self.answers, name, self.whole)
            carried = {own.field or "categories" for own in _parts(name, self.whole)}
            self._of_answers[name] = found._replace(given=found.given or carried <= self.answered)
        return self._of_answers[name]

    def values(self, name: str) -> list[str]:
        """The values of a label in the gold standard."""
        return self.of_gold(name).names if self.known is None else facet(self.known, name, self.known).names

    @property
    def whole(self) -> Mentions:
        """The labels that decide what dimensions there are."""
        return self.labels if self.known is None else self.known


def label_names(labels: Mentions) -> list[str]:
    """The labels that scores of a corpus can be grouped by: those there always are, and its own dimensions."""
    return [*names("labels"), *dimension_names(labels), f"{META}KEY"]


def label_named(name: str, labels: Mentions) -> Grouping:
    """A label by its name: a plugin, a dimension of the categories that `labels` have, or several joined by `+`.

    Of `form:Alias` the dimension is `form`. `meta.KEY` is what the metadata of documents say under a key.
    """
    found = _plain(name, labels)
    if found is not None:
        return found
    parts = _parts(name, labels)
    if len(parts) > 1 and all(part.field is not None for part in parts):
        fields = [(part.field or "", each) for part, each in zip(parts, name.split("+"), strict=True)]
        return Grouping(name, f"Combinations of {name}.", carried=lambda m: _together(m, fields), whole="always")
    raise UnknownNameError("label to group by", name, label_names(labels))


def _plain(name: str, labels: Mentions) -> Grouping | None:
    if (own := _own(name)) is not None:
        return own
    return _dimension(name) if name in dimension_names(labels) else None


def _own(name: str) -> Grouping | None:
    """A label that there is whatever a gold standard has."""
    if (plugin := name.replace("_", "-")) in names("labels"):
        return get("labels", plugin, Grouping)
    return _of_meta(name) if name.startswith(META) and len(name) > len(META) else None


def document_label(name: str) -> Grouping | None:
    """A label of documents by its name, None if it is one of mentions."""
    own = _own(name)
    return own if own is not None and own.documents is not None else None


def _parts(name: str, labels: Mentions) -> list[Grouping]:
    """The labels that a name joins; none where it names something else."""
    found = [_plain(part, labels) for part in name.split("+")]
    return [] if None in found else [part for part in found if part is not None]


def dimension_names(labels: Mentions) -> list[str]:
    """The dimensions of the categories that labels have."""
    categories = labels.field("categories")
    if categories is None:
        return []
    values = pc.unique(categories.flatten()).to_pylist()
    return sorted({value.partition(":")[0] for value in values if ":" in value})


def _of_meta(name: str) -> Grouping:
    key = name.removeprefix(META)
    return Grouping(name, f"What documents say under {key}.", documents=lambda table, _: said_of(table, (key,)))


def _dimension(name: str) -> Grouping:
    head = f"{name}:"
    return Grouping(
        name,
        f"The categories of the dimension {name}.",
        carried=lambda m: with_inner(strings(m.field("categories"), len(m), head), head),
        field="categories",
        whole="always",
    )


def _together(mentions: Mentions, fields: list[tuple[str, str]]) -> Facet:
    """Combinations of fields, and of dimensions of the categories as they are written."""
    read = [(mentions.field(field), "" if field == name.replace("-", "_") else f"{name}:") for field, name in fields]
    return combined([strings(column, len(mentions), head) for column, head in read])


def facet(mentions: Mentions, name: str, labels: Mentions) -> Facet:
    """The values of a label for all gold labels or all answers; `labels` are the gold labels (see `label_named`)."""
    carried = label_named(name, labels).carried
    if carried is None:
        raise UnknownNameError("label to group by", name, label_names(labels))
    return carried(mentions)


def gold_facet(corpus: Corpus, name: str) -> Facet:
    """The values of a label for all gold labels of a corpus, whether they carry it or their documents do."""
    column = of_documents(corpus, name)
    if column is None:
        return facet(corpus.labels, name, corpus.labels)
    return strings(column.take(pa.array(corpus.labels.document)), len(corpus.labels))


def of_documents(corpus: Corpus, name: str) -> Arrow | None:
    """The value that each document has of a label, null where it has none; None if it is no label of documents."""
    label = document_label(name)
    return None if label is None or label.documents is None else label.documents(corpus.table, corpus.about)


def answer_facet(answers: Mentions, name: str, labels: Mentions) -> Facet:
    """The values of a label for all answers.

    Few systems give types: an answer without any has all those that the gold standard gives its entity.
    """
    label, own = label_named(name, labels), facet(answers, name, labels)
    if not label.borrowed or label.field is None or labels.field(label.field) is None:
        return own
    known = facet(labels, name, labels)
    names = list(dict.fromkeys([*own.names, *known.names]))
    code = {value: place for place, value in enumerate(names)}
    own_values = np.array([code[value] for value in own.names], np.int32)[own.lists.values]
    by_entity = _values_of_entities(
        labels, known, np.array([code[value] for value in known.names], np.int64), code[NONE]
    )
    both = Lists(
        np.concatenate([own.lists.offsets, own.lists.offsets[-1] + by_entity.offsets[1:]]),
        np.concatenate([own_values, by_entity.values]),
    )
    same = np.append(pc.index_in(answers.names, labels.names).fill_null(-1).to_numpy(zero_copy_only=False), [-1, -1])
    entity = same[answers.entity]
    given = np.append(np.diff(by_entity.offsets) > 0, False)[entity]
    bare = own_values[own.lists.offsets[:-1]] == code[NONE]
    pick = np.where(bare & given & (entity >= 0), len(answers) + entity, np.arange(len(answers)))
    return Facet(both.take(pick), names)


def _values_of_entities(labels: Mentions, known: Facet, codes: Longs, none: int) -> Lists:
    """For each entity of the gold standard all values that any label gives it."""
    entity = np.repeat(labels.entity, np.diff(known.lists.offsets)).astype(np.int64)
    value = codes[known.lists.values]
    given = (entity >= 0) & (value != none)
    pairs = np.unique((entity[given] << 32) | value[given])
    counts = np.bincount(pairs >> 32, minlength=len(labels.names))
    return Lists(np.concatenate([[0], np.cumsum(counts)]), (pairs & 0xFFFFFFFF).astype(np.int32))
