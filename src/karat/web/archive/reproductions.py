"""The reproductions of papers in an archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from karat.model.output.json_files import build_record
from karat.render.charts.plot_svg import draw_plot
from karat.render.reproduction import ExhibitRecord, ReproductionFile
from karat.storage.content_store import ContentStore
from karat.web.archive.archive import Archive, read_stored_file
from karat.web.archive.shape import PaperExhibit, PaperPicture, PaperReproduction, PapersResource

KIND: Final = "reproductions"


def store_reproduction(files: ContentStore, reproduction: ReproductionFile) -> str:
    """Store the reproduction of a paper and return its content hash."""
    return files.put(KIND, msgspec.json.encode(reproduction))


def list_reproductions(archive: Archive) -> Sequence[str]:
    """Return the content hashes of reproductions; none if the archive is restricted to one submission."""
    return archive.files.list_digests(KIND) if archive.submission is None else ()


def build_papers(archive: Archive) -> PapersResource:
    """Build the reproductions of all papers; the last one of each paper counts."""
    reproductions = [
        read_stored_file(archive, KIND, digest, ReproductionFile) for digest in list_reproductions(archive)
    ]
    latest = {reproduction.suite: reproduction for reproduction in reproductions}
    return PapersResource(
        [
            build_record(
                PaperReproduction, reproduction, exhibits=[_build_exhibit(exhibit) for exhibit in reproduction.exhibits]
            )
            for _, reproduction in sorted(latest.items())
        ]
    )


def _build_exhibit(exhibit: ExhibitRecord) -> PaperExhibit:
    """Return an exhibit with its plots drawn."""
    return build_record(
        PaperExhibit, exhibit, pictures=[PaperPicture(plot.title, draw_plot(plot)) for plot in exhibit.plots]
    )
