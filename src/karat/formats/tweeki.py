"""TWEEKI's own CoNLL: number, token, type tag and link of each token; a blank line between tweets.

A tweet begins with `# tweet_id N`; other comments are kept in `meta`, but for the `# ...` that stands in all of them.
The text is the tokens joined by blanks. The entity is the Wikidata id of the link `label|QID`, the label its `name`;
a marked name with `-` for its link is a span without link, and the type is that of the tag. A tag I- behind another
link begins a mention, and a token that has a link though its tag is O is one. The JSONL has only mentions with links,
and other ids for the same tweets (N + 999).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.errors import InputError
from karat.model.corpus import Corpus
from karat.model.defects import sound
from karat.model.document import Document, Label
from karat.parsing import tweeki
from karat.parsing.distinct import distinct_id
from karat.parsing.lines import Line, columns, lines
from karat.parsing.tokens.text import laid_sentences
from karat.spec.format import Bytes, Format, Sample

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?# tweet_id \S+\r?\n(?:# [^\n]*\n)*\d+\t[^\t\n]*\t(?:O|[A-Z]-[A-Z]+)\t")
_LINKED_OUTSIDE = "links on tokens tagged O (read as mentions)"
_BROKEN = "tags I- that continue no mention (read as the beginning of one)"


class _Token(NamedTuple):
    """A token with its tag, split into prefix and type, and its link."""

    text: str
    prefix: str
    type: str
    link: str


class _Tweet(NamedTuple):
    """A tweet as it stands in the file: its first line, comments and tokens, and what is wrong with some."""

    line: int
    comments: list[str]
    tokens: list[_Token]
    defects: list[InputError]


def read_corpus(source: Bytes, text: bool) -> Corpus:
    """Gold documents; the texts are always kept."""
    skipped: Counter[str] = Counter()
    taken: set[str] = set()
    documents, places = [], []
    for tweet, document in sound(_tweets(source), lambda tweet: _document(tweet, source, taken, skipped)):
        documents.append(document)
        places.append(f"{source.label}:{tweet.line}")
    return Corpus.built(documents, name=source.stem, skipped=skipped, where=places.__getitem__)


def _tweets(source: Bytes) -> Iterator[_Tweet]:
    tweet: _Tweet | None = None
    for line in lines(source):
        if not line.text.strip():
            if tweet is not None:
                yield tweet
            tweet = None
            continue
        tweet = tweet or _Tweet(line.number, [], [], [])
        if line.text.startswith("# "):
            tweet.comments.append(line.text[2:])
        else:
            try:
                tweet.tokens.append(_token(line, source))
            except InputError as problem:  # the tweet is refused when all of it was read
                tweet.defects.append(problem)
    if tweet is not None:
        yield tweet


def _token(line: Line, source: Bytes) -> _Token:
    _, token, tag, link = columns(line, source, 4, 5)[:4]
    prefix, _, kind = tag.partition("-")
    if prefix not in ("O", "B", "I", "U"):
        raise InputError(
            f"{source.label}:{line.number}",
            found=f"the tag {tag!r}",
            expected="O, or B-, I- or U- before a type",
            remedy="Correct the line",
        )
    return _Token(token, prefix, kind, link)


def _document(tweet: _Tweet, source: Bytes, taken: set[str], skipped: Counter[str]) -> Document:
    for problem in tweet.defects:
        raise problem
    named = [comment for comment in tweet.comments if comment.startswith("tweet_id")]
    if not named:
        raise InputError(
            f"{source.label}:{tweet.line}",
            found="a tweet without id",
            expected="# tweet_id N above it",
            remedy="Name the tweet",
        )
    name = named[0].removeprefix("tweet_id").lstrip(" =")
    rest = "\n".join(comment for comment in tweet.comments if comment not in (named[0], "..."))
    labels = tuple(_labels(tweet.tokens, skipped))
    text = laid_sentences([[token.text for token in tweet.tokens]]).text
    return Document(distinct_id(name, taken, skipped), text, labels, meta={"comment": rest} if rest else {})


def _labels(tokens: Sequence[_Token], skipped: Counter[str]) -> Iterator[Label]:
    _, starts, ends = laid_sentences([[token.text for token in tokens]])
    first: int | None = None
    for place, token in enumerate(tokens):
        goes_on = first is not None and token.prefix == "I" and token.link == tokens[first].link
        if first is not None and not goes_on:
            yield _label(tokens[first], starts[first], ends[place - 1], skipped)
            first = None
        if goes_on or (token.prefix == "O" and token.link == tweeki.NONE):
            continue
        skipped[_LINKED_OUTSIDE] += token.prefix == "O"
        skipped[_BROKEN] += token.prefix == "I"
        first = place
    if first is not None:
        yield _label(tokens[first], starts[first], ends[-1], skipped)


def _label(token: _Token, start: int, end: int, skipped: Counter[str]) -> Label:
    return tweeki.label(start, end, token.link, (token.type,) if token.type else (), skipped)


FORMAT = Format(
    title="TWEEKI CoNLL",
    suffix=".tweeki.conll",
    recognises=lambda opening: _OPENING.match(opening) is not None,
    holds_gold=lambda source: True,
    read_corpus=read_corpus,
    says="Tweets with types and links to Wikidata.",
    sample=Sample(
        {
            "sample.conll": "# tweet_id 1\n1\tAda\tB-PER\tAda_Lovelace|Q7259\n2\tmet\tO\t-\n\n",
        },
        documents=1,
        mentions=1,
        given="sample.conll",
    ),
)
