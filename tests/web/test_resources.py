"""What the client asks for: made by one function, and the same numbers as everywhere."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from functools import partial

import msgspec
import pytest

import karat
from karat.analysis.comparison.entries import entry_from_result, entry_from_run, load_entries
from karat.analysis.comparison.options import ComparisonOptions
from karat.cli.startup import prepare_process
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.kb.catalogue import open_starter
from karat.model.errors import UnknownNameError, UsageError
from karat.model.output.progress import allow_processes
from karat.storage.content_store import FolderStore, MemoryStore
from karat.web.archive import leaderboard
from karat.web.archive.archive import Archive
from karat.web.archive.cases import number_blocks
from karat.web.archive.leaderboard import _choose_tests
from karat.web.archive.resource import build_resource, list_resources
from karat.web.archive.submissions import ArchiveOptions, _start_scoring, add_results

RIGHT, WRONG_LINK, WRONG_SPAN, MISSED, SPURIOUS = range(5)


def asked(archive, name):
    return json.loads(build_resource(archive, name))


@pytest.fixture(scope="module")
def key(demo):
    return next(iter(demo.datasets))


@pytest.fixture(scope="module")
def cases(demo, key):
    return asked(demo, f"cases/{key}")


def test_every_piece_that_is_named_can_be_had(demo):
    for name in list_resources(demo):
        assert json.loads(build_resource(demo, name)), name


@pytest.mark.parametrize(
    "name", ["", "leaderboard/", "nothing", "cases", "cases/zz", "cases/000000000000", "../leaderboard", "texts"]
)
def test_no_other_name_is_a_piece(demo, name):
    with pytest.raises(UnknownNameError):
        build_resource(demo, name)


def test_scores_are_those_of_evaluate(demo, gold):
    board = asked(demo, "leaderboard")
    tables = {(table["profile"], table["measure"]): table for table in board["tables"]}
    for place, system in enumerate(board["systems"]):
        run = karat.load_run(f"demo/{system['name']}", corpus=gold)
        for profile in ("karat", "gerbil"):
            own = karat.evaluate(gold, run, profile=profile)
            value = tables[profile, "strong:micro.f1"]["value"][0][place]
            assert value == pytest.approx(own["strong:micro.f1"], abs=1e-5)


def test_scores_under_other_profiles_have_their_notes(demo):
    """The ids of the demo have no prefix of GERBIL's, so its scores say little; the page has to say so."""
    notes = asked(demo, "leaderboard")["notes"]
    assert notes
    for note in notes:
        assert any("any two match" in text for text in note["profile_notes"]["gerbil"])
        assert not set(note["profile_notes"]["gerbil"]) & set(note["notes"])


def test_ranks_are_those_of_compare(demo):
    board = asked(demo, "leaderboard")
    table = next(one for one in board["tables"] if (one["profile"], one["measure"]) == ("karat", "strong:micro.f1"))
    found = karat.compare("demo", ["demo"], permutations=2000, resamples=10).datasets[0].scores
    ranks = [found[system["name"]].rank for system in board["systems"]]
    assert [len(better) + 1 for better in table["better_systems"][0]] == ranks


def test_many_pairs_get_draws_that_survive_the_correction(demo, monkeypatch):
    """The default number is that of `compare`; if it is too small, it is the number that `compare` recommends."""
    default = ComparisonOptions().permutations
    assert _choose_tests(demo).permutations == default
    monkeypatch.setattr(leaderboard, "comb", lambda *_: 10 * default)
    monkeypatch.setattr(leaderboard, "_TESTS", 10 * default)
    options = _choose_tests(demo)
    assert options.permutation_warning(10 * default) is None
    assert options.permutations == 200 * default


def test_cases_add_up_to_the_scores(demo, cases):
    for track in cases["tracks"]:
        entry = next(own for own in demo.entries if own.system == demo_system(demo, track["system"]))
        counts = demo.read_result(entry).counts("strong")
        kinds = Counter(track["kind"])
        assert kinds[RIGHT] == counts.matched_gold
        assert kinds[WRONG_LINK] + kinds[WRONG_SPAN] + kinds[SPURIOUS] == counts.unmatched_predictions
        assert kinds[WRONG_LINK] + kinds[MISSED] == counts.unmatched_gold


def demo_system(demo, place):
    return asked(demo, "leaderboard")["systems"][place]["name"]


def test_flips_are_those_of_compare(demo, cases):
    found = karat.compare("demo", ["demo/prior", "demo/noisy"], permutations=100, resamples=10).flips[0]
    place = {
        system: number for number, system in enumerate(one["name"] for one in asked(demo, "leaderboard")["systems"])
    }
    right = {}
    for track in cases["tracks"]:
        kinds = zip(track["gold"], track["kind"], strict=True)
        right[track["system"]] = {mention for mention, kind in kinds if mention >= 0 and kind == RIGHT}
    one, two = right[place[found.system_a]], right[place[found.system_b]]
    assert (len(one - two), len(two - one), len(one & two)) == (found.only_a, found.only_b, found.both)


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
    data = b"".join(build_resource(archive, name) for name in list_resources(archive)).decode()
    assert not any(name.startswith("texts/") for name in list_resources(archive))
    words = {label.name for document in gold for label in document.labels}
    for document in gold:
        for label in document.labels:
            surface = document.text[label.start : label.end]
            if len(surface) > 8 and not any(surface in str(name) for name in words):
                assert f'"{surface}"' not in data
    assert '"surfaces":[""]' in data


def test_an_archive_in_a_folder_gives_the_same(tmp_path, demo_files, demo):
    folder = FolderStore.open_or_create(str(tmp_path / "archive"))
    for (kind, _), data in demo_files.files.items():
        folder.put(kind, data)
    there = Archive(FolderStore.open_or_create(str(tmp_path / "archive")))
    assert list(list_resources(there)) == list(list_resources(demo))
    assert all(build_resource(there, name) == build_resource(demo, name) for name in list_resources(demo))


def test_what_breaks_off_leaves_no_entry(gold):
    class BreakingStore(MemoryStore):
        def put(self, kind: str, data: bytes) -> str:
            if kind == "entries":
                raise KeyboardInterrupt
            return super().put(kind, data)

    files = BreakingStore()
    with pytest.raises(KeyboardInterrupt):
        add_results(files, load_entries(["demo/noisy"], ["demo"]))
    assert files.list_digests("results")
    assert files.list_digests("entries") == []
    assert files.list_digests("submissions") == []


@pytest.mark.parametrize("kb", ["starter", "tables"])
def test_entries_and_used_knowledge_bases_can_be_sent_to_other_processes(kb, tmp_path):
    """Else all of them would be scored in one, without a word."""
    (tmp_path / "entities.tsv").write_text("Q1\tAda\tQ5\n", encoding="utf-8")
    (entry,) = load_entries(["demo/noisy"], ["demo"])
    request = Request.from_options(kb=open_starter() if kb == "starter" else tmp_path, by=["error"])
    assert Evaluation.from_data(request, entry.corpus, entry.run).result["strong:micro.f1"]
    copy = pickle.loads(pickle.dumps(entry))
    assert (copy.corpus.digest, copy.run.digest, copy.run.skipped) == (
        entry.corpus.digest,
        entry.run.digest,
        entry.run.skipped,
    )
    start_scoring = partial(_start_scoring, request, ArchiveOptions())
    assert pickle.loads(pickle.dumps(start_scoring)).func is _start_scoring
    assert copy.run.locate_row(0) == f"document {entry.run.ids[0].as_py()!r}"


@pytest.mark.extras  # it takes long
def test_many_entries_are_scored_alike_in_other_processes():
    """Thirteen systems on the same dataset, more than one process scores at a time."""
    (entry,) = load_entries(["demo/noisy"], ["demo"])
    entries = [msgspec.structs.replace(entry, system=f"{number:02}") for number in range(13)]
    alone, together = MemoryStore(), MemoryStore()
    options = ArchiveOptions(resamples=10)
    add_results(alone, entries, None, options)
    with allow_processes(prepare_process):
        add_results(together, entries, None, options)
    for kind in ("entries", "results", "verdicts", "credits", "curves", "texts"):
        assert together.list_digests(kind) == alone.list_digests(kind), kind


def test_results_alone_have_a_board_and_errors(gold):
    result = karat.evaluate(gold, karat.load_run("demo/noisy", corpus=gold), by=["error"])
    files = MemoryStore()
    add_results(files, [entry_from_result(karat.Result.from_json(result.to_json()))])
    archive = Archive(files)
    assert list(list_resources(archive)) == ["errors", "leaderboard", "problems"]
    assert asked(archive, "errors")["counts"][0]["errors"]
    with pytest.raises(UsageError, match="the archive has results but no cases"):
        build_resource(archive, f"cases/{next(iter(archive.datasets))}")


def test_names_may_hold_anything(gold):
    from dataclasses import replace

    import msgspec

    hostile = "</script><img src=x onerror=alert(1)>"
    run = replace(karat.load_run("demo/noisy", corpus=gold), name=hostile)
    files = MemoryStore()
    add_results(
        files,
        [
            msgspec.structs.replace(
                next(iter(load_entries(["demo/noisy"], ["demo"]))), run=run, system=hostile, dataset=hostile
            )
        ],
    )
    archive = Archive(files, title=hostile)
    assert asked(archive, "leaderboard")["systems"][0]["name"] == hostile
    assert all(hostile not in name for name in list_resources(archive))


def test_texts_are_divided_into_pieces_of_similar_size():
    assert number_blocks([10, None, 300_000, 200_000, 1_000_000, 5]) == [0, -1, 0, 1, 2, 3]


def test_charts_are_drawn_or_say_why_not(demo, key):
    from karat.web.archive.resources.curves import CHARTS

    found = asked(demo, f"curves/{key}")
    drawn = {chart["name"]: chart for chart in found["charts"]}
    assert [*drawn, *(name for name, _ in found["missing_charts"])] == sorted(
        CHARTS, key=lambda name: (name not in drawn, [*CHARTS].index(name))
    )
    assert {"f1-over-threshold", "calibration", "relatedness"} <= drawn.keys()
    assert all(why for _, why in found["missing_charts"])
    for chart in drawn.values():
        assert all(0 <= y <= 1 for line in chart["lines"] for y in line["y"])
    for line in drawn["relatedness"]["lines"]:
        assert line["y"] == sorted(line["y"], reverse=True)
        assert line["y"][-1] == 0  # no relatedness is above 1, as in Figure 5 of BAT


def test_curves_over_categories_need_categories(tmp_path):
    files = MemoryStore()
    categories = ("form:Full", "pos:Singular", "overlap:None", "reference:Direct")
    docs = [
        karat.Document(f"d{n}", "Ada met Bo.", (karat.Label(0, 3, "Q1", categories=categories, difficulty=f"{n}-9"),))
        for n in range(3)
    ]
    gold = karat.Corpus.from_documents(docs, name="tiny")
    run = karat.Run.from_responses(
        [karat.Response(doc.id, (karat.Prediction(0, 3, "Q1"),)) for doc in docs], name="mine"
    )
    add_results(files, [entry_from_run(gold, run)])
    archive = Archive(files)
    charts = {chart["name"]: chart for chart in asked(archive, f"curves/{next(iter(archive.datasets))}")["charts"]}
    assert {"f1-over-alpha", "f1-over-categories", "difficulty"} <= charts.keys()
    assert charts["difficulty"]["ticks"] == ["0-9", "1-9", "2-9"]
    assert charts["difficulty"]["lines"][0]["y"] == [1, 1, 1]


def test_one_prediction_has_several_verdicts(demo, key, cases):
    found = asked(demo, f"credits/{key}")
    ways = {way["name"]: place for place, way in enumerate(found["rules"])}
    assert list(ways) == ["strict", "fair", "fuzzy", "related"]
    assert found["rules"][ways["fuzzy"]]["refusal"]
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
        return {label["name"]: label for label in asked(demo, f"groups/{key}")["facets"]}

    def test_scores_by_labels_are_those_of_evaluate(self, demo, gold, labels):
        systems = [system["name"] for system in asked(demo, "leaderboard")["systems"]]
        run = karat.load_run("demo/noisy", corpus=gold)
        found = karat.evaluate(gold, run, by=("types", "mention_type"))
        for name in ("types", "mention_type"):
            groups, label = found.groups[name]["strong"], labels[name]
            assert {value["name"] for value in label["values"]} >= groups.keys()
            for table in label["tables"]:
                for value, row in zip(label["values"], table["value"], strict=True):
                    own = groups[value["name"]].measures[table["measure"]]
                    assert row[systems.index("noisy")] == (None if own is None else pytest.approx(own, abs=1e-5))

    def test_cases_of_a_value_add_up_to_its_recall(self, cases, labels):
        for label in labels.values():
            recall = next(table["value"] for table in label["tables"] if table["measure"] == "micro.r")
            sizes = [value["gold"] for value in label["values"] if value["name"] not in ("none", "undecided")]
            assert sizes == sorted(sizes, reverse=True)
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
        corpus = karat.Corpus.from_documents(
            [karat.Document("a", "Berlin", (karat.Label(0, 6, "Q64", types=("Q43229",)),))]
        )
        files = MemoryStore()
        add_results(
            files,
            [
                entry_from_run(
                    corpus,
                    karat.Run.from_responses([karat.Response("a", (karat.Prediction(0, 6, "Q64"),))], name="one"),
                )
            ],
        )
        archive = Archive(files)
        (own,) = archive.datasets
        types, *others = asked(archive, f"groups/{own}")["facets"]
        assert [label["name"] for label in others] == ["mention_type", "rarity", "length", "difficulty"], (
            "what no mention has splits nothing"
        )
        assert [(value["name"], value["title"]) for value in types["values"]] == [("Q43229", "organization")]
        found = asked(archive, f"cases/{own}")
        assert (found["types"], found["names"]) == ([["organization"]], ["Berlin"])
        assert "Germany" in found["descriptions"][0]


def test_problems_are_those_that_predictions_solve(demo):
    found = asked(demo, "problems")
    by_name = {one["name"]: one for one in found["problems"]}
    board = asked(demo, "leaderboard")
    assert [board["systems"][place]["name"] for place in by_name["sa2kb"]["systems"]] == ["noisy", "prior"]
    assert by_name["a2kb"]["datasets"] == [0]
    names = [one["name"] for one in found["problems"]]
    assert [names.index("sa2kb"), names.index("a2kb")] in found["reductions"]


def test_what_was_added_at_once_is_there_at_once(tmp_path, demo_files):
    from karat.web.archive.submissions import score_entries, write_submission

    files = FolderStore.open_or_create(str(tmp_path / "archive"))
    one = score_entries(files, load_entries(["demo/noisy"], ["demo"]))
    assert Archive(files).all_entries == {}
    first = write_submission(files, one)
    second = add_results(files, load_entries(["demo/prior"], ["demo"]))
    assert {entry.system for entry in Archive(files).entries} == {"noisy", "prior"}
    assert [entry.system for entry in Archive(files, submission=first).entries] == ["noisy"]
    assert [entry.system for entry in Archive(files, submission=second).entries] == ["prior"]


@pytest.mark.extras
class TestAcross:
    """Questions across results, which DuckDB predictions."""

    def test_entities_are_counted_as_the_cases_are(self, demo, cases):
        found = asked(demo, "entities")
        gold = Counter()
        for track in cases["tracks"][:1]:
            for mention, kind in {(g, k) for g, k in zip(track["gold"], track["kind"], strict=True) if g >= 0}:
                if kind in (RIGHT, WRONG_LINK, MISSED) and cases["gold"]["entity"][mention] >= 0:
                    gold[cases["entities"][cases["gold"]["entity"][mention]]] += 1
        counted = {found["entities"][row["entity"]]: row["mentions"] for row in found["rows"] if row["mentions"]}
        assert counted == gold
        assert found["omitted"] == [0, 0, 0]

    def test_confusions_are_wrong_links(self, demo, cases):
        found = asked(demo, "entities")
        wrong = Counter(kind for track in cases["tracks"] for kind in track["kind"])[WRONG_LINK]
        assert sum(row["count"] for row in found["confusions"]) == wrong

    def test_a_folder_is_asked_as_memory_is(self, demo, demo_files, tmp_path):
        folder = FolderStore.open_or_create(str(tmp_path / "it's an archive"))
        for (kind, _), data in demo_files.files.items():
            folder.put(kind, data)
        assert asked(Archive(folder), "entities") == asked(demo, "entities")

    def test_surfaces_stay_hidden_with_the_texts(self, demo_files):
        from karat.web.archive.case_search import CaseQuery, search_cases

        hidden = Archive(demo_files, texts="none")
        assert asked(hidden, "entities")["surfaces"] == []
        assert search_cases(hidden, CaseQuery(surface="London")).total == 0
        assert all(case.surface == "" for case in search_cases(hidden, CaseQuery(entity="Q84")).cases)

    def test_a_search_finds_what_is_there(self, demo):
        from karat.web.archive.case_search import CaseQuery, search_cases

        assert search_cases(demo, CaseQuery(entity="Q84")).total == 3
        assert {case.kind for case in search_cases(demo, CaseQuery(kind="missed", limit=500)).cases} == {"missed"}
        every = search_cases(demo, CaseQuery(pattern="^lon.on$"))
        assert {case.surface for case in every.cases} == {"London"}
        assert search_cases(demo, CaseQuery(pattern="^lon.on$", limit=1, offset=1)).cases == every.cases[1:2]
        with pytest.raises(UsageError, match="RE2"):
            search_cases(demo, CaseQuery(pattern="("))
