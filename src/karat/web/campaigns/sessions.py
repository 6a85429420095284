"""Sessions of participants over HTTP: a cookie for an invitation, and work in the name of a participant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from fastapi import Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from karat.model.json.decoder import JsonError, decode_json
from karat.protocols.campaigns.participants import SESSION_SECONDS, InvitationError, ParticipantStore
from karat.web.campaigns.payloads import SessionRequest
from karat.web.server.guard import get_client
from karat.web.server.http_responses import json_response
from karat.web.server.request_checks import GuessLimit, WebError

_T = TypeVar("_T")


@dataclass(frozen=True)
class SessionEndpoints:
    """The sessions of a campaign.

    `cookie` is the name of the cookie, and `https_only` makes browsers send it over HTTPS only. `consent` is the
    consent form, which may be empty, and `activity` what participants do. `guesses` bounds how many wrong invitations a
    client may send.
    """

    store: ParticipantStore
    cookie: str
    consent: str
    activity: str
    https_only: bool
    guesses: GuessLimit

    async def start(self, request: Request, describe: Callable[[str], msgspec.Struct]) -> Response:
        """Exchange an invitation for a session; `describe` returns the body of the response by pseudonym."""
        body = await decode_body(request, SessionRequest)
        if self.consent and not body.consent:
            raise WebError("bad-request", f"consent is missing. Accept the consent form before {self.activity}.")
        client = get_client(request.scope)
        self.guesses.check(client)

        def work() -> tuple[str, msgspec.Struct]:
            invitation = body.invitation.strip().rpartition("#/join/")[2]  # the whole address is as good
            session = self.store.start_session(invitation, body.consent)
            return session, describe(self.store.find_judge(session, uses=False) or "")

        try:
            session, content = await run_in_threadpool(work)
        except InvitationError:
            self.guesses.count_failure(client)
            raise
        response = json_response(content, 201)
        response.set_cookie(
            self.cookie,
            session,
            max_age=int(SESSION_SECONDS),
            httponly=True,
            samesite="strict",
            secure=self.https_only,
            path="/",
        )
        return response

    async def end(self, request: Request) -> Response:
        """End the session of a request."""
        await run_in_threadpool(self.store.end_session, request.cookies.get(self.cookie, ""))
        response = Response(status_code=204)
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite="strict", secure=self.https_only)
        return response

    async def run(self, request: Request, work: Callable[[str], msgspec.Struct], status: int = 200) -> Response:
        """Run `work` in a thread with the pseudonym of the session; return its result as JSON, or raise 401."""

        def run() -> msgspec.Struct:
            person = self.find_person(request)
            if person is None:
                raise WebError("unauthorised", "your session has ended. Ask the organisers for a new invitation.")
            return work(person)

        return json_response(await run_in_threadpool(run), status)

    def find_person(self, request: Request) -> str | None:
        """Return the pseudonym of the session of a request; None if there is no valid session."""
        return self.store.find_judge(request.cookies.get(self.cookie, ""))


async def decode_body(request: Request, kind: type[_T]) -> _T:
    """Decode the JSON body of a request, `{}` if empty, as `kind`; raise a `bad-request` error if it does not fit."""
    try:
        return decode_json(await request.body() or b"{}", kind)
    except JsonError as problem:
        raise WebError("bad-request", str(problem)) from None
