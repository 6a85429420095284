"""Checks of the claims of the fair evaluation: each returns the figures that decide, and whether the claim holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import pstdev
from typing import Final

from karat.data.describe import describe
from karat.protocols.suites.fair_2023.benchmark_changes import format_percent, load_uncorrected_kore50
from karat.protocols.suites.fair_2023.claims import (
    ALL,
    DEMONYM,
    INCLUDED,
    METONYM,
    NIL_LINKS,
    PARTIAL,
    RARE,
    ClaimOutcome,
    collect,
    count_errors,
    decided_rate,
    describe_values,
    list_by_benchmark,
    list_systems,
    mean_of_others,
    points,
    rank,
    rate_errors,
    whole,
)
from karat.protocols.suites.fair_2023.measurements import (
    EXISTING,
    FAIR,
    SPOTLIGHT,
    Measurements,
    average,
    select_benchmarks,
)
from karat.protocols.suites.fair_2023.published_tables import WHITELIST

_HARDLY: Final = 0.05
"""Largest difference of scores that counts as hardly or barely better."""

_CLEARLY: Final = 0.05
"""Smallest difference of scores that counts as considerably worse."""

_RARELY: Final = 1.0
"""Largest share, in percent, of mentions that counts as rarely or almost never."""

_PERCENT: Final = "{:.1f} %".format
"""The form of a percentage."""

_NEWER: Final = ("ReFinED", "REL", "GENRE")
"""The systems that are newer than Ambiverse."""


# Section 1.2


def check_similar_performance(scores: Measurements) -> ClaimOutcome:
    """Check that the F1 of systems varies less on the new benchmarks than on the existing ones."""
    spreads = {
        name: pstdev([benchmark.pairs[system].f1 for system in list_systems(scores)])
        for name, benchmark in scores.benchmarks.items()
    }
    new, existing = (average([spreads[name] for name in names]) for names in (FAIR, EXISTING))
    return ClaimOutcome(
        f"standard deviation of F1 over systems: {points(new)} points on the new benchmarks, {points(existing)} on the "
        "existing ones",
        new < existing,
    )


def check_good_baseline(scores: Measurements) -> ClaimOutcome:
    """Check that the baseline lags less behind the mean of the other systems on the new benchmarks."""
    gaps = {}
    for name in ALL:
        f1 = collect(scores, lambda pair: pair.f1, [name])
        gaps[name] = mean_of_others(f1, "Baseline") - f1["Baseline"]
    new, existing = (average([gaps[name] for name in names]) for names in (FAIR, EXISTING))
    return ClaimOutcome(
        f"F1 of the baseline is {points(new)} points below the mean of the others on the new benchmarks, "
        f"{points(existing)} on the existing ones",
        new < existing,
    )


# Sections 4 and 5


def _share(scores: Measurements, name: str, trait: str) -> float:
    """Return the percentage of mentions of the benchmark `name` that are known to have `trait`."""
    return scores.benchmarks[name].require_description().columns[trait].percent or 0.0


def check_named_entities(scores: Measurements) -> ClaimOutcome:
    """Check that hardly any mention of the existing benchmarks is lowercased."""
    shares = {name: _share(scores, name, "lowercase") for name in EXISTING}
    return ClaimOutcome(f"lowercased mentions: {list_by_benchmark(shares, _PERCENT)}", max(shares.values()) <= _RARELY)


def check_non_named_entities(scores: Measurements) -> ClaimOutcome:
    """Check that many mentions of the new benchmarks are lowercased."""
    shares = {name: _share(scores, name, "lowercase") for name in FAIR}
    return ClaimOutcome(f"lowercased mentions: {list_by_benchmark(shares, _PERCENT)}", min(shares.values()) > _RARELY)


def check_size(name: str, count: int) -> Callable[[Measurements], ClaimOutcome]:
    """Return a check that the benchmark `name` has `count` documents."""

    def check(scores: Measurements) -> ClaimOutcome:
        documents = scores.describe_benchmark(name).numbers["documents"]
        return ClaimOutcome(str(documents), documents == count)

    return check


def check_largest_shares(name: str, *traits: str) -> Callable[[Measurements], ClaimOutcome]:
    """Return a check that of all benchmarks, `name` has the largest known share of each of `traits`."""

    def check(scores: Measurements) -> ClaimOutcome:
        texts, holds = [], True
        for trait in traits:
            shares = {benchmark: _share(scores, benchmark, trait) for benchmark in ALL}
            largest = max(share for benchmark, share in shares.items() if benchmark != name)
            texts.append(f"{trait} {shares[name]:.1f} %, others at most {largest:.1f} %")
            holds = holds and shares[name] > largest
        return ClaimOutcome("; ".join(texts), holds)

    return check


def check_average_results(scores: Measurements) -> ClaimOutcome:
    """Check that the mean F1 of systems is highest on AIDA-CoNLL."""
    means = {name: average(list(collect(scores, lambda pair: pair.f1, [name]).values())) for name in ALL}
    return ClaimOutcome(f"mean F1: {list_by_benchmark(means)}", max(means, key=means.__getitem__) == "AIDA-CoNLL")


def check_adjectives(scores: Measurements) -> ClaimOutcome:
    """Check that demonyms are hardly ever annotated in MSNBC."""
    share = _share(scores, "MSNBC", "demonym")
    return ClaimOutcome(f"{share:.1f} % demonyms", share <= _RARELY)


def check_no_overlap(scores: Measurements) -> ClaimOutcome:
    """Check that no annotations of MSNBC overlap."""
    overlap = scores.describe_benchmark("msnbc-updated").numbers["overlap"]
    return ClaimOutcome(f"{overlap} overlapping annotations", overlap == 0)


def check_paragraphs(scores: Measurements) -> ClaimOutcome:
    """Check that at most three paragraphs of each document of the new benchmarks are annotated."""
    max_paragraphs = 0
    for document in (*scores.load_benchmark("wiki-fair"), *scores.load_benchmark("news-fair")):
        start, end = document.evaluation_span or (0, len(document.text))
        paragraphs = [part for part in document.text[start:end].split("\n\n") if part.strip()]
        max_paragraphs = max(max_paragraphs, len(paragraphs))
    return ClaimOutcome(f"at most {max_paragraphs} paragraphs", max_paragraphs <= 3)


# Section 6.1


def check_best_f1(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED has the best F1."""
    f1 = collect(scores, lambda pair: pair.f1)
    return ClaimOutcome(f"F1: {describe_values(f1)}", rank(f1, "ReFinED") == 1)


def check_best_accuracy(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED has the best accuracy."""
    accuracy = collect(scores, lambda pair: pair.accuracy)
    return ClaimOutcome(f"accuracy: {describe_values(accuracy)}", rank(accuracy, "ReFinED") == 1)


def check_competitors(scores: Measurements) -> ClaimOutcome:
    """Check that REL and GENRE follow ReFinED, the first with worse accuracy and the second with worse NER."""
    f1 = collect(scores, lambda pair: pair.f1)
    ner, accuracy = collect(scores, lambda pair: pair.detection.f1), collect(scores, lambda pair: pair.accuracy)
    followers = {system for system in f1 if rank(f1, system) in (2, 3)}
    ner_gap, accuracy_gap = ner["ReFinED"] - ner["GENRE"], accuracy["ReFinED"] - accuracy["REL"]
    return ClaimOutcome(
        f"next in F1: {' and '.join(sorted(followers))}; GENRE is {points(ner_gap)} points worse in NER, REL "
        f"{points(accuracy_gap)} points in disambiguation",
        followers == {"REL", "GENRE"} and min(ner_gap, accuracy_gap) > _CLEARLY,
    )


def check_ner_lead(scores: Measurements) -> ClaimOutcome:
    """Check that the lead of ReFinED in NER F1 is larger on both new benchmarks than on each existing one."""
    leads = {}
    for name in ALL:
        ner = collect(scores, lambda pair: pair.detection.f1, [name])
        leads[name] = ner["ReFinED"] - mean_of_others(ner, "ReFinED")
    return ClaimOutcome(
        f"NER F1 minus the mean of the others: {list_by_benchmark(leads)}",
        min(leads[name] for name in FAIR) > max(leads[name] for name in EXISTING),
    )


def check_lowercased_links(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED detects more lowercased mentions of the new benchmarks than most other systems."""
    detected = collect(scores, lambda pair: pair.detected_lowercased, FAIR)
    return ClaimOutcome(
        f"detected lowercased mentions per benchmark: {describe_values(detected, whole)}",
        rank(detected, "ReFinED") <= 2,
    )


def check_nil_on_aida(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED has the most links on NIL on AIDA-CoNLL."""
    errors = collect(scores, count_errors(NIL_LINKS), ["AIDA-CoNLL"])
    return ClaimOutcome(f"links on NIL: {describe_values(errors, '{:.0f}'.format)}", rank(errors, "ReFinED") == 1)


def check_nil_elsewhere(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED does not have the most links on NIL on either new benchmark."""
    ranks = {name: rank(collect(scores, count_errors(NIL_LINKS), [name]), "ReFinED") for name in FAIR}
    return ClaimOutcome(
        f"rank of ReFinED in links on NIL: {list_by_benchmark(ranks, '{:.0f}'.format)}", min(ranks.values()) > 1
    )


def check_hard_categories(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED is among the three best systems on metonyms, partial names and rare mentions."""
    ranks = {}
    for title, category in (("metonyms", METONYM), ("partial names", PARTIAL), ("rare mentions", RARE)):
        names = select_benchmarks(scores.benchmarks, "metonym") if category == METONYM else ALL
        rates = collect(scores, rate_errors(category), names)
        ranks[title] = rank({system: -rate for system, rate in rates.items()}, "ReFinED")
    return ClaimOutcome(
        "rank of ReFinED: " + ", ".join(f"{title} {ranks[title]}" for title in ranks), max(ranks.values()) <= 3
    )


# Section 6.2


def check_high_f1(scores: Measurements) -> ClaimOutcome:
    """Check that REL is among the three best systems on each benchmark."""
    ranks = {name: rank(collect(scores, lambda pair: pair.f1, [name]), "REL") for name in ALL}
    return ClaimOutcome(f"rank in F1: {list_by_benchmark(ranks, '{:.0f}'.format)}", max(ranks.values()) <= 3)


def check_rel_accuracy(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED and GENRE have a higher accuracy than REL."""
    accuracy = collect(scores, lambda pair: pair.accuracy)
    return ClaimOutcome(
        f"accuracy: {describe_values(accuracy)}", min(accuracy["ReFinED"], accuracy["GENRE"]) > accuracy["REL"]
    )


def check_wiki_fair_accuracy(scores: Measurements) -> ClaimOutcome:
    """Check that REL is barely more accurate than the baseline on Wiki-Fair."""
    accuracy = collect(scores, lambda pair: pair.accuracy, ["Wiki-Fair"])
    gap = accuracy["REL"] - accuracy["Baseline"]
    return ClaimOutcome(
        f"accuracy on Wiki-Fair: REL {points(accuracy['REL'])}, Baseline {points(accuracy['Baseline'])}",
        0 < gap <= _HARDLY,
    )


def check_nil_everywhere(system: str) -> Callable[[Measurements], ClaimOutcome]:
    """Return a check that `system` has more links on NIL than the mean of the others on most benchmarks."""

    def check(scores: Measurements) -> ClaimOutcome:
        above = []
        for name in ALL:
            errors = collect(scores, count_errors(NIL_LINKS), [name])
            if errors[system] >= mean_of_others(errors, system):
                above.append(name)
        return ClaimOutcome(
            f"at least as many links on NIL as the mean of the others on {len(above)} of 5 benchmarks", len(above) >= 4
        )

    return check


def check_more_included(system: str, others: Sequence[str]) -> Callable[[Measurements], ClaimOutcome]:
    """Return a check that `system` has more partially included mentions than each of `others`."""

    def check(scores: Measurements) -> ClaimOutcome:
        errors = collect(scores, count_errors(INCLUDED))
        return ClaimOutcome(
            f"partially included mentions: {describe_values(errors, whole)}",
            errors[system] > max(errors[other] for other in others),
        )

    return check


def check_other_errors(scores: Measurements) -> ClaimOutcome:
    """Check that at least a quarter of REL's wrong links on Wiki-Fair are in none of the special categories."""
    pair = scores.benchmarks["Wiki-Fair"].pairs["REL"]
    other = pair.bounds["disambiguation-other"]
    total = pair.errors["disambiguation"]
    return ClaimOutcome(
        f"{other.min_errors}–{other.max_errors} of {total} wrong links on Wiki-Fair are in no special category",
        4 * other.min_errors >= total,
    )


def check_partial_names_on_wiki_fair(scores: Measurements) -> ClaimOutcome:
    """Check that REL's error rate on partial names is far higher on Wiki-Fair than elsewhere."""
    rates = {name: decided_rate(scores.benchmarks[name].pairs["REL"], PARTIAL) for name in ALL}
    others = max(rate for name, rate in rates.items() if name != "Wiki-Fair")
    return ClaimOutcome(f"partial name error rate: {list_by_benchmark(rates)}", rates["Wiki-Fair"] > others + _CLEARLY)


# Section 6.3


def check_typically_outperformed(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED and REL both beat GENRE on more than half of the benchmarks."""
    worse = []
    for name in ALL:
        f1 = collect(scores, lambda pair: pair.f1, [name])
        if f1["GENRE"] < min(f1["ReFinED"], f1["REL"]):
            worse.append(name)
    return ClaimOutcome(f"below both on {len(worse)} of 5 benchmarks: {', '.join(worse)}", len(worse) >= 3)


def check_genre_ner(scores: Measurements) -> ClaimOutcome:
    """Check that the NER F1 of GENRE is 8.5 points below that of the best system."""
    ner = collect(scores, lambda pair: pair.detection.f1)
    gap = f"{points(max(ner.values()) - ner['GENRE'])}%"
    return ClaimOutcome(gap, gap == "8.5%")


def check_precision(scores: Measurements) -> ClaimOutcome:
    """Check that GENRE's NER precision exceeds its recall everywhere, most on the new benchmarks."""
    gaps = {
        name: benchmark.pairs["GENRE"].detection.precision - benchmark.pairs["GENRE"].detection.recall
        for name, benchmark in scores.benchmarks.items()
    }
    is_largest = min(gaps[name] for name in FAIR) > max(gaps[name] for name in EXISTING)
    return ClaimOutcome(f"NER precision minus recall: {list_by_benchmark(gaps)}", min(gaps.values()) > 0 and is_largest)


def check_few_false_positives(scores: Measurements) -> ClaimOutcome:
    """Check that GENRE is among the two systems with the fewest false positives of NER."""
    errors = collect(scores, count_errors("ner-fp"))
    return ClaimOutcome(
        f"false positives of NER: {describe_values(errors, whole)}",
        rank({system: -count for system, count in errors.items()}, "GENRE") <= 2,
    )


def check_fewest_nil_links(scores: Measurements) -> ClaimOutcome:
    """Check that GENRE has the fewest links on NIL."""
    errors = collect(scores, count_errors(NIL_LINKS))
    return ClaimOutcome(
        f"links on NIL: {describe_values(errors, whole)}", min(errors, key=errors.__getitem__) == "GENRE"
    )


def check_demonyms(scores: Measurements) -> ClaimOutcome:
    """Check that GENRE has the lowest error rate on demonyms."""
    rates = collect(scores, rate_errors(DEMONYM), select_benchmarks(scores.benchmarks, "demonym"))
    return ClaimOutcome(f"demonym error rate: {describe_values(rates)}", min(rates, key=rates.__getitem__) == "GENRE")


def check_metonyms(scores: Measurements) -> ClaimOutcome:
    """Check that only REL may have a lower error rate on metonyms than GENRE, by the bounds of all."""
    names = select_benchmarks(scores.benchmarks, "metonym")
    low = collect(scores, lambda pair: (pair.bounds[METONYM].rates or (0.0, 0.0))[0], names)
    high = collect(scores, lambda pair: (pair.bounds[METONYM].rates or (0.0, 0.0))[1], names)
    surely_better = sorted(system for system in low if system != "REL" and high[system] < low["GENRE"])
    ranges = ", ".join(f"{system} {points(low[system])}–{points(high[system])}" for system in low)
    return ClaimOutcome(f"metonym error rate: {ranges}", not surely_better)


# Section 6.4


def check_beaten_on_aida(scores: Measurements) -> ClaimOutcome:
    """Check that all newer systems beat Ambiverse on AIDA-CoNLL."""
    f1 = collect(scores, lambda pair: pair.f1, ["AIDA-CoNLL"])
    return ClaimOutcome(
        f"F1 on AIDA-CoNLL: {describe_values(f1)}", f1["Ambiverse"] < min(f1[system] for system in _NEWER)
    )


def check_hardly_better(scores: Measurements) -> ClaimOutcome:
    """Check that Ambiverse is hardly better than the baseline on the new benchmarks."""
    gaps = {}
    for name in FAIR:
        f1 = collect(scores, lambda pair: pair.f1, [name])
        gaps[name] = f1["Ambiverse"] - f1["Baseline"]
    return ClaimOutcome(
        f"F1 minus that of the baseline: {list_by_benchmark(gaps)}",
        all(0 < gap <= _HARDLY for gap in gaps.values()),
    )


def check_wrong_spans(scores: Measurements) -> ClaimOutcome:
    """Check that Ambiverse has more wrong spans than the mean of the others on both new benchmarks."""
    texts, holds = [], True
    for name in FAIR:
        errors = collect(scores, count_errors("ner-fp-wrong-span"), [name])
        others = mean_of_others(errors, "Ambiverse")
        texts.append(f"{name} {errors['Ambiverse']:.0f}, mean of the others {others:.1f}")
        holds = holds and errors["Ambiverse"] > others
    return ClaimOutcome(f"wrong spans: {'; '.join(texts)}", holds)


def check_partial_names_everywhere(scores: Measurements) -> ClaimOutcome:
    """Check that Ambiverse has fewer errors on partial names than the mean of the others on most benchmarks."""
    better = []
    for name in ALL:
        rates = collect(scores, rate_errors(PARTIAL), [name])
        if rates["Ambiverse"] < mean_of_others(rates, "Ambiverse"):
            better.append(name)
    return ClaimOutcome(
        f"lower partial name error rate than the mean of the others on {len(better)} of 5 benchmarks: "
        f"{', '.join(better)}",
        len(better) == len(ALL),
    )


def check_partial_share(scores: Measurements) -> ClaimOutcome:
    """Check that 59 % of the mentions of KORE50 may be partial names, with its older spans if they are available."""
    uncorrected = load_uncorrected_kore50(scores.data)
    description = (
        scores.describe_benchmark("kore50") if uncorrected is None else describe(uncorrected, scores.open_kb())
    )
    count = description.columns["partial"]
    number = count.number or 0
    low, high = (format_percent(value, count.total) for value in (number, number + count.undecided))
    return ClaimOutcome(
        f"{low.removesuffix('%')}–{high} of mentions" + ", with spans before their correction" * bool(uncorrected),
        int(low.removesuffix("%")) <= 59 <= int(high.removesuffix("%")),
    )


def check_country_names(scores: Measurements) -> ClaimOutcome:
    """Check that Ambiverse is the worst system but the baseline on demonyms and metonyms of AIDA-CoNLL."""
    texts, holds = [], True
    for title, category in (("demonym", DEMONYM), ("metonym", METONYM)):
        rates = collect(scores, rate_errors(category), ["AIDA-CoNLL"])
        texts.append(f"{title} error rate on AIDA-CoNLL: {describe_values(rates)}")
        holds = holds and rank({name: rate for name, rate in rates.items() if name != "Baseline"}, "Ambiverse") == 1
    return ClaimOutcome("; ".join(texts), holds)


def _rank_by_benchmark(scores: Measurements, system: str) -> dict[str, float]:
    """Return the rank of `system` in F1 on each benchmark."""
    return {name: rank(collect(scores, lambda pair: pair.f1, [name]), system) for name in ALL}


def check_best_rank(scores: Measurements) -> ClaimOutcome:
    """Check that KORE50 is the benchmark on which Ambiverse ranks highest."""
    ranks = _rank_by_benchmark(scores, "Ambiverse")
    best = [name for name in ALL if ranks[name] == min(ranks.values())]
    return ClaimOutcome(f"rank in F1: {list_by_benchmark(ranks, '{:.0f}'.format)}", best == ["KORE50"])


def check_lowest_rank(scores: Measurements) -> ClaimOutcome:
    """Check that no rank of Ambiverse is lower than that on AIDA-CoNLL."""
    ranks = _rank_by_benchmark(scores, "Ambiverse")
    return ClaimOutcome(
        f"rank in F1: {list_by_benchmark(ranks, '{:.0f}'.format)}", ranks["AIDA-CoNLL"] == max(ranks.values())
    )


# Section 7


_HOMES: Final = {"ReFinED": "AIDA-CoNLL", "REL": "AIDA-CoNLL", "GENRE": "AIDA-CoNLL", "Ambiverse": "KORE50"}
"""The benchmark that each system was trained on or that its makers built."""


def measure_overfitting(scores: Measurements) -> dict[str, float]:
    """Return by system how much better it is on its home benchmark than elsewhere, beyond systems from elsewhere."""
    indices = {}
    for system, home in _HOMES.items():
        differences = {}
        for other in list_systems(scores):
            f1 = {name: benchmark.pairs[other].f1 for name, benchmark in scores.benchmarks.items()}
            differences[other] = f1[home] - average([value for name, value in f1.items() if name != home])
        references = [other for other in differences if other != system and _HOMES.get(other) != home]
        indices[system] = differences[system] - average([differences[other] for other in references])
    return indices


def check_overfitting(scores: Measurements) -> ClaimOutcome:
    """Check that the older systems are overfitted more than the two newest, on average."""
    indices = measure_overfitting(scores)
    older, newest = (
        average([indices[system] for system in systems]) for systems in (("GENRE", "Ambiverse"), ("ReFinED", "REL"))
    )
    return ClaimOutcome(
        f"overfitting index: {describe_values(indices)}; mean of the older systems {points(older)}, of the newest "
        f"{points(newest)}",
        min(indices["GENRE"], indices["Ambiverse"]) > 0 and older > newest,
    )


def check_best_on_fair(scores: Measurements) -> ClaimOutcome:
    """Check that ReFinED has the best F1 on both new benchmarks."""
    f1 = {name: collect(scores, lambda pair: pair.f1, [name]) for name in FAIR}
    return ClaimOutcome(
        "; ".join(f"{name}: {describe_values(values)}" for name, values in f1.items()),
        all(rank(values, "ReFinED") == 1 for values in f1.values()),
    )


# Appendix


def check_whitelist(scores: Measurements) -> ClaimOutcome:
    """Check that all types of annotated entities of the new benchmarks are in the whitelist."""
    names = [name for benchmark in ("wiki-fair", "news-fair") for name in scores.describe_benchmark(benchmark).types]
    types = {name for name in names if name[1:].isdigit()}
    return ClaimOutcome(
        f"{len(types)} types, {len(types - WHITELIST)} of them not in the whitelist", types <= WHITELIST
    )


def check_non_named(scores: Measurements) -> ClaimOutcome:
    """Check that 75 % of the annotations of the DBpedia Spotlight benchmark are non-named entities."""
    kinds = scores.describe_benchmark("spotlight").mention_types
    share = format_percent(kinds.get("entity-non-named", 0), sum(kinds.values()))
    return ClaimOutcome(share, share == "75%")


def check_odd_annotations(scores: Measurements) -> ClaimOutcome:
    """Check which of the words that the paper names are annotated in the DBpedia Spotlight benchmark."""
    corpus = scores.load_benchmark("spotlight")
    texts = {document.text[label.start : label.end] for document in corpus for label in document.labels}
    annotated, ignored = ("curved", "idea", "house", "Web", "Web pages"), ("story", "Russian", "Web language")
    return ClaimOutcome(
        f"annotated: {', '.join(word for word in (*annotated, *ignored) if word in texts)}",
        texts.issuperset(annotated) and texts.isdisjoint(ignored),
    )


def _list_lowest(scores: Measurements, values: Callable[[str], Mapping[str, float]]) -> list[str]:
    """Return the benchmarks on which DBpedia Spotlight has the lowest of `values`."""
    return [name for name in ALL if min(by_system := dict(values(name)), key=by_system.__getitem__) == SPOTLIGHT]


def check_weakest(scores: Measurements) -> ClaimOutcome:
    """Check that DBpedia Spotlight has the lowest F1 on at least four benchmarks."""
    lowest = _list_lowest(scores, lambda name: collect(scores, lambda pair: pair.f1, [name], SPOTLIGHT))
    return ClaimOutcome(f"lowest F1 on {len(lowest)} of 5 benchmarks: {', '.join(lowest)}", len(lowest) >= 4)


def check_lowest_precision(scores: Measurements) -> ClaimOutcome:
    """Check that DBpedia Spotlight has the lowest NER precision on at least four benchmarks."""
    lowest = _list_lowest(
        scores, lambda name: collect(scores, lambda pair: pair.detection.precision, [name], SPOTLIGHT)
    )
    return ClaimOutcome(f"lowest NER precision on {len(lowest)} of 5 benchmarks: {', '.join(lowest)}", len(lowest) >= 4)


def check_lowercased_detections(scores: Measurements) -> ClaimOutcome:
    """Check that DBpedia Spotlight has by far the most false positives in lower case."""
    errors = collect(scores, count_errors("ner-fp-lowercased"), ALL, SPOTLIGHT)
    return ClaimOutcome(f"spurious lowercased mentions: {describe_values(errors, whole)}", rank(errors, SPOTLIGHT) == 1)


def check_filter(scores: Measurements) -> ClaimOutcome:
    """Check that without lowercased predictions the NER precision of DBpedia Spotlight is higher, but a low one."""
    texts, holds = [], True
    for name in ALL:
        before = collect(scores, lambda pair: pair.detection.precision, [name], SPOTLIGHT)
        after = collect(scores, lambda pair: pair.filtered.precision, [name], SPOTLIGHT)
        own_rank = rank(after, SPOTLIGHT)
        texts.append(
            f"{name} {points(before[SPOTLIGHT])} to {points(after[SPOTLIGHT])} (rank {own_rank} of {len(after)})"
        )
        holds = holds and after[SPOTLIGHT] > before[SPOTLIGHT] and 2 * own_rank > len(after)
    return ClaimOutcome(f"NER precision: {', '.join(texts)}", holds)


def check_recall(scores: Measurements) -> ClaimOutcome:
    """Check that DBpedia Spotlight has the highest NER recall on News-Fair, and is second to ReFinED on Wiki-Fair."""
    recall = {name: collect(scores, lambda pair: pair.detection.recall, [name], SPOTLIGHT) for name in FAIR}
    news, wiki = (recall[name] for name in FAIR)
    return ClaimOutcome(
        "; ".join(f"{name}: {describe_values(values)}" for name, values in recall.items()),
        rank(news, SPOTLIGHT) == 1 and rank(wiki, SPOTLIGHT) == 2 and rank(wiki, "ReFinED") == 1,
    )


def check_most_included(scores: Measurements) -> ClaimOutcome:
    """Check that DBpedia Spotlight has the most partially included mentions everywhere but on KORE50."""
    names = [name for name in ALL if rank(collect(scores, count_errors(INCLUDED), [name], SPOTLIGHT), SPOTLIGHT) == 1]
    return ClaimOutcome(f"most partially included mentions on {', '.join(names)}", {*ALL} - {"KORE50"} <= {*names})


def check_weak_disambiguation(scores: Measurements) -> ClaimOutcome:
    """Check that DBpedia Spotlight is worse than the mean of the others on partial names and rare mentions."""
    texts, holds = [], True
    for title, category in (("partial name", PARTIAL), ("rare", RARE)):
        rates = collect(scores, rate_errors(category), ALL, SPOTLIGHT)
        others = mean_of_others(rates, SPOTLIGHT)
        texts.append(f"{title} error rate {points(rates[SPOTLIGHT])}, mean of the others {points(others)}")
        holds = holds and rates[SPOTLIGHT] > others
    return ClaimOutcome("; ".join(texts), holds)


def check_ambiverse_partial_errors(scores: Measurements) -> ClaimOutcome:
    """Check that Ambiverse links 28 partial names of KORE50 wrongly."""
    bound = scores.benchmarks["KORE50"].pairs["Ambiverse"].bounds[PARTIAL]
    low, high = bound.min_errors, bound.max_errors
    return ClaimOutcome(str(low) if low == high else f"{low}–{high}", low <= 28 <= high)
