#!/usr/bin/env bash
# Shows the main job: add → kill -9 the daemon half-way → start again → it goes on where it was → the checksum matches.
# Needs no internet and touches no daemon of yours: server, state and socket live in a temporary directory.
set -euo pipefail
cd "$(dirname "$0")/.."
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
# Shows a command as it would be typed, then runs it.
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
    ((SECONDS < end)) || die "waited too long until $what"
    sleep 0.1
  done
}
field() { # a number out of the job's JSON
  transferctl status "$job" --format jsonl | sed -nE "s/.*\"$1\":([0-9]+).*/\1/p"
}
mib() { echo "$(($1 >> 20)) MiB"; }

echo "# building (release) …"
if ! make --no-print-directory release >"$dir/build.log" 2>&1; then
  cat "$dir/build.log" >&2
  exit 1
fi
PATH=$PWD/.build/release:$PATH

export TRANSFERD_STATE_DIR=$dir/state XDG_RUNTIME_DIR=$dir/run
unset TRANSFERD_SOCKET TRANSFERCTL_NO_AUTOSTART
if [[ -S /run/transferd/transferd.sock ]]; then
  # transferctl would rather speak to the system's daemon than start another: name ours.
  export TRANSFERD_SOCKET=$dir/run/transferd/transferd.sock
fi
start_daemon() { [[ ! ${TRANSFERD_SOCKET-} ]] || transferctl daemon start; }
mkdir -p "$dir/www" "$dir/run" "$dir/downloads"
cd "$dir/downloads"

head -c "$size" /dev/urandom >"$dir/www/big.iso"
sum=$(sha256sum <"$dir/www/big.iso")
sum=${sum%% *}
# So slow that there is time to see it; a small send buffer, so that the log says what really went out.
serve_with_nginx "$dir/nginx" "$dir/www" \
  "log_format bytes '\$request_method \$uri  range=\"\$http_range\"  status=\$status  bytes=\$body_bytes_sent';
   access_log $dir/nginx/access.log bytes;" \
  "limit_rate 20m;"
url=http://127.0.0.1:$nginx_port/big.iso

say "A file of $(mib $size) on a server that gives 20 MiB a second. No daemon runs; 'add' starts one."
start_daemon
echo "\$ transferctl add $url \\"
echo "      --checksum sha-256=$sum"
job=$(transferctl add "$url" --checksum "sha-256=$sum")
echo "$job"

is_half_way() { (($(field bytesDone) >= size / 2)); }
wait_until 30 "half of it is there" is_half_way
say "Half-way."
show transferctl status "$job"

say "The daemon dies: no warning, no goodbye."
pid=$(transferctl daemon status --format json | sed -nE 's/.*"pid" ?: ?([0-9]+).*/\1/p')
[[ $pid ]] || pid=$(<"$dir/state/transferd.lock")
grep -qsF -- "$dir" "/proc/$pid/cmdline" || die "pid $pid is not the demo's daemon"
show kill -9 "$pid"
is_gone() { ! kill -0 "$pid" 2>/dev/null || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; }
wait_until 5 "the daemon is gone" is_gone

say "Nothing stands under the file's name; what came is in the part file."
show ls -lAgo "$dir/downloads"
[[ ! -e big.iso ]] || die "a file stands under the destination's name before it is complete"
before=$(find . -type f -printf '%s\n' | sort -n | tail -1)
((before > 0)) || die "no part file"
# The log has the first request only now that its connection is cut.
has_logged() { [[ $(grep -c /big.iso "$dir/nginx/access.log") == "$1" ]]; }
wait_until 5 "the server has noticed" has_logged 1

say "Any command starts it again, and the job goes on by itself."
start_daemon
show transferctl status "$job"
has_gone_on() { (($(field bytesDone) > before)); }
wait_until 15 "the download goes on" has_gone_on
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
[[ $(ls -A) == big.iso ]] || die "something was left behind: $(ls -A)"
echo "  the same as the server's; no part file left"

say "What the server says about it:"
wait_until 5 "the server has logged the second request" has_logged 2
grep /big.iso "$dir/nginx/access.log"
grep /big.iso "$dir/nginx/access.log" | tail -1 | grep -q 'status=206' || die "the second request was not answered 206"
fetched=$(sed -nE '/\/big\.iso/s/.*bytes=([0-9]+).*/\1/p' "$dir/nginx/access.log" | awk '{ n += $1 } END { print n }')
extra=$((fetched - size))
((extra >= 0 && extra <= 1 << 20)) || die "sent $fetched bytes for a file of $size: more than 1 MiB too much"
echo "  sent in all: $fetched bytes for a file of $size: $((extra >> 10)) KiB went twice"
printf '\nIt survived.\n'
