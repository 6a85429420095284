"""Suite of the posthoc paper: its table, figures and checkable claims (Ding, Botzer and Weninger 2021).

The raw judgements are lost. Ground truth counts come from the datasets; everything else from the logged counts.
"""

from __future__ import annotations

from karat.model.results.exhibit import Exhibit
from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits
from karat.protocols.papers.data_folder import open_data
from karat.protocols.suites.posthoc_2021 import claims, figures
from karat.protocols.suites.posthoc_2021.dataset_counts import DATASET_FILES, build_table_1


def reproduce_posthoc(path: str) -> Reproduction:
    """Recompute the table, figures and claims of the paper from the folder of published data at `path`."""
    data = open_data(path, *DATASET_FILES.values())
    return summarise_exhibits(
        [
            _describe_picture(
                "Figure 1", "Example of a label that differs from the ground truth", "karat show demo demo/noisy"
            ),
            build_table_1(data),
            claims.build_contributions(),
            _describe_picture(
                "Figure 2", "Page on which workers judge annotations", "karat verify serve CAMPAIGN.sqlite"
            ),
            claims.build_collection(),
            claims.build_union(),
            figures.build_figure_3(),
            claims.build_results(),
            figures.build_figure_4(),
            claims.build_error_analysis(),
        ]
    )


def _describe_picture(name: str, title: str, command: str) -> Exhibit:
    """Return a figure without numbers, which needs no values; `command` shows the like of other data."""
    return Exhibit(
        name=name,
        title=title,
        command=command,
        cells=(),
        notes=("A picture without numbers; the command shows the like of your own data.",),
    )


SUITE = Suite(
    title="Posthoc Verification and the Fallibility of the Ground Truth (2021)",
    description="Table, figures and claims of the paper, from the counts that its program logged. Data: a folder with "
    "bat, elevant, formats and zelda for the counts of the datasets.",
    run=lambda path, _: reproduce_posthoc(path),
    expected_noun="printed",
    data_path=".",
)
