"""A tagger based on a spaCy pipeline, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from karat.data.categoriser.pos import Token
from karat.model.errors import UsageError

_MAX_LENGTH = 50_000
_REQUIRED_PIPES = ("tagger", "attribute_ruler")
_EXCLUDED_PIPES = ["ner", "lemmatizer", "entity_linker", "entity_ruler", "textcat", "senter"]


class SpacyTagger:
    """A tagger that runs a spaCy pipeline, named by package or path; English pipelines have the required tags."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._pipeline = _load_pipeline(model)

    @property
    def name(self) -> str:
        """The name of the pipeline with its version."""
        meta = self._pipeline.meta
        return f"spacy:{meta['lang']}_{meta['name']}@{meta['version']}"

    def tag_texts(self, texts: Sequence[str]) -> Iterator[list[Token]]:
        """Yield for each text the list of its words with tags and heads.

        Long texts are tagged in parts to limit memory.
        """
        pieces = [(number, start, piece) for number, text in enumerate(texts) for start, piece in _split_text(text)]
        tagged = self._pipeline.pipe([piece for _, _, piece in pieces])
        for _, group in groupby(zip(pieces, tagged, strict=True), key=lambda item: item[0][0]):
            tokens: list[Token] = []
            for (_, start, _), doc in group:
                first = len(tokens)
                for token in doc:
                    begin = start + token.idx
                    tokens.append(Token(begin, begin + len(token), token.tag_, first + token.head.i))
            yield tokens


def _split_text(text: str) -> Iterator[tuple[int, str]]:
    """Yield parts of at most `_MAX_LENGTH` characters with their offsets, split at spaces or lines if possible."""
    start = 0
    while len(text) - start > _MAX_LENGTH:
        end = max(text.rfind(mark, start, start + _MAX_LENGTH) for mark in ("\n", ". ", " "))
        end = end + 1 if end > start else start + _MAX_LENGTH
        yield start, text[start:end]
        start = end
    yield start, text[start:]


def _load_pipeline(model: str) -> Any:  # noqa: ANN401 -- spaCy has no types here
    """Load a spaCy pipeline; raise `UsageError` if spaCy or the model is missing, or the pipeline has no tagger."""
    try:
        import spacy
    except ImportError:
        raise UsageError(
            "--tagger spacy needs spaCy. Run `pip install 'karat[spacy]'`, or use --tagger rules."
        ) from None
    try:
        pipeline = spacy.load(model, exclude=_EXCLUDED_PIPES)
    except (OSError, ValueError) as problem:
        message = str(problem).split("\n")[0].rstrip(".")
        raise UsageError(f"--tagger spacy:{model}: {message}. Run `python -m spacy download {model}`.") from None
    missing = [name for name in _REQUIRED_PIPES if name not in pipeline.pipe_names]
    if missing:
        raise UsageError(
            f"--tagger spacy:{model} has no {' and no '.join(missing)}. "
            "Use a pipeline with a tagger, such as en_core_web_md."
        )
    return pipeline
