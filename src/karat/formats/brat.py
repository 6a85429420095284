"""brat standoff: `NAME.ann` with annotations in lines beside `NAME.txt`, a folder of such pairs or a single file.

Made from the public description of the format (brat.nlplab.org/standoff), not from real files. Text-bound annotations
(T) are mentions with their type; a normalization (N) is the link of a mention, kept as written (`Wikipedia:534366`),
and its text the name; several of one mention are alternatives. Attributes (A, M) become categories (`Confidence:High`).
Relations (R) between two linked mentions are statements. Offsets count code points, unless the surfaces say otherwise.

A mention of several fragments is taken from its first to its last character. Triggers of events are no mentions; they,
events, notes and equivalences are counted and left out. brat has no NIL: a mention without N is one without link.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import by_itself, pass_over
from karat.model.document import UNLINKED, Document, Label, Reply, Statement
from karat.model.run import Run
from karat.parsing.answering import as_answers
from karat.parsing.counting import Placed, in_code_points
from karat.parsing.lines import Line, decoded, lines
from karat.parsing.merging import merged
from karat.parsing.numbers import offset
from karat.spec.format import Bytes, Format, Sample

_BOUND = re.compile(r"(?P<type>\S+) (?P<spans>\d+ \d+(?:;\d+ \d+)*)")
_LINE = re.compile(rb"(?:[TRENAM]\d+\S*|#\S*|\*)\t[^\t]*(?:\t.*)?")
_MENTION = re.compile(rb"T\d+\S*\t\S+ \d+ \d+(?:;\d+ \d+)*\t")
_COUNTED = {"E": "events", "#": "notes", "*": "equivalences"}


class _Mention(NamedTuple):
    type: str
    span: Placed


@dataclass(slots=True)
class _Notes:
    """What the lines of one file say, by the id of the mention they say it of."""

    mentions: dict[str, _Mention] = field(default_factory=dict)
    links: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    attributes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    relations: list[tuple[str, str, str]] = field(default_factory=list)
    triggers: set[str] = field(default_factory=set)


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    documents = []
    for name, file, txt in _pairs(source, skipped):
        with by_itself():
            content = decoded(txt.data(), txt)
            labels, relations = _read(file, content, skipped)
            documents.append(Document(name, content, merged(labels, skipped), relations=relations))
    return Corpus.built(documents, name=source.stem, skipped=skipped)


def read_run(source: Bytes) -> Run:
    """A system's answers, which brat writes as it writes gold."""
    skipped: Counter[str] = Counter()
    replies, texts = [], []
    for name, file, txt in _pairs(source, skipped):
        with by_itself():
            content = decoded(txt.data(), txt)
            labels, relations = _read(file, content, skipped)
            replies.append(Reply(name, as_answers(labels), relations=relations))
            texts.append(content)
    return Run.built(replies, name=source.stem, skipped=skipped, texts=texts)


def _pairs(source: Bytes, skipped: Counter[str]) -> Iterator[tuple[str, Bytes, Bytes]]:
    """The documents: their names, annotations and texts."""
    if not source.folder:
        name = PurePath(source.given).name
        stem = re.sub(r"\.ann(\.gz|\.zst)?$", "", name)
        text = next((t for t in map(source.beside, (f"{stem}.txt", f"{stem}.txt.gz")) if t.exists), None)
        if text is None or source.passing:
            raise InputError(
                source.label,
                found=f"no {stem}.txt beside it",
                expected="the text that was annotated",
                remedy="Lay the text file beside the .ann file, or name the folder of both",
            )
        yield stem, source, text
        return
    files = set(source.names)
    for name in source.names:
        stem, dot, suffix = name.rpartition(".")
        if dot and suffix == "ann":
            if f"{stem}.txt" not in files:
                problem = InputError(
                    source.inside(name).label,
                    found="no text file of the same name",
                    expected=f"{stem}.txt",
                    remedy="Add the text, or take the .ann file away",
                )
                pass_over(problem)
                continue
            yield stem, source.inside(name), source.inside(f"{stem}.txt")
        elif suffix == "txt":
            skipped["texts without annotations"] += f"{stem}.ann" not in files


def _read(source: Bytes, text: str, skipped: Counter[str]) -> tuple[list[Label], tuple[Statement, ...]]:
    notes = _Notes()
    for line in lines(source):
        if line.text.strip():
            _note(line, source, notes, skipped)
    kept = {name: mention for name, mention in notes.mentions.items() if name not in notes.triggers}
    skipped["triggers of events"] += len(notes.mentions) - len(kept)
    for given in (notes.links, notes.attributes):
        skipped["normalizations and attributes of other things than mentions"] += len(given.keys() - kept.keys())
    places = in_code_points(text, [mention.span for mention in kept.values()], skipped)
    labels = []
    for (name, mention), (start, end) in zip(kept.items(), places, strict=True):
        links = notes.links.get(name, {})
        for entity, title in links.items() or [(UNLINKED, "")]:
            labels.append(
                Label(
                    start,
                    end,
                    entity,
                    name=title or None,
                    types=(mention.type,),
                    categories=tuple(notes.attributes.get(name, ())),
                    unit=name if len(links) > 1 else None,
                )
            )
    return labels, _statements(notes, skipped)


def _note(line: Line, source: Bytes, notes: _Notes, skipped: Counter[str]) -> None:
    """Take down what a line says."""
    name, *cells = line.text.split("\t")
    kind, words = name[:1], cells[0].split() if cells else []
    if kind == "T" and cells:
        if name in notes.mentions:
            raise _wrong(line, source, f"{name} a second time", "each id once")
        notes.mentions[name] = _mention(cells, line, source, skipped)
    elif kind == "N" and len(words) >= 3:
        notes.links[words[1]][" ".join(words[2:])] = cells[1] if len(cells) > 1 else ""
    elif kind in ("A", "M") and len(words) >= 2:
        notes.attributes[words[1]].append(":".join([words[0], *words[2:]]))
    elif kind == "R" and len(words) == 3:
        first, second = (word.partition(":")[2] for word in words[1:])
        notes.relations.append((first, words[0], second))
    elif kind in _COUNTED and words:
        skipped[_COUNTED[kind]] += 1
        if kind == "E":
            notes.triggers.add(words[0].partition(":")[2])
    else:
        raise _wrong(line, source)


def _mention(cells: Sequence[str], line: Line, source: Bytes, skipped: Counter[str]) -> _Mention:
    match = _BOUND.fullmatch(cells[0])
    if match is None:
        raise _wrong(line, source)
    where = f"{source.label}:{line.number}"
    ends = [offset(number, where, "offset") for number in re.split("[ ;]", match["spans"])]
    several = len(ends) > 2
    skipped["mentions of several fragments (taken from first to last)"] += several
    surface = cells[1] if len(cells) > 1 and not several else None
    return _Mention(match["type"], Placed(min(ends), max(ends), surface, where))


def _wrong(line: Line, source: Bytes, found: str = "", expected: str = "") -> InputError:
    return InputError(
        f"{source.label}:{line.number}",
        found=found or f"{line.text[:40]!r}",
        expected=expected or "an annotation such as T1, a tab, TYPE START END, a tab and the surface",
        remedy="Correct the line; see brat.nlplab.org/standoff",
    )


def _statements(notes: _Notes, skipped: Counter[str]) -> tuple[Statement, ...]:
    found = []
    for first, kind, second in notes.relations:
        ends = [next(iter(notes.links.get(name, {})), None) for name in (first, second)]
        if ends[0] is not None and ends[1] is not None:
            found.append(Statement(ends[0], kind, ends[1]))
    skipped["relations that are not between two linked mentions"] += len(notes.relations) - len(found)
    return tuple(found)


def _recognises(head: bytes) -> bool:
    """Lines that are annotations, with a mention among them."""
    rows = [line.rstrip(b"\r") for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    rows = [row for row in (rows[:-1] if len(rows) > 1 else rows) if row.strip()]
    return any(map(_MENTION.match, rows)) and all(map(_LINE.fullmatch, rows))


def _recognises_folder(names: Sequence[str]) -> bool:
    """A folder of pairs: each .ann has its .txt."""
    stems = [name.removesuffix(".ann") for name in names if name.endswith(".ann")]
    return bool(stems) and {f"{stem}.txt" for stem in stems} <= set(names)


FORMAT = Format(
    title="brat standoff",
    suffix=".ann",
    signs=(),
    recognises=_recognises,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    read_run=read_run,
    recognises_folder=_recognises_folder,
    says="Annotations in .ann files beside the .txt files that they are about.",
    either=True,
    sample=Sample(
        {
            "a.ann": "T1\tPER 0 3\tAda\nN1\tReference T1 Wikidata:Q7259\tAda\n",
            "a.txt": "Ada met",
        },
        documents=1,
        mentions=1,
    ),
)
