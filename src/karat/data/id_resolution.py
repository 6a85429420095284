"""Replacement of the ids in a corpus or run by the canonical ids of a knowledge base, with a report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, overload

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from karat.data.convert import is_value
from karat.data.load import ForeignObject, load, load_gold_or_run, load_run
from karat.kb.catalogue import open_kb
from karat.kb.ids.id_conflicts import find_conflicts
from karat.kb.ids.id_context import build_context, collect_evidence
from karat.kb.ids.normal_forms import normalise_id
from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.protocol import KB, IdStatus
from karat.model.corpus import Corpus
from karat.model.document import Candidate, Document, Label, Prediction, Response, Tag
from karat.model.errors import KaratError
from karat.model.keywords import check_keywords
from karat.model.run import Run
from karat.model.spec.settings.conventions import Ids
from karat.model.tables.columns import Mentions

_Mention = TypeVar("_Mention", Label, Prediction, Tag)


@dataclass(frozen=True, slots=True)
class Resolution:
    """Report of the id replacements in a corpus or run."""

    data_name: str
    """Name of the corpus or run."""
    kb_label: str
    """Name and digest of the knowledge base, `NAME@DIGEST`."""
    mention_counts: Mapping[IdStatus, int]
    """Number of linked mentions and tags by the status of their entity."""
    ids_by_status: Mapping[IdStatus, tuple[str, ...]] = field(repr=False)
    """Distinct entities of these mentions and tags by status, sorted; a status without ids is missing."""
    new_ids: Mapping[str, str] = field(repr=False)
    """New id of each id that was replaced."""
    n_conflicts: int = 0
    """Number of mentions and tags with a further id that is mapped to another entity, and stays as written."""
    skipped: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Counts of what the reader of the corpus or run skipped or repaired, by description."""

    def __str__(self) -> str:
        counts = ", ".join(
            f"{status} {self.mention_counts[status]:,}" for status in IdStatus if self.mention_counts[status]
        )
        return f"{self.data_name} by {self.kb_label}: {counts or 'no ids'}"


@overload
def resolve_ids(data: Corpus, kb: KB | str | os.PathLike[str]) -> tuple[Corpus, Resolution]: ...
@overload
def resolve_ids(data: Run, kb: KB | str | os.PathLike[str]) -> tuple[Run, Resolution]: ...
@overload
def resolve_ids(
    data: str | os.PathLike[str] | Corpus | Run | ForeignObject, kb: KB | str | os.PathLike[str]
) -> tuple[Corpus | Run, Resolution]: ...
@check_keywords
def resolve_ids(
    data: str | os.PathLike[str] | Corpus | Run | ForeignObject, kb: KB | str | os.PathLike[str]
) -> tuple[Corpus | Run, Resolution]:
    """Replace the ids of a corpus or run by the canonical ids of `kb`; return the new data and a report.

    `data` may also be a path, a name from the catalogue, or plain dictionaries of documents or responses; `kb` may be
    the path or the name of a knowledge base.
    The ids are those of mentions, tags and candidates. A replaced id stays among `same_as` as written. Ids of
    quantities and dates stay, for they may be values. The new metadata name the knowledge base under `resolved`.
    Ids may be spelt in any way that scores with `ids=normalised` accept. Resolving twice changes nothing more.
    """
    data = load_gold_or_run(data)
    kb = open_kb(kb) if isinstance(kb, str | os.PathLike) else kb
    distinct_ids: dict[str, None] = {}
    documents: Iterable[Document] | Iterable[Response] = data
    for document in documents:
        distinct_ids.update(dict.fromkeys(_iterate_ids(document)))
    statuses, new_ids = _look_up_ids(list(distinct_ids), kb)
    ids: dict[IdStatus, set[str]] = {}
    mentions = Counter[IdStatus]()
    n_conflicts = 0
    for document in documents:
        for mention in _list_linkable_mentions(document):
            if isinstance(mention.entity, str):
                mentions[statuses[mention.entity]] += 1
                ids.setdefault(statuses[mention.entity], set()).add(mention.entity)
                n_conflicts += any(_find_conflicts((mention.entity, *mention.same_as), new_ids))
    report = Resolution(
        data.name,
        f"{kb.name}@{kb.digest}",
        {status: mentions[status] for status in IdStatus},
        {status: tuple(sorted(members)) for status, members in ids.items()},
        new_ids,
        n_conflicts,
        data.skipped,
    )
    metadata = {**data.metadata, "resolved": report.kb_label}
    if isinstance(data, Corpus):
        corpus = Corpus.from_reader(
            (_replace_document_ids(document, new_ids) for document in data),
            name=data.name,
            metadata=metadata,
            skipped=data.skipped,
        )
        return corpus, report
    run = Run.from_reader(
        (_replace_response_ids(response, new_ids) for response in data),
        name=data.name,
        metadata=metadata,
        skipped=data.skipped,
    )
    return run, report


def _look_up_ids(ids: Sequence[str], kb: KB) -> tuple[dict[str, IdStatus], dict[str, str]]:
    """Return the status of each id and the new id of each that changes; ids may be spelt as in scores."""
    view = NormalisingKB(kb, Ids.NORMALISED, build_context([collect_evidence(pa.array(ids, pa.string()))]))
    base_ids = view.find_base_ids(ids)
    statuses = dict(zip(ids, view.id_statuses(ids), strict=True))
    spellings = [id if statuses[id] is IdStatus.UNKNOWN else base_id for id, base_id in zip(ids, base_ids, strict=True)]
    canonical = zip(ids, kb.canonical_ids(spellings), strict=True)
    return statuses, {id: new for id, new in canonical if new != id and statuses[id] is not IdStatus.AMBIGUOUS}


def _list_linkable_mentions(document: Document | Response) -> Iterable[Label | Prediction | Tag]:
    """Return the labels or predictions of a document or response, without values, and its tags."""
    if isinstance(document, Document):
        return [*(label for label in document.labels if not is_value(label)), *document.tags]
    return [*document.predictions, *document.tags]


def _iterate_ids(document: Document | Response) -> Iterable[str]:
    """Yield every link, same-as id and candidate of a document or response, with repetitions; values are skipped."""
    for mention in _list_linkable_mentions(document):
        if isinstance(mention.entity, str):
            yield mention.entity
        yield from mention.same_as
        if isinstance(mention, Prediction):
            yield from (candidate.entity for candidate in mention.candidates)


def _replace_mention_ids(mention: _Mention, new_ids: Mapping[str, str]) -> _Mention:
    """Return the mention with its new id; its `same_as` holds the old id and all equivalents, old and new.

    `new_ids`: new id by old id. Further ids that it maps to another entity stay as written. A mention that is NIL or
    unlinked is returned unchanged.
    """
    if not isinstance(mention.entity, str):
        return mention
    entity = new_ids.get(mention.entity, mention.entity)
    conflicts = _find_conflicts((mention.entity, *mention.same_as), new_ids)[1:]
    further_ids = zip(mention.same_as, conflicts, strict=True)
    mapped_ids: list[str] = [new_ids.get(id, id) for id, is_conflict in further_ids if not is_conflict]
    other_ids = (mention.entity, *mapped_ids, *mention.same_as)
    same_as = tuple(dict.fromkeys(id for id in other_ids if id != entity))
    return msgspec.structs.replace(mention, entity=entity, same_as=same_as)


def _find_conflicts(ids: Sequence[str], new_ids: Mapping[str, str]) -> list[bool]:
    """Return whether each id of a mention, its entity first, is mapped to another entity; `new_ids` is by old id."""
    normal_ids = [normalise_id(id, Ids.NORMALISED) for id in ids]
    return find_conflicts(normal_ids, [new_ids.get(id, normal) for id, normal in zip(ids, normal_ids, strict=True)])


def _replace_document_ids(document: Document, new_ids: Mapping[str, str]) -> Document:
    """Return the document with the new ids in its labels and tags; values have none."""
    labels = tuple(label if is_value(label) else _replace_mention_ids(label, new_ids) for label in document.labels)
    tags = tuple(_replace_mention_ids(tag, new_ids) for tag in document.tags)
    return msgspec.structs.replace(document, labels=labels, tags=tags)


def _replace_response_ids(response: Response, new_ids: Mapping[str, str]) -> Response:
    """Return the response with the new ids in its predictions, their candidates, and its tags."""
    predictions = tuple(
        msgspec.structs.replace(
            _replace_mention_ids(prediction, new_ids),
            candidates=tuple(_replace_candidate_id(candidate, new_ids) for candidate in prediction.candidates),
        )
        for prediction in response.predictions
    )
    return msgspec.structs.replace(
        response, predictions=predictions, tags=tuple(_replace_mention_ids(tag, new_ids) for tag in response.tags)
    )


def _replace_candidate_id(candidate: Candidate, new_ids: Mapping[str, str]) -> Candidate:
    """Return the candidate with its new id; unchanged if `new_ids` (new id by old id) does not have it."""
    return msgspec.structs.replace(candidate, entity=new_ids.get(candidate.entity, candidate.entity))


def list_entity_ids(files: Iterable[str]) -> list[str]:
    """Load files of gold labels or predictions and return their entity ids, each once, in order of first occurrence."""
    ids: dict[str, None] = {}
    for file in files:
        ids.update(dict.fromkeys(pc.unique(_load_mentions(file).names).to_pylist()))
    return list(ids)


def _load_mentions(file: str) -> Mentions:
    """Load the gold labels of a file, or else its predictions; if both fail, raise one error with both messages."""
    try:
        return load(file, text=False).labels
    except KaratError as not_gold:
        try:
            return load_run(file).predictions
        except KaratError as not_predictions:
            if str(not_predictions) == str(not_gold):
                raise not_gold from None
            raise KaratError(f"{not_gold} Read as predictions: {not_predictions}") from None
