"""ELEVANT's rules written a second time, plainly, from their description: one document and one case at a time.

It reads articles as ELEVANT's files have them and shares no code with Karat.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

MODES = ("IGNORED", "REQUIRED")
UNKNOWN = {"<NIL>", "<NO_MAPPING>"}
VALUES = ("QUANTITY", "DATETIME")
PLACE, PERSON, PEOPLE, LANGUAGE, CHARACTER = "Q27096213", "Q215627", "Q33829", "Q17376908", "Q95074"
_PRONOUNS = """
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves
"""
PRONOUNS = set(_PRONOUNS.split())
_DETERMINERS = "the that this these those my your his her its our their"
DETERMINERS = set(_DETERMINERS.split())
NEUTER = {"It", "it", "This", "this", "That", "that", "Its", "its"}
NER_FN = ("lowercased", "partially_included", "partial_overlap", "other")
DISAMBIGUATION = ("demonym", "metonymy", "partial_name", "rare", "other")


@dataclass
class Knowledge:
    """Facts: a name or a text that is not in a table is not known."""

    names: dict = field(default_factory=dict)
    types: dict = field(default_factory=dict)
    popular: dict = field(default_factory=dict)
    demonyms: frozenset = frozenset()

    def type_string(self, entity):
        types = self.types.get(entity, ())
        return next((value for value in VALUES if value in types), "|".join(types))


@dataclass(eq=False)
class Case:
    """A label with the mention it finds, or a mention that stands where no label is."""

    text: str
    span: tuple
    label: dict | None
    mention: dict | None
    factor: int = 1
    kind: str = ""
    link: dict = field(default_factory=dict)
    ner: dict = field(default_factory=dict)

    @property
    def root(self):
        return self.label is None or self.label.get("parent") is None

    @property
    def coref(self):
        return self.kind.startswith("coref")

    @property
    def said(self):
        return self.mention is not None

    @property
    def entity(self):
        return self.mention.get("id") if self.mention else None

    @property
    def candidates(self):
        return self.mention.get("candidates", ()) if self.mention else ()


def widened(span, text):
    begin, end = span
    while begin > 0 and _word(text[begin - 1]):
        begin -= 1
    while end < len(text) - 1 and _word(text[end]):
        end += 1
    if text[begin] == '"' and '"' not in text[begin + 1 : end]:
        begin += 1
    return begin, end


def _word(character):
    return character.isalnum() or character in "'\"_"


def is_value(label):
    return any(value in label["type"].split("|") for value in VALUES)


def optional(label):
    return bool(label.get("optional") or label.get("desc") or is_value(label))


def known(label):
    return label["entity_id"] not in UNKNOWN and not is_value(label)


def low(text):
    """Whether the first letter is no capital; without letters it is low."""
    return not next((character.isupper() for character in text if character.isalpha()), False)


def kind_of(case, knowledge):
    label, text = case.label, case.text
    pronoun = text.lower() in PRONOUNS and (text == "I" or not text.isupper())
    first, _, rest = text.partition(" ")
    nominal = first.lower() in DETERMINERS and rest != "" and not rest[0].isupper()
    if label is not None and label.get("coref") is True:
        return "coref_pronominal" if pronoun else "coref_nominal"
    if label is None or label.get("coref") is None:
        if pronoun:
            return "coref_pronominal"
        if nominal:
            return "coref_nominal"
    if (case.label["entity_id"] if label else case.entity) in UNKNOWN:
        return "entity_unknown"
    name = label["name"] if label else knowledge.names.get(case.entity, "Unknown")
    return "entity_non_named" if low(name) else "entity_named"


class Article:
    """The cases of one document."""

    def __init__(self, article, knowledge):
        self.text, self.knowledge = article["text"], knowledge
        self.labels = {label["id"]: label for label in article["labels"]}
        self.links = {tuple(span) for span, _ in article.get("hyperlinks", ())}
        self.held = {tuple(mention["span"]): mention for mention in article["entity_mentions"]}
        self.all = dict(self.held)
        self.all.update({self.wide(span): mention for span, mention in self.held.items()})
        self.span = article.get("evaluation_span") or (0, len(self.text))
        self.factors = {}
        self.cases = self._cases()
        for case in self.cases:
            case.kind = kind_of(case, knowledge)
            case.link, case.ner = ({mode: set() for mode in MODES} for _ in range(2))
            if case.factor:
                self._end(case)
        for case in self.cases:
            if case.label is not None and case.root and case.label["children"]:
                self._speak_for(case)

    def wide(self, span):
        return widened(tuple(span), self.text)

    def match(self, label):
        return self.all.get(tuple(label["span"])) or self.all.get(self.wide(label["span"]))

    def _case(self, span, label, mention, factor=1):
        return Case(self.text[span[0] : span[1]], tuple(span), label, mention, factor)

    def _cases(self):
        roots = [label for label in self.labels.values() if label.get("parent") is None]
        kids = [label for label in self.labels.values() if label.get("parent") is not None]
        cases = [self._case(label["span"], label, self.match(label), self.walk(label)) for label in roots]
        cases += [
            self._case(label["span"], label, self.match(label), self.factors.get(label["id"], 0)) for label in kids
        ]
        taken = {place for label in self.labels.values() for place in (tuple(label["span"]), self.wide(label["span"]))}
        for span in sorted(self.held):
            free = span not in taken and self.wide(span) not in taken
            inside = self.span[0] <= span[0] and span[1] <= self.span[1]
            if free and inside and self.held[span].get("id") is not None:
                cases.append(self._case(span, None, self.held[span]))
        return cases

    def walk(self, label, *, as_sibling=False):
        """Which labels of a tree count."""
        mention = self.match(label)
        said = mention.get("id") if mention else None

        def note(value):
            if not as_sibling:
                self.factors[label["id"]] = value

        if said and (said == label["entity_id"] or {said, label["entity_id"]} <= UNKNOWN):
            note(1)
            return 1
        deeper = max((self.walk(self.labels[child]) for child in label["children"]), default=0)
        if label.get("parent") is None:
            self.factors[label["id"]] = int(deeper == 0)
            return self.factors[label["id"]]
        parent = self.labels[label["parent"]]
        value = 0
        if said and deeper == 0 and self.wide(parent["span"]) != self.wide(label["span"]):
            value = 1
        elif not said and not as_sibling and deeper == 0:
            others = [self.labels[child] for child in parent["children"] if child != label["id"]]
            value = int(any(self.walk(other, as_sibling=True) for other in others))
        note(value)
        return max(deeper, value)

    def _end(self, case, *, required=False):
        for mode in MODES:
            case.link[mode], case.ner[mode] = self._types(case, mode, required=required)

    def _types(self, case, mode, *, required):
        """What a case is in linking and in detection."""
        ignored, label = mode == "IGNORED", case.label
        unknown = case.entity in UNKNOWN
        if label is None:
            spurious = set() if ignored and unknown else {"FP"}
            return spurious, spurious
        if not case.said:
            missed = (not optional(label) or required) and (known(label) or not ignored)
            return ({"FN"}, {"FN"}) if missed else (set(), set())
        if is_value(label):
            right = not unknown and self.knowledge.type_string(case.entity) == label["type"]
            return (set() if right or (unknown and ignored) else {"FP"}), set()
        if optional(label):
            if known(label):
                right = case.entity == label["entity_id"] or (unknown and ignored)
                return (set() if right else {"FP"}), set()
            return (set(), set()) if unknown else ({"FP"}, {"FP"} if ignored else set())
        if known(label):
            if case.entity == label["entity_id"]:
                return {"TP"}, {"TP"}
            if unknown:
                return ({"FN"}, {"FN"}) if ignored else ({"FN", "FP"}, {"TP"})
            return {"FN", "FP"}, {"TP"}
        if unknown:
            return (set(), set()) if ignored else ({"TP"}, {"TP"})
        return ({"FP"}, {"FP"}) if ignored else ({"FN", "FP"}, {"TP"})

    def _below(self, label):
        for child in label["children"]:
            yield self.labels[child]
            yield from self._below(self.labels[child])

    def _speak_for(self, root):
        below = list(self._below(root.label))
        if optional(root.label) and any(not optional(label) for label in below) and root.factor:
            self._end(root, required=True)
        if root.factor == 0:
            ids = {label["id"] for label in below}
            parts = [case for case in self.cases if case.label and case.label["id"] in ids and case.factor]
            for mode in MODES:
                for types, of in ((root.link, "link"), (root.ner, "ner")):
                    met = set().union(*(getattr(part, of)[mode] for part in parts))
                    types[mode] = {"FN"} if "FN" in met else {"TP"} if met == {"TP"} else set()


def figures(articles, knowledge):
    """All that is counted, by mode, stage or category, and key."""
    count = {mode: Counter() for mode in MODES}
    read = [Article(article, knowledge) for article in articles]
    for mode in MODES:
        for article in read:
            _count_stages(article, mode, count[mode], knowledge)
            _Errors(article, mode, count[mode]).tally()
    return count


def _count_stages(article, mode, count, knowledge):
    for case in article.cases:
        for stage, types in (("link", case.link[mode]), ("ner", case.ner[mode])):
            ends = ({"TP", "FN"} & types if case.root else set()) | ({"FP"} & types if case.factor else set())
            for end in ends:
                keys = ["all", case.kind, "coref" if case.coref else "entity"]
                count.update((stage, key, end) for key in keys)
                if stage == "link" and not case.coref:
                    own = case.label["type"].split("|") if end != "FP" else knowledge.types.get(case.entity, ())
                    kinds = set(own) - {*VALUES, "OTHER"} or {"OTHER"}
                    count.update(("type", kind, end) for kind in kinds)


def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1]


def inside(one, other):
    return other[0] <= one[0] and one[1] <= other[1] and one != other


class _Errors:
    """The error categories of one document in one mode."""

    def __init__(self, article, mode, count):
        self.article, self.mode, self.count, self.knowledge = article, mode, count, article.knowledge
        self.cases = sorted((case for case in article.cases if case.root), key=lambda case: case.span)
        self.spurious = [case.span for case in self.cases if "FP" in case.ner[mode]]
        self.near = [case for case in self.cases if case.label is not None and self._relevant(case.label)]

    def _relevant(self, label):
        return self.mode == "REQUIRED" or (known(label) and not optional(label))

    def error(self, case, *keys):
        for key in keys:
            self.count[(*key, "errors")] += case.factor
            self.count[(*key, "total")] += case.factor

    def avoided(self, case, *keys):
        for key in keys:
            self.count[(*key, "total")] += case.factor

    def tally(self):
        for case in self.cases:
            link, ner = case.link[self.mode], case.ner[self.mode]
            self.count["several"] += len(case.candidates) > 1
            if not case.coref:
                self._undetected(case, ner)
                self._disambiguation(case, link, ner)
            self._spurious(case, ner)
            if case.span in self.article.links:
                if link & {"FN", "FP"}:
                    self.error(case, ("other_errors", "hyperlink"))
                elif "TP" in link:
                    self.avoided(case, ("other_errors", "hyperlink"))
            self._coreference(case, link, ner)

    def _undetected(self, case, ner):
        if "FN" in ner:
            self.error(case, ("ner_fn", "all"))
        elif "TP" in ner:
            self.avoided(case, ("ner_fn", "all"))
        mine = None
        if "FN" in ner:
            if low(case.text):
                mine = "lowercased"
            elif any(inside(span, case.span) for span in self.spurious):
                mine = "partially_included"
            elif any(overlap(span, case.span) for span in self.spurious):
                mine = "partial_overlap"
            else:
                mine = "other"
            self.error(case, ("ner_fn", mine))
        if low(case.text):
            if "TP" in ner:
                self.avoided(case, ("ner_fn", "lowercased"))
        elif ner & {"TP", "FN"}:
            several = ("partially_included",) if " " in case.text else ()
            keys = [key for key in (*several, "partial_overlap", "other") if key != mine]
            self.avoided(case, *(("ner_fn", key) for key in keys))

    def _spurious(self, case, ner):
        over = "FP" in ner
        if over and not case.coref:
            self.error(case, ("ner_fp", "all"))
            if low(case.text) and not any(overlap(case.span, other.span) for other in self.near):
                self.error(case, ("ner_fp", "lowercased"))
            elif not low(case.text) and case.label is not None and case.label["entity_id"] in UNKNOWN:
                self.error(case, ("ner_fp", "groundtruth_unknown"))
            else:
                self.error(case, ("ner_fp", "other"))
        elif not case.coref and not low(case.text) and case.label and case.label["entity_id"] in UNKNOWN:
            self.avoided(case, ("ner_fp", "groundtruth_unknown"))
        if over and any(self._off(case, other) for other in self.near):
            self.error(case, ("ner_fp", "wrong_span"))
        elif not case.coref and ner & {"TP", "FP"}:
            self.avoided(case, ("ner_fp", "wrong_span"))
        if over and case.text in NEUTER:
            self.count["wrong_coreference", "false_detection", "errors"] += case.factor

    def _off(self, case, other):
        label = other.label
        if not overlap(case.span, other.span) or case.span == other.span:
            return False
        value = is_value(label) and self.knowledge.type_string(case.entity) == label["type"]
        return value or case.entity == label["entity_id"]

    def _disambiguation(self, case, link, ner):
        wrong, right = link >= {"FN", "FP"}, "TP" in link
        if wrong or right:
            key = next(key for key in DISAMBIGUATION if self._holds(key, case, wrong=wrong))
            (self.error if wrong else self.avoided)(case, *(("wrong_disambiguation", each) for each in ("all", key)))
        candidates = case.candidates
        among = case.label is not None and case.label["entity_id"] in candidates
        if "TP" in ner:
            if wrong and not among:
                self.error(case, ("wrong_disambiguation", "wrong_candidates"))
            elif right or among:
                self.avoided(case, ("wrong_disambiguation", "wrong_candidates"))
        if len(candidates) > 1 and among and (wrong or right):
            (self.error if wrong else self.avoided)(case, ("wrong_disambiguation", "multiple_candidates"))

    def _holds(self, key, case, *, wrong):
        facts, label, text = self.knowledge, case.label, case.text
        types, popular = set(label["type"].split("|")), facts.popular.get(text, ())
        to = facts.types.get(case.entity, ())
        if key == "demonym":
            return text in facts.demonyms and bool(types & {PLACE, PEOPLE, LANGUAGE})
        if key == "metonymy":
            place = any(PLACE in facts.types.get(entity, ()) for entity in popular)
            own = known(label) and not types & {PLACE, PERSON, PEOPLE, CHARACTER}
            return own and place and (not wrong or PLACE in to)
        if key == "partial_name":
            name = label["name"]
            return known(label) and " " in name and text in name and len(text) < len(name)
        if key == "rare":
            return bool(popular) and label["entity_id"] not in popular and (not wrong or case.entity in popular)
        return True

    def _coreference(self, case, link, ner):
        if not case.coref:
            return
        count, section = self.count, "wrong_coreference"
        for key in ("undetected", "wrong_mention_referenced", "reference_wrongly_disambiguated"):
            count[section, key, "total"] += bool(link & {"TP", "FN"})
        if "FN" in ner and "FP" not in ner:
            count[section, "undetected", "errors"] += case.factor
            for key in ("wrong_mention_referenced", "reference_wrongly_disambiguated"):
                count[section, key, "total"] -= case.factor
        own = case.label["entity_id"] if case.label else None
        named = [
            other
            for other in self.cases[: self.cases.index(case)]
            if other.kind == "entity_named" and other.label and other.label["entity_id"] == own
        ]
        if link >= {"FN", "FP"} and named:
            if named[-1].said and named[-1].entity == case.entity:
                count[section, "reference_wrongly_disambiguated", "errors"] += case.factor
            else:
                count[section, "wrong_mention_referenced", "errors"] += case.factor
                count[section, "reference_wrongly_disambiguated", "total"] -= case.factor
