"""ELEVANT's linked articles: the documents of a benchmark with what a linker marked in them.

Such a file is gold as well as answers. The gold is read as in a benchmark (`karat.formats.elevant`). Of the answers
ids are kept as written; `<NIL>` and `<NO_MAPPING>` are NIL, and a mention without id, or with an empty one, is without
link. Candidates are sets: their order says nothing. Two mentions at the same span are two answers, in the order of the
file, though ELEVANT takes the last one.
"""

from __future__ import annotations

from typing import IO

import msgspec

from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, EntityId
from karat.model.run import Run
from karat.parsing.elevant import answers as elevant_answers
from karat.parsing.elevant import gold as elevant_gold
from karat.parsing.elevant.articles import (
    NIL,
    NO_MAPPING,
    UNMAPPED,
    Article,
    ArticlePlace,
    EntityMention,
    has_text,
    number_of,
    told,
)
from karat.parsing.elevant.beside import manifest
from karat.parsing.elevant.both import read_both
from karat.parsing.losing import candidate_scores
from karat.spec.format import Bytes, Format, Sample


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """The gold labels; the texts are always kept."""
    return elevant_gold.read_corpus(source)


def write_run(run: Run, file: IO[bytes]) -> None:
    """One line per reply. A run knows no texts, so that it needs the benchmark beside it."""
    encode = msgspec.json.Encoder().encode
    linker = run.about.get("linked_by", run.name)
    recogniser = run.about.get("recognized_by", linker)
    for reply in run:
        mentions = tuple(_mention(answer, recogniser, linker) for answer in reply.answers)
        file.write(encode(Article(id=number_of(reply.id), entity_mentions=mentions)) + b"\n")


def _mention(answer: Answer, recogniser: str, linker: str) -> EntityMention:
    return EntityMention(
        span=ArticlePlace(answer.start, answer.end),
        id=NO_MAPPING if UNMAPPED in answer.categories else _reference(answer.entity),
        recognized_by=recogniser,
        linked_by=linker,
        candidates=tuple(candidate.entity for candidate in answer.candidates),
    )


def _reference(entity: EntityId) -> str | None:
    if entity is UNLINKED:
        return None
    return NIL if entity is None else str(entity)


FORMAT = Format(
    title="ELEVANT linked articles",
    suffix=".linked_articles.jsonl",
    signs=('"entity_mentions"', '"linked_by"', '"recognized_by"'),
    recognises=lambda head: told(head) == "answers",
    holds_gold=lambda source: False,  # as answers its labels are not meant
    read_corpus=read_corpus,
    read_run=elevant_answers.read_run,
    holds_both=has_text,
    read_both=read_both,
    manifest=manifest,
    write_run=write_run,
    holds=frozenset({"candidates"}),
    loses=candidate_scores,
    says="Candidates are kept without their scores. Who recognised and linked is written into every mention.",
    sample=Sample(
        {
            "sample.jsonl": '{"id": "a", "text": "Ada met", "labels": [{"id": 0, "span": [0, 3], "entity_id": '
            '"Q7259"}], "entity_mentions": [{"span": [0, 3], "id": "Q7259"}]}\n',
        },
        documents=1,
        mentions=1,
        given="sample.jsonl",
    ),
)
