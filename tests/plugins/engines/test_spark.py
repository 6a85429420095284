"""Spark in local mode finds what scoring in memory finds. Few tests, in one session: Spark takes its time to start."""

from __future__ import annotations

import numpy as np
import pytest

import karat
from karat.model.errors import InputError
from tests.conftest import with_settings
from tests.plugins.engines.parts import both, loaded, told, write_parts

pytestmark = [pytest.mark.extras, pytest.mark.usefixtures("spark", "small_blocks")]

HOW = [
    {"profile": "karat"},
    {"profile": "gerbil", "prefixes": "Q"},
    {"profile": "bat"},
    {"profile": "elevant", "by": ["error"]},
    {"profile": "finegrained", "by": ["types"]},
    {"profile": "hipe"},
    {"profile": "neleval", "measures": ["all-coref", "sets:is_linked:kbid", "strong:micro.f1"]},
]


def test_finds_what_memory_finds(tmp_path):
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    rng = np.random.default_rng(7)
    write_parts(corpus, tmp_path / "gold", 3, order=rng.permutation(len(corpus)), empty=True)
    write_parts(run, tmp_path / "predictions", 2, order=rng.permutation(len(run)))
    sides, here = both(tmp_path), loaded(tmp_path)
    for how in HOW:
        found, expected = (
            karat.evaluate(*sides, engine="spark", **with_settings(how)),
            karat.evaluate(*here, **with_settings(how)),
        )
        assert told(found) == told(expected), how
    assert found.verdicts.combine_chunks().equals(expected.verdicts.combine_chunks())


def test_says_what_is_wrong_and_where(tmp_path):
    corpus, run = karat.load("demo"), karat.load_run("demo/noisy")
    write_parts(corpus, tmp_path / "gold", 2)
    write_parts(run, tmp_path / "predictions", 2, order=[*range(len(run)), 0])
    with pytest.raises(InputError, match="a second time") as problem:
        karat.evaluate(*both(tmp_path), engine="spark")
    assert problem.value.where == f"{tmp_path / 'predictions' / 'part-001.parquet'}: row 25"
