"""Algorithm 1 and what is made of its sample, on Wikipedias with known predictions."""

from __future__ import annotations

import errno
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, InputError, Label, UsageError
from karat.kb.in_memory_kb import InMemoryKB
from karat.protocols.zelda import sampled_benchmark
from karat.protocols.zelda.sampled_benchmark import SampleOptions, collect_entities, sample_benchmark
from karat.protocols.zelda.sampling import TestLinks as Links
from karat.protocols.zelda.sampling import draw_sections
from karat.protocols.zelda.texts.descriptions import first_sentence, opening_paragraph
from karat.protocols.zelda.texts.preparation import Preparation
from karat.protocols.zelda.texts.sections import LinkedSection, SectionLink, read_sections
from tests.protocols.zelda.wikipedia import crowd, write_wikipedia


def wanted(*titles: str) -> dict[str, Corpus]:
    labels = tuple(Label(number, number + 1, title.replace(" ", "_")) for number, title in enumerate(titles))
    return {"own": Corpus.from_documents([Document("d", "x" * len(titles), labels)])}


def section(number: int, *titles: str) -> LinkedSection:
    links = tuple(SectionLink(0, 1, title) for title in titles)
    return LinkedSection(str(number), None, "", "text", links)


def plainly(some: list[LinkedSection], entities: list[str], threshold: int, order: list[int]) -> list[int]:
    """Algorithm 1 as it is printed, with the exit for rare entities, over sections in some order."""
    total = Counter(link.title for one in some for link in one.links)
    waiting = {entity for entity in entities if total[entity]}
    counts: Counter[str | None] = Counter()
    kept = []
    for place in order:
        titles = [link.title for link in some[place].links]
        if waiting & set(titles):
            kept.append(place)
            for title in titles:
                counts[title] += 1
            waiting = {one for one in waiting if counts[one] < threshold and counts[one] < total[one]}
    return sorted(kept)


ENTITIES = [f"E{number}" for number in range(5)]
SECTIONS = st.lists(st.lists(st.sampled_from([*ENTITIES, "other"]), max_size=4), max_size=25)


@given(linked=SECTIONS, threshold=st.integers(1, 4), seed=st.integers(0, 3))
def test_the_walk_is_algorithm_1(linked, threshold, seed):
    some = [section(number, *titles) for number, titles in enumerate(linked)]
    links = Links.from_sections(some, ENTITIES, seed)
    found = draw_sections(links, len(ENTITIES), threshold)
    order = links.section_index[np.lexsort((links.section_index, links.key))].tolist()
    order += [place for place in range(len(some)) if place not in set(order)]  # wherever those without test links come
    assert found.sections.tolist() == plainly(some, ENTITIES, threshold, order)
    total = Counter(title for titles in linked for title in titles)
    for number, entity in enumerate(ENTITIES):
        assert found.totals[number] == total[entity]
        assert found.counts[number] >= min(threshold, total[entity])
    assert (found.reached_mask | found.exhausted_mask | found.absent_mask).all()


@given(linked=SECTIONS, order=st.randoms())
def test_the_order_of_the_files_does_not_matter(linked, order):
    some = [section(number, *titles) for number, titles in enumerate(linked)]
    mixed = list(some)
    order.shuffle(mixed)
    kept = [
        {
            every[place].page
            for place in draw_sections(Links.from_sections(every, ENTITIES), len(ENTITIES), 2).sections.tolist()
        }
        for every in (some, mixed)
    ]
    assert kept[0] == kept[1]


def test_every_order_is_equally_likely():
    """Three sections, of which the first that is drawn is kept: 3,000 seeds, and none is far from a third."""
    some = [section(number, "E0") for number in range(3)]
    first = Counter(
        int(draw_sections(Links.from_sections(some, ["E0"], seed), 1, 1).sections[0]) for seed in range(3000)
    )
    assert all(abs(count - 1000) < 5 * (3000 * 2 / 9) ** 0.5 for count in first.values())


PAGES = {
    "Ulm": {
        "Introduction": [("Ulm lies on the", "Ulm"), ("Danube", "Danube")],
        "History": [("Ulm", "Ulm"), ("the river", "Danube"), ("Old page", "Gone")],
        "See also": [("Danube", "Danube")],
    },
    "Danube": {"Introduction": [("A river.", "Ulm")], "Course": [("Ulm", "Ulm")], "Course#2": [("Bonn", "Bonn")]},
    "Bonn": {},
    "List of rivers": {"Rivers": [("Danube", "Danube")]},
    "Ulm (disambiguation)": {"Meanings": [("Ulm", "Ulm")]},
}


def test_pages_and_links_that_are_no_text_are_left_out(tmp_path):
    folder = write_wikipedia(tmp_path / "kdwd", PAGES)
    preparation = Preparation()
    found = [one for one in preparation.prepare(read_sections(str(folder))) if one is not None]
    assert [(one.title, one.name) for one in found] == [
        ("Ulm", "Introduction"),
        ("Ulm", "History"),
        ("Danube", "Introduction"),
        ("Danube", "Course"),
        ("Danube", "Course"),
    ]
    assert preparation.counts == {
        "sections of lists, redirects and disambiguation pages (excluded)": 2,
        "sections with little text, by their names (excluded)": 1,
        "dead links (excluded)": 1,
    }


def test_titles_are_renewed_by_the_knowledge_base(tmp_path):
    folder = write_wikipedia(tmp_path / "kdwd", PAGES)
    kb = InMemoryKB.from_tables(redirects={"Danube": "The Danube"}, entities=["The Danube", "Ulm"])
    preparation = Preparation(kb)
    found = [one for one in preparation.prepare(read_sections(str(folder))) if one is not None]
    assert {link.title for one in found for link in one.links} == {"Ulm", "The Danube"}
    assert preparation.counts["dead links (excluded)"] == 2  # to a page that is gone, and to Bonn
    assert {one.title for one in found} == {"Ulm", "Danube"}  # it was moved, and is an article all the same


def test_a_bed_by_hand(tmp_path):
    folder = write_wikipedia(tmp_path / "kdwd", PAGES)
    made = sample_benchmark(
        str(folder), wanted("Danube", "Paris"), str(tmp_path / "bed"), SampleOptions(description_extractor="paragraph")
    )
    assert (made.sections_read, made.sections_eligible, made.sections_drawn) == (8, 2, 2)
    assert (made.test_entities, made.entities_reached, made.entities_exhausted, made.entities_absent) == (2, 0, 1, 1)
    assert (made.train.documents, made.train.mentions, made.train.entities) == (2, 4, 2)
    assert made.tests["own"].mentions == 2
    rows = [json.loads(line) for line in (tmp_path / "bed" / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows[1] == {
        "page_id": 100,
        "title": "Ulm",
        "section_name": "History",
        "text": "Ulm the river Old page ",
        "index": [[0, 3], [4, 13]],
        "wikipedia_ids": [100, 101],
        "wikipedia_titles": ["Ulm", "Danube"],
    }
    vocabulary = (tmp_path / "bed" / "vocabulary.tsv").read_text(encoding="utf-8")
    assert vocabulary.splitlines() == ["101\tDanube", "\tParis", "100\tUlm"]
    said = [json.loads(line) for line in (tmp_path / "bed" / "descriptions.jsonl").read_text("utf-8").splitlines()]
    assert said[0] == {"wikipedia_id": "100", "wikipedia_title": "Ulm", "description": "Ulm lies on the Danube"}
    one, two = (karat.load(tmp_path / "bed" / f"train.{end}") for end in ("jsonl", "conll"))
    assert [document.text for document in one] == [document.text for document in two]
    assert [(label.start, label.end, label.entity, label.same_as) for document in one for label in document.labels] == [
        (label.start, label.end, label.entity, label.same_as) for document in two for label in document.labels
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bed", "kdwd"]


def test_titles_with_underscores_are_those_with_spaces(tmp_path):
    """In files like ZELDA-train they were other entities, so that no link led to a test entity."""
    record = {"id": "t", "text": "the Danube", "index": [[4, 10]], "wikipedia_titles": ["Blue_Danube"]}
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    (section,) = read_sections(str(path))
    assert section.links == (SectionLink(4, 10, "Blue Danube"),)
    made = sample_benchmark(str(path), wanted("Blue Danube"), str(tmp_path / "bed"), SampleOptions(threshold=1))
    assert made.entities_reached == 1


@pytest.mark.parametrize("suffix", ["jsonl", "conll", "zelda.jsonl"])
def test_a_sample_of_a_sample_has_the_titles_and_ids_of_its_pages(tmp_path, suffix):
    """The titles of pages were dropped, so training read ids as titles and samples had no descriptions."""
    folder = write_wikipedia(tmp_path / "kdwd", PAGES)
    sample_benchmark(str(folder), wanted("Danube"), str(tmp_path / "bed"))
    source = tmp_path / "bed" / f"train.{suffix}"
    if suffix == "zelda.jsonl":  # as `karat data convert` writes it: the title is in `meta`
        karat.save(karat.load(tmp_path / "bed" / "train.jsonl"), source)
        assert '"meta":{"title":"Ulm"}' in source.read_text(encoding="utf-8")
    again = str(tmp_path / "again")
    made = sample_benchmark(str(source), wanted("Danube"), again, SampleOptions(description_extractor="paragraph"))
    assert (tmp_path / "again" / "vocabulary.tsv").read_text(encoding="utf-8") == "101\tDanube\n100\tUlm\n"
    titles = [[one.meta["title"] for one in karat.load(f"{again}/train.{end}")] for end in ("jsonl", "conll")]
    assert titles == [["Ulm"] * made.train.documents] * 2
    # Only records have the names of sections, of which Introduction describes the page.
    assert made.described_entities == (0 if suffix == "conll" else 1)


def test_sections_of_one_name_are_kept_together_where_asked(tmp_path):
    folder = write_wikipedia(tmp_path / "kdwd", PAGES)
    kept = [
        sample_benchmark(
            str(folder), wanted("Bonn"), str(tmp_path / name), SampleOptions(same_name_sections=name == "all")
        ).train.documents
        for name in ("one", "all")
    ]
    assert kept == [1, 2]


def test_a_crowd_has_enough_of_every_entity(tmp_path):
    folder = write_wikipedia(tmp_path / "kdwd", crowd(800, 60))
    tests = wanted(*(f"E{number}" for number in range(0, 60, 3)))
    made = sample_benchmark(str(folder), tests, str(tmp_path / "bed"), SampleOptions(threshold=5))
    assert made.entities_reached + made.entities_exhausted + made.entities_absent == 20
    assert 0 < made.train.documents < made.sections_eligible
    linked = Counter(
        title
        for line in (tmp_path / "bed" / "train.jsonl").read_text(encoding="utf-8").splitlines()
        for title in json.loads(line)["wikipedia_titles"]
    )
    total = Counter(link.title for one in read_sections(str(folder)) for link in one.links)
    assert all(linked[entity] >= min(5, total[entity]) for entity in collect_entities(tests))
    again = sample_benchmark(str(folder), tests, str(tmp_path / "again"), SampleOptions(threshold=5))
    assert (tmp_path / "again" / "train.conll").read_bytes() == (tmp_path / "bed" / "train.conll").read_bytes()
    assert (
        sample_benchmark(str(folder), tests, str(tmp_path / "other"), SampleOptions(threshold=5, seed=2)).train
        != again.train
    )


def test_what_cannot_be_sampled_is_said(tmp_path):
    folder = write_wikipedia(tmp_path / "kdwd", {"Ulm": {"History": [("Old", "Gone")]}})
    with pytest.raises(InputError, match=r"1 sections without links to known pages.*dead links"):
        sample_benchmark(str(folder), wanted("Ulm"), str(tmp_path / "bed"))
    folder = write_wikipedia(tmp_path / "kdwd", PAGES)
    with pytest.raises(InputError, match="none of them to one of 1 test entities"):
        sample_benchmark(str(folder), wanted("Paris"), str(tmp_path / "bed"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(UsageError, match="already exists"):
        sample_benchmark(str(folder), wanted("Ulm"), str(tmp_path / "full"))
    (folder / "page.csv").unlink()
    with pytest.raises(InputError, match=r"no page\.csv"):
        sample_benchmark(str(folder), wanted("Ulm"), str(tmp_path / "bed"))


def test_a_full_disk_leaves_nothing_half_written_and_what_was_drawn_is_kept(tmp_path, monkeypatch):
    folder, target, calls = write_wikipedia(tmp_path / "kdwd", PAGES), tmp_path / "bed", []

    def full(corpus, file):
        raise OSError(errno.ENOSPC, "No space left on device")

    real = sampled_benchmark.draw_sections
    monkeypatch.setattr(sampled_benchmark, "draw_sections", lambda *given: calls.append(1) or real(*given))
    with monkeypatch.context() as once:
        once.setattr(sampled_benchmark, "write_conll", full)
        with pytest.raises(UsageError, match=r"No space left on device.*the draw is stored"):
            sample_benchmark(str(folder), wanted("Ulm"), str(target))
    assert not target.exists()
    assert [path.name for path in tmp_path.glob(".bed.*")] == [".bed.stage"]
    sample_benchmark(str(folder), wanted("Ulm"), str(target))
    assert calls == [1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bed", "kdwd"]
    other = sample_benchmark(str(folder), wanted("Danube"), str(tmp_path / "other"))
    assert other.test_entities == 1


def test_descriptions_are_paragraphs_or_sentences():
    text = "\n Ulm is a city. It lies in Germany, as Mr. Smith said.\n\nMore of it."
    assert opening_paragraph(text) == "Ulm is a city. It lies in Germany, as Mr. Smith said."
    assert first_sentence(text) == "Ulm is a city."
    assert first_sentence("") == opening_paragraph("  ") == ""


def test_the_commands_make_and_describe(tmp_path, karat_cli, monkeypatch):
    folder = write_wikipedia(tmp_path / "kdwd", PAGES)
    monkeypatch.chdir(tmp_path)
    record = {"id": "d", "text": "Danube", "index": [[0, 6]], "wikipedia_titles": ["Danube"]}
    Path("test_own.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    ran = karat_cli("zelda", "sample", folder, "test_own.jsonl", "--out", "bed", "--threshold", 1)
    assert (ran.code, ran.err) == (0, "")
    assert "of 1 test entities 1 were sampled 1 times or more" in ran.out
    assert "mean length: words and punctuation marks; the paper counts spaCy's tokens" in " ".join(ran.out.split())
    ran = karat_cli(
        "zelda", "describe", folder, "said.jsonl", "--vocabulary", "bed/vocabulary.tsv", "--extract", "sentence"
    )
    assert ran.out == "2 descriptions of 2 titles\n"
    ran = karat_cli("zelda", "audit", "bed/train.jsonl", "test_own.jsonl")
    assert ran.code == 0
