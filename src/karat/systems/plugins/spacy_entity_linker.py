"""The package spacy-entity-linker, in a separate Python environment."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Prediction
from karat.model.spec.external_access import ExternalAccess, TrainingDetails
from karat.model.spec.system import System, SystemSample, option
from karat.systems.adapters.program import bridge_command, fingerprint_files, make_jsonl_linker


@dataclass(frozen=True, slots=True)
class _WikidataOptions:
    """The options of `spacy-entity-linker`."""

    python: str = option("python3", "Python of the environment with spacy-entity-linker.")
    model: str = option("en_core_web_md", "spaCy pipeline to which the linker is added.")
    env: str = option("", "Further environment variables to pass to the program, joined by +.")
    timeout: float = option(
        600.0, "Timeout per document in seconds; the first one includes loading the knowledge base.", in_request=False
    )


def _command(options: _WikidataOptions) -> tuple[str, ...]:
    """Return the words of the command that runs the bridge to spacy-entity-linker."""
    return bridge_command("spacy_entity_linker", options.python, options.model)


SYSTEM = System(
    title="spacy-entity-linker",
    description="Links sentence parts that are Wikidata aliases to their most frequent meaning.",
    start=lambda options, gold_mentions: make_jsonl_linker(_command(options), options.env, options.timeout),
    options=_WikidataOptions,
    hardest_task="a2kb",
    id_space="wikidata",
    fingerprint=lambda options: fingerprint_files(_command(options)[1:]),
    requirements=("an environment with the package and its knowledge base",),
    external_access=lambda options: ExternalAccess(command=_command(options)),
    training=TrainingDetails(data="none", vocabulary="Wikidata", candidate_list="Wikidata aliases"),
    sample=SystemSample(
        text="Berlin is old.",
        options={"python": "{python}", "env": "PYTHONPATH"},
        package={
            "spacy.py": """
from types import SimpleNamespace
class Linked:
    def get_span(self): return SimpleNamespace(start_char=0, end_char=6)
    def get_id(self): return 64
class Language:
    def add_pipe(self, name, last): assert name == "entityLinker"
    def __call__(self, text): return SimpleNamespace(_=SimpleNamespace(linkedEntities=[Linked()]))
def load(name): return Language()
""",
        },
        predictions=(Prediction(0, 6, "Q64"),),
    ),
)
