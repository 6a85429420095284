"""Ids of tables by a key that all their spellings share, so that a table may write ids in any usual way.

Usual are addresses, prefixes (`enwiki:`, `wd:`) and bare titles. A bare title names a page of the language of which the
tables have pages, of English if they have none, and no known page if they have pages of several languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote, unquote

import numpy as np
import pyarrow as pa

from karat.kb.ids.id_context import build_context, collect_evidence
from karat.kb.ids.id_patterns import PLAIN_TEXT, id_pattern
from karat.kb.ids.id_spaces import make_title_key, parse_id_key
from karat.kb.ids.normal_forms import (
    DBPEDIA,
    DEFAULT_CONTEXT,
    WIKIPEDIA,
    IdContext,
    find_plain_qids,
    normalise_ids,
    recognise_id,
)
from karat.kb.ids.wikipedia_languages import capitalise_letter
from karat.model.spec.settings.conventions import Ids

_TITLE = "title:"  # what the keys of bare titles begin with


@dataclass(frozen=True, eq=False)
class SpellingIndex:
    """The ids of some tables as written, by key."""

    context: IdContext
    """How the ids of the tables are meant."""
    language: str
    """Language code of the pages that bare titles name; empty if there are pages of several languages."""
    ids: Mapping[str, str]
    """Id as written by key; the smallest of several."""

    @classmethod
    def from_ids(cls, ids: Iterable[str], language: str = "") -> SpellingIndex:
        """Index the ids of tables; `language` is that of the pages that bare titles name, if it is known."""
        distinct = sorted(set(ids))
        array = pa.array(distinct, pa.string())
        context = build_context([collect_evidence(array)])
        forms = normalise_ids(array, Ids.NORMALISED, context).to_pylist()
        is_plain = find_plain_qids(array)
        schemes = {
            recognised.scheme
            for row in np.flatnonzero(~is_plain).tolist()
            if (recognised := recognise_id(distinct[row], context)) is not None
        }
        languages = {
            language for kind, _, language in (scheme.partition(" ") for scheme in schemes) if kind == WIKIPEDIA
        }
        index: dict[str, str] = {}
        for id, form, is_item in zip(distinct, forms, is_plain.tolist(), strict=True):
            key = f"{_TITLE}{_join_words(id)}" if not is_item and _is_title(id, form, context) else form
            index.setdefault(key, id)
        found_language = "en" if not languages else min(languages) if len(languages) == 1 else ""
        return cls(context, language or found_language, MappingProxyType(index))

    def find(self, id: str, context: IdContext = DEFAULT_CONTEXT) -> str | None:
        """Return the id of the tables that an id of the data means, as the tables write it; None if they lack it.

        `context`: how the ids of the data are meant.
        """
        return next((self.ids[key] for key in self._make_keys(id, context) if key in self.ids), None)

    def group(self, ids: Iterable[str], entities: AbstractSet[str]) -> dict[str, str]:
        """Return, for ids of the tables that are written in several ways, the spelling that represents each.

        Ids that represent themselves are missing. Spellings that are listed as different `entities` stay apart.
        """
        groups: dict[str, list[str]] = {}
        for id in dict.fromkeys(ids):
            groups.setdefault(self._make_group_key(id), []).append(id)
        spellings: dict[str, str] = {}
        for key, members in groups.items():
            listed = [id for id in members if id in entities]
            if len(members) > 1 and len(listed) < 2:
                representative = min(listed or [id for id in members if id == key] or members)
                spellings.update((id, representative) for id in members if id != representative)
        return spellings

    def iterate_title_spellings(self, id: str) -> Iterator[str]:
        """Yield the spellings of a bare title, or of its page, by which data without a table may name it.

        They are the title with spaces, with underscores, and the key of the page. Other ids have none.
        """
        key = parse_id_key(id)
        if key is not None:
            if self.language and key.space == f"{self.language}wiki":
                yield from (key.local_id, key.local_id.replace(" ", "_"), str(key))
        elif _is_words(id):
            words = _join_words(id)
            yield from (words.replace("_", " "), words)
            if self._make_page_key(id):
                yield str(make_title_key(f"{self.language}wiki", words))

    def _make_group_key(self, id: str) -> str:
        """Return the key that all spellings of an id of the tables share, also a bare title and its page."""
        recognised = recognise_id(id, self.context)
        if recognised is not None:
            return recognised.normal_form
        return (self._make_page_key(id) or f"{_TITLE}{_join_words(id)}") if _is_words(id) else id

    def _make_keys(self, id: str, context: IdContext) -> Sequence[str]:
        """Return the keys under which an id of the data may be in the index, the most certain first; empty if none.

        `context`: how the ids of the data are meant.
        """
        recognised = recognise_id(id, context)
        if recognised is None:
            if not _is_words(id):
                return ()
            return (f"{_TITLE}{_join_words(id)}", *([page] if (page := self._make_page_key(id)) else []))
        form = (recognise_id(id) or recognised).normal_form if recognised.scheme == "QID" else recognised.normal_form
        kind, _, language = recognised.scheme.partition(" ")
        if kind in (WIKIPEDIA, DBPEDIA) and language == self.language:
            title = unquote(form.partition("/wiki/" if kind == WIKIPEDIA else "/resource/")[2])
            return (form, f"{_TITLE}{_join_words(title)}")
        return (form,)

    def _make_page_key(self, title: str) -> str:
        """Return the normal form of the page that a bare title names; empty if it names none, as in small letters."""
        words = _join_words(title)
        if not self.language or not words or capitalise_letter(words[0], self.language) != words[0]:
            return ""
        recognised = recognise_id(f"https://{self.language}.wikipedia.org/wiki/{quote(words)}")
        return "" if recognised is None else recognised.normal_form


def respell_pairs(pairs: Iterable[tuple[str, str]], spellings: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the pairs of ids with the representative spelling of each id."""
    return [(spellings.get(id, id), spellings.get(other, other)) for id, other in pairs]


def _is_title(id: str, form: str, context: IdContext) -> bool:
    """Return whether an id with the normal form `form` is a bare title."""
    return id == form and _is_words(id) and recognise_id(id, context) is None


def _is_words(id: str) -> bool:
    """Return whether spaces and underscores are equal in an id: it is a title, also one with the prefix of a wiki."""
    if id_pattern(id) != PLAIN_TEXT:
        return False
    key = parse_id_key(id)
    return key is None or key.space.endswith("wiki")


def _join_words(title: str) -> str:
    """Return the title with one underscore between words, for any spaces and underscores."""
    return "_".join(title.replace("_", " ").split())
