"""Labels as mentions of tokens, for formats with a token per line, and counts of what such formats lose."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from msgspec.structs import replace

from karat.formats.parsing.tokens.spacing import SpacedToken, split_tokens
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.run import Run


def select_disjoint_labels(document: Document) -> Document:
    """Return a document with labels that do not overlap, by offset: of two that do, the longer or else the first."""
    starts: list[int] = []
    chosen: dict[int, Label] = {}
    for label in sorted(document.labels, key=lambda label: (label.start - label.end, label.start)):
        index = bisect_right(starts, label.start)
        is_free_before = index == 0 or chosen[starts[index - 1]].end <= label.start
        is_free_behind = index == len(starts) or label.end <= starts[index]
        if is_free_before and is_free_behind:
            starts.insert(index, label.start)
            chosen[label.start] = label
    return replace(document, labels=tuple(chosen[start] for start in starts))


def split_sentences(document: Document, format_name: str) -> list[list[SpacedToken]]:
    """Return the tokens of a document by sentence; a sentence ends at white space with a line end outside mentions."""
    sentences: list[list[SpacedToken]] = [[]]
    tokens = list(split_tokens(document, format_name))
    for index, token in enumerate(tokens):
        sentences[-1].append(token)
        following = tokens[index + 1].label if index + 1 < len(tokens) else None
        if "\n" in token.gap and (token.label is None or following is not token.label):
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def count_token_losses(
    data: Corpus | Run, keeps_type: Callable[[Label], bool], type_form: str = "one word"
) -> dict[str, int]:
    """Count the labels of a corpus that overlap longer ones, are out of order or lose types by `keeps_type`.

    `type_form`: the form of the types that are stored.
    """
    if not isinstance(data, Corpus):
        return {}
    n_overlapping = n_unordered = n_types = 0
    for document in data:
        disjoint = select_disjoint_labels(document).labels
        n_overlapping += len(document.labels) - len(disjoint)
        written = set(map(id, disjoint))
        n_unordered += [label for label in document.labels if id(label) in written] != list(disjoint)
        n_types += sum(bool(label.types) and not keeps_type(label) for label in disjoint)
    return {
        "labels that overlap longer ones": n_overlapping,
        "order of labels in documents (written by offset)": n_unordered,
        f"types of labels (several, or not {type_form})": n_types,
    }
