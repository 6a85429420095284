"""Table 1 and the claims about it: the training signals of published models, from the files of the systems."""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from karat.model.registry import get_plugin, list_plugins
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.spec.external_access import TrainingSetup, format_magnitude
from karat.model.spec.system import System
from karat.protocols.papers.claims import build_claim, build_lost_claim
from karat.protocols.papers.output_files import ZELDA_SYSTEMS
from karat.protocols.suites.zelda_2023.inputs import ZeldaFiles
from karat.protocols.suites.zelda_2023.published_tables import COLUMNS_1, QUOTED_CLAIMS, TABLE_1

_AIDA: Final = "AIDA-TRAIN"
_LONGEST_MONTH: Final = 4  # longer names of months are abbreviated


def collect_setups() -> dict[str, TrainingSetup]:
    """Return the training signals of the published models of all systems, by model."""
    systems = [get_plugin("systems", name, System) for name in list_plugins("systems")]
    return {setup.model: setup for system in systems for setup in system.setups}


def select_surveyed(setups: Mapping[str, TrainingSetup]) -> dict[str, TrainingSetup]:
    """Return those of `setups` whose models are in Table 1."""
    return {model: setup for model, setup in setups.items() if model in TABLE_1}


def build_table_1(files: ZeldaFiles, setups: Mapping[str, TrainingSetup], command: str) -> Exhibit:
    """Compare Table 1 with `setups`, the training signals in the files of the systems, which `command` shows.

    Accuracies are computed from the predictions of the models, as far as `files` has them.
    """
    cells = []
    for row, models in _group_models().items():
        row_setups = [setups[model] for model in models]
        cells += [
            _build_accuracy(files, row, published)
            if column == "AIDA-B"
            else _build_cell(row, column, published, row_setups)
            for column, published in zip(COLUMNS_1, TABLE_1[row], strict=True)
            if published
        ]
    return Exhibit(
        name="Table 1",
        title="The training signals of published models, side by side, and their reported accuracy on AIDA-B",
        command=command,
        cells=tuple(cells),
        notes=(
            "Training signals are those in the files of Karat's systems, which were entered from this table. Equal "
            "values confirm the files, not what the models' authors did.",
            "The accuracies in the table of all models are reported ones, which Karat did not measure.",
        ),
        own_table=_build_own_table(setups),
    )


def list_surveyed_systems() -> list[str]:
    """Return the names of the systems whose models are in Table 1."""
    names = list_plugins("systems")
    return [name for name in names if any(s.model in TABLE_1 for s in get_plugin("systems", name, System).setups)]


def _group_models() -> dict[str, list[str]]:
    """Return the models that each row of Table 1 describes: a model itself, or all models below a paper."""
    groups: dict[str, list[str]] = {}
    paper = ""
    for row in TABLE_1:
        if row.endswith(")"):
            paper = row
            groups[row] = []
        else:
            groups[paper].append(row)
            groups[row] = [row]
    return groups


def _build_cell(row: str, column: str, published: str, setups: Sequence[TrainingSetup]) -> Cell:
    """Compare a cell of Table 1 with the training signals that it describes."""
    values = dict.fromkeys(_FORMATS[column](setup) for setup in setups)
    common = [
        feature for feature in setups[0].features if all(feature in setup.features for setup in setups)
    ]  # a row of a paper has the features of all its models
    value = _format_features(common) if column == "Additional features" else " or ".join(values)
    return Cell(row, column, published, value, is_from_paper=True)


def _build_accuracy(files: ZeldaFiles, model: str, published: str) -> Cell:
    """Compare the reported accuracy of a model on AIDA-B with that of its predictions, if they are at hand."""
    predictions = files.systems.get(model, {}).get("aida-b")
    accuracy = None if predictions is None else predictions.accuracy().value
    if accuracy is None:
        return Cell(model, "AIDA-B", published, None, _NO_PREDICTIONS)
    value = f"{100 * accuracy:.1f}"
    return Cell(model, "AIDA-B", published, value, is_equal=value == f"{float(published):.1f}")


_NO_PREDICTIONS: Final = Explanation(
    "data missing",
    "the paper cites the accuracies, and the models' predictions are not at hand",
    missing_file=f"{ZELDA_SYSTEMS}/MODEL/aida-b.jsonl of each MODEL",
)


def _format_features(features: Sequence[str]) -> str:
    """Return features as Table 1 prints them: `+KB +types`."""
    return " ".join(f"+{feature}" for feature in features)


def _format_source(setup: TrainingSetup) -> str:
    """Return text and date as Table 1 prints them: `Wikipedia (Dec, 2018)`."""
    year, month = setup.dump_date.split("-")
    name = calendar.month_name[int(month)]
    return f"{setup.text_source} ({name if len(name) <= _LONGEST_MONTH else name[:3]}, {year})"


_FORMATS: Final[Mapping[str, Callable[[TrainingSetup], str]]] = {
    "Training data": lambda setup: f"{setup.size}{'†' if setup.has_single_mentions else ''}",
    "Weak labels?": lambda setup: "yes" if setup.has_weak_labels else "no",
    "Data source": _format_source,
    "Additional features": lambda setup: _format_features(setup.features),
    "Entity vocab": lambda setup: format_magnitude(setup.entities),
    "Candidate lists": lambda setup: "+".join(setup.candidate_lists) or "none",
}
"""How Table 1 prints the fields of a training signal, by column."""


def _build_own_table(setups: Mapping[str, TrainingSetup]) -> tuple[tuple[str, ...], ...]:
    """Return all training signals in the form of Table 1, one model per row, with reported accuracies."""
    rows = [
        (
            setup.model,
            setup.paper,
            *(format_field(setup) for format_field in _FORMATS.values()),
            "–" if setup.aida_b_accuracy is None else f"{setup.aida_b_accuracy:.1f}",
        )
        for setup in sorted(setups.values(), key=lambda setup: (setup.paper, setup.model))
    ]
    return (("Approach", "Paper", *_FORMATS, "AIDA-B (reported)"), *rows)


def build_section_1_claims(setups: Mapping[str, TrainingSetup]) -> Iterator[Cell]:
    """Check what Section 1 states about Table 1."""
    sizes = sorted(setup.snippets for setup in setups.values())
    entities = sorted(setup.entities for setup in setups.values())
    yield build_claim(
        "number of training snippets",
        "2 to 20 million",
        f"{format_magnitude(sizes[0])} to {format_magnitude(sizes[-1])}",
        is_equal=(sizes[0] // 1_000_000, sizes[-1] // 1_000_000) == (2, 20),
    )
    yield build_claim(
        "the smallest entity vocabulary",
        "a few thousand entities",
        f"{format_magnitude(entities[0])} entities",
        is_equal=entities[0] < 10_000,
        explanation=Explanation(
            "slip in the paper", "no model in Table 1 is that small, and Section 2.2 says 128k of the same models"
        ),
    )
    yield build_claim(
        "the largest entity vocabulary",
        "over 6 million entities",
        f"{format_magnitude(entities[-1])} entities",
        is_equal=6_000_000 < entities[-1] < 7_000_000,
    )
    luke, fevry = (max(_reported(setups, name)) for name in ("LUKE", "FEVRY"))
    yield build_claim(
        "LUKE slightly outperforms FEVRY on AIDA-B, and FEVRY covers more entities",
        "yes",
        f"{luke:g} against {fevry:g} (reported), {format_magnitude(setups['LUKE_GH'].entities)} against "
        f"{format_magnitude(setups['FEVRY_HF'].entities)} entities",
        is_equal=fevry < luke < fevry + 1 and setups["LUKE_GH"].entities < setups["FEVRY_HF"].entities,
    )


def build_section_2_claims(setups: Mapping[str, TrainingSetup]) -> Iterator[Cell]:
    """Check what Section 2 states about Table 1."""
    for model, published in _STATED_SIZES.items():
        yield build_claim(f"training texts of {model}", published, setups[model].size.removeprefix("~"))
    large, small = setups["BROSCHEIT_700k"], setups["BROSCHEIT_500k"]
    yield build_claim(
        "Broscheit's model of the smaller training set is better on AIDA-B",
        "yes",
        f"{_accuracy(small):g} against {_accuracy(large):g} (reported)",
        is_equal=small.snippets < large.snippets and _accuracy(small) > _accuracy(large),
    )
    entities = sorted(setup.entities for setup in setups.values())
    yield build_claim(
        "entity vocabularies",
        "128k to about 6 million",
        f"{format_magnitude(entities[0])} to {format_magnitude(entities[-1])}",
        is_equal=(entities[0], round(entities[-1], -6)) == (128_000, 6_000_000),
    )
    for other, paper in (("HF", "FEVRY"), ("GH", "LUKE")):
        gain = _accuracy(setups[f"{paper}_PPR"]) - _accuracy(setups[f"{paper}_{other}"])
        yield build_claim(
            f"{paper} improves with the lists of Pershina et al. instead of {other}",
            "yes",
            f"{gain:+.1f} points (reported)",
            is_equal=gain > 0,
        )
    papers = dict.fromkeys(setup.paper for setup in setups.values())
    without = [paper for paper in papers if not any(_AIDA in s.features for s in setups.values() if s.paper == paper)]
    yield build_claim(
        "approaches of which a model was trained on AIDA-TRAIN too",
        f"all {len(papers)}",
        f"all {len(papers)}" if not without else f"{len(papers) - len(without)} of {len(papers)}",
        explanation=Explanation(
            "data missing",
            f"Table 1 has no model of {', '.join(without)} with {_AIDA}; their paper may have one",
            missing_file=f"the paper of {', '.join(without)}",
        ),
    )
    gains = [_accuracy(setups[better]) - _accuracy(setups[base]) for base, better in _AIDA_PAIRS.items()]
    yield build_claim(
        f"{_AIDA} improves results on AIDA-B",
        "yes",
        f"{', '.join(f'{gain:+.1f}' for gain in gains)} points (reported)",
        is_equal=min(gains) > 0,
    )


def list_quoted_claims() -> Iterator[Cell]:
    """Yield what Section 2 quotes from other papers, which are not at hand."""
    for row, published, source in QUOTED_CLAIMS:
        yield build_lost_claim(row, published, "the paper quotes another one, which is not at hand", source)


_STATED_SIZES: Final = {
    "AYOOLA": "20M snippets",
    "GENRE": "9M snippets",
    "BOOTLEG": "5.7M sentences",
    "BROSCHEIT_700k": "8.8M snippets",
    "BROSCHEIT_500k": "2.4M snippets",
}
"""Numbers of training texts in Section 2.1, which calls the sentences of BOOTLEG snippets too."""

_AIDA_PAIRS: Final = {"LUKE_GH": "LUKE_GH+AIDA", "LUKE_PPR": "LUKE_PPR+AIDA", "GENRE": "GENRE_+AIDA"}
"""Models that differ only in training on AIDA-TRAIN too."""


def _reported(setups: Mapping[str, TrainingSetup], prefix: str) -> list[float]:
    """Return the reported accuracies of the models whose names begin with `prefix`."""
    return [_accuracy(setup) for model, setup in setups.items() if model.startswith(prefix)]


def _accuracy(setup: TrainingSetup) -> float:
    """Return the reported accuracy on AIDA-B, which every model of Table 1 has."""
    if setup.aida_b_accuracy is None:
        raise ValueError(f"{setup.model} has no reported accuracy on AIDA-B.")
    return setup.aida_b_accuracy
