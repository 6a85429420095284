"""WNED XML and the older XML of ACE2004, AQUAINT and MSNBC."""

from __future__ import annotations

import gzip

import pytest

import karat
from karat import Corpus, InputError, Label
from karat.data.steps import apply_steps

WNED = """<?xml version="1.0" encoding="UTF-8"?>
<toy.entityAnnotation>
  <document docName="one">
    <annotation><mention>Ulm</mention><wikiName>Ulm</wikiName><offset>3</offset><length>3</length></annotation>
    <annotation><mention>Bob</mention><wikiName>NIL</wikiName><offset>7</offset><length>3</length></annotation>
    <annotation><mention>Bo</mention><wikiName/><offset>7</offset><length>2</length><entity/></annotation>
  </document>
  <document docName="two"/>
</toy.entityAnnotation>
"""

PROBLEM = """<ReferenceProblem>
<ReferenceFileName>
  {name}
</ReferenceFileName>
<ReferenceInstance>
  <SurfaceForm> Ulm </SurfaceForm><Offset>
    {offset}
  </Offset><Length> 3 </Length>
  <ChosenAnnotation>
    {chosen}
  </ChosenAnnotation>
  <NumAnnotators>1</NumAnnotators><AnnotatorId>ada</AnnotatorId><Annotation>Ulm</Annotation>
</ReferenceInstance>
</ReferenceProblem>
"""


@pytest.fixture
def wned(tmp_path):
    (tmp_path / "RawText").mkdir()
    (tmp_path / "toy.xml").write_text(WNED)
    (tmp_path / "RawText" / "one").write_text("😀 Ulm Bob", encoding="utf-8")  # offsets count the face as two
    (tmp_path / "RawText" / "two").write_text("Nothing.")
    (tmp_path / "RawText" / "three").write_text("Not named.")
    return tmp_path


@pytest.fixture
def problems(tmp_path):
    for folder in ("Dev/ProblemsSome", "Dev/RawTextsSome", "Dev/RawTextsOthers"):
        (tmp_path / folder).mkdir(parents=True)
    for name, chosen in (("a.htm", "http://en.wikipedia.org/wiki/Ulm"), ("b.htm", "*null*")):
        (tmp_path / "Dev/ProblemsSome" / name).write_text(PROBLEM.format(name=name, chosen=chosen, offset=3))
        (tmp_path / "Dev/RawTextsSome" / name).write_text("In Ulm.")
        (tmp_path / "Dev/RawTextsOthers" / name).write_text("Other.")
    (tmp_path / "Dev/ProblemsSome/.hidden").write_text("no XML")
    return tmp_path


@pytest.mark.parametrize("given", ["", "toy.xml"])
def test_one_xml_of_all_documents(wned, given):
    corpus = karat.load(wned / given)
    one, two = corpus
    assert (one.id, one.text, two.labels) == ("one", "😀 Ulm Bob", ())
    assert one.labels == (Label(2, 5, "Ulm"), Label(6, 9, None), Label(6, 8, None))
    assert corpus.skipped == {
        "elements unknown to the format": 1,
        "texts that the XML does not mention": 1,
    }


def test_a_compressed_xml_is_read_as_well(wned):
    (wned / "toy.xml.gz").write_bytes(gzip.compress((wned / "toy.xml").read_bytes()))
    (wned / "toy.xml").unlink()
    assert len(karat.load(wned).labels) == 3


@pytest.mark.parametrize("given", ["", "Dev"])
def test_one_xml_per_text(problems, given):
    corpus = karat.load(problems / given)
    first, second = corpus
    assert (first.id, first.text, first.meta) == ("a.htm", "In Ulm.", {"annotators": "ada"})
    assert first.labels == (Label(3, 6, "http://en.wikipedia.org/wiki/Ulm", name="Ulm"),)
    assert second.labels == (Label(3, 6, None, name="Ulm"),)
    assert corpus.skipped == {}


def test_one_xml_alone_finds_its_text(problems):
    (problems / "Dev/RawTextsOthers/a.htm").unlink()
    (problems / "Dev/RawTextsOthers/b.htm").unlink()
    (problems / "Dev/RawTextsOthers").rmdir()
    corpus = karat.load(problems / "Dev/ProblemsSome/b.htm")
    assert [document.id for document in corpus] == ["b.htm"]


def test_surface_forms_that_differ_and_labels_given_twice_are_counted(wned):
    again = WNED.replace(">Bob<", ">Rob<").replace("<length>2<", "<length>3<")
    (wned / "toy.xml").write_text(again)
    corpus = karat.load(wned)
    assert len(corpus.labels) == 3
    assert corpus.skipped["duplicate labels (kept as separate mentions)"] == 1
    assert corpus.skipped["labels whose surface form differs from the text at their span"] == 2  # Rob, and Bo on Bob


@pytest.mark.parametrize(
    ("old", "new", "description"),
    [
        ("<offset>3<", "<offset>x<", r"toy\.xml, document 'one': found 'x' for the offset"),
        ("<offset>3</offset>", "", r"document 'one': found no offset"),
        ("<length>2<", "<length>-2<", r"document 'one': found '-2' for the length"),
        ("<length>2<", "<length>99<", r"document 'one': found label \[6, 106\) in a text of 9 code points"),
        ("<length>2<", "<length>99999999999<", r"document 'one': found '99999999999' for the length"),
        ('"two"', '"../toy.xml"', r"found no text '../toy.xml' in"),
        ('"two"', '"one"', r"document 'one': found document 'one' a second time"),
        ("</document>", "", r"toy\.xml:9: found XML that cannot be read"),
    ],
)
def test_defects_are_named_with_their_place(wned, old, new, description):
    (wned / "toy.xml").write_text(WNED.replace(old, new))
    with pytest.raises(InputError, match=description):
        karat.load(wned)


def test_folders_that_are_not_clear_are_refused(problems):
    (problems / "Dev/RawTextsSome").rename(problems / "Dev/RawTextsMore")
    with pytest.raises(InputError, match="found the folders Dev/RawTextsMore, Dev/RawTextsOthers"):
        karat.load(problems)
    (problems / "Test/Problems").mkdir(parents=True)
    (problems / "Test/Problems/c").write_text("")
    (problems / "Test/RawTexts").mkdir()
    (problems / "Test/RawTexts/c").write_text("")
    with pytest.raises(InputError, match="found the folders Dev/ProblemsSome, Test/Problems"):
        karat.load(problems)


def test_a_problem_without_texts_beside_it_is_refused(tmp_path):
    (tmp_path / "Problems").mkdir()
    path = tmp_path / "Problems" / "a.xml"
    path.write_text(PROBLEM.format(name="a.xml", chosen="*null*", offset=0))
    with pytest.raises(InputError, match="found no folder RawTexts next to the problems"):
        karat.load(path)


def _length(corpus: Corpus) -> float:
    """The mean length as BAT counts it: every line ends, the last one too."""
    texts = [document.text for document in corpus]
    return sum(len(text) + (not text.endswith("\n")) for text in texts) / len(texts)


@pytest.mark.shared
def test_aquaint(shared):
    """50 documents, 1415.98 characters on average and 727 labels, as the paper has them."""
    corpus = karat.load(shared / "bat/AQUAINT")
    assert (len(corpus), len(corpus.labels), corpus.skipped) == (50, 727, {})
    assert round(_length(corpus), 2) == 1415.98
    assert str(apply_steps(corpus, ["drop-nil", "longest"])[1]["longest"]) == "no change"


@pytest.mark.shared
def test_msnbc(shared):
    """755 labels, 747 that are linked, 737 without overlaps.

    The 658 of the BAT paper need the Wikipedia of 2012: BAT drops what has no page on the day it reads the data.
    """
    corpus = karat.load(shared / "bat/MSNBC")
    made, changes = apply_steps(corpus, ["drop-nil", "longest"])
    assert (len(corpus), len(corpus.labels), round(_length(corpus), 1)) == (20, 755, 3316.1)
    assert [str(change) for change in changes.values()] == ["755 → 747 labels", "747 → 737 labels"]
    assert len(made.labels) == 737
    assert corpus.skipped == {"labels whose surface form differs from the text at their span": 12}


@pytest.mark.shared
def test_ace2004(shared):
    """57 documents, of which 35 have a link; 306 labels, of which 257 are linked."""
    corpus = karat.load(shared / "bat/ACE2004_Coref_Turking")
    made, _ = apply_steps(corpus, ["drop-nil", "longest"])
    assert (len(corpus), len(corpus.labels), round(_length(corpus), 1)) == (57, 306, 2300.1)
    assert (len(made), len(made.labels)) == (57, 257)
    assert len(apply_steps(made, ["drop-empty"])[0]) == 35


@pytest.mark.shared
@pytest.mark.parametrize(("name", "documents", "labels", "linked"), [("ace", 36, 306, 257), ("msnbc", 20, 739, 656)])
def test_wned_releases(shared, name, documents, labels, linked):
    corpus = karat.load(shared / "formats/wned" / name)
    alone = karat.load(shared / "formats/wned" / name / f"{name}.xml")
    assert (len(corpus), len(corpus.labels)) == (documents, labels)
    assert alone.digest == corpus.digest
    assert len(apply_steps(corpus, ["drop-nil"])[0].labels) == linked
