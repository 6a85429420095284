"""What Karat stores says its layout with a number: what came before is read, what comes later is refused by name."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import karat
from karat import InputError
from karat.model.errors import check_layout_version
from karat.model.results.result import LAYOUT, Result

METADATA = b"karat-layout"
NEWER = r"found the layout {}, written by a newer Karat; expected {}\. .*pip install --upgrade karat"


def demo(side):
    return karat.load("demo") if side == "gold" else karat.load_run("demo/noisy")


def load(side, path):
    return karat.load(path) if side == "gold" else karat.load_run(path)


sides = pytest.mark.parametrize("side", ["gold", "predictions"])
suffixes = pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".arrow"])


def relabelled(path, layout: str | None) -> None:
    """The same file under another number, or without one."""
    if path.suffix == ".jsonl":
        first, _, rest = path.read_bytes().partition(b"\n")
        header = json.loads(first) | {"karat": layout}
        path.write_bytes(rest if layout is None else json.dumps(header).encode() + b"\n" + rest)
        return
    table = pq.read_table(path) if path.suffix == ".parquet" else pa.ipc.open_stream(path.read_bytes()).read_all()
    metadata = {key: value for key, value in table.schema.metadata.items() if key != METADATA}
    table = table.replace_schema_metadata(metadata | ({} if layout is None else {METADATA: layout.encode()}))
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)


@sides
@suffixes
def test_a_file_says_its_layout(tmp_path, side, suffix):
    path = tmp_path / f"data{suffix}"
    karat.save(demo(side), path)
    if suffix == ".jsonl":
        assert json.loads(path.read_bytes().partition(b"\n")[0])["karat"] == f"{side}/2"
    elif suffix == ".parquet":
        assert pq.read_schema(path).metadata[METADATA] == f"{side}/2".encode()
    else:
        assert pa.ipc.open_stream(path.read_bytes()).schema.metadata[METADATA] == f"{side}/2".encode()


@sides
@suffixes
def test_one_without_a_number_is_read(tmp_path, side, suffix):
    path = tmp_path / f"data{suffix}"
    karat.save(demo(side), path)
    expected = list(load(side, path))
    relabelled(path, None)
    assert list(load(side, path)) == expected


@sides
@suffixes
def test_a_newer_one_is_refused(tmp_path, side, suffix):
    path = tmp_path / f"data{suffix}"
    karat.save(demo(side), path)
    relabelled(path, f"{side}/3")
    with pytest.raises(InputError, match=NEWER.format(f"{side}/3", f"{side}/2")):
        load(side, path)


def test_a_newer_part_of_a_folder_is_refused(tmp_path, karat_cli):
    for name in ("part-0", "part-1"):
        karat.save(demo("gold"), tmp_path / f"{name}.parquet")
    relabelled(tmp_path / "part-1.parquet", "gold/12")
    ran = karat_cli("score", tmp_path, "demo/noisy")
    assert (ran.code, ran.out) == (2, "")
    assert "part-1.parquet: found the layout gold/12, written by a newer Karat" in ran.err


def test_a_newer_result_is_refused_in_one_line(tmp_path, karat_cli):
    data = karat.evaluate(demo("gold"), demo("predictions")).to_json()
    assert str(Result.from_json(data).signature)
    newer = json.loads(data) | {"layout": "karat-result/9", "something": ["new"]}
    path = tmp_path / "result.json"
    path.write_text(json.dumps(newer), encoding="utf-8")
    with pytest.raises(InputError, match=NEWER.format("karat-result/9", LAYOUT)):
        Result.from_json(path.read_bytes())
    ran = karat_cli("compare", path)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert f"{path}:1: found the layout karat-result/9, written by a newer Karat; expected {LAYOUT}." in ran.err


@pytest.mark.parametrize("layout", ["karat-result/0", "karat-result/x", "other/9", "karat-result", 9, None])
def test_what_is_no_number_of_a_result_is_no_result(layout):
    data = json.loads(karat.evaluate(demo("gold"), demo("predictions")).to_json())
    with pytest.raises(InputError, match="found an invalid result file"):
        Result.from_json(json.dumps(data | {"layout": layout}).encode())


@pytest.mark.parametrize(
    "found", ["gold/2", "gold/1", "gold/0", "gold/-2", "gold/3.5", "predictions/3", "gold", "", "gold/²"]
)
def test_only_a_higher_number_of_the_same_layout_is_newer(found):
    check_layout_version("here", found, "gold/2")


def test_verdicts_say_their_layout(tmp_path, karat_cli):
    assert karat_cli("score", "demo", "demo/noisy", "--verdicts", tmp_path / "cases.parquet").code == 0
    assert pq.read_schema(tmp_path / "cases.parquet").metadata[b"layout"] == b"karat-verdicts/2"
