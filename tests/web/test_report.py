"""`karat report`, `karat score --html` and `karat compare --html`: one file that needs nothing else."""

from __future__ import annotations

import gzip
import re

import pytest

from karat.web.archive.html import read_bundle_file
from tests.web.reports import beyond_data, pieces_in

pytestmark = pytest.mark.extras  # whole reports are made: half a minute

MOST = 1_000_000
"""Bytes of a report besides its data."""

QUICK = ("--one-profile", "--resamples", "50")

CLIENT = 150_000
"""Bytes of the client, compressed."""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return tmp_path_factory.mktemp("report")


def report(karat_cli, folder, *arguments):
    out = folder / "report.html"
    done = karat_cli("report", *arguments, "--out", out)
    assert done.code == 0, done.err
    return out.read_text(encoding="utf-8")


def test_a_report_needs_nothing_else(karat_cli, tmp_path):
    page = report(karat_cli, tmp_path, "--gold", "demo", "demo", *QUICK)
    assert beyond_data(page) < MOST
    kinds = {"leaderboard", "errors", "problems", "cases", "texts", "dataset", "curves", "credits", "groups"}
    kinds |= {"avoided", "pairs"}
    assert {name.partition("/")[0] for name in pieces_in(page)} - {"entities"} == kinds  # for which DuckDB is needed
    assert not re.search(r"<(script|link|img|iframe)[^>]*\s(src|href)=", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src &#x27;none&#x27;" in policy
    assert "unsafe" not in policy


def test_the_client_is_small():
    assert len(gzip.compress(read_bundle_file("client.js").encode(), 9)) < CLIENT
    assert "MIT" in read_bundle_file("licences.txt")


def test_the_script_is_the_one_that_the_policy_names(karat_cli, tmp_path):
    import base64
    import hashlib

    page = report(karat_cli, tmp_path, "--gold", "demo", "demo/noisy", *QUICK)
    script = page[page.rindex("<script>") + 8 : page.rindex("</script>")]
    assert "</script" not in script
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in page


@pytest.mark.parametrize("title", ["</title><script>alert(1)</script>", "--> <b>"])
def test_a_title_is_text(karat_cli, tmp_path, title):
    page = report(karat_cli, tmp_path, "--gold", "demo", "demo/noisy", *QUICK, "--title", title)
    assert title not in page
    assert pieces_in(page)["leaderboard"]["title"] == title


def test_score_and_compare_write_the_same_pages(karat_cli, tmp_path):
    for command in (("score", "demo", "demo"), ("compare", "--gold", "demo", "demo")):
        out = tmp_path / f"{command[0]}.html"
        done = karat_cli(*command, "--html", out)
        assert done.code == 0, done.err
        assert f"{out}: " in done.out
    one, two = (pieces_in((tmp_path / f"{name}.html").read_text(encoding="utf-8")) for name in ("score", "compare"))
    assert one["leaderboard"] == two["leaderboard"]
    assert one.keys() == two.keys()


def test_an_archive_is_kept_and_read_again(karat_cli, tmp_path):
    archive = tmp_path / "archive"
    first = report(karat_cli, tmp_path, "--gold", "demo", "demo", *QUICK, "--archive", archive)
    assert report(karat_cli, tmp_path, archive) == first
    assert report(karat_cli, tmp_path, "--gold", "demo", "demo", *QUICK) == first  # of results without group intervals
    small = report(karat_cli, tmp_path, archive, "--texts", "none")
    assert not any(name.startswith("texts") for name in pieces_in(small))


@pytest.mark.parametrize("layout", ["csv", "md", "paper"])
def test_an_archive_has_no_other_layout(karat_cli, tmp_path, layout):
    archive = tmp_path / "archive"
    report(karat_cli, tmp_path, "--gold", "demo", "demo", *QUICK, "--archive", archive)
    done = karat_cli("report", archive, "--to", layout, "--out", tmp_path / "x")
    assert done.code == 2
    assert f"--to {layout}: " in done.err
    assert "Remove --to" in done.err


def test_reasons_come_with_the_profile_that_is_asked_for(karat_cli, tmp_path):
    page = pieces_in(report(karat_cli, tmp_path, "--gold", "demo", "demo/noisy", "--why", "gerbil", "--one-profile"))
    (name,) = (name for name in page if name.startswith("reasons/"))
    (found,) = page[name]["reasons"]
    steps = sum(step["share"] for step in found["steps"])
    assert found["reference_score"] + steps == pytest.approx(found["score"], abs=1e-3)
    assert {profile["name"] for profile in page["leaderboard"]["profiles"]} == {"karat", "gerbil"}


@pytest.mark.parametrize(
    ("arguments", "description"),
    [
        (["--gold", "demo", "demo"], "Add --out FILE"),
        (["--gold", "demo", "demo", "--to", "nothing"], "nothing"),
        (["--gold", "demo", "demo", "--out", "report.html", "--why", "nobody"], "nobody"),
        (["--gold", "demo", "demo", "--to", "elevant"], "karat score --layout elevant"),
    ],
)
def test_what_makes_no_sense_is_refused(karat_cli, tmp_path, monkeypatch, arguments, description):
    monkeypatch.chdir(tmp_path)
    done = karat_cli("report", *arguments)
    assert done.code == 2
    assert description in done.err
    assert not list(tmp_path.iterdir())


def test_a_system_that_predictions_twice_is_refused(karat_cli, tmp_path):
    result = tmp_path / "result.json"
    assert karat_cli("score", "demo", "demo/noisy", "--json", result).code == 0
    done = karat_cli("report", result, result, "--out", tmp_path / "report.html")
    assert done.code == 2
    assert "has two runs on" in done.err


@pytest.mark.parametrize(
    "how",
    [
        ("--profile", "gerbil", "--set", "prefixes=Q"),
        ("--profile", "neleval"),
        ("--profile", "elevant"),
        ("--set", "task=c2kb"),
        ("--set", "task=d2kb"),
    ],
)
def test_every_profile_and_task_has_a_report(karat_cli, tmp_path, how):
    page = pieces_in(report(karat_cli, tmp_path, "--gold", "demo", "demo", *QUICK, *how))
    assert page["leaderboard"]["tables"]
    kinds = {name.partition("/")[0] for name in page}
    assert ("cases" in kinds) == ("task=c2kb" not in how)
    for name, cases in page.items():
        if name.startswith("cases/"):
            assert len(cases["tracks"]) == 3


def test_other_reports_are_of_the_same_results(karat_cli, tmp_path):
    assert karat_cli("report", "--gold", "demo", "demo", "--to", "table").out == karat_cli("score", "demo", "demo").out


def test_an_archive_is_filled_without_a_file(karat_cli, tmp_path):
    done = karat_cli("report", "--gold", "demo", "demo/noisy", *QUICK, "--archive", tmp_path / "archive")
    assert done.code == 0, done.err
    assert re.search(r"/at/[0-9a-f]{32}/ of karat serve", done.out)
    done = karat_cli("report", "--gold", "demo", "demo", "--to", "md", "--archive", tmp_path / "archive")
    assert (done.code, "--archive has no effect without --to html" in done.err) == (2, True)


@pytest.mark.parametrize("layout", ["md", "markdown", "latex", "csv", "junit"])
def test_every_report_goes_to_a_file_or_the_terminal(karat_cli, tmp_path, layout):
    printed = karat_cli("report", "--gold", "demo", "demo/noisy", "--to", layout)
    assert karat_cli("report", "--gold", "demo", "demo/noisy", "--to", layout, "--out", tmp_path / "out").code == 0
    assert printed.out == (tmp_path / "out").read_text(encoding="utf-8")
