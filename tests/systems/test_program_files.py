"""The fingerprint of a command: the files it names and the modules these import; files without hash are named."""

from __future__ import annotations

from karat.model.errors import InputError
from karat.systems.adapters import program
from karat.systems.adapters.python_imports import list_imported_files


def test_a_file_that_cannot_be_hashed_is_named(tmp_path, monkeypatch):
    (tmp_path / "good.py").write_text("print()")
    (tmp_path / "bad.py").write_text("print()")
    words = ["--fast", str(tmp_path / "good.py"), "\0"]
    whole = program.fingerprint_files(words)
    assert whole.keys() == {"files"}
    real = program.hash_content

    def hash_content(path):
        if path.name == "bad.py":
            raise InputError(str(path), actual="a broken disk", expected="a file", remedy="Copy it")
        return real(path)

    monkeypatch.setattr(program, "hash_content", hash_content)
    found = program.fingerprint_files([*words, str(tmp_path / "bad.py")])
    assert found["files"] == whole["files"]
    assert "bad.py" in found["files without hash"]
    assert "a broken disk" in found["files without hash"]
    monkeypatch.setattr(program, "_MAX_FILE_SIZE", 3)
    assert "good.py (256 MiB or more)" in program.fingerprint_files(words)["files without hash"]


def _write(folder, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


SOURCES = {
    "linker.py": "import json, names\nfrom pack.inner import table\nfrom pack import leaf",
    "names.py": "def load():\n    from deep import N",
    "deep.py": "N = 1",
    "pack/__init__.py": "",
    "pack/inner.py": "from . import sibling\nfrom ..linker import x",
    "pack/sibling.py": "import linker",
    "pack/leaf.py": "",
    "pack/unused.py": "",
    "linker2.py": "N = 2",
    "broken.py": "import (",
}
IMPORTED = ["deep.py", "names.py", "pack/__init__.py", "pack/inner.py", "pack/leaf.py", "pack/sibling.py"]


def test_imported_modules_of_the_folder_are_found_and_no_others(tmp_path):
    _write(tmp_path, SOURCES)
    found = list_imported_files(["python3", str(tmp_path / "linker.py"), str(tmp_path / "broken.py")])
    assert [path.relative_to(tmp_path).as_posix() for path in found] == IMPORTED


def test_an_imported_module_is_in_the_fingerprint_and_a_script_beside_it_is_not(tmp_path):
    _write(tmp_path, SOURCES)
    words = ["python3", str(tmp_path / "linker.py")]
    before = program.fingerprint_files(words)
    _write(tmp_path, {"linker2.py": "N = 3", "pack/unused.py": "N = 3"})
    assert program.fingerprint_files(words) == before
    for name in IMPORTED:
        _write(tmp_path, {name: SOURCES[name] + "\n# changed"})
        assert program.fingerprint_files(words) != before, name
        _write(tmp_path, {name: SOURCES[name]})
    assert program.fingerprint_files(words) == before


def test_a_module_after_m_and_a_program_with_a_python_line_are_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _write(tmp_path, {"tool/__init__.py": "", "tool/__main__.py": "import names", "names.py": ""})
    _write(tmp_path, {"start": "#!/usr/bin/env python3\nimport names", "data": "import names"})
    assert [path.as_posix() for path in list_imported_files(["python3", "-m", "tool"])] == [
        "names.py",
        "tool/__init__.py",
        "tool/__main__.py",
    ]
    assert [path.name for path in list_imported_files(["./start", "./data", "-m", "", "-m", "x" * 300, "-m"])] == [
        "names.py"
    ]
