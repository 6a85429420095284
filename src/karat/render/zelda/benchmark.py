"""A sampled benchmark, as text and JSON."""

from __future__ import annotations

from karat.model.output.json_files import JsonFile, JsonRecord, encode_indented
from karat.model.output.text_layout import wrap_text
from karat.protocols.zelda.sampled_benchmark import SampledBenchmark, TextStatistics
from karat.render.tables import draw_text
from karat.render.zelda.scores import UNDEFINED


class TextRecord(JsonRecord, frozen=True, kw_only=True):
    """Statistics of a split, as in Table 2 of the paper."""

    documents: int
    tokens: int
    mean_length: float | None
    entities: int
    mentions: int


class BenchmarkFile(JsonFile, frozen=True, tag="karat-zelda-sample/2", kw_only=True):
    """The output of `karat zelda sample --json`.

    `entities_reached`: test entities with at least `threshold` mentions. `entities_exhausted`: test entities with all
    their links sampled. `entities_absent`: test entities without links. `described_entities`: entities with a
    description.
    """

    folder: str
    threshold: int
    seed: int
    sections_read: int
    sections_eligible: int
    sections_drawn: int
    test_entities: int
    entities_reached: int
    entities_exhausted: int
    entities_absent: int
    vocabulary_size: int
    described_entities: int | None
    excluded: dict[str, int]
    train: TextRecord
    tests: dict[str, TextRecord]


def to_json(benchmark: SampledBenchmark) -> bytes:
    """Encode a sampled benchmark as indented JSON."""
    return encode_indented(
        BenchmarkFile(
            folder=benchmark.folder,
            threshold=benchmark.threshold,
            seed=benchmark.seed,
            sections_read=benchmark.sections_read,
            sections_eligible=benchmark.sections_eligible,
            sections_drawn=benchmark.sections_drawn,
            test_entities=benchmark.test_entities,
            entities_reached=benchmark.entities_reached,
            entities_exhausted=benchmark.entities_exhausted,
            entities_absent=benchmark.entities_absent,
            vocabulary_size=benchmark.vocabulary_size,
            described_entities=benchmark.described_entities,
            excluded=dict(benchmark.excluded),
            train=_build_text_record(benchmark.train),
            tests={split: _build_text_record(statistics) for split, statistics in benchmark.tests.items()},
        )
    )


def _build_text_record(statistics: TextStatistics) -> TextRecord:
    """Return the JSON record of the statistics of a split."""
    return TextRecord(
        documents=statistics.documents,
        tokens=statistics.tokens,
        mean_length=statistics.mean_length,
        entities=statistics.entities,
        mentions=statistics.mentions,
    )


def render_page(benchmark: SampledBenchmark, width: int | None = None) -> str:
    """Render a sampled benchmark: Table 2 of the paper, the coverage of test entities and the exclusions.

    `width`: columns to wrap at; None does not wrap.
    """
    head = ["", "documents", "mean length", "entities", "mentions"]
    rows = [_build_row(split, statistics) for split, statistics in benchmark.tests.items()]
    lines = [
        f"{benchmark.folder}: {benchmark.train.documents:,} sections sampled in {benchmark.sections_drawn:,} draws of "
        f"{benchmark.sections_eligible:,} that "
        f"link a test entity, of {benchmark.sections_read:,}",
        f"of {benchmark.test_entities:,} test entities {benchmark.entities_reached:,} were "
        f"sampled {benchmark.threshold} times or more, "
        f"{benchmark.entities_exhausted:,} as often as there are links, {benchmark.entities_absent:,} never",
        f"vocabulary: {benchmark.vocabulary_size:,} entities"
        + ("" if benchmark.described_entities is None else f", {benchmark.described_entities:,} of them described"),
        *(f"{reason}: {count:,}" for reason, count in benchmark.excluded.items()),
    ]
    table = draw_text([head, *rows, _build_row("training text", benchmark.train)], width=width)
    return "\n\n".join([table, wrap_text("\n".join(lines), width)]) + "\n"


def _build_row(name: str, statistics: TextStatistics) -> list[str]:
    """Return the row of a split in the table of statistics."""
    length = UNDEFINED if statistics.mean_length is None else f"{statistics.mean_length:.1f}"
    return [name, f"{statistics.documents:,}", length, f"{statistics.entities:,}", f"{statistics.mentions:,}"]
