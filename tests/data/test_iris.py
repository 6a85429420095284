"""Absolute IRIs in what is published."""

from __future__ import annotations

import pyoxigraph
import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.data.absolute_iris import IriBases

LABELS = (Label(0, 3, "Q1", same_as=("http://x.org/a",), types=("PER", "Q5")), Label(4, 7, None), Label(8, 9))
GOLD = Corpus.from_documents(
    [Document("news 1#%é", "Ada met Bob.", LABELS), Document("https://b.org/2", "Ulm")], name="tiny"
)


def test_documents_types_and_entities_get_absolute_iris(karat_cli, tmp_path):
    karat.save(GOLD, tmp_path / "gold.jsonl")
    target = tmp_path / "gold.ttl"
    ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", target, "--base", "https://a.org/mine")
    assert ran.code == 0, ran.err
    assert "types of 1 mention become IRIs" in ran.err
    assert "ids of 1 document become IRIs" in ran.err
    again = karat.load(target)
    assert again.ids.to_pylist() == ["https://a.org/mine/news%201%23%25é", "https://b.org/2"]
    first, *_ = next(iter(again)).labels
    assert first.entity == "http://www.wikidata.org/entity/Q1"
    assert first.same_as == ("http://x.org/a",)
    assert set(first.types) == {"https://a.org/mine/PER", "http://www.wikidata.org/entity/Q5"}
    # Without a base a parser of RDF refuses whatever is relative.
    triples = list(pyoxigraph.parse(target.read_bytes(), format=pyoxigraph.RdfFormat.TURTLE))
    assert any(triple.subject.value == "https://a.org/mine/news%201%23%25é#char=0,3" for triple in triples)


def test_who_gives_no_base_is_told_to(karat_cli, tmp_path):
    karat.save(GOLD, tmp_path / "gold.jsonl")
    ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", tmp_path / "x.ttl")
    assert (ran.code, (tmp_path / "x.ttl").exists()) == (2, False)
    assert "'news 1#%é' is not an absolute IRI" in ran.err
    assert "--base https://" in ran.err
    ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", tmp_path / "x.jsonl", "--base", "https://a.org/")
    assert "does not use IRIs" in ran.err
    assert karat_cli("data", "convert", tmp_path / "gold.jsonl", tmp_path / "x.ttl", "--base", "mine").code == 2


def test_entities_that_stay_relative_are_said(karat_cli, tmp_path):
    karat.save(
        Corpus.from_documents([Document("https://b.org/2", "Ulm", (Label(0, 3, "Q3012"),))]), tmp_path / "gold.jsonl"
    )
    ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", tmp_path / "gold.ttl")
    assert "1 entities have relative IRIs, such as 'Q3012'" in ran.err


def test_a_conversion_that_is_refused_does_not_claim_to_have_converted(karat_cli, tmp_path):
    labels = (Label(0, 3, "Ulm (city)", mention_id="u"),)
    karat.save(Corpus.from_documents([Document("d", "Ulm", labels)]), tmp_path / "gold.jsonl")
    options = (tmp_path / "gold.jsonl", tmp_path / "gold.ttl", "--base", "https://a.org/")
    ran = karat_cli("data", "convert", *options)
    assert (ran.code, (tmp_path / "gold.ttl").exists()) == (2, False)
    assert "to NIF" not in ran.err
    assert "--entity-base" in ran.err
    ran = karat_cli("data", "convert", *options, "--entity-base", "https://en.wikipedia.org/wiki/")
    assert ran.code == 0
    assert "1 document, 1 label to NIF\n  not stored: mention_id of labels 1" in ran.err


def test_titles_need_a_base_of_their_own(tmp_path):
    run = Run.from_responses([Response("d", (Prediction(0, 3, "Ada Lovelace", score=0.5),))])
    with pytest.raises(
        UsageError, match=r"'Ada Lovelace' is not an absolute IRI, which this format needs for entities.*entity_base="
    ):
        karat.save(run, tmp_path / "x.ttl", base="https://a.org/")
    karat.save(run, tmp_path / "x.ttl", base="https://a.org/", entity_base="https://en.wikipedia.org/wiki/")
    [response] = karat.load_run(tmp_path / "x.ttl", format="nif")
    assert response.predictions == (Prediction(0, 3, "https://en.wikipedia.org/wiki/Ada%20Lovelace", score=0.5),)


@pytest.mark.parametrize(("base", "made"), [("https://a.org/x#", "https://a.org/x#d"), ("urn:x:", "urn:x:d")])
def test_a_base_may_end_as_it_likes(base, made):
    assert IriBases(base).to_document_iri("d") == made


def test_a_date_with_an_id_has_an_iri(karat_cli, tmp_path):
    karat.save(
        Corpus.from_documents([Document("d", "In 1833.", (Label(3, 7, "Q7678", kind="datetime"),))]),
        tmp_path / "gold.jsonl",
    )
    ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", tmp_path / "gold.ttl", "--base", "https://a.org/")
    assert "no IRI" not in ran.err
    [document] = karat.load(tmp_path / "gold.ttl")
    assert [label.entity for label in document.labels] == ["http://www.wikidata.org/entity/Q7678"]


def test_values_have_no_iri_and_are_counted(karat_cli, tmp_path):
    """A date is no article: no prefix makes DATETIME an entity, and the label is left out and counted."""
    labels = (Label(0, 3, "Q1"), Label(8, 11, "DATETIME", kind="datetime"), Label(4, 7, "QUANTITY", kind="quantity"))
    karat.save(Corpus.from_documents([Document("d", "Ada 1st May.", labels)]), tmp_path / "gold.jsonl")
    for option in ((), ("--entity-base", "https://en.wikipedia.org/wiki/")):
        target = tmp_path / f"gold{len(option)}.ttl"
        ran = karat_cli("data", "convert", tmp_path / "gold.jsonl", target, "--base", "https://a.org/", *option)
        assert ran.code == 0, ran.err
        assert "not stored: labels of quantities and datetimes, which have no IRI 2" in ran.err
        assert [label.entity for document in karat.load(target) for label in document.labels] == [
            "http://www.wikidata.org/entity/Q1"
        ]
