"""Every engine finds what scoring in memory finds, to the last digit, whatever the parts and their order."""

from __future__ import annotations

import pickle
import re
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

import karat
import karat.evaluation.evaluation_sums
import karat.evaluation.verdict_stream
import karat.plugins.engines.local
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.evaluation.distributed.source import Job, count_block
from karat.evaluation.request import Request
from karat.matching.read import offset_fit
from karat.model.errors import InputError, KaratError, UnknownNameError, UsageError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.offsets.unit_maps import from_code_points
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.result import WARNING
from karat.model.spec.engine import ROW, Engine
from karat.model.tables.scatter import gather_blocks, plan_buckets, scatter_rows, split_block
from tests.conftest import with_settings
from tests.plugins.engines.conftest import quick_engines
from tests.plugins.engines.parts import both, loaded, told, write_parts

HOW = [
    {"profile": "karat"},
    {"profile": "gerbil", "prefixes": "Q"},
    {"profile": "bat"},
    {"profile": "elevant"},
    {"profile": "finegrained"},
    {"profile": "hipe"},
    {"profile": "karat", "resamples": 20},
    {"profile": "karat", "by": ["doc", "nil", "types", "mention-type"]},
    pytest.param({"profile": "elevant", "by": ["error"]}, marks=pytest.mark.both),
    {"profile": "finegrained", "by": ["types"]},
    {"threshold": "oracle", "measures": ["strong:micro.f1", "strong[nil]:micro.f1", "weak:macro.f1"]},
    {"threshold": "0.5"},
    {"measures": ["entity:macro.map", "strong:ece", "strong[types=PER]:micro.f1", "weak[doc=tweet-09]:micro.p"]},
    {"profile": "neleval", "measures": ["sets::span+kbid", "overlap-sumsum::span"]},
    {"drop": "score<0.3,lowercase"},
    {"drop": "type:PER,type:ORG"},
    {"profile": "hipe", "resamples": 9, "ci_unit": "cases"},
    {
        "profile": "neleval",
        "measures": ["all-coref", "pairwise-negative:micro.f1", "sets:is_linked:kbid", "muc::type+eid"],
    },
    {"measures": ["strong:micro.f1", "blanc:micro.f1", "b-cubed[in-kb]:micro.f1"], "threshold": "0.5"},
    {
        "measures": ["b-cubed:micro.f1", "sets::kbid:micro.f1"],
        "resamples": 9,
        "jackknife_groups": 7,
        "nil": "unmatched",
    },
]
"""Profiles and options: several passes, texts, thresholds, labels, collected statistics."""


def _name(how):
    return " ".join(f"{key}={','.join(value) if isinstance(value, list) else value}" for key, value in how.items())


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo corpus in parts, of which one is empty, and predictions in another order; one document has none."""
    folder = tmp_path_factory.mktemp("demo")
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    write_parts(corpus, folder / "gold", 4, empty=True)
    write_parts(run, folder / "predictions", 3, order=np.random.default_rng(5).permutation(len(run)))
    return folder


@quick_engines
@pytest.mark.parametrize("how", HOW, ids=_name)
def test_finds_what_memory_finds(demo, engine, how, small_blocks):
    assert told(karat.evaluate(*both(demo), engine=engine, **with_settings(how))) == told(
        karat.evaluate(*loaded(demo), **with_settings(how))
    )


@quick_engines
def test_neither_parts_nor_order_matter(tmp_path, engine, small_blocks):
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    expected = karat.evaluate(corpus, run)
    for seed, parts in ((1, 1), (2, 7), (3, 60)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        rng = np.random.default_rng(seed)
        write_parts(corpus, folder / "gold", parts, order=rng.permutation(len(corpus)))
        write_parts(run, folder / "predictions", 61 - parts, order=rng.permutation(len(run)))
        found = karat.evaluate(*both(folder), engine=engine)
        assert found.scores == expected.scores
        assert (found.run_digest, found.skipped, found.notes) == (expected.run_digest, expected.skipped, expected.notes)
        assert str(found.signature) == str(expected.signature)


def test_predictions_in_quite_another_order_are_divided_on_disk(demo, monkeypatch, small_blocks):
    expected = told(karat.evaluate(*loaded(demo)))
    met = []
    divided = karat.plugins.engines.local._align_by_buckets
    monkeypatch.setattr(
        karat.plugins.engines.local, "_align_by_buckets", lambda *sides: met.append(1) or divided(*sides)
    )
    assert told(karat.evaluate(*both(demo))) == expected
    assert not met
    monkeypatch.setattr(karat.plugins.engines.local, "_MAX_WAITING", 0)
    assert told(karat.evaluate(*both(demo))) == expected
    assert met


@quick_engines
def test_data_in_memory_is_divided_too(engine, small_blocks):
    corpus, run = karat.load("demo"), karat.load_run("demo/prior")
    assert told(karat.evaluate(corpus, run, engine=engine)) == told(karat.evaluate(corpus, run))


def _strangers():
    """A run that predictions documents that nobody asked about, one that nobody answered, and none at all in
    between."""
    texts = {f"d{number}": "Ada met Bob in Rome." for number in range(9)}
    corpus = Corpus.from_documents(
        [Document(id, text, (Label(0, 3, "Q1"), Label(15, 19, None))) for id, text in texts.items()]
    )
    responses = [Response(id, (Prediction(0, 3, "Q1"), Prediction(8, 11, "Q2"))) for id in list(texts)[2:]]
    return corpus, Run.from_responses([Response("x", (Prediction(0, 90, "Q1"),)), *responses, Response("y")])


@quick_engines
def test_documents_that_nobody_asked_about(tmp_path, engine, small_blocks):
    corpus, run = _strangers()
    write_parts(corpus, tmp_path / "gold", 3)
    write_parts(run, tmp_path / "predictions", 2)
    with pytest.raises(InputError) as here:
        karat.evaluate(*loaded(tmp_path))
    with pytest.raises(InputError) as there:
        karat.evaluate(*both(tmp_path), engine=engine)
    assert str(there.value) == str(here.value)
    assert there.value.where.endswith("part-000.parquet: row 1")
    found = karat.evaluate(*both(tmp_path), engine=engine, allow_unknown=True)
    assert told(found) == told(karat.evaluate(*loaded(tmp_path), allow_unknown=True))
    assert (found.skipped["unknown documents"], found.skipped["documents without predictions"]) == (2, 2)


@quick_engines
def test_documents_that_only_the_predictions_have_are_empty(tmp_path, engine, small_blocks):
    corpus, run = _strangers()
    write_parts(corpus, tmp_path / "gold", 3)
    write_parts(run, tmp_path / "predictions", 2)
    how = {"profile": "neleval", "by": ["doc"], "measures": ["strong:macro.f1", "strong:micro.f1", "b-cubed:micro.f1"]}
    found, expected = (
        karat.evaluate(*both(tmp_path), engine=engine, **with_settings(how)),
        karat.evaluate(*loaded(tmp_path), **with_settings(how)),
    )
    assert told(found) == told(expected)
    assert found.verdicts.combine_chunks().equals(expected.verdicts.combine_chunks())
    assert (len(found.ids), found.counts("strong").unmatched_predictions) == (11, 8)


@quick_engines
@pytest.mark.parametrize("side", ["gold", "predictions"])
def test_an_id_given_twice_is_refused(tmp_path, engine, side, small_blocks):
    corpus, run = _strangers()
    again = {"gold": len(corpus), "predictions": len(run)}
    for name, data in (("gold", corpus), ("predictions", run)):
        order = [*range(again[name]), 3] if name == side else None
        write_parts(data, tmp_path / name, 4, order=order)
    with pytest.raises(InputError, match="a second time") as problem:
        karat.evaluate(*both(tmp_path), engine=engine, allow_unknown=True)
    assert problem.value.where.startswith(str(tmp_path / side / "part-003.parquet: row "))


@quick_engines
def test_a_span_outside_its_text_is_placed(tmp_path, engine, small_blocks):
    corpus, run = _strangers()
    write_parts(corpus, tmp_path / "gold", 1)
    wrong = Run.from_responses([*list(run)[1:-1], Response("d0", (Prediction(15, 99, "Q1"),))])
    write_parts(wrong, tmp_path / "predictions", 4)
    with pytest.raises(InputError) as problem:
        karat.evaluate(*both(tmp_path), engine=engine)
    assert problem.value.where == f"{tmp_path / 'predictions' / 'part-003.parquet'}: row 2"


def test_parts_may_differ_in_the_fields_they_use(tmp_path, small_blocks):
    documents = [Document(f"d{n}", "Ada met Bob.", (Label(0, 3, f"Q{n}"),)) for n in range(4)]
    typed = [Document(f"t{n}", "Ada met Bob.", (Label(0, 3, f"Q{n}", types=("PER",)),), tags=()) for n in range(4)]
    for name, part in (("a", documents), ("b", typed)):
        (tmp_path / "gold").mkdir(exist_ok=True)
        karat.save(Corpus.from_documents(part, name="both"), tmp_path / "gold" / f"{name}.parquet")
    responses = [Response(document.id, (Prediction(0, 3, "Q1"),)) for document in [*typed, *documents]]
    write_parts(Run.from_responses(responses), tmp_path / "predictions", 2)
    how = {"by": ["types"], "measures": ["strong:micro.f1", "strong[types=PER]:micro.f1"]}
    found = karat.evaluate(*both(tmp_path), **with_settings(how))
    assert told(found) == told(karat.evaluate(*loaded(tmp_path), **with_settings(how)))
    # One of four is found, by eight predictions that all borrow the type of their entity.
    assert (found.corpus, found["strong[types=PER]:micro.f1"]) == ("both", 2 / 12)


def test_tags_of_one_document_decide_for_all(tmp_path, small_blocks):
    tagged = Document("last", "Ada.", (Label(0, 3, "Q1"),), tags=(karat.Tag("Q2"),))
    documents = [*(Document(f"d{n}", "Ada.", (Label(0, 3, "Q1"),)) for n in range(9)), tagged]
    responses = [
        *(Response(f"d{n}", (Prediction(0, 3, "Q1"),)) for n in range(9)),
        Response("last", tags=(karat.Tag("Q2"),)),
    ]
    write_parts(Corpus.from_documents(documents), tmp_path / "gold", 3)
    write_parts(Run.from_responses(responses), tmp_path / "predictions", 3)
    found = karat.evaluate(*both(tmp_path), settings={"task": "c2kb"})
    assert told(found) == told(karat.evaluate(*loaded(tmp_path), settings={"task": "c2kb"}))
    assert found.counts("entity").matched_gold == 1


def test_a_folder_is_one_corpus(demo):
    corpus, folder = karat.load("demo"), karat.load(demo / "gold")
    assert (folder.name, folder.digest, folder.metadata, len(folder)) == (
        corpus.name,
        corpus.digest,
        corpus.metadata,
        50,
    )
    assert karat.load(demo / "gold", text=False).digest == corpus.digest
    assert karat.load_run(demo / "predictions").digest == karat.load_run("demo/noisy").digest


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"measures": ["strong[entity=Q1]:micro.f1"]}, UsageError, "cannot filter by entity"),
        ({"measures": ["strong[types=Nothing]:micro.f1"]}, UnknownNameError, "unknown value of types"),
        ({"by": ["colour"]}, UnknownNameError, "unknown facet"),
        ({"task": "rt2kb"}, UsageError, "mentions without types"),
        ({"engine": "abacus"}, UnknownNameError, "Known: duckdb, local, spark"),
    ],
    ids=lambda value: _name(value) if isinstance(value, dict) else None,
)
def test_what_cannot_be_divided_is_refused(demo, how, error, words):
    with pytest.raises(error, match=words):
        karat.evaluate(*both(demo), **with_settings(how))


CLUSTERED = {"profile": "neleval", "measures": ["all-coref", "blanc:micro.f1", "muc::type+eid", "strong:micro.f1"]}


@pytest.mark.extras  # CEAF needs SciPy for clusters of this size
@pytest.mark.parametrize(
    "how", [CLUSTERED, {**CLUSTERED, "resamples": 5, "jackknife_groups": 4}], ids=["once", "recomputed"]
)
def test_clusters_are_put_together_as_they_come(demo, how, monkeypatch, small_blocks):
    expected = karat.evaluate(*loaded(demo), **with_settings(how))
    monkeypatch.setattr(karat.evaluation.evaluation_sums, "_MERGE_SIZE", 20)
    assert told(karat.evaluate(*both(demo), **with_settings(how))) == told(expected)
    monkeypatch.setattr(karat.evaluation.evaluation_sums, "_MAX_PAIRS", 30)
    found = karat.evaluate(*both(demo), **with_settings(how))
    reason = found.score("b_cubed:micro.f1").reason
    assert re.fullmatch(r"\d+ clustered mentions exceed what an engine keeps in memory", reason)
    assert found.score("blanc:micro.f1").reason.startswith("pairwise: ")
    assert found["strong:micro.f1"] == expected["strong:micro.f1"]
    assert f"excluded: b_cubed ({reason}; to include it, load corpus and run into memory)" in found.notes


def test_the_rest_is_scored(demo):
    how = {"measures": ["strong[entity=Q1]:micro.f1", "strong:micro.f1"], "by": ["types+kind", "nil"]}
    found = karat.evaluate(*both(demo), **with_settings(how, groups="filtered", task="d2kb"))
    expected = karat.evaluate(
        *loaded(demo), settings={"groups": "filtered", "task": "d2kb"}, measures="strong:micro.f1", by="nil"
    )
    assert found["strong:micro.f1"] == expected["strong:micro.f1"]
    assert (found.groups.keys(), found.groups["nil"]["strong"]) == ({"nil"}, expected.groups["nil"]["strong"])
    assert found.score("strong[entity=Q1]:micro.f1").reason == "an engine cannot filter by entity"
    assert [note for note in found.notes if note.startswith("excluded")] == [
        "excluded: strong[entity=Q1] (an engine cannot filter by entity; to include it, load corpus "
        "and run into memory)",
        "excluded: scores by types+kind (an engine cannot filter by types+kind; to include it, load "
        "corpus and run into memory)",
    ]


@quick_engines
@pytest.mark.parametrize(
    "how",
    [
        {"profile": "karat", "by": ["mention-type"]},
        pytest.param({"profile": "elevant", "by": ["error"]}, marks=pytest.mark.both),
        {"profile": "gerbil", "prefixes": "Q"},
        {"profile": "neleval", "measures": ["sets::span+kbid", "overlap-sumsum::span", "b_cubed"]},
        {"task": "c2kb", "threshold": "oracle"},
        {"drop": "lowercase"},
    ],
    ids=_name,
)
def test_verdicts_are_those_of_memory(demo, engine, how, small_blocks, monkeypatch):
    monkeypatch.setattr(karat.evaluation.verdict_stream, "_DOCUMENTS_PER_PART", 6)
    found, expected = (
        karat.evaluate(*both(demo), engine=engine, **with_settings(how)),
        karat.evaluate(*loaded(demo), **with_settings(how)),
    )
    tables = list(found.verdict_tables())
    assert len(tables) > 5
    assert found.verdicts.combine_chunks().equals(expected.verdicts.combine_chunks())


def test_nobody_has_everything_at_once(demo):
    with pytest.raises(KaratError, match="never holds all documents"):
        _ = karat.evaluate(*both(demo)).evaluation.verdicts("strong")


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_missing_package_is_named(demo, engine, monkeypatch):
    for name in ("duckdb", "pyspark.errors", "pyspark.sql", "py4j.protocol"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(UsageError, match=rf"pip install 'karat\[{engine}\]'"):
        karat.evaluate(*both(demo), engine=engine)


@pytest.mark.parametrize("name", list_plugins("engines"))
def test_engines_are_described(name):
    engine = get_plugin("engines", name, Engine)
    assert engine.title
    assert engine.description.endswith(".")
    assert engine.extra in (None, name)


@pytest.mark.both
def test_a_block_travels_and_counts_the_same_elsewhere():
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    columns = tuple(corpus.table.column_names), tuple(run.table.column_names)
    job = Job(Request.from_options(profile="elevant", by=("error", "types")), (corpus.name, run.name), columns)
    tables = [data.table.append_column(ROW, pa.array(np.arange(len(data)))) for data in (corpus, run)]
    work = partial(count_block, job=job)
    here, there = work(*tables), pickle.loads(pickle.dumps(work))(*pickle.loads(pickle.dumps(tables)))
    there = pickle.loads(pickle.dumps(there))
    assert here.digests == there.digests
    assert here.sums.skipped == there.sums.skipped
    assert here.sums.input_checks == there.sums.input_checks
    for name, counted in here.sums.views.items():
        assert np.array_equal(counted.weights, there.sums.views[name].weights)


def test_rows_of_one_id_meet_in_one_bucket():
    ids = [f"d{n}" for n in range(200)]
    gold, predictions = pa.table({"id": ids, "n": range(200)}), pa.table({"id": ids[::-1]})
    found = [*scatter_rows(gold, 7, gold=True), *scatter_rows(predictions, 7, gold=False)]
    blocks = list(gather_blocks(sorted(found, key=lambda batch: batch.column("bucket")[0].as_py())))
    assert len(blocks) == 7
    assert all(set(one.column("id").to_pylist()) == set(two.column("id").to_pylist()) for one, two in blocks)
    assert sorted(n for one, _ in blocks for n in one.column("n").to_pylist()) == list(range(200))


def test_large_documents_come_in_small_blocks(monkeypatch):
    monkeypatch.setattr("karat.model.tables.scatter._MAX_ITEMS", 100)
    ids, sizes = [f"d{n}" for n in range(40)], [30] * 39 + [500]
    gold = pa.table({"id": ids, "labels": [[0] * size for size in sizes]})
    blocks = list(split_block(gold, pa.table({"id": ids[::-1], "predictions": [[]] * 40})))
    assert all(set(one.column("id").to_pylist()) == set(two.column("id").to_pylist()) for one, two in blocks)
    assert sorted(id for one, _ in blocks for id in one.column("id").to_pylist()) == sorted(ids)
    assert sum(len(one) for one, _ in blocks) / len(blocks) <= 100 / 30
    assert len(list(split_block(gold.slice(0, 3), pa.table({})))) == 1


@pytest.mark.parametrize("rows", [0, 1, 10_000, 10_001, 10**6, 10**9])
def test_buckets_are_small_and_blobs_are_not(rows):
    plan = plan_buckets(rows)
    assert plan.n_buckets * plan.rows_at_once >= rows
    assert plan.rows_at_once / plan.n_buckets >= 63


PAGES = [f"https://en.wikipedia.org/wiki/{title}" for title in ("Berlin", "Paris", "A_page_that_nobody_wrote")]
QIDS = ["Q64", "Q90", "Q999999999"]
FOREIGN = [f"https://de.wikipedia.org/wiki/Keine_Seite_{number}" for number in range(3)]


@quick_engines
@pytest.mark.parametrize(
    ("gold", "predicted"), [(PAGES, QIDS), (QIDS, PAGES), (FOREIGN, QIDS), (PAGES, PAGES), (PAGES, [None] * 3)]
)
@pytest.mark.parametrize("settings", [{}, {"ids": "as-written"}, {"task": "c2w"}], ids=str)
def test_ids_in_other_schemes_are_bridged_or_undefined_as_in_memory(
    tmp_path, engine, gold, predicted, settings, small_blocks
):
    """Each document has one city, so that no block knows the ids of both sides."""
    words = ("Berlin", "Paris", "Atlantis")
    documents = [Document(word, word, (Label(0, 5, id),)) for word, id in zip(words, gold, strict=True)]
    responses = [Response(word, (Prediction(0, 5, id),)) for word, id in zip(words, predicted, strict=True)]
    write_parts(Corpus.from_documents(documents), tmp_path / "gold", 3)
    write_parts(Run.from_responses(responses[::-1]), tmp_path / "predictions", 3)
    here, there = (
        karat.evaluate(*loaded(tmp_path), settings=settings),
        karat.evaluate(*both(tmp_path), engine=engine, settings=settings),
    )
    assert told(there) == told(here)
    assert (there.id_health, there.notes) == (here.id_health, here.notes)
    if not settings and predicted is QIDS:
        assert (there.score("strong:micro.f1").value is None) == (gold is FOREIGN)
        assert there.id_health.bridge.startswith("starter@") == (gold is PAGES)


def _in_another_unit(kind, size=60):
    """Documents of which a third begin with characters that count otherwise in `kind`, and responses in `kind`."""
    documents, responses = [], []
    for number in range(size):
        text = f"{'😀 ' if number % 3 else ''}{'x' * (number % 7)} met Ada in Rome, said {'y' * (9 - number % 7)}."
        spans = [(text.index(word), text.index(word) + len(word)) for word in ("Ada", "Rome")]
        documents.append(Document(f"d{number}", text, tuple(Label(*span, "Q1") for span in spans)))
        predictions = tuple(Prediction(*from_code_points(text, kind, *span), "Q1") for span in spans)
        responses.append(Response(f"d{number}", predictions))
    return documents, responses


@quick_engines
@pytest.mark.parametrize("kind", ["utf16", "code-points", "shifted", "other texts"])
@pytest.mark.parametrize("limit", [1000, 30], ids=["all documents", "a sample"])
@pytest.mark.parametrize("how", [{"profile": "karat"}, {"profile": "elevant", "drop": "lowercase"}], ids=_name)
def test_offsets_are_checked_as_in_memory(tmp_path, engine, kind, limit, how, monkeypatch, small_blocks):
    monkeypatch.setattr(offset_fit, "_MAX_DOCUMENTS", limit)
    documents, responses = _in_another_unit(OffsetKind.UTF16 if kind == "utf16" else OffsetKind.CODE_POINTS)
    if kind == "shifted":
        responses = [Response(f"d{n + 1}", response.predictions) for n, response in enumerate(responses[:-1])]
    elif kind == "other texts":
        responses = [Response(f"d{7 * n % 60}", response.predictions) for n, response in enumerate(responses)]
    write_parts(Corpus.from_documents(documents), tmp_path / "gold", 4)
    order = np.random.default_rng(3).permutation(len(responses))
    write_parts(Run.from_responses(responses), tmp_path / "predictions", 3, order=order)
    options = with_settings(how)
    here, there = (
        karat.evaluate(*loaded(tmp_path), **options),
        karat.evaluate(*both(tmp_path), engine=engine, **options),
    )
    assert told(there) == told(here)
    warnings = [note for note in there.notes if note.startswith(WARNING)]
    assert bool(warnings) == (kind != "code-points")
    assert all(("a sample" in warning) == (limit < 60) for warning in warnings)
