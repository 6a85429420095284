"""A system by the name that users type, and everything on which its replies depend."""

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

import msgspec

from karat.errors import UnknownNameError, UsageError
from karat.linking.named import system_named
from karat.model.document import Document
from karat.registry import identity, names
from karat.spec.outside import Outside
from karat.spec.system import System, asked, options_said, parse_system
from karat.version import __version__

PUBLISHED = "answers"
"""The name of what is no system: `answers:FILE` are answers that somebody published."""

_CODE = ("linking", "adapters")
_LONGEST = 40  # characters of a title


@dataclass(frozen=True)
class RunnableSystem:
    """A system with its options, as it was written; `published` is the file of answers that stands for one.

    `called` is what tables call it, where its own title would be that of another.
    """

    written: str
    name: str
    system: System | None
    options: Any = None
    published: str | None = None
    called: str = ""

    @classmethod
    def of(cls, written: str, flags: Mapping[str, str] | None = None) -> RunnableSystem:
        """The system of a name; `flags` are options for all systems, of which each takes those that it has."""
        name, given = parse_system(written)
        if name == PUBLISHED:
            if not given.get("rest"):
                raise UsageError("answers: names no file. Write answers:FILE, a file of answers that is there.")
            return cls(written, name, None, published=given["rest"])
        found = system_named(written, flags)
        own = {key: value for key, value in (flags or {}).items() if key.replace("-", "_") in _fields(found.system)}
        return cls(_spelt(name, {**own, **given}) if own else written, name, found.system, found.options)

    @property
    def outside(self) -> Outside | None:
        """Where it does its work, if that is not in Karat."""
        return None if self.system is None or self.system.outside is None else self.system.outside(self.options)

    @property
    def runs_commands(self) -> bool:
        """Whether naming it runs a program of the user's."""
        return self.name.endswith(".py") or bool(self.outside is not None and self.outside.command)

    @property
    def sees_gold(self) -> bool:
        """Whether it gets documents with their gold; of some systems the options say so."""
        return bool(getattr(self.options, "sees_gold", self.system is not None and self.system.sees_gold))

    def takes_mentions(self, given: bool) -> bool:
        """Whether mentions are handed to it: if they are given and it can use them, or if it needs them."""
        return self.system is not None and {"never": False, "welcome": given, "needed": True}[self.system.spans]

    @cached_property
    def title(self) -> str:
        """How tables call it: as it was written or without its options, if that is short, or else cut."""
        if self.called:
            return self.called
        if self.published is not None:
            return Path(self.published).name.split(".")[0]
        short = self.written.removesuffix(".py") if self.name.endswith(".py") else self.written
        if len(short) > _LONGEST and self.system is not None and self.system.rest:
            short = f"{self.name}:{self.options.rest}"
        fingerprint = hashlib.sha256(self.written.encode()).hexdigest()[:6]
        return short if len(short) <= _LONGEST else f"{short[:30]}…{fingerprint}"

    @property
    def stem(self) -> str:
        """The name of its files."""
        plain = re.sub(r"[^\w.=+-]+", "-", self.title).strip("-.") or "system"
        return plain if plain == self.title else f"{plain}-{hashlib.sha256(self.written.encode()).hexdigest()[:6]}"

    def about(self) -> dict[str, str]:
        """What decides its replies, as the manifest says it."""
        if self.system is None:
            return {"linker": PUBLISHED}
        said = {"linker": identity("systems", self.name), "version": self.version}
        options = options_said(self.options)
        if options:
            said["options"] = ",".join(f"{name}={value}" for name, value in options.items())
        return {**said, **self.system.stamp(self.options), **self.system.training.said()}

    @property
    def version(self) -> str:
        """Of a system of Karat's, its version and a fingerprint of the code."""
        return f"{__version__}+{_code(self.name)}"

    def key(self, *, given: bool) -> str:
        """A fingerprint of everything that replies depend on besides the document."""
        said = {**self.about(), "given": str(given), "layout": "replies/1"}
        return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()

    def asked(self, document: Document, *, given: bool) -> Document:
        """What it gets of a document: never the gold, unless it says that it sees it."""
        return document if self.sees_gold else asked(document, given=given)


def told_apart(systems: Sequence[RunnableSystem]) -> tuple[RunnableSystem, ...]:
    """The same with titles that differ; the same system twice is refused."""
    titles = Counter(system.title for system in systems)
    found = [replace(one, called=one.written) if titles[one.title] > 1 else one for one in systems]
    twice = [title for title, count in Counter(one.title for one in found).items() if count > 1]
    if twice:
        raise UsageError(f"{twice[0]} is named twice. Name each system once, or give its variants different options.")
    return tuple(found)


def refuse_unused(systems: Sequence[RunnableSystem], flags: Mapping[str, str]) -> None:
    """Refuse an option that no system has: it would be lost in silence."""
    known = {name.replace("_", "-") for one in systems if one.system is not None for name in _fields(one.system)}
    for name in flags:
        if name.replace("_", "-") not in known:
            raise UnknownNameError("option of karat run and of these systems", name, known - {"rest"})


def _spelt(name: str, options: Mapping[str, str]) -> str:
    """A system with options that were given as flags, as it could have been written."""
    own = ",".join(f"{key}={value}" for key, value in options.items() if key != "rest")
    rest = f":{options['rest']}" if "rest" in options else ""
    return f"{name}{f'[{own}]' if own else ''}{rest}"


def _fields(system: System) -> frozenset[str]:
    return frozenset(system.options.__dataclass_fields__)


def _code(name: str) -> str:
    """A fingerprint of the files that a system of Karat's is made of."""
    found = hashlib.sha256()
    folder = Path(__file__).parents[1]
    own = [] if name.endswith(".py") else [folder / "systems" / f"{name.replace('-', '_')}.py"]
    if name in names("systems") and not own[0].is_file():
        module = sys.modules.get(name) or import_module("karat.systems")
        own = [Path(str(module.__file__))]
    for path in [*own, *sorted(path for part in _CODE for path in (folder / part).rglob("*.py"))]:
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()[:8]


def document_key(document: Document, repeat: int = 0) -> str:
    """A fingerprint of what is asked about: the text and the spans, whatever the document is called."""
    nameless = msgspec.structs.replace(document, id="")
    return hashlib.sha256(msgspec.json.encode((nameless, repeat))).hexdigest()
