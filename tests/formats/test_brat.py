"""brat standoff: a folder or a file, mentions with links and attributes, what is no mention."""

from __future__ import annotations

from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

import karat
from karat import UNLINKED, Corpus, Document, InputError, Label, Prediction, Triple, UsageError
from karat.formats.plugins.brat import FORMAT
from karat.storage.files import Source
from tests.formats.broken import nearly, read_or_refused
from tests.strategies import rich_documents, rich_responses

TEXT = "Ada of Ulm\nmet Bob and Eve in Old and New Ulm."
ANN = """\
T1\tPER 0 3\tAda
N1\tReference T1 Wikidata:Q1\tAda L.
T2\tLOC 7 10\tUlm
N2\tReference T2 Wikidata:Q2\tUlm
N3\tReference T2 Wikidata:Q3
A1\tConfidence T2 Low
A2\tNegated T2
T3\tPER 15 18\tBob
R1\tKnows Arg1:T1 Arg2:T2\t
R2\tKnows Arg1:T1 Arg2:T3
T4\tMeet 11 14\tmet
E1\tMeet:T4 Who:T1
A3\tNegated E1
T5\tLOC 30 33;42 45\tOld Ulm
#1\tAnnotatorNotes T1\tsure
*\tEquiv T1 T3
"""


def folder(tmp_path, **files):
    for name, content in files.items():
        path = tmp_path / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return tmp_path


def test_a_folder_of_pairs(tmp_path):
    made = folder(tmp_path, sub__one_txt=TEXT, sub__one_ann=ANN, two_txt="Ulm\r\n", two_ann="", three_txt="Ulm")
    corpus = karat.load(made)
    one, two = sorted(corpus, key=lambda document: len(document.labels), reverse=True)
    assert (one.id, one.text, two.id, two.text) == ("sub/one", TEXT, "two", "Ulm\r\n")
    assert one.labels == (
        Label(0, 3, "Q1", name="Ada L.", types=("PER",)),
        Label(7, 10, "Q2", name="Ulm", types=("LOC",), categories=("Confidence:Low", "Negated"), mention_id="T2"),
        Label(7, 10, "Q3", types=("LOC",), categories=("Confidence:Low", "Negated"), mention_id="T2"),
        Label(15, 18, UNLINKED, types=("PER",)),
        Label(30, 45, UNLINKED, types=("LOC",), categories=("fragments:30 33;42 45",)),
    )
    assert one.relations == (Triple("Q1", "Knows", "Q2"),)
    assert corpus.skipped == {
        "texts without annotations": 1,
        "events (skipped)": 1,
        "notes of annotators (skipped)": 1,
        "equivalences (skipped)": 1,
        "triggers of events (skipped)": 1,
        "normalizations and attributes of annotations other than mentions": 1,
        "mentions of several fragments (read as one span from first to last)": 1,
        "relations that are not between two linked mentions": 1,
        "labels without entity id (read as unlinked)": 2,
    }


def test_a_single_file_with_its_text_beside_it(tmp_path):
    made = folder(tmp_path, one_txt=TEXT, one_ann=ANN)
    assert next(iter(karat.load(made / "one.ann"))).id == "one"
    predictions = next(iter(karat.load_run(made / "one.ann"))).predictions
    assert predictions[:2] == (
        Prediction(0, 3, "Q1", types=("PER",)),
        Prediction(7, 10, "Q2", types=("LOC",)),
    )
    assert (
        len(next(iter(FORMAT.read_run(Source(str(made))))).predictions) == 4
    )  # of 5 labels, Q2 and Q3 are one mention
    (made / "one.txt").unlink()
    with pytest.raises(InputError, match=r"one\.ann: found no one\.txt next to it"):
        karat.load(made / "one.ann")


def test_offsets_that_count_otherwise(tmp_path):
    made = folder(tmp_path, one_txt="😀 Ulm", one_ann="T1\tLOC 3 6\tUlm\n")
    corpus = karat.load(made)
    assert next(iter(corpus)).labels == (Label(2, 5, UNLINKED, types=("LOC",)),)
    assert corpus.skipped == {
        "texts whose offsets count UTF-16 units": 1,
        "labels without entity id (read as unlinked)": 1,
    }


@pytest.mark.parametrize(
    ("ann", "message"),
    [
        ("T1\tLOC 0\tUlm", ":1: found 'T1\\tLOC 0\\tUlm'; expected an annotation such as T1"),
        ("T1\tLOC 0 3\tUlm\nX1\tLOC", ":2: found 'X1\\tLOC'; expected an annotation such as T1"),
        ("T1\tLOC 0 3\tUlm\nT1\tLOC 0 3\tUlm", ":2: found the duplicate id T1; expected distinct ids."),
        ("T1\tLOC 0 9\tUlm", ":1: found a mention from 0 to 9 in a text of 3 code points; expected"),
    ],
)
def test_errors_say_where(tmp_path, ann, message):
    made = folder(tmp_path, one_txt="Ulm", one_ann=ann)
    with pytest.raises(InputError) as caught:
        karat.load(made)
    assert str(caught.value).startswith(f"{made}/one.ann{message}")


def test_an_annotation_file_without_text_in_a_folder(tmp_path):
    made = folder(tmp_path, one_ann=ANN)
    with pytest.raises(InputError, match=r"one\.ann: found no text file of the same name; expected one\.txt"):
        karat.load(made, format="brat")


@given(nearly(ANN.encode()))
def test_broken_files_are_refused_in_words(data):
    read_or_refused(lambda source: FORMAT.read_corpus(source, True), data, "x.ann", {"x.txt": TEXT.encode()})


@pytest.mark.parametrize("head", [ANN.encode(), b"T1\tLOC 0 3\tUlm", b"#1\tNote T1\tx\nT1\tLOC 0 3;4 5\tUlm\n"])
def test_recognised(head):
    assert FORMAT.recognises(head)


@pytest.mark.parametrize("head", [b"", b"T1\tLOC\n", b"#1\tNote T1\tx\n", b"T1\tLOC 0 3\tUlm\nword\tO\n"])
def test_not_recognised(head):
    assert not FORMAT.recognises(head)


def test_folders_of_other_files_are_not_taken():
    assert FORMAT.recognises_folder(["a.ann", "a.txt", "annotation.conf"])
    assert not FORMAT.recognises_folder(["a.txt"])
    assert not FORMAT.recognises_folder(["a.ann"])


def written(data, folder):
    karat.save(data, folder, format="brat")
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_a_corpus_is_written_in_the_layout_of_the_documentation(tmp_path):
    labels = (
        Label(0, 4, "Q41187", name="Sony", types=("Organization",)),
        Label(33, 41, "Q54173", types=("Organization",), categories=("Confidence:High", "Negation")),
        Label(45, 50, None),
    )
    text = "Sony formed a joint venture with Ericsson at Ulmen."
    corpus = Corpus.from_documents(
        [Document("DOC-1000", text, labels, relations=(Triple("Q41187", "Joins", "Q54173"),))]
    )
    files = written(corpus, tmp_path / "out")
    assert sorted(files) == ["DOC-1000.ann", "DOC-1000.txt", "annotation.conf", "tools.conf"]
    assert files["DOC-1000.txt"] == text
    assert files["DOC-1000.ann"] == (
        '#1\tkarat document\t{"id_prefixes":["Wikidata:"]}\n'
        "T1\tOrganization 0 4\tSony\n"
        "N1\tReference T1 Wikidata:Q41187\tSony\n"
        "T2\tOrganization 33 41\tEricsson\n"
        "N2\tReference T2 Wikidata:Q54173\t\n"
        "A1\tConfidence T2 High\n"
        "A2\tNegation T2\n"
        "T3\tEntity 45 50\tUlmen\n"
        "A3\tNIL T3\n"
        '#2\tkarat T3\t{"types":[]}\n'
        "R1\tJoins Arg1:T1 Arg2:T2\n"
    )
    assert "[entities]\nEntity\nOrganization\n" in files["annotation.conf"]
    assert "Confidence\tArg:<ENTITY>, Value:High\n" in files["annotation.conf"]
    assert list(karat.load(tmp_path / "out")) == list(corpus)


def test_mentions_over_line_ends_are_written_in_fragments(tmp_path):
    corpus = Corpus.from_documents([Document("d", "New\nUlm", (Label(0, 7, "Q1", types=("LOC",)),))])
    files = written(corpus, tmp_path / "out")
    assert "T1\tLOC 0 3;4 7\tNew Ulm\n" in files["d.ann"]
    again = karat.load(tmp_path / "out")
    assert list(again) == list(corpus)
    assert not again.skipped


def test_fragments_come_back(tmp_path):
    made = folder(tmp_path / "in", one_txt=TEXT, one_ann="T1\tLOC 30 33;42 45\tOld Ulm\n")
    files = written(karat.load(made), tmp_path / "out")
    assert files["one.ann"] == "T1\tLOC 30 33;42 45\tOld Ulm\n"


def test_alternatives_share_a_mention(tmp_path):
    labels = tuple(Label(0, 3, entity, mention_id="T1", types=("LOC",)) for entity in ("Q1", "Q2"))
    files = written(Corpus.from_documents([Document("d", "Ulm", labels)]), tmp_path / "out")
    assert files["d.ann"].count("\nT1") == 1
    assert next(iter(karat.load(tmp_path / "out"))).labels == labels


def test_surfaces_of_another_text_are_refused(tmp_path):
    made = folder(tmp_path, one_txt="Ulm met Ada", one_ann="T1\tLOC 0 3\tAda\nT2\tPER 8 11\tUlm\n")
    with pytest.raises(InputError, match="2 of 2 surfaces differ"):
        karat.load(made)


def test_predictions_without_texts_cannot_be_written(tmp_path):
    run = karat.Run.from_responses([karat.Response("d", (Prediction(0, 3, "Q1"),))], name="mine")
    with pytest.raises(UsageError, match="brat needs the text of document 'd'"):
        karat.save(run, tmp_path / "out", format="brat")
    assert not (tmp_path / "out").exists()


@given(documents=rich_documents())
def test_whatever_is_written_comes_back(documents):
    corpus = Corpus.from_documents(documents)
    with TemporaryDirectory() as place:
        karat.save(corpus, f"{place}/out", format="brat")
        again = karat.load(f"{place}/out", format="brat")
    assert {document.id: document for document in again} == {document.id: document for document in corpus}


@given(responses=rich_responses())
def test_predictions_come_back(responses):
    texts = [_text_of(response) for response in responses]
    run = karat.Run.from_reader(responses, name="mine", texts=texts)
    with TemporaryDirectory() as place:
        karat.save(run, f"{place}/out", format="brat")
        again = karat.load_run(f"{place}/out", format="brat")
    assert {response.id: response for response in again} == {response.id: response for response in run}


def _text_of(response):
    return "x" * max([1, *(prediction.end for prediction in response.predictions)])


def test_a_span_beside_its_surface_is_an_error_that_lint_moves(tmp_path, karat_cli):
    ann = "T1\tGPE 0 6\tBerlin\nT2\tGPE 22 28\tPoland\n"
    made = folder(tmp_path / "made", a_txt="Berlin is an hour from Poland.", a_ann=ann)
    ran = karat_cli("data", "lint", made, "--only", "surface", "--fix", tmp_path / "fixed.jsonl")
    assert "error surface" in ran.out
    assert [label.span for label in karat.load(tmp_path / "fixed.jsonl")["a"].labels] == [(0, 6), (23, 29)]


def test_the_name_of_a_database_alone_is_no_id(tmp_path):
    made = folder(tmp_path, a_txt="Ulm", a_ann="T1\tGPE 0 3\tUlm\nN1\tReference T1 Wikidata:\tUlm\n")
    corpus = karat.load(made)
    assert corpus["a"].labels == (Label(0, 3, UNLINKED, types=("GPE",)),)
    assert corpus.skipped == {"normalizations without an id": 1, "labels without entity id (read as unlinked)": 1}


NOTED_LINKS = """\
#9\tAnnotatorNotes T1\tQ312
T1\tORG 0 5\tApple
T2\tLOC 9 12\tUlm
#2\tAnnotatorNotes T2\t https://de.wikipedia.org/wiki/Ulm\u0020
T3\tPER 17 20\tBob
#3\tAnnotatorNotes T3\tNIL
T4\tPER 25 28\tEve
#4\tAnnotatorNotes T4\tor is this Q42?
T5\tPER 33 36\tAda
N1\tReference T5 Wikidata:Q7259\tAda Lovelace
#5\tAnnotatorNotes T5\tQ1
#6\tAnnotatorNotes R1\tQ1
R1\tIn Arg1:T1 Arg2:T2
"""


def test_notes_that_are_nothing_but_an_id_are_links_and_written_as_such(tmp_path):
    """Of six notes three are read; the others are a question, on a linked mention and on a relation."""
    made = folder(tmp_path / "in", one_txt="Apple of Ulm met Bob and Eve and Ada.", one_ann=NOTED_LINKS)
    corpus = karat.load(made)
    entities = ["Q312", "https://de.wikipedia.org/wiki/Ulm", None, UNLINKED, "Q7259"]
    assert [label.entity for label in corpus["one"].labels] == entities
    assert corpus["one"].relations == (Triple("Q312", "In", "https://de.wikipedia.org/wiki/Ulm"),)
    assert corpus.skipped == {
        "notes of annotators (read as links)": 3,
        "notes of annotators (skipped)": 3,
        "labels without entity id (read as unlinked)": 1,
    }
    assert [prediction.entity for prediction in next(iter(karat.load_run(made))).predictions] == entities
    files = written(corpus, tmp_path / "out")
    assert "Reference T1 Wikidata:Q312" in files["one.ann"]
    assert list(karat.load(tmp_path / "out")) == list(corpus)


@pytest.mark.parametrize(
    "note", ["sure", "see T2", "Apple", "Q?", "q64", "Q64 Q36", "de", "https://example.org/guidelines", "", "T2", "P31"]
)
def test_other_notes_are_no_links(note, tmp_path):
    made = folder(tmp_path, a_txt="Ulm", a_ann=f"T1\tGPE 0 3\tUlm\n#1\tAnnotatorNotes T1\t{note}\n")
    corpus = karat.load(made)
    assert corpus["a"].labels == (Label(0, 3, UNLINKED, types=("GPE",)),)
    assert corpus.skipped["notes of annotators (skipped)"] == 1


def test_a_missing_text_is_named_without_the_format(tmp_path):
    made = folder(tmp_path, a_ann="T1\tGPE 0 3\tUlm\n", b_txt="Ulm", b_ann="T1\tGPE 0 3\tUlm\n")
    with pytest.raises(InputError, match=r"a\.ann: found no text file of the same name; expected a\.txt"):
        karat.load(made)
