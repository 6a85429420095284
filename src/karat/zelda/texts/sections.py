"""Linked text, section by section: Kensho's Wikipedia, records of ZELDA-train, or any corpus that Karat reads.

The first two are read as a stream, so that nothing is held but some sections at a time; of other formats the whole
file is. Of a Wikipedia in Kensho's layout (the Kensho Derived Wikimedia Dataset) `link_annotated_text.jsonl` has the
pages and `page.csv` their titles; links lead to page ids, and one that leads to a page without title is dead.
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
from karat.errors import InputError
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import Longs
from karat.parsing.lines import raw_lines
from karat.storage.files import Source

KENSHO_TEXT: Final = "link_annotated_text.jsonl"
KENSHO_PAGES: Final = "page.csv"
_SUFFIXES: Final = ("", ".gz", ".zst")
_BATCH: Final = 256  # pages whose links are looked up together
_T = TypeVar("_T")


class SectionLink(NamedTuple):
    """Words of a section that lead to a page; no title where the page is not known."""

    start: int
    end: int
    title: str | None
    page: str | None = None


class LinkedSection(NamedTuple):
    """A section of a page, with its links in the order of the file."""

    page: str
    title: str | None
    name: str
    text: str
    links: tuple[SectionLink, ...]


class _KenshoSection(msgspec.Struct):
    name: str = ""
    text: str = ""
    link_offsets: list[int] = []
    link_lengths: list[int] = []
    target_page_ids: list[int] = []


class _KenshoPage(msgspec.Struct):
    page_id: int
    sections: list[_KenshoSection] = []


class _TrainRow(msgspec.Struct):
    text: str
    index: list[tuple[int, int]]
    wikipedia_titles: list[str | None]
    wikipedia_ids: list[int | str | None] | None = None
    id: str | int | None = None
    page_id: str | int | None = None
    section_name: str | None = None


@dataclass(frozen=True, slots=True)
class PageTitles:
    """Titles by page id, as sorted columns: some ten bytes a page more than the titles themselves."""

    ids: Longs
    titles: Arrow

    @classmethod
    def read(cls, source: Source) -> PageTitles:
        """The titles of Kensho's list of pages."""
        try:
            with source.stream() as file:
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
                found=f"no list of pages ({str(problem).splitlines()[0]})",
                expected="a CSV with the columns page_id and title",
                remedy="Give the folder of the Kensho Derived Wikimedia Dataset",
            ) from None
        ids = table.column("page_id").to_numpy()
        order = np.argsort(ids, kind="stable")
        return cls(ids[order], table.column("title").combine_chunks().take(pa.array(order)))

    def of(self, ids: Sequence[int]) -> list[str | None]:
        """The title of each page, None where there is no such page."""
        wanted = np.asarray(ids, np.int64)
        if not len(self.ids) or not len(wanted):
            return [None] * len(wanted)
        place = np.minimum(np.searchsorted(self.ids, wanted), len(self.ids) - 1)
        found = pa.array(place, mask=self.ids[place] != wanted)
        titles: list[str | None] = self.titles.take(found).to_pylist()
        return titles


def is_kensho(path: str) -> bool:
    """Whether a folder is a Wikipedia in Kensho's layout."""
    source = Source(path, links=True)
    return source.folder and kensho_file(source, KENSHO_TEXT) is not None


def kensho_file(folder: Source, name: str) -> Source | None:
    """A file of Kensho's layout, compressed or not."""
    return next((folder.inside(f"{name}{end}") for end in _SUFFIXES if folder.inside(f"{name}{end}").exists), None)


def sections(path: str, notes: Counter[str] | None = None) -> Iterator[LinkedSection]:
    """The sections of linked text; `notes` counts what is left out on the way."""
    counts: Counter[str] = Counter() if notes is None else notes
    if is_kensho(path):
        yield from _kensho(Source(path, links=True), counts)
    elif (source := Source(path)).exists and not source.folder and b'"wikipedia_titles"' in source.opening:
        yield from _train(source, counts)
    else:
        yield from _any(path, counts)


def _kensho(folder: Source, notes: Counter[str]) -> Iterator[LinkedSection]:
    text, pages = kensho_file(folder, KENSHO_TEXT), kensho_file(folder, KENSHO_PAGES)
    if text is None or pages is None:
        missing = KENSHO_TEXT if text is None else KENSHO_PAGES
        raise InputError(
            folder.label,
            found=f"no {missing}",
            expected=f"{KENSHO_TEXT} and {KENSHO_PAGES}",
            remedy="Put both files of the Kensho Derived Wikimedia Dataset there",
        )
    titles = PageTitles.read(pages)
    decoder = msgspec.json.Decoder(_KenshoPage)
    for batch in _batches(_decoded(text, decoder)):
        targets = [id for page in batch for section in page.sections for id in section.target_page_ids]
        known = iter(titles.of(targets))
        own = titles.of([page.page_id for page in batch])
        for page, title in zip(batch, own, strict=True):
            for section in page.sections:
                links = tuple(_kensho_links(section, known, notes))
                yield LinkedSection(str(page.page_id), title, section.name, section.text, links)


def _kensho_links(section: _KenshoSection, known: Iterator[str | None], notes: Counter[str]) -> Iterator[SectionLink]:
    for start, length, page in zip(section.link_offsets, section.link_lengths, section.target_page_ids, strict=False):
        title = next(known)
        if start >= 0 and length > 0 and start + length <= len(section.text):
            yield SectionLink(start, start + length, title, str(page))
        else:
            notes["links without words (left out)"] += 1
    for _ in section.target_page_ids[min(len(section.link_offsets), len(section.link_lengths)) :]:
        next(known)
        notes["links without words (left out)"] += 1


def _batches(pages: Iterable[_KenshoPage]) -> Iterator[list[_KenshoPage]]:
    every = iter(pages)
    while batch := list(islice(every, _BATCH)):
        yield batch


def _train(source: Source, notes: Counter[str]) -> Iterator[LinkedSection]:
    for number, row in enumerate(_decoded(source, msgspec.json.Decoder(_TrainRow)), 1):
        pages = row.wikipedia_ids or [None] * len(row.index)
        if not len(row.index) == len(row.wikipedia_titles) == len(pages):
            raise InputError(
                f"{source.label}:{number}",
                found=f"{len(row.index)} spans, {len(row.wikipedia_titles)} titles and {len(pages)} page ids",
                expected="as many of each",
                remedy="Complete the lists",
            )
        links = []
        for (start, end), title, target in zip(row.index, row.wikipedia_titles, pages, strict=True):
            if 0 <= start < end <= len(row.text):
                links.append(SectionLink(start, end, title or None, None if target is None else str(target)))
            else:
                notes["links without words (left out)"] += 1
        page_id = row.id if row.page_id is None else row.page_id
        yield LinkedSection(
            str(number if page_id is None else page_id), None, row.section_name or "", row.text, tuple(links)
        )


def _decoded(source: Source, decoder: msgspec.json.Decoder[_T]) -> Iterator[_T]:
    for number, line in enumerate(raw_lines(source), 1):
        if line.strip():
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as problem:
                raise InputError(
                    f"{source.label}:{number}",
                    found=f"a line that is no section ({problem})",
                    expected="one JSON object a line, of a page with its sections or of a section with its links",
                    remedy="Check that the file was not cut off",
                ) from None


def _any(path: str, notes: Counter[str]) -> Iterator[LinkedSection]:
    for document in load(path):
        links = []
        for label in document.labels:
            if isinstance(label.entity, str) and label.start < label.end:
                links.append(SectionLink(label.start, label.end, label.entity.replace("_", " ")))
            else:
                notes["mentions without entity (left out)"] += 1
        yield LinkedSection(document.id, document.meta.get("title"), "", document.text, tuple(links))


def file_stamp(path: str) -> tuple[str, int, int]:
    """What tells a file or a folder from a later one in its place."""
    here = Path(path).resolve()
    files = [one.stat() for one in ([here] if here.is_file() else sorted(here.glob("*")))]
    return str(here), sum(one.st_size for one in files), max((one.st_mtime_ns for one in files), default=0)
