"""The best one-to-one assignment of gold clusters to answer clusters."""

from __future__ import annotations

import numpy as np

from karat.errors import KaratError
from karat.model.tables.columns import Bools, Floats, Longs


def assigned(row: Longs, column: Longs, gain: Floats) -> Longs:
    """Cells of a table, at most one in each row and each column, whose gains sum to the most; as places.

    The table is given by the cells that are worth more than 0. SciPy is needed only where rows and columns compete
    and no cell is clearly best.
    """
    left, taken = np.arange(len(row)), []
    while len(sure := left[_sure(row[left], column[left], gain[left])]):
        taken.append(sure)
        left = left[~np.isin(row[left], row[sure]) & ~np.isin(column[left], column[sure])]
    if len(left):
        taken.append(left[_solved(row[left], column[left], gain[left])])
    return np.concatenate([left[:0], *taken])


def _sure(row: Longs, column: Longs, gain: Floats) -> Bools:
    """Cells that are worth no less than the best rival in their row and the best in their column together.

    An assignment without such a cell holds at most one rival of each line; taking it in their place loses nothing.
    In a star, where one row meets columns that no other row meets, the best cell is sure. Real clusterings mostly
    dissolve like this, from their large clusters to the small ones.
    """
    rivals, best = np.zeros(len(gain)), np.ones(len(gain), np.bool_)
    for line in (row, column):
        order = np.lexsort((gain, line))
        follows = line[order[1:]] == line[order[:-1]]  # the cell before it is in the same line and worth no more
        best[order[:-1][follows]] = False
        rivals[order[1:]] += np.where(follows, gain[order[:-1]], 0)
    # The sum of two gains is rounded: a cell that is taken only for that loses less than 1e-15 of the best gain.
    return best & (gain >= rivals)


def _solved(row: Longs, column: Longs, gain: Floats) -> Longs:
    """Solve a table by looking at its cells only: most of it is empty, and the whole may be too large for memory."""
    try:
        from scipy.sparse import csgraph, csr_array
    except ImportError as problem:
        raise KaratError("CEAF needs SciPy for these clusters. Run: pip install 'karat[clusters]'") from problem
    rows, row = np.unique(row, return_inverse=True)
    columns, column = np.unique(column, return_inverse=True)
    # The solver gives every row a column. A spare column for each row, worth nothing, lets the row go without.
    spare = np.arange(len(rows))
    most = gain.max() + 1  # the solver minimises, and takes a cost of 0 for no cell
    cost = np.concatenate([most - gain, np.full(len(rows), most)])
    ends = np.append(row, spare), np.append(column, len(columns) + spare)
    # Some versions of the solver refuse places of 64 bits.
    narrow = tuple(end.astype(np.int32) for end in ends)
    table = csr_array((cost, narrow), shape=(len(rows), len(columns) + len(rows)))
    _, found = csgraph.min_weight_full_bipartite_matching(table)
    return np.flatnonzero(np.asarray(found, np.int64)[row] == column)
