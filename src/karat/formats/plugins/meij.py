"""Meij's tweets (WSDM 2012): a folder with tweets and the entities they are about.

`original_tweets.list` has id, user, status, date and text; `wsdm2012_annotations.txt` has tweet, page id and title. The
gold standard consists of tags, since no mention is marked. The entity is the title, since no system predicts page ids;
the page id is in `meta`. A negative page id means that a tweet is about no entity: such a tweet has no tags, and `meta`
has the number. The other two files of the folder repeat the annotations (`wsdm2012_qrels.txt`) or only give checksums,
and are not read.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from karat.formats.parsing.lines import Line, parse_lines, split_columns
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import skip_or_raise
from karat.model.document import Document, Tag
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample

_TWEETS_FILE = "original_tweets.list"
_ANNOTATIONS_FILE = "wsdm2012_annotations.txt"


class _Page(NamedTuple):
    """A page that a tweet is about; a negative id means that the tweet is about no entity."""

    id: str
    title: str


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the tweets with gold tags, in their order, always with texts (`text` is ignored).

    The error policy decides whether an annotation of an unknown tweet raises `InputError`, or is skipped and counted in
    `Defects`.
    """
    tweets = source.get_child(_TWEETS_FILE)
    skipped = SkipCounter()
    pages = _read_pages(source.get_child(_ANNOTATIONS_FILE))
    documents, numbers = [], []

    def parse_tweet(line: Line) -> tuple[Document, int] | None:
        if not line.text.strip():
            return None
        split_columns(line, tweets, 5)
        tweet_id, user, status, date, content = line.text.split("\t", 4)
        meta = {"user": user, "status": status, "date": date}
        return _to_document(tweet_id, content, meta, pages.get(tweet_id, []), skipped), line.number

    for document, number in parse_lines(tweets, parse_tweet):
        documents.append(document)
        numbers.append(number)
    for unknown in sorted(pages.keys() - {document.id for document in documents}):
        problem = InputError(
            source.get_child(_ANNOTATIONS_FILE).label,
            actual=f"tweet {unknown!r}",
            expected=f"tweets of {_TWEETS_FILE}",
            remedy="Check that both files belong to the same dataset",
        )
        skip_or_raise(problem)
    return Corpus.from_reader(
        documents, name=source.stem, skipped=skipped, locate_row=lambda row: f"{tweets.label}:{numbers[row]}"
    )


def _read_pages(source: ByteSource) -> dict[str, list[_Page]]:
    """Read the annotated pages by tweet id.

    The error policy decides whether an invalid line raises `InputError`, or is skipped and counted in `Defects`.
    """
    pages: dict[str, list[_Page]] = {}
    for tweet_id, page, title in parse_lines(
        source, lambda line: split_columns(line, source, 3, 3) if line.text.strip() else None
    ):
        pages.setdefault(tweet_id, []).append(_Page(page, title))
    return pages


def _to_document(tweet_id: str, text: str, meta: dict[str, str], pages: list[_Page], skipped: Counter[str]) -> Document:
    """Build the document of a tweet with a tag for each title; page ids go to `meta`.

    Duplicate tags and rows without entity are dropped and counted in `skipped`. A page without title gets its id as
    entity, and is counted.
    """
    tags: dict[str, Tag] = {}
    for page in pages:
        if page.id.startswith("-"):
            skipped["rows for tweets without an entity"] += 1
            meta = {**meta, "no entity": page.id}
            continue
        title = page.title.strip()
        skipped["pages without title (linked to their page id)"] += not title
        entity = title or page.id
        skipped["duplicate tags (dropped)"] += entity in tags
        tags[entity] = Tag(entity)
        meta = {**meta, f"page id of {entity}": page.id}
    return Document(tweet_id, text, tags=tuple(tags.values()), meta=meta)


FORMAT = Format(
    title="Meij tweets (WSDM 2012)",
    suffix=".list",
    recognises=lambda head: False,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    recognises_folder=lambda names: _TWEETS_FILE in names and _ANNOTATIONS_FILE in names,
    description="A folder with original_tweets.list and wsdm2012_annotations.txt; the gold standard consists of tags.",
    sample=Sample(
        {
            "wsdm2012_annotations.txt": "1\t974\tAda_Lovelace\n",
            "original_tweets.list": "1\ta\tb\tc\tada met\n",
        },
        documents=1,
        mentions=0,
    ),
)
