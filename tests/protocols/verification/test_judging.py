"""The server: what a judge gets and may do, and what nobody may."""

import json
from contextlib import suppress

import pytest

from karat.protocols.verification.campaign_builder import build_campaign
from tests.protocols.verification.client import Browser, serving
from tests.protocols.verification.test_campaign import corpus, run

pytestmark = pytest.mark.extras

LEAD = "of the lead"


@pytest.fixture
def store(tmp_path, clock):
    from karat.protocols.verification.store.store import CampaignStore

    made = build_campaign(
        corpus(6), [run("one", documents=6), run("two", ("-", "QX", "QY"), documents=6)], name="toy", batch=4
    )
    return CampaignStore.create(str(tmp_path / "toy.sqlite"), made, clock)


@pytest.fixture
def client(store):
    """Browsers of a server."""
    from karat.kb.catalogue import open_starter
    from karat.web.judging.app import JudgingConfig, create_app

    every = []
    with serving(create_app(JudgingConfig(store, open_starter(), lead_token=LEAD))) as port:
        yield lambda: every.append(Browser(port)) or every[-1]
        for one in every:
            one.close()


def entered(client, store, worker="anna"):
    judge = client()
    response = judge.post("/api/session", json={"invitation": store.create_invitation(worker), "consent": True})
    assert response.status_code == 201
    return judge


def decide(judge, task, link=0, decision="verify", id=None, **more):
    said = {"id": id or f"l{link}", "link": link, "decision": decision, **more}
    return judge.post(f"/api/tasks/{task['task']}/judgements", json=said)


def test_a_judge_enters_judges_undoes_skips_and_ends_with_a_code(client, store):
    judge = entered(client, store)
    seen = []
    while (task := judge.get("/api/task").json()["task"]) is not None:
        seen.append(task["task"])
        for place, _ in enumerate(task["links"]):
            said = decide(judge, task, place, id=f"{len(seen)}-{place}", seconds=1.5)
            assert said.status_code == 201
        if len(seen) == 1:
            undone = judge.post("/api/undo", json={"id": said.json()["id"]})
            assert undone.json()["progress"]["completed"] == 0
            again = judge.get("/api/task").json()["task"]
            assert again["task"] == task["task"]
            assert [link["decision"] is None for link in again["links"]] == [*[False] * (len(task["links"]) - 1), True]
            decide(judge, task, len(task["links"]) - 1, "modify", id="again", becomes="QZ")
            other = judge.get("/api/task").json()["task"]
            assert judge.post(f"/api/tasks/{other['task']}/skip", json={"reason": "unclear"}).status_code == 201
            assert judge.get("/api/task").json()["task"]["task"] != other["task"]
    progress = judge.get("/api/progress").json()
    assert progress["code"]
    assert judge.ask("DELETE", "/api/session", {}).status_code == 204
    assert judge.get("/api/task").status_code == 401


def test_nothing_that_is_sent_tells_sources_or_controls(client, store):
    judge = entered(client, store)
    seen = ""
    while (found := judge.get("/api/task")).json()["task"] is not None:
        seen += found.text + found.text.join(map(str, found.headers.values()))
        task = found.json()["task"]
        for place, _ in enumerate(task["links"]):
            decide(judge, task, place, id=f"{task['task']}-{place}")
    seen += judge.get("/api/campaign").text
    for secret in ('"source"', "gold", '"one"', '"two"', "control", '"correct"', "document", '"number"'):
        assert secret not in seen, secret


def test_unknown_parameters_are_answered_with_the_known_ones(client, store):
    judge = entered(client, store)
    for path, known in (("/api/task", "none"), ("/api/search?q=Ulm", "q"), ("/api/campaign", "none")):
        assert judge.get(path).status_code == 200
        response = judge.get(f"{path}{'&' if '?' in path else '?'}nonsense=1")
        assert (response.status_code, response.json()["error"]) == (400, "bad-request")
        assert response.json()["message"].endswith(f"Known: {known}.")
    assert judge.get("/?nonsense=1").status_code == 200


def test_without_a_session_there_is_nothing(client, store):
    nobody = client()
    assert nobody.get("/api/campaign").status_code == 200
    for path in ("/api/task", "/api/progress", "/api/search?q=Ulm"):
        response = nobody.get(path)
        assert (response.status_code, response.json()["error"]) == (401, "unauthorised")
    task = entered(client, store).get("/api/task").json()["task"]
    assert decide(nobody, task).status_code == 401
    for given in ("", "x.y.z", store.create_invitation("ben")[:-1] + "!"):
        response = nobody.post("/api/session", json={"invitation": given, "consent": True})
        assert (response.status_code, response.json()["error"]) == (403, "not-yours")
    refused = nobody.post("/api/session", json={"invitation": store.create_invitation("ben"), "consent": False})
    assert refused.json()["error"] == "bad-request"


def test_nobody_judges_or_undoes_for_another(client, store):
    anna, ben = entered(client, store), entered(client, store, "ben")
    task = anna.get("/api/task").json()["task"]
    record = decide(anna, task).json()["id"]
    assert decide(ben, task).json()["error"] == "not-yours"
    assert ben.post("/api/undo", json={"id": record}).json()["error"] == "not-yours"
    assert ben.post(f"/api/tasks/{task['task']}/skip", json={"reason": "x"}).json()["error"] == "not-yours"
    assert decide(ben, {"task": "0" * 24}).json()["error"] == "not-yours"
    assert len(store.get_records()) == 1


def test_the_cookie_is_for_the_server_alone_and_sessions_end(client, store, clock):
    judge = client()
    invitation = store.create_invitation("anna")
    response = judge.post("/api/session", json={"invitation": invitation, "consent": True})
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert judge.get("/api/progress").status_code == 200
    assert client().post("/api/session", json={"invitation": invitation, "consent": True}).status_code == 403
    clock.now += 13 * 3600
    assert judge.get("/api/task").status_code == 401


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ({"host": "evil.example"}, "foreign-host"),
        ({"origin": "https://evil.example"}, "foreign-origin"),
        ({"origin": "null"}, "foreign-origin"),
        ({"content-type": "text/plain"}, "bad-request"),
        ({"content-length": "99999999"}, "too-large"),
    ],
)
def test_foreign_pages_and_names_are_refused_and_every_response_is_guarded(client, store, headers, error):
    judge = entered(client, store)
    sent = {"content-type": "application/json", **headers}
    for _ in range(5):  # a refused body is not read, so the kernel may reset the connection under the answer
        with suppress(ConnectionResetError):
            response = judge.post("/api/undo", content=b'{"id": "x"}', headers=sent)
            break
        judge.close()
    assert response.json()["error"] == error
    assert response.headers["referrer-policy"] == "no-referrer"
    assert "unsafe" not in response.headers["content-security-policy"]


def test_what_makes_no_sense_is_refused_in_the_one_shape(client, store):
    judge = entered(client, store)
    task = judge.get("/api/task").json()["task"]
    bad = [
        decide(judge, task, 99),
        decide(judge, task, 0, "skip"),
        decide(judge, task, 0, "modify"),
        decide(judge, task, 0, "no"),
        decide(judge, task, 0, id="../x"),
        decide(judge, task, 0, seconds=-1),
        decide(judge, task, 0, more=1),
        judge.post("/api/undo", content=b"\xff", headers={"content-type": "application/json"}),
        judge.get("/api/search"),
        judge.get("/api/nothing"),
        judge.ask("PUT", "/api/task", {}),
    ]
    for response in bad:
        assert 400 <= response.status_code < 500
        assert set(response.json()) == {"error", "message"}
    assert store.get_records() == []


def test_an_entity_is_the_same_however_judges_write_it(client, store):
    judge = entered(client, store)
    task = judge.get("/api/task").json()["task"]
    spellings = ("Q19837", "https://en.wikipedia.org/wiki/Steve_Jobs", "http://www.wikidata.org/entity/Q19837")
    for number, spelling in enumerate(spellings):
        assert decide(judge, task, 0, "modify", id=f"{number}", becomes=spelling).status_code == 201
    assert [record.becomes for record in store.get_records()] == ["Q19837"] * 3


def test_entities_are_found_as_one_types_with_what_they_are(client, store):
    judge = entered(client, store)
    found = judge.get("/api/search", params={"q": "Cambr"}).json()["entities"]
    assert "Cambr" in found[0]["name"]
    assert found[0]["link"].startswith("https://www.wikidata.org/wiki/Q")
    assert json.dumps(found)


PATHS = (("/api/lead/overview", "GET"), ("/api/lead/cases?show=judgements", "GET"), ("/api/lead/revoke", "POST"))


def test_only_the_lead_sees_judges_and_revokes_one(client, store):
    judge, lead = entered(client, store), client()
    task = judge.get("/api/task").json()["task"]
    decide(judge, task)
    for path, method in PATHS:
        for headers in ({}, {"authorization": "bearer wrong"}, {"authorization": LEAD}):
            response = judge.ask(method, path, {"worker": "anna"}, headers=headers)
            assert (response.status_code, response.json()["error"]) == (401, "unauthorised")
    signed = {"authorization": f"Bearer {LEAD}"}
    overview = lead.ask("GET", "/api/lead/overview", headers=signed).json()
    (row,) = overview["access"]
    assert (row["worker"], row["person"], row["is_revoked"]) == ("anna", None, False)
    (person,) = overview["persons"]
    assert person["person"] == next(iter(store.get_workers()))
    assert "anna" not in json.dumps([overview["groups"], overview["persons"]]), "decisions are under random names"
    cases = lead.ask("GET", "/api/lead/cases?show=judgements", headers=signed).json()
    assert (cases["total"], cases["cases"][0]["records"][0]["person"]) == (1, person["person"])
    assert "anna" not in json.dumps(cases)
    (row,) = lead.post("/api/lead/revoke", json={"worker": "anna"}, headers=signed).json()["access"]
    assert row["is_revoked"]
    assert judge.get("/api/task").status_code == 401
    assert len(store.get_records()) == 1


def test_a_person_is_revoked_by_the_random_name(client, store):
    judge, lead = entered(client, store), client()
    signed = {"authorization": f"Bearer {LEAD}"}
    (person,) = store.get_workers()
    for body in ({}, {"person": "nobody"}, {"person": person, "worker": "anna"}, {"worker": ""}):
        response = lead.post("/api/lead/revoke", json=body, headers=signed)
        assert (response.status_code, response.json()["error"]) == (400, "bad-request"), body
    assert judge.get("/api/progress").status_code == 200
    assert lead.post("/api/lead/revoke", json={"person": person}, headers=signed).status_code == 200
    assert judge.get("/api/progress").status_code == 401


def test_a_lead_link_opens_the_page_until_it_ends_and_lets_nobody_judge(client, store, clock):
    token = store.create_lead_token("carla", 3600)
    asked = client()
    signed = {"authorization": f"Bearer {token}"}
    assert asked.ask("GET", "/api/lead/overview", headers=signed).status_code == 200
    refused = asked.post("/api/session", json={"invitation": token, "consent": True})
    assert refused.json()["error"] == "not-yours"
    assert asked.ask("GET", "/api/task", headers={"cookie": f"karat_judge={token}"}).status_code == 401
    clock.now += 3601
    assert asked.ask("GET", "/api/lead/overview", headers=signed).status_code == 401


def test_tokens_of_judges_do_not_open_the_lead_page(client, store):
    invitation = store.create_invitation("ben")
    session = store.start_session(store.create_invitation("anna"), True)
    for token in (invitation, session, ""):
        response = client().ask("GET", "/api/lead/overview", headers={"authorization": f"Bearer {token}"})
        assert (response.status_code, response.json()["error"]) == (401, "unauthorised")


def test_wrong_lead_tokens_cannot_be_guessed_for_long(client):
    browser = client()
    answers = [
        browser.ask("GET", "/api/lead/overview", headers={"authorization": f"Bearer {number}"}).json()["error"]
        for number in range(12)
    ]
    assert answers == ["unauthorised"] * 10 + ["too-often"] * 2
    assert browser.ask("GET", "/api/lead/overview", headers={"authorization": f"Bearer {LEAD}"}).status_code == 429


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?show=",
        "?show=nothing",
        "?show=fast&hours=nan",
        "?show=fast&hours=-1",
        "?show=fast&offset=-1",
        "?show=fast&hours=x",
        "?show=judged&offset=99999999999999999999",
    ],
)
def test_senseless_questions_of_the_lead_are_refused(client, query):
    response = client().ask("GET", f"/api/lead/cases{query}", headers={"authorization": f"Bearer {LEAD}"})
    assert (response.status_code, response.json()["error"]) == (400, "bad-request")


def test_unknown_people_and_late_pages_have_no_cases(client, store):
    decide(judge := entered(client, store), judge.get("/api/task").json()["task"])
    for query in ("show=judgements&person=nobody", "show=judgements&offset=50"):
        found = client().ask("GET", f"/api/lead/cases?{query}", headers={"authorization": f"Bearer {LEAD}"}).json()
        assert found["cases"] == []
