"""The measurements, one per process: `python bench/jobs.py JOB GOLD ANSWERS` prints an `Outcome`."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import msgspec

import karat
import plain
from karat.matching.pairing import BLOCK, pair
from karat.pipeline.evaluate import count_views
from karat.pipeline.load import load_both
from karat.pipeline.plan import plans
from karat.registry import get
from karat.spec.profile import Profile
from shared import Counts, Files, Outcome, timed


class Label(msgspec.Struct, gc=False):
    """A gold mention with the fields that the files have, and no other."""

    start: int
    end: int
    entity: str | None


class Document(msgspec.Struct, gc=False):
    """A line of the gold file."""

    id: str
    text: str
    labels: list[Label]


class Answer(msgspec.Struct, gc=False):
    """An answer with the fields that the files have, and no other."""

    start: int
    end: int
    entity: str | None
    score: float


class Reply(msgspec.Struct, gc=False):
    """A line of the file of answers."""

    id: str
    answers: list[Answer]


def parse(given: Files) -> Outcome:
    """Bytes in memory to typed objects, and nothing else: the floor for whatever reads JSON into objects."""
    gold_bytes, answer_bytes = given.gold.read_bytes(), given.answers.read_bytes()
    gold_decoder, answer_decoder = msgspec.json.Decoder(Document), msgspec.json.Decoder(Reply)
    seconds: dict[str, float] = {}
    with timed(seconds, "parse"):
        documents = gold_decoder.decode_lines(gold_bytes)
        replies = answer_decoder.decode_lines(answer_bytes)
    assert len(documents) == len(replies)
    return Outcome(seconds, peak(), {})


def read_and_match(given: Files) -> Outcome:
    """The plain implementation."""
    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        gold, answers = plain.read(given.gold, "labels"), plain.read(given.answers, "answers")
    with timed(seconds, "match"):
        counts = plain.match(gold, answers)
    return Outcome(seconds, peak(), counts)


def score(given: Files) -> Outcome:
    """Karat from files to scores, texts kept."""
    return _scored(given, text=True)


def score_without_text(given: Files) -> Outcome:
    """Karat from files to scores as `karat score` does it: no text is kept where the format allows that."""
    return _scored(given, text=False)


def _scored(given: Files, *, text: bool) -> Outcome:
    relations = ("strong", "weak", "mention")
    measures = [f"{relation}:{mean}.f1" for relation in relations for mean in ("micro", "macro")]
    karat.evaluate(karat.load("demo"), karat.load_run("demo/perfect"), measures=measures)  # what is lazy is imported
    seconds: dict[str, float] = {}
    with timed(seconds, "load"):
        corpus, (run,) = load_both(str(given.gold), [str(given.answers)], text=text)
    with timed(seconds, "match"):
        result = karat.evaluate(corpus, run, measures=measures)
    return Outcome(seconds, peak(), {relation: counted(result, relation) for relation in relations})


def match(given: Files) -> Outcome:
    """Matching alone: select, align, judge and count, from arrays that are loaded and laid side by side."""
    corpus, (run,) = load_both(str(given.gold), [str(given.answers)])
    wanted = [karat.parse_measure(f"{relation}:micro.f1") for relation in ("strong", "weak", "mention")]
    pairing = pair(corpus, run)
    todo = plans(pairing, wanted, get("profiles", "karat", Profile).choices)
    seconds: dict[str, float] = {}
    with timed(seconds, "match"):
        count_views(pairing, todo, "fair", BLOCK, keep=False, progress=None)
    return Outcome(seconds, peak(), {})


def counted(result: karat.Result, relation: str) -> Counts:
    """What a relation counted, as the plain implementation says it."""
    counts = result.counts(relation)
    macro = result[f"{relation}:macro.f1"]
    assert macro is not None
    return Counts(int(counts.matched_answers), int(counts.unmatched_answers), int(counts.unmatched_gold), macro)


def peak() -> int:
    """The most memory this process has held, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Run the job that the arguments name."""
    job, gold, answers = sys.argv[1:]
    jobs = {
        "parse": parse,
        "plain": read_and_match,
        "karat": score,
        "karat-without-text": score_without_text,
        "karat-matching": match,
    }
    print(jobs[job](Files(Path(gold), Path(answers))).to_json())


if __name__ == "__main__":
    main()
