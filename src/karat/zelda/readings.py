"""The same split as JSONL and as CoNLL: which mentions each of the two does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from karat.model.corpus import Corpus
from karat.zelda.given import GivenMention, given_mentions


@dataclass(frozen=True, slots=True)
class TwoReadings:
    """Mentions of a split in its JSONL and in its CoNLL.

    Documents belong together by their ids, or by their order where the two files share no id. Mentions of a document
    belong together by their titles in the order of the text, since offsets and letters differ, and between those by
    their words. `both` are in both files, as the JSONL has them; `retitled` are those of them with another title in the
    CoNLL, and `respelt` counts those whose words are written in another way.
    """

    split: str
    documents: tuple[int, int]
    both: frozenset[GivenMention]
    jsonl_only: tuple[GivenMention, ...]
    conll_only: tuple[GivenMention, ...]
    retitled: tuple[GivenMention, ...]
    respelt: int

    @property
    def jsonl(self) -> int:
        """Mentions of the JSONL."""
        return len(self.both) + len(self.jsonl_only)

    @property
    def conll(self) -> int:
        """Mentions of the CoNLL."""
        return len(self.both) + len(self.conll_only)


def two_readings(jsonl: Corpus, conll: Corpus, split: str) -> TwoReadings:
    """Compare the two files of a split, document by document."""
    first, second = _by_document(jsonl), _by_document(conll)
    if first.keys().isdisjoint(second):
        second = dict(zip(first, second.values(), strict=False)) if len(first) == len(second) else second
    both: list[GivenMention] = []
    alone: tuple[list[GivenMention], list[GivenMention]] = ([], [])
    retitled: list[GivenMention] = []
    respelt = 0
    for name in dict.fromkeys([*first, *second]):
        here, there = first.get(name, []), second.get(name, [])
        pairs = list(_paired(here, there))
        both += [one for one, _ in pairs]
        retitled += [one for one, two in pairs if _title(one) != _title(two)]
        respelt += sum(_joined(one) != _joined(two) for one, two in pairs)
        for mine, mentions, met in zip(
            alone, (here, there), zip(*pairs, strict=True) if pairs else ((), ()), strict=True
        ):
            mine += [mention for mention in mentions if mention not in met]
    documents = (len(jsonl), len(conll))
    return TwoReadings(split, documents, frozenset(both), tuple(alone[0]), tuple(alone[1]), tuple(retitled), respelt)


def _by_document(corpus: Corpus) -> dict[str, list[GivenMention]]:
    found: dict[str, list[GivenMention]] = {document.id: [] for document in corpus}
    for mention in given_mentions(corpus):
        if mention is not None:
            found[mention.document].append(mention)
    return {name: sorted(mentions, key=lambda one: (one.start, one.end)) for name, mentions in found.items()}


def _title(mention: GivenMention) -> str:
    return mention.entity.replace("_", " ")


def _joined(mention: GivenMention) -> str:
    """The words without the blanks that a division into tokens may add."""
    return "".join(mention.surface.split())


def _paired(here: Sequence[GivenMention], there: Sequence[GivenMention]) -> Iterator[tuple[GivenMention, GivenMention]]:
    matcher = SequenceMatcher(None, list(map(_title, here)), list(map(_title, there)), autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(here[first:last], there[begin:end], strict=True)
        elif kind == "replace":
            words = SequenceMatcher(
                None, list(map(_joined, here[first:last])), list(map(_joined, there[begin:end])), autojunk=False
            )
            for block in words.get_matching_blocks():
                for step in range(block.size):
                    yield here[first + block.a + step], there[begin + block.b + step]
