#!/usr/bin/env bash
# Compares transferd with other download programs, each fetching the same files from nginx on this machine:
# one big file, and many small ones. Prints hyperfine's tables; files given as BENCH_OUT=DIR keep them.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/common.sh
. scripts/common.sh

big_megabytes=${BENCH_BIG_MB:-1024}
small_files=${BENCH_SMALL_FILES:-2000}
small_kilobytes=16
runs=${BENCH_RUNS:-5}
out=${BENCH_OUT:-}

compare() {
  local name=$1
  shift
  echo "== $name"
  local keep=()
  if [ -n "$out" ]; then keep=(--export-json "$out/$name.json" --export-markdown "$out/$name.md"); fi
  # shellcheck disable=SC2016 # $room is expanded by the shell that hyperfine starts
  hyperfine --warmup 1 --runs "$runs" "${keep[@]}" \
    --prepare 'rm -rf "$room/downloads" && mkdir "$room/downloads"' "$@"
}

make_room
use_programs
export room bin
if [ -n "$out" ]; then mkdir -p "$out"; fi

echo "making the files"
head -c "${big_megabytes}M" /dev/urandom >"$room/www/big"
mkdir "$room/www/small"
for ((n = 0; n < small_files; n++)); do
  head -c "${small_kilobytes}K" /dev/urandom >"$room/www/small/$n"
done
start_nginx ""
for ((n = 0; n < small_files; n++)); do
  echo "$base/small/$n"
done >"$room/urls"
# curl takes names along with URLs from a configuration file only.
sed "s|.*|url = \"&\"|; a remote-name" "$room/urls" >"$room/urls.curl"
start_daemon

# shellcheck disable=SC2016 # the commands are expanded by the shell that hyperfine starts
compare big \
  -n curl 'curl -sS -o "$room/downloads/big" "$base/big"' \
  -n aria2 'aria2c -q -x1 -d "$room/downloads" "$base/big"' \
  -n wget2 'wget2 -q -P "$room/downloads" "$base/big"' \
  -n rclone 'rclone -q copyurl "$base/big" "$room/downloads/big"' \
  -n transferd '"$bin/transferctl" add -d "$room/downloads" --wait "$base/big" 2>/dev/null'

# shellcheck disable=SC2016
compare small \
  -n curl 'cd "$room/downloads" && curl -sS -Z --parallel-max 8 -K "$room/urls.curl"' \
  -n aria2 'aria2c -q -j8 -d "$room/downloads" -i "$room/urls"' \
  -n wget2 'wget2 -q --max-threads=8 -P "$room/downloads" -i "$room/urls"' \
  -n transferd '"$bin/transferctl" add -d "$room/downloads" --wait -i "$room/urls" 2>/dev/null'
