"""Uploads: what they may choose, what is stored about them, and pages for links that are dead."""

from __future__ import annotations

import pytest

from karat.model.errors import UsageError
from karat.storage.content_store import FolderStore
from tests.web.test_serve import GOLD, PREDICTIONS, client_of, refused, upload

pytestmark = pytest.mark.extras

PAGE = {"accept": "text/html"}


@pytest.fixture
def root(tmp_path, demo_files):
    folder = FolderStore.open_or_create(str(tmp_path / "archive"))
    for (kind, _), data in demo_files.files.items():
        folder.put(kind, data)
    return tmp_path / "archive"


def test_uploads_may_choose_profiles_and_knowledge_bases(root):
    options = client_of(root).get("/api/uploads").json()
    assert options["is_open"]
    assert options["profiles"][0]["name"] == "karat"
    assert "starter" in options["knowledge_bases"]
    assert not client_of(root, token=None).get("/api/uploads").json()["is_open"]


def test_an_upload_states_what_its_system_is(root):
    client = client_of(root, knowledge_bases={"starter": "starter"})
    stated = {"description": " Ours.\n", "date": "2026-01-31", "kb": "starter", "profile": "gerbil", "key": "0" * 32}
    response = upload(client, gold=("tiny.jsonl", GOLD), **stated)
    assert response.status_code == 201, response.text
    board = client.get(f"{response.json()['links'][0]}api/resources/leaderboard").json()
    (system,) = board["systems"]
    assert system == {
        "name": "mine",
        "title": "mine",
        "description": "Ours.",
        "date": "2026-01-31",
        "is_upload": True,
    }
    assert board["profile"] == "gerbil"
    assert "kb:starter@" in board["notes"][0]["signature"]
    assert [item["is_upload"] for item in client.get("/api/resources/leaderboard").json()["systems"]].count(True) <= 1
    refused(client.get(f"/api/uploads/{'0' * 32}"), 404, "not-found")


@pytest.mark.parametrize(
    "stated",
    [
        {"kb": "/etc"},
        {"kb": "../archive"},
        {"kb": "nothing"},
        {"date": "31.1.2026"},
        {"date": "2026-02-30"},
        {"description": "x" * 1001},
        {"key": "../x"},
    ],
    ids=str,
)
def test_only_known_knowledge_bases_and_real_dates_are_accepted(root, stated):
    client = client_of(root)
    before = client.get("/api/resources").json()
    refused(upload(client, **stated), 400, "bad-request")
    assert client.get("/api/resources").json() == before


def test_scoring_reports_its_progress(tmp_path):
    from karat.web.server.uploads import Upload, UploadLimits, score_upload

    tasks = []
    sides = ("gold.jsonl", GOLD), ("predictions.jsonl", PREDICTIONS)
    score_upload(tmp_path / "archive", Upload(*sides, "mine"), {}, UploadLimits(), tasks.append)
    assert not [task for task in tasks if "karat-upload" in task.description]
    counted = [task for task in tasks if task.description == "scoring mine under other profiles"]
    assert counted[0].total > 5


def test_knowledge_bases_have_the_names_of_their_folders(tmp_path):
    from karat.web.server.uploads import list_knowledge_bases

    (tmp_path / "a" / "mine").mkdir(parents=True)
    (tmp_path / "b" / "mine").mkdir(parents=True)
    found = list_knowledge_bases(["starter", str(tmp_path / "a" / "mine")])
    assert found["mine"] == str(tmp_path / "a" / "mine")
    assert found["starter"] == "starter"
    with pytest.raises(UsageError, match="another knowledge base named mine"):
        list_knowledge_bases([str(tmp_path / "a" / "mine"), str(tmp_path / "b" / "mine")])
    with pytest.raises(UsageError, match="no such knowledge base"):
        list_knowledge_bases([str(tmp_path / "c")])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (f"/at/{'0' * 32}/", f"The archive has no submission {'0' * 32}."),
        ("/at/%3Cb%3E/", "The archive has no submission &lt;b&gt;."),
        ("/nothing", "No such file."),
    ],
)
def test_browsers_get_a_page_for_a_dead_link(root, path, message):
    response = client_of(root).get(path, headers=PAGE)
    assert response.status_code == 404
    assert response.headers["content-type"].startswith("text/html")
    assert f'<h1 class="summary">{message}' in response.text
    assert '<a href="/">' in response.text
    refused(client_of(root).get(path), 404, "not-found")
    refused(client_of(root).get("/api/resources/nothing", headers=PAGE), 404, "not-found")
