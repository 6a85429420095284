"""Loading of texts without labels: plain text files, folders of them, and gold standards in any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from karat.data.load import load, load_annotations
from karat.formats.parsing.lines import decode_utf8
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.document import Document
from karat.model.errors import InputError
from karat.storage.files import Source

SUFFIX: Final = ".txt"
"""Suffix of plain text files, in UTF-8."""

EMPTY: Final = "text files without text"
DROPPED: Final = "gold labels of the texts, which are not used"
_BOM: Final = "\ufeff"


def load_texts(names: Sequence[str], *, format: str | None = None) -> Corpus:
    """Load the texts of all sources as one corpus without labels.

    Each name is a file ending in `.txt`, whose name without the suffix becomes the document id, a folder of such files,
    or a gold standard by path or name from the catalogue. `format` is the format of all sources; a file ending in
    `.txt` is then read in this format. Empty files are skipped, and gold labels are dropped; both are counted in
    `Corpus.skipped`. Raise `InputError` if no text remains, and for duplicate ids.
    """
    skipped = SkipCounter()
    documents = [
        document
        for name in names
        for document in (
            _read_plain_texts(Source(name), skipped)
            if format is None and is_plain_text(name)
            else _read_gold_texts(_load_gold(name, format), skipped)
        )
    ]
    if not documents:
        raise InputError(
            ", ".join(Source(name).label for name in names),
            actual="no text",
            expected=f"files ending in {SUFFIX}, folders of them, or a gold standard",
            remedy="Check the paths",
        )
    name = Source(names[0]).stem if len(names) == 1 else "texts"
    return Corpus.from_reader(documents, name=name, skipped=skipped)


def load_texts_or_gold(name: str) -> Corpus:
    """Load a plain text file or a folder of such files, or else a gold standard with its labels."""
    return load_texts([name]) if is_plain_text(name) else load(name)


def is_plain_text(name: str) -> bool:
    """Return whether a name is a plain text file or a folder that has only such files."""
    source = Source(name)
    if not source.is_folder:
        return name.endswith(SUFFIX)
    return any(file.endswith(SUFFIX) for file in source.file_names) and not any(
        file.endswith(".ann") for file in source.file_names
    )


def _read_plain_texts(source: Source, skipped: Counter[str]) -> Iterator[Document]:
    """Yield the documents of a plain text file or a folder of them; empty files are counted in `skipped`."""
    if source.is_folder:
        files = [
            (name.removesuffix(SUFFIX), source.get_child(name)) for name in source.file_names if name.endswith(SUFFIX)
        ]
        skipped["files in folders of texts that are no text files"] += len(source.file_names) - len(files)
    else:
        files = [(source.path.replace("\\", "/").rpartition("/")[2].removesuffix(SUFFIX), source)]
    for id, file in files:
        text = decode_utf8(file.read_bytes(), file).removeprefix(_BOM)
        if text.strip():
            yield Document(id, text)
        else:
            skipped[EMPTY] += 1


def _load_gold(name: str, format: str | None) -> Corpus:
    """Load a gold standard; of a file of an annotation tool, all documents without labels."""
    annotated = load_annotations(name, format=format)
    if annotated is None:
        return load(name, format=format)
    documents = [item.document for item in annotated.documents]
    return Corpus.from_reader(documents, name=annotated.name, skipped=annotated.skipped)


def _read_gold_texts(corpus: Corpus, skipped: Counter[str]) -> Iterator[Document]:
    """Yield the documents of a gold standard without labels, which are counted in `skipped`."""
    skipped.update(corpus.skipped)
    skipped[DROPPED] += len(corpus.labels)
    for document in corpus:
        if document.text.strip():
            yield Document(
                document.id, document.text, evaluation_span=document.evaluation_span, meta=dict(document.meta)
            )
        else:
            skipped["documents without text"] += 1
