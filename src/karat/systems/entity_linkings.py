"""The package entity-linkings, in a Python environment of its own."""

from __future__ import annotations

from dataclasses import dataclass

from karat.adapters.process import bridge, fingerprint, jsonl_link
from karat.spec.outside import Outside
from karat.spec.system import Link, System, option


@dataclass(frozen=True, slots=True)
class _LinkingsOptions:
    python: str = option("python3", "The Python of the environment that has entity-linkings.")
    dictionary: str = option("zelda", "The entities: a file of its JSON lines, or the name of a dictionary.")
    retriever: str = option("bm25", "What finds candidates: bm25, prior, dualencoder, textembedding or e5bm25.")
    retriever_model: str = option("", "The folder of a trained retriever, or the counts of prior.")
    index: str = option("", "The folder of the index; without one it is made anew.")
    reranker: str = option("", "What ranks candidates, such as fevry or crossencoder; empty takes the first.")
    reranker_model: str = option("", "The folder of a trained reranker.")
    candidates: int = option(30, "How many candidates a mention has at most.")
    env: str = option("", "Environment variables that it gets besides PATH and the like, with + between.")
    timeout: float = option(1800.0, "Seconds for one document; models are loaded within the first.")


def _command(options: _LinkingsOptions) -> tuple[str, ...]:
    found = (options.retriever, options.retriever_model, options.index)
    ranked = (options.reranker, options.reranker_model)
    return bridge("entity_linkings", options.python, options.dictionary, *found, *ranked, str(options.candidates))


def _start(options: _LinkingsOptions, given: bool) -> Link:
    return jsonl_link(_command(options), tuple(filter(None, options.env.split("+"))), options.timeout)


SYSTEM = System(
    title="entity-linkings",
    says="Any retriever of candidates and any reranker of that package, over a dictionary of entities.",
    start=_start,
    options=_LinkingsOptions,
    solves="d2kb",
    spans="needed",
    space="its own",
    stamp=lambda options: fingerprint(_command(options)[1:]),
    needs=("an environment with entity-linkings", "mostly trained models"),
    outside=lambda options: Outside(command=_command(options)),
)
