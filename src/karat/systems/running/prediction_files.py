"""Files that an experiment writes: predictions of each run, and the gold standard of the documents that were run."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from karat.data.load import save
from karat.model.corpus import Corpus
from karat.model.output.text_layout import format_count
from karat.model.results.result import Result
from karat.storage.atomic_writing import open_for_writing
from karat.systems.running.experiment import Experiment, ExperimentResult
from karat.systems.running.system import RunnableSystem


def write_predictions(outcome: ExperimentResult, folder: str, experiment: Experiment) -> str:
    """Write the predictions of a run into `folder`, and return the path.

    A system that is a file of predictions keeps its file. The file name contains the task if systems got the gold
    mentions, and the number of the run if there are several.
    """
    if outcome.system.predictions_file is not None:  # they exist already
        return outcome.system.predictions_file
    path = _create_folder(outcome.corpus, folder) / _get_file_name(outcome, experiment)
    save(outcome.system_run.run, path)
    return str(path)


def name_file(outcome: ExperimentResult, path: str) -> str:
    """Return how commands name the predictions of a run at `path`, so that they keep the title that the user gave.

    Files that Karat wrote state their title; published predictions need it before the path.
    """
    title = outcome.system.given_title
    return f"{title}={path}" if title and outcome.system.predictions_file is not None else path


def write_replies(outcome: ExperimentResult, folder: str, experiment: Experiment) -> str | None:
    """Write what a language model sent in a run into `replies` next to the predictions, and return the path.

    The format `llm` reads the file, which has the layout of a batch of OpenAI. Return None if no replies were kept.
    """
    replies = outcome.system_run.replies
    if not replies:
        return None
    path = _create_folder(outcome.corpus, folder) / "replies" / _get_file_name(outcome, experiment)
    path.parent.mkdir(exist_ok=True)
    with open_for_writing(str(path)) as file:
        for id, reply in replies.items():
            record = {
                "custom_id": id,
                "response": {"body": msgspec.Raw(msgspec.json.format(reply, indent=-1).encode())},
            }
            file.write(msgspec.json.encode(record) + b"\n")
    return str(path)


def _get_file_name(outcome: ExperimentResult, experiment: Experiment) -> str:
    """Return the name of the files of a run."""
    task = experiment.task if experiment.gold_mentions else None
    number = str(outcome.system_run.repeat + 1) if outcome.is_repeated else None
    return f"{'.'.join(filter(None, [outcome.system.stem, task, number]))}.jsonl"


def prepare_gold(name: str, outcomes: Sequence[ExperimentResult], folder: str, experiment: Experiment) -> str:
    """Return how commands name the gold standard of the dataset `name`: as here, or with a limit as a new file.

    The file has the documents that were run, and is written into `folder`.
    """
    corpus = next(outcome.corpus for outcome in outcomes if outcome.dataset == name)
    if experiment.limit is None:
        return name
    path = _create_folder(corpus, folder) / "gold.jsonl"
    save(corpus, path)
    return str(path)


def _create_folder(corpus: Corpus, folder: str) -> Path:
    """Create the folder of a corpus in `folder` and return it; unsafe characters of its name become `-`."""
    path = Path(folder) / (re.sub(r"[^\w.@+-]+", "-", corpus.name).strip("-.") or "dataset")
    path.mkdir(parents=True, exist_ok=True)
    return path


def format_scoring_options(experiment: Experiment) -> list[str]:
    """Return the options, quoted for a shell, with which `karat score` gives the scores of the experiment."""
    settings = {**experiment.settings, **({"task": experiment.task} if experiment.task else {})}
    options = [
        ("--profile", "" if experiment.profile == "karat" else experiment.profile),
        ("--kb", experiment.id_kb),
        *(("--set", f"{name}={value}") for name, value in settings.items()),
        ("--gold-format", "" if experiment.limit else experiment.gold_format),
    ]
    return [f"{name} {shlex.quote(value)}" for name, value in options if value]


def group_repeats(outcomes: Sequence[ExperimentResult]) -> dict[str, list[Result]]:
    """Return the results of repeated runs by `SYSTEM on DATASET`."""
    results: dict[str, list[Result]] = {}
    for outcome in outcomes:
        results.setdefault(f"{outcome.system.title} on {outcome.corpus.name}", []).append(outcome.result)
    return results


def describe_transfers(experiment: Experiment) -> list[str]:
    """Return a sentence for each system and host: how many documents and characters the experiment may send there."""
    names = [*experiment.datasets, *filter(None, [experiment.tune_on])]
    return describe_text_transfers(
        experiment.systems, lambda: [experiment.load(name) for name in names], experiment.run_options.repeats
    )


def describe_text_transfers(
    systems: Sequence[RunnableSystem], load_corpora: Callable[[], Sequence[Corpus]], repeats: int = 1
) -> list[str]:
    """Return a sentence for each system and host: how many documents and characters it may send there.

    A system whose credential is missing will not run, so it sends nothing. `load_corpora` returns the corpora that are
    sent, `repeats` times; it is called only if a system uses a host.
    """
    hosts = [
        (system, host)
        for system in systems
        if (access := system.access) is not None and (not access.credential or os.environ.get(access.credential))
        for host in access.hosts
    ]
    if not hosts:
        return []
    texts = [text for corpus in load_corpora() for text in corpus.table.column("text").to_pylist()]
    documents = format_count(len(texts) * repeats, "document")
    characters = format_count(sum(map(len, texts)) * repeats, "character")
    return [f"{system.title}: up to {documents} with {characters} are sent to {host}" for system, host in hosts]


def list_commands(experiment: Experiment) -> list[str]:
    """Return the systems of an experiment that are programs or .py files to run."""
    return [system.text for system in experiment.systems if system.runs_commands]
