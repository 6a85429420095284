"""Counts of what readers skip or repair."""
