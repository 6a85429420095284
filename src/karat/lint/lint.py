"""Rules over a gold standard: what they find, and the gold standard with what they can fix fixed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from karat.data.load import load
from karat.errors import InputError, UsageError
from karat.model.corpus import Corpus
from karat.model.document import Answer, Document, Header, Label
from karat.model.run import Run
from karat.registry import get, names
from karat.spec.rule import Context, Finding, Rule, Severity
from karat.storage.files import Source
from karat.work import working

_ROUNDS = 10  # one fix may call for another; more than a few rounds would mean that two work against each other
_BOM = b"\xef\xbb\xbf"


class RuleFinding(NamedTuple):
    """A finding, by which rule, and how bad."""

    rule: str
    severity: Severity
    finding: Finding


class GoldToLint(NamedTuple):
    """Documents to lint. `refused` says why they are no corpus yet, where a file could be read only line by line.

    Of answers, `answers` is true, labels are what was answered, and texts those of the gold standard or of the file.
    """

    name: str
    documents: list[Document]
    about: Mapping[str, str]
    skipped: Mapping[str, int]
    refused: str | None = None
    answers: bool = False


@dataclass(frozen=True, slots=True)
class LintReport:
    """What was found, in the order of documents, then rules."""

    rules: Mapping[str, Rule]
    found: Sequence[RuleFinding]

    def counts(self, *, fixable: bool = False) -> dict[str, int]:
        """Findings by rule, with those that found nothing; or only what a fix removes."""
        counted = Counter(one.rule for one in self.found if one.finding.fixable or not fixable)
        return {name: counted[name] for name in self.rules}

    def severities(self) -> dict[Severity, int]:
        """Findings by severity."""
        counted = Counter(one.severity for one in self.found)
        return {"error": counted["error"], "warning": counted["warning"], "hint": counted["hint"]}


def read_gold(path: str, *, format: str | None = None) -> GoldToLint:
    """A gold standard. Lines of Karat's own JSONL that are no corpus, such as spans out of range, are taken as such."""
    try:
        corpus = load(path, format=format)
        return GoldToLint(corpus.name, list(corpus), corpus.about, corpus.skipped)
    except InputError as problem:
        if path == "-" or format not in (None, "karat-jsonl"):
            raise
        lines = _as_written(Source(path))
        if lines is None:
            raise
        return lines._replace(refused=str(problem))


def read_answers(run: Run, gold: Corpus | None = None) -> GoldToLint:
    """Answers to lint, on the texts of a gold standard, or on their own; blanks stand where there are none."""
    texts = {} if gold is None else dict(zip(gold.ids.to_pylist(), gold.texts, strict=True))
    if gold is None and run.texts is not None:
        texts = dict(zip(run.ids.to_pylist(), run.texts.to_pylist(), strict=True))
    documents, skipped = [], Counter(run.skipped)
    for reply in run:
        blank = " " * max((answer.end for answer in reply.answers), default=0)
        text = texts.get(reply.id)
        skipped[f"answered documents that {gold.name if gold else run.name} has no text of"] += text is None
        labels = tuple(_label(answer) for answer in reply.answers)
        documents.append(Document(reply.id, blank if text is None else text, labels, tags=reply.tags))
    counted = {what: count for what, count in skipped.items() if count}
    return GoldToLint(run.name, documents, run.about, counted, answers=True)


def _label(answer: Answer) -> Label:
    return Label(answer.start, answer.end, answer.entity, same_as=answer.same_as, types=answer.types)


def _as_written(source: Source) -> GoldToLint | None:
    """The documents of a JSONL file without any check of how they fit together, or None if it is no such file."""
    name, about = source.stem, dict[str, str]()
    documents: list[Document] = []
    if source.folder or not source.exists:
        return None
    for number, line in enumerate(source.data().removeprefix(_BOM).splitlines()):
        try:
            if number == 0 and line.lstrip().startswith(b'{"karat"'):
                about = dict(msgspec.json.decode(line, type=Header).about)
                name = about.pop("name", name)
            elif line.strip():
                documents.append(msgspec.json.decode(line, type=Document))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
    return GoldToLint(name, documents, about, {}) if documents else None


def chosen_rules(
    only: Sequence[str], skip: Sequence[str], own: Mapping[str, Rule] | None = None, *, answers: bool = False
) -> dict[str, Rule]:
    """The rules to run by name: all, or only some, and the user's own; a name ending in `.py` is a file.

    Of answers, those that only gold standards can break are left out unless they are asked for.
    """
    mine = own or {}
    known = [*names("rules"), *mine]
    for name in skip:
        if name not in mine:
            get("rules", name, Rule)  # says what is near, if there is none of that name
    wanted = [name for name in dict.fromkeys(only or known) if name not in skip]
    if not wanted:
        raise UsageError("no rule is left to run. Skip fewer rules.")
    rules = {name: mine[name] if name in mine else get("rules", name, Rule) for name in wanted}
    return {name: rule for name, rule in rules.items() if only or not (answers and rule.gold)}


def lint(documents: Sequence[Document], rules: Mapping[str, Rule], context: Context) -> LintReport:
    """What the rules find."""
    found = list(_of_documents(documents, rules, context))
    for name, rule in rules.items():
        if rule.corpus_find is not None:
            with working(f"linting by {name}"):
                found += (RuleFinding(name, rule.severity, finding) for finding in rule.corpus_find(documents, context))
    place = {document.id: number for number, document in enumerate(documents)}
    found.sort(key=lambda one: place.get(one.finding.document or "", -1))
    return LintReport(rules, found)


def _of_documents(documents: Sequence[Document], rules: Mapping[str, Rule], context: Context) -> Iterator[RuleFinding]:
    with working("linting documents", len(documents)) as advance:
        for document in documents:
            for name, rule in rules.items():
                if rule.find is not None:
                    for finding in rule.find(document, context):
                        yield RuleFinding(name, rule.severity, finding)
            advance(1)


def fixed(documents: Sequence[Document], rules: Mapping[str, Rule], context: Context) -> list[Document]:
    """The documents with everything fixed that the rules can fix."""
    return [_fixed(document, rules, context) for document in documents]


def _fixed(document: Document, rules: Mapping[str, Rule], context: Context) -> Document:
    for _ in range(_ROUNDS):
        before = document
        for rule in rules.values():
            if rule.fix is not None:
                document = rule.fix(document, context)
        if document == before:
            break
    return document


def fixed_corpus(gold: GoldToLint, documents: Sequence[Document]) -> Corpus:
    """The fixed documents as a corpus, or an `InputError` about what is left that makes them none."""
    return Corpus.built(documents, name=gold.name, about=gold.about, skipped=gold.skipped)
