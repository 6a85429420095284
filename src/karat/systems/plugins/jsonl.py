"""Any persistent program that reads and writes JSON lines."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Prediction
from karat.model.spec.external_access import ExternalAccess
from karat.model.spec.system import System, SystemSample, option
from karat.systems.adapters.program import fingerprint_files, make_jsonl_linker, split_command


@dataclass(frozen=True, slots=True)
class _JsonlOptions:
    """The options of `jsonl`."""

    argument: str = option("", "Command with arguments; no shell is used.")
    timeout: float = option(
        300.0, "Timeout per document in seconds; the first one includes loading models.", in_request=False
    )
    env: str = option("", "Further environment variables to pass to the program, joined by +.")


SYSTEM = System(
    title="Any JSON lines program",
    description="A persistent program: for each line with `id`, `text` and, with gold mentions, `spans`, it writes "
    "one line "
    "with `predictions`. It may use another Python environment.",
    start=lambda options, gold_mentions: make_jsonl_linker(
        split_command(options.argument), options.env, options.timeout
    ),
    options=_JsonlOptions,
    gold_mentions="optional",
    argument="my-venv/bin/python bridge.py",
    id_space="its own",
    fingerprint=lambda options: fingerprint_files(split_command(options.argument)),
    external_access=lambda options: ExternalAccess(command=split_command(options.argument)),
    sample=SystemSample(
        text="Berlin is old.",
        options={"argument": "{command}"},
        reply="""{"id": "d", "predictions": [{"start": 0, "end": 6, "entity": "Q64", "score": 0.5}]}""",
        predictions=(Prediction(0, 6, "Q64", score=0.5),),
    ),
)
