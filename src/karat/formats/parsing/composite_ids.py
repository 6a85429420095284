"""Mentions of several concepts, such as "renal and hepatic failure" with the id `D058186|D017093`.

Biomedical corpora join the ids of such a mention: with `|` in NCBI Disease and BC5CDR, with `,` in NLM-Chem, with `,`
or `;` among the genes of tmVar and PubTator Central. There are two ways to score them:

- `ALL_IDS`, the default: each id is an annotation of its own, and all must be found. Compared by document, these are
  the sets of ids that the tasks of BioCreative V (CDR) and VII (NLM-Chem) count, and the publishers' own taggers on
  NCBI Disease;
- `ANY_ID`: the ids are alternatives, and one shared id suffices, as in BioSyn and its successors.

`+` joins ids that denote one concept only together, so `+` is never split. Neither are tmVar's descriptions of
variants (`c|SUB|T|920|G;Gene:23417;VariantGroup:0`), where the separators have another meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from karat.model.document import Label
from karat.model.spec.settings.nil_spellings import BIOMEDICAL_NIL, BIOMEDICAL_UNLINKED

_SEPARATOR = re.compile(r"[|,;]")
_ID = re.compile(r"(?:[A-Za-z_]+:)?[A-Za-z_]*\d[\w.+:-]*", re.ASCII)
_ATTRIBUTE = re.compile(
    r"(?:Corresponding|Original)?(?:Gene|Species|Disease|Variant|VariantGroup|RS#|HGVS|CA#):", re.ASCII
)


def split_ids(entity: str) -> tuple[str, ...]:
    """Split an entity into the distinct ids that `|`, `,` or `;` join in it; `-` among other ids is dropped.

    Return `entity` alone if a part does not look like an id, as in tmVar's descriptions of variants.
    """
    parts = tuple(dict.fromkeys(part.strip() for part in _SEPARATOR.split(entity)))
    id_parts = tuple(part for part in parts if part != BIOMEDICAL_UNLINKED)
    is_composite = all(
        part == BIOMEDICAL_NIL or (_ID.fullmatch(part) and not _ATTRIBUTE.match(part)) for part in id_parts
    )
    return id_parts if id_parts and is_composite else (entity,)


def _split_label(label: Label) -> tuple[Label, ...]:
    """Return a copy of the label for each id that its entity joins; `-1` becomes NIL."""
    if not isinstance(label.entity, str):
        return (label,)
    return tuple(
        msgspec.structs.replace(label, entity=None if part == BIOMEDICAL_NIL else part)
        for part in split_ids(label.entity)
    )


def _split_labels(labels: Iterable[Label]) -> Iterator[Label]:
    """Yield a label for each id of each label, so that each id must be found."""
    for label in labels:
        yield from _split_label(label)


def _to_alternatives(labels: Iterable[Label]) -> Iterator[Label]:
    """Yield a label for each id of each label; ids of one label share a `mention_id`, so that any of them is correct.

    The `mention_id` depends only on span and entity, so that duplicate mentions can be recognised.
    """
    for label in labels:
        parts = _split_label(label)
        mention_id = f"{label.start}-{label.end} {label.entity}" if len(parts) > 1 else label.mention_id
        yield from (msgspec.structs.replace(part, mention_id=mention_id) for part in parts)


def _to_same_as(labels: Iterable[Label]) -> Iterator[Label]:
    """Yield each label with its first id as entity and its other ids in `same_as`.

    Predictions have no alternatives, but may name their entity in several ways.
    """
    for label in labels:
        entities = [part.entity for part in _split_label(label)]
        entity_ids = [entity for entity in entities if isinstance(entity, str)]
        yield (
            msgspec.structs.replace(label, entity=entity_ids[0], same_as=tuple(entity_ids[1:]))
            if len(entities) > 1
            else label
        )


def _count_composite(labels: Iterable[Label]) -> int:
    """Return the number of labels whose entity joins several ids."""
    return sum(isinstance(label.entity, str) and len(split_ids(label.entity)) > 1 for label in labels)


class CompositeIdRule(NamedTuple):
    """A rule for labels whose entity joins several ids: how gold labels and predictions are converted."""

    split_gold: Callable[[Iterable[Label]], Iterator[Label]]
    """Conversion of the gold labels of a document."""
    split_predictions: Callable[[Iterable[Label]], Iterator[Label]]
    """Conversion of the predictions of a document, given as labels."""
    note: str
    """Description of the count of such labels."""

    def convert_gold(self, labels: Sequence[Label], skipped: Counter[str]) -> Iterator[Label]:
        """Yield the gold labels of a document by this rule; count those with several ids in `skipped`."""
        skipped[self.note] += _count_composite(labels)
        return self.split_gold(labels)

    def convert_predictions(self, labels: Sequence[Label], skipped: Counter[str]) -> Iterator[Label]:
        """Yield the predictions of a document, as labels, by this rule; count those with several ids in `skipped`."""
        skipped[self.note] += _count_composite(labels)
        return self.split_predictions(labels)


ALL_IDS = CompositeIdRule(
    _split_labels,
    _split_labels,
    "mentions with several ids (each id counts, as in BioCreative; formats with -any accept one of them)",
)
ANY_ID = CompositeIdRule(_to_alternatives, _to_same_as, "mentions with several ids (one of them suffices)")
