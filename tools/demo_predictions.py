"""Writer of the stored prediction sets of the demo corpus (perfect, prior, noisy), next to its gold.jsonl.

Run it after every change of gold.jsonl, prior_table.tsv, the starter snapshot or the linker `prior`, which predicts the
second set. The same input always gives the same files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import karat

FOLDER = Path(__file__).resolve().parent.parent / "src" / "karat" / "plugins" / "datasets" / "demo_data"
SEED = 20
UNANSWERED = "web-06"
"""The document for which the noisy system has no response."""
TIMED_OUT = "encyc-03"
"""The document on which the noisy system fails."""

MISTAKES = {"none": 0.59, "missed": 0.15, "moved": 0.10, "confused": 0.12, "nil": 0.04}
"""Probability of each mistake of the noisy system on a mention of the solution."""
SPURIOUS = 0.08
"""Probability that it marks a conspicuous word that is no mention."""

NO_LINK = ""
"""The entity of a mention that is marked but not linked; None is NIL."""

WORD = re.compile(r"\w+")

Prior: TypeAlias = "dict[str, list[Candidate]]"


class Candidate(NamedTuple):
    """An entity that a surface form may refer to, and the share of the links from the form that lead to it."""

    entity: str
    share: float


class Prediction(NamedTuple):
    """A span, its entity (None for NIL, `NO_LINK` for none), its score and its candidates."""

    start: int
    end: int
    entity: str | None
    score: float | None = None
    candidates: tuple[Candidate, ...] = ()

    def to_row(self) -> dict[str, Any]:
        """Return the prediction as an object of Karat's JSON, without empty fields."""
        row: dict[str, Any] = {"start": self.start, "end": self.end}
        if self.entity != NO_LINK:
            row["entity"] = self.entity
        if self.score is not None:
            row["score"] = self.score
        if self.candidates:
            row["candidates"] = [{"entity": c.entity, "score": c.share} for c in self.candidates]
        return row


class Document(NamedTuple):
    """A text and the predictions that a perfect system gives for it, in text order."""

    id: str
    text: str
    solution: tuple[Prediction, ...]


class Response(NamedTuple):
    """The response of one system for one document."""

    id: str
    predictions: tuple[Prediction, ...] = ()
    error: str | None = None

    def to_row(self) -> dict[str, Any]:
        """Return the response as an object of Karat's JSON: with its predictions, or with its error."""
        if self.error is not None:
            return {"id": self.id, "error": self.error}
        return {"id": self.id, "predictions": [prediction.to_row() for prediction in self.predictions]}


def select_solution(labels: Iterable[dict[str, Any]]) -> Iterator[Prediction]:
    """Yield the first label of every mention as a prediction, in text order; parts of mentions are excluded.

    `labels`: labels of a document as JSON objects.
    """
    seen = set[str]()
    for label in labels:
        mention_id = label.get("mention_id")
        if "parent" in label or mention_id in seen:
            continue
        if mention_id is not None:
            seen.add(mention_id)
        yield Prediction(label["start"], label["end"], label.get("entity", NO_LINK))


def read_gold(path: Path) -> list[Document]:
    """Read all documents of a gold file in Karat's JSONL, whose first line is the header."""
    # Not splitlines(): a text may hold characters that it takes for line ends.
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = [json.loads(line) for line in lines[1:]]
    return [Document(row["id"], row["text"], tuple(select_solution(row["labels"]))) for row in rows]


def read_prior(path: Path) -> Prior:
    """Read a table of surface form, entity and share; return the candidates of each form, the highest share first."""
    prior: Prior = {}
    for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n")[1:]:
        surface, entity, share = line.split("\t")
        prior.setdefault(surface, []).append(Candidate(entity, float(share)))
    return {surface: sorted(candidates, key=lambda c: c.share, reverse=True) for surface, candidates in prior.items()}


def add_candidates(document: Document, prediction: Prediction, prior: Prior) -> Prediction:
    """Return the prediction with candidates if its surface form has several and its entity is among them."""
    candidates = tuple(prior.get(document.text[prediction.start : prediction.end], ()))
    several = len(candidates) > 1 and prediction.entity in {candidate.entity for candidate in candidates}
    return prediction._replace(candidates=candidates) if several else prediction


def make_perfect_responses(documents: Iterable[Document], prior: Prior) -> Iterator[Response]:
    """Yield the response of a perfect system to every document, with candidates."""
    for document in documents:
        yield Response(
            document.id, tuple(add_candidates(document, prediction, prior) for prediction in document.solution)
        )


def move_span(prediction: Prediction, text: str, random: Random) -> Prediction:
    """Return the prediction with its span a random word too short or too long; unchanged if that is impossible."""
    words = [match.span() for match in WORD.finditer(text)]
    inside = [span for span in words if prediction.start <= span[0] and span[1] <= prediction.end]
    options = []
    if len(inside) > 1:
        options += [(inside[1][0], prediction.end), (prediction.start, inside[-2][1])]
    before = [start for start, end in words if end <= prediction.start]
    after = [end for start, end in words if start >= prediction.end]
    if before:
        options.append((before[-1], prediction.end))
    if after:
        options.append((prediction.start, after[0]))
    if not options:
        return prediction
    start, end = random.choice(options)
    return prediction._replace(start=start, end=end)


def make_spurious_predictions(document: Document, entities: list[str], random: Random) -> Iterator[Prediction]:
    """Yield predictions on some capitalised or long words outside the solution, with random entities and scores."""
    for match in WORD.finditer(document.text):
        start, end = match.span()
        free = all(end <= a.start or a.end <= start for a in document.solution)
        likely = match[0][0].isupper() or len(match[0]) > 5
        if free and likely and random.random() < SPURIOUS:
            yield Prediction(start, end, random.choice(entities), round(random.uniform(0.05, 0.6), 3))


def confuse_entity(prediction: Prediction, entities: list[str], random: Random) -> Prediction:
    """Return the prediction with a random wrong entity; half of the time the correct entity is a candidate."""
    other = random.choice([entity for entity in entities if entity != prediction.entity])
    likely = (
        (Candidate(other, 0.6), Candidate(prediction.entity, 0.4))
        if prediction.entity and random.random() < 0.5
        else ()
    )
    return prediction._replace(entity=other, candidates=likely)


def make_noisy_predictions(
    document: Document, entities: list[str], prior: Prior, random: Random
) -> Iterator[Prediction]:
    """Yield predictions for the mentions of the solution, each with at most one random mistake of `MISTAKES`."""
    kinds = random.choices(list(MISTAKES), list(MISTAKES.values()), k=len(document.solution))
    for kind, prediction in zip(kinds, document.solution, strict=True):
        wrong = prediction._replace(score=round(random.uniform(0.15, 0.75), 3))
        if kind == "none":
            sure = add_candidates(document, prediction, prior)
            yield sure._replace(score=round(random.uniform(0.45, 0.99), 3))
        elif kind == "moved":
            yield move_span(wrong, document.text, random)
        elif kind == "confused":
            yield confuse_entity(wrong, entities, random)
        elif kind == "nil":
            yield wrong._replace(entity=None if prediction.entity else random.choice(entities))


def make_noisy_responses(documents: Iterable[Document], prior: Prior, random: Random) -> Iterator[Response]:
    """Yield the responses of a mostly correct system, in random order.

    `UNANSWERED` has no response, and the response to `TIMED_OUT` is an error.
    """
    shuffled = list(documents)
    entities = sorted({a.entity for d in shuffled for a in d.solution if a.entity})
    random.shuffle(shuffled)
    for document in shuffled:
        if document.id == UNANSWERED:
            continue
        if document.id == TIMED_OUT:
            yield Response(document.id, error="timeout")
            continue
        predictions = [
            *make_noisy_predictions(document, entities, prior, random),
            *make_spurious_predictions(document, entities, random),
        ]
        yield Response(document.id, tuple(sorted(predictions, key=lambda a: (a.start, -a.end))))


def write_predictions(folder: Path, system: str, responses: Iterable[Response]) -> None:
    """Write the responses of a system to `SYSTEM.jsonl` in `folder`."""
    header = {"karat": "predictions/2", "metadata": {"system": system, "version": "1", "corpus": "demo"}}
    rows = [header, *(response.to_row() for response in responses)]
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
    (folder / f"{system}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Write the prediction files of the systems perfect, noisy and prior next to the gold file."""
    documents = read_gold(FOLDER / "gold.jsonl")
    prior = read_prior(FOLDER / "prior_table.tsv")
    write_predictions(FOLDER, "perfect", make_perfect_responses(documents, prior))
    write_predictions(FOLDER, "noisy", make_noisy_responses(documents, prior, Random(SEED)))
    run = karat.link("prior", karat.load(FOLDER / "gold.jsonl"), options={"substitute": "popularity"})
    karat.save(replace(run, metadata={**run.metadata, "corpus": "demo"}), FOLDER / "prior.jsonl")


if __name__ == "__main__":
    main()
