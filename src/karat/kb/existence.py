"""Check whether entities exist, as far as a knowledge base can tell."""

from __future__ import annotations

from collections.abc import Sequence

from karat.kb.ids.id_spaces import parse_id_key
from karat.kb.protocol import KB
from karat.kb.snapshot.snapshot import Snapshot


def check_existence(kb: KB, ids: Sequence[str]) -> list[bool | None]:
    """Return whether each id leads to an entity; None if the knowledge base cannot tell.

    An incomplete snapshot cannot tell for ids that it lacks, and no snapshot can tell for ids of a space that it does
    not cover. Entities that a snapshot lists as deleted do not exist; disambiguation and list pages do.
    """
    if not isinstance(kb, Snapshot):
        memberships = kb.contains(ids)
        return [None] * len(ids) if memberships is None else [*memberships]
    table = kb.get_table("entities")
    if table is None:
        return [None] * len(ids)
    kinds = table.look_up(kb.canonical_ids(ids), "kind").to_pylist()
    return [
        _check_missing_id(kb, id) if kind is None else kind != "deleted" for id, kind in zip(ids, kinds, strict=True)
    ]


def _check_missing_id(snapshot: Snapshot, id: str) -> bool | None:
    """Return False if a complete `snapshot` covers the space of `id`, which it lacks; None if it cannot tell.

    An id of no recognised space, and any id in a snapshot without a stated space, is covered.
    """
    manifest, key = snapshot.manifest, parse_id_key(id)
    is_covered = key is None or not manifest.space or key.space in (manifest.space, manifest.title_space)
    return False if manifest.complete and is_covered else None
