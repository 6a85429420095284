"""Judges in a real browser: several at once, by keyboard alone, on a phone, in the dark."""

from __future__ import annotations

import pytest

import karat
from tests.browser.corpora import ATTACK
from tests.browser.test_pages import AXE
from tests.protocols.verification.client import serving

pytestmark = pytest.mark.extras


@pytest.fixture
def campaign_of(tmp_path):
    """Serve a campaign: its store, and the address of a judge's invitation."""
    from contextlib import ExitStack

    from karat.kb.catalogue import open_starter
    from karat.protocols.verification.store.store import CampaignStore
    from karat.web.judging.app import JudgingConfig, create_app

    with ExitStack() as stack:

        def made(campaign, lead_token=None):
            store = CampaignStore.create(str(tmp_path / f"{campaign.options.kind}.sqlite"), campaign)
            stack.callback(store.database.close)
            config = JudgingConfig(store, open_starter(), lead_token=lead_token)
            port = stack.enter_context(serving(create_app(config)))
            return store, lambda worker: f"http://127.0.0.1:{port}/#/join/{store.create_invitation(worker)}"

        yield made


def demo(**how):
    from karat.analysis.comparison.entries import load_entries
    from karat.protocols.verification.campaign_builder import build_campaign

    found = list(load_entries(["demo"], ["demo"]))
    runs = [one.run for one in found][:2]
    return build_campaign(found[0].corpus, runs, name="Demo", **{"batch": 4, **how})


@pytest.fixture
def verifying(campaign_of):
    return campaign_of(demo())


def begun(page):
    page.get_by_label("I have read this and agree.").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_selector("main[aria-busy=false] #passage")


def whole(page, shots, name):
    """Nothing scrolls sideways, and axe-core finds nothing."""
    page.screenshot(path=shots / f"judge-{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []


def settled(page, description=""):
    """Wait until the page has done what it was told, and says so."""
    page.wait_for_selector(f"main:not([aria-busy=true]):has-text('{description}')")


def decided(page, key):
    """Decide on the link at hand by a key, and wait until it is kept."""
    with page.expect_response(lambda response: "/judgements" in response.url) as response:
        page.keyboard.press(key)
    assert response.value.status == 201
    settled(page)


@pytest.mark.parametrize(
    ("size", "scheme"), [("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")]
)
def test_every_screen_is_whole(verifying, opened, shots, size, scheme):
    store, invited = verifying
    with opened(invited("anna"), size=size, scheme=scheme) as page:
        whole(page, shots, f"entrance-{size}-{scheme}")
        begun(page)
        assert "join" not in page.url, "what lets in stays in no address"
        whole(page, shots, f"task-{size}-{scheme}")
        page.keyboard.press("m")
        page.keyboard.type("Cambr")
        page.wait_for_selector("[role=option]")
        whole(page, shots, f"modify-{size}-{scheme}")
        page.keyboard.press("Escape")
        page.keyboard.press("s")
        whole(page, shots, f"skip-{size}-{scheme}")
        page.keyboard.press("Escape")
        while page.locator("#passage").count():
            decided(page, "v")
        page.wait_for_selector("code")
        whole(page, shots, f"end-{size}-{scheme}")
        assert page.locator("code").inner_text() == store.get_progress(next(iter(store.get_workers()))).code


def test_three_judges_at_once_by_keyboard_alone(campaign_of, browser):
    """Each has tasks of their own; all end with a code of their own, and everything is kept."""
    store, invited = campaign_of(demo(controls=0))
    contexts = [browser.new_context() for _ in range(3)]
    pages = [context.new_page() for context in contexts]
    heard: list[str] = []
    for page, worker in zip(pages, ("anna", "ben", "cleo"), strict=True):
        page.on("console", lambda message: heard.append(message.text))
        page.goto(invited(worker))
        page.wait_for_selector("form")
        begun(page)
    count, shown = 0, set()
    while any(page.locator("#passage").count() for page in pages):
        for place, page in enumerate(pages):
            if page.locator("#passage").count():
                shown.add((place, page.locator("#passage").inner_text()))
                decided(page, "vr"[count % 7 == 0])
                count += 1
    codes = {page.locator("code").inner_text() for page in pages}
    records = store.get_records()
    assert len(codes) == 3
    assert len(records) == count == len({one.id for one in records})
    assert {one.judge for one in records} == set(store.get_workers())
    assert all(one.seconds is not None and one.client_time for one in records)
    tasks = {task.number: task for task in store.campaign.tasks}
    taken = {(one.task, one.judge) for one in records if not tasks[one.task].is_control}
    assert len({task for task, _ in taken}) == len(taken), "nobody gets what another has"
    assert heard == []
    for context in contexts:
        context.close()


def test_modify_undo_and_skip_by_keyboard(campaign_of, opened):
    store, invited = campaign_of(demo(controls=0, batch=0))
    with opened(invited("anna")) as page:
        begun(page)
        first = page.locator("#passage").inner_text()
        page.keyboard.press("m")
        page.keyboard.type("Cambridge")
        page.wait_for_selector("[role=option]:has-text('Cambridge')")
        page.keyboard.press("ArrowDown")
        chosen = page.locator("[aria-selected=true]").inner_text()
        with page.expect_response(lambda response: "/judgements" in response.url):
            page.keyboard.press("Enter")
        settled(page, "modified")
        record = store.get_records()[0]
        assert record.decision == "modify"
        assert record.becomes in chosen
        page.keyboard.press("u")
        settled(page, "Undone")
        assert [one.decision for one in store.get_records()] == ["modify", "undo"]
        while page.locator("#passage").inner_text() == first:
            decided(page, "v")
        page.keyboard.press("u")
        settled(page, "Undone")
        assert page.locator("#passage").inner_text() == first
        decided(page, "r")
        other = page.locator("#passage").inner_text()
        page.keyboard.press("s")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        settled(page, "Skipped")
        assert page.locator("#passage").inner_text() != other
        assert store.get_records()[-1].reason == "I do not know enough about the subject"


def test_what_is_said_without_the_server_can_be_said_again(verifying, opened):
    store, invited = verifying
    with opened(invited("anna"), said=["ERR_INTERNET_DISCONNECTED"]) as page:
        begun(page)
        page.context.set_offline(True)
        page.keyboard.press("v")
        page.wait_for_selector("[role=alert]:has-text('is not responding')")
        page.context.set_offline(False)
        page.keyboard.press("Enter")
        page.wait_for_selector(".status:has-text('verified')")
        assert len(store.get_records()) == 1


def test_an_invitation_that_is_pasted_into_an_open_page_is_used(campaign_of, opened):
    store, invited = campaign_of(demo())
    with opened(invited("anna")) as page:
        begun(page)
        for worker in ("ben", "cleo"):  # the second one before the first is used, too
            page.evaluate("hash => { location.hash = hash }", invited(worker).partition("#")[2])
            page.wait_for_selector("button:has-text('Begin')")
        begun(page)
        assert "#" not in page.url
    assert {judge.worker for judge in store.list_judges()} == {"anna", "cleo"}


def test_a_used_invitation_lets_nobody_in_and_a_session_goes_on(verifying, opened):
    _, invited = verifying
    address = invited("anna")
    with opened(address) as page:
        begun(page)
        passage = page.locator("#passage").inner_text()
        page.reload()
        page.wait_for_selector("#passage")
        assert page.locator("#passage").inner_text() == passage
        page.get_by_role("button", name="Leave").click()
        page.wait_for_selector("text=Your invitation")
    with opened(address, said=["403"]) as page:
        page.get_by_label("I have read this and agree.").check()
        page.get_by_role("button", name="Begin").click()
        page.wait_for_selector("[role=alert]:has-text('already used')")


LEAD = "token-of-the-lead"


def rows(page):
    return [row.all_inner_texts() for row in [row.locator("th, td") for row in page.locator("tbody tr").all()]]


@pytest.mark.parametrize(
    ("size", "scheme"), [("wide", "light"), ("wide", "dark"), ("narrow", "light"), ("narrow", "dark")]
)
def test_the_lead_sees_all_judges_and_revokes_one(campaign_of, opened, shots, size, scheme):
    store, invited = campaign_of(demo(batch=1, controls=0), LEAD)
    lead = f"{invited('unused').partition('#')[0]}#/lead/{LEAD}"
    with opened(invited("ben")) as page:
        begun(page)
        while page.locator("#passage").count():
            decided(page, "v")
        code = page.locator("code").inner_text()
    question = "dialog Revoke the access of anna? The judgements stay."
    with opened(invited("anna"), said=["401"]) as judge:
        begun(judge)
        decided(judge, "v")
        n_records = len(store.get_records())
        with opened(lead, size=size, scheme=scheme, said=[question], confirms=(False, True)) as page:
            page.wait_for_selector(".groups")
            access = page.get_by_role("region", name="Access")
            assert access.locator("thead th").all_text_contents() == ["Worker", "Tasks", "Controls", "Code", "Access"]
            by_worker = {row[0]: row for row in rows(access)}
            assert by_worker.keys() == {"anna", "ben"}
            assert by_worker["ben"][1:] == ["1", "not tested", code, "Revoke"]
            assert by_worker["anna"][4] == "Revoke"
            button = access.get_by_role("row", name="anna").get_by_role("button", name="Revoke")
            button.click()  # and answer no
            assert store.find_judge(cookie(judge)) is not None
            button.focus()
            page.keyboard.press("Enter")  # and answer yes
            page.wait_for_selector("td:has-text('revoked')")
            assert {row[0]: row[4] for row in rows(access)} == {"anna": "revoked", "ben": "Revoke"}
            whole(page, shots, f"lead-revoked-{size}-{scheme}")
            page.reload()
            page.wait_for_selector("td:has-text('revoked')")
        assert store.find_judge(cookie(judge)) is None
        assert len(store.get_records()) == n_records, "judgements stay"
        judge.keyboard.press("v")
        judge.wait_for_selector("text=Your invitation")


def cookie(page):
    return next(one["value"] for one in page.context.cookies() if one["name"] == "karat_judge")


@pytest.mark.parametrize("token", ["wrong", "", "%F0%9F", "token-of-the-lead/"])
def test_a_wrong_token_shows_the_lead_nothing(campaign_of, opened, shots, token):
    store, invited = campaign_of(demo(), LEAD)
    store.start_session(store.create_invitation("anna"), True)
    with opened(f"{invited('unused').partition('#')[0]}#/lead/{token}", said=["401"]) as page:
        page.wait_for_selector("[role=alert]:has-text('the token is missing or wrong')")
        assert "anna" not in page.content()
        assert page.locator("table").count() == 0
        whole(page, shots, "lead-wrong-token")


def test_the_lead_page_without_judges_and_without_a_token(campaign_of, browser, opened):
    _, invited = campaign_of(demo(), LEAD)
    page = browser.new_page()
    page.goto(f"{invited('unused').partition('#')[0]}#/lead/{LEAD}")
    page.wait_for_selector("text=Nobody has entered yet.")
    page.close()
    _, invited = campaign_of(surveyed())  # nobody may be its lead
    with opened(f"{invited('unused').partition('#')[0]}#/lead/{LEAD}", said=["40"]) as page:
        page.wait_for_selector("[role=alert] .missing")
        assert page.locator("table").count() == 0


def test_names_of_judges_are_text(campaign_of, opened):
    store, invited = campaign_of(demo(), LEAD)
    store.start_session(store.create_invitation(ATTACK), True)
    with opened(f"{invited('unused').partition('#')[0]}#/lead/{LEAD}") as page:
        assert page.get_by_role("region", name="Access").locator("tbody th").inner_text() == ATTACK
        assert page.locator("main a:not([href^='#/lead/']), main img, main svg").count() == 0


def test_hostile_passages_and_entities_are_text(campaign_of, opened):
    from karat.protocols.verification.campaign_builder import build_campaign

    text = f"{ATTACK} was here."
    label = karat.Label(0, len(ATTACK), "javascript:alert(1)")
    corpus = karat.Corpus.from_documents([karat.Document("d", text, (label,))], name=ATTACK)
    _, invited = campaign_of(build_campaign(corpus, [], name=ATTACK, guidelines=ATTACK, consent=ATTACK))
    with opened(invited("anna")) as page:
        begun(page)
        assert page.locator("#passage").inner_text() == text
        assert page.locator("main a[href], main img, main svg").count() == 0


def surveyed():
    from karat.protocols.verification.surveys import build_survey

    text = "Moscow will supply the Greeks with gas."
    labels = (
        karat.Label(0, 6, "Q649", mention_id="m"),
        karat.Label(0, 6, "Q159", mention_id="m"),
        karat.Label(23, 29, "Q41"),
    )
    return build_survey(
        karat.Corpus.from_documents([karat.Document("d", text, labels)], name="asked"), [], name="Wanted"
    )


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("narrow", "dark")])
def test_a_survey_by_keyboard(campaign_of, opened, shots, size, scheme):
    from karat.protocols.verification.surveys import summarise_survey

    store, invited = campaign_of(surveyed())
    with opened(invited("anna"), size=size, scheme=scheme) as page:
        begun(page)
        page.keyboard.press("1")
        page.keyboard.press("2")
        whole(page, shots, f"survey-{size}-{scheme}")
        decided(page, "Enter")
        decided(page, "0")
        page.wait_for_selector("code")
    (passage,) = summarise_survey(store.campaign, store.get_records()).passages
    assert [(one.surface, one.ratio) for one in passage.mentions] == [("Moscow", 1.0), ("Greeks", 0.0)]
    assert {link.entity: link.ratio for link in passage.mentions[0].links} == {"Q649": 1.0, "Q159": 1.0}


def test_missing_links_are_added_where_the_campaign_asks_for_it(campaign_of, opened):
    store, invited = campaign_of(demo(additions=True, controls=0))
    with opened(invited("anna")) as page:
        begun(page)
        word = page.locator("#passage").inner_text().split()[0]
        page.keyboard.press("a")
        page.keyboard.type(word)
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=combobox]")
        page.keyboard.type("Q64")
        page.wait_for_selector("[role=option]:has-text('Q64')")
        page.keyboard.press("Enter")
        settled(page, "Added")
        assert page.locator(".added").count() or page.locator("mark").count()
    (record,) = store.get_records()
    assert (record.decision, record.surface, record.link) == ("add", word, None)


def judged(store, workers=("anna", "ben", "cleo")):
    """Let judges decide on everything, most of it as it is."""
    from karat.protocols.verification.judgements import Decision
    from karat.protocols.verification.store.store import SubmittedDecision

    for worker in workers:
        judge = store.find_judge(store.start_session(store.create_invitation(worker), True))
        while (task := store.lease_task(judge)) is not None:
            for place, link in enumerate(task.links):
                wrong = (link.start + len(worker)) % 9
                decision = {0: Decision.REMOVE, 1: Decision.MODIFY}.get(wrong, Decision.VERIFY)
                becomes = "Q64" if decision is Decision.MODIFY else None
                store.record_decision(
                    judge, task, SubmittedDecision(f"{task.number}-{place}", place, decision, becomes, seconds=4.0)
                )


@pytest.mark.parametrize(("size", "scheme"), [("wide", "light"), ("narrow", "dark")])
def test_the_viewer_shows_what_judges_found(tmp_path, opened, shots, size, scheme):
    from karat.analysis.comparison.entries import load_entries
    from karat.evaluation.request import Request
    from karat.protocols.verification.measures import measure_campaign
    from karat.protocols.verification.store.store import CampaignStore
    from karat.render.verification.report import build_file
    from karat.storage.content_store import MemoryStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.html import render_html
    from karat.web.archive.submissions import ArchiveOptions, add_results
    from karat.web.archive.verification import store_verification

    store = CampaignStore.create(str(tmp_path / "demo.sqlite"), demo(controls=0, batch=0))
    judged(store)
    files = MemoryStore()
    add_results(files, load_entries(["demo"], ["demo"]), Request.from_options(), ArchiveOptions(resamples=20))
    store_verification(files, build_file(measure_campaign(store.campaign, store.get_records(), resamples=100)))
    store.database.close()
    path = tmp_path / "verified.html"
    path.write_bytes(b"".join(render_html(Archive(files))))
    with opened(f"{path.as_uri()}#/verification", size=size, scheme=scheme) as page:
        page.wait_for_selector("h1:has-text('Judges verified')")
        whole(page, shots, f"report-{size}-{scheme}")
        whiskers = page.locator(".whisker").evaluate_all("all => all.map(one => one.style.backgroundSize)")
        assert whiskers
        assert all(item.startswith("2px 8px, ") for item in whiskers), "a point and a line, not a bar"
        page.get_by_label("definition").select_option("code")
        page.wait_for_selector("text=as computed by its program")
        pairs = page.get_by_role("region", name="Pairs of sources")
        assert pairs.locator("tbody tr").count() == 3  # every two of three sources
        if size == "wide":
            assert page.get_by_role("link", name="Verification").get_attribute("aria-current") == "page"


def test_an_archive_without_results_opens_at_the_report_of_judges(tmp_path, opened):
    from karat.protocols.verification.measures import measure_campaign
    from karat.protocols.verification.store.store import CampaignStore
    from karat.storage.content_store import MemoryStore
    from karat.web.archive.archive import Archive
    from karat.web.archive.html import render_html
    from karat.web.archive.verification import store_campaign

    store = CampaignStore.create(str(tmp_path / "demo.sqlite"), demo(controls=0, batch=0))
    judged(store)
    files = MemoryStore()
    store_campaign(files, measure_campaign(store.campaign, store.get_records(), resamples=0))
    store.database.close()
    path = tmp_path / "verified.html"
    path.write_bytes(b"".join(render_html(Archive(files))))
    with opened(path.as_uri()) as page:
        page.wait_for_selector("h1:has-text('Judges verified')")
