"""Builds of the project from a copy, and interpreters to install them into."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

_FILES = (
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "README.md",
    "SECURITY.md",
    "constraints.txt",
    "pyproject.toml",
    "tools/build_backend.py",
)
_FOLDERS = ("integrations", "requirements", "src")


def copy_project(folder: Path) -> Path:
    """Copy what a build needs, without anything that an earlier build has left; return the folder."""
    (folder / "tools").mkdir(parents=True)
    for name in _FILES:
        shutil.copyfile(ROOT / name, folder / name)
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    return folder


def build(source: Path, *, sdist: bool, **environment: str) -> Path:
    """Build a wheel, or a source archive, in a project folder; return its path."""
    call = (
        "import sys; sys.path.insert(0, 'tools'); import build_backend; "
        f"build_backend.build_{'sdist' if sdist else 'wheel'}('dist')"
    )
    (source / "dist").mkdir(exist_ok=True)
    subprocess.run(
        [sys.executable, "-c", call], cwd=source, env=os.environ | environment, check=True, stdout=subprocess.DEVNULL
    )
    (path,) = (source / "dist").glob("*.tar.gz" if sdist else "*.whl")
    return path


def find_python(version: str) -> Path | None:
    """Return an interpreter of a version such as 3.12, on the path or among those of pyenv; None if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [
        shutil.which(f"python{version}"),
        *sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True),
    ]
    asked = f"import sys, venv; sys.exit(sys.version_info[:2] != {tuple(map(int, version.split('.')))})"
    for candidate in candidates:
        if candidate and subprocess.run([candidate, "-c", asked], capture_output=True, check=False).returncode == 0:
            return Path(candidate)
    return None
