"""Suite that recomputes the official scores of HIPE-2022 from the gold tables and the submitted runs.

Every figure of every score file is compared, for all types and each type: P, R and F1 with TP, FP and FN in micro rows,
and with their standard deviations over documents in macro rows. Figures are equal if they are the same after rounding
to the three digits of the official files; an empty cell is an undefined figure. The names of systems are not compared.

Relaxed figures belong to runs whose links were completed by historically related ones, which the score files do not
show. They are compared like the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.data.load import load, load_run
from karat.evaluation.evaluation import score_run
from karat.formats.parsing.lines import read_lines
from karat.model.corpus import Corpus
from karat.model.errors import InputError, KaratError
from karat.model.results.result import Result
from karat.model.spec.suite import Discrepancy, Reproduction, Suite, count_groups
from karat.storage.files import Source

_SCORES = re.compile(r"(?P<run>.+)_(?:nerc_coarse|nel|nel_relaxed)\.scores\.tsv")
_RUN = re.compile(r"[^_]+_bundle\d+_(?P<dataset>[a-z0-9]+)_(?P<language>[a-z]{2})_\d+")
_EVALUATION = re.compile(
    r"(?P<task>NE|NEL)(?:-COARSE)?-LIT-(?P<aggregate>micro|macro_doc)-(?P<bounds>strict|fuzzy)(?P<relaxed>-relaxed)?"
    r"-TIME-ALL-LED-ALL(?:-@(?P<first>\d+))?"
)
_RELATIONS = {"NE": "rt2kb/hipe-nerc", "NEL": "hipe-nel"}
_DEFINED = {"micro": ("P", "R", "F1", "TP", "FP", "FN"), "macro_doc": ("P", "R", "F1", "P_std", "R_std", "F1_std")}
_COUNTS = {"TP": "matched_predictions", "FP": "unmatched_predictions", "FN": "unmatched_gold"}
_MEASURES = {"P": "p", "R": "r", "F1": "f1", "P_std": "p-sd", "R_std": "r-sd", "F1_std": "f1-sd"}
_ALL = "ALL"
_DIGITS = 3


class _Figure(NamedTuple):
    """A cell of an official score file: run, kind of evaluation, Karat's view, type of entity, column and value."""

    experiment: str
    kind: str
    view: str
    group: str
    name: str
    value: float | None

    @property
    def measure(self) -> str | None:
        """Full name of Karat's measure for this figure; None for a count (TP, FP, FN)."""
        if self.name in _COUNTS:
            return None
        short = f"{'micro' if 'micro' in self.kind else 'macro'}.{_MEASURES[self.name]}"
        return f"{self.view}:{short}" + ("" if self.group == _ALL else f"@types={self.group.lower()}")

    def compute(self, result: Result) -> float | None:
        """Return Karat's value of this figure, rounded to three digits; None if undefined."""
        if self.measure is not None:
            value = result[self.measure]
            return None if value is None else round(value, _DIGITS)
        group = self.group.lower()
        counts = result.counts(self.view) if self.group == _ALL else result.groups["types"][self.view][group].counts
        return float(getattr(counts, _COUNTS[self.name]))


def reproduce_hipe(folder: str) -> Reproduction:
    """Recompute and compare every official figure of a folder with gold tables, submitted runs and score files.

    A run without gold table or run file is skipped and named in the notes.
    """
    source = Source(folder, trust_links=True)  # the folder may contain symbolic links
    runs: list[dict[str, tuple[int, int]]] = []
    differences: list[Discrepancy] = []
    notes: Counter[str] = Counter()
    loaded_golds: dict[str, Corpus] = {}
    for run, files in _find_score_files(source).items():
        gold_name, run_name = (
            _find_gold_file(run, source.file_names),
            _find_file(source.file_names, rf"{re.escape(run)}\.tsv"),
        )
        if gold_name is None or run_name is None:
            notes[f"{run}: {'the gold table' if gold_name is None else 'the run'} is missing"] += 1
            continue
        figures = [figure for file in files for figure in _read_figures(source.get_child(file))]
        run_differences = list(_compare_figures(folder, gold_name, run_name, figures, loaded_golds))
        n_figures, n_different = Counter(f.kind for f in figures), Counter(f.group for f in run_differences)
        runs.append({kind: (count, count - n_different[kind]) for kind, count in sorted(n_figures.items())})
        differences += run_differences
    equal = sum(all(n_figures == n_same for n_figures, n_same in run.values()) for run in runs)
    return Reproduction(len(runs), equal, count_groups(runs), tuple(differences), notes=notes)


def _find_score_files(source: Source) -> dict[str, list[str]]:
    """Return the names of the score files by name of the run; raise `InputError` if there are none."""
    scores: dict[str, list[str]] = {}
    for name in source.file_names:
        if match := _SCORES.fullmatch(name):
            scores.setdefault(match["run"], []).append(name)
    if not scores:
        raise InputError(
            source.label,
            actual="no file with official scores",
            expected="files such as team2_bundle1_ajmc_en_1_nel.scores.tsv next to their runs and gold tables",
            remedy="Pass the folder that has them",
        )
    return scores


def _compare_figures(
    folder: str, gold: str, run: str, figures: Sequence[_Figure], loaded_golds: dict[str, Corpus]
) -> Iterator[Discrepancy]:
    """Yield the figures of a run that differ from the official ones; all of them if the run cannot be evaluated.

    `gold` and `run` are file names in `folder`. `loaded_golds` caches loaded gold tables by file name.
    """
    try:
        result = _evaluate_run(folder, gold, run, figures, loaded_golds)
    except KaratError as problem:
        for figure in figures:
            yield Discrepancy(figure.experiment, figure.kind, _figure_name(figure), None, figure.value, str(problem))
        return
    for figure in figures:
        value = figure.compute(result)
        if value != figure.value:
            yield Discrepancy(figure.experiment, figure.kind, _figure_name(figure), value, figure.value)


def _figure_name(figure: _Figure) -> str:
    """Return the name of a figure in reports: evaluation, type of entity and column."""
    return f"{figure.kind} {figure.group} {figure.name}"


def _find_gold_file(run: str, names: Sequence[str]) -> str | None:
    """Return the file name of the gold table for the dataset and language in a run's name; None if missing."""
    match = _RUN.fullmatch(run.rpartition("/")[2])
    return (
        None if match is None else _find_file(names, rf"HIPE-2022-v.*-{match['dataset']}-test-{match['language']}\.tsv")
    )


def _find_file(names: Sequence[str], pattern: str) -> str | None:
    """Return the file whose name matches a pattern, plain or compressed; None if missing.

    Of several releases the alphabetically last is taken, which is the newest.
    """
    matches = [name for name in names if re.fullmatch(rf"{pattern}(\.gz|\.zst)?", name)]
    return max(matches, default=None)


def _evaluate_run(
    folder: str, gold: str, run: str, figures: Sequence[_Figure], loaded_golds: dict[str, Corpus]
) -> Result:
    """Evaluate a run with all measures of `figures`; load the gold table into `loaded_golds` unless it is there."""
    if gold not in loaded_golds:
        loaded_golds[gold] = load(f"{folder}/{gold}", format="hipe")
    measures = [figure.measure or f"{figure.view}:micro.f1" for figure in figures]
    grouped = [f"{figure.view}:micro.f1@types={figure.group.lower()}" for figure in figures if figure.group != _ALL]
    return score_run(
        loaded_golds[gold],
        load_run(f"{folder}/{run}", corpus=loaded_golds[gold], format="hipe"),
        profile="hipe",
        measures=list(dict.fromkeys([*measures, *grouped])),
    )


def _read_figures(source: Source) -> Iterator[_Figure]:
    """Yield every figure of a score file; None as value for an empty cell.

    Raise `InputError` for an unknown kind of evaluation.
    """
    head, *rows = read_lines(source)
    names = head.text.split("\t")
    for row in rows:
        cells = dict(zip(names, row.text.split("\t"), strict=False))
        match = _EVALUATION.fullmatch(cells.get("Evaluation", ""))
        if match is None:
            raise InputError(
                f"{source.label}:{row.number}",
                actual=f"the evaluation {cells.get('Evaluation')!r}",
                expected="such as NE-COARSE-LIT-micro-strict-TIME-ALL-LED-ALL",
                remedy="Pass score files of HIPE-2022",
            )
        first = "" if match["first"] in (None, "1") else f"-{match['first']}"
        view = f"{_RELATIONS[match['task']]}-{match['bounds']}{first}"
        kind = cells["Evaluation"].replace("-TIME-ALL-LED-ALL", "")
        for name in _DEFINED[match["aggregate"]]:
            value = cells.get(name)
            yield _Figure(source.stem, kind, view, cells["Label"], name, float(value) if value else None)


SUITE = Suite(
    title="HIPE-2022",
    description="The official scores of HIPE-2022: NERC with coarse types and NEL, strict and fuzzy, micro and macro, "
    "for all types and each type. Data: a folder with the gold tables, the submitted runs and the score files.",
    run=lambda path, kb: reproduce_hipe(path),
    experiment_noun="runs",
    expected_noun="official",
    data_path="formats/hipe",
)
