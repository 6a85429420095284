"""ERD 2014: `NAME.query.txt` (id, text) and `NAME.annotation.txt` (id, interpretation, title, mention, score), in tabs.

A folder with the two can be given, or the file of annotations. A mention stands at the first place where its words
occur in the query. Queries may have several interpretations; as in BAT all labels count, and the interpretation that a
label belongs to is its category (`interpretation:0`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.parsing.lines import Line, columns, each_line
from karat.parsing.numbers import number
from karat.parsing.openings import first_lines
from karat.parsing.repeats import apart
from karat.spec.format import Bytes, Format, Sample

_ROW = re.compile(r"[^\t]+\t\d{1,4}\t[^\t]+\t[^\t]+\t[\d.]+", re.ASCII)
_QUERIES = re.compile(r"([^/]+)\.query\.txt")


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold queries in the order of their file, also those without entities; the texts are always kept."""
    queries, annotations = _files(source)
    texts = _queries(queries)
    skipped: Counter[str] = Counter()
    found: dict[str, list[Label]] = {name: [] for name in texts}

    def read(line: Line) -> None:
        if not line.text.strip():
            return
        name, interpretation, title, mention, score = columns(line, annotations, 5, 5)
        where = f"{annotations.label}:{line.number}"
        if name not in texts:
            raise InputError(
                where, found=f"query {name!r}", expected=f"a query of {queries.label}", remedy="Check both files"
            )
        skipped["scores of labels (not kept)"] += number(score, where, "score") != 1
        start = texts[name].find(mention)
        if start < 0:
            skipped["mentions that are not in their query"] += 1
            return
        category = f"interpretation:{interpretation}"
        found[name].append(Label(start, start + len(mention), title, categories=(category,)))

    for _ in each_line(annotations, read):
        pass
    documents = []
    for name, labels in found.items():
        kept, repeated = apart(labels)
        skipped["labels given twice (both kept)"] += repeated
        documents.append(Document(name, texts[name], kept))
    return Corpus.built(
        documents,
        name=queries.stem,
        skipped=skipped,
        where=lambda row: f"{annotations.label}, query {documents[row].id!r}",
    )


def _queries(source: Bytes) -> dict[str, str]:
    found: dict[str, str] = {}

    def read(line: Line) -> None:
        if not line.text.strip():
            return
        name, text = columns(line, source, 2, 2)
        if name in found:
            raise InputError(
                f"{source.label}:{line.number}",
                found=f"query {name!r} a second time",
                expected="each query once",
                remedy="Delete one of the two",
            )
        found[name] = text

    for _ in each_line(source, read):
        pass
    return found


def _files(source: Bytes) -> tuple[Bytes, Bytes]:
    if source.folder:
        name = _named(source.names)
        if name is not None:
            return source.inside(f"{name}.query.txt"), source.inside(f"{name}.annotation.txt")
    else:
        queries = source.beside(PurePath(source.given).name.replace(".annotation", ".query"))
        if queries.given != source.given and queries.exists:
            return queries, source
    raise InputError(
        source.label,
        found="no file of queries beside the annotations",
        expected="NAME.query.txt and NAME.annotation.txt",
        remedy="Put both files into one folder",
    )


def _named(names: Sequence[str]) -> str | None:
    """What the two files in a folder are called, if there is one such pair."""
    found = [match[1] for match in map(_QUERIES.fullmatch, names) if match and f"{match[1]}.annotation.txt" in names]
    return found[0] if len(found) == 1 else None


def _recognises(head: bytes) -> bool:
    """Five columns, and titles where neleval has whole numbers."""
    found = first_lines(head)
    return bool(found) and all(map(_ROW.fullmatch, found)) and not all(line.split("\t")[2].isdigit() for line in found)


FORMAT = Format(
    title="ERD 2014",
    suffix=".annotation.txt",
    signs=(),
    recognises=_recognises,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=lambda names: _named(names) is not None,
    says="NAME.query.txt and NAME.annotation.txt in one folder.",
    sample=Sample(
        {
            "sample.annotation.txt": "a\t0\t/m/0m7d\tada\t1\n",
            "sample.query.txt": "a\tada met\n",
        },
        documents=1,
        mentions=1,
    ),
)
