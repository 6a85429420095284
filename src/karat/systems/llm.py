"""Any language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from karat.adapters.llm import PROMPT, LlmPrices, LlmRequest, llm_reply
from karat.adapters.telling import credential
from karat.adapters.web import web_link, web_outside
from karat.errors import UsageError
from karat.kb.opened import open_pack
from karat.spec.system import Link, System, option
from karat.storage.files import Source
from karat.storage.web import is_local


@dataclass(frozen=True, slots=True)
class _LlmOptions:
    rest: str = option("", "The name of the model.")
    url: str = option("", "The address of the endpoint, up to /v1.")
    key: str = option("OPENAI_API_KEY", "The environment variable with the key; none is needed on this machine.")
    kb: str = option("starter", "The pack in which titles are looked up; empty keeps what the model wrote.")
    prompt: str = option("", "A file with other words to ask in; the text follows them.")
    temperature: float = option(0.0, "How freely it answers; below 0, as the endpoint likes.")
    structured: bool = option(True, "Ask for JSON by a schema; not every endpoint can.")
    most: int = option(4096, "The most tokens of an answer.")
    price_in: float = option(-1.0, "What a million tokens cost that it reads; below 0, nobody knows.")
    price_out: float = option(-1.0, "What a million tokens cost that it writes.")
    timeout: float = option(300.0, "Seconds for one document.")


def _prompt(options: _LlmOptions) -> str:
    return Source(options.prompt).data().decode() if options.prompt else PROMPT


def _start(options: _LlmOptions, given: bool) -> Link:
    if not options.url:
        raise UsageError("llm needs the address of an endpoint: llm[url=http://localhost:8000/v1]:MODEL.")
    headers = {"Content-Type": "application/json"}
    if not is_local(options.url):
        headers["Authorization"] = f"Bearer {credential(options.key, 'the endpoint')}"
    pack = open_pack(options.kb) if options.kb else None
    prices = LlmPrices(*(None if price < 0 else price for price in (options.price_in, options.price_out)))
    request = LlmRequest(
        options.rest,
        _prompt(options),
        None if options.temperature < 0 else options.temperature,
        options.structured,
        options.most,
    )
    return web_link(
        options.url.rstrip("/"),
        lambda document: request.question(document, headers),
        lambda document, body: llm_reply(document, body, pack, prices),
        timeout=options.timeout,
    )


def _stamp(options: _LlmOptions) -> Mapping[str, str]:
    said = {"prompt": hashlib.sha256(_prompt(options).encode()).hexdigest()[:8]}
    if options.kb:
        pack = open_pack(options.kb)
        said["pack"] = f"{pack.name}@{pack.digest}"
    return said


SYSTEM = System(
    title="Any language model",
    says="A model that is asked for mentions and titles. Its words are placed in the text, titles looked up in a pack; "
    "what it made up, what nobody can read and what was mended is counted, and tokens and cost are kept.",
    start=_start,
    options=_LlmOptions,
    solves="a2kb",
    stamp=_stamp,
    rest="MODEL",
    needs=("an endpoint like OpenAI's", "a key in OPENAI_API_KEY unless it is local"),
    extra="services",
    outside=lambda options: web_outside(options.url or "http://localhost", calibrated=False),
)
