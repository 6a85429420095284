"""Snapshots from dumps: what a hand-made world has to become."""

from __future__ import annotations

import shutil

import pyarrow.parquet as pq
import pytest

from karat.kb.catalogue import open_kb
from karat.kb.dumps.file_names import find_wikidata_dumps, find_wikipedia_dumps
from karat.kb.dumps.items import ItemReader
from karat.kb.dumps.wikidata import WikidataDumps, build_wikidata
from karat.kb.dumps.wikipedia import WikipediaDumps, build_wikipedia
from karat.kb.protocol import IdStatus
from karat.kb.snapshot import snapshot as snapshot_module
from karat.kb.snapshot.name_index_writer import iterate_weighted_aliases, write_name_index
from karat.model.errors import InputError, UsageError
from tests.kb.building import world
from tests.kb.building.generated import item, json_dump, sql_dump, store

pytestmark = pytest.mark.extras

DAY = "2026-11-01"


def wikipedia(files, folder, **changed):
    files = {**files, "articles": (files["articles"],), **changed}
    return build_wikipedia(WikipediaDumps(**files), folder, wiki="enwiki", date=DAY)


def wikidata(files, folder, **changed):
    return build_wikidata(WikidataDumps(**{**files, **changed}), folder, date=DAY, reader=ItemReader())


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    wikipedia(world.wikipedia_files(folder), folder / "en")
    wikidata(world.wikidata_files(folder), folder / "wd", wikipedia=folder / "en")
    return folder


def rows(folder, table):
    return [tuple(row.values()) for row in pq.read_table(folder / f"{table}.parquet").to_pylist()]


def test_redirects_of_redirects_and_escaped_titles_lead_to_their_item(built):
    kb = open_kb(built / "en")
    ids = ["Old capital", "enwiki:Berlin", "http://dbpedia.org/resource/Berlin,_Germany", "enwiki-page:22", "Q64"]
    assert kb.canonical_ids(ids) == ["Q64"] * 5
    odd = "It's \"odd\"),(9,0,'x\\"
    assert kb.canonical_ids([odd]) == ["Q1001"]
    assert kb.names(["Q1001"]) == [odd]
    assert kb.id_statuses(["Old capital", "Mercury", "Q7", "Round one"]) == [
        IdStatus.REDIRECTED,
        IdStatus.DISAMBIGUATION,
        IdStatus.AMBIGUOUS,
        IdStatus.UNKNOWN,
    ]


def test_what_cannot_be_followed_is_counted(built):
    found = open_kb(built / "en").manifest.repairs
    assert found == {
        "anchors to no page": 2,
        "items that several pages claim, not merged": 1,
        "pages listed twice, used once": 1,
        "redirects of redirects, followed to their end": 2,
        "redirects that never end, not followed": 3,
        "redirects to no page": 1,
        "redirects to themselves, skipped": 1,
        "redirects without a target": 2,
    }
    assert (built / "en" / "conflicts.tsv").read_text() == "enwiki\tenwiki:Twin A = Q7 = enwiki:Twin B\n"


def test_anchors_are_counted_as_readers_see_them(built):
    counts = {(id, alias): count for id, alias, count in rows(built / "en", "aliases") if count}
    assert counts == {
        ("Q64", "Berlin"): 3,
        ("Q64", "German capitals"): 1,
        ("Q64", "The old city"): 1,
        ("Q64", "Spree-Athen"): 1,
        ("Q1001", "odd thing"): 1,
        ("Q1726", "Munich"): 1,
        ("Q1726", "Berlin"): 1,
        ("enwiki:No item", "no item"): 1,
    }
    assert open_kb(built / "en").popular_entities(["Berlin"]) == [frozenset({"Q64"})]


def test_links_go_through_redirects_once_and_between_articles_only(built):
    expected = [
        ("Q1726", "Q64"),
        ("Q64", "Q1726"),
        ("Q64", "enwiki:No item"),
        ("enwiki:No item", "Q1001"),
    ]
    assert rows(built / "en", "links") == expected


def test_links_of_the_layout_before_2024_are_the_same(built, tmp_path):
    files = world.wikipedia_files(tmp_path, old_links=True)
    found = wikipedia(files, tmp_path / "en", linktarget=None)
    assert found.digest == open_kb(built / "en").manifest.digest


def test_items_have_names_types_and_kinds_by_best_rank(built):
    kb = open_kb(built / "wd")
    assert kb.names(["Q64", "Q1726", "Q9999"]) == ["Berlin", "Munich", None]
    assert kb.types(["Q64", "Q1726", "Q9999", "Q404"]) == [{"Q515"}, {"Q2221906"}, frozenset(), None]
    assert kb.types(["Q1984"]) == [{"Q235680", "DATETIME"}]
    assert kb.id_statuses(["Q48397", "Q6400", "Q71", "enwiki:Old capital"]) == [
        IdStatus.DISAMBIGUATION,
        IdStatus.REDIRECTED,
        IdStatus.UNKNOWN,
        IdStatus.REDIRECTED,
    ]
    assert kb.are_demonyms(["Berliner", "Berlinois"]) == [True, False]
    assert rows(built / "wd", "subclass_of") == [("Q100", "Q2221906"), ("Q235680", "Q577"), ("Q515", "Q2221906")]
    berlin = next(row for row in rows(built / "wd", "entities") if row[0] == "Q64")
    assert berlin[-1] == 3_700_000
    assert (built / "wd" / "conflicts.tsv").read_text() == "wikidata\tQ64 = freebase:m.0156q = Q8888\n"


def test_names_are_found_without_an_index_being_made(built, monkeypatch):
    monkeypatch.setattr(snapshot_module, "write_name_index", None)
    english, items = open_kb(built / "en").name_index, open_kb(built / "wd").name_index
    assert [(each.id, each.weight) for each in english.find_exact("Berlin")] == [("Q64", 3), ("Q1726", 1)]
    assert [each.id for each in english.find_by_prefix("no it")] == ["enwiki:No item"]
    assert [each.id for each in items.find_similar("Munihc")] == ["Q1726"]
    assert {each.id for each in items.find_similar("Berlim")} == {"Q64", "Q1726", "Q8888"}


def test_an_index_sorted_on_the_disk_is_the_one_sorted_in_memory(built, tmp_path):
    for name in ("en", "wd"):
        kb = open_kb(built / name)
        write_name_index(tmp_path / name, iterate_weighted_aliases(kb.get_table("aliases"), kb.get_table("entities")))
        for path in (tmp_path / name).iterdir():
            if path.name != "backwards":  # keys that are the same may stand in any order
                assert path.read_bytes() == (built / name / "names" / path.name).read_bytes(), path.name


def test_what_items_lack_is_counted(built):
    assert open_kb(built / "wd").manifest.repairs == {
        "entities that are not items, skipped": 1,
        "ids that several items claim, not merged": 1,
        "items listed twice, used once": 1,
        "items without a name in en": 1,
        "links of pages without an item in the dump, skipped": 2,
        "merged items that are in the dump, not redirected": 1,
        "merged items whose end is not in the dump": 1,
        "redirects listed twice, used once": 1,
        "redirects of redirects, followed to their end": 1,
        "redirects that never end, not followed": 2,
        "redirects to themselves, skipped": 1,
        "subclass-of statements that close a cycle, skipped": 2,
    }


def test_without_anchors_sites_make_popular(tmp_path):
    found = wikidata(world.wikidata_files(tmp_path), tmp_path / "wd")
    assert found.anchor_counts == "none"
    assert found.popularity == "sites with a page about the item"
    assert open_kb(tmp_path / "wd").popular_entities(["Berlin"]) == [frozenset({"Q64"})]


def test_without_anchors_and_links_only_the_names_of_one_entity_have_a_popular_one(tmp_path):
    """The number of links was 0 for all, and the manifest named links as the source of popularity."""
    files = world.wikipedia_files(tmp_path)
    found = wikipedia(files, tmp_path / "en", articles=(), pagelinks=None, linktarget=None)
    assert found.popularity.startswith("unknown without counts, links or population")
    kb = open_kb(tmp_path / "en")
    assert set(pq.read_table(tmp_path / "en" / "entities.parquet").column("in_links").to_pylist()) == {None}
    assert kb.popular_entities(["Berlin"]) == [frozenset({"Q64"})]
    assert kb.have_frequencies(["Q64"]) == [False]


def test_nothing_is_left_beside_a_whole_snapshot(built):
    assert not [path.name for path in built.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("which", ["page", "articles", "pagelinks"])
def test_a_cut_dump_leaves_the_old_snapshot_and_is_continued(built, tmp_path, which):
    files = world.wikipedia_files(tmp_path)
    shutil.copytree(built / "wd", tmp_path / "en")  # any good snapshot
    before = (tmp_path / "en" / "manifest.json").read_bytes()
    data = files[which].read_bytes()
    files[which].write_bytes(data[: len(data) - 40])
    with pytest.raises(InputError, match="it resumes from there"):
        wikipedia(files, tmp_path / "en")
    assert (tmp_path / "en" / "manifest.json").read_bytes() == before
    files[which].write_bytes(data)
    assert wikipedia(files, tmp_path / "en").digest == open_kb(built / "en").manifest.digest


def test_reading_goes_on_behind_what_was_read(tmp_path, monkeypatch):
    """Lines before the point are not parsed again."""
    items = [
        {"type": "item", "id": f"Q{n}", "labels": {"en": {"value": f"name {n}" + "x" * 500}}} for n in range(20_000)
    ]
    whole = store(tmp_path / "whole.json.gz", json_dump(items))
    path = tmp_path / "items.json.gz"
    data = whole.read_bytes()
    path.write_bytes(data[: len(data) * 3 // 4])
    with pytest.raises(InputError):
        wikidata({"items": path}, tmp_path / "wd")
    path.write_bytes(data)
    read = []
    parse = ItemReader.parse_block

    def spied(self, block, label):
        read.append(len(block.data))
        return parse(self, block, label)

    monkeypatch.setattr(ItemReader, "parse_block", spied)
    assert wikidata({"items": path}, tmp_path / "wd").counts["entities"] == 20_000
    assert sum(read) < 0.5 * sum(map(len, json_dump(items)))


def test_another_dump_of_the_same_name_is_read_anew(tmp_path):
    items = [item(f"Q{number}", {"en": "a"}) for number in range(1, 50)]
    path = store(tmp_path / "items.json", json_dump(items))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(InputError, match="closing bracket"):
        wikidata({"items": path}, tmp_path / "wd")
    store(path, json_dump(items[:7]))
    assert wikidata({"items": path}, tmp_path / "wd").counts["entities"] == 7


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("page", sql_dump("redirect", world.REDIRECTS), "a dump of 'redirect'; expected a dump of 'page'"),
        ("page", [b"hello\n"], "no MediaWiki table"),
        (
            "page",
            [b"".join(sql_dump("page", world.PAGES)).replace(b"'wikitext',NULL", b"'wikitext'", 1)],
            r"does not fit: .\(1,0,'Berlin'",
        ),
        ("articles", [b"<html></html>"], "expected pages of a wiki"),
        ("articles", [b"<mediawiki>\n<page><title>&undefined;</title></page>\n</mediawiki>\n"], "not XML"),
    ],
)
def test_wrong_files_are_said(tmp_path, name, content, said):
    files = world.wikipedia_files(tmp_path)
    files[name] = store(tmp_path / "wrong", content)
    with pytest.raises(InputError, match=said):
        wikipedia(files, tmp_path / "en")
    assert not (tmp_path / "en").exists()


def test_what_duckdb_cannot_do_is_said(tmp_path):
    files = world.wikidata_files(tmp_path)
    with pytest.raises(UsageError, match=r"--memory 4GB. Tables read so far are kept"):
        build_wikidata(WikidataDumps(**files), tmp_path / "wd", date=DAY, reader=ItemReader(), memory="a lot")


def test_dumps_are_known_by_their_names(tmp_path):
    files = world.wikipedia_files(tmp_path)
    found, wiki = find_wikipedia_dumps([tmp_path])
    assert (wiki, found.page, found.articles) == ("enwiki", files["page"], (files["articles"],))
    with pytest.raises(UsageError, match=r"needs page\.sql and redirect\.sql"):
        find_wikipedia_dumps([files["page"]])
    with pytest.raises(UsageError, match="is not the name of a dump"):
        find_wikipedia_dumps([tmp_path / "what.txt"])
    with pytest.raises(UsageError, match="not the name of a Wikipedia"):
        find_wikipedia_dumps([tmp_path], "it's")
    with pytest.raises(UsageError, match="needs its JSON dump"):
        find_wikidata_dumps([files["page"]])


def test_text_that_is_not_utf8_is_left_out_and_counted(tmp_path):
    files = world.wikipedia_files(tmp_path)
    data = b"".join(sql_dump("page", world.PAGES)).replace(b"Twin_A", b"Twin\xff_A")
    files["page"].write_bytes(data)
    files["page"] = files["page"].rename(tmp_path / "page.sql")
    assert wikipedia(files, tmp_path / "en").repairs["rows of page with text that is not UTF-8, skipped"] == 1
