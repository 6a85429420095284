"""A strict reader of LaTeX tables, for machines without TeX: what it accepts, TeX typesets without a complaint."""

from __future__ import annotations

import re

_CELL = re.compile(
    r"(?:\\textbf\{(?P<bold>(?:[^{}\\$&#%_^~]|\\[&%$#_{}]|\\text\w+\{\}|\\dots\{\}|\$[^$]+\$)*)\}"
    r"|(?:\{\})?(?:[^{}\\$&#%_^~]|\\[&%$#_{}]|\\text\w+\{\}|\\dots\{\}|\$[^$]+\$)*)"
)
_FORMULA = re.compile(r"\$(-|\^2|[<>|]|\\(pm|times|leq|geq|rightarrow|alpha|chi))\$")


def tables(page: str) -> list[list[list[str]]]:
    """The cells of all tables of a page, whose other lines must be empty or comments."""
    found = []
    rest = re.sub(
        r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\n\\end\{tabular\}", lambda m: found.append(m) or "", page, flags=re.S
    )
    assert all(not line or line.startswith("%") for line in rest.splitlines()), rest
    return [_cells(*each.groups()) for each in found]


def _cells(columns: str, body: str) -> list[list[str]]:
    lines = body.split("\n")
    assert (lines[0], lines[-1]) == (r"\toprule", r"\bottomrule")
    assert lines.count(r"\midrule") == 1
    rows = []
    for line in lines[1:-1]:
        if line == r"\midrule" or re.fullmatch(r"(\\cmidrule\(lr\)\{\d+-\d+\})+", line):
            continue
        assert line.endswith(r" \\"), line
        assert not line.startswith(("[", "*")), line
        cells = re.split(r"(?<!\\) & ", line.removesuffix(r" \\"))
        spans = [re.fullmatch(r"\\multicolumn\{(\d+)\}\{c\}\{(.*)\}", cell.strip()) for cell in cells]
        assert sum(int(span[1]) if span else 1 for span in spans) == len(columns), line
        texts = [span[2] if span else cell.strip() for span, cell in zip(spans, cells, strict=True)]
        for text in texts:
            assert _CELL.fullmatch(text), text
            assert all(_FORMULA.fullmatch(formula) for formula in re.findall(r"(?<!\\)\$[^$]*(?<!\\)\$", text)), text
        rows.append(texts)
    return rows
