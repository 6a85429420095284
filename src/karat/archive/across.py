"""Questions across all results: DuckDB over the verdicts as they lie in the archive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

from karat.archive.archive import Archive, ArchiveEntry
from karat.archive.board import ordered_systems
from karat.archive.shape import (
    KINDS_OF_CASES,
    ConfusionRow,
    EntitiesPiece,
    EntityRow,
    FoundCase,
    FoundPiece,
    SurfaceRow,
)
from karat.errors import UnknownNameError, UsageError

_NIL, _NO_LINK = -1, -2

_MOST: Final = 2000
"""Rows of each kind that a piece lists; all are counted."""

MOST_FOUND: Final = 500
"""Cases that a search gives at once."""

_MEMORY, _SECONDS = "1GB", 10.0
"""What a question may take."""

_WORDS = ("text", "gold_entity", "gold_name", "answer_entity", "answer_name")
"""Where a regular expression is looked for."""

_COUNTS = "matched_gold + unmatched_gold > 0"
_SAID = "matched_answer + unmatched_answer > 0"

_GOLD: Final = f"""
    SELECT mention_entity, dataset, system, count(DISTINCT mention) AS mentions,
        count(DISTINCT mention) FILTER (matched_gold > 0) AS found, any_value(mention_name) AS name
    FROM cases WHERE mention_entity IS NOT NULL AND {_COUNTS} GROUP BY ALL"""
_ANSWERED: Final = f"""
    SELECT answer_entity, dataset, system, count(*) AS answered, any_value(answer_name) AS name
    FROM cases WHERE answer_entity IS NOT NULL AND {_SAID} GROUP BY ALL"""
_SURFACES: Final = f"""
    SELECT text, dataset, system, count(DISTINCT mention) AS mentions,
        count(DISTINCT mention) FILTER (matched_gold > 0) AS found, count(DISTINCT mention_entity) AS entities
    FROM cases WHERE gold IS NOT NULL AND {_COUNTS} GROUP BY ALL"""
_CONFUSIONS: Final = """
    SELECT gold_entity, gold_nil, answer_entity, answer_nil, dataset, system, count(*) AS times,
        any_value(gold_name) AS gold_name, any_value(answer_name) AS answer_name
    FROM cases WHERE kind = 'wrong link' GROUP BY ALL
    ORDER BY times DESC, gold_entity, answer_entity, dataset, system"""


def is_asked_across() -> bool:
    """Whether there is DuckDB, which answers such questions."""
    return find_spec("duckdb") is not None


class _Places(NamedTuple):
    """Systems and datasets by their places on the board, and the entries with cases."""

    systems: list[str]
    keys: list[str]
    entries: list[ArchiveEntry]

    @classmethod
    def of(cls, archive: Archive) -> _Places:
        entries = [entry for entry in archive.entries if entry.verdicts]
        return cls(ordered_systems(archive), list(archive.datasets), entries)

    def none(self, dataset: int) -> list[int | None]:
        """Nothing so far of every system that has cases on a dataset."""
        there = {entry.system for entry in self.entries if entry.key == self.keys[dataset]}
        return [0 if system in there else None for system in self.systems]


@contextmanager
def _asked(archive: Archive, places: _Places) -> Iterator[Any]:
    """A connection that knows all cases, as `cases`, with the places of their dataset and system."""
    try:
        import duckdb
    except ImportError:
        raise UsageError("questions across results need DuckDB: pip install 'karat[duckdb]'") from None
    with duckdb.connect(config={"memory_limit": _MEMORY, "threads": 2}) as connection:
        parts = []
        for number, entry in enumerate(places.entries):
            assert entry.verdicts is not None, "only entries with verdicts are asked"
            path = archive.files.path("verdicts", entry.verdicts)
            if path is None:
                connection.register(f"part{number}", archive.verdicts(entry))
            source = f"part{number}" if path is None else f"read_parquet('{str(path).replace(chr(39), chr(39) * 2)}')"
            at = f"{places.keys.index(entry.key)} AS dataset, {places.systems.index(entry.system)} AS system"
            parts.append(f"SELECT {at}, * FROM {source}")
        if not parts:
            raise UsageError("there are results only, which have no cases. Give gold and answers to karat report.")
        connection.execute(f"CREATE VIEW cases AS {' UNION ALL BY NAME '.join(parts)}")
        yield connection


def _rows(connection: Any, query: str, given: Sequence[object] = ()) -> list[dict[str, Any]]:  # noqa: ANN401  # DuckDB's
    table = connection.sql(query, params=list(given)).to_arrow_table()
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def entities(archive: Archive) -> EntitiesPiece:
    """How often entities and surfaces are mentioned, who gets them, and what they are taken for."""
    places = _Places.of(archive)
    with _asked(archive, places) as connection:
        gold, answered, surfaces, confused = (
            _rows(connection, query) for query in (_GOLD, _ANSWERED, _SURFACES, _CONFUSIONS)
        )
    shown = {place for place, key in enumerate(places.keys) if archive.shown(key) is not None}
    listed = _Entities()
    rows = list(_entity_rows(places, gold, answered, listed))
    by_surface = list(_surface_rows(places, [row for row in surfaces if row["dataset"] in shown]))
    return EntitiesPiece(
        rows=rows[:_MOST],
        surfaces=by_surface[:_MOST],
        confusions=[_confusion(row, listed) for row in confused[:_MOST]],
        more=tuple(max(0, len(every) - _MOST) for every in (rows, by_surface, confused)),  # type: ignore[arg-type]
        entities=list(listed.places),
        names=[listed.names.get(id) for id in listed.places],
    )


class _Entities:
    """Entities by their places, in the order in which they are listed."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.names: dict[str, str] = {}

    def of(self, id: str | None, name: str | None, nil: bool | None = None) -> int:
        if id is None:
            return _NIL if nil else _NO_LINK
        if name:
            self.names.setdefault(id, name)
        return self.places.setdefault(id, len(self.places))


def _entity_rows(
    places: _Places, gold: Sequence[Mapping[str, Any]], answered: Sequence[Mapping[str, Any]], listed: _Entities
) -> Iterator[EntityRow]:
    met: dict[tuple[str, int], tuple[list[int], list[int | None], list[int | None], str | None]] = {}

    def own(id: str, row: Mapping[str, Any]) -> tuple[list[int], list[int | None], list[int | None], str | None]:
        none = places.none
        return met.setdefault((id, row["dataset"]), ([0], none(row["dataset"]), none(row["dataset"]), row["name"]))

    for row in gold:
        mentions, found, _, _ = own(row["mention_entity"], row)
        mentions.append(row["mentions"])
        found[row["system"]] = row["found"]
    for row in answered:
        own(row["answer_entity"], row)[2][row["system"]] = row["answered"]
    ordered = sorted(met.items(), key=lambda item: (-max(item[1][0]), -sum(map(_count, item[1][2])), item[0]))
    for place, ((id, dataset), (mentions, found, said, name)) in enumerate(ordered):
        at = listed.of(id, name) if place < _MOST else _NO_LINK  # what is not listed needs no place
        yield EntityRow(at, dataset, max(mentions), found, said)


def _count(number: int | None) -> int:
    return number or 0


def _surface_rows(places: _Places, surfaces: Sequence[Mapping[str, Any]]) -> Iterator[SurfaceRow]:
    met: dict[tuple[str, int], tuple[list[tuple[int, int]], list[int | None]]] = {}
    for row in surfaces:
        counts, found = met.setdefault((row["text"], row["dataset"]), ([], places.none(row["dataset"])))
        counts.append((row["mentions"], row["entities"]))
        found[row["system"]] = row["found"]
    for (surface, dataset), (counts, found) in sorted(met.items(), key=lambda item: (-max(item[1][0])[0], item[0])):
        yield SurfaceRow(surface, dataset, max(counts)[0], max(of for _, of in counts), found)


def _confusion(row: Mapping[str, Any], listed: _Entities) -> ConfusionRow:
    gold = listed.of(row["gold_entity"], row["gold_name"], row["gold_nil"])
    said = listed.of(row["answer_entity"], row["answer_name"], row["answer_nil"])
    return ConfusionRow(gold, said, row["dataset"], row["system"], row["times"])


class Wanted(NamedTuple):
    """What is looked for; everything that is given must hold. `find` is a regular expression of RE2."""

    entity: str | None = None
    surface: str | None = None
    kind: str | None = None
    system: str | None = None
    dataset: str | None = None
    find: str | None = None
    limit: int = 100
    offset: int = 0


def found(archive: Archive, wanted: Wanted) -> FoundPiece:
    """All cases of an entity, of a surface, of whatever a regular expression finds: in all results."""
    places = _Places.of(archive)
    shown = [place for place, key in enumerate(places.keys) if archive.shown(key) is not None]
    with _asked(archive, places) as connection:
        text = f"CASE WHEN list_contains({shown}::INT[], dataset) THEN text ELSE '' END"  # what is hidden is not found
        conditions, given = _conditions(places, wanted)
        where = f"FROM (SELECT * REPLACE ({text} AS text) FROM cases) WHERE {' AND '.join(['true', *conditions])}"
        with _within(connection):
            total = _rows(connection, f"SELECT count(*) AS number {where}", given)[0]["number"]
            ordered = f"SELECT * {where} ORDER BY dataset, document, coalesce(gold_start, answer_start), system"
            rows = _rows(connection, f"{ordered} LIMIT ? OFFSET ?", [*given, wanted.limit, wanted.offset])
    return FoundPiece(total, [_found(row) for row in rows])


def _conditions(places: _Places, wanted: Wanted) -> tuple[list[str], list[object]]:
    asked: list[tuple[str, list[object]]] = []
    if wanted.entity is not None:
        asked.append(("(gold_entity = ? OR answer_entity = ?)", [wanted.entity] * 2))
    if wanted.surface is not None:
        asked.append(("text = ?", [wanted.surface]))
    if wanted.kind is not None:
        asked.append(("kind = ?", [_known("kind of case", wanted.kind, KINDS_OF_CASES)]))
    if wanted.system is not None:
        system = _known("system", wanted.system, places.systems)
        asked.append(("system = ?", [places.systems.index(system)]))
    if wanted.dataset is not None:
        asked.append(("dataset = ?", [places.keys.index(_known("dataset", wanted.dataset, places.keys))]))
    if wanted.find is not None:
        matches = " OR ".join(f"regexp_matches({column}, ?, 'i')" for column in _WORDS)
        asked.append((f"({matches})", [wanted.find] * len(_WORDS)))
    return [condition for condition, _ in asked], [value for _, values in asked for value in values]


def _known(what: str, name: str, names: Sequence[str]) -> str:
    if name not in names:
        raise UnknownNameError(what, name, names)
    return name


@contextmanager
def _within(connection: Any) -> Iterator[None]:  # noqa: ANN401  # DuckDB's
    """Refuse what takes too long, or what is no regular expression."""
    from threading import Timer

    import duckdb

    timer = Timer(_SECONDS, connection.interrupt)
    timer.start()
    try:
        yield
    except duckdb.InterruptException:
        raise UsageError(f"the search took longer than {_SECONDS:g} seconds. Ask for less.") from None
    except duckdb.InvalidInputException as problem:
        said = str(problem).splitlines()[0].removeprefix("Invalid Input Error: ")
        raise UsageError(f"no regular expression (RE2): {said}") from None
    finally:
        timer.cancel()


def _found(row: Mapping[str, Any]) -> FoundCase:
    on_gold = row["gold_start"] is not None and row["answer_start"] is None
    side = "gold" if on_gold else "answer"
    said = {each: _link(row, each) for each in ("gold", "answer")}
    names = {each: row.get(f"{each}_name") for each in ("gold", "answer")}
    return FoundCase(
        row["dataset"],
        row["system"],
        row["document"],
        row[f"{side}_start"],
        row[f"{side}_end"],
        row["text"] or "",
        said["gold"],
        names["gold"],
        said["answer"],
        names["answer"],
        row["kind"],
        row["score"],
    )


def _link(row: Mapping[str, Any], side: str) -> str | None:
    if row[side] is None:
        return None
    return row[f"{side}_entity"] or ("NIL" if row[f"{side}_nil"] else "no link")
