"""The viewer: an archive over HTTP, as the resources of the web client."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from threading import BoundedSemaphore
from time import time_ns
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from fastapi import Depends, FastAPI, File, Form, Header, Query, Request, UploadFile
from fastapi import Path as PathParameter
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from pydantic import BaseModel
from pydantic import Field as Parameter
from starlette.concurrency import run_in_threadpool

from karat.model.output.json_files import JsonRecord
from karat.model.profile_signatures import get_profile
from karat.model.registry import list_plugins
from karat.storage.content_store import FolderStore
from karat.version import __version__
from karat.web.archive.archive import Archive, TextsShown
from karat.web.archive.case_search import MAX_CASES, CaseQuery, search_cases
from karat.web.archive.resource import build_resource, list_all, list_resources
from karat.web.archive.shape import CASE_KINDS, SearchResource
from karat.web.server.guard import Guard, check_token
from karat.web.server.http_responses import add_error_handlers, json_response, page_response, static_response
from karat.web.server.parameters import check_parameters
from karat.web.server.progress import UploadProgress
from karat.web.server.request_checks import LOOPBACK, PROBLEMS, RateLimit, RequestHeaders, WebError, WebProblem
from karat.web.server.uploads import (
    MAX_DESCRIPTION,
    NAME,
    Upload,
    UploadLimits,
    list_knowledge_bases,
    score_upload,
)

_MAX_CACHED: Final = 512  # cached responses
_MAX_OPEN: Final = 16  # archives held open
_STABLE_NS: Final = 2 * 10**9  # nanoseconds after which a folder that changed again has another time
_ENVELOPE: Final = 10_000  # bytes of an upload besides its files
_WATCHED_FOLDERS: Final = ("submissions", "verifications")  # written last by a submission
_PROGRESS_KEY: Final = "^([0-9a-f]{32})?$"
_STATIC: Final = frozenset({"client.js", "client.css", "licences.txt"})


@dataclass(frozen=True)
class ServerConfig:
    """Configuration of the viewer.

    `root` is the archive folder, `texts` the amount of text shown, `hosts` are the accepted host names. `token` allows
    uploads; None makes the server read-only. `knowledge_bases` are the paths of those that uploads may name.
    """

    root: Path
    texts: TextsShown = "all"
    title: str = "Karat"
    hosts: tuple[str, ...] = LOOPBACK
    token: str | None = None
    knowledge_bases: Mapping[str, str] = field(default_factory=list_knowledge_bases)
    upload_limits: UploadLimits = field(default_factory=UploadLimits)
    upload_rate: RateLimit = field(default_factory=lambda: RateLimit(6, 60.0))
    search_rate: RateLimit = field(default_factory=lambda: RateLimit(120, 60.0))


class _ArchiveCache:
    """The archive and its submissions, with cached responses, which are dropped when a submission is added."""

    def __init__(self, config: ServerConfig) -> None:
        self._config, self._files = config, FolderStore.open_or_create(str(config.root))
        self._last_change: int | None = None
        self._state: tuple[str, ...] = ()
        self._archives: dict[str | None, Archive] = {}
        self._responses: dict[tuple[str | None, str], tuple[bytes, str]] = {}

    def _refresh(self) -> None:
        """Drop all caches if a submission or verification was added; folders unchanged for long are not listed."""
        changed = max(_get_mtime(self._config.root / folder) for folder in _WATCHED_FOLDERS)
        if changed != self._last_change or time_ns() - changed < _STABLE_NS:
            state = tuple(digest for folder in _WATCHED_FOLDERS for digest in self._files.list_digests(folder))
            if state != self._state:
                self._state, self._archives, self._responses = state, {}, {}
            self._last_change = changed

    def get_archive(self, submission: str | None = None) -> Archive:
        """Return the archive, restricted to `submission` unless it is None; raise a `not-found` error if unknown."""
        self._refresh()
        if submission is not None and submission not in self._state:
            raise WebError(
                "not-found",
                f"the archive has no submission {submission}. Check the link, or ask its sender for the archive.",
            )
        archives = self._archives  # another thread may begin new ones
        if len(archives) >= _MAX_OPEN and submission not in archives:
            archives.clear()
        return archives.setdefault(submission, Archive(self._files, self._config.texts, self._config.title, submission))

    def get_cached_response(self, name: str, submission: str | None = None) -> tuple[bytes, str] | None:
        """Return a resource from the cache, compressed with gzip, with its entity tag; None if it is not cached."""
        self._refresh()
        return self._responses.get((submission, name))

    def build_response(self, name: str, submission: str | None = None) -> tuple[bytes, str]:
        """Build a resource and cache it; return it compressed with gzip, with its entity tag."""
        archive, responses = self.get_archive(submission), self._responses
        data = build_resource(archive, name)
        if len(responses) >= _MAX_CACHED:
            responses.clear()
        return responses.setdefault(
            (submission, name), (gzip.compress(data, 6, mtime=0), f'"{sha256(data).hexdigest()[:32]}"')
        )


def _get_mtime(folder: Path) -> int:
    """Return when a folder was last changed, in nanoseconds; 0 if it does not exist."""
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


_Name: TypeAlias = Annotated[str, PathParameter(description="See /api/resources", examples=["leaderboard", "errors"])]
_Digest: TypeAlias = Annotated[str, PathParameter(pattern="^[0-9a-f]{32}$", description="A submission")]


def create_app(config: ServerConfig) -> Guard:
    """Create the ASGI application of the viewer, behind the guard that checks every request."""
    cache = _ArchiveCache(config)
    scoring = BoundedSemaphore(config.upload_limits.at_once)
    progress: dict[str, UploadProgress] = {}
    app = FastAPI(
        title="Karat",
        version=__version__,
        openapi_url=None,
        redirect_slashes=False,
        dependencies=[Depends(check_parameters)],
    )
    error_responses = _describe_error_responses()

    async def page() -> Response:
        return page_response(config.title, "client")

    async def submission_page(submission: str) -> Response:
        await run_in_threadpool(cache.get_archive, submission)
        return await page()

    async def static(name: str) -> Response:
        return static_response(name, _STATIC)

    async def submission_static(submission: _Digest, name: str) -> Response:
        return await static(name)

    async def resource_names() -> Response:
        return json_response(await run_in_threadpool(lambda: _list_names(cache.get_archive())))

    async def submission_resource_names(submission: _Digest) -> Response:
        return json_response(await run_in_threadpool(lambda: _list_names(cache.get_archive(submission))))

    async def get_resource_data(name: str, submission: str | None = None) -> tuple[bytes, str]:
        cached = cache.get_cached_response(name, submission)
        return await run_in_threadpool(lambda: cache.build_response(name, submission)) if cached is None else cached

    async def resource(name: _Name, request: Request) -> Response:
        return _cached_response(request, *await get_resource_data(name))

    async def submission_resource(submission: _Digest, name: _Name, request: Request) -> Response:
        return _cached_response(request, *await get_resource_data(name, submission))

    async def search(parameters: Annotated[_SearchParameters, Query()]) -> Response:
        config.search_rate.count_request()
        query = CaseQuery(**parameters.model_dump())
        return json_response(await run_in_threadpool(lambda: search_cases(cache.get_archive(), query)))

    async def upload(
        gold: Annotated[UploadFile, File()],
        predictions: Annotated[UploadFile, File()],
        system: Annotated[str, Form(pattern=f"^{NAME}$")],
        authorization: Annotated[str, Header(description="Bearer TOKEN; `karat serve` prints it")],
        profile: Annotated[str, Form(max_length=40)] = "karat",
        kb: Annotated[str, Form(max_length=255, description="A name of GET /api/uploads; empty for none")] = "",
        description: Annotated[str, Form(max_length=MAX_DESCRIPTION)] = "",
        date: Annotated[str, Form(max_length=10, description="Date of the system, such as 2026-01-31")] = "",
        key: Annotated[str, Form(pattern=_PROGRESS_KEY, description="Random key to ask for the progress")] = "",
    ) -> Response:
        check_token(authorization, config.token)
        config.upload_rate.count_request()
        gold_file, predictions_file = [
            (side.filename or "", await _read_upload(side, config.upload_limits.size)) for side in (gold, predictions)
        ]
        if not scoring.acquire(blocking=False):
            raise WebError("too-often", "other uploads are being scored. Try again in a minute.")
        try:
            progress[key] = UploadProgress("starting")
            submission = await run_in_threadpool(
                lambda: score_upload(
                    config.root,
                    Upload(gold_file, predictions_file, system, profile, kb, description, date),
                    config.knowledge_bases,
                    config.upload_limits,
                    lambda task: progress.update({key: task}),
                )
            )
        finally:
            progress.pop(key, None)
            scoring.release()
        return json_response(
            await run_in_threadpool(lambda: _describe_upload(cache.get_archive(submission), submission)), 201
        )

    async def upload_options() -> Response:
        return json_response(_list_upload_options(config))

    async def upload_progress(key: Annotated[str, PathParameter(pattern=_PROGRESS_KEY)]) -> Response:
        if key not in progress:
            raise WebError("not-found", "no upload with this key is being scored.")
        return json_response(progress[key])

    async def openapi() -> Response:
        return Response(json.dumps(_build_openapi(app)), media_type="application/json")

    def add_get_route(path: str, endpoint: Callable[..., Any], summary: str | None = None) -> None:
        app.add_api_route(
            path,
            endpoint,
            methods=["GET"],
            summary=summary,
            responses=error_responses,
            include_in_schema=summary is not None,
        )

    add_get_route("/", page)
    add_get_route("/api/resources", resource_names, "List the names of all resources")
    add_get_route("/api/resources/{name:path}", resource, "Get a resource by its name")
    add_get_route("/api/cases", search, "Search all cases by entity, surface form or regular expression (RE2)")
    app.add_api_route(
        "/api/uploads", upload, methods=["POST"], summary="Score gold and predictions", responses=error_responses
    )
    add_get_route("/api/uploads", upload_options, "List the profiles and knowledge bases that uploads may name")
    add_get_route("/api/uploads/{key}", upload_progress, "Get the progress of an upload that is being scored")
    add_get_route("/api/openapi.json", openapi)
    add_get_route("/at/{submission}/", submission_page)
    add_get_route(
        "/at/{submission}/api/resources",
        submission_resource_names,
        "List the resources of one submission; it never changes",
    )
    add_get_route(
        "/at/{submission}/api/resources/{name:path}",
        submission_resource,
        "Get a resource of one submission by its name",
    )
    add_get_route("/at/{submission}/{name}", submission_static)
    add_get_route("/{name}", static)
    add_error_handlers(app)

    def check_write(headers: RequestHeaders) -> None:
        check_token(headers.get(b"authorization"), config.token)

    return Guard(app, config.hosts, config.upload_limits.size + _ENVELOPE, check_write)


class _SearchParameters(BaseModel):
    """Query parameters of a case search, all of which must hold."""

    entity: str | None = Parameter(None, max_length=1000)
    surface: str | None = Parameter(None, max_length=1000)
    kind: Literal[CASE_KINDS] | None = None  # type: ignore[valid-type]  # the words that pages use
    system: str | None = Parameter(None, max_length=1000)
    dataset: str | None = Parameter(None, pattern="^[0-9a-f]{12}$")
    pattern: str | None = Parameter(None, max_length=200)
    limit: int = Parameter(100, ge=1, le=MAX_CASES)
    offset: int = Parameter(0, ge=0, le=10_000_000)


def _cached_response(request: Request, data: bytes, tag: str) -> Response:
    """Return the JSON `data` (gzip) with its entity tag, decompressed if needed; status 304 if the browser has it."""
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    if "gzip" not in request.headers.get("accept-encoding", ""):
        return Response(gzip.decompress(data), media_type="application/json", headers=headers)
    return Response(data, media_type="application/json", headers={**headers, "content-encoding": "gzip"})


async def _read_upload(file: UploadFile, max_bytes: int) -> bytes:
    """Read an uploaded file; raise a `too-large` error if it exceeds `max_bytes`."""
    data: bytes = await file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise WebError("too-large", f"the file exceeds {max_bytes:,} bytes. Use `karat report --archive`.")
    return data


class UploadedEntries(JsonRecord, frozen=True):
    """The result of an upload: content hashes of its entries, and URLs that show them."""

    entries: list[str]
    links: list[str]


class UploadProfile(JsonRecord, frozen=True):
    """A profile that uploads may name."""

    name: str
    title: str
    description: str


class UploadOptions(JsonRecord, frozen=True):
    """The choices that uploads have."""

    is_open: bool
    """Whether the server accepts uploads."""
    max_bytes: int
    profiles: list[UploadProfile]
    knowledge_bases: list[str]


def _list_upload_options(config: ServerConfig) -> UploadOptions:
    """Return the profiles and knowledge bases that uploads may choose, the default profile first."""
    profiles = {name: get_profile(name) for name in dict.fromkeys(["karat", *list_plugins("profiles")])}
    return UploadOptions(
        config.token is not None,
        config.upload_limits.size,
        [UploadProfile(name, profile.title, profile.description) for name, profile in profiles.items()],
        list(config.knowledge_bases),
    )


class ResourceNames(JsonRecord, frozen=True):
    """The names of all resources, and the content hashes of all entries."""

    resources: list[str]
    entries: list[str]


def _list_names(archive: Archive) -> ResourceNames:
    """Return the names of all resources and the hashes of all entries; both are empty for an empty archive."""
    entries = [digest for submission in archive.submissions for digest in submission.entries]
    return ResourceNames(list(list_resources(archive)) if entries else [], entries)


def _describe_upload(archive: Archive, name: str) -> UploadedEntries:
    """Return the entries of the upload `name`, and its URLs: the permanent one, and the leaderboard of each dataset."""
    (submission,) = archive.submissions
    leaderboard_links = dict.fromkeys(f"/#/leaderboard?show=measures&dataset={key}" for key in archive.datasets)
    return UploadedEntries(submission.entries, [f"/at/{name}/", *leaderboard_links])


def _describe_error_responses() -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of error responses, by HTTP status."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{WebProblem.__name__}"}}}
    return {status: {"description": "an error", "content": content} for status in sorted({*PROBLEMS.values()})}


def _build_openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description of all routes of `app`, with the JSON schemas of their responses.

    A resource is a JSON document that a page of the report shows; each kind of resource has a schema.
    """
    description: dict[str, Any] = get_openapi(title=app.title, version=app.version, routes=app.routes)
    resources = [resource.record for resource in list_all().values()]
    kinds = [*resources, SearchResource, ResourceNames, UploadedEntries, UploadOptions, UploadProgress, WebProblem]
    (*schemas,), components = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    description.setdefault("components", {}).setdefault("schemas", {}).update(components)
    search_schema, names_schema, upload_schema, options_schema, progress_schema, _ = schemas[len(resources) :]
    any_resource = {"anyOf": schemas[: len(resources)]}
    responses = {
        ("/api/resources", "get", "200"): names_schema,
        ("/api/resources/{name}", "get", "200"): any_resource,
        ("/api/cases", "get", "200"): search_schema,
        ("/api/uploads", "get", "200"): options_schema,
        ("/api/uploads", "post", "201"): upload_schema,
        ("/api/uploads/{key}", "get", "200"): progress_schema,
        ("/at/{submission}/api/resources", "get", "200"): names_schema,
        ("/at/{submission}/api/resources/{name}", "get", "200"): any_resource,
    }
    for (path, method, status), schema in responses.items():
        route_responses = description["paths"][path][method]["responses"]
        route_responses.pop("200", None)
        route_responses[status] = {"description": "done", "content": {"application/json": {"schema": schema}}}
    return description
