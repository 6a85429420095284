"""Scores by what documents are, worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run, UsageError
from karat.data.pool import pooled
from karat.errors import UnknownNameError
from karat.evaluation.spread.pieces import in_parts
from karat.registry import get
from karat.spec.grouping import Grouping as LabelSpec

ADA, BOB = Label(0, 3, "Q1"), Label(8, 11, "Q2")
TEXT = "Ada met Bob."

CORPUS = Corpus.of(
    [
        Document("n1", TEXT, (ADA, BOB), meta={"domain": "news", "language": "en"}),
        Document("n2", TEXT, (), meta={"domain": "news"}),
        Document("t1", TEXT * 20, (ADA,), meta={"domain": "tweets", "language": "de"}),
        Document("x1", TEXT, (BOB,)),
    ],
    language="fr",
)
RUN = Run.of(
    [
        Reply("n1", (Answer(0, 3, "Q1"), Answer(8, 11, "Q9"))),  # one of two right, one answer wrong
        Reply("n2"),  # nothing to find, nothing found
        Reply("t1", (Answer(0, 3, "Q1"), Answer(4, 7, "Q3"))),  # right, and one too many
        Reply("x1"),  # missed
    ]
)


def of(group):
    counts = group.counts
    return counts.matched_answers, counts.unmatched_answers, counts.unmatched_gold


def by(label, **options):
    return karat.evaluate(CORPUS, RUN, by=[label], **options).by[label]["strong"]


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
    alone = Corpus.of([document for document in CORPUS if document.meta.get("domain") == "news"])
    news = karat.evaluate(alone, Run.of([reply for reply in RUN if reply.id in ("n1", "n2")]))
    assert {short: news[f"strong:{short}"] for short in groups["news"].measures} == dict(groups["news"].measures)


def test_accuracy_is_known_too():
    (groups,) = karat.evaluate(CORPUS, RUN, measures=["strong:accuracy"], by=["meta.domain"]).by["meta.domain"].values()
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
            karat.evaluate(in_parts(CORPUS), in_parts(RUN), measures=[name])


def test_what_the_source_says_of_the_whole_is_said_of_each():
    assert {value: of(group) for value, group in by("language").items()} == {
        "en": (1, 1, 1),
        "de": (1, 1, 0),
        "fr": (0, 0, 1),
    }
    divided = karat.evaluate(in_parts(CORPUS), in_parts(RUN), by=["language", "length", "meta.domain"])
    assert divided.by == karat.evaluate(CORPUS, RUN, by=["language", "length", "meta.domain"]).by


def test_lengths_are_in_bands_of_characters():
    assert {value: of(group) for value, group in by("length").items()} == {"short": (1, 1, 0), "tiny": (1, 1, 2)}
    read = get("labels", "length", LabelSpec).documents
    sizes = {0: "tiny", 140: "tiny", 141: "short", 500: "short", 501: "medium", 2000: "medium", 2001: "long"}
    corpus = Corpus.of([Document(str(size), "x" * size) for size in sizes])
    assert read(corpus.table, {}).to_pylist() == list(sizes.values())


def test_the_sentences_of_kore50_say_their_domain():
    read = get("labels", "domain", LabelSpec).documents
    name = "http://www.mpi-inf.mpg.de/yago-naga/aida/download/KORE50.tar.gz/AIDA.tsv/MUS07#char=0,"
    documents = [
        Document(name, "a"),
        Document("1", "b", meta={"title": name.replace("MUS07", "CEL01")}),
        Document("2", "c", meta={"title": name, "domain": "art"}),
        Document("3", "d", meta={"title": "SPO01"}),
    ]
    corpus = Corpus.of(documents, domain="mixed")
    assert read(corpus.table, corpus.about).to_pylist() == ["music", "celebrities", "art", "mixed"]


def test_a_pool_keeps_what_its_corpora_say():
    news = Corpus.of([Document("1", TEXT, (ADA,))], domain="news", language="en", **{"document type": "articles"})
    tweets = Corpus.of([Document("2", TEXT, (BOB,), meta={"language": "it"})], domain="tweets", language="en")
    both = pooled([news, tweets])
    assert [document.meta for document in both] == [
        {"domain": "news", "document_type": "articles"},
        {"language": "it", "domain": "tweets"},
    ]
    run = Run.of([Reply("1", (Answer(0, 3, "Q1"),)), Reply("2")])
    result = karat.evaluate(both, run, by=["domain", "language", "document-type"])
    assert {value: of(group) for value, group in result.by["domain"]["strong"].items()} == {
        "news": (1, 0, 0),
        "tweets": (0, 0, 1),
    }
    assert list(result.by["language"]["strong"]) == ["en", "it"]
    assert list(result.by["document-type"]["strong"]) == ["articles", "none"]


def test_what_no_document_says_is_an_error():
    with pytest.raises(UsageError, match=r"no document of corpus says what its meta\.source is"):
        by("meta.source")
    with pytest.raises(UnknownNameError, match=r"meta\.KEY"):
        by("meta.")


def test_intervals_draw_the_documents_with_the_value():
    groups = karat.evaluate(CORPUS, RUN, by=["meta.domain"], resamples=50).by["meta.domain"]["strong"]
    assert groups["news"].intervals["macro.f1"] == (0.5, 1.0)  # two documents: both the one, or both the other
    assert not groups["tweets"].intervals  # one document says nothing about others


def test_tasks_without_mentions_have_documents_too():
    groups = karat.evaluate(CORPUS, RUN, task="c2kb", by=["meta.domain"]).by["meta.domain"]["entity"]
    assert of(groups["news"]) == (1, 1, 1)


@pytest.mark.shared
def test_kore50_by_domain(shared):
    corpus = karat.load(shared / "elevant/benchmarks/kore50.benchmark.jsonl.gz")
    run = replace(Run.of([Reply(document.id) for document in corpus]), name="nothing")
    groups = karat.evaluate(corpus, run, by=["domain"]).by["domain"]["strong"]
    assert {value: group.counts.unmatched_gold for value, group in groups.items()} == {
        "business": 29,
        "celebrities": 26,
        "music": 39,
        "politics": 27,
        "sports": 23,
    }
