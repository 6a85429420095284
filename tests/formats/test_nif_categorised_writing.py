"""NIF with categories is written so that it comes back, or not at all."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, Label, Prediction, Response, Run, UsageError
from karat.model.finegrained_scheme import NODES
from tests import strategies
from tests.formats.test_nif_categorised import GOLD, PREDICTIONS, written

SUFFIX = ".categorised.ttl"


def again(data: Corpus | Run) -> Corpus | Run:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{SUFFIX}"
        karat.save(data, path)
        found = karat.load(path) if isinstance(data, Corpus) else karat.load_run(path)
    lost = {name for name in found.skipped if not name.startswith("sentences of a single document")}  # a mere note
    assert not lost
    return found


def test_a_small_gold_standard_comes_back(tmp_path):
    corpus = karat.load(written(tmp_path, GOLD))
    found = again(corpus)
    assert list(found) == list(corpus)
    assert found.digest == corpus.digest


def test_small_predictions_come_back(tmp_path):
    run = karat.load_run(written(tmp_path, PREDICTIONS))
    assert list(again(run)) == list(run)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["categorizedKORE50", "categorizedACE04", "categorizedVoxEL"])
def test_the_published_gold_standards_come_back(shared, name):
    corpus = karat.load(shared / "finegrained" / "gold" / f"{name}.ttl")
    found = again(corpus)
    assert list(found) == list(corpus)
    assert found.digest == corpus.digest


@pytest.mark.shared
def test_the_published_predictions_come_back(shared):
    files = sorted((shared / "finegrained" / "systems").iterdir())
    assert len(files) == 18
    for path in files:
        run = karat.load_run(path)
        assert list(again(run)) == list(run)


CATEGORIES = st.lists(st.sampled_from(sorted(NODES)), max_size=4, unique=True).map(tuple)
LINKS = st.lists(strategies.WORDS, max_size=3, unique=True).map(tuple)


@st.composite
def categorised(draw):
    """Documents with what the format holds: alternatives only of one place, sentences, a source."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(strategies.TEXT)
        places = sorted(draw(st.sets(strategies.spans(len(text)), max_size=4)))
        labels: list[Label] = []
        for start, end in places:
            entities = draw(st.lists(st.sampled_from([*strategies.ENTITIES, UNLINKED]), min_size=1, max_size=3))
            distinct = list(dict.fromkeys(entities))
            for entity in distinct:
                linked = {"same_as": draw(LINKS.filter(lambda x: "Q1" not in x))} if isinstance(entity, str) else {}
                types = tuple(draw(st.lists(strategies.WORDS, max_size=2)))
                unit = f"{start}-{end}" if len(distinct) > 1 else None
                more = {"types": types, "categories": draw(CATEGORIES), "mention_id": unit}
                labels.append(Label(start, end, entity, **linked, **more))
        cut = draw(st.integers(0, len(text)))
        crossed = any(label.start < cut < label.end for label in labels)
        sentences = f"0,{len(text)}" if crossed or cut in (0, len(text)) else f"0,{cut} {cut},{len(text)}"
        source = draw(strategies.WORDS)
        meta = {"sentences": sentences, **({"sourceUrl": source} if source else {})}
        found.append(Document(f"d{number}" + draw(strategies.WORDS), text, tuple(labels), meta=meta))
    return found


@given(categorised())
def test_a_corpus_comes_back(documents):
    corpus = Corpus.from_documents(documents)
    assert list(again(corpus)) == list(corpus)


@given(strategies.rich_responses(), CATEGORIES)
def test_a_run_comes_back(responses, categories):
    kept = [
        Response(
            response.id,
            tuple(
                Prediction(
                    prediction.start,
                    prediction.end,
                    prediction.entity,
                    same_as=prediction.same_as if isinstance(prediction.entity, str) else (),
                    types=prediction.types,
                    categories=categories,
                    score=prediction.score,
                )
                for prediction in response.predictions
            ),
        )
        for response in responses
    ]
    assert list(again(Run.from_responses(kept))) == kept


def test_documents_of_one_address_and_its_parts_come_back():
    names = ["x", "x#char=0,2", "x#1", "x;", "x_sentence0#0,2", "x_sentence0#char=0,1", "x#1_sentence0#0,2"]
    documents = [Document(name, "ab", (Label(0, 1, "a"),), meta={"sentences": "0,2"}) for name in names]
    assert list(again(Corpus.from_documents(documents))) == documents
    responses = [Response(name, (Prediction(0, 1, "a"),)) for name in [*names, "x_sentence0#0"]]
    assert list(again(Run.from_responses(responses))) == responses


@pytest.mark.parametrize("sentences", [None, "no numbers", "0,2 1,4", "4,6 0,4", "0,99", "2,6", "0,1 1,6", "0,4,6"])
def test_a_text_whose_sentences_do_not_hold_all_mentions_is_one(sentences):
    meta = {} if sentences is None else {"sentences": sentences}
    document = Document("d", "ab cd.", (Label(0, 2, "a"), Label(3, 5, "b")), meta=meta)
    (found,) = again(Corpus.from_documents([document]))
    assert found.meta == {"sentences": "0,6"}
    assert found.labels == document.labels


A, B = Label(0, 1, "a"), Label(0, 1, "b")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ((A, B), "two separate mentions at [0, 1)"),
        ((Label(0, 1, "a", mention_id="u"), Label(0, 1, "b", mention_id="v")), "two separate mentions at [0, 1)"),
        ((Label(0, 1, "a", mention_id="u"), Label(0, 2, "a", mention_id="u")), "at two spans (mention_id 'u')"),
        ((Label(0, 1, "a", categories=("form:Nickname",)),), "the category 'form:Nickname'"),
        ((Label(0, 1, "a", types=("http://ex.org/Alias", "x#AdverbPoS")),), "the type 'x#AdverbPoS'"),
        ((Label(0, 1, "https://en.wikipedia.org/wiki/NotInLexico"),), "which means NIL"),
        ((Label(0, 1, None, same_as=("b",)),), "ids for a mention without entity ('b')"),
    ],
)
def test_what_would_be_read_as_something_else_is_refused(tmp_path, labels, said):
    path = tmp_path / f"x{SUFFIX}"
    with pytest.raises(UsageError) as problem:
        karat.save(Corpus.from_documents([Document("d", "ab", labels)]), path)
    assert said in str(problem.value)
    assert not path.exists()


def test_what_is_written_is_strict_turtle_and_recognised_whatever_its_length(tmp_path):
    label = Label(2, 3, "http://ex.org/é", types=("http://ex.org/T",), categories=("form:ProperForm", "overlap:None"))
    meta = {"sentences": "0,1 1,3", "sourceUrl": "http://ex.org/d"}
    gold = Corpus.from_documents([Document("http://ex.org/d#char=0,3", 'a"b' + "x" * 100_000, (label,), meta=meta)])
    run = Run.from_responses(
        [Response("http://ex.org/d#char=0,3", (Prediction(2, 3, None, types=("http://ex.org/T",)),))]
    )
    for data, name in (
        (gold, "gold"),
        (run, "predictions"),
        (Run.from_responses([Response("http://ex.org/d")]), "none"),
    ):
        path = tmp_path / f"{name}.ttl"
        karat.save(data, path, format="nif-categorised")
        assert list(pyoxigraph.parse(path.read_bytes(), pyoxigraph.RdfFormat.TURTLE))
        assert list(karat.load(path) if name == "gold" else karat.load_run(path)) == list(data)
    lines = (tmp_path / "gold.ttl").read_text(encoding="utf-8").splitlines()
    assert lines[-8:] == [
        "    a nif:Phrase , nif:String , nif:RFC5147String ;",
        "    nif:referenceContext <http://ex.org/d_sentence1#1,3> ;",
        "    nif:context <http://ex.org/d#char=0,3> ;",
        '    nif:beginIndex "1"^^xsd:nonNegativeInteger ;',
        '    nif:endIndex "2"^^xsd:nonNegativeInteger ;',
        '    nif:anchorOf "b" ;',
        "    itsrdf:taIdentRef <http://ex.org/é> ;",
        "    itsrdf:taClassRef fel:ProperForm , fel:NoOverlap , <http://ex.org/T> .",
    ]


def test_a_conversion_says_what_is_lost_and_nothing_where_nothing_is(tmp_path, karat_cli):
    source = written(tmp_path, GOLD)
    ran = karat_cli("data", "convert", source, tmp_path / f"again{SUFFIX}")
    assert ran.code == 0
    assert "1 document, 4 labels to NIF with categories" in ran.err
    assert "not stored" not in ran.err
    more = Document("http://a.org/d", "ab", (Label(0, 1, "a", optional=True),), meta={"domain": "news"})
    karat.save(Corpus.from_documents([more]), tmp_path / "more.jsonl")
    ran = karat_cli("data", "convert", tmp_path / "more.jsonl", tmp_path / f"more{SUFFIX}")
    assert ran.code == 0
    assert "not stored: optional of labels 1\n" in ran.err
    assert "not stored: meta of documents 1\n" in ran.err
