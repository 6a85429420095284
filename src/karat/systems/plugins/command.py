"""Any command, started once per document, with the text as input and predictions as output."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Prediction
from karat.model.spec.external_access import ExternalAccess
from karat.model.spec.system import System, SystemSample, option
from karat.systems.adapters.program import fingerprint_files, make_command_linker, split_command


@dataclass(frozen=True, slots=True)
class _CommandOptions:
    """The options of `command`."""

    argument: str = option("", "Command with arguments; no shell is used.")
    timeout: float = option(60.0, "Timeout per document in seconds.", in_request=False)
    env: str = option("", "Further environment variables to pass to the program, joined by +.")


SYSTEM = System(
    title="Any command",
    description="A program that is started once per document. It reads the text from standard input and writes JSON: a "
    "list of mentions with `start`, `end` and `entity`, or with `text` instead of the span.",
    start=lambda options, gold_mentions: make_command_linker(
        split_command(options.argument), options.env, options.timeout
    ),
    options=_CommandOptions,
    argument="./my-linker --flag",
    id_space="its own",
    fingerprint=lambda options: fingerprint_files(split_command(options.argument)),
    external_access=lambda options: ExternalAccess(command=split_command(options.argument)),
    sample=SystemSample(
        text="Berlin is old.",
        options={"argument": "{command}"},
        reply="""[{"text": "Berlin", "entity": "Q64"}]""",
        predictions=(Prediction(0, 6, "Q64"),),
    ),
)
