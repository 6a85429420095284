"""GERDAQ: search queries with ranked entities."""

from karat.model.spec.dataset import Counts, Dataset, Split, Version, bat_file


def _make_split(name: str, sha256: str, size: int, documents: int, labels: int) -> Split:
    """Return the split in the file `gerdaq_NAME.xml`, with its checksum, its number of bytes and the expected sizes."""
    file = bat_file(f"gerdaq_1.0/gerdaq_{name}.xml", sha256, size=size, commit="HEAD")
    return Split(format="gerdaq", files=(file,), counts=Counts(documents, labels))


# Splits by name: file, checksum, bytes, documents and labels
_FILES = {
    "train-a": ("trainingA", "c98af55916b45996633f162cf7c13f249d55ad35132b7f9b554b5a6a87defd13", 62620, 249, 474),
    "train-b": ("trainingB", "8816ce589015344a7145c1bbf97ac426cacbfae9b5a615c8a6fcda270f51bafb", 62567, 248, 458),
    "dev": ("devel", "b4afc8d6bbeb1a1d8fa1b2a9750c5402d3c56a444e6455b41bf558d0277ec913", 56248, 249, 453),
    "test": ("test", "ad11c02d27073fc25e4551a601e030e31ae66b29abeee33b5922ce1d93fe6ce3", 53882, 246, 430),
}
_SPLITS = {name: _make_split(*row) for name, row in _FILES.items()}
_MENTIONS = {"train-a": 441, "train-b": 433, "dev": 420, "test": 409}

DATASET = Dataset(
    title="GERDAQ 1.0",
    description="Queries from the KDD Cup 2005, annotated by crowd workers; a mention may have several "
    "entities, ordered by score.",
    tasks=("a2kb", "c2kb", "d2kb"),
    language="en",
    domain="queries",
    document_type="queries",
    licence="Not stated",
    citation="Cornolti et al. 2016: A Piggyback System for Joint Entity Mention Detection and Linking in Web Queries. "
    "WWW.",
    kb="wikipedia",
    sources=("https://github.com/marcocor/bat-framework",),
    versions={
        "cornolti2016": Version(
            description="All entities of a mention as alternatives.", splits=_SPLITS, default_split="test"
        ),
        "bat1.3": Version(
            description="Only the first entity of each mention, as BAT reads it.",
            splits={name: split.add_steps({"first": _MENTIONS[name]}) for name, split in _SPLITS.items()},
            default_split="test",
        ),
    },
)
