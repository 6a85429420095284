"""Laws of ids: reading them in normal form changes nothing twice, and never leaves a scheme or a language."""

from __future__ import annotations

import re

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

import karat
from karat import Corpus, Document, Label, Prediction, Response, Run
from karat.kb.ids.id_context import build_context, collect_evidence
from karat.kb.ids.normal_forms import (
    DEFAULT_CONTEXT,
    NORMALISERS,
    IdContext,
    find_plain_qids,
    normalise_id,
    normalise_ids,
    recognise_id,
)
from karat.model.spec.settings.conventions import Ids

WEB = st.sampled_from(["http://", "https://", "//", ""])
LANGUAGES = ("en", "de", "fr", "simple", "zh-min-nan")
ESCAPES = st.lists(st.sampled_from(["%80", "%1B", "\x1b", "%8A", "%cc%81", "%C3", "é", "\u0301", "a", "_", " "]))
TITLES = (
    st.text(min_size=1, max_size=6)
    | st.text("aA_ %23#4é1Ǆi\u0307/:", min_size=1, max_size=8)
    | ESCAPES.filter(bool).map("".join)
)
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
PREFIXED = st.builds("{}wiki:{}{}".format, st.sampled_from(["en", "my", "dev"]), TITLES, st.sampled_from(["", "#a b"]))
CODES = st.sampled_from(["Q90", "E11.9", "I10", "Q3052772"])
WRITTEN = ITEMS | PAGES | RESOURCES | PREFIXED | CODES | st.text(min_size=1, max_size=8)
FRAGMENTS = st.lists(WRITTEN.map(lambda id: [f"{id}#{fragment}" for fragment in ("a", "b%20c")]), max_size=3)
CONTEXTS = st.builds(
    lambda ids, pages: build_context([collect_evidence(pa.array([*ids, *(x for page in pages for x in page)]))]),
    st.lists(WRITTEN, min_size=1, max_size=5),
    FRAGMENTS,
)


def normal(id: str, context: IdContext = DEFAULT_CONTEXT) -> str:
    return normalise_id(id, Ids.NORMALISED, context)


def context_of(links: list[tuple[str, str]]) -> IdContext:
    return build_context([collect_evidence(pa.array(list(side), pa.string())) for side in zip(*links, strict=True)])


@given(WRITTEN)
@example("https://en.wikipedia.org/wiki/%EA\u0301%41")
@example("https://en.wikipedia.org/wiki/i\u0307x")
@example("https://en.wikipedia.org/wiki/x\u00a0_")
@example("https://en.wikipedia.org/wiki/%2541%23")
@example("http://dbpedia.org/resource/%0a%20x%0A")
def test_normalising_twice_is_normalising_once(id):
    assert normal(normal(id)) == normal(id)


def test_bytes_that_are_no_utf8_have_one_spelling():
    """The whole title stayed as written, so that a character before them was another id than its escape."""
    for titles, form in (
        (("\x1b%80", "%1B%80", "%1b%80"), "\x1b%80"),
        (("%e9t%C3%A9", "%E9té", "%E9te\u0301"), "%E9té"),
        (("%8A%CC%81", "%8a%cc%81"), "%8A%CC%81"),  # a combining character would change the escape before it
    ):
        for head in ("https://en.wikipedia.org/wiki/", "http://dbpedia.org/resource/"):
            assert {normal(head + title) for title in titles} == {head + form}


@given(CONTEXTS, WRITTEN)
@example(IdContext(fragment_pages=frozenset({"https://en.wikipedia.org/wiki/A"})), "enwiki:a#%E9_")
def test_it_is_so_in_every_context(context, id):
    """A fragment that stays is part of the normal form, which every context reads as it is."""
    form = normal(id, context)
    assert normal(form, context) == form
    if context.bare_items:
        assert normal(form) in (form, normal(id))


@given(st.sampled_from([Ids.BRIDGED, Ids.LAST_SEGMENT]), WRITTEN)
def test_so_it_is_with_other_readings(how, id):
    read = NORMALISERS[how].normalise
    assert read(read(id)) == read(id)


@given(WRITTEN)
def test_a_normal_form_stays_in_its_scheme_and_language(id):
    found = recognise_id(id)
    if found is None:
        assert normal(id) == id
    else:
        assert recognise_id(found.normal_form) == (found.scheme, found.normal_form, False)


@given(WRITTEN, WRITTEN)
def test_nothing_is_merged_across_schemes_or_languages(one, two):
    schemes = {found and found.scheme for found in map(recognise_id, (one, two))}
    if one != two and normal(one) == normal(two):
        assert len(schemes) == 1
        assert None not in schemes


@given(WRITTEN)
@example("https://en.wikipedia.org/wiki/\x1b%80")
@example("http://dbpedia.org/resource/%1B%80")
def test_every_spelling_is_read_as_the_normal_form(id):
    for how in (Ids.NORMALISED, Ids.BRIDGED):
        form = NORMALISERS[how].normalise(id)
        if how is Ids.BRIDGED or recognise_id(id) is not None:
            assert {NORMALISERS[how].normalise(each) for each in NORMALISERS[how].iterate_spellings(form)} == {form}


@given(st.lists(WRITTEN, max_size=20, unique=True))
def test_all_at_once_is_one_by_one(ids):
    context = build_context([collect_evidence(pa.array(ids, pa.string()))])
    one_by_one = [normal(id, context) for id in ids]
    assert normalise_ids(pa.array(ids, pa.string()), Ids.NORMALISED, context).to_pylist() == one_by_one
    for how, normaliser in NORMALISERS.items():
        assert normalise_ids(pa.array(ids, pa.string()), how).to_pylist() == [normaliser.normalise(id) for id in ids]


@given(st.lists(WRITTEN, max_size=12), st.integers(0, 12))
def test_evidence_adds_up_over_blocks(ids, cut):
    whole, one, two = (collect_evidence(pa.array(part, pa.string())) for part in (ids, ids[:cut], ids[cut:]))
    assert one.merge(two) == whole == two.merge(one)


@given(
    ids=st.lists(st.text("Q0123q9 ٣é", max_size=4) | st.from_regex(r"\AQ[0-9]{0,9}.?\Z")),
    before=st.integers(0, 2),
)
def test_plain_items_are_q_and_a_number(ids, before):
    """Of a part of an array too."""
    found = find_plain_qids(pa.array(["Q1", "", *ids][2 - before :], pa.string()).slice(before))
    assert found.tolist() == [re.fullmatch(r"Q[1-9][0-9]*", id) is not None for id in ids]


def sides(links: list[tuple[str, str]]):
    text = "x" * len(links)
    labels = tuple(Label(n, n + 1, gold) for n, (gold, _) in enumerate(links))
    predictions = tuple(Prediction(n, n + 1, prediction) for n, (_, prediction) in enumerate(links))
    return Corpus.from_documents([Document("d", text, labels)]), Run.from_responses([Response("d", predictions)])


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1, max_size=8), st.randoms())
def test_order_never_matters(links, random):
    there = karat.evaluate(*sides(links), settings={"ids": "normalised"})
    random.shuffle(links)
    again = karat.evaluate(*sides(links), settings={"ids": "normalised"})
    assert again.measures == there.measures
    assert again.id_health == there.id_health
    assert (
        karat.evaluate(*sides([(two, one) for one, two in links]), settings={"ids": "normalised"})["strong:micro.f1"]
        == (there["strong:micro.f1"])
    )


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1, max_size=8))
def test_the_score_is_that_of_normal_forms(links):
    there = karat.evaluate(*sides(links), settings={"ids": "as-written"})
    read = karat.evaluate(
        *sides(links), settings={"ids": "normalised"}
    )  # explicit, so that no knowledge base bridges the ids
    assert (read["strong:micro.f1"] or 0) >= (there["strong:micro.f1"] or 0)
    context = context_of(links)
    as_written = karat.evaluate(
        *sides([(normal(one, context), normal(two, context)) for one, two in links]), settings={"ids": "as-written"}
    )
    # A score is undefined instead of 0 if no id can match.
    assert (read["strong:micro.f1"] or 0) == (as_written["strong:micro.f1"] or 0)
    assert not as_written.id_health.spellings


@given(st.lists(st.tuples(WRITTEN, WRITTEN), min_size=1, max_size=8))
def test_merged_are_those_that_became_one(links):
    health = karat.evaluate(*sides(links), settings={"ids": "normalised"}).id_health
    written = {id for link in links for id in link}
    context = context_of(links)
    forms = {id: normal(id, context) for id in written}
    expected = {form: {id for id in written if forms[id] == form} for form in forms.values()}
    found = {form: set(ids) for form, ids in health.spellings.items()}
    assert found == {form: ids for form, ids in expected.items() if len(ids) > 1}
    assert sum(health.gold.values()) == sum(health.predictions.values()) == len(links)
