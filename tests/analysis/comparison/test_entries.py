"""Systems and datasets from files: names, runtimes, several gold standards."""

from __future__ import annotations

import json
import re

import pytest

import karat
from karat.analysis.comparison.compare import compare
from karat.analysis.comparison.entries import (
    describe_separate_systems,
    disambiguate_names,
    entry_from_result,
    entry_from_run,
    load_entries,
)
from karat.analysis.comparison.options import ComparisonOptions
from karat.data.load import parse_system_argument
from karat.model.errors import InputError, UsageError
from karat.model.results.usage import UsageSum
from karat.plugins.reports.table import render_table
from karat.render.comparison import render_page, to_table
from tests.analysis.comparison import contest

QUICK = ComparisonOptions(resamples=10, permutations=20)


def told(*files, golds=()):
    return sorted((entry.system, entry.dataset) for entry in load_entries([*map(str, files)], [*map(str, golds)]))


@pytest.fixture
def linked(tmp_path):
    """Two systems on two benchmarks, in ELEVANT's files."""
    for system in ("one", "two"):
        for benchmark in ("bay", "fjord"):
            label = {"id": 1, "span": [0, 3], "entity_id": "Q1", "name": "Ann", "type": "OTHER"}
            mention = {"span": [0, 3], "id": "Q1" if system == "one" else "Q2", "linked_by": system, "candidates": []}
            article = {"id": 0, "title": "", "text": f"Ann in {benchmark}.", "labels": [label]}
            path = tmp_path / f"{system}.{benchmark}.linked_articles.jsonl"
            path.write_text(json.dumps({**article, "entity_mentions": [mention]}) + "\n", encoding="utf-8")
    return tmp_path


def metadata(folder, name, **said):
    (folder / f"{name}.metadata.json").write_text(json.dumps(said), encoding="utf-8")


def test_file_names_say_who_and_where(linked):
    assert told(*linked.iterdir()) == [("one", "bay"), ("one", "fjord"), ("two", "bay"), ("two", "fjord")]


def test_metadata_beside_a_file_say_what_it_took(linked):
    metadata(linked, "one.bay", experiment_name="One (large)", linking_time=0.5, timestamp="2024")
    metadata(linked, "two.bay", experiment_name="Two", linking_time=None)
    files = sorted(map(str, linked.glob("*.bay.linked_articles.jsonl")))
    one, two = load_entries(files)
    assert (one.title, two.title) == ("One (large)", "Two")
    found = compare([one, two], options=QUICK)
    assert found.titles == {"one": "One (large)", "two": "Two"}
    assert found.usage["seconds"].means == {"one": 0.5}  # of one document
    assert found.usage["seconds"].excluded == {"two": "unknown runtime"}


def test_metadata_that_are_none_are_refused(linked):
    (linked / "one.bay.metadata.json").write_text("[1", encoding="utf-8")
    with pytest.raises(InputError, match=r"one\.bay\.metadata\.json: found invalid metadata"):
        list(load_entries([str(linked / "one.bay.linked_articles.jsonl")]))


def test_times_are_compared_on_datasets_that_have_all_of_them():
    """Keen: 2 and 6 seconds for two documents each; dull is timed on bay only, so that bay decides."""
    bay, fjord = contest.corpus("bay", 1, 1), contest.corpus("fjord", 1, 1)
    keen, dull = contest.run("keen", "+", "+"), contest.run("dull", "+", "x")
    given = [
        contest.entry(bay, keen, seconds=2.0),
        contest.entry(fjord, keen, seconds=6.0),
        contest.entry(bay, dull, seconds=1.0),
        contest.entry(fjord, dull),
    ]
    own = compare(given, options=QUICK).usage["seconds"]
    assert own.means == {"dull": 0.5, "keen": 1.0}
    assert (own.datasets, own.documents) == (("bay",), 2)
    none = compare([*given[1:3], contest.entry(bay, keen), given[3]], options=QUICK).usage["seconds"]
    assert none.means == {}
    assert set(none.excluded.values()) == {"no dataset has the runtime of all systems"}


def test_responses_or_the_manifest_say_what_they_took(tmp_path):
    data = contest.corpus("bay", 1, 1)
    karat.save(data, tmp_path / "bay.jsonl")
    karat.save(contest.run("one", "+", "+", seconds=1.5), tmp_path / "one.jsonl")
    karat.save(karat.Run.from_responses([contest.response(0, "+")], name="two", seconds="4"), tmp_path / "two.jsonl")
    karat.save(karat.Run.from_responses([contest.response(0, "+")], name="bad", seconds="long"), tmp_path / "bad.jsonl")
    files = [str(tmp_path / f"{name}.jsonl") for name in ("one", "two", "bad")]
    found = compare(load_entries(files[:2], [str(tmp_path / "bay.jsonl")]), options=QUICK)
    assert {name: score.seconds for name, score in found.datasets[0].scores.items()} == {"one": 3.0, "two": 4.0}
    with pytest.raises(InputError, match="seconds: 'long'"):
        compare(load_entries(files, [str(tmp_path / "bay.jsonl")]), options=QUICK)


def test_predictions_find_their_gold_standard_by_documents(tmp_path):
    for name, ids in (("bay", "ab"), ("fjord", "cd")):
        documents = [karat.Document(id_, f"{name} {id_}") for id_ in ids]
        karat.save(karat.Corpus.from_documents(documents, name=name), tmp_path / f"{name}.jsonl")
        for system in ("one", "two"):
            karat.save(
                karat.Run.from_responses([karat.Response(id_) for id_ in ids], name=system),
                tmp_path / f"{system}-{name}.jsonl",
            )
    golds = [tmp_path / "bay.jsonl", tmp_path / "fjord.jsonl"]
    files = sorted(tmp_path.glob("*-*.jsonl"))
    assert told(*files, golds=golds) == [("one", "bay"), ("one", "fjord"), ("two", "bay"), ("two", "fjord")]
    karat.save(karat.Run.from_responses([karat.Response("z")], name="lost"), tmp_path / "lost.jsonl")
    with pytest.raises(UsageError, match="documents of none of bay, fjord"):
        told(*files, tmp_path / "lost.jsonl", golds=golds)
    karat.save(
        karat.Run.from_responses([karat.Response("a"), karat.Response("c")], name="lost"), tmp_path / "lost.jsonl"
    )
    with pytest.raises(UsageError, match="documents in several of bay, fjord"):
        told(tmp_path / "lost.jsonl", golds=golds)
    with pytest.raises(UsageError, match="have the same name"):
        told(*files, golds=[golds[0], golds[0]])


def test_predictions_of_numbered_documents_belong_to_the_dataset_that_they_name(tmp_path):
    """Both datasets number their documents from 0: the manifest decides, or else the file name."""
    for name in ("bay", "fjord"):
        corpus = karat.Corpus.from_documents([karat.Document("0", f"Ann in {name}.")], name=name)
        karat.save(corpus, tmp_path / f"{name}.jsonl")
        responses = [karat.Response("0")]
        ran = karat.Run.from_responses(responses, name="ran", corpus=f"{name}@{corpus.digest}")
        (tmp_path / name).mkdir()
        karat.save(ran, tmp_path / name / "ran.jsonl")
        (tmp_path / f"plain-{name}.jsonl").write_text('{"id": "0", "predictions": []}\n', encoding="utf-8")
        (tmp_path / name / "mute.jsonl").write_text('{"id": "0", "predictions": []}\n', encoding="utf-8")
    golds = [tmp_path / "bay.jsonl", tmp_path / "fjord.jsonl"]
    files = [*tmp_path.glob("*/ran.jsonl"), *tmp_path.glob("plain-*.jsonl"), f"titled={tmp_path / 'plain-bay.jsonl'}"]
    pairs = [(system, dataset) for system in ("plain", "ran") for dataset in ("bay", "fjord")]
    assert told(*files, golds=golds) == [*pairs, ("titled", "bay")]
    with pytest.raises(UsageError, match=r"several of bay, fjord\. End its file name with its dataset"):
        told(tmp_path / "bay" / "mute.jsonl", golds=golds)


def test_file_names_of_several_datasets_may_end_with_the_dataset(tmp_path):
    """Files have no header. One that is only the dataset, or in which nothing separates it, keeps its name."""
    for name, document in (("Bay", "a"), ("fjord", "b")):
        corpus = karat.Corpus.from_documents([karat.Document(f"http://ex.org/{document}", "x")], name=name)
        karat.save(corpus, tmp_path / f"{name}.ttl")
        for file in (f"rel_{name.lower()}", f"my-el.v2_{name}", f"x{name}", f"_{name}"):
            karat.save(
                karat.Run.from_responses([karat.Response(f"http://ex.org/{document}")]), tmp_path / f"{file}.ttl"
            )
    golds = [str(tmp_path / "Bay.ttl"), str(tmp_path / "fjord.ttl")]
    files = [str(path) for path in sorted(tmp_path.glob("*.ttl")) if str(path) not in golds]
    entries = list(load_entries(files, golds))
    assert sorted((entry.system, entry.dataset) for entry in entries) == [
        ("_Bay", "Bay"), ("_fjord", "fjord"), ("my-el", "Bay"), ("my-el", "fjord"),
        ("rel", "Bay"), ("rel", "fjord"), ("xBay", "Bay"), ("xfjord", "fjord"),
    ]  # fmt: skip
    assert not describe_separate_systems(entries)
    separate = [entry for entry in entries if entry.system.startswith("x")]
    assert describe_separate_systems(separate).startswith("no system has predictions for two datasets.")
    assert not describe_separate_systems(separate[:1])


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["m/kore50.rel.jsonl.gz", "m/kore50.refined.jsonl.gz"], ["rel", "refined"]),
        (["a/x/run.jsonl", "b/run.jsonl"], ["a/x", "b"]),
        (["run.jsonl", "run.v2.jsonl"], ["run.jsonl", "run.v2.jsonl"]),  # nothing is left of the first path
        (["run.jsonl", "run.jsonl"], ["run.jsonl", "run.jsonl"]),
        (["a/other.jsonl", "b/other.jsonl", "c.jsonl"], ["a/other.jsonl", "b/other.jsonl", "a"]),  # `a` is taken
    ],
)
def test_systems_of_one_name_have_what_differs_in_their_paths(paths, names):
    systems = ["other" if "other" in path else "a" if path == "c.jsonl" else "run" for path in paths]
    runs = [contest.run(name, "+") for name in systems]
    assert [run.name for run in disambiguate_names(runs, paths)] == names


def test_texts_decide_between_gold_standards_with_the_same_ids(tmp_path):
    """Both datasets have a document 0, and the file says in which text its predictions are."""
    for name in ("bay", "fjord"):
        article = {"id": 0, "text": f"{name} is far", "labels": [{"id": 0, "span": [0, 3], "entity_id": "Q1"}]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(article) + "\n", encoding="utf-8")
        mention = {"span": [0, 3], "id": "Q1", "linked_by": "REL"}
        path = tmp_path / f"{name}.rel.jsonl"
        path.write_text(json.dumps({**article, "entity_mentions": [mention]}) + "\n", encoding="utf-8")
    files = [tmp_path / f"{name}.rel.jsonl" for name in ("bay", "fjord")]
    golds = [tmp_path / "fjord.jsonl", tmp_path / "bay.jsonl"]
    assert sorted(dataset for _, dataset in told(*files, golds=golds)) == ["bay", "fjord"]
    # Without gold standards, the linker that the files state tells systems from datasets.
    assert told(*files) == [("REL", "bay"), ("REL", "fjord")]


def test_a_system_may_be_given_another_name(linked, tmp_path):
    path = linked / "one.bay.linked_articles.jsonl"
    assert told(f"mine={path}") == [("mine", "bay")]
    assert parse_system_argument("a=b=c.jsonl") == ("a", "b=c.jsonl")
    odd = tmp_path / "a=b.jsonl"
    odd.touch()
    assert parse_system_argument(str(odd)) == (None, str(odd))  # a file is a file
    result = karat.evaluate(karat.load("demo"), karat.load_run("demo/prior"))
    karat.save(result, tmp_path / "r.json")
    assert told(f"mine={tmp_path / 'r.json'}") == [("mine", "demo")]
    assert told("mine=demo/prior", "demo/noisy", golds=["demo"]) == [("mine", "demo"), ("noisy", "demo")]


def test_results_may_stand_on_lines_or_be_laid_out(tmp_path):
    data = karat.load("demo")
    results = [karat.evaluate(data, karat.load_run(f"demo/{name}")) for name in ("prior", "noisy")]
    lines = tmp_path / "lines.json"
    lines.write_bytes(b"".join(result.to_json() + b"\n" for result in results))
    wide = tmp_path / "wide.json"
    wide.write_text(json.dumps(json.loads(results[0].to_json()), indent=2), encoding="utf-8")
    assert told(lines) == [("noisy", "demo"), ("prior", "demo")]
    assert told(wide) == [("prior", "demo")]
    broken = tmp_path / "broken.json"
    broken.write_bytes(lines.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"broken\.json:2: found an invalid result file"):
        told(broken)


def test_what_holds_no_more_than_predictions_is_said(tmp_path):
    karat.save(contest.run("one", "+"), tmp_path / "one.jsonl")
    with pytest.raises(UsageError, match="does not contain both gold labels and predictions"):
        told(tmp_path / "one.jsonl")
    with pytest.raises(InputError, match="found no such file"):
        told(tmp_path / "none.jsonl")
    with pytest.raises(UsageError, match="can be read only once"):
        told("-", "-")


def timed_run(name: str, *seconds: float | None):
    """Predictions to documents of one mention each, with the seconds of each; None is a document that failed."""
    responses = [
        contest.response(number, "+", seconds=value)
        if value is not None
        else karat.Response(f"d{number:02}", error="no")
        for number, value in enumerate(seconds)
    ]
    return karat.Run.from_responses(responses, name=name)


def test_a_failed_document_is_left_out_of_the_runtimes_of_all_systems():
    """Documents 1 and 2 have times of both: fast 1 and 3 seconds, failing 5 and 7."""
    bay = contest.corpus("bay", 1, 1, 1)
    runs = [timed_run("fast", 9.0, 1.0, 3.0), timed_run("failing", None, 5.0, 7.0)]
    comparison = compare([entry_from_run(bay, run) for run in runs], options=QUICK)
    runtimes = comparison.usage["seconds"]
    assert runtimes.means == {"fast": 2.0, "failing": 6.0}
    assert (runtimes.documents, runtimes.missing_documents, runtimes.excluded) == (2, 1, {})
    assert "runtime of the 2 of 3 documents that all systems state" in render_page(comparison, None, details=False)


def test_times_that_were_measured_in_different_ways_are_named():
    """All take 1 second, but four documents of busy were processed at once, and odd states nothing."""
    bay = contest.corpus("bay", 1, 1)

    def make_entry(name, **metadata):
        return entry_from_run(bay, karat.Run.from_responses(list(timed_run(name, 1.0, 1.0)), name=name, **metadata))

    calm, busy = make_entry("calm", times="local call"), make_entry("busy", times="local call, 4 documents at once")
    comparison = compare([calm, busy, make_entry("odd")], options=QUICK)
    assert comparison.usage["seconds"].clock_difference == (
        "runtimes do not compare, as they were measured differently: busy: local call, 4 documents at once; "
        "calm: local call; odd: not stated"
    )
    assert comparison.usage["seconds"].clock_difference in render_page(comparison, None, details=False)
    alike = compare([calm, make_entry("even", times="local call")], options=QUICK).usage["seconds"]
    assert (alike.clocks, alike.clock_difference) == ({"calm": "local call", "even": "local call"}, "")


def test_a_system_with_untimed_documents_is_not_compared_with_one_that_states_a_total():
    bay = contest.corpus("bay", 1, 1, 1)
    total = contest.entry(bay, contest.run("total", "+", "+", "+"), seconds=3.0)
    runs = [timed_run("fast", 9.0, 1.0, 3.5), timed_run("failing", None, 5.0, 7.0)]
    runtimes = compare([total, *(entry_from_run(bay, run) for run in runs)], options=QUICK).usage["seconds"]
    assert runtimes.means == {"total": 1.0, "fast": 4.5}
    reason = "some documents lack the runtime, and only the sum of a system is known"
    assert runtimes.excluded == {"failing": reason}


def test_a_file_that_begins_with_its_dataset_is_named_by_the_rest(tmp_path):
    gold, predictions = tmp_path / "bay.gold.jsonl", tmp_path / "bay.one.jsonl"
    document = {"id": "d", "text": "Ann"}
    gold.write_text(json.dumps({**document, "labels": []}), encoding="utf-8")
    predictions.write_text(json.dumps({"id": "d", "predictions": []}), encoding="utf-8")
    assert told(predictions, golds=[gold]) == [("one", "bay")]
    assert karat.evaluate(str(gold), str(predictions)).run == "one"
    assert karat.load_run(predictions, corpus=karat.load(gold)).name == "one"
    assert told(f"bay={predictions}", golds=[gold]) == [("bay", "bay")]


def paid_run(name: str, *costs: float | None):
    """Predictions to documents of one mention each, with 100 tokens and the cost of each, if it is known."""
    responses = [contest.response(number, "+", tokens=100, cost=cost) for number, cost in enumerate(costs)]
    return karat.Run.from_responses(responses, name=name)


def test_result_files_keep_what_systems_used():
    """Dear costs 0.01 + 0.03 for two documents, so 20 for 1,000; the cost of one document of odd is unknown."""
    bay = contest.corpus("bay", 1, 1)
    results = [karat.evaluate(bay, run) for run in (paid_run("dear", 0.01, 0.03), paid_run("odd", 0.5, None))]
    assert results[0].usage == {"tokens": UsageSum(200, 2), "cost": UsageSum(0.04, 2)}
    assert results[1].usage["cost"] == UsageSum(0.5, 1)
    stored = [karat.Result.from_json(result.to_json()) for result in results]
    assert [result.usage for result in stored] == [result.usage for result in results]
    comparison = compare([entry_from_result(result) for result in stored], options=QUICK)
    assert comparison.usage["tokens"].means == {"dear": 100, "odd": 100}
    assert comparison.usage["cost"].means == {"dear": 0.02}
    assert set(comparison.usage) == {"tokens", "cost"}
    page = render_page(comparison, None, details=False)
    assert re.search(
        r"mean over bay +tokens per document +cost per 1,000 documents\ndear +100 +20\nodd +100 +–\n", page
    )
    assert "without cost: odd (some documents lack the cost, and only the sum of a system is known)" in page
    columns = to_table(comparison).to_pydict()
    assert [columns[name][columns["system"].index("dear")] for name in ("tokens", "cost")] == [200, 0.04]


def test_only_scored_documents_count_in_what_a_system_used():
    bay = contest.corpus("bay", 1, 1)
    result = karat.evaluate(bay, paid_run("dear", 0.25, 0.5, 8.0), allow_unknown=True)
    assert result.usage == {"tokens": UsageSum(200, 2), "cost": UsageSum(0.75, 2)}
    assert "dear used 200 tokens, cost 0.75" in render_table([result])
