"""Language models behind an OpenAI-compatible endpoint: asked in words, and answered with words and titles.

What a model says is placed in the text by the rules of docs/llm.md, and its titles are looked up in a pack. Whatever
had to be mended, and whatever does not exist, is counted.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, NamedTuple

import msgspec

from karat.adapters.each import read_json
from karat.adapters.process import placed_reply
from karat.adapters.telling import tell, tell_final
from karat.errors import FailedError
from karat.kb.pack.pack import Pack
from karat.kb.protocol import Standing
from karat.model.document import Answer, Document, Reply, WrittenReply
from karat.parsing.surfaces.entries import answer_of, entries_of
from karat.parsing.surfaces.prose import values_in
from karat.storage.web import WebQuestion

UNPARSEABLE: Final = "unparseable answers"
REPAIRED: Final = "answers with JSON among other words"
HALLUCINATED: Final = "hallucinated ids: the knowledge base has none such (kept as written)"
NOT_IN_PACK: Final = "ids that the pack does not have, which has some entities only (kept as written)"
BY_NAME: Final = "links found by name, for they are no title or id"

PROMPT: Final = """\
Find every mention of a named entity in the text below: persons, organisations, places, works, products, events and the
like, each time it is mentioned, in the order of the text. For each mention give the words exactly as they stand in the
text, and the title of the English Wikipedia article about the entity, or null if there is none.

Answer with JSON and nothing else: {"mentions": [{"text": "...", "title": "..."}]}

Text:
"""

_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["mentions"],
    "properties": {
        "mentions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "title"],
                "properties": {"text": {"type": "string"}, "title": {"type": ["string", "null"]}},
            },
        }
    },
}


class LlmPrices(NamedTuple):
    """What a million tokens cost, read and written; None where nobody said."""

    read: float | None = None
    written: float | None = None

    def cost(self, read: int, written: int) -> float | None:
        """What so many tokens cost."""
        if self.read is None or self.written is None:
            return None
        return (read * self.read + written * self.written) / 1e6


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _TokensUsed(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _TokensUsed | None = None
    model: str = ""


class LlmRequest(NamedTuple):
    """How a model is asked: which, in what words, and with what freedom."""

    model: str
    prompt: str
    temperature: float | None
    structured: bool
    most: int

    def question(self, document: Document, headers: dict[str, str]) -> WebQuestion:
        """The question about a document, at an endpoint for chats."""
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": "user", "content": self.prompt + document.text}],
            "max_tokens": self.most,
        }
        if self.temperature is not None:
            asked["temperature"] = self.temperature
        if self.structured:
            schema = {"name": "mentions", "strict": True, "schema": _SCHEMA}
            asked["response_format"] = {"type": "json_schema", "json_schema": schema}
        return WebQuestion("/chat/completions", body=msgspec.json.encode(asked), headers=headers)


def llm_reply(document: Document, body: bytes, pack: Pack | None, prices: LlmPrices) -> Reply:
    """What a model answered: placed, looked up, and with what it cost; an answer nobody can read is an error."""
    found = read_json(body, _Completion, "the endpoint")
    used = found.usage
    tokens = None if used is None else used.prompt_tokens + used.completion_tokens
    cost = None if used is None else prices.cost(used.prompt_tokens, used.completion_tokens)
    if not found.choices:
        raise FailedError("the endpoint sent no choice")
    if found.model:
        tell(f"replies by {found.model}")
    choice = found.choices[0]
    said = choice.message.content or ""
    try:
        reply = _placed(document, said)
    except FailedError as problem:
        tell(UNPARSEABLE)
        tell_final()  # asking until an answer can be read would flatter the model
        why = choice.message.refusal or (f"{problem}, cut off" if choice.finish_reason == "length" else str(problem))
        return Reply(document.id, error=f"unparseable: {why}", tokens=tokens, cost=cost)
    answers = reply.answers if pack is None else looked_up(reply.answers, pack)
    return msgspec.structs.replace(reply, answers=answers, tokens=tokens, cost=cost)


def _placed(document: Document, said: str) -> Reply:
    counts: Counter[str] = Counter()
    values = values_in(said)
    entries = entries_of(values, counts)
    if entries is None:
        raise FailedError("no list of mentions in what the model wrote")
    tell(REPAIRED, not said.strip().startswith(("{", "[")) or not said.strip().endswith(("}", "]")))
    answers = tuple(answer for entry in entries if (answer := answer_of(entry, counts)) is not None)
    for what, count in counts.items():
        tell(what, count)
    # Offsets that models give are rarely right; their words are what they saw.
    words = (msgspec.structs.replace(each, start=None, end=None) if each.text else each for each in answers)
    return placed_reply(document, WrittenReply(document.id, tuple(words)))


def looked_up(answers: tuple[Answer, ...], pack: Pack) -> tuple[Answer, ...]:
    """Answers with the ids of a pack: by id or title, or else by a name; what it does not have stays as written."""
    written = list(dict.fromkeys(answer.entity for answer in answers if isinstance(answer.entity, str)))
    ids = dict(zip(written, pack.canonical(written), strict=True))
    missing = [id for id, how in zip(written, pack.standings(written), strict=True) if how == Standing.UNKNOWN]
    for name in missing:
        named = [] if pack.index is None else pack.index.exact(name)
        if named:
            ids[name] = named[0].id
            tell(BY_NAME)
        else:
            ids[name] = name
            tell(HALLUCINATED if pack.manifest.complete else NOT_IN_PACK)
    return tuple(
        msgspec.structs.replace(answer, entity=ids[answer.entity]) if isinstance(answer.entity, str) else answer
        for answer in answers
    )
