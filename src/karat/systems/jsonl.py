"""Any program that speaks JSON lines, in an environment of its own."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.process import fingerprint, jsonl_link, words_of
from karat.spec.outside import Outside
from karat.spec.system import Link, System, option


@dataclass(frozen=True, slots=True)
class _JsonlOptions:
    rest: str = option("", "The command and its arguments; there is no shell.")
    timeout: float = option(300.0, "Seconds that it has for one document; models are loaded within the first.")
    env: str = option("", "Environment variables that it gets besides PATH and the like, with + between.")


def _passed(options: _JsonlOptions) -> tuple[str, ...]:
    return tuple(filter(None, options.env.split("+")))


def _start(options: _JsonlOptions, given: bool) -> Link:
    return jsonl_link(words_of(options.rest), _passed(options), options.timeout)


SYSTEM = System(
    title="A program that speaks JSON lines",
    says="A program that stays: for each line with `id`, `text` and, where mentions are given, `spans`, it writes one "
    "line with `answers`. So a package runs with its own Python and its own dependencies.",
    start=_start,
    options=_JsonlOptions,
    spans="welcome",
    rest=".venv-of-it/bin/python bridge.py",
    space="its own",
    stamp=lambda options: fingerprint(words_of(options.rest)),
    outside=lambda options: Outside(command=words_of(options.rest)),
)
