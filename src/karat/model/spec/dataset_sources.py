"""Files of datasets in the repositories of ELEVANT and BAT."""

from __future__ import annotations

from typing import Final

from karat.model.spec.dataset import Counts, File, Folder, Repair, Split, github_url

_ELEVANT_COMMIT: Final = "b9d07cf8ced11ee404f4bb7ec28307ef645c7363"
_BAT_DATASETS: Final = "src/main/resources/datasets"
_BAT_COMMIT: Final = "bb6dab4fbea0cc68a1b956a715a2b7f178897d36"
_BAT_ARCHIVE: Final = f"https://github.com/marcocor/bat-framework/archive/{_BAT_COMMIT}.zip"


def elevant_split(
    name: str,
    sha256: str | None = None,
    *,
    documents: int,
    labels: int | None = None,
    size: int | None = None,
    commit: str = _ELEVANT_COMMIT,
    repairs: tuple[Repair, ...] = (),
    unverified_reason: str = "",
) -> Split:
    """Return the split in the file `NAME.benchmark.jsonl` of ELEVANT, with its checksum, bytes and expected sizes.

    `commit`: commit of ELEVANT's repository. The other parameters are fields of `Split`.
    """
    file = f"benchmarks/{name}.benchmark.jsonl"
    return Split(
        format="elevant",
        files=(File(f"elevant/{file}", sha256, size, github_url("ad-freiburg/elevant", commit, file)),),
        counts=Counts(documents, labels),
        repairs=repairs,
        unverified_reason=unverified_reason,
    )


def bat_file(path: str, sha256: str, *, size: int, commit: str = _BAT_COMMIT) -> File:
    """Return a file of BAT's datasets by its path, with its checksum and bytes, at a commit of BAT's repository."""
    return File(f"bat/{path}", sha256, size, github_url("marcocor/bat-framework", commit, f"{_BAT_DATASETS}/{path}"))


def bat_member(path: str, sha256: str, *, size: int) -> File:
    """Return a file of BAT's datasets like `bat_file`, from the archive that `bat_folder` downloads too."""
    return File(f"bat/{path}", sha256, size, _BAT_ARCHIVE, f"{_BAT_DATASETS}/{path}")


def bat_folder(path: str, sha256: str, *, n_files: int, size: int) -> Folder:
    """Return a folder of BAT's datasets by its path, with its checksum, number of files and bytes."""
    return Folder(f"bat/{path}", n_files, sha256, size, _BAT_ARCHIVE, f"{_BAT_DATASETS}/{path}")
