"""The archive: results, verdicts and texts of systems on datasets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from karat.analysis.comparison.options import ComparisonOptions
from karat.data.catalogue import add_version_note
from karat.model.corpus import Corpus
from karat.model.document import Document, Header
from karat.model.errors import UnknownNameError, UsageError, check_layout_version
from karat.model.json.decoder import JsonError, decode_json, read_json_value
from karat.model.output.json_files import JsonFile, JsonRecord
from karat.model.results.result import Result
from karat.model.tables.arrow import Arrow
from karat.render.curves import AlphaCurveFile, CategoryCurveFile, CoverageCurveFile, ThresholdCurveFile
from karat.render.gap import GapFile
from karat.storage.content_store import ContentStore
from karat.web.archive.case_table import invalid_file_error, read_case_table
from karat.web.archive.credits import CreditsFile

TextsShown: TypeAlias = Literal["all", "sentences", "none"]
"""How much of the texts web pages show: all, sentences with mentions or predictions, or none."""

AnyCurve: TypeAlias = ThresholdCurveFile | CoverageCurveFile | AlphaCurveFile | CategoryCurveFile

_CURVES: Final[Mapping[str, type[JsonRecord]]] = {
    "threshold": ThresholdCurveFile,
    "coverage": CoverageCurveFile,
    "alpha": AlphaCurveFile,
    "categories": CategoryCurveFile,
}

_T = TypeVar("_T")

TEXT_STATUS, BLANK_TEXT = "texts", "blank"
"""What a gold standard says about itself if its source has spans and no texts, for which blanks stand."""


class ArchiveEntry(JsonFile, frozen=True, kw_only=True, omit_defaults=True, tag="karat-entry/3"):
    """A system on a dataset under a profile, with the content hashes of its files."""

    system: str
    dataset: str
    data: str
    profile: str
    measure: str
    view: str
    result: str
    verdicts: str | None = None
    """Cases of `view`."""
    texts: str | None = None
    """The gold standard."""
    credits: str | None = None
    """Credit of each case under several rules."""
    curves: str | None = None
    """Scores over thresholds, coverage, alpha or categories."""
    missing_curves: dict[str, str] = msgspec.field(default_factory=dict)
    """Curves that cannot be computed, each with its reason."""
    reasons: dict[str, str] = msgspec.field(default_factory=dict)
    """Gap explanations by profile."""
    refusals: dict[str, str] = msgspec.field(default_factory=dict)
    """Profiles without a score, each with its reason."""
    types: dict[str, str] = msgspec.field(default_factory=dict)
    """Type names in the knowledge base."""
    title: str | None = None
    usage: dict[str, float] = msgspec.field(default_factory=dict)
    """Runtime in seconds, tokens and cost on the whole dataset, as far as known."""
    description: str | None = None
    """Description of the system, if an upload states one."""
    date: str | None = None
    """Date of the system, such as 2026-01-31, if an upload states one."""
    is_upload: bool = False
    """Whether a user uploaded it to the server."""

    @property
    def key(self) -> str:
        """The dataset's key in URLs, because its name may contain any character."""
        return get_dataset_key(self.data)


class ArchiveSubmission(JsonRecord, frozen=True, kw_only=True):
    """Entries submitted together, with the time. This file is written last, so that all entries appear or none."""

    layout: Literal["karat-submission/2"] = "karat-submission/2"
    submitted_at: str
    entries: list[str]


@lru_cache(maxsize=1024)
def get_dataset_key(data: str) -> str:
    """Return the key of a dataset in URLs, a hash of its name and fingerprint `data`."""
    return hashlib.sha256(data.encode()).hexdigest()[:12]


@dataclass(frozen=True, eq=False)
class Archive:
    """Archive files, read on first use and cached.

    Of several entries for one system, dataset and profile the last one counts. `texts` limits which texts are visible;
    `submission` restricts the archive to one submission. `tests` are options of the significance tests; None draws as
    many permutations as the number of pairs needs.
    """

    files: ContentStore
    texts: TextsShown = "all"
    title: str = "Karat"
    submission: str | None = None
    tests: ComparisonOptions | None = None
    _read: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)

    @cached_property
    def all_entries(self) -> dict[tuple[str, str, str], ArchiveEntry]:
        """All entries by profile, dataset key and system; the last submitted one counts."""
        entries = {}
        for submission in self.submissions:
            for digest in submission.entries:
                entry = _decode(self.files.get("entries", digest), ArchiveEntry, f"entries/{digest}")
                entries[entry.profile, entry.key, entry.system] = entry
        return entries

    @cached_property
    def submissions(self) -> list[ArchiveSubmission]:
        """The submissions, oldest first; only `submission` if it is not None."""
        names = self.files.list_digests("submissions")
        if self.submission is not None and self.submission not in names:
            raise UnknownNameError("submission", self.submission, ())
        wanted = names if self.submission is None else [self.submission]
        submissions = [
            (name, _decode(self.files.get("submissions", name), ArchiveSubmission, f"submissions/{name}"))
            for name in wanted
        ]
        return [submission for _, submission in sorted(submissions, key=lambda item: (item[1].submitted_at, item[0]))]

    @cached_property
    def profile(self) -> str:
        """The main profile: the most frequent one among entries with cases, or else among all entries.

        An archive that has only reproductions of papers or verifications has the default profile.
        """
        entries = self.all_entries.values()
        profiles = [entry.profile for entry in entries if entry.verdicts] or [entry.profile for entry in entries]
        if not profiles:
            is_other = any(self.files.list_digests(kind) for kind in ("reproductions", "verifications"))
            if is_other and self.submission is None:
                return "karat"
            raise UsageError("the archive is empty. Add results with `karat report … --archive FOLDER`.")
        return max(profiles, key=profiles.count)

    @cached_property
    def entries(self) -> tuple[ArchiveEntry, ...]:
        """The entries of the main profile."""
        return tuple(entry for entry in self.all_entries.values() if entry.profile == self.profile)

    @cached_property
    def datasets(self) -> dict[str, ArchiveEntry]:
        """One entry per dataset by key, in the order of dataset names; an entry with cases if there is one."""
        entries = sorted(self.entries, key=lambda entry: (entry.dataset, entry.data, entry.verdicts is None))
        first_entries: dict[str, ArchiveEntry] = {}
        for entry in entries:
            first_entries.setdefault(entry.key, entry)
        return first_entries

    @cached_property
    def systems(self) -> list[str]:
        """All systems in descending order of their mean headline score over datasets; undefined counts as 0."""
        values: dict[str, list[float]] = {}
        for entry in self.entries:
            values.setdefault(entry.system, []).append(self.read_result(entry)[entry.measure] or 0.0)
        return sorted(values, key=lambda system: (-sum(values[system]) / len(values[system]), system))

    @cached_property
    def _entries_by_dataset(self) -> dict[str, list[ArchiveEntry]]:
        """The entries of the main profile by dataset key."""
        entries: dict[str, list[ArchiveEntry]] = {}
        for entry in self.entries:
            entries.setdefault(entry.key, []).append(entry)
        return entries

    def get_entries(self, key: str) -> Sequence[ArchiveEntry]:
        """Return the entries of all systems on the dataset `key` under the main profile; raise if it is unknown."""
        if key not in self._entries_by_dataset:
            raise UnknownNameError("dataset", key, self.datasets)
        return self._entries_by_dataset[key]

    def read_result(self, entry: ArchiveEntry) -> Result:
        """Read the result of an entry, with a note if a newer version replaces its dataset."""
        result: Result = self._read_once("results", entry.result, lambda data: Result.from_json(data, where="results"))
        return add_version_note(result)

    def read_verdicts(self, entry: ArchiveEntry) -> Arrow | None:
        """Read the table of an entry's cases with their verdicts (see `collect_cases`); None if it has none."""
        if entry.verdicts is None:
            return None
        return self._read_once("verdicts", entry.verdicts, read_case_table)

    def read_corpus(self, key: str) -> Corpus | None:
        """Read the gold standard of the dataset `key`, whether or not its texts may be shown; None if not stored."""
        texts = next((entry.texts for entry in self.get_entries(key) if entry.texts), None)
        if texts is None:
            return None
        corpus: Corpus = self._read_once("texts", texts, lambda data: _decode_corpus(data, self.datasets[key].dataset))
        return corpus

    def get_visible_corpus(self, key: str) -> Corpus | None:
        """Return the gold standard of the dataset `key`; None if it has no texts or none may be shown."""
        corpus = None if self.texts == "none" else self.read_corpus(key)
        return None if corpus is None or corpus.metadata.get(TEXT_STATUS) == BLANK_TEXT else corpus

    def read_credits(self, entry: ArchiveEntry) -> CreditsFile | None:
        """Read the credit of each case of an entry under several rules; None if it has none."""
        if entry.credits is None:
            return None
        return _decode(self.files.get("credits", entry.credits), CreditsFile, "credits")

    def read_curves(self, entry: ArchiveEntry) -> list[AnyCurve]:
        """Read the curves of an entry, at most one of each kind; empty if it has none."""
        lines = [] if entry.curves is None else self.files.get("curves", entry.curves).splitlines()
        return [_decode_curve(line) for line in lines]

    def read_explanation(self, entry: ArchiveEntry, profile: str) -> GapFile:
        """Read the explanation of the score gap between an entry's profile and the reference profile `profile`."""
        return _decode(self.files.get("reasons", entry.reasons[profile]), GapFile, "reasons")

    def compute_once(self, name: str, compute: Callable[[], _T]) -> _T:
        """Return the value that `compute` returns; it is cached by `name`, for values that several resources need."""
        if ("computed", name) not in self._read:
            self._read["computed", name] = compute()
        value: _T = self._read["computed", name]
        return value

    def _read_once(self, kind: str, digest: str, read: Callable[[bytes], Any]) -> Any:  # noqa: ANN401  # what is read
        """Return the value that `read` makes of a file's bytes; it is cached by kind and content hash `digest`."""
        if (kind, digest) not in self._read:
            self._read[kind, digest] = read(self.files.get(kind, digest))
        return self._read[kind, digest]


class _Layout(msgspec.Struct):
    """The part of an archive file that names its layout."""

    layout: str


_LAYOUTS: Final = ("karat-submission/2", "karat-entry/3", "karat-credits/2", "karat-curve/2", "karat-why/2")


class _CurveKind(msgspec.Struct):
    """The part of a curve that names its x axis."""

    over: str


def _decode_curve(line: bytes) -> AnyCurve:
    """Decode a curve as the kind that its field `over` names."""
    over = _decode(line, _CurveKind, "curves").over
    if over not in _CURVES:
        raise invalid_file_error("curves", f"an unknown curve over {over!r}")
    curve: AnyCurve = _decode(line, _CURVES[over], "curves")  # type: ignore[assignment]  # one of them
    lengths = {len(getattr(curve.points, name)) for name in curve.points.__struct_fields__}
    if len(lengths) > 1:
        raise invalid_file_error("curves", f"a curve over {over} whose columns have {lengths} points")
    return curve


def _decode(data: bytes, kind: type[_T], where: str) -> _T:
    """Decode JSON as `kind`; raise an error about the file `where` if it is invalid or of another layout version."""
    try:
        return decode_json(data, kind)
    except JsonError as problem:
        with suppress(JsonError):
            check_layout_version(where, decode_json(data, _Layout).layout, *_LAYOUTS)
        raise invalid_file_error(where, str(problem)) from None


def _decode_corpus(data: bytes, name: str) -> Corpus:
    """Decode a gold standard from JSON lines: a header, then one document per line."""
    header, *lines = data.splitlines()
    documents = [_decode(line, Document, "texts") for line in lines]
    return Corpus.from_reader(documents, name=name, metadata=_decode(header, Header, "texts").metadata)


def read_stored_file(archive: Archive, kind: str, digest: str, record: type[_T]) -> _T:
    """Return the JSON file of a kind and content hash as `record`; raise `InputError` if it is not one."""
    return read_json_value(
        archive.files.get(kind, digest),
        record,
        f"{kind}/{digest}",
        expected="a file that this version of Karat writes",
        remedy="Build the archive again",
    )
