"""BioC JSON: the ways in which files hold documents, offsets from the beginning of the document, infons."""

from __future__ import annotations

import json
from importlib import import_module
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Triple, UsageError
from karat.formats.plugins.bioc import FORMAT
from karat.storage.files import Source
from tests.formats.broken import nearly, read_or_refused
from tests.strategies import rich_documents, rich_responses


def note(name, offset, text, **infons):
    locations = [{"offset": offset, "length": len(text)}]
    return {"id": name, "infons": infons, "text": text, "locations": locations}


def article(**more):
    title = {
        "infons": {"type": "title"},
        "offset": 0,
        "text": "Café chalk.",
        "annotations": [note("1", 5, "chalk", type="Drug", identifier="MESH:D1", source="hand")],
        "relations": [],
    }
    body = {
        "infons": {"type": "abstract"},
        "offset": 12,
        "text": "Less pain.",
        "annotations": [note("2", 17, "pain", type="Sign", MESH="-1"), note("3", 12, "Less", identifier="-")],
        "relations": [{"id": "R1", "infons": {"type": "CID"}, "nodes": [{"refid": "1", "role": ""}, {"refid": "4"}]}],
    }
    return {"id": "7", "infons": {"journal": "J"}, "passages": [title, body], **more}


LOOSE = [
    note("4", 18, "ain", type="Part", OMIM=5),
    {**note("5", 12, "Le"), "locations": [{"offset": 12, "length": 2}, {"offset": 17, "length": 4}]},
    {**note("6", 0, "x"), "locations": []},
]


def written(tmp_path, value, name="gold.bioc.json"):
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def loaded(path):
    return karat.load(path, format="bioc")


def test_passages_annotations_and_infons(tmp_path):
    collection = {"source": "S", "date": "", "key": "k", "documents": [article(annotations=LOOSE)]}
    corpus = loaded(written(tmp_path, collection))
    (document,) = corpus
    assert (document.id, document.text, document.meta) == ("7", "Café chalk.\nLess pain.", {"journal": "J"})
    assert document.labels == (
        Label(5, 10, "MESH:D1", types=("Drug",), categories=("source:hand",)),
        Label(17, 21, None, types=("Sign",)),
        Label(12, 16, UNLINKED),
        Label(18, 21, "5", types=("Part",)),
        Label(12, 21, UNLINKED),
    )
    assert document.relations == (Triple("MESH:D1", "CID", "5"),)
    assert corpus.metadata == {"source": "S", "key": "k"}
    assert corpus.skipped == {
        "annotations outside all passages": 1,
        "annotations of several locations (read as one span from first to last)": 1,
    }


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda one: one,
        lambda one: [{"documents": [one]}],
        lambda one: {"PubTator3": [one]},
        lambda one: json.dumps(one) + "\n\n" + json.dumps({**one, "id": 8}) + "\n",
    ],
)
def test_all_ways_to_hold_documents(tmp_path, wrapped):
    path = written(tmp_path, wrapped(article()))
    assert FORMAT.recognises(path.read_bytes())
    corpus = loaded(path)
    assert [document.id for document in corpus] == ["7", "8"][: len(corpus)]
    assert next(iter(corpus)).labels[0].entity == "MESH:D1"
    assert corpus.skipped == {"relations that are not between two linked mentions": len(corpus)}


def test_sentences_in_place_of_a_text(tmp_path):
    sentences = [
        {"offset": 0, "infons": {}, "text": "One.", "annotations": [note("1", 0, "One", cui="C1")]},
        {"offset": 6, "infons": {}, "text": "Two.", "annotations": []},
    ]
    passage = {"offset": 0, "infons": {}, "sentences": sentences, "annotations": [note("2", 6, "Two", cui="C2")]}
    corpus = loaded(written(tmp_path, {"id": 1, "infons": {}, "passages": [passage]}))
    (document,) = corpus
    assert (document.id, document.text) == ("1", "One.\nTwo.")
    assert document.labels == (Label(0, 3, "C1"), Label(5, 8, "C2"))
    assert corpus.skipped == {"passages that do not begin one character after the previous one": 1}


def test_offsets_in_bytes_are_told_by_the_surfaces(tmp_path):
    passages = [
        {"offset": 0, "infons": {}, "text": "Café chalk", "annotations": [note("1", 6, "chalk", identifier="D1")]},
        {"offset": 12, "infons": {}, "text": "on pain", "annotations": [note("2", 15, "pain", identifier="D2")]},
    ]
    corpus = loaded(written(tmp_path, {"id": 1, "passages": passages}))
    assert next(iter(corpus)).labels == (Label(5, 10, "D1"), Label(14, 18, "D2"))
    assert corpus.skipped == {
        "texts whose offsets count bytes": 1,
        "passages that do not begin one character after the previous one": 1,
    }


def test_predictions(tmp_path):
    path = written(tmp_path, article())
    predictions = (
        Prediction(5, 10, "MESH:D1", types=("Drug",)),
        Prediction(17, 21, None, types=("Sign",)),
        Prediction(12, 16, UNLINKED),
    )
    assert next(iter(karat.load_run(path, format="bioc"))).predictions == predictions
    assert next(iter(FORMAT.read_run(Source(str(path))))).predictions == predictions


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            '{"id": 1, "passages": [',
            ": found text that is not valid JSON (Input data was truncated); expected one JSON",
        ),
        ('{"id": 1, "passages": []}\n{"id"', ":2: found text that is not valid JSON (Input data was truncated);"),
        ({"documents": 5}, ': found {"documents":5}; expected a collection with a list of `documents`.'),
        ({"documents": [{"id": 1}]}, ": document 1: found no field `passages`; expected the field `passages`."),
        (
            {"id": "a", "passages": [{"offset": 0, "text": "x", "annotations": [note("9", 0, "xy")]}]},
            ": document 'a', annotation '9': found a mention from 0 to 2 in a text of 1 code points; expected",
        ),
    ],
)
def test_errors_say_where(tmp_path, value, message):
    path = written(tmp_path, value)
    with pytest.raises(InputError) as caught:
        loaded(path)
    assert str(caught.value).startswith(f"{path}{message}")


@given(nearly(json.dumps({"documents": [article(annotations=LOOSE)]}).encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data)


@pytest.mark.parametrize("head", [b'{"id": "passages"}', b"", b'{"passages": []}'])
def test_not_recognised(head):
    assert not FORMAT.recognises(head)


XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>S</source><date></date><key>k</key><infon key="x">y</infon>
<document><id>7</id><infon key="journal">J</infon>
<passage><infon key="type">title</infon><offset>0</offset><text>Café &lt;chalk&gt;.</text>
<annotation id="1"><infon key="type">Drug</infon><infon key="identifier">MESH:D1,MESH:D2</infon>
<infon key="source">hand</infon><location offset="6" length="5"/><text>chalk</text></annotation></passage>
<passage><infon key="type">abstract</infon><offset>14</offset>
<sentence><offset>14</offset><text>Less pain.</text>
<annotation id="2"><infon key="MESH">-1</infon><location offset="19" length="4"/><text>pain</text></annotation>
</sentence>
<sentence><offset>25</offset><text>No <b/>more.</text></sentence>
<annotation id="3"><infon key="OMIM">5</infon><location offset="14" length="4"/><text>Less</text></annotation>
<relation id="R1"><infon key="type">CID</infon><node refid="1" role=""/><node refid="3" role=""/></relation></passage>
<relation id="R2"><infon key="relation">CID</infon><infon key="Chemical">D8</infon><infon key="Disease">D9</infon>
</relation>
<relation id="R3"><infon key="type">Odd</infon><node refid="1" role=""/></relation>
</document>
<document><id>8</id><passage><offset>0</offset><text/></passage></document>
</collection>
"""


def test_xml_says_what_json_says(tmp_path):
    path = written(tmp_path, XML, "gold.xml")
    assert FORMAT.recognises(XML.encode())
    corpus = karat.load(path, format="bioc")
    seven, eight = corpus
    assert (seven.id, seven.text, seven.meta) == ("7", "Café <chalk>.\nLess pain.\nNo more.", {"journal": "J"})
    assert seven.labels == (
        Label(6, 11, "MESH:D1", types=("Drug",), categories=("source:hand",)),
        Label(6, 11, "MESH:D2", types=("Drug",), categories=("source:hand",)),
        Label(19, 23, None),
        Label(14, 18, "5"),
    )
    assert seven.relations == (Triple("D8", "CID", "D9"), Triple("MESH:D1,MESH:D2", "CID", "5"))
    assert (eight.id, eight.text, eight.labels) == ("8", "", ())
    assert corpus.metadata == {"source": "S", "key": "k"}
    assert corpus.skipped == {
        "relations that are not between two linked mentions": 1,
        "mentions with several ids (each id counts, as in BioCreative; formats with -any accept one of them)": 1,
    }
    predictions = next(iter(karat.load_run(path, format="bioc"))).predictions
    assert [prediction.entity for prediction in predictions[:2]] == ["MESH:D1", "MESH:D2"]


def test_xml_with_composite_ids_divided(tmp_path):
    path = written(tmp_path, XML, "gold.xml")
    each = next(iter(karat.load(path, format="bioc"))).labels
    assert [label.entity for label in each] == ["MESH:D1", "MESH:D2", None, "5"]
    any_of = next(iter(karat.load_run(path, format="bioc-any"))).predictions
    assert (any_of[0].entity, any_of[0].same_as) == ("MESH:D1", ("MESH:D2",))


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("<offset>14</offset>\n", "<offset>x</offset>\n", ": document '7': found 'x' for the offset of a passage;"),
        ('offset="6"', 'offset="-6"', ": document '7': found '-6' for the offset of a location; expected an integer"),
        ('length="5"', "", ": document '7': found no length of a location; expected an integer"),
        ("</collection>", "", ":21: found XML that cannot be read (no element found"),
        ('"BioC.dtd"', '"BioC.dtd" [<!ENTITY a "b">]', ": found XML that is not allowed (EntitiesForbidden"),
        ('length="5"', 'length="500"', ": document '7', annotation '1': found a mention from 6 to 506 in a text"),
    ],
)
def test_errors_in_xml_say_where(tmp_path, before, after, message):
    path = written(tmp_path, XML.replace(before, after, 1), "gold.xml")
    with pytest.raises(InputError) as caught:
        loaded(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_other_words_than_the_text_has_are_refused(tmp_path):
    path = written(tmp_path, XML.replace("chalk<", "cheese<").replace("pain<", "gain<"), "gold.xml")
    with pytest.raises(
        InputError, match="found the surface 'cheese' where the text has 'chalk'; 2 of 3 surfaces differ;"
    ):
        loaded(path)


@given(nearly(XML.encode()))
def test_broken_xml_is_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data)


def test_the_package_bioc_reads_the_same(tmp_path):
    """Written by the package of that name, and read by it: text, spans and ids are those that Karat reads."""
    bioc = pytest.importorskip("bioc", reason="the package bioc is not installed (pip install bioc)")
    words = ["Aspirin", "für", "<renal>", "failure", "&", "😀", "pain", "naïve"]
    collection = bioc.BioCCollection()
    for number in range(20):
        document = bioc.BioCDocument()
        document.id = str(number)
        begin = 0
        for part in range(number % 4 + 1):
            text = " ".join(words[(number + part + place) % len(words)] for place in range(5))
            passage = bioc.BioCPassage()
            passage.offset, passage.text = begin, text
            for place, word in enumerate(text.split(" ")):
                note = bioc.BioCAnnotation()
                note.id, note.text = f"{part}.{place}", word
                note.infons = {"type": "T", "identifier": f"D{words.index(word)}"}
                note.add_location(bioc.BioCLocation(begin + text.index(word), len(word)))
                passage.add_annotation(note)
            document.add_passage(passage)
            begin += len(text) + 1
        collection.add_document(document)
    made = []
    json_module = import_module("bioc.biocjson")
    for name, peer_module in (("a.xml", bioc), ("a.json", json_module)):
        path = written(tmp_path, peer_module.dumps(collection), name)
        theirs = peer_module.loads(path.read_text(encoding="utf-8"))
        ours = karat.load(path, format="bioc")
        assert not ours.skipped
        for peer, document in zip(theirs.documents, ours, strict=True):
            notes = [note for passage in peer.passages for note in passage.annotations]
            found = [(document.text[label.start : label.end], label.entity) for label in document.labels]
            assert found == [(note.text, note.infons["identifier"]) for note in notes]
            assert [label.start for label in document.labels] == [note.locations[0].offset for note in notes]
            assert document.id == peer.id
        made.append([(document.text, document.labels) for document in ours])
    assert made[0] == made[1]


def test_a_corpus_is_written_in_the_layout_of_the_documentation(tmp_path):
    labels = (
        Label(0, 9, "MESH:D008012", types=("Chemical",), categories=("source:hand",)),
        Label(18, 34, "MESH:D006323", types=("Disease",), optional=True),
        Label(18, 25, None),
    )
    relations = (Triple("MESH:D008012", "CID", "MESH:D006323"),)
    text = "Lidocaine-induced cardiac asystole."
    corpus = Corpus.from_documents([Document("1", text, labels, relations=relations, meta={"journal": "J"})], name="x")
    path = tmp_path / "x.bioc.json"
    karat.save(corpus, path)
    (document,) = json.loads(path.read_text(encoding="utf-8"))["documents"]
    (passage,) = document["passages"]
    assert document["infons"] == {"journal": "J"}
    assert passage["annotations"][0] == {
        "id": "1",
        "infons": {"identifier": "MESH:D008012", "type": "Chemical", "source": "hand"},
        "text": "Lidocaine",
        "locations": [{"offset": 0, "length": 9}],
    }
    assert passage["annotations"][1]["infons"]["karat"] == '{"optional":true}'
    assert passage["annotations"][2]["infons"] == {"identifier": "-1"}
    assert passage["relations"][0]["nodes"] == [{"refid": "1", "role": "subject"}, {"refid": "2", "role": "object"}]
    assert list(karat.load(path)) == list(corpus)
    karat.save(corpus, tmp_path / "x.bioc.xml")
    assert list(karat.load(tmp_path / "x.bioc.xml")) == list(corpus)
    head = (tmp_path / "x.bioc.xml").read_text(encoding="utf-8").split("\n")
    assert head[1] == '<!DOCTYPE collection SYSTEM "BioC.dtd">'
    assert '<location offset="0" length="9"/><text>Lidocaine</text></annotation>' in head[4]


@pytest.mark.parametrize("entity", ["-1", "-", "D1|D2", " Q1", "None"])
def test_ids_that_would_change_are_refused(entity, tmp_path):
    corpus = Corpus.from_documents([Document("1", "Ada", (Label(0, 3, entity),))])
    with pytest.raises(UsageError, match="which BioC takes for"):
        karat.save(corpus, tmp_path / "x.bioc.json")


def test_characters_outside_xml_are_refused(tmp_path):
    corpus = Corpus.from_documents([Document("1", "A\x01a", (Label(0, 3, "Q1"),))])
    with pytest.raises(UsageError, match="XML cannot store"):
        karat.save(corpus, tmp_path / "x.bioc.xml")
    assert not (tmp_path / "x.bioc.xml").exists()


@pytest.mark.parametrize("name", ["bioc", "bioc-xml"])
@given(documents=rich_documents(), responses=rich_responses())
def test_whatever_is_written_comes_back(name, documents, responses):
    run = karat.Run.from_reader(responses, name="mine")
    with TemporaryDirectory() as place:
        for data, read in ((Corpus.from_documents(documents), karat.load), (run, karat.load_run)):
            try:
                karat.save(data, f"{place}/x", format=name)
            except UsageError:
                continue
            assert list(read(f"{place}/x", format=name)) == list(data)
