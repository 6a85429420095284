"""Claims of the running text of the BAT paper, checked with its tables, since the systems' outputs are lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Final

import numpy as np

from karat.analysis.comparison.similarity import similarity
from karat.evaluation.evaluation import score_run
from karat.model.corpus import Corpus
from karat.model.document import Document, Label, Prediction, Response
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.run import Run
from karat.model.spec.settings.threshold import STEPS
from karat.protocols.papers.claims import build_claim, mark_from_paper
from karat.protocols.suites.bat_2013.published_tables import TABLE_3, TABLE_9, TABLE_12
from karat.protocols.suites.bat_2013.results import DISSIMILARITY_COMMAND, LOST_OUTPUTS, OUTPUT_CACHE, ResultTables
from karat.systems.claims.bat_2013 import (
    SCORE_TABLES,
    TABLE_5,
    TABLE_6,
    TABLE_7,
    TABLE_8,
    TABLE_10,
    TABLE_11,
    read_cells,
    read_header,
    read_numbers,
)

_CHECK: Final = "karat reproduce bat-2013 --data DIR"
_FROM_TABLES: Final = (
    "Karat's values are computed from the published tables, since the systems' outputs are lost. Approximate numbers "
    "of the text are compared after rounding."
)
_AIDA_VARIANTS: Final = ("AIDA-CocktailParty", "AIDA-Local", "AIDA-PriorityOnly")
_ROUNDING: Final = 0.05  # of percentages with one decimal


def _lose(row: str, published: str) -> Cell:
    """Return the cell of a claim that needs the lost outputs."""
    return Cell(row, "claim", published, None, LOST_OUTPUTS)


def _read_dataset(table: str, dataset: str, column: str) -> dict[str, float]:
    """Return the numbers of a column of a table of scores by system, for one dataset."""
    numbers = read_numbers(table, column)
    return {row.partition(", ")[2]: number for row, number in numbers.items() if row.startswith(f"{dataset}, ")}


def _rank(scores: Mapping[str, float]) -> list[str]:
    """Return the systems, the best first."""
    return sorted(scores, key=lambda name: -scores[name])


def _check_ranking(row: str, scores: Mapping[str, float], *groups: Sequence[str]) -> Cell:
    """Check that systems are ranked group by group; the order in a group of several is free."""
    ranking = _rank(scores)
    names = [set(group) for group in groups]
    size = [len(group) for group in groups]
    bounds = [sum(size[:i]) for i in range(len(size) + 1)]
    is_equal = all(set(ranking[lo:hi]) == group for lo, hi, group in zip(bounds, bounds[1:], names, strict=False))
    published = ", then ".join(" and ".join(group) for group in groups)
    value = ", ".join(f"{name} {scores[name]:.1f}" for name in ranking)
    return build_claim(row, published, value, is_equal=is_equal)


def build_measure_claims() -> Exhibit:
    """Check the properties of match relations and similarity that Section 5 states, with an example."""
    text = "President Barack Obama"
    systems = {"left": [(0, 9)], "whole": [(0, 22)], "right": [(10, 22)]}
    runs = {
        name: Run.from_responses(
            [Response("d", tuple(Prediction(start, end, "Q76") for start, end in spans))], name=name
        )
        for name, spans in systems.items()
    }
    corpus = Corpus.from_documents([Document("d", text, (Label(10, 22, "Q76"),))])
    shares = {
        (relation, a, b): _compare(corpus, runs[a], runs[b], relation)
        for relation in ("weak", "entity")
        for a, b in product(systems, systems)
    }
    is_symmetric = all(shares[relation, a, b] == shares[relation, b, a] for relation, a, b in shares)
    chain = [shares["weak", *pair] for pair in (("left", "whole"), ("whole", "right"), ("left", "right"))]
    self_shares = [shares[relation, name, name] for relation in ("weak", "entity") for name in systems]
    transitive = [
        shares["entity", a, c] == 1.0
        for a, b, c in product(systems, systems, systems)
        if shares["entity", a, b] == shares["entity", b, c] == 1.0
    ]
    return Exhibit(
        "Section 5",
        "Properties of match relations and similarity",
        "karat explain bat-paper",
        (
            build_claim(
                "M_e and M_w are reflexive: similarity of a system to itself",
                "Sim(x, x, M) = 1",
                ", ".join(f"{share:g}" for share in self_shares),
                is_equal=all(share == 1.0 for share in self_shares),
            ),
            build_claim("M_e, M_w and Sim are symmetric", "yes", "yes" if is_symmetric else "no"),
            build_claim("M_e is transitive", "yes", "yes" if all(transitive) else "no"),
            build_claim(
                "M_w is not transitive",
                "not transitive",
                f"left and whole {chain[0]:g}, whole and right {chain[1]:g}, left and right {chain[2]:g}",
                is_equal=chain == [1.0, 1.0, 0.0],
            ),
            build_claim(
                "1 − Sim does not satisfy the triangle inequality",
                "does not hold",
                f"{1 - chain[2]:g} > {1 - chain[0]:g} + {1 - chain[1]:g}",
                is_equal=1 - chain[2] > (1 - chain[0]) + (1 - chain[1]),
            ),
            build_claim(
                "Sim ranges in [0, 1]",
                "[0, 1]",
                f"[{min(shares.values()):g}, {max(shares.values()):g}]",
                is_equal=min(shares.values()) == 0.0 and max(shares.values()) == 1.0,
            ),
        ),
        notes=(
            "The example has three systems that link President, Barack Obama, and both words to the same entity.",
            _describe_macro_f1(),
        ),
    )


def _compare(corpus: Corpus, run_a: Run, run_b: Run, relation: str) -> float:
    """Return the macro similarity of two runs, which may be the same run."""
    runs = {"a": run_a, "b": run_b}
    pairs = similarity(corpus, runs, profile="bat-paper", settings={"match": relation}).pairs
    return pairs[0].macro.value or 0.0


def _describe_macro_f1() -> str:
    """Return how macro F1 of equation 3 and of BAT's code differ, with an example of two documents."""
    text = "Ada met Bob and Eve"
    spans = ((0, 3), (8, 11), (16, 19))
    gold = Corpus.from_documents(
        [
            Document("1", text, tuple(Label(*span, "Q1") for span in spans[:2])),
            Document("2", text, (Label(*spans[0], "Q1"),)),
        ]
    )
    run = Run.from_responses(
        [
            Response("1", (Prediction(*spans[0], "Q1"),)),
            Response("2", tuple(Prediction(*span, "Q1") for span in spans[:2])),
        ]
    )
    by_text = score_run(gold, run, profile="bat-paper", measures=["strong:macro.f1-of-means"])
    by_code = score_run(gold, run, profile="bat", measures=["strong:macro.f1"])
    values = by_text["strong:macro.f1-of-means"], by_code["strong:macro.f1"]
    return (
        "Code differs from text: equation 3 defines macro F1 as the harmonic mean of macro P and macro R, BAT's code "
        "as the mean of F1. Two documents, with P 1 and R 0.5, and with P 0.5 and R 1, give "
        f"{values[0]:.3f} and {values[1]:.3f}."
    )


def build_setup_claims() -> Exhibit:
    """Check that the printed scores agree with each other, and the printed thresholds with BAT's 129 steps."""
    rows = [(name, row) for name, table in SCORE_TABLES.items() for row in read_numbers(table, "F1_mic")]
    n_harmonic = sum(_is_harmonic(SCORE_TABLES[name], row) for name, row in rows)
    grid = {f"{step / STEPS:.3f}" for step in range(STEPS + 1)}
    thresholds = [
        text for table in SCORE_TABLES.values() for _, column, text in read_cells(table) if column == "Best t"
    ]
    n_steps = sum(text in grid for text in thresholds)
    return Exhibit(
        "Section 6",
        "The printed scores and thresholds",
        _CHECK,
        mark_from_paper(
            (
                build_claim(
                    "F1 is the harmonic mean of P and R (equation 2), up to rounding, in Tables 5 to 8, 10 and 11",
                    "all rows",
                    f"{n_harmonic} of {len(rows)} rows",
                    is_equal=n_harmonic == len(rows),
                ),
                build_claim(
                    "All thresholds from 0 to 1 are tried: the best ones are multiples of 1/128",
                    "all possible values",
                    f"{n_steps} of {len(thresholds)} are multiples of 1/{STEPS}",
                    is_equal=n_steps == len(thresholds),
                ),
            )
        ),
        notes=(_FROM_TABLES,),
    )


def _is_harmonic(table: str, row: str) -> bool:
    """Return whether F1 of a row can be the harmonic mean of P and R, all of them rounded to one decimal."""
    f1, p, r = (read_numbers(table, column)[row] for column in ("F1_mic", "P_mic", "R_mic"))
    means = [2 * (p + dp) * (r + dr) / (p + dp + r + dr) for dp, dr in product((-_ROUNDING, _ROUNDING), repeat=2)]
    return min(means) - _ROUNDING <= f1 <= max(means) + _ROUNDING


def build_annotation_claims() -> Exhibit:
    """Check what Section 6.1.1 says about Tables 5 and 6."""
    weak = {dataset: _read_dataset(TABLE_5, dataset, "F1_mic") for dataset in ("AIDA/CONLL", "AQUAINT", "MSNBC")}
    strong = _read_dataset(TABLE_6, "AIDA/CONLL", "F1_mic")
    drops = {name: weak["AIDA/CONLL"][name] - score for name, score in strong.items()}
    means = {name: sum(scores[name] for scores in weak.values()) / len(weak) for name in _AIDA_VARIANTS}
    traded = [
        _read_dataset(TABLE_5, dataset, "P_mic")[name] > _read_dataset(TABLE_5, dataset, "R_mic")[name]
        for dataset, name in product(weak, _AIDA_VARIANTS)
    ]
    return Exhibit(
        "Section 6.1.1",
        "Finding the annotations: what the text says about Tables 5 and 6",
        _CHECK,
        mark_from_paper(
            (
                _check_ranking(
                    "AIDA/CONLL: F1 by weak match",
                    weak["AIDA/CONLL"],
                    ["TagMe 2"],
                    ["Illinois Wikifier"],
                    ["Wikipedia Miner"],
                    _AIDA_VARIANTS,
                    ["DBPedia Spotlight"],
                ),
                _check_ranking(
                    "AQUAINT: F1 by weak match",
                    weak["AQUAINT"],
                    ["TagMe 2"],
                    ["Wikipedia Miner"],
                    ["Illinois Wikifier"],
                    ["DBPedia Spotlight"],
                    _AIDA_VARIANTS,
                ),
                _check_ranking(
                    "MSNBC: F1 by weak match, without AIDA-PriorityOnly",
                    {name: score for name, score in weak["MSNBC"].items() if name != "AIDA-PriorityOnly"},
                    ["TagMe 2"],
                    ["AIDA-CocktailParty", "AIDA-Local"],
                    ["Wikipedia Miner"],
                    ["Illinois Wikifier"],
                    ["DBPedia Spotlight"],
                ),
                build_claim(
                    "Strong match gives slightly worse results",
                    "worse for all",
                    f"worse for {sum(drop > 0 for drop in drops.values())} of {len(drops)}",
                    is_equal=all(drop > 0 for drop in drops.values()),
                ),
                build_claim(
                    "… especially for these systems",
                    "TagMe, Illinois Wikifier and Wikipedia Miner",
                    ", ".join(f"{name} {drops[name]:.1f}" for name in _rank(drops)[:3]),
                    is_equal=set(_rank(drops)[:3]) == {"TagMe 2", "Illinois Wikifier", "Wikipedia Miner"},
                ),
                _check_ranking(
                    "The versions of AIDA, by mean F1 on the three news datasets",
                    means,
                    *([name] for name in _AIDA_VARIANTS),
                ),
                _check_overall_ranking(weak),
                _lose("Strong match on AQUAINT and MSNBC", "consistent results"),
                build_claim(
                    "AIDA trades recall for precision on all news datasets",
                    "consistently",
                    f"P > R in {sum(traded)} of {len(traded)} rows",
                    is_equal=all(traded),
                ),
                _lose("AIDA for given mentions, macro precision (from its own paper)", "0.816"),
                _lose("AIDA for given mentions, micro precision (from its own paper)", "0.825"),
                _lose("TagMe tuned on AIDA/CONLL, compared with AIDA for given mentions", "comparable performance"),
            )
        ),
        notes=(
            _FROM_TABLES,
            "On AQUAINT alone AIDA-Local (22.2) and AIDA-PriorityOnly (22.0) are ahead of AIDA-CocktailParty (21.2).",
            "Illinois Wikifier has a higher recall by strong match (52.9, Table 6) than by weak match (52.1, Table 5), "
            "at the same threshold: BAT resolves overlaps of annotations only for weak match.",
        ),
    )


def _check_overall_ranking(weak: Mapping[str, Mapping[str, float]]) -> Cell:
    """Check the ranking that the text calls overall, by F1 on all news datasets; `weak` is F1 by dataset and system."""
    means = {name: sum(scores[name] for scores in weak.values()) / len(weak) for name in weak["AIDA/CONLL"]}
    published = "TagMe 2, Illinois Wikifier, Wikipedia Miner"
    return build_claim(
        "The best systems overall, by mean F1 on the three news datasets",
        published,
        ", ".join(_rank(means)[:3]),
        explanation=Explanation(
            "definition differs",
            "the ranking is that of AIDA/CONLL, by weak and by strong match; on the other two datasets Wikipedia Miner "
            "is ahead of Illinois Wikifier",
            value_if_changed=", ".join(_rank(weak["AIDA/CONLL"])[:3]),
        ),
    )


def build_mention_claims() -> Exhibit:
    """Check what Section 6.1.2 says about Table 7."""
    f1, recall, precision = (_read_dataset(TABLE_7, "AIDA/CONLL", column) for column in ("F1_mic", "R_mic", "P_mic"))
    lowest = [name for name, number in recall.items() if number == min(recall.values())]
    return Exhibit(
        "Section 6.1.2",
        "Finding just the mentions: what the text says about Table 7",
        _CHECK,
        mark_from_paper(
            (
                _check_ranking(
                    "AIDA/CONLL: F1 by weak mention match",
                    f1,
                    ["TagMe 2"],
                    ["Wikipedia Miner"],
                    ["Illinois Wikifier"],
                    _AIDA_VARIANTS,
                    ["DBPedia Spotlight"],
                ),
                build_claim(
                    "AIDA's F1 is poor because of a very low recall: the lowest recall",
                    "AIDA",
                    f"{', '.join(lowest)} ({min(recall.values())})",
                    is_equal=set(lowest) == set(_AIDA_VARIANTS),
                ),
                build_claim(
                    "The best parsing is due to very high precision: the highest precision",
                    "TagMe 2",
                    f"{_rank(precision)[0]} ({max(precision.values())})",
                    is_equal=_rank(precision)[0] == "TagMe 2",
                    explanation=Explanation(
                        "slip in the paper",
                        "AIDA has the highest precision, as Section 6.1.1 says; TagMe has it among the other systems",
                        value_if_changed=next(name for name in _rank(precision) if name not in _AIDA_VARIANTS),
                    ),
                ),
                _lose("The ranking holds also for AQUAINT and MSNBC", "same ranking"),
            )
        ),
        notes=(_FROM_TABLES,),
    )


def build_entity_claims() -> Exhibit:
    """Check what Section 6.1.3 says about Table 8, and about the drop from Table 7."""
    mention = _read_dataset(TABLE_7, "AIDA/CONLL", "F1_mic")
    f1, p, r = (_read_dataset(TABLE_8, "AIDA/CONLL", column) for column in ("F1_mic", "P_mic", "R_mic"))
    drops = {name: mention[name] - score for name, score in f1.items()}
    aida_drops = [drops[name] for name in _AIDA_VARIANTS]
    smallest = min(drops, key=lambda name: drops[name])
    others = {name: drop for name, drop in drops.items() if name not in _AIDA_VARIANTS}
    return Exhibit(
        "Section 6.1.3",
        "Finding just the entities: what the text says about Tables 7 and 8",
        _CHECK,
        mark_from_paper(
            (
                build_claim("The best F1", "TagMe 2", _rank(f1)[0], is_equal=_rank(f1)[0] == "TagMe 2"),
                build_claim("The best recall", "TagMe 2", _rank(r)[0], is_equal=_rank(r)[0] == "TagMe 2"),
                build_claim(
                    "The highest precision",
                    "AIDA-CocktailParty",
                    _rank(p)[0],
                    is_equal=_rank(p)[0] == "AIDA-CocktailParty",
                ),
                _check_ranking(
                    "The variants of AIDA, by F1",
                    {name: f1[name] for name in _AIDA_VARIANTS},
                    *([name] for name in _AIDA_VARIANTS),
                ),
                *(
                    build_claim(
                        f"{name}: drop of F1 from mentions to entities",
                        published,
                        f"{drops[name]:.1f} %",
                        is_equal=abs(drops[name] - float(published.split()[-2])) <= 0.5 + 1e-9,
                    )
                    for name, published in {
                        "TagMe 2": "9 %",
                        "Wikipedia Miner": "about 19 %",
                        "Illinois Wikifier": "about 12 %",
                        "DBPedia Spotlight": "about 15 %",
                    }.items()
                ),
                build_claim(
                    "AIDA: drop of F1, from the best to the worst variant",
                    "about 3 % to 11 %",
                    f"{min(aida_drops):.1f} % to {max(aida_drops):.1f} %",
                    is_equal=[round(min(aida_drops)), round(max(aida_drops))] == [3, 11],
                ),
                build_claim(
                    "The smallest drop",
                    "TagMe 2",
                    f"{smallest} ({drops[smallest]:.1f} %)",
                    is_equal=smallest == "TagMe 2",
                    explanation=Explanation(
                        "slip in the paper",
                        "two variants of AIDA drop less than TagMe, as the same passage says; the claim holds for the "
                        "systems other than AIDA",
                        value_if_changed=min(others, key=lambda name: others[name]),
                    ),
                ),
                _lose("The ranking holds also for AQUAINT and MSNBC", "same ranking"),
            )
        ),
        notes=(_FROM_TABLES,),
    )


def build_similarity_claims(tables: ResultTables) -> Exhibit:
    """Check what Section 6.1.4 says about Table 9; the table of Karat's values is that of dissimilarities."""
    cells = {(row, column): _parse_pair(text) for row, column, text in read_cells(TABLE_9) if text != "100/100"}
    aida = [shares for (row, column), shares in cells.items() if row.startswith("AIDA") and column.startswith("AIDA")]
    rest = [
        shares for (row, column), shares in cells.items() if not (row.startswith("AIDA") and column.startswith("AIDA"))
    ]
    wiki = [
        share
        for (row, column), shares in cells.items()
        if row in ("Illinois Wikifier", "TagMe 2") and column in ("TagMe 2", "Wikip. Miner")
        for share in shares
    ]
    lowest, highest = ([pick(pair[i] for pair in pairs) for i in (0, 1)] for pick, pairs in ((min, aida), (max, rest)))
    return Exhibit(
        "Section 6.1.4",
        "Similarity between systems: what the text says about Table 9",
        DISSIMILARITY_COMMAND,
        mark_from_paper(
            (
                build_claim(
                    "The highest similarities",
                    "between the variants of AIDA",
                    f"variants of AIDA at least {lowest[0]}/{lowest[1]}, others at most {highest[0]}/{highest[1]}",
                    is_equal=all(low > high for low, high in zip(lowest, highest, strict=True)),
                ),
                build_claim(
                    "Illinois Wikifier, Wikipedia Miner and TagMe: similarity",
                    "around 65 %",
                    f"{sum(wiki) / len(wiki):.0f} % on average, {min(wiki)} to {max(wiki)} %",
                    is_equal=all(abs(share - 65) <= 5 for share in wiki),
                ),
                _lose("Correct annotations among those that one system has and another has not", "mostly 30-40 %"),
                _lose("… of AIDA-Local and AIDA-CocktailParty, against all other systems", "53-62 %"),
                _lose("… against Wikipedia Miner", "61 %"),
                _lose("… against TagMe", "62 %"),
                _lose("… against Illinois Wikifier", "53 %"),
            )
        ),
        notes=(
            _FROM_TABLES,
            "Around 65 % means 60 to 70 %.",
            "The table of Karat's values: of the annotations (weak match, best thresholds) that the system of the row "
            "has and that of the column has not, the share of correct ones in percent.",
            "Code differs from text: BAT's code computes Table 9 on true positives only, the text on whole outputs. "
            "Karat compares whole outputs above the best threshold.",
        ),
        own_table=tuple(tables.list_dissimilarities()),
    )


def _parse_pair(text: str) -> tuple[int, int]:
    """Return the two percentages of a cell of Table 9."""
    first, _, second = text.partition("/")
    return int(first), int(second)


def build_tweet_claims() -> Exhibit:
    """Check what Section 6.2 says about Table 10."""
    f1, p, r = (_read_dataset(TABLE_10, "Meij", column) for column in ("F1_mic", "P_mic", "R_mic"))
    wikifier, best = "Illinois Wikifier", ("Wikipedia Miner", "TagMe 2")
    gaps = [max(scores[name] for name in best) - scores[wikifier] for scores in (f1, p, r)]
    news = {dataset: max(_read_dataset(TABLE_5, dataset, "F1_mic").values()) for dataset in _list_news()}
    return Exhibit(
        "Section 6.2",
        "Tweets: what the text says about Table 10",
        _CHECK,
        mark_from_paper(
            (
                build_claim(
                    "The best F1, and the second",
                    "Wikipedia Miner, TagMe 2",
                    ", ".join(_rank(f1)[:2]),
                    is_equal=_rank(f1)[:2] == ["Wikipedia Miner", "TagMe 2"],
                ),
                build_claim(
                    "Illinois Wikifier is worse than these two, especially in recall",
                    "worse, especially in recall",
                    f"F1 {gaps[0]:.1f}, precision {gaps[1]:.1f} and recall {gaps[2]:.1f} below the better of the two",
                    is_equal=0 < gaps[0] < gaps[2] and gaps[1] < gaps[2],
                ),
                build_claim(
                    "The lowest F1",
                    "all variants of AIDA",
                    ", ".join(_rank(f1)[-3:]),
                    is_equal=set(_rank(f1)[-3:]) == set(_AIDA_VARIANTS),
                ),
                build_claim(
                    "The highest precision",
                    "all variants of AIDA",
                    ", ".join(_rank(p)[:3]),
                    is_equal=set(_rank(p)[:3]) == set(_AIDA_VARIANTS),
                ),
                build_claim(
                    "The lowest precision",
                    "DBPedia Spotlight",
                    _rank(p)[-1],
                    is_equal=_rank(p)[-1] == "DBPedia Spotlight",
                ),
                build_claim(
                    "The best F1 on tweets is lower than on news",
                    "lower",
                    f"{max(f1.values())} against {', '.join(map(str, news.values()))}",
                    is_equal=max(f1.values()) < min(news.values()),
                ),
            )
        ),
        notes=(_FROM_TABLES,),
    )


def _list_news() -> tuple[str, ...]:
    """Return the news datasets."""
    return tuple(dict.fromkeys(row.partition(", ")[0] for row in read_numbers(TABLE_5, "F1_mic")))


def build_web_claims() -> Exhibit:
    """Check what Section 6.3 says about Table 11."""
    f1, recall = (_read_dataset(TABLE_11, "IITB", column) for column in ("F1_mic", "R_mic"))
    return Exhibit(
        "Section 6.3",
        "Web pages: what the text says about Table 11",
        _CHECK,
        mark_from_paper(
            (
                _check_ranking(
                    "IITB: F1 by weak match",
                    f1,
                    ["Wikipedia Miner"],
                    ["DBpedia Spotlight"],
                    ["Illinois Wikifier"],
                    ["TagMe 2"],
                    _AIDA_VARIANTS,
                ),
                build_claim(
                    "AIDA is worse because of low recall: the lowest recall",
                    "AIDA",
                    ", ".join(f"{name} {recall[name]}" for name in _rank(recall)[-3:]),
                    is_equal=set(_rank(recall)[-3:]) == set(_AIDA_VARIANTS),
                ),
            )
        ),
        notes=(_FROM_TABLES,),
    )


def build_runtime_claims(tables: ResultTables) -> Exhibit:
    """Check what Section 6.4 says about Table 12 and Figure 6."""
    datasets = read_header(TABLE_12)
    times = {dataset: read_numbers(TABLE_12, dataset) for dataset in datasets}
    names = list(times[datasets[0]])
    means = {name: sum(times[dataset][name] for dataset in datasets) / len(datasets) for name in names}
    by_mean = sorted(means, key=lambda name: means[name])
    n_fastest = sum(min(column, key=lambda name: column[name]) == "TagMe 2" for column in times.values())
    n_second = sum(sorted(column, key=lambda name: column[name])[1] == "Wikipedia Miner" for column in times.values())
    speed_up = _mean_ratio(times, datasets, ["Wikipedia Miner"])
    long_texts = [dataset for dataset in datasets if dataset != "Meij"]
    slow_down = _mean_ratio(times, long_texts, ["AIDA-Local", "AIDA-CocktailParty"])
    lengths = read_numbers(TABLE_3, "Avg length")
    correlations = {
        name: float(np.corrcoef([lengths[d] for d in datasets], [times[d][name] for d in datasets])[0, 1])
        for name in names
    }
    n_linear = sum(value > 0.9 for value in correlations.values())
    aida = {name: times["AIDA/CONLL"][name] for name in _AIDA_VARIANTS}
    f1 = _read_best_f1("AIDA/CONLL")
    n_dominated = _count_dominated(times["AIDA/CONLL"], f1)
    is_faster = min(aida, key=lambda name: aida[name]) == "AIDA-PriorityOnly"
    is_worse = all(f1["aida-priorityonly"] < f1[name.casefold()] for name in _AIDA_VARIANTS[:2])
    return Exhibit(
        "Section 6.4",
        "Runtime: what the text says about Table 12 and Figure 6",
        _CHECK,
        mark_from_paper(
            (
                build_claim(
                    "The fastest system",
                    "TagMe",
                    f"TagMe on {n_fastest} of {len(datasets)} datasets",
                    is_equal=n_fastest == len(datasets),
                ),
                build_claim(
                    "The second, by the mean over datasets",
                    "Wikipedia Miner",
                    f"{by_mean[1]}; second on {n_second} of {len(datasets)} datasets",
                    is_equal=by_mean[1] == "Wikipedia Miner",
                ),
                build_claim(
                    "TagMe is faster than Wikipedia Miner, mean over datasets",
                    "about 10 times",
                    f"{speed_up:.1f} times",
                    is_equal=round(speed_up / 5) * 5 == 10,
                ),
                build_claim(
                    "DBpedia Spotlight: peaks on AIDA/CONLL and Meij",
                    "9 s and 1 s",
                    " and ".join(f"{times[d]['DBpedia Spotlight'] / 1000:.0f} s" for d in ("AIDA/CONLL", "Meij")),
                    is_equal=[round(times[d]["DBpedia Spotlight"] / 1000) for d in ("AIDA/CONLL", "Meij")] == [9, 1],
                ),
                build_claim(
                    "Illinois Wikifier is slower than Wikipedia Miner, by means over datasets",
                    "about three times",
                    f"{means['Illinois Wikifier'] / means['Wikipedia Miner']:.1f} times",
                    is_equal=round(means["Illinois Wikifier"] / means["Wikipedia Miner"]) == 3,
                ),
                _check_tweet_times(times["Meij"]),
                build_claim(
                    "The fastest variant of AIDA on all datasets",
                    "AIDA-PriorityOnly",
                    ", ".join(sorted({min(_AIDA_VARIANTS, key=lambda name: times[d][name]) for d in datasets})),
                    is_equal={min(_AIDA_VARIANTS, key=lambda name: times[d][name]) for d in datasets}
                    == {"AIDA-PriorityOnly"},
                ),
                build_claim(
                    "AIDA-Local and CocktailParty are slower than TagMe, mean over datasets without Meij",
                    "about 300 times",
                    f"{slow_down:.0f} times",
                    is_equal=round(slow_down / 100) == 3,
                ),
                build_claim(
                    "Runtime looks linear in the size of the text, for all systems",
                    "all systems",
                    f"{n_linear} of {len(names)} systems by the means in Tables 3 and 12 (r > 0.9)",
                    is_equal=n_linear == len(names),
                    explanation=Explanation(
                        "data missing",
                        "the means of DBpedia Spotlight have its peak on AIDA/CONLL; the claim needs the runtimes of "
                        "single documents, which are lost",
                        missing_file=OUTPUT_CACHE,
                    ),
                ),
                build_claim(
                    "Figure 6: TagMe dominates all other systems in runtime and F1",
                    "all other systems",
                    f"{n_dominated} of {len(names) - 1} other systems",
                    is_equal=n_dominated == len(names) - 1,
                ),
                _check_other_plots(times),
                build_claim(
                    "Figure 6: AIDA-PriorityOnly against the other variants of AIDA",
                    "faster, with lower effectiveness",
                    f"{'faster' if is_faster else 'not faster'}, with {'lower' if is_worse else 'higher'} F1",
                    is_equal=is_faster and is_worse,
                ),
            )
        ),
        notes=(
            _FROM_TABLES,
            "AIDA-PriorityOnly is faster than Wikipedia Miner on MSNBC (1187 and 1282 ms), and DBpedia Spotlight on "
            "IITB (1236 and 1245 ms).",
            "The table of Karat's values: the correlation of runtime and text length over all documents.",
        ),
        is_measured=True,
        own_table=tuple(tables.measure_linearity()),
    )


def _check_tweet_times(times: Mapping[str, float]) -> Cell:
    """Check the ranking by runtime on Meij; the systems that the text does not name are slower."""
    ranking = sorted(times, key=lambda name: times[name])
    named = ["TagMe 2", "Wikipedia Miner", "AIDA-PriorityOnly", "Illinois Wikifier"]
    return build_claim(
        "Meij: systems by runtime, the fastest first",
        f"{', '.join(named)}, the others way slower",
        ", ".join(f"{name} {times[name]:.0f}" for name in ranking),
        is_equal=ranking[: len(named)] == named,
    )


def _read_best_f1(dataset: str) -> dict[str, float]:
    """Return the best F1 of each system on a dataset, by name in lower case: tables spell DBpedia in two ways."""
    table = {"Meij": TABLE_10, "IITB": TABLE_11}.get(dataset, TABLE_5)
    return {name.casefold(): score for name, score in _read_dataset(table, dataset, "F1_mic").items()}


def _count_dominated(times: Mapping[str, float], f1: Mapping[str, float]) -> int:
    """Return how many systems are slower than TagMe and have a lower F1."""
    return sum(times["TagMe 2"] < times[name] and f1["tagme 2"] > f1[name.casefold()] for name in times)


def _check_other_plots(times: Mapping[str, Mapping[str, float]]) -> Cell:
    """Check that TagMe dominates all systems on the datasets that Figure 6 does not show."""
    counts = {
        dataset: _count_dominated(column, _read_best_f1(dataset))
        for dataset, column in times.items()
        if dataset != "AIDA/CONLL"
    }
    n_others = len(times["Meij"]) - 1
    published = "similar: all other systems"
    is_similar_on_news = all(counts[dataset] == n_others for dataset in _list_news() if dataset in counts)
    return build_claim(
        "Figure 6: systems that TagMe dominates on all other datasets",
        published,
        ", ".join(f"{count} of {n_others} on {dataset}" for dataset, count in counts.items()),
        is_equal=all(count == n_others for count in counts.values()),
        explanation=Explanation(
            "slip in the paper",
            "by Tables 10 and 11 TagMe has not the best F1 on Meij and IITB; the claim holds for the news datasets",
            value_if_changed=published if is_similar_on_news else None,
        ),
    )


def _mean_ratio(times: Mapping[str, Mapping[str, float]], datasets: Iterable[str], names: Iterable[str]) -> float:
    """Return how many times slower than TagMe systems are, as a mean over datasets and systems."""
    ratios = [times[dataset][name] / times[dataset]["TagMe 2"] for dataset, name in product(datasets, names)]
    return sum(ratios) / len(ratios)
