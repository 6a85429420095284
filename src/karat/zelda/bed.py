"""A bed is made: training text is sampled for test sets, with its vocabulary, descriptions and statistics, as a folder.

    train.jsonl, train.conll     the sections that were kept
    vocabulary.tsv               page id and title of every entity, those of the test sets among them
    descriptions.jsonl           what the entities are, where the source has their articles

The source is read twice, three times with descriptions: to draw, to write, to describe. What was drawn is kept beside
the folder until that is complete, so that a call after a full disk draws nothing again; nothing is ever half-written.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import IO, Any, Final

import msgspec
import numpy as np

from karat.errors import InputError, UsageError
from karat.formats.zelda_conll import write_corpus as write_conll
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.tables.columns import Longs
from karat.storage.files import readable
from karat.work import Advance, working
from karat.zelda.given import given_mentions
from karat.zelda.sampling import SEED, THRESHOLD, Drawing, TestLinks, draw
from karat.zelda.texts.descriptions import descriptions
from karat.zelda.texts.prepare import Preparation
from karat.zelda.texts.sections import LinkedSection, file_stamp, sections

LAYOUT: Final = "karat-zelda-bed/1"
FORMATS: Final = ("jsonl", "conll")
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_TOGETHER: Final = 256  # sections that are written at once


@dataclass(frozen=True, slots=True)
class TextStatistics:
    """A row of table 2: how much text there is. Tokens are words and single signs; the paper counts spaCy's."""

    documents: int
    tokens: int
    entities: int
    mentions: int

    @property
    def mean_length(self) -> float | None:
        """Tokens of a document in the mean."""
        return self.tokens / self.documents if self.documents else None


@dataclass(frozen=True, slots=True)
class Bed:
    """What was made: the training text and the test sets in numbers, and what became of every test entity.

    `read` sections were read, `eligible` of them link a test entity, and `drawn` were looked at in the order of the
    draw before every entity was done. Of `test_entities` there are enough for `reached`, too few for `exhausted`, and
    none for `absent`. `left_out` counts in words.
    """

    folder: str
    threshold: int
    seed: int
    read: int
    eligible: int
    drawn: int
    test_entities: int
    reached: int
    exhausted: int
    absent: int
    vocabulary: int
    described: int | None
    train: TextStatistics
    tests: Mapping[str, TextStatistics]
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """How a bed is made: what `karat zelda sample` has options for."""

    threshold: int = THRESHOLD
    seed: int = SEED
    same_named: bool = False
    describe: str | None = None
    formats: tuple[str, ...] = FORMATS


@dataclass(frozen=True, slots=True)
class _Selection:
    """What was drawn, of how much text, and what was left out of it."""

    entities: list[str]
    drawing: Drawing
    read: int
    eligible: int
    left_out: Counter[str]


class _Kept(msgspec.Struct, frozen=True):
    """What is kept of a draw besides its columns."""

    stamp: str
    read: int
    eligible: int
    drawn: int
    left_out: dict[str, int]


def make_bed(
    path: str, tests: Mapping[str, Corpus], target: str, wishes: Wishes | None = None, kb: KB | None = None
) -> Bed:
    """Sample training text for test sets and write everything into a new folder."""
    wished, folder = wishes or Wishes(), Path(target)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{readable(target)} is there already. Name a new folder, or delete it first.")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"{readable(target)}: there is no folder {str(folder.parent)!r}. Create it first.")
    entities = entities_of(tests)
    if not entities:
        raise InputError(
            ", ".join(tests), found="test sets without entities", expected="linked mentions", remedy="Check the files"
        )
    stage, partial = (folder.with_name(f".{folder.name}.{end}") for end in ("stage", "part"))
    try:
        stage.mkdir(exist_ok=True)
        selection = _drawn(path, entities, wished, kb, stage)
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        bed = _written(path, tests, partial, target, selection, wished, kb)
        partial.replace(folder)  # an empty folder of that name gives way
    except OSError as problem:
        said = problem.strerror or str(problem).splitlines()[0]
        raise UsageError(
            f"{readable(target)} cannot be written ({said}). Make room and call again: what was drawn is kept."
        ) from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        with suppress(OSError):  # where nothing was drawn
            stage.rmdir()
    shutil.rmtree(stage, ignore_errors=True)
    return bed


def entities_of(tests: Mapping[str, Corpus]) -> list[str]:
    """The titles of all entities of test sets, in order."""
    every = (mention for corpus in tests.values() for mention in given_mentions(corpus) if mention is not None)
    return sorted({mention.entity.replace("_", " ") for mention in every})


def _drawn(path: str, entities: list[str], wished: Wishes, kb: KB | None, stage: Path) -> _Selection:
    """The draw, made now or by an earlier call on the same files."""
    given = (file_stamp(path), wished.threshold, wished.seed, kb and kb.digest, entities)
    stamp = blake2b(repr(given).encode(), digest_size=16).hexdigest()
    about, columns = stage / "drawing.json", stage / "drawing.npz"
    if about.exists():
        kept = msgspec.json.decode(about.read_bytes(), type=_Kept)
        if kept.stamp == stamp:
            with np.load(columns) as stored:
                drawing = Drawing(wished.threshold, stored["kept"], stored["seen"], stored["total"], kept.drawn)
            return _Selection(entities, drawing, kept.read, kept.eligible, Counter(kept.left_out))
    preparation = Preparation(kb)
    with working("reading sections") as advance:
        every = sections(path, preparation.counts)
        links = TestLinks.of(_counting(preparation.of(every), advance), entities, wished.seed)
    if not links.links:
        raise _no_links(path, links.read, preparation.counts)
    if not len(links.key):
        raise InputError(
            path,
            found=f"{links.links:,} links, none of them to one of {len(entities):,} test entities",
            expected="text that links entities of the test sets",
            remedy="Check that both have the titles of the same Wikipedia, or renew them with --kb",
        )
    drawing = draw(links, len(entities), wished.threshold)
    np.savez(columns, kept=drawing.kept, seen=drawing.seen, total=drawing.total)
    kept = _Kept(stamp, links.read, len(links.key), drawing.drawn, dict(preparation.counts))
    about.write_bytes(msgspec.json.encode(kept))
    return _Selection(entities, drawing, links.read, len(links.key), preparation.counts)


def _counting(every: Iterator[LinkedSection | None], advance: Advance) -> Iterator[LinkedSection | None]:
    for section in every:
        advance(1)
        yield section


def _no_links(path: str, read: int, counts: Mapping[str, int]) -> InputError:
    said = "; ".join(f"{what}: {count:,}" for what, count in counts.items())
    return InputError(
        path,
        found=f"{read:,} sections and no link that leads somewhere{f' ({said})' if said else ''}",
        expected="text whose links lead to known pages",
        remedy="Check the list of pages, or the knowledge base",
    )


def _written(
    path: str,
    tests: Mapping[str, Corpus],
    folder: Path,
    target: str,
    selection: _Selection,
    wished: Wishes,
    kb: KB | None,
) -> Bed:
    training = _Training(wished.formats)
    with working("writing sections", len(selection.drawing.kept)) as advance, training.files(folder):
        for section in _chosen(path, selection.drawing.kept, kb, same_named=wished.same_named):
            training.add(section)
            advance(1)
    vocabulary = training.vocabulary | {title: None for title in selection.entities if title not in training.vocabulary}
    rows = (f"{page or ''}\t{title}\n" for title, page in sorted(vocabulary.items()))
    (folder / "vocabulary.tsv").write_text("".join(rows), encoding="utf-8")
    described = None
    if wished.describe is not None:
        described = 0
        with (folder / "descriptions.jsonl").open("wb") as file, working("describing"):
            for one in descriptions(sections(path), vocabulary, wished.describe):
                file.write(msgspec.json.encode(one._asdict()) + b"\n")
                described += 1
    drawing = selection.drawing
    return Bed(
        folder=target,
        threshold=wished.threshold,
        seed=wished.seed,
        read=selection.read,
        eligible=selection.eligible,
        drawn=drawing.drawn,
        test_entities=len(selection.entities),
        reached=int(drawing.reached.sum()),
        exhausted=int(drawing.exhausted.sum()),
        absent=int(drawing.absent.sum()),
        vocabulary=len(vocabulary),
        described=described,
        train=training.statistics,
        tests={split: text_statistics(corpus) for split, corpus in tests.items()},
        left_out=dict(selection.left_out),
    )


def _chosen(path: str, kept: Longs, kb: KB | None, *, same_named: bool) -> Iterator[LinkedSection]:
    """The sections that were kept, in the order of the source; with `same_named` others of their page and name too."""
    places = iter(kept.tolist())
    wanted = next(places, None)
    every = enumerate(Preparation(kb).of(sections(path)))
    if not same_named:
        for place, section in every:
            if place == wanted and section is not None:
                yield section
                wanted = next(places, None)
        return
    named = ((place, section) for place, section in every if section is not None)
    for _, page in groupby(named, key=lambda item: item[1].page):
        of_page = list(page)
        names = set()
        for place, section in of_page:
            if place == wanted:
                names.add(section.name)
                wanted = next(places, None)
        yield from (section for _, section in of_page if section.name in names)


class _Training:
    """Training text as it is written: sections in all formats that are asked for, and what they hold."""

    def __init__(self, formats: Sequence[str]) -> None:
        self._formats, self._open = formats, dict[str, IO[bytes]]()
        self._waiting: list[Document] = []
        self._ids: Counter[str] = Counter()
        self._documents = self._tokens = self._mentions = 0
        self.vocabulary: dict[str, str | None] = {}

    @contextmanager
    def files(self, folder: Path) -> Iterator[None]:
        """The files to write to, which are complete in the end."""
        with ExitStack() as stack:
            self._open = {
                format: stack.enter_context((folder / f"train.{format}").open("wb")) for format in self._formats
            }
            yield
            self._flush()

    @property
    def statistics(self) -> TextStatistics:
        """What was written."""
        return TextStatistics(self._documents, self._tokens, self._linked, self._mentions)

    @property
    def _linked(self) -> int:
        return len(self.vocabulary)

    def add(self, section: LinkedSection) -> None:
        """Write one more section."""
        self._documents += 1
        self._tokens += len(_TOKEN.findall(section.text))
        self._mentions += len(section.links)
        for link in section.links:
            if link.title is not None and self.vocabulary.get(link.title) is None:
                self.vocabulary[link.title] = link.page
        if "jsonl" in self._open:
            self._open["jsonl"].write(msgspec.json.encode(_row(section)) + b"\n")
        if "conll" in self._open:
            self._waiting.append(self._document(section))
            if len(self._waiting) >= _TOGETHER:
                self._flush()

    def _flush(self) -> None:
        if self._waiting:
            write_conll(Corpus.built(self._waiting, name="train"), self._open["conll"])
            self._waiting.clear()

    def _document(self, section: LinkedSection) -> Document:
        name = " ".join(f"{section.page} {section.name}".split())
        self._ids[name] += 1
        id = name if self._ids[name] == 1 else f"{name} #{self._ids[name]}"
        labels = tuple(
            Label(link.start, link.end, link.title.replace(" ", "_"), same_as=(link.page,) if link.page else ())
            for link in section.links
            if link.title is not None
        )
        return Document(id, section.text, labels)


def _row(section: LinkedSection) -> dict[str, Any]:
    """A record under the names that ZELDA-train has."""
    return {
        "page_id": _number(section.page),
        "section_name": section.name,
        "text": section.text,
        "index": [(link.start, link.end) for link in section.links],
        "wikipedia_ids": [_number(link.page) for link in section.links],
        "wikipedia_titles": [link.title for link in section.links],
    }


def _number(page: str | None) -> int | str | None:
    return int(page) if page is not None and page.isascii() and page.isdigit() else page


def text_statistics(corpus: Corpus) -> TextStatistics:
    """The row of a test set in table 2."""
    mentions = [mention for mention in given_mentions(corpus) if mention is not None]
    tokens = sum(len(_TOKEN.findall(document.text)) for document in corpus)
    return TextStatistics(len(corpus), tokens, len({mention.entity for mention in mentions}), len(mentions))
