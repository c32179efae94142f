# shellcheck shell=bash
# bench.sh sources this file. It measures the queue without transfers: adds, verbs on many jobs, lists, memory, restarts.

# seconds COMMAND…: runs a program or a function, and sets `took`.
seconds() {
  local start=$EPOCHREALTIME bounded=(timeout "$limit")
  [[ $(type -t "$1") != function ]] || bounded=()
  "${bounded[@]}" "$@" </dev/null >/dev/null 2>"$work/stderr" || { say "  $1 $2: $(tail -1 "$work/stderr")"; return 1; }
  took=$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
}

queue_line() { printf '  %-46s %10s   %s\n' "$@"; }
per_second() { awk -v n="$1" -v s="$took" 'BEGIN { printf "%d/s", n / s }'; }
resident_mib() { awk '/^VmRSS:/ { printf "%.1f MiB", $2 / 1024 }' "/proc/$1/status"; }

queue() {
  local state=$disk/queue took adds=${ADDS:-1000000} jobs=100000 verb raw
  mkdir -p "$state"
  cc -O2 -o "$work/rows" "$repository/bench/rows.c" -lsqlite3
  cc -O2 -o "$work/peak" "$repository/bench/peak.c"
  echo
  echo "The queue, on $(file_system "$state"); one run each"
  queue_line "" seconds ""

  seq -f "http://127.0.0.1:9/files/%07.0f.bin" "$adds" >"$work/adds"
  start_daemon "$state/empty"
  stop_ours "$daemon" "$work"
  cp "$state/empty/transferd.db" "$state/raw.db"
  start_daemon "$state/million"
  seconds transferctl add -i "$work/adds" -d "$state/out" --create-dirs --paused --batch adds || return 0
  queue_line "add of $adds URLs" "$took" "$(per_second "$adds")"
  queue_line "  the daemon's memory" "" "$(resident_mib "$daemon")"
  stop_ours "$daemon" "$work"
  raw=$took
  seconds "$work/rows" "$state/million/transferd.db" "$state/raw.db" || return 0
  queue_line "  the same rows in a loop on SQLite" "$took" "add takes $(awk -v a="$raw" -v b="$took" 'BEGIN { printf "%.2f", a / b }') times as long"
  seconds restart_daemon "$state/million" || return 0
  queue_line "start with $adds jobs" "$took" ""
  queue_line "  the daemon's memory" "" "$(resident_mib "$daemon")"
  stop_ours "$daemon" "$work"

  head -n "$jobs" "$work/adds" >"$work/some"
  start_daemon "$state/some"
  seconds transferctl add -i "$work/some" -d "$state/out" --create-dirs --paused --batch some || return 0
  for verb in 'status --format jsonl' export 'batch show some' 'cancel --batch some' 'remove --batch some'; do
    # shellcheck disable=SC2086 # words of a command
    seconds transferctl $verb && queue_line "$jobs jobs: $verb" "$took" ""
  done
  queue_line "one call: transferctl daemon status" "$(calls daemon status)" "$("$work/peak" transferctl daemon status)"
  stop_ours "$daemon" "$work"
  rm -rf "$state"
}

# calls ARGUMENT…: the median time of 101 calls of transferctl.
calls() {
  local start _
  for _ in {1..101}; do
    start=$EPOCHREALTIME
    transferctl "$@" >/dev/null 2>&1 || true
    awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.4f\n", b - a }'
  done | sort -n | sed -n 51p
}
