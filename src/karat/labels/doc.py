"""Documents."""

from collections.abc import Mapping

from karat.model.tables.arrow import Arrow
from karat.spec.grouping import Grouping


def _ids(table: Arrow, _: Mapping[str, str]) -> Arrow:
    return table.column("id")


GROUPING = Grouping(title="Documents", says="Each document by itself.", documents=_ids, scores="documents")
