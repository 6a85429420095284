"""ConEL: entity linking in conversations; gold dialogues, and runs in both published forms.

A document is an annotated turn of a dialogue, named `dataset/dialogue/turn`; the turns that nobody annotated are
context: `history` in `meta` holds what was said before. The entity is the Wikipedia title with underscores as written,
the type `concept` or `named_entity`. Personal mentions ("my cat") are labels of the category `personal entity`; one
for which the annotators found no entity is a span without link, and so are all where only mentions were annotated
(`ConEL22_PEMD`).

ConEL-2021 names mentions by their words: the first place as a whole word is taken, and the next one if the same
annotation stands there again. ConEL-2022 gives spans. Runs (`el_tool_annotations`, or rows of dialogue, turn, mention
and entity) have no text, so the gold file must stand beside the run: as `gold.json`, or named like the run up to one of
its hyphens (`ConEL_PE.json` for `ConEL_PE-REL_history.json`), also with `.gz`.

ConEL-2022 is published as a folder: dialogues in `dataset`, rows of the gold standard in `gold/gold.json`, rows of runs
in `runs`. The folder, or that gold file, is the gold standard: its documents are the turns of `dataset` whose links
were annotated, and its labels are the rows, each of which names the words of a turn and their entity once. Rows of a
run are placed in the same texts, so that strong scores count the rows that both have.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

import msgspec

from karat.errors import InputError
from karat.formats.conel.placing import places
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Document, Label, Offset, Reply
from karat.model.run import Run
from karat.model.span import Span
from karat.parsing.counting import DIFFERS
from karat.parsing.distinct import labels_once
from karat.parsing.json.records import each_shaped, json_file, shaped
from karat.spec.format import Bytes, Format, Sample

_DIALOGUES = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{[^\[\]{}]*"dialogue_id"')
_ROWS = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\[\s*"[^"\n]*",\s*\d+,\s*"')
_LOST = "mentions that do not stand in their turn (left out)"
_LEFT_OUT = "answers to turns that the gold does not have (left out)"
_NO_TURN = "labels of turns that the dialogues do not have (left out)"
_FOLDER = re.compile(r"dataset/[^/]*EL[^/]*\.json(?:\.gz)?")
_ROWS_OF_GOLD = ("gold/gold.json", "gold/gold.json.gz")
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
    personal_entity_annotations: list[_Personal] | None = None
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
    rows = _rows_of_gold(source)
    found = list(_annotated([source], skipped) if rows is None else _replaced(rows, skipped))
    documents = (_document(dialogue, turn, _history(dialogue, turn), skipped) for dialogue, turn in found)
    return Corpus.built(documents, name=source.stem, skipped=skipped)


def _rows_of_gold(source: Bytes) -> Bytes | None:
    """The file of rows that is given or lies in the folder given, None for dialogues."""
    if not source.folder:
        return source if _ROWS.match(source.opening) else None
    return next((source.inside(name) for name in _ROWS_OF_GOLD if name in source.names), None)


def _replaced(source: Bytes, skipped: Counter[str]) -> Iterator[tuple[_Dialogue, _Turn]]:
    """The turns whose links were annotated, with the rows of a gold file as their annotations."""
    marked = dict(_marked(source))
    for dialogue, turn in _linked(_dialogues_of(source), skipped):
        rows = marked.pop(_Place(str(dialogue.dialogue_id), turn.turn_number), [])
        personal = {(one.personal_entity_mention, one.entity) for one in turn.personal_entity_annotations or ()}
        yield (
            dialogue,
            msgspec.structs.replace(
                turn,
                el_annotations=[mark for mark in rows if (mark.mention, mark.entity) not in personal],
                personal_entity_annotations=[
                    _Personal(mark.mention, mark.entity) for mark in rows if (mark.mention, mark.entity) in personal
                ],
                personal_entity_annotations_without_eems=[],
            ),
        )
    skipped[_NO_TURN] += sum(map(len, marked.values()))


def _annotated(sources: Sequence[Bytes], skipped: Counter[str]) -> Iterator[tuple[_Dialogue, _Turn]]:
    for source in sources:
        for dialogue in each_shaped(json_file(source), _Dialogue, source.label):
            for turn in _turns(dialogue):
                if turn.el_annotations is None and turn.personal_entity_annotations is None:
                    skipped["turns without annotation (they are context)"] += 1
                else:
                    yield dialogue, turn


def _linked(sources: Sequence[Bytes], skipped: Counter[str]) -> Iterator[tuple[_Dialogue, _Turn]]:
    """The turns whose links were annotated, not only their personal mentions; each once."""
    known: set[_Place] = set()
    for dialogue, turn in _annotated(sources, skipped):
        place = _Place(str(dialogue.dialogue_id), turn.turn_number)
        if turn.el_annotations is not None and place not in known:
            known.add(place)
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
    for personal in (turn.personal_entity_annotations or []) + turn.personal_entity_annotations_without_eems:
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
        skipped[DIFFERS] += text[mark.span[0] : mark.span[1]] != mark.mention
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
        for dialogue, turn in _linked(_dialogues_of(source), Counter())
    }
    replies, texts = [], []
    for place, marks in _marked(source).items():
        if place in gold:
            name, text = gold[place]
            replies.append(Reply(name, tuple(_answers(text, marks, skipped))))
            texts.append(text)
        else:
            skipped[_LEFT_OUT] += len(marks)
    return Run.built(replies, name=source.stem, skipped=skipped, texts=texts)


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
    for one in each_shaped(value, _Dialogue, source.label):
        for turn_of in _turns(one):
            found.setdefault(_Place(str(one.dialogue_id), turn_of.turn_number), []).extend(turn_of.el_tool_annotations)
    return found


def _dialogues_of(source: Bytes) -> list[Bytes]:
    """The files that hold the texts of a file of rows: the gold file beside it, or those of the published folder."""
    own = PurePath(source.given).name.split(".")[0]
    stems = [own[: match.start()] for match in re.finditer("-", own)] + ["gold"]
    for name in (f"{stem}.json{end}" for stem in reversed(stems) for end in ("", ".gz")):
        file = source.beside(name)
        if file.exists and not _ROWS.match(file.opening):
            return [file]
    dataset = source.above("dataset")
    names = dataset.names if dataset.folder else ()
    if dialogues := [dataset.inside(name) for name in names if _FOLDER.fullmatch(f"dataset/{name}")]:
        return dialogues
    raise InputError(
        source.label,
        found="answers without text or spans, and no gold file beside them",
        expected=f"the gold dialogues beside the run, as {' or '.join(f'{stem}.json' for stem in stems)}",
        remedy="Put the gold file of ConEL there, or the dialogues of ConEL-2022 into ../dataset",
    )


def _holds_gold(source: Bytes) -> bool:
    """Dialogues, the folder, or rows that are called gold."""
    if source.folder or b'"utterance"' in source.opening:
        return True
    return PurePath(source.given).name.split(".")[0] == "gold" and _ROWS.match(source.opening) is not None


def _recognises_folder(names: Sequence[str]) -> bool:
    return any(map(_FOLDER.fullmatch, names)) and any(name in names for name in _ROWS_OF_GOLD)


FORMAT = Format(
    title="ConEL JSON",
    suffix=".conel.json",
    signs=('"dialogue_id"', '"turns"'),
    recognises=lambda opening: bool(_DIALOGUES.match(opening) or _ROWS.match(opening)),
    recognises_folder=_recognises_folder,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    says="Conversations, turn by turn, also the folder of ConEL-2022; a run needs the gold file beside it.",
    sample=Sample(
        {
            "sample.json": '[{"dialogue_id": "a", "turns": [{"turn_number": 1, "speaker": "USER", "utterance": "Ada '
            'met", "el_annotations": [{"mention": "Ada", "entity": "Ada Lovelace", "span": [0, '
            "3]}]}]}]",
        },
        documents=1,
        mentions=1,
        given="sample.json",
    ),
)
