"""Database storage of campaigns; needs SQLAlchemy."""

from karat.protocols.campaigns.requirements import require_sqlalchemy

require_sqlalchemy("karat verify")
