"""Comparison of a ZELDA split in JSONL with the same split in CoNLL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from karat.model.corpus import Corpus
from karat.protocols.zelda.split_predictions import GoldMention, collect_gold_mentions


@dataclass(frozen=True, slots=True)
class FileComparison:
    """Mentions of a split in its JSONL and in its CoNLL file.

    Documents are matched by id, or by order if the files share no id and have equally many documents. Mentions of a
    document are matched by their titles in text order, since offsets and spelling differ, and between those by their
    text.
    """

    split: str
    """Name of the split."""
    documents: tuple[int, int]
    """Number of documents in the JSONL and in the CoNLL file."""
    both: tuple[GoldMention, ...]
    """Mentions in both files, as in the JSONL file; a mention that both files have twice is listed twice."""
    jsonl_only: tuple[GoldMention, ...]
    """Mentions in the JSONL file only."""
    conll_only: tuple[GoldMention, ...]
    """Mentions in the CoNLL file only."""
    title_changes: tuple[GoldMention, ...]
    """Mentions in both files with another title in the CoNLL file."""
    n_spelling_changes: int
    """Number of mentions in both files that are spelt differently."""

    @property
    def n_jsonl(self) -> int:
        """Number of mentions in the JSONL file."""
        return len(self.both) + len(self.jsonl_only)

    @property
    def n_conll(self) -> int:
        """Number of mentions in the CoNLL file."""
        return len(self.both) + len(self.conll_only)


def compare_files(jsonl: Corpus, conll: Corpus, split: str) -> FileComparison:
    """Compare the JSONL file and the CoNLL file of a split, document by document."""
    jsonl_mentions, conll_mentions = _group_by_document(jsonl), _group_by_document(conll)
    if jsonl_mentions.keys().isdisjoint(conll_mentions):
        conll_mentions = (
            dict(zip(jsonl_mentions, conll_mentions.values(), strict=False))
            if len(jsonl_mentions) == len(conll_mentions)
            else conll_mentions
        )
    both: list[GoldMention] = []
    unmatched: tuple[list[GoldMention], list[GoldMention]] = ([], [])
    title_changes: list[GoldMention] = []
    n_spelling_changes = 0
    for name in dict.fromkeys([*jsonl_mentions, *conll_mentions]):
        jsonl_doc, conll_doc = jsonl_mentions.get(name, []), conll_mentions.get(name, [])
        index_pairs = list(_match_mentions(jsonl_doc, conll_doc))
        pairs = [(jsonl_doc[a], conll_doc[b]) for a, b in index_pairs]
        both += [a for a, _ in pairs]
        title_changes += [a for a, b in pairs if _get_title(a) != _get_title(b)]
        n_spelling_changes += sum(_remove_spaces(a) != _remove_spaces(b) for a, b in pairs)
        for side, mentions in enumerate((jsonl_doc, conll_doc)):
            matched = {indices[side] for indices in index_pairs}
            unmatched[side].extend(mention for index, mention in enumerate(mentions) if index not in matched)
    documents = (len(jsonl), len(conll))
    return FileComparison(
        split,
        documents,
        tuple(both),
        tuple(unmatched[0]),
        tuple(unmatched[1]),
        tuple(title_changes),
        n_spelling_changes,
    )


def _group_by_document(corpus: Corpus) -> dict[str, list[GoldMention]]:
    """Return the linked mentions of each document in text order, by document id; an empty list if it has none."""
    mentions_by_document: dict[str, list[GoldMention]] = {document.id: [] for document in corpus}
    for mention in collect_gold_mentions(corpus):
        if mention is not None:
            mentions_by_document[mention.document].append(mention)
    return {name: sorted(mentions, key=lambda m: (m.start, m.end)) for name, mentions in mentions_by_document.items()}


def _get_title(mention: GoldMention) -> str:
    """Return the title of a mention's entity with spaces for underscores."""
    return mention.entity.replace("_", " ")


def _remove_spaces(mention: GoldMention) -> str:
    """Return the text of a mention without white space, which tokenisation may add."""
    return "".join(mention.surface.split())


def _match_mentions(jsonl_doc: Sequence[GoldMention], conll_doc: Sequence[GoldMention]) -> Iterator[tuple[int, int]]:
    """Yield the indices of matching mentions of one document: in order with equal titles, else with equal text.

    Both sequences must be in text order.
    """
    matcher = SequenceMatcher(None, list(map(_get_title, jsonl_doc)), list(map(_get_title, conll_doc)), autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(range(first, last), range(begin, end), strict=True)
        elif kind == "replace":
            surface_matcher = SequenceMatcher(
                None,
                list(map(_remove_spaces, jsonl_doc[first:last])),
                list(map(_remove_spaces, conll_doc[begin:end])),
                autojunk=False,
            )
            for block in surface_matcher.get_matching_blocks():
                for step in range(block.size):
                    yield first + block.a + step, begin + block.b + step
