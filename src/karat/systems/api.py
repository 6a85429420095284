"""The public function that runs a system: `link`."""

from __future__ import annotations

from collections.abc import Mapping

from karat.data.inputs import GoldInput
from karat.data.load import load
from karat.model.errors import UnknownNameError
from karat.model.keywords import check_keywords
from karat.model.run import Run
from karat.model.spec.system import hide_gold
from karat.systems.linking.system import ConfiguredSystem, get_system


@check_keywords
def link(
    system: str | ConfiguredSystem,
    gold: GoldInput,
    *,
    gold_mentions: bool = False,
    options: Mapping[str, object] | None = None,
) -> Run:
    """Run a system on the documents of a gold standard; with `gold_mentions`, link only the gold mentions.

    `gold` is a path, a name from the catalogue, plain dictionaries, or an object. `options` are options of the system;
    unknown ones raise `UnknownNameError`.
    """
    corpus = load(gold)
    configured = configure_system(system, options) if isinstance(system, str) else system
    task = "d2kb" if gold_mentions else "a2kb"
    link_documents = configured.start(gold_mentions=gold_mentions)
    documents = (
        document if configured.needs_gold else hide_gold(document, gold_mentions=gold_mentions) for document in corpus
    )
    return Run.from_responses(
        link_documents(documents), name=configured.name, **configured.metadata, corpus=corpus.name, task=task
    )


def configure_system(text: str, options: Mapping[str, object] | None) -> ConfiguredSystem:
    """Return the system that `text` names, with `options`; raise `UnknownNameError` for an option it does not have."""
    texts = {name: str(value) for name, value in (options or {}).items()}
    configured = get_system(text, texts)
    known_options = [name.replace("_", "-") for name in configured.system.options.__dataclass_fields__]
    for name in texts:
        if name.replace("_", "-") not in known_options:
            raise UnknownNameError(f"option of {text}", name, known_options)
    return configured
