"""Gold standards, predictions and systems in every form that users pass them."""

from __future__ import annotations

import re
from importlib import util
from pathlib import Path

import msgspec
import pytest

import karat
from karat import Result, UsageError
from karat.formats.parsing.surfaces.table import NULL_LINKS

QUICK = {"permutations": 20, "resamples": 20}


@pytest.fixture(scope="module")
def gold():
    return karat.load("demo")


@pytest.fixture(scope="module")
def prior():
    return karat.load_run("demo/prior")


@pytest.fixture(scope="module")
def noisy():
    return karat.load_run("demo/noisy")


@pytest.fixture(scope="module")
def expected(gold, prior):
    return karat.evaluate(gold, prior).measures


def builtin(objects):
    return [msgspec.to_builtins(each) for each in objects]


def mentions(objects):
    return [
        (each.id, mention.start, mention.end, mention.entity)
        for each in objects
        for mention in (each.labels if hasattr(each, "labels") else each.predictions)
        if mention.entity is not karat.UNLINKED
    ]


@pytest.mark.parametrize("gold_as", [str, "path", "dictionaries", "documents", "corpus"])
@pytest.mark.parametrize("run_as", [str, "path", "dictionaries", "responses", "run"])
def test_every_form_gives_the_same_scores(gold_as, run_as, gold, prior, expected, tmp_path):
    for name, data in (("gold", gold), ("prior", prior)):
        karat.save(data, tmp_path / f"{name}.jsonl")
    golds = {
        str: "demo",
        "path": tmp_path / "gold.jsonl",
        "dictionaries": builtin(gold),
        "documents": list(gold),
        "corpus": gold,
    }
    runs = {
        str: "demo/prior",
        "path": str(tmp_path / "prior.jsonl"),
        "dictionaries": builtin(prior),
        "responses": list(prior),
        "run": prior,
    }
    assert karat.evaluate(golds[gold_as], runs[run_as]).measures == expected


def test_lines_of_a_file_are_read_with_their_header(gold, prior, tmp_path):
    karat.save(gold, tmp_path / "gold.jsonl")
    karat.save(prior, tmp_path / "run.jsonl")
    lines = [
        [msgspec.json.decode(line) for line in (tmp_path / name).read_bytes().splitlines()]
        for name in ("gold.jsonl", "run.jsonl")
    ]
    corpus, run = karat.load(lines[0]), karat.load_run(lines[1])
    assert (corpus.name, corpus.digest, dict(corpus.metadata)) == (gold.name, gold.digest, dict(gold.metadata))
    assert (run.name, run.digest, dict(run.metadata)) == (prior.name, prior.digest, dict(prior.metadata))


def test_dictionaries_are_checked_like_files():
    with pytest.raises(karat.InputError, match="document 2: found no field `id`"):
        karat.load([{"id": "a", "text": "Ada"}, {"text": "Bob"}])
    with pytest.raises(karat.InputError, match=r"found `str` at `labels\[0\]\.start`; expected `int`"):
        karat.load([{"id": "a", "text": "Ada", "labels": [{"start": "0", "end": 3}]}])
    with pytest.raises(karat.InputError, match="colour"):
        karat.load([{"id": "a", "text": "Ada", "labels": [{"start": 0, "end": 3, "colour": "red"}]}])
    with pytest.raises(karat.InputError, match=r"label \[0, 9\)"):
        karat.load([{"id": "a", "text": "Ada", "labels": [{"start": 0, "end": 9}]}])


GOLD = {"id": "a", "text": "Ada met Bob.", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}
RESPONSE = {"id": "a", "predictions": [{"start": 0, "end": 3, "entity": "Q1"}]}


def rename(item, name, other):
    return {other if key == name else key: value for key, value in item.items() if other or key != name}


@pytest.mark.parametrize(
    ("gold", "predictions", "message"),
    [
        (rename(GOLD, "text", None), RESPONSE, "document 1: found no field `text`"),
        (rename(GOLD, "text", "txt"), RESPONSE, "unknown field `txt`.*Did you mean 'text'"),
        (rename(GOLD, "labels", "labls"), RESPONSE, "unknown field `labls`.*Did you mean 'labels'"),
        (RESPONSE, GOLD, "found predictions; expected gold labels.*Pass the gold standard first"),
        (GOLD, rename(RESPONSE, "predictions", "preds"), "unknown field `preds`.*Did you mean 'predictions'"),
        (GOLD, {"id": "a", "preds": []}, "unknown field `preds`.*Did you mean 'predictions'"),
        (GOLD, ("a", 0.5, 3, "Q1"), r"found start 0\.5; expected an integer from 0"),
    ],
)
def test_misspelt_fields_of_dictionaries_are_named_as_in_files(gold, predictions, message):
    with pytest.raises(karat.InputError, match=message):
        karat.evaluate([gold], [predictions])


def test_scores_under_another_name_are_asked_for_by_what_dictionaries_accept():
    mention = {"doc": "a", "start": 0, "end": 3, "entity": "Q1"}
    with pytest.raises(
        UsageError, match=r"as `score` in dictionaries, or by columns=\{…, 'score': '…'\} in karat\.load_run"
    ):
        karat.evaluate([GOLD], [{**mention, "confidence": 0.9}], settings={"threshold": 0.5})
    assert karat.evaluate([GOLD], [{**mention, "score": 0.9}], settings={"threshold": 0.5})["strong:micro.f1"] == 1


def test_integers_are_ids_of_dictionaries_as_in_files():
    result = karat.evaluate([{**GOLD, "id": 7}], [{**RESPONSE, "id": 7}])
    assert result["strong:micro.f1"] == 1


def test_gold_documents_are_predictions_as_in_files():
    for documents in ([GOLD], list(karat.load([GOLD]))):
        result = karat.evaluate([GOLD], documents)
        assert result["strong:micro.f1"] == 1
        assert "gold labels, which are scored as predictions" in result.notes[0]


def test_whole_floating_point_numbers_are_offsets():
    """pandas turns a column of integers with a missing value into floating-point numbers."""
    for predictions in ([("a", 0.0, 3.0, "Q1")], [{"doc": "a", "start": 0.0, "end": 3.0, "entity": "Q1"}]):
        assert karat.evaluate([GOLD], predictions)["strong:micro.f1"] == 1
        assert karat.evaluate(predictions, predictions)["strong:micro.f1"] == 1


def test_no_predictions_at_all_are_refused_with_what_to_pass():
    with pytest.raises(UsageError, match=r'\[\{"id": "…", "predictions": \[\]\}\]'):
        karat.evaluate([GOLD], [])
    assert karat.evaluate([GOLD], [{"id": "a", "predictions": []}])["strong:micro.f1"] == 0


def test_columns_may_be_integers(tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text("a\t0\t3\tQ1\n", encoding="utf-8")
    run = karat.load_run(path, columns={"doc": 1, "start": 2, "end": 3, "entity": 4})
    assert karat.evaluate([GOLD], run)["strong:micro.f1"] == 1


def test_a_result_is_saved_as_json_only(tmp_path):
    result = karat.evaluate([GOLD], [RESPONSE])
    for name in ("scores.csv", "scores.xyz", "scores"):
        with pytest.raises(UsageError, match=f"{name}: a result is written as JSON.*Result.to_latex.*Result.to_frame"):
            karat.save(result, tmp_path / name)
    karat.save(result, tmp_path / "scores.json.gz")
    assert [path.name for path in tmp_path.iterdir()] == ["scores.json.gz"]


def test_predictions_by_text_in_dictionaries_are_located():
    gold = [{"id": "a", "text": "Ada met Bob.", "labels": [{"start": 8, "end": 11, "entity": "Q2"}]}]
    result = karat.evaluate(gold, [{"id": "a", "predictions": [{"text": "Bob", "entity": "Q2"}]}])
    assert result["strong:micro.f1"] == 1


def test_mentions_without_texts_are_a_gold_standard(gold, prior):
    rows = mentions(gold)
    corpus = karat.load(rows)
    assert corpus.skipped["documents without text (replaced by spaces)"] == len({row[0] for row in rows})
    assert karat.evaluate(rows, mentions(gold))["strong:micro.f1"] == 1
    table = [dict(zip(("doc", "start", "end", "entity"), row, strict=True)) for row in rows]
    assert karat.load(table).digest == corpus.digest


def test_fields_of_mentions_that_are_not_read_are_counted():
    corpus = karat.load([{"doc": "a", "start": 0, "end": 3, "entity": "Q1", "colour": "red"}, ("a", 0, 3, "Q1")])
    assert corpus.skipped["labels with unread fields: colour"] == 1
    assert corpus.skipped["duplicate annotations (merged)"] == 1


@pytest.mark.parametrize("name", ["link", "label", "uri", "Entity", "entity "])
def test_a_link_in_a_field_that_is_not_read_is_refused(gold, name):
    mention = {"start": 0, "end": 6, name: "Q64"}
    flat = [{"doc": "a", **mention}]
    forms = [flat, {"a": [mention]}, [{"id": "a", "predictions": [mention]}], [[mention]] * len(gold)]
    if util.find_spec("pandas"):
        forms.append(pytest.importorskip("pandas").DataFrame(flat))
    for form in forms:
        with pytest.raises(
            karat.InputError, match=f"the field `{name}`, and none with the link.*Rename it to `entity`"
        ):
            karat.evaluate(gold, form)
    for function in (karat.load, lambda mentions: karat.linking_f1(mentions, mentions)):
        with pytest.raises(karat.InputError, match=f"the field `{name}`"):
            function(flat)


def test_other_fields_are_counted_but_misspelt_ones_refused():
    mention = {"doc": "a", "start": 0, "end": 6, "entity": "Q64"}
    assert karat.load_run([{**mention, "colour": "red"}]).skipped["predictions with unread fields: colour"] == 1
    with pytest.raises(karat.InputError, match="Rename it to `score`"):
        karat.load_run([{**mention, "Score": 0.5}])


@pytest.mark.parametrize("name", ["text", "mention", "surface"])
def test_texts_of_predictions_in_objects_are_checked_as_in_files(name):
    corpus = karat.load([{"id": "a", "text": "Berlin is in Germany.", "labels": []}])
    mention = {"start": 0, "end": 6, "entity": "Q64"}
    for said in ("Berlin", "berlin"):
        assert not any(karat.load_run({"a": [{**mention, name: said}]}, corpus=corpus).skipped.values())
    wrong = {**mention, name: "Germany"}
    for form in ([{"doc": "a", **wrong}], {"a": [wrong]}, [[wrong]]):
        with pytest.raises(karat.InputError, match=r"'Germany' at \[0, 6\), where the document has 'Berlin'"):
            karat.evaluate(corpus, form)
        (response,) = karat.load_run(form, corpus=corpus, span_mismatch="realign")
        assert [(item.start, item.end) for item in response.predictions] == [(13, 20)]


def test_an_entity_that_is_not_a_number_is_refused():
    for function in (karat.load, karat.load_run):
        with pytest.raises(karat.InputError, match="the entity nan"):
            function([("a", 0, 6, float("nan"))])


@pytest.mark.parametrize("entity", [["Q64"], {"id": "Q64"}, True, 64.0])
def test_an_entity_that_is_no_id_is_refused_and_not_compared_as_text(entity):
    for function in (karat.load, karat.load_run):
        with pytest.raises(
            karat.InputError, match=r"the entity .*; expected the id of an entity, a string\. Pass one id"
        ):
            function([("a", 0, 6, entity)])
    with pytest.raises(karat.InputError, match="the entity"):
        karat.linking_f1([("a", 0, 6, "Q64")], [("a", 0, 6, entity)])


def test_an_entity_that_is_a_whole_number_is_read_as_text():
    (response,) = karat.load_run([("a", 0, 6, 64)])
    assert response.predictions[0].entity == "64"


def test_data_frames_and_arrow_tables_are_runs(gold, prior):
    pandas = pytest.importorskip("pandas")
    pa = pytest.importorskip("pyarrow")
    columns = ["doc", "start", "end", "entity"]
    expected = karat.load_run(mentions(prior)).digest
    assert karat.load_run(pandas.DataFrame(mentions(prior), columns=columns)).digest == expected
    rows = [dict(zip(columns, row, strict=True)) for row in mentions(prior)]
    assert karat.load_run(pa.Table.from_pylist(rows)).digest == expected


def test_missing_values_of_data_frames_are_unlinked_and_counted():
    pandas = pytest.importorskip("pandas")
    for missing in (None, float("nan"), pandas.NA):
        frame = pandas.DataFrame({"doc": ["a", "a"], "start": [0, 4], "end": [3, 7], "entity": ["Q1", missing]})
        run = karat.load_run(frame)
        (response,) = run
        assert [each.entity for each in response.predictions] == ["Q1", karat.UNLINKED]
        assert run.skipped == {NULL_LINKS: 1}
        (response,) = karat.load_run(frame.assign(entity=["Q1", "NIL"]))
        assert [each.entity for each in response.predictions] == ["Q1", None]


@pytest.mark.parametrize(
    "form", ["paths", "names", "runs", "mapping", "mixed", "lists", "corpus and names", "tuple", "iterator"]
)
def test_systems_in_every_form_compare_alike(form, gold, prior, noisy, tmp_path):
    expected = karat.compare(gold, [prior, noisy], **QUICK)
    karat.save(prior, tmp_path / "prior.jsonl")
    karat.save(noisy, tmp_path / "noisy.jsonl")
    forms = {
        "paths": ("demo", [tmp_path / "prior.jsonl", str(tmp_path / "noisy.jsonl")]),
        "names": ("demo", ["demo/prior", "demo/noisy"]),
        "runs": ("demo", [prior, noisy]),
        "mapping": (gold, {"prior": builtin(prior), "noisy": "demo/noisy"}),
        "mixed": ("demo", ["demo/prior", noisy]),
        "lists": (builtin(gold), {"prior": list(prior), "noisy": list(noisy)}),
        "corpus and names": (gold, ["demo/prior", "demo/noisy"]),
        "tuple": ([gold], ("demo/prior", "demo/noisy")),
        "iterator": (["demo"], iter(["demo/prior", "demo/noisy"])),
    }
    comparison = karat.compare(*forms[form], **QUICK)
    assert comparison.systems == expected.systems
    assert comparison.pairs == expected.pairs


def test_systems_may_bring_their_gold_standard(gold, prior, noisy):
    expected = karat.compare(gold, [prior, noisy], **QUICK)
    results = [karat.evaluate(gold, run, by="error") for run in (prior, noisy)]
    assert karat.compare(None, [(gold, prior), ("demo", "demo/noisy")], **QUICK).pairs == expected.pairs
    assert karat.compare(None, results, **QUICK).pairs == expected.pairs
    assert [each.name for each in (prior, noisy)] == [each.run for each in results]
    with pytest.raises(UsageError, match=r"prior has no gold standard\. Pass the gold standard first"):
        karat.compare(None, [prior, noisy])


def test_one_string_is_one_system_or_all_stored_predictions():
    with pytest.raises(UsageError, match=r"a comparison needs two systems, and there is only 'prior'\. Pass two"):
        karat.compare("demo", "demo/prior")
    assert set(karat.compare("demo", "demo", **QUICK).systems) == {"perfect", "prior", "noisy"}
    assert [each.run.name for each in karat.evaluate_runs("demo", "demo")] == ["perfect", "prior", "noisy"]
    with pytest.raises(UsageError, match=r"several systems: .*demo/prior.*\. Pass one of them"):
        karat.evaluate("demo", "demo")


def test_strings_as_filters_are_single_names(gold, prior):
    found = karat.find_cases(gold, prior, outcomes="wrong", types="PER")
    assert len(found) == len(karat.find_cases(gold, prior, outcomes=["wrong"], types=["PER"])) > 0
    with pytest.raises(UsageError, match="prior has scores on demo only"):  # and not: unknown dataset d
        karat.compare(gold, "demo", developed_on={"prior": "demo"}, **QUICK)


def test_unnamed_systems_are_numbered(gold, prior, noisy):
    assert set(karat.compare(gold, [builtin(prior), mentions(noisy)], **QUICK).systems) == {"system 1", "system 2"}


def test_swapped_sides_are_said(gold, prior):
    with pytest.raises(UsageError, match="prior is a run, not a gold standard"):
        karat.evaluate(prior, gold)
    with pytest.raises(UsageError, match="demo is a corpus, not a run"):
        karat.evaluate(gold, gold)
    with pytest.raises(UsageError, match="is a run, not a gold standard"):
        karat.compare([prior, prior], gold)


def test_every_function_takes_names(gold, prior, tmp_path):
    assert karat.threshold_curve("demo", "demo/prior").values("micro.f1").tolist() == (
        karat.threshold_curve(gold, prior).values("micro.f1").tolist()
    )
    assert karat.calibration_data("demo", "demo/prior").aurc == karat.calibration_data(gold, prior).aurc
    assert len(karat.similarity("demo", "demo").pairs) == 3 * 4
    assert karat.agreement({"one": "demo", "two": gold}, resamples=0).alpha.value == 1
    with pytest.raises(UsageError, match="found one gold standard"):
        karat.agreement("demo")
    assert karat.resolve_ids("demo", "starter")[0].digest == karat.resolve_ids(gold, karat.open_kb("starter"))[0].digest
    karat.save("demo/prior", tmp_path / "run.jsonl")
    assert karat.load_run(tmp_path / "run.jsonl").digest == prior.digest
    karat.save(builtin(gold), tmp_path / "gold.jsonl")
    assert karat.load(tmp_path / "gold.jsonl").digest == gold.digest
    linked = karat.link("prior", "demo", options={"substitute": "popularity"})
    assert linked.digest == karat.link("prior", gold, options={"substitute": "popularity"}).digest
    with pytest.raises(karat.UnknownNameError, match="Did you mean 'substitute'"):
        karat.link("prior", "demo", options={"substitut": "popularity"})


def test_the_setting_match_chooses_the_relation_of_a_curve(gold, prior):
    curve = karat.threshold_curve(gold, prior, settings={"match": "weak"})
    assert (curve.view, karat.threshold_curve(gold, prior).view) == ("weak", "strong")


def test_confidence_or_resamples_asks_for_intervals(gold, prior):
    def bounds(**options) -> dict[str, tuple[float, float]]:
        return karat.evaluate(gold, prior, measures="strong:micro.f1", **options).intervals

    assert bounds() == bounds(resamples=0) == bounds(confidence=0.9, resamples=0) == {}
    usual = bounds(confidence=0.95)
    assert usual == bounds(resamples=1000) == bounds(interval="percentile") == bounds(ci_unit="documents")
    (low, high), (inner_low, inner_high) = usual["strong:micro.f1"], bounds(confidence=0.8)["strong:micro.f1"]
    assert low < inner_low < inner_high < high


def test_results_are_not_predictions(gold, prior):
    with pytest.raises(UsageError, match="found Result"):
        karat.evaluate(gold, karat.evaluate(gold, prior))
    assert isinstance(karat.evaluate("demo", "demo/prior"), Result)


def test_several_runs_in_place_of_one_name_the_function_for_them():
    run = karat.load_run("demo/noisy")
    for runs in ([run, run], {"a": run}):
        with pytest.raises(karat.UsageError, match=r"all to karat\.evaluate_runs or karat\.compare\."):
            karat.evaluate("demo", runs)


def test_an_option_of_reading_names_the_function_that_has_it():
    with pytest.raises(karat.UsageError, match=r"Pass the run that karat\.load_run\(…, columns=…\) returns"):
        karat.evaluate("demo", "demo/noisy", columns={"doc": "id"})


def test_outcomes_of_cases_are_named_as_in_tables():
    named, titled = (karat.find_cases("demo", ["demo/noisy"], outcomes=name) for name in ("wrong-link", "wrong link"))
    assert len(named) == len(titled) == 30


def test_blanks_in_place_of_texts_say_nothing_about_offsets():
    spans = [{"start": start, "end": start + 3, "entity": "Q1"} for start in range(0, 400, 5)]
    gold = karat.load([{"id": "d", "text": " " * 400, "labels": spans}])
    result = karat.evaluate(gold, {"d": spans})
    assert not any("inside a word" in note for note in result.notes)
    letters = karat.load([{"id": "d", "text": "x" * 400, "labels": spans}])
    assert not any("inside a word" in note for note in karat.evaluate(letters, {"d": spans}).notes)  # as gold spans are
    others = [{**span, "start": span["start"] + 2, "end": span["end"] + 2} for span in spans[:-1]]
    assert any("inside a word" in note for note in karat.evaluate(letters, {"d": others}).notes)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"settings": "nil=dropped"}, "settings is 'nil=dropped' (str). Pass a dictionary"),
        ({"settings": ["nil=dropped"]}, "Pass a dictionary"),
        ({"measures": None}, "measures is None (NoneType). Pass a name or a list of names"),
        ({"by": None}, "by is None"),
        ({"by": [3]}, "by is [3] (list)"),
        ({"profile": None}, "profile is None"),
        ({"profile": Path("gerbil")}, "Pass the name of a profile"),
        ({"confidence": "0.95"}, "confidence is '0.95' (str). Pass a number"),
        ({"resamples": 1.5}, "resamples is 1.5 (float). Pass an integer"),
        ({"resamples": True}, "resamples is True"),
        ({"kb": 3}, "kb is 3 (int)"),
    ],
)
def test_arguments_of_the_wrong_type_are_named(gold, prior, arguments, expected):
    with pytest.raises(karat.UsageError, match=re.escape(expected)):
        karat.evaluate(gold, prior, **arguments)


def test_policies_and_scores_of_the_wrong_type_are_named(gold):
    for function, arguments in (
        (karat.load, {"columns": ["doc"]}),
        (karat.load, {"on_error": "ignore"}),
        (karat.load, {"duplicate_ids": "foo"}),
        (karat.load_run, {"span_mismatch": True}),
    ):
        with pytest.raises(karat.UsageError, match=f"{function.__name__}: {next(iter(arguments))} is"):
            function("demo", **arguments)
    with pytest.raises(karat.InputError, match="the score 'hi'; expected a number"):
        karat.evaluate(gold, [("a", 0, 3, "Q1", "hi")])
