"""An annotation project over HTTP: annotators mark and link mentions, adjudicators decide where they disagree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from karat.data.lint.document_linter import DocumentLinter
from karat.kb.snapshot.snapshot import Snapshot
from karat.model.errors import KaratError
from karat.protocols.annotation.changes import LabelEdit
from karat.protocols.annotation.project import AnnotationTask
from karat.protocols.annotation.store.store import AnnotationStore, RevisionError, StoredChange
from karat.protocols.campaigns.participants import AccessDeniedError
from karat.version import __version__
from karat.web.annotating import payloads
from karat.web.annotating.adjudication import AdjudicationView
from karat.web.annotating.documents import DocumentDesk, look_up
from karat.web.annotating.lead import ProjectView
from karat.web.campaigns.entities import EntityLookup, search_entities
from karat.web.campaigns.lead import LeadEndpoints
from karat.web.campaigns.payloads import SearchPayload
from karat.web.campaigns.sessions import SessionEndpoints, decode_body
from karat.web.server.guard import HEADERS, Guard, check_json
from karat.web.server.http_responses import add_error_handlers, json_response, page_response, static_response
from karat.web.server.parameters import check_parameters
from karat.web.server.request_checks import LOOPBACK, GuessLimit

COOKIE: Final = "karat_annotator"
_SIZE: Final = 2_000_000  # bytes that a request may have at most: a change of thousands of labels
_STATIC: Final = frozenset({"annotate.js", "annotate.css", "licences.txt"})


@dataclass(frozen=True)
class AnnotatingConfig:
    """Configuration of an annotation server.

    `snapshot` is searched for entities and used by lint rules (None: no search), `hosts` are the accepted host names,
    and `https_only` makes browsers send the session cookie over HTTPS only. `guesses` bounds how many wrong invitations
    a client may send. `lead_token` opens the page of the lead as long as the server runs, besides the tokens that the
    store created.
    """

    store: AnnotationStore
    snapshot: Snapshot | None = None
    hosts: tuple[str, ...] = LOOPBACK
    https_only: bool = False
    guesses: GuessLimit = field(default_factory=GuessLimit)
    lead_token: str | None = None


def create_app(config: AnnotatingConfig) -> Guard:
    """Create the ASGI application of a project, behind the guard that checks every request."""
    store = config.store
    options = store.options
    entities = EntityLookup(config.snapshot)
    look_up(entities, (item.label for task in store.project.tasks for item in task.suggestions))  # before anyone waits
    linter = DocumentLinter(config.snapshot, frozenset(options.whitelist) or None, options.scheme)
    desk, adjudication = DocumentDesk(store, entities, linter), AdjudicationView(store, entities)
    lead = LeadEndpoints(store, ProjectView(store, entities), config.lead_token, config.guesses)
    sessions = SessionEndpoints(store, COOKIE, options.consent, "annotating", config.https_only, config.guesses)
    app = FastAPI(
        title="Karat annotation",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(check_parameters)],
    )

    async def page() -> Response:
        return page_response(options.name, "annotate")

    async def static(name: str) -> Response:
        return static_response(name, _STATIC)

    async def project(request: Request) -> Response:
        def work() -> payloads.ProjectPayload:
            return desk.describe_project(sessions.find_person(request))

        return json_response(await run_in_threadpool(work))

    async def start_session(request: Request) -> Response:
        return await sessions.start(request, desk.describe_session)

    async def documents(request: Request) -> Response:
        return await sessions.run(request, desk.list_documents)

    async def next_document(request: Request) -> Response:
        await decode_body(request, payloads.EmptyRequest)
        return await sessions.run(request, desk.reserve_document)

    async def document(name: str, request: Request) -> Response:
        return await sessions.run(request, lambda person: desk.get_document(person, store.get_task(name)))

    async def findings(name: str, request: Request) -> Response:
        return await sessions.run(request, lambda person: desk.get_findings(person, store.get_task(name)))

    async def change(name: str, request: Request) -> Response:
        body = await decode_body(request, payloads.ChangeRequest)
        edits = tuple(LabelEdit(edit.id, edit.after) for edit in body.edits)

        def work(person: str) -> payloads.ChangePayload:
            stored = store.submit_change(
                person, store.get_task(name), body.id, body.revision, edits, body.seconds, body.client_time
            )
            return desk.describe_change(stored)

        return await sessions.run(request, work, 201)

    async def undo(name: str, request: Request) -> Response:
        return await _reverse(name, request, store.undo)

    async def redo(name: str, request: Request) -> Response:
        return await _reverse(name, request, store.redo)

    async def _reverse(
        name: str, request: Request, reverse: Callable[[str, AnnotationTask, str, int], StoredChange]
    ) -> Response:
        body = await decode_body(request, payloads.RevisionRequest)

        def work(person: str) -> payloads.UndoPayload:
            return desk.describe_undo(reverse(person, store.get_task(name), body.id, body.revision))

        return await sessions.run(request, work, 201)

    async def finish(name: str, request: Request) -> Response:
        body = await decode_body(request, payloads.StatusRequest)
        return await _set_status(request, lambda person: store.finish(person, store.get_task(name), body.id))

    async def reopen(name: str, request: Request) -> Response:
        body = await decode_body(request, payloads.StatusRequest)
        return await _set_status(request, lambda person: store.reopen(person, store.get_task(name), body.id))

    async def skip(name: str, request: Request) -> Response:
        body = await decode_body(request, payloads.DocumentSkipRequest)
        return await _set_status(request, lambda person: store.skip(person, store.get_task(name), body.id, body.reason))

    async def _set_status(request: Request, set_status: Callable[[str], StoredChange]) -> Response:
        return await sessions.run(request, lambda person: payloads.StatusPayload(set_status(person).view.status), 201)

    async def history(name: str, request: Request, label: str | None = None) -> Response:
        def work(person: str) -> payloads.HistoryPayload:
            task = store.get_task(name)
            if store.get_role(person) == "adjudicator":
                return adjudication.get_history(task, label)
            return desk.get_history(person, task, label)

        return await sessions.run(request, work)

    async def search(request: Request, q: str) -> Response:
        def work(_: str) -> SearchPayload:
            return search_entities(entities, q)

        return await sessions.run(request, work)

    async def review(request: Request) -> Response:
        return await sessions.run(request, desk.get_review)

    async def adjudications(request: Request) -> Response:
        return await _adjudicate(request, lambda _: adjudication.list_documents())

    async def adjudicated_document(name: str, request: Request) -> Response:
        return await _adjudicate(request, lambda _: adjudication.get_document(store.get_task(name)))

    async def decide(name: str, request: Request) -> Response:
        body = await decode_body(request, payloads.DecisionRequest)
        return await _adjudicate(request, lambda person: adjudication.decide(person, store.get_task(name), body), 201)

    async def _adjudicate(request: Request, work: Callable[[str], msgspec.Struct], status: int = 200) -> Response:
        """Run `work` for an adjudicator; raise `AccessDeniedError` for other people."""

        def run(person: str) -> msgspec.Struct:
            if store.get_role(person) != "adjudicator":
                raise AccessDeniedError("only adjudicators see the labels of others. Ask the organisers.")
            return work(person)

        return await sessions.run(request, run, status)

    routes: list[tuple[str, str, Callable[..., Any], str]] = [
        ("GET", "/api/project", project, "Get the project"),
        ("POST", "/api/session", start_session, "Exchange an invitation for a session"),
        ("DELETE", "/api/session", sessions.end, "End the session"),
        ("GET", "/api/documents", documents, "List the annotator's documents"),
        ("POST", "/api/documents/next", next_document, "Reserve the next document"),
        ("GET", "/api/documents/{name}", document, "Get a document with the annotator's labels"),
        ("GET", "/api/documents/{name}/findings", findings, "Lint a document"),
        ("POST", "/api/documents/{name}/changes", change, "Change labels"),
        ("POST", "/api/documents/{name}/undo", undo, "Undo the latest change"),
        ("POST", "/api/documents/{name}/redo", redo, "Redo the change that was undone last"),
        ("POST", "/api/documents/{name}/finish", finish, "Finish a document"),
        ("POST", "/api/documents/{name}/reopen", reopen, "Reopen a document"),
        ("POST", "/api/documents/{name}/skip", skip, "Skip a document"),
        ("GET", "/api/documents/{name}/history", history, "Get the history of a label"),
        ("GET", "/api/search", search, "Search entities by name, id or address"),
        ("GET", "/api/review", review, "Get what adjudicators decided otherwise"),
        ("GET", "/api/adjudication", adjudications, "List documents to adjudicate"),
        ("GET", "/api/adjudication/{name}", adjudicated_document, "Get a document to adjudicate"),
        ("POST", "/api/adjudication/{name}/decisions", decide, "Decide on a region"),
        *lead.list_routes(),
        ("GET", "/", page, "The annotation page"),
        ("GET", "/{name}", static, "Its script and style"),
    ]
    for method, path, endpoint, description in routes:
        app.add_api_route(path, endpoint, methods=[method], summary=description)
    add_error_handlers(
        app, {KaratError: "bad-request", AccessDeniedError: "not-yours", RevisionError: "stale"}, "annotate"
    )
    return Guard(app, config.hosts, _SIZE, check_json, {**HEADERS, "cache-control": "no-store"})
