"""Suggestions for annotators: the pooled mentions of systems, whose sources annotators never see."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from karat.evaluation.id_bridge import build_link_options
from karat.kb.ids.normal_forms import restore_fragment
from karat.kb.protocol import KB
from karat.matching.read.read_options import canonical_ids, find_nil_items
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, EntityId, Label
from karat.model.run import Run
from karat.model.span import Span
from karat.model.tables.columns import NIL, NO_LINK
from karat.protocols.annotation.project import Suggestion


def pool_suggestions(
    corpus: Corpus, runs: Sequence[Run], spans: Mapping[str, Span], counts: Counter[str], *, kb: KB | None = None
) -> dict[str, tuple[Suggestion, ...]]:
    """Return the distinct mentions that systems predicted in some documents, by document id.

    `spans` has the part of each document that is annotated. Mentions with the same span and entity are one suggestion;
    ids are normalised as in scoring, by `kb` if there is one, so that the spelling does not reveal the source. An
    unlinked mention is a suggestion only if no system links its span. `counts` gets the numbers of predictions by what
    became of them.
    """
    link_options = build_link_options(corpus, runs, kb)
    sources: dict[str, dict[tuple[int, int, EntityId], list[str]]] = defaultdict(dict)
    for run in runs:
        mentions = run.predictions
        names = list(map(restore_fragment, canonical_ids(mentions.names.to_pylist(), link_options)))
        is_nil = find_nil_items(mentions, link_options.nil_ids).tolist()
        ids = run.ids.to_pylist()
        columns = (mentions.document, mentions.start, mentions.end, mentions.entity)
        for row, (document, start, end, entity) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            span = spans.get(ids[document])
            if span is None:
                counts["predictions in documents that were not drawn"] += 1
            elif start < span.start or end > span.end:
                counts["predictions outside the evaluation span"] += 1
            else:
                counts["predictions"] += 1
                link: EntityId = (
                    None if is_nil[row] or entity == NIL else UNLINKED if entity == NO_LINK else names[entity]
                )
                names_of_sources = sources[ids[document]].setdefault((start, end, link), [])
                if run.name not in names_of_sources:
                    names_of_sources.append(run.name)
    suggestions = {document: _build_suggestions(mentions, kb) for document, mentions in sources.items()}
    counts["suggestions"] += sum(map(len, suggestions.values()))
    return suggestions


def _build_suggestions(
    mentions: Mapping[tuple[int, int, EntityId], Sequence[str]], kb: KB | None
) -> tuple[Suggestion, ...]:
    """Return the suggestions of one document by position, longer ones first; `mentions` maps them to their sources."""
    linked = {(start, end) for start, end, entity in mentions if entity is not UNLINKED}
    distinct = sorted(
        (mention for mention in mentions if mention[2] is not UNLINKED or mention[:2] not in linked),
        key=lambda mention: (mention[0], -mention[1], str(mention[2])),
    )
    ids = [entity for _, _, entity in distinct if isinstance(entity, str)]
    names = {} if kb is None else dict(zip(ids, kb.names(ids), strict=True))
    return tuple(
        Suggestion(
            f"s{number}",
            Label(start, end, entity, name=names.get(entity) if isinstance(entity, str) else None),
            tuple(mentions[start, end, entity]),
        )
        for number, (start, end, entity) in enumerate(distinct)
    )
