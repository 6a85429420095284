"""ConEL: entity linking in conversations; gold dialogues, and runs in both published forms.

A document is an annotated turn of a dialogue, named `dataset/dialogue/turn`; the turns that nobody annotated are
context: `history` in `meta` holds what was said before. The entity is the Wikipedia title with underscores as written,
the type `concept` or `named_entity`. Personal mentions ("my cat") are labels of the category `personal entity`; one
for which the annotators found no entity is a span without link.

ConEL-2021 names mentions by their words: the first place as a whole word is taken, and the next one if the same
annotation stands there again. ConEL-2022 gives spans. Runs (`el_tool_annotations`, or rows of dialogue, turn, mention
and entity) have no text, so the gold file must stand beside the run: as `gold.json`, or named like the run up to one of
its hyphens (`ConEL_PE.json` for `ConEL_PE-REL_history.json`), also with `.gz`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from karat.errors import InputError
from karat.formats.conel.placing import places
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Document, Label, Offset, Reply
from karat.model.run import Run
from karat.model.span import Span
from karat.parsing.distinct import labels_once
from karat.parsing.json.records import json_file, shaped
from karat.spec.format import Bytes, Format

_DIALOGUES = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{[^\[\]{}]*"dialogue_id"')
_ROWS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\[\s*"[^"\n]*",\s*\d+,\s*"')
_LOST = "mentions that do not stand in their turn (left out)"
_SEVERAL = "mentions that stand in several places of their turn (the first was taken)"


class _Mark(msgspec.Struct):
    mention: str
    entity: str | None = None
    entity_type: str | None = None
    span: tuple[Offset, Offset] | None = None
    score: float | None = None


class _Personal(msgspec.Struct):
    personal_entity_mention: str
    entity: str | None = None
    span: tuple[Offset, Offset] | None = None


class _Turn(msgspec.Struct):
    turn_number: int
    speaker: str = ""
    utterance: str = ""
    el_annotations: list[_Mark] | None = None
    personal_entity_annotations: list[_Personal] = []
    personal_entity_annotations_without_eems: list[_Personal] = []
    el_tool_annotations: list[_Mark] = []


class _Dialogue(msgspec.Struct):
    dialogue_id: str | int
    turns: list[_Turn] | dict[str, _Turn]
    dataset_name: str | None = None


class _Place(NamedTuple):
    """A turn, by the id of its dialogue and its number."""

    dialogue: str
    turn: int


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents, one for each annotated turn; the texts are always kept."""
    skipped: Counter[str] = Counter()
    documents = (
        _document(dialogue, turn, _history(dialogue, turn), skipped) for dialogue, turn in _annotated(source, skipped)
    )
    return Corpus.built(documents, name=source.stem, skipped=skipped)


def _dialogues(source: Bytes) -> list[_Dialogue]:
    return shaped(json_file(source), list[_Dialogue], source.label)


def _annotated(source: Bytes, skipped: Counter[str]) -> Iterator[tuple[_Dialogue, _Turn]]:
    for dialogue in _dialogues(source):
        for turn in _turns(dialogue):
            if turn.el_annotations is None:
                skipped["turns without annotation (they are context)"] += 1
            else:
                yield dialogue, turn


def _turns(dialogue: _Dialogue) -> list[_Turn]:
    return dialogue.turns if isinstance(dialogue.turns, list) else list(dialogue.turns.values())


def _name(dialogue: _Dialogue, turn: _Turn) -> str:
    parts = [dialogue.dataset_name, str(dialogue.dialogue_id), str(turn.turn_number)]
    return "/".join(part for part in parts if part)


def _history(dialogue: _Dialogue, turn: _Turn) -> str:
    before = (other for other in _turns(dialogue) if other.turn_number < turn.turn_number)
    return "\n".join(f"{other.speaker}: {other.utterance}" for other in before)


def _document(dialogue: _Dialogue, turn: _Turn, history: str, skipped: Counter[str]) -> Document:
    labels = []
    seen: Counter[tuple[str, str | None]] = Counter()
    for mark in turn.el_annotations or ():
        if span := _placed(turn.utterance, mark, seen, skipped):
            types = (mark.entity_type,) if mark.entity_type else ()
            labels.append(Label(span.start, span.end, mark.entity or UNLINKED, types=types))
    for personal in turn.personal_entity_annotations + turn.personal_entity_annotations_without_eems:
        mark = _Mark(personal.personal_entity_mention, personal.entity, span=personal.span)
        if span := _placed(turn.utterance, mark, seen, skipped):
            labels.append(Label(span.start, span.end, mark.entity or UNLINKED, categories=("personal entity",)))
    meta = {"dialogue_id": str(dialogue.dialogue_id), "turn_number": str(turn.turn_number), "speaker": turn.speaker}
    meta |= {"dataset_name": dialogue.dataset_name} if dialogue.dataset_name else {}
    meta |= {"history": history} if history else {}
    return Document(_name(dialogue, turn), turn.utterance, labels_once(labels, skipped), meta=meta)


def _placed(text: str, mark: _Mark, seen: Counter[tuple[str, str | None]], skipped: Counter[str]) -> Span | None:
    """Where a mention stands; the same one given again stands at the next place."""
    if mark.span is not None:
        return Span(*mark.span)
    found = places(text, mark.mention)
    before = seen[mark.mention, mark.entity]
    seen[mark.mention, mark.entity] += 1
    skipped[_LOST] += not found
    skipped[_SEVERAL] += len(found) > 1 and before == 0
    return found[min(before, len(found) - 1)] if found else None


def read_run(source: Bytes) -> Run:
    """A system's answers, placed in the texts of the gold file beside it."""
    skipped: Counter[str] = Counter()
    gold = {
        _Place(str(dialogue.dialogue_id), turn.turn_number): (_name(dialogue, turn), turn.utterance)
        for dialogue, turn in _annotated(_gold_beside(source), Counter())
    }
    replies = []
    for place, marks in _marked(source).items():
        if place in gold:
            name, text = gold[place]
            replies.append(Reply(name, tuple(_answers(text, marks, skipped))))
        else:
            skipped["answers to turns that the gold does not have (left out)"] += len(marks)
    return Run.built(replies, name=source.stem, skipped=skipped)


def _answers(text: str, marks: list[_Mark], skipped: Counter[str]) -> Iterator[Answer]:
    seen: Counter[tuple[str, str | None]] = Counter()
    for mark in marks:
        if span := _placed(text, mark, seen, skipped):
            yield Answer(span.start, span.end, mark.entity or UNLINKED, score=mark.score)


def _marked(source: Bytes) -> Mapping[_Place, list[_Mark]]:
    """What a run says about each turn, in either form."""
    value = json_file(source)
    found: dict[_Place, list[_Mark]] = {}
    if _ROWS.match(source.opening):
        for dialogue, turn, mention, entity in shaped(value, list[tuple[str, int, str, str | None]], source.label):
            found.setdefault(_Place(dialogue, turn), []).append(_Mark(mention, entity))
        return found
    for one in shaped(value, list[_Dialogue], source.label):
        for turn_of in _turns(one):
            found.setdefault(_Place(str(one.dialogue_id), turn_of.turn_number), []).extend(turn_of.el_tool_annotations)
    return found


def _gold_beside(source: Bytes) -> Bytes:
    own = PurePath(source.given).name.split(".")[0]
    stems = [own[: match.start()] for match in re.finditer("-", own)] + ["gold"]
    for name in (f"{stem}.json{end}" for stem in reversed(stems) for end in ("", ".gz")):
        file = source.beside(name)
        if file.exists:
            return file
    raise InputError(
        source.label,
        found="answers without text or spans, and no gold file beside them",
        expected=f"the gold dialogues beside the run, as {' or '.join(f'{stem}.json' for stem in stems)}",
        remedy="Put the gold file of ConEL there",
    )


FORMAT = Format(
    title="ConEL JSON",
    suffix=".conel.json",
    recognises=lambda opening: bool(_DIALOGUES.match(opening) or _ROWS.match(opening)),
    holds_gold=lambda source: b'"utterance"' in source.opening,
    read_corpus=read_corpus,
    read_run=read_run,
    says="Conversations, turn by turn; a run needs the gold file beside it.",
)
