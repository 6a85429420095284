"""Laws of fair evaluation: looking up, trees, widened spans, error categories."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

import karat
from karat.kb.tables import Tables
from karat.pipeline.load import load_both
from karat.registry import get, names
from karat.spec.category import Category
from tests import reference_elevant as reference

NAMES = {"Q1": "Ada Lovelace", "Q2": "ulm", "Q3": "Germany", "Q5": "1921", "Q6": "nine miles"}
TYPES = {"Q1": ("Q215627",), "Q2": ("Q27096213", "Q43229"), "Q3": ("Q27096213",), "Q5": ("DATETIME",), "Q6": ("QUANTITY",)}
POPULAR = {"Ada": ("Q1",), "Ulm": ("Q2",), "ulm": ("Q2", "Q1"), "German": ("Q3",), "1921": ("Q5",)}
DEMONYMS = frozenset({"German"})
KB = Tables.of(names=NAMES, types=TYPES, popular=POPULAR, demonyms=DEMONYMS)
FACTS = reference.Knowledge(NAMES, TYPES, POPULAR, DEMONYMS)

WORDS = ["Ada", "Lovelace", "Ulm", "ulm", "German", "Rome", "it", "Its", "the", "city", "1921", "x"]
BETWEEN = [" ", " ", " ", " ", ". ", "", "'", ' "', '"', "_", "é"]
GOLD = ["Q1", "Q2", "Q3", "Q4", "<NIL>", "<NO_MAPPING>"]


@st.composite
def _spans(draw, places, length):
    """Mostly whole words, sometimes cut."""
    start, end = sorted(draw(st.lists(st.sampled_from(places), min_size=2, max_size=2, unique=True)))
    if draw(st.integers(0, 3)) == 0:
        start, end = start + draw(st.integers(0, 1)), end - draw(st.integers(0, 1))
    return [start, end] if start < end else [max(0, min(start, length - 1)), max(1, min(start + 1, length))]


@st.composite
def _texts(draw):
    text, places = draw(st.sampled_from(["", '"', " "])), []
    for word in draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)):
        places += [len(text), len(text) + len(word)]
        text += word + draw(st.sampled_from(BETWEEN))
    return text.rstrip() if draw(st.booleans()) else text, places


@st.composite
def _labels(draw, span):
    labels = []
    for number in range(draw(st.integers(0, 5))):
        entity, kind = draw(st.sampled_from(GOLD)), "OTHER"
        if draw(st.integers(0, 6)) == 0:
            kind = draw(st.sampled_from(["QUANTITY", "DATETIME"]))
            entity = {"QUANTITY": "nine", "DATETIME": "Q5"}[kind]
        elif entity in TYPES:
            kind = draw(st.sampled_from(["OTHER", "|".join(TYPES[entity]), "Q33829"]))
        label = {"id": number, "span": draw(span), "entity_id": entity, "type": kind, "children": []}
        label["name"] = NAMES.get(entity, draw(st.sampled_from(["Rome Ulm", "Unknown"])))
        for flag in ("optional", "desc"):
            if draw(st.integers(0, 5)) == 0:
                label[flag] = True
        if draw(st.integers(0, 3)) == 0:
            label["coref"] = draw(st.booleans())
        labels.append(label)
    for label in labels[1:]:
        how = draw(st.integers(0, 9))
        if how < 4:
            above = labels[draw(st.integers(0, label["id"] - 1))]
            if "parent" not in above or above["parent"] < 90:
                label["parent"] = above["id"]
                if how:  # else its parent does not list it
                    above["children"].append(label["id"])
        elif how == 4:
            label["parent"] = 99  # which is not there
    return labels


@st.composite
def articles(draw):
    """An article of ELEVANT's with a linker's mentions."""
    text, places = draw(_texts())
    places = sorted({min(place, len(text)) for place in places})
    span = _spans(places, len(text))
    mentions = st.fixed_dictionaries(
        {"span": span},
        optional={
            "id": st.sampled_from(["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "<NIL>"]),
            "candidates": st.lists(st.sampled_from(["Q1", "Q2", "Q3", "Q4"]), max_size=3, unique=True),
        },
    )
    article = {"title": "", "text": text, "labels": draw(_labels(span)), "entity_mentions": draw(st.lists(mentions, max_size=6))}
    if draw(st.integers(0, 2)) == 0:
        article["evaluation_span"] = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True)))
    if draw(st.booleans()):
        article["hyperlinks"] = [[draw(span), "somewhere"]]
    return article


CORPORA = st.lists(articles(), min_size=1, max_size=3)


def loaded(found):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "linker.toys.linked_articles.jsonl"
        lines = [json.dumps({"id": number, **article}) for number, article in enumerate(found)]
        path.write_text("\n".join(lines), encoding="utf-8")
        corpus, (run,) = load_both(
            str(path), [str(path)], gold_format="elevant-linked", answers_format="elevant-linked"
        )
    return corpus, run


KINDS = {
    "entity": "entity",
    "coreference": "coref",
    "entity-named": "entity_named",
    "entity-non-named": "entity_non_named",
    "entity-unknown": "entity_unknown",
    "coreference-nominal": "coref_nominal",
    "coreference-pronominal": "coref_pronominal",
}


def counted(result):
    """The figures of a result under the reference's keys; only those that are not 0."""
    found = {}
    for mode, part in (("IGNORED", "[in-kb]"), ("REQUIRED", "")):
        own = found[mode] = {}

        def note(key, counts):
            ends = {"TP": counts.matched_gold, "FP": counts.unmatched_answers, "FN": counts.unmatched_gold}
            own.update({(*key, end): count for end, count in ends.items() if count})

        for stage, view in (("link", f"strong{part}"), ("ner", f"mention{part}")):
            note((stage, "all"), result.counts(view))
            for kind, name in KINDS.items():
                if kind in result.by["mention-type"][view]:
                    note((stage, name), result.by["mention-type"][view][kind].counts)
        for kind, group in result.by["entity-type"][f"strong{part}"].items():
            note(("type", {"(none)": "OTHER"}.get(kind, kind)), group.counts)
        for name, group in result.by["category"][f"strong{part}"].items():
            key = get("categories", name, Category).elevant
            own.update({(*key, "errors"): group.errors} if group.errors else {})
            own.update({(*key, "total"): group.total} if group.total else {})
    return found


def expected(found):
    """The figures of the reference; without those that words decide, or that are not there."""
    figures = reference.figures(found, FACTS)
    for mode, own in figures.items():
        several = own.pop("several", 0)
        figures[mode] = {
            key: count
            for key, count in own.items()
            if count
            and not (key[0] == "ner_fp" and key[1] in ("all", "lowercased", "other") and key[2] == "total")
            and not (key[1] in ("wrong_candidates", "multiple_candidates") and key[2] == "total" and not several)
        }
    return figures


@given(CORPORA)
def test_the_profile_elevant_is_what_its_description_says(found):
    result = karat.evaluate(*loaded(found), like="elevant", kb=KB, by=["mention-type", "entity-type", "category"])
    assert counted(result) == expected(found)
