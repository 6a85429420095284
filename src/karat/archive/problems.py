"""Which problems systems solve and datasets are gold standards for, and what reduces to what (BAT's Figure 2)."""

from __future__ import annotations

from karat.archive.archive import Archive, ArchiveEntry
from karat.archive.board import ordered_systems
from karat.archive.shape import CreditsPiece, CreditTrack, ProblemNode, ProblemsPiece
from karat.errors import UsageError
from karat.spec.choices.task import REDUCTIONS, TASKS, WITH_SCORES


def problems(archive: Archive) -> ProblemsPiece:
    """The problems that reduce to each other, and those that something here is about."""
    systems, keys = ordered_systems(archive), list(archive.datasets)
    solved: dict[str, set[int]] = {}
    known: dict[str, set[int]] = {}
    for entry in archive.entries:
        task = archive.result(entry).signature["task"]
        known.setdefault(task, set()).add(keys.index(entry.key))
        solved.setdefault(_solved(archive, entry, task), set()).add(systems.index(entry.system))
    drawn = {name for pair in REDUCTIONS for name in pair} | solved.keys() | known.keys()
    names = [name for name in TASKS if name in drawn]
    return ProblemsPiece(
        [
            ProblemNode(
                name, TASKS[name].title, TASKS[name].says, sorted(solved.get(name, ())), sorted(known.get(name, ()))
            )
            for name in names
        ],
        [(names.index(harder), names.index(easier)) for harder, easier in REDUCTIONS],
    )


def _solved(archive: Archive, entry: ArchiveEntry, task: str) -> str:
    """The problem that answers are a solution of: with scores where they have some."""
    cases = archive.verdicts(entry)
    scored = cases is not None and cases.column("score").null_count < len(cases)
    return WITH_SCORES.get(task, task) if scored else task


def credits(archive: Archive, key: str) -> CreditsPiece:
    """One answer, several verdicts."""
    systems = ordered_systems(archive)
    entries = sorted(archive.on(key), key=lambda entry: systems.index(entry.system))
    files = [(entry, file) for entry in entries if (file := archive.credits(entry)) is not None]
    if not files:
        raise UsageError("there are results only, which have no cases. Give gold and answers to karat report.")
    tracks = [CreditTrack(systems.index(entry.system), file.credits) for entry, file in files]
    return CreditsPiece(archive.datasets[key].dataset, files[0][1].ways, tracks)
