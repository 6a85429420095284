"""Precision and recall before verification in the posthoc paper (Ding, Botzer and Weninger 2021).

The paper draws them in Figure 3. The values are in the log files that the authors published with their program
(github.com/yifding/e2e_EL_evaluate, folder results). They are rounded to six digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from karat.model.spec.system import Claim

BEFORE = """\
AIDA-train  0.929517 0.917617  0.737200 0.843174
AIDA-A      0.873790 0.867767  0.711712 0.808648
AIDA-B      0.812357 0.792411  0.711557 0.806696
ACE2004     0.136095 0.718750  0.111244 0.726562
AQUAINT     0.382716 0.426410  0.335135 0.426410
CLUEWEB     0.435780 0.479127  0.274983 0.569171
MSNBC       0.780604 0.748476  0.691799 0.797256
WIKIPEDIA   0.364430 0.436929  0.304465 0.501474
"""
"""Precision and recall of E2E and of REL before verification, against the ground truth (logs pre_hoc_evaluation)."""

SYSTEMS: Final = ("E2E", "REL")
"""The systems in the order of the columns."""

_DATASETS: Final = {
    "AIDA-train": "aida@bat2013/train",
    "AIDA-A": "aida@bat2013/testa",
    "AIDA-B": "aida@bat2013/testb",
    "ACE2004": "ace2004@guo2018",
    "AQUAINT": "aquaint@milne2008",
    "CLUEWEB": "wned-cweb@guo2018",
    "MSNBC": "msnbc@guo2018-linked",
    "WIKIPEDIA": "wned-wiki@guo2018",
}
_MEASURES: Final = ("strong:micro.p", "strong:micro.r")


def parse_rows(table: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the dataset and the cells of each row of `table`."""
    for line in table.splitlines():
        dataset, *cells = line.split()
        yield dataset, cells


def list_posthoc_claims(system: str) -> tuple[Claim, ...]:
    """Return precision and recall of a system before verification, on eight datasets without NIL."""
    start = len(_MEASURES) * SYSTEMS.index(system)
    return tuple(
        Claim(
            datasets=(_DATASETS[dataset],),
            measure=measure,
            value=float(text),
            is_fraction=True,
            decimals=6,
            source="Ding et al. 2021, Figure 3",
            variant=system,
            task="a2kb",
            profile="karat",
            settings={"nil": "dropped"},
        )
        for dataset, texts in parse_rows(BEFORE)
        for measure, text in zip(_MEASURES, texts[start:], strict=False)
    )
