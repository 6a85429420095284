"""Tables 3 and 4 of the ZELDA paper (Milich and Akbik 2023) as printed, subscripts behind an underscore."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from karat.model.spec.external_access import TrainingSetup
from karat.model.spec.system import Claim

MEAN: Final = "∅"
"""The last column of Tables 3 and 4: the unweighted mean of the other columns."""

COLUMNS_3: Final = (
    "AIDA-B",
    "TWEEKI",
    "REDDIT-POSTS",
    "REDDIT-COMM.",
    "WNED-CWEB",
    "WNED-WIKI",
    "SLINKS-TAIL",
    "SLINKS-SHADOW",
    "SLINKS-TOP",
    MEAN,
)
"""Columns of Table 3 after the model."""

TABLE_3: Final[Mapping[str, tuple[str, ...]]] = {
    "MFS": ("0.635", "0.723", "0.834", "0.81", "0.612", "0.651", "0.994", "0.149", "0.413", "0.647"),
    "CL-RECALL": ("0.911", "0.94", "0.984", "0.983", "0.924", "0.988", "0.988", "0.567", "0.731", "0.891"),
    "FEVRY_ALL": ("0.792", "0.718", "0.885", "0.841", "0.68", "0.843", "0.638", "0.434", "0.531", "0.707"),
    "FEVRY_CL": ("0.795", "0.769", "0.89", "0.865", "0.703", "0.845", "0.876", "0.319", "0.477", "0.727"),
    "LUKE_PRE": ("0.793", "0.738", "0.761", "0.699", "0.668", "0.684", "0.977", "0.204", "0.508", "0.670"),
    "LUKE_FT": ("0.812", "0.779", "0.815", "0.785", "0.703", "0.765", "0.980", "0.225", "0.518", "0.710"),
    "GENRE_ALL": ("0.724", "0.759", "0.888", "0.839", "0.665", "0.852", "0.953", "0.387", "0.435", "0.722"),
    "GENRE_CL": ("0.786", "0.801", "0.928", "0.915", "0.736", "0.884", "0.996", "0.373", "0.528", "0.772"),
}
"""Table 3 by model."""

COLUMNS_4: Final = (
    "1",
    "[1 - 0.9]",
    "[0.9 - 0.8]",
    "[0.8 - 0.7]",
    "[0.7 - 0.6]",
    "[0.6 - 0.5]",
    "[0.5 - 0.4]",
    "[0.4 - 0.3]",
    MEAN,
)
"""Columns of Table 4 after the approach."""

TABLE_4: Final[Mapping[str, tuple[str, ...]]] = {
    "CG-recall": ("0.997", "0.972", "0.992", "0.983", "0.983", "0.991", "0.988", "0.996", "0.988"),
    "FEVRY_CL": ("0.948", "0.922", "0.888", "0.872", "0.841", "0.8", "0.76", "0.722", "0.844"),
    "LUKE_FT": ("0.915", "0.904", "0.863", "0.803", "0.778", "0.738", "0.622", "0.562", "0.773"),
    "GENRE_CL": ("0.971", "0.942", "0.912", "0.856", "0.878", "0.869", "0.869", "0.797", "0.887"),
}
"""Table 4 by approach."""

SPLITS: Final[Mapping[str, str]] = {
    "AIDA-B": "aida-b",
    "TWEEKI": "tweeki",
    "REDDIT-POSTS": "reddit-posts",
    "REDDIT-COMMENTS": "reddit-comments",
    "REDDIT-COMM.": "reddit-comments",
    "WNED-WIKI": "wned-wiki",
    "WNED-CWEB": "wned-cweb",
    "SLINKS-TOP": "shadowlinks-top",
    "SLINKS-SHADOW": "shadowlinks-shadow",
    "SLINKS-TAIL": "shadowlinks-tail",
}
"""The names of the test sets in Tables 2 and 3, and those of the files."""

BRACKETS: Final[Mapping[str, str]] = {
    "1": "1",
    "[1 - 0.9]": "0.9-1",
    "[0.9 - 0.8]": "0.8-0.9",
    "[0.8 - 0.7]": "0.7-0.8",
    "[0.7 - 0.6]": "0.6-0.7",
    "[0.6 - 0.5]": "0.5-0.6",
    "[0.5 - 0.4]": "0.4-0.5",
    "[0.4 - 0.3]": "0.3-0.4",
}
"""The difficulty brackets of Table 4, and their names in the files."""

_SOURCE: Final = "Milich and Akbik 2023"
_ACCURACY: Final = "strong:micro.r"


def list_zelda_claims(*models: str) -> tuple[Claim, ...]:
    """Return the accuracies that Tables 3 and 4 report about models, without the means of Table 4 over brackets."""
    return tuple(claim for model in models for claim in _list_model_claims(model))


def _list_model_claims(model: str) -> Iterator[Claim]:
    """Yield the accuracies of a model."""
    datasets = {column: f"zelda@milich2023/{SPLITS[column]}" for column in COLUMNS_3 if column != MEAN}
    for column, text in zip(COLUMNS_3, TABLE_3.get(model, ()), strict=model in TABLE_3):
        names = tuple(datasets.values()) if column == MEAN else (datasets[column],)
        yield _create_claim(names, _ACCURACY, text, "Table 3", model)
    for column, text in zip(COLUMNS_4, TABLE_4.get(model, ()), strict=model in TABLE_4):
        if column != MEAN:
            measure = f"{_ACCURACY}@bracket={BRACKETS[column]}"
            yield _create_claim((datasets["WNED-WIKI"],), measure, text, "Table 4", model)


def _create_claim(datasets: tuple[str, ...], measure: str, text: str, table: str, model: str) -> Claim:
    """Return the claim of a cell of a table with the printed `text`."""
    return Claim(
        datasets=datasets,
        measure=measure,
        value=float(text),
        is_fraction=True,
        decimals=3,
        is_detail="@" in measure,
        source=f"{_SOURCE}, {table}",
        variant=model,
        task="d2kb",
        profile="zelda",
    )


def list_setup_claims(setups: Iterable[TrainingSetup]) -> tuple[Claim, ...]:
    """Return the accuracies on AIDA-B that the systems' own papers report, as Table 1 quotes them in `setups`."""
    return tuple(
        Claim(
            datasets=("aida@bat2013/testb",),
            measure=_ACCURACY,
            value=setup.aida_b_accuracy,
            source=f"{setup.paper.replace('(', '').replace(')', '')}, quoted in {setup.source}",
            variant=setup.model,
            task="d2kb",
            profile="zelda",
        )
        for setup in setups
        if setup.aida_b_accuracy is not None
    )
