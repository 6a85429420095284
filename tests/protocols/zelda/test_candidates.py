"""Candidate lists: merged, looked up and compared, by hand and against the plainest implementation."""

from __future__ import annotations

import errno
import json
import pickle
from collections import Counter
from dataclasses import replace

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat import InputError, UsageError
from karat.kb.in_memory_kb import InMemoryKB
from karat.model.document import UNLINKED
from karat.protocols.zelda.candidates import staging
from karat.protocols.zelda.candidates.candidate_lists import LOOKUPS, CandidateLists, CandidateRow, open_built_lists
from karat.protocols.zelda.candidates.keys import coarse_key, flair_key, remove_punctuation, remove_spaces
from karat.protocols.zelda.candidates.merge import build_candidate_lists
from karat.protocols.zelda.candidates.published_lists import open_candidate_lists
from karat.protocols.zelda.candidates.recall import compare_lists, look_up_candidates, measure_recall
from karat.protocols.zelda.candidates.sources import SCHEMA, parse_wikipedia_url
from karat.protocols.zelda.candidates.staging import CandidateSource
from karat.protocols.zelda.split_predictions import GoldMention
from karat.protocols.zelda.texts.vocabulary import check_entities, read_vocabulary
from karat.stats.share import Share
from tests.conftest import SCHEMAS

CRISTIANO, BRAZILIAN = "Cristiano Ronaldo", "Ronaldo (Brazilian footballer)"


def section(*links):
    """A record of ZELDA-train whose text is the words of its links."""
    text, index = "", []
    for words, _ in links:
        index.append([len(text), len(text) + len(words)])
        text += words + " "
    titles = [title for _, title in links]
    return json.dumps({"page_id": 1, "section_name": "A", "text": text, "index": index, "wikipedia_titles": titles})


@pytest.fixture
def sources(tmp_path):
    aliases, text, web = tmp_path / "aliases.tsv", tmp_path / "train.jsonl", tmp_path / "web"
    aliases.write_text(f"{CRISTIANO}\tRonaldo\tCR7\n{BRAZILIAN}\tRonaldo\n", encoding="utf-8")
    links = [("Ronaldo", BRAZILIAN)] * 9 + [("Ronaldo", CRISTIANO)] * 5 + [("the Brazilian", BRAZILIAN)] * 2
    text.write_text(section(*links, ("Lisbon", "Lisbon")) + "\n", encoding="utf-8")
    address = "http://en.wikipedia.org/wiki/Cristiano%252520Ronaldo#Early_life"
    lines = ["URL\thttp://a.example/", *[f"MENTION\tRonaldo\t17\t{address}"] * 4, "TOKEN\trare\t3"]
    lines += ["MENTION\tthe Brazilian\t1\thttp://en.wikipedia.org/wiki/Ronaldo_(Brazilian_footballer)"] * 3
    lines += ["MENTION\tRonaldo\t1\thttp://example.org/Ronaldo"]
    web.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [
        CandidateSource("aliases", str(aliases)),
        CandidateSource("text", str(text)),
        CandidateSource("wikilinks", str(web)),
    ]


def lists_in(path):
    found = {}
    for row in pq.read_table(path).to_pylist():
        found.setdefault(row["mention"], {})[row["entity"]] = row["count"]
    return found


@pytest.mark.extras
def test_a_mention_keeps_the_counts_of_its_first_source_and_each_further_one_adds_one(sources, tmp_path):
    built = build_candidate_lists(sources, str(tmp_path / "lists.parquet"))
    found = lists_in(tmp_path / "lists.parquet")
    assert found["Ronaldo"] == {CRISTIANO: 3, BRAZILIAN: 2}  # the example of ZELDA's own page
    assert found["the Brazilian"] == {BRAZILIAN: 2 + 1}
    assert found["CR7"] == found[CRISTIANO] == {CRISTIANO: 1}
    assert (built.pairs, built.mentions, built.entities) == (7, 6, 3)
    assert built.excluded == {"links of web pages to other sites (excluded)": 1}
    build_candidate_lists(sources, str(tmp_path / "sums.parquet"), merge="sum")
    sums = lists_in(tmp_path / "sums.parquet")
    assert sums["Ronaldo"] == {CRISTIANO: 1 + 5 + 4, BRAZILIAN: 1 + 9}
    assert sums["the Brazilian"] == {BRAZILIAN: 2 + 3}


@pytest.mark.extras
def test_titles_of_test_sets_are_candidates_of_themselves_once(sources, tmp_path):
    folder = tmp_path / "tests"
    folder.mkdir()
    for name in ("tweeki", "aida-b"):
        (folder / f"test_{name}.jsonl").write_text(
            section(("he", "Lisbon"), ("she", "Ulm"), ("it", "Ulm")), encoding="utf-8"
        )
    target = str(tmp_path / "lists.parquet")
    built = build_candidate_lists([CandidateSource("titles", str(folder)), sources[1]], target)
    assert built.rows[f"titles {folder}"] == 2
    lists = open_built_lists(target)
    # Lisbon is a title and a link, two sources; the words of the test sets are no mentions
    assert list(lists.read(frozenset({coarse_key("Lisbon")}))) == [CandidateRow("Lisbon", "Lisbon", 2)]
    assert lists.find_candidates(["Ulm", "she"]) == {"Ulm": ["Ulm"], "she": []}


@pytest.mark.extras
def test_only_the_vocabulary_is_left_and_what_is_not_is_counted(sources, tmp_path):
    built = build_candidate_lists(sources, str(tmp_path / "lists.parquet"), vocabulary=[CRISTIANO, "Lisbon"])
    assert lists_in(tmp_path / "lists.parquet")["Ronaldo"] == {CRISTIANO: 3}
    assert built.excluded["occurrences of entities outside the vocabulary (excluded)"] == 2 + 9 + 2 + 3
    with pytest.raises(InputError, match="no candidate"):
        build_candidate_lists(sources, str(tmp_path / "none.parquet"), vocabulary=["Porto"])


@pytest.mark.extras
def test_titles_are_renewed_and_dead_links_are_left_out(sources, tmp_path):
    kb = InMemoryKB.from_tables(redirects={BRAZILIAN: "Ronaldo Nazário"}, entities=["Ronaldo Nazário", CRISTIANO])
    built = build_candidate_lists(sources, str(tmp_path / "lists.parquet"), kb=kb)
    assert lists_in(tmp_path / "lists.parquet")["the Brazilian"] == {"Ronaldo Nazário": 3}
    assert built.excluded["links to dead or ambiguous pages (excluded)"] == 1
    dead = InMemoryKB.from_tables(entities=["Nothing"])
    with pytest.raises(InputError, match="no candidate"):
        build_candidate_lists(sources[1:2], str(tmp_path / "dead.parquet"), kb=dead)


@pytest.mark.extras
def test_a_full_disk_is_said_and_what_was_read_is_kept(sources, tmp_path, monkeypatch):
    target, real, read = tmp_path / "lists.parquet", staging._Buckets.add, []

    def full(buckets, table):
        read.append(table)
        if len(read) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(buckets, table)

    monkeypatch.setattr(staging._Buckets, "add", full)
    with pytest.raises(UsageError, match=r"No space left on device.*completed sources are stored"):
        build_candidate_lists(sources, str(target))
    assert not target.exists()
    build_candidate_lists(sources, str(target))
    assert len(read) == 4  # the two sources that were complete are not read again
    assert lists_in(target)["Ronaldo"] == {CRISTIANO: 3, BRAZILIAN: 2}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aliases.tsv", "lists.parquet", "train.jsonl", "web"]


PAIRS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.sampled_from("XYZ"), st.integers(1, 4)), min_size=1
)


@pytest.mark.extras
@settings(max_examples=8)
@given(rows=PAIRS)
def test_the_statement_merges_as_the_script_does(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("merge")
    kinds = ("aliases", "pairs", "wikilinks")
    reads = {
        kind: lambda path, notes, own=number: iter(
            [table] if (table := merging_table([row[1:] for row in rows if row[0] == own])) is not None else []
        )
        for number, kind in enumerate(kinds)
    }
    expected: dict[str, dict[str, int]] = {}
    for number in range(3):
        counter: dict[str, Counter[str]] = {}
        for _, mention, entity, count in (row for row in rows if row[0] == number):
            counter.setdefault(mention, Counter())[entity] += count
        before = set(expected)
        for mention, counts in counter.items():
            if mention not in before:
                expected[mention] = dict(counts)
            else:
                for entity in counts:
                    expected[mention][entity] = expected[mention].get(entity, 0) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "SOURCES", reads)
        build_candidate_lists([CandidateSource(kind, str(folder)) for kind in kinds], str(folder / "lists.parquet"))
    assert lists_in(folder / "lists.parquet") == expected
    # in the order in which entities came, which decides ties
    read = open_built_lists(str(folder / "lists.parquet")).read(frozenset("abc"))
    assert [(row.mention, row.entity) for row in read] == [
        (mention, entity)
        for mention, entity in dict.fromkeys((row[1], row[2]) for row in sorted(rows, key=lambda r: r[0]))
    ]


def merging_table(rows):
    return pa.table([pa.array(column) for column in zip(*rows, strict=True)], schema=SCHEMA) if rows else None


@pytest.mark.extras
def test_spark_merges_the_same(sources, tmp_path):
    for engine in ("duckdb", "spark"):
        build_candidate_lists(sources, str(tmp_path / engine), engine=engine, vocabulary=[CRISTIANO, BRAZILIAN])
    one, two = (pq.read_table(tmp_path / engine).to_pylist() for engine in ("duckdb", "spark"))
    assert sorted(one, key=str) == sorted(two, key=str)


WORDS = st.text(st.sampled_from("aAbB .-_’&ΣσςİıSsß\t1"), max_size=6)


@given(one=WORDS, two=WORDS)
def test_mentions_that_are_the_same_in_any_way_are_found_together(one, two):
    for key in (str, remove_spaces, remove_punctuation, flair_key):
        if key(one) == key(two):
            assert coarse_key(one) == coarse_key(two)


def in_memory(lists):
    rows = [
        CandidateRow(mention, entity, count) for mention, counts in lists.items() for entity, count in counts.items()
    ]
    return CandidateLists("own", lambda keys: (row for row in rows if coarse_key(row.mention) in keys))


def as_the_script_does(lists, asked):
    """ZELDA's look-up as its page of rules says it, word by word: the first list of a variant is shared, not copied."""
    exact = {mention: dict(counts) for mention, counts in lists.items()}
    variants = []
    for key in (remove_spaces, remove_punctuation):
        table = {}
        for mention in exact:
            if key(mention) in table:
                for entity in exact[mention]:
                    target = table[key(mention)]
                    target[entity] = target.get(entity, 0) + exact[mention][entity]
            else:
                table[key(mention)] = exact[mention]
        variants.append(table)
    found = {}
    for mention in asked:
        counts = (
            exact.get(mention)
            or variants[0].get(remove_spaces(mention))
            or variants[1].get(remove_punctuation(mention))
            or {}
        )
        found[mention] = max(counts, key=counts.get) if counts else None
    return found


NAMES = st.sampled_from(["Foo Bar", "foo bar", "FooBar", "foo-bar", "Foo_Bar", "FOO", "foo", "f.o.o"])
LISTS = st.dictionaries(NAMES, st.dictionaries(st.sampled_from("XYZ"), st.integers(1, 5), min_size=1))


@given(lists=LISTS, asked=st.lists(NAMES, max_size=4))
def test_the_most_frequent_sense_is_that_of_the_script(lists, asked):
    found = in_memory(lists).find_candidates(asked, "zelda")
    assert {mention: next(iter(names), None) for mention, names in found.items()} == as_the_script_does(lists, asked)


@given(lists=LISTS, asked=NAMES)
def test_a_lookup_gives_no_entity_twice_and_clean_ones_leave_lists_as_they_are(lists, asked):
    for lookup in LOOKUPS:
        names = in_memory(lists).find_candidates([asked], lookup)[asked]
        assert len(set(names)) == len(names)
    if asked in lists:
        assert set(in_memory(lists).find_candidates([asked], "clean")[asked]) == set(lists[asked])


def test_variants_by_hand():
    lists = {"New York": {"New York City": 5}, "new york": {"New York (state)": 3}, "U.S.": {"United States": 9}}
    own = in_memory(lists)
    asked = ["New York", "NEWYORK", "US", "u.s", "Paris"]
    clean = own.find_candidates(asked, "clean")
    assert clean["New York"] == ["New York City"]
    assert clean["NEWYORK"] == ["New York City", "New York (state)"]
    assert clean["US"] == clean["u.s"] == ["United States"]
    assert clean["Paris"] == []
    # The slip: the list takes up the other's counts, once for each variant, and 3 + 3 are more than 5.
    assert own.find_candidates(asked, "zelda")["New York"] == ["New York (state)", "New York City"]
    assert own.find_candidates(asked, "exact")["US"] == []
    assert own.find_candidates(["new  york!"], "flair")["new  york!"] == ["New York City", "New York (state)"]


def mention(surface, entity, bracket=None):
    return GoldMention("d", 0, len(surface), surface, entity, bracket)


def test_written_candidates_link_the_most_frequent_sense():
    """A has two candidates, of which X is first; C has none; without counts the order decides nothing."""
    splits = {"one": [mention("A", "Y"), mention("C", "X")]}
    lists = in_memory({"A": {"X": 5, "Y": 2}})
    for has_counts, link in ((True, "X"), (False, UNLINKED)):
        (response,) = look_up_candidates(replace(lists, has_counts=has_counts), splits, "clean")["one"]
        assert [prediction.entity for prediction in response.predictions] == [link, UNLINKED]
        assert [[c.entity for c in prediction.candidates] for prediction in response.predictions] == [["X", "Y"], []]


def test_what_lists_allow_by_hand():
    own = in_memory({"A": {"X": 5, "Y": 2}, "B": {"Z": 1}})
    splits = {
        "one": [mention("A", "X", "1"), mention("A", "Y", "0.9-1"), mention("B", "X", "1"), mention("C", "X", "1")]
    }
    found = measure_recall(own, splits, "clean")["one"]
    assert (found.mfs, found.recall) == (Share(1, 4), Share(2, 4))
    assert found.mfs_listed == Share(1, 3)
    assert found.recall_at(1) == Share(1, 4)
    assert found.recall_at(2) == Share(2, 4)
    assert found.ambiguity == pytest.approx((2 + 2 + 1) / 3)
    assert found.recall_by_bracket() == {"0.9-1": Share(1, 1), "1": Share(1, 3)}
    with pytest.raises(InputError, match="no list for any of 1 mentions"):
        measure_recall(own, {"one": [mention("D", "X")]})


def test_published_lists_are_read_and_compared(tmp_path):
    means = tmp_path / "aida_means.tsv"
    means.write_text(
        '"Caf\\u00e9"\tCaf\\u00e9_(shop)\n"Germany"\tGermany\n"Germany"\tGermany_(band)\n', encoding="utf-8"
    )
    gh = tmp_path / "p_e_m.txt"
    gh.write_text("Germany\t100\t11867,0.97,Germany\t7,0.03,Germany,_Texas\t\n", encoding="utf-8")
    ppr = tmp_path / "AIDA_candidates"
    ppr.mkdir()
    (ppr / "1").write_text(
        "ENTITY\ttext:Germany\tnormalName:germany\torigText:GERMANY\turl:http://en.wikipedia.org/wiki/Germany\n"
        "CANDIDATE\tid:11867\tinCount:1\turl:http://en.wikipedia.org/wiki/Germany\tname:Germany\n",
        encoding="utf-8",
    )
    counters = tmp_path / "counter.pickle"
    counters.write_bytes(pickle.dumps({"Germany": Counter({"Germany": 3, "Germany (band)": 4})}))
    lists = [open_candidate_lists(str(path)) for path in (means, gh, ppr, counters)]
    found = compare_lists(
        lists, {"one": [mention("Germany", "Germany"), mention("Café", "Café_(shop)")]}, "clean"
    ).lists
    assert [own["one"].recall.hits for own in found.values()] == [2, 1, 1, 1]
    assert [own["one"].mfs for own in found.values()] == [None, Share(1, 2), None, Share(0, 2)]
    assert [own["one"].ambiguity for own in found.values()] == [1.5, 2, 1, 2]
    assert open_candidate_lists(f"ganea-hofmann={gh}").find_candidates(["Germany"])["Germany"] == [
        "Germany",
        "Germany, Texas",
    ]


def test_broken_lists_are_refused(tmp_path):
    bad = tmp_path / "bad.pickle"
    bad.write_bytes(pickle.dumps(print))
    with pytest.raises(InputError, match="of plain values only"):
        open_candidate_lists(str(bad)).find_candidates(["a"])
    empty = tmp_path / "empty.json"
    empty.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="empty candidate lists"):
        open_candidate_lists(str(empty)).find_candidates(["a"])
    other = tmp_path / "other"
    other.write_text("what is this", encoding="utf-8")
    with pytest.raises(Exception, match="KIND=PATH"):
        open_candidate_lists(str(other))
    with pytest.raises(InputError, match="found nothing"):
        open_candidate_lists(str(tmp_path / "none"))


def test_addresses_are_titles():
    assert parse_wikipedia_url("http://en.wikipedia.org/wiki/new_York%20City#History") == "New York City"
    assert parse_wikipedia_url("https://en.m.wikipedia.org/wiki/AT%2526T") == "AT&T"
    assert parse_wikipedia_url("http://de.wikipedia.org/wiki/Ulm") is None
    assert parse_wikipedia_url("http://example.org/wiki/Ulm") is None


@pytest.mark.parametrize(
    "text", ["Ulm\nNew_York\n", "1\tUlm\n2\tNew York\n", '{"1": "Ulm", "2": "New York"}', '["Ulm", "New York"]']
)
def test_vocabularies_are_read(text, tmp_path):
    (tmp_path / "v").write_text(text, encoding="utf-8")
    vocabulary = read_vocabulary(str(tmp_path / "v"))
    assert list(vocabulary) == ["Ulm", "New York"]
    check_entities(vocabulary, ["Ulm"], "v")
    with pytest.raises(InputError, match=r"v: found a vocabulary without 1 of 2 test entities \('Bonn'\)"):
        check_entities(vocabulary, ["Ulm", "Bonn"], "v")


@pytest.mark.extras
def test_the_command_writes_what_its_schema_says(sources, tmp_path, karat_cli):
    text = ["--text", sources[1].path]
    ran = karat_cli("zelda", "candidates", tmp_path / "lists.parquet", *text, "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    schema = json.loads((SCHEMAS / "zelda-candidates.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(ran.out))
    assert "4 pairs of 3 mentions" in karat_cli("zelda", "candidates", tmp_path / "again.parquet", *text).out
