"""The component `karat_linker` of spaCy pipelines: any system of Karat, run on the `Doc` objects of a pipeline.

Mentions are `doc.ents`, or the span group that `spans_key` names. Earlier components find them, or the system does if
`detect` is set. Links are in `kb_id_`: an id, `NIL`, or an empty string for an unlinked mention. Scores and candidates
are in the extension attributes `span._.karat_score` and `span._.karat_candidates`, and `doc._.karat_skipped` counts
what a `Doc` could not store.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

import msgspec

from karat.formats.plugins.spacy_docbin import (
    CANDIDATES_ATTRIBUTE,
    SCORE_ATTRIBUTE,
    SKIPPED_ATTRIBUTE,
    UNTYPED,
    attribute_key,
    format_entity,
    to_candidate_pairs,
)
from karat.model.document import Document, Label, Prediction, Response
from karat.model.errors import InputError, KaratError, UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.model.spec.system import Link
from karat.storage.atomic_writing import open_for_writing
from karat.storage.files import Source
from karat.systems.api import configure_system

ErrorHandler = Callable[[str, Any, Sequence[Any], Exception], None]
"""A function that spaCy calls with the component's name, the component, the failed `Doc` objects and the error."""

_SETTINGS_FILE: Final = "karat.json"


class LinkerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of the component, as its config has them."""

    system: str
    """The system, as `karat run` names it."""
    options: dict[str, Any] = {}
    """Options of the system, by name."""
    detect: bool = False
    """Whether the system detects mentions; otherwise it links the mentions of earlier components."""
    spans_key: str | None = None
    """The span group with the mentions; None for `doc.ents`."""


class _SavedSettings(msgspec.Struct, frozen=True):
    """The settings file of a saved component, with what else determined its predictions."""

    settings: LinkerSettings
    fingerprint: dict[str, str]


class SpacyLinker:
    """A component that links the mentions of `Doc` objects with a system of Karat.

    `name`: name of the component in the pipeline.
    `settings`: settings from the config.
    `scorer`: function from examples to scores; None scores nothing.
    The system starts with the first document, so that pipelines are created and loaded quickly.
    """

    def __init__(
        self,
        name: str,
        settings: LinkerSettings,
        scorer: Callable[..., dict[str, Any]] | None = None,
    ) -> None:
        self.name, self.settings, self.scorer = name, settings, scorer
        self._configured = configure_system(settings.system, settings.options)
        self._link: Link | None = None
        self._error_handler: ErrorHandler | None = None
        self._check_system()

    def _check_system(self) -> None:
        """Raise `UsageError` if the system cannot run with these settings, and `KaratError` without its model or KB."""
        system, accepts = self._configured.name, self._configured.system.gold_mentions
        if self._configured.needs_gold:
            raise UsageError(f"{self.name}: {system} needs gold labels, which a pipeline lacks. Name another system.")
        if accepts == "never" and not self.settings.detect:
            raise UsageError(f"{self.name}: {system} accepts no mentions. Set detect to true in the config.")
        if accepts == "required" and self.settings.detect:
            raise UsageError(f"{self.name}: {system} detects no mentions. Set detect to false in the config.")
        _ = self._configured.metadata  # looks at the model and the snapshot

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, without the started system, which each process starts itself."""
        return {**self.__dict__, "_link": None}

    # --- linking

    def __call__(self, doc: Any) -> Any:  # noqa: ANN401  # spaCy's types are not imported
        """Link the mentions of one `Doc` and return it."""
        for _ in self.pipe([doc], batch_size=1):
            pass
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Link a stream of `Doc` objects in batches and yield them; failed ones go to the error handler instead."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            try:
                responses = self._link_batch(batch)
            except Exception as problem:  # noqa: BLE001  # spaCy's error handler decides
                self.get_error_handler()(self.name, self, batch, problem)
                continue
            for doc, response in zip(batch, responses, strict=True):
                if response.error is None:
                    self._annotate(doc, response.predictions)
                    yield doc
                else:
                    failure = KaratError(f"{self.name}: {self.settings.system} failed: {response.error}")
                    self.get_error_handler()(self.name, self, [doc], failure)

    def _link_batch(self, docs: Sequence[Any]) -> list[Response]:
        """Return the response for each `Doc`; without text or mentions to link, an empty one."""
        documents = [self._to_document(number, doc) for number, doc in enumerate(docs)]
        queries = [document for document in documents if document.text and (self.settings.detect or document.labels)]
        if not queries:
            return [Response(document.id) for document in documents]
        if self._link is None:
            self._link = self._configured.start(gold_mentions=not self.settings.detect)
        responses = {document.id: Response(document.id) for document in documents}
        responses |= {document.id: Response(document.id, error="no response") for document in queries}
        responses |= {response.id: response for response in self._link(queries)}
        return [responses[document.id] for document in documents]

    def _to_document(self, number: int, doc: Any) -> Document:  # noqa: ANN401
        """Return a `Doc` as a document, whose labels are the mentions to link."""
        spans = (
            [] if self.settings.detect else sorted({(span.start_char, span.end_char) for span in self._list_spans(doc)})
        )
        return Document(str(number), doc.text, tuple(Label(start, end) for start, end in spans))

    def _list_spans(self, doc: Any) -> Sequence[Any]:  # noqa: ANN401
        """Return the mentions of a `Doc`: its entities, or the spans of the group, which may be missing."""
        return doc.ents if self.settings.spans_key is None else list(doc.spans.get(self.settings.spans_key, ()))

    # --- annotation

    def _annotate(self, doc: Any, predictions: Sequence[Prediction]) -> None:  # noqa: ANN401
        """Write the predictions into a `Doc`."""
        skipped: Counter[str] = Counter()
        if self.settings.detect:
            self._write_mentions(doc, predictions, skipped)
        else:
            self._write_links(doc, {(item.start, item.end): item for item in predictions})
        doc._.set(SKIPPED_ATTRIBUTE, dict(+skipped))

    def _write_links(self, doc: Any, predictions: Mapping[tuple[int, int], Prediction]) -> None:  # noqa: ANN401
        """Set the links of the mentions that earlier components found; a mention without prediction is unlinked."""
        from spacy.tokens import Span

        spans = []
        for span in self._list_spans(doc):
            prediction = predictions.get((span.start_char, span.end_char), Prediction(span.start_char, span.end_char))
            kb_id = format_entity(prediction.entity)
            spans.append(Span(doc, span.start, span.end, label=span.label, kb_id=kb_id, span_id=span.id))
            _set_attributes(spans[-1], prediction)
        self._store_spans(doc, spans)

    def _write_mentions(self, doc: Any, predictions: Sequence[Prediction], skipped: Counter[str]) -> None:  # noqa: ANN401
        """Replace the mentions of a `Doc` by the predictions of the system; `skipped` counts changed and lost ones."""
        from spacy.util import filter_spans

        pairs = []
        for prediction in predictions:
            fields = {"label": ",".join(prediction.types) or UNTYPED, "kb_id": format_entity(prediction.entity)}
            span = doc.char_span(prediction.start, prediction.end, **fields, alignment_mode="expand")
            skipped["mentions extended to whole tokens"] += (span.start_char, span.end_char) != prediction.span
            pairs.append((span, prediction))
        if self.settings.spans_key is None:
            separate = set(map(id, filter_spans([span for span, _ in pairs])))
            skipped["overlapping mentions"] += len(pairs) - len(separate)
            pairs = [pair for pair in pairs if id(pair[0]) in separate]
        self._store_spans(doc, [span for span, _ in pairs])
        counts = Counter((span.start, span.end) for span, _ in pairs)
        for span, prediction in pairs:
            is_shared = counts[span.start, span.end] > 1  # the attributes belong to the place, not to the object
            skipped["scores and candidates of mentions that share a span"] += is_shared
            _set_attributes(span, Prediction(prediction.start, prediction.end) if is_shared else prediction)

    def _store_spans(self, doc: Any, spans: Sequence[Any]) -> None:  # noqa: ANN401
        """Store the mentions in the entities or in the span group."""
        if self.settings.spans_key is None:
            doc.ents = spans
        else:
            doc.spans[self.settings.spans_key] = spans

    # --- scoring, errors and files, as spaCy calls them

    def score(self, examples: Iterable[Any], **options: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the scores of examples; none without a scorer."""
        return {} if self.scorer is None else self.scorer(examples, **{"spans_key": self.settings.spans_key, **options})

    def set_error_handler(self, error_handler: ErrorHandler) -> None:
        """Set the function that decides about documents on which the system fails."""
        self._error_handler = error_handler

    def get_error_handler(self) -> ErrorHandler:
        """Return the function that decides about documents on which the system fails; by default it raises."""
        return self._error_handler or _raise_error

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the settings and the fingerprint of the system to a folder; models and snapshots are not copied."""
        Path(path).mkdir(parents=True, exist_ok=True)
        with open_for_writing(str(Path(path) / _SETTINGS_FILE)) as file:
            file.write(self.to_bytes(exclude=exclude) + b"\n")

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpacyLinker:
        """Compare the settings with those in a folder, and return the component; see `from_bytes`."""
        return self.from_bytes(Source(str(Path(path) / _SETTINGS_FILE)).read_bytes(), exclude=exclude)

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the settings and the fingerprint of the system as JSON; `exclude` is ignored."""
        saved = _SavedSettings(self.settings, dict(self._configured.metadata))
        return msgspec.json.format(msgspec.json.encode(saved), indent=1)

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpacyLinker:
        """Compare the settings with saved ones, and return the component; `exclude` is ignored.

        The settings come from the config, so that users can override them. If the saved settings or the fingerprint of
        the system differ, predictions may differ from those of the saved pipeline, and a warning is issued. Other data
        raise `InputError`.
        """
        try:
            saved = msgspec.convert(decode_json(data), _SavedSettings)
        except (JsonError, msgspec.ValidationError) as problem:
            raise InputError(
                self.name,
                actual=str(problem),
                expected="settings as to_disk writes them",
                remedy="Save the pipeline again",
            ) from None
        old, new = _flatten(saved), _flatten(_SavedSettings(self.settings, dict(self._configured.metadata)))
        differences = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
        if differences:
            warnings.warn(
                f"{self.name}: predictions may differ from those of the saved pipeline, because these differ: "
                f"{', '.join(differences)}.",
                stacklevel=2,
            )
        return self


def _flatten(saved: _SavedSettings) -> dict[str, object]:
    """Return settings and fingerprint as one dictionary, to compare them."""
    return {**msgspec.structs.asdict(saved.settings), **saved.fingerprint}


def _set_attributes(span: Any, prediction: Prediction) -> None:  # noqa: ANN401
    """Store score and candidates of a prediction in the extension attributes of its span."""
    span._.set(SCORE_ATTRIBUTE, prediction.score)
    span._.set(CANDIDATES_ATTRIBUTE, to_candidate_pairs(prediction.candidates))


def get_candidates(span: Any) -> tuple[tuple[str, float | None], ...]:  # noqa: ANN401
    """Return the candidates of a span as pairs of an id and a score or None; spaCy may have made lists of them."""
    pairs = span.doc.user_data.get(attribute_key(CANDIDATES_ATTRIBUTE, span), ())
    return tuple((entity, score) for entity, score in pairs)


def set_candidates(span: Any, pairs: Sequence[tuple[str, float | None]]) -> None:  # noqa: ANN401
    """Set the candidates of a span."""
    span.doc.user_data[attribute_key(CANDIDATES_ATTRIBUTE, span)] = pairs


def _raise_error(name: str, component: object, docs: Sequence[Any], problem: Exception) -> None:
    """Raise the error of a failed batch."""
    raise problem
