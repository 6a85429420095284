"""Pages about gold standards: what `karat data` prints and writes."""
