"""Downloads from a real server on this machine: cut, wrong, moved, gone and out of reach."""

from __future__ import annotations

import io
import tarfile
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from karat.data.dataset_files import fetch_split, prepare_split
from karat.model.errors import InputError, UsageError
from karat.storage import downloads as storage
from karat.storage import http_client
from tests.plugins.datasets.toys import GOLD, file, folder, toy

DATA = bytes(range(256)) * 2000

download = partial(storage.download, wait=0)


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_fetched_and_progress_told(web, tmp_path):
    web.files["/f"] = DATA
    told = []
    download(web.url("/f"), tmp_path / "deep" / "f", progress=lambda done, total: told.append((done, total)))
    assert (tmp_path / "deep" / "f").read_bytes() == DATA
    assert told[-1] == (len(DATA), len(DATA))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert left(tmp_path / "deep") == ["f"]


def test_a_cut_connection_is_continued_where_it_broke(web, tmp_path):
    web.files["/f"] = DATA
    web.cuts["/f"] = [100_000, 50_000]
    download(web.url("/f"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == DATA
    assert [asked for _, asked in web.asked] == [None, "bytes=100000-", "bytes=150000-"]


def test_what_was_received_before_the_last_cut_serves_the_next_call(web, tmp_path):
    web.files["/f"] = DATA
    web.cuts["/f"] = [1000] * 4
    with pytest.raises(InputError, match=r"a broken connection after 4,000 bytes.*Repeat the command"):
        download(web.url("/f"), tmp_path / "f")
    assert not (tmp_path / "f").exists()
    download(web.url("/f"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == DATA
    assert web.asked[-1] == ("/f", "bytes=4000-")
    assert left(tmp_path) == ["f"]


@pytest.mark.parametrize("change", ["other file", "no ranges", "no tag", "shorter"])
def test_a_part_of_something_else_is_not_continued(web, tmp_path, change):
    web.files["/f"] = DATA
    web.cuts["/f"] = [1000] * 4
    if change == "no tag":
        web.tag = ""
    with pytest.raises(InputError):
        download(web.url("/f"), tmp_path / "f")
    if change == "other file":
        web.tag, web.files["/f"] = '"two"', DATA[::-1]
    elif change == "no ranges":
        web.ranges = False
    elif change == "shorter":
        web.files["/f"] = DATA[:10]
    download(web.url("/f"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == web.files["/f"]


def _range(first, last, total):
    return f"bytes {first}-{last}/{total}"


ONE = '"one"'
WRONG_PARTS = {
    "another place": lambda at, data: (
        {"ETag": ONE, "Content-Range": _range(0, len(data) - 1, len(data))},
        data,
    ),
    "no place": lambda at, data: ({"ETag": ONE}, data[at:]),
    "another state, If-Range not looked at": lambda at, data: (
        {"ETag": '"two"', "Content-Range": _range(at, len(data) - 1, len(data))},
        data[::-1][at:],
    ),
    "no state": lambda at, data: ({"Content-Range": _range(at, len(data) - 1, len(data))}, data[::-1][at:]),
    "a length that is not that of the part": lambda at, data: (
        {"ETag": ONE, "Content-Range": _range(at, at + 9, len(data))},
        data[at:],
    ),
    "a place behind the end": lambda at, data: (
        {"ETag": ONE, "Content-Range": _range(at, len(data) - 1, at + 1)},
        data[at:],
    ),
    "no total": lambda at, data: ({"ETag": ONE, "Content-Range": _range(at, len(data) - 1, "*")}, data[at:]),
}


@pytest.mark.parametrize("parts", WRONG_PARTS.values(), ids=WRONG_PARTS)
def test_a_part_that_does_not_continue_is_not_glued_on(web, tmp_path, parts):
    web.files["/f"] = DATA
    web.cuts["/f"] = [1000]
    web.parts = parts
    download(web.url("/f"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == DATA
    assert [asked for _, asked in web.asked] == [None, "bytes=1000-", None]


def test_less_than_the_rest_is_not_taken_for_all_of_it(web, tmp_path):
    """A server may send a shorter part than it was asked for, and says so."""
    web.files["/f"] = DATA

    def parts(at, data):
        last = min(at + 200_000, len(data)) - 1
        return {"ETag": ONE, "Content-Range": _range(at, last, len(data))}, data[at : last + 1]

    web.cuts["/f"], web.parts = [1000], parts
    download(web.url("/f"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == DATA
    assert [asked for _, asked in web.asked] == [None, "bytes=1000-", "bytes=201000-", "bytes=401000-"]


@pytest.mark.parametrize("status", [202, 203, 204, 206])
def test_a_response_that_is_not_the_file_is_refused(web, tmp_path, status):
    web.files["/f"] = b"" if status == 204 else b"we are working on it"
    web.status = status
    with pytest.raises(InputError, match=f"{status}|another part than requested"):
        download(web.url("/f"), tmp_path / "f")
    assert left(tmp_path) == []


def test_redirects_are_followed_with_the_range(web, tmp_path):
    web.files["/f"] = DATA
    web.redirects = {"/old": web.url("/older"), "/older": "/f"}
    web.cuts["/f"] = [1000]
    download(web.url("/old"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == DATA
    assert web.asked[-1] == ("/f", "bytes=1000-")


def test_a_redirect_off_the_web_is_refused(web, tmp_path):
    web.redirects = {"/f": "file:///etc/passwd", "/g": "ftp://127.0.0.1/g"}
    with pytest.raises(InputError, match="a refusal"):
        download(web.url("/f"), tmp_path / "f")
    with pytest.raises(InputError, match="a redirect to ftp:"):
        download(web.url("/g"), tmp_path / "g")
    with pytest.raises(InputError, match="not a web address"):
        download("file:///etc/passwd", tmp_path / "f")


def test_a_protected_address_never_leads_to_an_open_one():
    asked = urllib.request.Request("https://example.org/f")
    with pytest.raises(InputError, match="starts with https:"):
        http_client._SafeRedirects().redirect_request(asked, io.BytesIO(), 302, "", {}, "http://example.org/f")


@pytest.mark.parametrize(("code", "said"), [(404, "a missing file"), (410, "a missing file"), (403, "a refusal")])
def test_a_refusal_says_what_to_do_and_is_not_tried_again(web, tmp_path, code, said):
    web.errors["/f"] = [code]
    with pytest.raises(InputError, match=rf"{said} \({code}.*--from"):
        download(web.url("/f"), tmp_path / "f")
    assert len(web.asked) == 1
    assert left(tmp_path) == []


def test_a_busy_server_is_asked_again(web, tmp_path):
    web.files["/f"] = DATA
    web.errors["/f"] = [503, 429]
    download(web.url("/f"), tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == DATA
    web.errors["/g"] = [503] * 4
    with pytest.raises(InputError, match="503"):
        download(web.url("/g"), tmp_path / "g")


def test_no_network_is_said(tmp_path):
    with pytest.raises(InputError, match=r"an unreachable server.*--from"):
        download("http://127.0.0.1:1/f", tmp_path / "f", timeout=2)


def test_a_benchmark_is_fetched_once(web, cache):
    web.files["/gold.jsonl"] = GOLD
    chosen = toy(file(url=web.url("/gold.jsonl")))
    (fetched,) = fetch_split(chosen)
    assert (fetched.method, fetched.path, fetched.verified) == ("downloaded", str(cache / "toy" / "gold.jsonl"), True)
    assert str(prepare_split(chosen)) == fetched.path
    assert [one.method for one in fetch_split(chosen)] == ["present"]
    assert len(web.asked) == 1


def test_a_wrong_checksum_leaves_nothing(web, cache):
    web.files["/gold.jsonl"] = GOLD.replace(b"Q1", b"Q2")
    with pytest.raises(InputError, match=r"found SHA-256 \w{64}; expected SHA-256 \w{64} for toy@v1"):
        fetch_split(toy(file(url=web.url("/gold.jsonl"))))
    assert left(cache / "toy") == []
    web.files["/gold.jsonl"] = GOLD[:-5]
    with pytest.raises(InputError, match="bytes for toy@v1"):
        fetch_split(toy(file(url=web.url("/gold.jsonl"))))


def test_a_damaged_file_is_fetched_again(web, cache):
    web.files["/gold.jsonl"] = GOLD
    chosen = toy(file(url=web.url("/gold.jsonl")))
    fetch_split(chosen)
    (cache / "toy" / "gold.jsonl").write_bytes(b"other")
    with pytest.raises(InputError, match="karat data fetch toy@v1"):
        prepare_split(chosen)
    assert [one.method for one in fetch_split(chosen)] == ["downloaded"]
    assert (cache / "toy" / "gold.jsonl").read_bytes() == GOLD


def zipped(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(files):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("top/texts/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return data.getvalue()


@pytest.mark.parametrize("snapshot", [zipped, tarred])
def test_files_and_folders_come_out_of_archives(web, cache, snapshot):
    texts = {"a.txt": b"Ada", "deep/b.txt": b"Bob"}
    inside = {f"top/texts/{name}": data for name, data in texts.items()}
    web.files["/all"] = snapshot(
        {"top/gold.jsonl": GOLD, **inside, "top/texts/.hidden": b"", "top/texts/../../out": b"", "top/other": b""}
    )
    chosen = toy(
        file(url=web.url("/all"), member="gold.jsonl"),
        folder("toy/texts", texts, url=web.url("/all"), member="texts"),
    )
    assert [one.method for one in fetch_split(chosen)] == ["downloaded", "downloaded"]
    assert len(web.asked) == 1
    assert (cache / "toy" / "texts" / "deep" / "b.txt").read_bytes() == b"Bob"
    assert left(cache / "toy") == ["gold.jsonl", "texts"]
    assert prepare_split(chosen) == cache / "toy" / "gold.jsonl"


def test_an_archive_without_the_file_or_damaged_is_said(web):
    chosen = toy(file(url=web.url("/all"), member="gold.jsonl"))
    web.files["/all"] = zipped({"top/other": b""})
    with pytest.raises(InputError, match=r"no gold\.jsonl inside"):
        fetch_split(chosen)
    web.files["/all"] = b"no archive"
    with pytest.raises(InputError, match="a damaged archive"):
        fetch_split(chosen)
    web.files["/all"] = zipped({"top/gold.jsonl": GOLD})
    assert [one.method for one in fetch_split(chosen)] == ["downloaded"]


def test_a_folder_is_fetched_file_by_file(web, cache):
    texts = {"a.txt": b"Ada", "b.txt": b"Bob"}
    web.files = {f"/texts/{name}": data for name, data in texts.items()}
    chosen = toy(folder("toy/texts", texts, url=web.url("/texts"), file_names=tuple(texts)))
    fetch_split(chosen)
    assert left(cache / "toy" / "texts") == ["a.txt", "b.txt"]
    web.files["/texts/b.txt"] = b"Eve"
    (cache / "toy" / "texts" / "b.txt").unlink()
    with pytest.raises(InputError, match="SHA-256"):
        fetch_split(chosen)
    assert left(cache / "toy") == []


@pytest.mark.parametrize("damage", ["zip data", "zip method", "zip password", "gzip data", "gzip end"])
def test_an_archive_damaged_inside_does_not_stay(web, cache, damage):
    """It stayed in the cache, and every later call failed on it."""
    whole = (zipped if damage.startswith("zip") else tarred)({"top/gold.jsonl": GOLD + DATA[:5000]})
    data = bytearray(whole)
    if damage == "zip method":
        for mark, shift in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
            data[data.index(mark) + shift] = 99
    elif damage == "zip password":
        for mark, shift in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            data[data.index(mark) + shift] |= 1
    elif damage == "gzip end":
        del data[len(data) // 2 :]
    else:
        data[60:90] = bytes(30)
    web.files["/all"] = bytes(data)
    chosen = toy(file(url=web.url("/all"), member="gold.jsonl", data=GOLD + DATA[:5000]))
    with pytest.raises(InputError, match="a damaged archive"):
        fetch_split(chosen)
    web.files["/all"] = whole
    assert [one.method for one in fetch_split(chosen)] == ["downloaded"]
    assert left(cache / "toy") == ["gold.jsonl"]


@pytest.mark.parametrize("packed", [False, True])
def test_several_who_fetch_at_once_get_one_whole_file(web, cache, packed):
    """They wrote into one another's partial file."""
    web.files["/f"] = zipped({"gold.jsonl": DATA}) if packed else DATA
    web.cuts["/f"] = [len(web.files["/f"]) // 2]
    chosen = toy(file(url=web.url("/f"), data=DATA, **({"member": "gold.jsonl"} if packed else {})))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: fetch_split(chosen), range(4)))
    assert (cache / "toy" / "gold.jsonl").read_bytes() == DATA
    assert left(cache / "toy") == ["gold.jsonl"]


def test_a_place_that_cannot_be_written_is_said(tmp_path, monkeypatch, web):
    (tmp_path / "taken").write_text("")
    monkeypatch.setenv("KARAT_HOME", str(tmp_path / "taken" / "home"))
    web.files["/f"] = GOLD
    with pytest.raises(UsageError, match=r"taken.*KARAT_HOME"):
        fetch_split(toy(file(url=web.url("/f"))))
