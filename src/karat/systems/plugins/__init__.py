"""Entity linking systems, one file each; those that could not be tested are in one table."""

from karat.systems.adapters.untested_systems import UNTESTED_SYSTEMS as TABLE

__all__ = ["TABLE"]
