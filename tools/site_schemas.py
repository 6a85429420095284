"""Hook of MkDocs: the site has the JSON Schemas of the package, and links to them lead there."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

SCHEMAS = "src/karat/render/schema"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the schemas to the files of the site."""
    root = Path(config.config_file_path).parent
    for path in sorted((root / SCHEMAS).glob("*.json")):
        files.append(File.generated(config, f"schema/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, **_context: object) -> str:
    """Replace the folder of the repository by the folder of the site in links."""
    return markdown.replace(f"](../../{SCHEMAS}/", "](../schema/")
