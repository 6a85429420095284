"""The conventions that have a fixed set of values: each value is the word that users type, and what it means.

A new value is a member here, and a line in the table that implements it. Where the order of mentions in the files
decides anything under a value, its member says so; a test tries all others in another order.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

ORDERED: Final = True
"""Marks a value that looks at the order of mentions in the files."""


class Convention(Enum):
    """A value of a choice; `ordered` where it looks at the order of labels or answers in the files."""

    says: str
    ordered: bool

    def __new__(cls, word: str, says: str = "", ordered: bool = False) -> Convention:
        """A member whose value is the word."""
        member = object.__new__(cls)
        member._value_ = word
        member.says = says
        member.ordered = ordered
        return member

    def __str__(self) -> str:
        return str(self.value)


class Given(Convention):
    """How answers are laid on mentions that are given."""

    EXACT = (
        "exact",
        "Where mentions are given, only answers on exactly their spans count.",
    )
    BEST_OVERLAP = (
        "best-overlap",
        "Where mentions are given, each takes the entity of the answer that overlaps it and has the highest score, the"
        " first on ties; all other answers are left out.",
        ORDERED,
    )


class Spans(Convention):
    """When two spans are the same."""

    EXACT = (
        "exact",
        "Spans are compared as they are.",
    )
    WORDS = (
        "words",
        "Spans are the same if they are equal, as they are or widened to whole words: to both sides as long as "
        "letters, digits, apostrophes, double quotes and underscores follow (but never over the last character of the "
        "text); a double quote that is opened and not closed stays outside.",
    )


class Assignment(Convention):
    """Who is matched with whom."""

    OPTIMAL = (
        "optimal",
        "Answers and mentions are matched one to one, so that as many as possible match; among such assignments higher"
        " scores come first, then required mentions, then exact spans, then larger overlap, then smaller (start, end, "
        "id).",
    )
    GREEDY = (
        "greedy",
        "Answers and mentions are matched one to one: each mention, in the order of the gold file, takes the first "
        "free answer that matches it.",
        ORDERED,
    )
    MEMBERSHIP = (
        "membership",
        "An answer is right if it matches any mention, and a mention is found if any answer matches it; one answer may"
        " serve several mentions.",
    )
    ANSWERS = (
        "answers",
        "An answer is right if it matches any mention, and a mention is missed if no answer matches it; recall divides"
        " the right answers by the right answers and the missed mentions.",
    )
    FIRST = (
        "first",
        "Each mention takes the first answer of the file that matches it, and several may take the same. Taken answers"
        " are right, answers that match nothing are wrong, and the others are not counted; recall divides the right "
        "answers by the right answers and the missed mentions.",
        ORDERED,
    )
    LOOKUP = (
        "lookup",
        "Each mention looks up its span, then its widened span, among the spans of the answers and their widened "
        "spans, of which the last in the file holds; several mentions may find the same answer, an answer that stands "
        "where a mention is but is not found by it is not counted, and of a mention with other segmentations those "
        "count that were answered. A part of the data, such as [in-kb], is taken after this, not before.",
        ORDERED,
    )


class Nil(Convention):
    """What NIL is."""

    EXPLICIT = (
        "explicit",
        "NIL is a class of its own: NIL is right where the gold standard says NIL, and only there.",
    )
    EMERGING = (
        "emerging",
        "An id that begins with none of the known prefixes is an emerging entity, like NIL; any two of them match, and"
        " none matches an entity of the knowledge base.",
    )
    DROPPED = (
        "dropped",
        "Mentions and answers linked to NIL are left out.",
    )
    UNMATCHED = (
        "unmatched",
        "Nothing matches a mention that is linked to NIL: it is missed, and any link there is wrong.",
    )


class Optional(Convention):
    """What optional mentions count."""

    IGNORED = (
        "ignored",
        "An optional mention is never missed and an answer that matches it is not counted; a wrong link on it is a "
        "false positive.",
    )
    REQUIRED = (
        "required",
        "Optional mentions count like all others.",
    )


class Alternatives(Convention):
    """What a mention with several accepted links or segmentations counts."""

    UNIT = (
        "unit",
        "A mention with several accepted links or segmentations counts once: found if one of its alternatives is (of a"
        " segmentation, all required parts), else missed; answers that match none of them are false positives as "
        "usual.",
    )
    SEPARATE = (
        "separate",
        "Every alternative counts as a mention of its own.",
    )
    MERGED = (
        "merged",
        "All labels with the same span are one mention, found if one of them is. In a part of the data those that "
        "belong to it are merged, and the mention counts there however many others it has.",
    )


class Unlinked(Convention):
    """What a span without link is."""

    DETECTION = (
        "detection",
        "An answer without link counts only where links are not compared; a link on a gold span that names no entity "
        "is not counted.",
    )
    ABSENT = (
        "absent",
        "Spans without link are absent, in the gold standard as in the answers, in every task that is about links.",
    )
    NIL = (
        "nil",
        "A span without link is taken for NIL.",
    )
    ENTITY = (
        "entity",
        "A span without link is taken for a link to an entity that has no id; where no mention is, it is not counted.",
    )


class Overlaps(Convention):
    """What becomes of annotations that overlap each other."""

    KEPT = (
        "kept",
        "Annotations that overlap each other all count.",
    )
    LONGEST = (
        "longest",
        "For relations that ask only for overlap, both sides are thinned first: from left to right, of annotations "
        "that overlap the one kept last the longer stays, and of equally long ones the first in the file.",
        ORDERED,
    )


class Duplicates(Convention):
    """What becomes of annotations that are given twice."""

    KEPT = (
        "kept",
        "An annotation given twice counts twice, but entities of documents count once.",
    )
    COUNTED = (
        "counted",
        "An annotation given twice counts twice, and so does an entity named twice in a document.",
    )
    ONCE = (
        "once",
        "An annotation with the same span and the same id as another counts once, with the highest score.",
    )


class Typing(Convention):
    """When types are right."""

    SHARED = (
        "shared",
        "Types are right if the mention and the answer share one.",
    )
    ANCESTORS = (
        "ancestors",
        "Types are compared by their first: equal ones are right, and a class above the gold one, k edges up, earns "
        "0.5 to the power of k.",
    )
    DESCENDANTS = (
        "descendants",
        "Types are compared by their first: equal ones are right, and a class below the gold one, k edges down, earns "
        "0.5 to the power of k.",
    )
    SUBCLASSES = (
        "subclasses",
        "Mentions and answers are matched by their spans. Both sets of types are extended by all sub-classes and "
        "reduced to those of the knowledge base; precision and recall are those of the sets, 1 if both are empty, and "
        "are averaged over the mentions and the answers that match none.",
    )


class EvaluationSpan(Convention):
    """What counts outside the evaluation span of a document."""

    INSIDE = (
        "inside",
        "Only mentions and answers that lie wholly inside a document's evaluation span count.",
    )
    UNMATCHED = (
        "unmatched",
        "Mentions count wherever they stand; of the answers that match none, those count that lie wholly inside a "
        "document's evaluation span.",
    )


class Quantities(Convention):
    """When an answer on a quantity or a datetime is right."""

    ID = (
        "id",
        "A quantity or a datetime is compared by its id, like all else.",
    )
    KIND = (
        "kind",
        "An answer on a mention that is a quantity or a datetime is right if the knowledge base says that its entity "
        "is one, or if the ids are the same.",
    )


class Macro(Convention):
    """Which documents macro scores are means over."""

    DEFINED = (
        "defined",
        "Macro scores are means over the documents in which the measure is defined.",
    )
    GOLD_DOCUMENTS = (
        "gold-documents",
        "Macro scores are means over the documents that have something to find; documents that only the answers have "
        "count in totals.",
    )


class Ids(Convention):
    """When two ids are the same."""

    AS_WRITTEN = (
        "as-written",
        "Entities are the same if their ids are written alike, or if they share a `same_as` id.",
    )
    NORMALISED = (
        "normalised",
        "Ids that a scheme lets one write in several ways are the same: Wikidata items, and pages of one Wikipedia or "
        "resources of one DBpedia, whatever their http or https, prefix, mobile host, percent-encoding, blanks, "
        "fragment or, on Wikipedia, case of the first letter. Others are compared as written. A knowledge base, where "
        "one is given, then says what else is the same.",
    )
    BRIDGED = (
        "bridged",
        "As GERBIL without network: a page of Wikipedia and the DBpedia resource of its title and language are the "
        "same, en.dbpedia.org is dbpedia.org, and the last part of an address may be percent-encoded. A knowledge "
        "base, where one is given, then says what else is the same.",
    )
    LAST_SEGMENT = (
        "last-segment",
        "Entities are the same if what follows the last slash of their ids is written alike.",
    )
    RESOLVED = (
        "resolved",
        "Ids of both sides are replaced by what the knowledge base redirects them to or holds for the same; then "
        "entities are the same if their ids are, or if they share a `same_as` id.",
    )

    @property
    def by_kb(self) -> bool:
        """Whether a knowledge base, where there is one, has a say."""
        return self in (Ids.NORMALISED, Ids.BRIDGED, Ids.RESOLVED)


class Missing(Convention):
    """What ids are that the knowledge base does not know."""

    DISTINCT = (
        "distinct",
        "Ids that the knowledge base does not know are compared like others.",
    )
    ALIKE = (
        "alike",
        "All ids that the knowledge base does not know are one and the same entity.",
    )


class Categories(Convention):
    """Which error category a mention is in."""

    MENTION = (
        "mention",
        "A mention is a demonym, a metonym, a partial name, rare or other, the first that holds, by what is known of "
        "the mention, whatever the answer; where a fact is missing, it is undecided, in none.",
    )
    ANSWER = (
        "answer",
        "A mention is a demonym, a metonym, a partial name, rare or other, the first that holds; a wrong link is a "
        "metonym only if it leads to a location, and rare only if it leads to a popular candidate; where a fact is "
        "missing, the next category is asked, and undecided mentions are counted beside.",
    )
    ALL = (
        "all",
        "A mention is a demonym, a metonym, a partial name or rare, all that hold, by what is known of the mention, "
        "whatever the answer, and other if none holds; where a fact is missing, it is undecided.",
    )


class Unnamed(Convention):
    """What an entity is whose name nobody knows."""

    UNDECIDED = (
        "undecided",
        "An entity whose name nobody knows is undecided between named and not named.",
    )
    NAMED = (
        "named",
        "An entity whose name nobody knows is taken for a named one.",
    )


class Near(Convention):
    """Which mentions a spurious answer may be near to, or have missed by its span."""

    SHOWN = (
        "shown",
        "A spurious answer may be near to mentions that the view shows, and has the wrong span if one of them has its "
        "entity.",
    )
    LABELLED = (
        "labelled",
        "A spurious answer may be near to any mention but parts of others (in a part of the data to required ones with "
        "an entity that is no quantity and no datetime), and has the wrong span if one of them has its entity; NIL is "
        "the same as NIL, if both are so for want of a mapping or neither is.",
    )


class FalseCoreference(Convention):
    """What is taken for a coreference where none is."""

    COREFERENCE = (
        "coreference",
        "A falsely detected coreference is a pronoun or a nominal phrase that no mention is.",
    )
    PRONOUNS = (
        "pronouns",
        "A falsely detected coreference is It, This, That or Its, or it, this, that or its, where no mention is.",
    )


class Groups(Convention):
    """What scores by a label are."""

    CREDITED = (
        "credited",
        "Scores by a label are sums over the cases of the whole: unmatched answers count under the values of the "
        "answer, all else under those of the mention.",
    )
    FILTERED = (
        "filtered",
        "Scores by a label are those of parts of the data: for each value, the labels that have it are the gold "
        "standard.",
    )
