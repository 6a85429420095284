"""Table 1: documents and annotations of the datasets, recounted where a file is at hand, and what was shown."""

from __future__ import annotations

from typing import Final

from karat.data.load import load
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.suites.posthoc_2021.published_tables import (
    LOGGED_TABLE_1,
    TABLE_1,
    TABLE_1_COLUMNS,
    TOTAL_ANNOTATIONS,
)
from karat.systems.claims.posthoc_2021 import parse_rows

DATASET_FILES: Final = {
    "AIDA-A": "elevant/benchmarks/aida-conll-dev.benchmark.jsonl.gz",
    "AIDA-B": "zelda/jsonl/test_aida-b.jsonl.gz",
    "ACE2004": "bat/ACE2004_Coref_Turking",
    "AQUAINT": "bat/AQUAINT",
    "CLUEWEB": "zelda/jsonl/test_cweb.jsonl.gz",
    "MSNBC": "formats/wned/msnbc",
    "WIKIPEDIA": "zelda/jsonl/test_wned-wiki.jsonl.gz",
}
"""The files with the ground truth of each dataset; there is none of AIDA-train."""

_EDITIONS: Final = {
    "AIDA-train": ("AIDA-YAGO2-dataset.tsv", "the dataset is not at hand"),
    "AIDA-A": ("AIDA-YAGO2-dataset.tsv", "the file is an edition with ids of Wikidata, which lacks some entities"),
    "CLUEWEB": ("wned-datasets/clueweb", "the file is ZELDA's edition, which lacks some annotations"),
    "WIKIPEDIA": ("wned-datasets/wikipedia", "the file is ZELDA's edition, without texts that have no annotation"),
}
"""The files that the paper used where the folder of data has another edition or none, with the reason."""

_COUNTED: Final = ("Docs", "Annotations GT")
"""The columns that the files of the datasets give."""


def build_table_1(data: PublishedData) -> Exhibit:
    """Return Table 1: counts of the datasets from their files, and all other counts from the logs of the program."""
    logged = dict(parse_rows(LOGGED_TABLE_1))
    cells = []
    for dataset, printed in parse_rows(TABLE_1):
        counts = dict(zip(_COUNTED, _count_dataset(data, dataset), strict=True))
        for column, published, value in zip(TABLE_1_COLUMNS, printed, logged[dataset], strict=True):
            if column in counts:
                cells.append(_check_dataset(data, dataset, column, published, counts[column]))
            else:
                explanation = None if value == published else _explain_total(value)
                cells.append(Cell(dataset, column, published, value, explanation, is_from_paper=True))
    files = " ".join(f"DIR/{file}" for file in DATASET_FILES.values())
    return Exhibit(
        name="Table 1",
        title="Statistics of the datasets and annotations",
        command=f"karat data stats {files}",
        cells=tuple(cells),
        notes=(
            "Docs and the annotations of GT are counted in the files of the datasets. The other columns are compared "
            "with the logs of the paper's program, because the outputs and judgements are lost.",
            "Verified Annotations are the annotations that were shown, not those that were verified.",
            "An asterisk marks counts that differ from related work.",
        ),
    )


def _count_dataset(data: PublishedData, dataset: str) -> tuple[str | None, str | None]:
    """Return the numbers of documents and of linked annotations of a dataset; None if it is not at hand."""
    path = data.find(DATASET_FILES[dataset]) if dataset in DATASET_FILES else None
    if path is None:
        return None, None
    corpus = load(path)
    linked = sum(label.entity is not None for document in corpus for label in document.labels)
    return str(len(corpus)), str(linked)


def _check_dataset(data: PublishedData, dataset: str, column: str, published: str, value: str | None) -> Cell:
    """Return a count of a dataset; another edition of the file explains a difference."""
    file, reason = _EDITIONS.get(dataset, ("", ""))
    if value is None and dataset in DATASET_FILES:
        explanation = data.explain_missing(DATASET_FILES[dataset])
    else:
        explanation = Explanation("data missing", reason, missing_file=file or None)
    is_equal = None if value is None else value == published.removesuffix("*")
    return Cell(dataset, column, published, value, None if is_equal else explanation, is_equal)


def _explain_total(value: str) -> Explanation:
    """Return the slip in Table 1: its annotations add up to one more than the total in the text.

    `value` is the logged count of the cell.
    """
    total = sum(
        int(cell.removesuffix("*"))
        for _, cells in parse_rows(TABLE_1)
        for column, cell in zip(TABLE_1_COLUMNS, cells, strict=True)
        if column.startswith("Annotations")
    )
    return Explanation(
        "slip in the paper",
        f"with the {value} of the log all annotations add up to the {TOTAL_ANNOTATIONS:,} of the text, and with the "
        f"printed cell to {total:,}",
        missing_file="the output of REL on CLUEWEB",
    )
