"""Corpora and runs made of what other libraries have in memory: datasets of Hugging Face, spaCy's `Doc`, dictionaries.

None of these libraries is imported: an object is known by what it has. Answers without an id of their document are
laid on the document of the corpus that has their text, or that stands at their place where they are one list each.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from karat.errors import InputError, UsageError
from karat.formats.hf_datasets import corpus_of, run_of
from karat.formats.spacy_docbin import read_doc
from karat.model.corpus import Corpus
from karat.model.document import UNLINKED, Answer, Document, EntityId, Reply
from karat.model.run import Run
from karat.model.tables.arrow import Arrow
from karat.model.tables.rows import valid
from karat.parsing.answering import as_answers
from karat.parsing.merging import merged

Foreign: TypeAlias = Any
"""An object of another library, whose types are not known here."""

_NAMES: Final = {
    "document": ("document", "doc", "doc_id", "id"),
    "start": ("start", "start_char", "begin"),
    "end": ("end", "end_char"),
    "entity": ("entity", "kb_id", "kb_id_", "entity_id", "qid"),
    "score": ("score",),
    "types": ("entity_group", "types", "type", "label"),
    "surface": ("word", "text", "surface", "mention"),
}
"""What dictionaries call the parts of an answer, in the order in which they are looked for."""

_OTHER = "answers with fields that are not read"
_DIFFERS = "answers whose own text is not what stands at their place"
_TAG = re.compile(r"[BIESLU]-.+|O|LABEL_\d+")
_LOOSE = re.compile(r"\s+|##")


def corpus_from(given: Foreign) -> Corpus:
    """The gold standard that a dataset of Hugging Face or several `Doc` objects hold."""
    if _is_dataset(given):
        return corpus_of(_table(given), _name(given, "dataset"), "dataset")
    docs = _listed(given)
    if not docs or not all(map(_is_doc, docs)):
        raise _unreadable(given, "a name or a path, a Dataset of Hugging Face, or a list of spaCy's Doc")
    skipped: Counter[str] = Counter()
    documents = []
    for place, doc in enumerate(docs, 1):
        name, labels, meta = read_doc(doc, skipped)
        skipped["documents without an id (numbered)"] += name is None
        documents.append(Document(name or str(place), doc.text, merged(labels, skipped), meta=meta))
    return Corpus.built(documents, name="docs", skipped=skipped)


def run_from(given: Foreign, corpus: Corpus | None, system: str | None) -> Run:
    """The answers that a dataset of Hugging Face, several `Doc` objects or dictionaries hold."""
    if _is_dataset(given):
        return run_of(_table(given), system or _name(given, "dataset"), "dataset")
    items = [*given.items()] if isinstance(given, Mapping) else _listed(given)
    skipped: Counter[str] = Counter()
    if items and all(_is_doc(_doc(item)) for item in items):
        found = _of_docs(items, corpus, skipped)
    elif isinstance(given, Mapping):
        found = [_Said(str(name), _answers(own, f"document {name!r}", skipped)) for name, own in items]
    elif items and all(isinstance(item, Mapping) for item in items):
        found = list(_of_dictionaries(items, corpus, skipped))
    elif items and all(isinstance(item, list | tuple) for item in items):
        found = _in_order(items, corpus, skipped)
    else:
        raise _unreadable(given, "a name or a path, a Dataset, spaCy's Doc objects, or dictionaries")
    if corpus is not None and corpus.has_text:
        _compare(found, corpus, skipped)
    replies = [valid(Reply(each.document, tuple(own.answer for own in each.answers))) for each in found]
    texts = [each.text for each in found]
    return Run.built(replies, name=system or "run", skipped=skipped, texts=texts)


class _Surfaced(NamedTuple):
    """An answer, and the text that it says to stand at its place, if it says so."""

    answer: Answer
    surface: str | None = None


class _Said(NamedTuple):
    """All answers to a document, and its text where they carry it."""

    document: str
    answers: list[_Surfaced]
    text: str | None = None


# --- Hugging Face datasets


def _is_dataset(given: Foreign) -> bool:
    if not (hasattr(given, "with_format") and hasattr(given, "cast_column")):
        return False
    if isinstance(given, Mapping) or not hasattr(given, "__len__"):
        splits = ", ".join(map(repr, given)) if isinstance(given, Mapping) else "none at hand"
        raise UsageError(
            f"found {type(given).__name__}: several datasets, or one that is read as it goes (splits: {splits}). "
            "Give a Dataset: one split, in memory or on disk."
        )
    return True


def _table(given: Foreign) -> Arrow:
    """All rows in their order, with what the library notes about the columns."""
    table = given.with_format("arrow")[:]
    noted = given.features.arrow_schema.metadata or {}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **noted})


def _name(given: Foreign, otherwise: str) -> str:
    info = getattr(given, "info", None)
    return str(getattr(info, "dataset_name", None) or getattr(info, "builder_name", None) or otherwise)


# --- spaCy


def _is_doc(given: Foreign) -> bool:
    return all(hasattr(given, name) for name in ("ents", "spans", "user_data", "text"))


def _doc(item: Foreign) -> Foreign:
    """The `Doc` of an item, which may have its id beside it, as `nlp.pipe(…, as_tuples=True)` gives them."""
    return item[0] if isinstance(item, tuple) and len(item) == 2 else item


def _of_docs(items: Sequence[Foreign], corpus: Corpus | None, skipped: Counter[str]) -> list[_Said]:
    by_text = _by_text(corpus)
    found = []
    for place, item in enumerate(items, 1):
        doc = _doc(item)
        name, labels, _ = read_doc(doc, skipped)
        if doc is not item:
            name = _id_beside(item[1])
        if name is None:
            name = _name_of_text(doc.text, by_text, place, corpus, skipped)
        found.append(_Said(name, [_Surfaced(answer) for answer in as_answers(labels)], doc.text))
    return found


def _id_beside(context: Foreign) -> str:
    if isinstance(context, Mapping):
        context = next((context[key] for key in _NAMES["document"] if key in context), None)
    if not isinstance(context, str | int):
        raise InputError(
            "a Doc with something beside it",
            found=f"{type(context).__name__} there",
            expected="the id of the document, or a dictionary with `id`",
            remedy="Give nlp.pipe pairs of text and id, with as_tuples=True",
        )
    return str(context)


def _by_text(corpus: Corpus | None) -> dict[str, list[str]]:
    """The documents of a corpus that have a text, the last first."""
    found: dict[str, list[str]] = defaultdict(list)
    if corpus is not None and corpus.has_text:
        for id, text in zip(reversed(corpus.ids.to_pylist()), reversed(corpus.texts), strict=True):
            found[text].append(id)
    return found


def _name_of_text(
    text: str, by_text: Mapping[str, list[str]], place: int, corpus: Corpus | None, skipped: Counter[str]
) -> str:
    if corpus is None:
        skipped["documents without an id (numbered)"] += 1
        return str(place)
    if not by_text.get(text):
        raise InputError(
            f"Doc {place}",
            found=f"no id in user_data, and a text that no further document of {corpus.name} has ({text[:40]!r})",
            expected="the texts of the corpus, or an id",
            remedy='Set doc.user_data["id"], or give nlp.pipe the texts of the corpus',
        )
    skipped["documents without an id (told by their text)"] += 1
    return by_text[text].pop()


# --- dictionaries


def _of_dictionaries(items: Sequence[Foreign], corpus: Corpus | None, skipped: Counter[str]) -> Iterator[_Said]:
    """Either a dictionary for each document, with `answers`, or one for each answer, with its document."""
    if all("answers" in item for item in items):
        for place, item in enumerate(items, 1):
            name = _document(item, f"dictionary {place}", None)
            known = {"answers", "text", *_NAMES["document"]}
            skipped["fields of replies that are not read"] += len(set(item) - known)
            text = item.get("text")
            yield _Said(name, _answers(item["answers"], f"document {name!r}", skipped), text)
        return
    by_document: dict[str, list[_Surfaced]] = {}
    for place, item in enumerate(items, 1):
        where = f"dictionary {place}"
        by_document.setdefault(_document(item, where, corpus), []).append(_answer(item, where, skipped, flat=True))
    yield from (_Said(name, answers) for name, answers in by_document.items())


def _document(item: Mapping[str, Foreign], where: str, corpus: Corpus | None) -> str:
    name = _first(item, "document")
    if name is None and corpus is not None and len(corpus) == 1:
        return str(corpus.ids[0].as_py())
    if not isinstance(name, str | int):
        raise InputError(
            where,
            found=f"the fields {', '.join(map(str, item))}",
            expected=f"the id of its document, as one of {', '.join(_NAMES['document'])}",
            remedy="Add the id, or give one list of dictionaries for each document of the corpus, in its order",
        )
    return str(name)


def _in_order(items: Sequence[Foreign], corpus: Corpus | None, skipped: Counter[str]) -> list[_Said]:
    """A list of answers for each document of the corpus, as pipelines give them for a list of texts."""
    if corpus is None or len(corpus) != len(items):
        there = "no corpus is given" if corpus is None else f"{corpus.name} has {len(corpus)} documents"
        raise UsageError(
            f"{len(items)} lists of answers, and {there}. Give one list for each document, in the order of the corpus, "
            "with corpus=…; or a dictionary of lists by the ids of documents."
        )
    ids = corpus.ids.to_pylist()
    return [_Said(id, _answers(own, f"document {id!r}", skipped)) for id, own in zip(ids, items, strict=True)]


def _answers(given: Foreign, where: str, skipped: Counter[str]) -> list[_Surfaced]:
    if not isinstance(given, list | tuple):
        raise InputError(
            where, found=type(given).__name__, expected="a list of dictionaries", remedy="Give one for each answer"
        )
    return [_answer(item, f"{where}, answer {place}", skipped) for place, item in enumerate(given, 1)]


def _answer(item: Foreign, where: str, skipped: Counter[str], *, flat: bool = False) -> _Surfaced:
    """An answer as Karat's own files, spaCy's `Span` attributes or pipelines of Hugging Face call its parts."""
    if not isinstance(item, Mapping):
        raise InputError(where, found=type(item).__name__, expected="a dictionary", remedy="Give start, end and entity")
    start, end = _first(item, "start"), _first(item, "end")
    if start is None or end is None:
        raise InputError(
            where,
            found=f"the fields {', '.join(map(str, item))}",
            expected="`start` and `end`, offsets in code points",
            remedy="Add them: texts alone may stand in a document more than once",
        )
    known = {name for part, names in _NAMES.items() if flat or part != "document" for name in names}
    own = {"same_as", "categories", "candidates", "nil_cluster"}
    skipped[_OTHER] += bool(set(item) - known - own - {"index"})
    surface = _first(item, "surface")
    answer = {
        "start": start,
        "end": end,
        "types": _types(item),
        **{name: item[name] for name in own if item.get(name) is not None},
        **({} if (score := _first(item, "score")) is None else {"score": float(score)}),
    }
    entity = _entity(item, where)
    if entity is not UNLINKED:
        answer["entity"] = entity
    return _Surfaced(_made(answer, where), surface if isinstance(surface, str) else None)


def _made(answer: dict[str, Any], where: str) -> Answer:
    try:
        plain = msgspec.to_builtins(answer, enc_hook=lambda number: number.item())
        return msgspec.convert(plain, Answer)
    except (msgspec.ValidationError, AttributeError, TypeError, OverflowError) as problem:
        raise InputError(
            where,
            found=f"a field of the wrong kind ({problem})",
            expected="the types that help(karat.Answer) shows",
            remedy="Correct the value",
        ) from None


def _entity(item: Mapping[str, Foreign], where: str) -> EntityId:
    """The link, None for NIL; what a tagger calls `entity` is a tag, and no link."""
    name = next((name for name in _NAMES["entity"] if name in item), None)
    if name is None:
        return UNLINKED
    value = item[name]
    if name == "entity" and "index" in item and isinstance(value, str) and _TAG.fullmatch(value):
        raise InputError(
            where,
            found=f"the tag {value!r} of a single token",
            expected="mentions",
            remedy='Ask the pipeline for them: aggregation_strategy="simple"',
        )
    if value is None or value == "NIL":
        return None
    return UNLINKED if value == "" else value if isinstance(value, str) else str(value)


def _types(item: Mapping[str, Foreign]) -> tuple[str, ...]:
    found = _first(item, "types")
    return () if found is None else (found,) if isinstance(found, str) else tuple(map(str, found))


def _first(item: Mapping[str, Foreign], part: str) -> Foreign:
    return next((item[name] for name in _NAMES[part] if item.get(name) is not None), None)


# --- both


def _compare(found: Iterable[_Said], corpus: Corpus, skipped: Counter[str]) -> None:
    """Count answers whose own text is another than that at their place; pipelines write it without case or blanks."""
    texts = dict(zip(corpus.ids.to_pylist(), corpus.texts, strict=True))
    for each in found:
        text = texts.get(each.document)
        for answer, surface in each.answers:
            if surface is not None and text is not None:
                skipped[_DIFFERS] += _loose(surface) != _loose(text[answer.start : answer.end])


def _loose(text: str) -> str:
    return _LOOSE.sub("", text).casefold()


def _listed(given: Foreign) -> list[Foreign]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        return []
    return list(given)


def _unreadable(given: Foreign, expected: str) -> UsageError:
    inside = ""
    if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping):
        inside = " that is empty, or of something else"
    return UsageError(f"found {type(given).__name__}{inside}. Give {expected}.")
