"""Where the default profile, ELEVANT's program and its paper differ: tiny examples with what each of them counts.

docs/fair.md prints this table, and tests/golden/test_fair.py runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from karat import UNLINKED, Answer, Corpus, Document, Label, Reply, Result, Run, evaluate
from karat.kb.tables import Tables
from karat.model.document import EntityId
from karat.model.result import Counted

PROFILES = ("karat", "elevant", "elevant-paper")


class Said(NamedTuple):
    """A mention by its text, where that first occurs, its entity, and what else a label says."""

    text: str
    entity: EntityId = UNLINKED
    more: Mapping[str, Any] = {}

    @property
    def shown(self) -> str:
        """As the documentation writes it."""
        link = "no link" if self.entity is UNLINKED else self.entity or "NIL"
        flags = [_flag(name, value) for name, value in self.more.items() if name != "unit"]
        return f"{self.text} → {link}" + (f" ({', '.join(flags)})" if flags else "")


def _flag(name: str, value: Any) -> str:  # noqa: ANN401  # a field of a label
    if name == "parent":
        return "part"
    return name if value is True else ", ".join(value)


@dataclass(frozen=True)
class Difference:
    """One difference: what it is about, an example, and what each profile counts there.

    `asked` is a view, a measure, or a category or mention type of a view, written `VIEW@LABEL=VALUE`.
    """

    title: str
    says: str
    text: str
    gold: tuple[Said, ...]
    answers: tuple[Said, ...]
    karat: str
    elevant: str
    paper: str
    asked: str = "strong[in-kb]"
    span: tuple[int, int] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def known(self) -> list[str]:
        """The facts that the example needs, in words."""
        popular = [f"{text} is popular for {', '.join(ids)}" for text, ids in self.facts.get("popular", {}).items()]
        return popular + [f"{entity} is {', '.join(kinds)}" for entity, kinds in self.facts.get("types", {}).items()]

    @property
    def counts(self) -> dict[str, str]:
        """What each profile counts, by its name."""
        return dict(zip(PROFILES, (self.karat, self.elevant, self.paper), strict=True))

    def found(self, like: str) -> str:
        """What a profile counts here."""
        document = Document("d", self.text, tuple(map(self._label, self.gold)), evaluation_span=self.span)
        run = Run.of([Reply("d", tuple(map(self._answer, self.answers)))])
        asked, _, group = self.asked.partition("@")
        view, _, short = asked.partition(":")
        label, _, value = group.partition("=")
        result = evaluate(
            Corpus.of([document]),
            run,
            like=like,
            kb=Tables.of(**{"demonyms": (), **self.facts}),
            measures=[f"{view}:micro.f1"],
            by=[label] if label else [],
        )
        if short:
            score = result[f"{view}:{short}"]
            return "undefined" if score is None else f"{score:g}"
        return _grouped(result, view, label, value) if label else _ended(result.counts(view))

    def _label(self, said: Said) -> Label:
        start = self.text.index(said.text)
        return Label(start, start + len(said.text), said.entity, **said.more)

    def _answer(self, said: Said) -> Answer:
        start = self.text.index(said.text)
        return Answer(start, start + len(said.text), said.entity)


def _grouped(result: Result, view: str, label: str, value: str) -> str:
    groups = result.by[label][view]
    if label != "error":
        return _ended(groups[value].counts if value in groups else None)
    group = groups[value]
    rate = f"{group.errors}" if group.total is None else f"{group.errors} of {group.total}"
    return rate + (f", {group.undecided} undecided" if group.undecided else "")


def _ended(counts: Counted | None) -> str:
    if counts is None:
        return "tp 0, fp 0, fn 0"
    return f"tp {counts.matched_gold}, fp {counts.unmatched_answers}, fn {counts.unmatched_gold}"


ULM = "Up to Ulm."
CHATHAM = "Chatham, New Jersey is small."
ROOT = Said("Chatham, New Jersey", "Chatham Borough", {"unit": "r"})
PARTS = (Said("Chatham", "Chatham Borough", {"parent": "r"}), Said("New Jersey", "New Jersey", {"parent": "r"}))

DIFFERENCES = (
    Difference(
        "Cut words",
        "`elevant` widens spans to whole words (`spans=words`); the others ask for the exact span.",
        ULM,
        (Said("Ulm", "Ulm"),),
        (Said("Ul", "Ulm"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "The last character",
        "Widening never takes in the last character of a text, here the m, so that `elevant` finds nothing either.",
        "Up to Ulm",
        (Said("Ulm", "Ulm"),),
        (Said("Ul", "Ulm"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 0, fp 1, fn 1",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "Open quotes",
        "Widening leaves out a double quote that is opened and not closed, but no other sign.",
        'He wrote "Ulm is old.',
        (Said("Ulm", "Ulm"),),
        (Said('"Ulm', "Ulm"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "Overwriting",
        "In `elevant` a mention looks up its span (`assignment=lookup`), where a widened span is written over an exact "
        "one: the wrong answer on Ul hides the right one, and neither is counted again. The others match one to one.",
        ULM,
        (Said("Ulm", "Ulm"),),
        (Said("Ulm", "Ulm"), Said("Ul", "Ulm (Montana)")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 0, fp 1, fn 1",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "Two answers on one span",
        "In `elevant` the last in the file holds and the first is not counted; in the others each answer counts.",
        ULM,
        (Said("Ulm", "Ulm"),),
        (Said("Ulm", "Ulm (Montana)"), Said("Ulm", "Ulm")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "NIL over an entity",
        "`elevant` takes the part [in-kb] after looking up, where NIL holds; the others leave NIL out before matching.",
        ULM,
        (Said("Ulm", "Ulm"),),
        (Said("Ulm", "Ulm"), Said("Ulm", None)),
        karat="tp 1, fp 0, fn 0",
        elevant="tp 0, fp 0, fn 1",
        paper="tp 1, fp 0, fn 0",
    ),
    Difference(
        "One answer for two mentions",
        "In `elevant` several mentions may find the same answer, by their own or by their widened span; in the others "
        "it serves one.",
        "Up to Ulms tower.",
        (Said("Ulm", "Ulm"), Said("Ulms", "Ulm")),
        (Said("Ulms", "Ulm"),),
        karat="tp 1, fp 0, fn 1",
        elevant="tp 2, fp 0, fn 0",
        paper="tp 1, fp 0, fn 1",
    ),
    Difference(
        "Two mentions on one span",
        "In `elevant` both find the answer, which is right for one and a wrong link for the other.",
        ULM,
        (Said("Ulm", "Ulm", {"unit": "1"}), Said("Ulm", "Ulm Minster", {"unit": "2"})),
        (Said("Ulm", "Ulm"),),
        karat="tp 1, fp 0, fn 1",
        elevant="tp 1, fp 1, fn 1",
        paper="tp 1, fp 0, fn 1",
    ),
    Difference(
        "Answers without link",
        "In `elevant` they are wrong links where a mention is, and not counted elsewhere (`unlinked=entity`); in the "
        "others they count only where links are not compared.",
        ULM,
        (Said("Ulm", "Ulm"),),
        (Said("Ulm"),),
        karat="tp 0, fp 0, fn 1",
        elevant="tp 0, fp 1, fn 1",
        paper="tp 0, fp 0, fn 1",
    ),
    Difference(
        "Gold outside the evaluation span",
        "`elevant` looks at the span only for answers that match no mention (`span=unmatched`), the others for all.",
        "Ulm is old. Bonn is not.",
        (Said("Bonn", "Bonn"),),
        (),
        karat="tp 0, fp 0, fn 0",
        elevant="tp 0, fp 0, fn 1",
        paper="tp 0, fp 0, fn 0",
        span=(0, 11),
    ),
    Difference(
        "Labels whose parent is missing",
        "In `elevant` nobody speaks for them, so that neither they nor the answers on them count; in the others they "
        "are mentions of their own.",
        ULM,
        (Said("Ulm", "Ulm", {"categories": ("missing-parent:7",)}),),
        (Said("Ulm", "Ulm (Montana)"),),
        karat="tp 0, fp 1, fn 1",
        elevant="tp 0, fp 0, fn 0",
        paper="tp 0, fp 1, fn 1",
    ),
    Difference(
        "Labels that are each other's parent",
        "ELEVANT's readers tie two labels on one span so. In `elevant` there is then no root, and both vanish.",
        ULM,
        (
            Said("Ulm", "Ulm", {"unit": "1", "categories": ("circular-parent:2",)}),
            Said("Ulm", "Ulm Minster", {"unit": "2", "categories": ("circular-parent:1",)}),
        ),
        (Said("Ulm", "Ulm"),),
        karat="tp 1, fp 0, fn 1",
        elevant="tp 0, fp 0, fn 0",
        paper="tp 1, fp 0, fn 1",
    ),
    Difference(
        "Answers on a mention and on its parts",
        "In `elevant` answers on the parts are not counted where the whole is right; in the others one segmentation is "
        "taken, and answers off it are wrong.",
        CHATHAM,
        (ROOT, *PARTS),
        (Said("Chatham, New Jersey", "Chatham Borough"), Said("Chatham", "Chatham Borough")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 1, fp 0, fn 0",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "A wrong link on an optional part",
        "In `elevant` the mention is then neither found nor missed; in the others it is found, since all its required "
        "parts are.",
        CHATHAM,
        (ROOT, PARTS[0], Said("New Jersey", "New Jersey", {"parent": "r", "optional": True})),
        (Said("Chatham", "Chatham Borough"), Said("New Jersey", "Jersey")),
        karat="tp 1, fp 1, fn 0",
        elevant="tp 0, fp 1, fn 0",
        paper="tp 1, fp 1, fn 0",
    ),
    Difference(
        "Optional mentions with required parts",
        "In `elevant` such a mention is missed where nobody answers; in the others an optional mention never is.",
        CHATHAM,
        (Said("Chatham, New Jersey", "Chatham Borough", {"unit": "r", "optional": True}), *PARTS),
        (),
        karat="tp 0, fp 0, fn 0",
        elevant="tp 0, fp 0, fn 1",
        paper="tp 0, fp 0, fn 0",
    ),
    Difference(
        "Division by zero",
        "ELEVANT's scores are 0 then (`empty=zero`); in the default profile they are undefined.",
        ULM,
        (),
        (),
        karat="undefined",
        elevant="0",
        paper="0",
        asked="strong[in-kb]:micro.f1",
    ),
    Difference(
        "Mentions that a spurious answer may be near to",
        "In the part [in-kb] `elevant` knows only required mentions with an entity here, and in the whole all; the "
        "others know those that the view shows, optional or not.",
        "Up to old Ulm.",
        (Said("old Ulm", "Ulm", {"optional": True}),),
        (Said("Ulm", "Ulm"),),
        karat="1 of 1",
        elevant="0 of 1",
        paper="1 of 1",
        asked="strong[in-kb]@error=ner-fp-wrong-span",
    ),
    Difference(
        "NIL in wrong spans",
        "In `elevant` NIL beside NIL is the same entity in a wrong span; in the others NIL is no entity.",
        "Up to old Ulm.",
        (Said("old Ulm", None),),
        (Said("Ulm", None),),
        karat="0 of 1",
        elevant="1 of 1",
        paper="0 of 1",
        asked="strong@error=ner-fp-wrong-span",
    ),
    Difference(
        "Metonyms that lead to no place",
        "In `elevant` a wrong link is a metonym only if it leads to a place (`categories=answer`); in the others a "
        "mention is what it is, whatever was answered.",
        "Vienna signed.",
        (Said("Vienna", "Government of Austria"),),
        (Said("Vienna", "Vienna (song)"),),
        karat="1 of 1",
        elevant="0 of 0",
        paper="1 of 1",
        asked="strong[in-kb]@error=disambiguation-metonymy",
        facts={
            "names": {"Government of Austria": "Government of Austria"},
            "types": {"Government of Austria": ["ORG"], "Vienna": ["LOC"], "Vienna (song)": ["WORK"]},
            "popular": {"Vienna": ["Vienna"]},
        },
    ),
    Difference(
        "Rare mentions that lead to no popular entity",
        "Likewise a wrong link is rare in `elevant` only if it leads to what the text is popular for.",
        "Far from Memphis.",
        (Said("Memphis", "Men-nefer"),),
        (Said("Memphis", "Memphis (band)"),),
        karat="1 of 1",
        elevant="0 of 0",
        paper="1 of 1",
        asked="strong[in-kb]@error=disambiguation-rare",
        facts={
            "names": {"Men-nefer": "Men-nefer"},
            "types": {"Men-nefer": ["LOC"]},
            "popular": {"Memphis": ["Memphis (Tennessee)"]},
        },
    ),
    Difference(
        "Missing facts",
        "Nobody knows what Memphis is popular for. `elevant` asks the next category, until other holds; in the others "
        "the mention is undecided at the first category that could hold, and in none.",
        "Far from Memphis.",
        (Said("Memphis", "Men-nefer"),),
        (Said("Memphis", "Memphis (band)"),),
        karat="0 of 0",
        elevant="1 of 1",
        paper="0 of 0",
        asked="strong[in-kb]@error=disambiguation-other",
        facts={"names": {"Men-nefer": "Men-nefer"}, "types": {"Men-nefer": ["LOC"]}},
    ),
    Difference(
        "The same, where it is undecided",
        "How many are undecided is counted beside the errors, in every profile.",
        "Far from Memphis.",
        (Said("Memphis", "Men-nefer"),),
        (Said("Memphis", "Memphis (band)"),),
        karat="0 of 0, 1 undecided",
        elevant="0 of 0, 1 undecided",
        paper="0 of 0, 1 undecided",
        asked="strong[in-kb]@error=disambiguation-rare",
        facts={"names": {"Men-nefer": "Men-nefer"}, "types": {"Men-nefer": ["LOC"]}},
    ),
    Difference(
        "Partial names that are rare",
        "In the paper categories may overlap (`categories=all`); else the first that holds is the only one, and that "
        "is the partial name (ELEVANT asked for rare mentions first until August 2024).",
        "Here lived Curie.",
        (Said("Curie", "Marie Curie"),),
        (Said("Curie", "Pierre Curie"),),
        karat="0 of 0",
        elevant="0 of 0",
        paper="1 of 1",
        asked="strong[in-kb]@error=disambiguation-rare",
        facts={
            "names": {"Marie Curie": "Marie Curie"},
            "types": {"Marie Curie": ["PER"]},
            "popular": {"Curie": ["Pierre Curie"]},
        },
    ),
    Difference(
        "False coreference",
        "In Karat, as in ELEVANT since January 2025, any pronoun or nominal phrase where no mention is; ELEVANT's "
        "older figures count It, This, That and Its (`false-coreference=pronouns`).",
        "The rain stopped when she came.",
        (),
        (Said("she", "Mary Anning"),),
        karat="1",
        elevant="0",
        paper="0",
        asked="strong[in-kb]@error=coreference-false-detection",
    ),
    Difference(
        "False coreference that is none",
        "This, by itself, is no pronoun of the mention types, which ELEVANT's older rule did not ask.",
        "This is rain.",
        (),
        (Said("This", "Rain"),),
        karat="0",
        elevant="1",
        paper="1",
        asked="strong[in-kb]@error=coreference-false-detection",
    ),
    Difference(
        "Unknown names",
        "Whether a mention is named is told by the name of its entity. To ELEVANT a missing name is “Unknown”, which "
        "has a capital; in the others such a mention is `entity-undecided`.",
        ULM,
        (),
        (Said("Ulm", "Q3012"),),
        karat="tp 0, fp 0, fn 0",
        elevant="tp 0, fp 1, fn 0",
        paper="tp 0, fp 0, fn 0",
        asked="strong[in-kb]@mention-type=entity-named",
    ),
)
