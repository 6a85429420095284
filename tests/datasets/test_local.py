"""Benchmarks from local copies, in the cache and in KARAT_DATA, and what is said where they are not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from karat.data.catalogue import fetch, finished, lies_in, ready
from karat.errors import InputError, UsageError
from karat.registry import get
from karat.spec.dataset import File
from karat.spec.format import Format
from karat.storage import home
from karat.storage.files import Source
from tests.datasets.toys import GOLD, file, folder, listing, sha256, toy

TEXTS = {"a.txt": b"Ada", "deep/b.txt": b"Bob"}


def write(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_the_cache_is_where_the_user_or_the_platform_says(monkeypatch, tmp_path):
    assert home.cache() == tmp_path / "home" / "data"
    monkeypatch.delenv("KARAT_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(home.sys, "platform", "linux")
    assert home.home() == tmp_path / "xdg" / "karat"
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert home.home() == Path.home() / ".local" / "share" / "karat"
    monkeypatch.setattr(home.sys, "platform", "darwin")
    assert home.home().parts[-3:] == ("Library", "Application Support", "karat")
    monkeypatch.setattr(home.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert home.home() == tmp_path / "local" / "karat"


def test_content_is_decompressed_and_leaves_hidden_files_out(tmp_path):
    write(tmp_path / "texts", {**TEXTS, ".hidden": b"x", ".git/y": b"y"})
    assert home.content(tmp_path / "texts") == (listing(TEXTS), 6, 2)
    (tmp_path / "f.gz").write_bytes(gzip.compress(GOLD))
    assert home.content(tmp_path / "f.gz") == (sha256(GOLD), len(GOLD), 1)
    (tmp_path / "f.gz").write_bytes(gzip.compress(GOLD * 2))
    assert home.content(tmp_path / "f.gz").size == 2 * len(GOLD)


@pytest.mark.parametrize("layout", ["toy/gold.jsonl", "gold.jsonl", "toy/gold.jsonl.gz", "gold.jsonl.gz"])
@pytest.mark.parametrize("link", [False, True])
def test_local_copies_are_taken_in_any_layout(tmp_path, cache, layout, link):
    write(tmp_path / "mine", {layout: gzip.compress(GOLD) if layout.endswith(".gz") else GOLD})
    chosen = toy()
    assert lies_in(chosen) is None
    (fetched,) = fetch(chosen, given=tmp_path / "mine", link=link)
    assert (fetched.how, fetched.sha256) == ("linked" if link else "copied", sha256(GOLD))
    assert fetched.path.is_symlink() == link
    assert lies_in(chosen) == cache
    corpus = finished(get("formats", chosen.format, Format).read_corpus(Source(str(ready(chosen))), True), chosen)
    assert (corpus.name, len(corpus), corpus.about["licence"]) == ("toy@v1", 1, "CC0-1.0")
    assert (corpus.about["domain"], corpus.about["document type"]) == ("news", "sentences")


def test_folders_are_copied_without_hidden_files(tmp_path, cache):
    write(tmp_path / "mine" / "texts", {**TEXTS, ".hidden": b"x"})
    chosen = toy(folder("toy/texts", TEXTS), gold="toy")
    fetch(chosen, given=tmp_path / "mine")
    assert sorted(Source(str(cache)).names) == ["toy/texts/a.txt", "toy/texts/deep/b.txt"]
    assert not (cache / "toy" / "texts" / ".hidden").exists()
    assert ready(chosen) == cache / "toy"
    write(tmp_path / "mine" / "texts", {"c.txt": b"more"})
    (cache / "toy" / "texts" / "a.txt").write_bytes(b"Eve")
    with pytest.raises(InputError, match="found 3 files; expected 2 files"):
        fetch(chosen, given=tmp_path / "mine")


def test_a_wrong_copy_is_refused(tmp_path, cache):
    write(tmp_path / "mine", {"gold.jsonl": GOLD[::-1]})
    with pytest.raises(InputError, match="other content has no such name"):
        fetch(toy(), given=tmp_path / "mine")
    assert not cache.exists()


def test_what_the_folder_lacks_is_downloaded_or_said(web, tmp_path):
    web.files["/free"] = b"free"
    chosen = toy(file(), file("toy/free", b"free", url=web.url("/free")))
    write(tmp_path / "mine", {"gold.jsonl": GOLD})
    assert [one.how for one in fetch(chosen, given=tmp_path / "mine")] == ["copied", "downloaded"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="none of the files"):
        fetch(toy(file("toy/new")), given=tmp_path / "empty")
    with pytest.raises(UsageError, match="is no folder"):
        fetch(chosen, given=tmp_path / "mine" / "gold.jsonl")


def test_closed_data_says_how_to_obtain_it_before_anything_is_fetched(web):
    chosen = toy(file("toy/free", b"free", url=web.url("/free")), file())
    for attempt in (fetch, ready):
        with pytest.raises(UsageError, match=r"Ask Ada for it\. Then .* where FOLDER holds gold\.jsonl"):
            attempt(chosen)
    assert web.asked == []


def test_open_data_that_is_not_here_says_how_to_fetch_it():
    with pytest.raises(UsageError, match=r"not on this machine\. Fetch it with `karat data fetch toy@v1`.*KARAT_DATA"):
        ready(toy(file(url="http://127.0.0.1:1/")))


def test_karat_data_is_read_in_place_and_checked(tmp_path, monkeypatch):
    write(tmp_path / "all", {"toy/gold.jsonl.gz": gzip.compress(GOLD)})
    monkeypatch.setenv("KARAT_DATA", str(tmp_path / "all"))
    assert ready(toy()) == tmp_path / "all" / "toy" / "gold.jsonl.gz"
    write(tmp_path / "all", {"toy/gold.jsonl.gz": gzip.compress(GOLD * 2)})
    with pytest.raises(InputError, match=f"{2 * len(GOLD):,} bytes"):
        ready(toy())


def test_files_without_a_known_checksum_are_taken_and_said(tmp_path):
    write(tmp_path / "mine", {"gold.jsonl": GOLD})
    (fetched,) = fetch(toy(File("toy/gold.jsonl")), given=tmp_path / "mine")
    assert not fetched.verified


def test_a_split_may_be_some_rows_of_a_file(tmp_path):
    rows = b"".join(GOLD.replace(b'"a"', f'"{name}"'.encode()) for name in "abcd")
    write(tmp_path / "mine", {"gold.jsonl": rows})
    chosen = toy(file(data=rows), rows=(1, 3))
    fetch(chosen, given=tmp_path / "mine")
    corpus = finished(get("formats", "karat-jsonl", Format).read_corpus(Source(str(ready(chosen))), True), chosen)
    assert corpus.ids.to_pylist() == ["b", "c"]
