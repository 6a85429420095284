"""What is wrong with a measure, format or system, in words: a plugin keeps its contract if there is nothing to say."""

from __future__ import annotations

import ast
import math
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.model.errors import KaratError
from karat.model.results.ranking import Ranking
from karat.model.results.statistics import Statistics
from karat.model.spec.format import Format
from karat.model.spec.measure import UNDEFINED_CASES, Measure
from karat.model.spec.settings.empty import EMPTY
from karat.model.spec.system import System, SystemSample, parse_options
from karat.storage.files import Source
from karat.storage.retry import RetryPolicy, use_retry_policy
from karat.systems import telemetry
from tests.systems.running.loopback import Played, playing

NOTHING_TO_FIND = "there are no gold entities"
ROWS = Statistics(np.array(list(product((0.0, 1.0, 2.5), repeat=4))))
"""Matched and unmatched predictions, matched and unmatched gold: everything that can be empty, is, beside all else."""

RANKING = Ranking(
    4,
    document=np.array([0, 0, 1, 3]),
    gain=np.array([0.0, 1.0, 0.0, 0.0]),
    gold_document=np.array([0, 1, 1]),
    gold_gain=np.array([1.0, 1.0, 2.0]),
)
"""One is found, two are missed; of the last two documents one has no prediction either."""


def of_measure(measure: Measure) -> list[str]:
    """What a measure says and does not do."""
    found = [f"it has no {word}" for word in ("title", "formula", "undefined_case") if not getattr(measure, word)]
    ways = {"from_statistics": _values, "from_measures": _derived, "from_ranking": _ranked, "from_scores": _scored}
    given = [way for way in ways if getattr(measure, way) is not None]
    if len(given) != 1:
        return [*found, f"it is made in {len(given)} of four ways ({', '.join(ways)}), not in one"]
    return [*found, *ways[given[0]](measure)]


def _values(measure: Measure) -> Iterator[str]:
    lacking = measure.undefined_mask or UNDEFINED_CASES.get(measure.undefined_case)
    if lacking is None:
        known = "; ".join(UNDEFINED_CASES)
        yield f"nobody can test {measure.undefined_case!r}: say it as one of {known}, or give undefined_mask"
        return
    for rule, level, empty in ((name, *each) for name, own in EMPTY.items() for each in own.tables().items()):
        values = measure.from_statistics(ROWS, empty)
        if np.shape(values) != (len(ROWS),):
            yield f"{len(ROWS)} rows of statistics give values of shape {np.shape(values)}"
            return
        wrong = ~(np.isnan(values) | ((values >= 0) & (values <= 1)))
        if wrong.any():
            yield f"empty={rule}, {level}: {values[wrong][0]} is no share, of {_row(wrong)}"
    values, said = measure.from_statistics(ROWS, EMPTY["fair"].totals), lacking(ROWS)
    for mask, does in ((np.isnan(values) & ~said, "NaN where that is not so"), (~np.isnan(values) & said, "a value")):
        if mask.any():
            yield f"it says that it is undefined where {measure.undefined_case}, and gives {does}: of {_row(mask)}"


def _row(mask: np.ndarray) -> str:
    names = ("matched predictions", "unmatched predictions", "matched gold", "unmatched gold")
    return ", ".join(
        f"{name} {value:g}" for name, value in zip(names, ROWS.weights[np.argmax(mask)].tolist(), strict=True)
    )


def _ranked(measure: Measure) -> Iterator[str]:
    if measure.undefined_case != NOTHING_TO_FIND:
        yield f"nobody can test {measure.undefined_case!r} of ranked predictions: say {NOTHING_TO_FIND!r}"
    values = measure.from_ranking(RANKING, None if measure.cutoff == "none" else 2)
    empty = RANKING.n_gold == 0
    if np.shape(values) != (4,):
        yield f"4 documents give values of shape {np.shape(values)}"
    elif (np.isnan(values) != empty).any():
        yield f"it says that it is undefined where {measure.undefined_case}, and gives {values.tolist()}: that is "
        f"{empty}"


def _scored(measure: Measure) -> Iterator[str]:
    none = measure.from_scores(np.zeros(0), np.zeros(0))
    if none is not None:
        yield f"it says that it is undefined where {measure.undefined_case}, and gives {none} for no prediction"
    for score, right in (([0.5], [1.0]), ([0.9, 0.2, 0.2], [0.0, 1.0, 0.5]), ([0.0, 1.0], [0.0, 0.0])):
        value = measure.from_scores(np.array(score), np.array(right))
        if value is None or not math.isfinite(value):
            yield f"it gives {value} for scores {score}, of which right are {right}, and not undefined"


def _derived(measure: Measure) -> Iterator[str]:
    for what, view in _views():
        value, _, reason = measure.from_measures(view)
        if value is not None and not math.isfinite(value):
            yield f"it gives {value} of {what}, which is no number: it is None with a reason"
        elif (value is None) != (reason is not None):
            yield f"it gives {value} of {what} with the reason {reason!r}: None has one, and nothing else has"


def _views():
    """Views of a strong match with detection, in which one side or another has nothing."""
    mentions = (Label(0, 3, "Q1"), Label(8, 11, "Q2"))
    right = (Prediction(0, 3, "Q1"), Prediction(8, 11, "Q3"))
    for what, labels, predictions in (
        ("two mentions and predictions", mentions, right),
        ("mentions without predictions", mentions, ()),
        ("predictions without mentions", (), right),
        ("nothing", (), ()),
    ):
        sides = (
            Corpus.from_documents([Document("d", "Ada met Bob.", labels)]),
            Run.from_responses([Response("d", predictions)]),
        )
        result = karat.evaluate(*sides, measures=["strong:accuracy", "strong:micro.f1"])
        yield what, result.evaluation.views["strong"]


def of_format(known: Format, folder: Path) -> list[str]:
    """What a format says and does not do, as far as a sample shows; what it writes is tried elsewhere."""
    reads = known.read_corpus or known.read_run
    if known.sample is None:
        writes = known.write_corpus is not None or known.write_run is not None
        return [] if writes or reads is None else ["it has no sample of its own, so that nothing tries its reader"]
    if reads is None:
        return ["it has a sample and reads nothing"]
    for name, content in known.sample.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return list(_read(known, Source(str(folder / known.sample.main_file))))


def _read(known: Format, source: Source) -> Iterator[str]:
    sample = known.sample
    try:
        found = known.read_corpus(source, True) if known.read_corpus is not None else known.read_run(source)
    except KaratError as problem:
        yield f"it does not read its own sample: {problem}"
        return
    sides = found.labels if isinstance(found, Corpus) else found.predictions
    counted, said = (len(found), len(sides)), (sample.documents, sample.mentions)
    if counted != said:
        yield f"its sample has {said} documents and mentions, as it says, and it reads {counted}"
    if not len(sides) and not any(document.tags for document in found):
        yield "its sample has nothing to score"


OUTSIDE = {
    "httpx",
    "requests",
    "socket",
    "subprocess",
    "urllib.request",
    "karat.storage.processes",
    "karat.systems.adapters.program",
    "karat.systems.adapters.web_service",
}
"""Modules with which a system reaches a service or a program."""

PROGRAM = """
import sys
for line in sys.stdin:
    print({reply!r}, flush=True)
"""


def of_system(system: System, folder: Path) -> list[str]:
    """List what is wrong with a system; `folder` is empty. Its sample replaces the service or package."""
    path = sys.modules[system.start.__module__].__file__
    imports = _imported(ast.parse(Path(path).read_text(encoding="utf-8"))) & OUTSIDE
    if system.external_access is None:
        return [f"it imports {name}, so that it needs external_access and a sample" for name in sorted(imports)]
    if system.sample is None:
        return [
            "it talks to something outside Karat, and nothing tests how it reads replies. Add "
            "sample=SystemSample(text=…, options=…, reply=…, predictions=…) to its SYSTEM, with a made-up reply in the "
            "real layout; see System in CONTRIBUTING.md"
        ]
    return list(_run_sample(system, system.sample, folder))


def _imported(tree: ast.Module) -> set[str]:
    """Return the names of the modules that a file imports anywhere."""
    nodes = list(ast.walk(tree))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module for node in nodes if isinstance(node, ast.ImportFrom)}


def _run_sample(system: System, sample: SystemSample, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the predictions of a system whose service or package is played by its sample."""
    if not sample.predictions:
        yield "its sample has no predictions, so that nothing is compared"
    if not sample.reply and not sample.package:
        yield "its sample has neither a reply nor a package"
        return
    for name, content in sample.package.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    program = folder / "sample_program.py"
    program.write_text(PROGRAM.format(reply=sample.reply), encoding="utf-8")
    document = Document("d", sample.text, tuple(Label(start, end) for start, end in sample.gold_mentions))
    with playing(lambda _: Played(sample.reply.encode())) as server:
        values = {
            "{url}": server.address,
            "{command}": shlex.join([sys.executable, str(program)]),
            "{python}": sys.executable,
        }
        options = parse_options(
            system, {name: values.get(value, value) for name, value in sample.options.items()}, system.title
        )
        key = getattr(options, "key", "")
        with (
            patch.dict(telemetry._secrets),  # the key of a sample is no secret of later tests
            patch.dict(os.environ, {"PYTHONPATH": str(folder)} | ({key: "secret"} if key else {})),
            use_retry_policy(RetryPolicy(attempts=1)),
            closing(system.start(options, bool(sample.gold_mentions))) as link,
        ):
            (response,) = link([document])
        was_asked = bool(server.asked)
    if response.error is not None:
        yield f"it does not read its own sample: {response.error}"
    elif response.predictions != sample.predictions:
        yield f"it reads {response.predictions} from its sample, and the sample says {sample.predictions}"
    if "{url}" in sample.options.values() and not was_asked:
        yield "it does not ask the service at {url}"
