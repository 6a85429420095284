"""The measurements, one per process: `python bench/jobs.py JOB GOLD ANSWERS` prints an `Outcome`."""

from __future__ import annotations

import resource
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import karat
import objects
import plain
from karat.data.load import load_both
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.thresholds import steps_of_cases, totals
from karat.matching.judge.judge import Located
from karat.model.items import Answers
from shared import Counts, Files, Outcome, beyond, timed


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


class ElevantLabel(msgspec.Struct, gc=False):
    """A label of ELEVANT's, with the fields that every file has."""

    id: int | str
    span: tuple[int, int]
    entity_id: str | None


class Elevant(msgspec.Struct, gc=False):
    """A line of an ELEVANT benchmark."""

    id: int | str
    text: str
    labels: list[ElevantLabel]


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


def read_and_match_objects(given: Files) -> Outcome:
    """The work of neleval."""
    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        gold, answers = objects.read(given.gold, "labels"), objects.read(given.answers, "answers")
    with timed(seconds, "match"):
        counts = objects.match(gold, answers)
    return Outcome(seconds, peak(), counts)


def columns(given: Files) -> Outcome:
    """Parquet into Arrow's columns, and nothing else: the floor for whatever reads these files."""
    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        tables = pq.read_table(given.gold), pq.read_table(given.answers)
    return Outcome(seconds, peak(), {}, sum(table.nbytes for table in tables))


def arrow(given: Files) -> Outcome:
    """JSONL into Arrow's columns on all cores, and nothing else: the floor for whatever reads JSON into columns."""
    import pyarrow.json as arrow_json

    span = [("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string())]
    label, answer = pa.struct(span), pa.struct([*span, ("score", pa.float64())])
    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        for path, fields in (
            (given.gold, [("id", pa.string()), ("text", pa.string()), ("labels", pa.list_(label))]),
            (given.answers, [("id", pa.string()), ("answers", pa.list_(answer))]),
        ):
            parsing = arrow_json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="error")
            arrow_json.read_json(path, parse_options=parsing)
    return Outcome(seconds, peak(), {})


def copy(given: Files) -> Outcome:
    """The bytes of the arrays that matching reads, copied by NumPy into memory that is there: the best of ten."""
    corpus, (run,) = load_both(str(given.gold), [str(given.answers)], text=False)
    pairing = Evaluation.of(Request.of(measures="strong:micro.f1"), corpus, run).sides.pairing()
    gold, answers = pairing.gold(0, len(corpus)), pairing.answers(0, len(corpus))
    sides = [
        array for side in (gold.items, answers.items) for array in (side.document, side.start, side.end, side.entity)
    ]
    arrays = [*sides, gold.unit, gold.parent, gold.optional, answers.score]
    room = [np.ones_like(array) for array in arrays]
    found = []
    for _ in range(10):
        seconds: dict[str, float] = {}
        with timed(seconds, "copy"):
            for array, place in zip(arrays, room, strict=True):
                np.copyto(place, array)
        found.append(seconds)
    return Outcome(min(found, key=lambda each: each["copy"]), peak(), {}, sum(array.nbytes for array in arrays))


def spans(given: Files) -> Outcome:
    """nervaluate on spans with one label for all: the least that it can have to do."""
    return _nervaluated(given, lambda entity: "mention", None)


def links(given: Files) -> Outcome:
    """nervaluate with entities as labels, which a strong match needs; it looks at all labels in every document."""
    return _nervaluated(given, lambda entity: entity or "NIL", 100)


def _nervaluated(given: Files, label: Callable[[str | None], str], documents: int | None) -> Outcome:
    from nervaluate import Evaluator

    def read(path: Path, items: str) -> list[list[dict[str, object]]]:
        rows = pq.read_table(path, columns=[items]).column(items).slice(0, documents).to_pylist()
        return [  # ends are inclusive there
            [{"label": label(item["entity"]), "start": item["start"], "end": item["end"] - 1} for item in row]
            for row in rows
        ]

    seconds: dict[str, float] = {}
    with timed(seconds, "read"):
        gold, answers = read(given.gold, "labels"), read(given.answers, "answers")
        labels = list({str(item["label"]) for side in (gold, answers) for row in side for item in row})
    with timed(seconds, "load"):
        evaluator = Evaluator(gold, answers, tags=labels, loader="dict")
    with timed(seconds, "evaluate"):
        strict = evaluator.evaluate()["overall"]["strict"]
    assert strict.possible == sum(map(len, gold))
    assert strict.actual == sum(map(len, answers))
    right = strict.correct
    counts = Counts(right, strict.actual - right, strict.possible - right, 0.0)
    return Outcome(seconds, peak(), {"strict": counts}, len(gold))


def nothing(given: Files) -> Outcome:
    """What is held before any file is opened."""
    karat.evaluate(karat.load("demo"), karat.load_run("demo/perfect"))
    return Outcome({}, peak(), {})


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
    held = 0
    for part in ("start", "match"):  # the first one may import Numba and load machine code, or else compile it
        corpus.noted.clear()  # and leave nothing that the next one would find
        with timed(seconds, part):
            result = karat.evaluate(corpus, run, measures=measures)
        held = held or peak()  # the second one is for the clock alone
    beyond(seconds, "start", "match")
    return Outcome(seconds, held, {relation: counted(result, relation) for relation in relations})


def match(given: Files) -> Outcome:
    """Matching alone: select, align, judge and count, from arrays that are loaded and laid side by side."""
    corpus, (run,) = load_both(str(given.gold), [str(given.answers)])
    measures = [f"{relation}:micro.f1" for relation in ("strong", "weak", "mention")]
    seconds: dict[str, float] = {}
    for part in ("start", *["match"] * 5):
        found = Evaluation.of(Request.of(measures=measures), corpus, run)
        found.sides.pairing()
        with timed(seconds, part):
            found.block.weights("strong")
    beyond(seconds, "start", "match")
    return Outcome(seconds, peak(), {})


def by_document(given: Files) -> Outcome:
    """Ten views, and the same with the scores of every document."""
    corpus, (run,) = load_both(str(given.gold), [str(given.answers)], text=False)
    relations = ("strong", "weak", "mention", "mention-weak", "entity")
    parts = ("strong[nil]", "strong[in-kb]", "weak[nil]", "weak[in-kb]", "mention[in-kb]")
    measures = [f"{view}:micro.f1" for view in (*relations, *parts)]
    karat.evaluate(karat.load("demo"), karat.load_run("demo/noisy"), measures=measures, by="doc")
    seconds: dict[str, float] = {}
    with timed(seconds, "views"):
        karat.evaluate(corpus, run, measures=measures)
    with timed(seconds, "by doc"):
        found = karat.evaluate(corpus, run, measures=measures, by="doc")
    assert all(len(groups) == len(corpus) for groups in found.by["doc"].values())
    return Outcome(seconds, peak(), {}, len(corpus))


def runs(given: Files) -> Outcome:
    """Many runs on one document, together and each by itself: what an evaluation costs with hardly anything to do."""
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    one = karat.Corpus.of([next(iter(corpus))])
    own = next(reply for reply in run if reply.id == one.ids[0].as_py())
    rng = np.random.default_rng(1)
    every = [
        karat.Run.of([msgspec.structs.replace(own, answers=tuple(a for a in own.answers if rng.random() < 0.8))])
        for _ in range(5_000)
    ]
    first = karat.evaluate_all(one, every[:10])
    assert [dict(scores.scores) for scores in first] == [
        {name: karat.evaluate(one, each).score(name) for name in scores}
        for scores, each in zip(first, every, strict=False)
    ]
    seconds: dict[str, float] = {}
    with timed(seconds, "together"):
        karat.evaluate_all(one, every)
    with timed(seconds, "500 alone"):
        for each in every[:500]:
            karat.evaluate(one, each)
    return Outcome(seconds, peak(), {}, len(every))


def curve(given: Files) -> Outcome:
    """The strong curve at every distinct score from verdicts, beside one sort of the scores."""
    corpus, (run,) = load_both(str(given.gold), [str(given.answers)], text=False)
    found = Evaluation.of(Request.of(measures="strong:micro.f1"), corpus, run)
    plan, pairing = found.plan(found.request.wanted[0].view), found.sides.pairing()
    everything = (0, len(corpus))
    gold, items = pairing.gold(*everything), pairing.answers(*everything).items
    score = np.random.default_rng(1).random(len(items))  # all different: as many thresholds as answers
    answers = Answers(items, score)
    cases = plan.verdicts(gold, answers, Located())
    simple = np.ones(len(corpus), np.bool_)
    seconds: dict[str, float] = {}
    with timed(seconds, "sort"):
        np.sort(score)
    with timed(seconds, "order"):
        np.argsort(score)
    with timed(seconds, "curve"):
        steps = steps_of_cases(cases, answers, *everything, simple)
        points, _ = totals(steps.score, steps.kind, steps.kinds)
    assert len(points) == len(score)
    return Outcome(seconds, peak(), {})


def neleval(given: Files) -> Outcome:
    """All of neleval's default measures with intervals, for five systems that differ in how much they answer."""
    corpus, (run,) = load_both(str(given.gold), [str(given.answers)], text=False)
    karat.evaluate(karat.load("demo"), karat.load_run("demo/noisy"), like="neleval", resamples=10)
    seconds: dict[str, float] = {}
    with timed(seconds, "score"):
        for system in range(5):
            result = karat.evaluate(corpus, run, like="neleval", resamples=1000, threshold=f">{system / 20}")
            assert len(result.shown) == 3 * 19
            assert len(result.intervals) == 3 * 10
    return Outcome(seconds, peak(), {})


def formats(given: Files) -> Outcome:
    """Other formats into columns, beside the bare parse of the same bytes."""
    import pyoxigraph

    corpus = karat.load(given.gold)
    seconds: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        turtle, elevant = Path(folder) / "gold.ttl", Path(folder) / "gold.elevant.jsonl"
        karat.save(corpus, turtle, format="nif")
        karat.save(corpus, elevant, format="elevant")
        data = turtle.read_bytes()
        with timed(seconds, "bare NIF"):
            triples = pyoxigraph.parse(data, pyoxigraph.RdfFormat.TURTLE, lenient=True)
            deque(((t.subject.value, t.predicate.value, t.object.value) for t in triples), maxlen=0)
        with timed(seconds, "NIF"):
            karat.load(turtle, format="nif")
        lines = elevant.read_bytes().splitlines()
        typed = msgspec.json.Decoder(Elevant)
        with timed(seconds, "bare ELEVANT"):
            for line in lines:
                typed.decode(line)
        with timed(seconds, "ELEVANT"):
            karat.load(elevant, format="elevant")
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
        "objects": read_and_match_objects,
        "columns": columns,
        "arrow": arrow,
        "copy": copy,
        "nervaluate": spans,
        "nervaluate-links": links,
        "nothing": nothing,
        "karat": score,
        "karat-without-text": score_without_text,
        "karat-matching": match,
        "by-document": by_document,
        "runs": runs,
        "curve": curve,
        "neleval": neleval,
        "formats": formats,
    }
    print(jobs[job](Files(Path(gold), Path(answers))).to_json())


if __name__ == "__main__":
    main()
