"""Redirects followed to their end, as joins: chains of any length, and cycles that are told and not followed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from karat.knowledge.dumps.streams import number


def follow(db: Any, hops: str, ends: str) -> Counter[str]:  # noqa: ANN401  # DuckDB ships no types
    """Make a table of the ends of all redirects in a table (id, target); gives what was not followed.

    Every pass doubles the length of the chains that are at their end. As long as one is not, a shorter one comes to its
    end in the next pass; when none does, the rest are cycles and what leads into them.
    """
    selves = number(db, f"SELECT count(*) FROM {hops} WHERE id = target")
    db.execute(f"CREATE TABLE {ends} AS SELECT id, target FROM {hops} WHERE id != target")
    chains = number(db, f"SELECT count(*) FROM {ends} a SEMI JOIN {ends} b ON b.id = a.target")
    left, before = chains, -1
    while left != before and left:
        db.execute(f"""
            CREATE TABLE further AS SELECT a.id AS id, coalesce(b.target, a.target) AS target
                FROM {ends} a LEFT JOIN {ends} b ON b.id = a.target;
            DROP TABLE {ends};
            ALTER TABLE further RENAME TO {ends};
        """)
        before, left = left, number(db, f"SELECT count(*) FROM {ends} a SEMI JOIN {ends} b ON b.id = a.target")
    db.execute(f"""
        CREATE TABLE endless AS SELECT a.id AS id FROM {ends} a SEMI JOIN {ends} b ON b.id = a.target;
        DELETE FROM {ends} WHERE id IN (SELECT id FROM endless);
        DROP TABLE endless;
    """)
    return Counter(
        {
            "redirects to themselves, left out": selves,
            "redirects that never end, not followed": left,
            "redirects of redirects, followed to their end": chains - left,
        }
    )
