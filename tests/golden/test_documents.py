"""Scores by what documents are, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.data.corpus_pool import pool_corpora
from karat.evaluation.distributed.table_partitions import to_partitioned
from karat.model.errors import UnknownNameError
from karat.model.registry import get_plugin
from karat.model.spec.facet import Facet as LabelSpec
from tests.conftest import with_settings

ADA, BOB = Label(0, 3, "Q1"), Label(8, 11, "Q2")
TEXT = "Ada met Bob."

CORPUS = Corpus.from_documents(
    [
        Document("n1", TEXT, (ADA, BOB), meta={"domain": "news", "language": "en"}),
        Document("n2", TEXT, (), meta={"domain": "news"}),
        Document("t1", TEXT * 20, (ADA,), meta={"domain": "tweets", "language": "de"}),
        Document("x1", TEXT, (BOB,)),
    ],
    language="fr",
)
RUN = Run.from_responses(
    [
        Response("n1", (Prediction(0, 3, "Q1"), Prediction(8, 11, "Q9"))),  # one of two right, one prediction wrong
        Response("n2"),  # nothing to find, nothing found
        Response("t1", (Prediction(0, 3, "Q1"), Prediction(4, 7, "Q3"))),  # right, and one too many
        Response("x1"),  # missed
    ]
)


def of(group):
    counts = group.counts
    return counts.matched_predictions, counts.unmatched_predictions, counts.unmatched_gold


def by(label, **options):
    return karat.evaluate(CORPUS, RUN, by=[label], **with_settings(options)).groups[label]["strong"]


def test_every_case_counts_under_the_value_of_its_document():
    groups = by("meta.domain")
    assert {value: of(group) for value, group in groups.items()} == {
        "news": (1, 1, 1),
        "tweets": (1, 1, 0),
        "none": (0, 0, 1),
    }
    assert groups["tweets"].measures["micro.p"] == 0.5
    assert groups["tweets"].measures["micro.r"] == 1.0
    # n1 has F1 1/2, and n2, in which there is nothing, counts as answered perfectly: as if news were all there is.
    assert groups["news"].measures["macro.f1"] == 0.75
    alone = Corpus.from_documents([document for document in CORPUS if document.meta.get("domain") == "news"])
    news = karat.evaluate(alone, Run.from_responses([response for response in RUN if response.id in ("n1", "n2")]))
    assert {short: news[f"strong:{short}"] for short in groups["news"].measures} == dict(groups["news"].measures)


def test_accuracy_is_known_too():
    (groups,) = (
        karat.evaluate(CORPUS, RUN, measures=["strong:accuracy"], by=["meta.domain"]).groups["meta.domain"].values()
    )
    assert groups["news"].measures["accuracy"] == 0.5  # both are detected, one is linked right
    assert groups["tweets"].measures["accuracy"] == 1.0


def test_a_measure_may_name_a_value():
    measures = ["strong:micro.f1@meta.domain=tweets", "strong[meta.domain=tweets]:micro.f1"]
    result = karat.evaluate(CORPUS, RUN, measures=measures)
    assert result[measures[0]] == result[measures[1]] == pytest.approx(2 / 3)
    for name in ("strong:micro.f1@meta.domain=web", "strong[meta.domain=web]:micro.f1"):
        with pytest.raises(UnknownNameError, match="tweets"):
            karat.evaluate(CORPUS, RUN, measures=[name])
        with pytest.raises(UnknownNameError, match="tweets"):
            karat.evaluate(to_partitioned(CORPUS), to_partitioned(RUN), measures=[name])


def test_what_the_source_says_of_the_whole_is_said_of_each():
    assert {value: of(group) for value, group in by("language").items()} == {
        "en": (1, 1, 1),
        "de": (1, 1, 0),
        "fr": (0, 0, 1),
    }
    divided = karat.evaluate(to_partitioned(CORPUS), to_partitioned(RUN), by=["language", "length", "meta.domain"])
    assert divided.groups == karat.evaluate(CORPUS, RUN, by=["language", "length", "meta.domain"]).groups


def test_lengths_are_in_bands_of_characters():
    assert {value: of(group) for value, group in by("length").items()} == {"short": (1, 1, 0), "tiny": (1, 1, 2)}
    read = get_plugin("facets", "length", LabelSpec).from_documents
    sizes = {0: "tiny", 140: "tiny", 141: "short", 500: "short", 501: "medium", 2000: "medium", 2001: "long"}
    corpus = Corpus.from_documents([Document(str(size), "x" * size) for size in sizes])
    assert read(corpus.table, {}).to_pylist() == list(sizes.values())


def test_the_sentences_of_kore50_say_their_domain():
    read = get_plugin("facets", "domain", LabelSpec).from_documents
    name = "http://www.mpi-inf.mpg.de/yago-naga/aida/download/KORE50.tar.gz/AIDA.tsv/MUS07#char=0,"
    documents = [
        Document(name, "a"),
        Document("1", "b", meta={"title": name.replace("MUS07", "CEL01")}),
        Document("2", "c", meta={"title": name, "domain": "art"}),
        Document("3", "d", meta={"title": "SPO01"}),
    ]
    corpus = Corpus.from_documents(documents, domain="mixed")
    assert read(corpus.table, corpus.metadata).to_pylist() == ["music", "celebrities", "art", "mixed"]


def test_a_pool_of_runs_is_numbered_like_its_corpora(tmp_path):
    """Both corpora have a document d; the runs answer d once, so that they share no id."""
    for name, ids in (("a", "d"), ("b", "de")):
        documents = [Document(id, "Ulm", (Label(0, 3, "Q1"),)) for id in ids]
        karat.save(Corpus.from_documents(documents, name=name), tmp_path / f"{name}.jsonl")
    for name, id in (("r", "d"), ("s", "e")):
        karat.save(Run.from_responses([Response(id, (Prediction(0, 3, "Q1"),))], name=name), tmp_path / f"{name}.jsonl")
    gold, runs = f"{tmp_path}/a.jsonl+{tmp_path}/b.jsonl", f"{tmp_path}/r.jsonl+{tmp_path}/s.jsonl"
    corpus = karat.load(gold)
    assert corpus.ids.to_pylist() == ["1/d", "2/d", "2/e"]
    run = karat.load_run(runs, corpus=corpus)  # an error before: gold has no document d
    assert run.ids.to_pylist() == ["1/d", "2/e"]
    assert karat.evaluate(corpus, run)["strong:micro.r"] == 2 / 3
    assert karat.load_run(runs).ids.to_pylist() == ["d", "e"]  # alone, nothing needs numbers


def test_a_pool_keeps_what_its_corpora_say():
    news = Corpus.from_documents(
        [Document("1", TEXT, (ADA,))], domain="news", language="en", **{"document type": "articles"}
    )
    tweets = Corpus.from_documents(
        [Document("2", TEXT, (BOB,), meta={"language": "it"})], domain="tweets", language="en"
    )
    both = pool_corpora([news, tweets])
    assert [document.meta for document in both] == [
        {"domain": "news", "document_type": "articles"},
        {"language": "it", "domain": "tweets"},
    ]
    run = Run.from_responses([Response("1", (Prediction(0, 3, "Q1"),)), Response("2")])
    result = karat.evaluate(both, run, by=["domain", "language", "document-type"])
    assert {value: of(group) for value, group in result.groups["domain"]["strong"].items()} == {
        "news": (1, 0, 0),
        "tweets": (0, 0, 1),
    }
    assert list(result.groups["language"]["strong"]) == ["en", "it"]
    assert list(result.groups["document-type"]["strong"]) == ["articles", "none"]


def test_what_no_document_says_is_an_error():
    with pytest.raises(UsageError, match=r"no document of corpus has a value for meta\.source"):
        by("meta.source")
    with pytest.raises(UnknownNameError, match=r"meta\.KEY"):
        by("meta.")


def test_intervals_draw_the_documents_with_the_value():
    groups = karat.evaluate(CORPUS, RUN, by=["meta.domain"], resamples=50).groups["meta.domain"]["strong"]
    assert groups["news"].intervals["macro.f1"] == (0.5, 1.0)  # two documents: both the one, or both the other
    assert not groups["tweets"].intervals  # one document says nothing about others


def test_tasks_without_mentions_have_documents_too():
    groups = karat.evaluate(CORPUS, RUN, settings={"task": "c2kb"}, by=["meta.domain"]).groups["meta.domain"]["entity"]
    assert of(groups["news"]) == (1, 1, 1)


@pytest.mark.shared
def test_kore50_by_domain(shared):
    corpus = karat.load(shared / "elevant/benchmarks/kore50.benchmark.jsonl.gz")
    run = replace(Run.from_responses([Response(document.id) for document in corpus]), name="nothing")
    groups = karat.evaluate(corpus, run, by=["domain"]).groups["domain"]["strong"]
    assert {value: group.counts.unmatched_gold for value, group in groups.items()} == {
        "business": 29,
        "celebrities": 26,
        "music": 39,
        "politics": 27,
        "sports": 23,
    }
