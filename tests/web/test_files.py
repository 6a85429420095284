"""Files that are named by their content, in memory and in a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from karat.model.errors import InputError, UsageError
from karat.storage.content_store import FolderStore, MemoryStore, content_digest
from karat.web.archive.archive import Archive

pytestmark = pytest.mark.extras  # processes are started and killed: half a minute


@pytest.fixture(params=["memory", "folder"])
def files(request, tmp_path):
    return MemoryStore() if request.param == "memory" else FolderStore.open_or_create(str(tmp_path / "archive"))


def test_what_is_put_is_got_under_its_fingerprint(files):
    digest = files.put("results", b"{}")
    assert digest == content_digest(b"{}")
    assert files.get("results", digest) == b"{}"
    assert files.put("results", b"{}") == digest
    assert files.list_digests("results") == [digest]


def test_the_order_is_that_in_which_files_came(files):
    digests = [files.put("entries", str(number).encode()) for number in range(5)]
    assert list(files.list_digests("entries")) == digests


def test_a_file_that_somebody_changed_is_refused(tmp_path):
    files = FolderStore.open_or_create(str(tmp_path / "archive"))
    digest = files.put("results", b"{}")
    (tmp_path / "archive" / "results" / f"{digest}.json").write_bytes(b"[]")
    with pytest.raises(InputError, match="content that does not match its name"):
        files.get("results", digest)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a" * 31, "A" * 32, "", "0" * 32 + "/x"])
def test_no_other_name_leads_to_a_file(tmp_path, name):
    files = FolderStore.open_or_create(str(tmp_path / "archive"))
    with pytest.raises(UsageError):
        files.get("results", name)
    with pytest.raises(UsageError):
        files.get("../results", "0" * 32)


def test_what_a_killed_writer_left_is_no_file(tmp_path):
    files = FolderStore.open_or_create(str(tmp_path / "archive"))
    (tmp_path / "archive" / "entries" / f".{'0' * 32}.{os.getpid()}.part").write_bytes(b"{")
    assert files.list_digests("entries") == []


def test_many_writers_write_the_same_files(tmp_path):
    files = FolderStore.open_or_create(str(tmp_path / "archive"))
    contents = [bytes([number]) * 10_000 for number in range(8)] * 4
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda data: files.put("texts", data), contents))
    assert set(files.list_digests("texts")) == digests
    assert all(content_digest(files.get("texts", digest)) == digest for digest in digests)


def test_a_folder_of_something_else_is_no_archive(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not an archive and not empty"):
        FolderStore.open_or_create(str(tmp_path))


def test_an_archive_says_its_layout_and_a_newer_one_is_refused_by_name(tmp_path):
    FolderStore.open_or_create(str(tmp_path / "archive"))
    metadata = tmp_path / "archive" / "archive.json"
    assert json.loads(metadata.read_bytes()) == {"layout": "karat-archive/2"}
    metadata.write_text('{"layout": "karat-archive/3"}')
    with pytest.raises(InputError, match="karat-archive/3, written by a newer Karat"):
        FolderStore.open_or_create(str(tmp_path / "archive"))
    metadata.write_text("[]")
    with pytest.raises(InputError, match="an invalid archive layout"):
        FolderStore.open_or_create(str(tmp_path / "archive"))
    metadata.unlink()
    FolderStore.open_or_create(str(tmp_path / "archive"))  # as the first ones were


def test_an_entry_of_a_newer_karat_is_refused_by_name(tmp_path):
    files = MemoryStore()
    entry = files.put("entries", b'{"layout": "karat-entry/4", "more": 1}')
    files.put(
        "submissions", json.dumps({"layout": "karat-submission/2", "submitted_at": "", "entries": [entry]}).encode()
    )
    with pytest.raises(InputError, match="karat-entry/4, written by a newer Karat"):
        _ = Archive(files).all_entries


KILLED = """
import os, signal, sys
from karat.web.archive.submissions import ArchiveOptions, add_results
from karat.analysis.comparison.entries import load_entries
from karat.storage import content_store

write = content_store.write_durably

def dying(target, data):
    if target.parent.name == sys.argv[2]:
        (target.parent / f".{target.stem}.x.part").write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write(target, data)

content_store.write_durably = dying
store = content_store.FolderStore.open_or_create(sys.argv[1])
add_results(store, load_entries(["demo/noisy"], ["demo"]), None, ArchiveOptions(("karat", "bat")))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kind", ["results", "texts", "entries", "submissions"])
def test_a_writer_that_is_killed_leaves_the_archive_as_it_was(tmp_path, demo_files, kind):
    files = FolderStore.open_or_create(str(tmp_path / "archive"))
    for (own, _), data in demo_files.files.items():
        if own != "texts":  # so that they are written again
            files.put(own, data)
    before = Archive(files).all_entries
    done = subprocess.run([sys.executable, "-c", KILLED, str(files.root), kind], check=False)
    assert done.returncode == -9
    assert before
    assert Archive(files).all_entries == before


def test_two_writers_at_once_both_arrive(tmp_path):
    root = tmp_path / "archive"
    writers = [
        subprocess.Popen([sys.executable, "-c", KILLED.replace("demo/noisy", f"demo/{name}"), str(root), "none"])
        for name in ("noisy", "prior")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    archive = Archive(FolderStore.open_or_create(str(root)))
    assert {entry.system for entry in archive.entries} == {"noisy", "prior"}
    assert not [*root.rglob("*.part")]
