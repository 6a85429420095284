"""Kinds of errors, one file each."""
