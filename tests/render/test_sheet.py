"""Data sheets state what is known about a dataset, and list what is unknown."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

import karat
from karat import Corpus, Document, Label
from karat.data.publishing.registration import install_folder

REQUIRED = ("name", "description", "license", "url", "creator", "datePublished")
"""Properties of a dataset that Croissant 1.0 requires, besides those that are the same for all datasets."""

MEETING = "Angela Merkel met Emmanuel Macron in Berlin on Monday"
TEXTS = {
    "doc1": (f"{MEETING} afternoon.", {"Angela Merkel": "Q567", "Berlin": "Q64"}),
    "doc2": ("Berlin beat Hamburg, said Karl Nobody.", {"Berlin": "Q102720", "Hamburg": "Q51974", "Karl Nobody": ""}),
    "doc3": ("Paris is the capital of France.", {"Paris": "Q90", "France": "Q142"}),
    "doc4": (f"{MEETING} evening.", {"Angela Merkel": "Q567", "Berlin": "Q64"}),
    "doc5": ("Siemens opened a factory near Munich.", {"Siemens": "Q81230", "Munich": "Q1726"}),
}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def write_brat(folder):
    folder.mkdir()
    for id, (text, mentions) in TEXTS.items():
        (folder / f"{id}.txt").write_text(text, encoding="utf-8")
        lines = []
        for number, (surface, entity) in enumerate(mentions.items(), 1):
            start = text.index(surface)
            lines.append(f"T{number}\tName {start} {start + len(surface)}\t{surface}\n")
            lines += [f"N{number}\tReference T{number} Wikidata:{entity}\t{surface}\n"] * bool(entity)
        (folder / f"{id}.ann").write_text("".join(lines), encoding="utf-8")


def check_croissant(folder):
    """Check a folder without the reference reader: required properties, files and references between them."""
    croissant = json.loads((folder / "croissant.json").read_bytes())
    assert croissant["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert croissant["@type"] == "sc:Dataset"
    files = {file["@id"]: file for file in croissant["distribution"]}
    for file in files.values():
        assert not file["contentUrl"].startswith("/")
        assert ".." not in file["contentUrl"]
        content = (folder / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
        assert file["contentSize"] == f"{len(content)} B"
    for records in croissant["recordSet"]:
        fields = [leaf for field in records["field"] for leaf in field.get("subField", [field])]
        assert {field["source"]["fileObject"]["@id"] for field in fields} <= set(files)
        assert records["key"]["@id"] in {field["@id"] for field in fields}
    return croissant


def test_from_brat_to_a_published_dataset(karat_cli, tmp_path, monkeypatch):
    write_brat(tmp_path / "brat")
    (tmp_path / "rules.md").write_text("Mark every name.", encoding="utf-8")
    stated = {
        "licence": "CC BY 4.0",
        "citation": "Author 2026: Mini.",
        "description": "Five sentences.",
        "url": "https://example.org/mini",
        "creator": "A. Author",
        "published": "2026-11-18",
        "source": "Written for a test.",
        "bias": "Only Europe.",
        "language": "en",
    }
    options = [cell for name, value in stated.items() for cell in (f"--{name}", value)]
    added = karat_cli("data", "add", "brat", "--name", "mini", "--guidelines", "rules.md", *options)
    assert added.code == 0
    assert "unknown: title, domain, document type, knowledge base of the links\n" in added.out
    split = karat_cli("data", "split", "mini", "--out", "parts", "--parts", "dev=1/2,test=1/2")
    assert "2 documents in 1 group of near-duplicates; each group is in one part" in split.out
    assert karat_cli("data", "add", "parts", "--name", "mini", "--version", "2").code == 0
    sheet = karat_cli("data", "sheet", "mini", "--out", "published")
    assert sheet.code == 0
    croissant = check_croissant(tmp_path / "published")
    assert all(croissant[name] for name in REQUIRED)
    assert [file["contentUrl"] for file in croissant["distribution"]] == ["2/dev.jsonl", "2/test.jsonl", "2/rules.md"]
    text = (tmp_path / "published" / "datasheet.md").read_text(encoding="utf-8")
    for line in (
        "| licence | CC BY 4.0 |",
        "| domain | unknown |",
        "| language | en | en |",
        "| languages | en 100.0 | en 100.0 |",
        "- Only Europe.",
        "- [2/rules.md](2/rules.md), SHA-256",
        "Unknown: the labels of single annotators were not given.",
        "| test in dev | 0 | 0 | 0 | ",
    ):
        assert line in text
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "elsewhere"))
    assert install_folder(tmp_path / "published").added == ("2",)
    assert karat_cli("score", "mini/dev", "mini/dev").code == 0
    ids = {id for split in ("dev", "test") for id in karat.load(f"mini/{split}").ids.to_pylist()}
    assert ids == set(TEXTS)


def test_nothing_is_invented(karat_cli, tmp_path):
    karat.save(Corpus.from_documents([Document("d", "Ulm is old.", (Label(0, 3, "Q3012"),))]), "my gold.jsonl")
    ran = karat_cli("data", "sheet", "my gold.jsonl", "--out", "published")
    assert ran.out == (
        "published: data sheet, Croissant and data of my-gold@1\n"
        "unknown: title, description, language, domain, document type, knowledge base of the links, licence, citation, "
        "address, date of publication, source of the texts, creators, biases by the authors, guidelines, agreement of "
        "annotators, share of demonym mentions, share of location mentions, share of metonym mentions, share of "
        "organisation mentions, share of partial mentions, share of person mentions, share of rare mentions\n"
        "Shares of mentions need facts of a knowledge base: add --kb starter, or another one.\n"
    )
    croissant = check_croissant(tmp_path / "published")
    assert not set(REQUIRED[1:]) & set(croissant)
    text = (tmp_path / "published" / "datasheet.md").read_text(encoding="utf-8")
    assert text.count("| unknown |") == 17
    assert "| QID | 1 |" in text
    assert text == karat_cli("data", "sheet", "my gold.jsonl").out


def test_values_are_no_links(karat_cli, tmp_path):
    labels = (Label(0, 3, "Q1"), Label(8, 11, "DATETIME", kind="datetime"), Label(4, 7, "QUANTITY", kind="quantity"))
    karat.save(Corpus.from_documents([Document("d", "Ada 1st May.", labels)]), tmp_path / "gold.jsonl")
    sheet = karat_cli("data", "sheet", tmp_path / "gold.jsonl").out
    assert "| QID | 1 |" in sheet
    assert "| title |" not in sheet
    assert "2 labels of quantities and datetimes, which have no id." in sheet


def test_a_date_with_an_id_is_a_link(karat_cli, tmp_path):
    """Of two dates, one has an id: two QIDs, and one label without."""
    labels = Label(0, 3, "Q1"), Label(4, 7, "DATETIME", kind="datetime"), Label(8, 11, "Q7678", kind="datetime")
    karat.save(Corpus.from_documents([Document("d", "Ada 1st May.", labels)]), tmp_path / "gold.jsonl")
    sheet = karat_cli("data", "sheet", tmp_path / "gold.jsonl").out
    assert "| QID | 2 |" in sheet
    assert "1 label of quantities and datetimes, which have no id." in sheet


def test_values_are_no_entities(karat_cli, tmp_path):
    """Of eleven entities, ten are the most frequent; the dates, which are more, are none."""
    text = "Ada " * 22
    labels = [Label(4 * i, 4 * i + 3, f"Q{i}") for i in range(11)]
    dates = [Label(4 * i, 4 * i + 3, "DATETIME", kind="datetime") for i in range(11, 22)]
    karat.save(Corpus.from_documents([Document("d", text, [*labels, *dates])]), tmp_path / "gold.jsonl")
    sheet = karat_cli("data", "sheet", tmp_path / "gold.jsonl").out
    assert "| the 10 most frequent entities | 90.9 |" in sheet
    numbers = json.loads(karat_cli("data", "stats", tmp_path / "gold.jsonl", "--json", "-").out)
    assert (numbers["entities"], numbers["ambiguous surfaces"], numbers["entities per surface"]) == (11, 1, 11.0)
    categorised = karat_cli("data", "categorise", tmp_path / "gold.jsonl")
    assert "11 of 11 linked labels have an entity without a known name" in categorised.out + categorised.err


def test_shares_that_need_a_knowledge_base_name_the_option(karat_cli, tmp_path):
    karat.save(Corpus.from_documents([Document("d", "Ulm is old.", (Label(0, 3, "Q3012"),))]), tmp_path / "gold.jsonl")
    sheet = karat_cli("data", "sheet", tmp_path / "gold.jsonl").out
    assert "- share of demonym mentions" in sheet
    assert "add --kb starter" in sheet
    with_facts = karat_cli("data", "sheet", tmp_path / "gold.jsonl", "--kb", "starter").out
    assert "share of demonym mentions" not in with_facts
    assert "--kb starter" not in with_facts
    written = karat_cli("data", "sheet", tmp_path / "gold.jsonl", "--out", tmp_path / "out").out
    assert "add --kb starter" in written


def test_agreement_is_measured_or_that_of_the_campaign(karat_cli):
    documents = [Document(f"d{n}", "Ulm is near Bonn.", (Label(0, 3, "Q1"), Label(12, 16, "Q2"))) for n in range(4)]
    other = [Document(f"d{n}", "Ulm is near Bonn.", (Label(0, 3, "Q1"),)) for n in range(4)]
    karat.save(Corpus.from_documents(documents, name="anna"), "anna.jsonl")
    karat.save(Corpus.from_documents(other, name="ben"), "ben.jsonl")
    page = karat_cli("data", "sheet", "anna.jsonl", "--annotator", "anna.jsonl", "--annotator", "ben.jsonl").out
    # One of two spans is marked by both: F1 is 2 · 4 / (8 + 4).
    assert "| anna, ben | 66.7 | 66.7 | 66.7 |" in page
    assert "agreement of annotators" not in page
    alone = karat_cli("data", "sheet", "anna.jsonl", "--annotator", "anna.jsonl")
    assert (alone.code, alone.out) == (2, "")
    assert "at least two annotators" in alone.err
    campaign = Corpus.from_documents(documents, name="gold", agreement="F1 of spans 0.9", guidelines="1")
    karat.save(campaign, "gold.jsonl")
    page = karat_cli("data", "sheet", "gold.jsonl").out
    assert "As the data state: F1 of spans 0.9." in page
    assert "Versions in the metadata of the data: 1." in page


def test_the_sheet_of_a_built_in_dataset_has_what_the_registry_states(karat_cli):
    page = karat_cli("data", "sheet", "demo").out
    assert "# Karat demo\n" in page
    assert "| licence | Apache-2.0 |" in page
    assert "| citation | Written for Karat. |" in page
    assert "| version | karat |" in karat_cli("data", "sheet", "demo", "--version", "karat").out
    assert karat_cli("data", "sheet", "demo", "--version", "1").code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--out", "full"], "full already exists"),
        (["demo", "--out", "no/where"], "there is no folder 'no'"),
        (["nowhere.jsonl", "--out", "new"], "nowhere.jsonl"),
        (["mine", "--guidelines", "x.md", "--out", "new"], "the guidelines of a published version never change"),
        (["mine", "--version", "7", "--out", "new"], "unknown version of mine '7'"),
    ],
)
def test_a_sheet_that_cannot_be_written_leaves_nothing(arguments, message, karat_cli, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert karat_cli("data", "add", "demo", "--name", "mine").code == 0
    ran = karat_cli("data", "sheet", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert {path.name for path in tmp_path.iterdir()} == {"home", "full"}


READER = """
import sys
import mlcroissant

dataset = mlcroissant.Dataset(sys.argv[1])
print(dataset.metadata.issues.report())
for name in ("dev", "test"):
    for record in dataset.records(name):
        keys = [f"{name}/labels/{key}" for key in ("start", "end", "entity")]
        labels = [[label[key] for key in keys] for label in record[f"{name}/labels"]]
        print(record[f"{name}/id"].decode(), [(start, end, id and id.decode()) for start, end, id in labels])
"""


@pytest.mark.extras
def test_the_reference_reader_of_croissant_reads_the_folder(karat_cli, tmp_path):
    if find_spec("mlcroissant") is None and not os.environ.get("KARAT_EXTRAS"):
        pytest.skip("mlcroissant is not installed")
    options = [
        "--description",
        "Demo.",
        "--citation",
        "Me.",
        "--url",
        "https://example.org/",
        "--published",
        "2026-01-01",
    ]
    assert karat_cli("data", "split", "demo", "--out", "parts", "--parts", "dev=1/2,test=1/2").code == 0
    assert karat_cli("data", "sheet", "parts", "--name", "mine", "--creator", "Me", "--out", "new", *options).code == 0
    ran = subprocess.run(
        [sys.executable, "-c", READER, str(tmp_path / "new" / "croissant.json")],
        capture_output=True,
        check=True,
        env=os.environ | {"HOME": str(tmp_path)},
    )
    issues, *lines = ran.stdout.decode().split("\n")
    assert issues == ""
    gold = {document.id: document for document in karat.load("demo")}
    assert len([line for line in lines if line]) == len(gold)
    for line in filter(None, lines):
        id, _, labels = line.partition(" ")
        expected = [
            (label.start, label.end, label.entity if isinstance(label.entity, str) else None)
            for label in gold[id].labels
        ]
        assert labels == str(expected)


def test_each_split_has_its_own_counts_of_what_was_skipped(karat_cli, tmp_path):
    """The note without an id stands once in dev and twice in test; both counts are shown."""
    for split, notes in (("dev", 1), ("test", 2)):
        folder = tmp_path / split
        folder.mkdir()
        (folder / "d.txt").write_text("Ulm is old.", encoding="utf-8")
        lines = ["T1\tName 0 3\tUlm\n", *(f"#{number}\tAnnotatorNotes T1\tunsure\n" for number in range(1, notes + 1))]
        (folder / "d.ann").write_text("".join(lines), encoding="utf-8")
    assert karat_cli("data", "add", "--name", "mini", "--split", "dev=dev", "--split", "test=test").code == 0
    counts = [line for line in karat_cli("data", "sheet", "mini").out.splitlines() if "notes" in line.lower()]
    assert [(line.split(": ")[0], line.split(": ")[-1]) for line in counts] == [("- dev", "1"), ("- test", "2")], counts
