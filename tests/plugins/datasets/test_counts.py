"""The published files hold what the registry says, wherever they are at hand."""

from __future__ import annotations

import pytest

from karat.data.catalogue import finish_corpus, list_splits
from karat.data.dataset_files import find_folder, prepare_split
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.dataset import Dataset, DatasetName
from karat.model.spec.format import Format
from karat.storage.files import Source

CHOSEN = {
    str(one.name): one
    for name in list_plugins("datasets")
    for version in get_plugin("datasets", name, Dataset).versions
    for one in list_splits(DatasetName(name, version))
}
HASHED = [name for name, one in CHOSEN.items() if one.split.files and all(item.sha256 for item in one.split.files)]
"""What lies in the shared data: only such files could be hashed."""


@pytest.mark.shared
@pytest.mark.parametrize("name", HASHED)
def test_counts(name, shared, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(shared))
    chosen = CHOSEN[name]
    assert find_folder(chosen) is not None
    corpus = get_plugin("formats", chosen.split.format, Format).read_corpus(Source(str(prepare_split(chosen))), True)
    if chosen.split.document_range is None:
        _expect(corpus, chosen.split.counts)
    _expect(finish_corpus(corpus, chosen), chosen.split.expected_counts)


def _expect(corpus, counts):
    tags = sum(len(document.tags) for document in corpus)
    found = {"documents": len(corpus), "labels": len(corpus.labels), "tags": tags}
    expected = {name: getattr(counts, name) for name in found}
    assert found == {name: found[name] if count is None else count for name, count in expected.items()}


@pytest.mark.shared
def test_every_checksum_that_can_be_checked_is_right(shared, monkeypatch):
    monkeypatch.setenv("KARAT_DATA", str(shared))
    checked = [one for one in CHOSEN.values() if one.split.root is None and find_folder(one) is not None]
    assert len(checked) >= 60
    for one in checked:
        assert all(item.sha256 and item.size for item in one.split.files)
        prepare_split(one)
