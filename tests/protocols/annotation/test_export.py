"""Gold standards with guidelines, agreement and provenance, and what formats cannot hold."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat import Corpus, Label, UsageError, load, save
from karat.data.absolute_iris import IriBases
from karat.data.convert import count_losses, select_storable
from karat.data.format_detection import list_formats
from karat.protocols.annotation.export import (
    build_gold_corpus,
    build_metadata,
    find_write_error,
    list_format_losses,
)
from karat.protocols.annotation.gold import build_gold, collect_versions
from karat.protocols.annotation.report import measure_agreement
from karat.protocols.annotation.version_pairs import VersionAgreement
from tests.protocols.annotation.projects import Recorder, make_project, make_task
from tests.strategies import labels as draw_labels

ANN, BOB = Label(0, 3, "Q1"), Label(5, 8, None, nil_cluster="Bob")


def small_project():
    recorder = Recorder()
    recorder.finish("a", 0, ANN, BOB)
    recorder.finish("b", 0, ANN)
    versions = {name: version.labels for name, version in collect_versions(recorder.records).items()}
    recorder.decide(0, versions, choice="a")
    project = make_project([make_task(0, "Ann  Bob."), make_task(1, "Cy.")], seed=3, whitelist=("Q215627",))
    return project, recorder


def test_metadata_and_provenance():
    project, recorder = small_project()
    agreement = measure_agreement(project, recorder.records, resamples=0)
    with pytest.raises(UsageError, match=r"1 of 2 documents are adjudicated \(1 documents that too few"):
        build_gold_corpus(project, recorder.records, agreement)
    corpus, gold = build_gold_corpus(project, recorder.records, agreement, is_partial=True)
    assert gold.counts["decided regions"] == 1
    (document,) = corpus
    assert document.labels == (ANN, BOB)
    assert document.meta == {"annotators": "a b", "adjudicated-regions": "1"}
    metadata = corpus.metadata
    assert metadata["guidelines"] == project.guidelines[0].version
    assert metadata[f"guidelines {project.guidelines[0].version}"] == "Mark all."
    assert metadata["annotators"] == "a b"
    assert metadata["adjudicators"] == "judge"
    assert metadata["documents-drawn"] == "2 of 2, seed 3"
    assert metadata["types"] == "person"
    assert metadata["gold: decided regions"] == "1"
    assert metadata["agreement"] == "F1 of spans 0.667, F1 of links 0.667; 1 document, before adjudication"
    assert msgspec.json.decode(metadata["agreement-json"], type=VersionAgreement) == agreement
    assert "kb" not in metadata


def test_metadata_without_agreement():
    project, _ = small_project()
    metadata = build_metadata(project, [], None)
    assert "agreement" not in metadata
    assert "annotated" not in metadata


def test_losses_of_every_format(tmp_path):
    project, recorder = small_project()
    corpus, _ = build_gold_corpus(project, recorder.records, None, is_partial=True)
    rows = {row.name: row for row in list_format_losses(corpus, IriBases("https://example.org/", None))}
    assert set(rows) == {name for name, target in list_formats() if target.writes_gold}
    assert rows["karat-jsonl"].losses == {}
    assert rows["elevant"].losses == {
        "nil_cluster of labels": 1,
        "metadata of the data as a whole (guidelines, agreement, provenance)": len(corpus.metadata),
    }
    for name, target in list_formats():
        if not target.writes_gold or rows[name].error is not None:
            continue
        path = tmp_path / (name if target.write_corpus is None else f"{name}{target.suffix}")
        bases = {"base": "https://example.org/"} if target.has_iris else {}
        save(corpus, path, format=name, **bases)
        has_metadata = load(path, format=name).metadata == corpus.metadata
        assert has_metadata == (not any("metadata" in loss for loss in rows[name].losses)), name


def test_formats_that_refuse_are_found_before_writing():
    corpus = Corpus.from_documents([make_document_of(Label(0, 3, "Q1", categories=("own:category",)))], licence="CC0")
    formats = dict(list_formats())
    assert "IRI" in (find_write_error(corpus, formats["nif"]) or "")
    bases = IriBases("https://example.org/", None)
    assert find_write_error(corpus, formats["nif"], bases) is None
    assert "own:category" in (find_write_error(corpus, formats["nif-categorised"], bases) or "")
    assert "metadata" in " ".join(count_losses(corpus, formats["nif"]))


def test_values_without_iri_are_losses_of_formats_of_iris(tmp_path):
    labels = Label(0, 3, "Q1"), Label(8, 11, None, kind="datetime", optional=True)
    corpus, formats = Corpus.from_documents([make_document_of(*labels)]), dict(list_formats())
    description, bases = "labels of quantities and datetimes, which have no IRI", IriBases("https://example.org/", None)
    assert count_losses(corpus, formats["nif"])[description] == 1
    assert description not in count_losses(corpus, formats["elevant"])
    assert find_write_error(corpus, formats["nif"], bases) is None
    save(select_storable(corpus, formats["nif"]), tmp_path / "gold.ttl", base="https://example.org/")
    (document,) = load(tmp_path / "gold.ttl")
    assert [label.span for label in document.labels] == [(0, 3)]


def make_document_of(*labels: Label):
    recorder = Recorder()
    recorder.finish("a", 0, *labels)
    (document,) = build_gold(make_project([make_task(0, "Ann met Bob.")], annotators=1), recorder.records).documents
    return document


@given(st.lists(draw_labels(12, plain=False, families=True), min_size=1, max_size=3))
def test_what_is_exported_is_loaded(tmp_path_factory, documents):
    recorder, tasks = Recorder(), []
    for number, labels in enumerate(documents):
        tasks.append(make_task(number, "abcdefghijkl", start=number % 2, end=12))
        recorder.finish("a", number, *labels)
    project = make_project(tasks, annotators=1)
    corpus, _ = build_gold_corpus(project, recorder.records, None)
    path = tmp_path_factory.mktemp("export") / "gold.jsonl"
    save(corpus, path)
    again = load(path)
    assert list(again) == list(corpus)
    assert again.metadata == corpus.metadata
    assert again.digest == corpus.digest
