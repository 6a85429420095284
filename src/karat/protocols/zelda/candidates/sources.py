"""Sources of candidates: mentions with the entities that they mean, as tables.

| source | counts |
|---|---|
| aliases | a title as its own mention, and each alias, once |
| titles | the title of each entity in test sets as its own mention, once |
| text | each link: its text and its target (Kensho's Wikipedia, ZELDA-train, any corpus) |
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

from karat.formats.parsing.lines import Line, read_lines
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.tables.arrow import Arrow
from karat.protocols.zelda.splits import find_split_files
from karat.protocols.zelda.texts.sections import KENSHO_PAGES, find_kensho_file, is_kensho, read_sections
from karat.storage.files import Source

SCHEMA: Final = pa.schema({"mention": pa.string(), "entity": pa.string(), "count": pa.int64()})
"""Columns of a source."""
_ROWS: Final = 1 << 16
_QUOTING_LEVELS: Final = 3  # web addresses are quoted up to three times
_WIKIPEDIA: Final = re.compile(r"https?://(?:en\.|www\.)?(?:m\.)?wikipedia\.org/wiki/(?P<title>[^?#\s]+)")
_ALIASES: Final = "item_aliases.csv"
_DEAD_LINKS = "links to unknown pages (excluded)"

Rows: TypeAlias = Iterable[tuple[str, str, int]]
"""Mention, entity and count."""


def _to_tables(rows: Rows) -> Iterator[Arrow]:
    """Yield rows as tables of at most 65,536 rows with the columns of `SCHEMA`."""
    iterator = iter(rows)
    while batch := list(islice(iterator, _ROWS)):
        columns = zip(*batch, strict=True)
        yield pa.table([pa.array(column) for column in columns], schema=SCHEMA)


def _read_text(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    """Yield the links of linked text as tables; count excluded links in `notes`."""
    return _to_tables(_text_links(path, notes))


def _text_links(path: str, notes: Counter[str]) -> Rows:
    """Yield surface, title and 1 for each link of linked text; count excluded links in `notes`."""
    for section in read_sections(path, notes):
        for link in section.links:
            if link.title is None:
                notes[_DEAD_LINKS] += 1
            else:
                yield section.text[link.start : link.end], link.title, 1


def parse_wikipedia_url(url: str) -> str | None:
    """Return the title in a URL of the English Wikipedia, with spaces; None for another URL."""
    match = _WIKIPEDIA.match(url.strip())
    if match is None:
        return None
    title = match["title"]
    for _ in range(_QUOTING_LEVELS):
        title = unquote(title)
    title = title.partition("#")[0].replace("_", " ").strip()
    return title[:1].upper() + title[1:] if title else None


def _read_wikilinks(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    """Yield the links of the Wikilinks corpus as tables; count excluded links in `notes`."""
    return _to_tables(_web_links(path, notes))


def _web_links(path: str, notes: Counter[str]) -> Rows:
    """Yield text, title and 1 for each line `MENTION<TAB>text<TAB>offset<TAB>URL`; other lines are ignored.

    Links to other sites than Wikipedia are counted in `notes`. Raise `InputError` for an invalid line.
    """
    source = Source(path)
    for line in read_lines(source):
        kind, *cells = line.text.split("\t")
        if kind != "MENTION":
            continue
        if len(cells) != 3:
            raise line_error(source, line, "MENTION, text, offset and URL, separated by tabs")
        title = parse_wikipedia_url(cells[2])
        if title is None or not cells[0]:
            notes["links of web pages to other sites (excluded)"] += 1
        else:
            yield cells[0], title, 1


def _read_aliases(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    """Yield the titles and aliases of Kensho's folder, or of a file of aliases, as tables; `notes` is not used."""
    return _to_tables(_kensho_aliases(path) if is_kensho(path) else _listed_aliases(path))


def _read_titles(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    """Yield the titles that a test set, or a folder of test sets, links as tables; `notes` is not used."""
    sections = (section for file in find_split_files([path]).values() for section in read_sections(file))
    titles = dict.fromkeys(link.title for section in sections for link in section.links if link.title is not None)
    return _to_tables((title, title, 1) for title in titles)


def _listed_aliases(path: str) -> Rows:
    """Yield (alias, title, 1) from lines `title<TAB>alias…`, or JSON lines with `title` and `aliases`.

    A title is its own first alias.
    """
    source = Source(path)
    as_json = source.first_bytes.lstrip().startswith(b"{")
    for line in read_lines(source):
        if not line.text.strip():
            continue
        title, *names = _parse_alias_record(source, line) if as_json else line.text.split("\t")
        title = title.replace("_", " ")
        for name in dict.fromkeys([title, *filter(None, names)]):
            yield name, title, 1


def _parse_alias_record(source: Source, line: Line) -> list[str]:
    """Return title and aliases of a JSON line; raise `InputError` if it is invalid."""
    try:
        record = decode_json(line.text, _AliasRecord)
    except JsonError:
        raise line_error(source, line, "an object with title and aliases") from None
    return [record.title, *record.aliases]


class _AliasRecord(msgspec.Struct):
    """JSON line of a file of aliases."""

    title: str
    aliases: list[str] = []


def _kensho_aliases(path: str) -> Rows:
    """Yield (title, title, 1) for Kensho's pages, then (alias, title, 1) for Wikidata's aliases of their items."""
    folder = Source(path, trust_links=True)
    pages, aliases = find_kensho_file(folder, KENSHO_PAGES), find_kensho_file(folder, _ALIASES)
    titles: dict[str, str] = {}
    if pages is not None:
        for row in _read_csv(pages):
            titles[row["item_id"]] = row["title"]
            yield row["title"], row["title"], 1
    if aliases is not None:
        for row in _read_csv(aliases):
            title = titles.get(row["item_id"])
            if title is not None and row["en_alias"] != title:
                yield row["en_alias"], title, 1


def _read_csv(source: Source) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a CSV file by column name; missing cells are empty."""
    with source.open_stream() as file:
        reader = csv.DictReader(TextIOWrapper(file, encoding="utf-8", newline=""))
        for row in reader:
            yield {name: value or "" for name, value in row.items() if name is not None}


def _read_pairs(path: str, notes: Counter[str]) -> Iterator[Arrow]:
    """Yield the pairs of a Parquet or tab-separated file as tables; a missing count is 1. `notes` is not used.

    Raise `InputError` if the file has no columns of mention and entity.
    """
    source = Source(path)
    if not path.endswith(".parquet"):
        yield from _to_tables(_listed_pairs(source))
        return
    try:
        file = pq.ParquetFile(path)
        names = [name for name in SCHEMA.names if name in file.schema_arrow.names]
        if names[:2] != ["mention", "entity"]:
            raise InputError(
                source.label,
                actual=f"the columns {', '.join(file.schema_arrow.names)}",
                expected="mention, entity and count",
                remedy="Rename the columns",
            )
        groups = range(file.num_row_groups)  # one group at a time: for all groups pyarrow would read ahead
        for batch in (batch for group in groups for batch in file.iter_batches(_ROWS, [group], names)):
            table = pa.Table.from_batches([batch])
            if len(names) == 2:
                table = table.append_column("count", pa.repeat(pa.scalar(1, pa.int64()), table.num_rows))
            yield table.select(SCHEMA.names).cast(SCHEMA)
    except (pa.ArrowInvalid, OSError) as problem:
        raise InputError(
            source.label,
            actual=f"no table of pairs ({str(problem).splitlines()[0]})",
            expected="a Parquet file with the columns mention, entity and count",
            remedy="Check the file",
        ) from None


def _listed_pairs(source: Source) -> Rows:
    """Yield mention, entity and count of each line of a tab-separated file; a missing count is 1.

    Raise `InputError` for an invalid line.
    """
    for line in read_lines(source):
        if not line.text:
            continue
        cells = line.text.split("\t")
        if len(cells) not in (2, 3) or not all(cells) or (not cells[-1].isdigit() and len(cells) == 3):
            raise line_error(source, line, "mention, entity and count, separated by tabs")
        yield cells[0], cells[1].replace("_", " "), int(cells[2]) if len(cells) == 3 else 1


def line_error(source: Source, line: Line, expected: str) -> InputError:
    """Return (not raise) the error for an invalid line."""
    return InputError(
        f"{source.label}:{line.number}", actual=repr(line.text[:60]), expected=expected, remedy="Correct the line"
    )


Read: TypeAlias = Callable[[str, Counter[str]], Iterator[Any]]
"""Reader: from a path and a counter of excluded rows to tables."""

SOURCES: Final[Mapping[str, Read]] = {
    "aliases": _read_aliases,
    "titles": _read_titles,
    "text": _read_text,
    "pairs": _read_pairs,
    "wikilinks": _read_wikilinks,
}
"""Readers by kind, in the order in which ZELDA merges them.

Aliases and titles count as one source, and so do links of text and pairs.
"""

RANK: Final = {"aliases": 0, "titles": 0, "text": 1, "pairs": 1, "wikilinks": 2}
"""Rank of each kind in the merge; kinds of the same rank are one source."""
