"""Nothing but a `KaratError` escapes, and what it says is fit to be read. `python tests/fuzz.py` looks longer."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import nullcontext
from random import Random

import pytest

import karat
from karat.model.errors import KaratError
from karat.model.registry import list_plugins
from tests.conftest import EXTRA_FORMATS
from tests.fuzzing import targets
from tests.fuzzing.child import Child, minimise
from tests.fuzzing.harness import (
    BYTES,
    CASES,
    Case,
    FaultError,
    Outcome,
    Target,
    attempt,
    limit,
    message_fault,
    store_case,
    try_case,
    written,
)
from tests.fuzzing.mutations import VALUES, changed_json
from tests.fuzzing.samples import samples
from tests.fuzzing.targets import all_targets, child, make_case, read_sample, tried

INPUTS = 2000
PARTS = 4
PER_SERVICE = 60
ANNOTATION = ("annotation backup", "annotation project", "annotation server")
SERVICES = (
    *("archive", "backup", "campaign", "controls", "import", "judging server", "nif server", "overlay", "viewer"),
    *ANNOTATION,
)


def test_every_format_has_a_sample():
    known = {sample.format for sample in samples().values()}
    assert set(list_plugins("formats")) - known <= set(EXTRA_FORMATS)  # where their packages are not installed


@pytest.mark.parametrize("name", samples())
def test_samples_are_sound(name):
    """A sample that could not be read when it is whole would find nothing when it is broken."""
    sample = samples()[name]
    with written(sample.files) as folder:
        whole = name != "aida folder"  # AIDA's own text is not ours to write
        with nullcontext() if whole else pytest.raises(karat.InputError, match=r"eng\.train"):
            karat.load_run(folder / sample.given, format=sample.format)


FORMATS = [*samples(), "kb", "result", "toml", "command"]


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_but_our_errors_escapes(part):
    show([tried("make test", number, only=FORMATS[number % len(FORMATS)]) for number in range(part, INPUTS, PARTS)])


@pytest.mark.extras
@pytest.mark.parametrize("service", SERVICES)
def test_nothing_escapes_from_campaigns_archives_and_servers(service):
    outcomes = [tried("make test-all", number, only=service) for number in range(PER_SERVICE)]
    show(outcomes)
    assert any(outcome.is_accepted for outcome in outcomes)
    assert not all(outcome.is_accepted for outcome in outcomes)


def show(outcomes):
    escapes = [outcome.escape for outcome in outcomes if outcome.escape is not None]
    assert not escapes, "\n".join(f"{escape.input}\n{escape.details}" for escape in escapes)


@pytest.mark.extras
def test_all_targets_are_tried_where_the_packages_of_extras_are():
    assert set(SERVICES) | {"layout of an archive"} == set(all_targets()) - set(FORMATS)


@pytest.mark.extras
@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_what_escaped_once_does_not_escape_again(path):
    case = Case.from_json(path.read_text(encoding="utf-8"))
    show([child().try_case(case, seconds=30)])


def test_the_fuzzer_sees_what_it_looks_for(monkeypatch):
    """A reader that lets something escape, or says it in a way that nobody can read, is found."""

    def fails(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr(targets.karat, "load", fails)
    monkeypatch.setattr(targets.karat, "load_run", fails)
    with written(samples()["kilt"].files) as folder, pytest.raises(KeyError, match="oops"):
        [read_sample("kilt", folder, Random(number)) for number in range(20)]
    assert message_fault("two\nlines")
    assert message_fault("\x1b[2J")
    assert message_fault("x" * 100_000)
    assert message_fault("a word of ours: é, 😀, …") is None

    class BadError(KaratError):
        def __str__(self):
            return "a\nb"

    def said():
        raise BadError("x")

    with pytest.raises(FaultError, match="control characters"):
        attempt(said)


def test_an_input_depends_on_its_key_alone():
    """A change inside a value that all inputs share made later inputs others than their key says, or endless."""
    before = repr(VALUES)
    cases = [make_case("key", number, only="kilt") for number in range(50)]
    for number in range(500):
        json.dumps(changed_json({"a": [1, {"b": []}], "c": {}}, Random(number)))
    assert repr(VALUES) == before
    assert [make_case("key", number, only="kilt") for number in range(50)] == cases


def _fails_on_a_star(folder, _):
    if b"*" in (folder / "a").read_bytes():
        raise KeyError("star")
    return True


def test_an_escape_is_minimised_and_stored_and_can_be_tried_again(tmp_path):
    target = Target(1, lambda _: {}, _fails_on_a_star)
    case = Case("toy", "s:1", {"a": b"x" * 500 + b"*" + b"y" * 300, "b": b"\xff"})
    escape = try_case(case, target).escape
    assert escape.what.startswith("KeyError")
    with Child({"toy": target}) as child:
        smallest = minimise(case, child)
    assert smallest.files == {"a": b"*"}
    stored = store_case(case, escape, tmp_path)
    assert Case.from_json(stored.read_text(encoding="utf-8")) == case
    assert try_case(case._replace(files={"a": b"x"}), target) == Outcome("toy", True, None)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limits")
def test_an_input_that_takes_too_long_or_too_much_is_an_escape():
    def spin(folder, _):
        while True:
            pass

    # Twice the limit: what the process frees meanwhile counts for it.
    uses = {"slow": spin, "large": lambda folder, _: len(bytearray(2 * BYTES)) > 0}
    with Child({name: Target(1, lambda _: {}, use) for name, use in uses.items()}) as child:
        assert child.try_case(Case("slow", "s:1", {}), seconds=0.2).escape.what.startswith("TimeoutError")
        assert child.try_case(Case("large", "s:1", {}), seconds=5).escape.what.startswith("MemoryError")
    with limit(5, BYTES):
        assert len(bytearray(1 << 20)) == 1 << 20


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_an_input_that_ends_its_process_is_an_escape_with_its_name():
    """A damaged Arrow stream ended two workers of the tests, and nothing said which input it was."""
    uses = {b"a": os.abort, b"s": lambda: os.kill(os.getpid(), signal.SIGSEGV), b"e": lambda: os._exit(3)}

    def dies(folder, _):
        uses.get((folder / "f").read_bytes()[-1:], bool)()
        return True

    files = [b"1", b"xxa", b"2", b"s", b"e", b"3"]
    with Child({"toy": Target(1, lambda _: {}, dies)}) as child:
        cases = [Case("toy", f"s:{number}", {"f": data}) for number, data in enumerate(files)]
        outcomes = [child.try_case(case) for case in cases]
        smallest = minimise(cases[1], child)
    escapes = {o.escape.input: o.escape.what.partition(":")[0] for o in outcomes if o.escape}
    assert escapes == {"s:1 toy": "SIGABRT", "s:3 toy": "SIGSEGV", "s:4 toy": "exit code 3"}
    assert "Fatal Python error: Aborted" in outcomes[1].escape.details
    assert smallest.files == {"f": b"a"}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_process_that_only_several_inputs_end_names_them():
    seen = []

    def dies(folder, _):
        seen.append(1)
        if len(seen) == 3:
            os.abort()
        return True

    with Child({"toy": Target(1, lambda _: {}, dies)}) as child:
        outcomes = [child.try_case(Case("toy", f"s:{number}", {})) for number in range(4)]
    assert [outcome.escape is None for outcome in outcomes] == [True, True, False, True]
    assert outcomes[2].escape.details.startswith("only after s:0, s:1\n")
