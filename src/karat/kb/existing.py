"""Whether entities exist, as far as a knowledge base can say."""

from __future__ import annotations

from collections.abc import Sequence

from karat.kb.pack.pack import Pack
from karat.kb.protocol import KB
from karat.kb.spaces import key_of


def existing(kb: KB, ids: Sequence[str]) -> list[bool | None]:
    """Whether each id leads to an entity; None where nobody can say.

    A pack with some entities only says nothing about others, and none about ids of a space that it does not cover;
    those that it calls deleted exist no more.
    """
    if not isinstance(kb, Pack):
        listed = kb.has(ids)
        return [None] * len(ids) if listed is None else [*listed]
    table = kb.table("entities")
    if table is None:
        return [None] * len(ids)
    kinds = table.aligned(kb.canonical(ids), "kind").to_pylist()
    return [_absent(kb, id) if kind is None else kind != "deleted" for id, kind in zip(ids, kinds, strict=True)]


def _absent(pack: Pack, id: str) -> bool | None:
    """What it means that a pack does not have an id: it leads to nothing, or nobody can say."""
    about, key = pack.manifest, key_of(id)
    covered = key is None or not about.space or key.space in (about.space, about.titles)
    return False if about.complete and covered else None
