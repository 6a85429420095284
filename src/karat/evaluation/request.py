"""What is to be computed: one value, made once, whoever asks and whatever is asked of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from karat.errors import UnknownNameError, UsageError
from karat.evaluation.drop import needs_text, rules_of
from karat.evaluation.intervals import Draw
from karat.evaluation.measures import expanded, in_task, measure_of, measures_of, parts_of
from karat.kb.any_spelling import AnySpelling, in_any_spelling
from karat.kb.protocol import KB
from karat.matching.weigh.membership import WHOLE, Membership, membership_of
from karat.model.name import MeasureName, ViewName, parse_measure
from karat.model.run import VOCABULARY
from karat.model.signature import Signature
from karat.registry import get, names
from karat.signing import profile_named, profile_signed, relations_of
from karat.spec.choices.choices import CIRCUMSTANCES, SIGNED, Conventions
from karat.spec.choices.conventions import Ids, Macro, Missing, Spans
from karat.spec.grouping import Grouping
from karat.version import __version__

if TYPE_CHECKING:
    from karat.kb.vocabulary import Vocabulary

_OWN = "karat"  # the profile that takes facts from the pack that comes with Karat


@dataclass(frozen=True)
class Request:
    """Which conventions, which measures, which labels, with what knowledge and which intervals.

    `shown` are the measures that tables show, `wanted` these and others, taken apart; `labels` are what scores are
    grouped by; `staged` says that detection is told apart from linking, for error categories. `drop` are the rules by
    which answers are dropped before; `vocabulary` is what the system can answer with, where scores are grouped by that.
    `headline` says in words which measures come first. `given` is what it was made from, for `but`.
    """

    profile: str
    conventions: Conventions
    shown: tuple[str, ...]
    wanted: tuple[MeasureName, ...]
    labels: tuple[str, ...] = ()
    kb: KB | None = None
    drop: tuple[str, ...] = ()
    membership: Membership | None = None
    draw: Draw = field(default_factory=Draw)
    allow_unknown: bool = False
    staged: bool = False
    vocabulary: Vocabulary | None = None
    headline: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        *,
        like: str = "karat",
        choices: Mapping[str, object] | None = None,
        measures: Sequence[str] | str = (),
        also: Sequence[str] | str = (),
        by: Sequence[str] | str = (),
        kb: KB | str | os.PathLike[str] | None = None,
        draw: Draw | None = None,
        allow_unknown: bool = False,
        staged: bool = False,
        vocabulary: Vocabulary | None = None,
    ) -> Request:
        """Check what is asked for, as far as that can be done without data.

        `choices` may name what else a signature says: `drop`, and the `seed` of random numbers.
        """
        if isinstance(kb, str | os.PathLike):
            from karat.kb.opened import open_kb  # where packs are read: not for a score without one

            kb = open_kb(kb)
        if isinstance(kb, AnySpelling):  # of another request
            kb = kb.base
        measures, also, by = ((item,) if isinstance(item, str) else tuple(item) for item in (measures, also, by))
        words = as_text(choices or {})
        given = {
            "like": like,
            "choices": words,
            "measures": measures,
            "also": also,
            "by": by,
            "kb": kb,
            "draw": draw,
            "allow_unknown": allow_unknown,
            "staged": staged,
            "vocabulary": vocabulary,
        }
        profile = profile_named(like)
        own = _checked(words)
        if kb is not None and not Ids(profile.choices["ids"]).by_kb:
            own = {"ids": str(Ids.RESOLVED), **own}
        conventions = Conventions.of({**profile.choices, **own})
        if conventions.ids is Ids.RESOLVED and kb is None:
            raise UsageError("ids=resolved needs a knowledge base. Give one with --kb, or set ids=as-written.")
        if conventions.missing is Missing.ALIKE and kb is None:
            raise UsageError("missing=alike needs a knowledge base. Give one with --kb, or set missing=distinct.")
        membership = membership_of(conventions.membership)
        shown = measures_of(profile, conventions, own.get("match"), measures)
        if membership is not None:
            shown = _of_weights(shown, asked=bool(measures))
        task = conventions.task_name
        own_measures = not measures and "match" not in own and task == profile.choices["task"]
        headline = {words: name for words, name in profile.headline.items() if own_measures and name in shown}
        named = [*map(parse_measure, shown), *_behind(headline), *(in_task(name, task) for name in also)]
        wanted = tuple(dict.fromkeys(named))
        for name in wanted:
            measure = measure_of(name)  # says so if there is no such measure
            if parts_of(name.view, task) and (measure.needs_detection or not measure.usual):
                raise UsageError(f"{name} is not averaged over the parts of {name.view}. Ask for it of one of them.")
        signed = {
            **conventions.words,
            "match": relations_of(wanted),
            "membership": WHOLE if membership is None else membership.name,
        }
        drawn = (draw or Draw())._replace(seed=_seed(words.get("seed"), draw))
        return cls(
            profile=like,
            conventions=msgspec.structs.replace(conventions, words=signed),
            shown=shown,
            wanted=wanted,
            labels=tuple(dict.fromkeys([*by, *(name.group[0] for name in wanted if name.group)])),
            kb=None if kb is None else in_any_spelling(kb, conventions.ids),
            drop=rules_of(words.get("drop", "none")),
            membership=membership,
            draw=drawn.checked(),
            allow_unknown=allow_unknown,
            staged=staged,
            vocabulary=vocabulary,
            headline=headline,
            aliases={name: str(in_task(name, task)) for asked in measures for name in expanded(asked)},
            given=given,
        )

    def but(self, *, choices: Mapping[str, str] | None = None, **other: Any) -> Request:  # noqa: ANN401  # as `of`
        """The same with something else: single choices, or whatever `of` takes."""
        words = {**self.given["choices"], **(choices or {})}
        if other.get("measures") and "match" not in (choices or {}):
            words.pop("match", None)
        return Request.of(**{**self.given, "choices": words, **other})

    def for_run(self, about: Mapping[str, str], file: str | None) -> Request:
        """The same for the run with this manifest, read from this file: with its vocabulary, if that is asked for."""
        if VOCABULARY not in self.labels or VOCABULARY not in about:
            return self
        from karat.kb.vocabulary import open_vocabulary

        found = open_vocabulary(about[VOCABULARY], file)
        return replace(self, vocabulary=found, given={**self.given, "vocabulary": found})

    def signature(self, data: str) -> Signature:
        """The version, the data and everything that decided the numbers."""
        known = self.knowledge if self.reads_facts else self.kb
        kb = "none" if known is None else f"{known.name}@{known.digest}"
        if known is not self.kb:
            kb += " for facts only"
        said = {**self.conventions.words, "drop": ",".join(self.drop) or "none", "kb": kb, "seed": str(self.draw.seed)}
        own = (("karat", __version__), ("profile", profile_signed(self.profile)), ("data", data))
        return Signature((*own, *((name, said[name]) for name in SIGNED)))

    def __reduce__(self) -> tuple[object, ...]:
        """Made anew wherever it is sent: a membership function does not travel."""
        return _remade, (self.given,)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are scored."""
        return tuple(dict.fromkeys(name.view.task or self.conventions.task_name for name in self.wanted))

    @property
    def views(self) -> tuple[ViewName, ...]:
        """The views that are asked for; some may be means of others."""
        return tuple(dict.fromkeys(name.view for name in self.wanted))

    @property
    def parts(self) -> tuple[ViewName, ...]:
        """The views that are counted for those that are asked for."""
        task = self.conventions.task_name
        return tuple(dict.fromkeys(part for view in self.views for part in parts_of(view, task) or (view,)))

    @property
    def task_is_asked(self) -> bool:
        """Whether somebody asked for the task, not only the profile."""
        return "task" in self.given["choices"]

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Which relations were asked for by a name that means another one in their task, in words."""
        task = self.conventions.task_name
        asked = [parse_measure(name).view for each in self.given["measures"] for name in expanded(each)]
        asked += [ViewName(name.strip()) for name in self.given["choices"].get("match", "").split(",") if name.strip()]
        pairs = [(view, in_task(str(MeasureName(view, "f1", "micro")), task).view) for view in asked]
        said = (
            f"{view.relation} means {meant.relation} in task {meant.task or task}"
            for view, meant in pairs
            if meant.relation != view.relation
        )
        return tuple(dict.fromkeys(said))

    @property
    def takes_answered(self) -> bool:
        """Whether documents that only the answers have belong to the gold standard: there is nothing in them."""
        return self.conventions.macro is Macro.GOLD_DOCUMENTS and not self.allow_unknown

    @property
    def knowledge(self) -> KB | None:
        """Where facts come from: the knowledge base; or else, under Karat's own profile, the pack that comes with it.

        That one tells names, types and what is popular; it resolves no ids and changes no count.
        """
        return _starter(self.conventions.ids) if self.kb is None and self.profile == _OWN else self.kb

    @property
    def reads_facts(self) -> bool:
        """Whether scores are grouped by what is known about entities and texts."""
        known = [get("labels", name, Grouping) for name in self.labels if name in names("labels")]
        return self.staged or any(label.reads_text for label in known)

    @property
    def reads_text(self) -> bool:
        """Whether scores look at what mentions say, so that a corpus must be loaded with its texts."""
        known = [get("labels", name, Grouping) for name in self.labels if name in names("labels")]
        by_words = self.conventions.spans is Spans.WORDS
        return by_words or needs_text(self.drop) or any(label.reads_text for label in known)


def _behind(headline: Mapping[str, str]) -> list[MeasureName]:
    """Precision, recall and F1 of what comes first."""
    return [
        msgspec.structs.replace(parse_measure(name), measure=short)
        for name in headline.values()
        for short in ("p", "r", "f1")
    ]


def _remade(given: Mapping[str, Any]) -> Request:
    return Request.of(**given)


def as_text(choices: Mapping[str, object]) -> dict[str, str]:
    """Choices as the signature writes them; several values are separated by spaces."""
    return {
        name: " ".join(map(str, value)) if isinstance(value, list) or type(value) is tuple else str(value)
        for name, value in choices.items()
    }


@cache
def _starter(ids: Ids) -> KB:
    """The built-in pack, asked in the ids that are read so."""
    from karat.kb.opened import starter

    return in_any_spelling(starter(), ids)


def _checked(words: Mapping[str, str]) -> dict[str, str]:
    """The choices among what was given, if all of it is known."""
    if "kb" in words:
        raise UsageError("the choice kb says which knowledge base was used. Give the knowledge base itself.")
    for name in words:
        if name not in SIGNED:
            raise UnknownNameError("choice", name, SIGNED)
    return {name: word for name, word in words.items() if name not in CIRCUMSTANCES}


def _seed(text: str | None, draw: Draw | None) -> int:
    if text is None:
        return 0 if draw is None else draw.seed
    if not text.isdecimal():
        raise UsageError(f"seed is {text!r}. Give a whole number from 0 on.")
    return int(text)


def _of_weights(shown: Sequence[str], *, asked: bool) -> tuple[str, ...]:
    """The measures that make sense where mentions are weighed.

    Those of both stages do not: an answer may be matched with a heavier mention than the one it detects.
    """
    staged = [name for name in shown if measure_of(parse_measure(name)).needs_detection]
    if staged and asked:
        raise UsageError(f"{staged[0]} counts mentions, and membership weighs them. Ask for it with membership=whole.")
    return tuple(name for name in shown if name not in staged)
