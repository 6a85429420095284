"""Responses of all servers: JSON, the page of a client with its script and style, and errors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, Final

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from karat.model.errors import KaratError, UnknownNameError
from karat.storage.database_errors import DatabaseUnavailableError
from karat.web.archive.html import read_bundle_file
from karat.web.server.request_checks import PROBLEMS, WebError

_LOGGER: Final = logging.getLogger("uvicorn.error")
_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}


def json_response(content: msgspec.Struct, status: int = 200) -> Response:
    """Return a response with `content` encoded as JSON."""
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def page_response(title: str, client: str) -> Response:
    """Return the HTML page that loads script and style of `client`: `client` (the viewer), `judge` or `annotate`.

    Until the script runs, the page says that it is loading.
    """
    content = '<div id="karat"><p class="waiting">Loading …</p><noscript>This page needs JavaScript.</noscript></div>'
    return _html_response(title, f"{client}.css", f'{content}\n<script src="{client}.js"></script>')


def _html_response(title: str, style: str, content: str, status: int = 200) -> Response:
    """Return an HTML page with a title, the URL of a style sheet, and the HTML of its body."""
    return Response(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="stylesheet" href="{style}">\n'
        f'<link rel="icon" href="data:,">\n</head>\n<body>\n{content}\n</body>\n</html>\n',
        status,
        media_type="text/html",
    )


def static_response(name: str, allowed: frozenset[str]) -> Response:
    """Return a response with a file of the web bundle; raise a `not-found` error unless `name` is `allowed`."""
    if name not in allowed:
        raise WebError("not-found", "no such file.")
    kind = _TYPES[name[name.rindex(".") :]]
    return Response(read_bundle_file(name), media_type=kind, headers={"cache-control": "no-cache"})


def add_error_handlers(
    app: FastAPI, error_names: Mapping[type[KaratError], str] | None = None, client: str = "client"
) -> None:
    """Make `app` send every exception as a `WebProblem`, or as a page in the style of `client` to browsers.

    `error_names` has names in `PROBLEMS` by exception type, in addition to the default names.
    """
    app.state.client = client
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
    for kind, error in {KaratError: "unusable", UnknownNameError: "not-found", **(error_names or {})}.items():
        app.add_exception_handler(kind, _make_handler(error))


def _make_handler(error: str) -> Callable[..., Any]:
    """Return a handler that sends the message of an exception under the error name `error`.

    The terminal of the server gets the cause, if there is one: what looks like damaged data may be an error of ours.
    """

    async def handle(request: Request, problem: Exception) -> Response:
        if problem.__cause__ is not None:
            _LOGGER.error("%s", problem, exc_info=problem.__cause__)
        return _problem_response(request, WebError(error, str(problem)))

    return handle


async def _handle_web_error(request: Request, problem: Exception) -> Response:
    """Return the response for a `WebError`, with its error name and message."""
    assert isinstance(problem, WebError)
    return _problem_response(request, problem)


async def _handle_invalid_request(request: Request, problem: Exception) -> Response:
    """Return the response for a request with invalid parameters; its message names each of them."""
    assert isinstance(problem, RequestValidationError)
    message = "; ".join(f"{'.'.join(map(str, error['loc'][1:]))}: {error['msg']}" for error in problem.errors())
    return _problem_response(request, WebError("bad-request", message or "the request is incomplete."))


async def _handle_http_error(request: Request, problem: Exception) -> Response:
    """Return the response for an error of the web framework, such as 404 for an unknown path.

    Its error name is the one with the same HTTP status in `PROBLEMS`, or else `bad-request`. Headers are passed on.
    """
    assert isinstance(problem, HTTPException)
    error = next((name for name, status in PROBLEMS.items() if status == problem.status_code), "bad-request")
    response = _problem_response(request, WebError(error, str(problem.detail)))
    response.headers.update(problem.headers or {})
    return response


async def _handle_unavailable_database(request: Request, problem: Exception) -> Response:
    """Return the response for a database that failed; it says that a write was not stored, and when to try again.

    The terminal of the server gets the details, which may name files and hosts.
    """
    assert isinstance(problem, DatabaseUnavailableError)
    _LOGGER.error("%s", problem)
    reason, _, seconds = problem.cause
    begin = "" if request.method in ("GET", "HEAD") else "this was not stored, because "
    response = _problem_response(request, WebError("unavailable", f"{begin}{reason}. Try again in {seconds} seconds."))
    response.headers["retry-after"] = str(seconds)
    return response


async def _handle_failure(request: Request, _: Exception) -> Response:
    """Return a response without details, because an unexpected exception may contain private data."""
    return _problem_response(request, WebError("internal", "internal error. See the server's terminal for details."))


def _problem_response(request: Request, problem: WebError) -> Response:
    """Return the response that describes an error, with its HTTP status: JSON, or a page if a browser opens a link."""
    is_page = request.method == "GET" and "/api/" not in request.url.path
    if not is_page or "text/html" not in request.headers.get("accept", ""):
        return json_response(problem.problem, problem.status)
    message = problem.problem.message
    content = (
        f'<main><div class="missing"><h1 class="summary">{escape(message[:1].upper() + message[1:])}</h1>'
        '<p><a href="/">Start page</a></p></div></main>'
    )
    style = f"/{request.app.state.client}.css"
    return _html_response("Page not found" if problem.status == 404 else "Error", style, content, problem.status)


_HANDLERS: Final[dict[type[Exception], Callable[..., Any]]] = {
    WebError: _handle_web_error,
    RequestValidationError: _handle_invalid_request,
    HTTPException: _handle_http_error,
    DatabaseUnavailableError: _handle_unavailable_database,
    Exception: _handle_failure,
}
