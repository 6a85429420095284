"""Two gold standards put together: by a conversion of a pool, not by appending their files."""

import pytest

import karat
from karat import Corpus, Document, InputError, Label

HALVES = {
    "one": {"agreement": "F1 0.9", "annotators": "2", "domain": "news"},
    "two": {"agreement": "F1 0.5", "annotators": "2", "domain": "law"},
}


@pytest.fixture
def halves(tmp_path):
    for name, metadata in HALVES.items():
        corpus = Corpus.from_documents([Document(name, "Ulm", (Label(0, 3, "Q3012"),))], name=name)
        karat.save(Corpus.from_reader(list(corpus), name=name, metadata=metadata), tmp_path / f"{name}.jsonl")
    return tmp_path


def test_the_pool_has_no_metadata_of_one_half(halves, karat_cli):
    ran = karat_cli("data", "convert", f"{halves}/one.jsonl+{halves}/two.jsonl", halves / "both.jsonl")
    assert "one+two: metadata that differ are left out: agreement\n" in ran.err
    pooled = karat.load(halves / "both.jsonl")
    assert "agreement" not in pooled.metadata
    assert pooled.metadata["annotators"] == "2"
    assert [document.meta["domain"] for document in pooled] == ["news", "law"]


def test_the_message_about_appended_files_names_the_conversion(halves):
    appended = halves / "appended.jsonl"
    appended.write_bytes((halves / "one.jsonl").read_bytes() + (halves / "two.jsonl").read_bytes())
    with pytest.raises(InputError, match=r"appended.jsonl:3: found a second header.*karat data convert ONE.jsonl\+TWO"):
        karat.load(appended)
