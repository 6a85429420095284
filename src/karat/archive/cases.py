"""Every case of every system on a dataset as columns, and the texts they stand in."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from karat.archive.archive import Archive, ArchiveEntry
from karat.archive.board import ordered_systems
from karat.archive.shape import (
    KINDS_OF_CASES,
    CasesPiece,
    DocumentInfo,
    DocumentText,
    GoldColumns,
    TextsPiece,
    Track,
)
from karat.errors import UnknownNameError, UsageError
from karat.evaluation.cases.errors import categories
from karat.facts.sentence import sentence_around
from karat.model.corpus import Corpus
from karat.model.document import Document, Label

_BLOCK = 400_000
"""So many code points of text go into one piece; a longer document has one of its own."""

_NIL, _NO_LINK = -1, -2

_T = TypeVar("_T", bound=Hashable)


class _Listed(Generic[_T]):
    """Values by their place in a list, in the order in which they are first met."""

    def __init__(self) -> None:
        self.places: dict[_T, int] = {}

    def of(self, value: _T) -> int:
        return self.places.setdefault(value, len(self.places))

    def __iter__(self) -> Iterator[_T]:
        return iter(self.places)


class _Reader:
    """Collects what all systems have in common: documents, entities, surfaces, mentions."""

    def __init__(self, archive: Archive, key: str) -> None:
        corpus, shown = archive.corpus(key), archive.shown(key)
        self.texts = None if shown is None else dict(zip(_ids(shown), shown.texts, strict=True))
        self.documents: _Listed[str] = _Listed()
        self.known = {} if corpus is None else {document.id: document for document in corpus}
        for id in self.known or archive.result(archive.datasets[key]).ids.to_pylist():
            self.documents.of(id)
        self.labels = [(document.id, label) for document in self.known.values() for label in document.labels]
        self.units: dict[tuple[str, str], list[Label]] = {}
        for document in self.known.values():
            for label in document.labels:
                if label.unit is not None:
                    self.units.setdefault((document.id, label.unit), []).append(label)
        self.entities: _Listed[str] = _Listed()
        self.names: dict[str, str] = {}
        self.descriptions: dict[str, str] = {}
        self.surfaces: _Listed[str] = _Listed()
        self.types: _Listed[tuple[str, ...]] = _Listed()
        self.combinations: _Listed[tuple[int, ...]] = _Listed()
        self.mentions: _Listed[int] = _Listed()
        self.categories = {name: place for place, name in enumerate(categories())}
        self.combinations.of(())

    def entity(self, row: Mapping[str, Any], side: str) -> int:
        id = row[f"{side}_entity"]
        if id is None:
            return _NIL if row[f"{side}_nil"] else _NO_LINK
        if row.get(f"{side}_name"):
            self.names.setdefault(id, row[f"{side}_name"])
        if row.get(f"{side}_description"):
            self.descriptions.setdefault(id, row[f"{side}_description"])
        return self.entities.of(id)

    def surface(self, document: str, start: int, end: int) -> int:
        text = "" if self.texts is None else self.texts.get(document, "")
        return self.surfaces.of(text[start:end])

    def mention(self, row: Mapping[str, Any]) -> int:
        """The mention of a case; what its label is called is noted."""
        if row["gold"] is None:
            return -1
        self.entity(row, "gold")
        return self.mentions.of(row["mention"])

    def combination(self, errors: Sequence[str] | None) -> int:
        return self.combinations.of(tuple(self.categories[name] for name in errors or () if name in self.categories))

    def gold(self) -> GoldColumns:
        columns: list[list[int]] = []
        others: dict[str, list[int]] = {}
        for place, row in enumerate(self.mentions):
            document, label = self.labels[row]
            code = _NIL if label.entity is None else _NO_LINK
            if isinstance(label.entity, str):
                code = self.entities.of(label.entity)
            surface, types = self.surface(document, label.start, label.end), self.types.of(label.types)
            at = self.documents.of(document)
            columns.append([at, label.start, label.end, code, surface, types, int(label.optional)])
            also = list(dict.fromkeys(self._also(document, label, code)))
            if also:
                others[str(place)] = also
        made = _columns(columns, 7)
        return GoldColumns(made[0], made[1], made[2], made[3], made[4], made[5], made[6], others)

    def _also(self, document: str, label: Label, code: int) -> Iterator[int]:
        """What else would be right: alternatives of the mention."""
        for other in [label, *self.units.get((document, label.unit or ""), ())]:
            for id in [other.entity, *other.same_as]:
                if isinstance(id, str):
                    if other.name and id == other.entity:
                        self.names.setdefault(id, other.name)
                    if self.entities.of(id) != code:
                        yield self.entities.of(id)


def _ids(corpus: Corpus) -> list[str]:
    ids: list[str] = corpus.ids.to_pylist()
    return ids


def _columns(rows: Sequence[Sequence[int]], number: int) -> list[list[int]]:
    return [[row[at] for row in rows] for at in range(number)]


def cases(archive: Archive, key: str) -> CasesPiece:
    """Every case of every system on a dataset."""
    entries = [entry for entry in archive.on(key) if entry.verdicts]
    if not entries or archive.corpus(key) is None:
        raise UsageError("there are results only, which have no cases. Give gold and answers to karat report.")
    reader, systems = _Reader(archive, key), ordered_systems(archive)
    entries.sort(key=lambda entry: systems.index(entry.system))
    tracks = [_track(reader, archive, entry, systems.index(entry.system)) for entry in entries]
    gold = reader.gold()
    called = {id: name for entry in entries for id, name in entry.types.items()}
    blocks = _blocks(reader)
    return CasesPiece(
        dataset=archive.datasets[key].dataset,
        view=entries[0].view,
        kinds=list(KINDS_OF_CASES),
        documents=[
            _document(id, reader.known.get(id), block) for id, block in zip(reader.documents, blocks, strict=True)
        ],
        entities=list(reader.entities),
        names=[reader.names.get(id) for id in reader.entities],
        descriptions=[reader.descriptions.get(id) for id in reader.entities],
        surfaces=list(reader.surfaces),
        types=[[called.get(one, one) for one in types] for types in reader.types],
        categories=list(reader.categories),
        titles=[category.title for category in categories().values()],
        says=[category.says for category in categories().values()],
        combinations=[list(places) for places in reader.combinations],
        gold=gold,
        tracks=tracks,
    )


def _document(id: str, document: Document | None, block: int) -> DocumentInfo:
    if document is None:
        return DocumentInfo(id, None, 0, None, -1)
    return DocumentInfo(id, document.meta.get("title"), len(document.text), document.evaluation_span, block)


def _blocks(reader: _Reader) -> list[int]:
    """Which piece the text of each document is in; -1 where it has none."""
    sizes = [None if id not in reader.known else len(reader.known[id].text) for id in reader.documents]
    return block_numbers(sizes if reader.texts is not None else [None] * len(sizes))


def block_numbers(sizes: Iterable[int | None]) -> list[int]:
    """Documents one after another into pieces of about the same size."""
    found, block, filled = [], 0, 0
    for size in sizes:
        if size is None:
            found.append(-1)
            continue
        if filled and filled + size > _BLOCK:
            block, filled = block + 1, 0
        filled += size
        found.append(block)
    return found


def _track(reader: _Reader, archive: Archive, entry: ArchiveEntry, system: int) -> Track:
    table = archive.verdicts(entry)
    assert table is not None, "only entries with verdicts have a track"
    rows = table.to_pylist()
    columns: list[list[int]] = []
    scores: list[float | None] = []
    listed: list[tuple[int, int]] = []
    for row in rows:
        answered = row["answer"] is not None
        low, high = (row["answer_start"], row["answer_end"]) if answered else (-1, -1)
        columns.append(
            [
                reader.mention(row),
                reader.documents.of(row["document"]),
                low,
                high,
                reader.entity(row, "answer") if answered else _NO_LINK,
                reader.surface(row["document"], low, high) if answered else -1,
                KINDS_OF_CASES.index(row["kind"]),
                reader.combination(row.get("errors")),
            ]
        )
        scores.append(None if row["score"] is None else float(f"{row['score']:.4g}"))
        listed.append(_ranked(row))
    gold, document, start, end, entity, surface, kind, errors = _columns(columns, 8)
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
        score=scores if any(score is not None for score in scores) else [],
        candidates=[number for number, _ in listed] if any(number > 1 for number, _ in listed) else [],
        rank=[rank for _, rank in listed] if any(number > 1 for number, _ in listed) else [],
    )


def _ranked(row: Mapping[str, Any]) -> tuple[int, int]:
    """How many candidates an answer had, and where the gold entity stands among them."""
    candidates = row.get("candidates") or []
    gold = row["gold_entity"]
    return len(candidates), candidates.index(gold) + 1 if gold in candidates else 0


def texts(archive: Archive, key: str, block: int) -> TextsPiece:
    """The texts of some documents, as far as they are shown."""
    corpus = archive.shown(key)
    blocks = [] if corpus is None else block_numbers(len(text) for text in corpus.texts)
    places = [place for place, own in enumerate(blocks) if own == block]
    if corpus is None or not places:
        raise UnknownNameError("block of texts", str(block), map(str, dict.fromkeys(blocks)))
    if archive.texts == "all":
        return TextsPiece([DocumentText(place, [(0, corpus.texts[place])]) for place in places])
    spans = _spans(archive, key)
    ids = _ids(corpus)
    return TextsPiece(
        [DocumentText(place, _sentences(corpus.texts[place], sorted(spans.get(ids[place], ())))) for place in places]
    )


def _spans(archive: Archive, key: str) -> dict[str, set[tuple[int, int]]]:
    """Where mentions and answers stand, by document."""
    found: dict[str, set[tuple[int, int]]] = {}
    for entry in archive.on(key):
        if (table := archive.verdicts(entry)) is None:
            continue
        for side in ("gold", "answer"):
            columns = (table.column(name).to_pylist() for name in ("document", f"{side}_start", f"{side}_end"))
            for document, start, end in zip(*columns, strict=True):
                if start is not None:
                    found.setdefault(document, set()).add((start, end))
    return found


def _sentences(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, str]]:
    """The sentences that some spans stand in, those that touch as one."""
    merged: list[list[int]] = []
    for start, end in spans:
        sentence = sentence_around(text, start, end)
        low, high = sentence.offset, sentence.offset + len(sentence.text)
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(high, merged[-1][1])
        else:
            merged.append([low, high])
    return [(low, text[low:high]) for low, high in merged]
