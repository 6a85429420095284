"""Query parameters and form fields of requests: a route accepts those of its OpenAPI description and no others."""

from __future__ import annotations

from typing import Any, NamedTuple

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi

from karat.model.errors import UnknownNameError
from karat.web.server.request_checks import WebError


class _Parameters(NamedTuple):
    """Names that a route accepts."""

    query: frozenset[str] = frozenset()
    form: frozenset[str] = frozenset()


async def check_parameters(request: Request) -> None:
    """Raise a `bad-request` error if a request to the API has an unknown query parameter or form field.

    It is a dependency of each application, because the web framework ignores unknown names.
    """
    if "/api/" not in request.url.path:
        return
    accepted = _list_parameters(request.app).get((request.scope["route"].path_format, request.method), _Parameters())
    form = await request.form() if accepted.form else ()  # the web framework has read it
    for kind, names, known_names in (
        ("query parameter", request.query_params, accepted.query),
        ("form field", form, accepted.form),
    ):
        for name in names:
            if name not in known_names:
                raise WebError("bad-request", str(UnknownNameError(kind, name, known_names)))


def _list_parameters(app: FastAPI) -> dict[tuple[str, str], _Parameters]:
    """Return the parameters of the routes of an application by path and method, derived once."""
    if not hasattr(app.state, "parameters"):
        description = get_openapi(title=app.title, version=app.version, routes=app.routes)
        schemas = description.get("components", {}).get("schemas", {})
        app.state.parameters = {
            (path, method.upper()): _Parameters(
                frozenset(item["name"] for item in operation.get("parameters", ()) if item["in"] == "query"),
                frozenset(_list_form_fields(operation, schemas)),
            )
            for path, operations in description["paths"].items()
            for method, operation in operations.items()
        }
    parameters: dict[tuple[str, str], _Parameters] = app.state.parameters
    return parameters


def _list_form_fields(operation: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """Return the form fields of an operation of an OpenAPI description, whose `schemas` have them."""
    content = operation.get("requestBody", {}).get("content", {}).get("multipart/form-data")
    return [] if content is None else list(schemas[content["schema"]["$ref"].rpartition("/")[2]]["properties"])
