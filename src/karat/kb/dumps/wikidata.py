"""Snapshots from the JSON dump of Wikidata, with merged items from the tables of its wiki.

The JSON dump has no redirects; the page and redirect tables of `wikidatawiki` have them. Anchor counts and links come
from a snapshot of a Wikipedia, if one is given.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from karat.kb.dumps.class_graph import remove_cycles
from karat.kb.dumps.items import ITEM_TABLES, LINE_END, ItemReader
from karat.kb.dumps.name_index import write_sorted_name_index
from karat.kb.dumps.query_streams import follow_redirects, keep_first_rows, query_number, stream_query
from karat.kb.dumps.wikipedia import WEIGHTED_NAMES_QUERY, read_sql, write_popular
from karat.kb.ids.equivalence_classes import MergeConflict
from karat.kb.ids.id_spaces import WIKIDATA
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest, SnapshotSource, read_manifest
from karat.kb.snapshot.name_index import NAME_INDEX_FOLDER
from karat.kb.snapshot.writer import SnapshotWriter, open_snapshot_writer
from karat.kb.type_rules import CUT_SUPERCLASSES, TypeRules
from karat.model.errors import UsageError
from karat.model.tables.arrow import Arrow
from karat.storage.dump_stage import DEFAULT_MEMORY, DumpStage
from karat.storage.dumps import Dump, Progress

CLASSES_BY_KIND: Final = {"disambiguation": ("Q4167410", "Q22808320"), "list": ("Q13406463",)}
"""Classes of items that are no entities, by kind; subclasses belong to them too."""

CLASSES_BY_VALUE_TYPE: Final = {
    "QUANTITY": ("Q11563", "Q21199", "Q47574"),
    "DATETIME": ("Q577", "Q578", "Q573", "Q36507", "Q39911", "Q205892", "Q47018901", "Q14795564"),
}
"""Classes of quantities (numbers, units) and of datetimes (days to millennia); subclasses belong to them too."""

_MOST_COMPLETE_FIRST: Final = (
    "ORDER BY id, sites DESC, len(types) DESC, name, description"  # which row of an item listed twice counts
)


@dataclass(frozen=True)
class WikidataDumps:
    """The dump files of one day."""

    items: Path
    """JSON dump of all items."""
    page: Path | None = None
    """Table of pages of wikidatawiki; needed with `redirect` for merged items."""
    redirect: Path | None = None
    """Table of redirects of wikidatawiki."""
    wikipedia: Path | None = None
    """Folder of a snapshot of a Wikipedia, for anchor counts and links."""


def build_wikidata(
    dumps: WikidataDumps,
    folder: Path,
    *,
    date: str,
    reader: ItemReader,
    memory: str = DEFAULT_MEMORY,
    progress: Progress | None = None,
) -> SnapshotManifest:
    """Build a snapshot from Wikidata dumps in `folder`, or resume an interrupted build; return its manifest.

    `date`: date of the dumps. `reader`: languages, wikis and type rules. `memory`: memory limit of DuckDB, such as
    `8GB`. Intermediate tables are stored next to `folder` until the snapshot is complete. Raise `UsageError` if only
    one of the page and redirect tables is given.
    """
    if (dumps.page is None) != (dumps.redirect is None):
        raise UsageError("merged items need both page.sql and redirect.sql of wikidatawiki. Pass both, or neither.")
    wikipedia = None if dumps.wikipedia is None else read_manifest(dumps.wikipedia)
    files = [path for path in (dumps.items, dumps.page, dumps.redirect) if path is not None]
    sources = [SnapshotSource("Wikidata", date, "CC0-1.0", {path.name: "" for path in files})]
    if wikipedia is not None:
        sources.append(
            SnapshotSource(f"snapshot {wikipedia.name}@{wikipedia.digest}", wikipedia.date, wikipedia.licence)
        )
    sources += reader.rules.sources
    manifest = SnapshotManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"Wikidata of {date}",
        licence="CC0-1.0" if wikipedia is None else f"CC0-1.0 and {wikipedia.licence}",
        space=WIKIDATA,
        title_space=reader.wikis[0] if reader.wikis else "",
        anchor_counts="none" if wikipedia is None else wikipedia.anchor_counts,
        popularity="sites with a page about the item" if _lacks_counts(wikipedia) else "counts of anchors",
        sources=tuple(sources),
    )
    with open_snapshot_writer(folder, manifest) as snapshot:
        stage = DumpStage(folder.absolute().with_name(f".{folder.name}.read"))
        dump = Dump(dumps.items)
        counts = stage.read_dump(
            dump, reader.description, LINE_END, lambda block: reader.parse_block(block, dump.label), progress
        )
        if dumps.page is not None and dumps.redirect is not None:
            counts += read_sql(stage, dumps.page, "page", ("page_id", "page_namespace", "page_title"), progress)
            counts += read_sql(
                stage, dumps.redirect, "redirect", ("rd_from", "rd_namespace", "rd_title", "rd_interwiki"), progress
            )
        snapshot.count_repairs({description: count for description, count in counts.items() if description != "items"})
        with stage.open_database(memory) as db:
            _SnapshotTables(db, stage, snapshot, dumps, wikipedia, reader.rules).write_tables()
    stage.remove()
    return read_manifest(folder)


def _lacks_counts(wikipedia: SnapshotManifest | None) -> bool:
    """Return whether there is no Wikipedia snapshot, or one without anchor counts."""
    return wikipedia is None or wikipedia.anchor_counts == "none"


class _SnapshotTables:
    """Writer of the tables of the snapshot, which DuckDB computes from the staged dumps."""

    def __init__(
        self,
        db: Any,  # noqa: ANN401  # DuckDB ships no types
        stage: DumpStage,
        snapshot: SnapshotWriter,
        dumps: WikidataDumps,
        wikipedia: SnapshotManifest | None,
        rules: TypeRules,
    ) -> None:
        self._db, self._stage, self._snapshot, self._dumps, self._wikipedia = db, stage, snapshot, dumps, wikipedia
        self._rules = rules
        self._repairs: Counter[str] = Counter()

    def write_tables(self) -> None:
        """Write all tables of the snapshot."""
        self._write_redirects()
        pairs = self._write_classes()
        self._write_links()
        rows = self._iterate_first_rows(
            f"SELECT * EXCLUDE (types, sites) FROM ({self._prepare_entities_query()}) {_MOST_COMPLETE_FIRST}",
            "items listed twice",
        )
        self._snapshot.write_table("entities", rows, is_sorted=True)
        self._write_types(pairs)
        self._write_identity()
        self._write_names()
        self._snapshot.write_table(
            "demonyms",
            stream_query(self._db, f"SELECT DISTINCT surface, id FROM {self._table_sql('demonyms')} ORDER BY 1, 2"),
            is_sorted=True,
        )
        self._snapshot.count_repairs(
            {description: count for description, count in self._repairs.items() if description}
        )

    def _table_sql(self, name: str) -> str:
        """Return the SQL expression that reads a staged table of `ITEM_TABLES`."""
        return self._stage.table_sql(name, ITEM_TABLES[name])

    def _iterate_first_rows(self, query: str, description: str) -> Any:  # noqa: ANN401
        """Yield the rows of a query, the first of each id; the others are counted under `description`, if any."""
        return keep_first_rows(
            stream_query(self._db, query), "id", self._repairs, f"{description}, used once" if description else ""
        )

    def _write_redirects(self) -> None:
        """Write the redirects of merged items; create the SQL tables `ended` (their ends) and `known` (all items)."""
        pages = self._stage.table_sql("page", {"page_id": "BIGINT", "page_title": "VARCHAR"})
        redirects = self._stage.table_sql("redirect", {"rd_from": "BIGINT", "rd_title": "VARCHAR"})
        self._db.execute(f"""
            CREATE TABLE redirect_pair AS SELECT DISTINCT page_title AS id, rd_title AS target FROM {redirects}
                JOIN {pages} ON page_id = rd_from;
            CREATE TABLE known AS SELECT DISTINCT id FROM {self._table_sql("items")};
            CREATE TABLE merged AS SELECT id, min(target) AS target FROM redirect_pair
                ANTI JOIN known ON known.id = redirect_pair.id
                GROUP BY redirect_pair.id;
        """)
        n_redirects, n_merged, n_existing = (
            query_number(self._db, query)
            for query in (
                "SELECT count(*) FROM redirect_pair",
                "SELECT count(*) FROM merged",
                "SELECT count(*) FROM redirect_pair SEMI JOIN known ON known.id = redirect_pair.id",
            )
        )
        self._repairs["merged items that are in the dump, not redirected"] += n_existing
        self._repairs["redirects listed twice, used once"] += n_redirects - n_existing - n_merged
        self._repairs += follow_redirects(self._db, "merged", "ended")
        self._repairs["merged items whose end is not in the dump"] += query_number(
            self._db, "SELECT count(*) FROM ended e ANTI JOIN known k ON k.id = e.target"
        )
        if self._dumps.redirect is not None:
            self._snapshot.write_table(
                "redirects",
                stream_query(self._db, "SELECT id, target FROM merged WHERE id != target ORDER BY 1"),
                is_sorted=True,
            )

    def _write_classes(self) -> Arrow:
        """Write the superclasses of all classes in use, without cycles; return all pairs, with cycles.

        Create the SQL tables `kinds` and `valued`, with the kind and the value type of classes.
        """
        self._db.execute(f"""
            CREATE TABLE pair AS SELECT DISTINCT class, superclass FROM {self._table_sql("subclasses")};
            CREATE TABLE used AS WITH RECURSIVE up(class) AS (
                SELECT DISTINCT unnest(types) FROM {self._table_sql("items")}
                UNION SELECT p.superclass FROM up JOIN pair p ON p.class = up.class) SELECT class FROM up;
        """)
        pairs = self._db.sql("""
            SELECT class, superclass FROM pair SEMI JOIN used ON used.class = pair.class ORDER BY 1, 2
        """).to_arrow_table()
        kept_pairs, n_above = self._rules.cut_above_whitelist(pairs)
        acyclic_pairs, n_cut = remove_cycles(kept_pairs)
        self._repairs["subclass-of statements that close a cycle, skipped"] += n_cut
        self._repairs[CUT_SUPERCLASSES] += n_above
        self._snapshot.write_table("subclass_of", acyclic_pairs)
        for table, classes in (("kinds", CLASSES_BY_KIND), ("valued", CLASSES_BY_VALUE_TYPE)):
            roots = ", ".join(f"('{name}', '{id}')" for name, ids in classes.items() for id in ids)
            self._db.execute(f"""
                CREATE TABLE {table} AS WITH RECURSIVE down(name, class) AS (
                    SELECT * FROM (VALUES {roots}) AS roots(name, class)
                    UNION SELECT d.name, a.class FROM down d JOIN pair a ON a.superclass = d.class)
                SELECT class, min(name) AS name FROM down GROUP BY class
            """)
        return pairs

    def _write_types(self, pairs: Arrow) -> None:
        """Write the classes of items, or the whitelist types above them; an empty list means no types.

        `pairs`: table of pairs (class, superclass).
        """
        types = self._iterate_first_rows(f"SELECT id, types FROM {self._table_sql('items')} {_MOST_COMPLETE_FIRST}", "")
        typing = self._rules.make_whitelist_typing(pairs) if self._rules.whitelist else None
        self._snapshot.write_table(
            "types", types if typing is None else typing.convert_type_tables(types), is_sorted=True
        )
        if typing is not None:
            self._snapshot.add_counts(untyped=typing.n_untyped)
        ids = (
            ", ".join(f"'{correction.id}'" for correction in self._rules.corrections if "'" not in correction.id)
            or "NULL"
        )
        known_rows = self._db.sql(f"SELECT id FROM known WHERE id IN ({ids})").fetchall()
        self._repairs += Counter(self._rules.count_unused_corrections(id for (id,) in known_rows))

    def _prepare_entities_query(self) -> str:
        """Create SQL tables of the kind and value type of items, and return the query for all columns of entities.

        The query also returns the columns `types` and `sites`.
        """
        self._db.execute(f"""
            CREATE TABLE class_of AS SELECT id, unnest(types) AS class FROM {self._table_sql("items")};
            CREATE TABLE kind AS SELECT c.id AS id, min(k.name) AS kind FROM class_of c JOIN kinds k
                ON k.class = c.class GROUP BY c.id;
            CREATE TABLE value AS SELECT c.id AS id, min(v.name) AS value FROM class_of c JOIN valued v
                ON v.class = c.class GROUP BY c.id;
            DROP TABLE class_of;
        """)
        return f"""
            SELECT i.id AS id, i.name AS name, coalesce(k.kind, 'normal') AS kind, i.description AS description,
                v.value AS value, {"d.links" if self._has_links else "NULL"}::BIGINT AS in_links,
                i.population AS population, i.types AS types, i.sites AS sites
            FROM {self._table_sql("items")} i LEFT JOIN kind k ON k.id = i.id LEFT JOIN value v ON v.id = i.id
            {"LEFT JOIN degree d ON d.id = i.id" if self._has_links else ""}
        """

    @property
    def _has_links(self) -> bool:
        """Whether there is a Wikipedia snapshot with links."""
        return self._wikipedia is not None and "links" in self._wikipedia.tables

    def _wikipedia_table_sql(self, name: str) -> str:
        """Return the SQL expression that reads a table of the Wikipedia snapshot."""
        assert self._dumps.wikipedia is not None
        path = str(self._dumps.wikipedia / f"{name}.parquet").replace("'", "''")
        return f"read_parquet('{path}')"

    def _write_links(self) -> None:
        """Write the links between items from the Wikipedia snapshot, if it has any, and count the links to each item.

        The SQL table `degree` holds the counts.
        """
        if not self._has_links:
            return
        self._db.execute(f"""
            CREATE TABLE link AS SELECT DISTINCT coalesce(t.target, l.target) AS target,
                coalesce(s.target, l.source) AS source FROM {self._wikipedia_table_sql("links")} l
                LEFT JOIN ended t ON t.id = l.target LEFT JOIN ended s ON s.id = l.source;
            CREATE TABLE linked AS SELECT target, source FROM link SEMI JOIN known k ON k.id = link.target
                SEMI JOIN known s ON s.id = link.source;
            CREATE TABLE degree AS SELECT target AS id, count(*) AS links FROM linked GROUP BY target;
        """)
        self._repairs["links of pages without an item in the dump, skipped"] += query_number(
            self._db, "SELECT (SELECT count(*) FROM link) - (SELECT count(*) FROM linked)"
        )
        self._snapshot.write_table(
            "links", stream_query(self._db, "SELECT target, source FROM linked ORDER BY 1, 2"), is_sorted=True
        )

    def _write_identity(self) -> None:
        """Write the ids that lead to items: other spaces, merged items, and titles of the Wikipedia snapshot."""
        self._db.execute(f"""
            CREATE TABLE same AS SELECT DISTINCT id, other FROM {self._table_sql("same")};
            CREATE TABLE claimed AS SELECT other, count(*) AS times, min(id) AS id FROM same GROUP BY other;
        """)
        self._snapshot.write_table(
            "same_as", stream_query(self._db, "SELECT id, other FROM same ORDER BY 1, 2"), is_sorted=True
        )
        ambiguous = "SELECT s.other, s.id FROM same s JOIN claimed c ON c.other = s.other AND c.times > 1 ORDER BY 1, 2"
        self._report_conflicts(self._db.sql(ambiguous).fetchall())
        wikipedia_part = ""
        if self._wikipedia is not None and "identity" in self._wikipedia.tables:
            self._repairs["ids that the Wikipedia snapshot resolves differently, resolved by the dump"] += query_number(
                self._db,
                f"""SELECT count(*) FROM {self._wikipedia_table_sql("identity")} w
                    JOIN claimed c ON c.other = w.id AND c.times = 1
                    LEFT JOIN ended e ON e.id = w.entity WHERE coalesce(e.target, w.entity) != c.id""",
            )
            wikipedia_part = f"""
                UNION ALL SELECT w.id, coalesce(e.target, w.entity), w.how, 2
                FROM {self._wikipedia_table_sql("identity")} w LEFT JOIN ended e ON e.id = w.entity
                SEMI JOIN known k ON k.id = coalesce(e.target, w.entity)
            """
        query = f"""
            SELECT id, entity, how FROM (
                SELECT id, target AS entity, 'redirect' AS how, 0 AS rank FROM ended
                UNION ALL SELECT other, CASE WHEN times = 1 THEN id ELSE other END,
                    CASE WHEN times = 1 THEN 'same-as' ELSE 'ambiguous' END, 1 FROM claimed
                {wikipedia_part}) ORDER BY id, rank, entity
        """
        self._snapshot.write_table("identity", self._iterate_first_rows(query, ""), is_sorted=True)

    def _report_conflicts(self, rows: list[tuple[str, str]]) -> None:
        """Report the ids that several items claim, from rows (id, item), and count them."""
        items: dict[str, list[str]] = {}
        for other, id in rows:
            items.setdefault(other, []).append(id)
        self._repairs["ids that several items claim, not merged"] += len(items)
        self._snapshot.report_conflicts(
            [MergeConflict.from_claims(WIKIDATA, other, ids) for other, ids in items.items()]
        )

    def _write_names(self) -> None:
        """Write aliases, popular entities and the name index."""
        has_counts = not _lacks_counts(self._wikipedia)
        wikipedia_part = ""
        if self._wikipedia is not None and "aliases" in self._wikipedia.tables:
            wikipedia_part = f"""
                UNION ALL SELECT coalesce(e.target, w.id), w.alias, w.count
                FROM {self._wikipedia_table_sql("aliases")} w LEFT JOIN ended e ON e.id = w.id
                SEMI JOIN known k ON k.id = coalesce(e.target, w.id)
            """
        zero = "0" if has_counts else "NULL"
        self._db.execute(f"""
            CREATE TABLE alias AS SELECT id, alias, sum(count)::BIGINT AS count FROM (
                SELECT id, alias, {zero}::BIGINT AS count FROM {self._table_sql("names")} WHERE trim(alias) != ''
                {wikipedia_part}) GROUP BY id, alias
        """)
        self._snapshot.write_table(
            "aliases", stream_query(self._db, "SELECT id, alias, count FROM alias ORDER BY 1, 2"), is_sorted=True
        )
        if has_counts:
            query = "SELECT alias AS surface, id, count AS weight FROM alias"
        else:
            self._db.execute(
                f"CREATE TABLE site AS SELECT id, max(sites) AS n FROM {self._table_sql('items')} GROUP BY id"
            )
            query = "SELECT a.alias AS surface, a.id AS id, s.n AS weight FROM alias a JOIN site s ON s.id = a.id"
        write_popular(self._db, self._snapshot, query)
        write_sorted_name_index(
            self._db, self._stage.scratch, self._snapshot.folder / NAME_INDEX_FOLDER, WEIGHTED_NAMES_QUERY
        )
