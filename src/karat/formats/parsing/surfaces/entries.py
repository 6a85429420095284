"""Predictions with the field names that people and language models use."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from karat.formats.parsing.surfaces.json_extraction import JsonValue
from karat.kb.ids.wikipedia_languages import WIKIPEDIA_LANGUAGES
from karat.model.document import UNLINKED, Candidate, EntityId, WrittenPrediction
from karat.model.spec.settings.nil_spellings import is_prose_nil

TEXT_NAMES: Final = (
    "text",
    "mention",
    "surface",
    "surface_form",
    "mention_text",
    "span_text",
    "quote",
    "exact_text",
    "phrase",
    "word",
    "span",
)
ID_NAMES: Final = (
    "qid",
    "wikidata_id",
    "wikidata_qid",
    "wikidata",
    "wikidata_url",
    "wikidata_uri",
    "entity_id",
    "kb_id",
)
LINK_NAMES: Final = (
    "wikipedia_url",
    "wikipedia_title",
    "wikipedia_page",
    "wikipedia",
    "wiki_url",
    "wiki_title",
    "dbpedia",
    "dbpedia_url",
    "dbpedia_uri",
    "entity_url",
    "entity_uri",
    "entity_title",
    "url",
    "uri",
    "iri",
    "link",
    "id",
    "title",
)
START_NAMES: Final = ("start", "begin", "start_char", "start_offset", "start_index", "offset")
END_NAMES: Final = ("end", "stop", "end_char", "end_offset", "end_index")
TYPE_NAMES: Final = ("types", "type", "entity_type", "label", "category", "ner")
SCORE_NAMES: Final = ("score", "confidence", "conf", "probability", "prob")
LEFT_CONTEXT_NAMES: Final = ("before", "left_context", "context_left")
RIGHT_CONTEXT_NAMES: Final = ("after", "right_context", "context_right")
LIST_NAMES: Final = ("answers", "mentions", "entities", "annotations", "predictions", "links", "results", "spans")
"""Names, without case and punctuation, of the fields for text, id and so on. The first present name counts."""

UNUSABLE: Final = "entries without a mention (skipped)"
TRUNCATED: Final = "truncated or invalid lists (complete entries read)"
INVALID_ENTRIES: Final = "entries that are invalid JSON (skipped)"
TRAILING_COMMAS: Final = "answers with a comma before a closing brace (read without it)"
EARLIER_LISTS: Final = "earlier lists in one answer (only the last was read)"
TITLE_MAPPINGS: Final = "objects from texts to titles (read as mentions with links)"
VERBAL_NIL: Final = "links such as NIL or unknown (read as NIL)"
REWRITTEN_LINKS: Final = "links in markup or in another spelling (only the title or id was read)"
BEST_CANDIDATES: Final = "mentions without a link of their own (linked to their best candidate)"
LATER_LINKS: Final = "mentions with NIL in one field and a link in another (linked)"
UNUSABLE_LINKS: Final = "links that are not text (read as unlinked mentions)"

_PROSE_NAMES: Final = (
    "note",
    "notes",
    "comment",
    "error",
    "message",
    "reason",
    "reasoning",
    "explanation",
    "thought",
    "thoughts",
    "analysis",
    "summary",
    "response",
    "answer",
    "output",
    "result",
)
_FIELD_NAMES: Final = frozenset(
    (
        *TEXT_NAMES,
        *ID_NAMES,
        *LINK_NAMES,
        *START_NAMES,
        *END_NAMES,
        *TYPE_NAMES,
        *SCORE_NAMES,
        *LEFT_CONTEXT_NAMES,
        *RIGHT_CONTEXT_NAMES,
        *LIST_NAMES,
        *_PROSE_NAMES,
        "entity",
        "name",
        "candidates",
    )
)
"""Names of fields, which are no texts of mentions in an object from texts to titles."""

LINK_FORM = re.compile(r"(?:wd:)?[Qq][0-9]+|https?://\S+|NIL")
_ITEM_NAMES = tuple(name for name in ID_NAMES if name not in ("entity_id", "kb_id"))
_SMALL_ITEM = re.compile(r"\s*q[1-9][0-9]*\s*")
_WIKI_LINK = re.compile(r"\s*\[\[:?(?P<target>[^][|]+)(?:\|[^][]*)?\]\]\s*")
_MARKDOWN_LINK = re.compile(r"\s*\[[^][]*\]\((?P<target>\S+)\)\s*")
_TITLE_AND_ITEM = re.compile(
    r"\s*(?:(?P<before>Q[1-9][0-9]*)\s*\([^()]+\)|[^()]*[^()\s]\s*\((?P<after>Q[1-9][0-9]*)\))\s*"
)
_LANGUAGE_TITLE = re.compile(r"(?P<language>[a-z]{2,3}):(?P<title>\S.*)")
_TRACKING = re.compile(r"(?<=[?&])utm_\w+=[^&#\s]*&?")  # what sites that show models add to addresses
_NO_PARAMETERS = re.compile(r"[?&](?=#|\Z)")
_MAX_LINK = 1000  # characters; longer ones are no titles
_MAX_OFFSET = 2**31 - 1
_MAX_LISTED = 5  # names of fields in a message


def extract_entries(values: Sequence[JsonValue], counts: Counter[str]) -> list[object] | None:
    """Return the entries (decoded JSON of single predictions) in the JSON values of one answer of a model.

    The result has the entries of the last non-empty list; an empty list if all lists are empty; without lists, all
    single entries; without these, the pairs of the last object from texts to titles, the last list of texts, or None.
    Earlier lists, which are ignored, a truncated list, which is used, and such objects are counted in `counts`.
    """
    lists: list[tuple[list[object], JsonValue]] = []
    single_entries: list[object] = []
    for value in values:
        if isinstance(value.value, dict) and is_entry(value.value):
            single_entries.append(value.value)
        elif (entries := _find_list(value.value)) is not None:
            lists.append((entries, value))
    counts[TRAILING_COMMAS] += any(value.is_repaired for value in values)
    non_empty = [entries for entries in lists if entries[0]] or lists[-1:]
    if not non_empty:
        mappings = [] if single_entries else [pairs for value in values if (pairs := _read_title_mapping(value.value))]
        counts[TITLE_MAPPINGS] += bool(mappings)
        counts[EARLIER_LISTS] += max(0, len(mappings) - 1)
        if single_entries or mappings:
            return single_entries or mappings[-1]
        text_lists = [texts for value in values if (texts := _read_texts(value.value))]
        counts[EARLIER_LISTS] += max(0, len(text_lists) - 1)
        return text_lists[-1] if text_lists else None
    counts[EARLIER_LISTS] += len(non_empty) - 1 + bool(single_entries)
    counts.update(count_gaps([non_empty[-1][1]]))
    return non_empty[-1][0]


def count_gaps(values: Sequence[JsonValue]) -> Mapping[str, int]:
    """Count lists that are truncated or invalid, and members that are missing because they are invalid JSON."""
    return {
        TRUNCATED: sum(not value.is_complete for value in values),
        INVALID_ENTRIES: sum(value.n_invalid for value in values),
    }


def has_unknown_fields(fields: Mapping[str, object]) -> bool:
    """Return whether no name in an object is one of a field, so that the names may be texts or ids of documents."""
    return _FIELD_NAMES.isdisjoint(_normalise_names(fields))


def has_entries(value: Mapping[str, object]) -> bool:
    """Return whether an object contains entries, or is one with a link; a text alone may be the answer of an API."""
    return (not is_entry(value) or is_title(value)) and extract_entries([JsonValue(value)], Counter()) is not None


def describe_unread_list(values: Sequence[JsonValue]) -> str:
    """Return a clause with the fields of the objects in an answer without entries; empty if it has no objects."""
    lists = [members for value in values for members in _list_members(value.value)]
    names = sorted({name for members in lists for member in members if isinstance(member, dict) for name in member})
    fields = ", ".join(f"`{name[:40]}`" for name in names[:_MAX_LISTED])
    return f": fields {fields} (not read). Name the text of a mention `mention`" if fields else ""


def _list_members(value: object) -> list[list[object]]:
    """Return the lists of a JSON value that may be meant as entries: itself, or the lists in an object."""
    inner = value.values() if isinstance(value, dict) else [value]
    return [members for members in inner if isinstance(members, list)]


def _find_list(value: object) -> list[object] | None:
    """Return the list of entries that a JSON value is or contains, or None.

    The list may be a field named as in `LIST_NAMES`; an object from mentions to links becomes a list of pairs. A list
    with some entry counts as a whole, so that one bad member does not lose the others.
    """
    if isinstance(value, list):
        return value if not value or any(is_entry(member) for member in value) else None
    if not isinstance(value, dict):
        return None
    fields = _normalise_names(value)
    for name in LIST_NAMES:
        if (members := _find_list(fields.get(name))) is not None:
            return members
    is_mapping = all(link is None or (isinstance(link, str) and LINK_FORM.fullmatch(link)) for link in value.values())
    if is_mapping and value:
        return [list(pair) for pair in value.items()]
    if _read_title_mapping(value):
        return None
    groups = [members for members in value.values() if isinstance(members, list)]
    if len(groups) == len(value) and any(map(_find_list, groups)):  # by type, such as `persons` and `locations`
        return [entry for members in groups for entry in members]
    lists = [entries for inner in value.values() if isinstance(inner, dict) and (entries := _find_list(inner))]
    return lists[0] if len(lists) == 1 else None


def _read_title_mapping(value: object) -> list[object]:
    """Return the pairs of an object from texts to titles, also in a field named as in `LIST_NAMES`; empty for others.

    A title is text, null, or an object with a link. No text may be the name of a field, as in `{"note": "none"}`.
    """
    if not isinstance(value, dict):
        return []
    fields = _normalise_names(value)
    for name in LIST_NAMES:
        if pairs := _read_title_mapping(fields.get(name)):
            return pairs
    if not has_unknown_fields(value) or not all(map(is_title, value.values())):
        return []
    return [
        {**link, "text": text} if isinstance(link, dict) else {"text": text, "entity": link}
        for text, link in value.items()
    ]


def _read_texts(value: object) -> list[object]:
    """Return the texts of mentions without links: a list of strings, by itself or in objects; empty for others."""
    if isinstance(value, dict):
        fields = _normalise_names(value)
        if fields.keys().isdisjoint(LIST_NAMES) and not all(isinstance(members, list) for members in value.values()):
            return []
        return [text for name in fields for text in _read_texts(fields[name]) if isinstance(fields[name], list)]
    is_text_list = isinstance(value, list) and all(isinstance(member, str) for member in value)
    return [{"text": text} for text in value] if is_text_list and isinstance(value, list) else []


def is_title(value: object) -> bool:
    """Return whether a JSON value of an object from texts to titles names an entity or none."""
    if isinstance(value, dict):
        return not _normalise_names(value).keys().isdisjoint({*ID_NAMES, *LINK_NAMES, "entity"})
    return value is None or isinstance(value, str)


def is_entry(value: object) -> bool:
    """Return whether a JSON value looks like a prediction: a pair of text and link, or an object with text or start."""
    if isinstance(value, list):
        return len(value) == 2 and isinstance(value[0], str) and (value[1] is None or isinstance(value[1], str))
    if not isinstance(value, dict):
        return False
    fields = _normalise_names(value)
    return any(name in fields for name in (*TEXT_NAMES, "entity", "name", *START_NAMES)) and not any(
        isinstance(fields.get(name), list) for name in LIST_NAMES
    )


def to_prediction(entry: object, counts: Counter[str]) -> WrittenPrediction | None:
    """Convert an entry to a prediction, or return None if it has neither text nor span.

    Entries without text and span, fields that are not read and unclear values are dropped and counted in `counts`.
    """
    if isinstance(entry, list) and is_entry(entry):
        entry = {"text": entry[0], "entity": entry[1]}
    if not isinstance(entry, Mapping):
        counts[UNUSABLE] += 1
        return None
    fields = _EntryFields(_rename_link_list(_normalise_names(entry)), counts)
    start, end = fields.parse_span()
    text = fields.parse_text()
    is_entity_text = text is None and fields.has_entity_text(has_span=start is not None and end is not None)
    link = fields.parse_link(is_entity_text)
    if text is None and (name := fields.get_first(("entity", "name") if is_entity_text else ("name",))) is not None:
        text = replace_surrogates(name)
    types = fields.parse_types()
    candidates = fields.parse_candidates(("candidates",)) or fields.list_candidates
    if link == UNLINKED and candidates:
        link = _choose_candidate(candidates).entity
        counts[BEST_CANDIDATES] += 1
    score, before, after = (
        fields.parse_number(SCORE_NAMES),
        fields.get_first(LEFT_CONTEXT_NAMES),
        fields.get_first(RIGHT_CONTEXT_NAMES),
    )
    fields.count_unread()
    if not (text or "").strip() and (start is None or end is None):
        counts[UNUSABLE] += 1
        return None
    return WrittenPrediction(
        start,
        end,
        text or None,
        replace_surrogates(before),
        replace_surrogates(after),
        link,
        types=types,
        score=score,
        candidates=candidates,
    )


def _rename_link_list(fields: Mapping[str, object]) -> Mapping[str, object]:
    """Return the fields of an entry with its only list of links, such as `links` or `entities`, as `candidates`."""
    names = [name for name in LIST_NAMES if isinstance(fields.get(name), list)]
    if len(names) != 1 or "candidates" in fields:
        return fields
    return {"candidates" if name == names[0] else name: value for name, value in fields.items()}


class _EntryFields:
    """The fields of an entry by normalised name, with a record of the fields that were read."""

    def __init__(self, fields: Mapping[str, object], counts: Counter[str]) -> None:
        self._fields = fields
        self._read_names: set[str] = set()
        self._counts = counts
        self.list_candidates: tuple[Candidate, ...] = ()
        """Candidates that a field for the link lists instead of one link."""

    def get_first(self, names: Sequence[str]) -> object:
        """Return the value of the first of `names` that is present and not null, or None; record it as read."""
        for name in names:
            if self._fields.get(name) is not None:
                self._read_names.add(name)
                return self._fields[name]
        return None

    def parse_span(self) -> tuple[int | None, int | None]:
        """Return start and end, from two fields or one field of two numbers; a missing or invalid offset is None."""
        for name in ("span", "offsets", "position"):
            pair = self._fields.get(name)
            if isinstance(pair, list) and len(pair) == 2 and all(parse_offset(edge) is not None for edge in pair):
                self._read_names.add(name)
                return parse_offset(pair[0]), parse_offset(pair[1])
        return parse_offset(self.get_first(START_NAMES)), parse_offset(self.get_first(END_NAMES))

    def parse_text(self) -> str | None:
        """Return the text of the mention, or None if no field for it holds a string."""
        for name in TEXT_NAMES:
            if isinstance(value := self._fields.get(name), str):
                self._read_names.add(name)
                return replace_surrogates(value)
        return None

    def has_entity_text(self, *, has_span: bool) -> bool:
        """Return whether the field `entity` of an entry without text is that text, as in `{"entity": "Berlin"}`.

        With a span, ids, URLs and words for NIL are links. Null and other values that are no string always are.
        """
        value = self._fields.get("entity")
        if not isinstance(value, str):
            return False
        return not has_span or not (LINK_FORM.fullmatch(value) or is_prose_nil(value))

    def parse_link(self, is_only_text: bool) -> EntityId:
        """Return the linked entity; None (NIL) for null, "" or prose such as "unknown"; `UNLINKED` without a link.

        A list of links gives `list_candidates`, and NIL if it is empty. NIL counts only if no later field has a link.

        If `is_only_text`, the field `entity` is the text of the mention and not a link.
        """
        names = [name for name in ID_NAMES if name in self._fields]
        names += ["entity"] * (not is_only_text and "entity" in self._fields)
        names += [name for name in LINK_NAMES if name in self._fields and not isinstance(self._fields[name], int)]
        is_nil = False
        nil_counts: Counter[str] = Counter()
        for name in names:
            if is_nil and name == "id":  # it may number the entries
                continue
            value = self._fields[name]
            self._read_names.add(name)
            if isinstance(value, list):
                self.list_candidates = self.parse_candidates((name,))
                if self.list_candidates:
                    return UNLINKED
                is_nil = True
                continue
            counts: Counter[str] = Counter()
            if name in _ITEM_NAMES and isinstance(value, str) and _SMALL_ITEM.fullmatch(value):
                counts[REWRITTEN_LINKS] += 1
                value = value.strip().upper()
            link = (
                self._parse_link_object(name, value) if isinstance(value, Mapping) else _parse_link_value(value, counts)
            )
            if link is not None and not (is_nil and link == UNLINKED):
                self._counts.update(counts)
                self._counts[UNUSABLE_LINKS] += link == UNLINKED
                self._counts[LATER_LINKS] += is_nil
                return link
            if link is None:
                nil_counts |= counts
                is_nil = True
        self._counts.update(nil_counts)
        return None if is_nil else UNLINKED

    def _parse_link_object(self, name: str, value: Mapping[str, object]) -> EntityId:
        """Return the entity that an object in the field `name` describes, by the rules for the fields of an entry."""
        values = {key: inner for key, inner in _normalise_names(value).items() if not isinstance(inner, list | Mapping)}
        fields = _EntryFields(values, self._counts)
        link = fields.parse_named_link()
        fields.count_unread(f"{name}.")
        return link

    def parse_named_link(self) -> EntityId:
        """Return the linked entity, or else the entity that a name or text describes."""
        link = self.parse_link(is_only_text=False)
        if link == UNLINKED and (name := self.get_first(("name", "text"))) is not None:
            return _parse_link_value(name, Counter())
        return link

    def parse_types(self) -> tuple[str, ...]:
        """Return the distinct types, given as one string or a list of strings; other values are counted."""
        type_value = self.get_first(TYPE_NAMES)
        values = type_value if isinstance(type_value, list) else [type_value]
        self._counts["types that are not text (skipped)"] += sum(
            name is not None and not isinstance(name, str) for name in values
        )
        return tuple(
            dict.fromkeys(text for name in values if isinstance(name, str) and (text := replace_surrogates(name)))
        )

    def parse_candidates(self, names: Sequence[str]) -> tuple[Candidate, ...]:
        """Return the candidates in the first of the fields `names`, with scores, but not those that have no link."""
        values = self.get_first(names)
        candidates: list[Candidate] = []
        for value in values if isinstance(values, list) else ():
            fields = _EntryFields(
                _normalise_names(value) if isinstance(value, Mapping) else {"entity": value}, Counter()
            )
            link = fields.parse_named_link()
            if isinstance(link, str) and link:
                candidates.append(Candidate(link, fields.parse_number(SCORE_NAMES)))
        return tuple(candidates)

    def parse_number(self, names: Sequence[str]) -> float | None:
        """Return the finite number in the first of `names`, also given as text, or None; count other values."""
        value = self.get_first(names)
        if value is None:
            return None
        try:
            number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
        self._counts["scores that are not numbers (skipped)"] += 1
        return None

    def count_unread(self, prefix: str = "") -> None:
        """Count the fields that were not read so far; `prefix` is the path to them in the entry."""
        unread = (f"{prefix}{name[:40]}" for name in self._fields if name not in self._read_names)
        self._counts.update(f"fields `{name}` (not read)" for name in unread)


def _choose_candidate(candidates: Sequence[Candidate]) -> Candidate:
    """Return the candidate with the highest score; the first one if not all have scores."""
    if any(candidate.score is None for candidate in candidates):
        return candidates[0]
    return max(candidates, key=lambda candidate: candidate.score or 0.0)


def _parse_link_value(value: object, counts: Counter[str]) -> EntityId:
    """Return the entity that the value of a field for the link names; None (NIL), or `UNLINKED` if it is no text.

    Markup and further parts around a link are removed, and counted in `counts`, as are words for NIL.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if value is None or (isinstance(value, str) and is_prose_nil(value)):
        counts[VERBAL_NIL] += value is not None
        return None
    text = replace_surrogates(value)
    if text is None:
        return UNLINKED
    link = _strip_markup(text)
    counts[REWRITTEN_LINKS] += link != text
    return link


def _strip_markup(link: str) -> str:
    """Return a link without markup of Wikipedia or Markdown, and only the QID of a title with its QID in parentheses.

    Parameters that track visitors, as in `?utm_source=chatgpt.com`, are removed from addresses.
    A title with the code of a Wikipedia, as in `en:Berlin`, gets the prefix that Karat reads, as in `enwiki:Berlin`.
    """
    if len(link) > _MAX_LINK:
        return link
    if (match := _MARKDOWN_LINK.fullmatch(link) or _WIKI_LINK.fullmatch(link)) is not None:
        link = match["target"]
    if (stripped := _TRACKING.sub("", link)) != link:
        link = _NO_PARAMETERS.sub("", stripped)
    if (match := _TITLE_AND_ITEM.fullmatch(link)) is not None:
        return match["after"] or match["before"]
    match = _LANGUAGE_TITLE.fullmatch(link)
    is_page = match is not None and match["language"] in WIKIPEDIA_LANGUAGES
    return f"{match['language']}wiki:{match['title']}" if match is not None and is_page else link


def _normalise_names(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields under normalised names: `Wikidata ID` and `wikidataId` become `wikidata_id`."""
    split_names = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", str(name)): value for name, value in fields.items()}
    return {re.sub(r"\W+", "_", name.strip()).lower(): value for name, value in split_names.items()}


def parse_offset(value: object) -> int | None:
    """Parse an offset of a text, given as integer, string or float such as 12.0; return None if it is no offset."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,10}(\.0)?\s*", value):
        value = int(value.strip().removesuffix(".0"))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return value if is_integer and isinstance(value, int) and 0 <= value <= _MAX_OFFSET else None


def replace_surrogates(value: object) -> str | None:
    """Replace lone surrogates of a string, which UTF-8 cannot store, by `?`; return None for other values."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
