"""The five datasets of the BAT paper: Table 3, and what Section 4 says about them."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from karat.data.convert import replace_texts
from karat.data.describe import Description, describe
from karat.data.load import load
from karat.data.steps import apply_steps
from karat.model.corpus import Corpus
from karat.model.document import Document
from karat.model.results.exhibit import Cell, Exhibit, Explanation
from karat.protocols.papers.data_folder import PublishedData
from karat.protocols.suites.bat_2013.published_tables import TABLE_3
from karat.systems.claims.bat_2013 import read_cells, read_numbers

PAGE_CACHE: Final = "benchmark/cache/wid.cache"
"""BAT's file of the ids that Wikipedia's pages had in 2012, which was never published."""


class DatasetSource(NamedTuple):
    """The file or folder of a dataset in the folder of data, and the steps that BAT's reader applies to it."""

    path: str
    """The path in the folder of data."""
    steps: tuple[str, ...]
    """The names of the steps."""
    dataset: str
    """The name in Karat's catalogue."""

    @property
    def command(self) -> str:
        """The command line that prints the statistics."""
        return " ".join([f"karat data stats DIR/{self.path}", *(f"--step {step}" for step in self.steps)])


SOURCES: Final[Mapping[str, DatasetSource]] = {
    "AIDA/CONLL": DatasetSource("zelda/conll/test_aida-b.conll", ("join-punctuation",), "aida"),
    "AQUAINT": DatasetSource("bat/AQUAINT", (), "aquaint"),
    "MSNBC": DatasetSource("bat/MSNBC", ("drop-nil",), "msnbc"),
    "IITB": DatasetSource("bat/iitb", ("drop-nil", "distinct", "drop-empty"), "iitb"),
    "Meij": DatasetSource("bat/meij", ("clean-tweets",), "meij"),
}
"""The datasets by the names of the paper, in the order of Table 3."""

UPDATED: Final = "MSNBC, updated"
"""The name of the updated MSNBC in tables."""
AIDA_LABELS: Final = "elevant/benchmarks/aida-conll-test.benchmark.jsonl.gz"
"""ELEVANT's copy of AIDA/CONLL: labels with Wikidata ids, but masked texts."""
UPDATED_MSNBC: Final = "elevant/benchmarks/msnbc-updated.benchmark.jsonl.gz"
"""ELEVANT's copy of the updated MSNBC, with Wikidata ids."""
REPLACED_MSNBC: Final = "formats/wned/msnbc"
"""The updated MSNBC with Wikipedia titles, in which links to deleted pages became NIL."""


@dataclass(frozen=True)
class PaperCorpora:
    """The datasets of the paper in a folder of data, as far as at hand, by name."""

    data: PublishedData
    """The folder."""
    corpora: Mapping[str, Corpus]
    """The datasets as BAT reads them."""
    system_corpora: Mapping[str, Corpus]
    """The datasets for systems, without NIL; AIDA/CONLL and the updated MSNBC have Wikidata ids."""
    has_aida_texts: bool
    """Whether the texts of AIDA/CONLL in `system_corpora` are not masked."""

    @classmethod
    def from_data(cls, data: PublishedData) -> PaperCorpora:
        """Load all datasets that the folder has, with the steps of BAT's reader.

        ELEVANT's labels of AIDA/CONLL get the texts of ZELDA's copy, whose tokens are at the same offsets.
        """
        corpora = {
            name: apply_steps(load(path), source.steps)[0]
            for name, source in SOURCES.items()
            if (path := data.find(source.path)) is not None
        }
        system_corpora = {name: corpus for name, corpus in corpora.items() if name != "AIDA/CONLL"}
        texts = data.find(SOURCES["AIDA/CONLL"].path)
        if (path := data.find(AIDA_LABELS)) is not None:
            labels = load(path) if texts is None else replace_texts(load(path), load(texts))
            system_corpora["AIDA/CONLL"] = apply_steps(labels, ["drop-nil"])[0]
        if (path := data.find(UPDATED_MSNBC)) is not None:
            system_corpora[UPDATED] = apply_steps(load(path), ["drop-nil"])[0]
        return cls(data, corpora, system_corpora, texts is not None)

    def load(self, name: str) -> Corpus | None:
        """Return the dataset `name` as BAT reads it; None if its file is missing."""
        return self.corpora.get(name)

    @cached_property
    def descriptions(self) -> Mapping[str, Description]:
        """The statistics of the datasets as BAT reads them."""
        return {name: describe(corpus) for name, corpus in self.corpora.items()}

    def describe(self, name: str) -> Description | None:
        """Return the statistics of the dataset `name`; None if its file is missing."""
        return self.descriptions.get(name)


def build_table_3(corpora: PaperCorpora) -> Exhibit:
    """Compare the counts of the five datasets with Table 3."""
    cells = [_build_cell(corpora, *printed) for printed in read_cells(TABLE_3)]
    return Exhibit(
        "Table 3",
        "Type, number of documents, mean length, and number of annotations of each dataset",
        "\n".join(source.command for source in SOURCES.values()),
        tuple(cells),
        own_table=(
            ("Dataset", "Steps", "Num Docs", "Avg length", "Num Anns", "Avg Anns/Doc"),
            *(_describe_exactly(corpora, name) for name in SOURCES),
        ),
        notes=(
            "The paper cuts means off after the last printed digit: 1415.98 characters are printed as 1415, and 109.17 "
            "annotations as 109.1. The table of Karat's values has two decimals.",
            "AIDA/CONLL: the texts are those of ZELDA's copy, joined as BAT joins them. ELEVANT's copy masks them.",
            *_count_replaced_pages(corpora),
        ),
    )


def _build_cell(corpora: PaperCorpora, name: str, column: str, published: str) -> Cell:
    """Return a cell of Table 3: the dataset is `name`."""
    description = corpora.describe(name)
    if description is None:
        return Cell(name, column, published, None, corpora.data.explain_missing(SOURCES[name].path))
    value = _format_count(description, column)
    explanation = None if value == published else _explain_missing_pages(corpora, name, column)
    return Cell(name, column, published, value, explanation)


def _format_count(description: Description, column: str) -> str:
    """Return a statistic as Table 3 prints it: means are cut off, not rounded."""
    numbers = description.numbers
    n_annotations = int(numbers["labels"] or 0) + int(numbers["tags"] or 0)
    n_documents = int(numbers["documents"] or 0)
    return {
        "Gold Standard": str(numbers["hardest problem"]),
        "Num Docs": str(n_documents),
        "Avg length": str(int(float(numbers["characters per document"] or 0))),
        "Num Anns": str(n_annotations),
        "Avg Anns/Doc": _cut_off(n_annotations, n_documents),
    }[column]


def _cut_off(numerator: int, denominator: int) -> str:
    """Return the quotient with one decimal, cut off."""
    tenths = 10 * numerator // denominator
    return f"{tenths // 10}.{tenths % 10}"


def _describe_exactly(corpora: PaperCorpora, name: str) -> tuple[str, ...]:
    """Return the row of a dataset with its steps, and means with two decimals."""
    description = corpora.describe(name)
    steps = ", ".join(SOURCES[name].steps) or "none"
    if description is None:
        return (name, steps, "–", "–", "–", "–")
    numbers = description.numbers
    return (
        name,
        steps,
        _format_count(description, "Num Docs"),
        f"{numbers['characters per document']:.2f}",
        _format_count(description, "Num Anns"),
        f"{numbers['annotations per document']:.2f}",
    )


def _explain_missing_pages(corpora: PaperCorpora, name: str, column: str) -> Explanation | None:
    """Explain a higher number of annotations by the pages that Wikipedia did not have in 2012."""
    if column not in ("Num Anns", "Avg Anns/Doc") or corpora.load(name) is None:
        return None
    text = "BAT drops annotations of pages that Wikipedia did not have in 2012, and the list of these pages is lost"
    return Explanation("data missing", text, missing_file=PAGE_CACHE)


def _find_replaced_pages(corpora: PaperCorpora) -> tuple[set[object], int] | None:
    """Return the pages of MSNBC that the update of 2018 replaced by NIL, and the number of links to them.

    None if MSNBC or its update is missing.
    """
    corpus, path = corpora.load("MSNBC"), corpora.data.find(REPLACED_MSNBC)
    if corpus is None or path is None:
        return None
    nil_surfaces = {
        (_get_number(document.id), document.text[label.start : label.end])
        for document in load(path)
        for label in document.labels
        if label.entity is None
    }
    pages: set[object] = {
        label.entity
        for document in corpus
        for label in document.labels
        if (_get_number(document.id), document.text[label.start : label.end]) in nil_surfaces
    }
    return pages, sum(label.entity in pages for document in corpus for label in document.labels)


def _count_replaced_pages(corpora: PaperCorpora) -> Iterator[str]:
    """Yield how many annotations of MSNBC link to a page that the update of 2018 replaced by NIL, if it is at hand."""
    corpus, replaced = corpora.load("MSNBC"), _find_replaced_pages(corpora)
    if corpus is None or replaced is None:
        return
    pages, count = replaced
    n_missing = len(corpus.labels) - read_numbers(TABLE_3, "Num Anns")["MSNBC"]
    yield (
        f"MSNBC: {count} of the {len(corpus.labels)} annotations link to one of {len(pages)} pages that the update of "
        f"2018 replaced by NIL because they do not exist; the paper has {n_missing:.0f} fewer than Karat."
    )


def _check_deleted_pages(corpora: PaperCorpora) -> Cell:
    """Check that some datasets link to pages that do not exist any more, by MSNBC."""
    row, published = "Datasets link to pages that no longer exist", "some of those datasets"
    replaced = _find_replaced_pages(corpora)
    if replaced is None:
        path = SOURCES["MSNBC"].path if corpora.load("MSNBC") is None else REPLACED_MSNBC
        return Cell(row, "claim", published, None, corpora.data.explain_missing(path))
    return _claim(corpora, row, published, (), f"MSNBC: {replaced[1]} annotations", is_equal=replaced[1] > 0)


def _get_number(id: str) -> str:
    """Return the number in the name of a document of MSNBC, which is the same in both versions."""
    match = re.search(r"\d+", id)
    return id if match is None else match[0]


def build_dataset_claims(corpora: PaperCorpora) -> Exhibit:
    """Check what Section 4 says about the datasets."""
    return Exhibit(
        "Section 4",
        "What the text says about the datasets",
        "\n".join(source.command for source in SOURCES.values()),
        (
            _check_first_mentions(corpora),
            _check_all_occurrences(corpora),
            _check_density(corpora),
            _check_tweet_length(corpora),
            _check_longest_news(corpora),
            _check_largest_news(corpora),
            _check_web_texts(corpora),
            _check_deleted_pages(corpora),
        ),
        notes=(
            "An occurrence is the same text as an annotated mention of the document, with no letter or digit before or "
            "after it, outside other mentions. Each means more than 95 % of the occurrences.",
            "Tweets are counted after HTML entities such as &gt; were decoded; less than 140 means at most 140.",
        ),
    )


def _claim(
    corpora: PaperCorpora,
    row: str,
    published: str,
    names: tuple[str, ...],
    value: str | None,
    *,
    is_equal: bool = False,
) -> Cell:
    """Return the cell of a claim about the datasets `names`; `value` is None if one of them is missing."""
    if value is not None:
        return Cell(row, "claim", published, value, is_equal=is_equal)
    missing = next(SOURCES[name].path for name in names if corpora.load(name) is None)
    return Cell(row, "claim", published, None, corpora.data.explain_missing(missing))


def _check_web_texts(corpora: PaperCorpora) -> Cell:
    """Check that IITB has more than a hundred texts."""
    row, published, corpus = "IITB: annotated texts", "over a hundred", corpora.load("IITB")
    if corpus is None:
        return _claim(corpora, row, published, ("IITB",), None)
    return _claim(corpora, row, published, (), f"{len(corpus)}", is_equal=len(corpus) > 100)


def _check_first_mentions(corpora: PaperCorpora) -> Cell:
    """Check that AQUAINT has no entity twice in a document."""
    row, published = "AQUAINT: annotated mentions of an entity in a document", "only the first"
    corpus = corpora.load("AQUAINT")
    if corpus is None:
        return _claim(corpora, row, published, ("AQUAINT",), None)
    repeats = sum(len(document.labels) - len({label.entity for label in document.labels}) for document in corpus)
    value = f"{repeats} of {len(corpus.labels)} annotations repeat an entity"
    return _claim(corpora, row, published, (), value, is_equal=repeats == 0)


def _check_all_occurrences(corpora: PaperCorpora) -> Cell:
    """Check that AIDA/CONLL annotates nearly every occurrence of an annotated mention, unlike AQUAINT."""
    names = ("AIDA/CONLL", "AQUAINT")
    row, published = "AIDA/CONLL: entities are annotated at each occurrence of a mention; AQUAINT: not", "each; not all"
    loaded = [corpus for name in names if (corpus := corpora.load(name)) is not None]
    if len(loaded) < len(names):
        return _claim(corpora, row, published, names, None)
    shares = [_share_annotated(corpus) for corpus in loaded]
    value = "; ".join(f"{100 * share:.1f} % of the occurrences" for share in shares)
    return _claim(corpora, row, published, (), value, is_equal=shares[0] > 0.95 > shares[1])


def _share_annotated(corpus: Corpus) -> float:
    """Return the share of the occurrences of annotated mentions that are annotated themselves."""
    counts = [_count_occurrences(document) for document in corpus]
    return sum(count[0] for count in counts) / max(1, sum(count[1] for count in counts))


def _count_occurrences(document: Document) -> tuple[int, int]:
    """Return the number of annotated and of all occurrences of the mentions of a document."""
    text, spans = document.text, {(label.start, label.end) for label in document.labels}
    n_annotated = n_occurrences = 0
    for surface in {text[start:end] for start, end in spans if start < end}:
        for match in re.finditer(rf"(?<!\w){re.escape(surface)}(?!\w)", text):
            start, end = match.span()
            if (start, end) in spans:
                n_annotated += 1
                n_occurrences += 1
            elif not any(first < end and start < last for first, last in spans):
                n_occurrences += 1
    return n_annotated, n_occurrences


def _check_density(corpora: PaperCorpora) -> Cell:
    """Check that IITB has the most annotations per character of all datasets with mentions."""
    names = ("AIDA/CONLL", "AQUAINT", "MSNBC", "IITB")
    row, published = "The most detailed dataset, by annotations per 1,000 characters", "IITB"
    loaded = {name: corpus for name in names if (corpus := corpora.load(name)) is not None}
    if len(loaded) < len(names):
        return _claim(corpora, row, published, names, None)
    density = {name: 1000 * len(corpus.labels) / sum(map(len, corpus.texts)) for name, corpus in loaded.items()}
    value = max(density, key=lambda name: density[name])
    details = ", ".join(f"{name} {number:.1f}" for name, number in density.items())
    return _claim(corpora, row, published, (), f"{value} ({details})", is_equal=value == published)


def _check_tweet_length(corpora: PaperCorpora) -> Cell:
    """Check that no tweet of Meij, as written, has more than 140 characters."""
    row, published = "Meij: characters of a tweet", "less than 140"
    path = corpora.data.find(SOURCES["Meij"].path)
    if path is None:
        return _claim(corpora, row, published, ("Meij",), None)
    lengths = [len(html.unescape(text)) for text in load(path).texts]
    value = f"at most {max(lengths)}; {lengths.count(140)} tweets have 140"
    return _claim(corpora, row, published, (), value, is_equal=max(lengths) <= 140)


def _check_longest_news(corpora: PaperCorpora) -> Cell:
    """Check that MSNBC has the longest documents of the three news datasets."""
    return _check_maximum(corpora, "The news dataset with the longest documents", "MSNBC", "characters per document")


def _check_largest_news(corpora: PaperCorpora) -> Cell:
    """Check that AIDA/CONLL has the most annotations of the three news datasets."""
    return _check_maximum(corpora, "The largest news dataset, by annotations", "AIDA/CONLL", "labels")


def _check_maximum(corpora: PaperCorpora, row: str, published: str, number: str) -> Cell:
    """Check which of the news datasets has the highest `number`, a key of `Description.numbers`."""
    names = ("AIDA/CONLL", "AQUAINT", "MSNBC")
    numbers = {
        name: float(description.numbers[number] or 0)
        for name in names
        if (description := corpora.describe(name)) is not None
    }
    if len(numbers) < len(names):
        return _claim(corpora, row, published, names, None)
    value = max(numbers, key=lambda name: numbers[name])
    details = ", ".join(f"{name} {quantity:,.0f}" for name, quantity in numbers.items())
    return _claim(corpora, row, published, (), f"{value} ({details})", is_equal=value == published)
