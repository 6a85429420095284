"""ELEVANT's linked articles: the documents of a benchmark with the mentions that a linker found.

Such a file holds both gold and predictions. The gold is read as in a benchmark (`elevant`). Ids of predictions are
unchanged; `<NIL>` and `<NO_MAPPING>` are NIL, and a mention without id or with an empty id is unlinked. Candidates are
sets without order. Two mentions of the same span are two predictions, in the order of the file, whereas ELEVANT uses
the last one.
"""

from __future__ import annotations

from typing import IO

import msgspec

from karat.formats.parsing.elevant import gold as elevant_gold
from karat.formats.parsing.elevant import predictions as elevant_predictions
from karat.formats.parsing.elevant.articles import (
    NIL,
    NO_MAPPING,
    UNMAPPED,
    Article,
    ArticleSpan,
    EntityMention,
    check_writable_id,
    detect_content,
    has_text,
    parse_id,
)
from karat.formats.parsing.elevant.manifest import read_manifest
from karat.formats.parsing.elevant.predictions import read_both
from karat.formats.parsing.lost_fields import count_candidate_scores
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Prediction
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    return elevant_gold.read_corpus(source)


def write_run(run: Run, file: IO[bytes]) -> None:
    """Write one article without text per response, so that readers of the file need the benchmark file as well."""
    encode = msgspec.json.Encoder().encode
    linker = run.metadata.get("linked_by", run.name)
    recogniser = run.metadata.get("recognized_by", linker)
    for response in run:
        mentions = tuple(_to_entity_mention(prediction, recogniser, linker) for prediction in response.predictions)
        file.write(encode(Article(id=parse_id(response.id), entity_mentions=mentions)) + b"\n")


def _to_entity_mention(prediction: Prediction, recogniser: str, linker: str) -> EntityMention:
    """Convert a prediction; `recogniser` and `linker` are the names of the components that found and linked it."""
    return EntityMention(
        span=ArticleSpan(prediction.start, prediction.end),
        id=_get_entity_id(prediction),
        recognized_by=recogniser,
        linked_by=linker,
        candidates=tuple(candidate.entity for candidate in prediction.candidates),
    )


def _get_entity_id(prediction: Prediction) -> str | None:
    """Return the id as ELEVANT writes it: None for unlinked, and an id for each kind of NIL."""
    if prediction.entity is None:
        return NO_MAPPING if UNMAPPED in prediction.categories else NIL
    return None if prediction.entity is UNLINKED else check_writable_id(prediction.entity)


FORMAT = Format(
    title="ELEVANT linked articles",
    suffix=".linked_articles.jsonl",
    markers=('"entity_mentions"', '"linked_by"', '"recognized_by"'),
    recognises=lambda head: detect_content(head) == "predictions",
    has_gold=lambda source: False,  # the file is predictions, although it has labels
    prediction_mark="the mentions of a linker (entity_mentions)",
    read_corpus=read_corpus,
    read_run=elevant_predictions.read_run,
    has_gold_and_predictions=has_text,
    read_both=read_both,
    read_manifest=read_manifest,
    write_run=write_run,
    stored_fields=frozenset({"candidates"}),
    count_losses=count_candidate_scores,
    description="Candidates are stored without scores. Each mention names its recogniser and linker.",
    sample=Sample.from_text(
        "sample.jsonl",
        '{"id": "a", "text": "Ada met", "labels": [{"id": 0, "span": [0, 3], "entity_id": '
        '"Q7259"}], "entity_mentions": [{"span": [0, 3], "id": "Q7259"}]}\n',
    ),
)
