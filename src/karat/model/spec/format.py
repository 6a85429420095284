"""The specification of a file format: the constant `FORMAT` of a file in `karat.formats.plugins`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import IO, NamedTuple, Protocol

import msgspec

from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.model.spec.annotations import AnnotatedCorpus
from karat.model.spec.engine import PartitionedData


class ByteSource(Protocol):
    """A file, folder or stream to read; `karat.storage.files.Source` implements it."""

    @property
    def path(self) -> str:
        """The path as the user wrote it, or `-` for standard input."""

    @property
    def label(self) -> str:
        """The name of the source in messages."""

    @property
    def stem(self) -> str:
        """The file name without suffixes, used as the name of the corpus or run."""

    @property
    def first_bytes(self) -> bytes:
        """The first bytes, decompressed."""

    @property
    def is_single_pass(self) -> bool:
        """Whether the bytes can be read only once, as from a pipe."""

    @property
    def is_compressed(self) -> bool:
        """Whether the stored bytes are compressed."""

    @property
    def is_folder(self) -> bool:
        """Whether the source is a folder."""

    @property
    def exists(self) -> bool:
        """Whether the file or folder exists."""

    @property
    def file_names(self) -> tuple[str, ...]:
        """The files in the folder and its subfolders, as sorted relative paths with `/`."""

    @property
    def folder_names(self) -> tuple[str, ...]:
        """The names of the direct subfolders, sorted."""

    def get_child(self, name: str) -> ByteSource:
        """Return the file or folder at the path `name` in this folder; refuse a path that leaves the folder."""

    def get_sibling(self, name: str) -> ByteSource:
        """Return the file or folder `name` next to this file; refuse a path that leaves their folder."""

    def get_parent_sibling(self, name: str) -> ByteSource:
        """Return the file or folder `name` next to the folder that contains this file."""

    def open_stream(self) -> AbstractContextManager[IO[bytes]]:
        """Open the bytes for reading from the start, decompressed on the fly."""

    def read_bytes(self) -> bytes:
        """Return all bytes, decompressed."""


class Manifest(NamedTuple):
    """Metadata that a system wrote next to its prediction file."""

    title: str | None = None
    """The system's own name, if stated."""
    seconds: float | None = None
    """The total runtime over all documents, if stated."""


class Sample(msgspec.Struct, frozen=True):
    """A small invented gold standard in a format, which documents the layout and tests the reader."""

    files: Mapping[str, str]
    """File contents by file name."""
    documents: int
    """The number of documents that the reader must return."""
    mentions: int
    """The number of labels that the reader must return."""
    main_file: str = ""
    """The file to open; empty opens the folder with all files."""

    @classmethod
    def from_text(cls, name: str, text: str, *, documents: int = 1, mentions: int = 1) -> Sample:
        """Return the sample of a single file, with its name and content and the sizes that the reader must return."""
        return cls({name: text}, documents, mentions, main_file=name)


class Format(msgspec.Struct, frozen=True):
    """A file format for gold standards and predictions. Functions that a format does not support are None.

    Readers keep ids as written, and count in `skipped` what they skip or repair.
    """

    # Description
    title: str
    """The name in lists and messages."""
    suffix: str
    """The usual file suffix, such as `.jsonl`."""

    # Recognition
    recognises: Callable[[bytes], bool]
    """Return whether a file that starts with these (decompressed) bytes has this format."""
    has_gold: Callable[[ByteSource], bool]
    """Return whether a recognised file contains gold labels."""
    prediction_mark: str = ""
    """The content that marks a file as predictions, if `read_corpus` can read it nevertheless; for a warning."""

    # Reading
    read_corpus: Callable[[ByteSource, bool], Corpus] | None = None
    """Read a gold standard. If the second argument is false, texts may be replaced by their `compute_text_facts`."""
    read_run: Callable[[ByteSource], Run] | None = None
    """Read predictions."""
    read_run_with_gold: Callable[[ByteSource, Callable[[], Corpus]], Run] | None = None
    """Read predictions whose spans depend on the gold standard, which the second argument loads on demand."""
    has_gold_and_predictions: Callable[[ByteSource], bool] | None = None
    """Return whether a file contains gold labels and predictions for the same documents."""
    read_both: Callable[[ByteSource], tuple[Corpus, Run]] | None = None
    """Read gold labels and predictions of one file in a single pass."""
    read_manifest: Callable[[ByteSource], Manifest | None] | None = None
    """Read the metadata file next to a prediction file."""
    read_annotations: Callable[[ByteSource], AnnotatedCorpus] | None = None
    """Read the labels of all annotators of a file, for formats of annotation tools."""

    # Writing
    write_corpus: Callable[[Corpus, IO[bytes]], None] | None = None
    """Write a gold standard."""
    write_run: Callable[[Run, IO[bytes]], None] | None = None
    """Write predictions."""
    write_folder: Callable[[Corpus | Run], Mapping[str, bytes]] | None = None
    """Return the files of a folder by name, for formats of several files."""
    write_splits: Callable[[Mapping[str, Corpus]], Mapping[str, bytes]] | None = None
    """Return the files of a folder with all splits of a dataset, by file name."""
    write_annotations: Callable[[AnnotatedCorpus, IO[bytes]], None] | None = None
    """Write the labels of all annotators with the adjudicated gold standard, in one file."""
    write_annotation_folder: Callable[[AnnotatedCorpus], Mapping[str, bytes]] | None = None
    """Return the files of a folder with the labels of all annotators by name, for formats of several files."""

    # Properties of the format
    has_iris: bool = False
    """Whether files identify documents and entities by IRIs."""
    is_fallback: bool = False
    """Whether the format accepts any file that no other format recognises."""
    is_kind_ambiguous: bool = False
    """Whether a file does not show if it contains gold labels or predictions."""
    is_certain: Callable[[bytes], bool] | None = None
    """Return whether the first bytes identify the format beyond doubt, so that no other format is tried."""

    # Large data
    read_corpus_blocks: Callable[[ByteSource], Iterator[Corpus]] | None = None
    """Yield a gold standard in blocks, so that it need not fit into memory."""
    write_corpus_blocks: Callable[[Iterable[Corpus], IO[bytes]], None] | None = None
    """Write a gold standard from blocks."""
    recognises_folder: Callable[[Sequence[str]], bool] | None = None
    """Return whether a folder with these file names has this format."""
    open_partitions: Callable[[ByteSource, bool], PartitionedData] | None = None
    """Open gold labels, or predictions if the second argument is false, for an engine to read by partition."""

    # What a written file keeps
    stored_fields: frozenset[str] | None = None
    """The fields that a written file stores besides ids, texts, spans and entities; `meta.KEY` for one key.

    None means all fields.
    """
    count_losses: Callable[[Corpus | Run], Mapping[str, int]] | None = None
    """Count what else a written file loses, by description."""

    import_packages: Callable[[], object] | None = None
    """Import the packages of an extra that writing needs; raise `KaratError` if they are not installed."""

    # Documentation and tests
    description: str = ""
    """One or two sentences about the format."""
    sample: Sample | None = None
    """An example for formats that Karat reads but does not write."""
    needs_gold_rows: bool = False
    """Whether predictions refer to rows of the gold file, so that they are read with it if there is one."""
    markers: tuple[str, ...] | None = None
    """Strings typical of such files, used for hints on unrecognised files; None if users must name the format."""
    is_textless: bool = False
    """Whether files contain no document texts."""

    @property
    def writes_gold(self) -> bool:
        """Whether a gold standard can be written, to a file or a folder."""
        return self.write_corpus is not None or self.write_folder is not None
