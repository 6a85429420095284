"""spaCy's EntityLinker in any pipeline, in a separate Python environment."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Prediction
from karat.model.spec.external_access import ExternalAccess
from karat.model.spec.system import System, SystemSample, option
from karat.systems.adapters.program import bridge_command, fingerprint_files, make_jsonl_linker


@dataclass(frozen=True, slots=True)
class _SpacyOptions:
    """The options of `spacy`."""

    argument: str = option("", "Pipeline: a package or folder.")
    python: str = option("python3", "Python of the environment with spaCy and the pipeline.")
    code: str = option("", "Python file that registers your own components, like --code of spaCy.")
    env: str = option("", "Further environment variables to pass to the program, joined by +.")
    timeout: float = option(
        600.0, "Timeout per document in seconds; the first one includes loading the pipeline.", in_request=False
    )


def _command(options: _SpacyOptions) -> tuple[str, ...]:
    """Return the words of the command that runs the bridge to spaCy."""
    return bridge_command("spacy", options.python, options.argument, options.code)


SYSTEM = System(
    title="spaCy's EntityLinker",
    description="A spaCy pipeline with a trained entity linker.",
    start=lambda options, gold_mentions: make_jsonl_linker(_command(options), options.env, options.timeout),
    options=_SpacyOptions,
    hardest_task="a2kb",
    argument="PIPELINE",
    id_space="its own",
    fingerprint=lambda options: fingerprint_files(_command(options)[1:]),
    requirements=("an environment with spaCy and a pipeline with an entity linker",),
    external_access=lambda options: ExternalAccess(command=_command(options)),
    sample=SystemSample(
        text="Berlin is near Atlantis 2026.",
        options={"argument": "pipeline", "python": "{python}", "env": "PYTHONPATH"},
        package={
            "spacy.py": """
from types import SimpleNamespace
def load(name):
    return lambda text: SimpleNamespace(ents=[
        SimpleNamespace(start_char=0, end_char=6, kb_id_="Q64", label_="GPE"),
        SimpleNamespace(start_char=15, end_char=23, kb_id_="NIL", label_="LOC"),
        SimpleNamespace(start_char=24, end_char=28, kb_id_="", label_="DATE"),
    ])
""",
        },
        predictions=(
            Prediction(0, 6, "Q64", types=("GPE",)),
            Prediction(15, 23, None, types=("LOC",)),
            Prediction(24, 28, types=("DATE",)),
        ),
    ),
)
