"""Linkers that run programs: one start per document, or a persistent program that reads and writes JSON lines."""

from __future__ import annotations

import hashlib
import queue
import shlex
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from karat.formats.parsing.surfaces.answers import get_answer, read_usage
from karat.formats.parsing.surfaces.entries import TITLE_MAPPINGS, VERBAL_NIL, extract_entries, to_prediction
from karat.formats.parsing.surfaces.json_extraction import JsonValue, extract_json
from karat.formats.parsing.surfaces.run_builder import GoldTexts, to_response
from karat.model.document import Document, Response, WrittenPrediction, WrittenResponse
from karat.model.errors import InputError, KaratError, ResponseError, UsageError, shorten
from karat.model.json.decoder import FINITE_NUMBER, JsonError, decode_json
from karat.model.span import Span
from karat.model.spec.settings.nil_spellings import is_prose_nil
from karat.storage.data_folder import hash_content
from karat.storage.processes import ChildProcess, EndedError
from karat.systems.adapters.python_imports import list_imported_files
from karat.systems.adapters.service_responses import PerDocumentLinker, convert_spans
from karat.systems.telemetry import count_event, hide_variables, redact_secrets, report_peak_memory

_MAX_QUOTED: Final = 80  # characters of an output in a message
START_ERROR: Final = "start_error"
"""The only field of the line that a bridge writes if it cannot load its linker."""
_ONLY_RESPONSES: Final = "Write only responses to standard output"
_MAX_FAILED_STARTS: Final = 3  # more than one, because a computer may be short of memory for a while
_MAX_FILE_SIZE: Final = 1 << 28  # bytes of a file in the fingerprint of a command


def split_command(command: str) -> tuple[str, ...]:
    """Split a command line into words as a shell does, without running a shell.

    An empty command or an unclosed quote raises `UsageError`.
    """
    try:
        words = tuple(shlex.split(command))
    except ValueError as problem:
        raise UsageError(f"{command!r} is not a valid command ({problem}). Close the quotes.") from None
    if not words:
        raise UsageError("the command is missing. Write it after the colon, as in command:./my-linker --fast.")
    return words


def fingerprint_files(words: Sequence[str]) -> Mapping[str, str]:
    """Return a hash of the contents of all words that are files, and of modules that they import, for manifests.

    `list_imported_files` says which modules. Files that cannot be read, and files of 256 MiB or more, are
    not in the hash; a second value lists them.
    """
    digest, omitted = hashlib.sha256(), []
    for word in (*words, *map(str, list_imported_files(words))):
        path = Path(word)
        try:
            if not path.is_file():
                continue
        except (OSError, ValueError):  # a word that cannot be the name of a file
            continue
        try:
            if path.stat().st_size < _MAX_FILE_SIZE:
                digest.update(hash_content(path).sha256.encode())
            else:
                omitted.append(f"{word} (256 MiB or more)")
        except (OSError, InputError) as problem:
            omitted.append(f"{word} ({problem})")
    return {"files": digest.hexdigest()[:16]} | ({"files without hash": "; ".join(omitted)} if omitted else {})


class ProcessRegistry:
    """The programs that a linker has started, so that all of them end with the run; thread-safe."""

    def __init__(self) -> None:
        self._children: set[ChildProcess] = set()
        self._is_closed = False
        self._lock = threading.Lock()

    def add(self, child: ChildProcess) -> ChildProcess:
        """Register a program and return it; after `terminate_all`, kill it and raise `ResponseError`."""
        with self._lock:
            if not self._is_closed:
                self._children.add(child)
                return child
        child.stop(kill=True)
        raise ResponseError("not sent, because the run was stopped", is_retryable=False)

    def terminate(self, child: ChildProcess, *, kill: bool = False) -> None:
        """Stop a program and remove it from the registry; `kill` ends it at once instead of letting it finish."""
        with self._lock:
            self._children.discard(child)
        child.stop(kill=kill)

    def terminate_all(self) -> None:
        """Kill all registered programs; programs that are added later are killed at once."""
        with self._lock:
            remaining, self._children, self._is_closed = self._children, set(), True
        for child in remaining:
            child.stop(kill=True)


def make_command_linker(command: Sequence[str], env: str, timeout: float) -> PerDocumentLinker:
    """Return a linker that starts a command for each document, sends the text as input and parses the output.

    `env`: environment variables that are passed to the command, joined by +; their values are redacted from errors.
    `timeout`: seconds per document.
    """
    variables = tuple(filter(None, env.split("+")))
    hide_variables(variables)  # a program may print its key in an error message
    processes = ProcessRegistry()

    def send(document: Document) -> Response:
        child = processes.add(ChildProcess(command, variables, reads_all=True))
        try:
            output = child.send_all(document.text.encode(), timeout)
        finally:
            processes.terminate(child, kill=True)
        return parse_response(document, output, child.name)

    return PerDocumentLinker(send, processes.terminate_all)


class StartError(KaratError):
    """A persistent program that cannot start, so that no other document need be sent."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(f"{shorten(redact_secrets(reason))}{remedy}")


class StartMonitor:
    """Whether a persistent program has ever responded; thread-safe."""

    def __init__(self) -> None:
        self._has_responded, self._n_failed_starts = False, 0
        self._lock = threading.Lock()

    def record_response(self) -> None:
        """Record that the program responded, so that later failures concern a document."""
        self._has_responded = True

    def record_end(self, problem: EndedError) -> None:
        """Record that the program ended; raise `StartError` if it did so three times and has never responded."""
        with self._lock:
            self._n_failed_starts += 1
            if not self._has_responded and self._n_failed_starts >= _MAX_FAILED_STARTS:
                count = f"{self._n_failed_starts} starts, and no response to any document"
                raise StartError(str(problem), f" ({count}). Correct the program, and try it with a line by hand.")


class SurplusLineError(InputError):
    """A persistent program wrote a line too many, so that its responses cannot be assigned to documents."""


class AssignedError(ResponseError):
    """A failure of a persistent program that certainly concerns the document that it was sent."""


class JsonlProgram:
    """A persistent program that answers each line with one line, and notices when the two get out of step.

    `process`: the program.
    """

    def __init__(self, process: ChildProcess) -> None:
        self.process = process
        self._has_responded = self._last_lacks_id = False

    def link(self, document: Document, timeout: float) -> Response:
        """Send a document and return its response.

        Raise `AssignedError` if the program certainly failed on this document, another `ResponseError` if its further
        output could belong to this document, `SurplusLineError` as `check_surplus` does, and `StartError` if a bridge
        could not load its linker.
        """
        name = self.process.name
        # A line that a program writes as it starts is read as its first response, and fails the first document.
        if self._has_responded and (surplus := self.check_surplus()) is not None:
            raise ResponseError(
                f"{name} wrote a line before it received the document: {quote_output(surplus)}. {_ONLY_RESPONSES}",
                is_retryable=False,
            )
        output = self.process.send_line(to_jsonl_request(document), timeout)
        report_peak_memory(self.process.peak_memory)
        text = _decode_text(output, name)
        value = _decode_value(text, name)
        if not self._has_responded and isinstance(value, dict) and value.keys() == {START_ERROR}:
            raise StartError(f"{name}: {value[START_ERROR]}")
        if not isinstance(value, dict | list):
            raise ResponseError(
                f"{name} wrote no JSON object or list: {quote_output(text)}. {_ONLY_RESPONSES}", is_retryable=False
            )
        has_id = _check_id(document, value, name)
        self._has_responded, self._last_lacks_id = True, not has_id
        try:
            return _parse_value(document, value, name, text)
        except ResponseError as problem:
            if has_id or _get_error(value):
                raise AssignedError(str(problem), is_retryable=problem.is_retryable) from None
            raise

    def check_surplus(self) -> str | None:
        """Return the first line that the program wrote without a request, or None if there is none.

        Raise `SurplusLineError` if earlier responses may have been assigned to wrong documents: the surplus is JSON,
        and the last response had no id.
        """
        lines = [line.decode("utf-8", "replace") for line in self.process.take_waiting_lines()]
        if self._last_lacks_id and (surplus := next(filter(_is_container, lines), None)) is not None:
            raise SurplusLineError(
                self.process.name,
                actual=f"more lines on standard output than documents, such as {quote_output(surplus)}",
                expected="one line per document",
                remedy="Write nothing else to standard output, and return the `id` of the document, so that Karat can "
                "assign the line. No response of this run is cached",
            )
        return next(iter(lines), None)


def make_jsonl_linker(command: Sequence[str], env: str, timeout: float) -> PerDocumentLinker:
    """Return a linker that keeps commands running, one per thread, and exchanges one line of JSON per document.

    `env`: environment variables that are passed to the command, joined by +; their values are redacted from errors.
    `timeout`: seconds per document. A command that fails, is too slow or writes a line that is no response to the
    document is killed and replaced; one that cannot start raises `StartError`.
    """
    variables = tuple(filter(None, env.split("+")))
    hide_variables(variables)
    idle: queue.SimpleQueue[JsonlProgram] = queue.SimpleQueue()
    processes, monitor = ProcessRegistry(), StartMonitor()

    def send(document: Document) -> Response:
        try:
            program = idle.get_nowait()
        except queue.Empty:
            program = JsonlProgram(processes.add(ChildProcess(command, variables)))
        try:
            response = program.link(document, timeout)
        except AssignedError:
            monitor.record_response()
            idle.put(program)
            raise
        except KaratError as problem:
            processes.terminate(program.process, kill=True)  # its further output would belong to this document
            if isinstance(problem, EndedError):
                monitor.record_end(problem)
            raise
        monitor.record_response()
        idle.put(program)
        return response

    def close() -> None:
        programs = []
        while not idle.empty():
            programs.append(idle.get_nowait())
            processes.terminate(programs[-1].process)
        processes.terminate_all()
        for program in programs:
            program.check_surplus()

    return PerDocumentLinker(send, close)


def _is_container(line: str) -> bool:
    """Return whether a line is a JSON object or list."""
    try:
        return isinstance(decode_json(line), dict | list)
    except JsonError:
        return False


def to_jsonl_request(document: Document) -> bytes:
    """Return a document as JSON with `id`, `text` and, if it has labels, `spans`: the mentions to link."""
    request: dict[str, object] = {"id": document.id, "text": document.text}
    if document.labels:
        request["spans"] = [[label.start, label.end] for label in document.labels]
    return msgspec.json.encode(request)


def parse_response(
    document: Document, output: bytes, source: str, *, is_retryable: bool = False, is_id_sent: bool = False
) -> Response:
    """Parse the output of a program: a Karat response, a list of predictions, or entries as language models write them.

    `source`: name of the program in messages.
    `is_retryable`: whether a retry may help if the output cannot be parsed; services may vary, programs do not.
    `is_id_sent`: whether the program received the document id, so that an id in its response must equal it.
    An `error` in the output, another id, or output of another structure raises `ResponseError`.
    """
    text = _decode_text(output, source, is_retryable=is_retryable)
    value = _decode_value(text, source, is_retryable=is_retryable)
    if is_id_sent:
        _check_id(document, value, source, is_retryable=is_retryable)
    return _parse_value(document, value, source, text, is_retryable=is_retryable)


def _decode_text(output: bytes, source: str, *, is_retryable: bool = False) -> str:
    """Decode UTF-8; raise `ResponseError` if it is invalid."""
    try:
        return output.decode()
    except UnicodeDecodeError:
        raise ResponseError(f"{source} wrote invalid UTF-8", is_retryable=is_retryable) from None


def _decode_value(text: str, source: str, *, is_retryable: bool = False) -> object:
    """Decode JSON; return None if the text is no JSON. Numbers such as NaN raise `ResponseError`."""
    try:
        return decode_json(text)
    except JsonError as problem:
        if problem.expected != FINITE_NUMBER:
            return None
        raise ResponseError(
            f"{source} wrote an invalid response: {problem}, expected {problem.expected}. {problem.remedy}",
            is_retryable=is_retryable,
        ) from None


def _get_error(value: object) -> object:
    """Return the `error` of a decoded response, or None if it has none."""
    return value.get("error") if isinstance(value, dict) else None


def _check_id(document: Document, value: object, source: str, *, is_retryable: bool = False) -> bool:
    """Return whether a decoded response has the id of its document; raise `ResponseError` if it has another one."""
    is_response = isinstance(value, dict) and not value.keys().isdisjoint({"predictions", "response", "error"})
    id = value.get("id") if is_response and isinstance(value, dict) else None
    if id is not None and str(id) != document.id:
        message = f"{source} responded to the document {document.id!r} with the id {str(id)!r}"
        raise ResponseError(message, is_retryable=is_retryable)
    return id is not None


def _parse_value(document: Document, value: object, source: str, text: str, *, is_retryable: bool = False) -> Response:
    """Convert decoded output to a response.

    `value`: the output as JSON; None if it contains other text, or is `null`.
    `text`: the output, for messages and to extract JSON from.
    """
    if value is None:
        return parse_entries(document, extract_json(text), source, text, is_retryable=is_retryable)
    if error := _get_error(value):
        raise ResponseError(f"{source}: {error}", is_retryable=False)
    has_predictions = isinstance(value, dict) and "predictions" in value
    if isinstance(value, dict) and not has_predictions:
        answer, counts = get_answer(value), Counter[str]()
        values = extract_json(answer) if isinstance(answer, str) else [JsonValue(value)]
        response = parse_entries(document, values, source, text, is_retryable=is_retryable)
        usage = read_usage(value, counts)._asdict()
        for event, count in counts.items():
            count_event(event, count)
        return msgspec.structs.replace(response, **usage)
    record = value if has_predictions and isinstance(value, dict) else {"predictions": value}
    try:
        written = msgspec.convert({**record, "id": document.id}, WrittenResponse)
    except msgspec.ValidationError as problem:
        if record is value:
            raise ResponseError(
                f"{source} wrote no valid response ({problem}): {quote_output(text)}", is_retryable=is_retryable
            ) from None
        return parse_entries(document, [JsonValue(value)], source, text, is_retryable=is_retryable)
    return locate_predictions(document, written if record is value else _read_nil_words(written))


def _read_nil_words(written: WrittenResponse) -> WrittenResponse:
    """Return a response whose quoted mentions are NIL for words such as `NIL` and `unknown`, as in files of answers."""
    is_nil = [
        item.start is None and isinstance(item.entity, str) and is_prose_nil(item.entity)
        for item in written.predictions
    ]
    if any(is_nil):
        count_event(VERBAL_NIL, sum(is_nil))
    predictions = tuple(
        msgspec.structs.replace(item, entity=None) if nil else item
        for item, nil in zip(written.predictions, is_nil, strict=True)
    )
    return msgspec.structs.replace(written, predictions=predictions)


def parse_entries(
    document: Document, values: Sequence[JsonValue], source: str, output: str, *, is_retryable: bool = False
) -> Response:
    """Convert JSON entries with any common field names to a response, and locate them in the document.

    `values`: JSON values in the output of a program or model.
    `source`, `output`: name and output of the program, for messages.
    Raise `ResponseError` if no value is a list of entries. Repairs are counted as telemetry events.
    """
    counts: Counter[str] = Counter()
    entries = extract_entries(values, counts)
    predictions = tuple(
        prediction for entry in entries or () if (prediction := to_prediction(entry, counts)) is not None
    )
    if entries is None or (counts[TITLE_MAPPINGS] and not _has_known_text(document, predictions)):
        raise ResponseError(f"{source} wrote no list of predictions: {quote_output(output)}", is_retryable=is_retryable)
    for event, count in counts.items():
        count_event(event, count)
    return locate_predictions(document, WrittenResponse(document.id, predictions))


def _has_known_text(document: Document, predictions: Iterable[WrittenPrediction]) -> bool:
    """Return whether some text of the predictions occurs in the document, in upper or lower case.

    Objects without such a text, as in `{"status": "ready"}`, are messages and no predictions.
    """
    text = document.text.casefold()
    return any(prediction.text is not None and prediction.text.casefold() in text for prediction in predictions)


def quote_output(output: str) -> str:
    """Return the beginning of a program's output in quotes, in one line, for messages."""
    line = " ".join(output.split())
    return repr(line if len(line) <= _MAX_QUOTED else f"{line[:_MAX_QUOTED]}…") if line else "nothing"


def locate_predictions(document: Document, written: WrittenResponse) -> Response:
    """Convert a written response, and locate predictions that have a text instead of a span in the document.

    Invalid predictions raise `ResponseError`. Repairs are counted as telemetry events.
    """
    counts: Counter[str] = Counter()
    written_with_text = msgspec.structs.replace(
        written, text=document.text, predictions=_convert_offsets(document.text, written.predictions)
    )
    try:
        response = to_response(written_with_text, GoldTexts(None, document.id), document.id, counts)
    except InputError as problem:
        raise ResponseError(f"found {problem.actual}; expected {problem.expected}", is_retryable=False) from None
    for event, count in counts.items():
        count_event(f"predictions {event}", count)
    return response


def _convert_offsets(text: str, predictions: Sequence[WrittenPrediction]) -> tuple[WrittenPrediction, ...]:
    """Return the predictions with their spans, if stated, in code points."""
    spans = {
        number: Span(item.start, item.end)
        for number, item in enumerate(predictions)
        if item.start is not None and item.end is not None
    }
    converted = convert_spans(text, [*spans.values()], [predictions[number].text for number in spans])
    spans = dict(zip(spans, converted, strict=True))
    return tuple(
        msgspec.structs.replace(item, start=spans[number].start, end=spans[number].end) if number in spans else item
        for number, item in enumerate(predictions)
    )


def bridge_command(name: str, python: str, *arguments: str) -> tuple[str, ...]:
    """Return the words of the command that runs a bridge with the Python of another environment.

    `name`: name of the bridge, a file `NAME_bridge.py` in `bridges`.
    `python`: path of that Python.
    `arguments`: arguments of the bridge.
    """
    folder = Path(__file__).with_name("bridges")
    return (python, str(folder / "bridge_loop.py"), str(folder / f"{name}_bridge.py"), *arguments)
