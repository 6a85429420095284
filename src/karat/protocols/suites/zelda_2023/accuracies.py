"""Tables 3 and 4: accuracy by test set and by difficulty, of the paper's models and of the systems at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from karat.model.results.exhibit import Cell, Exhibit
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.papers.output_files import ZELDA_SYSTEMS
from karat.protocols.suites.zelda_2023.built_lists import BuiltLists, list_commands, measure_published_lists
from karat.protocols.suites.zelda_2023.inputs import LISTS, SNAPSHOT_SYSTEMS, ZeldaFiles
from karat.protocols.zelda.candidates.recall import ListRecall
from karat.protocols.zelda.split_predictions import SplitPredictions, group_shares, unweighted_mean
from karat.stats.share import Share
from karat.systems.claims.zelda_2023 import BRACKETS, COLUMNS_3, COLUMNS_4, MEAN, SPLITS, TABLE_3, TABLE_4

_LIST_ROWS: Final = ("MFS", "CL-RECALL", "CG-recall")
"""Rows that candidate lists determine, without a model."""
_K: Final = 20
_DIGITS: Final = 3
_WIKI: Final = "wned-wiki"

_MEANS: Final = (
    "A mean without computed values is that of the printed values; it is equal if it differs by less than the rounding "
    "of both."
)
_PART: Final = "a fifth of WNED"

TRAINED_MODELS: Final = {
    "fevry": {"wned-wiki": Share(212, 1386), "wned-cweb": Share(754, 2142)},
    "fevry with lists": {"wned-wiki": Share(281, 1386), "wned-cweb": Share(741, 2142)},
    "luke-head": {"wned-wiki": Share(222, 1386), "wned-cweb": Share(775, 2142)},
    "luke-head with lists": {"wned-wiki": Share(274, 1386), "wned-cweb": Share(754, 2142)},
    "bi-encoder": {"wned-wiki": Share(897, 1386), "wned-cweb": Share(1373, 2142)},
    "bi-encoder with lists": {"wned-wiki": Share(947, 1386), "wned-cweb": Share(1371, 2142)},
}
"""Accuracies of models that Karat trained, on the fifth of WNED held out for tests (docs/measurements/training.md)."""

ColumnShares = Mapping[str, Share]
"""Shares of correct mentions by column of a table, without the mean."""


def build_table_3(files: ZeldaFiles, built: BuiltLists) -> Exhibit:
    """Compare Table 3 with what the predictions and lists at hand give; other systems have a table of their own.

    `built` are candidate lists from the linked text at hand.
    """
    columns = {column: SPLITS[column] for column in COLUMNS_3[:-1]}
    published_lists = measure_published_lists(files)
    rows = {
        "MFS": _order(columns, {split: recall.mfs for split, recall in published_lists.items()}),
        "CL-RECALL": _order(columns, {split: recall.recall for split, recall in published_lists.items()}),
        **{name: _order(columns, _accuracies(files.systems.get(name, {}))) for name in TABLE_3 if "_" in name},
    }
    own_rows: dict[str, ColumnShares] = {}
    for system, predictions in files.systems.items():
        if system not in TABLE_3:
            accuracies = _accuracies(predictions)
            recalls = {split: split_predictions.recall_at(_K) for split, split_predictions in predictions.items()}
            own_rows[system] = _order(columns, accuracies)
            if recalls != accuracies:  # the system has more than one candidate
                own_rows[f"recall@{_K} of {system}"] = _order(columns, recalls)
    for system, predictions in files.snapshot_systems.items():
        own_rows[system] = _order(columns, _accuracies(predictions))
    if files.corpora:
        own_rows |= {f"{model}, {_PART}": _order(columns, shares) for model, shares in TRAINED_MODELS.items()}
    own_rows["MFS, lists from here"] = _order(columns, {split: recall.mfs for split, recall in built.recalls.items()})
    own_rows["CL-RECALL, lists from here"] = _order(
        columns, {split: recall.recall for split, recall in built.recalls.items()}
    )
    return Exhibit(
        name="Table 3",
        title="Accuracy on each evaluation split, and the unweighted mean",
        command="\n".join(
            (
                "karat zelda score DIR/zelda/jsonl DIR/zelda/predictions",
                *_list_snapshot_commands(files),
                *list_commands(files).splitlines(),
            )
        ),
        cells=tuple(_build_cells(TABLE_3, COLUMNS_3, rows, files.data)),
        notes=(_MEANS, *_describe_lists(files, built), *_describe_systems(files)),
        own_table=_build_own_table("", COLUMNS_3, own_rows),
    )


def build_table_4(files: ZeldaFiles, built: BuiltLists) -> Exhibit:
    """Compare Table 4 with what the predictions and lists at hand give on WNED-WIKI, by difficulty bracket."""
    published_lists = measure_published_lists(files)
    rows = {
        "CG-recall": _order(BRACKETS, _recall_by_bracket(published_lists.get(_WIKI))),
        **{
            name: _order(BRACKETS, _accuracy_by_bracket(files.systems.get(name, {}).get(_WIKI)))
            for name in TABLE_4
            if "_" in name
        },
    }
    own_rows = {
        system: _order(BRACKETS, _accuracy_by_bracket(predictions.get(_WIKI)))
        for system, predictions in (*files.systems.items(), *files.snapshot_systems.items())
        if system not in TABLE_3
    }
    recall = built.recalls.get(_WIKI)
    own_rows["MFS, lists from here"] = _order(BRACKETS, _mfs_by_bracket(recall))
    own_rows["CG-recall, lists from here"] = _order(BRACKETS, _recall_by_bracket(recall))
    return Exhibit(
        name="Table 4",
        title="Accuracy on the difficulty brackets of WNED-WIKI, and the unweighted mean",
        command="karat zelda score DIR/zelda/jsonl DIR/zelda/predictions\n"
        "karat score DIR/zelda/jsonl/test_wned-wiki.jsonl.gz DIR/zelda/predictions/wned-wiki.jsonl.gz "
        "--profile zelda --by bracket",
        cells=tuple(_build_cells(TABLE_4, COLUMNS_4, rows, files.data)),
        notes=(_MEANS, *_describe_trend(own_rows)),
        own_table=_build_own_table("Approach", COLUMNS_4, own_rows),
    )


def _list_snapshot_commands(files: ZeldaFiles) -> Iterator[str]:
    """Yield the command line that runs and scores the systems with the built-in snapshot on all test sets."""
    if files.jsonl:
        tests = " ".join(f"--on DIR/{Path(path).relative_to(files.data.path)}" for path in files.jsonl.values())
        yield (
            f"karat run {' '.join(SNAPSHOT_SYSTEMS)} {tests} --task d2kb --profile zelda --kb starter "
            "--set ids=resolved --out predictions"
        )


def _accuracies(predictions: Mapping[str, SplitPredictions]) -> dict[str, Share]:
    """Return the accuracy over all mentions by split."""
    return {split: split_predictions.accuracy() for split, split_predictions in predictions.items()}


def _accuracy_by_bracket(predictions: SplitPredictions | None) -> dict[str, Share]:
    """Return the accuracy by difficulty bracket; empty without predictions."""
    return {} if predictions is None else predictions.accuracy_by(lambda mention: mention.bracket)


def _recall_by_bracket(recall: ListRecall | None) -> dict[str, Share]:
    """Return the recall of candidate lists by difficulty bracket; empty without lists."""
    return {} if recall is None else recall.recall_by_bracket()


def _mfs_by_bracket(recall: ListRecall | None) -> dict[str, Share]:
    """Return the share of mentions whose first candidate is correct by difficulty bracket; empty without lists."""
    if recall is None or recall.mfs is None:
        return {}
    return group_shares(recall.rank == 1, [mention.bracket for mention in recall.mentions])


def _order(columns: Mapping[str, str], shares: Mapping[str, Share | None]) -> dict[str, Share]:
    """Return the shares by column in the order of the table; columns whose split or bracket has none are skipped."""
    ordered = {column: shares.get(name) for column, name in columns.items() if column != MEAN}
    return {column: share for column, share in ordered.items() if share is not None and share.value is not None}


def _build_cells(
    table: Mapping[str, Sequence[str]],
    columns: Sequence[str],
    rows: Mapping[str, ColumnShares],
    data: PublishedData,
) -> Iterator[Cell]:
    """Yield every cell of a table; a mean is that of the printed values unless all values of its row are computed."""
    for row, texts in table.items():
        shares = rows.get(row, {})
        values = {column: share.value for column, share in shares.items()}
        if len(shares) == len(columns) - 1:
            values[MEAN] = unweighted_mean(shares.values())
        for column, text in zip(columns, texts, strict=True):
            if column in values:
                value = _format_share(values[column])
                yield Cell(row, column, text, value, is_equal=value == _format_share(float(text)))
            elif column == MEAN:
                yield _check_mean(row, texts)
            else:
                yield Cell(row, column, text, None, data.explain_missing(_name_missing(row)))


def _name_missing(row: str) -> str:
    """Return what a row needs: the file of ZELDA's lists, or the folder of the predictions of a model of the paper."""
    return LISTS if row in _LIST_ROWS else f"{ZELDA_SYSTEMS}/{row}"


def _check_mean(row: str, texts: Sequence[str]) -> Cell:
    """Compare a printed mean with that of the printed values of its row, which are rounded to `_DIGITS` digits."""
    mean = sum(map(float, texts[:-1])) / (len(texts) - 1)
    is_equal = abs(mean - float(texts[-1])) < 10**-_DIGITS  # both are rounded
    return Cell(row, MEAN, texts[-1], _format_share(mean), is_equal=is_equal, is_from_paper=True)


def _format_share(value: float | None) -> str:
    """Return a share as the paper prints it, with three digits; a dash for None."""
    return "–" if value is None else f"{value:.{_DIGITS}f}"


def _build_own_table(
    head: str, columns: Sequence[str], rows: Mapping[str, ColumnShares]
) -> tuple[tuple[str, ...], ...]:
    """Return the table in the paper's form for the systems at hand; the mean is given if no column is missing."""
    filled = {name: shares for name, shares in rows.items() if shares}
    if not filled:
        return ()
    lines = []
    for name, shares in filled.items():
        is_complete = len(shares) == len(columns) - 1
        mean = unweighted_mean(shares.values()) if is_complete else None
        values = [_format_share(shares[column].value if column in shares else None) for column in columns[:-1]]
        lines.append((name, *values, _format_share(mean)))
    return ((head, *columns), *lines)


def _describe_lists(files: ZeldaFiles, built: BuiltLists) -> Iterator[str]:
    """Yield what the lists from here contain, and what ZELDA's own lists have in addition."""
    if not built.recalls:
        yield "No lists could be built: they need linked text and DuckDB (pip install 'karat[duckdb]')."
        return
    texts = ", ".join(built.texts)
    yield (
        "Lists from here: the titles of all test sets, and the links of test sets of other origin"
        f"{f' and of {texts}' if texts else ''}."
    )
    if files.data.find(LISTS) is None:
        yield (
            "Missing: the links of Kensho's Wikipedia and of Wikilinks and the aliases of Wikidata, from which ZELDA's "
            f"lists ({LISTS}) are made."
        )


def _describe_systems(files: ZeldaFiles) -> Iterator[str]:
    """Yield which systems the own table has, and how a trained one gets in."""
    names = [name for name in files.systems if name not in TABLE_3]
    if "dual encoder" in names:
        yield (
            "The dual encoder is not of the paper. A mention without a prediction is wrong; recall@20 is the share of "
            "mentions whose entity is among its candidates."
        )
    yield "The built-in snapshot has few of the entities in ZELDA's vocabulary."
    yield (
        f"{_PART[0].upper()}{_PART[1:]}: models that Karat trained on the other documents of WNED. "
        "The documentation page 'Trained systems: accuracy and speed' has the measurement; the predictions are not at "
        "hand, so that these rows are not computed again."
    )
    yield f"Other systems appear if {ZELDA_SYSTEMS}/NAME has a file of predictions for each test set."


def _describe_trend(rows: Mapping[str, ColumnShares]) -> Iterator[str]:
    """Yield for each system whether its accuracy falls from each bracket to the next harder one."""
    for name, shares in rows.items():
        values = [share.value for share in shares.values() if share.value is not None]
        if len(values) == len(BRACKETS):
            falls = count_falls(values)
            yield (
                f"{name}: {_format_share(values[0])} on the easiest bracket, {_format_share(values[-1])} on the "
                f"hardest; {falls} of {len(values) - 1} steps fall."
            )


def count_falls(values: Sequence[float]) -> int:
    """Return how many of `values` are less than the value before them."""
    return sum(after < before for before, after in pairwise(values))
