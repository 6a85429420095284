"""Pooling of several corpora into one, as in the unified dataset of the fine-grained paper, and of the runs on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import Corpus, drop_text_facts
from karat.model.counts.skip_counter import SkipCounter
from karat.model.run import Run
from karat.model.tables import checks
from karat.model.tables.arrow import Arrow
from karat.model.tables.schema import GOLD

_DOCUMENT_METADATA = ("domain", "document type", "language")
"""Corpus metadata that also hold for each single document."""

_NUMBERED = "documents whose id begins with the number of their corpus, since corpora share ids"


def pool_corpora(corpora: Sequence[Corpus]) -> Corpus:
    """Merge corpora into one with all documents, named like `a+b`.

    If two documents share an id, every id is prefixed with the number of its corpus, from 1 on, and the documents are
    counted. Metadata that can group scores, such as the domain, move to the documents if the corpora have different
    metadata.
    """
    common = _common_metadata(c.metadata for c in corpora)
    has_numbered_ids = has_shared_ids(corpora)
    table = _concat_tables(
        [_add_document_metadata(corpus, common) for corpus in corpora], has_numbered_ids=has_numbered_ids
    )
    name = "+".join(corpus.name for corpus in corpora)
    pooled = Corpus.from_table(table, name=name, metadata=common, locate_row=checks.locate_by_id(table))
    numbered = {_NUMBERED: len(pooled)} if has_numbered_ids else {}
    return replace(pooled, skipped=_sum_skipped(corpora) | numbered)


def list_differing_metadata(corpora: Sequence[Corpus]) -> list[str]:
    """Return the metadata that the pooled corpus does not have, because those of the corpora differ."""
    common = _common_metadata(corpus.metadata for corpus in corpora)
    names = dict.fromkeys(name for corpus in corpora for name in corpus.metadata)
    return [name for name in names if name not in common and name not in _DOCUMENT_METADATA]


def pool_runs(runs: Sequence[Run], *, has_numbered_ids: bool) -> Run:
    """Merge runs on different corpora into one, with all responses.

    `has_numbered_ids`: prefix document ids with the number of the run, as `pool_corpora` does if corpora share ids.
    """
    table = _concat_tables([run.table for run in runs], has_numbered_ids=has_numbered_ids)
    name = _common_run_name([run.name for run in runs])
    metadata = _common_metadata(r.metadata for r in runs)
    pooled = Run.from_table(
        table, name=name, metadata=metadata, locate_row=checks.locate_by_id(table), texts=_concat_texts(runs)
    )
    return replace(pooled, skipped=_sum_skipped(runs))


def pool_runs_like(runs: Sequence[Run], corpora: Sequence[Corpus]) -> Run:
    """Merge runs on different corpora; ids are numbered if runs share some, or if the ids of `corpora` are numbered.

    `corpora` are corpora, some of them perhaps pooled, to which the run may belong. A run that lacks some responses
    may share no ids where its corpora do.
    """
    has_numbered_ids = has_shared_ids(runs)
    if not has_numbered_ids and corpora:
        plain, numbered = (_list_ids(runs, has_numbered_ids=flag) for flag in (False, True))
        gold_ids = [set(corpus.ids.to_pylist()) for corpus in corpora]
        has_numbered_ids = max(len(ids & numbered) for ids in gold_ids) > max(len(ids & plain) for ids in gold_ids)
    return pool_runs(runs, has_numbered_ids=has_numbered_ids)


def _list_ids(runs: Sequence[Run], *, has_numbered_ids: bool) -> set[str]:
    """Return the document ids of several runs, prefixed with the number of the run if `has_numbered_ids`."""
    ids_by_run = enumerate((run.ids.to_pylist() for run in runs), 1)
    return {f"{number}/{id}" if has_numbered_ids else id for number, ids in ids_by_run for id in ids}


def _add_document_metadata(corpus: Corpus, common: Mapping[str, str]) -> Arrow:
    """Return the table of a corpus, with the corpus metadata that are not in `common` added to each document.

    Only domain, document type and language are added; what a document states has precedence.
    """
    differ = [key for key in _DOCUMENT_METADATA if key in corpus.metadata and key not in common]
    metadata = {key.replace(" ", "_"): corpus.metadata[key] for key in differ}
    if not metadata:
        return corpus.table
    has_meta = "meta" in corpus.table.column_names
    values = corpus.table.column("meta").to_pylist() if has_meta else [None] * len(corpus)
    meta = pa.array([list({**metadata, **dict(pairs or ())}.items()) for pairs in values], GOLD.field("meta").type)
    table = corpus.table.drop_columns(["meta"]) if has_meta else corpus.table
    return table.append_column("meta", meta)


def _concat_texts(runs: Sequence[Run]) -> Arrow | None:
    """Return the texts that runs carry, null for runs without texts; None if no run carries any."""
    if all(run.texts is None for run in runs):
        return None
    chunks = [pa.nulls(len(run), pa.string()) if run.texts is None else run.texts.combine_chunks() for run in runs]
    return pa.chunked_array([chunk for chunk_list in chunks for chunk in _list_chunks(chunk_list)], pa.string())


def _common_run_name(names: Sequence[str]) -> str:
    """Return the common prefix of the run names up to a separator, or all names joined by `+`."""
    first, *others = distinct = list(dict.fromkeys(names))
    prefixes = [first[:i] for i, sign in enumerate(first) if i and sign in "_-.@/"]
    common = [
        begin for begin in prefixes if others and all(name.startswith(first[: len(begin) + 1]) for name in others)
    ]
    return common[-1] if common else "+".join(distinct)


def has_shared_ids(items: Sequence[Corpus] | Sequence[Run]) -> bool:
    """Return whether two documents in several corpora or runs share an id."""
    ids = pa.chunked_array([chunk for part in items for chunk in _list_chunks(part.ids)], pa.string())
    return len(pc.unique(ids)) < len(ids)


def _list_chunks(ids: Arrow) -> list[Arrow]:
    """Return the chunks of an Arrow array, which may be chunked or not."""
    return list(ids.chunks) if isinstance(ids, pa.ChunkedArray) else [ids]


def _concat_tables(tables: Sequence[Arrow], *, has_numbered_ids: bool) -> Arrow:
    """Concatenate tables of documents.

    With `has_numbered_ids`, ids are prefixed with the number of the table, from 1 on.
    """
    if has_numbered_ids:
        tables = [_prefix_ids(table, number) for number, table in enumerate(tables, 1)]
    return pa.concat_tables([drop_text_facts(table) for table in tables], promote_options="permissive")


def _prefix_ids(table: Arrow, number: int) -> Arrow:
    """Return the table with `number`, that of its corpus, put before each document id."""
    ids = pc.binary_join_element_wise(str(number), table.column("id").cast(pa.string()), "/")
    return table.set_column(table.column_names.index("id"), "id", ids)


def _common_metadata(metadata: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the entries that all metadata have with the same value."""
    first, *others = metadata
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _sum_skipped(items: Sequence[Corpus] | Sequence[Run]) -> dict[str, int]:
    """Add the counts of skipped items of several corpora or runs, by description."""
    skipped = SkipCounter()
    for part in items:
        skipped.update(part.skipped)
    return dict(skipped)
