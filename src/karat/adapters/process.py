"""Commands: one that is started for each document, and one that answers line by line."""

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

from karat.adapters.each import AskingEach
from karat.adapters.telling import hide, tell, tell_peak
from karat.errors import FailedError, InputError, UsageError
from karat.model.document import Document, Reply, WrittenReply
from karat.parsing.surfaces.entries import answer_of, entries_of
from karat.parsing.surfaces.prose import Value, values_in
from karat.parsing.surfaces.written import GoldTexts, reply_of
from karat.storage.home import content
from karat.storage.processes import Child

_LARGEST: Final = 1 << 28  # bytes of a file that is taken for part of a command


def words_of(command: str) -> tuple[str, ...]:
    """The words of a command line, as a shell would divide it; there is no shell."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as problem:
        raise UsageError(f"{command!r} is no command ({problem}). Close its quotes.") from None
    if not words:
        raise UsageError("no command. Write it behind the colon, such as command:./my-linker --fast.")
    return words


def fingerprint(words: Sequence[str]) -> Mapping[str, str]:
    """On what the answers of a command depend besides its words: the files that it names."""
    found = hashlib.sha256()
    for word in words:
        path = Path(word)
        try:
            if path.is_file() and path.stat().st_size < _LARGEST:
                found.update(content(path).sha256.encode())
        except (OSError, ValueError, InputError):
            continue
    return {"files": found.hexdigest()[:16]}


class _Running:
    """The programs that run, so that none outlives whoever started it; one that starts too late is ended at once."""

    def __init__(self) -> None:
        self._children: set[Child] = set()
        self._over = False
        self._lock = threading.Lock()

    def begin(self, child: Child) -> Child:
        with self._lock:
            if not self._over:
                self._children.add(child)
                return child
        child.end(now=True)
        raise FailedError("not asked: the run was stopped", again=False)

    def end(self, child: Child, *, now: bool = False) -> None:
        with self._lock:
            self._children.discard(child)
        child.end(now=now)

    def end_all(self) -> None:
        with self._lock:
            left, self._children, self._over = self._children, set(), True
        for child in left:
            child.end(now=True)


def command_link(words: Sequence[str], passed: Sequence[str], timeout: float) -> AskingEach:
    """Start the command for each document: the text goes in, and what comes out is read as answers."""
    hide(passed)  # a program may complain of its key
    running = _Running()

    def ask(document: Document) -> Reply:
        child = running.begin(Child(words, passed, whole=True))
        try:
            said = child.answer_to(document.text.encode(), timeout)
        finally:
            running.end(child, now=True)
        return said_reply(document, said, child.name)

    return AskingEach(ask, running.end_all)


def jsonl_link(words: Sequence[str], passed: Sequence[str], timeout: float) -> AskingEach:
    """Keep commands running, as many as are asked at once: a line of JSON goes in, and a line comes out."""
    hide(passed)
    idle: queue.SimpleQueue[Child] = queue.SimpleQueue()
    running = _Running()

    def ask(document: Document) -> Reply:
        try:
            child = idle.get_nowait()
        except queue.Empty:
            child = running.begin(Child(words, passed))
        try:
            said = child.ask(jsonl_question(document), timeout)
        except FailedError:
            running.end(child, now=True)  # whatever it says later belongs to this document
            raise
        tell_peak(child.peak)
        idle.put(child)
        return said_reply(document, said, child.name)

    def close() -> None:
        while not idle.empty():
            running.end(idle.get_nowait())
        running.end_all()

    return AskingEach(ask, close)


def jsonl_question(document: Document) -> bytes:
    """A document as such commands get it: id, text, and `spans` where mentions are given."""
    asked: dict[str, object] = {"id": document.id, "text": document.text}
    if document.labels:
        asked["spans"] = [[label.start, label.end] for label in document.labels]
    return msgspec.json.encode(asked)


def said_reply(document: Document, said: bytes, who: str, *, again: bool = False) -> Reply:
    """What a program said about a document: Karat's own reply or answers, or entries as language models list them.

    `again` says whether what cannot be read may be better next time: a program says the same, a service may not.
    """
    try:
        text = said.decode()
    except UnicodeDecodeError:
        raise FailedError(f"{who} wrote bytes that are not UTF-8", again=again) from None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return listed_reply(document, values_in(text), who, again=again)
    if isinstance(value, dict) and value.get("error"):
        raise FailedError(f"{who}: {value['error']}", again=False)
    own = value if isinstance(value, dict) and "answers" in value else {"answers": value}
    try:
        written = msgspec.convert({**own, "id": document.id}, WrittenReply)
    except msgspec.ValidationError as problem:
        if own is value:
            raise FailedError(f"{who} wrote no reply ({problem})", again=again) from None
        return listed_reply(document, [Value(value)], who, again=again)
    return placed_reply(document, written)


def listed_reply(document: Document, values: Sequence[Value], who: str, *, again: bool = False) -> Reply:
    """Entries of whatever names, placed in the text; `FailedError` where nothing is listed."""
    counts: Counter[str] = Counter()
    entries = entries_of(values, counts)
    if entries is None:
        raise FailedError(f"{who} listed no answers that can be read", again=again)
    answers = tuple(answer for entry in entries if (answer := answer_of(entry, counts)) is not None)
    for what, count in counts.items():
        tell(what, count)
    return placed_reply(document, WrittenReply(document.id, answers))


def placed_reply(document: Document, written: WrittenReply) -> Reply:
    """A reply whose answers may give words in place of spans, placed in the text of its document."""
    counts: Counter[str] = Counter()
    own = msgspec.structs.replace(written, text=document.text)
    try:
        reply = reply_of(own, GoldTexts(None, document.id), document.id, counts)
    except InputError as problem:
        raise FailedError(f"found {problem.found}; expected {problem.expected}", again=False) from None
    for what, count in counts.items():
        tell(f"answers {what}", count)
    return reply


def bridge(name: str, python: str, *arguments: str) -> tuple[str, ...]:
    """The command that runs a linker of another environment: its Python, and two small files of Karat's."""
    folder = Path(__file__).with_name("bridges")
    return (python, str(folder / "answering.py"), str(folder / f"{name}_bridge.py"), *arguments)
