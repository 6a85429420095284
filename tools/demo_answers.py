"""Writes the stored answer sets of the demo corpus (perfect, prior, noisy) next to its gold.jsonl.

Run it after every change of gold.jsonl, prior_table.tsv, the starter pack or the linker `prior`, whose answers the
second set is; the same input always gives the same files.
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

FOLDER = Path(__file__).resolve().parent.parent / "src" / "karat" / "datasets" / "demo_data"
SEED = 20
UNANSWERED = "web-06"
"""The document that the noisy system leaves out."""
TIMED_OUT = "encyc-03"
"""The document on which the noisy system fails."""

MISTAKES = {"none": 0.59, "missed": 0.15, "moved": 0.10, "confused": 0.12, "nil": 0.04}
"""How often the noisy system makes which mistake with a mention of the solution."""
SPURIOUS = 0.08
"""How often it marks a conspicuous word that is no mention."""

NO_LINK = ""
"""The entity of a mention that is marked but not linked; None is NIL."""

WORD = re.compile(r"\w+")

Prior: TypeAlias = "dict[str, list[Candidate]]"


class Candidate(NamedTuple):
    """An entity that a surface form may stand for, and how often it does."""

    entity: str
    share: float


class Answer(NamedTuple):
    """A span, its entity (None for NIL, `NO_LINK` for none) and what the system knows about the choice."""

    start: int
    end: int
    entity: str | None
    score: float | None = None
    candidates: tuple[Candidate, ...] = ()

    def row(self) -> dict[str, Any]:
        """The answer as it stands in the file: fields without a value are left out."""
        row: dict[str, Any] = {"start": self.start, "end": self.end}
        if self.entity != NO_LINK:
            row["entity"] = self.entity
        if self.score is not None:
            row["score"] = self.score
        if self.candidates:
            row["candidates"] = [{"entity": c.entity, "score": c.share} for c in self.candidates]
        return row


class Document(NamedTuple):
    """A text and the answers that a perfect system gives for it, in text order."""

    id: str
    text: str
    solution: tuple[Answer, ...]


class Reply(NamedTuple):
    """What one system says about one document."""

    id: str
    answers: tuple[Answer, ...] = ()
    error: str | None = None

    def row(self) -> dict[str, Any]:
        """The reply as it stands in the file."""
        if self.error is not None:
            return {"id": self.id, "error": self.error}
        return {"id": self.id, "answers": [answer.row() for answer in self.answers]}


def solution(labels: Iterable[dict[str, Any]]) -> Iterator[Answer]:
    """The first label of every unit, without parts of other segmentations."""
    seen = set[str]()
    for label in labels:
        unit = label.get("unit")
        if "parent" in label or unit in seen:
            continue
        if unit is not None:
            seen.add(unit)
        yield Answer(label["start"], label["end"], label.get("entity", NO_LINK))


def read_gold(path: Path) -> list[Document]:
    """All documents of the corpus."""
    # Not splitlines(): a text may hold characters that it takes for line ends.
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    rows = [json.loads(line) for line in lines[1:]]
    return [Document(row["id"], row["text"], tuple(solution(row["labels"]))) for row in rows]


def read_prior(path: Path) -> Prior:
    """The entities of every surface form, most frequent first."""
    prior: Prior = {}
    for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n")[1:]:
        surface, entity, share = line.split("\t")
        prior.setdefault(surface, []).append(Candidate(entity, float(share)))
    return {surface: sorted(candidates, key=lambda c: c.share, reverse=True) for surface, candidates in prior.items()}


def with_candidates(document: Document, answer: Answer, prior: Prior) -> Answer:
    """The answer with what its surface form may stand for, where that is ambiguous and its own entity is among it."""
    candidates = tuple(prior.get(document.text[answer.start : answer.end], ()))
    several = len(candidates) > 1 and answer.entity in {candidate.entity for candidate in candidates}
    return answer._replace(candidates=candidates) if several else answer


def perfect(documents: Iterable[Document], prior: Prior) -> Iterator[Reply]:
    """Everything right."""
    for document in documents:
        yield Reply(document.id, tuple(with_candidates(document, answer, prior) for answer in document.solution))


def moved(answer: Answer, text: str, random: Random) -> Answer:
    """The answer with a word too few or too many; as it is if its text has no other word to add."""
    words = [match.span() for match in WORD.finditer(text)]
    inside = [span for span in words if answer.start <= span[0] and span[1] <= answer.end]
    choices = []
    if len(inside) > 1:
        choices += [(inside[1][0], answer.end), (answer.start, inside[-2][1])]
    before = [start for start, end in words if end <= answer.start]
    after = [end for start, end in words if start >= answer.end]
    if before:
        choices.append((before[-1], answer.end))
    if after:
        choices.append((answer.start, after[0]))
    if not choices:
        return answer
    start, end = random.choice(choices)
    return answer._replace(start=start, end=end)


def spurious(document: Document, entities: list[str], random: Random) -> Iterator[Answer]:
    """Words outside the solution, linked to anything."""
    for match in WORD.finditer(document.text):
        start, end = match.span()
        free = all(end <= a.start or a.end <= start for a in document.solution)
        likely = match[0][0].isupper() or len(match[0]) > 5
        if free and likely and random.random() < SPURIOUS:
            yield Answer(start, end, random.choice(entities), round(random.uniform(0.05, 0.6), 3))


def confused(answer: Answer, entities: list[str], random: Random) -> Answer:
    """The answer with another entity; every second time the right one was at least a candidate."""
    other = random.choice([entity for entity in entities if entity != answer.entity])
    likely = (Candidate(other, 0.6), Candidate(answer.entity, 0.4)) if answer.entity and random.random() < 0.5 else ()
    return answer._replace(entity=other, candidates=likely)


def disturbed(document: Document, entities: list[str], prior: Prior, random: Random) -> Iterator[Answer]:
    """The solution with every kind of mistake; a mention has at most one of them."""
    kinds = random.choices(list(MISTAKES), list(MISTAKES.values()), k=len(document.solution))
    for kind, answer in zip(kinds, document.solution, strict=True):
        wrong = answer._replace(score=round(random.uniform(0.15, 0.75), 3))
        if kind == "none":
            sure = with_candidates(document, answer, prior)
            yield sure._replace(score=round(random.uniform(0.45, 0.99), 3))
        elif kind == "moved":
            yield moved(wrong, document.text, random)
        elif kind == "confused":
            yield confused(wrong, entities, random)
        elif kind == "nil":
            yield wrong._replace(entity=None if answer.entity else random.choice(entities))


def noisy(documents: Iterable[Document], prior: Prior, random: Random) -> Iterator[Reply]:
    """A system that is mostly right, in no particular order, and not there for every document."""
    shuffled = list(documents)
    entities = sorted({a.entity for d in shuffled for a in d.solution if a.entity})
    random.shuffle(shuffled)
    for document in shuffled:
        if document.id == UNANSWERED:
            continue
        if document.id == TIMED_OUT:
            yield Reply(document.id, error="timeout")
            continue
        answers = [*disturbed(document, entities, prior, random), *spurious(document, entities, random)]
        yield Reply(document.id, tuple(sorted(answers, key=lambda a: (a.start, -a.end))))


def write(folder: Path, system: str, replies: Iterable[Reply]) -> None:
    """One file of answers."""
    header = {"karat": "answers/1", "about": {"system": system, "version": "1", "corpus": "demo"}}
    rows = [header, *(reply.row() for reply in replies)]
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows]
    (folder / f"{system}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    """Write all three."""
    documents = read_gold(FOLDER / "gold.jsonl")
    prior = read_prior(FOLDER / "prior_table.tsv")
    write(FOLDER, "perfect", perfect(documents, prior))
    write(FOLDER, "noisy", noisy(documents, prior, Random(SEED)))
    run = karat.link("prior", karat.load(FOLDER / "gold.jsonl"), substitute="popularity")
    karat.save(replace(run, about={**run.about, "corpus": "demo"}), FOLDER / "prior.jsonl")


if __name__ == "__main__":
    main()
