"""The fingerprint of a command names the files that are not in it."""

from __future__ import annotations

from karat.model.errors import InputError
from karat.systems.adapters import program


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
