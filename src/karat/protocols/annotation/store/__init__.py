"""Database storage of annotation projects; needs SQLAlchemy."""

from karat.protocols.campaigns.requirements import require_sqlalchemy

require_sqlalchemy("karat annotate")
