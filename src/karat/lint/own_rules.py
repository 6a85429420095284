"""Rules of the user's own, from a TOML file.

    dimensions = ["form"]            # each label has one tag of these (beside those of the fine-grained paper)

    [[rule]]
    name = "years"
    says = "A year is numeric."
    severity = "warning"             # error, warning (unless given) or hint
    match = "all"                    # of the conditions: all (unless given) or any
    when.surface = '\\d{4}'           # a regular expression for the whole surface
    when.entity = 'Q\\d+'             # … for the whole id; NIL is written NIL
    when.types = ["Q5"]              # a type that the label has; each entry is a condition
    when.categories = ["form:Full"]
    when.without = ["form:Alias"]    # a type or category that it has not
    then.add = ["form:NumericTemporal"]
    then.remove = ["form:Full"]      # or everything of a dimension: "form:*"

A label that meets the conditions, and that `then` would change, is a finding, and the change is its fix. Without `then`
every label that meets the conditions is a finding.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from karat.errors import InputError
from karat.facts.labels import relabelled
from karat.model.document import Document, Label
from karat.parsing.lines import decoded
from karat.registry import names
from karat.spec.rule import Context, Finding, Rule, Severity
from karat.storage.files import Source

_Test: TypeAlias = Callable[[str, Label], bool]
_HEAD = re.compile(r"\s*\[\[\s*rule\s*\]\]")
_PATH = re.compile(r"(.*?)(?: - at `\$\.?(?:rule\[(\d+)\])?\.?(.*)`)?", re.DOTALL)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class _When(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    surface: str | None = None
    entity: str | None = None
    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


class _Then(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    when: _When
    then: _Then = _Then()
    says: str = ""
    severity: Severity = "warning"
    match: Literal["all", "any"] = "all"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[_Entry, ...] = ()
    dimensions: tuple[str, ...] = ()


class OwnRules(NamedTuple):
    """The rules of a file by name, and the dimensions of which each label should have one tag."""

    rules: Mapping[str, Rule]
    dimensions: tuple[str, ...]


def read_rules(path: str) -> OwnRules:
    """The rules in a TOML file, or an `InputError` that says where it is wrong."""
    source = Source(path)
    text = decoded(source.data(), source)
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except msgspec.ValidationError as problem:
        raise _explained(source.label, text, str(problem)) from None
    except (ValueError, RecursionError) as problem:  # also numbers and nesting beyond what Python reads
        raise _refused(_syntax_place(source.label, str(problem)), f"no valid TOML ({problem})", "TOML") from None
    rules: dict[str, Rule] = {}
    for number, entry in enumerate(file.rule):
        where = _place(source.label, text, number)
        if not _NAME.fullmatch(entry.name):
            raise _refused(where, f"the name {entry.name!r}", "small letters, digits and hyphens")
        if entry.name in rules or entry.name in names("rules"):
            raise _refused(where, f"the name {entry.name!r}, which is taken", "a name of its own")
        rules[entry.name] = _rule(entry, where)
    if not rules and not file.dimensions:
        raise _refused(source.label, "no [[rule]]", "at least one")
    return OwnRules(rules, file.dimensions)


def _rule(entry: _Entry, where: str) -> Rule:
    meets = _condition(entry, where)
    return Rule(
        title=entry.name,
        says=entry.says or f"The rule {entry.name} of the user.",
        severity=entry.severity,
        find=partial(_find, entry, meets),
        fix=partial(_fix, entry, meets) if entry.then != _Then() else None,
    )


def _condition(entry: _Entry, where: str) -> _Test:
    """Whether a label with a surface meets the conditions."""
    when = entry.when
    tests: list[_Test] = []
    if when.surface is not None:
        surface = _pattern(when.surface, where, "when.surface")
        tests.append(lambda text, label: surface.fullmatch(text) is not None)
    if when.entity is not None:
        entity = _pattern(when.entity, where, "when.entity")
        tests.append(lambda text, label: entity.fullmatch(_id(label)) is not None)
    tests += [partial(_has_type, kind) for kind in when.types]
    tests += [partial(_has_category, tag) for tag in when.categories]
    tests += [partial(_has_not, tag) for tag in when.without]
    if not tests:
        raise _refused(where, "no condition in `when`", "surface, entity, types, categories or without")
    wanted = all if entry.match == "all" else any
    return lambda text, label: wanted(test(text, label) for test in tests)


def _has_type(kind: str, text: str, label: Label) -> bool:
    return kind in label.types


def _has_category(tag: str, text: str, label: Label) -> bool:
    return tag in label.categories


def _has_not(tag: str, text: str, label: Label) -> bool:
    return tag not in label.categories and tag not in label.types


def _id(label: Label) -> str:
    return "NIL" if label.entity is None else label.entity if isinstance(label.entity, str) else ""


def _pattern(written: str, where: str, key: str) -> re.Pattern[str]:
    try:
        return re.compile(written)
    except (re.error, ValueError, OverflowError, RecursionError) as problem:
        raise _refused(where, f"{written!r} in `{key}` ({problem})", "a regular expression") from None


def _find(entry: _Entry, meets: _Test, document: Document, _: Context) -> Iterator[Finding]:
    for label in document.labels:
        new = _changed(entry, meets, document, label)
        if new != label:
            added = [f"Add {tag}" for tag in new.categories if tag not in label.categories]
            removed = [f"Remove {tag}" for tag in label.categories if tag not in new.categories]
            proposal = ". ".join([*added, *removed])
            yield Finding.at(document, label, entry.says or entry.name, proposal, fixable=True)
        elif entry.then == _Then() and meets(document.text[label.start : label.end], label):
            yield Finding.at(document, label, entry.says or entry.name)


def _fix(entry: _Entry, meets: _Test, document: Document, _: Context) -> Document:
    return relabelled(document, (_changed(entry, meets, document, label) for label in document.labels))


def _changed(entry: _Entry, meets: _Test, document: Document, label: Label) -> Label:
    """The label with the tags of `then`, if it meets the conditions; what is both removed and added is there."""
    if not meets(document.text[label.start : label.end], label):
        return label
    kept = [tag for tag in label.categories if tag in entry.then.add or not _removed(tag, entry.then.remove)]
    new = [tag for tag in dict.fromkeys(entry.then.add) if tag not in kept]
    return msgspec.structs.replace(label, categories=(*kept, *new))


def _removed(tag: str, remove: tuple[str, ...]) -> bool:
    return tag in remove or f"{tag.partition(':')[0]}:*" in remove


# --- where a file is wrong


def _place(label: str, text: str, number: int) -> str:
    """The line on which a rule begins; its number among the rules where lines do not tell."""
    found = [line for line, content in enumerate(text.splitlines(), 1) if _HEAD.match(content)]
    return f"{label}:{found[number]}" if number < len(found) else f"{label}, rule {number + 1}"


def _syntax_place(label: str, problem: str) -> str:
    found = re.search(r"at line (\d+)", problem)
    return f"{label}:{found[1]}" if found else label


def _explained(label: str, text: str, problem: str) -> InputError:
    match = _PATH.fullmatch(problem)
    assert match is not None
    message, rule, key = match.groups()
    where = label if rule is None else _place(label, text, int(rule))
    at = f" at `{key}`" if key else ""
    return _refused(where, f"{message[:1].lower()}{message[1:]}{at}", "the keys and values that docs/lint.md shows")


def _refused(where: str, found: str, expected: str) -> InputError:
    return InputError(where, found=found, expected=expected, remedy="Correct the file of rules")
