"""Options that define items before matching: which ids are equal, and which annotations count as mentions.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.ids.id_conflicts import find_conflicts
from karat.kb.ids.id_context import IdEvidence, build_context, collect_evidence
from karat.kb.ids.normal_forms import (
    DEFAULT_CONTEXT,
    NORMALISERS,
    IdContext,
    find_resource_of_page,
    normalise_ids,
)
from karat.kb.ids.normalising_kb import NormalisingKB
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import UsageError
from karat.model.items import CodeLists
from karat.model.run import Run
from karat.model.spec.settings.conventions import (
    Alternatives,
    ClusterMembership,
    Duplicates,
    EvaluationSpan,
    Ids,
    Nil,
    NilIds,
    Optional,
    Quantities,
    Spans,
    UnknownIds,
    Unlinked,
)
from karat.model.spec.settings.settings import Conventions
from karat.model.tables.arrow import Arrow
from karat.model.tables.columns import NIL, NO_LINK, Bools, Ints, Mentions

_GOLD_NIL = "NIL"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options that turn labels and predictions into items, before a view selects some of them."""

    kb: KB | None = field(default=None, compare=False)
    """Knowledge base that resolves ids; None if the setting `ids` needs none."""
    ids: Ids = Ids.AS_WRITTEN
    """How ids are normalised or resolved."""
    unknown_ids_alike: bool = False
    """Whether all ids that the knowledge base does not have count as one entity."""
    prefixes: tuple[str, ...] | None = None
    """Prefixes of the knowledge base's ids, if other ids count as NIL (emerging entities)."""
    unlinked_is_nil: bool = False
    """Whether unlinked items count as NIL."""
    drop_duplicates: bool = False
    """Whether a repeated annotation counts once."""
    separate_alternatives: bool = False
    """Whether each alternative of a mention counts as a mention of its own."""
    first_alternative: bool = False
    """Whether only the first alternative of a mention counts."""
    require_optional: bool = False
    """Whether optional labels count as required."""
    needs_types: bool = False
    """Whether a view compares types."""
    needs_clusters: bool = False
    """Whether a view compares clusters."""
    unlinked_cluster: bool = False
    """Whether all unlinked items are one cluster."""
    expand_words: bool = False
    """Whether spans also match after expansion to whole words."""
    unlinked_is_entity: bool = False
    """Whether unlinked items count as linked to one entity with an empty id."""
    span_for_unmatched_only: bool = False
    """Whether items outside the evaluation span count if they are matched."""
    merge_alternatives: bool = False
    """Whether all labels with the same span form one mention."""
    nil_never_matches: bool = False
    """Whether gold NIL matches no prediction."""
    kind_kb: KB | None = field(default=None, compare=False)
    """Knowledge base that tells quantities and datetimes, if these are compared by kind."""
    context: CorpusContext | None = None
    """Facts about the whole data, if only a block of it is read."""
    id_context: IdContext | None = None
    """How ids are meant in the whole data; None if that was not looked at."""
    nil_ids: NilIds = NilIds.NULL
    """Which ids are NIL."""

    @property
    def changes_codes(self) -> bool:
        """Whether any option changes entity codes."""
        return (
            self.kb is not None
            or self.prefixes is not None
            or self.unlinked_is_nil
            or self.unlinked_is_entity
            or self.ids in NORMALISERS
            or self.nil_never_matches
            or self.nil_ids is not NilIds.NULL
        )

    @property
    def code_options(self) -> tuple[Hashable, ...]:
        """All options besides knowledge bases that entity codes depend on."""
        return (
            *(self.ids, self.id_context, self.context, self.unknown_ids_alike, self.prefixes, self.nil_ids),
            *(self.unlinked_is_nil, self.unlinked_is_entity, self.nil_never_matches),
        )

    def with_id_context(self, context: IdContext) -> ReadOptions:
        """Return the options for data whose ids are meant as `context` says, also for the knowledge base."""
        kb = self.kb.with_context(context) if isinstance(self.kb, NormalisingKB) else self.kb
        return replace(self, kb=kb, id_context=context)


def build_read_options(
    conventions: Conventions, kb: KB | None, *, needs_types: bool, needs_clusters: bool
) -> ReadOptions:
    """Return the read options that the settings ask for.

    `needs_types` and `needs_clusters` tell whether any view compares types or clusters.
    """
    c = conventions
    return ReadOptions(
        kb=kb if c.ids.uses_kb else None,
        ids=c.ids,
        unknown_ids_alike=c.unknown_ids is UnknownIds.ALIKE,
        prefixes=c.prefixes if c.nil is Nil.EMERGING else None,
        unlinked_is_nil=c.unlinked is Unlinked.NIL,
        drop_duplicates=c.duplicates is Duplicates.ONCE,
        separate_alternatives=c.alternatives in (Alternatives.SEPARATE, Alternatives.FIRST),
        first_alternative=c.alternatives is Alternatives.FIRST,
        require_optional=c.optional is Optional.REQUIRED,
        needs_types=needs_types,
        needs_clusters=needs_clusters,
        unlinked_cluster=c.clusters is ClusterMembership.NELEVAL,
        expand_words=c.spans is Spans.WORDS,
        unlinked_is_entity=c.unlinked is Unlinked.ENTITY,
        span_for_unmatched_only=c.evaluation_span is EvaluationSpan.UNMATCHED,
        merge_alternatives=c.alternatives is Alternatives.MERGED,
        nil_never_matches=c.nil is Nil.UNMATCHED,
        kind_kb=kb if c.quantities is Quantities.KIND else None,
        nil_ids=c.nil_ids,
    )


def find_nil_ids(names: Arrow, nil_ids: NilIds) -> Bools:
    """Return the mask of ids that are NIL under a value of the setting `nil-ids`."""
    if not nil_ids.pattern:
        return np.zeros(len(names), np.bool_)
    mask: Bools = pc.match_substring_regex(names, nil_ids.pattern).to_numpy(zero_copy_only=False)
    return mask


def find_nil_items(mentions: Mentions, nil_ids: NilIds) -> Bools:
    """Return the mask of mentions whose ids are all NIL under a value of the setting `nil-ids`; null is no id."""
    mask: Bools = np.append(find_nil_ids(mentions.names, nil_ids), [False, False])[mentions.entity]
    same_as = mentions.field("same_as")
    if same_as is not None and mask.any():
        lengths = same_as.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        owner = np.repeat(np.arange(len(mentions)), lengths)
        is_entity = ~find_nil_ids(same_as.flatten(), nil_ids)
        mask &= np.bincount(owner[is_entity], minlength=len(mentions)) == 0
    return mask


def find_id_context(corpus: Corpus, run: Run) -> IdContext:
    """Return how the ids of a corpus and a run are meant, for example whether `Q90` is a Wikidata item.

    All ids of both sides decide together. What each side contributes is cached with it.
    """
    return build_context([_get_evidence(corpus), _get_evidence(run)])


def _get_evidence(side: Corpus | Run) -> IdEvidence:
    """Return what the ids of a corpus or run tell about how they are meant; cached."""
    return side.get_or_compute("id evidence", lambda: collect_table_evidence(side.table))


def collect_table_evidence(table: Arrow) -> IdEvidence:
    """Return what the ids of mentions, tags, candidates and triples in a table tell about how they are meant."""
    evidence = IdEvidence()
    for column in _iterate_id_columns(table):
        evidence = evidence.merge(collect_evidence(column))
    return evidence


ID_COLUMNS = ("labels", "predictions", "tags", "relations")
"""Columns of documents and responses that have ids."""


def _iterate_id_columns(table: Arrow) -> Iterator[Arrow]:
    """Yield the distinct ids of each field that has ids, chunk by chunk."""
    for name in ID_COLUMNS:
        for chunk in table.column(name).chunks if name in table.column_names else ():
            values = chunk.flatten()
            if not len(values):
                continue
            fields = {field.name: values.field(index) for index, field in enumerate(values.type)}
            for field_name in ("entity", "subject", "predicate", "object"):
                if field_name in fields:
                    yield _distinct_strings(fields[field_name])
            if "same_as" in fields:
                yield _distinct_strings(fields["same_as"].flatten())
            if "candidates" in fields:
                yield _distinct_strings(pc.struct_field(fields["candidates"].flatten(), "entity"))


def _distinct_strings(column: Arrow) -> Arrow:
    """Return the distinct values of a column of strings, which may be dictionary-encoded."""
    return column.dictionary if pa.types.is_dictionary(column.type) else column.unique()


class Codes(msgspec.Struct, frozen=True):
    """Entity code and further ids of each item of one side."""

    entity: Ints
    """Entity code of each item."""
    same_as: CodeLists | None
    """Codes of the further ids of each item; None if no item has any."""
    n_conflicts: int = 0
    """Number of items with further ids that were dropped, since a knowledge base maps them to other entities."""


def resolve_codes(names: Arrow, sides: tuple[Codes, Codes], options: ReadOptions) -> tuple[Arrow, tuple[Codes, Codes]]:
    """Return ids and codes of both sides after normalisation, redirects, same-as links and the NIL rules.

    `names` are the ids by code before. Gold ids come first in the result. A prediction is of one entity: further ids
    that the knowledge base maps to other entities are dropped.
    """
    original = names, sides
    is_nil = find_nil_ids(names, options.nil_ids)
    if is_nil.any():  # an entity is NIL if all its ids are
        sides = _replace_emerging(sides[0], ~is_nil), _replace_emerging(sides[1], ~is_nil)
    resolved_names = (
        normalise_ids(names, options.ids, options.id_context or DEFAULT_CONTEXT)
        if options.kb is None
        else _canonical_names(names, options.kb, unknown_ids_alike=options.unknown_ids_alike)
    )
    if resolved_names is not names:
        names = pa.concat_arrays([names, resolved_names]).unique()
        code = np.asarray(pc.index_in(resolved_names, names).to_numpy(zero_copy_only=False), np.int32)
        if options.kb is not None:
            sides = sides[0], _drop_conflicts(sides[1], original[0], resolved_names, options)
        sides = _map_codes(sides[0], code), _map_codes(sides[1], code)
    if options.unlinked_is_nil:
        sides = _replace_unlinked(sides[0], NIL), _replace_unlinked(sides[1], NIL)
    if options.unlinked_is_entity:
        empty_id = pc.index(names, pa.scalar("", pa.string())).as_py()
        unlinked_code = empty_id if empty_id >= 0 else len(names)
        names = names if empty_id >= 0 else pa.concat_arrays([names, pa.array([""])])
        sides = _replace_unlinked(sides[0], unlinked_code), _replace_unlinked(sides[1], unlinked_code)
    if options.nil_never_matches:  # in the gold standard NIL becomes an entity that no prediction has
        names = pa.concat_arrays([names, pa.array([_GOLD_NIL])])
        gold = np.where(sides[0].entity == NIL, np.int32(len(names) - 1), sides[0].entity)
        sides = Codes(gold, sides[0].same_as), sides[1]
    if options.prefixes is not None:
        is_inside = _starts_with_any(names, options.prefixes)
        if options.ids is Ids.NORMALISED or options.kb is not None:
            # The normal form, or the canonical id of a knowledge base, may lack a prefix that another spelling has.
            with_resource = options.ids is Ids.NORMALISED and options.kb is not None  # a page is its resource too
            is_inside |= np.array(
                [_has_spelling_with_prefix(id, options.prefixes, with_resource) for id in names.to_pylist()], np.bool_
            )
        sides = _replace_emerging(sides[0], is_inside), _replace_emerging(sides[1], is_inside)
    return original if names is original[0] and sides is original[1] else _order_gold_first(names, sides)


def _starts_with_any(names: Arrow, prefixes: tuple[str, ...]) -> Bools:
    """Return the mask of names that start with one of `prefixes`."""
    mask = np.zeros(len(names), np.bool_)
    for prefix in prefixes:
        mask |= pc.starts_with(names, prefix).to_numpy(zero_copy_only=False)
    return mask


def _has_spelling_with_prefix(id: str, prefixes: tuple[str, ...], with_resource: bool) -> bool:
    """Return whether one spelling of `id`, or of its DBpedia resource if it is a page, starts with one of `prefixes`.

    Addresses stay as they are: GERBIL knows `wikidata.org/entity/`, but not `wikidata.org/wiki/`.
    """
    normaliser = NORMALISERS[Ids.NORMALISED]
    normal_form = id if "://" in id else normaliser.normalise(id)
    resource = find_resource_of_page(normal_form) if with_resource else None
    forms = (normal_form,) if resource is None else (normal_form, resource)
    return any(spelling.startswith(prefixes) for form in forms for spelling in normaliser.iterate_spellings(form))


def _order_gold_first(names: Arrow, sides: tuple[Codes, Codes]) -> tuple[Arrow, tuple[Codes, Codes]]:
    """Renumber codes so that gold ids come first, in gold order, and no run changes them; return ids and codes."""
    gold = sides[0]
    gold_codes = gold.entity if gold.same_as is None else np.concatenate([gold.entity, gold.same_as.values])
    first = np.full(len(names) + 2, len(gold_codes), np.int64)
    first[gold_codes[::-1]] = np.arange(len(gold_codes))[::-1]  # of repeated codes, the earliest index is assigned last
    order = np.argsort(first[:-2], kind="stable")
    code = np.empty(len(names), np.int32)
    code[order] = np.arange(len(names), dtype=np.int32)
    return names.take(pa.array(order)), (_map_codes(gold, code), _map_codes(sides[1], code))


def canonical_ids(ids: list[str], options: ReadOptions) -> list[str]:
    """Return the canonical id of each id in the knowledge base of `options`, or its normal form without one."""
    if options.kb is not None:
        return options.kb.canonical_ids(ids)
    context = options.id_context or DEFAULT_CONTEXT
    normal_ids: list[str] = normalise_ids(pa.array(ids, pa.string()), options.ids, context).to_pylist()
    return normal_ids


def _canonical_names(names: Arrow, kb: KB, *, unknown_ids_alike: bool) -> Arrow:
    """Return the canonical id of each id; with `unknown_ids_alike`, an empty id if the knowledge base lacks it.

    Raise `UsageError` if the knowledge base cannot tell which ids it lacks.
    """
    ids = names.to_pylist()
    canonical = kb.canonical_ids(ids)
    if unknown_ids_alike:
        exists = kb.contains(canonical)
        if exists is None:
            raise UsageError(
                f"unknown-ids=alike needs a list of entities, and {kb.name} has none. Use another knowledge base."
            )
        canonical = [name if is_known else "" for name, is_known in zip(canonical, exists, strict=True)]
    return pa.array(canonical, pa.string())


def _drop_conflicts(side: Codes, names: Arrow, resolved_names: Arrow, options: ReadOptions) -> Codes:
    """Return `side` without the further ids that the knowledge base maps to another entity than that of their item.

    `names` and `resolved_names` are the ids by code, as written and as the knowledge base resolves them.
    """
    same_as = side.same_as
    if same_as is None:
        return side
    normal_names = normalise_ids(names, options.ids, options.id_context or DEFAULT_CONTEXT)
    is_changed = pc.not_equal(normal_names, resolved_names).to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(side.entity)), np.diff(same_as.offsets))
    is_conflict = np.zeros(len(owner), np.bool_)
    for row in np.unique(owner[is_changed[same_as.values]]).tolist():
        low, high = same_as.offsets[row : row + 2].tolist()
        entity = side.entity[row : row + 1]
        codes = pa.array(np.concatenate([entity[entity >= 0], same_as.values[low:high]]))
        conflicts = find_conflicts(normal_names.take(codes).to_pylist(), resolved_names.take(codes).to_pylist())
        is_conflict[low:high] = conflicts[len(codes) - (high - low) :]
    if not is_conflict.any():
        return side
    lengths = np.bincount(owner[~is_conflict], minlength=len(side.entity))
    further_ids = CodeLists(np.concatenate([[0], np.cumsum(lengths)]), same_as.values[~is_conflict])
    return Codes(side.entity, further_ids, len(np.unique(owner[is_conflict])))


def _map_codes(side: Codes, code: Ints) -> Codes:
    """Return `side` with every code replaced by its entry in `code`; NIL and NO_LINK stay."""
    lookup = np.append(code, np.array([NO_LINK, NIL], np.int32))  # the last two map -2 and -1 to themselves
    same_as = side.same_as
    further_ids = None if same_as is None else CodeLists(same_as.offsets, lookup[same_as.values])
    return Codes(lookup[side.entity], further_ids, side.n_conflicts)


def _replace_unlinked(side: Codes, code: int) -> Codes:
    """Return `side` with `code` in place of NO_LINK."""
    return Codes(np.where(side.entity == NO_LINK, np.int32(code), side.entity), side.same_as, side.n_conflicts)


def _replace_emerging(side: Codes, inside: Bools) -> Codes:
    """Return `side` with NIL in place of the entities that have no id inside the knowledge base.

    `inside` is the mask of ids, by code, that are inside. Further ids of these entities are dropped.
    """
    is_known = np.append(inside, [False, False])
    has_known_id = is_known[side.entity]
    same_as = side.same_as
    if same_as is not None:
        owner = np.repeat(np.arange(len(side.entity)), np.diff(same_as.offsets))
        has_known_id = has_known_id | (np.bincount(owner[is_known[same_as.values]], minlength=len(side.entity)) > 0)
        mask = has_known_id[owner]
        lengths = np.bincount(owner[mask], minlength=len(side.entity))
        same_as = CodeLists(np.concatenate([[0], np.cumsum(lengths)]), same_as.values[mask])
    is_outside = (side.entity >= 0) & ~has_known_id
    return Codes(np.where(is_outside, np.int32(NIL), side.entity), same_as, side.n_conflicts)


class CorpusContext(msgspec.Struct, frozen=True, eq=False):
    """Facts about a whole corpus and run that decide how a block of them counts."""

    has_gold_tags: bool = False
    """Whether any gold document has tags."""
    has_prediction_tags: bool = False
    """Whether any response has tags."""
    facet_corpus: Corpus | None = None
    """Corpus with one label for each typed entity and each other facet value; None if no view needs facets."""
    predicted_fields: frozenset[str] = frozenset()
    """Fields in which any prediction has a value."""
    predicted_values: frozenset[str] = frozenset()
    """Types and categories that any prediction names."""
    entity_types: Mapping[str, Set[str]] = msgspec.field(default_factory=dict)
    """Types that gold labels give to each entity, if predictions are dropped by type."""
    id_context: IdContext | None = None
    """How the ids of the whole data are meant; None if ids are not normalised."""
