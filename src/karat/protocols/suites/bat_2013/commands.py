"""Command lines by which users get the scores of the systems at hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from karat.protocols.suites.bat_2013.corpora import AIDA_LABELS, SOURCES, UPDATED, UPDATED_MSNBC
from karat.protocols.suites.bat_2013.runs import ELEVANT_FILES, SYSTEMS, find_elevant_path

_FILES: Final = {
    "AIDA/CONLL": ("aida.jsonl", "aida-conll-test"),
    "AQUAINT": ("aquaint.jsonl", "AQUAINT"),
    "MSNBC": ("msnbc.jsonl", "MSNBC"),
    UPDATED: ("updated.jsonl", "msnbc-updated"),
    "IITB": ("iitb.jsonl", "iitb"),
    "Meij": ("meij.jsonl", "meij"),
}
"""The gold file of each dataset in commands, and the folder of its predictions."""

_SYSTEMS: Final = " ".join(f"'{system}'" if "[" in system else system for system in SYSTEMS)
_OPTIONS: Final = "--profile bat-paper --kb starter"


def create_files(datasets: Sequence[str], *, has_elevant: bool = True) -> list[str]:
    """Return command lines that write the gold files of datasets and the predictions of Karat's systems for them.

    With `has_elevant`, ELEVANT's outputs are converted too, without their texts, which may be masked.
    """
    lines = []
    for name in datasets:
        file, folder = _FILES[name]
        task = " --task c2kb" if name == "Meij" else ""
        lines.append(f"karat data convert DIR/{_get_path(name)} {file}{_format_steps(name)}")
        lines.append(f"karat run {_SYSTEMS} --on {file}{task} --out predictions")
        lines += [
            f"karat data convert DIR/{path} elevant-{folder}-{system}.jsonl"
            for system in (ELEVANT_FILES if has_elevant else ())
            if (path := find_elevant_path(system, name))
        ]
    return lines


def score(dataset: str, options: str, *, has_elevant: bool = True) -> str:
    """Return the command line that scores predictions for a dataset under the paper's profile with `options`.

    With `has_elevant`, ELEVANT's outputs are scored too.
    """
    return f"karat score {list_inputs(dataset, has_elevant=has_elevant)} {_OPTIONS} {options}"


def link_gold_mentions(dataset: str) -> str:
    """Return the command line that runs Karat's systems with the gold mentions of a dataset, and scores them."""
    file = _FILES[dataset][0]
    return (
        f"karat run {_SYSTEMS} --on {file} --task d2kb --out given {_OPTIONS} --set ids=resolved --set threshold=none"
    )


def draw_curve(dataset: str) -> str:
    """Return the command line that plots F1 by weak match over the threshold."""
    return f"karat curve {list_inputs(dataset, has_elevant=False)} {_OPTIONS} --match weak --plot curve.svg"


def compare_outputs(dataset: str, match: str) -> str:
    """Return the command line that compares all predictions for a dataset with each other by match relations."""
    return (
        f"karat compare --gold {list_inputs(dataset)} {_OPTIONS} --similarity --match {match} "
        "--best-threshold oracle-bat-paper"
    )


def show_near_misses(dataset: str) -> str:
    """Return the command line that shows how close wrong entities are to the gold entities."""
    return f"karat kb near-misses {list_inputs(dataset)}"


def list_inputs(dataset: str, *, has_elevant: bool = True) -> str:
    """Return the gold file of a dataset and the files of predictions for it, as shell patterns.

    With `has_elevant`, ELEVANT's outputs are included.
    """
    file, folder = _FILES[dataset]
    elevant = has_elevant and any(find_elevant_path(system, dataset) for system in ELEVANT_FILES)
    return f"{file} predictions/{folder}/*.jsonl" + (f" elevant-{folder}-*.jsonl" if elevant else "")


def _get_path(dataset: str) -> str:
    """Return the path of a dataset in the folder of data."""
    return {"AIDA/CONLL": AIDA_LABELS, UPDATED: UPDATED_MSNBC}.get(dataset) or SOURCES[dataset].path


def _format_steps(dataset: str) -> str:
    """Return the options that change a dataset as BAT does; AIDA/CONLL also needs the texts of another copy."""
    texts = f" --texts-from DIR/{SOURCES[dataset].path}" if dataset == "AIDA/CONLL" else ""
    steps = SOURCES[dataset].steps if dataset in SOURCES and not texts else ("drop-nil",)
    return texts + "".join(f" --step {step}" for step in steps)
