"""Answers that say what they mark by its words: read as people and language models write them, placed in the text."""
