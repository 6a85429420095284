"""The levels of difficulty: worked by hand, as a partition, and with stored values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import karat
from karat.analysis.explanation.prose import explain
from karat.data.describe import describe
from karat.kb.in_memory_kb import InMemoryKB
from karat.matching.facts.facts import label_facet_values, label_facts
from karat.model.document import UNLINKED
from karat.model.errors import UsageError
from karat.plugins.facets.difficulty import LEVELS, resembles_name
from karat.plugins.facets.failing_systems import count_failing_systems

KB = InMemoryKB.from_tables(
    entities=["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"],
    names={"Q1": "Memphis", "Q2": "Memphis (Egypt)", "Q3": "Angela Merkel", "Q4": "Margaret Thatcher", "Q5": "Rome"},
    aliases=[("Q2", "Memphis"), ("Q5", "Roma"), ("Q1", "Bluff City")],
    popular={"Memphis": ["Q1"], "Roma": ["Q5"]},
)
CASES = [
    ("Memphis", "Q1", "popular"),  # the first of two candidates
    ("Bluff City", "Q1", "popular"),  # the only candidate, though its frequency is unknown
    ("Memphis", "Q2", "overshadowed"),  # a candidate, but not the first
    ("Merkel", "Q3", "variant"),  # known for no entity, and a part of the name
    ("A.M.", "Q3", "variant"),  # initials
    ("Iron Lady", "Q4", "dissimilar"),  # known for no entity, and unlike the name
    ("Roma", "Q4", "dissimilar"),  # known for another entity only, and unlike the name
    ("Nowhere", None, "nil"),
    ("Nowhere", UNLINKED, "none"),
    ("she", "Q3", "coreference"),
    ("Nowhere", "Q6", "unknown"),  # the name is unknown
    ("Memphis", "http://example.org/memphis", "unknown"),  # ids of another kind cannot be compared
]


def make_corpus(cases, **fields):
    documents = [
        karat.Document(f"d{row}", text, (karat.Label(0, len(text), entity, **fields),))
        for row, (text, entity, *_) in enumerate(cases)
    ]
    return karat.Corpus.from_documents(documents, name="cases")


def levels(corpus, kb=KB):
    values = label_facet_values(corpus, "difficulty", label_facts(corpus, kb))
    return [values.names[code] for code in values.lists.values.tolist()]


@pytest.mark.parametrize(("text", "entity", "level"), CASES)
def test_every_level_has_a_case_worked_by_hand(text, entity, level):
    assert levels(make_corpus([(text, entity)])) == [level]


def test_the_cases_cover_all_levels():
    assert {level for *_, level in CASES} == {*LEVELS}


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Merkel", "Angela Merkel", True),
        ("ANGELA merkel", "Angela Merkel", True),
        ("Angela Dorothea Merkel", "Angela Merkel", True),
        ("Köln", "Koln", True),
        ("U.N.", "United Nations", True),
        ("UK", "The United Kingdom", True),
        ("Memphis", "Memphis (Egypt)", True),
        ("Angela Davis", "Angela Merkel", False),
        ("Merk", "Angela Merkel", False),
        ("?", "Angela Merkel", False),
    ],
)
def test_a_text_resembles_a_name_by_words_or_initials(text, name, expected):
    assert resembles_name(text, name) is expected


def test_several_candidates_of_unknown_frequency_are_unknown():
    kb = InMemoryKB.from_tables(aliases=[("Q1", "Bo"), ("Q2", "Bo")], popular={"Ada": ["Q1"]})
    assert levels(make_corpus([("Bo", "Q1")]), kb) == ["unknown"]


def test_without_knowledge_base_only_nil_and_coreference_are_known():
    corpus = make_corpus([("Memphis", "Q1"), ("Nowhere", None), ("she", "Q3")])
    assert levels(corpus, None) == ["unknown", "nil", "coreference"]
    description = describe(corpus, by=["difficulty"])
    assert description.facets == {"difficulty": {"nil": 1, "coreference": 1, "unknown": 1}}
    assert "no knowledge base" in description.undefined["difficulty of 1 label"]


def test_a_stored_difficulty_takes_precedence_and_the_result_tells_which_was_used():
    stored = karat.Document("s", "Memphis", (karat.Label(0, 7, "Q1", difficulty="hard"),))
    corpus = karat.Corpus.from_documents([stored, *make_corpus([("Memphis", "Q2"), ("Nowhere", "Q6")])], name="mixed")
    assert levels(corpus) == ["hard", "overshadowed", "unknown"]
    run = karat.Run.from_responses([karat.Response(document.id) for document in corpus], name="silent")
    result = karat.evaluate(corpus, run, kb=KB, by=["difficulty"])
    assert "1 labels have the value of the gold standard (difficulty)" in result.notes
    assert "1 labels have a value computed from the knowledge base (difficulty)" in result.notes
    assert any(note.startswith("1 labels are unknown") for note in result.notes)


def test_a_stored_level_and_a_computed_one_of_the_same_name_are_one_group():
    stored = karat.Document("s", "Memphis", (karat.Label(0, 7, "Q1", difficulty="overshadowed"),))
    corpus = karat.Corpus.from_documents([stored, *make_corpus([("Memphis", "Q2")])], name="mixed")
    assert levels(corpus) == ["overshadowed", "overshadowed"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(CASES), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_the_levels_partition_the_mentions(cases, random):
    corpus = make_corpus(cases)
    responses = [
        karat.Response(document.id, (karat.Prediction(0, len(document.text), random.choice(["Q1", "Q2", None])),))
        for document in corpus
    ]
    run = karat.Run.from_responses(responses, name="random")
    result = karat.evaluate(corpus, run, kb=KB, by=["difficulty"], measures=["strong:micro.r"])
    groups, weights = result.groups["difficulty"]["strong"], result.views["strong"].weights.sum(axis=0)
    assert sum(group.counts.matched_gold for group in groups.values()) == weights[2]
    assert sum(group.counts.unmatched_gold for group in groups.values()) == weights[3]
    assert sum(describe(corpus, KB, ["difficulty"]).facets["difficulty"].values()) == len(corpus.labels)
    assert list(groups) == [level for level in LEVELS if level in groups]


def test_failing_systems_are_counted_per_mention():
    correct = np.array([[True, True, False], [True, False, False]])
    values = count_failing_systems(correct)
    assert [values.names[code] for code in values.lists.values.tolist()] == ["0 of 2", "1 of 2", "2 of 2"]


def test_flips_are_counted_by_difficulty_and_failing_systems():
    corpus = make_corpus([("Memphis", "Q1"), ("Memphis", "Q2")])
    runs = [
        karat.Run.from_responses(
            [karat.Response(document.id, (karat.Prediction(0, 7, entity),)) for document in corpus], name=entity
        )
        for entity in ("Q1", "Q2", "Q3")
    ]
    comparison = karat.compare(corpus, runs, kb=KB, by=["difficulty", "failing-systems"])
    flips = next(flips for flips in comparison.flips if {flips.system_a, flips.system_b} == {"Q1", "Q2"})
    assert flips.by["difficulty"] == {"overshadowed": (0, 1), "popular": (1, 0)}
    assert flips.by["failing-systems"] == {"2 of 3": (1, 1)}


def test_failing_systems_of_a_single_run_are_a_clear_error():
    corpus = make_corpus([("Memphis", "Q1")])
    run = karat.Run.from_responses([karat.Response("d0")], name="silent")
    with pytest.raises(UsageError, match="karat compare --by failing-systems"):
        karat.evaluate(corpus, run, by=["failing-systems"])


def test_facets_are_explained():
    assert explain("difficulty").startswith("difficulty: Difficulty.")
    assert "karat compare" in explain("failing-systems")
