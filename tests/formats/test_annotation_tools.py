"""Laws of the formats of annotation tools: what is written comes back, whatever the tool can show."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from io import BytesIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.formats.parsing.annotation_tools.selection import split_annotators
from karat.model.errors import UsageError
from karat.model.registry import get_plugin
from karat.model.run import OTHER_LABELS_NOTE, to_text_column
from karat.model.spec.annotations import AnnotatedCorpus, AnnotatedDocument, AnnotatorVersion, NotedLabels
from karat.model.spec.format import Format
from tests import strategies
from tests.conftest import EXTRA_FORMATS
from tests.formats.broken import nearly, read_or_refused
from tests.formats.test_hf_datasets import Held

TOOLS = [
    pytest.param(name, marks=pytest.mark.extras if name in EXTRA_FORMATS else ())
    for name in ("label-studio", "doccano", "inception", "inception-json")
]
TEAM_TOOLS = [param for param in TOOLS if param.values[0] != "doccano"]
ASTRAL = st.text(st.sampled_from("a B\U0001f600\u0301\r\n\té中"), min_size=1, max_size=12)


def get_format(name):
    return get_plugin("formats", name, Format)


def written(write, data):
    """The bytes of a file, or None where the format refuses a character that it cannot hold."""
    file = BytesIO()
    with suppress(UsageError):
        write(data, file)
        return file.getvalue()
    with pytest.raises(UsageError, match="control character"):
        write(data, file)
    return None


@pytest.mark.parametrize("name", TOOLS)
@given(documents=strategies.rich_documents(), metadata=strategies.metadata)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
def test_a_gold_standard_comes_back_with_every_field(name, documents, metadata):
    tool = get_format(name)
    corpus = Corpus.from_documents(documents, name="gold", **metadata)
    data = written(tool.write_corpus, corpus)
    if data is not None:
        again = tool.read_corpus(Held(data), True)
        assert list(again) == documents
        assert (again.name, again.metadata, again.digest) == ("gold", metadata, corpus.digest)
        assert again.skipped == {}


@pytest.mark.parametrize("name", TOOLS)
@given(responses=strategies.rich_responses(), metadata=strategies.metadata, has_texts=st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
def test_predictions_come_back_with_every_field(name, responses, metadata, has_texts):
    tool = get_format(name)
    run = Run.from_responses(responses, name="mine", **metadata)
    if has_texts:
        run = replace(run, texts=to_text_column(["\U0001f600 twelve long"] * len(run)))
    data = written(tool.write_run, run)
    if data is not None:
        source = Held(data)
        assert tool.recognises(source.first_bytes)
        assert not tool.has_gold(source)
        again = tool.read_run(source)
        assert list(again) == responses
        assert (again.name, again.metadata, again.digest) == ("mine", metadata, run.digest)
        assert (again.texts is not None) == has_texts


@pytest.mark.parametrize("name", TOOLS)
@given(text=ASTRAL, data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20, deadline=None)
def test_offsets_survive_emoji_and_line_breaks(name, text, data):
    start, end = data.draw(strategies.spans(len(text)))
    tool = get_format(name)
    corpus = Corpus.from_documents([Document("d", text, (Label(start, end, "Q1", types=("PER",)),))])
    (document,) = tool.read_corpus(Held(written(tool.write_corpus, corpus)), True)
    assert (document.text, document.labels[0].span) == (text, (start, end))


VERSIONS = st.dictionaries(
    st.sampled_from(["anna@example.org", "ben", "c/d"]), st.sampled_from(["done", "open", "skipped"]), max_size=3
)


@pytest.mark.parametrize("name", TEAM_TOOLS)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
def test_the_labels_of_a_team_come_back(name, data):
    tool = get_format(name)
    labels = (Label(0, 3, "Q1", types=("PER",)), Label(0, 7, None, nil_cluster="x"), Label(8, 11))
    items = []
    for number in range(data.draw(st.integers(1, 2))):
        versions = tuple(
            AnnotatorVersion(
                annotator,
                NotedLabels(labels[: data.draw(st.integers(0, 3))], {}),
                status,
                "too long" if status == "skipped" else "",
            )
            for annotator, status in data.draw(VERSIONS).items()
        )
        gold = data.draw(st.none() | st.just(NotedLabels(labels, {0: "a note", 2: "another"})))
        predictions = data.draw(st.sampled_from([{}, {"sys": Response(f"d{number}", (Prediction(0, 3, "Q1"),))}]))
        document = Document(f"d{number}", "Ada met Bob", meta={"lang": "en"})
        items.append(AnnotatedDocument(document, versions, gold, predictions))
    annotated = AnnotatedCorpus("team", tuple(items), {"a": "b"})
    again = tool.read_annotations(Held(written(tool.write_annotations, annotated)))
    assert (again.name, again.metadata, again.skipped) == ("team", {"a": "b"}, {})
    for mine, theirs in zip(items, again.documents, strict=True):
        assert theirs.document == mine.document
        assert theirs.gold == mine.gold
        assert theirs.predictions == mine.predictions
        assert sorted(theirs.versions, key=repr) == sorted(mine.versions, key=repr)


@pytest.mark.parametrize("name", TEAM_TOOLS)
def test_annotators_are_corpora_of_their_own(name):
    tool = get_format(name)
    first, second = NotedLabels((Label(0, 3, "Q1"),)), NotedLabels((Label(0, 3, "Q2"),))
    versions = (
        AnnotatorVersion("anna", first),
        AnnotatorVersion("ben", second),
        AnnotatorVersion("cid", first, "skipped"),
        AnnotatorVersion("dan", first, "open"),
    )
    item = AnnotatedDocument(Document("d", "Ada"), versions)
    source = Held(written(tool.write_annotations, AnnotatedCorpus("team", (item,))))
    corpora = split_annotators(tool.read_annotations(source))
    assert {name: [label.entity for d in corpus for label in d.labels] for name, corpus in corpora.items()} == {
        "anna": ["Q1"],
        "ben": ["Q2"],
    }
    with pytest.raises(InputError, match=r"different labels by anna, ben, and no adjudicated ones.*karat agreement"):
        tool.read_corpus(source, True)
    same = AnnotatedDocument(Document("d", "Ada"), (*versions[:1], AnnotatorVersion("ben", first)))
    agreed = Held(written(tool.write_annotations, AnnotatedCorpus("team", (same,))))
    assert [d.labels for d in tool.read_corpus(agreed, True)] == [first.labels]


def _small(name):
    tool = get_format(name)
    labels = (Label(0, 1, "Q1", name="Ada", types=("PER",)), Label(2, 5, None), Label(2, 4))
    corpus = Corpus.from_documents([Document("d", "\U0001f600 Ada", labels), Document("e", "")])
    return tool, written(tool.write_corpus, corpus)


@pytest.mark.parametrize("name", TOOLS)
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
def test_whatever_is_wrong_with_a_file_one_error_says_so(name, data):
    tool, content = _small(name)
    read_or_refused(lambda source: tool.read_corpus(source, True), data.draw(nearly(content)))


@pytest.mark.parametrize("name", [*TOOLS, "brat", "bioc", "karat-jsonl"])
def test_a_gold_standard_predicts_one_of_its_alternatives_and_no_part(name, tmp_path):
    """Of 6 labels: 2 alternatives of one span, 2 parts of the Ulm museum, and 2 others, one of them optional."""
    labels = (
        Label(0, 3, "Q1", mention_id="a"),
        Label(0, 3, "Q2", mention_id="a"),
        Label(4, 14, "Q3", mention_id="b"),
        Label(4, 7, "Q4", mention_id="c", parent="b"),
        Label(8, 14, "Q5", mention_id="d", parent="b"),
        Label(15, 18, "Q6", optional=True),
    )
    path = str(tmp_path / "gold")
    karat.save(Corpus.from_documents([Document("d", "Ada Ulm museum Bob", labels)]), path, format=name)
    gold, run = karat.load(path, format=name), karat.load_run(path, format=name)
    assert [(item.start, item.entity) for item in next(iter(run)).predictions] == [(0, "Q1"), (4, "Q3"), (15, "Q6")]
    assert run.skipped[OTHER_LABELS_NOTE] == 3
    assert karat.evaluate(gold, run)["strong:micro.f1"] == 1
