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
from karat.comparison.entries import entries, entry_between, entry_of
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
    assert list(names(archive)) == ["board", "errors", "problems"]
    assert asked(archive, "errors")["counts"][0]["errors"]
    with pytest.raises(UsageError, match="results only"):
        piece(archive, f"cases/{next(iter(archive.datasets))}")


def test_names_may_hold_anything(gold):
    from dataclasses import replace

    import msgspec

    hostile = "</script><img src=x onerror=alert(1)>"
    run = replace(karat.load_run("demo/noisy", corpus=gold), name=hostile)
    files = InMemory()
    fill(
        files,
        [
            msgspec.structs.replace(
                next(iter(entries(["demo/noisy"], ["demo"]))), run=run, system=hostile, dataset=hostile
            )
        ],
    )
    archive = Archive(files, title=hostile)
    assert asked(archive, "board")["systems"][0]["name"] == hostile
    assert all(hostile not in name for name in names(archive))


def test_texts_are_divided_into_pieces_of_similar_size():
    assert block_numbers([10, None, 300_000, 200_000, 1_000_000, 5]) == [0, -1, 0, 1, 2, 3]


def test_charts_are_drawn_or_say_why_not(demo, key):
    from karat.archive.charts import CHARTS

    found = asked(demo, f"curves/{key}")
    drawn = {chart["name"]: chart for chart in found["charts"]}
    assert [*drawn, *(name for name, _ in found["missing"])] == sorted(
        CHARTS, key=lambda name: (name not in drawn, [*CHARTS].index(name))
    )
    assert {"f1-over-threshold", "calibration", "relatedness"} <= drawn.keys()
    assert all(why for _, why in found["missing"])
    for chart in drawn.values():
        assert all(0 <= y <= 1 for line in chart["lines"] for y in line["y"])
    for line in drawn["relatedness"]["lines"]:
        assert line["y"] == sorted(line["y"], reverse=True)
        assert line["y"][0] == 1


def test_curves_over_categories_need_categories(tmp_path):
    files = InMemory()
    categories = ("form:Full", "pos:Singular", "overlap:None", "reference:Direct")
    docs = [
        karat.Document(f"d{n}", "Ada met Bo.", (karat.Label(0, 3, "Q1", categories=categories, difficulty=f"{n}-9"),))
        for n in range(3)
    ]
    gold = karat.Corpus.of(docs, name="tiny")
    run = karat.Run.of([karat.Reply(doc.id, (karat.Answer(0, 3, "Q1"),)) for doc in docs], name="mine")
    fill(files, [entry_between(gold, run)])
    archive = Archive(files)
    charts = {chart["name"]: chart for chart in asked(archive, f"curves/{next(iter(archive.datasets))}")["charts"]}
    assert {"f1-over-alpha", "f1-over-categories", "difficulty"} <= charts.keys()
    assert charts["difficulty"]["ticks"] == ["0-9", "1-9", "2-9"]
    assert charts["difficulty"]["lines"][0]["y"] == [1, 1, 1]


def test_one_answer_has_several_verdicts(demo, key, cases):
    found = asked(demo, f"credits/{key}")
    ways = {way["name"]: place for place, way in enumerate(found["ways"])}
    assert list(ways) == ["strict", "fair", "fuzzy", "related"]
    assert found["ways"][ways["fuzzy"]]["refused"]
    for track, own in zip(found["tracks"], cases["tracks"], strict=True):
        assert track["system"] == own["system"]
        strict, fair, related = (track["credits"][ways[name]] for name in ("strict", "fair", "related"))
        assert len(strict) == len(own["kind"])
        for kind, start, credit, kinder in zip(own["kind"], own["start"], fair, related, strict=True):
            assert (kind == RIGHT and start >= 0) == (credit == 1)
            assert None in (credit, kinder) or kinder >= credit


class TestGroups:
    @pytest.fixture
    def labels(self, demo, key):
        return {label["name"]: label for label in asked(demo, f"groups/{key}")["labels"]}

    def test_scores_by_labels_are_those_of_evaluate(self, demo, gold, labels):
        systems = [system["name"] for system in asked(demo, "board")["systems"]]
        run = karat.load_run("demo/noisy", corpus=gold)
        found = karat.evaluate(gold, run, by=("types", "mention_type"))
        for name in ("types", "mention_type"):
            groups, label = found.by[name]["strong"], labels[name]
            assert {value["name"] for value in label["values"]} >= groups.keys()
            for table in label["tables"]:
                for value, row in zip(label["values"], table["value"], strict=True):
                    own = groups[value["name"]].measures[table["measure"]]
                    assert row[systems.index("noisy")] == (None if own is None else pytest.approx(own, abs=1e-5))

    def test_cases_of_a_value_add_up_to_its_recall(self, cases, labels):
        for label in labels.values():
            recall = next(table["value"] for table in label["tables"] if table["measure"] == "micro.r")
            assert [value["gold"] for value in label["values"] if value["name"] != "none"] == sorted(
                (value["gold"] for value in label["values"] if value["name"] != "none"), reverse=True
            )
            for track, own in zip(label["tracks"], cases["tracks"], strict=True):
                assert (track["system"], len(track["cases"])) == (own["system"], len(own["kind"]))
                counts = Counter(
                    (place, kind)
                    for code, kind, mention in zip(track["cases"], own["kind"], own["gold"], strict=True)
                    for place in label["combinations"][code]
                    if mention >= 0
                )
                for place, value in enumerate(label["values"]):
                    right, *missed = (counts[place, kind] for kind in (RIGHT, WRONG_LINK, MISSED))
                    every = right + sum(missed)  # of alternatives the one that was looked at counts
                    assert every <= value["gold"]
                    share = pytest.approx(right / every, abs=1e-5) if every else None
                    assert recall[place][track["system"]] == share

    def test_types_are_called_by_their_names(self):
        corpus = karat.Corpus.of([karat.Document("a", "Berlin", (karat.Label(0, 6, "Q64", types=("Q43229",)),))])
        files = InMemory()
        fill(files, [entry_between(corpus, karat.Run.of([karat.Reply("a", (karat.Answer(0, 6, "Q64"),))], name="one"))])
        archive = Archive(files)
        (own,) = archive.datasets
        types, *others = asked(archive, f"groups/{own}")["labels"]
        assert [label["name"] for label in others] == ["mention_type"], "what no mention has splits nothing"
        assert [(value["name"], value["title"]) for value in types["values"]] == [("Q43229", "organization")]
        found = asked(archive, f"cases/{own}")
        assert (found["types"], found["names"]) == ([["organization"]], ["Berlin"])
        assert "Germany" in found["descriptions"][0]


def test_problems_are_those_that_answers_solve(demo):
    found = asked(demo, "problems")
    by_name = {one["name"]: one for one in found["problems"]}
    board = asked(demo, "board")
    assert [board["systems"][place]["name"] for place in by_name["sa2kb"]["systems"]] == ["noisy", "prior"]
    assert by_name["a2kb"]["datasets"] == [0]
    names = [one["name"] for one in found["problems"]]
    assert [names.index("sa2kb"), names.index("a2kb")] in found["reductions"]


def test_what_was_added_at_once_is_there_at_once(tmp_path, demo_files):
    from karat.archive.making import add, filled

    files = InFolder.made(str(tmp_path / "archive"))
    one = filled(files, entries(["demo/noisy"], ["demo"]))
    assert Archive(files).every == {}
    first = add(files, one)
    second = fill(files, entries(["demo/prior"], ["demo"]))
    assert {entry.system for entry in Archive(files).entries} == {"noisy", "prior"}
    assert [entry.system for entry in Archive(files, at=first).entries] == ["noisy"]
    assert [entry.system for entry in Archive(files, at=second).entries] == ["prior"]


@pytest.mark.extras
class TestAcross:
    """Questions across results, which DuckDB answers."""

    def test_entities_are_counted_as_the_cases_are(self, demo, cases):
        found = asked(demo, "entities")
        gold = Counter()
        for track in cases["tracks"][:1]:
            for mention, kind in {(g, k) for g, k in zip(track["gold"], track["kind"], strict=True) if g >= 0}:
                if kind in (RIGHT, WRONG_LINK, MISSED) and cases["gold"]["entity"][mention] >= 0:
                    gold[cases["entities"][cases["gold"]["entity"][mention]]] += 1
        counted = {found["entities"][row["entity"]]: row["mentions"] for row in found["rows"] if row["mentions"]}
        assert counted == gold
        assert found["more"] == [0, 0, 0]

    def test_confusions_are_wrong_links(self, demo, cases):
        found = asked(demo, "entities")
        wrong = Counter(kind for track in cases["tracks"] for kind in track["kind"])[WRONG_LINK]
        assert sum(row["times"] for row in found["confusions"]) == wrong

    def test_a_folder_is_asked_as_memory_is(self, demo, demo_files, tmp_path):
        folder = InFolder.made(str(tmp_path / "it's an archive"))
        for (kind, _), data in demo_files.kept.items():
            folder.put(kind, data)
        assert asked(Archive(folder), "entities") == asked(demo, "entities")

    def test_surfaces_stay_hidden_with_the_texts(self, demo_files):
        from karat.archive.across import Wanted, found

        hidden = Archive(demo_files, texts="none")
        assert asked(hidden, "entities")["surfaces"] == []
        assert found(hidden, Wanted(surface="London")).total == 0
        assert all(case.surface == "" for case in found(hidden, Wanted(entity="Q84")).cases)

    def test_a_search_finds_what_is_there(self, demo):
        from karat.archive.across import Wanted, found

        assert found(demo, Wanted(entity="Q84")).total == 3
        assert {case.kind for case in found(demo, Wanted(kind="missed", limit=500)).cases} == {"missed"}
        every = found(demo, Wanted(find="^lon.on$"))
        assert {case.surface for case in every.cases} == {"London"}
        assert found(demo, Wanted(find="^lon.on$", limit=1, offset=1)).cases == every.cases[1:2]
        with pytest.raises(UsageError, match="RE2"):
            found(demo, Wanted(find="("))
