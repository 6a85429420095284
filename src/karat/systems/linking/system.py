"""Systems with their options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from karat.model import registry
from karat.model.errors import UsageError
from karat.model.spec.system import Link, System, format_options, parse_options, parse_system
from karat.systems.linking.abstention import load_system


@dataclass(frozen=True, slots=True)
class ConfiguredSystem:
    """A system with its options.

    `name`: the text that names the system.
    `system`: specification of the system.
    `options`: the parsed options.
    """

    name: str
    system: System
    options: Any

    def start(self, *, gold_mentions: bool) -> Link:
        """Start the system and return the function that links documents.

        `gold_mentions`: whether documents come with mentions to link; raise `UsageError` if the system does not
        accept mentions, or needs them.
        """
        if gold_mentions and self.system.gold_mentions == "never":
            raise UsageError(f"{self.name} accepts no gold mentions. Omit the task d2kb, so that it detects mentions.")
        if not gold_mentions and self.system.gold_mentions == "required":
            raise UsageError(f"{self.name} needs gold mentions. Pass them with --task d2kb.")
        return self.system.start(self.options, gold_mentions)

    @property
    def needs_gold(self) -> bool:
        """Whether the system receives documents with their gold labels; the options may decide this."""
        return bool(getattr(self.options, "needs_gold", self.system.needs_gold))

    @property
    def metadata(self) -> dict[str, str]:
        """The manifest entries: name, options that differ from the defaults, and the system's fingerprint."""
        options = " ".join(f"{name}={value}" for name, value in format_options(self.options).items())
        return {
            "system": self.name,
            **({"options": options} if options else {}),
            **self.system.fingerprint(self.options),
        }


def get_system(text: str, options: Mapping[str, str] | None = None) -> ConfiguredSystem:
    """Return the system that `text`, such as `NAME[option=value]:ARGUMENT`, names, with its options parsed.

    `options` are defaults for options that the system has; others are ignored. Untested systems, a missing argument
    and invalid options raise `UsageError` or `UnknownNameError`.
    """
    name, name_options = parse_system(text)
    system = load_system(name)
    if system.untested_reason:
        raise UsageError(
            f"{name} is untested and cannot run. Provide its predictions as {system.untested_reason}: "
            "karat run predictions:FILE --on DATASET."
        )
    if system.argument and "argument" not in name_options:
        raise UsageError(f"{name} needs an argument: write {name}:{system.argument}.")
    fields = set(system.options.__dataclass_fields__)
    shared_options = {key: value for key, value in (options or {}).items() if key.replace("-", "_") in fields}
    return ConfiguredSystem(text, system, parse_options(system, shared_options | dict(name_options), name))


def list_methods(original: str) -> tuple[str, ...]:
    """Return the names of the systems that implement the published method of the system `original`."""
    return tuple(
        name
        for name in registry.list_plugins("systems")
        if registry.get_plugin("systems", name, System).method_of == original
    )
