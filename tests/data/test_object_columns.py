"""Tables of objects with columns of their own: data frames, datasets and dictionaries."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import karat
from karat import UNLINKED
from karat.formats.parsing.surfaces.table import NULL_LINKS
from karat.model.corpus import NO_TEXT_NOTE
from karat.model.errors import InputError, UsageError

TEXT = "Berlin is an hour from Poland."
ROW_COLUMNS = {"doc": "doc_id", "text": "body", "start": "begin", "end": "stop", "entity": "qid"}
ROWS = [
    {"doc_id": "d1", "body": TEXT, "begin": 0, "stop": 6, "qid": "Q64"},
    {"doc_id": "d1", "body": TEXT, "begin": 23, "stop": 29, "qid": None},
]
NESTED = [
    {"doc_id": "d1", "body": TEXT, "ents": [{"s": 0, "e": 6, "q": "Q64"}, {"s": 23, "e": 29, "q": None}]},
]
NESTED_COLUMNS = {"doc": "doc_id", "text": "body", "start": "ents.s", "end": "ents.e", "entity": "ents.q"}
PARALLEL = [{"doc_id": "d1", "body": TEXT, "begin": [0, 23], "stop": [6, 29], "qid": ["Q64", None]}]
STRUCT_OF_LISTS = [{"doc_id": "d1", "body": TEXT, "ents": {"s": [0, 23], "e": [6, 29], "q": ["Q64", None]}}]


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (ROWS, ROW_COLUMNS),
        (NESTED, NESTED_COLUMNS),
        (PARALLEL, ROW_COLUMNS),
        (STRUCT_OF_LISTS, NESTED_COLUMNS),
    ],
    ids=["rows", "nested", "parallel", "struct of lists"],
)
def test_mentions_may_be_rows_nested_or_parallel_lists(rows, columns):
    (document,) = karat.load(rows, columns=columns)
    assert document.text == TEXT
    assert [(label.start, label.end, label.entity) for label in document.labels] == [(0, 6, "Q64"), (23, 29, None)]
    run = karat.load_run(rows, columns={role: name for role, name in columns.items() if role != "text"})
    assert karat.evaluate(karat.load(rows, columns=columns), run)["strong:micro.f1"] == 1.0


def test_arrow_tables_are_read_by_their_columns():
    pa = pytest.importorskip("pyarrow")
    (document,) = karat.load(pa.Table.from_pylist(PARALLEL), columns=ROW_COLUMNS)
    assert len(document.labels) == 2


@pytest.mark.extras
def test_data_frames_are_read_by_their_columns():
    pd = pytest.importorskip("pandas")
    for rows, columns in ((ROWS, ROW_COLUMNS), (NESTED, NESTED_COLUMNS), (PARALLEL, ROW_COLUMNS)):
        corpus = karat.load(pd.DataFrame(rows), columns=columns)
        (document,) = corpus
        assert [label.entity for label in document.labels] == ["Q64", UNLINKED]
        assert corpus.skipped == {NULL_LINKS: 1}


@pytest.mark.extras
def test_empty_cells_of_a_file_and_missing_values_of_a_table_are_unlinked(tmp_path):
    pd, datasets = pytest.importorskip("pandas"), pytest.importorskip("datasets")
    path = tmp_path / "run.csv"
    path.write_text("doc,start,end,entity\nd1,0,6,Q64\nd1,23,29,\nd1,7,9,NIL\n", encoding="utf-8")
    frame = pd.read_csv(path)
    data = datasets.Dataset.from_pandas(frame)
    data.save_to_disk(tmp_path / "saved")
    frame.to_parquet(tmp_path / "run.parquet")
    columns = {role: role for role in ("doc", "start", "end", "entity")}
    sources = [path, frame, data, data.data.table, tmp_path / "saved", tmp_path / "run.parquet"]
    runs = [karat.load_run(source, columns=columns) for source in sources]
    runs += [karat.load_run(source) for source in (frame, data, data.data.table)]
    for run in runs:
        assert [item.entity for response in run for item in response.predictions] == ["Q64", UNLINKED, None]
    assert [run.skipped for run in runs] == [{}] + [{NULL_LINKS: 1}] * 8
    assert karat.load(frame).skipped[NULL_LINKS] == 1
    assert karat.linking_recall([("d1", 0, 6, "Q64"), ("d1", 23, 29, None), ("d1", 7, 9, None)], frame) == 2 / 3


@pytest.mark.extras
def test_a_missing_field_of_nested_objects_is_unlinked_in_every_table():
    pd, datasets = pytest.importorskip("pandas"), pytest.importorskip("datasets")
    rows = [{"doc_id": "d1", "body": TEXT, "ents": [{"s": 0, "e": 6, "q": "Q64"}, {"s": 23, "e": 29}]}]
    for source in (rows, pd.DataFrame(rows), datasets.Dataset.from_list(rows)):
        (document,) = karat.load(source, columns=NESTED_COLUMNS)
        assert [label.entity for label in document.labels] == ["Q64", UNLINKED]


def test_mentions_given_by_their_text_are_located():
    run = karat.load_run(
        [{"doc_id": "d1", "surface": "Poland", "qid": "Q36"}],
        columns={"doc": "doc_id", "mention": "surface", "entity": "qid"},
        corpus=karat.load(ROWS, columns=ROW_COLUMNS),
    )
    (response,) = run
    assert (response.predictions[0].start, response.predictions[0].end) == (23, 29)


def test_a_missing_column_names_those_that_exist():
    with pytest.raises(UsageError, match=r"no column 'nowhere'\. It has doc_id, body, begin, stop, qid"):
        karat.load(ROWS, columns={**ROW_COLUMNS, "start": "nowhere"})


def test_parallel_lists_of_different_lengths_are_refused():
    rows = [{**PARALLEL[0], "stop": [6]}]
    with pytest.raises(InputError, match=r"table: row 1: .*expected a list of 2 values, as in 'begin'"):
        karat.load(rows, columns=ROW_COLUMNS)


def _features(datasets, types, **others):
    value = datasets.Value
    base = {"doc_id": value("string"), "body": value("string")}
    return datasets.Features({**base, **others, **types})


@pytest.mark.extras
@pytest.mark.parametrize("layout", ["rows", "nested", "struct of lists", "parallel"])
@pytest.mark.parametrize("place", ["in memory", "folder", "folder/arrow", "parquet"])
def test_class_labels_of_datasets_are_read_by_their_names(tmp_path, layout, place):
    """A ClassLabel stores 0 for CITY and 1 for COUNTRY; -1 is no label."""
    datasets = pytest.importorskip("datasets")
    number, kind = datasets.Value("int64"), datasets.ClassLabel(names=["CITY", "COUNTRY"])
    lists = {name: datasets.Sequence(item) for name, item in (("begin", number), ("stop", number), ("kind", kind))}
    text = {"doc_id": "d1", "body": TEXT}
    flat = {"doc": "doc_id", "text": "body", "start": "begin", "end": "stop", "type": "kind"}
    nested = {**flat, "start": "ents.begin", "end": "ents.stop", "type": "ents.kind"}
    spans = [(0, 6, 0), (23, 29, 1), (7, 9, -1)]
    mentions = [dict(zip(("begin", "stop", "kind"), span, strict=True)) for span in spans]
    columns = {name: [mention[name] for mention in mentions] for name in mentions[0]}
    mention = {"begin": number, "stop": number, "kind": kind}
    rows, features, roles = {
        "rows": ([{**text, **item} for item in mentions], mention, flat),
        "nested": ([{**text, "ents": mentions}], {"ents": [mention]}, nested),
        "struct of lists": ([{**text, "ents": columns}], {"ents": datasets.Sequence(mention)}, nested),
        "parallel": ([{**text, **columns}], lists, flat),
    }[layout]
    data = datasets.Dataset.from_list(rows, features=_features(datasets, features))
    source = data
    if place == "parquet":
        source = tmp_path / "data.parquet"
        data.to_parquet(source)
    elif place != "in memory":
        data.save_to_disk(tmp_path / "data")
        source = tmp_path / "data" / ("data-00000-of-00001.arrow" if place == "folder/arrow" else "")
    (document,) = karat.load(source, columns=roles)
    assert [label.types for label in document.labels] == [("CITY",), ("COUNTRY",), ()]
    (response,) = karat.load_run(source, columns={role: name for role, name in roles.items() if role != "text"})
    assert [prediction.types for prediction in response.predictions] == [("CITY",), ("COUNTRY",), ()]


@pytest.mark.parametrize("value", [1, 2.5, True, {"name": "PER"}, ["PER", 1]], ids=str)
def test_a_type_that_is_no_name_is_refused(value):
    rows = [{**ROWS[0], "kind": value}]
    with pytest.raises(InputError, match=r"table: row 1: .* in the column 'kind'; expected the name of a type"):
        karat.load(rows, columns={**ROW_COLUMNS, "type": "kind"})
    mention = {"document": "d1", "start": 0, "end": 6, "entity": "Q64", "type": value}
    with pytest.raises(InputError, match="expected a name such as PER"):
        karat.load_run([mention])
    with pytest.raises(InputError, match="expected a name such as PER"):
        karat.load([mention])


@pytest.mark.parametrize("value", [["Berlin"], {"text": "Berlin"}, True], ids=str)
def test_a_text_of_a_mention_that_is_no_text_is_refused(value):
    with pytest.raises(InputError, match=r"table: row 1: .* in the column 'surface'; expected a text"):
        karat.load([{**ROWS[0], "surface": value}], columns={**ROW_COLUMNS, "mention": "surface"})


def test_a_field_that_no_mention_has_is_refused():
    """Its list is there, so that only the rows can tell."""
    with pytest.raises(InputError, match=r"table: found no row with a value for the column 'ents\.kind'"):
        karat.load(NESTED, columns={**NESTED_COLUMNS, "type": "ents.kind"})
    pairs = [{**NESTED[0], "ents": [[0, 6, "Q64"]]}]
    places = {**NESTED_COLUMNS, "start": "ents.0", "end": "ents.1", "entity": "ents.2"}
    (document,) = karat.load(pairs, columns=places)
    assert document.labels[0].entity == "Q64"
    with pytest.raises(InputError, match=r"'ents\.3'"):
        karat.load(pairs, columns={**places, "type": "ents.3"})


LISTS_APART = [{"doc_id": "d1", "body": TEXT, "ents": [{"s": 0, "e": 6}, {"s": 23, "e": 29}], "qids": ["Q64", None]}]
PAIRS_APART = [{"doc_id": "d1", "body": TEXT, "ents": [[0, 6], [23, 29]], "qids": ["Q64", None]}]


@pytest.mark.parametrize(
    ("rows", "start", "end"),
    [(LISTS_APART, "ents.s", "ents.e"), (PAIRS_APART, "ents.0", "ents.1")],
    ids=["objects", "pairs"],
)
def test_spans_in_one_list_and_ids_in_another_belong_together(rows, start, end):
    columns = {**ROW_COLUMNS, "start": start, "end": end, "entity": "qids"}
    (document,) = karat.load(rows, columns=columns)
    assert [(label.start, label.entity) for label in document.labels] == [(0, "Q64"), (23, None)]
    for qids, found in ((["Q64"], r"\['Q64'\]"), ("Q64", "'Q64'"), (None, "nothing in 'qids'")):
        with pytest.raises(InputError, match=rf"{found}.*expected a list of 2 values, as in '{start}'"):
            karat.load([{**rows[0], "qids": qids}], columns=columns)
    with pytest.raises(InputError, match="expected a span or mention for 'qids'"):
        karat.load([{**rows[0], "ents": None}], columns=columns)
    (empty,) = karat.load([{**rows[0], "ents": [], "qids": []}], columns=columns)
    assert empty.labels == ()


@pytest.mark.parametrize("start", ["ents.9", "ents.foo"])
def test_spans_at_a_place_that_no_mention_has_are_refused(start):
    with pytest.raises(InputError, match="found no row with a value for the column 'ents"):
        karat.load_run(PAIRS_APART, columns={"doc": "doc_id", "start": start, "end": start})


def test_a_list_of_mentions_that_is_something_else_is_refused():
    for value, expected in (("Berlin", "a list of mentions"), (["Berlin"], "a list of objects or lists")):
        with pytest.raises(InputError, match=f"in the column 'ents'; expected {expected}"):
            karat.load([{**NESTED[0], "ents": value}], columns=NESTED_COLUMNS)


TOKENS = [{"no": 7, "words": ["Ann", "saw", "Ulm"], "marks": ["B-PER", "O", "B-LOC"], "links": ["Q1", "_", "NIL"]}]
TOKEN_COLUMNS = {"token": "words", "tag": "marks", "id": "links", "doc": "no"}


def check_tokens(source):
    gold, run = (read(source, columns=TOKEN_COLUMNS) for read in (karat.load, karat.load_run))
    (document,) = gold
    assert (document.id, document.text) == ("7", "Ann saw Ulm")
    assert [(label.entity, label.types) for label in document.labels] == [("Q1", ("PER",)), (None, ("LOC",))]
    assert karat.evaluate(gold, run)["strong:micro.f1"] == 1.0


def test_lists_of_tokens_are_read_by_their_columns(tmp_path):
    check_tokens(TOKENS)
    (tmp_path / "tokens.jsonl").write_text(json.dumps(TOKENS[0]) + "\n", encoding="utf-8")
    check_tokens(tmp_path / "tokens.jsonl")


@pytest.mark.extras
def test_lists_of_tokens_of_a_dataset_are_read_by_their_columns(tmp_path):
    datasets = pytest.importorskip("datasets")
    tags = datasets.Sequence(datasets.ClassLabel(names=["O", "B-PER", "B-LOC"]))
    data = datasets.Dataset.from_list(TOKENS, features=None)
    check_tokens(data)
    data = data.cast_column("marks", datasets.Sequence(datasets.Value("string"))).map(
        lambda row: {"marks": tags.feature.str2int(row["marks"])}
    )
    data = data.cast_column("marks", tags)
    check_tokens(data)
    data.save_to_disk(tmp_path / "saved")
    check_tokens(tmp_path / "saved")
    data.to_parquet(tmp_path / "data.parquet")
    check_tokens(tmp_path / "data.parquet")


def test_columns_of_tokens_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match=r"no column 'nowhere'\. It has no, words, marks, links"):
        karat.load(TOKENS, columns={**TOKEN_COLUMNS, "id": "nowhere"})
    with pytest.raises(UsageError, match="rows with lists of tokens have no role misc"):
        karat.load_run(TOKENS, columns={**TOKEN_COLUMNS, "misc": "no"})
    with pytest.raises(InputError, match="'Ann' in the column 'words'; expected a list with an element for each token"):
        karat.load_run([{**TOKENS[0], "words": "Ann"}], columns=TOKEN_COLUMNS)


@pytest.mark.extras
def test_a_dataset_with_a_mention_per_row_is_read_like_a_data_frame():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list([{"doc": "d1", "start": 0, "end": 6, "entity": "Q64"}])
    for source in (data, data.to_pandas()):
        (response,) = karat.load_run(source)
        assert response.predictions == (karat.Prediction(0, 6, "Q64"),)
        (document,) = karat.load(source)
        assert document.labels[0].entity == "Q64"


@pytest.mark.extras
def test_other_columns_of_a_dataset_are_refused_with_their_roles():
    datasets = pytest.importorskip("datasets")
    lists = datasets.Dataset.from_list([{"doc": "d1", "begin": [0], "end": [6], "qid": ["Q64"]}])
    with pytest.raises(InputError, match=r"columns={'doc': 'doc', 'start': 'begin', 'end': 'end', 'entity': 'qid'}\."):
        karat.load_run(lists)


@pytest.mark.extras
def test_an_unknown_field_of_labels_is_named_with_the_roles_that_read_it(tmp_path, karat_cli):
    datasets = pytest.importorskip("datasets")
    row = {"id": "d1", "text": "Berlin", "labels": [{"start": 0, "end": 6, "qid": "Q64"}]}
    data = datasets.Dataset.from_list([row])
    columns = {"doc": "id", "start": "labels.start", "end": "labels.end", "entity": "labels.qid", "text": "text"}
    with pytest.raises(InputError) as caught:
        karat.load(data)
    assert "the unknown field labels[].qid; expected the fields start, end, entity" in str(caught.value)
    assert str(caught.value).endswith(f"Rename it, or name the fields by role, with columns={columns}.")
    (document,) = karat.load(data, columns=columns)
    assert document.labels[0].entity == "Q64"
    data.to_parquet(tmp_path / "gold.parquet")
    assert "with --columns doc=id,start=labels.start" in karat_cli("data", "stats", tmp_path / "gold.parquet").err


@pytest.mark.parametrize("make_mention", [tuple, list])
def test_mentions_in_a_cell_of_a_data_frame_may_be_tuples_or_lists(make_mention):
    pandas = pytest.importorskip("pandas")
    rows = [make_mention((0, 6, "Q64")), make_mention((8, 9, "Q1"))]
    columns = {"doc": "id", "start": "mentions.0", "end": "mentions.1", "entity": "mentions.2"}
    for cell in (rows, tuple(rows)):
        (response,) = karat.load_run(pandas.DataFrame({"id": ["d1"], "mentions": [cell]}), columns=columns)
        assert response.predictions == (karat.Prediction(0, 6, "Q64"), karat.Prediction(8, 9, "Q1"))


def test_other_columns_of_a_data_frame_are_refused_with_their_roles():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"article_id": ["d1"], "from": [0], "to": [6], "wikidata": ["Q64"]})
    columns = {"doc": "article_id", "start": "from", "end": "to", "entity": "wikidata"}
    for load in (karat.load_run, karat.load):
        with pytest.raises((InputError, UsageError)) as caught:
            load(frame)
        assert f"by role{' in karat.load_run or karat.load' * (load is karat.load_run)}: columns={columns}." in str(
            caught.value
        )
    (response,) = karat.load_run(frame, columns=columns)
    assert response.predictions == (karat.Prediction(0, 6, "Q64"),)


@pytest.mark.parametrize(
    "row",
    [
        {"article": "d1", "begin": 0, "end": 6, "qid": "Q64"},
        {"doc": "d1", "from": 0, "to": 6, "qid": "Q64"},
    ],
    ids=["no id of the document", "no span"],
)
def test_rows_without_id_or_span_are_refused_with_roles_that_read_them(row):
    with pytest.raises(InputError) as caught:
        karat.load_run([row])
    doc, start, end, entity = row
    columns = {"doc": doc, "start": start, "end": end, "entity": entity}
    assert f"or name yours by role in karat.load_run or karat.load: columns={columns}." in str(caught.value)
    (response,) = karat.load_run([row], columns=columns)
    assert response.predictions == (karat.Prediction(0, 6, "Q64"),)


@pytest.mark.extras
def test_a_data_frame_with_names_of_roles_is_read_like_a_csv_file(tmp_path):
    """`text` has the documents, so both mentions are inside them; a file of the same rows is the same corpus."""
    pandas = pytest.importorskip("pandas")
    rows = [("d1", TEXT, 0, 6, "Q64"), ("d1", TEXT, 23, 29, "NIL")]
    frame = pandas.DataFrame(rows, columns=["doc", "text", "start", "end", "entity"])
    frame.to_csv(tmp_path / "gold.csv", index=False)
    corpus = karat.load(frame)
    assert (corpus.digest, corpus.skipped) == (karat.load(tmp_path / "gold.csv").digest, {})
    assert karat.evaluate(corpus, frame)["strong:micro.f1"] == 1.0
    by_text = pandas.DataFrame({"doc": ["d1"], "mention": ["Poland"], "entity": ["Q36"]})
    (response,) = karat.load_run(by_text, corpus=corpus)
    assert response.predictions == (karat.Prediction(23, 29, "Q36"),)
    answers = pandas.DataFrame({"doc": ["d1"], "response": ['[{"mention": "Berlin", "entity": "Q64"}]']})
    (response,) = karat.load_run(answers, corpus=corpus)
    assert response.predictions == (karat.Prediction(0, 6, "Q64"),)


@pytest.mark.extras
@pytest.mark.parametrize(("text", "end"), [("Berlin", 6), ("Berli", 6)], ids=["equal", "shorter than the span"])
def test_the_text_of_a_mention_in_a_data_frame_is_no_document(text, end):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([("d1", text, 0, end, "Q64")], columns=["doc", "text", "start", "end", "entity"])
    gold = karat.load([{"id": "d1", "text": TEXT, "labels": []}])
    if text == "Berlin":
        (response,) = karat.load_run(frame, corpus=gold)
        assert response.predictions == (karat.Prediction(0, 6, "Q64"),)
    else:
        with pytest.raises(InputError, match="found the text 'Berli' at"):
            karat.load_run(frame, corpus=gold)
    assert karat.load(frame).skipped == {NO_TEXT_NOTE: 1}


@pytest.mark.extras
def test_the_index_of_a_data_frame_is_no_column():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([{"doc": "d1", "from": 0, "to": 6, "entity": "Q64"}])
    columns = {"doc": "doc", "start": "from", "end": "to", "entity": "entity"}
    with pytest.raises(UsageError, match=r"no column 'doc'\. .* 'doc' is its index: pass frame\.reset_index\(\)"):
        karat.load_run(frame.set_index("doc"), columns=columns)
    assert len(karat.load_run(frame.set_index("doc").reset_index(), columns=columns).predictions) == 1


@pytest.mark.parametrize("missing", ["start", "end"])
@pytest.mark.parametrize("load", [karat.load, karat.load_run])
def test_a_missing_offset_is_named_with_its_mention(missing, load):
    rows = [{"doc": "d1", "start": 0, "end": 6, "entity": "Q64"} for _ in range(2)]
    rows[1][missing] = None
    with pytest.raises(InputError, match=rf" 2: found no value of `{missing}`; .* or remove the mention"):
        load(rows)


def test_a_column_may_have_a_point_in_its_name():
    """`pandas.json_normalize` names columns so."""
    row = {"doc": "d1", "span.start": 0, "span.end": 6, "qid": "Q64"}
    columns = {"doc": "doc", "start": "span.start", "end": "span.end", "entity": "qid"}
    (response,) = karat.load_run([row], columns=columns)
    assert response.predictions == (karat.Prediction(0, 6, "Q64"),)


def test_only_columns_with_a_role_are_converted_and_other_objects_in_them_are_refused():
    (response,) = karat.load_run([{**ROWS[0], "extra": object()}], columns=ROW_COLUMNS)
    assert response.predictions == (karat.Prediction(0, 6, "Q64"),)
    with pytest.raises(InputError, match=r"table: row 1, column 'qid': found a field of the wrong type"):
        karat.load_run([{**ROWS[0], "qid": object()}], columns=ROW_COLUMNS)


@pytest.mark.parametrize(
    "make",
    [
        lambda id: (id, 0, 6, "Q64"),
        lambda id: {"doc": id, "start": 0, "end": 6, "entity": "Q64"},
        lambda id: {"id": id, "predictions": [{"start": 0, "end": 6, "entity": "Q64"}]},
        lambda id: karat.Response(id, (karat.Prediction(0, 6, "Q64"),)),
    ],
    ids=["tuple", "mention", "response", "object"],
)
def test_elements_of_the_ids_of_a_corpus_are_ids(make):
    corpus = karat.Corpus.from_documents([karat.Document(id, TEXT, (karat.Label(0, 6, "Q64"),)) for id in ("a", "b")])
    run = karat.load_run([make(id) for id in corpus.ids], corpus=corpus)
    assert karat.evaluate(corpus, run)["strong:micro.f1"] == 1.0
    rows = [{"article": id, "start": 0, "end": 6, "qid": "Q64"} for id in corpus.ids]
    columns = {"doc": "article", "start": "start", "end": "end", "entity": "qid"}
    assert karat.load_run(rows, columns=columns).digest == run.digest


@pytest.mark.extras
def test_a_folder_of_several_splits_says_so_also_with_columns_and_one_of_a_single_split_is_read(tmp_path, karat_cli):
    datasets = pytest.importorskip("datasets")
    rows = [{"nr": "d1", "body": "Berlin", "mentions": [{"start": 0, "end": 6, "qid": "Q64"}]}]
    split = datasets.Dataset.from_list(rows)
    datasets.DatasetDict({"test": split, "dev": split}).save_to_disk(tmp_path / "two")
    datasets.DatasetDict({"test": split}).save_to_disk(tmp_path / "single")
    columns = {"doc": "nr", "text": "body", "start": "mentions.start", "end": "mentions.end", "entity": "mentions.qid"}
    with pytest.raises(InputError, match=r"several splits in one folder \(dev, test\).*Pass the folder of a split"):
        karat.load(tmp_path / "two", columns=columns)
    flag = ",".join(f"{role}={name}" for role, name in columns.items())
    ran = karat_cli("data", "stats", tmp_path / "two", "--columns", flag)
    assert "several splits in one folder (dev, test)" in ran.err
    assert "match no file" not in ran.err
    (document,) = karat.load(tmp_path / "single", columns=columns)
    assert document.labels == (karat.Label(0, 6, "Q64"),)


@pytest.mark.extras
def test_a_corpus_from_objects_without_a_name_is_saved_under_the_name_of_the_file(tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = [{"id": "d1", "text": "Berlin", "labels": [{"start": 0, "end": 6, "entity": "Q64"}]}]
    corpus = karat.load(datasets.Dataset.from_list(rows))
    karat.save(corpus, tmp_path / "cities.jsonl")
    assert karat.load(tmp_path / "cities.jsonl").name == "cities"
    karat.save(replace(corpus, name="towns"), tmp_path / "cities.jsonl")
    assert karat.load(tmp_path / "cities.jsonl").name == "towns"


@pytest.mark.extras
def test_an_object_of_lists_is_a_list_of_predictions():
    datasets = pytest.importorskip("datasets")
    predictions = {"start": [0, 23], "end": [6, 29], "entity": ["Q64", None]}
    (response,) = karat.load_run(datasets.Dataset.from_list([{"id": "d1", "predictions": predictions}]))
    assert response.predictions == (karat.Prediction(0, 6, "Q64"), karat.Prediction(23, 29, None))
    uneven = datasets.Dataset.from_list([{"id": "d1", "predictions": {**predictions, "end": [6]}}])
    with pytest.raises(InputError, match=r"row 1: found lists of different lengths in 'predictions'"):
        karat.load_run(uneven)


@pytest.mark.extras
def test_a_parquet_file_of_predictions_may_have_texts(tmp_path):
    datasets = pytest.importorskip("datasets")
    row = {"id": "other", "text": TEXT, "predictions": [{"start": 0, "end": 6, "entity": "Q64"}]}
    data = datasets.Dataset.from_list([row])
    data.to_parquet(tmp_path / "run.parquet")
    (tmp_path / "run.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    gold = karat.load(ROWS, columns=ROW_COLUMNS)
    runs = [karat.load_run(source, corpus=gold) for source in (data, tmp_path / "run.parquet", tmp_path / "run.jsonl")]
    assert [[response.id for response in run] for run in runs] == [["d1"]] * 3  # found by its text
    assert len({run.digest for run in runs}) == 1


def test_a_role_by_another_name_suggests_the_role():
    with pytest.raises(karat.KaratError, match=r"unknown role of a column 'begin'\. Did you mean 'start'\?"):
        karat.load_run(ROWS, columns={"doc": "doc_id", "begin": "begin", "end": "stop", "entity": "qid"})
