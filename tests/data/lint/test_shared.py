"""The defects that are known of published benchmarks are found, with the counts that their descriptions give."""

from __future__ import annotations

from collections import Counter

import pytest

from karat.data.lint.context import build_context
from karat.data.lint.lint import LintReport, fix_documents, lint, read_gold, select_rules, to_fixed_corpus

pytestmark = [pytest.mark.shared, pytest.mark.extras]  # every corpus is linted: half a minute

ALL = select_rules([], [])


def linted(path, format: str, **tables: str) -> LintReport:
    """What is found in a file, once it has been checked that fixing it works."""
    gold = read_gold(str(path), format=format)
    context = build_context(gold.documents, skipped=gold.skipped, **tables)
    better = fix_documents(gold.documents, ALL, context)
    assert not any(lint(better, ALL, context).count_by_rule(fixable=True).values())
    to_fixed_corpus(gold, better)
    return lint(gold.documents, ALL, context)


def found(report: LintReport) -> dict[str, int]:
    """Errors and warnings by rule."""
    return {name: n for name, n in report.count_by_rule().items() if n and report.rules[name].severity != "hint"}


def of(report: LintReport, rule: str) -> list:
    return [one.finding for one in report.findings if one.rule == rule]


# --- specs/finegrained.md, section 3.


@pytest.fixture
def categorised(shared):
    return lambda name: linted(shared / "finegrained" / "gold" / f"categorized{name}.ttl", "nif-categorised")


def test_ace04(categorised):
    report = categorised("ACE04")
    assert found(report) == {"category-dimension": 3, "crossing": 3, "illegal-iri": 1, "missing-types": 1}
    assert {one.surface for one in of(report, "category-dimension")} == {"Palestinians"}
    assert "outside trade" in {one.surface for one in of(report, "crossing")}
    said = [one.description for one in of(report, "illegal-iri") + of(report, "missing-types")]
    assert all("Executive_director" in description for description in said)


def test_voxel(categorised):
    report = categorised("VoxEL")
    assert found(report) == {"overlap-tag": 7}
    places = {(one.document, one.span): one.surface for one in of(report, "overlap-tag")}
    assert sorted(places.values()) == ["15 February", "21", "Christians", "Egyptian", "attacks"]


def test_kore50(categorised):
    report = categorised("KORE50")
    assert found(report) == {"encoding": 1}
    assert "U+FEFF" in of(report, "encoding")[0].description
    assert "2 times" in of(report, "encoding")[0].description


def test_damaged_links_of_systems(shared):
    description = Counter[str]()
    for path in sorted((shared / "finegrained" / "systems").glob("*.ttl")):
        for one in of(linted(path, "nif-categorised"), "encoding"):
            description[one.description.partition(" in 'http")[0]] += "in the text" not in one.description
    assert +description == {"a replacement character (U+FFFD)": 7, "an HTML entity": 1}


# --- specs/zelda.md, section 3 and addenda.


@pytest.fixture(scope="module")
def splits(shared):
    paths = sorted((shared / "zelda" / "jsonl").glob("test_*.jsonl.gz"))
    return {path.name.removeprefix("test_").split(".")[0]: linted(path, "zelda") for path in paths}


def test_white_space_and_spans_past_the_end(splits):
    counts = {name: len(of(report, "white-space")) for name, report in splits.items()}
    # The 22 that are listed, and the title that goes past its text, which the reader made longer with blanks.
    assert +Counter(counts) == {
        "wned-wiki": 14,
        "cweb": 6,
        "shadowlinks-top": 1,
        "shadowlinks-shadow": 1,
        "shadowlinks-tail": 1,
    }
    past = [one.description for report in splits.values() for one in of(report, "reading")]
    assert past == [
        f"texts extended with spaces, since a span exceeds their end (in line {line}): 1" for line in (280, 243)
    ]


def test_spans_inside_words(splits):
    assert "of Fredo" in {one.surface for one in of(splits["shadowlinks-top"], "word-boundary")}
    wrong = [
        (one.document, one.span)
        for rule in ("word-boundary", "white-space")
        for one in of(splits["wned-wiki"], rule)
        if one.document == "Jiří_Třanovský"
    ]
    assert len(set(wrong)) >= 19


def test_html_entities(splits):
    inside = [one for one in of(splits["wned-wiki"], "encoding") if "&amp;" in one.surface]
    assert len(inside) == 12


def test_documents_without_mentions(splits):
    counts = {name: len(of(report, "empty-document")) for name, report in splits.items()}
    assert +Counter(counts) == {"aida-b": 1, "tweeki": 14}


def test_documents_without_mentions_in_conll(shared):
    report = linted(shared / "zelda" / "conll" / "test_wned-wiki.conll", "zelda-conll")
    assert len(of(report, "empty-document")) == 26


def test_documents_that_are_nearly_the_same(splits):
    assert len(of(splits["cweb"], "near-duplicates")) == 27  # counted with sets of runs, without an index


# --- specs/elevant.md, section (f).


@pytest.fixture
def elevant(shared):
    tables = {"kb": str(shared / "elevant" / "kb"), "types": str(shared / "elevant" / "whitelist_types.tsv")}
    folder = shared / "elevant" / "benchmarks"
    return lambda name: linted(folder / f"{name}.benchmark.jsonl.gz", "elevant", **tables)


def test_the_dangling_parent(elevant):
    report = elevant("news-fair-v2-no-coref")
    lost = [one.description for one in of(report, "parents") if one.fixable]
    assert lost == ["its parent 20 is not in the document"]
    for rule in ("unknown-id", "other-ids"):
        assert [one.description.split()[0] for one in of(report, rule)] == ["QANTITY", "Margaret"]


def test_shifted_spans(elevant):
    assert found(elevant("oke-2015-train")) == {"type-whitelist": 17, "white-space": 5, "word-boundary": 7}
    assert found(elevant("spotlight")) == {"type-whitelist": 201, "word-boundary": 9}
    assert found(elevant("aida-conll-test")) == {"type-whitelist": 33}


# --- specs/bat.md, section 12.


def test_msnbc(shared):
    report = linted(shared / "bat" / "MSNBC", "wned")
    differ = [one.description for one in of(report, "reading")]
    assert differ == [
        "labels whose surface form differs from the text at their span (in Problems/Bus3683270.txt, "
        "Problems/Ent16444023.txt, Problems/Ent16453733.txt, …): 12"
    ]


def test_aquaint_and_ace(shared):
    assert found(linted(shared / "bat" / "AQUAINT", "wned")) == {}
    ace = linted(shared / "bat" / "ACE2004_Coref_Turking" / "Dev", "wned")
    assert found(ace) == {"illegal-iri": 19}
    assert len(of(ace, "empty-document")) == 57 - 36


def test_iitb(shared):
    report = linted(shared / "bat" / "iitb", "iitb")
    assert found(report) == {
        "crossing": 2,
        "disambiguation": 132,
        "duplicate-span": 1443,
        "encoding": 7,
        "white-space": 1,
        "word-boundary": 1,
    }


def test_iitb_without_its_duplicates_has_the_published_counts(shared):
    gold = read_gold(str(shared / "bat" / "iitb"), format="iitb")
    better = fix_documents(gold.documents, select_rules(["duplicate-span"], []), build_context(gold.documents))
    linked = [(one.id, label.span) for one in better for label in one.labels if isinstance(label.entity, str)]
    assert (len(linked), len(set(linked))) == (11_254, 11_194)


def test_the_damaged_type_of_neel(shared, tmp_path):
    types = tmp_path / "types.tsv"
    types.write_text("Person\nLocation\nOrganization\nProduct\nThing\nEvent\nCharacter\n")
    path = shared / "bat" / "neel2016" / "NEEL2016-training_neel.gs"
    [one] = of(linted(path, "neel", types=str(types)), "type-whitelist")
    assert "Organization373937812812615000" in one.description


def test_redirects_by_a_table(shared):
    table = str(shared / "kb" / "wikipedia_redirects_sample.json")
    report = linted(shared / "bat" / "MSNBC", "wned", redirects=table)
    assert found(report) == {"redirect": 22}
