"""Control tasks, which test judges: real tasks in which one link has a plausible wrong entity."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Final

import msgspec

from karat.kb.ids.normalising_kb import wrap_kb
from karat.kb.protocol import KB
from karat.kb.snapshot.snapshot import Snapshot
from karat.matching.read.read_options import ReadOptions, canonical_ids
from karat.model.errors import InputError
from karat.model.spec.settings.conventions import Ids
from karat.protocols.verification.campaign import CONTROL_SOURCE, JudgingTask, TaskLink
from karat.protocols.verification.judgements import Decision

_MAX_TESTED: Final = 3  # links of a control whose correct decision is known
_MAX_CONTROLS: Final = 50  # control tasks of a campaign: a judge sees one or two of them
_MAX_MATCHES: Final = 10  # entities of a knowledge base that are considered for one name
_WORD: Final = re.compile(r"\w{3,}")  # shorter words, such as "of", make no two names alike


def build_controls(
    tasks: Sequence[JudgingTask],
    n_sources: int,
    random: Random,
    kb: KB | None = None,
    *,
    only_tested: bool = False,
) -> list[JudgingTask]:
    """Build control tasks: copies of tasks in which one link that all sources share gets a plausible wrong entity.

    A copy has all links of its task, so that its length does not give it away. With `only_tested` it has the tested
    ones, because the judges' tasks show only some links too. Three of them are tested, or two if no
    more are shared: a judge passes by modifying or removing the wrong one and verifying the others. `random` selects
    at most 50 tasks from the passages in which each of the `n_sources` sources has links, and the tested links. With
    one source no links are shared, so there are no controls. Passages without a plausible wrong entity (see
    `_Confusions`) have none either.
    """
    by_passage: dict[tuple[str, int], list[JudgingTask]] = {}
    entities_by_document: dict[str, set[str]] = defaultdict(set)
    for task in tasks:
        by_passage.setdefault((task.document, task.start), []).append(task)
        entities_by_document[task.document].update(link.entity for link in task.links)
    passages = [group for group in by_passage.values() if len(group) == n_sources > 1]
    random.shuffle(passages)
    confusions, controls = _Confusions(tasks, kb), []
    for passage_tasks in passages:
        task = random.choice(passage_tasks)
        control = _build_control(task, passage_tasks, entities_by_document[task.document], confusions, random)
        if control is not None and only_tested:
            tested = tuple(link for link in control.links if link.correct)
            control = msgspec.structs.replace(control, links=tested)
        if control is not None:
            controls.append(control)
        if len(controls) == _MAX_CONTROLS:
            break
    return controls


def _build_control(
    task: JudgingTask,
    passage_tasks: Sequence[JudgingTask],
    document_entities: set[str],
    confusions: _Confusions,
    random: Random,
) -> JudgingTask | None:
    """Return a control that looks like `task`; None if fewer than two links are shared or no wrong entity is plausible.

    `passage_tasks` are the tasks of all sources on this passage. `document_entities` are not used as wrong entities.
    """
    shared = sorted(set.intersection(*(set(other.links) for other in passage_tasks)), key=lambda link: link.start)
    if len(shared) < 2:
        return None
    random.shuffle(shared)
    for link in shared:
        entities = confusions.find(link.entity, task.surface(link), document_entities)
        if not entities:
            continue
        tested = [other for other in shared if other != link][: _MAX_TESTED - 1]
        links = {
            **{other: msgspec.structs.replace(other, correct=(Decision.VERIFY,)) for other in tested},
            link: TaskLink(link.start, link.end, random.choice(entities), (Decision.MODIFY, Decision.REMOVE)),
        }
        return msgspec.structs.replace(
            task, source=CONTROL_SOURCE, links=tuple(links.get(other, other) for other in task.links)
        )
    return None


class _Confusions:
    """Entities that could be confused with another one: those with a near name, or else those of the same type."""

    def __init__(self, tasks: Sequence[JudgingTask], kb: KB | None) -> None:
        """Index the entities of all links in `tasks` by the words of their names and, with `kb`, by their types."""
        self._kb = None if kb is None else wrap_kb(kb, Ids.NORMALISED)
        self._index = kb.name_index if isinstance(kb, Snapshot) else None
        names: dict[str, set[str]] = defaultdict(set)
        for task in tasks:
            for link in task.links:
                names[link.entity].add(task.surface(link))
        entities = sorted(names)
        self._types: dict[str, frozenset[str]] = {}
        if self._kb is not None:
            self._types = {
                id: types or frozenset() for id, types in zip(entities, self._kb.types(entities), strict=True)
            }
            for entity, name in zip(entities, self._kb.names(entities), strict=True):
                names[entity].update([] if name is None else [name])
        self._by_word, self._by_type = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
        for entity in entities:
            for word in _list_words(names[entity]):
                self._by_word[word].add(entity)
            for type_id in self._types.get(entity, ()):
                self._by_type[type_id].add(entity)
        self._names: Mapping[str, set[str]] = names

    def find(self, entity: str, surface: str, excluded: set[str]) -> list[str]:
        """Return the entities, sorted by id, with which a mention of `entity` with this `surface` could be confused.

        Entities with a near name come from the knowledge base and from the links of all tasks. Without any, entities of
        the same type are returned, of the rarest type that has some. `excluded` entities are never returned.
        """
        near = self._find_in_kb(surface).union(*(self._by_word[word] for word in _list_words(self._names[entity])))
        groups = [
            near,
            *sorted((self._by_type[id] for id in self._types.get(entity, ())), key=lambda group: len(group)),
        ]
        candidates = (sorted(group - excluded - {entity}) for group in groups)
        return next(filter(None, candidates), [])

    def _find_in_kb(self, surface: str) -> set[str]:
        """Return the entities of the knowledge base that this surface may name, with at most one typo."""
        if self._kb is None:
            return set()
        ids = [*(self._kb.popular_entities([surface])[0] or ())]
        if self._index is not None:
            ids += [match.id for match in self._index.find_similar(surface, _MAX_MATCHES)]
        return set(canonical_ids(ids, ReadOptions(kb=self._kb, ids=Ids.NORMALISED)))


def _list_words(names: Iterable[str]) -> set[str]:
    """Return all words of some names, in lower case and without words of one or two letters."""
    return {word for name in names for word in _WORD.findall(name.casefold())}


def parse_controls(label: str, lines: Iterable[Mapping[str, object]]) -> list[JudgingTask]:
    """Build control tasks from JSON objects, each with a text and links with their correct decisions.

    `label` names the file in errors. Raise `InputError` for an object that is no control task.
    """
    controls = []
    for number, line in enumerate(lines, 1):
        try:
            task = msgspec.convert(
                {"number": 0, "document": "control", "start": 0, "source": CONTROL_SOURCE, **line}, JudgingTask
            )
        except msgspec.ValidationError as problem:
            raise InputError(
                f"{label}:{number}",
                actual=str(problem),
                expected='{"text": "…", "links": [{"start": 0, "end": 6, "entity": "Q64", "correct": ["verify"]}, …]}',
                remedy="Correct the line",
            ) from None
        defect = _find_defect(task)
        if defect is not None:
            raise InputError(
                f"{label}:{number}",
                actual=defect,
                expected="links inside the text, each with its correct decisions",
                remedy="Correct the line",
            )
        controls.append(task)
    return controls


def _find_defect(task: JudgingTask) -> str | None:
    """Return why a task from a file is no control; None if it is one."""
    if task.start:
        return f"a text that starts at {task.start}, not at 0"
    if not task.links:
        return "no link"
    for index, link in enumerate(task.links):
        if not task.start <= link.start < link.end <= task.end:
            return f"the span [{link.start}, {link.end}) of links[{index}], but a text of {task.end:,} characters"
        if not link.correct:
            return f"no correct decision in links[{index}]"
    return None
