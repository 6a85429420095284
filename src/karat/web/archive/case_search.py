"""Searches and counts over the cases of all results, with DuckDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Final, NamedTuple

import pyarrow as pa

from karat.model.errors import UnknownNameError, UsageError
from karat.model.tables.arrow import Arrow
from karat.web.archive.archive import Archive, ArchiveEntry
from karat.web.archive.case_table import invalid_file_error, read_case_columns
from karat.web.archive.shape import (
    CASE_KINDS,
    ConfusionRow,
    EntitiesResource,
    EntityRow,
    MatchingCase,
    SearchResource,
    SurfaceRow,
)

_NIL, _NO_LINK = -1, -2

_MAX_ROWS: Final = 2000
"""Maximum number of rows of each kind in a resource; all are counted."""

MAX_CASES: Final = 500
"""Maximum number of cases per search response."""

_MEMORY, _SECONDS = "1GB", 10.0
"""What a question may take."""

_SEARCHED_COLUMNS = ("text", "gold_entity", "gold_name", "prediction_entity", "prediction_name")
"""Columns that a regular expression is searched in."""

_GOLD_COUNTS = "matched_gold + unmatched_gold > 0"
_PREDICTION_COUNTS = "matched_prediction + unmatched_prediction > 0"

_GOLD_QUERY: Final = f"""
    SELECT mention_entity, dataset, system, count(DISTINCT mention) AS mentions,
        count(DISTINCT mention) FILTER (matched_gold > 0) AS correct, any_value(mention_name) AS name
    FROM cases WHERE mention_entity IS NOT NULL AND {_GOLD_COUNTS} GROUP BY ALL"""
_PREDICTED_QUERY: Final = f"""
    SELECT prediction_entity, dataset, system, count(*) AS predicted, any_value(prediction_name) AS name
    FROM cases WHERE prediction_entity IS NOT NULL AND {_PREDICTION_COUNTS} GROUP BY ALL"""
_SURFACE_QUERY: Final = f"""
    SELECT text, dataset, system, count(DISTINCT mention) AS mentions,
        count(DISTINCT mention) FILTER (matched_gold > 0) AS correct, count(DISTINCT mention_entity) AS entities
    FROM cases WHERE gold IS NOT NULL AND {_GOLD_COUNTS} GROUP BY ALL"""
_CONFUSION_QUERY: Final = """
    SELECT gold_entity, gold_nil, prediction_entity, prediction_nil, dataset, system, count(*) AS number,
        any_value(gold_name) AS gold_name, any_value(prediction_name) AS prediction_name
    FROM cases WHERE kind = 'wrong link' GROUP BY ALL
    ORDER BY number DESC, gold_entity, prediction_entity, dataset, system"""


def can_search() -> bool:
    """Return whether cases can be searched, which needs DuckDB."""
    return find_spec("duckdb") is not None


class _ArchiveIndex(NamedTuple):
    """Systems and dataset keys in leaderboard order, and the entries with cases."""

    systems: list[str]
    keys: list[str]
    entries: list[ArchiveEntry]
    zero_counts: list[list[int | None]]
    """For each dataset, a count of 0 for every system that has cases on it, and None for the others."""

    @classmethod
    def from_archive(cls, archive: Archive) -> _ArchiveIndex:
        """Index the systems, datasets and entries with verdicts of an archive."""
        entries = [entry for entry in archive.entries if entry.verdicts]
        systems, keys = archive.systems, list(archive.datasets)
        pairs = {(entry.key, entry.system) for entry in entries}
        zero_counts = [[0 if (key, system) in pairs else None for system in systems] for key in keys]
        return cls(systems, keys, entries, zero_counts)


@contextmanager
def _connect(archive: Archive, index: _ArchiveIndex) -> Iterator[Any]:
    """Open a DuckDB connection inside the block, with a view `cases` of all cases of the archive.

    The columns `dataset` and `system` of the view are positions in `index`. Raises `UsageError` without DuckDB or
    cases.
    """
    try:
        import duckdb
    except ImportError:
        raise UsageError("searching all results needs DuckDB. Run `pip install 'karat[duckdb]'`.") from None
    if not index.entries:
        raise UsageError("the archive has results but no cases. Pass gold and predictions to `karat report`.")
    with _report_damage(), duckdb.connect(config={"memory_limit": _MEMORY, "threads": 2}) as connection:
        connection.execute(f"CREATE VIEW cases AS {_select_cases(connection, archive, index)}")
        yield connection


def _select_cases(connection: Any, archive: Archive, index: _ArchiveIndex) -> str:  # noqa: ANN401  # DuckDB's
    """Return the SQL that selects the cases of all entries; tables in memory are registered with the connection.

    All tables are one source, because the time for a query grows with the square of the number of sources.
    """
    datasets, systems = ({name: i for i, name in enumerate(names)} for names in (index.keys, index.systems))
    columns: dict[str, None] = {}
    tables: list[Arrow] = []
    files: list[dict[str, Any]] = []
    for entry in index.entries:
        assert entry.verdicts is not None, "only entries with verdicts are asked"
        numbers = {"dataset": datasets[entry.key], "system": systems[entry.system]}
        path = archive.files.get_path("verdicts", entry.verdicts)
        if path is None:
            table = archive.read_verdicts(entry)
            assert table is not None, "only entries with verdicts are asked"
            for name, number in numbers.items():
                table = table.append_column(name, pa.repeat(pa.scalar(number, pa.int32()), len(table)))
            columns |= dict.fromkeys(table.column_names)
            tables.append(table)
        else:
            columns |= dict.fromkeys(read_case_columns(path))
            files.append({**numbers, "file": str(path)})
    if tables:
        connection.register("tables", pa.concat_tables(tables, promote_options="permissive"))
    else:
        connection.register("entries", pa.Table.from_pylist(files))
    paths = ", ".join("'{}'".format(path.replace("'", "''")) for path in dict.fromkeys(file["file"] for file in files))
    source = (
        "tables"
        if tables
        else f"(SELECT dataset, system, files.* EXCLUDE (file) FROM entries JOIN "
        f"read_parquet([{paths}], union_by_name = true, filename = 'file') AS files USING (file))"
    )
    return f"SELECT *{'' if 'text' in columns else ', NULL::VARCHAR AS text'} FROM {source}"


@contextmanager
def _report_damage() -> Iterator[None]:
    """Raise `InputError` in place of DuckDB's errors for a damaged Parquet file, but not of those for a wrong query."""
    import duckdb

    try:
        yield
    except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException):
        raise
    except duckdb.Error as problem:
        raise invalid_file_error("verdicts", f"{type(problem).__name__}: {problem}") from problem


def _fetch_rows(connection: Any, query: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:  # noqa: ANN401  # DuckDB's
    """Run an SQL query and return its rows as dictionaries."""
    table = connection.sql(query, params=list(parameters)).to_arrow_table()
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def build_entities(archive: Archive) -> EntitiesResource:
    """Count mentions, correct and wrong predictions by entity, surface form and confused pair, on all datasets."""
    index = _ArchiveIndex.from_archive(archive)
    with _connect(archive, index) as connection:
        gold, predicted, surfaces, confused = (
            _fetch_rows(connection, query)
            for query in (_GOLD_QUERY, _PREDICTED_QUERY, _SURFACE_QUERY, _CONFUSION_QUERY)
        )
    visible_datasets = {
        dataset for dataset, key in enumerate(index.keys) if archive.get_visible_corpus(key) is not None
    }
    entity_list = _EntityList()
    rows = list(_build_entity_rows(index, gold, predicted, entity_list))
    by_surface = list(_build_surface_rows(index, [row for row in surfaces if row["dataset"] in visible_datasets]))
    return EntitiesResource(
        rows=rows[:_MAX_ROWS],
        surfaces=by_surface[:_MAX_ROWS],
        confusions=[_build_confusion(row, entity_list) for row in confused[:_MAX_ROWS]],
        omitted=tuple(max(0, len(all_rows) - _MAX_ROWS) for all_rows in (rows, by_surface, confused)),  # type: ignore[arg-type]
        entities=list(entity_list.indices),
        names=[entity_list.names.get(id) for id in entity_list.indices],
    )


class _EntityList:
    """Distinct entities with their index, in the order of first use, and their names."""

    def __init__(self) -> None:
        self.indices: dict[str, int] = {}
        self.names: dict[str, str] = {}

    def add(self, id: str | None, name: str | None, nil: bool | None = None) -> int:
        """Add an entity if it is new and return its index; without id, return -1 for NIL or -2 for unlinked."""
        if id is None:
            return _NIL if nil else _NO_LINK
        if name:
            self.names.setdefault(id, name)
        return self.indices.setdefault(id, len(self.indices))


def _build_entity_rows(
    index: _ArchiveIndex,
    gold: Sequence[Mapping[str, Any]],
    predicted: Sequence[Mapping[str, Any]],
    entity_list: _EntityList,
) -> Iterator[EntityRow]:
    """Yield the counts of each entity on each dataset, most mentions first; listed entities go into `entity_list`.

    `gold` and `predicted` are the rows of `_GOLD_QUERY` and `_PREDICTED_QUERY`. Rows beyond `_MAX_ROWS` have no entity.
    """
    counts: dict[tuple[str, int], tuple[list[int], list[int | None], list[int | None], str | None]] = {}

    def get_counts(id: str, row: Mapping[str, Any]) -> tuple[list[int], list[int | None], list[int | None], str | None]:
        if (id, row["dataset"]) not in counts:
            zeros = index.zero_counts[row["dataset"]]
            counts[id, row["dataset"]] = ([0], zeros.copy(), zeros.copy(), row["name"])
        return counts[id, row["dataset"]]

    for row in gold:
        mentions, correct, _, _ = get_counts(row["mention_entity"], row)
        mentions.append(row["mentions"])
        correct[row["system"]] = row["correct"]
    for row in predicted:
        get_counts(row["prediction_entity"], row)[2][row["system"]] = row["predicted"]
    ordered = sorted(counts.items(), key=lambda item: (-max(item[1][0]), -sum(map(_zero_if_none, item[1][2])), item[0]))
    for rank, ((id, dataset), (mentions, correct, times_predicted, name)) in enumerate(ordered):
        entity = entity_list.add(id, name) if rank < _MAX_ROWS else _NO_LINK  # what is not listed needs no place
        yield EntityRow(entity, dataset, max(mentions), correct, times_predicted)


def _zero_if_none(number: int | None) -> int:
    """Return the number, 0 for None."""
    return number or 0


def _build_surface_rows(index: _ArchiveIndex, surfaces: Sequence[Mapping[str, Any]]) -> Iterator[SurfaceRow]:
    """Yield the counts of each surface form on each dataset, most mentions first, from rows of `_SURFACE_QUERY`."""
    rows: dict[tuple[str, int], tuple[list[tuple[int, int]], list[int | None]]] = {}
    for row in surfaces:
        counts, correct = rows.setdefault((row["text"], row["dataset"]), ([], index.zero_counts[row["dataset"]].copy()))
        counts.append((row["mentions"], row["entities"]))
        correct[row["system"]] = row["correct"]
    for (surface, dataset), (counts, correct) in sorted(rows.items(), key=lambda item: (-max(item[1][0])[0], item[0])):
        yield SurfaceRow(surface, dataset, max(counts)[0], max(entities for _, entities in counts), correct)


def _build_confusion(row: Mapping[str, Any], entity_list: _EntityList) -> ConfusionRow:
    """Build a confusion from a row of `_CONFUSION_QUERY`; its entities go into `entity_list`."""
    gold = entity_list.add(row["gold_entity"], row["gold_name"], row["gold_nil"])
    predicted = entity_list.add(row["prediction_entity"], row["prediction_name"], row["prediction_nil"])
    return ConfusionRow(gold, predicted, row["dataset"], row["system"], row["number"])


class CaseQuery(NamedTuple):
    """Conditions of a case search, all of which must hold, and the range of cases to return."""

    entity: str | None = None
    surface: str | None = None
    kind: str | None = None
    system: str | None = None
    dataset: str | None = None
    pattern: str | None = None
    """Regular expression (RE2)."""
    limit: int = 100
    offset: int = 0


def search_cases(archive: Archive, query: CaseQuery) -> SearchResource:
    """Find the cases of all systems that match a query; hidden texts match nothing and are not returned.

    Raise `InputError` if a table of cases is damaged.
    """
    index = _ArchiveIndex.from_archive(archive)
    visible_datasets = [
        dataset for dataset, key in enumerate(index.keys) if archive.get_visible_corpus(key) is not None
    ]
    with _connect(archive, index) as connection:
        # hidden texts match nothing
        text = f"CASE WHEN list_contains({visible_datasets}::INT[], dataset) THEN text ELSE '' END"
        conditions, parameters = _build_conditions(index, query)
        where = f"FROM (SELECT * REPLACE ({text} AS text) FROM cases) WHERE {' AND '.join(['true', *conditions])}"
        with _limit_query(connection):
            total = _fetch_rows(connection, f"SELECT count(*) AS number {where}", parameters)[0]["number"]
            select = f"SELECT * {where} ORDER BY dataset, document, coalesce(gold_start, prediction_start), system"
            rows = _fetch_rows(connection, f"{select} LIMIT ? OFFSET ?", [*parameters, query.limit, query.offset])
    return SearchResource(total, [_build_case(row) for row in rows])


def _build_conditions(index: _ArchiveIndex, query: CaseQuery) -> tuple[list[str], list[object]]:
    """Return the SQL conditions of a query and the values of their placeholders; raise on an unknown name."""
    conditions: list[tuple[str, list[object]]] = []
    if query.entity is not None:
        conditions.append(("(gold_entity = ? OR prediction_entity = ?)", [query.entity] * 2))
    if query.surface is not None:
        conditions.append(("text = ?", [query.surface]))
    if query.kind is not None:
        conditions.append(("kind = ?", [_check_name("kind of case", query.kind, CASE_KINDS)]))
    if query.system is not None:
        system = _check_name("system", query.system, index.systems)
        conditions.append(("system = ?", [index.systems.index(system)]))
    if query.dataset is not None:
        conditions.append(("dataset = ?", [index.keys.index(_check_name("dataset", query.dataset, index.keys))]))
    if query.pattern is not None:
        matches = " OR ".join(f"regexp_matches({column}, ?, 'i')" for column in _SEARCHED_COLUMNS)
        conditions.append((f"({matches})", [query.pattern] * len(_SEARCHED_COLUMNS)))
    return [condition for condition, _ in conditions], [value for _, values in conditions for value in values]


def _check_name(kind: str, name: str, names: Sequence[str]) -> str:
    """Return `name`; raise `UnknownNameError` if it is not among `names`. `kind` says what it names."""
    if name not in names:
        raise UnknownNameError(kind, name, names)
    return name


@contextmanager
def _limit_query(connection: Any) -> Iterator[None]:  # noqa: ANN401  # DuckDB's
    """Interrupt a query in the block that takes too long; turn this and invalid expressions into `UsageError`."""
    from threading import Timer

    import duckdb

    timer = Timer(_SECONDS, connection.interrupt)
    timer.start()
    try:
        yield
    except duckdb.InterruptException:
        raise UsageError(f"the search took longer than {_SECONDS:g} seconds. Narrow the query.") from None
    except duckdb.InvalidInputException as problem:
        message = str(problem).splitlines()[0].removeprefix("Invalid Input Error: ")
        raise UsageError(f"invalid regular expression (RE2): {message}") from None
    finally:
        timer.cancel()


def _build_case(row: Mapping[str, Any]) -> MatchingCase:
    """Build a search result from a row of `cases`; its span is the span of the prediction, or else of the mention."""
    on_gold = row["gold_start"] is not None and row["prediction_start"] is None
    side = "gold" if on_gold else "prediction"
    links = {role: _format_link(row, role) for role in ("gold", "prediction")}
    names = {role: row.get(f"{role}_name") for role in ("gold", "prediction")}
    return MatchingCase(
        row["dataset"],
        row["system"],
        row["document"],
        row[f"{side}_start"],
        row[f"{side}_end"],
        row["text"] or "",
        links["gold"],
        names["gold"],
        links["prediction"],
        names["prediction"],
        row["kind"],
        row["score"],
    )


def _format_link(row: Mapping[str, Any], side: str) -> str | None:
    """Return the entity of `side` (gold or prediction), `NIL` or `unlinked`; None if the case lacks this side."""
    if row[side] is None:
        return None
    return row[f"{side}_entity"] or ("NIL" if row[f"{side}_nil"] else "unlinked")
