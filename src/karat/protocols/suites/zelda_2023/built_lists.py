"""Candidate lists from the linked text at hand, for test sets of other origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from karat.protocols.suites.zelda_2023.inputs import LISTS, ZeldaFiles
from karat.protocols.zelda.candidates.candidate_lists import open_built_lists
from karat.protocols.zelda.candidates.merge import build_candidate_lists
from karat.protocols.zelda.candidates.published_lists import open_candidate_lists
from karat.protocols.zelda.candidates.recall import ListRecall, measure_recall
from karat.protocols.zelda.candidates.staging import CandidateSource
from karat.protocols.zelda.split_predictions import collect_linked_mentions

ORIGINS: Final = (
    ("aida-b",),
    ("tweeki",),
    ("reddit-posts", "reddit-comments"),
    ("wned-wiki", "wned-cweb"),
    ("shadowlinks-top", "shadowlinks-shadow", "shadowlinks-tail"),
)
"""Test sets of the same origin, which share texts or mentions, so that no part gives away another."""

OTHER_TEXTS: Final = ("bat/AQUAINT", "bat/MSNBC", "bat/ACE2004_Coref_Turking", "bat/iitb")
"""Linked texts besides the test sets, in the folder of data."""

_JSONL: Final = "zelda/jsonl"


@dataclass(frozen=True, slots=True)
class BuiltLists:
    """The recall of candidate lists from the linked text at hand, by split."""

    recalls: Mapping[str, ListRecall]
    """Recall by split; empty if no lists could be built."""
    texts: tuple[str, ...]
    """The other linked texts that were found."""


def measure_built_lists(files: ZeldaFiles) -> BuiltLists:
    """Build lists for the test sets of each origin from all other linked text at hand, and measure their recall.

    The titles of all test sets are candidates of themselves, as all titles of the vocabulary are in ZELDA. Without
    DuckDB, which merges lists, or without other text there are no recalls.
    """
    texts = tuple(name for name in OTHER_TEXTS if files.data.find(name) is not None)
    recalls: dict[str, ListRecall] = {}
    if find_spec("duckdb") is None:
        return BuiltLists({}, texts)
    for origin in ORIGINS:
        splits = {split: files.corpora[split] for split in origin if split in files.corpora}
        sources = [path for split, path in files.jsonl.items() if split not in origin]
        sources += [str(files.data.path / name) for name in texts]
        if splits and sources:
            with TemporaryDirectory() as folder:
                target = str(Path(folder) / "lists.parquet")
                build_candidate_lists(
                    [
                        CandidateSource("titles", str(files.data.path / _JSONL)),
                        *(CandidateSource("text", source) for source in sources),
                    ],
                    target,
                )
                recalls |= measure_recall(open_built_lists(target), collect_linked_mentions(splits))
    return BuiltLists(recalls, texts)


def measure_published_lists(files: ZeldaFiles) -> Mapping[str, ListRecall]:
    """Measure the recall of ZELDA's own lists by split; empty if they are not at hand."""
    path = files.data.find(LISTS)
    if path is None or not files.corpora:
        return {}
    return measure_recall(open_candidate_lists(f"zelda={path}"), collect_linked_mentions(files.corpora))


def list_commands(files: ZeldaFiles) -> str:
    """Return the command lines that build and measure the lists, one pair for each origin."""
    names = {split: f"DIR/{Path(path).relative_to(files.data.path)}" for split, path in files.jsonl.items()}
    lines = []
    for number, origin in enumerate(ORIGINS, 1):
        tests = [names[split] for split in origin if split in names]
        texts = [name for split, name in names.items() if split not in origin]
        texts += [f"DIR/{name}" for name in OTHER_TEXTS if files.data.find(name) is not None]
        if tests and texts:
            options = " ".join(f"--text {text}" for text in texts)
            lines.append(f"karat zelda candidates lists{number}.parquet --titles DIR/{_JSONL} {options}")
            lines.append(f"karat zelda recall {' '.join(tests)} --candidate-lists lists{number}.parquet")
    return "\n".join(lines)
