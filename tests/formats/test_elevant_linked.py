"""ELEVANT's linked articles."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Candidate, Corpus, Document, InputError, Label, Prediction, Response, Run, UsageError
from karat.data.load import load_gold_and_runs
from karat.formats.parsing.elevant import gold as elevant_gold
from karat.formats.parsing.elevant import predictions as elevant_predictions
from karat.formats.parsing.json import blocks as json_blocks
from karat.formats.plugins.elevant_linked import FORMAT
from karat.storage.files import Source
from tests import strategies

TEXT = "The ship Vega met her twin in Oslo in 1921."
LABEL = {"id": 0, "span": [9, 13], "entity_id": "Q1", "name": "Vega", "type": "OTHER"}


def mention(start, end, entity=None, **fields):
    by = {"recognized_by": "finder", "linked_by": "linker", "candidates": []}
    return {"span": [start, end], **({} if entity is None else {"id": entity}), **by, **fields}


def written(path, *articles):
    path.write_text("".join(json.dumps(one) + "\n" for one in articles), encoding="utf-8")
    return path


def read(path):
    return karat.load_run(path, format="elevant-linked")


def rewritten(run):
    file = io.BytesIO()
    FORMAT.write_run(run, file)
    return file.getvalue()


def test_predictions_and_gold_of_one_file(tmp_path):
    first = {"id": 7, "title": "", "text": TEXT, "labels": [LABEL]}
    mentions = [
        mention(9, 13, "Q1", candidates=["Q1", "Q2", "<NIL>"]),
        mention(22, 26, "<NIL>"),
        mention(30, 34, "<NO_MAPPING>"),
        mention(30, 34, "Q3"),
        mention(38, 42, ""),
        mention(0, 3),
    ]
    path = written(
        tmp_path / "my_linker.ships.linked_articles.jsonl",
        {**first, "entity_mentions": mentions},
        {**first, "id": 8},
    )
    run = read(path)
    assert (run.name, run.metadata) == ("my_linker", {"recognized_by": "finder", "linked_by": "linker"})
    assert list(run) == [
        Response(
            "7",
            (
                Prediction(9, 13, "Q1", candidates=(Candidate("Q1"), Candidate("Q2"), Candidate("<NIL>"))),
                Prediction(22, 26, None),
                Prediction(30, 34, None, categories=("nil:no-mapping",)),
                Prediction(30, 34, "Q3"),
                Prediction(38, 42, UNLINKED),
                Prediction(0, 3, UNLINKED),
            ),
        ),
        Response("8"),
    ]
    assert run.skipped == {
        "links without a mapping to Wikidata (<NO_MAPPING>, read as NIL)": 1,
        "mentions with an empty id (read as unlinked)": 1,
        "documents without `entity_mentions` (read as without predictions)": 1,
    }
    gold = karat.load(path, format="elevant-linked")
    assert gold.name == "ships"
    assert [document.labels for document in gold] == [(Label(9, 13, "Q1", name="Vega", types=("OTHER",)),)] * 2
    assert karat.evaluate(gold, run)["strong:micro.f1"] == pytest.approx(1 / 3)


def test_what_has_no_place_is_counted(tmp_path):
    mentions = [
        mention(9, 13, "Q1", linked_by="one", referenced_span=[0, 8], colour="red"),
        mention(22, 26, "Q2", linked_by="two", contained=True, recognized_by=None),
    ]
    run = read(written(tmp_path / "x", {"id": 7, "text": TEXT, "entity_mentions": mentions}))
    assert run.metadata == {}
    assert run.skipped == {
        "fields `colour` of entity_mentions": 1,
        "fields `linked_by` of mentions": 2,
        "fields `recognized_by` of mentions": 1,
        "flags `contained` of mentions": 1,
        "spans of antecedents (referenced_span)": 1,
    }


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"id": 8, "entity_mentions": [{"id": "Q1"}]}', "no field `span` at `entity_mentions[0]`"),
        ('{"id": 8, "entity_mentions": [{"span": [5, 5]}]}', "prediction [5, 5)"),
        ('{"id": 7}', "document '7' a second time"),
    ],
)
def test_errors_say_where(tmp_path, line, found):
    path = written(tmp_path / "x", {"id": 7, "entity_mentions": [mention(0, 3)]})
    path.write_text(path.read_text() + "\n" + line)
    with pytest.raises(InputError) as problem:
        read(path)
    assert (problem.value.where, problem.value.actual) == (f"{path}:3", found)


def test_predictions_alone_are_no_gold(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(rewritten(Run.from_responses([Response("7", (Prediction(0, 3, "Q1"),))])))
    with pytest.raises(InputError, match=r"x:1: found no field `text`.*Pass the benchmark file as gold"):
        karat.load(path, format="elevant-linked")


@given(strategies.rich_responses())
def test_a_run_keeps_spans_links_and_candidates(responses):
    def kept(response):
        return response.id, [(x.start, x.end, x.entity, [c.entity for c in x.candidates]) for x in response.predictions]

    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(rewritten(Run.from_responses(responses)))
        assert list(map(kept, read(path))) == list(map(kept, responses))
        assert FORMAT.recognises(path.read_bytes())


# --- gold and predictions together


def same(found, expected):
    fields = ("name", "metadata", "digest")
    assert [getattr(found, field) for field in fields] == [getattr(expected, field) for field in fields]
    # Read as a gold standard alone, the file gets a warning that it seems to be predictions.
    assert dict(found.skipped) == {key: n for key, n in expected.skipped.items() if not key.startswith("warning")}
    assert list(found) == list(expected)


_mentions = st.lists(
    st.fixed_dictionaries(
        {"span": strategies.spans(8).map(list)},
        optional={
            "id": st.sampled_from(["Q1", "<NIL>", "<NO_MAPPING>", "", None]),
            "linked_by": st.sampled_from(["one", "two", None]),
            "candidates": st.lists(st.sampled_from(["Q1", "Q2"]), max_size=2),
            "referenced_span": st.just([0, 1]),
            "contained": st.booleans(),
            "colour": st.just("red"),
        },
    ),
    max_size=4,
)
_articles = st.lists(
    st.fixed_dictionaries(
        {"text": strategies.TEXT},
        optional={
            "entity_mentions": _mentions,
            "labels": st.just([]) | st.just([LABEL | {"span": [0, 4], "colour": "blue"}]),
            "evaluation_span": st.just([0, 3]),
        },
    ),
    min_size=1,
    max_size=5,
)


@given(_articles, st.sampled_from([1, 40, 20_000]))
def test_what_is_read_once_is_what_is_read_twice(articles, many):
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for module in (elevant_predictions, elevant_gold):
            patch.setattr(module, "_BATCH_SIZE", many)
        patch.setattr(json_blocks, "_BLOCK_SIZE", 300)
        path = written(
            Path(folder) / "a.b.linked_articles.jsonl", *({"id": row, **one} for row, one in enumerate(articles))
        )
        corpus, (run,) = load_gold_and_runs(
            str(path), [str(path)], gold_format="elevant-linked", predictions_format="elevant-linked"
        )
        same(corpus, karat.load(path, format="elevant-linked"))
        same(run, read(path))
        assert (corpus.name, run.name) == ("b", "a")


def test_a_file_is_parsed_once_if_it_is_both(tmp_path, monkeypatch):
    path = written(
        tmp_path / "x", {"id": 7, "text": TEXT, "labels": [LABEL], "entity_mentions": [mention(9, 13, "Q1")]}
    )
    parsed = []
    real = elevant_predictions.read_articles
    monkeypatch.setattr(elevant_predictions, "read_articles", lambda *given: parsed.append(given) or real(*given))
    corpus, runs = load_gold_and_runs(str(path), [str(path), str(path)])
    assert (len(corpus.labels), len(runs), len(runs[0].predictions), len(parsed)) == (1, 2, 1, 1)


def test_errors_of_both_sides_say_where(tmp_path):
    first = {"id": 7, "text": TEXT, "entity_mentions": [mention(0, 3)]}
    for second, found in (
        ({"id": 8, "text": TEXT, "entity_mentions": [mention(5, 5)]}, r"prediction \[5, 5\)"),
        ({"id": 8, "text": TEXT, "labels": [LABEL | {"span": [5, 5]}]}, r"label \[5, 5\)"),
        ({"id": 8, "entity_mentions": []}, "no field `text`"),
        ({"id": 7, "text": TEXT}, "document '7' a second time"),
    ):
        path = written(tmp_path / "x", first, second)
        with pytest.raises(InputError, match=f"x:2: found {found}"):
            load_gold_and_runs(str(path), [str(path)])


def test_predictions_without_texts_are_not_both(tmp_path):
    linked = {"id": 7, "entity_mentions": [mention(0, 3)]}
    assert not FORMAT.has_gold_and_predictions(Source(str(written(tmp_path / "x", linked))))
    assert FORMAT.has_gold_and_predictions(
        Source(str(written(tmp_path / "y", linked, {**linked, "id": 8, "text": TEXT})))
    )


def test_a_linker_that_found_nothing_is_no_second_annotator(tmp_path):
    articles = [{"id": 7, "title": "", "text": TEXT, "labels": [LABEL]}]
    run = karat.load_run(written(tmp_path / "linker.ships.linked_articles.jsonl", *articles))
    assert (run.name, len(run), len(run.predictions)) == ("linker", 1, 0)
    assert len(karat.load_run(written(tmp_path / "ships.benchmark.jsonl", *articles)).predictions) == 1


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_results_are_the_same_if_read_once(shared):
    files = sorted(shared.glob("elevant/results/refined/*.linked_articles.jsonl.gz"))
    assert len(files) == 19
    for path in files:
        corpus, (run,) = load_gold_and_runs(str(path), [str(path)])
        same(run, karat.load_run(path))
        gold = karat.load(path)
        (warning,) = gold.skipped.keys() - corpus.skipped.keys()
        assert warning.startswith("warning: labels of")  # alone it seems to be a file of predictions
        assert (corpus.name, corpus.digest) == (gold.name, gold.digest)


def test_recognition():
    article = {"id": 7, "title": "", "text": TEXT, "entity_mentions": [mention(0, 3)], "labels": [LABEL]}
    plain = {"id": 6, "title": "", "text": TEXT, "labels": [LABEL]}
    head = (json.dumps(plain) + "\n" + json.dumps(article)).encode()
    assert FORMAT.recognises(head)
    assert FORMAT.recognises(head[: head.index(b"labels", 200)])
    assert not FORMAT.recognises(json.dumps(plain).encode())
    assert not FORMAT.recognises(b'{"id": "d", "predictions": [{"start": 0, "end": 1}]}')


@pytest.mark.shared
@pytest.mark.extras  # it takes long
def test_every_result_is_read(shared):
    files = sorted(shared.glob("elevant/results/*/*.linked_articles.jsonl.gz"))
    assert len(files) == 121
    runs = [read(path) for path in files]
    assert sum(len(run) for run in runs) == 15_983
    assert sum(len(run.predictions) for run in runs) == 222_170
    assert len({run.name for run in runs}) == 7
    assert sum((Counter(run.skipped) for run in runs), Counter()) == {
        "links without a mapping to Wikidata (<NO_MAPPING>, read as NIL)": 243,
        "documents without `entity_mentions` (read as without predictions)": 679,
        "mentions with an empty id (read as unlinked)": 1,  # the oracle repeats a gold label without id
    }
    assert all(FORMAT.recognises(Source(str(path)).first_bytes) for path in files)


@pytest.mark.shared
def test_results_are_written_as_they_were_and_hold_their_benchmark(shared):
    files = sorted(shared.glob("elevant/results/*/*.wiki-fair-v2.linked_articles.jsonl.gz"))
    assert len(files) == 7
    benchmark = shared / "elevant" / "benchmarks" / "wiki-fair-v2.benchmark.jsonl.gz"
    digest = karat.load(benchmark, format="elevant").digest
    for path in files:
        given = [msgspec.json.decode(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
        again = [msgspec.json.decode(line) for line in rewritten(read(path)).splitlines()]
        assert [one["id"] for one in again] == [one["id"] for one in given]
        assert [[{"candidates": [], **entry} for entry in one["entity_mentions"]] for one in again] == [
            [_scored(entry) for entry in one.get("entity_mentions", ())] for one in given
        ]
        gold = karat.load(path, format="elevant-linked")
        assert (gold.name, gold.digest) == ("wiki-fair-v2", digest)


def _scored(entry):
    """What a mention says to the evaluation."""
    return entry if entry["id"] else {name: value for name, value in entry.items() if name != "id"}


def test_an_entity_marked_as_unmapped_is_written(tmp_path):
    """The category says why NIL is NIL; it must not replace an entity."""
    predictions = (
        Prediction(0, 3, "Q1", categories=("nil:no-mapping",)),
        Prediction(4, 5, None, categories=("nil:no-mapping",)),
        Prediction(6, 7, None),
    )
    path = tmp_path / "x.linked_articles.jsonl"
    karat.save(Run.from_responses([Response("7", predictions)]), path, format="elevant-linked")
    ids = [entry["id"] for entry in json.loads(path.read_text())["entity_mentions"]]
    assert ids == ["Q1", "<NO_MAPPING>", "<NIL>"]


@pytest.mark.parametrize("entity", ["<NIL>", "<NO_MAPPING>"])
def test_an_id_that_would_be_read_as_nil_is_refused(entity, tmp_path):
    run = Run.from_responses([Response("7", (Prediction(0, 3, entity),))])
    corpus = Corpus.from_documents([Document("7", "Ada", (Label(0, 3, entity),))])
    for data, format in ((run, "elevant-linked"), (corpus, "elevant")):
        with pytest.raises(UsageError, match=f"ELEVANT reads the entity '{entity}' as NIL"):
            karat.save(data, tmp_path / "x.jsonl", format=format)
