"""Modules of the user that a Python program imports from its own folder, found without running the program."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Final

_MAX_SOURCE_SIZE: Final = 1 << 22  # bytes of a source file that is parsed


def list_imported_files(words: Sequence[str]) -> list[Path]:
    """Return the files, in order, that the Python programs among the words of a command import from their folders.

    A word after `-m` is a module of the working directory and counts itself. Imports are followed as far as they lead
    to files next to the program. Modules that are imported by a computed name, and those of installed packages, are
    not found.
    """
    scripts = [path for word in words if _is_script(path := Path(word))]
    modules = [
        path
        for option, name in pairwise(words)
        if option == "-m"
        for module in (name, f"{name}.__main__")
        for path in _resolve(Path(), module)
    ]
    imported = {path for script in scripts for path in _follow(script, script.resolve().parent)}
    imported.update(path for module in modules for path in (module, *_follow(module, Path())))
    return sorted(imported.difference(scripts))


def _is_script(path: Path) -> bool:
    """Return whether a word of a command is a file with Python code, by its suffix or its first line."""
    if not _is_file(path) or path.suffix == ".py":
        return _is_file(path)
    try:
        with path.open("rb") as file:
            first_line = file.readline(200)
    except OSError:
        return False
    return first_line.startswith(b"#!") and b"python" in first_line


def _follow(script: Path, root: Path) -> set[Path]:
    """Return all files below `root` that `script` imports, directly or through other files, without itself."""
    imported: set[Path] = set()
    pending = [script]
    while pending:
        file = pending.pop()
        new = {path for base, name in _list_imports(file, root) for path in _resolve(base, name)} - imported - {script}
        imported |= new
        pending += new
    return imported


def _list_imports(file: Path, root: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folder and the dotted name of each module that a file may import; nothing if it cannot be parsed."""
    try:
        if file.stat().st_size > _MAX_SOURCE_SIZE:
            return
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((root, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = file.parents[node.level - 1] if 0 < node.level <= len(file.parents) else root
            yield from ((base, ".".join(filter(None, (node.module, alias.name)))) for alias in node.names)


def _resolve(base: Path, name: str) -> Iterator[Path]:
    """Yield the files that an import of a dotted name runs: those of the module and of all packages around it.

    The last part may be the name of an object in the module.
    """
    module = base
    for part in takewhile(str.isidentifier, name.split(".")):  # `*` is none
        module /= part
        yield from filter(_is_file, (module.with_name(f"{part}.py"), module / "__init__.py"))


def _is_file(path: Path) -> bool:
    """Return whether a path is an existing file; a name that the file system does not allow is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
