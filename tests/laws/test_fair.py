"""Laws of fair evaluation: looking up, trees, widened spans, error categories."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

import karat
from karat import Corpus, Run
from karat.data.load import load_gold_and_runs
from karat.evaluation.cases.errors import list_candidate_categories
from karat.kb.in_memory_kb import InMemoryKB
from karat.matching.read.word_expansion import expand_to_words, find_word_gaps
from karat.model.registry import get_plugin
from karat.model.spec.category import ErrorCategory
from karat.model.tables.facet_values import NONE
from karat.plugins.reports.elevant.names import NAMES as PLACES
from tests import reference_elevant as reference
from tests.conftest import with_settings

NAMES = {"Q1": "Ada Lovelace", "Q2": "ulm", "Q3": "Germany", "Q5": "1921", "Q6": "nine miles"}
TYPES = {
    "Q1": ("Q215627",),
    "Q2": ("Q27096213", "Q43229"),
    "Q3": ("Q27096213",),
    "Q5": ("DATETIME",),
    "Q6": ("QUANTITY",),
}
POPULAR = {"Ada": ("Q1",), "Ulm": ("Q2",), "ulm": ("Q2", "Q1"), "German": ("Q3",), "1921": ("Q5",)}
DEMONYMS = frozenset({"German"})
KB = InMemoryKB.from_tables(names=NAMES, types=TYPES, popular=POPULAR, demonyms=DEMONYMS)
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


def _lost(label):
    """Whether a label is below one that is not there, or among its own parents."""
    return label.get("parent") == 99 or label.get("parent", -1) >= label["id"] or label["id"] - 1 in label["children"]


def _alone(label):
    return "parent" not in label and not label["children"]


@st.composite
def _labels(draw, span):
    """Labels and how they hang together, in file order."""
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
            if not _lost(above):
                label["parent"] = above["id"]
                if how:  # else its parent does not list it
                    above["children"].append(label["id"])
        elif how == 4:
            label["parent"] = 99  # which is not there
        elif how == 5 and _alone(before := labels[label["id"] - 1]):  # as ELEVANT's readers tie two on one span
            label |= {"span": before["span"], "parent": before["id"], "children": [before["id"]]}
            before |= {"parent": label["id"], "children": [label["id"]]}
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
            "id": st.sampled_from(["Q1", "Q2", "Q3", "Q4", "Q5", "Q6", "<NIL>", "<NO_MAPPING>"]),
            "candidates": st.lists(st.sampled_from(["Q1", "Q2", "Q3", "Q4"]), max_size=3, unique=True),
        },
    )
    article = {
        "title": "",
        "text": text,
        "labels": draw(_labels(span)),
        "entity_mentions": draw(st.lists(mentions, max_size=6)),
    }
    if draw(st.integers(0, 2)) == 0:
        article["evaluation_span"] = sorted(
            draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2, unique=True))
        )
    if draw(st.booleans()):
        article["hyperlinks"] = [[draw(span), "somewhere"]]
    return article


LIKE = pytest.mark.parametrize("profile", ["karat", "elevant", "elevant-paper"])
MEASURES = [f"{stage}{part}:micro.f1" for stage in ("strong", "mention") for part in ("[in-kb]", "")]
CORPORA = st.lists(articles(), min_size=1, max_size=3)


def loaded(found):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "linker.toys.linked_articles.jsonl"
        lines = [json.dumps({"id": number, **article}) for number, article in enumerate(found)]
        path.write_text("\n".join(lines), encoding="utf-8")
        corpus, (run,) = load_gold_and_runs(
            str(path), [str(path)], gold_format="elevant-linked", predictions_format="elevant-linked"
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


def ended(key, counts):
    ends = {"TP": counts.matched_gold, "FP": counts.unmatched_predictions, "FN": counts.unmatched_gold}
    return {(*key, end): count for end, count in ends.items() if count}


def counted(result):
    """The figures of a result under the reference's keys; only those that are not 0."""
    found = {}
    for mode, part in (("IGNORED", "[in-kb]"), ("REQUIRED", "")):
        own = found[mode] = {}
        for stage, view in (("link", f"strong{part}"), ("ner", f"mention{part}")):
            own |= ended((stage, "all"), result.counts(view))
            for kind, name in KINDS.items():
                if kind in result.groups["mention-type"][view]:
                    own |= ended((stage, name), result.groups["mention-type"][view][kind].counts)
        for kind, group in result.groups["entity-type"][f"strong{part}"].items():
            own |= ended(("type", "OTHER" if kind == NONE else kind), group.counts)
        groups = result.groups["error"][f"strong{part}"]
        for name, group in ((name, groups[name]) for name in PLACES):  # ELEVANT has no other categories
            place, words = PLACES[name][:2], get_plugin("categories", name, ErrorCategory).candidate_words
            own |= {(*place, "errors"): group.errors} if group.errors else {}
            own |= {(*place, "total"): group.total} if group.total and words is None else {}
    return found


def expected(found):
    """The figures of the reference; without those that words decide, or that are not there.

    ELEVANT writes null for both candidate categories, errors included, if no case has several candidates.
    """
    figures = reference.figures(found, FACTS)
    for mode, own in figures.items():
        several = own.pop("several", 0)
        figures[mode] = {
            key: count
            for key, count in own.items()
            if count
            and not (key[0] == "ner_fp" and key[1] in ("all", "lowercased", "other") and key[2] == "total")
            and not (key[1] in ("wrong_candidates", "multiple_candidates") and not several)
        }
    return figures


def score(corpus, run, profile, by=("mention-type", "error"), **options):
    return karat.evaluate(corpus, run, profile=profile, kb=KB, measures=MEASURES, by=by, **with_settings(options))


@given(CORPORA)
def test_the_profile_elevant_is_what_its_description_says(found):
    result = score(*loaded(found), "elevant", by=["mention-type", "entity-type", "error"])
    for mode, figures in expected(found).items():
        assert set(counted(result)[mode].items()) == set(figures.items()), mode


@pytest.mark.shared
def test_the_description_gives_published_figures(shared):
    """The reference itself, on what popular candidates do not decide: they are not published."""
    facts = _published_facts(shared / "elevant" / "kb")
    files = sorted(shared.glob("elevant/results/refined/*.linked_articles.jsonl.gz"))
    files = [path for path in files if "aida-conll" not in path.name]
    assert len(files) == 17
    for path in files:
        found = [_filled(json.loads(line)) for line in gzip.decompress(path.read_bytes()).splitlines()]
        given = json.loads(
            path.with_name(path.name.replace("linked_articles.jsonl.gz", "eval_results.json")).read_bytes()
        )
        for mode, own in reference.figures(found, facts).items():
            errors = given[mode]["error_categories"]
            stages = {("link", kind): figures for kind, figures in given[mode]["mention_types"].items()}
            for (stage, kind), figures in {**stages, ("ner", "entity"): errors["ner"]}.items():
                ends = {"TP": "true_positives", "FP": "false_positives", "FN": "false_negatives"}
                for end, name in ends.items():
                    assert own[stage, kind, end] == figures[name], (path.name, mode, stage, kind)
            for section, key in SETTLED:
                figures = errors[section][key]
                assert own[section, key, "errors"] == figures["errors"], (path.name, mode, section, key)
                if (section, key) not in OF_WORDS:
                    assert own[section, key, "total"] == figures["total"], (path.name, mode, section, key)


OF_WORDS = [("ner_fp", key) for key in ("all", "lowercased", "other")]
SETTLED = [
    *OF_WORDS,
    *(("ner_fp", key) for key in ("groundtruth_unknown", "wrong_span")),
    *(("ner_fn", key) for key in ("all", "lowercased", "partially_included", "partial_overlap", "other")),
    *(("wrong_disambiguation", key) for key in ("all", "demonym")),
    ("other_errors", "hyperlink"),
    ("wrong_coreference", "undetected"),
]


def _published_facts(folder):
    rows = [line.split("\t") for line in (folder / "entities.tsv").read_text(encoding="utf-8").splitlines()]
    return reference.Knowledge(
        {id: name for id, name, _ in rows if name},
        {id: tuple(filter(None, types.split("|"))) for id, _, types in rows},
        demonyms=frozenset((folder / "demonyms.txt").read_text(encoding="utf-8").splitlines()),
    )


def _filled(article):
    labels = [{"children": [], "type": "OTHER", "name": ""} | label for label in article["labels"]]
    return {"entity_mentions": []} | article | {"labels": labels}


# What holds under every profile ---------------------------------------------------------------------------------------


def groups(result):
    """Every figure by label, view and value."""
    return {
        (label, view, value): (group.counts, group.errors, group.total, group.undecided, group.measures)
        for label, views in result.groups.items()
        for view, values in views.items()
        for value, group in values.items()
    }


def shuffled(items, rng):
    items = list(items)
    rng.shuffle(items)
    return tuple(items)


def one_on_each_word(corpus, run):
    """The run without predictions that widen to the span of an earlier one: there the last in the file would win."""
    texts = {document.id: document.text for document in corpus}
    return Run.from_responses(
        replace(response, predictions=tuple(_distinct(response.predictions, texts[response.id]))) for response in run
    )


def _distinct(spans, text):
    wide = {reference.widened((span.start, span.end), text): span for span in reversed(spans)}
    return reversed(wide.values())


def _once(items):
    return tuple({(item.start, item.end, item.entity): item for item in items}.values())


@pytest.mark.both
@LIKE
@given(found=CORPORA, rng=st.randoms())
def test_order_never_matters(profile, found, rng):
    """But of labels, and of predictions, that say the same and are told apart only by what else is known about them."""
    corpus, run = loaded(found)
    assume(all(len(_once(document.labels)) == len(document.labels) for document in corpus))
    run = Run.from_responses(replace(response, predictions=_once(response.predictions)) for response in run)
    if profile == "elevant":
        run = one_on_each_word(corpus, run)
    documents = [replace(document, labels=shuffled(document.labels, rng)) for document in corpus]
    responses = [replace(response, predictions=shuffled(response.predictions, rng)) for response in run]
    one = score(corpus, run, profile)
    two = score(Corpus.from_documents(shuffled(documents, rng)), Run.from_responses(shuffled(responses, rng)), profile)
    assert groups(one) == groups(two)
    assert one.measures == two.measures


@LIKE
@given(found=CORPORA)
def test_gold_against_itself_has_no_errors(profile, found):
    corpus, _ = loaded(found)
    if profile == "elevant":  # a mention that shares its words with another finds what was answered last
        corpus = Corpus.from_documents(
            replace(d, labels=tuple(_distinct(d.labels, d.text)), evaluation_span=None) for d in map(_untied, corpus)
        )
    result = score(corpus, Run.from_gold(corpus), profile)
    for view in result.views:
        counts = result.counts(view)
        assert counts.unmatched_predictions == counts.unmatched_gold == 0
        assert result[f"{view}:micro.f1"] == 1 or counts.matched_gold == 0
    for groups in result.groups["error"].values():
        assert all(not group.errors for group in groups.values())
        undefined = {name for name, group in groups.items() if group.errors is None}
        assert undefined == list_candidate_categories(), "the gold standard as a run has no candidates"


def _untied(document):
    return replace(
        document, labels=tuple(replace(x, mention_id=None, parent=None, categories=()) for x in document.labels)
    )


@pytest.mark.both
@LIKE
@given(found=st.lists(articles(), min_size=2, max_size=4), cut=st.integers(1, 3))
def test_parts_sum_to_the_whole(profile, found, cut):
    corpus, run = loaded(found)
    documents, responses = list(corpus), list(run)
    sums = Counter()
    for part in (slice(0, cut), slice(cut, None)):
        if documents[part]:
            sums.update(
                summands(score(Corpus.from_documents(documents[part]), Run.from_responses(responses[part]), profile))
            )
    assert +sums == +Counter(summands(score(corpus, run, profile)))


def summands(result):
    """What adds up over documents: all but categories that are undefined unless the run has candidates somewhere."""
    sums = Counter()
    for (label, view, value), (counts, errors, total, undecided, _) in groups(result).items():
        if counts is not None:
            sums.update({(label, view, value, i): n for i, n in enumerate(astuple(counts))})
        elif not get_plugin("categories", value, ErrorCategory).needs_candidates:
            sums.update({(label, view, value, "errors"): errors, (label, view, value, "undecided"): undecided})
            sums[label, view, value, "total"] += total or 0
    return sums


@LIKE
@given(found=CORPORA)
def test_verdicts_sum_to_the_counts(profile, found):
    result = score(*loaded(found), profile)
    rows = result.verdicts.to_pylist()
    weights = ("matched_prediction", "unmatched_prediction", "matched_gold", "unmatched_gold")
    for view in result.views:
        own = [row for row in rows if row["view"] == view]
        assert tuple(sum(row[name] for row in own) for name in weights) == astuple(result.counts(view))
        for kind in {row["mention_type"] for row in own}:
            found_here = [sum(row[name] for row in own if row["mention_type"] == kind) for name in weights]
            group = result.groups["mention-type"][view].get(kind)
            assert found_here == ([0] * 4 if group is None else list(astuple(group.counts)))
        for name, group in result.groups["error"].get(view, {}).items():
            listed = sum(name in row["errors"] for row in own)
            # Mentions that are scored by their parts are listed, and do not count. Candidate categories are undefined,
            # and listed nowhere, if the run has no candidates.
            assert (group.errors or 0) <= listed
            assert group.errors is not None or not listed


@pytest.mark.both
@given(CORPORA)
def test_what_is_in_one_category_is_in_it_where_categories_overlap(found):
    """The first category that holds also holds where all count, and what is left over is the same."""
    one, every = (score(*loaded(found), "karat", categories=how) for how in ("mention", "all"))
    for view, values in one.groups["error"].items():
        for name, group in values.items():
            other = every.groups["error"][view][name]
            assert (group.errors is None) == (other.errors is None), "candidate categories need candidates"
            assert (group.errors or 0) <= (other.errors or 0)
            assert group.total is None or group.total <= other.total
        left = "disambiguation-other"
        assert values[left].errors == every.groups["error"][view][left].errors


# Widening -------------------------------------------------------------------------------------------------------------

TEXTS = st.text(alphabet="ab1é_'\" .-漢😀", min_size=1, max_size=12)


@given(st.data(), st.lists(TEXTS, min_size=1, max_size=3))
def test_widening_is_what_its_description_says(data, texts):
    spans = []
    for number, text in enumerate(texts):
        for _ in range(data.draw(st.integers(0, 4))):
            start = data.draw(st.integers(0, len(text) - 1))
            spans.append((number, start, data.draw(st.integers(start + 1, len(text)))))
    if not spans:
        return
    text, start, end = (np.array(column, np.int32) for column in zip(*spans, strict=True))
    low, high = expand_to_words(find_word_gaps(texts), text, start, end)
    again = expand_to_words(find_word_gaps(texts), text, low, high)
    for place, (number, first, last) in enumerate(spans):
        wide = int(low[place]), int(high[place])
        assert wide == reference.widened((first, last), texts[number])
        assert 0 <= wide[0] <= wide[1] <= len(texts[number])
        assert wide[1] >= last
        assert wide[0] <= first or texts[number][first] == '"'
        if '"' not in texts[number]:
            assert (int(again[0][place]), int(again[1][place])) == wide
