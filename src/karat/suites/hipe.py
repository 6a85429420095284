"""The official scores of HIPE-2022, recomputed from the gold tables and the submitted runs.

Every figure of every score file is compared: P, R and F1 with TP, FP and FN in micro rows, with their standard
deviations over documents in macro rows, for all types and each of them. A figure is equal if it is the same after
rounding to the three digits of the official files; an empty cell is a figure that is not defined. The names of systems
are not compared.

The relaxed figures are those of runs in which links were completed by historically related ones, of which the score
files here show none: they are compared as the others are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.data.load import load, load_run
from karat.errors import InputError, KaratError
from karat.evaluation.evaluation import evaluate
from karat.model.corpus import Corpus
from karat.model.result import Result
from karat.parsing.lines import lines
from karat.spec.suite import Conformance, Discrepancy, Suite, summed
from karat.storage.files import Source

_SCORES = re.compile(r"(?P<run>.+)_(?:nerc_coarse|nel|nel_relaxed)\.scores\.tsv")
_RUN = re.compile(r"[^_]+_bundle\d+_(?P<dataset>[a-z0-9]+)_(?P<language>[a-z]{2})_\d+")
_EVALUATION = re.compile(
    r"(?P<task>NE|NEL)(?:-COARSE)?-LIT-(?P<aggregate>micro|macro_doc)-(?P<bounds>strict|fuzzy)(?P<relaxed>-relaxed)?"
    r"-TIME-ALL-LED-ALL(?:-@(?P<first>\d+))?"
)
_RELATIONS = {"NE": "rt2kb/hipe-nerc", "NEL": "hipe-nel"}
_DEFINED = {"micro": ("P", "R", "F1", "TP", "FP", "FN"), "macro_doc": ("P", "R", "F1", "P_std", "R_std", "F1_std")}
_COUNTS = {"TP": "matched_answers", "FP": "unmatched_answers", "FN": "unmatched_gold"}
_MEASURES = {"P": "p", "R": "r", "F1": "f1", "P_std": "p-sd", "R_std": "r-sd", "F1_std": "f1-sd"}
_ALL = "ALL"
_DIGITS = 3


class _Figure(NamedTuple):
    """An official number and the name it has here; `kind` says to what it belongs."""

    where: str
    kind: str
    view: str
    group: str
    name: str
    value: float | None

    @property
    def measure(self) -> str | None:
        """The measure that gives it, None for a count."""
        if self.name in _COUNTS:
            return None
        short = f"{'micro' if 'micro' in self.kind else 'macro'}.{_MEASURES[self.name]}"
        return f"{self.view}:{short}" + ("" if self.group == _ALL else f"@types={self.group.lower()}")

    def own(self, result: Result) -> float | None:
        """The same number as Karat has it."""
        if self.measure is not None:
            value = result[self.measure]
            return None if value is None else round(value, _DIGITS)
        group = self.group.lower()
        counts = result.counts(self.view) if self.group == _ALL else result.by["types"][self.view][group].counts
        return float(getattr(counts, _COUNTS[self.name]))


def conform_hipe(folder: str) -> Conformance:
    """Compare every official figure of a folder with gold tables, submitted runs and score files."""
    source = Source(folder, links=True)  # whoever compares may lay a folder of links out
    runs: list[dict[str, tuple[int, int]]] = []
    differences: list[Discrepancy] = []
    notes: Counter[str] = Counter()
    golds: dict[str, Corpus] = {}
    for run, files in _score_files(source).items():
        gold_name, run_name = _gold_name(run, source.names), _named(source.names, rf"{re.escape(run)}\.tsv")
        if gold_name is None or run_name is None:
            notes[f"{run}: {'the gold table' if gold_name is None else 'the run'} is not there"] += 1
            continue
        figures = [figure for file in files for figure in _official(source.inside(file))]
        different = list(_compared(folder, gold_name, run_name, figures, golds))
        there, lost = Counter(one.kind for one in figures), Counter(one.group for one in different)
        runs.append({kind: (count, count - lost[kind]) for kind, count in sorted(there.items())})
        differences += different
    equal = sum(all(there == same for there, same in run.values()) for run in runs)
    return Conformance(len(runs), equal, summed(runs), tuple(differences), notes=notes)


def _score_files(source: Source) -> dict[str, list[str]]:
    """The files of official scores, by the run that they are of."""
    scores: dict[str, list[str]] = {}
    for name in source.names:
        if match := _SCORES.fullmatch(name):
            scores.setdefault(match["run"], []).append(name)
    if not scores:
        raise InputError(
            source.label,
            found="no file with official scores",
            expected="files such as team2_bundle1_ajmc_en_1_nel.scores.tsv beside their runs and gold tables",
            remedy="Give the folder that has them",
        )
    return scores


def _compared(
    folder: str, gold: str, run: str, figures: Sequence[_Figure], golds: dict[str, Corpus]
) -> Iterator[Discrepancy]:
    """The figures of a run that are not the official ones."""
    try:
        result = _result(folder, gold, run, figures, golds)
    except KaratError as problem:
        for one in figures:
            yield Discrepancy(one.where, one.kind, _shown(one), None, one.value, str(problem))
        return
    for one in figures:
        own = one.own(result)
        if own != one.value:
            yield Discrepancy(one.where, one.kind, _shown(one), own, one.value)


def _shown(figure: _Figure) -> str:
    return f"{figure.kind} {figure.group} {figure.name}"


def _gold_name(run: str, names: Sequence[str]) -> str | None:
    match = _RUN.fullmatch(run.rpartition("/")[2])
    return None if match is None else _named(names, rf"HIPE-2022-v.*-{match['dataset']}-test-{match['language']}\.tsv")


def _named(names: Sequence[str], pattern: str) -> str | None:
    """The last file of some name, compressed or not: of several releases the newest."""
    found = [name for name in names if re.fullmatch(rf"{pattern}(\.gz|\.zst)?", name)]
    return max(found, default=None)


def _result(folder: str, gold: str, run: str, figures: Sequence[_Figure], golds: dict[str, Corpus]) -> Result:
    if gold not in golds:
        golds[gold] = load(f"{folder}/{gold}", format="hipe")
    measures = [one.measure or f"{one.view}:micro.f1" for one in figures]
    grouped = [f"{one.view}:micro.f1@types={one.group.lower()}" for one in figures if one.group != _ALL]
    return evaluate(
        golds[gold],
        load_run(f"{folder}/{run}", corpus=golds[gold], format="hipe"),
        like="hipe",
        measures=list(dict.fromkeys([*measures, *grouped])),
    )


def _official(source: Source) -> Iterator[_Figure]:
    """The figures of a score file."""
    head, *rows = lines(source)
    names = head.text.split("\t")
    for row in rows:
        cells = dict(zip(names, row.text.split("\t"), strict=False))
        match = _EVALUATION.fullmatch(cells.get("Evaluation", ""))
        if match is None:
            raise InputError(
                f"{source.label}:{row.number}",
                found=f"the evaluation {cells.get('Evaluation')!r}",
                expected="such as NE-COARSE-LIT-micro-strict-TIME-ALL-LED-ALL",
                remedy="Give score files of HIPE-2022",
            )
        first = "" if match["first"] in (None, "1") else f"-{match['first']}"
        view = f"{_RELATIONS[match['task']]}-{match['bounds']}{first}"
        kind = cells["Evaluation"].replace("-TIME-ALL-LED-ALL", "")
        for name in _DEFINED[match["aggregate"]]:
            value = cells.get(name)
            yield _Figure(source.stem, kind, view, cells["Label"], name, float(value) if value else None)


SUITE = Suite(
    title="HIPE-2022",
    says="The official scores of HIPE-2022: NERC with coarse types and NEL, strict and fuzzy, micro and macro, for all "
    "types and each of them. PATH is a folder with the gold tables, the submitted runs and the official score files.",
    run=lambda path, kb: conform_hipe(path),
    experiments="runs",
    expected="official",
)
