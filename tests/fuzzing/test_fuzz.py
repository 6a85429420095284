"""Nothing but a `KaratError` escapes, and what it says is fit to be read. `python tests/fuzz.py` looks longer."""

from __future__ import annotations

from contextlib import nullcontext
from random import Random

import pytest

import karat
from karat.model.errors import KaratError
from karat.model.registry import list_plugins
from tests.fuzzing import targets
from tests.fuzzing.samples import samples
from tests.fuzzing.targets import _FaultError, _written, message_fault, read_sample, tried

INPUTS = 2000
PARTS = 4


def test_every_format_has_a_sample():
    known = {sample.format for sample in samples().values()}
    assert set(list_plugins("formats")) - known <= {"spacy-docbin"}  # where spaCy is not installed


@pytest.mark.parametrize("name", samples())
def test_samples_are_sound(name):
    """A sample that could not be read when it is whole would find nothing when it is broken."""
    sample = samples()[name]
    with _written(sample.files) as folder:
        whole = name != "aida folder"  # AIDA's own text is not ours to write
        with nullcontext() if whole else pytest.raises(karat.InputError, match=r"eng\.train"):
            karat.load_run(folder / sample.given, format=sample.format)


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_but_our_errors_escapes(part):
    found = [tried("make test", number) for number in range(part, INPUTS, PARTS)]
    escapes = [escape for escape in found if escape is not None]
    assert not escapes, "\n".join(f"{escape.input}\n{escape.details}" for escape in escapes)


def test_the_fuzzer_sees_what_it_looks_for(monkeypatch):
    """A reader that lets something escape, or says it in a way that nobody can read, is found."""

    def fails(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr(targets.karat, "load", fails)
    monkeypatch.setattr(targets.karat, "load_run", fails)
    with pytest.raises(KeyError, match="oops"):
        list(map(read_sample, ["kilt"] * 20, map(Random, range(20))))
    assert message_fault("two\nlines")
    assert message_fault("\x1b[2J")
    assert message_fault("x" * 100_000)
    assert message_fault("a word of ours: é, 😀, …") is None

    class BadError(KaratError):
        def __str__(self):
            return "a\nb"

    def said():
        raise BadError("x")

    with pytest.raises(_FaultError, match="control characters"):
        targets._try(said)
