#!/usr/bin/env bash
# order-functions.sh BIN: writes packaging/functions.order, the functions that usual calls of transferctl run. Needs valgrind.
#
# The linker places them side by side (scripts/link-options.sh). A list that is out of date only costs memory: run this again
# when the version of Swift changes, or when `make bench` shows that a call of transferctl takes more memory.
set -euo pipefail
bin=$1
root=$(cd "$(dirname "$0")/.." && pwd)
command -v valgrind >/dev/null || {
  echo "cannot record functions: valgrind is missing; install it (apt-get install valgrind)" >&2
  exit 1
}

work=$(mktemp -d)
export TRANSFERCTL_NO_AUTOSTART=1 TRANSFERD_SOCKET=$work/socket
daemon=
finish() {
  [[ -z $daemon ]] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

# valgrind cannot read the debugging information of a linker that is newer than itself.
strip --strip-debug -o "$work/transferctl" "$bin/transferctl"
"$bin/transferd" --state-dir "$work/state" --socket "$TRANSFERD_SOCKET" 2>"$work/log" &
daemon=$!
for _ in {1..100}; do
  [[ -S $TRANSFERD_SOCKET ]] && break
  sleep 0.05
done

calls=0
record() {
  calls=$((calls + 1))
  timeout 120 valgrind --tool=callgrind --demangle=no --compress-strings=no --compress-pos=no \
    --callgrind-out-file="$work/calls.$calls" "$work/transferctl" "$@" >/dev/null 2>"$work/error" || true
  [[ -s $work/calls.$calls ]] || {
    echo "cannot record transferctl $1: $(head -c 300 "$work/error")" >&2
    exit 1
  }
}

# Nothing listens at port 9, so the job is always there: it waits for its next attempt.
record add http://127.0.0.1:9/file -o "$work/file"
record status
record show 1
record status --format json
record pause 1
record resume 1
record wait 1 --timeout 1
record upload "$root/README.md" --to http://127.0.0.1:9/upload
record cancel 1
record version

# callgrind appends 'NUMBER to a function that calls itself. Functions of shared libraries are left out.
sed -n 's/^fn=//p' "$work"/calls.* | sed "s/'[0-9]*\$//" | LC_ALL=C sort -u >"$work/called"
nm --defined-only -P "$bin/transferctl" | awk 'tolower($2) == "t" || tolower($2) == "w" { print $1 }' | LC_ALL=C sort -u >"$work/defined"
LC_ALL=C comm -12 "$work/called" "$work/defined" >"$root/packaging/functions.order"
wc -l "$root/packaging/functions.order"
