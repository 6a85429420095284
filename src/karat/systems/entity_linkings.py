"""entity-linkings, which could not be tried here."""

from karat.adapters.untried import untried

SYSTEM = untried(
    "entity-linkings",
    "A package with several linkers behind one interface.",
    "its interface could not be tried here",
    "Karat JSONL, or let it speak JSON lines (`jsonl:`)",
    space="",
)
