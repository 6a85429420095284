"""spaCy's EntityLinker: any pipeline that has one, in a Python environment of its own."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.process import bridge, fingerprint, jsonl_link
from karat.spec.outside import Outside
from karat.spec.system import Link, System, option


@dataclass(frozen=True, slots=True)
class _SpacyOptions:
    rest: str = option("", "The pipeline: a package, or its folder.")
    python: str = option("python3", "The Python of the environment that has spaCy and the pipeline.")
    env: str = option("", "Environment variables that it gets besides PATH and the like, with + between.")
    timeout: float = option(600.0, "Seconds for one document; the pipeline is loaded within the first.")


def _command(options: _SpacyOptions) -> tuple[str, ...]:
    return bridge("spacy", options.python, options.rest)


def _start(options: _SpacyOptions, given: bool) -> Link:
    return jsonl_link(_command(options), tuple(filter(None, options.env.split("+"))), options.timeout)


SYSTEM = System(
    title="spaCy's EntityLinker",
    says="A pipeline of spaCy with an entity linker that somebody trained.",
    start=_start,
    options=_SpacyOptions,
    solves="a2kb",
    rest="PIPELINE",
    space="its own",
    stamp=lambda options: fingerprint(_command(options)[1:]),
    needs=("an environment with spaCy and a pipeline with an entity linker",),
    outside=lambda options: Outside(command=_command(options)),
)
