"""The lead page of a project: each number equals its number of cases, and short times are detected."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from karat import Label
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from tests.protocols.annotation.pages import AnnotatorPage
from tests.protocols.annotation.projects import TEXT, Recorder, make_project, make_task

pytestmark = pytest.mark.extras

LEAD = "of the lead"
ULM, BERN = Label(0, 7, "Q1"), Label(9, 19, "Q2")


def watch(recorder, project, states=None):
    from karat.protocols.annotation.monitoring import ProjectMonitor

    done = {(record.task, record.annotator): "done" for record in recorder.records if record.annotator != "judge"}
    now = datetime(2026, 1, 2, tzinfo=UTC)
    return ProjectMonitor(project, recorder.records, done if states is None else states, now)


def test_regions_versions_and_decisions_are_counted_as_the_report_counts_them():
    from karat.protocols.annotation.report import measure_project

    project = make_project([make_task(0), make_task(1), make_task(2)])
    recorder = Recorder()
    recorder.finish("a", 0, ULM, BERN)
    recorder.finish("b", 0, ULM)
    recorder.finish("a", 1, ULM)
    versions = {"a": (AnnotatedLabel(ULM), AnnotatedLabel(BERN)), "b": (AnnotatedLabel(ULM),)}
    recorder.decide(0, versions, choice="a")
    monitor = watch(recorder, project)
    names = ("finished", "complete", "incomplete", "adjudicated", "agreed", "disagreed", "undecided", "decided")
    assert {name: len(monitor.find_cases(name)) for name in names} == {
        "finished": 3,
        "complete": 1,
        "incomplete": 2,
        "adjudicated": 1,
        "agreed": 1,
        "disagreed": 1,
        "undecided": 0,
        "decided": 1,
    }
    assert monitor.n_needed == 3
    assert monitor.count_by_person("decisions") == {"judge": 1}
    assert monitor.count_labels() == {"a": 3, "b": 1}
    report = measure_project(project, recorder.records, resamples=0)
    assert monitor.agreement == report.agreement
    assert len(monitor.find_cases("adjudicated")) == report.gold_documents
    assert {row.annotator: row.documents for row in report.annotators} == monitor.count_by_person("finished")


def test_one_other_annotator_does_not_lower_the_agreement_of_all():
    """`a` and `b` agree on both regions; `c` shares one of two regions with each. So (1 + 1/2) / 2 and 1/2."""
    recorder = Recorder()
    for annotator, labels in (("a", (ULM, BERN)), ("b", (ULM, BERN)), ("c", (ULM,))):
        recorder.finish(annotator, 0, *labels)
    recorder.finish("d", 1, ULM)
    monitor = watch(recorder, make_project([make_task(0), make_task(1)], annotators=3))
    assert [monitor.measure_agreement(person) for person in "abcd"] == [0.75, 0.75, 0.5, None]


def seconds_of(recorder, project):
    monitor = watch(recorder, project)
    return {
        (case.task.number, case.entries[0].person): (case.entries[0].seconds, case.entries[0].is_fast)
        for case in monitor.find_cases("finished")
    }


def change(recorder, annotator, task, kind, time, seconds=None, *labels):
    edits = tuple(LabelEdit(f"l{k}", AnnotatedLabel(label)) for k, label in enumerate(labels))
    recorder.change(annotator, task, kind, edits=edits, seconds=seconds)
    last = recorder.records.pop()
    recorder.records.append(replace(last, server_time=f"2026-01-01T00:{time // 60:02}:{time % 60:02}Z"))


def test_the_time_of_a_document_is_neither_that_of_another_one_nor_what_a_page_forgot():
    project = make_project([make_task(number) for number in range(4)])
    recorder = Recorder()
    change(recorder, "a", 0, "edit", 10, 5.0, ULM)
    change(recorder, "a", 0, "finish", 70)  # read for a minute after the last change
    change(recorder, "a", 1, "finish", 70)  # nothing marked, at once
    change(recorder, "a", 2, "edit", 500, 20.0, ULM)  # sent at once, when the connection was back
    change(recorder, "a", 2, "finish", 500)
    change(recorder, "a", 3, "edit", 501, 90.0, ULM)  # more than there was time for
    change(recorder, "a", 3, "finish", 501)
    change(recorder, "b", 1, "finish", 501)  # nobody knows when it began
    assert 0 < len(TEXT) / 100 < 1
    assert seconds_of(recorder, project) == {
        (0, "a"): (65.0, False),
        (1, "a"): (0.0, True),
        (2, "a"): (20.0, False),
        (3, "a"): (1.0, True),
        (1, "b"): (None, False),
    }


def test_a_document_that_is_open_shows_no_labels_and_a_later_round_changes_no_time():
    project = make_project([make_task(0), make_task(1)])
    recorder = Recorder()
    recorder.edit("a", 0, {"n": AnnotatedLabel(ULM)})
    recorder.change("b", 0, "skip", reason="unclear")
    monitor = watch(recorder, project, {(0, "a"): "open", (0, "b"): "skipped", (1, "b"): "open"})
    assert [case.entries[0].labels for case in monitor.find_cases("open")] == [(), ()]
    (skipped,) = monitor.find_cases("skipped")
    assert skipped.entries[0].reason == "unclear"
    assert monitor.find_cases("finished") == []
    assert monitor.agreement is None


@pytest.fixture
def lead(store):
    """A browser of a server that has a token for its lead."""
    from karat.web.annotating.app import AnnotatingConfig, create_app
    from tests.protocols.verification.client import Browser, serving

    browsers = []
    with serving(create_app(AnnotatingConfig(store, lead_token=LEAD))) as port:
        yield lambda: browsers.append(Browser(port)) or browsers[-1]
        for browser in browsers:
            browser.close()


def test_every_number_of_the_server_is_the_number_of_its_cases_and_only_the_lead_gets_them(lead, store, clock):
    anna, ben = AnnotatorPage(lead(), store, "anna"), AnnotatorPage(lead(), store, "ben")
    carla = AnnotatorPage(lead(), store, "carla", adjudicates=True)
    for page, entity in ((anna, "Q60"), (ben, "Q64")):
        name = page.next()
        clock.now += 30
        page.change(name, 0, {"n1": (0, 7, entity)}, seconds=20.0)
        page.call(name, "finish")
        page.next()
    for page in (anna, carla):
        for path in ("overview", "cases?show=finished"):
            assert page.get(f"lead/{path}").status_code == 401
    ask = lead()
    signed = {"authorization": f"Bearer {LEAD}"}
    overview = ask.ask("GET", "/api/lead/overview", headers=signed).json()
    figures = [figure for group in overview["groups"] for figure in group["figures"]]
    figures += [figure for row in overview["persons"] for figure in row["figures"]]
    others = ("Finished documents still needed", "Labels in finished documents", "Labels")
    n_checked = 0
    for figure in figures:
        if figure["query"] is None or figure["format"] != "count" or figure["title"] in others:
            continue
        query = "&".join(f"{key}={value}" for key, value in figure["query"].items())
        found = ask.ask("GET", f"/api/lead/cases?{query}", headers=signed).json()
        assert found["total"] == figure["value"], figure["title"]
        n_checked += 1
    assert n_checked > 12
    assert {row["worker"] for row in overview["access"]} == {"anna", "ben", "carla"}
    assert not {"anna", "ben", "carla"} & {row["person"] for row in overview["persons"]}
    found = ask.ask("GET", "/api/lead/cases?show=disagreed", headers=signed).json()
    labels = [line["labels"][0] for line in found["cases"][0]["records"]]
    assert {label["entity"]["id"] for label in labels} == {"Q60", "Q64"}
    assert {label["surface"] for label in labels} == {"Chatham"}
    assert "anna" not in str(found)


def test_links_of_leads_and_annotators_open_different_pages(lead, store):
    token = store.create_lead_token("lena")
    signed = {"authorization": f"Bearer {token}"}
    assert lead().ask("GET", "/api/lead/overview", headers=signed).status_code == 200
    assert lead().ask("GET", "/api/documents", headers={"cookie": f"karat_annotator={token}"}).status_code == 401
    session = store.start_session(store.create_invitation("anna"), True)
    for wrong in (session, store.create_invitation("ben")):
        refused = lead().ask("GET", "/api/lead/overview", headers={"authorization": f"Bearer {wrong}"})
        assert refused.status_code == 401
    assert [person.worker for person in store.list_annotators()] == ["anna"]
    store.revoke("lena")
    assert lead().ask("GET", "/api/lead/overview", headers=signed).status_code == 401


def test_unknown_parameters_are_answered_with_the_known_ones(lead):
    ask, signed = lead(), {"authorization": f"Bearer {LEAD}"}
    response = ask.ask("GET", "/api/lead/cases?show=finished&persons=anna", headers=signed)
    assert (response.status_code, response.json()["error"]) == (400, "bad-request")
    expected = "unknown query parameter 'persons'. Did you mean 'person'? Known: hours, offset, person, show."
    assert response.json()["message"] == expected
    assert ask.get("/api/project?nonsense=1").status_code == 400
    assert ask.get("/?nonsense=1").status_code == 200
