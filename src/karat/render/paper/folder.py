"""Results as the folder of a paper: LaTeX tables, figures, a paragraph on methods, signatures and BibTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from karat.analysis.comparison.grid import choose_main_measure
from karat.model.profile_signatures import get_profile_name
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.model.results.result import Result
from karat.model.spec.settings.settings import describe_value
from karat.plugins.reports.table import get_oracle_mark
from karat.render.charts.plot_svg import draw_plot
from karat.render.charts.requirements import check_extra
from karat.render.paper.references import collect_references, format_entry, list_uncited
from karat.render.paper.tables import PaperTable, build_paper_tables
from karat.render.tables import escape_latex
from karat.version import __version__

_MAX_LATIN: Final = 0x17F  # the last letter that pdflatex sets with its standard fonts
_SIGNATURE_NAMES: Final = ("karat", "profile", "data")

_HEAD: Final = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=2.5cm]{geometry}
\usepackage{booktabs}
\usepackage[table]{xcolor}
\usepackage{graphicx}
\begin{document}
"""


def build_paper(results: Sequence[Result]) -> dict[str, bytes]:
    """Return the files of the folder by path: `paper.tex`, which includes the others and compiles with pdflatex.

    Raise `KaratError` if the packages that convert figures to PDF are missing.
    """
    check_extra()
    import vl_convert

    tables = build_paper_tables(results)
    svg = draw_plot(_build_plot(results))
    references = collect_references(results)
    texts = {
        "paper.tex": _build_document(results, tables),
        "methods.tex": "\n\n".join(_describe_methods(results, references)) + "\n",
        **{f"tables/{table.name}.tex": table.latex for table in tables},
        "references.bib": "\n".join(format_entry(key, reference) for key, reference in references.items()),
        "signatures.txt": "".join(f"{line}\n" for line in _list_signatures(results)),
    }
    files = {path: _replace_letters(text).encode() for path, text in texts.items() if path.endswith((".tex", ".bib"))}
    return files | {
        "signatures.txt": texts["signatures.txt"].encode(),
        "figures/scores.svg": svg.encode(),
        "figures/scores.pdf": bytes(vl_convert.svg_to_pdf(svg)),
    }


def _replace_letters(text: str) -> str:
    """Return text in which letters that pdflatex cannot set are replaced by their code, such as `[U+4E2D]`."""
    return "".join(letter if ord(letter) <= _MAX_LATIN else f"[U+{ord(letter):04X}]" for letter in text)


def _build_plot(results: Sequence[Result]) -> Plot:
    """Return bars with the main measure of each system on each dataset, with intervals if the results have them."""
    measure = choose_main_measure(results[0].headline, results[0].table_measures)
    series = {
        result.run: tuple(_make_point(member, measure) for member in results if member.run == result.run)
        for result in results
    }
    return Plot(
        "bars",
        f"{measure}{get_oracle_mark(results, measure)} by dataset",
        tuple(PlotSeries(run, points) for run, points in series.items()),
        y_title=f"{measure} in percent",
        y_range=(0.0, 100.0),
    )


def _make_point(result: Result, measure: str) -> PlotPoint:
    """Return the score of a result in percent with its interval; no value if it is undefined."""
    value = result[measure] if measure in result.scores else None
    interval = result.intervals.get(measure)
    return PlotPoint(
        result.corpus,
        None if value is None else 100 * value,
        None if interval is None else (100 * interval[0], 100 * interval[1]),
    )


def _build_document(results: Sequence[Result], tables: Iterable[PaperTable]) -> str:
    """Return the LaTeX document that includes methods, tables, figure, signatures and references."""
    parts = [_HEAD, r"\section*{Methods}", r"\input{methods}", r"\section*{Results}"]
    for table in tables:
        parts += [
            r"\begin{table}[htbp]\centering\small",
            rf"\input{{tables/{table.name}}}",
            rf"\caption{{{escape_latex(table.caption)}}}",
            r"\end{table}",
        ]
    parts += [
        r"\begin{figure}[htbp]\centering",
        r"\includegraphics[width=\linewidth]{figures/scores.pdf}",
        rf"\caption{{{escape_latex(_build_plot(results).title)}}}",
        r"\end{figure}",
        r"\clearpage",
        r"\section*{Signatures}",
        r"{\footnotesize\ttfamily\raggedright",
    ]
    parts += [rf"{_break_signature(line)}\par\smallskip" for line in _list_signatures(results)]
    return "\n".join([*parts, "}", r"\bibliographystyle{plain}", r"\bibliography{references}", r"\end{document}", ""])


def _list_signatures(results: Sequence[Result]) -> list[str]:
    """Return the distinct full signatures, in order."""
    return list(dict.fromkeys(str(result.signature) for result in results))


def _break_signature(line: str) -> str:
    """Return a signature in LaTeX that may break at every bar."""
    return r"\allowbreak ".join(escape_latex(f"{part}|") for part in line.split("|")).removesuffix("$|$")


def _describe_methods(results: Sequence[Result], references: Iterable[str]) -> Iterator[str]:
    """Yield a paragraph for each set of conventions, with every convention in words, then one on data and systems."""
    groups: dict[tuple[tuple[str, str], ...], list[Result]] = {}
    for result in results:
        parts = result.signature.to_dict()
        groups.setdefault(tuple((k, v) for k, v in parts.items() if k not in _SIGNATURE_NAMES), []).append(result)
    for settings, members in groups.items():
        datasets = ", ".join(dict.fromkeys(result.corpus for result in members))
        version = members[0].signature.to_dict().get("karat", __version__)
        first = (
            f"All scores on {datasets} were computed by Karat {version} under the profile "
            f"{get_profile_name(members[0].signature)}."
        )
        sentences = [describe_value(name, value) for name, value in settings]
        yield rf"{escape_latex(first)}~\cite{{karat}} {escape_latex(' '.join(sentences))}"
    keys = [key for key in references if key != "karat"]
    if keys:
        yield rf"Data and systems are described in \cite{{{','.join(keys)}}}."
    unknown = list_uncited(results)
    if unknown:
        yield f"% Karat knows no publication of: {escape_latex(', '.join(unknown))}"
