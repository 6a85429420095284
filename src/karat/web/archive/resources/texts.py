"""The texts of a dataset, in blocks of documents."""

from __future__ import annotations

from collections.abc import Iterable

from karat.web.archive.archive import Archive
from karat.web.archive.cases import build_texts, number_blocks
from karat.web.archive.resource import Resource
from karat.web.archive.shape import TextsResource


def _list_blocks(archive: Archive, key: str) -> Iterable[int]:
    """Return the numbers of the blocks of texts of the dataset `key` in `archive`; none if texts are hidden."""
    corpus = archive.get_visible_corpus(key)
    return () if corpus is None else dict.fromkeys(number_blocks(map(len, corpus.texts)))


RESOURCE = Resource(TextsResource, build_texts, is_per_dataset=True, list_blocks=_list_blocks)
