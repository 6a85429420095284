"""All resources of the web client by name, for the server and for single-file reports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from karat.model.errors import UnknownNameError, UsageError
from karat.model.output.json_files import JsonRecord
from karat.model.spec.settings.task import REDUCTIONS, SCORED_TASKS, TASKS
from karat.web.archive.archive import Archive, ArchiveEntry
from karat.web.archive.case_search import build_entities, can_search
from karat.web.archive.cases import build_cases, build_texts, number_blocks
from karat.web.archive.charts import build_curves
from karat.web.archive.details import build_dataset, build_reasons
from karat.web.archive.groups import build_groups
from karat.web.archive.leaderboard import build_errors, build_leaderboard, has_groups, rank_systems
from karat.web.archive.shape import CreditsResource, CreditTrack, ProblemNode, ProblemsResource
from karat.web.archive.verification import build_verification, list_verifications

_NAME: Final = re.compile(r"(?P<kind>[a-z]+)(?:/(?P<key>[0-9a-f]{12}))?(?:/(?P<block>[0-9]{1,6}))?")


def build_problems(archive: Archive) -> ProblemsResource:
    """Build the graph of problems (tasks): reductions between them, and the systems and datasets of each."""
    systems, keys = rank_systems(archive), list(archive.datasets)
    systems_by_task: dict[str, set[int]] = {}
    datasets_by_task: dict[str, set[int]] = {}
    for entry in archive.entries:
        task = archive.read_result(entry).signature["task"]
        datasets_by_task.setdefault(task, set()).add(keys.index(entry.key))
        systems_by_task.setdefault(_get_solved_task(archive, entry, task), set()).add(systems.index(entry.system))
    listed_tasks = {name for pair in REDUCTIONS for name in pair} | systems_by_task.keys() | datasets_by_task.keys()
    names = [name for name in TASKS if name in listed_tasks]
    return ProblemsResource(
        [
            ProblemNode(
                name,
                TASKS[name].title,
                TASKS[name].description,
                sorted(systems_by_task.get(name, ())),
                sorted(datasets_by_task.get(name, ())),
            )
            for name in names
        ],
        [(names.index(harder), names.index(easier)) for harder, easier in REDUCTIONS],
    )


def _get_solved_task(archive: Archive, entry: ArchiveEntry, task: str) -> str:
    """Return the task that an entry solves: `task`, or its variant with scores if any prediction has a score."""
    cases = archive.read_verdicts(entry)
    has_scores = cases is not None and cases.column("score").null_count < len(cases)
    return SCORED_TASKS.get(task, task) if has_scores else task


def build_credits(archive: Archive, key: str) -> CreditsResource:
    """Build the credit of each prediction on the dataset `key` under several rules; raise if there are no cases."""
    systems = rank_systems(archive)
    entries = sorted(archive.get_entries(key), key=lambda entry: systems.index(entry.system))
    files = [(entry, file) for entry in entries if (file := archive.read_credits(entry)) is not None]
    if not files:
        raise UsageError("the archive has results but no cases. Pass gold and predictions to `karat report`.")
    tracks = [CreditTrack(systems.index(entry.system), file.credits) for entry, file in files]
    return CreditsResource(archive.datasets[key].dataset, files[0][1].rules, tracks)


ARCHIVE_RESOURCES: Final[Mapping[str, Callable[[Archive], JsonRecord]]] = {
    "leaderboard": build_leaderboard,
    "errors": build_errors,
    "entities": build_entities,
    "problems": build_problems,
    "verification": build_verification,
}
DATASET_RESOURCES: Final[Mapping[str, Callable[[Archive, str], JsonRecord]]] = {
    "cases": build_cases,
    "dataset": build_dataset,
    "reasons": build_reasons,
    "curves": build_curves,
    "credits": build_credits,
    "groups": build_groups,
}


def build_resource(archive: Archive, name: str) -> bytes:
    """Build a resource by its name, such as `leaderboard`, `cases/DATASET` or `texts/DATASET/BLOCK`; return its JSON.

    Raises `UnknownNameError` for an unknown resource or dataset key.
    """
    match = _NAME.fullmatch(name)
    kind, key, block = match.group("kind", "key", "block") if match else ("", None, None)
    if kind in ARCHIVE_RESOURCES and key is None and block is None:
        return msgspec.json.encode(ARCHIVE_RESOURCES[kind](archive))
    if key is not None and key not in archive.datasets:
        raise UnknownNameError("dataset", key, archive.datasets)
    if kind in DATASET_RESOURCES and key is not None and block is None:
        return msgspec.json.encode(DATASET_RESOURCES[kind](archive, key))
    if kind == "texts" and key is not None and block is not None:
        return msgspec.json.encode(build_texts(archive, key, int(block)))
    raise UnknownNameError("resource", name, [*ARCHIVE_RESOURCES, *DATASET_RESOURCES, "texts"])


def list_resources(archive: Archive) -> Iterator[str]:
    """Yield the names of all resources that can be built from an archive."""
    has_cases = can_search() and any(entry.verdicts for entry in archive.entries)
    exists = {"entities": has_cases, "verification": bool(list_verifications(archive))}
    yield from (name for name in ARCHIVE_RESOURCES if exists.get(name, True))
    for key in archive.datasets:
        entries = list(archive.get_entries(key))
        if any(entry.verdicts for entry in entries):
            yield f"cases/{key}"
        corpus = archive.read_corpus(key)
        if corpus is not None:
            yield f"dataset/{key}"
        if (corpus_texts := archive.get_visible_corpus(key)) is not None:
            yield from (f"texts/{key}/{block}" for block in dict.fromkeys(number_blocks(map(len, corpus_texts.texts))))
        if any(entry.reasons for entry in entries):
            yield f"reasons/{key}"
        if any(entry.curves or entry.seconds or entry.verdicts for entry in entries):
            yield f"curves/{key}"
        if any(entry.credits for entry in entries):
            yield f"credits/{key}"
        if has_groups(archive, key):
            yield f"groups/{key}"
