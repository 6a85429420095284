"""The outputs of systems in a folder of published data: which file has the output of a system on a dataset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from karat.data.catalogue import choose_split
from karat.data.corpus_pool import has_shared_ids, pool_corpora, pool_runs
from karat.data.load import load, load_gold_and_runs, load_run
from karat.model.corpus import Corpus
from karat.model.errors import InputError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.results.exhibit import Explanation
from karat.model.run import Run
from karat.model.spec.dataset import parse_dataset
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.zelda.splits import find_split_files
from karat.storage.files import Source

ELEVANT_STEMS: Final = {
    "ReFinED": "refined/refined__aida_",
    "REL": "rel/rel__2014_",
    "GENRE": "genre/genre__yago_",
    "Ambiverse": "ambiverse/ambiverse",
    "Neural EL": "neural-el/neural_el",
    "Baseline": "baseline/baseline",
    "TagMe": "tagme/tagme",
    "DBpedia Spotlight": "dbpedia-spotlight/dbpedia_spotlight",
    "Oracle": "oracle/oracle",
}
"""Folder and start of the file names of ELEVANT's experiments, by the names of the systems in the fair evaluation."""

ELEVANT_FORMAT: Final = "elevant-linked"
"""The format of ELEVANT's outputs, which contain the gold standard too."""

FINEGRAINED_FILES: Final = {
    "Babelfy (strict)": "BABELFYs",
    "Babelfy (relaxed)": "BABELFYr",
    "TagME": "TAGME",
    "DBpedia Spotlight": "DBpediaSpotlight",
    "AIDA": "AIDA",
    "FREME": "FREMENER",
}
"""Start of the file names of the outputs of the fine-grained paper, by the names of the systems in its captions."""

FINEGRAINED_FORMATS: Final = ("nif-categorised", "nif-categorised-literal")
"""The formats that read links as Turtle defines them, and as the authors did, without decoding escapes."""

ZELDA_SYSTEMS: Final = "zelda/systems"
"""A folder with a folder of predictions for each system on ZELDA's test sets."""

_ZELDA_GOLD: Final = "zelda/jsonl"
_FINEGRAINED_GOLD: Final = "finegrained/gold/categorized"
_ELEVANT_GOLD: Final = re.compile(r"elevant/benchmarks/(?P<name>.+)\.benchmark\.jsonl")
_SAME_MENTIONS: Final = {
    "aida@bat2013/testa": "aida@elevant2024/testa",
    "aida@bat2013/testb": "aida@elevant2024/testb",
    "msnbc@guo2018-linked": "msnbc@elevant2024",
}
"""Versions whose linked mentions are those of ELEVANT's copy."""
_ZELDA_COPIES: Final = {"aida@bat2013/testb": "aida-b"}
"""Datasets that are a test set of ZELDA, by name."""
_FOLDERS: Final = {"tagme-api": "tagme"}
"""Folders of ELEVANT that are not named like Karat's system."""


class OutputFiles(NamedTuple):
    """The files of a system's output on a dataset."""

    gold: Path
    """The gold standard."""
    predictions: Path
    """The predictions; ELEVANT's outputs have both in one file."""
    gold_format: str
    """The format of the gold standard."""
    predictions_format: str | None
    """The format of the predictions; None to detect it."""


class OutputMetadata(msgspec.Struct, frozen=True):
    """Origin of an output or a benchmark, from ELEVANT's metadata files."""

    timestamp: str | None = None
    """When it was produced, as `2024/07/11 16:42`; None if unknown."""
    experiment_description: str | None = None
    """The parameters of the system; None if unknown."""


def get_elevant_path(stem: str, benchmark: str) -> str:
    """Return the path of a system's output on a benchmark; `stem` is the folder and start of its file names."""
    return f"elevant/results/{stem}.{benchmark}.linked_articles.jsonl.gz"


def get_finegrained_path(file: str, gold_path: str) -> str:
    """Return the path of the output of a system on a gold standard; outputs say ACE where the gold says ACE04."""
    dataset = gold_path.removeprefix(_FINEGRAINED_GOLD).removesuffix(".ttl").removesuffix("04")
    return f"finegrained/systems/{file}_{dataset}.ttl"


def find_output(
    data: PublishedData, system: str, variant: str, dataset: str, *, has_gold_mentions: bool
) -> OutputFiles | Explanation:
    """Return the output of a system on a dataset of the catalogue, or the explanation that names the missing file.

    `variant`: the name of the system in a paper. `has_gold_mentions`: whether it linked the gold mentions.
    """
    name = parse_dataset(dataset)
    gold_path = choose_split(name).split.files[0].path
    if gold_path.startswith(_FINEGRAINED_GOLD):
        path = get_finegrained_path(FINEGRAINED_FILES.get(variant, variant), gold_path)
        paths = data.find(gold_path), data.find(path)
        if paths[0] is None or paths[1] is None:
            return data.explain_missing(gold_path if paths[0] is None else path)
        return OutputFiles(paths[0], paths[1], *FINEGRAINED_FORMATS)
    test_set = name.split if name.name == "zelda" else _ZELDA_COPIES.get(dataset)
    if has_gold_mentions and test_set is not None:
        return _find_zelda_output(data, variant, test_set)
    return _find_elevant_output(data, system, variant, dataset, has_gold_mentions=has_gold_mentions)


def load_outputs(outputs: Sequence[OutputFiles]) -> tuple[Corpus, Run]:
    """Load the gold standard and the predictions of one output, or of several as one."""
    pairs = [_load_output(output) for output in outputs]
    if len(pairs) == 1:
        return pairs[0]
    corpora = [corpus for corpus, _ in pairs]
    return pool_corpora(corpora), pool_runs([run for _, run in pairs], has_numbered_ids=has_shared_ids(corpora))


def read_metadata(path: Path) -> OutputMetadata:
    """Return ELEVANT's metadata of an output or benchmark at `path`; without such a file nothing is known.

    Raise `InputError` if the file is invalid.
    """
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl").rpartition(".")[0]
    metadata_path = path.parent / f"{stem}.metadata.json"
    if not metadata_path.exists():
        return OutputMetadata()
    source = Source(str(metadata_path))
    try:
        return decode_json(source.read_bytes(), OutputMetadata)
    except JsonError as problem:
        raise InputError(
            source.label,
            actual=f"an invalid file ({problem})",
            expected="the file as written by ELEVANT",
            remedy="Download it again, or delete it",
        ) from None


def _find_zelda_output(data: PublishedData, variant: str, test_set: str) -> OutputFiles | Explanation:
    """Return the predictions of a model for the gold mentions of a test set of ZELDA, or what is missing."""
    folder = f"{ZELDA_SYSTEMS}/{variant}"
    files = [_list_splits(data, name).get(test_set) for name in (_ZELDA_GOLD, folder)]
    if files[0] is None or files[1] is None:
        return data.explain_missing(f"{_ZELDA_GOLD}/test_{test_set}.jsonl" if files[0] is None else folder)
    return OutputFiles(Path(files[0]), Path(files[1]), "zelda", None)


def _list_splits(data: PublishedData, folder: str) -> dict[str, str]:
    """Return the files of a folder by split; empty if there is no such folder or it is empty."""
    path = data.find(folder)
    return {} if path is None or not any(path.iterdir()) else find_split_files([str(path)])


def _find_elevant_output(
    data: PublishedData, system: str, variant: str, dataset: str, *, has_gold_mentions: bool
) -> OutputFiles | Explanation:
    """Return ELEVANT's output of a system on a dataset, or what is missing.

    An experiment that ELEVANT has not published is looked for under the name that ELEVANT would give it.
    """
    experiment = f"{variant} (gold mentions)" if has_gold_mentions else variant
    stem = f"{_FOLDERS.get(system, system)}/{re.sub('[^a-z0-9]', '_', experiment.lower())}"
    path = get_elevant_path(ELEVANT_STEMS.get(experiment, stem), _name_benchmark(dataset))
    file = data.find(path) or data.find(path.removesuffix(".gz"))
    return data.explain_missing(path) if file is None else OutputFiles(file, file, ELEVANT_FORMAT, ELEVANT_FORMAT)


def _name_benchmark(dataset: str) -> str:
    """Return the name of a dataset in ELEVANT's files; its own name if ELEVANT does not have it."""
    name = parse_dataset(_SAME_MENTIONS.get(dataset, dataset))
    match = _ELEVANT_GOLD.fullmatch(choose_split(name).split.files[0].path)
    return match["name"] if match else "-".join(filter(None, (name.name, name.split)))


def _load_output(output: OutputFiles) -> tuple[Corpus, Run]:
    """Load the gold standard and the predictions of an output."""
    if output.gold == output.predictions:
        path = str(output.gold)
        corpus, [run] = load_gold_and_runs(
            path, [path], gold_format=output.gold_format, predictions_format=output.predictions_format
        )
        return corpus, run
    corpus = load(output.gold, format=output.gold_format)
    return corpus, load_run(output.predictions, format=output.predictions_format, corpus=corpus)
