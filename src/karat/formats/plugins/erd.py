"""ERD 2014: `NAME.query.txt` (id, text) and `NAME.annotation.txt` (id, interpretation, title, mention, score), in tabs.

The input is a folder with both files, or the file of annotations. A mention is at the first occurrence of its text in
the query. Queries may have several interpretations. As in BAT, all labels count, and the interpretation of a label is
its category (`interpretation:0`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from karat.formats.parsing.duplicates import separate_duplicate_labels
from karat.formats.parsing.file_openings import split_first_lines
from karat.formats.parsing.lines import Line, parse_lines, split_columns
from karat.formats.parsing.numbers import parse_number
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample

_ROW = re.compile(r"[^\t]+\t\d{1,4}\t[^\t]+\t[^\t]+\t[\d.]+", re.ASCII)
_QUERY_FILE = re.compile(r"([^/]+)\.query\.txt")


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold queries in the order of their file, also those without entities; `text` is ignored.

    Mentions that are not found, duplicates and scores are counted. The error policy decides whether an invalid line
    raises `InputError`, or is skipped and counted in `Defects`.
    """
    queries, annotations = _find_files(source)
    texts = _read_queries(queries)
    skipped = SkipCounter()
    labels_by_query: dict[str, list[Label]] = {query_id: [] for query_id in texts}

    def parse_annotation(line: Line) -> None:
        if not line.text.strip():
            return
        query_id, interpretation, title, mention, score = split_columns(line, annotations, 5, 5)
        location = f"{annotations.label}:{line.number}"
        if query_id not in texts:
            raise InputError(
                location,
                actual=f"query {query_id!r}",
                expected=f"a query of {queries.label}",
                remedy="Check both files",
            )
        skipped["scores of labels (not stored)"] += parse_number(score, location, "score") != 1
        start = texts[query_id].find(mention)
        if start < 0:
            skipped["mentions not found in their query"] += 1
            return
        category = f"interpretation:{interpretation}"
        labels_by_query[query_id].append(Label(start, start + len(mention), title, categories=(category,)))

    for _ in parse_lines(annotations, parse_annotation):
        pass
    documents = [
        Document(query_id, texts[query_id], separate_duplicate_labels(labels, skipped))
        for query_id, labels in labels_by_query.items()
    ]
    return Corpus.from_reader(
        documents,
        name=queries.stem,
        skipped=skipped,
        locate_row=lambda row: f"{annotations.label}, query {documents[row].id!r}",
    )


def _read_queries(source: ByteSource) -> dict[str, str]:
    """Read the texts of the queries by id.

    The error policy decides whether a duplicate id raises `InputError`, or is skipped and counted in `Defects`.
    """
    queries: dict[str, str] = {}

    def parse_query(line: Line) -> None:
        if not line.text.strip():
            return
        query_id, text = split_columns(line, source, 2, 2)
        if query_id in queries:
            raise InputError(
                f"{source.label}:{line.number}",
                actual=f"the duplicate query {query_id!r}",
                expected="distinct queries",
                remedy="Delete one of the two",
            )
        queries[query_id] = text

    for _ in parse_lines(source, parse_query):
        pass
    return queries


def _find_files(source: ByteSource) -> tuple[ByteSource, ByteSource]:
    """Return the file of queries and the file of annotations; raise `InputError` if either is missing."""
    if source.is_folder:
        name = _find_name(source.file_names)
        if name is not None:
            return source.get_child(f"{name}.query.txt"), source.get_child(f"{name}.annotation.txt")
    else:
        queries = source.get_sibling(PurePath(source.path).name.replace(".annotation", ".query"))
        if queries.path != source.path and queries.exists:
            return queries, source
    raise InputError(
        source.label,
        actual="no file of queries next to the annotations",
        expected="NAME.query.txt and NAME.annotation.txt",
        remedy="Put both files into one folder",
    )


def _find_name(names: Sequence[str]) -> str | None:
    """Return the NAME of the two files in a folder, or None unless there is exactly one such pair."""
    matches = [
        match[1] for match in map(_QUERY_FILE.fullmatch, names) if match and f"{match[1]}.annotation.txt" in names
    ]
    return matches[0] if len(matches) == 1 else None


def _recognises(head: bytes) -> bool:
    """Return whether the first lines have ERD's five columns and not all have integers where neleval does."""
    lines = split_first_lines(head)
    return bool(lines) and all(map(_ROW.fullmatch, lines)) and not all(line.split("\t")[2].isdigit() for line in lines)


FORMAT = Format(
    title="ERD 2014",
    suffix=".annotation.txt",
    markers=(),
    recognises=_recognises,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=lambda names: _find_name(names) is not None,
    description="NAME.query.txt and NAME.annotation.txt in one folder.",
    sample=Sample(
        {
            "sample.annotation.txt": "a\t0\t/m/0m7d\tada\t1\n",
            "sample.query.txt": "a\tada met\n",
        },
        documents=1,
        mentions=1,
    ),
)
