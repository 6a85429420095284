"""Mentions given by their text: read as people and language models write them, and located in the document."""
