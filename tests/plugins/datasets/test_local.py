"""Benchmarks from local copies, in the cache and in KARAT_DATA, and what is said where they are not."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from karat.data.catalogue import finish_corpus
from karat.data.dataset_files import fetch_split, find_folder, prepare_split
from karat.model.errors import InputError, UsageError
from karat.model.registry import get_plugin
from karat.model.spec.dataset import File
from karat.model.spec.format import Format
from karat.render.data.datasets import render_fetch_results
from karat.storage import data_folder
from karat.storage.files import Source
from tests.plugins.datasets.toys import GOLD, file, folder, listing, sha256, toy

TEXTS = {"a.txt": b"Ada", "deep/b.txt": b"Bob"}


def write(folder, files):
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def test_the_cache_is_where_the_user_or_the_platform_says(monkeypatch, tmp_path):
    assert data_folder.get_dataset_cache() == tmp_path / "home" / "data"
    monkeypatch.delenv("KARAT_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr(data_folder.sys, "platform", "linux")
    assert data_folder.get_home_folder() == tmp_path / "xdg" / "karat"
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert data_folder.get_home_folder() == Path.home() / ".local" / "share" / "karat"
    monkeypatch.setattr(data_folder.sys, "platform", "darwin")
    assert data_folder.get_home_folder().parts[-3:] == ("Library", "Application Support", "karat")
    monkeypatch.setattr(data_folder.sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert data_folder.get_home_folder() == tmp_path / "local" / "karat"


def test_content_is_decompressed_and_leaves_hidden_files_out(tmp_path):
    write(tmp_path / "texts", {**TEXTS, ".hidden": b"x", ".git/y": b"y"})
    assert data_folder.hash_content(tmp_path / "texts") == (listing(TEXTS), 6, 2)
    (tmp_path / "f.gz").write_bytes(gzip.compress(GOLD))
    assert data_folder.hash_content(tmp_path / "f.gz") == (sha256(GOLD), len(GOLD), 1)
    (tmp_path / "f.gz").write_bytes(gzip.compress(GOLD * 2))
    assert data_folder.hash_content(tmp_path / "f.gz").size == 2 * len(GOLD)


@pytest.mark.parametrize("layout", ["toy/gold.jsonl", "gold.jsonl", "toy/gold.jsonl.gz", "gold.jsonl.gz"])
@pytest.mark.parametrize("link", [False, True])
def test_local_copies_are_taken_in_any_layout(tmp_path, cache, layout, link):
    write(tmp_path / "mine", {layout: gzip.compress(GOLD) if layout.endswith(".gz") else GOLD})
    chosen = toy()
    assert find_folder(chosen) is None
    (fetched,) = fetch_split(chosen, folder=tmp_path / "mine", link=link)
    assert (fetched.method, fetched.sha256) == ("linked" if link else "copied", sha256(GOLD))
    assert Path(fetched.path).is_symlink() == link
    assert find_folder(chosen) == cache
    corpus = finish_corpus(
        get_plugin("formats", chosen.format, Format).read_corpus(Source(str(prepare_split(chosen))), True), chosen
    )
    assert (corpus.name, len(corpus), corpus.metadata["licence"]) == ("toy@v1", 1, "CC0-1.0")
    assert (corpus.metadata["domain"], corpus.metadata["document type"]) == ("news", "sentences")


def test_folders_are_copied_without_hidden_files(tmp_path, cache):
    write(tmp_path / "mine" / "texts", {**TEXTS, ".hidden": b"x"})
    chosen = toy(folder("toy/texts", TEXTS), main_file="toy")
    fetch_split(chosen, folder=tmp_path / "mine")
    assert sorted(Source(str(cache)).file_names) == ["toy/texts/a.txt", "toy/texts/deep/b.txt"]
    assert not (cache / "toy" / "texts" / ".hidden").exists()
    assert prepare_split(chosen) == cache / "toy"
    write(tmp_path / "mine" / "texts", {"c.txt": b"more"})
    (cache / "toy" / "texts" / "a.txt").write_bytes(b"Eve")
    with pytest.raises(InputError, match="found 3 files; expected 2 files"):
        fetch_split(chosen, folder=tmp_path / "mine")


def test_a_wrong_copy_is_refused(tmp_path, cache):
    write(tmp_path / "mine", {"gold.jsonl": GOLD[::-1]})
    with pytest.raises(InputError, match="other content has no such name"):
        fetch_split(toy(), folder=tmp_path / "mine")
    assert not cache.exists()


def test_a_damaged_copy_is_replaced_and_named(tmp_path, cache):
    write(cache, {"toy/gold.jsonl": GOLD[::-1]})
    with pytest.raises(UsageError, match=r"A damaged copy was deleted: .*gold\.jsonl.* cannot be downloaded"):
        fetch_split(toy())
    write(cache, {"toy/gold.jsonl": GOLD[::-1]})
    write(tmp_path / "mine", {"gold.jsonl": GOLD})
    (fetched,) = fetch_split(toy(), folder=tmp_path / "mine")
    assert fetched.method == "copied"
    assert "gold.jsonl" in fetched.replaced
    assert "a damaged copy was deleted" in render_fetch_results(toy(), [fetched])
    (again,) = fetch_split(toy())
    assert (again.method, again.replaced) == ("present", None)


def test_what_the_folder_lacks_is_downloaded_or_said(web, tmp_path):
    web.files["/free"] = b"free"
    chosen = toy(file(), file("toy/free", b"free", url=web.url("/free")))
    write(tmp_path / "mine", {"gold.jsonl": GOLD})
    assert [one.method for one in fetch_split(chosen, folder=tmp_path / "mine")] == ["copied", "downloaded"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="none of the files"):
        fetch_split(toy(file("toy/new")), folder=tmp_path / "empty")
    with pytest.raises(UsageError, match="is not a folder"):
        fetch_split(chosen, folder=tmp_path / "mine" / "gold.jsonl")


def test_closed_data_says_how_to_obtain_it_before_anything_is_fetched(web):
    chosen = toy(file("toy/free", b"free", url=web.url("/free")), file())
    for attempt in (fetch_split, prepare_split):
        with pytest.raises(UsageError, match=r"Ask Ada for it\. Then .* where FOLDER holds gold\.jsonl"):
            attempt(chosen)
    assert web.asked == []


def test_open_data_that_is_not_here_says_how_to_fetch_it():
    with pytest.raises(UsageError, match=r"not on this computer\. Fetch it with `karat data fetch toy@v1`.*KARAT_DATA"):
        prepare_split(toy(file(url="http://127.0.0.1:1/")))


def test_karat_data_is_read_in_place_and_checked(tmp_path, monkeypatch):
    write(tmp_path / "all", {"toy/gold.jsonl.gz": gzip.compress(GOLD)})
    monkeypatch.setenv("KARAT_DATA", str(tmp_path / "all"))
    assert prepare_split(toy()) == tmp_path / "all" / "toy" / "gold.jsonl.gz"
    write(tmp_path / "all", {"toy/gold.jsonl.gz": gzip.compress(GOLD * 2)})
    with pytest.raises(InputError, match=f"{2 * len(GOLD):,} bytes"):
        prepare_split(toy())


def test_files_without_a_known_checksum_are_taken_and_said(tmp_path):
    write(tmp_path / "mine", {"gold.jsonl": GOLD})
    (fetched,) = fetch_split(toy(File("toy/gold.jsonl")), folder=tmp_path / "mine")
    assert not fetched.verified


def test_a_split_may_be_some_rows_of_a_file(tmp_path):
    rows = b"".join(GOLD.replace(b'"a"', f'"{name}"'.encode()) for name in "abcd")
    write(tmp_path / "mine", {"gold.jsonl": rows})
    chosen = toy(file(data=rows), document_range=(1, 3))
    fetch_split(chosen, folder=tmp_path / "mine")
    corpus = finish_corpus(
        get_plugin("formats", "karat-jsonl", Format).read_corpus(Source(str(prepare_split(chosen))), True), chosen
    )
    assert corpus.ids.to_pylist() == ["b", "c"]
