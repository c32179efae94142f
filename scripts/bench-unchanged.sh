# shellcheck shell=bash
# bench-unchanged.sh: the section "unchanged" of scripts/bench.sh, which sources it: a list of files that have not changed.
#
# curl sends one date for all files, because they all have the same time: it has to look at none of them. transferd compares each
# file with its record first.

unchanged_turn() { # TOOL N DIR RESULTS
  case $1 in
    transferd)
      transferctl remove --all >/dev/null 2>&1 || true
      turn "$4" transferctl add -i "$work/urls" -d "$3" --if-changed --wait || return 1
      tail -1 "$work/stderr" | grep -q ", $files unchanged, " || { say "  transferd: $(tail -1 "$work/stderr")"; return 1; }
      ;;
    sequential) turn "$4" curl -qsS -z "$www/unchanged/f000000" -K "$work/curl-unchanged" ;;
    curl) turn "$4" curl -qsS -Z -z "$www/unchanged/f000000" --parallel-max "$2" -K "$work/curl-unchanged" ;;
  esac
}

unchanged() {
  local place=${places[-1]} results=$work/results-unchanged n best='' took out=${places[-1]}/out
  local date=@1700000000
  mkdir -p "$results" "$results-trial"
  # Files of its own: nginx remembers the times of those that other sections have fetched.
  cp -r "$www/small" "$www/unchanged"
  find "$www/unchanged" -type f -exec touch -d "$date" {} +
  find "$www/unchanged" -type f -printf "$base/unchanged/%f\n" | sort >"$work/urls"
  sed -E "s#.*/(.*)#url=\"$base/unchanged/\1\"\noutput=\"$out/\1\"#" "$work/urls" >"$work/curl-unchanged"
  fresh "$out"
  start_daemon "$place/state"
  timeout "$limit" transferctl add -i "$work/urls" -d "$out" --if-changed --wait >/dev/null 2>&1 || say "unchanged: the first run failed"
  for n in 16 64 256; do
    unchanged_turn curl "$n" "$out" "$results-trial/curl-$n" || continue
    took=$(cut -d ' ' -f 1 "$results-trial/curl-$n")
    say "  curl with $n concurrent: $took s"
    if [[ ! $best ]] || awk "BEGIN { exit !($took < ${best% *}) }"; then best="$took $n"; fi
  done
  for ((round = 1; round <= rounds; round++)); do
    say "unchanged, round $round of $rounds"
    for tool in transferd curl sequential; do unchanged_turn "$tool" "${best#* }" "$out" "$results/$tool" || true; done
  done
  diff -rq "$out" "$www/unchanged" >/dev/null || say "unchanged: a file is different"
  rm -rf "$out" "$www/unchanged"
  tools="curl sequential transferd"
  table "$results" "$files files of 4 KiB that have not changed, on $(file_system "$place"); curl -Z -z with ${best#* } concurrent; sequential: curl -z"
}
