"""NEEL 2016: a file of tweets (`|id|,|text|` per line) and a `.gs` file of their entities next to it.

`NAME.tsv` belongs to `NAME_neel.gs`, and either can be passed. A row has tweet, start, end, a DBpedia resource or a NIL
cluster (`NIL7`), score and type. Offsets count code points, and ends are exclusive. White space around a resource is
removed. A `.gs` file without tweets next to it can be read as predictions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from karat.formats.parsing.duplicates import separate_duplicate_labels
from karat.formats.parsing.file_openings import split_first_lines
from karat.formats.parsing.lines import Line, parse_lines, split_columns
from karat.formats.parsing.neel import is_neel
from karat.formats.parsing.numbers import parse_number, parse_offset
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_counts
from karat.model.defects import skip_or_raise
from karat.model.document import Document, Label, Prediction, Response
from karat.model.errors import InputError
from karat.model.run import Run
from karat.model.spec.format import ByteSource, Format, Sample

_TWEET = re.compile(r"\|(\d+)\|,\|(.*)\|", re.ASCII)


class _Row(NamedTuple):
    """A row of a `.gs` file: a mention with its entity (None for NIL), NIL cluster, score and type."""

    tweet: str
    start: int
    end: int
    entity: str | None
    nil_cluster: str | None
    score: float
    type: str


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold tweets in the order of their file, also tweets without entities.

    The tweets always have their texts; `text` is ignored. `source` is either file of the pair. The error policy decides
    whether a row of an unknown tweet raises `InputError`, or is skipped and counted in `Defects`.
    """
    tweets, gold = (source, _find_partner(source)) if _is_tweet_file(source) else (_find_partner(source), source)
    skipped = SkipCounter()
    labels_by_tweet: dict[str, list[Label]] = {}
    for row in _read_rows(gold, skipped):
        label = Label(row.start, row.end, row.entity, types=(row.type,), nil_cluster=row.nil_cluster)
        labels_by_tweet.setdefault(row.tweet, []).append(label)
        skipped["scores of labels (not stored)"] += row.score != 1
    documents = []
    for tweet_id, content in _read_tweets(tweets):
        with locate_counts(f"tweet {tweet_id}"):
            labels = separate_duplicate_labels(labels_by_tweet.pop(tweet_id, ()), skipped)
        documents.append(Document(tweet_id, content, labels))
    for tweet_id in sorted(labels_by_tweet):
        problem = InputError(
            gold.label,
            actual=f"tweet {tweet_id!r}",
            expected=f"tweets of {tweets.label}",
            remedy="Check that both files belong to the same split",
        )
        skip_or_raise(problem)
    return Corpus.from_reader(
        documents,
        name=tweets.stem,
        skipped=skipped,
        locate_row=lambda row: f"{gold.label}, tweet {documents[row].id!r}",
    )


def read_run(source: ByteSource) -> Run:
    """Read a system's predictions, with tweets in the order of their first rows."""
    skipped = SkipCounter()
    predictions_by_tweet: dict[str, list[Prediction]] = {}
    for row in _read_rows(source, skipped):
        prediction = Prediction(
            row.start, row.end, row.entity, types=(row.type,), score=row.score, nil_cluster=row.nil_cluster
        )
        predictions_by_tweet.setdefault(row.tweet, []).append(prediction)
    responses = (Response(tweet_id, tuple(predictions)) for tweet_id, predictions in predictions_by_tweet.items())
    return Run.from_reader(responses, name=source.stem, skipped=skipped)


def _read_tweets(source: ByteSource) -> Iterator[tuple[str, str]]:
    """Yield id and text of each tweet.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    """

    def parse_tweet(line: Line) -> tuple[str, str]:
        match = _TWEET.fullmatch(line.text)
        if match is None:
            raise InputError(
                f"{source.label}:{line.number}",
                actual=f"{line.text[:40]!r}",
                expected="a tweet as |id|,|text|",
                remedy="Write one tweet per line",
            )
        return match[1], match[2]

    return parse_lines(source, parse_tweet)


def _read_rows(source: ByteSource, skipped: Counter[str]) -> Iterator[_Row]:
    """Yield the rows of a `.gs` file.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    Ids with surrounding spaces, which are removed, are counted in `skipped`.
    """

    def parse_row(line: Line) -> _Row:
        tweet, start, end, raw_entity, score, mention_type = split_columns(line, source, 6, 6)
        location = f"{source.label}:{line.number}"
        entity = raw_entity.strip()
        skipped["ids with surrounding spaces (removed)"] += entity != raw_entity
        is_nil = entity.startswith("NIL")
        return _Row(
            tweet,
            parse_offset(start, location, "start"),
            parse_offset(end, location, "end"),
            None if is_nil else entity,
            entity if is_nil else None,
            parse_number(score, location, "score"),
            mention_type,
        )

    return parse_lines(source, parse_row)


def _is_tweet_file(source: ByteSource) -> bool:
    """Return whether a file is the one with the tweets, by its first character."""
    return source.first_bytes.removeprefix(b"\xef\xbb\xbf").startswith(b"|")


def _get_partner_name(source: ByteSource) -> tuple[str, str]:
    """Return the name of the other file of the pair, and a description of its content for error messages."""
    name = PurePath(source.path).name.removesuffix(".gz").removesuffix(".zst")
    if _is_tweet_file(source):
        return f"{name.removesuffix('.tsv')}_neel.gs", "gold rows"
    return f"{name.removesuffix('.gs').removesuffix('_neel')}.tsv", "tweets"


def _find_partner(source: ByteSource) -> ByteSource:
    """Return the other file of the pair, next to `source`; raise `InputError` if it is missing."""
    name, kind = _get_partner_name(source)
    partner = _find_sibling(source, name)
    if partner is None:
        raise InputError(
            source.label,
            actual=f"no file {name!r} next to it",
            expected=f"the {kind} in a separate file",
            remedy="Put both files into one folder",
        )
    return partner


def _find_sibling(source: ByteSource, name: str) -> ByteSource | None:
    """Return the file of this name next to `source`, also compressed, or None."""
    files = (source.get_sibling(f"{name}{suffix}") for suffix in ("", ".gz", ".zst"))
    return next((file for file in files if source.path != "-" and file.exists), None)


def _has_gold(source: ByteSource) -> bool:
    """Return whether a file has the tweets, or tweets are next to it."""
    return _is_tweet_file(source) or _find_sibling(source, _get_partner_name(source)[0]) is not None


def _recognises(head: bytes) -> bool:
    """Return whether the first lines are all gold rows or all tweets of NEEL."""
    lines = split_first_lines(head)
    return is_neel(lines) or (bool(lines) and all(map(_TWEET.fullmatch, lines)))


FORMAT = Format(
    title="NEEL 2016",
    suffix=".gs",
    markers=(),
    recognises=_recognises,
    has_gold=_has_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    description="NAME.tsv with the tweets and NAME_neel.gs with their entities; pass either.",
    sample=Sample(
        {
            "sample.tsv": "|123456789|,|Ada met|\n",
            "sample_neel.gs": "123456789\t0\t3\thttp://dbpedia.org/resource/Ada_Lovelace\t1\tPerson\n",
        },
        documents=1,
        mentions=1,
        main_file="sample.tsv",
    ),
)
