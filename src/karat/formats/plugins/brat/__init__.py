"""brat standoff: `NAME.ann` with annotations in lines next to `NAME.txt`, a folder of such pairs or a single file.

Written from the public description of the format (brat.nlplab.org/standoff). Text-bound
annotations (T) are mentions with their type. A normalization (N) is the link of a mention, unchanged
(`Wikipedia:534366`), and its text is the name; several of one mention are alternatives. Attributes (A, M) become
categories (`Confidence:High`). Relations (R) between two linked mentions are triples. Offsets count code points,
unless the surfaces show otherwise.

A mention of several fragments spans from its first to its last character, and a category `fragments:0 3;8 11` has the
fragments. Triggers of events are not mentions. Triggers, events, notes and equivalences are counted and skipped. A
mention without N is unlinked, unless its note (`AnnotatorNotes`) is nothing but an id in a known scheme, such as `Q64`
or the address of a Wikipedia page, or `NIL`. brat has no NIL: the attribute `NIL` of a mention stands for it.

Karat writes a folder with a pair of files per document, `annotation.conf` and `tools.conf`, so that brat opens it. Ids
need the name of a database in brat: QIDs are written as `Wikidata:Q64`, and other ids without a prefix as `Entity:…`.
Notes of the type `karat` have what brat cannot hold, as JSON, such as ids without these prefixes, candidates, scores,
optional labels and metadata of the document.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, NamedTuple

from karat.formats.parsing.conversion import has_alternatives, to_predictions
from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.formats.parsing.extra_fields import EXTRA_KEY, add_fields, count_lost_metadata, parse_fields
from karat.formats.parsing.lines import Line, decode_utf8, read_lines
from karat.formats.parsing.numbers import parse_offset
from karat.formats.parsing.offset_units import RawSpan, SurfaceCheck, list_surface_categories, to_code_points
from karat.formats.plugins.brat.writer import (
    DOCUMENT_TARGET,
    FRAGMENTS,
    NIL_ATTRIBUTE,
    PREFIXES_FIELD,
    write_folder,
)
from karat.kb.ids.normal_forms import recognise_id
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import isolate_defects, skip_or_raise
from karat.model.document import UNLINKED, Document, EntityId, Label, Response, Triple
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample
from karat.model.spec.settings.nil_spellings import NIL_ID

_TEXT_BOUND = re.compile(r"(?P<type>\S+) (?P<spans>\d+ \d+(?:;\d+ \d+)*)")
_LINE = re.compile(rb"(?:[TRENAM]\d+\S*|#\S*|\*)\t[^\t]*(?:\t.*)?")
_MENTION = re.compile(rb"T\d+\S*\t\S+ \d+ \d+(?:;\d+ \d+)*\t")
_WIKIDATA_ID = re.compile(r"(?i)^wikidata:(Q[1-9][0-9]*)$")
"""The id of a link to Wikidata: brat writes the name of the database before it."""
_NO_ID = re.compile(r"[^:]*:")
"""The name of a database without an id."""
_NO_LINK = "labels without entity id (read as unlinked)"
_NOTE = "AnnotatorNotes"
"""The type of the notes that people write in brat."""
_SKIPPED_NOTES = "notes of annotators (skipped)"
_UNREAD_KINDS = {"E": "events (skipped)", "#": _SKIPPED_NOTES, "*": "equivalences (skipped)"}


class _Mention(NamedTuple):
    """A text-bound annotation: its type, its span in the units of the file, and its offsets if it has fragments."""

    type: str
    span: RawSpan
    fragments: str | None = None


@dataclass(slots=True)
class _Annotations:
    """The annotations of a file: mentions by id, relations and event triggers.

    Links, attributes and further fields of Karat are by mention id; `noted_ids` are mention ids with an id or NIL.
    """

    mentions: dict[str, _Mention] = field(default_factory=dict)
    links: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))
    attributes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    fields: dict[str, dict[str, Any]] = field(default_factory=lambda: defaultdict(dict))
    relations: list[tuple[str, str, str]] = field(default_factory=list)
    triggers: set[str] = field(default_factory=set)
    noted_ids: list[tuple[str, str]] = field(default_factory=list)

    def link_by_notes(self, skipped: Counter[str]) -> None:
        """Link the mentions that have neither a link nor NIL by their notes; count all these notes in `skipped`."""
        for target, entity in self.noted_ids:
            if target in self.links or NIL_ATTRIBUTE in self.attributes.get(target, ()) or target not in self.mentions:
                skipped[_SKIPPED_NOTES] += 1
                continue
            skipped["notes of annotators (read as links)"] += 1
            if entity == NIL_ID:
                self.attributes[target].append(NIL_ATTRIBUTE)
            else:
                self.links[target][entity] = ""


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents of a folder or file, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    surfaces = SurfaceCheck()
    documents = []
    for name, file, txt in _find_pairs(source, skipped):
        with isolate_defects(file.label):
            content = decode_utf8(txt.read_bytes(), txt)
            annotations = _read_annotations(file, skipped)
            labels = [
                add_fields(label, fields, file.label)
                for label, fields in _to_labels(annotations, content, skipped, surfaces)
            ]
            document = Document(
                name, content, merge_duplicate_labels(labels, skipped), relations=_to_triples(annotations, skipped)
            )
            documents.append(add_fields(document, annotations.fields[DOCUMENT_TARGET], file.label))
    surfaces.require_matches()
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped)


def read_run(source: ByteSource) -> Run:
    """Read a system's predictions, which brat writes like gold labels; labels with alternatives are a gold standard."""
    skipped = SkipCounter()
    surfaces = SurfaceCheck()
    responses, texts = [], []
    for name, file, txt in _find_pairs(source, skipped):
        with isolate_defects(file.label):
            content = decode_utf8(txt.read_bytes(), txt)
            annotations = _read_annotations(file, skipped)
            labels = list(_to_labels(annotations, content, skipped, surfaces))
            if has_alternatives(add_fields(label, fields, file.label) for label, fields in labels):
                return Run.from_gold(read_corpus(source, True), name=source.stem)
            predictions = tuple(
                add_fields(prediction, fields, file.label)
                for label, fields in labels
                for prediction in to_predictions([label])
            )
            response = Response(name, predictions, relations=_to_triples(annotations, skipped))
            responses.append(add_fields(response, annotations.fields[DOCUMENT_TARGET], file.label))
            texts.append(content)
    surfaces.require_matches()
    return Run.from_reader(responses, name=source.stem, skipped=skipped, texts=texts)


def _find_pairs(source: ByteSource, skipped: Counter[str]) -> Iterator[tuple[str, ByteSource, ByteSource]]:
    """Yield name, .ann file and .txt file of each document of a folder, or of a single .ann file.

    The error policy decides whether an .ann file without text raises `InputError`, or is skipped and counted in
    `Defects`. Texts without .ann file are skipped and counted in `skipped`.
    """
    if not source.is_folder:
        name = PurePath(source.path).name
        stem = re.sub(r"\.ann(\.gz|\.zst)?$", "", name)
        text = next((t for t in map(source.get_sibling, (f"{stem}.txt", f"{stem}.txt.gz")) if t.exists), None)
        if text is None or source.is_single_pass:
            raise InputError(
                source.label,
                actual=f"no {stem}.txt next to it",
                expected="the annotated text",
                remedy="Put the text file next to the .ann file, or pass the folder of both",
            )
        yield stem, source, text
        return
    files = set(source.file_names)
    for name in source.file_names:
        stem, dot, suffix = name.rpartition(".")
        if dot and suffix == "ann":
            if f"{stem}.txt" not in files:
                problem = InputError(
                    source.get_child(name).label,
                    actual="no text file of the same name",
                    expected=f"{stem}.txt",
                    remedy="Add the text, or remove the .ann file",
                )
                skip_or_raise(problem)
                continue
            yield stem, source.get_child(name), source.get_child(f"{stem}.txt")
        elif suffix == "txt":
            skipped["texts without annotations"] += f"{stem}.ann" not in files


def _read_annotations(source: ByteSource, skipped: Counter[str]) -> _Annotations:
    """Read the annotations of an .ann file; those of other kinds are dropped and counted in `skipped`."""
    annotations = _Annotations()
    for line in read_lines(source):
        if line.text.strip():
            _parse_line(line, source, annotations, skipped)
    annotations.link_by_notes(skipped)
    return annotations


def _to_labels(
    annotations: _Annotations, text: str, skipped: Counter[str], surfaces: SurfaceCheck
) -> Iterator[tuple[Label, dict[str, Any]]]:
    """Yield the labels of a document, each with its further fields; surfaces are compared with `text`."""
    mentions = {name: mention for name, mention in annotations.mentions.items() if name not in annotations.triggers}
    skipped["triggers of events (skipped)"] += len(annotations.mentions) - len(mentions)
    for by_target in (annotations.links, annotations.attributes):
        skipped["normalizations and attributes of annotations other than mentions"] += len(
            by_target.keys() - mentions.keys()
        )
    prefixes = tuple(annotations.fields[DOCUMENT_TARGET].get(PREFIXES_FIELD, ()))
    spans = to_code_points(text, [mention.span for mention in mentions.values()], skipped, surfaces)
    for (name, mention), (start, end) in zip(mentions.items(), spans, strict=True):
        links = annotations.links.get(name, {})
        categories = [*annotations.attributes.get(name, ()), *list_surface_categories(text, start, end, mention.span)]
        is_nil = not links and NIL_ATTRIBUTE in categories
        if is_nil:
            categories.remove(NIL_ATTRIBUTE)
        if mention.fragments is not None:
            edges = list(map(int, re.split("[ ;]", mention.fragments)))
            gaps = zip(edges[1:-1:2], edges[2:-1:2], strict=True)
            if (start, end) != (min(edges), max(edges)) or any(text[low:high].strip() for low, high in gaps):
                skipped["mentions of several fragments (read as one span from first to last)"] += 1
                categories.append(f"{FRAGMENTS}:{mention.fragments}")
        skipped[_NO_LINK] += not links and not is_nil
        for entity, title in links.items() or [(None if is_nil else UNLINKED, "")]:
            label = Label(
                start,
                end,
                remove_prefix(entity, prefixes),
                name=title or None,
                types=(mention.type,),
                categories=tuple(categories),
                mention_id=name if len(links) > 1 else None,
            )
            yield label, annotations.fields.get(name, {})


def remove_prefix(entity: EntityId, prefixes: tuple[str, ...]) -> EntityId:
    """Return an id without the one of `prefixes` that the writer added to it, if any."""
    prefix = next((prefix for prefix in prefixes if isinstance(entity, str) and entity.startswith(prefix)), "")
    return entity[len(prefix) :] if isinstance(entity, str) else entity


def _parse_line(line: Line, source: ByteSource, annotations: _Annotations, skipped: Counter[str]) -> None:
    """Parse the annotation of a line and add it to `annotations`; drop unread kinds and count them in `skipped`."""
    name, *cells = line.text.split("\t")
    kind, words = name[:1], cells[0].split() if cells else []
    if kind == "T" and cells:
        if name in annotations.mentions:
            raise _line_error(line, source, f"the duplicate id {name}", "distinct ids")
        annotations.mentions[name] = _parse_mention(cells, line, source)
    elif kind == "N" and len(words) >= 3:
        entity = _WIKIDATA_ID.sub(r"\1", " ".join(words[2:]))
        if _NO_ID.fullmatch(entity):
            skipped["normalizations without an id"] += 1
            return
        annotations.links[words[1]][entity] = cells[1] if len(cells) > 1 else ""
    elif kind in ("A", "M") and len(words) >= 2:
        annotations.attributes[words[1]].append(":".join([words[0], *words[2:]]))
    elif kind == "R" and len(words) == 3:
        first, second = (word.partition(":")[2] for word in words[1:])
        annotations.relations.append((first, words[0], second))
    elif kind == "#" and len(words) == 2 and words[0] == EXTRA_KEY and len(cells) > 1:
        annotations.fields[words[1]] |= parse_fields(cells[1], f"{source.label}:{line.number}")
    elif kind == "#" and words[:1] == [_NOTE] and len(words) == 2 and (id := _find_id("".join(cells[1:]))):
        annotations.noted_ids.append((words[1], id))
    elif kind in _UNREAD_KINDS and words:
        skipped[_UNREAD_KINDS[kind]] += 1
        if kind == "E":
            annotations.triggers.add(words[0].partition(":")[2])
    else:
        raise _line_error(line, source)


def _find_id(note: str) -> str | None:
    """Return the id, or `NIL`, that a note consists of; None for another note."""
    entity = _WIKIDATA_ID.sub(r"\1", note.strip())
    return entity if entity == NIL_ID or recognise_id(entity) is not None else None


def _parse_mention(cells: Sequence[str], line: Line, source: ByteSource) -> _Mention:
    """Parse type, offsets and surface of a mention; several fragments become one span."""
    match = _TEXT_BOUND.fullmatch(cells[0])
    if match is None:
        raise _line_error(line, source)
    location = f"{source.label}:{line.number}"
    ends = [parse_offset(number, location, "offset") for number in re.split("[ ;]", match["spans"])]
    is_discontinuous = len(ends) > 2
    surface = cells[1] if len(cells) > 1 and not is_discontinuous else None
    span = RawSpan(min(ends), max(ends), surface, location)
    return _Mention(match["type"], span, match["spans"] if is_discontinuous else None)


def _line_error(line: Line, source: ByteSource, problem: str = "", expected: str = "") -> InputError:
    """Build the error for an invalid line; by default, it quotes the line and expects an annotation."""
    return InputError(
        f"{source.label}:{line.number}",
        actual=problem or f"{line.text[:40]!r}",
        expected=expected or "an annotation such as T1, a tab, TYPE START END, a tab and the surface",
        remedy="Correct the line; see brat.nlplab.org/standoff",
    )


def _to_triples(annotations: _Annotations, skipped: Counter[str]) -> tuple[Triple, ...]:
    """Return the relations between two linked mentions, by their first links; others are dropped and counted."""
    prefixes = tuple(annotations.fields[DOCUMENT_TARGET].get(PREFIXES_FIELD, ()))
    triples = []
    for first, kind, second in annotations.relations:
        ends = [
            annotations.fields.get(name, {}).get("entity")
            or remove_prefix(next(iter(annotations.links.get(name, {})), None), prefixes)
            for name in (first, second)
        ]
        if isinstance(ends[0], str) and isinstance(ends[1], str):
            triples.append(Triple(ends[0], kind, ends[1]))
    skipped["relations that are not between two linked mentions"] += len(annotations.relations) - len(triples)
    return tuple(triples)


def _recognises(head: bytes) -> bool:
    """Return whether all complete first lines are annotations and one of them is a mention."""
    lines = [line.rstrip(b"\r") for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    lines = [row for row in (lines[:-1] if len(lines) > 1 else lines) if row.strip()]
    return any(map(_MENTION.match, lines)) and all(map(_LINE.fullmatch, lines))


def _recognises_folder(names: Sequence[str]) -> bool:
    """Return whether there are .ann files and each has its .txt file."""
    stems = [name.removesuffix(".ann") for name in names if name.endswith(".ann")]
    return bool(stems) and {f"{stem}.txt" for stem in stems} <= set(names)


FORMAT = Format(
    title="brat standoff",
    suffix=".ann",
    markers=(),
    recognises=_recognises,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    read_run=read_run,
    write_folder=write_folder,
    recognises_folder=_recognises_folder,
    description="Annotations in .ann files next to the annotated .txt files.",
    count_losses=count_lost_metadata,
    is_kind_ambiguous=True,
    sample=Sample(
        {
            "a.ann": "T1\tPER 0 3\tAda\nN1\tReference T1 Wikidata:Q7259\tAda\n",
            "a.txt": "Ada met",
        },
        documents=1,
        mentions=1,
    ),
)
