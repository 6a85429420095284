"""Systems by name, with their options: what is asked of the registry, and what comes out on a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat import registry
from karat.errors import UsageError
from karat.model.corpus import Corpus
from karat.model.run import Run
from karat.spec.system import Link, System, asked, options_of, options_said, parse_system


@dataclass(frozen=True, slots=True)
class NamedSystem:
    """A system with its options, and the name that it was asked for by."""

    name: str
    system: System
    options: Any

    def start(self, *, given: bool) -> Link:
        """The function that links; whether the mentions are given must be what the system can do."""
        if given and self.system.spans == "never":
            raise UsageError(f"{self.name} takes no given mentions. Let it detect them: leave d2kb out.")
        if not given and self.system.spans == "needed":
            raise UsageError(f"{self.name} links given mentions only. Give them: --task d2kb")
        return self.system.start(self.options, given)

    @property
    def sees_gold(self) -> bool:
        """Whether it gets documents with their gold; of some systems the options say so."""
        return bool(getattr(self.options, "sees_gold", self.system.sees_gold))

    @property
    def about(self) -> dict[str, str]:
        """What a manifest says of it: name, options other than the defaults, and what else answers depend on."""
        said = " ".join(f"{name}={value}" for name, value in options_said(self.options).items())
        return {"system": self.name, **({"options": said} if said else {}), **self.system.stamp(self.options)}


def system_named(text: str, options: Mapping[str, str] | None = None) -> NamedSystem:
    """The system that a text names; `options` hold where its name says nothing else, and only those that it has."""
    name, own = parse_system(text)
    system = registry.get("systems", name, System)
    if system.untried:
        raise UsageError(
            f"{name} could not be tried, and does not run. Hand in its answers as {system.untried}: "
            "karat run answers:FILE --on DATASET."
        )
    if system.rest and "rest" not in own:
        raise UsageError(f"{name} needs more: write {name}:{system.rest}.")
    fields = set(system.options.__dataclass_fields__)
    shared = {key: value for key, value in (options or {}).items() if key.replace("-", "_") in fields}
    return NamedSystem(text, system, options_of(system, shared | dict(own), name))


def link(system: str | NamedSystem, corpus: Corpus, *, given: bool = False, **options: str) -> Run:
    """What a system answers on a corpus; with `given`, about the mentions of the gold standard."""
    found = system_named(system, options) if isinstance(system, str) else system
    task = "d2kb" if given else "a2kb"
    start = found.start(given=given)
    documents = (document if found.sees_gold else asked(document, given=given) for document in corpus)
    return Run.of(start(documents), name=found.name, **found.about, corpus=corpus.name, task=task)
