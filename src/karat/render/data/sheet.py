"""The data sheet of a dataset in Markdown, and the folder to publish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from karat.data.convert import is_value
from karat.data.describe import Description, TraitCount, describe
from karat.data.lint.context import build_context
from karat.data.lint.lint import LintReport, lint, select_rules
from karat.data.publishing.leakage import Overlap
from karat.data.publishing.manifest import MANIFEST_NAME
from karat.data.publishing.registration import Publication
from karat.data.publishing.split import measure_overlaps
from karat.kb.ids.id_patterns import id_pattern
from karat.kb.ids.normal_forms import recognise_id
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.output.json_files import encode_indented
from karat.model.output.text_layout import format_count, wrap_text
from karat.render.agreement import format_score
from karat.render.data.croissant import CROISSANT_NAME, build_croissant
from karat.render.data.publishing import OVERLAP_COLUMNS, build_overlap_row, describe_overlaps
from karat.render.data.stats import build_rows
from karat.render.tables import draw_markdown, escape_markdown
from karat.version import __version__

if TYPE_CHECKING:
    from karat.analysis.explanation.agreement import Agreement

SHEET_NAME: Final = "datasheet.md"
"""Name of the data sheet in the folder to publish."""

_UNKNOWN: Final = "unknown"
_N_TOP: Final = 10
_KB_HINT: Final = "Shares of mentions need facts of a knowledge base: add --kb starter, or another one."
_GUIDELINES_KEY: Final = "guidelines"
_AGREEMENT_KEY: Final = "agreement"


class SplitFacts(NamedTuple):
    """Measurements on a split."""

    corpus: Corpus
    """The split."""
    statistics: Description
    """Its statistics."""
    lint: LintReport
    """The findings in it."""


class Sheet(NamedTuple):
    """Everything that a data sheet says about a version of a dataset."""

    publication: Publication
    """The version with its files."""
    splits: Mapping[str, SplitFacts]
    """What was measured, by split."""
    overlaps: Sequence[Overlap]
    """What later splits have in common with earlier ones."""
    agreement: Agreement | None
    """Agreement of annotators; None if their labels are not given."""
    stated_agreement: str
    """Agreement that the file of a campaign states; empty if it states none."""
    stated_guidelines: str
    """Versions of guidelines that the file of a campaign states; empty if it states none."""
    kb: str | None
    """Name of the knowledge base that supplied facts; None if there was none."""

    @property
    def unknown(self) -> list[str]:
        """Names of everything that is not known about the dataset."""
        version = self.publication.version
        unknown = version.metadata.list_unknown()
        if not (version.guidelines or self.stated_guidelines):
            unknown.append("guidelines")
        if self.agreement is None and not self.stated_agreement:
            unknown.append("agreement of annotators")
        return [*unknown, *(f"share of {name} mentions" for name in self._undefined_shares)]

    @property
    def lacks_kb(self) -> bool:
        """Whether a share of mentions is unknown because there was no knowledge base."""
        return self.kb is None and bool(self._undefined_shares)

    @property
    def _undefined_shares(self) -> list[str]:
        """Names of the shares of mentions that are not known."""
        undefined = {name for facts in self.splits.values() for name in facts.statistics.undefined}
        return sorted(undefined - {"domain", "document type", "language"})


def build_sheet(
    publication: Publication,
    corpora: Mapping[str, Corpus],
    *,
    agreement: Agreement | None = None,
    kb: KB | None = None,
    kb_name: str | None = None,
) -> Sheet:
    """Measure everything that the data sheet of a version shows; `corpora` are its splits by name.

    `agreement`: that of its annotators. `kb`, `kb_name`: knowledge base with facts for statistics and lint.
    """
    rules = select_rules((), ())
    stated = publication.version.metadata
    texts = {"language": stated.language, "domain": stated.domain, "document type": stated.document_type}
    splits = {}
    for name, data in corpora.items():
        corpus = replace(data, metadata={**data.metadata, **{key: value for key, value in texts.items() if value}})
        documents = list(corpus)
        report = lint(documents, rules, build_context(documents, kb=kb_name, skipped=corpus.skipped))
        splits[name] = SplitFacts(corpus, describe(corpus, kb), report)
    metadata = next(iter(corpora.values())).metadata
    return Sheet(
        publication,
        splits,
        tuple(measure_overlaps(corpora)),
        agreement,
        metadata.get(_AGREEMENT_KEY, ""),
        metadata.get(_GUIDELINES_KEY, ""),
        kb_name,
    )


def encode_folder(sheet: Sheet) -> dict[str, bytes]:
    """Return the content of all files of the folder to publish by path."""
    return {
        SHEET_NAME: render_sheet(sheet).encode(),
        CROISSANT_NAME: encode_indented(build_croissant(sheet.publication)),
        MANIFEST_NAME: encode_indented(sheet.publication.manifest),
        **sheet.publication.files,
    }


def render_summary(sheet: Sheet, folder: str, *, width: int | None = None) -> str:
    """Render what was written to a folder, and what is unknown; `width`: columns to wrap at, None does not wrap."""
    title = f"{sheet.publication.name}@{sheet.publication.version_name}"
    unknown = f"unknown: {', '.join(sheet.unknown)}" if sheet.unknown else "nothing is unknown"
    hint = f"\n{_KB_HINT}" if sheet.lacks_kb else ""
    return wrap_text(f"{folder}: data sheet, Croissant and data of {title}\n{unknown}{hint}\n", width)


def render_sheet(sheet: Sheet) -> str:
    """Render a data sheet as Markdown."""
    publication = sheet.publication
    metadata = publication.version.metadata
    blocks = [
        f"# {escape_markdown(metadata.title or publication.name)}",
        escape_markdown(metadata.description) if metadata.description else "Description: unknown.",
    ]
    for title, section in (
        ("Identity", _build_identity(sheet)),
        ("Files", _build_files(sheet)),
        ("Statistics", _build_statistics(sheet)),
        ("Guidelines", _build_guidelines(sheet)),
        ("Agreement", _build_agreement(sheet)),
        ("Known biases", _build_biases(sheet)),
        ("Overlap of the splits", _build_overlaps(sheet)),
        ("Lint report", _build_lint(sheet)),
        ("Unknown", _build_unknown(sheet)),
    ):
        blocks += [f"## {title}", *section]
    return "\n\n".join(blocks) + "\n"


def _build_identity(sheet: Sheet) -> Iterator[str]:
    """Yield the table of what the authors state."""
    publication, metadata = sheet.publication, sheet.publication.version.metadata
    values = {
        "name": publication.name,
        "version": publication.version_name,
        "changes": publication.version.changes,
        "licence": metadata.licence,
        "citation": metadata.citation,
        "creators": "; ".join(metadata.creators),
        "published": metadata.published,
        "address": metadata.url,
        "source of the texts": "; ".join(metadata.sources),
        "language": metadata.language,
        "domain": metadata.domain,
        "document type": metadata.document_type,
        "knowledge base of the links": metadata.kb,
        "tasks": ", ".join(publication.version.tasks),
    }
    yield draw_markdown([["", ""], *([name, value or _UNKNOWN] for name, value in values.items())], (0, 1))


def _build_files(sheet: Sheet) -> Iterator[str]:
    """Yield the tables of files, and what was skipped or changed when the original files were read."""
    version = sheet.publication.version
    rows = [
        [split, file.path, f"{item.documents:,}", f"{item.labels:,}", item.digest, f"{file.size:,}", file.sha256]
        for split, item in version.splits.items()
        for file in [item.file]
    ]
    head = ["split", "file", "documents", "labels", "digest", "bytes", "SHA-256"]
    yield draw_markdown([head, *rows], (0, 1, 4, 6))
    yield (
        "Each line of a file is a JSON object, a document with `id`, `text` and `labels`. Offsets count Unicode code "
        "points; `end` is exclusive. An `entity` of `null` is NIL, and a label without `entity` is unlinked."
    )
    skipped = [
        f"- {f'{split}: ' if len(version.splits) > 1 else ''}{escape_markdown(reason)}: {count}"
        for split, item in version.splits.items()
        for reason, count in item.skipped.items()
    ]
    if skipped:
        yield "Skipped or changed on reading the original files:"
        yield "\n".join(skipped)


def _build_statistics(sheet: Sheet) -> Iterator[str]:
    """Yield the table of statistics, a column per split, and the ids of the links."""
    descriptions = [facts.statistics for facts in sheet.splits.values()]
    yield draw_markdown([["", *sheet.splits], *build_rows(descriptions)])
    yield "The indented rows are mentions that are not optional, with their share in per cent."
    schemes: Counter[str] = Counter()
    n_values = 0
    for facts in sheet.splits.values():
        labels = [label for document in facts.corpus for label in document.labels]
        links = [label.entity for label in labels if not is_value(label)]
        n_values += len(labels) - len(links)
        schemes.update(_name_scheme(entity) for entity in links if isinstance(entity, str))
    if schemes:
        yield draw_markdown([["ids of links", "labels"], *([name, f"{n:,}"] for name, n in schemes.most_common())])
    if n_values:
        yield f"{format_count(n_values, 'label')} of quantities and datetimes, which have no id."


def _name_scheme(id: str) -> str:
    """Return the scheme of an entity id, or else its pattern."""
    recognised = recognise_id(id)
    return id_pattern(id) if recognised is None else recognised.scheme


def _build_guidelines(sheet: Sheet) -> Iterator[str]:
    """Yield the files of guidelines, or what the data state about guidelines."""
    files = sheet.publication.version.guidelines
    if files:
        yield "\n".join(f"- [{escape_markdown(file.path)}]({file.path}), SHA-256 {file.sha256}" for file in files)
    if sheet.stated_guidelines:
        yield f"Versions in the metadata of the data: {escape_markdown(sheet.stated_guidelines)}."
    if not files and not sheet.stated_guidelines:
        yield "Unknown."


def _build_agreement(sheet: Sheet) -> Iterator[str]:
    """Yield the agreement that was measured, or what the data state about it."""
    if sheet.agreement is not None:
        measured = sheet.agreement
        rows = [
            [
                f"{pair.annotator_a}, {pair.annotator_b}",
                *(format_score(score, percent=True) for score in pair.f1.values()),
                format_score(pair.kappa),
                format_score(pair.kappa_of_links),
            ]
            for pair in measured.pairs
        ]
        f1_head = [f"F1 in %, {relation}" for relation in measured.pairs[0].f1]
        head = ["annotators", *f1_head, "Cohen's kappa, all spans", "on spans that both marked"]
        yield draw_markdown([head, *rows])
        yield (
            f"{format_count(measured.documents, 'document')}, {format_count(measured.items, 'span')} marked by anyone; "
            f"over these, Krippendorff's alpha {format_score(measured.alpha)}, Fleiss' kappa "
            f"{format_score(measured.fleiss)}. In brackets: {100 * measured.confidence:g} % intervals."
        )
    if sheet.stated_agreement:
        yield f"As the data state: {escape_markdown(sheet.stated_agreement)}."
    if sheet.agreement is None and not sheet.stated_agreement:
        yield "Unknown: the labels of single annotators were not given."


def _build_biases(sheet: Sheet) -> Iterator[str]:
    """Yield the biases that the authors state, then those that Karat measures."""
    stated = sheet.publication.version.metadata.biases
    yield "Stated by the authors:" if stated else "Stated by the authors: none (unknown)."
    if stated:
        yield "\n".join(f"- {escape_markdown(text)}" for text in stated)
    kb = "no knowledge base" if sheet.kb is None else escape_markdown(sheet.kb)
    yield f"Measured by Karat, with facts from {kb}, in per cent of the mentions that are not optional:"
    rows = []
    for trait in next(iter(sheet.splits.values())).statistics.columns:
        rows.append([trait, *(_format_trait(facts.statistics.columns[trait]) for facts in sheet.splits.values())])
    rows.append([f"the {_N_TOP} most frequent entities", *map(_measure_top_entities, sheet.splits.values())])
    rows.append(["documents without labels", *map(_measure_empty_documents, sheet.splits.values())])
    rows.append(["languages", *map(_list_languages, sheet.splits.values())])
    yield draw_markdown([["", *sheet.splits], *rows])
    yield (
        "The row of the most frequent entities has their share of linked labels, and the row of documents without "
        "labels their share of documents."
    )


def _format_trait(share: TraitCount) -> str:
    """Format the share of mentions with a trait, as a range if mentions are undecided."""
    if share.percent is None:
        return _UNKNOWN
    return f"{share.percent:.1f}" + f"–{share.max_percent:.1f}" * bool(share.undecided)


def _measure_top_entities(facts: SplitFacts) -> str:
    """Return the share of linked labels that the most frequent entities have, in per cent."""
    counts = Counter(
        label.entity
        for document in facts.corpus
        for label in document.labels
        if isinstance(label.entity, str) and not is_value(label)
    )
    top = sum(count for _, count in counts.most_common(_N_TOP))
    return f"{100 * top / counts.total():.1f}" if counts else _UNKNOWN


def _measure_empty_documents(facts: SplitFacts) -> str:
    """Return the share of documents without labels and tags, in per cent."""
    empty = sum(not document.labels and not document.tags for document in facts.corpus)
    return f"{100 * empty / len(facts.corpus):.1f}"


def _list_languages(facts: SplitFacts) -> str:
    """Return the languages that documents or the dataset state, with their shares of documents in per cent."""
    default = facts.corpus.metadata.get("language", _UNKNOWN)
    counts = Counter(document.meta.get("language", default) for document in facts.corpus)
    return ", ".join(f"{language} {100 * n / len(facts.corpus):.1f}" for language, n in counts.most_common())


def _build_overlaps(sheet: Sheet) -> Iterator[str]:
    """Yield the table of overlaps of the splits."""
    if not sheet.overlaps:
        yield "The dataset has one split."
        return
    yield draw_markdown([list(OVERLAP_COLUMNS), *map(build_overlap_row, sheet.overlaps)])
    yield from (escape_markdown(text) for text in describe_overlaps(sheet.overlaps))


def _build_lint(sheet: Sheet) -> Iterator[str]:
    """Yield the number of findings of each rule that found anything."""
    reports = {name: facts.lint for name, facts in sheet.splits.items()}
    rules = next(iter(reports.values())).rules
    counts = {name: report.count_by_rule() for name, report in reports.items()}
    rows = [
        [rule, spec.severity, *(f"{counts[name][rule]:,}" for name in reports)]
        for rule, spec in rules.items()
        if any(counts[name][rule] for name in reports)
    ]
    yield f"`karat data lint` of Karat {__version__} checked {format_count(len(rules), 'rule')}."
    yield draw_markdown([["rule", "severity", *reports], *rows], (0, 1)) if rows else "It found nothing."


def _build_unknown(sheet: Sheet) -> Iterator[str]:
    """Yield the list of what is unknown."""
    yield "\n".join(f"- {name}" for name in sheet.unknown) or "Nothing in this sheet is unknown."
    if sheet.lacks_kb:
        yield _KB_HINT
