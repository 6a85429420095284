"""The problems of the BAT paper and the reductions between them: Tables 1, 2 and 4, Figures 1 to 3, and Section 2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from karat.evaluation.evaluation import score_run
from karat.model.corpus import Corpus
from karat.model.document import Document, Prediction, Response, Tag
from karat.model.registry import get_plugin
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.model.run import Run
from karat.model.spec.dataset import Dataset
from karat.model.spec.profile import Profile
from karat.model.spec.settings.task import REDUCTIONS, TASKS, Task, parse_task
from karat.model.spec.system import System
from karat.protocols.suites.bat_2013.commands import create_files, link_gold_mentions, score
from karat.protocols.suites.bat_2013.corpora import SOURCES, PaperCorpora
from karat.protocols.suites.bat_2013.published_tables import TABLE_1, TABLE_2, TABLE_4
from karat.protocols.suites.bat_2013.runs import DATASETS
from karat.systems.claims.bat_2013 import read_cells

PROBLEMS: Final = {parse_task(name): name for name in ("D2W", "A2W", "Sa2W", "C2W", "Sc2W", "Rc2W")}
"""The paper's names of problems by Karat's names of tasks."""

_SYSTEMS: Final = {
    "AIDA": "aida",
    "Illinois Wikifier": "illinois-wikifier",
    "DBpedia Spotlight": "dbpedia-spotlight",
    "TagMe": "tagme-api",
    "Wikipedia Miner": "wikipedia-miner",
}
"""The tested systems: their names in Karat's catalogue."""

_TYPES: Final = {"news": "News", "tweets": "Tweets", "web": "Web pages"}
_RELATIONS: Final = {"strong": "M_a", "weak": "M_w", "mention-weak": "M_m", "entity": "M_e"}
_TAG_RELATIONS: Final = {"entity": "M_t"}
"""The paper's names of match relations, of annotations and of tags."""

_EXAMPLE: Final = "The novel begins in the Shire, where the Hobbit Frodo Baggins inherits the Ring from Bilbo"
_ANNOTATIONS: Final = {
    "novel": "Novel",
    "Shire": "Shire (Middle-earth)",
    "Hobbit": "Hobbit",
    "Frodo Baggins": "Frodo Baggins",
    "Ring": "One Ring",
    "Bilbo": "Bilbo Baggins",
}
_LIKELIHOODS: Final = {
    "Novel": 0.8,
    "Shire (Middle-earth)": 0.5,
    "Hobbit": 1.0,
    "Frodo Baggins": 1.0,
    "One Ring": 0.5,
    "Bilbo Baggins": 0.8,
}
_SET: Final = "{Novel, Shire (Middle-earth), Hobbit, Frodo Baggins, One Ring, Bilbo Baggins}"
_RANKING: Final = ("Hobbit", "Frodo Baggins", "Novel", "Bilbo Baggins", "One Ring", "Shire (Middle-earth)")
"""Figure 1: its text, and its solutions of A2W, Sc2W, C2W and Rc2W."""


def build_table_1() -> Exhibit:
    """Compare Karat's tasks with the problems of Table 1."""
    return Exhibit(
        "Table 1",
        "The problems, with input and output",
        "karat explain task",
        tuple(
            Cell(problem, column, published, value, is_equal=value == published.rstrip("."))
            for problem, column, published in read_cells(TABLE_1)
            for value in [_describe_task(TASKS[parse_task(problem)], column)]
        ),
        notes=("Karat's names of the tasks have KB in place of W. The column Description is prose without values.",),
    )


def _describe_task(task: Task, column: str) -> str:
    """Return the input or output of a task in the words of Table 1."""
    if column == "Input":
        return "Text, Set of mentions" if task.has_gold_mentions else "Text"
    items = "annotations" if task.source == "mentions" else "tags"
    if task.needs_ranking:
        return f"Ranked list of relevant {items}"
    return f"Set of relevant {'and scored ' if task.needs_scores else ''}{items}"


def build_figure_1() -> Exhibit:
    """Derive the easier solutions of Figure 1 from the harder ones with Karat's reductions."""
    start = {surface: _EXAMPLE.index(surface) for surface in _ANNOTATIONS}
    annotations = tuple(
        Prediction(start[surface], start[surface] + len(surface), entity) for surface, entity in _ANNOTATIONS.items()
    )
    tags = tuple(Tag(entity, score=score) for entity, score in _LIKELIHOODS.items())
    entities = Corpus.from_documents([Document("example", _EXAMPLE, tags=tuple(map(Tag, _ANNOTATIONS.values())))])
    annotated = score_run(
        entities, Run.from_responses([Response("example", annotations)]), profile="bat-paper", settings={"task": "c2kb"}
    )
    scored = Run.from_responses([Response("example", tags=tags)])
    reduced = score_run(entities, scored, profile="bat-paper", settings={"task": "c2kb"})
    ranking = sorted(_LIKELIHOODS, key=lambda entity: (-_LIKELIHOODS[entity], _RANKING.index(entity)))
    by_rank = Corpus.from_documents(
        [Document("example", _EXAMPLE, tags=tuple(Tag(entity, rank=i) for i, entity in enumerate(_RANKING, 1)))]
    )
    ranked = score_run(by_rank, scored, settings={"task": "rc2kb"}, measures=["entity:macro.map"])
    return Exhibit(
        "Figure 1",
        "Instances of annotation tasks",
        "karat explain task",
        (
            Cell(
                "C2W, by dropping the mentions of A2W",
                "Output",
                _SET,
                _format_set(_ANNOTATIONS.values()),
                is_equal=annotated["entity:micro.f1"] == 1.0,
            ),
            Cell(
                "C2W, by dropping the scores of Sc2W",
                "Output",
                _SET,
                _format_set(_LIKELIHOODS),
                is_equal=reduced["entity:micro.f1"] == 1.0,
            ),
            Cell(
                "Rc2W, by sorting Sc2W",
                "Output",
                ", ".join(_RANKING),
                ", ".join(ranking),
                is_equal=tuple(ranking) == _RANKING and ranked["entity:macro.map"] == 1.0,
            ),
        ),
        notes=(
            "A reduced solution is scored against the solution of the figure; it is equal if F1 or MAP is 1. The order "
            "of entities with equal scores is that of the figure.",
            "The solutions of D2W, A2W and Sa2W are drawings. The scores of Sa2W (1.0, 0.7, 0.9, 0.5, 0.5, 0.5) are "
            "not those of Sc2W.",
        ),
    )


def _format_set(entities: Iterable[str]) -> str:
    """Return entities as the paper prints a set."""
    return "{" + ", ".join(entities) + "}"


def build_problem_claims() -> Exhibit:
    """Check what Section 2 says about the reductions."""
    others = [task for task in PROBLEMS if task != "sa2kb"]
    n_reachable = sum(_is_reducible("sa2kb", task) for task in others)
    sinks = [PROBLEMS[task] for task in PROBLEMS if not any(harder == task for harder, _ in REDUCTIONS)]
    common = [harder for harder in ("sc2kb", "a2kb") if _is_reducible(harder, "c2kb")]
    return Exhibit(
        "Section 2",
        "What the text says about the problems",
        "karat explain task",
        (
            Cell(
                "Problems that reduce to Sa2W, the most general one",
                "claim",
                "all other problems",
                f"{n_reachable} of {len(others)} other problems",
                is_equal=n_reachable == len(others),
            ),
            Cell("The most specific problems", "claim", "D2W and C2W", " and ".join(sinks)),
            Cell(
                "C2W compares systems for Sc2W and A2W",
                "claim",
                "Sc2W and A2W",
                " and ".join(PROBLEMS[task] for task in common),
            ),
        ),
    )


def _is_reducible(harder: str, easier: str) -> bool:
    """Return whether a solution of the task `harder` gives a solution of the task `easier`."""
    return any(
        source == harder and (target == easier or _is_reducible(target, easier)) for source, target in REDUCTIONS
    )


def _count_layers() -> dict[str, int]:
    """Return the layer of each task in the graph: the length of the longest path from a task that nothing gives."""
    layers = dict.fromkeys(PROBLEMS, 0)
    for _ in PROBLEMS:  # a path visits no task twice
        for harder, easier in REDUCTIONS:
            layers[easier] = max(layers[easier], layers[harder] + 1)
    return layers


def _draw_problems(title: str, tasks: Sequence[str], labels: Mapping[str, str]) -> Plot:
    """Draw the graph of `tasks`, with a label for each."""
    layers = _count_layers()
    edges = [pair for pair in REDUCTIONS if set(pair) <= set(tasks)]
    points = tuple(PlotPoint(PROBLEMS[task], float(layers[task]), label=labels.get(task, "")) for task in tasks)
    return Plot(
        "graph",
        title,
        (PlotSeries("problems", points),),
        edges=tuple((PROBLEMS[harder], PROBLEMS[easier]) for harder, easier in edges),
    )


def build_figure_2(corpora: PaperCorpora) -> Exhibit:
    """Draw the graph of reductions, with the systems and datasets of each problem."""
    pairs = [("Sa2W", easier) for easier in ("A2W", "Sc2W", "Rc2W", "C2W", "D2W")] + [("A2W", "C2W"), ("Sc2W", "C2W")]
    labels = {
        task: "; ".join(filter(None, [", ".join(_list_systems(task)), ", ".join(_list_datasets(corpora, problem))]))
        for task, problem in PROBLEMS.items()
    }
    return Exhibit(
        "Figure 2",
        "Graph of reductions among the problems, from harder to easier ones",
        "karat explain task",
        tuple(
            Cell(
                f"{easier} reduces to {harder}",
                "claim",
                "yes",
                "yes" if _is_reducible(parse_task(harder), parse_task(easier)) else "no",
            )
            for harder, easier in pairs
        ),
        plots=(_draw_problems("Reductions among entity-annotation problems", list(PROBLEMS), labels),),
        notes=(
            "The arrows of the figure are not in its text; the values are the reductions that Sections 2 and 5 name.",
        ),
    )


def _list_systems(task: str) -> list[str]:
    """Return the systems of Table 2 in Karat's catalogue whose hardest task is `task`, or that link given mentions."""
    systems = {title: get_plugin("systems", name, System) for title, name in _SYSTEMS.items()}
    if TASKS[task].has_gold_mentions:
        return [title for title, system in systems.items() if system.gold_mentions != "never"]
    return [title for title, system in systems.items() if system.hardest_task == task]


def _list_datasets(corpora: PaperCorpora, problem: str) -> list[str]:
    """Return the datasets whose gold standard is for `problem`."""
    return [name for name in SOURCES if _get_problem(corpora, name) == problem]


def _get_problem(corpora: PaperCorpora, name: str) -> str | None:
    """Return the hardest problem that the gold standard of a dataset supports; None if the dataset is missing."""
    description = corpora.describe(name)
    return None if description is None else str(description.numbers["hardest problem"])


def build_table_2() -> Exhibit:
    """Compare the problems that systems solve in Karat's catalogue with Table 2."""
    return Exhibit(
        "Table 2",
        "The best known systems and the problems that they solve",
        "karat systems",
        (*(_build_system_cell(*printed) for printed in read_cells(TABLE_2)), _count_available()),
        notes=("Affiliations and references are no values.",),
    )


def _count_available() -> Cell:
    """Return the number of systems in Table 2 whose software the authors could use."""
    titles = [title for title, _, _ in read_cells(TABLE_2)]
    n_available = sum(title in _SYSTEMS for title in titles)
    return Cell(
        "publicly available (Section 3)",
        "Addressed problem",
        "five of them",
        f"{n_available} of {len(titles)}",
        is_equal=n_available == 5,
    )


def _build_system_cell(title: str, column: str, published: str) -> Cell:
    """Return the cell of a system: its hardest problem, and D2W if it links given mentions."""
    if title not in _SYSTEMS:
        text = f"{title} was not available to the authors or later, so what it solves cannot be checked"
        return Cell(
            title, column, published, None, Explanation("data missing", text, missing_file=f"{title} (software)")
        )
    system = get_plugin("systems", _SYSTEMS[title], System)
    hardest = PROBLEMS[system.hardest_task]
    value = hardest if system.gold_mentions == "never" else f"{hardest}, D2W"
    explanation = Explanation(
        "definition differs",
        "the table lists what systems solve natively; Karat also counts a second service that links given mentions",
        value_if_changed=hardest,
    )
    return Cell(title, column, published, value, None if value == published else explanation)


def build_figure_3(corpora: PaperCorpora, own_table: tuple[tuple[str, ...], ...]) -> Exhibit:
    """Draw the problems of the experiments; `own_table` has the scores of Karat's systems for all problems."""
    tasks = ["sa2kb", "a2kb", "c2kb"]
    labels = {
        "sa2kb": ", ".join(_list_systems("sa2kb")),
        **{task: ", ".join(_list_datasets(corpora, PROBLEMS[task])) for task in tasks[1:]},
    }
    native = _list_systems("sa2kb")
    return Exhibit(
        "Figure 3",
        "The problems of the experiments",
        "\n".join(_list_problem_commands()),
        (
            Cell(
                "Tested systems that solve Sa2W natively",
                "claim",
                "all",
                "all" if len(native) == len(_SYSTEMS) else ", ".join(native),
            ),
            *_check_gold_problems(corpora),
        ),
        plots=(_draw_problems("Problems of the experiments", tasks, labels),),
        notes=(
            "The table has the scores of Karat's systems for all six problems: F1 by strong match with given mentions "
            "(D2W), F1 by weak match of all annotations (A2W) and at the best threshold t (Sa2W), F1 of the entities "
            "of all annotations (C2W) and at the best threshold (Sc2W), and measures of a ranking by score (Rc2W).",
        ),
        own_table=own_table,
    )


def _list_problem_commands() -> Iterator[str]:
    """Yield the command lines that score Karat's systems for all six problems."""
    yield "karat systems"
    yield from create_files(DATASETS, has_elevant=False)
    for name in DATASETS:
        tasks = ["--task c2kb --set match=entity --set threshold=none", "--task c2kb --set match=entity"]
        if name != "Meij":
            yield link_gold_mentions(name)
            tasks = ["--set match=weak --set threshold=none", "--set match=weak", *tasks]
        for options in (*tasks, "--task rc2kb --set threshold=none"):
            yield score(name, options, has_elevant=False)


def _check_gold_problems(corpora: PaperCorpora) -> Iterator[Cell]:
    """Yield for each dataset the problem of its gold standard."""
    for name in SOURCES:
        problem, published = _get_problem(corpora, name), "C2W" if name == "Meij" else "A2W"
        explanation = None if problem is not None else corpora.data.explain_missing(SOURCES[name].path)
        yield Cell(f"{name}: gold standard", "claim", published, problem, explanation)


def build_table_4(corpora: PaperCorpora) -> Exhibit:
    """Compare the setup of the experiments with Karat's catalogue, the gold standards and the profile `bat-paper`."""
    experiments: dict[str, dict[str, str]] = {}
    for row, column, published in read_cells(TABLE_4):
        experiments.setdefault(row, {})[column] = published
    cells = [
        Cell(row, column, published, value, explanation)
        for row, columns in experiments.items()
        for column, published in columns.items()
        for value, explanation in [_describe_setup(corpora, columns, column)]
    ]
    return Exhibit(
        "Table 4",
        "Experimental setup",
        "karat data list\nkarat explain bat-paper",
        tuple(cells),
        notes=("Type: the domain in Karat's catalogue. Match relations: those of the profile bat-paper and of c2kb.",),
    )


def _describe_setup(
    corpora: PaperCorpora, experiment: Mapping[str, str], column: str
) -> tuple[str | None, Explanation | None]:
    """Return the value of a column of Table 4 for an experiment, with an explanation if a dataset is missing.

    `experiment` is the printed row. The datasets are those of the printed type, the type is that of the printed ones.
    """
    names = experiment["Datasets"].split(", ")
    types = {name: _TYPES[get_plugin("datasets", source.dataset, Dataset).domain] for name, source in SOURCES.items()}
    if column == "Datasets":
        return ", ".join(name for name, kind in types.items() if kind == experiment["Type"]), None
    if column == "Type":
        return ", ".join(sorted({types[name] for name in names})), None
    problems = {_get_problem(corpora, name) for name in names}
    if None in problems:
        missing = next(SOURCES[name].path for name in names if _get_problem(corpora, name) is None)
        return None, corpora.data.explain_missing(missing)
    if column == "Problem":
        return ", ".join(sorted(map(str, problems))), None
    if problems == {"C2W"}:
        return ", ".join(_TAG_RELATIONS[relation] for relation in TASKS["c2kb"].relations), None
    match = get_plugin("profiles", "bat-paper", Profile).settings["match"]
    return ", ".join(_RELATIONS[relation] for relation in match.split(",")), None
