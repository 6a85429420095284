"""References of a paper in BibTeX: Karat, and the datasets and systems of results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from karat.data.catalogue import find_dataset, get_dataset
from karat.model.corpus import DataName
from karat.model.errors import KaratError
from karat.model.registry import get_plugin, has_plugin
from karat.model.results.result import Result
from karat.model.spec.dataset import Dataset, Version
from karat.model.spec.system import System, parse_system
from karat.render.tables import escape_latex
from karat.version import __version__

AUTHOR: Final = "AUTHOR"
YEAR: Final = "YEAR"
"""Placeholders for what a dataset does not state; the author of the paper replaces them."""

_CITATION: Final = re.compile(r"(?P<authors>.+?) (?P<year>\d{4}): (?P<title>.+)\. (?P<venue>[^.]+)\.?")


class Reference(NamedTuple):
    """A publication, or a dataset without one."""

    stem: str
    """Start of its BibTeX key."""
    fields: Mapping[str, str]
    """Fields of its BibTeX entry, as plain text; `author` is in BibTeX's form."""

    def list_missing(self) -> list[str]:
        """Return the placeholders in its fields."""
        return [text for text in (AUTHOR, YEAR) if text in self.fields.values()]


_KARAT: Final = Reference(
    "karat",
    {
        "author": "{The Karat developers}",
        "title": "Karat: measuring entity linkers",
        "note": f"Version {__version__}",
    },
)


def find_references(result: Result) -> dict[str, Reference | None]:
    """Return the reference of the dataset and of the system of a result, by their names; None if unknown."""
    return {result.corpus: _find_dataset_reference(result), result.run: _find_system_reference(result.run)}


def collect_references(results: Sequence[Result]) -> dict[str, Reference]:
    """Return the references of Karat, the datasets and the systems by BibTeX key, without duplicates."""
    references = {_KARAT.stem: _KARAT}
    for result in results:
        for reference in find_references(result).values():
            if reference is not None and reference not in references.values():
                references[_make_key(reference.stem, references)] = reference
    return references


def list_uncited(results: Sequence[Result]) -> list[str]:
    """Return the names of datasets and systems without a reference."""
    return sorted(
        {name for result in results for name, reference in find_references(result).items() if reference is None}
    )


def list_open_entries(results: Sequence[Result]) -> list[str]:
    """Return a sentence for each reference with placeholders: what to fill in."""
    entries = {key: reference.list_missing() for key, reference in collect_references(results).items()}
    return [f"references.bib: fill in {' and '.join(missing)} of {key}" for key, missing in entries.items() if missing]


def format_entry(key: str, reference: Reference) -> str:
    """Return a BibTeX entry."""
    body = "".join(f"  {name} = {{{_escape_field(name, text)}}},\n" for name, text in reference.fields.items())
    return f"@misc{{{key},\n{body}}}\n"


def _find_dataset_reference(result: Result) -> Reference | None:
    """Return the reference of the dataset of a result from the catalogue; None if it is not there."""
    data = DataName.parse(result.signature.to_dict().get("data", ""))
    name = find_dataset(data.name)
    if name is None:
        return None
    dataset = get_dataset(name.name)
    version = dataset.versions.get(name.version or next(iter(dataset.versions), ""))
    citation = (version.citation if version is not None else "") or dataset.citation
    return _parse_citation(citation) or _describe_dataset(name.name, dataset, version, citation)


def _describe_dataset(name: str, dataset: Dataset, version: Version | None, citation: str) -> Reference | None:
    """Return the reference of a dataset without publication, from the statements of its authors.

    What a dataset that a user added does not state becomes a placeholder.
    """
    fields = {"title": dataset.title}
    if dataset.is_added:
        creators = [re.sub(r"[{}]", "", name) for name in (version.creators if version is not None else ())]
        fields["author"] = " and ".join(f"{{{name}}}" if " and " in name else name for name in creators) or AUTHOR
        fields["year"] = (version.published[:4] if version is not None else "") or YEAR
    else:
        fields["key"] = name
    fields |= {"howpublished": dataset.sources[0]} if dataset.sources and dataset.is_added else {}
    fields |= {"note": citation} if citation else {}
    return Reference(re.sub(r"[^a-z0-9]", "", name.lower()) or "dataset", fields)


def _find_system_reference(run: str) -> Reference | None:
    """Return the reference of the system that a run is named after; None if there is no such system."""
    try:
        name = parse_system(run.rpartition("/")[2]).name
    except KaratError:
        return None
    if name.endswith(".py") or not has_plugin("systems", name):
        return None
    citation = get_plugin("systems", name, System).citation
    return _parse_citation(citation) or (Reference(name, {"key": name, "title": citation}) if citation else None)


def _parse_citation(citation: str) -> Reference | None:
    """Return the reference in a citation `Authors YEAR: Title. Venue.`; None if it has another form."""
    match = _CITATION.fullmatch(citation)
    if match is None:
        return None
    author = re.sub(r"[^a-z]", "", match["authors"].split()[0].lower()) or "source"
    return Reference(
        f"{author}{match['year']}",
        {
            "author": re.sub(r" et al\.?$", " and others", match["authors"]).replace(", ", " and "),
            "title": match["title"],
            "howpublished": match["venue"],
            "year": match["year"],
        },
    )


def _make_key(stem: str, taken: Iterable[str]) -> str:
    """Return a BibTeX key such as `hoffart2012`, with a letter behind it if the key is taken."""
    return next(key for key in (stem, *(f"{stem}{letter}" for letter in "bcdefghijklmnopq")) if key not in taken)


def _escape_field(name: str, text: str) -> str:
    """Return the text of a BibTeX field, escaped for LaTeX; braces, which BibTeX counts, only group authors."""
    if name == "author":
        return escape_latex(text).replace(r"\{", "{").replace(r"\}", "}")
    plain = escape_latex(text.replace("{", "(").replace("}", ")"))
    return f"{{{plain}}}" if name == "title" else plain
