"""A pack of the ids that somebody names, as Wikidata and its Wikipedias know them today."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa

from karat.errors import InputError, UsageError
from karat.kb.pack.manifest import LAYOUT, PackManifest, PackSource, read_manifest
from karat.kb.pack.shapes import SHAPES
from karat.kb.pack.writer import PackWriter, writing_pack
from karat.kb.spaces import WIKIDATA, IdKey, key_of, title_key
from karat.knowledge.dumps.classes import acyclic
from karat.knowledge.dumps.items import ItemReader, WikidataItem
from karat.knowledge.dumps.wikidata import KINDS, VALUES
from karat.knowledge.type_rules import ABOVE
from karat.model.tables.arrow import Arrow
from karat.storage.api import ask
from karat.storage.journal import Journal

ITEMS: Final = "https://www.wikidata.org/w/api.php"
PAGES: Final = "https://{language}.wikipedia.org/w/api.php"

Progress: TypeAlias = Callable[[int, int], None]
"""Called with how many ids were answered, and how many are known to be asked for."""

_BATCH: Final = 50  # the most that these services answer at once
_WIKI: Final = re.compile(r"([a-z][a-z_-]*)wiki(-page)?")
_NO_TITLE: Final = re.compile(r"[|#<>\[\]{}\n]|^$|.{256}")  # a bar would make two titles of one
_ITEM: Final = re.compile(r"Q[1-9]\d*")


@dataclass(frozen=True)
class Services:
    """Where to ask, and how long to wait before asking again."""

    items: str = ITEMS
    pages: str = PAGES
    wait: float = 1.0


class _Failure(msgspec.Struct):
    code: str = ""
    info: str = ""


class _Entities(msgspec.Struct):
    entities: dict[str, msgspec.Raw] = {}
    error: _Failure | None = None


class _Change(msgspec.Struct):
    source: str = msgspec.field(default="", name="from")
    to: str = ""


class _Page(msgspec.Struct):
    title: str = ""
    pageid: int = 0
    missing: bool = False
    invalid: bool = False
    pageprops: dict[str, str] = {}


class _Query(msgspec.Struct):
    normalized: list[_Change] = []
    redirects: list[_Change] = []
    pages: list[_Page] = []


class _Pages(msgspec.Struct):
    query: _Query = msgspec.field(default_factory=_Query)
    error: _Failure | None = None


class _Found(msgspec.Struct, frozen=True):
    """What became of a title: the title or number asked for, the page that it leads to, and its item."""

    asked: str
    title: str = ""
    page: int = 0
    item: str = ""
    moved: bool = False
    disambiguation: bool = False


def fetch_pack(
    ids: Iterable[str],
    folder: Path,
    *,
    date: str,
    reader: ItemReader,
    services: Services | None = None,
    classes: bool = True,
    progress: Progress | None = None,
) -> PackManifest:
    """Fetch what is known today about some ids, in whatever spelling, and make a pack of it.

    Ids without any sign of their space are titles of the first wiki of `reader`. With `classes`, the superclasses of
    all types are fetched too. Replies are kept until the pack is whole, so that a fetch that broke off goes on.
    """
    if reader.rules.whitelist and not classes:
        raise UsageError("types of a whitelist are found by superclasses. Fetch these too, without --no-classes.")
    with writing_pack(folder, _manifest(folder, date, reader)) as pack:
        journal = Journal(folder.absolute().with_name(f".{folder.name}.fetched"), f"{date} {reader.wishes}")
        fetched = _Fetched(services or Services(), reader, journal, progress)
        keys = fetched.sorted(ids)
        fetched.pages(keys)
        fetched.items([key.local for key in keys if key.space == WIKIDATA])
        fetched.items([page.item for page in fetched.found.values() if page.item])
        while classes and (wanted := fetched.classes()):
            fetched.items(wanted)
        fetched.write(pack)
    journal.remove()
    return read_manifest(folder)


def _manifest(folder: Path, date: str, reader: ItemReader) -> PackManifest:
    return PackManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"ids asked for, as Wikidata had them on {date}",
        licence="CC0-1.0",
        space=WIKIDATA,
        titles=reader.wikis[0] if reader.wikis else "",
        complete=False,
        popularity="sites with a page about the item",
        sources=(PackSource("Wikidata", date, "CC0-1.0"), *reader.rules.sources),
    )


@dataclass
class _Fetched:
    """What was answered so far."""

    services: Services
    reader: ItemReader
    journal: Journal
    progress: Progress | None
    records: dict[str, WikidataItem] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    found: dict[str, _Found] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    known: int = 0

    def sorted(self, ids: Iterable[str]) -> list[IdKey]:
        """The keys of the ids that these services know, each once."""
        keys: dict[IdKey, None] = {}
        for id in dict.fromkeys(ids):
            key = key_of(id) or title_key(self.reader.wikis[0], id)
            if _WIKI.fullmatch(key.space) and _NO_TITLE.search(key.local):
                self.counts["titles that no wiki can have, left out"] += 1
            elif _WIKI.fullmatch(key.space) or (key.space == WIKIDATA and _ITEM.fullmatch(key.local)):
                keys[key] = None
            else:
                self.counts["ids of spaces that Wikidata is not asked about, left out"] += 1
        return list(keys)

    def pages(self, keys: Sequence[IdKey]) -> None:
        """Ask the wikis what became of titles and numbers of pages."""
        spaces: dict[str, list[IdKey]] = {}
        for key in keys:
            if key.space != WIKIDATA:
                spaces.setdefault(key.space, []).append(key)
        for space, each in spaces.items():
            for batch in self._batches(map(str, each), lambda id, data: self._take_page(id, data)):
                for answer in self._ask_pages(space, [id.split(":", 1)[1] for id in batch]):
                    self._keep(answer.asked, msgspec.json.encode(answer))
                    self.found[answer.asked] = answer

    def _take_page(self, id: str, data: bytes) -> None:
        self.found[id] = msgspec.json.decode(data, type=_Found)

    def _ask_pages(self, space: str, names: list[str]) -> Iterator[_Found]:
        wiki = _WIKI.fullmatch(space)
        assert wiki is not None
        numbered = wiki[2] is not None
        question = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "redirects": "1",
            "prop": "pageprops",
            "ppprop": "wikibase_item|disambiguation",
            "maxlag": "5",
            "pageids" if numbered else "titles": "|".join(names),
        }
        url = self.services.pages.format(language=wiki[1].replace("_", "-"))
        reply = self._reply(url, question, _Pages)
        query = reply.query
        changes = {each.source: each.to for each in query.normalized}
        moves = {each.source: each.to for each in query.redirects}
        by_title = {page.title: page for page in query.pages}
        numbers = {str(page.pageid): page for page in query.pages}
        for name in names:
            start = changes.get(name, name)
            way = [start]
            while way[-1] in moves and len(way) <= len(moves):
                way.append(moves[way[-1]])
            page = by_title.get(way[-1]) or (numbers.get(name) if numbered else None)
            asked = f"{space}:{name}"
            if page is None or page.missing or page.invalid:
                yield _Found(asked, moved=len(way) > 1)
            else:
                about = page.pageprops
                item, several = about.get("wikibase_item", ""), "disambiguation" in about
                moved = len(way) > 1 or (numbered and str(page.pageid) != name)
                yield _Found(asked, page.title, page.pageid, item, moved, several)

    def items(self, ids: Iterable[str]) -> None:
        """Ask Wikidata about items."""
        for batch in self._batches(dict.fromkeys(ids), self._take_item):
            question = {
                "action": "wbgetentities",
                "format": "json",
                "ids": "|".join(batch),
                "props": "info|labels|descriptions|aliases|claims|sitelinks",
                "languages": "|".join((*self.reader.languages, "mul")),
                "redirects": "yes",
                "maxlag": "5",
            }
            reply = self._reply(self.services.items, question, _Entities)
            for id in batch:
                if id not in reply.entities:
                    raise InputError(
                        self.services.items,
                        found=f"a reply without {id}",
                        expected="an entry for every id",
                        remedy="Repeat the command: it goes on from what was fetched",
                    )
                record = bytes(reply.entities[id])
                self._keep(id, record)
                self._take_item(id, record)

    def _take_item(self, id: str, data: bytes) -> None:
        if "missing" in msgspec.json.decode(data):
            self.gone.add(id)
        else:
            self.records[id] = msgspec.json.decode(data, type=WikidataItem)

    def _batches(self, ids: Iterable[str], take: Callable[[str, bytes], None]) -> Iterator[list[str]]:
        """What is still to be asked, some at a time; what was answered before is taken from the journal."""
        wanted = [id for id in ids if id not in self.records and id not in self.gone and id not in self.found]
        self.known += len(wanted)
        for id in wanted:
            if (stored := self.journal.get(id)) is not None:
                take(id, stored)
        rest = [id for id in wanted if self.journal.get(id) is None]
        for start in range(0, len(rest), _BATCH):
            yield rest[start : start + _BATCH]
            if self.progress is not None:
                self.progress(self.known - max(0, len(rest) - start - _BATCH), self.known)

    def _keep(self, id: str, record: bytes) -> None:
        self.journal.add(id, record)

    def _reply(self, url: str, question: Mapping[str, str], kind: type[Any]) -> Any:  # noqa: ANN401
        def busy(data: bytes) -> str | None:
            problem = _decoded(url, data, _Entities).error
            return problem.info if problem is not None and problem.code in ("maxlag", "ratelimited") else None

        reply = _decoded(url, ask(url, question, busy=busy, wait=self.services.wait), kind)
        if reply.error is not None:
            raise InputError(
                url,
                found=f"the error {reply.error.code} ({reply.error.info})",
                expected="what is known about the ids",
                remedy="Check the ids, and leave out those that are named",
            )
        return reply

    def classes(self) -> list[str]:
        """Types and superclasses that were not asked for yet."""
        tables = self.reader.tables(self.records.values()).tables
        types = {type for types in tables["items"].column("types").to_pylist() for type in types}
        types.update(tables["subclasses"].column("superclass").to_pylist())
        return sorted(types - self.records.keys() - self.gone)

    def write(self, pack: PackWriter) -> None:
        """The tables of the pack."""
        parsed = self.reader.tables({record.id: record for record in self.records.values()}.values())
        tables = parsed.tables
        rules, pairs = self.reader.rules, tables["subclasses"]
        topped, above = rules.topped(pairs.sort_by([("class", "ascending"), ("superclass", "ascending")]))
        classes, cut = acyclic(topped)
        items = tables["items"].to_pylist()
        gone = self._gone()
        pack.write("entities", pa.Table.from_pylist([*_entities(items, pairs), *self._bare_pages(), *gone], _ENTITY))
        types = [item["types"] for item in items]
        if rules.whitelist:
            typing = rules.typing(pairs)
            types = [typing.of(each) for each in types]
            pack.count(untyped=typing.untyped)
        pack.columns("types", {"id": [item["id"] for item in items], "types": types})
        pack.write("subclass_of", classes)
        pack.write("aliases", tables["names"])
        pack.write("demonyms", tables["demonyms"])
        pack.columns("redirects", _columns(self._moved(), "id", "target"))
        pack.columns("same_as", _columns([*_rows(tables["same"]), *self._same()], "id", "other"))
        pack.columns("popular", _popular(tables["names"], {item["id"]: item["sites"] for item in items}))
        pack.repaired({what: count for what, count in parsed.counts.items() if what != "items"})
        pack.repaired({**self.counts, "subclass-of statements that close a cycle, left out": cut, ABOVE: above})
        pack.count(gone=len(gone))

    def _gone(self) -> list[dict[str, str]]:
        """Items and pages that are not there today; nobody says whether they ever were."""
        pages = {id for id, page in self.found.items() if not page.title}
        return [{"id": id, "kind": "deleted"} for id in sorted(self.gone | pages)]

    def _bare_pages(self) -> Iterator[dict[str, str]]:
        """Pages without an item, under their title."""
        keys = {_page_key(id, page): page for id, page in self.found.items() if page.title and not page.item}
        for key, page in keys.items():
            yield {"id": key, "name": page.title, "kind": "disambiguation" if page.disambiguation else "normal"}

    def _moved(self) -> Iterator[tuple[str, str]]:
        """Merged items, and titles that lead to another one."""
        yield from ((id, record.id) for id, record in self.records.items() if id != record.id)
        yield from ((id, _page_key(id, page)) for id, page in self.found.items() if page.title and page.moved)

    def _same(self) -> Iterator[tuple[str, str]]:
        """Titles and numbers of pages, with the item that they belong to or else the title."""
        for id, page in self.found.items():
            if page.title:
                key = _page_key(id, page)
                item = self.records[page.item].id if page.item in self.records else page.item
                if item:
                    yield item, key
                yield item or key, f"{key.split(':', 1)[0]}-page:{page.page}"


_ENTITY: Final = SHAPES["entities"].schema


def _entities(items: Iterable[Mapping[str, Any]], classes: Arrow) -> Iterator[dict[str, Any]]:
    above: dict[str, set[str]] = {}
    for one, other in _rows(classes):
        above.setdefault(one, set()).add(other)
    for item in items:
        types = _closed(item["types"], above)
        about = {column: item[column] for column in ("id", "name", "description", "population")}
        yield {**about, "kind": _among(types, KINDS) or "normal", "value": _among(types, VALUES)}


def _rows(table: Arrow) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _columns(pairs: Iterable[tuple[str, str]], one: str, other: str) -> dict[str, list[str]]:
    distinct = dict.fromkeys(pairs)
    return {one: [pair[0] for pair in distinct], other: [pair[1] for pair in distinct]}


def _page_key(asked: str, page: _Found) -> str:
    """The key of the page that a title or number leads to."""
    return f"{asked.split(':', 1)[0].removesuffix('-page')}:{page.title}"


def _popular(names: Arrow, sites: Mapping[str, int]) -> dict[str, list[Any]]:
    found: dict[str, set[str]] = {}
    for id, alias in _rows(names):
        found.setdefault(alias, set()).add(id)
    best = {
        surface: sorted(id for id in ids if sites[id] == max(sites[each] for each in ids))
        for surface, ids in found.items()
    }
    return {"surface": list(best), "ids": list(best.values())}


def _closed(types: Iterable[str], above: Mapping[str, Collection[str]]) -> set[str]:
    found, queue = set(types), list(types)
    while queue:
        for other in above.get(queue.pop(), ()):
            if other not in found:
                found.add(other)
                queue.append(other)
    return found


def _among(types: Collection[str], classes: Mapping[str, Collection[str]]) -> str | None:
    return min((name for name, ids in classes.items() if not set(ids).isdisjoint(types)), default=None)


def _decoded(url: str, data: bytes, kind: type[Any]) -> Any:  # noqa: ANN401
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise InputError(
            url,
            found=f"a reply that is not the service's ({problem})",
            expected="JSON of MediaWiki's API",
            remedy="Check the address; it ends in /w/api.php",
        ) from None
