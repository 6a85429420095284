"""The problem graph of BAT's Figure 2."""

from __future__ import annotations

from karat.model.spec.settings.task import REDUCTIONS, SCORED_TASKS, TASKS
from karat.web.archive.archive import Archive, ArchiveEntry
from karat.web.archive.resource import Resource
from karat.web.archive.shape import ProblemNode, ProblemsResource


def build_problems(archive: Archive) -> ProblemsResource:
    """Build the graph of problems (tasks): reductions between them, and the systems and datasets of each."""
    systems, keys = archive.systems, list(archive.datasets)
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


RESOURCE = Resource(ProblemsResource, build_problems)
