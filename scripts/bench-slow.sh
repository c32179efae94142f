# Many slow transfers at once, for scripts/bench.sh: what each of them costs.
# shellcheck shell=bash disable=SC2154

slow_files=${SLOW_FILES:-1000}

slow_turn() { # TOOL DIR RESULTS
  fresh "$2"
  case $1 in
    transferd) turn "$3/$1" transferctl add -i "$work/slow-urls" -d "$2" --segments 1 --wait ;;
    aria2c) turn "$3/$1" aria2c --no-conf -q -j "$slow_files" -x1 -s1 --file-allocation=none -d "$2" -i "$work/slow-urls" ;;
    curl) turn "$3/$1" curl -qsS -Z --parallel-max "$slow_files" -K "$work/slow-curl" ;;
  esac
  diff -rq "$2" "$www/slow" >/dev/null || { say "  $1: the files are wrong"; return 1; }
}

slow() {
  local place=${places[-1]} results=$work/results-slow tool
  mkdir -p "$results" "$www/slow"
  # 30 seconds at 10 KiB/s.
  head -c $((slow_files * 300 * 1024)) /dev/urandom | (cd "$www/slow" && split -b 300k -d -a 6 - f)
  find "$www/slow" -type f -printf "$base/trickle/%f\n" | sort >"$work/slow-urls"
  sed -E "s#.*/(.*)#url=\"$base/trickle/\1\"\noutput=\"$place/out/\1\"#" "$work/slow-urls" >"$work/slow-curl"
  tools="curl transferd"
  [[ " ${peers[*]} " != *" aria2c "* ]] || tools+=" aria2c"
  # curl opens at most 300 connections at once.
  start_daemon "$place/state" --max-active "$slow_files" --max-per-origin "$slow_files"
  for ((round = 1; round <= rounds; round++)); do
    say "slow, round $round of $rounds"
    for tool in $tools; do slow_turn "$tool" "$place/out" "$results" || true; done
  done
  stop_ours "$daemon" "$work"
  daemon=
  rm -rf "$place/out" "$www/slow"
  table "$results" "$slow_files files of 300 KiB from a server that gives each connection 10 KiB/s; curl uses 300 connections at most"
}
