# shellcheck shell=bash
# bench.sh sources this file. It compares the engine as a library with bare libcurl, one process each.

# The limit of the memory that a large body may use, above a small request's peak.
memory_limit_kib=32768

start_sink() { # starts a server that discards every body; sets sink_pid and sink_port
  cc -O2 -o "$work/sink" "$repository/bench/sink.c"
  "$work/sink" >"$work/sink.port" &
  sink_pid=$!
  for _ in {1..100}; do
    [[ -s $work/sink.port ]] && break
    sleep 0.05
  done
  sink_port=$(cat "$work/sink.port")
}

# rounds_of TITLE REFERENCE TOOL…: runs `one_turn TOOL RESULTS` for each tool in every round, after one round that is not
# measured.
rounds_of() {
  local title=$1 reference=$2 results tool
  shift 2
  results=$work/results-$((++results_made))
  mkdir -p "$results" "$results-warm"
  local working=()
  for tool in "$@"; do
    if one_turn "$tool" "$results-warm"; then working+=("$tool"); else say "skipped: $tool does not work here"; fi
  done
  for ((round = 1; round <= rounds; round++)); do
    say "$title, round $round of $rounds"
    for tool in "${working[@]}"; do one_turn "$tool" "$results" || true; done
  done
  ratios "$results" "$title" "$reference" "${working[@]}"
}
results_made=0

# ratios DIR TITLE REFERENCE TOOL…: prints medians as ratios to the reference's.
ratios() {
  local dir=$1 title=$2 reference=$3 tool
  shift 3
  echo
  for tool in "$@"; do
    if [[ -s $dir/$tool ]]; then awk -v tool="$tool" '{ print tool, $1, $2 }' "$dir/$tool"; fi
  done | awk -v title="$title" -v reference="$reference" '
    function median(list, n, i, j, t) {
      for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
      return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    !($1 in count) { order[++tools] = $1 }
    { n = ++count[$1]; wall[$1, n] = $2; cpu[$1, n] = $3 }
    function ratio(a, b) { return b > 0 ? sprintf("%.2f", a / b) : "-" }
    END {
      for (k = 1; k <= tools; k++) {
        t = order[k]
        for (i = 1; i <= count[t]; i++) { w[i] = wall[t, i]; c[i] = cpu[t, i] }
        W[t] = median(w, count[t]); C[t] = median(c, count[t]); low[t] = w[1]; high[t] = w[count[t]]
      }
      printf "%s\nmedians of %d rounds; %s = 1.00 is %.2f s wall time and %.2f s CPU time\n", title, count[reference], reference, W[reference], C[reference]
      printf "  %-16s %10s %10s   %s\n", "", "wall", "CPU", "wall, minimum–maximum"
      for (k = 1; k <= tools; k++) {
        t = order[k]
        printf "  %-16s %10s %10s   %s–%s\n", t, ratio(W[t], W[reference]), ratio(C[t], C[reference]), \
          ratio(low[t], W[reference]), ratio(high[t], W[reference])
      }
    }'
}

engine() {
  local out=${places[-1]}/out
  cc -O2 -o "$work/multi" "$repository/bench/multi.c" -lcurl
  mkdir -p "$out"

  one_turn() { turn "$2/$1" "$1" get "$files" 16 "$base/small/f"; }
  PATH=$work:$PATH rounds_of "Engine: $files GETs of 4 KiB, 16 concurrent" multi multi engine-bench

  one_turn() {
    rm -f "$out/large.bin"
    turn "$2/$1" "$1" download "$base/large.bin" "$out/large.bin" && cmp -s "$out/large.bin" "$www/large.bin"
  }
  PATH=$work:$PATH rounds_of "Engine: one file of $large_mib MiB, downloaded to $(file_system "$out")" multi multi engine-bench
  rm -rf "$out"

  one_turn() {
    rm -f "$puts/put/large.bin"
    case $1 in
      curl) turn "$2/$1" curl -qsSf -o /dev/null -T "$www/large.bin" "$base/put/large.bin" ;;
      *) turn "$2/$1" "$1" upload "$www/large.bin" "$base/put/large.bin" ;;
    esac && cmp -s "$puts/put/large.bin" "$www/large.bin"
  }
  PATH=$work:$PATH rounds_of "Engine: one file of $large_mib MiB, uploaded with PUT" curl curl multi engine-bench
  rm -f "$puts/put/large.bin"
}

memory() {
  local peak gib=${MEMORY_GIB:-10}
  start_sink
  truncate -s "${gib}G" "$disk/sparse.bin" "$sparse/sparse.bin"
  echo
  echo "Engine: peak memory above a small request's (limit: $((memory_limit_kib / 1024)) MiB)"
  peak=$(timeout "$((limit * 4))" engine-bench form "$disk/sparse.bin" "http://127.0.0.1:$sink_port/form" --memory 2>/dev/null) || peak=failed
  printf '  %-58s %10s KiB\n' "upload of a form with a file of $gib GiB" "$peak"
  peak=$(timeout "$((limit * 4))" engine-bench stream "$base/sparse/sparse.bin" 1000 --memory 2>/dev/null) || peak=failed
  printf '  %-58s %10s KiB\n' "stream of $gib GiB, its reader waits 1 ms after each piece" "$peak"
  rm -f "$disk/sparse.bin" "$sparse/sparse.bin"
  stop_ours "$sink_pid" sink
}
