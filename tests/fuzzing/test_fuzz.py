"""Nothing but a `KaratError` escapes, and what it says is fit to be read. `python tests/fuzz.py` looks longer."""

from __future__ import annotations

import pytest

from karat.registry import names
from tests.fuzzing.samples import samples
from tests.fuzzing.targets import _FaultError, message_fault, read_sample, tried

INPUTS = 2000
PARTS = 4


def test_every_format_has_a_sample():
    known = {sample.format for sample in samples().values()}
    assert set(names("formats")) - known <= {"spacy-docbin"}  # where spaCy is not installed


@pytest.mark.parametrize("name", samples())
def test_samples_are_sound(name):
    """A sample that could not be read when it is whole would find nothing when it is broken."""
    import karat
    from tests.fuzzing.targets import _written

    sample = samples()[name]
    with _written(sample.files) as folder:
        try:
            karat.load_run(folder / sample.given, format=sample.format)
        except karat.InputError as problem:  # AIDA's text, of which there are but three words
            assert name == "aida folder", problem


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_but_our_errors_escapes(part):
    found = [tried("make test", number) for number in range(part, INPUTS, PARTS)]
    escapes = [escape for escape in found if escape is not None]
    assert not escapes, "\n".join(f"{escape.input}\n{escape.details}" for escape in escapes)


def test_the_fuzzer_sees_what_it_looks_for(monkeypatch):
    """A reader that lets something escape, or says it in a way that nobody can read, is found."""
    from random import Random

    from karat.errors import KaratError
    from tests.fuzzing import targets

    def fails(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr(targets.karat, "load", fails)
    monkeypatch.setattr(targets.karat, "load_run", fails)
    monkeypatch.setattr(targets, "load_either", fails)
    with pytest.raises(KeyError, match="oops"):
        for number in range(20):
            read_sample("kilt", Random(number))
    assert message_fault("two\nlines")
    assert message_fault("\x1b[2J")
    assert message_fault("x" * 100_000)
    assert message_fault("a word of ours: é, 😀, …") is None

    class Bad(KaratError):
        def __str__(self):
            return "a\nb"

    def said():
        raise Bad("x")

    with pytest.raises(_FaultError, match="control characters"):
        targets._try(said)
