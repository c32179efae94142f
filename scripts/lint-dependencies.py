#!/usr/bin/env python3
"""Compares docs/dependencies.md with the packages that are really used.

- Every direct dependency in Package.swift has an exact version.
- Every resolved Swift package has a row in the table with its version, and no row is left over.
- Every Debian package that scripts/install-dependencies.sh installs to build has a row.

Reads Package.resolved; runs `swift package resolve` first when it is missing or older than Package.swift. Exits 1 where
something differs.
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "Package.swift"
RESOLVED = ROOT / "Package.resolved"
TABLE = ROOT / "docs/dependencies.md"
INSTALLER = ROOT / "scripts/install-dependencies.sh"


def resolved():
    """Versions by identity."""
    if not RESOLVED.exists() or RESOLVED.stat().st_mtime < MANIFEST.stat().st_mtime:
        subprocess.run(["swift", "package", "resolve"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        RESOLVED.touch()
    pins = json.loads(RESOLVED.read_text())["pins"]
    return {pin["identity"]: pin["state"].get("version", "no version") for pin in pins}


def rows(text):
    """The cells of all table rows by the name in the first cell, which stands in backquotes."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        name = re.fullmatch(r"`([^`]+)`", cells[0])
        if line.startswith("|") and name:
            found[name[1]] = cells[1:]
    return found


def main():
    faults = []
    manifest = MANIFEST.read_text()
    exact = {}
    for url, requirement in re.findall(r'\.package\(\s*url: "([^"]+)",\s*([^,)]+)', manifest):
        identity = url.rstrip("/").removesuffix(".git").rsplit("/", 1)[-1].lower()
        version = re.fullmatch(r'exact: "([^"]+)"', requirement.strip())
        if version:
            exact[identity] = version[1]
        else:
            faults.append(f"Package.swift: {identity} must have an exact version, not {requirement.strip()}")

    text = TABLE.read_text()
    documented = rows(text)
    versions = resolved()
    for identity, version in sorted((versions | exact).items()):
        row = documented.pop(identity, None)
        if row is None:
            faults.append(f"docs/dependencies.md: {identity} {version} is missing")
        elif row[0] != version:
            faults.append(f"docs/dependencies.md: {identity} is {version}, not {row[0]}")
        elif len(row) < 3 or not all(row[1:3]):
            faults.append(f"docs/dependencies.md: {identity} needs a licence and a reason")

    build = re.search(r'^build="([^"]+)"', INSTALLER.read_text(), re.M)
    for choice in build[1].split() if build else []:
        name = choice.split("|")[0]
        if documented.pop(name, None) is None:
            faults.append(f"docs/dependencies.md: the Debian package {name} is missing")
    for name in documented:
        faults.append(f"docs/dependencies.md: {name} is not used any more; remove its row")

    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
