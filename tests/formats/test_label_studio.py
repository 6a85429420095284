"""Label Studio: tasks in the layout of its documentation, offsets, annotators, ids in controls, and broken files."""

from __future__ import annotations

import json
from xml.etree.ElementTree import fromstring

import pytest

import karat
from karat import UNLINKED, Document, InputError, Label
from karat.formats.plugins.label_studio import build_config
from karat.model.counts.skip_counter import name_locations
from karat.model.document import Triple

TEXT = "\U0001f600 Ada Lovelace met\r\nBabbage."


def region(id, start, end, labels, text=None, **more):
    value = {"start": start, "end": end, "labels": labels} | ({} if text is None else {"text": text})
    result = {"value": value, "id": id, "from_name": "label", "to_name": "text", "type": "labels", "origin": "manual"}
    return {**result, **more}


def control(id, start, end, *values, name="entity", kind="textarea"):
    content = {"textarea": "text", "choices": "choices", "taxonomy": "taxonomy"}[kind]
    value = {"start": start, "end": end, content: list(values)}
    return {"value": value, "id": id, "from_name": name, "to_name": "text", "type": kind, "origin": "manual"}


def annotation(*results, by=1, **more):
    """An annotation with the fields that an export has."""
    fields = {"id": 1001, "completed_by": by, "result": list(results), "was_cancelled": False, "ground_truth": False}
    times = {"created_at": "2021-03-09T22:16:08.728353Z", "updated_at": "2021-03-09T22:16:08Z", "lead_time": 4.288}
    return {**fields, **times, "prediction": {}, "result_count": 0, "task": 1, **more}


def task(*annotations, text=TEXT, **more):
    fields = {"id": 7, "annotations": list(annotations), "file_upload": "a.json", "drafts": [], "predictions": []}
    return {**fields, "data": {"text": text}, "meta": {}, "project": 83, **more}


def read(tmp_path, *tasks, as_run=False):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return (karat.load_run if as_run else karat.load)(path)


def test_an_export_in_the_documented_layout(tmp_path):
    results = [
        region("Dx_aB91ISN", 2, 14, ["PER"], "Ada Lovelace", meta={"text": ["surely"]}),
        control("Dx_aB91ISN", 2, 14, "Q7259"),
        region("b", 2, 5, ["PER", "GIVEN"], "Ada"),
        control("b", 2, 5, "NIL"),
        region("c", 20, 27, [], "Babbage"),
        {"type": "relation", "from_id": "Dx_aB91ISN", "to_id": "b", "direction": "right", "labels": ["has"]},
    ]
    corpus = read(tmp_path, task(annotation(*results), data={"text": TEXT, "source": "news", "page": 3}))
    labels = (
        Label(2, 14, "Q7259", types=("PER",)),
        Label(2, 5, None, types=("PER", "GIVEN")),
        Label(20, 27, UNLINKED),
    )
    assert list(corpus) == [Document("7", TEXT, labels, meta={"source": "news", "page": "3"})]
    assert corpus.skipped == {"relations that are not between two linked mentions": 1}


def test_code_points_and_in_old_exports_utf16_units(tmp_path):
    corpus = read(tmp_path, task(annotation(region("a", 3, 15, ["PER"], "Ada Lovelace"))))
    assert [label.span for d in corpus for label in d.labels] == [(2, 14)]
    assert corpus.skipped == {"texts whose offsets count UTF-16 units": 1}


def test_relations_ids_of_taxonomies_and_categories_of_other_controls(tmp_path):
    results = [
        region("a", 2, 5, ["PER"]),
        control("a", 2, 5, ["People", "Q7259"], kind="taxonomy", name="wikidata"),
        control("a", 2, 5, "sure", kind="choices", name="confidence"),
        region("b", 20, 27, ["PER"]),
        control("b", 20, 27, ["People", "Q46633"], kind="taxonomy", name="wikidata"),
        {"type": "relation", "from_id": "a", "to_id": "b"},
        {"type": "choices", "id": "z", "from_name": "topic", "value": {"choices": ["maths"]}},
    ]
    (document,) = corpus = read(tmp_path, task(annotation(*results)))
    assert document.labels[0] == Label(2, 5, "Q7259", types=("PER",), categories=("confidence:sure",))
    assert document.relations == (Triple("Q7259", "relation", "Q46633"),)
    assert corpus.skipped == {"results that are not about a mention": 1}


def test_several_ids_are_alternatives(tmp_path):
    (document,) = read(tmp_path, task(annotation(region("a", 2, 5, ["PER"]), control("a", 2, 5, "Q1", "Q2"))))
    assert [(label.entity, label.mention_id) for label in document.labels] == [("Q1", "a"), ("Q2", "a")]


def test_duplicates_are_merged_and_counted(tmp_path):
    corpus = read(tmp_path, task(annotation(region("a", 2, 5, ["PER"]), region("b", 2, 5, ["PER"]))))
    assert len(corpus.labels) == 1
    assert corpus.skipped == {"duplicate annotations (merged)": 1}


def test_cancelled_empty_and_repeated_annotations(tmp_path):
    first, second = annotation(region("a", 2, 5, ["PER"])), annotation(region("a", 2, 14, ["PER"]))
    corpus = read(
        tmp_path,
        task(annotation(was_cancelled=True), id=1),
        task(annotation(), id=2),
        task(first, second, id=3),
        task(id=4),
    )
    assert [(d.id, len(d.labels)) for d in corpus] == [("2", 0), ("3", 1)]
    assert corpus["3"].labels[0].span == (2, 14)
    assert corpus.skipped == {
        "documents that no annotator finished": 2,
        "earlier annotations of a document by the same annotator": 1,
    }


def test_predictions_named_by_number_and_regions_of_sound_are_counted(tmp_path):
    sound = {"id": "s", "type": "labels", "from_name": "label", "value": {"start": 1.5, "end": 2.5, "labels": ["x"]}}
    corpus = read(tmp_path, task(annotation(region("a", 2, 5, ["PER"]), sound), predictions=[12], drafts=[3]))
    assert len(corpus.labels) == 1
    assert corpus.skipped == {
        "predictions that the export names by number only": 1,
        "regions of HTML, audio or images (not read)": 1,
    }


def test_tasks_without_annotations_are_texts(tmp_path):
    assert list(read(tmp_path, {"data": {"text": "Ada"}}, {"data": {"text": "Bob"}})) == [
        Document("1", "Ada"),
        Document("2", "Bob"),
    ]


def test_counts_name_the_ids_of_their_tasks(tmp_path):
    first, second = annotation(region("a", 2, 5, ["PER"])), annotation(region("a", 2, 14, ["PER"]))
    corpus = read(tmp_path, task(first, second, id=31), task(first, id=32), task(first, second, id="x9"))
    assert name_locations(corpus.skipped) == {
        "earlier annotations of a document by the same annotator (in task 31, x9)": 2,
    }


def test_several_annotators(karat_cli, tmp_path):
    anna = annotation(region("a", 2, 5, ["PER"]), control("a", 2, 5, "Q1"), by={"id": 1, "email": "anna@example.org"})
    ben = annotation(region("a", 2, 5, ["PER"]), control("a", 2, 5, "Q2"), by=2)
    with pytest.raises(InputError, match=r"task 7: found different labels by anna@example\.org, 2, and no adjudicated"):
        read(tmp_path, task(anna, ben))
    ran = karat_cli("agreement", tmp_path / "export.json", "--resamples", 0)
    assert ran.code == 0, ran.err
    assert "2 annotators, 1 document, 1 span marked by anyone" in ran.out
    assert "2, anna@example.org" in ran.out
    starred = {**ben, "ground_truth": True}
    assert read(tmp_path, task(anna, starred))["7"].labels[0].entity == "Q2"
    read(tmp_path, task(anna))
    alone = karat_cli("agreement", tmp_path / "export.json")
    assert alone.code == 2
    assert "at least two annotators" in alone.err


def test_predictions_with_scores(karat_cli, tmp_path):
    results = [region("a", 2, 5, ["PER"], score=0.75), control("a", 2, 5, "Q1")]
    model = {"model_version": "v1", "score": 0.8, "created_ago": "3 hours", "result": results}
    run = read(tmp_path, task(predictions=[model]), as_run=True)
    assert run.name == "v1"
    assert [(p.entity, p.score) for r in run for p in r.predictions] == [("Q1", 0.75)]
    gold = annotation(region("a", 2, 5, ["PER"]), control("a", 2, 5, "Q1"))
    read(tmp_path, task(gold, predictions=[model]))
    ran = karat_cli("score", tmp_path / "export.json")
    assert ran.code == 0, ran.err
    assert "v1" in ran.out
    with pytest.raises(InputError, match="predictions of v1, v2"):
        read(tmp_path, task(predictions=[model, {**model, "model_version": "v2"}]), as_run=True)


def test_an_id_that_was_replaced_in_the_tool_loses_what_belonged_to_the_old_one(tmp_path):
    path = tmp_path / "x.json"
    label = Label(0, 3, "Q1", name="Ada", same_as=("Q9",), difficulty="hard", types=("PER",))
    karat.save(karat.Corpus.from_documents([Document("d", "Ada", (label,))]), path, format="label-studio")
    content = path.read_text().replace('"text":["Q1"]', '"text":["Q2"]')
    path.write_text(content)
    corpus = karat.load(path)
    assert corpus["d"].labels == (Label(0, 3, "Q2", difficulty="hard", types=("PER",)),)
    assert corpus.skipped == {"custom fields of entities that were replaced in the tool (dropped)": 2}


def test_the_folder_has_a_configuration_for_all_types(tmp_path):
    karat.save(karat.load("demo"), tmp_path / "out", format="label-studio")
    root = fromstring((tmp_path / "out" / "config.xml").read_text())
    assert {"PER", "LOC", "MENTION"} <= {label.get("value") for label in root.iter("Label")}
    (area,) = root.iter("TextArea")
    assert (area.get("name"), area.get("perRegion")) == ("entity", "true")
    assert karat.load(tmp_path / "out").digest == karat.load("demo").digest
    assert fromstring(build_config(['a"<b'])) is not None


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        (
            [{"data": {"text": "Ada"}, "annotations": [{"result": 3}]}],
            r"entry 1, a task without id: found `int` at `annotations\[0\].result`",
        ),
        (
            [task(), task(annotation(region("a", 2, 99, ["PER"])), id=41)],
            r"task 41, region 'a': found a mention from 2 to 99",
        ),
        ([task(annotation(region("a", 5, 5, ["PER"])))], r"a mention from 5 to 5"),
        ([{"data": {"a": "x", "b": "y"}, "annotations": []}], r"the fields a, b in `data`; expected the text as"),
        (
            [task(annotation(*(control("a", 2, 5, "x", name=name) for name in ("one", "two"))))],
            r"several controls that could have entity ids \(one, two\)",
        ),
    ],
)
def test_broken_files_give_one_error_with_its_place(tasks, message, tmp_path):
    with pytest.raises(InputError, match=message):
        read(tmp_path, *tasks)


def test_broken_tasks_can_be_skipped(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(json.dumps([task(annotation(), id=1), task(annotation(region("a", 2, 99, ["PER"])), id=2)]))
    assert [d.id for d in karat.load(path, on_error="skip")] == ["1"]
