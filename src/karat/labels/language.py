"""Languages of documents."""

from collections.abc import Mapping

from karat.model.corpus import said_of
from karat.model.tables.arrow import Arrow
from karat.spec.grouping import Grouping

_KEYS = ("language", "lang", "hipe2022:language")


def _values(table: Arrow, about: Mapping[str, str]) -> Arrow:
    return said_of(table, _KEYS, about.get("language"))


GROUPING = Grouping(
    title="Languages",
    says="The language of the document: what its `meta` say, or else the source about the whole.",
    documents=_values,
)
