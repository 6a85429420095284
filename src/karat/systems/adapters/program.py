"""Linkers that run programs: one start per document, or a persistent program that reads and writes JSON lines."""

from __future__ import annotations

import hashlib
import queue
import shlex
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from karat.formats.parsing.surfaces.entries import extract_entries, to_prediction
from karat.formats.parsing.surfaces.json_extraction import JsonValue, extract_json
from karat.formats.parsing.surfaces.run_builder import GoldTexts, to_response
from karat.model.document import Document, Response, WrittenResponse
from karat.model.errors import InputError, ResponseError, UsageError
from karat.model.json.decoder import JsonError, decode_json
from karat.storage.data_folder import hash_content
from karat.storage.processes import ChildProcess
from karat.systems.adapters.service_responses import PerDocumentLinker
from karat.systems.adapters.telemetry import count_event, hide_variables, report_peak_memory

_MAX_QUOTED: Final = 80  # characters of an output in a message
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
    """Return a hash of the contents of all words that are files, for manifests.

    Files that cannot be read, and files of 256 MiB or more, are not in the hash; a second value lists them.
    """
    digest, omitted = hashlib.sha256(), []
    for word in words:
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


def make_jsonl_linker(command: Sequence[str], env: str, timeout: float) -> PerDocumentLinker:
    """Return a linker that keeps commands running, one per thread, and exchanges one line of JSON per document.

    `env`: environment variables that are passed to the command, joined by +; their values are redacted from errors.
    `timeout`: seconds per document. A command that fails or is too slow is killed and replaced.
    """
    variables = tuple(filter(None, env.split("+")))
    hide_variables(variables)
    idle: queue.SimpleQueue[ChildProcess] = queue.SimpleQueue()
    processes = ProcessRegistry()

    def send(document: Document) -> Response:
        try:
            child = idle.get_nowait()
        except queue.Empty:
            child = processes.add(ChildProcess(command, variables))
        try:
            output = child.send_line(to_jsonl_request(document), timeout)
        except ResponseError:
            processes.terminate(child, kill=True)  # its further output would belong to this document
            raise
        report_peak_memory(child.peak_memory)
        idle.put(child)
        return parse_response(document, output, child.name)

    def close() -> None:
        while not idle.empty():
            processes.terminate(idle.get_nowait())
        processes.terminate_all()

    return PerDocumentLinker(send, close)


def to_jsonl_request(document: Document) -> bytes:
    """Return a document as JSON with `id`, `text` and, if it has labels, `spans`: the mentions to link."""
    request: dict[str, object] = {"id": document.id, "text": document.text}
    if document.labels:
        request["spans"] = [[label.start, label.end] for label in document.labels]
    return msgspec.json.encode(request)


def parse_response(document: Document, output: bytes, source: str, *, is_retryable: bool = False) -> Response:
    """Parse the output of a program: a Karat response, a list of predictions, or entries as language models write them.

    `source`: name of the program in messages.
    `is_retryable`: whether a retry may help if the output cannot be parsed; services may vary, programs do not.
    An `error` in the output, or output of another structure, raises `ResponseError`.
    """
    try:
        text = output.decode()
    except UnicodeDecodeError:
        raise ResponseError(f"{source} wrote invalid UTF-8", is_retryable=is_retryable) from None
    try:
        value = decode_json(text)
    except JsonError:
        return parse_entries(document, extract_json(text), source, text, is_retryable=is_retryable)
    if isinstance(value, dict) and value.get("error"):
        raise ResponseError(f"{source}: {value['error']}", is_retryable=False)
    record = value if isinstance(value, dict) and "predictions" in value else {"predictions": value}
    try:
        written = msgspec.convert({**record, "id": document.id}, WrittenResponse)
    except msgspec.ValidationError as problem:
        if record is value:
            raise ResponseError(
                f"{source} wrote no valid response ({problem}): {quote_output(text)}", is_retryable=is_retryable
            ) from None
        return parse_entries(document, [JsonValue(value)], source, text, is_retryable=is_retryable)
    return locate_predictions(document, written)


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
    if entries is None:
        raise ResponseError(f"{source} wrote no list of predictions: {quote_output(output)}", is_retryable=is_retryable)
    predictions = tuple(prediction for entry in entries if (prediction := to_prediction(entry, counts)) is not None)
    for event, count in counts.items():
        count_event(event, count)
    return locate_predictions(document, WrittenResponse(document.id, predictions))


def quote_output(output: str) -> str:
    """Return the beginning of a program's output in quotes, in one line, for messages."""
    line = " ".join(output.split())
    return repr(line if len(line) <= _MAX_QUOTED else f"{line[:_MAX_QUOTED]}…") if line else "nothing"


def locate_predictions(document: Document, written: WrittenResponse) -> Response:
    """Convert a written response, and locate predictions that have a text instead of a span in the document.

    Invalid predictions raise `ResponseError`. Repairs are counted as telemetry events.
    """
    counts: Counter[str] = Counter()
    written_with_text = msgspec.structs.replace(written, text=document.text)
    try:
        response = to_response(written_with_text, GoldTexts(None, document.id), document.id, counts)
    except InputError as problem:
        raise ResponseError(f"found {problem.actual}; expected {problem.expected}", is_retryable=False) from None
    for event, count in counts.items():
        count_event(f"predictions {event}", count)
    return response


def bridge_command(name: str, python: str, *arguments: str) -> tuple[str, ...]:
    """Return the words of the command that runs a bridge with the Python of another environment.

    `name`: name of the bridge, a file `NAME_bridge.py` in `bridges`.
    `python`: path of that Python.
    `arguments`: arguments of the bridge.
    """
    folder = Path(__file__).with_name("bridges")
    return (python, str(folder / "bridge_loop.py"), str(folder / f"{name}_bridge.py"), *arguments)
