"""Suite of the BAT paper (Cornolti et al. 2013): every table and figure, and the claims of its text."""

from __future__ import annotations

from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits
from karat.protocols.papers.data_folder import open_data
from karat.protocols.suites.bat_2013.claims import (
    build_annotation_claims,
    build_entity_claims,
    build_measure_claims,
    build_mention_claims,
    build_runtime_claims,
    build_setup_claims,
    build_similarity_claims,
    build_tweet_claims,
    build_web_claims,
)
from karat.protocols.suites.bat_2013.corpora import SOURCES, PaperCorpora, build_dataset_claims, build_table_3
from karat.protocols.suites.bat_2013.problems import (
    build_figure_1,
    build_figure_2,
    build_figure_3,
    build_problem_claims,
    build_table_1,
    build_table_2,
    build_table_4,
)
from karat.protocols.suites.bat_2013.results import ResultTables
from karat.protocols.suites.bat_2013.runs import SystemOutputs


def reproduce_bat_2013(path: str) -> Reproduction:
    """Recompute the tables and figures of the paper from a folder of published data, in the order of the paper."""
    corpora = PaperCorpora.from_data(open_data(path, *(source.path for source in SOURCES.values())))
    outputs = SystemOutputs.from_corpora(corpora)
    tables = ResultTables(outputs)
    return summarise_exhibits(
        [
            build_table_1(),
            build_figure_1(),
            build_problem_claims(),
            build_figure_2(corpora),
            build_table_2(),
            build_table_3(corpora),
            build_dataset_claims(corpora),
            build_measure_claims(),
            build_setup_claims(),
            build_figure_3(corpora, tuple(outputs.list_problem_scores())),
            build_table_4(corpora),
            build_annotation_claims(),
            tables.build_figure_4(),
            tables.build_score_table("Table 5"),
            tables.build_score_table("Table 6"),
            tables.build_figure_5(),
            tables.build_score_table("Table 7"),
            build_mention_claims(),
            tables.build_score_table("Table 8"),
            build_entity_claims(),
            build_similarity_claims(tables),
            tables.build_table_9(),
            tables.build_score_table("Table 10"),
            build_tweet_claims(),
            tables.build_score_table("Table 11"),
            build_web_claims(),
            tables.build_table_12(),
            build_runtime_claims(tables),
            tables.build_figure_6(),
        ]
    )


SUITE = Suite(
    title="BAT paper",
    description="Tables, figures and claims of the BAT paper (Cornolti et al. 2013). The outputs of its systems are "
    "lost, so their published methods in Karat and other systems fill its tables. Data: a folder with bat, zelda, "
    "elevant and formats.",
    run=lambda path, kb: reproduce_bat_2013(path),
    data_path=".",
)
