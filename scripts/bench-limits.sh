# shellcheck shell=bash
# Source this file: the section "limits" of scripts/bench.sh. How exactly the daemon's limit is kept, and what it costs.

# The bytes of all files in a directory, complete or not.
bytes_in() { find "$1" -type f -printf '%s\n' | awk '{ sum += $1 } END { printf "%.0f\n", sum }'; }

# limits_line DIRECTION RATE COUNT PLACE: one line of the table, measured over ten seconds.
limits_line() {
  local direction=$1 rate=$2 count=$3 place=$4 i start end from to before after size name=$1-$2-$3
  # All files last longer than the measurement. With segments, a file's length would say nothing about its bytes.
  # Each measurement has names of its own: nginx keeps files open, and would send those of the one before.
  size=$((rate * 25 / count + 1048576))
  rm -rf "$place" "$puts/put" "$sparse/limited"
  mkdir -p "$place" "$puts/put" "$sparse/limited"
  for ((i = 0; i < count; i++)); do truncate -s "$size" "$sparse/limited/$name-$i"; done
  start_daemon "$work/state" --max-active 256 --max-per-origin 256
  transferctl limit "--$direction" "$rate" >/dev/null
  if [[ $direction == down ]]; then
    for ((i = 0; i < count; i++)); do echo "$base/sparse/limited/$name-$i"; done \
      | transferctl add -i - -d "$place" --batch limited --paused --segments 1 >/dev/null
  else
    place=$puts
    transferctl upload "$sparse/limited"/* --to "$base/put/" --batch limited --paused >/dev/null
  fi
  transferctl resume --batch limited 2>/dev/null
  sleep 2
  start=$(date +%s%N) from=$(bytes_in "$place") before=$(daemon_cpu)
  sleep 10
  end=$(date +%s%N) to=$(bytes_in "$place") after=$(daemon_cpu)
  awk -v d="$direction" -v r="$rate" -v n="$count" -v b=$((to - from)) -v t=$((end - start)) -v c0="$before" -v c1="$after" \
    'BEGIN { s = t / 1e9; printf "  %-5s %6d MB/s %5d transfers: %7.2f MB/s, %+.1f %%, CPU %.2f s\n", d, r / 1e6, n, b / s / 1e6, (b / s / r - 1) * 100, c1 - c0 }'
  transferctl cancel --all >/dev/null 2>&1 || true
  stop_ours "$daemon" "$work"
  daemon=
  rm -rf "$4" "$puts/put" "$sparse/limited"
}

limits() {
  local direction rate count dir=${places[-1]}
  echo
  echo "limits of the daemon, over ten seconds, on $(file_system "$dir")"
  for direction in down up; do
    for rate in 1000000 10000000 500000000; do
      if ((rate > 100000000 && $(room_mib "$dir") < 8000)); then
        say "skipped: $((rate / 1000000)) MB/s; $dir has less than 8000 MiB"
        continue
      fi
      for count in 1 16 200; do limits_line "$direction" "$rate" "$count" "$dir/limits"; done
    done
  done
}
