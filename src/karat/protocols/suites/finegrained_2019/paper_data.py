"""The files that the paper's values are computed from: three gold standards and the outputs of six system settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from karat.data.corpus_pool import has_shared_ids, pool_corpora, pool_runs
from karat.data.load import load, load_run
from karat.model.corpus import Corpus
from karat.model.results.exhibit import Explanation
from karat.model.run import Run
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.papers.output_files import FINEGRAINED_FILES, FINEGRAINED_FORMATS, get_finegrained_path
from karat.systems.claims.finegrained_2019 import NAMES

GOLD_FILES: Final = {
    "KORE50": "finegrained/gold/categorizedKORE50.ttl",
    "ACE2004": "finegrained/gold/categorizedACE04.ttl",
    "VoxEL": "finegrained/gold/categorizedVoxEL.ttl",
}
"""The gold standards by the paper's names, in the order of Table 2."""

SYSTEMS: Final = {short: FINEGRAINED_FILES[name] for short, name in NAMES.items()}
"""The names of the systems in file names, by the paper's abbreviations, in the order of Table 3."""

COMMAND: Final = "karat reproduce finegrained-2019 --data DIR"
"""The command for values that no other command computes."""

_POOLED_ORDER: Final = ("KORE50", "VoxEL", "ACE2004")
_DECODED, _AS_WRITTEN = FINEGRAINED_FORMATS


def system_files(system: str) -> list[str]:
    """Return the files with the predictions of `system`, an abbreviation."""
    return [get_finegrained_path(SYSTEMS[system], GOLD_FILES[dataset]) for dataset in _POOLED_ORDER]


@dataclass(frozen=True)
class PaperData:
    """The gold standards and predictions at hand; each file is read on first use."""

    data: PublishedData
    """The folder of data."""

    @cached_property
    def corpora(self) -> Mapping[str, Corpus]:
        """The gold standards at hand, by the paper's names."""
        paths = {name: self.data.find(file) for name, file in GOLD_FILES.items()}
        return {name: load(path) for name, path in paths.items() if path is not None}

    @cached_property
    def unified(self) -> Corpus:
        """The three gold standards as one; `explain_missing` says whether all are at hand."""
        return pool_corpora([self.corpora[name] for name in _POOLED_ORDER])

    @cached_property
    def runs(self) -> Mapping[str, Run]:
        """The predictions of each system whose files are all at hand, on the unified dataset."""
        return self._load_runs(_DECODED)

    @cached_property
    def runs_as_written(self) -> Mapping[str, Run]:
        """`runs`, with escapes in links left as they are."""
        return self._load_runs(_AS_WRITTEN)

    def explain_missing(self, system: str | None = None) -> Explanation | None:
        """Return which file the unified dataset, or the predictions of `system` on it, lack; None if none."""
        files = [*GOLD_FILES.values(), *([] if system is None else system_files(system))]
        missing = [file for file in files if self.data.find(file) is None]
        return self.data.explain_missing(missing[0]) if missing else None

    def _load_runs(self, format: str) -> dict[str, Run]:
        """Load the predictions of each system in `format`."""
        systems = [system for system in SYSTEMS if self.explain_missing(system) is None]
        return {
            system: pool_runs(
                [load_run(self.data.path / file, format=format) for file in system_files(system)],
                has_numbered_ids=has_shared_ids(list(self.corpora.values())),
            )
            for system in systems
        }


def score_command(arguments: str, *, command: str = "score") -> str:
    """Return the line `karat COMMAND` with the unified dataset, the predictions of all systems, and `arguments`."""
    gold = "+".join(f"DIR/{GOLD_FILES[name]}" for name in _POOLED_ORDER)
    runs = " ".join("+".join(f"DIR/{file}" for file in system_files(system)) for system in SYSTEMS)
    return f"karat {command} {gold} {runs} {arguments}"
