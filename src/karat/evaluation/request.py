"""The specification of an evaluation: profile, settings, measures, facets, knowledge base and intervals.

A view is a match relation with filters, such as `strong[nil]`.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, TypedDict, Unpack

import msgspec

from karat.evaluation.drop_rules import needs_text, parse_drop_rules
from karat.evaluation.measures import (
    component_views,
    expand_measure,
    find_data_needs,
    get_measure,
    resolve_measure,
    resolve_view,
    select_table_measures,
    split_views,
)
from karat.evaluation.score_intervals import IntervalOptions
from karat.kb.ids.normalising_kb import NormalisingKB, unwrap_kb, wrap_kb
from karat.kb.protocol import KB
from karat.matching.weighting.membership import WHOLE, Membership, parse_membership
from karat.model.errors import UnknownNameError, UsageError
from karat.model.measure_name import MeasureName, ViewName, parse_measure
from karat.model.output.command_options import format_option
from karat.model.profile_signatures import format_profile, format_relations, get_profile
from karat.model.registry import get_plugin, list_plugins
from karat.model.run import VOCABULARY
from karat.model.signature import Signature
from karat.model.spec.facet import Facet
from karat.model.spec.settings.conventions import Ids, Macro, Spans, UnknownIds
from karat.model.spec.settings.settings import CIRCUMSTANCES, SIGNED_SETTINGS, Conventions
from karat.model.spec.settings.task import parse_task
from karat.version import __version__

if TYPE_CHECKING:
    from karat.kb.entity_vocabulary import Vocabulary

_SCORING_CONVENTIONS = frozenset(
    ("texts", "empty", "macro", "threshold", "categories", "unknown_names", "near_mentions", "false_coreference")
)
"""Conventions that turn verdicts into scores, or set the threshold; they change no verdict at a given threshold."""

_KARAT_PROFILE = "karat"  # the profile that takes facts from the snapshot that comes with Karat


class RequestOptions(TypedDict, total=False):
    """Options of `Request.from_options` besides the settings."""

    profile: str
    measures: Sequence[str] | str
    extra_measures: Sequence[str] | str
    by: Sequence[str] | str
    grouped_view: str | None
    kb: KB | str | os.PathLike[str] | None
    is_bridge: bool
    interval_options: IntervalOptions | None
    allow_unknown: bool
    needs_stages: bool
    vocabulary: Vocabulary | None


@dataclass(frozen=True)
class Request:
    """A validated specification of what an evaluation computes."""

    profile: str
    """Name of the scoring profile."""
    conventions: Conventions
    """All settings of the profile after the overrides."""
    table_measures: tuple[str, ...]
    """Names of the measures that tables show."""
    all_measures: tuple[MeasureName, ...]
    """All measures to compute, parsed: the table measures, the headline and extra measures."""
    facets: tuple[str, ...] = ()
    """Names of the facets by which scores are grouped."""
    grouped_view: str | None = None
    """The only view whose scores are grouped, besides those of measures that name a group; None for all views."""
    kb: KB | None = None
    """Knowledge base that resolves ids, or None."""
    is_bridge: bool = False
    """Whether `kb` was chosen automatically, because gold and predictions write their ids differently."""
    drop_rules: tuple[str, ...] = ()
    """Rules that drop predictions before scoring."""
    membership: Membership | None = None
    """Function that weights gold mentions, or None if every mention counts fully."""
    interval_options: IntervalOptions = field(default_factory=IntervalOptions)
    """Method, size and seed of the confidence intervals."""
    allow_unknown: bool = False
    """Whether predictions for documents that are not in the gold standard are skipped."""
    needs_stages: bool = False
    """Whether detection is judged separately from linking, as error categories require."""
    vocabulary: Vocabulary | None = None
    """Entities that the system can predict, if scores are grouped by them."""
    headline: Mapping[str, str] = field(default_factory=dict)
    """Names of the headline measures by their titles."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Full measure names by the names the caller used."""
    overrides: Mapping[str, str] = field(default_factory=dict)
    """Settings that the caller set, as signatures write them; they include `drop` and `seed`."""
    requested_measures: tuple[str, ...] = ()
    """Names of the measures that the caller asked for in place of the profile's measures."""
    extra_measures: tuple[str, ...] = ()
    """Names of the measures that are computed but not shown."""
    requested_facets: tuple[str, ...] = ()
    """Names of the facets that the caller asked for; `facets` also has the facets that measures name."""

    @classmethod
    def from_options(
        cls,
        *,
        profile: str = "karat",
        settings: Mapping[str, object] | None = None,
        measures: Sequence[str] | str = (),
        extra_measures: Sequence[str] | str = (),
        by: Sequence[str] | str = (),
        grouped_view: str | None = None,
        kb: KB | str | os.PathLike[str] | None = None,
        is_bridge: bool = False,
        interval_options: IntervalOptions | None = None,
        allow_unknown: bool = False,
        needs_stages: bool = False,
        vocabulary: Vocabulary | None = None,
    ) -> Request:
        """Create a request; raise for everything invalid that can be checked without data.

        `measures` replaces the profile's measures; `extra_measures` are computed but not shown. `by` names facets, and
        `grouped_view` the only view that they group. Besides the profile's settings, `settings` accepts `drop` and
        `seed`. `kb` may be a path or a snapshot name. `is_bridge` records that `kb` was chosen automatically.
        `needs_stages` judges detection apart from linking. `vocabulary` has the entities that the system can predict.
        """
        if isinstance(kb, str | os.PathLike):
            from karat.kb.catalogue import (
                open_kb,
            )  # imported late: reading snapshots is slow to import and rarely needed

            kb = open_kb(kb)
        if isinstance(kb, NormalisingKB):  # from another request
            kb = kb.base
        measures, extra_measures, by = (
            (item,) if isinstance(item, str) else tuple(item) for item in (measures, extra_measures, by)
        )
        setting_texts = format_settings(settings or {})
        profile_spec = get_profile(profile)
        overrides = _check_overrides(setting_texts)
        if kb is not None and not Ids(profile_spec.settings["ids"]).uses_kb:
            overrides = {"ids": str(Ids.RESOLVED), **overrides}
        conventions = Conventions.from_settings({**profile_spec.settings, **overrides})
        if conventions.ids is Ids.RESOLVED and kb is None:
            raise UsageError(
                f"ids=resolved needs a knowledge base. Pass one with {format_option('kb')}, or set ids=as-written."
            )
        if conventions.unknown_ids is UnknownIds.ALIKE and kb is None:
            raise UsageError(
                f"unknown-ids=alike needs a knowledge base. Pass one with {format_option('kb')}, or set "
                "unknown-ids=distinct."
            )
        membership = parse_membership(conventions.membership)
        table_measures = select_table_measures(profile_spec, conventions, overrides.get("match"), measures)
        if membership is not None:
            table_measures = _drop_stage_measures(table_measures, is_explicit=bool(measures))
        task = conventions.task_name
        uses_profile_measures = not measures and "match" not in overrides and task == profile_spec.settings["task"]
        headline = {
            title: name
            for title, name in profile_spec.headline.items()
            if uses_profile_measures and name in table_measures
        }
        measure_names = [
            *map(parse_measure, table_measures),
            *_headline_measures(headline),
            *(resolve_measure(name, task) for name in extra_measures),
        ]
        all_measures = tuple(dict.fromkeys(measure_names))
        for name in all_measures:
            measure = get_measure(name)  # raises if the measure does not exist
            if component_views(name.view, task) and (measure.needs_detection or not measure.is_default):
                raise UsageError(
                    f"{name} cannot be averaged over the component views of {name.view}. Request it for one of them."
                )
        signature_settings = {
            **conventions.texts,
            "match": format_relations(all_measures),
            "membership": WHOLE if membership is None else membership.name,
        }
        seeded_options = (interval_options or IntervalOptions())._replace(
            seed=_parse_seed(setting_texts.get("seed"), interval_options)
        )
        return cls(
            profile=profile,
            conventions=msgspec.structs.replace(conventions, texts=signature_settings),
            table_measures=table_measures,
            all_measures=all_measures,
            facets=tuple(dict.fromkeys([*by, *(name.group[0] for name in all_measures if name.group)])),
            grouped_view=grouped_view,
            kb=None if kb is None else wrap_kb(kb, conventions.ids),
            is_bridge=is_bridge,
            drop_rules=parse_drop_rules(setting_texts.get("drop", "none")),
            membership=membership,
            interval_options=seeded_options.check(),
            allow_unknown=allow_unknown,
            needs_stages=needs_stages,
            vocabulary=vocabulary,
            headline=headline,
            aliases={
                alias: str(resolve_measure(name, task))
                for text in measures
                for names in [expand_measure(text)]
                for name in names
                for alias in (name, *([text] if len(names) == 1 else []))
            },
            overrides=setting_texts,
            requested_measures=measures,
            extra_measures=extra_measures,
            requested_facets=by,
        )

    def replace(self, *, settings: Mapping[str, str] | None = None, **options: Unpack[RequestOptions]) -> Request:
        """Return a copy with other settings or with other options of `from_options`.

        `settings` are merged into the current ones. New `measures` remove the `match` setting.
        """
        merged_settings = {**self.overrides, **(settings or {})}
        if options.get("measures") and "match" not in (settings or {}):
            merged_settings.pop("match", None)
        merged_options = self.options
        merged_options.update(options)
        return Request.from_options(settings=merged_settings, **merged_options)

    @property
    def options(self) -> RequestOptions:
        """The options of `from_options` that give this request, besides its settings, which are `overrides`."""
        return {
            "profile": self.profile,
            "measures": self.requested_measures,
            "extra_measures": self.extra_measures,
            "by": self.requested_facets,
            "grouped_view": self.grouped_view,
            "kb": self.base_kb,
            "is_bridge": self.is_bridge,
            "interval_options": self.interval_options,
            "allow_unknown": self.allow_unknown,
            "needs_stages": self.needs_stages,
            "vocabulary": self.vocabulary,
        }

    def reduce_to(self, *, measures: Sequence[str] = (), settings: Mapping[str, str] | None = None) -> Request:
        """Return a request for `measures` only, or else for those of `settings`: no facets and no intervals.

        `settings` are merged into the current ones, as in `replace`.
        """
        return self.replace(
            settings=settings,
            measures=measures,
            extra_measures=(),
            by=(),
            grouped_view=None,
            interval_options=IntervalOptions(seed=self.interval_options.seed),
            needs_stages=False,
            vocabulary=None,
        )

    def with_profile(self, profile: str, settings: Mapping[str, str] | None = None) -> Request:
        """Return a request for another profile on the same data: only knowledge base and `allow_unknown` stay.

        `settings` override those of the profile. An automatic id bridge does not stay, since not all profiles use one.
        """
        kb = None if self.is_bridge else self.kb
        return Request.from_options(profile=profile, settings=settings, kb=kb, allow_unknown=self.allow_unknown)

    def with_run_vocabulary(self, metadata: Mapping[str, str], file: str | None) -> Request:
        """Return the request with the vocabulary that a run's `metadata` names, if scores are grouped by vocabulary.

        Otherwise return the request itself. `file` is the path of the run, against which the vocabulary's path is
        resolved.
        """
        if VOCABULARY not in self.facets or VOCABULARY not in metadata:
            return self
        from karat.kb.entity_vocabulary import open_vocabulary

        vocabulary = open_vocabulary(metadata[VOCABULARY], file)
        return replace(self, vocabulary=vocabulary)

    def signature(self, data: str) -> Signature:
        """Return the signature: version, profile, `data` (name and digest) and all settings that affect the scores."""
        kb_used = self.fact_kb if self.needs_facts else self.kb
        kb = "none" if kb_used is None else f"{kb_used.name}@{kb_used.digest}"
        if kb_used is not self.kb:
            kb += " for facts only"
        setting_texts = {
            **self.conventions.texts,
            "drop": ",".join(self.drop_rules) or "none",
            "kb": kb,
            "seed": str(self.interval_options.seed),
        }
        header = (("karat", __version__), ("profile", format_profile(self.profile)), ("data", data))
        return Signature((*header, *((name, setting_texts[name]) for name in SIGNED_SETTINGS)))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle settings and options only, because membership functions cannot be pickled."""
        return _rebuild, (self.overrides, self.options)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks that the requested views score, without duplicates."""
        return tuple(dict.fromkeys(name.view.task or self.conventions.task_name for name in self.all_measures))

    @property
    def views(self) -> tuple[ViewName, ...]:
        """The requested views; some are means of component views."""
        return tuple(dict.fromkeys(name.view for name in self.all_measures))

    @property
    def component_views(self) -> tuple[ViewName, ...]:
        """The views that are counted: the requested ones; a mean of views (such as BLANC) is replaced by its parts."""
        task = self.conventions.task_name
        return tuple(dict.fromkeys(part for view in self.views for part in component_views(view, task) or (view,)))

    @property
    def has_explicit_task(self) -> bool:
        """Whether the caller set the task, instead of leaving it to the profile."""
        return "task" in self.overrides

    @property
    def explicit_tasks(self) -> frozenset[str]:
        """The tasks that the caller asked for: all if the task is set, else those that measures or relations name.

        A task that the profile scores anyway needs no request.
        """
        if self.has_explicit_task:
            return frozenset(self.tasks)
        profile_views = [parse_measure(name).view for name in get_profile(self.profile).measures]
        return _collect_tasks(self._requested_views) - _collect_tasks(profile_views)

    @property
    def _requested_views(self) -> list[ViewName]:
        """The views of the requested measures and match relations, with the relations that were named."""
        measures = (parse_measure(name) for text in self.requested_measures for name in expand_measure(text))
        return [*(name.view for name in measures), *split_views(self.overrides.get("match", ""))]

    @property
    def synonym_notes(self) -> tuple[str, ...]:
        """Notes about requested relations that mean another relation in their task."""
        task = self.conventions.task_name
        pairs = [(view, resolve_view(view, task)) for view in self._requested_views]
        notes = (
            f"{view.relation} means {meant.relation} in task {meant.task or task}"
            for view, meant in pairs
            if meant.relation != view.relation
        )
        return tuple(dict.fromkeys(notes))

    @property
    def judging_options(self) -> tuple[Hashable, ...]:
        """Everything besides data, knowledge base, view and threshold that verdicts depend on.

        Requests with equal options, the same knowledge base and the same data judge a view alike.
        """
        conventions = self.conventions
        names = (name for name in conventions.__struct_fields__ if name not in _SCORING_CONVENTIONS)
        return (
            *(getattr(conventions, name) for name in names),
            self.drop_rules,
            self.allow_unknown,
            self.adds_predicted_documents,
            find_data_needs(self.all_measures, conventions.task_name),
        )

    @property
    def adds_predicted_documents(self) -> bool:
        """Whether documents that occur only in the predictions count as empty gold documents."""
        return self.conventions.macro is Macro.GOLD_DOCUMENTS and not self.allow_unknown

    @property
    def base_kb(self) -> KB | None:
        """Knowledge base with ids as it writes them, behind the view of `kb` in normal form."""
        return unwrap_kb(self.kb)

    @property
    def fact_kb(self) -> KB | None:
        """Knowledge base that provides names, types and popularity.

        Without `kb`, the profile `karat` uses the built-in snapshot, which resolves no ids and changes no counts.
        """
        return _open_starter_kb(self.conventions.ids) if self.kb is None and self.profile == _KARAT_PROFILE else self.kb

    @property
    def needs_facts(self) -> bool:
        """Whether facts about entities or texts are needed, for facets or error categories."""
        facets = [get_plugin("facets", name, Facet) for name in self.facets if name in list_plugins("facets")]
        return self.needs_stages or any(label.needs_text for label in facets)

    @property
    def needs_text(self) -> bool:
        """Whether scoring reads the texts of documents, so that the corpus must be loaded with them."""
        facets = [get_plugin("facets", name, Facet) for name in self.facets if name in list_plugins("facets")]
        compares_words = self.conventions.spans is Spans.WORDS
        return compares_words or needs_text(self.drop_rules) or any(label.needs_text for label in facets)


def _headline_measures(headline: Mapping[str, str]) -> list[MeasureName]:
    """Return the names of precision, recall and F1 for the view and aggregate of each headline measure."""
    return [
        msgspec.structs.replace(parse_measure(name), measure=short)
        for name in headline.values()
        for short in ("p", "r", "f1")
    ]


def _rebuild(settings: Mapping[str, str], options: RequestOptions) -> Request:
    """Recreate a pickled request from its settings and options."""
    return Request.from_options(settings=settings, **options)


def format_settings(settings: Mapping[str, object]) -> dict[str, str]:
    """Return `settings` with values as text, as the signature writes them; lists and tuples are joined by spaces."""
    return {
        name: " ".join(map(str, value)) if isinstance(value, list) or type(value) is tuple else str(value)
        for name, value in settings.items()
    }


@cache
def _open_starter_kb(ids: Ids) -> KB:
    """Open the built-in snapshot with ids normalised as `ids` prescribes."""
    from karat.kb.catalogue import open_starter

    return wrap_kb(open_starter(), ids)


def _check_overrides(setting_texts: Mapping[str, str]) -> dict[str, str]:
    """Return `setting_texts` without `drop`, `seed` and other names that are not settings of a profile.

    Raise `UnknownNameError` if a name is no setting at all, and `UsageError` for `kb`.
    """
    if "kb" in setting_texts:
        raise UsageError(
            f"kb is not a setting: signatures only record it. Pass the knowledge base with {format_option('kb')}."
        )
    for name in setting_texts:
        if name not in SIGNED_SETTINGS:
            raise UnknownNameError("setting", name, SIGNED_SETTINGS)
    return {name: text for name, text in setting_texts.items() if name not in CIRCUMSTANCES}


def _parse_seed(text: str | None, interval_options: IntervalOptions | None) -> int:
    """Return the random seed from `text`, the setting `seed`, or else from `interval_options`; 0 without either."""
    if text is None:
        return 0 if interval_options is None else interval_options.seed
    if not text.isdecimal():
        raise UsageError(f"seed is {text!r}. Pass a whole number of at least 0.")
    return int(text)


def _drop_stage_measures(measures: Sequence[str], *, is_explicit: bool) -> tuple[str, ...]:
    """Return `measures` without those that need detection, which weighted mentions do not support.

    A prediction may match a heavier mention than the mention that it detects. Explicitly requested measures raise
    instead.
    """
    stage_measures = [name for name in measures if get_measure(parse_measure(name)).needs_detection]
    if stage_measures and is_explicit:
        raise UsageError(
            f"{stage_measures[0]} counts mentions, but the setting membership weights them. Set membership=whole."
        )
    return tuple(name for name in measures if name not in stage_measures)


def _collect_tasks(views: Iterable[ViewName]) -> frozenset[str]:
    """Return the tasks that the names of views state."""
    return frozenset(parse_task(view.task) for view in views if view.task)
