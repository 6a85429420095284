"""Files that are named by their content, in memory and in a folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from karat.archive.archive import Archive
from karat.errors import InputError, UsageError
from karat.storage.addressed import InFolder, InMemory, digest_of

pytestmark = pytest.mark.extras  # processes are started and killed: half a minute


@pytest.fixture(params=["memory", "folder"])
def files(request, tmp_path):
    return InMemory() if request.param == "memory" else InFolder.made(str(tmp_path / "archive"))


def test_what_is_put_is_got_under_its_fingerprint(files):
    digest = files.put("results", b"{}")
    assert digest == digest_of(b"{}")
    assert files.get("results", digest) == b"{}"
    assert files.put("results", b"{}") == digest
    assert files.digests("results") == [digest]


def test_the_order_is_that_in_which_files_came(files):
    digests = [files.put("entries", str(number).encode()) for number in range(5)]
    assert list(files.digests("entries")) == digests


def test_a_file_that_somebody_changed_is_refused(tmp_path):
    files = InFolder.made(str(tmp_path / "archive"))
    digest = files.put("results", b"{}")
    (tmp_path / "archive" / "results" / f"{digest}.json").write_bytes(b"[]")
    with pytest.raises(InputError, match="not the bytes that it is named after"):
        files.get("results", digest)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a" * 31, "A" * 32, "", "0" * 32 + "/x"])
def test_no_other_name_leads_to_a_file(tmp_path, name):
    files = InFolder.made(str(tmp_path / "archive"))
    with pytest.raises(UsageError):
        files.get("results", name)
    with pytest.raises(UsageError):
        files.get("../results", "0" * 32)


def test_what_a_killed_writer_left_is_no_file(tmp_path):
    files = InFolder.made(str(tmp_path / "archive"))
    (tmp_path / "archive" / "entries" / f".{'0' * 32}.{os.getpid()}.part").write_bytes(b"{")
    assert files.digests("entries") == []


def test_many_writers_write_the_same_files(tmp_path):
    files = InFolder.made(str(tmp_path / "archive"))
    contents = [bytes([number]) * 10_000 for number in range(8)] * 4
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda data: files.put("texts", data), contents))
    assert set(files.digests("texts")) == digests
    assert all(digest_of(files.get("texts", digest)) == digest for digest in digests)


def test_a_folder_of_something_else_is_no_archive(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="no archive, and not empty"):
        InFolder.made(str(tmp_path))


def test_an_archive_says_its_layout_and_a_newer_one_is_refused_by_name(tmp_path):
    InFolder.made(str(tmp_path / "archive"))
    about = tmp_path / "archive" / "archive.json"
    assert json.loads(about.read_bytes()) == {"layout": "karat-archive/1"}
    about.write_text('{"layout": "karat-archive/2"}')
    with pytest.raises(InputError, match="karat-archive/2, written by a newer Karat"):
        InFolder.made(str(tmp_path / "archive"))
    about.write_text("[]")
    with pytest.raises(InputError, match="no layout of an archive"):
        InFolder.made(str(tmp_path / "archive"))
    about.unlink()
    InFolder.made(str(tmp_path / "archive"))  # as the first ones were


def test_an_entry_of_a_newer_karat_is_refused_by_name(tmp_path):
    files = InMemory()
    entry = files.put("entries", b'{"layout": "karat-entry/2", "more": 1}')
    files.put("additions", json.dumps({"layout": "karat-addition/1", "added": "", "entries": [entry]}).encode())
    with pytest.raises(InputError, match="karat-entry/2, written by a newer Karat"):
        _ = Archive(files).every


KILLED = """
import os, signal, sys
from karat.archive.making import Filling, fill
from karat.comparison.entries import entries
from karat.storage import addressed

write = addressed._write

def dying(target, data):
    if target.parent.name == sys.argv[2]:
        (target.parent / f".{target.stem}.x.part").write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write(target, data)

addressed._write = dying
fill(addressed.InFolder.made(sys.argv[1]), entries(["demo/noisy"], ["demo"]), None, Filling(("karat", "bat")))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("kind", ["results", "texts", "entries", "additions"])
def test_a_writer_that_is_killed_leaves_the_archive_as_it_was(tmp_path, demo_files, kind):
    files = InFolder.made(str(tmp_path / "archive"))
    for (own, _), data in demo_files.kept.items():
        if own != "texts":  # so that they are written again
            files.put(own, data)
    before = Archive(files).every
    done = subprocess.run([sys.executable, "-c", KILLED, str(files.root), kind], check=False)
    assert done.returncode == -9
    assert before
    assert Archive(files).every == before


def test_two_writers_at_once_both_arrive(tmp_path):
    root = tmp_path / "archive"
    writers = [
        subprocess.Popen([sys.executable, "-c", KILLED.replace("demo/noisy", f"demo/{name}"), str(root), "none"])
        for name in ("noisy", "prior")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    archive = Archive(InFolder.made(str(root)))
    assert {entry.system for entry in archive.entries} == {"noisy", "prior"}
    assert not [*root.rglob("*.part")]
