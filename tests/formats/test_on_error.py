"""One defect is not the whole file: documents with one are left out where that is asked for, and said by kind."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import karat
from karat import Corpus, Document, InputError, Label, Prediction, Response, Run
from karat.model.defects import RENAMED_NOTE, ErrorPolicy, collect_defects, skip_or_raise, use_error_policy
from karat.model.registry import get_plugin, list_plugins
from karat.model.spec.format import Format
from tests.formats.test_texts import NIF
from tests.fuzzing.samples import samples

NO_LENGTH = "<annotation><mention>Ada</mention><wikiName>U</wikiName><offset>0</offset><length>{}</length></annotation>"
WNED = '<?xml version="1.0"?><x.entityAnnotation>{}</x.entityAnnotation>'
BIOC = "<collection><source>x</source><date/><key/>{}</collection>"
ULM = "http://dbpedia.org/resource/Ulm"


def rows(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def karat_line(id, end=3, **more):
    return {"id": id, "text": "Ada met", "labels": [{"start": 0, "end": end, "entity": "Q1"}], **more}


def nif(subject, end):
    ref = "<http://www.w3.org/2005/11/its/rdf#taIdentRef> <Q1>"
    return (
        f'<{subject}> a <{NIF}Context> ; <{NIF}isString> "Ada met" .\n'
        f'<{subject}#1> <{NIF}referenceContext> <{subject}> ; <{NIF}beginIndex> "0" ; '
        f'<{NIF}endIndex> "{end}" ; {ref} .\n'
    )


def by_sentence(subject, end):
    ref = "<http://www.w3.org/2005/11/its/rdf#taIdentRef> <Q1>"
    return (
        f'<{subject}> <{NIF}sourceUrl> <x> ; <{NIF}isString> "Ada met" .\n'
        f'<{subject}_s> <{NIF}broaderContext> <{subject}> ; <{NIF}beginIndex> "0" ; <{NIF}isString> "Ada met" .\n'
        f'<{subject}_s#1> <{NIF}referenceContext> <{subject}_s> ; <{NIF}beginIndex> "0" ; '
        f'<{NIF}endIndex> "{end}" ; {ref} .\n'
    )


def bioc(id, offset):
    note = {"id": "1", "infons": {"identifier": "Q1"}, "locations": [{"offset": offset, "length": 3}]}
    return {"id": id, "infons": {}, "passages": [{"offset": 0, "infons": {}, "text": "Ada met", "annotations": [note]}]}


def bioc_xml(id, offset):
    place = f'<location offset="{offset}" length="3"/>'
    note = f'<annotation id="1"><infon key="identifier">Q1</infon>{place}<text>Ada</text></annotation>'
    return f"<document><id>{id}</id><passage><offset>0</offset><text>Ada met</text>{note}</passage></document>"


def stream(**columns):
    sink = pa.BufferOutputStream()
    table = pa.table(columns)
    with pa.ipc.new_stream(sink, table.schema) as file:
        file.write_table(table)
    return sink.getvalue().to_pybytes()


def dialogue(id, number):
    turn = {"turn_number": number, "speaker": "USER", "utterance": "Ada met", "el_annotations": []}
    return {"dialogue_id": id, "turns": [turn]}


HIPE = "TOKEN\tNE-COARSE-LIT\tNEL-LIT\tMISC\n"
ZELDA = {"text": "Ada met", "wikipedia_titles": ["U"], "wikipedia_ids": [1]}
MARKED = "[START_ENT] Ada [END_ENT] met"
ARTICLE = {"text": "Ada met", "labels": [{"id": 0, "span": [0, 3], "entity_id": "Q1"}]}

# For each format: what is given, the files around it, and the documents that are left of good, bad, good.
DAMAGED = {
    "karat-jsonl": ("x", {"x": rows(karat_line("a"), karat_line("b", 99)) + "{\n" + rows(karat_line("c"))}, "a c"),
    "simple-jsonl": (
        "x",
        {"x": rows({"text": "Ada", "labels": []}, {"labels": []}, {"text": 1}, {"text": "Bob", "labels": []})},
        "0 3",
    ),
    "elevant": (
        "x",
        {
            "x": rows(
                {"id": "a", **ARTICLE},
                {"id": "b", "text": "Ada", "labels": [{"id": 0, "span": [0, 3]}, {"id": 0, "span": [1, 3]}]},
                {"id": "n", "labels": []},
                {"id": "c", **ARTICLE},
            )
        },
        "a c",
    ),
    "elevant-linked": ("x", {"x": rows({"id": "a", **ARTICLE}, {"id": "b", "text": 5}, {"id": "c", **ARTICLE})}, "a c"),
    "zelda": (
        "x",
        {"x": rows({"id": "a", "index": [[0, 3]], **ZELDA}, {"id": "b", "index": [], **ZELDA}, {"id": 1})},
        "a",
    ),
    "blink": (
        "x",
        {
            "x": rows(
                *(
                    {"id": n, "mention": "Ada", "context_left": "", **m}
                    for n, m in (("a", {"context_right": " met"}), ("b", {}), ("c", {"context_right": " met"}))
                )
            )
        },
        "a c",
    ),
    "kilt": (
        "x",
        {"x": rows({"id": "a", "input": MARKED}, {"id": "b", "input": "no"}, {"id": "c", "input": MARKED})},
        "a c",
    ),
    "tweeki-jsonl": (
        "x",
        {
            "x": rows(
                *(
                    {"id": n, "sentence": "Ada met", "index": [[0, 3]], "link": link}
                    for n, link in (("a", ["A|Q1"]), ("b", []), ("c", ["A|Q1"]))
                )
            )
        },
        "a c",
    ),
    "shadowlinks": (
        "x.json",
        {
            "x.json": json.dumps(
                [
                    {"example": "Ada met", "span": span, "entity_name": name}
                    for name, span in (("a", [0, 3]), ("b", "no"), ("c", [0, 3]))
                ]
            )
        },
        "x: a|x: c",
    ),
    "conel": ("x.json", {"x.json": json.dumps([dialogue("a", 1), dialogue("b", "no"), dialogue("c", 1)])}, "a/1 c/1"),
    "nif": ("x", {"x": nif("a", 3) + nif("b", "no") + nif("c", 3)}, "a c"),
    "nif-categorised": ("x", {"x": by_sentence("a", 3) + by_sentence("b", "no") + by_sentence("c", 3)}, "a c"),
    "bioc": (
        "x",
        {"x": json.dumps({"documents": [bioc("a", 0), bioc("b", "no"), bioc("n", 90), bioc("c", 0)]})},
        "a c",
    ),
    "bioc lines": ("x", {"x": rows(bioc("a", 0)) + '{"id": \n' + rows(bioc("b", 90), bioc("c", 0))}, "a c"),
    "bioc xml": ("x", {"x": BIOC.format(bioc_xml("a", 0) + bioc_xml("b", "no") + bioc_xml("c", 0))}, "a c"),
    "bioc cut": ("x", {"x": BIOC.format(bioc_xml("a", 0) + bioc_xml("b", 0))[:-40]}, "a"),
    "pubtator": (
        "x",
        {
            "x": "a|t|Ada met\na\t0\t3\tAda\tT\tQ1\n\nb|t|Ada met\nb\t0\n\n"
            "n|t|Ada\nn\t0\t99\tAda\tT\tQ1\n\nc|t|Ada met\n"
        },
        "a c",
    ),
    "wned": (
        "",
        {
            "x.xml": WNED.format(
                "".join(
                    f'<document docName="{name}">{NO_LENGTH.format(length)}</document>'
                    for name, length in (("a", 3), ("b", "no"), ("n", 3), ("c", 3))
                )
            ),
            "RawText/a": "Ada met",
            "RawText/b": "Ada met",
            "RawText/c": "Ada met",
        },
        "a c",
    ),
    "iitb": (
        "",
        {
            "CSAW_Annotations.xml": "<iitb.CSAW.entityAnnotations>"
            + "".join(
                f"<annotation><docName>{name}</docName><userId>u</userId><wikiName>U</wikiName><offset>0</offset>"
                f"<length>{length}</length></annotation>"
                for name, length in (("a", 3), ("b", "no"), ("b", 3), ("n", 3), ("c", 3))
            )
            + "</iitb.CSAW.entityAnnotations>",
            "crawledDocs/a": "Ada met",
            "crawledDocs/b": "Ada met",
            "crawledDocs/c": "Ada met",
        },
        "a c",
    ),
    "gerdaq": ("x", {"x": "<dataset><instance>a</instance><instance>b</instance><instance>c<ann"}, "1 2"),
    "brat": (
        "",
        {f"{name}.ann": note for name, note in (("a", "T1\tP 0 3\tAda\n"), ("b", "T1\tno\n"), ("n", ""), ("c", ""))}
        | {"a.txt": "Ada", "b.txt": "Ada", "c.txt": "Ada"},
        "a c",
    ),
    "hipe": (
        "x",
        {
            "x": f"{HIPE}# document_id = a\nAda\tS-x\tQ1\t_\n# document_id = b\nAda\tS-x\n"
            "# document_id = c\nAda\tS-x\tQ1\t_\n"
        },
        "a c",
    ),
    "hipe tags": ("x", {"x": f"{HIPE}# document_id = a\nAda\tS-x\t_\t_\n# document_id = n\nAda\t?-x\tQ1\t_\n"}, "a"),
    "aida": (
        "x",
        {"x": "-DOCSTART- (1 a)\nAda\tB\tAda\tU\n\n-DOCSTART- (2 b)\nAda\tX\tAda\tU\n\n-DOCSTART- (3 c)\nAda\n"},
        "1 a|3 c",
    ),
    "tweeki": (
        "x",
        {
            "x": "".join(
                f"# tweet_id {n}\n1\tAda\t{tag}\tA|Q1\n\n" for n, tag in (("a", "B-P"), ("b", "?"), ("c", "B-P"))
            )
        },
        "a c",
    ),
    "zelda-conll": (
        "x",
        {"x": "".join(f"-DOCSTART-\n\nAda\t{tag}\tB-U\n\n" for tag in ("B-1", "I-1", "B-1"))},
        "1 3",
    ),
    "kdd": ("x", {"x": ".\tO\tO\t#\n".join(["", "ada\tO\tO\tO\n", "ada\tO\n", "ada\tO\tO\tO\n", ""])}, "1 3"),
    "neel": (
        "x.tsv",
        {
            "x.tsv": "|123456789|,|Ulm|\nno\n|223456789|,|Ulm|\n",
            "x_neel.gs": f"123456789\t0\t3\t{ULM}\t1\tT\n223456789\tno\t3\t{ULM}\t1\tT\n923456789\t0\t3\t{ULM}\t1\tT\n",
        },
        "123456789 223456789",
    ),
    "erd": ("", {"x.annotation.txt": "q\t0\tUlm\tulm\t1\nq\t0\nz\t0\tU\tu\t1\n", "x.query.txt": "q\tulm\nr\n"}, "q"),
    "meij": (
        "",
        {
            "wsdm2012_annotations.txt": "1\t2\tU\n1\t2\n7\t2\tU\n",
            "original_tweets.list": "1\ta\tb\tc\td\n2\n3\ta\tb\tc\td\n",
        },
        "1 3",
    ),
    "reddit": (
        "",
        {
            "gold_post_annotations.tsv": "a1\tnews\tAda\tU\t0\t3\na1\tnews\tAda\tU\tno\t3\n",
            "posts.tsv": "a1\tnews\tAda met\n",
        },
        "a1 news|",
    ),
    "bat-csv": ("x", {"x": "a,0,3,Q1\nb,no,3,Q1\nc,0,3,Q1\n"}, "a c"),
    "neleval": ("x", {"x": "a\t0\t3\tQ1\nb\tno\t3\tQ1\nc\t0\t3\tQ1\n"}, "a c"),
    "hf-datasets": (
        "x",
        {"x": stream(id=["a", "b", "c"], tokens=[["Ada"], ["Ada"], ["Ada"]], ner_tags=[["B-P"], ["?"], ["O"]])},
        "a c",
    ),
    "karat-parquet": ("x", {}, "a c"),
}
ALIKE = {
    "bioc-any": "bioc",
    "pubtator-any": "pubtator",
    "hipe-fine": "hipe",
    "hipe-nested": "hipe",
    "hipe-runs": "hipe",
    "nif-categorised-literal": "nif-categorised",
}


@pytest.mark.parametrize("name", list_plugins("formats"))
def test_lines_that_cannot_be_read_are_counted_or_the_file_is_refused(name, tmp_path):
    """Of every format, also of one that has no case above: each line of its own samples is broken in turn."""
    read = karat.load if get_plugin("formats", name, Format).read_corpus else karat.load_run
    own_samples = [found for what in ("gold", "predictions", "sample") if (found := samples().get(f"{name} {what}"))]
    for number, broken in enumerate(_damaged(own_samples)):
        folder = tmp_path / str(number)
        laid_out(folder, broken.files)
        try:
            read(folder / broken.given, format=name)
        except InputError:
            try:
                data = read(folder / broken.given, format=name, on_error="skip")
            except InputError:
                continue  # the defect takes the whole file
            assert any(what.startswith("skipped, expected ") for what in data.skipped), broken.files


def _damaged(own_samples):
    """Yield each sample with one line of one file replaced by other characters; only some lines of long files."""
    for sample in own_samples:
        for path, content in sample.files.items():
            lines = content.split(b"\n")
            for index in range(0, len(lines), 1 + len(lines) // 8):
                for other in (b"?!", lines[index][: len(lines[index]) // 2]):
                    changed = b"\n".join([*lines[:index], other, *lines[index + 1 :]])
                    yield sample._replace(files={**sample.files, path: changed})


def laid_out(folder: Path, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("case", [*DAMAGED, *ALIKE])
def test_what_is_sound_is_read(case, tmp_path):
    given, files, left = DAMAGED[ALIKE.get(case, case)]
    if case == "karat-parquet":
        good = list(Corpus.from_documents([Document(name, "Ada met", (Label(0, 3, "Q1"),)) for name in "abc"]))
        table = Corpus.from_documents(good).table.drop_columns(["length", "text_digest"])
        files = {"x": _parquet(table.set_column(1, "text", pa.array(["Ada met", "A", "Ada met"])))}
    laid_out(tmp_path, files)
    format = case.split(" ")[0]
    with pytest.raises(InputError):
        karat.load(tmp_path / given, format=format)
    corpus = karat.load(tmp_path / given, format=format, on_error="skip")
    assert corpus.ids.to_pylist() == ([*filter(None, left.split("|"))] if "|" in left else left.split())
    said = {what: count for what, count in corpus.skipped.items() if what.startswith("skipped, expected ")}
    assert sum(said.values()) >= 1
    assert all(str(tmp_path) in what for what in said)


def _parquet(table):
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def response(id, *spans):
    return {"id": id, "predictions": [{"start": start, "end": end, "entity": "Q1"} for start, end in spans]}


PREDICTIONS = {
    "karat-jsonl": rows(response("a", (0, 3)), response("b", (3, 0)), {"id": "n", "predictions": 3}, response("c")),
    "llm": rows(*({"response": "[]"} | ({"id": n} if n != "b" else {}) for n in "abc")),
    "simple-jsonl": rows({"id": "a", "predictions": []}, {"id": "b"}, {"id": "c", "predictions": []}),
    "elevant-linked": rows(
        *({"id": n, "entity_mentions": [{"span": s}]} for n, s in (("a", [0, 3]), ("b", 1), ("c", [0, 3])))
    ),
    "zelda": rows(
        *({"doc": n, "start": start, "end": 3, "predicted": "U"} for n, start in (("a", 0), ("b", "no"), ("c", 0)))
    ),
    "kilt": rows({"id": "a"}, {"id": "b", "input": "no"}, {"id": "c"}),
    "nif": nif("a", 3) + nif("b", "no") + nif("c", 3),
    "nif-categorised": by_sentence("a", 3) + by_sentence("b", "no") + by_sentence("c", 3),
    "bioc": json.dumps({"documents": [bioc("a", 0), bioc("b", "no"), bioc("c", 0)]}),
    "pubtator": "a\t0\t3\tAda\tT\tQ1\n\nb\t0\n\nc\t0\t3\tAda\tT\tQ1\n",
    "bat-csv": "a,0,3,Q1,0.5\nb,no,3,Q1\nc,0,3,Q1\n",
    "neleval": "a\t0\t3\tQ1\t0.5\nb\tno\t3\tQ1\nc\t0\t3\tQ1\n",
    "hipe": f"{HIPE}# document_id = a\nAda\tS-x\tQ1\t_\n# document_id = b\nAda\n# document_id = c\nAda\tS-x\tQ1\t_\n",
    "hf-datasets": stream(id=["a", "b", "c"], tokens=[["Ada"]] * 3, ner_tags=[["B-P"], ["?"], ["O"]]),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_sound_predictions_are_read(name, tmp_path):
    laid_out(tmp_path, {"x": PREDICTIONS[name]})
    read = get_plugin("formats", name, Format).read_run
    with pytest.raises(InputError):
        read(karat.storage.files.Source(str(tmp_path / "x")))
    with collect_defects(ErrorPolicy(skip=True), str(tmp_path / "x")) as defects:
        run = read(karat.storage.files.Source(str(tmp_path / "x")))
    assert run.ids.to_pylist() == ["a", "c"]
    assert sum(defects.counts.values()) >= 1


def test_a_file_without_anything_sound_is_refused_with_its_first_defect(tmp_path):
    laid_out(
        tmp_path, {"x": rows(karat_line("a", 99), karat_line("b", 98)), "y": "{\n", "z": rows({"id": 1, "doc": 2})}
    )
    for name, format, found in (("x", "karat-jsonl", "99"), ("y", "karat-jsonl", "JSON"), ("z", "zelda", "text")):
        with pytest.raises(InputError, match=found):
            karat.load(tmp_path / name, format=format, on_error="skip")


def test_defects_are_counted_by_kind_with_three_places(tmp_path):
    bad = [karat_line(f"b{n}", 90 + n) for n in range(5)]
    laid_out(tmp_path, {"x": rows(karat_line("a"), *bad, {**karat_line("c"), "odd": 1})})
    path = str(tmp_path / "x")
    fields = ", ".join(Document.__struct_fields__)
    assert karat.load(path, on_error="skip").skipped == {
        f"skipped, expected fields out of {fields} (at {path}:7)": 1,
        f"skipped, expected an end inside the text (at {path}:2, 3, 4, …)": 5,
    }


def test_places_in_predictions_name_their_file_once(tmp_path):
    """The offsets are compared with the gold texts after reading, under the name of the file and not of the run."""
    ids = ["a", "b", "c", "d"]
    laid_out(tmp_path, {"gold.jsonl": rows(*map(karat_line, ids))})
    laid_out(tmp_path, {"bad.jsonl": rows(response("a", (0, 3)), *(response(name, (0, 99)) for name in ids[1:]))})
    run = karat.load_run(tmp_path / "bad.jsonl", corpus=karat.load(tmp_path / "gold.jsonl"), on_error="skip")
    path = tmp_path / "bad.jsonl"
    assert run.skipped == {f"skipped, expected an end inside the text (at {path}:2, 3, 4)": 3}


def test_kinds_differ_by_rule_not_by_value():
    with collect_defects(ErrorPolicy(skip=True), "x") as defects:
        for number in range(200):
            skip_or_raise(InputError("x:1", actual="f", expected=f"{number} tokens of {str(number)!r}", remedy="r"))
        for number in range(200):
            skip_or_raise(InputError("x:2", actual="f", expected="abc"[number % 3] * number, remedy="r"))
    assert defects.counts["skipped, expected 0 tokens of '0' (at x:1, 1, 1, …)"] == 200
    assert len(defects.counts) <= 51
    assert sum(defects.counts.values()) == 400


def test_a_document_given_twice_is_an_error_left_out_or_kept_apart(tmp_path):
    laid_out(tmp_path, {"x": rows(*(karat_line("a", end) for end in (3, 2, 1)), karat_line("a (2)"))})
    path = tmp_path / "x"
    with pytest.raises(InputError, match="duplicate_ids='rename'"):
        karat.load(path)
    assert karat.load(path, on_error="skip").ids.to_pylist() == ["a", "a (2)"]
    apart = karat.load(path, duplicate_ids="rename")
    assert apart.ids.to_pylist() == ["a", "a (2)", "a (3)", "a (2) (2)"]
    assert apart.skipped == {RENAMED_NOTE: 3}
    predictions = tmp_path / "y"
    laid_out(tmp_path, {"y": rows(*(response("a", (0, end)) for end in (3, 2, 1)), response("a (2)", (0, 3)))})
    run = karat.load_run(predictions, corpus=apart, duplicate_ids="rename")
    assert karat.evaluate(apart, run, measures=["strong:micro.f1"])["strong:micro.f1"] == 1


def test_tables_of_tokens_keep_documents_of_one_id_apart(tmp_path):
    twice = "".join(f"# document_id = d\n{word}\tS-x\tQ1\t_\n" for word in ("Ada", "Babbage"))
    laid_out(tmp_path, {"x": HIPE + twice})
    gold = karat.load(tmp_path / "x", format="hipe", duplicate_ids="rename")
    assert [document.text for document in gold] == ["Ada", "Babbage"]
    run = karat.load_run(tmp_path / "x", corpus=gold, format="hipe", duplicate_ids="rename")
    assert [(prediction.start, prediction.end) for found in run for prediction in found.predictions] == [(0, 3), (0, 7)]


def test_predictions_that_do_not_fit_the_corpus_are_left_out(tmp_path):
    gold = Corpus.from_documents([Document("a", "Ada met"), Document("b", "Ada met"), Document("c", "Ada met")])
    predictions = tmp_path / "y"
    laid_out(tmp_path, {"y": rows(response("a", (0, 3)), response("b", (0, 99)), response("z", (0, 1)))})
    with pytest.raises(InputError):
        karat.load_run(predictions, corpus=gold)
    run = karat.load_run(predictions, corpus=gold, on_error="skip")
    assert run.ids.to_pylist() == ["a"]
    assert sum(run.skipped.values()) == 2
    simple = rows(*({"id": name, "text": text, "predictions": []} for name, text in (("a", "Ada met"), ("b", "ZZZ"))))
    laid_out(tmp_path, {"y": simple})
    run = karat.load_run(predictions, corpus=gold, on_error="skip")
    assert run.ids.to_pylist() == ["a"]


def test_nothing_is_left_out_beyond_the_block_that_asks(tmp_path):
    laid_out(tmp_path, {"x": rows(karat_line("a"), karat_line("b", 99))})
    with use_error_policy(ErrorPolicy(skip=True)):
        assert len(karat.load(tmp_path / "x")) == 1
    with pytest.raises(InputError):
        karat.load(tmp_path / "x")
    with pytest.raises(InputError):
        Run.from_responses([Response("a", (Prediction(3, 1, "Q1"),))])


COMMANDS = (
    ("score", "G", "A"),
    ("compare", "--gold", "G", "A", "A2"),
    ("scorecard", "--gold", "G", "A", "A2"),
    ("curve", "G", "A"),
    ("why", "G", "A", "--reference-profile", "gerbil"),
    ("agreement", "G", "G2"),
    ("data", "stats", "G"),
    ("data", "convert", "G", "OUT"),
    ("data", "categorise", "G", "--out", "OUT"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_can_leave_defects_out(command, karat_cli, tmp_path):
    good = [karat_line(f"d{n}") for n in range(4)]
    scored = [
        {"id": f"d{n}", "predictions": [{"start": 0, "end": 3, "entity": "Q1", "score": n / 4}]} for n in range(4)
    ]
    laid_out(
        tmp_path,
        {
            "gold.jsonl": rows(*good, karat_line("bad", 99)),
            "gold2.jsonl": rows(*good, karat_line("bad", 99)),
            "one.jsonl": rows(*scored, response("bad", (3, 0))),
            "two.jsonl": rows(*scored, response("bad", (3, 0))),
        },
    )
    places = {"G": "gold.jsonl", "G2": "gold2.jsonl", "A": "one.jsonl", "A2": "two.jsonl", "OUT": "out.jsonl"}
    arguments = [tmp_path / places[word] if word in places else word for word in command]
    refused = karat_cli(*arguments)
    assert refused.code == 2
    assert ":5: found" in refused.err
    ran = karat_cli(*arguments, "--on-error", "skip")
    assert ran.code == 0, ran.err
    assert f"{tmp_path / 'gold.jsonl'}: skipped, expected" in ran.err


def test_the_linter_reads_what_is_no_corpus_yet_and_can_leave_it_out(karat_cli, tmp_path):
    laid_out(tmp_path, {"gold.jsonl": rows(karat_line("a"), karat_line("bad", 99))})
    assert "out-of-range     error            1" in karat_cli("data", "lint", tmp_path / "gold.jsonl").out
    ran = karat_cli("data", "lint", tmp_path / "gold.jsonl", "--on-error", "skip")
    assert "skipped, expected an end inside the text" in ran.err
    assert "out-of-range" not in ran.out


def test_an_engine_reads_at_once_what_may_have_defects(karat_cli, tmp_path):
    folder = tmp_path / "gold"
    folder.mkdir()
    for name, text in (("a", "Ada met"), ("b", "A")):
        corpus = Corpus.from_documents([Document(name, "Ada met", (Label(0, 3, "Q1"),))])
        table = corpus.table.drop_columns(["length", "text_digest"]).set_column(1, "text", pa.array([text]))
        (folder / f"{name}.parquet").write_bytes(_parquet(table))
    laid_out(tmp_path, {"y.jsonl": rows(response("a", (0, 3)), response("b", (0, 1)))})
    assert karat_cli("score", folder, tmp_path / "y.jsonl").code == 2
    ran = karat_cli("score", folder, tmp_path / "y.jsonl", "--on-error", "skip")
    assert ran.code == 0
    assert "skipped, expected an end inside the text" in ran.err
