"""Laws of ids: reading them in normal form changes nothing twice, and never leaves a scheme or a language."""

from __future__ import annotations

import re

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

import karat
from karat import Answer, Corpus, Document, Label, Reply, Run
from karat.kb.spelling import SPELLINGS, plain, recognised, spelt
from karat.spec.choices.conventions import Ids

WEB = st.sampled_from(["http://", "https://", "//", ""])
LANGUAGES = ("en", "de", "fr", "simple", "zh-min-nan")
TITLES = st.text(min_size=1, max_size=6) | st.text("aA_ %23#4é1Ǆi\u0307/:", min_size=1, max_size=8)
ITEMS = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "wd:", "http://www.wikidata.org/entity/", "https://m.wikidata.org/wiki/"]),
    st.sampled_from("Qq"),
    st.integers(1, 30),
)
PAGES = st.builds(
    "{}{}{}.wikipedia.org/wiki/{}".format, WEB, st.sampled_from(LANGUAGES), st.sampled_from(["", ".m"]), TITLES
)
HOSTS = st.sampled_from(["", "en.", "de."])
RESOURCES = st.builds("{}{}dbpedia.org/{}/{}".format, WEB, HOSTS, st.sampled_from(["resource", "page"]), TITLES)
WRITTEN = ITEMS | PAGES | RESOURCES | st.text(min_size=1, max_size=8)


def normal(id: str) -> str:
    return SPELLINGS[Ids.NORMALISED].normal(id)


@given(WRITTEN)
@example("https://en.wikipedia.org/wiki/%EA\u0301%41")
@example("https://en.wikipedia.org/wiki/i\u0307x")
@example("https://en.wikipedia.org/wiki/x\u00a0_")
@example("https://en.wikipedia.org/wiki/%2541%23")
@example("http://dbpedia.org/resource/%0a%20x%0A")
def test_normalising_twice_is_normalising_once(id):
    assert normal(normal(id)) == normal(id)


@given(st.sampled_from([Ids.BRIDGED, Ids.LAST_SEGMENT]), WRITTEN)
def test_so_it_is_with_other_readings(how, id):
    read = SPELLINGS[how].normal
    assert read(read(id)) == read(id)


@given(WRITTEN)
def test_a_normal_form_stays_in_its_scheme_and_language(id):
    found = recognised(id)
    if found is None:
        assert normal(id) == id
    else:
        assert recognised(found.normal) == (found.scheme, found.normal, False)


@given(WRITTEN, WRITTEN)
def test_nothing_is_merged_across_schemes_or_languages(one, two):
    schemes = {found and found.scheme for found in map(recognised, (one, two))}
    if one != two and normal(one) == normal(two):
        assert len(schemes) == 1
        assert None not in schemes


@given(WRITTEN)
def test_every_spelling_is_read_as_the_normal_form(id):
    for how in (Ids.NORMALISED, Ids.BRIDGED):
        form = SPELLINGS[how].normal(id)
        if how is Ids.BRIDGED or recognised(id) is not None:
            assert {SPELLINGS[how].normal(each) for each in SPELLINGS[how].spellings(form)} == {form}


@given(st.lists(WRITTEN, max_size=20, unique=True))
def test_all_at_once_is_one_by_one(ids):
    for how, own in SPELLINGS.items():
        assert spelt(pa.array(ids, pa.string()), how).to_pylist() == [own.normal(id) for id in ids]


@given(
    ids=st.lists(st.text("Q0123q9 ٣é", max_size=4) | st.from_regex(r"\AQ[0-9]{0,9}.?\Z")),
    before=st.integers(0, 2),
)
def test_plain_items_are_q_and_a_number(ids, before):
    """Of a part of an array too."""
    found = plain(pa.array(["Q1", "", *ids][2 - before :], pa.string()).slice(before))
    assert found.tolist() == [re.fullmatch(r"Q[1-9][0-9]*", id) is not None for id in ids]


def sides(links: list[tuple[str, str]]):
    text = "x" * len(links)
    labels = tuple(Label(n, n + 1, gold) for n, (gold, _) in enumerate(links))
    answers = tuple(Answer(n, n + 1, answer) for n, (_, answer) in enumerate(links))
    return Corpus.of([Document("d", text, labels)]), Run.of([Reply("d", answers)])


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1, max_size=8), st.randoms())
def test_order_never_matters(links, random):
    there = karat.evaluate(*sides(links))
    random.shuffle(links)
    again = karat.evaluate(*sides(links))
    assert again.measures == there.measures
    assert again.id_health == there.id_health
    assert karat.evaluate(*sides([(two, one) for one, two in links]))["strong:micro.f1"] == there["strong:micro.f1"]


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1, max_size=8))
def test_the_score_is_that_of_normal_forms(links):
    there = karat.evaluate(*sides(links), ids="as-written")
    read = karat.evaluate(*sides(links))
    assert (read["strong:micro.f1"] or 0) >= (there["strong:micro.f1"] or 0)
    plain = karat.evaluate(*sides([(normal(one), normal(two)) for one, two in links]), ids="as-written")
    assert read["strong:micro.f1"] == plain["strong:micro.f1"]
    assert not plain.id_health.merged


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1, max_size=8))
def test_merged_are_those_that_became_one(links):
    health = karat.evaluate(*sides(links)).id_health
    written = {id for link in links for id in link}
    expected = {form: {id for id in written if normal(id) == form} for form in map(normal, written)}
    found = {form: set(ids) for form, ids in health.merged.items()}
    assert found == {form: ids for form, ids in expected.items() if len(ids) > 1}
    assert sum(health.gold.values()) == sum(health.answers.values()) == len(links)
