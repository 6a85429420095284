"""Mentions that stand for several concepts, such as "renal and hepatic failure" with the id `D058186|D017093`.

Biomedical corpora join the ids of such a mention: with `|` in NCBI Disease and BC5CDR, with `,` in NLM-Chem, with `,`
or `;` among the genes of tmVar and PubTator Central. What that is worth is for the evaluator to say:

- *as written* the joined id is one id, and only the same one is right;
- *each*: every id is an annotation of its own, and all of them are to be found. Compared by document, these are the
  sets of ids that the tasks of BioCreative V (CDR) and VII (NLM-Chem) count, and the publishers' own taggers on NCBI
  Disease;
- *any*: the ids are alternatives, and one that both sides name is enough, as in BioSyn and what was built on it.

`+` joins ids that are one concept only together, so that it is never divided. Nor are tmVar's descriptions of variants
(`c|SUB|T|920|G;Gene:23417;VariantGroup:0`), whose separators separate something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from karat.model.document import Label

_SEPARATOR = re.compile(r"[|,;]")
_ID = re.compile(r"(?:[A-Za-z_]+:)?[A-Za-z_]*\d[\w.+:-]*", re.ASCII)
_ATTRIBUTE = re.compile(
    r"(?:Corresponding|Original)?(?:Gene|Species|Disease|Variant|VariantGroup|RS#|HGVS|CA#):", re.ASCII
)
_NIL, _NO_LINK = "-1", "-"


def ids(entity: str) -> tuple[str, ...]:
    """The ids that one id joins, each once; only itself where it joins none. `-` among others says nothing."""
    parts = tuple(dict.fromkeys(part.strip() for part in _SEPARATOR.split(entity)))
    known = tuple(part for part in parts if part != _NO_LINK)
    divided = all(part == _NIL or (_ID.fullmatch(part) and not _ATTRIBUTE.match(part)) for part in known)
    return known if known and divided else (entity,)


def _divided(label: Label) -> tuple[Label, ...]:
    if not isinstance(label.entity, str):
        return (label,)
    return tuple(msgspec.structs.replace(label, entity=None if one == _NIL else one) for one in ids(label.entity))


def _as_written(labels: Iterable[Label]) -> Iterator[Label]:
    return iter(labels)


def _each(labels: Iterable[Label]) -> Iterator[Label]:
    for label in labels:
        yield from _divided(label)


def _alternatives(labels: Iterable[Label]) -> Iterator[Label]:
    """One mention of several labels; the same mention given twice has the same unit, so that it can be told."""
    for label in labels:
        parts = _divided(label)
        unit = f"{label.start}-{label.end} {label.entity}" if len(parts) > 1 else label.unit
        yield from (msgspec.structs.replace(part, unit=unit) for part in parts)


def _first_and_others(labels: Iterable[Label]) -> Iterator[Label]:
    """One annotation with all ids: an answer has no alternatives, but may name its entity in several ways."""
    for label in labels:
        parts = [part.entity for part in _divided(label)]
        named = [one for one in parts if isinstance(one, str)]
        yield msgspec.structs.replace(label, entity=named[0], same_as=tuple(named[1:])) if len(parts) > 1 else label


class Composite(NamedTuple):
    """What is made of the labels of a document where ids are joined: in a gold standard, and in answers."""

    of_gold: Callable[[Iterable[Label]], Iterator[Label]]
    of_answers: Callable[[Iterable[Label]], Iterator[Label]]


AS_WRITTEN = Composite(_as_written, _as_written)
EACH = Composite(_each, _each)
ANY = Composite(_alternatives, _first_and_others)
