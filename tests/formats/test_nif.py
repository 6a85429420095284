"""Plain NIF: contexts, annotations and topics, as gold and as predictions."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import msgspec
import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Response, Run, Tag, Triple
from karat.data.convert import is_value
from karat.formats.parsing.turtle import lines, statement_patterns, turtle
from karat.formats.parsing.turtle.lines import UnreadRest
from karat.formats.plugins.nif import FORMAT
from tests import strategies

HEAD = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix ex: <http://ex.org/> .
"""

GOLD = (
    HEAD
    + """
<http://ex.org/1#char=0,26>
    a nif:RFC5147String , nif:String , nif:Context ;
    nif:beginIndex "0"^^xsd:nonNegativeInteger ;
    nif:endIndex "27"^^xsd:nonNegativeInteger ;
    nif:isString "😀 Ada met Babbage in Turin"@en ;
    nif:sourceUrl <http://ex.org/1> ;
    nif:topic <http://ex.org/t1> , ex:Mathematics .

<http://ex.org/1#char=2,5>
    a nif:RFC5147String , nif:String , nif:Phrase ;
    nif:anchorOf "Ada" ;
    nif:beginIndex "2"^^xsd:nonNegativeInteger ;
    nif:endIndex "5"^^xsd:nonNegativeInteger ;
    nif:referenceContext <http://ex.org/1#char=0,26> ;
    itsrdf:taClassRef ex:Person ;
    itsrdf:taIdentRef ex:Ada , ex:Countess .

<http://ex.org/1#char=10,17>
    a nif:Phrase ;
    nif:anchorOf "Babbage" ;
    nif:beginIndex 10 ;
    nif:endIndex 17 ;
    nif:referenceContext <http://ex.org/1#char=0,26> .

<http://ex.org/1#char=21,26>
    a nif:Phrase , nif:Word ;
    nif:anchorOf "Milan" ;
    nif:beginIndex 21 ;
    nif:endIndex 26 ;
    nif:referenceContext <http://ex.org/1#char=0,26> ;
    itsrdf:taClassRef ex:City ;
    itsrdf:taIdentRef ex:Turin .

<http://ex.org/1#char=6,9>
    a nif:Word ;
    nif:beginIndex 6 ;
    nif:endIndex 9 ;
    nif:posTag "VBD" ;
    nif:referenceContext <http://ex.org/1#char=0,26> .

<http://ex.org/t1>
    itsrdf:taIdentRef ex:Computing ;
    nif:confidence 0.5 .

ex:Turin a ex:City , ex:Place ; owl:sameAs ex:Torino .
ex:Torino owl:sameAs ex:Taurinorum .
ex:Mathematics a ex:Field .

<http://ex.org/2> a nif:Context ; nif:isString "No one" .
"""
)


def written(tmp_path: Path, text: str, name: str = "x.ttl") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def annotation(span: str, more: str, context: str = "c", subject: str = "") -> str:
    start, end = span.split(",")
    return (
        f"<{subject or f'{context}#char={span}'}> nif:referenceContext <{context}> ;"
        f" nif:beginIndex {start} ; nif:endIndex {end} {more} .\n"
    )


def context(text: str, name: str = "c") -> str:
    return f'<{name}> a nif:Context ; nif:isString "{text}" .\n'


def test_gold(tmp_path):
    corpus = karat.load(written(tmp_path, GOLD))
    assert list(corpus) == [
        Document(
            "http://ex.org/1#char=0,26",
            "😀 Ada met Babbage in Turin",
            (
                Label(2, 5, "http://ex.org/Ada", same_as=("http://ex.org/Countess",), types=("http://ex.org/Person",)),
                Label(10, 17),
                Label(
                    21,
                    26,
                    "http://ex.org/Turin",
                    same_as=("http://ex.org/Torino", "http://ex.org/Taurinorum"),
                    types=("http://ex.org/City", "http://ex.org/Place"),
                ),
            ),
            tags=(Tag("http://ex.org/Computing", score=0.5), Tag("http://ex.org/Mathematics")),
            meta={"sourceUrl": "http://ex.org/1"},
        ),
        Document("http://ex.org/2", "No one"),
    ]
    assert corpus.skipped == {
        "texts whose length differs from the stated one": 1,
        "anchors that differ from the text": 1,
        "words, sentences and paragraphs": 1,
        "statements with posTag about annotations": 1,
    }


def test_gold_as_the_predictions_of_a_second_annotator(tmp_path):
    run = karat.load_run(written(tmp_path, GOLD))
    assert [(a.start, a.end, a.entity) for a in next(iter(run)).predictions] == [
        (2, 5, "http://ex.org/Ada"),
        (10, 17, UNLINKED),
        (21, 26, "http://ex.org/Turin"),
    ]
    assert [response.id for response in run] == ["http://ex.org/1#char=0,26", "http://ex.org/2"]


def test_predictions(tmp_path):
    scored = annotation("0,2", "; itsrdf:taIdentRef <a> ; itsrdf:taConfidence 0.25")
    path = written(tmp_path, HEAD + "<empty> a nif:Context .\n" + scored + annotation("0,2", "", context="d"))
    assert list(karat.load_run(path)) == [
        Response("empty"),
        Response("c", (Prediction(0, 2, "a", score=0.25),)),
        Response("d", (Prediction(0, 2),)),
    ]


def test_both_are_read_from_a_file_with_confidences(tmp_path):
    path = written(tmp_path, HEAD + context("ab") + annotation("0,2", "; itsrdf:taConfidence 1"))
    assert list(karat.load(path)) == [Document("c", "ab", (Label(0, 2),))]
    assert list(karat.load_run(path)) == [Response("c", (Prediction(0, 2, score=1.0),))]


def test_confidences_are_looked_for_in_the_whole_file(tmp_path):
    late = annotation("0,2", "; itsrdf:taConfidence 0.5", context="late")
    path = written(tmp_path, HEAD + context("x" * (1 << 20) + "ab") + late)
    assert path.read_bytes().find(b"taConfidence") > 1 << 20
    assert list(karat.load_run(path))[1].predictions[0].score == 0.5


@pytest.mark.parametrize("link", ["rdf:nil", "[]", "[ a <T> ]", "_:b"])
def test_nil(tmp_path, link):
    rdf = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
    path = written(tmp_path, HEAD + rdf + context("ab") + annotation("0,2", f"; itsrdf:taIdentRef {link}"))
    assert next(iter(karat.load(path))).labels[0].entity is None


def test_annotations_may_stand_before_their_context_and_be_said_in_pieces(tmp_path):
    pieces = "<p> itsrdf:taIdentRef <a> .\n<q> nif:beginIndex 1 .\n<p> nif:endIndex 2 ; nif:referenceContext <c> .\n"
    more = "<r> a nif:Phrase .\n<p> nif:beginIndex 0 .\n<r> a nif:Phrase .\n<p> itsrdf:taIdentRef <b> .\n"
    corpus = karat.load(written(tmp_path, HEAD + pieces + more + context("abc")))
    assert list(corpus) == [Document("c", "abc", (Label(0, 2, "a", same_as=("b",)),))]
    assert corpus.skipped == {"annotations without context": 1}


def test_a_context_may_be_an_annotation_of_itself(tmp_path):
    both = annotation("0,2", '; nif:isString "ab" ; itsrdf:taIdentRef <a>', subject="c")
    assert list(karat.load(written(tmp_path, HEAD + both))) == [Document("c", "ab", (Label(0, 2, "a"),))]


def test_annotations_that_share_an_address_are_kept_apart(tmp_path):
    first, second = (annotation("0,1", f"; itsrdf:taIdentRef <{n}>", context=n, subject="same") for n in "cd")
    third = annotation("1,2", "; itsrdf:taIdentRef <e>", context="d", subject="same")
    texts = context("ab"), context("ab", "d")
    corpus = karat.load(written(tmp_path, HEAD + first + second + texts[0] + third + texts[1]))
    assert [document.labels for document in corpus] == [(Label(0, 1, "c"),), (Label(0, 1, "d"), Label(1, 2, "e"))]
    assert corpus.skipped == {"annotations that share their address": 2}


def test_a_label_given_twice_is_kept_once_and_an_prediction_twice(tmp_path):
    twice = "".join(annotation("0,1", "; itsrdf:taIdentRef <a>", subject=name) for name in "pq")
    path = written(tmp_path, HEAD + context("ab") + twice)
    corpus = karat.load(path)
    assert next(iter(corpus)).labels == (Label(0, 1, "a"),)
    assert corpus.skipped == {"duplicate mentions (dropped)": 1}
    assert len(FORMAT.read_run(karat.storage.files.Source(str(path))).predictions) == 2


def test_what_is_left_out_is_counted(tmp_path):
    spanless = "<s> nif:referenceContext <c> ; itsrdf:taIdentRef <a> .\n"
    textless = "<t> a nif:Context .\n" + annotation("0,1", "", context="t")
    topics = "<c> nif:topic <topic> .\n<topic> nif:confidence 1 ; <why> <what> .\n"
    corpus = karat.load(written(tmp_path, HEAD + context("ab") + spanless + textless + topics + "<e> <p> 1 .\n"))
    assert list(corpus) == [Document("c", "ab")]
    assert corpus.skipped == {
        "annotations without a span": 1,
        "contexts without text": 1,
        "annotations of contexts without text": 1,
        "topics without link": 1,
        "statements with why about topics": 1,
        "statements with p about entities and other things": 1,
    }


def relation(subject, parts, more="", context="c"):
    names = ("subject", "predicate", "object")
    values = "".join(f"; rdf:{name} {' , '.join(ids)} " for name, ids in zip(names, parts, strict=True) if ids)
    return f"<{subject}> a rdf:Statement {values}; nif:referenceContext <{context}> {more}.\n"


RDF = "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"


def test_relations_are_statements_with_a_context(tmp_path):
    """As in GERBIL's own data of OKE 2018 Task 4; further IRIs of a part are its other ids."""
    same = "<b> owl:sameAs <e> .\n"
    statement = relation("r", [["<a>"], ["<p>"], ["<b>", "<d>"]], "; itsrdf:taConfidence 0.5 ")
    path = written(tmp_path, HEAD + RDF + same + context("ab") + statement)
    triple = Triple("a", "p", "b", object_same_as=("d", "e"))
    assert list(karat.load(path)) == [Document("c", "ab", relations=(triple,))]
    run = karat.load_run(path)
    assert list(run) == [Response("c", relations=(msgspec.structs.replace(triple, score=0.5),))]
    assert run.skipped == {}


def test_incomplete_relations_are_counted_and_those_without_context_are_warned_of(tmp_path):
    parts = [["<a>"], ["<p>"], ["<b>"]]
    incomplete = relation("r", [["<a>"], ["<p>"], []]) + relation("s", [["[]"], ["<p>"], ["<b>"]])
    contextless = relation("t", parts).replace("nif:referenceContext", "<why>")
    elsewhere = relation("u", parts, context="unknown")
    path = written(tmp_path, HEAD + RDF + context("ab") + incomplete + contextless + elsewhere)
    corpus = karat.load(path)
    assert list(corpus) == [Document("c", "ab")]
    assert corpus.skipped == {
        "relations without subject, predicate or object": 2,
        "warning: relations without nif:referenceContext are not read": 1,
        "statements with why about relations": 1,
        "relations of contexts without text": 1,
    }


def test_relations_of_nif_are_scored(tmp_path):
    """Linking is perfect and the only relation has another predicate, so the mean of both tasks is 50."""
    mention = annotation("0,1", "; itsrdf:taIdentRef <http://dbpedia.org/resource/A>")
    gold, predicted = (
        HEAD + RDF + context("ab") + mention + relation("r", [["<a>"], [predicate], ["<b>"]])
        for predicate in ("<p>", "<q>")
    )
    result = karat.evaluate(
        written(tmp_path, gold, "gold.ttl"),
        written(tmp_path, predicted, "mine.ttl"),
        profile="gerbil",
        settings={"task": "oke2018-task4"},
    )
    assert result["strong:micro.f1"] == 0.5


def test_prefixes_need_not_be_declared(tmp_path):
    path = written(tmp_path, "\n" + context("ab") + annotation("0,1", "; itsrdf:taIdentRef <a>"))
    corpus = karat.load(path)
    assert list(corpus) == [Document("c", "ab", (Label(0, 1, "a"),))]
    assert corpus.skipped == {"prefixes that were not declared": 2}


@pytest.mark.parametrize(
    ("more", "where", "found"),
    [
        (annotation("0,9", ""), ": <c>", "label [0, 9) in a text of 2 code points"),
        (annotation("1,1", ""), ": <c>", "label [1, 1)"),
        (annotation('0,"x"', "", subject="p"), ": <p>", "'x' for the endIndex"),
        (annotation("0,99999999999", "", subject="p"), ": <p>", "'99999999999' for the endIndex"),
        (annotation("0,1", '; itsrdf:taConfidence "high"', subject="p"), ": <p>", "'high' for the taConfidence"),
        ("<p> nif:beginIndex 1\n", ":8", "invalid Turtle (Unexpected end)"),
        ("<p> un:known 1 .\n", ":7", "invalid Turtle (The prefix un: has not been declared)"),
    ],
)
def test_errors_say_where(tmp_path, more, where, found):
    path = written(tmp_path, HEAD + context("ab") + more)
    with pytest.raises(InputError) as problem:
        karat.load(path)
    assert problem.value.where == f"{path}{where}"
    assert problem.value.actual.startswith(found)


def test_a_gold_file_needs_texts(tmp_path):
    path = written(tmp_path, HEAD + "<c> a nif:Context .\n" + annotation("0,1", ""))
    with pytest.raises(InputError, match="no context with a text"):
        karat.load(path)


def test_a_damaged_compressed_file_is_an_input_error(tmp_path):
    karat.save(Corpus.from_documents([Document("d", "ab" * 5000)]), tmp_path / "x.ttl.gz")
    whole = (tmp_path / "x.ttl.gz").read_bytes()
    (tmp_path / "cut.ttl.gz").write_bytes(whole[:-8])
    with pytest.raises(InputError, match="damaged"):
        karat.load(tmp_path / "cut.ttl.gz", format="nif")


NAMES = st.lists(strategies.WORDS.filter(lambda name: name != "Q1"), max_size=2, unique=True).map(tuple)


def _kept(item, names):
    """What the format holds of a label or an prediction, with names of its own."""
    score = {"score": item.score} if isinstance(item, Prediction) else {}
    same_as = () if item.entity is UNLINKED else names
    return type(item)(item.start, item.end, item.entity, same_as=same_as, types=names, **score)


def _again(data: Corpus | Run, suffix: str) -> list:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"x{suffix}"
        karat.save(data, path)
        return list(karat.load(path) if isinstance(data, Corpus) else karat.load_run(path))


@given(strategies.rich_documents(), NAMES, st.sampled_from([".ttl", ".ttl.gz"]))
def test_a_corpus_comes_back(documents, names, suffix):
    """All but quantities and datetimes, which have no IRI."""
    labels = {d.id: [label for label in d.labels if not is_value(label)] for d in documents}
    kept = [
        Document(d.id, d.text, tuple(_kept(label, names) for label in labels[d.id]), tags=d.tags) for d in documents
    ]
    loaded = [
        msgspec.structs.replace(
            d, labels=tuple(msgspec.structs.replace(x, same_as=names, types=names) for x in d.labels)
        )
        for d in documents
    ]
    assert _again(Corpus.from_documents(loaded), suffix) == kept


@given(strategies.rich_responses(), NAMES)
def test_a_run_comes_back(responses, names):
    kept = [
        Response(r.id, tuple(_kept(prediction, names) for prediction in r.predictions), tags=r.tags) for r in responses
    ]
    loaded = [
        msgspec.structs.replace(
            r, predictions=tuple(msgspec.structs.replace(x, same_as=names, types=names) for x in r.predictions)
        )
        for r in responses
    ]
    assert _again(Run.from_responses(loaded), ".ttl") == kept


def test_documents_of_one_address_and_its_parts_come_back():
    """Addresses of annotations are made from those of contexts, and must not be those of others."""
    names = ["x", "x#char=0,2", "x#char=0,1", "x#y", "x#y&char=0,1"]
    labels = (Label(0, 1, "a"), Label(0, 1, "b"), Label(0, 1), Label(0, 2, "a"))
    documents = [Document(name, "ab", labels) for name in names]
    with TemporaryDirectory() as folder:
        karat.save(Corpus.from_documents(documents), Path(folder) / "x.ttl")
        again = karat.load(Path(folder) / "x.ttl")
    assert list(again) == documents
    assert not again.skipped


def test_what_is_written_is_strict_turtle_and_the_same_each_time(tmp_path):
    label = Label(0, 1, "http://ex.org/é", same_as=("http://ex.org/b",), types=("http://ex.org/T",))
    tag = Tag("http://ex.org/t", rank=2, score=0.5)
    corpus = Corpus.from_documents(
        [Document("http://ex.org/d#char=0,6", 'a"\\\n\t\x07', (label, Label(1, 2, None)), tags=(tag,))]
    )
    for name in ("x.ttl", "y.ttl"):
        karat.save(corpus, tmp_path / name)
    data = (tmp_path / "x.ttl").read_bytes()
    assert data == (tmp_path / "y.ttl").read_bytes()
    assert len(list(pyoxigraph.parse(data, pyoxigraph.RdfFormat.TURTLE))) == 29
    assert data.decode().splitlines()[5:14] == [
        "<http://ex.org/d#char=0,6>",
        "    a nif:Context , nif:String , nif:RFC5147String ;",
        '    nif:beginIndex "0"^^xsd:nonNegativeInteger ;',
        '    nif:endIndex "6"^^xsd:nonNegativeInteger ;',
        '    nif:isString "a\\"\\\\\\n\\t\\u0007" ;',
        "    nif:topic [ a nif:Annotation ; itsrdf:taIdentRef <http://ex.org/t> ;"
        ' <http://schema.org/position> 2 ; nif:confidence "0.5"^^xsd:double ] .',
        "",
        "<http://ex.org/d#char=0,1>",
        "    a nif:Phrase , nif:String , nif:RFC5147String ;",
    ]


@pytest.mark.parametrize(
    ("opening", "known"),
    [
        (GOLD.encode(), True),
        (b"\xef\xbb\xbf" + GOLD.encode(), True),
        (b"# by hand\n" + GOLD.encode(), True),
        (b'<c> nif:isString "x" .', True),
        (b"<c> <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#isString> 'x' .", True),
        (b"@prefix ex: <http://ex.org/> . ex:a ex:b ex:c .", False),
        (b'<?xml version="1.0"?><r xmlns:nif="http://x/nlp2rdf/ontologies/nif-core#"/>', False),
        (b'{"nif": "nlp2rdf/ontologies/nif-core#"}', False),
        (b"a text that says nlp2rdf/ontologies/nif-core#", False),
    ],
)
def test_recognition(opening, known):
    assert FORMAT.recognises(opening) is known


@pytest.mark.shared
def test_no_other_file_is_taken_for_nif(shared):
    claimed = []
    for path in sorted(path for path in shared.rglob("*") if path.is_file() and path.suffix != ".ttl"):
        with path.open("rb") as file:
            if FORMAT.recognises(file.read(1 << 16)):
                claimed.append(path)
    assert claimed == []


@given(strategies.rich_documents(), st.none() | st.tuples(st.floats(0, 1), st.sampled_from(list('<>"\\.;, \n0'))))
def test_by_shape_and_triple_by_triple_the_same_is_read(documents, damage):
    sink = BytesIO()
    FORMAT.write_corpus(Corpus.from_documents([*documents, *_twice(documents)]), sink)
    text = sink.getvalue().decode()
    if damage is not None:
        place = int(damage[0] * len(text))
        text = text[:place] + damage[1] + text[place + 1 :]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.ttl"
        path.write_bytes(text.encode())
        with patch.object(lines, "_PATTERN_THRESHOLD", 0), patch.object(statement_patterns, "_MIN_FREQUENCY", 1):
            found = _read_or_refused(path)
        with patch.object(turtle, "read_by_line", _nothing_by_line):
            assert _read_or_refused(path) == found


def _twice(documents):
    """The documents under other ids, so that every shape comes twice."""
    return [msgspec.structs.replace(document, id=f"{document.id} again") for document in documents]


def _read_or_refused(path):
    try:
        corpus = karat.load(path, format="nif")
    except InputError as problem:
        return re.sub("<[0-9a-f]{32}>", "<blank node>", problem.where)  # the parser names blank nodes at random
    return corpus.digest, list(corpus), dict(corpus.skipped)


def _nothing_by_line(file, prefixes, state):
    yield from ()
    return UnreadRest(dict(prefixes), b"", 0)
