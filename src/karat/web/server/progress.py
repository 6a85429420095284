"""The progress of uploads while they are scored."""

from __future__ import annotations

import msgspec


class UploadProgress(msgspec.Struct, frozen=True):
    """The task in progress, and how much of it is done; a total of null is unknown."""

    description: str
    done: int = 0
    total: int | None = None
