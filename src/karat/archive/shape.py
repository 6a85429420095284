"""What the client asks for: every piece is a value of one of these, as JSON.

`web/src/shape.ts` is generated from here, so that both sides speak of the same fields. Systems, datasets, documents,
entities, surfaces and categories are told by their place in a list; -1 is none.
"""

from __future__ import annotations

from typing import Final, Literal

from karat.pages.files import Written
from karat.pages.judged.verification import (
    AgreementOfJudges,
    AgreementOfTwo,
    MissingLinks,
    PosthocScore,
    QualityOfJudge,
    SourceOutcomes,
    VerificationFile,
)

KINDS_OF_CASES: Final = ("right", "wrong link", "wrong span", "missed", "spurious", "not counted")
"""How a case ended, as pages tell it. A wrong span is a spurious answer that touches a mention."""


class SystemInfo(Written, frozen=True):
    """A system: its name, and what it calls itself."""

    name: str
    title: str


class DatasetInfo(Written, frozen=True):
    """A dataset: what it is called in addresses and by people, and what there is to see of it."""

    key: str
    name: str
    data: str
    documents: int
    cases: bool
    texts: bool
    curves: bool
    credits: bool
    groups: bool
    reasons: list[str]


class ProfileInfo(Written, frozen=True):
    """A profile, its measure that is shown first, and all that it shows."""

    name: str
    title: str
    says: str
    headline: str
    measures: list[str]


class MeasureTable(Written, frozen=True):
    """One measure under one profile: for each dataset a row with one number for each system; null where undefined.

    `better` are the systems that are significantly better, null where that was not tested; `mean` is over the datasets
    that all systems answered.
    """

    profile: str
    measure: str
    value: list[list[float | None]]
    low: list[list[float | None]]
    high: list[list[float | None]]
    better: list[list[list[int] | None]]
    mean: list[float | None]


class CellNote(Written, frozen=True):
    """What is to be said of a system on a dataset: what was left out, hints, why a profile or a measure has no number.

    `counts` are what was found, what was answered in vain and what was missed, of the measure that is shown first.
    """

    dataset: int
    system: int
    skipped: dict[str, int]
    notes: list[str]
    refused: dict[str, str]
    undefined: dict[str, str]
    seconds: float | None
    counts: list[float]
    signature: str


class BoardPiece(Written, frozen=True):
    """`board`: who is better, and is that sure? Systems are in the order of their means, the best first."""

    layout: Literal["karat-archive/1"]
    version: str
    title: str
    profile: str
    level: float
    tests: str
    texts: str
    systems: list[SystemInfo]
    datasets: list[DatasetInfo]
    averaged: list[int]
    profiles: list[ProfileInfo]
    tables: list[MeasureTable]
    notes: list[CellNote]
    verified: bool


class CategoryInfo(Written, frozen=True):
    """An error category: its group, of which the first category is the widest, and what it says."""

    name: str
    title: str
    says: str
    among: str
    group: str


class ErrorCounts(Written, frozen=True):
    """A system on a dataset: for each category errors, out of how many (null: nobody can say), and undecided."""

    dataset: int
    system: int
    errors: list[int | None]
    total: list[int | None]
    undecided: list[int]


class ErrorsPiece(Written, frozen=True):
    """`errors`: what does it get wrong?"""

    categories: list[CategoryInfo]
    counts: list[ErrorCounts]


class DocumentInfo(Written, frozen=True):
    """A document: its id, its title if it has one, its length in code points and the part that is scored."""

    id: str
    title: str | None
    length: int
    span: tuple[int, int] | None
    block: int


class GoldColumns(Written, frozen=True):
    """The gold mentions, one entry each. `types` are places in lists of types; `others` are further right entities."""

    document: list[int]
    start: list[int]
    end: list[int]
    entity: list[int]
    surface: list[int]
    types: list[int]
    optional: list[int]
    others: dict[str, list[int]]


class Track(Written, frozen=True):
    """The cases of one system. `gold` is the mention, `start` is -1 where nothing was answered.

    `errors` is a place in `combinations`; `candidates` says how many there were, and `rank` where the gold entity
    stands among them, from 1; 0 if it is not there. Both are empty where no answer has candidates, as `score` is.
    """

    system: int
    gold: list[int]
    document: list[int]
    start: list[int]
    end: list[int]
    entity: list[int]
    surface: list[int]
    kind: list[int]
    errors: list[int]
    score: list[float | None]
    candidates: list[int]
    rank: list[int]


class CasesPiece(Written, frozen=True):
    """`cases/DATASET`: every case of every system. Entities are -1 for NIL and -2 for no link."""

    dataset: str
    view: str
    kinds: list[str]
    documents: list[DocumentInfo]
    entities: list[str]
    names: list[str | None]
    descriptions: list[str | None]
    surfaces: list[str]
    types: list[list[str]]
    categories: list[str]
    titles: list[str]
    says: list[str]
    combinations: list[list[int]]
    gold: GoldColumns
    tracks: list[Track]


class DocumentText(Written, frozen=True):
    """What is shown of a document: stretches of its text, each with the offset at which it begins."""

    document: int
    stretches: list[tuple[int, str]]


class TextsPiece(Written, frozen=True):
    """`texts/DATASET/BLOCK`: the texts of some documents."""

    documents: list[DocumentText]


class LintFinding(Written, frozen=True):
    """What a rule says about a place of the gold standard."""

    rule: str
    severity: str
    document: int
    start: int
    end: int
    surface: str
    says: str
    proposal: str


class DatasetPiece(Written, frozen=True):
    """`dataset/DATASET`: a gold standard in numbers, and what the linter says of it."""

    dataset: str
    about: dict[str, str]
    numbers: list[tuple[str, float | str | None]]
    types: list[tuple[str, int]]
    mention_types: list[tuple[str, int]]
    skipped: dict[str, int]
    rules: list[tuple[str, str, str, int]]
    findings: list[LintFinding]


class FlippedPlace(Written, frozen=True):
    """A case that a choice changes: where, what stands there, and how gold and answer counted before and after."""

    document: int
    start: int
    end: int
    surface: str
    gold: str | None
    answer: str | None
    gold_turn: tuple[str, str]
    answer_turn: tuple[str, str]


class ReasonStep(Written, frozen=True):
    """A choice with what it is there and here, its share of the gap, and what it flips."""

    choices: list[tuple[str, str, str]]
    share: float
    flips: list[FlippedPlace]
    flipped: int


class Reasons(Written, frozen=True):
    """Why the number of a system is another under a profile."""

    system: int
    profile: str
    their_measure: str
    our_measure: str
    theirs: float
    ours: float
    steps: list[ReasonStep]
    idle: list[str]


class ReasonsPiece(Written, frozen=True):
    """`reasons/DATASET`: why is this number not theirs?"""

    dataset: str
    reasons: list[Reasons]


class CurveLine(Written, frozen=True):
    """A line of a chart: what it is of, and its points; of bars, one for each of the ticks."""

    system: int
    x: list[float]
    y: list[float]


class DrawnChart(Written, frozen=True):
    """A chart: its lines, and in `marked` a point on each of some of them.

    `name` is for addresses. Values of y are from 0 to 1. Where `ticks` has words, x are places among them; `log` asks
    for a logarithmic x; `diagonal` for a line from (0, 0) to (1, 1), on which everything would be as it should.
    """

    name: str
    title: str
    says: str
    x: str
    y: str
    form: Literal["line", "step", "points", "bars"]
    log: bool
    diagonal: bool
    ticks: list[str]
    lines: list[CurveLine]
    marked: list[CurveLine]


class CurvesPiece(Written, frozen=True):
    """`curves/DATASET`: scores over thresholds, coverage, alpha, categories, difficulty and time; calibration."""

    dataset: str
    charts: list[DrawnChart]
    missing: list[tuple[str, str]]
    """Charts that are not there, by name, with why."""


class EntityRow(Written, frozen=True):
    """An entity on a dataset: mentions that count, and for each system how many it gets and how often it answers it.

    Both are null where the system has no cases on the dataset.
    """

    entity: int
    dataset: int
    mentions: int
    found: list[int | None]
    answered: list[int | None]


class SurfaceRow(Written, frozen=True):
    """A surface on a dataset: mentions that count, of how many entities, and for each system how many it gets."""

    surface: str
    dataset: int
    mentions: int
    entities: int
    found: list[int | None]


class ConfusionRow(Written, frozen=True):
    """A gold entity that a system took for another one, and how often on a dataset. -1 is NIL, -2 no link."""

    gold: int
    answered: int
    dataset: int
    system: int
    times: int


class EntitiesPiece(Written, frozen=True):
    """`entities`: all datasets together, the most frequent first; `more` says how many rows of each are not listed."""

    entities: list[str]
    names: list[str | None]
    rows: list[EntityRow]
    surfaces: list[SurfaceRow]
    confusions: list[ConfusionRow]
    more: tuple[int, int, int]


class CreditWay(Written, frozen=True):
    """A way to judge an answer: under which profile and in which view; `refused` says why nobody can judge so here."""

    name: str
    title: str
    says: str
    profile: str
    view: str
    refused: str | None


class CreditTrack(Written, frozen=True):
    """What every case of a system earns, in each way: 1 is right, 0 is wrong, null is not counted.

    Cases are in the order of the track of the same system in `cases/DATASET`; those without an answer are null.
    """

    system: int
    credits: list[list[float | None]]


class CreditsPiece(Written, frozen=True):
    """`credits/DATASET`: one answer, several verdicts."""

    dataset: str
    ways: list[CreditWay]
    tracks: list[CreditTrack]


class LabelValue(Written, frozen=True):
    """A value of a label: what it is called in addresses and by people, and how many mentions that count have it.

    Of alternatives the one that a system's answer is nearest to counts: here they are as many as for any system.
    """

    name: str
    title: str
    gold: int


class SplitTable(Written, frozen=True):
    """One measure: for each value of a label a row with one number for each system; null where undefined."""

    measure: str
    value: list[list[float | None]]


class LabelTrack(Written, frozen=True):
    """The values that every case of a system has, as places in `combinations`.

    Cases are in the order of the track of the same system in `cases/DATASET`.
    """

    system: int
    cases: list[int]


class SplitLabel(Written, frozen=True):
    """Scores by a label, the most frequent value first. Without cases there are no tracks.

    `doubts` are what speaks against the precision of a system by this label.
    """

    name: str
    title: str
    says: str
    values: list[LabelValue]
    tables: list[SplitTable]
    combinations: list[list[int]]
    tracks: list[LabelTrack]
    doubts: list[tuple[int, str]]


class GroupsPiece(Written, frozen=True):
    """`groups/DATASET`: how good is it on what? Scores by types, fine-grained categories, mention types."""

    dataset: str
    view: str
    labels: list[SplitLabel]


class ProblemNode(Written, frozen=True):
    """A problem, the systems that solve it as their answers show, and the datasets that are gold standards for it."""

    name: str
    title: str
    says: str
    systems: list[int]
    datasets: list[int]


class ProblemsPiece(Written, frozen=True):
    """`problems`: what reduces to what, from the harder to the easier problem, as places in `problems`."""

    problems: list[ProblemNode]
    reductions: list[tuple[int, int]]


class FoundCase(Written, frozen=True):
    """A case that was looked for in all results."""

    dataset: int
    system: int
    document: str
    start: int
    end: int
    surface: str
    gold: str | None
    gold_name: str | None
    answer: str | None
    answer_name: str | None
    kind: str
    score: float | None


class FoundPiece(Written, frozen=True):
    """What a search in all results finds: how many, and some of them."""

    total: int
    cases: list[FoundCase]


class VerificationPiece(Written, frozen=True):
    """`verification`: what judges found, in each campaign that was put into the archive."""

    campaigns: list[VerificationFile]
    readings: dict[str, str]


__all__ = [  # what the client gets of other modules
    "AgreementOfJudges",
    "AgreementOfTwo",
    "MissingLinks",
    "PosthocScore",
    "QualityOfJudge",
    "SourceOutcomes",
    "VerificationFile",
]
