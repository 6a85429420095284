"""HIPE-2022 and HIPE-2020 TSV: a token per line, with columns for mentions, links and flags.

Mentions come from NE-COARSE-LIT, with types in lower case; `NIL` is NIL, and `_` is unlinked. The text is joined from
the tokens: each is followed by a space, by a line break if MISC has EndOfLine, or by nothing if it has NoSpaceAfter.
Tokens that begin with # are part of the text and are not scored. Flags of a mention become categories (`LED:0.06`),
and its fine type becomes the category `fine`.

In a gold standard, the NEL-LIT cell of the first token links a mention. Several links (`Q1|Q2`) are alternatives, of
which the scorer of the task uses the first. A metonymic sense (NE-COARSE-METO, NEL-METO) on the span of a literal sense
is a further alternative, with the category `sense:metonymic`.

Predictions are aligned to the gold standard row by row, regardless of their MISC column, comments and quotes. Several
links in a cell are a ranking: the first is the prediction, and all are candidates. Different links inside one mention
are separate predictions without type, as is each token with a link outside all mentions. A prediction whose words
differ from the gold tokens has the category `words:other`, since the scorer compares words. A type that the literal
senses of the gold standard lack is not scored, nor is a metonymic sense. An empty tag or link is an error. Nested
mentions and components are counted and skipped; `hipe-nested` reads nested mentions, and `hipe-fine` fine types.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from karat.formats.parsing.tokens.hipe_columns import (
    ReadContext,
    Row,
    Tokens,
    check_filled,
    get_scored_types,
    list_candidates,
    parse_links,
    read_link_runs,
    read_mentions,
    read_predicted_links,
    read_token_corpus,
    read_token_run,
    recognises,
)
from karat.formats.parsing.tokens.iob import OUTSIDE, TokenMention
from karat.model.document import UNLINKED, EntityId, Label, Prediction
from karat.model.reader_categories import METONYMIC
from karat.model.spec.format import ByteSource, Format, Sample

_LAYOUT_FLAGS = ("NoSpaceAfter", "EndOfLine", "EndOfSentence", "PySBDSegment")
_DISTANCE = re.compile(r"LED(\d+(?:\.\d+)?)")


def _read_labels(tokens: Tokens, context: ReadContext) -> list[Label]:
    """Return the labels of a document's tokens: literal mentions with alternative and metonymic links.

    Columns, flags and links that are not read are counted.
    """
    for row in tokens.rows:
        check_filled(row, "NEL-LIT", context.source)
    literal = read_mentions(tokens.rows, "NE-COARSE-LIT", context)
    metonymic = {(mark.start, mark.end): mark for mark in read_mentions(tokens.rows, "NE-COARSE-METO", context)}
    labels: list[Label] = []
    for mark in literal:
        start, end = tokens.get_span(mark)
        categories = _get_categories(tokens.rows, mark, context.skipped)
        alternatives = _get_alternatives(
            tokens.rows, mark, metonymic.pop((mark.start, mark.end), None), context.skipped
        )
        mention_id = f"{mark.start}-{mark.end}" if len(alternatives) > 1 else None
        labels += [
            Label(start, end, entity, types=(kind,), categories=(*categories, *extra_categories), mention_id=mention_id)
            for entity, kind, extra_categories in alternatives
        ]
    context.skipped["metonymic senses without a literal sense"] += len(metonymic)
    mention_indices = {index for mark in literal for index in range(mark.start, mark.end)}
    link_indices = [index for index, row in enumerate(tokens.rows) if row.cells.get("NEL-LIT", "_") not in OUTSIDE]
    context.skipped["links on tokens outside all mentions"] += len(set(link_indices) - mention_indices)
    _count_other_layers(tokens.rows, context)
    _count_flags(tokens.rows, context.skipped)
    return labels


def _read_predictions(tokens: Tokens, context: ReadContext) -> list[Prediction]:
    """Return the predictions of a document's tokens: mentions with their links.

    Mentions whose tokens differ in their link, and links outside mentions, become separate predictions. Columns that
    are not read are counted.
    """
    rows, skipped = tokens.rows, context.skipped
    for row in rows:
        check_filled(row, "NEL-LIT", context.source)
    mentions = {(mention.start, mention.end): mention for mention in read_mentions(rows, "NE-COARSE-LIT", context)}
    link_runs = {
        (link_run.start, link_run.end): link_run for link_run in read_predicted_links(rows, list(mentions.values()))
    }
    predictions = []
    for key in sorted({**mentions, **link_runs}):
        mention, link_run = mentions.get(key), link_runs.get(key)
        mark = mention or link_runs[key]
        start, end = tokens.get_span(mark)
        entities = parse_links(link_run.type if link_run else "_")
        types = get_scored_types(mention.type, context) if mention else ()
        skipped["links that do not cover a whole mention (predictions without type)"] += mention is None
        categories, candidates = tokens.get_categories(mark), list_candidates(entities)
        predictions.append(
            Prediction(start, end, entities[0], types=types, categories=categories, candidates=candidates)
        )
    skipped["metonymic senses in predictions"] += len(read_mentions(rows, "NE-COARSE-METO", context))
    skipped["metonymic links in predictions"] += len(read_link_runs(rows, "NEL-METO", []))
    skipped["fine types of tokens in predictions"] += sum(
        row.cells.get("NE-FINE-LIT", "_") not in OUTSIDE for row in rows
    )
    _count_other_layers(rows, context)
    return predictions


def _get_alternatives(
    rows: Sequence[Row], mark: TokenMention, metonymic: TokenMention | None, skipped: Counter[str]
) -> list[tuple[EntityId, str, tuple[str, ...]]]:
    """Return entity, type and further categories of each alternative link of a gold mention.

    `metonymic` is the metonymic sense of the same span, or None. A metonymic sense is dropped and counted in `skipped`
    if it or the literal sense has no link.
    """
    alternatives = {link: (link, mark.type, ()) for link in _get_first_links(rows, mark, "NEL-LIT", skipped)}
    if metonymic is None:
        return list(alternatives.values())
    metonymic_links = _get_first_links(rows, metonymic, "NEL-METO", skipped)
    if metonymic_links == (UNLINKED,) or UNLINKED in alternatives:
        skipped["metonymic senses without link, or of mentions without a literal link"] += 1
        return list(alternatives.values())
    return [
        *alternatives.values(),
        *((link, metonymic.type, (METONYMIC,)) for link in metonymic_links if link not in alternatives),
    ]


def _get_first_links(
    rows: Sequence[Row], mark: TokenMention, column: str, skipped: Counter[str]
) -> tuple[EntityId, ...]:
    """Return the links in a column at the first token of a mention.

    Mentions whose tokens have different links are counted in `skipped`; only the link of the first token is used.
    """
    cells = [row.cells.get(column, "_") for row in rows[mark.start : mark.end]]
    skipped["mentions whose tokens have different links (the first counts)"] += len(set(cells)) > 1
    return parse_links(cells[0])


def _get_categories(rows: Sequence[Row], mark: TokenMention, skipped: Counter[str]) -> tuple[str, ...]:
    """Return the fine type, if it is the same for all tokens, and the flags of a mention as categories.

    Mentions of a part of a token or with several fine types are kept and counted in `skipped`.
    """
    flags = dict.fromkeys(
        flag for row in rows[mark.start : mark.end] for flag in row.flags if flag not in _LAYOUT_FLAGS
    )
    skipped["mentions of a part of a token (read as the whole token)"] += any(f.startswith("Partial-") for f in flags)
    fine_tags = [row.cells.get("NE-FINE-LIT", "_") for row in rows[mark.start : mark.end]]
    fine_type = fine_tags[0].partition("-")[2]
    is_uniform = fine_tags[0] not in OUTSIDE and all(tag.partition("-")[2] == fine_type for tag in fine_tags)
    if not is_uniform and any(tag not in OUTSIDE for tag in fine_tags):
        skipped["mentions with several fine types"] += 1
    return (*((f"fine:{fine_type}",) if is_uniform else ()), *(_DISTANCE.sub(r"LED:\1", flag) for flag in flags))


def _count_other_layers(rows: Sequence[Row], context: ReadContext) -> None:
    """Count the nested mentions and components, which are not read, as skipped."""
    separate_context = context._replace(skipped=Counter())
    context.skipped["nested mentions"] += len(read_mentions(rows, "NE-NESTED", separate_context))
    context.skipped["components of mentions"] += len(read_mentions(rows, "NE-FINE-COMP", separate_context))


def _count_flags(rows: Sequence[Row], skipped: Counter[str]) -> None:
    """Count the flags that are dropped, because a corpus cannot store them, in `skipped`."""
    for row in rows:
        skipped["flags for the end of a sentence"] += len({"EndOfSentence", "PySBDSegment"} & set(row.flags))
        if row.cells.get("NE-COARSE-LIT", "_") in OUTSIDE and row.cells.get("NE-COARSE-METO", "_") in OUTSIDE:
            skipped["flags of tokens outside mentions"] += len(set(row.flags) - set(_LAYOUT_FLAGS))


def _has_gold(source: ByteSource) -> bool:
    """Return whether the first bytes name documents and missing spaces, and no cell has several links (a ranking)."""
    head = source.first_bytes
    rows = [line.split(b"\t") for line in head.split(b"\n") if line.count(b"\t") > 1]
    names = rows[0] if rows else []
    link_columns = [names.index(column) for column in (b"NEL-LIT", b"NEL-METO") if column in names]
    has_rankings = any(b"|" in row[index] for row in rows[1:-1] for index in link_columns if index < len(row))
    return b"document_id" in head and b"NoSpaceAfter" in head and not has_rankings


FORMAT = Format(
    title="HIPE-2022 TSV",
    suffix=".hipe.tsv",
    markers=("TOKEN", "NE-COARSE-LIT", "NEL-LIT"),
    recognises=recognises,
    has_gold=_has_gold,
    read_corpus=lambda source, text: read_token_corpus(source, _read_labels),
    read_run=lambda source: read_token_run(source, _read_predictions),
    read_run_with_gold=lambda source, gold: read_token_run(source, _read_predictions, gold()),
    needs_gold_rows=True,
    description="One token per line with columns for mentions, links and flags, as in the HIPE shared tasks.",
    sample=Sample.from_text(
        "sample.tsv",
        "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\t"
        "NE-FINE-COMP\tNE-NESTED\tNEL-LIT\tNEL-METO\tMISC\n# hipe2022:document_id = a\n"
        "Ada\tB-pers\tO\tB-pers.ind\tO\tO\tO\tQ7259\t_\t_\nmet\tO\tO\tO\tO\tO\tO\t_\t_\t_\n",
    ),
)
