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
from karat.kb.pack.pack import Pack
from karat.kb.spaces import key_of
from karat.serve.guard import HEADERS, LOOPBACK, Guard, WebError, check_json
from karat.serve.replies import answer_errors, json_reply, page_reply, static_reply
from karat.verification.campaign import JudgingTask, ShownLink
from karat.verification.decisions import ANSWERS, Decision, Judgement, standing
from karat.verification.store.store import SESSION, CampaignStore, NotYoursError, Said
from karat.version import __version__

COOKIE: Final = "karat_judge"
_SIZE: Final = 20_000  # bytes that a request may have at most
_STATIC: Final = frozenset({"judge.js", "judge.css", "licences.txt"})
_FOUND: Final = 10  # entities that a search gives
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
    store.campaign  # noqa: B018  # is read once, before anybody waits for it
    app = FastAPI(title="Karat verification", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)

    async def page() -> Response:
        return page_reply(store.terms.name, "judge")

    async def static(name: str) -> Response:
        return static_reply(name, _STATIC)

    async def campaign() -> Response:
        terms = store.terms
        return json_reply(
            shape.CampaignShown(
                terms.name, terms.kind, terms.consent, terms.guidelines, judging.pack is not None, terms.additions
            )
        )

    async def enter(request: Request) -> Response:
        given = await _body(request, shape.Entering)
        if store.terms.consent and not given.consent:
            raise WebError("bad-request", "who judges agrees to what the campaign asks first.")
        session = await run_in_threadpool(store.enter, given.invitation, given.consent)
        judge = await run_in_threadpool(store.who, session)
        reply = json_reply(await run_in_threadpool(_progress, store, judge or ""), 201)
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
        judge = await _judge(store, request)
        return json_reply(await run_in_threadpool(_next, judging, judge))

    async def progress(request: Request) -> Response:
        judge = await _judge(store, request)
        return json_reply(await run_in_threadpool(_progress, store, judge))

    async def judged(name: str, request: Request) -> Response:
        judge, said = await _judge(store, request), await _body(request, Said)
        return await _kept(judge, lambda: store.judge(judge, store.task(name), said))

    async def skipped(name: str, request: Request) -> Response:
        judge, given = await _judge(store, request), await _body(request, shape.Skipping)
        return await _kept(judge, lambda: store.skip(judge, store.task(name), given.reason))

    async def undone(request: Request) -> Response:
        judge, given = await _judge(store, request), await _body(request, shape.Undoing)
        return await _kept(judge, lambda: store.undo(judge, given.id))

    async def _kept(judge: str, keep: Callable[[], Judgement]) -> Response:
        def work() -> shape.RecordShown:
            record = keep()
            return shape.RecordShown(record.id, record.decision.value, record.late, _progress(store, judge))

        return json_reply(await run_in_threadpool(work), 201)

    async def search(request: Request, q: str) -> Response:
        await _judge(store, request)
        if judging.pack is None or len(q) > 200:
            raise WebError("bad-request", "there is nothing to search in, or the text is too long.")
        return json_reply(await run_in_threadpool(_found, judging.pack, q))

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


async def _judge(store: CampaignStore, request: Request) -> str:
    """Who asks; nobody without a session."""
    judge: str | None = await run_in_threadpool(store.who, request.cookies.get(COOKIE, ""))
    if judge is None:
        raise WebError("unauthorised", "your session has ended. Ask for a new invitation.")
    return judge


async def _body(request: Request, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise WebError("bad-request", str(problem)) from None


def _next(judging: Judging, judge: str) -> shape.NextShown:
    store = judging.store
    task = store.lease(judge)
    if task is None:
        return shape.NextShown(None, shape.ProgressShown(*store.progress(judge, nothing_left=True)))
    return shape.NextShown(_shown(judging, task, standing(store.own(judge, task))), _progress(store, judge))


def _shown(judging: Judging, task: JudgingTask, said: Sequence[Judgement]) -> shape.TaskShown:
    ids = {link.entity for link in task.links} | {one.entity for link in task.links for one in link.options}
    named = sorted(filter(None, ids | {one.becomes for one in said}))
    entities = dict(zip(named, _entities(judging.pack, named), strict=True))
    decided = {one.link: one for one in said if one.decision in ANSWERS}

    def link_shown(place: int, link: ShownLink) -> shape.LinkShown:
        own = decided.get(place)
        so_far = own and shape.DecisionShown(own.id, own.decision.value, entities.get(own.becomes or ""), own.chosen)
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
    return shape.TaskShown(judging.store.named(task), task.text, links, added)


def _entities(pack: Pack | None, ids: Sequence[str]) -> list[shape.EntityShown]:
    if pack is None or not ids:
        return [shape.EntityShown(one, None, None, (), _link(one)) for one in ids]
    types = pack.types(ids)
    classes = sorted({one for own in types for one in own or ()})
    named = dict(zip(classes, pack.names(classes), strict=True))
    columns = zip(ids, pack.names(ids), pack.descriptions(ids), types, strict=True)
    return [
        shape.EntityShown(id, name, said, tuple(named[one] or one for one in sorted(own or ())), _link(id))
        for id, name, said, own in columns
    ]


def _link(id: str) -> str | None:
    """Where people read about an entity; known knowledge bases only."""
    key = key_of(id)
    return f"https://www.wikidata.org/wiki/{key.local}" if key is not None and key.space == "wikidata" else None


def _found(pack: Pack, text: str) -> shape.FoundShown:
    if pack.index is None or not text.strip():
        return shape.FoundShown(())
    found = pack.index.beginning(text.strip(), _FOUND) or pack.index.near(text.strip(), _FOUND)
    return shape.FoundShown(tuple(_entities(pack, [each.id for each in found])))


def _progress(store: CampaignStore, judge: str) -> shape.ProgressShown:
    return shape.ProgressShown(*store.progress(judge))
