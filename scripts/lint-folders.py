#!/usr/bin/env python3
"""Finds circles between the folders of a room: folder A uses a type of folder B, and B uses one of A.

Folders directly below Sources/TransferEngine and Sources/transferd are layers; docs/architecture.md draws them.
Types are found by their declarations and matched by name, comments and strings left out.

usage: scripts/lint-folders.py [--graph] [ROOM...]
"""
import collections
import pathlib
import re
import sys

ROOMS = ["Sources/TransferEngine", "Sources/transferd"]
DECLARATION = re.compile(
    r"^(?:@[\w()., :\"]+\s+)*(?:(?:public|package|internal|open|final|indirect|nonisolated)\s+)*"
    r"(?:struct|enum|class|actor|protocol|typealias)\s+(\w+)",
    re.M,
)
NOISE = re.compile(r'//.*|"(?:\\.|[^"\\\n])*"')


def uses(room):
    """Which folder uses which others, with an example of each type: {(from, to): {type: file}}."""
    files, home = {}, {}
    for path in sorted(pathlib.Path(room).rglob("*.swift")):
        folder = path.relative_to(room).parts[0]
        text = path.read_text()
        files[path] = (folder, NOISE.sub("", text))
        for name in DECLARATION.findall(text):
            home.setdefault(name, folder)
    edges = collections.defaultdict(dict)
    for path, (folder, text) in files.items():
        for name in set(re.findall(r"\b[A-Z]\w+", text)):
            if home.get(name, folder) != folder:
                edges[folder, home[name]].setdefault(name, path.name)
    return edges


def circles(edges):
    """Pairs of folders on a common circle, by reachability."""
    reach = collections.defaultdict(set)
    for source, target in edges:
        reach[source].add(target)
    changed = True
    while changed:
        changed = False
        for source in list(reach):
            more = set().union(*(reach[target] for target in list(reach[source]))) - reach[source]
            if more:
                reach[source] |= more
                changed = True
    return sorted(edge for edge in edges if edge[0] in reach[edge[1]])


def main(arguments):
    graph = "--graph" in arguments
    found = False
    for room in [argument for argument in arguments if argument != "--graph"] or ROOMS:
        edges = uses(room)
        if graph:
            for (source, target), names in sorted(edges.items()):
                print(f"{room}: {source} -> {target} ({len(names)} types)")
        for source, target in circles(edges):
            found = True
            names = ", ".join(f"{name} ({file})" for name, file in sorted(edges[source, target].items())[:8])
            print(f"{room}: {source} and {target} use each other; {source} uses {names}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
