"""Broken files and options, as a developer in a hurry makes them: one line that says where, what, and how to fix it."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from karat.kb.snapshot.manifest import SnapshotManifest
from karat.kb.snapshot.writer import open_snapshot_writer

GOLD = [
    {"id": "d1", "text": "Berlin is in Ulm.", "labels": [{"start": 0, "end": 6, "entity": "Q64"}]},
    {"id": "d2", "text": "Paris is old.", "labels": [{"start": 0, "end": 5, "entity": "Q90"}]},
]
PREDICTIONS = [{"id": row["id"], "predictions": row["labels"]} for row in GOLD]
SPAN = '"start": 0, "end": 6'
FIRST_SPAN = {  # replacements of the first span or its entity, and what the message says
    "reversed": (
        SPAN,
        '"start": 6, "end": 0',
        r":1: found .* \[6, 0\); expected 0 <= start < end\. Start and end look swapped",
    ),
    "empty span": (SPAN, '"start": 6, "end": 6', r":1: found .* \[6, 6\); expected 0 <= start < end"),
    "float": (SPAN, '"start": 0.0, "end": 6.0', r":1: found `float` at `\w+\[0\]\.start`; expected `int`"),
    "half": (SPAN, '"start": 0.5, "end": 6', r":1: found `float` at `\w+\[0\]\.start`; expected `int`"),
    "negative": (SPAN, '"start": -1, "end": 6', r":1: found .* \[-1, 6\); expected 0 <= start"),
    "string": (SPAN, '"start": "0", "end": "6"', r":1: found `str` at `\w+\[0\]\.start`; expected `int`"),
    "boolean": (SPAN, '"start": false, "end": true', r":1: found `bool` at `\w+\[0\]\.start`; expected `int`"),
    "null span": (SPAN, '"start": null, "end": 6', r":1: found no (value at|start|`start`)"),
    "no end": (SPAN, '"start": 0', r":1: found no (value at|end|`end`)"),
    "outside": (SPAN, '"start": 0, "end": 600', r":1: found .* \[0, 600\) in a text of 17 code points; .* inside the"),
    "huge": (SPAN, '"start": 0, "end": 99999999999999999999', r":1: found .* at `\w+\[0\]\.end`"),
    "entity number": ('"Q64"', "64", r":1: found `int` at `\w+\[0\]\.entity`; expected `string \| null`"),
    "entity list": ('"Q64"', '["Q64"]', r":1: found `array` at `\w+\[0\]\.entity`"),
    "entity object": ('"Q64"', '{"id": "Q64"}', r":1: found `object` at `\w+\[0\]\.entity`"),
    "entity empty": ('"Q64"', '""', r":1: found an empty entity id at \[0, 6\)"),
    "id fraction": ('"d1"', "1.5", r":1: found `float` at `id`; expected `string`"),
    "id boolean": ('"d1"', "true", r":1: found `bool` at `id`; expected `string`"),
    "id null": ('"d1"', "null", r":1: found no value at `id`"),
    "no id": ('"id": "d1", ', "", r":1: found no (value at )?`id`"),
    "duplicate key": ('{"id"', '{"id": "x", "id"', r":1: found the duplicate key 'id'; .* Delete one"),
    "NaN": ('"Q64"', '"Q64", "score": NaN', r":1: found (NaN|nan)\b.*; expected a finite number"),
    "Infinity": ('"Q64"', '"Q64", "score": Infinity', r":1: found (Infinity|inf)\b.*; expected a finite number"),
    "trailing comma": ("}]}", "}],}", r":1: found a line that is not valid JSON .* Remove the comma before a closing"),
    "line comma": ("}]}\n", "}]},\n", r":1: found a line that is not valid JSON .* Remove the comma at the end of"),
    "one line": ("}]}\n", "}]}", r":1: found a line that is not valid JSON .* Begin a new line after each object"),
    "old Mac": ("}]}\n", "}]}\r", r":1: found a line that is not valid JSON .* Begin a new line after each object"),
    "cut": ('"Q64"}]}', '"Q6', r":1: found a line that is not valid JSON .* Check that the line was not cut off"),
    "NUL": ("Q64", "Q\x0064", r":1: found a line that is not valid JSON \(Invalid control character"),
    "surrogate": ('"d1"', '"d\\ud800"', r":1: found a lone surrogate"),
    "repeated id": ('"d2"', '"d1"', r":2: found document 'd1' a second time; .* --duplicate-ids rename"),
}
WHOLE = {  # contents of whole files
    "empty": (b"", "found an empty file"),
    "blank": (b"\n\n", "found an empty file"),
    "zero.gz": (b"", "found an empty file"),
    "cut.gz": (gzip.compress(json.dumps(GOLD).encode())[:-9], "found a damaged compressed file"),
    "utf16": (json.dumps(GOLD[0]).encode("utf-16"), "found UTF-16 text; expected UTF-8 text. Convert it: iconv"),
    "latin1": ('{"id": "dé", "labels": [], "text": ""}\n'.encode("latin-1"), ":1: found bytes that are not UTF-8"),
    "html": (b"<html><body>404</body></html>", "found content of an unknown format"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid x\n", "found a pointer of Git LFS; .* git lfs pull"),
    "python": (b"{'id': 'd1', 'labels': []}\n", "found Python dictionaries with single quotes; .* json.dumps"),
    "pretty": (json.dumps(GOLD[0], indent=1).encode(), ":1: found a line that is not valid JSON .* spans several"),
    "array": (b'[{"id": "d1", "text": "", "labels": []},]', "trailing comma"),
    "json-ld": (
        b'{"@context": {"nif": "http://x"}, "@id": "http://x/d"}',
        "found JSON-LD; expected RDF in Turtle. Conv",
    ),
    "rdf": (b'<?xml version="1.0"?>\n<rdf:RDF xmlns:nif="http://x"></rdf:RDF>', "found RDF/XML; expected RDF in Tur"),
    "x.parquet": (b"PAR1 broken", "found (a Parquet file that cannot be read|content of an unknown format)"),
    "x.ann": (b"T1\tLOC 0 6\tBerlin\n", "found no .*x.txt next to it; .* Put the text file next to"),
    "x.csv": (
        b"doc;begin;end;entity\nd1;0;6;Q64\n",
        "unknown format .*name the roles of its columns: --columns doc=doc",
    ),
    "x.conll": (b"-DOCSTART- (d1)\nBerlin\tB\tBerlin\nis\n", ":2: found 3 columns; expected"),
    "x.xml": (b"<collection><document>", ":1: found XML that cannot be read .* not cut off"),
    "x.ttl": (
        b"@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n<http://x/d> a ",
        ":2: ",
    ),
}


def lines(rows, old="", new=""):
    content = "".join(json.dumps(row) + "\n" for row in rows)
    assert old in content
    return content.replace(old, new, 1) if old else content


@pytest.fixture
def files(tmp_path):
    (tmp_path / "gold.jsonl").write_text(lines(GOLD), encoding="utf-8")
    (tmp_path / "mine.jsonl").write_text(lines(PREDICTIONS), encoding="utf-8")
    return tmp_path


def commands(folder, gold=None, mine=None):
    """Return the commands that read a gold standard and predictions; without `mine`, those that read gold too."""
    good, system = gold or folder / "gold.jsonl", mine or folder / "mine.jsonl"
    yield "score", good, system
    yield "show", good, system
    yield "compare", "--gold", good, folder / "mine.jsonl", system
    yield "gate", system, "--baseline", folder / "mine.jsonl", "--gold", good
    if gold is not None:
        yield "data", "convert", gold, folder / "out.jsonl", "--as", "gold"
        yield "data", "stats", gold


def check_refusal(ran, path, message):
    """Check that a command ended with one line that begins with the file and has the message."""
    import re

    assert (ran.code, ran.err.count("\n")) == (2, 1), ran.err
    assert ran.err.startswith(f"karat: {path}"), ran.err
    assert re.search(message, ran.err), ran.err


@pytest.mark.parametrize("case", FIRST_SPAN)
def test_a_broken_line_of_a_gold_standard(karat_cli, files, case):
    old, new, message = FIRST_SPAN[case]
    path = files / "broken.jsonl"
    path.write_text(lines(GOLD, old, new), encoding="utf-8")
    for command in commands(files, gold=path):
        check_refusal(karat_cli(*command), path, message)


@pytest.mark.parametrize("case", FIRST_SPAN)
def test_a_broken_line_of_predictions(karat_cli, files, case):
    old, new, message = FIRST_SPAN[case]
    path = files / "broken.jsonl"
    path.write_text(lines(PREDICTIONS, old, new), encoding="utf-8")
    for command in commands(files, mine=path):
        check_refusal(karat_cli(*command), path, message)


@pytest.mark.parametrize("case", FIRST_SPAN)
def test_a_broken_line_is_skipped_and_counted_on_request(karat_cli, files, case):
    """The other document of each side stays, unless both are on one line."""
    old, new, _ = FIRST_SPAN[case]
    path = files / "broken.jsonl"
    path.write_text(lines(PREDICTIONS, old, new), encoding="utf-8")
    ran = karat_cli("score", files / "gold.jsonl", path, "--on-error", "skip")
    if case in ("one line", "old Mac"):
        assert (ran.code, "no other valid document" in ran.err) == (2, True)
    else:
        assert (ran.code, ran.err.count("skipped, expected"), ran.err.count(": 1\n")) == (0, 1, 1), ran.err


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("side", ["gold", "mine"])
def test_a_broken_file(karat_cli, files, case, side):
    content, message = WHOLE[case]
    path = files / (case if case.startswith("x.") else f"broken.jsonl{case[case.find('.') :] if '.' in case else ''}")
    path.write_bytes(content)
    for command in commands(files, **{side: path}):
        check_refusal(karat_cli(*command), path, message)


def test_files_that_only_look_broken(karat_cli, files):
    """A byte order mark, Windows line ends, compression without its suffix, and the suffix without compression."""
    content = lines(PREDICTIONS).encode()
    expected = karat_cli("score", files / "gold.jsonl", files / "mine.jsonl").out
    (files / "other").mkdir()
    path = files / "other" / "mine.jsonl"
    for variant in (b"\xef\xbb\xbf" + content, content.replace(b"\n", b"\r\n"), gzip.compress(content)):
        path.write_bytes(variant)
        assert karat_cli("score", files / "gold.jsonl", path).out == expected
    path = files / "other" / "mine.jsonl.gz"
    path.write_bytes(content)
    assert karat_cli("score", files / "gold.jsonl", path).out == expected


def test_folders_and_swapped_files(karat_cli, files):
    (files / "folder").mkdir()
    (files / "folder" / "mine.jsonl").write_text(lines(PREDICTIONS), encoding="utf-8")
    check_refusal(karat_cli("score", files / "gold.jsonl", files / "folder"), files / "folder", "pass a file in the")
    swapped = karat_cli("score", files / "mine.jsonl", files / "gold.jsonl")
    check_refusal(swapped, files / "mine.jsonl", "found predictions; .* Pass the gold standard first")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": ["d1"], "text": ["Ulm"]}, "found no document with the field `labels`"),
        ({"id": ["d1"], "text": ["Ulm"], "label": [[]]}, "found the unknown column 'label'"),
        ({"id": [1], "text": ["Ulm"], "labels": [[{"start": 0, "end": 3}]]}, "a column of another type at id"),
        (
            {"id": ["d1"], "text": ["Ulm"], "labels": [[{"start": 0.5, "end": 3.0}]]},
            r"another type at labels\[\].start",
        ),
        ({"id": ["d1"], "text": ["Ulm"], "labels": ["[]"]}, "another type at labels"),
    ],
)
def test_parquet_of_other_programs(karat_cli, files, columns, message):
    path = files / "broken.parquet"
    pq.write_table(pa.table(columns), path)
    check_refusal(karat_cli("score", path, files / "mine.jsonl"), path, message)


def test_parquet_without_predictions(karat_cli, files):
    path = files / "broken.parquet"
    pq.write_table(pa.table({"id": ["d1"]}), path)
    check_refusal(karat_cli("score", files / "gold.jsonl", path), path, "found no column `predictions`")
    pq.write_table(pa.table({"id": ["d1"], "text": ["Ulm"]}), path)
    check_refusal(karat_cli("score", files / "gold.jsonl", path), path, "found no document with the field `labels`")


@pytest.mark.parametrize("name", ["manifest.json", "entities.parquet"])
def test_a_snapshot_of_zero_bytes(karat_cli, files, name):
    manifest = SnapshotManifest(karat="snapshot/2", name="toy", date="2026-01-01", space="wikidata")
    with open_snapshot_writer(files / "snapshot", manifest) as snapshot:
        snapshot.write_columns("entities", {"id": ["Q64"]})
    (files / "snapshot" / name).write_bytes(b"")
    ran = karat_cli("score", files / "gold.jsonl", files / "mine.jsonl", "--kb", files / "snapshot")
    assert ran.code == 2
    assert name in ran.err
    assert "the snapshot again" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--profile", "gerbli"], "unknown profile 'gerbli'. Did you mean 'gerbil'?"),
        (["--match", "storng"], "unknown relation 'storng'. Did you mean 'strong'"),
        (["--match", "./nope.py"], "no such plugin file"),
        (["-m", "f1"], "'f1' is not a measure name of the form"),
        (["-m", "strong:micro.f2"], "unknown measure 'micro.f2'. Did you mean 'micro.f1'"),
        (["-m", "strong[foo=bar]:micro.f1"], "unknown facet 'foo'"),
        (["--by", "types,kind"], "unknown facet 'types,kind'. Did you mean 'types'"),
        (["--set", "nill=explicit"], "unknown setting 'nill'. Did you mean"),
        (["--set", "nil"], "write SETTING=VALUE"),
        (["--set", "nil=foo"], "unknown value of nil 'foo'. Known:"),
        (["--gold-format", "foo"], "unknown format 'foo'"),
        (["--predictions-format", "nif"], "mine.jsonl:1: found invalid Turtle"),
        (["--columns", "foo=bar"], "unknown role of a column 'foo'"),
        (["--offsets", "utf-16"], "--offsets"),
        (["--on-error", "ignore"], "--on-error"),
        (["--json", "/nonexistent/x.json"], "there is no folder"),
    ],
)
def test_wrong_options(karat_cli, files, options, message):
    ran = karat_cli("score", files / "gold.jsonl", files / "mine.jsonl", *options)
    assert (ran.code, message in ran.err, "Traceback" in ran.err) == (2, True, False), ran.err


@pytest.mark.parametrize("case", ["duplicate key", "old Mac", "trailing comma", "id fraction"])
def test_lint_refuses_lines_that_no_rule_can_check(karat_cli, files, case):
    """Otherwise the linter would count no errors in a file that no command accepts."""
    old, new, message = FIRST_SPAN[case]
    path = files / "broken.jsonl"
    path.write_text(lines(GOLD, old, new), encoding="utf-8")
    check_refusal(karat_cli("data", "lint", path), path, message)


def test_strict_lint_of_an_invalid_corpus_fails_whatever_the_rules(karat_cli, files):
    path = files / "broken.jsonl"
    path.write_text(lines(GOLD, '"d2"', '"d1"'), encoding="utf-8")
    ran = karat_cli("data", "lint", path, "--strict", "--only", "empty-document")
    assert (ran.code, "broken is not a valid corpus" in ran.out) == (1, True)
