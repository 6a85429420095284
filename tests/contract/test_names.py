"""One word per idea: no class name stands for two."""

from __future__ import annotations

import ast
from collections import defaultdict

from tests.conftest import ROOT


def test_no_two_classes_share_a_name():
    found = defaultdict(list)
    for path in (ROOT / "src" / "karat").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "class " in text else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.name)
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_no_folder_but_those_of_plugins_is_crowded():
    package = ROOT / "src" / "karat"
    # A command is one file, and so is a plugin.
    plugins = {package / "cli", package / "formats" / "plugins", package / "systems" / "plugins"}
    plugins |= {package / "protocols" / "suites", *(package / "plugins").iterdir()}
    sizes = {
        str(folder.relative_to(package)): len(list(folder.glob("*.py")))
        for folder in package.rglob("*")
        if folder.is_dir() and folder not in plugins
    }
    assert {name: size for name, size in sizes.items() if size > 18} == {}
