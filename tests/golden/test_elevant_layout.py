"""ELEVANT's own files, `--layout elevant`: one small article, worked by hand from the rules of its program.

Mía       Q1, found                                          right in both modes
left      optional, and linked to something else             spurious as a link, no matter as a span
Ulm, …    a mention with two parts, of which one is right    missed as a link, found as a span, by its parts
Zed       NIL, and said to be NIL                            right where NIL counts
twice     no mention                                         spurious
1842      a date, linked to a date                           no matter
"""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

import karat
from karat import KaratError, UsageError
from karat.data.load import load_gold_and_runs
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.category import ErrorCategory
from karat.model.spec.report import Report
from karat.plugins.reports.elevant.names import NAMES as ELEVANTS_NAMES

TEXT = "Mía left Ulm, Bavaria with Zed twice in 1842."
PERSON, PLACE = "Q215627", "Q27096213"
NAMES = {
    "Q1": "Mía Moss",
    "Q3": "Ulm",
    "Q4": "Bavaria",
    "Q6": "exit",
    "Q7": "repetition",
    "Q8": "Mía (ship)",
    "Q9": "Bavaria Street",
    "Q10": "1842",
}
TYPES = {"Q1": [PERSON], "Q3": [PLACE], "Q4": [PLACE], "Q6": [], "Q7": [], "Q9": [PLACE], "Q10": ["DATETIME", PLACE]}
POPULAR = {"Mía": ["Q1"], "Ulm, Bavaria": ["Q2"], "Zed": ["Q8"]}
LAYOUT = get_plugin("reports", "elevant", Report)
MODES = ("IGNORED", "REQUIRED")


def span(words):
    start = TEXT.index(words)
    return [start, start + len(words)]


def label(number, words, entity, name, kind, **more):
    return {"id": number, "span": span(words), "entity_id": entity, "name": name, "type": kind, **more}


def mention(words, entity, *candidates):
    by = {"recognized_by": "finder", "linked_by": "linker"}
    return {"span": span(words), "id": entity, **by, "candidates": list(candidates)}


LABELS = [
    label(0, "Mía", "Q1", "Mía Moss", PERSON),
    label(1, "Ulm, Bavaria", "Q2", "Ulm, Bavaria", PLACE, children=[2, 3]),
    label(2, "Ulm", "Q3", "Ulm", PLACE, parent=1),
    label(3, "Bavaria", "Q4", "Bavaria", PLACE, parent=1, coref=False),
    label(4, "left", "Q5", "override", "OTHER", optional=True),
    label(5, "Zed", "<NO_MAPPING>", "Unknown", "OTHER"),
    label(6, "1842", "1842", "1842", "DATETIME"),
]
MENTIONS = [
    mention("Mía", "Q1", "Q1", "Q8"),
    mention("Ulm", "Q3"),
    mention("Bavaria", "Q9", "Q4", "Q9"),
    mention("left", "Q6"),
    mention("Zed", "<NIL>"),
    mention("twice", "Q7", "Q99"),
    mention("1842", "Q10"),
]
ARTICLES = [
    {"id": 3, "title": "", "text": TEXT, "labels": LABELS, "entity_mentions": MENTIONS},
    {"id": 1, "title": "", "text": "Nobody came.", "labels": []},
]


@pytest.fixture
def linked(tmp_path):
    path = tmp_path / "linker.small.linked_articles.jsonl"
    path.write_text("".join(json.dumps(article) + "\n" for article in ARTICLES), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    kb = tmp_path / "kb"
    kb.mkdir()
    rows = [f"{id}\t{name}\t{'|'.join(TYPES.get(id, ()))}\n" for id, name in NAMES.items()]
    (kb / "entities.tsv").write_text("".join(rows), encoding="utf-8")
    (kb / "popular.tsv").write_text("".join(f"{t}\t{'|'.join(ids)}\n" for t, ids in POPULAR.items()), encoding="utf-8")
    (kb / "demonyms.txt").write_text("Welsh\n", encoding="utf-8")
    return kb


@pytest.fixture
def result(linked):
    corpus, [run] = load_gold_and_runs(str(linked), [str(linked)])
    kb = InMemoryKB.from_tables(names=NAMES, types=TYPES, popular=POPULAR, demonyms=["Welsh"])
    return karat.evaluate(corpus, run, profile="elevant", kb=kb, extra_measures=LAYOUT.measures, by=LAYOUT.facets)


def cases(result):
    return [json.loads(line) for line in LAYOUT.cases(result)]


TP, FP, FN = ["TP"], ["FP"], ["FN"]
ENDED = [
    # text, factor, linking and detection in both modes, optional, mention type, prediction
    ("Mía", 1, TP, TP, TP, TP, False, "ENTITY_NAMED", "Q1"),
    ("left", 1, FP, FP, [], [], True, "ENTITY_NON_NAMED", "Q6"),
    ("Ulm", 1, TP, TP, TP, TP, False, "ENTITY_NAMED", "Q3"),
    ("Ulm, Bavaria", 0, FN, FN, TP, TP, False, "ENTITY_NAMED", None),
    ("Bavaria", 1, ["FN", "FP"], ["FN", "FP"], TP, TP, False, "ENTITY_NAMED", "Q9"),
    ("Zed", 1, [], TP, [], TP, False, "ENTITY_UNKNOWN", "<NIL>"),
    ("twice", 1, FP, FP, FP, FP, False, "ENTITY_NON_NAMED", "Q7"),
    ("1842", 1, [], [], [], [], True, "ENTITY_NON_NAMED", "Q10"),
]


def test_how_every_case_ended(result):
    first, second = cases(result)
    assert second == []
    assert [
        (
            case["text"],
            case["factor"],
            *(case["linking_eval_types"][mode] for mode in MODES),
            *(case["ner_eval_types"][mode] for mode in MODES),
            case["optional"],
            case["mention_type"],
            case.get("predicted_entity", {}).get("entity_id"),
        )
        for case in first
    ] == ENDED


def test_a_mention_that_its_parts_speak_for_as_it_stands_in_the_file(result):
    avoided = [
        "AVOIDED_NER_FN",
        "AVOIDED_NER_FN_OTHER",
        "AVOIDED_NER_FN_PARTIALLY_INCLUDED",
        "AVOIDED_NER_FN_PARTIAL_OVERLAP",
        "AVOIDED_NER_FP_WRONG_SPAN",
    ]
    expected = {
        "span": span("Ulm, Bavaria"),
        "text": "Ulm, Bavaria",
        "candidates": [],
        "predicted_by": None,
        "error_labels": dict.fromkeys(MODES, avoided),
        "factor": 0,
        "linking_eval_types": dict.fromkeys(MODES, FN),
        "ner_eval_types": dict.fromkeys(MODES, TP),
        "optional": False,
        "true_entity": LABELS[1],
        "mention_type": "ENTITY_NAMED",
        "child_linking_eval_types": {mode: ["FN", "FP", "TP"] for mode in MODES},
        "child_ner_eval_types": dict.fromkeys(MODES, TP),
    }
    assert json.dumps(expected) in next(iter(LAYOUT.cases(result)))  # the order of keys included


def test_an_prediction_on_no_mention_as_it_stands_in_the_file(result):
    expected = {
        "span": span("twice"),
        "text": "twice",
        "candidates": [{"entity_id": "Q99", "name": "Unknown"}],
        "predicted_by": "linker",
        "error_labels": {mode: ["AVOIDED_NER_FP_WRONG_SPAN", "NER_FP", "NER_FP_LOWERCASED"] for mode in MODES},
        "factor": 1,
        "linking_eval_types": dict.fromkeys(MODES, FP),
        "ner_eval_types": dict.fromkeys(MODES, FP),
        "optional": False,
        "predicted_entity": {"entity_id": "Q7", "name": "repetition", "type": "OTHER"},
        "mention_type": "ENTITY_NON_NAMED",
    }
    assert json.dumps(expected) in next(iter(LAYOUT.cases(result)))


def test_what_is_said_of_entities_and_errors(result):
    said = {case["text"]: case for case in cases(result)[0]}
    assert [case["true_entity"] for case in cases(result)[0] if "true_entity" in case] == [
        LABELS[number] for number in (0, 4, 2, 1, 3, 5, 6)
    ]
    assert said["1842"]["predicted_entity"] == {"entity_id": "Q10", "name": "1842", "type": "DATETIME"}
    assert said["Bavaria"]["predicted_entity"]["type"] == PLACE
    assert said["Bavaria"]["error_labels"] == {mode: [] for mode in MODES}  # its mention speaks for it
    assert said["Mía"]["candidates"] == [
        {"entity_id": "Q1", "name": "Mía Moss"},
        {"entity_id": "Q8", "name": "Mía (ship)"},
    ]
    right = ["DISAMBIGUATION_CANDIDATES_CORRECT", "DISAMBIGUATION_CORRECT", "DISAMBIGUATION_MULTI_CANDIDATES_CORRECT"]
    assert [name for name in said["Mía"]["error_labels"]["IGNORED"] if name.startswith("DIS")] == [
        *right,
        "DISAMBIGUATION_PARTIAL_NAME_CORRECT",
    ]
    assert [name for name in said["Zed"]["error_labels"]["REQUIRED"] if name.startswith("DIS")] == [
        *right[:2],
        "DISAMBIGUATION_RARE_CORRECT",
    ]
    assert said["Zed"]["error_labels"]["IGNORED"] == ["AVOIDED_NER_FP_GROUNDTRUTH_UNKNOWN"]


def test_the_file_of_cases_is_ascii(result):
    assert '"text": "M\\u00eda"' in next(iter(LAYOUT.cases(result)))


def figures(tp, fp, fn):
    p = tp / (tp + fp) if tp + fp else 0
    r = tp / (tp + fn) if tp + fn else 0
    f1 = 2 * p * r / (p + r) if p + r else 0
    counts = {"true_positives": tp, "false_positives": fp, "false_negatives": fn, "ground_truth": tp + fn}
    return {**counts, "precision": p, "recall": r, "f1": f1}


@pytest.mark.both
def test_the_figures(result):
    text = LAYOUT.render([result])
    found = json.loads(text)
    assert text == json.dumps(found)
    assert list(found) == list(MODES)
    for mode, nil in zip(MODES, (0, 1), strict=True):  # a right NIL counts in one of them
        kinds, errors, types = (found[mode][name] for name in ("mention_types", "error_categories", "entity_types"))
        assert list(found[mode]) == ["mention_types", "error_categories", "entity_types"]
        assert kinds["all"] == kinds["entity"] == figures(1 + nil, 3, 1)
        assert kinds["entity_named"] == figures(1, 1, 1)
        assert kinds["entity_non_named"] == figures(0, 2, 0)
        assert kinds["entity_unknown"] == figures(nil, 0, 0)
        assert kinds["coref"] == figures(0, 0, 0)
        assert errors["ner"] == figures(2 + nil, 1, 0)
        assert errors["ner_fn"]["all"] == {"errors": 0, "total": 1 + nil}  # what its parts speak for has no weight here
        assert errors["ner_fp"]["wrong_span"] == {"errors": 0, "total": 2 + nil}
        assert errors["wrong_disambiguation"]["all"] == {"errors": 0, "total": 1 + nil}
        assert errors["wrong_disambiguation"]["rare"] == {"errors": 0, "total": nil}
        assert errors["wrong_disambiguation"]["multiple_candidates"] == {"errors": 0, "total": 1}
        assert errors["wrong_coreference"]["false_detection"] == 0
        assert types[PERSON] == figures(1, 0, 0)
        assert types[PLACE] == figures(0, 1, 1)
        assert types["OTHER"] == figures(nil, 2, 0)
        assert len(types) == 30


def test_every_category_of_elevants_has_a_place_of_its_own_in_the_files():
    assert set(ELEVANTS_NAMES) <= set(list_plugins("categories"))
    assert len({name[:2] for name in ELEVANTS_NAMES.values()}) == len(ELEVANTS_NAMES) == 23
    labels = [label for name in ELEVANTS_NAMES.values() for label in name[2:] if label]
    assert len(set(labels)) == len(labels)
    for name, theirs in ELEVANTS_NAMES.items():
        assert theirs.error
        assert not theirs.avoided or get_plugin("categories", name, ErrorCategory).is_avoided is not None


@pytest.mark.both
def test_words_are_counted_or_null_and_said(result):
    fp = json.loads(LAYOUT.render([result]))["IGNORED"]["error_categories"]["ner_fp"]
    totals = [fp[name]["total"] for name in ("all", "lowercased", "other")]
    notes = list(LAYOUT.notes(result))
    if find_spec("spacy") is None:
        assert totals == [None] * 3
        assert any("ner-fp-lowercased" in note and "pip install" in note for note in notes)
    else:
        assert totals == [11, 6, 5]  # 1842 and came have no capital
        assert not any("null" in note for note in notes)
    assert [fp[name]["errors"] for name in ("all", "lowercased", "other")] == [1, 1, 0]


def test_without_several_candidates_those_categories_are_null(linked, tmp_path):
    articles = json.loads(json.dumps(ARTICLES))
    for one in articles[0]["entity_mentions"]:
        one["candidates"] = one["candidates"][:1]
    linked.write_text("".join(json.dumps(article) + "\n" for article in articles), encoding="utf-8")
    corpus, [run] = load_gold_and_runs(str(linked), [str(linked)])
    found = karat.evaluate(corpus, run, profile="elevant", extra_measures=LAYOUT.measures, by=LAYOUT.facets)
    errors = json.loads(LAYOUT.render([found]))["REQUIRED"]["error_categories"]["wrong_disambiguation"]
    assert (errors["wrong_candidates"], errors["multiple_candidates"]) == (None, None)


def test_the_ordinary_table_of_cases_says_who_speaks_for_whom(result):
    rows = [row for row in result.verdicts.to_pylist() if row["view"] == "strong[in-kb]"]
    told = {row["text"]: (row["factor"], row["own"], row["outcome"]) for row in rows}
    assert told["Ulm, Bavaria"] == (False, "ignored", "fn")
    assert told["Bavaria"] == (True, "wrong link", "fp")
    assert told["Ulm"] == (True, "tp", "part")


def test_the_layout_needs_what_it_shows(linked):
    corpus, [run] = load_gold_and_runs(str(linked), [str(linked)])
    bare = karat.evaluate(corpus, run, profile="elevant")
    with pytest.raises(UsageError, match="by entity-type"):
        LAYOUT.render([bare])
    with pytest.raises(UsageError, match="by error"):
        LAYOUT.cases(bare)
    clean = karat.evaluate(corpus, run, profile="karat", extra_measures=LAYOUT.measures, by=LAYOUT.facets)
    assert json.loads(LAYOUT.render([clean])).keys() == set(MODES)
    with pytest.raises(UsageError, match="assignment=lookup"):
        LAYOUT.cases(clean)


def test_a_result_from_a_file_has_figures_but_no_cases(result):
    again = karat.Result.from_json(result.to_json())
    assert LAYOUT.render([again]) == LAYOUT.render([result])
    with pytest.raises(KaratError, match="read from a file"):
        LAYOUT.cases(again)


@pytest.mark.both
def test_the_command_writes_both_files(karat_cli, linked, folder, tmp_path, result):
    target, lines = tmp_path / "results.json", tmp_path / "cases.jsonl"
    profile = ("--profile", "elevant", "--kb", folder, "--layout", "elevant")
    ran = karat_cli("score", linked, *profile, "--json", target, "--verdicts", lines)
    assert ran.code == 0, ran.err
    assert target.read_text() == LAYOUT.render([result])
    assert lines.read_text() == "".join(f"{line}\n" for line in LAYOUT.cases(result))
    assert "disambiguation-rare" not in ran.out  # the table shows what was asked for
    if find_spec("spacy") is None:
        assert "counting words needs spaCy" in ran.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "elevant"], "--layout has no effect without --json or --verdicts"),
        (["--profile", "elevant", "--json", "r.json", "--verdicts", "c.parquet"], "JSON lines"),
        (["--json", "r.json", "--verdicts", "c.jsonl", "--profile", "karat"], "--profile elevant"),
    ],
)
def test_what_cannot_be_written_is_said_and_not_begun(karat_cli, linked, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    ran = karat_cli("score", linked, "--layout", "elevant", *arguments)
    assert ran.code != 0
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert sorted(tmp_path.iterdir()) == before
