"""`karat reproduce elevant`: ELEVANT's published evaluations, recomputed; and what is said where something differs."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import karat
from karat import InputError
from karat.data.load import load_gold_and_runs
from karat.model.registry import get_plugin
from karat.model.spec.report import Report
from karat.model.spec.suite import ComparisonCounts
from karat.protocols.suites.elevant import reproduce_elevant

LAYOUT = get_plugin("reports", "elevant", Report)
WORDS = {"ner_fp.all", "ner_fp.lowercased", "ner_fp.other"}
NEEDS_FACTS = {f"wrong_disambiguation.{name}" for name in ("metonymy", "partial_name", "rare", "other")}
SOME = (
    "ambiverse/ambiverse.kore50",
    "baseline/baseline.wiki-fair-v2",
    "dbpedia-spotlight/dbpedia_spotlight.spotlight",
    "genre/genre__yago_.news-fair-v2-no-coref",
    "oracle/oracle.msnbc-updated",
    "refined/refined__aida_.rss-500",
    "rel/rel__2014_.oke-2015-train",
)
TEXT = "Ida met the old poet in Rhyl. It rained."
SPACY = find_spec("spacy") is not None


@pytest.mark.both
@pytest.mark.shared
def test_some_shared_pairs_are_equal_but_for_missing_facts(shared, tmp_path):
    results = shared / "elevant" / "results"
    for name in SOME:
        for path in (results / name).parent.glob(f"{Path(name).name}.*"):
            (tmp_path / path.name).symlink_to(path)
    found = reproduce_elevant(str(tmp_path), str(shared / "elevant" / "kb"))
    assert found.experiments == len(SOME)
    free = NEEDS_FACTS if SPACY else NEEDS_FACTS | WORDS
    for name, group in found.groups.items():
        assert group.experiments == len(SOME)
        assert group.equal_figures == group.figures or name in free, name
    cases, labels = found.extra_groups["cases"], found.extra_groups["error labels"]
    assert cases.figures == cases.equal_figures > 5_000
    assert labels.equal_figures / labels.figures > 0.98
    assert None not in found.reasons
    if SPACY:
        assert found.n_equal / found.figures > 0.988


@pytest.mark.shared
@pytest.mark.extras
def test_all_shared_pairs(shared):
    found = reproduce_elevant(str(shared / "elevant"))
    assert found.experiments == 121
    plain = {name: group.equal_experiments for name, group in found.groups.items()}
    short = {
        "entity_named": 109,  # AIDA's predictions have entities without names and types
        "entity_non_named": 109,
        "entity_types": 109,
        "ner_fp.all": 107,  # AIDA's texts are masked
        "ner_fp.lowercased": 107,
        "wrong_disambiguation.metonymy": 71,
        "wrong_disambiguation.partial_name": 97,
        "wrong_disambiguation.rare": 22,
        "wrong_disambiguation.other": 21,
    }
    assert {name: count for name, count in plain.items() if count < 121} == short
    cases, labels = found.extra_groups["cases"], found.extra_groups["error labels"]
    assert cases == ComparisonCounts(107, 107, 134_566, 134_566)
    assert labels.equal_figures >= 133_297
    assert found.figures == 76_616
    assert found.n_equal >= 74_545
    assert None not in found.reasons


def place(words, **more):
    start = TEXT.index(words)
    return {"span": [start, start + len(words)], **more}


ARTICLE = {
    "id": 1,
    "title": "",
    "text": TEXT,
    "labels": [
        place("Ida", id=0, entity_id="Q1", name="Ida", type="Q215627"),
        place("Rhyl", id=1, entity_id="Q2", name="Rhyl", type="Q27096213"),
    ],
    "entity_mentions": [
        place("Ida", id="Q1", linked_by="linker", candidates=[]),
        place("Rhyl", id="Q3", linked_by="linker", candidates=[]),
        place("It", id="Q4", linked_by="linker", candidates=[]),
        place("the old poet", id="Q4", linked_by="linker", candidates=[]),
    ],
}


@pytest.fixture
def folder(tmp_path):
    """A pair as ELEVANT would have evaluated it in 2024, if it had these facts."""
    here = tmp_path / "results" / "linker"
    here.mkdir(parents=True)
    linked = here / "linker.small.linked_articles.jsonl"
    linked.write_text(json.dumps(ARTICLE) + "\n")
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb" / "entities.tsv").write_text(
        "Q1\tIda\tQ215627\nQ2\tRhyl\tQ27096213\nQ3\tRhyl Street\tQ27096213\nQ4\tpoet\tQ12737077\n"
    )
    (tmp_path / "kb" / "popular.tsv").write_text("Ida\tQ1\nRhyl\tQ3\nIt\tQ4\n")
    (tmp_path / "kb" / "demonyms.txt").write_text("Welsh\n")
    corpus, [run] = load_gold_and_runs(str(linked), [str(linked)])
    kb = str(tmp_path / "kb")
    result = karat.evaluate(corpus, run, profile="elevant", kb=kb, extra_measures=LAYOUT.measures, by=LAYOUT.facets)
    (here / "linker.small.eval_results.json").write_text(LAYOUT.render([result]))
    (here / "linker.small.eval_cases.jsonl").write_text("".join(f"{line}\n" for line in LAYOUT.cases(result)))
    (here / "linker.small.metadata.json").write_text('{"timestamp": "2024/07/11 16:42"}')
    return tmp_path


def edited(path, edit):
    data = [json.loads(line) for line in path.read_text().splitlines()]
    edit(data)
    path.write_text("".join(json.dumps(line) + "\n" for line in data))


@pytest.mark.both
def test_a_pair_agrees_with_itself(folder, karat_cli):
    ran = karat_cli("reproduce", "elevant", "--data", folder)
    lines = ran.out.splitlines()
    assert ran.code == 0, ran.out
    assert lines[-2:] == ["1 pairs, 1 fully equal", "COMPARED 632 EQUAL 632"]
    assert next(line for line in lines if line.startswith("cases")).split() == ["cases", "1", "1", "4", "4"]


def test_a_folder_of_linked_articles_will_do(folder):
    found = reproduce_elevant(str(folder / "results" / "linker"), str(folder / "kb"))
    assert (found.experiments, found.figures, found.differences) == (1, 632, ())


def test_a_figure_that_differs_is_named(folder, karat_cli, tmp_path):
    def edit(data):
        data[0]["REQUIRED"]["mention_types"]["all"]["true_positives"] += 1

    edited(folder / "results" / "linker" / "linker.small.eval_results.json", edit)
    ran = karat_cli("reproduce", "elevant", "--data", folder, "--json", tmp_path / "found.json")
    lines = ran.out.splitlines()
    assert ran.code == 1
    assert "linker.small: all: REQUIRED.mention_types.all.true_positives is 1, expected 2" in lines
    assert lines[-3:] == [
        "1 difference: not explained",
        "1 pairs, 0 fully equal",
        "COMPARED 632 EQUAL 631",
    ]
    written = json.loads((tmp_path / "found.json").read_text())
    assert [one["figure"] for one in written["differences"]] == ["REQUIRED.mention_types.all.true_positives"]
    assert written["groups"]["all"] == {
        "experiments": 1,
        "equal_experiments": 0,
        "figures": 14,
        "equal_figures": 13,
    }


def test_cases_that_differ_are_named_and_error_labels_apart(folder):
    def edit(data):
        data[0][0]["factor"] = 0
        data[0][1]["error_labels"]["IGNORED"] = ["NER_FP"]
        del data[0][3]

    edited(folder / "results" / "linker" / "linker.small.eval_cases.jsonl", edit)
    found = reproduce_elevant(str(folder))
    assert found.n_equal == found.figures
    assert found.extra_groups["cases"] == ComparisonCounts(1, 0, 4, 2)
    assert found.extra_groups["error labels"] == ComparisonCounts(1, 0, 4, 2)
    assert [(one.group, one.figure) for one in found.differences] == [
        ("cases", "document 1, case 1"),
        ("error labels", "document 1, case 2"),
        ("cases", "document 1, case 4"),
    ]
    assert found.differences[1].expected == "IGNORED NER_FP"


def test_the_rule_for_coreference_follows_the_date(folder):
    (folder / "results" / "linker" / "linker.small.metadata.json").write_text('{"timestamp": "2025/01/16 00:00"}')
    found = reproduce_elevant(str(folder))
    figures = [one for one in found.differences if one.group != "error labels"]
    assert [(one.figure, one.value, one.expected) for one in figures] == [
        (f"{mode}.error_categories.wrong_coreference.false_detection", 2, 1) for mode in ("IGNORED", "REQUIRED")
    ]
    assert [note for note in found.notes if "false-coreference=coreference" in note]


def test_what_the_knowledge_base_lacks_explains_a_difference(folder):
    changed = {"wrong_disambiguation.rare", "wrong_disambiguation.other", "error labels"}
    (folder / "kb" / "popular.tsv").write_text("Ida\tQ1\nIt\tQ4\n")
    unknown = reproduce_elevant(str(folder))
    assert {one.group for one in unknown.differences} == changed
    assert set(unknown.reasons) == {"facts that the knowledge base lacks"}
    (folder / "kb" / "popular.tsv").write_text("Ida\tQ1\nRhyl\tQ2\nIt\tQ4\n")
    wrong = reproduce_elevant(str(folder))
    assert {one.group for one in wrong.differences} == changed
    assert set(wrong.reasons) == {None}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("linker.small.eval_results.json", "{", "an invalid file"),
        ("linker.small.eval_cases.jsonl", '[{"span": 1}]\n', "an invalid file"),
        ("linker.small.metadata.json", "[]", "expected a JSON object with experiment_name"),
        ("linker.small.eval_cases.jsonl", "LABELS", "an invalid file"),
    ],
)
def test_damaged_files_are_named(folder, name, content, message):
    path = folder / "results" / "linker" / name
    if content == "LABELS":
        edited(path, lambda data: data[0][0].update(error_labels=5))
    else:
        path.write_text(content)
    with pytest.raises(InputError, match=message) as problem:
        reproduce_elevant(str(folder))
    assert name in str(problem.value)


def test_where_nothing_can_be_compared(folder, karat_cli):
    (folder / "results" / "linker" / "linker.small.eval_results.json").unlink()
    ran = karat_cli("reproduce", "elevant", "--data", folder)
    assert ran.code != 0
    assert "no linked articles with eval_results.json" in ran.err
    assert "Traceback" not in ran.err
