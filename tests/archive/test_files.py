"""Files that are named by their content, in memory and in a folder."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from karat.errors import InputError, UsageError
from karat.storage.addressed import InFolder, InMemory, digest_of


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
