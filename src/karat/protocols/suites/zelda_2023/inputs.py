"""The files that the suite reads: test sets, predictions and candidate lists, as far as at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from karat.data.load import load, load_run
from karat.kb.catalogue import open_starter
from karat.model.corpus import Corpus
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.papers.output_files import ZELDA_SYSTEMS
from karat.protocols.zelda.split_predictions import SplitPredictions, match_predictions
from karat.protocols.zelda.splits import find_split_files
from karat.systems.running.run import run_system
from karat.systems.running.system import RunnableSystem
from karat.systems.running.system_runner import RunOptions

LISTS: Final = "zelda/other/zelda_mention_entities_counter.pickle"
"""The candidate lists of ZELDA."""
TRAIN: Final = "zelda/train_data/zelda_train.jsonl"
"""The training text of ZELDA."""
PREDICTIONS: Final = "zelda/predictions"
"""The published predictions of a dual encoder."""


SNAPSHOT_SYSTEMS: Final = ("popular", "graph")
"""Karat's systems that need no training: the most popular candidate, and the most coherent ones."""


@dataclass(frozen=True)
class ZeldaFiles:
    """The files of ZELDA in a folder of published data; each is loaded on first use."""

    data: PublishedData
    """The folder."""

    @cached_property
    def jsonl(self) -> Mapping[str, str]:
        """The test sets as JSONL: paths by split."""
        return self._find_splits("zelda/jsonl", "jsonl")

    @cached_property
    def conll(self) -> Mapping[str, str]:
        """The test sets as CoNLL: paths by split."""
        return self._find_splits("zelda/conll", "conll")

    @cached_property
    def corpora(self) -> Mapping[str, Corpus]:
        """The test sets by split, from the JSONL files."""
        return {split: load(path, format="zelda") for split, path in self.jsonl.items()}

    @cached_property
    def conll_corpora(self) -> Mapping[str, Corpus]:
        """The test sets by split, from the CoNLL files."""
        return {split: load(path, format="zelda-conll") for split, path in self.conll.items()}

    @cached_property
    def systems(self) -> Mapping[str, Mapping[str, SplitPredictions]]:
        """The predictions by system and split: `dual encoder`, and the folders in `zelda/systems` by name."""
        folder = self.data.find(ZELDA_SYSTEMS)
        names = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder is not None else []
        folders = {"dual encoder": PREDICTIONS, **{name: f"{ZELDA_SYSTEMS}/{name}" for name in names}}
        systems = {system: self._load_predictions(folder) for system, folder in folders.items()}
        return {system: predictions for system, predictions in systems.items() if predictions}

    @cached_property
    def snapshot_systems(self) -> Mapping[str, Mapping[str, SplitPredictions]]:
        """The predictions of Karat's systems with the built-in snapshot for given mentions, by system and split."""
        kb = open_starter()
        return {
            f"{name}, built-in snapshot": {
                split: match_predictions(
                    corpus,
                    run_system(RunnableSystem.from_text(name), corpus, RunOptions(gold_mentions=True)).run,
                    split,
                    kb=kb,
                )
                for split, corpus in self.corpora.items()
            }
            for name in SNAPSHOT_SYSTEMS
        }

    def _load_predictions(self, folder: str) -> dict[str, SplitPredictions]:
        """Load the predictions in `folder` for the test sets at hand, and match them with the gold mentions."""
        files = self._find_splits(folder, None)
        return {
            split: match_predictions(corpus, load_run(files[split], corpus=corpus), split)
            for split, corpus in self.corpora.items()
            if split in files
        }

    def _find_splits(self, folder: str, suffix: str | None) -> dict[str, str]:
        """Return the files of `folder` by split, those with `suffix` if it is not None; empty without such files."""
        path = self.data.find(folder)
        return find_split_files([str(path)], suffix) if path is not None and _has_files(path) else {}


def _has_files(path: Path) -> bool:
    """Return whether `path` is a folder with files."""
    return path.is_dir() and any(file.is_file() for file in path.iterdir())
