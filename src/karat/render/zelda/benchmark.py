"""A sampled benchmark and the statistics of test sets, as text and JSON."""

from __future__ import annotations

from typing import Final

from karat.model.output.text_layout import wrap_text
from karat.protocols.zelda.sampled_benchmark import SampledBenchmark
from karat.protocols.zelda.texts.statistics import BenchmarkStatistics, TextStatistics, Tokeniser
from karat.render.tables import UNDEFINED, draw_text


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
    return "\n\n".join([table, wrap_text("\n".join([*lines, _describe_length("words")]), width)]) + "\n"


def _build_row(name: str, statistics: TextStatistics) -> list[str]:
    """Return the row of a split in the table of statistics."""
    length = UNDEFINED if statistics.mean_length is None else f"{statistics.mean_length:.1f}"
    return [name, f"{statistics.documents:,}", length, f"{statistics.entities:,}", f"{statistics.mentions:,}"]


_TOKENS: Final = {
    "spacy": "spaCy's tokens of English without white space",
    "words": "words and punctuation marks; the paper counts spaCy's tokens",
    "spaces": "what spaces separate",
}


def _describe_length(tokens: Tokeniser) -> str:
    """Return the note on the tokens that lengths count."""
    return f"mean length: {_TOKENS[tokens]}"


def render_statistics(statistics: BenchmarkStatistics, width: int | None = None) -> str:
    """Render the statistics of test sets as Table 2 of the paper; `width`: columns to wrap at, None does not wrap."""
    head = ["", "domain", "document type", "documents", "mean length", "entities", "mentions"]
    rows = []
    for split, counts in statistics.tests.items():
        name, *cells = _build_row(split, counts)
        rows.append([name, counts.domain or UNDEFINED, counts.document_type or UNDEFINED, *cells])
    note = _describe_length(statistics.tokens)
    return "\n\n".join([draw_text([head, *rows], width=width), wrap_text(note, width)]) + "\n"
