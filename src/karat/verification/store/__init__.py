"""Campaigns in databases; whoever asks for one without SQLAlchemy is told what installs it."""

from importlib.util import find_spec

from karat.errors import UsageError

if find_spec("sqlalchemy") is None:
    raise UsageError("karat verify needs SQLAlchemy: pip install 'karat[verify]'")
