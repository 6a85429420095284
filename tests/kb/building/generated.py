"""Dumps in the syntax of the real ones: tables of MediaWiki, exported pages, items of Wikidata."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

COLUMNS = {
    "page": """  `page_id` int(8) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL DEFAULT 0,
  `page_title` varbinary(255) NOT NULL DEFAULT '',
  `page_is_redirect` tinyint(1) unsigned NOT NULL DEFAULT 0,
  `page_is_new` tinyint(1) unsigned NOT NULL DEFAULT 0,
  `page_random` double unsigned NOT NULL DEFAULT 0,
  `page_touched` binary(14) NOT NULL,
  `page_links_updated` varbinary(14) DEFAULT NULL,
  `page_latest` int(8) unsigned NOT NULL DEFAULT 0,
  `page_len` int(8) unsigned NOT NULL DEFAULT 0,
  `page_content_model` varbinary(32) DEFAULT NULL,
  `page_lang` varbinary(35) DEFAULT NULL,
  PRIMARY KEY (`page_id`),
  UNIQUE KEY `page_name_title` (`page_namespace`,`page_title`),""",
    "redirect": """  `rd_from` int(8) unsigned NOT NULL DEFAULT 0,
  `rd_namespace` int(11) NOT NULL DEFAULT 0,
  `rd_title` varbinary(255) NOT NULL DEFAULT '',
  `rd_interwiki` varbinary(32) DEFAULT NULL,
  `rd_fragment` varbinary(255) DEFAULT NULL,
  PRIMARY KEY (`rd_from`),""",
    "page_props": """  `pp_page` int(8) unsigned NOT NULL,
  `pp_propname` varbinary(60) NOT NULL DEFAULT '',
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL,
  UNIQUE KEY `pp_page_propname` (`pp_page`,`pp_propname`),""",
    "linktarget": """  `lt_id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `lt_namespace` int(11) NOT NULL,
  `lt_title` varbinary(255) NOT NULL,
  PRIMARY KEY (`lt_id`),""",
    "pagelinks": """  `pl_from` int(8) unsigned NOT NULL DEFAULT 0,
  `pl_from_namespace` int(11) NOT NULL DEFAULT 0,
  `pl_target_id` bigint(20) unsigned NOT NULL,
  PRIMARY KEY (`pl_from`,`pl_target_id`),""",
    "pagelinks-2023": """  `pl_from` int(8) unsigned NOT NULL DEFAULT 0,
  `pl_namespace` int(11) NOT NULL DEFAULT 0,
  `pl_title` varbinary(255) NOT NULL DEFAULT '',
  `pl_from_namespace` int(11) NOT NULL DEFAULT 0,
  PRIMARY KEY (`pl_from`,`pl_namespace`,`pl_title`),""",
}
_ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "\n": "\\n", "\r": "\\r", "\0": "\\0", "\x1a": "\\Z"}
_ESCAPED = str.maketrans(_ESCAPES)

NAMESPACES = {-2: "Media", -1: "Special", 0: "", 1: "Talk", 4: "Wikipedia", 6: "File", 10: "Template", 14: "Category"}


def sql_dump(layout: str, rows: Iterable[Sequence[object]], per_line: int = 1000) -> Iterator[bytes]:
    """A table as mysqldump writes it."""
    table = layout.split("-")[0]
    yield (
        f"-- MariaDB dump 10.19  Distrib 10.5.26-MariaDB\n--\n-- Host: db\n\n/*!40101 SET NAMES utf8mb4 */;\n"
        f"DROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n{COLUMNS[layout]}\n"
        f"  KEY `x` (`y`)\n) ENGINE=InnoDB DEFAULT CHARSET=binary ROW_FORMAT=COMPRESSED;\n\n"
        f"LOCK TABLES `{table}` WRITE;\n/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\n"
    ).encode()
    line: list[str] = []
    for row in rows:
        line.append(f"({','.join(map(_cell, row))})")
        if len(line) == per_line:
            yield _insert(table, line)
            line = []
    if line:
        yield _insert(table, line)
    yield f"/*!40000 ALTER TABLE `{table}` ENABLE KEYS */;\nUNLOCK TABLES;\n".encode()
    yield b"-- Dump completed on 2026-11-01  3:14:15\n"


def _insert(table: str, rows: list[str]) -> bytes:
    return f"INSERT INTO `{table}` VALUES {','.join(rows)};\n".encode("utf-8", "surrogateescape")


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    return f"'{value.translate(_ESCAPED)}'" if isinstance(value, str) else str(value)


def page_row(id: int, title: str, *, namespace: int = 0, redirect: bool = False) -> tuple[object, ...]:
    touched, name = "20261101000000", title.replace(" ", "_")
    return (id, namespace, name, int(redirect), 0, 0.33167112649574004, touched, None, id, 9, "wikitext", None)


def redirect_row(id: int, title: str, *, namespace: int = 0, interwiki: str = "") -> tuple[object, ...]:
    return (id, namespace, title.replace(" ", "_"), interwiki, "")


def xml_dump(pages: Iterable[tuple[int, int, str, str | None, str]], wiki: str = "enwiki") -> Iterator[bytes]:
    """Pages as MediaWiki exports them: number, namespace, title, where it redirects to, text."""
    names = "".join(
        f'      <namespace key="{key}" case="first-letter">{name}</namespace>\n'
        if name
        else f'      <namespace key="{key}" case="first-letter" />\n'
        for key, name in NAMESPACES.items()
    )
    yield (
        '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n  <siteinfo>\n'
        f"    <sitename>Wikipedia</sitename>\n    <dbname>{wiki}</dbname>\n    <namespaces>\n{names}    </namespaces>\n"
        "  </siteinfo>\n"
    ).encode()
    for id, namespace, title, redirect, text in pages:
        moved = f"    <redirect title={quoteattr(redirect)} />\n" if redirect is not None else ""
        yield (
            f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{id}</id>\n{moved}"
            f"    <revision>\n      <id>{id}9</id>\n      <contributor>\n        <id>7</id>\n      </contributor>\n"
            f'      <text bytes="{len(text)}" xml:space="preserve">{escape(text)}</text>\n'
            "    </revision>\n  </page>\n"
        ).encode()
    yield b"</mediawiki>\n"


def item(
    id: str,
    labels: Mapping[str, str] = {},
    *,
    aliases: Sequence[str] = (),
    description: str | None = None,
    claims: Mapping[str, Sequence[object]] = {},
    sitelinks: Mapping[str, str] = {},
) -> dict[str, object]:
    """An item as the dump writes it; a map without entries is a list, as PHP has it."""
    terms = {language: {"language": language, "value": value} for language, value in labels.items()}
    return {
        "type": "item",
        "id": id,
        "labels": terms or [],
        "descriptions": {"en": {"language": "en", "value": description}} if description else [],
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else [],
        "claims": {name: [statement(name, value) for value in values] for name, values in claims.items()} or [],
        "sitelinks": {site: {"site": site, "title": title, "badges": []} for site, title in sitelinks.items()} or [],
        "pageid": 1,
        "ns": 0,
        "title": id,
        "lastrevid": 5,
        "modified": "2026-11-01T00:00:00Z",
    }


def statement(property: str, value: object) -> dict[str, object]:
    """A statement: a value, or (value, rank); None is an unknown value. It has a qualifier and a reference."""
    value, rank = value if isinstance(value, tuple) else (value, "normal")
    time = {"value": {"time": "+1991-01-01T00:00:00Z", "precision": 9}, "type": "time"}
    metadata = {"snaktype": "value", "property": "P580", "hash": "0", "datavalue": time, "datatype": "time"}
    return {
        "mainsnak": snak(property, value),
        "type": "statement",
        "qualifiers": {"P580": [metadata]},
        "qualifiers-order": ["P580"],
        "id": "Q1$0",
        "rank": rank,
        "references": [{"hash": "1", "snaks": {"P31": [snak("P31", "Q999")]}, "snaks-order": ["P31"]}],
    }


def snak(property: str, value: object) -> dict[str, object]:
    if value is None:
        return {"snaktype": "somevalue", "property": property, "hash": "2", "datatype": "wikibase-item"}
    if isinstance(value, str) and value[:1] == "Q" and value[1:].isdigit():
        data: object = {"entity-type": "item", "numeric-id": int(value[1:]), "id": value}
        kind = "wikibase-entityid"
    elif isinstance(value, int):
        data, kind = {"amount": f"+{value}", "unit": "1"}, "quantity"
    elif isinstance(value, Mapping):
        data, kind = dict(value), "monolingualtext"
    else:
        data, kind = value, "string"
    return {"snaktype": "value", "property": property, "datavalue": {"value": data, "type": kind}, "datatype": kind}


def json_dump(items: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    """Items as the dump writes them: an array with one of them in each line."""
    yield b"[\n"
    behind = b""
    for each in items:
        yield behind + json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()
        behind = b",\n"
    yield b"\n]\n"


def store(path: Path, content: Iterable[bytes], members: int = 1) -> Path:
    """Write a dump, compressed as its name says; bzip2 in several members, as multistream dumps are."""
    data = b"".join(content)
    if path.suffix == ".bz2":
        size = len(data) // members + 1
        data = b"".join(bz2.compress(data[at : at + size], 1) for at in range(0, len(data), size))
    elif path.suffix == ".gz":
        data = gzip.compress(data, 1)
    elif path.suffix == ".zst":
        data = pa.compress(data, "zstd", asbytes=True)
    path.write_bytes(data)
    return path
