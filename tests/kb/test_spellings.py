"""Tables of equivalent ids apply however they write their ids."""

from __future__ import annotations

import pytest

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.tsv_folder import load_tsv_folder

PAGE = "https://en.wikipedia.org/wiki/Emmanuel_Macron"
USUAL = ["enwiki:Emmanuel_Macron", PAGE, "http://en.wikipedia.org/wiki/emmanuel%20Macron", "Emmanuel Macron"]
USUAL += ["Emmanuel_Macron", "en.m.wikipedia.org/wiki/Emmanuel_Macron"]


def evaluate(gold, predicted, kb):
    corpus = Corpus.from_documents([Document("d", "x", (Label(0, 1, gold),))])
    return karat.evaluate(corpus, Run.from_responses([Response("d", (Prediction(0, 1, predicted),))]), kb=kb)


@pytest.mark.parametrize("written", USUAL)
def test_a_table_may_write_ids_in_every_usual_way(tmp_path, written):
    """Only addresses and the very same spelling applied before; all others scored 0.0 without a word."""
    (tmp_path / "same_as.tsv").write_text(f"Q3052772\t{written}\n")
    for id in USUAL:
        assert evaluate("Q3052772", id, tmp_path)["strong:micro.f1"] == 1, id
    for id in ("https://de.wikipedia.org/wiki/Emmanuel_Macron", "EMMANUEL MACRON", "enwiki:Macron"):
        assert not evaluate("Q3052772", id, tmp_path).score("strong:micro.f1").value, id


@pytest.mark.parametrize("written", ["Q3052772", "wd:Q3052772", "http://www.wikidata.org/entity/Q3052772"])
@pytest.mark.parametrize("predicted", ["Q3052772", "http://www.wikidata.org/entity/Q3052772"])
@pytest.mark.parametrize("title", [*USUAL, "http://dbpedia.org/resource/Emmanuel_Macron"])
@pytest.mark.parametrize("profile", ["gerbil", "karat"])
def test_a_table_may_write_the_items_and_titles_of_resources_in_every_usual_way(
    tmp_path, written, predicted, title, profile
):
    """`gerbil` bridges ids and does not normalise them: there a row with `Q3052772` did not apply to its address."""
    (tmp_path / "same_as.tsv").write_text(f"{title}\t{written}\n")
    gold = Corpus.from_documents([Document("d", "x", (Label(0, 1, "http://dbpedia.org/resource/Emmanuel_Macron"),))])
    run = Run.from_responses([Response("d", (Prediction(0, 1, predicted),))])
    assert karat.evaluate(gold, run, profile=profile, kb=tmp_path)["strong[in-kb]:micro.f1"] == 1


def test_spellings_of_one_id_connect_tables():
    kb = InMemoryKB.from_tables(
        redirects=[("enwiki:Macron", "Emmanuel_Macron")], same_as=[("wd:Q3052772", PAGE)], entities=["Q3052772"]
    )
    assert evaluate("Q3052772", "http://en.wikipedia.org/wiki/Macron", kb)["strong:micro.f1"] == 1
    assert kb.contains(["Q3052772", "wd:Q3052772", "Emmanuel_Macron", "enwiki:Macron"]) == [True] * 4
    assert kb.redirect_targets(["enwiki:Macron", PAGE]) == [PAGE, None]


def test_a_redirect_between_spellings_of_one_id_says_nothing():
    kb = InMemoryKB.from_tables(redirects=[("enwiki:new York", "enwiki:New_York"), ("enwiki:NYC", "enwiki:New York")])
    assert len(set(kb.canonical_ids(["enwiki:new York", "enwiki:New_York", "enwiki:New York", "enwiki:NYC"]))) == 1
    with pytest.raises(InputError, match="cycle"):
        InMemoryKB.from_tables(redirects=[("enwiki:A", "enwiki:A")])


def test_what_is_listed_as_two_entities_stays_so():
    kb = InMemoryKB.from_tables(same_as=[("a b", "x")], entities=["a b", "a_b"])
    assert kb.canonical_ids(["a_b", "x"]) == ["a_b", "a b"]


def test_bare_titles_are_those_of_the_only_language(tmp_path):
    (tmp_path / "same_as.tsv").write_text("Q64\tBerlin\nQ365\tdewiki:Köln\n")
    assert evaluate("Q64", "https://de.wikipedia.org/wiki/Berlin", tmp_path)["strong:micro.f1"] == 1
    assert evaluate("Q64", "https://en.wikipedia.org/wiki/Berlin", tmp_path).score("strong:micro.f1").value is None
    assert evaluate("Q365", "Köln", tmp_path)["strong:micro.f1"] == 1
    (tmp_path / "same_as.tsv").write_text("Q64\tBerlin\nQ365\tdewiki:Köln\nQ90\tfrwiki:Paris\n")
    assert evaluate("Q64", "https://de.wikipedia.org/wiki/Berlin", tmp_path).score("strong:micro.f1").value is None
    assert evaluate("Q64", "Berlin", tmp_path)["strong:micro.f1"] == 1


def test_a_table_of_which_no_row_applies_is_reported(tmp_path):
    (tmp_path / "same_as.tsv").write_text("Q1\tmesh:D1\n")
    (tmp_path / "redirects.tsv").write_text("enwiki:Old\tenwiki:New\n")
    notes = evaluate("Q5", "New", tmp_path).notes
    expected = (
        f"same_as of {tmp_path.name} has no effect: none of its 2 ids occurs in the gold standard or the predictions"
    )
    assert expected in notes
    assert not any("redirects of" in note for note in notes)


def test_the_digest_does_not_depend_on_spellings_that_do_not_occur(tmp_path):
    (tmp_path / "same_as.tsv").write_text("Q1\tQ2\n")
    assert load_tsv_folder(tmp_path).canonical_ids(["Q2", "wd:Q2"]) == ["Q1", "wd:Q2"]


def test_a_title_of_two_items_matches_neither(tmp_path):
    """It joined them before, so that Q64 counted as a correct link to Q62: 3 of 3 instead of 1 of 3."""
    (tmp_path / "same_as.tsv").write_text("Q62\tSpringfield\nQ64\tSpringfield\nQ90\tParis\n")
    gold = [Label(0, 1, "Q62"), Label(2, 3, "Q64"), Label(4, 5, "Q90")]
    predicted = [Prediction(0, 1, "Q64"), Prediction(2, 3, "Springfield"), Prediction(4, 5, "Paris")]
    result = karat.evaluate(
        Corpus.from_documents([Document("d", "x y z", tuple(gold))]),
        Run.from_responses([Response("d", tuple(predicted))]),
        kb=tmp_path,
    )
    assert result["strong:micro.f1"] == pytest.approx(1 / 3)
    (note,) = [note for note in result.notes if "replaced" in note]
    assert "of gold: ambiguous 2, unchanged 1; of predictions: ambiguous 2" in note


def test_underscores_distinguish_ids_that_are_no_titles():
    """`freebase:m.060_7` and `freebase:m.060__7` were taken for spellings of one title."""
    kb = InMemoryKB.from_tables(same_as=[("Q1", "freebase:m.060_7"), ("Q2", "freebase:m.060__7"), ("Q3", "/m/060_")])
    ids = ["freebase:m.060_7", "freebase:m.060__7", "/m/060_"]
    assert kb.canonical_ids(ids) == ["Q1", "Q2", "Q3"]
