"""Tables 5 to 12 and Figures 4 to 6 of the BAT paper.

The published values need the lost outputs of the systems, so each table also has the scores of the systems at hand.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np

from karat.analysis.comparison.similarity import Similarity, compute_similarity, request_similarity
from karat.analysis.curves.threshold import compute_threshold_curve
from karat.data.near_misses import STEPS, NearMisses, find_near_misses
from karat.evaluation.evaluation import Evaluation
from karat.kb.catalogue import open_starter
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.protocols.suites.bat_2013.commands import compare_outputs, create_files, draw_curve, score, show_near_misses
from karat.protocols.suites.bat_2013.corpora import AIDA_LABELS, SOURCES, UPDATED, UPDATED_MSNBC
from karat.protocols.suites.bat_2013.published_tables import TABLE_9, TABLE_12
from karat.protocols.suites.bat_2013.runs import (
    ELEVANT_FILES,
    METHODS,
    SYSTEMS,
    SystemOutput,
    SystemOutputs,
    create_request,
)
from karat.systems.claims.bat_2013 import RELATIONS, SCORE_TABLES, TABLE_5, read_cells, read_header, read_numbers

OUTPUT_CACHE: Final = "benchmark/cache/results.cache"
"""BAT's file of the outputs and runtimes of all systems, which was never published."""

NO_METHOD: Final = "–"
"""The entry of a system that implements no method of an annotator of the paper."""

LOST_OUTPUTS: Final = Explanation(
    "data missing",
    "the outputs and runtimes of the paper's systems were never published",
    missing_file=OUTPUT_CACHE,
)
"""The explanation of a published value that needs the outputs of the paper's systems."""

AIDA: Final = "AIDA/CONLL"
_SCORE_COLUMNS: Final = ("Dataset", "System", "method of", "Best t", "F1_mic", "P_mic", "R_mic", "F1_mic of original")
_TIME_DATASETS: Final = ("Meij", AIDA, "AQUAINT", "MSNBC", "IITB")
_TITLES: Final = {
    "Table 5": "Scores by weak annotation match on the news datasets",
    "Table 6": "Scores by strong annotation match on AIDA/CONLL",
    "Table 7": "Scores by weak mention match on AIDA/CONLL",
    "Table 8": "Scores by entity match on AIDA/CONLL",
    "Table 10": "Scores by tag match on Meij",
    "Table 11": "Scores by weak annotation match on IITB",
}
"""The title of each table of scores."""
_TABLE_DATASETS: Final = {"Table 5": (AIDA, "AQUAINT", "MSNBC", UPDATED), "Table 10": ("Meij",), "Table 11": ("IITB",)}
"""The datasets of tables of scores, by default AIDA/CONLL."""


@dataclass(frozen=True)
class ResultTables:
    """The exhibits that need outputs of systems."""

    outputs: SystemOutputs
    """The outputs of the systems at hand."""

    def build_score_table(self, name: str) -> Exhibit:
        """Build a table of thresholds and scores: Table 5, 6, 7, 8, 10 or 11."""
        relation, title = RELATIONS[name], _TITLES[name]
        datasets = _TABLE_DATASETS.get(name, (AIDA,))
        options = f"--set match={relation}{' --task c2kb' if name == 'Table 10' else ''}"
        published = _read_f1(SCORE_TABLES[name])
        rows = [
            (
                output.dataset,
                output.system,
                METHODS.get(output.system, NO_METHOD),
                *self.outputs.get_best_score(output, relation).format(),
                _format_original(published.get((output.dataset, METHODS.get(output.system, "").casefold()))),
            )
            for dataset in datasets
            for output in self.outputs.list_outputs(dataset)
        ]
        return Exhibit(
            name,
            title,
            "\n".join([*create_files(datasets), *(score(dataset, options) for dataset in datasets)]),
            tuple(_list_lost_cells(SCORE_TABLES[name])),
            own_table=(_SCORE_COLUMNS, *rows) if rows else (),
            notes=(*self._describe_systems(datasets), *self._compare_orders(name, datasets)),
        )

    def _compare_orders(self, name: str, datasets: Sequence[str]) -> Iterator[str]:
        """Yield for each dataset of a table how many pairs of methods have the order of the original systems by F1."""
        published = _read_f1(SCORE_TABLES[name])
        for dataset in datasets:
            scores = [
                (METHODS[output.system], self.outputs.get_best_score(output, RELATIONS[name]).f1)
                for output in self.outputs.list_outputs(dataset)
                if (dataset, METHODS.get(output.system, "").casefold()) in published
            ]
            pairs = [
                (pair, [published[dataset, annotator.casefold()] for annotator, _ in pair])
                for pair in combinations(scores, 2)
            ]
            unequal = [(pair, original) for pair, original in pairs if original[0] != original[1]]
            reversed_pairs = [
                " and ".join(name for name, _ in pair)
                for pair, original in unequal
                if (pair[0][1] - pair[1][1]) * (original[0] - original[1]) <= 0
            ]
            if unequal:
                yield (
                    f"{dataset}: {len(unequal) - len(reversed_pairs)} of {len(unequal)} pairs of methods have the "
                    f"order that the paper reports for the original systems by F1. Not so: "
                    f"{'; '.join(reversed_pairs) or 'none'}."
                )

    def _explain_missing(self, dataset: str) -> Iterator[str]:
        """Yield which file is missing if there are no outputs for a dataset."""
        if not self.outputs.list_outputs(dataset):
            path = {AIDA: AIDA_LABELS, UPDATED: UPDATED_MSNBC}.get(dataset) or SOURCES[dataset].path
            yield f"{dataset}: there are no values of systems, since the folder of data has no {path}."

    def _describe_systems(self, datasets: Sequence[str]) -> Iterator[str]:
        """Yield which systems a table has, and how many gold entities the built-in snapshot has."""
        yield (
            "The table of Karat's values has the systems at hand. A system in the column method of implements the "
            "published method of that annotator with the built-in snapshot. Its figures are those of the method in "
            "Karat, never of the original system, and do not count as reproduced; F1_mic of original is printed "
            "in the paper. The snapshot has no counts of links, so popularity takes their place."
        )
        if any(output.system not in SYSTEMS for dataset in datasets for output in self.outputs.list_outputs(dataset)):
            yield "The other systems are outputs published with ELEVANT, which have no scores and so no threshold."
        snapshot = open_starter()
        for dataset in datasets:
            outputs = self.outputs.list_outputs(dataset)
            if not outputs:
                yield from self._explain_missing(dataset)
                continue
            corpus = outputs[0].corpus
            labels = [label.entity for document in corpus for label in document.labels]
            labels += [tag.entity for document in corpus for tag in document.tags]
            ids = snapshot.canonical_ids([str(id) for id in labels])
            table = snapshot.get_table("entities")
            rows = [] if table is None else table.look_up(ids, "id").to_pylist()
            n_entities = sum(row is not None for row in rows)
            yield f"{dataset}: the built-in snapshot has the entities of {n_entities:,} of {len(labels):,} annotations."

    @cached_property
    def aida_outputs(self) -> list[SystemOutput]:
        """The outputs for AIDA/CONLL."""
        return self.outputs.list_outputs(AIDA)

    @cached_property
    def similarity(self) -> Similarity | None:
        """The similarity of the outputs for AIDA/CONLL at the best thresholds; None without two outputs."""
        if len(self.aida_outputs) < 2:
            return None
        request = request_similarity(create_request("a2kb"), "oracle-bat-paper", "mention-weak,entity,weak")
        return compute_similarity(self.aida_outputs[0].corpus, [output.run for output in self.aida_outputs], request)

    def build_table_9(self) -> Exhibit:
        """Build the table of macro similarities by mention and entity."""
        return Exhibit(
            "Table 9",
            "Similarity of systems on AIDA/CONLL by mentions and by entities, macro average in percent",
            "\n".join([*create_files((AIDA,)), compare_outputs(AIDA, "mention-weak,entity")]),
            tuple(_list_similarity_cells()),
            own_table=tuple(self._list_similarities()),
            notes=(
                "The diagonal is 100 for any outputs, since similarity is reflexive (Section 5).",
                *self._explain_missing(AIDA),
            ),
        )

    def _list_similarities(self) -> Iterator[tuple[str, ...]]:
        """Yield the rows of the matrix of similarities, the header first."""
        if self.similarity is None:
            return
        names = list(self.similarity.runs)
        values = {
            (pair.relation, frozenset((pair.system_a, pair.system_b))): 100 * (pair.macro.value or 0.0)
            for pair in self.similarity.pairs
        }
        yield ("System", *names[1:])
        for i, row in enumerate(names):
            cells = [
                "/".join(
                    f"{values.get((relation, frozenset((row, column))), 100.0):.0f}"
                    for relation in ("mention-weak", "entity")
                )
                if j >= i
                else ""
                for j, column in enumerate(names)
            ]
            yield (row, *cells[1:])

    def list_dissimilarities(self) -> Iterator[tuple[str, ...]]:
        """Yield a matrix, the header first: of the annotations that only the row system has, the share of correct ones.

        Annotations are compared by weak match at the best thresholds.
        """
        if self.similarity is None:
            return
        names = list(self.similarity.runs)
        shares: dict[tuple[str, str], str] = {}
        for pair in self.similarity.pairs:
            if pair.relation == "weak":
                shares[pair.system_a, pair.system_b] = _format_share(pair.correct_a, pair.only_a)
                shares[pair.system_b, pair.system_a] = _format_share(pair.correct_b, pair.only_b)
        yield ("System", *names)
        for row in names:
            yield (row, *(shares.get((row, column), "") for column in names))

    def build_figure_4(self) -> Exhibit:
        """Draw micro F1 by weak match on AIDA/CONLL over the threshold."""
        request = create_request("a2kb", match="weak")
        series = []
        for output in self.aida_outputs:
            if output.system in SYSTEMS:
                curve = compute_threshold_curve(Evaluation.from_data(request, output.corpus, output.run))
                scores = zip(curve.min_scores.tolist(), (100 * curve.values("micro.f1")).tolist(), strict=True)
                points = tuple(PlotPoint(t, f1) for t, f1 in scores if t == t)
                series.append(PlotSeries(output.system, points))
        return Exhibit(
            "Figure 4",
            "Micro F1 by weak annotation match on AIDA/CONLL, over the threshold t",
            "\n".join([*create_files((AIDA,)), draw_curve(AIDA)]),
            tuple(_list_lost_curves("Micro-F1 for t from 0 to 1")),
            plots=(
                Plot(
                    "lines",
                    "Micro F1 over the threshold, AIDA/CONLL",
                    tuple(series),
                    x_title="threshold t",
                    y_title="micro F1 in percent",
                    y_range=(0.0, 100.0),
                ),
            )
            if series
            else (),
            notes=("ELEVANT's outputs have no scores, so they have no curve.", *self._explain_missing(AIDA)),
        )

    @cached_property
    def near_misses(self) -> Mapping[str, NearMisses]:
        """The wrong entities of each output for AIDA/CONLL, compared with the gold entities that they overlap."""
        snapshot = open_starter()
        return {output.system: find_near_misses(output.corpus, output.run, snapshot) for output in self.aida_outputs}

    def build_figure_5(self) -> Exhibit:
        """Draw the cumulative distribution of the relatedness of wrong entities to the gold entities."""
        rows = [
            (
                system,
                *(f"{100 * misses.cumulative_shares[step]:.1f}" for step in STEPS),
                f"{len(misses.misses) - misses.n_unknown:,} of {len(misses.misses):,}",
            )
            for system, misses in self.near_misses.items()
            if misses.cumulative_shares
        ]
        series = tuple(
            PlotSeries(system, tuple(PlotPoint(r, 100 * share) for r, share in misses.cumulative_shares.items()))
            for system, misses in self.near_misses.items()
            if misses.cumulative_shares
        )
        return Exhibit(
            "Figure 5",
            "Share of wrong entities whose relatedness to the gold entity is above r, on AIDA/CONLL",
            "\n".join([*create_files((AIDA,)), show_near_misses(AIDA)]),
            tuple(_list_figure_5_claims()),
            plots=(
                Plot(
                    "lines",
                    "Relatedness of wrong entities to gold entities, AIDA/CONLL",
                    series,
                    x_title="relatedness r",
                    y_title="share above r in percent",
                    y_range=(0.0, 100.0),
                ),
            )
            if series
            else (),
            notes=(
                "All annotations count, without threshold. Relatedness is that of Milne and Witten by the links of the "
                "built-in snapshot. It is unknown for entities that the snapshot does not have. The last column has "
                "the number of pairs with relatedness.",
                *self._explain_missing(AIDA),
            ),
            own_table=(("System", *(f"r = {step}" for step in STEPS), "pairs"), *rows) if rows else (),
        )

    def build_table_12(self) -> Exhibit:
        """Build the table of mean runtimes per document, measured on this machine."""
        times = {(output.dataset, output.system): output.milliseconds for output in self.outputs.outputs}
        rows = []
        for system in SYSTEMS:
            empty = self.outputs.empty_milliseconds[system]
            measured = [times.get((dataset, system)) for dataset in _TIME_DATASETS]
            rows.append((system, *(_format_time(time) for time in measured), _format_time(empty)))
            calibrated = [None if time is None else max(0.0, time - empty) for time in measured]
            rows.append((f"{system}, calibrated", *(_format_time(time) for time in calibrated), ""))
        for system in ELEVANT_FILES:
            measured = [times.get((dataset, system)) for dataset in _TIME_DATASETS]
            if any(time is not None for time in measured):
                rows.append((system, *(_format_time(time) for time in measured), ""))
        return Exhibit(
            "Table 12",
            "Mean runtime per document in milliseconds",
            "\n".join(create_files(_TIME_DATASETS, has_elevant=False)),
            tuple(_list_lost_cells(TABLE_12)),
            own_table=(("System", *_TIME_DATASETS, "empty text"), *rows),
            is_measured=True,
            notes=(
                f"Karat's times were measured on this machine ({platform.system()} {platform.machine()}, "
                f"{os.cpu_count() or 1} CPUs) as the time of a local call, as the paper does for Illinois Wikifier; "
                "responses from the cache keep the time of their first call.",
                "Calibrated: less the time of a text without entities, as BAT does for web services. This time is "
                "small, since local calls have no network latency.",
                "The times of ELEVANT's outputs are those that ELEVANT published, divided by the number of documents.",
            ),
        )

    def build_figure_6(self) -> Exhibit:
        """Draw runtime and best F1 on AIDA/CONLL: of the systems at hand, and of the paper's from Tables 5 and 12."""
        f1 = {row.partition(", ")[2]: score for row, score in read_numbers(TABLE_5, "F1_mic").items() if AIDA in row}
        by_name = {name.casefold(): score for name, score in f1.items()}
        times = read_numbers(TABLE_12, AIDA)
        published = tuple(
            PlotSeries(name, (PlotPoint(time, by_name[name.casefold()], label=name),)) for name, time in times.items()
        )
        series = tuple(
            PlotSeries(
                output.system,
                (PlotPoint(output.milliseconds, self.outputs.get_best_score(output, "weak").f1, label=output.system),),
            )
            for output in self.aida_outputs
            if output.milliseconds is not None
        )
        titles = {
            "Runtime and best F1 of the systems at hand, AIDA/CONLL": series,
            "Runtime and best F1, as published in Tables 5 and 12": published,
        }
        return Exhibit(
            "Figure 6",
            "Mean runtime and best micro F1 by weak annotation match on AIDA/CONLL",
            "\n".join([*create_files((AIDA,)), score(AIDA, "--set match=weak")]),
            tuple(
                Cell(name, "runtime, F1", f"{time:.0f} ms, {by_name[name.casefold()]:.1f}", None, LOST_OUTPUTS)
                for name, time in times.items()
            ),
            is_measured=True,
            plots=tuple(
                Plot(
                    "dots",
                    title,
                    dots,
                    x_title="runtime per document in milliseconds",
                    y_title="micro F1 in percent",
                    is_x_logarithmic=True,
                )
                for title, dots in titles.items()
                if dots
            ),
        )

    def measure_linearity(self) -> Iterator[tuple[str, ...]]:
        """Yield a table, the header first: by system, the correlation of runtime and text length over all documents."""
        yield ("System", "Documents", "Correlation of runtime and length")
        for system in SYSTEMS:
            pairs = [
                (len(document.text), response.seconds)
                for output in self.outputs.outputs
                if output.system == system
                for document, response in zip(output.corpus, output.run, strict=True)
                if response.seconds is not None
            ]
            if len(pairs) > 2:
                lengths, seconds = np.array(pairs, np.float64).T
                yield (system, f"{len(pairs):,}", f"{np.corrcoef(lengths, seconds)[0, 1]:.2f}")


DISSIMILARITY_COMMAND: Final = "\n".join([*create_files((AIDA,)), compare_outputs(AIDA, "weak")])
"""The command lines that show how many annotations of one system only are correct."""


def _read_f1(table: str) -> dict[tuple[str, str], float]:
    """Return micro F1 in a printed table by dataset and annotator, in lower case since the paper varies it."""
    rows = read_numbers(table, "F1_mic").items()
    return {(row.partition(", ")[0], row.partition(", ")[2].casefold()): score for row, score in rows}


def _format_original(score: float | None) -> str:
    """Return the published score of the original system; a dash if the table has none."""
    return NO_METHOD if score is None else f"{score:.1f}"


def _list_lost_cells(table: str) -> Iterator[Cell]:
    """Yield the cells of a printed table as impossible."""
    for row, column, published in read_cells(table):
        yield Cell(row, column, published, None, LOST_OUTPUTS)


def _list_similarity_cells() -> Iterator[Cell]:
    """Yield the cells of Table 9; only its diagonal is known without the outputs."""
    for cell in _list_lost_cells(TABLE_9):
        is_diagonal = cell.published == "100/100"
        yield Cell(cell.row, cell.column, cell.published, "100/100", is_from_paper=True) if is_diagonal else cell


def _list_lost_curves(column: str) -> Iterator[Cell]:
    """Yield a cell for the curve of each annotator, as impossible."""
    for name in read_numbers(TABLE_12, read_header(TABLE_12)[0]):
        yield Cell(name, column, "curve", None, LOST_OUTPUTS)


def _list_figure_5_claims() -> Iterator[Cell]:
    """Yield the claims of the text about Figure 5 as impossible."""
    claims = {
        "r = 0.5: the most closely related entities": "TagMe",
        "r = 0.5: the least closely related entities": "Illinois Wikifier",
        "r = 0.5: Wikipedia Miner and DBpedia Spotlight": "about the same",
        "r = 0.5: AIDA-PriorityOnly and AIDA-CocktailParty": "about the same",
        "r = 0.8: the most closely related entities": "AIDA-CocktailParty and AIDA-Local",
    }
    for row, published in claims.items():
        yield Cell(row, "claim", published, None, LOST_OUTPUTS)


def _format_share(part: int, whole: int) -> str:
    """Return a share in percent without decimals; a dash if there is nothing to divide."""
    return "–" if not whole else f"{100 * part / whole:.0f}"


def _format_time(milliseconds: float | None) -> str:
    """Return a time in milliseconds with two decimals; a dash if unknown."""
    return "–" if milliseconds is None else f"{milliseconds:.2f}"
