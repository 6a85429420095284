"""Reddit Entity Linking: posts and comments, annotated by three people.

Written from public documentation and public readers; no file was available. The published folder has `posts.tsv` (id,
subreddit, text), `comments.tsv` (id, parent, post, subreddit, text, which may span several lines) and, for each of
both, annotations in three files: gold (all three annotators agree), silver and bronze (fewer agree). A row is the id,
subreddit, mention, Wikipedia title, start and end, in code points of the text without surrounding white space.

The input is the folder, or one file of annotations with its texts next to it. Only gold annotations become labels,
unless the file of silver or bronze is passed; the others are counted. Documents are named as in ZELDA: the columns
before the text, joined by spaces.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from karat.formats.parsing.duplicates import drop_duplicate_labels
from karat.formats.parsing.lines import Line, parse_integer, parse_lines, read_lines, split_columns
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample

_POST = re.compile(r"(?P<id>[0-9a-z]+)\t(?P<subreddit>\w+)\t(?P<text>.*)")
_COMMENT = re.compile(
    r"(?P<id>[0-9a-z]+)\t(?P<parent>t\d_[0-9a-z]+)\t(?P<post>[0-9a-z]+)\t(?P<subreddit>\w+)\t(?P<text>.*)"
)
_ROW = re.compile(r"[0-9a-z]+\t\w+\t(?P<mention>[^\t]+)\t[^\t]+\t(?P<start>\d{1,9})\t(?P<end>\d{1,9})(\t.*)?")
_TEXT_FILES = {"post": ("posts.tsv", _POST), "comment": ("comments.tsv", _COMMENT)}
_WEAKER_AGREEMENTS = ("silver", "bronze")


class _Entry(NamedTuple):
    """A post or comment: its first line, its name from all columns before the text, and the lines of the text."""

    line: int
    id: str
    subreddit: str
    name: str
    lines: list[str]


class _Row(NamedTuple):
    """An annotation: its location, the text of the mention, the Wikipedia title, and the span."""

    location: str
    mention: str
    title: str
    start: int
    end: int


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    documents: list[Document] = []
    locations: list[str] = []
    for kind, (name, _) in _TEXT_FILES.items():
        annotations = _find_annotations(source, kind, skipped)
        if annotations is None:
            continue
        texts = annotations.get_sibling(name)
        rows = _read_rows(annotations, skipped)
        for entry in _read_entries(texts, kind):
            locations.append(f"{texts.label}:{entry.line}")
            with locate_counts(locations[-1]):
                documents.append(_to_document(entry, kind, rows.pop((entry.id, entry.subreddit), []), skipped))
        skipped["annotations of missing texts (skipped)"] += sum(map(len, rows.values()))
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def _find_annotations(source: ByteSource, kind: str, skipped: Counter[str]) -> ByteSource | None:
    """Return the file of annotations for a kind of text, `post` or `comment`, or None if there is none.

    In a folder, annotations of weaker agreement are not read, but counted in `skipped`. A file whose name does not tell
    its kind raises `InputError`.
    """
    if not source.is_folder:
        name = PurePath(source.path).name
        if not any(f"_{text_kind}_" in name for text_kind in _TEXT_FILES):
            raise InputError(
                source.label,
                actual="a file name that does not indicate whether the annotations belong to posts or comments",
                expected="a name such as gold_post_annotations.tsv",
                remedy="Use the published file name",
            )
        return source if f"_{kind}_" in name else None
    for agreement in _WEAKER_AGREEMENTS:
        if f"{agreement}_{kind}_annotations.tsv" in source.file_names:
            file = source.get_child(f"{agreement}_{kind}_annotations.tsv")
            skipped[f"{agreement} annotations (not all three annotators agree)"] += sum(
                bool(line.text.strip()) for line in read_lines(file)
            )
    name = f"gold_{kind}_annotations.tsv"
    return source.get_child(name) if name in source.file_names else None


def _read_rows(source: ByteSource, skipped: Counter[str]) -> dict[tuple[str, str], list[_Row]]:
    """Read the annotations of a file and return them by id and subreddit of their text.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`. Rows
    with further columns are kept without these columns, and counted in `skipped`.
    """
    rows: dict[tuple[str, str], list[_Row]] = {}

    def parse_row(line: Line) -> tuple[str, str, _Row] | None:
        if not line.text.strip():
            return None
        entry_id, subreddit, mention, title, start, end, *extra_cells = split_columns(line, source, 6)
        skipped["rows with further columns (not read)"] += bool(extra_cells)
        first, last = parse_integer(start, line, source, "start"), parse_integer(end, line, source, "end")
        return entry_id, subreddit, _Row(f"{source.label}:{line.number}", mention, title, first, last)

    for entry_id, subreddit, row in parse_lines(source, parse_row):
        rows.setdefault((entry_id, subreddit), []).append(row)
    return rows


def _read_entries(source: ByteSource, kind: str) -> Iterator[_Entry]:
    """Yield the posts or comments of a file, whose texts may span several lines."""
    entry: _Entry | None = None
    for line in read_lines(source):
        match = _TEXT_FILES[kind][1].fullmatch(line.text)
        if match:
            if entry is not None:
                yield entry
            *name_parts, text = match.groups()
            entry = _Entry(line.number, match["id"], match["subreddit"], " ".join(name_parts), [text])
        elif entry is not None:
            entry.lines.append(line.text)
        else:
            raise InputError(
                f"{source.label}:{line.number}",
                actual=f"{line.text[:40]!r}",
                expected=f"the columns of a {kind}",
                remedy="Check that the file is the published one",
            )
    if entry is not None:
        yield entry


def _to_document(entry: _Entry, kind: str, rows: Sequence[_Row], skipped: Counter[str]) -> Document:
    """Build the document of a post or comment.

    Spans outside the text and duplicates are dropped; mentions that differ from the text at their span are kept. All
    are counted in `skipped`.
    """
    text = "\n".join(entry.lines).strip()
    labels = []
    for row in rows:
        if not 0 <= row.start < row.end <= len(text):
            skipped["annotations with a span outside their text (skipped)"] += 1
            continue
        skipped["annotations whose mention differs from the text at their span"] += (
            text[row.start : row.end] != row.mention
        )
        labels.append(Label(row.start, row.end, row.title))
    return Document(
        entry.name, text, drop_duplicate_labels(labels, skipped), meta={"kind": kind, "subreddit": entry.subreddit}
    )


def _recognises(opening: bytes) -> bool:
    """Return whether the first line is a row of annotations whose mention is as long as its span."""
    first_line = opening.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    row = _ROW.fullmatch(first_line)
    return row is not None and int(row["end"]) - int(row["start"]) == len(row["mention"])


def _recognises_folder(names: Sequence[str]) -> bool:
    """Return whether there is a file of gold annotations, and each has its file of texts."""
    kinds = [kind for kind in _TEXT_FILES if f"gold_{kind}_annotations.tsv" in names]
    return bool(kinds) and all(_TEXT_FILES[kind][0] in names for kind in kinds)


FORMAT = Format(
    title="Reddit Entity Linking",
    suffix=".reddit.tsv",
    recognises=_recognises,
    recognises_folder=_recognises_folder,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    description="Posts and comments; gold labels are those on which all three annotators agree.",
    sample=Sample(
        {
            "gold_post_annotations.tsv": "a1\tnews\tAda\tAda_Lovelace\t0\t3\n",
            "posts.tsv": "a1\tnews\tAda met\n",
        },
        documents=1,
        mentions=1,
    ),
)
