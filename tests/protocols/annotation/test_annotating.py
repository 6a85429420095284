"""The server of a project: what annotators and adjudicators get and may do, and what nobody may."""

import json
from contextlib import suppress

import pytest

from tests.protocols.annotation.pages import AnnotatorPage
from tests.protocols.annotation.projects import make_project, make_task
from tests.protocols.verification.client import Browser, serving

pytestmark = pytest.mark.extras


@pytest.fixture
def anna(client, store):
    return AnnotatorPage(client(), store, "anna")


@pytest.fixture
def ben(client, store):
    return AnnotatorPage(client(), store, "ben")


@pytest.fixture
def carla(client, store):
    return AnnotatorPage(client(), store, "carla", adjudicates=True)


def test_an_annotator_marks_links_undoes_finishes_and_goes_on(anna, store):
    assert anna.session == {"role": "annotator", "done": 0, "total": 3}
    name = anna.next()
    document = anna.document(name)
    assert (document["document"], document["revision"], document["labels"]) == ("d0", 0, [])
    answer = anna.change(name, 0, {"n1": (0, 7, "Q60")}, seconds=1.5)
    receipt = answer.json()
    assert (answer.status_code, receipt["revision"], receipt["can_undo"], receipt["can_redo"]) == (201, 1, True, False)
    assert receipt["entities"]["Q60"]["name"] == "New York City"
    assert {finding["rule"] for finding in receipt["findings"]} >= {"category-dimension"}
    assert all(set(item) == FINDING for item in receipt["findings"])
    anna.change(name, 1, {"n2": (9, 19, "Q1408"), "n1": None})
    undone = anna.call(name, "undo", revision=2).json()
    assert [edit["id"] for edit in undone["edits"]] == ["n1", "n2"]
    assert undone["edits"][0]["after"]["label"] == {"start": 0, "end": 7, "entity": "Q60"}
    assert "after" not in undone["edits"][1]
    assert (undone["can_undo"], undone["can_redo"]) == (True, True)
    again = anna.document(name)  # as after a reload
    assert [label["id"] for label in again["labels"]] == ["n1"]
    assert again["can_redo"]
    assert anna.call(name, "redo", revision=3).json()["revision"] == 4
    assert [label["id"] for label in anna.document(name)["labels"]] == ["n2"]
    assert anna.call(name, "finish").json() == {"state": "done"}
    assert anna.change(name, 4, {"n3": (0, 7, "Q1")}).json()["error"] == "not-yours"
    assert anna.call(name, "reopen").json() == {"state": "open"}
    assert anna.change(name, 4, {"n3": (0, 7, None)}).status_code == 201
    anna.call(name, "finish")
    second = anna.next()
    assert second != name
    assert anna.call(second, "skip", reason="unclear").json() == {"state": "skipped"}
    listed = anna.get("documents").json()
    assert [(row["document"], row["state"], row["n_labels"]) for row in listed["documents"]] == [
        ("d0", "done", 2),
        ("d1", "skipped", 0),
    ]
    assert (listed["done"], listed["remaining"]) == (1, True)
    kinds = [entry["kind"] for entry in anna.get(f"documents/{name}/history").json()["changes"]]
    assert kinds == ["edit", "edit", "edit", "undo", "undo", "redo", "redo", "finish", "reopen", "edit", "finish"]
    (first, *_) = anna.get(f"documents/{name}/history", label="n2").json()["changes"]
    assert (first["by"], first["before"], first["after"]["label"]["entity"]) == ("you", None, "Q1408")
    assert len(store.get_records()) == 9


FINDING = {"rule", "severity", "description", "proposal", "start", "end"}


def test_the_project_is_described_to_everybody_and_its_role_to_those_who_entered(client, anna, carla):
    visitor = client().get("/api/project").json()
    assert (visitor["role"], visitor["consent"], visitor["round"]) == (None, "I agree.", 1)
    assert [item["dimension"] for item in visitor["scheme"]] == ["form", "pos"]
    assert {"id": "form:Full", "title": "Full Mention"} in visitor["scheme"][0]["values"]
    assert visitor["guidelines"][0]["version"].startswith("fair@")
    assert visitor["whitelist"] == ["person"]
    assert visitor["types"] == ["Person", "Organisation", "Place", "Miscellany"]
    assert anna.get("project").json()["role"] == "annotator"
    assert carla.get("project").json()["role"] == "adjudicator"


def test_half_of_the_documents_show_suggestions_whose_systems_stay_hidden(client, store):
    n_prefilled = 0
    for worker in "abcdefgh":
        page = AnnotatorPage(client(), store, worker)
        while (name := page.next()) is not None:
            document = page.document(name)
            n_prefilled += bool(document["suggestions"])
            assert "sources" not in json.dumps(document)
            if document["suggestions"]:
                page.change(name, 0, {"s0": None, "s1": (9, 19, "Q1408")})
                again = page.document(name)
                assert (again["rejected"], [item["id"] for item in again["labels"]]) == (["s0"], ["s1"])
            page.call(name, "finish")
    assert n_prefilled == 2  # two annotators of the two documents with suggestions, each in one of them


def test_two_annotators_never_see_each_other_and_do_not_disturb_each_other(anna, ben, store):
    name = anna.next()
    assert ben.next() == name
    assert anna.change(name, 0, {"n1": (0, 7, "Q11")}).status_code == 201
    assert ben.change(name, 0, {"n1": (0, 7, "Q22")}).status_code == 201  # the same id of another annotator
    assert "Q22" not in json.dumps(anna.document(name))
    assert "Q11" not in json.dumps(ben.document(name))
    assert "Q11" not in ben.get(f"documents/{name}/history").text
    for path in ("adjudication", f"adjudication/{name}"):
        answer = ben.get(path)
        assert (answer.status_code, answer.json()["error"]) == (403, "not-yours")


def test_a_stale_revision_is_refused_and_a_repeated_id_is_stored_once(anna, store):
    name = anna.next()
    first = anna.change(name, 0, {"n1": (0, 7, "Q1")}, id="same")
    again = anna.change(name, 0, {"n1": (0, 7, "Q1")}, id="same")  # its answer was lost
    assert (first.status_code, again.status_code, again.json()["revision"]) == (201, 201, 1)
    stale = anna.change(name, 0, {"n2": (9, 19, "Q2")})
    assert (stale.status_code, stale.json()["error"], set(stale.json())) == (409, "stale", {"error", "message"})
    assert anna.call(name, "undo", revision=0).status_code == 409
    assert len(store.get_records()) == 1


def test_an_adjudicator_decides_side_by_side_and_annotators_see_why(anna, ben, carla, store):
    name = anna.next()
    ben.next()
    anna.change(name, 0, {"a": (0, 7, "Q1"), "b": (9, 19, "Q1408"), "c": (44, 47, "Q3")})
    ben.change(name, 0, {"x": (0, 19, "Q1"), "y": (44, 47, "Q3")})
    anna.call(name, "finish")
    assert carla.get("adjudication").json() == {"documents": []}  # ben works on it
    assert carla.get(f"adjudication/{name}").status_code == 403
    ben.call(name, "finish")
    (row,) = carla.get("adjudication").json()["documents"]
    assert row == {"name": name, "document": "d0", "open": 1, "decided": 0}
    document = carla.get(f"adjudication/{name}").json()
    (region,) = document["regions"]
    assert (region["start"], region["end"], region["state"], document["agreed"]) == (0, 19, "open", 1)
    assert [version["annotator"] for version in region["versions"]] == ["A", "B"]
    assert not set(store.get_workers()) & set(json.dumps(document).replace('"', " ").split())
    assert anna.get("review").json()["documents"] == []
    letter = next(item["annotator"] for item in region["versions"] if len(item["labels"]) == 2)
    where = {key: region[key] for key in ("start", "end", "digest")}
    decision = {**where, "id": "d1", "choice": letter, "reason": "Two places."}
    answer = carla.post(f"adjudication/{name}/decisions", **decision)
    assert (answer.status_code, answer.json()["regions"][0]["choice"]) == (201, letter)
    assert len(answer.json()["gold"]) == 3
    assert carla.post(f"adjudication/{name}/decisions", **decision).status_code == 201  # repeated
    assert len(store.get_decisions(store.get_task(name))) == 1
    assert anna.get("review").json()["documents"] == []
    (reviewed,) = ben.get("review").json()["documents"]
    (seen,) = reviewed["regions"]
    assert (seen["reason"], len(seen["yours"]), len(seen["gold"])) == ("Two places.", 1, 2)
    assert seen["text"] == "Chatham, New Jersey"
    refused = ben.call(name, "reopen")
    assert (refused.status_code, "adjudicated" in refused.json()["message"]) == (403, True)
    old = carla.post(f"adjudication/{name}/decisions", **{**decision, "id": "d2", "digest": "0" * 16})
    assert old.json()["error"] == "stale"
    for body in (
        {**decision, "id": "d3", "choice": "Z"},
        {**decision, "id": "d4", "choice": "edited"},
        {**decision, "id": "d5", "choice": "none", "labels": [{"label": {"start": 0, "end": 7}}]},
        {**decision, "id": "d6", "choice": "edited", "labels": [{"label": {"start": 0, "end": 7000}}]},
    ):
        assert carla.post(f"adjudication/{name}/decisions", **body).json()["error"] == "bad-request"
    kinds = [entry["by"] for entry in carla.get(f"documents/{name}/history").json()["changes"]]
    assert {"annotator 1", "annotator 2", "adjudicator"} == set(kinds)
    assert anna.post(f"adjudication/{name}/decisions", **decision).status_code == 403
    plan = store.start_round()
    assert plan.counts["documents to go over"] == 1
    (changed,) = [row for row in ben.get("documents").json()["documents"] if row["changed"]]
    assert (changed["state"], changed["round"]) == ("open", 2)
    second = ben.document(name)
    assert [(item["start"], item["end"], item["reason"]) for item in second["changed"]] == [(0, 19, "Two places.")]
    assert sorted(label["label"]["entity"] for label in second["labels"]) == ["Q1", "Q1408", "Q3"]
    assert not second["can_undo"]


def test_whoever_becomes_adjudicator_keeps_the_documents_but_changes_finished_ones_no_more(anna, store):
    name = anna.next()
    store.add_adjudicator("anna")
    assert anna.change(name, 0, {"a": (0, 7, "Q1")}).status_code == 201
    assert anna.call(name, "finish").status_code == 201
    assert "adjudicators know" in anna.call(name, "reopen").json()["message"]
    assert anna.next() is None


def test_an_adjudicator_gets_no_documents_to_annotate(carla):
    assert carla.next() is None
    assert carla.get("documents").json() == {"documents": [], "done": 0, "total": 0, "remaining": False}


def test_without_a_session_there_is_nothing(client, anna, store):
    nobody = client()
    name = anna.next()
    for path in ("documents", f"documents/{name}", f"documents/{name}/findings", "review", "adjudication"):
        answer = nobody.get(f"/api/{path}")
        assert (answer.status_code, answer.json()["error"]) == (401, "unauthorised")
    assert nobody.get("/api/search", {"q": "Ulm"}).status_code == 401
    assert nobody.post(f"/api/documents/{name}/finish", {"id": "x"}).status_code == 401
    assert nobody.post("/api/documents/next", {}).status_code == 401
    refused = nobody.post("/api/session", {"invitation": store.create_invitation("dan"), "consent": False})
    assert refused.json()["error"] == "bad-request"
    assert anna.browser.ask("DELETE", "/api/session", {}).status_code == 204
    assert anna.get("documents").status_code == 401


def test_what_makes_no_sense_is_refused_in_the_one_shape(anna, ben, store):
    name, label = anna.next(), {"start": 0, "end": 7, "entity": "Q1"}

    def send(edits, **more):
        return anna.post(f"documents/{name}/changes", **{"id": "x", "revision": 0, "edits": edits, **more})

    bad = [
        send([]),
        send([{"id": "a", "after": None}, {"id": "a", "after": None}]),
        send([{"id": "a", "after": {"label": {**label, "end": 7000}}}]),
        send([{"id": "a", "after": {"label": {**label, "end": 0}}}]),
        send([{"id": "a", "after": {"label": {**label, "start": -1}}}]),
        send([{"id": "a", "after": {"label": {**label, "entity": ""}}}]),
        send([{"id": "a", "after": {"label": {**label, "entity": "Q" * 3000}}}]),
        send([{"id": "a", "after": {"label": {**label, "kind": "joke"}}}]),
        send([{"id": "a", "after": {"label": {**label, "types": ["x"] * 60}}}]),
        send([{"id": "a", "after": {"label": label, "note": "x" * 3000}}]),
        send([{"id": "a", "after": {"label": label}, "before": None}]),
        send([{"id": "../a", "after": None}]),
        send([{"id": "a", "after": {"label": label}}], seconds=-1),
        send([{"id": "a", "after": {"label": label}}], id="../x"),
        send([{"id": "a", "after": {"label": label}}], more=1),
        anna.call(name, "undo", revision=0),
        anna.call(name, "redo", revision=0),
        anna.call(name, "skip", reason=""),
        anna.get("search"),
        anna.get("search", q="x" * 3000),
        anna.get("nothing"),
        anna.get("documents/unknown"),
        ben.get(f"documents/{name}"),
        ben.change(name, 0, {"a": (0, 7, "Q1")}),
        ben.call(name, "finish"),
        anna.browser.post(
            f"/api/documents/{name}/changes", content=b"\xff", headers={"content-type": "application/json"}
        ),
        anna.browser.ask("PUT", "/api/documents", {}),
    ]
    for answer in bad:
        assert 400 <= answer.status_code < 500, answer.text
        assert set(answer.json()) == {"error", "message"}
    assert store.get_records() == []
    assert anna.document(name)["labels"] == []


def test_an_empty_body_is_an_empty_request(anna):
    response = anna.browser.post("/api/documents/next", content=b"", headers={"content-type": "application/json"})
    assert response.status_code == 200, response.text


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ({"host": "evil.example"}, "foreign-host"),
        ({"origin": "https://evil.example"}, "foreign-origin"),
        ({"content-type": "text/plain"}, "bad-request"),
        ({"content-length": "99999999"}, "too-large"),
    ],
)
def test_foreign_pages_and_names_are_refused_and_every_response_is_guarded(anna, headers, error):
    sent = {"content-type": "application/json", **headers}
    for _ in range(5):  # a refused body is not read, so the kernel may reset the connection under the answer
        with suppress(ConnectionResetError):
            answer = anna.browser.post("/api/documents/next", content=b"{}", headers=sent)
            break
        anna.browser.close()
    assert answer.json()["error"] == error
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_an_id_or_address_finds_its_entity_first_and_names_in_the_best_order(anna):
    def search(text):
        return [entity["id"] for entity in anna.get("search", q=text).json()["entities"]]

    for text in (
        "Q64",
        "q64",
        "https://www.wikidata.org/wiki/Q64#sitelinks",
        "http://www.wikidata.org/entity/Q64",
        "https://en.wikipedia.org/wiki/Berlin?oldid=7#History",
        "en.m.wikipedia.org/wiki/Berlin",
        "http://dbpedia.org/resource/Berlin",
        "<https://dbpedia.org/page/Berlin>",
        "Berlin",
        "berlin",
        "Berln",
    ):
        assert search(text)[0] == "Q64", text
    assert search("Q99999999999")[0] == "Q99999999999"  # the knowledge base does not know it
    assert search("https://example.org/entity/7")[0] == "https://example.org/entity/7"
    assert search("https://eo.wikipedia.org/wiki/Ulmo")[0] == "https://eo.wikipedia.org/wiki/Ulmo"
    assert search("") == []
    assert len(search("New")) == 10


def test_offsets_count_code_points_and_labels_keep_all_that_they_say(anna):
    anna.call(anna.next(), "finish")
    anna.call(anna.next(), "finish")
    name = anna.next()
    document = anna.document(name)
    assert document["text"][document["text"].index("in") - 2] == "🏰"
    label = {
        "start": 9,
        "end": 12,
        "entity": None,
        "nil_cluster": "ulm",
        "types": ["Place"],
        "categories": ["form:Full", "pos:NounSingular"],
        "optional": True,
        "mention_id": "m1",
        "parent": "m0",
    }
    body = {"id": "x", "revision": 0, "edits": [{"id": "n1", "after": {"label": label, "note": "really"}}]}
    assert anna.post(f"documents/{name}/changes", **body).status_code == 201
    (stored,) = anna.document(name)["labels"]
    assert stored == {"id": "n1", "label": label, "note": "really"}


def test_a_large_document_is_acknowledged_before_it_is_linted(tmp_path, clock):
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.web.annotating.app import AnnotatingConfig, create_app

    large = make_project([make_task(0, "word " * 15_000)])
    store = AnnotationStore.create(str(tmp_path / "large.sqlite"), large, clock)
    with serving(create_app(AnnotatingConfig(store))) as port:
        page = AnnotatorPage(Browser(port), store, "anna")
        name = page.next()
        assert page.change(name, 0, {"a": (0, 6, "Q1")}).json()["findings"] is not None  # how long it takes is unknown
        assert page.change(name, 1, {"b": (5, 9, "Q1")}).json()["findings"] is None
        answer = page.get(f"documents/{name}/findings").json()
        assert answer["revision"] == 2
        assert "word-boundary" in {finding["rule"] for finding in answer["findings"]}
        assert page.get("search", q="Q5").json()["entities"][0]["id"] == "Q5"  # without a knowledge base
        page.browser.close()


def test_an_invitation_may_be_the_whole_address(store, client):
    body = {"invitation": f"http://localhost:1/#/join/{store.create_invitation('dora')}", "consent": True}
    assert client().post("/api/session", body).status_code == 201
