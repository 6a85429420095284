"""What all servers here answer: JSON, one page with its script and style, and every error in one shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any, Final

import msgspec
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from karat.archive.html import bundled
from karat.errors import KaratError, UnknownNameError
from karat.serve.guard import PROBLEMS, WebError

_TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}


def json_reply(content: msgspec.Struct, status: int = 200) -> Response:
    """A value, as JSON."""
    return Response(msgspec.json.encode(content), status, media_type="application/json")


def page_reply(title: str, client: str) -> Response:
    """The one page of a client, which does everything else itself."""
    return Response(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="stylesheet" href="{client}.css">\n'
        '<link rel="icon" href="data:,">\n</head>\n<body>\n<div id="karat"></div>\n'
        f'<script src="{client}.js"></script>\n</body>\n</html>\n',
        media_type="text/html",
    )


def static_reply(name: str, known: frozenset[str]) -> Response:
    """A file of the bundle, if it is among those that are shown."""
    if name not in known:
        raise WebError("not-found", "there is no such file.")
    kind = _TYPES[name[name.rindex(".") :]]
    return Response(bundled(name), media_type=kind, headers={"cache-control": "no-cache"})


def answer_errors(app: FastAPI, named: Mapping[type[KaratError], str] | None = None) -> None:
    """Have every error answered in one shape; `named` gives some kinds of errors names of their own."""
    for kind, answer in _HANDLERS.items():
        app.add_exception_handler(kind, answer)
    for kind, error in {KaratError: "unusable", UnknownNameError: "not-found", **(named or {})}.items():
        app.add_exception_handler(kind, _named(error))


def _named(error: str) -> Callable[..., Any]:
    async def answer(_: Request, problem: Exception) -> Response:
        return _problem(WebError(error, str(problem)))

    return answer


async def _refused(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, WebError)
    return _problem(problem)


async def _malformed(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, RequestValidationError)
    said = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in problem.errors())
    return _problem(WebError("bad-request", said or "the request lacks something."))


async def _by_status(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    error = next((name for name, status in PROBLEMS.items() if status == problem.status_code), "bad-request")
    reply = _problem(WebError(error, str(problem.detail)))
    reply.headers.update(problem.headers or {})
    return reply


async def _broken(_: Request, __: Exception) -> Response:
    return _problem(WebError("internal", "the server failed. What it was doing is on its terminal."))


def _problem(problem: WebError) -> Response:
    return json_reply(problem.problem, problem.status)


_HANDLERS: Final[dict[type[Exception], Callable[..., Any]]] = {
    WebError: _refused,
    RequestValidationError: _malformed,
    HTTPException: _by_status,
    Exception: _broken,
}
