"""Many ids at once give what each gives by itself, however they are written."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from karat.kb.ids import id_key_arrays
from karat.kb.ids.id_key_arrays import parse_id_keys
from karat.kb.ids.id_spaces import make_title_key, parse_id_key
from karat.kb.snapshot import snapshot as snapshots
from karat.kb.snapshot.manifest import SnapshotManifest
from karat.kb.snapshot.snapshot import Snapshot
from karat.kb.snapshot.writer import open_snapshot_writer

_ADDRESSES = (
    "http:// https:// www.wikidata.org/entity/ m.wikidata.org/wiki/ en.wikipedia.org/wiki/ de.m.wikipedia.org/wiki/ "
    "en.wikipedia.org/?curid= en.wikipedia.org/w/index.php?curid= dbpedia.org/resource/ de.dbpedia.org/page/ "
    "yago-knowledge.org/resource/ rdf.freebase.com/ns/ www.wikipedia.org/wiki/ wa.wikipedia.org/wiki/ "
    "simple.wikipedia.org/wiki/ zh-min-nan.wikipedia.org/wiki/"
)
_PARTS = (
    "Q 1 9 0 L7 P31 wd: wikidata: dbr: enwiki: zh_yuewiki: zh-yuewiki: jbowiki: dbpedia: dbpedia-de: "
    "freebase: fb: m.0abc /m/0abc g/11b UMLS: umls: C0012345 C1 "
    "MESH: D008175 x: Berlin berlin Wall (band) _ __ % %20 %C3%BC ü u\u0308 ß ǆ Ελ ? # : . / ' - ٣ Q٣ a A"
)
_BLANKS = re.findall(r"\s", " \t\n\x1c\x85\xa0\u1680\u2003\u2028\u3000")
written = st.lists(st.sampled_from([*_ADDRESSES.split(), *_PARTS.split(), *_BLANKS]), max_size=5).map("".join)


@pytest.fixture(scope="module")
def at_once():
    """Patterns for however few ids."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(id_key_arrays, "_MIN_VECTORISED", 0)
        yield


@given(st.lists(written, max_size=20), st.sampled_from(["", "enwiki"]))
@example(
    ["Berlin Wall", "Q64", "Q1٣", "C0012345", "C00123٣5", "U.S. ", "enwiki:abc1", "MESH:D1 ", "wd:Q0", "UMLS:D1"],
    "enwiki",
)
@settings(max_examples=200)
def test_patterns_say_what_is_said_of_each(at_once, ids, titles):
    spaces, locals = parse_id_keys(pa.array(ids, pa.string()), titles)
    expected = [parse_id_key(id) or (make_title_key(titles, id) if titles else None) for id in ids]
    found = zip(spaces.to_pylist(), locals.to_pylist(), strict=True)
    assert [None if space is None else (space, local) for space, local in found] == expected


@pytest.fixture(scope="module", params=[("wikidata", ""), ("MESH", "MESH:"), ("", "")])
def snapshot(request, tmp_path_factory):
    space, lead = request.param
    metadata = SnapshotManifest(
        karat="snapshot/2", name="toy", date="2026-01-01", space=space, title_space="enwiki" if space else ""
    )
    folder = tmp_path_factory.mktemp("snapshots") / "toy"
    with open_snapshot_writer(folder, metadata) as made:
        made.write_columns("entities", {"id": [f"{lead}Q1", f"{lead}Q9", f"{lead}D008175"]})
        made.write_columns("redirects", {"id": [f"{lead}Q19", "enwiki:Wall"], "target": [f"{lead}Q1", "enwiki:Berlin"]})
        same = {f"{lead}Q1": ["enwiki:Berlin", "freebase:m.0abc"], f"{lead}Q9": ["umls:C0012345", "enwiki-page:1"]}
        rows = [(id, other) for id, others in same.items() for other in others]
        made.write_columns("same_as", {"id": [row[0] for row in rows], "other": [row[1] for row in rows]})
    return Snapshot.open(folder)


@given(ids=st.lists(written, max_size=20))
@settings(max_examples=40)
def test_many_ids_are_resolved_as_each_is(snapshot, ids):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_key_arrays, "_MIN_VECTORISED", 2)  # patterns for several ids, a loop for one
        assert snapshot.canonical_ids(ids) == [snapshot.canonical_ids([id])[0] for id in ids]
        assert snapshot.id_statuses(ids) == [snapshot.id_statuses([id])[0] for id in ids]


def test_more_than_fit_together(snapshot, monkeypatch):
    ids = ["Q1", "enwiki:Wall", "Q1", "nothing", "http://dbpedia.org/resource/Berlin", "Q19", ""] * 3
    whole = snapshot.resolve(ids)
    monkeypatch.setattr(snapshots, "_IDS_PER_BATCH", 4)
    assert snapshot.resolve(pa.chunked_array([ids[:9], ids[9:]])).combine_chunks() == whole.combine_chunks()
    assert snapshot.resolve([]).num_rows == 0
