"""The page of the lead over HTTP: an overview whose numbers open their cases, and who has access."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final, Protocol, TypeVar

import msgspec
from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from karat.protocols.campaigns.participants import ParticipantStore
from karat.protocols.campaigns.working_times import PACE_HOURS, WINDOWS, hours_left
from karat.web.campaigns.lead_payloads import FigureGroup, LeadCaseList, LeadFigure, Overview, RevokeRequest
from karat.web.campaigns.sessions import decode_body
from karat.web.server.guard import get_client
from karat.web.server.http_responses import json_response
from karat.web.server.request_checks import GuessLimit, WebError

PAGE_SIZE: Final = 50
"""Cases that a response has at most."""

_MAX_HOURS: Final = 24 * 365 * 10
_MAX_OFFSET: Final = 10_000_000
_T = TypeVar("_T")


class LeadQuery(msgspec.Struct, frozen=True):
    """Parameters of a request for the cases behind a number."""

    show: str
    """Name of a filter."""
    person: str | None
    """Pseudonym of the only person; None for all."""
    hours: float | None
    """Number of hours before now; None for all times."""
    offset: int
    """Number of cases that are not sent."""


class LeadView(Protocol):
    """A campaign as its lead sees it."""

    def build_overview(self, now: datetime) -> Overview:
        """Return all numbers."""

    def find_cases(self, query: LeadQuery, now: datetime) -> LeadCaseList:
        """Return some of the cases behind a number; raise `WebError` if the query names an unknown filter."""


@dataclass(frozen=True)
class LeadEndpoints:
    """The endpoints of the lead.

    `token` is the token of the running server, None if it has none; tokens that the store created are accepted too.
    `guesses` bounds how many wrong tokens a client may send.
    """

    store: ParticipantStore
    view: LeadView
    token: str | None
    guesses: GuessLimit

    def list_routes(self) -> list[tuple[str, str, Callable[..., Any], str]]:
        """Return method, path, endpoint and description of each route."""
        return [
            ("GET", "/api/lead/overview", self.get_overview, "Get all numbers, for the lead"),
            ("GET", "/api/lead/cases", self.get_cases, "Get the cases behind a number, for the lead"),
            ("POST", "/api/lead/revoke", self.revoke, "Revoke the access of a person, for the lead"),
        ]

    async def get_overview(self, request: Request) -> Response:
        """Return the overview."""
        await self._check_lead(request)
        return json_response(await run_in_threadpool(lambda: self.view.build_overview(self._get_time())))

    async def get_cases(
        self, request: Request, show: str, person: str | None = None, hours: float | None = None, offset: int = 0
    ) -> Response:
        """Return some of the cases behind a number."""
        await self._check_lead(request)
        if hours is not None and not 0 < hours <= _MAX_HOURS:
            raise WebError("bad-request", f"hours is not between 0 and {_MAX_HOURS:,}. Pass another number.")
        if not 0 <= offset <= _MAX_OFFSET:
            raise WebError("bad-request", f"offset is not between 0 and {_MAX_OFFSET:,}. Pass another number.")
        query = LeadQuery(show, person, hours, offset)
        return json_response(await run_in_threadpool(lambda: self.view.find_cases(query, self._get_time())))

    async def revoke(self, request: Request) -> Response:
        """Revoke the access of a person, and return the overview after it."""
        await self._check_lead(request)
        body = await decode_body(request, RevokeRequest)
        if (body.worker is None) == (body.person is None):
            raise WebError("bad-request", "the request names no person, or two. Pass a worker or a person.")

        def work() -> Overview:
            if body.worker is not None:
                self.store.revoke(body.worker)
            elif not self.store.revoke_person(body.person or ""):
                raise WebError("bad-request", "unknown person. Pass one of the overview.")
            return self.view.build_overview(self._get_time())

        return json_response(await run_in_threadpool(work))

    async def _check_lead(self, request: Request) -> None:
        """Raise `WebError` unless the request has a token of the lead."""
        client = get_client(request.scope)
        self.guesses.check(client)
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        token = value.strip()
        if scheme.lower() != "bearer" or not token or not await run_in_threadpool(self._is_valid, token):
            self.guesses.count_failure(client)
            raise WebError("unauthorised", "the token is missing or wrong, or has ended. Ask for a new lead link.")

    def _is_valid(self, token: str) -> bool:
        """Return whether a token is the token of the running server, or a stored token that was not revoked."""
        if self.token is not None and hmac.compare_digest(token.encode(), self.token.encode()):
            return True
        return self.store.is_lead_token(token)

    def _get_time(self) -> datetime:
        """Return the time of the store."""
        return datetime.fromtimestamp(self.store.clock(), UTC)


class StateCache:
    """A value that is computed again only if the store has new records, because leads load the page all the time."""

    def __init__(self) -> None:
        self._entry: tuple[object, Any] | None = None

    def get(self, state: object, compute: Callable[[], _T]) -> _T:
        """Return the value that was computed for this state of the store, or compute it."""
        entry = self._entry
        if entry is None or entry[0] != state:
            entry = self._entry = (state, compute())
        value: _T = entry[1]
        return value


def select_page(cases: Sequence[_T], offset: int) -> Sequence[_T]:
    """Return the cases of one response, newest first."""
    return cases[::-1][offset : offset + PAGE_SIZE]


def build_pace(
    noun: str, show: str, count: Callable[[int | None], int], needed: tuple[int, str] | None, n_recent: int
) -> FigureGroup:
    """Return the pace of a campaign.

    `count` counts the cases of the filter `show` in the last hours (None: in all). `needed` is the number of what is
    still to do, with its filter; None if there is no end. `n_recent` is the part of the recent cases that brings the
    end nearer.
    """
    figures = [
        LeadFigure(title=f"{noun}, {title}", value=count(hours), query={"show": show, "hours": str(hours)})
        for title, hours in WINDOWS.items()
    ]
    figures.append(LeadFigure(title=f"{noun} in total", value=count(None), query={"show": show}))
    if needed is None:
        return FigureGroup("Pace", tuple(figures))
    n_needed, needed_show = needed
    figures += [
        LeadFigure(title=f"{noun} still needed", value=n_needed, query={"show": needed_show} if n_needed else None),
        LeadFigure(
            title="Time left at the present pace",
            value=hours_left(n_needed, n_recent),
            format="hours",
            reason=f"nothing that counts was done in the last {PACE_HOURS} hours",
        ),
    ]
    note = f"Present pace: {n_recent:,} {noun.lower()} that count in the last {PACE_HOURS} hours."
    return FigureGroup("Pace", tuple(figures), note)


def build_person_figures(
    person: str,
    counts: Mapping[str, Mapping[str, int]],
    seconds: Mapping[str, Sequence[float]],
    agreement: tuple[float | None, int],
    reason: str,
) -> tuple[LeadFigure, ...]:
    """Return agreement and times of a person, from counts by filter and person.

    `seconds` has the known times of each person, `agreement` the agreement with others and the number of cases behind
    it. `reason` explains missing agreement.
    """
    n_timed, n_fast = (counts[name][person] for name in ("timed", "fast"))
    timed_query = person_query("timed", person, n_timed)
    return (
        LeadFigure(
            title="Agrees with others",
            value=agreement[0],
            total=agreement[1],
            format="share",
            query=person_query("shared", person, counts["shared"][person]),
            reason=reason,
        ),
        LeadFigure(
            title="Median seconds",
            value=median(seconds[person]) if person in seconds else None,
            format="seconds",
            query=timed_query,
            reason="no time is known",
        ),
        LeadFigure(
            title="Too short",
            value=n_fast,
            total=n_timed,
            query=person_query("fast", person, n_fast),
            total_query=timed_query,
            is_alarm=n_fast > 0,
        ),
    )


def person_query(show: str, person: str, count: int) -> Mapping[str, str] | None:
    """Return the parameters of the cases of one person; None if there are none."""
    return {"show": show, "person": person} if count else None
