"""The scores of a system on the bed, as people and programs read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from karat.fitting import counted, wrapped
from karat.pages.files import Written, indented
from karat.pages.tables import aligned
from karat.zelda.given import Attempt, GivenMention, Share, plain_mean
from karat.zelda.readings import TwoReadings
from karat.zelda.scores import BedScores

UNDEFINED = "–"
TITLES = {
    "training": "by what the training text has of a mention",
    "frequency": "by how often the training text links the entity",
    "ambiguity": "by the number of candidates",
    "prior": "by the candidate lists",
}


def percent(value: float | None) -> str:
    """A share in percent."""
    return UNDEFINED if value is None else f"{100 * value:.1f}"


class WrittenShare(Written, frozen=True):
    """How many of how many, and the share; null of nothing."""

    hits: int
    of: int
    value: float | None


def written_share(share: Share) -> WrittenShare:
    """A share as files have it."""
    return WrittenShare(share.hits, share.of, share.value)


class WrittenMention(Written, frozen=True):
    """A mention by its place."""

    document: str
    start: int
    end: int
    surface: str
    entity: str


def written_mention(mention: GivenMention) -> WrittenMention:
    """A mention as files have it."""
    return WrittenMention(mention.document, mention.start, mention.end, mention.surface, mention.entity)


class WrittenReading(Written, frozen=True, kw_only=True):
    """The CoNLL of a split beside its JSONL."""

    documents: tuple[int, int]
    jsonl: int
    conll: int
    accuracy: WrittenShare
    respelt: int
    retitled: list[WrittenMention]
    only_in_jsonl: list[WrittenMention]
    only_in_conll: list[WrittenMention]


class WrittenAttempt(Written, frozen=True, kw_only=True):
    """The scores of one split."""

    documents: int
    mentions: int
    unlinked: int
    covered: int
    accuracy: WrittenShare
    accuracy_covered: WrittenShare
    recall_at_k: WrittenShare
    recall_at_k_covered: WrittenShare
    brackets: dict[str, WrittenShare]
    mean_of_brackets: float | None
    groups: dict[str, dict[str, WrittenShare]]
    conll: WrittenReading | None


class BedScoresFile(Written, frozen=True, kw_only=True):
    """What `karat zelda score --json` writes."""

    layout: Literal["karat-zelda-scores/1"]
    system: str
    profile: Literal["zelda"]
    k: int
    mean: float | None
    mean_covered: float | None
    splits: dict[str, WrittenAttempt]
    groups: dict[str, dict[str, WrittenShare]]


def bed_scores_json(scores: BedScores, k: int) -> bytes:
    """All scores as JSON."""
    return indented(
        BedScoresFile(
            layout="karat-zelda-scores/1",
            system=scores.system,
            profile="zelda",
            k=k,
            mean=scores.mean,
            mean_covered=scores.mean_covered,
            splits={split: _written(scores, split, k) for split in scores.attempts},
            groups={name: _shares(shares) for name, shares in scores.groups.items()},
        )
    )


def _shares(shares: Mapping[str, Share]) -> dict[str, WrittenShare]:
    return {name: written_share(share) for name, share in shares.items()}


def _written(scores: BedScores, split: str, k: int) -> WrittenAttempt:
    tried, brackets = scores.attempts[split], scores.brackets().get(split, {})
    return WrittenAttempt(
        documents=tried.documents,
        mentions=len(tried.mentions),
        unlinked=tried.unlinked,
        covered=int(tried.covered.sum()),
        accuracy=written_share(tried.accuracy()),
        accuracy_covered=written_share(tried.accuracy(tried.covered)),
        recall_at_k=written_share(tried.recall_at(k)),
        recall_at_k_covered=written_share(tried.recall_at(k, tried.covered)),
        brackets=_shares(brackets),
        mean_of_brackets=plain_mean(brackets.values()),
        groups={name: _shares(by_split[split]) for name, by_split in scores.groups_of.items()},
        conll=_reading(scores, scores.readings[split]) if split in scores.readings else None,
    )


def _reading(scores: BedScores, reading: TwoReadings) -> WrittenReading:
    return WrittenReading(
        documents=reading.documents,
        jsonl=reading.jsonl,
        conll=reading.conll,
        accuracy=written_share(scores.in_conll(reading.split)),
        respelt=reading.respelt,
        retitled=list(map(written_mention, reading.retitled)),
        only_in_jsonl=list(map(written_mention, reading.jsonl_only)),
        only_in_conll=list(map(written_mention, reading.conll_only)),
    )


def bed_scores_page(scores: BedScores, k: int, *, details: bool = False, width: int | None = None) -> str:
    """Scores by split, by bracket and by group, and what the CoNLL lacks."""
    blocks = [*_blocks(scores, k, width, details=details)]
    return "\n\n".join(blocks) + "\n"


def _blocks(scores: BedScores, k: int, width: int | None, *, details: bool) -> Iterator[str]:
    yield wrapped(f"{scores.system}: profile zelda, accuracy on given mentions in percent", width)
    head = ["", "mentions", "covered", "accuracy", "of covered", f"recall@{k}", "of covered"]
    rows = [_row(tried, k) for tried in scores.attempts.values()]
    mean = ["plain mean", "", "", percent(scores.mean), percent(scores.mean_covered), "", ""]
    yield aligned([head, *rows, mean], width=width)
    for split, shares in scores.brackets().items():
        heading = [f"{split}, by bracket", *shares, "mean"]
        row = ["accuracy", *(percent(share.value) for share in shares.values()), percent(plain_mean(shares.values()))]
        sizes = ["mentions", *(f"{share.of:,}" for share in shares.values()), ""]
        yield aligned([heading, row, sizes], width=width)
    for name, group in scores.groups.items():
        yield aligned([*_group(f"all splits, {TITLES[name]}", group)], width=width)
        if details:
            for split, own in scores.groups_of[name].items():
                yield aligned([*_group(f"{split}, {TITLES[name]}", own)], width=width)
    if scores.readings:
        yield from _readings(scores, width, details=details)
    nothing = [split for split, tried in scores.attempts.items() if tried.covered.any() and not tried.right.any()]
    if nothing:
        said = "no answer is right: titles may be written differently on the two sides (blanks, underscores)"
        yield wrapped(f"{', '.join(nothing)}: {said}", width)
    unlinked = sum(tried.unlinked for tried in scores.attempts.values())
    if unlinked:
        yield wrapped(f"{counted(unlinked, 'mention')} without entity: left out", width)


def _row(tried: Attempt, k: int) -> list[str]:
    shares = [tried.accuracy(), tried.accuracy(tried.covered), tried.recall_at(k), tried.recall_at(k, tried.covered)]
    sizes = [len(tried.mentions), int(tried.covered.sum())]
    return [tried.split, *(f"{size:,}" for size in sizes), *(percent(share.value) for share in shares)]


def _group(title: str, shares: Mapping[str, Share]) -> Iterator[list[str]]:
    every = sum(share.of for share in shares.values())
    yield [title, "mentions", "share", "accuracy"]
    for value, share in shares.items():
        yield [value, f"{share.of:,}", percent(share.of / every if every else None), percent(share.value)]


def _readings(scores: BedScores, width: int | None, *, details: bool) -> Iterator[str]:
    rows = [["JSONL and CoNLL", "JSONL", "CoNLL", "only JSONL", "only CoNLL", "retitled", "respelt", "acc. in CoNLL"]]
    named = []
    for split, reading in scores.readings.items():
        sizes = [reading.jsonl, reading.conll, len(reading.jsonl_only), len(reading.conll_only)]
        sizes += [len(reading.retitled), reading.respelt]
        rows.append([split, *(f"{size:,}" for size in sizes), percent(scores.in_conll(split).value)])
        for words, mentions in (
            ("only in the JSONL", reading.jsonl_only),
            ("only in the CoNLL", reading.conll_only),
            ("with another title in the CoNLL", reading.retitled),
        ):
            named += [
                f"{split} {one.document} [{one.start}, {one.end}) {one.surface} → {one.entity}: {words}"
                for one in mentions
            ]
    yield aligned(rows, width=width)
    if named:
        yield wrapped("\n".join(named), width) if details else "--details names the mentions that a file lacks"
