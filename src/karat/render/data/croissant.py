"""The description of a dataset in Croissant 1.0 (JSON-LD), which dataset search engines and loaders read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from karat.data.publishing.manifest import PublishedFile
from karat.data.publishing.registration import Publication

CROISSANT_NAME: Final = "croissant.json"
"""Name of the description in the folder to publish."""

_CONTEXT: Final[dict[str, Any]] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_CREATIVE_COMMONS: Final = re.compile(r"cc0(-1\.0)?|cc-(?P<terms>by(-nc)?(-sa|-nd)?)-(?P<version>\d\.\d)")
_LABEL_FIELDS: Final = {
    "start": ("sc:Integer", "Offset of the first code point."),
    "end": ("sc:Integer", "Offset after the last code point."),
    "entity": ("sc:Text", "Id of the entity; null for NIL, absent if unlinked."),
    "types": ("sc:Text", "Types of the entity."),
    "kind": ("sc:Text", "quantity, datetime, coreference or descriptive, if the mention is no ordinary name."),
    "optional": ("sc:Boolean", "Whether a system may skip the mention."),
    "mention_id": ("sc:Text", "Labels with the same mention_id are alternatives of one mention."),
    "parent": ("sc:Text", "The mention_id of the mention that the label segments in another way."),
    "nil_cluster": ("sc:Text", "Cluster of NIL mentions of the same entity."),
}


def _to_croissant_licence(licence: str | None) -> str | None:
    """Return the address of a licence of Creative Commons, such as `CC BY 4.0`; others unchanged, such as SPDX ids."""
    match = _CREATIVE_COMMONS.fullmatch("-".join(re.split(r"[\s_-]+", (licence or "").strip().lower())))
    if match is None:
        return licence
    name = f"licenses/{match['terms']}/{match['version']}" if match["terms"] else "publicdomain/zero/1.0"
    return f"https://creativecommons.org/{name}/"


def build_croissant(publication: Publication) -> dict[str, Any]:
    """Describe a version of a dataset in Croissant; unknown properties are absent."""
    metadata = publication.version.metadata
    properties = {
        "alternateName": metadata.title,
        "description": metadata.description,
        "license": _to_croissant_licence(metadata.licence),
        "citeAs": metadata.citation,
        "url": metadata.url,
        "datePublished": metadata.published,
        "inLanguage": metadata.language,
        "creator": [{"@type": "sc:Person", "name": name} for name in metadata.creators],
        "isBasedOn": list(metadata.sources),
        "rai:dataBiases": list(metadata.biases),
    }
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": publication.name,
        "version": publication.version_name,
        **{name: value for name, value in properties.items() if value},
        "distribution": list(_build_distribution(publication)),
        "recordSet": [_build_record_set(split) for split in publication.version.splits],
    }


def _build_distribution(publication: Publication) -> Iterator[dict[str, Any]]:
    """Yield the files of a version: its splits, then its guidelines."""
    for split, item in publication.version.splits.items():
        description = f"{item.documents} documents with {item.labels} labels, one per line"
        yield _build_file(f"{split}.jsonl", item.file, description, "application/jsonlines")
    for file in publication.version.guidelines:
        yield _build_file(file.path, file, "Guidelines of the annotators", "text/plain")


def _build_file(id: str, file: PublishedFile, description: str, encoding: str) -> dict[str, Any]:
    """Describe a file, whose address is relative to the folder of the description."""
    return {
        "@type": "cr:FileObject",
        "@id": id,
        "name": id,
        "description": description,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": encoding,
        "sha256": file.sha256,
    }


def _build_record_set(split: str) -> dict[str, Any]:
    """Describe the documents of a split: id, text, and labels with span and entity."""
    fields = [
        _build_field(split, "id", "sc:Text", "Id of the document."),
        _build_field(split, "text", "sc:Text", "Text of the document."),
    ]
    return {
        "@type": "cr:RecordSet",
        "@id": split,
        "name": split,
        "description": f"Documents of the split {split}.",
        "key": {"@id": f"{split}/id"},
        "field": [*fields, _build_labels(split)],
    }


def _build_field(split: str, column: str, data_type: str, description: str) -> dict[str, Any]:
    """Describe a field of documents that is a column of the file."""
    return {
        "@type": "cr:Field",
        "@id": f"{split}/{column}",
        "name": column,
        "description": description,
        "dataType": data_type,
        "source": {"fileObject": {"@id": f"{split}.jsonl"}, "extract": {"column": column}},
    }


def _build_labels(split: str) -> dict[str, Any]:
    """Describe the labels of documents, which are lists of objects in the file."""
    return {
        "@type": "cr:Field",
        "@id": f"{split}/labels",
        "name": "labels",
        "description": "Gold labels of the document.",
        "repeated": True,
        "subField": [
            {
                "@type": "cr:Field",
                "@id": f"{split}/labels/{name}",
                "name": name,
                "description": description,
                "dataType": data_type,
                "repeated": True,
                "source": {
                    "fileObject": {"@id": f"{split}.jsonl"},
                    "extract": {"column": "labels"},
                    "transform": {"jsonPath": f"$.{name}"},
                },
            }
            for name, (data_type, description) in _LABEL_FIELDS.items()
        ],
    }
