"""JUnit, which CI systems show: a test for each measure of each run, skipped where it is undefined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from karat.model.result import Result
from karat.spec.report import Report

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _render(results: Sequence[Result]) -> str:
    suites = "".join(map(_suite, results))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="karat">\n{suites}</testsuites>\n'


def _suite(result: Result) -> str:
    skipped = sum(result.score(name).value is None for name in result.shown)
    counts = f'tests="{len(result.shown)}" failures="0" errors="0" skipped="{skipped}"'
    cases = "".join(_case(result, name) for name in result.shown)
    said = f"    <system-out>{escape(_plain(str(result.signature)))}</system-out>\n"
    return f"  <testsuite name={_name(f'{result.run} on {result.corpus}')} {counts}>\n{cases}{said}  </testsuite>\n"


def _case(result: Result, name: str) -> str:
    score = result.score(name)
    head = f"    <testcase classname={_name(result.run)} name={_name(name)}>"
    if score.value is None:
        return f"{head}<skipped message={_name(score.reason or 'undefined')}/></testcase>\n"
    return f"{head}<system-out>{100 * score.value:.2f}</system-out></testcase>\n"


def _plain(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _name(text: str) -> str:
    return quoteattr(_plain(text))


REPORT = Report(title="JUnit XML", suffix=".xml", render=_render)
