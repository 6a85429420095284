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
from karat import Corpus, Document, KaratError, Label, Prediction, Response, Run
from karat.evaluation.distributed.table_partitions import to_partitioned
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.spec.engine import ROW, Engine
from tests.plugins.engines.parts import told
from tests.strategies import pairs, rich_documents, rich_responses

HOW = st.sampled_from(
    [
        {"profile": "karat"},
        {"profile": "karat", "by": ["nil", "types", "kind", "doc"]},
        {"profile": "gerbil", "prefixes": "Q"},
        {"profile": "bat"},
        {"profile": "elevant", "by": ["error"]},
        {"profile": "finegrained", "by": ["difficulty"]},
        {"profile": "karat", "by": ["difficulty"]},
        {"profile": "hipe"},
        {"task": "c2kb"},
        {"task": "re"},
        {"threshold": "oracle"},
        {"drop": "type:a,score<0.5"},
        {"by": ["length", "language"]},
        {"by": ["meta.source"], "measures": ["strong:micro.f1", "weak[length=tiny]:macro.r", "strong:accuracy"]},
        {"resamples": 3, "ci_unit": "cases", "by": ["nil"]},
        {"measures": ["entity:macro.ndcg", "strong:brier", "weak[optional=true]:micro.f1"]},
        {"profile": "neleval", "measures": ["sets::span+kbid", "overlap-maxmax::span+type"]},
        {"profile": "neleval", "measures": ["all-coref", "pairwise_negative::span"], "duplicates": "counted"},
        {"measures": ["b_cubed::docid+eid", "muc::kbid+type", "pairwise:is_first:eid+start", "sets::end+kbid"]},
        {"measures": ["blanc:micro.f1", "sets::eid"], "nil": "unmatched", "resamples": 4, "jackknife_groups": 2},
    ]
)


def _dealer(places):
    """An engine that deals documents out among blocks as it is told."""

    def spread(gold, predictions, work):
        tables = [
            pa.concat_tables([table for piece in parts.partitions for table in piece.tables(2)])
            for parts in (gold, predictions)
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
        shown = told(result)
        # Offsets are checked against texts, which an engine reads only if the request needs them.
        shown["notes"] = [note for note in shown.get("notes", ()) if not note.startswith("warning: ")]
        return shown, result.verdicts.to_pylist()
    except KaratError as problem:
        return type(problem)


PLACES = st.lists(st.integers(0, 3), min_size=1, max_size=4)


def _check(corpus, run, how, places, *, allow=True):
    expected = _outcome(partial(karat.evaluate, corpus, run, allow_unknown=allow, **how))
    divided = partial(karat.evaluate, to_partitioned(corpus), to_partitioned(run), allow_unknown=allow, **how)
    with mock.patch("karat.evaluation.distributed.source.get_plugin", return_value=_dealer(places)):
        assert _outcome(divided) == expected


@pytest.mark.both
@given(pairs(families=True), HOW, PLACES)
@pytest.mark.extras  # it takes long
def test_any_blocks(data, how, places):
    _check(*data, how, places)


@pytest.mark.both
@given(rich_documents(), rich_responses(), HOW, PLACES)
@pytest.mark.extras  # it takes long
def test_all_fields(documents, responses, how, places):
    _check(Corpus.from_documents(documents), Run.from_responses(responses), how, places)


NELEVAL = st.sampled_from(
    [
        {"profile": "neleval", "by": ["doc", "nil"]},
        {"profile": "neleval", "measures": ["all-coref", "strong:macro.f1"]},
        {"profile": "neleval", "threshold": "oracle", "measures": ["strong:macro.f1"]},
    ]
)

IDS = st.sampled_from(
    [
        *("Q64", "wd:Q64", "http://www.wikidata.org/entity/Q64", "Q9", "x", "a_b", "a b"),
        *("http://en.wikipedia.org/wiki/Berlin#a", "https://en.wikipedia.org/wiki/berlin"),
        "http://dbpedia.org/resource/Berlin",
        *("http://en.wikipedia.org/wiki/Berlin#b", "q9", "I10", "mywiki:apple", "mywiki:Apple"),
        *("http://aksw.org/notInWiki/x", "NIL001", "--NME--"),
    ]
)


@pytest.mark.both
@given(rich_documents(), rich_responses(), NELEVAL, PLACES)
@pytest.mark.extras  # it takes long
def test_documents_that_only_the_predictions_have(documents, responses, how, places):
    _check(Corpus.from_documents(documents), Run.from_responses(responses), how, places, allow=False)


@pytest.mark.both
@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=6), st.sampled_from(["karat", "gerbil", "bat"]), PLACES)
@pytest.mark.extras  # it takes long
def test_ids_that_are_written_in_many_ways(links, profile, places):
    kb = InMemoryKB.from_tables(entities=["Q64"], same_as=[("Q64", "http://en.wikipedia.org/wiki/Berlin")])
    documents = [Document(f"d{n}", "x", (Label(0, 1, gold),)) for n, (gold, _) in enumerate(links)]
    responses = [Response(f"d{n}", (Prediction(0, 1, prediction),)) for n, (_, prediction) in enumerate(links)]
    # Only data in memory are bridged by the built-in knowledge base; an explicit setting turns that off.
    ids = {"ids": "normalised"} if profile == "karat" else {}
    for options in (ids, {"kb": kb}):
        _check(Corpus.from_documents(documents), Run.from_responses(responses), {"profile": profile, **options}, places)


@pytest.mark.parametrize(
    "links",
    [
        [("enwiki:List#a", "enwiki:List"), ("enwiki:List", "enwiki:List#b")],
        [("enwiki:List#a", "enwiki:List"), ("enwiki:List", "enwiki:List#a")],
        [("Q90", "wd:Q90"), ("I10", "I10")],
        [("Q90", "q90"), ("Q1", "wd:Q1")],
        [("mywiki:apple", "mywiki:Apple"), ("Q1", "Q1")],
        [("mywiki:apple", "mywiki:Apple"), ("x", "x")],
    ],
)
def test_blocks_know_how_ids_are_meant_in_the_whole_data(links):
    documents = [Document(f"d{n}", "x", (Label(0, 1, gold),)) for n, (gold, _) in enumerate(links)]
    responses = [Response(f"d{n}", (Prediction(0, 1, prediction),)) for n, (_, prediction) in enumerate(links)]
    _check(Corpus.from_documents(documents), Run.from_responses(responses), {}, [0, 1])


def test_the_rows_of_pieces_are_numbered():
    corpus = karat.load("demo")
    rows = [table.column(ROW).to_numpy() for piece in to_partitioned(corpus).partitions for table in piece.tables(7)]
    assert np.array_equal(np.concatenate(rows), np.arange(len(corpus)))
