"""The viewer: an archive by HTTP, as the pieces that the client asks for."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from fastapi import FastAPI, File, Form, Header, Request, UploadFile
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from karat.archive import shape
from karat.archive.archive import Archive, ArchiveEntry, TextsShown
from karat.archive.pieces import names, piece
from karat.pages.files import Written
from karat.registry import names as registered
from karat.serve.guard import LOOPBACK, PROBLEMS, Guard, Rate, RequestHeaders, WebError, WebProblem, check_token
from karat.serve.replies import answer_errors, json_reply, page_reply, static_reply
from karat.serve.uploads import NAME, Bounds, scored_into
from karat.storage.addressed import InFolder
from karat.version import __version__

_KEPT: Final = 512  # replies that are kept ready
_ENVELOPE: Final = 10_000  # bytes of an upload besides its files
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


class _Shelf:
    """The archive as it is now; replies are made once, and made anew when an entry is added."""

    def __init__(self, offer: Offer) -> None:
        self._offer, self._files = offer, InFolder.made(str(offer.root))
        self._state: tuple[str, ...] | None = None
        self._archive = Archive(self._files, offer.texts, offer.title)
        self._ready: dict[str, tuple[bytes, str]] = {}

    @property
    def archive(self) -> Archive:
        state = (*self._files.digests("entries"), *self._files.digests("verifications"))
        if state != self._state:
            self._state, self._ready = state, {}
            self._archive = Archive(self._files, self._offer.texts, self._offer.title)
        return self._archive

    def reply(self, name: str) -> tuple[bytes, str]:
        """A piece, compressed, and what tells it from others."""
        archive = self.archive
        if name not in self._ready:
            data = piece(archive, name)
            if len(self._ready) >= _KEPT:
                self._ready.clear()
            self._ready[name] = gzip.compress(data, 6, mtime=0), f'"{sha256(data).hexdigest()[:32]}"'
        return self._ready[name]


def created(offer: Offer) -> Guard:
    """The application, behind its guard."""
    shelf = _Shelf(offer)
    app = FastAPI(title="Karat", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    said = _documented()

    async def page() -> Response:
        return page_reply(offer.title, "client")

    async def static(name: str) -> Response:
        return static_reply(name, _STATIC)

    async def listed() -> Response:
        return json_reply(await run_in_threadpool(lambda: _listing(shelf.archive)))

    async def one(name: str, request: Request) -> Response:
        data, tag = await run_in_threadpool(shelf.reply, name)
        headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(gzip.decompress(data), media_type="application/json", headers=headers)
        return Response(data, media_type="application/json", headers={**headers, "content-encoding": "gzip"})

    async def upload(
        gold: Annotated[UploadFile, File()],
        answers: Annotated[UploadFile, File()],
        system: Annotated[str, Form(pattern=f"^{NAME}$")],
        authorization: Annotated[str, Header(description="Bearer TOKEN; see the terminal of karat serve")],
        like: Annotated[str, Form(max_length=40)] = "karat",
    ) -> Response:
        check_token(authorization, offer.token)
        offer.uploads.take()
        if like not in registered("profiles"):
            raise WebError("bad-request", f"there is no profile of this name: {', '.join(registered('profiles'))}.")
        sides = [(side.filename or "", await _bounded(side, offer.bounds.size)) for side in (gold, answers)]
        before = set(shelf.archive.files.digests("entries"))
        await run_in_threadpool(scored_into, offer.root, sides[0], sides[1], system, like, offer.bounds)
        return json_reply(await run_in_threadpool(lambda: _added(shelf.archive, before)), 201)

    async def described() -> Response:
        return Response(json.dumps(_openapi(app)), media_type="application/json")

    app.add_api_route("/", page, methods=["GET"], include_in_schema=False)
    app.add_api_route("/api/pieces", listed, methods=["GET"], summary="The names of all pieces", responses=said)
    app.add_api_route("/api/pieces/{name:path}", one, methods=["GET"], summary="A piece by its name", responses=said)
    app.add_api_route("/api/uploads", upload, methods=["POST"], summary="Score gold and answers", responses=said)
    app.add_api_route("/api/openapi.json", described, methods=["GET"], include_in_schema=False)
    app.add_api_route("/{name}", static, methods=["GET"], include_in_schema=False)
    answer_errors(app)

    def writing(headers: RequestHeaders) -> None:
        check_token(headers.get(b"authorization"), offer.token)

    return Guard(app, offer.hosts, offer.bounds.size + _ENVELOPE, writing)


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
    entries = list(archive.files.digests("entries"))
    return PieceNames(list(names(archive)) if entries else [], entries)


def _added(archive: Archive, before: set[str]) -> UploadedEntries:
    fresh = [digest for digest in archive.files.digests("entries") if digest not in before]
    found = [msgspec.json.decode(archive.files.get("entries", digest), type=ArchiveEntry) for digest in fresh]
    return UploadedEntries(fresh, list(dict.fromkeys(f"/#/board?show=measures&dataset={entry.key}" for entry in found)))


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
    replies = {
        ("/api/pieces", "get", "200"): schemas[len(pieces)],
        ("/api/pieces/{name}", "get", "200"): {"anyOf": schemas[: len(pieces)]},
        ("/api/uploads", "post", "201"): schemas[len(pieces) + 1],
    }
    for (path, method, status), schema in replies.items():
        replies_of = found["paths"][path][method]["responses"]
        replies_of.pop("422", None) if method == "get" else None
        replies_of.pop("200", None)
        replies_of[status] = {"description": "done", "content": {"application/json": {"schema": schema}}}
    return found
