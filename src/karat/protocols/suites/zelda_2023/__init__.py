"""Suite that recomputes the tables and claims of the ZELDA paper (Milich and Akbik 2023)."""

from __future__ import annotations

from karat.model.results.exhibit import Exhibit
from karat.model.spec.suite import Reproduction, Suite, summarise_exhibits
from karat.protocols.papers.claims import mark_from_paper
from karat.protocols.papers.data_folder import open_data
from karat.protocols.suites.zelda_2023.accuracies import build_table_3, build_table_4
from karat.protocols.suites.zelda_2023.built_lists import measure_built_lists
from karat.protocols.suites.zelda_2023.inputs import ZeldaFiles
from karat.protocols.suites.zelda_2023.results_claims import (
    build_appendix_claims,
    build_section_4_claims,
    build_section_5_claims,
)
from karat.protocols.suites.zelda_2023.split_sizes import (
    build_aida_claims,
    build_introduction_claims,
    build_section_3_claims,
    build_table_2,
)
from karat.protocols.suites.zelda_2023.training_setups import (
    build_section_1_claims,
    build_section_2_claims,
    build_table_1,
    collect_setups,
    list_quoted_claims,
    list_surveyed_systems,
    select_surveyed,
)


def reproduce_zelda_2023(path: str) -> Reproduction:
    """Recompute the tables and claims of the paper from the folder of published data at `path`."""
    files = ZeldaFiles(open_data(path, "zelda/jsonl", "zelda/predictions"))
    built = measure_built_lists(files)
    setups = collect_setups()
    surveyed = select_surveyed(setups)
    show_systems = "\n".join(f"karat systems show {name}" for name in list_surveyed_systems())
    own_command = "karat reproduce zelda-2023 --data DIR --all"
    return summarise_exhibits(
        [
            Exhibit(
                "Section 1",
                "Claims of abstract and introduction",
                f"{show_systems}\nkarat data show zelda",
                mark_from_paper((*build_introduction_claims(), *build_section_1_claims(surveyed))),
            ),
            build_table_1(files, setups, show_systems),
            Exhibit(
                "Section 2",
                "Claims about training signals",
                show_systems,
                (
                    *mark_from_paper(build_section_2_claims(surveyed)),
                    *list_quoted_claims(),
                    *build_aida_claims(files),
                ),
            ),
            build_table_2(files),
            Exhibit(
                "Section 3",
                "Claims about evaluation splits and training text",
                "karat zelda stats DIR/zelda/jsonl",
                tuple(build_section_3_claims(files)),
            ),
            build_table_3(files, built),
            build_table_4(files, built),
            Exhibit(
                "Section 4",
                "Claims about the results",
                own_command,
                mark_from_paper(build_section_4_claims(surveyed)),
                notes=("Karat's values are computed from the printed Tables 1, 3 and 4.",),
            ),
            Exhibit(
                "Section 5",
                "Claims about related work",
                "karat data stats DIR/elevant/benchmarks/kore50.benchmark.jsonl.gz",
                tuple(build_section_5_claims(files)),
            ),
            Exhibit(
                "Appendix", "Claims about parameters and contexts", own_command, tuple(build_appendix_claims(files))
            ),
        ]
    )


SUITE = Suite(
    title="ZELDA, EACL 2023",
    description="The tables and claims of Milich and Akbik 2023, and its Tables 3 and 4 for the systems at hand. "
    "Data: a folder with zelda, and elevant and bat if at hand.",
    run=lambda path, kb: reproduce_zelda_2023(path),
    expected_noun="published",
    data_path=".",
)
