"""ConEL: entity linking in conversations; gold dialogues, and runs in both published forms.

A document is an annotated turn of a dialogue, named `dataset/dialogue/turn`. Turns without annotation are context:
`history` in `meta` holds the earlier turns. The entity is the Wikipedia title with underscores, unchanged; the type is
`concept` or `named_entity`. Personal mentions ("my cat") are labels of the category `personal entity`. A personal
mention without an entity is unlinked, and so are all mentions if only mentions were annotated (`ConEL22_PEMD`).

ConEL-2021 gives mentions by their text: the first occurrence as a whole word is used, and the next one if the same
annotation is repeated. ConEL-2022 gives spans. Runs (`el_tool_annotations`, or rows of dialogue, turn, mention and
entity) have no text, so the gold file must be next to the run: as `gold.json`, or named like the run up to one of its
hyphens (`ConEL_PE.json` for `ConEL_PE-REL_history.json`), also with `.gz`.

ConEL-2022 is published as a folder: dialogues in `dataset`, rows of the gold standard in `gold/gold.json`, rows of runs
in `runs`. The folder, or that gold file, is the gold standard. Its documents are the turns of `dataset` with annotated
links, and its labels are the rows, each of which gives the text of a mention and its entity once. Rows of a run are
located in the same texts, so strong scores count the rows that both have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from karat.formats.parsing.duplicates import drop_duplicate_labels
from karat.formats.parsing.json.records import convert_members, convert_value, read_json
from karat.formats.parsing.offset_units import RawSpan, place_surfaces
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.document import UNLINKED, Document, Label, Offset, Prediction, Response
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.span import Span
from karat.model.spec.format import ByteSource, Format, Sample

_DIALOGUES = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{[^\[\]{}]*"dialogue_id"')
_ROWS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\[\s*"[^"\n]*",\s*\d+,\s*"')
_NOT_FOUND = "mentions not found in their turn (skipped)"
_UNKNOWN_TURNS = "predictions for turns that the gold standard lacks (skipped)"
_UNKNOWN_LABEL_TURNS = "labels of turns that the dialogues lack (skipped)"
_DIALOGUE_FILE = re.compile(r"dataset/[^/]*EL[^/]*\.json(?:\.gz)?")
_GOLD_ROW_FILES = ("gold/gold.json", "gold/gold.json.gz")
_AMBIGUOUS = "mentions with several occurrences in their turn (the first was used)"


class _Annotation(msgspec.Struct):
    """A mention with its entity, given by text and perhaps by span."""

    mention: str
    entity: str | None = None
    entity_type: str | None = None
    span: tuple[Offset, Offset] | None = None
    score: float | None = None


class _PersonalAnnotation(msgspec.Struct):
    """A personal mention such as "my cat", with the entity it refers to, if any."""

    personal_entity_mention: str
    entity: str | None = None
    span: tuple[Offset, Offset] | None = None


class _Turn(msgspec.Struct):
    """A turn of a dialogue; the lists of annotations are None if the turn was not annotated."""

    turn_number: int
    speaker: str = ""
    utterance: str = ""
    el_annotations: list[_Annotation] | None = None
    personal_entity_annotations: list[_PersonalAnnotation] | None = None
    personal_entity_annotations_without_eems: list[_PersonalAnnotation] = []
    el_tool_annotations: list[_Annotation] = []


class _Dialogue(msgspec.Struct):
    """A dialogue of turns, in a list or by number."""

    dialogue_id: str | int
    turns: list[_Turn] | dict[str, _Turn]
    dataset_name: str | None = None


class _TurnKey(NamedTuple):
    """A turn, by the id of its dialogue and its number."""

    dialogue: str
    turn: int


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, one per annotated turn, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    rows = _find_gold_rows(source)
    turns = list(_read_annotated_turns([source], skipped) if rows is None else _replace_annotations(rows, skipped))
    documents = (_to_document(dialogue, turn, _get_history(dialogue, turn), skipped) for dialogue, turn in turns)
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped)


def _find_gold_rows(source: ByteSource) -> ByteSource | None:
    """Return the file of gold rows that `source` is, or contains as a folder; None if it is a file of dialogues."""
    if not source.is_folder:
        return source if _ROWS.match(source.first_bytes) else None
    return next((source.get_child(name) for name in _GOLD_ROW_FILES if name in source.file_names), None)


def _replace_annotations(source: ByteSource, skipped: Counter[str]) -> Iterator[tuple[_Dialogue, _Turn]]:
    """Yield the turns with annotated links, with their annotations replaced by the rows of a gold file.

    Rows that repeat a personal annotation of the turn stay personal. Rows of unknown turns are
    dropped and counted in `skipped`.
    """
    annotations_by_turn = dict(_read_annotations(source))
    for dialogue, turn in _read_linked_turns(_find_dialogues(source), skipped):
        rows = annotations_by_turn.pop(_TurnKey(str(dialogue.dialogue_id), turn.turn_number), [])
        personal = {
            (annotation.personal_entity_mention, annotation.entity)
            for annotation in turn.personal_entity_annotations or ()
        }
        yield (
            dialogue,
            msgspec.structs.replace(
                turn,
                el_annotations=[mark for mark in rows if (mark.mention, mark.entity) not in personal],
                personal_entity_annotations=[
                    _PersonalAnnotation(mark.mention, mark.entity)
                    for mark in rows
                    if (mark.mention, mark.entity) in personal
                ],
                personal_entity_annotations_without_eems=[],
            ),
        )
    skipped[_UNKNOWN_LABEL_TURNS] += sum(map(len, annotations_by_turn.values()))


def _read_annotated_turns(sources: Sequence[ByteSource], skipped: Counter[str]) -> Iterator[tuple[_Dialogue, _Turn]]:
    """Yield each turn that has annotations, with its dialogue; drop the other turns and count them in `skipped`."""
    for source in sources:
        for dialogue in convert_members(read_json(source), _Dialogue, source.label):
            for turn in _get_turns(dialogue):
                if turn.el_annotations is None and turn.personal_entity_annotations is None:
                    skipped["turns without annotation (context only)"] += 1
                else:
                    yield dialogue, turn


def _read_linked_turns(sources: Sequence[ByteSource], skipped: Counter[str]) -> Iterator[tuple[_Dialogue, _Turn]]:
    """Yield each turn with annotated links (not only personal mentions) once, although several files may have it."""
    seen: set[_TurnKey] = set()
    for dialogue, turn in _read_annotated_turns(sources, skipped):
        key = _TurnKey(str(dialogue.dialogue_id), turn.turn_number)
        if turn.el_annotations is not None and key not in seen:
            seen.add(key)
            yield dialogue, turn


def _get_turns(dialogue: _Dialogue) -> list[_Turn]:
    """Return the turns of a dialogue, which files write as a list or by number."""
    return dialogue.turns if isinstance(dialogue.turns, list) else list(dialogue.turns.values())


def _get_turn_name(dialogue: _Dialogue, turn: _Turn) -> str:
    """Return the document id of a turn: `dataset/dialogue/turn`."""
    parts = [dialogue.dataset_name, str(dialogue.dialogue_id), str(turn.turn_number)]
    return "/".join(part for part in parts if part)


def _get_history(dialogue: _Dialogue, turn: _Turn) -> str:
    """Return the earlier turns of a dialogue, one `speaker: utterance` per line."""
    earlier = (other for other in _get_turns(dialogue) if other.turn_number < turn.turn_number)
    return "\n".join(f"{other.speaker}: {other.utterance}" for other in earlier)


def _to_document(dialogue: _Dialogue, turn: _Turn, history: str, skipped: Counter[str]) -> Document:
    """Build the document of a turn; mentions that are not found and duplicates are dropped and counted in `skipped`."""
    labels = []
    seen: Counter[tuple[str, str | None]] = Counter()
    for mark in turn.el_annotations or ():
        if span := _locate_mention(turn.utterance, mark, seen, skipped):
            types = (mark.entity_type,) if mark.entity_type else ()
            labels.append(Label(span.start, span.end, mark.entity or UNLINKED, types=types))
    for personal in (turn.personal_entity_annotations or []) + turn.personal_entity_annotations_without_eems:
        mark = _Annotation(personal.personal_entity_mention, personal.entity, span=personal.span)
        if span := _locate_mention(turn.utterance, mark, seen, skipped):
            labels.append(Label(span.start, span.end, mark.entity or UNLINKED, categories=("personal entity",)))
    meta = {"dialogue_id": str(dialogue.dialogue_id), "turn_number": str(turn.turn_number), "speaker": turn.speaker}
    meta |= {"dataset_name": dialogue.dataset_name} if dialogue.dataset_name else {}
    meta |= {"history": history} if history else {}
    return Document(_get_turn_name(dialogue, turn), turn.utterance, drop_duplicate_labels(labels, skipped), meta=meta)


def _locate_mention(
    text: str, annotation: _Annotation, seen: Counter[tuple[str, str | None]], skipped: Counter[str]
) -> Span | None:
    """Return the stated span of a mention, or else an occurrence of its text; None if the text has no occurrence.

    `seen` counts how often mention and entity were located; a repeated annotation gets the next occurrence. Mentions
    without occurrence (None is returned), with several occurrences, or that differ from the text at their stated span
    are counted in `skipped`.
    """
    if annotation.span is not None:
        span = RawSpan(*annotation.span, annotation.mention, "")
        [offsets] = place_surfaces(text, [annotation.span], [span], skipped)
        return Span(*offsets)
    spans = find_word_spans(text, annotation.mention)
    n_seen = seen[annotation.mention, annotation.entity]
    seen[annotation.mention, annotation.entity] += 1
    skipped[_NOT_FOUND] += not spans
    skipped[_AMBIGUOUS] += len(spans) > 1 and n_seen == 0
    return spans[min(n_seen, len(spans) - 1)] if spans else None


def read_run(source: ByteSource) -> Run:
    """Read a system's predictions, located in the texts of the gold file next to it; count unknown turns as skipped."""
    skipped = SkipCounter()
    gold = {
        _TurnKey(str(dialogue.dialogue_id), turn.turn_number): (_get_turn_name(dialogue, turn), turn.utterance)
        for dialogue, turn in _read_linked_turns(_find_dialogues(source), Counter())
    }
    responses, texts = [], []
    for key, turn_annotations in _read_annotations(source).items():
        if key in gold:
            doc_id, text = gold[key]
            with locate_counts(f"document {doc_id!r}"):
                responses.append(Response(doc_id, tuple(_to_predictions(text, turn_annotations, skipped))))
            texts.append(text)
        else:
            skipped[_UNKNOWN_TURNS] += len(turn_annotations)
    return Run.from_reader(responses, name=source.stem, skipped=skipped, texts=texts)


def _to_predictions(text: str, annotations: list[_Annotation], skipped: Counter[str]) -> Iterator[Prediction]:
    """Yield a prediction for each annotation of a turn, at its stated span or else where its text occurs in `text`.

    Annotations that do not occur are dropped. They are counted in `skipped`, and so are those that occur several times
    or differ from the text at their span.
    """
    seen: Counter[tuple[str, str | None]] = Counter()
    for annotation in annotations:
        if span := _locate_mention(text, annotation, seen, skipped):
            yield Prediction(span.start, span.end, annotation.entity or UNLINKED, score=annotation.score)


def _read_annotations(source: ByteSource) -> Mapping[_TurnKey, list[_Annotation]]:
    """Read the annotations by turn, from rows or from the `el_tool_annotations` of dialogues."""
    value = read_json(source)
    annotations: dict[_TurnKey, list[_Annotation]] = {}
    if _ROWS.match(source.first_bytes):
        for dialogue, turn, mention, entity in convert_value(
            value, list[tuple[str, int, str, str | None]], source.label
        ):
            annotations.setdefault(_TurnKey(dialogue, turn), []).append(_Annotation(mention, entity))
        return annotations
    for item in convert_members(value, _Dialogue, source.label):
        for item_turn in _get_turns(item):
            key = _TurnKey(str(item.dialogue_id), item_turn.turn_number)
            annotations.setdefault(key, []).extend(item_turn.el_tool_annotations)
    return annotations


def _find_dialogues(source: ByteSource) -> list[ByteSource]:
    """Return the files with the texts for a file of rows: the gold file next to it, or the published files.

    Raise `InputError` if there are no such files.
    """
    run_stem = PurePath(source.path).name.split(".")[0]
    stems = [run_stem[: match.start()] for match in re.finditer("-", run_stem)] + ["gold"]
    for name in (f"{gold_stem}.json{end}" for gold_stem in reversed(stems) for end in ("", ".gz")):
        file = source.get_sibling(name)
        if file.exists and not _ROWS.match(file.first_bytes):
            return [file]
    dataset = source.get_parent_sibling("dataset")
    names = dataset.file_names if dataset.is_folder else ()
    if dialogues := [dataset.get_child(name) for name in names if _DIALOGUE_FILE.fullmatch(f"dataset/{name}")]:
        return dialogues
    raise InputError(
        source.label,
        actual="predictions without text or spans, and no gold file next to them",
        expected=f"the gold dialogues next to the run, as {' or '.join(f'{gold_stem}.json' for gold_stem in stems)}",
        remedy="Put the gold file of ConEL there, or the dialogues of ConEL-2022 into ../dataset",
    )


def _has_gold(source: ByteSource) -> bool:
    """Return whether the source is a file of dialogues, a folder, or a file of rows named `gold`."""
    if source.is_folder or b'"utterance"' in source.first_bytes:
        return True
    return PurePath(source.path).name.split(".")[0] == "gold" and _ROWS.match(source.first_bytes) is not None


def _recognises_folder(names: Sequence[str]) -> bool:
    """Return whether a folder with these files has dialogues and rows of gold annotations."""
    return any(map(_DIALOGUE_FILE.fullmatch, names)) and any(name in names for name in _GOLD_ROW_FILES)


def find_word_spans(text: str, mention: str) -> list[Span]:
    """Return the spans of all occurrences of a mention: as whole words if any, else anywhere, else ignoring case."""
    if not mention:
        return []
    words = re.escape(mention)
    left_boundary, right_boundary = (
        (r"(?<!\w)" if mention[0].isalnum() else ""),
        (r"(?!\w)" if mention[-1].isalnum() else ""),
    )
    word_pattern = left_boundary + words + right_boundary
    for pattern, flags in ((word_pattern, 0), (words, 0), (word_pattern, re.IGNORECASE), (words, re.IGNORECASE)):
        spans = [Span(match.start(), match.end()) for match in re.finditer(pattern, text, flags)]
        if spans:
            return spans
    return []


FORMAT = Format(
    title="ConEL JSON",
    suffix=".conel.json",
    markers=('"dialogue_id"', '"turns"'),
    recognises=lambda opening: bool(_DIALOGUES.match(opening) or _ROWS.match(opening)),
    recognises_folder=_recognises_folder,
    has_gold=_has_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    description="Conversations by turn, also the folder of ConEL-2022; a run needs the gold file next to it.",
    sample=Sample.from_text(
        "sample.json",
        '[{"dialogue_id": "a", "turns": [{"turn_number": 1, "speaker": "USER", "utterance": "Ada '
        'met", "el_annotations": [{"mention": "Ada", "entity": "Ada Lovelace", "span": [0, '
        "3]}]}]}]",
    ),
)
