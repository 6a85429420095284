"""Test sets that commands name as files and folders."""

from __future__ import annotations

from collections.abc import Sequence

from karat.data.load import load
from karat.model.corpus import Corpus
from karat.protocols.zelda.split_predictions import GoldMention, collect_gold_mentions
from karat.protocols.zelda.splits import find_split_files


def load_splits(paths: Sequence[str]) -> dict[str, Corpus]:
    """Load the test sets of a ZELDA-style benchmark from files and folders; return them by split name."""
    return {split: load(path) for split, path in find_split_files(paths).items()}


def collect_linked_mentions(splits: dict[str, Corpus]) -> dict[str, list[GoldMention]]:
    """Return the gold mentions of each split that are linked to an entity, without NIL and unlinked mentions."""
    return {
        split: [mention for mention in collect_gold_mentions(corpus) if mention is not None]
        for split, corpus in splits.items()
    }
