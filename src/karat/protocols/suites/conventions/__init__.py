"""Suite that asks how much the convention decides: real outputs of many systems under every profile.

There are no published values: the suite computes a finding of its own, in which every sentence is generated from the
numbers.
"""

from __future__ import annotations

from karat.analysis.comparison.rank_sensitivity import list_distinct_profiles
from karat.model.output.progress import map_in_processes
from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits
from karat.protocols.papers.data_folder import open_data
from karat.protocols.suites.conventions.exhibits import build_exhibits
from karat.protocols.suites.conventions.outputs import FOLDERS, find_outputs
from karat.protocols.suites.conventions.scores import ScoringJob, score_dataset


def reproduce_conventions(path: str) -> Reproduction:
    """Score all outputs in the folder of data at `path` under all profiles, and return the finding as exhibits."""
    data = open_data(path, *FOLDERS)
    profiles = tuple(list_distinct_profiles())
    datasets = find_outputs(data)
    jobs = [ScoringJob(files, profiles) for files in sorted(datasets, key=lambda files: files.size, reverse=True)]
    by_files = {scores.files: scores for scores in map_in_processes(score_dataset, jobs)}
    return summarise_exhibits(build_exhibits([by_files[files] for files in datasets], profiles, path))


SUITE = Suite(
    title="How much conventions decide",
    description="A finding of our own: in how many pairs of systems the better one changes with the profile, which "
    "setting is responsible, and which differences are within chance. Data: a folder with elevant/results, "
    "finegrained, formats/hipe and zelda, as far as at hand.",
    run=lambda path, kb: reproduce_conventions(path),
    data_path=".",
)
