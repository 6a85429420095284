"""The archive: results, verdicts and texts of systems on datasets, and what they are called."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec
import pyarrow.parquet as pq

from karat.archive.credits import CreditsFile
from karat.errors import InputError, UnknownNameError, UsageError, refuse_newer
from karat.model.corpus import Corpus
from karat.model.document import Document, Header
from karat.model.result import Result
from karat.model.tables.arrow import Arrow
from karat.pages.curves import AlphaCurveFile, CategoryCurveFile, CoverageCurveFile, ThresholdCurveFile
from karat.pages.files import Written
from karat.pages.why import WhyFile
from karat.storage.addressed import ArchiveFiles

TextsShown: TypeAlias = Literal["all", "sentences", "none"]
"""How much of the texts pages show: everything, sentences with mentions or answers, or nothing."""

AnyCurve: TypeAlias = ThresholdCurveFile | CoverageCurveFile | AlphaCurveFile | CategoryCurveFile

_CURVES: Final[Mapping[str, type[Written]]] = {
    "threshold": ThresholdCurveFile,
    "coverage": CoverageCurveFile,
    "alpha": AlphaCurveFile,
    "categories": CategoryCurveFile,
}

_T = TypeVar("_T")

TEXTS_ARE, BLANK = "texts", "blank"
"""What a gold standard says about itself if its source has spans and no texts, for which blanks stand."""


class ArchiveEntry(Written, frozen=True, kw_only=True, omit_defaults=True):
    """A system on a dataset under a profile, and the files that belong to it, by their fingerprints.

    `verdicts` are the cases of `view`, and `credits` what each of them earns in several ways; `texts` is the gold
    standard, `curves` are scores over something, and `uncurved` says over what there is none, and why; `reasons` say,
    by profile, why its number is another; `refused` says why a profile has none. `types` are the names of types that
    the knowledge base knows.
    """

    layout: Literal["karat-entry/1"] = "karat-entry/1"
    system: str
    dataset: str
    data: str
    profile: str
    measure: str
    view: str
    result: str
    verdicts: str | None = None
    texts: str | None = None
    credits: str | None = None
    curves: str | None = None
    uncurved: dict[str, str] = msgspec.field(default_factory=dict)
    reasons: dict[str, str] = msgspec.field(default_factory=dict)
    refused: dict[str, str] = msgspec.field(default_factory=dict)
    types: dict[str, str] = msgspec.field(default_factory=dict)
    title: str | None = None
    seconds: float | None = None

    @property
    def key(self) -> str:
        """What the dataset is called in addresses: its name may hold anything."""
        return key_of(self.data)


class ArchiveAddition(Written, frozen=True, kw_only=True):
    """Entries that came at once, and when. They are there as soon as this file is, all of them or none."""

    layout: Literal["karat-addition/1"] = "karat-addition/1"
    added: str
    entries: list[str]


def key_of(data: str) -> str:
    """What a dataset with its fingerprint is called in addresses."""
    return hashlib.sha256(data.encode()).hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class Archive:
    """Files and how much of their texts is shown; everything is read when it is first asked for, and kept.

    Of several entries for one system, dataset and profile the last counts. `at` is the name of an addition, of which
    alone the archive then is.
    """

    files: ArchiveFiles
    texts: TextsShown = "all"
    title: str = "Karat"
    at: str | None = None
    _read: dict[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def every(self) -> dict[tuple[str, str, str], ArchiveEntry]:
        """All entries, by profile, dataset and system."""
        found = {}
        for addition in self.additions:
            for digest in addition.entries:
                entry = _decoded(self.files.get("entries", digest), ArchiveEntry, f"entries/{digest}")
                found[entry.profile, entry.key, entry.system] = entry
        return found

    @cached_property
    def additions(self) -> list[ArchiveAddition]:
        """What was added, the oldest first."""
        names = self.files.digests("additions")
        if self.at is not None and self.at not in names:
            raise UnknownNameError("addition", self.at, ())
        kept = names if self.at is None else [self.at]
        found = [
            (name, _decoded(self.files.get("additions", name), ArchiveAddition, f"additions/{name}")) for name in kept
        ]
        return [addition for _, addition in sorted(found, key=lambda item: (item[1].added, item[0]))]

    @cached_property
    def profile(self) -> str:
        """The profile that pages are about: of those with single cases, or else of all, the one that most have."""
        entries = self.every.values()
        cased = [entry.profile for entry in entries if entry.verdicts] or [entry.profile for entry in entries]
        if not cased:
            raise UsageError("the archive is empty. Fill it with karat report … --archive FOLDER.")
        return max(cased, key=cased.count)

    @cached_property
    def entries(self) -> tuple[ArchiveEntry, ...]:
        """What pages are about."""
        return tuple(entry for entry in self.every.values() if entry.profile == self.profile)

    @cached_property
    def datasets(self) -> dict[str, ArchiveEntry]:
        """One entry for each dataset, by what it is called in addresses, in the order of names."""
        ordered = sorted(self.entries, key=lambda entry: (entry.dataset, entry.data, entry.verdicts is None))
        found: dict[str, ArchiveEntry] = {}
        for entry in ordered:
            found.setdefault(entry.key, entry)
        return found

    def on(self, key: str) -> Iterator[ArchiveEntry]:
        """All systems on a dataset."""
        if key not in self.datasets:
            raise UnknownNameError("dataset", key, self.datasets)
        return (entry for entry in self.entries if entry.key == key)

    def result(self, entry: ArchiveEntry) -> Result:
        """The scores."""
        found: Result = self._once("results", entry.result, lambda data: Result.from_json(data, where="results"))
        return found

    def verdicts(self, entry: ArchiveEntry) -> Arrow | None:
        """The cases."""
        if entry.verdicts is None:
            return None
        return self._once("verdicts", entry.verdicts, lambda data: pq.read_table(BytesIO(data)))

    def corpus(self, key: str) -> Corpus | None:
        """The gold standard of a dataset."""
        texts = next((entry.texts for entry in self.on(key) if entry.texts), None)
        if texts is None:
            return None
        found: Corpus = self._once("texts", texts, lambda data: _corpus(data, self.datasets[key].dataset))
        return found

    def shown(self, key: str) -> Corpus | None:
        """The gold standard of a dataset if its texts may be shown, and there are any."""
        corpus = None if self.texts == "none" else self.corpus(key)
        return None if corpus is None or corpus.about.get(TEXTS_ARE) == BLANK else corpus

    def credits(self, entry: ArchiveEntry) -> CreditsFile | None:
        """What every case earns in several ways."""
        if entry.credits is None:
            return None
        return _decoded(self.files.get("credits", entry.credits), CreditsFile, "credits")

    def curves(self, entry: ArchiveEntry) -> list[AnyCurve]:
        """Scores over something."""
        lines = [] if entry.curves is None else self.files.get("curves", entry.curves).splitlines()
        return [_curve(line) for line in lines]

    def reason(self, entry: ArchiveEntry, profile: str) -> WhyFile:
        """Why a profile has another number."""
        return _decoded(self.files.get("reasons", entry.reasons[profile]), WhyFile, "reasons")

    def _once(self, kind: str, digest: str, read: Callable[[bytes], Any]) -> Any:  # noqa: ANN401  # what is read
        """What a file says, which is read once."""
        if digest not in self._read:
            self._read[digest] = read(self.files.get(kind, digest))
        return self._read[digest]


class _Layout(msgspec.Struct):
    layout: str


_LAYOUTS: Final = ("karat-addition/1", "karat-entry/1", "karat-credits/1", "karat-curve/1", "karat-why/1")


class _Over(msgspec.Struct):
    over: str


def _curve(line: bytes) -> AnyCurve:
    over = _decoded(line, _Over, "curves").over
    return _decoded(line, _CURVES[over], "curves")  # type: ignore[return-value]  # one of them


def _decoded(data: bytes, kind: type[_T], where: str) -> _T:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as problem:
        with suppress(msgspec.DecodeError):
            refuse_newer(where, msgspec.json.decode(data, type=_Layout).layout, *_LAYOUTS)
        raise InputError(
            where,
            found=f"no part of an archive ({problem})",
            expected="what this version of Karat writes",
            remedy="Make the archive anew",
        ) from None


def _corpus(data: bytes, name: str) -> Corpus:
    header, *lines = data.splitlines()
    documents = [_decoded(line, Document, "texts") for line in lines]
    return Corpus.built(documents, name=name, about=_decoded(header, Header, "texts").about)
