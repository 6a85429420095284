"""The settings with a fixed set of values: one enumeration each, whose members have the text users type and a sentence.

To add a value, add a member here and implement it where the enumeration is used. A member states whether it depends on
the order of mentions in the files. A test checks that all other members do not.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final

from karat.model.spec.settings.nil_spellings import BAT_NIL_IDS, ELEVANT_NIL_IDS, NIL_ID, NOT_IN_WIKI

ORDER_DEPENDENT: Final = True
"""Marks a value whose result depends on the order of mentions in the files."""


class Convention(Enum):
    """A value of a setting, with its description."""

    description: str
    """One or two sentences about the value, printed by `karat explain`."""
    is_order_dependent: bool
    """Whether the result depends on the order of labels or predictions in the files."""

    def __new__(cls, text: str, description: str = "", is_order_dependent: bool = False) -> Convention:
        """Create a member whose value is `text`."""
        member = object.__new__(cls)
        member._value_ = text
        member.description = description
        member.is_order_dependent = is_order_dependent
        return member

    def __str__(self) -> str:
        return str(self.value)


class GoldMentionAlignment(Convention):
    """How predictions are assigned to given mentions."""

    EXACT = (
        "exact",
        "If mentions are given, only predictions on exactly these spans count.",
    )
    BEST = (
        "best",
        "If mentions are given, only predictions on exactly these spans count. Of several on one span, only that with "
        "the highest score counts, the first on ties; a span with several mentions has as many.",
        ORDER_DEPENDENT,
    )
    BEST_OVERLAP = (
        "best-overlap",
        "If mentions are given, each takes the entity of the overlapping prediction with the highest score, the first "
        "on ties. All other predictions are ignored.",
        ORDER_DEPENDENT,
    )


class Spans(Convention):
    """When two spans are equal."""

    EXACT = (
        "exact",
        "Spans must be equal.",
    )
    WORDS = (
        "words",
        "Spans must be equal, either as given or after both are expanded to whole words. A word consists of letters, "
        "digits, apostrophes, double quotes and underscores. The last character of the text and an unclosed double "
        "quote are never added.",
    )


class Assignment(Convention):
    """How predictions are assigned to mentions."""

    OPTIMAL = (
        "optimal",
        "Predictions and mentions are matched one to one with the largest possible number of matches. Among such "
        "assignments, Karat prefers higher scores, then required mentions, then exact spans, then larger overlap, "
        "then smaller (start, end, id).",
    )
    GREEDY = (
        "greedy",
        "Predictions and mentions are matched one to one: each mention, in the order of the gold file, takes the first "
        "free prediction that matches it.",
        ORDER_DEPENDENT,
    )
    MEMBERSHIP = (
        "membership",
        "A prediction is correct if it matches any mention, and a mention is found if any prediction matches it. One "
        "prediction may match several mentions.",
    )
    PREDICTIONS = (
        "predictions",
        "A prediction is correct if it matches any mention, and a mention is missed if no prediction matches it. "
        "Recall is the number of correct predictions divided by the number of correct predictions and missed mentions.",
    )
    FIRST = (
        "first",
        "Each mention takes the first prediction in the file that matches it; several mentions may take the same. "
        "These predictions are correct, predictions that match no mention are wrong, and all others are ignored. "
        "Recall is the number of correct predictions divided by the number of correct predictions and missed mentions.",
        ORDER_DEPENDENT,
    )
    LOOKUP = (
        "lookup",
        "Each mention looks up its span, then its span expanded to words, among the predicted spans and their "
        "expansions; the last prediction in the file wins. Several mentions may find the same prediction. A prediction "
        "on the span of a mention that does not find it is ignored. Of alternative segmentations, the predicted one "
        "counts. Filters such as [in-kb] apply after matching.",
        ORDER_DEPENDENT,
    )


class Nil(Convention):
    """How NIL is scored."""

    EXPLICIT = (
        "explicit",
        "NIL is a class of its own: a NIL prediction is correct only where the gold standard has NIL.",
    )
    EMERGING = (
        "emerging",
        "An id that starts with none of the known prefixes is an emerging entity, like NIL. Any two emerging entities "
        "match, and none matches an entity of the knowledge base.",
    )
    DROPPED = (
        "dropped",
        "Mentions and predictions linked to NIL are ignored.",
    )
    UNMATCHED = (
        "unmatched",
        "A mention linked to NIL matches nothing: it is missed, and any link on it is wrong.",
    )


class NilIds(Convention):
    """Which ids are NIL."""

    NULL = (
        "null",
        "NIL is written as null. Every id is an entity, even if it looks like NIL.",
    )
    NOT_IN_WIKI = (
        "not-in-wiki",
        "NIL is written as null, or as an id with `/notInWiki/` such as `http://aksw.org/notInWiki/Ulm`.",
    )
    ELEVANT = (
        "elevant",
        "As in ELEVANT, these ids are NIL: `NIL`, `<NIL>`, `<unk>`, `<UNK>`, `<unk_wid>`, ids that end in `/`, and ids "
        "with `/notInWiki/`.",
    )
    NELEVAL = (
        "neleval",
        "As in neleval, ids that start with `NIL` are NIL, and the id is the NIL cluster.",
    )
    BAT = (
        "bat",
        "As in the readers of BAT, these ids are NIL: `--NME--`, `*null*`, `NIL`, and `NIL` with a number.",
    )
    HIPE = (
        "hipe",
        "As in the scorer of HIPE, the id `NIL` is NIL.",
    )

    @property
    def pattern(self) -> str:
        """Regular expression of the ids that are NIL; empty if none is."""
        return _NIL_PATTERNS[self]

    @classmethod
    def find_value(cls, id: str) -> NilIds | None:
        """Return the value that reads an id as NIL and the fewest others; None if no value does."""
        return next((value for value in _NARROW_TO_BROAD if value.is_nil(id)), None)

    def is_nil(self, entity: object) -> bool:
        """Return whether an entity (an id, None or `UNLINKED`) is NIL."""
        is_nil_id = isinstance(entity, str) and bool(self.pattern) and re.search(self.pattern, entity) is not None
        return entity is None or is_nil_id


_NIL_PATTERNS = {
    NilIds.NULL: "",
    NilIds.NOT_IN_WIKI: NOT_IN_WIKI,
    NilIds.ELEVANT: f"^(?:{'|'.join(map(re.escape, ELEVANT_NIL_IDS))})$|/$|{NOT_IN_WIKI}",
    NilIds.NELEVAL: f"^{NIL_ID}",
    NilIds.BAT: f"^(?:{'|'.join(map(re.escape, BAT_NIL_IDS))}|{NIL_ID}[0-9]*)$",
    NilIds.HIPE: f"^{NIL_ID}$",
}
_NARROW_TO_BROAD = (NilIds.HIPE, NilIds.NOT_IN_WIKI, NilIds.NELEVAL, NilIds.BAT, NilIds.ELEVANT)


class Optional(Convention):
    """How optional mentions are scored."""

    IGNORED = (
        "ignored",
        "An optional mention is never missed, and a prediction that matches it is ignored. A wrong link on it is a "
        "false positive.",
    )
    REQUIRED = (
        "required",
        "Optional mentions count like all others.",
    )


class Alternatives(Convention):
    """How a mention with several accepted links or segmentations is scored."""

    GROUPED = (
        "grouped",
        "A mention with several accepted links or segmentations counts once. It is found if one alternative is found, "
        "for a segmentation all its required parts. Predictions that match no alternative are false positives.",
    )
    SEPARATE = (
        "separate",
        "Every alternative counts as a separate mention.",
    )
    FIRST = (
        "first",
        "Only the first label of a mention with several accepted links counts, as in neleval, which scores the best "
        "candidate of a line.",
        ORDER_DEPENDENT,
    )
    MERGED = (
        "merged",
        "All labels with the same span are one mention, which is found if one of them is. A filter keeps the mention "
        "if any of its labels passes.",
    )


class Unlinked(Convention):
    """How unlinked spans are scored."""

    DETECTION = (
        "detection",
        "An unlinked prediction counts only where links are not compared. A link on an unlinked gold span is ignored.",
    )
    ABSENT = (
        "absent",
        "Tasks that compare links ignore unlinked spans in the gold standard and in the predictions.",
    )
    NIL = (
        "nil",
        "An unlinked span counts as NIL.",
    )
    ENTITY = (
        "entity",
        "An unlinked span counts as a link to an entity without id. It is ignored if there is no mention on the span.",
    )


class Overlaps(Convention):
    """How overlapping annotations are handled."""

    KEEP = (
        "keep",
        "Overlapping annotations all count.",
    )
    LONGEST = (
        "longest",
        "For relations that compare spans by overlap, overlapping annotations are removed on both sides first: from "
        "left to right, the longer of two overlapping annotations stays, and the first in the file on ties.",
        ORDER_DEPENDENT,
    )
    NELEVAL = (
        "neleval",
        "Overlapping annotations all count. Shares of characters (overlap-…) are computed as in neleval: duplicate "
        "annotations count too, and an annotation is compared only with those of the other side that are its "
        "neighbours by start and falling end, so that of overlapping annotations some may count as uncovered.",
    )


class Duplicates(Convention):
    """How duplicate annotations are handled."""

    KEEP = (
        "keep",
        "Duplicate annotations all count, but each document-level entity counts once.",
    )
    KEEP_ALL = (
        "keep-all",
        "Duplicate annotations and duplicate document-level entities all count.",
    )
    ONCE = (
        "once",
        "Annotations with the same span and the same id count once, with the highest score.",
    )


class ClusterMembership(Convention):
    """In which clusters a mention is."""

    ALL = (
        "all",
        "A mention with several ids is in the cluster of each of them, and pairs of mentions count once. An unlinked "
        "span is a cluster of its own.",
    )
    NELEVAL = (
        "neleval",
        "As in neleval: for B-cubed and for the parts of MUC, a mention with several ids is in the cluster whose id "
        "occurs last for the first time, by document, start and falling end. Pairs of mentions count once for each "
        "cluster that they share. All unlinked spans are one cluster.",
        ORDER_DEPENDENT,
    )


class Typing(Convention):
    """When types are correct."""

    SHARED = (
        "shared",
        "Types are correct if the mention and the prediction share one.",
    )
    ANCESTORS = (
        "ancestors",
        "The first type of each side is compared: equal types are correct, and a superclass k levels above the gold "
        "type earns 0.5 to the power of k.",
    )
    DESCENDANTS = (
        "descendants",
        "The first type of each side is compared: equal types are correct, and a subclass k levels below the gold type "
        "earns 0.5 to the power of k.",
    )
    SUBCLASSES = (
        "subclasses",
        "Mentions and predictions are matched by span. Both sets of types are extended by all subclasses and reduced "
        "to types of the knowledge base. Precision and recall of the sets, 1 if both are empty, are averaged over "
        "mentions and unmatched predictions.",
    )


class EvaluationSpan(Convention):
    """The scoring of mentions and predictions outside the evaluation span of a document."""

    INSIDE = (
        "inside",
        "Only mentions and predictions that are entirely inside the evaluation span of a document count.",
    )
    UNMATCHED = (
        "unmatched",
        "All mentions count. Unmatched predictions count only if they are entirely inside the evaluation span of a "
        "document.",
    )


class Quantities(Convention):
    """When a prediction on a quantity or a datetime is correct."""

    ID = (
        "id",
        "Quantities and datetimes are compared by id, like all other mentions.",
    )
    KIND = (
        "kind",
        "A prediction on a quantity or datetime is correct if the ids are equal, or if the knowledge base says that "
        "the predicted entity is a quantity or datetime.",
    )


class Macro(Convention):
    """Which documents macro scores average over."""

    DEFINED = (
        "defined",
        "Macro scores average over the documents in which the measure is defined.",
    )
    GOLD_DOCUMENTS = (
        "gold-documents",
        "Macro scores average over the documents with gold mentions. Other documents count in totals only.",
    )


class Ids(Convention):
    """When two ids refer to the same entity."""

    AS_WRITTEN = (
        "as-written",
        "Entities are the same if their ids are equal, or if they share a `same_as` id.",
    )
    NORMALISED = (
        "normalised",
        "Ids are compared after normalisation of Wikidata, Wikipedia and DBpedia ids. It covers http and https, "
        "prefixes, mobile hosts, percent-encoding, spaces, fragments and, for Wikipedia, the case of the first letter. "
        "Other ids are compared as written. A knowledge base, if passed, adds its own equivalences.",
    )
    BRIDGED = (
        "bridged",
        "As in GERBIL without network: a Wikipedia page and the DBpedia resource of the same title and language are "
        "the same, en.dbpedia.org is dbpedia.org, and the last part of an address may be percent-encoded. A knowledge "
        "base, if passed, adds its own equivalences.",
    )
    LAST_SEGMENT = (
        "last-segment",
        "Entities are the same if their ids are equal after the last slash.",
    )
    RESOLVED = (
        "resolved",
        "Ids on both sides are resolved by the redirects and equivalences of the knowledge base. Entities are then the "
        "same if their ids are equal, or if they share a `same_as` id.",
    )

    @property
    def uses_kb(self) -> bool:
        """Whether a knowledge base, if passed, changes the comparison."""
        return self in (Ids.NORMALISED, Ids.BRIDGED, Ids.RESOLVED)


class UnknownIds(Convention):
    """How ids that are not in the knowledge base are compared."""

    DISTINCT = (
        "distinct",
        "Ids that are not in the knowledge base are compared like others.",
    )
    ALIKE = (
        "alike",
        "All ids that are not in the knowledge base are the same entity.",
    )


class Categories(Convention):
    """How mentions are assigned to error categories."""

    MENTION = (
        "mention",
        "A mention belongs to the first category that applies: demonym, metonym, partial name, rare, other. Only facts "
        "about the mention decide, not the prediction. If a fact is missing, the mention is undecided and in no "
        "category.",
    )
    PREDICTION = (
        "prediction",
        "A mention belongs to the first category that applies: demonym, metonym, partial name, rare, other. A wrong "
        "link is a metonym only if it leads to a location, and rare only if it leads to a popular candidate. Links on "
        "NIL are counted only in views without NIL. If a fact is missing, the next category is tried, and undecided "
        "mentions are counted separately. An id of no known form is rare if its text is popular for others, as long as "
        "some ids of the data can be popular.",
    )
    ALL = (
        "all",
        "A mention belongs to every category that applies: demonym, metonym, partial name, rare; and to other if none "
        "does. Only facts about the mention decide, not the prediction. If a fact is missing, the mention is "
        "undecided.",
    )


class UnknownNames(Convention):
    """How entities without a known name are classified."""

    UNDECIDED = (
        "undecided",
        "An entity without a known name is undecided between named and not named.",
    )
    NAMED = (
        "named",
        "An entity without a known name counts as named.",
    )


class NearMentions(Convention):
    """Which mentions a spurious prediction is compared with."""

    IN_VIEW = (
        "in-view",
        "A spurious prediction is compared with the mentions in the view, and has the wrong span if one that it "
        "overlaps has the same entity.",
    )
    ALL = (
        "all",
        "A spurious prediction is compared with all mentions except parts of others, in filtered views only with "
        "required mentions whose entity is no quantity or datetime. It has the wrong span if one that it overlaps has "
        "the same entity. Two NIL links are the same if both or neither result from a missing mapping.",
    )


class FalseCoreference(Convention):
    """Which spurious predictions count as false coreference."""

    COREFERENCE = (
        "coreference",
        "A false coreference is a prediction on a pronoun or nominal phrase that is not a mention.",
    )
    PRONOUNS = (
        "pronouns",
        "A false coreference is a prediction on it, this, that or its (or capitalised) that is not a mention.",
    )


class Invented(Convention):
    """The scoring of predicted mentions that have no place in the text."""

    SKIP = (
        "skip",
        "Predicted mentions whose text does not occur in the document, or not as often, are counted and not scored.",
    )
    WRONG = (
        "wrong",
        "Predicted mentions whose text does not occur in the document, or not as often, are wrong predictions. They "
        "count where mentions are compared, not where only the entities of a document are.",
    )


class Groups(Convention):
    """How scores by facet are computed."""

    CREDITED = (
        "credited",
        "Scores by facet are sums over the cases of all data: unmatched predictions count in the prediction's group, "
        "all other cases in the mention's group.",
    )
    FILTERED = (
        "filtered",
        "Scores by facet are scores on filtered data: for each value, the gold standard is the labels with this value.",
    )
