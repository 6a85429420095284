"""INCEpTION: CAS files as it exports them, annotators and curation of a project, UTF-16 offsets, and broken files."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

import karat
from karat import Corpus, Document, InputError, Label, UsageError

pytestmark = pytest.mark.extras

TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>
<typeDescription><name>de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity</name><description/>
<supertypeName>uima.tcas.Annotation</supertypeName><features>
<featureDescription><name>value</name><description/><rangeTypeName>uima.cas.String</rangeTypeName></featureDescription>
<featureDescription><name>identifier</name><description/><rangeTypeName>uima.cas.String</rangeTypeName>
</featureDescription>
<featureDescription><name>certainty</name><description/><rangeTypeName>uima.cas.String</rangeTypeName>
</featureDescription></features></typeDescription>
<typeDescription><name>de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token</name><description/>
<supertypeName>uima.tcas.Annotation</supertypeName></typeDescription>
<typeDescription><name>webanno.custom.Event</name><description/><supertypeName>uima.tcas.Annotation</supertypeName>
</typeDescription>
<typeDescription><name>de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData</name><description/>
<supertypeName>uima.tcas.DocumentAnnotation</supertypeName><features>
<featureDescription><name>documentTitle</name><description/><rangeTypeName>uima.cas.String</rangeTypeName>
</featureDescription>
<featureDescription><name>documentId</name><description/><rangeTypeName>uima.cas.String</rangeTypeName>
</featureDescription></features></typeDescription></types></typeSystemDescription>"""
WIKIDATA = "http://www.wikidata.org/entity/"
TEXT = "\U0001f600 Ada met\r\nBob"


def make_xmi(*entities, text="\U0001f600 Ada met&#13;&#10;Bob", title="a.txt", user="admin"):
    """A CAS with a token, an annotation of another layer, and named entities (begin, end, value, identifier)."""
    found = "".join(
        f'<type2:NamedEntity xmi:id="{20 + n}" sofa="1" begin="{begin}" end="{end}"'
        + (f' value="{value}"' if value else "")
        + (f' identifier="{identifier}"' if identifier else "")
        + "/>"
        for n, (begin, end, value, identifier) in enumerate(entities)
    )
    members = " ".join(["8", "9", "10", *(str(20 + n) for n in range(len(entities)))])
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
        'xmlns:cas="http:///uima/cas.ecore" '
        'xmlns:type2="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore" '
        'xmlns:type5="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore" '
        'xmlns:type6="http:///de/tudarmstadt/ukp/dkpro/core/api/metadata/type.ecore" '
        'xmlns:custom="http:///webanno/custom.ecore" xmi:version="2.0"><cas:NULL xmi:id="0"/>'
        f'<type6:DocumentMetaData xmi:id="8" sofa="1" begin="0" end="15" documentTitle="{title}" documentId="{user}"/>'
        '<type5:Token xmi:id="9" sofa="1" begin="3" end="6"/><custom:Event xmi:id="10" sofa="1" begin="7" end="10"/>'
        f'{found}<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="{text}"/>'
        f'<cas:View sofa="1" members="{members}"/></xmi:XMI>'
    ).encode()


ADA, BOB = (3, 6, "PER", f"{WIKIDATA}Q7259"), (12, 15, "PER", None)
LABELS = (Label(2, 5, f"{WIKIDATA}Q7259", types=("PER",)), Label(11, 14, types=("PER",)))


def pack(files):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def test_an_exported_document(tmp_path):
    (tmp_path / "a.zip").write_bytes(pack({"a.xmi": make_xmi(ADA, BOB), "TypeSystem.xml": TYPES}))
    corpus = karat.load(tmp_path / "a.zip")
    assert list(corpus) == [Document("a.txt", TEXT, LABELS)]
    assert corpus.skipped == {"annotations of other layers": 1}


def test_a_file_next_to_its_type_system_and_without_it(tmp_path):
    (tmp_path / "a.xmi").write_bytes(make_xmi(ADA, BOB, (3, 15, "", "NIL")))
    assert [label.entity for label in karat.load(tmp_path / "a.xmi")["a.txt"].labels][::2] == [LABELS[0].entity, None]
    (tmp_path / "TypeSystem.xml").write_text(TYPES)
    assert karat.load(tmp_path / "a.xmi")["a.txt"].labels[:2] == LABELS
    assert karat.load(tmp_path)["a.txt"].labels[:2] == LABELS


def make_project(**states):
    """The export of a project with two annotators and a curated document, and one in which they differ."""
    user = {name: pack({f"{name}.xmi": make_xmi(*e), "TypeSystem.xml": TYPES}) for name, e in _VERSIONS.items()}
    entries = [{"name": "a.txt", "user": name, "state": state} for name, state in states.items()]
    return pack(
        {
            "exportedproject.json": json.dumps({"name": "demo", "annotation_documents": entries}),
            "source/a.txt": TEXT,
            "annotation/a.txt/INITIAL_CAS.zip": pack({"INITIAL_CAS.xmi": make_xmi(), "TypeSystem.xml": TYPES}),
            "annotation/a.txt/anna.zip": user["anna"],
            "annotation/a.txt/ben.zip": user["ben"],
            "annotation_ser/a.txt/anna.ser": b"\x00",
            "curation/a.txt/CURATION_USER.zip": user["CURATION_USER"],
        }
    )


_VERSIONS = {"anna": (ADA, BOB), "ben": (ADA,), "CURATION_USER": (ADA, BOB)}


def test_an_exported_project(karat_cli, tmp_path):
    path = tmp_path / "project.zip"
    path.write_bytes(make_project(anna="FINISHED", ben="FINISHED"))
    corpus = karat.load(path)
    assert corpus["a.txt"].labels == LABELS
    assert corpus.skipped["initial versions of documents"] == 1
    ran = karat_cli("agreement", path, "--resamples", 0)
    assert ran.code == 0, ran.err
    assert "anna, ben" in ran.out
    assert "2 annotators, 1 document, 2 spans marked by anyone" in ran.out
    path.write_bytes(make_project(anna="FINISHED", ben="IN_PROGRESS"))
    assert karat_cli("agreement", path).code == 2


def test_qids_are_written_as_iris_and_come_back(tmp_path):
    path = tmp_path / "x.zip"
    labels = (Label(0, 3, "Q7259", types=("PER", "ORG")), Label(4, 7, "dbr:X"), Label(4, 6, None))
    karat.save(Corpus.from_documents([Document("a/b: ü", "Ada met", labels)]), path, format="inception")
    with zipfile.ZipFile(path) as archive:
        content = archive.read("document-1.xmi").decode()
    assert f'identifier="{WIKIDATA}Q7259"' in content
    assert 'identifier="NIL"' in content
    assert karat.load(path)["a/b: ü"].labels == labels


def test_control_characters_are_refused_in_xml_and_written_in_json(tmp_path):
    corpus = Corpus.from_documents([Document("d", "a\x01b")])
    with pytest.raises(UsageError, match="document 'd' has a control character"):
        karat.save(corpus, tmp_path / "x.zip", format="inception")
    assert not (tmp_path / "x.zip").exists()
    karat.save(corpus, tmp_path / "y.zip", format="inception-json")
    assert list(karat.load(tmp_path / "y.zip")) == list(corpus)


BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (make_xmi((3, 99, "PER", None)), r"the offset 99, which is outside the text or inside a character"),
        (make_xmi((1, 6, "PER", None)), r"the offset 1, which"),  # inside the emoji
        (make_xmi((6, 6, "PER", None)), r"a named entity from 5 to 5 in a text of 14 code points"),
        (make_xmi(ADA)[:-20], r"/a\.xmi:2: found a CAS that cannot be read \(ParseError: unclosed token"),
        (BOMB + make_xmi(ADA).partition(b"?>")[2], r"a CAS that cannot be read \(EntitiesForbidden"),
    ],
)
def test_broken_files_give_one_error_with_its_place(content, message, tmp_path):
    (tmp_path / "a.xmi").write_bytes(content)
    (tmp_path / "TypeSystem.xml").write_text(TYPES)
    with pytest.raises(InputError, match=message) as error:
        karat.load(tmp_path / "a.xmi", format="inception")
    assert "a.xmi" in error.value.where


def test_texts_of_a_document_must_agree(tmp_path):
    files = {f"annotation/a/{name}.xmi": make_xmi(text=text * 5) for name, text in (("x", "one"), ("y", "two"))}
    (tmp_path / "p.zip").write_bytes(pack({**files, "TypeSystem.xml": TYPES}))
    with pytest.raises(InputError, match=r"annotation/a/y\.xmi: found another text of 'a\.txt'"):
        karat.load(tmp_path / "p.zip")


def test_without_the_package_one_line_says_what_to_install(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "cassis", None)
    with pytest.raises(karat.KaratError, match=r"pip install 'karat\[inception\]'"):
        karat.save(karat.load("demo"), tmp_path / "x.zip", format="inception")
