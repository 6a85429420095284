"""Checks of the input for likely mistakes, which are reported as notes and never change the scores.

A view is a match relation with filters, such as `strong[nil]`. A block is a part of the documents with the responses to
them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from karat.kb.ids.normal_forms import DEFAULT_CONTEXT, normalise_ids
from karat.kb.ids.normalising_kb import NormalisingKB, unwrap_kb
from karat.kb.in_memory_kb import InMemoryKB
from karat.kb.protocol import KB, IdStatus
from karat.matching.read.offset_fit import OffsetFit, check_offsets
from karat.matching.read.pairing import Pairing
from karat.matching.read.read_options import ReadOptions, canonical_ids, find_nil_items
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import merge_counts, name_locations
from karat.model.output.command_options import format_setting
from karat.model.output.text_layout import format_count
from karat.model.results.failures import FAILED_NOTE, describe_failures, group_by_error, sort_failures
from karat.model.results.result import WARNING
from karat.model.results.statistics import Statistics
from karat.model.run import Run
from karat.model.spec.settings.conventions import Ids, NilIds
from karat.model.spec.settings.nil_spellings import NIL_ID, NIL_LIKE, NOT_IN_WIKI
from karat.model.tables.columns import NIL, Bools, Ints, Mentions
from karat.model.tables.digest import hash_strings

_ID_PREFIX = re.compile(r"https?://[^,]*/|[A-Za-z][\w.-]*:(?!//)|[A-Z]+(?=\d)")  # of a list of ids, such as Q
_SAMPLE_SIZE = 10_000  # mentions that are compared before all others
_MAX_TYPES = 6  # named in a note
_MAX_FAILED = 1000  # documents that a note names for each error
_NUMBERED_NIL, _NOT_IN_WIKI = f"{NIL_ID}…", f"…{NOT_IN_WIKI}…"  # ids that look like NIL and differ from each other


LABELS_NOTE: Final = "the file contains gold labels, which are scored as predictions, one per mention"
"""The note about a run that was read from gold labels."""


class SideChecks(NamedTuple):
    """Findings about the entities of gold labels or predictions; they add up over blocks."""

    example: str | None = None
    """The smallest id as written, if notes may show it; independent of the order of documents."""
    n_linked: int = 0
    """Number of linked mentions."""
    ids: frozenset[int] = frozenset()
    """Hashes of the entities as read, until one occurs on both sides."""
    n_emerging: int = 0
    """Mentions whose id is emerging by its prefix."""
    n_replaced: int = 0
    """Mentions whose id the knowledge base replaced."""
    nil_like_ids: tuple[tuple[str, int], ...] = ()
    """Ids that look like NIL but are entities, with their number of mentions."""
    id_statuses: tuple[tuple[str, int], ...] = ()
    """Mentions by status of their id in the knowledge base, without those that it maps."""
    n_nil_ids: int = 0
    """Mentions that are NIL by their id."""
    used_tables: frozenset[str] = frozenset()
    """Tables of redirects and same-as pairs that have an id of some mention."""
    types: tuple[tuple[str, int], ...] = ()
    """Types that are compared, with their number of mentions."""

    def merge(self, other: SideChecks, *, keep_ids: bool) -> SideChecks:
        """Return the findings about both blocks together; without `keep_ids`, the hashes of entities are dropped."""
        return SideChecks(
            min((id for id in (self.example, other.example) if id is not None), default=None),
            self.n_linked + other.n_linked,
            self.ids | other.ids if keep_ids else frozenset(),
            self.n_emerging + other.n_emerging,
            self.n_replaced + other.n_replaced,
            _add_counts(self.nil_like_ids, other.nil_like_ids),
            _add_counts(self.id_statuses, other.id_statuses),
            self.n_nil_ids + other.n_nil_ids,
            self.used_tables | other.used_tables,
            _add_counts(self.types, other.types),
        )


def _add_counts(
    counts: tuple[tuple[str, int], ...], other_counts: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    """Add up two lists of names with counts; return the sums sorted by name."""
    return tuple(sorted((Counter(dict(counts)) + Counter(dict(other_counts))).items()))


class InputChecks(NamedTuple):
    """Findings about a corpus and a run, or about a block of them."""

    gold: SideChecks = SideChecks()
    """Findings about the gold labels."""
    predictions: SideChecks = SideChecks()
    """Findings about the predictions."""
    has_shared_entity: bool = False
    """Whether an entity occurs on both sides."""
    scores: tuple[int, float, float] = (0, np.inf, -np.inf)
    """Number of scores outside [0, 1], with the lowest and the highest of them."""
    offset_fit: OffsetFit = OffsetFit()
    """How well the offsets of predictions fit the texts."""
    failed_ids: Mapping[str, tuple[str, ...]] = {}
    """Ids of the documents that the system failed on, by error, most frequent first."""
    needs_types: bool = False
    """Whether a relation counts only mentions with types, which have to have equal names."""

    def merge(self, other: InputChecks) -> InputChecks:
        """Return the findings about both blocks together; hashes of entities are dropped once one is on both sides."""
        ids = [
            side.ids | other_side.ids
            for side, other_side in ((self.gold, other.gold), (self.predictions, other.predictions))
        ]
        has_shared_entity = self.has_shared_entity or other.has_shared_entity or not ids[0].isdisjoint(ids[1])
        (count, low, high), (other_count, lower, higher) = self.scores, other.scores
        return InputChecks(
            self.gold.merge(other.gold, keep_ids=not has_shared_entity),
            self.predictions.merge(other.predictions, keep_ids=not has_shared_entity),
            has_shared_entity,
            (count + other_count, min(low, lower), max(high, higher)),
            self.offset_fit.merge(other.offset_fit),
            sort_failures(
                {
                    error: (*self.failed_ids.get(error, ()), *other.failed_ids.get(error, ()))
                    for error in (*self.failed_ids, *other.failed_ids)
                }
            ),
            self.needs_types or other.needs_types,
        )


def format_input_notes(pairing: Pairing, views: Mapping[str, Statistics]) -> tuple[str, ...]:
    """Check corpus and run, and return notes about likely mistakes; `views` has the statistics of each view."""
    return format_notes(
        check_inputs(pairing, pairing.run),
        pairing.read_options,
        views,
        from_labels=pairing.run.metadata.get("predictions") == "labels",
    )


def find_warnings(corpus: Corpus, run: Run) -> list[str]:
    """Return the warnings about a corpus and a run that their evaluation has as notes, for outputs without notes."""
    return [*list_reader_warnings(merge_counts(corpus.skipped, run.skipped)), *find_offset_warnings(corpus, run)]


def find_offset_warnings(corpus: Corpus, run: Run) -> list[str]:
    """Return the warning that the offsets of a run do not fit the texts of its corpus, if any."""
    document_index = pc.index_in(run.ids, corpus.ids).fill_null(-1).to_numpy(zero_copy_only=False)
    warning = check_offsets(corpus, run, np.asarray(document_index, np.int64)).describe()
    return [] if warning is None else [f"{WARNING}{warning}"]


def list_reader_warnings(skipped: Mapping[str, int]) -> list[str]:
    """Return the warnings among the counts of a reader."""
    return [
        f"{WARNING}{count:,} {description.partition(WARNING)[2]}"
        for description, count in name_locations(skipped).items()
        if WARNING in description
    ]


def check_inputs(
    pairing: Pairing,
    original_run: Run,
    *,
    has_spans: bool = True,
    compares_types: bool = False,
    needs_types: bool = False,
) -> InputChecks:
    """Check corpus and run for likely mistakes, such as ids that cannot match, and return the findings.

    `original_run`: the run with the predictions that rules drop, so that these do not hide wrong offsets.
    `has_spans`: whether the items are mentions in the text, whose offsets are checked.
    `compares_types`: whether scores depend on equal names of types on both sides.
    `needs_types`: whether a relation compares these types.
    """
    has_shared_entity = _has_shared_entity(pairing)
    labels, predictions, read_options = pairing.corpus.labels, pairing.run.predictions, pairing.read_options
    score = predictions.score()
    outside = score[(score < 0) | (score > 1)]
    gold = pairing.cache_gold_result(
        "noticed", lambda: _check_side(labels, pairing.gold_entity, pairing.has_plain_ids[0], read_options)
    )
    scored, entity = predictions, pairing.prediction_entity
    if (pairing.document_index < 0).any():  # predictions in unknown documents are not scored
        is_known = np.repeat(pairing.document_index >= 0, np.diff(predictions.offsets))
        scored, entity = predictions.select(is_known), entity[is_known]
    predicted = _check_side(scored, entity, pairing.has_plain_ids[1], read_options)
    if compares_types:
        gold, predicted = gold._replace(types=_count_types(labels)), predicted._replace(types=_count_types(scored))
    return InputChecks(
        _add_ids(gold, labels, pairing.gold_entity, pairing, has_shared_entity=has_shared_entity),
        _add_ids(predicted, predictions, pairing.prediction_entity, pairing, has_shared_entity=has_shared_entity),
        has_shared_entity,
        (len(outside), float(outside.min(initial=np.inf)), float(outside.max(initial=-np.inf))),
        check_offsets(pairing.corpus, original_run, pairing.document_index) if has_spans else OffsetFit(),
        _group_failures(pairing),
        needs_types,
    )


def _group_failures(pairing: Pairing) -> dict[str, tuple[str, ...]]:
    """Return the ids of the scored documents that the system failed on, by error."""
    table = pairing.run.table
    if "error" not in table.column_names:
        return {}
    is_failed = table.column("error").is_valid().to_numpy() & (pairing.document_index >= 0)
    failed = table.select(["id", "error"]).filter(pa.array(is_failed))
    return group_by_error(zip(failed.column("id").to_pylist(), failed.column("error").to_pylist(), strict=True))


def _has_shared_entity(pairing: Pairing) -> bool:
    """Return whether any id occurs in both gold labels and predictions; entities, of a sample first, then `same_as`."""
    for limit in (_SAMPLE_SIZE, None):
        is_gold = np.zeros(len(pairing.names) + 2, np.bool_)
        is_gold[pairing.gold_entity[:limit]] = True
        is_gold[-2:] = False  # NO_LINK and NIL
        if is_gold[pairing.prediction_entity[:limit]].any():
            return True
    sides = ((pairing.corpus.labels, pairing.gold_entity), (pairing.run.predictions, pairing.prediction_entity))
    if all(mentions.field("same_as") is None for mentions, _ in sides):
        return False
    gold, predictions = (_list_ids(mentions, entity, pairing) for mentions, entity in sides)
    return not gold.isdisjoint(predictions)


def _list_ids(mentions: Mentions, entity: Ints, pairing: Pairing) -> set[str]:
    """Return the entities of mentions and their further ids, as read."""
    entities = pairing.names.take(pa.array(np.unique(entity[entity >= 0]))).to_pylist()
    same_as = mentions.field("same_as")
    others = [] if same_as is None else same_as.flatten().unique().drop_null().to_pylist()
    return {*entities, *canonical_ids(others, pairing.read_options)}


def _add_ids(
    side: SideChecks, mentions: Mentions, entity: Ints, pairing: Pairing, *, has_shared_entity: bool
) -> SideChecks:
    """Return the findings with an example id and the hashes of all entities, for notes about ids that never match.

    With a shared entity there are no hashes, and no example either unless prefixes tell emerging entities.
    """
    if has_shared_entity and pairing.read_options.prefixes is None:
        return side
    entities = np.zeros(0, np.int32) if has_shared_entity else np.unique(entity[entity >= 0])
    ids = hash_strings(pairing.names.take(pa.array(entities))).tolist()
    return side._replace(example=_smallest_id(mentions), ids=frozenset(ids))


def _check_side(mentions: Mentions, entity: Ints, is_plain: Bools, read_options: ReadOptions) -> SideChecks:
    """Return the findings about one side without example and hashes, which `_add_ids` adds.

    `entity` is the entity of each mention as read; `is_plain` marks the names that are plain Wikidata ids.
    """
    return SideChecks(
        None,
        int((entity >= 0).sum()),
        frozenset(),
        0 if read_options.prefixes is None else int(((entity == NIL) & (mentions.entity >= 0)).sum()),
        _count_replaced(mentions, read_options),
        _count_nil_like_ids(mentions, entity, is_plain),
        _count_id_statuses(mentions, read_options.kb),
        int(find_nil_items(mentions, read_options.nil_ids).sum()),
        _find_used_tables(mentions, read_options.kb),
    )


def _smallest_id(mentions: Mentions) -> str | None:
    """Return the alphabetically smallest id that some mention has, or None if no mention is linked.

    Ids that look like NIL are no examples, unless there are no others.
    """
    is_used = np.zeros(len(mentions.names) + 2, np.bool_)
    is_used[mentions.entity] = True
    ids = mentions.names.filter(pa.array(is_used[:-2]))  # without NO_LINK and NIL
    ordinary_ids = ids.filter(pc.invert(pc.match_substring_regex(ids, NIL_LIKE)))
    smallest: str | None = pc.min(ordinary_ids if len(ordinary_ids) else ids).as_py()
    return smallest


def _count_replaced(mentions: Mentions, read_options: ReadOptions) -> int:
    """Count the mentions whose id the knowledge base replaced, beyond normalisation and titles of unknown ids."""
    if read_options.kb is None:
        return 0
    context = read_options.id_context or DEFAULT_CONTEXT
    names = mentions.names.to_pylist()
    ids, canonical, statuses = (
        normalise_ids(mentions.names, read_options.ids, context).to_pylist(),
        read_options.kb.canonical_ids(names),
        read_options.kb.id_statuses(names),
    )
    is_replaced = np.array(
        [
            old != other and status is not IdStatus.UNKNOWN
            for old, other, status in zip(ids, canonical, statuses, strict=True)
        ]
        + [False, False]
    )
    return int(is_replaced[mentions.entity].sum())


def _find_used_tables(mentions: Mentions, kb: KB | None) -> frozenset[str]:
    """Return the tables of redirects and same-as pairs that have an id of some mention, in any spelling."""
    base = unwrap_kb(kb)
    if not isinstance(base, InMemoryKB) or not base.identity_tables:
        return frozenset()
    same_as = mentions.field("same_as")
    ids = [*mentions.names.to_pylist(), *(() if same_as is None else same_as.flatten().unique().to_pylist())]
    return base.find_used_tables(kb.find_base_ids(ids) if isinstance(kb, NormalisingKB) else ids)


def _count_id_statuses(mentions: Mentions, kb: KB | None) -> tuple[tuple[str, int], ...]:
    """Count mentions by the status of their id in the knowledge base."""
    if kb is None:
        return ()
    uses = np.bincount(mentions.entity[mentions.entity >= 0], minlength=len(mentions.names)).tolist()
    counts: dict[IdStatus, int] = defaultdict(int)
    for status, count in zip(kb.id_statuses(mentions.names.to_pylist()), uses, strict=True):
        counts[status] += count
    return tuple(sorted((str(status), count) for status, count in counts.items() if count))


def _count_types(mentions: Mentions) -> tuple[tuple[str, int], ...]:
    """Count the mentions of each type, sorted by type."""
    types = mentions.field("types")
    if types is None:
        return ()
    counts = types.flatten().drop_null().value_counts().to_pylist()
    return tuple(sorted((item["values"], item["counts"]) for item in counts))


def _count_nil_like_ids(mentions: Mentions, entity: Ints, is_plain: Bools) -> tuple[tuple[str, int], ...]:
    """Count mentions of ids such as `null` or `--NME--` that look like NIL but are ordinary ids, by id.

    `entity` is the entity of each mention as read. Ids with a number or a name after NIL are counted together.
    """
    rows = np.flatnonzero(~is_plain)
    names = mentions.names.take(pa.array(rows))
    rows = rows[pc.match_substring_regex(names, NIL_LIKE).to_numpy(zero_copy_only=False)]
    if not len(rows):
        return ()
    uses = np.bincount(mentions.entity[(entity >= 0) & (mentions.entity >= 0)], minlength=len(mentions.names))
    counts: Counter[str] = Counter()
    for code in rows.tolist():
        name = str(mentions.names[code].as_py())
        is_numbered = name.startswith(NIL_ID) and len(name) > len(NIL_ID)
        counts[_NOT_IN_WIKI if NOT_IN_WIKI in name else _NUMBERED_NIL if is_numbered else name] += int(uses[code])
    return tuple(sorted((name, count) for name, count in counts.items() if count))


def format_notes(
    checks: InputChecks,
    read_options: ReadOptions,
    views: Mapping[str, Statistics],
    *,
    from_labels: bool = False,
    ids_differ: bool = False,
    id_remedy: str = "",
) -> tuple[str, ...]:
    """Return the findings as notes; `views` has the statistics of each view, for a note about offsets.

    `from_labels`: gold labels are scored as predictions. `ids_differ`: another message already reports unmatchable ids.
    `id_remedy`: advice if no predicted id can match.
    """
    offset_warning = checks.offset_fit.describe()
    return (
        *([] if offset_warning is None else [f"{WARNING}{offset_warning}"]),
        *([LABELS_NOTE] if from_labels else []),
        *([] if ids_differ else _foreign_id_notes(checks, read_options, id_remedy)),
        *_prefix_notes(checks.gold, read_options),
        *_emerging_notes(checks, read_options),
        *_resolution_notes(checks, read_options),
        *_table_notes(checks, read_options.kb),
        *_score_notes(*checks.scores),
        *_nil_id_notes(checks, read_options),
        *_missing_type_notes(checks),
        *_type_notes(dict(checks.gold.types), dict(checks.predictions.types)),
        *_nil_like_notes("gold label", checks.gold),
        *_nil_like_notes("prediction", checks.predictions),
        *(_offset_notes(views) if offset_warning is None else []),
        *_failure_notes(checks.failed_ids),
    )


def _failure_notes(failed_ids: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield a note that names the failed documents by error."""
    if failed_ids:
        yield FAILED_NOTE + describe_failures(failed_ids, _MAX_FAILED)


def _foreign_id_notes(checks: InputChecks, read_options: ReadOptions, remedy: str) -> Iterator[str]:
    """Yield a note if no predicted id occurs in the gold standard; a warning with the remedy if none can match."""
    gold, predictions = checks.gold, checks.predictions
    if not (gold.example and predictions.example and gold.n_linked) or checks.has_shared_entity:
        return
    if read_options.prefixes is not None and not predictions.n_linked:
        yield (
            f"{WARNING}no predicted id starts with a prefix of the knowledge base (an example is "
            f"{predictions.example!r}), so all of them are emerging entities and match no gold entity of the knowledge "
            f"base{f'; {remedy}' * bool(remedy)}"
        )
        return
    yield (
        f"{WARNING if not predictions.n_linked else ''}"
        f"no entity id of the predictions occurs in the gold standard (gold has {gold.example!r}, predictions have "
        f"{predictions.example!r})" + (": ids are compared as written" if read_options.ids is Ids.AS_WRITTEN else "")
    )


def _prefix_notes(gold: SideChecks, read_options: ReadOptions) -> Iterator[str]:
    """Yield a warning if no gold id has a known prefix, so that all are emerging entities and match each other."""
    if read_options.prefixes is not None and gold.example and not gold.n_linked:
        # With a knowledge base, the prefix of its own ids decides, whatever the gold standard writes.
        id = gold.example if read_options.kb is None else canonical_ids([gold.example], read_options)[0]
        as_written = "" if id == gold.example else f", for {gold.example!r}"
        prefix = _ID_PREFIX.match(id)
        yield (
            f"{WARNING}no gold id starts with a prefix of the knowledge base (an example is {id!r}{as_written}), so "
            "all of them are emerging entities and any two match: set prefixes to the prefixes of your ids"
            + (f", such as {format_setting('prefixes', prefix[0])}" if prefix else "")
        )


def _emerging_notes(checks: InputChecks, read_options: ReadOptions) -> Iterator[str]:
    """Yield a note with the number of ids that are outside the knowledge base by their prefix."""
    gold, predictions = checks.gold.n_emerging, checks.predictions.n_emerging
    if read_options.prefixes is not None and (gold or predictions):
        yield (
            "emerging entities by their prefix: "
            f"{format_count(gold, 'gold label')}, {format_count(predictions, 'prediction')}"
        )


def _resolution_notes(checks: InputChecks, read_options: ReadOptions) -> Iterator[str]:
    """Yield a note with the number of ids that the knowledge base replaced, left unchanged or does not know.

    None if it has all ids as they are.
    """
    gold, predictions = checks.gold.n_replaced, checks.predictions.n_replaced
    statuses = {status for side in (checks.gold, checks.predictions) for status, _ in side.id_statuses}
    if read_options.kb is not None and statuses != {IdStatus.UNCHANGED}:
        language = "" if read_options.id_context is None else read_options.id_context.title_language
        titles = f", bare titles as pages of Wikipedia {language}" if language else ""
        yield (
            f"{read_options.kb.name} replaced the ids of {format_count(gold, 'gold label')} "
            f"and {format_count(predictions, 'prediction')}"
            + (f" (unknown ids are compared unchanged{titles})" if IdStatus.UNKNOWN in statuses else "")
            + "".join(
                f"; of {side_name}: " + ", ".join(f"{name} {count}" for name, count in side.id_statuses)
                for side_name, side in (("gold", checks.gold), ("predictions", checks.predictions))
                if side.id_statuses
            )
        )


def _table_notes(checks: InputChecks, kb: KB | None) -> Iterator[str]:
    """Yield a note for each table of redirects or same-as pairs that has no id of the data, so that no row applies."""
    base = unwrap_kb(kb)
    if isinstance(base, InMemoryKB):
        for table, count in base.identity_tables.items():
            if table not in checks.gold.used_tables | checks.predictions.used_tables:
                yield (
                    f"{table} of {base.name} has no effect: none of its {format_count(count, 'id')} occurs in the gold "
                    "standard or the predictions"
                )


def _score_notes(count: int, low: float, high: float) -> Iterator[str]:
    """Yield a note about scores outside [0, 1]."""
    if count:
        verb = "is" if count == 1 else "are"
        yield (f"{format_count(count, 'score')} {verb} outside [0, 1] (from {low:g} to {high:g}): compared unchanged")


def _nil_id_notes(checks: InputChecks, read_options: ReadOptions) -> Iterator[str]:
    """Yield a note with the number of mentions that are NIL by their id."""
    gold, predictions = checks.gold.n_nil_ids, checks.predictions.n_nil_ids
    if gold or predictions:
        yield (
            f"{format_count(gold, 'gold label')} and {format_count(predictions, 'prediction')} are NIL by their id "
            f"(nil-ids={read_options.nil_ids})"
        )


def _missing_type_notes(checks: InputChecks) -> Iterator[str]:
    """Yield a warning if a relation needs types and no gold label, or no prediction, has one."""
    if checks.needs_types and not checks.gold.types:
        yield f"{WARNING}no gold label has a type, so scores with types count no gold mention"
    elif checks.needs_types and checks.predictions.n_linked and not checks.predictions.types:
        yield f"{WARNING}no prediction has a type, so no prediction is correct in scores with types"


def _type_notes(gold: Mapping[str, int], predictions: Mapping[str, int]) -> Iterator[str]:
    """Yield a note about predicted types that the gold standard does not have; a warning if they are the majority."""
    other_types = [name for name in predictions if name not in gold]
    if not gold or not other_types:
        return
    n_other, total = sum(predictions[name] for name in other_types), sum(predictions.values())
    yield (
        f"{WARNING if 2 * n_other > total else ''}{n_other} of {total} predicted types do not occur in the gold "
        f"standard ({_list_types(other_types, predictions)}; gold has {_list_types(list(gold), gold)}): types are "
        "compared by name, so give both sides the same names"
    )


def _list_types(names: list[str], counts: Mapping[str, int]) -> str:
    """Return the most frequent types of a list, for a message."""
    ranked = sorted(names, key=lambda name: (-counts[name], name))
    return ", ".join(ranked[:_MAX_TYPES]) + (", …" if len(ranked) > _MAX_TYPES else "")


def _nil_like_notes(side_name: str, side: SideChecks) -> Iterator[str]:
    """Yield a note for each id that looks like NIL."""
    for name, count in side.nil_like_ids:
        verb = "is" if count == 1 else "are"
        value = NilIds.find_value(name)
        remedy = "" if value is None else f"; {format_setting('nil-ids', value)} reads it as NIL"
        yield (
            f"{format_count(count, side_name)} {verb} linked to the id {name!r}, which is an ordinary entity: "
            f"NIL is written as null, or `NIL` in tables and Doc objects{remedy}"
        )


def _offset_notes(views: Mapping[str, Statistics]) -> Iterator[str]:
    """Yield a note if most predictions overlap a mention but few have its span, which suggests other offsets."""
    if "strong" in views and "weak" in views:
        strong, weak = float(views["strong"].matched_gold.sum()), float(views["weak"].matched_gold.sum())
        if weak >= 10 and weak > 0.3 * float(views["weak"].predictions.sum()) and strong < 0.1 * weak:
            yield (
                "predictions overlap mentions but rarely have the same span: offsets may be in bytes or UTF-16 units, "
                "or ends may be inclusive. Karat expects code points and exclusive ends"
            )
