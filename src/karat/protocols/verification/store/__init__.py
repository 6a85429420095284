"""Database storage of campaigns; needs SQLAlchemy."""

from importlib.util import find_spec

from karat.model.errors import UsageError

if find_spec("sqlalchemy") is None:
    raise UsageError("karat verify needs SQLAlchemy: pip install 'karat[verify]'")
