"""What the client asks for: made by one function, and the same numbers as everywhere."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import karat
from karat.archive.archive import Archive
from karat.archive.board import _draws
from karat.archive.cases import block_numbers
from karat.archive.making import fill
from karat.archive.pieces import names, piece
from karat.comparison.entries import entries, entry_of
from karat.errors import UnknownNameError, UsageError
from karat.storage.addressed import InFolder, InMemory

RIGHT, WRONG_LINK, WRONG_SPAN, MISSED, SPURIOUS = range(5)


def asked(archive, name):
    return json.loads(piece(archive, name))


@pytest.fixture(scope="module")
def key(demo):
    return next(iter(demo.datasets))


@pytest.fixture(scope="module")
def cases(demo, key):
    return asked(demo, f"cases/{key}")


def test_every_piece_that_is_named_can_be_had(demo):
    for name in names(demo):
        assert json.loads(piece(demo, name)), name


@pytest.mark.parametrize(
    "name", ["", "board/", "nothing", "cases", "cases/zz", "cases/000000000000", "../board", "texts"]
)
def test_no_other_name_is_a_piece(demo, name):
    with pytest.raises(UnknownNameError):
        piece(demo, name)


def test_scores_are_those_of_evaluate(demo, gold):
    board = asked(demo, "board")
    tables = {(table["profile"], table["measure"]): table for table in board["tables"]}
    for place, system in enumerate(board["systems"]):
        run = karat.load_run(f"demo/{system['name']}", corpus=gold)
        for like in ("karat", "gerbil"):
            own = karat.evaluate(gold, run, like=like)
            value = tables[like, "strong:micro.f1"]["value"][0][place]
            assert value == pytest.approx(own["strong:micro.f1"], abs=1e-5)


def test_ranks_are_those_of_compare(demo):
    board = asked(demo, "board")
    table = next(one for one in board["tables"] if (one["profile"], one["measure"]) == ("karat", "strong:micro.f1"))
    found = karat.compare(["demo"], gold="demo", permutations=2000, resamples=10).datasets[0].scores
    ranks = [found[system["name"]].rank for system in board["systems"]]
    assert [len(better) + 1 for better in table["better"][0]] == ranks


def test_many_pairs_get_draws_that_survive_the_correction(demo):
    results = {(f"d{n}", system): None for n in range(5) for system in "abcdefg"}
    draws = _draws(results)
    assert 105 / (draws + 1) < 0.05
    assert _draws({(f"d{n}", str(system)): None for n in range(9) for system in range(50)}) == 0


def test_cases_add_up_to_the_scores(demo, cases):
    for track in cases["tracks"]:
        entry = next(own for own in demo.entries if own.system == demo_system(demo, track["system"]))
        counts = demo.result(entry).counts("strong")
        kinds = Counter(track["kind"])
        assert kinds[RIGHT] == counts.matched_gold
        assert kinds[WRONG_LINK] + kinds[WRONG_SPAN] + kinds[SPURIOUS] == counts.unmatched_answers
        assert kinds[WRONG_LINK] + kinds[MISSED] == counts.unmatched_gold


def demo_system(demo, place):
    return asked(demo, "board")["systems"][place]["name"]


def test_flips_are_those_of_compare(demo, cases):
    found = karat.compare(["demo/prior", "demo/noisy"], gold="demo", permutations=100, resamples=10).flips[0]
    place = {system: number for number, system in enumerate(one["name"] for one in asked(demo, "board")["systems"])}
    right = {}
    for track in cases["tracks"]:
        kinds = zip(track["gold"], track["kind"], strict=True)
        right[track["system"]] = {mention for mention, kind in kinds if mention >= 0 and kind == RIGHT}
    one, two = right[place[found.one]], right[place[found.two]]
    assert (len(one - two), len(two - one), len(one & two)) == (found.only_one, found.only_two, found.both)


def test_errors_are_as_many_as_their_cases(demo, key, cases):
    errors = asked(demo, "errors")
    for track in cases["tracks"]:
        own = next(one for one in errors["counts"] if one["system"] == track["system"])
        found = Counter(place for code in track["errors"] for place in cases["combinations"][code])
        for place, count in enumerate(own["errors"]):
            assert found[place] == (count or 0), cases["categories"][place]


def test_surfaces_are_cut_from_the_texts(demo, key, cases):
    texts = asked(demo, f"texts/{key}/0")["documents"]
    own = {one["document"]: one["stretches"][0][1] for one in texts}
    mentions = cases["gold"]
    for document, start, end, surface in zip(
        mentions["document"], mentions["start"], mentions["end"], mentions["surface"], strict=True
    ):
        assert own[document][start:end] == cases["surfaces"][surface]


def test_sentences_hold_every_mention_and_less_than_everything(demo_files, key, cases):
    archive = Archive(demo_files, "sentences")
    shown = {one["document"]: one["stretches"] for one in asked(archive, f"texts/{key}/0")["documents"]}
    for document, start, end in zip(*(cases["gold"][name] for name in ("document", "start", "end")), strict=True):
        assert any(low <= start and end <= low + len(text) for low, text in shown[document])


def test_without_texts_no_text_is_in_any_piece(demo_files, gold):
    archive = Archive(demo_files, "none")
    data = b"".join(piece(archive, name) for name in names(archive)).decode()
    assert not any(name.startswith("texts/") for name in names(archive))
    words = {label.name for document in gold for label in document.labels}
    for document in gold:
        for label in document.labels:
            surface = document.text[label.start : label.end]
            if len(surface) > 8 and not any(surface in str(name) for name in words):
                assert f'"{surface}"' not in data
    assert '"surfaces":[""]' in data


def test_an_archive_in_a_folder_gives_the_same(tmp_path, demo_files, demo):
    folder = InFolder.made(str(tmp_path / "archive"))
    for (kind, _), data in demo_files.kept.items():
        folder.put(kind, data)
    there = Archive(InFolder.made(str(tmp_path / "archive")))
    assert list(names(there)) == list(names(demo))
    assert all(piece(there, name) == piece(demo, name) for name in names(demo))


def test_what_breaks_off_leaves_no_entry(gold):
    def broken():
        yield from entries(["demo/noisy"], ["demo"])
        raise KeyboardInterrupt

    files = InMemory()
    with pytest.raises(KeyboardInterrupt):
        fill(files, broken())
    assert files.digests("results")
    assert files.digests("entries") == []


def test_results_alone_have_a_board_and_errors(gold):
    result = karat.evaluate(gold, karat.load_run("demo/noisy", corpus=gold), by=["error"])
    files = InMemory()
    fill(files, [entry_of(karat.Result.from_json(result.to_json()))])
    archive = Archive(files)
    assert list(names(archive)) == ["board", "errors"]
    assert asked(archive, "errors")["counts"][0]["errors"]
    with pytest.raises(UsageError, match="results only"):
        piece(archive, f"cases/{next(iter(archive.datasets))}")


def test_names_may_hold_anything(gold):
    from dataclasses import replace

    hostile = "</script><img src=x onerror=alert(1)>"
    run = replace(karat.load_run("demo/noisy", corpus=gold), name=hostile)
    files = InMemory()
    fill(files, [replace(next(iter(entries(["demo/noisy"], ["demo"]))), run=run, system=hostile, dataset=hostile)])
    archive = Archive(files, title=hostile)
    assert asked(archive, "board")["systems"][0]["name"] == hostile
    assert all(hostile not in name for name in names(archive))


def test_texts_are_divided_into_pieces_of_similar_size():
    assert block_numbers([10, None, 300_000, 200_000, 1_000_000, 5]) == [0, -1, 0, 1, 2, 3]
