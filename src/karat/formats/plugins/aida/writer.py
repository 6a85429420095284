"""Writer of the merged file of AIDA-YAGO2, with a token per line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Final

from karat.formats.parsing.tokens.spacing import SpacedToken
from karat.formats.parsing.tokens.text import join_sentences
from karat.formats.parsing.tokens.writing import count_token_losses, select_disjoint_labels, split_sentences
from karat.formats.plugins.aida import conll2003
from karat.model.corpus import Corpus
from karat.model.document import Document, Label
from karat.model.errors import UsageError
from karat.model.run import Run
from karat.model.spec.settings.nil_spellings import AIDA_NIL

STORED_FIELDS: Final = frozenset({"same_as", "types", "meta.split"})
"""Fields that a written file contains."""

_TITLE = "AIDA-YAGO2"
_MAX_IDS = 4  # YAGO, Wikipedia, page id and Freebase
_TYPE = re.compile(r"[A-Z]+")
_NAME_TAG = re.compile(r"[BI]-[A-Z]+")
_SEPARATOR = re.compile(r"[\t\r\n]")


def write_corpus(corpus: Corpus, file: IO[bytes]) -> None:
    """Write tokens with their mentions; raise `UsageError` for ids that the file cannot store."""
    for document in corpus:
        file.write("".join(_format_document(document)).encode())


def _format_document(document: Document) -> Iterator[str]:
    """Yield the lines of a document: its id, and its sentences, with an empty line after each but the last."""
    if re.search(r"[\r\n]", document.id):
        raise _unsupported_error(document, "the id of the document", document.id)
    yield f"-DOCSTART- ({document.id})\n"
    sentences = split_sentences(select_disjoint_labels(document), _TITLE)
    for index, sentence in enumerate(sentences):
        label: Label | None = None
        for token in (token for token in sentence if not token.token.isspace()):
            yield _format_token(token, document, is_continuation=token.label is not None and token.label is label)
            label = token.label
        yield "\n" if index + 1 < len(sentences) else ""


def _format_token(token: SpacedToken, document: Document, *, is_continuation: bool) -> str:
    """Return the line of a token: alone, or with B or I, the text of its mention, the ids and the type."""
    label = token.label
    if label is None:
        return f"{token.token}\n"
    surface = re.sub(r"\s+", " ", document.text[label.start : label.end])
    ids = [_format_entity(label), *(label.same_as if isinstance(label.entity, str) else ())]
    types = [f"I-{label.types[0]}"] if _keeps_type(label) else []
    if len(ids) > _MAX_IDS or any(_SEPARATOR.search(id) or not id for id in ids[1:]) or _SEPARATOR.search(ids[0]):
        raise _unsupported_error(document, f"at most {_MAX_IDS} ids, without tabs and line ends", ", ".join(ids))
    if not types and _NAME_TAG.fullmatch(ids[-1]) and len(ids) > 1:
        raise _unsupported_error(document, "an id that looks like a name tag", ids[-1])
    return "\t".join([token.token, "I" if is_continuation else "B", surface, *ids, *types]) + "\n"


def _format_entity(label: Label) -> str:
    """Return the id of a label as the file has it: empty if it is unlinked."""
    return AIDA_NIL if label.entity is None else label.entity if isinstance(label.entity, str) else ""


def _keeps_type(label: Label) -> bool:
    """Return whether the file can store the types of a label: one, in capitals."""
    return len(label.types) == 1 and _TYPE.fullmatch(label.types[0]) is not None


def _unsupported_error(document: Document, field: str, value: str) -> UsageError:
    """Build the error for a value that the file cannot store."""
    return UsageError(
        f"{_TITLE} cannot store {value!r} (document {document.id!r}): {field}. Change it, or choose another format."
    )


def count_losses(data: Corpus | Run) -> dict[str, int]:
    """Count texts that change, and the labels and ids that the file cannot store."""
    if not isinstance(data, Corpus):
        return {}
    texts = [_rebuild_text(document) for document in data]
    n_texts = sum(document.text != text for document, text in zip(data, texts, strict=True))
    n_splits = sum(document.meta.get("split") != _find_split(document.id) for document in data)
    n_same_as = sum(
        bool(label.same_as) and not isinstance(label.entity, str) for document in data for label in document.labels
    )
    return {
        "text of documents (read back with a space between tokens, so that spans change)": n_texts,
        "meta of documents (the split follows from the id)": n_splits,
        "same_as of labels without an entity": n_same_as,
        **count_token_losses(data, _keeps_type, "one word in capitals"),
    }


def _rebuild_text(document: Document) -> str:
    """Return the text of a document as the reader joins it."""
    sentences = split_sentences(select_disjoint_labels(document), _TITLE)
    return join_sentences(
        [[token.token for token in sentence if not token.token.isspace()] for sentence in sentences]
    ).text


def _find_split(doc_id: str) -> str | None:
    """Return the split that the reader derives from the number at the beginning of an id; None if there is none."""
    match = re.match(r"[0-9]{1,9}(?![0-9])", doc_id)
    number = int(match[0]) if match else 0
    splits = (split for split in conll2003.SPLITS if split.first_document <= number <= split.last_document)
    return next((split.name for split in splits), None)
