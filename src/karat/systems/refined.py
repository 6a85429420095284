"""ReFinED, in a Python environment of its own."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.process import bridge, fingerprint, jsonl_link
from karat.spec.outside import Outside, TrainingCard
from karat.spec.system import Link, System, option


@dataclass(frozen=True, slots=True)
class _RefinedOptions:
    python: str = option("python3", "The Python of the environment that has refined.")
    model: str = option("wikipedia_model", "The name of the model, or its folder.")
    entities: str = option("wikipedia", "The entities that it knows: wikipedia or wikidata.")
    env: str = option("", "Environment variables that it gets besides PATH and the like, with + between.")
    timeout: float = option(1800.0, "Seconds for one document; the model is loaded, or fetched, within the first.")


def _command(options: _RefinedOptions) -> tuple[str, ...]:
    return bridge("refined", options.python, options.model, options.entities)


def _start(options: _RefinedOptions, given: bool) -> Link:
    return jsonl_link(_command(options), tuple(filter(None, options.env.split("+"))), options.timeout)


SYSTEM = System(
    title="ReFinED",
    says="Mentions, types and links of a whole document in one pass of a transformer.",
    start=_start,
    options=_RefinedOptions,
    solves="a2kb",
    spans="welcome",
    space="wikidata",
    stamp=lambda options: fingerprint(_command(options)[1:]),
    needs=("an environment with refined",),
    outside=lambda options: Outside(command=_command(options)),
    training=TrainingCard(
        data="Wikipedia; the model aida_model also AIDA-CoNLL",
        vocabulary="6 million entities of Wikipedia, or 33 million of Wikidata",
        extra_features="descriptions, types",
    ),
)
