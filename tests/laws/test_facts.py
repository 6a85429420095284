"""What is known of a mention: the same for scores and statistics, but for the words they use differently."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.kb.in_memory_kb import InMemoryKB
from karat.matching.facts.facts import (
    MENTION_TYPES,
    NAMED_BY_DEFAULT,
    SCORE_DEFINITIONS,
    STATISTICS_DEFINITIONS,
    Facts,
    compute_gold_facts,
    label_facts,
)
from karat.matching.facts.labels import group_by_mention
from karat.matching.read.pairing import pair_run
from karat.matching.read.read_options import ReadOptions
from karat.model.spec.settings.conventions import Ids
from karat.model.truth import NO, UNKNOWN, YES
from tests.strategies import pairs

PLACE, CLUB = "Q27096213", "Q43229"
KB = InMemoryKB.from_tables(
    redirects={"Old": "Q1"},
    same_as=[("Q1", "R1")],
    names={"Q1": "Ulm", "Q2": "Ulm Harriers", "Q4": "chess"},
    types={"Q1": [PLACE], "Q2": [CLUB], "Q4": []},
    popular={"Ulm": ["Q1"], "Ulmer": ["Q1"], "1921": ["Q2"]},
    demonyms=["Ulmer"],
)
COLUMNS = (
    "mention_type",
    "surface_code",
    "document",
    "has_unknown_name",
    "lowercased",
    "is_linked",
    "is_coreference",
    "n_words",
)
TRUTHS = ("demonym", "metonym", "partial_name", "rare")


def corpus_of(text, *labels):
    return Corpus.from_documents([Document("d", text, labels)])


def sides(text, label, how=None, kb=KB):
    """One label as scores and as statistics see it."""
    corpus = corpus_of(text, Label(0, len(text), **label))
    run = Run.from_responses([Response("d")])
    read = pair_run(corpus, run, options=ReadOptions(kb=kb) if how is None else how)
    return Facts(read, kb).gold, label_facts(corpus, kb)


@pytest.mark.parametrize(
    ("text", "in_scores", "in_statistics"),
    [("1990s", True, False), ("2004", True, False), ("ulm", True, True), ("Ulm", False, False), ("(ulm)", True, False)],
)
def test_lowercased_is_by_the_first_letter_in_scores_and_by_the_first_character_in_statistics(
    text, in_scores, in_statistics
):
    scores, statistics = sides(text, {"entity": "Q1"})
    assert (scores.lowercased[0], statistics.lowercased[0]) == (in_scores, in_statistics)


@pytest.mark.parametrize(
    "label",
    [
        {"entity": None},
        {},
        {"entity": "1921-01-01", "kind": "datetime"},
        {"entity": "7", "types": ("QUANTITY",), "name": "Unknown"},
    ],
)
def test_what_is_not_linked_to_an_entity_may_be_rare_in_scores_but_not_in_statistics(label):
    scores, statistics = sides("1921", label)
    assert (scores.rare[0], statistics.rare[0]) == (YES, NO)


def test_an_entity_without_name_is_undecided_unless_scores_guess():
    corpus, run = corpus_of("Aalen", Label(0, 5, "Q8")), Run.from_responses([Response("d")])
    kinds = [
        Facts(pair_run(corpus, run), KB, terms).gold.mention_type[0] for terms in (SCORE_DEFINITIONS, NAMED_BY_DEFAULT)
    ]
    assert [MENTION_TYPES[kind] for kind in kinds] == ["entity-undecided", "entity-named"]
    assert MENTION_TYPES[label_facts(corpus, KB).mention_type[0]] == "entity-undecided"


def both_say(column, text, label, **how):
    scores, statistics = sides(text, label, **how)
    (value,) = {getattr(side, column)[0] for side in (scores, statistics)}
    return value


def test_a_coreference_is_one_though_a_category_denies_that_its_text_looks_so():
    denied = {"entity": "Q1", "categories": ("coreference:no",)}
    assert MENTION_TYPES[both_say("mention_type", "The town", denied)] == "entity-named"
    assert MENTION_TYPES[both_say("mention_type", "It", denied)] == "entity-named"
    contrary = {**denied, "kind": "coreference"}
    assert MENTION_TYPES[both_say("mention_type", "The town", contrary)] == "coreference-nominal"
    assert MENTION_TYPES[both_say("mention_type", "It", contrary)] == "coreference-pronominal"


def test_an_entity_has_the_name_the_types_and_the_popularity_of_all_its_ids():
    label = {"entity": "x:9", "same_as": ("x:8", "Q1")}
    assert both_say("names", "Ulmer", label) == "Ulm"
    assert both_say("demonym", "Ulmer", label) == YES
    assert both_say("rare", "Ulm", label) == NO
    assert both_say("rare", "Ulm", {"entity": "x:9", "same_as": ("Q2",)}) == YES
    assert both_say("metonym", "Ulm", {"entity": "x:9", "same_as": ("Q2",)}) == YES


def test_the_prediction_is_popular_by_any_of_its_ids():
    corpus = corpus_of("Ulm", Label(0, 3, "Q2", name="Someone"))
    prediction = Prediction(0, 3, "x:1", same_as=("Q1",))
    facts = Facts(pair_run(corpus, Run.from_responses([Response("d", (prediction,))])), KB)
    assert facts.predictions.is_among([frozenset({"Q1"}), frozenset(), None], np.array([0, 0, 0])).tolist() == [
        YES,
        NO,
        UNKNOWN,
    ]
    result = karat.evaluate(
        corpus, Run.from_responses([Response("d", (prediction,))]), kb=KB, by=["error"], measures=["strong:micro.f1"]
    )
    assert result.groups["error"]["strong"]["disambiguation-metonymy"].errors == 1


@pytest.mark.parametrize("id", ["Q1", "R1", "Old"])
def test_popular_entities_are_found_by_every_id_however_ids_are_read(id):
    assert both_say("rare", "Ulm", {"entity": id}, how=ReadOptions()) == NO
    assert both_say("rare", "Ulm", {"entity": id}) == NO


def test_a_mention_without_link_is_no_metonym():
    assert both_say("metonym", "Ulm", {}) == NO
    assert not both_say("is_linked", "Ulm", {})


def test_nil_stays_nil_where_nothing_may_match_it():
    how = ReadOptions(nil_never_matches=True)
    assert MENTION_TYPES[both_say("mention_type", "Ulm", {"entity": None}, how=how)] == "entity-unknown"
    assert not both_say("is_linked", "Ulm", {"entity": None}, how=how)


READINGS = [
    ReadOptions(),
    ReadOptions(kb=KB),
    ReadOptions(ids=Ids.LAST_SEGMENT),
    ReadOptions(ids=Ids.NORMALISED),
    ReadOptions(unlinked_is_nil=True),
    ReadOptions(unlinked_is_entity=True, nil_never_matches=True),
    ReadOptions(kb=KB, prefixes=("Q",)),
    ReadOptions(separate_alternatives=True),
    ReadOptions(merge_alternatives=True),
]


def with_further(corpus, ids):
    """The corpus with ids of `same_as` on every linked label."""
    return Corpus.from_documents(
        [
            Document(
                each.id,
                each.text,
                tuple(
                    Label(
                        x.start,
                        x.end,
                        x.entity,
                        same_as=ids if isinstance(x.entity, str) else (),
                        mention_id=x.mention_id,
                    )
                    for x in each.labels
                ),
            )
            for each in corpus
        ]
    )


@given(pairs(), pairs(), st.sampled_from(READINGS), st.sampled_from([(), ("Old",), ("x", "Q1")]))
def test_the_facts_of_the_gold_are_the_same_beside_every_run(pair_, other, how, further):
    corpus, run = pair_
    corpus = with_further(corpus, further)
    second = Run.from_responses(
        [Response(response.id, response.predictions) for response in other[1] if response.id == "d0"][:1]
        or [Response("d0")]
    )
    second = second if (second.predictions.end <= corpus.lengths[0]).all() else Run.from_responses([Response("d0")])
    one, two = pair_run(corpus, run, options=how), pair_run(corpus, second, options=how)
    assert one.gold_entity.tolist() == two.gold_entity.tolist()
    found = compute_gold_facts(one, KB)
    assert found.fits(two, KB, SCORE_DEFINITIONS)
    shared, alone = Facts(two, KB, gold=found), Facts(two, KB)
    assert shared.gold is found.annotations
    for side in ("gold", "predictions"):
        ours, theirs = getattr(shared, side), getattr(alone, side)
        assert ours.names == theirs.names
        for column in (*COLUMNS, *TRUTHS, "entity"):
            assert getattr(ours, column).tolist() == getattr(theirs, column).tolist()
    assert (shared.ids, shared.types, shared.popular) == (alone.ids, alone.types, alone.popular)


class Counting:
    """A knowledge base that notes what it is asked."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        if name not in ("names", "types", "popular_entities", "are_demonyms"):
            return getattr(KB, name)

        def ask(keys):
            self.asked += [(name, key) for key in keys]
            return getattr(KB, name)(keys)

        return ask


def test_a_second_run_asks_only_for_what_is_new():
    corpus = corpus_of("Ulmer Harriers at Ulm", Label(0, 14, "Q2"), Label(18, 21, "Q1"))
    runs = [
        Run.from_responses([Response("d", (Prediction(18, 21, "Q1"), Prediction(0, 5, id)))]) for id in ("Q1", "Q4")
    ]
    kb = Counting()
    one, two = (pair_run(corpus, run, options=ReadOptions(kb=kb)) for run in runs)
    gold = compute_gold_facts(one, kb)
    for read in (one, two):
        facts = Facts(read, kb, gold=gold)
        for side in (facts.gold, facts.predictions):
            assert [len(getattr(side, column)) for column in ("mention_type", "rare", "partial_name")] == [2, 2, 2]
        assert len(facts.types) == len(read.names)
    of_gold = {
        ("names", "Q1"),
        ("names", "Q2"),
        ("types", "Q1"),
        ("popular_entities", "Ulm"),
        ("popular_entities", "Ulmer Harriers"),
    }
    assert all(kb.asked.count(each) == 1 for each in of_gold)
    assert ("names", "Q4") in kb.asked


def test_facts_of_another_corpus_reading_knowledge_base_or_use_of_words_do_not_suit():
    corpus, run = corpus_of("Ulm", Label(0, 3, None)), Run.from_responses([Response("d")])
    read = pair_run(corpus, run)
    found = compute_gold_facts(read, KB)
    assert found.fits(read, KB, SCORE_DEFINITIONS)
    assert not found.fits(read, None, SCORE_DEFINITIONS)
    assert not found.fits(read, KB, STATISTICS_DEFINITIONS)
    assert not found.fits(pair_run(corpus, run, options=ReadOptions(nil_never_matches=True)), KB, SCORE_DEFINITIONS)
    assert not found.fits(pair_run(corpus_of("Ulm", Label(0, 3, None)), run), KB, SCORE_DEFINITIONS)
    assert Facts(read, None, gold=found).gold is not found.annotations


# Which labels are one mention.


@given(pairs(families=True))
def test_labels_of_one_unit_are_one_mention(pair_):
    corpus, _ = pair_
    units, labels = corpus.mention_index, corpus.labels
    for place, document in enumerate(corpus):
        low, high = labels.offsets[place], labels.offsets[place + 1]
        by_row = {}
        for row, label in zip(units.mention[low:high].tolist(), document.labels, strict=True):
            by_row.setdefault(row, []).append(label)
        assert sorted(map(repr, map(tuple, by_row.values()))) == sorted(map(repr, group_by_mention(document)))
    assert units.regroup("grouped", labels) is units
    assert units.regroup("separate", labels).mention.tolist() == list(range(len(labels)))
    merged = units.regroup("merged", labels).mention
    spans = np.column_stack([labels.document, labels.start, labels.end])
    assert (spans[merged] == spans).all()
    assert len(np.unique(merged)) == len({tuple(span) for span in spans.tolist()})
    assert (merged[merged] == merged).all()


@given(pairs(families=True), st.randoms(use_true_random=False))
def test_the_gold_as_a_run_does_not_change_with_the_order_of_alternatives(pair_, rng):
    corpus, _ = pair_
    shuffled = []
    for document in corpus:
        labels = list(document.labels)
        rng.shuffle(labels)
        shuffled.append(Document(document.id, document.text, tuple(labels), document.evaluation_span))
    one, two = (Run.from_gold(each) for each in (corpus, Corpus.from_documents(shuffled)))
    assert one.digest == two.digest
    assert len(one.predictions) == corpus.mention_index.is_representative.sum()


FOREIGN = "http://dbpedia.org/resource/"


@pytest.mark.parametrize(
    ("ids", "rare"),
    [
        (["Q1"], NO),
        (["R1"], NO),  # the same as Q1
        (["Q3"], YES),  # nobody knows it, but it is none of those that the text is popular for
        ([f"{FOREIGN}Ulm"], UNKNOWN),  # it may be Q1
        (["Ulm"], UNKNOWN),
        (["MESH:D008175"], UNKNOWN),
        (["1921"], UNKNOWN),
        ([f"{FOREIGN}Ulm", "Q1"], NO),
        ([f"{FOREIGN}Ulm", "Q3"], YES),
        ([], YES),  # NIL is none of them
    ],
)
def test_an_id_of_another_scheme_than_the_knowledge_bases_is_neither_rare_nor_popular(ids, rare):
    label = {"entity": ids[0], "same_as": tuple(ids[1:])} if ids else {"entity": None}
    scores, statistics = sides("Ulm", label)
    assert scores.rare.tolist() == [rare]
    assert statistics.rare.tolist() == [rare if ids else NO]  # there, only what is linked may be rare


def test_the_value_of_a_quantity_is_no_id_of_another_scheme():
    scores, statistics = sides("1921", {"entity": "1921-01-01", "kind": "datetime"})
    assert (scores.rare.tolist(), statistics.rare.tolist()) == ([YES], [NO])


def test_a_knowledge_base_of_titles_knows_titles():
    kb = InMemoryKB.from_tables(popular={"Ulm": ["Ulm"], "AC/DC": [f"{FOREIGN}AC/DC"]})
    for id, rare in {"Ulm": NO, "Ulm (Montana)": YES, f"{FOREIGN}Ulm": YES, "https://viaf.org/x": UNKNOWN}.items():
        assert sides("Ulm", {"entity": id}, kb=kb)[0].rare.tolist() == [rare]
    assert kb.may_be_popular(["Ulm", f"{FOREIGN}AC/DC", f"{FOREIGN}x/y", "Q1", "http://dbpedia.org/page/Ulm"]) == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_predictions_of_another_scheme_lead_to_nothing_popular_that_anybody_knows():
    """Under ELEVANT's rule a wrong link is rare only if it leads to what the text is popular for."""
    kb = InMemoryKB.from_tables(names={"Q2": "Ulm"}, types={"Q2": ["PER"]}, popular={"Ulm": ["Q1"]}, demonyms=[])
    corpus = Corpus.from_documents([Document("d", "Ulm", (Label(0, 3, "Q2"),))])

    def rare(entity):
        run = Run.from_responses([Response("d", (Prediction(0, 3, entity),))])
        found = karat.evaluate(corpus, run, profile="elevant", kb=kb, by="error").groups["error"]["strong"]
        return found["disambiguation-rare"].errors, found["disambiguation-rare"].undecided

    assert (rare("Q1"), rare("Q3"), rare(f"{FOREIGN}Ulm")) == ((1, 0), (0, 0), (0, 1))


@given(pair_=pairs(), seed=st.integers(0, 3))
def test_ids_of_another_scheme_never_turn_a_fact_into_its_opposite(pair_, seed):
    """Without names and types of its own, a label knows about its entity what the base says, or nobody does."""
    corpus = pair_[0]
    ids = sorted({label.entity for document in corpus for label in document.labels if isinstance(label.entity, str)})
    texts = {document.text[label.start : label.end] for document in corpus for label in document.labels}
    qids = {id: f"Q{number + 1}" for number, id in enumerate(ids)}
    popular = {text: [f"Q{1 + (len(text) + seed) % 4}"] for text in texts}
    kb = InMemoryKB.from_tables(popular=popular)

    def facts(name):
        documents = [
            structs.replace(
                document,
                labels=tuple(
                    structs.replace(label, entity=name(label.entity), same_as=())
                    if isinstance(label.entity, str)
                    else label
                    for label in document.labels
                ),
            )
            for document in corpus
        ]
        return label_facts(Corpus.from_documents(documents), kb)

    own, foreign = facts(qids.__getitem__), facts(lambda id: FOREIGN + qids[id])
    for trait in TRUTHS:
        before, after = getattr(own, trait), getattr(foreign, trait)
        assert ((after == before) | (after == UNKNOWN)).all()
    assert not (foreign.rare == YES).any()
