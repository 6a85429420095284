"""The version of Karat, which is part of every signature."""

__version__ = "0.1.0"
