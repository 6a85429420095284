"""A corpus is divided into parts by document, and leakage between the parts is measured."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label, UsageError
from karat.data.publishing.leakage import TrainingIndex, group_duplicates
from karat.data.publishing.split import parse_parts, split_corpus
from karat.stats.near_duplicates import TextIndex
from karat.stats.share import Share

HALVES = {"dev": Fraction(1, 2), "test": Fraction(1, 2)}
THIRDS = {"a": Fraction(1, 3), "b": Fraction(2, 3)}
WORDS = st.lists(st.sampled_from(["one", "two", "three", "four"]), min_size=1, max_size=12).map(" ".join)


def build_corpus(texts, domains=None):
    return Corpus.from_documents(
        Document(f"d{number}", text, (Label(0, 3, f"Q{number % 3}"),), meta={"domain": domain} if domain else {})
        for number, (text, domain) in enumerate(zip(texts, domains or [None] * len(texts), strict=True))
    )


@given(st.lists(WORDS, min_size=4, max_size=14), st.integers(0, 3))
def test_the_parts_are_a_partition_without_near_duplicates_across_parts(texts, seed):
    corpus = build_corpus(texts)
    if len(group_duplicates(list(corpus))) < 4:  # a part may get no document
        return
    result = split_corpus(corpus, HALVES, seed=seed)
    ids = [id for part in result.parts.values() for id in part.ids.to_pylist()]
    assert sorted(ids) == sorted(corpus.ids.to_pylist())
    assert {document.id: document for part in result.parts.values() for document in part} == {
        document.id: document for document in corpus
    }
    assert result.encode_files() == split_corpus(corpus, HALVES, seed=seed).encode_files()
    part_of = {id: name for name, part in result.parts.items() for id in part.ids.to_pylist()}
    for first, second in combinations(corpus, 2):
        if first.text == second.text or list(TextIndex([first.text]).find_similar(second.text)):
            assert part_of[first.id] == part_of[second.id]
    assert all(not overlap.near_duplicates and not overlap.documents.hits for overlap in result.record.overlaps)


@given(st.lists(st.sampled_from(["news", "web", "law"]), min_size=6, max_size=40), st.integers(0, 3))
def test_each_domain_has_its_share_up_to_rounding(domains, seed):
    corpus = build_corpus([f"text {number}" for number in range(len(domains))], domains)
    result = split_corpus(corpus, THIRDS, by="domain", seed=seed) if len(set(domains)) > 1 else None
    for name, share in THIRDS.items() if result else ():
        for domain in set(domains):
            assert abs(result.record.parts[name].values.get(domain, 0) - share * domains.count(domain)) < 1


def test_another_seed_gives_other_parts():
    corpus = build_corpus([f"text {number}" for number in range(20)])
    assert {split_corpus(corpus, HALVES, seed=seed).record.parts["dev"].digest for seed in range(4)} != {
        split_corpus(corpus, HALVES, seed=0).record.parts["dev"].digest
    }


def test_near_duplicates_are_grouped_through_others():
    words = [f"w{number}" for number in range(40)]
    # The second shares 80 % of its runs with the first and the third with the second, but not with the first.
    texts = [" ".join(words[start : start + 24]) for start in (0, 4, 8)]
    corpus = build_corpus([*texts, "alone", "Alone!", "...", "???"])
    assert group_duplicates(list(corpus)) == [[0, 1, 2], [3, 4], [5], [6]]


def test_leakage_is_counted_by_hand():
    long = "the quick brown fox jumps over the lazy dog and runs far away"
    train = Corpus.from_documents(
        [Document("a", f"Ulm, said {long}", (Label(0, 3, "Q1"),)), Document("b", "Bonn", (Label(0, 4, "Q2"),))]
    )
    test = Corpus.from_documents(
        [
            Document("a", "ulm", (Label(0, 3, "Wikidata:Q1"),)),
            Document("x", f"Ulm. {long}", (Label(0, 3, "Q1"),)),
            Document("y", "BONN!", (Label(0, 4, None),)),
            Document("z", "Bonn or Ulm", (Label(0, 4, "Q3"), Label(8, 11, "Q2"))),
        ]
    )
    overlap = TrainingIndex("train", train).measure_overlap("test", test)
    assert (overlap.ids.hits, overlap.documents.hits, overlap.documents.total) == (1, 1, 4)
    assert [(item.document, item.training_document) for item in overlap.near_duplicates] == [("x", "a"), ("y", "b")]
    assert overlap.short_documents == 3
    assert (overlap.pairs.hits, overlap.pairs.total) == (1, 4)  # (Ulm, Q1) of (ulm, Q1), (Bonn, Q3) and (Ulm, Q2)
    assert (overlap.entities.hits, overlap.entities.total) == (2, 3)
    assert (overlap.surfaces.hits, overlap.surfaces.total) == (2, 3)
    date = Label(8, 12, "DATETIME", kind="datetime")
    dates = [
        Corpus.from_documents([Document("d", f"{city} in 1950", (Label(0, 4, id), date))])
        for city, id in (("Bonn", "Q2"), ("Kiel", "Q4"))
    ]
    overlap = TrainingIndex("train", dates[0]).measure_overlap("test", dates[1])
    assert (overlap.pairs, overlap.entities, overlap.surfaces) == (Share(0, 1),) * 3  # a date is no entity
    without_links = TrainingIndex("text", Corpus.from_documents([Document("t", long)]))
    assert without_links.measure_overlap("test", test).pairs is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train=0.8,test=0.3", "the shares sum to 1.1"),
        ("train=1", "only one part"),
        ("train,test=1", "write NAME=SHARE"),
        ("train=-1,test=2", "write NAME=SHARE"),
        ("train=1/0,test=1", "write NAME=SHARE"),
        ("train=0,test=1", "the share is 0"),
        ("a=0.5,a=0.5", "listed twice"),
        ("A=0.5,b=0.5", "'A' is not a valid name"),
    ],
)
def test_parts_that_make_no_sense_are_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_parts(text)


def test_exact_shares():
    assert parse_parts("a=1/3, b=2/3") == THIRDS
    assert parse_parts("train=0.8,dev=0.1,test=.1")["test"] == Fraction(1, 10)


@pytest.mark.parametrize("by", ["types", "mention-type", "nil", "length", "kind", "form", "entity", "rarity", "meta.x"])
def test_parts_of_the_demo_by_facets(by):
    corpus = karat.load("demo")
    if by == "meta.x":
        with pytest.raises(UsageError, match="no document has a value"):
            split_corpus(corpus, HALVES, by=by)
        return
    result = split_corpus(corpus, parse_parts("train=0.8,dev=0.1,test=0.1"), by=by)
    for expected, part in zip([40, 5, 5], result.record.parts.values(), strict=True):
        assert abs(part.documents - expected) <= 1
    assert sum(part.labels for part in result.record.parts.values()) == 327


def test_the_command_writes_parts_that_can_be_added(karat_cli, tmp_path, monkeypatch):
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "home"))
    ran = karat_cli("data", "split", "demo", "--out", tmp_path / "parts", "--by", "types", "--training", "demo")
    assert ran.code == 0
    assert "no near-duplicate documents" in ran.out
    assert "warning: test leaks from demo" in ran.out
    assert "warning: test leaks from train" not in ran.out
    record = json.loads((tmp_path / "parts" / "split.json").read_bytes())
    assert record["layout"] == "karat-split/1"
    assert {path.name for path in (tmp_path / "parts").iterdir()} == {
        "dev.jsonl",
        "split.json",
        "test.jsonl",
        "train.jsonl",
    }
    assert karat_cli("data", "add", tmp_path / "parts", "--name", "mine").code == 0
    for name, part in record["parts"].items():
        assert karat.load(f"mine/{name}").digest == part["digest"]
    with (tmp_path / "parts" / "dev.jsonl").open("a") as file:
        file.write("\n")
    changed = karat_cli("data", "add", tmp_path / "parts", "--name", "other")
    assert (changed.code, changed.out) == (2, "")
    assert "other content than karat data split wrote" in changed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--by", "doc"], "every document has a value of its own"),
        (["--by", "error"], "gold labels have no values of this facet"),
        (["--by", "typs"], "unknown facet 'typs'. Did you mean 'types'"),
        (["--seed", "-1"], "--seed is -1"),
        (["--parts", "a=0.999,b=0.001"], "the part b gets none of 50 documents"),
        (["--training", "nowhere.jsonl"], "nowhere.jsonl"),
    ],
)
def test_a_split_that_cannot_be_made_leaves_nothing(arguments, message, karat_cli, tmp_path):
    ran = karat_cli("data", "split", "demo", "--out", tmp_path / "parts", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err
    assert list(tmp_path.iterdir()) == []
