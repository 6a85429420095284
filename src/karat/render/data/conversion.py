"""The outcome of a conversion to another format."""

from __future__ import annotations

from collections.abc import Mapping

from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import name_locations
from karat.model.output.text_layout import format_count
from karat.model.results.failures import describe_failures, group_by_error
from karat.model.run import Run
from karat.model.spec.format import Format

_MAX_FAILED = 5  # documents named for each error


def render_page(source: str, data: Corpus | Run, target: Format, losses: Mapping[str, int]) -> str:
    """Render the size of the converted data, the items that the reader skipped, and those that the format cannot store.

    `source`: name of the input. `losses`: number of items that are not stored, by description.
    """
    items = (
        format_count(len(data.labels), "label")
        if isinstance(data, Corpus)
        else format_count(len(data.predictions), "prediction")
    )
    lines = [f"{source}: {format_count(len(data), 'document')}, {items} to {target.title}"]
    lines += _describe_failures(data) if isinstance(data, Run) else []
    lines += [f"  read: {name} {count}" for name, count in name_locations(data.skipped).items()]
    lines += [f"  not stored: {name} {count}" for name, count in losses.items()]
    return "\n".join(lines) + "\n"


def _describe_failures(run: Run) -> list[str]:
    """Return a line that counts the failed documents and names the first ones by error; empty if there are none."""
    failed = group_by_error((response.id, response.error) for response in run if response.error is not None)
    if not failed:
        return []
    return [f"  failed documents: {sum(map(len, failed.values()))}: {describe_failures(failed, _MAX_FAILED)}"]
