"""The published files hold what the registry says, wherever they are at hand."""

from __future__ import annotations

import pytest

from karat.data.catalogue import every, finished, lies_in, ready
from karat.registry import get, names
from karat.spec.dataset import Dataset, DatasetName
from karat.spec.format import Format
from karat.storage.files import Source

CHOSEN = {
    str(one.name): one
    for name in names("datasets")
    for version in get("datasets", name, Dataset).versions
    for one in every(DatasetName(name, version))
}
HASHED = [name for name, one in CHOSEN.items() if one.split.files and all(item.sha256 for item in one.split.files)]
"""What lies in the shared data: only such files could be hashed."""


@pytest.mark.shared
@pytest.mark.parametrize("name", HASHED)
def test_counts(name, shared, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(shared))
    chosen = CHOSEN[name]
    assert lies_in(chosen) is not None
    corpus = get("formats", chosen.split.format, Format).read_corpus(Source(str(ready(chosen))), True)
    if chosen.split.rows is None:
        _expect(corpus, chosen.split.counts)
    _expect(finished(corpus, chosen), chosen.split.expected)


def _expect(corpus, counts):
    tags = sum(len(document.tags) for document in corpus)
    found = {"documents": len(corpus), "labels": len(corpus.labels), "tags": tags}
    expected = {name: getattr(counts, name) for name in found}
    assert found == {name: found[name] if count is None else count for name, count in expected.items()}


@pytest.mark.shared
def test_every_checksum_that_can_be_checked_is_right(shared, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(shared))
    checked = [one for one in CHOSEN.values() if one.split.root is None and lies_in(one) is not None]
    assert len(checked) >= 60
    for one in checked:
        assert all(item.sha256 and item.size for item in one.split.files)
        ready(one)
