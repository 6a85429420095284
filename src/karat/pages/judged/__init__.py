"""Pages about what people said: what `karat verify` prints and writes."""
