"""A verification campaign over HTTP: judges enter by an invitation, get tasks and judge them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response

from karat.kb.snapshot.snapshot import Snapshot
from karat.model.errors import KaratError
from karat.protocols.campaigns.participants import AccessDeniedError
from karat.protocols.verification.campaign import JudgingTask, TaskLink
from karat.protocols.verification.judgements import REQUIRED_DECISIONS, Decision, Judgement, effective_judgements
from karat.protocols.verification.store.store import CampaignStore, SubmittedDecision
from karat.version import __version__
from karat.web.campaigns.entities import EntityLookup, search_entities
from karat.web.campaigns.lead import LeadEndpoints
from karat.web.campaigns.payloads import SearchPayload
from karat.web.campaigns.sessions import SessionEndpoints, decode_body
from karat.web.judging import payloads
from karat.web.judging.lead import CampaignView
from karat.web.server.guard import HEADERS, Guard, check_json
from karat.web.server.http_responses import add_error_handlers, json_response, page_response, static_response
from karat.web.server.parameters import check_parameters
from karat.web.server.request_checks import LOOPBACK, GuessLimit, WebError

COOKIE: Final = "karat_judge"
_SIZE: Final = 20_000  # bytes that a request may have at most
_STATIC: Final = frozenset({"judge.js", "judge.css", "licences.txt"})
_T = TypeVar("_T")


@dataclass(frozen=True)
class JudgingConfig:
    """Configuration of a judging server.

    `snapshot` is searched for entities (None: no search), `hosts` are the accepted host names, and `https_only` makes
    browsers send the session cookie over HTTPS only. `guesses` bounds how many wrong invitations a client may send.
    `lead_token` opens the page of the lead as long as the server runs, besides the tokens that the store created.
    """

    store: CampaignStore
    snapshot: Snapshot | None = None
    hosts: tuple[str, ...] = LOOPBACK
    https_only: bool = False
    guesses: GuessLimit = field(default_factory=GuessLimit)
    lead_token: str | None = None


def create_app(config: JudgingConfig) -> Guard:
    """Create the ASGI application of a campaign, behind the guard that checks every request."""
    store = config.store
    entities = EntityLookup(config.snapshot)
    sessions = SessionEndpoints(store, COOKIE, store.options.consent, "judging", config.https_only, config.guesses)
    lead = LeadEndpoints(store, CampaignView(store, entities), config.lead_token, config.guesses)
    links = [link for task in store.campaign.tasks for link in task.links]  # looked up before anybody waits for it
    entities.get_entities(
        id for link in links for id in (link.entity, *(option.entity for option in link.options)) if id
    )
    app = FastAPI(
        title="Karat verification",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(check_parameters)],
    )

    async def page() -> Response:
        return page_response(store.options.name, "judge")

    async def static(name: str) -> Response:
        return static_response(name, _STATIC)

    async def campaign() -> Response:
        options = store.options
        return json_response(
            payloads.CampaignPayload(
                options.name, options.kind, options.consent, options.guidelines, entities.can_search, options.additions
            )
        )

    async def start_session(request: Request) -> Response:
        return await sessions.start(request, lambda judge: _get_full_progress(store, judge))

    async def next_task(request: Request) -> Response:
        return await sessions.run(request, lambda judge: _get_next_task(store, entities, judge))

    async def progress(request: Request) -> Response:
        return await sessions.run(request, lambda judge: _get_full_progress(store, judge))

    async def record_decision(name: str, request: Request) -> Response:
        body = await decode_body(request, SubmittedDecision)

        def record(judge: str) -> Judgement:
            task = store.get_task(name)
            ids = [] if body.becomes is None else [body.becomes, *(link.entity for link in task.links)]
            return store.record_decision(judge, task, body, entities.resolve(ids))

        return await _store_record(request, record)

    async def skip_task(name: str, request: Request) -> Response:
        body = await decode_body(request, payloads.SkipRequest)
        return await _store_record(request, lambda judge: store.skip_task(judge, store.get_task(name), body.reason))

    async def undo_record(request: Request) -> Response:
        body = await decode_body(request, payloads.UndoRequest)
        return await _store_record(request, lambda judge: store.undo_record(judge, body.id))

    async def search(request: Request, q: str) -> Response:
        def run_search(_: str) -> SearchPayload:
            if not entities.can_search:
                raise WebError("bad-request", "search is not available. Start the server with --kb.")
            return search_entities(entities, q)

        return await sessions.run(request, run_search)

    async def _store_record(request: Request, store_record: Callable[[str], Judgement]) -> Response:
        def work(judge: str) -> payloads.RecordPayload:
            record = store_record(judge)
            return payloads.RecordPayload(record.id, record.decision.value, record.is_late, _get_progress(store, judge))

        return await sessions.run(request, work, 201)

    routes: list[tuple[str, str, Callable[..., Any], str]] = [
        ("GET", "/api/campaign", campaign, "Get the campaign"),
        ("POST", "/api/session", start_session, "Exchange an invitation for a session"),
        ("DELETE", "/api/session", sessions.end, "End the session"),
        ("GET", "/api/task", next_task, "Get the current or next task"),
        ("GET", "/api/progress", progress, "Get the judge's progress"),
        ("POST", "/api/tasks/{name}/judgements", record_decision, "Decide on a link"),
        ("POST", "/api/tasks/{name}/skip", skip_task, "Skip a task"),
        ("POST", "/api/undo", undo_record, "Undo a record"),
        ("GET", "/api/search", search, "Search entities by name"),
        *lead.list_routes(),
        ("GET", "/", page, "The judging page"),
        ("GET", "/{name}", static, "Its script and style"),
    ]
    for method, path, endpoint, description in routes:
        app.add_api_route(path, endpoint, methods=[method], summary=description)
    add_error_handlers(app, {KaratError: "bad-request", AccessDeniedError: "not-yours"}, "judge")
    return Guard(app, config.hosts, _SIZE, check_json, {**HEADERS, "cache-control": "no-store"})


def _get_next_task(store: CampaignStore, entities: EntityLookup, judge: str) -> payloads.NextTaskPayload:
    """Reserve the current or next task for a judge and return it with the judge's progress; None if no task is left."""
    task = store.lease_task(judge)
    if task is None:
        return payloads.NextTaskPayload(None, payloads.ProgressPayload(*store.get_progress(judge, nothing_left=True)))
    judgements = effective_judgements(store.get_task_records(judge, task))
    return payloads.NextTaskPayload(
        _describe_task(store.get_task_name(task), entities, task, judgements), _get_progress(store, judge)
    )


def _describe_task(
    name: str, lookup: EntityLookup, task: JudgingTask, judgements: Sequence[Judgement]
) -> payloads.TaskPayload:
    """Return a task as a judge sees it: names of entities, offsets in the passage, and the judge's decisions so far."""
    ids = {link.entity for link in task.links} | {item.entity for link in task.links for item in link.options}
    entities = lookup.get_entities(filter(None, ids | {item.becomes for item in judgements}))
    decisions = {item.link: item for item in judgements if item.decision in REQUIRED_DECISIONS}

    def describe_link(index: int, link: TaskLink) -> payloads.LinkPayload:
        judgement = decisions.get(index)
        decision = None
        if judgement is not None:
            decision = payloads.DecisionPayload(
                judgement.id, judgement.decision.value, entities.get(judgement.becomes or ""), judgement.chosen
            )
        span = (link.start - task.start, link.end - task.start, task.surface(link))
        return payloads.LinkPayload(
            *span, entities.get(link.entity), tuple(entities[item.entity] for item in link.options), decision
        )

    added_links = tuple(
        payloads.AddedLinkPayload(
            item.id, item.start - task.start, item.end - task.start, item.surface, entities[item.becomes or ""]
        )
        for item in judgements
        if item.decision is Decision.ADD and item.start is not None and item.end is not None
    )
    links = tuple(describe_link(index, link) for index, link in enumerate(task.links))
    return payloads.TaskPayload(name, task.text, links, added_links)


def _get_progress(store: CampaignStore, judge: str) -> payloads.ProgressPayload:
    """Return the number of tasks that a judge has completed, with batch size and completion code if there are any."""
    return payloads.ProgressPayload(*store.get_progress(judge))


def _get_full_progress(store: CampaignStore, judge: str) -> payloads.ProgressPayload:
    """Return the progress of a judge, with the completion code also if no task is left."""
    return payloads.ProgressPayload(*store.get_progress(judge, nothing_left=store.has_no_task(judge)))
