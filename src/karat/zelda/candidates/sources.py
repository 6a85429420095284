"""Where candidates come from: sources of mentions with the entities that they stand for, as tables.

| source | what counts |
|---|---|
| aliases | a title as its own mention, and each alias, once |
| text | each link: its words and where it leads (Kensho's Wikipedia, ZELDA-train, any corpus) |
| pairs | mention, entity and count, as a table (Parquet, or tab-separated) |
| wikilinks | each link of web pages to Wikipedia, in the layout of the Wikilinks corpus |
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import TextIOWrapper
from itertools import islice
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from karat.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.parsing.lines import Line, lines
from karat.storage.files import Source
from karat.zelda.texts.sections import KENSHO_PAGES, is_kensho, kensho_file, sections

SCHEMA: Final = pa.schema({"mention": pa.string(), "entity": pa.string(), "count": pa.int64()})
_ROWS: Final = 1 << 16
_UNQUOTED: Final = 3  # addresses on the web are quoted up to three times
_WIKIPEDIA: Final = re.compile(r"https?://(?:en\.|www\.)?(?:m\.)?wikipedia\.org/wiki/(?P<title>[^?#\s]+)")
_ALIASES: Final = "item_aliases.csv"
_DEAD = "links to no known page (left out)"

Rows: TypeAlias = Iterable[tuple[str, str, int]]


def _tables(rows: Rows) -> Iterator[Arrow]:
    every = iter(rows)
    while some := list(islice(every, _ROWS)):
        columns = zip(*some, strict=True)
        yield pa.table([pa.array(column) for column in columns], schema=SCHEMA)


def _text(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    return _tables(_links(path, notes))


def _links(path: str, notes: Counter[str]) -> Rows:
    for section in sections(path, notes):
        for link in section.links:
            if link.title is None:
                notes[_DEAD] += 1
            else:
                yield section.text[link.start : link.end], link.title, 1


def title_of_url(url: str) -> str | None:
    """The title that an address of Wikipedia names, None if it is another address."""
    match = _WIKIPEDIA.match(url.strip())
    if match is None:
        return None
    title = match["title"]
    for _ in range(_UNQUOTED):
        title = unquote(title)
    title = title.partition("#")[0].replace("_", " ").strip()
    return title[:1].upper() + title[1:] if title else None


def _wikilinks(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    return _tables(_web_links(path, notes))


def _web_links(path: str, notes: Counter[str]) -> Rows:
    """Lines `MENTION<TAB>words<TAB>offset<TAB>address`; other lines name pages and rare words."""
    source = Source(path)
    for line in lines(source):
        kind, *cells = line.text.split("\t")
        if kind != "MENTION":
            continue
        if len(cells) != 3:
            raise _broken(source, line, "MENTION, words, offset and address, with tabs between them")
        title = title_of_url(cells[2])
        if title is None or not cells[0]:
            notes["links of web pages to something else (left out)"] += 1
        else:
            yield cells[0], title, 1


def _aliases(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    return _tables(_kensho_aliases(path) if is_kensho(path) else _listed_aliases(path))


def _listed_aliases(path: str) -> Rows:
    """Lines `title<TAB>alias…`, or objects with `title` and `aliases`; a title is an alias of its own."""
    source = Source(path)
    as_json = source.opening.lstrip().startswith(b"{")
    for line in lines(source):
        if not line.text.strip():
            continue
        title, *names = _alias_record(source, line) if as_json else line.text.split("\t")
        title = title.replace("_", " ")
        for name in dict.fromkeys([title, *filter(None, names)]):
            yield name, title, 1


def _alias_record(source: Source, line: Line) -> list[str]:
    try:
        record = msgspec.json.decode(line.text, type=_Titled)
    except msgspec.DecodeError:
        raise _broken(source, line, "an object with title and aliases") from None
    return [record.title, *record.aliases]


class _Titled(msgspec.Struct):
    title: str
    aliases: list[str] = []


def _kensho_aliases(path: str) -> Rows:
    """Kensho's lists of pages and of aliases of Wikidata's items, brought together by the item."""
    folder = Source(path, links=True)
    pages, aliases = kensho_file(folder, KENSHO_PAGES), kensho_file(folder, _ALIASES)
    titles: dict[str, str] = {}
    if pages is not None:
        for row in _csv(pages):
            titles[row["item_id"]] = row["title"]
            yield row["title"], row["title"], 1
    if aliases is not None:
        for row in _csv(aliases):
            title = titles.get(row["item_id"])
            if title is not None and row["en_alias"] != title:
                yield row["en_alias"], title, 1


def _csv(source: Source) -> Iterator[Mapping[str, str]]:
    with source.stream() as file:
        reader = csv.DictReader(TextIOWrapper(file, encoding="utf-8", newline=""))
        for row in reader:
            yield {name: value or "" for name, value in row.items() if name is not None}


def _pairs(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    source = Source(path)
    if not path.endswith(".parquet"):
        yield from _tables(_listed_pairs(source))
        return
    try:
        file = pq.ParquetFile(path)
        names = [name for name in SCHEMA.names if name in file.schema_arrow.names]
        if names[:2] != ["mention", "entity"]:
            raise InputError(
                source.label,
                found=f"the columns {', '.join(file.schema_arrow.names)}",
                expected="mention, entity and count",
                remedy="Name the columns so",
            )
        groups = range(file.num_row_groups)  # one after the other: asked for all, it would read ahead
        for batch in (batch for group in groups for batch in file.iter_batches(_ROWS, [group], names)):
            table = pa.Table.from_batches([batch])
            if len(names) == 2:
                table = table.append_column("count", pa.repeat(pa.scalar(1, pa.int64()), table.num_rows))
            yield table.select(SCHEMA.names).cast(SCHEMA)
    except (pa.ArrowInvalid, OSError) as problem:
        raise InputError(
            source.label,
            found=f"no table of pairs ({str(problem).splitlines()[0]})",
            expected="a Parquet file with the columns mention, entity and count",
            remedy="Check the file",
        ) from None


def _listed_pairs(source: Source) -> Rows:
    for line in lines(source):
        if not line.text:
            continue
        cells = line.text.split("\t")
        if len(cells) not in (2, 3) or not all(cells) or (not cells[-1].isdigit() and len(cells) == 3):
            raise _broken(source, line, "mention, entity and count, with tabs between them")
        yield cells[0], cells[1].replace("_", " "), int(cells[2]) if len(cells) == 3 else 1


def _broken(source: Source, line: Line, expected: str) -> InputError:
    return InputError(
        f"{source.label}:{line.number}", found=repr(line.text[:60]), expected=expected, remedy="Correct the line"
    )


Read: TypeAlias = Callable[[str, Counter[str]], Iterator[Any]]

SOURCES: Final[Mapping[str, Read]] = {"aliases": _aliases, "text": _text, "pairs": _pairs, "wikilinks": _wikilinks}
"""By name, in the order in which ZELDA merges them; links of text and ready pairs are one source to it."""

RANK: Final = {"aliases": 0, "text": 1, "pairs": 1, "wikilinks": 2}
"""Which sources are the same one, and which comes first."""
