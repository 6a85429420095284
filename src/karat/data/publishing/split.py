"""Division of a corpus into parts by document, stratified by a facet, with near-duplicates in one part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import msgspec
import numpy as np

from karat.data.publishing.leakage import Overlap, TrainingIndex, group_duplicates
from karat.data.publishing.manifest import PublishedFile, check_split_name, describe_file, encode_documents
from karat.kb.protocol import KB
from karat.matching.facts.facts import Facts
from karat.matching.read.facets import document_facet_values, get_facet
from karat.matching.read.pairing import pair_run
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import name_locations
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.output.json_files import JsonFile, JsonRecord, encode_indented
from karat.model.run import Run
from karat.model.tables.facet_values import NONE, FacetValues
from karat.stats.stratification import assign_parts
from karat.storage.files import Source

SPLIT_NAME: Final = "split.json"
"""Name of the file that describes the parts in their folder."""

_LAYOUT: Final = "karat-split/1"
_SHARE = re.compile(r"\d{1,9}(?:\.\d{1,9})?|\d{1,9}/\d{1,9}|\.\d{1,9}")


class PartRecord(JsonRecord, frozen=True, kw_only=True):
    """A part of a divided corpus."""

    file: PublishedFile
    """The documents, one per line."""
    share: float
    """The requested share of documents."""
    digest: str
    """The digest of the part as a corpus."""
    documents: int
    """The number of documents."""
    labels: int
    """The number of gold labels."""
    values: Mapping[str, int]
    """How often each value of the facet occurs: documents for a facet of documents, else labels."""


class SplitFile(JsonFile, frozen=True, kw_only=True, tag=_LAYOUT):
    """How a corpus was divided into parts: `split.json` in the folder of the parts."""

    corpus: str
    """The name of the divided corpus."""
    digest: str
    """The digest of the divided corpus."""
    seed: int
    """The random seed."""
    by: str | None
    """The facet by which the parts are stratified; null without one."""
    unit: str
    """Unit that `values` of the parts count: `documents` or `labels`."""
    parts: Mapping[str, PartRecord]
    """The parts by name."""
    duplicate_groups: int
    """The number of groups of near-duplicate documents; a group is never divided."""
    duplicate_documents: int
    """The number of documents in these groups."""
    overlaps: tuple[Overlap, ...]
    """Overlaps of later parts with earlier parts, and of all parts with training data."""
    metadata: Mapping[str, str]
    """The metadata of the divided corpus."""
    skipped: Mapping[str, int]
    """Counts of data that were skipped or changed when the corpus was read, by description."""


class SplitResult(msgspec.Struct, frozen=True, eq=False):
    """A divided corpus."""

    record: SplitFile
    """The description of the parts."""
    parts: Mapping[str, Corpus]
    """The corpora by name of the part."""

    def encode_files(self) -> dict[str, bytes]:
        """Return the content of all files of the folder by name: the parts, and their description."""
        files = {self.record.parts[name].file.path: encode_documents(part) for name, part in self.parts.items()}
        return {**files, SPLIT_NAME: encode_indented(self.record)}


def parse_parts(text: str) -> dict[str, Fraction]:
    """Parse `train=0.8,dev=0.1,test=0.1` or `a=1/3,b=2/3`; raise `UsageError` if it is invalid.

    The shares are exact and sum to 1.
    """
    parts: dict[str, Fraction] = {}
    for argument in text.split(","):
        name, _, share = (part.strip() for part in argument.partition("="))
        if _SHARE.fullmatch(share) is None or share.endswith("/0"):
            raise UsageError(f"--parts {argument}: write NAME=SHARE, such as train=0.8 or train=4/5.")
        check_split_name(name)
        if name in parts:
            raise UsageError(f"--parts: the part {name} is listed twice. List it once.")
        parts[name] = Fraction(share)
        if not parts[name]:
            raise UsageError(f"--parts {argument}: the share is 0. Remove the part, or give it a share above 0.")
    if sum(parts.values()) != 1:
        raise UsageError(f"--parts: the shares sum to {float(sum(parts.values())):g}. They must sum to 1.")
    if len(parts) < 2:
        raise UsageError("--parts has only one part. List at least two, such as train=0.8,test=0.2.")
    return parts


def split_corpus(
    corpus: Corpus,
    parts: Mapping[str, Fraction],
    *,
    by: str | None = None,
    seed: int = 0,
    kb: KB | None = None,
    training: Sequence[TrainingIndex] = (),
) -> SplitResult:
    """Divide a corpus into parts by document; documents with nearly the same text are in one part.

    `parts`: the share of documents of each part, which sum to 1. `by`: facet whose values all parts have in the same
    shares, as far as possible. `seed`: the same seed gives the same parts. `kb`: knowledge base for facets that need
    one. `training`: training data with which all parts are compared. Raise `UsageError` if a part gets no document.
    """
    documents = list(corpus)
    groups = group_duplicates(documents)
    counts = [Counter[str]() for _ in documents] if by is None else _count_values(corpus, by, kb)
    group_counts = [sum((counts[number] for number in group), Counter[str]()) for group in groups]
    part_of_group = assign_parts(list(map(len, groups)), group_counts, list(parts.values()), seed)
    part_of_document = np.zeros(len(documents), np.int64)
    for group, part in zip(groups, part_of_group, strict=True):
        part_of_document[group] = part
    corpora: dict[str, Corpus] = {}
    records: dict[str, PartRecord] = {}
    for number, (name, share) in enumerate(parts.items()):
        rows = np.flatnonzero(part_of_document == number).tolist()
        if not rows:
            raise UsageError(
                f"{corpus.name}: the part {name} gets none of {len(documents)} documents in {len(groups)} groups. "
                "Give it a larger share, or use fewer parts."
            )
        part_documents = Corpus.from_reader([documents[row] for row in rows], name=name, metadata=corpus.metadata)
        corpora[name] = replace(part_documents, tokens=_select_tokens(corpus, part_documents))
        records[name] = PartRecord(
            file=describe_file(f"{name}.jsonl", encode_documents(corpora[name])),
            share=float(share),
            digest=corpora[name].digest,
            documents=len(corpora[name]),
            labels=len(corpora[name].labels),
            values=dict(sorted(sum((counts[row] for row in rows), Counter[str]()).items())),
        )
    duplicates = [group for group in groups if len(group) > 1]
    record = SplitFile(
        corpus=corpus.name,
        digest=corpus.digest,
        seed=seed,
        by=by,
        unit="documents" if by is None or document_facet_values(corpus, by) is not None else "labels",
        parts=records,
        duplicate_groups=len(duplicates),
        duplicate_documents=sum(map(len, duplicates)),
        overlaps=tuple(measure_overlaps(corpora, training)),
        metadata=dict(corpus.metadata),
        skipped=name_locations(corpus.skipped),
    )
    return SplitResult(record, corpora)


def _select_tokens(corpus: Corpus, part: Corpus) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the tokens of the documents of a part."""
    return {id: corpus.tokens[id] for id in part.ids.to_pylist() if id in corpus.tokens}


def measure_overlaps(parts: Mapping[str, Corpus], training: Sequence[TrainingIndex] = ()) -> Iterator[Overlap]:
    """Yield the overlap of each part with every earlier part, then with all training data."""
    names = list(parts)
    for number, name in enumerate(names[:-1]):
        data = TrainingIndex(name, parts[name])
        yield from (data.measure_overlap(later, parts[later]) for later in names[number + 1 :])
    for data in training:
        yield from (data.measure_overlap(name, part) for name, part in parts.items())


def _count_values(corpus: Corpus, name: str, kb: KB | None) -> list[Counter[str]]:
    """Count the values of a facet in each document; raise `UsageError` if documents cannot be grouped by it."""
    column = document_facet_values(corpus, name)
    if column is not None:
        values = [NONE if value is None else value for value in column.to_pylist()]
        if set(values) == {NONE} or (len(set(values)) == len(values) > 1):
            problem = "no document has a value" if set(values) == {NONE} else "every document has a value of its own"
            raise UsageError(f"--by {name}: {problem}. Choose another facet, or remove --by.")
        return [Counter([value]) for value in values]
    mention_values = _compute_mention_values(corpus, name, kb)
    counts = [Counter[str]() for _ in range(len(corpus))]
    owners = np.repeat(corpus.labels.document, np.diff(mention_values.lists.offsets))
    for document, code in zip(owners.tolist(), mention_values.lists.values.tolist(), strict=True):
        counts[document][mention_values.names[code]] += 1
    if {value for count in counts for value in count} <= {NONE}:
        hint = ", such as entity-type for types of the knowledge base" if name == "types" else ""
        raise UsageError(f"--by {name}: no label has a value. Choose another facet{hint}, or remove --by.")
    return counts


def _compute_mention_values(corpus: Corpus, name: str, kb: KB | None) -> FacetValues:
    """Return the values of a facet of mentions for all labels of a corpus."""
    facet = get_facet(name, corpus.labels)
    is_computed = facet.from_facts is not None and facet.needs_facts and facet.scores == "values"
    if facet.from_mentions is not None and not is_computed:
        return facet.from_mentions(corpus.labels)
    if facet.from_facts is None or facet.scores != "values":
        raise UsageError(f"--by {name}: gold labels have no values of this facet. Choose another one, such as types.")
    facts = Facts(pair_run(corpus, Run.from_gold(corpus, name=corpus.name)), kb)
    return facet.from_facts(facts, facts.gold)


def is_split_folder(source: Source) -> bool:
    """Return whether a folder holds the parts that `karat data split` wrote."""
    return source.is_folder and SPLIT_NAME in source.file_names


def read_split_record(source: Source) -> SplitFile:
    """Read the description of the parts in a folder; raise `InputError` if it is invalid or a part was changed."""
    child = source.get_child(SPLIT_NAME)
    try:
        record = decode_json(child.read_bytes(), SplitFile)
    except JsonError as problem:
        raise InputError(
            child.label,
            actual=f"an invalid description of parts ({problem})",
            expected=f"a file in the layout {_LAYOUT}",
            remedy="Write it again with karat data split",
        ) from None
    for name, part in record.parts.items():
        content = source.get_child(f"{name}.jsonl").read_bytes()
        if describe_file(part.file.path, content) != part.file:
            raise InputError(
                source.get_child(f"{name}.jsonl").label,
                actual="other content than karat data split wrote",
                expected=f"SHA-256 {part.file.sha256}",
                remedy="To keep the division after a correction, name the file of each part instead of the folder: "
                + _propose_arguments(record, source),
            )
    return record


def _propose_arguments(record: SplitFile, source: Source) -> str:
    """Return the arguments that name the file of each part of a folder."""
    paths = {name: source.get_child(part.file.path).label for name, part in record.parts.items()}
    return " ".join(f"--split {name}={path}" for name, path in paths.items())
