"""Ids of gold and predictions in different schemes: bridged by the built-in knowledge base, else undefined."""

from __future__ import annotations

import json

import pytest

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.in_memory_kb import InMemoryKB

TEXT = "Berlin and Paris and Atlantis"
SPANS = ((0, 6), (11, 16), (21, 29))
PAGES = [f"https://en.wikipedia.org/wiki/{title}" for title in ("Berlin", "Paris", "A_page_that_nobody_wrote")]
QIDS = ["Q64", "Q90", "Q999999999"]


def corpus(ids) -> Corpus:
    labels = [Label(*span, id) for span, id in zip(SPANS, ids, strict=False)]
    return Corpus.from_documents([Document("d", TEXT, labels)], name="gold")


def run(ids, name="system") -> Run:
    predictions = tuple(Prediction(*span, id) for span, id in zip(SPANS, ids, strict=False))
    return Run.from_responses([Response("d", predictions)], name=name)


@pytest.mark.parametrize(("gold", "predicted"), [(PAGES, QIDS), (QIDS, PAGES)])
def test_pages_and_qids_are_bridged(gold, predicted):
    """Two of three cities are known to the starter knowledge base; the third has no counterpart: 2 of 3 are right."""
    result = karat.evaluate(corpus(gold), run(predicted))
    assert result["strong:micro.p"] == result["strong:micro.r"] == pytest.approx(2 / 3)
    health = result.id_health
    assert health.bridge.startswith("starter@")
    assert result.signature["kb"] == health.bridge
    # The page that the knowledge base lacks stays a page, and it maps no page to the third QID.
    assert (health.unmatchable_gold, health.unmatchable) == (1, 1)
    assert health.bridge in health.summary


def test_unknown_gold_ids_that_a_prediction_may_write_can_match():
    """The knowledge base lacks the third QID: no page leads to it, but a predicted QID or further id may be it."""
    assert karat.evaluate(corpus(QIDS), run(PAGES[:2])).id_health.unmatchable_gold == 1
    assert karat.evaluate(corpus(QIDS), run([PAGES[0], QIDS[1]])).id_health.unmatchable_gold == 0
    predictions = (Prediction(0, 6, PAGES[0]), Prediction(21, 29, PAGES[2], same_as=(QIDS[2],)))
    further = karat.evaluate(corpus(QIDS), Run.from_responses([Response("d", predictions)]))
    assert further.id_health.unmatchable_gold == 0
    assert further["strong:micro.r"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("n_pages", [1, 2])
def test_each_prediction_is_mapped_by_its_own_id_however_many_are_written_otherwise(n_pages):
    """Berlin and Paris are known, so both are right whether one or two of three predictions are pages."""
    result = karat.evaluate(corpus(QIDS), run([*PAGES[:n_pages], *QIDS[n_pages:]]))
    assert result["strong:micro.f1"] == 1
    assert result.id_health.bridge.startswith("starter@")
    assert f"starter replaced the ids of 0 gold labels and {n_pages} prediction" in " ".join(result.notes)


def test_each_gold_label_is_mapped_by_its_own_id_and_what_became_of_the_ids_is_counted():
    """Gold: a page, a QID, an unknown page. Predictions: QIDs, the last unknown as well. 2 of 3 are right."""
    result = karat.evaluate(corpus([PAGES[0], QIDS[1], PAGES[2]]), run(QIDS))
    assert result["strong:micro.f1"] == pytest.approx(2 / 3)
    assert result.id_health.unmatchable_gold == 1
    (note,) = [note for note in result.notes if "replaced" in note]
    assert note == (
        "starter replaced the ids of 1 gold label and 0 predictions (unknown ids are compared unchanged); "
        "of gold: mapped 1, unchanged 1, unknown 1; of predictions: "
        "unchanged 2, unknown 1"
    )


def test_pages_and_qids_on_both_sides_are_mapped_one_by_one():
    """Both sides have both kinds, and each pair is written differently."""
    result = karat.evaluate(corpus([PAGES[0], QIDS[1]]), run([QIDS[0], PAGES[1]]))
    assert result["strong:micro.f1"] == 1


def test_gold_ids_that_no_prediction_can_match_are_counted_without_a_bridge():
    unknown = "https://de.wikipedia.org/wiki/Keine_Seite"
    health = karat.evaluate(corpus([*QIDS[:2], unknown]), run(QIDS)).id_health
    assert health.bridge == ""
    assert health.summary.endswith("1 gold label cannot match any predicted id")


def test_a_single_id_of_a_users_own_calls_for_no_bridge():
    """The knowledge base would turn all pages into QIDs, and no other id would profit."""
    result = karat.evaluate(corpus(PAGES), run([*PAGES[:2], "X:c"]))
    assert result.signature["kb"] == "none"


@pytest.mark.parametrize("titles", [("Berlin", "D.C."), ("A_page_that_nobody_wrote", "Another_such_page")])
def test_dbpedia_and_wikipedia_share_titles_that_the_starter_lacks(titles):
    resources = [f"http://dbpedia.org/resource/{title}" for title in titles]
    pages = [f"https://en.wikipedia.org/wiki/{title}" for title in titles]
    for gold, predicted in ((resources, pages), (pages, resources)):
        result = karat.evaluate(corpus(gold), run(predicted))
        assert result["strong:micro.f1"] == 1
        assert result.id_health.unmatchable == result.id_health.unmatchable_gold == 0
    assert karat.evaluate(corpus(resources), run(pages[::-1]))["strong:micro.f1"] == 0


ENGLISH = "https://en.wikipedia.org/wiki/"


@pytest.mark.parametrize("address", [ENGLISH, "http://dbpedia.org/resource/", "enwiki:"])
@pytest.mark.parametrize("titles", [("Bob Marley", "Paris"), ("Bob Marley", "Niles Paul"), ("No such", "Nor such")])
def test_bare_titles_name_pages_of_the_other_side_whether_or_not_the_starter_knows_them(titles, address):
    """Two of three predictions have the title of their label, and one has another title: 2 of 3 are right."""
    bare = [*titles, "Third thing"]
    pages = [f"{address}{title.replace(' ', '_')}" for title in (*titles, "Fourth thing")]
    for gold, predicted in ((bare, pages), (pages, bare)):
        result = karat.evaluate(corpus(gold), run(predicted))
        assert result["strong:micro.p"] == result["strong:micro.r"] == pytest.approx(2 / 3)
        assert result.id_health.unmatchable == result.id_health.unmatchable_gold == 0
        assert any("bare titles as pages of Wikipedia en" in note for note in result.notes)


def test_bare_titles_name_no_pages_if_it_is_unclear_of_which_wikipedia():
    """Two languages, or titles on the side that has the pages: only the equal page is right, 1 of 2 and 0 of 2."""
    title, page = "Niles Paul", f"{ENGLISH}Niles_Paul"
    german = "https://de.wikipedia.org/wiki/Niles_Paul"
    assert karat.evaluate(corpus([title, title]), run([page, german])).id_health.unmatchable == 2
    assert karat.evaluate(corpus([page, page]), run([page, title]))["strong:micro.f1"] == 0.5


def test_own_ids_and_ids_as_written_name_no_pages():
    page = f"{ENGLISH}Niles_Paul"
    for own in ("MESH:D1", "X:niles", "/m/02_286", "C0001234", "17", "NIL", "niles Paul"):
        result = karat.evaluate(corpus([own, own]), run([page, page]))
        assert not any("bare titles" in note for note in result.notes)
    for settings in ({"ids": "as-written"}, {"ids": "last-segment"}, {"ids": "normalised"}):
        result = karat.evaluate(corpus(["Niles Paul"]), run([page]), settings=settings)
        assert result.id_health.unmatchable == 1
    # The advice of the last result works.
    assert result.id_health.remedy == "try --kb starter"
    assert karat.evaluate(corpus(["Niles Paul"]), run([page]), settings=settings, kb="starter")["strong:micro.f1"] == 1


def test_bare_titles_are_found_in_a_knowledge_base_by_their_page():
    """The page redirects, and the prediction has its target: 1 of 1 is right."""
    kb = InMemoryKB.from_tables(name="mine", redirects={f"{ENGLISH}Niles_Paul": f"{ENGLISH}New_title"})
    assert karat.evaluate(corpus(["Niles Paul"]), run([f"{ENGLISH}New_title"]), kb=kb)["strong:micro.f1"] == 1


def test_a_bridge_does_not_depend_on_equal_numbers_of_gained_and_lost_ids():
    """Berlin becomes a QID and another resource a page, so that there are as many pages as before."""
    resources = [f"http://dbpedia.org/resource/{title}" for title in ("Berlin", "Paris", "Hour")]
    result = karat.evaluate(corpus(resources[:2]), run([PAGES[0], resources[2]]))
    assert result["strong:micro.f1"] == 0.5


def test_equal_schemes_need_no_bridge():
    for ids in (PAGES, QIDS):
        result = karat.evaluate(corpus(ids), run(ids))
        assert result["strong:micro.f1"] == 1
        assert result.id_health.bridge == ""
        assert result.signature["kb"] == "none"


def test_ids_as_written_are_not_bridged():
    result = karat.evaluate(corpus(PAGES), run(QIDS), settings={"ids": "as-written"})
    assert result["strong:micro.f1"] == 0
    assert result.id_health.bridge == ""
    assert result.id_health.mismatch == "no predicted id (QID) can match a gold id (Wikipedia en)"


def test_a_profile_of_a_reference_tool_stays_as_it_is():
    result = karat.evaluate(corpus(PAGES), run(QIDS), profile="gerbil")
    assert result.score("strong:micro.f1").value == 0
    assert result.signature["kb"] == "none"


def test_ids_that_can_never_match_make_linking_undefined_and_detection_not():
    unknown = [f"https://de.wikipedia.org/wiki/Keine_Seite_{number}" for number in range(3)]
    result = karat.evaluate(corpus(unknown), run(QIDS))
    score = result.score("strong:micro.f1")
    assert score.value is None
    assert score.reason == "no predicted id (QID) can match a gold id (Wikipedia de)"
    assert result["mention:micro.f1"] == 1
    assert result.views["strong"].gold.sum() == 3


def test_ids_of_a_users_own_are_wrong_and_not_undefined():
    """A made-up scheme may be written in many ways, so that nothing is known about it."""
    assert karat.evaluate(corpus(["X:a", "X:b", "X:c"]), run(QIDS)).score("strong:micro.f1").value == 0


def test_many_runs_are_scored_as_each_alone():
    runs = [run(QIDS, "qids"), run(PAGES, "pages"), run([*QIDS[:1], "Q90", "Q64"], "other")]
    together = karat.evaluate_runs(corpus(PAGES), runs, measures=["strong:micro.f1"])
    alone = [karat.evaluate(corpus(PAGES), each, measures=["strong:micro.f1"]) for each in runs]
    assert [scores.score("strong:micro.f1") for scores in together] == [
        result.score("strong:micro.f1") for result in alone
    ]
    assert [str(scores.signature) for scores in together] == [str(result.signature) for result in alone]


def test_compared_systems_are_scored_as_each_alone():
    """Only the QIDs need a bridge; pages are compared with pages as they are written."""
    runs = [run(QIDS, "qids"), run(PAGES, "pages")]
    comparison = karat.compare(corpus(PAGES), runs)
    assert [kb.split("@")[0] for kb in comparison.signature["kb"].split(";")] == ["none", "starter"]
    scores = comparison.datasets[0].scores
    assert scores["qids"].value == pytest.approx(2 / 3)
    assert scores["pages"].value == 1
    for system in runs:
        assert karat.evaluate(corpus(PAGES), system)["strong:micro.f1"] == scores[system.name].value


def odd_gold() -> Corpus:
    """Two QIDs, and a text that is no title."""
    return corpus([*QIDS[:2], "<NO_MAPPING>"])


def test_titles_are_mapped_although_the_gold_standard_has_an_odd_id():
    """The first prediction has a QID and a title, the second a title: both are right, whatever the third gold id is."""
    predictions = (Prediction(0, 6, "Q64", same_as=("Berliners",)), Prediction(11, 16, "Paris"))
    system = Run.from_responses([Response("d", predictions)], name="system")
    result = karat.evaluate(odd_gold(), system)
    assert result["strong:micro.f1"] == pytest.approx(4 / 5)
    compared = karat.compare(odd_gold(), [system, run(QIDS[:2], "other")])
    assert compared.datasets[0].scores["system"].value == result["strong:micro.f1"]


def test_an_odd_gold_id_hides_no_title_that_cannot_be_mapped():
    """Of three titles the last is unknown, and no title equals the odd id."""
    health = karat.evaluate(odd_gold(), run(["Berlin", "Paris", "Nowherecity"])).id_health
    assert (health.bridge.split("@")[0], health.unmatchable) == ("starter", 1)


@pytest.mark.parametrize(("gold_id", "n_correct"), [("Q999", 1), ("Q64", 0)])
def test_a_prediction_is_of_one_entity(gold_id, n_correct):
    """A table of the user mapped Berlin to Q999; the starter maps the title that was kept to Q64."""
    predictions = (Prediction(0, 6, "Q999", same_as=("Berlin",)), Prediction(11, 16, "Paris"))
    result = karat.evaluate(corpus([gold_id, "Q90"]), Run.from_responses([Response("d", predictions)]))
    assert result["strong:micro.p"] == (1 + n_correct) / 2
    assert result.skipped["predictions with ids of several entities (their entity counts)"] == 1


def test_run_and_score_print_the_bridge_and_warn_first(karat_cli, tmp_path):
    gold = tmp_path / "gold.jsonl"
    karat.save(corpus(PAGES), gold)
    ran = karat_cli("run", "graph", "--on", gold, "--out", tmp_path / "runs")
    assert ran.code == 0, ran.err
    words = " ".join(ran.out.split())
    assert "maps them onto each other" in words
    assert "kb:starter@" in words.replace(" ", "")
    predictions = next((tmp_path / "runs").rglob("graph.jsonl"))
    out = tmp_path / "result.json"
    assert karat_cli("score", gold, predictions, "--json", out).code == 0
    assert json.loads(out.read_text())["id_health"]["bridge"].startswith("starter@")
    karat.save(corpus([f"https://de.wikipedia.org/wiki/Keine_Seite_{number}" for number in range(3)]), gold)
    assert karat_cli("score", gold, predictions).out.startswith("graph: warning: no predicted id (QID) can match")


def test_a_gate_closes_if_only_the_new_version_has_no_score(karat_cli, tmp_path):
    unknown = [f"https://de.wikipedia.org/wiki/Keine_Seite_{number}" for number in range(3)]
    gold, old, new = (tmp_path / f"{name}.jsonl" for name in ("gold", "old", "new"))
    karat.save(corpus(unknown), gold)
    karat.save(run(unknown), old)
    karat.save(run(QIDS), new)
    closed = karat_cli("gate", "--gold", gold, new, "--baseline", old)
    assert closed.code == 1
    assert closed.out.startswith("new on gold: warning: no predicted id (QID) can match a gold id (Wikipedia de)")
    assert "Gate closed: strong:micro.f1 of the new version is undefined on gold" in closed.out
    assert karat_cli("gate", "--gold", gold, old, "--baseline", new).code == 0
    compared = karat_cli("compare", "--gold", gold, new, old)
    assert "function of sums" not in compared.out
    shown = karat_cli("show", gold, new)
    assert shown.out.startswith("system: warning: no predicted id (QID) can match a gold id (Wikipedia de)")
    karat.save(corpus(PAGES), gold)
    assert "maps them onto each other" in " ".join(karat_cli("show", gold, new).out.split())


@pytest.mark.parametrize("profile", ["karat", "bat", "gerbil", "elevant"])
def test_other_profiles_of_a_report_are_scored_as_by_themselves(profile):
    """A bridge of the first profile must not resolve ids under a profile that compares them as written."""
    first = Evaluation.from_data(Request.from_options(), corpus(PAGES), run(QIDS))
    other = first.with_request(first.request.with_profile(profile)).result
    alone = karat.evaluate(corpus(PAGES), run(QIDS), profile=profile)
    assert (other.scores, str(other.signature)) == (alone.scores, str(alone.signature))


def test_a_further_id_of_the_gold_standard_is_no_foreign_id():
    gold = Corpus.from_documents([Document("d", TEXT, (Label(*SPANS[0], "http://x/Berlin", same_as=("http://y/B",)),))])
    result = karat.evaluate(gold, run(["http://y/B"]))
    assert result["strong:micro.f1"] == 1
    assert not [note for note in result.notes if "no entity id of the predictions occurs" in note]
