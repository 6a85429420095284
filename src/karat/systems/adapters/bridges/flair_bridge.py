"""Bridge to Flair's entity linkers.

`bridge_loop.py` runs it with the Python of that package; it does not import Karat.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from inspect import signature
from typing import Any

UNKNOWN = "<unk>"  # Flair's label for an entity that the linker does not know
MENTION = "<mention>"  # the label of a mention before it is linked


def open_linker(model: str, tagger: str, top_k: str) -> Callable[[str, list[list[int]]], list[dict[str, Any]]]:
    """Load a linker and return a function that links given spans of a text, or those that the tagger finds.

    `model`, `tagger`: names or files of Flair models; the tagger is loaded when it is first needed. `top_k`: number of
    candidates, if the linker ranks several.
    """
    with redirect_stdout(sys.stderr):  # Flair logs to standard output, which belongs to the responses
        from flair.data import Sentence
        from flair.nn import Model

        linker = Model.load(model)
    taggers: list[Any] = []

    def link(text: str, spans: list[list[int]]) -> list[dict[str, Any]]:
        sentence = Sentence(text)
        if spans:
            mentions = [(start, end, _get_tokens(sentence, start, end), "") for start, end in spans]
        else:
            if not taggers:
                taggers.append(Model.load(tagger))
            taggers[0].predict(sentence)
            mentions = [
                (span.start_position, span.end_position, span.tokens, span.get_label(taggers[0].label_type).value)
                for span in sentence.get_spans(taggers[0].label_type)
            ]
        return _link_mentions(linker, sentence, mentions, int(top_k))

    def predict(text: str, spans: list[list[int]]) -> list[dict[str, Any]]:
        with redirect_stdout(sys.stderr):
            return link(text, spans)

    return predict


def _get_tokens(sentence: Any, start: int, end: int) -> list[Any]:  # noqa: ANN401  # of a package that is not installed here
    """Return the tokens that a span of the text touches."""
    return [token for token in sentence.tokens if token.start_position < end and token.end_position > start]


def _link_mentions(
    linker: Any,  # noqa: ANN401  # of a package that is not installed here
    sentence: Any,  # noqa: ANN401
    mentions: list[tuple[int, int, list[Any], str]],
    top_k: int,
) -> list[dict[str, Any]]:
    """Return a prediction in Karat's JSON for each mention: start, end, tokens and type, which may be empty."""
    from flair.data import Span

    layer, value = _get_input_label(linker)
    linked = [(mention, Span(mention[2]) if mention[2] else None) for mention in mentions]
    for (_, _, _, mention_type), span in linked:
        if span is not None and not span.get_labels(layer):
            span.add_label(layer, value or mention_type or MENTION)
    if any(span is not None for _, span in linked):
        linker.predict(sentence, **({"top_k": top_k} if "top_k" in signature(linker.predict).parameters else {}))
    predictions = []
    for (start, end, _, mention_type), span in linked:
        labels = [] if span is None else span.get_labels(linker.label_type)
        types = {"types": [mention_type]} if mention_type else {}
        predictions.append(
            {"start": start, "end": end, **types, **_to_link([label for label in labels if label.value != MENTION])}
        )
    return predictions


def _get_input_label(linker: Any) -> tuple[str, str]:  # noqa: ANN401
    """Return label type and value that mark a mention for the linker; an empty value stands for any type.

    A linker of biomedical mentions may accept only some types. Any other linker looks at the spans of a label type, by
    default the type of its own labels, which must not be taken for links.
    """
    types = getattr(linker, "entity_label_types", None)
    if types:
        layer, values = next(iter(types.items()))
        return layer, next(iter(sorted(values)), "")
    layer = getattr(linker, "_span_label_type", None) or linker.label_type
    return layer, MENTION if layer == linker.label_type else ""


def _to_link(labels: list[Any]) -> dict[str, Any]:
    """Return entity, score and candidates of labels, the best first; an unknown entity is NIL, and no label no link."""
    if not labels:
        return {}
    linked_labels = [label for label in labels if label.value != UNKNOWN]
    candidates = (
        [{"entity": label.value, "score": float(label.score)} for label in linked_labels] if len(labels) > 1 else []
    )
    entity = None if labels[0].value == UNKNOWN else labels[0].value
    return {"entity": entity, "score": float(labels[0].score), **({"candidates": candidates} if candidates else {})}
