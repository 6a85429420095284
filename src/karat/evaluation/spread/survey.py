"""What must be known of a whole corpus and run before its blocks can be counted: read from a few columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, get_args

import msgspec
import numpy as np
import pyarrow.compute as pc

from karat.errors import UnknownNameError, UsageError
from karat.evaluation.drop import gold_types, needs_types
from karat.evaluation.measures import parts_of
from karat.evaluation.request import Request
from karat.evaluation.sides import Sides
from karat.kb.protocol import KB
from karat.matching.read.facets import document_label
from karat.matching.read.whole import Whole
from karat.matching.select.select import FILTERS
from karat.matching.weigh.weighing import memberships
from karat.model.corpus import Corpus
from karat.model.document import Document, Kind, Label
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Mentions, mentions
from karat.registry import get, names
from karat.spec.choices.conventions import Groups
from karat.spec.choices.task import TASKS
from karat.spec.engine import Parts
from karat.spec.grouping import Grouping as LabelSpec

_ROWS = 20_000
_SINGLE = ("kind", "difficulty", "nil_cluster")


class Undivided(NamedTuple):
    """Views and labels that are left out where an engine divides the documents, each with the reason."""

    views: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}


def undivided(request: Request) -> Undivided:
    """What nobody can count who has only a block: parts of the data whose values only the whole can tell."""
    views = {
        str(view): f"an engine makes no part of the data by {label}"
        for view in request.parts
        for label in (condition.partition("=")[0] for condition in view.filters if condition not in FILTERS)
        if _only_of_whole(label)
    }
    filtered = request.conventions.groups is Groups.FILTERED
    labels = [label for label in request.labels if filtered and _only_of_whole(label)]
    return Undivided(views, {label: f"an engine makes no part of the data by {label}" for label in labels})


def _only_of_whole(label: str) -> bool:
    return label == "entity" or "+" in label


def without(request: Request, left_out: Undivided) -> Request:
    """The request with what blocks can count; `UsageError` where nothing is left, or a measure asks for the rest."""
    task = request.conventions.task_name
    for name in request.wanted:
        if name.group is not None and name.group[0] in left_out.labels:
            raise UsageError(f"{name}: {left_out.labels[name.group[0]]}. Load both sides.")
    rest = [
        str(name)
        for name in request.wanted
        if not any(str(part) in left_out.views for part in parts_of(name.view, task) or (name.view,))
    ]
    if not rest:
        raise UsageError(f"{next(iter(left_out.views.values()))}. Group by it, or load both sides.")
    if not left_out.views and not left_out.labels:
        return request
    by = [label for label in request.labels if label not in left_out.labels]
    return request.but(by=by, measures=rest, also=()) if left_out.views else request.but(by=by)


def surveyed(sides: Sides, gold: Parts, answers: Parts) -> Whole:
    """What blocks have to know, as far as somebody asks for it; mostly that is nothing, and nothing is read."""
    request = sides.request
    sources = {TASKS[view.task or request.conventions.task_name].source for view in request.parts}
    asked = {name.partition("=")[0] for view in request.parts for name in view.filters if name not in FILTERS}
    asked = {label for label in asked if document_label(label) is None}
    filtered = request.conventions.groups is Groups.FILTERED
    if filtered:
        asked |= {label for label in request.labels if _depends(label) != "never"}
    wanted = sorted(
        {label for label in asked if _depends(label) != "never"}
        | {label for label in request.labels if _depends(label) == "always"}
    )
    if wanted and sources != {"mentions"}:
        raise UsageError(f"{wanted[0]} is a label of mentions, and an engine divides nothing else by it.")
    gold_tags, answer_tags = ("entities" in sources and _tagged(parts) for parts in (gold, answers))
    types = _types(gold, request.kb) if needs_types(request.drop) else {}
    if not wanted and request.membership is None:
        return Whole(gold_tags, answer_tags, types=types)
    found = _Labels()
    for items in _items(gold, "labels"):
        found.add(items)
    known = found.corpus()
    if request.membership is not None:
        memberships(known.labels, request.membership)  # says so if there is nothing to weigh by
    return Whole(gold_tags, answer_tags, known, *_answered(answers), types=types)


def _types(gold: Parts, kb: KB | None) -> dict[str, set[str]]:
    """The types that gold labels give to each entity."""
    found: dict[str, set[str]] = {}
    for items in _items(gold, "labels"):
        for entity, types in gold_types(items, kb).items():
            found.setdefault(entity, set()).update(types)
    return found


def _depends(name: str) -> str:
    """When a block has to know what the whole has of a label; always, where that is a dimension of its categories."""
    own = name.replace("_", "-")
    if document_label(name) is not None:
        return "never"
    return get("labels", own, LabelSpec).whole if own in names("labels") else "always"


def check_values(sides: Sides, whole: Whole, gold: Parts) -> None:
    """Refuse labels that nothing has, and filters by such values."""
    for name in sides.request.labels:
        sides.label(name)
    for name, value in {filtered.partition("=")[::2] for view in sides.request.views for filtered in view.filters}:
        own = document_label(name)
        if own is not None and value not in own.possible:
            _check_documents(gold, name, value, own)
    if whole.known is None:
        return
    facets = sides.pairing("mentions").facets
    for view in sides.request.views:
        for condition in view.filters:
            label, _, value = condition.partition("=")
            if condition not in FILTERS and document_label(label) is None:
                values = facets.values(label)
                if value not in values and not {value, f"{label}:{value}"} & whole.named:
                    raise UnknownNameError(f"value of {label}", value, values)


def _check_documents(gold: Parts, name: str, value: str, label: LabelSpec) -> None:
    """Refuse a value that no document has."""
    assert label.documents is not None
    there: set[str] = set()
    for piece in gold.pieces:
        for table in piece.tables(_ROWS, ["id", "meta"] if "meta" in gold.schema.names else ["id"]):
            there.update(pc.unique(label.documents(table, gold.about).drop_null()).to_pylist())
            if value in there:
                return
    raise UnknownNameError("document" if name == "doc" else f"value of {name}", value, sorted(there))


def _tagged(parts: Parts) -> bool:
    """Whether some document has tags."""
    if "tags" not in parts.schema.names:
        return False
    tables = (table for piece in parts.pieces for table in piece.tables(_ROWS, ["tags"]))
    return any(len(chunk.flatten()) for table in tables for chunk in table.column("tags").chunks)


def _items(parts: Parts, name: str) -> Iterator[Mentions]:
    if name in parts.schema.names:
        for piece in parts.pieces:
            for table in piece.tables(_ROWS, [name]):
                yield mentions(table.column(name))


def _answered(parts: Parts) -> tuple[frozenset[str], frozenset[str]]:
    """The fields in which answers have values, and the types and categories that they name."""
    given: set[str] = set()
    named: set[str] = set()
    for items in _items(parts, "answers"):
        for name in ("types", "categories", "nil_cluster"):
            column = items.field(name)
            if column is not None:
                given.add(name)
                named.update(pc.unique(column.flatten()).to_pylist() if name != "nil_cluster" else ())
    return frozenset(given), frozenset(named)


class _Labels:
    """What gold labels say: the types of each entity, and all other values."""

    def __init__(self) -> None:
        self.types: dict[str | None, set[str]] = {}
        self.categories: set[str] = set()
        self.single: dict[str, set[str]] = {name: set() for name in _SINGLE}

    def add(self, items: Mentions) -> None:
        """Take down what some labels say."""
        types, categories = items.field("types"), items.field("categories")
        if categories is not None:
            self.categories.update(pc.unique(categories.flatten()).to_pylist())
        for name, values in self.single.items():
            column = items.field(name)
            values.update(() if column is None else pc.unique(column.drop_null()).to_pylist())
        if types is not None:
            for entity, kind in _pairs(items, types):
                self.types.setdefault(entity, set()).add(kind)

    def corpus(self) -> Corpus:
        """A corpus of one document whose labels say the same."""
        said = [Label(0, 1, entity, types=tuple(sorted(types))) for entity, types in self.types.items()]
        said += [Label(0, 1, None, categories=(category,)) for category in self.categories]
        said += [Label(0, 1, None, kind=kind) for kind in get_args(Kind) if kind in self.single["kind"]]
        said += [Label(0, 1, None, difficulty=difficulty) for difficulty in self.single["difficulty"]]
        said += [Label(0, 1, None, nil_cluster=cluster) for cluster in self.single["nil_cluster"]]
        labels = tuple(msgspec.structs.replace(label, start=n, end=n + 1) for n, label in enumerate(said))
        return Corpus.of([Document("known", "x" * max(1, len(labels)), labels)], name="known")


def _pairs(items: Mentions, types: Arrow) -> Iterator[tuple[str | None, str]]:
    """Each entity, None for NIL and spans without link, with each of its types, once."""
    owner = np.repeat(np.arange(len(items)), types.value_lengths().fill_null(0).to_numpy(zero_copy_only=False))
    encoded = types.flatten().dictionary_encode()
    pairs = np.column_stack([np.maximum(items.entity[owner], -1), encoded.indices.to_numpy()])
    names, kinds = [*items.names.to_pylist(), None], encoded.dictionary.to_pylist()
    for entity, kind in np.unique(pairs, axis=0).tolist():
        yield names[entity], kinds[kind]
