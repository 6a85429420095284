"""A small world with everything that makes dumps hard, and the predictions that a snapshot of it has to give."""

from __future__ import annotations

from pathlib import Path

from tests.kb.building.generated import item, json_dump, page_row, redirect_row, sql_dump, store, xml_dump

PAGES = [
    page_row(1, "Berlin"),
    page_row(2, "It's \"odd\"),(9,0,'x\\"),
    page_row(3, "München"),
    page_row(4, "Mercury"),
    page_row(5, "List of cities"),
    page_row(6, "Twin A"),
    page_row(7, "Twin B"),
    page_row(8, "No item"),
    page_row(20, "Berlin, Germany", redirect=True),
    page_row(21, "Capital of Germany", redirect=True),
    page_row(22, "Old capital", redirect=True),
    page_row(23, "Round one", redirect=True),
    page_row(24, "Round two", redirect=True),
    page_row(25, "Into the round", redirect=True),
    page_row(26, "Itself", redirect=True),
    page_row(27, "To nowhere", redirect=True),
    page_row(28, "To another wiki", redirect=True),
    page_row(29, "Said by nobody", redirect=True),
    page_row(30, "Berlin", namespace=14),
    page_row(1, "Berlin"),  # once more
]
REDIRECTS = [
    redirect_row(20, "Berlin"),
    redirect_row(21, "Berlin, Germany"),
    redirect_row(22, "Capital of Germany"),
    redirect_row(23, "Round two"),
    redirect_row(24, "Round one"),
    redirect_row(25, "Round one"),
    redirect_row(26, "Itself"),
    redirect_row(27, "A page that is not there"),
    redirect_row(28, "Berlin", interwiki="de"),
    redirect_row(30, "Berlin", namespace=14),
]
PROPS = [
    (1, "wikibase_item", "Q64", None),
    (2, "wikibase_item", "Q1001", None),
    (3, "wikibase_item", "Q1726", None),
    (4, "wikibase_item", "Q48397", None),
    (4, "disambiguation", "", None),
    (5, "wikibase_item", "Q5000", None),
    (6, "wikibase_item", "Q7", None),
    (7, "wikibase_item", "Q7", None),
    (1, "page_image_free", "Siegessäule_\\_'x'.jpg", 1.5),
]
TITLES = ["Berlin", "Berlin,_Germany", "München", "Old_capital", "Round_one", "Not_there", "No_item"]
TARGETS = [(100 + number, 0, title) for number, title in enumerate(TITLES)] + [(200, 14, "Berlin")]
LINKS = [
    (3, 0, 100),  # München → Berlin
    (3, 0, 101),  # … again, through a redirect
    (8, 0, 103),  # No item → Berlin, through three
    (1, 0, 102),
    (1, 0, 100),  # to itself
    (1, 0, 104),  # into a cycle
    (1, 0, 105),
    (1, 0, 200),  # to a category
    (30, 14, 100),  # from one
    (20, 0, 102),  # from a redirect
    (2, 0, 106),
]
OLD_LINKS = [
    (source, space, title, from_space)
    for source, from_space, target in LINKS
    for id, space, title in TARGETS
    if id == target
]
TEXT = """{{Infobox city|name=[[Berlin]]|map={{Map|[[München]]|x={{y|[[Berlin|deep]]}}}}}}
<!-- [[Berlin|hidden]] -->'''Munich''' lies far from [[Berlin]] and the [[Berlin, Germany|''German'' capital]]s.<ref
name="a">See [[Berlin|the source]].</ref><ref name="b" /> [[Category:Cities]] [[:Category:Cities|cities]]
[[File:A.jpg|thumb|[[berlin#History|The old city]] with [[Not there]]]] <nowiki>[[Berlin|code]]</nowiki>
[[:fr:Berlin|Berlin en français]] [[#History|above]] [[Berlin|]] [[No_item|no&nbsp;item]]
{| class="wikitable"
! [[Old capital|Berlin]]
|-
| [[It's "odd"),(9,0,'x\\|odd <small>thing</small>]] || {{flag|Germany}} [[M%C3%BCnchen|Munich]]
|}
Bus [[bus]]es, ]] stray [[unclosed
"""
ARTICLES = [
    (3, 0, "München", None, TEXT),
    (8, 0, "No item", None, "[[Berlin]], [[Berlin|Spree-Athen]] & [[München|Berlin]]"),
    (20, 0, "Berlin, Germany", "Berlin", "#REDIRECT [[Berlin|never]]"),
    (30, 14, "Category:Berlin", None, "[[Berlin|in a category]]"),
]

HUMAN, CITY, PLACE, YEAR = "Q5", "Q515", "Q2221906", "Q577"
ITEMS = [
    item(
        "Q64",
        {"en": "Berlin", "de": "Berlin"},
        aliases=["Berlin, Germany", "Spree-Athen"],
        description="capital of Germany",
        claims={
            "P31": [CITY, ("Q1", "deprecated"), None],
            "P1082": [(3_400_000, "normal"), (3_700_000, "preferred")],
            "P646": ["/m/0156q"],
            "P1549": [{"text": "Berliner", "language": "en"}, {"text": "Berlinois", "language": "fr"}],
        },
        sitelinks={"enwiki": "Berlin", "dewiki": "Berlin", "frwiki": "Berlin"},
    ),
    item("Q1726", {"mul": "Munich"}, claims={"P31": [CITY, (PLACE, "preferred")]}, sitelinks={"enwiki": "München"}),
    item("Q9999", {"de": "Nur deutsch"}),
    item("Q8888", {"en": "Berlin"}, aliases=["Berlin"], claims={"P31": [HUMAN], "P646": ["/m/0156q"]}),
    item("Q48397", {"en": "Mercury"}, claims={"P31": ["Q4167410"]}, sitelinks={"enwiki": "Mercury"}),
    item("Q1984", {"en": "1984"}, claims={"P31": ["Q235680"]}),
    item("Q235680", {"en": "year of a calendar"}, claims={"P279": [YEAR]}),
    item(CITY, {"en": "city"}, claims={"P279": [PLACE, CITY]}),
    item(PLACE, {"en": "place"}, claims={"P279": ["Q100"]}),
    item("Q100", {"en": "thing"}, claims={"P279": [PLACE]}),  # a cycle, as Wikidata has them
    item("Q64", {"en": "Berlin"}),  # once more
    {"type": "property", "id": "P31", "labels": {}, "claims": {}, "aliases": []},
]
MERGED_PAGES = [
    page_row(1, "Q64"),
    page_row(2, "Q640", redirect=True),
    page_row(3, "Q6400", redirect=True),
    page_row(4, "Q71", redirect=True),
    page_row(5, "Q72", redirect=True),
    page_row(6, "Q73", redirect=True),
    page_row(7, "Q74", redirect=True),
]
MERGES = [
    redirect_row(2, "Q64"),
    redirect_row(3, "Q640"),
    redirect_row(4, "Q72"),
    redirect_row(5, "Q71"),
    redirect_row(6, "Q404"),
    redirect_row(7, "Q74"),  # to itself
    redirect_row(2, "Q8888"),  # to two
    redirect_row(1, "Q1726"),  # an item that is still there
]


def wikipedia_files(folder: Path, *, old_links: bool = False) -> dict[str, Path]:
    """The dumps of the Wikipedia of this world."""
    lead = folder / "enwiki-20261101"
    links = ("pagelinks-2023", OLD_LINKS) if old_links else ("pagelinks", LINKS)
    return {
        "page": store(folder / f"{lead.name}-page.sql.gz", sql_dump("page", PAGES, per_line=3)),
        "redirect": store(folder / f"{lead.name}-redirect.sql.gz", sql_dump("redirect", REDIRECTS)),
        "page_props": store(folder / f"{lead.name}-page_props.sql.gz", sql_dump("page_props", PROPS)),
        "linktarget": store(folder / f"{lead.name}-linktarget.sql.gz", sql_dump("linktarget", TARGETS)),
        "pagelinks": store(folder / f"{lead.name}-pagelinks.sql.gz", sql_dump(*links)),
        "articles": store(folder / f"{lead.name}-pages-articles-multistream.xml.bz2", xml_dump(ARTICLES), members=3),
    }


def wikidata_files(folder: Path) -> dict[str, Path]:
    """The dumps of the Wikidata of this world."""
    return {
        "items": store(folder / "wikidata-20261101-all.json.bz2", json_dump(ITEMS), members=4),
        "page": store(folder / "wikidatawiki-20261101-page.sql.gz", sql_dump("page", MERGED_PAGES)),
        "redirect": store(folder / "wikidatawiki-20261101-redirect.sql.gz", sql_dump("redirect", MERGES)),
    }
