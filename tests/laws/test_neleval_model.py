"""neleval's clusterings and shares of characters against a plain model of its program, on files with all oddities."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import karat
from tests.conftest import with_settings

SPANS = st.sampled_from([(0, 2), (0, 4), (1, 2), (3, 6), (3, 3), (7, 9)])
IDS = st.sampled_from(["Q1", "Q2", "NIL1", None])
LINES = st.lists(st.tuples(st.sampled_from(["a", "b"]), SPANS, IDS), min_size=1, max_size=8)


def _sorted(lines):
    """Lines by document as they first occur, then by start and falling end, as neleval reads them."""
    documents = list(dict.fromkeys(document for document, _, _ in lines))
    return sorted(lines, key=lambda line: (documents.index(line[0]), line[1][0], -line[1][1]))


def _clusters(lines):
    clusters = {}
    for document, span, entity in _sorted(lines):
        clusters.setdefault(entity, set()).add((document, span))
    return clusters


def _last(clusters):
    return {mention: entity for entity, mentions in clusters.items() for mention in mentions}


def _muc(side, other):
    last = _last(other)
    links = sum(len(c) - 1 for c in side.values())
    common = [[last[mention] for mention in c if mention in last] for c in side.values()]
    return sum(len(entities) - len(set(entities)) for entities in common), links


def _b_cubed(side, other):
    mine, theirs = _last(side), _last(other)
    shares = [
        len(side[entity] & other.get(theirs.get(mention), set())) / len(side[entity])
        for mention, entity in mine.items()
    ]
    return sum(shares), len(shares)


def _pairwise(side, other):
    pairs = [{frozenset(pair) for pair in combinations(c, 2)} for c in side.values()]
    others = [{frozenset(pair) for pair in combinations(c, 2)} for c in other.values()]
    return sum(len(one & two) for one in pairs for two in others), sum(map(len, pairs))


def _shares(lines, others, is_gold, mode):
    """The share of each line that its neighbours on the other side cover, each compared with the one before it."""
    total = 0.0
    marked = [(line, is_gold) for line in lines] + [(line, not is_gold) for line in others]
    # Of equal spans, those of the system come first.
    marked.sort(key=lambda pair: (pair[0][0], pair[0][1][0], -pair[0][1][1], pair[1]))
    for index, ((document, (start, end), _), side) in enumerate(marked):
        if side is not is_gold:
            continue
        covered = []
        before = [pair for pair in marked[:index] if pair[1] is not side]
        met = before[-1:]
        for pair in marked[index + 1 :]:
            if pair[1] is side:
                break
            met.append(pair)
        for (other_document, (other_start, other_end), _), _ in met:
            if other_document == document:
                covered.append(set(range(max(start, other_start), min(end, other_end) + 1)))
        sizes = [len(characters) for characters in covered] or [0]
        total += (max(sizes) if mode == "max" else len(set().union(*covered))) / (end - start + 1)
    return total, len(lines)


def _ratio(numerator, denominator):
    return numerator / denominator if denominator else 0.0


@settings(max_examples=40)
@given(LINES, LINES)
@example(  # the second NIL1 would make its cluster the last one
    [("a", (0, 2), "Q1")] * 2
    + [("a", (1, 2), "NIL1"), ("a", (1, 2), "Q2"), ("a", (1, 2), "NIL1"), ("a", (3, 6), "Q2")],
    [("a", (1, 2), "Q1")],
)
def test_karat_agrees_with_a_model_of_neleval(gold, predictions):
    gold.sort(key=lambda line: line[0])  # documents in the same order on both sides
    predictions.sort(key=lambda line: line[0])
    if {line[0] for line in predictions} - {line[0] for line in gold}:
        gold.append(("a", (9, 9), "Q1"))
        gold.append(("b", (9, 9), "Q1"))
    gold = [line for name in ("a", "b") for line in gold if line[0] == name]
    truth, system = _clusters(gold), _clusters(predictions)
    expected = {
        name: (_ratio(*function(system, truth)), _ratio(*function(truth, system)))
        for name, function in {"muc": _muc, "b_cubed": _b_cubed, "pairwise": _pairwise}.items()
    }
    for recall, precision in (("max", "sum"), ("sum", "max")):
        expected[f"overlap-{recall}{precision}::span"] = (
            _ratio(*_shares(predictions, gold, False, precision)),
            _ratio(*_shares(gold, predictions, True, recall)),
        )
    with TemporaryDirectory() as folder:
        for name, lines in (("gold", gold), ("run", predictions)):
            rows = ["\t".join(map(str, (d, *span, *([] if e is None else [e])))) for d, span, e in lines]
            (Path(folder) / f"{name}.tab").write_text("\n".join([*rows, ""]))
        corpus = karat.load(Path(folder) / "gold.tab", format="neleval")
        run = karat.load_run(Path(folder) / "run.tab", format="neleval")
    for options in ({}, {"engine": "local"}):
        result = karat.evaluate(corpus, run, profile="neleval", measures=list(expected), **with_settings(options))
        for name, (p, r) in expected.items():
            assert (result[f"{name}:micro.p"], result[f"{name}:micro.r"]) == pytest.approx((p, r)), (name, options)
