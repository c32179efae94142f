#!/usr/bin/env bash
# Checks and builds the engine's documentation: every public symbol has a comment, and DocC reports no warning.
#
#   scripts/docs.sh [check]      check: only the comments
#
# The result is in .build/docs/TransferEngine.doccarchive.
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1-} in '' | check) ;; *)
  echo "usage: ${0##*/} [check]" >&2
  exit 64
  ;;
esac

swift build --quiet --target TransferEngine
bin=$(swift build --show-bin-path)
tools=$(dirname "$(readlink -f "$(command -v swift)")")
tool() { if [[ -x $tools/$1 ]]; then echo "$tools/$1"; else echo "$1"; fi; }

# The C modules that the engine's module imports: its own, and those of its dependencies.
maps=()
while IFS= read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
  find "$bin" -maxdepth 2 -path '*.build/module.modulemap'
)
graphs=$(mktemp -d "${TMPDIR:-/tmp}/symbols.XXXXXX")
trap 'rm -rf "$graphs"' EXIT
"$(tool swift-symbolgraph-extract)" -module-name TransferEngine -target "$(uname -m)-unknown-linux-gnu" \
  -I "$bin/Modules" -I Sources/CCurl -I Sources/CCoding "${maps[@]}" \
  -minimum-access-level public -skip-synthesized-members -output-dir "$graphs"

python3 - "$graphs" <<'PYTHON'
import glob, json, sys

bare = set()
for path in glob.glob(sys.argv[1] + "/*.symbols.json"):
    for symbol in json.load(open(path))["symbols"]:
        # A symbol without a location is synthesized, such as the initializer of a raw value.
        if symbol.get("docComment", {}).get("lines") or "location" not in symbol:
            continue
        place = symbol["location"]
        file = place["uri"].split("/Sources/", 1)[-1]
        bare.add((file, place["position"]["line"] + 1, ".".join(symbol["pathComponents"])))
for file, line, name in sorted(bare):
    print(f"Sources/{file}:{line}: {name} is public and has no documentation comment", file=sys.stderr)
sys.exit(1 if bare else 0)
PYTHON

[[ ${1-} != check ]] || exit 0
mkdir -p .build/docs
"$(tool docc)" convert Sources/TransferEngine/TransferEngine.docc --additional-symbol-graph-dir "$graphs" \
  --fallback-display-name TransferEngine --fallback-bundle-identifier transferd.TransferEngine \
  --warnings-as-errors --output-path .build/docs/TransferEngine.doccarchive
