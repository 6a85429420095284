"""Linting of gold standards and predictions: findings, and fixes where rules have one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from karat.data.load import load
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter, locate_positive
from karat.model.document import Document, Header, Label, Prediction
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import JsonError, decode_exact_json, decode_json
from karat.model.output.progress import track_progress
from karat.model.registry import get_plugin, list_plugins
from karat.model.run import Run
from karat.model.spec.rule import Finding, LintContext, Rule, Severity
from karat.storage.files import Source

_MAX_ROUNDS = 10  # one fix may require another; more rounds would mean that two fixes undo each other
_BOM = b"\xef\xbb\xbf"


class RuleFinding(NamedTuple):
    """A finding with its rule and severity."""

    rule: str
    severity: Severity
    finding: Finding


class LintInput(NamedTuple):
    """Documents to lint."""

    name: str
    """Name of the corpus or run."""
    documents: list[Document]
    """The documents; for predictions, the labels are the predictions."""
    metadata: Mapping[str, str]
    """Metadata of the corpus or run."""
    skipped: Mapping[str, int]
    """Counts of items that the reader skipped, by description."""
    input_error: str | None = None
    """Why the file is not a valid corpus, if it could only be read line by line."""
    has_predictions: bool = False
    """Whether the documents contain predictions instead of gold labels."""


@dataclass(frozen=True, slots=True)
class LintReport:
    """Findings in the order of documents, then rules."""

    rules: Mapping[str, Rule]
    """The rules that ran, by name."""
    findings: Sequence[RuleFinding]
    """The findings."""

    def count_by_rule(self, *, fixable: bool = False) -> dict[str, int]:
        """Count the findings of every rule that ran; with `fixable`, only those that a fix removes."""
        totals = Counter(item.rule for item in self.findings if item.finding.fixable or not fixable)
        return {name: totals[name] for name in self.rules}

    def count_by_severity(self) -> dict[Severity, int]:
        """Count the findings by severity."""
        totals = Counter(item.severity for item in self.findings)
        return {"error": totals["error"], "warning": totals["warning"], "hint": totals["hint"]}


def read_gold(path: str, *, format: str | None = None) -> LintInput:
    """Load a gold standard to lint; Karat JSONL that is not a valid corpus is read line by line without checks.

    The error of the corpus is then in `input_error`. Raises `InputError` for other invalid files.
    """
    try:
        corpus = load(path, format=format)
        return LintInput(corpus.name, list(corpus), corpus.metadata, corpus.skipped)
    except InputError as error:
        if path == "-" or format not in (None, "karat-jsonl"):
            raise
        unchecked = _read_unchecked(Source(path))
        if unchecked is None:
            raise
        return unchecked._replace(input_error=str(error))


def prepare_predictions(run: Run, gold: Corpus | None = None) -> LintInput:
    """Convert a run to documents with predictions as labels, to lint them.

    Texts are those of `gold`, or without `gold` those of the run. A missing text is replaced by spaces and counted in
    `skipped`.
    """
    texts = {} if gold is None else dict(zip(gold.ids.to_pylist(), gold.texts, strict=True))
    if gold is None and run.texts is not None:
        texts = dict(zip(run.ids.to_pylist(), run.texts.to_pylist(), strict=True))
    documents, skipped = [], SkipCounter(run.skipped)
    for response in run:
        spaces = " " * max((prediction.end for prediction in response.predictions), default=0)
        text = texts.get(response.id)
        skipped[f"predicted documents without text in {gold.name if gold else run.name}"] += text is None
        labels = tuple(_to_label(prediction) for prediction in response.predictions)
        documents.append(Document(response.id, spaces if text is None else text, labels, tags=response.tags))
    return LintInput(run.name, documents, run.metadata, locate_positive(skipped, run.name), has_predictions=True)


def _to_label(prediction: Prediction) -> Label:
    """Return a prediction as a label, with its span, entity, `same_as` and types."""
    return Label(
        prediction.start, prediction.end, prediction.entity, same_as=prediction.same_as, types=prediction.types
    )


def _read_unchecked(source: Source) -> LintInput | None:
    """Read a Karat JSONL file without consistency checks; return None for other files and files without documents."""
    name, metadata = source.stem, dict[str, str]()
    documents: list[Document] = []
    if source.is_folder or not source.exists:
        return None
    for number, line in enumerate(source.read_bytes().removeprefix(_BOM).split(b"\n")):
        try:
            if number == 0 and line.lstrip().startswith(b'{"karat"'):
                metadata = dict(decode_json(line, Header).metadata)
                name = metadata.pop("name", name)
            elif line.strip():
                documents.append(msgspec.convert(decode_exact_json(line.strip()), Document))
        except (JsonError, msgspec.ValidationError):
            return None
    return LintInput(name, documents, metadata, {}) if documents else None


def select_rules(
    only: Sequence[str],
    skip: Sequence[str],
    user_rules: Mapping[str, Rule] | None = None,
    *,
    for_predictions: bool = False,
) -> dict[str, Rule]:
    """Return the rules to run by name: the rules in `only`, or all rules with `user_rules`, except the rules in `skip`.

    Names that end in `.py` are files. With `for_predictions`, rules that only apply to gold standards are excluded
    unless `only` names them. Raises an error for an unknown rule, or if no rule is left.
    """
    custom = user_rules or {}
    names = [*list_plugins("rules"), *custom]
    for name in skip:
        if name not in custom:
            get_plugin("rules", name, Rule)  # raises with suggestions if the rule does not exist
    selected = [name for name in dict.fromkeys(only or names) if name not in skip]
    if not selected:
        raise UsageError("no rule is left to run. Remove some of the skipped rules.")
    rules = {name: custom[name] if name in custom else get_plugin("rules", name, Rule) for name in selected}
    return {name: rule for name, rule in rules.items() if only or not (for_predictions and rule.is_gold_only)}


def lint(documents: Sequence[Document], rules: Mapping[str, Rule], context: LintContext) -> LintReport:
    """Run rules on documents and return their findings, sorted by document; those about the whole corpus come first."""
    findings = list(_lint_documents(documents, rules, context))
    for name, rule in rules.items():
        if rule.find_in_corpus is not None:
            with track_progress(f"linting by {name}"):
                findings += (
                    RuleFinding(name, rule.severity, finding) for finding in rule.find_in_corpus(documents, context)
                )
    positions = {document.id: number for number, document in enumerate(documents)}
    findings.sort(key=lambda item: positions.get(item.finding.document or "", -1))
    return LintReport(rules, findings)


def _lint_documents(
    documents: Sequence[Document], rules: Mapping[str, Rule], context: LintContext
) -> Iterator[RuleFinding]:
    """Yield the findings of the rules that check single documents."""
    with track_progress("linting documents", len(documents)) as advance:
        for document in documents:
            for name, rule in rules.items():
                if rule.find is not None:
                    for finding in rule.find(document, context):
                        yield RuleFinding(name, rule.severity, finding)
            advance(1)


def fix_documents(documents: Sequence[Document], rules: Mapping[str, Rule], context: LintContext) -> list[Document]:
    """Return the documents after all fixes of the rules, which are repeated until nothing changes."""
    return [_fix_document(document, rules, context) for document in documents]


def _fix_document(document: Document, rules: Mapping[str, Rule], context: LintContext) -> Document:
    """Apply the fixes of all rules repeatedly until nothing changes, at most `_MAX_ROUNDS` times."""
    for _ in range(_MAX_ROUNDS):
        previous = document
        for rule in rules.values():
            if rule.fix is not None:
                document = rule.fix(document, context)
        if document == previous:
            break
    return document


def to_fixed_corpus(gold: LintInput, documents: Sequence[Document]) -> Corpus:
    """Return the fixed documents as a corpus with name and metadata of `gold`.

    Raise `InputError` if they are still invalid.
    """
    return Corpus.from_reader(documents, name=gold.name, metadata=gold.metadata, skipped=gold.skipped)
