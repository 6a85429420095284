"""Output of `karat data`: gold standards as text and JSON."""
