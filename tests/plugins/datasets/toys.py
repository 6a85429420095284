"""Small benchmarks for tests: their files, and splits made of them."""

from __future__ import annotations

import hashlib

from karat.data.catalogue import ChosenSplit
from karat.model.spec.dataset import Counts, Dataset, DatasetName, File, Folder, Split, Version

GOLD = b'{"id":"a","text":"Ada met Bob.","labels":[{"start":0,"end":3,"entity":"Q1"}]}\n'


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def listing(files):
    """The digest of a folder, written out as its definition says."""
    return sha256("".join(f"{sha256(data)}  {name}\n" for name, data in sorted(files.items())).encode())


def file(path="toy/gold.jsonl", data=GOLD, **more):
    return File(path, sha256=sha256(data), size=len(data), **more)


def folder(path, files, **more):
    return Folder(
        path, n_files=len(files), sha256=listing(files), size=sum(len(data) for data in files.values()), **more
    )


def toy(*files, **more):
    """A benchmark `toy@v1` of one split."""
    split = Split(format="karat-jsonl", files=files or (file(),), counts=Counts(documents=1, labels=1), **more)
    version = Version(description="One.", splits={"all": split}, obtain="Ask Ada for it.")
    return ChosenSplit(DatasetName("toy", "v1"), dataset(version), version, split)


def dataset(version):
    return Dataset(
        title="Toy",
        description="A toy.",
        tasks=("a2kb",),
        language="en",
        domain="news",
        document_type="sentences",
        licence="CC0-1.0",
        citation="Nobody.",
        kb="wikidata",
        sources=("https://example.org/",),
        versions={"v1": version},
    )
