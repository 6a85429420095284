"""The optimal one-to-one assignment of gold clusters to predicted clusters."""

from __future__ import annotations

import numpy as np

from karat.model.errors import KaratError
from karat.model.tables.columns import Bools, Floats, Longs


def assign_clusters(row: Longs, column: Longs, gain: Floats) -> Longs:
    """Assign gold clusters (rows) to predicted clusters (columns), one to one, so that the total gain is maximal.

    Cell i, with a positive gain, is given by `row[i]`, `column[i]` and `gain[i]`. Returns the indices of the selected
    cells, in no order. SciPy is needed only if cells compete and none dominates; without it `KaratError` is raised.
    """
    open_cells, assigned = np.arange(len(row)), []
    while len(dominant := open_cells[_dominant_mask(row[open_cells], column[open_cells], gain[open_cells])]):
        assigned.append(dominant)
        open_cells = open_cells[
            ~np.isin(row[open_cells], row[dominant]) & ~np.isin(column[open_cells], column[dominant])
        ]
    if len(open_cells):
        assigned.append(open_cells[_solve_assignment(row[open_cells], column[open_cells], gain[open_cells])])
    return np.concatenate([open_cells[:0], *assigned])


def _dominant_mask(row: Longs, column: Longs, gain: Floats) -> Bools:
    """Return a mask of the cells that gain at least as much as their best rivals in row and column together.

    An assignment without such a cell has at most one rival in its row and one in its column; replacing these rivals
    with the cell loses nothing. Real clusterings mostly resolve in this way, from large clusters to small ones.
    """
    rivals, best = np.zeros(len(gain)), np.ones(len(gain), np.bool_)
    for line in (row, column):
        order = np.lexsort((gain, line))
        follows = line[order[1:]] == line[order[:-1]]  # the previous cell is in the same line and gains no more
        best[order[:-1][follows]] = False
        rivals[order[1:]] += np.where(follows, gain[order[:-1]], 0)
    # The sum of two gains is rounded, which costs less than 1e-15 of the best gain.
    return best & (gain >= rivals)


def _solve_assignment(row: Longs, column: Longs, gain: Floats) -> Longs:
    """Return the indices of the optimal cells with SciPy, from a sparse table; the full table may exceed the memory."""
    try:
        from scipy.sparse import csgraph, csr_array
    except ImportError as problem:
        raise KaratError("CEAF needs SciPy for these clusters. Run: pip install 'karat[clusters]'") from problem
    rows, row = np.unique(row, return_inverse=True)
    columns, column = np.unique(column, return_inverse=True)
    # The solver assigns a column to every row. A spare column per row, without gain, allows a row to stay unassigned.
    spare = np.arange(len(rows))
    max_gain = gain.max() + 1  # the solver minimises, and treats a cost of 0 as a missing cell
    cost = np.concatenate([max_gain - gain, np.full(len(rows), max_gain)])
    ends = np.append(row, spare), np.append(column, len(columns) + spare)
    # Some versions of the solver reject 64-bit indices.
    narrow = tuple(end.astype(np.int32) for end in ends)
    table = csr_array((cost, narrow), shape=(len(rows), len(columns) + len(rows)))
    _, matched_columns = csgraph.min_weight_full_bipartite_matching(table)
    return np.flatnonzero(np.asarray(matched_columns, np.int64)[row] == column)
