"""Creation of campaigns and surveys, with the defaults of each kind."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from karat.formats.parsing.lines import decode_utf8
from karat.kb.protocol import KB
from karat.model.corpus import Corpus
from karat.model.errors import InputError, UsageError
from karat.model.json.decoder import read_json_value
from karat.model.run import Run
from karat.protocols.verification.campaign import DEFAULT_BATCH, UNLIMITED_JUDGES, Campaign, CampaignKind, JudgingTask
from karat.protocols.verification.campaign_builder import build_campaign
from karat.protocols.verification.controls import parse_controls
from karat.protocols.verification.guidelines import CONSENT, GUIDELINES, SURVEY_CONSENT, SURVEY_GUIDELINES
from karat.protocols.verification.surveys import build_survey
from karat.storage.files import Source

_NO_FILE = ("agreed", "none")
"""Values of `controls` that are no file."""


class NewCampaign(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a new campaign or survey."""

    kind: CampaignKind = "verify"
    """Whether links are judged, or a survey asks which links mentions should have."""
    judges: int | None = None
    """Number of judges per link; None for 1, and in a survey for all."""
    tasks_per_judge: int | None = None
    """Tasks per judge, 0 for no limit; None for 20, and in a survey for 0."""
    people: int | None = None
    """Number of people who will judge; too few for the campaign are an error. None if unknown."""
    allow_additions: bool = False
    """Whether judges may add missing links."""
    controls: str = "agreed"
    """File of control tasks; `agreed` builds them from links that all sources share, `none` builds none."""
    priority: str = "all"
    """Links to judge."""
    lease: float = 30.0
    """Minutes until an unfinished task goes to another judge."""
    passage_length: int = 300
    """Approximate length of passages in characters."""
    consent: str | None = None
    """File of the consent form; None for that of the kind."""
    guidelines: str | None = None
    """File of the guidelines; None for those of the kind."""
    seed: int = 0
    """Random seed."""

    @property
    def is_survey(self) -> bool:
        """Whether the campaign is a survey."""
        return self.kind == "survey"

    @property
    def has_control_file(self) -> bool:
        """Whether the controls are in a file."""
        return self.controls not in _NO_FILE

    def check(self) -> None:
        """Raise `UsageError` for a number that is too small, and for what a survey does not have."""
        if self.is_survey and (self.allow_additions or self.priority != "all" or self.has_control_file):
            raise UsageError("a survey has no controls, priorities or additions. Remove these options.")
        judges, tasks = 1 if self.judges is None else self.judges, self.tasks_per_judge or 0
        people = 1 if self.people is None else self.people
        if judges < 1 or people < 1 or tasks < 0 or self.lease <= 0 or self.passage_length < 20:
            raise UsageError(
                "a number is too small. --judges and --people must be at least 1, --tasks-per-judge at least 0, "
                "--lease above 0 and --passage-length at least 20."
            )


def create_campaign(
    name: str,
    corpus: Corpus,
    runs: Sequence[Run],
    options: NewCampaign | None = None,
    *,
    kb: KB | None = None,
    kb_location: str | None = None,
) -> Campaign:
    """Build a campaign or survey about the gold standard `corpus` and the predictions `runs`.

    `kb` resolves ids, and `kb_location` says where it can be opened again. Raise `UsageError` or `InputError` for
    invalid options and control files, and if `people` are too few to judge every task.
    """
    options = options or NewCampaign()
    options.check()
    campaign = _build(name, corpus, runs, options, kb)
    campaign = msgspec.structs.replace(
        campaign, options=msgspec.structs.replace(campaign.options, kb_location=kb_location)
    )
    if options.people is not None:
        campaign.require_people(options.people)
    return campaign


def _build(name: str, corpus: Corpus, runs: Sequence[Run], options: NewCampaign, kb: KB | None) -> Campaign:
    """Build a campaign or survey with the defaults of its kind."""
    judges, tasks_per_judge = options.judges, options.tasks_per_judge
    consent = _read_text(options.consent, SURVEY_CONSENT if options.is_survey else CONSENT)
    guidelines = _read_text(options.guidelines, SURVEY_GUIDELINES if options.is_survey else GUIDELINES)
    if options.is_survey:
        return build_survey(
            corpus,
            runs,
            name=name,
            kb=kb,
            seed=options.seed,
            judges=UNLIMITED_JUDGES if judges is None else judges,
            batch=tasks_per_judge or 0,
            lease=60 * options.lease,
            length=options.passage_length,
            consent=consent,
            guidelines=guidelines,
        )
    batch = DEFAULT_BATCH if tasks_per_judge is None else tasks_per_judge
    return build_campaign(
        corpus,
        runs,
        name=name,
        kb=kb,
        seed=options.seed,
        judges=1 if judges is None else judges,
        batch=batch,
        controls=0 if options.controls == "none" else 1,
        lease=60 * options.lease,
        priority=options.priority,
        length=options.passage_length,
        control_tasks=_read_controls(options.controls) if options.has_control_file else None,
        additions=options.allow_additions,
        consent=consent,
        guidelines=guidelines,
    )


def lacks_controls(campaign: Campaign, options: NewCampaign) -> bool:
    """Return whether a campaign was to have controls but has none, for lack of links that all sources share."""
    return not options.is_survey and options.controls != "none" and not campaign.options.controls


def lacks_categories(campaign: Campaign) -> bool:
    """Return whether no link of a survey has categories, so that its answers give no weights for fuzzy recall."""
    return campaign.options.kind == "survey" and not any(
        option.categories for task in campaign.tasks for link in task.links for option in link.options
    )


def _read_controls(path: str) -> list[JudgingTask]:
    """Read the control tasks in a file of JSON lines; raise `InputError` for an invalid line."""
    source = Source(path)
    if not source.exists:
        raise UsageError(f"--controls {path}: no such file. Pass agreed, a file, or none for no controls.")
    lines = []
    for number, line in enumerate(source.read_bytes().splitlines(), 1):
        where = f"{source.label}:{number}"
        lines.append(read_json_value(line, dict[str, object], where, expected="a JSON object", remedy="Correct it"))
    if not lines:
        remedy = "Write one control task per line, or pass --controls none"
        raise InputError(source.label, actual="no control task", expected="at least one", remedy=remedy)
    return parse_controls(source.label, lines)


def _read_text(path: str | None, template: str) -> str:
    """Return the text of a file, or the template if `path` is None."""
    if path is None:
        return template
    source = Source(path)
    text = decode_utf8(source.read_bytes(), source)
    if not text.strip():
        remedy = "Write the text, or remove the option for the default one"
        raise InputError(source.label, actual="an empty file", expected="the text that judges read", remedy=remedy)
    return text
