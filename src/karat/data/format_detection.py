"""Detection of a file's format from its content, and suggestions for files in an unknown format."""

from __future__ import annotations

import re
import shlex
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from karat.data.custom_tables import CustomTables
from karat.data.publishing.manifest import MANIFEST_NAME
from karat.formats.parsing.annotation_tools.archives import ZIP_MAGIC
from karat.formats.parsing.json.karat_objects import check_keys
from karat.formats.parsing.surfaces.columns import is_data_row, suggest_roles
from karat.formats.parsing.surfaces.table_rows import is_json, read_nested_names, read_sample
from karat.model.errors import InputError, KaratError
from karat.model.output.command_options import find_options
from karat.model.registry import get_plugin, list_plugins
from karat.model.results.result import LAYOUT
from karat.model.spec.format import Format
from karat.storage.files import Source

_READERS = (
    "has_gold",
    "read_corpus",
    "read_run",
    "read_run_with_gold",
    "has_gold_and_predictions",
    "read_both",
    "read_manifest",
    "read_corpus_blocks",
)
_KARAT_FORMATS = ("karat-jsonl", "karat-parquet")
_MAX_SIMILAR = 3
_RESULT: Final = LAYOUT.partition("/")[0].encode() + b"/"
_RESULT_START: Final = b'{"measures":{"'
_UTF16: Final = re.compile(rb"\xff\xfe|\xfe\xff|(?:[\t\n -~]\x00){4}|(?:\x00[\t\n -~]){4}")
_OUTPUT_LAYOUT: Final = re.compile(rb'\s*\{\s*"layout"\s*:\s*"(karat-[a-z0-9/-]+)"')
_PROSE: Final = re.compile(rb"(?![\[{<#@])(?=[^\t]* )(?:[^\t,]|,(?=[\s\"']|$))+")
_MAX_COLUMNS = 12


class _UnreadEncoding(NamedTuple):
    """A way to write data that Karat knows and does not read: its first bytes, its name, and what to do."""

    pattern: re.Pattern[bytes]
    title: str
    expected: str
    remedy: str


_UNCOMPRESSED = "a file that is not compressed, or with gzip or zstd"
_TO_TURTLE = "Convert it, for example with riot --output=turtle of Apache Jena"
_UNREAD_ENCODINGS: Final = (
    _UnreadEncoding(re.compile(rb'\s*[\[{][^{]*"@(?:context|graph|id)"'), "JSON-LD", "RDF in Turtle", _TO_TURTLE),
    _UnreadEncoding(re.compile(rb"\s*<(?:[?!][^\0]{0,2000}<)?rdf:RDF\b"), "RDF/XML", "RDF in Turtle", _TO_TURTLE),
    _UnreadEncoding(
        re.compile(rb"\s*[\[{]\s*[{]?\s*'"),
        "Python dictionaries with single quotes",
        "JSON",
        "Write them with json.dumps, not with str or print",
    ),
    _UnreadEncoding(
        re.compile(rb"version https://git-lfs"), "a pointer of Git LFS", "the file itself", "Fetch it: git lfs pull"
    ),
    _UnreadEncoding(
        re.compile(rb"BZh[1-9]1AY&SY"), "a bzip2 file", _UNCOMPRESSED, "Decompress it: bunzip2 --keep FILE"
    ),
    _UnreadEncoding(
        re.compile(rb"PK\x03\x04.{26}\[Content_Types\]", re.DOTALL), "an Office file", "CSV", "Save it as CSV in UTF-8"
    ),
    _UnreadEncoding(re.compile(rb"\xfd7zXZ\x00"), "an xz file", _UNCOMPRESSED, "Decompress it: unxz --keep FILE"),
)


_SHAPES: Final = {
    "JSON": (".json", ".jsonl"),
    "XML": (".xml",),
    "Turtle": (".ttl",),
    "a table with tabs": (".tsv", ".tab", ".conll", ".gs", ".ann"),
    "a table with commas": (".csv",),
}
"""The suffixes of formats with a given outer shape, by the shape."""


def list_formats() -> Iterator[tuple[str, Format]]:
    """Yield the name and specification of every format."""
    for name in list_plugins("formats"):
        yield name, get_plugin("formats", name, Format)


def detect_format(source: Source, format_name: str | None, tables: CustomTables) -> Format:
    """Return the format to read a source with: the named one, a custom table, or the only one that matches the content.

    Raises `InputError` if several formats match, or none, with the most similar formats.
    """
    for encoding in () if source.is_folder else _UNREAD_ENCODINGS:
        if encoding.pattern.match(source.first_bytes):
            raise InputError(source.label, actual=encoding.title, expected=encoding.expected, remedy=encoding.remedy)
    if not source.is_folder and _UTF16.match(source.first_bytes):
        name = Path(source.path).name
        raise InputError(
            source.label,
            actual="UTF-16 text",
            expected="UTF-8 text",
            remedy=f"Convert it: iconv -f UTF-16 -t UTF-8 {name} > utf8-{name}",
        )
    is_zip = not source.is_folder and source.first_bytes.startswith(ZIP_MAGIC)
    if format_name is not None:
        named_format = get_plugin("formats", format_name, Format)
        if format_name.endswith(".py"):
            return _wrap_readers(named_format, format_name)
        if is_zip and not named_format.recognises(source.first_bytes):
            raise _zip_error(source)
        return named_format
    if is_zip and not _matching_formats(source):
        raise _zip_error(source)
    if (table := tables.find_format(source)) is not None:
        return table
    if not source.is_folder:
        for karat_name in _KARAT_FORMATS:  # Karat's own files need not wait until all other formats are imported
            format = get_plugin("formats", karat_name, Format)
            if format.is_certain is not None and format.is_certain(source.first_bytes):
                return format
    matches = _matching_formats(source)
    if len(matches) == 1:
        return matches[0][1]
    if matches:
        choices, advice = ", ".join(f"{spec.title} ({name})" for name, spec in matches), _advise_format()
        raise InputError(
            source.label,
            actual=f"content that could be {choices}",
            expected=f"one of {choices}",
            remedy=f"{advice[0].upper()}{advice[1:]}",
        )
    if (table := tables.find_format_by_header(source)) is not None:
        return table
    tables.check_readable(source)
    raise _unknown_format_error(source)


def _zip_error(source: Source) -> InputError:
    """Return the error for a zip file that is no export of an annotation tool."""
    return InputError(
        source.label,
        actual="a zip file that is no export of doccano or INCEpTION",
        expected=_UNCOMPRESSED,
        remedy=f"Unzip it: unzip {shlex.quote(Path(source.path).name)}, and pass the file in it",
    )


def _wrap_readers(spec: Format, name: str) -> Format:
    """Return a user's format, named by its `.py` file, whose readers report any exception as a `KaratError`."""
    readers = {field: getattr(spec, field) for field in _READERS}
    wrappers: dict[str, Any] = {field: _wrap_reader(read, name) for field, read in readers.items() if read is not None}
    return replace(spec, **wrappers)


def _wrap_reader(read: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return `read` wrapped so that any exception becomes a `KaratError` with its location in the user's file."""

    def call(*arguments: Any) -> Any:  # noqa: ANN401  # any reader
        try:
            return read(*arguments)
        except KaratError:
            raise
        except Exception as problem:
            where = traceback.extract_tb(problem.__traceback__)[-1]
            at = f"{type(problem).__name__}: {problem}, line {where.lineno} of {Path(where.filename).name}"
            raise KaratError(f"{name} cannot read this file ({at}). Correct the format.") from problem

    return call


def _matching_formats(source: Source) -> list[tuple[str, Format]]:
    """Return names and specifications of the formats that recognise the content.

    Fallback formats only if no other does.
    """
    if source.is_folder:
        files = source.file_names
        return [
            (name, f) for name, f in list_formats() if f.recognises_folder is not None and f.recognises_folder(files)
        ] or _recognise_first_file(source)
    matches = [(name, spec) for name, spec in list_formats() if spec.recognises(source.first_bytes)]
    return [(name, spec) for name, spec in matches if not spec.is_fallback] or matches


def _recognise_first_file(folder: Source) -> list[tuple[str, Format]]:
    """Return the formats of folders of documents that recognise the first file of a folder in no known layout.

    Their readers then say what is missing, such as a text of brat.
    """
    heads = [folder.get_child(name).first_bytes for name in sorted(folder.file_names)[:1]]
    return [
        (name, spec)
        for name, spec in list_formats()
        if spec.write_folder is not None and any(map(spec.recognises, heads))
    ]


def is_result_file(source: Source) -> bool:
    """Return whether a file contains results, as `karat score --json` writes them, also if its end is cut off."""
    head = source.first_bytes.lstrip()
    if head.startswith(_RESULT_START):
        return True
    return head.startswith(b"{") and (_RESULT in head or (b'"measures"' in head and _RESULT in source.read_bytes()))


def _unknown_format_error(source: Source) -> InputError:
    """Return the error for an unknown format, with the most similar formats and a remedy.

    Raise `InputError` for objects with document ids as keys.
    """
    if source.is_folder and MANIFEST_NAME in source.file_names:
        return InputError(
            source.label,
            actual=f"a published dataset, with a {MANIFEST_NAME}",
            expected="its name once it is installed, or a file in it",
            remedy=f"Run karat data add {shlex.quote(source.path)}, which prints the names of its versions and splits",
        )
    if source.is_folder:
        folders = [f"{spec.title} ({name})" for name, spec in list_formats() if spec.recognises_folder is not None]
        return InputError(
            source.label,
            actual=f"a folder of {len(source.file_names)} files in no known layout",
            expected=f"one of {', '.join(folders)}",
            remedy="Check the path, pass a file in the folder, or name the format (llm: an answer per file)",
        )
    if is_result_file(source):
        return InputError(
            source.label,
            actual="a result file, which contains scores and no predictions",
            expected="a gold standard or predictions",
            remedy="Pass the predictions; karat compare, report and gate also read result files of all systems, "
            "without a gold standard (--gold)",
        )
    if (output := _OUTPUT_LAYOUT.match(source.first_bytes)) is not None:
        return InputError(
            source.label,
            actual=f"the output of a command (layout {output[1].decode()}), which contains no documents",
            expected="a gold standard, predictions, or results of karat score --json",
            remedy="Pass the predictions, such as those in the output folder of karat run, or the results of karat "
            "score --json",
        )
    if _is_prose(source):
        return InputError(
            source.label,
            actual="plain text",
            expected="a gold standard, predictions, or texts with ids",
            remedy='Write texts as JSONL, one document per line: {"id": "d1", "text": "…"}',
        )
    if not source.first_bytes.strip():
        return InputError(
            source.label,
            actual="an empty file",
            expected="documents",
            remedy='Check the path; a system that predicted nothing has a line {"id": "…", "predictions": []} for each '
            "document",
        )
    if is_json(source):
        for row in read_sample(source):
            check_keys(row.fields, row.location)
    candidates = [f"{match.title} ({match.name}: {match.reason})" for match in find_similar_formats(source)]
    columns = [name for name in read_nested_names(source) if name]
    hint = f", or name the roles of its columns: {suggest_roles(columns)} ({_list_columns(columns)})"
    return InputError(
        source.label,
        actual=_describe_content(source.first_bytes),
        expected=f"a known format; nearest: {'; '.join(candidates)}" if candidates else "a known format",
        remedy=f"Check the path, or {_advise_format()} (list: documentation page 'Formats')"
        + (hint if len(columns) > 1 else ""),
    )


def _advise_format() -> str:
    """Return the advice to name the format, with the options of the running command, or else to convert the file."""
    flags = find_options("--gold-format", "--predictions-format") or find_options(
        "--from", "--format", "--texts-format"
    )
    names = ", of predictions with " if "--gold-format" in flags else " or "
    return f"name the format with {names.join(flags)}" if flags else "convert it with karat data convert --from FORMAT"


def _is_prose(source: Source) -> bool:
    """Return whether a text file begins with prose: words, whose commas have a space behind them, and no markup."""
    line = source.first_bytes.lstrip().partition(b"\n")[0].strip()
    return Path(source.path).suffix == ".txt" and _PROSE.fullmatch(line) is not None


def _list_columns(columns: list[str]) -> str:
    """Return a phrase with the first column names, or with the first row if it seems to be data, for a message."""
    names = ", ".join(name[:30] for name in columns[:_MAX_COLUMNS]) + ", …" * (len(columns) > _MAX_COLUMNS)
    return f"counted from 1 if it has no header; first row: {names}" if is_data_row(columns) else f"it has {names}"


class SimilarFormat(NamedTuple):
    """A format that a file in an unknown format resembles.

    `name`: name of the format.
    `title`: title of the format.
    `reason`: what the file and the format have in common.
    """

    name: str
    title: str
    reason: str


def find_similar_formats(source: Source) -> list[SimilarFormat]:
    """Return up to three formats that a file resembles most: by typical strings, by suffix and by outer shape."""
    shape, ranked = _detect_shape(source.first_bytes), []
    path = source.path.removesuffix(".gz").removesuffix(".zst")
    for name, spec in list_formats():
        if spec.markers is None:
            continue
        markers = [marker for marker in spec.markers if marker.encode() in source.first_bytes]
        has_suffix = path.endswith(spec.suffix)
        has_shape = shape is not None and spec.suffix.endswith(_SHAPES[shape])
        if not (markers or has_suffix or has_shape):
            continue
        reasons = [f"it has {', '.join(markers)}"] * bool(markers)
        reasons += [f"its name ends in {spec.suffix}"] * has_suffix
        reasons += [f"it is {shape}"] * (has_shape and not reasons)
        share = len(markers) / len(spec.markers) if spec.markers else 0
        order = (
            -(2 * share + has_suffix + has_shape),
            spec.write_run is None,
        )  # formats that Karat writes are the common ones
        ranked.append((order, SimilarFormat(name, spec.title, " and ".join(reasons))))
    return [match for _, match in sorted(ranked)[:_MAX_SIMILAR]]


def _detect_shape(head: bytes) -> str | None:
    """Return the outer shape of the content, a key of `_SHAPES`, from its first bytes.

    None if the content has none of these shapes.
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    line = start.partition(b"\n")[0]
    if start.startswith((b"{", b"[")):
        return "JSON"
    if start.startswith(b"<?xml") or re.match(rb"<[A-Za-z!]", start):
        return "XML"
    if start.startswith((b"@prefix", b"@base", b"PREFIX", b"<http")):
        return "Turtle"
    return "a table with tabs" if b"\t" in line else "a table with commas" if b"," in line else None


def _describe_content(head: bytes) -> str:
    """Return a short description of content in an unknown format, from its first bytes."""
    start = head.lstrip()
    if start.startswith(b"["):
        return "one JSON array of objects that are not Karat's"
    return f"content of an unknown format ({start[:40].decode(errors='replace')!r})"
