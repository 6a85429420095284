"""`light`: features, weights, detection and ranking."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.model.document import Candidate, Document, Prediction, Response
from karat.systems.api import link
from karat.systems.linking.lexicon import build_lexicon, snapshot_metadata
from karat.systems.linking.light.candidate_features import FEATURES, MENTION_FEATURES, FeatureExtractor
from karat.systems.linking.light.detector import DETECTION_FEATURES, Proposal, SpanExtractor, select_spans
from karat.systems.linking.light.entity_tables import build_entity_tables
from karat.systems.linking.light.model import (
    BIAS,
    CONFIDENCE_FEATURES,
    WEIGHTS_FILE,
    load_weights,
    predict_probability,
    softmax_by_owner,
)
from karat.systems.linking.light.stages import build_linker, create_linker
from karat.systems.linking.system import get_system
from karat.systems.plugins.light import LightOptions

_NAMES = ("Berlin", "London", "Paris", "Merkel", "Obama", "the United States", "Leeds", "Xyzzy", "Bob Dylan")
_texts = st.lists(
    st.sampled_from([*_NAMES, "met", "in", ".", "The coach of", "said", "\n", "ß", "𝔘"]), max_size=12
).map(" ".join)


@pytest.fixture(scope="module")
def lexicon():
    return build_lexicon("starter", "both")


@pytest.fixture(scope="module")
def extractor(lexicon):
    return FeatureExtractor(lexicon, build_entity_tables(lexicon))


def _mentions(lexicon, text, *surfaces):
    starts = [text.index(surface) for surface in surfaces]
    return [
        Prediction(start, start + len(surface), candidates=lexicon.find_candidates(surface, 20))
        for start, surface in zip(starts, surfaces, strict=True)
    ]


def _row(extractor, text, surface, entity, *others):
    """Return the features of one candidate by name."""
    mentions = _mentions(extractor.lexicon, text, surface, *others)
    features = extractor.extract(text, mentions)
    index = [candidate.entity for candidate in mentions[0].candidates].index(entity)
    return dict(zip(FEATURES, features.candidates[index].tolist(), strict=True))


def test_features_of_a_name_that_is_the_title(extractor):
    row = _row(extractor, "They went to Berlin.", "Berlin", "Q64")
    candidates = extractor.lexicon.find_candidates("Berlin", 20)
    assert candidates[0].entity == "Q64"
    assert row["share"] == candidates[0].score
    assert row["log_share"] == pytest.approx(math.log(candidates[0].score + 1e-4))
    assert row["lead"] == pytest.approx(candidates[0].score - candidates[1].score)
    assert (row["is_first"], row["exact"], row["folded"], row["partial"]) == (1, 1, 0, 0)
    assert (row["equals_title"], row["folds_to_title"], row["title_coverage"]) == (1, 1, 1)
    assert (row["is_place"], row["one_word_place"], row["is_person"]) == (1, 1, 0)
    assert (row["preposition_before_place"], row["article_before_place"], row["comma_after_place"]) == (1, 0, 0)
    assert row["same_entity"] == row["link_out"] == row["link_in"] == row["shared_neighbours"] == 0  # no other mention


def test_a_name_in_other_case_is_folded_and_a_word_of_a_name_is_partial(extractor):
    assert _row(extractor, "BERLIN", "BERLIN", "Q64")["folded"] == 1
    text = "Barack Obama spoke. Obama left."
    row = _row(extractor, text, "Obama", "Q76")
    assert row["title_coverage"] == pytest.approx(len("Obama") / len("Barack Obama"))


def test_another_mention_of_the_entity_supports_it_but_not_the_same_surface_again(extractor):
    text = "Barack Obama spoke. Then Obama left. Obama!"
    full = extractor.lexicon.find_candidates("Barack Obama", 20)
    share = next(candidate.score for candidate in full if candidate.entity == "Q76")
    start = text.index("Obama left")
    last = text.rindex("Obama")
    candidates = extractor.lexicon.find_candidates("Obama", 20)
    mentions = [Prediction(0, 12, candidates=full), Prediction(start, start + 5, candidates=candidates)]
    index = [candidate.entity for candidate in candidates].index("Q76")
    column = FEATURES.index("same_entity")
    once = extractor.extract(text, mentions).candidates[len(full) + index, column]
    again = extractor.extract(text, [*mentions, Prediction(last, last + 5, candidates=candidates)])
    assert once == pytest.approx(share)
    assert again.candidates[len(full) + index, column] == pytest.approx(share)


def test_mentions_of_one_name_may_differ_in_their_candidates(extractor):
    """A perfect candidate stage adds the gold entity to its own mention only; the other mention stays as it was."""
    text = "Berlin met Berlin and London"
    first, london = _mentions(extractor.lexicon, text, "Berlin", "London")
    n = len(first.candidates)
    second = Prediction(11, 17, candidates=(*first.candidates, Candidate("Q84")))
    features = extractor.extract(text, [first, second, london])
    assert np.bincount(features.owner).tolist() == [n, n + 1, len(london.candidates)]
    alike = extractor.extract(text, [first, Prediction(11, 17, candidates=first.candidates), london])
    np.testing.assert_allclose(features.candidates[:n], alike.candidates[:n], atol=1e-9)
    np.testing.assert_allclose(features.candidates[n : 2 * n], alike.candidates[n : 2 * n], atol=1e-9)
    np.testing.assert_allclose(features.candidates[2 * n + 1 :], alike.candidates[2 * n :], atol=1e-9)
    added = dict(zip(FEATURES, features.candidates[2 * n].tolist(), strict=True))
    assert added["share"] == 0
    assert added["same_entity"] > 0  # the mention of London supports it

    mentions = (replace(second, start=0, end=6), replace(first, start=11, end=17))
    response = build_linker(extractor.lexicon).rank(Document("d", text), Response("d", mentions), 0.0)
    for mention, prediction in zip(mentions, response.predictions, strict=True):
        assert {candidate.entity for candidate in prediction.candidates} == {
            candidate.entity for candidate in mention.candidates
        }


def test_topics_and_cues_are_combined_with_types(extractor):
    row = _row(extractor, "In the league match, coach Smith said Leeds scored a goal.", "Leeds", "Q1128631")
    assert row["is_team"] == 1
    assert row["is_organisation"] == 0  # a team is no other organisation
    assert row["sports_team"] == 1  # league, match, coach, scored and goal are more than 5 % of the words
    assert row["arts_team"] == 0


def test_features_of_a_mention(extractor):
    mentions = _mentions(extractor.lexicon, "We saw BERLIN.", "BERLIN")
    values = dict(zip(MENTION_FEATURES, extractor.extract("We saw BERLIN.", mentions).mentions[0], strict=True))
    assert values == {
        "log_candidates": pytest.approx(math.log(len(mentions[0].candidates))),
        "log_length": pytest.approx(math.log(6)),
        "n_words": 1,
        "is_capitals": 1,
        "is_capitalised": 1,
        "has_digit": 0,
    }


def test_entities_that_the_lexicon_lacks_have_no_context(extractor):
    mention = Prediction(0, 6, candidates=(Candidate("Q64", 0.6), Candidate("no such id", 0.4)))
    features = extractor.extract("Berlin", [mention]).candidates
    assert np.isfinite(features).all()
    assert features[1, FEATURES.index("log_popularity")] == 0
    assert features[1, FEATURES.index("text_similarity") :].sum() == 0


@given(_texts)
def test_features_and_scores_are_finite(text):
    lexicon = build_lexicon("starter", "both")
    linker = build_linker(lexicon)
    for gold_mentions in (False, True):
        link_documents = get_system("light[min-confidence=0]").start(gold_mentions=gold_mentions)
        labels = tuple(
            karat.Label(text.index(name), text.index(name) + len(name))
            for name in _NAMES
            if gold_mentions and name in text
        )
        (response,) = link_documents([Document("a", text, labels)])
        for prediction in response.predictions:
            if prediction.candidates:
                assert 0 <= prediction.score <= 1
                assert sum(candidate.score for candidate in prediction.candidates) == pytest.approx(1, abs=1e-4)
                shares = [candidate.score for candidate in prediction.candidates]
                assert shares == sorted(shares, reverse=True)
                assert prediction.entity == prediction.candidates[0].entity
    extractor = linker.span_extractor
    assert np.isfinite(extractor.describe_spans(text, extractor.propose_spans(text))).all()


@given(_texts, st.sets(st.sampled_from(_NAMES)))
def test_given_spans_stay_as_given_whatever_else_is_given(text, names):
    link_documents = get_system("light").start(gold_mentions=True)
    spans = sorted({(text.index(name), text.index(name) + len(name)) for name in names if name in text})
    (response,) = link_documents([Document("a", text, tuple(karat.Label(*span) for span in spans))])
    assert [(prediction.start, prediction.end) for prediction in response.predictions] == spans


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5), st.floats(0, 1)), max_size=12), st.floats(0, 1))
def test_selected_spans_do_not_overlap_and_reach_the_threshold(items, threshold):
    proposals = [Proposal(start, start + length, True, True, 1, False) for start, length, _ in items]
    probability = np.array([value for *_, value in items])
    chosen = select_spans(proposals, probability, threshold)
    assert chosen == sorted(chosen)
    assert all(first[1] <= second[0] for first, second in pairwise(chosen))
    likely = {(p.start, p.end) for p, value in zip(proposals, probability, strict=True) if value >= threshold}
    assert set(chosen) <= likely
    if likely:
        assert chosen


def test_known_names_inside_a_run_are_proposed_besides_those_of_the_rules(lexicon):
    text = "JAPAN GET LUCKY WIN"
    proposals = SpanExtractor(lexicon).propose_spans(text)
    spans = {text[proposal.start : proposal.end]: proposal for proposal in proposals}
    assert not spans["JAPAN"].is_rule or len(proposals) > 1
    assert all(proposal.is_capitals_run and proposal.n_run_words == 4 for proposal in proposals)


def test_features_of_spans_by_hand(lexicon):
    extractor = SpanExtractor(lexicon)
    text = "He met President Obama in Berlin, where a berlin is a coach."
    proposals = extractor.propose_spans(text)
    rows = {
        text[proposal.start : proposal.end]: dict(zip(DETECTION_FEATURES, row, strict=True))
        for proposal, row in zip(proposals, extractor.describe_spans(text, proposals).tolist(), strict=True)
    }
    assert rows["Obama"]["title_before"] == 1
    assert rows["Obama"]["name_before"] == 1
    berlin = rows["Berlin"]
    assert (berlin["is_known"], berlin["is_known_exactly"], berlin["n_words"], berlin["is_rule"]) == (1, 1, 1, 1)
    assert (berlin["preposition_before"], berlin["occurs_in_lower_case"], berlin["log_occurrences"]) == (1, 1, 0)
    assert berlin["starts_sentence"] == 0


def test_softmax_and_logistic_by_hand():
    scores, owner = np.array([0.0, math.log(3), 5.0]), np.array([0, 0, 1])
    assert softmax_by_owner(scores, owner, 2).tolist() == pytest.approx([0.25, 0.75, 1.0])
    assert predict_probability(np.array([[1.0, 2.0]]), np.array([0.5, -0.25]), 0.0).tolist() == [0.5]


def test_the_same_weights_give_the_same_predictions(lexicon):
    demo = karat.load("demo")
    response = Response("a", (Prediction(0, 6, candidates=lexicon.find_candidates("Berlin", 20)),))
    document = Document("a", "Berlin is in Germany.")
    first, second = build_linker(lexicon), create_linker(lexicon, load_weights())
    assert first.rank(document, response, 0.0) == second.rank(document, response, 0.0)
    assert list(link("light", demo)) == list(link("light", demo))


def test_a_higher_minimum_confidence_drops_links_only():
    demo = karat.load("demo")
    runs = [link(f"light[min-confidence={value}]", demo) for value in (0, 0.35, 0.7)]
    links = [
        {(response.id, *prediction.span, prediction.entity) for response in run for prediction in response.predictions}
        for run in runs
    ]
    assert links[0] > links[1] > links[2]


def test_the_weights_name_the_features_of_the_code():
    weights = load_weights()
    assert tuple(weights.ranking) == FEATURES
    assert tuple(weights.confidence) == (*CONFIDENCE_FEATURES, BIAS)
    assert tuple(weights.detection) == (*DETECTION_FEATURES, BIAS)
    assert all(math.isfinite(value) for part in (weights.ranking, weights.confidence) for value in part.values())
    assert WEIGHTS_FILE.stat().st_size < 10_000


def test_the_weights_say_where_they_come_from_and_hold_the_default_thresholds():
    weights, options = load_weights(), LightOptions()
    assert weights.layout == "karat-light/1"
    assert (options.min_mention, options.min_confidence) == (
        weights.thresholds["detection"],
        weights.thresholds["confidence"],
    )
    assert weights.n_train + weights.n_dev == sum(data.documents for data in weights.data)
    assert weights.kb == snapshot_metadata("starter")["kb"]


def test_weights_are_part_of_the_manifest():
    assert len(get_system("light").metadata["weights"]) == 8
