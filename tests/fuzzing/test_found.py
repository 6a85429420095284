"""What the fuzzer found, and what was found by hand in the same places: each a small input of its own."""

from __future__ import annotations

import io
import json
import os
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat
from karat import Corpus, Document, InputError, KaratError, Label, UsageError
from karat.cli import main as command_line
from karat.model.errors import UnknownNameError
from karat.model.results.result import Result
from karat.storage.atomic_writing import lock_target, move_into_place, open_for_writing
from karat.storage.files import Source
from tests.formats import test_hf_datasets, test_hipe
from tests.fuzzing import samples as sound
from tests.fuzzing.harness import message_fault

GOLD = {"id": "a", "text": "Ada met Bob.", "labels": [{"start": 0, "end": 3, "entity": "Q1"}]}
_PREDICTIONS = pa.list_(pa.struct([("start", pa.int32()), ("end", pa.int32()), ("entity", pa.string())]))
LONG = "9" * 5000


def refused(read, *arguments, **options) -> KaratError:
    with pytest.raises(KaratError) as caught:
        read(*arguments, **options)
    assert message_fault(str(caught.value)) is None
    return caught.value


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- messages


def test_messages_are_one_line_without_control_characters_and_cut():
    problem = InputError("x\ny", actual="\x1b[2J" + "a" * 10_000 + "z", expected="\u202ea", remedy="Do it")
    message = str(problem)
    assert message_fault(message) is None
    assert message.startswith(r"x\ny: found \x1b[2Jaaa")
    assert "aaa…aaa" in message
    assert r"expected \u202ea. Do it." in message
    assert problem.actual.endswith("z")  # whoever asks gets all of it
    assert len(str(UnknownNameError("dataset", "x" * 100_000, ["demo"]))) < 1000
    assert message_fault(str(UsageError("a\nb" + "c" * 100_000))) is None


def test_the_place_is_said_of_what_the_system_refuses(karat_cli, monkeypatch):
    def fails(**_):
        raise PermissionError(13, "Permission denied", "/some/place")

    monkeypatch.setattr(command_line, "karat", fails)
    assert karat_cli("demo")[0::2] == (2, "karat: /some/place: Permission denied\n")


def test_too_little_memory_is_said_in_one_line(karat_cli, monkeypatch):
    def fails(**_):
        raise MemoryError

    monkeypatch.setattr(command_line, "karat", fails)
    ran = karat_cli("demo")
    assert ran.code == 2
    assert ran.err.startswith("karat: out of memory")


# --- formats


def test_ranks_begin_at_1(tmp_path):
    """0 was taken for "no rank at all"."""
    for rank in (0, -1):
        path = written(tmp_path, "x.jsonl", json.dumps(GOLD | {"tags": [{"entity": "Q1", "rank": rank}]}))
        assert f"found {rank} at `tags[].rank`; expected a number from 1 up" in str(refused(karat.load, path))


def test_null_among_tags_is_no_entity(tmp_path):
    for tag in (None, {"entity": None}):
        path = written(tmp_path, "x.jsonl", json.dumps(GOLD | {"tags": [tag]}))
        refused(karat.load, path)


@pytest.mark.parametrize("value", [["x"], [], "x", 5])
def test_meta_is_an_object(value, tmp_path):
    refused(karat.load, written(tmp_path, "x.jsonl", json.dumps(GOLD | {"meta": value})))


def test_numbers_of_19_digits(tmp_path):
    """A Parquet file could hold what no object can."""
    pq.write_table(
        pa.table({"id": ["a"], "predictions": pa.array([[]], _PREDICTIONS), "tokens": [10**18]}), tmp_path / "x.parquet"
    )
    assert "at most 18 digits" in str(refused(karat.load_run, tmp_path / "x.parquet"))


def test_a_key_of_meta_stands_there_once(tmp_path):
    """Of a map in Parquet, a second value took the place of the first in silence."""
    meta = pa.array([[("k", "1"), ("k", "2")], []], pa.map_(pa.string(), pa.string()))
    pq.write_table(pa.table({"id": ["a", "b"], "text": ["x", "y"], "meta": meta}), tmp_path / "x.parquet")
    assert "row 1: found the key 'k' twice at `meta`" in str(refused(karat.load, tmp_path / "x.parquet"))


def test_columns_stand_there_once(tmp_path):
    table = pa.table(test_hf_datasets.ROWS)
    table = table.append_column("ner_tags", table.column("ner_tags"))
    with pa.ipc.new_stream(tmp_path / "x.arrow", table.schema) as stream:
        stream.write_table(table)
    assert "the duplicate column 'ner_tags'" in str(refused(karat.load, tmp_path / "x.arrow", format="hf-datasets"))


def test_names_of_columns_are_utf8(tmp_path):
    file = io.BytesIO()
    pq.write_table(pa.table({"id": ["a"], "text": ["x"], "labels": pa.array([[]], pa.list_(pa.string()))}), file)
    data = file.getvalue().replace(b"text", b"te\xe5t")
    assert "that cannot be read" in str(refused(karat.load, written(tmp_path, "x.parquet", data)))
    table = pa.table({"id": ["a"], "text": ["x"], "labels": [[{"start": 0, "end": 1, "entity": "Q1"}]]})
    for name in (b"labels", b"entity"):
        with pa.ipc.new_stream(tmp_path / "x.arrow", table.schema) as stream:
            stream.write_table(table)
        path = written(tmp_path, "x.arrow", (tmp_path / "x.arrow").read_bytes().replace(name, name[:-1] + b"\xff"))
        refused(karat.load, path, format="hf-datasets")


@pytest.mark.parametrize("names", [5, 0.5, None, "x"])
def test_class_names_are_a_list(names, tmp_path):
    features = {"ner_tags": {"feature": {"names": names}}}
    data = test_hf_datasets.stream(test_hf_datasets.ROWS, huggingface=json.dumps({"info": {"features": features}}))
    refused(karat.load, written(tmp_path, "x.arrow", data), format="hf-datasets")


@pytest.mark.parametrize("name", ["x" * 5000, "\ud800", "a\0b", "..", ""])
def test_names_that_no_file_can_have(name, tmp_path):
    files = {"dataset_info.json": "{}", "state.json": json.dumps({"_data_files": [{"filename": name}]})}
    for other, content in files.items():
        written(tmp_path, other, content)
    refused(karat.load, tmp_path, format="hf-datasets")


def test_numbers_longer_than_python_reads(tmp_path):
    written(tmp_path, "x.txt", "Ada")
    refused(karat.load, written(tmp_path, "x.ann", f"T1\tPER 0 {LONG}\tAda\n"))
    refused(karat.load_run, written(tmp_path, "x.csv", f"d,0,{LONG},Q1\n"))
    refused(karat.load, written(tmp_path, "x.pubtator", f"1|t|Ada\n1|a|\n1\t0\t{LONG}\tAda\tPER\tQ1\n"))
    refused(karat.load, written(tmp_path, "x.jsonl", json.dumps(GOLD).replace("3", LONG)))


@pytest.mark.parametrize("output", [5, True, "x", [5], [{"provenance": 0.5}], [{"provenance": True}]])
def test_outputs_of_kilt_that_are_no_list(output, tmp_path):
    path = written(tmp_path, "x.jsonl", json.dumps({"id": 1, "input": "a [START_ENT] b [END_ENT]", "output": output}))
    refused(karat.load_run, path, format="kilt")


def test_a_gold_file_beside_a_run_that_names_a_document_twice(tmp_path):
    gold = test_hipe.GOLD.replace("document_id = two", "document_id = one")
    written(tmp_path, "HIPE-2022-v2.1-tiny-test-en.tsv", gold)
    sample = sound.samples()["hipe run"]
    path = written(tmp_path, sample.given, sample.files[sample.given])
    assert "no line that names a document" in str(refused(karat.load_run, path))


def test_a_gold_file_beside_a_run_whose_documents_have_no_tokens(tmp_path):
    head, *rows = test_hipe.GOLD.split("\n")
    written(
        tmp_path, "HIPE-2022-v2.1-tiny-test-en.tsv", "\n".join([head, *(row for row in rows if row.startswith("#"))])
    )
    sample = sound.samples()["hipe run"]
    path = written(tmp_path, sample.given, sample.files[sample.given])
    assert "no line that names a document" in str(refused(karat.load_run, path))


@pytest.mark.parametrize("meta", [[1], [[1]], ["a"], 5, "ab"])
def test_meta_that_is_no_object(meta, tmp_path):
    path = written(tmp_path, "x.jsonl", json.dumps({"id": "d", "text": "x", "labels": [], "meta": meta}))
    refused(karat.load, path, format="karat-jsonl")


def test_half_a_surrogate_pair_in_an_id(tmp_path):
    with pytest.raises(KaratError, match="a lone surrogate"):
        Corpus.from_reader([Document("d\ud800", "x")], name="x")


def test_short_rows_of_hipe(tmp_path):
    lines = test_hipe.GOLD.split("\n")
    for end in ("x", "x\tO", "x" + "\t_" * 20):
        path = written(tmp_path, "x.tsv", "\n".join([*lines[:4], end, *lines[4:]]))
        assert "columns" in str(refused(karat.load, path))


@pytest.mark.extras
def test_strings_that_a_docbin_has_lost(tmp_path):
    """A flipped bit in a hash shows only when somebody asks for the string."""
    from tests.formats.test_spacy_docbin import made_by_spacy

    data = bytearray(zlib.decompress(made_by_spacy()))
    said = set()
    for place in range(0, len(data), 3):
        broken = bytearray(data)
        broken[place] ^= 4
        path = written(tmp_path, "x.spacy", zlib.compress(bytes(broken)))
        with suppress(KaratError):
            list(karat.load(path, format="spacy-docbin"))
            continue
        said.add(str(refused(karat.load, path, format="spacy-docbin")).partition("(")[2].partition(":")[0])
    assert "KeyError" in said


def test_a_corpus_without_its_texts_says_so(tmp_path):
    karat.save(Corpus.from_documents([Document("a", "Ada", (Label(0, 3, "Q1"),))]), tmp_path / "x.parquet")
    bare = karat.load(tmp_path / "x.parquet", text=False)
    assert "text=True" in str(refused(list, bare))
    assert "text=True" in str(refused(bare.__getitem__, "a"))


# --- results, knowledge bases, TOML


def result(**changes) -> bytes:
    return json.dumps(json.loads(sound.result()) | changes).encode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"table_measures": ["strong:micro.g1"]}, "no measure 'strong:micro.g1'"),
        ({"n": {}}, "measures and n have different keys"),
        ({"measures": {}}, "measures and n have different keys"),
        ({"documents": []}, "differ in number"),
        ({"macro_documents": {"strong": [True]}}, "differ in number"),
        ({"signature": "x"}, "is not a signature"),
        ({"signature": ""}, "is not a signature"),
    ],
)
def test_results_that_contradict_themselves(changes, said):
    assert said in str(refused(Result.from_json, result(**changes)))


@pytest.mark.parametrize("weight", [-1, 1e308, 10**30])
def test_counts_that_are_none(weight):
    statistics = json.loads(sound.result())["statistics"]
    statistics["strong"]["matched_predictions"][0] = weight
    assert "a count is negative or too large" in str(refused(Result.from_json, result(statistics=statistics)))


def test_results_without_a_part_of_their_signature(karat_cli, tmp_path):
    signature = json.loads(sound.result())["signature"]
    for before, after, said in (
        ("|data:toy", "|date:toy", "unknown part of the signature 'data'"),
        ("|empty:", "|emptiness:", "unknown part of the signature 'empty'"),
        ("|empty:fair", "|empty:unfair", "unknown value of the setting empty 'unfair'"),
    ):
        path = written(tmp_path, "one.json", result(signature=signature.replace(before, after)))
        ran = karat_cli("compare", path, f"other={path}", "--permutations", 20)
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert said in ran.err


@pytest.mark.parametrize("value", [r"'a{99999999999999999999}'", f"'a{{{LONG}}}'", "'('", LONG, "[" * 5000])
def test_rules_that_python_cannot_read(value, karat_cli, tmp_path):
    rules = written(tmp_path, "rules.toml", f'[[rule]]\nname = "a"\nwhen.surface = {value}\n')
    ran = karat_cli("data", "lint", "demo", "--rules", rules)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith(f"karat: {rules}")


@pytest.mark.parametrize("value", [LONG, "[" * 5000, "nan"])
def test_memberships_that_python_cannot_read(value, karat_cli, tmp_path):
    path = written(tmp_path, "m.toml", f"default = {value}\n")
    ran = karat_cli("score", "demo", "demo/prior", "--profile", "finegrained", "--set", f"membership={path}")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith(f"karat: {path}")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_folders_whose_names_are_no_utf8(karat_process, tmp_path):
    folder = tmp_path / os.fsdecode(b"kb\xff")
    folder.mkdir()
    written(folder, "redirects.tsv", "Q1\tQ2\n")
    ran = karat_process("score", "demo", "demo/prior", "--kb", folder, "--json", "-")
    assert (ran.code, ran.err) == (0, "")
    assert json.loads(ran.out)["signature"].partition("kb:")[2].startswith(r"kb\xff@")
    (folder / "redirects.tsv").unlink()
    ran = karat_process("score", "demo", "demo/prior", "--kb", folder)
    assert ran.err.startswith(f"karat: {tmp_path}/kb\\xff: found none of the tables")


# --- streams and devices


def test_closed_standard_streams(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert "standard input is closed" in str(refused(Source("-").read_bytes))
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="standard output is closed"), open_for_writing("-"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    """As root, --json /dev/null put a file in the place of the device."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        got = pool.submit(path.read_bytes)
        with open_for_writing(str(path)) as file:
            file.write(b"all of it")
        assert got.result(timeout=10) == b"all of it"
    assert path.is_fifo()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no such file")
def test_a_file_that_cannot_be_read_is_not_called_compressed(karat_cli):
    ran = karat_cli("score", "/proc/self/mem", "demo/prior")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith("karat: /proc/self/mem: found a file that cannot be read (")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_targets_that_no_file_can_be(name, tmp_path):
    def write():
        with open_for_writing(str(tmp_path / name)) as file:
            file.write(b"x")

    refused(write)


# --- two at once


def test_of_two_who_make_a_file_one_waits(tmp_path):
    seen = []

    def make(number):
        with lock_target(tmp_path / "f") as waited:
            seen.append(("in", number))
            (tmp_path / "f").write_text(str(number))
            seen.append(("out", number))
            return waited

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, range(8)))
    assert [what for what, _ in seen] == ["in", "out"] * 8
    assert all(one[1] == two[1] for one, two in zip(seen[::2], seen[1::2], strict=True))
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_folders_that_are_put_in_place_at_once(tmp_path):
    def make(number):
        found = tmp_path / f"scratch{number}" / "found"
        found.mkdir(parents=True)
        (found / "file").write_text(str(number))
        move_into_place(found, tmp_path / "target")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(make, range(8)))
    assert (tmp_path / "target" / "file").read_text() in set(map(str, range(8)))
