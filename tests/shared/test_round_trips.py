"""Real corpora through the formats of annotation tools and back; what is lost is what was counted."""

from __future__ import annotations

import pytest

import karat
from karat.data.convert import count_losses
from karat.model.registry import get_plugin
from karat.model.spec.format import Format

pytestmark = pytest.mark.shared

CORPORA = (
    "elevant/benchmarks/kore50.benchmark.jsonl.gz",
    "elevant/benchmarks/news-fair.benchmark.jsonl.gz",
    "bat/MSNBC",
    "formats/pubtator/CDR_sample.txt.gz",
    "zelda/conll/test_aida-b.conll",
)


@pytest.fixture(scope="module", params=CORPORA)
def corpus(request, shared):
    return karat.load(shared / request.param)


@pytest.mark.parametrize(("name", "file"), [("brat", "x"), ("bioc", "x.bioc.json"), ("bioc-xml", "x.bioc.xml")])
def test_formats_with_free_fields_lose_nothing(name, file, corpus, tmp_path):
    assert count_losses(corpus, get_plugin("formats", name, Format)) == {}
    karat.save(corpus, tmp_path / file, format=name)
    again = karat.load(tmp_path / file)
    assert {document.id: document for document in again} == {document.id: document for document in corpus}


def test_conll_keeps_texts_spans_and_ids(corpus, tmp_path):
    losses = count_losses(corpus, get_plugin("formats", "conll", Format))
    karat.save(corpus, tmp_path / "x.conll")
    again = karat.load(tmp_path / "x.conll")
    assert again.texts == corpus.texts
    assert len(again.labels) == len(corpus.labels) - losses.get("labels that overlap longer ones", 0)
    assert losses or list(again) == list(corpus)


def test_aida_keeps_mentions_and_ids(corpus, tmp_path):
    losses = count_losses(corpus, get_plugin("formats", "aida", Format))
    karat.save(corpus, tmp_path / "x.aida.tsv")
    again = karat.load(tmp_path / "x.aida.tsv")
    assert len(again.labels) == len(corpus.labels) - losses.get("labels that overlap longer ones", 0)
    assert again.ids.to_pylist() == corpus.ids.to_pylist()
    if not any(name.startswith("text of documents") for name in losses):
        assert again.texts == corpus.texts
