"""All cases of all systems on a dataset as columns, and the texts around them.

A block is a group of consecutive documents whose texts are one resource.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar

from karat.evaluation.cases.errors import categories
from karat.matching.facts.sentence import sentence_around
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import UnknownNameError, UsageError
from karat.web.archive.archive import Archive, ArchiveEntry
from karat.web.archive.case_reasons import explain_cases
from karat.web.archive.case_table import check_mentions
from karat.web.archive.shape import (
    CASE_KINDS,
    CasesResource,
    DocumentInfo,
    DocumentText,
    GoldColumns,
    TextsResource,
    Track,
)

_BLOCK = 400_000
"""Code points of text per resource; a longer document gets a resource of its own."""

_NIL, _NO_LINK = -1, -2

_TRACK_COLUMNS: Final = frozenset(
    [
        *(
            f"{side}{field}"
            for side in ("gold", "prediction")
            for field in ("", "_entity", "_nil", "_name", "_description")
        ),
        *("mention", "document", "prediction_start", "prediction_end", "kind", "errors", "score", "candidates"),
        *("outcome", "factor", "own"),  # for the reasons
    ]
)
"""Columns of the table of cases that a track contains."""

_T = TypeVar("_T", bound=Hashable)


class _IndexedValues(Generic[_T]):
    """Distinct values with their index, in the order of first use; iteration yields the values."""

    def __init__(self) -> None:
        self.indices: dict[_T, int] = {}

    def index(self, value: _T) -> int:
        """Return the index of a value; a new value is appended."""
        return self.indices.setdefault(value, len(self.indices))

    def __iter__(self) -> Iterator[_T]:
        return iter(self.indices)


class _CaseCollector:
    """A collector of the documents, entities, surfaces and mentions that cases of all systems refer to by index."""

    def __init__(self, archive: Archive, key: str) -> None:
        corpus, visible_corpus = archive.read_corpus(key), archive.get_visible_corpus(key)
        self.texts = (
            None if visible_corpus is None else dict(zip(_list_ids(visible_corpus), visible_corpus.texts, strict=True))
        )
        self.documents: _IndexedValues[str] = _IndexedValues()
        self.gold_documents = {} if corpus is None else {document.id: document for document in corpus}
        for id in self.gold_documents or archive.read_result(archive.datasets[key]).ids.to_pylist():
            self.documents.index(id)
        self.labels = [(document.id, label) for document in self.gold_documents.values() for label in document.labels]
        self.alternatives: dict[tuple[str, str], list[Label]] = {}
        for document in self.gold_documents.values():
            for label in document.labels:
                if label.mention_id is not None:
                    self.alternatives.setdefault((document.id, label.mention_id), []).append(label)
        self.entities: _IndexedValues[str] = _IndexedValues()
        self.names: dict[str, str] = {}
        self.descriptions: dict[str, str] = {}
        self.surfaces: _IndexedValues[str] = _IndexedValues()
        self.types: _IndexedValues[tuple[str, ...]] = _IndexedValues()
        self.combinations: _IndexedValues[tuple[int, ...]] = _IndexedValues()
        self.reasons: _IndexedValues[str] = _IndexedValues()
        self.mentions: _IndexedValues[int] = _IndexedValues()
        self.categories = {name: index for index, name in enumerate(categories())}
        self.combinations.index(())

    def index_entity(self, row: Mapping[str, Any], side: str) -> int:
        """Return the index of a case's entity on `side` (gold or prediction), -1 for NIL, -2 if unlinked.

        The name and description of the entity are collected too.
        """
        id = row[f"{side}_entity"]
        if id is None:
            return _NIL if row[f"{side}_nil"] else _NO_LINK
        if row.get(f"{side}_name"):
            self.names.setdefault(id, row[f"{side}_name"])
        if row.get(f"{side}_description"):
            self.descriptions.setdefault(id, row[f"{side}_description"])
        return self.entities.index(id)

    def index_surface(self, document: str, start: int, end: int) -> int:
        """Return the index of the text of a span; that of the empty text if texts are hidden."""
        text = "" if self.texts is None else self.texts.get(document, "")
        return self.surfaces.index(text[start:end])

    def index_mention(self, row: Mapping[str, Any]) -> int:
        """Return the index of a case's gold mention, -1 if there is none; collect the name of its entity."""
        if row["gold"] is None:
            return -1
        self.index_entity(row, "gold")
        return self.mentions.index(row["mention"])

    def index_combination(self, errors: Sequence[str] | None) -> int:
        """Return the index of a combination of error categories; unknown categories are ignored."""
        return self.combinations.index(tuple(self.categories[name] for name in errors or () if name in self.categories))

    def build_gold(self) -> GoldColumns:
        """Build the columns of all mentions that were indexed so far."""
        columns: list[list[int]] = []
        alternatives: dict[str, list[int]] = {}
        for index, row in enumerate(self.mentions):
            document, label = self.labels[row]
            code = _NIL if label.entity is None else _NO_LINK
            if isinstance(label.entity, str):
                code = self.entities.index(label.entity)
            surface, types = self.index_surface(document, label.start, label.end), self.types.index(label.types)
            document_index = self.documents.index(document)
            columns.append([document_index, label.start, label.end, code, surface, types, int(label.optional)])
            other_entities = list(dict.fromkeys(self._find_other_entities(document, label, code)))
            if other_entities:
                alternatives[str(index)] = other_entities
        gold_columns = _transpose(columns, 7)
        return GoldColumns(
            gold_columns[0],
            gold_columns[1],
            gold_columns[2],
            gold_columns[3],
            gold_columns[4],
            gold_columns[5],
            gold_columns[6],
            alternatives,
        )

    def _find_other_entities(self, document: str, label: Label, code: int) -> Iterator[int]:
        """Yield the indices of a mention's other correct entities (same-as ids, alternatives), all except `code`."""
        for other in [label, *self.alternatives.get((document, label.mention_id or ""), ())]:
            for id in [other.entity, *other.same_as]:
                if isinstance(id, str):
                    if other.name and id == other.entity:
                        self.names.setdefault(id, other.name)
                    if self.entities.index(id) != code:
                        yield self.entities.index(id)


def _list_ids(corpus: Corpus) -> list[str]:
    """Return the ids of all documents of a corpus, in order."""
    ids: list[str] = corpus.ids.to_pylist()
    return ids


def _transpose(rows: Sequence[Sequence[int]], n_columns: int) -> list[list[int]]:
    """Return rows of `n_columns` values as columns; empty columns without rows."""
    return [[row[column] for row in rows] for column in range(n_columns)]


def build_cases(archive: Archive, key: str) -> CasesResource:
    """Build the cases of every system on the dataset `key`; raise `UsageError` if the archive has none."""
    entries = [entry for entry in archive.get_entries(key) if entry.verdicts]
    if not entries or archive.read_corpus(key) is None:
        raise UsageError("the archive has results but no cases. Pass gold and predictions to `karat report`.")
    collector, systems = _CaseCollector(archive, key), archive.systems
    entries.sort(key=lambda entry: systems.index(entry.system))
    tracks = [_build_track(collector, archive, entry, systems.index(entry.system)) for entry in entries]
    gold = collector.build_gold()
    type_names = {id: name for entry in entries for id, name in entry.types.items()}
    blocks = _assign_blocks(collector)
    return CasesResource(
        dataset=archive.datasets[key].dataset,
        view=entries[0].view,
        kinds=list(CASE_KINDS),
        documents=[
            _describe_document(id, collector.gold_documents.get(id), block)
            for id, block in zip(collector.documents, blocks, strict=True)
        ],
        entities=list(collector.entities),
        names=[collector.names.get(id) for id in collector.entities],
        descriptions=[collector.descriptions.get(id) for id in collector.entities],
        surfaces=list(collector.surfaces),
        types=[[type_names.get(type_id, type_id) for type_id in types] for types in collector.types],
        categories=list(collector.categories),
        titles=[category.title for category in categories().values()],
        description=[category.description for category in categories().values()],
        combinations=[list(indices) for indices in collector.combinations],
        reasons=list(collector.reasons),
        gold=gold,
        tracks=tracks,
    )


def _describe_document(id: str, document: Document | None, block: int) -> DocumentInfo:
    """Return title, length and block of a document; None stands for a document that the gold standard lacks."""
    if document is None:
        return DocumentInfo(id, None, 0, None, -1)
    return DocumentInfo(id, document.meta.get("title"), len(document.text), document.evaluation_span, block)


def _assign_blocks(collector: _CaseCollector) -> list[int]:
    """Return the number of the text resource that has each document; -1 if its text is missing or hidden."""
    sizes = [
        None if id not in collector.gold_documents else len(collector.gold_documents[id].text)
        for id in collector.documents
    ]
    return number_blocks(sizes if collector.texts is not None else [None] * len(sizes))


def number_blocks(sizes: Iterable[int | None]) -> list[int]:
    """Return a block number for each document, given text lengths in code points, so that blocks stay below `_BLOCK`.

    Consecutive documents share a block; a longer document gets its own. None means no text and gives -1.
    """
    numbers, block, block_size = [], 0, 0
    for size in sizes:
        if size is None:
            numbers.append(-1)
            continue
        if block_size and block_size + size > _BLOCK:
            block, block_size = block + 1, 0
        block_size += size
        numbers.append(block)
    return numbers


def _build_track(collector: _CaseCollector, archive: Archive, entry: ArchiveEntry, system: int) -> Track:
    """Build the cases of an entry as columns, mostly indices into the collector's lists; `system` is its index."""
    table = archive.read_verdicts(entry)
    assert table is not None, "only entries with verdicts have a track"
    check_mentions(table, len(collector.labels))
    rows = table.select([name for name in table.column_names if name in _TRACK_COLUMNS]).to_pylist()
    columns: list[list[int]] = []
    scores: list[float | None] = []
    candidate_ranks: list[tuple[int, int]] = []
    for row in rows:
        has_prediction = row["prediction"] is not None
        low, high = (row["prediction_start"], row["prediction_end"]) if has_prediction else (-1, -1)
        columns.append(
            [
                collector.index_mention(row),
                collector.documents.index(row["document"]),
                low,
                high,
                collector.index_entity(row, "prediction") if has_prediction else _NO_LINK,
                collector.index_surface(row["document"], low, high) if has_prediction else -1,
                CASE_KINDS.index(row["kind"]),
                collector.index_combination(row.get("errors")),
            ]
        )
        scores.append(None if row["score"] is None else float(f"{row['score']:.4g}"))
        candidate_ranks.append(_rank_gold_entity(row))
    gold, document, start, end, entity, surface, kind, errors = _transpose(columns, 8)
    return Track(
        system=system,
        gold=gold,
        document=document,
        start=start,
        end=end,
        entity=entity,
        surface=surface,
        kind=kind,
        errors=errors,
        reason=[collector.reasons.index(reason) for reason in explain_cases(rows, collector.labels)],
        score=scores if any(score is not None for score in scores) else [],
        candidates=[number for number, _ in candidate_ranks]
        if any(number > 1 for number, _ in candidate_ranks)
        else [],
        rank=[rank for _, rank in candidate_ranks] if any(number > 1 for number, _ in candidate_ranks) else [],
    )


def _rank_gold_entity(row: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of a case's candidates, and the rank of the gold entity among them from 1; 0 if absent."""
    candidates = row.get("candidates") or []
    gold = row["gold_entity"]
    return len(candidates), candidates.index(gold) + 1 if gold in candidates else 0


def build_texts(archive: Archive, key: str, block: int) -> TextsResource:
    """Build the visible texts of one block of documents: whole texts, or only sentences with mentions.

    Raises `UnknownNameError` if there is no such block or texts are hidden.
    """
    corpus = archive.get_visible_corpus(key)
    blocks = [] if corpus is None else number_blocks(len(text) for text in corpus.texts)
    indices = [index for index, number in enumerate(blocks) if number == block]
    if corpus is None or not indices:
        raise UnknownNameError("block of texts", str(block), map(str, dict.fromkeys(blocks)))
    if archive.texts == "all":
        return TextsResource([DocumentText(index, [(0, corpus.texts[index])]) for index in indices])
    spans = _collect_spans(archive, key)
    ids = _list_ids(corpus)
    return TextsResource(
        [
            DocumentText(index, _merge_sentences(corpus.texts[index], sorted(spans.get(ids[index], ()))))
            for index in indices
        ]
    )


def _collect_spans(archive: Archive, key: str) -> dict[str, set[tuple[int, int]]]:
    """Return the spans of all mentions and of all systems' predictions, by document id."""
    spans: dict[str, set[tuple[int, int]]] = {}
    for entry in archive.get_entries(key):
        if (table := archive.read_verdicts(entry)) is None:
            continue
        for side in ("gold", "prediction"):
            columns = (table.column(name).to_pylist() for name in ("document", f"{side}_start", f"{side}_end"))
            for document, start, end in zip(*columns, strict=True):
                if start is not None:
                    spans.setdefault(document, set()).add((start, end))
    return spans


def _merge_sentences(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, str]]:
    """Return the sentences around spans with their offsets, merged if they touch; spans must be sorted by start."""
    merged: list[list[int]] = []
    for start, end in spans:
        sentence = sentence_around(text, start, end)
        low, high = sentence.offset, sentence.offset + len(sentence.text)
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(high, merged[-1][1])
        else:
            merged.append([low, high])
    return [(low, text[low:high]) for low, high in merged]
