"""Laws of fine-grained evaluation: parts of a gold standard, fuzzy recall, curves."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, Label, Prediction, Response, Run
from karat.analysis.curves.alpha import alpha_curve, find_leaders
from karat.analysis.curves.categories import category_curve
from karat.data.corpus_pool import pool_corpora, pool_runs
from karat.matching.weighting.membership import parse_membership
from karat.model.finegrained_scheme import DIMENSIONS, get_leaves
from tests import reference_finegrained as reference

ENTITIES = ["http://x/a", "http://x/b", "http://x/z/b", "b", None]  # three of them end alike
SPANS = [(0, 2), (0, 4), (2, 4), (3, 4)]
LEAVES = {
    "form": ["Full", "Alias", "CommonForm"],
    "pos": ["NounSingular", "NounPlural", "Verb"],
    "overlap": ["None", "Minimal", "Maximal"],
    "reference": ["Direct", "Related"],
}
TOGETHER = "form+pos+overlap+reference"
PRESETS = ["strict", "strict-code"]
SHORTS = ("micro.p", "micro.r", "micro.f1")
PROFILES = st.sampled_from(["karat", "finegrained", "bat"])


@st.composite
def categories(draw, *, complete):
    """A leaf in each dimension; some annotations have none or two in one."""
    found = [f"{dimension}:{draw(st.sampled_from(leaves))}" for dimension, leaves in LEAVES.items()]
    if not complete and draw(st.integers(0, 4)) == 0:
        found.pop(draw(st.integers(0, 3)))
    if not complete and draw(st.integers(0, 4)) == 0:
        found.append("form:Short")
    return tuple(draw(st.permutations(found)))


@st.composite
def documents(draw, number, *, complete, alternatives):
    first = not number  # the first label has a leaf in every dimension, so that all can be asked for
    spans = draw(st.lists(st.sampled_from(SPANS), min_size=first, max_size=6, unique=not alternatives))
    labels = {}
    for place, span in enumerate(spans):
        entity = draw(st.sampled_from(ENTITIES))
        own = draw(categories(complete=complete or (first and not place)))
        labels.setdefault((span, entity), Label(*span, entity, categories=own))
    return Document(f"d{number}", "abcd", tuple(labels.values()))


@st.composite
def responses(draw, number, entities=(*ENTITIES, UNLINKED)):
    """At most one prediction on a span, as systems give it."""
    spans = draw(st.lists(st.sampled_from([*SPANS, (1, 4)]), max_size=4, unique=True))
    linked = [Prediction(1, 3, "http://x/a")] if not number else []  # without any link there is nothing to score
    return Response(f"d{number}", (*linked, *(Prediction(*span, draw(st.sampled_from(entities))) for span in spans)))


@st.composite
def corpora(draw, *, complete=False, alternatives=True):
    size = draw(st.integers(1, 3))
    gold = [draw(documents(number, complete=complete, alternatives=alternatives)) for number in range(size)]
    return Corpus.from_documents(gold), Run.from_responses([draw(responses(number)) for number in range(size)])


def weighted_functions():
    """Any function of categories that a table may say."""
    weight = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    names = [f"{dimension}:{leaf}" for dimension, leaves in LEAVES.items() for leaf in leaves]
    return st.dictionaries(st.sampled_from(names), weight, min_size=1)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A membership function as a file."""
    path = tmp_path_factory.mktemp("functions") / "weights.toml"

    def written(weights, default=1.0):
        lines = [f"default = {default}", "[weights]", *(f'"{name}" = {value}' for name, value in weights.items())]
        path.write_text("\n".join(lines), encoding="utf-8")
        return str(path)

    return written


def evaluated(sides, by=(), **settings):
    return karat.evaluate(*sides, profile="finegrained", by=list(by), settings=settings)


def counts(group):
    found = group.counts
    assert found.matched_predictions == found.matched_gold
    return reference.Score(found.matched_gold, found.unmatched_predictions, found.unmatched_gold)


def size(group):
    return group.counts.matched_gold + group.counts.unmatched_gold


@given(corpora())
def test_every_part_is_scored_as_the_paper_says(sides):
    result = evaluated(sides, by=["category", *LEAVES, TOGETHER])
    gold, predictions = reference.annotations(sides[0]), reference.predictions(sides[1])
    whole = reference.score(gold, predictions)
    assert (result.counts("strong").matched_gold, result.counts("strong").unmatched_predictions) == whole[:2]
    assert {short: result[f"strong:{short}"] for short in SHORTS} == pytest.approx(reference.measures(whole))
    names = {category for each in gold for category in each.categories}
    names |= {node for node, leaves in reference.INNER.items() if names & set(leaves)}
    groups = result.groups["category"]["strong"]
    assert set(groups) == names
    for name, group in groups.items():
        expected = reference.score(reference.of_category(gold, name), predictions)
        assert counts(group) == expected
        assert {short: group.measures[short] for short in SHORTS} == pytest.approx(reference.measures(expected))
        dimension, _, leaf = name.partition(":")
        assert result.groups[dimension]["strong"][leaf].counts == group.counts
    combined = {reference.combination(each) for each in gold} - {None}
    groups = result.groups[TOGETHER]["strong"]
    assert set(groups) == combined
    for name, group in groups.items():
        chosen = [each for each in gold if reference.combination(each) == name]
        assert counts(group) == reference.score(chosen, predictions)


@given(
    corpora(),
    st.randoms(use_true_random=False),
    st.sampled_from([{}, {"membership": "strict:0.25"}, {"membership": "questionnaire", "task": "a2kb"}]),
)
def test_order_never_matters(sides, random, settings):
    def shuffled(items):
        items = list(items)
        random.shuffle(items)
        return tuple(items)

    corpus, run = sides
    other = (
        Corpus.from_documents([Document(d.id, d.text, shuffled(d.labels)) for d in shuffled(corpus)]),
        Run.from_responses([Response(r.id, shuffled(r.predictions)) for r in shuffled(run)]),
    )
    by = [] if "task" in settings else ["category", TOGETHER]
    one, two = evaluated(sides, by=by, **settings), evaluated(other, by=by, **settings)
    assert one.measures == pytest.approx(two.measures)
    for label in by:
        left, right = one.groups[label]["strong"], two.groups[label]["strong"]
        assert set(left) == set(right)
        for value, group in left.items():
            assert group.measures == pytest.approx(right[value].measures)


@given(corpora(alternatives=False))
def test_without_alternatives_parts_divide_the_mentions(sides):
    result = evaluated(sides, by=[*LEAVES, TOGETHER])
    gold = reference.annotations(sides[0])
    for dimension in ("pos", "overlap", "reference"):
        groups = result.groups[dimension]["strong"]
        parts = [counts(group) for value, group in groups.items() if value in LEAVES[dimension]]
        here = [each for each in gold if any(c.startswith(f"{dimension}:") for c in each.categories)]
        expected = reference.score(here, reference.predictions(sides[1]))
        assert tuple(map(sum, zip(*parts, strict=True))) == (expected if parts else ())
    combined = result.groups[TOGETHER]["strong"].values()
    assert sum(map(size, combined)) == sum(reference.combination(each) is not None for each in gold)


@given(corpora())
def test_only_mentions_with_alternatives_are_in_several_combinations(sides):
    result = evaluated(sides, by=[TOGETHER])
    gold = reference.annotations(sides[0])
    several = {}
    for each in gold:
        if (name := reference.combination(each)) is not None:
            several.setdefault(each.key, set()).add(name)
    extra = sum(len(names) - 1 for names in several.values())
    assert sum(map(size, result.groups[TOGETHER]["strong"].values())) == len(several) + extra
    alternatives = Counter(each.key for each in gold)
    assert all(alternatives[key] > 1 for key, names in several.items() if len(names) > 1)


@given(corpora())
def test_inner_nodes_contain_their_leaves(sides):
    groups = evaluated(sides, by=["category"]).groups["category"]["strong"]
    for dimension in DIMENSIONS.values():
        for node, leaves in dimension.inner.items():
            own = [groups[leaf] for leaf in leaves if leaf in groups]
            assert (node in groups) == bool(own)
            for measure in (size, lambda group: group.counts.matched_gold):
                found = [measure(group) for group in own]
                assert max(found, default=0) <= (measure(groups[node]) if own else 0) <= sum(found)


@given(corpora(), corpora(), st.sampled_from([{}, {"membership": "strict:0.5"}]))
def test_pooled_corpora_add_up(one, two, settings):
    both = pool_corpora([one[0], two[0]]), pool_runs([one[1], two[1]], has_numbered_ids=True)
    assert [each.id.partition("/")[0] for each in both[0]] == ["1"] * len(one[0]) + ["2"] * len(two[0])
    whole, *parts = (evaluated(sides, by=["category"], **settings) for sides in (both, one, two))
    for place in range(4):
        columns = [result.views["strong"].weights[:, place].sum() for result in (whole, *parts)]
        assert columns[0] == pytest.approx(sum(columns[1:]))
    groups = [result.groups["category"]["strong"] for result in (whole, *parts)]
    assert set(groups[0]) == set(groups[1]) | set(groups[2])
    for name, group in groups[0].items():
        assert size(group) == pytest.approx(sum(size(part[name]) for part in groups[1:] if name in part))


@given(corpora(), st.sampled_from([*PRESETS]), st.floats(0, 1), st.sampled_from(["d2kb", "a2kb"]))
def test_fuzzy_recall_is_as_defined(sides, preset, alpha, task):
    """The paper's formulas, with the weight of a mention and what is earned as each preset says."""
    gold, predictions = reference.annotations(sides[0]), reference.predictions(sides[1])
    if task == "d2kb":
        predictions = {key: link for key, link in predictions.items() if key in {each.key for each in gold}}
    how = parse_membership(f"{preset}:{alpha}")
    right, given_, got, whole = reference.fuzzy(
        gold, predictions, how.weight, max if how.alternative_rule == "max" else min
    )
    result = evaluated(sides, membership=f"{preset}:{alpha}", task=task)
    assert result["strong:micro.p"] == (pytest.approx(right / given_) if given_ else None)
    assert result["strong:micro.r"] == (pytest.approx(got / whole) if whole else None)


@given(corpora(), weighted_functions(), st.sampled_from([0.0, 0.5]), PROFILES)
def test_fuzzy_scores_lie_between_0_and_1(table, sides, weights, default, profile):
    """PROP1; and precision is that without membership."""
    settings = {"membership": table(weights, default)}
    result = karat.evaluate(*sides, profile=profile, settings={**settings, "match": "strong", "task": "a2kb"})
    plain = karat.evaluate(
        *sides, profile=profile, settings={**settings, "membership": "whole", "match": "strong", "task": "a2kb"}
    )
    for name, value in result.measures.items():
        assert value is None or -1e-12 <= value <= 1 + 1e-12, name
    if result.counts("strong").matched_predictions:
        assert result["strong:micro.p"] == plain["strong:micro.p"]


@given(corpora(), st.sampled_from(["strict:1", "strict-code:1", "file"]), PROFILES)
def test_a_membership_of_one_throughout_changes_nothing(table, sides, how, profile):
    """PROP2, to the last digit."""
    by = ["category", TOGETHER] if profile == "finegrained" else []
    membership = table({"form:Full": 1.0, "pos:Verb": 1.0}) if how == "file" else how
    one, plain = (
        karat.evaluate(*sides, profile=profile, settings={"membership": name}, by=by) for name in (membership, "whole")
    )
    assert one.measures == {name: value for name, value in plain.measures.items() if not name.endswith(":accuracy")}
    assert one.to_json().split(b'"groups":')[1:] == plain.to_json().split(b'"groups":')[1:]


@given(corpora(), weighted_functions())
@pytest.mark.extras  # it takes long
def test_a_heavier_mention_costs_more_if_it_is_missed(table, sides, weights):
    """PROP3: of two runs that miss one mention each, the one that misses the heavier has the lower scores."""
    corpus = sides[0]
    how = parse_membership(path := table(weights, 0.5))
    best = {}
    for each in reference.annotations(corpus):
        if each.link is not None:
            weight = how.weight(each.categories)
            if each.key not in best or weight > best[each.key][0]:
                best[each.key] = weight, each.link
    everything = {
        key
        for key in best
        if best[key][0]
        == max(how.weight(other.categories) for other in reference.annotations(corpus) if other.key == key)
    }
    assume(len(everything) > 1)

    def missing(excluded):
        responses = [
            Response(
                d.id, tuple(Prediction(*key[1:], best[key][1]) for key in everything - {excluded} if key[0] == d.id)
            )
            for d in corpus
        ]
        result = evaluated((corpus, Run.from_responses(responses)), membership=path)
        return result["strong:micro.r"], result["strong:micro.f1"]

    found = {key: (best[key][0], *missing(key)) for key in everything}
    for one in found.values():
        for other in found.values():
            if one[0] > other[0]:
                assert one[1] < other[1]
                assert one[2] < other[2]


@given(corpora(), st.sampled_from(SHORTS))
def test_best_first_curves_are_scores_of_unions(sides, measure):
    gold, predictions = reference.annotations(sides[0]), reference.predictions(sides[1])
    parts = {}
    for each in gold:
        if (name := reference.combination(each)) is not None:
            parts.setdefault(name, []).append(each)
    leaves = [[leaf.partition(":")[2] for leaf in get_leaves(dimension)] for dimension in DIMENSIONS]
    curve = category_curve(*sides, measure=measure)

    def rank(name):
        value = reference.measures(reference.score(parts[name], predictions))[measure]
        return -(value or 0), [own.index(leaf) for own, leaf in zip(leaves, name.split("+"), strict=True)]

    assert list(curve.combinations) == sorted(parts, key=rank)
    union = []
    for step, name in enumerate(curve.combinations):
        union += parts[name]
        expected = reference.score(union, predictions)
        tp, fp, again, fn = curve.weights[step].tolist()
        assert (tp, fp, fn, again) == (*expected, tp)
        assert curve.mentions[step] == len({each.key for each in union})
        for short in SHORTS:
            value, known = curve.values(short)[step], reference.measures(expected)[short]
            assert np.isnan(value) if known is None else value == pytest.approx(known)
    lost = sum(reference.combination(each) is None for each in gold)
    assert sum(curve.excluded.values()) == lost


@given(corpora(), st.sampled_from(PRESETS), st.floats(0, 1), st.sampled_from(["finegrained", "karat"]))
def test_curves_over_alpha_are_what_evaluate_gives(sides, preset, alpha, profile):
    curve = alpha_curve(*sides, preset=preset, profile=profile)
    result = karat.evaluate(
        *sides, profile=profile, settings={"membership": f"{preset}:{alpha!r}", "match": "strong", "task": "a2kb"}
    )
    for short in SHORTS:
        value, expected = curve.values(short, np.array([alpha]))[0], result[f"strong:{short}"]
        assert np.isnan(value) if expected is None else value == pytest.approx(expected)


@given(corpora(), st.lists(responses(0, ENTITIES), min_size=2, max_size=4), st.sampled_from(SHORTS), st.floats(0, 1))
@pytest.mark.extras  # it takes long
def test_leaders_are_the_best_at_every_alpha(sides, more, measure, alpha):
    corpus = sides[0]
    runs = [Run.from_responses([response], name=f"run {place}") for place, response in enumerate(more)]
    curves = [alpha_curve(corpus, run) for run in runs]
    found = find_leaders(curves, measure)
    assert (found[0].low, found[-1].high) == (0, 1)
    assert all(one.high == two.low and one.runs != two.runs for one, two in pairwise(found))
    reign = next(each for each in found if each.low <= alpha <= each.high)
    assume(min(alpha - reign.low, reign.high - alpha) > 1e-6)
    values = {curve.run: curve.values(measure, np.array([alpha]))[0] for curve in curves}
    best = max((value for value in values.values() if value == value), default=None)
    assert set(reign.runs) == {run for run, value in values.items() if best is not None and value >= best - 1e-9}
