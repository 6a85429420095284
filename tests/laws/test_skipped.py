"""Notes count each item that is not scored once, under the first reason."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from tests import strategies

SETTINGS = st.fixed_dictionaries(
    {"unlinked": st.sampled_from(["absent", "nil"])},
    optional={
        "threshold": st.sampled_from(["0.5", ">0.25"]),
        "nil": st.just("dropped"),
        "overlaps": st.just("longest"),
        "duplicates": st.just("once"),
        "task": st.just("d2kb"),
        "drop": st.just("score<0.75"),
    },
)
REASONS = (
    "predictions below the threshold",
    "predictions linked to NIL",
    "unlinked predictions",
    "predictions inside or across longer ones",
    "predictions outside the evaluation span",
    "predictions in unknown documents",
    "duplicate predictions (one counts)",
    "predictions off the gold mentions",
    "predictions dropped by score<0.75",
)

GOLD_REASONS = (
    "gold labels linked to NIL",
    "unlinked gold labels",
    "gold labels inside or across longer ones",
    "labels outside the evaluation span",
)


@st.composite
def pairs_outside(draw):
    """A corpus with evaluation spans but without unlinked spans, and a run with repeated and unknown predictions."""
    documents, responses = [], [Response("unknown", (Prediction(0, 1, "Q1", score=1),))]
    for document in draw(strategies.pairs(plain=True))[0]:
        predictions = draw(strategies.predictions(len(document.text), plain=False)) * draw(st.integers(1, 2))
        inner = draw(st.none() | st.just((1, len(document.text) - 1)))
        documents.append(replace(document, evaluation_span=inner))
        responses.append(Response(document.id, predictions))
    return Corpus.from_documents(documents), Run.from_responses(responses)


@given(pair=pairs_outside(), settings=SETTINGS)
def test_predictions_are_scored_or_skipped_for_one_reason(pair, settings):
    corpus, run = pair
    result = karat.evaluate(corpus, run, settings=settings, measures="weak:micro.f1", allow_unknown=True)
    counts = result.counts("weak")
    n_skipped = sum(result.skipped.get(reason, 0) for reason in REASONS)
    assert counts.matched_predictions + counts.unmatched_predictions + n_skipped == len(run.predictions)


def test_links_on_unlinked_gold_spans_are_counted():
    """Such links are neither correct nor wrong, except where another label has the same span."""
    labels = (Label(0, 3, "Q1"), Label(8, 11), Label(12, 15), Label(12, 15, "Q3"))
    corpus = Corpus.from_documents([Document("d", "Ada met Bob. Eve.", labels)])
    links = [Prediction(0, 3, "Q1"), Prediction(8, 11, "Q2"), Prediction(12, 15, "Q3"), Prediction(8, 11)]
    result = karat.evaluate(corpus, Run.from_responses([Response("d", tuple(links))]))
    assert result.skipped == {"links on unlinked gold spans (ignored where links are compared)": 1}
    assert result.counts("strong").matched_predictions == 2


@given(pair=pairs_outside(), settings=SETTINGS)
def test_gold_labels_are_scored_or_skipped_for_one_reason(pair, settings):
    corpus, run = pair
    result = karat.evaluate(corpus, run, settings=settings, measures="weak:micro.f1", allow_unknown=True)
    counts = result.counts("weak")
    n_skipped = sum(result.skipped.get(reason, 0) for reason in GOLD_REASONS)
    assert counts.matched_gold + counts.unmatched_gold + n_skipped == len(corpus.labels)
