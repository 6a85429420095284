"""Download of a snapshot for a list of ids, as Wikidata and the Wikipedias describe them today."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
import pyarrow as pa

from karat.kb.dumps.class_graph import remove_cycles
from karat.kb.dumps.items import ItemReader, WikidataItem
from karat.kb.dumps.wikidata import CLASSES_BY_KIND, CLASSES_BY_VALUE_TYPE
from karat.kb.ids.id_spaces import WIKIDATA, IdKey, make_title_key, parse_id_key
from karat.kb.snapshot.manifest import LAYOUT, SnapshotManifest, SnapshotSource, read_manifest
from karat.kb.snapshot.table_schemas import TABLE_SCHEMAS
from karat.kb.snapshot.writer import SnapshotWriter, open_snapshot_writer
from karat.kb.type_rules import CUT_SUPERCLASSES
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import read_json_value
from karat.model.tables.arrow import Arrow
from karat.storage.http_client import request_api
from karat.storage.journal import Journal

WIKIDATA_API: Final = "https://www.wikidata.org/w/api.php"
"""Address of Wikidata's API."""
WIKIPEDIA_API: Final = "https://{language}.wikipedia.org/w/api.php"
"""Address of a Wikipedia's API, with a field for the language."""

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of ids with a response, and the number of ids to request so far."""

_MAX_IDS_PER_REQUEST: Final = 50  # limit of these services
_WIKI: Final = re.compile(r"([a-z][a-z_-]*)wiki(-page)?")
_INVALID_TITLE: Final = re.compile(r"[|#<>\[\]{}\n]|^$|.{256}")  # a bar separates titles in a request
_ITEM: Final = re.compile(r"Q[1-9]\d*")


@dataclass(frozen=True)
class Services:
    """Addresses of the services, and the wait before a retry."""

    wikidata: str = WIKIDATA_API
    """Address of Wikidata's API."""
    wikipedia: str = WIKIPEDIA_API
    """Address of a Wikipedia's API, with a field for the language."""
    wait: float = 1.0
    """Seconds before the first retry; each further retry waits twice as long."""


class _ApiError(msgspec.Struct):
    code: str = ""
    info: str = ""


class _EntitiesResponse(msgspec.Struct):
    entities: dict[str, msgspec.Raw] = {}
    error: _ApiError | None = None


class _TitleChange(msgspec.Struct):
    source: str = msgspec.field(default="", name="from")
    to: str = ""


class _Page(msgspec.Struct):
    title: str = ""
    pageid: int = 0
    missing: bool = False
    invalid: bool = False
    pageprops: dict[str, str] = {}


class _PagesQuery(msgspec.Struct):
    normalized: list[_TitleChange] = []
    redirects: list[_TitleChange] = []
    pages: list[_Page] = []


class _PagesResponse(msgspec.Struct):
    query: _PagesQuery = msgspec.field(default_factory=_PagesQuery)
    error: _ApiError | None = None


class _PageLookup(msgspec.Struct, frozen=True):
    """The page that a title or page number leads to."""

    key: str
    """Requested id, `SPACE:TITLE` or `SPACE-page:NUMBER`."""
    title: str = ""
    """Title of the page; empty if there is none."""
    page_id: int = 0
    """Number of the page."""
    item: str = ""
    """Wikidata item of the page; empty if there is none."""
    is_redirected: bool = False
    """Whether a redirect led to the page."""
    is_disambiguation: bool = False
    """Whether the page is a disambiguation page."""


def download_snapshot(
    ids: Iterable[str],
    folder: Path,
    *,
    date: str,
    reader: ItemReader,
    services: Services | None = None,
    with_classes: bool = True,
    progress: Progress | None = None,
) -> SnapshotManifest:
    """Download what Wikidata and the Wikipedias know today about `ids`, in any spelling, and build a snapshot of it.

    `reader`: languages, wikis and type rules; ids whose space cannot be recognised are titles of its first wiki. With
    `with_classes`, the superclasses of all types are downloaded too. `progress` is called after each request. Karat
    caches each response next to `folder` until the snapshot is complete, so an interrupted download resumes. Return the
    manifest.
    """
    if reader.rules.whitelist and not with_classes:
        raise UsageError("a whitelist of types needs superclasses. Omit --no-classes.")
    with open_snapshot_writer(folder, _make_manifest(folder, date, reader)) as snapshot:
        journal = Journal(folder.absolute().with_name(f".{folder.name}.fetched"), f"{date} {reader.description}")
        download = _Download(services or Services(), reader, journal, progress)
        keys = download.parse_keys(ids)
        download.request_pages(keys)
        download.request_items([key.local_id for key in keys if key.space == WIKIDATA])
        download.request_items([page.item for page in download.pages_by_key.values() if page.item])
        while with_classes and (missing_classes := download.find_missing_classes()):
            download.request_items(missing_classes)
        download.write_tables(snapshot)
    journal.remove()
    return read_manifest(folder)


def _make_manifest(folder: Path, date: str, reader: ItemReader) -> SnapshotManifest:
    """Return the manifest of the snapshot in `folder`, which was requested from Wikidata on `date`."""
    return SnapshotManifest(
        karat=LAYOUT,
        name=folder.name,
        date=date,
        title=f"requested ids, as in Wikidata on {date}",
        licence="CC0-1.0",
        space=WIKIDATA,
        title_space=reader.wikis[0] if reader.wikis else "",
        complete=False,
        popularity="sites with a page about the item",
        sources=(SnapshotSource("Wikidata", date, "CC0-1.0"), *reader.rules.sources),
    )


@dataclass
class _Download:
    """A download in progress: the responses so far, and the methods that request the rest."""

    services: Services
    reader: ItemReader
    journal: Journal
    progress: Progress | None
    records: dict[str, WikidataItem] = field(default_factory=dict)
    """Items by requested id, which differs from the id of a merged item."""
    missing_items: set[str] = field(default_factory=set)
    """Requested ids of items that do not exist."""
    pages_by_key: dict[str, _PageLookup] = field(default_factory=dict)
    """Result of each title or page number, also if there is no such page."""
    counts: Counter[str] = field(default_factory=Counter)
    """Number of skipped ids by description."""
    n_requested: int = 0
    """Number of ids that needed a response so far."""

    def parse_keys(self, ids: Iterable[str]) -> list[IdKey]:
        """Return the keys of the ids that Wikidata or a Wikipedia can look up, each once.

        The other ids are counted in `counts`. Ids of no recognised space are titles of the reader's first wiki.
        """
        keys: dict[IdKey, None] = {}
        for id in dict.fromkeys(ids):
            key = parse_id_key(id) or make_title_key(self.reader.wikis[0], id)
            if _WIKI.fullmatch(key.space) and _INVALID_TITLE.search(key.local_id):
                self.counts["invalid page titles, skipped"] += 1
            elif _WIKI.fullmatch(key.space) or (key.space == WIKIDATA and _ITEM.fullmatch(key.local_id)):
                keys[key] = None
            else:
                self.counts["ids of spaces that Wikidata cannot look up, skipped"] += 1
        return list(keys)

    def request_pages(self, keys: Sequence[IdKey]) -> None:
        """Look up the page titles and page numbers among `keys` in their wikis; store the results in `pages_by_key`."""
        spaces: dict[str, list[IdKey]] = {}
        for key in keys:
            if key.space != WIKIDATA:
                spaces.setdefault(key.space, []).append(key)
        for space, space_keys in spaces.items():
            for batch in self._iterate_batches(map(str, space_keys), lambda id, data: self._store_page(id, data)):
                for lookup in self._look_up_pages(space, [id.split(":", 1)[1] for id in batch]):
                    self._store_response(lookup.key, msgspec.json.encode(lookup))
                    self.pages_by_key[lookup.key] = lookup

    def _store_page(self, id: str, data: bytes) -> None:
        """Store a page lookup from the journal in `pages_by_key`."""
        self.pages_by_key[id] = _decode_response(self.services.wikidata, data, _PageLookup)

    def _look_up_pages(self, space: str, names: list[str]) -> Iterator[_PageLookup]:
        """Send one request about `names` to a wiki; yield the page that each leads to, after redirects.

        `space`: id space of the names, which are titles in `enwiki` and page numbers in `enwiki-page`.
        """
        wiki = _WIKI.fullmatch(space)
        assert wiki is not None
        is_numeric = wiki[2] is not None
        parameters = {
            "action": "query",
            "format": "json",
            "formatversion": "2",
            "redirects": "1",
            "prop": "pageprops",
            "ppprop": "wikibase_item|disambiguation",
            "maxlag": "5",
            "pageids" if is_numeric else "titles": "|".join(names),
        }
        url = self.services.wikipedia.format(language=wiki[1].replace("_", "-"))
        response = self._send_request(url, parameters, _PagesResponse)
        query = response.query
        normalised_titles = {change.source: change.to for change in query.normalized}
        redirects = {change.source: change.to for change in query.redirects}
        pages_by_title = {page.title: page for page in query.pages}
        pages_by_number = {str(page.pageid): page for page in query.pages}
        for name in names:
            start = normalised_titles.get(name, name)
            path = [start]
            while path[-1] in redirects and len(path) <= len(redirects):
                path.append(redirects[path[-1]])
            page = pages_by_title.get(path[-1]) or (pages_by_number.get(name) if is_numeric else None)
            key = f"{space}:{name}"
            if page is None or page.missing or page.invalid:
                yield _PageLookup(key, is_redirected=len(path) > 1)
            else:
                properties = page.pageprops
                item, is_disambiguation = properties.get("wikibase_item", ""), "disambiguation" in properties
                is_redirected = len(path) > 1 or (is_numeric and str(page.pageid) != name)
                yield _PageLookup(key, page.title, page.pageid, item, is_redirected, is_disambiguation)

    def request_items(self, ids: Iterable[str]) -> None:
        """Request items from Wikidata.

        Store them in `records`, and the ids of items that do not exist in `missing_items`.
        """
        for batch in self._iterate_batches(dict.fromkeys(ids), self._store_item):
            parameters = {
                "action": "wbgetentities",
                "format": "json",
                "ids": "|".join(batch),
                "props": "info|labels|descriptions|aliases|claims|sitelinks",
                "languages": "|".join((*self.reader.languages, "mul")),
                "redirects": "yes",
                "maxlag": "5",
            }
            response = self._send_request(self.services.wikidata, parameters, _EntitiesResponse)
            for id in batch:
                if id not in response.entities:
                    raise InputError(
                        self.services.wikidata,
                        actual=f"a response without {id}",
                        expected="an entry for every id",
                        remedy="Repeat the command: it resumes the download",
                    )
                record = bytes(response.entities[id])
                self._store_response(id, record)
                self._store_item(id, record)

    def _store_item(self, id: str, data: bytes) -> None:
        """Store the JSON of an item in `records`, or its id in `missing_items` if Wikidata has no such item."""
        if "missing" in _decode_response(self.services.wikidata, data, dict[str, Any]):
            self.missing_items.add(id)
        else:
            self.records[id] = _decode_response(self.services.wikidata, data, WikidataItem)

    def _iterate_batches(self, ids: Iterable[str], store: Callable[[str, bytes], None]) -> Iterator[list[str]]:
        """Yield the ids that need a request, in batches; ids with a response so far are skipped.

        `store` receives the id and bytes of each response in the journal of an interrupted download. Progress is
        reported after each batch.
        """
        new_ids = [
            id for id in ids if id not in self.records and id not in self.missing_items and id not in self.pages_by_key
        ]
        self.n_requested += len(new_ids)
        for id in new_ids:
            if (stored := self.journal.get(id)) is not None:
                store(id, stored)
        remaining_ids = [id for id in new_ids if self.journal.get(id) is None]
        for start in range(0, len(remaining_ids), _MAX_IDS_PER_REQUEST):
            yield remaining_ids[start : start + _MAX_IDS_PER_REQUEST]
            if self.progress is not None:
                self.progress(
                    self.n_requested - max(0, len(remaining_ids) - start - _MAX_IDS_PER_REQUEST), self.n_requested
                )

    def _store_response(self, id: str, data: bytes) -> None:
        """Append a response to the journal, from which an interrupted download resumes."""
        self.journal.add(id, data)

    def _send_request(self, url: str, parameters: Mapping[str, str], response_type: type[Any]) -> Any:  # noqa: ANN401
        """Send a request and return the decoded response; retry while the service is busy.

        Raise `InputError` if the response is invalid or reports an error.
        """

        def find_busy_message(data: bytes) -> str | None:
            problem = _decode_response(url, data, _EntitiesResponse).error
            return problem.info if problem is not None and problem.code in ("maxlag", "ratelimited") else None

        response = _decode_response(
            url,
            request_api(url, parameters, find_busy_reason=find_busy_message, wait=self.services.wait),
            response_type,
        )
        if response.error is not None:
            raise InputError(
                url,
                actual=f"the error {response.error.code} ({response.error.info})",
                expected="a description of the ids",
                remedy="Check the ids, and remove those that the error names",
            )
        return response

    def find_missing_classes(self) -> list[str]:
        """Return the types and superclasses of downloaded items that were not requested yet, sorted."""
        tables = self.reader.build_tables(self.records.values()).tables
        types = {type for types in tables["items"].column("types").to_pylist() for type in types}
        types.update(tables["subclasses"].column("superclass").to_pylist())
        return sorted(types - self.records.keys() - self.missing_items)

    def write_tables(self, snapshot: SnapshotWriter) -> None:
        """Write all tables and counts of the snapshot from the responses."""
        parsed = self.reader.build_tables({record.id: record for record in self.records.values()}.values())
        tables = parsed.tables
        rules, pairs = self.reader.rules, tables["subclasses"]
        kept_pairs, n_above = rules.cut_above_whitelist(
            pairs.sort_by([("class", "ascending"), ("superclass", "ascending")])
        )
        classes, n_cut = remove_cycles(kept_pairs)
        items = tables["items"].to_pylist()
        missing_rows = self._list_missing_rows()
        snapshot.write_table(
            "entities",
            pa.Table.from_pylist(
                [*_iterate_entity_rows(items, pairs), *self._iterate_itemless_pages(), *missing_rows], _ENTITY_SCHEMA
            ),
        )
        types = [item["types"] for item in items]
        if rules.whitelist:
            typing = rules.make_whitelist_typing(pairs)
            types = [typing.find_types(classes) for classes in types]
            snapshot.add_counts(untyped=typing.n_untyped)
        snapshot.write_columns("types", {"id": [item["id"] for item in items], "types": types})
        snapshot.write_table("subclass_of", classes)
        snapshot.write_table("aliases", tables["names"])
        snapshot.write_table("demonyms", tables["demonyms"])
        snapshot.write_columns("redirects", _to_columns(self._iterate_redirects(), "id", "target"))
        snapshot.write_columns(
            "same_as", _to_columns([*_to_rows(tables["same"]), *self._iterate_same_as()], "id", "other")
        )
        snapshot.write_columns(
            "popular", _collect_popular(tables["names"], {item["id"]: item["sites"] for item in items})
        )
        snapshot.count_repairs(
            {description: count for description, count in parsed.counts.items() if description != "items"}
        )
        snapshot.count_repairs(
            {**self.counts, "subclass-of statements that close a cycle, skipped": n_cut, CUT_SUPERCLASSES: n_above}
        )
        snapshot.add_counts(missing=len(missing_rows))

    def _list_missing_rows(self) -> list[dict[str, str]]:
        """Return rows of the kind `deleted` for items and pages that do not exist today, and perhaps never did."""
        pages = {id for id, page in self.pages_by_key.items() if not page.title}
        return [{"id": id, "kind": "deleted"} for id in sorted(self.missing_items | pages)]

    def _iterate_itemless_pages(self) -> Iterator[dict[str, str]]:
        """Yield rows of the table `entities` for the pages without a Wikidata item; their id is the title key."""
        keys = {
            _format_title_key(id, page): page for id, page in self.pages_by_key.items() if page.title and not page.item
        }
        for key, page in keys.items():
            yield {"id": key, "name": page.title, "kind": "disambiguation" if page.is_disambiguation else "normal"}

    def _iterate_redirects(self) -> Iterator[tuple[str, str]]:
        """Yield pairs (from, to) of merged items, and of titles and page numbers that a redirect leads on."""
        yield from ((id, record.id) for id, record in self.records.items() if id != record.id)
        yield from (
            (id, _format_title_key(id, page))
            for id, page in self.pages_by_key.items()
            if page.title and page.is_redirected
        )

    def _iterate_same_as(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of equal ids: item and title key of each page, and each of these two with the page number."""
        for id, page in self.pages_by_key.items():
            if page.title:
                key = _format_title_key(id, page)
                item = self.records[page.item].id if page.item in self.records else page.item
                if item:
                    yield item, key
                yield item or key, f"{key.split(':', 1)[0]}-page:{page.page_id}"


_ENTITY_SCHEMA: Final = TABLE_SCHEMAS["entities"].arrow_schema


def _iterate_entity_rows(items: Iterable[Mapping[str, Any]], class_pairs: Arrow) -> Iterator[dict[str, Any]]:
    """Yield the row of each item in the table `entities`, with its kind and value type by its classes.

    `items`: rows of the table `items` of `ItemReader`. `class_pairs`: table of pairs (class, superclass).
    """
    superclasses: dict[str, set[str]] = {}
    for cls, superclass in _to_rows(class_pairs):
        superclasses.setdefault(cls, set()).add(superclass)
    for item in items:
        types = _collect_ancestors(item["types"], superclasses)
        columns = {column: item[column] for column in ("id", "name", "description", "population")}
        yield {
            **columns,
            "kind": _find_category(types, CLASSES_BY_KIND) or "normal",
            "value": _find_category(types, CLASSES_BY_VALUE_TYPE),
        }


def _to_rows(table: Arrow) -> list[tuple[Any, ...]]:
    """Return the rows of an Arrow table as tuples."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _to_columns(pairs: Iterable[tuple[str, str]], first_name: str, second_name: str) -> dict[str, list[str]]:
    """Return the distinct pairs as two columns with the names `first_name` and `second_name`."""
    distinct = dict.fromkeys(pairs)
    return {first_name: [pair[0] for pair in distinct], second_name: [pair[1] for pair in distinct]}


def _format_title_key(key: str, page: _PageLookup) -> str:
    """Return the title key, such as `enwiki:Berlin`, of the page that the title or page number `key` leads to."""
    return f"{key.split(':', 1)[0].removesuffix('-page')}:{page.title}"


def _collect_popular(names: Arrow, sites: Mapping[str, int]) -> dict[str, list[Any]]:
    """Return the columns of the table `popular`: for each name, the ids of the entities with the most sites.

    `names`: table of pairs (id, name). `sites`: number of wikis with a page about each entity.
    """
    ids_by_name: dict[str, set[str]] = {}
    for id, alias in _to_rows(names):
        ids_by_name.setdefault(alias, set()).add(id)
    most_popular = {
        surface: sorted(id for id in ids if sites[id] == max(sites[other] for other in ids))
        for surface, ids in ids_by_name.items()
    }
    return {"surface": list(most_popular), "ids": list(most_popular.values())}


def _collect_ancestors(types: Iterable[str], superclasses: Mapping[str, Collection[str]]) -> set[str]:
    """Return the classes `types` and all their direct and indirect superclasses."""
    result, queue = set(types), list(types)
    while queue:
        for other in superclasses.get(queue.pop(), ()):
            if other not in result:
                result.add(other)
                queue.append(other)
    return result


def _find_category(types: Collection[str], classes_by_category: Mapping[str, Collection[str]]) -> str | None:
    """Return the alphabetically first category that has one of `types` among its classes; None if there is none."""
    return min((name for name, ids in classes_by_category.items() if not set(ids).isdisjoint(types)), default=None)


def _decode_response(url: str, data: bytes, response_type: type[Any]) -> Any:  # noqa: ANN401
    """Decode JSON from the service at `url` as `response_type`; raise `InputError` if it does not fit."""
    return read_json_value(
        data,
        response_type,
        url,
        actual="a response that is not the service's ({problem})",
        expected="JSON of MediaWiki's API",
        remedy="Check the address; it ends in /w/api.php",
    )
