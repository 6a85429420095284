"""The methods of published systems: their formulas by hand, and laws that all of them obey."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat import Corpus, Document, Label
from karat.kb.corpus_snapshot import build_corpus_snapshot
from karat.model.document import Candidate, Prediction
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.system import System
from karat.systems.api import link
from karat.systems.linking.methods.blocks import CandidateArrays, choose_candidate
from karat.systems.linking.methods.context_words import TextWords, WordVector
from karat.systems.linking.methods.learned_weights import DecisionTree, DecisionTrees, LinearModel
from karat.systems.linking.methods.spotting import Spot
from karat.systems.linking.relatedness import Neighbours
from karat.systems.linking.system import get_system
from karat.systems.plugins.babelfy_method import SignatureGraph, score_candidates
from karat.systems.plugins.cmns_method import select_longest
from karat.systems.plugins.dbpedia_spotlight_method import compare_candidates
from karat.systems.plugins.illinois_wikifier_method import (
    LinkStructure,
    describe_first,
    describe_globally,
    load_wikifier_weights,
)
from karat.systems.plugins.wikipedia_miner_method import describe_senses, load_miner_weights, weigh_context

METHODS = [name for name in list_plugins("systems") if name.endswith("-method")]
_QUICK = {"substitute": "popularity"}


def _arrays(owner, codes=None, prior=None):
    n = len(owner)
    return CandidateArrays(
        max(owner) + 1,
        np.array(owner),
        np.arange(n) if codes is None else np.array(codes),
        np.ones(n) if prior is None else np.array(prior),
    )


def _neighbours(n_entities, *lists):
    sizes = np.cumsum([0, *map(len, lists)])
    return Neighbours(n_entities, sizes, np.array([code for codes in lists for code in codes], np.int64), [])


# Formulas


def test_commonness_ranks_the_entities_of_a_document_over_all_its_ngrams(tmp_path):
    labels = (Label(0, 7, "Q308"), Label(16, 23, "Q15869"), Label(28, 35, "Q15869"), Label(40, 52, "Q1"))
    text = "Mercury is hot. Mercury and Mercury or  Mercury City."
    build_corpus_snapshot(
        [Corpus.from_documents([Document("held", text, labels)])], tmp_path / "held", date="2026-11-15"
    )
    corpus = Corpus.from_documents([Document("d", "We saw Mercury City.")])
    (response,) = link("cmns-method", corpus, options={"kb": tmp_path / "held"})
    assert [(tag.entity, tag.rank) for tag in response.tags] == [("Q1", 1), ("Q15869", 2), ("Q308", 3)]
    assert [tag.score for tag in response.tags] == pytest.approx([1, 2 / 3, 1 / 3], abs=1e-6)
    assert [(item.start, item.end, item.entity) for item in response.predictions] == [(7, 19, "Q1")]


def test_a_pipeline_with_its_detector_has_no_ranked_entities_of_the_whole_method():
    corpus = Corpus.from_documents([Document("d", "Angela Merkel met Obama in Berlin.")])
    (whole,) = link(get_system("cmns-method", _QUICK), corpus)
    (joined,) = link(get_system("pipeline:cmns-method+popular+graph", _QUICK), corpus)
    assert whole.tags
    assert joined.tags == ()
    assert [item.start for item in joined.predictions] == [item.start for item in whole.predictions]


def test_the_longest_ngrams_become_mentions():
    spots = [Spot(0, 3, 0, 0.5), Spot(0, 7, 0, 0.5), Spot(4, 12, 0, 0.5), Spot(8, 10, 0, 0.5), Spot(13, 15, 0, 0.5)]
    assert [(spot.start, spot.end) for spot in select_longest(spots)] == [(0, 3), (4, 12), (13, 15)]


def test_the_weight_of_a_context_entity_is_the_mean_of_link_probability_and_relatedness():
    related = np.array([[1, 0.4, 0.2], [0.4, 1, 0], [0.2, 0, 1]])
    # 0.5 with (0.4 + 0.2) / 2; 0.3 with 0.4 / 2; 0.1 with 0.2 / 2
    assert weigh_context(related, np.array([0.5, 0.3, 0.1])) == pytest.approx([0.4, 0.25, 0.1])
    assert weigh_context(np.ones((1, 1)), np.array([0.5])) == pytest.approx([0.25])


def test_senses_are_described_by_commonness_relatedness_and_quality_of_the_context():
    arrays = _arrays([0, 1, 2, 2, 2], prior=[1, 1, 0.69, 0.3, 0.01])  # two mentions have one sense
    related = np.eye(5)
    for a, b, value in ((0, 1, 0.4), (2, 0, 0.8), (3, 1, 0.6), (4, 0, 0.1)):
        related[a, b] = related[b, a] = value
    rows = describe_senses(arrays, related, np.array([0.5, 0.3, 0.2]))
    # the context weighs (0.5 + 0.4) / 2 = 0.45 and (0.3 + 0.4) / 2 = 0.35
    assert rows[2] == pytest.approx([0.69, 0.8 * 0.45 / 0.8, 0.8])
    assert rows[3] == pytest.approx([0.3, 0.6 * 0.35 / 0.8, 0.8])
    assert rows[0] == pytest.approx([1, 0.4, 0.35])  # a mention is no context of itself
    lonely = describe_senses(_arrays([0, 0], prior=[0.5, 0.5]), np.eye(2), np.array([0.5]))
    assert lonely == pytest.approx(np.array([[0.5, 0, 0], [0.5, 0, 0]]))  # no context


def test_words_weigh_their_frequency_times_the_inverse_candidate_frequency():
    candidates = [{"a": 2, "b": 1, "all": 9}, {"a": 1, "c": 1, "all": 1}, {"b": 1, "all": 1}]
    a, c = math.log(3 / 2), math.log(3)  # two of three candidates have a, as many b, and one has c
    expected = [3 / math.sqrt(5 * 2), a / (math.hypot(a, c) * math.sqrt(2)), 1 / math.sqrt(2)]
    assert compare_candidates({"a": 1, "b": 1, "all": 5, "other": 7}, candidates) == pytest.approx(expected)
    assert compare_candidates({"all": 1}, candidates).tolist() == [0, 0, 0]
    assert compare_candidates({"a": 1}, [{"b": 1}]).tolist() == [1]


def test_relatedness_and_mutual_information_count_shared_neighbours():
    neighbours = _neighbours(16, [1, 2, 3, 4], [3, 4], [9])
    codes = np.arange(3)
    related, information = neighbours.relatedness(codes), neighbours.mutual_information(codes)
    assert related[0, 1] == pytest.approx(1 - (math.log(4) - math.log(2)) / (math.log(16) - math.log(2)))  # 2/3
    assert information[0, 1] == pytest.approx(0.5)  # log(2 / (4 · 2 / 16)) / log 16
    assert related[0, 2] == information[0, 2] == 0
    assert information == pytest.approx(information.T)


def test_global_features_are_means_and_maxima_over_the_choices_of_other_mentions():
    inward, outward = _neighbours(16, [5, 6, 7, 8], [7, 8], [9], [5, 6, 7, 8]), _neighbours(16, [], [], [], [])
    both = _neighbours(16, [0, 2], [1], [0, 2], [3])
    arrays = _arrays([0, 1, 1, 2])
    rows = describe_globally(arrays, np.array([0, 1, 3]), LinkStructure(inward, outward, both))
    related = 2 / 3
    # entity 0 against the choices 1 and 3: 2/3 and 1 by distance, 0.5 and log(4 / (16 / 16)) / log 16 by information
    assert rows[0] == pytest.approx([(related + 1) / 2, 1, 0.5, 0.5, 0, 0, 0, 0, 0, 0])
    # entity 2 shares no links, but is linked with entity 0, one of the two choices
    assert rows[2] == pytest.approx([0, 0, 0, 0, 0, 0, 0, 0, 0.5, 1])


def test_the_linker_sees_the_share_and_the_lead_of_the_first_candidate():
    scores = np.array([0.0, math.log(3)])
    row = describe_first(scores, np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert row == pytest.approx([3, 4, 0.75, math.log(3)])
    assert describe_first(np.zeros(1), np.array([[1.0, 2.0]])) == pytest.approx([1, 2, 1, 10])


def _five_nodes():
    """A triangle of 0, 1 and 2, and a tail of 3 and 4."""
    return SignatureGraph.from_edges(5, [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 3)])


def test_a_walk_follows_links_by_their_triangles():
    graph = _five_nodes()
    assert graph.get_neighbours(2).tolist() == [0, 1, 3]
    assert graph.get_shares(2) == pytest.approx([0.4, 0.4, 0.2])  # 1 + 1, 1 + 1 and 1 + 0 of 5
    assert graph.get_shares(0) == pytest.approx([0.5, 0.5])
    assert graph.get_shares(4) == pytest.approx([1])


def test_visits_are_those_of_a_random_walk_with_restart():
    graph = _five_nodes()
    moves = np.zeros((5, 5))
    for node in range(5):
        moves[node, graph.get_neighbours(node)] = graph.get_shares(node)
    for start in range(5):
        restart = 0.85 * np.eye(5)[start]
        stationary = np.linalg.solve(np.eye(5) - 0.15 * moves.T, restart)  # p = 0.85 · start + 0.15 · p · moves
        visits = graph.visits(start)
        assert [visits.get(node, 0) for node in range(5)] == pytest.approx(stationary - restart, abs=1e-9)


def test_a_signature_has_the_nodes_with_one_in_ten_thousand_visits():
    assert _five_nodes().get_signature(4).tolist() == [0, 1, 2, 3]
    path = SignatureGraph.from_edges(8, [(node, node + 1) for node in range(7)])
    # node k gets about 0.85 · 0.15^k · 0.5^(k − 1): 0.13, 0.0096, 0.00072 and 0.000054
    assert path.get_signature(0).tolist() == [1, 2, 3]
    assert SignatureGraph.from_edges(2, []).get_signature(0).tolist() == []


def _score(owner, pairs, ambiguity):
    edges = np.zeros((len(owner), len(owner)), np.bool_)
    for a, b in pairs:
        edges[a, b] = True
    return score_candidates(_arrays(owner), edges, ambiguity)


def test_candidates_are_weighed_by_degree_and_by_the_mentions_they_are_connected_to():
    # Candidate 0 has two connections to both other mentions: 2 · 2/2; candidate 1 has one to one of them: 1 · 1/2.
    assert _score([0, 0, 1, 2], [(0, 2), (0, 3), (1, 2)], 2) == pytest.approx([0.8, 0.2, 1, 1])


def test_the_densest_subgraph_has_the_highest_mean_degree():
    # Without candidate 1 the mean degree falls from 6/4 to 4/3, so it stays in spite of the limit.
    assert _score([0, 0, 1, 2], [(0, 2), (0, 3), (1, 2)], 1) == pytest.approx([0.8, 0.2, 1, 1])
    # Without candidate 1, which has no connection, it rises from 4/4 to 4/3.
    assert _score([0, 0, 1, 2], [(0, 2), (2, 0)], 1) == pytest.approx([1, 0, 1, 0])


def test_trees_and_linear_models_compute_probabilities():
    tree = DecisionTree((0, -1, 1, -1, -1), (0.5, 0.1, 2.0, 0.6, 0.9), (1, 0, 3, 0, 0))
    rows = np.array([[0.5, 9], [0.6, 2], [0.6, 3]])
    assert tree.predict(rows).tolist() == [0.1, 0.6, 0.9]
    both = DecisionTrees((tree, DecisionTree((-1,), (0.5,), (0,))))
    assert both.predict(rows) == pytest.approx([0.3, 0.55, 0.7])
    assert both.predict(np.zeros((0, 2))).tolist() == []
    model = LinearModel((1.0, -1.0), 0.5)
    assert model.score(np.array([[2.0, 1.0]])).tolist() == [1.5]
    assert model.predict(np.array([[0.5, 1.0]])) == pytest.approx([0.5])


def test_contexts_are_the_words_around_a_mention_without_its_own():
    words = TextWords.from_text("One two THREE four five, two.")
    assert words.count_around(8, 13, 2) == {"one": 1, "two": 1, "four": 1, "five": 1}
    assert words.count_all()["two"] == 2
    assert WordVector({"a": 3.0, "b": 4.0}, 5.0).cosine(WordVector({"b": 2.0}, 2.0)) == pytest.approx(0.8)
    assert WordVector({}, 0.0).cosine(WordVector({"b": 2.0}, 2.0)) == 0


def test_candidates_are_sorted_by_value_and_equal_ones_keep_their_order():
    mention = Prediction(0, 1, candidates=tuple(Candidate(id, 0.1) for id in "abc"))
    chosen = choose_candidate(mention, np.array([0.2, 0.5, 0.5]))
    assert (chosen.entity, chosen.score) == ("b", 0.5)
    assert [candidate.entity for candidate in chosen.candidates] == ["b", "c", "a"]


# Laws

_PIECES = [
    "Berlin",
    "Paris",
    "Mercury",
    "Angela Merkel",
    "the",
    "Stanford",
    "Steve",
    "in",
    "New York",
    "met",
    "Ulm",
    ".",
]
_PIECES += ["Oxford", "Xyzzy", "queen", "Dylan", "𝔘lm"]
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=30).map(" ".join)


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=8, deadline=None)
@given(texts=st.lists(_TEXTS, min_size=1, max_size=3), data=st.data())
def test_predictions_are_inside_the_text_with_finite_scores_in_any_order_of_documents(name, texts, data):
    documents = [Document(str(number), text) for number, text in enumerate(texts)]
    system = get_system(name, _QUICK)
    responses = list(link(system, Corpus.from_documents(documents)))
    for document, response in zip(documents, responses, strict=True):
        spans = [(item.start, item.end) for item in response.predictions]
        assert all(0 <= start < end <= len(document.text) for start, end in spans)
        assert all(first[1] <= second[0] for first, second in pairwise(spans))
        for item in [*response.predictions, *(c for p in response.predictions for c in p.candidates), *response.tags]:
            assert item.score is None or (math.isfinite(item.score) and 0 <= item.score <= 1)
    shuffled = data.draw(st.permutations(documents))
    again = {response.id: response for response in link(system, Corpus.from_documents(shuffled))}
    assert [again[response.id] for response in responses] == responses


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=8, deadline=None)
@given(text=_TEXTS.filter(bool), data=st.data())
def test_given_mentions_are_all_kept_and_linked_if_they_have_candidates(name, text, data):
    starts = data.draw(st.lists(st.integers(0, len(text) - 1), max_size=40, unique=True))
    spans = sorted({(start, min(len(text), start + 1 + data.draw(st.integers(0, 8)))) for start in starts})
    labels = tuple(Label(start, end, "Q1") for start, end in spans)
    (response,) = link(
        get_system(name, _QUICK), Corpus.from_documents([Document("d", text, labels)]), gold_mentions=True
    )
    assert sorted((item.start, item.end) for item in response.predictions) == spans
    assert all(isinstance(item.entity, str) for item in response.predictions if item.candidates)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_names_its_original_and_cites_the_same_paper(name):
    system = get_plugin("systems", name, System)
    assert name == f"{system.method_of}-method"
    original = get_plugin("systems", system.method_of, System)
    assert system.citation == original.citation != ""
    assert original.title in system.title.replace("Method of the ", "Method of ")
    assert system.title.startswith("Method of")
    assert f"he method of {'the ' if 'the ' in system.title else ''}{original.title}" in system.description
    assert system.claims == ()  # they are of the original


def test_originals_and_methods_are_listed_beside_each_other(karat_cli):
    assert "wikipedia-miner    wikipedia-miner-method" in karat_cli("systems").out
    assert "tagme-api          tagme\n" in karat_cli("systems").out
    assert "illinois-wikifier-method: its published method" in karat_cli("systems", "show", "illinois-wikifier").out
    assert "not the system" in karat_cli("systems", "show", "illinois-wikifier-method").out
    entries = {entry["name"]: entry for entry in json.loads(karat_cli("systems", "--json", "-").out)["systems"]}
    assert (entries["aida"]["methods"], entries["graph"]["method_of"]) == (["graph"], "aida")


def test_learned_weights_name_their_data_and_fit_the_features():
    miner, wikifier = load_miner_weights(), load_wikifier_weights()
    for weights in (miner, wikifier):
        assert len(weights.data) == 64
        assert weights.corpora == ("zelda/jsonl/test_wned-wiki.jsonl.gz",)
        assert weights.n_mentions > 6000
    assert [len(model.weights) for model in (wikifier.local, wikifier.ranker, wikifier.linker)] == [4, 14, 16]
    for trees, n_features in ((miner.disambiguator, 3), (miner.detector, 10)):
        assert {feature for tree in trees.trees for feature in tree.features} <= set(range(-1, n_features))
        leaves = [
            value
            for tree in trees.trees
            for value, feature in zip(tree.values, tree.features, strict=True)
            if feature < 0
        ]
        assert all(0 <= value <= 1 for value in leaves)


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_the_weights_are_those_that_the_script_trains(shared, monkeypatch, tmp_path):
    from tools import train_methods

    committed = {path.name: path.read_bytes() for path in train_methods.WEIGHTS.glob("*.json")}
    monkeypatch.setattr(train_methods, "WEIGHTS", tmp_path)
    train_methods.main([str(shared)])
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.json")} == committed
