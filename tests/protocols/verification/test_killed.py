"""A server that is killed under load loses no judgement that it acknowledged, and a backup of it is whole."""

import time
from threading import Event

import pytest

from tests.protocols.verification.load import judging, served, store_in

pytestmark = pytest.mark.extras


def test_what_was_acknowledged_survives_the_server(address):
    from karat.protocols.campaigns.backups import dump_backup

    store = store_in(address, 20)
    process, port = served(address)
    stop = Event()
    threads, kept, _ = judging(port, [store.create_invitation(f"w{k}") for k in range(8)], 0.0, stop)
    ends = time.monotonic() + 60
    while len(kept) < 40 and time.monotonic() < ends:
        time.sleep(0.05)
    copied = b"".join(dump_backup(store.database))  # while it is served
    process.kill()
    process.wait()
    process.stdout.close()
    stop.set()
    for thread in threads:
        thread.join()
    ids = [record.id for record in store.get_records()]
    assert len(kept) >= 40
    assert set(kept) <= set(ids)
    assert len(ids) == len(set(ids))
    assert copied.count(b'"table":"records"') >= 40
