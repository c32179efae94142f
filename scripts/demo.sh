#!/usr/bin/env bash
# Shows the main use: add → kill -9 the daemon half-way → start it again → the job resumes → the checksum matches.
# It needs no internet and touches no other daemon: server, state and socket are in a temporary directory.
#
#   scripts/demo.sh [BIN]      BIN: the directory of both programs; .build/debug by default
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:-.build/debug}
# shellcheck source=scripts/nginx-here.sh
. scripts/nginx-here.sh

size=$((200 << 20))
dir=$(mktemp -d "${TMPDIR:-/tmp}/transferd-demo.XXXXXX")
nginx_pid=
cleanup() {
  stop_ours "$(cat "$dir/state/transferd.lock" 2>/dev/null || true)" "$dir"
  stop_ours "$nginx_pid" "$dir"
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

die() {
  echo "demo: $*" >&2
  [[ ! -s $dir/state/transferd.log ]] || tail -5 "$dir/state/transferd.log" >&2
  exit 1
}
say() { printf '\n# %s\n' "$*"; }
short() { sed -u "s#$dir#/tmp/demo#g; s#$PWD/##g"; }
# Prints a command as a user would type it, then runs it.
show() {
  local word line='$'
  for word; do line+=" $word"; done
  echo "$line" | short
  "$@" 2>&1 | short
}
# wait_until SECONDS WHAT COMMAND…
wait_until() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    ((SECONDS < end)) || die "timed out before $what"
    sleep 0.1
  done
}
field() { # a number from the job's JSON
  transferctl status "$job" --format jsonl | sed -nE "s/.*\"$1\":([0-9]+).*/\1/p"
}
mib() { echo "$(($1 >> 20)) MiB"; }

for program in transferd transferctl; do
  [[ -x $bin/$program ]] || die "$bin/$program is missing; run 'make demo'"
done
PATH=$(cd "$bin" && pwd):$PATH

export TRANSFERD_STATE_DIR=$dir/state XDG_RUNTIME_DIR=$dir/run
unset TRANSFERD_SOCKET TRANSFERCTL_NO_AUTOSTART
if [[ -S /run/transferd/transferd.sock ]]; then
  # transferctl would use the system's daemon and start no other: name the demo's socket.
  export TRANSFERD_SOCKET=$dir/run/transferd/transferd.sock
fi
start_daemon() { [[ ! ${TRANSFERD_SOCKET-} ]] || transferctl daemon start; }
mkdir -p "$dir/www" "$dir/run" "$dir/downloads"
cd "$dir/downloads"

head -c "$size" /dev/urandom >"$dir/www/big.iso"
sum=$(sha256sum <"$dir/www/big.iso")
sum=${sum%% *}
# Slow enough to watch.
serve_with_nginx "$dir/nginx" "$dir/www" \
  "log_format bytes '\$request_method \$uri  range=\"\$http_range\"  status=\$status  bytes=\$body_bytes_sent';
   access_log $dir/nginx/access.log bytes;" \
  "limit_rate 20m;"
url=http://127.0.0.1:$nginx_port/big.iso

say "A file of $(mib $size) on a server that sends 20 MiB per second. No daemon is running; 'add' starts one."
start_daemon
echo "\$ transferctl add $url \\"
echo "      --segments 1 --checksum sha-256=$sum"
# One connection, so that the server's log has one line for each run.
job=$(transferctl add "$url" --segments 1 --checksum "sha-256=$sum")
echo "$job"

is_half_way() { (($(field bytesDone) >= size / 2)); }
wait_until 30 "half of the file arrived" is_half_way
say "Half-way."
show transferctl status "$job"

say "Kill the daemon without a warning."
pid=$(transferctl daemon status --format json | sed -nE 's/.*"pid" ?: ?([0-9]+).*/\1/p')
[[ $pid ]] || pid=$(<"$dir/state/transferd.lock")
grep -qsF -- "$dir" "/proc/$pid/cmdline" || die "pid $pid is not the demo's daemon"
show kill -9 "$pid"
is_gone() { ! kill -0 "$pid" 2>/dev/null || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; }
wait_until 5 "the daemon was gone" is_gone

say "The file's name does not exist yet; the bytes are in the part file."
show ls -lAgo "$dir/downloads"
[[ ! -e big.iso ]] || die "the destination exists before the download is complete"
before=$(find . -type f -printf '%s\n' | sort -n | tail -1)
((before > 0)) || die "no part file"
# nginx logs the first request only when its connection has ended.
has_logged() { [[ $(grep -c /big.iso "$dir/nginx/access.log") == "$1" ]]; }
wait_until 5 "the server noticed the lost connection" has_logged 1

say "Any command starts the daemon again, and the job resumes by itself."
start_daemon
show transferctl status "$job"
has_gone_on() { (($(field bytesDone) > before)); }
wait_until 15 "the download resumed" has_gone_on
after=$(field bytesDone)
echo "  at the kill: $before bytes in the part file; now: $after, of $size"

echo "\$ transferctl wait $job"
transferctl wait "$job" --timeout 30s 2>/dev/null || die "wait ended with status $?"
echo "  exit status 0"

say "Is it the same file?"
echo "\$ sha256sum big.iso"
got=$(sha256sum big.iso)
echo "$got"
[[ ${got%% *} == "$sum" ]] || die "the checksum differs"
[[ $(ls -A) == big.iso ]] || die "other files are left: $(ls -A)"
echo "  the same as on the server; no part file is left"

say "The server's log:"
wait_until 5 "the server logged the second request" has_logged 2
grep /big.iso "$dir/nginx/access.log"
grep /big.iso "$dir/nginx/access.log" | tail -1 | grep -q 'status=206' || die "the response to the second request was not 206"
# Bytes in socket buffers at the kill count as sent, but never reached the part file: compare the range with the part file.
start=$(sed -nE '/\/big\.iso/s/.*range="bytes=([0-9]+)-".*/\1/p' "$dir/nginx/access.log" | tail -1)
[[ $start ]] || die "the second request has no range"
twice=$((before - start))
((twice >= 0 && twice <= 1 << 20)) || die "the second request starts at $start, the part file had $before bytes: more than 1 MiB were fetched twice"
echo "  the part file had $before bytes and the second request starts at $start: $((twice >> 10)) KiB were fetched twice"
printf '\nThe job survived.\n'
