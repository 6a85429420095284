"""The viewer: an archive by HTTP, as the pieces that the client asks for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import BoundedSemaphore
from time import time_ns
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from fastapi import FastAPI, File, Form, Header, Query, Request, UploadFile
from fastapi import Path as PathParameter
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from pydantic import BaseModel
from pydantic import Field as Parameter
from starlette.concurrency import run_in_threadpool

from karat.archive import shape
from karat.archive.across import MOST_FOUND, Wanted, found
from karat.archive.archive import Archive, TextsShown
from karat.archive.pieces import names, piece
from karat.archive.shape import KINDS_OF_CASES
from karat.pages.files import Written
from karat.serve.guard import LOOPBACK, PROBLEMS, Guard, Rate, RequestHeaders, WebError, WebProblem, check_token
from karat.serve.replies import answer_errors, json_reply, page_reply, static_reply
from karat.serve.uploads import NAME, Bounds, scored_into
from karat.storage.addressed import InFolder
from karat.version import __version__

_KEPT: Final = 512  # replies that are kept ready
_OPEN: Final = 16  # additions that are kept open
_STILL: Final = 2 * 10**9  # nanoseconds after which a folder that changed again has another time
_ENVELOPE: Final = 10_000  # bytes of an upload besides its files
_ADDED: Final = ("additions", "verifications")  # what is written last, when something is added
_STATIC: Final = frozenset({"client.js", "client.css", "licences.txt"})


@dataclass(frozen=True)
class Offer:
    """What a server shows, and to whom: the archive, how much of its texts, under which names, and who may add."""

    root: Path
    texts: TextsShown = "all"
    title: str = "Karat"
    hosts: tuple[str, ...] = LOOPBACK
    token: str | None = None
    bounds: Bounds = field(default_factory=Bounds)
    uploads: Rate = field(default_factory=lambda: Rate(6, 60.0))
    searches: Rate = field(default_factory=lambda: Rate(120, 60.0))


class _Shelf:
    """The archive as it is now; replies are made once, and made anew when something is added."""

    def __init__(self, offer: Offer) -> None:
        self._offer, self._files = offer, InFolder.made(str(offer.root))
        self._changed: int | None = None
        self._state: tuple[str, ...] = ()
        self._archives: dict[str | None, Archive] = {}
        self._ready: dict[tuple[str | None, str], tuple[bytes, str]] = {}

    def _look(self) -> None:
        """Forget what is kept if something was added. Folders that have been still for long are not listed again."""
        changed = max(_changed(self._offer.root / folder) for folder in _ADDED)
        if changed != self._changed or time_ns() - changed < _STILL:
            state = tuple(digest for folder in _ADDED for digest in self._files.digests(folder))
            if state != self._state:
                self._state, self._archives, self._ready = state, {}, {}
            self._changed = changed

    def archive(self, at: str | None = None) -> Archive:
        """All of it, or one addition, which never changes."""
        self._look()
        if at is not None and at not in self._state:
            raise WebError("not-found", "there is no such addition.")
        archives = self._archives  # another thread may begin new ones
        if len(archives) >= _OPEN and at not in archives:
            archives.clear()
        return archives.setdefault(at, Archive(self._files, self._offer.texts, self._offer.title, at))

    def kept(self, name: str, at: str | None = None) -> tuple[bytes, str] | None:
        """A reply that was made before."""
        self._look()
        return self._ready.get((at, name))

    def reply(self, name: str, at: str | None = None) -> tuple[bytes, str]:
        """A piece, compressed, and what tells it from others."""
        archive, ready = self.archive(at), self._ready
        data = piece(archive, name)
        if len(ready) >= _KEPT:
            ready.clear()
        return ready.setdefault((at, name), (gzip.compress(data, 6, mtime=0), f'"{sha256(data).hexdigest()[:32]}"'))


def _changed(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


_Name: TypeAlias = Annotated[str, PathParameter(description="See /api/pieces", examples=["board", "errors"])]
_Digest: TypeAlias = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$", description="An addition")]


def created(offer: Offer) -> Guard:
    """The application, behind its guard."""
    shelf = _Shelf(offer)
    scoring = BoundedSemaphore(offer.bounds.at_once)
    app = FastAPI(title="Karat", version=__version__, openapi_url=None, redirect_slashes=False)
    said = _documented()

    async def page() -> Response:
        return page_reply(offer.title, "client")

    async def page_at(addition: _Digest) -> Response:
        await run_in_threadpool(shelf.archive, addition)
        return await page()

    async def static(name: str) -> Response:
        return static_reply(name, _STATIC)

    async def static_at(addition: _Digest, name: str) -> Response:
        return await static(name)

    async def listed() -> Response:
        return json_reply(await run_in_threadpool(lambda: _listing(shelf.archive())))

    async def listed_at(addition: _Digest) -> Response:
        return json_reply(await run_in_threadpool(lambda: _listing(shelf.archive(addition))))

    async def reply(name: str, addition: str | None = None) -> tuple[bytes, str]:
        kept = shelf.kept(name, addition)
        return await run_in_threadpool(lambda: shelf.reply(name, addition)) if kept is None else kept

    async def one(name: _Name, request: Request) -> Response:
        return _sent(request, *await reply(name))

    async def one_at(addition: _Digest, name: _Name, request: Request) -> Response:
        return _sent(request, *await reply(name, addition))

    async def search(wanted: Annotated[_Search, Query()]) -> Response:
        offer.searches.take()
        asked = Wanted(**wanted.model_dump())
        return json_reply(await run_in_threadpool(lambda: found(shelf.archive(), asked)))

    async def upload(
        gold: Annotated[UploadFile, File()],
        answers: Annotated[UploadFile, File()],
        system: Annotated[str, Form(pattern=f"^{NAME}$")],
        authorization: Annotated[str, Header(description="Bearer TOKEN; see the terminal of karat serve")],
        like: Annotated[str, Form(max_length=40)] = "karat",
    ) -> Response:
        check_token(authorization, offer.token)
        offer.uploads.take()
        truth, run = [(side.filename or "", await _bounded(side, offer.bounds.size)) for side in (gold, answers)]
        if not scoring.acquire(blocking=False):
            raise WebError("too-often", "other uploads are being scored. Wait a little.")
        try:
            added = await run_in_threadpool(lambda: scored_into(offer.root, truth, run, system, like, offer.bounds))
        finally:
            scoring.release()
        return json_reply(await run_in_threadpool(lambda: _added(shelf.archive(added), added)), 201)

    async def described() -> Response:
        return Response(json.dumps(_openapi(app)), media_type="application/json")

    def get(path: str, answer: Callable[..., Any], summary: str | None = None) -> None:
        app.add_api_route(
            path, answer, methods=["GET"], summary=summary, responses=said, include_in_schema=summary is not None
        )

    get("/", page)
    get("/api/pieces", listed, "The names of all pieces")
    get("/api/pieces/{name:path}", one, "A piece by its name")
    get("/api/found", search, "Cases in all results: of an entity, of a surface, of a regular expression (RE2)")
    app.add_api_route("/api/uploads", upload, methods=["POST"], summary="Score gold and answers", responses=said)
    get("/api/openapi.json", described)
    get("/at/{addition}/", page_at)
    get("/at/{addition}/api/pieces", listed_at, "The names of all pieces of one addition, which never changes")
    get("/at/{addition}/api/pieces/{name:path}", one_at, "A piece of one addition by its name")
    get("/at/{addition}/{name}", static_at)
    get("/{name}", static)
    answer_errors(app)

    def writing(headers: RequestHeaders) -> None:
        check_token(headers.get(b"authorization"), offer.token)

    return Guard(app, offer.hosts, offer.bounds.size + _ENVELOPE, writing)


class _Search(BaseModel):
    """What cases are looked for by; everything that is given must hold."""

    entity: str | None = Parameter(None, max_length=1000)
    surface: str | None = Parameter(None, max_length=1000)
    kind: Literal[KINDS_OF_CASES] | None = None  # type: ignore[valid-type]  # the words that pages use
    system: str | None = Parameter(None, max_length=1000)
    dataset: str | None = Parameter(None, pattern="^[0-9a-f]{12}$")
    find: str | None = Parameter(None, max_length=200)
    limit: int = Parameter(100, ge=1, le=MOST_FOUND)
    offset: int = Parameter(0, ge=0, le=10_000_000)


def _sent(request: Request, data: bytes, tag: str) -> Response:
    """A reply that is kept compressed, as the browser takes it."""
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(gzip.decompress(data), media_type="application/json", headers=headers)
    return Response(data, media_type="application/json", headers={**headers, "content-encoding": "gzip"})


async def _bounded(side: UploadFile, most: int) -> bytes:
    data: bytes = await side.read(most + 1)
    if len(data) > most:
        raise WebError("too-large", f"a file has at most {most:,} bytes. Use karat report --archive.")
    return data


class UploadedEntries(Written, frozen=True):
    """What an upload gave: its fingerprints, and the addresses at which it is shown from now on."""

    entries: list[str]
    links: list[str]


class PieceNames(Written, frozen=True):
    """The names of all pieces, and the fingerprints of all entries."""

    pieces: list[str]
    entries: list[str]


def _listing(archive: Archive) -> PieceNames:
    entries = [digest for addition in archive.additions for digest in addition.entries]
    return PieceNames(list(names(archive)) if entries else [], entries)


def _added(archive: Archive, added: str) -> UploadedEntries:
    """What was added: under its own address for ever, and among everything else."""
    (addition,) = archive.additions
    among = dict.fromkeys(f"/#/board?show=measures&dataset={key}" for key in archive.datasets)
    return UploadedEntries(addition.entries, [f"/at/{added}/", *among])


def _documented() -> dict[int | str, dict[str, Any]]:
    """How errors look, for the description of every resource."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{WebProblem.__name__}"}}}
    return {status: {"description": "what is wrong", "content": content} for status in sorted({*PROBLEMS.values()})}


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The description of all resources, with the shape of every piece."""
    found: dict[str, Any] = get_openapi(title=app.title, version=app.version, routes=app.routes)
    pieces = [kind for name, kind in vars(shape).items() if name.endswith("Piece")]
    kinds = [*pieces, PieceNames, UploadedEntries, WebProblem]
    (*schemas,), components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    found.setdefault("components", {}).setdefault("schemas", {}).update(components)
    listed, uploaded, _ = schemas[len(pieces) :]
    any_piece = {"anyOf": schemas[: len(pieces)]}
    replies = {
        ("/api/pieces", "get", "200"): listed,
        ("/api/pieces/{name}", "get", "200"): any_piece,
        ("/api/found", "get", "200"): schemas[pieces.index(shape.FoundPiece)],
        ("/api/uploads", "post", "201"): uploaded,
        ("/at/{addition}/api/pieces", "get", "200"): listed,
        ("/at/{addition}/api/pieces/{name}", "get", "200"): any_piece,
    }
    for (path, method, status), schema in replies.items():
        replies_of = found["paths"][path][method]["responses"]
        replies_of.pop("200", None)
        replies_of[status] = {"description": "done", "content": {"application/json": {"schema": schema}}}
    return found
