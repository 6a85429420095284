"""Reddit Entity Linking: posts and comments, annotated by three people.

From public documentation and public readers of it; no file was at hand. The published folder has `posts.tsv` (id,
subreddit, text), `comments.tsv` (id, parent, post, subreddit, text, which may go over several lines) and, for each of
both, annotations in three files: gold (all three annotators agree), silver and bronze (fewer do). A row is the id,
subreddit, mention, Wikipedia title, start and end, in code points of the text without white space around it.

The folder is read as a whole, or one file of annotations with its texts beside it. Only gold makes labels, unless the
file of silver or bronze is named; the others are counted. Documents are named as ZELDA does: the columns before the
text, with blanks between.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.parsing.distinct import labels_once
from karat.parsing.lines import Line, columns, each_line, lines, whole
from karat.spec.format import Bytes, Format, Sample

_POST = re.compile(r"(?P<id>[0-9a-z]+)\t(?P<subreddit>\w+)\t(?P<text>.*)")
_COMMENT = re.compile(
    r"(?P<id>[0-9a-z]+)\t(?P<parent>t\d_[0-9a-z]+)\t(?P<post>[0-9a-z]+)\t(?P<subreddit>\w+)\t(?P<text>.*)"
)
_ROW = re.compile(r"[0-9a-z]+\t\w+\t(?P<mention>[^\t]+)\t[^\t]+\t(?P<start>\d{1,9})\t(?P<end>\d{1,9})(\t.*)?")
_KINDS = {"post": ("posts.tsv", _POST), "comment": ("comments.tsv", _COMMENT)}
_AGREEMENTS = ("silver", "bronze")


class _Entry(NamedTuple):
    """A post or comment: its first line, its name from all columns before the text, and the lines of the text."""

    line: int
    id: str
    subreddit: str
    name: str
    text: list[str]


class _Row(NamedTuple):
    """An annotation, and where it stands."""

    where: str
    mention: str
    title: str
    start: int
    end: int


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    documents: list[Document] = []
    places: list[str] = []
    for kind, (name, _) in _KINDS.items():
        annotations = _annotations(source, kind, skipped)
        if annotations is None:
            continue
        texts = annotations.beside(name)
        rows = _rows(annotations, skipped)
        for entry in _entries(texts, kind):
            documents.append(_document(entry, kind, rows.pop((entry.id, entry.subreddit), []), skipped))
            places.append(f"{texts.label}:{entry.line}")
        skipped["annotations of texts that are not there (left out)"] += sum(map(len, rows.values()))
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _annotations(source: Bytes, kind: str, skipped: Counter[str]) -> Bytes | None:
    """The file of annotations to read, if there is one of this kind; those that agree less are counted."""
    if not source.folder:
        name = PurePath(source.given).name
        if not any(f"_{known}_" in name for known in _KINDS):
            raise InputError(
                source.label,
                found="annotations of which the name of the file does not say whether they are of posts or comments",
                expected="a name such as gold_post_annotations.tsv",
                remedy="Name the file as it was published",
            )
        return source if f"_{kind}_" in name else None
    for agreement in _AGREEMENTS:
        if f"{agreement}_{kind}_annotations.tsv" in source.names:
            less = source.inside(f"{agreement}_{kind}_annotations.tsv")
            skipped[f"{agreement} annotations (not all three annotators agree)"] += sum(
                bool(line.text.strip()) for line in lines(less)
            )
    name = f"gold_{kind}_annotations.tsv"
    return source.inside(name) if name in source.names else None


def _rows(source: Bytes, skipped: Counter[str]) -> dict[tuple[str, str], list[_Row]]:
    """Annotations by the id and subreddit of their text."""
    found: dict[tuple[str, str], list[_Row]] = {}

    def read(line: Line) -> tuple[str, str, _Row] | None:
        if not line.text.strip():
            return None
        name, subreddit, mention, title, start, end, *more = columns(line, source, 6)
        skipped["rows with further columns, which are not read"] += bool(more)
        first, last = whole(start, line, source, "start"), whole(end, line, source, "end")
        return name, subreddit, _Row(f"{source.label}:{line.number}", mention, title, first, last)

    for name, subreddit, row in each_line(source, read):
        found.setdefault((name, subreddit), []).append(row)
    return found


def _entries(source: Bytes, kind: str) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for line in lines(source):
        begins = _KINDS[kind][1].fullmatch(line.text)
        if begins:
            if entry is not None:
                yield entry
            *before, text = begins.groups()
            entry = _Entry(line.number, begins["id"], begins["subreddit"], " ".join(before), [text])
        elif entry is not None:
            entry.text.append(line.text)
        else:
            raise InputError(
                f"{source.label}:{line.number}",
                found=f"{line.text[:40]!r}",
                expected=f"the columns of a {kind}",
                remedy="Check that the file is the one that was published",
            )
    if entry is not None:
        yield entry


def _document(entry: _Entry, kind: str, rows: Sequence[_Row], skipped: Counter[str]) -> Document:
    text = "\n".join(entry.text).strip()
    labels = []
    for row in rows:
        if not 0 <= row.start < row.end <= len(text):
            skipped["annotations with a span outside of their text (left out)"] += 1
            continue
        skipped["annotations whose mention is not what stands at their span"] += (
            text[row.start : row.end] != row.mention
        )
        labels.append(Label(row.start, row.end, row.title))
    return Document(entry.name, text, labels_once(labels, skipped), meta={"kind": kind, "subreddit": entry.subreddit})


def _recognises(opening: bytes) -> bool:
    first = opening.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    row = _ROW.fullmatch(first)
    return row is not None and int(row["end"]) - int(row["start"]) == len(row["mention"])


def _recognises_folder(names: Sequence[str]) -> bool:
    kinds = [kind for kind in _KINDS if f"gold_{kind}_annotations.tsv" in names]
    return bool(kinds) and all(_KINDS[kind][0] in names for kind in kinds)


FORMAT = Format(
    title="Reddit Entity Linking",
    suffix=".reddit.tsv",
    recognises=_recognises,
    recognises_folder=_recognises_folder,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="Posts and comments; gold is what all three annotators say.",
    sample=Sample(
        {
            "gold_post_annotations.tsv": "a1\tnews\tAda\tAda_Lovelace\t0\t3\n",
            "posts.tsv": "a1\tnews\tAda met\n",
        },
        documents=1,
        mentions=1,
    ),
)
