"""The package entity-linkings, in a separate Python environment."""

from __future__ import annotations

from dataclasses import dataclass

from karat.model.document import Candidate, Prediction
from karat.model.spec.external_access import ExternalAccess
from karat.model.spec.system import System, SystemSample, option
from karat.systems.adapters.program import bridge_command, fingerprint_files, make_jsonl_linker


@dataclass(frozen=True, slots=True)
class _LinkingsOptions:
    """The options of `entity-linkings`."""

    python: str = option("python3", "Python of the environment with entity-linkings.")
    dictionary: str = option("zelda", "Dictionary of entities: a JSONL file or a name.")
    retriever: str = option("bm25", "Candidate retriever: bm25, prior, dualencoder, textembedding or e5bm25.")
    retriever_model: str = option("", "Folder of a trained retriever, or the counts for prior.")
    index: str = option("", "Folder of the index; empty: build it.")
    reranker: str = option("", "Candidate reranker, such as fevry or crossencoder; empty: none.")
    reranker_model: str = option("", "Folder of a trained reranker.")
    candidates: int = option(30, "Maximum number of candidates per mention.")
    env: str = option("", "Further environment variables to pass to the program, joined by +.")
    timeout: float = option(
        1800.0, "Timeout per document in seconds; the first one includes loading models.", in_request=False
    )


def _command(options: _LinkingsOptions) -> tuple[str, ...]:
    """Return the words of the command that runs the bridge to entity-linkings."""
    retriever = (options.retriever, options.retriever_model, options.index)
    reranker = (options.reranker, options.reranker_model)
    return bridge_command(
        "entity_linkings", options.python, options.dictionary, *retriever, *reranker, str(options.candidates)
    )


SYSTEM = System(
    title="entity-linkings",
    description="Any candidate retriever and reranker of the package, over a dictionary of entities.",
    start=lambda options, gold_mentions: make_jsonl_linker(_command(options), options.env, options.timeout),
    options=_LinkingsOptions,
    hardest_task="d2kb",
    gold_mentions="required",
    id_space="its own",
    fingerprint=lambda options: fingerprint_files(_command(options)[1:]),
    requirements=("an environment with entity-linkings", "usually trained models"),
    external_access=lambda options: ExternalAccess(command=_command(options)),
    sample=SystemSample(
        text="Berlin is old.",
        options={"python": "{python}", "env": "PYTHONPATH"},
        gold_mentions=((0, 6),),
        package={
            "entity_linkings.py": """
from types import SimpleNamespace
class Retriever:
    def __init__(self, dictionary, config=None, index_path=None): pass
    def predict(self, sentence, spans=None, top_k=5):
        return [[SimpleNamespace(start=b, end=e, id=id) for id in ("Q64", "-1", "Q821244")] for b, e in spans]
def load_dictionary(name): return name
def get_retrievers(name): return Retriever
def get_rerankers(name): raise KeyError(name)
""",
        },
        predictions=(Prediction(0, 6, "Q64", candidates=(Candidate("Q64"), Candidate("Q821244"))),),
    ),
)
