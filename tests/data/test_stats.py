"""Corpora in numbers, worked by hand; and against what benchmarks say about themselves."""

from __future__ import annotations

import json

import pytest

import karat
from karat import UNLINKED, Corpus, Document, Label, Tag
from karat.kb.lexicon import read_lexicon
from karat.pipeline.describe import describe

TEXT = "The German visited Berlin. Angela Merkel met her there in may."


def corpus():
    labels = (
        Label(4, 10, "Q183", name="Germany", types=("LOC",)),
        Label(19, 25, "Q64", unit="b", types=("LOC",)),
        Label(19, 25, "Q1022", unit="b"),
        Label(27, 40, "Q567", unit="m"),
        Label(27, 33, None, unit="n", parent="m"),
        Label(45, 48, "Q567", kind="coreference", optional=True),
        Label(58, 61, UNLINKED),
    )
    return Corpus.of(
        [Document("a", TEXT, labels), Document("b", "Nothing here", tags=(Tag("Q1"), Tag("Q2")))],
        name="tiny",
        domain="news",
    )


def test_what_there_is():
    numbers = describe(corpus()).numbers
    expected = {
        "documents": 2,
        "sentences": 3,
        "words": 13,
        "labels": 7,
        "mentions": 5,  # German, Berlin, Merkel, her, may
        "entities": 4,
        "tags": 2,
        "segmentations": 1,
        "overlap": 2,  # the two spans at 27
        "nil": 0,  # the only NIL is a part of another segmentation
        "unlinked": 1,
        "optional": 1,
        "alternative": 2,  # Berlin; Merkel, which can be segmented otherwise
        "coreference": 1,
        "lowercase": 2,
        "multiword": 1,
        "surfaces": 6,
        "ambiguous surfaces": 1,
        "documents without labels": 0,
        "annotations per document": 4.5,
        "hardest problem": "A2W",
        "domain": "news",
        "demonym": None,
    }
    assert {name: numbers[name] for name in expected} == expected


def test_what_a_lexicon_adds(tmp_path):
    (tmp_path / "entities.tsv").write_text(
        "id\tname\ttypes\nQ183\tGermany\tQ27096213\nQ64\tBerlin\tQ27096213\nQ567\tAngela Merkel\tQ215627\n"
        "Q1022\tBerlin Brigade\tQ43229\n",
        encoding="utf-8",
    )
    (tmp_path / "popular.tsv").write_text("surface\tids\nBerlin\tQ64\nher\tQ1|Q567\n", encoding="utf-8")
    (tmp_path / "demonyms.txt").write_text("German\n", encoding="utf-8")
    numbers = describe(corpus(), read_lexicon(tmp_path)).numbers
    assert numbers["demonym"] == 1
    assert numbers["person"] == 2  # Merkel and her
    assert numbers["location"] == 2
    assert numbers["organisation"] == 1
    assert numbers["metonym"] == 1  # Berlin may be the brigade, the popular reading is the place
    assert numbers["partial"] == 2  # German in Germany, Berlin in Berlin Brigade
    assert numbers["rare"] == 2  # Berlin as the brigade; her, where Q1 is more popular


def test_on_the_command_line(karat_cli, tmp_path):
    path = tmp_path / "gold.jsonl"
    karat.save(corpus(), path)
    found = json.loads(karat_cli("data", "stats", path, "--json", "-").out)
    assert {"documents": 2, "mentions": 5, "entities": 4, "nil": 0}.items() <= found.items()
    assert found["undefined"]["demonym"].startswith("needs --kb")
    table = karat_cli("data", "stats", path, "demo")
    assert table.code == 0
    assert "mentions" in table.out
    latex = karat_cli("data", "stats", path, "--latex").out
    assert latex.startswith("\\begin{tabular}{lr}")
    assert karat_cli("data", "stats", tmp_path / "missing.jsonl").code == 2
    assert karat_cli("data", "stats", path, "--kb", tmp_path / "missing").code == 2


@pytest.mark.shared
@pytest.mark.parametrize("name", ["kore50", "msnbc-updated", "news-fair", "wiki-fair", "derczynski", "rss-500"])
def test_numbers_that_elevant_gives_too(name, shared):
    import gzip

    path = next((shared / "elevant" / "benchmarks").glob(f"{name}.benchmark.jsonl*"))
    statistics = next((shared / "elevant" / "benchmarks").glob(f"{name}.benchmark_statistics.jsonl*"))
    opener = gzip.open if statistics.suffix == ".gz" else open
    with opener(statistics, "rt", encoding="utf-8") as file:
        theirs = json.loads(file.readline())
    found = describe(karat.load(path))
    assert found.numbers["documents"] == theirs["text_statistics"]["articles"]
    assert found.numbers["mentions"] == theirs["tags"]["root"]
    assert found.numbers["optional"] == pytest.approx(theirs["tags"]["optional"], abs=0.05 * theirs["tags"]["root"])


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wiki-fair", {"mentions": 1761, "nil": 152, "optional": 455, "alternative": 120}),
        ("news-fair", {"mentions": 507, "nil": 90, "optional": 89, "alternative": 23}),
    ],
)
def test_table_2_of_the_fair_evaluation(name, expected, shared):
    path = next((shared / "elevant" / "benchmarks").glob(f"{name}.benchmark.jsonl*"))
    numbers = describe(karat.load(path)).numbers
    assert {column: numbers[column] for column in expected} == expected
