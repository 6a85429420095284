"""UIMA CAS files with named entities, as INCEpTION exports and imports them: XMI, and JSON CAS 0.4.0.

Needs the package `dkpro-cassis`, which is imported only here. It converts offsets between UTF-16 units in files and
code points.
"""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from io import BytesIO, StringIO
from typing import Any, Final, NamedTuple

from karat.model.errors import InputError, KaratError, UsageError
from karat.model.json.decoder import JsonError, decode_json

NAMED_ENTITY: Final = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
METADATA: Final = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
DOCUMENT_DATA: Final = "karat.DocumentData"
"""Type of custom fields of a document, which only Karat knows."""
_SEGMENTATION: Final = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type."
_UIMA: Final = "uima."
_LOCK: Final = threading.Lock()  # the filters of warnings are those of all threads
_ERRORS: Final = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, RuntimeError),
    *(SyntaxError, TypeError, ValueError, UserWarning),
)


class CasEntity(NamedTuple):
    """A named entity, with its span in code points; features that it lacks are empty."""

    begin: int
    """Offset of the first code point."""
    end: int
    """Offset behind the last code point."""
    value: str = ""
    """Type of the entity."""
    identifier: str = ""
    """Id of the entity, an IRI."""
    custom: str = ""
    """Custom fields as JSON."""


class CasDocument(NamedTuple):
    """The content of a CAS file."""

    text: str | None
    """Text of the initial view; None if it has none."""
    entities: tuple[CasEntity, ...] = ()
    """Named entities in the order of their ids."""
    title: str = ""
    """Title in the metadata, which is the name of the document."""
    custom: str = ""
    """Custom fields of the document as JSON."""


def read_xmi(data: bytes, type_system: bytes | None, where: str, skipped: Counter[str]) -> CasDocument:
    """Read an XMI file with its type system; without one, only named entities with their usual features.

    Annotations of other layers are counted in `skipped`. Raise `InputError` about `where` if the file is damaged.
    """
    cassis = _import_cassis()
    _check_xml(data, where)
    try:
        with _LOCK, warnings.catch_warnings():
            _set_filters()
            if type_system is not None:
                _check_xml(type_system, f"{where} (TypeSystem.xml)")
            cas = cassis.load_cas_from_xmi(BytesIO(data), typesystem=_load_types(type_system), lenient=True)
            return _extract_document(cas, skipped)
    except (*_ERRORS, cassis.typesystem.TypeNotFoundError) as problem:
        hint = "" if type_system is not None else "; put its TypeSystem.xml next to it"
        raise _damaged_error(where, problem, f"Export the document again{hint}") from None


def read_json_cas(data: bytes, where: str, skipped: Counter[str]) -> CasDocument:
    """Read a JSON CAS file, which contains its type system.

    Annotations of other layers are counted in `skipped`. Raise `InputError` about `where` if the file is damaged.
    """
    cassis = _import_cassis()
    try:
        decode_json(data)
        with _LOCK, warnings.catch_warnings():
            _set_filters()
            cas = cassis.load_cas_from_json(StringIO(data.decode()), typesystem=_load_types(None), lenient=True)
            return _extract_document(cas, skipped)
    except (*_ERRORS, JsonError, cassis.typesystem.TypeNotFoundError) as problem:
        raise _damaged_error(where, problem, "Export the document again as UIMA CAS JSON 0.4.0") from None


def _set_filters() -> None:
    """Make an error of an offset that is no offset of the text, and ignore other warnings."""
    warnings.simplefilter("ignore")
    warnings.filterwarnings("error", message="Not mapping")


def _extract_document(cas: Any, skipped: Counter[str]) -> CasDocument:  # noqa: ANN401  # cassis is not typed here
    """Return the content of a loaded CAS."""
    entities, title, custom = [], "", ""
    for item in sorted(cas.select_all_fs(), key=lambda item: item.xmiID):
        name = item.type.name
        if name == NAMED_ENTITY:
            features = [str(getattr(item, feature, None) or "") for feature in ("value", "identifier", "karat")]
            entities.append(CasEntity(item.begin, item.end, *features))
        elif name == METADATA:
            title = str(item.documentTitle or "")
        elif name == DOCUMENT_DATA:
            custom = str(item.content or "")
        elif not name.startswith((_SEGMENTATION, _UIMA)):
            skipped["annotations of other layers"] += 1
    return CasDocument(cas.sofa_string, tuple(entities), title, custom)


def write_xmi(document: CasDocument, name: str) -> bytes:
    """Return a document as XMI; raise `UsageError` about `name` for characters that XML cannot hold."""
    cas = _build_cas(document)
    try:
        return str(cas.to_xmi()).encode()
    except ValueError:
        raise UsageError(
            f"document {name!r} has a control character in its text or labels, which XML cannot hold. Remove it, or "
            "choose inception-json."
        ) from None


def write_json_cas(document: CasDocument) -> bytes:
    """Return a document as JSON CAS."""
    return str(_build_cas(document).to_json()).encode()


def write_type_system() -> bytes:
    """Return the TypeSystem.xml of written documents."""
    return str(_load_types(None).to_xml()).encode()


def _build_cas(document: CasDocument) -> Any:  # noqa: ANN401
    """Return the CAS of a document."""
    cassis = _import_cassis()
    types = _load_types(None)
    text = document.text or ""
    cas = cassis.Cas(types, sofa_string=text)
    cas.add(types.get_type(METADATA)(begin=0, end=len(text), documentTitle=document.title))
    if document.custom:
        cas.add(types.get_type(DOCUMENT_DATA)(content=document.custom))
    entity_type = types.get_type(NAMED_ENTITY)
    for entity in document.entities:
        features = {"value": entity.value, "identifier": entity.identifier, "karat": entity.custom}
        values = {feature: value for feature, value in features.items() if value}
        cas.add(entity_type(begin=entity.begin, end=entity.end, **values))
    return cas


@lru_cache(4)  # the documents of an export share a type system
def _load_types(type_system: bytes | None) -> Any:  # noqa: ANN401
    """Return a type system, extended by named entities, metadata of documents, and custom fields."""
    cassis = _import_cassis()
    types = cassis.TypeSystem()
    for name, parent, features in (
        (NAMED_ENTITY, "uima.tcas.Annotation", ("value", "identifier", "karat")),
        (METADATA, "uima.tcas.DocumentAnnotation", _METADATA_FEATURES),
        (DOCUMENT_DATA, "uima.cas.TOP", ("content",)),
    ):
        new_type = types.create_type(name, parent)
        for feature in features:
            types.create_feature(new_type, feature, "uima.cas.String")
    return (
        types if type_system is None else cassis.merge_typesystems(cassis.load_typesystem(BytesIO(type_system)), types)
    )


_METADATA_FEATURES: Final = ("documentTitle", "documentId", "documentUri", "collectionId", "documentBaseUri")


def _import_cassis() -> Any:  # noqa: ANN401
    """Return the package cassis; raise `KaratError` if it is not installed."""
    try:
        return import_module("cassis")
    except ImportError:
        raise KaratError("INCEpTION's files need dkpro-cassis. Run: pip install 'karat[inception]'") from None


def _check_xml(data: bytes, where: str) -> None:
    """Raise `InputError` if XML is broken or declares entities, which could fill the memory or name other files."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import iterparse

    try:
        for _, element in iterparse(BytesIO(data)):
            element.clear()
    except ParseError as problem:
        remedy = "Check that the file was not cut off"
        raise _damaged_error(f"{where}:{problem.position[0]}", problem, remedy) from None
    except (ValueError, LookupError) as problem:
        raise _damaged_error(where, problem, "Write plain characters instead of entities") from None


def _damaged_error(where: str, problem: object, remedy: str) -> InputError:
    """Return, without raising it, the error for a file that cannot be read."""
    message = " ".join(str(problem).split())[:120]
    if isinstance(problem, UserWarning):
        offset = message.partition("[")[2].partition("]")[0]
        actual = f"the offset {offset}, which is outside the text or inside a character"
    else:
        actual = f"a CAS that cannot be read ({type(problem).__name__}: {message})"
    return InputError(
        where,
        actual=actual,
        expected="a complete UIMA CAS as INCEpTION exports it",
        remedy=remedy,
    )


def check_spans(entities: Sequence[CasEntity], length: int, where: str) -> None:
    """Raise `InputError` about `where` for an empty named entity or one outside a text of this length."""
    for entity in entities:
        if not (
            isinstance(entity.begin, int) and isinstance(entity.end, int) and 0 <= entity.begin < entity.end <= length
        ):
            raise InputError(
                where,
                actual=f"a named entity from {entity.begin} to {entity.end} in a text of {length} code points",
                expected="0 <= begin < end <= length of the text",
                remedy="Correct the annotation in INCEpTION, or delete it",
            )
