"""The package spacy-entity-linker, in a Python environment of its own."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.process import bridge, fingerprint, jsonl_link
from karat.spec.outside import Outside, TrainingCard
from karat.spec.system import Link, System, option


@dataclass(frozen=True, slots=True)
class _WikidataOptions:
    python: str = option("python3", "The Python of the environment that has spacy-entity-linker.")
    model: str = option("en_core_web_md", "The pipeline of spaCy that it is added to.")
    env: str = option("", "Environment variables that it gets besides PATH and the like, with + between.")
    timeout: float = option(600.0, "Seconds for one document; the knowledge base is loaded within the first.")


def _command(options: _WikidataOptions) -> tuple[str, ...]:
    return bridge("spacy_entity_linker", options.python, options.model)


def _start(options: _WikidataOptions, given: bool) -> Link:
    return jsonl_link(_command(options), tuple(filter(None, options.env.split("+"))), options.timeout)


SYSTEM = System(
    title="spacy-entity-linker",
    says="Parts of sentences that are aliases in Wikidata, each linked to what it means most often.",
    start=_start,
    options=_WikidataOptions,
    solves="a2kb",
    space="wikidata",
    stamp=lambda options: fingerprint(_command(options)[1:]),
    needs=("an environment with it and its knowledge base",),
    outside=lambda options: Outside(command=_command(options)),
    training=TrainingCard(data="none", vocabulary="Wikidata", candidate_list="aliases of Wikidata"),
)
