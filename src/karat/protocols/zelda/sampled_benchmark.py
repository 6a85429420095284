"""Sampling of a benchmark: training text for test sets, with vocabulary, descriptions and statistics, as a folder.

    train.jsonl, train.conll     the sampled sections
    vocabulary.tsv               page id and title of every entity, including those of the test sets
    descriptions.jsonl           descriptions of the entities whose articles are in the source

The source is read twice, or three times with descriptions: to draw, to write, to describe. The draw is stored next to
the folder until the folder is complete, so a call after a full disk does not draw again. No file is left incomplete.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import numpy as np

from karat.formats.plugins.zelda_conll import write_corpus as write_conll
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import read_json_value
from karat.model.output.json_files import JsonFile
from karat.model.output.progress import Advance, track_progress
from karat.model.tables.columns import Longs
from karat.protocols.zelda.sampling import SEED, THRESHOLD, SectionSample, TestLinks, draw_sections
from karat.protocols.zelda.split_predictions import collect_gold_mentions
from karat.protocols.zelda.texts.descriptions import describe_entities
from karat.protocols.zelda.texts.preparation import Preparation
from karat.protocols.zelda.texts.sections import LinkedSection, file_stamp, read_sections
from karat.protocols.zelda.texts.statistics import TextStatistics, count_words, text_statistics
from karat.storage.files import printable_path

FORMATS: Final = ("jsonl", "conll")
"""Formats of the training text."""
_SECTIONS_PER_WRITE: Final = 256  # sections written together


class SampledBenchmark(JsonFile, frozen=True, tag="karat-zelda-sample/2"):
    """Statistics of a sampled benchmark: the output of `karat zelda sample --json`."""

    folder: str
    """Folder of the benchmark."""
    threshold: int
    """Number of times that a test entity should be seen."""
    seed: int
    """Random seed."""
    sections_read: int
    """Number of sections in the source."""
    sections_eligible: int
    """Number of sections that link a test entity."""
    sections_drawn: int
    """Number of sections drawn until all entities were done."""
    test_entities: int
    """Number of test entities."""
    entities_reached: int
    """Number of test entities that were seen often enough."""
    entities_exhausted: int
    """Number of test entities with too few links in the source."""
    entities_absent: int
    """Number of test entities without any link in the source."""
    vocabulary_size: int
    """Number of entities in the vocabulary."""
    described_entities: int | None
    """Number of entities with a description; None if not requested."""
    excluded: Mapping[str, int]
    """Number of excluded sections and links by reason."""
    train: TextStatistics
    """Statistics of the training text."""
    tests: Mapping[str, TextStatistics]
    """Statistics of the test sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """Options for sampling a benchmark, as in `karat zelda sample`."""

    threshold: int = THRESHOLD
    """Number of times that a test entity should be seen."""
    seed: int = SEED
    """Random seed."""
    same_name_sections: bool = False
    """Whether to keep all sections of a page that share the name of a sampled one."""
    description_extractor: str | None = None
    """Source of descriptions, a key of `EXTRACTORS`; None for no descriptions."""
    formats: tuple[str, ...] = FORMATS
    """Formats of the training text."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """Test entities, the sample drawn for them, numbers of sections read and eligible, and counts of exclusions."""

    entities: list[str]
    sample: SectionSample
    n_sections: int
    n_eligible: int
    excluded: Counter[str]


class _StoredDraw(msgspec.Struct, frozen=True):
    """Metadata of a draw that is stored until the benchmark is complete; `stamp` identifies its inputs."""

    stamp: str
    n_sections: int
    n_eligible: int
    n_drawn: int
    excluded: dict[str, int]


def sample_benchmark(
    path: str, tests: Mapping[str, Corpus], target: str, options: SampleOptions | None = None, kb: KB | None = None
) -> SampledBenchmark:
    """Sample training text for test sets, write the benchmark into a new folder and return its statistics.

    `path` is the source of linked text, `target` the new folder. With `kb` titles are updated. If writing fails, the
    draw stays on disk for the next call. Raise `UsageError` if `target` exists and is not empty or cannot be written,
    and `InputError` if the test sets have no entities or the source has no links to them.
    """
    sample_options, folder = options or SampleOptions(), Path(target)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{printable_path(target)} already exists. Name a new folder, or delete it first.")
    if not folder.absolute().parent.is_dir():
        raise UsageError(
            f"{printable_path(target)}: the folder {str(folder.parent)!r} does not exist. Create it first."
        )
    entities = collect_entities(tests)
    if not entities:
        raise InputError(
            ", ".join(tests), actual="test sets without entities", expected="linked mentions", remedy="Check the files"
        )
    stage, partial = (folder.with_name(f".{folder.name}.{end}") for end in ("stage", "part"))
    try:
        stage.mkdir(exist_ok=True)
        selection = _draw_or_load(path, entities, sample_options, kb, stage)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        benchmark = _write_benchmark(path, tests, partial, target, selection, sample_options, kb)
        partial.replace(folder)  # replaces an empty folder of that name
    except OSError as problem:
        reason = problem.strerror or str(problem).splitlines()[0]
        raise UsageError(
            f"{printable_path(target)} cannot be written ({reason}). Free disk space and run again: the draw is stored."
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):  # removes the stage if nothing was drawn
            stage.rmdir()
    shutil.rmtree(stage, ignore_errors=True)
    return benchmark


def collect_entities(tests: Mapping[str, Corpus]) -> list[str]:
    """Return the distinct titles of all entities in the test sets, sorted, with spaces for underscores."""
    mentions = (
        mention for corpus in tests.values() for mention in collect_gold_mentions(corpus) if mention is not None
    )
    return sorted({mention.entity.replace("_", " ") for mention in mentions})


def _draw_or_load(path: str, entities: list[str], options: SampleOptions, kb: KB | None, stage: Path) -> _Selection:
    """Draw sections and store the draw in `stage`, or load the draw of an earlier call with the same inputs.

    Raise `InputError` if the source has no links to test entities.
    """
    inputs = (file_stamp(path), options.threshold, options.seed, kb and kb.digest, entities)
    stamp = blake2b(repr(inputs).encode(), digest_size=16).hexdigest()
    metadata, columns = stage / "drawing.json", stage / "drawing.npz"
    if metadata.exists():
        draw = read_json_value(
            metadata.read_bytes(), _StoredDraw, str(metadata), expected="a stored draw", remedy="Delete the file"
        )
        if draw.stamp == stamp:
            with np.load(columns) as stored:
                sample = SectionSample(options.threshold, stored["kept"], stored["seen"], stored["total"], draw.n_drawn)
            return _Selection(entities, sample, draw.n_sections, draw.n_eligible, Counter(draw.excluded))
    preparation = Preparation(kb)
    with track_progress("reading sections") as advance:
        sections = read_sections(path, preparation.counts)
        links = TestLinks.from_sections(
            _report_progress(preparation.prepare(sections), advance), entities, options.seed
        )
    if not links.n_links:
        raise _no_links_error(path, links.n_sections, preparation.counts)
    if not len(links.key):
        raise InputError(
            path,
            actual=f"{links.n_links:,} links, none of them to one of {len(entities):,} test entities",
            expected="text that links entities of the test sets",
            remedy="Check that both have the titles of the same Wikipedia, or update them with --kb",
        )
    sample = draw_sections(links, len(entities), options.threshold)
    np.savez(columns, kept=sample.sections, seen=sample.counts, total=sample.totals)
    draw = _StoredDraw(stamp, links.n_sections, len(links.key), sample.n_drawn, dict(preparation.counts))
    metadata.write_bytes(msgspec.json.encode(draw))
    return _Selection(entities, sample, links.n_sections, len(links.key), preparation.counts)


def _report_progress(sections: Iterator[LinkedSection | None], advance: Advance) -> Iterator[LinkedSection | None]:
    """Yield the sections unchanged and report each to `advance`."""
    for section in sections:
        advance(1)
        yield section


def _no_links_error(path: str, n_sections: int, counts: Mapping[str, int]) -> InputError:
    """Return (not raise) the error for a source without links."""
    details = "; ".join(f"{reason}: {count:,}" for reason, count in counts.items())
    return InputError(
        path,
        actual=f"{n_sections:,} sections without links to known pages{f' ({details})' if details else ''}",
        expected="text whose links lead to known pages",
        remedy="Check the list of pages, or the knowledge base",
    )


def _write_benchmark(
    path: str,
    tests: Mapping[str, Corpus],
    folder: Path,
    target: str,
    selection: _Selection,
    options: SampleOptions,
    kb: KB | None,
) -> SampledBenchmark:
    """Write training text, vocabulary and, if requested, descriptions into `folder`; return the statistics.

    `target` is the final folder, which the statistics name.
    """
    writer = _TrainingWriter(options.formats)
    with track_progress("writing sections", len(selection.sample.sections)) as advance, writer.open_files(folder):
        for section in _select_sections(path, selection.sample.sections, kb, same_named=options.same_name_sections):
            writer.write_section(section)
            advance(1)
    vocabulary = writer.vocabulary | {title: None for title in selection.entities if title not in writer.vocabulary}
    rows = (f"{page_id or ''}\t{title}\n" for title, page_id in sorted(vocabulary.items()))
    (folder / "vocabulary.tsv").write_text("".join(rows), encoding="utf-8")
    n_described = None
    if options.description_extractor is not None:
        n_described = 0
        with (folder / "descriptions.jsonl").open("wb") as file, track_progress("describing"):
            for description in describe_entities(read_sections(path), vocabulary, options.description_extractor):
                file.write(msgspec.json.encode(description._asdict()) + b"\n")
                n_described += 1
    sample = selection.sample
    return SampledBenchmark(
        folder=target,
        threshold=options.threshold,
        seed=options.seed,
        sections_read=selection.n_sections,
        sections_eligible=selection.n_eligible,
        sections_drawn=sample.n_drawn,
        test_entities=len(selection.entities),
        entities_reached=int(sample.reached_mask.sum()),
        entities_exhausted=int(sample.exhausted_mask.sum()),
        entities_absent=int(sample.absent_mask.sum()),
        vocabulary_size=len(vocabulary),
        described_entities=n_described,
        train=writer.statistics,
        tests={split: text_statistics(corpus) for split, corpus in tests.items()},
        excluded=dict(selection.excluded),
    )


def _select_sections(path: str, indices: Longs, kb: KB | None, *, same_named: bool) -> Iterator[LinkedSection]:
    """Yield the prepared sections at `indices`, which must be sorted, in source order.

    With `same_named`, also yield the sections of the same page that share the name of a selected one.
    """
    iterator = iter(indices.tolist())
    next_index = next(iterator, None)
    prepared = enumerate(Preparation(kb).prepare(read_sections(path)))
    if not same_named:
        for index, section in prepared:
            if index == next_index and section is not None:
                yield section
                next_index = next(iterator, None)
        return
    present = ((index, section) for index, section in prepared if section is not None)
    for _, page in groupby(present, key=lambda item: item[1].page):
        page_sections = list(page)
        names = set()
        for index, section in page_sections:
            if index == next_index:
                names.add(section.name)
                next_index = next(iterator, None)
        yield from (section for _, section in page_sections if section.name in names)


class _TrainingWriter:
    """Writer of the training text in all requested formats, which also counts it and collects its vocabulary."""

    def __init__(self, formats: Sequence[str]) -> None:
        self._formats, self._open = formats, dict[str, IO[bytes]]()
        self._pending: list[Document] = []
        self._ids: Counter[str] = Counter()
        self._documents = self._tokens = self._mentions = 0
        self.vocabulary: dict[str, str | None] = {}

    @contextmanager
    def open_files(self, folder: Path) -> Iterator[None]:
        """Open one file per format in `folder` for the block; write pending documents when it ends without error."""
        with ExitStack() as stack:
            self._open = {
                format: stack.enter_context((folder / f"train.{format}").open("wb")) for format in self._formats
            }
            yield
            self._flush()

    @property
    def statistics(self) -> TextStatistics:
        """Statistics of the text written so far."""
        return TextStatistics(self._documents, self._tokens, self._n_entities, self._mentions)

    @property
    def _n_entities(self) -> int:
        """Number of distinct entities linked so far."""
        return len(self.vocabulary)

    def write_section(self, section: LinkedSection) -> None:
        """Write a section in all formats (CoNLL in batches), count it, and add its entities to the vocabulary."""
        self._documents += 1
        self._tokens += count_words(section.text)
        self._mentions += len(section.links)
        for link in section.links:
            if link.title is not None and self.vocabulary.get(link.title) is None:
                self.vocabulary[link.title] = link.page
        if "jsonl" in self._open:
            self._open["jsonl"].write(msgspec.json.encode(_to_record(section)) + b"\n")
        if "conll" in self._open:
            self._pending.append(self._to_document(section))
            if len(self._pending) >= _SECTIONS_PER_WRITE:
                self._flush()

    def _flush(self) -> None:
        """Write the pending documents as CoNLL."""
        if self._pending:
            write_conll(Corpus.from_reader(self._pending, name="train"), self._open["conll"])
            self._pending.clear()

    def _to_document(self, section: LinkedSection) -> Document:
        """Convert a section to a document with a unique id: page and name, with a number if they repeat."""
        name = " ".join(f"{section.page} {section.name}".split())
        self._ids[name] += 1
        id = name if self._ids[name] == 1 else f"{name} #{self._ids[name]}"
        labels = tuple(
            Label(link.start, link.end, link.title.replace(" ", "_"), same_as=(link.page,) if link.page else ())
            for link in section.links
            if link.title is not None
        )
        return Document(id, section.text, labels, meta={} if section.title is None else {"title": section.title})


def _to_record(section: LinkedSection) -> dict[str, Any]:
    """Convert a section to a JSON record of ZELDA-train.

    Its fields are the page, the section name, the text, and the offsets, page ids and titles of the links. The title of
    the page, which the published file lacks, is added if it is known: training can read it, and descriptions need it.
    """
    return {
        "page_id": _to_number(section.page),
        **({} if section.title is None else {"title": section.title}),
        "section_name": section.name,
        "text": section.text,
        "index": [(link.start, link.end) for link in section.links],
        "wikipedia_ids": [_to_number(link.page) for link in section.links],
        "wikipedia_titles": [link.title for link in section.links],
    }


def _to_number(page: str | None) -> int | str | None:
    """Return a page id of ASCII digits as an integer; other ids and None are returned unchanged."""
    return int(page) if page is not None and page.isascii() and page.isdigit() else page
