"""Meij's tweets (WSDM 2012): a folder with the tweets and the entities each is about.

`original_tweets.list` has id, user, status, date and text; `wsdm2012_annotations.txt` has tweet, page id and title. The
gold standard is a set of tags, since no mention is marked; the title of a page is kept in `meta`. A negative page id
says that a tweet is about no entity: such a tweet has no tags, and `meta` keeps the number. The other two files of the
folder say the same again (`wsdm2012_qrels.txt`) or only give checksums, and are not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import pass_over
from karat.model.document import Document, Tag
from karat.parsing.lines import Line, columns, each_line
from karat.spec.format import Bytes, Format, Sample

_TWEETS = "original_tweets.list"
_ANNOTATIONS = "wsdm2012_annotations.txt"


class _Page(NamedTuple):
    """A page that a tweet is about, or a negative id where it is about none."""

    id: str
    title: str


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold tags for all tweets, in the order of the tweets; the texts are always kept."""
    tweets = source.inside(_TWEETS)
    skipped: Counter[str] = Counter()
    pages = _pages(source.inside(_ANNOTATIONS))
    documents, numbers = [], []

    def read(line: Line) -> tuple[Document, int] | None:
        if not line.text.strip():
            return None
        columns(line, tweets, 5)
        name, user, status, date, content = line.text.split("\t", 4)
        meta = {"user": user, "status": status, "date": date}
        return _document(name, content, meta, pages.get(name, []), skipped), line.number

    for document, number in each_line(tweets, read):
        documents.append(document)
        numbers.append(number)
    for unknown in sorted(pages.keys() - {document.id for document in documents}):
        problem = InputError(
            source.inside(_ANNOTATIONS).label,
            found=f"tweet {unknown!r}",
            expected=f"tweets of {_TWEETS}",
            remedy="Check that both files are of the same benchmark",
        )
        pass_over(problem)
    return Corpus.built(
        documents, name=source.stem, skipped=skipped, where=lambda row: f"{tweets.label}:{numbers[row]}"
    )


def _pages(source: Bytes) -> dict[str, list[_Page]]:
    found: dict[str, list[_Page]] = {}
    for name, page, title in each_line(source, lambda line: columns(line, source, 3, 3) if line.text.strip() else None):
        found.setdefault(name, []).append(_Page(page, title))
    return found


def _document(name: str, text: str, meta: dict[str, str], pages: list[_Page], skipped: Counter[str]) -> Document:
    tags: dict[str, Tag] = {}
    for page in pages:
        if page.id.startswith("-"):
            skipped["rows that say that a tweet has no entity"] += 1
            meta = {**meta, "no entity": page.id}
            continue
        skipped["tags given twice (one kept)"] += page.id in tags
        tags[page.id] = Tag(page.id)
        meta = {**meta, f"title of {page.id}": page.title}
    return Document(name, text, tags=tuple(tags.values()), meta=meta)


def _recognises_folder(names: Sequence[str]) -> bool:
    return _TWEETS in names and _ANNOTATIONS in names


FORMAT = Format(
    title="Meij tweets (WSDM 2012)",
    suffix=".list",
    recognises=lambda head: False,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=_recognises_folder,
    says="A folder with original_tweets.list and wsdm2012_annotations.txt; the gold standard is made of tags.",
    sample=Sample(
        {
            "wsdm2012_annotations.txt": "1\t974\tAda_Lovelace\n",
            "original_tweets.list": "1\ta\tb\tc\tada met\n",
        },
        documents=1,
        mentions=0,
    ),
)
