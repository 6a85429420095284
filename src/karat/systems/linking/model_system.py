"""Functions shared by the systems that use trained models; heavy libraries are imported only when a system starts.

A stage is a step of a system: detection, candidates or ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from karat.model.document import Candidate, Document, Prediction, Response
from karat.model.errors import UsageError
from karat.model.registry import get_plugin, list_plugins
from karat.model.run import Run
from karat.model.spec.external_access import TrainingSetup
from karat.model.spec.format import Format
from karat.model.spec.system import Claim, Link, Refine, System, option
from karat.storage.files import Source
from karat.systems.claims.zelda_2023 import list_setup_claims
from karat.systems.linking.lexicon import build_lexicon, snapshot_metadata
from karat.systems.linking.neural.metadata import get_fingerprint
from karat.systems.linking.stages import USE_GIVEN_MENTIONS, chain_stages, make_candidate_stage, make_document_stage

FOLDER_DESCRIPTION = "Folder written by `karat train`."


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options of a system with a trained model."""

    argument: str = option("", FOLDER_DESCRIPTION)
    kb: str = option(
        "", "Snapshot whose names define the candidates of a mention; without any, all entities of the model compete."
    )
    candidates: int = option(20, "Maximum number of candidates per mention.")
    candidate_file: str = option("", "Predictions whose candidates the mentions get, as `karat train --candidates`.")


@dataclass(frozen=True, slots=True)
class LukeOptions(ModelOptions):
    """The options of a system with LUKE's method."""

    order: bool = option(
        True, "Link the most confident mention first and use it for the others; otherwise all at once."
    )


def build_model_system(
    kind: str,
    title: str,
    description: str,
    *,
    options: type[ModelOptions] = ModelOptions,
    prediction_options: Callable[[Any], Mapping[str, Any]] = lambda options: {},
    needs_candidates: bool = False,
    setups: tuple[TrainingSetup, ...] = (),
    citation: str = "",
    claims: tuple[Claim, ...] = (),
) -> System:
    """Build the system of a `kind` of trained models, with its `title`, `description` and type of `options`.

    `prediction_options`: as in `make_ranking_stage`, for the options. `needs_candidates`: whether the model links no
    mention without candidates; outside a pipeline, they must come from an option. `setups`, `citation` and `claims`:
    as in `System`; what `setups` report is added to the claims.
    """

    def rank(options: ModelOptions) -> Refine:
        return make_ranking_stage(options, kind, prediction_options(options))

    def start(options: ModelOptions, gold_mentions: bool) -> Link:
        if needs_candidates and not (options.kb or options.candidate_file):
            raise UsageError(
                f"{kind} ranks candidates and has none. Write {kind}[kb=SNAPSHOT]:DIR or "
                f"{kind}[candidate-file=FILE]:DIR, or make it the last part of a pipeline."
            )
        return start_model(options, rank(options))

    return System(
        title=title,
        description=description,
        start=start,
        options=options,
        hardest_task="d2kb",
        gold_mentions="required",
        id_space="of the training data",
        stages={"rank": rank},
        fingerprint=lambda options: model_fingerprint(options, kind),
        argument="DIR",
        requirements=("karat train",),
        extra="train",
        setups=setups,
        citation=citation,
        claims=(*claims, *list_setup_claims(setups)),
    )


def make_ranking_stage(options: ModelOptions, kind: str, prediction_options: Mapping[str, Any]) -> Refine:
    """Return the stage that links each mention to the candidate that a trained model ranks first.

    All entities of the model compete if the model knows none of the candidates.
    `kind`: kind of the model; a folder without such a model raises `UsageError`.
    `prediction_options`: keyword arguments of `predict_entities`, such as `most_confident_first`.
    """
    if not options.argument:
        raise UsageError(f"{kind} needs a trained model. Write {kind}:DIR with a folder written by karat train {kind}.")
    get_fingerprint(options.argument, kind)  # raises an error for a model of another kind
    from karat.systems.linking.neural.ranking import make_model_stage

    return make_model_stage(options.argument, prediction_options, options.kb)


def start_model(options: ModelOptions, rank: Refine) -> Link:
    """Return the function that links given mentions with the ranking stage `rank`.

    Candidates come from the option `candidate_file`, or else from the snapshot in `kb`; otherwise mentions have none.
    """
    if options.candidate_file:
        listed = collect_candidates(_load_candidates(options.candidate_file))
        _check_ids(options, options.candidate_file, (entity for entities in listed.values() for entity in entities))
        return chain_stages(USE_GIVEN_MENTIONS, _make_listed_candidate_stage(listed), rank)
    if options.kb:
        lexicon = build_lexicon(options.kb, "both")
        _check_ids(options, options.kb, lexicon.ids)
        return chain_stages(USE_GIVEN_MENTIONS, make_candidate_stage(lexicon, options.candidates), rank)
    return chain_stages(USE_GIVEN_MENTIONS, rank)


def _check_ids(options: ModelOptions, source: str, ids: Iterable[str]) -> None:
    """Raise `UsageError` if a model knows none of the ids of candidates from `source` and cannot read their names."""
    from karat.systems.linking.neural.ranking import load_linker

    linker = load_linker(options.argument)
    if not linker.model.reads_names and linker.codes.keys().isdisjoint(ids):
        raise UsageError(
            f"{options.argument} knows no candidate of {source}, so all its entities would compete. "
            f"Use candidates with ids such as {linker.entities[0]!r}."
        )


def _candidate_fingerprint(path: str) -> dict[str, str]:
    """Return the manifest entry on predictions with candidates: their digests."""
    return {"candidates": " ".join(run.digest for run in _load_candidates(path))}


def list_candidate_files(path: str) -> list[str]:
    """Return the files of predictions in a folder such as `karat zelda recall --out` writes; `[path]` for others."""
    source = Source(path)
    names = [name for name in source.file_names if name.endswith(".jsonl")] if source.is_folder else []
    return [f"{path}/{name}" for name in names] or [path]


def _load_candidates(path: str) -> list[Run]:
    """Load the predictions with the candidates of mentions; raise `UsageError` if they have none."""
    runs = [_read_candidates(file) for file in list_candidate_files(path)]
    if not collect_candidates(runs):
        raise UsageError(f"{path}: the predictions have no candidates. Pass predictions with `candidates`.")
    return runs


def _read_candidates(path: str) -> Run:
    """Read a file of predictions; raise `UsageError` if its format is not clear."""
    source = Source(path)
    formats = [get_plugin("formats", name, Format) for name in list_plugins("formats")]  # `load_run` imports plugins
    readers = [
        spec.read_run
        for spec in formats
        if spec.read_run is not None and not source.is_folder and spec.recognises(source.first_bytes)
    ]
    if len(readers) != 1:
        raise UsageError(f"{path}: the format of the predictions is not clear. Pass predictions in Karat JSONL.")
    return readers[0](source)


def _make_listed_candidate_stage(candidates: Mapping[tuple[str, int, int], Sequence[str]]) -> Refine:
    """Return the stage that gives each mention its `candidates`, by document id, start and end."""

    def propose(document: Document, response: Response) -> Response:
        predictions = [
            Prediction(
                prediction.start,
                prediction.end,
                candidates=tuple(
                    Candidate(entity) for entity in candidates.get((document.id, prediction.start, prediction.end), ())
                ),
            )
            for prediction in response.predictions
        ]
        return replace(response, predictions=tuple(predictions))

    return make_document_stage(propose)


def collect_candidates(runs: Sequence[Run]) -> dict[tuple[str, int, int], list[str]]:
    """Return the entity ids of the candidates in some runs, by document id, start and end of the mention.

    Ids are sorted, because their order is a decision of another system. The last run with a mention counts.
    """
    return {
        (response.id, prediction.start, prediction.end): sorted(
            {candidate.entity for candidate in prediction.candidates}
        )
        for run in runs
        for response in run
        for prediction in response.predictions
        if prediction.candidates
    }


def model_fingerprint(options: ModelOptions, kind: str) -> dict[str, str]:
    """Return manifest entries on the weights and training data of a model and on where its candidates come from."""
    return {
        **(get_fingerprint(options.argument, kind) if options.argument else {}),
        **(snapshot_metadata(options.kb) if options.kb else {}),
        **(_candidate_fingerprint(options.candidate_file) if options.candidate_file else {}),
    }
