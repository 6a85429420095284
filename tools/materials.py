"""Builder of the software bill of materials, in the layout of CycloneDX, from the hashed requirements."""

from __future__ import annotations

from collections.abc import Iterable

from lock import LockedRequirement


def build_bill(
    version: str, licence: str, required: Iterable[LockedRequirement], optional: Iterable[LockedRequirement]
) -> dict[str, object]:
    """Return the bill of Karat in `version`, with the `required` packages and the `optional` packages of all extras."""
    base = {requirement.name: requirement for requirement in required}
    # A package in both has all its parents only among those of the extras.
    requirements = base | {requirement.name: requirement for requirement in optional}
    references = {"karat": f"pkg:pypi/karat@{version}"}
    references |= {name: f"pkg:pypi/{name}@{requirement.version}" for name, requirement in requirements.items()}
    children: dict[str, list[str]] = {name: [] for name in references}
    for requirement in requirements.values():
        for parent in requirement.required_by:
            children[parent].append(references[requirement.name])
    # No time and no serial number: the same requirements give the same bill.
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": references["karat"],
                "name": "karat",
                "version": version,
                "licenses": [{"license": {"id": licence}}],
                "purl": references["karat"],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": references[name],
                "name": name,
                "version": requirements[name].version,
                "scope": "required" if name in base else "optional",
                "purl": references[name],
            }
            for name in sorted(requirements)
        ],
        "dependencies": [{"ref": references[name], "dependsOn": sorted(children[name])} for name in sorted(references)],
    }
