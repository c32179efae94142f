#!/usr/bin/env bash
# A download that survives kill -9: nginx serves a big file slowly on this machine, the daemon is killed half-way,
# started again, and goes on from the bytes it has. Needs no internet; leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

megabytes=300
megabytes_per_second=25

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}

# One field of the job, from `status --format json`.
field() {
  transferctl status "$job" --format json | python3 -c '
import json, sys
print(json.load(sys.stdin)[0][sys.argv[1]])' "$1"
}

half_is_there() {
  local done_now
  done_now=$(field bytesDone)
  [ "$done_now" -ge $((size / 2)) ]
}

files_on_disk() {
  (cd "$room/downloads" && find . -type f -printf '%f  %s bytes\n')
}

make_room
use_programs

say "A file of $megabytes MB, served by nginx at $megabytes_per_second MB a second"
head -c "${megabytes}M" /dev/urandom >"$room/www/big.iso"
size=$(stat --format=%s "$room/www/big.iso")
sum=$(sha256sum "$room/www/big.iso" | cut -d ' ' -f 1)
start_nginx "limit_rate ${megabytes_per_second}m;"
echo "$base/big.iso  $size bytes  sha-256 $sum"

say "Start the daemon and add the download: the id is printed once the job is durable"
start_daemon
echo "\$ transferctl add $base/big.iso -d $room/downloads --checksum sha-256=$sum"
job=$(transferctl add "$base/big.iso" -d "$room/downloads" --checksum "sha-256=$sum")
echo "$job"

say "Wait until about half of it is there"
if ! within 60 half_is_there; then
  transferctl status
  echo "the download does not get there" >&2
  exit 1
fi
show transferctl status

say "kill -9 $daemon: no goodbye, no chance to save anything"
kill9 "$daemon"
files_on_disk

say "Start it again: the job is still known and goes on by itself"
start_daemon
show transferctl status
show transferctl wait "$job" --timeout 60s

say "The proof"
transferctl status
files_on_disk
echo "$sum  $room/downloads/big.iso" | sha256sum --check
echo
echo "what nginx saw (status, bytes sent, range asked):"
cat "$room/access.log"
resumed=$(awk '$1 == 206 && $3 ~ /^bytes=[1-9][0-9]*-/ { sub("bytes=", "", $3); print int($3); exit }' \
  "$room/access.log")
if [ -z "$resumed" ]; then
  echo "the second request was not a range request: the download began anew" >&2
  exit 1
fi
say "Resumed at byte $resumed of $size: $((resumed / 1048576)) MB were not fetched twice"
