"""Check names and docstrings of the package against the naming rules; print one line per finding and exit 1 if any.

`python tools/check_words.py [PATH …]` checks `src/karat`, `tools` and `bench`, or the given files and folders.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BANNED = frozenset(
    [
        "anew",
        "asked",
        "beside",
        "each",
        "found",
        "given",
        "heard",
        "kept",
        "known",
        "least",
        "made",
        "most",
        "nobody",
        "one",
        "own",
        "place",
        "places",
        "said",
        "shown",
        "so",
        "told",
        "what",
        "whatever",
        "who",
        "whoever",
    ]
)
"""Identifiers that name no thing: participles, adverbs and pronouns in place of a noun."""

ALLOWED: dict[str, str] = {}
"""`path:identifier` and the reason why the identifier stays."""

RIDDLE = re.compile(r"(What|Who|Whose|That|Those|Nobody|Somebody|Whatever|Whoever)\b")
"""Docstrings that open with a pronoun in place of a noun or verb."""


def check_file(path: Path, source: str) -> Iterator[str]:
    """Yield one line for each banned identifier that a file defines and each docstring that opens with a pronoun.

    `path`: path of the file in messages.
    `source`: its Python source.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name, line in _iterate_definitions(node):
            if name in BANNED and f"{path.as_posix()}:{name}" not in ALLOWED:
                yield f"{path.as_posix()}:{line}: {name!r} names no thing; write the noun (docs/reference/glossary.md)"
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            if RIDDLE.match(docstring):
                line = getattr(node, "lineno", 1)
                yield f"{path.as_posix()}:{line}: the docstring opens with {docstring.split()[0]!r}; name the thing"


def _iterate_definitions(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the name that a node defines, if any, in lower case and without leading underscores, with its line."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name.lstrip("_").lower(), node.lineno
        case ast.arg():
            yield node.arg.lstrip("_").lower(), node.lineno
        case ast.Name(ctx=ast.Store()):
            yield node.id.lstrip("_").lower(), node.lineno
        case ast.Attribute(ctx=ast.Store()):
            yield node.attr.lstrip("_").lower(), node.lineno


def main(arguments: list[str]) -> int:
    """Print the findings in the files and folders `arguments`, by default all; return the exit status."""
    roots = [Path(argument).resolve() for argument in arguments] or [
        ROOT / "src" / "karat",
        ROOT / "tools",
        ROOT / "bench",
    ]
    files = [file for root in roots for file in ([root] if root.is_file() else sorted(root.rglob("*.py")))]
    findings = [
        finding for file in files for finding in check_file(file.relative_to(ROOT), file.read_text(encoding="utf-8"))
    ]
    print("\n".join(findings) or f"{len(files)} files: all names are fine")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
