"""Several corpora as one, as the fine-grained paper's unified dataset is; and the runs on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import TEXT_FACTS, Corpus
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.check import Where
from karat.model.tables.schema import GOLD

_OF_DOCUMENTS = ("domain", "document type", "language")
"""What the source of a corpus may say about all of its documents that is true of each."""


def pooled(corpora: Sequence[Corpus]) -> Corpus:
    """One corpus with all documents; where two have the same id, all ids get the number of their corpus in front.

    Where corpora differ in what scores can be grouped by, such as their domain, each of their documents says it.
    """
    common = _common(c.about for c in corpora)
    table = _stacked([_told(corpus, common) for corpus in corpora], numbered=collide(corpora))
    name = "+".join(corpus.name for corpus in corpora)
    found = Corpus.checked(table, name=name, about=common, where=_where(table))
    return replace(found, skipped=_summed(corpora))


def pooled_run(runs: Sequence[Run], *, numbered: bool) -> Run:
    """One run with the replies of several; `numbered` if the ids of their documents are (see `pooled`)."""
    table = _stacked([run.table for run in runs], numbered=numbered)
    name = _called([run.name for run in runs])
    about = _common(r.about for r in runs)
    found = Run.checked(table, name=name, about=about, where=_where(table), texts=_texts(runs))
    return replace(found, skipped=_summed(runs))


def _told(corpus: Corpus, common: Mapping[str, str]) -> Arrow:
    """The documents of a corpus, with what is said about all of them and not about those of others."""
    differ = [key for key in _OF_DOCUMENTS if key in corpus.about and key not in common]
    own = {key.replace(" ", "_"): corpus.about[key] for key in differ}
    if not own:
        return corpus.table
    there = "meta" in corpus.table.column_names
    given = corpus.table.column("meta").to_pylist() if there else [None] * len(corpus)
    meta = pa.array([list({**own, **dict(each or ())}.items()) for each in given], GOLD.field("meta").type)
    bare = corpus.table.drop_columns(["meta"]) if there else corpus.table
    return bare.append_column("meta", meta)


def _texts(runs: Sequence[Run]) -> Arrow | None:
    """The texts that runs carry, null where one carries none."""
    if all(run.texts is None for run in runs):
        return None
    chunks = [pa.nulls(len(run), pa.string()) if run.texts is None else run.texts.combine_chunks() for run in runs]
    return pa.chunked_array([chunk for each in chunks for chunk in _chunks(each)], pa.string())


def _called(names: Sequence[str]) -> str:
    """What runs of one system are called, whose names begin alike up to a sign; else all names."""
    first, *others = known = list(dict.fromkeys(names))
    shared = [first[:place] for place, sign in enumerate(first) if place and sign in "_-.@/"]
    alike = [begin for begin in shared if others and all(name.startswith(first[: len(begin) + 1]) for name in others)]
    return alike[-1] if alike else "+".join(known)


def collide(parts: Sequence[Corpus] | Sequence[Run]) -> bool:
    """Whether documents of several have the same id."""
    ids = pa.chunked_array([chunk for part in parts for chunk in _chunks(part.ids)], pa.string())
    return len(pc.unique(ids)) < len(ids)


def _chunks(ids: Arrow) -> list[Arrow]:
    return list(ids.chunks) if isinstance(ids, pa.ChunkedArray) else [ids]


def _stacked(tables: Sequence[Arrow], *, numbered: bool) -> Arrow:
    if numbered:
        tables = [_numbered(table, number) for number, table in enumerate(tables, 1)]
    return pa.concat_tables([_without_facts(table) for table in tables], promote_options="permissive")


def _without_facts(table: Arrow) -> Arrow:
    """The table without what is made anew from its texts."""
    made = [name for name in TEXT_FACTS if name in table.column_names]
    return table.drop_columns(made) if "text" in table.column_names else table


def _numbered(table: Arrow, number: int) -> Arrow:
    ids = pc.binary_join_element_wise(str(number), table.column("id").cast(pa.string()), "/")
    return table.set_column(table.column_names.index("id"), "id", ids)


def _where(table: Arrow) -> Where:
    return lambda row: f"document {table.column('id')[row].as_py()!r}"


def _common(abouts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """What all of them say alike."""
    first, *others = abouts
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _summed(parts: Sequence[Corpus] | Sequence[Run]) -> dict[str, int]:
    skipped: Counter[str] = Counter()
    for part in parts:
        skipped.update(part.skipped)
    return dict(skipped)
