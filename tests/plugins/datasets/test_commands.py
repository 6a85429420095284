"""`karat data list`, `show` and `fetch` as users use them."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint

import pytest
from click.testing import CliRunner

from karat.cli.data.fetch import command as fetch_command
from karat.data.catalogue import list_splits
from karat.model import registry
from karat.model.registry import list_plugins
from karat.model.spec.dataset import parse_dataset
from tests.plugins.datasets import toys


def test_the_list_names_every_benchmark(karat_cli):
    ran = karat_cli("data", "list")
    assert (ran.code, ran.err) == (0, "")
    shown = {line.split()[0].partition("@")[0] for line in ran.out.splitlines()[1:]}
    assert shown == set(list_plugins("datasets"))
    assert [line.split()[0] for line in ran.out.splitlines() if "  local  " in line] == ["demo@karat"]
    aida = next(line for line in ran.out.splitlines() if line.startswith("aida@hoffart2011/testb"))
    assert "231" in aida
    assert "  bring your own  " in aida


def test_the_list_as_json_and_by_task(karat_cli):
    rows = json.loads(karat_cli("data", "list", "--all", "--json", "-").out)["datasets"]
    found = {row["name"]: row for row in rows}
    assert found["msnbc@bat2013"]["labels"] == 737
    assert found["meij@meij2012"]["tags"] == 812
    assert found["demo@karat"]["is_local"]
    ranked = json.loads(karat_cli("data", "list", "--task", "Rc2W", "--json", "-").out)["datasets"]
    assert [row["name"] for row in ranked] == ["meij@meij2012"]
    assert karat_cli("data", "list", "--task", "cooking").code == 2


def test_every_benchmark_has_a_checksum_or_says_that_it_has_none(karat_cli):
    rows = json.loads(karat_cli("data", "list", "--all", "--json", "-").out)["datasets"]
    lines = {line.split()[0]: line for line in karat_cli("data", "list", "--all").out.splitlines()}
    assert {row["has_checksums"] for row in rows} == {True, False}
    for row in rows:
        files = "local" if row["is_local"] else "to fetch" if row["is_downloadable"] else "bring your own"
        assert lines[row["name"]].removesuffix(files).split()[-1] == ("sha256" if row["has_checksums"] else "none")
        name = parse_dataset(row["name"])
        items = [item for one in list_splits(name) for item in one.split.files]
        assert row["has_checksums"] == all(item.sha256 for item in items)
    shown = karat_cli("data", "show", "kore50").out
    assert "sha256 unknown: the content cannot be verified" in shown


def test_show_tells_biases_repairs_and_versions(karat_cli):
    ran = karat_cli("data", "show", "aida")
    assert ran.code == 0
    assert "44 % of the articles of the test set are about sports. (Bast et al. 2023, section 4.1)" in ran.out
    assert "your own copy" in ran.out.lower()
    assert "after drop-nil: 231 documents, 4,485 labels" in ran.out
    assert "Reasons to exclude it" in karat_cli("data", "show", "dbpedia-spotlight").out
    one = karat_cli("data", "show", "msnbc@guo2018").out
    assert "supersedes" in one
    assert "bat2013" not in one


def test_show_says_what_nobody_has_seen(karat_cli):
    shown = karat_cli("data", "show", "reuters-128").out
    assert "    not verified: No checksum, because no copy was available; the counts are published.\n" in shown
    assert "not verified" not in karat_cli("data", "show", "msnbc@guo2018").out
    written = json.loads(karat_cli("data", "show", "reuters-128", "--json", "-").out)
    assert [split["unverified_reason"][:11] for split in written["splits"].values()] == ["No checksum"]


def test_show_as_json(karat_cli, tmp_path):
    shown = json.loads(karat_cli("data", "show", "iitb@bat2013", "--json", "-").out)
    (split,) = shown["splits"].values()
    assert [done["step"] for done in split["steps"]] == ["drop-nil", "distinct", "drop-empty"]
    assert split["files"][1]["n_files"] == 650
    assert shown["name"] == "iitb"
    assert karat_cli("data", "show", "demo", "--json", tmp_path / "demo.json").code == 0
    assert "stored predictions" not in (tmp_path / "demo.json").read_text()
    assert json.loads((tmp_path / "demo.json").read_text())["licence"] == "Apache-2.0"


@pytest.mark.parametrize("command", ["show", "fetch"])
def test_unknown_names_are_refused_with_the_near_ones(karat_cli, command):
    ran = karat_cli("data", command, "kore55")
    assert ran.code == 2
    assert "Did you mean 'kore50'" in ran.err
    assert "version of msnbc" in karat_cli("data", command, "msnbc@new").err


def test_closed_data_ends_with_exit_code_2_and_says_how_to_obtain_it(karat_cli):
    ran = karat_cli("data", "fetch", "aida")
    assert (ran.code, ran.out) == (2, "")
    assert "NIST" in ran.err
    assert "--from FOLDER" in ran.err
    assert "Traceback" not in ran.err


def test_link_needs_a_folder(karat_cli):
    assert karat_cli("data", "fetch", "kore50", "--link").code == 2
    assert "is not a folder" in karat_cli("data", "fetch", "kore50", "--from", "no/such/folder").err


@pytest.mark.shared
def test_fetch_from_a_folder_laid_out_like_the_shared_data(karat_cli, shared, cache):
    ran = karat_cli("data", "fetch", "kore50", "msnbc@cucerzan2007", "zelda/tweeki", "--from", shared, "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    done = json.loads(ran.out)["splits"]
    assert list(done) == ["kore50@elevant2024", "msnbc@cucerzan2007", "zelda@milich2023/tweeki"]
    assert all(item["method"] == "copied" and item["verified"] for items in done.values() for item in items)
    assert (cache / "bat" / "MSNBC" / "Problems" / "Bus3683270.txt").is_file()
    again = karat_cli("data", "fetch", "kore50")
    assert again.out == f"kore50@elevant2024: present, {cache / 'elevant/benchmarks/kore50.benchmark.jsonl.gz'}\n"
    rows = json.loads(karat_cli("data", "list", "--json", "-").out)["datasets"]
    listed = {row["name"]: row["is_local"] for row in rows}
    assert listed["kore50@elevant2024"]
    assert not listed["aquaint@milne2008"]


@pytest.fixture
def toy_benchmark(monkeypatch, web):
    """A benchmark `toy` that someone installed, whose files the test's server has."""
    web.files = {"/gold.jsonl": toys.GOLD}
    found = toys.dataset(toys.toy(toys.file(url=web.url("/gold.jsonl"))).version)
    monkeypatch.setattr(toys, "INSTALLED", found, raising=False)
    entry = EntryPoint("toy", "tests.plugins.datasets.toys:INSTALLED", "karat.datasets")
    monkeypatch.setattr(registry, "_entry_points_by_group", lambda: {entry.group: {entry.name: entry}})
    registry._group_entry_points.cache_clear()
    yield found
    monkeypatch.undo()
    registry._group_entry_points.cache_clear()


def test_an_installed_benchmark_is_fetched(toy_benchmark, web, tmp_path):
    ran = CliRunner().invoke(fetch_command, ["toy", "--json", str(tmp_path / "done.json")])
    assert ran.exit_code == 0, ran.output
    assert ran.output.startswith("toy@v1: downloaded, ")
    (item,) = json.loads((tmp_path / "done.json").read_text())["splits"]["toy@v1"]
    assert (item["method"], item["sha256"]) == ("downloaded", toys.sha256(toys.GOLD))


def test_people_who_look_see_a_bar(toy_benchmark, web, monkeypatch, capsys):
    import sys

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    fetch_command.main(["toy"], standalone_mode=False)
    seen = capsys.readouterr()
    assert "gold.jsonl" in seen.err
    assert "100%" in seen.err
