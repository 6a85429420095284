"""Test sets as the command line gives them."""

from __future__ import annotations

from collections.abc import Sequence

from karat.data.load import load
from karat.model.corpus import Corpus
from karat.zelda.given import GivenMention, given_mentions
from karat.zelda.splits import split_files


def splits_given(given: Sequence[str]) -> dict[str, Corpus]:
    """The test sets in files and folders, by split."""
    return {split: load(path) for split, path in split_files(given).items()}


def mentions_of(splits: dict[str, Corpus]) -> dict[str, list[GivenMention]]:
    """The mentions with an entity of each."""
    return {split: [one for one in given_mentions(corpus) if one is not None] for split, corpus in splits.items()}
