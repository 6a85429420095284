"""Systems as users name them, and everything that determines their responses."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from karat.model.defects import get_error_policy
from karat.model.document import Document
from karat.model.errors import UnknownNameError, UsageError
from karat.model.offsets.offset_kinds import OffsetKind
from karat.model.registry import list_plugins, plugin_identity
from karat.model.run import SELECTED_ON
from karat.model.spec.external_access import ExternalAccess
from karat.model.spec.system import System, format_options, hide_gold, parse_system, select_request
from karat.storage.files import printable_path
from karat.systems.linking.system import get_system
from karat.version import __version__

PUBLISHED = "predictions"
"""The name in `predictions:FILE`, which uses a file of published predictions instead of a system."""

_CODE_FOLDERS = ("linking", "adapters", "../formats/parsing/surfaces")  # the last one parses what programs write
_MAX_TITLE = 40  # characters of a title
_ADDRESS = re.compile(r"https?://")
_TITLED = re.compile(r"\s*([^\s=:\[\]/\\][^=:\[\]/\\]*)=(.+)", re.DOTALL)


@dataclass(frozen=True)
class RunnableSystem:
    """A system with its options, or published predictions instead of a system.

    `text`: the system as the user wrote it, with the shared options that apply.
    `name`: name of the plugin or Python file.
    `system`: specification of the system; None for published predictions.
    `options`: the parsed options.
    `predictions_file`: file of published predictions that replaces a system.
    `display_title`: title in tables, if the default title is ambiguous.
    `given_title`: title in tables that the user wrote, as `TITLE=SYSTEM`.
    `selected_on`: name of the dataset on which an option was tuned.
    """

    text: str
    name: str
    system: System | None
    options: Any = None
    predictions_file: str | None = None
    display_title: str = ""
    given_title: str = ""
    selected_on: str = ""

    @classmethod
    def from_text(cls, text: str, shared_options: Mapping[str, str] | None = None) -> RunnableSystem:
        """Parse `SYSTEM` or `TITLE=SYSTEM`; `shared_options` are defaults for options that the system has.

        Invalid names and options raise `UsageError` or `UnknownNameError`.
        """
        title, text = _split_title(text)
        if title:
            return replace(cls.from_text(text, shared_options), given_title=title)
        name, name_options = parse_system(text)
        if name == PUBLISHED:
            if not name_options.get("argument"):
                raise UsageError(
                    "predictions: the file is missing. Write predictions:FILE with an existing file of predictions."
                )
            return cls(text, name, None, predictions_file=name_options["argument"])
        configured = get_system(text, shared_options)
        accepted = {
            key: value
            for key, value in (shared_options or {}).items()
            if key.replace("-", "_") in _option_names(configured.system)
        }
        return cls(
            _format_system(name, {**accepted, **name_options}) if accepted else text,
            name,
            configured.system,
            configured.options,
        )

    def set_option(self, option: str, value: str, *, selected_on: str) -> RunnableSystem:
        """Return the system with another value of an option, which was tuned on the dataset `selected_on`."""
        name, options = parse_system(self.text)
        system = RunnableSystem.from_text(_format_system(name, {**options, option: value}))
        return replace(system, selected_on=selected_on, given_title=self.given_title)

    @property
    def access(self) -> ExternalAccess | None:
        """The hosts and commands that the system uses; None for a system inside Karat and for published predictions."""
        return (
            None
            if self.system is None or self.system.external_access is None
            else self.system.external_access(self.options)
        )

    @property
    def runs_commands(self) -> bool:
        """Whether the system runs code that is not part of Karat: a Python file of the user, or a command."""
        return self.name.endswith(".py") or bool(self.access is not None and self.access.command)

    @property
    def needs_gold(self) -> bool:
        """Whether the system receives documents with their gold labels; the options may decide this."""
        return bool(getattr(self.options, "needs_gold", self.system is not None and self.system.needs_gold))

    def uses_gold_mentions(self, available: bool) -> bool:
        """Return whether the system receives mentions; if it may but need not, `available` decides.

        `available`: whether the task provides gold mentions.
        """
        return (
            self.system is not None
            and {"never": False, "optional": available, "required": True}[self.system.gold_mentions]
        )

    @cached_property
    def title(self) -> str:
        """The title in tables: the one that the user wrote, or else a short form of the text.

        Web addresses are reduced to their host in the argument, and left out in options. A text of more than 40
        characters loses its options, or is cut and made unique by a hash. Published predictions have the name of their
        file.
        """
        if self.given_title or self.display_title:
            return self.given_title or self.display_title
        if self.predictions_file is not None:
            return Path(self.predictions_file).name.split(".")[0]
        short = self.text.removesuffix(".py") if self.name.endswith(".py") else self.text
        if len(short) > _MAX_TITLE and self.system is not None and self.system.argument:
            short = _format_system(self.name, _shorten_addresses({"argument": self.options.argument}))
        elif _ADDRESS.search(short):
            short = _format_system(self.name, _shorten_addresses(parse_system(short).options))
        return _cut_title(short, self.text)

    @property
    def stem(self) -> str:
        """The base name of the system's files: the title with `-` for unsafe characters, made unique by a hash."""
        plain = re.sub(r"[^\w.=+-]+", "-", self.title).strip("-.") or "system"
        return plain if plain == self.title else f"{plain}-{hashlib.sha256(self.text.encode()).hexdigest()[:6]}"

    def metadata(self) -> dict[str, str]:
        """Return the manifest entries: name, version, options, fingerprint and training details of the system."""
        if self.system is None:
            return {"linker": PUBLISHED}
        metadata = {"linker": plugin_identity("systems", self.name), "version": self.version}
        options = format_options(self.options)
        if options:
            metadata["options"] = ",".join(f"{name}={value}" for name, value in options.items())
        if self.selected_on:
            metadata[SELECTED_ON] = self.selected_on
        return {**metadata, **self.system.fingerprint(self.options), **self.system.training.to_metadata()}

    @property
    def version(self) -> str:
        """The version of Karat and a hash of the system's source code, joined by `+`."""
        return f"{__version__}+{_code_fingerprint(self.name)}"

    def cache_key(self, *, gold_mentions: bool) -> str:
        """Return a hash of all that determines responses besides the document: manifest entries and `gold_mentions`.

        Options that do not change what the system is asked, such as prices, are not part of it.
        """
        request = replace(self, options=select_request(self.options))
        content = {**request.metadata(), "given": str(gold_mentions), "layout": "responses/2"}
        if (offsets := get_error_policy().offsets) is not OffsetKind.CODE_POINTS:  # they convert responses
            content["offsets"] = offsets
        return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()

    def prepare_document(self, document: Document, *, gold_mentions: bool) -> Document:
        """Return the document as the system receives it, without gold links unless the system needs them."""
        return document if self.needs_gold else hide_gold(document, gold_mentions=gold_mentions)


def make_titles_unique(systems: Sequence[RunnableSystem]) -> tuple[RunnableSystem, ...]:
    """Return the systems; the titles of those that share one have the options in which these differ.

    Raise `UsageError` if a title still occurs twice.
    """
    titles = Counter(system.title for system in systems)
    renamed = [
        replace(system, display_title=_format_difference(system, systems)) if titles[system.title] > 1 else system
        for system in systems
    ]
    duplicates = [title for title, count in Counter(system.title for system in renamed).items() if count > 1]
    if duplicates:
        raise UsageError(
            f"{duplicates[0]} occurs twice. Name each system once, use different options, or write TITLE=SYSTEM."
        )
    return tuple(renamed)


def _format_difference(system: RunnableSystem, systems: Sequence[RunnableSystem]) -> str:
    """Return a title with the options of a system that another one of `systems` with the same title does not share."""
    if system.predictions_file is not None:
        return system.text
    others = [parse_system(other.text).options for other in systems if other.title == system.title]
    name, options = parse_system(system.text)
    different = {
        key: value
        for key, value in options.items()
        if key == "argument" or any(other.get(key) != value for other in others)
    }
    return _cut_title(_ADDRESS.sub("", _format_system(name, different)), system.text)


def check_unused_options(systems: Sequence[RunnableSystem], shared_options: Mapping[str, str]) -> None:
    """Raise `UnknownNameError` for the first shared option that no system has."""
    option_names = {
        name.replace("_", "-")
        for system in systems
        if system.system is not None
        for name in _option_names(system.system)
    }
    for name in shared_options:
        if name.replace("_", "-") not in option_names:
            raise UnknownNameError("option of karat run and of these systems", name, option_names - {"argument"})


def _split_title(text: str) -> tuple[str, str]:
    """Split `TITLE=SYSTEM` into title and system; the title is empty if `text` has none, or is a file."""
    match = None if Path(text).exists() else _TITLED.fullmatch(text)
    return ("", text) if match is None else (printable_path(match[1].strip()), match[2])


def _shorten_addresses(options: Mapping[str, str]) -> dict[str, str]:
    """Return options without those that are web addresses; the argument is reduced to the host of its address."""
    return {
        key: urlsplit(value).netloc or value if key == "argument" else value
        for key, value in options.items()
        if key == "argument" or not _ADDRESS.match(value)
    }


def _cut_title(title: str, text: str) -> str:
    """Return a title of at most 40 characters; a longer one is cut and made unique by a hash of `text`."""
    fingerprint = hashlib.sha256(text.encode()).hexdigest()[:6]
    return title if len(title) <= _MAX_TITLE else f"{title[:30]}…{fingerprint}"


def _format_system(name: str, options: Mapping[str, str]) -> str:
    """Return the text that names a system with these options."""
    pairs = ",".join(f"{key}={value}" for key, value in options.items() if key != "argument")
    argument = f":{options['argument']}" if "argument" in options else ""
    return f"{name}{f'[{pairs}]' if pairs else ''}{argument}"


def _option_names(system: System) -> frozenset[str]:
    """Return the names of a system's options, with underscores."""
    return frozenset(system.options.__dataclass_fields__)


def _code_fingerprint(name: str) -> str:
    """Return a hash of the plugin file `name` and of all source files for linking, adapters and their parsers."""
    digest = hashlib.sha256()
    folder = Path(__file__).parents[1]
    files = [] if name.endswith(".py") else [folder / "plugins" / f"{name.replace('-', '_')}.py"]
    if name in list_plugins("systems") and not files[0].is_file():
        module = sys.modules.get(name) or import_module("karat.systems.plugins")
        files = [Path(str(module.__file__))]
    for path in [*files, *sorted(path for part in _CODE_FOLDERS for path in (folder / part).rglob("*.py"))]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def document_key(document: Document, repeat: int = 0) -> str:
    """Return the cache key of a document: a hash of its content without its id, and of the repetition.

    `repeat`: index of the repetition of the run, from 0, so that repetitions do not share cached responses.
    """
    anonymous = msgspec.structs.replace(document, id="")
    return hashlib.sha256(msgspec.json.encode((anonymous, repeat))).hexdigest()
