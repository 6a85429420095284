"""A campaign by HTTP: a judge enters by an invitation, gets tasks, and judges them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec
from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from karat.errors import KaratError
from karat.judging import shape
from karat.judging.entities import ShownEntities
from karat.kb.pack.pack import Pack
from karat.serve.guard import HEADERS, LOOPBACK, Guard, WebError, check_json
from karat.serve.replies import answer_errors, json_reply, page_reply, static_reply
from karat.verification.campaign import JudgingTask, ShownLink
from karat.verification.decisions import ANSWERS, Decision, Judgement, standing
from karat.verification.store.store import SESSION, CampaignStore, NotYoursError, Said
from karat.version import __version__

COOKIE: Final = "karat_judge"
_SIZE: Final = 20_000  # bytes that a request may have at most
_STATIC: Final = frozenset({"judge.js", "judge.css", "licences.txt"})
_T = TypeVar("_T")


@dataclass(frozen=True)
class Judging:
    """What a server lets judge: the campaign, where judges search, under which names, and whether by https only."""

    store: CampaignStore
    pack: Pack | None = None
    hosts: tuple[str, ...] = LOOPBACK
    secure: bool = False


def created(judging: Judging) -> Guard:
    """The application, behind its guard."""
    store = judging.store
    entities = ShownEntities(judging.pack)
    shown = [link for task in store.campaign.tasks for link in task.links]  # looked up before anybody waits for it
    entities.of(id for link in shown for id in (link.entity, *(one.entity for one in link.options)) if id)
    app = FastAPI(title="Karat verification", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)

    async def page() -> Response:
        return page_reply(store.terms.name, "judge")

    async def static(name: str) -> Response:
        return static_reply(name, _STATIC)

    async def campaign() -> Response:
        terms = store.terms
        return json_reply(
            shape.CampaignShown(
                terms.name, terms.kind, terms.consent, terms.guidelines, entities.searchable, terms.additions
            )
        )

    async def enter(request: Request) -> Response:
        given = await _body(request, shape.Entering)
        if store.terms.consent and not given.consent:
            raise WebError("bad-request", "who judges agrees to what the campaign asks first.")

        def work() -> tuple[str, shape.ProgressShown]:
            session = store.enter(given.invitation, given.consent)
            return session, _progress(store, store.who(session) or "")

        session, progress = await run_in_threadpool(work)
        reply = json_reply(progress, 201)
        reply.set_cookie(
            COOKIE, session, max_age=int(SESSION), httponly=True, samesite="strict", secure=judging.secure, path="/"
        )
        return reply

    async def leave(request: Request) -> Response:
        await run_in_threadpool(store.leave, request.cookies.get(COOKIE, ""))
        reply = Response(status_code=204)
        reply.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=judging.secure)
        return reply

    async def following(request: Request) -> Response:
        return await _for_judge(request, lambda judge: _next(store, entities, judge))

    async def progress(request: Request) -> Response:
        return await _for_judge(request, lambda judge: _progress(store, judge))

    async def judged(name: str, request: Request) -> Response:
        said = await _body(request, Said)
        return await _kept(request, lambda judge: store.judge(judge, store.task(name), said))

    async def skipped(name: str, request: Request) -> Response:
        given = await _body(request, shape.Skipping)
        return await _kept(request, lambda judge: store.skip(judge, store.task(name), given.reason))

    async def undone(request: Request) -> Response:
        given = await _body(request, shape.Undoing)
        return await _kept(request, lambda judge: store.undo(judge, given.id))

    async def search(request: Request, q: str) -> Response:
        def found(_: str) -> shape.FoundShown:
            if not entities.searchable or len(q) > 200:
                raise WebError("bad-request", "there is nothing to search in, or the text is too long.")
            return shape.FoundShown(entities.found(q))

        return await _for_judge(request, found)

    async def _kept(request: Request, keep: Callable[[str], Judgement]) -> Response:
        def work(judge: str) -> shape.RecordShown:
            record = keep(judge)
            return shape.RecordShown(record.id, record.decision.value, record.late, _progress(store, judge))

        return await _for_judge(request, work, 201)

    async def _for_judge(request: Request, work: Callable[[str], msgspec.Struct], status: int = 200) -> Response:
        """What some work gives for who asks, in one step outside of the loop; nobody without a session."""
        session = request.cookies.get(COOKIE, "")

        def done() -> msgspec.Struct:
            judge = store.who(session)
            if judge is None:
                raise WebError("unauthorised", "your session has ended. Ask for a new invitation.")
            return work(judge)

        return json_reply(await run_in_threadpool(done), status)

    routes: list[tuple[str, str, Callable[..., Any], str]] = [
        ("GET", "/api/campaign", campaign, "What judges are told"),
        ("POST", "/api/session", enter, "Exchange an invitation for a session"),
        ("DELETE", "/api/session", leave, "End the session"),
        ("GET", "/api/task", following, "The task that the judge holds, or a new one"),
        ("GET", "/api/progress", progress, "How far the judge has come"),
        ("POST", "/api/tasks/{name}/judgements", judged, "Decide on a link"),
        ("POST", "/api/tasks/{name}/skip", skipped, "Give a task back"),
        ("POST", "/api/undo", undone, "Take an own record back"),
        ("GET", "/api/search", search, "Entities by name"),
        ("GET", "/", page, "The pages of judges"),
        ("GET", "/{name}", static, "Their script and style"),
    ]
    for method, path, answer, says in routes:
        app.add_api_route(path, answer, methods=[method], summary=says)
    answer_errors(app, {KaratError: "bad-request", NotYoursError: "not-yours"})
    return Guard(app, judging.hosts, _SIZE, check_json, {**HEADERS, "cache-control": "no-store"})


async def _body(request: Request, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise WebError("bad-request", str(problem)) from None


def _next(store: CampaignStore, entities: ShownEntities, judge: str) -> shape.NextShown:
    task = store.lease(judge)
    if task is None:
        return shape.NextShown(None, shape.ProgressShown(*store.progress(judge, nothing_left=True)))
    said = standing(store.own(judge, task))
    return shape.NextShown(_shown(store.named(task), entities, task, said), _progress(store, judge))


def _shown(name: str, known: ShownEntities, task: JudgingTask, said: Sequence[Judgement]) -> shape.TaskShown:
    ids = {link.entity for link in task.links} | {one.entity for link in task.links for one in link.options}
    entities = known.of(filter(None, ids | {one.becomes for one in said}))
    decided = {one.link: one for one in said if one.decision in ANSWERS}

    def link_shown(place: int, link: ShownLink) -> shape.LinkShown:
        own = decided.get(place)
        so_far = None
        if own is not None:
            so_far = shape.DecisionShown(own.id, own.decision.value, entities.get(own.becomes or ""), own.chosen)
        span = (link.start - task.start, link.end - task.start, task.surface(link))
        return shape.LinkShown(
            *span, entities.get(link.entity), tuple(entities[one.entity] for one in link.options), so_far
        )

    added = tuple(
        shape.AdditionShown(
            one.id, one.start - task.start, one.end - task.start, one.surface, entities[one.becomes or ""]
        )
        for one in said
        if one.decision is Decision.ADD and one.start is not None and one.end is not None
    )
    links = tuple(link_shown(place, link) for place, link in enumerate(task.links))
    return shape.TaskShown(name, task.text, links, added)


def _progress(store: CampaignStore, judge: str) -> shape.ProgressShown:
    return shape.ProgressShown(*store.progress(judge))
