"""What language models answer, in the shapes that people store it in."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import UNLINKED, Candidate, Corpus, Document, InputError, UsageError
from karat.formats.parsing.surfaces.entries import (
    BEST_CANDIDATES,
    EARLIER_LISTS,
    INVALID_ENTRIES,
    LATER_LINKS,
    REWRITTEN_LINKS,
    TITLE_MAPPINGS,
    TRAILING_COMMAS,
    TRUNCATED,
    UNUSABLE,
    UNUSABLE_LINKS,
    VERBAL_NIL,
    extract_entries,
    to_prediction,
)
from karat.formats.parsing.surfaces.json_extraction import extract_json
from karat.formats.parsing.surfaces.search import NOT_FOUND, REALIGNED
from karat.formats.plugins import llm
from karat.model.document import WrittenPrediction
from tests.formats.broken import nearly, read_or_refused

TEXT = "Ada Lovelace met Charles Babbage in London."
GOLD = Corpus.from_documents([Document("d1", TEXT), Document("d2", "London is old.")], name="gold")
FENCED = """Sure! Here they are:

```json
[
  {"mention": "Ada Lovelace", "qid": "Q7259"},
  {"mention": "London", "qid": "Q84"}
]
```
I hope [1] this helps."""


def entries(prediction):
    counts = Counter()
    found = extract_entries(extract_json(prediction), counts)
    return found, dict(+counts)


@pytest.mark.parametrize(
    ("prediction", "words"),
    [
        (FENCED, ["Ada Lovelace", "London"]),
        ('[{"mention": "London"}]', ["London"]),
        ('The list [1]: [{"mention": "London"}] and {so on}', ["London"]),
        ('{"entities": [{"mention": "London"}], "note": "x"}', ["London"]),
        ('{"mention": "Ada"}\n{"mention": "London"}', ["Ada", "London"]),
        ('```\n{"mention": "Ada"}\n```\n```\n{"mention": "London"}\n```', ["Ada", "London"]),
        ('<think>[{"mention": "Ada"}]</think>[{"mention": "London"}]', ["London"]),
        ('[{"mention": "London"},]', ["London"]),
        ("[]", []),
        ('Entities: [{"mention": "London"}]. Others: []', ["London"]),
    ],
)
def test_lists_are_found_in_fences_and_prose(prediction, words):
    found, counts = entries(prediction)
    assert [entry["mention"] for entry in found] == words
    assert counts == {}


def test_pairs_and_objects_of_links_are_lists_too():
    assert entries('[["London", "Q84"]]') == ([["London", "Q84"]], {})
    assert entries('{"London": "Q84", "Ada": null}') == ([["London", "Q84"], ["Ada", None]], {})
    assert entries('{"reason": "there are none"}') == (None, {})


@pytest.mark.parametrize(
    "prediction",
    [
        '{"Microsoft": "Microsoft", "GitHub": null}',
        '{"entities": {"Microsoft": "Microsoft", "GitHub": null}}',
        'Here: {"Microsoft": {"title": "Microsoft"}, "GitHub": ""}. {"note": "done"}',
    ],
)
def test_an_object_from_texts_to_titles_is_read_and_counted(prediction):
    found, counts = entries(prediction)
    made = [to_prediction(entry, Counter()) for entry in found]
    assert [(prediction.text, prediction.entity) for prediction in made] == [
        ("Microsoft", "Microsoft"),
        ("GitHub", None),
    ]
    assert counts == {TITLE_MAPPINGS: 1}


LISTED = [{"mention": "Ada"}, {"mention": "London"}, {"mention": "Bob"}]


@pytest.mark.parametrize(
    "prediction",
    [
        '[{"mention": "Ada"}, // a comment\n {"mention": "London"}, # another\n {"mention": "Bob"} /* last */]',
        '[{"mention": "Ada"},\n...\n{"mention": "London"}, … {"mention": "Bob"}]',
        '{"persons": [{"mention": "Ada"}], "locations": [{"mention": "London"}, {"mention": "Bob"}], "works": []}',
        json.dumps({"result": {"entities": LISTED}}),
        json.dumps(json.dumps(LISTED)),
        f"The list: {LISTED!r}",
        '[{"mention": "Ada"}, {\'mention\': "London"}, {"mention": "Bob"}]',
    ],
)
def test_no_entry_of_a_list_in_another_form_is_lost(prediction):
    assert entries(prediction) == (LISTED, {})


@pytest.mark.parametrize(
    "prediction", ['["Ada", "London"]', '{"mentions": ["Ada", "London"]}', '{"PER": ["Ada"], "LOC": ["London"]}']
)
def test_a_list_of_texts_has_mentions_without_links(prediction):
    found, counts = entries(prediction)
    assert [to_prediction(entry, Counter()) for entry in found] == [
        WrittenPrediction(text=name, entity=UNLINKED) for name in ("Ada", "London")
    ]
    assert counts == {}
    assert entries(f'[{{"mention": "Bob"}}] Types: {prediction}')[0] == [{"mention": "Bob"}]


def test_an_object_of_texts_counts_only_if_nothing_else_is_a_list():
    assert entries('[{"text": "London"}] {"Remark": "I am sure"}') == ([{"text": "London"}], {})
    assert entries('{"text": "London"} {"Remark": "I am sure"}') == ([{"text": "London"}], {})


def test_a_bad_member_does_not_lose_the_other_entries():
    good = {"surface": "GitHub", "title": "GitHub"}
    found, counts = entries(json.dumps([{"surface": "Microsoft", "links": [{"title": "Microsoft"}]}, good, "Berlin"]))
    left_out = Counter()
    first, second, third = (to_prediction(entry, left_out) for entry in found)
    assert (first.text, first.entity, first.candidates) == ("Microsoft", "Microsoft", (Candidate("Microsoft"),))
    assert (second.text, second.entity) == ("GitHub", "GitHub")
    assert third is None
    assert (counts, dict(+left_out)) == ({}, {UNUSABLE: 1, BEST_CANDIDATES: 1})


def test_the_last_list_counts_and_what_is_cut_off_is_read_as_far_as_it_is_whole():
    assert entries('[{"text": "A"}] no: [{"text": "B"}]') == ([{"text": "B"}], {EARLIER_LISTS: 1})
    assert entries('```json\n[{"text": "A"}, {"text": "B') == ([{"text": "A"}], {TRUNCATED: 1})


@pytest.mark.parametrize("prediction", ["", "I found nothing.", "[1, 2]", "{}", "[[[[", "{" * 5000, "[" * 100_000])
def test_an_prediction_without_list(prediction):
    assert entries(prediction) == (None, {})


@pytest.mark.parametrize(
    ("entry", "made"),
    [
        ({"text": "London", "entity": "Q84"}, WrittenPrediction(text="London", entity="Q84")),
        ({"entity": "London", "Wikidata ID": "Q84"}, WrittenPrediction(text="London", entity="Q84")),
        ({"name": "London", "wikidataId": "Q84"}, WrittenPrediction(text="London", entity="Q84")),
        ({"id": 1, "text": "London", "entity": "Q84"}, WrittenPrediction(text="London", entity="Q84")),
        ({"mention": "London", "url": "https://x.org/L"}, WrittenPrediction(text="London", entity="https://x.org/L")),
        ({"mention": "London", "entity": {"id": "Q84", "rank": 1}}, WrittenPrediction(text="London", entity="Q84")),
        ({"mention": "London", "entity": 84}, WrittenPrediction(text="London", entity="84")),
        ({"mention": "London", "qid": None}, WrittenPrediction(text="London", entity=None)),
        ({"mention": "London", "qid": "NIL"}, WrittenPrediction(text="London", entity=None)),
        ({"mention": "London"}, WrittenPrediction(text="London", entity=UNLINKED)),
        ({"span": [36, 42], "qid": "Q84"}, WrittenPrediction(36, 42, entity="Q84")),
        ({"span": "London", "start": "36", "end": 42.0}, WrittenPrediction(36, 42, "London")),
        (
            {"text": "London", "type": "LOC", "confidence": "0.5", "before": "in "},
            WrittenPrediction(text="London", types=("LOC",), score=0.5, before="in "),
        ),
        (
            {"text": "London", "candidates": ["Q84", {"qid": "Q92561", "score": 0.1}]},
            WrittenPrediction(text="London", entity="Q84", candidates=(Candidate("Q84"), Candidate("Q92561", 0.1))),
        ),
        (["London", "Q84"], WrittenPrediction(text="London", entity="Q84")),
        ({"start": 36, "end": 42, "entity": None}, WrittenPrediction(36, 42, entity=None)),
        ({"start": 36, "end": 42, "entity": ""}, WrittenPrediction(36, 42, entity=None)),
        ({"start": 36, "end": 42, "entity": "unknown"}, WrittenPrediction(36, 42, entity=None)),
        ({"start": 36, "end": 42, "entity": {"id": "Q84"}}, WrittenPrediction(36, 42, entity="Q84")),
        ({"start": 36, "end": 42, "entity": "London"}, WrittenPrediction(36, 42, "London", entity=UNLINKED)),
        ({"entity": None, "name": "London"}, WrittenPrediction(text="London", entity=None)),
    ],
)
def test_names_of_fields(entry, made):
    counts = Counter()
    assert to_prediction(entry, counts) == made
    assert set(+counts) <= {"fields `id` (not read)", "fields `entity.rank` (not read)", BEST_CANDIDATES, VERBAL_NIL}


@pytest.mark.parametrize(
    ("link", "entity", "noted"),
    [
        ({"title": "Paris", "qid": "Q167646"}, "Q167646", {"fields `entity.title` (not read)": 1}),
        ({"qid": "Q167646", "title": "Paris"}, "Q167646", {"fields `entity.title` (not read)": 1}),
        ({"title": "Paris", "qid": None}, "Paris", {LATER_LINKS: 1}),
        ({"name": "Paris", "kind": "hero"}, "Paris", {"fields `entity.kind` (not read)": 1}),
        ({"qid": None}, None, {}),
        ({"kind": "hero"}, UNLINKED, {"fields `entity.kind` (not read)": 1, UNUSABLE_LINKS: 1}),
    ],
)
def test_in_an_object_for_the_link_the_order_of_names_counts_and_not_that_of_the_fields(link, entity, noted):
    """The first field won, and others were lost without a note."""
    counts = Counter()
    assert to_prediction({"mention": "Paris", "entity": link}, counts).entity == entity
    assert dict(+counts) == noted


@pytest.mark.parametrize("name", ["quote", "exact_text"])
def test_a_quote_is_the_text_of_a_mention(name):
    assert to_prediction({name: "Warsaw", "title": "Warsaw"}, Counter()).text == "Warsaw"


@pytest.mark.parametrize(
    "name", ["wikidata_url", "wiki_title", "wikipedia_page", "entity_title", "dbpedia_uri", "wikidata_uri", "entityUrl"]
)
def test_common_names_of_fields_for_the_link_are_read(name):
    counts = Counter()
    assert to_prediction({"mention": "Warsaw", name: "Warsaw"}, counts).entity == "Warsaw"
    assert not +counts


def test_what_is_passed_over_is_counted():
    counts = Counter()
    assert to_prediction({"text": "London", "qid": "unknown", "score": "high", "why": "x"}, counts).entity is None
    assert to_prediction({"text": " "}, counts) is None
    assert to_prediction(7, counts) is None
    assert dict(+counts) == {
        VERBAL_NIL: 1,
        "scores that are not numbers (skipped)": 1,
        "fields `why` (not read)": 1,
        UNUSABLE: 2,
    }


@pytest.mark.parametrize(
    ("entry", "entity", "candidates", "noted"),
    [
        (
            {"candidates": [{"title": "Washington, D.C.", "score": 0.2}, {"title": "George Washington", "score": 0.7}]},
            "George Washington",
            (Candidate("Washington, D.C.", 0.2), Candidate("George Washington", 0.7)),
            {BEST_CANDIDATES: 1},
        ),
        ({"candidates": [{"name": "Ada"}, "Eve"]}, "Ada", (Candidate("Ada"), Candidate("Eve")), {BEST_CANDIDATES: 1}),
        ({"title": "Eve", "candidates": ["Ada"]}, "Eve", (Candidate("Ada"),), {}),
        ({"title": None, "candidates": ["Ada"]}, None, (Candidate("Ada"),), {}),
        ({"entity": ["France"]}, "France", (Candidate("France"),), {BEST_CANDIDATES: 1}),
        ({"qid": ["Q1", "Q2"]}, "Q1", (Candidate("Q1"), Candidate("Q2")), {BEST_CANDIDATES: 1}),
        ({"entity": []}, None, (), {}),
        ({"entity": True}, UNLINKED, (), {UNUSABLE_LINKS: 1}),
    ],
)
def test_of_several_links_the_best_one_counts_and_is_noted(entry, entity, candidates, noted):
    """Such mentions were unlinked, without a note."""
    counts = Counter()
    prediction = to_prediction({"mention": "x"} | entry, counts)
    assert (prediction.entity, prediction.candidates, dict(+counts)) == (entity, candidates, noted)


@pytest.mark.parametrize(
    ("entry", "entity", "noted"),
    [
        ({"qid": None, "title": "London"}, "London", {LATER_LINKS: 1}),
        ({"qid": "", "title": "Paris"}, "Paris", {LATER_LINKS: 1}),
        ({"qid": "unknown", "wikipedia_title": "Rome"}, "Rome", {LATER_LINKS: 1}),
        ({"qid": "unknown", "title": None}, None, {VERBAL_NIL: 1}),
        ({"qid": None, "id": "T1"}, None, {"fields `id` (not read)": 1}),
        ({"qid": "Q90", "title": "London"}, "Q90", {"fields `title` (not read)": 1}),
    ],
)
def test_nil_in_one_field_hides_no_link_in_another(entry, entity, noted):
    counts = Counter()
    assert to_prediction({"text": "x", **entry}, counts).entity == entity
    assert dict(+counts) == noted


def test_a_comma_before_a_closing_brace_loses_no_entry():
    """The first entry was lost without a note."""
    answer = '[{"surface": "a,}", "title": "M",}, {"surface": "b"}, {"surface": "c" , }]'
    expected = [{"surface": "a,}", "title": "M"}, {"surface": "b"}, {"surface": "c"}]
    assert entries(answer) == (expected, {TRAILING_COMMAS: 1})
    assert entries(answer[:-12]) == (expected[:2], {TRAILING_COMMAS: 1, TRUNCATED: 1})


def test_an_entry_that_is_no_json_loses_only_itself():
    answer = '[{"text": "A" "B"}, {"text": "C"}, {"text": D}, {"text": "E"}]'
    assert entries(answer) == ([{"text": "C"}, {"text": "E"}], {INVALID_ENTRIES: 2})
    assert entries('[{"text": "A"}, {"text": B}]') == ([{"text": "A"}], {TRUNCATED: 1})


@pytest.mark.parametrize(
    "words",
    [
        *("(none)", "no entity", "NIL (no article)", "No Wikipedia page", "Unknown entity", "<NIL>", "not in Wikidata"),
        *("None.", "None - no matching entity", "no_match", "N/A", "[NIL]", "No English Wikipedia article", "NIL"),
    ],
)
def test_words_for_nil_are_nil_and_noted(words):
    counts = Counter()
    assert to_prediction({"text": "x", "title": words}, counts).entity is None
    assert dict(+counts) == {VERBAL_NIL: 1}


def test_words_for_nil_are_noted_once_and_beside_null():
    for fields in ({"qid": None, "title": "Unknown"}, {"qid": "NIL", "title": "Unknown"}):
        counts = Counter()
        assert to_prediction({"text": "x", **fields}, counts).entity is None
        assert dict(+counts) == {VERBAL_NIL: 1}


@pytest.mark.parametrize(
    "title",
    ["None (album)", "Unknown Pleasures", "No Entry", "No Exit", "Nil by Mouth", "Null Island", "Nobody", "NIL1"],
)
def test_titles_that_begin_like_words_for_nil_are_none(title):
    counts = Counter()
    assert to_prediction({"text": "x", "title": title}, counts).entity == title
    assert not +counts


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("Berlin (Q64)", "Q64"),
        ("Q64 (Berlin)", "Q64"),
        ("[[Berlin]]", "Berlin"),
        ("[[Berlin|the city]]", "Berlin"),
        ("[Berlin](https://en.wikipedia.org/wiki/Berlin)", "https://en.wikipedia.org/wiki/Berlin"),
        ("en:Berlin", "enwiki:Berlin"),
        ("https://www.wikidata.org/wiki/Q64?utm_source=chatgpt.com", "https://www.wikidata.org/wiki/Q64"),
        (
            "https://en.wikipedia.org/wiki/Berlin?utm_source=a&utm_medium=b#History",
            "https://en.wikipedia.org/wiki/Berlin#History",
        ),
        ("https://en.wikipedia.org/?utm_source=a&curid=3354", "https://en.wikipedia.org/?curid=3354"),
        ("[Berlin](https://en.wikipedia.org/?curid=3354&utm_source=a)", "https://en.wikipedia.org/?curid=3354"),
    ],
)
def test_markup_around_a_link_is_removed_and_noted(written, read_as):
    counts = Counter()
    assert to_prediction({"text": "x", "entity": written}, counts).entity == read_as
    assert dict(+counts) == {REWRITTEN_LINKS: 1}


def test_a_small_item_is_one_only_in_a_field_of_wikidata():
    counts = Counter()
    assert to_prediction({"text": "x", "qid": "q64"}, counts).entity == "Q64"
    assert to_prediction({"text": "x", "entity": "q64"}, counts).entity == "q64"  # may be an id of ones own
    assert dict(+counts) == {REWRITTEN_LINKS: 1}


@pytest.mark.parametrize(
    "link", ["Berlin (city)", "What is utm_x=1?", "it: Chapter Two", "MESH:D1", "db:Berlin", "Q64", "A (B) (C)"]
)
def test_other_links_stay_as_written(link):
    counts = Counter()
    assert (to_prediction({"text": "x", "entity": link}, counts).entity, +counts) == (link, {})


def test_a_truth_value_is_no_score():
    counts = Counter()
    assert to_prediction({"text": "London", "qid": "Q84", "score": True}, counts).score is None
    assert dict(+counts) == {"scores that are not numbers (skipped)": 1}


def test_types_that_are_no_text_are_counted():
    counts = Counter()
    assert to_prediction({"text": "London", "types": ["LOC", 3, None, {"name": "GPE"}]}, counts).types == ("LOC",)
    assert dict(+counts) == {"types that are not text (skipped)": 2}


def read(tmp_path, content, name="a.jsonl", **how):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return karat.load_run(path, corpus=GOLD, **how)


def spans(run):
    return {
        response.id: [(prediction.start, prediction.end, prediction.entity) for prediction in response.predictions]
        for response in run
    }


NO_LIST = "no list of predictions in the answer"
FOUND = {"d1": [(0, 12, "Q7259"), (36, 42, "Q84")]}
ENTRIES = [{"mention": "Ada Lovelace", "qid": "Q7259"}, {"mention": "London", "qid": "Q84"}]


@pytest.mark.parametrize(
    "record",
    [
        {"id": "d1", "response": FENCED},
        {"doc_id": "d1", "answer": FENCED},
        {"id": "d1", "entities": [{"mention": "Ada Lovelace", "qid": "Q7259"}, {"mention": "London", "qid": "Q84"}]},
        {"custom_id": "d1", "response": {"body": {"choices": [{"message": {"content": FENCED}}]}}},
        {
            "custom_id": "d1",
            "response": {"body": {"output": [{"content": [{"type": "output_text", "text": FENCED}]}]}},
        },
        {
            "custom_id": "d1",
            "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": FENCED}]}},
        },
        {"id": "chatcmpl-0", "doc_id": "d1", "choices": [{"message": {"content": FENCED}}]},
        {"doc_id": "d1", "response": {"id": "chatcmpl-0", "choices": [{"message": {"content": FENCED}}]}},
        {"custom_id": "d1", "completion": {"id": "msg_1", "content": [{"type": "text", "text": FENCED}]}},
        {"id": "d1", "response": {"output": [{"content": [{"type": "output_text", "text": FENCED}]}]}},
        {"id": "d1", "response": {"mentions": ENTRIES}},
        {"id": "d1", "answer": {"Ada Lovelace": "Q7259", "London": "Q84"}},
    ],
)
def test_lines_of_predictions_are_recognised(tmp_path, record):
    assert spans(read(tmp_path, json.dumps(record) + "\n")) == FOUND


def test_an_answer_in_an_object_of_an_api_is_no_entry(tmp_path):
    """Its only text is the whole answer, not a mention."""
    record = {"id": "d1", "output": {"text": json.dumps(ENTRIES), "finish_reason": "stop"}}
    with pytest.raises(InputError):
        read(tmp_path, json.dumps(record) + "\n")


def write_table(header, separator=","):
    quoted = json.dumps(ENTRIES).replace('"', '""')
    return f'{header}\nd1{separator}"{quoted}"\nd2{separator}\n'


@pytest.mark.parametrize(("header", "separator"), [("doc_id,answer", ","), ('"id";"response"', ";"), ("id\traw", "\t")])
def test_a_table_with_columns_for_ids_and_answers_is_recognised(tmp_path, header, separator):
    run = read(tmp_path, write_table(header, separator), "a.csv")
    assert spans(run) == FOUND | {"d2": []}
    assert {response.id: response.error for response in run} == {"d1": None, "d2": "the answer is empty"}


def test_a_column_of_answers_is_named(tmp_path, karat_cli):
    columns = {"doc": "nr", "response": "said"}
    assert spans(read(tmp_path, write_table("nr,said"), "a.csv", columns=columns)) == FOUND | {"d2": []}
    line = json.dumps({"nr": "d1", "said": FENCED, "usage": {"total_tokens": 7}}) + "\n"
    assert spans(read(tmp_path, line, columns=columns)) == FOUND
    invented = json.dumps({"nr": "d1", "said": '[{"mention": "London", "why": 1}, {"mention": "Rome"}]'}) + "\n"
    run = read(tmp_path, invented, columns=columns)
    assert run.skipped == {"fields `why` (not read)": 1, NOT_FOUND: 1}
    (tmp_path / "gold.jsonl").write_text(json.dumps({"id": "d1", "text": TEXT, "labels": []}) + "\n")
    ran = karat_cli("score", tmp_path / "gold.jsonl", tmp_path / "a.jsonl", "--columns", "doc=nr,response=said")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"response": "said"}, "Add doc=COLUMN"),
        ({"doc": "nr", "response": "said", "start": "begin"}, "Remove start=, or response="),
        ({"doc": "nr", "entity": "said"}, "response=COLUMN with the answers of a language model"),
    ],
)
def test_roles_that_do_not_fit_answers(tmp_path, columns, message):
    with pytest.raises(UsageError, match=message):
        read(tmp_path, write_table("nr,said"), "a.csv", columns=columns)


def test_answers_in_a_named_column_are_no_gold_labels(tmp_path):
    (tmp_path / "a.csv").write_text(write_table("nr,said"))
    with pytest.raises(InputError, match="found answers of a language model"):
        karat.load(tmp_path / "a.csv", columns={"doc": "nr", "response": "said"})


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", write_table("id,said")), ("a.jsonl", 2 * (json.dumps({"id": "d1", "said": "[]"}) + "\n"))],
)
def test_an_answer_in_an_unknown_field_is_not_taken_for_one_document(tmp_path, name, content):
    """The whole file was the answer for a document called `a`."""
    with pytest.raises(InputError, match=r"the fields id, said; .*columns=\{'doc': 'FIELD', 'response': 'FIELD'\}"):
        read(tmp_path, content, name, format="llm")
    with pytest.raises(InputError, match=r"'response': '…'} for answers of a language model"):
        read(tmp_path, content, name)


def test_a_list_without_a_known_field_for_the_text_names_its_fields(tmp_path):
    (response,) = read(tmp_path, json.dumps({"id": "d1", "response": '[{"citation": "Ada", "qid": "Q1"}]'}) + "\n")
    fields = "fields `citation`, `qid` (not read). Name the text of a mention `mention`"
    assert response.error == f"no list of predictions in the answer: {fields}"


@pytest.mark.parametrize(
    "empty",
    [
        {"id": "d2", "response": ""},
        {"id": "d2", "response": None},
        {"id": "d2", "choices": [{"message": {"content": None, "refusal": "no"}}]},
    ],
)
def test_an_empty_first_answer_does_not_hide_the_format(tmp_path, empty):
    answered = {"id": "d1", "response": FENCED}
    run = read(tmp_path, f"{json.dumps(empty)}\n{json.dumps(answered)}\n")
    assert spans(run) == FOUND | {"d2": []}
    assert {response.id: response.error for response in run} == {"d1": None, "d2": "the answer is empty"}


def test_answers_that_are_all_empty_are_recognised_too(tmp_path):
    (response,) = read(tmp_path, '{"id": "d1", "response": null}\n')
    assert response.error == "the answer is empty"


def test_one_array_a_fenced_file_and_a_folder(tmp_path):
    record = {"id": "d1", "answers": [{"text": "Ada Lovelace", "entity": "Q7259"}, {"text": "London", "entity": "Q84"}]}
    assert spans(read(tmp_path, json.dumps([record], indent=1), "a.json")) == FOUND
    assert spans(read(tmp_path, f"```json\n{json.dumps([record])}\n```", "b.md")) == FOUND
    assert spans(read(tmp_path, FENCED[FENCED.index("```") :], "d1.md")) == FOUND
    folder = tmp_path / "answers"
    folder.mkdir()
    (folder / "d1.txt").write_text(FENCED)
    (folder / "d2.json").write_text("[]")
    (folder / "notes.log").write_text("x")
    assert spans(karat.load_run(folder, corpus=GOLD, format="llm")) == FOUND | {"d2": []}


def test_fences_and_thoughts_in_answers_lose_no_other_answer_of_an_array(tmp_path):
    """The text from a fence in one answer to the end of an indented file was read as if it were in the fence."""
    answers = {"d1": FENCED, "d2": "<think>I am not su"}
    records = [{"id": doc_id, "response": answer} for doc_id, answer in answers.items()]
    for text in (json.dumps(records, indent=1), json.dumps(records[::-1], indent=1)):
        run = read(tmp_path, text, "a.json")
        assert spans(run) == FOUND | {"d2": []}
        assert {response.id: response.error for response in run} == {"d1": None, "d2": NO_LIST}
    cut_off = json.dumps([*records, {"id": "d3", "response": "[]"}], indent=1)[:-10].replace("<think>", "")
    run = read(tmp_path, cut_off, "a.json")
    assert (spans(run), run.skipped[TRUNCATED]) == (FOUND | {"d2": []}, 1)
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved/d1.json").write_text(json.dumps({"choices": [{"message": {"content": FENCED}}]}, indent=1))
    assert spans(karat.load_run(tmp_path / "saved", corpus=GOLD, format="llm")) == FOUND


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "answers",
    [
        {"d1": [{"text": "Ada Lovelace", "id": "Q7259"}, {"text": "London", "id": "Q84"}], "d2": []},
        {"d1": {"mentions": [["Ada Lovelace", "Q7259"], ["London", "Q84"]]}, "d2": {"mentions": []}},
        {"d1": FENCED, "d2": "[]"},
    ],
)
def test_an_object_from_documents_to_answers_is_recognised(tmp_path, answers, indent):
    assert spans(read(tmp_path, json.dumps(answers, indent=indent), "a.json")) == FOUND | {"d2": []}


def test_an_object_of_other_texts_is_no_object_from_documents_to_answers(tmp_path):
    with pytest.raises(InputError, match="unknown format"):
        read(tmp_path, json.dumps({"nr": "d1", "said": FENCED}) + "\n")


def test_entries_that_name_their_documents(tmp_path):
    rows = [
        {"doc_id": "d1", "mention": "Ada Lovelace", "qid": "Q7259"},
        {"doc_id": "d1", "mention": "London", "qid": "Q84"},
    ]
    assert spans(read(tmp_path, json.dumps(rows), "a.json")) == FOUND
    assert spans(read(tmp_path, "".join(json.dumps(row) + "\n" for row in rows))) == FOUND
    by_id = {"d1": [{"text": "Ada Lovelace", "id": "Q7259"}, {"text": "London", "id": "Q84"}], "d2": []}
    assert spans(read(tmp_path, json.dumps(by_id, indent=1), "b.json", format="llm")) == FOUND | {"d2": []}


def test_tokens_and_failures_are_kept(tmp_path):
    done = {"choices": [{"message": {"content": "[]"}}], "usage": {"total_tokens": 7}}
    lines = [
        {"custom_id": "d1", "response": {"body": done}},
        {"custom_id": "d2", "response": None, "error": {"code": "late"}},
    ]
    first, second = read(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))
    assert (first.tokens, first.error) == (7, None)
    assert second.error == '{"code": "late"}'
    (silent,) = read(tmp_path, json.dumps({"id": "d1", "response": "I found nothing."}) + "\n")
    assert silent.error == "no list of predictions in the answer"


@pytest.mark.parametrize(
    "completion",
    [
        {"id": "chatcmpl-1", "choices": [{"message": {"content": "[]"}}]},
        {"id": "msg_1", "type": "message", "content": [{"type": "text", "text": "[]"}]},
        {"id": "resp_1", "object": "response", "output": [{"content": [{"type": "output_text", "text": "[]"}]}]},
    ],
)
def test_a_saved_completion_is_of_the_document_of_its_file(tmp_path, completion):
    (tmp_path / "d1.json").write_text(
        json.dumps({**completion, "usage": {"prompt_tokens": 210, "completion_tokens": 55}})
    )
    (response,) = karat.load_run(tmp_path, corpus=GOLD, format="llm")
    assert (response.id, response.error, response.tokens) == ("d1", None, 265)


MENTIONS = {"mentions": [{"text": "Ada Lovelace", "qid": "Q7259"}, {"text": "London", "qid": "Q84"}]}
CALL = {"type": "function", "function": {"name": "link", "arguments": json.dumps(MENTIONS)}}
PARTS = [{"text": "I link.", "thought": True}, {"text": json.dumps(MENTIONS)}]
GEMINI = {"candidates": [{"content": {"parts": PARTS, "role": "model"}}], "usageMetadata": {"totalTokenCount": 7}}
EXAMPLE = {"role": "assistant", "content": '[{"mention": "Lovelace", "qid": "Q1"}]'}
CHAT = [{"role": "user", "content": "Link!"}, EXAMPLE, {"role": "user", "content": TEXT}]
SEARCH = {"type": "web_search_call", "arguments": '{"mentions": ["London"]}'}


@pytest.mark.parametrize(
    "completion",
    [
        {"choices": [{"message": {"content": None, "tool_calls": [CALL]}}]},
        {"choices": [{"message": {"content": "", "tool_calls": [CALL]}}]},
        {"choices": [{"message": {"content": json.dumps(MENTIONS), "tool_calls": []}}]},
        {"choices": [{"message": {"content": json.dumps(MENTIONS), "tool_calls": None}}]},
        {
            "type": "message",
            "content": [{"type": "text", "text": "I link."}, {"type": "tool_use", "name": "link", "input": MENTIONS}],
        },
        {"object": "response", "output": [SEARCH, {"type": "function_call", "arguments": json.dumps(MENTIONS)}]},
        {"candidates": [{"content": {"parts": [{"functionCall": {"name": "link", "args": MENTIONS}}]}}]},
    ],
)
def test_arguments_of_tool_calls_are_the_answer(tmp_path, completion):
    """Structured answers come as the arguments of a call; without calls, the text counts."""
    assert spans(read(tmp_path, json.dumps({"id": "d1", "response": completion}) + "\n")) == FOUND


def test_several_tool_calls_are_one_answer(tmp_path):
    calls = [
        {"type": "function", "function": {"name": "link", "arguments": json.dumps(mention)}}
        for mention in MENTIONS["mentions"]
    ]
    body = {"choices": [{"message": {"content": None, "tool_calls": calls}}]}
    assert spans(read(tmp_path, json.dumps({"custom_id": "d1", "response": {"body": body}}) + "\n")) == FOUND


def test_a_reply_of_gemini_is_read(tmp_path):
    (response,) = run = read(tmp_path, json.dumps({"id": "d1", "response": GEMINI}) + "\n")
    assert (spans(run), response.tokens) == (FOUND, 7)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "d1.json").write_text(json.dumps(GEMINI))
    (response,) = run = karat.load_run(tmp_path / "out", corpus=GOLD, format="llm")
    assert (spans(run), response.tokens) == (FOUND, 7)


def test_the_last_reply_of_a_chat_is_the_answer(tmp_path):
    """Earlier replies are examples of the prompt."""
    record = {"doc_id": "d1", "messages": [*CHAT, {"role": "assistant", "content": json.dumps(MENTIONS)}]}
    assert spans(read(tmp_path, json.dumps(record) + "\n")) == FOUND
    columns = {"doc": "doc_id", "response": "messages"}
    assert spans(read(tmp_path, json.dumps(record) + "\n", columns=columns)) == FOUND
    (response,) = read(tmp_path, json.dumps({"doc_id": "d1", "messages": CHAT[:1]}) + "\n", format="llm")
    assert response.error == "the answer is empty"


def test_records_whose_answers_have_another_name_are_not_one_answer(tmp_path):
    """They were read as one object from texts to titles, of a document with the name of the file."""
    record = {"doc_id": "d1", "prompt": TEXT, "prediction": json.dumps(MENTIONS)}
    with pytest.raises(InputError, match=r"the fields doc_id, prompt, prediction; expected an id .* and an answer"):
        read(tmp_path, json.dumps(record) + "\n", format="llm")


def test_entries_with_roles_are_no_chat(tmp_path):
    entries = [{**entry, "role": "user"} for entry in MENTIONS["mentions"]]
    assert spans(read(tmp_path, json.dumps({"id": "d1", "response": entries}) + "\n")) == FOUND


def test_tokens_of_a_completion_in_a_field_are_read(tmp_path):
    reply = {"id": "chatcmpl-0", "choices": [{"message": {"content": "[]"}}], "usage": {"total_tokens": 7}}
    (response,) = read(tmp_path, json.dumps({"id": "d1", "response": reply}) + "\n")
    assert response.tokens == 7


def test_what_a_record_states_that_its_answer_used_is_read(tmp_path):
    stated = {"seconds": 1.5, "tokens": 77, "cost": "0.002"}
    records = [
        {"id": "d1", "reply": "[]", **stated},
        {"id": "d2", "reply": "None.", **stated, "usage": {"input_tokens": 50, "output_tokens": 20}},
    ]
    run = read(tmp_path, "".join(json.dumps(record) + "\n" for record in records))
    assert [(response.seconds, response.tokens, response.cost) for response in run] == [
        (1.5, 77, 0.002),
        (1.5, 70, 0.002),  # the account of the API comes first; failed documents cost as well
    ]
    records = [
        {"id": "d1", "reply": "[]", "seconds": -1, "tokens": 7.5, "cost": "much"},
        {"id": "d2", "reply": "[]", "seconds": None, "tokens": ["a", "b"], "cost": ""},
    ]
    run = read(tmp_path, "".join(json.dumps(record) + "\n" for record in records))
    assert [(response.seconds, response.tokens, response.cost) for response in run] == 2 * [(None, None, None)]
    assert run.skipped == {f"fields `{name}` (not read)": n for name, n in (("seconds", 1), ("tokens", 2), ("cost", 1))}
    table = "id,answer,seconds,tokens,cost\nd1,[],1.5,77,0.002\n"
    for columns in (None, {"doc": "id", "response": "answer"}):
        (response,) = read(tmp_path, table, "a.csv", columns=columns)
        assert (response.seconds, response.tokens, response.cost) == (1.5, 77, 0.002)


def test_notes_count_no_skipped_sample_of_a_document(tmp_path):
    path = tmp_path / "a.jsonl"
    line = json.dumps({"id": "d1", "response": '[{"mention": "Ada", "entity": "unknown"}'}) + "\n"
    path.write_text(2 * line)
    run = karat.load_run(path, corpus=GOLD, on_error="skip")
    assert (run.skipped[TRUNCATED], run.skipped[VERBAL_NIL]) == (1, 1)


def test_wrong_spans_and_invented_words(tmp_path):
    predictions = [{"text": "London", "start": 30, "end": 36}, {"text": "Paris"}]
    line = json.dumps({"id": "d1", "response": json.dumps(predictions)}) + "\n"
    with pytest.raises(InputError, match="the text 'London' at"):
        read(tmp_path, line)
    run = read(tmp_path, line, span_mismatch="realign")
    assert spans(run) == {"d1": [(36, 42, UNLINKED)]}
    assert run.skipped == {REALIGNED: 1, NOT_FOUND: 1}


def test_a_line_without_id(tmp_path):
    lines = json.dumps({"id": "d1", "response": "[]"}) + "\n" + json.dumps({"response": "[]"}) + "\n"
    with pytest.raises(InputError, match=r"a\.jsonl:2: found no id of a document"):
        read(tmp_path, lines)
    assert len(read(tmp_path, lines, on_error="skip")) == 1


SAMPLE = json.dumps({"id": "d1", "response": FENCED, "text": TEXT}).encode() + b"\n"
ARRAY = json.dumps([{"id": "d1", "answers": [{"text": "London", "entity": "Q84", "start": 1}]}]).encode()


@given(nearly(SAMPLE) | nearly(ARRAY) | nearly(FENCED.encode()) | st.binary(max_size=30))
def test_broken_files_are_refused_in_words(data):
    def refused(source):
        try:
            return llm.read_run(source, lambda: GOLD)
        except UsageError:
            return []

    read_or_refused(refused, data)


def test_a_threshold_is_tuned_on_answers_that_quote_texts_of_both_corpora(tmp_path, karat_cli):
    """One file has the answers for test and development documents; 0.8 separates the right link from the wrong one."""
    for name, id in (("test", "d1"), ("dev", "e1")):
        label = {"start": 0, "end": 6, "entity": "Q84"}
        document = {"id": id, "text": "London is near Paris.", "labels": [label]}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    said = [{"mention": "London", "qid": "Q84", "score": 0.8}, {"mention": "Paris", "qid": "Q1", "score": 0.3}]
    records = [{"id": id, "response": json.dumps(said)} for id in ("d1", "e1")]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    files = (tmp_path / "test.jsonl", tmp_path / "answers.jsonl")
    ran = karat_cli("score", *files, "--tune-on", tmp_path / "dev.jsonl", "--json", "-")
    assert ran.code == 0, ran.err
    result = json.loads(ran.out)
    assert "threshold:0.8 tuned on dev@" in result["signature"]
    assert result["measures"]["strong:micro.f1"] == 1
    assert not any("without a text" in note for note in (*result["skipped"], ran.err))
