"""Differences between the default profile, ELEVANT's program and its paper: small examples with the counts of each.

docs/how-to/from-elevant.md prints this table, and tests/golden/test_fair.py runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat import UNLINKED, Corpus, Document, Label, Prediction, Response, Result, Run, evaluate
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.document import EntityId
from karat.model.results.result import WeightSums

PROFILES = ("karat", "elevant", "elevant-paper")


class Mention(NamedTuple):
    """A mention: its text (at its first occurrence), its entity, and further fields of its label."""

    text: str
    entity: EntityId = UNLINKED
    label_fields: Mapping[str, Any] = {}

    @property
    def description(self) -> str:
        """The mention as the documentation shows it, such as `Ulm → Q3012 (optional)`."""
        link = "no link" if self.entity is UNLINKED else self.entity or "NIL"
        flags = [_describe_field(name, value) for name, value in self.label_fields.items() if name != "mention_id"]
        return f"{self.text} → {link}" + (f" ({', '.join(flags)})" if flags else "")


def _describe_field(name: str, value: Any) -> str:  # noqa: ANN401  # a field of a label
    """Return a field of a label as text: `part` for a parent, the name of a flag, or the joined values."""
    if name == "parent":
        return "part"
    return name if value is True else ", ".join(value)


@dataclass(frozen=True)
class Difference:
    """One difference: its topic, an example, and the counts of each profile.

    `title`, `description`: topic and explanation.
    `text`, `gold`, `predictions`: the example, a document with mentions.
    `karat`, `elevant`, `paper`: expected counts with the profiles, as text.
    `query`: a view, a measure, or a category or mention type of a view, written `VIEW@FACET=VALUE`.
    `span`: evaluation span of the document, if any.
    `facts`: tables of the knowledge base that the example needs.
    """

    title: str
    description: str
    text: str
    gold: tuple[Mention, ...]
    predictions: tuple[Mention, ...]
    karat: str
    elevant: str
    paper: str
    query: str = "strong[in-kb]"
    span: tuple[int, int] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fact_descriptions(self) -> list[str]:
        """The popular entities and types that the example needs, as text."""
        popular = [f"{text} is popular for {', '.join(ids)}" for text, ids in self.facts.get("popular", {}).items()]
        return popular + [f"{entity} is {', '.join(kinds)}" for entity, kinds in self.facts.get("types", {}).items()]

    @property
    def expected_counts(self) -> dict[str, str]:
        """The expected counts as text, by profile."""
        return dict(zip(PROFILES, (self.karat, self.elevant, self.paper), strict=True))

    def compute_counts(self, profile: str) -> str:
        """Evaluate the example with a profile; return the counts or the score of the query, as text."""
        document = Document("d", self.text, tuple(map(self._to_label, self.gold)), evaluation_span=self.span)
        run = Run.from_responses([Response("d", tuple(map(self._to_prediction, self.predictions)))])
        name, _, group = self.query.partition("@")
        view, _, short = name.partition(":")
        facet, _, value = group.partition("=")
        result = evaluate(
            Corpus.from_documents([document]),
            run,
            profile=profile,
            kb=InMemoryKB.from_tables(**{"demonyms": (), **self.facts}),
            measures=[f"{view}:micro.f1"],
            by=[facet] if facet else [],
        )
        if short:
            score = result[f"{view}:{short}"]
            return "undefined" if score is None else f"{score:g}"
        return _format_group(result, view, facet, value) if facet else _format_counts(result.counts(view))

    def _to_label(self, mention: Mention) -> Label:
        """Return the gold label of a mention, at the first occurrence of its text."""
        start = self.text.index(mention.text)
        return Label(start, start + len(mention.text), mention.entity, **mention.label_fields)

    def _to_prediction(self, mention: Mention) -> Prediction:
        """Return the prediction of a mention, at the first occurrence of its text."""
        start = self.text.index(mention.text)
        return Prediction(start, start + len(mention.text), mention.entity)


def _format_group(result: Result, view: str, facet: str, value: str) -> str:
    """Return the counts of a group as text; for the facet `error`, the number of errors among possible ones."""
    groups = result.groups[facet][view]
    if facet != "error":
        return _format_counts(groups[value].counts if value in groups else None)
    group = groups[value]
    rate = f"{group.errors}" if group.total is None else f"{group.errors} of {group.total}"
    return rate + (f", {group.undecided} undecided" if group.undecided else "")


def _format_counts(counts: WeightSums | None) -> str:
    """Return true positives, false positives and false negatives as text; None counts as zeros."""
    if counts is None:
        return "tp 0, fp 0, fn 0"
    return f"tp {counts.matched_gold}, fp {counts.unmatched_predictions}, fn {counts.unmatched_gold}"


ULM = "Up to Ulm."
CHATHAM = "Chatham, New Jersey is small."
ROOT = Mention("Chatham, New Jersey", "Chatham Borough", {"mention_id": "r"})
PARTS = (Mention("Chatham", "Chatham Borough", {"parent": "r"}), Mention("New Jersey", "New Jersey", {"parent": "r"}))

DIFFERENCES = (
    Difference(
        "Cut words",
        "`elevant` widens spans to whole words (`spans=words`); the others require the exact span.",
        ULM,
        (Mention("Ulm", "Ulm"),),
        (Mention("Ul", "Ulm"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "The last character",
        "Widening never includes the last character of a text (here the m), so `elevant` has no match either.",
        "Up to Ulm",
        (Mention("Ulm", "Ulm"),),
        (Mention("Ul", "Ulm"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 0, fp 1, fn 1",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "Open quotes",
        "Widening excludes an unclosed double quote, but no other punctuation mark.",
        'He wrote "Ulm is old.',
        (Mention("Ulm", "Ulm"),),
        (Mention('"Ulm', "Ulm"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "Overwriting",
        "In `elevant` a mention looks up its span (`assignment=lookup`), and a widened span overwrites an exact "
        "one: the wrong prediction on Ul hides the correct one. The others match one to one.",
        ULM,
        (Mention("Ulm", "Ulm"),),
        (Mention("Ulm", "Ulm"), Mention("Ul", "Ulm (Montana)")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 0, fp 1, fn 1",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "Two predictions on one span",
        "In `elevant` only the last one in the file counts; in the others each prediction counts.",
        ULM,
        (Mention("Ulm", "Ulm"),),
        (Mention("Ulm", "Ulm (Montana)"), Mention("Ulm", "Ulm")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "NIL over an entity",
        "`elevant` filters [in-kb] after the lookup, which returns NIL; the others exclude NIL before matching.",
        ULM,
        (Mention("Ulm", "Ulm"),),
        (Mention("Ulm", "Ulm"), Mention("Ulm", None)),
        karat="tp 1, fp 0, fn 0",
        elevant="tp 0, fp 0, fn 1",
        paper="tp 1, fp 0, fn 0",
    ),
    Difference(
        "One prediction for two mentions",
        "In `elevant` several mentions may match the same prediction, by exact or widened span; in the others "
        "a prediction matches one mention.",
        "Up to Ulms tower.",
        (Mention("Ulm", "Ulm"), Mention("Ulms", "Ulm")),
        (Mention("Ulms", "Ulm"),),
        karat="tp 1, fp 0, fn 1",
        elevant="tp 2, fp 0, fn 0",
        paper="tp 1, fp 0, fn 1",
    ),
    Difference(
        "Two mentions on one span",
        "In `elevant` both match the prediction, which is correct for one and a wrong link for the other.",
        ULM,
        (Mention("Ulm", "Ulm", {"mention_id": "1"}), Mention("Ulm", "Ulm Minster", {"mention_id": "2"})),
        (Mention("Ulm", "Ulm"),),
        karat="tp 1, fp 0, fn 1",
        elevant="tp 1, fp 1, fn 1",
        paper="tp 1, fp 0, fn 1",
    ),
    Difference(
        "Unlinked predictions",
        "In `elevant` they are wrong links on a mention, and not counted elsewhere (`unlinked=entity`); in the "
        "others they count only in views that ignore links.",
        ULM,
        (Mention("Ulm", "Ulm"),),
        (Mention("Ulm"),),
        karat="tp 0, fp 0, fn 1",
        elevant="tp 0, fp 1, fn 1",
        paper="tp 0, fp 0, fn 1",
    ),
    Difference(
        "Gold outside the evaluation span",
        "`elevant` applies the span only to predictions that match no mention (`evaluation-span=unmatched`), "
        "the others to all labels and predictions.",
        "Ulm is old. Bonn is not.",
        (Mention("Bonn", "Bonn"),),
        (),
        karat="tp 0, fp 0, fn 0",
        elevant="tp 0, fp 0, fn 1",
        paper="tp 0, fp 0, fn 0",
        span=(0, 11),
    ),
    Difference(
        "Labels whose parent is missing",
        "In `elevant` neither they nor the predictions on them count; in the others they are independent mentions.",
        ULM,
        (Mention("Ulm", "Ulm", {"categories": ("missing-parent:7",)}),),
        (Mention("Ulm", "Ulm (Montana)"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 0, fp 0, fn 0",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "Labels that are each other's parent",
        "ELEVANT's readers link two labels on one span this way. In `elevant` they have no root and are not counted.",
        ULM,
        (
            Mention("Ulm", "Ulm", {"mention_id": "1", "categories": ("circular-parent:2",)}),
            Mention("Ulm", "Ulm Minster", {"mention_id": "2", "categories": ("circular-parent:1",)}),
        ),
        (Mention("Ulm", "Ulm"),),
        karat="tp 1, fp 0, fn 1",
        elevant="tp 0, fp 0, fn 0",
        paper="tp 1, fp 0, fn 1",
    ),
    Difference(
        "Predictions on a mention and on its parts",
        "In `elevant` predictions on the parts are not counted if the whole is correct; in the others one "
        "segmentation is selected, and predictions outside it are wrong.",
        CHATHAM,
        (ROOT, *PARTS),
        (Mention("Chatham, New Jersey", "Chatham Borough"), Mention("Chatham", "Chatham Borough")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "A wrong link on an optional part",
        "In `elevant` the mention is neither matched nor missed; in the others it is matched, since all its required "
        "parts are.",
        CHATHAM,
        (ROOT, PARTS[0], Mention("New Jersey", "New Jersey", {"parent": "r", "optional": True})),
        (Mention("Chatham", "Chatham Borough"), Mention("New Jersey", "Jersey")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 0, fp 1, fn 0",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "Optional mentions with required parts",
        "In `elevant` such a mention is missed if it has no prediction; in the others an optional mention never is.",
        CHATHAM,
        (Mention("Chatham, New Jersey", "Chatham Borough", {"mention_id": "r", "optional": True}), *PARTS),
        (),
        karat="tp 0, fp 0, fn 0",
        elevant="tp 0, fp 0, fn 1",
        paper="tp 0, fp 0, fn 0",
    ),
    Difference(
        "Division by zero",
        "ELEVANT's scores are 0 (`empty=zero`); in the default profile they are undefined.",
        ULM,
        (),
        (),
        karat="undefined",
        elevant="0",
        paper="0",
        query="strong[in-kb]:micro.f1",
    ),
    Difference(
        "Mentions near a spurious prediction",
        "With the filter [in-kb] `elevant` considers only required mentions with an entity, and without it all; the "
        "others consider all mentions of the view, optional or not.",
        "Up to old Ulm.",
        (Mention("old Ulm", "Ulm", {"optional": True}),),
        (Mention("Ulm", "Ulm"),),
        karat="1 of 1",
        elevant="0 of 1",
        paper="1 of 1",
        query="strong[in-kb]@error=ner-fp-wrong-span",
    ),
    Difference(
        "NIL in wrong spans",
        "In `elevant` an overlapping NIL is the same entity with a wrong span; in the others NIL is no entity.",
        "Up to old Ulm.",
        (Mention("old Ulm", None),),
        (Mention("Ulm", None),),
        karat="0 of 1",
        elevant="1 of 1",
        paper="0 of 1",
        query="strong@error=ner-fp-wrong-span",
    ),
    Difference(
        "Metonyms not linked to a location",
        "In `elevant` a wrong link is a metonym only if it links a location (`categories=prediction`); in the others "
        "the category of a mention does not depend on the prediction.",
        "Vienna signed.",
        (Mention("Vienna", "Government of Austria"),),
        (Mention("Vienna", "Vienna (song)"),),
        karat="1 of 1",
        elevant="0 of 0",
        paper="1 of 1",
        query="strong[in-kb]@error=disambiguation-metonymy",
        facts={
            "names": {"Government of Austria": "Government of Austria"},
            "types": {"Government of Austria": ["ORG"], "Vienna": ["LOC"], "Vienna (song)": ["WORK"]},
            "popular": {"Vienna": ["Vienna"]},
        },
    ),
    Difference(
        "Rare mentions not linked to a popular entity",
        "Likewise a wrong link is rare in `elevant` only if it links the most popular entity of the text.",
        "Far from Memphis.",
        (Mention("Memphis", "Men-nefer"),),
        (Mention("Memphis", "Memphis (band)"),),
        karat="1 of 1",
        elevant="0 of 0",
        paper="1 of 1",
        query="strong[in-kb]@error=disambiguation-rare",
        facts={
            "names": {"Men-nefer": "Men-nefer"},
            "types": {"Men-nefer": ["LOC"]},
            "popular": {"Memphis": ["Memphis (Tennessee)"]},
        },
    ),
    Difference(
        "Missing facts",
        "The most popular entity of Memphis is unknown. `elevant` tries the next categories down to other; in the "
        "others the mention is undecided at the first category that could apply, and is in no category.",
        "Far from Memphis.",
        (Mention("Memphis", "Men-nefer"),),
        (Mention("Memphis", "Memphis (band)"),),
        karat="0 of 0",
        elevant="1 of 1",
        paper="0 of 0",
        query="strong[in-kb]@error=disambiguation-other",
        facts={"names": {"Men-nefer": "Men-nefer"}, "types": {"Men-nefer": ["LOC"]}},
    ),
    Difference(
        "Undecided mentions",
        "Every profile counts undecided mentions separately from the errors.",
        "Far from Memphis.",
        (Mention("Memphis", "Men-nefer"),),
        (Mention("Memphis", "Memphis (band)"),),
        karat="0 of 0, 1 undecided",
        elevant="0 of 0, 1 undecided",
        paper="0 of 0, 1 undecided",
        query="strong[in-kb]@error=disambiguation-rare",
        facts={"names": {"Men-nefer": "Men-nefer"}, "types": {"Men-nefer": ["LOC"]}},
    ),
    Difference(
        "Partial names that are rare",
        "In the paper categories may overlap (`categories=all`); otherwise only the first that applies counts, here "
        "the partial name (until August 2024 ELEVANT tested for rare mentions first).",
        "Here lived Curie.",
        (Mention("Curie", "Marie Curie"),),
        (Mention("Curie", "Pierre Curie"),),
        karat="0 of 0",
        elevant="0 of 0",
        paper="1 of 1",
        query="strong[in-kb]@error=disambiguation-rare",
        facts={
            "names": {"Marie Curie": "Marie Curie"},
            "types": {"Marie Curie": ["PER"]},
            "popular": {"Curie": ["Pierre Curie"]},
        },
    ),
    Difference(
        "False coreference",
        "In Karat, as in ELEVANT since January 2025, any pronoun or nominal phrase that is no mention; ELEVANT's "
        "older figures count It, This, That and Its (`false-coreference=pronouns`).",
        "The rain stopped when she came.",
        (),
        (Mention("she", "Mary Anning"),),
        karat="1",
        elevant="0",
        paper="0",
        query="strong[in-kb]@error=coreference-false-detection",
    ),
    Difference(
        "False coreference that is none",
        "This is not a pronoun in the mention types, which ELEVANT's older rule did not use.",
        "This is rain.",
        (),
        (Mention("This", "Rain"),),
        karat="0",
        elevant="1",
        paper="1",
        query="strong[in-kb]@error=coreference-false-detection",
    ),
    Difference(
        "Unknown names",
        "The name of its entity decides whether a mention is named. ELEVANT takes a missing name as “Unknown”, which "
        "is capitalised; in the others such a mention is `entity-undecided`.",
        ULM,
        (),
        (Mention("Ulm", "Q3012"),),
        karat="tp 0, fp 0, fn 0",
        elevant="tp 0, fp 1, fn 0",
        paper="tp 0, fp 0, fn 0",
        query="strong[in-kb]@mention-type=entity-named",
    ),
)
