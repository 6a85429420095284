"""Redirects followed to their end with SQL joins: chains of any length; cycles are counted and not followed."""

from __future__ import annotations

from collections import Counter
from typing import Any

from karat.kb.dumps.query_streams import query_number


def follow_redirects(db: Any, hop_table: str, end_table: str) -> Counter[str]:  # noqa: ANN401  # DuckDB ships no types
    """Create the SQL table `end_table` (id, target) with the end of every redirect chain; return repair counts.

    `hop_table`: existing table of redirects (id, target). Redirects into cycles are not in the new table. Each pass
    doubles the length of the chains that are resolved. When a pass resolves no further chain, the rest are cycles and
    redirects into cycles.
    """
    n_self_redirects = query_number(db, f"SELECT count(*) FROM {hop_table} WHERE id = target")
    db.execute(f"CREATE TABLE {end_table} AS SELECT id, target FROM {hop_table} WHERE id != target")
    n_chains = query_number(db, f"SELECT count(*) FROM {end_table} a SEMI JOIN {end_table} b ON b.id = a.target")
    n_unresolved, n_before = n_chains, -1
    while n_unresolved != n_before and n_unresolved:
        db.execute(f"""
            CREATE TABLE further AS SELECT a.id AS id, coalesce(b.target, a.target) AS target
                FROM {end_table} a LEFT JOIN {end_table} b ON b.id = a.target;
            DROP TABLE {end_table};
            ALTER TABLE further RENAME TO {end_table};
        """)
        n_before, n_unresolved = (
            n_unresolved,
            query_number(db, f"SELECT count(*) FROM {end_table} a SEMI JOIN {end_table} b ON b.id = a.target"),
        )
    db.execute(f"""
        CREATE TABLE endless AS SELECT a.id AS id FROM {end_table} a SEMI JOIN {end_table} b ON b.id = a.target;
        DELETE FROM {end_table} WHERE id IN (SELECT id FROM endless);
        DROP TABLE endless;
    """)
    return Counter(
        {
            "redirects to themselves, skipped": n_self_redirects,
            "redirects that never end, not followed": n_unresolved,
            "redirects of redirects, followed to their end": n_chains - n_unresolved,
        }
    )
