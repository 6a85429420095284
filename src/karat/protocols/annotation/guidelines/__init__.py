"""Guidelines for annotators: one text file each. The name of a file is the name of its guidelines.

`fair` follows the conventions of the fair-evaluation paper (Bast, Hertel and Prange 2023, A.3 and A.4), `fine-grained`
those of the fine-grained paper (Rosales-Méndez, Hogan and Poblete 2019, section 3), both in our own words.
"""

from __future__ import annotations

from importlib.resources import files

from karat.formats.parsing.lines import decode_utf8
from karat.model.errors import InputError, UnknownNameError
from karat.protocols.annotation.project import Guidelines
from karat.storage.files import Source

_SUFFIX = ".md"


def list_guidelines() -> list[str]:
    """Return the names of the built-in guidelines, sorted."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in files(__name__).iterdir() if file.name.endswith(_SUFFIX))


def get_guidelines(name: str) -> Guidelines:
    """Return built-in guidelines by name; raise `UnknownNameError` if there are none of this name."""
    if name not in list_guidelines():
        raise UnknownNameError("guidelines", name, list_guidelines())
    return Guidelines(name, files(__name__).joinpath(f"{name}{_SUFFIX}").read_text(encoding="utf-8"))


def read_guidelines(name_or_path: str) -> Guidelines:
    """Return built-in guidelines by name, or those in a text file, which get the name of the file.

    Raise `UnknownNameError` for a word that is neither, and `InputError` for an empty file.
    """
    source = Source(name_or_path)
    is_path = "/" in name_or_path or "." in name_or_path or source.exists
    if name_or_path in list_guidelines() or not is_path:
        return get_guidelines(name_or_path)
    text = decode_utf8(source.read_bytes(), source)
    if not text.strip():
        raise InputError(source.label, actual="no text", expected="guidelines", remedy="Write them into the file")
    return Guidelines(source.stem, text)
