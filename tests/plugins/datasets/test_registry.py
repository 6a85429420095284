"""Every dataset file is well formed, and names mean what they say."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from karat.data.catalogue import choose_split, find_dataset, find_stored_predictions, list_splits
from karat.data.dataset_files import check_item
from karat.model.errors import UnknownNameError, UsageError
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.dataset import Dataset, DatasetName, Folder, is_bare_name, parse_dataset, split_system
from karat.model.spec.settings.task import TASKS

DATASETS = {name: get_plugin("datasets", name, Dataset) for name in list_plugins("datasets")}
SPLITS = [
    (f"{name}@{version}/{split}", dataset, found, found.splits[split])
    for name, dataset in DATASETS.items()
    for version, found in dataset.versions.items()
    for split in found.splits
]
IDS = [name for name, *_ in SPLITS]

REQUIRED = {
    "ace2004",
    "aida",
    "aquaint",
    "dbpedia-spotlight",
    "demo",
    "derczynski",
    "erd-2014",
    "gerdaq",
    "hipe-ajmc-en",
    "iitb",
    "kdd",
    "kore50",
    "meij",
    "msnbc",
    "neel-2016",
    "news-fair",
    "oke-2015",
    "oke-2016",
    "reddit",
    "reuters-128",
    "rss-500",
    "shadowlinks",
    "tweeki",
    "voxel",
    "wiki-annot30",
    "wiki-fair",
    "wned-cweb",
    "wned-wiki",
    "zelda",
    "zelda-train",
}


def test_the_benchmarks_of_the_papers_are_there():
    assert DATASETS.keys() >= REQUIRED


@pytest.mark.parametrize("name", DATASETS)
def test_a_benchmark_says_what_it_is(name):
    dataset = DATASETS[name]
    for field in ("title", "language", "domain", "document_type", "licence"):
        assert getattr(dataset, field)
    assert dataset.description.endswith(".")
    assert dataset.citation.endswith(".")
    assert dataset.tasks
    assert all(address.startswith(("http://", "https://")) for address in dataset.sources)
    assert dataset.versions
    for version in dataset.versions.values():
        assert version.description.endswith(".")
        assert version.splits
        assert version.default_split is None or version.default_split in version.splits
        assert set(version.tasks or dataset.tasks) <= TASKS.keys()
        assert (version.citation or dataset.citation).endswith(".")
        assert (version.kb or dataset.kb) in ("wikidata", "wikipedia", "dbpedia", "yago2")
        for older in version.supersedes:
            assert list_splits(parse_dataset(older))
    for remark in (*dataset.biases, *dataset.exclusions):
        assert remark.description.endswith(".")
        assert remark.source


@pytest.mark.parametrize(("name", "dataset", "version", "split"), SPLITS, ids=IDS)
def test_a_split_says_where_its_files_are(name, dataset, version, split):
    assert str(parse_dataset(name)) == name
    assert split.files
    opened = PurePosixPath(split.main_path)
    for item in split.files:
        path = PurePosixPath(item.path)
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert opened == path or opened in path.parents or split.main_file == ""
        assert item.sha256 is None or re.fullmatch("[0-9a-f]{64}", item.sha256)
        assert item.size is None or item.size > 0
        assert item.url is None or item.url.startswith(("http://", "https://"))
        assert item.member is None or item.url is not None
        # The newest state of a repository is tied to a version by its checksum alone.
        assert "/HEAD/" not in (item.url or "") or item.sha256 is not None
        if isinstance(item, Folder):
            assert item.n_files > 0
            assert len(item.file_names) in (0, item.n_files)
            assert item.url is None or item.member or item.file_names
        if item.url is None and split.root is None:
            assert version.obtain or dataset.obtain
    assert all(repair.location and repair.fault and repair.remedy and repair.count > 0 for repair in split.repairs)
    assert not split.predictions.keys() & version.splits.keys()


@pytest.mark.parametrize(("name", "dataset", "version", "split"), SPLITS, ids=IDS)
def test_a_split_has_checksums_and_counts_or_says_why_not(name, dataset, version, split):
    counts = [split.counts, *(done.counts for done in split.steps)]
    counted = all(one.documents and (one.labels or one.tags) for one in counts)
    known = counted and all(item.sha256 and item.size for item in split.files)
    assert known is not bool(split.unverified_reason)
    assert split.unverified_reason == "" or split.unverified_reason.endswith(".")


def test_files_that_come_with_karat_are_those_of_their_checksums():
    found = [(name, split) for name, _, _, split in SPLITS if split.root is not None]
    assert found
    for name, split in found:
        for item in split.files:
            check_item(item, split.root / item.path, name)


@pytest.mark.parametrize(("name", "dataset", "version", "split"), SPLITS, ids=IDS)
def test_formats_and_steps_are_plugins(name, dataset, version, split):
    missing = {split.format} - {*list_plugins("formats"), None} | {done.step for done in split.steps} - set(
        list_plugins("steps")
    )
    assert not missing
    documents = [count.documents for count in (split.counts, *(done.counts for done in split.steps))]
    assert documents == sorted(documents, key=lambda count: -(count or 0))


def test_one_path_is_one_content():
    seen = {}
    for _, _, _, split in SPLITS:
        for item in split.files if split.root is None else ():
            assert seen.setdefault(item.path, item.sha256) == item.sha256


def test_a_name_with_a_version_keeps_its_meaning():
    """What these names stood for when they were written down; a change needs a name of its own."""
    known = {
        "msnbc@cucerzan2007": ("7a16fe49", "6bc69ef9"),
        "msnbc@bat2013": ("7a16fe49", "6bc69ef9", "drop-nil", "longest"),
        "msnbc@guo2018": ("3a2efbbe", "22692f22"),
        "iitb@bat2013": ("6b2f6fd5", "06a025d3", "drop-nil", "distinct", "drop-empty"),
        "kore50@elevant2024": ("a9cf70d7",),
        "aida@elevant2024/testb": ("9a841479",),
        "wiki-fair@v1": ("f1032fa0",),
        "wiki-fair@v2-no-coref": ("4ac1fe61",),
        "zelda@milich2023/wned-cweb": ("6b004b7f",),
        "ace2004@rosales2019": ("eefdd83c",),
    }
    for name, meaning in known.items():
        split = choose_split(parse_dataset(name)).split
        assert (*(item.sha256[:8] for item in split.files), *(done.step for done in split.steps)) == meaning


@pytest.mark.parametrize(
    "text", ["msnbc", "msnbc@guo2018", "aida/testb", "hipe-ajmc-en@v2.1/test", "zelda@milich2023/reddit-posts"]
)
def test_names_print_and_parse_back(text):
    assert str(parse_dataset(text)) == text
    assert find_dataset(text) == parse_dataset(text)


@pytest.mark.parametrize("text", ["", "./msnbc", "a/b.jsonl", "msnbc@", "msnbc/", "a/b/c", "/msnbc", "x y", "-", "é"])
def test_what_is_no_name(text):
    with pytest.raises(UsageError, match=r"NAME\[@VERSION\]\[/SPLIT\]"):
        parse_dataset(text)
    assert find_dataset(text) is None


def test_paths_and_unknown_names_are_no_benchmarks():
    assert find_dataset("gold") is None
    assert find_dataset("gold/predictions") is None
    assert is_bare_name("kore-50")
    assert not is_bare_name("gold.jsonl")
    assert not is_bare_name("runs/gold")


def test_what_is_left_out_is_filled_in():
    assert str(choose_split(DatasetName("msnbc")).name) == "msnbc@guo2018"
    assert str(choose_split(DatasetName("aida")).name) == "aida@hoffart2011/testb"
    assert str(choose_split(DatasetName("aida", "elevant2024", "testa")).name) == "aida@elevant2024/testa"
    assert [str(one.name) for one in list_splits(DatasetName("oke-2015"))] == [
        "oke-2015@elevant2024/train",
        "oke-2015@elevant2024/eval",
    ]
    with pytest.raises(UsageError, match=r"zelda has several splits\. Name one: zelda@milich2023/aida-b, "):
        choose_split(DatasetName("zelda"))


def test_unknown_versions_and_splits_offer_the_near_ones():
    with pytest.raises(UnknownNameError, match=r"version of msnbc 'guo2017'\. Did you mean 'guo2018'"):
        choose_split(DatasetName("msnbc", "guo2017"))
    with pytest.raises(UnknownNameError, match=r"split of aida@hoffart2011 'test-b'\. Did you mean 'testb'"):
        choose_split(DatasetName("aida", None, "test-b"))


def test_stored_predictions_have_one_part_more():
    assert split_system("demo/prior") == ("demo", "prior")
    assert split_system("demo@karat/all/prior") == ("demo@karat/all", "prior")
    assert split_system("demo") == ("demo", "")
    for name in ("demo/prior", "demo@karat/prior", "demo/all/prior", "demo@karat/all/prior"):
        path, format = find_stored_predictions(name)
        assert (path.name, format) == ("prior.jsonl", "karat-jsonl")
    assert find_stored_predictions("demo") is None
    assert find_stored_predictions("aida/testb") is None
    assert find_stored_predictions("runs/prior") is None
    with pytest.raises(UnknownNameError, match=r"split or stored predictions of demo 'pryor'\. Did you mean 'prior'"):
        find_stored_predictions("demo/pryor")


def test_a_format_that_nothing_reads_is_said():
    with pytest.raises(UsageError, match="wiki-annot30@ferragina2010: Karat has no reader"):
        _ = choose_split(DatasetName("wiki-annot30")).format
