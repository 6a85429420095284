"""Tables of the user's own, read by the columns that the user names."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import karat
from karat import InputError, KaratError, UnknownNameError, UsageError
from karat.formats.parsing.surfaces.columns import ColumnRoles, suggest_roles
from karat.formats.parsing.surfaces.table import NULL_LINKS, make_table_format
from karat.model.output.command_options import use_command
from tests.formats.broken import nearly, read_or_refused

ROLES = {"doc": "doc_id", "text": "body", "start": "begin", "end": "stop", "entity": "qid"}
ROWS = [
    {"doc_id": "a", "body": "Ada met Bob.", "begin": 0, "stop": 3, "qid": "Q1"},
    {"doc_id": "b", "body": 'In "Ulm", now', "begin": 4, "stop": 7, "qid": ""},
    {"doc_id": "a", "body": "Ada met Bob.", "begin": 8, "stop": 11, "qid": "NIL"},
]
FOUND = {"a": [(0, 3, "Q1"), (8, 11, None)], "b": [(4, 7, karat.UNLINKED)]}


def table(separator, rows=ROWS, header=True):
    def cell(value):
        text = str(value).replace('"', '""')
        return f'"{text}"'

    lines = [list(rows[0])] * header + [list(row.values()) for row in rows]
    return "".join(separator.join(map(cell, line)) + "\n" for line in lines)


def written(tmp_path, content, name):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def items(data, field):
    return {one.id: [(x.start, x.end, x.entity) for x in getattr(one, field)] for one in data}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", table(",")),
        ("t.tsv", table("\t")),
        ("t.txt", table(";")),
        ("t.json", json.dumps(ROWS)),
        ("t.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
        ("t.json", json.dumps({"version": 1, "data": ROWS}, indent=2)),
        ("bom.csv", "\ufeff" + table(",")),
        ("crlf.csv", table(",").replace("\n", "\r\n")),
    ],
)
def test_any_table_is_gold_and_predictions(tmp_path, name, content):
    path = written(tmp_path, content, name)
    gold = karat.load(path, columns=ROLES)
    assert [document.text for document in gold] == ["Ada met Bob.", 'In "Ulm", now']
    assert items(gold, "labels") == FOUND
    assert items(karat.load_run(path, columns=ROLES, corpus=gold), "predictions") == FOUND


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_header_of_the_names_of_roles_needs_no_columns(tmp_path, separator):
    rows = ["doc,text,start,end,entity", "a,Ada met Bob.,0,3,Q1", "a,Ada met Bob.,8,11,NIL"]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(rows).replace(",", separator))
    (document,) = karat.load(path)
    assert [(label.start, label.end, label.entity) for label in document.labels] == [(0, 3, "Q1"), (8, 11, None)]
    path.write_text("\n".join(rows).replace(",", separator).replace("entity", "qid"))
    with pytest.raises(InputError, match=r"unknown format .* name the roles of its columns"):
        karat.load(path)


@pytest.mark.parametrize("header", ["doc,score", "id,text,start,end", "start,end,entity"])
def test_names_of_roles_that_make_no_table_are_still_unknown(tmp_path, header):
    (tmp_path / "x.csv").write_text(f"{header}\n1,2,3,4\n")
    with pytest.raises(InputError, match="unknown format"):
        karat.load_run(tmp_path / "x.csv")


def test_a_table_without_header_has_numbers(tmp_path):
    path = written(tmp_path, table(",", header=False), "t.csv")
    numbers = {"doc": "1", "text": "2", "start": "3", "end": "4", "entity": "5"}
    assert items(karat.load(path, columns=numbers), "labels") == FOUND


def test_a_row_of_data_is_no_header(tmp_path):
    """`d1 0 6 Q64` is a mention: as a header it would be lost, one of two predictions."""
    path = written(tmp_path, "d1\t0\t6\tQ64\tBerlin\nd1\t23\t29\tQ36\tPoland\n", "five.tsv")
    with pytest.raises(
        InputError, match=r"Count them: columns=\{'doc': '1', 'start': '2', 'end': '3', 'entity': '4'\}"
    ):
        karat.load_run(path, columns={"doc": "d1", "start": "0", "end": "6", "entity": "Q64"})
    columns = {"doc": "1", "start": "2", "end": "3", "entity": "4"}
    assert items(karat.load_run(path, columns=columns), "predictions") == {"d1": [(0, 6, "Q64"), (23, 29, "Q36")]}


@pytest.mark.parametrize(
    ("names", "roles"),
    [
        ("d1,0,6,Q64,Berlin", "doc=1,start=2,end=3,entity=4"),
        ("d1,0,6,Berlin,Q64,0.9", "doc=1,start=2,end=3,entity=5,score=6"),
        ("17,0,6,Berlin", "doc=1,start=2,end=3,entity=4"),
        ("d1,0", "doc=1,start=2,end=…,entity=…"),
        ("d1,0,6,0.5", "doc=1,start=2,end=3,entity=…,score=4"),
        (
            "article,from,to,wiki_title,conf",
            "doc=article,start=from,end=to,entity=wiki_title,score=conf",
        ),
        ("doc,start,end,entity,type,score", "doc=doc,start=start,end=end,entity=entity,type=type,score=score"),
        ("id,spans.start,spans.end,spans.qid,label", "doc=id,start=spans.start,end=spans.end,entity=spans.qid"),
        ("doc_id,mention,title", "doc=doc_id,mention=mention,entity=title"),
        ("id,links.surface,links.qid,links.score", "doc=id,mention=links.surface,entity=links.qid,score=links.score"),
        ("text,ents.start,ents.end,ents.qid", "start=ents.start,end=ents.end,entity=ents.qid,text=text"),
        ("document,offset,length,wikidata_id", "doc=document,start=offset,length=length,entity=wikidata_id"),
        (
            "DocID,Passage,From,To,Surface,QID",
            "doc=DocID,start=From,end=To,entity=QID,text=Passage",
        ),
        ("doc,text,start,end,surface,qid", "doc=doc,start=start,end=end,entity=qid,text=text"),
        ("doc,text,start,end,qid", "doc=doc,start=start,end=end,entity=qid"),
        ("Doc ID,Start,End,QID", "'doc=Doc ID,start=Start,end=End,entity=QID'"),
    ],
)
def test_suggested_columns_can_be_pasted(names, roles):
    """Names with spaces are quoted, rows without header counted, and scores are not lost."""
    with use_command("karat score", ()):
        assert suggest_roles(names.split(",")) == f"--columns {roles}"


def test_lists_of_mentions_inside_of_objects(tmp_path):
    lines = [
        {
            "meta": {"id": "a"},
            "text": "Ada met Bob.",
            "ents": [{"s": 0, "e": 3, "q": "Q1"}, {"s": 8, "e": 11, "q": None}],
        },
        {"meta": {"id": "b"}, "text": "Ulm", "ents": []},
    ]
    path = written(tmp_path, "".join(json.dumps(line) + "\n" for line in lines), "t.jsonl")
    roles = {"doc": "meta.id", "text": "text", "start": "ents.s", "end": "ents.e", "entity": "ents.q"}
    assert items(karat.load(path, columns=roles), "labels") == {"a": [(0, 3, "Q1"), (8, 11, None)], "b": []}
    pairs = [{"id": "a", "text": "Ada met Bob.", "ents": [[0, 3, "Q1"]]}]
    path = written(tmp_path, json.dumps(pairs), "p.json")
    roles = {"doc": "id", "text": "text", "start": "ents.0", "end": "ents.1", "entity": "ents.2"}
    assert items(karat.load(path, columns=roles), "labels") == {"a": [(0, 3, "Q1")]}


def test_a_null_is_nil_in_json_also_in_an_object_and_unlinked_in_arrow(tmp_path):
    roles = {"doc": "doc_id", "text": "body", "start": "begin", "end": "stop", "entity": "link.id"}
    rows = [{**{name: value for name, value in ROWS[0].items() if name != "qid"}, "link": {"id": None}}]
    span = (rows[0]["begin"], rows[0]["stop"])
    path = written(tmp_path, json.dumps(rows), "t.json")
    assert items(karat.load(path, columns=roles), "labels") == {"a": [(*span, None)]}
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    corpus = karat.load(tmp_path / "t.parquet", columns=roles)
    assert items(corpus, "labels") == {"a": [(*span, karat.UNLINKED)]}
    assert corpus.skipped == {NULL_LINKS: 1}


def test_words_in_place_of_spans_and_documents_without_ids(tmp_path):
    gold = karat.load(written(tmp_path, table(","), "gold.csv"), columns=ROLES)
    rows = [
        {"t": "Ada met Bob.", "m": "Bob", "q": "Q2", "s": 0.5},
        {"t": 'In "Ulm", now', "m": "ulm", "q": "Q3", "s": 1},
    ]
    path = written(tmp_path, table(",", rows), "a.csv")
    run = karat.load_run(path, columns={"text": "t", "mention": "m", "entity": "q", "score": "s"}, corpus=gold)
    assert items(run, "predictions") == {"a": [(8, 11, "Q2")], "b": [(4, 7, "Q3")]}
    assert sum(run.skipped.values()) == 3, "one in another case, and two documents paired by their text"


def test_texts_beside_the_table(tmp_path):
    rows = [{"doc_id": "a", "begin": 0, "stop": 3}]
    path = written(tmp_path, table(",", rows), "t.csv")
    roles = {"doc": "doc_id", "start": "begin", "end": "stop"}
    (tmp_path / "texts").mkdir()
    written(tmp_path, "Ada met Bob.", "texts/a.txt")
    assert next(iter(karat.load(path, columns=roles | {"texts": "texts"}))).text == "Ada met Bob."
    written(tmp_path, table("\t", [{"doc_id": "a", "body": "Ada ran."}]), "docs.tsv")
    assert next(iter(karat.load(path, columns=roles | {"texts": "docs.tsv", "text": "body"}))).text == "Ada ran."
    with pytest.raises(InputError, match="a folder or table with the texts"):
        karat.load(path, columns=roles | {"texts": "nowhere"})
    with pytest.raises(InputError, match="leads out of the folder"):
        karat.load(path, columns=roles | {"texts": "../x"})


def test_no_text_is_invented(tmp_path, karat_cli):
    path = written(tmp_path, table(","), "t.csv")
    roles = {role: name for role, name in ROLES.items() if role != "text"}
    with pytest.raises(InputError, match="expected text=COLUMN"):
        karat.load(path, columns=roles)
    bat = written(tmp_path, "d1,0,6,Q64\nd1,8,9,Q3\n", "bat.csv")
    ran = karat_cli("data", "convert", bat, tmp_path / "out.jsonl")
    assert (ran.code, (tmp_path / "out.jsonl").exists()) == (2, False)
    assert "needs them. Pass a gold standard with texts" in ran.err
    assert karat_cli("data", "convert", bat, tmp_path / "out.csv", "--to", "bat-csv").code == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("doc", "not ROLE=COLUMN"),
        ("dok=x,start=a,end=b", "Did you mean 'doc'"),
        ("doc=x", "no column for the mentions"),
        ("start=a,end=b", "no column for the documents.* so a column doc needs doc=doc"),
        ("doc=x,doc=y,start=a,end=b", "occurs twice"),
        ("doc=,start=a,end=b", "no column for doc"),
        ("doc=x,start=a.b,end=c.d", "fields of different lists"),
        ("text=x,start=a,end=b,texts=c", "Add doc=COLUMN"),
        ("", "not ROLE=COLUMN"),
    ],
)
def test_roles_that_make_no_sense(columns, message):
    with pytest.raises((UsageError, UnknownNameError), match=message):
        ColumnRoles.from_columns(columns)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('a,"Ada met Bob.",x,3,Q1', "t.csv:2: found 'x' in the column 'begin'"),
        ('a,"Ada met Bob.",0,,Q1', "found nothing in 'stop'; expected both ends"),
        ('a,"Ada met Bob.",,,Q1', "expected a span or mention for 'qid'"),
        (',"Ada met Bob.",0,3,Q1', "expected the id of a document"),
        ("a,,0,3,Q1", "document 'a' without text"),
        ("a,Ada,0,9,Q1", "text of 3 code points"),
        ("a,Ada,0,3", "found 4 cells; expected 5"),
        ('a,Ada,0,3,"Q1', "a row that is not CSV"),
        ("a,Ada,0,3,Q1\na,Eva,0,3,Q1", "a text of document 'a' that differs"),
    ],
)
def test_bad_rows_are_named(tmp_path, row, message):
    path = written(tmp_path, f"doc_id,body,begin,stop,qid\n{row}\n", "t.csv")
    with pytest.raises(InputError, match=message):
        karat.load(path, columns=ROLES)


@pytest.mark.parametrize("score", [True, False])
def test_a_truth_value_is_no_score(tmp_path, score):
    path = written(tmp_path, json.dumps([{**ROWS[0], "p": score}]), "t.json")
    with pytest.raises(InputError, match=f"found '{score}' in the column 'p'; expected a finite number"):
        karat.load_run(path, columns={**ROLES, "score": "p"})


def test_bad_rows_can_be_left_out(tmp_path):
    path = written(tmp_path, "doc_id,body,begin,stop,qid\na,Ada,0,3,Q1\na,Ada,x,3,Q1\n", "t.csv")
    gold = karat.load(path, columns=ROLES, on_error="skip")
    assert items(gold, "labels") == {"a": [(0, 3, "Q1")]}
    assert sum(gold.skipped.values()) == 1


def test_the_command_shows_what_it_understood_and_leaves_other_files_alone(tmp_path, karat_cli):
    gold = written(tmp_path, json.dumps({"id": "a", "text": "Ada met Bob.", "labels": []}) + "\n", "gold.jsonl")
    predictions = written(tmp_path, table(",", [{"d": "a", "b": 0, "e": 3, "q": "Q1"}]), "a.csv")
    ran = karat_cli("score", gold, predictions, "--columns", "doc=d,start=b,end=e,entity=q")
    assert ran.code == 0
    assert "a: [0, 3) 'Ada' → Q1" in ran.err
    wrong = karat_cli("score", gold, predictions, "--columns", "doc=d,start=bb,end=e,entity=q")
    assert wrong.code == 2
    assert "a.csv has no bb (columns: d, b, e, q)" in wrong.err
    unused = karat_cli("score", "demo", "demo/prior", "--columns", "doc=d,start=bb,end=e,entity=q")
    assert unused.code == 2
    assert "match no file" in unused.err


def test_a_length_takes_the_place_of_an_end(tmp_path):
    rows = [{**row, "stop": row["stop"] - row["begin"]} for row in ROWS]
    roles = {**{role: name for role, name in ROLES.items() if role != "end"}, "length": "stop"}
    assert items(karat.load(written(tmp_path, table(",", rows), "t.csv"), columns=roles), "labels") == FOUND
    nested = {"id": "a", "text": "Ada met Bob.", "spans": [{"at": 8, "length": 3}, {"at": 2**31 - 1, "length": 1}]}
    path = written(tmp_path, json.dumps(nested), "t.jsonl")
    roles = {"doc": "id", "text": "text", "start": "spans.at", "length": "spans.length"}
    with pytest.raises(InputError, match=r"found '2147483648' in the column 'spans\.length'"):
        karat.load(path, columns=roles)
    for end in ("spans.length", "LEN"):
        with pytest.raises(UsageError, match=f"names a column of lengths. Write length={end}"):
            ColumnRoles.from_columns({"doc": "id", "start": "spans.at", "end": end})
    with pytest.raises(UsageError, match="Write one of them"):
        ColumnRoles.from_columns({**roles, "end": "stop"})


def test_columns_that_match_no_file_leave_no_output(tmp_path, karat_cli):
    """The rows are read as neleval all the same, so that only the check before the output can stop the command."""
    gold = written(tmp_path, json.dumps({"id": "a", "text": "Ada met Bob.", "labels": []}) + "\n", "gold.jsonl")
    mine = written(tmp_path, "a\t0\t3\tQ1\t0.9\n", "mine.tsv")
    columns, out = ("--columns", "doc=0,start=1,end=2"), tmp_path / "out.jsonl"
    for arguments in (
        ("score", gold, mine, "--json", out),
        ("report", "--gold", gold, mine, "--out", tmp_path / "out.html"),
        ("data", "convert", mine, out, "--gold", gold),
    ):
        ran = karat_cli(*arguments, *columns)
        assert (ran.code, ran.out) == (2, "")
        assert "mine.tsv has no 0 (columns, counted from 1: 1, 2, 3, 4, 5)" in ran.err
        assert not list(tmp_path.glob("out.*"))


def test_columns_of_a_later_dataset_do_not_stop_a_run(tmp_path, karat_cli):
    """Predictions for the first dataset are written before the table of the second one is read."""
    gold = written(tmp_path, json.dumps({"id": "a", "text": "Ada met Bob.", "labels": []}) + "\n", "gold.jsonl")
    other = written(tmp_path, "doc,body,begin,end,qid\na,Ada met Bob.,0,3,Q1\n", "table.csv")
    roles = "doc=doc,text=body,start=begin,end=end,entity=qid"
    ran = karat_cli("run", "popular", "--on", gold, "--on", other, "--columns", roles, "--out", tmp_path / "runs")
    assert ran.code == 0, ran.err


def test_columns_that_match_no_file_are_named_once(tmp_path, karat_cli):
    gold = written(tmp_path, json.dumps({"id": "a", "text": "Ada met Bob.", "labels": []}) + "\n", "gold.jsonl")
    mine = written(tmp_path, "Doc ID,Start\na,0\n", "mine.csv")
    ran = karat_cli("score", gold, mine, "--columns", "doc=DocID,mention=x")
    assert (ran.code, ran.err.count("match no file")) == (2, 1)


def test_two_answers_in_one_table_are_converted_one_after_the_other(tmp_path, karat_cli):
    """The message named only the gold standard, which lacks the columns, and not the table, which has them."""
    gold = written(tmp_path, json.dumps({"id": "a", "text": "Ada met Bob.", "labels": []}) + "\n", "gold.jsonl")
    both = written(tmp_path, 'id,x,y\na,"[[""Ada"",""Q1""]]","[[""Bob"",""Q2""]]"\n', "both.csv")
    x, y = ("--columns", "doc=id,response=x"), ("--columns", "doc=id,response=y")
    ran = karat_cli("score", gold, both, both, *x, *y)
    assert ran.code == 2
    assert ran.err.count("both.csv has them, but is read with doc=id,response=x, which come first") == 1
    for name, columns in (("x", x), ("y", y)):
        converted = karat_cli("data", "convert", both, tmp_path / f"{name}.jsonl", *columns, "--gold", gold)
        assert converted.code == 0, converted.err
    assert karat_cli("score", gold, tmp_path / "x.jsonl", tmp_path / "y.jsonl").code == 0


def test_columns_that_match_no_file_are_named_beside_another_error(tmp_path, karat_cli):
    gold = written(tmp_path, json.dumps({"id": "a", "text": "Ada met Bob.", "labels": []}) + "\n", "gold.jsonl")
    swapped = {"id": "a", "predictions": [{"start": 3, "end": 0, "entity": "Q1"}]}
    predictions = written(tmp_path, json.dumps(swapped), "a.jsonl")
    ran = karat_cli("score", gold, predictions, "--columns", "doc=id,start=end,end=start")
    first, second = ran.err.splitlines()
    assert "Start and end look swapped" in first
    assert "the columns doc=id,start=end,end=start match no file" in second


def test_columns_in_python_are_meant_for_this_file(tmp_path):
    path = written(tmp_path, table(","), "t.csv")
    with pytest.raises(UsageError, match=r"has no x \(columns: doc_id, body, begin, stop, qid\)"):
        karat.load(path, columns=ROLES | {"start": "x"})


def test_cells_longer_than_the_limit_of_the_csv_module(tmp_path):
    rows = [{"doc_id": "a", "body": "x" * 200_000, "begin": 0, "stop": 3, "qid": "Q1"}]
    gold = karat.load(written(tmp_path, table(",", rows), "t.csv"), columns=ROLES)
    assert gold.lengths.tolist() == [200_000]


BARS = """
from karat import Prediction, Response, Run
from karat.model.spec.format import Format

def read_run(source):
    found = [line.split("|") for line in source.read_bytes().decode().splitlines()]
    return Run.from_responses([Response(document, (Prediction(int(start), int(end), entity),)) for document, start,
    end, entity in found])

FORMAT = Format("bars", ".bars", recognises=lambda head: False, has_gold=lambda source: False, read_run=read_run)
"""


def test_a_format_of_the_users_own(tmp_path, karat_cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, BARS, "mine.py")
    gold = written(
        tmp_path, json.dumps({"id": "a", "text": "Ada", "labels": [{"start": 0, "end": 3}]}) + "\n", "g.jsonl"
    )
    good, bad = written(tmp_path, "a|0|3|Q1\n", "x.bars"), written(tmp_path, "a|0|Q1\n", "y.bars")
    assert karat_cli("score", gold, good, "--predictions-format", "./mine.py").code == 0
    assert len(karat.load_run(good, format="./mine.py")) == 1
    with pytest.raises(KaratError, match=r"mine.py cannot read this file \(ValueError: .*, line 7 of mine.py\)"):
        karat.load_run(bad, format="./mine.py")
    assert karat_cli("score", gold, bad, "--predictions-format", "./mine.py").code == 2


@given(
    nearly(table(",").encode())
    | nearly(json.dumps(ROWS).encode())
    | nearly(table("\t").encode())
    | st.binary(max_size=20)
)
def test_broken_tables_are_refused_in_words(data):
    known = make_table_format(ColumnRoles.from_columns(ROLES | {"mention": "m", "score": "s"}))
    read_or_refused(lambda source: known.read_corpus(source, True), data)
    read_or_refused(known.read_run, data)
