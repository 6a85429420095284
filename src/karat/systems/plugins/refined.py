"""ReFinED, in a separate Python environment."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Prediction
from karat.model.spec.external_access import ExternalAccess, TrainingDetails
from karat.model.spec.system import System, SystemSample, option
from karat.systems.adapters.program import bridge_command, fingerprint_files, make_jsonl_linker
from karat.systems.claims.fair_2023 import list_fair_claims


@dataclass(frozen=True, slots=True)
class _RefinedOptions:
    """The options of `refined`."""

    python: str = option("python3", "Python of the environment with refined.")
    model: str = option("wikipedia_model", "Name or folder of the model.")
    entities: str = option("wikipedia", "Entity set: wikipedia or wikidata.")
    env: str = option("", "Further environment variables to pass to the program, joined by +.")
    timeout: float = option(
        1800.0,
        "Timeout per document in seconds; the first one includes downloading and loading the model.",
        in_request=False,
    )


def _command(options: _RefinedOptions) -> tuple[str, ...]:
    """Return the words of the command that runs the bridge to ReFinED."""
    return bridge_command("refined", options.python, options.model, options.entities)


SYSTEM = System(
    title="ReFinED",
    description="Detects, types and links all mentions of a document in one pass of a transformer.",
    start=lambda options, gold_mentions: make_jsonl_linker(_command(options), options.env, options.timeout),
    options=_RefinedOptions,
    hardest_task="a2kb",
    gold_mentions="optional",
    id_space="wikidata",
    fingerprint=lambda options: fingerprint_files(_command(options)[1:]),
    requirements=("an environment with refined",),
    citation="Ayoola et al. 2022: ReFinED: An Efficient Zero-Shot-Capable Approach to End-to-End "
    "Entity Linking. NAACL.",
    claims=list_fair_claims("ReFinED"),
    external_access=lambda options: ExternalAccess(command=_command(options)),
    training=TrainingDetails(
        data="Wikipedia; the model aida_model also AIDA-CoNLL",
        vocabulary="6 million entities of Wikipedia, or 33 million of Wikidata",
        extra_features="descriptions, types",
    ),
    sample=SystemSample(
        text="Berlin in 2026.",
        options={"python": "{python}", "env": "PYTHONPATH"},
        package={
            "refined/__init__.py": "",
            "refined/data_types/__init__.py": "",
            "refined/data_types/base_types.py": """
class Entity:
    wikidata_entity_id = "Q64"
class Span:
    def __init__(self, text, start, ln, coarse_type="MENTION"):
        self.text, self.start, self.ln, self.coarse_type = text, start, ln, coarse_type
        self.predicted_entity, self.entity_linking_model_confidence_score = None, None
        if coarse_type == "MENTION":
            self.predicted_entity, self.entity_linking_model_confidence_score = Entity(), 0.75
""",
            "refined/inference/__init__.py": "",
            "refined/inference/processor.py": """
from refined.data_types.base_types import Span
class Refined:
    @classmethod
    def from_pretrained(cls, model_name, entity_set):
        return cls()
    def process_text(self, text, spans=None):
        return spans or [Span(text[:6], 0, 6), Span(text[10:14], 10, 4, "DATE")]
""",
        },
        predictions=(Prediction(0, 6, "Q64", score=0.75), Prediction(10, 14)),
    ),
)
