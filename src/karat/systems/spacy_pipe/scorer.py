"""The scorer `karat.linker_scorer.v1` of spaCy configs: Karat's measures of `nlp.evaluate`, with their signature.

spaCy evaluates the annotations of this module at run time, so it does not postpone them.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from karat.formats.parsing.duplicates import merge_duplicate_labels
from karat.formats.plugins.spacy_docbin import read_doc
from karat.model.corpus import Corpus
from karat.model.document import Document, Response
from karat.model.run import Run

_GIVEN_MENTIONS: Final = (
    "the predicted mentions are exactly the gold mentions, so the scores measure linking only. spaCy's entity_linker "
    "is scored on the gold mentions unless its config has use_gold_ents = false"
)
_GOLD_IN_ENTS: Final = "documents whose gold labels were read from doc.ents, since no reference has the span group"


def make_linker_scorer(
    profile: str = "karat", view: str = "strong", settings: dict[str, Any] | None = None
) -> Callable[..., dict[str, Any]]:
    """Return a function that scores spaCy examples under a profile of Karat, with settings that differ from it.

    The scores `karat_p`, `karat_r` and `karat_f1` are micro-averages over the `view`, such as `strong[in-kb]`.
    `karat_measures` has all measures of the profile by name, `karat_signature` says how they were computed, and
    `karat_notes` what was skipped or looks wrong. An undefined score is None.
    """
    from karat.evaluation.request import Request

    names = {f"karat_{short}": f"{view}:micro.{short}" for short in ("p", "r", "f1")}
    options: dict[str, Any] = {"profile": profile, "settings": settings, "extra_measures": list(names.values())}
    Request.from_options(**options)  # raises an error of unknown names when the pipeline is created

    def score_links(examples: Iterable[Any], spans_key: str | None = None, **_: Any) -> dict[str, Any]:  # noqa: ANN401
        from karat.evaluation.evaluation import score_run

        examples = list(examples)
        pairs = [(example.reference, example.predicted) for example in examples]
        if not pairs:
            return dict.fromkeys(names)
        corpus, run = _convert_docs(pairs, spans_key)
        result = score_run(corpus, run, **options)
        return {
            **{key: result[measure] for key, measure in names.items()},
            "karat_measures": {measure: result[measure] for measure in result.table_measures},
            "karat_signature": str(result.signature),
            "karat_notes": [
                *result.notes,
                *(f"{description}: {count}" for description, count in result.skipped.items()),
                *([_GIVEN_MENTIONS] if spans_key is None and _has_gold_mentions(examples) else []),
            ],
        }

    return score_links


def _has_gold_mentions(examples: Iterable[Any]) -> bool:
    """Return whether the predicted mentions of all examples are the gold mentions, of which there is at least one.

    spaCy does not tell scorers whether it replaced the mentions. Gold mentions that no tokens of the prediction have
    cannot be predicted, and do not count.
    """
    spans = [
        tuple({(span.start, span.end) for span in ents} for ents in (gold, example.predicted.ents))
        for example in examples
        for gold in example.get_aligned_ents_and_ner()[:1]
    ]
    return any(gold for gold, _ in spans) and all(gold == predicted for gold, predicted in spans)


def _convert_docs(pairs: Iterable[tuple[Any, Any]], spans_key: str | None) -> tuple[Corpus, Run]:
    """Convert pairs of reference and predicted `Doc` to a corpus and a run.

    Documents have the ids of their references if these have different ones, and numbers otherwise. Gold labels are the
    entities if no reference has the span group `spans_key`.
    """
    gold_skipped: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    pairs = list(pairs)
    gold_key = spans_key
    if spans_key is not None and not any(spans_key in reference.spans for reference, _ in pairs):
        gold_key = None
        gold_skipped[_GOLD_IN_ENTS] += len(pairs)
    contents = [
        (reference, predicted, read_doc(reference, gold_skipped, gold_key), read_doc(predicted, skipped, spans_key))
        for reference, predicted in pairs
    ]
    ids = [gold.id for _, _, gold, _ in contents]
    if None in ids or len(set(ids)) < len(ids):
        ids = [str(number) for number in range(1, len(ids) + 1)]
    documents, responses = [], []
    for id, (reference, _, gold, content) in zip(ids, contents, strict=True):
        labels = merge_duplicate_labels(gold.to_labels(gold_skipped), gold_skipped)
        documents.append(Document(str(id), reference.text, labels, meta=gold.meta))
        responses.append(Response(str(id), content.predictions))
    texts = [predicted.text for _, predicted, _, _ in contents]
    return (
        Corpus.from_reader(documents, name="examples", skipped=gold_skipped),
        Run.from_reader(responses, name="pipeline", skipped=skipped, texts=texts),
    )
