"""A fault at any write, flush, rename or creation leaves the old or the new state, and the next run works."""

import os
from json import JSONDecodeError

import pytest

from tests.storage.sweep import FAULTS, sweep
from tests.storage.tracer import SUPPORTED, Tracer

pytestmark = pytest.mark.skipif(not SUPPORTED, reason="the tracer needs Linux on x86-64")

# Every n-th call of a command gets a fault here, so that this takes minutes; `make test-long` takes every call.
STEPS = {
    "score": 1,
    "score --verdicts": 2,
    "score .gz": 3,
    "score .zst": 3,
    "convert": 1,
    "convert parquet": 2,
    "convert folder": 3,
    "report --to html": 3,
    "report --archive": 9,
    "report --archive (new)": 13,
    "kb import": 31,
    "kb import (new)": 37,
    "run": 4,
    "run a service": 4,
    "verify create": 23,
    "verify judge": 23,
    "verify export": 7,
    "verify backup": 7,
    "verify restore": 23,
}


@pytest.fixture(scope="module")
def tracer():
    tracer = Tracer()
    try:
        tracer.run(["--version"], "/tmp")
    except JSONDecodeError:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("this system forbids tracing")
    yield tracer
    tracer.close()


def test_a_fault_at_any_call_of_score(tmp_path, tracer):
    check("score", tmp_path, tracer)


@pytest.mark.extras
@pytest.mark.parametrize("name", [name for name in STEPS if name != "score"])
def test_a_fault_at_any_call(tmp_path, tracer, name):
    check(name, tmp_path, tracer)


def check(name, folder, tracer):
    from tests.storage.scenarios import SCENARIOS

    faults = sweep(SCENARIOS[name], folder, tracer, step=STEPS[name])
    assert {fault.kind for fault in faults} == {*FAULTS}
    assert [fault for fault in faults if fault.complaints] == []


def test_the_sweep_finds_a_file_that_is_written_in_place(tmp_path, tracer):
    from tests.storage.scenarios import read_files, write_inputs
    from tests.storage.sweep import Scenario

    scenario = Scenario(
        lambda _: ["python:tests.storage.test_faults:write_in_place", "out.json"],
        lambda folder: write_inputs(folder, "out.json"),
        read_files("out.json"),
    )
    faults = {kind: sweep(scenario, tmp_path / kind, tracer, [kind]) for kind in ("ENOSPC", "torn")}
    assert "neither the old nor the new state" in {said for fault in faults["ENOSPC"] for said in fault.complaints}
    assert "neither the old nor the new state" in {said for fault in faults["torn"] for said in fault.complaints}


def write_in_place(path):
    with open(path, "wb") as file:  # noqa: PTH123  # as one would without Karat's functions
        file.write(b"new content")
