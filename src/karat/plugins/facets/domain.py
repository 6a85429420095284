"""Domains of documents."""

import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from karat.model.corpus import lookup_meta
from karat.model.spec.facet import Facet
from karat.model.tables.arrow import Arrow

_KORE50 = re.compile(r"KORE50.*/(BUS|CEL|MUS|POL|SPO)[0-9]{2}")
_DOMAIN_NAMES = {"BUS": "business", "CEL": "celebrities", "MUS": "music", "POL": "politics", "SPO": "sports"}


def _read_values(table: Arrow, metadata: Mapping[str, str]) -> Arrow:
    """Return the domain of each document, null if unknown.

    The domain comes from `meta`, else from the KORE50 id or title of the document, else from the corpus metadata.
    """
    title, default = lookup_meta(table, ("title",)), pa.scalar(metadata.get("domain"), pa.string())
    return pc.coalesce(
        lookup_meta(table, ("domain",)), _find_kore50_domains(table.column("id")), _find_kore50_domains(title), default
    )


def _find_kore50_domains(names: Arrow) -> Arrow:
    """Return the domain in the IRI of each KORE50 sentence, null for other names.

    Readers store the IRI as id or title.
    """
    matches = [_KORE50.search(name) if name else None for name in names.to_pylist()]
    return pa.array([_DOMAIN_NAMES[match[1]] if match else None for match in matches], pa.string())


FACET = Facet(
    title="Domains",
    description="The domain of a document, from its `meta`, from the names of KORE50's sentences, or else from the "
    "metadata of the dataset.",
    from_documents=_read_values,
    example="The mentions of KORE50's sentence SPO05 are in the group `sports`.",
)
