"""Credentials of one test are not hidden in the messages of the next one."""

import pytest

from karat.systems import telemetry


@pytest.fixture(autouse=True)
def forget_credentials(monkeypatch):
    monkeypatch.setattr(telemetry, "_secrets", {})
