"""A pack from the dumps of one Wikipedia.

An entity is a page of the main namespace that is no redirect. Its id is the item of Wikidata that the page belongs to,
or else its title, `enwiki:Berlin`. Titles, page numbers and redirects lead to it.
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
from karat.knowledge.dumps import articles
from karat.knowledge.dumps.names import write_index
from karat.knowledge.dumps.redirects import follow
from karat.knowledge.dumps.sql import ENDING, SqlTable
from karat.knowledge.dumps.streams import first_of_each, gathered, number, stream
from karat.storage.dumps import Dump, Progress
from karat.storage.staging import MEMORY, Parsed, Stage

LISTS: Final = {
    "dewiki": ("Liste ",),
    "enwiki": ("List of ", "Lists of "),
    "eswiki": ("Anexo:",),
    "frwiki": ("Liste de ", "Liste des ", "Liste d'"),
}
"""How titles of lists begin; of other wikis nobody says which pages are lists."""

_NUMBERS: Final = "BIGINT"
_PAGES: Final = {"page_id": _NUMBERS, "page_title": "VARCHAR", "page_is_redirect": _NUMBERS}
_REDIRECTS: Final = {"rd_from": _NUMBERS, "rd_title": "VARCHAR"}
_PROPS: Final = {"pp_page": _NUMBERS, "pp_propname": "VARCHAR", "pp_value": "VARCHAR"}
_TARGETS: Final = {"lt_id": _NUMBERS, "lt_title": "VARCHAR"}
_LINKS: Final = {"pl_from": _NUMBERS, "pl_target_id": _NUMBERS}
_OLD_LINKS: Final = {"pl_from": _NUMBERS, "pl_title": "VARCHAR"}


@dataclass(frozen=True)
class WikipediaDumps:
    """The files of one day. All but the first two may be left out, and what is made of them is left out too."""

    page: Path
    redirect: Path
    page_props: Path | None = None
    pagelinks: Path | None = None
    linktarget: Path | None = None
    articles: tuple[Path, ...] = ()


def build_wikipedia(
    dumps: WikipediaDumps,
    folder: Path,
    *,
    wiki: str,
    date: str,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> PackManifest:
    """Build a pack into a folder, or go on with a build that was cut; gives its manifest.

    What was read so far lies beside the folder until the pack is whole.
    """
    manifest = PackManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"{wiki} of {date}",
        licence="CC BY-SA 4.0",
        space="wikidata",
        titles=wiki,
        anchor_counts=f"{wiki} of {date}" if dumps.articles else "none",
        popularity="counts of anchors" if dumps.articles else "links to the page",
        sources=(PackSource(wiki, date, "CC BY-SA 4.0", {path.name: "" for path in _files(dumps)}),),
    )
    with writing_pack(folder, manifest) as pack:
        stage = Stage(folder.absolute().with_name(f".{folder.name}.read"))
        pack.repaired(_read(stage, dumps, progress))
        with stage.database(memory) as db:
            _Tables(db, stage, pack, wiki, dumps).write()
    stage.remove()
    return read_manifest(folder)


def _files(dumps: WikipediaDumps) -> list[Path]:
    named = (dumps.page, dumps.redirect, dumps.page_props, dumps.pagelinks, dumps.linktarget, *dumps.articles)
    return [path for path in named if path is not None]


def _read(stage: Stage, dumps: WikipediaDumps, progress: Progress | None) -> Counter[str]:
    """Read all dumps into tables; gives what was left out."""
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
        reader = articles.Articles.of(dump)
        stage.read(dump, "anchors", articles.ENDING, reader.anchors, progress)
    return Counter({what: count for what, count in counts.items() if "left out" in what})


def _read_links(stage: Stage, dumps: WikipediaDumps, path: Path, progress: Progress | None) -> Counter[str]:
    if "pl_target_id" not in SqlTable.columns_of(Dump(path)):  # before 2024
        return read_sql(
            stage, path, "pagelinks", ("pl_from", "pl_namespace", "pl_title", "pl_from_namespace"), progress
        )
    if dumps.linktarget is None:
        raise UsageError(f"{path.name} names its targets by numbers. Give linktarget.sql too.")
    return read_sql(stage, path, "pagelinks", ("pl_from", "pl_from_namespace", "pl_target_id"), progress)


def read_sql(stage: Stage, path: Path, name: str, columns: tuple[str, ...], progress: Progress | None) -> Counter[str]:
    """Read some columns of a dumped table: rows about articles, and of properties those that say what a page is."""
    dump = Dump(path)
    table = SqlTable.of(dump, name, columns)

    def parse(block: Any) -> Parsed:  # noqa: ANN401
        import pyarrow.compute as pc

        rows, counts = table.rows(block)
        for column in columns:
            if column.endswith("_namespace"):
                rows = rows.filter(pc.equal(rows.column(column), 0)).drop_columns([column])
            elif column == "rd_interwiki":
                inside = pc.equal(pc.fill_null(rows.column(column), ""), "")
                rows = rows.filter(inside).drop_columns([column])
            elif column == "pp_propname":
                rows = rows.filter(pc.is_in(rows.column(column), value_set=_properties()))
        return Parsed({name: rows}, counts)

    return stage.read(dump, f"{name} {' '.join(columns)}", ENDING, parse, progress)


def _properties() -> Any:  # noqa: ANN401
    import pyarrow as pa

    return pa.array(["wikibase_item", "disambiguation"])


class _Tables:
    """The tables of the pack, made in a database."""

    def __init__(self, db: Any, stage: Stage, pack: PackWriter, wiki: str, dumps: WikipediaDumps) -> None:  # noqa: ANN401
        self._db, self._stage, self._pack, self._wiki, self._dumps = db, stage, pack, wiki, dumps
        self._repairs: Counter[str] = Counter()

    def write(self) -> None:
        self._pages()
        self._ends()
        self._entities()
        self._write_links()
        self._write("entities", "SELECT id, name, kind, in_links FROM entity ORDER BY id", "id")
        self._pack.write("redirects", stream(self._db, _REDIRECT_ROWS.format(wiki=self._wiki)), ordered=True)
        self._pack.write("same_as", stream(self._db, _SAME_ROWS.format(wiki=self._wiki)), ordered=True)
        self._write("identity", _IDENTITY_ROWS.format(wiki=self._wiki), "id")
        self._write_aliases()
        self._pack.repaired(self._repairs)

    def _write(self, name: str, query: str, key: str) -> None:
        rows = first_of_each(stream(self._db, query), key, self._repairs, f"rows of {name} with a key that is taken")
        self._pack.write(name, rows, ordered=True)

    def _pages(self) -> None:
        pages, props = self._stage.table("page", _PAGES), self._stage.table("page_props", _PROPS)
        self._db.execute(f"""
            CREATE TABLE page AS SELECT page_id AS id, min(replace(page_title, '_', ' ')) AS title,
                max(page_is_redirect) = 1 AS moved, count(*) AS times FROM {pages} GROUP BY page_id
        """)
        self._repairs["pages given twice, taken once"] += number(self._db, "SELECT sum(times - 1) FROM page")
        self._db.execute("""
            CREATE TABLE title AS SELECT title, min(id) AS id, count(*) AS times FROM page GROUP BY title
        """)
        self._repairs["titles of several pages, led to the first"] += number(
            self._db, "SELECT sum(times - 1) FROM title"
        )
        self._db.execute(f"""
            CREATE TABLE item AS SELECT pp_page AS page, min(pp_value) AS item FROM {props}
                WHERE pp_propname = 'wikibase_item' GROUP BY pp_page;
            CREATE TABLE several AS SELECT DISTINCT pp_page AS page FROM {props} WHERE pp_propname = 'disambiguation';
        """)

    def _ends(self) -> None:
        """For each redirect the page at its end."""
        redirects = self._stage.table("redirect", _REDIRECTS)
        self._db.execute(f"""
            CREATE TABLE moved AS SELECT rd_from AS id, min(replace(rd_title, '_', ' ')) AS title,
                count(*) AS times FROM {redirects} GROUP BY rd_from;
            CREATE TABLE hop AS SELECT m.id AS id, t.id AS target FROM moved m JOIN page p ON p.id = m.id
                JOIN title t ON t.title = m.title;
        """)
        self._repairs["redirects given twice, taken once"] += number(self._db, "SELECT sum(times - 1) FROM moved")
        self._repairs["redirects to no page"] += number(
            self._db, "SELECT count(*) FROM moved m JOIN page p ON p.id = m.id ANTI JOIN title t ON t.title = m.title"
        )
        self._repairs += follow(self._db, "hop", "ended")

    def _entities(self) -> None:
        """Pages that are no redirects, under the item that is theirs alone or under their title."""
        lists = " OR ".join(f"starts_with(p.title, '{_sql(lead)}')" for lead in LISTS.get(self._wiki, ())) or "false"
        self._db.execute(f"""
            CREATE TABLE own AS SELECT p.id AS page, p.title AS title, i.item AS item
                FROM page p LEFT JOIN item i ON i.page = p.id WHERE NOT p.moved
                AND p.id NOT IN (SELECT id FROM hop);
            CREATE TABLE shared AS SELECT item, count(*) AS times FROM own WHERE item IS NOT NULL
                GROUP BY item HAVING count(*) > 1;
            CREATE TABLE entity AS SELECT p.page AS page, p.title AS name,
                CASE WHEN p.item IS NULL OR s.item IS NOT NULL THEN '{self._wiki}:' || p.title ELSE p.item END AS id,
                CASE WHEN d.page IS NOT NULL THEN 'disambiguation' WHEN {lists} THEN 'list' ELSE 'normal' END AS kind,
                0::BIGINT AS in_links
                FROM own p LEFT JOIN shared s ON s.item = p.item LEFT JOIN several d ON d.page = p.page;
            CREATE TABLE leads AS
                SELECT t.title AS title, e.id AS id, false AS moved FROM entity e JOIN title t ON t.id = e.page
                UNION ALL SELECT p.title, e.id, true FROM ended r JOIN page p ON p.id = r.id
                JOIN title t ON t.id = p.id JOIN entity e ON e.page = r.target;
        """)
        self._repairs["redirects that end at no article"] += number(
            self._db, "SELECT count(*) FROM ended r ANTI JOIN entity e ON e.page = r.target"
        )
        self._repairs["redirects without a target"] += number(
            self._db, "SELECT count(*) FROM page p ANTI JOIN moved m ON m.id = p.id WHERE p.moved"
        )
        shared = number(self._db, "SELECT count(*) FROM shared")
        if shared:
            self._repairs["items that several pages claim, not merged"] += shared
            self._tell_joined()

    def _tell_joined(self) -> None:
        """The chains that would make two pages one."""
        query = "SELECT o.item, o.title FROM own o JOIN shared s ON s.item = o.item ORDER BY 1, 2"
        pages: dict[str, list[str]] = {}
        for item, title in self._db.sql(query).fetchall():
            pages.setdefault(item, []).append(f"{self._wiki}:{title}")
        self._pack.joined([Joined.by(self._wiki, item, keys) for item, keys in pages.items()])

    def _write_links(self) -> None:
        path = self._dumps.pagelinks
        if path is None:
            return
        if "pl_target_id" in SqlTable.columns_of(Dump(path)):
            targets = self._stage.table("linktarget", _TARGETS)
            links = self._stage.table("pagelinks", _LINKS)
            pairs = f"SELECT pl_from AS source, lt_title AS title FROM {links} JOIN {targets} ON lt_id = pl_target_id"
        else:
            pairs = f"SELECT pl_from AS source, pl_title AS title FROM {self._stage.table('pagelinks', _OLD_LINKS)}"
        self._db.execute(f"""
            CREATE TABLE link AS SELECT DISTINCT l.id AS target, e.id AS source FROM ({pairs}) p
                JOIN entity e ON e.page = p.source JOIN leads l ON l.title = replace(p.title, '_', ' ')
                WHERE l.id != e.id;
            CREATE TABLE degree AS SELECT target AS id, count(*) AS links FROM link GROUP BY target;
            UPDATE entity SET in_links = degree.links FROM degree WHERE degree.id = entity.id;
        """)
        self._pack.write("links", stream(self._db, "SELECT target, source FROM link ORDER BY 1, 2"), ordered=True)

    def _write_aliases(self) -> None:
        """Anchors with their counts; titles and redirects are names that may never be used as one."""
        anchors = self._stage.table("anchors", articles.ANCHORS)
        counted = bool(self._dumps.articles)
        self._db.execute(f"""
            CREATE TABLE anchor AS SELECT surface, title, sum(count)::BIGINT AS count FROM {anchors} GROUP BY ALL;
            CREATE TABLE alias AS SELECT id, alias, sum(count)::BIGINT AS count FROM (
                SELECT l.id AS id, a.surface AS alias, a.count AS count FROM anchor a JOIN leads l ON l.title = a.title
                UNION ALL SELECT id, title, 0 FROM leads) GROUP BY id, alias;
        """)
        if counted:
            lost = "SELECT sum(count) FROM anchor a ANTI JOIN leads l ON l.title = a.title"
            self._repairs["anchors to no page"] += number(self._db, lost)
            self._pack.count(anchors=number(self._db, "SELECT sum(count) FROM anchor"))
        written = "count" if counted else "NULL::BIGINT AS count"
        self._pack.write(
            "aliases", stream(self._db, f"SELECT id, alias, {written} FROM alias ORDER BY 1, 2"), ordered=True
        )
        weight = "count" if counted else "(SELECT in_links FROM entity e WHERE e.id = alias.id)"
        write_popular(self._db, self._pack, f"SELECT alias AS surface, id, {weight} AS weight FROM alias")
        write_index(self._db, self._stage.scratch, self._pack.folder / NAMES, WEIGHED)


WEIGHED: Final = "SELECT surface AS alias, id, weight AS count FROM weighed"
"""The names of a pack, when it is known what is popular."""


def write_popular(db: Any, pack: PackWriter, weighed: str) -> None:  # noqa: ANN401
    """The entities with the most weight under each surface, from a query for surface, id and weight."""
    db.execute(f"""
        CREATE TABLE weighed AS {weighed};
        CREATE TABLE best AS SELECT surface, max(weight) AS weight FROM weighed GROUP BY surface;
    """)
    query = """SELECT w.surface AS surface, w.id AS id FROM weighed w
        JOIN best b ON b.surface = w.surface AND b.weight = w.weight ORDER BY 1, 2"""
    pack.write("popular", gathered(stream(db, query), "surface", "id", "ids"), ordered=True)


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


def _sql(text: str) -> str:
    return text.replace("'", "''")
