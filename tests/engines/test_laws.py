"""Laws that hold for any corpus: how documents are divided changes nothing."""

from __future__ import annotations

from functools import partial
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Answer, Corpus, Document, KaratError, Label, Reply, Run
from karat.evaluation.spread.pieces import in_parts
from karat.kb.tables import Tables
from karat.spec.engine import ROW, Engine
from tests.engines.parts import told
from tests.strategies import pairs, rich_documents, rich_replies

HOW = st.sampled_from(
    [
        {"like": "karat"},
        {"like": "karat", "by": ["nil", "types", "kind", "doc"]},
        {"like": "gerbil", "prefixes": "Q"},
        {"like": "bat"},
        {"like": "elevant", "by": ["error"]},
        {"like": "finegrained", "by": ["difficulty"]},
        {"like": "hipe"},
        {"task": "c2kb"},
        {"task": "re"},
        {"threshold": "oracle"},
        {"drop": "type:a,score<0.5"},
        {"by": ["length", "language"]},
        {"by": ["meta.source"], "measures": ["strong:micro.f1", "weak[length=tiny]:macro.r", "strong:accuracy"]},
        {"resamples": 3, "over": "cases", "by": ["nil"]},
        {"measures": ["entity:macro.ndcg", "strong:brier", "weak[optional=true]:micro.f1"]},
        {"like": "neleval", "measures": ["sets::span+kbid", "overlap-maxmax::span+type"]},
        {"like": "neleval", "measures": ["all-coref", "pairwise_negative::span"], "duplicates": "counted"},
        {"measures": ["b_cubed::docid+eid", "muc::kbid+type", "pairwise:is_first:eid+start", "sets::end+kbid"]},
        {"measures": ["blanc:micro.f1", "sets::eid"], "nil": "unmatched", "resamples": 4, "recompute": 2},
    ]
)


def _dealer(places):
    """An engine that deals documents out among blocks as it is told."""

    def spread(gold, answers, work):
        tables = [
            pa.concat_tables([table for piece in parts.pieces for table in piece.tables(2)])
            for parts in (gold, answers)
        ]
        ids = [table.column("id").to_pylist() for table in tables]
        block = {id: places[n % len(places)] for n, id in enumerate(dict.fromkeys([*ids[0], *ids[1]]))}
        for number in sorted(set(block.values())):
            kept = [
                table.filter(pa.array([block[id] == number for id in own]))
                for table, own in zip(tables, ids, strict=True)
            ]
            yield work(*(table if table.num_rows else pa.table({}) for table in kept))

    return Engine("Dealer", "Deals.", spread)


def _outcome(call):
    try:
        result = call()
        return told(result), result.verdicts.to_pylist()
    except KaratError as problem:
        return type(problem)


PLACES = st.lists(st.integers(0, 3), min_size=1, max_size=4)


def _check(corpus, run, how, places, *, allow=True):
    expected = _outcome(partial(karat.evaluate, corpus, run, allow_unknown=allow, **how))
    divided = partial(karat.evaluate, in_parts(corpus), in_parts(run), allow_unknown=allow, **how)
    with mock.patch("karat.evaluation.spread.spread.get", return_value=_dealer(places)):
        assert _outcome(divided) == expected


@pytest.mark.both
@given(pairs(families=True), HOW, PLACES)
@pytest.mark.extras  # it takes long
def test_any_blocks(data, how, places):
    _check(*data, how, places)


@pytest.mark.both
@given(rich_documents(), rich_replies(), HOW, PLACES)
@pytest.mark.extras  # it takes long
def test_all_fields(documents, replies, how, places):
    _check(Corpus.of(documents), Run.of(replies), how, places)


NELEVAL = st.sampled_from(
    [
        {"like": "neleval", "by": ["doc", "nil"]},
        {"like": "neleval", "measures": ["all-coref", "strong:macro.f1"]},
        {"like": "neleval", "threshold": "oracle", "measures": ["strong:macro.f1"]},
    ]
)

IDS = st.sampled_from(
    [
        *("Q64", "wd:Q64", "http://www.wikidata.org/entity/Q64", "Q9", "x", "a_b", "a b"),
        *("http://en.wikipedia.org/wiki/Berlin#a", "https://en.wikipedia.org/wiki/berlin"),
        "http://dbpedia.org/resource/Berlin",
    ]
)


@pytest.mark.both
@given(rich_documents(), rich_replies(), NELEVAL, PLACES)
@pytest.mark.extras  # it takes long
def test_documents_that_only_the_answers_have(documents, replies, how, places):
    _check(Corpus.of(documents), Run.of(replies), how, places, allow=False)


@pytest.mark.both
@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=6), st.sampled_from(["karat", "gerbil", "bat"]), PLACES)
@pytest.mark.extras  # it takes long
def test_ids_that_are_written_in_many_ways(links, like, places):
    kb = Tables.of(entities=["Q64"], same_as=[("Q64", "http://en.wikipedia.org/wiki/Berlin")])
    documents = [Document(f"d{n}", "x", (Label(0, 1, gold),)) for n, (gold, _) in enumerate(links)]
    replies = [Reply(f"d{n}", (Answer(0, 1, answer),)) for n, (_, answer) in enumerate(links)]
    for options in ({}, {"kb": kb}):
        _check(Corpus.of(documents), Run.of(replies), {"like": like, **options}, places)


def test_the_rows_of_pieces_are_numbered():
    corpus = karat.load("demo")
    rows = [table.column(ROW).to_numpy() for piece in in_parts(corpus).pieces for table in piece.tables(7)]
    assert np.array_equal(np.concatenate(rows), np.arange(len(corpus)))
