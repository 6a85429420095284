"""NEEL 2016: a file of tweets (`|id|,|text|` per line) and a `.gs` file of their entities beside it.

`NAME.tsv` belongs to `NAME_neel.gs`, and either may be given. A row has tweet, start, end, a DBpedia resource or a
NIL cluster (`NIL7`), score and type. Offsets count code points, and ends are not included. Blanks around a resource are
no part of it. A `.gs` file without tweets beside it can be read as answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import pass_over
from karat.model.document import Answer, Document, Label, Reply
from karat.model.run import Run
from karat.parsing.lines import Line, columns, each_line
from karat.parsing.neel import is_neel
from karat.parsing.numbers import number, offset
from karat.parsing.openings import first_lines
from karat.parsing.repeats import apart
from karat.spec.format import Bytes, Format, Sample

_TWEET = re.compile(r"\|(\d+)\|,\|(.*)\|", re.ASCII)


class _Row(NamedTuple):
    """A row of a `.gs` file."""

    tweet: str
    start: int
    end: int
    entity: str | None
    nil_cluster: str | None
    score: float
    type: str


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold tweets in the order of the tweets' file, also those without entities; the texts are always kept."""
    tweets, gold = (source, _beside(source)) if _is_tweets(source) else (_beside(source), source)
    skipped: Counter[str] = Counter()
    found: dict[str, list[Label]] = {}
    for row in _rows(gold, skipped):
        label = Label(row.start, row.end, row.entity, types=(row.type,), nil_cluster=row.nil_cluster)
        found.setdefault(row.tweet, []).append(label)
        skipped["scores of labels (not kept)"] += row.score != 1
    documents = []
    for name, content in _tweets(tweets):
        labels, repeated = apart(found.pop(name, ()))
        skipped["labels given twice (both kept)"] += repeated
        documents.append(Document(name, content, labels))
    for name in sorted(found):
        problem = InputError(
            gold.label,
            found=f"tweet {name!r}",
            expected=f"tweets of {tweets.label}",
            remedy="Check that both files are of the same split",
        )
        pass_over(problem)
    return Corpus.built(
        documents,
        name=tweets.stem,
        skipped=skipped,
        where=lambda row: f"{gold.label}, tweet {documents[row].id!r}",
    )


def read_run(source: Bytes) -> Run:
    """A system's answers, tweets in the order of their first row."""
    skipped: Counter[str] = Counter()
    found: dict[str, list[Answer]] = {}
    for row in _rows(source, skipped):
        answer = Answer(row.start, row.end, row.entity, types=(row.type,), score=row.score, nil_cluster=row.nil_cluster)
        found.setdefault(row.tweet, []).append(answer)
    replies = (Reply(name, tuple(answers)) for name, answers in found.items())
    return Run.built(replies, name=source.stem, skipped=skipped)


def _tweets(source: Bytes) -> Iterator[tuple[str, str]]:
    def read(line: Line) -> tuple[str, str]:
        found = _TWEET.fullmatch(line.text)
        if found is None:
            raise InputError(
                f"{source.label}:{line.number}",
                found=f"{line.text[:40]!r}",
                expected="a tweet as |id|,|text|",
                remedy="Give each tweet a line of its own",
            )
        return found[1], found[2]

    return each_line(source, read)


def _rows(source: Bytes, skipped: Counter[str]) -> Iterator[_Row]:
    def read(line: Line) -> _Row:
        tweet, start, end, entity, score, kind = columns(line, source, 6, 6)
        where = f"{source.label}:{line.number}"
        bare = entity.strip()
        skipped["ids with blanks around them (taken off)"] += bare != entity
        nil = bare.startswith("NIL")
        return _Row(
            tweet,
            offset(start, where, "start"),
            offset(end, where, "end"),
            None if nil else bare,
            bare if nil else None,
            number(score, where, "score"),
            kind,
        )

    return each_line(source, read)


def _is_tweets(source: Bytes) -> bool:
    return source.opening.removeprefix(b"\xef\xbb\xbf").startswith(b"|")


def _partner(source: Bytes) -> tuple[str, str]:
    """What the other file is called, and which kind it is."""
    name = PurePath(source.given).name.removesuffix(".gz").removesuffix(".zst")
    if _is_tweets(source):
        return f"{name.removesuffix('.tsv')}_neel.gs", "gold rows"
    return f"{name.removesuffix('.gs').removesuffix('_neel')}.tsv", "tweets"


def _beside(source: Bytes) -> Bytes:
    name, kind = _partner(source)
    found = _existing(source, name)
    if found is None:
        raise InputError(
            source.label,
            found=f"no file {name!r} beside it",
            expected=f"the {kind} in a file of their own",
            remedy="Put both files into one folder",
        )
    return found


def _existing(source: Bytes, name: str) -> Bytes | None:
    files = (source.beside(f"{name}{suffix}") for suffix in ("", ".gz", ".zst"))
    return next((file for file in files if source.given != "-" and file.exists), None)


def _holds_gold(source: Bytes) -> bool:
    return _is_tweets(source) or _existing(source, _partner(source)[0]) is not None


def _recognises(head: bytes) -> bool:
    found = first_lines(head)
    return is_neel(found) or (bool(found) and all(map(_TWEET.fullmatch, found)))


FORMAT = Format(
    title="NEEL 2016",
    suffix=".gs",
    signs=(),
    recognises=_recognises,
    holds_gold=_holds_gold,
    read_corpus=read_corpus,
    read_run=read_run,
    says="NAME.tsv with the tweets and NAME_neel.gs with their entities; give either.",
    sample=Sample(
        {
            "sample.tsv": "|123456789|,|Ada met|\n",
            "sample_neel.gs": "123456789\t0\t3\thttp://dbpedia.org/resource/Ada_Lovelace\t1\tPerson\n",
        },
        documents=1,
        mentions=1,
        given="sample.tsv",
    ),
)
