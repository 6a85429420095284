"""Linked text by section: Kensho's Wikipedia, records of ZELDA-train, or any corpus that Karat reads.

The first two are read as a stream, so that only some sections are in memory; other formats are loaded entirely. In
Kensho's layout (the Kensho Derived Wikimedia Dataset) `link_annotated_text.jsonl` has the pages and `page.csv` their
titles. Links lead to page ids; a link to a page without title is dead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv

from karat.data.load import load
from karat.formats.parsing.lines import read_raw_lines
from karat.model.errors import InputError
from karat.model.json.decoder import JsonDecoder, JsonError
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs
from karat.storage.files import Source

KENSHO_TEXT: Final = "link_annotated_text.jsonl"
"""Name of Kensho's file of pages."""
KENSHO_PAGES: Final = "page.csv"
"""Name of Kensho's file of titles."""
_SUFFIXES: Final = ("", ".gz", ".zst")
_BATCH: Final = 256  # pages whose links are looked up together
_T = TypeVar("_T")


class SectionLink(NamedTuple):
    """A link in a section."""

    start: int
    """Start offset."""
    end: int
    """End offset."""
    title: str | None
    """Title of the page; None if unknown."""
    page: str | None = None
    """Id of the page; None if unknown."""


class LinkedSection(NamedTuple):
    """A section of a page with its links in file order."""

    page: str
    """Id of the page."""
    title: str | None
    """Title of the page; None if unknown."""
    name: str
    """Name of the section."""
    text: str
    """Text."""
    links: tuple[SectionLink, ...]
    """Links."""


class _KenshoSection(msgspec.Struct):
    """A section in Kensho's file of pages."""

    name: str = ""
    text: str = ""
    link_offsets: list[int] = []
    link_lengths: list[int] = []
    target_page_ids: list[int] = []


class _KenshoPage(msgspec.Struct):
    """A page in Kensho's file of pages."""

    page_id: int
    sections: list[_KenshoSection] = []


class _TrainRow(msgspec.Struct):
    """A line of ZELDA-train."""

    text: str
    index: list[tuple[int, int]]
    wikipedia_titles: list[str | None]
    wikipedia_ids: list[int | str | None] | None = None
    id: str | int | None = None
    page_id: str | int | None = None
    section_name: str | None = None
    title: str | None = None  # Karat's: the published file has none
    meta: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class PageTitles:
    """Titles by page id, as sorted columns: about ten bytes per page more than the titles themselves."""

    ids: Longs
    """Sorted page ids."""
    titles: Arrow
    """Title of each page."""

    @classmethod
    def from_source(cls, source: Source) -> PageTitles:
        """Read the titles from Kensho's CSV of pages; raise `InputError` if it is invalid."""
        try:
            with source.open_stream() as file:
                options = pyarrow.csv.ConvertOptions(
                    include_columns=["page_id", "title"],
                    column_types={"page_id": pa.int64(), "title": pa.string()},
                )
                table = pyarrow.csv.read_csv(
                    file, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True), convert_options=options
                )
        except (pa.ArrowInvalid, pa.ArrowKeyError) as problem:
            raise InputError(
                source.label,
                actual=f"no list of pages ({str(problem).splitlines()[0]})",
                expected="a CSV with the columns page_id and title",
                remedy="Pass the folder of the Kensho Derived Wikimedia Dataset",
            ) from None
        ids = table.column("page_id").to_numpy()
        order = np.argsort(ids, kind="stable")
        return cls(ids[order], table.column("title").combine_chunks().take(pa.array(order)))

    def get_titles(self, ids: Sequence[int]) -> list[str | None]:
        """Return the title of each page id, in order; None if unknown."""
        page_ids = np.asarray(ids, np.int64)
        if not len(self.ids) or not len(page_ids):
            return [None] * len(page_ids)
        indices = np.minimum(np.searchsorted(self.ids, page_ids), len(self.ids) - 1)
        rows = pa.array(indices, mask=self.ids[indices] != page_ids)
        titles: list[str | None] = self.titles.take(rows).to_pylist()
        return titles


def is_kensho(path: str) -> bool:
    """Return whether a path is a folder in Kensho's layout, by its file of pages."""
    source = Source(path, trust_links=True)
    return source.is_folder and find_kensho_file(source, KENSHO_TEXT) is not None


def find_kensho_file(folder: Source, name: str) -> Source | None:
    """Return a file of Kensho's folder by its plain name, compressed or not; None if missing."""
    return next(
        (folder.get_child(f"{name}{end}") for end in _SUFFIXES if folder.get_child(f"{name}{end}").exists), None
    )


def read_sections(path: str, notes: Counter[str] | None = None) -> Iterator[LinkedSection]:
    """Yield the sections of linked text, in file order; `notes` counts excluded links by reason.

    `path` is a folder in Kensho's layout, a file like ZELDA-train, or any corpus that Karat reads.
    """
    counts: Counter[str] = Counter() if notes is None else notes
    if is_kensho(path):
        yield from _read_kensho(Source(path, trust_links=True), counts)
    elif (source := Source(path)).exists and not source.is_folder and b'"wikipedia_titles"' in source.first_bytes:
        yield from _read_train(source, counts)
    else:
        yield from _read_corpus(path, counts)


def _read_kensho(folder: Source, notes: Counter[str]) -> Iterator[LinkedSection]:
    """Yield the sections of Kensho's folder; count excluded links in `notes`.

    Raise `InputError` if one of the two files is missing or invalid.
    """
    text, pages = find_kensho_file(folder, KENSHO_TEXT), find_kensho_file(folder, KENSHO_PAGES)
    if text is None or pages is None:
        missing = KENSHO_TEXT if text is None else KENSHO_PAGES
        raise InputError(
            folder.label,
            actual=f"no {missing}",
            expected=f"{KENSHO_TEXT} and {KENSHO_PAGES}",
            remedy="Put both files of the Kensho Derived Wikimedia Dataset there",
        )
    titles = PageTitles.from_source(pages)
    decoder = JsonDecoder(_KenshoPage)
    for batch in _batch_pages(_decode_lines(text, decoder)):
        targets = [id for page in batch for section in page.sections for id in section.target_page_ids]
        target_titles = iter(titles.get_titles(targets))
        page_titles = titles.get_titles([page.page_id for page in batch])
        for page, title in zip(batch, page_titles, strict=True):
            for section in page.sections:
                links = tuple(_kensho_links(section, target_titles, notes))
                yield LinkedSection(str(page.page_id), title, section.name, section.text, links)


def _kensho_links(
    section: _KenshoSection, target_titles: Iterator[str | None], notes: Counter[str]
) -> Iterator[SectionLink]:
    """Yield the links of a section with a valid span; count the others in `notes`.

    One title is taken from `target_titles` for each target of the section, also for excluded links.
    """
    for start, length, page in zip(section.link_offsets, section.link_lengths, section.target_page_ids, strict=False):
        title = next(target_titles)
        if start >= 0 and length > 0 and start + length <= len(section.text):
            yield SectionLink(start, start + length, title, str(page))
        else:
            notes["links without text (excluded)"] += 1
    for _ in section.target_page_ids[min(len(section.link_offsets), len(section.link_lengths)) :]:
        next(target_titles)
        notes["links without text (excluded)"] += 1


def _batch_pages(pages: Iterable[_KenshoPage]) -> Iterator[list[_KenshoPage]]:
    """Yield pages in batches of 256."""
    iterator = iter(pages)
    while batch := list(islice(iterator, _BATCH)):
        yield batch


def _read_train(source: Source, notes: Counter[str]) -> Iterator[LinkedSection]:
    """Yield the sections of a file like ZELDA-train; count links outside the text in `notes`.

    Raise `InputError` for an invalid line.
    """
    for number, row in enumerate(_decode_lines(source, JsonDecoder(_TrainRow)), 1):
        pages = row.wikipedia_ids or [None] * len(row.index)
        if not len(row.index) == len(row.wikipedia_titles) == len(pages):
            raise InputError(
                f"{source.label}:{number}",
                actual=f"{len(row.index)} spans, {len(row.wikipedia_titles)} titles and {len(pages)} page ids",
                expected="the same number of each",
                remedy="Complete the lists",
            )
        links = []
        for (start, end), title, target in zip(row.index, row.wikipedia_titles, pages, strict=True):
            if 0 <= start < end <= len(row.text):
                page = None if target is None else str(target)
                links.append(SectionLink(start, end, title.replace("_", " ") if title else None, page))
            else:
                notes["links without text (excluded)"] += 1
        page_id = row.id if row.page_id is None else row.page_id
        yield LinkedSection(
            str(number if page_id is None else page_id),
            row.title or row.meta.get("title"),
            row.section_name or "",
            row.text,
            tuple(links),
        )


def _decode_lines(source: Source, decoder: JsonDecoder[_T]) -> Iterator[_T]:
    """Yield the non-empty lines of a file, decoded from JSON; raise `InputError` for an invalid line."""
    for number, line in enumerate(read_raw_lines(source), 1):
        if line.strip():
            try:
                yield decoder.decode(line)
            except JsonError as problem:
                raise InputError(
                    f"{source.label}:{number}",
                    actual=f"a line that is not a section ({problem})",
                    expected="one JSON object a line, of a page with its sections or of a section with its links",
                    remedy="Check that the file is complete",
                ) from None


def _read_corpus(path: str, notes: Counter[str]) -> Iterator[LinkedSection]:
    """Yield each document of any corpus as a section without name; count labels without entity in `notes`."""
    for document in load(path):
        links = []
        for label in document.labels:
            if isinstance(label.entity, str) and label.start < label.end:
                page = next((id for id in label.same_as if id.isascii() and id.isdigit()), None)
                links.append(SectionLink(label.start, label.end, label.entity.replace("_", " "), page))
            else:
                notes["mentions without entity (excluded)"] += 1
        yield LinkedSection(document.id, document.meta.get("title"), "", document.text, tuple(links))


def file_stamp(path: str) -> tuple[str, int, int]:
    """Return absolute path, total size and latest modification time of a file or of the files in a folder.

    A different stamp means that the data have changed.
    """
    resolved = Path(path).resolve()
    files = [stat.stat() for stat in ([resolved] if resolved.is_file() else sorted(resolved.glob("*")))]
    return str(resolved), sum(stat.st_size for stat in files), max((stat.st_mtime_ns for stat in files), default=0)
