"""A server that is killed under load loses no change that it acknowledged, and a backup of it is whole."""

import pytest

from tests.protocols.annotation.load import kill_under_load, store_in

pytestmark = pytest.mark.extras


def test_what_was_acknowledged_survives_servers_that_are_killed(address, tmp_path):
    from karat.protocols.annotation.store.backups import restore_backup
    from karat.protocols.campaigns.backups import dump_backup

    store = store_in(address, 6)
    annotators = kill_under_load(store, address, [f"w{number}" for number in range(6)], kills=2, seconds=0.5)
    assert annotators.n_changes >= 20
    assert annotators.count_lost() == 0
    assert annotators.problems == []
    copy = restore_backup(str(tmp_path / "copy.sqlite"), "backup.jsonl", dump_backup(store.database))
    assert copy.get_records() == store.get_records()
