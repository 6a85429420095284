"""What a file in `karat.profiles` holds, and the choices it makes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from karat.errors import UnknownNameError, UsageError
from karat.spec.empty import EMPTY
from karat.spec.task import TASKS, task_named


class Choice(NamedTuple):
    """A convention that someone could have chosen otherwise: its values, and what each means as prose.

    A choice without values is open: any text that makes sense there.
    """

    title: str
    values: Mapping[str, str]
    open: str = ""


CHOICES: dict[str, Choice] = {
    "task": Choice("Task", {name: task.says for name, task in TASKS.items()}),
    "given": Choice(
        "Given mentions",
        {
            "exact": "Where mentions are given, only answers on exactly their spans count.",
            "best-overlap": "Where mentions are given, each takes the entity of the answer that overlaps it and has "
            "the highest score, the first on ties; all other answers are left out.",
        },
    ),
    "match": Choice(
        "Relations",
        {},
        open="Answers are compared with the gold standard by these relations, each with scores of its own: {}.",
    ),
    "spans": Choice(
        "Spans",
        {
            "exact": "Spans are compared as they are.",
            "words": "Spans are the same if they are equal, as they are or widened to whole words: to both sides as "
            "long as letters, digits, apostrophes, double quotes and underscores follow (but never over the last "
            "character of the text); a double quote that is opened and not closed stays outside.",
        },
    ),
    "assignment": Choice(
        "Assignment",
        {
            "optimal": "Answers and mentions are matched one to one, so that as many as possible match; among such "
            "assignments higher scores come first, then required mentions, then exact spans, then larger overlap, "
            "then smaller (start, end, id).",
            "greedy": "Answers and mentions are matched one to one: each mention, in the order of the gold file, "
            "takes the first free answer that matches it.",
            "membership": "An answer is right if it matches any mention, and a mention is found if any answer "
            "matches it; one answer may serve several mentions.",
            "answers": "An answer is right if it matches any mention, and a mention is missed if no answer matches "
            "it; recall divides the right answers by the right answers and the missed mentions.",
            "first": "Each mention takes the first answer of the file that matches it, and several may take the same. "
            "Taken answers are right, answers that match nothing are wrong, and the others are not counted; recall "
            "divides the right answers by the right answers and the missed mentions.",
            "lookup": "Each mention looks up its span, then its widened span, among the spans of the answers and their "
            "widened spans, of which the last in the file holds; several mentions may find the same answer, an answer "
            "that stands where a mention is but is not found by it is not counted, and of a mention with other "
            "segmentations those count that were answered. A part of the data, such as [in-kb], is taken after this, "
            "not before.",
        },
    ),
    "nil": Choice(
        "NIL",
        {
            "explicit": "NIL is a class of its own: NIL is right where the gold standard says NIL, and only there.",
            "emerging": "An id that begins with none of the known prefixes is an emerging entity, like NIL; any two "
            "of them match, and none matches an entity of the knowledge base.",
            "dropped": "Mentions and answers linked to NIL are left out.",
            "unmatched": "Nothing matches a mention that is linked to NIL: it is missed, and any link there is wrong.",
        },
    ),
    "prefixes": Choice(
        "Prefixes of the knowledge base",
        {
            "none": "All ids are those of the knowledge base.",
            "gerbil": "Ids of the knowledge base begin with one of GERBIL's prefixes: DBpedia resources and ontology, "
            "DUL and its d0 module, Wikidata entities, d-nb.info.",
        },
        open="Ids of the knowledge base begin with one of (separated by spaces or commas): {}.",
    ),
    "optional": Choice(
        "Optional mentions",
        {
            "ignored": "An optional mention is never missed and an answer that matches it is not counted; a wrong "
            "link on it is a false positive.",
            "required": "Optional mentions count like all others.",
        },
    ),
    "alternatives": Choice(
        "Alternatives",
        {
            "unit": "A mention with several accepted links or segmentations counts once: found if one of its "
            "alternatives is (of a segmentation, all required parts), else missed; answers that match none of "
            "them are false positives as usual.",
            "separate": "Every alternative counts as a mention of its own.",
            "merged": "All labels with the same span are one mention, found if one of them is. In a part of the data "
            "those that belong to it are merged, and the mention counts there however many others it has.",
        },
    ),
    "unlinked": Choice(
        "Answers without link",
        {
            "detection": "An answer without link counts only where links are not compared; a link on a gold span "
            "that names no entity is not counted.",
            "absent": "Spans without link are absent, in the gold standard as in the answers, in every task that is "
            "about links.",
            "nil": "A span without link is taken for NIL.",
            "entity": "A span without link is taken for a link to an entity that has no id; where no mention is, it is "
            "not counted.",
        },
    ),
    "overlaps": Choice(
        "Overlapping annotations",
        {
            "kept": "Annotations that overlap each other all count.",
            "longest": "For relations that ask only for overlap, both sides are thinned first: from left to right, "
            "of annotations that overlap the one kept last the longer stays.",
        },
    ),
    "duplicates": Choice(
        "Duplicates",
        {
            "kept": "An annotation given twice counts twice, but entities of documents count once.",
            "counted": "An annotation given twice counts twice, and so does an entity named twice in a document.",
            "once": "An annotation with the same span and the same id as another counts once.",
        },
    ),
    "typing": Choice(
        "Types",
        {
            "shared": "Types are right if the mention and the answer share one.",
            "ancestors": "Types are compared by their first: equal ones are right, and a class above the gold one, k "
            "edges up, earns 0.5 to the power of k.",
            "descendants": "Types are compared by their first: equal ones are right, and a class below the gold one, "
            "k edges down, earns 0.5 to the power of k.",
            "subclasses": "Mentions and answers are matched by their spans. Both sets of types are extended by all "
            "sub-classes and reduced to those of the knowledge base; precision and recall are those of the sets, 1 if "
            "both are empty, and are averaged over the mentions and the answers that match none.",
        },
    ),
    "span": Choice(
        "Evaluation span",
        {
            "inside": "Only mentions and answers that lie wholly inside a document's evaluation span count.",
            "unmatched": "Mentions count wherever they stand; of the answers that match none, those count that lie "
            "wholly inside a document's evaluation span.",
        },
    ),
    "quantities": Choice(
        "Quantities and datetimes",
        {
            "id": "A quantity or a datetime is compared by its id, like all else.",
            "kind": "An answer on a mention that is a quantity or a datetime is right if the knowledge base says that "
            "its entity is one, or if the ids are the same.",
        },
    ),
    "empty": Choice("Empty documents", {name: rule.says for name, rule in EMPTY.items()}),
    "macro": Choice(
        "Macro scores",
        {
            "defined": "Macro scores are means over the documents in which the measure is defined.",
            "gold-documents": "Macro scores are means over the documents that have something to find; documents that "
            "only the answers have count in totals.",
        },
    ),
    "threshold": Choice(
        "Threshold",
        {
            "none": "All answers count, whatever their score.",
            "oracle": "Oracle: of all scores that occur, the one is the threshold that gives the best micro F1 on "
            "this very corpus (the lowest on ties); answers with at least this score count, and answers without.",
            "oracle-gerbil": "Oracle: no threshold, or that score which answers have to exceed for the best micro F1 "
            "on this very corpus (the lowest on ties); answers without score always count.",
            "oracle-bat": "Oracle: of 0, 1/128, … 1 the threshold that gives the best macro F1 on this very corpus "
            "(the lowest on ties); answers with at least this score count, and answers without.",
            "oracle-bat-paper": "Oracle: of 0, 1/128, … 1 the threshold that gives the best micro F1 on this very "
            "corpus (the lowest on ties); answers with at least this score count, and answers without.",
        },
        open="Only answers with a score of at least (or, after >, above) {} count, and answers without score.",
    ),
    "ids": Choice(
        "Entity ids",
        {
            "as-written": "Entities are the same if their ids are written alike, or if they share a `same_as` id.",
            "last-segment": "Entities are the same if what follows the last slash of their ids is written alike.",
            "resolved": "Ids of both sides are replaced by what the knowledge base redirects them to or holds for "
            "the same; then entities are the same if their ids are, or if they share a `same_as` id.",
        },
    ),
    "missing": Choice(
        "Ids that the knowledge base does not know",
        {
            "distinct": "Ids that the knowledge base does not know are compared like others.",
            "alike": "All ids that the knowledge base does not know are one and the same entity.",
        },
    ),
    "categories": Choice(
        "Error categories",
        {
            "mention": "A mention is a demonym, a metonym, a partial name, rare or other, the first that holds, by "
            "what is known of the mention, whatever the answer; where a fact is missing, it is undecided, in none.",
            "answer": "A mention is a demonym, a metonym, a partial name, rare or other, the first that holds; a wrong "
            "link is a metonym only if it leads to a location, and rare only if it leads to a popular candidate; where "
            "a fact is missing, the next category is asked, and undecided mentions are counted beside.",
            "all": "A mention is a demonym, a metonym, a partial name or rare, all that hold, by what is known of the "
            "mention, whatever the answer, and other if none holds; where a fact is missing, it is undecided.",
        },
    ),
    "order": Choice(
        "Order of partial names and rare mentions",
        {
            "partial-name-first": "Partial names are asked for before rare mentions.",
            "rare-first": "Rare mentions are asked for before partial names.",
        },
    ),
    "false-coreference": Choice(
        "False coreference",
        {
            "coreference": "A falsely detected coreference is a pronoun or a nominal phrase that no mention is.",
            "pronouns": "A falsely detected coreference is It, This, That or Its, or it, this, that or its, where no "
            "mention is.",
        },
    ),
    "drop": Choice(
        "Answers dropped",
        {"none": "No answers were dropped before scoring."},
        open="Before scoring, these answers were dropped: {}.",
    ),
    "kb": Choice("Knowledge base", {"none": "No knowledge base was used."}, open="The knowledge base is {}."),
    "groups": Choice(
        "Scores by label",
        {
            "credited": "Scores by a label are sums over the cases of the whole: unmatched answers count under the "
            "values of the answer, all else under those of the mention.",
            "filtered": "Scores by a label are those of parts of the data: for each value, the labels that have it are "
            "the gold standard.",
        },
    ),
    "membership": Choice(
        "Membership of mentions",
        {
            "whole": "Every mention counts 1.",
            "questionnaire": "Recall weighs a mention by the share of authors who would annotate what shares most "
            "categories with it (the fine-grained paper's questionnaire): as much as its heaviest alternative, and it "
            "earns the weight of the one that was answered.",
        },
        open="Recall weighs mentions by the membership function {}: a mention weighs as much as its heaviest "
        "alternative and earns the weight of the one that was answered; under strict-code it weighs and earns as much "
        "as its lightest.",
    ),
    "seed": Choice("Seed", {}, open="Random numbers start from seed {}; no score without interval uses any."),
}
"""Every convention, in the order of the signature."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A table of choices under one name, and the measures it shows by default.

    `choices` names only those in which it differs from its `base`.
    """

    title: str
    says: str
    choices: Mapping[str, str]
    measures: tuple[str, ...]
    base: str = "karat"


def chosen(profile: Profile, overrides: Mapping[str, str]) -> dict[str, str]:
    """The choices of a profile with some of them overridden.

    Unknown names and values are errors, and so are choices that contradict each other.
    """
    known = {}
    for name, value in overrides.items():
        if name not in CHOICES:
            raise UnknownNameError("choice", name, CHOICES)
        known[name] = task_named(value) if name == "task" else value
        choice = CHOICES[name]
        if known[name] not in choice.values and not choice.open:
            raise UnknownNameError(f"value of {name}", value, choice.values)
    both = {**profile.choices, **known}
    table = {name: both[name] for name in CHOICES}
    for rule in CONTRADICTIONS:
        if rule.holds(table):
            raise UsageError(rule.says)
    return table


class Contradiction(NamedTuple):
    """Choices that cannot hold together, and what to do about it."""

    holds: Callable[[Mapping[str, str]], bool]
    says: str


CONTRADICTIONS: tuple[Contradiction, ...] = (
    Contradiction(
        lambda c: c["nil"] == "emerging" and c["prefixes"] == "none",
        "nil=emerging needs to know which ids are those of the knowledge base, and prefixes=none says that all are. "
        "Set prefixes=gerbil, or the prefixes themselves.",
    ),
    Contradiction(
        lambda c: c["prefixes"] != "none" and c["nil"] != "emerging" and c["typing"] != "subclasses",
        "prefixes tell emerging entities from others, which only nil=emerging (and typing=subclasses) makes use of. "
        "Set nil=emerging, or prefixes=none.",
    ),
    Contradiction(
        lambda c: c["assignment"] == "lookup" and c["membership"] != "whole",
        "membership weighs mentions, and assignment=lookup judges labels. Set assignment=optimal, or membership=whole.",
    ),
    Contradiction(
        lambda c: c["assignment"] == "lookup" and c["threshold"].startswith("oracle"),
        "assignment=lookup cannot try thresholds. Give a number, or choose another assignment.",
    ),
    Contradiction(
        lambda c: c["ids"] == "resolved" and c["kb"] == "none",
        "ids=resolved needs a knowledge base. Give one with --kb, or set ids=as-written.",
    ),
    Contradiction(
        lambda c: c["missing"] == "alike" and c["ids"] != "resolved",
        "missing=alike needs ids=resolved and a knowledge base that lists its entities. Give one, or set "
        "missing=distinct.",
    ),
)

GERBIL_PREFIXES = (
    "http://dbpedia.org/resource/",
    "http://dbpedia.org/ontology/",
    "http://ontologydesignpatterns.org/ont/dul/",
    "http://www.ontologydesignpatterns.org/ont/dul/",
    "http://ontologydesignpatterns.org/ont/wikipedia/d0.owl",
    "http://www.ontologydesignpatterns.org/ont/wikipedia/d0.owl",
    "http://www.wikidata.org/entity/",
    "http://d-nb.info/",
)


def prefixes_of(choices: Mapping[str, str]) -> tuple[str, ...] | None:
    """How the ids of the knowledge base begin, or None where all ids are its own."""
    named: dict[str, tuple[str, ...] | None] = {"none": None, "gerbil": GERBIL_PREFIXES}
    text = choices["prefixes"]
    return named[text] if text in named else tuple(re.split(r"[ ,]+", text))
