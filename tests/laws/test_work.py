"""Work that several processes share is the same work."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from karat.model.errors import InputError
from karat.model.output.progress import allow_processes, map_in_processes


def _nothing() -> None:
    pass


def _where(job: int) -> tuple[int, int]:
    return job * job, os.getpid()


def _refusing(job: int) -> int:
    if job == 1:
        raise InputError(f"job {job}", actual="one", expected="another", remedy="Give another")
    return job


@pytest.mark.parametrize("cores", [1, 2])
def test_every_job_is_done_once_and_in_order(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.model.output.progress._count_cores", lambda: cores)
    with allow_processes(_nothing):
        found = map_in_processes(_where, range(8))
    assert [square for square, _ in found] == [job * job for job in range(8)]
    assert (len({process for _, process in found}) > 1) == (cores > 1)


@pytest.mark.parametrize("work", [_where, lambda job: job])
def test_nobody_else_works_unless_a_program_says_so(work: Callable[[int], object]) -> None:
    assert map_in_processes(_where, range(3)) == [(job * job, os.getpid()) for job in range(3)]
    assert len(map_in_processes(work, range(3))) == 3


def test_an_error_is_the_same_wherever_it_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.model.output.progress._count_cores", lambda: 2)
    with allow_processes(_nothing), pytest.raises(InputError, match="job 1: found one"):
        map_in_processes(_refusing, range(4))
