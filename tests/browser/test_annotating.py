"""Annotators in a real browser: two at once, by keyboard alone, with the server away, and what adjudicators decide."""

from __future__ import annotations

import re
from contextlib import ExitStack

import pytest

from tests.browser.test_pages import AXE, LOOKS
from tests.protocols.verification.client import serving

pytestmark = pytest.mark.extras

TEXT = (
    "Albert Einstein taught at the Humboldt University of Berlin until 1933. The German physicist\n"
    "earned 12,000 marks. He met Zsuzsa Qwertz of New\nJersey twice.\n\n"
    "Louis VIII, Landgrave of Hesse-Darmstadt, came later. <b>Paris</b> & 🧪🇩🇪 Cairo's <script>alert(1)</script>.\n\n"
    "القاهرة هي عاصمة مصر وأكبر مدنها.\n\nThis part about Berlin is not annotated.\n"
)
END = TEXT.index("This part")
GUIDELINES = (
    "Mark every entity.\n\n- Dates and quantities are labels of their own.\n- Names that recur are marked again."
)


def find(text, within=TEXT, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = within.index(text, start + 1)
    return start, start + len(text)


def make_project(texts=(TEXT,), *, suggestions=(), ends=None, **options):
    from karat.protocols.annotation.project import AnnotationTask, Guidelines, Project, ProjectOptions, Suggestion

    pooled = tuple(Suggestion(f"s{number}", label, ("hidden system",)) for number, label in enumerate(suggestions))
    tasks = tuple(
        AnnotationTask(number, f"news-{number + 1}", text, 0, END if text is TEXT else len(text), pooled)
        for number, text in enumerate(texts)
    )
    settings = {"name": "Small gold", "documents": len(tasks), "consent": "Your labels are stored.", **options}
    return Project(ProjectOptions(**settings), tasks, (Guidelines("fair", GUIDELINES),), "secret")


@pytest.fixture
def project_of(tmp_path):
    """Serve a project: its store, and the address of an invitation."""
    from karat.kb.catalogue import open_starter
    from karat.protocols.annotation.store.store import AnnotationStore
    from karat.web.annotating.app import AnnotatingConfig, create_app

    with ExitStack() as stack:

        def made(project):
            store = AnnotationStore.create(str(tmp_path / "gold.sqlite"), project)
            stack.callback(store.database.close)
            port = stack.enter_context(serving(create_app(AnnotatingConfig(store, open_starter()))))
            return store, lambda worker: f"http://127.0.0.1:{port}/#/join/{store.create_invitation(worker)}"

        yield made


def enter(page):
    """Agree and sign in."""
    page.wait_for_selector("input[name=consent]:focus")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.wait_for_selector("main.documents h1")


def begin(page):
    """Sign in and open the first document."""
    enter(page)
    page.wait_for_selector("main.documents button:focus")
    page.keyboard.press("Enter")
    page.wait_for_selector(".annotated:focus")


def saved(page):
    page.wait_for_selector(".save-state:text-is('saved')")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def get_marked(page):
    return "".join(page.locator(".annotated .now").all_text_contents())


FORWARD = """() => {
  const paragraph = document.querySelector('.annotated .now').closest('.paragraph');
  return getComputedStyle(paragraph).direction === 'rtl' ? 'ArrowLeft' : 'ArrowRight';
}"""


def mark(page, text, after=None):
    """Mark a text by the keyboard alone; `after` is a word before it."""
    for _ in range(8):
        page.keyboard.press("Control+ArrowUp")
    words = ([] if after is None else [after]) + [re.split(r"[\s-]", text)[0].strip("<>,.")]
    for word in words:
        for _ in range(100):
            if get_marked(page) == word:
                break
            page.keyboard.press(page.evaluate(FORWARD))
        assert get_marked(page) == word
    for _ in range(20):
        if len(get_marked(page)) >= len(text):
            break
        page.keyboard.press("Shift+ArrowRight")
    assert get_marked(page) == text


DRAWN = "[...document.querySelectorAll('.line:not(.line .line)')].map(line => line.textContent).join('')"


def get_drawn(page):
    """The texts with a line below them."""
    return page.evaluate(DRAWN)


def wait_drawn(page, text):
    page.wait_for_function(f"text => {DRAWN} === text", arg=text)


def link(page, typed=None):
    """Link the span to the first entity, or to the first one that is found for a text."""
    page.keyboard.press("Enter")
    choose(page, typed)


def choose(page, typed=None):
    page.wait_for_selector("[role=combobox]:focus")
    if typed is not None:
        page.keyboard.type(typed)
    page.wait_for_selector("[role=option][aria-selected=true]")
    if typed is not None:
        page.wait_for_selector(f"[role=option][aria-selected=true]:has-text('{typed}')")
    page.keyboard.press("Enter")
    page.wait_for_selector(".annotated:focus")


def get_labels(store, worker, number=0):
    """The labels of a person in a document, by position."""
    (person,) = [pseudonym for pseudonym, name in store.get_workers().items() if name == worker]
    items = store.get_document(person, store.project.tasks[number]).state.current_labels.values()
    return sorted(items, key=lambda item: (item.label.start, -item.label.end, str(item.label.entity)))


def get_spans(store, worker, number=0):
    return [
        (store.project.tasks[number].text[item.label.start : item.label.end], item.label.entity)
        for item in get_labels(store, worker, number)
    ]


def whole(page, shots, name):
    """Nothing scrolls sideways, and axe-core finds nothing."""
    page.screenshot(path=shots / f"annotate-{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found["violations"]] == []


def suggested():
    import karat

    return (
        karat.Label(*find("Albert Einstein"), "Q937"),
        karat.Label(*find("Humboldt University of Berlin"), "Q152087"),
        karat.Label(*find("Berlin"), "Q64"),
        karat.Label(*find("German"), "Q183"),
    )


PANELS = {"l": "search", "0": "nil", "t": "types", "f": "categories", "m": "note", "h": "history"}


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_every_screen_is_whole(project_of, opened, shots, size, scheme):
    dimensions = ("form", "pos", "overlap", "reference")
    _, invited = project_of(make_project(suggestions=suggested(), prefill="all", scheme=dimensions))
    with opened(invited("anna"), size=size, scheme=scheme) as page:
        whole(page, shots, f"entrance-{size}-{scheme}")
        enter(page)
        assert "join" not in page.url, "what lets in stays in no address"
        whole(page, shots, f"documents-{size}-{scheme}")
        page.wait_for_selector("main.documents button:focus")
        page.keyboard.press("Enter")
        page.wait_for_selector(".annotated:focus")
        whole(page, shots, f"suggestion-{size}-{scheme}")
        press(page, "Enter", "Enter", "Enter", "x", "n")
        saved(page)
        press(page, "p")
        whole(page, shots, f"label-{size}-{scheme}")
        for key, name in {
            "l": "search",
            "0": "nil",
            "t": "types",
            "f": "categories",
            "m": "note",
            "h": "history",
        }.items():
            page.keyboard.press(key)
            page.wait_for_selector(".panel :is(form, .search)")
            if key == "l":
                page.wait_for_selector("[role=option]:has-text('Q')")
            whole(page, shots, f"{name}-{size}-{scheme}")
            page.keyboard.press("Escape")
            page.wait_for_selector(".annotated:focus")
        page.keyboard.press("?")
        whole(page, shots, f"keys-{size}-{scheme}")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("main.documents h1")
        whole(page, shots, f"finished-{size}-{scheme}")
        page.evaluate("location.hash = '#/review'")
        page.wait_for_selector("text=Nothing to review")
        whole(page, shots, f"review-empty-{size}-{scheme}")


def test_the_content_security_policy_is_that_of_the_viewer(project_of, opened):
    from karat.web.server.guard import HEADERS

    _, invited = project_of(make_project())
    with opened(invited("anna")) as page:
        response = page.request.get(page.url.partition("#")[0])
        policy = response.headers["content-security-policy"]
        assert policy == HEADERS["content-security-policy"]
        assert "unsafe" not in policy
        begin(page)
        mark(page, "Berlin")
        link(page)
        saved(page)


def test_two_annotators_at_once_by_keyboard_alone(project_of, browser):
    """From sign-in to finish: both keep their labels, and neither sees those of the other."""
    store, invited = project_of(make_project((TEXT, "Anna went to Paris.\n")))
    contexts = [browser.new_context() for _ in range(2)]
    pages = [context.new_page() for context in contexts]
    heard: list[str] = []
    seen: list[str] = []
    for page, worker in zip(pages, ("anna", "ben"), strict=True):
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda problem: heard.append(str(problem)))
        page.on("response", lambda response: "/documents/" in response.url and seen.append(response.url))
        page.goto(invited(worker))
        page.wait_for_selector("form")
        begin(page)
    for page in pages:
        mark(page, "Albert Einstein")
    for page in pages:
        link(page)
    mark(pages[0], "Humboldt University of Berlin")
    mark(pages[1], "Berlin")
    link(pages[0])
    link(pages[1])
    mark(pages[0], "1933")
    pages[0].keyboard.press("d")
    for page in pages:
        saved(page)
    assert pages[0].locator(".line").all_text_contents() != pages[1].locator(".line").all_text_contents()
    assert get_spans(store, "anna") == [
        ("Albert Einstein", "Q937"),
        ("Humboldt University of Berlin", "Q152087"),
        ("1933", None),
    ]
    assert get_spans(store, "ben") == [("Albert Einstein", "Q937"), ("Berlin", "Q64")]
    for page in pages:
        for left in (True, False):
            page.keyboard.press("Control+Enter")
            page.wait_for_selector("main.documents h1")
            if left:
                page.wait_for_selector("text=1 of 2 documents finished.")
                page.wait_for_selector("main.documents button:focus")
                page.keyboard.press("Enter")
                page.wait_for_selector(".annotated:focus")
                mark(page, "Paris")
                link(page)
        page.wait_for_selector("text=You have finished all documents")
    assert get_spans(store, "anna", 1) == get_spans(store, "ben", 1) == [("Paris", "Q90")]
    changes = [record for record in store.get_records() if record.kind == "edit"]
    assert all(record.seconds is not None and record.client_time for record in changes)
    assert heard == []
    assert seen
    for context in contexts:
        context.close()


def test_every_kind_of_label(project_of, opened):
    dimensions = ("form", "pos", "overlap", "reference")
    store, invited = project_of(make_project(scheme=dimensions))
    with opened(invited("anna")) as page:
        begin(page)
        mark(page, "Albert Einstein")
        link(page)
        press(page, "t", "1")  # a person
        press(page, "f", "1", "1", "1", "1")
        page.wait_for_selector(".attributes:has-text('Full Mention')")
        press(page, "m")
        page.keyboard.type("well known")
        press(page, "Enter", "o")
        mark(page, "Humboldt University of Berlin")
        link(page)
        mark(page, "Berlin")
        link(page)  # nested
        press(page, "f", "2", "1", "Enter", "4")  # the overlap is proposed
        mark(page, "1933")
        page.keyboard.press("d")
        mark(page, "German")
        link(page, "Germany")
        page.keyboard.press("a")  # a demonym's second label
        page.wait_for_selector("[role=option][aria-selected=true]")
        assert page.locator("[role=option] .quiet:text-is('Q183')").count() == 0, "the mention has this entity"
        choose(page, "Germans")
        mark(page, "12,000")
        page.keyboard.press("q")
        mark(page, "He", after="marks")
        page.keyboard.press("c")
        page.wait_for_selector("[role=option][aria-selected=true]:has-text('Einstein')")  # a person, though far away
        choose(page, "Einstein")
        mark(page, "Zsuzsa Qwertz")
        page.keyboard.press("0")
        page.wait_for_selector("input:focus")
        page.keyboard.type("Zsuzsa")
        press(page, "Enter", "t", "1")
        mark(page, "New\nJersey")  # across a line break
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=combobox]:focus")
        page.keyboard.insert_text("https://www.wikidata.org/wiki/Q1408")
        page.wait_for_selector("[role=option][aria-selected=true]:has-text('New Jersey')")
        page.keyboard.press("Enter")
        mark(page, "Louis VIII")
        press(page, "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight")
        assert get_marked(page) == "Louis VIII, Landgrave of Hesse-Darmstadt"
        page.keyboard.press("0")
        page.wait_for_selector("input:focus")
        page.keyboard.press("Enter")
        page.keyboard.press("s")  # an alternative span
        mark(page, "Louis VIII")
        page.keyboard.press("Enter")
        page.keyboard.press("p")
        assert get_marked(page).startswith("Louis VIII, L")
        page.keyboard.press("w")  # parts that are all required
        press(page, "Control+Home", "Enter")
        page.wait_for_selector(".status:has-text('A part must be inside')")
        mark(page, "Landgrave")
        page.keyboard.press("Enter")
        choose(page, "Q1")
        mark(page, "Hesse-Darmstadt")
        page.keyboard.press("Enter")
        choose(page, "Q2")
        page.keyboard.press("Escape")
        saved(page)
        labels = {
            (TEXT[item.label.start : item.label.end], item.label.entity): item for item in get_labels(store, "anna")
        }
        page.reload()
        page.wait_for_selector(".annotated")
        assert page.locator(".counts").inner_text().startswith(f"{len(get_labels(store, 'anna'))} labels")
    einstein = labels["Albert Einstein", "Q937"]
    assert einstein.note == "well known"
    assert einstein.label.optional
    assert einstein.label.types == ("Person",)
    assert einstein.label.categories == ("form:Full", "pos:NounSingular", "overlap:None", "reference:Direct")
    assert labels["Berlin", "Q64"].label.categories[2] == "overlap:Minimal"
    assert labels["1933", None].label.kind == "datetime"
    assert labels["12,000", None].label.kind == "quantity"
    assert labels["12,000", None].label.optional
    country, people = labels["German", "Q183"].label, labels["German", "Q42884"].label
    assert country.mention_id == people.mention_id is not None
    pronoun = labels["He", "Q937"].label
    assert (pronoun.kind, pronoun.start) == ("coreference", TEXT.index("He met"))
    nil = labels["Zsuzsa Qwertz", None].label
    assert (nil.nil_cluster, nil.types) == ("Zsuzsa", ("Person",))
    assert labels["New\nJersey", "Q1408"].label.kind is None
    name = "Louis VIII, Landgrave of Hesse-Darmstadt"
    whole_name, short = labels[name, None].label, labels["Louis VIII", None].label
    assert whole_name.mention_id == short.mention_id is not None
    assert short.nil_cluster == whole_name.nil_cluster == name
    parts = [labels["Landgrave", "Q1"].label, labels["Hesse-Darmstadt", "Q2"].label]
    assert [part.parent for part in parts] == [whole_name.mention_id] * 2
    assert len({part.mention_id for part in parts}) == 2


def test_undo_and_redo_also_after_a_reload(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna")) as page:
        begin(page)
        mark(page, "Albert Einstein")
        link(page)
        press(page, "o", "t", "1")
        mark(page, "1933")
        page.keyboard.press("d")
        press(page, "u", "u", "u")
        saved(page)
        assert [item.label.types for item in get_labels(store, "anna")] == [()]
        press(page, "y", "Control+y")
        saved(page)
        assert [item.label.types for item in get_labels(store, "anna")] == [("Person",)]
        page.reload()
        page.wait_for_selector(".annotated:focus")
        assert get_drawn(page) == "Albert Einstein"
        press(page, "y")
        wait_drawn(page, "Albert Einstein1933")
        press(page, "u")
        wait_drawn(page, "Albert Einstein")
        for _ in range(3):
            press(page, "Control+z")
        saved(page)
        assert get_labels(store, "anna") == []
        wait_drawn(page, "")
        press(page, "u")
        page.wait_for_selector(".status:has-text('Nothing to undo')")
        kinds = [record.kind for record in store.get_records()]
        assert kinds == ["edit"] * 4 + ["undo"] * 3 + ["redo"] * 3 + ["undo"] * 4


def test_suggestions_are_accepted_rejected_and_changed(project_of, opened):
    import karat

    unlinked = karat.Label(*find("Zsuzsa Qwertz"), karat.UNLINKED)
    store, invited = project_of(make_project(suggestions=(*suggested(), unlinked), prefill="all"))
    with opened(invited("anna")) as page:
        begin(page)
        assert get_marked(page) == "Albert Einstein", "the first suggestion is one key away"
        press(page, "Enter")
        assert get_marked(page) == "Humboldt University of Berlin"
        press(page, "x")
        assert get_marked(page) == "Humboldt University of Berlin", "the text can be marked again at once"
        press(page, "n")
        assert get_marked(page) == "Berlin"
        press(page, "l")
        choose(page, "Berlin International")
        press(page, "n", "Control+Enter")
        page.wait_for_selector(".status:has-text('2 suggestions without a decision. Press Ctrl+Enter again')")
        press(page, "n")
        assert get_marked(page) == "German"
        press(page, "Enter")
        assert get_marked(page) == "Zsuzsa Qwertz"
        press(page, "Enter")  # nothing to accept without a link
        page.wait_for_selector(".search [role=status]:has-text('Press 0 for NIL.')")
        press(page, "0")
        page.wait_for_selector("input[list]:focus")
        press(page, "Enter", "n")
        page.wait_for_selector(".status:has-text('From the last mention to the first.')")
        press(page, "p")
        page.wait_for_selector(".status:has-text('From the first mention to the last.')")
        assert get_marked(page) == "Zsuzsa Qwertz"
        saved(page)
        assert "hidden system" not in page.content()
        spans = [("Albert Einstein", "Q937"), ("Berlin", "Q130871"), ("German", "Q183"), ("Zsuzsa Qwertz", None)]
        assert get_spans(store, "anna") == spans
        page.reload()
        page.wait_for_selector(".annotated:focus")
        assert page.locator(".counts").inner_text().startswith("4 labels · saved")
        assert page.locator(".line.suggestion").count() == 0
        press(page, "u", "u", "u")
        page.wait_for_selector(".counts:has-text('1 label · 3 open suggestions')")
        press(page, "u", "u")
        page.wait_for_selector(".counts:has-text('0 labels · 5 open suggestions')")
        press(page, "Control+Enter", "Control+Enter")
        page.wait_for_selector("main.documents h1")


def test_changes_wait_for_the_server_and_survive_the_tab(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna"), said=["ERR_INTERNET_DISCONNECTED", "ERR_FAILED"]) as page:
        begin(page)
        mark(page, "1933")
        page.context.set_offline(True)
        page.keyboard.press("d")
        page.wait_for_selector("[role=alert]:has-text('1 change is kept in this browser')")
        mark(page, "12,000")
        page.keyboard.press("q")
        page.wait_for_selector("[role=alert]:has-text('2 changes are kept')")
        press(page, "o", "u")
        assert get_labels(store, "anna") == []
        page.context.set_offline(False)
        page.get_by_role("button", name="Try again").click()
        saved(page)
        page.wait_for_selector("[role=alert] .missing", state="detached")
        assert [item.label.optional for item in get_labels(store, "anna")] == [True, True]
        # The tab is closed before the server is back.
        page.context.set_offline(True)
        page.keyboard.press("x")
        page.wait_for_selector("[role=alert]:has-text('1 change is kept')")
        assert len(get_labels(store, "anna")) == 2
        other = page.context.new_page()
        page.close()
        other.context.set_offline(False)
        other.goto(invited("ben").partition("#")[0])
        other.wait_for_selector("main.documents button:focus")
        other.keyboard.press("Enter")
        other.wait_for_selector(".annotated:focus")
        assert get_spans(store, "anna") == [("1933", None)]
        assert get_drawn(other) == "1933"


def test_a_lost_confirmation_stores_a_change_once(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna"), said=["ERR_FAILED"]) as page:
        begin(page)
        lost = []

        def lose(route):
            if not lost:
                lost.append(route.fetch().status)
                return route.abort()
            return route.continue_()

        page.route("**/changes", lose)
        mark(page, "1933")
        press(page, "d")
        mark(page, "Berlin")
        press(page, "q", "u")
        saved(page)
        assert lost == [201]
        assert get_spans(store, "anna") == [("1933", None)]
        assert [record.kind for record in store.get_records()] == ["edit", "edit", "undo"]


def test_a_stale_tab_loads_again_and_keeps_what_it_can(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna"), said=["409"]) as page:
        begin(page)
        mark(page, "1933")
        page.keyboard.press("d")
        saved(page)
        other = page.context.new_page()
        other.goto(page.url)
        other.wait_for_selector(".annotated:focus")
        mark(other, "12,000")
        other.keyboard.press("q")
        saved(other)
        mark(page, "Berlin")
        link(page)
        page.wait_for_selector("[role=alert]:has-text('changed in another tab')")
        page.wait_for_selector("[role=alert]:has-text('Your last change was kept')")
        saved(page)
        assert get_drawn(page) == "Berlin193312,000"
        # The other tab is stale now, and changes a label that is gone.
        mark(page, "12,000")
        page.keyboard.press("x")
        saved(page)
        other.keyboard.press("o")
        other.wait_for_selector("[role=alert]:has-text('Your last change was not saved')")
        assert get_drawn(other) == "Berlin1933"
        assert get_spans(store, "anna") == [("Berlin", "Q64"), ("1933", None)]


def test_unsent_changes_of_one_person_are_never_sent_for_another(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna"), said=["ERR_INTERNET_DISCONNECTED", "ERR_FAILED"]) as page:
        begin(page)
        mark(page, "1933")
        page.context.set_offline(True)
        page.keyboard.press("d")
        page.wait_for_selector("[role=alert]:has-text('1 change is kept')")
        other = page.context.new_page()
        page.close()
        other.context.set_offline(False)
        for worker, expected in (("ben", []), ("anna", [("1933", None)])):
            other.goto(invited(worker))
            other.wait_for_selector("form")
            enter(other)
            other.wait_for_selector("main.documents button:focus")
            other.keyboard.press("Enter")
            other.wait_for_selector(".annotated:focus")
            assert get_spans(store, worker) == expected
            other.goto("about:blank")


def test_the_next_name_is_one_key_away(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna")) as page:
        begin(page)
        press(page, "?")
        page.wait_for_selector(".keys")
        assert page.locator(".keys td:has-text('Fine-grained')").count() == 0, "the project has no categories"
        press(page, "Escape")
        mark(page, "Einstein")
        link(page)
        press(page, "e", "Shift+ArrowLeft", "Enter")
        page.wait_for_selector("[role=option][aria-selected=true] .reason:has-text('current')")
        assert page.locator("[role=combobox]").input_value() == "Albert Einstein", (
            "candidates are those of the new text"
        )
        press(page, "Escape")
        names = []
        for _ in range(7):
            page.keyboard.press("j")
            names.append(get_marked(page))
        assert names == ["Humboldt University", "Berlin", "1933", "The German", "12,000", "He", "Zsuzsa Qwertz"]
        press(page, "0")
        page.wait_for_selector("input:focus")
        press(page, "Enter", "a")
        page.wait_for_selector("[role=combobox]:focus")
        press(page, "ArrowUp", "Enter")  # the last option: an alternative that is a date
        page.wait_for_selector(".annotated:focus")
        saved(page)
    labels = [item.label for item in get_labels(store, "anna")][1:]
    assert sorted((label.kind or "", label.nil_cluster or "") for label in labels) == [
        ("", "Zsuzsa Qwertz"),
        ("datetime", ""),
    ]
    assert len({label.mention_id for label in labels}) == 1


def test_scripts_symbols_and_markup(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna")) as page:
        begin(page)
        mark(page, "🇩🇪", after="Paris")
        page.keyboard.press("Enter")
        choose(page, "Q183")
        page.keyboard.press("ArrowRight")
        assert get_marked(page) == "Cairo", "the possessive ending is no part of a name"
        link(page, "Q85")
        mark(page, "القاهرة")
        link(page, "Q85")
        page.wait_for_selector(".status bdi")
        press(page, "ArrowUp")
        assert get_marked(page) in TEXT[TEXT.index("Louis") : TEXT.index("القاهرة")], "the empty line is crossed"
        press(page, "Control+End")
        assert get_marked(page) == "مدنها"
        mark(page, "القاهرة")
        page.keyboard.press("ArrowLeft")  # to the left is forward here
        assert get_marked(page) == "هي"
        page.keyboard.press("ArrowRight")
        assert get_marked(page) == "القاهرة"
        page.keyboard.press("Alt+Shift+ArrowRight")
        assert get_marked(page) == "القاهر"
        mark(page, "script")
        page.keyboard.press("q")
        mark(page, "Berlin", after="about")
        page.keyboard.press("q")
        page.wait_for_selector(".status:has-text('outside the part to annotate')")
        saved(page)
        assert page.locator(".annotated script, .annotated b").count() == 0
        assert "".join(page.locator(".annotated").all_text_contents()) == TEXT
    assert get_spans(store, "anna") == [("🇩🇪", "Q183"), ("Cairo", "Q85"), ("script", None), ("القاهرة", "Q85")]


def test_the_mouse_marks_and_candidates_appear_at_once(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna")) as page:
        begin(page)
        box = page.locator(".now").bounding_box()
        page.mouse.dblclick(box["x"] + 5, box["y"] + 5)
        page.wait_for_selector("[role=combobox]:focus")
        page.wait_for_selector("[role=option][aria-selected=true]")
        chosen = page.locator("[role=option][aria-selected=true]").inner_text()
        page.keyboard.press("Enter")
        saved(page)
        ((_, entity),) = get_spans(store, "anna")
        assert entity in chosen
        page.keyboard.press("ArrowRight")
        page.locator(".line").first.click()
        page.wait_for_selector("section[aria-label=Label]")
        page.get_by_role("button", name="Delete").click()
        saved(page)
        assert get_spans(store, "anna") == []
        assert page.evaluate("document.activeElement.className").startswith("document"), "the focus is never lost"


def test_findings_are_shown_at_the_label_until_it_is_corrected(project_of, opened):
    store, invited = project_of(make_project())
    with opened(invited("anna")) as page:
        begin(page)
        mark(page, "12,000 marks")
        page.keyboard.press("q")
        page.wait_for_selector(".line.finding")
        page.wait_for_selector(".finding-text:has-text('without its unit')")
        mark(page, "1933")
        assert page.locator(".finding-text").count() == 0
        page.locator(".finding-list summary").click()
        page.locator(".finding-list button").first.click()
        page.wait_for_selector(".finding-text")
        press(page, "e", "Shift+ArrowLeft", "Enter")
        page.wait_for_selector(".line.finding", state="detached")
        saved(page)
        assert get_spans(store, "anna") == [("12,000", None)]


def adjudicated(store, invited, browser, workers=("anna", "ben")):
    """Let two annotators differ, and return a page of the adjudicator."""
    import karat
    from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit

    labels = {
        "anna": [
            karat.Label(*find("Albert Einstein"), "Q937"),
            karat.Label(*find("German"), "Q183", mention_id="m"),
            karat.Label(*find("German"), "Q42884", mention_id="m"),
            karat.Label(*find("1933"), None, kind="datetime", optional=True),
        ],
        "ben": [
            karat.Label(*find("Albert Einstein"), "Q937"),
            karat.Label(*find("German"), "Q188"),
            karat.Label(*find("Humboldt University of Berlin"), "Q152087"),
        ],
    }
    for worker in workers:
        person = store.find_judge(store.start_session(store.create_invitation(worker, 60), True))
        edits = [LabelEdit(f"l{number}", AnnotatedLabel(label)) for number, label in enumerate(labels[worker])]
        while (task := store.lease_document(person)) is not None:
            store.submit_change(person, task, f"c-{worker}-{task.number}", 0, edits)
            store.finish(person, task, f"f-{worker}-{task.number}")
    store.add_adjudicator("cleo")
    return invited("cleo")


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_adjudication_and_review(project_of, opened, browser, shots, size, scheme):
    from karat.protocols.annotation.gold import adjudicate_document

    store, invited = project_of(make_project())
    with opened(adjudicated(store, invited, browser), size=size, scheme=scheme) as page:
        enter(page)
        page.wait_for_selector("text=3 regions to decide")
        whole(page, shots, f"adjudications-{size}-{scheme}")
        page.keyboard.press("Enter")
        page.wait_for_selector(".versions")
        whole(page, shots, f"adjudication-{size}-{scheme}")
        # Humboldt University of Berlin: only one version has a label, and it is extended.
        page.wait_for_selector("mark:text-is('Humboldt University of Berlin')")
        assert page.locator(".passage .gold").all_text_contents() == ["Albert Einstein"], "agreed labels are shown"
        press(page, "?")
        page.wait_for_selector("form[aria-label=Keys]")
        press(page, "Escape", "r")
        page.keyboard.type("Not a reason.")
        press(page, "Enter", "r")
        page.keyboard.type("A named organisation.")  # in place of the old text, which is selected
        press(page, "Enter")
        page.wait_for_selector(".reason-text")
        has_label = [version.locator(".version-labels").count() for version in page.locator(".versions section").all()]
        press(page, str(has_label.index(1) + 1))
        page.wait_for_selector("mark:text-is('1933')")
        press(page, "0")
        page.wait_for_selector("mark:text-is('German')")
        press(page, "e")
        page.wait_for_selector(".annotated:focus")
        whole(page, shots, f"adjudication-edit-{size}-{scheme}")
        assert page.locator("section[aria-label=Label]").count() == 1
        press(page, "Control+Enter")
        page.wait_for_selector(".decided:has-text('edited')")
        page.wait_for_selector("text=0 open · 3 decided · 1 agreed")
        press(page, "r")
        page.keyboard.type("A demonym.")
        press(page, "Enter")
        page.wait_for_selector(".status:has-text('Reason saved.')")
        page.wait_for_selector(".decided:has-text('edited. A demonym.')")
        whole(page, shots, f"adjudication-done-{size}-{scheme}")
        press(page, "h")
        page.wait_for_selector(".region-history li:has-text('annotator 1')")
        whole(page, shots, f"adjudication-history-{size}-{scheme}")
        press(page, "Escape", "u")
        page.wait_for_selector("text=1 open · 2 decided")
        sections = page.locator(".versions section").all()
        (double,) = [number for number, section in enumerate(sections) if "Germans" in section.inner_text()]
        assert "Germany" in sections[double].inner_text()
        press(page, str(double + 1))
        page.wait_for_selector("text=0 open · 3 decided")
        n_records = len(store.get_records())
        press(page, str(double + 1))
        page.wait_for_selector(".status:has-text('Already decided')")
        assert len(store.get_records()) == n_records
        press(page, "Enter")
        page.wait_for_selector("text=All regions of news-1 are decided. No document has open regions.")
    task = store.project.tasks[0]
    gold = adjudicate_document(task, store.get_task_records(task)).labels
    german = [item.label for item in gold if TEXT[item.label.start : item.label.end] == "German"]
    assert [label.entity for label in german] == ["Q183", "Q42884"], "two labels on one span stay two"
    assert german[0].mention_id == german[1].mention_id is not None
    with opened(invited("ben"), size=size, scheme=scheme) as page:
        enter(page)
        page.evaluate("location.hash = '#/review'")
        page.wait_for_selector("article mark:text-is('German')")
        page.wait_for_selector(".version-labels .quiet:text-is('or')")
        whole(page, shots, f"review-{size}-{scheme}")
    with opened(invited("anna"), size=size, scheme=scheme) as page:
        enter(page)
        page.evaluate("location.hash = '#/review'")
        page.wait_for_selector("text=A named organisation.")


def test_a_second_round_goes_over_what_changed(project_of, opened, browser):
    store, invited = project_of(make_project((TEXT, TEXT + " ")))
    with opened(adjudicated(store, invited, browser)) as page:
        enter(page)
        page.keyboard.press("Enter")
        for name in ("news-1", "news-2"):
            page.wait_for_selector(f".adjudicate h1:text-is('{name}')")
            page.wait_for_selector(".versions")
            for left in (2, 1, 0):
                press(page, "0")
                page.wait_for_selector(f"text={left} open")
            press(page, "Enter")
        page.wait_for_selector("text=All regions of news-2 are decided.")
    store.start_round()
    with opened(invited("anna")) as page:
        enter(page)
        page.wait_for_selector("main.documents button:focus")
        page.keyboard.press("Enter")
        page.wait_for_selector(".changed")
        assert page.locator(".changed li").count() == 2
        assert get_drawn(page) == "Albert Einstein"
        page.locator(".changed button").first.click()
        assert get_marked(page) in ("German", "1933")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("text=1 of 2 documents finished.")


def test_a_document_is_skipped_and_opened_again(project_of, opened):
    store, invited = project_of(make_project((TEXT, TEXT + " ")))
    with opened(invited("anna")) as page:
        begin(page)
        page.get_by_role("button", name="Skip").click()
        page.wait_for_selector("input[type=radio]:focus")
        press(page, "ArrowDown", "Enter")
        page.wait_for_selector("main.documents >> text=skipped")
        page.get_by_role("link", name="news-1").click()
        page.wait_for_selector(".badge:has-text('Skipped')")
        page.get_by_role("button", name="Reopen").click()
        page.wait_for_selector("button:has-text('Finish')")
        press(page, "d")
        saved(page)
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("main.documents h1")
        page.get_by_role("link", name="news-1").click()
        page.wait_for_selector(".badge:has-text('Finished')")
        press(page, "x")
        page.wait_for_selector(".status:has-text('Reopen it')")
        page.evaluate("location.hash = '#/documents'")
        page.wait_for_selector("main.documents h1")
        assert page.locator("text=news-1 is finished").count() == 0, "the message was about an earlier step"
    assert [record.kind for record in store.get_records()] == ["skip", "reopen", "edit", "finish"]


def test_a_long_text_stays_fast(project_of, opened):
    """100,000 characters with 2,000 labels: a key is on the screen within 100 ms in the median."""
    import karat
    from karat.protocols.annotation.changes import AnnotatedLabel, LabelEdit

    words = ["Berlin", "alpha", "Paris", "beta", "gamma", "Cairo", "delta", "epsilon", "zeta", "eta", "theta"]
    text = "\n".join(" ".join(words[(line + word) % len(words)] for word in range(150)) for line in range(130))
    spots = [(index, index + 6) for index in range(len(text)) if text.startswith("Berlin", index)]
    spots += [(index, index + 5) for index in range(len(text)) if text.startswith(("Paris", "Cairo"), index)]
    store, invited = project_of(make_project((text,)))
    person = store.find_judge(store.start_session(store.create_invitation("anna", 60), True))
    task = store.lease_document(person)
    edits = [
        LabelEdit(f"l{number}", AnnotatedLabel(karat.Label(*span, "Q64"))) for number, span in enumerate(spots[:2000])
    ]
    store.submit_change(person, task, "all", 0, edits)
    with opened(invited("anna")) as page:
        begin(page)
        times = page.evaluate(
            """async () => {
              const times = [];
              for (let round = 0; round < 40; round++) {
                const start = performance.now();
                const key = ["n", "ArrowRight", "q", "u"][round % 4];
                const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
                document.activeElement.dispatchEvent(event);
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                times.push(performance.now() - start);
              }
              return times;
            }"""
        )
        saved(page)
    times.sort()
    assert times[len(times) // 2] < 100, times


def test_a_mention_is_optional_with_all_its_alternatives(project_of, opened):
    """A mention is optional only if all alternatives are, so O on one of them sets the mention."""
    store, invited = project_of(make_project())
    with opened(invited("anna")) as page:
        begin(page)
        mark(page, "German")
        link(page, "Germany")
        page.keyboard.press("a")
        page.wait_for_selector("[role=option][aria-selected=true]")
        choose(page, "Germans")
        for is_optional in (True, False):
            page.keyboard.press("o")
            saved(page)
            assert [item.label.optional for item in get_labels(store, "anna")] == [is_optional, is_optional]
