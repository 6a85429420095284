"""Checks of the examples in the text and footnotes of the fair evaluation, in the texts of benchmarks and outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import Final

from karat.data.load import load, load_gold_and_runs
from karat.model.corpus import Corpus
from karat.model.document import Document, Label, Prediction
from karat.protocols.papers.output_files import ELEVANT_FORMAT, ELEVANT_STEMS, get_elevant_path
from karat.protocols.suites.fair_2023.claims import ClaimOutcome
from karat.protocols.suites.fair_2023.measurements import BENCHMARKS, SPOTLIGHT, Measurements

AIDA_TEXTS: Final = "zelda/conll/test_aida-b.conll"
"""AIDA-CoNLL with its texts, which ELEVANT's file masks."""

ORIGINAL_MSNBC: Final = "bat/MSNBC"
"""MSNBC before its update."""

_SPORTS: Final = re.compile(
    r"\b(soccer|rugby|cricket|tennis|golf|basketball|badminton|hockey|football|skiing|ski jumping|squash|bobsleigh|"
    r"skating|boxing)\b",
    re.IGNORECASE,
)
_DOMAINS: Final = {
    "CEL": "celebrities",
    "MUS": "music",
    "BUS": "business",
    "SPO": "sports",
    "POL": "politics",
}
"""The domains of KORE50, by the beginning of its sentences' names."""
_SAME_ARTICLE: Final = 0.5
"""Smallest share of common words of two versions of an article that Karat takes for one text."""
_WRONG_LINKS: Final = (
    ("sports events", "sports"),
    ("Spanish police", "Spanish police"),
    ("South Korea", "South"),
    ("Columbus, Ohio", "Columbus"),
)
"""Texts in which DBpedia Spotlight links a part wrongly, and the part."""


def check_sports(scores: Measurements) -> ClaimOutcome:
    """Check the share of articles of AIDA-CoNLL whose headline names a kind of sport."""
    headlines = [document.text.split("\n")[0] for document in load(scores.data.path / AIDA_TEXTS)]
    n_sports = sum(_SPORTS.search(headline) is not None for headline in headlines)
    percent = 100 * n_sports / len(headlines)
    value = f"{n_sports} of {len(headlines)} headlines ({percent:.0f}%) name a kind of sport"
    return ClaimOutcome(value, round(percent) == 44)


def check_domains(scores: Measurements) -> ClaimOutcome:
    """Check the domains of KORE50, which the names of its sentences abbreviate."""
    codes = {_find_code(document) for document in scores.load_benchmark("kore50")}
    names = [_DOMAINS.get(code, code) for code in sorted(codes)]
    return ClaimOutcome(", ".join(names), codes == set(_DOMAINS))


def _find_code(document: Document) -> str:
    """Return the letters before the number in the name of a sentence of KORE50, as `BUS` in `…/BUS01#char=0,`."""
    match = re.search(r"/([A-Z]+)\d+#", document.meta.get("title", ""))
    return "" if match is None else match[1]


def check_changed_articles(scores: Measurements) -> ClaimOutcome:
    """Check that some articles of the updated MSNBC have another text than the original ones."""
    originals = [_find_words(document.text) for document in load(scores.data.path / ORIGINAL_MSNBC)]
    updated = [_find_words(document.text) for document in scores.load_benchmark("msnbc-updated")]
    overlaps = [max(len(words & other) / len(words | other) for other in originals) for words in updated]
    n_changed = sum(overlap < _SAME_ARTICLE for overlap in overlaps)
    value = f"{n_changed} of {len(overlaps)} have less than half of their words in common with any original article"
    return ClaimOutcome(value, n_changed > 1)


def _find_words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(re.findall(r"\w+", text.lower()))


def check_adjective_examples(scores: Measurements) -> ClaimOutcome:
    """Check which adjectives and which U.S. the original MSNBC annotates."""
    corpus = load(scores.data.path / ORIGINAL_MSNBC)
    adjectives = [word for word in ("Iraqi", "German", "Syrian") if any(_list_labels(corpus, word))]
    countries = [text for text in ("U.S. builder", "U.S. helicopter") if any(_list_labels(corpus, text, "U.S."))]
    value = f"annotated: {', '.join((*adjectives, *countries)) or 'none'}"
    return ClaimOutcome(value, not adjectives and countries == ["U.S. builder"])


def _list_labels(corpus: Corpus, text: str, surface: str | None = None) -> Iterator[Label]:
    """Yield the labels with exactly `surface`, by default `text`, at the beginning of each `text` of a corpus."""
    for document in corpus:
        for match in re.finditer(rf"\b{re.escape(text)}\b", document.text):
            span = (match.start(), match.start() + len(surface or text))
            yield from (label for label in document.labels if (label.start, label.end) == span)


def check_overlap_example(scores: Measurements) -> ClaimOutcome:
    """Check that the original MSNBC has overlapping labels of the same entity, such as `Frank Blake` and `Blake`."""
    pairs = [
        (document.text[first.start : first.end], document.text[second.start : second.end])
        for document in load(scores.data.path / ORIGINAL_MSNBC)
        for first, second in combinations(document.labels, 2)
        if first.start < second.end and second.start < first.end and first.entity == second.entity
    ]
    has_example = any({"Frank Blake", "Blake"} == set(pair) for pair in pairs)
    value = (
        f"{len(pairs)} overlapping pairs of one entity, {'with' if has_example else 'without'} Frank Blake and Blake"
    )
    return ClaimOutcome(value, has_example)


def check_split_example(scores: Measurements) -> ClaimOutcome:
    """Check that `Chatham, New Jersey` is one mention or two, `Chatham` and `New Jersey`."""
    for document in scores.load_benchmark("wiki-fair"):
        for whole in document.labels:
            if document.text[whole.start : whole.end] == "Chatham, New Jersey":
                parts = [label for label in document.labels if label.parent == whole.mention_id]
                texts = [document.text[label.start : label.end] for label in parts]
                entities = [label.entity == whole.entity for label in parts]
                value = f"Chatham, New Jersey, or {' and '.join(texts)}"
                return ClaimOutcome(value, texts == ["Chatham", "New Jersey"] and entities == [True, False])
    return ClaimOutcome("not annotated", holds=False)


def check_short_span(scores: Measurements) -> ClaimOutcome:
    """Check that Ambiverse detects only `Summer Olympics` in `1936 Summer Olympics`."""
    surfaces = [surface for surface, _ in _find_predictions(scores, "Ambiverse", "1936 Summer Olympics")]
    return ClaimOutcome(f"detected: {', '.join(surfaces) or 'nothing'}", surfaces == ["Summer Olympics"])


def check_wrong_links(scores: Measurements) -> ClaimOutcome:
    """Check the examples of wrong links of DBpedia Spotlight."""
    parts = [
        part
        for text, part in _WRONG_LINKS
        if any(surface == part for surface, _ in _find_predictions(scores, SPOTLIGHT, text))
    ]
    value = f"linked: {', '.join(parts) or 'none of them'}"
    return ClaimOutcome(value, len(parts) == len(_WRONG_LINKS))


def _find_predictions(scores: Measurements, system: str, text: str) -> Iterator[tuple[str, Prediction]]:
    """Yield the predictions of a system on the benchmarks that overlap `text`, with their surface."""
    for benchmark in BENCHMARKS.values():
        path = str(scores.data.path / get_elevant_path(ELEVANT_STEMS[system], benchmark))
        corpus, [run] = load_gold_and_runs(path, [path], gold_format=ELEVANT_FORMAT, predictions_format=ELEVANT_FORMAT)
        documents = {document.id: document.text for document in corpus if text in document.text}
        for response in run:
            document_text = documents.get(response.id, "")
            spans = [match.span() for match in re.finditer(re.escape(text), document_text)]
            for prediction in response.predictions:
                if any(prediction.start < end and start < prediction.end for start, end in spans):
                    yield document_text[prediction.start : prediction.end], prediction
