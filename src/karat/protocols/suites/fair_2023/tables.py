"""Tables 1 to 4 and Figure 1 of the fair evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from karat.data.describe import describe
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.protocols.papers.reproducibility import RATINGS, rate_reproducibility
from karat.protocols.suites.fair_2023.benchmark_changes import (
    PRONOUN,
    count_partial_names,
    format_percent,
    load_uncorrected_kore50,
    mark_as_named,
)
from karat.protocols.suites.fair_2023.claims import PRINTED_STRENGTHS, STRENGTHS, count_errors
from karat.protocols.suites.fair_2023.measurements import (
    BENCHMARKS,
    KB_PATH,
    SYSTEMS,
    Measurements,
    SystemMeasurements,
    average,
    get_benchmark_path,
    select_benchmarks,
)
from karat.protocols.suites.fair_2023.published_tables import (
    STATED_GAPS,
    TABLE_2,
    TABLE_2_COLUMNS,
    TABLE_3,
    TABLE_3_COLUMNS,
    TABLE_4,
    TABLE_4_COLUMNS,
)
from karat.systems.claims.fair_2023 import TABLE_1, TABLE_1_COLUMNS

_FILES: Final = (
    "*.{aida-conll-test,kore50,msnbc-updated,news-fair-no-coref,wiki-fair-no-coref}.linked_articles.jsonl.gz"
)

OPTIONS: Final = "--profile elevant --kb DIR/elevant/kb"
"""The options by which ELEVANT's figures are computed."""

OUTPUTS: Final = f"DIR/elevant/results/{{refined,rel,genre,ambiverse,baseline}}/{_FILES}"
"""The outputs of all systems of Table 1 that ELEVANT still publishes, as an argument of commands."""

ALL_OUTPUTS: Final = OUTPUTS.replace("baseline", "baseline,dbpedia-spotlight")
"""The same with the outputs of DBpedia Spotlight."""

SCORECARD: Final = f"karat scorecard {OUTPUTS} {OPTIONS} --view 'strong[in-kb]'"
"""The command for averages over the benchmarks."""

COMPARE: Final = f"karat compare {OUTPUTS} {OPTIONS} -m 'strong[in-kb]:micro.f1'"
"""The command for scores on each benchmark."""

STATISTICS: Final = (
    "karat data stats DIR/elevant/benchmarks/{aida-conll-test,kore50,msnbc-updated,news-fair-no-coref,"
    "wiki-fair-no-coref}.benchmark.jsonl.gz --kb DIR/elevant/kb"
)
"""The command for the statistics of the benchmarks."""

_ORACLE_COMMAND: Final = (
    "karat score DIR/elevant/results/oracle/oracle.wiki-fair-no-coref.linked_articles.jsonl.gz "
    f"{OPTIONS} --by error -m strong:micro.f1"
)

_SCORES: Final[dict[str, Callable[[SystemMeasurements], float]]] = {
    "Overall F1": lambda pair: pair.f1,
    "NER F1": lambda pair: pair.detection.f1,
    "Disamb. accuracy": lambda pair: pair.accuracy,
}
"""The scores of Table 1."""

_COUNTS: Final = {
    "NER false negatives, lower-cased": "ner-fn-lowercased",
    "NER false negatives, partially included": "ner-fn-partially-included",
    "NER false positives, lower-cased": "ner-fp-lowercased",
    "NER false positives, gr. truth NIL": "ner-fp-groundtruth-unknown",
    "NER false positives, wrong span": "ner-fp-wrong-span",
}
"""The error category of each count of Table 4."""

_RATES: Final = {
    "Disambiguation error rate, demonym": ("disambiguation-demonym", "demonym"),
    "Disambiguation error rate, metonym": ("disambiguation-metonymy", "metonym"),
    "Disambiguation error rate, partial name": ("disambiguation-partial-name", None),
    "Disambiguation error rate, rare": ("disambiguation-rare", None),
}
"""The error category of each rate of Table 4, and the trait of which a benchmark needs at least 2 %."""

_TRAITS: Final = {
    "lower": ("lowercase", "ner-fn-lowercased"),
    "multiword": ("multiword", "ner-fn-partially-included"),
    "NIL": ("nil", None),
    "demonym": ("demonym", "disambiguation-demonym"),
    "metonym": ("metonym", "disambiguation-metonymy"),
    "partial": ("partial", "disambiguation-partial-name"),
    "rare": ("rare", "disambiguation-rare"),
    "person": ("person", None),
    "location": ("location", None),
    "organization": ("organisation", None),
}
"""The trait of each column of Table 3, and the error category whose total ELEVANT counts such mentions in."""

_PROPERTIES: Final = {
    "All": "mentions",
    "Coreference": "coreference",
    "Linked to NIL": "nil",
    "Optional": "optional",
    "Alternative annotation": "alternative",
}
"""The statistic of each row of Table 2."""

_PRONOUN: Final = "an older list of pronouns of ELEVANT lacks “we”; here “we” is taken for no pronoun"
_ORACLE_TOTALS: Final = (
    "the paper prints the totals of ELEVANT's error categories for the oracle: multiword mentions are capitalised ones "
    "only, and a mention is lowercased if its first letter is, or if it has no letter"
)
_UNFIXED: Final = (
    "the spans of KORE50 have been corrected since; with those of kore50-unfixed and categories that overlap, partial "
    "names are counted as in the table"
)


def build_table_1(scores: Measurements) -> Exhibit:
    """Return Table 1: averages over the benchmarks, strengths and weaknesses, and reproducibility of each system."""
    cells = []
    for system, published in TABLE_1.items():
        texts = dict(zip(TABLE_1_COLUMNS, published, strict=True))
        missing = scores.find_missing(system)
        for column, compute in _SCORES.items():
            if missing is not None:
                cells.append(Cell(system, column, texts[column], None, scores.data.explain_missing(missing)))
                continue
            cells.append(_compare_output(scores, system, column, texts[column], compute, _format_score))
        strengths = system, TABLE_1_COLUMNS[3], texts[TABLE_1_COLUMNS[3]]
        if missing is not None and system in PRINTED_STRENGTHS:
            cells.append(PRINTED_STRENGTHS[system].build_cell(*strengths))
        else:
            cells.append(STRENGTHS[system].build_cell(scores, *strengths))
        gaps = STATED_GAPS.get(system)
        rating = "-" if gaps is None else rate_reproducibility(gaps).word
        cells.append(Cell(system, "Reproducibility", texts["Reproducibility"], rating, is_from_paper=True))
    return Exhibit(
        "Table 1",
        "Overview of the results of the evaluation",
        SCORECARD,
        tuple(cells),
        notes=(
            "Scores are unweighted means over the five benchmarks, without NIL (ELEVANT's mode IGNORED).",
            "Accuracy is one minus the error rate of links, as ELEVANT shows it. Section 3.2 divides true positives by "
            "true positives of detection, which differs for mentions with several segmentations.",
            "Reproducibility is rated by what Sections 6 and A.2 state, since the outputs of the systems' papers are "
            "not published: " + "; ".join(f"{rating.word}: {rating.description}" for rating in RATINGS) + ".",
            "Strengths and weaknesses are compared among the systems whose outputs are in the folder; those of Neural "
            "EL and TagMe, without outputs, by the printed values of this table and of Table 4.",
        ),
    )


def _format_score(value: float) -> str:
    """Return a score as the paper prints it."""
    return f"{100 * value:.1f}%"


def _compare_output(
    scores: Measurements,
    system: str,
    column: str,
    published: str,
    compute: Callable[[SystemMeasurements], float],
    formatter: Callable[[float], str],
) -> Cell:
    """Return the cell of a figure of `system`, averaged over the benchmarks, which `compute` returns for each."""
    value, changed = (
        formatter(average([compute(pair) for pair in scores.list_pairs(system, is_restored=is_restored)]))
        for is_restored in (False, True)
    )
    explanation = None
    if value != published:
        explanation = (
            Explanation("definition differs", _PRONOUN, value_if_changed=changed)
            if changed == published
            else scores.explain_later_output([system])
        )
    return Cell(system, column, published, value, explanation)


def build_figure_1(scores: Measurements) -> Exhibit:
    """Return Figure 1: the F1 of each system on each benchmark, as groups of bars."""
    series, cells = [], []
    for system in SYSTEMS:
        pairs = {name: benchmark.pairs.get(system) for name, benchmark in scores.benchmarks.items()}
        points = tuple(PlotPoint(name, None if pair is None else 100 * pair.f1) for name, pair in pairs.items())
        series.append(PlotSeries(system, points))
        published, missing = TABLE_1[system][0], scores.find_missing(system)
        column = "mean of the bars"
        if missing is None:
            cells.append(_compare_output(scores, system, column, published, _SCORES["Overall F1"], _format_score))
        else:
            cells.append(Cell(system, column, published, None, scores.data.explain_missing(missing)))
    plot = Plot(
        "bars",
        "Overall results of each system on each benchmark",
        tuple(series),
        y_title="F1 in percent",
        y_range=(0.0, 100.0),
    )
    return Exhibit(
        "Figure 1",
        "Overall results of each system on each benchmark",
        COMPARE,
        tuple(cells),
        (plot,),
        notes=("The figure prints no numbers; the means of its bars are the overall F1 of Table 1.",),
    )


def build_table_2(scores: Measurements) -> Exhibit:
    """Return Table 2: the number of annotations with each property in the two new benchmarks, with coreference."""
    cells = []
    for index, column in enumerate(TABLE_2_COLUMNS):
        name = column.lower()
        path = get_benchmark_path(name)
        for row, published in TABLE_2.items():
            text = published[index]
            if scores.data.find(path) is None:
                cells.append(Cell(row, column, text, None, scores.data.explain_missing(path)))
                continue
            value, explanation = str(scores.describe_benchmark(name).numbers[_PROPERTIES[row]]), None
            if value != text:
                corpus = mark_as_named(scores.load_benchmark(name), PRONOUN)
                changed = describe(corpus).numbers[_PROPERTIES[row]]
                explanation = Explanation("definition differs", _PRONOUN, value_if_changed=str(changed))
            cells.append(Cell(row, column, text, value, explanation))
    return Exhibit(
        "Table 2",
        "Number of ground truth annotations with the given properties for the two new benchmarks",
        "karat data stats DIR/elevant/benchmarks/{wiki-fair,news-fair}.benchmark.jsonl.gz",
        tuple(cells),
        notes=(
            "Counted are mentions, optional ones and coreference included; a mention with several segmentations or "
            "entities counts once.",
        ),
    )


def build_table_3(scores: Measurements) -> Exhibit:
    """Return Table 3: the number of required mentions of each benchmark, and the shares with each trait."""
    cells = []
    for name, published in TABLE_3.items():
        for column, text in zip(TABLE_3_COLUMNS, published, strict=True):
            cells.append(
                _build_size_cell(scores, name, text)
                if column == "mentions"
                else _build_share_cell(scores, name, column, text)
            )
    return Exhibit(
        "Table 3",
        "Statistics about types of mentions and entities in the benchmarks",
        f"{STATISTICS}\n{_ORACLE_COMMAND}",
        tuple(cells),
        notes=(
            "Counted are the required mentions, NIL included, without coreference: neither optional ones nor the parts "
            "of other segmentations.",
            "Facts about popular entities are published only in part, so metonyms, partial names and rare mentions are "
            "ranges: from those that surely have the trait to those that may have it. A range that contains the "
            "printed share agrees with it.",
            "Types are those that the files have now. In ELEVANT's public history an older file of KORE50 has 74 "
            "persons (51%), 15 locations (10%) and 41 organizations (28%), as printed.",
        ),
    )


def _build_size_cell(scores: Measurements, name: str, published: str) -> Cell:
    """Return the cell of Table 3 with the number of required mentions of a benchmark."""
    description = scores.benchmarks[name].description
    if description is None:
        path = get_benchmark_path(BENCHMARKS[name])
        return Cell(name, "mentions", published, None, scores.data.explain_missing(path))
    value, explanation = str(description.numbers["required"]), None
    n_restored = scores.benchmarks[name].n_restored
    if value != published:
        explanation = scores.explain_later_benchmark(name)
        if str(n_restored) == published:
            explanation = Explanation("definition differs", _PRONOUN, value_if_changed=str(n_restored))
    return Cell(name, "mentions", published, value, explanation)


def _build_share_cell(scores: Measurements, name: str, column: str, published: str) -> Cell:
    """Return a cell of Table 3 with the share of mentions that have a trait."""
    benchmark = scores.benchmarks[name]
    trait, category = _TRAITS[column]
    if benchmark.description is None:
        path = get_benchmark_path(BENCHMARKS[name])
        return Cell(name, column, published, None, scores.data.explain_missing(path))
    count = benchmark.description.columns[trait]
    if count.number is None:
        return Cell(name, column, published, None, scores.data.explain_missing(KB_PATH))
    bounds = [format_percent(number, count.total) for number in (count.number, count.number + count.undecided)]
    value = bounds[0] if bounds[0] == bounds[1] else f"{bounds[0].removesuffix('%')}–{bounds[1]}"
    low, expected, high = (int(text.removesuffix("%")) for text in (bounds[0], published, bounds[1]))
    if low <= expected <= high:
        return Cell(name, column, published, value, is_equal=True)
    explanation = scores.explain_later_benchmark(name)
    totals = {format_percent(number, count.total) for number in benchmark.oracle_totals.get(category or "", ())}
    if totals == {published}:
        explanation = Explanation("code differs from text", _ORACLE_TOTALS, value_if_changed=totals.pop())
    elif (name, column) == ("KORE50", "partial") and (corpus := load_uncorrected_kore50(scores.data)) is not None:
        changed = format_percent(count_partial_names(corpus), count.total)
        explanation = Explanation("code differs from text", _UNFIXED, value_if_changed=changed)
    return Cell(name, column, published, value, explanation, is_equal=False)


def build_table_4(scores: Measurements) -> Exhibit:
    """Return Table 4: average numbers of detection errors, and average error rates of disambiguation."""
    cells = []
    for system, published in TABLE_4.items():
        missing = scores.find_missing(system)
        for column, text in zip(TABLE_4_COLUMNS, published, strict=True):
            if missing is not None:
                cells.append(Cell(system, column, text, None, scores.data.explain_missing(missing)))
            elif column in _COUNTS:
                cells.append(
                    _compare_output(scores, system, column, text, count_errors(_COUNTS[column]), "{:.1f}".format)
                )
            else:
                cells.append(_build_rate_cell(scores, system, column, text))
    selected = {trait: select_benchmarks(scores.benchmarks, trait) for trait in ("demonym", "metonym")}
    return Exhibit(
        "Table 4",
        "Average results over all five benchmarks for the fine-grained evaluation measures",
        SCORECARD,
        tuple(cells),
        notes=(
            *(
                f"The error rate of {trait}s is averaged over {_join_names(names)}, of whose linked mentions at least "
                f"2 % are {trait}s."
                for trait, names in selected.items()
                if names
            ),
            "Facts about popular entities are published only in part, so error rates are ranges: the smallest and the "
            "largest that the known facts allow. A range that contains the printed rate agrees with it.",
        ),
    )


def _build_rate_cell(scores: Measurements, system: str, column: str, published: str) -> Cell:
    """Return a cell of Table 4 with an average error rate, as a range if cases are undecided."""
    if scores.data.find(KB_PATH) is None:
        return Cell(system, column, published, None, scores.data.explain_missing(KB_PATH))
    category, trait = _RATES[column]
    names = list(BENCHMARKS) if trait is None else select_benchmarks(scores.benchmarks, trait)
    if not names:  # the statistics are missing, which the rule of 2 % needs
        path = next(get_benchmark_path(name) for name in BENCHMARKS.values())
        return Cell(system, column, published, None, scores.data.explain_missing(path))
    rates = [rates for name in names if (rates := scores.benchmarks[name].pairs[system].bounds[category].rates)]
    low, high = (f"{100 * average(side):.1f}" for side in zip(*rates, strict=True))
    value = f"{low}%" if low == high else f"{low}–{high}%"
    is_equal = float(low) <= float(published.removesuffix("%")) <= float(high)
    return Cell(system, column, published, value, None if is_equal else scores.explain_later_output([system]), is_equal)


def _join_names(names: Sequence[str]) -> str:
    """Return names as a list in a sentence."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
