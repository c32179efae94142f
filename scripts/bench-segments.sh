# One file with several connections, for scripts/bench.sh: a server that limits each connection, and a kill in mid-transfer.
# shellcheck shell=bash disable=SC2154

segments_mib=${SEGMENTS_MIB:-320}

segments_turn() { # TOOL DIR RESULTS
  local url=$base/limited/segments.bin out=$2/segments.bin
  fresh "$2"
  case $1 in
    transferd-*) turn "$3/$1" transferctl add "$url" -d "$2" --segments "${1#transferd-}" --wait ;;
    curl) turn "$3/$1" curl -qsSo "$out" "$url" ;;
    aria2c-*)
      turn "$3/$1" aria2c --no-conf -q -x"${1#aria2c-}" -s"${1#aria2c-}" -k1M --file-allocation=none -d "$2" -o segments.bin "$url"
      ;;
  esac
  cmp -s "$out" "$www/segments.bin" || { say "  $1: the file is wrong"; return 1; }
}

# Body bytes that the server has handed to the kernel; those that were on their way at the kill are among them.
segments_sent() { awk '{ sum += $10 } END { printf "%d", sum / 1048576 }' "$work/segments.log"; }

# What the kill cost: prints KiB that were on their way in the buffers of both kernels, and KiB on disk that the map does not have.
segments_lost() { # DIR
  sleep 1 # nginx logs a request when it ends
  python3 - "$www/segments.bin" "$1" "$(awk '{ sum += $10 } END { printf "%d", sum }' "$work/segments.log")" <<'PYTHON'
import glob, os, sys

source, directory, sent = sys.argv[1], sys.argv[2], int(sys.argv[3])
piece, total, written = 256 << 10, os.path.getsize(source), 0
with open(source, "rb") as ours, open(glob.glob(f"{glob.escape(directory)}/.*.part")[0], "rb") as part:
    while block := ours.read(4096):
        written += len(block) * (block == part.read(4096))
with open(glob.glob(f"{glob.escape(directory)}/.*.map")[0], "rb") as map:
    counted = sum(min(piece, total - n * piece) for n, mark in enumerate(map.read()[512:]) if mark == 1)
print(f"  at the kill      {(sent - written) >> 10:6} KiB on their way, {(written - counted) >> 10} KiB on disk and not in the map")
PYTHON
}

segments_kill() { # TOOL DIR: kills the tool once the disk has half of the file, starts it again, prints MiB sent beyond the file
  local out=$2 tool_pid half=$((segments_mib * 512)) url=$base/limited/segments.bin
  fresh "$out"
  : >"$work/segments.log"
  kill -USR1 "$nginx_pid" # nginx writes to the emptied log
  if [[ $1 == transferd ]]; then
    transferctl add "$url" -d "$out" --segments 8 >/dev/null
    tool_pid=$daemon
  else
    aria2c --no-conf -q -x8 -s8 -k1M --file-allocation=none -d "$out" -o segments.bin "$url" >/dev/null 2>&1 &
    tool_pid=$!
  fi
  for _ in {1..3000}; do
    (($(du -sk "$out" | cut -f 1) < half)) || break
    sleep 0.01
  done
  kill -9 "$tool_pid"
  wait "$tool_pid" 2>/dev/null || true
  if [[ $1 == transferd ]]; then
    segments_lost "$out"
    restart_daemon "${out%/*}/state"
    timeout "$limit" transferctl wait --all 2>/dev/null
  else
    timeout "$limit" aria2c --no-conf -q -c -x8 -s8 -k1M --file-allocation=none -d "$out" -o segments.bin "$url" >/dev/null 2>&1
  fi
  sleep 1 # nginx logs a request when it ends
  cmp -s "$out/segments.bin" "$www/segments.bin" || { say "  $1: the file is wrong after the kill"; return 1; }
  printf '  %-16s %6d MiB sent beyond the file\n' "$1" $(($(segments_sent) - segments_mib))
}

segments() {
  local place=${places[-1]} results=$work/results-segments tool
  mkdir -p "$results"
  head -c $((segments_mib << 20)) /dev/urandom >"$www/segments.bin"
  tools="curl transferd-1 transferd-8 transferd-auto"
  [[ " ${peers[*]} " != *" aria2c "* ]] || tools+=" aria2c-8"
  start_daemon "$place/state"
  for ((round = 1; round <= rounds; round++)); do
    say "segments, round $round of $rounds"
    for tool in $tools; do segments_turn "$tool" "$place/out" "$results" || true; done
  done
  table "$results" "One file of $segments_mib MiB from a server that gives each connection 20 MB/s, to $(file_system "$place")"
  echo
  echo "kill -9 at 50 % with 8 connections; the kernel's socket buffers are included, for both alike"
  for tool in transferd aria2c; do
    [[ $tool == transferd || " ${peers[*]} " == *" aria2c "* ]] || continue
    start_daemon "$place/state"
    segments_kill "$tool" "$place/out" || true
  done
  rm -rf "$place/out" "$www/segments.bin"
}
