"""Suite that reproduces the fair evaluation of end-to-end entity linking systems (Bast, Hertel and Prange 2023)."""

from __future__ import annotations

from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits
from karat.protocols.papers.data_folder import open_data
from karat.protocols.suites.fair_2023.measurements import Measurements
from karat.protocols.suites.fair_2023.sections import SECTIONS
from karat.protocols.suites.fair_2023.tables import (
    build_figure_1,
    build_table_1,
    build_table_2,
    build_table_3,
    build_table_4,
)

_BEFORE = {
    "Section 4": (build_table_1, build_figure_1),
    "Section 5": (build_table_2,),
    "Section 6.1": (build_table_3, build_table_4),
}
"""The tables and figures before each section, as the paper prints them."""


def reproduce_fair(path: str, kb: str | None = None) -> Reproduction:
    """Reproduce the tables, figures and claims of the paper from the folder `elevant` in `path`; `kb` is not used."""
    scores = Measurements(open_data(path, "elevant/results", "elevant/benchmarks"))
    exhibits = []
    for section in SECTIONS:
        exhibits += [build(scores) for build in _BEFORE.get(section.name, ())]
        exhibits.append(section.to_exhibit(scores))
    return summarise_exhibits(exhibits)


SUITE = Suite(
    title="Fair evaluation 2023",
    description="Tables 1 to 4, Figure 1 and the claims of Bast, Hertel and Prange (EMNLP 2023). Data: a folder with "
    "the subfolder elevant, which has ELEVANT's benchmarks, results and kb.",
    run=reproduce_fair,
    data_path=".",
)
