"""Measurements, one per process: `python bench/jobs.py JOB GOLD PREDICTIONS` prints an `Outcome`."""

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
from karat.data.load import load_gold_and_runs
from karat.evaluation.evaluation import Evaluation
from karat.evaluation.request import Request
from karat.evaluation.thresholds import cumulate_changes, steps_from_cases
from karat.matching.judge.judge import PairCache
from karat.model.items import PredictedItems
from shared import Counts, Files, Outcome, record_time, subtract_time


class Label(msgspec.Struct, gc=False):
    """A gold mention with exactly the fields that the files have."""

    start: int
    end: int
    entity: str | None


class Document(msgspec.Struct, gc=False):
    """A line of the gold file."""

    id: str
    text: str
    labels: list[Label]


class Prediction(msgspec.Struct, gc=False):
    """A prediction with exactly the fields that the files have."""

    start: int
    end: int
    entity: str | None
    score: float


class ElevantLabel(msgspec.Struct, gc=False):
    """An ELEVANT label, with the fields that every file has."""

    id: int | str
    span: tuple[int, int]
    entity_id: str | None


class ElevantDocument(msgspec.Struct, gc=False):
    """A line of an ELEVANT benchmark."""

    id: int | str
    text: str
    labels: list[ElevantLabel]


class Response(msgspec.Struct, gc=False):
    """A line of the prediction file."""

    id: str
    predictions: list[Prediction]


def parse_objects(data: Files) -> Outcome:
    """Time the parsing of both JSONL files into typed objects with msgspec, a lower bound for readers into objects."""
    gold_bytes, prediction_bytes = data.gold.read_bytes(), data.predictions.read_bytes()
    gold_decoder, prediction_decoder = msgspec.json.Decoder(Document), msgspec.json.Decoder(Response)
    seconds: dict[str, float] = {}
    with record_time(seconds, "parse"):
        documents = gold_decoder.decode_lines(gold_bytes)
        responses = prediction_decoder.decode_lines(prediction_bytes)
    assert len(documents) == len(responses)
    return Outcome(seconds, peak_memory(), {})


def read_and_match(data: Files) -> Outcome:
    """Time the plain implementation on both JSONL files: reading and matching."""
    seconds: dict[str, float] = {}
    with record_time(seconds, "read"):
        gold, predictions = (
            plain.read_mentions(data.gold, "labels"),
            plain.read_mentions(data.predictions, "predictions"),
        )
    with record_time(seconds, "match"):
        counts = plain.count_by_relation(gold, predictions)
    return Outcome(seconds, peak_memory(), counts)


def read_and_match_objects(data: Files) -> Outcome:
    """Time the reimplementation of neleval's work on both JSONL files: reading and matching."""
    seconds: dict[str, float] = {}
    with record_time(seconds, "read"):
        gold, predictions = (
            objects.read_mentions(data.gold, "labels"),
            objects.read_mentions(data.predictions, "predictions"),
        )
    with record_time(seconds, "match"):
        counts = objects.count_by_measure(gold, predictions)
    return Outcome(seconds, peak_memory(), counts)


def read_columns(data: Files) -> Outcome:
    """Time reading both Parquet files into Arrow columns, a lower bound for readers; `size` is their bytes."""
    seconds: dict[str, float] = {}
    with record_time(seconds, "read"):
        tables = pq.read_table(data.gold), pq.read_table(data.predictions)
    return Outcome(seconds, peak_memory(), {}, sum(table.nbytes for table in tables))


def read_with_arrow(data: Files) -> Outcome:
    """Time Arrow reading both JSONL files into columns on all cores, a lower bound for such readers."""
    import pyarrow.json as arrow_json

    span = [("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string())]
    label, prediction = pa.struct(span), pa.struct([*span, ("score", pa.float64())])
    seconds: dict[str, float] = {}
    with record_time(seconds, "read"):
        for path, fields in (
            (data.gold, [("id", pa.string()), ("text", pa.string()), ("labels", pa.list_(label))]),
            (data.predictions, [("id", pa.string()), ("predictions", pa.list_(prediction))]),
        ):
            parsing = arrow_json.ParseOptions(explicit_schema=pa.schema(fields), unexpected_field_behavior="error")
            arrow_json.read_json(path, parse_options=parsing)
    return Outcome(seconds, peak_memory(), {})


def copy_arrays(data: Files) -> Outcome:
    """Time NumPy copying the arrays that matching reads, the best of ten; `size` is their bytes."""
    corpus, (run,) = load_gold_and_runs(str(data.gold), [str(data.predictions)], text=False)
    pairing = Evaluation.from_data(Request.from_options(measures="strong:micro.f1"), corpus, run).inputs.pairing()
    gold, predictions = pairing.gold_block(0, len(corpus)), pairing.prediction_block(0, len(corpus))
    sides = [
        array
        for side in (gold.items, predictions.items)
        for array in (side.document, side.start, side.end, side.entity)
    ]
    arrays = [*sides, gold.mention, gold.parent, gold.optional, predictions.score]
    targets = [np.ones_like(array) for array in arrays]
    repetitions = []
    for _ in range(10):
        seconds: dict[str, float] = {}
        with record_time(seconds, "copy"):
            for array, target in zip(arrays, targets, strict=True):
                np.copyto(target, array)
        repetitions.append(seconds)
    return Outcome(
        min(repetitions, key=lambda repetition: repetition["copy"]),
        peak_memory(),
        {},
        sum(array.nbytes for array in arrays),
    )


def run_nervaluate_on_spans(data: Files) -> Outcome:
    """Time nervaluate on both Parquet files with the same label for all spans, its least work."""
    return _run_nervaluate(data, lambda entity: "mention", None)


def run_nervaluate_on_links(data: Files) -> Outcome:
    """Time nervaluate on the first 100 documents with entities as labels; it visits all labels in every document."""
    return _run_nervaluate(data, lambda entity: entity or "NIL", 100)


def _run_nervaluate(data: Files, label: Callable[[str | None], str], documents: int | None) -> Outcome:
    """Time nervaluate on the first `documents` documents (None for all); `size` is their number.

    `label`: returns the label of a span, from its entity id or None for NIL.
    """
    from nervaluate import Evaluator

    def read(path: Path, items: str) -> list[list[dict[str, object]]]:
        rows = pq.read_table(path, columns=[items]).column(items).slice(0, documents).to_pylist()
        return [  # ends are inclusive there
            [{"label": label(item["entity"]), "start": item["start"], "end": item["end"] - 1} for item in row]
            for row in rows
        ]

    seconds: dict[str, float] = {}
    with record_time(seconds, "read"):
        gold, predictions = read(data.gold, "labels"), read(data.predictions, "predictions")
        labels = list({str(item["label"]) for side in (gold, predictions) for row in side for item in row})
    with record_time(seconds, "load"):
        evaluator = Evaluator(gold, predictions, tags=labels, loader="dict")
    with record_time(seconds, "evaluate"):
        strict = evaluator.evaluate()["overall"]["strict"]
    assert strict.possible == sum(map(len, gold))
    assert strict.actual == sum(map(len, predictions))
    correct = strict.correct
    counts = Counts(correct, strict.actual - correct, strict.possible - correct, 0.0)
    return Outcome(seconds, peak_memory(), {"strict": counts}, len(gold))


def measure_start_memory(data: Files) -> Outcome:
    """Measure the peak memory before any file is opened; `data` is ignored."""
    karat.evaluate(karat.load("demo"), karat.load_run("demo/perfect"))
    return Outcome({}, peak_memory(), {})


def score_with_text(data: Files) -> Outcome:
    """Time loading and scoring both files with Karat, with the texts in memory."""
    return _score_files(data, text=True)


def score_without_text(data: Files) -> Outcome:
    """Time loading and scoring both files as `karat score` does, without texts if the format allows it."""
    return _score_files(data, text=False)


def _score_files(data: Files, *, text: bool) -> Outcome:
    """Time loading both files, the first evaluation (`start`, minus the second) and a second one (`match`)."""
    relations = ("strong", "weak", "mention")
    measures = [f"{relation}:{mean}.f1" for relation in relations for mean in ("micro", "macro")]
    karat.evaluate(karat.load("demo"), karat.load_run("demo/perfect"), measures=measures)  # imports lazy modules
    seconds: dict[str, float] = {}
    with record_time(seconds, "load"):
        corpus, (run,) = load_gold_and_runs(str(data.gold), [str(data.predictions)], text=text)
    held = 0
    for part in ("start", "match"):  # the first may import modules
        corpus.cache.clear()  # so that the next evaluation starts without cached values
        with record_time(seconds, part):
            result = karat.evaluate(corpus, run, measures=measures)
        held = held or peak_memory()  # the second evaluation is only timed
    subtract_time(seconds, "start", "match")
    return Outcome(seconds, held, {relation: relation_counts(result, relation) for relation in relations})


def match_arrays(data: Files) -> Outcome:
    """Time matching alone (select, align, judge and count) from loaded arrays, after a first pass (`start`)."""
    corpus, (run,) = load_gold_and_runs(str(data.gold), [str(data.predictions)])
    measures = [f"{relation}:micro.f1" for relation in ("strong", "weak", "mention")]
    seconds: dict[str, float] = {}
    for part in ("start", *["match"] * 5):
        evaluation = Evaluation.from_data(Request.from_options(measures=measures), corpus, run)
        evaluation.inputs.pairing()
        with record_time(seconds, part):
            evaluation.block.weights("strong")
    subtract_time(seconds, "start", "match")
    return Outcome(seconds, peak_memory(), {})


def score_by_document(data: Files) -> Outcome:
    """Time the evaluation of ten views, without and with the scores of every document; `size` is their number."""
    corpus, (run,) = load_gold_and_runs(str(data.gold), [str(data.predictions)], text=False)
    relations = ("strong", "weak", "mention", "mention-weak", "entity")
    parts = ("strong[nil]", "strong[in-kb]", "weak[nil]", "weak[in-kb]", "mention[in-kb]")
    measures = [f"{view}:micro.f1" for view in (*relations, *parts)]
    karat.evaluate(karat.load("demo"), karat.load_run("demo/noisy"), measures=measures, by="doc")
    seconds: dict[str, float] = {}
    with record_time(seconds, "views"):
        karat.evaluate(corpus, run, measures=measures)
    with record_time(seconds, "by doc"):
        result = karat.evaluate(corpus, run, measures=measures, by="doc")
    assert all(len(groups) == len(corpus) for groups in result.groups["doc"].values())
    return Outcome(seconds, peak_memory(), {}, len(corpus))


def score_many_runs(data: Files) -> Outcome:
    """Time the evaluation of 5,000 runs on one document together, and of 500 one by one; `data` is ignored."""
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    document = karat.Corpus.from_documents([next(iter(corpus))])
    many_runs = _thin_out(karat.Run.from_responses(a for a in run if a.id == document.ids[0].as_py()), 5_000)
    first = karat.evaluate_runs(document, many_runs[:10])
    assert [dict(scores.scores) for scores in first] == [
        {name: karat.evaluate(document, single_run).score(name) for name in scores}
        for scores, single_run in zip(first, many_runs, strict=False)
    ]
    seconds: dict[str, float] = {}
    with record_time(seconds, "together"):
        karat.evaluate_runs(document, many_runs)
    with record_time(seconds, "500 alone"):
        for single_run in many_runs[:500]:
            assert karat.evaluate(document, single_run)["strong:micro.f1"] is not None
    return Outcome(seconds, peak_memory(), {}, len(many_runs))


def _thin_out(run: karat.Run, count: int) -> list[karat.Run]:
    """Return `count` runs, each with a random 80 % of the predictions."""
    rng = np.random.default_rng(1)
    return [
        karat.Run.from_responses(
            msgspec.structs.replace(response, predictions=tuple(a for a in response.predictions if rng.random() < 0.8))
            for response in run
        )
        for _ in range(count)
    ]


def explain_gaps(data: Files) -> Outcome:
    """Time gap explanations of 1, 10 and 100 systems on one small corpus; `data` is ignored, `size` is the mixtures."""
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    explanation = karat.explain_gap(corpus, run, reference_profile="gerbil")  # imports lazy modules
    seconds: dict[str, float] = {}
    for count in (1, 10, 100):
        runs = _thin_out(run, count)
        with record_time(seconds, f"{count} systems"):
            for single_run in runs:
                karat.explain_gap(corpus, single_run, reference_profile="gerbil")
    return Outcome(seconds, peak_memory(), {}, explanation.n_mixtures)


def compute_curve(data: Files) -> Outcome:
    """Time the threshold curve at every distinct score, given the verdicts, and for comparison sorting the scores."""
    corpus, (run,) = load_gold_and_runs(str(data.gold), [str(data.predictions)], text=False)
    evaluation = Evaluation.from_data(Request.from_options(measures="strong:micro.f1"), corpus, run)
    plan, pairing = evaluation.plan_view(evaluation.request.all_measures[0].view), evaluation.inputs.pairing()
    everything = (0, len(corpus))
    gold, items = pairing.gold_block(*everything), pairing.prediction_block(*everything).items
    score = np.random.default_rng(1).random(len(items))  # all different: as many thresholds as predictions
    predictions = PredictedItems(items, score)
    cases = plan.judge(gold, predictions, PairCache())
    simple = np.ones(len(corpus), np.bool_)
    seconds: dict[str, float] = {}
    with record_time(seconds, "sort"):
        np.sort(score)
    with record_time(seconds, "order"):
        np.argsort(score)
    with record_time(seconds, "curve"):
        steps = steps_from_cases(cases, predictions, *everything, simple)
        points, _ = cumulate_changes(steps.score, steps.kind, steps.kinds)
    assert len(points) == len(score)
    return Outcome(seconds, peak_memory(), {})


def compute_neleval_measures(data: Files) -> Outcome:
    """Time all of neleval's default measures with intervals, for five systems that differ in the threshold."""
    corpus, (run,) = load_gold_and_runs(str(data.gold), [str(data.predictions)], text=False)
    karat.evaluate(karat.load("demo"), karat.load_run("demo/noisy"), profile="neleval", resamples=10)
    seconds: dict[str, float] = {}
    with record_time(seconds, "score"):
        for system in range(5):
            result = karat.evaluate(
                corpus, run, profile="neleval", resamples=1000, settings={"threshold": f">{system / 20}"}
            )
            assert len(result.table_measures) == 3 * 19
            assert len(result.intervals) == 3 * 10
    return Outcome(seconds, peak_memory(), {})


def read_formats(data: Files) -> Outcome:
    """Time reading NIF and ELEVANT's format into columns, and bare parsers on the same bytes."""
    import pyoxigraph

    corpus = karat.load(data.gold)
    seconds: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        turtle, elevant = Path(folder) / "gold.ttl", Path(folder) / "gold.elevant.jsonl"
        karat.save(corpus, turtle, format="nif")
        karat.save(corpus, elevant, format="elevant")
        turtle_bytes = turtle.read_bytes()
        with record_time(seconds, "bare NIF"):
            triples = pyoxigraph.parse(turtle_bytes, pyoxigraph.RdfFormat.TURTLE, lenient=True)
            deque(((t.subject.value, t.predicate.value, t.object.value) for t in triples), maxlen=0)
        with record_time(seconds, "NIF"):
            karat.load(turtle, format="nif")
        lines = elevant.read_bytes().splitlines()
        typed = msgspec.json.Decoder(ElevantDocument)
        with record_time(seconds, "bare ELEVANT"):
            for line in lines:
                typed.decode(line)
        with record_time(seconds, "ELEVANT"):
            karat.load(elevant, format="elevant")
    return Outcome(seconds, peak_memory(), {})


def relation_counts(result: karat.Result, relation: str) -> Counts:
    """Return the counts of a match relation in a result, in the type of the plain implementation."""
    counts = result.counts(relation)
    macro = result[f"{relation}:macro.f1"]
    assert macro is not None
    return Counts(int(counts.matched_predictions), int(counts.unmatched_predictions), int(counts.unmatched_gold), macro)


def peak_memory() -> int:
    """Return the peak memory of this process in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Run the job that the command line names, and print its outcome as JSON."""
    job, gold, predictions = sys.argv[1:]
    jobs = {
        "parse": parse_objects,
        "plain": read_and_match,
        "objects": read_and_match_objects,
        "columns": read_columns,
        "arrow": read_with_arrow,
        "copy": copy_arrays,
        "nervaluate": run_nervaluate_on_spans,
        "nervaluate-links": run_nervaluate_on_links,
        "nothing": measure_start_memory,
        "karat": score_with_text,
        "karat-without-text": score_without_text,
        "karat-matching": match_arrays,
        "by-document": score_by_document,
        "runs": score_many_runs,
        "why": explain_gaps,
        "curve": compute_curve,
        "neleval": compute_neleval_measures,
        "formats": read_formats,
    }
    print(jobs[job](Files(Path(gold), Path(predictions))).to_json())


if __name__ == "__main__":
    main()
