"""JUnit XML for CI systems: one test for each measure of each run, skipped if it is undefined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from karat.model.results.result import Result
from karat.model.spec.report import Report

_INVALID_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _render(results: Sequence[Result]) -> str:
    """Return the results as JUnit XML, with one test suite for each result."""
    suites = "".join(map(_format_suite, results))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="karat">\n{suites}</testsuites>\n'


def _format_suite(result: Result) -> str:
    """Return the XML of one result: a test suite with a test case for each table measure."""
    skipped = sum(result.score(name).value is None for name in result.table_measures)
    counts = f'tests="{len(result.table_measures)}" failures="0" errors="0" skipped="{skipped}"'
    cases = "".join(_format_case(result, name) for name in result.table_measures)
    signature = f"    <system-out>{escape(_replace_invalid(str(result.signature)))}</system-out>\n"
    name = _quote_attribute(f"{result.run} on {result.corpus}")
    return f"  <testsuite name={name} {counts}>\n{cases}{signature}  </testsuite>\n"


def _format_case(result: Result, name: str) -> str:
    """Return the XML of one measure: a test case with the score in percent; skipped if the score is undefined."""
    score = result.score(name)
    head = f"    <testcase classname={_quote_attribute(result.run)} name={_quote_attribute(name)}>"
    if score.value is None:
        return f"{head}<skipped message={_quote_attribute(score.reason or 'undefined')}/></testcase>\n"
    oracle = " (oracle)" if result.is_selected_on_corpus or result.has_oracle_threshold(name) else ""
    return f"{head}<system-out>{100 * score.value:.2f}{oracle}</system-out></testcase>\n"


def _replace_invalid(text: str) -> str:
    """Return `text` with a replacement character for each character that XML does not allow."""
    return _INVALID_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _quote_attribute(text: str) -> str:
    """Return `text` as a quoted value of an XML attribute."""
    return quoteattr(_replace_invalid(text))


REPORT = Report(title="JUnit XML", suffix=".xml", render=_render)
