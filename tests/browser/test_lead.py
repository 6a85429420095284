"""The lead of a campaign in a real browser: numbers, and the judgements or annotations that they open."""

from __future__ import annotations

import time
from contextlib import ExitStack
from random import Random

import pytest

from karat import Label
from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit
from tests.browser.test_annotating import TEXT, find, make_project
from tests.browser.test_judging import demo, surveyed, whole
from tests.browser.test_pages import LOOKS
from tests.protocols.verification.client import serving

pytestmark = pytest.mark.extras

LEAD = "token-of-the-lead"


class Clock:
    """A clock that is set by hand, and begins three days ago."""

    def __init__(self):
        self.now = time.time() - 3 * 86400

    def __call__(self):
        return self.now


@pytest.fixture
def served(tmp_path):
    """Serve the application of a store, and return the address of its lead page."""
    with ExitStack() as stack:

        def serve(store, token=LEAD):
            from karat.kb.catalogue import open_starter
            from karat.protocols.annotation.store.store import AnnotationStore
            from karat.web.annotating import app as annotating
            from karat.web.judging import app as judging

            stack.callback(store.database.close)
            if isinstance(store, AnnotationStore):
                app = annotating.create_app(annotating.AnnotatingConfig(store, open_starter(), lead_token=LEAD))
            else:
                app = judging.create_app(judging.JudgingConfig(store, open_starter(), lead_token=LEAD))
            return f"http://127.0.0.1:{stack.enter_context(serving(app))}/#/lead/{token}"

        yield serve


def judge_all(store, clock, workers):
    """Let people judge until nothing is left; the seconds that each takes for a decision are by worker."""
    from karat.protocols.verification.judgements import Decision
    from karat.protocols.verification.store.store import SubmittedDecision

    random = Random(1)
    judges = {}
    for worker in workers:  # one after another: random pseudonyms order those who enter at the same second
        clock.now += 1
        judges[worker] = store.find_judge(store.start_session(store.create_invitation(worker), True))
    is_left = True
    while is_left:
        is_left = False
        for worker, seconds in workers.items():
            task = store.lease_task(judges[worker])
            if task is None:
                continue
            is_left = True
            for index, link in enumerate(task.links):
                clock.now += seconds
                right = link.correct[0] if link.correct and worker != "dan" else None
                decision = right or random.choices([Decision.VERIFY, Decision.MODIFY, Decision.REMOVE], [8, 1, 1])[0]
                becomes = "Q64" if decision is Decision.MODIFY else None
                body = SubmittedDecision(f"{task.number}-{index}", index, decision, becomes, seconds=seconds)
                store.record_decision(judges[worker], task, body)


def make_campaign(tmp_path, **options):
    from karat.protocols.verification.store.store import CampaignStore

    clock = Clock()
    store = CampaignStore.create(str(tmp_path / "demo.sqlite"), demo(judges=2, batch=8, **options), clock)
    judge_all(store, clock, {"anna": 9.0, "ben": 14.0, "cleo": 0.4, "dan": 11.0})
    clock.now += 600
    return store, clock


OTHER_UNITS = ("Judgements still needed", "Finished documents still needed", "Judges who failed", "Labels")
"""Titles of numbers that count something else than the cases that they open."""


def open_every_number(page, address):
    """Open every number of the page and check that it has as many cases as it says; return how many there are."""
    urls = page.locator("main a[href^='#/lead/']").evaluate_all(
        "links => links.map(link => [link.getAttribute('href'), link.textContent,"
        " link.closest('td')?.dataset.label ?? link.closest('div').querySelector('dt').textContent])"
    )
    for url, text, title in urls:
        page.goto(address.partition("#")[0] + url)
        page.wait_for_selector(".cases > li")
        total = page.locator("h1").inner_text().rpartition(": ")[2]
        if text.replace(",", "").isdecimal() and not title.startswith(OTHER_UNITS):
            assert total == text, url
    return len(urls)


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_the_lead_of_a_campaign_sees_numbers_that_open_their_judgements(tmp_path, served, opened, shots, size, scheme):
    store, _ = make_campaign(tmp_path)
    address = served(store)
    with opened(address, size=size, scheme=scheme) as page:
        page.wait_for_selector(".groups")
        whole(page, shots, f"lead-{size}-{scheme}")
        assert page.locator("h1").inner_text() == "Demo: lead"
        text = page.locator("main").inner_text()
        judges = page.get_by_role("region", name="Judges")
        names = {row.inner_text() for row in judges.locator("tbody th").all()}
        assert names == set(store.get_workers())
        assert not names & {*store.get_workers().values()}, "decisions are under random names"
        assert "too short to be true" in text.lower()
        judges.locator("td[data-label='Too short'] .alarm > a").first.click()
        page.wait_for_selector("h1:has-text('too short to be true')")
        assert page.locator(".note:has-text('too short')").count() == page.locator(".records > li").count() > 0
        whole(page, shots, f"lead-cases-{size}-{scheme}")
        page.get_by_role("link", name="All numbers").click()
        page.wait_for_selector(".groups")


def test_every_number_of_a_campaign_opens_as_many_cases_as_it_says(tmp_path, served, opened):
    store, _ = make_campaign(tmp_path)
    address = served(store)
    with opened(address) as page:
        page.wait_for_selector(".groups")
        assert open_every_number(page, address) > 30


def test_a_created_link_opens_the_page_until_it_is_revoked(tmp_path, served, opened):
    store, _ = make_campaign(tmp_path)
    token = store.create_lead_token("carla")
    with opened(served(store, token), said=["401"]) as page:
        page.wait_for_selector(".groups")
        assert "carla" not in page.content(), "the lead is no judge"
        store.revoke("carla")
        page.reload()
        page.wait_for_selector("[role=alert]:has-text('the token is missing or wrong')")
        assert page.locator("table").count() == 0


def test_the_lead_of_a_survey_sees_answers(tmp_path, served, opened, shots):
    from karat.protocols.verification.judgements import Decision
    from karat.protocols.verification.store.store import CampaignStore, SubmittedDecision

    store = CampaignStore.create(str(tmp_path / "survey.sqlite"), surveyed())
    judge = store.find_judge(store.start_session(store.create_invitation("anna"), True))
    task = store.lease_task(judge)
    store.record_decision(judge, task, SubmittedDecision("a", 0, Decision.CHOOSE, chosen=("Q649",), seconds=5.0))
    address = served(store)
    with opened(address) as page:
        page.wait_for_selector(".groups")
        progress = page.get_by_role("region", name="Progress")
        assert "1 of 2" in progress.inner_text()
        whole(page, shots, "lead-survey")
        assert open_every_number(page, address) > 5


def annotate_all(store, clock):
    """Two annotators finish documents, one of them faster than anyone reads, and an adjudicator decides once."""
    store.add_adjudicator("carla")
    people = {
        w: store.find_judge(store.start_session(store.create_invitation(w), True)) for w in ("anna", "ben", "carla")
    }
    for worker, seconds in (("anna", 40.0), ("ben", 0.5)):
        while (task := store.lease_document(people[worker])) is not None:
            clock.now += seconds
            spans = [find("Berlin", task.text), find("Einstein", task.text)]
            entities = ("Q64", "Q937") if worker == "anna" else ("Q64", None)
            edits = [
                LabelEdit(f"l{k}", AnnotatedLabel(Label(start, end, entity)))
                for k, ((start, end), entity) in enumerate(zip(spans, entities, strict=True))
            ]
            store.submit_change(people[worker], task, "c", 0, edits, seconds)
            store.finish(people[worker], task, "f")
            if task.number == 2:
                break
    task = store.project.tasks[0]
    region = next(item.region for item in store.get_adjudicated(task).regions if not item.region.is_agreed)
    store.decide(people["carla"], task, "d", region.digest, people["anna"], reason="He is well known.")
    return people


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_the_lead_of_a_project_sees_numbers_that_open_their_annotations(tmp_path, served, opened, shots, size, scheme):
    from karat.protocols.annotation.store.store import AnnotationStore

    clock = Clock()
    project = make_project([TEXT, TEXT + "More.", TEXT + "Even more.", TEXT + "Last."])
    store = AnnotationStore.create(str(tmp_path / "gold.sqlite"), project, clock)
    people = annotate_all(store, clock)
    address = served(store)
    with opened(address, size=size, scheme=scheme) as page:
        page.wait_for_selector(".groups")
        whole(page, shots, f"lead-annotate-{size}-{scheme}")
        annotators = page.get_by_role("region", name="Annotators")
        assert annotators.locator("tbody tr").count() == 3
        row = annotators.get_by_role("row", name=people["ben"])
        assert row.locator("td[data-label='Too short']").inner_text() == "3 of 3"
        row.locator("td[data-label='Agrees with others'] a").click()
        page.wait_for_selector(".cases > li")
        whole(page, shots, f"lead-annotate-cases-{size}-{scheme}")
        page.goto(address)
        page.wait_for_selector(".groups")
        if (size, scheme) == LOOKS[0]:
            assert open_every_number(page, address) > 20
