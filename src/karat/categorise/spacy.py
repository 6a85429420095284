"""Words tagged by a spaCy pipeline, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from karat.categorise.pos import Token
from karat.errors import UsageError

_LONGEST = 50_000
_NEEDED = ("tagger", "attribute_ruler")
_UNUSED = ["ner", "lemmatizer", "entity_linker", "entity_ruler", "textcat", "senter"]


class SpacyTagger:
    """A spaCy pipeline by its name or path; English ones have the tags that are asked for."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._pipeline = _loaded(model)

    @property
    def name(self) -> str:
        """The pipeline with its version."""
        meta = self._pipeline.meta
        return f"spacy:{meta['lang']}_{meta['name']}@{meta['version']}"

    def tokens(self, texts: Sequence[str]) -> Iterator[list[Token]]:
        """The words of each text. A long text is tagged piece by piece, because memory grows with its length."""
        pieces = [(number, start, piece) for number, text in enumerate(texts) for start, piece in _pieces(text)]
        tagged = self._pipeline.pipe([piece for _, _, piece in pieces])
        for _, group in groupby(zip(pieces, tagged, strict=True), key=lambda item: item[0][0]):
            found: list[Token] = []
            for (_, start, _), doc in group:
                first = len(found)
                for token in doc:
                    begin = start + token.idx
                    found.append(Token(begin, begin + len(token), token.tag_, first + token.head.i))
            yield found


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    while len(text) - start > _LONGEST:
        end = max(text.rfind(mark, start, start + _LONGEST) for mark in ("\n", ". ", " "))
        end = end + 1 if end > start else start + _LONGEST
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _loaded(model: str) -> Any:  # noqa: ANN401 -- spaCy has no types here
    try:
        import spacy
    except ImportError:
        raise UsageError(
            "--tagger spacy needs spaCy. Run `pip install 'karat[spacy]'`, or take --tagger rules."
        ) from None
    try:
        pipeline = spacy.load(model, exclude=_UNUSED)
    except (OSError, ValueError) as problem:
        said = str(problem).split("\n")[0].rstrip(".")
        raise UsageError(f"--tagger spacy:{model}: {said}. Run `python -m spacy download {model}`.") from None
    missing = [name for name in _NEEDED if name not in pipeline.pipe_names]
    if missing:
        raise UsageError(
            f"--tagger spacy:{model} has no {' and no '.join(missing)}. Take one that tags, such as en_core_web_md."
        )
    return pipeline
