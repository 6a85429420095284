"""ZELDA's test sets and the published predictions for them: what is really in the files, and what they score.

The counts are those of the published files, which table 2 of the paper does not always have; where it differs, a note
counts it. The predictions are of another system (a dual encoder): a mention that they say nothing of is left out of
figures over the covered mentions, and wrong in those over all mentions, as the paper scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from karat.data.load import load, load_run
from karat.errors import InputError
from karat.spec.suite import Conformance, Discrepancy, Suite, summed
from karat.storage.files import Source
from karat.zelda.given import Attempt, Share, attempt, given_mentions, plain_mean
from karat.zelda.readings import two_readings
from karat.zelda.splits import split_files

_K: Final = 20
_DIGITS: Final = 4
_BRACKETS: Final = ("0.3-0.4", "0.4-0.5", "0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-0.9", "0.9-1", "1")
_FOLDERS: Final = {"jsonl": "jsonl", "conll": "conll", "predictions": "jsonl"}


class _Published(NamedTuple):
    """What the files of a split hold; documents, mentions and entities of a file that nobody has are None."""

    jsonl: tuple[int, int, int]
    conll: tuple[int, int, int] | None
    table_2: tuple[int, int, int]
    covered: int
    accuracy: tuple[float, float]
    recall: tuple[float, float]
    brackets: tuple[int, ...] = ()


_PUBLISHED: Final = {
    "aida-b": _Published(
        (231, 4485, 1537), (231, 4485, 1537), (231, 4485, 1538), 4485, (0.8187, 0.8187), (0.9605, 0.9605)
    ),
    "tweeki": _Published((500, 860, 639), (500, 848, 635), (500, 860, 639), 850, (0.7706, 0.7616), (0.9129, 0.9023)),
    "reddit-posts": _Published(
        (377, 704, 524), (377, 703, 523), (377, 705, 524), 700, (0.8914, 0.8864), (0.9686, 0.9631)
    ),
    "reddit-comments": _Published(
        (360, 638, 483), (360, 637, 482), (360, 638, 483), 624, (0.8574, 0.8386), (0.9647, 0.9436)
    ),
    "wned-wiki": _Published(
        (319, 6765, 5306),
        (345, 6765, 5306),
        (318, 6747, 5293),
        6554,
        (0.9106, 0.8822),
        (0.9863, 0.9555),
        (917, 921, 887, 901, 772, 841, 799, 727),
    ),
    "wned-cweb": _Published(
        (320, 11116, 4467),
        None,
        (320, 11116, 4467),
        11086,
        (0.6943, 0.6924),
        (0.8665, 0.8642),
        (1323, 1464, 1510, 1519, 1363, 1456, 1345, 1136),
    ),
    "shadowlinks-top": _Published(
        (904, 904, 899), (904, 904, 899), (904, 904, 899), 901, (0.6604, 0.6582), (0.8979, 0.8949)
    ),
    "shadowlinks-shadow": _Published(
        (904, 904, 902), (904, 904, 902), (904, 904, 902), 903, (0.6523, 0.6515), (0.9579, 0.9569)
    ),
    "shadowlinks-tail": _Published(
        (901, 901, 901), (901, 899, 899), (902, 902, 902), 890, (0.9865, 0.9745), (0.9921, 0.9800)
    ),
}
_ENTITIES: Final = 14204
_MEANS: Final = (0.8047, 0.7960)


class _Figure(NamedTuple):
    """A figure as it is expected and as it is found, in its group."""

    group: str
    name: str
    expected: float
    found: float | None


class _Split(NamedTuple):
    """What was found in the files of a split; no attempt where there are no predictions for it."""

    figures: list[_Figure]
    entities: frozenset[str]
    in_conll: int | None
    tried: Attempt | None


def conform_zelda(folder: str) -> Conformance:
    """Compare the counts of every split, and the scores of the predictions for it."""
    files = _files(folder)
    notes: Counter[str] = Counter()
    found: dict[str, _Split] = {}
    for split, expected in _PUBLISHED.items():
        there = {kind: paths[split] for kind, paths in files.items() if split in paths}
        notes.update(f"splits without {kind} ({split})" for kind in ("jsonl", "predictions") if kind not in there)
        if "jsonl" in there:
            found[split] = _compared(split, expected, there, notes)
    figures = {split: one.figures for split, one in found.items()}
    rows = [_HEAD, *(_row(one.tried, one.in_conll) for one in found.values() if one.tried is not None)]
    attempts = [one.tried for one in found.values() if one.tried is not None]
    whole = figures.setdefault("all splits", [])
    if len(found) == len(_PUBLISHED):
        entities: set[str] = set().union(*(one.entities for one in found.values()))
        whole.append(_Figure("JSONL", "entities", _ENTITIES, len(entities)))
    if len(attempts) == len(_PUBLISHED):
        means = [plain_mean(tried.accuracy(tried.covered) for tried in attempts)]
        means.append(plain_mean(tried.accuracy() for tried in attempts))
        whole += [
            _Figure("accuracy", f"mean over {words}", value, mean)
            for words, value, mean in zip(_AMONG, _MEANS, means, strict=True)
        ]
        rows.append(["mean", "", "", "", "", *map(_percent, means), "", ""])
    return _conformance(figures, {note: count for note, count in notes.items() if count}, rows)


def _compared(split: str, expected: _Published, files: Mapping[str, str], notes: Counter[str]) -> _Split:
    gold = load(files["jsonl"], format="zelda")
    mentions = [mention for mention in given_mentions(gold) if mention is not None]
    entities = frozenset(mention.entity for mention in mentions)
    counts = (len(gold), len(mentions), len(entities))
    differ = sum(one != two for one, two in zip(expected.table_2, counts, strict=True))
    notes["figures of table 2 that the published files do not have"] += differ
    figures = list(_counts("JSONL", expected.jsonl, counts))
    brackets = Counter(mention.bracket for mention in mentions)
    figures += [
        _Figure("brackets", f"mentions in {name}", count, brackets[name])
        for name, count in zip(_BRACKETS, expected.brackets, strict=False)
    ]
    in_conll = None
    if "conll" in files:
        conll = load(files["conll"], format="zelda-conll")
        titles = {mention.entity for mention in given_mentions(conll) if mention is not None}
        both = two_readings(gold, conll, split)
        in_conll = both.conll
        if expected.conll is not None:
            figures += _counts("CoNLL", expected.conll, (len(conll), both.conll, len(titles)))
        notes["mentions of the JSONL that the CoNLL does not have"] += len(both.jsonl_only)
        notes["mentions with another title in the CoNLL"] += len(both.retitled)
    tried = None
    if "predictions" in files:
        tried = attempt(gold, load_run(files["predictions"], corpus=gold, format="zelda"), split)
        figures += _scores(expected, tried)
    return _Split(figures, entities, in_conll, tried)


def _files(folder: str) -> dict[str, dict[str, str]]:
    source = Source(folder, links=True)
    found = {}
    for name, suffix in _FOLDERS.items():
        there = source.folder and name in source.folders
        found[name] = split_files([f"{folder}/{name}"], suffix) if there else {}
    if not found["jsonl"]:
        raise InputError(
            source.label,
            found="no folder jsonl with test sets",
            expected="the folders jsonl, conll and predictions with a file for each split",
            remedy="Give the folder that has them",
        )
    return found


_AMONG: Final = ("the covered mentions", "all mentions")


def _counts(group: str, expected: tuple[int, int, int], found: tuple[int, int, int]) -> Iterator[_Figure]:
    for name, one, two in zip(("documents", "mentions", "entities"), expected, found, strict=True):
        yield _Figure(group, name, one, two)


def _scores(expected: _Published, tried: Attempt) -> Iterator[_Figure]:
    yield _Figure("accuracy", "covered mentions", expected.covered, int(tried.covered.sum()))
    for place, (words, among) in enumerate(zip(_AMONG, (tried.covered, None), strict=True)):
        yield _Figure("accuracy", f"accuracy over {words}", expected.accuracy[place], tried.accuracy(among).value)
        recall = tried.recall_at(_K, among)
        yield _Figure(f"recall@{_K}", f"recall@{_K} over {words}", expected.recall[place], recall.value)


_HEAD: Final = [
    "split",
    "documents",
    "mentions",
    "in CoNLL",
    "covered",
    "accuracy (covered)",
    "accuracy (all)",
    f"recall@{_K} (covered)",
    f"recall@{_K} (all)",
]


def _row(tried: Attempt, in_conll: int | None) -> list[str]:
    shares: list[Share] = [tried.accuracy(tried.covered), tried.accuracy()]
    shares += [tried.recall_at(_K, tried.covered), tried.recall_at(_K)]
    counts = [tried.documents, len(tried.mentions), in_conll, int(tried.covered.sum())]
    return [
        tried.split,
        *("–" if count is None else f"{count:,}" for count in counts),
        *(_percent(share.value) for share in shares),
    ]


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _conformance(figures: Mapping[str, list[_Figure]], notes: Mapping[str, int], rows: list[list[str]]) -> Conformance:
    differences = [
        Discrepancy(split, one.group, one.name, one.found, one.expected)
        for split, own in figures.items()
        for one in own
        if one.found is None or round(one.found, _DIGITS) != one.expected
    ]
    lost = Counter((one.where, one.group) for one in differences)
    compared = []
    for split, own in figures.items():
        there = Counter(one.group for one in own)
        compared.append({group: (count, count - lost[split, group]) for group, count in there.items()})
    equal = sum(all(there == same for there, same in groups.values()) for groups in compared)
    table = tuple(map(tuple, rows)) if len(rows) > 1 else ()
    return Conformance(len(figures), equal, summed(compared), tuple(differences), notes=notes, table=table)


SUITE = Suite(
    title="ZELDA",
    says="The counts of ZELDA's test sets as JSONL and as CoNLL, and accuracy and recall@20 of the predictions for "
    "them, over the covered mentions and over all. PATH is a folder with the folders jsonl, conll and predictions.",
    run=lambda path, kb: conform_zelda(path),
    expected="published",
)
