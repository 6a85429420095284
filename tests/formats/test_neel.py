"""NEEL 2016."""

from __future__ import annotations

import gzip

import pytest

import karat
from karat import InputError, Label, Prediction
from karat.data.steps import apply_steps
from karat.model.registry import get_plugin
from karat.model.spec.format import Format
from karat.storage.files import Source

TWEETS = "|20000001|,|😀 Ulm, Bob|\n|20000002|,|a|,|b|\n"
ULM = "http://dbpedia.org/resource/Ulm"
GOLD = f"20000001\t2\t5\t{ULM} \t1\tLocation\n20000001\t2\t5\t{ULM}\t1\tLocation\n20000001\t7\t10\tNIL3\t1\tPerson\n"


@pytest.fixture
def folder(tmp_path):
    def write(tweets=TWEETS, gold=GOLD):
        (tmp_path / "toy.tsv").write_text(tweets, encoding="utf-8")
        (tmp_path / "toy_neel.gs").write_text(gold)
        return tmp_path

    return write


@pytest.mark.parametrize("given", ["toy.tsv", "toy_neel.gs"])
def test_either_file_stands_for_both(folder, given):
    corpus = karat.load(folder() / given)
    first, second = corpus
    assert (corpus.name, second.id, second.text) == ("toy", "20000002", "a|,|b")
    assert first.labels == (
        Label(2, 5, ULM, types=("Location",)),
        Label(2, 5, ULM, types=("Location",), mention_id="repeated 1"),
        Label(7, 10, None, types=("Person",), nil_cluster="NIL3"),
    )
    assert corpus.skipped == {
        "ids with surrounding spaces (removed)": 1,
        "duplicate labels (kept as separate mentions)": 1,
    }


def test_a_compressed_partner_is_found(folder):
    here = folder()
    (here / "toy_neel.gs.gz").write_bytes(gzip.compress((here / "toy_neel.gs").read_bytes()))
    (here / "toy_neel.gs").unlink()
    assert len(karat.load(here / "toy.tsv").labels) == 3
    assert len(karat.load(here / "toy_neel.gs.gz").labels) == 3


def test_rows_without_tweets_are_predictions(folder):
    here = folder()
    (here / "mine.gs").write_text(f"20000001\t2\t5\t{ULM}\t1\tLocation\n")
    run = karat.load_run(here / "mine.gs", corpus=karat.load(here / "toy.tsv"))
    assert next(iter(run)).predictions == (Prediction(2, 5, ULM, types=("Location",), score=1.0),)
    with pytest.raises(InputError, match=r"mine\.gs: found no file 'mine\.tsv' next to it"):
        karat.load(here / "mine.gs")


def test_predictions_that_could_as_well_be_neleval_s_are_not_guessed(folder):
    path = folder() / "mine.gs"
    path.write_text(f"20000001\t2\t5\t{ULM}\t0.7\tLocation\n")
    with pytest.raises(InputError, match=r"could be NEEL 2016 \(neel\), neleval"):
        karat.load_run(path)
    assert len(karat.load_run(path, format="neel").predictions) == 1


@pytest.mark.parametrize(
    ("change", "description"),
    [
        ({"tweets": TWEETS + "no tweet\n"}, r"toy\.tsv:3: found 'no tweet'"),
        ({"gold": GOLD + "20000001\t1\t2\n"}, r"toy_neel\.gs:4: found 3 columns"),
        ({"gold": GOLD.replace("\t7\t", "\tx\t")}, r"toy_neel\.gs:3: found 'x' for the start"),
        ({"gold": GOLD.replace("\t10\t", "\t11\t")}, r"toy_neel\.gs, tweet '20000001': found label \[7, 11\)"),
        ({"gold": GOLD.replace("\t1\tPerson", "\tnan\tPerson")}, r"toy_neel\.gs:3: found 'nan' for the score"),
        ({"gold": GOLD + GOLD.replace("20000001", "20000009")}, r"toy_neel\.gs: found tweet '20000009'"),
    ],
)
def test_defects_are_named_with_their_place(folder, change, description):
    with pytest.raises(InputError, match=description):
        get_plugin("formats", "neel", Format).read_corpus(Source(str(folder(**change) / "toy.tsv")), True)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("split", "tweets", "length", "rows", "nil", "linked", "distinct", "silent"),
    [
        ("training", 6025, 99.7, 8665, 2291, 6374, 6370, 1952),
        ("dev", 100, 108.1, 338, 85, 253, 253, 0),
        ("test", 3164, 108.1, 1022, 284, 738, 736, 2868),
    ],
)
def test_counts(shared, split, tweets, length, rows, nil, linked, distinct, silent):
    """Lengths are BAT's, in UTF-16 units; 2,873 test tweets have no link."""
    corpus = karat.load(shared / "bat/neel2016" / f"NEEL2016-{split}.tsv")
    made, changes = apply_steps(corpus, ["drop-nil", "distinct"])
    assert (len(corpus), len(corpus.labels), len(made.labels)) == (tweets, rows, distinct)
    assert changes["drop-nil"].after.labels == linked == rows - nil
    assert sum(not document.labels for document in corpus) == silent
    assert round(sum(len(d.text.encode("utf-16-le")) // 2 for d in corpus) / tweets, 1) == length
    assert len(apply_steps(made, ["drop-empty"])[0]) == {"training": 3342, "dev": 98, "test": 291}[split]
