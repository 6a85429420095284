"""Error categories, one file each."""
