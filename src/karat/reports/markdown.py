"""A table in Markdown: measures down, runs across, for each dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from karat.model.result import Result
from karat.printable import shown
from karat.spec.report import Report

_MARKS = re.compile(r"([\\`*_{}\[\]<>|#~])")


def _render(results: Sequence[Result]) -> str:
    corpora = dict.fromkeys(result.corpus for result in results)
    blocks = [_table(name, [result for result in results if result.corpus == name]) for name in corpora]
    signatures = dict.fromkeys(f"`{shown(str(result.signature)).replace('`', '')}`" for result in results)
    return "\n\n".join([*blocks, *signatures]) + "\n"


def _table(corpus: str, results: Sequence[Result]) -> str:
    return f"### {_text(corpus)}\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in _rows(results))


def _rows(results: Sequence[Result]) -> Iterator[list[str]]:
    yield ["measure", *(_text(result.run) for result in results)]
    yield [":---", *["---:"] * len(results)]
    for name in dict.fromkeys(name for result in results for name in result.shown):
        yield [_text(name), *(_score(result, name) for result in results)]


def _score(result: Result, name: str) -> str:
    value = result[name] if name in result.shown else None
    if value is None:
        return "–"
    low, high = result.intervals.get(name, (None, None))
    between = "" if low is None or high is None else f" [{100 * low:.1f}, {100 * high:.1f}]"
    return f"{100 * value:.1f}{between}"


def _text(name: str) -> str:
    """A name as text: nothing in it is a mark."""
    return _MARKS.sub(r"\\\1", shown(name))


REPORT = Report(title="Markdown table", suffix=".md", render=_render)
