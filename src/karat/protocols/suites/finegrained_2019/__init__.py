"""Suite of the fine-grained paper: every table, figure and checkable claim (Rosales-Méndez, Hogan, Poblete 2019)."""

from __future__ import annotations

from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits
from karat.protocols.papers.data_folder import open_data
from karat.protocols.suites.finegrained_2019 import datasets, questionnaire, scores
from karat.protocols.suites.finegrained_2019.paper_data import GOLD_FILES, PaperData


def reproduce_finegrained(path: str) -> Reproduction:
    """Recompute the tables, figures and claims of the paper from the folder of published data at `path`."""
    paper = PaperData(open_data(path, *GOLD_FILES.values()))
    paper_scores = scores.PaperScores(paper)
    return summarise_exhibits(
        [
            questionnaire.build_example(paper),
            questionnaire.build_ratios(),
            questionnaire.build_links(),
            questionnaire.build_claims(),
            datasets.build_scheme(paper),
            datasets.build_claims(paper),
            datasets.build_counts(paper),
            scores.build_table_3(paper_scores),
            scores.build_section_5(paper_scores),
            scores.build_figure_4(paper_scores),
            scores.build_section_6(paper_scores),
            scores.build_figure_5(paper_scores),
            scores.build_conclusions(paper_scores),
        ]
    )


SUITE = Suite(
    title="Fine-Grained Evaluation for Entity Linking (2019)",
    description="Tables, figures and claims of the paper. Data: a folder with finegrained; bat and elevant have the "
    "original datasets.",
    run=lambda path, _: reproduce_finegrained(path),
    expected_noun="printed",
    data_path=".",
)
