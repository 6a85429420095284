"""Output of `karat verify`: judgements and surveys as text and JSON."""
