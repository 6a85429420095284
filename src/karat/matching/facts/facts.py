"""Facts about every label and prediction: by its text, its entity and the knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import or_
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace
from numpy.typing import NDArray

from karat.kb.hierarchy import LITERAL_ROLES, is_general_class
from karat.kb.ids.normalising_kb import unwrap_kb
from karat.kb.protocol import KB
from karat.matching.facts.kb_facts import EntityFacts, SurfaceFacts, has_role
from karat.matching.read.facets import corpus_facet_values, get_facet
from karat.matching.read.invented_mentions import mask_invented
from karat.matching.read.pairing import Pairing, code_labels, require_texts, value_kinds
from karat.matching.read.read_options import ReadOptions, find_nil_items
from karat.model.corpus import Corpus
from karat.model.items import CodeLists
from karat.model.reader_categories import NOT_COREFERENCE
from karat.model.spec.settings.conventions import NilIds
from karat.model.surface import is_lowercase, is_nominal, is_partial_name, is_pronoun, starts_lowercase
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, Bools, Ints, Longs, Mentions
from karat.model.tables.facet_values import FacetValues
from karat.model.truth import Truth, all_of, any_of, from_optional, negate

MENTION_TYPES = (
    "entity-named",
    "entity-non-named",
    "entity-unknown",
    "coreference-nominal",
    "coreference-pronominal",
    "entity-undecided",
)
"""Types of mentions, by their text and the name of their entity."""

NAMED, NON_NAMED, UNKNOWN_ENTITY, NOMINAL, PRONOMINAL, UNDECIDED = range(len(MENTION_TYPES))

DEMONYM_ROLES = ("place", "people", "language")
"""Roles of entities that a demonym can refer to."""

_SEPARATOR = "\x1f"  # occurs in no type


class FactDefinitions(msgspec.Struct, frozen=True):
    """Definitions on which scoring and dataset statistics differ."""

    is_lowercase: Callable[[str], bool]
    """Function that tells whether a text is lowercased."""
    rare_needs_link: bool
    """Whether only mentions with an entity, except quantities and datetimes, can be rare."""
    unnamed_type: int
    """Mention type of an entity whose name is unknown."""
    compares_unknown_ids: bool = False
    """Whether an id of no known form, such as a typo, is compared with popular entities among comparable ids."""


SCORE_DEFINITIONS = FactDefinitions(is_lowercase=is_lowercase, rare_needs_link=False, unnamed_type=UNDECIDED)
"""Definitions of scores, as in ELEVANT's evaluator.

"1990s" is lowercased, since its first letter is. A mention of NIL, a quantity or a datetime is rare if its text is
popular for an entity.
"""

NAMED_BY_DEFAULT = replace(SCORE_DEFINITIONS, unnamed_type=NAMED)
"""Definitions of scores in which an entity with unknown name counts as named, as in ELEVANT's evaluator."""

STATISTICS_DEFINITIONS = FactDefinitions(is_lowercase=starts_lowercase, rare_needs_link=True, unnamed_type=UNDECIDED)
"""Definitions of statistics, as in ELEVANT's benchmark statistics.

"1990s" is not lowercased, since its first character has no case. Mentions without entity are not rare.
"""


class _AnnotationSource(NamedTuple):
    """Annotations of one side with their entity codes; texts and value kinds are loaded on first use."""

    mentions: Mentions
    same_as: CodeLists | None
    document: NDArray[Any]
    texts: Callable[[], Sequence[str]]
    kind: Callable[[], Ints]


class AnnotationFacts:
    """Facts about all labels or all predictions, each column computed on first use.

    `base` are the facts about the gold standard, whose codes of entities and texts these facts extend.
    """

    def __init__(
        self,
        source: _AnnotationSource,
        kb: KB | None,
        definitions: FactDefinitions,
        base: AnnotationFacts | None = None,
    ) -> None:
        self._source, self._kb, self._definitions, self._base = source, kb, definitions, base
        self._category_cache: dict[tuple[str, ...], Bools] = {}
        self.mentions, self.entity, self.document = source.mentions, source.mentions.entity, source.document

    @property
    def has_kb(self) -> bool:
        """Whether there is a knowledge base."""
        return self._kb is not None

    @property
    def superclasses(self) -> Mapping[str, tuple[str, ...]]:
        """Direct superclasses of each type in the knowledge base; empty without one."""
        return {} if self._kb is None else self._kb.hierarchy.superclasses

    @cached_property
    def entities(self) -> EntityFacts:
        """Facts (name, types, popularity and so on) about the entities of all annotations, from the knowledge base.

        The facts are arrays; the entity code of an annotation (in `entity`) is an index into them.
        """
        names = self.mentions.names
        if self._base is None:  # gold codes come first and do not depend on the run
            same_as = self._source.same_as
            names = names.slice(
                0, 1 + max(int(np.max(codes, initial=-1)) for codes in _list_codes(self.entity, same_as))
            )
        return EntityFacts(names.to_pylist(), self._kb, None if self._base is None else self._base.entities)

    @cached_property
    def texts(self) -> list[str]:
        """Text of each mention; "" for predictions in unknown documents."""
        texts = [*self._source.texts(), ""]
        spans = zip(self.document.tolist(), self.mentions.start.tolist(), self.mentions.end.tolist(), strict=True)
        return [texts[document][start:end] for document, start, end in spans]

    @cached_property
    def surfaces(self) -> SurfaceFacts:
        """Facts about the distinct texts of mentions; the code in `surface_code` is an index into them."""
        return SurfaceFacts(self.texts, self._kb, None if self._base is None else self._base.surfaces)

    @property
    def surface_code(self) -> Longs:
        """Code of each mention's text, an index into the facts in `surfaces`."""
        return self.surfaces.codes

    @cached_property
    def lowercased(self) -> Bools:
        """Whether the first letter of each mention's text is lower case, by `FactDefinitions.is_lowercase`.

        False for invented mentions, which have no place in the text.
        """
        is_lowercase = self.surfaces.test_texts(self._definitions.is_lowercase)[self.surface_code]
        mask: Bools = is_lowercase & ~mask_invented(self.mentions.start)
        return mask

    @cached_property
    def n_words(self) -> Longs:
        """Number of words of each text, split at every single space."""
        counts = np.array([text.count(" ") + 1 for text in self.surfaces.texts], np.int64)
        return counts[self.surface_code]

    @cached_property
    def further_codes(self) -> dict[int, list[int]]:
        """Entity codes besides the first, by mention index, for linked mentions with several ids."""
        same_as = self._source.same_as
        if same_as is None:
            return {}
        rows = np.flatnonzero((np.diff(same_as.offsets) > 0) & (self.entity >= 0)).tolist()
        return {row: same_as.values[same_as.offsets[row] : same_as.offsets[row + 1]].tolist() for row in rows}

    @cached_property
    def names(self) -> list[str | None]:
        """Name of each mention's entity, from the gold standard or the knowledge base; None if unknown."""
        index, names = self._distinct_names
        return list(map(names.__getitem__, index.tolist()))

    @cached_property
    def _distinct_names(self) -> tuple[Longs, list[str | None]]:
        """Index of the name of each mention's entity among all distinct names, and the names; the first is None."""
        kb_names = [*self.entities.names, None, None]
        codes: dict[str | None, int] = {None: 0}
        index = np.array([codes.setdefault(name, len(codes)) for name in kb_names], np.int64)[self.entity]
        column = self.mentions.field("name")
        if column is not None:
            label_names = column.dictionary_encode()
            label_codes = [codes.setdefault(name or None, len(codes)) for name in label_names.dictionary.to_pylist()]
            label_index = np.array([*label_codes, 0], np.int64)[
                label_names.indices.fill_null(len(label_codes)).to_numpy(zero_copy_only=False)
            ]
            index = np.where(label_index > 0, label_index, index)
        names = list(codes)
        for row, further_codes in self.further_codes.items():
            if not names[index[row]]:
                index[row] = codes[next((kb_names[code] for code in further_codes if kb_names[code]), None)]
        return index, names

    @cached_property
    def _type_by_name(self) -> Ints:
        """Type of each mention by its entity's name, as an index into `MENTION_TYPES`; coreference is ignored."""
        index, names = self._distinct_names
        types = [NON_NAMED if is_lowercase(str(name)) else NAMED for name in names[1:]]
        by_row = np.array([self._definitions.unnamed_type, *types], np.int32)[index]
        return np.where(self.entity == NIL, np.int32(UNKNOWN_ENTITY), by_row)

    @cached_property
    def has_unknown_name(self) -> Bools:
        """Whether the type of each mention depends on an entity name that is unknown."""
        has_no_name: Bools = self._distinct_names[0] == 0
        return has_no_name & np.isin(self.mention_type, (NAMED, NON_NAMED, UNDECIDED))

    @cached_property
    def mention_type(self) -> Ints:
        """Type of each mention, as an index into `MENTION_TYPES`.

        The gold standard overrides the text: it may mark mentions as coreference or as no coreference.
        """
        pronoun, noun = (self.surfaces.test_texts(test)[self.surface_code] for test in (is_pronoun, is_nominal))
        types = np.where(pronoun, PRONOMINAL, np.where(noun, NOMINAL, self._type_by_name)).astype(np.int32)
        is_denied = self.has_category(NOT_COREFERENCE)
        types[is_denied] = self._type_by_name[is_denied]
        kind = self.mentions.field("kind")
        if kind is not None:
            is_marked = pc.equal(kind, "coreference").fill_null(False).to_numpy(zero_copy_only=False)
            types[is_marked] = np.where(pronoun[is_marked], PRONOMINAL, NOMINAL)
        return types

    @cached_property
    def is_coreference(self) -> Bools:
        """Whether each mention is coreference, that is, a nominal or a pronoun."""
        return np.isin(self.mention_type, (NOMINAL, PRONOMINAL))

    def has_category(self, *categories: str) -> Bools:
        """Return the mask of mentions that have one of `categories` in the file; one that ends with `:` is a prefix."""
        if categories not in self._category_cache:
            mask = self._category_cache[categories] = np.zeros(len(self.entity), np.bool_)
            owner, values = self._categories
            for category in categories if len(values) else ():
                test = pc.starts_with if category.endswith(":") else pc.equal
                mask[owner[test(values, category).to_numpy(zero_copy_only=False)]] = True
        return self._category_cache[categories]

    @cached_property
    def _categories(self) -> tuple[Longs, Arrow]:
        """The categories of all mentions one after the other: the mention of each, and the categories."""
        column = self.mentions.field("categories")
        if column is None:
            return np.zeros(0, np.int64), pa.nulls(0, pa.string())
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return np.repeat(np.arange(len(column)), lengths), column.flatten()

    @cached_property
    def entity_type_sets(self) -> tuple[Longs, list[frozenset[str] | None]]:
        """Index of the types of each mention's entity among all distinct sets, and the sets; None is an unknown set.

        Types are united over all ids of a mention. NIL has no types.
        """
        set_codes: dict[frozenset[str] | None, int] = {frozenset(): 0}
        by_code = self.entities.types
        codes = [set_codes.setdefault(types, len(set_codes)) for types in by_code]
        index = np.array([*codes, 0, 0], np.int64)[self.entity]
        for row, further in self.further_codes.items():
            known_types = [types for code in (self.entity[row], *further) if (types := by_code[code]) is not None]
            index[row] = set_codes.setdefault(
                frozenset[str]().union(*known_types) if known_types else None, len(set_codes)
            )
        return index, list(set_codes)

    @cached_property
    def type_sets(self) -> tuple[Longs, list[frozenset[str] | None]]:
        """Index of each mention's types among all distinct sets, and the sets, as in `entity_type_sets`.

        A mention's own types take precedence over the types of its entity.
        """
        index, entity_sets = self.entity_type_sets
        set_codes = {types: code for code, types in enumerate(entity_sets)}
        column = self.mentions.field("types")
        if column is not None:
            joined = pc.binary_join(column, _SEPARATOR).dictionary_encode()
            sets = [frozenset(types.split(_SEPARATOR)) for types in joined.dictionary.to_pylist()]
            own_codes = np.array([set_codes.setdefault(types, len(set_codes)) for types in sets], np.int64)
            has_types = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False) > 0
            index = np.where(has_types, own_codes[joined.indices.fill_null(0).to_numpy()], index)
        return index, list(set_codes)

    def has_role(self, role: str) -> Truth:
        """Return for each mention whether one of its types has a role, such as `place`; unknown without known types.

        General types of the mention, such as `Entity`, leave it to the types of its entity.
        """
        index, sets = self.type_sets
        is_silent = np.array([bool(types) and all(map(is_general_class, types or ())) for types in sets], np.bool_)
        if is_silent.any():
            index = np.where(is_silent[index], self.entity_type_sets[0], index)
        return from_optional(has_role(types, role) for types in sets)[index]

    @cached_property
    def is_linked(self) -> Bools:
        """Whether each mention has an entity and is no quantity or datetime."""
        linked: Bools = (self.entity >= 0) & (self._source.kind() == 0)
        return linked

    @cached_property
    def demonym(self) -> Truth:
        """Whether each mention is a demonym, and its entity a place, a people or a language; no coreference."""
        return all_of(
            ~self.is_coreference,
            self.surfaces.is_demonym[self.surface_code],
            any_of(*map(self.has_role, DEMONYM_ROLES)),
        )

    @cached_property
    def metonym(self) -> Truth:
        """Whether each mention's text is popular for a place, but its entity no place, person, people or character.

        Unlinked mentions and coreference are no metonyms.
        """
        is_other = (negate(self.has_role(role)) for role in LITERAL_ROLES)
        return all_of(
            ~self.is_coreference & self.is_linked, *is_other, self.surfaces.is_popular_for_place[self.surface_code]
        )

    @cached_property
    def partial_name(self) -> Truth:
        """Whether each mention's text is a part of its entity's name, which has several words.

        Unlinked mentions and coreference have no partial name.
        """
        pairs = zip(self.names, self.texts, strict=True)
        is_part = [None if name is None else is_partial_name(text, name) for name, text in pairs]
        return all_of(~self.is_coreference & self.is_linked, from_optional(is_part))

    @cached_property
    def rare(self) -> Truth:
        """Whether each mention's text is popular for other entities, but not for its own; no coreference.

        `FactDefinitions.rare_needs_link` tells whether mentions without entity can be rare.
        """
        popular = list(map(self.surfaces.popular.__getitem__, self.surface_code.tolist()))
        is_other = all_of(
            from_optional(None if entities is None else bool(entities) for entities in popular),
            negate(self.is_among(popular)),
        )
        return all_of(~self.is_coreference & (self.is_linked | (not self._definitions.rare_needs_link)), is_other)

    def is_among(self, entities: Iterable[frozenset[str] | None], rows: Longs | None = None) -> Truth:
        """Return for each mention whether its entity is in the corresponding set of `entities`: yes, no or unknown.

        There is one set of canonical ids per mention, or per mention in `rows` (-1 for no mention). The result is
        unknown if the set is None, or if no id of the entity can be compared with ids of the knowledge base.
        """
        ids, codes = [*self.entities.canonical_ids, "", ""], np.append(self.entity, NIL)
        comparable_ids = self.entities.is_comparable
        if self._definitions.compares_unknown_ids and any(comparable_ids):
            comparable_ids = list(map(or_, comparable_ids, self.entities.has_unknown_form))
        is_comparable, is_linked = [*comparable_ids, True, True], np.append(self.is_linked, False).tolist()
        further_codes = self.further_codes
        all_rows = np.arange(len(self.entity)) if rows is None else rows
        results: list[bool | None] = []
        for row, code, allowed in zip(all_rows.tolist(), codes[all_rows].tolist(), entities, strict=True):
            if allowed is None or (code >= 0 and ids[code] in allowed):
                results.append(None if allowed is None else True)
                continue
            own_codes = (code, *further_codes.get(row, ())) if code >= 0 else ()
            if len(own_codes) > 1 and any(ids[own_code] in allowed for own_code in own_codes):
                results.append(True)
            else:
                is_unknown = is_linked[row] and not any(is_comparable[own_code] for own_code in own_codes)
                results.append(None if is_unknown else False)
        return from_optional(results)

    @cached_property
    def candidates(self) -> tuple[Longs, list[str]]:
        """The ids of all candidates one after the other: offsets of each prediction's list, and the ids as written."""
        column = self.mentions.field("candidates")
        if column is None:
            return np.zeros(len(self.entity) + 1, np.int64), []
        lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        return np.concatenate([[0], np.cumsum(lengths)]), column.flatten().field("entity").to_pylist()


def _list_codes(entity: Ints, same_as: CodeLists | None) -> tuple[Ints, ...]:
    """Return the arrays that contain entity codes: the first ids, and the further ids if there are any."""
    return (entity,) if same_as is None else (entity, same_as.values)


def label_facts(corpus: Corpus, kb: KB | None) -> AnnotationFacts:
    """Return the facts about the labels of a corpus, with ids as written, independent of scoring options.

    The facts are computed on first use. Ids that are NIL by default are NIL here too.
    """
    names, codes = code_labels(corpus.labels)
    is_nil = find_nil_items(corpus.labels, NilIds.NOT_IN_WIKI)
    labels = replace(corpus.labels, names=names, entity=np.where(is_nil, NIL, corpus.labels.entity))
    texts = corpus.texts
    source = _AnnotationSource(labels, codes.same_as, labels.document, lambda: texts, lambda: value_kinds(labels))
    return AnnotationFacts(source, kb, STATISTICS_DEFINITIONS)


def label_facet_values(corpus: Corpus, name: str, facts: AnnotationFacts) -> FacetValues:
    """Return the values of a facet for all labels of a corpus, with facts of `label_facts`.

    Raise `UsageError` if the facet depends on a system.
    """
    facet = get_facet(name, corpus.labels)
    if facet.from_facts is None or not facet.needs_facts:
        return corpus_facet_values(corpus, name)
    values: FacetValues = facet.from_facts(None, facts)
    return values


class GoldFacts(msgspec.Struct, frozen=True, eq=False):
    """Facts about the labels of a corpus, shared by all runs with the same options."""

    annotations: AnnotationFacts
    """Facts about all labels."""
    corpus: Corpus
    read_options: ReadOptions
    kb: KB | None
    definitions: FactDefinitions

    def fits(self, pairing: Pairing, kb: KB | None, definitions: FactDefinitions) -> bool:
        """Return whether these facts hold for another pairing: same corpus, options, KBs and definitions."""
        same_kbs = (
            unwrap_kb(self.kb) is unwrap_kb(kb),
            unwrap_kb(self.read_options.kb) is unwrap_kb(pairing.read_options.kb),
        )
        same_options = (
            self.corpus is pairing.corpus
            and self.read_options == pairing.read_options
            and self.definitions == definitions
        )
        return same_options and all(same_kbs)


def compute_gold_facts(pairing: Pairing, kb: KB | None, definitions: FactDefinitions = SCORE_DEFINITIONS) -> GoldFacts:
    """Prepare the facts about the labels of a pairing, which the `Facts` of several runs can share."""
    labels, corpus = pairing.labels, pairing.corpus  # not the pairing itself, which would keep its run in memory
    kinds = pairing.gold_kind
    source = _AnnotationSource(
        labels, pairing.gold_same_as, labels.document, lambda: require_texts(corpus), lambda: kinds
    )
    return GoldFacts(AnnotationFacts(source, kb, definitions), pairing.corpus, pairing.read_options, kb, definitions)


class Facts:
    """Facts about the mentions of one corpus and one run.

    Facts about the gold standard are taken from `gold` if they fit. `vocabulary` returns which ids the system can
    predict; None where that is unknown.
    """

    def __init__(
        self,
        pairing: Pairing,
        kb: KB | None,
        definitions: FactDefinitions = SCORE_DEFINITIONS,
        *,
        gold: GoldFacts | None = None,
        vocabulary: Callable[[Sequence[str]], list[bool | None]] | None = None,
    ) -> None:
        self.pairing, self.kb, self._vocabulary = pairing, kb, vocabulary
        self.case_contexts: list[Any] = []  # of `karat.matching.facts.cases.get_case_context`
        gold_facts = (
            gold
            if gold is not None and gold.fits(pairing, kb, definitions)
            else compute_gold_facts(pairing, kb, definitions)
        )
        self.gold = gold_facts.annotations
        predictions = pairing.predictions
        source = _AnnotationSource(
            predictions,
            pairing.prediction_same_as,
            pairing.document_index[predictions.document],
            lambda: pairing.texts,
            lambda: pairing.prediction_kind,
        )
        self.predictions = AnnotationFacts(source, kb, definitions, base=self.gold)

    @property
    def ids(self) -> list[str]:
        """Ids by entity code, of both sides."""
        return self.predictions.entities.ids

    @cached_property
    def is_in_vocabulary(self) -> list[bool | None]:
        """Whether the system can predict the entity of each code; None if unknown."""
        return [None] * len(self.ids) if self._vocabulary is None else self._vocabulary(self.ids)

    @property
    def names(self) -> list[str | None]:
        """Names of entity codes in the knowledge base; None if unknown."""
        return self.predictions.entities.names

    def prediction_names(self, *, use_labels: bool) -> list[str | None]:
        """Return the name of each prediction's entity, or None if unknown.

        With `use_labels`, names in gold labels of the same entity come first, then those of the prediction or the
        knowledge base. Blocks must not use labels, since they have only some of them.
        """
        label_names: dict[int, str | None] = {}
        if use_labels:
            label_names = {
                code: name for code, name in zip(self.gold.entity.tolist(), self.gold.names, strict=True) if name
            }
        return [
            label_names.get(code) or name
            for code, name in zip(self.predictions.entity.tolist(), self.predictions.names, strict=True)
        ]

    @property
    def types(self) -> list[frozenset[str] | None]:
        """Types of entity codes in the knowledge base; None if unknown."""
        return self.predictions.entities.types

    @property
    def popular(self) -> list[frozenset[str] | None]:
        """Entities that each text of either side often refers to, by text code; None if unknown."""
        return self.predictions.surfaces.popular

    def test_surfaces(self, test: Callable[[str], bool]) -> Bools:
        """Return the result of `test` for each distinct text of either side, by `AnnotationFacts.surface_code`."""
        return self.predictions.surfaces.test_texts(test)
