"""Any command: it is started for each document, the text goes in, answers come out."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.process import command_link, fingerprint, words_of
from karat.spec.outside import Outside
from karat.spec.system import Link, System, option


@dataclass(frozen=True, slots=True)
class _CommandOptions:
    rest: str = option("", "The command and its arguments; there is no shell.")
    timeout: float = option(60.0, "Seconds that it has for one document.")
    env: str = option("", "Environment variables that it gets besides PATH and the like, with + between.")


def _passed(options: _CommandOptions) -> tuple[str, ...]:
    return tuple(filter(None, options.env.split("+")))


def _start(options: _CommandOptions, given: bool) -> Link:
    return command_link(words_of(options.rest), _passed(options), options.timeout)


SYSTEM = System(
    title="Any command",
    says="A program that is started once for each document. It reads the text from standard input and writes JSON: a "
    "list of mentions with `start`, `end` and `entity`, or with `text` in place of the span.",
    start=_start,
    options=_CommandOptions,
    rest="./my-linker --flag",
    space="its own",
    stamp=lambda options: fingerprint(words_of(options.rest)),
    outside=lambda options: Outside(command=words_of(options.rest)),
)
