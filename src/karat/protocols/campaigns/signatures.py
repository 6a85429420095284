"""Secrets of campaigns, and what they sign."""

from __future__ import annotations

import hashlib
import hmac
import secrets


def create_secret() -> str:
    """Return a new random key of a campaign."""
    return secrets.token_hex(32)


def sign_message(secret: str, message: str) -> str:
    """Return the HMAC-SHA256 of a message as hexadecimal digits."""
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def name_task(secret: str, number: object) -> str:
    """Return the name of a task for participants, which does not reveal its number."""
    return sign_message(secret, f"task {number}")[:24]
