"""The JSON resources of the web client, one class each.

`web/src/shape.ts` is generated from this module, so that server and client share their fields. Systems, datasets,
documents, entities, surfaces and categories are given by their index in a list; -1 means none.
"""

from __future__ import annotations

from typing import Final, Literal

from karat.model.output.json_files import JsonRecord
from karat.model.results.exhibit import CellStatus, Explanation
from karat.protocols.verification.outcomes import JudgeAgreement, JudgeQuality, PairAgreement
from karat.protocols.verification.posthoc import MissingShare
from karat.render.reproduction import CellRecord
from karat.render.verification.judged_links import JudgedLinksFile
from karat.render.verification.report import PosthocRecord, SourceRecord, VerificationFile

CASE_KINDS: Final = ("correct", "wrong link", "wrong span", "missed", "spurious", "not counted")
"""The outcomes of cases on web pages. A wrong span is a spurious prediction that overlaps a mention."""


class SystemInfo(JsonRecord, frozen=True):
    """A system: its name and title, and what its submitter states about it."""

    name: str
    title: str
    description: str | None
    date: str | None
    """The date of the system, such as 2026-01-31."""
    is_upload: bool
    """Whether a user uploaded it to the server."""


class DatasetInfo(JsonRecord, frozen=True):
    """A dataset: its key in URLs, its name, and which pages exist for it."""

    key: str
    name: str
    data: str
    documents: int
    cases: bool
    texts: bool
    curves: bool
    credits: bool
    groups: bool
    facets: list[tuple[str, str]]
    """Facets that scores are grouped by, each with its title."""
    reasons: list[str]


class ProfileInfo(JsonRecord, frozen=True):
    """A profile: its headline measure and all measures that it shows."""

    name: str
    title: str
    description: str
    headline: str
    measures: list[str]


class UntestedSystems(JsonRecord, frozen=True):
    """Systems on a dataset whose differences from some other system were not tested, with the reason."""

    dataset: int
    systems: list[int]
    reason: str


class MeasureTable(JsonRecord, frozen=True):
    """One measure under one profile: a row per dataset, a number per system, null if undefined."""

    profile: str
    measure: str
    value: list[list[float | None]]
    low: list[list[float | None]]
    high: list[list[float | None]]
    better_systems: list[list[list[int] | None]]
    """Per cell, the indices of significantly better systems; null if not tested."""
    tested_systems: list[list[list[int]]]
    """Per cell, the indices of the systems that the system was tested against."""
    untested: list[UntestedSystems]
    untested_reason: str
    """Why no difference of this measure was tested under this profile; empty if some were to be tested."""
    direction: Literal["high", "low", "none"]
    """Which values are better; none for spreads and unknown measures."""
    mean: list[float | None]
    """Per system, the mean over the datasets that all systems have."""
    oracle: list[bool]
    """Per dataset, whether a threshold was selected on it."""


class CellNote(JsonRecord, frozen=True):
    """Notes on one system on one dataset."""

    dataset: int
    system: int
    skipped: dict[str, int]
    """Skipped items by kind."""
    notes: list[str]
    profile_notes: dict[str, list[str]]
    """Notes on the scores under other profiles that do not hold under the main profile."""
    refusals: dict[str, str]
    """Profiles without a score, each with its reason."""
    undefined: dict[str, str]
    """Measures without a value, each with its reason."""
    usage: dict[str, float]
    counts: list[float]
    """Correct, spurious and missed counts of the headline view."""
    signature: str


class LeaderboardResource(JsonRecord, frozen=True):
    """`leaderboard`: systems in descending order of their mean, with scores and significance."""

    layout: Literal["karat-archive/2"]
    version: str
    title: str
    profile: str
    alpha: float
    """Significance level of the tests."""
    tests: str
    texts: str
    systems: list[SystemInfo]
    datasets: list[DatasetInfo]
    averaged_datasets: list[int]
    """Indices of the datasets that means are taken over."""
    profiles: list[ProfileInfo]
    measure_titles: dict[str, str]
    """Plain titles of all measures, such as `Linking F1 (in-KB)`, by name."""
    tables: list[MeasureTable]
    notes: list[CellNote]
    has_verification: bool
    """Whether the archive has results of a verification campaign."""
    has_papers: bool
    """Whether the archive has reproductions of papers."""


class CategoryExample(JsonRecord, frozen=True):
    """A text in which an error category occurs; `[Rome → Italy]` marks a mention of Rome with a link to Italy."""

    gold: str
    predictions: str
    errors: int
    total: int | None
    """Cases in which the error is possible; null if unknown."""


class CategoryInfo(JsonRecord, frozen=True):
    """An error category and its group; the first category of a group is the widest."""

    name: str
    title: str
    description: str
    total_description: str
    """The cases that the error rate is a share of."""
    group: str
    has_avoided_cases: bool
    """Whether the errors that a system avoids are cases; else the error rate is a share of words, or there is none."""
    example: CategoryExample | None


class ErrorCounts(JsonRecord, frozen=True):
    """Errors of one system on one dataset, one entry per category."""

    dataset: int
    system: int
    errors: list[int | None]
    """Number of errors; null if the category does not apply."""
    total: list[int | None]
    """Cases in which the error was possible; null if unknown."""
    undecided: list[int]
    """Cases for which the knowledge base cannot tell."""
    undefined: list[str | None]
    """Why the category does not apply to the system; null if it applies."""
    low: list[float | None]
    """Lower end of the confidence interval of the error rate; null if there is none."""
    high: list[float | None]
    """Upper end of the confidence interval of the error rate; null if there is none."""


class ErrorsResource(JsonRecord, frozen=True):
    """`errors`: error categories and counts of all systems."""

    categories: list[CategoryInfo]
    counts: list[ErrorCounts]


class DocumentInfo(JsonRecord, frozen=True):
    """A document: id, title, length in code points and evaluation span."""

    id: str
    title: str | None
    length: int
    span: tuple[int, int] | None
    block: int
    """The block of texts that the document is in."""


class GoldColumns(JsonRecord, frozen=True):
    """The gold mentions as columns, one entry per mention."""

    document: list[int]
    start: list[int]
    end: list[int]
    entity: list[int]
    surface: list[int]
    types: list[int]
    """Indices into the list of type combinations."""
    optional: list[int]
    alternatives: dict[str, list[int]]
    """Further correct entities by mention index."""


class Track(JsonRecord, frozen=True):
    """The cases of one system as columns."""

    system: int
    gold: list[int]
    """Index of the gold mention; -1 for none."""
    document: list[int]
    start: list[int]
    """Start of the prediction; -1 if the mention has none."""
    end: list[int]
    entity: list[int]
    surface: list[int]
    kind: list[int]
    errors: list[int]
    """Index into `combinations` of error categories."""
    reason: list[int]
    """Index into `reasons` of the reason for the outcome."""
    score: list[float | None]
    candidates: list[int]
    """Number of candidates; empty if no prediction has candidates."""
    rank: list[int]
    """Rank of the gold entity among the candidates from 1; 0 if absent."""


class CasesResource(JsonRecord, frozen=True):
    """`cases/DATASET`: every case of every system. Entity index -1 is NIL, -2 is unlinked."""

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
    description: list[str]
    combinations: list[list[int]]
    reasons: list[str]
    """The reasons for outcomes that occur."""
    gold: GoldColumns
    tracks: list[Track]


class DocumentText(JsonRecord, frozen=True):
    """The visible parts of a document's text, each with its start offset."""

    document: int
    stretches: list[tuple[int, str]]


class TextsResource(JsonRecord, frozen=True):
    """`texts/DATASET/BLOCK`: the texts of one block of documents."""

    documents: list[DocumentText]


class LintFinding(JsonRecord, frozen=True):
    """A lint finding in the gold standard."""

    rule: str
    severity: str
    document: int
    start: int
    end: int
    surface: str
    description: str
    proposal: str


class DatasetResource(JsonRecord, frozen=True):
    """`dataset/DATASET`: statistics and lint findings of a gold standard."""

    dataset: str
    metadata: dict[str, str]
    statistics: list[tuple[str, float | str | None]]
    types: list[tuple[str, int]]
    mention_types: list[tuple[str, int]]
    skipped: dict[str, int]
    rules: list[tuple[str, str, str, int]]
    findings: list[LintFinding]


class FlippedCaseInfo(JsonRecord, frozen=True):
    """A case that a setting changes: its span, gold and prediction, and both outcomes before and after."""

    document: int
    start: int
    end: int
    surface: str
    gold: str | None
    prediction: str | None
    gold_outcomes: tuple[str, str]
    prediction_outcomes: tuple[str, str]


class ReasonStep(JsonRecord, frozen=True):
    """One setting with its value under both profiles, its share of the gap and the cases it flips."""

    settings: list[tuple[str, str, str]]
    share: float
    flips: list[FlippedCaseInfo]
    flip_count: int


class Reasons(JsonRecord, frozen=True):
    """The explanation of the score gap of one system between the profile and a reference profile."""

    system: int
    profile: str
    reference_measure: str
    measure: str
    reference_score: float
    score: float
    steps: list[ReasonStep]
    unused_settings: list[str]
    """Settings that differ without an effect."""


class ReasonsResource(JsonRecord, frozen=True):
    """`reasons/DATASET`: gap explanations of all systems."""

    dataset: str
    reasons: list[Reasons]


class CurveLine(JsonRecord, frozen=True):
    """A line of a chart, or the bars of one system, one value per tick."""

    system: int
    x: list[float]
    y: list[float]


class ChartData(JsonRecord, frozen=True):
    """A chart with its lines and markers. Values of y range from 0 to 1."""

    name: str
    """Name in URLs."""
    title: str
    description: str
    x: str
    y: str
    form: Literal["line", "step", "points", "bars"]
    log: bool
    """Whether the x axis is logarithmic."""
    diagonal: bool
    """Whether to draw the ideal line from (0, 0) to (1, 1)."""
    ticks: list[str]
    """Tick labels; if present, x values are indices of ticks."""
    lines: list[CurveLine]
    markers: list[CurveLine]
    """Highlighted points of some lines."""
    undrawn: list[tuple[int, str]]
    """Systems without a line, each with the reason."""


class CurvesResource(JsonRecord, frozen=True):
    """`curves/DATASET`: scores over thresholds, coverage, alpha, categories, difficulty and time; calibration."""

    dataset: str
    charts: list[ChartData]
    missing_charts: list[tuple[str, str]]
    """Missing charts by name, each with its reason."""


class EntityRow(JsonRecord, frozen=True):
    """An entity on a dataset, with counts per system; null if a system has no cases on the dataset."""

    entity: int
    dataset: int
    mentions: int
    """Gold mentions of the entity that count."""
    correct: list[int | None]
    """Correct predictions per system."""
    predicted: list[int | None]
    """Predictions of the entity per system, correct or not."""


class SurfaceRow(JsonRecord, frozen=True):
    """A surface form on a dataset: its mentions, number of entities and correct predictions per system."""

    surface: str
    dataset: int
    mentions: int
    entities: int
    correct: list[int | None]


class ConfusionRow(JsonRecord, frozen=True):
    """A gold entity that a system confused with another, and how often. -1 is NIL, -2 is unlinked."""

    gold: int
    predicted: int
    dataset: int
    system: int
    count: int


class EntitiesResource(JsonRecord, frozen=True):
    """`entities`: entities, surface forms and confusions over all datasets, most frequent first."""

    entities: list[str]
    names: list[str | None]
    rows: list[EntityRow]
    surfaces: list[SurfaceRow]
    confusions: list[ConfusionRow]
    omitted: tuple[int, int, int]
    """How many rows of each kind are not listed."""


class CreditRuleInfo(JsonRecord, frozen=True):
    """A rule that judges predictions: its profile and view."""

    name: str
    title: str
    description: str
    profile: str
    view: str
    refusal: str | None
    """The reason why the rule does not apply here, if it does not."""


class CreditTrack(JsonRecord, frozen=True):
    """The credit of every case of a system under each rule: 1 correct, 0 wrong, null not counted.

    Cases are in the order of the same system's track in `cases/DATASET`; cases without a prediction are null.
    """

    system: int
    credits: list[list[float | None]]


class CreditsResource(JsonRecord, frozen=True):
    """`credits/DATASET`: the credit of each prediction under several rules."""

    dataset: str
    rules: list[CreditRuleInfo]
    tracks: list[CreditTrack]


class FacetGroup(JsonRecord, frozen=True):
    """One value of a facet: its name in URLs, its title and the number of gold mentions that count.

    Of alternatives the one nearest to a prediction counts, so the number is the maximum over systems.
    """

    name: str
    title: str
    gold: int


class GroupTable(JsonRecord, frozen=True):
    """One measure: a row per group, a number per system, null if undefined."""

    measure: str
    value: list[list[float | None]]
    low: list[list[float | None]]
    """Lower end of the confidence interval."""
    high: list[list[float | None]]
    """Upper end of the confidence interval."""
    correct: list[list[float | None]]
    """Correct predictions for precision, else gold mentions that were found."""
    total: list[list[float | None]]
    """All predictions for precision, else all gold mentions."""


class FacetTrack(JsonRecord, frozen=True):
    """The groups of every case of a system, as indices into `combinations`.

    Cases are in the order of the same system's track in `cases/DATASET`.
    """

    system: int
    cases: list[int]


class FacetScores(JsonRecord, frozen=True):
    """Scores by one facet, most frequent group first; without cases there are no tracks."""

    name: str
    title: str
    description: str
    example: str
    """A mention or document with its group; empty for values as they are in the data."""
    values: list[FacetGroup]
    tables: list[GroupTable]
    combinations: list[list[int]]
    tracks: list[FacetTrack]
    caveats: list[tuple[int, str]]
    """Systems whose precision in this facet is doubtful, each with the reason."""


class GroupsResource(JsonRecord, frozen=True):
    """`groups/DATASET`: scores by types, fine-grained categories and mention types."""

    dataset: str
    view: str
    facets: list[FacetScores]


class ProblemNode(JsonRecord, frozen=True):
    """A problem, the systems that solve it and the datasets that have gold labels for it."""

    name: str
    title: str
    description: str
    systems: list[int]
    datasets: list[int]


class ProblemsResource(JsonRecord, frozen=True):
    """`problems`: problems and their reductions, from the harder to the easier, as indices."""

    problems: list[ProblemNode]
    reductions: list[tuple[int, int]]


class MatchingCase(JsonRecord, frozen=True):
    """A case that matches a search over all results."""

    dataset: int
    system: int
    document: str
    start: int
    end: int
    surface: str
    gold: str | None
    gold_name: str | None
    prediction: str | None
    prediction_name: str | None
    kind: str
    score: float | None


class SearchResource(JsonRecord, frozen=True):
    """The result of a search over all cases: the total, and some of the cases."""

    total: int
    cases: list[MatchingCase]


class VerificationResource(JsonRecord, frozen=True):
    """`verification`: the results of each verification campaign in the archive."""

    campaigns: list[VerificationFile]
    definitions: dict[str, str]
    has_links: list[bool]
    """Whether the archive has the links behind the results of each campaign."""


class CampaignLinks(JsonRecord, frozen=True):
    """The links behind the results of one campaign, and the key of its dataset in the archive, if it is there."""

    links: JudgedLinksFile
    dataset: str | None


class JudgedLinksResource(JsonRecord, frozen=True):
    """`judged-links`: the links behind the results of each campaign; null where the archive has none."""

    campaigns: list[CampaignLinks | None]


class PaperPicture(JsonRecord, frozen=True):
    """A plot as SVG."""

    title: str
    svg: str


class PaperExhibit(JsonRecord, frozen=True):
    """A table, figure or group of claims of a paper, with its pictures."""

    name: str
    title: str
    command: str
    statuses: dict[CellStatus, int]
    cells: list[CellRecord]
    pictures: list[PaperPicture]
    own_table: list[list[str]]
    notes: list[str]


class PaperReproduction(JsonRecord, frozen=True):
    """The reproduction of a paper: the number of published values by outcome, and its tables, figures and claims."""

    suite: str
    title: str
    statuses: dict[CellStatus, int]
    exhibits: list[PaperExhibit]


class PapersResource(JsonRecord, frozen=True):
    """`papers`: the reproduction of each paper in the archive."""

    papers: list[PaperReproduction]


__all__ = [  # what the client gets of other modules
    "CellRecord",
    "Explanation",
    "JudgeAgreement",
    "JudgeQuality",
    "JudgedLinksFile",
    "MissingShare",
    "PairAgreement",
    "PosthocRecord",
    "SourceRecord",
    "VerificationFile",
]
