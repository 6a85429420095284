"""`karat gate`: closed only where the interval says so."""

from __future__ import annotations

import json

import msgspec
import pytest

import karat
from karat.analysis.comparison.entries import entry_from_run
from karat.analysis.comparison.gate import check_gate
from karat.model.errors import UsageError
from karat.render.gate import render_page


def versions(old_right, new_right, documents=40):
    """A corpus of one mention per document, and two runs that get so many of them."""
    docs = [karat.Document(f"d{n:02d}", "Ada was here.", (karat.Label(0, 3, "Q1"),)) for n in range(documents)]
    corpus = karat.Corpus.from_documents(docs, name="tiny")

    def run(right):
        links = ["Q1" if n < right else "Q2" for n in range(documents)]
        responses = [
            karat.Response(doc.id, (karat.Prediction(0, 3, link),)) for doc, link in zip(docs, links, strict=True)
        ]
        return entry_from_run(corpus, karat.Run.from_responses(responses, name="system"))

    return [run(new_right)], [run(old_right)]


def test_a_sure_drop_closes():
    found = check_gate(*versions(36, 10), max_drop=0.1)
    (own,) = found.datasets
    assert not found.is_passed
    assert (own.old, own.new, own.state) == (0.9, 0.25, "dropped")
    assert own.high < -0.1
    assert own.difference == pytest.approx(-0.65)


def test_a_drop_that_chance_explains_passes_and_is_said():
    found = check_gate(*versions(36, 35), max_drop=0.0)
    assert found.is_passed
    assert found.datasets[0].state == "inconclusive"


def test_what_may_be_lost_may_be_lost():
    found = check_gate(*versions(36, 30), max_drop=0.5)
    assert found.is_passed
    assert found.datasets[0].state == "passed"


def test_a_gain_passes():
    found = check_gate(*versions(10, 36))
    assert found.is_passed
    assert len(found.get_gained_mentions()) == 26
    assert found.get_lost_mentions() == ()


@pytest.mark.parametrize(("old_right", "new_right", "title", "wrong"), [(9, 8, "Lost", "new"), (8, 9, "Won", "old")])
def test_the_table_of_flips_names_the_version_whose_prediction_it_shows(old_right, new_right, title, wrong):
    page = render_page(check_gate(*versions(old_right, new_right)))
    head, row = page.partition(f"{title}: 1 mention\n\n")[2].splitlines()[:2]
    assert head.split("  ")[-1].strip() == f"predicted by {wrong}"
    assert " Q1 " in row
    assert row.rstrip().endswith("(Q2)")


def test_one_document_tells_nothing():
    found = check_gate(*versions(1, 0, documents=1))
    assert not found.is_passed
    assert found.datasets[0].state == "untested"
    assert found.datasets[0].reason
    page = render_page(found)
    assert page.startswith("Gate closed: strong:micro.f1 cannot be tested on tiny; --allow-untested passes it")
    assert check_gate(*versions(1, 0, documents=1), allow_untested=True).is_passed


def test_flips_say_who_got_what():
    found = check_gate(*versions(3, 2, documents=4))
    (flip,) = found.flips
    assert (flip.document, flip.text, flip.gold, flip.correct_version, flip.wrong_link) == (
        "d02",
        "Ada",
        "Q1",
        "old",
        "Q2",
    )


@pytest.mark.parametrize(
    "asked", [{"max_drop": -0.1}, {"max_drop": 1}, {"max_drop": 5}, {"confidence": 1.0}, {"confidence": 0.2}]
)
def test_what_makes_no_sense_is_refused(asked):
    with pytest.raises(UsageError):
        check_gate(*versions(3, 2), **asked)


def test_the_command_fails_and_writes(karat_cli, tmp_path):
    out = tmp_path / "gate.json"
    arguments = ("--baseline", "demo/perfect", "--gold", "demo", "--max-drop", "0.02", "--resamples", "100")
    done = karat_cli("gate", "demo/prior", *arguments, "--markdown", "--json", out)
    assert done.code == 1
    assert done.out.startswith("## Gate closed")
    assert "<summary>Lost: " in done.out
    assert json.loads(out.read_bytes())["passed"] is False
    assert karat_cli("gate", "demo/prior", "--baseline", "demo/prior", "--gold", "demo").code == 0


def test_results_have_a_gate_but_no_flips(karat_cli, tmp_path):
    for name in ("perfect", "noisy"):
        assert karat_cli("score", "demo", f"demo/{name}", "--json", tmp_path / f"{name}.json").code == 0
    done = karat_cli("gate", tmp_path / "noisy.json", "--baseline", tmp_path / "perfect.json")
    assert done.code == 1
    assert "result files: pass the gold file and the predictions" in " ".join(done.out.split())


def test_a_drop_of_one_is_a_point_or_all(karat_cli):
    arguments = ("gate", "demo/prior", "--baseline", "demo/perfect", "--gold", "demo", "--max-drop")
    refused = karat_cli(*arguments, "1")
    assert refused.code == 2
    assert "1 percentage point or a share" in refused.err
    assert "0.01 is 1 percentage point." in refused.err
    assert "0.025 is 2.5 percentage points." in karat_cli(*arguments, "2.5").err
    assert karat_cli(*arguments, "0.99").code == 0


def test_a_rise_of_an_error_rate_is_a_drop():
    worse = check_gate(*versions(36, 10), max_drop=0.1, measure="strong:micro.error-rate")
    assert worse.lower_is_better
    assert not worse.is_passed
    assert worse.datasets[0].difference > 0
    page = render_page(worse)
    assert "strong:micro.error-rate rose by more than 10 points on tiny" in page
    assert page.splitlines()[3].endswith("rose")
    better = check_gate(*versions(10, 36), max_drop=0.1, measure="strong:micro.error-rate")
    assert better.is_passed
    assert better.datasets[0].state == "passed"


def test_documents_without_predictions_are_counted(karat_cli, tmp_path):
    """A file that was cut off may pass on the rest, so the gate says what is missing."""
    lines = karat.load("demo"), karat.load_run("demo/prior")
    responses = list(lines[1])[:-2]
    karat.save(karat.Run.from_responses(responses, name="cut"), tmp_path / "cut.jsonl")
    arguments = ("gate", tmp_path / "cut.jsonl", "--baseline", "demo/prior", "--gold", "demo")
    ran = karat_cli(*arguments, "--json", tmp_path / "gate.json")
    note = "new on demo: documents without predictions: 2"
    assert note in ran.out
    assert note in json.loads((tmp_path / "gate.json").read_text(encoding="utf-8"))["notes"]


def test_a_result_file_beside_predictions_is_named_as_such(karat_cli, tmp_path):
    assert karat_cli("score", "demo", "demo/prior", "--json", tmp_path / "old.json").code == 0
    ran = karat_cli("gate", "demo/prior", "--baseline", tmp_path / "old.json", "--gold", "demo")
    assert ran.code == 2
    assert "old.json: found a result file, which contains scores and no predictions" in ran.err
    assert (
        "karat compare, report and gate also read result files of all systems, without a gold standard (--gold)"
        in ran.err
    )
    assert "found a result file" in karat_cli("compare", "demo/prior", tmp_path / "old.json", "--gold", "demo").err


def test_equal_versions_hold_without_a_reason():
    (change,) = check_gate(*versions(30, 30)).datasets
    assert (change.state, change.low, change.high, change.reason) == ("passed", 0.0, 0.0, None)


def with_failures(count):
    """Both versions get all mentions, but the new one failed on so many of 40 documents."""
    (new,), old = versions(40, 40)
    responses = [
        karat.Response(response.id, error="time-out") if n < count else response for n, response in enumerate(new.run)
    ]
    return [entry_from_run(new.corpus, karat.Run.from_responses(responses, name="system"))], old


def test_more_failed_documents_than_allowed_close_the_gate():
    allowed = check_gate(*with_failures(2), max_drop=0.5, max_failed=2)
    assert allowed.is_passed
    assert allowed.datasets[0].failed == 2
    assert check_gate(*with_failures(2), max_drop=0.5).is_passed, "without a limit"
    closed = check_gate(*with_failures(2), max_drop=0.5, max_failed=1)
    assert not closed.is_passed
    assert closed.datasets[0].state == "passed", "the score did not drop by more than 50 points"
    assert "Gate closed: the new version failed on 2 documents of tiny; allowed is 1" in render_page(closed)
    with pytest.raises(UsageError, match="max_failed is -1"):
        check_gate(*versions(1, 1), max_failed=-1)


def test_the_command_limits_failed_documents_of_predictions_and_results(karat_cli, tmp_path):
    responses = [
        karat.Response(response.id, error="time-out") if n == 0 else response
        for n, response in enumerate(karat.load_run("demo/prior"))
    ]
    karat.save(karat.Run.from_responses(responses, name="new"), tmp_path / "new.jsonl")
    gate = ("gate", tmp_path / "new.jsonl", "--baseline", "demo/prior", "--gold", "demo", "--max-drop", "0.5")
    ran = karat_cli(*gate, "--max-failed", "0", "--json", tmp_path / "gate.json")
    assert ran.code == 1
    assert "the new version failed on 1 document of demo; allowed is 0" in " ".join(ran.out.split())
    written = json.loads((tmp_path / "gate.json").read_bytes())
    assert (written["passed"], written["max_failed"], written["datasets"][0]["failed"]) == (False, 0, 1)
    assert karat_cli(*gate, "--max-failed", "1").code == 0
    for name, predictions in (("new", tmp_path / "new.jsonl"), ("old", "demo/prior")):
        assert karat_cli("score", "demo", predictions, "--json", tmp_path / f"{name}.json").code == 0
    results = ("gate", tmp_path / "new.json", "--baseline", tmp_path / "old.json", "--max-drop", "0.5")
    assert karat_cli(*results, "--max-failed", "0").code == 1


GROUP = "strong:micro.f1@types=PER"


def test_a_group_has_the_same_gate_from_predictions_and_from_results(karat_cli, tmp_path):
    """Result files have the sums of the groups that their measures name, and without them the gate does not pass."""
    gate = ("-m", GROUP, "--max-drop", "0.01", "--json", tmp_path / "gate.json")
    ran = karat_cli("gate", "demo/noisy", "--baseline", "demo/perfect", "--gold", "demo", *gate)
    assert ran.code == 1
    expected = json.loads((tmp_path / "gate.json").read_bytes())
    assert expected["datasets"][0]["state"] == "dropped"
    assert "no individual mentions (a measure of a group): demo" in ran.out
    for arguments, state in ((("-m", GROUP), "dropped"), (("--by", "types"), "untested")):
        for name in ("noisy", "perfect"):
            scored = karat_cli("score", "demo", f"demo/{name}", *arguments, "--json", tmp_path / f"{name}.json")
            assert scored.code == 0
        ran = karat_cli("gate", tmp_path / "noisy.json", "--baseline", tmp_path / "perfect.json", *gate)
        written = json.loads((tmp_path / "gate.json").read_bytes())
        assert (ran.code, written["datasets"][0]["state"]) == (1, state)
        if state == "dropped":
            assert written["datasets"] == expected["datasets"]
        else:
            assert f"the result file lacks its sums over documents: score with -m '{GROUP}'" in str(written["notes"])
    ran = karat_cli("gate", tmp_path / "noisy.json", "--baseline", tmp_path / "perfect.json", *gate, "--allow-untested")
    assert ran.code == 0


def test_a_result_without_the_group_says_how_to_get_it(karat_cli, tmp_path):
    assert karat_cli("score", "demo", "demo/prior", "--json", tmp_path / "a.json").code == 0
    ran = karat_cli("gate", tmp_path / "a.json", "--baseline", tmp_path / "a.json", "-m", GROUP)
    assert ran.code == 2
    assert f"Score the predictions with the measure {GROUP} (-m)" in ran.err


def test_missing_documents_count_as_failed(karat_cli, tmp_path):
    responses = list(karat.load_run("demo/prior"))[:-2]
    karat.save(karat.Run.from_responses(responses, name="cut"), tmp_path / "cut.jsonl")
    gate = ("gate", tmp_path / "cut.jsonl", "--baseline", "demo/prior", "--gold", "demo", "--max-drop", "0.5")
    ran = karat_cli(*gate, "--max-failed", "1", "--json", tmp_path / "gate.json")
    assert ran.code == 1
    assert "the new version has no predictions for 2 documents of demo; allowed is 1" in " ".join(ran.out.split())
    (change,) = json.loads((tmp_path / "gate.json").read_bytes())["datasets"]
    assert (change["failed"], change["missing"]) == (0, 2)
    assert karat_cli(*gate, "--max-failed", "2").code == 0
    assert karat_cli(*gate).code == 0


def test_documents_without_the_field_for_predictions_are_noted(karat_cli, tmp_path):
    """ELEVANT omits the field where a linker finds nothing, so such documents did not fail."""
    article = {"title": "", "text": "Ada was here.", "labels": [{"id": 0, "span": [0, 3], "entity_id": "Q1"}]}
    mentions = {"entity_mentions": [{"span": [0, 3], "id": "Q1"}]}
    paths = [tmp_path / f"{name}.tiny.linked_articles.jsonl" for name in ("old", "new")]
    for path, n_linked in zip(paths, (40, 38), strict=True):
        rows = [{"id": n, **article, **(mentions if n < n_linked else {})} for n in range(40)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ran = karat_cli("gate", paths[1], "--baseline", paths[0], "--max-drop", "0.5", "--max-failed", "0")
    assert ran.code == 0
    note = "predictions: documents without `entity_mentions` (read as without predictions) (in line 39, 40): 2"
    assert f"new on tiny: {note}" in " ".join(ran.out.split())


def test_all_notes_are_printed(karat_cli, tmp_path):
    gate = ("gate", "demo/prior", "--baseline", "demo/noisy", "--gold", "demo", "-m", GROUP, "--allow-untested")
    for options in ((), ("--markdown",)):
        ran = karat_cli(*gate, *options, "--json", tmp_path / "gate.json")
        notes = json.loads((tmp_path / "gate.json").read_bytes())["notes"]
        assert notes
        out = " ".join(ran.out.replace("\\", "").split())
        assert all(note in out for note in notes)


def test_no_flips_are_listed_on_request(karat_cli):
    gate = ("gate", "demo/noisy", "--baseline", "demo/perfect", "--gold", "demo", "--max-flips")
    out = karat_cli(*gate, "0").out
    assert "Lost: 108 mentions" in out
    assert "predicted by new" not in out
    assert "more" not in out.partition("Lost")[2]
    assert karat_cli(*gate, "-1").code == 2


def test_several_datasets_need_both_versions_of_each(karat_cli, karat_gate, tmp_path):
    """Before, only one file could be passed, and a dataset that the new version lacks was passed over in silence."""
    for dataset, right in (("a", 36), ("b", 10)):
        (new,), (old,) = versions(36, right)
        documents = [msgspec.structs.replace(document, id=f"{dataset}-{document.id}") for document in new.corpus]
        karat.save(karat.Corpus.from_documents(documents, name=dataset), tmp_path / f"{dataset}.jsonl")
        for version, run in (("new", new.run), ("old", old.run)):
            responses = [msgspec.structs.replace(response, id=f"{dataset}-{response.id}") for response in run]
            karat.save(karat.Run.from_responses(responses, name="system"), tmp_path / f"{version}-{dataset}.jsonl")
    golds, news, olds = (
        [str(tmp_path / f"{prefix}{dataset}.jsonl") for dataset in "ab"] for prefix in ("", "new-", "old-")
    )
    options = ["--baseline", olds[0], "--baseline", olds[1], "--gold", golds[0], "--gold", golds[1], "--json", "-"]
    done = karat_cli("gate", *news, *options)
    states = [(change["dataset"], change["state"]) for change in json.loads(done.out)["datasets"]]
    assert (done.code, states) == (1, [("a", "passed"), ("b", "dropped")])
    refused = karat_cli("gate", news[0], *options)
    assert (refused.code, "b has only the old version" in refused.err) == (2, True)
    refused = karat_cli("gate", *news, news[0], *options)
    assert (refused.code, "a has several new versions" in refused.err) == (2, True)
    assert [change.dataset for change in karat_gate(golds, olds, olds).datasets] == ["a", "b"]
    with pytest.raises(pytest.fail.Exception, match="dropped by more than 0 points on b"):
        karat_gate(golds, news, olds)
