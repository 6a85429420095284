"""ELEVANT's published evaluations, recomputed from the files that they were computed from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from karat.data.load import load_both
from karat.errors import InputError
from karat.evaluation.cases.errors import categories
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.result import Result
from karat.model.run import Run
from karat.parsing.elevant.beside import CASES, METADATA, RESULTS, stem_of
from karat.registry import get
from karat.reports.elevant.cases import EVAL_TYPES, MENTION_TYPE_NAMES, ElevantCases
from karat.reports.elevant.cases import cases as cases_of
from karat.reports.elevant.layout import MODES, layout
from karat.reports.elevant.names import NAMES
from karat.spec.report import Report
from karat.spec.suite import Conformance, Discrepancy, Suite, summed
from karat.storage.files import Source
from karat.work import shared_work

_SUFFIXES = ("", ".gz", ".zst")
_NEW_RULE = "2025/01/16"  # from when on false detection of coreference is counted among coreference only
_RULE, _OLDER = "false-coreference", "pronouns"
_MASKED = re.compile(r"[xX0]+|\*+")
_NO_SPACY, _MASK = "no tokenizer (spaCy)", "masked text"
_FACTS = "facts that the knowledge base lacks"
_CASES, _LABELS = "cases", "error labels"
_FORMAT = "elevant-linked"
_SAMPLE = 20  # texts that tell whether all are masked

_NOTHING = "nothing"  # what is said of a figure that one side does not have

_Path: TypeAlias = tuple[str, ...]

Seen: TypeAlias = tuple[object, ...]
"""What is compared of a case: span, factor, how linking and detection ended in both modes, whether it is optional, its
mention type and its prediction."""

Named: TypeAlias = tuple[tuple[str, ...], ...]
"""The error labels of a case, mode by mode."""

_NO_CASE: tuple[Seen, Named] = ((), ((),) * len(MODES))


_Counts: TypeAlias = dict[str, tuple[int, int]]
"""How many figures of each group were compared, and how many are equal."""


class _Pair(NamedTuple):
    """A linker on a benchmark: its articles, and ELEVANT's files about them."""

    name: str
    linked: str
    results: str
    cases: str | None
    metadata: str | None


def conform_elevant(folder: str, kb: str | None = None) -> Conformance:
    """Compare every figure, and every case where there are cases."""
    source = Source(folder, links=True)  # whoever compares may lay a folder of links out
    if kb is None and source.inside("kb").folder:
        kb = source.inside("kb").given
    notes: Counter[str] = Counter()
    if kb is None:
        notes["no knowledge base was given: names, types and popular entities are not known"] += 1
    pairs = _pairs(source, notes)
    try:
        by_pair = dict(each for some in shared_work(_compare_all, _shares(pairs, kb)) for each in some)
    finally:
        _request.cache_clear()  # the next one may find other tables there
    found = [by_pair[pair.linked] for pair in pairs]
    for pair in found:
        notes.update(pair.notes)
    return Conformance(
        experiments=len(found),
        equal_experiments=sum(not pair.differences for pair in found),
        groups=summed(pair.figures for pair in found),
        beside=summed(pair.cases for pair in found),
        differences=tuple(difference for pair in found for difference in pair.differences),
        notes=notes,
    )


def _pairs(source: Source, notes: Counter[str]) -> list[_Pair]:
    names = set(source.names) if source.folder else set()
    pairs = []
    for name in sorted(names):
        stem = stem_of(name)
        if stem is None:
            continue
        results = _beside(names, f"{stem}.{RESULTS}")
        if results is None:
            notes["files of linked articles without eval_results.json beside them (left out)"] += 1
            continue
        further = [_beside(names, f"{stem}.{kind}") for kind in (CASES, METADATA)]
        paths = [None if path is None else source.inside(path).given for path in (name, results, *further)]
        pairs.append(_Pair(stem.rpartition("/")[2], *paths))  # type: ignore[arg-type]  # the first two are there
    if not pairs:
        raise InputError(
            source.label,
            found="no linked articles with eval_results.json beside them",
            expected="results/LINKER/NAME.linked_articles.jsonl[.gz] and NAME.eval_results.json",
            remedy="Give ELEVANT's folder of results, or the folder that holds it",
        )
    return pairs


def _beside(names: set[str], name: str) -> str | None:
    return next((name + suffix for suffix in _SUFFIXES if name + suffix in names), None)


class _Found(NamedTuple):
    """What was compared of a pair, what differs, and what else there is to say."""

    figures: _Counts
    cases: _Counts
    differences: list[Discrepancy]
    notes: list[str]


class _Share(NamedTuple):
    """Pairs that one process compares, as a rule all linkers on one benchmark."""

    pairs: tuple[_Pair, ...]
    kb: str | None


def _shares(pairs: Sequence[_Pair], kb: str | None) -> list[_Share]:
    """The pairs by benchmark, which is what stands behind the first dot; those with the largest files first."""
    benchmarks: dict[str, list[_Pair]] = {}
    for pair in pairs:
        benchmarks.setdefault(pair.name.partition(".")[2], []).append(pair)
    sizes = {name: sum(Path(pair.linked).stat().st_size for pair in own) for name, own in benchmarks.items()}
    return [_Share(tuple(benchmarks[name]), kb) for name in sorted(benchmarks, key=sizes.__getitem__, reverse=True)]


def _compare_all(share: _Share) -> list[tuple[str, _Found]]:
    """What was found of each pair, by its articles; facts about a benchmark are found once."""
    gold: Corpus | None = None
    first: Evaluation | None = None
    found = []
    for pair in share.pairs:
        corpus, [run] = load_both(pair.linked, [pair.linked], gold_format=_FORMAT, answers_format=_FORMAT)
        if gold is None or gold.digest != corpus.digest:
            gold, first = corpus, None
        rule, notes = _rule(pair)
        evaluation = Evaluation.of(_request(share.kb, rule), gold, run, beside=first)
        first = first or evaluation
        found.append((pair.linked, _compare(pair, evaluation, notes)))
    return found


@cache
def _request(kb: str | None, rule: str) -> Request:
    """What is asked under a rule; both rules ask the same knowledge base, which a process opens once."""
    if rule != _OLDER:
        return _request(kb, _OLDER).but(choices={_RULE: rule})
    needs = get("reports", "elevant", Report)
    return Request.of(like="elevant", measures=needs.measures, by=needs.by, kb=kb, choices={_RULE: rule})


def _compare(pair: _Pair, evaluation: Evaluation, notes: list[str]) -> _Found:
    result, sides = evaluation.result, evaluation.sides
    differences: list[Discrepancy] = []
    why = _Why(sides.corpus, sides.given, result, evaluation.request.kb)
    figures = _figures(pair, layout(result), why, differences)
    cases = {} if pair.cases is None else _cases(pair, cases_of(result), differences)
    return _Found(figures, cases, differences, notes)


def _rule(pair: _Pair) -> tuple[str, list[str]]:
    """How false detection of coreference was counted when the pair was evaluated, and what is to be said of it."""
    if pair.metadata is None:
        return _OLDER, ["pairs without metadata.json, taken as older: false-coreference=pronouns"]
    stamp = str(_decoded(pair.metadata, dict[str, Any]).get("timestamp", ""))
    if stamp < _NEW_RULE:
        return _OLDER, []
    return "coreference", [f"pairs from {_NEW_RULE} on, by their metadata.json: false-coreference=coreference"]


def _decoded(path: str, kind: Any) -> Any:  # noqa: ANN401  # as `kind` says
    source = Source(path)
    try:
        return msgspec.json.decode(source.data(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise _damaged(source, problem) from None


def _damaged(source: Source, problem: Exception) -> InputError:
    return InputError(
        source.label,
        found=f"no file of ELEVANT's ({problem})",
        expected="the file as ELEVANT wrote it",
        remedy="Fetch it again, or delete it",
    )


def _paired(found: object, expected: object, path: _Path, into: list[tuple[_Path, object, object]]) -> None:
    """Every figure on both sides, by the names that lead to it."""
    if not (isinstance(found, dict) or isinstance(expected, dict)):
        into.append((path, found, expected))
        return
    one, other = (side if isinstance(side, dict) else {} for side in (found, expected))
    for name in other if one.keys() == other.keys() else {**other, **one}:
        _paired(one.get(name, _NOTHING), other.get(name, _NOTHING), (*path, name), into)


@cache
def _group(path: _Path) -> str:
    """The group of a figure: the path without its mode, down to the mention type or the error category."""
    section, names = path[1:2], path[2:]
    if section == ("error_categories",):
        return ".".join(names[:1] if names[:1] == ("ner",) else names[:2])
    return ".".join(names[:1] if section == ("mention_types",) else section)


def _figures(pair: _Pair, found: Mapping[str, Any], why: _Why, differences: list[Discrepancy]) -> _Counts:
    """How many figures of each group there are, and how many are equal."""
    figures: list[tuple[_Path, object, object]] = []
    _paired(found, _decoded(pair.results, dict[str, Any]), (), figures)
    compared: Counter[str] = Counter()
    unequal: Counter[str] = Counter()
    for path, one, other in figures:
        group = _group(path)
        compared[group] += 1
        if one != other:
            unequal[group] += 1
            differences.append(Discrepancy(pair.name, group, ".".join(path), one, other, why.of(path, one, other)))
    return {group: (count, count - unequal[group]) for group, count in compared.items()}


@dataclass(frozen=True)
class _Why:
    """What may make the figures of a pair differ that no rule can help."""

    corpus: Corpus
    run: Run
    result: Result
    kb: KB | None

    def of(self, path: Sequence[str], found: object, expected: object) -> str | None:
        """What is missing for a figure, as far as that can be told."""
        mode, section, key = (*path, "", "", "")[:3]
        both_whole = isinstance(found, int) and isinstance(expected, int)
        gap = abs(found - expected) if both_whole else 1  # type: ignore[operator]  # as just asked
        if section == "error_categories" and path[-1] == "total" and self._counts_words(path[2:4]):
            return _NO_SPACY if found is None else _MASK if self._masked else None
        if section == "mention_types":
            return _FACTS if key in ("entity_named", "entity_non_named") and self._nameless >= gap else None
        if section == "entity_types":
            return _FACTS if self._typeless >= gap else None
        if key == "wrong_disambiguation":
            return _FACTS if self._undecided(mode) >= gap else None
        return None

    def _counts_words(self, place: Sequence[str]) -> bool:
        return any(theirs[:2] == tuple(place) and categories()[name].words for name, theirs in NAMES.items())

    def _undecided(self, mode: str) -> int:
        groups = self.result.by["error"][f"strong{MODES[mode]}"]
        return sum(group.undecided for group in groups.values())

    @cached_property
    def _nameless(self) -> int:
        return self._without([None] * len(self._ids) if self.kb is None else self.kb.names(self._ids))

    @cached_property
    def _typeless(self) -> int:
        return self._without([None] * len(self._ids) if self.kb is None else self.kb.types(self._ids))

    @property
    def _ids(self) -> list[str]:
        ids: list[str] = self.run.answers.names.to_pylist()
        return ids

    def _without(self, facts: Sequence[object]) -> int:
        """How many answers have an entity without this fact; no types may mean that nobody noted them."""
        unknown = np.array([*(not fact for fact in facts), False, False])
        return int(unknown[self.run.answers.entity].sum())

    @cached_property
    def _masked(self) -> bool:
        """Whether many words of the texts are only their shapes."""
        texts = self.corpus.table.column("text").slice(0, _SAMPLE).to_pylist()
        words = [word for text in texts for word in text.split()]
        return 4 * sum(_MASKED.fullmatch(word) is not None for word in words) > len(words)


class _Entity(msgspec.Struct, gc=False):
    """What a case says of the entity that was predicted."""

    entity_id: str | None = None


class _Case(msgspec.Struct, gc=False):
    """What is compared of a case in ELEVANT's file; what says the same of many cases is decoded once."""

    span: tuple[int, int]
    factor: int
    linking_eval_types: msgspec.Raw
    ner_eval_types: msgspec.Raw
    optional: bool
    mention_type: str
    error_labels: msgspec.Raw
    predicted_entity: _Entity | None = None


def _cases(pair: _Pair, cases: ElevantCases, differences: list[Discrepancy]) -> _Counts:
    """How many cases were compared and are equal; error labels apart, in both modes together."""
    count = len(cases.facts.pairing.corpus)
    first = np.searchsorted(cases.document, np.arange(count + 1)).tolist()
    labels = zip(*(cases.labels[mode] for mode in MODES), strict=True)
    own = list(zip(_seen(cases), labels, strict=True))
    ours: list[list[tuple[Seen, Named]]] = [own[first[place] : first[place + 1]] for place in range(count)]
    documents = zip_longest(ours, _expected(str(pair.cases)), fillvalue=list[tuple[Seen, Named]]())
    compared = equal = alike = 0
    for document, (found, wanted) in enumerate(documents):
        compared += max(len(found), len(wanted))
        if found == wanted:
            equal, alike = equal + len(found), alike + len(found)
            continue
        for place, (one, other) in enumerate(zip_longest(found, wanted, fillvalue=_NO_CASE)):
            where = f"document {document + 1}, case {place + 1}"
            equal += one[0] == other[0]
            alike += one[1] == other[1]
            if one[0] != other[0]:
                differences.append(Discrepancy(pair.name, _CASES, where, one[0], other[0], None))
            elif one[1] != other[1]:
                why = _FACTS if cases.lacks_facts(first[document] + place) else None
                differences.append(Discrepancy(pair.name, _LABELS, where, *_apart(one[1], other[1]), why))
    return {_CASES: (compared, equal), _LABELS: (compared, alike)}


def _apart(one: Named, other: Named) -> tuple[str, str]:
    """The labels that only one side has, mode by mode."""
    sides = ((one, other), (other, one))
    own, expected = (
        "; ".join(
            f"{mode} {' '.join(sorted(set(these) - set(those))) or 'none'}"
            for mode, these, those in zip(MODES, left, right, strict=True)
            if these != those
        )
        for left, right in sides
    )
    return own, expected


def _seen(cases: ElevantCases) -> Iterator[Seen]:
    """What is compared of each case."""
    stages = [
        [EVAL_TYPES[outcome] for outcome in stage[mode].tolist()]
        for stage in (cases.linking, cases.detection)
        for mode in MODES
    ]
    return zip(
        zip(cases.start.tolist(), cases.end.tolist(), strict=True),
        cases.factor.tolist(),
        *stages,
        cases.optional.tolist(),
        [MENTION_TYPE_NAMES[kind] for kind in cases.mention_type.tolist()],
        cases.predicted(),
        strict=True,
    )


def _expected(path: str) -> list[list[tuple[Seen, Named]]]:
    """The same of the cases in ELEVANT's file, for each document."""
    source = Source(path)
    try:
        lines = msgspec.json.Decoder(list[_Case]).decode_lines(source.data())
        return [[(_of(case), _of_modes(bytes(case.error_labels))) for case in line] for line in lines]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise _damaged(source, problem) from None


def _of(case: _Case) -> Seen:
    entity = case.predicted_entity
    id = None if entity is None else entity.entity_id or ""
    return (
        case.span,
        case.factor,
        *_of_modes(bytes(case.linking_eval_types)),
        *_of_modes(bytes(case.ner_eval_types)),
        case.optional,
        case.mention_type,
        id,
    )


@lru_cache(maxsize=100_000)
def _of_modes(data: bytes) -> Named:
    """What holds in each mode."""
    said = msgspec.json.decode(data, type=dict[str, tuple[str, ...]])
    return tuple(said.get(mode, ()) for mode in MODES)


SUITE = Suite(
    title="ELEVANT",
    says="ELEVANT's published evaluations. PATH is a folder with linked articles, at any depth, and beside each file "
    "NAME.eval_results.json and, where it is there, NAME.eval_cases.jsonl. Without --kb, PATH/kb is taken.",
    run=conform_elevant,
    takes_kb=True,
    experiments="pairs",
)
