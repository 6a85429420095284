"""Snapshots from the dumps of one Wikipedia.

An entity is a page of the main namespace that is no redirect. Its id is the Wikidata item of the page, or else its
title key, `enwiki:Berlin`. Titles, page numbers and redirects lead to it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from karat.kb.dumps import articles
from karat.kb.dumps.name_index import write_sorted_name_index
from karat.kb.dumps.query_streams import follow_redirects, group_values, keep_first_rows, query_number, stream_query
from karat.kb.dumps.sql_tables import STATEMENT_END, SqlTable
from karat.kb.ids.equivalence_classes import MergeConflict
from karat.kb.snapshot.manifest import LAYOUT, UNKNOWN_POPULARITY, SnapshotManifest, SnapshotSource, read_manifest
from karat.kb.snapshot.name_index import NAME_INDEX_FOLDER
from karat.kb.snapshot.writer import SnapshotWriter, open_snapshot_writer
from karat.model.errors import UsageError
from karat.storage.dump_stage import DEFAULT_MEMORY, DumpStage, ParsedBlock
from karat.storage.dumps import Dump, Progress

LIST_TITLE_PREFIXES: Final = {
    "dewiki": ("Liste ",),
    "enwiki": ("List of ", "Lists of "),
    "eswiki": ("Anexo:",),
    "frwiki": ("Liste de ", "Liste des ", "Liste d'"),
}
"""Prefixes of titles of list pages by wiki; in other wikis, lists cannot be recognised."""

_INTEGER: Final = "BIGINT"
_PAGE_COLUMNS: Final = {"page_id": _INTEGER, "page_title": "VARCHAR", "page_is_redirect": _INTEGER}
_REDIRECT_COLUMNS: Final = {"rd_from": _INTEGER, "rd_title": "VARCHAR"}
_PROPERTY_COLUMNS: Final = {"pp_page": _INTEGER, "pp_propname": "VARCHAR", "pp_value": "VARCHAR"}
_TARGET_COLUMNS: Final = {"lt_id": _INTEGER, "lt_title": "VARCHAR"}
_LINK_COLUMNS: Final = {"pl_from": _INTEGER, "pl_target_id": _INTEGER}
_OLD_LINK_COLUMNS: Final = {"pl_from": _INTEGER, "pl_title": "VARCHAR"}


@dataclass(frozen=True)
class WikipediaDumps:
    """The dump files of one day; without an optional file, the snapshot lacks the tables made from it."""

    page: Path
    """Table of pages."""
    redirect: Path
    """Table of redirects."""
    page_props: Path | None = None
    """Table of page properties, with Wikidata items and disambiguation pages."""
    pagelinks: Path | None = None
    """Table of links between pages."""
    linktarget: Path | None = None
    """Table of link targets, needed for `pagelinks` since 2024."""
    articles: tuple[Path, ...] = ()
    """Page texts, for the counts of anchors."""


def build_wikipedia(
    dumps: WikipediaDumps,
    folder: Path,
    *,
    wiki: str,
    date: str,
    memory: str = DEFAULT_MEMORY,
    progress: Progress | None = None,
) -> SnapshotManifest:
    """Build a snapshot from Wikipedia dumps in `folder`, or resume an interrupted build; return its manifest.

    `wiki`: name such as `enwiki`. `date`: date of the dumps. `memory`: memory limit of DuckDB, such as `8GB`.
    Intermediate tables are stored next to `folder` until the snapshot is complete.
    """
    manifest = SnapshotManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"{wiki} of {date}",
        licence="CC BY-SA 4.0",
        space="wikidata",
        title_space=wiki,
        anchor_counts=f"{wiki} of {date}" if dumps.articles else "none",
        popularity="counts of anchors"
        if dumps.articles
        else "links to the page"
        if dumps.pagelinks
        else UNKNOWN_POPULARITY,
        sources=(SnapshotSource(wiki, date, "CC BY-SA 4.0", {path.name: "" for path in _list_files(dumps)}),),
    )
    with open_snapshot_writer(folder, manifest) as snapshot:
        stage = DumpStage(folder.absolute().with_name(f".{folder.name}.read"))
        snapshot.count_repairs(_read_dumps(stage, dumps, progress))
        with stage.open_database(memory) as db:
            _SnapshotTables(db, stage, snapshot, wiki, dumps).write_tables()
    stage.remove()
    return read_manifest(folder)


def _list_files(dumps: WikipediaDumps) -> list[Path]:
    """Return the paths of all dumps."""
    paths = (dumps.page, dumps.redirect, dumps.page_props, dumps.pagelinks, dumps.linktarget, *dumps.articles)
    return [path for path in paths if path is not None]


def _read_dumps(stage: DumpStage, dumps: WikipediaDumps, progress: Progress | None) -> Counter[str]:
    """Read all dumps into tables of `stage`; return the number of skipped inputs by reason."""
    counts = read_sql(
        stage, dumps.page, "page", ("page_id", "page_namespace", "page_title", "page_is_redirect"), progress
    )
    counts += read_sql(
        stage, dumps.redirect, "redirect", ("rd_from", "rd_namespace", "rd_title", "rd_interwiki"), progress
    )
    if dumps.page_props is not None:
        counts += read_sql(stage, dumps.page_props, "page_props", ("pp_page", "pp_propname", "pp_value"), progress)
    if dumps.linktarget is not None:
        counts += read_sql(stage, dumps.linktarget, "linktarget", ("lt_id", "lt_namespace", "lt_title"), progress)
    if dumps.pagelinks is not None:
        counts += _read_links(stage, dumps, dumps.pagelinks, progress)
    for path in dumps.articles:
        dump = Dump(path)
        reader = articles.ArticleDump.from_dump(dump)
        stage.read_dump(dump, "anchors", articles.PAGE_END, reader.count_anchors, progress)
    return Counter({description: count for description, count in counts.items() if "skipped" in description})


def _read_links(stage: DumpStage, dumps: WikipediaDumps, path: Path, progress: Progress | None) -> Counter[str]:
    """Read the table of links, in the layout before or since 2024, into `stage`; return the number of skipped inputs.

    Raise `UsageError` if the layout needs the dump `linktarget` and it is missing.
    """
    if "pl_target_id" not in SqlTable.read_column_names(Dump(path)):  # before 2024
        return read_sql(
            stage, path, "pagelinks", ("pl_from", "pl_namespace", "pl_title", "pl_from_namespace"), progress
        )
    if dumps.linktarget is None:
        raise UsageError(f"{path.name} identifies link targets by number. Pass linktarget.sql too.")
    return read_sql(stage, path, "pagelinks", ("pl_from", "pl_from_namespace", "pl_target_id"), progress)


def read_sql(
    stage: DumpStage, path: Path, name: str, columns: tuple[str, ...], progress: Progress | None
) -> Counter[str]:
    """Read columns of the dumped table `name` into `stage`; return the number of skipped inputs by reason.

    Only rows in the main namespace, redirects within the wiki, and properties that Karat uses are read. Columns that
    only serve this selection are dropped.
    """
    dump = Dump(path)
    table = SqlTable.from_dump(dump, name, columns)

    def parse(block: Any) -> ParsedBlock:  # noqa: ANN401
        """Return the selected rows of a block."""
        import pyarrow.compute as pc

        rows, counts = table.parse_rows(block)
        for column in columns:
            if column.endswith("_namespace"):
                rows = rows.filter(pc.equal(rows.column(column), 0)).drop_columns([column])
            elif column == "rd_interwiki":
                is_internal = pc.equal(pc.fill_null(rows.column(column), ""), "")
                rows = rows.filter(is_internal).drop_columns([column])
            elif column == "pp_propname":
                rows = rows.filter(pc.is_in(rows.column(column), value_set=_get_property_names()))
        return ParsedBlock({name: rows}, counts)

    return stage.read_dump(dump, f"{name} {' '.join(columns)}", STATEMENT_END, parse, progress)


def _get_property_names() -> Any:  # noqa: ANN401
    """Return the names of the page properties that Karat reads, as an Arrow array."""
    import pyarrow as pa

    return pa.array(["wikibase_item", "disambiguation"])


class _SnapshotTables:
    """Writer of the tables of the snapshot, which DuckDB computes from the staged dumps."""

    def __init__(self, db: Any, stage: DumpStage, snapshot: SnapshotWriter, wiki: str, dumps: WikipediaDumps) -> None:  # noqa: ANN401
        self._db, self._stage, self._snapshot, self._wiki, self._dumps = db, stage, snapshot, wiki, dumps
        self._repairs: Counter[str] = Counter()

    def write_tables(self) -> None:
        """Write all tables of the snapshot."""
        self._create_pages()
        self._create_redirect_ends()
        self._create_entities()
        self._write_links()
        self._write_first_rows("entities", "SELECT id, name, kind, in_links FROM entity ORDER BY id", "id")
        self._snapshot.write_table(
            "redirects", stream_query(self._db, _REDIRECT_ROWS.format(wiki=self._wiki)), is_sorted=True
        )
        self._snapshot.write_table(
            "same_as", stream_query(self._db, _SAME_ROWS.format(wiki=self._wiki)), is_sorted=True
        )
        self._write_first_rows("identity", _IDENTITY_ROWS.format(wiki=self._wiki), "id")
        self._write_aliases()
        self._snapshot.count_repairs(self._repairs)

    def _write_first_rows(self, name: str, query: str, key: str) -> None:
        """Write the table `name` from a query sorted by `key`; only the first row of a key is used."""
        rows = keep_first_rows(stream_query(self._db, query), key, self._repairs, f"rows of {name} with a repeated key")
        self._snapshot.write_table(name, rows, is_sorted=True)

    def _create_pages(self) -> None:
        """Create the SQL tables of pages, titles, items of pages, and disambiguation pages; count repairs."""
        pages, props = (
            self._stage.table_sql("page", _PAGE_COLUMNS),
            self._stage.table_sql("page_props", _PROPERTY_COLUMNS),
        )
        self._db.execute(f"""
            CREATE TABLE page AS SELECT page_id AS id, min(replace(page_title, '_', ' ')) AS title,
                max(page_is_redirect) = 1 AS moved, count(*) AS times FROM {pages} GROUP BY page_id
        """)
        self._repairs["pages listed twice, used once"] += query_number(self._db, "SELECT sum(times - 1) FROM page")
        self._db.execute("""
            CREATE TABLE title AS SELECT title, min(id) AS id, count(*) AS times FROM page GROUP BY title
        """)
        self._repairs["titles of several pages, assigned to the first"] += query_number(
            self._db, "SELECT sum(times - 1) FROM title"
        )
        self._db.execute(f"""
            CREATE TABLE item AS SELECT pp_page AS page, min(pp_value) AS item FROM {props}
                WHERE pp_propname = 'wikibase_item' GROUP BY pp_page;
            CREATE TABLE several AS SELECT DISTINCT pp_page AS page FROM {props} WHERE pp_propname = 'disambiguation';
        """)

    def _create_redirect_ends(self) -> None:
        """Create the SQL table `ended` with the page at the end of each redirect chain; count repairs."""
        redirects = self._stage.table_sql("redirect", _REDIRECT_COLUMNS)
        self._db.execute(f"""
            CREATE TABLE moved AS SELECT rd_from AS id, min(replace(rd_title, '_', ' ')) AS title,
                count(*) AS times FROM {redirects} GROUP BY rd_from;
            CREATE TABLE hop AS SELECT m.id AS id, t.id AS target FROM moved m JOIN page p ON p.id = m.id
                JOIN title t ON t.title = m.title;
        """)
        self._repairs["redirects listed twice, used once"] += query_number(self._db, "SELECT sum(times - 1) FROM moved")
        self._repairs["redirects to no page"] += query_number(
            self._db, "SELECT count(*) FROM moved m JOIN page p ON p.id = m.id ANTI JOIN title t ON t.title = m.title"
        )
        self._repairs += follow_redirects(self._db, "hop", "ended")

    def _create_entities(self) -> None:
        """Create the SQL tables `entity`, of pages that are no redirects, and `leads`, of the titles that lead to them.

        The id of an entity is its Wikidata item, or its title key if it has no item or another page has the same item.
        """
        lists = (
            " OR ".join(
                f"starts_with(p.title, '{_escape_sql(prefix)}')" for prefix in LIST_TITLE_PREFIXES.get(self._wiki, ())
            )
            or "false"
        )
        self._db.execute(f"""
            CREATE TABLE own AS SELECT p.id AS page, p.title AS title, i.item AS item
                FROM page p LEFT JOIN item i ON i.page = p.id WHERE NOT p.moved
                AND p.id NOT IN (SELECT id FROM hop);
            CREATE TABLE shared AS SELECT item, count(*) AS times FROM own WHERE item IS NOT NULL
                GROUP BY item HAVING count(*) > 1;
            CREATE TABLE entity AS SELECT p.page AS page, p.title AS name,
                CASE WHEN p.item IS NULL OR s.item IS NOT NULL THEN '{self._wiki}:' || p.title ELSE p.item END AS id,
                CASE WHEN d.page IS NOT NULL THEN 'disambiguation' WHEN {lists} THEN 'list' ELSE 'normal' END AS kind,
                {"0" if self._dumps.pagelinks else "NULL"}::BIGINT AS in_links
                FROM own p LEFT JOIN shared s ON s.item = p.item LEFT JOIN several d ON d.page = p.page;
            CREATE TABLE leads AS
                SELECT t.title AS title, e.id AS id, false AS moved FROM entity e JOIN title t ON t.id = e.page
                UNION ALL SELECT p.title, e.id, true FROM ended r JOIN page p ON p.id = r.id
                JOIN title t ON t.id = p.id JOIN entity e ON e.page = r.target;
        """)
        self._repairs["redirects that lead to no article"] += query_number(
            self._db, "SELECT count(*) FROM ended r ANTI JOIN entity e ON e.page = r.target"
        )
        self._repairs["redirects without a target"] += query_number(
            self._db, "SELECT count(*) FROM page p ANTI JOIN moved m ON m.id = p.id WHERE p.moved"
        )
        n_shared = query_number(self._db, "SELECT count(*) FROM shared")
        if n_shared:
            self._repairs["items that several pages claim, not merged"] += n_shared
            self._report_conflicts()

    def _report_conflicts(self) -> None:
        """Report the Wikidata items that several pages claim."""
        query = "SELECT o.item, o.title FROM own o JOIN shared s ON s.item = o.item ORDER BY 1, 2"
        pages: dict[str, list[str]] = {}
        for item, title in self._db.sql(query).fetchall():
            pages.setdefault(item, []).append(f"{self._wiki}:{title}")
        self._snapshot.report_conflicts(
            [MergeConflict.from_claims(self._wiki, item, keys) for item, keys in pages.items()]
        )

    def _write_links(self) -> None:
        """Write the table of links, if there is a dump of links, and store the number of links to each entity."""
        path = self._dumps.pagelinks
        if path is None:
            return
        if "pl_target_id" in SqlTable.read_column_names(Dump(path)):
            targets = self._stage.table_sql("linktarget", _TARGET_COLUMNS)
            links = self._stage.table_sql("pagelinks", _LINK_COLUMNS)
            pairs = f"SELECT pl_from AS source, lt_title AS title FROM {links} JOIN {targets} ON lt_id = pl_target_id"
        else:
            links = self._stage.table_sql("pagelinks", _OLD_LINK_COLUMNS)
            pairs = f"SELECT pl_from AS source, pl_title AS title FROM {links}"
        self._db.execute(f"""
            CREATE TABLE link AS SELECT DISTINCT l.id AS target, e.id AS source FROM ({pairs}) p
                JOIN entity e ON e.page = p.source JOIN leads l ON l.title = replace(p.title, '_', ' ')
                WHERE l.id != e.id;
            CREATE TABLE degree AS SELECT target AS id, count(*) AS links FROM link GROUP BY target;
            UPDATE entity SET in_links = degree.links FROM degree WHERE degree.id = entity.id;
        """)
        self._snapshot.write_table(
            "links", stream_query(self._db, "SELECT target, source FROM link ORDER BY 1, 2"), is_sorted=True
        )

    def _write_aliases(self) -> None:
        """Write aliases with their anchor counts, popular entities and the name index.

        Titles and redirects are aliases too, which may never occur as anchors. Without page texts, counts are null.
        """
        anchors = self._stage.table_sql("anchors", articles.ANCHOR_COLUMNS)
        has_counts = bool(self._dumps.articles)
        self._db.execute(f"""
            CREATE TABLE anchor AS SELECT surface, title, sum(count)::BIGINT AS count FROM {anchors} GROUP BY ALL;
            CREATE TABLE alias AS SELECT id, alias, sum(count)::BIGINT AS count FROM (
                SELECT l.id AS id, a.surface AS alias, a.count AS count FROM anchor a JOIN leads l ON l.title = a.title
                UNION ALL SELECT id, title, 0 FROM leads) GROUP BY id, alias;
        """)
        if has_counts:
            unresolved = "SELECT sum(count) FROM anchor a ANTI JOIN leads l ON l.title = a.title"
            self._repairs["anchors to no page"] += query_number(self._db, unresolved)
            self._snapshot.add_counts(anchors=query_number(self._db, "SELECT sum(count) FROM anchor"))
        count_column = "count" if has_counts else "NULL::BIGINT AS count"
        self._snapshot.write_table(
            "aliases",
            stream_query(self._db, f"SELECT id, alias, {count_column} FROM alias ORDER BY 1, 2"),
            is_sorted=True,
        )
        weight = "count" if has_counts else "(SELECT in_links FROM entity e WHERE e.id = alias.id)"
        write_popular(self._db, self._snapshot, f"SELECT alias AS surface, id, {weight} AS weight FROM alias")
        write_sorted_name_index(
            self._db, self._stage.scratch, self._snapshot.folder / NAME_INDEX_FOLDER, WEIGHTED_NAMES_QUERY
        )


WEIGHTED_NAMES_QUERY: Final = "SELECT surface AS alias, id, weight AS count FROM weighed"
"""Query for the names of a snapshot with their weights, after `write_popular`."""


def write_popular(db: Any, snapshot: SnapshotWriter, query: str) -> None:  # noqa: ANN401
    """Write the table `popular`: for each surface, the entities with the greatest weight, or its only entity.

    `query`: SQL query for `surface`, `id` and `weight`, whose rows are also stored in the SQL table `weighed`.
    """
    db.execute(f"""
        CREATE TABLE weighed AS {query};
        CREATE TABLE best AS SELECT surface, max(weight) AS weight, count(*) AS ids FROM weighed GROUP BY surface;
    """)
    best_query = """SELECT w.surface AS surface, w.id AS id FROM weighed w
        JOIN best b ON b.surface = w.surface AND (b.weight = w.weight OR b.ids = 1) ORDER BY 1, 2"""
    snapshot.write_table("popular", group_values(stream_query(db, best_query), "surface", "id", "ids"), is_sorted=True)


_REDIRECT_ROWS: Final = """
    SELECT '{wiki}:' || p.title AS id, min('{wiki}:' || m.title) AS target FROM moved m JOIN page p ON p.id = m.id
    JOIN title t ON t.id = p.id GROUP BY 1 ORDER BY 1, 2
"""
_SAME_ROWS: Final = """
    SELECT DISTINCT id, other FROM (
        SELECT id, '{wiki}:' || name AS other FROM entity WHERE id != '{wiki}:' || name
        UNION ALL SELECT id, '{wiki}-page:' || page FROM entity) ORDER BY 1, 2
"""
_IDENTITY_ROWS: Final = """
    SELECT id, entity, how FROM (
        SELECT '{wiki}:' || title AS id, id AS entity, CASE WHEN moved THEN 'redirect' ELSE 'same-as' END AS how
            FROM leads WHERE id != '{wiki}:' || title
        UNION ALL SELECT '{wiki}-page:' || page, id, 'same-as' FROM entity
        UNION ALL SELECT '{wiki}-page:' || r.id, e.id, 'redirect' FROM ended r JOIN entity e ON e.page = r.target
        UNION ALL SELECT item, item, 'ambiguous' FROM shared) ORDER BY id, entity
"""


def _escape_sql(text: str) -> str:
    """Return the text with single quotes doubled, for a literal in SQL."""
    return text.replace("'", "''")
