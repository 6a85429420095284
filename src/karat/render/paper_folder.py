"""Results as the folder of a paper: LaTeX tables, figures, a paragraph on methods, signatures and BibTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from karat.analysis.comparison.grid import choose_main_measure
from karat.data.catalogue import find_dataset, get_dataset
from karat.model.corpus import DataName
from karat.model.errors import KaratError
from karat.model.profile_signatures import get_profile_name
from karat.model.registry import get_plugin, has_plugin
from karat.model.results.plot import Plot, PlotPoint, PlotSeries
from karat.model.results.result import Result
from karat.model.spec.settings.settings import describe_value
from karat.model.spec.system import System, parse_system
from karat.render.charts.plot_svg import draw_plot
from karat.render.charts.requirements import check_extra
from karat.render.report import build_heat_maps, build_leaderboard
from karat.render.scores import render_page
from karat.render.tables import draw_latex, escape_latex
from karat.version import __version__

_CITATION: Final = re.compile(r"(?P<authors>.+?) (?P<year>\d{4}): (?P<title>.+)\. (?P<venue>[^.]+)\.?")
_MAX_LATIN: Final = 0x17F  # the last letter that pdflatex sets with its standard fonts
_SIGNATURE_NAMES: Final = ("karat", "profile", "data")

_HEAD: Final = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
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

    tables = {f"tables/{name}.tex": text for name, text in _build_tables(results).items()}
    svg = draw_plot(_build_plot(results))
    citations = _collect_citations(results)
    texts = {
        "paper.tex": _build_document(results, list(tables)),
        "methods.tex": "\n\n".join(_describe_methods(results, citations)) + "\n",
        **tables,
        "references.bib": "\n".join(_format_entry(key, citation) for key, citation in citations.items()),
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


def _group_by_dataset(results: Sequence[Result]) -> dict[str, list[Result]]:
    """Return the results of each dataset."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.corpus, []).append(result)
    return groups


def _build_tables(results: Sequence[Result]) -> dict[str, str]:
    """Return the tables in LaTeX by file name: the leaderboard, and heat maps and all scores of each dataset."""
    datasets = _group_by_dataset(results)
    tables = {}
    if len(datasets) > 1:
        tables["leaderboard"] = f"{draw_latex(build_leaderboard(results))}\n"
    for number, dataset_results in enumerate(datasets.values(), 1):
        stem = f"{number}-{re.sub(r'[^a-z0-9]+', '-', dataset_results[0].corpus.lower()).strip('-')}"
        for facet, rows in build_heat_maps(dataset_results).items():
            tables[f"{stem}-{facet}"] = f"{draw_latex(rows)}\n"
        tables[stem] = render_page(dataset_results, "latex")
    return tables


def _build_plot(results: Sequence[Result]) -> Plot:
    """Return bars with the main measure of each system on each dataset, with intervals if the results have them."""
    measure = choose_main_measure(results[0].headline, results[0].table_measures)
    series = {
        result.run: tuple(_make_point(member, measure) for member in results if member.run == result.run)
        for result in results
    }
    return Plot(
        "bars",
        f"{measure} by dataset",
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


def _build_document(results: Sequence[Result], tables: Iterable[str]) -> str:
    """Return the LaTeX document that includes methods, tables, figure, signatures and references."""
    parts = [_HEAD, r"\section*{Methods}", r"\input{methods}", r"\section*{Results}"]
    for path in tables:
        caption = escape_latex(path.removeprefix("tables/").removesuffix(".tex"))
        parts += [
            r"\begin{table}[p]\centering",
            rf"\resizebox{{\ifdim\width>\linewidth\linewidth\else\width\fi}}{{!}}{{\input{{{path}}}}}",
            rf"\caption{{{caption}}}",
            r"\end{table}",
        ]
    parts += [
        r"\begin{figure}[p]\centering",
        r"\includegraphics[width=\linewidth]{figures/scores.pdf}",
        rf"\caption{{{escape_latex(_build_plot(results).title)}}}",
        r"\end{figure}",
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


def _describe_methods(results: Sequence[Result], citations: Mapping[str, str]) -> Iterator[str]:
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
    keys = [key for key in citations if key != "karat"]
    if keys:
        yield rf"Data and systems are described in \cite{{{','.join(keys)}}}."
    unknown = sorted({name for result in results for name, citation in _find_citations(result).items() if not citation})
    if unknown:
        yield f"% Karat knows no publication of: {escape_latex(', '.join(unknown))}"


def _find_citations(result: Result) -> dict[str, str]:
    """Return the citation of the dataset and of the system of a result, by their names; empty text if unknown."""
    return {result.corpus: _find_dataset_citation(result), result.run: _find_system_citation(result.run)}


def _find_dataset_citation(result: Result) -> str:
    """Return the citation of the dataset of a result from the catalogue; empty if it is not there."""
    data = DataName.parse(result.signature.to_dict().get("data", ""))
    name = find_dataset(data.name)
    if name is None:
        return ""
    dataset = get_dataset(name.name)
    version = dataset.versions.get(name.version or "")
    version_citation = "" if version is None else version.citation
    return version_citation or dataset.citation


def _find_system_citation(run: str) -> str:
    """Return the citation of the system that a run is named after; empty if there is no such system."""
    try:
        name = parse_system(run.rpartition("/")[2]).name
    except KaratError:
        return ""
    if name.endswith(".py") or not has_plugin("systems", name):
        return ""
    return get_plugin("systems", name, System).citation


def _collect_citations(results: Sequence[Result]) -> dict[str, str]:
    """Return the citations of Karat, the datasets and the systems by BibTeX key, without duplicates."""
    citations = {"karat": ""}
    for result in results:
        for citation in _find_citations(result).values():
            if citation and citation not in citations.values():
                citations[_make_key(citation, citations)] = citation
    return citations


def _make_key(citation: str, taken: Iterable[str]) -> str:
    """Return a BibTeX key such as `hoffart2012`, with a letter behind it if the key is taken."""
    match = _CITATION.fullmatch(citation)
    author = re.sub(r"[^a-z]", "", (match["authors"] if match else citation).split()[0].lower()) or "source"
    stem = f"{author}{match['year'] if match else ''}"
    return next(key for key in (stem, *(f"{stem}{letter}" for letter in "bcdefghijklmnopq")) if key not in taken)


def _format_entry(key: str, citation: str) -> str:
    """Return a BibTeX entry; a citation in another form than `Authors YEAR: Title. Venue.` becomes its title."""
    if key == "karat":
        fields = {"author": "{The Karat developers}", "title": "Karat: measuring entity linkers"}
        fields["note"] = f"Version {__version__}"
    elif match := _CITATION.fullmatch(citation):
        fields = {
            "author": re.sub(r" et al\.?$", " and others", match["authors"]).replace(", ", " and "),
            "title": f"{{{match['title']}}}",
            "howpublished": match["venue"],
            "year": match["year"],
        }
    else:
        fields = {"key": citation, "title": f"{{{citation}}}"}
    body = "".join(f"  {name} = {{{_escape_field(text)}}},\n" for name, text in fields.items())
    return f"@misc{{{key},\n{body}}}\n"


def _escape_field(text: str) -> str:
    """Return the text of a BibTeX field with LaTeX's special characters escaped, but with its braces."""
    return escape_latex(text).replace(r"\{", "{").replace(r"\}", "}")
