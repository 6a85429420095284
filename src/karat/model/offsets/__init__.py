"""Offsets into texts: the kinds that programs count, and maps between them."""
