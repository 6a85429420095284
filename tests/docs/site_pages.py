"""The pages of the documentation as files, commands and Python code that can be run, in the order of the page.

A fenced block with a title is a file. Lines of a `console` block that begin with `$ ` are commands; the lines below a
command are its output, in which `…` stands for any text. A `python` block is a session (`>>>`) or a program. A comment
`<!-- not run: REASON -->` above a block exempts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.conftest import ROOT

_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?^```(?P<kind>\w+)?(?P<options>[^\n]*)\n(?P<body>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_TITLE = re.compile(r'title="([^"]+)"')
_GENERATED = re.compile(r"<!-- generated: [\w-]+ -->.*?<!-- end -->", re.DOTALL)
_TABLE = re.compile(r"^\|.*\n", re.MULTILINE)
_WORD = re.compile(r"\w[\w'’.-]*")


class Block(NamedTuple):
    """A fenced block of a page."""

    kind: str
    """The language, such as `console`."""
    file: str | None
    """The name of the file that the block shows, if any."""
    body: str
    """The content."""
    reason: str | None
    """Why the block is not run; None if it is."""
    line: int
    """The number of its first line in the page."""


class Command(NamedTuple):
    """A command of a console block with its output; empty if none is shown."""

    text: str
    output: str


def list_pages() -> list[Path]:
    """Return the first page of the site and the pages in its folders, without those of papers, which are generated."""
    docs = ROOT / "docs"
    folders = ("tutorials", "how-to", "reference", "explanation", "measurements")
    return [
        path
        for path in (docs / "index.md", *(page for name in folders for page in sorted((docs / name).glob("*.md"))))
        if path.exists()
    ]


def read_blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    blocks = []
    for match in _BLOCK.finditer(text):
        title = _TITLE.search(match["options"])
        line = text.count("\n", 0, match.start()) + 1
        blocks.append(Block(match["kind"] or "", title and title[1], match["body"], match["reason"], line))
    return blocks


def list_exempt_blocks() -> list[str]:
    """Return the place and reason of each block that is not run."""
    return [
        f"{page.relative_to(ROOT / 'docs')}:{block.line}: {block.reason}"
        for page in list_pages()
        for block in read_blocks(page)
        if block.reason is not None
    ]


def split_commands(body: str) -> Iterator[Command]:
    """Yield the commands of a console block; a line that ends with a backslash goes on in the next line."""
    command, output = "", list[str]()
    lines = iter(body.splitlines())
    for line in lines:
        if line.startswith("$ "):
            if command:
                yield Command(command, "\n".join(output).strip("\n"))
            command, output = line[2:], []
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
        else:
            output.append(line)
    if command:
        yield Command(command, "\n".join(output).strip("\n"))


def shows(expected: str, actual: str) -> bool:
    """Return whether `actual` is the output that a page shows; `…` in the page stands for any text, also of lines."""
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    return re.fullmatch(pattern, actual.strip("\n"), re.DOTALL) is not None


def needs_extras(page: Path) -> bool:
    """Return whether a page says, in a comment, that its commands need the packages of extras."""
    return "<!-- needs extras -->" in page.read_text(encoding="utf-8")


def count_words(page: Path) -> int:
    """Count the words of a page that were written by hand: without generated parts and fenced blocks.

    Tables of measurements are figures that programs printed, so they do not count.
    """
    text = _GENERATED.sub("", page.read_text(encoding="utf-8"))
    if page.parent.name == "measurements":
        text = _TABLE.sub("", text)
    return len(_WORD.findall(_BLOCK.sub("", text)))
