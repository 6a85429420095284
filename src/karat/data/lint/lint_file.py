r"""Checks and fixes of a file: `karat data lint` as one function, and user-defined lint rules from a TOML file.

    dimensions = ["form"]            # each label has one tag of these, and of the fine-grained paper's dimensions

    [[rule]]
    name = "years"
    description = "A year is numeric."
    severity = "warning"             # error, warning (default) or hint
    match = "all"                    # conditions that must hold: all (default) or any
    when.surface = '\d{4}'           # a regular expression for the whole surface
    when.entity = 'Q\d+'             # a regular expression for the whole id; NIL is written NIL
    when.types = ["Q5"]              # types that the label has; each entry is a condition
    when.categories = ["form:Full"]
    when.without = ["form:Alias"]    # types or categories that the label lacks
    then.add = ["form:NumericTemporal"]
    then.remove = ["form:Full"]      # or all tags of a dimension: "form:*"

A label that meets the conditions and that `then` would change is a finding; the change is its fix. Without `then`,
every label that meets the conditions is a finding.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from karat.data.lint.context import build_context
from karat.data.lint.lint import (
    LintInput,
    LintReport,
    fix_documents,
    lint,
    prepare_predictions,
    read_gold,
    select_rules,
    to_fixed_corpus,
)
from karat.data.load import (
    convert_run_offsets,
    detect_kind,
    get_target_format,
    load,
    load_run,
    load_run_for_any,
    write_data,
)
from karat.formats.parsing.lines import decode_utf8
from karat.matching.facts.labels import replace_labels
from karat.model.defects import get_error_policy
from karat.model.document import Document, Label
from karat.model.errors import InputError, UsageError
from karat.model.registry import list_plugins
from karat.model.spec.rule import Finding, LintContext, Rule, Severity
from karat.storage.files import Source

_Condition: TypeAlias = Callable[[str, Label], bool]
_RULE_HEADER = re.compile(r"\s*\[\[\s*rule\s*\]\]")
_ERROR_PATH = re.compile(r"(.*?)(?: - at `\$\.?(?:rule\[(\d+)\])?\.?(.*)`)?", re.DOTALL)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class LintOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The rules to check, and the data that they use."""

    kb: str | None = None
    """Knowledge base with ids, types and redirects."""
    redirects: str | None = None
    """File of redirects."""
    types: str | None = None
    """Name or file of allowed types."""
    rules_file: str | None = None
    """File of custom rules."""
    only: Sequence[str] = ()
    """Rules to check; empty for all."""
    skip: Sequence[str] = ()
    """Rules to skip."""


class LintedFile(msgspec.Struct, frozen=True, eq=False):
    """A checked file."""

    data: LintInput
    """What was checked."""
    report: LintReport
    """All findings."""
    remaining: LintReport | None = None
    """Findings that the fixes leave; None if nothing was fixed."""
    not_stored: Mapping[str, int] = {}
    """What the format of the fixed file cannot store, with counts."""

    @property
    def is_clean(self) -> bool:
        """Whether neither errors nor warnings remain, and the file is a valid corpus or was fixed."""
        counts = (self.remaining or self.report).count_by_severity()
        is_valid = self.data.input_error is None or self.remaining is not None
        return is_valid and not (counts["error"] or counts["warning"])


def lint_file(
    path: str,
    options: LintOptions | None = None,
    *,
    gold: str | None = None,
    kind: str | None = None,
    target: str | None = None,
    gold_format: str | None = None,
    predictions_format: str | None = None,
) -> LintedFile:
    """Check a gold standard or predictions; with `target`, write the gold standard with all automatic fixes.

    `kind` is `gold` or `predictions`, by default detected. `gold` is the gold standard of predictions, with the texts.
    Predictions are checked but never changed. Raise `UsageError` for arguments that exclude each other.
    """
    options = options or LintOptions()
    custom_rules = UserRules({}, ()) if options.rules_file is None else read_rules(options.rules_file)
    kind = kind or ("predictions" if gold or predictions_format else detect_kind(path, format=gold_format))
    has_predictions = kind == "predictions"
    if has_predictions and target is not None:
        raise UsageError(f"{path}: predictions are checked but never changed. Remove --fix.")
    if gold is not None and not has_predictions:
        raise UsageError(f"--gold is only used with predictions, but {path} is a gold standard. Remove --gold.")
    rules = select_rules(options.only, options.skip, custom_rules.rules, for_predictions=has_predictions)
    if target is not None:
        get_target_format(target, None)  # fails before the work if the suffix is unknown
    data = (
        _read_predictions(path, gold, gold_format, predictions_format)
        if has_predictions
        else read_gold(path, format=gold_format)
    )
    context = build_context(
        data.documents,
        kb=options.kb,
        redirects=options.redirects,
        types=options.types,
        dimensions=custom_rules.dimensions,
        skipped=data.skipped,
    )
    report = lint(data.documents, rules, context)
    if target is None:
        return LintedFile(data, report)
    documents = fix_documents(data.documents, rules, context)
    remaining = lint(documents, rules, context)
    fixed_gold = to_fixed_corpus(data, documents)
    return LintedFile(data, report, remaining, write_data(fixed_gold, target))


def _read_predictions(
    path: str, gold: str | None, gold_format: str | None, predictions_format: str | None
) -> LintInput:
    """Load predictions to lint, with the texts of `gold` if it is given."""
    corpus = None if gold is None else load(gold, format=gold_format)
    run_format = predictions_format or (gold_format if gold is None else None)
    if corpus is None:
        return prepare_predictions(load_run(path, format=run_format))
    run = load_run_for_any(path, [corpus], format=run_format)
    return prepare_predictions(convert_run_offsets(corpus, run, get_error_policy()), corpus)


class _When(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The conditions of a rule."""

    surface: str | None = None
    entity: str | None = None
    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


class _Then(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The changes of a rule."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule of the file."""

    name: str
    when: _When
    then: _Then = _Then()
    description: str = ""
    severity: Severity = "warning"
    match: Literal["all", "any"] = "all"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    rule: tuple[_Entry, ...] = ()
    dimensions: tuple[str, ...] = ()


class UserRules(NamedTuple):
    """The rules of a file by name, and the dimensions in which each label should have one tag."""

    rules: Mapping[str, Rule]
    dimensions: tuple[str, ...]


def read_rules(path: str) -> UserRules:
    """Read user-defined rules from a TOML file; raise `InputError` with the location if it is invalid."""
    source = Source(path)
    text = decode_utf8(source.read_bytes(), source)
    try:
        file = msgspec.convert(tomllib.loads(text), _File)
    except msgspec.ValidationError as error:
        raise _validation_error(source.label, text, str(error)) from None
    except (ValueError, RecursionError) as error:  # includes numbers and nesting beyond Python's limits
        raise _rule_error(_syntax_location(source.label, str(error)), f"no valid TOML ({error})", "TOML") from None
    rules: dict[str, Rule] = {}
    for number, entry in enumerate(file.rule):
        where = _rule_location(source.label, text, number)
        if not _NAME.fullmatch(entry.name):
            raise _rule_error(where, f"the name {entry.name!r}", "lowercase letters, digits and hyphens")
        if entry.name in rules or entry.name in list_plugins("rules"):
            raise _rule_error(where, f"the name {entry.name!r}, which is already used", "a unique name")
        rules[entry.name] = _to_rule(entry, where)
    if not rules and not file.dimensions:
        raise _rule_error(source.label, "no [[rule]]", "at least one")
    return UserRules(rules, file.dimensions)


def _to_rule(entry: _Entry, where: str) -> Rule:
    """Convert an entry of the file to a rule; `where` is its location for error messages."""
    meets = _build_condition(entry, where)
    return Rule(
        title=entry.name,
        description=entry.description or f"User-defined rule {entry.name}.",
        severity=entry.severity,
        find=partial(_find_labels, entry, meets),
        fix=partial(_fix_labels, entry, meets) if entry.then != _Then() else None,
    )


def _build_condition(entry: _Entry, where: str) -> _Condition:
    """Return a function of a label's surface and the label that tells whether they meet the conditions of `entry`.

    The conditions are those in `when`: surface and entity as regular expressions, types, categories, and tags that are
    absent. All or any must hold, by `entry.match`. Raise `InputError` with the location `where` for an invalid regular
    expression, and if there are no conditions.
    """
    when = entry.when
    tests: list[_Condition] = []
    if when.surface is not None:
        surface = _compile_pattern(when.surface, where, "when.surface")
        tests.append(lambda text, label: surface.fullmatch(text) is not None)
    if when.entity is not None:
        entity = _compile_pattern(when.entity, where, "when.entity")
        tests.append(lambda text, label: entity.fullmatch(_entity_text(label)) is not None)
    tests += [partial(_has_type, kind) for kind in when.types]
    tests += [partial(_has_category, tag) for tag in when.categories]
    tests += [partial(_lacks_tag, tag) for tag in when.without]
    if not tests:
        raise _rule_error(where, "no condition in `when`", "surface, entity, types, categories or without")
    combine = all if entry.match == "all" else any
    return lambda text, label: combine(test(text, label) for test in tests)


def _has_type(kind: str, text: str, label: Label) -> bool:
    """Return whether the label has the type `kind`; the surface `text` is not used."""
    return kind in label.types


def _has_category(tag: str, text: str, label: Label) -> bool:
    """Return whether the label has the category `tag`; the surface `text` is not used."""
    return tag in label.categories


def _lacks_tag(tag: str, text: str, label: Label) -> bool:
    """Return whether the label has `tag` neither as category nor as type; the surface `text` is not used."""
    return tag not in label.categories and tag not in label.types


def _entity_text(label: Label) -> str:
    """Return the entity id of a label, `NIL`, or an empty string if it is unlinked."""
    return "NIL" if label.entity is None else label.entity if isinstance(label.entity, str) else ""


def _compile_pattern(text: str, where: str, key: str) -> re.Pattern[str]:
    """Compile the regular expression under `key` in the file; raise `InputError` with the location if it is invalid."""
    try:
        return re.compile(text)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise _rule_error(where, f"{text!r} in `{key}` ({error})", "a regular expression") from None


def _find_labels(entry: _Entry, meets: _Condition, document: Document, _: LintContext) -> Iterator[Finding]:
    """Yield a finding for each label that the rule would change.

    If the rule has no `then`, yield a finding for each label that meets its conditions.
    """
    for label in document.labels:
        new = _apply_changes(entry, meets, document, label)
        if new != label:
            added = [f"Add {tag}" for tag in new.categories if tag not in label.categories]
            removed = [f"Remove {tag}" for tag in label.categories if tag not in new.categories]
            proposal = ". ".join([*added, *removed])
            yield Finding.from_label(document, label, entry.description or entry.name, proposal, fixable=True)
        elif entry.then == _Then() and meets(document.text[label.start : label.end], label):
            yield Finding.from_label(document, label, entry.description or entry.name)


def _fix_labels(entry: _Entry, meets: _Condition, document: Document, _: LintContext) -> Document:
    """Return the document with the changes of `then` on all labels that meet the conditions."""
    return replace_labels(document, (_apply_changes(entry, meets, document, label) for label in document.labels))


def _apply_changes(entry: _Entry, meets: _Condition, document: Document, label: Label) -> Label:
    """Return the label with the changes of `then` if it meets the conditions; additions override removals."""
    if not meets(document.text[label.start : label.end], label):
        return label
    remaining = [tag for tag in label.categories if tag in entry.then.add or not _is_removed(tag, entry.then.remove)]
    added = [tag for tag in dict.fromkeys(entry.then.add) if tag not in remaining]
    return msgspec.structs.replace(label, categories=(*remaining, *added))


def _is_removed(tag: str, remove: tuple[str, ...]) -> bool:
    """Return whether `remove` contains a category, or its dimension as `DIMENSION:*`."""
    return tag in remove or f"{tag.partition(':')[0]}:*" in remove


def _rule_location(label: str, text: str, number: int) -> str:
    """Return file and line at which the rule with index `number` starts, or its number if the line is unknown."""
    lines = [line for line, content in enumerate(text.splitlines(), 1) if _RULE_HEADER.match(content)]
    return f"{label}:{lines[number]}" if number < len(lines) else f"{label}, rule {number + 1}"


def _syntax_location(label: str, message: str) -> str:
    """Return file and line of a TOML syntax error, from its message; only the file if the message has no line."""
    match = re.search(r"at line (\d+)", message)
    return f"{label}:{match[1]}" if match else label


def _validation_error(label: str, text: str, problem: str) -> InputError:
    """Make the error for a value of the wrong type, from msgspec's message `problem`."""
    match = _ERROR_PATH.fullmatch(problem)
    assert match is not None
    reason, rule, key = match.groups()
    where = label if rule is None else _rule_location(label, text, int(rule))
    position = f" at `{key}`" if key else ""
    return _rule_error(
        where,
        f"{reason[:1].lower()}{reason[1:]}{position}",
        "the keys and values of the documentation page 'Lint rules'",
    )


def _rule_error(where: str, actual: str, expected: str) -> InputError:
    """Make the error for an invalid rule file."""
    return InputError(where, actual=actual, expected=expected, remedy="Correct the rule file")
