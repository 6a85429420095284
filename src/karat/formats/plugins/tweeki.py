"""TWEEKI's own CoNLL: number, token, type tag and link of each token; an empty line between tweets.

A tweet begins with `# tweet_id N`; other comments are in `meta`, except for the `# ...` that all tweets have. The text
is the tokens joined by spaces. The entity is the Wikidata id of the link `label|QID`, and the label is its `name`. A
name with the link `-` is unlinked, and the type is that of the tag. A tag I- after another link begins a mention, and a
token with a link is a mention even if its tag is O. The JSONL has only linked mentions, and other ids for the same
tweets (N + 999).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from karat.formats.parsing import tweeki
from karat.formats.parsing.duplicates import rename_duplicate_id
from karat.formats.parsing.lines import Line, read_lines, split_columns
from karat.formats.parsing.tokens.text import join_sentences
from karat.model.corpus import Corpus
from karat.model.counts.skip_counter import SkipCounter
from karat.model.defects import UniqueIds, map_valid
from karat.model.document import Document, Label
from karat.model.errors import InputError
from karat.model.spec.format import ByteSource, Format, Sample

_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?# tweet_id \S+\r?\n(?:# [^\n]*\n)*\d+\t[^\t\n]*\t(?:O|[A-Z]-[A-Z]+)\t")
_OUTSIDE_LINKS = "links on tokens tagged O (read as mentions)"
_ORPHAN_TAGS = "tags I- that continue no mention (read as the beginning of one)"


class _Token(NamedTuple):
    """A token with prefix and type of its tag, such as `B` and `PER`, and its link."""

    text: str
    prefix: str
    type: str
    link: str


class _Tweet(NamedTuple):
    """A tweet of the file: its first line, comments and tokens, and the errors of invalid lines."""

    line: int
    comments: list[str]
    tokens: list[_Token]
    defects: list[InputError]


def read_corpus(source: ByteSource, text: bool) -> Corpus:
    """Read the gold documents, always with their texts (`text` is ignored)."""
    skipped = SkipCounter()
    ids = UniqueIds()
    documents, locations = [], []
    for tweet, document in map_valid(
        _read_tweets(source),
        lambda tweet: _to_document(tweet, source, ids, skipped),
        lambda tweet: f"{source.label}:{tweet.line}",
    ):
        documents.append(document)
        locations.append(f"{source.label}:{tweet.line}")
    return Corpus.from_reader(documents, name=source.stem, skipped=skipped, locate_row=locations.__getitem__)


def _read_tweets(source: ByteSource) -> Iterator[_Tweet]:
    """Yield the tweets of a file; errors of invalid lines are stored in them."""
    tweet: _Tweet | None = None
    for line in read_lines(source):
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
                tweet.tokens.append(_parse_token(line, source))
            except InputError as problem:  # reported when the whole tweet has been read
                tweet.defects.append(problem)
    if tweet is not None:
        yield tweet


def _parse_token(line: Line, source: ByteSource) -> _Token:
    """Parse the line of a token; raise `InputError` for a wrong number of columns or an unknown tag."""
    _, token, tag, link = split_columns(line, source, 4, 5)[:4]
    prefix, _, mention_type = tag.partition("-")
    if prefix not in ("O", "B", "I", "U"):
        raise InputError(
            f"{source.label}:{line.number}",
            actual=f"the tag {tag!r}",
            expected="O, or B-, I- or U- before a type",
            remedy="Correct the line",
        )
    return _Token(token, prefix, mention_type, link)


def _to_document(tweet: _Tweet, source: ByteSource, ids: UniqueIds, skipped: Counter[str]) -> Document:
    """Build the document of a tweet, or raise its first error; `ids` are the ids so far, to which its own is added.

    Irregular tags and links (see `_to_labels`) and changed ids are counted in `skipped`; the document is kept.
    """
    for problem in tweet.defects:
        raise problem
    id_comments = [comment for comment in tweet.comments if comment.startswith("tweet_id")]
    if not id_comments:
        raise InputError(
            f"{source.label}:{tweet.line}",
            actual="a tweet without id",
            expected="# tweet_id N above it",
            remedy="Add the line",
        )
    tweet_id = id_comments[0].removeprefix("tweet_id").lstrip(" =")
    rest = "\n".join(comment for comment in tweet.comments if comment not in (id_comments[0], "..."))
    labels = tuple(_to_labels(tweet.tokens, skipped))
    text = join_sentences([[token.text for token in tweet.tokens]]).text
    return Document(rename_duplicate_id(tweet_id, ids, skipped), text, labels, meta={"comment": rest} if rest else {})


def _to_labels(tokens: Sequence[_Token], skipped: Counter[str]) -> Iterator[Label]:
    """Yield the labels of a tweet; a mention continues while tags are I- and links equal.

    Links on tokens tagged O, and tags I- that continue no mention, are read as beginning a mention and counted in
    `skipped`.
    """
    _, starts, ends = join_sentences([[token.text for token in tokens]])
    start: int | None = None
    for index, token in enumerate(tokens):
        is_continuation = start is not None and token.prefix == "I" and token.link == tokens[start].link
        if start is not None and not is_continuation:
            yield _to_label(tokens[start], starts[start], ends[index - 1], skipped)
            start = None
        if is_continuation or (token.prefix == "O" and token.link == tweeki.NO_LINK):
            continue
        skipped[_OUTSIDE_LINKS] += token.prefix == "O"
        skipped[_ORPHAN_TAGS] += token.prefix == "I"
        start = index
    if start is not None:
        yield _to_label(tokens[start], starts[start], ends[-1], skipped)


def _to_label(token: _Token, start: int, end: int, skipped: Counter[str]) -> Label:
    """Build the label of a mention from its first token; values that are not read are counted in `skipped`."""
    return tweeki.parse_label(start, end, token.link, (token.type,) if token.type else (), skipped)


FORMAT = Format(
    title="TWEEKI CoNLL",
    suffix=".tweeki.conll",
    recognises=lambda opening: _OPENING.match(opening) is not None,
    has_gold=lambda source: True,
    read_corpus=read_corpus,
    description="Tweets with types and links to Wikidata.",
    sample=Sample.from_text("sample.conll", "# tweet_id 1\n1\tAda\tB-PER\tAda_Lovelace|Q7259\n2\tmet\tO\t-\n\n"),
)
