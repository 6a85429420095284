"""Errors and messages about document ids that differ between gold standard and predictions.

`gold_ids` and `run_ids` are always the document ids of the gold standard and of the predictions.
"""

from __future__ import annotations

import pyarrow.compute as pc

from karat.model.errors import InputError
from karat.model.output.command_options import find_options
from karat.model.tables.arrow import Arrow

_MAX_SHOWN = 2
_SAME_SPLIT = (
    "Check that both files are of the same corpus and split (several gold standards: karat report --gold A --gold B)"
)


def unknown_document_error(
    where: str, document: str, corpus_name: str, n_more: int, gold_ids: Arrow, run_ids: Arrow
) -> InputError:
    """Return, without raising, the error for a response to a document that the corpus does not have.

    `where` is the location of the response, `document` the id of its document, `corpus_name` the name of the gold
    standard, and `n_more` the number of further such responses.
    """
    others = f" ({n_more} more like it)" if n_more else ""
    skipping = [f"{flag} skips unknown documents" for flag in find_options("--allow-unknown", "--on-error skip")[:1]]
    if _parse_numbers(gold_ids) is None and pc.all(pc.is_in(gold_ids, run_ids)).as_py():  # numbers agree by chance
        return InputError(
            where,
            actual=f"document {document!r}, which {corpus_name} does not have{others}; all its documents are here",
            expected="documents of the gold standard",
            remedy="; ".join(["Check that the gold standard is complete", *skipping]),
        )
    remedy = _advise_renumbering(gold_ids, run_ids) or _SAME_SPLIT
    return InputError(
        where,
        actual=f"document {document!r}, which {corpus_name} does not have{others}: "
        f"{_describe_ids(gold_ids, run_ids, corpus_name)}",
        expected="documents of the gold standard",
        remedy=f"{remedy}, or add the text of each document to the predictions, so that Karat pairs documents by text"
        + "".join(f"; {sentence}" for sentence in skipping),
    )


def describe_shifted_ids(gold_ids: Arrow, run_ids: Arrow, corpus_name: str) -> str:
    """Describe both sides' ids if all are numbers but their smallest or largest ids differ; else return ""."""
    run_numbers, gold_numbers = _parse_numbers(run_ids), _parse_numbers(gold_ids)
    if (
        run_numbers is None
        or gold_numbers is None
        or (min(run_numbers), max(run_numbers)) == (min(gold_numbers), max(gold_numbers))
    ):
        return ""
    return _describe_ids(gold_ids, run_ids, corpus_name)


def _describe_ids(gold_ids: Arrow, run_ids: Arrow, corpus_name: str) -> str:
    """Describe the document ids of both sides for a message: as ranges if all are numbers, else by examples."""
    run_numbers, gold_numbers = _parse_numbers(run_ids), _parse_numbers(gold_ids)
    if run_numbers is not None and gold_numbers is not None:
        return f"the ids {_format_range(run_numbers)} here and {_format_range(gold_numbers)} in {corpus_name}"
    run_only, gold_only = _exclude_ids(run_ids, gold_ids), _exclude_ids(gold_ids, run_ids)
    if len(run_only) < len(run_ids):
        return f"only here: {_format_examples(run_only)}, only in {corpus_name}: {_format_examples(gold_only)}"
    return f"the ids {_format_examples(run_ids)} here and {_format_examples(gold_ids)} in {corpus_name}"


def _exclude_ids(ids: Arrow, others: Arrow) -> Arrow:
    """Return the ids that are not among `others`."""
    return ids.filter(pc.invert(pc.is_in(ids, others)))


def _advise_renumbering(gold_ids: Arrow, run_ids: Arrow) -> str:
    """Return advice to renumber the documents of one side, or "".

    The advice is given if all ids of both sides are numbers, both sides have the same number of ids, and their
    smallest ids differ, such as 0 and 1.
    """
    run_numbers, gold_numbers = _parse_numbers(run_ids), _parse_numbers(gold_ids)
    if (
        run_numbers is None
        or gold_numbers is None
        or len(run_numbers) != len(gold_numbers)
        or min(run_numbers) == min(gold_numbers)
    ):
        return ""
    shift = min(gold_numbers) - min(run_numbers)
    return f"Number the documents of both files the same way ({'add' if shift > 0 else 'subtract'} {abs(shift)} here)"


def _parse_numbers(ids: Arrow) -> list[int] | None:
    """Parse ids as numbers; None if an id is no number or there are no ids."""
    numbers: list[int] = []
    for id in ids.to_pylist():
        if not (isinstance(id, str) and id.isascii() and id.isdigit() and len(id) <= 18):
            return None
        numbers.append(int(id))
    return numbers or None


def _format_range(numbers: list[int]) -> str:
    """Return the smallest and the largest number as `1–9`; a single number as it is."""
    return f"{min(numbers)}–{max(numbers)}" if len(numbers) > 1 else str(numbers[0])


def _format_examples(ids: Arrow) -> str:
    """Return the first ids in quotes, with an ellipsis if there are more."""
    examples = [repr(id) for id in ids[:_MAX_SHOWN].to_pylist()]
    return ", ".join([*examples, *(["…"] if len(ids) > _MAX_SHOWN else [])])
