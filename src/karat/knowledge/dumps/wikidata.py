"""A pack from the JSON dump of Wikidata, with merged items from the tables of its wiki.

The JSON dump leaves redirects out; `wikidatawiki`'s page and redirect tables have them. Anchor counts and links come
from a pack of a Wikipedia, where one is given.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from karat.errors import UsageError
from karat.kb.identity import Joined
from karat.kb.pack.manifest import LAYOUT, PackManifest, PackSource, read_manifest
from karat.kb.pack.names import NAMES
from karat.kb.pack.writer import PackWriter, writing_pack
from karat.kb.spaces import WIKIDATA
from karat.knowledge.dumps.classes import acyclic
from karat.knowledge.dumps.items import ENDING, TABLES, ItemReader
from karat.knowledge.dumps.names import write_index
from karat.knowledge.dumps.redirects import follow
from karat.knowledge.dumps.streams import first_of_each, number, stream
from karat.knowledge.dumps.wikipedia import WEIGHED, read_sql, write_popular
from karat.knowledge.type_rules import ABOVE, TypeRules
from karat.model.tables.arrow import Arrow
from karat.storage.dumps import Dump, Progress
from karat.storage.staging import MEMORY, Stage

KINDS: Final = {"disambiguation": ("Q4167410", "Q22808320"), "list": ("Q13406463",)}
"""The classes of items that are no entities."""

VALUES: Final = {
    "QUANTITY": ("Q11563", "Q21199", "Q47574"),
    "DATETIME": ("Q577", "Q578", "Q573", "Q36507", "Q39911", "Q205892", "Q47018901", "Q14795564"),
}
"""Classes whose items are quantities (numbers, units) or datetimes (days to millennia); subclasses are of them too."""

_FULLEST: Final = "ORDER BY id, sites DESC, len(types) DESC, name, description"  # of an item given twice comes first


@dataclass(frozen=True)
class WikidataDumps:
    """The files of one day; without the last two, merged items are not known. `wikipedia` is a pack."""

    items: Path
    page: Path | None = None
    redirect: Path | None = None
    wikipedia: Path | None = None


def build_wikidata(
    dumps: WikidataDumps,
    folder: Path,
    *,
    date: str,
    reader: ItemReader,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> PackManifest:
    """Build a pack into a folder, or go on with a build that was cut; gives its manifest."""
    if (dumps.page is None) != (dumps.redirect is None):
        raise UsageError("merged items need both page.sql and redirect.sql of wikidatawiki. Give both, or none.")
    beside = None if dumps.wikipedia is None else read_manifest(dumps.wikipedia)
    files = [path for path in (dumps.items, dumps.page, dumps.redirect) if path is not None]
    sources = [PackSource("Wikidata", date, "CC0-1.0", {path.name: "" for path in files})]
    if beside is not None:
        sources.append(PackSource(f"pack {beside.name}@{beside.digest}", beside.date, beside.licence))
    sources += reader.rules.sources
    manifest = PackManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"Wikidata of {date}",
        licence="CC0-1.0" if beside is None else f"CC0-1.0 and {beside.licence}",
        space=WIKIDATA,
        titles=reader.wikis[0] if reader.wikis else "",
        anchor_counts="none" if beside is None else beside.anchor_counts,
        popularity="sites with a page about the item" if _uncounted(beside) else "counts of anchors",
        sources=tuple(sources),
    )
    with writing_pack(folder, manifest) as pack:
        stage = Stage(folder.absolute().with_name(f".{folder.name}.read"))
        dump = Dump(dumps.items)
        counts = stage.read(dump, reader.wishes, ENDING, lambda block: reader.parse(block, dump.label), progress)
        if dumps.page is not None and dumps.redirect is not None:
            counts += read_sql(stage, dumps.page, "page", ("page_id", "page_namespace", "page_title"), progress)
            counts += read_sql(
                stage, dumps.redirect, "redirect", ("rd_from", "rd_namespace", "rd_title", "rd_interwiki"), progress
            )
        pack.repaired({what: count for what, count in counts.items() if what != "items"})
        with stage.database(memory) as db:
            _Tables(db, stage, pack, dumps, beside, reader.rules).write()
    stage.remove()
    return read_manifest(folder)


def _uncounted(beside: PackManifest | None) -> bool:
    return beside is None or beside.anchor_counts == "none"


class _Tables:
    """The tables of the pack, made in a database."""

    def __init__(
        self,
        db: Any,  # noqa: ANN401  # DuckDB ships no types
        stage: Stage,
        pack: PackWriter,
        dumps: WikidataDumps,
        beside: PackManifest | None,
        rules: TypeRules,
    ) -> None:
        self._db, self._stage, self._pack, self._dumps, self._beside = db, stage, pack, dumps, beside
        self._rules = rules
        self._repairs: Counter[str] = Counter()

    def write(self) -> None:
        self._merged()
        pairs = self._classes()
        self._links()
        rows = self._first(f"SELECT * EXCLUDE (types, sites) FROM ({self._entities()}) {_FULLEST}", "items given twice")
        self._pack.write("entities", rows, ordered=True)
        self._types(pairs)
        self._identities()
        self._names()
        self._pack.write(
            "demonyms",
            stream(self._db, f"SELECT DISTINCT surface, id FROM {self._table('demonyms')} ORDER BY 1, 2"),
            ordered=True,
        )
        self._pack.repaired({what: count for what, count in self._repairs.items() if what})

    def _table(self, name: str) -> str:
        return self._stage.table(name, TABLES[name])

    def _first(self, query: str, what: str) -> Any:  # noqa: ANN401
        return first_of_each(stream(self._db, query), "id", self._repairs, f"{what}, taken once" if what else "")

    def _merged(self) -> None:
        pages = self._stage.table("page", {"page_id": "BIGINT", "page_title": "VARCHAR"})
        redirects = self._stage.table("redirect", {"rd_from": "BIGINT", "rd_title": "VARCHAR"})
        self._db.execute(f"""
            CREATE TABLE said AS SELECT DISTINCT page_title AS id, rd_title AS target FROM {redirects}
                JOIN {pages} ON page_id = rd_from;
            CREATE TABLE known AS SELECT DISTINCT id FROM {self._table("items")};
            CREATE TABLE merged AS SELECT id, min(target) AS target FROM said ANTI JOIN known ON known.id = said.id
                GROUP BY said.id;
        """)
        said, taken, there = (
            number(self._db, query)
            for query in (
                "SELECT count(*) FROM said",
                "SELECT count(*) FROM merged",
                "SELECT count(*) FROM said SEMI JOIN known ON known.id = said.id",
            )
        )
        self._repairs["merged items that are in the dump, not redirected"] += there
        self._repairs["redirects given twice, taken once"] += said - there - taken
        self._repairs += follow(self._db, "merged", "ended")
        self._repairs["merged items whose end is not in the dump"] += number(
            self._db, "SELECT count(*) FROM ended e ANTI JOIN known k ON k.id = e.target"
        )
        if self._dumps.redirect is not None:
            self._pack.write(
                "redirects",
                stream(self._db, "SELECT id, target FROM merged WHERE id != target ORDER BY 1"),
                ordered=True,
            )

    def _classes(self) -> Arrow:
        """Superclasses of the classes that items are of; cycles, which Wikidata has, are cut and counted.

        Gives all pairs with the cycles, in which every class leads to every other.
        """
        self._db.execute(f"""
            CREATE TABLE pair AS SELECT DISTINCT class, superclass FROM {self._table("subclasses")};
            CREATE TABLE used AS WITH RECURSIVE up(class) AS (
                SELECT DISTINCT unnest(types) FROM {self._table("items")}
                UNION SELECT p.superclass FROM up JOIN pair p ON p.class = up.class) SELECT class FROM up;
        """)
        pairs = self._db.sql("""
            SELECT class, superclass FROM pair SEMI JOIN used ON used.class = pair.class ORDER BY 1, 2
        """).to_arrow_table()
        topped, above = self._rules.topped(pairs)
        kept, cut = acyclic(topped)
        self._repairs["subclass-of statements that close a cycle, left out"] += cut
        self._repairs[ABOVE] += above
        self._pack.write("subclass_of", kept)
        for table, classes in (("kinds", KINDS), ("valued", VALUES)):
            roots = ", ".join(f"('{name}', '{id}')" for name, ids in classes.items() for id in ids)
            self._db.execute(f"""
                CREATE TABLE {table} AS WITH RECURSIVE down(name, class) AS (
                    SELECT * FROM (VALUES {roots}) AS roots(name, class)
                    UNION SELECT d.name, a.class FROM down d JOIN pair a ON a.superclass = d.class)
                SELECT class, min(name) AS name FROM down GROUP BY class
            """)
        return pairs

    def _types(self, pairs: Arrow) -> None:
        """The classes that items are of, or the types of the whitelist that these lead to; none is known to be none."""
        types = self._first(f"SELECT id, types FROM {self._table('items')} {_FULLEST}", "")
        typing = self._rules.typing(pairs) if self._rules.whitelist else None
        self._pack.write("types", types if typing is None else typing.tables(types), ordered=True)
        if typing is not None:
            self._pack.count(untyped=typing.untyped)
        ids = ", ".join(f"'{each.id}'" for each in self._rules.corrections if "'" not in each.id) or "NULL"
        known = self._db.sql(f"SELECT id FROM known WHERE id IN ({ids})").fetchall()
        self._repairs += Counter(self._rules.missed(id for (id,) in known))

    def _entities(self) -> str:
        """Items with what their classes say they are."""
        self._db.execute(f"""
            CREATE TABLE class_of AS SELECT id, unnest(types) AS class FROM {self._table("items")};
            CREATE TABLE kind AS SELECT c.id AS id, min(k.name) AS kind FROM class_of c JOIN kinds k
                ON k.class = c.class GROUP BY c.id;
            CREATE TABLE value AS SELECT c.id AS id, min(v.name) AS value FROM class_of c JOIN valued v
                ON v.class = c.class GROUP BY c.id;
            DROP TABLE class_of;
        """)
        return f"""
            SELECT i.id AS id, i.name AS name, coalesce(k.kind, 'normal') AS kind, i.description AS description,
                v.value AS value, {"d.links" if self._linked else "NULL"}::BIGINT AS in_links,
                i.population AS population, i.types AS types, i.sites AS sites
            FROM {self._table("items")} i LEFT JOIN kind k ON k.id = i.id LEFT JOIN value v ON v.id = i.id
            {"LEFT JOIN degree d ON d.id = i.id" if self._linked else ""}
        """

    @property
    def _linked(self) -> bool:
        return self._beside is not None and "links" in self._beside.tables

    def _from(self, name: str) -> str:
        """A table of the pack beside."""
        assert self._dumps.wikipedia is not None
        path = str(self._dumps.wikipedia / f"{name}.parquet").replace("'", "''")
        return f"read_parquet('{path}')"

    def _links(self) -> None:
        if not self._linked:
            return
        self._db.execute(f"""
            CREATE TABLE link AS SELECT DISTINCT coalesce(t.target, l.target) AS target,
                coalesce(s.target, l.source) AS source FROM {self._from("links")} l
                LEFT JOIN ended t ON t.id = l.target LEFT JOIN ended s ON s.id = l.source;
            CREATE TABLE linked AS SELECT target, source FROM link SEMI JOIN known k ON k.id = link.target
                SEMI JOIN known s ON s.id = link.source;
            CREATE TABLE degree AS SELECT target AS id, count(*) AS links FROM linked GROUP BY target;
        """)
        self._repairs["links of pages without an item in the dump, left out"] += number(
            self._db, "SELECT (SELECT count(*) FROM link) - (SELECT count(*) FROM linked)"
        )
        self._pack.write("links", stream(self._db, "SELECT target, source FROM linked ORDER BY 1, 2"), ordered=True)

    def _identities(self) -> None:
        """What leads to an item: other spaces, merged items, and titles of the pack beside with its redirects."""
        self._db.execute(f"""
            CREATE TABLE same AS SELECT DISTINCT id, other FROM {self._table("same")};
            CREATE TABLE claimed AS SELECT other, count(*) AS times, min(id) AS id FROM same GROUP BY other;
        """)
        self._pack.write("same_as", stream(self._db, "SELECT id, other FROM same ORDER BY 1, 2"), ordered=True)
        doubtful = "SELECT s.other, s.id FROM same s JOIN claimed c ON c.other = s.other AND c.times > 1 ORDER BY 1, 2"
        self._tell_joined(self._db.sql(doubtful).fetchall())
        more = ""
        if self._beside is not None and "identity" in self._beside.tables:
            self._repairs["ids that the pack of a Wikipedia leads elsewhere, led by the dump"] += number(
                self._db,
                f"""SELECT count(*) FROM {self._from("identity")} w JOIN claimed c ON c.other = w.id AND c.times = 1
                    LEFT JOIN ended e ON e.id = w.entity WHERE coalesce(e.target, w.entity) != c.id""",
            )
            more = f"""
                UNION ALL SELECT w.id, coalesce(e.target, w.entity), w.how, 2 FROM {self._from("identity")} w
                LEFT JOIN ended e ON e.id = w.entity SEMI JOIN known k ON k.id = coalesce(e.target, w.entity)
            """
        query = f"""
            SELECT id, entity, how FROM (
                SELECT id, target AS entity, 'redirect' AS how, 0 AS rank FROM ended
                UNION ALL SELECT other, CASE WHEN times = 1 THEN id ELSE other END,
                    CASE WHEN times = 1 THEN 'same-as' ELSE 'ambiguous' END, 1 FROM claimed
                {more}) ORDER BY id, rank, entity
        """
        self._pack.write("identity", self._first(query, ""), ordered=True)

    def _tell_joined(self, rows: list[tuple[str, str]]) -> None:
        items: dict[str, list[str]] = {}
        for other, id in rows:
            items.setdefault(other, []).append(id)
        self._repairs["ids that several items claim, not merged"] += len(items)
        self._pack.joined([Joined.by(WIKIDATA, other, ids) for other, ids in items.items()])

    def _names(self) -> None:
        counted = not _uncounted(self._beside)
        more = ""
        if self._beside is not None and "aliases" in self._beside.tables:
            more = f"""
                UNION ALL SELECT coalesce(e.target, w.id), w.alias, w.count FROM {self._from("aliases")} w
                LEFT JOIN ended e ON e.id = w.id SEMI JOIN known k ON k.id = coalesce(e.target, w.id)
            """
        zero = "0" if counted else "NULL"
        self._db.execute(f"""
            CREATE TABLE alias AS SELECT id, alias, sum(count)::BIGINT AS count FROM (
                SELECT id, alias, {zero}::BIGINT AS count FROM {self._table("names")} WHERE trim(alias) != ''
                {more}) GROUP BY id, alias
        """)
        self._pack.write("aliases", stream(self._db, "SELECT id, alias, count FROM alias ORDER BY 1, 2"), ordered=True)
        if counted:
            weighed = "SELECT alias AS surface, id, count AS weight FROM alias"
        else:
            self._db.execute(f"CREATE TABLE site AS SELECT id, max(sites) AS n FROM {self._table('items')} GROUP BY id")
            weighed = "SELECT a.alias AS surface, a.id AS id, s.n AS weight FROM alias a JOIN site s ON s.id = a.id"
        write_popular(self._db, self._pack, weighed)
        write_index(self._db, self._stage.scratch, self._pack.folder / NAMES, WEIGHED)
