"""Files and folders that appear as a whole, and what killed processes leave."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from karat.model.errors import UsageError
from karat.storage import atomic_writing
from karat.storage.atomic_writing import (
    build_folder,
    move_into_place,
    open_for_writing,
    open_scratch_folder,
    remove_leftovers,
    write_durably,
    write_folder,
)

posix = pytest.mark.skipif(os.name == "nt", reason="nothing is deleted there")

HOLDING = """
import sys
from karat.storage.atomic_writing import open_for_writing
with open_for_writing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("ready", flush=True)
    sys.stdin.readline()
    file.write(b" and half")
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@posix
def test_a_partial_file_of_a_running_process_stays_and_that_of_a_killed_one_goes(tmp_path):
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "out")]
    running, killed = (subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2))
    for process in (running, killed):
        assert process.stdout.readline() == b"ready\n"
    assert len(names(tmp_path)) == 2
    killed.kill()
    killed.communicate()
    write_durably(tmp_path / "other", b"")
    assert len(names(tmp_path)) == 3, "only commands that write files of users, and archives, look for leftovers"
    remove_leftovers(tmp_path)
    assert len(names(tmp_path)) == 2, names(tmp_path)
    running.communicate(b"\n")
    assert (tmp_path / "out").read_bytes() == b"half and half"
    assert names(tmp_path) == ["other", "out"]


@posix
def test_only_partial_files_of_karat_are_deleted(tmp_path):
    others = ["a.part", ".a.part", ".a.123.part", ".a.karat.part", ".a.0123abcd.part", "a.0123abcd.karat.part"]
    for name in (*others, ".a.0123abcd.karat.part"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / ".b.0123abcd.karat.part").mkdir()
    with open_for_writing(str(tmp_path / "out")) as file:
        file.write(b"new")
    assert names(tmp_path) == sorted([*others, ".b.0123abcd.karat.part", "out"])


@posix
def test_no_writer_loses_its_file_to_one_that_cleans_up(tmp_path):
    def write(number):
        write_durably(tmp_path / str(number), b"%d" % number)
        remove_leftovers(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(200)))
    assert [int((tmp_path / str(number)).read_bytes()) for number in range(200)] == [*range(200)]
    assert len(names(tmp_path)) == 200


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127, "a\nb"])
def test_any_name_that_the_system_allows_can_be_written(tmp_path, name):
    try:
        (tmp_path / name).write_bytes(b"old")
    except OSError:
        pytest.skip("this system does not allow the name")
    with open_for_writing(str(tmp_path / name)) as file:
        file.write(b"new")
    assert (tmp_path / name).read_bytes() == b"new"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_is_replaced_as_a_whole(tmp_path, monkeypatch, can_exchange):
    if not can_exchange:
        monkeypatch.setattr(atomic_writing, "_exchange_names", lambda *_: False)
    for content in ("old", "new"):
        with build_folder(tmp_path / "kb") as partial:
            (partial / content).write_text(content)
    assert names(tmp_path) == ["kb"]
    assert names(tmp_path / "kb") == ["new"]


def test_the_old_folder_is_back_if_the_new_one_cannot_be_renamed(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_writing, "_exchange_names", lambda *_: False)
    with build_folder(tmp_path / "kb") as partial:
        (partial / "old").write_text("old")
    rename = Path.rename

    def fail(self, target):
        if self.name == ".kb.part":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="No space left"), build_folder(tmp_path / "kb") as partial:
        (partial / "new").write_text("new")
    assert names(tmp_path) == ["kb"]
    assert names(tmp_path / "kb") == ["old"]


@pytest.mark.parametrize("content", [b"", b"4194305", b"1"])
def test_a_lock_that_a_killed_build_left_is_taken_over(tmp_path, content):
    (tmp_path / ".kb.lock").write_bytes(content)
    with build_folder(tmp_path / "kb") as partial:
        (partial / "new").write_text("new")
    assert names(tmp_path) == ["kb"]


def test_a_folder_with_files_is_not_replaced_by_an_export(tmp_path):
    write_folder(str(tmp_path / "out"), {"a": b"1"})
    with pytest.raises(UsageError, match="already exists"):
        write_folder(str(tmp_path / "out"), {"b": b"2"})
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a"]


def test_a_file_is_on_disk_before_its_name_and_its_name_before_success(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append(Path(f"/proc/self/fd/{fd}").readlink()), fsync(fd))[1])
    monkeypatch.setattr(Path, "replace", lambda self, to: (calls.append("rename"), replace(self, to))[1])
    if not Path("/proc/self/fd").exists():
        pytest.skip("open files have no names here")
    write_durably(tmp_path / "out", b"x")
    assert [call if call == "rename" else call.suffix or call.name for call in calls] == [
        ".part",
        "rename",
        tmp_path.name,
    ]


def test_a_link_to_a_folder_stays_and_its_target_is_replaced_again_and_again(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "kb").symlink_to("disk")
    for content in ("old", "new"):
        with build_folder(tmp_path / "kb") as partial:
            (partial / content).write_text(content)
        assert names(tmp_path) == ["disk", "kb"]
        assert (tmp_path / "kb").is_symlink()
        assert names(tmp_path / "disk") == [content]


@posix
def test_a_scratch_folder_that_a_killed_process_left_is_deleted_and_one_in_use_stays(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from karat.storage.atomic_writing import open_scratch_folder\n"
        "with open_scratch_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'half').write_text('x'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(names(tmp_path)) == 1
    with open_scratch_folder(tmp_path) as first:
        assert names(tmp_path) == [first.name]
        with open_scratch_folder(tmp_path) as second:
            assert names(tmp_path) == sorted([first.name, second.name])
            (second / "new").mkdir()
            (second / "new" / "file").write_text("new")
            (tmp_path / "target").mkdir()
            (tmp_path / "target" / "old").write_text("old")
            move_into_place(second / "new", tmp_path / "target")
    assert names(tmp_path) == ["target"]
    assert names(tmp_path / "target") == ["file"]
