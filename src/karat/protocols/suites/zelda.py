"""Suite that checks the counts of ZELDA's test sets and the scores of the published predictions.

Counts are those of the published files, which Table 2 of the paper does not always match; notes count the differences.
The predictions are of another system (a dual encoder). A mention without prediction is excluded from figures over the
covered mentions, and wrong in those over all mentions, as the paper scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from karat.data.load import load, load_run
from karat.model.errors import InputError
from karat.model.spec.suite import Discrepancy, Reproduction, Suite, count_groups
from karat.protocols.zelda.file_comparison import compare_files
from karat.protocols.zelda.split_predictions import (
    SplitPredictions,
    collect_gold_mentions,
    match_predictions,
    unweighted_mean,
)
from karat.protocols.zelda.splits import find_split_files
from karat.stats.share import Share
from karat.storage.files import Source

_K: Final = 20
_DIGITS: Final = 4
_BRACKETS: Final = ("0.3-0.4", "0.4-0.5", "0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-0.9", "0.9-1", "1")
_FOLDERS: Final = {"jsonl": "jsonl", "conll": "conll", "predictions": "jsonl"}


class _PublishedSplit(NamedTuple):
    """Published figures of a split: (documents, mentions, entities) by file, and scores over (covered, all) mentions.

    `covered`: number of mentions with a prediction. `brackets`: number of mentions by difficulty bracket. None for a
    file that was not published.
    """

    jsonl: tuple[int, int, int]
    conll: tuple[int, int, int] | None
    table_2: tuple[int, int, int]
    covered: int
    accuracy: tuple[float, float]
    recall: tuple[float, float]
    brackets: tuple[int, ...] = ()


_PUBLISHED: Final = {
    "aida-b": _PublishedSplit(
        (231, 4485, 1537), (231, 4485, 1537), (231, 4485, 1538), 4485, (0.8187, 0.8187), (0.9605, 0.9605)
    ),
    "tweeki": _PublishedSplit(
        (500, 860, 639), (500, 848, 635), (500, 860, 639), 850, (0.7706, 0.7616), (0.9129, 0.9023)
    ),
    "reddit-posts": _PublishedSplit(
        (377, 704, 524), (377, 703, 523), (377, 705, 524), 700, (0.8914, 0.8864), (0.9686, 0.9631)
    ),
    "reddit-comments": _PublishedSplit(
        (360, 638, 483), (360, 637, 482), (360, 638, 483), 624, (0.8574, 0.8386), (0.9647, 0.9436)
    ),
    "wned-wiki": _PublishedSplit(
        (319, 6765, 5306),
        (345, 6765, 5306),
        (318, 6747, 5293),
        6554,
        (0.9106, 0.8822),
        (0.9863, 0.9555),
        (917, 921, 887, 901, 772, 841, 799, 727),
    ),
    "wned-cweb": _PublishedSplit(
        (320, 11116, 4467),
        None,
        (320, 11116, 4467),
        11086,
        (0.6943, 0.6924),
        (0.8665, 0.8642),
        (1323, 1464, 1510, 1519, 1363, 1456, 1345, 1136),
    ),
    "shadowlinks-top": _PublishedSplit(
        (904, 904, 899), (904, 904, 899), (904, 904, 899), 901, (0.6604, 0.6582), (0.8979, 0.8949)
    ),
    "shadowlinks-shadow": _PublishedSplit(
        (904, 904, 902), (904, 904, 902), (904, 904, 902), 903, (0.6523, 0.6515), (0.9579, 0.9569)
    ),
    "shadowlinks-tail": _PublishedSplit(
        (901, 901, 901), (901, 899, 899), (902, 902, 902), 890, (0.9865, 0.9745), (0.9921, 0.9800)
    ),
}
_ENTITIES: Final = 14204
_MEANS: Final = (0.8047, 0.7960)


class _Figure(NamedTuple):
    """A figure with its group, name, expected and computed value."""

    group: str
    name: str
    expected: float
    value: float | None


class _SplitComparison(NamedTuple):
    """Figures of a split, its gold entities, mentions in its CoNLL file, and predictions; None for a missing file."""

    figures: list[_Figure]
    entities: frozenset[str]
    n_in_conll: int | None
    predictions: SplitPredictions | None


def reproduce_zelda(folder: str) -> Reproduction:
    """Recompute and compare the counts of every ZELDA split, and the scores of the published predictions.

    `folder` has the subfolders `jsonl`, `conll` and `predictions`. Missing files are named in the notes.
    """
    files = _find_files(folder)
    notes: Counter[str] = Counter()
    comparisons: dict[str, _SplitComparison] = {}
    for split, expected in _PUBLISHED.items():
        split_files = {kind: paths[split] for kind, paths in files.items() if split in paths}
        notes.update(f"splits without {kind} ({split})" for kind in ("jsonl", "predictions") if kind not in split_files)
        if "jsonl" in split_files:
            comparisons[split] = _compare_split(split, expected, split_files, notes)
    figures = {split: comparison.figures for split, comparison in comparisons.items()}
    rows = [
        _HEADER,
        *(
            _format_row(comparison.predictions, comparison.n_in_conll)
            for comparison in comparisons.values()
            if comparison.predictions is not None
        ),
    ]
    predictions = [comparison.predictions for comparison in comparisons.values() if comparison.predictions is not None]
    overall = figures.setdefault("all splits", [])
    if len(comparisons) == len(_PUBLISHED):
        entities: set[str] = set().union(*(comparison.entities for comparison in comparisons.values()))
        overall.append(_Figure("JSONL", "entities", _ENTITIES, len(entities)))
    if len(predictions) == len(_PUBLISHED):
        means = [unweighted_mean(p.accuracy(p.covered) for p in predictions)]
        means.append(unweighted_mean(p.accuracy() for p in predictions))
        overall += [
            _Figure("accuracy", f"mean over {scope}", value, mean)
            for scope, value, mean in zip(_SCOPES, _MEANS, means, strict=True)
        ]
        rows.append(["mean", "", "", "", "", *map(_format_percent, means), "", ""])
    return _build_reproduction(figures, {note: count for note, count in notes.items() if count}, rows)


def _compare_split(
    split: str, expected: _PublishedSplit, files: Mapping[str, str], notes: Counter[str]
) -> _SplitComparison:
    """Compute the figures of one split from its files; `notes` counts differences of Table 2 and of the CoNLL file."""
    gold = load(files["jsonl"], format="zelda")
    mentions = [mention for mention in collect_gold_mentions(gold) if mention is not None]
    entities = frozenset(mention.entity for mention in mentions)
    counts = (len(gold), len(mentions), len(entities))
    n_different = sum(a != b for a, b in zip(expected.table_2, counts, strict=True))
    notes["figures of Table 2 that differ from the published files"] += n_different
    figures = list(_iterate_count_figures("JSONL", expected.jsonl, counts))
    brackets = Counter(mention.bracket for mention in mentions)
    figures += [
        _Figure("brackets", f"mentions in {name}", count, brackets[name])
        for name, count in zip(_BRACKETS, expected.brackets, strict=False)
    ]
    n_in_conll = None
    if "conll" in files:
        conll = load(files["conll"], format="zelda-conll")
        titles = {mention.entity for mention in collect_gold_mentions(conll) if mention is not None}
        comparison = compare_files(gold, conll, split)
        n_in_conll = comparison.n_conll
        if expected.conll is not None:
            figures += _iterate_count_figures("CoNLL", expected.conll, (len(conll), comparison.n_conll, len(titles)))
        notes["mentions of the JSONL that the CoNLL does not have"] += len(comparison.jsonl_only)
        notes["mentions with another title in the CoNLL"] += len(comparison.title_changes)
    predictions = None
    if "predictions" in files:
        predictions = match_predictions(gold, load_run(files["predictions"], corpus=gold, format="zelda"), split)
        figures += _iterate_score_figures(expected, predictions)
    return _SplitComparison(figures, entities, n_in_conll, predictions)


def _find_files(folder: str) -> dict[str, dict[str, str]]:
    """Return file paths by kind (`jsonl`, `conll`, `predictions`) and split; raise `InputError` without `jsonl`."""
    source = Source(folder, trust_links=True)
    files = {}
    for name, suffix in _FOLDERS.items():
        is_present = source.is_folder and name in source.folder_names
        files[name] = find_split_files([f"{folder}/{name}"], suffix) if is_present else {}
    if not files["jsonl"]:
        raise InputError(
            source.label,
            actual="no folder jsonl with test sets",
            expected="the folders jsonl, conll and predictions with a file for each split",
            remedy="Pass the folder that has them",
        )
    return files


_SCOPES: Final = ("the covered mentions", "all mentions")


def _iterate_count_figures(
    group: str, expected: tuple[int, int, int], counts: tuple[int, int, int]
) -> Iterator[_Figure]:
    """Yield three figures from (documents, mentions, entities) as published and as counted."""
    for name, expected_count, count in zip(("documents", "mentions", "entities"), expected, counts, strict=True):
        yield _Figure(group, name, expected_count, count)


def _iterate_score_figures(expected: _PublishedSplit, predictions: SplitPredictions) -> Iterator[_Figure]:
    """Yield the published and computed coverage, accuracy and recall@20, over covered and over all mentions."""
    yield _Figure("accuracy", "covered mentions", expected.covered, int(predictions.covered.sum()))
    for index, (scope, mask) in enumerate(zip(_SCOPES, (predictions.covered, None), strict=True)):
        yield _Figure("accuracy", f"accuracy over {scope}", expected.accuracy[index], predictions.accuracy(mask).value)
        recall = predictions.recall_at(_K, mask)
        yield _Figure(f"recall@{_K}", f"recall@{_K} over {scope}", expected.recall[index], recall.value)


_HEADER: Final = [
    "split",
    "documents",
    "mentions",
    "in CoNLL",
    "covered",
    "accuracy (covered)",
    "accuracy (all)",
    f"recall@{_K} (covered)",
    f"recall@{_K} (all)",
]


def _format_row(predictions: SplitPredictions, n_in_conll: int | None) -> list[str]:
    """Format the counts and scores of a split as cells of the table under `_HEADER`."""
    shares: list[Share] = [predictions.accuracy(predictions.covered), predictions.accuracy()]
    shares += [predictions.recall_at(_K, predictions.covered), predictions.recall_at(_K)]
    counts = [predictions.documents, len(predictions.mentions), n_in_conll, int(predictions.covered.sum())]
    return [
        predictions.split,
        *("–" if count is None else f"{count:,}" for count in counts),
        *(_format_percent(share.value) for share in shares),
    ]


def _format_percent(value: float | None) -> str:
    """Format a share in percent with two digits; a dash for None."""
    return "–" if value is None else f"{100 * value:.2f}"


def _build_reproduction(
    figures: Mapping[str, list[_Figure]], notes: Mapping[str, int], rows: list[list[str]]
) -> Reproduction:
    """Compare all figures by split, rounded to four digits, and build the reproduction; an undefined value differs.

    `rows` is the table of scores, with its header.
    """
    differences = [
        Discrepancy(split, figure.group, figure.name, figure.value, figure.expected)
        for split, split_figures in figures.items()
        for figure in split_figures
        if figure.value is None or round(figure.value, _DIGITS) != figure.expected
    ]
    n_different = Counter((figure.experiment, figure.group) for figure in differences)
    compared = []
    for split, split_figures in figures.items():
        n_figures = Counter(figure.group for figure in split_figures)
        compared.append({group: (count, count - n_different[split, group]) for group, count in n_figures.items()})
    equal = sum(all(n_figures == n_same for n_figures, n_same in groups.values()) for groups in compared)
    table = tuple(map(tuple, rows)) if len(rows) > 1 else ()
    return Reproduction(len(figures), equal, count_groups(compared), tuple(differences), notes=notes, table=table)


SUITE = Suite(
    title="ZELDA",
    description="The counts of ZELDA's test sets as JSONL and as CoNLL, and accuracy and recall@20 of the published "
    "predictions, over covered mentions and over all. Data: a folder with the folders jsonl, conll and predictions.",
    run=lambda path, kb: reproduce_zelda(path),
    expected_noun="published",
    data_path="zelda",
)
