"""The specification of a system: the constant `SYSTEM` of a file in `karat.systems.plugins`; and names of systems.

A system name is `NAME[option=value,…]:ARGUMENT`, where all but NAME are optional: `prior`, `graph[variant=local]`,
`command:./linker -q`. The text after the colon is the option `argument`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, get_origin, get_type_hints

import msgspec

from karat.model.document import Document, Label, Prediction, Response
from karat.model.errors import UnknownNameError, UsageError
from karat.model.spec.external_access import ExternalAccess, TrainingDetails, TrainingSetup

Link: TypeAlias = Callable[[Iterable[Document]], Iterator[Response]]
"""A function that yields one response per document, in order.

If one document fails, its response has an `error`. If all documents would fail, the function raises an exception.
"""

Refine: TypeAlias = Callable[[Iterable[tuple[Document, Response]]], Iterator[Response]]
"""One stage of a system: yields each response as it is after the stage."""

Stage: TypeAlias = Literal["detect", "candidates", "rank"]
"""`detect` finds mentions, `candidates` adds candidate entities, `rank` chooses one, or NIL, or drops the mention."""

STAGES: tuple[Stage, ...] = get_args(Stage)

_NAME = re.compile(r"([\w./\\-]+)(?:\[([^\]]*)\])?(?::(.*))?", re.DOTALL)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a system that has none."""


@dataclass(frozen=True, slots=True)
class SystemSample:
    """A made-up reply in the real layout, with which contract tests run a system without its service or package.

    In `options`, `{url}` is the address of a server that sends `reply`, `{command}` a program that writes it, and
    `{python}` a Python in which the files of `package` can be imported. Credentials are set.
    """

    text: str
    """The text of the document, one line."""
    predictions: tuple[Prediction, ...]
    """The predictions that the system must return."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The options of the system, as users write them."""
    reply: str = ""
    """The body that the service sends, or the line that the program writes."""
    package: Mapping[str, str] = field(default_factory=dict)
    """For a bridge: Python files that replace the package, by path, and return its objects."""
    gold_mentions: tuple[tuple[int, int], ...] = ()
    """The spans of the mentions to link; empty if the system detects mentions."""


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A score that a publication reports about a system, with the conventions under which it was computed."""

    # Score
    datasets: tuple[str, ...]
    """The datasets of the catalogue, such as `aida@bat2013/testb`; of several, the value is the unweighted mean."""
    is_pooled: bool = False
    """Whether several datasets are scored as one instead."""
    measure: str
    """The measure, such as `strong:micro.f1`."""
    is_complement: bool = False
    """Whether the score is one minus the measure, such as an error rate."""
    value: float
    """The score as printed: in percent, or as a fraction of one if `is_fraction`."""
    is_fraction: bool = False
    """Whether the publication prints fractions of one."""
    decimals: int = 1
    """The number of digits after the point that the publication prints."""
    is_detail: bool = False
    """Whether the score is of one category of mentions only, so that the rating of the system does not count it."""

    # Origin
    source: str
    """Authors, year and number of the table, figure or section; if another paper quotes the score, that paper too."""
    variant: str
    """The name of the system in the source, which tells its variants apart."""

    # Conventions
    task: str
    """The task, such as `a2kb`."""
    profile: str
    """The profile that computes as the source does."""
    settings: Mapping[str, str] = {}
    """Settings that differ from the profile's."""

    @property
    def year(self) -> str:
        """The year of the publication that makes the claim."""
        match = _YEAR.search(self.source)
        return match[0] if match else ""

    @property
    def points(self) -> float:
        """The score in percentage points."""
        return 100 * self.value if self.is_fraction else self.value

    def format(self, points: float) -> str:
        """Return a score in percentage points as the source prints scores."""
        return f"{points / 100 if self.is_fraction else points:.{self.decimals}f}"


@dataclass(frozen=True, slots=True)
class System:
    """An entity linking system that Karat can run."""

    # Description
    title: str
    """The name in lists."""
    description: str
    """One or two sentences about the method."""

    # Execution
    start: Callable[[Any, bool], Link]
    """Load models and open connections, and return the function that links.

    The arguments are the options and whether mentions are given. If they are, the labels of each document are the
    unlinked spans to link, and each gets at most one prediction. Otherwise documents have no labels.
    """
    options: type[Any] = NoOptions
    """A frozen dataclass of options; its fields are made with `option`."""
    hardest_task: str = "sa2kb"
    """The hardest task that it solves; see `karat.model.spec.settings.task`."""
    gold_mentions: Literal["never", "optional", "required"] = "never"
    """Whether it can link given mentions, or only given mentions."""
    id_space: str = ""
    """The id space of its links; empty for that of the snapshot in the option `kb`."""
    stages: Mapping[Stage, Callable[[Any], Refine]] = field(default_factory=dict)
    """The stages that can be used separately in a pipeline."""
    fingerprint: Callable[[Any], Mapping[str, str]] = lambda options: {}
    """Return what else determines the predictions, such as a model version; part of manifests and cache keys."""
    read_reply: Callable[[Any], Callable[[Document, bytes], Response]] | None = None
    """Return the function that reads replies with some options, for a system that reports its replies.

    The cache keeps these replies and reads them again, so that options outside the request may change.
    """

    # Requirements
    argument: str = ""
    """What follows the colon in its name, for help texts; empty if nothing does."""
    requirements: tuple[str, ...] = ()
    """What must be available before it runs, for help texts."""
    prompt: str = ""
    """For a language model: the default prompt, which the text follows."""
    extra: str | None = None
    """The extra of the package that must be installed."""
    needs_gold: bool = False
    """Whether it receives documents with their gold labels."""
    untested_reason: str = ""
    """For a system that could not be tested: the prediction file to provide instead."""

    # Provenance
    method_of: str = ""
    """The name of the system whose published method it implements; it is never that system itself."""
    citation: str = ""
    """The publication to cite, as `Authors YEAR: Title. Venue.`; empty if there is none."""
    claims: tuple[Claim, ...] = ()
    """The scores that publications report about it; `karat reproduce --system` computes them again."""
    external_access: Callable[[Any], ExternalAccess] | None = None
    """Return the hosts and commands that it uses with some options; None for a system inside Karat."""
    training: TrainingDetails = field(default_factory=TrainingDetails)
    """How it was trained."""
    setups: tuple[TrainingSetup, ...] = ()
    """The training signals of its published models, side by side."""
    sample: SystemSample | None = None
    """A made-up reply, for the contract tests; required if `external_access` is."""


class SystemName(NamedTuple):
    """A system as users name it."""

    name: str
    """The name of the plugin."""
    options: Mapping[str, str] = {}
    """The options in the name, unparsed."""


def option(default: Any, description: str, *, in_request: bool = True) -> Any:  # noqa: ANN401  # like `dataclasses.field`
    """Return the dataclass field of a system's option, with a default and the help text `description`.

    `in_request`: whether the option changes what the system is asked, so that cached responses with another value do
    not count. Options that only change how a reply is read need `read_reply`.
    """
    return field(default=default, metadata={"description": description, "in_request": in_request})


def select_request(options: Any) -> Any:  # noqa: ANN401  # of any system
    """Return the options with defaults in place of those that do not change what the system is asked."""
    others = [field for field in fields(options) if not field.metadata.get("in_request", True)]
    return replace(options, **{field.name: field.default for field in others})


def parse_system(text: str) -> SystemName:
    """Parse `NAME[option=value,…]:ARGUMENT`; raise `UsageError` if `text` has another form or repeats an option.

    The argument becomes the option `argument`. Whether system and options exist is not checked.
    """
    match = _NAME.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not a system name. Write NAME, NAME[option=value,…] or NAME:ARGUMENT.")
    pairs = [pair.partition("=") for pair in match[2].split(",")] if match[2] else []
    options = {name.strip(): value.strip() for name, _, value in pairs}
    if len(options) < len(pairs):
        raise UsageError(f"{text} has an option twice. Write each once; several snapshots are joined by +: kb=A+B.")
    return SystemName(match[1], options | ({} if match[3] is None else {"argument": match[3]}))


def parse_options(system: System, texts: Mapping[str, str], name: str) -> Any:  # noqa: ANN401  # the system's own type
    """Return the options dataclass of `system` with the values in `texts` parsed, and defaults for all others.

    Option names may have `-` for `_`; `name` is the system's name in messages. Raise `UnknownNameError` for an unknown
    option or choice, and `UsageError` for another invalid value.
    """
    hints = get_type_hints(system.options)
    unknown = [key for key in texts if key.replace("-", "_") not in hints]
    if unknown:
        raise UnknownNameError(f"option of {name}", unknown[0], [key.replace("_", "-") for key in hints])
    values = {
        key.replace("-", "_"): _parse_value(text, hints[key.replace("-", "_")], f"{name}: {key}")
        for key, text in texts.items()
    }
    return replace(system.options(), **values)


def format_options(options: Any) -> dict[str, str]:  # noqa: ANN401  # of any system
    """Return the options that differ from their defaults, by name, as text for manifests; `options` is a dataclass."""
    return {
        field.name.replace("_", "-"): format_option_value(getattr(options, field.name))
        for field in fields(options)
        if getattr(options, field.name) != field.default
    }


def hide_gold(document: Document, *, gold_mentions: bool) -> Document:
    """Return `document` with only its id and text, and with `gold_mentions` its gold spans as unlinked labels.

    Alternatives of one mention become one span, the span of the first alternative. Parts of other segmentations are
    excluded, optional mentions are included.
    """
    mention_ids: set[str] = set()
    spans: set[tuple[int, int]] = set()
    for label in document.labels if gold_mentions else ():
        if label.parent is None and (label.mention_id is None or label.mention_id not in mention_ids):
            spans.add((label.start, label.end))
            mention_ids.update(() if label.mention_id is None else (label.mention_id,))
    return Document(document.id, document.text, tuple(Label(start, end) for start, end in sorted(spans)))


def format_option_value(value: object) -> str:
    """Return the value of an option as text; booleans as `yes` or `no`."""
    return "yes" if value is True else "no" if value is False else str(value)


_BOOLEANS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


def _parse_value(text: str, value_type: Any, where: str) -> Any:  # noqa: ANN401  # the type of a field
    """Parse the value of an option of type `value_type`: a `Literal`, or one of bool, int, float and str.

    `where` names the option in messages. Raise `UnknownNameError` or `UsageError` if the value is invalid.
    """
    if get_origin(value_type) is Literal:
        if text not in get_args(value_type):
            raise UnknownNameError(f"value of {where}", text, get_args(value_type))
        return text
    plain = next((kind for kind in (*get_args(value_type), value_type) if kind in (bool, int, float, str)), str)
    try:
        return _BOOLEANS[text.lower()] if plain is bool else plain(text)
    except (ValueError, KeyError):
        expected = {bool: "yes or no", int: "a whole number", float: "a number"}[plain]
        raise UsageError(f"{where}: {text!r} is not a valid value. Give {expected}.") from None
